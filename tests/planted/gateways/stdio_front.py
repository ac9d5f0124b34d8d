#!/usr/bin/env python3
"""A gateway with stdio in front: ids and progress tokens pass as they are. Usage: stdio_front.py UPSTREAM"""
import json
import os
import sys
import threading
import time

from bug import Passing, invalid, is_valid, kind_of, lawful, on
from lawful import LISTS, OWN_TOKEN, Ways
from upstream import connect

out_lock = threading.Lock()
passing = Passing()
ways = Ways()
collected = {}
roots = []
own_ids, cancelled = set(), set()
client_requests, server_requests = {}, {}
count_lock = threading.Condition()
open_requests = 0


def key(ident):
    return json.dumps(ident)


def to_client(m):
    text = json.dumps(m, ensure_ascii=on("escapes"), indent=1 if on("pretty") else None)
    with out_lock:
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + (b"" if on("no-newline") else b"\n"))
        if not on("buffered"):
            sys.stdout.buffer.flush()


def collect(m):
    """Requests the next page of a list; the response to the last one has all items."""
    if m["id"] in collected:
        ident, method, params, items = collected.pop(m["id"])
    else:
        (method, params), ident, items = client_requests[key(m["id"])], m["id"], []
    if not isinstance((m.get("result") or {}).get(LISTS.get(method)), list):
        return {**m, "id": ident}
    items = items + m["result"][LISTS[method]]
    cursor = m["result"].get("nextCursor")
    if cursor is None:
        return {**m, "id": ident, "result": {**m["result"], LISTS[method]: items}}
    next_id = f"page-{len(items)}-{ident}"
    collected[next_id] = (ident, method, params, items)
    page = {"jsonrpc": "2.0", "id": next_id, "method": method, "params": {**(params or {}), "cursor": cursor}}
    threading.Thread(target=upstream.send, args=(page,), daemon=True).start()
    return None


def ping_both():
    """Pings of the gateway's own."""
    own_ids.update(["gateway-ping-1", "gateway-ping-2"])
    to_client({"jsonrpc": "2.0", "id": "gateway-ping-1", "method": "ping"})
    upstream.send({"jsonrpc": "2.0", "id": "gateway-ping-2", "method": "ping"})


def receive(m, related):
    kind = kind_of(m)
    if m.get("id") in own_ids and kind != "request":
        return
    if m.get("method") == "ping" and on("server-ping-dropped"):
        return
    if m.get("method") == "ping" and on("server-ping-unknown"):
        return upstream.send({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "Method not found"}})
    if m.get("method") == "roots/list" and on("roots-cached") and roots:
        return upstream.send({"jsonrpc": "2.0", "id": m["id"], "result": roots[0]})
    if lawful("collected") and kind in ("result", "error") and (m["id"] in collected or key(m["id"]) in client_requests
                                                                and client_requests[key(m["id"])][0] in LISTS):
        m = collect(m)
        if m is None:
            return
    if kind == "error" and key(m.get("id")) in cancelled:
        return
    if m.get("method") == "notifications/progress" and lawful("own-progress") and str(m["params"].get("progressToken")).startswith(OWN_TOKEN):
        return
    if kind in ("result", "error"):
        method, params = client_requests.pop(key(m.get("id")), (None, None))
    else:
        method, params = m["method"], m.get("params")
        if kind == "request":
            server_requests[key(m["id"])] = (method, params)
    passing.passed("down", method, ways.down(m, method, params), params, to_client)


upstream = connect(sys.argv[1], receive)


def to_server(m):
    global open_requests
    kind = kind_of(m)
    if kind != "request":
        upstream.send(m)
        if m.get("method") == "notifications/initialized":
            upstream.listen()
            if lawful("pings-both"):
                threading.Thread(target=ping_both, daemon=True).start()
        return
    if m["method"] == "initialize":
        upstream.send(m)
        return
    with count_lock:
        open_requests += 1

    def run():
        global open_requests
        upstream.send(m)
        with count_lock:
            open_requests -= 1
            count_lock.notify_all()

    if on("one-after-another"):
        run()
    else:
        threading.Thread(target=run, daemon=True).start()


def from_client(m):
    kind = kind_of(m)
    if m.get("id") in own_ids and kind != "request":
        return
    m = ways.up(m)
    if kind == "request" and (known := ways.known(m)):
        return to_client(known)
    if kind in ("result", "error"):
        method, params = server_requests.pop(key(m.get("id")), (None, None))
        if method == "roots/list" and kind == "result":
            roots.append(m["result"])
    else:
        method, params = m["method"], m.get("params")
        if method == "notifications/cancelled":
            cancelled.add(key((params or {}).get("requestId")))
        if kind == "request":
            client_requests[key(m["id"])] = (method, params)
            if method == "ping" and lawful("own-pings"):
                return to_client({"jsonrpc": "2.0", "id": m["id"], "result": {}})
            if method == "ping" and on("ping-unknown"):
                return to_client({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "Method not found"}})
    passing.passed("up", method, m, params, to_server)


if on("banner"):
    print("gateway ready", flush=True)
if on("log-on-stdout"):
    import atexit
stdin = sys.stdin.buffer
while True:
    line = stdin.readline()
    if not line:
        break
    if on("line-limit") and len(line) > 65536:
        continue
    if on("log-on-stdout"):
        print(f"[info] {len(line)} bytes", flush=True)
    try:
        m = json.loads(line)
    except (ValueError, RecursionError):
        if on("bad-line-exit"):
            sys.exit(1)
        to_client({"jsonrpc": "2.0", "error": {"code": -32700, "message": "Parse error"}})
        continue
    if isinstance(m, list):
        for each in m:
            from_client(each)
    elif is_valid(m):
        from_client(m)
    else:
        to_client(invalid(m))
if not on("eof-drops"):
    with count_lock:
        count_lock.wait_for(lambda: open_requests == 0, 5)
upstream.close()
if on("eof-stays"):
    time.sleep(600)
sys.stdout.flush()
os._exit(0)
