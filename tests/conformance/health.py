# SPDX-License-Identifier: Apache-2.0
"""health.py: which findings fire where, exactly, and the verdict of every capture."""
from captures import CAPTURES

ALL = {name for name, _, _ in CAPTURES}

# finding -> the captures it fires on; nowhere else
FIRES = {
    "missed-se": {"flash_attn_unmapped", "hgemm_splitk", "preshuffle_gemm_v2", "moe_blockscale"},
    "repeated-capture": {"pa_mqa_double 234", "pa_mqa_double 236"},
    "several-kernel-ids": {"fused_rope_cache", "preshuffle_gemm_v2"},
    "no-source": {"flash_attn_unmapped", "pa_mqa_double 234", "pa_mqa_double 236"},
    "source-collapsed": {"topk_gating_softmax", "flash_attn_before", "rmsnorm", "layernorm", "hgemm_splitk",
                         "flash_attn_after29", "pa_decode"},
    "early-exit": {"mla_decode_earlyexit", "pa_decode"},
    "no-matrix-work": {"mla_decode_earlyexit"},
    "underfilled": {"flash_attn_unmapped", "fused_rope_cache", "hgemm_splitk", "layernorm", "moe_blockscale",
                    "preshuffle_gemm_v2", "pa_decode", "flash_attn_after29", "flash_attn_before"},
    "partial-coverage": ALL,
    "throttled-clock": {"flash_attn_before", "flash_attn_after29"},
    "vgpr-count-halved": {"topk_gating_softmax", "flash_attn_before", "mla_decode_earlyexit", "vec_add", "layernorm",
                          "fused_rope_cache", "pa_decode", "rmsnorm", "preshuffle_gemm_v2"},
    "short-sample": {"fused_rope_cache", "moe_blockscale"},
    "no-counters": ALL,
}
OK = {"topk_gating_softmax", "rmsnorm", "vec_add", "pa_mqa_double 234", "pa_mqa_double 236"}
UNUSABLE = {"mla_decode_earlyexit"}


def verdict(name):
    return "ok" if name in OK else "unusable" if name in UNUSABLE else "suspect"


def real(r, d):
    fired = {}
    for name in sorted(ALL):
        x = d.ask(name, "check")
        r.one(f"check {name}: verdict", x["verdict"], verdict(name))
        r.one(f"check {name}: exit status", d.run("check", d.path(name))[0], 1 if name in UNUSABLE else 0)
        for f in x["findings"]:
            fired.setdefault(f["id"], set()).add(name)
    for key in sorted(set(fired) | set(FIRES)):
        r.one(f"check: {key} fires on", sorted(fired.get(key, set())), sorted(FIRES.get(key, set())))


def evidence(d, name, key):
    return [f for f in d.ask(name, "check")["findings"] if f["id"] == key][0]["evidence"]


def synthetic(r, d):
    for name, ids, want in (("shell_empty", ["empty-shell"], "unusable"), ("shell_missed_cu", ["missed-cu"], "unusable")):
        x = d.ask(name, "check")
        r.one(f"check {name}", ([f["id"] for f in x["findings"]], x["verdict"]), (ids, want))
    r.one("check shell_missed_cu: CUs", evidence(d, "shell_missed_cu", "missed-cu")["cus_with_waves"],
          "SE0: 3-6; SE1: 3-6; SE2: 0,5-7; SE3: 2,7-8")
    x = d.ask("truncated_tail", "check")
    e = evidence(d, "truncated_tail", "truncated")
    r.one("check truncated_tail", (x["verdict"], x["findings"][0]["severity"]), ("unusable", "error"))
    r.one("check truncated_tail: evidence", (e["cut_waves"], e["waves"], e["starts_without_end"], e["starts_and_ends"]),
          (16, 32, 128, "SE0 64/0; SE1 64/0"))
    x = d.ask("missing_wave", "check")
    ids = {f["id"] for f in x["findings"]}
    r.one("check missing_wave", x["verdict"], "suspect")
    for key in ("missing-wave", "unlisted-wave", "underfilled", "short-sample", "inconsistent-totals"):
        r.one(f"check missing_wave: {key}", key in ids, True)
    text = " ".join(f["message"] for f in x["findings"])
    r.one("check missing_wave: names", ("se0_sm3_sl0_wv0.json" in text, "se0_sm0_sl5_wv9.json" in text), (True, True))
    e = evidence(d, "missing_wave", "inconsistent-totals")
    r.one("check missing_wave: rows", (e["rows_that_differ"], e["rows"]), (206, 207))
    x = d.ask("capture_dir", "check")
    r.one("check capture_dir: captures", [(c["path"].rsplit("_", 1)[1], c["verdict"]) for c in x["captures"]],
          [("232", "unusable"), ("234", "ok"), ("236", "ok")])
    r.one("check capture_dir: repeated", "repeated-capture" in {f["id"] for f in x["findings"]}, True)


def details(r, d):
    e = evidence(d, "topk_gating_softmax", "source-collapsed")
    r.one("topk: collapsed", (round(100 * e["latency_share"], 1), e["executed_rows_on_line"], e["executed_mapped_rows"],
                              round(e["effective_lines"], 2)), (97.4, 1126, 1162, 1.17))
    e = evidence(d, "flash_attn_before", "source-collapsed")
    r.one("flash_attn_before: collapsed", (round(100 * e["latency_share"], 1), e["executed_rows_on_line"],
                                           e["executed_mapped_rows"], round(e["effective_lines"], 2)), (81.3, 1720, 1894, 1.85))
    for name, want in (("flash_attn_after29", 55.4), ("pa_decode", 59.4)):
        e = evidence(d, name, "source-collapsed")
        r.one(f"{name}: partly collapsed", (e["degree"], round(100 * e["latency_share"], 1)), ("partly", want))
    e = evidence(d, "pa_decode", "early-exit")
    r.one("pa_decode: idle waves", (e["idle_waves"], e["waves"], e["executed_rows"], e["latency_pct"]), (48, 56, 12, 26.2))
    for name, mhz, share in (("flash_attn_before", 2075.8, 94.4), ("flash_attn_after29", 2078.8, 94.5)):
        e = evidence(d, name, "throttled-clock")
        r.one(f"{name}: clock", (e["clock_mhz"], round(100 * e["share"], 1)), (mhz, share))
    for name, stated, real_count in (("topk_gating_softmax", 28, 56), ("pa_decode", 96, 192), ("fused_rope_cache", 8, 16)):
        e = evidence(d, name, "vgpr-count-halved")
        r.one(f"{name}: registers", (e["stated_vgprs"], e["isa_vgprs"]), (stated, real_count))
    e = evidence(d, "topk_gating_softmax", "partial-coverage")
    r.one("topk: coverage", (e["waves"], e["launched_waves"]), (32, 2048))


def all_of(r, d):
    for function in (real, synthetic, details):
        r.guard(f"health: {function.__name__}", function, r, d)
