"""A workshop with tools, prompts and templates on the low-level server of the Python SDK 1.x, which commits the fault that FAULT names.
The faults are those of handlers, and show with certain arguments. Usage: python workshop.py, over stdio."""

import asyncio
import json
import os
import re
import time
import traceback
from pathlib import Path
from urllib.parse import unquote

import jsonschema
import mcp.types as types
from mcp.server.lowlevel import Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError

from world import planted

server = Server("workshop", version="1.0.0")
TEXT, INTEGER = {"type": "string"}, {"type": "integer"}
PARTS = [f"part {number}" for number in range(1, 61)]
TEMPLATE = "workshop://parts/{name}"
jobs: dict[str, str] = {}
shelf: list[str] = ["hammer"]
deleted: dict[str, str] = {}
hoard: list[str] = []
opened: list = []
current = ""


def tool(name, properties, required=(), output=None, **hints):
    schema = {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
    return types.Tool(name=name, inputSchema=schema, outputSchema=output, annotations=types.ToolAnnotations(**hints) if hints else None)


NUMBER = {"type": "number"}
SPLIT = {"type": "object", "properties": {"each": NUMBER, "rest": {**INTEGER, "minimum": 0}}, "required": ["each", "rest"]}
TOOLS = [
    tool("parts", {"limit": {**INTEGER, "minimum": 1, "maximum": 60}, "after": TEXT}, ["limit"], readOnlyHint=True),
    tool("paint", {"color": {"enum": ["red", "green", "blue"]}, "coats": {**INTEGER, "minimum": 1, "maximum": 5}}, ["color"]),
    tool("label", {"text": {**TEXT, "minLength": 2, "maxLength": 40}}, ["text"], readOnlyHint=True),
    tool("split", {"total": INTEGER, "ways": {**INTEGER, "minimum": 1, "maximum": 1000}}, ["total", "ways"], SPLIT, readOnlyHint=True),
    tool("mean", {"values": {"type": "array", "items": NUMBER}}, ["values"], readOnlyHint=True),
    tool("order", {"mail": TEXT}, ["mail"], readOnlyHint=True),
    tool("weigh", {"load": {"type": "object", "properties": {"name": TEXT, "kilos": {**NUMBER, "exclusiveMinimum": 0}}, "required": ["name", "kilos"]}}, ["load"]),
    tool("look", {"tool": TEXT}, ["tool"], readOnlyHint=True),
    tool("shelf", {}, readOnlyHint=True),
    tool("hang_up", {"tool": TEXT}, ["tool"], idempotentHint=True),
    tool("create_job", {"title": TEXT}, ["title"]),
    tool("get_job", {"id": TEXT}, ["id"], readOnlyHint=True),
    tool("update_job", {"id": TEXT, "title": TEXT}, ["id", "title"]),
    tool("delete_job", {"id": TEXT}, ["id"]),
]


def said(text):
    return [types.TextContent(type="text", text=str(text))]


def wrong(text):
    return types.CallToolResult(isError=True, content=said(text))


def label(text):
    if planted("dies-of-emoji") and any(ord(letter) > 0xFFFF for letter in text):
        os._exit(3)
    if planted("ascii-only"):
        text.encode("ascii")
    if planted("formats-with-percent"):
        return ("Label: %s of " + text) % "the workshop"
    return f"Label: {text}"


def order(mail):
    if planted("backtracks") and not re.match(r"^([a-zA-Z0-9]+)*@", mail[:30]):
        return "No address"
    if planted("sleeps-on-brackets") and "[" in mail:
        time.sleep(60)
    if planted("environment-in-error") and "@" not in mail:
        raise ValueError(f"no mailbox for {mail} in {dict(os.environ)}")
    if planted("traceback-in-error") and "@" not in mail:
        try:
            raise KeyError(mail)
        except KeyError:
            return wrong(traceback.format_exc())
    if planted("own-path-in-error") and "@" not in mail:
        return wrong(f"cannot open {Path(__file__).with_name('mailboxes.json')}")
    return "Ordered" if "@" in mail else wrong("That is no address")


def split(total, ways):
    each, rest = total // ways, total % ways
    if planted("rest-of-c") and total < 0:
        rest = -(-total % ways)
    result = {"each": str(each) if planted("number-as-text-if-large") and abs(each) > 10**6 else each, "rest": rest}
    # A whole result is not validated again by the SDK.
    return types.CallToolResult(content=said(json.dumps(result)), structuredContent=result)


async def look(name):
    global current
    if planted("last-caller-wins"):
        current = name
        await asyncio.sleep(0.05)
        name = current
    if planted("leaves-files-open"):
        opened.append(open(__file__))
    if planted("looking-hangs-it-up"):
        shelf.append(name)
    return f"There is no {name}" if name not in shelf else f"There is a {name}"


def jobs_of(name, id="", title=""):
    if name == "create_job":
        number = len(jobs) if planted("numbers-come-again") else len(jobs) + len(deleted)
        jobs[str(number)] = title
        return json.dumps({"id": str(number), "title": title})
    if id not in jobs and planted("reads-what-is-gone") and id in deleted and name == "get_job":
        return json.dumps({"id": id, "title": deleted[id]})
    if id not in jobs:
        return wrong("There is no such job")
    if name == "delete_job":
        deleted[id] = jobs.pop(id)
        return "deleted"
    if name == "update_job" and not planted("forgets-updates"):
        jobs[id] = title
    return json.dumps({"id": id, "title": jobs[id]})


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    return TOOLS


@server.call_tool(validate_input=not planted("nothing-validated"))
async def call(name: str, given: dict):
    if planted("hoards"):
        hoard.append(os.urandom(300_000).hex())
    match name:
        case "parts":
            if planted("limit-exclusive") and given["limit"] >= 60:
                raise ValueError("limit has to be below 60")
            after = PARTS.index(given["after"]) if planted("throws-if-unknown") and given.get("after") else 0
            result = ", ".join(PARTS[after : after + given["limit"]])
        case "paint":
            if planted("blue-is-missing"):
                jsonschema.validate(given["color"], {"enum": ["red", "green"]})
            result = "painted"
        case "label":
            if planted("two-is-too-short") and len(given["text"]) < 3:
                raise ValueError("the text is too small")
            result = label(given["text"])
        case "split":
            return split(given["total"], given["ways"])
        case "mean":
            values = given["values"]
            if not values and not planted("divides-by-none"):
                return wrong("Nothing to average")
            result = sum(values) / len(values)
        case "order":
            result = order(given["mail"])
        case "weigh":
            result = f"{given['load']['name']}: {given['load']['kilos']} kg"
        case "look":
            result = await look(given["tool"])
        case "shelf":
            result = ", ".join(shelf)
        case "hang_up":
            if given["tool"] not in shelf or planted("hangs-up-again"):
                shelf.append(given["tool"])
            result = "done"
        case _:
            result = jobs_of(name, **given)
    return result if isinstance(result, types.CallToolResult) else said(result)


@server.list_resources()
async def list_resources(request: types.ListResourcesRequest) -> types.ListResourcesResult:
    cursor = request.params.cursor if request.params else None
    if cursor and not planted("cursor-of-any-kind") and not cursor.isdecimal():
        raise_invalid("Unknown cursor")
    start = int(cursor or 0)
    page = [types.Resource(uri=f"workshop://manual/{number}", name=f"manual {number}") for number in range(start, min(start + 5, 8))]
    return types.ListResourcesResult(resources=page, nextCursor="5" if start < 3 else None)


def raise_invalid(message):
    raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message=message))


@server.list_resource_templates()
async def list_templates() -> list[types.ResourceTemplate]:
    return [types.ResourceTemplate(uriTemplate=TEMPLATE, name="part")]


@server.read_resource()
async def read(address) -> list[ReadResourceContents]:
    uri = str(address)
    if not uri.startswith("workshop://parts/"):
        return [ReadResourceContents(content="A manual", mime_type="text/plain")]
    name = unquote(uri.removeprefix("workshop://parts/"))
    if planted("decodes-twice"):
        name = unquote(name)
    if planted("decodes-as-latin"):
        name = unquote(uri.removeprefix("workshop://parts/"), encoding="latin-1")
    return [ReadResourceContents(content=f"Part {name}", mime_type="text/plain")]


@server.list_prompts()
async def list_prompts() -> list[types.Prompt]:
    name = types.PromptArgument(name="topic", required=True)
    return [types.Prompt(name="explain", arguments=[name, types.PromptArgument(name="language")])]


@server.get_prompt()
async def prompt(name: str, given: dict[str, str] | None) -> types.GetPromptResult:
    topic = (given or {}).get("topic")
    if name != "explain" or topic is None:
        raise_invalid("Unknown prompt, or no topic")
    language = (given or {}).get("language", "en")
    known = {"en": "Explain", "de": "Erkläre"}
    start = known[language] if planted("languages-by-key") else known.get(language, "Explain")
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=said(f"{start} {topic}")[0])])


@server.completion()
async def complete(ref, argument, context) -> types.Completion:
    value = argument.value
    names = [f"part {number}" for number in range(1, 400 if planted("completes-everything") else 61)]
    found = [name for name in names if (re.match(value, name) if planted("value-as-pattern") else name.startswith(value))]
    return types.Completion(values=found if planted("completes-everything") else found[:100])


async def main():
    async with stdio_server() as (read_stream, write_stream):
        await server.run(read_stream, write_stream, server.create_initialization_options())


asyncio.run(main())
