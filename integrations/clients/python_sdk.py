"""A client on the Python SDK (package mcp, 1.x) that follows the actions of mcp-conform.

mcp-conform client -- python integrations/clients/python_sdk.py
mcp-conform client --transport stdio -- python integrations/clients/python_sdk.py
"""

import asyncio
import json
import os
import sys
from contextlib import AsyncExitStack
from datetime import timedelta

from mcp import ClientSession, McpError, StdioServerParameters, types
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamablehttp_client
from pydantic import AnyUrl

ACTIONS = json.loads(os.environ.get("MCP_CONFORMANCE_ACTIONS", "[]"))
ANSWERS = json.loads(os.environ.get("MCP_CONFORMANCE_ANSWERS", "null")) or {}
REPORT = os.environ.get("MCP_CONFORMANCE_REPORT")
# Pages of one list: more are not requested, however long it is.
MOST_PAGES = 1000


async def user():
    """Waits as long as the user takes to respond."""
    await asyncio.sleep(ANSWERS.get("delay", 0) / 1000)


async def on_sampling(context, params):
    if getattr(params, "tools", None) or getattr(params, "toolChoice", None):
        return types.ErrorData(code=types.INVALID_PARAMS, message="sampling.tools was not declared")
    await user()
    if ANSWERS.get("sampling", "") is None:
        return types.ErrorData(code=-1, message="User rejected sampling request")
    content = types.TextContent(type="text", text=ANSWERS.get("sampling") or "A response.")
    return types.CreateMessageResult(role="assistant", content=content, model="driver", stopReason="endTurn")


async def on_elicitation(context, params):
    await user()
    action = ANSWERS.get("elicitation", "accept")
    if action in ("decline", "cancel"):
        return types.ElicitResult(action=action)
    properties = (getattr(params, "requestedSchema", None) or {}).get("properties", {})
    return types.ElicitResult(action="accept", content={name: value_of(schema) for name, schema in properties.items()})


async def on_roots(context):
    uris = ANSWERS.get("roots") or ["file:///tmp"]
    return types.ListRootsResult(roots=[types.Root(uri=uri) for uri in uris])


def value_of(schema):
    """A value that the schema of a field permits."""
    if "default" in schema:
        return schema["default"]
    if schema.get("type") == "array":
        return [value_of(schema["items"])]
    if choices := schema.get("enum") or [one["const"] for one in schema.get("oneOf", schema.get("anyOf", []))]:
        return choices[0]
    if schema.get("type") != "string":
        return True if schema.get("type") == "boolean" else schema.get("minimum", 1)
    formats = {"email": "a@example.com", "uri": "https://example.com/", "date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z"}
    return formats.get(schema.get("format")) or "text".ljust(schema.get("minLength", 0), "s")[: schema.get("maxLength")]


def report(number, **fields):
    if REPORT:
        with open(REPORT, "a") as file:
            file.write(json.dumps({"action": number, **fields}) + "\n")


async def pages(request, field, wanted):
    items, cursors, cursor = [], set(), None
    for _ in range(MOST_PAGES if wanted == "all" else wanted):
        page = await request(params=types.PaginatedRequestParams(cursor=cursor) if cursor is not None else None)
        items += getattr(page, field)
        cursor = page.nextCursor
        if cursor is None or cursor in cursors:
            break
        cursors.add(cursor)
    return items


def offered(session, action):
    """Whether the server declares what the action needs."""
    has, do = session.get_server_capabilities(), action["do"]
    if do in ("subscribe", "unsubscribe"):
        return has.resources and has.resources.subscribe
    parts = {"setLevel": "logging", "complete": "completions", "call": "tools", "read": "resources", "get": "prompts"}
    part = {"templates": "resources"}.get(action["of"], action["of"]) if do == "list" else parts.get(do)
    return part is None or getattr(has, part) is not None


async def perform(session, action):
    do = action["do"]
    if not offered(session, action):
        raise NotImplementedError(f"the server does not declare what {do} needs")
    # The SDK drops fields that it does not know from params.
    if do == "list" and ("uri" in action or "prefix" in action):
        raise NotImplementedError("a list with a scope")
    if do == "list":
        lists = {
            "tools": (session.list_tools, "tools"),
            "resources": (session.list_resources, "resources"),
            "templates": (session.list_resource_templates, "resourceTemplates"),
            "prompts": (session.list_prompts, "prompts"),
        }
        return await pages(*lists[action["of"]], action.get("pages", "all"))
    if do == "call":
        timeout = timedelta(milliseconds=action["timeout"]) if "timeout" in action else None
        async def heard(progress, total, message):
            pass
        progress = heard if action.get("progress") else None
        return await session.call_tool(action["name"], action.get("arguments"), timeout, progress_callback=progress)
    if do == "read":
        return await session.read_resource(AnyUrl(action["uri"]))
    if do == "get":
        return await session.get_prompt(action["name"], action.get("arguments"))
    if do == "complete":
        kind = types.PromptReference if action["ref"]["type"] == "ref/prompt" else types.ResourceTemplateReference
        values = action.get("context", {}).get("arguments")
        return await session.complete(kind(**action["ref"]), action["argument"], values)
    if do == "subscribe":
        return await session.subscribe_resource(AnyUrl(action["uri"]))
    if do == "unsubscribe":
        return await session.unsubscribe_resource(AnyUrl(action["uri"]))
    if do == "setLevel":
        return await session.set_logging_level(action["level"])
    if do == "ping":
        return await session.send_ping()
    if do == "wait":
        return await asyncio.sleep(action["ms"] / 1000)
    if do == "roots":
        ANSWERS["roots"] = action["uris"]
        return await session.send_roots_list_changed()
    raise NotImplementedError(do)


async def carry_out(session, number, action):
    if action["do"] == "parallel":
        inner = enumerate(action["actions"])
        await asyncio.gather(*(carry_out(session, f"{number}.{index}", one) for index, one in inner))
        return report(number, ok=True, result=None)
    limit = action["timeout"] / 1000 if action["do"] != "call" and "timeout" in action else None
    try:
        result = await asyncio.wait_for(perform(session, action), limit)
    except NotImplementedError as error:
        report(number, ok=False, kind="unsupported", message=str(error))
    except (TimeoutError, asyncio.TimeoutError) as error:
        report(number, ok=False, kind="timeout", message=str(error))
    except McpError as error:
        kind = "timeout" if error.error.code == 408 else "error"
        report(number, ok=False, kind=kind, message=error.error.message)
    except Exception as error:
        report(number, ok=False, kind="invalid", message=f"{type(error).__name__}: {error}")
    else:
        plain = [item.model_dump(mode="json", by_alias=True, exclude_none=True) for item in result] if isinstance(result, list) else (
            result.model_dump(mode="json", by_alias=True, exclude_none=True) if result is not None else None)
        report(number, ok=True, result=plain)


async def main(target):
    transport = os.environ.get("MCP_CONFORMANCE_TRANSPORT", "http")
    async with AsyncExitStack() as stack:
        if transport == "stdio":
            streams = await stack.enter_async_context(stdio_client(StdioServerParameters(command=target)))
        elif transport == "sse":
            streams = await stack.enter_async_context(sse_client(target))
        else:
            streams = await stack.enter_async_context(streamablehttp_client(target))
        session = await stack.enter_async_context(ClientSession(
            streams[0], streams[1], timedelta(seconds=10),
            sampling_callback=on_sampling, elicitation_callback=on_elicitation, list_roots_callback=on_roots))
        await session.initialize()
        for number, action in enumerate(ACTIONS):
            if action["do"] not in ("connect", "close"):
                await carry_out(session, number, action)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[-1]))
