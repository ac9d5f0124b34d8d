"""Bugs in pages, templates and reads."""

import urllib.parse

from plain import Client
from planting import bug, received, sent


# Lists.


def cursors(name, change):
    @sent(name)
    def _(client, message):
        params = message.get("params", {})
        if isinstance(params.get("cursor"), str):
            params["cursor"] = change(params["cursor"])


cursors("cursor-trimmed", str.strip)
cursors("cursor-as-number", lambda cursor: int(cursor) if cursor.isdigit() else cursor)
cursors("cursor-decoded", urllib.parse.unquote)
cursors("cursor-padded", lambda cursor: cursor + "=")
cursors("cursor-null", lambda cursor: None)


@sent("cursor-null-at-first")
def _(client, message):
    if message.get("method", "").endswith("/list"):
        message.setdefault("params", {}).setdefault("cursor", None)


@sent("cursor-empty-at-first")
def _(client, message):
    if message.get("method", "").endswith("/list"):
        message.setdefault("params", {}).setdefault("cursor", "")


@bug("page-size-assumed")
class _(Client):
    def pages(self, of, params, action, most):
        size = None
        for page in super().pages(of, params, action, most):
            yield page
            if size is not None and len(page) < size:
                return
            size = len(page)


@bug("short-page-ends-list")
class _(Client):
    def pages(self, of, params, action, most):
        for page in super().pages(of, params, action, most):
            yield page
            if len(page) < 2:
                return


@bug("cursor-of-other-list")
class _(Client):
    latest = None

    def next_cursor(self, result):
        found = super().next_cursor(result)
        self.latest = found or self.latest
        return found

    def pages(self, of, params, action, most):
        first = {"cursor": self.latest} if self.latest and of != "tools" else {}
        return super().pages(of, {**first, **params}, action, most)


@bug("cursor-kept-for-refresh")
class _(Client):
    def pages(self, of, params, action, most):
        kept = self.__dict__.setdefault("kept", {})
        cursor = kept.get(of)
        for page in super().pages(of, {**({"cursor": cursor} if cursor else {}), **params}, action, most):
            yield page

    def next_cursor(self, result):
        found = super().next_cursor(result)
        for field in ("tools", "resources", "prompts"):
            if found and field in result:
                self.__dict__.setdefault("kept", {})[field] = found
        return found


@bug("lists-without-end")
class _(Client):
    def pages(self, of, params, action, most):
        cursor = None
        for _ in range(5000):
            result = self.request({"templates": "resources/templates"}.get(of, of) + "/list", {**params, **({"cursor": cursor} if cursor is not None else {})}, action)
            yield result.get({"templates": "resourceTemplates"}.get(of, of)) or []
            cursor = result.get("nextCursor")
            if cursor is None:
                return


@received("one-resource-per-name")
def _(client, message):
    result = message.get("result")
    if isinstance(result, dict) and isinstance(result.get("resources"), list):
        result["resources"] = list({one["name"]: one for one in result["resources"]}.values())


@received("one-tool-per-name-without-case")
def _(client, message):
    result = message.get("result")
    if isinstance(result, dict) and isinstance(result.get("tools"), list):
        result["tools"] = list({one["name"].lower(): one for one in result["tools"]}.values())


# Templates and reads.


@received("one-template-per-name")
def _(client, message):
    result = message.get("result")
    if isinstance(result, dict) and isinstance(result.get("resourceTemplates"), list):
        result["resourceTemplates"] = list({one["name"]: one for one in result["resourceTemplates"]}.values())


@bug("templates-read")
class _(Client):
    def list(self, action):
        items = super().list(action)
        if action["of"] == "templates":
            for one in items:
                self.start("resources/read", {"uri": one["uriTemplate"]}).done.wait(2)
        return items


@bug("templates-completed-expanded")
class _(Client):
    def perform(self, action):
        if action.get("ref", {}).get("uri"):
            action = {**action, "ref": {**action["ref"], "uri": action["ref"]["uri"].replace("{", "").replace("}", "")}}
        return super().perform(action)


@sent("read-uri-decoded", "resources/read")
def _(client, message):
    message["params"]["uri"] = urllib.parse.unquote(message["params"]["uri"])


@sent("read-uri-encoded-again", "resources/read")
def _(client, message):
    message["params"]["uri"] = message["params"]["uri"].replace("%", "%25")


@sent("read-uri-without-query", "resources/read")
def _(client, message):
    message["params"]["uri"] = message["params"]["uri"].split("?")[0]


@sent("read-uri-as-list", "resources/read")
def _(client, message):
    message["params"]["uri"] = [message["params"]["uri"]]
