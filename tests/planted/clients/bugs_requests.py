"""Bugs in cancellation, time limits, subscriptions and retries."""

import os
import threading
import time

from plain import Client
from plain_options import Failed
from planting import BUGS, bug, sent


# Cancellation, time and progress.


@bug("initialize-cancelled")
class _(Client):
    def request(self, method, params=None, action=None):
        return super().request(method, params, {"timeout": 1500, **(action or {})} if method == "initialize" else action)

    def timed_out(self, waiting):
        self.cancel(waiting, "it took too long")


@bug("timeout-not-cancelled")
class _(Client):
    def timed_out(self, waiting):
        pass


@bug("timeout-sent-again")
class _(Client):
    def result(self, waiting, limit=8.0):
        try:
            return super().result(waiting, limit)
        except Failed as error:
            if error.kind != "timeout":
                raise
            for _ in range(8):
                self.start(waiting.message["method"], {key: one for key, one in waiting.message["params"].items() if key != "_meta"})
            raise


@bug("cancelled-after-response")
class _(Client):
    def call(self, action):
        waiting = []
        start = self.start
        self.start = lambda *given, **more: waiting.append(start(*given, **more)) or waiting[-1]
        try:
            return super().call(action)
        finally:
            self.start = start
            time.sleep(2.5)
            self.notify("notifications/cancelled", {"requestId": waiting[-1].message["id"], **self.cancel_meta()})


@sent("cancelled-by-request", "notifications/cancelled")
def _(client, message):
    message["id"] = client.next_id()


@sent("cancelled-without-id", "notifications/cancelled")
def _(client, message):
    message["params"].pop("requestId")


@sent("cancelled-old-method", "notifications/cancelled")
def _(client, message):
    message["method"] = "$/cancelRequest"


@bug("cancelled-http-modern-notified")
class _(Client):
    def cancel(self, waiting, why):
        self.notify("notifications/cancelled", {"requestId": waiting.message["id"], "reason": why, **self.cancel_meta()})
        waiting.cancelled = True
        waiting.end(None)


@bug("server-cancellation-answered")
class _(Client):
    """Responds to a request that the server has cancelled."""

    def respond(self, request):
        self.send({"id": request["id"], **self.serve(request)})


@bug("server-cancellation-ends-own")
class _(Client):
    def cancelled_by_server(self, identifier):
        for waiting in list(self.open.values()):
            waiting.end({"error": {"code": 0, "message": "cancelled"}})


@bug("server-cancellation-fails")
class _(Client):
    def cancelled_by_server(self, identifier):
        os._exit(3)


@bug("progress-extends-without-end")
class _(Client):
    def result(self, waiting, limit=8.0):
        last = self.__dict__.setdefault("beats", {})
        token = (waiting.message.get("params") or {}).get("_meta", {}).get("progressToken")
        while token is not None and not waiting.done.is_set():
            before = last.get(token, 0)
            if waiting.done.wait(limit) or last.get(token, 0) == before:
                break
        return super().result(waiting, 0 if token is not None and not waiting.done.is_set() else limit)

    def incoming(self, message):
        if isinstance(message, dict) and message.get("method") == "notifications/progress":
            token = message["params"].get("progressToken")
            beats = self.__dict__.setdefault("beats", {})
            beats[token] = beats.get(token, 0) + 1
        return message


@bug("progress-token-of-every-request")
class _(Client):
    def meta(self):
        return {**super().meta(), "progressToken": "token"}


@sent("progress-token-as-object")
def _(client, message):
    meta = message.get("params", {}).get("_meta", {})
    if "progressToken" in meta:
        meta["progressToken"] = {"id": meta["progressToken"]}


# Subscriptions.
def filters(name, change):
    @sent(name, "subscriptions/listen")
    def _(client, message):
        change(message["params"])


filters("listen-without-filter", lambda params: params.pop("notifications"))
filters("listen-filter-as-list", lambda params: params.update(notifications=list(params["notifications"])))
filters("listen-filter-beside", lambda params: params.update(params.pop("notifications")))
filters("listen-filter-by-method", lambda params: params.update(notifications={"notifications/tools/list_changed": True}))
filters("listen-uris-as-text", lambda params: params["notifications"].update(resourceSubscriptions="file:///a"))
filters("listen-flags-as-text", lambda params: params["notifications"].update({key: "true" for key, one in params["notifications"].items() if one is True}))
filters("listen-flags-as-objects", lambda params: params["notifications"].update({key: {} for key, one in params["notifications"].items() if one is True}))


@bug("listen-empty-filter")
class _(Client):
    def do_listen(self, action):
        return super().do_listen({**action, "notifications": {}})


@bug("listen-legacy-subscribe-too")
class _(Client):
    def do_listen(self, action):
        for uri in action["notifications"].get("resourceSubscriptions", ["file:///a"]):
            self.start("resources/subscribe", {"uri": uri}).done.wait(1)
        return super().do_listen(action)


class Listening(Client):
    """Opens its subscription again when it ends."""

    most, pause = 200, 0.0

    def do_listen(self, action):
        def again():
            for _ in range(self.most):
                waiting = self.start("subscriptions/listen", {"notifications": action["notifications"]}, action)
                waiting.done.wait()
                self.open.pop(waiting.message["id"], None)
                if self.transport.__dict__.get("closed"):
                    return
                time.sleep(self.pause)

        threading.Thread(target=again, daemon=True).start()
        time.sleep(0.2)
        return {}


BUGS["listen-storm"] = Listening


@bug("listen-end-is-failure")
class _(Client):
    def do_listen(self, action):
        super().do_listen(action)
        def watch():
            self.subscription.done.wait()
            os._exit(3)

        threading.Thread(target=watch, daemon=True).start()
        return {}


@bug("listen-end-ignored-id-reused")
class _(Client):
    def do_listen(self, action):
        super().do_listen(action)
        self.last -= 1
        return {}


@bug("listen-unsupported-fatal")
class _(Client):
    def do_listen(self, action):
        waiting = self.start("subscriptions/listen", {"notifications": action["notifications"]}, action)
        waiting.done.wait(1)
        if waiting.response and "error" in waiting.response:
            os._exit(3)
        return {}


@bug("listen-not-ended")
class _(Client):
    """Asks again for what it is told already, before each action."""

    def perform(self, action):
        if self.is_modern and action["do"] not in ("wait", "cancel", "parallel", "listen"):
            self.start("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        return super().perform(action)


# Retries.


class Again(Client):
    most, codes = 30, None

    def request(self, method, params=None, action=None):
        for left in reversed(range(self.most)):
            try:
                return super().request(method, params, action)
            except Failed as error:
                if left == 0 or error.kind not in ("error", "closed") or self.codes and error.code not in self.codes:
                    raise


BUGS["retries-errors"] = type("Changed", (Again,), {})
BUGS["retries-internal-errors"] = type("Changed", (Again,), {"codes": (-32603,)})


@bug("retries-with-same-id")
class _(Client):
    def request(self, method, params=None, action=None):
        try:
            return super().request(method, params, action)
        except Failed as error:
            if error.kind not in ("error", "closed") or not self.connected:
                raise
            self.last -= 1
            return super().request(method, params, action)
