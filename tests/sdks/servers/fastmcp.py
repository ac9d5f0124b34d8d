"""FastMCP of fastmcp 2.x, 3.x and 4.x. argv: a port for Streamable HTTP, none for stdio."""

import sys

from fastmcp import FastMCP

mcp = FastMCP("quickstart")


@mcp.tool(annotations={"readOnlyHint": True})
def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


@mcp.tool(annotations={"readOnlyHint": True})
def measure(text: str) -> dict[str, int]:
    """Count the characters and words of a text"""
    return {"characters": len(text), "words": len(text.split())}


@mcp.resource("info://about", mime_type="text/plain")
def about() -> str:
    """What this server is"""
    return "A quickstart server."


@mcp.resource("greeting://{name}")
def greeting(name: str) -> str:
    """A greeting for somebody"""
    return f"Hello, {name}!"


@mcp.prompt
def introduce(name: str) -> str:
    """Introduce somebody"""
    return f"Introduce {name} in one sentence."


if len(sys.argv) > 1:
    mcp.run(transport="http", port=int(sys.argv[1]))
else:
    mcp.run()
