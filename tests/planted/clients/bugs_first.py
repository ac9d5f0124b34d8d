"""Bugs in the first message, and in the choice of a revision."""

import urllib.parse

from plain import Client
from plain_options import MODERN, PREFIX, Failed
from planting import BUGS, bug, header, on_transport, sent


# The first message.


def metadata(name, change):
    class Changed(Client):
        def meta(self):
            meta = super().meta()
            return change(meta) or meta if meta else meta

    BUGS[name] = Changed


metadata("meta-capabilities-left-out", lambda meta: meta.pop(PREFIX + "clientCapabilities") and None)
metadata("meta-version-left-out", lambda meta: meta.pop(PREFIX + "protocolVersion") and None)
metadata("meta-version-as-number", lambda meta: {**meta, PREFIX + "protocolVersion": 20260728})
metadata("meta-version-as-null", lambda meta: {**meta, PREFIX + "protocolVersion": None})
metadata("meta-client-info-as-text", lambda meta: {**meta, PREFIX + "clientInfo": "plain/1"})
metadata("meta-client-info-as-list", lambda meta: {**meta, PREFIX + "clientInfo": ["plain", "1"]})
metadata("meta-capabilities-as-list", lambda meta: {**meta, PREFIX + "clientCapabilities": ["sampling"]})
metadata("meta-capabilities-as-null", lambda meta: {**meta, PREFIX + "clientCapabilities": None})
metadata("meta-without-prefix", lambda meta: {key.removeprefix(PREFIX): value for key, value in meta.items()})
metadata("meta-snake-case", lambda meta: {PREFIX + "protocol_version": meta[PREFIX + "protocolVersion"]})


@sent("meta-beside-params")
def _(client, message):
    if message.get("params", {}).get("_meta"):
        message["_meta"] = message["params"].pop("_meta")


@sent("meta-in-meta")
def _(client, message):
    if meta := message.get("params", {}).get("_meta"):
        message["params"]["_meta"] = {"_meta": meta}


@sent("meta-values-in-params")
def _(client, message):
    if meta := message.get("params", {}).pop("_meta", None):
        message["params"].update(meta)


@sent("first-without-params")
def _(client, message):
    if message.get("method") in ("initialize", "server/discover"):
        message.pop("params", None)


@sent("first-params-as-list")
def _(client, message):
    if message.get("method") in ("initialize", "server/discover"):
        message["params"] = [message["params"]]


@sent("first-without-jsonrpc")
def _(client, message):
    if message.get("method") in ("initialize", "server/discover"):
        message.pop("jsonrpc")


@sent("first-id-null")
def _(client, message):
    if message.get("method") in ("initialize", "server/discover"):
        message["id"] = None


@sent("first-without-id")
def _(client, message):
    if message.get("method") in ("initialize", "server/discover"):
        message.pop("id")


@sent("first-in-array")
def _(client, message):
    return [message] if message.get("method") in ("initialize", "server/discover") else message


@sent("first-method-other-case")
def _(client, message):
    if message.get("method") in ("initialize", "server/discover"):
        message["method"] = message["method"].title()


def initialize(name):
    return sent(name, "initialize")


@initialize("initialize-client-info-as-text")
def _(client, message):
    message["params"]["clientInfo"] = "plain/1"


@initialize("initialize-client-info-as-list")
def _(client, message):
    message["params"]["clientInfo"] = ["plain", "1"]


@initialize("initialize-client-version-as-number")
def _(client, message):
    message["params"]["clientInfo"] = {"name": "plain", "version": 1}


@initialize("initialize-capabilities-left-out")
def _(client, message):
    message["params"].pop("capabilities")


@initialize("initialize-capabilities-as-list")
def _(client, message):
    message["params"]["capabilities"] = ["sampling"]


@initialize("initialize-version-as-number")
def _(client, message):
    message["params"]["protocolVersion"] = 20251125


@initialize("initialize-version-left-out")
def _(client, message):
    message["params"].pop("protocolVersion")


@bug("initialize-after-discovery")
class _(Client):
    def connect(self):
        self.discover()
        self.request("initialize", {"protocolVersion": self.revision, "capabilities": self.capabilities(), "clientInfo": self.info})
        self.notify("notifications/initialized")
        self.connected = True


@bug("initialized-after-discovery")
class _(Client):
    def connect(self):
        super().connect()
        if self.is_modern:
            self.notify("notifications/initialized", {"_meta": self.meta()})


@bug("lists-before-initialize")
class _(Client):
    def connect(self):
        if not self.is_modern:
            self.start("tools/list").done.wait(2)
        super().connect()


class Moved(Client):
    def __init__(self, target):
        super().__init__(target)
        if not self.transport.is_stdio:
            self.transport.url = self.moved(self.transport.url)


@bug("url-with-slash")
class _(Moved):
    def moved(self, url):
        return url + "/"


@bug("url-without-path")
class _(Moved):
    def moved(self, url):
        return url[: url.rindex("/mcp")] + "/"


@bug("url-upper-case")
class _(Moved):
    def moved(self, url):
        return url.replace("/mcp", "/MCP")


@bug("url-method-in-path")
class _(Moved):
    def moved(self, url):
        return url + "/rpc"


@bug("url-path-twice")
class _(Moved):
    def moved(self, url):
        return url + "/mcp"


@bug("url-without-query")
class _(Moved):
    def moved(self, url):
        return url.split("?")[0]


on_transport("messages-by-put", http=lambda usual, method, headers, body=None: usual("PUT" if method == "POST" else method, headers, body))
on_transport("messages-by-get", http=lambda usual, method, headers, body=None: usual("GET", headers, body))
header("content-type-of-forms", "content-type", lambda value, message, client: value and "application/x-www-form-urlencoded")
on_transport("body-as-form", http=lambda usual, method, headers, body=None: usual(method, headers, body and b"message=" + urllib.parse.quote(body).encode()))
header("modern-without-version-header", "mcp-protocol-version", lambda value, message, client: None)
header("modern-version-header-old", "mcp-protocol-version", lambda value, message, client: value and "2025-11-25")
header("method-header-upper-case", "mcp-method", lambda value, message, client: value and value.upper())


# Eras.


@bug("falls-back-after-unsupported-version")
class _(Client):
    def connect(self):
        try:
            super().connect()
        except Failed:
            self.is_modern = False
            self.revision = "2025-11-25"
            self.initialize()
            self.connected = True


@bug("probe-before-every-request")
class _(Client):
    def perform(self, action):
        if self.is_modern:
            self.discover()
        else:
            self.start("server/discover").done.wait(2)
        return super().perform(action)


@bug("legacy-methods-in-modern")
class _(Client):
    def offered(self, action):
        return True


@bug("ping-in-modern")
class _(Client):
    def perform(self, action):
        self.start("ping").done.wait(2)
        return super().perform(action)


header("version-header-on-legacy-of-future", "mcp-protocol-version", lambda value, message, client: value and MODERN)
