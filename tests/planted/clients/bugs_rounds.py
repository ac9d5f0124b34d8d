"""Bugs in rounds of input, and in caches."""

import json
import urllib.parse

from plain import Client
from plain_options import Failed
from planting import BUGS, bug


# Rounds of input.


def rounds(name, change):
    class Changed(Client):
        def inputs(self, result):
            more = super().inputs(result)
            return change(self, more, result) or more

    BUGS[name] = Changed


rounds("state-trimmed", lambda client, more, result: {**more, "requestState": more["requestState"].strip()} if "requestState" in more else more)
rounds("state-decoded", lambda client, more, result: {**more, "requestState": urllib.parse.unquote(more["requestState"])} if "requestState" in more else more)
rounds("state-truncated", lambda client, more, result: {**more, "requestState": more["requestState"][:32]} if "requestState" in more else more)
rounds("state-parsed-again", lambda client, more, result: {**more, "requestState": reserialized(more["requestState"])} if "requestState" in more else more)
rounds("state-invented", lambda client, more, result: {"requestState": "", **more})
rounds("state-null", lambda client, more, result: {"requestState": None, **more})
rounds("state-in-meta", lambda client, more, result: {key: one for key, one in more.items() if key != "requestState"})
rounds("responses-as-list", lambda client, more, result: {**more, "inputResponses": list(more["inputResponses"].values())} if "inputResponses" in more else more)
rounds("responses-wrapped", lambda client, more, result: {**more, "inputResponses": {key: {"result": one} for key, one in more["inputResponses"].items()}} if "inputResponses" in more else more)
rounds("responses-keys-lower-cased", lambda client, more, result: {**more, "inputResponses": {key.lower(): one for key, one in more["inputResponses"].items()}} if "inputResponses" in more else more)
rounds("responses-first-only", lambda client, more, result: {**more, "inputResponses": dict(list(more["inputResponses"].items())[:1])} if "inputResponses" in more else more)
rounds("responses-left-out", lambda client, more, result: {key: one for key, one in more.items() if key != "inputResponses"})


def reserialized(state):
    try:
        return json.dumps(json.loads(state))
    except ValueError:
        return state


class Kept(Client):
    """Keeps something of an earlier round."""

    def inputs(self, result):
        more = super().inputs(result)
        self.kept = self.keep(more, getattr(self, "kept", {}))
        return self.kept


@bug("state-of-first-round")
class _(Kept):
    def keep(self, more, before):
        return {**more, **({"requestState": before["requestState"]} if "requestState" in before else {})}


@bug("state-of-last-round-kept")
class _(Kept):
    def keep(self, more, before):
        return {**before, **more}


@bug("rounds-without-end")
class _(Client):
    def request(self, method, params=None, action=None):
        more = {}
        for _ in range(3000):
            result = self.result(self.start(method, {**(params or {}), **more}, action), 8)
            if result.get("resultType") != "input_required":
                return result
            more = self.inputs(result)
        raise Failed("invalid", "too many rounds")


@bug("round-without-anything-again")
class _(Client):
    def inputs(self, result):
        if not result.get("inputRequests") and result.get("requestState") is None:
            return {}
        return super().inputs(result)


@bug("retry-with-same-id")
class _(Client):
    def inputs(self, result):
        more = super().inputs(result)
        self.last -= 1
        return more


@bug("retry-without-arguments")
class _(Client):
    def outgoing(self, message):
        params = message.get("params", {})
        if "requestState" in params or "inputResponses" in params:
            message = {**message, "params": {key: one for key, one in params.items() if key != "arguments"}}
        return message


@bug("retry-without-meta")
class _(Client):
    def outgoing(self, message):
        params = message.get("params", {})
        if "requestState" in params or "inputResponses" in params:
            message = {**message, "params": {key: one for key, one in params.items() if key != "_meta"}}
        return message


@bug("input-required-is-result")
class _(Client):
    def request(self, method, params=None, action=None):
        return self.result(self.start(method, params, action), (action or {}).get("timeout", 8000) / 1000)


@bug("unknown-result-type-is-result")
class _(Client):
    def incoming(self, message):
        result = message.get("result") if isinstance(message, dict) else None
        if isinstance(result, dict) and result.get("resultType") not in (None, "complete", "input_required"):
            result["resultType"] = "complete"
        return message


@bug("input-undeclared-given")
class _(Client):
    def serve(self, request):
        response = super().serve(request)
        return {"result": {}} if "error" in response and self.is_modern else response


# Caches.


class Cached(Client):
    """Keeps results of requests."""

    methods = ()

    def request(self, method, params=None, action=None):
        kept = self.__dict__.setdefault("results", {})
        key = self.key(method, params)
        if self.keeps(method, params) and key in kept:
            return kept[key]
        result = super().request(method, params, action)
        kept[key] = result
        return result

    def key(self, method, params):
        return json.dumps([method, params], sort_keys=True)

    def keeps(self, method, params):
        return method in self.methods


def cache(name, *methods):
    BUGS[name] = type("Changed", (Cached,), {"methods": methods})


cache("cache-reads", "resources/read")
cache("cache-lists", "tools/list", "resources/list", "prompts/list", "resources/templates/list")
cache("cache-calls", "tools/call")
cache("cache-prompts", "prompts/get")


@bug("cache-without-cursor")
class _(Cached):
    methods = ("tools/list", "resources/list", "prompts/list", "resources/templates/list")

    def key(self, method, params):
        return method


@bug("cache-result-of-first-round")
class _(Cached):
    def keeps(self, method, params):
        return method in ("tools/call", "resources/read", "prompts/get")

    def key(self, method, params):
        return json.dumps([method, (params or {}).get("name"), (params or {}).get("uri")])
