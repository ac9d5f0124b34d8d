"""What both archives hold, and the fault that they have to commit: the variable FAULT names it."""

import base64
import os

FAULT = os.environ.get("FAULT", "")
PAGE = 3
PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
INTEGER = {"type": "object", "properties": {"entries": {"type": "integer"}}, "required": ["entries"]}
NOTHING = {"type": "object", "additionalProperties": False}
URI = {"type": "object", "properties": {"uri": {"type": "string"}}, "required": ["uri"]}
FIELDS = {"type": "object", "properties": {"reason": {"type": "string", "title": "Reason"}}, "required": ["reason"]}

# URI: MIME type and content.
entries = {f"archive://letters/{number}": ("text/plain", f"Letter number {number}\n") for number in range(1, 6)}
entries["archive://index"] = ("application/json", '{"letters": 5}')
entries["archive://seal"] = ("image/png", PICTURE)
entries["archive://scan"] = ("application/octet-stream", bytes([251, 255, 254, 0, 1, 2, 3]))
names = [f"person-{number:03}" for number in range(150)]


def planted(*faults):
    """Whether one of these is the fault."""
    return FAULT in faults


def page(cursor):
    """The URIs of a page, and the cursor of the next one; an unknown cursor is a ValueError."""
    start = 0 if cursor is None else int(cursor.removeprefix("from-"))
    if cursor is not None and cursor != f"from-{start}" or not 0 <= start < len(entries):
        raise ValueError(cursor)
    end = start + PAGE
    found = list(entries)[start - 1 if planted("repeated-entry") and start else start : end]
    return found, f"from-{end}" if end < len(entries) else None


def size(uri):
    content = entries[uri][1]
    if isinstance(content, bytes) and planted("size-of-base64"):
        return len(base64.b64encode(content))
    return len(content.encode() if isinstance(content, str) else content)


def starting_with(prefix):
    """Names for completion: those to send, how many there are, and whether there are more."""
    found = [name for name in names if name.startswith(prefix)]
    most = len(found) if planted("completion-all") else 100
    return found[:most], len(found), len(found) > most


def change(uri):
    """Writes another line into a text."""
    mime, text = entries[uri]
    entries[uri] = (mime, text + "Another line.\n")


def add():
    uri = f"archive://letters/{sum('letters' in uri for uri in entries) + 1}"
    entries[uri] = ("text/plain", "A new letter\n")
    return uri
