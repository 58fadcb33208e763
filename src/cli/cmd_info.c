/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_info.c: incore info: what was captured, drawn as a page of labelled lines. */
#include "answer/info.h"
#include "cli/ask.h"
#include "cli/text/record_table.h"
#include "cli/text/table.h"
#include "cli/text/tables_text.h"

#define LABEL "%-11s "
#define MAX_KERNELS 32u

static void print_machine(FILE *out, const struct capture_info *i)
{
	const struct trace_machine *x = &i->machine;
	char a[32], b[32];

	fprintf(out, LABEL "%s", "machine", i->arch ? i->arch : "unknown");
	if (i->arch_source)
		fprintf(out, " (%s)", i->arch_source);
	if (x->product)
		fprintf(out, ", %s", x->product);
	if (x->cus != NO_VALUE && x->ses != NO_VALUE)
		fprintf(out, ", %s CU%s in %s shader engine%s", fmt_u64(a, (uint64_t)x->cus),
			plural((uint64_t)x->cus), fmt_u64(b, (uint64_t)x->ses),
			plural((uint64_t)x->ses));
	if (x->max_clock_mhz != NO_VALUE)
		fprintf(out, ", at most %s MHz", fmt_u64(a, (uint64_t)x->max_clock_mhz));
	fputc('\n', out);
}

static void print_clock(FILE *out, const struct capture_info *i)
{
	const struct info_clock *v = i->clocks.v;

	if (i->clock_mhz > 0)
		fprintf(out, LABEL "%.2f MHz (%s)", "clock", i->clock_mhz, i->clock_source);
	else
		fprintf(out, LABEL "unknown: cycles only", "clock");
	for (size_t k = 0; k < i->clocks.n && i->clocks.n > 1; k++) {
		fprintf(out, "%s %s ", k ? "," : "; offsets in cycles:", v[k].name);
		if (v[k].offset != NO_VALUE)
			fprintf(out, "%+lld", (long long)v[k].offset);
		else
			fprintf(out, "unknown");
	}
	fputc('\n', out);
}

static void print_triple(FILE *out, const char *what, const struct info_triple *v)
{
	char a[32], b[32], c[32];

	if (v->x >= 0 && v->y >= 0 && v->z >= 0)
		fprintf(out, ", %s %s x %s x %s", what, fmt_u64(a, (uint64_t)v->x),
			fmt_u64(b, (uint64_t)v->y), fmt_u64(c, (uint64_t)v->z));
}

static void print_launch(FILE *out, const struct capture_info *i)
{
	const struct trace_launch *l = &i->launch.l;
	char a[32], b[32], d[32];

	if (l->dispatch == NO_VALUE)
		return;
	fprintf(out, LABEL "dispatch %lld of agent %lld", "launch", (long long)l->dispatch,
		(long long)l->agent);
	if (l->launch_index != NO_VALUE)
		fprintf(out, ", launch %s of %s of kernel id %lld",
			fmt_u64(a, (uint64_t)l->launch_index),
			fmt_u64(b, (uint64_t)l->launch_count), (long long)l->kernel_id);
	if (l->waves != NO_VALUE)
		fprintf(out, ", %s wave%s", fmt_u64(a, (uint64_t)l->waves),
			plural((uint64_t)l->waves));
	print_triple(out, "grid", &i->launch.grid);
	print_triple(out, "workgroup", &i->launch.workgroup);
	fputc('\n', out);
	if (l->is_other_run)
		fprintf(out, LABEL "as a discovery run saw the same dispatch\n", "");
	if (l->vgprs != NO_VALUE && l->sgprs != NO_VALUE && l->lds_bytes != NO_VALUE)
		fprintf(out,
			LABEL
			"%s VGPR%s, %s SGPR%s, %s byte%s of LDS as the producer states them\n",
			"resources", fmt_u64(a, (uint64_t)l->vgprs), plural((uint64_t)l->vgprs),
			fmt_u64(b, (uint64_t)l->sgprs), plural((uint64_t)l->sgprs),
			fmt_u64(d, (uint64_t)l->lds_bytes), plural((uint64_t)l->lds_bytes));
	if (l->command)
		fprintf(out, LABEL "%s\n", "command", l->command);
}

static void print_code(FILE *out, const struct capture_info *i)
{
	uint64_t executed = i->executed_rows == NO_U64 ? 0 : i->executed_rows;
	char a[32], b[32], c[32], d[32];

	if (!i->rows) {
		fprintf(out, LABEL "none%s\n", "code",
			i->waves ? " known: incore check says what would help"
				 : ": nothing was executed");
		return;
	}
	fprintf(out, LABEL "%s row%s, %s instruction%s, %s executed\n", "code", fmt_u64(a, i->rows),
		plural(i->rows), fmt_u64(b, i->instructions), plural(i->instructions),
		fmt_u64(c, executed));
	fprintf(out, LABEL "%s of %s row%s (%s of %s instruction%s) mapped", "source",
		fmt_u64(a, i->mapped_rows), fmt_u64(b, i->rows), plural(i->rows),
		fmt_u64(c, i->mapped_rows), fmt_u64(d, i->instructions), plural(i->instructions));
	if (i->mapped_rows)
		fprintf(out, " to %s line%s of %s file%s, %s with a snapshot",
			fmt_u64(a, i->source_rows.distinct_lines),
			plural(i->source_rows.distinct_lines), fmt_u64(b, i->source_files),
			plural(i->source_files), fmt_u64(c, i->source_snapshots));
	fputc('\n', out);
}

/* "1,234 cycles from first begin to last end, 0.56 us" */
static void print_span(FILE *out, const struct capture_info *i, const char *begin)
{
	uint64_t span = (uint64_t)i->span_cycles;
	char a[32];

	fprintf(out, "%s cycle%s from first %s to last end", fmt_u64(a, span), plural(span), begin);
	if (i->clock_mhz > 0)
		fprintf(out, ", %.2f us", (double)span / i->clock_mhz);
}

static void print_waves(FILE *out, const struct capture_info *i)
{
	const struct info_level *v = i->wave_coords.v;
	char a[32];

	fprintf(out, LABEL "%s", "waves", fmt_u64(a, i->waves));
	for (size_t k = 0; k < i->wave_coords.n && k + 1 < TRACK_LEVELS && i->waves; k++)
		fprintf(out, ", %s %s", v[k].level, v[k].ranges);
	if (i->waves) {
		fputs("; ", out);
		print_span(out, i, "begin");
	}
	fputc('\n', out);
}

static void print_pipes(FILE *out, const struct capture_info *i, const struct trace *t)
{
	const struct info_level *v = i->wave_coords.v;
	char a[32];

	if (!i->waves) {
		fprintf(out, LABEL "none: no instruction timeline\n", "pipes");
		return;
	}
	fprintf(out, LABEL "%u on core %s: %s\n" LABEL, "pipes", t->n_tracks, v[0].ranges, i->lanes,
		"span");
	print_span(out, i, "start");
	fprintf(out, ", %s flag pairs and other links\n", fmt_u64(a, t->n_links));
}

static void print_extras(FILE *out, const struct capture_info *i)
{
	const struct text_item *counters = i->counter_names.v;
	const struct info_kernel *kernels = i->dispatch_ids.v;
	size_t first;
	char a[32];

	fprintf(out, LABEL, "counters");
	for (size_t k = 0; k < i->counter_names.n; k++)
		fprintf(out, "%s%s", k ? ", " : "", counters[k].v);
	fprintf(out, "%s\n", i->counter_names.n ? "" : i->counter_series ? "streamed" : "none");
	if (i->has_pc_samples)
		fprintf(out, LABEL "PC samples per row\n", "samples");
	if (i->markers)
		fprintf(out, LABEL "%s\n", "markers", fmt_u64(a, i->markers));
	/* AMD's tools write this for programs that nobody knows: it is no name */
	first = i->dispatch_ids.n && strcmp(kernels[0].name, "0 / 0x0") == 0;
	for (size_t k = first; k < i->dispatch_ids.n && k < MAX_KERNELS; k++)
		fprintf(out, LABEL "%s: %s\n", k > first ? "" : "kernel ids", kernels[k].key,
			kernels[k].name);
	if (i->dispatch_ids.n > MAX_KERNELS)
		fprintf(out, LABEL "and %zu more\n", "", i->dispatch_ids.n - MAX_KERNELS);
}

static void print_blocks(FILE *out, const struct capture_info *i)
{
	const struct info_block *v = i->blocks.v;

	if (i->blocks.n)
		fprintf(out, "\n" LABEL, "blocks");
	for (size_t k = 0; k < i->blocks.n; k++)
		fprintf(out, "%s%u of type %s%s%s%s", k ? ", " : "", v[k].count, v[k].type,
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
		fprintf(c->out, "\nwave starts and ends of all CUs\n");
		if (!record_table_print(c, &info_engine_record, i->occupancy, engines))
			return false;
	}
	print_blocks(c->out, i);
	/* What an on-device run or a side file states. */
	if (!tables_print_list(c, t) || (base && !tables_print_one(c, base, base->n_rows)))
		return false;
	if (i->beside.n < 2)
		return true;
	fprintf(c->out, "\ncaptures beside each other\n");
	return record_table_print(c, &info_sibling_record, i->beside, beside);
}

static void print_explain(FILE *out)
{
	fprintf(out,
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

	fprintf(out, LABEL "%s\n", "kernel", i->kernel ? i->kernel : "unknown");
	fprintf(out, LABEL "%s (%s%s%s)\n", "evidence", evidence_text(t, (char[EVIDENCE_TEXT]){0}),
		i->format, i->format_version ? " " : "",
		i->format_version ? i->format_version : "");
	print_machine(out, i);
	print_clock(out, i);
	print_launch(out, i);
	print_code(out, i);
	if (trace_has_pipes(t))
		print_pipes(out, i, t);
	else
		print_waves(out, i);
	print_extras(out, i);
	if (i->health)
		fprintf(out, LABEL "%s\n", "health", i->health);
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
			fprintf(c->out, "%s%s\n", i ? "\n" : "", c->args[i]);
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
