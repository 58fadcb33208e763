/* SPDX-License-Identifier: Apache-2.0 */
/*
 * findings.h: one row for each finding of check: its code, its weight, what it does to the verdict,
 * and what to do about it; "" where that stands in the note of this code (trace/notes.h). A rule
 * may judge one case more mildly, or advise better where it knows more. incore-check(1) has a line
 * for each code, and a test shows each (tools/check_house.py). The file has more lines because it is
 * a table.
 */
#pragma once

/* clang-format off */
#define FINDINGS(X)                                                                                \
	X("empty-shell", ERROR, UNUSABLE, \
		"use another capture of this kernel, or capture again with more shader engines (--att-shader-engine-mask) and a later --kernel-iteration-range") \
	X("missed-cu", ERROR, UNUSABLE, \
		"trace more shader engines (--att-shader-engine-mask) or another --att-target-cu, or launch a larger grid") \
	X("not-executed", ERROR, UNUSABLE, \
		"this directory holds a listing only: capture a launch of the kernel") \
	X("damaged-file", WARNING, SUSPECT, \
		"copy the capture again; the warnings name each file and the place in it") \
	X("link-outside", WARNING, SUSPECT, \
		"--follow-links reads them; use it only if you trust whoever made the capture") \
	X("implausible-stream", WARNING, SUSPECT, \
		"trust neither times nor instructions of these streams: copy them again, or check which GPU they come from") \
	X("no-code", WARNING, SUSPECT, \
		"put the code objects that ran (*_code_object_id_N.out, or code.elf and meta.json with load_base) beside the streams; decode a ui_output directory again where they are") \
	X("missed-se", INFO, OK, \
		"the sample is smaller but not wrong; a larger grid or more shader engines enlarge it") \
	X("truncated", WARNING, SUSPECT, \
		"capture again with a larger --att-buffer-size (shared by all shader engines) or fewer shader engines") \
	X("missing-wave", WARNING, SUSPECT, \
		"copy the whole directory again; every total is of the waves that are left (a wave without instructions is never written)") \
	X("unlisted-wave", WARNING, SUSPECT, \
		"files of two captures may be mixed: decode the trace again into an empty directory") \
	X("inconsistent-waves", WARNING, SUSPECT, \
		"files of two captures may be mixed: decode the trace again into an empty directory") \
	X("repeated-capture", INFO, OK, \
		"`incore diff` takes the spread of the repeats as its noise floor") \
	X("several-kernel-ids", INFO, OK, \
		"launch ordinals of --kernel-iteration-range count per kernel id, not per name") \
	X("no-source", WARNING, OK, \
		"build with -g or -gline-tables-only; FlyDSL: FLYDSL_DEBUG_ENABLE_DEBUG_INFO=1 and an empty FLYDSL_RUNTIME_CACHE_DIR") \
	X("source-partial", INFO, OK, \
		"read the unmapped part with `incore isa`") \
	X("source-collapsed", WARNING, OK, \
		"do not act on single lines; read ISA regions and loops (`incore isa`), or improve the compiler's line info") \
	X("stale-source", WARNING, OK, \
		"check out the revision that was captured before reading source lines") \
	X("toolkit-source", INFO, OK, \
		"their lines are those of the toolkit that compiled the kernel; read the line of your own file that calls them") \
	X("early-exit", WARNING, SUSPECT, \
		"read figures per cluster (`incore waves`); capture a launch with more work per wave") \
	X("no-matrix-work", WARNING, SUSPECT, \
		"the main path of the kernel was not taken: capture a launch that takes it") \
	X("underfilled", WARNING, SUSPECT, \
		"`incore occupancy` names the limit, and `incore advise` what to change") \
	X("partial-coverage", INFO, OK, \
		"totals are of the sample: compare shares and cycles per execution, never scale them up") \
	X("throttled-clock", WARNING, SUSPECT, \
		"cycles stay comparable, microseconds do not; pin the clock or cool the device before timing") \
	X("unaligned-clocks", WARNING, SUSPECT, \
		"do not overlay shader engines; figures within one are right") \
	X("vgpr-count-halved", INFO, OK, \
		"use the value of the ISA; `incore occupancy` does") \
	X("short-sample", WARNING, SUSPECT, \
		"do not quote percentiles; trace more shader engines or a larger grid") \
	X("no-counters", INFO, OK, \
		"ask for them with --att-perfcounters or --att-activity (gfx9)") \
	X("inconsistent-totals", WARNING, SUSPECT, \
		"the timeline is a part of the run, or of another one") \
	X("inconsistent-states", WARNING, SUSPECT, \
		"waves are missing or files of two captures are mixed; the timelines are what is shown") \
	X("inconsistent-waits", WARNING, SUSPECT, \
		"producers are computed from the records; the stored lists are not used") \
	X("no-timeline", INFO, OK, \
		"for a timeline collect with msprof op simulator") \
	X("no-compute", WARNING, SUSPECT, \
		"look at dynamic dimensions, conditions and the launch: this engine was expected to work") \
	X("data-movement-only", INFO, OK, \
		"fine for a copy kernel; else look at the arguments") \
	X("near-empty", WARNING, SUSPECT, \
		"simulate with dimensions of the size that matters") \
	X("made-up-control", WARNING, SUSPECT, \
		"give the values: --set of incore profile, --set-arg of incore replay, or a dump") \
	X("degenerate-run", WARNING, SUSPECT, \
		"give the values that the finding names, and run it again") \
	X("one-side-empty", WARNING, SUSPECT, \
		"look for a condition on the block id or a dimension of zero on that side") \
	X("no-loop", INFO, OK, \
		"check the dimensions that the simulated arguments state") \
	X("zero-byte-moves", WARNING, SUSPECT, \
		"look at the dimensions of the simulated arguments") \
	X("sync-bound", WARNING, OK, \
		"look at what the producer does: incore hot --by producer") \
	X("no-flag-events", INFO, OK, \
		"collected with PipeUtilization only? use the default metrics") \
	X("sub-block-collision", WARNING, SUSPECT, \
		"read the raw dumps: they keep the physical names") \
	X("unmatched-flags", WARNING, OK, \
		"the notes of the import name them") \
	X("reused-flags", WARNING, OK, \
		"pairing may be off: compare with the raw dumps") \
	X("model-race", WARNING, SUSPECT, "") \
	X("model-deadlock", WARNING, SUSPECT, "") \
	X("model-unmatched-wait", WARNING, SUSPECT, "") \
	X("model-double-set", WARNING, SUSPECT, "") \
	X("model-flag-left-set", WARNING, SUSPECT, "") \
	X("model-bad-flag", WARNING, SUSPECT, "") \
	X("model-counter-full", WARNING, SUSPECT, "") \
	X("model-missing-barrier", WARNING, SUSPECT, "") \
	X("model-more-findings", WARNING, SUSPECT, "") \
	X("model-incomplete", WARNING, SUSPECT, "") \
	X("quantised-time", INFO, OK, \
		"raw dumps have exact cycles") \
	X("clock-unknown", WARNING, OK, \
		"give the SoC or the clock") \
	X("inconsistent-busy", WARNING, SUSPECT, \
		"the timeline is a part of the run, or of another one") \
	X("few-samples", WARNING, SUSPECT, \
		"sample more often (ncu --sampling-interval 0) or profile a larger launch") \
	X("no-samples", WARNING, SUSPECT, \
		"profile with --set full, or with the section SourceCounters") \
	X("dropped-samples", WARNING, SUSPECT, \
		"sample less often (ncu --sampling-interval) or give it a larger buffer (--sampling-buffer-size)") \
	X("short-kernel", WARNING, SUSPECT, \
		"sample more often (ncu --sampling-interval 0), or profile a larger launch") \
	X("clock-not-locked", INFO, OK, \
		"lock it (ncu --clock-control base), or compare ratios of one pass alone") \
	X("different-clocks", WARNING, SUSPECT, \
		"lock the clock (ncu --clock-control base), and let the device neither heat up nor sleep between passes") \
	X("replayed", INFO, OK, \
		"if the kernel finds its data in the cache in real life, profile with ncu --cache-control none") \
	X("no-line-info", INFO, OK, \
		"compile with nvcc -lineinfo") \
	X("unmapped-addresses", WARNING, SUSPECT, \
		"profile again with the code in the report (ncu --import-sass yes)")
/* clang-format on */

#define FINDING_WORD(CODE, ...) "|" CODE
/* The codes of all findings: the words of that column. */
#define FINDING_WORDS (&(FINDINGS(FINDING_WORD))[1])
