# SPDX-License-Identifier: Apache-2.0
"""The Python package against the program: every question has the figures of --json, by value, in numpy, in pandas and through Arrow."""
import ctypes
import gc
import json
import os
import subprocess
import sys
import threading

import incore
import numpy
import pandas
import pytest
from incore import arrow

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
DATA = os.path.join(ROOT, "tests", "data")
BUILD = os.environ["INCORE_BUILD"]
PROGRAM = os.path.join(BUILD, "incore")
CAPTURES = ["gemm", "two_waves", "pc_sampling", "ascend_matmul", "sqtt_gfx12", "inline", "ncu/kernel.ncu-rep"]
QUESTIONS = [v for v in json.loads(subprocess.run([PROGRAM, "--help=json"], capture_output=True, text=True).stdout)["verbs"] if "http" in v["reach"]]
NAMES = [v["name"] for v in QUESTIONS if v["args"].startswith("PATH")]
CONSUMER = ctypes.CDLL(os.path.join(BUILD, "tests", "python", "arrow_consumer.so"))
CONSUMER.consume_array.restype = CONSUMER.consume_stream.restype = ctypes.c_int64


def program(*words):
    p = subprocess.run([PROGRAM, *words], capture_output=True, text=True)
    return p.returncode, json.loads(p.stdout or p.stderr)


def data(name):
    return os.path.join(DATA, name)


def pointer(capsule, name):
    get = ctypes.PyDLL(None).PyCapsule_GetPointer
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return ctypes.c_void_p(get(capsule, name))


def same_rows(table, frame, records):
    """pandas and numpy hold what the rows of Python do."""
    assert list(frame.columns) == list(records.dtype.names) == table.names
    assert len(set(table.names)) == len(table.names)
    for name in table.names:
        for want, got, item in zip(table[name], frame[name], records[name]):
            if want is None:
                assert pandas.isna(got) and (item is None or numpy.isnan(item))
            else:
                assert got == want and item == want, (table.name, name, want, got, item)


@pytest.mark.parametrize("capture", CAPTURES)
@pytest.mark.parametrize("question", NAMES)
def test_every_question(question, capture):
    path = data(capture)
    options = {"nothing": True} if question == "whatif" else {}
    status, printed = program(question, "--json", *(f"--{o}" for o in options), path)
    if status not in (0, 1):
        with pytest.raises(incore.Error) as e:
            getattr(incore.open(path), question)(**options)
        assert printed["error"]["message"] in str(e.value)
        return
    answer = getattr(incore.open(path), question)(**options)
    assert answer.json == printed
    assert answer.ok == (status == 0)
    for name in ["", *answer.tables]:
        same_rows(answer[name], answer[name].to_pandas(), answer[name].to_numpy())
    assert isinstance(answer, getattr(incore.questions, question.capitalize() + "Answer"))


def test_options_are_arguments():
    c = incore.open(data("gemm"))
    assert c.hot(by="line", top=3).json == program("hot", "--json", "--by", "line", "--top", "3", data("gemm"))[1]
    assert c.hot(simd=0, from_=100).json == program("hot", "--json", "--simd", "0", "--from", "100", data("gemm"))[1]
    assert len(c.hot(top=3).rows) == 3


def test_diff_and_gate():
    a, b = (data(f"repeated/ui_output_agent_1000_dispatch_{n}") for n in (7, 9))
    assert incore.diff(a, b, by="line").json == program("diff", "--json", "--by", "line", a, b)[1]
    failed = incore.diff(incore.open(a), incore.open(b), gate=["latency<=-50%"])
    assert failed.json == program("diff", "--json", "--gate", "latency<=-50%", a, b)[1]
    assert not failed.ok


def test_any_verb_is_asked_by_its_name():
    own, defects = (data(f"dumps/{name}") for name in ("own", "defects"))
    for verb, options, paths in (("dump ls", {"by": "task"}, [own]), ("dump show", {"top": 2}, [own]), ("dump check", {}, [defects]), ("dump diff", {}, [own, defects])):
        answer = incore.ask(verb, *paths, **options)
        status, printed = program(*verb.split(), "--json", *(f"--{k}={v}" for k, v in options.items()), *paths)
        assert answer.json == printed and answer.ok == (status == 0), verb
    assert [row["code"] for row in incore.ask("dump_check", defects)["counts"]] == [row["code"] for row in program("dump", "check", "--json", defects)[1]["data"]["counts"]]
    with pytest.raises(incore.UsageError):
        incore.ask("dump ls", own, by="colour")


def test_arrow_is_taken_without_a_copy():
    answer = incore.open(data("gemm")).hot(top="all")
    kept = len(arrow._kept)
    table = answer.rows
    for name in ("cycles", "hit", "isa", "waits_for_row"):
        schema, array = table.__arrow_c_array__()
        got = CONSUMER.consume_array(pointer(schema, b"arrow_schema"), pointer(array, b"arrow_array"), name.encode())
        values = [v for v in table[name] if v is not None]
        assert got == sum(len(v.encode()) if isinstance(v, str) else v for v in values)
    raw = numpy.asarray(table._owned.numbers(table.names.index("cycles")))
    first = table._owned.array.children[table.names.index("cycles")].contents.buffers[1]
    assert raw.__array_interface__["data"][0] == first
    del schema, array
    schema, array = answer.__arrow_c_array__()  # nobody takes it
    del schema, array
    gc.collect()
    assert len(arrow._kept) == kept and not arrow._held


def test_a_table_outlives_its_answer_and_capture():
    table = incore.open(data("gemm")).hot().rows
    column = table._owned.numbers(table.names.index("cycles"))
    want = list(column)
    del table
    gc.collect()
    assert list(column) == want and sum(want) > 0


def test_slices():
    c = incore.open(data("gemm"))
    exported = subprocess.run([PROGRAM, "export", "--to", "csv", "-o", "-", data("gemm")], capture_output=True, text=True).stdout.splitlines()
    batches = list(c.slices())
    assert sum(len(b) for b in batches) == len(exported) - 1
    frame, records = c.slices().to_pandas(), c.slices().to_numpy()
    assert len(frame) == len(records) == len(exported) - 1
    assert frame["duration"].sum() == records["duration"].sum() == sum(sum(b["duration"]) for b in batches)
    assert set(c.slices(simd=0).to_pandas()["track"]) < set(frame["track"])
    stream = c.slices()
    capsule = stream.__arrow_c_stream__()
    del c
    gc.collect()
    assert CONSUMER.consume_stream(pointer(capsule, b"arrow_array_stream"), b"duration") == frame["duration"].sum()
    with pytest.raises(ValueError):
        stream.__arrow_c_stream__()


def test_errors_carry_the_chain():
    c = incore.open(data("gemm"))
    for options, kind in (({"by": "nonsense"}, incore.UsageError), ({"se": "x"}, incore.UsageError)):
        with pytest.raises(kind) as e:
            c.hot(**options)
        assert e.value.code and str(e.value)
    status, printed = program("hot", "--json", data("bad_json"))
    with pytest.raises(incore.BadInput) as e:
        incore.open(data("bad_json")).hot()
    chain, link = [], e.value
    while link:
        chain.append((link.code, link.message))
        link = link.__cause__
    assert status == 3 and chain == [(link["code"], link["message"]) for link in (printed["error"], *printed["error"]["causes"])]
    assert (e.value.offset, e.value.line, e.value.path) == (printed["error"]["offset"], printed["error"]["line"], printed["error"]["path"])
    with pytest.raises(FileNotFoundError):
        incore.open("/nonexistent/capture")
    with pytest.raises(AttributeError, match="rows"):
        c.hot().nonsense
    with pytest.raises(KeyError, match="cycles"):
        c.hot().rows["nonsense"]


def test_threads_and_interrupts():
    results = []
    c = incore.open(data("gemm"))
    threads = [threading.Thread(target=lambda: results.append(c.hot().json)) for _ in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert len(results) == 4 and all(r == results[0] for r in results)
    code = ("import incore, os, signal, threading\n"
            "real = incore.native.lib.incore_ask\n"
            "def slow(*a):\n"
            "    os.kill(os.getpid(), signal.SIGINT)\n"
            "    return real(*a)\n"
            "class Lib:\n"
            "    def __getattr__(self, name): return slow if name == 'incore_ask' else getattr(incore.native.lib, name)\n"
            "import incore.capture\n"
            "incore.capture.lib = Lib()\n"
            f"incore.open({data('gemm')!r}).hot()\n")
    p = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "KeyboardInterrupt" in p.stderr and p.returncode in (1, -2, 130)


def test_what_is_shown():
    answer = incore.open(data("gemm")).hot(top=3)
    lines = str(answer.rows).splitlines()
    assert lines[0].split()[:3] == ["row", "address", "isa"] and "10,504" in lines[1] and "0x1644" in lines[1]
    page = answer._repr_html_()
    assert "<table>" in page and "10,504" in page and "cycles (cycles)" in page
    assert "number of the instruction in the listing" in page
    assert "what a row of the table is" in incore.Capture.hot.__doc__
    assert answer.scalars["found"] == 42 and "rows" in dir(answer)


@pytest.mark.parametrize("columns", ["80", "200"])
def test_a_wide_table_keeps_to_the_screen(monkeypatch, columns):
    monkeypatch.setenv("COLUMNS", columns)
    waves = incore.open(data("gemm")).waves().waves
    text = str(waves)
    assert max(map(len, text.splitlines())) <= int(columns) and "more columns" in text
    shown = {k.name for k, _ in waves._shown()}
    assert all(name in text.replace("\n ", "") for name in shown)


def test_names_from_a_file_cannot_forge_a_page_or_a_line():
    from incore.answer import _cell
    assert _cell("a\x1b[31m\nb", "") == "a\ufffd[31m\ufffdb"


@pytest.mark.parametrize("words, expected, status", [
    (["triton_lines.py", "gemm", "3"], "25.0 %  /kernels/gemm.py:17  waits 10,184 cycles for buffer_load_dwordx4", 0),
    (["triton_lines.py", "early_exit"], "cannot be trusted", 1),
    (["flydsl_verify.py", "repeated/ui_output_agent_1000_dispatch_7", "repeated/ui_output_agent_1000_dispatch_9"], "gemm.py:12: 141.5 -> 161.5", 1),
    (["flydsl_verify.py", "gemm", "gemm"], "gemm -> gemm", 0)])
def test_examples(words, expected, status):
    p = subprocess.run([sys.executable, os.path.join(ROOT, "examples", "python", words[0]), *words[1:]], cwd=DATA, capture_output=True, text=True)
    assert (p.returncode, expected in p.stdout + p.stderr) == (status, True), p.stdout + p.stderr
