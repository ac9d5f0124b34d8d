"""The actions of plain.py."""

import threading
import time

from plain_options import ANSWERS, LISTS, MOST_PAGES, NEEDS, Failed, report


class Actions:
    """A part of the client."""

    def offered(self, action):
        has, what = self.server.get("capabilities", {}), action["do"]
        if what in ("subscribe", "unsubscribe", "setLevel", "ping") and self.is_modern:
            return False
        if what in ("subscribe", "unsubscribe"):
            return has.get("resources", {}).get("subscribe", False)
        part = {"templates": "resources"}.get(action["of"], action["of"]) if what == "list" else NEEDS.get(what)
        return part is None or part in has or part == "completions" and self.revision == "2024-11-05"

    def pages(self, of, params, action, most):
        method, field = LISTS[of]
        cursors, cursor = set(), None
        for _ in range(most):
            result = self.request(method, {**params, **({"cursor": cursor} if cursor is not None else {})}, action)
            yield result.get(field) or []
            cursor = self.next_cursor(result)
            if cursor is None or cursor in cursors:
                return
            cursors.add(cursor)

    def next_cursor(self, result):
        return result.get("nextCursor")

    def list(self, action):
        of, pages = action["of"], action.get("pages", "all")
        params = {name: action[name] for name in ("uri", "prefix") if name in action}
        items = [item for page in self.pages(of, params, action, MOST_PAGES if pages == "all" else pages) for item in page]
        if of == "tools":
            items = [tool for tool in items if self.transport.can_call(tool)]
            self.tools.update({tool["name"]: tool for tool in items})
        return items

    def walk(self, action):
        found, lists = {}, [self.pages("resources", {}, {}, MOST_PAGES)]
        for _ in range(MOST_PAGES):
            if not lists:
                break
            pages = lists.pop(0)
            try:
                page = next(pages, None)
            except Failed:
                continue
            if page is None:
                continue
            lists.append(pages)
            for resource in page:
                if resource["uri"] not in found:
                    found[resource["uri"]] = resource
                    if (resource.get("capabilities") or {}).get("list"):
                        lists.append(self.pages("resources", {"uri": resource["uri"]}, {}, MOST_PAGES))
        return list(found.values())

    def call(self, action):
        params = {"name": action["name"], "arguments": action.get("arguments") or {}}
        try:
            return self.request("tools/call", params, action)
        except Failed as error:
            if error.code != -32020 or not self.is_modern:
                raise
        # The headers of the arguments were wrong: the schema may have changed.
        self.list({"of": "tools"})
        return self.request("tools/call", params, action)

    def perform(self, action):
        what = action["do"]
        if not self.offered(action):
            raise Failed("unsupported", f"the server does not offer what {what} needs")
        if what in ("list", "walk", "call"):
            return getattr(self, what)(action)
        if what == "discover":
            return self.discover() if self.is_modern else {}
        simple = {
            "ping": ("ping", []), "read": ("resources/read", ["uri"]), "get": ("prompts/get", ["name", "arguments"]),
            "complete": ("completion/complete", ["ref", "argument", "context"]), "setLevel": ("logging/setLevel", ["level"]),
            "subscribe": ("resources/subscribe", ["uri"]), "unsubscribe": ("resources/unsubscribe", ["uri"]),
        }
        if what in simple:
            method, fields = simple[what]
            return self.request(method, {field: action[field] for field in fields if action.get(field) is not None}, action)
        return getattr(self, f"do_{what}")(action)

    def do_listen(self, action):
        if not self.is_modern:
            raise Failed("unsupported", "subscriptions/listen is of a later revision")
        self.listens.append(action)
        self.subscription = self.start("subscriptions/listen", {"notifications": action["notifications"]}, action)
        return {}

    def do_roots(self, action):
        ANSWERS["roots"] = action["uris"]
        if not self.is_modern and self.capabilities().get("roots", {}).get("listChanged"):
            self.notify("notifications/roots/list_changed")
        return {}

    def do_cancel(self, action):
        waiting = self.running.get(str(action["action"]))
        if waiting and not waiting.done.is_set():
            self.cancel(waiting, "The result is not needed any more")
        return {}

    def do_wait(self, action):
        time.sleep(action["ms"] / 1000)
        return {}

    def do_parallel(self, action):
        number = action["number"]
        threads = [self.begin(one, f"{number}.{at}") for at, one in enumerate(action["actions"])]
        for thread in threads:
            thread.join()
        return {}

    def begin(self, action, number):
        thread = threading.Thread(target=self.carry_out, args=(action, number), daemon=True)
        thread.start()
        return thread

    def carry_out(self, action, number):
        try:
            report(number, ok=True, result=self.perform({**action, "number": str(number)}))
        except Failed as error:
            report(number, ok=False, kind=error.kind, message=str(error))
