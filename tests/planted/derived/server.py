"""A server over stdio with tools, prompts and templates, and one bug in each subject that the variable PLAN names.

PLAN is a JSON object: a tool, a family of tools, a prompt or a template, and its bug. With SUBJECTS=state it has only the tools that keep
things.
"""
import json, os, sys, threading, re, urllib.parse
sys.path.insert(0, os.path.dirname(__file__))
from schema import Validator
from tools import tools
from store import FAMILIES, Store, Failed
sys.setrecursionlimit(5000)

PLAN = json.loads(os.environ.get("PLAN") or "{}")
lock = threading.Lock()
TOOLS, HANDLERS, CHECKS = [], {}, {}
ONLY = os.environ.get("SUBJECTS")
for name, schema in ([] if ONLY else tools()):
    TOOLS.append(dict(name=name, description=f"Reads {name}", inputSchema=schema, annotations=dict(readOnlyHint=True)))
    HANDLERS[name] = lambda a: "ok"
    CHECKS[name] = Validator(schema, PLAN.get(name))
STORES = [Store(f, PLAN.get(f)) for f in FAMILIES if ONLY in (None, "", "state")]
for st in STORES:
    names = [n for n in st.f["tools"]]
    for t in st.tools():
        TOOLS.append(t)
        CHECKS[t["name"]] = Validator(t["inputSchema"])
        HANDLERS[t["name"]] = (st, names.index(t["name"]))

PROMPTS = {
    "greet": [("name", True), ("mood", False)], "review_code": [("code", True), ("language", True)],
    "summary": [("topic", False)], "translate": [("text", True), ("to", True)], "plan_trip": [("city", True), ("days", False)],
}
if ONLY == "state": PROMPTS = {}
PROMPT_OPS = ["missing-accepted", "braces", "quotes", "optional-required", "percent", "newline", "long", "unicode"]
TEMPLATES = {
    "shop": ("shop://items/{id}", ["a1", "b 2", "c/3"]), "wiki": ("wiki://{lang}/{page}", None), "files": ("files:///{name}.txt", ["alpha", "beta gamma", "päge"]),
    "log": ("log://{day}", None), "calc": ("calc://{left}/plus/{right}", None),
}
if ONLY == "state": TEMPLATES = {}
TEMPLATE_OPS = ["decoded-twice", "bad-percent", "unknown-empty", "offered-fails", "long", "first-cached"]
COMPLETION_OPS = ["too-many", "total", "has-more", "no-values", "null"]
WORDS = {"mood": ["happy", "sad", "happier", "angry"], "language": ["rust", "ruby", "python"], "to": [f"lang{i}" for i in range(150)], "city": ["Rome", "Riga", "Oslo"]}

class Rpc(Exception):
    def __init__(self, code, text): self.code, self.text = code, text

def prompt(p):
    name, a = p.get("name"), p.get("arguments") or {}
    if name not in PROMPTS: raise Rpc(-32602, f"unknown prompt {name}")
    b, args = PLAN.get(name), PROMPTS[name]
    for n, need in args:
        if need and n not in a and b != "missing-accepted": raise Rpc(-32602, f"missing {n}")
        if b == "optional-required" and n not in a: raise Rpc(-32603, f"KeyError {n}")
        if b == "empty-as-missing" and a.get(n) == "": raise Rpc(-32602, f"missing {n}")
    if any(not isinstance(v, str) for v in a.values()): raise Rpc(-32602, "arguments are strings")
    if b == "unknown-argument-fails" and any(n not in dict(args) for n in a): raise RuntimeError("unexpected keyword argument")
    values = {n: a.get(n, "") for n, _ in args}
    if b == "swapped" and len(args) > 1: values = dict(zip(values, reversed(list(values.values()))))
    if b == "percent": values = {n: v % () if "%" in v else v for n, v in values.items()}
    if b == "long" and any(len(v) > 1000 for v in values.values()): raise RuntimeError("buffer")
    if b == "unicode": values = {n: v.encode("latin-1").decode("latin-1") for n, v in values.items()}
    if b == "newline" and any("\n" in v for v in values.values()): raise RuntimeError("line break")
    if b == "quotes": values = {n: json.loads('"' + v.replace("\n", " ").replace("\\", "\\\\") + '"') if '"' in v else v for n, v in values.items()}
    if b == "html": values = {n: v.replace("&", "&amp;").replace("<", "&lt;") for n, v in values.items()}
    text = " | ".join(f"{n}: {v}" for n, v in values.items())
    if b == "braces": text = text.format()
    return dict(messages=[dict(role="user", content=dict(type="text", text=text))])

def read(p, cache={}):
    uri = p.get("uri")
    if not isinstance(uri, str): raise Rpc(-32602, "uri")
    for key, (template, known) in TEMPLATES.items():
        b = PLAN.get(key)
        rx = "".join(f"(?P<{x[1:-1]}>[^/?#]{'*' if b == 'empty' else '+'})" if x.startswith("{") else re.escape(x) for x in re.split(r"(\{[^}]*\})", template))
        m = re.fullmatch(rx, uri)
        if not m: continue
        raw = m.groupdict()
        try:
            got = {n: urllib.parse.unquote(v, errors="strict") for n, v in raw.items()}
        except UnicodeDecodeError:
            if b == "bad-percent": raise
            raise Rpc(-32602, "not UTF-8")
        if any(re.search(r"%(?![0-9A-Fa-f]{2})", v) for v in raw.values()): raise Rpc(-32602, "bad percent sequence")
        if b == "not-decoded": got = raw
        if b == "decoded-twice": got = {n: urllib.parse.unquote(v) for n, v in got.items()}
        if b == "plus": got = {n: v.replace("+", " ") for n, v in got.items()}
        if b == "long" and any(len(v) > 200 for v in got.values()): raise OSError("File name too long")
        if b == "offered-fails" and (known or [None])[0] in got.values(): raise Rpc(-32002, "not found")
        if b == "case": got = {n: v.lower() for n, v in got.items()}
        if any(".." in v for v in got.values()) and b != "dots": raise Rpc(-32602, "no such path")
        if known and not set(got.values()) <= set(known) and b != "unknown-empty": raise Rpc(-32002, "not found")
        if known and not set(got.values()) <= set(known): return dict(contents=[])
        text = f"{key} " + json.dumps(got, ensure_ascii=False)
        if b == "first-cached": text = cache.setdefault(key, text)
        return dict(contents=[dict(uri=uri.lower() + "/" if b == "uri-changed" else uri, mimeType="text/plain", text=text)])
    raise Rpc(-32002, "not found")

def complete(p):
    ref, arg = p.get("ref") or {}, p.get("argument") or {}
    if ref.get("type") == "ref/prompt":
        name, known = ref.get("name"), PROMPTS.get(ref.get("name"))
        names = [n for n, _ in known or []]
    else:
        found = [k for k, (t, _) in TEMPLATES.items() if t == ref.get("uri")]
        name, known = (found or [None])[0], found
        names = re.findall(r"\{([^}]*)\}", ref.get("uri") or "")
    b = (PLAN.get(str(name)) or "")
    b = b[len("complete."):] if b.startswith("complete.") else ""
    if not known and PLAN.get("completion") != "unknown-ref": raise Rpc(-32602, "unknown reference")
    if arg.get("name") not in names and b != "unknown-argument": raise Rpc(-32602, "unknown argument")
    words = WORDS.get(arg.get("name")) or (TEMPLATES[name][1] if name in TEMPLATES else None) or []
    v = arg.get("value")
    if not isinstance(v, str): raise Rpc(-32602, "value")
    hits = words if b == "ignores-value" else [w for w in words if w.startswith(v)]
    if b == "no-values" and not hits: return dict(completion={})
    if b == "null" and not hits: return dict(completion=dict(values=None))
    shown = hits if b == "too-many" else hits[:100]
    return dict(completion=dict(values=shown, total=len(hits) + (1 if b == "total" and hits else 0) if b != "total" else 0, hasMore=len(hits) > len(shown) if b != "has-more" else not len(hits) > len(shown)))

PAGE = 20
def page(items, p, key):
    b = PLAN.get(key)
    c = p.get("cursor")
    start = 0
    if c is not None:
        if not (isinstance(c, str) and re.fullmatch(r"c\d+", c) and int(c[1:]) < len(items)):
            if b == "bad-cursor": return dict(**{key: items[:PAGE]})
            raise Rpc(-32602, "unknown cursor")
        start = int(c[1:])
    out = {key: items[start:start + PAGE]}
    step = PAGE + (1 if b == "page-lost" else -1 if b == "page-twice" else 0)
    if start + step < len(items): out["nextCursor"] = f"c{start + step}"
    return out

def call(p):
    name, a = p.get("name"), p.get("arguments")
    if a is None: a = {}
    if name not in HANDLERS: raise Rpc(-32602, f"unknown tool {name}")
    h = HANDLERS[name]
    text = lambda t, err=False: dict(content=[dict(type="text", text=t)], isError=err)
    try:
        ok = CHECKS[name].valid(a)
    except RecursionError:
        return text("arguments are too deep", True)
    if not ok:
        if isinstance(h, tuple) and h[0].bug == "create.invalid-stored" and h[1] == 0 and isinstance(a, dict): h[0].create({h[0].f["id"]: "x", **a})
        return text(f"invalid arguments for {name}", True)
    if not isinstance(h, tuple): return text("ok")
    st, which = h
    try:
        if st.bug == "all.race": r = st.call(which, a)
        else:
            with lock: r = st.call(which, a)
    except Failed as e: return text(str(e), True)
    if isinstance(r, str): return text(r)
    out = text(json.dumps(r, ensure_ascii=False))
    if st.f["result"] == "structured": out["structuredContent"] = r
    return out

def serve(m):
    p = m.get("params") or {}
    method = m["method"]
    if method == "initialize":
        return dict(protocolVersion=p["protocolVersion"] if p.get("protocolVersion") in ("2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05") else "2025-11-25", serverInfo=dict(name="measure", version="1.0.0"),
                    capabilities=dict(tools={}, prompts={}, resources={}, completions={}))
    if method == "ping": return {}
    if method == "tools/list": return page(TOOLS, p, "tools")
    if method == "tools/call": return call(p)
    if method == "prompts/list": return dict(prompts=[dict(name=n, arguments=[dict(name=x, required=r) for x, r in a]) for n, a in PROMPTS.items()])
    if method == "prompts/get": return prompt(p)
    if method == "resources/list": return dict(resources=[dict(uri="shop://items/a1", name="a1", mimeType="text/plain")])
    if method == "resources/templates/list": return dict(resourceTemplates=[dict(uriTemplate=t, name=n, mimeType="text/plain") for n, (t, _) in TEMPLATES.items()])
    if method == "resources/read": return read(p)
    if method == "completion/complete": return complete(p)
    raise Rpc(-32601, "method not found")

def handle(m):
    try: out = dict(result=serve(m))
    except Rpc as e: out = dict(error=dict(code=e.code, message=e.text))
    except Exception as e: out = dict(error=dict(code=-32603, message=f"{type(e).__name__}: {e}"))
    write(dict(jsonrpc="2.0", id=m["id"], **out))

out_lock = threading.Lock()
def write(m):
    data = json.dumps(m).encode() + b"\n"
    with out_lock:
        sys.stdout.buffer.write(data); sys.stdout.buffer.flush()

def main():
    RACE = any(PLAN.get(f) == "all.race" for f in FAMILIES)
    for line in sys.stdin.buffer:
        try: m = json.loads(line)
        except Exception:
            write(dict(jsonrpc="2.0", id=None, error=dict(code=-32700, message="parse error"))); continue
        if not isinstance(m, dict) or m.get("jsonrpc") != "2.0" or not isinstance(m.get("method"), str):
            if isinstance(m, dict) and ("result" in m or "error" in m): continue
            write(dict(jsonrpc="2.0", id=None, error=dict(code=-32600, message="invalid request"))); continue
        if "id" not in m:
            if m["method"] == "notifications/cancelled":
                for s in STORES: s.cancelled = True
            continue
        if not isinstance(m["id"], (str, int)) or isinstance(m["id"], bool):
            write(dict(jsonrpc="2.0", id=None, error=dict(code=-32600, message="invalid request"))); continue
        if RACE: threading.Thread(target=handle, args=(m,)).start()
        else: handle(m)
if __name__ == "__main__":
    main()
