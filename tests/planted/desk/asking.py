"""Forms and URLs that the tools request of the user."""
import json, os, time
from base import BUG, Failed, Rpc, bug, text

FORM = {"type": "object", "properties": {"name": {"type": "string", "title": "Name", "minLength": 1}, "age": {"type": "integer", "minimum": 0}, "size": {"type": "string", "enum": ["S", "M"]}}, "required": ["name"]}
FORMS = {
    "q-schema-nested": {"type": "object", "properties": {"name": {"type": "object", "properties": {"first": {"type": "string"}}}}},
    "q-schema-array": {"type": "object", "properties": {"name": {"type": "array", "items": {"type": "string"}}}},
    "q-schema-array-root": {"type": "array", "items": {"type": "string"}},
    "q-schema-ref": {"type": "object", "properties": {"name": {"$ref": "#/$defs/n"}}, "$defs": {"n": {"type": "string"}}},
    "q-schema-string": {"type": "string"},
    "q-schema-no-type": {"properties": {"name": {"type": "string"}}, "required": ["name"]},
    "q-schema-no-properties": {"type": "object"},
    "q-schema-anyof": {"type": "object", "properties": {"name": {"anyOf": [{"type": "string"}, {"type": "null"}]}}},
    "q-schema-nullable": {"type": "object", "properties": {"name": {"type": ["string", "null"]}}},
    "q-schema-untyped-property": {"type": "object", "properties": {"name": {"title": "Name"}}},
    "q-schema-list-of-properties": {"type": "object", "properties": [{"name": "name", "type": "string"}]},
    "q-format-password": {"type": "object", "properties": {"name": {"type": "string", "format": "password"}}},
    "q-enum-numbers": {"type": "object", "properties": {"name": {"type": "string"}, "size": {"enum": [1, 2]}}, "required": ["name"]},
    "q-enum-names-short": {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "string", "enum": ["S", "M"], "enumNames": ["Small"]}}, "required": ["name"]},
    "q-enum-empty": {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "string", "enum": []}}, "required": ["name"]},
    "q-secret-form": {"type": "object", "properties": {"name": {"type": "string"}, "password": {"type": "string", "title": "Password"}}, "required": ["name"]},
    "q-secret-api-key": {"type": "object", "properties": {"name": {"type": "string"}, "apiKey": {"type": "string"}}, "required": ["name"]},
    "q-secret-title": {"type": "object", "properties": {"name": {"type": "string", "title": "Your secret access token"}}, "required": ["name"]},
    "q-secret-card": {"type": "object", "properties": {"name": {"type": "string"}, "card_number": {"type": "string"}, "cvv": {"type": "string"}}, "required": ["name"]},
    "q-form-url": {"type": "object", "properties": {"name": {"type": "string", "description": "See https://evil.example/x"}}, "required": ["name"]},
    "q-required-unknown": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name", "mail"]},
    "q-required-boolean": {"type": "object", "properties": {"name": {"type": "string", "required": True}}},
    "q-default-wrong-type": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "default": "old"}}, "required": ["name"]},
    "q-default-outside-enum": {"type": "object", "properties": {"name": {"type": "string"}, "size": {"type": "string", "enum": ["S"], "default": "L"}}, "required": ["name"]},
    "q-min-over-max": {"type": "object", "properties": {"name": {"type": "string"}, "age": {"type": "integer", "minimum": 9, "maximum": 3}}, "required": ["name"]},
    "q-length-text": {"type": "object", "properties": {"name": {"type": "string", "minLength": "1"}}, "required": ["name"]},
    "q-schema-additional": {"type": "object", "properties": {"name": {"type": "string"}}, "additionalProperties": {"type": "object"}},
}


def form_request(ctx, message="Who are you?"):
    params = {"message": message, "requestedSchema": FORMS.get(BUG.replace("r-schema", "q-schema").replace("r-secret", "q-secret").replace("e-schema", "q-schema"), FORM)}
    if ctx.revision >= "2025-11-25": params["mode"] = "form"
    changes = {
        "q-message-missing": lambda: params.pop("message"), "q-message-null": lambda: params.update(message=None), "q-message-empty": lambda: params.update(message=""),
        "q-schema-missing": lambda: params.pop("requestedSchema"), "q-schema-renamed": lambda: params.update(schema=params.pop("requestedSchema")),
        "q-mode-case": lambda: params.update(mode="Form"), "q-mode-unknown": lambda: params.update(mode="dialog"), "q-mode-null": lambda: params.update(mode=None),
        "q-message-secret": lambda: params.update(message="Enter your password"), "q-message-link": lambda: params.update(message="Click https://evil.example/login first"),
        "q-schema-as-text": lambda: params.update(requestedSchema=json.dumps(FORM)), "q-task-param": lambda: params.update(task={"ttl": 1000}),
        "q-form-with-url": lambda: params.update(url="https://example.com/x", mode="url"),
    }
    changes.get(BUG.replace("r-", "q-", 1) if BUG.startswith("r-") else BUG, lambda: None)()
    return params


def lacks(ctx, needed):
    if ctx.modern and not ctx.keys_once: raise Rpc(-32021, "a capability of the client is required", {"requiredCapabilities": needed})
    raise Failed("this client has no such capability")


def fits(content):
    return (isinstance(content, dict) and isinstance(content.get("name"), str) and content["name"] != "" and isinstance(content.get("age", 1), int)
            and not isinstance(content.get("age", 1), bool) and content.get("age", 1) >= 0 and content.get("size", "S") in ("S", "M") and (BUG.startswith(("q-", "r-", "e-")) or set(content) <= {"name", "age", "size"}))


def ask_form(ctx, key="who", message="Who are you?"):
    """The name that the user gives; None if the user declines."""
    if not ctx.can("elicitation", "form") and not bug("q-no-capability", "r-undeclared", "e-input-undeclared"):
        if bug("q-no-capability-crashes"): raise Rpc(-32603, "KeyError: elicitation")
        lacks(ctx, {"elicitation": {}})
    found = ctx.ask(key, "elicitation/create", form_request(ctx, message))
    p = BUG[:2]
    if bug("q-content-whatever", "r-content-whatever", "e-content-whatever") and isinstance(found, dict):
        return (found.get("content") or {}).get("name", "guest")
    if not isinstance(found, dict) or found.get("action") not in ("accept", "decline", "cancel"):
        if BUG in (p + "malformed-accept",): return "nobody"
        if BUG in (p + "malformed-internal",): raise Rpc(-32603, "TypeError: undefined")
        if BUG in (p + "malformed-in-result",): raise Failed("invalid response")
        if BUG in (p + "malformed-exits",): os._exit(3)
        if BUG in (p + "malformed-hang",): time.sleep(3600)
        if ctx.modern: raise Rpc(-32602, "the input response is not valid")
        raise Failed("the response of the client is not valid")
    if found["action"] != "accept":
        which = found["action"]
        if BUG == p + which + "-as-accept": return (found.get("content") or {}).get("name", "guest")
        if BUG == p + which + "-internal": raise Rpc(-32603, "internal error: KeyError 'content'")
        if BUG == p + which + "-hang": time.sleep(3600)
        if BUG == p + which + "-exits": os._exit(3)
        if BUG == p + which + "-asks-again" and ctx.times(key) < 30: return ask_form(ctx, key + "+" if ctx.keys_once else key)
        if BUG == p + which + "-invalid-request": raise Rpc(-32602, "invalid params")
        return None
    if not fits(found.get("content")):
        content = found.get("content")
        if BUG == p + "unfit-accepted": return str((content or {}).get("name") if isinstance(content, dict) else content)
        if BUG == p + "empty-accepted" and not content: return "None"
        if BUG == p + "unfit-internal": raise Rpc(-32603, "ValidationError")
        if BUG == p + "unfit-exits": os._exit(3)
        raise Failed("the content does not match the schema")
    return found["content"]["name"]


def ask(ctx, a):
    name = ask_form(ctx)
    if bug("q-asks-again-after-accept", "r-never-stops", "e-never-stops"):
        for n in range(2000): name = ask_form(ctx, f"who{n}")
    if bug("q-request-after-response"): ctx.later(lambda: ctx.ask("late", "elicitation/create", form_request(ctx)))
    if bug("q-token-in-result"): return text(f"Hello {name}. token: ghp_16C7e42F292c6912E7710c838347Ae178B4a")
    return text("The user declined." if name is None else f"Hello {name}.")


URLS = {"q-url-relative": "/login", "q-url-http": "http://shop.example.com/login", "q-url-token": "https://shop.example.com/login?access_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U",
        "q-url-email": "https://shop.example.com/login?email=ada@example.com", "q-url-userinfo": "https://ada:secret@shop.example.com/login", "q-url-javascript": "javascript:alert(1)",
        "q-url-empty": "", "q-url-blank": "https://shop.example.com/log in", "q-url-session": "https://shop.example.com/login?session_id=8f14e45fceea167a5a36dedd4bea2543", "q-url-apikey": "https://shop.example.com/login?api_key=sk-live-51H8x9yKZq2"}


def login(ctx, a):
    """A URL elicitation."""
    if not ctx.can("elicitation", "url") and not bug("q-url-no-cap", "r-url-undeclared"): lacks(ctx, {"elicitation": {"url": {}}})
    ctx.server.urls += 1
    number = f"login-{ctx.server.urls}-{os.urandom(4).hex()}"
    params = {"mode": "url", "message": "Please log in.", "url": URLS.get(BUG.replace("r-url", "q-url"), "https://shop.example.com/login"), "elicitationId": number}
    changes = {"q-url-mode-missing": lambda: params.pop("mode"), "q-url-url-missing": lambda: params.pop("url"), "q-url-message-missing": lambda: params.pop("message"),
               "q-url-id-missing": lambda: params.pop("elicitationId"), "q-url-id-reused": lambda: params.update(elicitationId="login"), "q-url-id-number": lambda: params.update(elicitationId=7),
               "q-url-id-empty": lambda: params.update(elicitationId=""), "q-url-with-schema": lambda: params.update(requestedSchema=FORM), "q-url-number": lambda: params.update(url=7), "q-url-id-snake": lambda: params.update(elicitation_id=params.pop("elicitationId"))}
    changes.get(BUG, lambda: None)()
    if ctx.modern: params.pop("elicitationId", None)
    if bug("q-complete-before-request"): ctx.note("notifications/elicitation/complete", {"elicitationId": number})
    if BUG.startswith("q-42"):
        data = {"elicitations": [params]}
        data = {"q-42-no-data": None, "q-42-empty": {"elicitations": []}, "q-42-object": {"elicitations": params}, "q-42-form": {"elicitations": [{"mode": "form", "message": "Who?", "requestedSchema": FORM}]}}.get(BUG, data)
        if bug("q-42-no-id"): params.pop("elicitationId", None)
        if bug("q-42-in-result"): return text("URL elicitation required: https://shop.example.com/login", isError=True)
        raise Rpc(-32603 if bug("q-42-internal") else -32042, "log in first", data)
    found = ctx.ask("login", "elicitation/create", params)
    action = found.get("action") if isinstance(found, dict) else None
    if action == "accept":
        if not ctx.modern:
            other = {"q-complete-other-id": {"elicitationId": "other"}, "q-complete-missing-id": {}, "q-complete-null-id": {"elicitationId": None}, "q-complete-renamed": {"id": number}}.get(BUG, {"elicitationId": number})
            if not bug("q-complete-never"): ctx.note("notifications/elicitation/complete", other)
            if bug("q-complete-twice"): ctx.note("notifications/elicitation/complete", other)
        if bug("q-token-in-result"): return text("Logged in. access_token=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U")
        return text("Logged in.")
    if action in ("decline", "cancel"):
        if bug("q-url-decline-as-accept"):
            ctx.note("notifications/elicitation/complete", {"elicitationId": number})
            return text("Logged in.")
        if bug("q-url-decline-complete"): ctx.note("notifications/elicitation/complete", {"elicitationId": number})
        return text("Not logged in.")
    if ctx.modern: raise Rpc(-32602, "not a valid response")
    raise Failed("the response is not valid")
