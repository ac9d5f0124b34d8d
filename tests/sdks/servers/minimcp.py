"""MiniMCP of minimcp. argv: a port for Streamable HTTP, none for stdio."""

import sys

import anyio
from minimcp import MiniMCP, StdioTransport, StreamableHTTPTransport

mcp = MiniMCP(name="quickstart", version="1.0.0")


@mcp.tool()
def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


@mcp.tool()
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


@mcp.prompt()
def introduce(name: str) -> str:
    """Introduce somebody"""
    return f"Introduce {name} in one sentence."


if len(sys.argv) > 1:
    import uvicorn

    uvicorn.run(StreamableHTTPTransport(mcp).as_starlette("/mcp"), host="127.0.0.1", port=int(sys.argv[1]), log_level="warning")
else:
    anyio.run(StdioTransport(mcp).run)
