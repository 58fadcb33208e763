# SPDX-License-Identifier: Apache-2.0
"""The kernels of kernels/, what they are run with, and what the model must say of their broken twins.

A twin is made from the source: a line that has `// bug NAME: CODE` becomes CODE in the twin NAME, and is empty where
CODE is. So the lines of a twin are those of the kernel. BUGS names, per kernel and twin, what must be reported: the
kind of the finding, and texts of source lines whose numbers its report must name; two ops of a race in this order,
but where they are of two cores: those have none.
"""
import os
import re

HERE = os.path.dirname(os.path.abspath(__file__))
KERNELS = os.path.join(HERE, "kernels")


def f32(slot, *shape, **kw):
    return tensor(slot, "f32", shape, **kw)


def tensor(slot, dtype, shape, fill=""):
    return f"{slot}={dtype}[{','.join(map(str, shape))}]" + (f":{fill}" if fill else "")


# name: (core, arguments, more options)
RUNS = {
    "vec_add": ("aiv", [f32(0, 64, 64), f32(1, 64, 64), f32(2, 64, 64, fill="out")]),
    "vec_add_double": ("aiv", [tensor(0, "f16", (256, 128)), tensor(1, "f16", (256, 128)),
                               tensor(2, "f16", (256, 128), "out")]),
    "softmax": ("aiv", [f32(0, 64, 128), tensor(1, "f16", (64, 128), "out"), "2=f32:0.125"]),
    "rms_norm": ("aiv", [f32(0, 16, 256), f32(1, 256), f32(2, 16, 256, fill="out")]),
    "binary": ("aiv", [f32(0, 32, 64), f32(1, 32, 64), f32(2, 32, 64, fill="out")]),
    "scalar_ops": ("aiv", [f32(0, 32, 64), f32(1, 32, 64, fill="out")]),
    "reductions": ("aiv", [f32(0, 64, 64), f32(1, 4, 64, fill="out"), f32(2, 64, fill="out")]),
    "expands": ("aiv", [f32(0, 32, 64), f32(1, 64), f32(2, 32), f32(3, 32, 64, fill="out")]),
    "shuffle": ("aiv", [f32(0, 30, 60), f32(1, 64, 64, fill="out")]),
    "gather": ("aiv", [f32(0, 16, 64), tensor(1, "i32", (16, 64)), f32(2, 16, 64, fill="out"),
                       f32(3, 16, 32, fill="out"), f32(4, 16, 64, fill="out")]),
    "topk": ("aiv", [f32(0, 1024), f32(1, 64, fill="out"), tensor(2, "u32", (64,), "out")]),
    "gemm": ("aic", [tensor(0, "f16", (128, 512)), tensor(1, "f16", (512, 128)), f32(2, 128, 128, fill="out")]),
    "cube_extra": ("aic", [tensor(0, "f16", (64, 64)), tensor(1, "f16", (64, 64)), f32(2, 64),
                           tensor(3, "u64", (64,)), f32(4, 64, 64, fill="out"), tensor(5, "i8", (64, 64), "out")]),
    "conv": ("aic", [tensor(0, "f16", (10, 16, 16)), tensor(1, "f16", (144, 64)), tensor(2, "f16", (128, 64), "out")]),
    "gather_l1": ("aic", [tensor(0, "f16", (64, 64)), tensor(1, "i32", (64,)), f32(2, 64, 64, fill="out")]),
    "dynamic": ("aiv", [f32(0, 40, 150), f32(1, 40, 150, fill="out")]),
    "data_loop": ("aiv", [f32(0, 8, 16, 64), tensor(1, "i32", (1,), "value5"), tensor(2, "i32", (8,), "value3"),
                          f32(3, 16, 64, fill="out")]),
    "blocks": ("aiv", [f32(0, 64, 64), f32(1, 8, 64, fill="out")], ["--blocks", "2"]),
    "registers": ("aiv", [f32(0, 8, 64, fill="out")]),
    "comm": ("aiv", [f32(0, 16, 64), f32(1, 16, 64, fill="out"), tensor(2, "i32", (1,), "out")]),
    "mix_c2v": ("mix", [tensor(0, "f16", (6, 64, 64)), tensor(1, "f16", (64, 64)), f32(2, 6, 64, 64, fill="out"),
                        f32(3, 4, 64, 64, fill="out")]),
    "mix_both": ("mix", [f32(0, 4, 64, 64), f32(1, 64, 64), f32(2, 4, 64, 64, fill="out"),
                         f32(3, 4, 64, 64, fill="out")]),
    "mix_flags": ("mix", [tensor(0, "f16", (32, 32), "out"), f32(1, 32, 32, fill="out"), f32(2, 32, 32, fill="out")]),
    "attention": ("mix", [tensor(0, "f16", (32, 64)), tensor(1, "f16", (256, 64)), tensor(2, "f16", (256, 64)),
                          f32(3, 32, 64, fill="out"), f32(4, 2, 32, 64, fill="out"),
                          tensor(5, "f16", (2, 32, 64), "out")]),
    "a5_mix_c2v": ("mix", [tensor(0, "f16", (4, 64, 64)), f32(1, 4, 64, 64, fill="out")], ["--arch", "a5"]),
    "a5_mx": ("aic", [tensor(0, "f8e4m3", (64, 64)), tensor(1, "f8e4m3", (64, 64)), tensor(2, "f8e8m0", (64, 2)),
                      tensor(3, "f8e8m0", (2, 64)), tensor(4, "bf16", (64, 64), "out")], ["--arch", "a5"]),
    "a5_flags": ("mix", [f32(0, 2, 16, 64, fill="out")], ["--arch", "a5"]),
}

RACE, WAIT, LEFT, DOUBLE, BAD, DEAD = "race", "unmatched-wait", "flag-left-set", "double-set", "bad-flag", "deadlock"
BARRIER = "missing-barrier"
ERROR = "error"  # the run itself stops, exit status 3, nothing written

BUGS = {
    "vec_add": {
        "race": (RACE, ["TLOAD(a, x)", "TADD(c, a, b)"]),
        "missing": (WAIT, ["wait_flag(PIPE_MTE2, PIPE_V"]),
        "leak": (LEFT, ["set_flag(PIPE_MTE2, PIPE_V"]),
        "double": (DOUBLE, ["set_flag(PIPE_MTE2, PIPE_V"]),
        "badid": (BAD, ["set_flag(PIPE_V, PIPE_MTE3"]),
        "bounds": (ERROR, ["TLOAD(a, x)"]),
        "gm": (ERROR, ["TLOAD(b, y)"]),
    },
    "vec_add_double": {
        "race": (RACE, ["TSTORE(z, c[i])", "TADD(c[i], a[i], b[i])"]),
        "buffer": (RACE, ["TADD(c[i], a[i], b[i])", "TLOAD(b[i], y)"]),
        "deadlock": (WAIT, ["wait_flag(PIPE_V, PIPE_MTE2, (event_t)i); // bug deadlock"]),
        "leak": (LEFT, ["set_flag(PIPE_V, PIPE_MTE2, (event_t)i);"]),
    },
    "softmax": {"race": (RACE, ["TROWEXPANDSUB(e, x, top)", "TLOAD(x, gx)"]),
                "barrier": (BARRIER, ["TROWMAX(top, x, tmp)", "TROWEXPANDSUB(e, x, top)"])},
    "rms_norm": {"race": (RACE, ["TLOAD(w, gw)", "TCOLEXPANDMUL(x, x, w)"]),
                 "waw": (BARRIER, ["TEXPANDS(g, 1.0f)", "TRSQRT(g, f, tmp)"]), "war": (BARRIER, ["TRSQRT(g, f, tmp)", "TSQRT(f, f)"])},
    "binary": {"leak": (LEFT, ["set_flag(PIPE_MTE2, PIPE_V, EVENT_ID3)"])},
    "reductions": {
        "race": (RACE, ["TLOAD(x, gx)", "TROWSUM(c, x, tmp)"]),
        "bounds": (ERROR, ["TSTORE(gr, all)"]),
    },
    "gather": {"race": (RACE, ["TGATHER<Half, Ub", "TSTORE(gh, h)"])},
    "topk": {"deadlock": (WAIT, ["wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0)"])},
    "gemm": {
        "race": (RACE, ["TMATMUL", "TEXTRACT(a0[i]"]),
        "deadlock": (DEAD, ["wait_flag(PIPE_M, PIPE_MTE1, (event_t)(2 + i))", "wait_flag(PIPE_MTE1, PIPE_M"]),
        "leak": (LEFT, ["set_flag(PIPE_MTE1, PIPE_MTE2, (event_t)i); // bug deadlock"]),
    },
    "cube_extra": {"race": (RACE, ["TMATMUL<AccPhase::Final>", "TMOV(d1, c)"])},
    "conv": {"race": (RACE, ["TMATMUL(c, a, b)", "TIMG2COL(a, x"])},
    "gather_l1": {"leak": (LEFT, ["set_flag(PIPE_MTE2, PIPE_MTE1"])},
    "dynamic": {"bounds": (ERROR, ["TLOAD(x, gx)"])},
    "data_loop": {
        "value": (ERROR, ["GetValue"]),
        "race": (RACE, ["TADD(sum, sum, x)", "TLOAD(x, gx)"]),
    },
    "blocks": {"race": (RACE, ["TSTORE<Ub, Gm", "TLOAD(x, gx)"])},
    "registers": {"race": (RACE, ["TSTORE(gx, x)", "x.SetValue(1"])},
    "mix_c2v": {
        "race": (RACE, ["TPUSH", "TMATMUL(c, a0, b0)"]),
        "deadlock": (WAIT, ["TPOP"]),
    },
    "mix_both": {"race": (RACE, ["TLOAD(x, gx)", "TMULS(y, x"])},
    "mix_flags": {
        "race": (RACE, ["TSTORE(gc, c)", "TLOAD(c, gc)"]),
        "deadlock": (DEAD, ["wait_flag_dev(3)", "bug deadlock: TEXPANDS"]),
    },
    "attention": {
        "race": (RACE, ["TMOV(b0, v1)", "TLOAD(v1, gv)"]),
        "deadlock": (WAIT, ["TPOP<Probs"]),
    },
    "a5_mix_c2v": {"deadlock": (WAIT, ["TPUSH"])},
    "a5_mx": {"race": (RACE, ["TEXTRACT(a0", "TMATMUL_MX(c, a0, sa0, b0, sb0);"])},
    "a5_flags": {"race": (RACE, ["TSTORE(g, a)", "TLOAD(a, g0)"])},
}


def source(name):
    with open(os.path.join(KERNELS, f"{name}.cpp")) as f:
        return f.read().splitlines()


def twin(name, bug):
    """The lines of the kernel with one bug planted (None: none, the marks alone are gone)."""
    out, planted = [], 0
    for line in source(name):
        code, *marks = re.split(r"\s*// bug ", line)
        for mark in marks:
            what, _, instead = mark.partition(":")
            if what == bug:
                code, planted = instead.strip(), planted + 1
        out.append(code)
    if bug and not planted:
        raise KeyError(f"{name}: no line is marked with bug {bug}")
    return out


def lines_with(name, text):
    """Numbers of the lines that have a text, at least one."""
    found = [i for i, line in enumerate(source(name), 1) if text in line]
    if not found:
        raise KeyError(f"{name}: no line has {text}")
    return found
