"""A call in a revision with a handshake, and a task of any revision."""
import os, threading, time, uuid
from base import BUG, bug

RELATED = "io.modelcontextprotocol/related-task"
ENDS = ("completed", "failed", "cancelled")


class Task:
    def __init__(self, store, ttl):
        store.count += 1
        self.id = uuid.uuid4().hex
        if bug("t-id-number"): self.id = store.count
        if bug("t-id-counter", "e-id-counter"): self.id = f"task-{store.count}"
        if bug("t-id-time", "e-id-time"): self.id = f"{int(time.time() * 1000)}"
        if bug("t-id-short", "e-id-short"): self.id = os.urandom(1).hex()
        if bug("t-id-empty"): self.id = ""
        if bug("t-id-same", "e-id-same"): self.id = "8b0e0ac13cb14e2ba95a9a3ac8b5e1a1"
        self.status, self.created, self.updated, self.message = "working", time.time(), time.time(), None
        self.ttl = ttl if isinstance(ttl, (int, float)) and not isinstance(ttl, bool) and ttl >= 0 else 600000
        self.ttl = min(self.ttl, 600000)
        self.end, self.outcome, self.changed, self.stop = None, None, threading.Condition(), False
        self.reads, self.inputs, self.given, self.keys, self.watchers = 0, {}, {}, set(), []
        self.token = None

    def move(self, status, message=None):
        with self.changed:
            if self.status in ENDS and not bug("t-status-back", "t-cancel-overwritten", "e-cancel-overwritten"): return
            self.status, self.message = status, message
            if not bug("t-updated-stays", "e-updated-stays"): self.updated = time.time()
            self.changed.notify_all()
        for watcher in list(self.watchers): watcher(self)

    def finish(self, outcome):
        with self.changed:
            if self.status in ENDS and not bug("t-cancel-overwritten", "e-cancel-overwritten"): return
            self.outcome = outcome
        kind, value = outcome
        status = "failed" if kind == "error" or value.get("isError") else "completed"
        if bug("t-failed-completed"): status = "completed"
        if bug("t-error-completed"): status = "completed" if kind == "error" else status
        self.move(status, None if bug("t-no-status-message") or status == "completed" else "The disk failed.")
        if bug("t-status-back"): threading.Timer(0.3, lambda: self.move("working")).start()


class Call:
    """The context of a tool in a request."""
    modern, keys_once = False, False

    def __init__(self, server, session, emit, message, task=None):
        self.server, self.session, self.emit, self.message, self.task = server, session, emit, message, task
        self.revision, self.asked, self.stopped = session.revision, {}, False
        self.token = ((message.get("params") or {}).get("_meta") or {}).get("progressToken")
        self.number = 0

    def can(self, name, detail=None):
        declared = self.session.capabilities.get(name)
        if name == "elicitation" and self.revision < "2025-06-18" and not bug("q-elicit-in-03"): return False
        if detail == "form": return isinstance(declared, dict) and (not declared or "form" in declared or self.revision < "2025-11-25" or bug("q-form-undeclared"))
        if detail == "url" and self.revision < "2025-11-25": return False
        return isinstance(declared, dict) and (detail is None or detail in declared or bug("q-url-no-cap") and detail == "url")

    def times(self, key):
        self.asked[key] = self.asked.get(key, 0) + 1
        return self.asked[key]

    def ask(self, key, method, params):
        params = dict(params) if isinstance(params, dict) else params
        if bug("q-unknown-method"): method = "tools/list"
        if bug("q-method-misspelled"): method = method.replace("elicitation/create", "elicitation/request")
        task = self.task
        if task:
            if not bug("t-input-not-related"): params["_meta"] = {RELATED: {"taskId": "other" if bug("t-input-related-other") else task.id}}
            if bug("t-input-related-text"): params["_meta"] = {RELATED: task.id}
            if not bug("t-input-status-working"): task.move("input_required")
            try: return self.session.request(self.emit_task, method, params)
            finally:
                if not bug("t-input-stays"): task.move("working")
        if bug("q-related-meta"): params["_meta"] = {RELATED: {"taskId": "none"}}
        if bug("q-second-call-hangs"):
            with self.server.single: return self.session.request(self.emit, method, params)
        if bug("q-asks-twice"): self.session.request(self.emit, method, params)
        return self.session.request(self.emit, method, params)

    def emit_task(self, message):
        # A request of a task goes to the stream of tasks/result, or to any.
        if bug("t-input-before-creation"): pass
        (self.task.waiter or self.session.out)(message) if hasattr(self.task, "waiter") else self.session.out(message)

    def ask_all(self, wanted):
        return [self.ask(key, method, params) for key, (method, params) in wanted.items()]

    def note(self, method, params):
        self.emit({"jsonrpc": "2.0", "method": method, "params": params})

    def progress(self, done, total):
        if self.token is None: return
        task, token = self.task, self.token
        if task and bug("t-progress-stops"): return
        if task and bug("t-progress-new-token"): token = "new-token"
        if bug("t-progress-falls"): done = total - done
        if task and task.status in ENDS and not bug("t-progress-after-cancel"): return
        out = self.session.out if task else self.emit
        out({"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": token, "progress": done, "total": total, **({"_meta": {RELATED: {"taskId": task.id}}} if task else {})}})

    def cancelled(self):
        return self.stopped or bool(self.task and self.task.stop)

    def later(self, work):
        threading.Timer(0.3, work).start()

    def once(self):
        pass

    def roots_kept(self):
        return (self.server.roots if bug("q-roots-of-first-session") else self.session.roots) if not bug("q-roots-each-time") else None

    def keep_roots(self, roots):
        self.session.roots = roots
        if self.server.roots is None: self.server.roots = roots
        return roots
