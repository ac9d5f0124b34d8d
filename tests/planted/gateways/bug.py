"""What one bug does to the messages that pass, and whether a switch is on.

A bug is one row of bugs.json. A row with `op` changes messages: those of one direction (`up` is towards the server), kind and method.
A row with `switch` names a place in the code of a gateway. Nothing here knows how a gateway is tested.
"""
import copy
import json
import os
import re
import threading
import unicodedata

HERE = os.path.dirname(os.path.abspath(__file__))


with open(os.path.join(HERE, "bugs.json")) as rows:
    ROWS = json.load(rows)


def load():
    name = os.environ.get("GATEWAY_BUG", "")
    if not name:
        return {}
    for row in ROWS:
        if row["id"] == name:
            return row
    raise SystemExit(f"no such bug: {name}")


BUG = load()
LAWFUL = set(filter(None, os.environ.get("GATEWAY_LAWFUL", "").split(",")))


def on(switch):
    return BUG.get("switch") == switch


def lawful(way):
    return way in LAWFUL


def kind_of(message):
    if "method" in message:
        return "request" if "id" in message else "notification"
    return "error" if "error" in message else "result"


def is_valid(m):
    return (isinstance(m, dict) and m.get("jsonrpc") == "2.0" and ("method" in m or "result" in m or "error" in m)
            and type(m.get("id", 0)) in (int, str))


def invalid(m):
    """The error for a message that is not valid; it has the id if that can be read."""
    ident = m.get("id") if isinstance(m, dict) and "method" in m else None
    known = {"id": ident} if type(ident) in (int, str) else {}
    return {"jsonrpc": "2.0", **known, "error": {"code": -32600, "message": "Invalid Request"}}


def places(value, path):
    """(container, key) of each place that a path of dots leads to; `*` is every element."""
    key, _, rest = path.partition(".")
    if isinstance(value, dict):
        keys = list(value) if key == "*" else [key] if key in value or not rest else []
    elif isinstance(value, list):
        keys = list(range(len(value))) if key == "*" else [int(key)] if key.isdigit() and int(key) < len(value) else []
    else:
        keys = []
    for k in keys:
        if rest:
            yield from places(value[k], rest)
        else:
            yield value, k


def each_string(value, change):
    if isinstance(value, str):
        return change(value)
    if isinstance(value, list):
        return [each_string(v, change) for v in value]
    if isinstance(value, dict):
        return {k: each_string(v, change) for k, v in value.items()}
    return value


def each_value(value, keep):
    """Without the fields that `keep` says no to."""
    if isinstance(value, list):
        return [each_value(v, keep) for v in value]
    if isinstance(value, dict):
        return {k: each_value(v, keep) for k, v in value.items() if keep(k, v)}
    return value


def each_number(value, change):
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return change(value)
    if isinstance(value, list):
        return [each_number(v, change) for v in value]
    if isinstance(value, dict):
        return {k: each_number(v, change) for k, v in value.items()}
    return value


def each_list(value, change):
    if isinstance(value, list):
        return change([each_list(v, change) for v in value])
    if isinstance(value, dict):
        return {k: each_list(v, change) for k, v in value.items()}
    return value


STRINGS = {
    "trim": str.strip,
    "lower": str.lower,
    "nfc": lambda s: unicodedata.normalize("NFC", s),
    "nfd": lambda s: unicodedata.normalize("NFD", s),
    "lf": lambda s: s.replace("\r\n", "\n"),
    "ascii": lambda s: s.encode("ascii", "replace").decode(),
    "bmp": lambda s: "".join(c for c in s if ord(c) < 0x10000),
    "truncate": lambda s: s[:1000],
    "decoded": lambda s: re.sub("%([0-9A-Fa-f]{2})", lambda m: chr(int(m[1], 16)), s),
    "no-controls": lambda s: "".join(c for c in s if c >= " "),
    "spaces": lambda s: re.sub(r"[ \t]+", " ", s),
    "dots": lambda s: s.split(".")[0] if re.fullmatch(r"[\w.-]+", s) else s,
}
# What the row of a bug with the method `?` is not about.
METHODS = {row["method"] for row in ROWS if "op" in row}
EMPTY = {
    "no-null": lambda k, v: v is not None,
    "no-empty-text": lambda k, v: v != "",
    "no-empty-list": lambda k, v: v != [],
    "no-empty-object": lambda k, v: v != {},
    "no-false": lambda k, v: v is not False,
    "no-zero": lambda k, v: v is True or v is False or v != 0,
    "no-underscore": lambda k, v: k == "_meta" or not k.startswith("_"),
    "no-meta-anywhere": lambda k, v: k != "_meta",
    "no-annotations": lambda k, v: k != "annotations",
    "no-icons": lambda k, v: k != "icons",
    "no-title": lambda k, v: k != "title",
    "no-size": lambda k, v: k != "size",
    "no-mime": lambda k, v: k != "mimeType",
    "no-dollar": lambda k, v: not k.startswith("$"),
}
NUMBERS = {
    "to-text": str,
    "to-float": lambda n: float(n) if abs(n) < 1e300 else n,
    "to-int": int,
    "to-32": lambda n: n if abs(n) < 2**31 else 2**31 - 1,
}


def unique(items):
    out = []
    for item in items:
        if item not in out:
            out.append(item)
    return out


LISTS = {
    "reverse": lambda l: l[::-1],
    "sorted": lambda l: sorted(l, key=lambda v: json.dumps(v, sort_keys=True)),
    "lose-first": lambda l: l[1:],
    "lose-last": lambda l: l[:-1],
    "double-last": lambda l: l + l[-1:],
    "unique": unique,
    "first-only": lambda l: l[:1],
}


def body(message):
    return next((k for k in ("params", "result", "error") if k in message), None)


class Passing:
    """The messages of one session, both ways."""

    shared = {}

    def __init__(self):
        self.lock = threading.Lock()
        self.held = []
        self.seen = {}
        self.count = 0

    def matches(self, direction, method, message, params):
        b = BUG
        return (b.get("op") and b["dir"] in (direction, "*") and b["kind"] in (kind_of(message), "*")
                and (b["method"] in (method, "*") or b["method"] == "?" and method not in METHODS) and method != b.get("not"))

    def passed(self, direction, method, message, params, send):
        """Sends what leaves for `message`; `method` is that of the request for a response, `params` are those of the request."""
        with self.lock:
            if self.matches(direction, method, message, params):
                out, held = self.changed(copy.deepcopy(message), method, params, send), []
            else:
                out, held, self.held = [message], self.held, []
        for m in out:
            send(m)
        for later, m in held:
            later(m)

    def changed(self, m, method, params, send):
        op, path = BUG["op"], BUG.get("path", "")
        at = body(m)
        self.count += 1
        if BUG.get("from", 1) > self.count:
            return [m]
        if op == "drop":
            return []
        if op == "twice":
            return [m, copy.deepcopy(m)]
        if op == "late":
            threading.Timer(BUG.get("seconds", 2), lambda: send(m)).start()
            return []
        if op == "after-next":
            self.held.append((send, m))
            threading.Timer(1.5, self.flush).start()
            return []
        if op == "remove":
            for container, key in list(places(m, path)):
                if isinstance(container, dict):
                    container.pop(key, None)
            return [m]
        if op == "set":
            for container, key in list(places(m, path)):
                container[key] = BUG["value"]
            return [m]
        if op == "text":
            for container, key in list(places(m, path)):
                if key in container if isinstance(container, dict) else True:
                    container[key] = str(container[key])
            return [m]
        if op == "rename":
            m["method"] = BUG["value"]
            return [m]
        if op == "merge-meta":
            m.setdefault(at, {}).setdefault("_meta", {}).clear()
            return [m]
        if op in ("first-for-ever", "first-by-params", "first-of-all-sessions", "previous"):
            if at is None:
                return [m]
            memory = Passing.shared if op == "first-of-all-sessions" else self.seen
            key = (method, json.dumps({k: v for k, v in (params or {}).items() if k != "_meta"}, sort_keys=True)
                   if op != "first-for-ever" and op != "previous" else "")
            old = memory.get(key)
            if old is None or op == "previous":
                memory[key] = copy.deepcopy(m[at])
            if old is not None:
                m[at] = copy.deepcopy(old)
            return [m]
        if op == "to-error":
            m.pop("result", None)
            m["error"] = {"code": -32603, "message": "Internal error"}
            return [m]
        if op == "to-result":
            error = m.pop("error", {})
            m["result"] = {"content": [{"type": "text", "text": error.get("message", "")}], "isError": True}
            return [m]
        if op == "to-empty-result":
            m.pop("error", None)
            m["result"] = {}
            return [m]
        if op == "other-id":
            m["id"] = 77001
            return [m]
        if op == "id-text":
            m["id"] = str(m["id"])
            return [m]
        if op == "add-unknown":
            m.setdefault(at or "params", {})["added"] = True
            return [m]
        if at is None:
            return [m]
        if op in STRINGS:
            m[at] = each_string(m[at], STRINGS[op])
        elif op in EMPTY:
            m[at] = each_value(m[at], EMPTY[op])
        elif op in NUMBERS:
            meta = (m[at] or {}).get("_meta") if isinstance(m[at], dict) else None
            m[at] = each_number(m[at], NUMBERS[op])
            if meta:
                m[at]["_meta"] = meta
        elif op in LISTS:
            m[at] = each_list(m[at], LISTS[op])
        else:
            raise SystemExit(f"no such op: {op}")
        return [m]

    def flush(self):
        with self.lock:
            held, self.held = self.held, []
        for send, m in held:
            send(m)
