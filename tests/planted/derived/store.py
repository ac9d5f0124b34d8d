"""Families of tools that keep things, in which one operation can be wrong."""
import json, threading, time, unicodedata, copy

TEXT = lambda **k: dict(type="string", **k)
FAMILIES = {
    # family: (names of the five tools, id field, id kind, wrapper, fields, how results look)
    "note": dict(tools=("create_note", "get_note", "update_note", "delete_note", "list_notes"), id="id", ids="text", result="structured", many="notes",
                 fields=dict(title=TEXT(maxLength=200), body=TEXT(), tags=dict(type="array", items=TEXT()))),
    "user": dict(tools=("addUser", "getUser", "updateUser", "removeUser", "listUsers"), id="userId", ids="int", result="text", many="users",
                 fields=dict(name=TEXT(), age=dict(type="integer"), active=dict(type="boolean"))),
    "order": dict(tools=("order_new", "order_show", "order_change", "order_cancel", "orders_all"), id="order_id", ids="text", result="structured", many="orders",
                  fields=dict(item=TEXT(), amount=dict(type="number"), address=dict(type="object", properties=dict(street=TEXT(), city=TEXT()), required=["street"]))),
    "setting": dict(tools=("set_setting", "read_setting", None, "unset_setting", "settings"), id="key", ids="given", result="text", many="settings",
                    fields=dict(value=TEXT())),
}

def ops(fam):
    """Every bug of a family, derived from (operation, effect) and its fields."""
    f = FAMILIES[fam]
    out = ["create.lost", "create.says-error", "create.error-stored", "create.trim", "create.lower", "create.truncate", "create.html", "create.falsy-lost",
           "create.ascii", "create.nfc", "create.newline", "create.hundredth", "create.overwrites", "create.invalid-stored",
           "get.previous", "get.first", "get.unknown-empty", "get.unknown-says", "get.changes", "get.deletes", "get.twentieth",
           "delete.list", "delete.get", "delete.neighbour", "delete.all", "delete.nothing", "delete.unknown-internal",
           "list.lags", "list.first-lost", "list.last-lost", "list.twice", "list.caps", "list.clears", "list.stale",
           "all.after-cancel", "all.race", "all.counter-overflow"]
    out += [f"create.default.{n}" for n in f["fields"]] + [f"get.drops.{n}" for n in f["fields"]] + [f"list.drops.{n}" for n in f["fields"]]
    if f["ids"] != "given": out += ["create.id-same"]
    if any(s["type"] in ("integer", "number") for s in f["fields"].values()): out += ["create.float", "create.int32"]
    if any(s["type"] == "array" for s in f["fields"].values()): out += ["create.dedup", "create.sort", "update.append"]
    if f["tools"][2]:
        out += ["update.nothing", "update.resets", "update.first-only", "update.neighbour", "update.unknown-creates", "update.unknown-says", "update.falsy-lost",
                "update.returns-old", "update.all-together", "update.stale", "update.not-idempotent"]
        out += [f"update.forgets.{n}" for n in f["fields"]]
    return out

class Failed(Exception): pass

class Store:
    def __init__(self, fam, bug=None):
        self.f, self.bug, self.rows, self.next, self.calls = FAMILIES[fam], bug or "", {}, 1, 0
        self.lock, self.cancelled, self.fam, self.seen, self.cache, self.deleted = threading.Lock(), False, fam, None, {}, {}
        self.gets = self.creates = 0

    def tools(self):
        f = self.f
        create, get, update, delete, many = f["tools"]
        key = {f["id"]: dict(type="integer") if f["ids"] == "int" else TEXT(minLength=1)}
        given = key if f["ids"] == "given" else {}
        row = dict(type="object", properties={**key, **f["fields"]}, required=list(key))
        closed = dict(additionalProperties=False)
        out = dict(outputSchema=row) if f["result"] == "structured" else {}
        yield dict(name=create, description=f"Creates a {self.fam}", inputSchema=dict(type="object", properties={**given, **f["fields"]}, required=list(given) + [list(f["fields"])[0]], **closed),
                   annotations=dict(readOnlyHint=False, idempotentHint=f["ids"] == "given"), **out)
        yield dict(name=get, description=f"Returns a {self.fam}", inputSchema=dict(type="object", properties=key, required=list(key), **closed), annotations=dict(readOnlyHint=True), **out)
        if update:
            yield dict(name=update, description=f"Changes fields of a {self.fam}", inputSchema=dict(type="object", properties={**key, **f["fields"]}, required=list(key), **closed),
                       annotations=dict(readOnlyHint=False, idempotentHint=True), **out)
        yield dict(name=delete, description=f"Deletes a {self.fam}", inputSchema=dict(type="object", properties=key, required=list(key), **closed),
                   annotations=dict(readOnlyHint=False, idempotentHint=False))
        out = dict(outputSchema=dict(type="object", properties={f["many"]: dict(type="array", items=row)}, required=[f["many"]])) if f["result"] == "structured" else {}
        yield dict(name=many, description=f"Lists every {self.fam}", inputSchema=dict(type="object", properties={}, **closed), annotations=dict(readOnlyHint=True), **out)

    def call(self, which, a):
        b, f = self.bug, self.f
        idf = f["id"]
        self.calls += 1
        if b == "all.counter-overflow" and self.calls > 127: raise RuntimeError("counter overflow")
        if b == "all.after-cancel" and self.cancelled: raise RuntimeError("connection is closed")
        if which == 0: return self.create(a)
        if which == 4:
            rows = [copy.deepcopy(r) for r in self.rows.values()]
            if b == "delete.list": rows += list(self.deleted.values())
            if b == "list.lags": rows = rows[:-1] if self.seen != len(rows) else rows; self.seen = len(self.rows)
            if b == "list.first-lost": rows = rows[1:]
            if b == "list.last-lost": rows = rows[:-1]
            if b == "list.twice" and rows: rows = rows + rows[-1:]
            if b == "list.caps": rows = rows[:10]
            if b == "list.clears": self.rows.clear()
            if b == "list.stale":
                self.cache.setdefault("list", rows); rows = self.cache["list"] = self.cache["list"] or rows
            if b.startswith("list.drops."): rows = [{k: v for k, v in r.items() if k != b[11:]} for r in rows]
            return {f["many"]: rows}
        key = a[idf]
        row = self.rows.get(key)
        if which == 1:
            self.gets += 1
            if b == "get.twentieth" and self.gets % 20 == 0: raise RuntimeError("pool exhausted")
            if row is None and b == "delete.get": row = self.deleted.get(key)
            if row is None:
                if b == "get.unknown-empty": return {idf: key}
                if b == "get.unknown-says": return f"Error: no {self.fam} {key}"
                raise Failed(f"no {self.fam} {key}")
            if b == "get.previous": row, self.seen = self.seen or row, row
            if b == "get.first": row = list(self.rows.values())[0]
            if b == "get.changes":
                n = list(f["fields"])[0]; old = copy.deepcopy(row); row[n] = str(row.get(n)) + "!"; return old
            if b == "get.deletes": self.rows.pop(key)
            if b == "update.stale": row = self.cache.setdefault(key, copy.deepcopy(row))
            return {k: v for k, v in row.items() if b != f"get.drops.{k}"}
        if which == 2:
            new = {k: v for k, v in a.items() if k != idf}
            if row is None:
                if b == "update.unknown-creates": self.rows[key] = {idf: key, **new}; return self.rows[key]
                if b == "update.unknown-says": return f"Error: no {self.fam} {key}"
                raise Failed(f"no {self.fam} {key}")
            old = copy.deepcopy(row)
            if b == "update.nothing": return {**row, **new}
            if b == "update.resets":
                for k in f["fields"]: row.pop(k, None)
            if b == "update.first-only": new = dict(list(new.items())[:1])
            if b == "update.falsy-lost": new = {k: v for k, v in new.items() if v}
            if b == "update.append": new = {k: (row.get(k) or []) + v if isinstance(v, list) else v for k, v in new.items()}
            if b == "update.all-together" and len(new) == len(f["fields"]): new.pop(list(new)[-1])
            if b.startswith("update.forgets."): new.pop(b[15:], None)
            if b == "update.not-idempotent" and new and all(row.get(k) == v for k, v in new.items()): raise RuntimeError("no row was changed")
            if b == "update.neighbour":
                others = [k for k in self.rows if k != key]
                if others: self.rows[others[-1]].update(copy.deepcopy(new))
            row.update(new)
            return old if b == "update.returns-old" else row
        if which == 3:
            if row is None:
                if b == "delete.unknown-internal": raise RuntimeError(f"KeyError: {key!r}")
                raise Failed(f"no {self.fam} {key}")
            if b != "delete.nothing":
                self.deleted[key] = self.rows.pop(key)
            if b == "delete.all": self.rows.clear()
            if b == "delete.neighbour" and self.rows: self.rows.popitem()
            return f"deleted {key}"

    def create(self, a):
        b, f = self.bug, self.f
        idf = f["id"]
        self.creates += 1
        if b == "create.hundredth" and self.creates >= 100: raise RuntimeError("too many rows")
        def each(v):
            if isinstance(v, dict): return {k: each(x) for k, x in v.items()}
            if isinstance(v, list):
                v = [each(x) for x in v]
                if b == "create.dedup": v = list(dict.fromkeys(v))
                if b == "create.sort": v = sorted(v)
                return v
            if isinstance(v, str):
                if b == "create.trim": v = v.strip()
                if b == "create.lower": v = v.lower()
                if b == "create.truncate": v = v[:64]
                if b == "create.html": v = v.replace("&", "&amp;").replace("<", "&lt;")
                if b == "create.ascii": v = v.encode("ascii", "replace").decode()
                if b == "create.nfc": v = unicodedata.normalize("NFC", v)
                if b == "create.newline": v = v.replace("\n", " ")
            if isinstance(v, (int, float)) and not isinstance(v, bool):
                if b == "create.float" and isinstance(v, int): v = int(float(v))
                if b == "create.int32" and isinstance(v, int): v = (v + 2**31) % 2**32 - 2**31
            return v
        fields = {k: each(v) for k, v in a.items() if k != idf}
        if b == "create.falsy-lost": fields = {k: v for k, v in fields.items() if v}
        if b.startswith("create.default."):
            n = b[15:]
            if n in fields: fields[n] = {"string": "", "array": [], "integer": 0, "number": 0, "boolean": False, "object": dict(street="")}[f["fields"][n]["type"]]
        n = self.next
        if b == "all.race": time.sleep(0.004)
        if b != "create.id-same" or n < 2: self.next = n + 1
        key = a[idf] if f["ids"] == "given" else n if f["ids"] == "int" else f"{self.fam[0]}{n}"
        row = {idf: key, **fields}
        if b == "create.overwrites": self.rows.clear()
        if b != "create.lost": self.rows[key] = row
        if b == "create.says-error": return f"Error: could not save the {self.fam}"
        if b == "create.error-stored": raise Failed("timeout while saving")
        return row if b in ("create.lost",) else {idf: key, **{k: v for k, v in a.items() if k != idf}}
