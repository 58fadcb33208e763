#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ui/answers.ts: the TypeScript types of the answers that the viewer reads, made of their JSON schemas. The program makes those of the
descriptions of its records; that of `view` is in schemas/. ui/panels/types.ts and ui/board/types.ts name the parts of an answer.

usage: answer_types.py INCORE [--write]     prints the types; --write: puts them into ui/answers.ts
"""
import collections
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FILE = os.path.join("ui", "answers.ts")
VERBS = ("check", "diff", "hot", "info", "isa", "occupancy", "store", "summary", "verdict", "waves")
WORDS_MIN, WORDS_MAX = 4, 8  # fewer need no name; a longer list grows often, and no page needs all of its words
WIDTH = 160
HEAD = """// SPDX-License-Identifier: Apache-2.0
// answers.ts: the answers of the verbs; made by tools/answer_types.py from their schemas, not by hand.
"""
PLAIN = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean", "null": "null", None: "unknown"}


def shape(schema):
    """What decides about the type, as text: no description, no unit, no limit."""
    if isinstance(schema, list):
        return [shape(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    if isinstance(schema.get("properties"), dict):
        schema = {**schema, "properties": {k: shape(v) for k, v in schema["properties"].items()}}
    return {k: v if k == "properties" else shape(v) for k, v in schema.items()
            if k in ("type", "properties", "required", "additionalProperties", "items", "enum", "const", "oneOf", "anyOf")}


def parts(schema):
    """Every object with members and every list of words in a shape."""
    if isinstance(schema, list):
        for s in schema:
            yield from parts(s)
    elif isinstance(schema, dict):
        for key, value in schema.items():
            yield from parts(list(value.values()) if key == "properties" else value)
        if schema.get("properties") or WORDS_MIN <= len(schema.get("enum", ())) <= WORDS_MAX:
            yield json.dumps(schema)


def filled(members, level):
    """As many members a line as it has room for."""
    lines = []
    for m in members:
        if lines and "\n" not in lines[-1] + m and len(lines[-1]) + len(m) + 2 + 4 * level <= WIDTH:
            lines[-1] += "; " + m
        else:
            lines.append(m)
    return lines


def words(schema):
    return " | ".join("null" if w is None else f"'{w}'" for w in schema.get("enum", [schema.get("const")]))


class Writer:
    """What occurs more than once has a name: that of the member that holds the first of them."""

    def __init__(self, shapes):
        self.counts = collections.Counter(p for s in shapes for p in parts(s))
        self.names, self.text = {}, ""

    def named(self, schema, key, make):
        same = json.dumps(schema)
        if self.counts[same] < 2:
            return None
        if same not in self.names:
            name = base = "".join(word.capitalize() for word in key.split("_"))
            while name in self.names.values():
                name = f"{base}{sum(n.rstrip('0123456789') == base for n in self.names.values()) + 1}"
            self.names[same] = name
            made = make(schema)
            self.text += f"type {name} = {made};\n"
        return self.names[same]

    def members(self, schema, level):
        required = schema.get("required", ())
        out = [f"{key}{'' if key in required else '?'}: {self.type(value, key, level)}" for key, value in schema["properties"].items()]
        if isinstance(schema.get("additionalProperties"), dict):
            out.append(f"[key: string]: {self.type(schema['additionalProperties'], '', level)}")
        return out

    def literal(self, schema, level=0):
        members = self.members(schema, level + 1)
        line = "{ " + "; ".join(members) + " }"
        if len(line) + 4 * level <= WIDTH and "\n" not in line:
            return line
        return "{\n" + "".join("\t" * (level + 1) + m + ";\n" for m in filled(members, level + 1)) + "\t" * level + "}"

    def union(self, schemas, key, level):
        return " | ".join(dict.fromkeys(self.type(s, key, level) for s in schemas))

    def array(self, items, key, level):
        if isinstance(items, list):
            return "[" + ", ".join(self.type(i, key, level) for i in items) + "]"
        item = self.type(items, key, level)
        return f"({item})[]" if " | " in item.split("{")[0] else item + "[]"

    def object(self, schema, key, level):
        if schema.get("properties"):
            return self.named(schema, key, self.literal) or self.literal(schema, level)
        other = schema.get("additionalProperties")
        return f"Record<string, {self.type(other, key, level) if isinstance(other, dict) else 'unknown'}>"

    def type(self, schema, key, level=0):
        kind = schema.get("type")
        if "oneOf" in schema or "anyOf" in schema:
            return self.union(schema.get("oneOf") or schema["anyOf"], key, level)
        if len(schema.get("enum", ())) > WORDS_MAX:
            return "string | null" if None in schema["enum"] else "string"
        if "enum" in schema or "const" in schema:
            return self.named(schema, key, words) or words(schema)
        if isinstance(kind, list):
            return self.union([{**schema, "type": k} for k in kind], key, level)
        if kind == "array":
            return self.array(schema.get("items", {}), key, level)
        return self.object(schema, key, level) if kind == "object" else PLAIN[kind]


def text(program):
    shapes = {}
    for verb in VERBS:
        p = subprocess.run([program, "--schema", verb], capture_output=True, check=True)
        shapes[verb] = shape(json.loads(p.stdout)["properties"]["data"])
    with open(os.path.join(ROOT, "schemas", "incore.view.1.schema.json")) as f:
        shapes["view"] = shape(json.load(f)["oneOf"][1])
    w = Writer(shapes.values())
    answers = ""
    for verb, s in shapes.items():
        variants = [w.type(v, verb, 1) for v in s.get("anyOf", [s])]
        answers += f"export type {verb.capitalize()}Answer =" + "".join("\n\t| " + v for v in variants) + ";\n"
    return HEAD + w.text + answers


def main():
    if "--write" not in sys.argv:
        print(text(sys.argv[1]), end="")
        return
    made = text(sys.argv[1])
    with open(os.path.join(ROOT, FILE), "w") as f:
        f.write(made)


if __name__ == "__main__":
    main()
