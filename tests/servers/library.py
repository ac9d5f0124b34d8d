"""A small library on the official Python SDK's low-level server: pages, templates with completion, subscriptions, prompts.
Usage: python library.py"""

import asyncio

import mcp.types as types
from mcp.server.lowlevel import NotificationOptions, Server
from mcp.server.lowlevel.helper_types import ReadResourceContents
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import McpError

BOOKS = {f"b{number}": f"Book number {number}\n" for number in range(1, 8)}
PAGE = 3
server = Server("library", version="1.0.0")
readers: set[str] = set()


def uri(book: str) -> str:
    return f"library://books/{book}"


def find(address) -> str:
    book = str(address).removeprefix("library://books/")
    if book not in BOOKS:
        raise McpError(types.ErrorData(code=-32002, message="Resource not found", data={"uri": str(address)}))
    return book


@server.list_resources()
async def list_resources(request: types.ListResourcesRequest) -> types.ListResourcesResult:
    cursor = request.params.cursor if request.params else None
    books = list(BOOKS)
    if cursor is not None and cursor not in books:
        raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message="Unknown cursor"))
    start = books.index(cursor) if cursor else 0
    page = books[start : start + PAGE]
    following = books[start + PAGE] if start + PAGE < len(books) else None
    resources = [types.Resource(uri=uri(book), name=book, mimeType="text/plain", size=len(BOOKS[book])) for book in page]
    return types.ListResourcesResult(resources=resources, nextCursor=following)


@server.list_resource_templates()
async def list_templates() -> list[types.ResourceTemplate]:
    return [types.ResourceTemplate(uriTemplate="library://books/{book}", name="book", mimeType="text/plain")]


@server.read_resource()
async def read(address) -> list[ReadResourceContents]:
    return [ReadResourceContents(content=BOOKS[find(address)], mime_type="text/plain")]


@server.subscribe_resource()
async def subscribe(address) -> None:
    readers.add(find(address))


@server.unsubscribe_resource()
async def unsubscribe(address) -> None:
    readers.discard(find(address))


@server.completion()
async def complete(ref, argument, context) -> types.Completion:
    values = [book for book in BOOKS if book.startswith(argument.value)] if argument.name == "book" else []
    return types.Completion(values=values, total=len(values), hasMore=False)


@server.list_tools()
async def list_tools() -> list[types.Tool]:
    schema = {"type": "object", "properties": {"book": {"type": "string"}}, "required": ["book"]}
    return [
        types.Tool(name="count", description="Counts the books.", inputSchema={"type": "object"},
                   annotations=types.ToolAnnotations(readOnlyHint=True)),
        types.Tool(name="rewrite", description="Writes a book anew.", inputSchema=schema),
    ]


@server.call_tool()
async def call_tool(name: str, arguments: dict) -> list[types.ContentBlock]:
    if name == "count":
        return [types.TextContent(type="text", text=str(len(BOOKS)))]
    book = arguments["book"]
    BOOKS[book] = BOOKS[find(uri(book))] + "Another line.\n"
    if book in readers:
        await server.request_context.session.send_resource_updated(uri(book))
    return [types.TextContent(type="text", text="done")]


@server.list_prompts()
async def list_prompts() -> list[types.Prompt]:
    book = types.PromptArgument(name="book", description="Which one", required=True)
    return [types.Prompt(name="summary", description="Sums a book up.", arguments=[book])]


@server.get_prompt()
async def get_prompt(name: str, arguments: dict | None) -> types.GetPromptResult:
    if name != "summary" or not arguments or "book" not in arguments:
        raise McpError(types.ErrorData(code=types.INVALID_PARAMS, message="Unknown prompt or missing argument"))
    block = types.EmbeddedResource(type="resource", resource=types.TextResourceContents(
        uri=uri(arguments["book"]), mimeType="text/plain", text=BOOKS[find(uri(arguments["book"]))]))
    return types.GetPromptResult(messages=[types.PromptMessage(role="user", content=block)])


async def main() -> None:
    options = server.create_initialization_options(NotificationOptions(resources_changed=False))
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, options)


asyncio.run(main())
