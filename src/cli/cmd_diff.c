/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_diff.c: `incore diff A B`: what changed per execution, beyond the noise of repeats; gates. */
#include "analysis/diff/diff.h"
#include "analysis/diff/diff_gate.h"
#include "answer/siblings.h"
#include "base/vec.h"
#include "cli/cli.h"
#include "cli/text/table.h"
#include "import/capture_cache.h"

#define MAX_REPEATS 16u /* per side; more tell little more */

struct opened {
	struct trace *trace;
	struct diff_side side;
};

struct run {
	struct cli *c;
	struct opened a, b;
	struct opened *repeats; /* 2 * MAX_REPEATS; one that is of both A and B stands here once */
	uint32_t n_repeats;
	struct diff_side sides_a[MAX_REPEATS], sides_b[MAX_REPEATS]; /* copies of theirs */
	uint32_t n_a, n_b;
	struct diff_options options;
	VEC(struct gate) gates;
	VEC(struct gate_result) results;
	struct diff diff;
};

static void opened_close(struct opened *o)
{
	if (o->trace)
		diff_side_close(&o->side);
	trace_free(o->trace);
	*o = (struct opened){0};
}

/* Takes t. */
static bool account(struct run *r, struct trace *t, struct opened *out)
{
	struct walk_result walk = {0};
	struct walk_options o = cli_walk_options(r->c, NULL);
	bool ok = diff_side_open(&out->side, t, &o, &walk, &r->c->error);

	if (ok) {
		cli_walk_notes(r->c, &walk);
		out->trace = t;
	} else {
		trace_free(t);
	}
	walk_result_deinit(&walk);
	return ok;
}

static bool open_main(struct run *r, const char *path, struct opened *out)
{
	struct trace *t = NULL;

	return cli_open_trace(r->c, path, IMPORT_SIDE_FILES, &t) && account(r, t, out);
}

/* --- repeats --- */

static bool is_same_origin(const struct trace *t, const struct trace *main)
{
	return t->meta.launch.dispatch == main->meta.launch.dispatch &&
	       t->meta.launch.agent == main->meta.launch.agent &&
	       str_is(str_of(t->meta.origin), main->meta.origin);
}

static struct opened *find_repeat(const struct run *r, const char *path)
{
	for (uint32_t i = 0; i < r->n_repeats; i++)
		if (siblings_is_same(r->repeats[i].trace->meta.origin, path))
			return &r->repeats[i];
	return NULL;
}

/* Takes t. */
static bool add_side(struct run *r, struct trace *t, bool is_a)
{
	struct opened *o = find_repeat(r, t->meta.origin);

	if (o)
		trace_free(t);
	else if (!account(r, t, o = &r->repeats[r->n_repeats]))
		return false;
	else
		r->n_repeats++;
	if (is_a)
		r->sides_a[r->n_a++] = o->side;
	else
		r->sides_b[r->n_b++] = o->side;
	return true;
}

/* Keeps t as a repeat of A or B, whose code it must be; else it is dropped with a warning. */
static bool keep_repeat(struct run *r, struct trace *t, bool is_beside_b, bool is_given)
{
	bool is_b = diff_same_code(t, r->b.trace);
	bool is_a = !(is_b && is_beside_b) && diff_same_code(t, r->a.trace);

	if ((is_a || is_b) && !is_same_origin(t, r->a.trace) && !is_same_origin(t, r->b.trace) &&
		(is_a ? r->n_a : r->n_b) < MAX_REPEATS)
		return add_side(r, t, is_a);
	if (!is_a && !is_b && is_given)
		cli_warn(r->c, "--noise %s: not the code of either capture, left out",
			t->meta.origin ? t->meta.origin : "?");
	trace_free(t);
	return true;
}

/* A given repeat may be the other capture of the pair: the user says that it is one. */
static bool keep_given(struct run *r, struct trace *t)
{
	bool is_b_itself = is_same_origin(t, r->b.trace) && diff_same_code(t, r->a.trace);

	if (is_b_itself && r->n_a < MAX_REPEATS)
		return add_side(r, t, true);
	return keep_repeat(r, t, false, true);
}

static bool read_one(struct run *r, const struct capture *k, struct trace **out)
{
	struct import_options o = cli_import_options(r->c, 0);
	const struct opened *before = find_repeat(r, k->path);

	if (before) {
		*out = before->trace;
		trace_share(*out);
		return true;
	}
	return import_read(k, &o, out, &r->c->error);
}

static bool add_given(struct run *r, const char *path)
{
	struct capture_list list = {0};
	bool ok = import_find(path, r->c->captures, &list, &r->c->error);

	for (uint32_t i = 0; ok && i < list.n; i++) {
		struct trace *t = NULL;

		capture_look(r->c->captures, &list.arena, &list.v[i]);
		if (list.v[i].is_empty)
			continue;
		ok = read_one(r, &list.v[i], &t) && keep_given(r, t);
	}
	capture_list_deinit(&list);
	return ok || err_wrap(&r->c->error, "reading the repeat '%s'", path);
}

/* Siblings of one side's capture: same agent, same code. What cannot be read is no repeat. */
static bool add_siblings(struct run *r, const struct opened *of)
{
	struct capture_list list = {0};
	struct siblings s = {0};
	const char *path = of->trace->meta.origin;
	struct incore_error ignored = {0};
	const struct trace *other = of == &r->a ? r->b.trace : r->a.trace;
	bool ok = true;

	if (!path || !import_find(path, r->c->captures, &list, &ignored)) {
		incore_error_clear(&ignored);
		return true;
	}
	if (list.n == 1)
		ok = siblings_find(&s, &list.v[0], NULL, r->c->captures, &r->c->error);
	for (size_t i = 0; ok && i < s.captures.n; i++) {
		struct trace *t = NULL;

		if (s.facts.v[i].is_self)
			continue;
		if (siblings_is_same(s.captures.v[i]->path, other->meta.origin))
			r->options.is_pair = true;
		else if (read_one(r, s.captures.v[i], &t))
			ok = keep_repeat(r, t, of == &r->b, false);
		else
			incore_error_clear(&r->c->error);
	}
	siblings_deinit(&s);
	capture_list_deinit(&list);
	return ok;
}

static bool open_repeats(struct run *r)
{
	bool ok = true;

	r->repeats = mem_zalloc(2 * MAX_REPEATS, sizeof(*r->repeats));
	if (!r->repeats)
		return err_nomem(&r->c->error);
	for (unsigned i = 0; ok && i < cli_many(r->c, "noise"); i++)
		ok = add_given(r, cli_many_at(r->c, "noise", i));
	if (!cli_many(r->c, "noise"))
		ok = add_siblings(r, &r->a) && add_siblings(r, &r->b);
	r->options.repeats_a = r->sides_a;
	r->options.n_repeats_a = r->n_a;
	r->options.repeats_b = r->sides_b;
	r->options.n_repeats_b = r->n_b;
	return ok;
}

/* --- options --- */

static bool read_options(struct run *r)
{
	static const char *const by[] = {"instr", "line", "opcode", "class", "cause"};
	static const char *const align[] = {"row", "text", "line"};
	const struct cli *c = r->c;
	uint64_t pct = cli_count(c, "min-match");

	if (pct > 100)
		return err_set(&r->c->error, INCORE_USAGE, "bad-option-value",
			"--min-match: expected a percentage up to 100, found %llu",
			(unsigned long long)pct);
	r->options.min_match = (double)pct / 100;
	r->options.noise_factor = (double)cli_count(c, "noise-factor");
	for (unsigned i = 0; i < 5; i++)
		if (strcmp(cli_text(c, "by"), by[i]) == 0)
			r->options.by = (enum diff_by)i;
	for (unsigned i = 0; i < 3; i++)
		if (strcmp(cli_text(c, "align"), align[i]) == 0) {
			r->options.has_align = true;
			r->options.align = (enum diff_align_kind)i;
		}
	for (unsigned i = 0; i < cli_many(c, "gate"); i++) {
		struct gate g;

		if (!gate_parse(&g, cli_many_at(c, "gate", i), &r->c->error))
			return false;
		if (!VEC_PUSH(&r->gates, g))
			return err_nomem(&r->c->error);
	}
	return true;
}

static bool check_gates(struct run *r)
{
	for (size_t i = 0; i < r->gates.n; i++) {
		struct gate_result g;

		if (!gate_check(&r->gates.v[i], &r->diff, &g, &r->c->error))
			return false;
		if (!VEC_PUSH(&r->results, g))
			return err_nomem(&r->c->error);
	}
	return true;
}

/* --- output --- */

static bool print_json(struct run *r)
{
	const struct trace *traces[] = {r->a.trace, r->b.trace};
	struct json_writer w;

	cli_json_begin(r->c, &w, traces, 2);
	json_w_object(&w);
	diff_json(&r->diff, cli_top(r->c), &w);
	gates_json(r->results.v, (uint32_t)r->results.n, &r->diff, &w);
	json_w_end(&w);
	return cli_json_end(r->c, &w);
}

static void put_row(struct table *t, const struct trace *of, code_idx i, const char *none)
{
	if (i < of->n_code)
		table_i64(t, of->code[i].number);
	else
		table_cstr(t, none);
}

/* none: what stands where there is nothing to say */
static void put_part(
	struct table *t, const struct diff *d, const struct diff_part *p, const char *none)
{
	if (d->by == DIFF_BY_INSTR) {
		put_row(t, d->a->trace, p->code_a, none);
		put_row(t, d->b->trace, p->code_b, none);
	}
	table_u64(t, p->hit_a);
	table_u64(t, p->hit_b);
	table_double(t, p->per_hit_a, 3);
	table_double(t, p->per_hit_b, 3);
	table_double(t, p->change, 3);
	table_double(t, p->contribution, 4);
	if (d->has_noise)
		table_double(t, p->noise, 3);
	else
		table_cstr(t, none);
	table_cstr(t, diff_verdict_name(p->verdict));
	if (p->verdict == DIFF_BEYOND)
		table_style(t, p->change > 0 ? CELL_BAD : CELL_GOOD);
	table_cstr(t, p->key);
}

static bool print_parts(struct run *r)
{
	static const struct table_column columns[] = {
		{"row A", "row_a", CELL_RIGHT, false},
		{"row B", "row_b", CELL_RIGHT, false},
		{"hit A", "hit_a", CELL_RIGHT, false},
		{"hit B", "hit_b", CELL_RIGHT, false},
		{"cyc/hit A", "cycles_per_hit_a", CELL_RIGHT, false},
		{"cyc/hit B", "cycles_per_hit_b", CELL_RIGHT, false},
		{"change", "change_cycles_per_hit", CELL_RIGHT, false},
		{"contrib", "contribution_cycles_per_hit", CELL_RIGHT, false},
		{"noise", "noise_cycles_per_hit", CELL_RIGHT, false},
		{"verdict", NULL, CELL_LEFT, false},
		{"what", "key", CELL_LEFT, true},
	};
	unsigned skip = r->diff.by == DIFF_BY_INSTR ? 0 : 2; /* no row numbers */
	uint64_t top = cli_top(r->c);
	struct table t;
	bool ok;

	table_init(&t, columns + skip, sizeof(columns) / sizeof(*columns) - skip);
	for (uint32_t i = 0; i < r->diff.n_parts && i < top; i++)
		put_part(&t, &r->diff, &r->diff.parts[i], r->c->use_csv ? "" : "-");
	ok = table_print(&t, r->c);
	table_deinit(&t);
	return ok || err_nomem(&r->c->error);
}

static void put_number(struct table *t, const struct diff_value *v, double x)
{
	if (v->is_count)
		table_i64(t, (int64_t)x);
	else
		table_double(t, v->is_share ? 100 * x : x, v->is_share ? 2 : 3);
}

static bool print_values(struct run *r)
{
	static const struct table_column columns[] = {
		{"value", NULL, CELL_LEFT, false},
		{"A", NULL, CELL_RIGHT, false},
		{"B", NULL, CELL_RIGHT, false},
		{"change", NULL, CELL_RIGHT, false},
		{"change %", NULL, CELL_RIGHT, false},
		{"noise", NULL, CELL_RIGHT, false},
		{"verdict", NULL, CELL_LEFT, false},
	};
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(*columns));
	for (uint32_t i = 0; i < r->diff.n_values; i++) {
		const struct diff_value *v = &r->diff.values[i];
		char text[64];

		if (!v->is_known)
			continue;
		snprintf(text, sizeof(text), "%s%s", v->name, v->is_share ? " %" : "");
		table_cstr(&t, text);
		put_number(&t, v, v->a);
		put_number(&t, v, v->b);
		put_number(&t, v, v->change);
		snprintf(text, sizeof(text), "%+.2f", v->change_pct);
		table_cstr(&t, text);
		if (r->diff.has_noise)
			put_number(&t, v, v->noise);
		else
			table_cstr(&t, "-");
		table_cstr(&t, diff_verdict_name(v->verdict));
	}
	ok = table_print(&t, r->c);
	table_deinit(&t);
	return ok || err_nomem(&r->c->error);
}

static void print_heading(const struct run *r)
{
	const struct diff *d = &r->diff;
	FILE *f = r->c->out;

	fprintf(f, "A  %s  (%s)\nB  %s  (%s)\n\n", r->a.trace->meta.origin,
		evidence_text(r->a.trace, (char[EVIDENCE_TEXT]){0}), r->b.trace->meta.origin,
		evidence_text(r->b.trace, (char[EVIDENCE_TEXT]){0}));
	fprintf(f, "aligned by %s: %u of %u and %u %s, %.1f %% of latency\n",
		diff_align_name(d->align.kind), d->align.matched, d->align.rows_a, d->align.rows_b,
		d->align.kind == ALIGN_LINE ? "rows share a source line" : "instructions",
		100 * diff_matched_share(&d->align));
	fprintf(f, "executions B / A: %.4f, %s\n", d->hit_ratio,
		d->is_same_work ? "the same on every row: same work"
				: "not the same on every row: read per-hit figures");
	if (d->clock_a_mhz > 0 && d->clock_b_mhz > 0)
		fprintf(f, "clocks: %.1f and %.1f MHz%s\n", d->clock_a_mhz, d->clock_b_mhz,
			d->is_clock_alike ? "" : ": more than 3 % apart, compare cycles only");
	if (d->has_noise)
		fprintf(f, "noise: %u repeat%s of A, %u of B\n\n", r->n_a, plural(r->n_a), r->n_b);
	else
		fprintf(f, "noise: no repeat: no significance claim%s\n\n",
			d->options->is_pair
				? "; A and B are repeats of each other, so this is a noise floor"
				: "");
}

static void print_explain(FILE *out)
{
	fputs("\n"
	      "Cycles are divided by executions (per hit), so that other numbers of waves or trips "
	      "do\n"
	      "not show as change. latency, stall and idle per hit have the meaning of the "
	      "producer's\n"
	      "columns; issue, wait, accounting_stall, accounting_idle and drain are the buckets "
	      "of the\n"
	      "conserved accounting, their shares are of all wave lifetimes. contrib = change * "
	      "executions\n"
	      "of it in A / all executions in A: the contributions add up to the change of "
	      "latency_per_hit\n"
	      "where both did the same work. noise is the largest spread among repeats of A or of "
	      "B.\n"
	      "Microseconds of a trace are not a benchmark.\n",
		out);
}

static bool print_text(struct run *r)
{
	print_heading(r);
	if (!print_values(r))
		return false;
	fprintf(r->c->out, "\nwhat changed, by size of its part in the cycles of one execution:\n");
	if (!print_parts(r))
		return false;
	if (r->diff.n_parts > cli_top(r->c))
		fprintf(r->c->out, "%llu more\n",
			(unsigned long long)(r->diff.n_parts - cli_top(r->c)));
	for (size_t i = 0; i < r->results.n; i++) {
		struct strbuf b = {0};

		if (!gate_put(&r->results.v[i], &r->diff, &b)) {
			sb_free(&b);
			return err_nomem(&r->c->error);
		}
		fprintf(r->c->out, "%sgate %s%s%s\n", i ? "" : "\n",
			style_on(r->c, r->results.v[i].is_passed ? CELL_GOOD : CELL_BAD), b.p,
			style_off(r->c));
		sb_free(&b);
	}
	if (cli_flag(r->c, "explain"))
		print_explain(r->c->out);
	return true;
}

static void run_deinit(struct run *r)
{
	diff_deinit(&r->diff);
	for (uint32_t i = 0; i < r->n_repeats; i++)
		opened_close(&r->repeats[i]);
	mem_free(r->repeats);
	opened_close(&r->a);
	opened_close(&r->b);
	VEC_FREE(&r->gates);
	VEC_FREE(&r->results);
}

static int run_diff(struct cli *c)
{
	struct run r = {.c = c};
	int status = INCORE_OK;
	bool ok = read_options(&r) && open_main(&r, c->args[0], &r.a) &&
		  open_main(&r, c->args[1], &r.b) && open_repeats(&r) &&
		  diff_run(&r.diff, &r.a.side, &r.b.side, &r.options, &c->error) && check_gates(&r);

	if (ok)
		ok = c->use_json ? print_json(&r) : c->use_csv ? print_parts(&r) : print_text(&r);
	if (!ok)
		status = cli_fail(c);
	for (size_t i = 0; ok && i < r.results.n; i++)
		if (!r.results.v[i].is_passed)
			status = INCORE_NO;
	run_deinit(&r);
	return status;
}

static const struct option_def options[] = {
	{0, "by", OPTION_CHOICE, "WHAT", "instr|line|opcode|class|cause", "instr",
		"what is compared one by one"},
	{0, "align", OPTION_CHOICE, "HOW", "auto|row|text|line", "auto",
		"how rows of A and B are matched"},
	{0, "min-match", OPTION_COUNT, "PCT", NULL, "50",
		"refuse when less of the latency is aligned"},
	{0, "noise", OPTION_MANY, "PATH", NULL, NULL,
		"repeats of A or B for the noise floor; default: captures beside them"},
	{0, "noise-factor", OPTION_COUNT, "N", NULL, "1",
		"a change counts beyond N times the noise"},
	{0, "gate", OPTION_MANY, "COND", NULL, NULL,
		"exit with 1 unless it holds: 'stall_per_hit<+5%'"},
	OPTION_END,
};

const struct verb verb_diff = {
	.name = "diff",
	.args = "A B",
	.summary = "two captures, normalised per execution, with a noise floor; gates for CI",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_TOP | OPTIONS_CAPTURE,
	.options = options,
	.min_args = 2,
	.max_args = 2,
	.run = run_diff,
};
