/* SPDX-License-Identifier: Apache-2.0 */
/* kind.c: the tables of the kinds of captures and of the vendors. */
#include "trace/kind.h"

#include <stdio.h>

static bool has_level(const struct trace *t, const char *name)
{
	return t->levels[0] && strcmp(t->levels[0], name) == 0;
}

enum trace_kind trace_kind(const struct trace *t)
{
	if (t->meta.vendor == VENDOR_ASCEND)
		return KIND_PIPES;
	if (has_level(t, "process"))
		return KIND_TIMELINE;
	if (has_level(t, "gpu"))
		return KIND_SCOPES;
	if (t->n_tracks)
		return KIND_WAVES;
	return t->samples && t->sampling.period_cyc ? KIND_SAMPLES : KIND_TOTALS;
}

const char *kind_found(const struct trace *t, char out[64])
{
	if (trace_kind(t) == KIND_PIPES)
		return "no pipe";
	snprintf(out, 64, "%s of %s", kind_row(t)->name,
		t->meta.vendor == VENDOR_UNKNOWN ? "another tool" : vendor_name(t->meta.vendor));
	return out;
}

const struct kind_row kind_table[TRACE_KINDS] = {
	[KIND_TOTALS] = {.name = "totals",
		.track = "wave",
		.slice = "instruction",
		.part = "wave",
		.cycles_of = "wave",
		.no_verdict = "the capture has no timeline, only totals per instruction",
		.has_advice = true,
		.has_buckets = true,
		.has_program = true},
	[KIND_WAVES] = {.name = "waves",
		.track = "wave",
		.slice = "instruction",
		.part = "wave",
		.cycles_of = "wave",
		.has_advice = true,
		.has_buckets = true,
		.has_program = true},
	[KIND_PIPES] = {.name = "pipes",
		.track = "pipe",
		.slice = "instruction",
		.part = "pipe",
		.cycles_of = "pipe",
		.has_advice = true,
		.has_program = true},
	[KIND_SAMPLES] = {.name = "samples",
		.track = "wave",
		.slice = "instruction",
		.part = "row",
		.cycles_of = "sampled",
		.has_advice = true,
		.has_buckets = true,
		.has_program = true,
		.is_by_launch = true},
	[KIND_TIMELINE] = {.name = "timeline",
		.track = "lane",
		.slice = "slice",
		.part = "lane",
		.cycles_of = "wave",
		.no_verdict =
			"a timeline of another tool, in which nothing tells waiting from work",
		.no_code = "a timeline of another tool: it does not distinguish waiting from work; "
			   "hot, waves, diff, sql, view and export work on it",
		.has_advice = true,
		.has_buckets = true},
	[KIND_SCOPES] = {.name = "scopes",
		.track = "warp",
		.slice = "scope",
		.part = "warp",
		.cycles_of = "wave",
		.has_buckets = true},
};

static const struct vendor_row vendor_table[] = {
	[VENDOR_UNKNOWN] = {.wave = "wave",
		.group = "workgroup",
		.no_counters = "counters of the units",
		.cus = "compute units",
		.simd = "SIMD",
		.workgroup = "workgroup",
		.competitor = "wave of the SIMD",
		.local_memory = "LDS",
		.viewer_format = "",
		.no_cycles = "no waves in this capture: totals are those that code.json states",
		.no_arrows = ", and there are no wait arrows"},
	[VENDOR_AMD] = {.wave = "wave",
		.group = "workgroup",
		.no_counters = "HBM, L2, L1 are not in a thread trace: incore capture pmc counts",
		.cus = "compute units",
		.simd = "SIMD",
		.workgroup = "workgroup",
		.competitor = "wave of the SIMD",
		.local_memory = "LDS",
		.viewer_format = "ui_output",
		.no_cycles = "no waves in this capture: totals are those that code.json states",
		.no_arrows = ", and there are no wait arrows",
		.has_pie = true,
		.has_registers = true,
		.has_code_objects = true},
	[VENDOR_ASCEND] = {.wave = "block",
		.group = "block",
		.cus = "cores",
		.simd = "core",
		.workgroup = "block",
		.competitor = "pipe of the core",
		.local_memory = "UB",
		.viewer_format = "insight",
		.no_cycles = "no pipe was traced: totals are those that the producer states",
		.no_arrows = ", and there are no wait arrows"},
	[VENDOR_NVIDIA] = {.wave = "warp",
		.group = "block",
		.no_counters = "counters of the units: incore capture ncu takes a report with them",
		.cus = "SMs",
		.simd = "scheduler",
		.workgroup = "block",
		.competitor = "warp of the scheduler",
		.local_memory = "shared memory",
		.viewer_format = "",
		.no_cycles = "the report has no samples of instructions",
		.no_arrows = "",
		.no_samples = "no instruction was sampled (ncu --set full does, or --section "
			      "SourceCounters)",
		.has_blocks = true},
};

const struct vendor_row *vendor_row(const struct trace *t)
{
	unsigned v = t->meta.vendor;

	return &vendor_table[v <= VENDOR_NVIDIA ? v : VENDOR_UNKNOWN];
}

bool trace_has_exposed_samples(const struct trace *t)
{
	return trace_kind(t) == KIND_SAMPLES && t->sampling.has_not_issued;
}

const char *vendor_class_word(const struct trace *t, const char *name)
{
	static const struct {
		const char *class, *words;
	} nvidia[] = {{"VMEM-load", "global memory"}, {"VMEM-store", "stores to global memory"},
		{"VMEM-atomic", "global atomics"}, {"VMEM-to-LDS", "asynchronous copies"},
		{"LDS", "shared memory"}, {"LDS-xlane", "shuffles"}, {"SMEM", "constants"},
		{"SALU", "uniform datapath"}, {"VALU", "arithmetic"}, {"MATRIX", "tensor cores"},
		{"TRANS", "special functions"}};

	for (size_t i = 0; i < sizeof(nvidia) / sizeof(*nvidia); i++)
		if (t->meta.vendor == VENDOR_NVIDIA && strcmp(name, nvidia[i].class) == 0)
			return nvidia[i].words;
	return name;
}

static bool is_word_at(struct str text, size_t at, struct str word)
{
	const char *letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
	size_t end = at + word.n;

	return str_eq(str_sub(text, at, word.n), word) &&
	       (!at || !strchr(letters, text.p[at - 1])) &&
	       (end == text.n || !strchr(letters, text.p[end]));
}

bool vendor_put_words(const struct trace *t, const char *text, struct strbuf *out)
{
	const struct vendor_row *v = vendor_row(t);
	const struct str s = str_of(text);

	for (size_t i = 0; i < s.n; i++) {
		if (is_word_at(s, i, STR("wave")) || is_word_at(s, i, STR("waves"))) {
			sb_puts(out, v->wave);
			i += 3;
		} else if (is_word_at(s, i, STR("LDS"))) {
			sb_puts(out, v->local_memory);
			i += 2;
		} else {
			sb_putc(out, s.p[i]);
		}
	}
	return !out->failed;
}
