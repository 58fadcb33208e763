#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the inputs of corpus/rocpd with chunks of thread traces: bytes in rows, files that are not there, a chunk that is missing.

usage: rocpd_corpus.py
"""
import os
import sqlite3

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(os.path.dirname(HERE), "data")


def make(name, rows):
    path = os.path.join(HERE, "corpus", "rocpd", name)
    if os.path.exists(path):
        os.remove(path)
    db = sqlite3.connect(path)
    db.execute("PRAGMA page_size = 512")
    db.execute("CREATE TABLE rocpd_gpu_thread_trace_chunk_0(id INTEGER PRIMARY KEY, agent_id INTEGER, shader_engine_id INTEGER, chunk_id, "
               "att_blob_id TEXT, binary_chunk_path TEXT, binary_chunk BLOB, binary_chunk_size BIGINT)")
    db.executemany("INSERT INTO rocpd_gpu_thread_trace_chunk_0 VALUES(NULL, ?, ?, ?, ?, ?, ?, ?)", rows)
    db.commit()
    db.close()


def stream(generation, se):
    with open(os.path.join(DATA, "sqtt_" + generation, "host", f"4242_1000_shader_engine_{se}_3.att"), "rb") as f:
        return f.read()[:1100]


def rows(generation, se, at, gone=()):
    data = stream(generation, se)
    parts = [data[a:b] for a, b in zip([0, *at], [*at, len(data)])]
    return [(1, se, k, f"3:1000:{se}:{k}", None, p, len(p)) for k, p in reversed(list(enumerate(parts))) if k not in gone]


make("chunks.db", rows("gfx12", 0, [101, 700]) + rows("gfx12", 1, [333]))
make("chunks_missing.db", rows("gfx9", 0, [64, 401, 402, 900], gone=(3,)) + [(1, 1, "0", None, "a/b.att", None, "12")])
