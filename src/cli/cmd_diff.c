/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_diff.c: incore diff A B: what changed per execution, drawn as tables. */
#include "answer/diff.h"
#include "cli/ask.h"
#include "cli/draw.h"
#include "cli/gate/gate.h"
#include "page/say.h"

static enum cell_style style_of(const void *row, const char *column)
{
	const struct diff_part_row *p = row;

	if (strcmp(column, "verdict") != 0 || !p->is_beyond)
		return CELL_PLAIN;
	return p->change > 0 ? CELL_BAD : CELL_GOOD;
}

static bool draw_parts(struct cli *c, const struct diff_answer *a)
{
	static const char *const hits[] = {"row_a", "row_b", "hit_a", "hit_b", "per_hit_a",
		"per_hit_b", "change", "contribution", "noise", "verdict", "key", NULL};
	static const char *const launches[] = {"row_a", "row_b", "per_launch_a", "per_launch_b",
		"change", "noise", "verdict", "key", NULL};
	const char *const *columns = a->is_per_launch ? launches : hits;

	return record_table_print_styled(
		c, &diff_part_record, a->parts, columns + (a->is_by_instr ? 0 : 2), style_of);
}

static void put_number(struct table *t, const struct diff_value_row *v, double x)
{
	if (v->is_count)
		table_i64(t, (int64_t)x);
	else
		table_double(t, v->is_share ? 100 * x : x, v->is_share ? 2 : 3);
}

static bool draw_values(struct cli *c, const struct diff_answer *a)
{
	const struct diff_value_row *rows = a->values.v;
	struct table t;

	table_titles(&t, "value<|A|B|change|change %|noise|verdict<");
	EACH (const struct diff_value_row, v, rows, a->values.n) {
		char name[64], change[64];

		if (!v->is_known)
			continue;
		snprintf(name, sizeof(name), "%s%s", v->name, v->is_share ? " %" : "");
		table_cstr(&t, name);
		put_number(&t, v, v->a);
		put_number(&t, v, v->b);
		put_number(&t, v, v->change);
		snprintf(change, sizeof(change), "%+.2f", v->change_pct);
		table_cstr(&t, change);
		if (a->has_noise)
			put_number(&t, v, v->noise);
		else
			table_cstr(&t, "-");
		table_cstr(&t, v->verdict);
	}
	return table_finish(&t, c);
}

static void draw_side(FILE *f, char name, const struct trace *t)
{
	say(f, "%c  %s  (%s)\n", name, t->meta.origin, evidence_text(t, (char[EVIDENCE_TEXT]){0}));
}

static void draw_heading(const struct cli *c, const struct diff_answer *a)
{
	const struct diff_alignment *x = &a->alignment;
	const struct diff_noise *n = &a->noise;
	FILE *f = c->out;

	say(f, "aligned by %s: %llu of %llu and %llu %s, %.1f %% of latency\n", x->kind,
		(unsigned long long)x->matched, (unsigned long long)x->rows_a,
		(unsigned long long)x->rows_b,
		a->is_aligned_by_line ? "rows share a source line" : "instructions",
		100 * x->latency_share);
	say(f, "%s B / A: %.4f, %s\n", a->is_per_launch ? "launches" : "executions", a->hits.ratio,
		a->is_per_launch ? "executions are not counted: read cycles of all warps per launch"
		: a->hits.is_uniform ? "the same on every row: same work"
				     : "not the same on every row: read per-hit figures");
	if (a->clocks.a_mhz > 0 && a->clocks.b_mhz > 0)
		say(f, "clocks: %.1f and %.1f MHz%s\n", a->clocks.a_mhz, a->clocks.b_mhz,
			a->clocks.is_alike ? "" : ": more than 3 % apart, compare cycles only");
	if (a->is_sampled)
		say(f, "noise: %s\n", n->statement);
	else if (a->has_noise)
		say(f, "noise: %llu repeat%s of A, %llu of B\n", (unsigned long long)n->repeats_a,
			plural(n->repeats_a), (unsigned long long)n->repeats_b);
	else
		say(f, "noise: no repeat: no significance claim\n");
}

static void draw_stability(const struct cli *c, const struct diff_stability *s)
{
	FILE *f = c->out;

	if (!s->is_judged)
		return;
	say(f, "stability: %s%s%s; ", style_on(c, s->is_stable ? CELL_GOOD : CELL_BAD),
		s->is_stable ? "stable" : "not stable", style_off(c));
	if (s->is_pair)
		say(f, "one pair, which shows no spread\n");
	else
		say(f, "%llu captures of one state\n", (unsigned long long)s->captures);
	say(f, "cycles of one execution: %.3f to %.3f, %.2f %% apart (limit %.3g %%)\n", s->least,
		s->most, s->spread_pct, s->limit_pct);
	say(f, "the row that moves most: %.2f %% of them (limit %.3g %%); %llu beyond it\n",
		s->row_most_pct, s->row_limit_pct, (unsigned long long)s->rows_beyond);
}

/* Of two captures the table shows both, of more the least and the most. */
static bool draw_moved(struct cli *c, const struct diff_stability *s)
{
	const struct diff_moved_row *rows = s->rows.v;
	const char *columns[] = {"row", s->is_pair ? "a" : "least", s->is_pair ? "b" : "most",
		"spread_pct", "key", NULL, NULL};

	if (!s->rows.n)
		return true;
	for (size_t i = 0; i < s->rows.n; i++)
		if (rows[i].source && *rows[i].source)
			columns[5] = "1?source";
	say(c->out, "\nnot stable on these rows, by their part of the cycles of one execution:\n");
	if (!record_table_print(c, &diff_moved_record, s->rows, columns))
		return false;
	if (s->rows_total > s->rows.n)
		say(c->out, "%llu more\n", (unsigned long long)(s->rows_total - s->rows.n));
	return true;
}

static const char explanation[] =
	"\n"
	"Cycles are divided by executions (per hit), so that other numbers of waves or trips do\n"
	"not show as change. latency, stall and idle per hit have the meaning of the producer's\n"
	"columns; issue, wait, accounting_stall, accounting_idle and drain are the buckets of the\n"
	"conserved accounting, their shares are of all wave lifetimes. contrib = change * executions\n"
	"of it in A / all executions in A: the contributions add up to the change of latency_per_hit\n"
	"where both did the same work. Samples without counts of executions are divided by the\n"
	"launches that they were taken from: cycles of all warps, and changes add up to the change of\n"
	"latency_per_launch. noise is the largest spread among repeats of A or of B.\n"
	"Captures of one state are stable where the cycles of one execution are less than 2 % apart\n"
	"and no row moves by more than half of that; --stable-within takes another limit.\n"
	"Microseconds of a trace are not a benchmark.\n";

static bool draw_diff(struct cli *c, const struct answer *answer)
{
	const struct diff_answer *a = answer->data;
	const struct gate_row *gates = a->gates.v;

	if (c->use_csv)
		return draw_parts(c, a);
	draw_side(c->out, 'A', answer->traces.v[0]);
	draw_side(c->out, 'B', answer->traces.v[1]);
	fputc('\n', c->out);
	draw_heading(c, a);
	draw_stability(c, &a->stability);
	fputc('\n', c->out);
	if (!draw_values(c, a) || !draw_moved(c, &a->stability))
		return false;
	say(c->out, "\nwhat changed, by size of its part in the cycles of one %s:\n", a->per);
	if (!draw_parts(c, a))
		return false;
	if (a->parts_total > a->parts.n)
		say(c->out, "%llu more\n", (unsigned long long)(a->parts_total - a->parts.n));
	if (a->gates.n)
		fputc('\n', c->out);
	for (size_t i = 0; i < a->gates.n; i++)
		say(c->out, "gate %s%s%s\n", style_on(c, gates[i].is_passed ? CELL_GOOD : CELL_BAD),
			gates[i].message, style_off(c));
	if (cli_flag(c, "explain"))
		fputs(explanation, c->out);
	return true;
}

static const struct option_def options[] = {
	GATE_REPORT_OPTIONS,
	OPTION_END,
};

extern const struct question question_diff;
const struct verb verb_diff = {
	.name = "diff",
	.question = &question_diff,
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV,
	.options = options,
	.draw = draw_diff,
	.check = gate_may_write_diff,
	.also = gate_write_diff,
};
