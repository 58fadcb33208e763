# SPDX-License-Identifier: Apache-2.0
"""Does a value keep to a JSON Schema? What our schemas use of draft 7, without references; another keyword is an error."""
import json
import re

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None), "number": (int, float), "integer": int}
WORDS = {"$schema", "$id", "title", "description", "definitions", "x-unit", "default", "examples"}  # say nothing of values


def is_number(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def is_type(names):
    names = [names] if isinstance(names, str) else names
    classes = tuple(c for n in names for c in (TYPES[n] if isinstance(TYPES[n], tuple) else (TYPES[n],)))
    is_bool, is_whole = "boolean" in names, "integer" in names
    return lambda v: is_bool if isinstance(v, bool) else isinstance(v, classes) or is_whole and isinstance(v, float) and v.is_integer()


def is_one_of(values):
    assert not any(isinstance(value, (dict, list)) for value in values)
    pairs = [(isinstance(value, bool), value) for value in values]  # True is not 1 here
    return lambda v: (isinstance(v, bool), v) in pairs


def members(known, other):
    known, other = {k: valid(s) for k, s in known.items()}, valid(other)
    return lambda v: not isinstance(v, dict) or all(known.get(k, other)(x) for k, x in v.items())


def each(schema):
    if isinstance(schema, list):
        places = [valid(s) for s in schema]
        return lambda v: not isinstance(v, list) or all(is_good(x) for is_good, x in zip(places, v))
    is_good = valid(schema)
    return lambda v: not isinstance(v, list) or all(map(is_good, v))


def of_several(schemas, is_enough):
    them = [valid(s) for s in schemas]
    return lambda v: is_enough(sum(is_good(v) for is_good in them))


KEYWORDS = {
    "type": is_type,
    "enum": is_one_of,
    "const": lambda value: is_one_of([value]),
    "required": lambda names: lambda v: not isinstance(v, dict) or all(n in v for n in names),
    "items": each,
    "minItems": lambda n: lambda v: not isinstance(v, list) or len(v) >= n,
    "maxItems": lambda n: lambda v: not isinstance(v, list) or len(v) <= n,
    "minLength": lambda n: lambda v: not isinstance(v, str) or len(v) >= n,
    "maxLength": lambda n: lambda v: not isinstance(v, str) or len(v) <= n,
    "minimum": lambda n: lambda v: not is_number(v) or v >= n,
    "maximum": lambda n: lambda v: not is_number(v) or v <= n,
    "pattern": lambda text: lambda v: not isinstance(v, str) or bool(re.search(text, v)),
    "allOf": lambda schemas: of_several(schemas, lambda n: n == len(schemas)),
    "anyOf": lambda schemas: of_several(schemas, lambda n: n > 0),
    "oneOf": lambda schemas: of_several(schemas, lambda n: n == 1),
}


def valid(schema):
    """A function that says whether a value keeps to it."""
    if isinstance(schema, bool):
        return lambda _: schema
    rules = [KEYWORDS[k](value) for k, value in schema.items() if k not in WORDS | {"properties", "additionalProperties"}]
    if "properties" in schema or "additionalProperties" in schema:
        rules.append(members(schema.get("properties", {}), schema.get("additionalProperties", True)))
    if len(rules) == 1:
        return rules[0]
    return lambda v: all(is_good(v) for is_good in rules)


def places(value, at=()):
    """Ways to what is in it, of a list to the first and the last element alone."""
    if at:
        yield at
    inside = value.items() if isinstance(value, dict) else [(i, value[i]) for i in {0, len(value) - 1}] if isinstance(value, list) and value else []
    for key, x in inside:
        yield from places(x, (*at, key))


def damages(value, most):
    """The value; then with parts of it of another kind, left out, or beside one too many."""
    yield value
    ways = list(places(value))
    for at in ways[::-(-len(ways) // most)] if ways else []:
        for wrong in (None, -1, "\u2028", True, [[]], {"": {}}):
            copy = json.loads(json.dumps(value))
            node = copy
            for key in at[:-1]:
                node = node[key]
            node[at[-1]] = wrong
            yield copy
        if isinstance(node, dict):
            del node[at[-1]]
            yield copy
            node["of no schema"] = 1
            yield copy
