"""The server of 2026-07-28: rounds of input, and tasks as an extension."""
import json, threading, time
import tools
from base import BUG, Failed, Rpc, bug, now, text
from calls import ENDS, Task
from rounds import META, NeedInput, Round, Work

EXTENSION = META + "tasks"


class Modern:
    def __init__(self, first):
        self.first, self.tasks, self.count, self.urls, self.history, self.roots = first, {}, 0, 0, [], None
        self.used, self.open, self.single, self.busy = set(), set(), threading.Lock(), 0

    def meta(self, message):
        p = message.get("params")
        if not isinstance(p, dict) or not isinstance(p.get("_meta"), dict): raise Rpc(-32602, "_meta is required")
        meta = p["_meta"]
        version = meta.get(META + "protocolVersion")
        if not isinstance(version, str): raise Rpc(-32602, "protocolVersion is required")
        if version != "2026-07-28": raise Rpc(-32022, "unsupported version", {"supported": ["2026-07-28"], "requested": version})
        if not isinstance(meta.get(META + "clientCapabilities"), dict): raise Rpc(-32602, "clientCapabilities is required")
        return meta

    def declared(self, meta):
        capabilities = meta[META + "clientCapabilities"]
        found = isinstance(capabilities.get("extensions"), dict) and EXTENSION in capabilities["extensions"]
        return found or bug("e-old-client-capability") and "tasks" in capabilities or bug("e-any-client")

    def needed(self):
        return Rpc(-32602 if bug("e-needed-code") else -32021, "the tasks extension is required", None if bug("e-needed-no-data") else {"requiredCapabilities": {"extensions": {EXTENSION: {}}}})

    def handle(self, emit, message):
        result = self.result(emit, message)
        if result is None: return None
        about = {META + "serverInfo": {"name": "desk", "version": "1.0.0"}}
        return {**result, "_meta": {**about, **result.get("_meta", {})}} if isinstance(result.get("_meta", {}), dict) else result

    def result(self, emit, message):
        meta = self.meta(message)
        method, p = message["method"], message["params"]
        if method == "server/discover":
            capabilities = {"tools": {}, "extensions": {EXTENSION: {}}}
            if bug("e-not-advertised"): del capabilities["extensions"]
            if bug("e-old-advertised"): capabilities["tasks"] = {"requests": {"tools": {"call": {}}}}
            if bug("e-advertised-true"): capabilities["extensions"][EXTENSION] = True
            return {"resultType": "complete", "supportedVersions": ["2026-07-28"], "capabilities": capabilities, "ttlMs": 0, "cacheScope": "private"}
        if method == "tools/list":
            if bug("r-on-list") and "elicitation" in meta[META + "clientCapabilities"] and "inputResponses" not in p: return {"resultType": "input_required", "inputRequests": {"login": {"method": "elicitation/create", "params": {"mode": "form", "message": "Who?", "requestedSchema": tools.FORM}}}}
            if p.get("cursor") is not None: raise Rpc(-32602, "no such cursor")
            return {"resultType": "complete", "tools": tools.listed("2026-07-28"), "ttlMs": 0, "cacheScope": "private"}
        if method == "tools/call": return self.call(emit, message, meta, p)
        if method == "subscriptions/listen": return self.listen(emit, message, meta, p)
        if method in ("tasks/get", "tasks/update", "tasks/cancel"):
            if not self.declared(meta) and not bug("e-methods-undeclared", f"e-{method[6:]}-undeclared"): raise self.needed()
            return getattr(self, method[6:])(p)
        if method == "tasks/result" and bug("e-result-method"):
            task = self.find(p, "get")
            with task.changed: task.changed.wait_for(lambda: task.status in ENDS, 20)
            return {"resultType": "complete", **(task.outcome[1] if task.outcome else {})}
        if method == "tasks/list" and bug("e-list-method"): return {"resultType": "complete", "tasks": [self.view(t, "get") for t in self.tasks.values()]}
        raise Rpc(-32601, "method not found")

    def listen(self, emit, message, meta, p):
        wanted = p.get("notifications")
        if not isinstance(wanted, dict): raise Rpc(-32602, "notifications is required")
        ids = wanted.get("taskIds")
        if ids is not None and not self.declared(meta) and not bug("e-listen-undeclared"): raise self.needed()
        if ids is not None and (not isinstance(ids, list) or any(not isinstance(i, str) for i in ids)): raise Rpc(-32602, "taskIds is a list of strings")
        known = [i for i in ids or [] if i in self.tasks]
        about = {META + "subscriptionId": message["id"]}
        filter_ = {"taskIds": known} if known else {}
        if bug("e-listen-ack-none"): filter_ = {}
        if bug("e-listen-ack-all") and ids: filter_ = {"taskIds": ids}
        if bug("e-listen-unknown-rejected") and len(known) < len(ids or []): raise Rpc(-32602, "no such task")
        emit({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": {"notifications": filter_, "_meta": about}})
        done = threading.Event()
        self.subscriptions[json.dumps(message["id"])] = done
        def send(task):
            if done.is_set() and not bug("e-listen-after-end"): return
            params = {**self.view(task, "notify"), "_meta": about}
            params.pop("resultType", None)
            if bug("e-notify-partial"): params = {"taskId": task.id, "status": task.status, "_meta": about}
            if bug("e-notify-no-result"): params.pop("result", None)
            if bug("e-notify-no-inputs"): params.pop("inputRequests", None)
            if bug("e-notify-no-subscription"): del params["_meta"]
            if bug("e-notify-old-status"): params["status"] = "working"
            emit({"jsonrpc": "2.0", "method": "notifications/tasks/status" if bug("e-notify-method") else "notifications/tasks", "params": params})
            if bug("e-notify-after-end") and task.status in ENDS: threading.Timer(0.1, lambda: emit({"jsonrpc": "2.0", "method": "notifications/tasks", "params": {**params, "status": "working"}})).start()
        watched = list(self.tasks.values()) if bug("e-notify-all") and known else [self.tasks[i] for i in known]
        for task in watched:
            if not bug("e-notify-never"): task.watchers.append(send)
            task.listeners.append(emit)
        if bug("e-notify-all") and known: self.everyone.append(send)
        if bug("e-log-on-listen") and known: emit({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": "listening"}})
        done.wait(60)
        for task in watched:
            if send in task.watchers and not bug("e-listen-after-end"): task.watchers.remove(send)
        if send in self.everyone: self.everyone.remove(send)
        return None

    subscriptions, everyone = {}, []

    def call(self, emit, message, meta, p):
        if not isinstance(p.get("name"), str) or not isinstance(p.get("arguments", {}), dict): raise Rpc(-32602, "name is a string and arguments an object")
        if p["name"] not in tools.TOOLS: raise Rpc(-32602, f"unknown tool {p['name']}")
        work, schema, support = tools.TOOLS[p["name"]]
        if bug("r-holds-worker") and self.busy >= 3: time.sleep(3600)
        try: round_ = Round(self, emit, message, meta)
        except Failed as e: return {"resultType": "complete", **text(str(e), isError=True)}
        if bug("r-request") and p["name"] == "ask": emit({"jsonrpc": "2.0", "id": "ask-1", "method": "elicitation/create", "params": tools.form_request(round_)})
        arguments = p.get("arguments", {})
        missing = [n for n in schema.get("required", []) if not isinstance(arguments.get(n), str)]
        as_task = support is not None and self.declared(meta) or bug("e-undeclared") and support is not None or bug("e-old-param") and "task" in p or bug("e-sticky") and support is not None and self.sticky
        if self.declared(meta): self.sticky = True
        if support == "required" and not as_task and not bug("e-required-runs"): raise self.needed()
        if as_task and not missing: return self.start(round_, work, arguments, p)
        return self.perform(round_, work, arguments, missing)

    sticky = False

    def perform(self, call, work, arguments, missing):
        try:
            if missing: raise Failed(f"missing {missing[0]}")
            result = {"resultType": "complete", **work(call, arguments)}
        except NeedInput:
            self.busy += 1
            return call.required()
        except Failed as e:
            result = {"resultType": "complete", **text(str(e), isError=True)}
        except (AttributeError, KeyError, TypeError, OSError) as e:
            raise Rpc(-32603, f"{type(e).__name__}: {e}")
        if bug("r-input-requests-in-complete"): result["inputRequests"] = {}
        return result

    def start(self, round_, work, arguments, p):
        if bug("e-forgotten-on-new"): self.tasks = {k: t for k, t in self.tasks.items() if t.status not in ENDS}
        if bug("e-forgotten-on-three"): self.tasks = dict(list(self.tasks.items())[-3:])
        task = Task(self, 600000)
        task.listeners, task.visible = [], time.time() + (0.4 if bug("e-not-durable") else 0)
        task.watchers += self.everyone
        self.tasks[task.id] = task
        context = Work(round_, task)
        def run():
            try: outcome = ("result", self.perform(context, work, arguments, None))
            except Rpc as e: outcome = ("error", e.error)
            self.finish(task, outcome)
        found = {**self.view(task, "create"), "resultType": "task"}
        threading.Thread(target=run, daemon=True).start()
        if bug("e-handle-complete"): found["resultType"] = "complete"
        if bug("e-handle-no-type"): del found["resultType"]
        if bug("e-handle-nested"): found = {"resultType": "task", "task": {k: v for k, v in found.items() if k != "resultType"}}
        if bug("e-handle-content"): found["content"] = []
        return found

    def finish(self, task, outcome):
        kind, value = outcome
        with task.changed:
            if task.status in ENDS and not bug("e-cancel-overwritten"): return
            task.outcome = outcome
        status = "failed" if kind == "error" else "completed"
        if bug("e-is-error-failed") and kind == "result" and value.get("isError"): status, task.outcome = "failed", ("error", {"code": -32603, "message": "the tool failed"})
        if bug("e-error-completed") and kind == "error": status, task.outcome = "completed", ("result", {"resultType": "complete", **text(value["message"], isError=True)})
        task.move(status, "The disk failed." if status == "failed" else None)
        if bug("e-status-back"): threading.Timer(0.3, lambda: (setattr(task, "status", "working"))).start()

    def view(self, task, place):
        found = {"resultType": "complete", "taskId": task.id, "status": task.status, "createdAt": now(task.created), "lastUpdatedAt": now(task.updated), "ttlMs": int(task.ttl), "pollIntervalMs": 50}
        if task.message: found["statusMessage"] = task.message
        b = BUG
        if task.status == "input_required" or b == "e-input-status-working" and task.inputs: found["inputRequests"] = dict(task.inputs)
        if task.outcome and task.status in ("completed", "failed") and place != "create":
            kind, value = task.outcome
            found["result" if kind == "result" else "error"] = value
        if not b.startswith("e-"): return found
        get = place == "get"
        if "inputRequests" in found:
            task.reads += 1
            if b == "e-input-once" and task.reads > 1: found["inputRequests"] = {}
            if b == "e-input-once-missing" and task.reads > 1: del found["inputRequests"]
            if b == "e-input-none": found.pop("inputRequests", None)
            if b == "e-input-array": found["inputRequests"] = list(found["inputRequests"].values())
            if b == "e-input-first-request-only" and task.reads > 1: found["status"] = "working"
            if b == "e-input-key-changes": found["inputRequests"] = {f"{k}-{task.reads}": v for k, v in found["inputRequests"].items()}; task.alias = True
            if b == "e-input-state": found["requestState"] = "x"
            if b == "e-input-type" : found["resultType"] = "input_required"
        s = found["status"]
        if b == "e-status-running" and s == "working": found["status"] = "running"
        if b == "e-status-done" and s == "completed": found["status"] = "done"
        if b == "e-status-canceled" and s == "cancelled": found["status"] = "canceled"
        if b == "e-status-stuck" and get: found["status"] = "working"
        if b == "e-created-moves": found["createdAt"] = now()
        if b == "e-created-epoch": found["createdAt"] = int(task.created * 1000)
        if b == "e-created-local": found["createdAt"] = now(task.created)[:-1]
        if b == "e-created-missing": del found["createdAt"]
        if b == "e-updated-before": found["lastUpdatedAt"] = now(task.created - 60)
        if b == "e-updated-missing-in-get" and get: del found["lastUpdatedAt"]
        if b == "e-updated-back" and get: task.reads += 1; found["lastUpdatedAt"] = now(task.updated + 30 - task.reads)
        if b == "e-ttl-missing": del found["ttlMs"]
        if b == "e-ttl-old": found["ttl"] = found.pop("ttlMs")
        if b == "e-poll-old": found["pollInterval"] = found.pop("pollIntervalMs")
        if b == "e-ttl-text": found["ttlMs"] = "600000"
        if b == "e-ttl-float": found["ttlMs"] = 600000.5
        if b == "e-ttl-negative": found["ttlMs"] = -1
        if b == "e-ttl-zero": found["ttlMs"] = 0
        if b == "e-ttl-seconds": found["ttlMs"] = 600
        if b == "e-poll-zero": found["pollIntervalMs"] = 0
        if b == "e-poll-negative": found["pollIntervalMs"] = -50
        if b == "e-poll-float": found["pollIntervalMs"] = 0.5
        if b == "e-poll-text": found["pollIntervalMs"] = "50"
        if b == "e-id-in-get-other" and get: found["taskId"] = task.id.upper()
        if b == "e-id-missing-in-get" and get: del found["taskId"]
        if b == "e-get-no-type" and get: del found["resultType"]
        if b == "e-get-type-task" and get: found["resultType"] = "task"
        if b == "e-get-nested" and get: return {"resultType": "complete", "task": found}
        if b == "e-get-no-result": found.pop("result", None)
        if b == "e-get-content-flat" and "result" in found: found.update(found.pop("result"))
        if b == "e-get-result-text" and "result" in found: found["result"] = json.dumps(found["result"])
        if b == "e-get-result-content" and "result" in found: found["result"] = found["result"]["content"]
        if b == "e-get-no-error": found.pop("error", None)
        if b == "e-get-error-text" and "error" in found: found["error"] = found["error"]["message"]
        if b == "e-get-error-generic" and "error" in found: found["error"] = {"code": -32603, "message": "the task failed"}
        if b == "e-get-error-no-message" and "error" in found: del found["error"]["message"]
        if b == "e-get-error-code-text" and "error" in found: found["error"] = {"code": "E_DISK", "message": "x"}
        if b == "e-get-error-and-result" and "error" in found: found["result"] = text("x", isError=True)
        if b == "e-no-status-message": found.pop("statusMessage", None)
        if "result" in found and isinstance(found["result"], dict):
            r = dict(found["result"])
            if b == "e-result-no-structured": r.pop("structuredContent", None)
            if b == "e-result-first-only": r["content"] = r["content"][:1]
            if b == "e-result-no-is-error": r.pop("isError", None)
            if b == "e-result-wrapped": r = {"result": r}
            if b == "e-result-no-content": r.pop("content", None)
            if b == "e-result-changes": r["content"] = r["content"] + [{"type": "text", "text": now()}]
            if b == "e-result-no-meta": r.pop("_meta", None)
            if b == "e-result-null-is-error" and r.get("isError"): r = None
            if b == "e-result-of-latest": r = [t for t in self.tasks.values() if t.outcome and t.outcome[0] == "result"][-1].outcome[1]
            if b == "e-result-once":
                if getattr(task, "shown", False): r = {"resultType": "complete", "content": []}
                task.shown = True
            found["result"] = r
        if b == "e-result-while-working" and s == "working" and get: found["result"] = text("")
        if b == "e-inputs-after-end" and s in ENDS: found["inputRequests"] = {}
        if b == "e-related-meta" and get: found["_meta"] = {META + "related-task": {"taskId": task.id}}
        return found

    def find(self, p, method):
        name = p.get("taskId")
        if not isinstance(name, str): raise Rpc(-32602, "taskId is not a string")
        task = self.tasks.get(name)
        if bug("e-id-trimmed"): task = next((t for k, t in self.tasks.items() if k.startswith(name[:8])), None)
        if bug("e-id-case"): task = self.tasks.get(name.lower())
        if task and time.time() < task.visible: task = None
        if task:
            b, ended = BUG, task.status in ENDS
            age = (time.time() - task.created) * 1000
            gone = ended and (b in ("e-forgets-" + task.status, "e-forgets-on-end") or b == "e-forgets-soon-after-end" and time.time() - task.updated > 0.5)
            gone = gone or b == "e-forgets-after-second" and age > 1000 or b == "e-forgets-when-input" and task.status == "input_required" and time.time() - task.updated > 0.3
            if gone: self.tasks.pop(name, None); task = None
        if task is None:
            if bug(f"e-unknown-{method}-ack"): return None
            if bug(f"e-unknown-{method}-hang"): time.sleep(3600)
            raise Rpc({"e-unknown-code": -32603, "e-unknown-002": -32002, f"e-unknown-{method}-code": -32603}.get(BUG, -32602), "error" if bug("e-error-terse") else f"there is no task {name}")
        return task

    def get(self, p):
        task = self.find(p, "get")
        if task is None: return {"resultType": "complete", "taskId": p["taskId"], "status": "failed", "createdAt": now(), "lastUpdatedAt": now(), "ttlMs": 0, "error": {"code": -32602, "message": "not found"}}
        if bug("e-get-blocks"):
            with task.changed: task.changed.wait_for(lambda: task.status in ENDS, 20)
        found = self.view(task, "get")
        if bug("e-get-deletes-ended") and task.status in ENDS: del self.tasks[task.id]
        return found

    def update(self, p):
        done = {"resultType": "complete"}
        if bug("e-update-no-type"): done = {}
        if bug("e-update-type-task"): done = {"resultType": "task"}
        task = self.find(p, "update")
        if task is None: return done
        given = p.get("inputResponses")
        if not isinstance(given, dict):
            if bug("e-update-missing-ack"): return done
            if bug("e-update-missing-internal"): raise Rpc(-32603, "TypeError")
            raise Rpc(-32602, "inputResponses is not an object")
        unknown = set(given) - set(task.inputs)
        if unknown and bug("e-update-unknown-rejected"): raise Rpc(-32602, "unknown key")
        if unknown and bug("e-update-unknown-fails-task"): task.move("failed", "unknown key"); task.outcome = ("error", {"code": -32602, "message": "unknown key"})
        if unknown and bug("e-update-unknown-taken"): given = {k: given[u] for k in task.inputs for u in unknown}
        if task.status in ENDS:
            if bug("e-update-ended-internal"): raise Rpc(-32603, "TypeError")
            if bug("e-update-revives"): task.status = "working"
        with task.changed:
            if not bug("e-update-ignored"):
                for key, value in given.items():
                    if key in task.inputs: task.given[key] = value
            if bug("e-update-part-drops") and given: task.given.update({k: {"action": "decline"} for k in task.inputs if k not in given})
            task.changed.notify_all()
        if bug("e-update-empty-continues") and not given: task.given.update({k: {"action": "decline"} for k in task.inputs})
        if bug("e-update-returns-task"): return self.view(task, "get")
        if bug("e-update-twice-rejected"):
            if getattr(task, "updated_once", False): raise Rpc(-32602, "already")
            task.updated_once = True
        return done

    def cancel(self, p):
        done = {"resultType": "complete"}
        if bug("e-cancel-no-type"): done = {}
        task = self.find(p, "cancel")
        if task is None: return done
        if task.status in ENDS:
            if bug("e-cancel-ended-internal"): raise Rpc(-32603, "cannot cancel")
            if bug("e-cancel-ended-changes"): task.status = "cancelled"
            if bug("e-cancel-ended-deletes"): self.tasks.pop(task.id)
            return done
        if bug("e-cancel-input-internal") and task.status == "input_required": raise Rpc(-32603, "waits")
        if bug("e-cancel-deletes"): self.tasks.pop(task.id); return done
        if not bug("e-cancel-noop"): task.move("cancelled"); task.stop = True
        if bug("e-cancel-then-failed"): threading.Timer(0.2, lambda: (setattr(task, "outcome", ("error", {"code": -32603, "message": "x"})), setattr(task, "status", "failed"))).start()
        if bug("e-cancel-returns-task"): return self.view(task, "get")
        return done

    def notification(self, message):
        p = message.get("params") if isinstance(message.get("params"), dict) else {}
        if message["method"] == "notifications/cancelled":
            done = self.subscriptions.get(json.dumps(p.get("requestId")))
            if done: done.set()
