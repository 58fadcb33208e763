/* SPDX-License-Identifier: Apache-2.0 */
/* info_page.c: what was captured, as a page of facts. */
#include "answer/info.h"
#include "answer/pages.h"
#include "answer/pages/tables_page.h"

#define MAX_KERNELS 32u
#define FURTHER "            " /* indents further lines of a fact */

static void info_page_put_machine(struct page *p, const struct capture_info *i)
{
	const struct trace_machine *x = &i->machine;

	page_say(p, "%s", i->arch ? i->arch : "unknown");
	if (i->arch_source)
		page_say(p, " (%s)", i->arch_source);
	if (x->product)
		page_say(p, ", %s", x->product);
	if (x->cus != NO_VALUE && x->ses != NO_VALUE)
		page_say(p, ", %s in %s", COUNTED((uint64_t)x->cus, "CU"),
			COUNTED((uint64_t)x->ses, "shader engine"));
	if (x->max_clock_mhz != NO_VALUE)
		page_say(p, ", at most %s MHz", U64_TEXT((uint64_t)x->max_clock_mhz));
	page_fact(p, "machine     ", "%s", "");
}

#define MOST_OFFSETS 8u /* on one line; --json has all */

/* Offsets between the clocks of a trace that has several. */
static void say_offsets(struct page *p, const struct info_clock *v, size_t n)
{
	size_t n_known = 0;

	for (size_t k = 0; k < n; k++)
		n_known += v[k].offset != NO_VALUE;
	if (n > 1 && !n_known) {
		page_say(p, "; offsets of its %s clocks unknown", U64_TEXT(n));
		return;
	}
	for (size_t k = 0; k < n && n > 1 && k < MOST_OFFSETS; k++) {
		page_say(p, "%s %s ", k ? "," : "; offsets in cycles:", v[k].name);
		if (v[k].offset != NO_VALUE)
			page_say(p, "%+lld", (long long)v[k].offset);
		else
			page_say(p, "unknown");
	}
	if (n > MOST_OFFSETS)
		page_say(p, ", ... (%s more)", U64_TEXT(n - MOST_OFFSETS));
}

static void info_page_put_clock(struct page *p, const struct capture_info *i)
{
	if (i->clock_mhz > 0)
		page_say(p, "%.2f MHz (%s)", i->clock_mhz, i->clock_source);
	else
		page_say(p, "unknown: cycles only");
	say_offsets(p, i->clocks.v, i->clocks.n);
	page_fact(p, "clock       ", "%s", "");
}

static void say_triple(struct page *p, const char *what, const struct info_triple *v)
{
	if (v->x >= 0 && v->y >= 0 && v->z >= 0)
		page_say(p, ", %s %s x %s x %s", what, U64_TEXT((uint64_t)v->x),
			U64_TEXT((uint64_t)v->y), U64_TEXT((uint64_t)v->z));
}

static void put_launch(struct page *p, const struct capture_info *i, const struct vendor_row *words)
{
	const struct trace_launch *l = &i->launch.l;

	if (l->dispatch == NO_VALUE)
		return;
	page_say(p, "dispatch %lld", (long long)l->dispatch);
	if (l->agent != NO_VALUE)
		page_say(p, " of agent %lld", (long long)l->agent);
	if (l->launch_index != NO_VALUE)
		page_say(p, ", launch %s of %s of kernel id %lld",
			U64_TEXT((uint64_t)l->launch_index), U64_TEXT((uint64_t)l->launch_count),
			(long long)l->kernel_id);
	if (l->waves != NO_VALUE)
		page_say(p, ", %s", COUNTED((uint64_t)l->waves, words->wave));
	say_triple(p, "grid", &i->launch.grid);
	say_triple(p, "workgroup", &i->launch.workgroup);
	page_fact(p, "launch      ", "%s", "");
	if (l->is_other_run)
		page_fact(p, FURTHER, "as a discovery run saw the same dispatch");
	if (l->vgprs != NO_VALUE && l->sgprs != NO_VALUE && l->lds_bytes != NO_VALUE)
		page_fact(p, "resources   ", "%s, %s, %s of %s as the producer states them",
			COUNTED((uint64_t)l->vgprs, "VGPR"), COUNTED((uint64_t)l->sgprs, "SGPR"),
			COUNTED((uint64_t)l->lds_bytes, "byte"), words->local_memory);
	if (l->command)
		page_fact(p, "command     ", "%s", l->command);
}

static void info_page_put_code(struct page *p, const struct capture_info *i)
{
	uint64_t executed = i->executed_rows == NO_U64 ? 0 : i->executed_rows;

	if (!i->rows) {
		page_fact(p, "code        ", "none%s",
			i->waves ? " known: incore check says what would help"
				 : ": nothing was executed");
		return;
	}
	page_fact(p, "code        ", "%s, %s, %s executed", COUNTED(i->rows, "row"),
		COUNTED(i->instructions, "instruction"), U64_TEXT(executed));
	page_say(p, "%s of %s (%s of %s) mapped", U64_TEXT(i->mapped_rows), COUNTED(i->rows, "row"),
		U64_TEXT(i->mapped_rows), COUNTED(i->instructions, "instruction"));
	if (i->mapped_rows)
		page_say(p, " to %s of %s, %s with a snapshot",
			COUNTED(i->source_rows.distinct_lines, "line"),
			COUNTED(i->source_files, "file"), U64_TEXT(i->source_snapshots));
	page_fact(p, "source      ", "%s", "");
}

/* "1,234 cycles from first begin to last end, 0.56 us" */
static void say_span(struct page *p, const struct capture_info *i, const char *begin)
{
	uint64_t span = (uint64_t)i->span_cycles;

	page_say(p, "%s from first %s to last end", COUNTED(span, "cycle"), begin);
	if (i->clock_mhz > 0)
		page_say(p, ", %.2f us", (double)span / i->clock_mhz);
}

static void put_waves(struct page *p, const struct capture_info *i, const struct trace *t)
{
	const struct info_level *v = i->wave_coords.v;

	page_say(p, "%s", U64_TEXT(i->waves));
	for (size_t k = 0; k < i->wave_coords.n && k + 1 < TRACK_LEVELS && i->waves; k++)
		page_say(p, ", %s %s", v[k].level, v[k].ranges);
	if (i->waves) {
		page_say(p, "; ");
		say_span(p, i, "begin");
	}
	page_fact(p, kind_row(t)->no_code ? "lanes       " : "waves       ", "%s", "");
}

static void put_pipes(struct page *p, const struct capture_info *i, const struct trace *t)
{
	const struct info_level *v = i->wave_coords.v;

	if (!i->waves) {
		page_fact(p, "pipes       ", "none: no instruction timeline");
		return;
	}
	page_fact(p, "pipes       ", "%u on core %s: %s", t->n_tracks, v[0].ranges, i->lanes);
	say_span(p, i, "start");
	page_fact(p, "span        ", ", %s flag pairs and other links", U64_TEXT(t->n_links));
}

static void info_page_put_kernels(struct page *p, const struct capture_info *i)
{
	const struct info_kernel *kernels = i->dispatch_ids.v;
	/* AMD's tools write this for unknown programs: it is not a name */
	size_t first = i->dispatch_ids.n && strcmp(kernels[0].name, "0 / 0x0") == 0;

	for (size_t k = first; k < i->dispatch_ids.n && k < MAX_KERNELS; k++)
		page_fact(p, k > first ? FURTHER : "kernel ids  ", "%s: %s", kernels[k].key,
			kernels[k].name);
	if (i->dispatch_ids.n > MAX_KERNELS)
		page_fact(p, FURTHER, "and %zu more", i->dispatch_ids.n - MAX_KERNELS);
}

static void put_extras(struct page *p, const struct capture_info *i)
{
	const struct text_item *counters = i->counter_names.v;

	for (size_t k = 0; k < i->counter_names.n; k++)
		page_say(p, "%s%s", k ? ", " : "", counters[k].v);
	page_fact(p, "counters    ", "%s",
		i->counter_names.n  ? ""
		: i->counter_series ? "streamed"
				    : "none");
	if (i->has_pc_samples)
		page_fact(p, "samples     ", "PC samples per row");
	if (i->markers)
		page_fact(p, "markers     ", "%s", U64_TEXT(i->markers));
	info_page_put_kernels(p, i);
}

static void info_page_put_blocks(struct page *p, const struct capture_info *i)
{
	const struct info_block *v = i->blocks.v;

	if (!i->blocks.n)
		return;
	page_gap(p);
	for (size_t k = 0; k < i->blocks.n; k++)
		page_say(p, "%s%u of type %s%s%s%s", k ? ", " : "", v[k].count, v[k].type,
			*v[k].name ? " (" : "", v[k].name, *v[k].name ? ")" : "");
	page_fact(p, "blocks      ", "%s", "");
}

static void info_page_put_tables(
	struct page *p, const struct capture_info *i, const struct trace *t)
{
	static const char *const engines[] = {"id", "sums.events", "sums.starts", "sums.ends",
		"sums.cus", "sums.target_cu_starts", NULL};
	static const char *const beside[] = {
		"name", "waves", "rows", "mapped_rows", "remark", NULL};
	const struct named_table *base = trace_find_table(t, "base-info");

	if (i->occupancy.n) {
		page_gap(p);
		page_line(p, "wave starts and ends of all CUs");
		page_records(p, &info_engine_record, i->occupancy, engines);
	}
	info_page_put_blocks(p, i);
	/* Tables of an on-device run or of a side file. */
	put_table_list(p, t);
	if (base)
		put_named_table(p, base, base->n_rows);
	if (i->beside.n < 2)
		return;
	page_gap(p);
	page_line(p, "captures beside each other");
	page_records(p, &info_sibling_record, i->beside, beside);
}

static const char explanation[] =
	"\n"
	"evidence    how the cycles were obtained: measured on hardware, sampled, simulated\n"
	"clock       shader clock during the trace: sum of shader cycles / sum of real time;\n"
	"            an offset is what to add to an engine's cycles to align it with the first\n"
	"executed    rows with at least one hit, as the producer states\n"
	"mapped      rows with a source position; the label row of a kernel never has one\n"
	"on target CU  waves that could have instruction detail: only one CU per engine has it\n"
	"health      verdict of incore check with its errors and warnings\n";

static void put_capture(struct page *p, const struct capture_info *i, const struct trace *t)
{
	page_fact(p, "kernel      ", "%s", i->kernel ? i->kernel : "unknown");
	page_fact(p, "evidence    ", "%s (%s%s%s)", evidence_text(t, (char[EVIDENCE_TEXT]){0}),
		i->format, i->format_version ? " " : "",
		i->format_version ? i->format_version : "");
	info_page_put_machine(p, i);
	info_page_put_clock(p, i);
	put_launch(p, i, vendor_row(t));
	if (!kind_row(t)->no_code)
		info_page_put_code(p, i);
	if (trace_kind(t) == KIND_PIPES)
		put_pipes(p, i, t);
	else
		put_waves(p, i, t);
	put_extras(p, i);
	if (i->health)
		page_fact(p, "health      ", "%s", i->health);
	info_page_put_tables(p, i, t);
	if (p->explains)
		page_lines(p, explanation);
}

void info_page(const struct answer *a, struct page *p)
{
	struct rows captures = info_captures(a);
	const struct capture_info *v = captures.v;

	for (size_t i = 0; i < captures.n; i++) {
		if (i)
			page_gap(p);
		if (captures.n > 1)
			page_line(p, "%s", v[i].asked_for);
		put_capture(p, &v[i], a->traces.v[i]);
	}
}
