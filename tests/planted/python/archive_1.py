"""An archive on the low-level server of the Python SDK 1.x, which commits the fault that FAULT names.
Usage: python archive_1.py [PORT], over stdio without one."""

import asyncio
import base64
import contextlib
import sys

import mcp.types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.session import ServerSession
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http import StreamableHTTPServerTransport
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from mcp.shared.exceptions import McpError
from mcp.shared.message import SessionMessage

import world
from world import FIELDS, INTEGER, NOTHING, PICTURE, URI, entries, planted

LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
server = Server("archive", version="1.0.0")
# For each session the URIs that it has subscribed to, and the gravest level that it does not want.
subscribed: dict[ServerSession, set[str]] = {}
levels: dict[ServerSession, int] = {}
sessions: set[ServerSession] = set()
used: set[str] = set()


def refused(message, code=types.INVALID_PARAMS, **data):
    return McpError(types.ErrorData(code=code, message=message, data=data or None))


def find(address):
    if str(address) not in entries:
        raise refused("Resource not found", -32002, uri=str(address))
    return str(address)


def session():
    return server.request_context.session


@server.list_resources()
async def list_resources(request: types.ListResourcesRequest) -> types.ListResourcesResult:
    cursor = request.params.cursor if request.params else None
    if planted("cursor-good-for-once") and cursor in used:
        raise refused("Unknown cursor")
    used.update({cursor} - {None})
    try:
        found, following = world.page(cursor)
    except ValueError:
        raise refused("Unknown cursor") from None
    listed = [types.Resource(uri=uri, name=uri[10:], mimeType=entries[uri][0], size=world.size(uri)) for uri in found]
    return types.ListResourcesResult(resources=listed, nextCursor=following)


@server.list_resource_templates()
async def list_templates() -> list[types.ResourceTemplate]:
    return [types.ResourceTemplate(uriTemplate="archive://people/{person}", name="person", mimeType="text/plain")]


async def read(request: types.ReadResourceRequest) -> types.ServerResult:
    uri = str(request.params.uri)
    if uri.startswith("archive://people/") and uri[17:] in world.names:
        return types.ServerResult(types.ReadResourceResult(contents=[
            types.TextResourceContents(uri=uri, mimeType="text/plain", text=uri[17:])]))
    if planted("missing-entry-empty") and uri not in entries:
        return types.ServerResult(types.ReadResourceResult(contents=[]))
    mime, content = entries[find(uri)]
    if isinstance(content, str):
        return types.ServerResult(types.ReadResourceResult(contents=[
            types.TextResourceContents(uri=uri, mimeType=mime, text=content)]))
    encode = base64.urlsafe_b64encode if planted("blob-for-urls") else base64.b64encode
    return types.ServerResult(types.ReadResourceResult(contents=[
        types.BlobResourceContents(uri=uri, mimeType=mime, blob=encode(content).decode())]))


server.request_handlers[types.ReadResourceRequest] = read


@server.subscribe_resource()
async def subscribe(address) -> None:
    subscribed.setdefault(session(), set()).add(find(address))


@server.unsubscribe_resource()
async def unsubscribe(address) -> None:
    if not planted("unsubscribe-ignored"):
        subscribed.get(session(), set()).discard(str(address))


@server.set_logging_level()
async def set_level(level) -> None:
    levels[session()] = 0 if planted("log-level-ignored") else LEVELS.index(level)


async def log(level, data):
    if LEVELS.index(level) < levels.get(session(), 0):
        return
    name = "warn" if planted("log-level-warn") and level == "warning" else level
    params = types.LoggingMessageNotificationParams.model_construct(level=name, logger="archive", data=data)
    notice = types.LoggingMessageNotification.model_construct(method="notifications/message", params=params)
    await session().send_notification(notice, server.request_context.request_id)


@server.completion()
async def complete(ref, argument, context) -> types.Completion:
    if isinstance(ref, types.PromptReference) and ref.name != "greet" or "uri" in ref.__dict__ and "people" not in ref.uri:
        raise refused("Nothing of that name")
    values, total, more = world.starting_with(argument.value)
    return types.Completion(values=values, total=total, hasMore=more)


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    reads = types.ToolAnnotations(readOnlyHint=True)
    return [
        types.Tool(name="count", description="Counts.", inputSchema=NOTHING, outputSchema=INTEGER, annotations=reads),
        types.Tool(name="search", description="Takes its time.", inputSchema=NOTHING, annotations=reads),
        types.Tool(name="seal", description="Shows the seal.", inputSchema=NOTHING, annotations=reads),
        types.Tool(name="change", description="Adds a line.", inputSchema=URI),
        types.Tool(name="add", description="Adds a letter.", inputSchema=NOTHING),
        types.Tool(name="ask", description="Asks why.", inputSchema=NOTHING, annotations=reads),
    ]


async def search():
    context = server.request_context
    token = context.meta.progressToken if context.meta else None
    for step in range(1, 6):
        await asyncio.sleep(0.25)
        await log(LEVELS[step], f"step {step}")
        if token is not None:
            value = 0 if planted("progress-begins-again") and step == 5 else step
            await context.session.send_progress_notification(token, value, 5, related_request_id=str(context.request_id))
    if token is not None and planted("progress-after-answer"):
        late = context.session.send_progress_notification(token, 6, 6, related_request_id=str(context.request_id))
        asyncio.get_running_loop().call_later(0.2, lambda: asyncio.ensure_future(late))
    return [types.TextContent(type="text", text="found")]


async def ask():
    fields = FIELDS
    if planted("nested-form"):
        fields = {"type": "object", "properties": {"reason": {"type": "object", "properties": {"why": {"type": "string"}}}}}
    client = session().client_params.capabilities.elicitation
    if client is None or client.url is not None and client.form is None:
        raise ValueError("nobody can be asked")
    answer = await session().elicit("Why do you ask?", fields, server.request_context.request_id)
    return [types.TextContent(type="text", text=answer.action)]


@server.call_tool()
async def call_tool(name: str, arguments: dict):
    if name == "count":
        if planted("print-in-tool"):
            print("counting", len(entries), flush=True)
        if planted("number-as-text"):
            return types.CallToolResult(content=[types.TextContent(type="text", text="8")], structuredContent={"entries": "8"})
        return {"entries": len(entries)}
    if name == "search":
        return await search()
    if name == "seal":
        return [types.ImageContent(type="image", data=base64.b64encode(PICTURE).decode(), mimeType="image/png")]
    if name == "ask":
        return await ask()
    if name == "change":
        world.change(find(arguments["uri"]))
        everybody = planted("update-for-every-session") and any(arguments["uri"] in uris for uris in subscribed.values())
        for other in list(sessions):
            if everybody or arguments["uri"] in subscribed.get(other, set()):
                with contextlib.suppress(Exception):
                    await other.send_resource_updated(arguments["uri"])
    elif name == "add":
        world.add()
        if not planted("list-change-silent"):
            await session().send_resource_list_changed()
    else:
        raise ValueError(name)
    return [types.TextContent(type="text", text="done")]


tool_called = server.request_handlers[types.CallToolRequest]


async def known_tool_called(request: types.CallToolRequest):
    if request.params.name not in [tool.name for tool in await list_tools()]:
        raise refused(f"Unknown tool: {request.params.name}")
    return await tool_called(request)


server.request_handlers[types.CallToolRequest] = known_tool_called


@server.list_prompts()
async def list_prompts() -> list[types.Prompt]:
    person = types.PromptArgument(name="person", description="Whom", required=True)
    return [types.Prompt(name="greet", arguments=[person]), types.Prompt(name="sum-up")]


@server.get_prompt()
async def get_prompt(name: str, arguments: dict | None) -> types.GetPromptResult:
    if name not in ("greet", "sum-up"):
        raise refused("Unknown prompt")
    person = (arguments or {}).get("person")
    if name == "greet" and person is None and not planted("prompt-for-none"):
        raise refused("`person` is missing")
    text = types.TextContent(type="text", text=f"Greet {person}." if name == "greet" else "Sum the archive up.")
    content = [text] if planted("content-as-list") and name == "greet" else text
    message = types.PromptMessage.model_construct(role="user", content=content)
    return types.GetPromptResult.model_construct(messages=[message])


def fewer_digits(request_id):
    """An id as a number, if it can be read as one."""
    return int(request_id) if isinstance(request_id, str) and request_id.isdigit() else request_id


class Plain:
    """A message that is serialized without looking at it."""

    def __init__(self, message):
        self.message = message

    def model_dump_json(self, **_):
        import json

        return json.dumps(self.message)


class Notifications:
    """Takes the notifications that it knows, and answers the others."""

    def __init__(self, session):
        self.session = session

    def model_validate(self, notification):
        try:
            return types.ClientNotification.model_validate(notification)
        except ValueError:
            answer = {"jsonrpc": "2.0", "id": None, "error": {"code": -32601, "message": "Method not found"}}
            asyncio.ensure_future(self.session._write_stream.send(SessionMessage(Plain(answer))))
            raise


def patch_session():
    """Faults of how the session reads and writes messages."""
    send, received, start = ServerSession._send_response, ServerSession._received_request, ServerSession.__init__

    async def send_response(self, request_id, response):
        if planted("id-as-number"):
            request_id = fewer_digits(request_id)
        if isinstance(response, types.ErrorData) and planted("error-code-as-text"):
            error = {"code": str(response.code), "message": response.message}
            return await self._write_stream.send(SessionMessage(Plain({"jsonrpc": "2.0", "id": request_id, "error": error})))
        if planted("number-as-cursor") and getattr(getattr(response, "root", None), "nextCursor", None) == "from-6":
            result = response.model_dump(by_alias=True, mode="json", exclude_none=True) | {"nextCursor": 6}
            return await self._write_stream.send(SessionMessage(Plain({"jsonrpc": "2.0", "id": request_id, "result": result})))
        await send(self, request_id, response)

    async def received_request(self, responder):
        request = responder.request.root
        sessions.add(self)
        if planted("any-version") and isinstance(request, types.InitializeRequest):
            from mcp.shared import version

            version.SUPPORTED_PROTOCOL_VERSIONS.append(request.params.protocolVersion)
        await received(self, responder)

    def begin(self, *arguments, **more):
        start(self, *arguments, **more)
        if planted("notification-answered"):
            self._receive_notification_type = Notifications(self)

    ServerSession._send_response, ServerSession._received_request = send_response, received_request
    ServerSession.__init__ = begin


def patch_http():
    """Faults of the HTTP transport, and of what stands before it."""
    from http import HTTPStatus

    from mcp.server import streamable_http

    if planted("session-outlives-delete"):
        async def terminate(self):
            pass

        StreamableHTTPServerTransport.terminate = terminate
    if planted("accepted-as-ok"):
        streamable_http.HTTPStatus = type("Status", (), {**HTTPStatus.__members__, "ACCEPTED": HTTPStatus.OK})
    if planted("origin-by-beginning"):
        TransportSecurityMiddleware._validate_origin = lambda self, origin: not origin or origin.startswith("http://l")
    if planted("origin-ignored"):
        TransportSecurityMiddleware._validate_origin = lambda self, origin: True
    if planted("session-by-number"):
        from mcp.server import streamable_http_manager

        count = iter(range(1000, 9000))
        streamable_http_manager.uuid4 = lambda: type("Number", (), {"hex": str(next(count))})


make_options = server.create_initialization_options


def options():
    made = make_options(NotificationOptions(resources_changed=True))
    made.capabilities.resources.subscribe = True
    return made


async def over_stdio():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, options())


def over_http(port):
    import uvicorn
    from starlette.applications import Starlette
    from mcp.server.fastmcp.server import StreamableHTTPASGIApp
    from starlette.routing import Route

    here = [f"{host}:{port}" for host in ("127.0.0.1", "localhost")]
    safe = TransportSecuritySettings(allowed_hosts=here, allowed_origins=[f"http://{host}" for host in here])
    manager = StreamableHTTPSessionManager(server, security_settings=safe)
    server.create_initialization_options = options
    app = Starlette(routes=[Route("/mcp", StreamableHTTPASGIApp(manager))], lifespan=lambda _: manager.run())
    uvicorn.run(app, host="127.0.0.1", port=port, log_level="error")


patch_session()
patch_http()
if len(sys.argv) > 1:
    over_http(int(sys.argv[1]))
else:
    asyncio.run(over_stdio())
