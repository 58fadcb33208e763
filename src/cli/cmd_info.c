/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_info.c: incore info: what was captured, drawn as a page of labelled lines. */
#include "answer/info.h"
#include "cli/ask.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"
#include "cli/text/table.h"
#include "cli/text/tables_text.h"

#define LABEL "%-11s "
#define MAX_KERNELS 32u

static void print_machine(FILE *out, const struct capture_info *i)
{
	const struct trace_machine *x = &i->machine;

	say(out, LABEL "%s", "machine", i->arch ? i->arch : "unknown");
	if (i->arch_source)
		say(out, " (%s)", i->arch_source);
	if (x->product)
		say(out, ", %s", x->product);
	if (x->cus != NO_VALUE && x->ses != NO_VALUE)
		say(out, ", %s in %s", COUNTED((uint64_t)x->cus, "CU"),
			COUNTED((uint64_t)x->ses, "shader engine"));
	if (x->max_clock_mhz != NO_VALUE)
		say(out, ", at most %s MHz", U64_TEXT((uint64_t)x->max_clock_mhz));
	fputc('\n', out);
}

#define MOST_OFFSETS 8u /* on one line; --json has all */

/* How the clocks of a trace that has several stand to each other. */
static void print_offsets(FILE *out, const struct info_clock *v, size_t n)
{
	size_t n_known = 0;

	for (size_t k = 0; k < n; k++)
		n_known += v[k].offset != NO_VALUE;
	if (n > 1 && !n_known) {
		say(out, "; offsets of its %s clocks unknown", U64_TEXT(n));
		return;
	}
	for (size_t k = 0; k < n && n > 1 && k < MOST_OFFSETS; k++) {
		say(out, "%s %s ", k ? "," : "; offsets in cycles:", v[k].name);
		if (v[k].offset != NO_VALUE)
			say(out, "%+lld", (long long)v[k].offset);
		else
			say(out, "unknown");
	}
	if (n > MOST_OFFSETS)
		say(out, ", ... (%s more)", U64_TEXT(n - MOST_OFFSETS));
}

static void print_clock(FILE *out, const struct capture_info *i)
{
	if (i->clock_mhz > 0)
		say(out, LABEL "%.2f MHz (%s)", "clock", i->clock_mhz, i->clock_source);
	else
		say(out, LABEL "unknown: cycles only", "clock");
	print_offsets(out, i->clocks.v, i->clocks.n);
	fputc('\n', out);
}

static void print_triple(FILE *out, const char *what, const struct info_triple *v)
{
	if (v->x >= 0 && v->y >= 0 && v->z >= 0)
		say(out, ", %s %s x %s x %s", what, U64_TEXT((uint64_t)v->x),
			U64_TEXT((uint64_t)v->y), U64_TEXT((uint64_t)v->z));
}

static void print_launch(FILE *out, const struct capture_info *i)
{
	const struct trace_launch *l = &i->launch.l;

	if (l->dispatch == NO_VALUE)
		return;
	say(out, LABEL "dispatch %lld", "launch", (long long)l->dispatch);
	if (l->agent != NO_VALUE)
		say(out, " of agent %lld", (long long)l->agent);
	if (l->launch_index != NO_VALUE)
		say(out, ", launch %s of %s of kernel id %lld", U64_TEXT((uint64_t)l->launch_index),
			U64_TEXT((uint64_t)l->launch_count), (long long)l->kernel_id);
	if (l->waves != NO_VALUE)
		say(out, ", %s", COUNTED((uint64_t)l->waves, "wave"));
	print_triple(out, "grid", &i->launch.grid);
	print_triple(out, "workgroup", &i->launch.workgroup);
	fputc('\n', out);
	if (l->is_other_run)
		say(out, LABEL "as a discovery run saw the same dispatch\n", "");
	if (l->vgprs != NO_VALUE && l->sgprs != NO_VALUE && l->lds_bytes != NO_VALUE)
		say(out, LABEL "%s, %s, %s of LDS as the producer states them\n", "resources",
			COUNTED((uint64_t)l->vgprs, "VGPR"), COUNTED((uint64_t)l->sgprs, "SGPR"),
			COUNTED((uint64_t)l->lds_bytes, "byte"));
	if (l->command)
		say(out, LABEL "%s\n", "command", l->command);
}

static void print_code(FILE *out, const struct capture_info *i)
{
	uint64_t executed = i->executed_rows == NO_U64 ? 0 : i->executed_rows;

	if (!i->rows) {
		say(out, LABEL "none%s\n", "code",
			i->waves ? " known: incore check says what would help"
				 : ": nothing was executed");
		return;
	}
	say(out, LABEL "%s, %s, %s executed\n", "code", COUNTED(i->rows, "row"),
		COUNTED(i->instructions, "instruction"), U64_TEXT(executed));
	say(out, LABEL "%s of %s (%s of %s) mapped", "source", U64_TEXT(i->mapped_rows),
		COUNTED(i->rows, "row"), U64_TEXT(i->mapped_rows),
		COUNTED(i->instructions, "instruction"));
	if (i->mapped_rows)
		say(out, " to %s of %s, %s with a snapshot",
			COUNTED(i->source_rows.distinct_lines, "line"),
			COUNTED(i->source_files, "file"), U64_TEXT(i->source_snapshots));
	fputc('\n', out);
}

/* "1,234 cycles from first begin to last end, 0.56 us" */
static void print_span(FILE *out, const struct capture_info *i, const char *begin)
{
	uint64_t span = (uint64_t)i->span_cycles;

	say(out, "%s from first %s to last end", COUNTED(span, "cycle"), begin);
	if (i->clock_mhz > 0)
		say(out, ", %.2f us", (double)span / i->clock_mhz);
}

static void print_waves(FILE *out, const struct capture_info *i, const struct trace *t)
{
	const struct info_level *v = i->wave_coords.v;

	say(out, LABEL "%s", trace_is_timeline(t) ? "lanes" : "waves", U64_TEXT(i->waves));
	for (size_t k = 0; k < i->wave_coords.n && k + 1 < TRACK_LEVELS && i->waves; k++)
		say(out, ", %s %s", v[k].level, v[k].ranges);
	if (i->waves) {
		fputs("; ", out);
		print_span(out, i, "begin");
	}
	fputc('\n', out);
}

static void print_pipes(FILE *out, const struct capture_info *i, const struct trace *t)
{
	const struct info_level *v = i->wave_coords.v;

	if (!i->waves) {
		say(out, LABEL "none: no instruction timeline\n", "pipes");
		return;
	}
	say(out, LABEL "%u on core %s: %s\n" LABEL, "pipes", t->n_tracks, v[0].ranges, i->lanes,
		"span");
	print_span(out, i, "start");
	say(out, ", %s flag pairs and other links\n", U64_TEXT(t->n_links));
}

static void print_extras(FILE *out, const struct capture_info *i)
{
	const struct text_item *counters = i->counter_names.v;
	const struct info_kernel *kernels = i->dispatch_ids.v;
	size_t first;

	say(out, LABEL, "counters");
	for (size_t k = 0; k < i->counter_names.n; k++)
		say(out, "%s%s", k ? ", " : "", counters[k].v);
	say(out, "%s\n", i->counter_names.n ? "" : i->counter_series ? "streamed" : "none");
	if (i->has_pc_samples)
		say(out, LABEL "PC samples per row\n", "samples");
	if (i->markers)
		say(out, LABEL "%s\n", "markers", U64_TEXT(i->markers));
	/* AMD's tools write this for programs that nobody knows: it is no name */
	first = i->dispatch_ids.n && strcmp(kernels[0].name, "0 / 0x0") == 0;
	for (size_t k = first; k < i->dispatch_ids.n && k < MAX_KERNELS; k++)
		say(out, LABEL "%s: %s\n", k > first ? "" : "kernel ids", kernels[k].key,
			kernels[k].name);
	if (i->dispatch_ids.n > MAX_KERNELS)
		say(out, LABEL "and %zu more\n", "", i->dispatch_ids.n - MAX_KERNELS);
}

static void print_blocks(FILE *out, const struct capture_info *i)
{
	const struct info_block *v = i->blocks.v;

	if (i->blocks.n)
		say(out, "\n" LABEL, "blocks");
	for (size_t k = 0; k < i->blocks.n; k++)
		say(out, "%s%u of type %s%s%s%s", k ? ", " : "", v[k].count, v[k].type,
			*v[k].name ? " (" : "", v[k].name, *v[k].name ? ")" : "");
	if (i->blocks.n)
		fputc('\n', out);
}

static bool print_tables(struct cli *c, const struct capture_info *i, const struct trace *t)
{
	static const char *const engines[] = {"id", "sums.events", "sums.starts", "sums.ends",
		"sums.cus", "sums.target_cu_starts", NULL};
	static const char *const beside[] = {
		"name", "waves", "rows", "mapped_rows", "remark", NULL};
	const struct named_table *base = trace_find_table(t, "base-info");

	if (i->occupancy.n) {
		say(c->out, "\nwave starts and ends of all CUs\n");
		if (!record_table_print(c, &info_engine_record, i->occupancy, engines))
			return false;
	}
	print_blocks(c->out, i);
	/* What an on-device run or a side file states. */
	if (!tables_print_list(c, t) || (base && !tables_print_one(c, base, base->n_rows)))
		return false;
	if (i->beside.n < 2)
		return true;
	say(c->out, "\ncaptures beside each other\n");
	return record_table_print(c, &info_sibling_record, i->beside, beside);
}

static void print_explain(FILE *out)
{
	say(out,
		"\n"
		"evidence    how the cycles were obtained: measured on hardware, sampled, "
		"simulated\n"
		"clock       shader clock during the trace: sum of shader cycles / sum of real "
		"time;\n"
		"            an offset is what to add to an engine's cycles to align it with the "
		"first\n"
		"executed    rows with at least one hit, as the producer states\n"
		"mapped      rows with a source position; the label row of a kernel never has one\n"
		"on target CU  waves that could have instruction detail: only one CU per engine "
		"has it\n"
		"health      verdict of incore check with its errors and warnings\n");
}

static bool draw_capture(struct cli *c, const struct capture_info *i, const struct trace *t)
{
	FILE *out = c->out;

	say(out, LABEL "%s\n", "kernel", i->kernel ? i->kernel : "unknown");
	say(out, LABEL "%s (%s%s%s)\n", "evidence", evidence_text(t, (char[EVIDENCE_TEXT]){0}),
		i->format, i->format_version ? " " : "",
		i->format_version ? i->format_version : "");
	print_machine(out, i);
	print_clock(out, i);
	print_launch(out, i);
	if (!trace_is_timeline(t))
		print_code(out, i);
	if (trace_has_pipes(t))
		print_pipes(out, i, t);
	else
		print_waves(out, i, t);
	print_extras(out, i);
	if (i->health)
		say(out, LABEL "%s\n", "health", i->health);
	if (!print_tables(c, i, t))
		return false;
	if (cli_flag(c, "explain"))
		print_explain(out);
	return true;
}

static bool draw_info(struct cli *c, const struct answer *a)
{
	struct rows captures = info_captures(a);
	const struct capture_info *v = captures.v;

	for (size_t i = 0; i < captures.n; i++) {
		if (captures.n > 1)
			say(c->out, "%s%s\n", i ? "\n" : "", c->args[i]);
		if (!draw_capture(c, &v[i], a->traces.v[i]))
			return false;
	}
	return true;
}

extern const struct question question_info;
const struct verb verb_info = {
	.name = "info",
	.question = &question_info,
	.groups = OPTIONS_OUTPUT,
	.draw = draw_info,
};
