"""The transport of plain.py over Streamable HTTP."""

import base64
import http.client
import json
import threading
import time
from urllib.parse import urlsplit

MODERN = "2026-07-28"
HEADER = "mcp-protocol-version"
NAMES = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}


def encoded(value):
    """The value of a header."""
    text = value if isinstance(value, str) else json.dumps(value)
    plain = all(" " <= one <= "~" for one in text) and text == text.strip() and not (text.startswith("=?base64?") and text.endswith("?="))
    return text if plain else f"=?base64?{base64.b64encode(text.encode()).decode()}?="


def annotated(schema, path=()):
    """The arguments that become headers, as (path, name, schema)."""
    for name, field in (schema.get("properties") or {}).items():
        if not isinstance(field, dict):
            continue
        if "x-mcp-header" in field:
            yield (*path, name), field["x-mcp-header"], field
        yield from annotated(field, (*path, name))


def everywhere(schema):
    """How many annotations there are at any place."""
    if isinstance(schema, list):
        return sum(map(everywhere, schema))
    if not isinstance(schema, dict):
        return 0
    return ("x-mcp-header" in schema) + sum(map(everywhere, schema.values()))


def is_token(text):
    return isinstance(text, str) and text != "" and all(one.isascii() and (one.isalnum() or one in "!#$%&'*+-.^_`|~") for one in text)


def lines(response):
    """The lines of an event stream, which end in LF, CR LF or CR."""
    rest, after_return, begins = bytearray(), False, True
    while piece := response.read1(65536):
        if begins:
            piece, begins = piece.removeprefix(b"\xef\xbb\xbf"), False
        for byte in piece:
            if byte == 10 and after_return:
                after_return = False
            elif byte in (10, 13):
                yield rest.decode()
                rest, after_return = bytearray(), byte == 13
            else:
                rest.append(byte)
                after_return = False


class Http:
    is_stdio = False

    def __init__(self, client, url):
        self.client, self.url = client, url
        self.session, self.agreed, self.lock = None, False, threading.Lock()
        self.streams, self.closed = {}, False

    def has_exited(self):
        return False

    def can_call(self, tool):
        schema = tool.get("inputSchema") or {}
        found = list(annotated(schema))
        names = [name.lower() if isinstance(name, str) else None for _, name, _ in found]
        types = {"string", "integer", "boolean"}
        sound = all(is_token(name) and field.get("type") in types for _, name, field in found)
        return not self.client.is_modern or sound and len(set(names)) == len(names) == everywhere(schema)

    # Headers.

    def own_headers(self, message):
        """The headers of a message, or of GET and DELETE."""
        client, headers = self.client, {}
        if message is not None:
            headers = {"content-type": "application/json", "accept": "application/json, text/event-stream"}
        method = (message or {}).get("method")
        if client.is_modern and message is None:
            return {HEADER: client.revision}
        if client.is_modern:
            headers |= {HEADER: client.revision, "mcp-method": method}
            params = message.get("params") or {}
            if method in NAMES:
                headers["mcp-name"] = encoded(params.get(NAMES[method], ""))
            if method == "tools/call":
                headers |= self.mirrored(params)
            return headers
        if self.session is not None and method != "initialize":
            headers["mcp-session-id"] = self.session
        if self.agreed and method != "initialize" and client.revision >= "2025-06-18":
            headers[HEADER] = client.revision
        return headers

    def mirrored(self, params):
        tool = self.client.tools.get(params.get("name"))
        if tool is None:
            for page in self.client.pages("tools", {}, {}, 20):
                self.client.tools.update({one["name"]: one for one in page})
            tool = self.client.tools.get(params.get("name")) or {}
        headers = {}
        for path, name, _ in annotated(tool.get("inputSchema") or {}):
            value = params.get("arguments")
            for key in path:
                value = value.get(key) if isinstance(value, dict) else None
            if value is not None:
                headers[f"mcp-param-{name}"] = encoded(value)
        return headers

    # Sending.

    def send(self, message):
        if isinstance(message, dict) and "method" in message and "id" in message:
            threading.Thread(target=self.post, args=(message,), daemon=True).start()
        else:
            self.post(message)

    def http(self, method, headers, body=None):
        url = urlsplit(self.url)
        connection = http.client.HTTPConnection(url.netloc, timeout=15)
        path = url.path + (f"?{url.query}" if url.query else "")
        connection.request(method, path, body, headers)
        return connection, connection.getresponse()

    def post(self, message):
        single = message if isinstance(message, dict) else message[0]
        identifier = single.get("id") if "method" in single else None
        headers = self.client.headers(single, self.own_headers(single))
        try:
            connection, response = self.http("POST", headers, json.dumps(message).encode())
            self.streams[identifier] = connection
            self.take(identifier, single, response)
        except (OSError, http.client.HTTPException, ValueError, AttributeError):
            self.lost(identifier)

    def take(self, identifier, message, response):
        if session := response.getheader("mcp-session-id"):
            self.session = session
        kind = (response.getheader("content-type") or "").split(";")[0].strip().lower()
        if response.status == 404 and self.session and not self.client.is_modern and identifier is not None:
            return self.again(message)
        if kind == "text/event-stream" and response.status == 200:
            self.events(identifier, response)
            return self.lost(identifier)
        body = response.read()
        if kind == "application/json" and body:
            answer = json.loads(body)
            # An error about a message that could not be read has no id.
            if isinstance(answer, dict) and "error" in answer and answer.get("id") is None:
                answer = {**answer, "id": identifier}
            self.client.arrived(answer)
        self.lost(identifier)

    def again(self, message):
        """The session is over: a new one, and the request once more."""
        with self.lock:
            self.session, self.agreed = None, False
            waiting = self.client.open.get(message["id"])
            try:
                self.client.initialize()
                fresh = self.client.start(message["method"], message.get("params"))
                fresh.done.wait(8)
                if waiting:
                    waiting.end(fresh.response)
            except Exception:
                self.lost(message["id"])

    def lost(self, identifier):
        waiting = self.client.open.get(identifier) if identifier is not None else None
        if waiting and not waiting.done.is_set():
            waiting.end(None)

    def events(self, identifier, response):
        """Reads a stream, and resumes it while it has ids and no response came."""
        last, pause = None, 1.0
        while True:
            last, pause = self.stream(response, last, pause)
            waiting = self.client.open.get(identifier) if identifier is not None else None
            over = waiting is None or waiting.done.is_set()
            if self.closed or last is None or self.client.is_modern or over and identifier is not None:
                return
            time.sleep(pause)
            if identifier is not None and (waiting.done.is_set() or waiting.cancelled) or self.closed:
                return
            try:
                _, response = self.http("GET", self.client.headers(None, self.get_headers(last)))
            except (OSError, http.client.HTTPException):
                return
            if response.status != 200:
                return

    def get_headers(self, last):
        headers = {"accept": "text/event-stream", **self.own_headers(None)}
        if last is not None:
            headers["last-event-id"] = last.encode().decode("latin-1")
        return headers

    def stream(self, response, last, pause):
        data, fresh = [], None
        try:
            for line in lines(response):
                name, _, value = line.partition(":")
                value = value.removeprefix(" ")
                if line == "":
                    last = fresh if fresh is not None else last
                    self.event("\n".join(data))
                    data = []
                elif name == "data":
                    data.append(value)
                elif name == "id" and "\0" not in value:
                    fresh = value
                elif name == "retry" and value.isdigit():
                    pause = min(int(value), 10_000) / 1000
        except (OSError, http.client.HTTPException, AttributeError, ValueError):
            pass
        return last or None, pause

    def event(self, text):
        if text:
            try:
                message = json.loads(text)
            except ValueError:
                return
            self.client.arrived(message)

    def initialized(self):
        self.agreed = True

    def listen(self):
        def get():
            try:
                _, response = self.http("GET", self.client.headers(None, self.get_headers(None)))
                if response.status == 200:
                    self.events(None, response)
            except (OSError, http.client.HTTPException):
                pass

        threading.Thread(target=get, daemon=True).start()

    def abandon(self, identifier):
        connection = self.streams.get(identifier)
        if connection is not None and connection.sock is not None:
            try:
                connection.sock.shutdown(2)
            except OSError:
                pass

    def close(self):
        self.closed = True
        if self.session is not None and not self.client.is_modern:
            try:
                self.http("DELETE", self.client.headers(None, self.own_headers(None)))
            except (OSError, http.client.HTTPException):
                pass
