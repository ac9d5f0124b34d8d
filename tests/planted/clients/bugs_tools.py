"""Bugs in calls of tools, and in prompts."""

import json
import os
import unicodedata

from plain import Client
from plain_options import Failed, report
from planting import BUGS, bug, sent


# Tools and prompts.
def names(name, change):
    @sent(name)
    def _(client, message):
        if message.get("method") in ("tools/call", "prompts/get"):
            message["params"]["name"] = change(message["params"]["name"])


names("name-with-prefix", lambda name: "server_" + name)
names("name-lower-cased", str.lower)
names("name-without-dots", lambda name: name.replace(".", "_").replace("/", "_"))
names("name-shortened", lambda name: name[:16])
names("name-in-snake-case", lambda name: name.replace("-", "_"))


def arguments(name, change):
    @sent(name, "tools/call")
    def _(client, message):
        message["params"]["arguments"] = change(message["params"].get("arguments") or {})


arguments("arguments-as-json-text", json.dumps)
arguments("arguments-as-list", lambda given: list(given.values()))
arguments("arguments-null", lambda given: given or None)
arguments("arguments-wrapped", lambda given: {"input": given})
arguments("arguments-all-text", lambda given: {key: one if isinstance(one, str) else json.dumps(one) for key, one in given.items()})
arguments("arguments-trimmed", lambda given: {key: one.strip() if isinstance(one, str) else one for key, one in given.items()})
arguments("arguments-without-null", lambda given: {key: one for key, one in given.items() if one is not None})
arguments("arguments-without-empty", lambda given: {key: one for key, one in given.items() if one not in ("", [], {}, False, 0)})
arguments("arguments-texts-parsed", lambda given: {key: int(one) if isinstance(one, str) and one.isdigit() else one for key, one in given.items()})
arguments("arguments-snake-case", lambda given: {"".join("_" + one.lower() if one.isupper() else one for one in key): value for key, value in given.items()})
arguments("arguments-session-added", lambda given: {**given, "sessionId": "1"})
arguments("arguments-ascii-only", lambda given: {key: one.encode("ascii", "replace").decode() if isinstance(one, str) else one for key, one in given.items()})
arguments("arguments-escaped", lambda given: {key: one.replace("<", "&lt;").replace("&", "&amp;") if isinstance(one, str) else one for key, one in given.items()})
arguments("arguments-normalized", lambda given: {key: unicodedata.normalize("NFC", one) if isinstance(one, str) else one for key, one in given.items()})


@sent("prompt-arguments-not-text", "prompts/get")
def _(client, message):
    given = message["params"].get("arguments") or {}
    message["params"]["arguments"] = {key: {"value": one} for key, one in given.items()}


@sent("prompt-arguments-left-out", "prompts/get")
def _(client, message):
    message["params"].pop("arguments", None)


def called(name, change):
    """A bug in how the result of a call is read."""

    class Changed(Client):
        def call(self, action):
            return change(self, super().call(action), action)

    BUGS[name] = Changed


KNOWN = ("text", "image", "audio", "resource", "resource_link")


def unknown_fails(client, result, action):
    if any(one.get("type") not in KNOWN for one in result.get("content", [])):
        raise Failed("invalid", "an unknown type of content")
    return result


def error_raised(client, result, action):
    if result.get("isError"):
        raise Failed("invalid", "the tool failed")
    return result


called("unknown-content-fails", unknown_fails)
called("unknown-content-empties", lambda client, result, action: {**result, "content": []} if any(one.get("type") not in KNOWN for one in result.get("content", [])) else result)
called("error-content-dropped", lambda client, result, action: {**result, "content": []} if result.get("isError") else result)
called("error-flag-dropped", lambda client, result, action: {key: one for key, one in result.items() if key != "isError"})
called("error-as-failure", error_raised)
called("first-content-only", lambda client, result, action: {**result, "content": result.get("content", [])[:1]})
called("structured-dropped", lambda client, result, action: {key: one for key, one in result.items() if key != "structuredContent"})


@bug("empty-content-fails")
class _(Client):
    def call(self, action):
        result = super().call(action)
        if not result.get("content"):
            raise Failed("invalid", "no content")
        return result


@bug("error-called-again")
class _(Client):
    def call(self, action):
        for _ in range(6):
            result = super().call(action)
            if not result.get("isError"):
                break
        return result


@bug("error-ends-connection")
class _(Client):
    def carry_out(self, action, number):
        try:
            report(number, ok=True, result=self.perform({**action, "number": str(number)}))
        except Failed as error:
            report(number, ok=False, kind=error.kind, message=str(error))
            if error.kind == "error":
                self.transport.close()
                os._exit(1)
