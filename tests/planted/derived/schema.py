"""A validator for JSON Schema 2020-12 and draft-07, in which one keyword at one place can be wrong.

`places` yields every keyword of a schema with its place, and `ops_of` the mistakes that can be made with it. Both are the table of bugs:
nobody chose them one by one.
"""
import json, math, re
from fractions import Fraction

def same(a, b):
    if isinstance(a, bool) or isinstance(b, bool):
        return isinstance(a, bool) and isinstance(b, bool) and a == b
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return a == b
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    return type(a) is type(b) and a == b

def is_type(v, t):
    return {
        "null": v is None, "boolean": isinstance(v, bool), "string": isinstance(v, str),
        "array": isinstance(v, list), "object": isinstance(v, dict),
        "number": isinstance(v, (int, float)) and not isinstance(v, bool),
        "integer": (isinstance(v, int) and not isinstance(v, bool)) or (isinstance(v, float) and v.is_integer()),
    }[t]

def numeric(text):
    try:
        float(text); return True
    except (TypeError, ValueError):
        return False

def op_type(op, t, v, right):
    ts = t if isinstance(t, list) else [t]
    if op == "null-accepted": return right or v is None
    if op == "number-text": return right or (isinstance(v, str) and numeric(v))
    if op == "fraction": return right or isinstance(v, float)
    if op == "integral-float-rejected": return right and not isinstance(v, float)
    if op == "bool-as-number": return right or isinstance(v, bool)
    if op == "truthy-text": return right or v in ("true", "false", "True", "False")
    if op == "zero-one": return right or (not isinstance(v, bool) and v in (0, 1)) if not isinstance(v, (list, dict, str)) else right
    if op == "number-to-text": return right or (isinstance(v, (int, float)) and not isinstance(v, bool))
    if op == "single-as-list": return right or (v is not None and not isinstance(v, (list, dict)))
    if op == "json-text": return right or (isinstance(v, str) and v[:1] in ("{", "["))
    if op == "list-as-object": return right or isinstance(v, list)
    if op == "object-as-list": return right or isinstance(v, dict)
    if op == "empty-text": return right or v == ""
    if op == "first-only": return is_type(v, ts[0])
    if op == "beyond-53-rejected": return right and not (isinstance(v, int) and abs(v) > 2**53)
    if op == "negative-rejected": return right and not (isinstance(v, (int, float)) and not isinstance(v, bool) and v < 0)
    raise KeyError(op)

TYPE_OPS = {
    "integer": ["null-accepted", "number-text", "fraction", "integral-float-rejected", "bool-as-number", "empty-text"],
    "number": ["null-accepted", "number-text", "bool-as-number"],
    "string": ["null-accepted", "number-to-text", "falsy-rejected"],
    "boolean": ["null-accepted", "truthy-text", "zero-one", "falsy-rejected"],
    "array": ["null-accepted", "single-as-list", "json-text", "object-as-list", "falsy-rejected"],
    "object": ["null-accepted", "json-text", "list-as-object", "falsy-rejected"],
    "null": ["empty-text"],
}

OPS = {
    "minimum": ["drop", "off", "exclusive"], "maximum": ["drop", "off", "exclusive"],
    "exclusiveMinimum": ["drop", "inclusive"], "exclusiveMaximum": ["drop", "inclusive"],
    "multipleOf": ["drop", "float", "rounded"],
    "minLength": ["drop", "off", "bytes", "utf16", "trim", "strict"], "maxLength": ["drop", "off", "bytes", "utf16", "trim", "strict"],
    "pattern": ["drop", "prefix", "search", "newline", "case", "full"],
    "enum": ["drop", "case", "space", "prefix", "type", "null", "first", "last-lost"],
    "const": ["drop", "case", "type", "prefix"],
    "required": ["drop", "first", "last", "null-as-missing", "falsy-as-missing", "count"],
    "additionalProperties": ["drop", "one", "value", "null"],
    "patternProperties": ["drop", "first-match"], "propertyNames": ["drop", "first"],
    "minProperties": ["drop", "off", "strict"], "maxProperties": ["drop", "off", "strict"],
    "dependentRequired": ["drop", "first"], "dependentSchemas": ["drop"], "dependencies": ["drop"],
    "items": ["drop", "first", "last", "not-empty"], "prefixItems": ["drop", "first", "short"], "additionalItems": ["drop"],
    "minItems": ["drop", "off", "strict"], "maxItems": ["drop", "off", "strict"],
    "contains": ["drop", "first"], "minContains": ["drop", "off"], "maxContains": ["drop", "off"],
    "uniqueItems": ["drop", "adjacent", "text", "scalars"],
    "allOf": ["drop", "first", "any"], "anyOf": ["drop", "first"], "oneOf": ["drop", "any", "first"],
    "not": ["drop"], "if": ["drop", "then-only", "else-only"],
    "$ref": ["drop", "siblings-lost", "depth"], "unevaluatedProperties": ["drop", "local"], "unevaluatedItems": ["drop"],
    "properties": ["drop-last", "drop-first", "null-skipped"],
}

def ops_of(kw, value):
    if kw == "type":
        out = []
        for t in (value if isinstance(value, list) else [value]):
            out += TYPE_OPS[t]
        ts = value if isinstance(value, list) else [value]
        if "null" in ts: out = [o for o in out if o != "null-accepted"]
        if "string" in ts: out = [o for o in out if o not in ("empty-text", "number-text", "truthy-text", "json-text")]
        if isinstance(value, list): out += ["first-only"]
        return ["drop"] + out
    if kw == "additionalProperties" and value is not False:
        return ["drop"] if value is not True else []
    if kw == "enum":
        texts = [x for x in value if isinstance(x, str)]
        return ["drop", "first", "last-lost", "null"] + (["case", "space", "prefix"] if texts else []) + (["type"] if len(texts) < len(value) or any(numeric(x) for x in texts) else [])
    if kw == "const":
        return ["drop"] + (["case", "prefix"] if isinstance(value, str) else ["type"])
    if kw == "items" and isinstance(value, list): return ["drop", "short"]
    if kw == "items" and value is False: return ["drop"]
    if kw == "required" and len(value) < 2: return ["drop", "null-as-missing", "falsy-as-missing"]
    return OPS.get(kw, [])

class Validator:
    def __init__(self, root, bug=None):
        self.root, self.bug, self.depth = root, bug or {}, 0
        self.old = "draft-07" in root.get("$schema", "")

    def op(self, ptr, kw):
        return self.bug.get("op") if self.bug.get("ptr") == ptr and self.bug.get("kw") == kw else None

    def valid(self, v):
        return self.run(self.root, v, "")[0]

    def ref(self, r):
        node, ptr = self.root, ""
        for part in r.lstrip("#").split("/")[1:]:
            node, ptr = node[part], ptr + "/" + part
        return node, ptr

    def run(self, s, v, ptr):
        """(verdict, evaluated property names, evaluated indexes)"""
        if s is True: return True, set(), set()
        if s is False: return False, set(), set()
        ok, props, idx = True, set(), set()
        def sub(schema, value, p):
            return self.run(schema, value, ptr + p)
        num = isinstance(v, (int, float)) and not isinstance(v, bool)
        keys = set(s)
        if "$ref" in s:
            o = self.op(ptr, "$ref")
            if o == "siblings-lost" or self.old:
                keys = {"$ref"}
            if o != "drop":
                node, p = self.ref(s["$ref"])
                self.depth += 1
                if not (o == "depth" and self.depth > 2):
                    r = self.run(node, v, p)
                    ok, props, idx = ok and r[0], props | r[1], idx | r[2]
                self.depth -= 1
        for kw in [k for k in s if k in keys]:
            o, k = self.op(ptr, kw), s[kw]
            if o == "drop": continue
            good = True
            if kw == "type":
                right = any(is_type(v, t) for t in (k if isinstance(k, list) else [k]))
                if o == "falsy-rejected": good = right and (v is None or bool(v))
                else: good = op_type(o, k, v, right) if o else right
                if not right and good and o: return True, props, idx
            elif kw == "enum":
                good = any(same(v, x) for x in k)
                t = v if isinstance(v, str) else None
                ks = [x for x in k if isinstance(x, str)]
                if o == "case" and t is not None: good = t.lower() in [x.lower() for x in ks]
                if o == "space" and t is not None: good = t.strip() in ks
                if o == "prefix" and t: good = any(x.startswith(t) for x in ks)
                if o == "type": good = str(v).lower() in [str(x).lower() for x in k] if not isinstance(v, str) else str(v) in [str(x) for x in k]
                if o == "null": good = good or v is None
                if o == "first": good = same(v, k[0])
                if o == "last-lost": good = any(same(v, x) for x in k[:-1])
            elif kw == "const":
                good = same(v, k)
                if o == "case" and isinstance(v, str): good = v.lower() == k.lower()
                if o == "type": good = str(v).lower() == str(k).lower()
                if o == "prefix" and isinstance(v, str): good = bool(v) and k.startswith(v)
            elif kw in ("minimum", "maximum") and num:
                sign = 1 if kw == "minimum" else -1
                good = sign * v >= sign * k
                if o == "off": good = sign * v >= sign * k - 1
                if o == "exclusive": good = sign * v > sign * k
            elif kw in ("exclusiveMinimum", "exclusiveMaximum") and num:
                sign = 1 if kw == "exclusiveMinimum" else -1
                good = sign * v > sign * k
                if o == "inclusive": good = sign * v >= sign * k
            elif kw == "multipleOf" and num:
                good = (Fraction(repr(v)) / Fraction(repr(k))).denominator == 1
                if o == "float": good = math.fmod(v, k) == 0
                if o == "rounded": good = abs(v / k - round(v / k)) < 0.3
            elif kw in ("minLength", "maxLength") and isinstance(v, str):
                n = len(v)
                if o == "bytes": n = len(v.encode("utf-8", "surrogatepass"))
                if o == "utf16": n = len(v.encode("utf-16-le", "surrogatepass")) // 2
                if o == "trim": n = len(v.strip())
                d = 1 if o == "off" else -1 if o == "strict" else 0
                good = n >= k - d if kw == "minLength" else n <= k + d
            elif kw == "pattern" and isinstance(v, str):
                p = k.replace("$", r"\Z") if k.endswith("$") else k
                f = re.search
                if o == "prefix": p, f = (k[:-1] if k.endswith("$") else k), re.match
                if o == "search": p = k.strip("^$")
                if o == "newline": p = k
                if o == "full": f = re.fullmatch
                good = bool(f(p, v, re.I if o == "case" else 0))
            elif kw in ("minItems", "maxItems") and isinstance(v, list) or kw in ("minProperties", "maxProperties") and isinstance(v, dict):
                d = 1 if o == "off" else -1 if o == "strict" else 0
                good = len(v) >= k - d if kw.startswith("min") else len(v) <= k + d
            elif kw == "uniqueItems" and k and isinstance(v, list):
                pairs = [(i, j) for i in range(len(v)) for j in range(i)]
                if o == "adjacent": pairs = [(i, j) for i, j in pairs if i - j == 1]
                if o == "scalars": pairs = [(i, j) for i, j in pairs if not isinstance(v[i], (list, dict))]
                good = not any(str(v[i]) == str(v[j]) if o == "text" else same(v[i], v[j]) for i, j in pairs)
            elif kw == "required" and isinstance(v, dict):
                need = k[:1] if o == "first" else k[-1:] if o == "last" else k
                good = all(n in v for n in need)
                if o == "null-as-missing": good = all(v.get(n) is not None for n in need)
                if o == "falsy-as-missing": good = all(v.get(n) for n in need)
                if o == "count": good = len(v) >= len(k)
            elif kw == "properties" and isinstance(v, dict):
                names = list(k)
                if o == "drop-last": names = names[:-1]
                if o == "drop-first": names = names[1:]
                for n in names:
                    if n in v:
                        if o == "null-skipped" and v[n] is None: continue
                        good = sub(k[n], v[n], f"/properties/{n}")[0] and good
                props |= {n for n in k if n in v}
            elif kw == "patternProperties" and isinstance(v, dict):
                for n in v:
                    for p in k:
                        if re.search(p, n):
                            props.add(n)
                            good = sub(k[p], v[n], f"/patternProperties/{p}")[0] and good
                            if o == "first-match": break
            elif kw == "additionalProperties" and isinstance(v, dict):
                rest = [n for n in v if n not in s.get("properties", {}) and not any(re.search(p, n) for p in s.get("patternProperties", {}))]
                if o == "one": rest = rest[1:]
                if o == "value": rest = [n for n in rest if not isinstance(v[n], str)]
                if o == "null": rest = [n for n in rest if v[n] is not None]
                good = all([sub(k, v[n], "/additionalProperties")[0] for n in rest])
                props |= set(rest)
            elif kw == "propertyNames" and isinstance(v, dict):
                names = list(v)[:1] if o == "first" else list(v)
                good = all(sub(k, n, "/propertyNames")[0] for n in names)
            elif kw == "dependentRequired" and isinstance(v, dict):
                good = all(d in v for n in k if n in v for d in (k[n][:1] if o == "first" else k[n]))
            elif kw in ("dependentSchemas", "dependencies") and isinstance(v, dict):
                for n in k:
                    if n in v:
                        if isinstance(k[n], list): good = all(d in v for d in k[n]) and good
                        else:
                            r = sub(k[n], v, f"/{kw}/{n}")
                            good, props = r[0] and good, props | r[1]
            elif kw in ("items", "prefixItems") and isinstance(k, list) and isinstance(v, list):
                for i, (x, y) in enumerate(zip(k, v)):
                    if o == "first" and i: break
                    good = sub(x, y, f"/{kw}/{i}")[0] and good
                if o == "short": good = good and len(v) >= len(k)
                idx |= set(range(min(len(k), len(v))))
            elif kw == "items" and isinstance(v, list):
                start = len(s.get("prefixItems", []))
                rest = list(range(start, len(v)))
                idx |= set(rest)
                if o == "first": rest = rest[:1]
                if o == "last": rest = rest[-1:]
                good = all(sub(k, v[i], "/items")[0] for i in rest)
                if o == "not-empty": good = good and len(v) > 0
            elif kw == "additionalItems" and isinstance(v, list) and isinstance(s.get("items"), list):
                good = all(sub(k, x, "/additionalItems")[0] for x in v[len(s["items"]):])
            elif kw == "contains" and isinstance(v, list):
                hits = [i for i, x in enumerate(v) if sub(k, x, "/contains")[0]]
                if o == "first": hits = hits if 0 in hits else []
                low, high = s.get("minContains", 1), s.get("maxContains", 10**9)
                if self.op(ptr, "minContains"): low = 1 if self.op(ptr, "minContains") == "drop" else low - 1
                if self.op(ptr, "maxContains"): high = 10**9 if self.op(ptr, "maxContains") == "drop" else high + 1
                good = low <= len(hits) <= high
                idx |= set(hits)
            elif kw in ("allOf", "anyOf", "oneOf"):
                part = k[:1] if o == "first" else k
                rs = [sub(x, v, f"/{kw}/{i}") for i, x in enumerate(part)]
                hits = [r for r in rs if r[0]]
                for r in hits: props, idx = props | r[1], idx | r[2]
                good = len(hits) == len(part) if kw == "allOf" and o != "any" else len(hits) == 1 if kw == "oneOf" and o != "any" else bool(hits)
            elif kw == "not":
                good = not sub(k, v, "/not")[0]
            elif kw == "if":
                r = sub(k, v, "/if")
                which = "then" if r[0] else "else"
                if r[0]: props, idx = props | r[1], idx | r[2]
                if which in s and o != ("else-only" if which == "then" else "then-only"):
                    b = sub(s[which], v, "/" + which)
                    good, props, idx = b[0], props | b[1], idx | b[2]
            ok = ok and good
        if "unevaluatedProperties" in keys and isinstance(v, dict) and self.op(ptr, "unevaluatedProperties") != "drop":
            if self.op(ptr, "unevaluatedProperties") == "local": rest = [n for n in v if n not in s.get("properties", {})]
            else: rest = [n for n in v if n not in props]
            ok = ok and all(sub(s["unevaluatedProperties"], v[n], "/unevaluatedProperties")[0] for n in rest)
            props |= set(rest)
        if "unevaluatedItems" in keys and isinstance(v, list) and self.op(ptr, "unevaluatedItems") != "drop":
            rest = [i for i in range(len(v)) if i not in idx]
            ok = ok and all(sub(s["unevaluatedItems"], v[i], "/unevaluatedItems")[0] for i in rest)
        return ok, props, idx

def places(s, ptr=""):
    """Every (pointer, keyword, value) of a schema."""
    if not isinstance(s, dict): return
    for kw, k in s.items():
        yield ptr, kw, k
        if kw in ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas"):
            for n in k: yield from places(k[n], f"{ptr}/{kw}/{n}")
        elif kw == "dependencies":
            for n in k: yield from places(k[n], f"{ptr}/{kw}/{n}")
        elif isinstance(k, list) and kw in ("allOf", "anyOf", "oneOf", "prefixItems", "items"):
            for i, x in enumerate(k): yield from places(x, f"{ptr}/{kw}/{i}")
        elif kw in ("items", "additionalProperties", "propertyNames", "contains", "then", "else", "additionalItems", "unevaluatedProperties", "unevaluatedItems"):
            yield from places(k, f"{ptr}/{kw}")
