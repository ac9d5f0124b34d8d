"""Makes plans for `floor.rs` out of transcripts."""

import json

# Stands between ids, which may have anything else in them.
APART = "\x1f"


def frames(transcript):
    with open(transcript, encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            if "frame" in entry:
                yield entry["frame"]


def text_of(frame):
    if "message" in frame:
        return json.dumps(frame["message"], ensure_ascii=False, separators=(",", ":")).encode()
    return frame.get("text", "").encode()


def stdio_plan(transcript):
    asked, answered, plan = set(), {}, bytearray()
    for frame in frames(transcript):
        link, message = frame["link"], frame.get("message")
        key = json.dumps(message["id"], ensure_ascii=False) if isinstance(message, dict) and "id" in message else None
        if frame["from"] == "server":
            if (link, key) in asked:
                asked.discard((link, key))
                answered.setdefault(link, []).append(key)
        elif frame["kind"] in ("message", "junk"):
            if key and "method" in message:
                asked.add((link, key))
            text = text_of(frame)
            plan += f"{link}\t{APART.join(answered.pop(link, [])) or '-'}\t{len(text)}\n".encode() + text
    return plan


def http_plan(transcript, address):
    posts = {}
    for frame in frames(transcript):
        post = frame.get("post")
        if post is None:
            continue
        entry = posts.setdefault(post, {"first": frame["frame"]})
        if frame["kind"] == "http-request":
            entry["head"] = frame["http"]
        elif frame["from"] == "client":
            entry["body"] = text_of(frame)
        else:
            entry["last"] = frame["frame"]
            if frame["kind"] == "http-response":
                media = dict(frame["http"].get("headers", [])).get("content-type", "")
                entry["whole"] = "event-stream" not in media
            elif "ended" in frame:
                entry["whole"] = frame["ended"] == "complete"
    # A stream that the client left has no end to wait for.
    whole = {post: entry for post, entry in posts.items() if entry.get("whole") and "head" in entry}
    plan, told = bytearray(), set()
    for post, entry in sorted(whole.items(), key=lambda item: item[1]["first"]):
        after = [other for other, known in whole.items() if known["last"] < entry["first"] and other not in told]
        told.update(after)
        body, head = entry.get("body", b""), entry["head"]
        path = "/" + head["url"].split("://", 1)[1].split("/", 1)[1]
        lines = [f"{head['method']} {path} HTTP/1.1", f"host: {address}", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in head.get("headers", [])
                  if name not in ("host", "content-length", "connection")]
        request = "\r\n".join(lines).encode() + b"\r\n\r\n" + body
        plan += f"{post}\t{APART.join(map(str, after)) or '-'}\t{len(request)}\n".encode() + request
    return plan, len(whole), len(posts)
