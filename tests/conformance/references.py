# SPDX-License-Identifier: Apache-2.0
"""references.py: the reference tables and headline figures, and each correction of a published claim."""
from facts import weight

# sum of lifetimes, issue, wait, stall, idle, drain, recorded stall
ACCOUNTING = {
    "topk_gating_softmax": (292572, 128088, 64664, 67644, 19888, 12288, 132308),
    "flash_attn_before": (2978172, 1139676, 831492, 845064, 124108, 37832, 1677652),
    "flash_attn_after29": (3283808, 1276256, 879592, 951900, 138308, 37752, 1832612),
    "flash_attn_unmapped": (184640, 70936, 39664, 53072, 11352, 9616, 92796),
    "pa_mqa_double 234": (286968, 115752, 89956, 54816, 20580, 5864, 144776),
    "pa_mqa_double 236": (273428, 99048, 95292, 56388, 17608, 5092, 151696),
    "mla_decode_earlyexit": (47828, 1848, 41940, 1524, 1900, 616, 43464),
    "vec_add": (3775012, 49616, 1798164, 303028, 46196, 1578008, 2101364),
    "layernorm": (81192, 24444, 40420, 5552, 4964, 5812, 45972),
    "fused_rope_cache": (18724, 3064, 12200, 208, 872, 2380, 12412),
    "hgemm_splitk": (85876, 14176, 48500, 9688, 4212, 9300, 58220),
    "pa_decode": (119116, 31908, 44200, 25836, 12536, 4636, 70036),
    "rmsnorm": (345916, 68684, 179108, 60284, 14088, 23752, 239392),
    "preshuffle_gemm_v2": (1759540, 322028, 1240640, 156808, 36936, 3128, 1397448),
    "moe_blockscale": (566524, 93732, 256756, 200664, 14284, 1088, 457420),
}

# inside the buckets: waits of s_waitcnt, of s_barrier, stall of s_nop, of the rest, head, mid, tail
PARTS = {
    "topk_gating_softmax": (64664, 0, 44828, 22816, 992, 18896, 0),
    "flash_attn_before": (764548, 66944, 222576, 622488, 992, 123116, 0),
    "vec_add": (1798164, 0, 0, 303028, 19596, 26148, 452),
}

# blocking: key -> cycles; free and blocked waits
BLOCKING = {
    "topk_gating_softmax": ({"VMEM-load": 7208, "LDS-xlane": 33908, "SMEM": 23548}, 407, 1065),
    "flash_attn_before": ({"VMEM-load": 54092, "VMEM-to-LDS": 431364, "LDS": 231380, "SMEM": 42588,
                           "(drained)": 5124}, 12408, 5832),
    "vec_add": ({"VMEM-load": 1728428, "SMEM": 69736}, 17, 1247),
    "rmsnorm": ({"VMEM-load": 98432, "LDS": 5108, "LDS-xlane": 10248, "SMEM": 32248, "LDS+SMEM": 540}, 416, 1008),
    "preshuffle_gemm_v2": ({"VMEM-load": 132560, "LDS": 558212, "SMEM": 9408, "LDS & VMEM-load": 322912,
                            "(drained)": 6048}, 3016, 15416),
    "hgemm_splitk": ({"VMEM-to-LDS": 30800, "LDS": 1088, "SMEM": 6552, "VMEM-atomic": 1356,
                      "LDS & VMEM-load": 352, "(drained)": 64}, 89, 53),
    "mla_decode_earlyexit": ({"VMEM-load": 5852, "SMEM": 36088}, 0, 64),
}

# capture, opcode, counter, to LDS: n, min, median, p95, max
LATENCY = [
    ("topk_gating_softmax", "ds_bpermute_b32", "lgkmcnt", False, (1344, 56, 60, 76, 152)),
    ("topk_gating_softmax", "buffer_load_dwordx4", "vmcnt", False, (64, 208, 312, 436, 480)),
    ("vec_add", "buffer_load_dwordx4", "vmcnt", False, (632, 796, 2732, 4168, 5192)),
    ("flash_attn_before", "buffer_load_dwordx4", "vmcnt", True, (960, 112, 552, 812, 1680)),
    ("flash_attn_before", "ds_read_b128", "lgkmcnt", False, (7936, 56, 60, 228, 844)),
    ("mla_decode_earlyexit", "s_load_dwordx2", "lgkmcnt", False, (32, 1052, 1220, 1240, 1244)),
]

# recorded stall hidden by other waves of the SIMD
HIDDEN = {
    "topk_gating_softmax": 73080, "rmsnorm": 126524, "pa_mqa_double 234": 51212, "pa_mqa_double 236": 34388,
    "flash_attn_before": 428440, "pa_decode": 17832, "vec_add": 174452, "mla_decode_earlyexit": 976,
    "flash_attn_unmapped": 0, "fused_rope_cache": 0, "hgemm_splitk": 0, "layernorm": 0, "moe_blockscale": 0,
    "preshuffle_gemm_v2": 0,
}
HIDDEN_BUCKETS = {
    "topk_gating_softmax": {"wait": 20348, "stall": 52732, "idle": 8840, "drain": 3504},
    "vec_add": {"drain": 115348},
}

# resident SIMD-cycles, then issue cycles by class of the report
UTILIZATION = {
    "topk_gating_softmax": (156360, {"VALU": 96104, "LDS": 10744, "scalar": 7688, "VMEM": 2604}),
    "flash_attn_before": (2136816, {"VALU": 891964, "MATRIX": 64004, "LDS": 95416, "scalar": 42452, "VMEM": 20224}),
    "vec_add": (514416, {"scalar": 30660, "VALU": 10260, "VMEM": 8520}),
}

STATE_SHARES = {  # EXEC, WAIT, STALL in percent
    "topk_gating_softmax": (50.2, 41.6, 7.8), "flash_attn_before": (42.3, 36.7, 21.0),
    "vec_add": (2.0, 89.4, 8.0), "preshuffle_gemm_v2": (19.3, 70.9, 9.8),
}

OCCUPANCY = {  # span, peak, mean, share of the span below half of the peak in percent
    "topk_gating_softmax": (10268, 256, 229.8, 9.3), "flash_attn_before": (176992, 256, 145.7, 40.5),
    "pa_decode": (12180, 256, 39.4, 88.9), "rmsnorm": (7496, 512, 379.4, 24.4),
    "vec_add": (32548, 1024, 915.3, 4.5),
}
SPAN_US = {"topk_gating_softmax": 4.69, "flash_attn_before": 85.27, "vec_add": 14.83}

LIMITS = {  # arch, accum, VGPR limit, LDS limit (None: none or unknown), grid, observed peak
    "flash_attn_before": (248, 0, 2, 3, 2, 2), "mla_decode_earlyexit": (256, 0, 2, 2, 2, 2),
    "pa_decode": (176, 16, 2, 12, 4, 2), "hgemm_splitk": (120, 0, 4, 1, 1, 1), "layernorm": (72, 0, 7, "8+", 1, 1),
    "preshuffle_gemm_v2": (104, 0, 4, None, 1, 1), "rmsnorm": (64, 0, 8, "8+", 4, 4),
    "topk_gating_softmax": (56, 0, 8, None, 2, 2), "vec_add": (16, 0, 8, None, 40, 8),
}

# header row: executions per wave -> waves; iterations, min, median, max
LOOPS = {
    "flash_attn_before": {942: ({1: 4, 3: 4, 5: 4, 6: 4, 9: 4, 11: 4, 13: 4, 14: 4}, (216, 8412, 10348, 14024))},
    "flash_attn_after29": {942: ({1: 4, 3: 4, 7: 4, 8: 4, 9: 4, 11: 4, 15: 4, 16: 4}, (248, 8488, 10368, 14652))},
    "preshuffle_gemm_v2": {104: ({63: 12}, (744, 1900, 2220, 2536))},
    "moe_blockscale": {275: ({27: 4}, (104, 4668, 4772, 5036))},
    "pa_mqa_double 234": {193: ({2: 28}, (28, 1784, 2536, 3640))},
    "pa_mqa_double 236": {193: ({2: 24}, (24, 1784, 2440, 3652))},
    "hgemm_splitk": {420: (None, (0, 0, 0, 0))},
    "pa_decode": {350: (None, (0, 0, 0, 0)), 179: (None, (0, 0, 0, 0))},
}
LATCHES = {"flash_attn_before": {942: 941}, "flash_attn_after29": {942: 941}, "preshuffle_gemm_v2": {104: 205},
           "moe_blockscale": {275: 452}, "pa_mqa_double 234": {193: 489}, "pa_mqa_double 236": {193: 489},
           "hgemm_splitk": {420: 425}, "pa_decode": {350: 934, 179: 178}}
NO_LOOPS = ("topk_gating_softmax", "vec_add", "layernorm", "rmsnorm", "fused_rope_cache")

BY_LATENCY = {  # share of the top line in percent, exp(entropy)
    "topk_gating_softmax": (97.4, 1.17), "flash_attn_before": (81.3, 1.85), "flash_attn_after29": (55.4, 6.90),
    "moe_blockscale": (26.8, 6.35),
}


def percent(part, whole):
    return 100.0 * part / whole


def accounting(r, d, name):
    hot = d.ask(name, "hot", "--top", "all")
    a, want = hot["accounting"], ACCOUNTING[name]
    keys = ("duration", "issue", "wait", "stall", "idle", "drain")
    for key, value in zip(keys, want):
        r.one(f"{name}.accounting.{key}", a[key], value)
    r.one(f"{name}.totals.stall", hot["totals"]["stall"], want[6])
    r.one(f"{name}.accounting residue", a["duration"] - sum(a[k] for k in keys[1:]), 0)
    waves = d.ask(name, "waves", "--top", "all")["waves"]
    wrong = [w["file"] for w in waves
             if sum(w["accounting"][k] for k in keys[1:]) != w["duration"] or w["duration"] != w["end"] - w["begin"]]
    r.one(f"{name}: waves whose buckets do not add up to their duration", wrong, [])


def parts(r, d, name):
    by_opcode = {g["key"]: g["buckets"] for g in d.ask(name, "hot", "--by", "opcode", "--top", "all")["groups"]}
    causes = {g["key"]: g["cycles"] for g in d.ask(name, "hot", "--by", "cause", "--top", "all")["groups"]}
    a = d.ask(name, "hot", "--top", "all")["accounting"]
    nop = by_opcode.get("s_nop", {}).get("stall", 0)
    got = (by_opcode["s_waitcnt"]["wait"], by_opcode.get("s_barrier", {}).get("wait", 0), nop, a["stall"] - nop,
           causes.get("launch", 0), sum(v for k, v in causes.items() if k.startswith("gap:")), causes.get("tail", 0))
    r.same(f"{name}.parts of the buckets", list(got), list(PARTS[name]))


def producers(r, d, name):
    want, free, blocked = BLOCKING[name]
    answer = d.ask(name, "hot", "--by", "producer", "--top", "all")
    got = {g["key"]: g["wait"] for g in answer["groups"] if g["wait"]}
    r.same(f"{name}.producers (blocking)", got, want)
    r.one(f"{name}.waits.free", answer["waits"]["free"], free)
    r.one(f"{name}.waits.blocked", answer["waits"]["blocked"], blocked)
    total = sum(got.values()) + answer["barrier"] + answer["sleep"]
    r.one(f"{name}: producers + barrier + sleep", total, answer["accounting"]["wait"])


def latency(r, d):
    for name, opcode, counter, to_lds, want in LATENCY:
        found = [e["cycles"] for e in d.ask(name, "isa")["latency"]
                 if (e["opcode"], e["counter"], e["to_lds"]) == (opcode, counter, to_lds)]
        path = f"{name}.latency of {opcode}"
        r.one(path + ": found", len(found), 1)
        if found:
            r.same(path, [found[0][k] for k in ("n", "min", "median", "p95", "max")], list(want))


def hidden(r, d, name):
    h = d.ask(name, "summary")["hidden"]
    r.one(f"{name}.hidden recorded stall", h["recorded_stall"]["hidden"], HIDDEN[name])
    for bucket, want in HIDDEN_BUCKETS.get(name, {}).items():
        r.one(f"{name}.hidden.{bucket}", h[bucket]["hidden"], want)


def utilization(r, d, name):
    resident, classes = UTILIZATION[name]
    u = d.ask(name, "summary")["utilization"]
    r.one(f"{name}.utilization.resident", u["resident"], resident)
    for key, want in classes.items():
        r.one(f"{name}.utilization.{key}", u[key], want)


def states(r, d, name):
    s = d.ask(name, "waves", "--top", "all")["states"]
    total = sum(s.values())
    for key, want in zip(("EXEC", "WAIT", "STALL"), STATE_SHARES[name]):
        r.one(f"{name}.share of {key}", round(percent(s[key], total), 1), want)


def occupancy(r, d, name):
    o = d.ask(name, "occupancy")["all"]
    span, peak, mean, below = OCCUPANCY[name]
    r.one(f"{name}.occupancy.span", o["span"], span)
    r.one(f"{name}.occupancy.peak", o["peak_waves"], peak)
    r.one(f"{name}.occupancy.mean", round(o["mean_waves"], 1), mean)
    r.one(f"{name}.occupancy below half of the peak", round(100 * o["below_half_peak_share"], 1), below)
    if name in SPAN_US:
        r.one(f"{name}.occupancy.span in us", round(o["span_us"], 2), SPAN_US[name])


def limits(r, d, name):
    arch, accum, vgpr, lds, grid, observed = LIMITS[name]
    o = d.ask(name, "occupancy")
    by = o["limits"]["by"]
    r.one(f"{name}.limits.arch", o["limits"]["kernel"]["arch_vgprs"], arch)
    r.one(f"{name}.limits.accum", o["limits"]["kernel"]["accum_vgprs"], accum)
    r.one(f"{name}.limits.vgpr", min(by["vgpr"]["waves"], 8), vgpr)
    if lds == "8+":
        r.one(f"{name}.limits.lds is 8 or more", by["lds"]["waves"] >= 8, True)
    else:
        r.one(f"{name}.limits.lds", by["lds"]["waves"], lds)
    r.one(f"{name}.limits.grid", by["grid"]["waves"], grid)
    r.one(f"{name}.limits.waves_per_simd", o["limits"]["waves_per_simd"], observed)
    r.one(f"{name}.peak per SIMD", o["all"]["peak_per_simd"], observed)


def loops(r, d, name):
    found = {x["header_row"]: x for x in d.ask(name, "isa")["loops"]}
    want = LOOPS[name]
    r.same(f"{name}.loop headers", sorted(found), sorted(want))
    for header, (trips, cycles) in want.items():
        x = found[header]
        r.same(f"{name}.loop {header}", [x["iterations"], x["min"], x["median"], x["max"]], list(cycles))
        r.one(f"{name}.loop {header} latch", x["latch_row"], LATCHES[name][header])
        if trips:
            r.same(f"{name}.loop {header} trips", {t["executions"]: t["waves"] for t in x["trips"]}, trips)
        else:
            r.one(f"{name}.loop {header} at most once", all(t["executions"] <= 1 for t in x["trips"]), True)


def no_loops(r, d):
    for name in NO_LOOPS:
        r.same(f"{name}.loops", d.ask(name, "isa")["loops"], [])
    r.one("mla_decode_earlyexit.loops", [x["executions"] for x in d.ask("mla_decode_earlyexit", "isa")["loops"]], [0, 0])


def granularity(r, d, name):
    g = weight(d.ask(name, "summary"), "latency")
    share, effective = BY_LATENCY[name]
    r.one(f"{name}.top line by latency", round(100 * g["top1_share"], 1), share)
    r.one(f"{name}.effective lines by latency", round(g["effective_lines"], 2), effective)


def differences(r, d):
    import json
    a, b = d.path("pa_mqa_double 234"), d.path("pa_mqa_double 236")
    x = json.loads(d.run("diff", "--json", a, b)[1])["data"]
    v = {e["name"]: e for e in x["values"]}
    r.one("diff pa_mqa: latency per hit", (round(v["latency_per_hit"]["a"], 3), round(v["latency_per_hit"]["b"], 3),
                                           round(v["latency_per_hit"]["change_pct"], 2)), (9.347, 10.472, 12.04))
    r.one("diff pa_mqa: stall per hit", (round(v["stall_per_hit"]["a"], 3), round(v["stall_per_hit"]["b"], 3),
                                         round(v["stall_per_hit"]["change_pct"], 2)), (5.079, 6.209, 22.24))
    r.one("diff pa_mqa: stall share", (round(100 * v["stall_share"]["a"], 1), round(100 * v["stall_share"]["b"], 1)),
          (54.3, 59.3))
    r.one("diff pa_mqa: raw latency and stall", (round(v["latency"]["change_pct"], 2), round(v["stall"]["change_pct"], 2)),
          (-3.97, 4.78))
    r.one("diff pa_mqa: hit ratio", (round(x["hits"]["ratio"], 4), x["hits"]["is_uniform"]), (0.8571, True))
    r.one("diff pa_mqa: largest change of a row", int(max(abs(p["change"]) for p in x["parts"])), 745)
    r.one("diff pa_mqa: no repeat", x["noise"]["statement"], "no repeat: no significance claim")
    s = x["stability"]
    r.one("diff pa_mqa: stability", (s["verdict"], s["captures"], s["is_pair"], s["statement"]),
          ("not-stable", 2, True, "one pair shows no spread"))
    r.one("diff pa_mqa: how far apart", (round(s["least"], 2), round(s["most"], 2), round(s["spread_pct"], 2)), (9.35, 10.47, 12.04))
    r.one("diff pa_mqa: where", [(m["row"], round(m["spread_pct"], 2)) for m in s["rows"]],
          [(6, 7.83), (133, 3.86), (62, 3.65), (93, 1.94), (75, 1.82), (88, 1.22)])
    moves = {p["row_a"]: p["contribution"] for p in json.loads(d.run("diff", "--json", "--top", "all", a, b)[1])["data"]["parts"]}
    r.one("diff pa_mqa: where, from the contributions", sorted(row for row, c in moves.items() if abs(c) > 0.01 * s["least"]),
          sorted(m["row"] for m in s["rows"]))
    x = json.loads(d.run("diff", "--json", d.path("flash_attn_before"), d.path("flash_attn_after29"))[1])["data"]
    v = {e["name"]: e for e in x["values"]}
    r.one("diff flash_attn: latency per hit", (round(v["latency_per_hit"]["a"], 3), round(v["latency_per_hit"]["b"], 3),
                                               round(v["latency_per_hit"]["change_pct"], 1)), (9.053, 8.908, -1.6))
    r.one("diff flash_attn: stall per hit", (round(v["stall_per_hit"]["a"], 3), round(v["stall_per_hit"]["b"], 3),
                                             round(v["stall_per_hit"]["change_pct"], 1)), (5.319, 5.188, -2.5))
    r.one("diff flash_attn: stall share", (round(100 * v["stall_share"]["a"], 1), round(100 * v["stall_share"]["b"], 1)),
          (58.8, 58.2))
    r.one("diff flash_attn: aligned", (x["alignment"]["kind"], x["alignment"]["latency_share"]), ("row", 1))
    r.one("diff flash_attn: two states", x["stability"]["verdict"], "not-judged")
    rc, _, err = d.run("diff", d.path("topk_gating_softmax"), d.path("vec_add"))
    r.one("diff of two kernels: exit status", rc, 3)
    r.one("diff of two kernels: says how much matched", "% of latency matches by text" in err, True)
    for gate, want in (("stall_per_hit<+5%", 1), ("stall_per_hit<+25%", 0), ("stall_share<60%", 0),
                       ("latency_per_hit<=10", 1), ("stall_per_hit<5%", 2), ("nothing<1", 2)):
        r.one(f"diff --gate '{gate}'", d.run("diff", "--gate", gate, a, b)[0], want)


def headlines(r, d):
    name = "topk_gating_softmax"
    t = d.ask(name, "hot", "--top", "all")["totals"]
    r.one("topk: stall of latency", (t["stall"], t["latency"], round(percent(t["stall"], t["latency"]), 1)),
          (132308, 272728, 48.5))
    rows = d.ask(name, "isa")["rows"]
    lgkm = sum(x["stall"] for x in rows if x["opcode"] == "s_waitcnt" and "lgkmcnt" in x["isa"])
    zero = sum(x["stall"] for x in rows if x["isa"] == "s_waitcnt lgkmcnt(0)")
    r.one("topk: any lgkmcnt", (lgkm, round(percent(lgkm, t["stall"]), 1)), (57456, 43.4))
    r.one("topk: the literal lgkmcnt(0)", (zero, round(percent(zero, t["stall"]), 1)), (34760, 26.3))
    p = {g["key"]: g["wait"] for g in d.ask(name, "hot", "--by", "producer", "--top", "all")["groups"]}
    r.one("topk: producers of lgkmcnt", (p["LDS-xlane"], p["SMEM"]), (33908, 23548))
    r.one("topk: cross-lane of stall and latency", (round(percent(33908, t["stall"]), 1),
                                                    round(percent(33908, t["latency"]), 1)), (25.6, 12.4))
    opcodes = {g["key"]: g for g in d.ask(name, "hot", "--by", "opcode", "--top", "all")["groups"]}
    r.one("topk: s_nop", (opcodes["s_nop"]["stall"], round(percent(opcodes["s_nop"]["stall"], t["stall"]), 1)), (44828, 33.9))
    r.one("topk: no ds_read, ds_write, ds_swizzle",
          [k for k in opcodes if k.startswith(("ds_read", "ds_write", "ds_swizzle"))], [])
    r.one("topk: static ds_bpermute_b32", opcodes["ds_bpermute_b32"]["rows"], 42)
    line = max(d.ask(name, "hot", "--by", "line", "--top", "all")["groups"], key=lambda g: g["stall"])
    r.one("topk: the decorator line", (line["key"].rsplit(":", 1)[1], line["stall"],
                                       round(percent(line["stall"], t["stall"]), 2)), ("103", 129696, 98.03))
    w = [x for x in d.ask(name, "waves", "--top", "all")["waves"] if x["file"] == "se0_sm2_sl0_wv0.json"][0]
    r.one("topk: one wave", (w["duration"], w["segments"], w["states"]),
          (8480, 483, {"IDLE": 28, "EXEC": 4600, "WAIT": 3640, "STALL": 212}))
    r.same("topk: buckets of that wave", {k: w["accounting"][k] for k in ("issue", "wait", "stall", "idle", "drain")},
           {"issue": 4008, "wait": 1916, "stall": 1612, "idle": 624, "drain": 320})
    info = d.ask("flash_attn_before", "info")
    r.one("flash_attn_before: mapped rows", (info["source_rows"]["mapped"], info["rows"], info["instructions"]),
          (2069, 2070, 2069))


def lines_of(d, name):
    return {g["key"].rsplit("/", 1)[1]: g for g in d.ask(name, "hot", "--by", "line", "--top", "all")["groups"]}


def source_claims(r, d):
    before, after = lines_of(d, "flash_attn_before"), lines_of(d, "flash_attn_after29")
    own = [g for k, g in before.items() if k.startswith("flash_attn_func.py:")]
    a, b = before["flash_attn_func.py:257"], before["flash_attn_func.py:283"]
    rows = sum(g["rows"] for g in own)
    r.one("flash_attn_before: rows on :257 and :283", (a["rows"], b["rows"], rows, round(percent(a["rows"], rows), 1),
                                                       round(percent(b["rows"], rows), 1)), (1895, 130, 2062, 91.9, 6.3))
    for key, want in (("latency", (81.31, 15.08)), ("stall", (74.09, 21.73))):
        total = sum(g[key] for g in before.values())
        r.one(f"flash_attn_before: by {key}", (round(percent(a[key], total), 2), round(percent(b[key], total), 2)), want)
    total = sum(g["hit"] + g["stall"] for g in before.values())
    r.one("flash_attn_before: by hit+stall", (round(percent(a["hit"] + a["stall"], total), 2),
                                              round(percent(b["hit"] + b["stall"], total), 2)), (76.15, 19.91))
    own_after = {k: g for k, g in after.items() if k.startswith("flash_attn_func.py:")}
    r.one("flash_attn: lines of the file", (len(own), len(own_after)), (6, 29))
    r.one("flash_attn: lines in all", (len(before), len(after)), (7, 30))
    c = after["flash_attn_func.py:258"]
    weight = {k: g["hit"] + g["stall"] for k, g in after.items()}
    r.one("flash_attn_after29: :258", (
        round(percent(c["hit"] + c["stall"], sum(weight[k] for k in own_after)), 2),
        round(percent(c["hit"] + c["stall"], sum(weight.values())), 2),
        round(percent(c["latency"], sum(g["latency"] for g in after.values())), 2),
        round(percent(c["stall"], sum(g["stall"] for g in after.values())), 2),
        round(percent(c["rows"], sum(g["rows"] for g in after.values())), 2)), (53.79, 53.00, 55.43, 52.46, 70.42))


def corrections(r, d):
    s = d.ask("flash_attn_before", "waves", "--top", "all")["states"]
    total = sum(s.values())
    r.one("flash_attn_before: states", {k: round(percent(v, total), 1) for k, v in s.items()},
          {"EXEC": 42.3, "WAIT": 36.7, "STALL": 21.0, "IDLE": 0.0})

    def shares(name, *keys):
        h = d.ask(name, "hot", "--by", "producer", "--attribution", "class-set", "--top", "all")
        g = {x["key"]: x["wait"] for x in h["groups"]}
        return tuple(round(percent(g.get(k, 0), h["totals"]["stall"]), 1) for k in keys)

    r.one("layernorm: SMEM, cross-lane, LDS, LDS+SMEM", shares("layernorm", "SMEM", "LDS-xlane", "LDS", "LDS+SMEM"),
          (47.2, 5.6, 3.0, 2.3))
    r.one("fused_rope_cache: SMEM, cross-lane", shares("fused_rope_cache", "SMEM", "LDS-xlane"), (77.7, 2.0))
    r.one("mla_decode: SMEM, VMEM", shares("mla_decode_earlyexit", "SMEM", "VMEM-load"), (83.0, 13.5))
    isa = d.ask("fused_rope_cache", "isa")
    rows = {x["row"]: x for x in isa["rows"]}
    at = [x["row"] for x in isa["rows"] if (x["source"] or "").endswith(":214") and x["stall"]]
    r.one("fused_rope_cache: stall at :214", sum(rows[x]["stall"] for x in at), 2276)
    edges = [e for e in isa["edges"] if e["wait"] in at]
    r.one("fused_rope_cache: :214 waits for SMEM", {rows[e["producer"]]["class"] for e in edges}, {"SMEM"})
    f = {x["id"]: x for x in d.ask("mla_decode_earlyexit", "check")["findings"]}
    e = f["early-exit"]["evidence"]
    r.one("mla_decode: early exit", (e["idle_waves"], e["waves"], e["executed_rows"], e["instruction_rows"]), (32, 32, 17, 4948))
    e = f["no-matrix-work"]["evidence"]
    r.one("mla_decode: matrix work", (e["matrix_hits"], e["matrix_rows"]), (0, 688))
    for name in ACCOUNTING:
        r.one(f"{name}: target", d.ask(name, "info")["arch"], "gfx950")
        r.one(f"{name}: no counters", "no-counters" in {x["id"] for x in d.ask(name, "check")["findings"]}, True)
    launch = {n: d.ask(n, "info")["launch"]["launch_index"] for n in
              ("layernorm", "rmsnorm", "topk_gating_softmax", "vec_add", "mla_decode_earlyexit", "hgemm_splitk",
               "preshuffle_gemm_v2", "flash_attn_before", "pa_decode")}
    r.same("launch ordinal of the captured dispatch", launch, {
        "layernorm": 6, "rmsnorm": 6, "topk_gating_softmax": 6, "vec_add": 6, "mla_decode_earlyexit": 6, "hgemm_splitk": 6,
        "preshuffle_gemm_v2": 6, "flash_attn_before": 8, "pa_decode": 5})
    w = d.ask("vec_add", "hot", "--top", "all")["accounting"]
    drain = w["drain"]
    r.one("vec_add: drain of what a viewer calls issue", round(percent(drain, drain + w["issue"]), 1), 97.0)


def all_of(r, d):
    for name in ACCOUNTING:
        r.guard(f"{name}: accounting", accounting, r, d, name)
    for table, function in ((PARTS, parts), (BLOCKING, producers), (HIDDEN, hidden), (UTILIZATION, utilization),
                            (STATE_SHARES, states), (OCCUPANCY, occupancy), (LIMITS, limits), (LOOPS, loops),
                            (BY_LATENCY, granularity)):
        for name in table:
            r.guard(f"{name}: {function.__name__}", function, r, d, name)
    for function in (latency, no_loops, differences, headlines, source_claims, corrections):
        r.guard(function.__name__, function, r, d)
