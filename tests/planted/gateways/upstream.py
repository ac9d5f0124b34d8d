"""The gateway as a client: Streamable HTTP, or a program over stdio."""
import http.client
import json
import os
import subprocess
import sys
import threading
import time
import urllib.parse

from bug import lawful, on


def failure(message, text, code=-32603):
    return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": code, "message": text}}


class Http:
    def __init__(self, url, receive):
        parts = urllib.parse.urlsplit(url)
        self.host, self.path = parts.netloc, parts.path or "/"
        self.receive = receive
        self.session = self.version = self.opening = None
        self.again = threading.Lock()
        self.one = threading.Lock()
        self.ended = False
        self.front_headers = {}
        self.streaming = False

    def headers(self, method, opening=False):
        h = {"Accept": "application/json, text/event-stream"}
        if method == "GET":
            h["Accept"] = "text/event-stream"
        if method == "DELETE":
            h.pop("Accept")
        if method == "POST":
            h["Content-Type"] = "application/json"
            if on("accept-none"):
                h.pop("Accept")
            if on("accept-json"):
                h["Accept"] = "application/json"
            if on("accept-sse"):
                h["Accept"] = "text/event-stream"
            if on("accept-any"):
                h["Accept"] = "*/*"
            if on("content-type-none"):
                h.pop("Content-Type")
            if on("content-type-text"):
                h["Content-Type"] = "text/plain"
        if method == "GET" and on("get-accept-json"):
            h["Accept"] = "application/json"
        if self.session and not opening and not on("session-none") and not (method == "GET" and on("get-session-none")) \
                and not (method == "DELETE" and on("delete-session-none")):
            h["Mcp-Session-Id"] = self.session.lower() if on("session-lower") else self.session
        if self.version and not opening and not on("version-none") and not (method == "GET" and on("get-version-none")):
            h["MCP-Protocol-Version"] = "2025-03-26" if on("version-old") else self.version
        if on("authorization-passed") and "authorization" in self.front_headers:
            h["Authorization"] = self.front_headers["authorization"]
        if on("cookies-passed") and "cookie" in self.front_headers:
            h["Cookie"] = self.front_headers["cookie"]
        if on("origin-passed") and "origin" in self.front_headers:
            h["Origin"] = self.front_headers["origin"]
        return h

    def open(self, method, body=None, extra=(), opening=False, timeout=None):
        c = http.client.HTTPConnection(self.host, timeout=timeout)
        headers = self.headers(method, opening)
        headers.update(extra)
        c.request(method, self.path, body, headers)
        r = c.getresponse()
        r.connection = c
        return r

    def send(self, message):
        """Sends one message; for a request, blocks until there is a response, or none will come."""
        if on("one-at-a-time") and "method" in message and "id" in message:
            with self.one:
                return self.post(message)
        return self.post(message)

    def post(self, message, retried=False):
        request = "method" in message and "id" in message
        opening = message.get("method") == "initialize"
        if opening:
            self.opening = message
        timeout = next((s for s in (1, 3, 6) if on(f"timeout-{s}") or on(f"timeout-{s}-silent")), None)
        done = []
        try:
            text = json.dumps(message, ensure_ascii=on("escapes")).encode()
            if on("batched"):
                text = b"[" + text + b"]"
            r = self.open("POST", text, opening=opening, timeout=timeout if request and not opening else None)
            if r.status == 404 and self.session and not opening:
                r.read()
                if on("session-gone-silent"):
                    return
                if on("session-gone-exit"):
                    os._exit(1)
                if not on("session-gone-error") and not retried and self.start_again():
                    return self.post(message, True)
                if request:
                    self.receive(failure(message, "the session of the upstream has ended"), message["id"])
                return
            if r.status >= 400:
                return self.failed_status(message, r)
            if opening:
                self.session = r.getheader("Mcp-Session-Id")
            kind = (r.getheader("Content-Type") or "").split(";")[0].strip().lower()
            last = None
            if kind == "text/event-stream":
                last = self.events(r, message, done)
            elif r.status != 202:
                data = r.read()
                if on("json-by-line"):
                    data = data.split(b"\n")[0]
                if data.strip():
                    try:
                        self.got(json.loads(data), message, done)
                    except ValueError:
                        if on("json-by-line"):
                            return
                        raise
            first = last
            while request and not done and last and not on("break-silent") and not on("break-error"):
                time.sleep(self.retry or 0.05)
                extra = {"Last-Event-ID": first if on("resumes-first") else last}
                if on("resumes-without-id"):
                    extra = {}
                if on("resumes-by-number"):
                    extra = {"Last-Event-ID": "".join(filter(str.isdigit, last)) or "0"}
                r = self.open("GET", extra=extra)
                if r.status >= 400:
                    break
                last = self.events(r, message, done) or last
            if request and not done and not on("break-silent"):
                self.receive(failure(message, "the upstream ended its stream without a response"), message["id"])
        except (OSError, http.client.HTTPException, ValueError) as e:
            if isinstance(e, TimeoutError) and on(f"timeout-{timeout}-silent"):
                return
            if on("reset-silent"):
                return
            if on("reset-exit"):
                os._exit(1)
            if on("reset-empty") and request:
                return self.receive({"jsonrpc": "2.0", "id": message["id"], "result": {}}, message["id"])
            if request and not done:
                self.receive(failure(message, f"the upstream cannot be reached: {type(e).__name__}"), message["id"])

    retry = None

    def failed_status(self, message, r):
        data = r.read()
        if "id" not in message or "method" not in message:
            if on("failed-notification-exit"):
                os._exit(1)
            return
        if on("5xx-silent"):
            return
        if on("5xx-exit"):
            os._exit(1)
        if on("5xx-empty"):
            return self.receive({"jsonrpc": "2.0", "id": message["id"], "result": {}}, message["id"])
        if on("5xx-null-id"):
            return self.receive({"jsonrpc": "2.0", "id": None, "error": {"code": -32603, "message": "bad gateway"}}, message["id"])
        if on("5xx-code-http"):
            return self.receive({"jsonrpc": "2.0", "id": message["id"], "error": {"code": str(r.status), "message": "bad gateway"}}, message["id"])
        try:
            m = json.loads(data)
            if isinstance(m, dict) and "error" in m and m.get("id") in (message["id"], None):
                m["id"] = message["id"]
                return self.receive(m, message["id"])
        except ValueError:
            pass
        self.receive(failure(message, f"the upstream responded with status {r.status}"), message["id"])
        if on("5xx-for-ever"):
            self.post = lambda m, retried=False: self.receive(failure(m, "the upstream is down"), m["id"]) if "method" in m and "id" in m else None

    def start_again(self):
        with self.again:
            try:
                again = {**self.opening, "params": {**self.opening["params"], "capabilities": {}}} if on("restart-bare") else self.opening
                r = self.open("POST", json.dumps(again).encode(), opening=True)
                if r.status != 200:
                    return False
                self.session = r.getheader("Mcp-Session-Id")
                r.read() if not (r.getheader("Content-Type") or "").startswith("text/event-stream") else r.close()
                if not on("restart-uninitialized"):
                    self.open("POST", b'{"jsonrpc":"2.0","method":"notifications/initialized"}').read()
                if not on("no-stream-after-start"):
                    self.listen()
                return True
            except (OSError, http.client.HTTPException):
                return False

    def got(self, value, message, done):
        """One JSON value from the server, in what it sent for `message` (None on the stream of GET)."""
        for m in value if isinstance(value, list) else [value]:
            response = "method" not in m
            if message is not None and response and m.get("id") == message.get("id"):
                done.append(m)
                if message["method"] == "initialize" and "result" in m:
                    self.version = m["result"].get("protocolVersion")
            self.receive(m, None if message is None else message.get("id"))

    def events(self, r, message, done):
        data, ident, last = [], None, None
        while True:
            try:
                line = r.readline()
            except (OSError, http.client.HTTPException) as e:
                if isinstance(e, TimeoutError):
                    raise
                return last
            if not line:
                return last
            if on("latin"):
                line = line.decode("latin-1").encode()
            line = line.decode("utf-8", "replace").rstrip("\n").rstrip("\r")
            if not line:
                if ident is not None:
                    last = ident
                if data:
                    text = "\n".join(data)
                    if on("data-first-line"):
                        text = data[0]
                    if on("data-last-line"):
                        text = data[-1]
                    try:
                        if text.strip():
                            self.got(json.loads(text), message, done)
                    except ValueError:
                        if on("bad-event-exit"):
                            os._exit(1)
                    if done and on("stops-at-response"):
                        pass
                data, ident = [], None
                if done and message is not None:
                    r.connection.close()
                    return last
                continue
            field, _, value = line.partition(":")
            value = value[1:] if value.startswith(" ") else value
            if on("space-required") and line.startswith("data:") and not line.startswith("data: "):
                continue
            if field == "data":
                data.append(value)
            elif field == "id":
                ident = value
            elif field == "retry" and value.isdigit() and not on("retry-ignored"):
                self.retry = int(value) / 1000
            elif field == "" and on("comment-exit"):
                os._exit(1)

    def listen(self):
        if on("get-none") or self.streaming:
            return
        self.streaming = True
        threading.Thread(target=self.listening, args=(self.session,), daemon=True).start()

    def listening(self, session):
        last, tries = None, 0
        while not self.ended and self.session == session and tries < 20:
            try:
                r = self.open("GET", extra={"Last-Event-ID": last} if last and not on("get-no-resume") else {})
                if r.status in (400, 404, 405, 501):
                    break
                if r.status == 200:
                    tries = 0
                    last = self.events(r, None, []) or last
                if on("get-once"):
                    return
            except (OSError, http.client.HTTPException):
                pass
            tries += 1
            time.sleep(self.retry or 0.2)
        self.streaming = False

    def close(self):
        self.ended = True
        if on("delete-none") or not self.session:
            return
        try:
            self.open("DELETE", timeout=2).read()
        except (OSError, http.client.HTTPException):
            pass


class Program:
    """An upstream over stdio."""

    def __init__(self, command, receive):
        self.receive, self.ended = receive, False
        self.version = self.session = None
        self.front_headers = {}
        self.waiting, self.lock = {}, threading.Condition()
        self.process = subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=sys.stderr)
        threading.Thread(target=self.reading, daemon=True).start()

    def send(self, m):
        request = "method" in m and "id" in m
        with self.lock:
            if request:
                if self.process.poll() is not None and not on("reset-silent"):
                    return self.receive(failure(m, "the upstream has exited"), m["id"])
                self.waiting[json.dumps(m["id"])] = m
            try:
                self.process.stdin.write(json.dumps(m, ensure_ascii=on("escapes")).encode() + b"\n")
                self.process.stdin.flush()
            except OSError:
                pass
        if request:
            with self.lock:
                while json.dumps(m["id"]) in self.waiting:
                    self.lock.wait()

    def reading(self):
        for line in self.process.stdout:
            if on("latin"):
                line = line.decode("latin-1").encode()
            try:
                value = json.loads(line)
            except ValueError:
                if on("bad-event-exit"):
                    os._exit(1)
                continue
            for m in value if isinstance(value, list) else [value]:
                request = None
                if "method" not in m:
                    request = self.waiting.get(json.dumps(m.get("id")))
                    if request and request["method"] == "initialize" and "result" in m:
                        self.version = m["result"].get("protocolVersion")
                self.receive(m, request and request["id"])
                if request:
                    with self.lock:
                        self.waiting.pop(json.dumps(m["id"]), None)
                        self.lock.notify_all()
        if on("reset-exit"):
            os._exit(1)
        with self.lock:
            left, self.waiting = list(self.waiting.values()), {}
            self.lock.notify_all()
        if not on("reset-silent"):
            for m in left:
                self.receive(failure(m, "the upstream has exited"), m["id"])

    def listen(self):
        pass

    def close(self):
        self.ended = True
        if on("orphan"):
            return
        try:
            self.process.stdin.close()
            self.process.wait(2)
        except (OSError, subprocess.TimeoutExpired):
            self.process.kill()


def connect(where, receive):
    return Http(where, receive) if where.startswith("http") else Program(where, receive)
