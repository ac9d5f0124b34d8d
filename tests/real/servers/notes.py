"""A small server on what the Python SDK offers for writing one: FastMCP in its 1.x, MCPServer in its 2.x.
Usage: python notes.py [PORT], over stdio without one."""

import sys

try:
    from mcp.server import MCPServer

    SETTINGS = False
except ImportError:
    from mcp.server.fastmcp import FastMCP as MCPServer

    SETTINGS = True
from mcp.types import ToolAnnotations

NOTES = {"milk": "Buy milk.", "moon": "Fly to the moon."}
port = {"port": int(sys.argv[1])} if len(sys.argv) > 1 else {}
server = MCPServer("notes", **(port if SETTINGS else {}))


@server.resource("note://all", mime_type="application/json")
def everything() -> dict[str, str]:
    """All notes."""
    return NOTES


@server.resource("note://{name}", mime_type="text/plain")
def note(name: str) -> str:
    """One note."""
    return NOTES[name]


@server.tool(annotations=ToolAnnotations(readOnlyHint=True))
def count() -> int:
    """How many notes there are."""
    return len(NOTES)


@server.tool()
def write(name: str, text: str) -> str:
    """Writes a note."""
    NOTES[name] = text
    return "written"


@server.prompt()
def sum_up(name: str) -> str:
    """Sums a note up."""
    return f"Sum up in one sentence: {NOTES.get(name, name)}"


server.run("streamable-http" if port else "stdio", **({} if SETTINGS else port))
