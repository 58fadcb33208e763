/* SPDX-License-Identifier: Apache-2.0 */
/* diff_page.c: what changed per execution from A to B, as tables. */
#include "answer/diff_runs.h"
#include "answer/pages.h"

static enum cell_style style_of(const void *row, const char *column)
{
	const struct diff_part_row *p = row;

	if (strcmp(column, "verdict") != 0 || !p->is_beyond)
		return CELL_PLAIN;
	return p->change > 0 ? CELL_BAD : CELL_GOOD;
}

static void diff_page_put_parts(struct page *p, const struct diff_answer *a)
{
	static const char *const hits[] = {"row_a", "row_b", "2?hit_a", "1?hit_b", "per_hit_a",
		"per_hit_b", "change", "contribution", "3?noise", "verdict", "key", NULL};
	static const char *const launches[] = {"row_a", "row_b", "per_launch_a", "per_launch_b",
		"change", "noise", "verdict", "key", NULL};
	static const char *const moved[] = {"2?hit_a", "1?hit_b", "per_hit_a", "per_hit_b",
		"change", "contribution", "3?noise", "verdict", "key", "key_b", NULL};
	const char *const *columns = a->is_per_launch ? launches : hits;
	const struct diff_part_row *rows = a->parts.v;

	columns += a->is_by_instr ? 0 : 2;
	for (size_t i = 0; i < a->parts.n && !a->is_per_launch; i++)
		if (rows[i].key_b)
			columns = moved;
	page_main_records_styled(p, &diff_part_record, a->parts, columns, style_of);
}

static void put_number(struct table *t, const struct diff_value_row *v, double x)
{
	if (v->is_count)
		table_i64(t, (int64_t)x);
	else
		table_double(t, v->is_share ? 100 * x : x, v->is_share ? 2 : 3);
}

static void diff_page_put_values(struct page *p, const struct diff_answer *a)
{
	const struct diff_value_row *rows = a->values.v;
	struct table *t = page_table(p, "value<|A|B|1?change|change %|2?noise|verdict<");
	EACH (const struct diff_value_row, v, rows, a->values.n) {
		char name[64], change[64];

		if (!v->is_known)
			continue;
		snprintf(name, sizeof(name), "%s%s", v->name, v->is_share ? " %" : "");
		table_cstr(t, name);
		put_number(t, v, v->a);
		put_number(t, v, v->b);
		put_number(t, v, v->change);
		snprintf(change, sizeof(change), "%+.2f", v->change_pct);
		table_cstr(t, change);
		if (a->has_noise)
			put_number(t, v, v->noise);
		else
			table_cstr(t, "-");
		table_cstr(t, v->verdict);
	}
}

static void put_side(struct page *p, const char *head, const struct trace *t)
{
	page_fact(p, head, "%s  (%s)", t->meta.origin, evidence_text(t, (char[EVIDENCE_TEXT]){0}));
}

static void diff_page_put_heading(struct page *p, const struct diff_answer *a)
{
	const struct diff_alignment *x = &a->alignment;
	const struct diff_noise *n = &a->noise;

	page_line(p, "aligned by %s: %llu of %llu and %llu %s, %.1f %% of latency", x->kind,
		(unsigned long long)x->matched, (unsigned long long)x->rows_a,
		(unsigned long long)x->rows_b,
		a->is_aligned_by_line ? "rows share a source line" : "instructions",
		100 * x->latency_share);
	page_line(p, "%s B / A: %.4f, %s", a->is_per_launch ? "launches" : "executions",
		a->hits.ratio,
		a->is_per_launch ? "executions are not counted: read cycles of all warps per launch"
		: a->hits.is_uniform ? "the same on every row: same work"
				     : "not the same on every row: read per-hit figures");
	if (a->clocks.a_mhz > 0 && a->clocks.b_mhz > 0)
		page_line(p, "clocks: %.1f and %.1f MHz%s", a->clocks.a_mhz, a->clocks.b_mhz,
			a->clocks.is_alike ? "" : ": more than 3 % apart, compare cycles only");
	if (a->is_sampled)
		page_line(p, "noise: %s", n->statement);
	else if (a->has_noise)
		page_line(p, "noise: %llu repeat%s of A, %llu of B",
			(unsigned long long)n->repeats_a, plural(n->repeats_a),
			(unsigned long long)n->repeats_b);
	else
		page_line(p, "noise: no repeat: no significance claim");
}

static void put_stability(struct page *p, const struct diff_stability *s)
{
	if (!s->is_judged)
		return;
	page_say(p, "stability: %s%s%s; ", style_mark(s->is_stable ? CELL_GOOD : CELL_BAD),
		s->is_stable ? "stable" : "not stable", style_mark_end);
	if (s->is_pair)
		page_line(p, "one pair, which shows no spread");
	else
		page_line(p, "%llu captures of one state", (unsigned long long)s->captures);
	page_line(p, "cycles of one execution: %.3f to %.3f, %.2f %% apart (limit %.3g %%)",
		s->least, s->most, s->spread_pct, s->limit_pct);
	page_line(p, "the row that moves most: %.2f %% of them (limit %.3g %%); %llu beyond it",
		s->row_most_pct, s->row_limit_pct, (unsigned long long)s->rows_beyond);
}

/* For two captures the table shows both, for more the least and the most. */
static void diff_page_put_moved(struct page *p, const struct diff_stability *s)
{
	const struct diff_moved_row *rows = s->rows.v;
	const char *columns[] = {"row", s->is_pair ? "a" : "least", s->is_pair ? "b" : "most",
		"spread_pct", "key", NULL, NULL};

	if (!s->rows.n)
		return;
	for (size_t i = 0; i < s->rows.n; i++)
		if (rows[i].source && *rows[i].source)
			columns[5] = "1?source";
	page_gap(p);
	page_line(p, "not stable on these rows, by their part of the cycles of one execution:");
	page_records(p, &diff_moved_record, s->rows, columns);
	if (s->rows_total > s->rows.n)
		page_line(p, "%llu more", (unsigned long long)(s->rows_total - s->rows.n));
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

static enum cell_style run_style(const void *row, const char *column)
{
	const struct diff_run_row *x = row;

	if (strcmp(column, "change") != 0 || strcmp(x->by, "run") != 0 || x->change == 0)
		return CELL_PLAIN;
	return x->change > 0 ? CELL_BAD : CELL_GOOD;
}

static void put_runs(struct page *p, const struct diff_runs_answer *x)
{
	static const char *const columns[] = {"func", "cycles_a", "cycles_b", "change",
		"change_pct", "2?per_hit_pct", "state", "1?by", "values", "3?where", NULL};

	page_main_records_styled(p, &diff_run_row_record, x->kernels, columns, run_style);
	if (p->is_csv)
		return;
	if (x->n_total > x->kernels.n)
		page_line(p, "%llu more", (unsigned long long)(x->n_total - x->kernels.n));
	page_gap(p);
	page_line(p, "all kernels: %s and %s cycles (%s, %s), change %+lld", U64_TEXT(x->cycles_a),
		U64_TEXT(x->cycles_b), x->evidence.a, x->evidence.b, (long long)x->change);
	page_line(p,
		"of it %+lld with the same values, %+lld with other values or code, %+lld new, %+lld gone",
		(long long)x->of_same, (long long)x->of_values, (long long)x->of_new,
		(long long)x->of_gone);
	page_line(p, "%s", "one run of each: no significance claim");
}

void diff_page(const struct answer *answer, struct page *p)
{
	const struct diff_answer *a = answer->data;
	const struct gate_row *gates;

	if (answer_is(answer, &diff_runs_record)) {
		put_runs(p, answer->data);
		return;
	}
	gates = a->gates.v;
	if (p->is_csv) {
		diff_page_put_parts(p, a);
		return;
	}
	put_side(p, "A  ", answer->traces.v[0]);
	put_side(p, "B  ", answer->traces.v[1]);
	page_gap(p);
	diff_page_put_heading(p, a);
	put_stability(p, &a->stability);
	page_gap(p);
	diff_page_put_values(p, a);
	diff_page_put_moved(p, &a->stability);
	page_gap(p);
	page_line(p, "what changed, by size of its part in the cycles of one %s:", a->per);
	diff_page_put_parts(p, a);
	if (a->parts_total > a->parts.n)
		page_line(p, "%llu more", (unsigned long long)(a->parts_total - a->parts.n));
	if (a->gates.n)
		page_gap(p);
	for (size_t i = 0; i < a->gates.n; i++)
		page_line(p, "gate %s%s%s", style_mark(gates[i].is_passed ? CELL_GOOD : CELL_BAD),
			gates[i].message, style_mark_end);
	if (p->explains)
		page_lines(p, explanation);
}
