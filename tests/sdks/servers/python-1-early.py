"""FastMCP of mcp 1.2 to 1.9, over stdio."""

from mcp.server.fastmcp import FastMCP

mcp = FastMCP("quickstart")


@mcp.tool()
def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


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


mcp.run()
