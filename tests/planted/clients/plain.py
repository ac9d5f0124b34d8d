"""A client without an SDK that follows the actions of mcp-conform, over stdio and Streamable HTTP, in every revision.

mcp-conform client -- python3 plain.py
mcp-conform client --transport stdio -- python3 plain.py

With BUG=name it is one of the clients in bugs_*.py. PROBES=1 makes it send server/discover first in every revision.
"""

import importlib
import json
import os
import sys
import threading
import time
from pathlib import Path

from plain_actions import Actions
from plain_http import Http
from plain_options import ACTIONS, ANSWERS, ENV, MODERN, MOST_ROUNDS, PREFIX, REVISION, Failed
from plain_serving import Serving
from plain_stdio import Stdio


class Waiting:
    """A request without a response."""

    def __init__(self, message):
        self.message, self.response, self.done, self.cancelled = message, None, threading.Event(), False

    def end(self, response):
        """The first response counts."""
        if not self.done.is_set():
            self.response = response
            self.done.set()


class Client(Serving, Actions):
    is_modern = REVISION >= MODERN
    revision = REVISION
    info = {"name": "plain", "version": "1"}

    def __init__(self, target):
        self.lock, self.last, self.open, self.running, self.tools, self.server = threading.RLock(), 0, {}, {}, {}, {}
        self.connected, self.given_up, self.listens = False, set(), []
        self.transport = (Stdio if ENV.get("TRANSPORT") == "stdio" else Http)(self, target)

    # What a bug replaces.

    def capabilities(self):
        declared = {}
        for path in ANSWERS.get("declare", ["sampling", "elicitation", "roots.listChanged"]):
            name, *fields = path.split(".")
            declared.setdefault(name, {})
            for field in fields:
                declared[name][field] = True if field == "listChanged" else {}
        return declared

    def meta(self):
        if not self.is_modern:
            return {}
        values = {"protocolVersion": self.revision, "clientInfo": self.info, "clientCapabilities": self.capabilities()}
        return {PREFIX + name: value for name, value in values.items()}

    def outgoing(self, message):
        """The message as it is sent, or None."""
        return message

    def incoming(self, message):
        return message

    def headers(self, message, headers):
        return headers

    def next_id(self):
        with self.lock:
            self.last += 1
            return self.last

    # Messages.

    def send(self, message):
        changed = self.outgoing({"jsonrpc": "2.0", **message})
        if changed is not None:
            self.transport.send(changed)

    def notify(self, method, params=None):
        self.send({"method": method, **({"params": params} if params else {})})

    def start(self, method, params=None, action=None):
        action = action or {}
        if self.connected and self.transport.has_exited():
            self.restart()
        meta = self.meta()
        identifier = self.next_id()
        if action.get("progress"):
            meta["progressToken"] = f"progress-{identifier}"
        if "logLevel" in action:
            meta[PREFIX + "logLevel"] = action["logLevel"]
        params = {**(params or {}), **({"_meta": meta} if meta else {})}
        message = {"id": identifier, "method": method, **({"params": params} if params else {})}
        waiting = Waiting(message)
        self.open[identifier] = waiting
        if "number" in action:
            self.running[action["number"]] = waiting
        self.send(message)
        return waiting

    def result(self, waiting, limit=8.0):
        if not waiting.done.wait(limit):
            self.timed_out(waiting)
            raise Failed("timeout", f"no response to {waiting.message['method']}")
        self.open.pop(waiting.message["id"], None)
        if waiting.cancelled:
            raise Failed("cancelled", "it was cancelled")
        response = waiting.response
        if response is None:
            raise Failed("closed", "the connection was closed")
        if "error" in response:
            error = response["error"]
            raise Failed("error", str(error.get("message")), error.get("code"), error.get("data"))
        if not isinstance(response.get("result"), dict):
            raise Failed("invalid", "the result is not an object")
        return response["result"]

    def timed_out(self, waiting):
        if waiting.message["method"] not in ("initialize", "server/discover"):
            self.cancel(waiting, "it took too long")

    def cancel(self, waiting, why):
        waiting.cancelled = True
        self.open.pop(waiting.message["id"], None)
        if not self.is_modern or self.transport.is_stdio:
            self.notify("notifications/cancelled", {"requestId": waiting.message["id"], "reason": why, **self.cancel_meta()})
        self.transport.abandon(waiting.message["id"])
        waiting.end(None)

    def cancel_meta(self):
        return {"_meta": self.meta()} if self.is_modern else {}

    def request(self, method, params=None, action=None):
        """The result of a request, after the rounds of input that the server needs."""
        action = action or {}
        limit = action.get("timeout", 8000) / 1000
        more = {}
        for _ in range(MOST_ROUNDS):
            result = self.result(self.start(method, {**(params or {}), **more}, action), limit)
            kind = result.get("resultType", "complete") if self.is_modern else "complete"
            if kind == "complete":
                return result
            if kind != "input_required" or method not in ("tools/call", "prompts/get", "resources/read"):
                raise Failed("invalid", f"a result of type {kind}")
            more = self.inputs(result)
        raise Failed("invalid", "too many rounds")

    def inputs(self, result):
        requests, state = result.get("inputRequests"), result.get("requestState")
        if not requests and state is None:
            raise Failed("invalid", "a round without requests and state")
        responses = {}
        for key, wanted in (requests or {}).items():
            response = self.serve(wanted)
            if "error" in response:
                raise Failed("invalid", f"an input that cannot be given: {wanted.get('method')}")
            responses[key] = response["result"]
        return {**({"inputResponses": responses} if requests else {}), **({"requestState": state} if state is not None else {})}

    def arrived(self, message):
        """A message of the server."""
        for one in message if isinstance(message, list) else [message]:
            one = self.incoming(one)
            if not isinstance(one, dict):
                continue
            if "method" not in one:
                waiting = self.open.get(one.get("id")) if isinstance(one.get("id"), (int, str)) else None
                if waiting:
                    waiting.end(one)
            elif "id" in one and not self.is_modern:
                threading.Thread(target=self.respond, args=(one,), daemon=True).start()
            elif one["method"] == "notifications/cancelled":
                identifier = (one.get("params") or {}).get("requestId")
                self.given_up.add(json.dumps(identifier))
                self.cancelled_by_server(identifier)

    def cancelled_by_server(self, identifier):
        waiting = self.open.get(identifier) if isinstance(identifier, (int, str)) else None
        if self.is_modern and waiting and waiting.message["method"] == "subscriptions/listen":
            waiting.end({"result": {}})

    # Actions.

    def connect(self):
        if self.is_modern or os.environ.get("PROBES"):
            try:
                self.discover()
            except Failed:
                if self.is_modern:
                    raise
        if not self.is_modern:
            self.initialize()
        self.connected = True

    def restart(self):
        """The process has exited: another one, in which subscriptions are opened again."""
        self.connected = False
        self.transport.start()
        self.connect()
        for action in self.listens:
            self.start("subscriptions/listen", {"notifications": action["notifications"]})

    def discover(self):
        modern, revision = self.is_modern, self.revision
        try:
            self.is_modern, self.revision = True, MODERN
            self.server = self.request("server/discover")
        finally:
            self.is_modern, self.revision = modern, revision
        if modern and self.revision not in self.server.get("supportedVersions", []):
            raise Failed("invalid", "the server does not support the revision")
        return self.server

    def initialize(self):
        params = {"protocolVersion": self.revision, "capabilities": self.capabilities(), "clientInfo": self.info}
        self.server = self.request("initialize", params)
        if self.server.get("protocolVersion") != self.revision:
            raise Failed("invalid", "the server supports another revision")
        self.transport.initialized()
        self.notify("notifications/initialized")
        self.transport.listen()

    def run(self):
        self.connect()
        background = []
        for number, action in enumerate(ACTIONS):
            if action["do"] in ("connect", "close"):
                continue
            thread = self.begin(action, number)
            if action.get("background"):
                background.append(thread)
                time.sleep(0.05)
            else:
                thread.join()
        for thread in background:
            thread.join()


def main():
    client = Client
    if os.environ.get("BUG"):
        for file in Path(__file__).parent.glob("bugs_*.py"):
            importlib.import_module(file.stem)
        client = importlib.import_module("planting").BUGS[os.environ["BUG"]]
    client = client(sys.argv[-1])
    try:
        client.run()
    except Failed as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(1)
    finally:
        client.transport.close()


if __name__ == "__main__":
    sys.modules["plain"] = sys.modules["__main__"]
    main()
