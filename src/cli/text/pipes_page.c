/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_page.c: summary of a trace whose tracks are pipes. */
#include "cli/text/pipes_page.h"

#include <stdlib.h>

#include "analysis/check/check.h"
#include "analysis/code/source_lines.h"
#include "analysis/summary/tables.h"
#include "answer/hot.h"
#include "cli/text/pipes_text.h"
#include "cli/text/summary_page.h"
#include "cli/text/tables_text.h"

#define SUMMARY_ROWS 8u
#define SUMMARY_JSON_ROWS 20u

struct job {
	struct cli *c;
	const struct trace *trace;
	struct pipes *pipes;	  /* of the selection */
	struct pipes *own;	  /* the same, when it is ours to free */
	struct check *check;	  /* summary */
	struct hot *hot;	  /* summary */
	struct hot_group *groups; /* summary: instructions by cycles */
	uint32_t n_groups;
	struct walk_result walk;
	struct source_lines lines; /* summary --json */
	bool has_lines;
	struct arena arena;
	struct answer answer; /* holds the rows of the part */
	struct pipes_part part;
};

static void job_deinit(struct job *j)
{
	pipes_free(j->own);
	check_free(j->check);
	hot_free(j->hot);
	if (j->has_lines)
		source_lines_deinit(&j->lines);
	walk_result_deinit(&j->walk);
	arena_deinit(&j->arena);
	answer_deinit(&j->answer);
}

static bool make_text(struct job *j, uint64_t top)
{
	return pipes_part_make(
		&j->answer, j->pipes, WAVES_SORT_DURATION, top, &j->part, &j->c->error);
}

/* The health is that of the whole trace, whatever part is looked at. */
static bool ask_summary(struct job *j, const struct selection *s)
{
	struct incore_error *e = &j->c->error;
	struct walk_options o = cli_walk_options(j->c, s);
	struct walk_options all = cli_walk_options(j->c, NULL);
	bool is_all = selection_is_all(s);
	struct walk_result rest = {0};
	struct collector made[2];
	const struct collector *list[] = {&made[0], &made[1]};

	j->hot = hot_new(j->trace);
	if (!j->hot)
		return err_nomem(e);
	if (is_all)
		j->check = check_new(j->trace, NULL, e);
	else
		j->check = check_run(j->trace, NULL, &all, &rest, e);
	walk_result_deinit(&rest);
	if (!j->check)
		return false;
	j->pipes = is_all ? j->check->pipes : (j->own = pipes_new(j->trace, e));
	if (!j->pipes)
		return false;
	made[0] = pipes_collector(j->pipes);
	made[1] = hot_collector(j->hot);
	if (!walk_tracks(j->trace, &o, list, 2, &j->walk, e))
		return false;
	cli_walk_notes(j->c, &j->walk);
	if (j->trace->n_tracks == 0)
		hot_take_stated(j->hot);
	return (is_all ? check_finish(j->check, &j->walk, e) : pipes_finish(j->pipes, e)) &&
	       hot_group(j->hot, HOT_BY_INSTR,
		       j->hot->is_stated ? HOT_SORT_LATENCY : HOT_SORT_CYCLES, false, &j->arena,
		       &j->groups, &j->n_groups, e);
}

static const char *verdict_of(const struct job *j)
{
	if (j->trace->n_tracks == 0)
		return "no verdict: no pipe was traced; what the producer states is shown";
	if (j->check->verdict == VERDICT_UNUSABLE)
		return "no verdict: the trace is unusable";
	return j->pipes->bound.sentence;
}

/* How well the code is mapped to lines, as of waves. */
static bool ask_lines(struct job *j)
{
	const struct trace *t = j->trace;
	struct code_totals *totals =
		arena_zalloc(&j->arena, (size_t)t->n_code + 1, sizeof(*totals));

	if (!totals)
		return err_nomem(&j->c->error);
	for (code_idx i = 0; i < t->n_code; i++)
		totals[i] = j->hot->rows[i].totals;
	j->has_lines = source_lines_compute(&j->lines, t, totals, &j->c->error);
	return j->has_lines;
}

static bool print_summary_json(struct job *j, const char *health)
{
	struct json_writer w;
	const struct trace *t = j->trace;
	uint64_t top = cli_has(j->c, "top") ? cli_top(j->c) : SUMMARY_JSON_ROWS;

	if (!ask_lines(j))
		return false;
	cli_json_begin(j->c, &w, &t, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "evidence", evidence_name(t->meta.evidence));
	json_w_kv_cstr(&w, "verdict", verdict_of(j));
	json_w_kv_cstr(&w, "health", health);
	j->part.pipes.n = j->part.n_all;
	record_json_members(&pipes_part_record, &j->part, &w);
	json_w_key(&w, "rows");
	json_w_array(&w);
	for (uint32_t i = 0; i < j->n_groups && i < top; i++) {
		struct hot_row row;

		if (!hot_row_make(&j->answer, j->hot, &j->groups[i], &row, &j->c->error))
			return false;
		record_json(&hot_plain_record, &row, &w);
	}
	json_w_end(&w);
	json_w_key(&w, "source");
	source_quality_json(&j->lines, &w);
	tables_json(t, top, top == UINT64_MAX, &w);
	json_w_end(&w);
	return cli_json_end(j->c, &w);
}

static void print_provenance(struct page *p, const struct job *j, const char *health)
{
	const struct trace_meta *m = &j->trace->meta;
	double mhz = trace_clock_mhz(j->trace);

	page_wrap(p, "", verdict_of(j));
	page_line(p, "kernel     ", "%s%s%s, %s", m->kernel ? m->kernel : "(unnamed kernel)",
		m->arch ? " on " : "", m->arch ? m->arch : "",
		evidence_text(j->trace, (char[EVIDENCE_TEXT]){0}));
	page_line(p, "capture    ", "%s", m->origin);
	if (mhz > 0)
		page_line(p, "clock      ", "%.0f MHz (%s)", mhz,
			m->clock_source ? m->clock_source : "unknown source");
	page_line(p, "health     ", "%s", health);
	for (uint32_t i = 0; i < j->check->n_findings; i++) {
		const struct finding *f = &j->check->findings[i];

		if (f->severity != SEVERITY_INFO)
			page_line(p, "  - ", "%s: %s; %s", f->id, f->message,
				f->advice ? f->advice : "");
	}
}

static bool print_instructions(struct page *p, const struct job *j)
{
	static const struct table_column columns[] = {
		{"row", NULL, CELL_RIGHT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"hit", NULL, CELL_RIGHT, false},
		{"issue", NULL, CELL_RIGHT, false},
		{"wait", NULL, CELL_RIGHT, false},
		{"stall", NULL, CELL_RIGHT, false},
		{"instruction", NULL, CELL_LEFT, true},
		{"source", NULL, CELL_LEFT, true},
	};
	const struct trace *tr = j->trace;
	struct table t;

	page_title(p, "Instructions");
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < j->n_groups && i < p->top; i++) {
		const struct hot_group *g = &j->groups[i];
		const struct code_row *r = g->code < tr->n_code ? &tr->code[g->code] : NULL;
		uint64_t cycles = j->hot->is_stated ? g->sums.totals.latency : hot_cycles(&g->sums);

		page_put_row_number(&t, r ? r->number : -1);
		table_u64(&t, cycles);
		table_pct(&t, cycles,
			j->hot->is_stated ? j->hot->all.totals.latency : j->hot->duration_cyc);
		table_u64(&t, g->sums.totals.hit);
		table_u64(&t, g->sums.bucket[BUCKET_ISSUE]);
		table_u64(&t, g->sums.bucket[BUCKET_WAIT]);
		table_u64(&t, g->sums.bucket[BUCKET_STALL]);
		page_put_clipped(&t, g->key, PAGE_TEXT_MAX);
		page_put_tail(&t, str_of(r ? r->source : ""), PAGE_TEXT_MAX);
	}
	return page_finish(p, &t) || err_nomem(&j->c->error);
}

static bool print_summary(struct job *j, const char *health)
{
	const struct pipes_part *x = &j->part;
	struct page p = {.c = j->c, .top = x->top, .out = j->c->out};

	print_provenance(&p, j, health);
	if (j->pipes->n_pipes) {
		page_title(&p, "Pipes");
		if (!pipes_print_table(j->c, x) || !pipes_print_overlap(j->c, x))
			return false;
	}
	if (j->pipes->pairs.n) {
		page_title(&p, "Waits");
		if (!pipes_print_pairs(j->c, x))
			return false;
	}
	if (!pipes_print_path(j->c, x) || (j->n_groups && !print_instructions(&p, j)))
		return false;
	return tables_print_details(j->c, j->trace, x->top) &&
	       (!p.is_failed || err_nomem(&j->c->error));
}

bool pipes_page_summary(struct cli *c, const struct trace *t, const struct selection *s)
{
	struct job j = {.c = c, .trace = t};
	struct strbuf health = {0};
	bool ok;

	arena_init(&j.arena);
	arena_init(&j.answer.arena);
	ok = ask_summary(&j, s) && make_text(&j, cli_has(c, "top") ? cli_top(c) : SUMMARY_ROWS);
	ok = ok && (check_health(j.check, &health) || err_nomem(&c->error));
	if (ok)
		ok = c->use_json ? print_summary_json(&j, health.p) : print_summary(&j, health.p);
	sb_free(&health);
	job_deinit(&j);
	return ok;
}
