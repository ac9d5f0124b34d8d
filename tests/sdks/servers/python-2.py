"""MCPServer of mcp 2.x. argv: a port for Streamable HTTP, none for stdio."""

import sys

from mcp.server import MCPServer
from mcp.types import Completion, PromptReference, ResourceTemplateReference, ToolAnnotations

NAMES = ["Ada", "Alan", "Barbara", "Grace"]
mcp = MCPServer("quickstart", version="1.0.0")


@mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
def add(a: int, b: int) -> int:
    """Add two numbers"""
    return a + b


@mcp.tool(annotations=ToolAnnotations(read_only_hint=True))
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


if len(sys.argv) > 1:
    mcp.run("streamable-http", port=int(sys.argv[1]))
else:
    mcp.run()
