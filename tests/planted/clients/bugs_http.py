"""Bugs in HTTP: sessions, headers and event streams."""

import json
import urllib.parse

from plain import Client
from planting import bug, header, on_transport


# Sessions and streams.
header("session-not-on-get", "mcp-session-id", lambda value, message, client: value if message is not None else None)
header("session-not-on-responses", "mcp-session-id", lambda value, message, client: value if message is None or "method" in message else None)
header("session-not-on-notifications", "mcp-session-id", lambda value, message, client: value if message is None or "id" in message else None)
header("session-upper-case", "mcp-session-id", lambda value, message, client: value and value.upper())
header("session-in-modern", "mcp-session-id", lambda value, message, client: value or "1868a90c")
header("version-header-not-on-get", "mcp-protocol-version", lambda value, message, client: value if message is not None else None)
header("version-header-not-on-responses", "mcp-protocol-version", lambda value, message, client: value if message is None or "method" in message else None)
header("get-accepts-json", "accept", lambda value, message, client: value if message is not None else "application/json")
header("event-id-encoded", "last-event-id", lambda value, message, client: value and urllib.parse.quote(value, safe=""))
header("event-id-quoted", "last-event-id", lambda value, message, client: value and json.dumps(value))
header("event-id-trimmed", "last-event-id", lambda value, message, client: value and value.split("-")[0].split(":")[0])
header("event-id-empty-at-first", "last-event-id", lambda value, message, client: value or ("" if message is None else None))
header("event-id-on-posts", "last-event-id", lambda value, message, client: value or ("1" if message else None))
on_transport("session-kept-on-end", again=lambda usual, message: None)
on_transport("modern-get-stream", send=lambda usual, message: (usual(message), getattr(usual.__self__, "listen", lambda: None)())[0])
on_transport("modern-deletes", close=lambda usual: (usual.__self__.is_stdio or usual.__self__.http("DELETE", usual.__self__.client.headers(None, {})), usual())[1])
on_transport("event-first-line-only", event=lambda usual, text: usual(text.split("\n")[0]))
on_transport("event-lines-joined-as-events", event=lambda usual, text: [usual(line) for line in text.split("\n")])


@bug("modern-resumes")
class _(Client):
    def __init__(self, target):
        super().__init__(target)
        if self.transport.is_stdio:
            return
        usual = self.transport.events

        def events(identifier, response):
            usual(identifier, response)
            waiting = self.open.get(identifier)
            if waiting and not waiting.done.is_set() and not waiting.cancelled:
                self.transport.http("GET", {**self.headers(None, {"accept": "text/event-stream"}), "last-event-id": "1"})

        self.transport.events = events
