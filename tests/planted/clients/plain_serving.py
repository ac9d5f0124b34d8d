"""What plain.py returns to requests of the server, and to results that need input."""

import json
import time

from plain_options import ANSWERS


def value_of(schema):
    """A value that the schema of a field permits."""
    if "default" in schema:
        return schema["default"]
    if schema.get("type") == "array":
        return [value_of(schema["items"])]
    if choices := schema.get("enum") or [one["const"] for one in schema.get("oneOf", schema.get("anyOf", []))]:
        return choices[0]
    if schema.get("type") != "string":
        return True if schema.get("type") == "boolean" else schema.get("minimum", 1)
    formats = {"email": "a@example.com", "uri": "https://example.com/", "date": "2026-01-31", "date-time": "2026-01-31T12:00:00Z"}
    return formats.get(schema.get("format")) or "text".ljust(schema.get("minLength", 0), "s")[: schema.get("maxLength")]


def is_sound(messages):
    """Whether each use of a tool is followed by its results, and by nothing else."""
    if not isinstance(messages, list):
        return False
    used = set()
    for message in messages:
        content = message.get("content")
        blocks = content if isinstance(content, list) else [content]
        found = {block.get("toolUseId") for block in blocks if block.get("type") == "tool_result"}
        if found != used or found and len(found) != len(blocks):
            return False
        used = {block.get("id") for block in blocks if block.get("type") == "tool_use"}
    return not used


class Serving:
    """A part of the client."""

    def respond(self, request):
        response = self.serve(request)
        if json.dumps(request["id"]) not in self.given_up:
            self.send({"id": request["id"], **response})

    def serve(self, request):
        method, params, declared = request.get("method"), request.get("params") or {}, self.capabilities()
        if method == "ping" and not self.is_modern:
            return {"result": {}}
        if method == "roots/list" and "roots" in declared:
            return {"result": {"roots": [{"uri": uri} for uri in ANSWERS.get("roots", ["file:///tmp"])]}}
        if method == "sampling/createMessage" and "sampling" in declared:
            return self.sampled(params, declared)
        if method == "elicitation/create" and "elicitation" in declared:
            return self.elicited(params, declared)
        return {"error": {"code": -32601, "message": "Method not found"}}

    def sampled(self, params, declared):
        if ("tools" in params or "toolChoice" in params) and "tools" not in declared["sampling"]:
            return {"error": {"code": -32602, "message": "sampling.tools was not declared"}}
        if not is_sound(params.get("messages")):
            return {"error": {"code": -32602, "message": "invalid messages"}}
        time.sleep(ANSWERS.get("delay", 0) / 1000)
        if ANSWERS.get("sampling", "") is None:
            return {"error": {"code": -1, "message": "User rejected sampling request"}}
        content = {"type": "text", "text": ANSWERS.get("sampling", "A response.")}
        return {"result": {"role": "assistant", "content": content, "model": "plain", "stopReason": "endTurn"}}

    def elicited(self, params, declared):
        mode = params.get("mode", "form")
        if mode != "form" and mode not in declared["elicitation"] or mode not in ("form", "url"):
            return {"error": {"code": -32602, "message": f"mode {mode} was not declared"}}
        if not isinstance(params.get("message"), str) or mode == "form" and not isinstance(params.get("requestedSchema"), dict):
            return {"error": {"code": -32602, "message": "invalid params"}}
        time.sleep(ANSWERS.get("delay", 0) / 1000)
        action = ANSWERS.get("elicitation", "accept")
        if action in ("decline", "cancel"):
            return {"result": {"action": action}}
        if mode == "url":
            return {"result": {"action": "accept"}}
        fields = params.get("requestedSchema", {}).get("properties", {})
        content = {name: value_of(field) for name, field in fields.items() if action != "defaults" or "default" in field}
        return {"result": {"action": "accept", "content": content}}
