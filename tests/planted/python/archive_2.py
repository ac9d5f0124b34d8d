"""An archive on the low-level server of the Python SDK 2.x, which commits the fault that FAULT names.
Usage: python archive_2.py [PORT], over stdio without one."""

import asyncio
import base64
import random
import sys
import traceback
from dataclasses import replace

import mcp_types as types
from mcp.server import Server
from mcp.server.caching import CacheHint
from mcp.server.lowlevel import NotificationOptions
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.runner import ServerRunner
from mcp.server.stdio import stdio_server
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ResourcesListChanged,
    ResourceUpdated,
    ToolsListChanged,
)
from mcp.shared.exceptions import MCPError

import world
from world import FIELDS, INTEGER, NOTHING, URI, entries, planted

MODERN = "2026-07-28"
LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"]
REGION = {"type": "object", "required": ["region"], "properties": {
    "region": {"type": "string", "x-mcp-header": "Region"}, "floor": {"type": "integer", "x-mcp-header": "Floor"}}}
bus = InMemorySubscriptionBus()
could_ask = False
tool_names = ["count", "search", "change", "add", "ask", "shelf", "rules"]


def refused(message, code=types.INVALID_PARAMS, **data):
    if planted("error-with-stack"):
        message += "\n" + "".join(traceback.format_stack())
    return MCPError(code, message, data or None)


def find(uri, version):
    if uri not in entries:
        code = types.INVALID_PARAMS if version == MODERN and not planted("code-of-old") else -32002
        raise refused("Resource not found", code, uri=uri)
    return uri


async def list_resources(ctx, params):
    try:
        found, following = world.page(params.cursor if params else None)
    except ValueError:
        raise refused("Unknown cursor") from None
    listed = [types.Resource(uri=uri, name=uri[10:], mime_type=entries[uri][0], size=world.size(uri)) for uri in found]
    more = {"cache_scope": "private"} if planted("scope-of-last-page") and following is None else {}
    return types.ListResourcesResult(resources=listed, next_cursor=following, **more)


async def list_templates(ctx, params):
    person = types.ResourceTemplate(uri_template="archive://people/{person}", name="person", mime_type="text/plain")
    return types.ListResourceTemplatesResult(resource_templates=[person])


async def read(ctx, params):
    uri = params.uri
    if uri.startswith("archive://people/") and uri[17:] in world.names:
        mime, content = "text/plain", uri[17:]
    else:
        mime, content = entries[find(uri, ctx.protocol_version)]
    if isinstance(content, str):
        block = types.TextResourceContents(uri=uri, mime_type=mime, text=content)
    else:
        block = types.BlobResourceContents(uri=uri, mime_type=mime, blob=base64.b64encode(content).decode())
    return types.ReadResourceResult(contents=[block])


async def complete(ctx, params):
    named = params.ref.name == "greet" if isinstance(params.ref, types.PromptReference) else "people" in params.ref.uri
    if not named:
        raise refused("Nothing of that name")
    values, total, more = world.starting_with(params.argument.value)
    if planted("fewer-than-sent") and more:
        total = len(values) // 2
    return types.CompleteResult(completion=types.Completion(values=values, total=total, has_more=more))


async def list_tools(ctx, params):
    reads = types.ToolAnnotations(read_only_hint=True)
    tools = [
        types.Tool(name="count", description="Counts.", input_schema=NOTHING, output_schema=INTEGER, annotations=reads),
        types.Tool(name="search", description="Takes its time.", input_schema=NOTHING, annotations=reads),
        types.Tool(name="change", description="Adds a line.", input_schema=URI),
        types.Tool(name="add", description="Adds a letter.", input_schema=NOTHING),
        types.Tool(name="ask", description="Asks why.", input_schema=NOTHING, annotations=reads),
        types.Tool(name="shelf", description="Where it stands.", input_schema=REGION, annotations=reads),
        types.Tool(name="rules", description="The rules of the house.", input_schema=NOTHING, annotations=reads),
    ]
    if planted("order-by-chance"):
        random.shuffle(tools)
    return types.ListToolsResult(tools=tools)


async def search(ctx):
    for step in range(1, 6):
        await asyncio.sleep(0.25)
        level = LEVELS[step]
        await ctx.session.send_log_message(level, f"step {step}", "archive", related_request_id=ctx.request_id)
        await ctx.session.report_progress(step, 5)
    return types.CallToolResult(content=[types.TextContent(text="found")])


async def ask(ctx, params):
    global could_ask
    elicitation = ctx.session.client_capabilities and ctx.session.client_capabilities.elicitation
    declared = elicitation is not None and (elicitation.form is not None or elicitation.url is None)
    could_ask = could_ask or declared
    if not (could_ask if planted("capabilities-remembered") else declared):
        raise MCPError(types.MISSING_REQUIRED_CLIENT_CAPABILITY, "Nobody can be asked",
                       {"requiredCapabilities": {"elicitation": {}}})
    if ctx.protocol_version != MODERN:
        answer = await ctx.session.elicit("Why do you ask?", FIELDS, ctx.request_id)
        return types.CallToolResult(content=[types.TextContent(text=answer.action)])
    answers = params.input_responses or {}
    if "why" not in answers and not (planted("answer-assumed") and params.input_responses is not None):
        form = types.ElicitRequestFormParams(message="Why do you ask?", requested_schema=FIELDS)
        return types.InputRequiredResult(input_requests={"why": types.ElicitRequest(params=form)}, request_state="asked")
    if params.request_state != "asked":
        raise refused("The state is none of ours")
    answer = answers.get("why")
    reason = getattr(answer, "action", "accept") == "accept" and (getattr(answer, "content", None) or {}).get("reason")
    if answer is not None and not isinstance(reason, str):
        return types.CallToolResult(content=[types.TextContent(text="no reason was given")], is_error=True)
    return types.CallToolResult(content=[types.TextContent(text="thanks")])


async def call_tool(ctx, params):
    arguments = params.arguments or {}
    if params.name not in tool_names:
        raise refused(f"Unknown tool: {params.name}")
    if params.name == "search":
        return await search(ctx)
    if params.name == "ask":
        return await ask(ctx, params)
    if params.name == "count":
        number = {"entries": len(entries)}
        return types.CallToolResult(content=[types.TextContent(text=str(number).replace("'", '"'))], structured_content=number)
    if params.name == "rules":
        block = types.TextContent(text="Silence.", annotations=types.Annotations(audience=["user"], priority=0.5))
        return types.CallToolResult(content=[block])
    if params.name in ("change", "shelf") and not isinstance(arguments.get(wanted := "uri" if params.name == "change" else "region"), str):
        return types.CallToolResult(content=[types.TextContent(text=f"`{wanted}` has to be a string")], is_error=True)
    if params.name == "change":
        if arguments["uri"] not in entries:
            return types.CallToolResult(content=[types.TextContent(text="nothing of that name")], is_error=True)
        world.change(arguments["uri"])
        await bus.publish(ResourceUpdated(uri=arguments["uri"]))
    elif params.name == "add":
        world.add()
        await bus.publish(ResourcesListChanged())
        if ctx.protocol_version != MODERN:
            await ctx.session.send_resource_list_changed()
    return types.CallToolResult(content=[types.TextContent(text="done")])


async def set_level(ctx, params):
    return types.EmptyResult()


async def list_prompts(ctx, params):
    person = types.PromptArgument(name="person", description="Whom", required=True)
    return types.ListPromptsResult(prompts=[types.Prompt(name="greet", arguments=[person]), types.Prompt(name="sum-up")])


async def get_prompt(ctx, params):
    person = (params.arguments or {}).get("person")
    if params.name not in ("greet", "sum-up") or params.name == "greet" and person is None:
        raise refused("Unknown prompt, or `person` is missing")
    text = f"Greet {person}." if params.name == "greet" else "Sum the archive up."
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=types.TextContent(text=text))])


def patch_results(server):
    """Faults of how results are completed behind the handlers."""
    serialize = ServerRunner._serialize

    def serialized(self, method, version, result):
        made = serialize(self, method, version, result)
        if version != MODERN:
            return made
        if planted("time-left-negative") and made.get("nextCursor") == "from-6":
            made["ttlMs"] = -1
        if planted("blob-without-hints") and method == "resources/read" and "blob" in made.get("contents", [{}])[0]:
            del made["ttlMs"], made["cacheScope"]
        if planted("type-forgotten-by-prompts") and method == "prompts/get":
            del made["resultType"]
        if planted("versions-without-newest") and method == "server/discover":
            made["supportedVersions"] = [each for each in made["supportedVersions"] if each != MODERN]
        if planted("meta-key-with-space") and method == "tools/call":
            made["_meta"]["house rules"] = True
        return made

    ServerRunner._serialize = serialized


def patch_subscriptions():
    """Faults of subscriptions/listen."""
    from mcp.server import subscriptions

    matches = subscriptions.event_matches
    if planted("updates-of-anything"):
        subscriptions.event_matches = lambda honored, uris, event: bool(uris) or matches(honored, uris, event)
    if planted("lists-for-all"):
        lists = (ToolsListChanged, PromptsListChanged, ResourcesListChanged)
        subscriptions.event_matches = lambda honored, uris, event: isinstance(event, lists) or matches(honored, uris, event)
    if planted("subscription-id-as-text"):
        made = subscriptions.event_to_notification
        key = subscriptions.SUBSCRIPTION_ID_META_KEY
        subscriptions.event_to_notification = lambda event, meta: made(event, {key: str(meta[key])})
    if planted("first-update-lost"):
        seen = set()
        subscriptions.event_matches = lambda honored, uris, event: matches(honored, uris, event) and not (
            id(uris) not in seen and not seen.add(id(uris)))
    if planted("acknowledges-whatever-is-asked"):
        subscriptions._honored_subset = lambda requested: requested.model_copy(update={"prompts_list_changed": True})


def patch_logging():
    """A message of the log goes out whatever the request says of it."""
    from mcp.server import connection, session

    if planted("log-unasked"):
        session.allowed_log_levels = lambda version, meta: frozenset(LEVELS)
        connection.allowed_log_levels = session.allowed_log_levels


def patch_http():
    """Faults of the entry for 2026-07-28 over HTTP."""
    from mcp.server import _streamable_http_modern as modern
    from mcp.shared import inbound

    if planted("params-unchecked"):
        modern.validate_mcp_param_headers = lambda schema, arguments, headers: None
    if planted("numbers-as-text"):
        check = modern.validate_mcp_param_headers

        def checked_as_text(schema, arguments, headers):
            if headers.get("mcp-param-floor") not in (None, str(arguments.get("floor"))):
                return inbound.InboundLadderRejection(code=-32020, message="Mcp-Param-Floor differs from the argument")
            return check(schema, arguments, headers)

        modern.validate_mcp_param_headers = checked_as_text
    if planted("unknown-method-as-ok"):
        modern.ERROR_CODE_HTTP_STATUS = {**modern.ERROR_CODE_HTTP_STATUS, types.METHOD_NOT_FOUND: 200}
    classify = modern.classify_inbound_request

    def classified(body, headers):
        names = {name.lower(): value for name, value in headers.items()}
        if planted("name-unchecked-for-reads") and body.get("method") == "resources/read":
            names["mcp-name"] = str(body.get("params", {}).get("uri"))
        if planted("name-in-any-case") and names.get("mcp-name", "").lower() == str(body.get("params", {}).get("name")).lower():
            names["mcp-name"] = body["params"]["name"]
        found = classify(body, headers=names)
        if planted("versions-not-named") and isinstance(found, inbound.InboundLadderRejection) and found.code == -32022:
            return replace(found, data={"requested": found.data["requested"]})
        return found

    modern.classify_inbound_request = classified


hints = {method: CacheHint(60_000, "public") for method in (
    "resources/list", "resources/templates/list", "resources/read", "tools/list", "prompts/list", "server/discover")}
server = Server(
    "archive", version="2.0.0", cache_hints=hints, on_list_tools=list_tools, on_call_tool=call_tool,
    on_list_resources=list_resources, on_list_resource_templates=list_templates, on_read_resource=read,
    on_subscriptions_listen=ListenHandler(bus), on_list_prompts=list_prompts, on_get_prompt=get_prompt,
    on_completion=complete, on_set_logging_level=set_level)
server.middleware.append(RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience="archive"))
make_options = server.create_initialization_options
server.create_initialization_options = lambda *_: make_options(NotificationOptions(resources_changed=True))
patch_results(server)
patch_subscriptions()
patch_logging()


async def over_stdio():
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


if len(sys.argv) > 1:
    import uvicorn

    patch_http()
    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[1]), log_level="error")
else:
    asyncio.run(over_stdio())
