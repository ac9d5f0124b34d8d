"""Rounds of input: a call that runs again with each retry, and in a task."""
import base64, hashlib, hmac, json, os, time
from base import BUG, Failed, Rpc, bug

META = "io.modelcontextprotocol/"
KEY = b"a key"


class NeedInput(Exception):
    pass


def seal(value):
    body = base64.urlsafe_b64encode(json.dumps(value).encode()).decode()
    return body + "." + hmac.new(KEY, body.encode(), hashlib.sha256).hexdigest()


def unseal(state):
    if not isinstance(state, str): raise Rpc(-32602, "requestState is not a string")
    body, _, sign = state.rpartition(".")
    if not hmac.compare_digest(hmac.new(KEY, body.encode(), hashlib.sha256).hexdigest().encode(), sign.encode()) and not bug("r-state-altered", "r-state-unsigned"):
        if bug("r-state-garbage-internal"): raise Rpc(-32603, "Traceback (most recent call last): binascii.Error")
        if bug("r-state-garbage-exits"): os._exit(3)
        if bug("r-state-garbage-hang"): time.sleep(3600)
        raise Rpc(-32602, "requestState is not valid")
    try: return json.loads(base64.urlsafe_b64decode(body))
    except ValueError: raise Rpc(-32602, "requestState is not valid")


class Round:
    """The context of a call that runs again with each retry."""
    modern, revision, keys_once = True, "2026-07-28", False

    def __init__(self, server, emit, message, meta):
        self.server, self.emit, self.message, self.meta = server, emit, message, meta
        p = message["params"]
        self.capabilities, self.token, self.asked = meta.get(META + "clientCapabilities") or {}, meta.get("progressToken"), {}
        self.given, self.wanted, self.state = p.get("inputResponses"), {}, {}
        if self.given is not None and not isinstance(self.given, dict):
            if bug("r-malformed-ignored"): self.given = {}
            elif bug("r-malformed-result"): raise Failed("inputResponses is not an object")
            elif bug("r-array-internal"): raise Rpc(-32603, "TypeError")
            else: raise Rpc(-32602, "inputResponses is not an object")
        self.given = dict(self.given or {})
        if any(not isinstance(v, dict) for v in self.given.values()):
            if bug("r-value-internal"): raise Rpc(-32603, "TypeError")
            if bug("r-value-result"): raise Failed("a response is not an object")
            if not bug("r-value-ignored", "r-content-whatever") and not BUG.startswith("r-malformed"): raise Rpc(-32602, "an input response is not an object")
        if p.get("requestState") is None and self.given and bug("r-state-needed"): raise Rpc(-32603, "no state")
        if "requestState" in p and not bug("r-state-ignored"):
            self.state = unseal(p["requestState"])
            if self.state.get("tool") != p.get("name") and not bug("r-state-other-tool"): raise Rpc(-32602, "the state is of another tool")
            if self.state.get("with") != p.get("arguments", {}) and not bug("r-state-other-arguments"): raise Rpc(-32602, "the state is of other arguments")
            if self.state.get("method", "tools/call") != message["method"]: raise Rpc(-32602, "the state is of another method")
            if self.state.get("nonce") in self.server.used and not bug("r-state-reused"): raise Rpc(-32602, "the state was used")
            if self.state["at"] < time.time() - 600: raise Rpc(-32602, "the state is too old")
            if bug("r-state-expires-soon") and self.state["at"] < time.time() - 0.3: raise Rpc(-32602, "the state is too old")
            if bug("r-memory") and self.state["nonce"] not in self.server.open: raise Rpc(-32602, "no such round")
        if bug("r-extra-rejected") and set(self.given) - set(self.state.get("asked", [])): raise Rpc(-32602, "unknown response")
        if bug("r-missing-fails", "r-missing-internal") and set(self.state.get("asked", [])) - set(self.given): raise Rpc(-32603 if bug("r-missing-internal") else -32602, "a response is missing")
        self.before = dict(self.state.get("given", {})) if not bug("r-second-forgets") else {}

    def can(self, name, detail=None):
        declared = self.capabilities.get(name)
        if detail == "form": return isinstance(declared, dict) and (not declared or "form" in declared or bug("r-form-undeclared"))
        return isinstance(declared, dict) and (detail is None or detail in declared or BUG == f"r-{detail}-no-cap")

    def times(self, key):
        self.asked[key] = self.asked.get(key, 0) + 1
        return self.asked[key]

    def ask(self, key, method, params):
        if bug("r-same-key"): key = "input"
        found = self.before.get(key) or self.given.get(key)
        if bug("r-only-newest-round"): found = self.given.get(key)
        if bug("r-method-decides") and found is None: found = next(iter(self.given.values()), None)
        if found is None and bug("r-missing-accepted") and self.state: found = {"action": "accept", "content": {"name": "nobody"}, "roots": []}
        if found is None and bug("r-missing-decline") and self.state: found = {"action": "decline"}
        if found is not None:
            self.before[key] = found
            return found
        self.wanted[key] = {"method": method, "params": params}
        raise NeedInput

    def ask_all(self, wanted):
        found = []
        for key, (method, params) in wanted.items():
            try: found.append(self.ask(key, method, params))
            except NeedInput: pass
        if self.wanted and not (bug("r-part-accepted") and found): raise NeedInput
        return found + [{}] * (len(wanted) - len(found))

    def note(self, method, params):
        self.emit({"jsonrpc": "2.0", "method": method, "params": params})

    def progress(self, done, total):
        if self.token is not None: self.note("notifications/progress", {"progressToken": self.token, "progress": done, "total": total})

    def cancelled(self):
        return False

    def later(self, work):
        pass

    def once(self):
        if self.state: self.server.used.add(self.state["nonce"])

    def roots_kept(self):
        return self.server.roots if bug("q-roots-of-first-session") else None

    def keep_roots(self, roots):
        self.server.roots = self.server.roots or roots
        return roots

    def required(self):
        p = self.message["params"]
        nonce = self.state.get("nonce") or os.urandom(8).hex()
        self.server.open.add(nonce)
        state = {"tool": p.get("name"), "with": p.get("arguments", {}), "method": self.message["method"], "given": self.before, "asked": list(self.wanted), "nonce": nonce, "at": time.time()}
        found = {"resultType": "input_required", "inputRequests": self.wanted, "requestState": seal(state)}
        b, wanted = BUG, self.wanted
        first = next(iter(wanted))
        def each(change):
            for one in wanted.values(): change(one)
        changes = {
            "r-neither": lambda: (found.pop("inputRequests"), found.pop("requestState")), "r-requests-array": lambda: found.update(inputRequests=list(wanted.values())), "r-requests-empty": lambda: (found.update(inputRequests={}), found.pop("requestState")),
            "r-requests-null": lambda: found.update(inputRequests=None), "r-state-object": lambda: found.update(requestState=state), "r-state-null": lambda: found.update(requestState=None), "r-no-type": lambda: found.pop("resultType"),
            "r-type-camel": lambda: found.update(resultType="inputRequired"), "r-type-complete": lambda: found.update(resultType="complete"), "r-kind-ping": lambda: wanted.update({first: {"method": "ping"}}), "r-kind-custom": lambda: each(lambda o: o.update(method="shop/ask")),
            "r-method-missing": lambda: each(lambda o: o.pop("method")), "r-params-missing": lambda: each(lambda o: o.pop("params")), "r-params-text": lambda: each(lambda o: o.update(params="?")), "r-flat": lambda: wanted.update({first: {"method": wanted[first]["method"], **wanted[first]["params"]}}),
            "r-is-error": lambda: found.update(isError=True, content=[]), "r-content-too": lambda: found.update(content=[{"type": "text", "text": "Input is required."}]), "r-state-snake": lambda: found.update(request_state=found.pop("requestState")), "r-requests-snake": lambda: found.update(input_requests=found.pop("inputRequests")),
            "r-cache-hints": lambda: found.update(ttlMs=0, cacheScope="private"), "r-state-alone-forever": lambda: found.pop("inputRequests"), "r-no-state-loops": lambda: found.pop("requestState"), "r-url-id": lambda: each(lambda o: o["params"].update(elicitationId="login-1")), "r-related-task": lambda: each(lambda o: o["params"].update(_meta={META + "related-task": {"taskId": "x"}})),
            "r-state-empty": lambda: found.update(requestState=""), "r-message-requests": lambda: each(lambda o: o.update(jsonrpc="2.0", id=1)),
        }
        changes.get(b, lambda: None)()
        return found


class Work(Round):
    """The context of a tool in a task."""
    keys_once = True

    def __init__(self, round_, task):
        self.__dict__.update(round_.__dict__)
        self.task, self.number = task, 0

    def ask(self, key, method, params):
        task = self.task
        if bug("e-input-key-reused", "e-same-key"): key = "input"
        if bug("e-input-key-number"): self.number += 1; key = str(self.number)
        with task.changed:
            task.inputs[key] = {"method": method, "params": params}
        if bug("e-input-kind"): task.inputs[key]["method"] = "shop/ask"
        if not bug("e-input-status-working"): task.move("input_required")
        deadline = time.time() + 30
        with task.changed:
            while key not in task.given and not task.stop and time.time() < deadline: task.changed.wait(0.5)
            found = task.given.pop(key, None)
            if not bug("e-input-answered-stays"): task.inputs.pop(key, None)
        if task.stop: raise Failed("cancelled")
        if found is None: raise Failed("no input")
        if not bug("e-input-stays"): task.move("working")
        return found

    def ask_all(self, wanted):
        return [self.ask(key, *one) for key, one in wanted.items()]

    def progress(self, done, total):
        for out in self.task.listeners if bug("e-progress-on-listen") else []:
            out({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": self.token or "x", "progress": done, "total": total}})

    def cancelled(self):
        return self.task.stop
