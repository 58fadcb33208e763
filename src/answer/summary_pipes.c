/* SPDX-License-Identifier: Apache-2.0 */
/* summary_pipes.c: the one-page verdict on a trace whose tracks are pipes. */
#include "answer/summary.h"

static const struct column pipes_columns[] = {
	EVIDENCE_COLUMN(summary_pipes, "what the figures rest on"),
	COLUMN(summary_pipes, verdict, UNIT_NONE, "verdict on the kernel in one sentence"),
	COLUMN(summary_pipes, health, UNIT_NONE,
		"verdict of incore check with errors and warnings"),
	PART(summary_pipes, pipes, &pipes_part_record),
	LIST(summary_pipes, rows, &hot_plain_record, "instructions with most cycles first"),
	RECORD(summary_pipes, source, &source_quality_record, "how well code is mapped to lines"),
	LIST(summary_pipes, tables, &producer_table_record,
		"tables of the producer that incore does not interpret"),
	LIST(summary_pipes, advice, &advice_record, "what to try, largest number of cycles first"),
	LIST(summary_pipes, findings, &finding_record, "what incore check found, errors first",
		NO_JSON),
};
const struct record summary_pipes_record = RECORD_OF(summary_pipes, RECORD_BLOCK, pipes_columns);

struct pipes_job {
	const struct request *r;
	struct answer *a;
	const struct trace *trace;
	const struct selection *selection;
	struct pipes *pipes; /* the selected ones */
	struct check *check;
	struct hot *hot;
	struct hot_group *groups; /* instructions by cycles */
	uint32_t n_groups;
	struct summary_pipes *out;
};

static bool make_check(struct pipes_job *j, bool is_all, struct incore_error *e)
{
	struct walk_options all = request_walk(j->r, NULL);
	struct walk_result rest = {0};

	if (is_all)
		j->check = check_new(j->trace, NULL, e);
	else
		j->check = check_run(j->trace, NULL, &all, &rest, e);
	walk_result_deinit(&rest);
	return j->check && ANSWER_KEEP(j->a, j->check, check_free, e);
}

/* Health always refers to the whole trace, whatever part is selected. */
static bool make_analyses(struct pipes_job *j, bool is_all, struct incore_error *e)
{
	j->hot = hot_new(j->trace);
	if (!j->hot || !ANSWER_KEEP(j->a, j->hot, hot_free, e))
		return err_nomem(e);
	if (!make_check(j, is_all, e))
		return false;
	if (is_all) {
		j->pipes = j->check->pipes;
		return true;
	}
	j->pipes = pipes_new(j->trace, e);
	return j->pipes && ANSWER_KEEP(j->a, j->pipes, pipes_free, e);
}

static bool walk_pipes(struct pipes_job *j, bool is_all, struct incore_error *e)
{
	struct walk_options o = request_walk(j->r, j->selection);
	struct collector made[] = {pipes_collector(j->pipes), hot_collector(j->hot)};
	const struct collector *list[] = {&made[0], &made[1]};
	struct walk_result walk = {0};
	bool ok = walk_tracks(j->trace, &o, list, 2, &walk, e);

	if (ok) {
		answer_walk_notes(j->a, &walk);
		if (j->trace->n_tracks == 0)
			hot_take_stated(j->hot);
		ok = is_all ? check_finish(j->check, &walk, e) : pipes_finish(j->pipes, e);
	}
	walk_result_deinit(&walk);
	return ok && hot_group(j->hot, HOT_BY_INSTR,
			     j->hot->is_stated ? HOT_SORT_LATENCY : HOT_SORT_CYCLES, false,
			     &j->a->arena, &j->groups, &j->n_groups, e);
}

static const char *verdict_of(const struct pipes_job *j)
{
	if (j->trace->n_tracks == 0)
		return "no verdict: no pipe was traced; what the producer states is shown";
	if (j->check->verdict == VERDICT_UNUSABLE)
		return "no verdict: the trace is unusable";
	return j->pipes->bound.sentence;
}

/* How well the code is mapped to lines, as for traces of waves. */
static bool put_source(struct pipes_job *j, struct incore_error *e)
{
	const struct trace *t = j->trace;
	struct code_totals *totals = answer_alloc(j->a, t->n_code, sizeof(*totals), e);
	struct source_lines lines;
	bool ok;

	if (!totals)
		return false;
	for (code_idx i = 0; i < t->n_code; i++)
		totals[i] = j->hot->rows[i].totals;
	if (!source_lines_compute(&lines, t, totals, e))
		return false;
	ok = source_quality_make(j->a, &lines, &j->out->source, e);
	source_lines_deinit(&lines);
	return ok;
}

static bool put_rows(struct pipes_job *j, uint64_t top, struct incore_error *e)
{
	size_t n = top < j->n_groups ? (size_t)top : j->n_groups;
	struct hot_row *v = ANSWER_ROWS(j->a, &j->out->rows, n, hot_row, e);

	for (size_t i = 0; i < n; i++)
		if (!v || !hot_row_make(j->a, j->hot, &j->groups[i], &v[i], e))
			return false;
	j->out->has_rows = j->n_groups;
	return v != NULL;
}

static bool put_health(struct pipes_job *j, struct incore_error *e)
{
	struct finding_row *v = answer_alloc(j->a, j->check->n_findings, sizeof(*v), e);
	struct check_part part = {0};

	j->out->health = check_health_text(j->a, j->check, e);
	if (!v || !j->out->health ||
		!check_part_make(j->a, j->check, j->trace->meta.origin, v, &part, e))
		return false;
	j->out->findings = part.findings;
	return true;
}

static bool put_advice(struct pipes_job *j, struct incore_error *e)
{
	struct advise_list l = {.arena = &j->a->arena};
	const struct pipe_path *path = &j->pipes->path;
	bool ok = j->check->verdict == VERDICT_UNUSABLE || !path->is_known ||
		  advise_pipes(j->pipes, &l, e);

	ok = ok &&
	     advice_rows(j->a, j->trace, &l, path->end_cyc - path->begin_cyc, &j->out->advice, e);
	advise_list_deinit(&l);
	return ok;
}

bool summary_pipes_make(const struct request *r, struct answer *a, const struct trace *t,
	const struct selection *s, struct incore_error *e)
{
	struct pipes_job j = {
		.r = r, .a = a, .trace = t, .selection = s, .out = ANSWER_NEW(a, summary_pipes, e)};
	uint64_t top = request_top(r, 8, 20);
	bool is_all = selection_is_all(s);

	if (!j.out || !make_analyses(&j, is_all, e) || !walk_pipes(&j, is_all, e))
		return false;
	j.out->evidence = evidence_name(t->meta.evidence);
	j.out->verdict = verdict_of(&j);
	a->record = &summary_pipes_record;
	a->data = j.out;
	/* Programs get every pipe. */
	return pipes_part_make(a, j.pipes, WAVES_SORT_DURATION, r->is_for_people ? top : UINT64_MAX,
		       &j.out->pipes, e) &&
	       put_health(&j, e) && put_rows(&j, top, e) && put_source(&j, e) &&
	       put_advice(&j, e) &&
	       producer_table_rows(a, t, top, top == UINT64_MAX, &j.out->tables, e);
}
