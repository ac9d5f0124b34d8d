"""ChukMCPServer of chuk-mcp-server. argv: a port for Streamable HTTP, none for stdio."""

import sys

from chuk_mcp_server import ChukMCPServer

mcp = ChukMCPServer("quickstart", version="1.0.0", prompts=True)


@mcp.tool(read_only_hint=True)
def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


@mcp.tool(read_only_hint=True)
def measure(text: str) -> dict:
    """Count the characters and words of a text"""
    return {"characters": len(text), "words": len(text.split())}


@mcp.resource("info://about", mime_type="text/plain")
def about() -> str:
    """What this server is"""
    return "A quickstart server."


@mcp.resource_template("greeting://{name}")
def greeting(name: str) -> str:
    """A greeting for somebody"""
    return f"Hello, {name}!"


@mcp.prompt
def introduce(name: str) -> str:
    """Introduce somebody"""
    return f"Introduce {name} in one sentence."


if len(sys.argv) > 1:
    mcp.run(host="127.0.0.1", port=int(sys.argv[1]), stdio=False)
else:
    mcp.run(stdio=True)
