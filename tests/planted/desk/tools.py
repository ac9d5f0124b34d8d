"""The tools. Each gets a context: `ask` gets what the client is requested for, in the way of the revision."""
import os, time, urllib.parse
from asking import FORM, ask, ask_form, fits, form_request, lacks, login
from base import BUG, Failed, Rpc, bug, text
from sampling import draft

def path_of(uri):
    parts = urllib.parse.urlsplit(uri)
    return os.path.normpath(urllib.parse.unquote(parts.path)) if parts.scheme == "file" else None


def files(ctx, a):
    """Reads a file that has to be below one of the roots."""
    if not ctx.can("roots") and not bug("q-roots-no-cap", "r-roots-undeclared"): lacks(ctx, {"roots": {}})
    wanted = a.get("path")
    if not isinstance(wanted, str): raise Failed("path is not a string")
    roots = ctx.roots_kept()
    if roots is None:
        params = {"q-roots-params-list": []}.get(BUG, {})
        found = ctx.ask("roots", "roots/list", params)
        if not isinstance(found, dict) or not isinstance(found.get("roots"), list) or any(not isinstance(r, dict) or not isinstance(r.get("uri"), str) for r in found["roots"]):
            if bug("q-roots-malformed-internal"): raise Rpc(-32603, "KeyError: roots")
            if bug("q-roots-malformed-all"): found = {"roots": [{"uri": "file:///"}]}
            elif bug("q-roots-malformed-exits"): os._exit(3)
            elif ctx.modern: raise Rpc(-32602, "not a valid response")
            else: raise Failed("the roots are not valid")
        roots = ctx.keep_roots([r["uri"] for r in found["roots"]])
    if bug("q-roots-missing-crash"): [os.listdir(path_of(r)) for r in roots]
    if bug("q-roots-missing-exits") and any(not os.path.exists(path_of(r) or "") for r in roots): os._exit(3)
    if bug("q-roots-single"): roots = roots[:1]
    path = os.path.normpath(wanted)
    inside = any(path == path_of(r) or path.startswith((path_of(r) or "\0").rstrip("/") + "/") for r in roots)
    if bug("q-roots-text-compare"): inside = any(("file://" + path).startswith(r) for r in roots)
    if bug("q-roots-percent"): inside = any(path.startswith(urllib.parse.urlsplit(r).path) for r in roots)
    if bug("q-roots-prefix"): inside = any(path.startswith(path_of(r)) for r in roots)
    if bug("q-roots-dotdot"): inside = any(wanted.startswith(path_of(r)) for r in roots)
    if bug("q-roots-slash"): inside = any(path.startswith(urllib.parse.unquote(urllib.parse.urlsplit(r).path) + "/") for r in roots)
    if bug("q-roots-empty-all") and not roots: inside = True
    if bug("q-roots-ignored"): inside = True
    if not inside: raise Failed("the path is outside of the roots")
    return text("Read.")


def both(ctx, a):
    """Two requests that need each other."""
    if not ctx.can("elicitation", "form") or not ctx.can("roots"): lacks(ctx, {"elicitation": {}, "roots": {}})
    who, where = ctx.ask_all({"who": ("elicitation/create", form_request(ctx)), "where": ("roots/list", {})})
    if not isinstance(who, dict) or who.get("action") not in ("accept", "decline", "cancel") or not isinstance(where, dict) or not isinstance(where.get("roots"), list) and not bug("r-part-accepted"):
        raise Rpc(-32602, "a response is not valid") if ctx.modern else Failed("a response is not valid")
    if who["action"] == "accept" and not fits(who.get("content")): raise Failed("the content does not match the schema")
    return text(f"{who['action']} in {len(where.get('roots', []))}")


def report(ctx, a):
    for step in range(1, 4):
        time.sleep(0.03)
        ctx.progress(step, 3)
    return {"content": [{"type": "text", "text": '{"rows": 3}'}, {"type": "text", "text": "Three rows."}], "structuredContent": {"rows": 3}, "_meta": {"shop.example/took": 1}}


def crunch(ctx, a):
    for step in range(40):
        if ctx.cancelled() and not bug("q-cancelled-works-on"): raise Failed("cancelled")
        time.sleep(0.05)
        ctx.progress(step + 1, 40)
    return text("Crunched.")


def fail(ctx, a):
    time.sleep(0.03)
    raise Failed("the disk is full")


def broken(ctx, a):
    time.sleep(0.03)
    raise Rpc(1001, "the disk is broken", {"disk": 1})


def interview(ctx, a):
    time.sleep(0.05)
    name = ask_form(ctx, "who")
    if name is None: return text("The user declined.")
    again = ask_form(ctx, "whose", "And your friend?")
    if bug("e-never-stops"):
        for n in range(2000): ask_form(ctx, f"who{n}")
    return text(f"{name} and {again}.")


def order(ctx, a):
    """Two rounds; completes once."""
    name = ask_form(ctx, "who", f"Who pays for {a.get('item')}?")
    if name is None: return text("Not ordered.")
    sure = ask_form(ctx, "sure", f"{name}, are you sure?")
    if sure is None: return text("Not ordered.")
    ctx.once()
    return text(f"Ordered {a.get('item')} for {name}.")


def greet(ctx, a):
    return text("Hello.")


ITEM = {"type": "object", "properties": {"item": {"type": "string"}}, "required": ["item"]}
NONE = {"type": "object", "additionalProperties": False}
TOOLS = {
    "greet": (greet, NONE, None), "report": (report, NONE, "optional"), "crunch": (crunch, NONE, "optional"), "fail": (fail, NONE, "optional"), "broken": (broken, NONE, "optional"),
    "interview": (interview, NONE, "optional"), "batch": (report, NONE, "required"), "ask": (ask, NONE, None), "login": (login, NONE, None), "draft": (draft, NONE, None),
    "files": (files, {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}, None), "order": (order, ITEM, None), "both": (both, NONE, None),
}


def listed(revision):
    found = []
    for name, (_, schema, support) in TOOLS.items():
        tool = {"name": name, "description": f"The tool {name}.", "inputSchema": schema, "annotations": {"readOnlyHint": True}}
        if name in ("report", "batch"): tool["outputSchema"] = {"type": "object", "properties": {"rows": {"type": "integer"}}, "required": ["rows"]}
        if revision == "2025-11-25" and support: tool["execution"] = {"taskSupport": {"t-support-boolean": True, "t-support-case": "Optional"}.get(BUG, support)}
        found.append(tool)
    return found
