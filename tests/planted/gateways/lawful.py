"""What a gateway may do: each way is on if GATEWAY_LAWFUL names it. The rules must find nothing."""
import copy

from bug import lawful, on

LISTS = {"tools/list": "tools", "prompts/list": "prompts", "resources/list": "resources", "resources/templates/list": "resourceTemplates"}
CHANGES = {"notifications/tools/list_changed": "tools/list", "notifications/prompts/list_changed": "prompts/list",
           "notifications/resources/list_changed": "resources/list"}
PREFIX = "up_"
OWN_TOKEN = "gateway-"
OWN = {"name": "gateway_status", "description": "The state of the gateway.", "inputSchema": {"type": "object"}}


class Ways:
    """The state of one session."""

    def __init__(self):
        self.cursors, self.cache = {}, {}

    def known(self, m):
        """The response of the gateway itself: an error, or the result of an earlier request for the same page until the list changes."""
        if lawful("no-completions") and m.get("method") == "completion/complete":
            return {"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "Method not found"}}
        if (lawful("cache") or on("lists-cached")) and m.get("method") in LISTS and not (m.get("params") or {}).get("_meta"):
            result = self.cache.get((m["method"], (m.get("params") or {}).get("cursor")))
            return result and {"jsonrpc": "2.0", "id": m["id"], "result": copy.deepcopy(result)}

    def up(self, m):
        m = copy.deepcopy(m)
        method, params = m.get("method"), m.get("params")
        if isinstance(params, dict):
            if lawful("prefix"):
                named = [params] if method in ("tools/call", "prompts/get") else [params.get("ref")]
                for place in named:
                    if isinstance(place, dict) and str(place.get("name", "")).startswith(PREFIX):
                        place["name"] = place["name"][len(PREFIX):]
            if lawful("own-cursors") and params.get("cursor") in self.cursors:
                params["cursor"] = self.cursors[params["cursor"]]
            if lawful("own-meta") and method and "id" in m:
                params.setdefault("_meta", {})["com.example.gateway/hop"] = 1
            if (lawful("own-progress") or on("progress-unrequested")) and method == "tools/call" and "id" in m:
                params.setdefault("_meta", {}).setdefault("progressToken", f"{OWN_TOKEN}{m['id']}")
            if lawful("own-info") and method == "initialize":
                params["clientInfo"] = {"name": "gateway", "version": "1"}
            if lawful("no-sampling") and method == "initialize":
                params.get("capabilities", {}).pop("sampling", None)
        return m

    def down(self, m, method, params):
        m = copy.deepcopy(m)
        if m.get("method") in CHANGES and not on("lists-cached"):
            for key in [k for k in self.cache if k[0] == CHANGES[m["method"]]]:
                del self.cache[key]
        result = m.get("result")
        if not isinstance(result, dict):
            return m
        if method == "initialize" and lawful("own-info"):
            result["serverInfo"] = {"name": "gateway", "version": "1"}
        if method == "initialize" and lawful("no-completions"):
            result.get("capabilities", {}).pop("completions", None)
        items = result.get(LISTS.get(method))
        if isinstance(items, list):
            if lawful("prefix") and method in ("tools/list", "prompts/list"):
                for item in items:
                    item["name"] = PREFIX + item["name"]
            if lawful("aggregated") and method == "tools/list" and "nextCursor" not in result:
                items.append(OWN)
            if lawful("sorted"):
                items.sort(key=lambda item: str(item.get("name")))
            if lawful("own-cursors") and "nextCursor" in result:
                own = f"gw-{len(self.cursors)}"
                self.cursors[own] = result["nextCursor"]
                result["nextCursor"] = own
            if lawful("cache") or on("lists-cached"):
                self.cache[(method, (params or {}).get("cursor"))] = copy.deepcopy(result)
        if lawful("own-meta") and method != "initialize":
            result.setdefault("_meta", {})["com.example.gateway/hop"] = 1
        return m
