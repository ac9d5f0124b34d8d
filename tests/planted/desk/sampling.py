"""Texts that a tool requests of the model of the client."""
import os, time
from asking import lacks
from base import BUG, Failed, Rpc, bug, text

LOOKUP = {"name": "lookup", "description": "Looks a word up.", "inputSchema": {"type": "object", "properties": {"word": {"type": "string"}}}}


def draft(ctx, a):
    """A text by the model of the client, which may use a tool where the client can."""
    if not ctx.can("sampling") and not bug("q-sampling-no-cap", "r-sampling-undeclared"): lacks(ctx, {"sampling": {}})
    with_tools = ctx.revision >= "2025-11-25" and (ctx.can("sampling", "tools") or bug("q-tools-no-cap", "q-toolchoice-no-cap", "r-tools-no-cap"))
    messages = [{"role": "user", "content": {"type": "text", "text": "Write a haiku."}}]
    if bug("q-sampling-history"): messages = ctx.server.history; messages.append({"role": "user", "content": {"type": "text", "text": "Write a haiku."}})
    params = {"messages": messages, "maxTokens": 100, "systemPrompt": "Be short.", "modelPreferences": {"hints": [{"name": "small"}], "costPriority": 0.5}}
    if with_tools: params.update(tools=[LOOKUP], toolChoice={"mode": "auto"})
    changes = {
        "no-max": lambda: params.pop("maxTokens"), "max-text": lambda: params.update(maxTokens="100"), "max-float": lambda: params.update(maxTokens=99.5), "max-zero": lambda: params.update(maxTokens=0), "max-snake": lambda: params.update(max_tokens=params.pop("maxTokens")),
        "messages-missing": lambda: params.pop("messages"), "messages-empty": lambda: params.update(messages=[]), "messages-object": lambda: params.update(messages=messages[0]), "prompt": lambda: params.update(messages="Write a haiku."),
        "role-system": lambda: messages.insert(0, {"role": "system", "content": {"type": "text", "text": "Be short."}}), "role-missing": lambda: messages[0].pop("role"), "content-text": lambda: messages[0].update(content="Write"),
        "content-missing": lambda: messages[0].pop("content"), "content-resource": lambda: messages[0].update(content={"type": "resource", "resource": {"uri": "file:///a", "text": "x"}}), "content-list": lambda: messages[0].update(content=[messages[0]["content"]]),
        "content-untyped": lambda: messages[0]["content"].pop("type"), "text-missing": lambda: messages[0]["content"].pop("text"), "image-no-mime": lambda: messages[0].update(content={"type": "image", "data": "AAAA"}), "image-data-url": lambda: messages[0].update(content={"type": "image", "data": "data:image/png;base64,AAAA", "mimeType": "image/png"}),
        "priority-10": lambda: params["modelPreferences"].update(costPriority=10), "priority-text": lambda: params["modelPreferences"].update(costPriority="high"), "hints-text": lambda: params["modelPreferences"].update(hints=["small"]), "hints-object": lambda: params["modelPreferences"].update(hints={"name": "small"}),
        "context-boolean": lambda: params.update(includeContext=True), "context-this": lambda: params.update(includeContext="thisServer"), "context-name": lambda: params.update(includeContext="shop"), "temperature-text": lambda: params.update(temperature="hot"), "stop-text": lambda: params.update(stopSequences="."),
        "choice-any": lambda: params.update(toolChoice={"mode": "any"}) if with_tools else 0, "choice-text": lambda: params.update(toolChoice="auto") if with_tools else 0, "tool-no-schema": lambda: params.update(tools=[{"name": "lookup"}]) if with_tools else 0,
        "tools-object": lambda: params.update(tools={"lookup": LOOKUP}) if with_tools else 0, "toolchoice-no-cap": lambda: params.pop("tools"), "tool-twice": lambda: params.update(tools=[LOOKUP, LOOKUP]) if with_tools else 0, "metadata-text": lambda: params.update(metadata="x"), "system-object": lambda: params.update(systemPrompt={"text": "x"}),
        "choice-without-tools": lambda: params.pop("tools") if with_tools else 0,
    }
    changes.get(BUG[2:], lambda: None)()
    for turn in range(10000 if bug("q-tool-loop-endless") else 4):
        found = ctx.ask(f"draft{turn}", "sampling/createMessage", params)
        if not isinstance(found, dict) or "content" not in found or not isinstance(found["content"], (dict, list)):
            if bug("q-sampling-malformed-internal"): raise Rpc(-32603, "TypeError")
            if bug("q-sampling-malformed-exits"): os._exit(3)
            if bug("q-sampling-malformed-hang"): time.sleep(3600)
            if bug("q-sampling-malformed-accepted"): return text(f"Draft: {found}")
            if ctx.modern: raise Rpc(-32602, "not a valid response")
            raise Failed("the response of the client is not valid")
        blocks = found["content"] if isinstance(found["content"], list) else [found["content"]]
        uses = [block for block in blocks if isinstance(block, dict) and block.get("type") == "tool_use"]
        if not uses or not with_tools:
            words = [block.get("text", "") for block in blocks if isinstance(block, dict)]
            if bug("q-sampling-other-content-internal") and not all(words): raise Rpc(-32603, "KeyError: text")
            return text("Draft: " + " ".join(words))
        results = [{"type": "tool_result", "toolUseId": use.get("id"), "content": [{"type": "text", "text": "a word"}]} for use in uses]
        variants = {
            "q-tool-result-made-up-id": lambda: results[0].update(toolUseId="x1"), "q-tool-result-text": lambda: results[0].update(content="a word"), "q-tool-result-mixed": lambda: results.insert(0, {"type": "text", "text": "Here:"}),
            "q-tool-result-second-missing": lambda: results.__delitem__(slice(1, None)), "q-tool-result-id-snake": lambda: results[0].update(tool_use_id=results[0].pop("toolUseId")), "q-tool-result-none": lambda: results.clear(), "q-tool-result-content-missing": lambda: results[0].pop("content"),
        }
        variants.get(BUG, lambda: None)()
        answer = [{"role": found.get("role", "assistant"), "content": found["content"]}]
        if bug("q-tool-use-dropped"): answer = []
        if bug("q-tool-use-no-input"): answer[0]["content"] = [{k: v for k, v in b.items() if k != "input"} for b in blocks]
        if bug("q-tool-results-split"): more = [{"role": "user", "content": [r]} for r in results]
        elif bug("q-tool-result-role"): more = [{"role": "tool", "content": results}]
        elif bug("q-tool-result-late"): more = [{"role": "assistant", "content": {"type": "text", "text": "..."}}, {"role": "user", "content": results}]
        else: more = [{"role": "user", "content": results}]
        params = {**params, "messages": params["messages"] + answer + more}
    raise Failed("the model uses tools again and again")
