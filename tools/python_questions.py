#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes python/incore's questions.py: a method a question, with its options as typed arguments, and a class an answer, with its tables and
values; names, types and sentences are those of `incore --help=json`.

usage: python_questions.py INCORE > questions.py
"""
import json
import keyword
import subprocess
import sys
import textwrap

TYPES = {"integer": "int", "number": "float", "text": "str", "boolean": "bool", "value": "Any"}
# The lists and values of an answer are attributes: these names are methods already.
TAKEN = {"json", "ok", "warnings", "tables", "scalars", "question"}
HEAD = '''# SPDX-License-Identifier: Apache-2.0
# Made by tools/python_questions.py from the tables of the program.
"""The questions, a method each, and what their answers hold."""
from __future__ import annotations

from typing import Any, Dict, Literal, Mapping, Optional, Sequence, TypedDict, Union

from .answer import Answer, Table
'''


def camel(*words):
    return "".join(w[:1].upper() + w[1:] for word in words for w in word.replace("-", "_").replace(".", "_").split("_"))


def sentence(text):
    """Of a docstring: one line, whatever it holds."""
    return text.replace("\\", "\\\\").replace('"""', "'''")


def merged(answers):
    """Answers of one question differ by the kind of capture: all that one may hold."""
    values, tables = {}, {}
    for answer in answers:
        for value in answer["values"]:
            values.setdefault(value["name"], value)
        for table in answer["tables"]:
            known = tables.setdefault(table["name"], {"doc": table["doc"], "columns": {}})
            for column in table["columns"]:
                known["columns"].setdefault(column["name"], column)
    return values, tables


def unit(thing):
    return f"{thing['doc']} ({thing['unit']})" if thing["unit"] else thing["doc"]


def answer_class(question, answers):
    values, tables = merged(answers)
    out = []
    for name, table in tables.items():
        row = camel(question, name, "row")
        out.append(f"{row} = TypedDict(\"{row}\", {{")
        out += [f"    {json.dumps(c['name'])}: Optional[{TYPES[c['type']]}],  # {unit(c)}" for c in table["columns"].values()]
        out += ["}, total=False)", ""]
    out += ["", f"class {camel(question)}Answer(Answer):", f'    """The answer to `{question}`.', ""]
    out += [f"    {name}: {sentence(table['doc'] or 'a list')}" for name, table in tables.items()]
    out += [f"    {name}: {sentence(unit(value))}" for name, value in values.items()]
    out.append('    """')
    for name in tables:
        if name.isidentifier() and not keyword.iskeyword(name) and name not in TAKEN:
            out.append(f"    {name}: Table[{camel(question, name, 'row')}]")
    for name, value in values.items():
        if name.isidentifier() and not keyword.iskeyword(name) and name not in TAKEN and name not in tables:
            out.append(f"    {name}: Optional[{TYPES[value['type']]}]")
    return "\n".join(out) + "\n"


def argument(option):
    name = option["name"].replace("-", "_")
    kind = {"choice": "Literal[" + ", ".join(json.dumps(c) for c in option["choices"] or []) + "]", "flag": "bool", "count": "int",
            "many": "Sequence[str]"}.get(option["type"], "Union[str, int]")
    return (name + "_" if keyword.iskeyword(name) else name), kind


def method(verb, options):
    name = camel(verb["name"]) + "Answer"
    arguments = ["self", "*"] + [f"{n}: Optional[{kind}] = None" for n, kind in map(argument, options)]
    lines = textwrap.wrap(", ".join(arguments), 120, break_long_words=False, break_on_hyphens=False)
    doc = [f'        """{sentence(verb["summary"][:1].upper() + verb["summary"][1:])}.', ""]
    doc += [f"        {argument(o)[0]}: {sentence(o['help'])}" + (f" [{o['default']}]" if o["default"] else "") for o in options] + ['        """']
    given = [f'"{o["name"]}": {argument(o)[0]}' for o in options]
    body = textwrap.wrap(", ".join(given), 110, break_long_words=False, break_on_hyphens=False)
    return "\n".join([f"    def {verb['name']}(" + ("\n" + " " * 12).join(lines) + f") -> {name}:", *doc,
                      f"        return {name}(*self._ask(\"{verb['name']}\", {{" + ("\n" + " " * 12).join(body) + "}))", ""])


def main():
    described = json.loads(subprocess.run([sys.argv[1], "--help=json"], check=True, stdout=subprocess.PIPE, text=True).stdout)
    questions = [v for v in described["verbs"] if "http" in v["reach"]]
    out = [HEAD]
    for verb in questions:
        out += ["", answer_class(verb["name"], verb["answers"])]
    out += ["", "class Questions:", '    """A capture to ask."""', "",
            "    def _ask(self, question: str, options: Mapping[str, Any]) -> Any:",
            '        """What makes an answer of it: the session, the handle, the question."""', "        raise NotImplementedError", ""]
    for verb in questions:
        if verb["args"].startswith("PATH"):
            out.append(method(verb, [o for o in verb["options"] if o["group"] != "Common" and o["name"] != "csv"]))
    sys.stdout.write("\n".join(out).rstrip() + "\n")


if __name__ == "__main__":
    main()
