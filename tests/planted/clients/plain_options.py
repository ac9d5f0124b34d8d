"""What mcp-conform told the client, and how it reports."""

import json
import os

ENV = {name.removeprefix("MCP_CONFORMANCE_"): value for name, value in os.environ.items() if name.startswith("MCP_CONFORMANCE_")}
ACTIONS = json.loads(ENV.get("ACTIONS", "[]"))
ANSWERS = json.loads(ENV.get("ANSWERS", "null")) or {}
REVISION = ENV.get("PROTOCOL_VERSION", "2025-11-25")
MODERN = "2026-07-28"
PREFIX = "io.modelcontextprotocol/"
# Pages of one list or walk, and rounds of one call: more are not requested.
MOST_PAGES, MOST_ROUNDS = 200, 10
LISTS = {
    "tools": ("tools/list", "tools"),
    "resources": ("resources/list", "resources"),
    "templates": ("resources/templates/list", "resourceTemplates"),
    "prompts": ("prompts/list", "prompts"),
}
NEEDS = {"setLevel": "logging", "complete": "completions", "call": "tools", "read": "resources", "get": "prompts"}


class Failed(Exception):
    """An action that did not succeed, of a kind that the report knows."""

    def __init__(self, kind, message, code=None, data=None):
        super().__init__(message)
        self.kind, self.code, self.data = kind, code, data


def report(number, **fields):
    if "REPORT" in ENV:
        with open(ENV["REPORT"], "a") as file:
            file.write(json.dumps({"action": number, **fields}) + "\n")
