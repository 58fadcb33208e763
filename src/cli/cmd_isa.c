/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_isa.c: incore isa: the disassembly with its costs, wait arrows, branches and loops. */
#include "analysis/code/listing.h"
#include "base/mem.h"
#include "cli/cli.h"
#include "cli/text/isa_text.h"
#include "cli/text/table.h"

static const struct option_def options[] = {
	{0, "range", OPTION_TEXT, "A-B", NULL, NULL,
		"only rows with these numbers (\"100-200,417\")"},
	{0, "around", OPTION_COUNT, "N", NULL, NULL, "only row N and the rows beside it"},
	{0, "context", OPTION_COUNT, "N", NULL, "10", "rows before and after, with --around"},
	{0, "executed", OPTION_FLAG, NULL, NULL, NULL, "leave out rows that never ran"},
	{0, "ascii", OPTION_FLAG, NULL, NULL, NULL, "draw arrows and loops with ASCII characters"},
	OPTION_END,
};

struct job {
	struct cli *c;
	struct trace *trace;
	struct selection selection;
	struct number_set range;
	struct listing *listing;
	struct walk_result walk;
	uint8_t *shown; /* by code_idx */
};

static bool show_around(struct job *j, struct incore_error *e)
{
	const struct trace *t = j->trace;
	uint64_t want = cli_count(j->c, "around"), context = cli_count(j->c, "context");
	bool found = false;

	for (uint32_t i = 0; i < t->n_code; i++) {
		uint64_t first = i > context ? i - context : 0, last = i + context;

		if (t->code[i].number < 0 || (uint64_t)t->code[i].number != want)
			continue;
		found = true;
		if (last < context || last >= t->n_code)
			last = t->n_code - 1;
		for (uint64_t k = first; k <= last; k++)
			j->shown[k] = 1;
	}
	return found || err_set(e, INCORE_USAGE, "no-such-row",
				"--around %llu: the code table has no row of that number",
				(unsigned long long)want);
}

static bool choose_rows(struct job *j, struct incore_error *e)
{
	const struct trace *t = j->trace;
	const char *range = cli_text(j->c, "range");

	j->shown = mem_zalloc((size_t)t->n_code + 1, 1);
	if (!j->shown)
		return err_nomem(e);
	if (range && cli_has(j->c, "around"))
		return err_set(e, INCORE_USAGE, "bad-option", "give --range or --around, not both");
	if (cli_has(j->c, "around")) {
		if (!show_around(j, e))
			return false;
	} else {
		if (range && !number_set_parse(&j->range, str_of(range), "range", e))
			return false;
		for (uint32_t i = 0; i < t->n_code; i++)
			j->shown[i] = !range || (t->code[i].number >= 0 &&
							number_set_has(&j->range,
								(uint64_t)t->code[i].number));
	}
	return true;
}

static void hide_unexecuted(struct job *j)
{
	for (uint32_t i = 0; i < j->trace->n_code; i++)
		if (!j->trace->code[i].is_label && j->listing->hot->rows[i].totals.hit == 0 &&
			listing_weight(j->listing, &j->listing->hot->rows[i]) == 0)
			j->shown[i] = 0;
}

static bool run_walk(struct job *j, struct incore_error *e)
{
	struct walk_options o = cli_walk_options(j->c, &j->selection);
	struct collector made[LISTING_COLLECTORS];
	const struct collector *list[LISTING_COLLECTORS];
	size_t n = listing_collectors(j->listing, made);

	for (size_t i = 0; i < n; i++)
		list[i] = &made[i];
	if (!walk_tracks(j->trace, &o, list, n, &j->walk, e))
		return false;
	cli_walk_notes(j->c, &j->walk);
	return true;
}

/* --- JSON and CSV --------------------------------------------------------------------------- */

static bool print_json(struct job *j)
{
	const struct trace *t = j->trace;
	struct json_writer w;

	cli_json_begin(j->c, &w, &t, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	hot_json_totals(j->listing->hot, &w);
	listing_json(j->listing, j->shown, &w);
	json_w_end(&w);
	return cli_json_end(j->c, &w);
}

static void csv_row(const struct job *j, struct table *t, code_idx i)
{
	const struct listing *l = j->listing;
	const struct code_row *r = &j->trace->code[i];
	const struct hot_sums *sums = &l->hot->rows[i];
	code_idx to = l->cfg.target[i];
	const struct listing_row *row = &l->rows[i];

	table_i64(t, r->number);
	table_u64(t, r->address);
	table_cstr(t, r->text);
	table_cstr(t, class_name((enum inst_class)r->inst_class));
	if (j->trace->samples) {
		table_u64(t, sums->samples);
		table_u64(t, sums->stalled_samples);
	} else {
		table_u64(t, sums->totals.hit);
		table_u64(t, sums->totals.latency);
		table_u64(t, sums->totals.stall);
		table_u64(t, sums->totals.idle);
	}
	table_pct(t, listing_weight(l, sums), listing_weight(l, &l->hot->all));
	table_u64(t, row->depth);
	if (to < j->trace->n_code)
		table_i64(t, j->trace->code[to].number);
	else
		table_cstr(t, "");
	if (row->n_edges > 0)
		table_i64(t, j->trace->code[l->producers->edges.v[row->edge[0]].producer].number);
	else
		table_cstr(t, "");
	table_cstr(t, r->source ? r->source : "");
}

static bool print_csv(struct job *j)
{
	static const struct table_column cycles[] = {
		{"row", "row", CELL_RIGHT, false},
		{"address", "address", CELL_RIGHT, false},
		{"isa", "isa", CELL_LEFT, false},
		{"class", "class", CELL_LEFT, false},
		{"hit", "hits", CELL_RIGHT, false},
		{"latency", "latency_cycles", CELL_RIGHT, false},
		{"stall", "stall_cycles", CELL_RIGHT, false},
		{"idle", "idle_cycles", CELL_RIGHT, false},
		{"%", "share_of_latency_pct", CELL_RIGHT, false},
		{"loops", "loop_depth", CELL_RIGHT, false},
		{"to", "branch_target_row", CELL_RIGHT, false},
		{"for", "waits_for_row", CELL_RIGHT, false},
		{"source", "source", CELL_LEFT, false},
	};
	static const struct table_column samples[] = {
		{"row", "row", CELL_RIGHT, false},
		{"address", "address", CELL_RIGHT, false},
		{"isa", "isa", CELL_LEFT, false},
		{"class", "class", CELL_LEFT, false},
		{"samples", "samples", CELL_RIGHT, false},
		{"stalled", "stalled_samples", CELL_RIGHT, false},
		{"%", "share_of_samples_pct", CELL_RIGHT, false},
		{"loops", "loop_depth", CELL_RIGHT, false},
		{"to", "branch_target_row", CELL_RIGHT, false},
		{"for", "waits_for_row", CELL_RIGHT, false},
		{"source", "source", CELL_LEFT, false},
	};
	struct table t;
	bool ok;

	if (j->trace->samples)
		table_init(&t, samples, sizeof(samples) / sizeof(samples[0]));
	else
		table_init(&t, cycles, sizeof(cycles) / sizeof(cycles[0]));
	for (code_idx i = 0; i < j->trace->n_code; i++)
		if (j->shown[i] && !j->trace->code[i].is_label)
			csv_row(j, &t, i);
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

/* --- the verb ------------------------------------------------------------------------------- */

static void print_explanation(FILE *out)
{
	fputs("\nlatency, stall: sums over all executions, as recorded (stall is part of latency); "
	      "% is the row's\nshare of all latency. An arrow into a wait comes from the "
	      "instruction "
	      "whose return released it most\nof the time; \"group\": one of several that return "
	      "in "
	      "any order. Bars left of the arrows are loops.\n",
		out);
}

static bool print_text(struct job *j)
{
	struct isa_text text = {.cli = j->c,
		.listing = j->listing,
		.shown = j->shown,
		.n_notes = j->c->n_notes,
		.is_ascii = cli_flag(j->c, "ascii")};
	struct strbuf out = {0};
	unsigned line = 0;
	bool ok = isa_text_make(&text, &out, &line, &j->c->error);

	if (ok) {
		cli_page(j->c, line);
		fwrite(out.p, 1, out.n, j->c->out);
		if (cli_flag(j->c, "explain"))
			print_explanation(j->c->out);
	}
	sb_free(&out);
	return ok;
}

static bool run_job(struct job *j)
{
	struct incore_error *e = &j->c->error;

	if (!cli_open_trace(
		    j->c, j->c->args[0], IMPORT_OCCUPANCY * cli_has(j->c, "kernel"), &j->trace))
		return false;
	if (!cli_selection(j->c, j->trace, &j->selection) || !choose_rows(j, e))
		return false;
	j->listing = listing_new(j->trace, j->c->use_json, e);
	if (!j->listing)
		return false;
	if (j->trace->n_tracks == 0 && j->trace->samples)
		cli_warn(j->c, "sampled data: counts of samples, not cycles; no wait arrows");
	else if (j->trace->n_tracks == 0)
		cli_warn(j->c, "no waves in this capture: totals are those that code.json states, "
			       "and there are no wait arrows");
	else if (!run_walk(j, e))
		return false;
	if (!listing_finish(j->listing, e))
		return false;
	if (cli_flag(j->c, "executed"))
		hide_unexecuted(j);
	if (j->c->use_json)
		return print_json(j);
	return j->c->use_csv ? print_csv(j) : print_text(j);
}

static int run(struct cli *c)
{
	struct job j = {.c = c};
	bool ok = run_job(&j);

	walk_result_deinit(&j.walk);
	listing_free(j.listing);
	mem_free(j.shown);
	VEC_FREE(&j.range.ranges);
	selection_deinit(&j.selection);
	trace_free(j.trace);
	return ok ? INCORE_OK : cli_fail(c);
}

const struct verb verb_isa = {
	.name = "isa",
	.args = "PATH",
	.summary = "the disassembly with costs, wait arrows, branches and loops",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_SELECT | OPTIONS_CAPTURE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
};
