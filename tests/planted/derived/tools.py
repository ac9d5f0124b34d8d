"""Tools whose schemas put every keyword at every kind of place, by rotation."""
S = lambda **k: dict(type="string", **k)
I = lambda **k: dict(type="integer", **k)
N = lambda **k: dict(type="number", **k)
LEAVES = [
    ("short", S(minLength=2, maxLength=6)),
    ("code", S(pattern="^[A-Z]{2}-[0-9]{3}$")),
    ("slug", S(pattern="[a-z]+[0-9]")),
    ("color", S(enum=["red", "green", "dark blue"])),
    ("level", dict(enum=[1, 2, "high", None])),
    ("kind", dict(const="Report")),
    ("count", I(minimum=3, maximum=17)),
    ("ratio", N(exclusiveMinimum=0, exclusiveMaximum=1)),
    ("step", I(multipleOf=7)),
    ("price", N(multipleOf=0.01, minimum=0)),
    ("flag", dict(type="boolean")),
    ("maybe", dict(type=["string", "null"], maxLength=4)),
    ("tags", dict(type="array", items=S(minLength=1), minItems=1, maxItems=4, uniqueItems=True)),
    ("rows", dict(type="array", items=dict(type="object", properties=dict(x=I(), y=S()), required=["x", "y"]), uniqueItems=True)),
    ("votes", dict(type="array", items=I(), contains=dict(minimum=10), minContains=2, maxContains=3)),
    ("any_ok", dict(type="array", contains=dict(const="ok"))),
    ("bag", dict(type="object", minProperties=1, maxProperties=3, additionalProperties=I())),
    ("named", dict(type="object", propertyNames=dict(pattern="^[a-z]+$"), additionalProperties=S())),
    ("attrs", dict(type="object", patternProperties={"^n_": I(), "_s$": S()}, additionalProperties=False)),
    ("card", dict(type="object", properties=dict(card=S(), cvv=S(), zip=S()), dependentRequired=dict(card=["cvv", "zip"]))),
    ("ship", dict(type="object", properties=dict(gift=dict(type="boolean"), note=S()), dependentSchemas=dict(gift=dict(required=["note"])))),
    ("area", dict(type="object", properties=dict(unit=S(enum=["m", "ft"]), size=I()), required=["unit", "size"],
      **{"if": dict(properties=dict(unit=dict(const="m"))), "then": dict(properties=dict(size=dict(maximum=100))), "else": dict(properties=dict(size=dict(minimum=1000)))})),
    ("nope", {"type": "string", "not": dict(enum=["root", "admin"])}),
    ("once", dict(type="integer", oneOf=[dict(multipleOf=3), dict(multipleOf=5)])),
    ("either", dict(anyOf=[S(minLength=3), I(minimum=100)])),
    ("both", dict(allOf=[dict(type="integer", minimum=5), dict(maximum=9)])),
    ("shape", dict(oneOf=[
        dict(type="object", properties=dict(t=dict(const="circle"), r=N(minimum=0)), required=["t", "r"], additionalProperties=False),
        dict(type="object", properties=dict(t=dict(const="box"), w=I(), h=I()), required=["t", "w", "h"], additionalProperties=False)])),
    ("sealed", dict(type="object", allOf=[dict(properties=dict(a=S()), required=["a"])], properties=dict(b=I()), unevaluatedProperties=False)),
    ("pair", dict(type="array", prefixItems=[S(), I()], items=False)),
    ("tail", dict(type="array", prefixItems=[S(), I()], unevaluatedItems=False)),
    ("rest", dict(type="array", prefixItems=[S()], items=I(), minItems=1)),
    ("closed", dict(type="object", properties=dict(p=S(), q=I()), required=["p", "q"], additionalProperties=False)),
    ("deep", dict(type="object", properties=dict(in1=dict(type="object", properties=dict(in2=dict(type="object", properties=dict(z=I(maximum=4)), required=["z"], additionalProperties=False)), required=["in2"])), required=["in1"])),
]
OLD = [
    ("deps", dict(type="object", properties=dict(user=S(), password=S(), mode=S()), dependencies=dict(user=["password"], mode=dict(required=["user"])))),
    ("tuple", dict(type="array", items=[S(), I()], additionalItems=False)),
]
RECURSIVE = dict(type="object", properties=dict(tree={"$ref": "#/$defs/node"}), required=["tree"],
    **{"$defs": dict(node=dict(type="object", properties=dict(value=I(minimum=0), kids=dict(type="array", items={"$ref": "#/$defs/node"})), required=["value"]))})
SIBLING = dict(type="object", properties=dict(name={"$ref": "#/$defs/text", "maxLength": 8}), required=["name"], **{"$defs": dict(text=S(minLength=3))})

def top(**p): return dict(type="object", properties=p, required=list(p))
def at(place, name, leaf):
    """(schema of a property, name, root additions)"""
    return [
        lambda: leaf,
        lambda: top(**{name: leaf}),
        lambda: dict(type="array", items=leaf, maxItems=5),
        lambda: dict(type="array", items=top(**{name: leaf})),
        lambda: dict(type="object", additionalProperties=leaf),
        lambda: {"$ref": "#/$defs/" + name},
        lambda: {"allOf": [leaf]},
        lambda: {"anyOf": [leaf, {"type": "null"}]},
        lambda: top(inner=top(**{name: leaf})),
        lambda: dict(type="array", prefixItems=[leaf]),
        lambda: dict(type="object", patternProperties={"^k": leaf}),
    ][place]()

def tools():
    out = []
    n = len(LEAVES)
    for i, (name, leaf) in enumerate(LEAVES):
        schema = dict(type="object", properties={}, required=[])
        for j, (place, (nm, lf)) in enumerate([(i % 3 if i % 2 else 0, (name, leaf)), ((i * 5 + 4) % 11, LEAVES[(i * 7 + 3) % n])]):
            field = nm if j == 0 else "opt_" + nm
            schema["properties"][field] = at(place, nm, lf)
            if place == 5: schema.setdefault("$defs", {})[nm] = lf
            if j == 0: schema["required"].append(field)
        if i % 3 == 0: schema["additionalProperties"] = False
        out.append((f"{['check','format','compute','measure','render'][i % 5]}_{name}", schema))
    for name, leaf in OLD:
        out.append((f"legacy_{name}", {"$schema": "http://json-schema.org/draft-07/schema#", **top(**{name: leaf, "again": dict(type="array", items=leaf)})}))
    out.append(("walk_tree", RECURSIVE))
    out.append(("say_name", SIBLING))
    return out
