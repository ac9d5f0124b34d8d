#!/usr/bin/env python3
"""A gateway with Streamable HTTP in front: own sessions, own ids and own progress tokens. Usage: http_front.py PORT UPSTREAM"""
import json
import os
import queue
import signal
import sys
import threading
import uuid
from urllib.parse import urlsplit
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from bug import Passing, invalid, is_valid, kind_of, lawful, on
from lawful import Ways
from upstream import connect

VERSIONS = ["2025-03-26", "2025-06-18", "2025-11-25"]
sessions = {}
all_lock = threading.Lock()
shared = {}


class Session:
    def __init__(self, headers):
        self.id = uuid.uuid4().hex
        self.passing = Passing()
        self.lock = threading.Lock()
        self.next = 1
        self.requests = {}      # own id -> (id of the client, method, params, sink)
        self.tokens = {}        # own token -> (token of the client, sink)
        self.cancelled = set()  # own ids of requests that the client cancelled
        self.asked = {}         # id that the client sees -> (id of the server, method, params)
        self.general = queue.Queue()
        self.upstream = connect(sys.argv[2], self.from_server)
        self.upstream.front_headers = headers
        self.version = None
        self.reader = None
        self.ways = Ways()

    def own(self):
        with self.lock:
            self.next += 1
            return self.next

    # towards the server

    def from_client(self, m, sink):
        kind = kind_of(m)
        m = self.ways.up(m)
        if kind == "request" and (known := self.ways.known(m)):
            return sink(known, True)
        if kind in ("result", "error"):
            server_id, method, params = self.asked.pop(json.dumps(m.get("id")), (None, None, None))
            if method is None and not on("stray-responses"):
                return
            m = {**m, "id": server_id if method else m["id"]}
            return self.passing.passed("up", method, m, params, lambda x: self.upstream.send(x))
        method, params = m["method"], m.get("params") or {}
        if kind == "notification":
            if method == "notifications/cancelled":
                wanted = json.dumps(params.get("requestId"))
                for own, (theirs, *_) in list(self.requests.items()):
                    if json.dumps(theirs) == wanted and not on("cancel-unmapped"):
                        m = {**m, "params": {**params, "requestId": own}}
                        self.cancelled.add(own)
            if method == "notifications/progress":
                pass    # tokens of the server pass as they are
            self.passing.passed("up", method, m, params, lambda x: self.upstream.send(x))
            if method == "notifications/initialized":
                self.upstream.listen()
            return
        if method == "ping" and lawful("own-pings"):
            return sink({"jsonrpc": "2.0", "id": m["id"], "result": {}}, True)
        own = m["id"] if on("ids-unmapped") else self.own()
        theirs = m["id"]
        m = {**m, "id": own}
        token = None
        if isinstance(params.get("_meta"), dict) and "progressToken" in params["_meta"]:
            token = params["_meta"]["progressToken"]
            mine = token if on("tokens-kept") else f"t{own}"
            self.tokens[json.dumps(mine)] = (token, sink)
            if not on("token-dropped"):
                m = {**m, "params": {**params, "_meta": {**params["_meta"], "progressToken": mine}}}
        self.requests[own] = (theirs, method, params, sink)

        def go(x):
            if on("one-lock"):
                with all_lock:
                    self.upstream.send(x)
            else:
                self.upstream.send(x)

        self.passing.passed("up", method, m, params, go)
        self.requests.pop(own, None)
        if token is not None:
            self.tokens.pop(json.dumps(mine), None)

    # towards the client

    def from_server(self, m, related):
        kind = kind_of(m)
        if kind in ("result", "error"):
            theirs, method, params, sink = self.requests.get(m.get("id"), (None, None, None, None))
            if sink is None or kind == "error" and m["id"] in self.cancelled:
                return
            m = self.ways.down({**m, "id": theirs}, method, params)
            if method == "initialize" and "result" in m:
                self.version = m["result"].get("protocolVersion")
            self.passing.passed("down", method, m, params, lambda x: sink(x, True))
            return
        m = self.ways.down(m, None, None)
        method, params = m["method"], m.get("params") or {}
        sink = self.requests[related][3] if related in self.requests else None
        if kind == "request":
            seen = self.own() + 1000
            if on("server-ids-kept"):
                seen = m["id"]
            self.asked[json.dumps(seen)] = (m["id"], method, params)
            m = {**m, "id": seen}
        elif method == "notifications/progress":
            token, own_sink = self.tokens.get(json.dumps(params.get("progressToken")), (None, None))
            if own_sink:
                if not on("token-unmapped"):
                    m = {**m, "params": {**params, "progressToken": token}}
                sink = sink or own_sink
        elif method == "notifications/cancelled":
            for seen, (theirs, *_) in list(self.asked.items()):
                if theirs == params.get("requestId") and not on("cancel-back-unmapped"):
                    m = {**m, "params": {**params, "requestId": json.loads(seen)}}
        if on("all-on-get"):
            sink = None
        to = [self]
        if on("wrong-session") and kind == "notification" and len(sessions) > 1:
            to = [s for s in list(sessions.values()) if s is not self][:1]
            sink = None
        if on("broadcast") and kind == "notification":
            to = list(sessions.values())

        def deliver(x):
            for s in to:
                if sink and s is self:
                    sink(x, False)
                    if on("on-two-streams"):
                        s.general.put(x)
                else:
                    s.general.put(x)

        self.passing.passed("down", method, m, params, deliver)

    def close(self):
        self.upstream.close()
        self.general.put(None)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, value=None, headers=()):
        data = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        if data:
            self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        for k, v in headers:
            self.send_header(k, v)
        self.end_headers()
        self.wfile.write(data)

    def refuse(self, status, text, code=-32600):
        self.plain(status, {"jsonrpc": "2.0", "error": {"code": code, "message": text}})

    def stream(self, headers=()):
        self.send_response(200)
        self.send_header("Content-Type", "application/json" if on("front-sse-as-json") else "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Transfer-Encoding", "chunked")
        for k, v in headers:
            self.send_header(k, v)
        self.end_headers()
        self.wfile.flush()

    def chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def event(self, m):
        self.chunk(b"event: message\ndata: " + json.dumps(m, ensure_ascii=False).encode("utf-8", "replace") + b"\n\n")

    def end(self):
        self.wfile.write(b"0\r\n\r\n")
        self.wfile.flush()

    def guarded(self, need_session=True):
        origin = self.headers.get("Origin")
        if origin and not on("origin-any") and urlsplit(origin).hostname not in ("localhost", "127.0.0.1"):
            self.refuse(403, "origin")
            return None
        version = self.headers.get("MCP-Protocol-Version")
        if version and version not in VERSIONS and not on("any-version-header"):
            self.refuse(400, "Unsupported protocol version")
            return None
        if not need_session:
            return True
        ident = self.headers.get("Mcp-Session-Id")
        if not ident:
            if on("session-optional") and sessions:
                return list(sessions.values())[-1]
            self.refuse(400, "Mcp-Session-Id is required")
            return None
        session = sessions.get(ident)
        if session is None:
            if on("unknown-session-any") and sessions:
                return list(sessions.values())[-1]
            self.refuse(400 if on("unknown-session-400") else 404, "Session not found", -32001)
            return None
        return session

    def do_POST(self):
        size = int(self.headers.get("Content-Length") or 0)
        data = self.rfile.read(size)
        try:
            m = json.loads(data)
        except (ValueError, RecursionError):
            if on("parse-error-200"):
                return self.plain(200, {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
            return self.refuse(400, "Parse error", -32700)
        if not is_valid(m):
            return self.plain(400, invalid(m))
        kind = kind_of(m)
        opening = kind == "request" and m["method"] == "initialize"
        session = self.guarded(not opening)
        if session is None:
            return
        if opening:
            if on("one-session") and shared.get("s"):
                session = shared["s"]
            else:
                session = Session({k.lower(): v for k, v in self.headers.items()})
                shared["s"] = session
                if on("session-counted"):
                    session.id = str(len(sessions) + 1)
            sessions[session.id] = session
        else:
            session.upstream.front_headers = {k.lower(): v for k, v in self.headers.items()}
        if kind != "request":
            if on("accepts-before"):
                self.plain(202)
                session.from_client(m, None)
                return
            session.from_client(m, None)
            return self.plain(200 if on("accepted-200") else 202, {"ok": True} if on("accepted-body") else None)
        headers = [("Mcp-Session-Id", session.id)] if opening and not on("no-session-id") else []
        out = queue.Queue()

        def sink(x, last):
            out.put((x, last))

        def work():
            session.from_client(m, sink)
            out.put((None, True))

        threading.Thread(target=work, daemon=True).start()
        if on("json-only"):
            got = None
            while True:
                x, last = out.get()
                if x is None or last:
                    got = x
                    break
                session.general.put(x) if on("related-on-get") else None
            return self.plain(200, got or {}, headers)
        if lawful("json"):
            x, last = out.get()
            if x is None or last:
                return self.plain(200, x or {}, headers)
            out.queue.appendleft((x, last))
        self.stream(headers)
        try:
            while True:
                try:
                    x, last = out.get(timeout=1)
                except queue.Empty:
                    if lawful("keepalives"):
                        self.chunk(b": keepalive\n\n")
                    continue
                if x is None:
                    break
                self.event(x)
                if last and not on("stream-stays"):
                    break
                if not last and on("ends-at-first"):
                    break
            # what follows a response in a moment belongs to the same stream
            try:
                while True:
                    x, last = out.get(timeout=0.05)
                    if x is not None and last:
                        self.event(x)
                    elif x is None:
                        break
            except queue.Empty:
                pass
            self.end()
        except OSError:
            if on("disconnect-cancels"):
                for own, (theirs, *_) in list(session.requests.items()):
                    if theirs == m["id"]:
                        session.upstream.send({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": own}})
            self.close_connection = True

    def do_GET(self):
        if on("no-get"):
            return self.plain(405)
        session = self.guarded()
        if session is None:
            return
        self.stream()
        mine = session.reader = object()
        try:
            while session.reader is mine:
                try:
                    x = session.general.get(timeout=0.5)
                except queue.Empty:
                    if lawful("keepalives"):
                        self.chunk(b": keepalive\n\n")
                    continue
                if x is None:
                    break
                self.event(x)
            self.end()
        except OSError:
            self.close_connection = True

    def do_DELETE(self):
        session = self.guarded()
        if session is None:
            return
        if on("delete-405"):
            return self.plain(405)
        if not on("delete-ignored"):
            sessions.pop(session.id, None)
        if on("delete-all"):
            for s in list(sessions.values()):
                s.close()
            sessions.clear()
        if not on("delete-not-passed"):
            session.close()
        self.plain(200)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64


def stop(*_):
    for s in list(sessions.values()):
        s.close()
    os._exit(0)


signal.signal(signal.SIGTERM, stop)
Server(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
