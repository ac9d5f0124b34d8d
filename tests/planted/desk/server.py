"""A server with tasks and with tools that request things of the client, over stdio, or with `--http PORT` over Streamable HTTP.

It commits the fault that the variable FAULT names. Those that begin with t- are about tasks of 2025-11-25, with e- about tasks of the
extension, with q- about requests to the client, and with r- about rounds of input.
"""
import json, os, queue, sys, threading, uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from base import Rpc, Session, bug
from first import First
from modern import META, Modern

FIRST = First()
MODERN = Modern(FIRST)


def reply(message, work):
    """The response to a request; none if it has none."""
    try: result = work()
    except Rpc as e: return {"jsonrpc": "2.0", "id": message["id"], "error": e.error}
    except Exception as e: return {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32603, "message": f"{type(e).__name__}: {e}"}}
    return None if result is None else {"jsonrpc": "2.0", "id": message["id"], "result": result}


def invalid(message):
    name = message.get("id") if isinstance(message, dict) else None
    found = {"jsonrpc": "2.0", "error": {"code": -32600, "message": "not a request"}}
    return {**found, "id": name} if isinstance(name, (str, int)) and not isinstance(name, bool) else found


def kind(message):
    if not isinstance(message, dict) or message.get("jsonrpc") != "2.0": return "invalid"
    name, method = message.get("id"), message.get("method")
    if isinstance(method, str): return "notification" if "id" not in message else "request" if isinstance(name, (str, int)) and not isinstance(name, bool) else "invalid"
    return "response" if method is None and "id" in message and ("result" in message or "error" in message) else "invalid"


def is_modern(message):
    p = message.get("params")
    meta = p.get("_meta") if isinstance(p, dict) else None
    return message["method"] == "server/discover" or isinstance(meta, dict) and META + "protocolVersion" in meta


def stdio():
    lock = threading.Lock()
    def out(message):
        with lock:
            sys.stdout.write(json.dumps(message) + "\n")
            sys.stdout.flush()
    session = Session(out)
    def serve(message):
        if is_modern(message) or session.revision is None and message["method"] not in ("initialize", "ping"): found = reply(message, lambda: MODERN.handle(out, message))
        else:
            found = reply(message, lambda: FIRST.handle(session, out, message))
            call = session.running.pop(json.dumps(message["id"]), None)
            if call and call.stopped: return
        if found: out(found)
    for line in sys.stdin:
        try: message = json.loads(line)
        except (ValueError, RecursionError):
            out({"jsonrpc": "2.0", "error": {"code": -32700, "message": "not JSON"}})
            continue
        what = kind(message)
        if what == "invalid": out(invalid(message))
        elif what == "response": session.respond(message)
        elif what == "notification": MODERN.notification(message), FIRST.notification(session, out, message)
        else: threading.Thread(target=serve, args=(message,), daemon=True).start()
    os._exit(0)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sessions = {}

    def log_message(self, *a):
        pass

    def plain(self, status, value=None, headers=()):
        body = b"" if value is None else json.dumps(value).encode()
        self.send_response(status)
        for name, one in headers: self.send_header(name, one)
        if body: self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def begin(self):
        self.lock, self.began, self.over = threading.Lock(), True, False
        self.close_connection = True
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-cache")
        self.send_header("Connection", "close")
        self.end_headers()

    def event(self, message):
        with self.lock:
            if self.over: return
            try:
                self.wfile.write(b"event: message\ndata: " + json.dumps(message).encode() + b"\n\n")
                self.wfile.flush()
            except OSError: self.over = True

    def allowed(self):
        if (self.headers.get("Origin") or "http://127.0.0.1").split("//")[-1].split(":")[0] not in ("127.0.0.1", "localhost"): return self.plain(403, invalid(None))
        if self.path.split("?")[0] != "/mcp": return self.plain(404)
        return True

    def session(self):
        name = self.headers.get("Mcp-Session-Id")
        if name is None: return self.plain(400, invalid(None))
        if name not in self.sessions: return self.plain(404, invalid(None))
        if self.headers.get("MCP-Protocol-Version", "2025-03-26") not in ("2025-03-26", "2025-06-18", "2025-11-25"): return self.plain(400, invalid(None))
        return self.sessions[name]

    def do_GET(self):
        if not self.allowed(): return
        if "text/event-stream" not in self.headers.get("Accept", ""): return self.plain(406)
        if self.headers.get("MCP-Protocol-Version") == "2026-07-28": return self.plain(405)
        session = self.session()
        if not session: return
        self.begin()
        box = session.box
        mine = session.reader = object()
        while session.reader is mine and not self.over:
            try: self.event(box.get(timeout=0.5))
            except queue.Empty:
                try: self.connection.settimeout(None)
                except OSError: return

    def do_DELETE(self):
        if self.allowed():
            session = self.session()
            if session:
                del self.sessions[self.headers["Mcp-Session-Id"]]
                session.reader = None
                self.plain(200)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        if not self.allowed(): return
        if "application/json" not in self.headers.get("Content-Type", ""): return self.plain(415)
        try: message = json.loads(body)
        except (ValueError, RecursionError): return self.plain(400, {"jsonrpc": "2.0", "error": {"code": -32700, "message": "not JSON"}})
        what = kind(message)
        if what == "invalid": return self.plain(400, invalid(message))
        if self.headers.get("MCP-Protocol-Version") == "2026-07-28" or what == "request" and is_modern(message): return self.modern(message, what)
        if what == "request" and message["method"] == "initialize":
            session = Session(None)
            session.box = queue.Queue(1000)
            session.out = lambda m: session.box.full() or session.box.put(m)
            if bug("q-to-all-sessions"): session.out = lambda m: [s.box.put(m) for s in self.sessions.values()]
            found = reply(message, lambda: FIRST.handle(session, None, message))
            if "error" in found: return self.plain(200, found)
            name = uuid.uuid4().hex
            self.sessions[name] = session
            return self.plain(200, found, [("Mcp-Session-Id", name)])
        session = self.session()
        if not session: return
        if what == "response": session.respond(message); return self.plain(202)
        if what == "notification": FIRST.notification(session, session.out, message); return self.plain(202)
        if message["method"] not in ("tools/call", "tasks/result"): return self.plain(200, reply(message, lambda: FIRST.handle(session, None, message)))
        self.begin()
        found = reply(message, lambda: FIRST.handle(session, self.event, message))
        call = session.running.pop(json.dumps(message["id"]), None)
        if found and not (call and call.stopped): self.event(found)
        self.over = True

    def modern(self, message, what):
        if what != "request": MODERN.notification(message) if what == "notification" else None; return self.plain(202)
        p = message.get("params") if isinstance(message.get("params"), dict) else {}
        name = {"tools/call": p.get("name"), "tasks/get": p.get("taskId"), "tasks/update": p.get("taskId"), "tasks/cancel": p.get("taskId")}.get(message["method"])
        got = self.headers.get("Mcp-Name")
        if message["method"].startswith("tasks/") and (got is None or bug("e-name-unchecked")): got = name
        if bug("e-name-needed") and self.headers.get("Mcp-Name") is None and message["method"].startswith("tasks/"): got = ""
        meta = p.get("_meta") if isinstance(p.get("_meta"), dict) else {}
        wrong = self.headers.get("Mcp-Method") != message["method"] or isinstance(name, str) and got != name or self.headers.get("MCP-Protocol-Version") != meta.get(META + "protocolVersion", self.headers.get("MCP-Protocol-Version"))
        if wrong: return self.plain(400, {"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32020, "message": "a header does not match"}})
        if message["method"] in ("tools/call", "subscriptions/listen"):
            # Errors before the stream have a status of their own.
            sent = []
            def emit(one):
                if not getattr(self, "began", False): self.begin()
                self.event(one)
            found = reply(message, lambda: MODERN.handle(emit, message))
            if getattr(self, "began", False):
                if found: self.event(found)
                self.over = True
                return
        else: found = reply(message, lambda: MODERN.handle(None, message))
        code = found.get("error", {}).get("code")
        self.plain({-32601: 404, -32020: 400, -32021: 400, -32022: 400, -32602: 400 if found.get("error", {}).get("message", "").endswith("required") else 200}.get(code, 200), found)


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


if __name__ == "__main__":
    if "--http" in sys.argv:
        server = Server(("127.0.0.1", int(sys.argv[sys.argv.index("--http") + 1])), Handler)
        print(f"http://127.0.0.1:{server.server_address[1]}/mcp", flush=True)
        server.serve_forever()
    stdio()
