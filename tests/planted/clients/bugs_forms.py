"""Bugs in what the client returns to the server."""

import urllib.request

from plain import Client
from plain_options import ANSWERS
from planting import BUGS, bug


# Forms.


def elicited(name, change):
    class Changed(Client):
        def elicited(self, params, declared):
            return change(self, params, super().elicited(params, declared))

    BUGS[name] = Changed


def result_of(change):
    def changed(client, params, response):
        return {"result": change(response["result"], params)} if "result" in response else response

    return changed


def fetched(client, params, response):
    if params.get("url"):
        try:
            urllib.request.urlopen(params["url"], timeout=2).read()
        except OSError:
            pass
    return response


elicited("form-cancel-with-content", result_of(lambda result, params: {**result, "content": {"name": "x"}} if result["action"] == "cancel" else result))
elicited("form-decline-with-content", result_of(lambda result, params: {**result, "content": {"name": "x"}} if result["action"] == "decline" else result))
elicited("form-decline-as-error", lambda client, params, response: {"error": {"code": -1, "message": "declined"}} if ANSWERS.get("elicitation") == "decline" else response)
elicited("form-cancel-as-error", lambda client, params, response: {"error": {"code": -1, "message": "cancelled"}} if ANSWERS.get("elicitation") == "cancel" else response)
elicited("form-cancel-accepted", result_of(lambda result, params: {"action": "accept", "content": {}} if result["action"] == "cancel" else result))
elicited("form-decline-as-cancel", result_of(lambda result, params: {"action": "cancel"} if result["action"] == "decline" else result))
elicited("form-action-rejected", result_of(lambda result, params: {"action": "reject"} if result["action"] == "decline" else result))
elicited("form-additional-field", result_of(lambda result, params: {**result, "content": {**result["content"], "client": "plain"}} if "content" in result else result))
elicited("form-content-beside", result_of(lambda result, params: {"action": result["action"], **result.get("content", {})}))
elicited("form-content-as-list", result_of(lambda result, params: {**result, "content": [result["content"]]} if "content" in result else result))
elicited("form-required-left-out", result_of(lambda result, params: {**result, "content": dict(list(result["content"].items())[1:])} if "content" in result else result))
elicited("form-null-values", result_of(lambda result, params: {**result, "content": {key: None for key in result["content"]}} if "content" in result else result))
elicited("url-fetched", fetched)
elicited("url-with-content", result_of(lambda result, params: {**result, "content": {"done": True}} if params.get("mode") == "url" else result))


@bug("unknown-mode-accepted")
class _(Client):
    def elicited(self, params, declared):
        return {"result": {"action": "accept", "content": {}}} if params.get("mode", "form") != "form" else super().elicited(params, declared)


@bug("undeclared-served")
class _(Client):
    def capabilities(self):
        return {} if not getattr(self, "serving", False) else {"roots": {}, "sampling": {}, "elicitation": {}}

    def serve(self, request):
        self.serving = True
        try:
            return super().serve(request)
        finally:
            self.serving = False
