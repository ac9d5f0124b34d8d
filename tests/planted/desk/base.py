"""What the parts of the server share: the bug, errors, and one session with its open requests."""
import os, queue, threading, time

BUG = os.environ.get("FAULT", "")


def bug(*names):
    return BUG in names


class Rpc(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data is not None else {})}


class Failed(Exception):
    """A tool reports a failure in its result."""


def text(value, **more):
    return {"content": [{"type": "text", "text": value}], **more}


def now(at=None):
    at = time.time() if at is None else at
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{int(at * 1000) % 1000:03d}Z"


class Session:
    """A connection, or over HTTP a session of it. `out` takes messages that belong to no request."""

    def __init__(self, out):
        self.out, self.revision, self.capabilities, self.roots = out, None, {}, None
        self.waiting, self.count, self.lock, self.ready = {}, 0, threading.Lock(), False
        self.running = {}

    def request(self, emit, method, params, seconds=20):
        """Sends a request to the client and waits for its result."""
        with self.lock:
            self.count += 1
            name = f"ask-{self.count}"
            if bug("q-id-in-use", "q-id-reused"): name = "ask"
            if bug("q-id-number-float"): name = self.count + 0.5
            if bug("q-id-null"): name = None
            if bug("q-id-of-client"): name = 1
            box = self.waiting[name] = queue.Queue()
        message = {"jsonrpc": "2.0", "id": name, "method": method, "params": params}
        if bug("q-no-jsonrpc"): del message["jsonrpc"]
        if bug("q-params-list"): message["params"] = [params]
        if bug("q-on-get-stream"): self.out(message)
        elif bug("q-sent-twice"): emit(message), emit(message)
        else: emit(message)
        try:
            reply = box.get(timeout=None if bug("q-waits-forever") else seconds)
        except queue.Empty:
            raise Failed("the client did not respond")
        if "error" in reply:
            if bug("q-refused-hang"): time.sleep(3600)
            if bug("q-refused-accept"): return {"action": "accept", "content": {"name": "nobody"}, "roots": [], "role": "assistant", "content_": 1}
            if bug("q-refused-passed-on"): raise Rpc(reply["error"].get("code", -32603), "the client said no")
            if bug("q-refused-internal"): raise Rpc(-32603, "internal error")
            raise Failed("the client rejected the request")
        return reply.get("result")

    def respond(self, message):
        name = message.get("id")
        if bug("q-response-newest") and self.waiting: name = list(self.waiting)[-1]
        if bug("q-response-oldest") and self.waiting: name = list(self.waiting)[0]
        box = self.waiting.get(name) if isinstance(name, (str, int, float, type(None))) else None
        if bug("q-response-any") and box is None and self.waiting: box = list(self.waiting.values())[-1]
        if box is None:
            if bug("q-unknown-response-exits"): os._exit(3)
            if bug("q-unknown-response-replied"): self.out({"jsonrpc": "2.0", "id": name, "error": {"code": -32600, "message": "unknown id"}})
            return
        if not bug("q-id-in-use", "q-id-reused"): self.waiting.pop(name, None)
        box.put(message)
