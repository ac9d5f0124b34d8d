"""Servers of revisions with a handshake: requests during calls, and the tasks of 2025-11-25."""
import json, re, threading, time, uuid
import tools
from base import BUG, Failed, Rpc, bug, now, text
from calls import ENDS, RELATED, Call, Task


class First:
    def __init__(self):
        self.tasks, self.count, self.urls, self.history, self.roots, self.single = {}, 0, 0, [], None, threading.Lock()

    def initialize(self, session, p):
        asked = p.get("protocolVersion")
        if not isinstance(asked, str) or not isinstance(p.get("capabilities"), dict): raise Rpc(-32602, "protocolVersion and capabilities are required")
        session.revision = asked if asked in ("2025-03-26", "2025-06-18", "2025-11-25") else "2025-11-25"
        session.capabilities = p["capabilities"]
        capabilities = {"tools": {}}
        if session.revision == "2025-11-25" and not bug("t-undeclared"):
            capabilities["tasks"] = {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}}
            if bug("t-calls-undeclared"): del capabilities["tasks"]["requests"]
            if bug("t-declared-true"): capabilities["tasks"] = {"list": True, "cancel": True, "requests": {"tools": {"call": True}}}
            if bug("t-list-undeclared"): del capabilities["tasks"]["list"]
        return {"protocolVersion": session.revision, "capabilities": capabilities, "serverInfo": {"name": "desk", "version": "1.0.0"}}

    def handle(self, session, emit, message):
        method, p = message["method"], message.get("params")
        p = {} if p is None else p
        if not isinstance(p, dict): raise Rpc(-32602, "params is not an object")
        if method == "initialize": return self.initialize(session, p)
        if method == "ping": return {}
        if session.revision is None: raise Rpc(-32600, "not initialized")
        if method == "tools/list":
            if p.get("cursor") is not None: raise Rpc(-32602, "no such cursor")
            return {"tools": tools.listed(session.revision)}
        if method == "tools/call": return self.call(session, emit, message, p)
        if session.revision == "2025-11-25" and method in ("tasks/get", "tasks/result", "tasks/cancel", "tasks/list"):
            if bug("t-undeclared-methods"): raise Rpc(-32601, "no tasks")
            if method == "tasks/list": return self.list(session, p)
            return getattr(self, method[6:])(session, emit, p)
        raise Rpc(-32601, "method not found")

    def call(self, session, emit, message, p):
        if not isinstance(p.get("name"), str) or not isinstance(p.get("arguments", {}), dict): raise Rpc(-32602, "name is a string and arguments an object")
        if p["name"] not in tools.TOOLS: raise Rpc(-32602, f"unknown tool {p['name']}")
        work, schema, support = tools.TOOLS[p["name"]]
        arguments = p.get("arguments", {})
        as_task = "task" in p and session.revision == "2025-11-25"
        if as_task and not isinstance(p["task"], dict): raise Rpc(-32602, "task is not an object")
        if as_task and support is None and not bug("t-forbidden-runs"):
            if bug("t-forbidden-ignored"): as_task = False
            else: raise Rpc({"t-forbidden-code": -32602}.get(BUG, -32601), "this tool is no task")
        if not as_task and support == "required" and session.revision == "2025-11-25" and not bug("t-required-plain-runs"): raise Rpc(-32602 if bug("t-required-code") else -32601, "this tool is called as a task")
        if as_task and bug("t-task-ignored"): as_task = False
        missing = [n for n in schema.get("required", []) if not isinstance(arguments.get(n), str)]
        if not as_task:
            if bug("q-second-call-hangs"):
                with self.single: pass
            call = Call(self, session, emit, message)
            session.running[json.dumps(message["id"])] = call
            return self.perform(call, work, arguments, missing)
        if bug("t-one-at-a-time") and any(t.status not in ENDS for t in self.tasks.values()): raise Rpc(-32603, "busy")
        if bug("t-forgotten-on-new"): self.tasks = {k: t for k, t in self.tasks.items() if t.status not in ENDS}
        if bug("t-forgotten-on-three"): self.tasks = dict(list(self.tasks.items())[-3:])
        task = Task(self, p["task"].get("ttl"))
        task.session, task.seconds = session, p["task"].get("ttl")
        if bug("t-id-chosen") and isinstance(p["task"].get("taskId"), str): task.id = p["task"]["taskId"]
        if bug("t-id-per-session"): session.tasks = getattr(session, "tasks", 0) + 1; task.id = f"{session.tasks:032x}"
        if bug("t-capped-hard") and len(self.tasks) >= 3: raise Rpc(-32603, "too many tasks")
        self.tasks[task.id] = task
        if not bug("t-no-notifications"): task.watchers.append(lambda t: self.notify(session, t))
        call = Call(self, session, emit, message, task)
        task.waiter = None
        def run():
            try: outcome = ("result", self.perform(call, work, arguments, missing))
            except Rpc as e: outcome = ("error", e.error)
            task.finish(outcome)
            if bug("t-progress-after-end") and call.token is not None:
                time.sleep(0.1); session.out({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": call.token, "progress": 99}})
        if bug("t-fast-completed", "t-slow-creation"): run()
        found = self.created(task)
        if not bug("t-fast-completed", "t-slow-creation"): threading.Thread(target=run, daemon=True).start()
        return found

    def perform(self, call, work, arguments, missing):
        try:
            if missing: raise Failed(f"missing {missing[0]}")
            result = work(call, arguments)
        except Failed as e:
            result = text(str(e), isError=True)
        except (AttributeError, KeyError, TypeError, OSError) as e:
            raise Rpc(-32603, f"{type(e).__name__}: {e}")
        return result

    def view(self, task, place):
        found = {"taskId": task.id, "status": task.status, "createdAt": now(task.created), "lastUpdatedAt": now(task.updated), "ttl": task.ttl, "pollInterval": 50}
        if task.message: found["statusMessage"] = task.message
        b = BUG
        if not b.startswith("t-"): return found
        if b == "t-status-running" and task.status == "working": found["status"] = "running"
        if b == "t-status-done" and task.status == "completed": found["status"] = "done"
        if b == "t-status-canceled" and task.status == "cancelled": found["status"] = "canceled"
        if b == "t-status-upper": found["status"] = task.status.upper()
        if b == "t-status-error" and task.status == "failed": found["status"] = "error"
        if b == "t-status-pending" and place == "create": found["status"] = "pending"
        if b == "t-status-stuck" and place == "get": found["status"] = "working"
        if b == "t-list-status-stuck" and place == "list": found["status"] = "working"
        if b == "t-created-moves": found["createdAt"] = now()
        if b == "t-created-list-moves" and place == "list": found["createdAt"] = now()
        if b == "t-created-epoch": found["createdAt"] = int(task.created * 1000)
        if b == "t-created-no-zone": found["createdAt"] = now(task.created).replace("T", " ")[:19]
        if b == "t-created-http-date": found["createdAt"] = time.strftime("%a, %d %b %Y %H:%M:%S GMT", time.gmtime(task.created))
        if b == "t-created-local": found["createdAt"] = now(task.created)[:-1]
        if b == "t-created-missing": del found["createdAt"]
        if b == "t-updated-missing-in-list" and place == "list": del found["lastUpdatedAt"]
        if b == "t-updated-epoch": found["lastUpdatedAt"] = task.updated
        if b == "t-updated-before": found["lastUpdatedAt"] = now(task.created - 60)
        if b == "t-updated-null": found["lastUpdatedAt"] = None
        if b == "t-updated-back" and place == "get": task.reads += 1; found["lastUpdatedAt"] = now(task.updated + 30 - task.reads)
        if b == "t-ttl-omitted": del found["ttl"]
        if b == "t-ttl-text": found["ttl"] = str(task.ttl)
        if b == "t-ttl-negative": found["ttl"] = -1
        if b == "t-ttl-zero": found["ttl"] = 0
        if b == "t-ttl-seconds": found["ttl"] = task.ttl // 1000
        if b == "t-ttl-echoed": found["ttl"] = task.seconds
        if b == "t-ttl-shrinks" and place == "get": found["ttl"] = max(0, task.ttl - int((time.time() - task.created) * 1000))
        if b == "t-poll-zero": found["pollInterval"] = 0
        if b == "t-poll-negative": found["pollInterval"] = -1
        if b == "t-poll-text": found["pollInterval"] = "50"
        if b == "t-poll-null": found["pollInterval"] = None
        if b == "t-poll-hour": found["pollInterval"] = 3600000
        if b == "t-new-fields": found["ttlMs"], found["pollIntervalMs"] = found.pop("ttl"), found.pop("pollInterval")
        if b == "t-id-in-get-other" and place == "get": found["taskId"] = str(task.id).upper()
        if b == "t-id-missing-in-cancel" and place == "cancel": del found["taskId"]
        if b == "t-id-snake": found["task_id"] = found.pop("taskId")
        if b == "t-message-object" and task.message: found["statusMessage"] = {"text": task.message}
        if b == "t-message-null": found["statusMessage"] = None
        if b == "t-no-status-message": found.pop("statusMessage", None)
        if b == "t-related-meta-" + place: found["_meta"] = {RELATED: {"taskId": task.id}}
        if b == "t-nested-" + place: return {"task": found}
        if b == "t-status-only-" + place: return {"taskId": task.id, "status": found["status"]}
        if b == "t-result-in-get" and place == "get" and task.outcome: found["result"] = task.outcome[1]
        if b == "t-extra-result-type": found["resultType"] = "complete"
        return found

    def created(self, task):
        found = self.view(task, "create")
        if bug("t-create-flat"): return found
        if bug("t-create-ext"): return {"resultType": "task", **found}
        if bug("t-create-content"): return {"task": found, "content": []}
        if bug("t-create-content-only"): return text("Started.", _meta={"task": found})
        return {"task": found}

    def notify(self, session, task):
        params = self.view(task, "notify")
        if bug("t-notify-partial"): params = {"taskId": task.id, "status": task.status}
        if bug("t-notify-other"): params["taskId"] = uuid.uuid4().hex
        if bug("t-notify-related"): params["_meta"] = {RELATED: {"taskId": task.id}}
        if bug("t-notify-nested"): params = {"task": params}
        if bug("t-notify-wrong-status"): params["status"] = "working"
        method = "notifications/tasks" if bug("t-notify-method") else "notifications/tasks/status"
        out = session.out
        out({"jsonrpc": "2.0", "method": method, "params": params})
        if bug("t-notify-after-end") and task.status in ENDS: threading.Timer(0.1, lambda: out({"jsonrpc": "2.0", "method": method, "params": {**params, "status": "working"}})).start()
        if bug("t-notify-twice"): out({"jsonrpc": "2.0", "method": method, "params": params})

    def find(self, session, p, method):
        name = p.get("taskId")
        if not isinstance(name, str) and not bug("t-id-number"): raise Rpc(-32602, "taskId is not a string")
        if bug("t-meta-decides"): name = ((p.get("_meta") or {}).get(RELATED) or {}).get("taskId", name)
        task = self.tasks.get(name)
        if bug("t-id-trimmed") and isinstance(name, str): task = next((t for k, t in self.tasks.items() if k.startswith(name[:8])), None)
        if bug("t-id-case") and isinstance(name, str): task = self.tasks.get(name.lower())
        if task:
            ended = task.status in ENDS
            b = BUG
            age = (time.time() - task.created) * 1000
            gone = ended and (b == "t-forgets-" + task.status or b == "t-forgets-on-end" or b == "t-get-forgets-" + task.status and method == "get" or b == "t-result-forgets-" + task.status and method == "result")
            gone = gone or b == "t-forgets-after-second" and age > 1000 or b == "t-ttl-in-seconds" and task.ttl and age > task.ttl / 60
            gone = gone or b == "t-ttl-echoed" and age > 900 or b == "t-forgets-soon-after-end" and ended and time.time() - task.updated > 0.5
            if gone: self.tasks.pop(name, None); task = None
            elif age > task.ttl: task = None
        if task is None:
            if bug(f"t-unknown-{method}-ack"): return None
            if bug("t-unknown-hang"): time.sleep(3600)
            if bug(f"t-unknown-{method}-hang"): time.sleep(3600)
            code = {"t-unknown-code": -32603, "t-unknown-002": -32002, "t-unknown-000": -32000, f"t-unknown-{method}-code": -32603}.get(BUG, -32602)
            raise Rpc(code, "" if bug("t-error-empty") else "error" if bug("t-error-terse") else f"there is no task {name}")
        return task

    def get(self, session, emit, p):
        task = self.find(session, p, "get")
        if task is None: return {"taskId": p.get("taskId"), "status": "failed", "createdAt": now(), "lastUpdatedAt": now(), "ttl": 0}
        found = self.view(task, "get")
        if bug("t-get-deletes-ended") and task.status in ENDS: del self.tasks[task.id]
        if bug("t-get-blocks"):
            with task.changed: task.changed.wait_for(lambda: task.status in ENDS, 20)
            found = self.view(task, "get")
        return found

    def result(self, session, emit, p):
        task = self.find(session, p, "result")
        if task is None: return {}
        if bug("t-result-not-ready") and task.status not in ENDS: raise Rpc(-32602, "not ready")
        if bug("t-result-early") and task.status not in ENDS: return {"content": [], "_meta": {RELATED: {"taskId": task.id}}}
        if bug("t-result-input-early") and task.status == "input_required": return {"content": [], "_meta": {RELATED: {"taskId": task.id}}}
        if bug("t-result-waits-on") and task.status not in ENDS: time.sleep(3600)
        if bug("t-result-after-end-hangs") and task.status in ENDS: time.sleep(3600)
        with task.changed:
            task.waiter = emit
            if not task.changed.wait_for(lambda: task.status in ENDS, 40): raise Rpc(-32603, "took too long")
        if bug(f"t-result-{task.status}-hangs"): time.sleep(3600)
        if task.status == "cancelled" and task.outcome is None:
            if bug("t-result-cancelled-empty"): return {}
            raise Rpc(-32603 if not bug("t-result-cancelled-none") else -32000, "the task was cancelled")
        kind, value = task.outcome
        related = {RELATED: {"taskId": task.id}}
        if bug("t-result-once"): task.outcome = ("error", {"code": -32602, "message": "the result was retrieved"})
        if bug("t-result-once-deletes", "t-result-deletes"): self.tasks.pop(task.id, None)
        if kind == "error":
            if bug("t-error-as-result"): return text(value["message"], isError=True, _meta=related)
            if bug("t-error-generic"): raise Rpc(-32603, "the task failed")
            if bug("t-error-no-data"): raise Rpc(value["code"], value["message"])
            if bug("t-error-code-602"): raise Rpc(-32602, value["message"])
            if bug("t-error-in-result"): return {"error": value, "_meta": related}
            raise Rpc(value["code"], value["message"], value.get("data"))
        value = {**value, "_meta": {**value.get("_meta", {}), **related}}
        b = BUG
        if b == "t-result-no-structured": value.pop("structuredContent", None)
        if b == "t-result-first-only": value["content"] = value["content"][:1]
        if b == "t-result-text-joined": value["content"] = [{"type": "text", "text": " ".join(c["text"] for c in value["content"])}]
        if b == "t-result-as-text": value["content"] = [{"type": "text", "text": json.dumps(value["content"])}]
        if b == "t-result-wrapped": return {"result": value, "_meta": related}
        if b == "t-result-wrapped-task": return {"task": self.view(task, "get"), "result": value, "_meta": related}
        if b == "t-result-no-related": value["_meta"].pop(RELATED)
        if b == "t-result-related-other": value["_meta"][RELATED] = {"taskId": "other"}
        if b == "t-result-related-text": value["_meta"][RELATED] = task.id
        if b == "t-result-related-only": value["_meta"] = related
        if b == "t-result-no-is-error": value.pop("isError", None)
        if b == "t-result-is-error-throws" and value.get("isError"): raise Rpc(-32603, value["content"][0]["text"])
        if b == "t-result-status": return self.view(task, "get")
        if b == "t-result-content-text": value["content"] = value["content"][0]["text"]
        if b == "t-result-of-latest":
            done = [t for t in self.tasks.values() if t.outcome and t.outcome[0] == "result"]
            value = {**done[-1].outcome[1], "_meta": related}
        if b == "t-result-changes": value["content"] = value["content"] + [{"type": "text", "text": now()}]
        return value

    def cancel(self, session, emit, p):
        task = self.find(session, p, "cancel")
        if task is None: return {}
        if task.status in ENDS:
            if bug(f"t-cancel-{task.status}-ok", "t-cancel-any-ok"): return self.view(task, "cancel")
            if bug("t-cancel-ended-changes"): task.status = "cancelled"; return self.view(task, "cancel")
            raise Rpc(-32603 if bug("t-cancel-ended-code") else -32600 if bug("t-cancel-ended-600") else -32602, f"the task is {task.status}")
        if bug("t-cancel-noop"): return {**self.view(task, "cancel"), "status": "cancelled"}
        if bug("t-cancel-input-rejected") and task.status == "input_required": raise Rpc(-32602, "waits for input")
        if bug("t-cancel-late"):
            threading.Timer(0.5, lambda: task.move("cancelled")).start()
            return self.view(task, "cancel")
        if bug("t-cancel-fails"): task.move("failed", "cancelled")
        task.move("cancelled", None)
        if not bug("t-cancel-works-on"): task.stop = True
        if bug("t-cancel-all"):
            for other in self.tasks.values(): other.stop = True; other.move("cancelled")
        if bug("t-cancel-deletes-others"): self.tasks = {task.id: task}
        if bug("t-cancel-empty"): return {}
        if bug("t-cancel-nested"): return {"task": self.view(task, "cancel")}
        if bug("t-cancel-old-status"): return {**self.view(task, "cancel"), "status": "working"}
        return self.view(task, "cancel")

    def list(self, session, p):
        size, cursor = 2, p.get("cursor")
        tasks = list(self.tasks.values())
        if bug("t-list-finished-left"): tasks = [t for t in tasks if t.status not in ENDS]
        if bug("t-list-newest-only"): tasks = tasks[-1:]
        if bug("t-list-cancelled-left"): tasks = [t for t in tasks if t.status != "cancelled"]
        if bug("t-list-failed-left"): tasks = [t for t in tasks if t.status != "failed"]
        if bug("t-list-empty"): tasks = []
        if bug("t-list-input-left"): tasks = [t for t in tasks if t.status != "input_required"]
        if bug("t-list-all"): size = 10 ** 6
        start = 0
        if cursor is not None:
            match = re.fullmatch(r"after-([0-9a-zA-Z-]+)", cursor) if isinstance(cursor, str) else None
            known = match and next((i for i, t in enumerate(tasks) if str(t.id) == match[1]), None)
            if known is None:
                if not bug("t-list-bad-cursor"): raise Rpc(-32603 if bug("t-list-cursor-code") else -32602, "no such cursor")
                known = -1
            start = known + 1
        page = tasks[start:start + size]
        found = {"tasks": [self.view(t, "list") for t in page]}
        if start + size < len(tasks):
            last = page[-1] if not bug("t-list-overlap") else page[0]
            if not bug("t-list-cut"): found["nextCursor"] = f"after-{last.id}"
        elif bug("t-list-cursor-null"): found["nextCursor"] = None
        elif bug("t-list-cursor-empty"): found["nextCursor"] = ""
        elif bug("t-list-loops") and tasks: found["nextCursor"] = f"after-{tasks[0].id}"
        if bug("t-list-renamed"): found["items"] = found.pop("tasks")
        if bug("t-list-ids"): found["tasks"] = [t["taskId"] for t in found["tasks"]]
        if bug("t-list-object"): found["tasks"] = {t["taskId"]: t for t in found["tasks"]}
        if bug("t-list-related"): found["_meta"] = {RELATED: {"taskId": "all"}}
        return found

    def notification(self, session, emit, message):
        p = message.get("params") if isinstance(message.get("params"), dict) else {}
        if message["method"] == "notifications/initialized":
            session.ready = True
            if bug("q-outside-call-elicit"): threading.Thread(target=lambda: session.request(session.out, "elicitation/create", {"message": "Welcome! Who are you?", "requestedSchema": tools.FORM}), daemon=True).start()
            if bug("q-outside-call-roots"): threading.Thread(target=lambda: session.request(session.out, "roots/list", {}), daemon=True).start()
            if bug("q-outside-call-sampling"): threading.Thread(target=lambda: session.request(session.out, "sampling/createMessage", {"messages": [], "maxTokens": 1}), daemon=True).start()
        if message["method"] == "notifications/roots/list_changed" and not bug("q-roots-never-again"):
            if not bug("q-roots-cleared-late"): session.roots = None
        if message["method"] == "notifications/cancelled":
            call = session.running.get(json.dumps(p.get("requestId")))
            if call and not bug("q-cancelled-works-on"): call.stopped = True
