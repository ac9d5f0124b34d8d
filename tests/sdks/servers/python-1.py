"""FastMCP of mcp 1.x from 1.10. argv: a port for Streamable HTTP, none for stdio."""

import sys

from mcp.server.fastmcp import FastMCP
from mcp.types import Completion, PromptReference, ResourceTemplateReference, ToolAnnotations

NAMES = ["Ada", "Alan", "Barbara", "Grace"]
over_http = {"port": int(sys.argv[1])} if len(sys.argv) > 1 else {}
mcp = FastMCP("quickstart", **over_http)


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


@mcp.tool(annotations=ToolAnnotations(readOnlyHint=True))
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


@mcp.completion()
async def complete(ref: PromptReference | ResourceTemplateReference, argument, context):
    if getattr(ref, "uri", None) == "greeting://{name}" or getattr(ref, "name", None) == "introduce":
        return Completion(values=[name for name in NAMES if name.startswith(argument.value)])
    return None


mcp.run(transport="streamable-http" if over_http else "stdio")
