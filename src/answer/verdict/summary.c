/* SPDX-License-Identifier: Apache-2.0 */
/* summary.c: the one-page verdict: bound by what, where, on what evidence? */
#include "answer/verdict/summary.h"

#include "analysis/code/flydsl_hotspot.h"
#include "answer/captures.h"
#include "answer/pages.h"
#include "answer/siblings.h"
#include "answer/summary_parts.h"

/* --- parts of the answer ---------------------------------------------------------------------- */

/* --- causes --------------------------------------------------------------------------------- */

static const struct column cause_columns[] = {
	COLUMN(summary_cause, cause, UNIT_NONE, "cause of the cycles"),
	COLUMN(summary_cause, bucket, UNIT_NONE, "bucket that the cycles are in",
		.words = "issue|stall|wait|idle|drain"),
	COLUMN(summary_cause, family, UNIT_NONE, "family of causes that it belongs to"),
	COLUMN(summary_cause, cycles, UNIT_CYCLES, "cycles of the cause"),
	COLUMN(summary_cause, hidden, UNIT_CYCLES,
		"cycles during which another wave of the SIMD issued", OPTIONAL),
	COLUMN(summary_cause, exposed, UNIT_CYCLES, "cycles minus hidden cycles", OPTIONAL),
	COLUMN(summary_cause, hits, UNIT_COUNT, "number of occurrences"),
	COLUMN(summary_cause, free_hits, UNIT_COUNT, "number of waits that did not block",
		OPTIONAL),
	COLUMN(summary_cause, free_cycles, UNIT_CYCLES,
		"cycles of waits that did not block: the floor of a wait", OPTIONAL),
};
const struct record summary_cause_record = RECORD_OF(summary_cause, RECORD_LINE, cause_columns);

static bool summary_cause_rows(
	struct answer *a, const struct causes *c, struct rows *out, struct incore_error *e)
{
	struct summary_cause *v = ANSWER_ROWS(a, out, c->n, summary_cause, e);

	for (uint32_t i = 0; v && i < c->n; i++) {
		const struct cause *x = &c->v[i];
		bool is_loss = c->busy && x->kind != CAUSE_ISSUE;
		bool is_wait = x->kind == CAUSE_WAIT;

		v[i] = (struct summary_cause){.cause = x->name,
			.bucket = bucket_name(x->bucket),
			.family = family_name(x->family),
			.cycles = x->cyc,
			.hidden = is_loss ? x->hidden_cyc : NO_U64,
			.exposed = is_loss ? x->cyc - x->hidden_cyc : NO_U64,
			.hits = x->hits,
			.free_hits = is_wait ? x->free_hits : NO_U64,
			.free_cycles = is_wait ? x->free_cyc : NO_U64};
	}
	return v != NULL;
}

static const struct column family_sums_columns[] = {
	COLUMN(family_sums, cycles, UNIT_CYCLES, "cycles lost to this family of causes"),
	COLUMN(family_sums, hidden, UNIT_CYCLES,
		"lost cycles during which another wave of the SIMD issued", OPTIONAL),
	COLUMN(family_sums, exposed, UNIT_CYCLES, "lost cycles minus hidden cycles", OPTIONAL),
	COLUMN(family_sums, share, UNIT_SHARE, "share of all lost cycles", .digits = 6),
	COLUMN(family_sums, lifetime_share, UNIT_SHARE, "share of the cycles of all waves",
		.digits = 6),
};
static const struct record family_sums_record =
	RECORD_OF(family_sums, RECORD_LINE, family_sums_columns);
static const struct column family_columns[] = {
	COLUMN(family_row, family, UNIT_NONE, "family of causes"),
	RECORD(family_row, sums, &family_sums_record, "cycles lost to this family"),
};
const struct record family_record = RECORD_OF(family_row, RECORD_BLOCK, family_columns);

static bool family_rows(
	struct answer *a, const struct causes *c, struct rows *out, struct incore_error *e)
{
	struct family_row *v = ANSWER_ROWS(a, out, FAMILY_COUNT, family_row, e);
	uint64_t lost = 0;
	size_t n = 0;

	for (unsigned f = FAMILY_USEFUL + 1; f < FAMILY_COUNT; f++)
		lost += c->family[f].cyc;
	for (unsigned f = FAMILY_USEFUL + 1; v && f < FAMILY_COUNT; f++) {
		const struct family_sum *s = &c->family[f];

		if (s->cyc)
			v[n++] = (struct family_row){family_name(f),
				{s->cyc, c->busy ? s->hidden_cyc : NO_U64,
					c->busy ? s->cyc - s->hidden_cyc : NO_U64,
					ratio(s->cyc, lost), ratio(s->cyc, c->duration_cyc)}};
	}
	out->n = n;
	return v != NULL;
}

/* --- hidden --------------------------------------------------------------------------------- */

static const struct column hidden_line_columns[] = {
	COLUMN(hidden_line, total, UNIT_CYCLES, "all lost cycles"),
	COLUMN(hidden_line, hidden, UNIT_CYCLES,
		"lost cycles during which another wave of the SIMD issued"),
	COLUMN(hidden_line, exposed, UNIT_CYCLES, "total minus hidden cycles"),
	COLUMN(hidden_line, other_simd, UNIT_CYCLES,
		"lost cycles during which a SIMD without detail issued; null: not in the capture",
		NULLABLE),
};
static const struct record hidden_line_record =
	RECORD_OF(hidden_line, RECORD_LINE, hidden_line_columns);

#define HIDDEN(M, DOC) RECORD(hidden_part, M, &hidden_line_record, DOC)
static const struct column hidden_columns[] = {
	HIDDEN(stall, "cycles held back before issue"),
	HIDDEN(wait, "cycles at a wait, a barrier or a sleep"),
	HIDDEN(idle, "cycles in which nothing was due"),
	HIDDEN(drain, "cycles at the end of the program"),
	HIDDEN(lost, "lost cycles: stall, wait, idle and drain together"),
	HIDDEN(recorded_stall, "the stall field as recorded, without the accounting's corrections"),
};
const struct record hidden_record = RECORD_OF(hidden_part, RECORD_BLOCK, hidden_columns);

static struct hidden_line hidden_line_of(const struct hidden_sum *s, bool has_others)
{
	return (struct hidden_line){s->cyc, s->hidden_cyc, s->cyc - s->hidden_cyc,
		has_others ? s->other_simd_cyc : NO_U64};
}

static struct hidden_part hidden_part_of(const struct hidden *h)
{
	struct hidden_sum lost = hidden_lost(h);
	const struct hidden_sum *b = h->bucket;

	return (struct hidden_part){hidden_line_of(&b[BUCKET_STALL], h->others),
		hidden_line_of(&b[BUCKET_WAIT], h->others),
		hidden_line_of(&b[BUCKET_IDLE], h->others),
		hidden_line_of(&b[BUCKET_DRAIN], h->others), hidden_line_of(&lost, h->others),
		hidden_line_of(&h->recorded, false)};
}

/* --- pipes of a SIMD ------------------------------------------------------------------------ */

#define CYCLES(P, NAME, DOC) COLUMN_AS(pipe_cycles, cyc[P], NAME, UNIT_CYCLES, DOC)
static const struct column pipe_cycles_columns[] = {
	CYCLES(PIPE_RESIDENT, "resident", "cycles with at least one wave"),
	CYCLES(PIPE_ANY, "any", "cycles in which anything issued"),
	COLUMN(pipe_cycles, idle, UNIT_CYCLES, "cycles in which nothing issued"),
	CYCLES(PIPE_VALU, "VALU", "cycles in which a vector instruction issued"),
	CYCLES(PIPE_MATRIX, "MATRIX", "cycles in which a matrix instruction issued"),
	CYCLES(PIPE_LDS, "LDS", "cycles in which an instruction on local memory issued"),
	CYCLES(PIPE_VMEM, "VMEM", "cycles in which an instruction on vector memory issued"),
	CYCLES(PIPE_SCALAR, "scalar", "cycles in which a scalar instruction issued"),
	CYCLES(PIPE_BRANCH, "branch", "cycles in which a branch issued"),
	CYCLES(PIPE_OTHER, "other", "cycles in which anything else issued"),
};
const struct record pipe_cycles_record = RECORD_OF(pipe_cycles, RECORD_LINE, pipe_cycles_columns);

#define SHARE(P, NAME, DOC) COLUMN_AS(pipe_shares, of[P], NAME, UNIT_SHARE, DOC, .digits = 6)
static const struct column pipe_shares_columns[] = {
	SHARE(PIPE_ANY, "any", "share of the resident cycles in which anything issued"),
	COLUMN(pipe_shares, idle, UNIT_SHARE,
		"share of the resident cycles in which nothing issued", .digits = 6),
	SHARE(PIPE_VALU, "VALU",
		"share of the resident cycles in which a vector instruction issued"),
	SHARE(PIPE_MATRIX, "MATRIX",
		"share of the resident cycles in which a matrix instruction issued"),
	SHARE(PIPE_LDS, "LDS",
		"share of the resident cycles in which a local memory instruction issued"),
	SHARE(PIPE_VMEM, "VMEM",
		"share of the resident cycles in which a vector memory instruction issued"),
	SHARE(PIPE_SCALAR, "scalar",
		"share of the resident cycles in which a scalar instruction issued"),
	SHARE(PIPE_BRANCH, "branch", "share of the resident cycles in which a branch issued"),
	SHARE(PIPE_OTHER, "other", "share of the resident cycles in which anything else issued"),
};
const struct record pipe_shares_record = RECORD_OF(pipe_shares, RECORD_LINE, pipe_shares_columns);

static const struct column place_columns[] = {
	COLUMN(simd_place, se, UNIT_NONE, "number of the shader engine"),
	COLUMN(simd_place, cu, UNIT_NONE, "number of the compute unit"),
	COLUMN(simd_place, simd, UNIT_NONE, "number of the SIMD"),
};
static const struct record place_record = RECORD_OF(simd_place, RECORD_LINE, place_columns);

static struct simd_place summary_place_of(const struct trace *t, track_idx i)
{
	const uint32_t *c = t->tracks[i].coord;

	return (struct simd_place){c[0], c[1], c[2]};
}

static const struct column utilization_columns[] = {
	PART(utilization_row, place, &place_record),
	RECORD(utilization_row, cycles, &pipe_cycles_record, "cycles in which each pipe issued"),
	RECORD(utilization_row, shares, &pipe_shares_record,
		"issue cycles of each pipe as a share of the resident cycles"),
};
const struct record utilization_record =
	RECORD_OF(utilization_row, RECORD_LINE, utilization_columns);

static struct pipe_cycles pipe_cycles_of(const uint64_t cyc[PIPE_COUNT])
{
	struct pipe_cycles x = {.idle = cyc[PIPE_RESIDENT] - cyc[PIPE_ANY]};

	memcpy(x.cyc, cyc, sizeof(x.cyc));
	return x;
}

static struct pipe_shares pipe_shares_of(const uint64_t cyc[PIPE_COUNT])
{
	uint64_t whole = cyc[PIPE_RESIDENT];
	struct pipe_shares x = {.idle = ratio(whole - cyc[PIPE_ANY], whole)};

	for (unsigned p = 0; p <= PIPE_ANY; p++)
		x.of[p] = ratio(cyc[p], whole);
	return x;
}

static bool utilization_rows(
	struct answer *a, const struct utilization *u, struct rows *out, struct incore_error *e)
{
	struct utilization_row *v = ANSWER_ROWS(a, out, u->groups->n_groups, utilization_row, e);
	size_t n = 0;

	for (uint32_t i = 0; v && i < u->groups->n_groups; i++) {
		const struct utilization_simd *s = &u->simds[i];

		if (s->first != NO_TRACK)
			v[n++] = (struct utilization_row){
				summary_place_of(u->groups->trace, s->first),
				pipe_cycles_of(s->cyc), pipe_shares_of(s->cyc)};
	}
	out->n = n;
	return v != NULL;
}

/* --- the matrix pipe ------------------------------------------------------------------------ */

static const struct column matrix_row_columns[] = {
	PART(matrix_row, place, &place_record),
	COLUMN(matrix_row, pipe_cycles, UNIT_CYCLES,
		"cycles in which the pipe is busy, according to the model"),
	COLUMN(matrix_row, pipe_share, UNIT_SHARE,
		"busy cycles of the pipe as a share of the cycles with waves", .digits = 6),
};
static const struct record matrix_row_record =
	RECORD_OF(matrix_row, RECORD_LINE, matrix_row_columns);

#define MODELLED(M, NAME, UNIT, DOC) COLUMN_AS(matrix_model, m.M, NAME, UNIT, DOC)
static const struct column model_columns[] = {
	COLUMN(matrix_model, evidence, UNIT_NONE,
		"the model uses the shape in the mnemonic, not the trace", .words = "modelled"),
	MODELLED(modelled_cyc, "pipe_cycles", UNIT_CYCLES,
		"resident cycles in which the pipe is busy with instructions of known length"),
	COLUMN(matrix_model, pipe_share, UNIT_SHARE,
		"busy cycles of the pipe as a share of resident_cycles", .digits = 6),
	MODELLED(modelled_sum_cyc, "pipe_cycles_of_records", UNIT_CYCLES,
		"sum of the lengths of all executions"),
	MODELLED(modelled_hits, "hits", UNIT_COUNT, "executions of known length"),
	MODELLED(unknown_hits, "unknown_hits", UNIT_COUNT, "executions of unknown length"),
	MODELLED(macs, "multiply_accumulates", UNIT_COUNT,
		"multiply-accumulates of the executions of known length"),
	LIST(matrix_model, by_simd, &matrix_row_record, "figures of each SIMD that had waves"),
};
static const struct record model_record = RECORD_OF(matrix_model, RECORD_BLOCK, model_columns);

#define MATRIX(M, NAME, UNIT, DOC) COLUMN_AS(matrix_part, m.M, NAME, UNIT, DOC)
static const struct column matrix_columns[] = {
	MATRIX(static_rows, "static_rows", UNIT_COUNT, "matrix instructions of the code"),
	MATRIX(executed_rows, "executed_rows", UNIT_COUNT,
		"matrix instructions of the code that were executed"),
	MATRIX(hits, "hits", UNIT_COUNT, "executions of matrix instructions"),
	MATRIX(n_simds, "simds", UNIT_COUNT, "SIMDs that had waves"),
	MATRIX(resident_cyc, "resident_cycles", UNIT_CYCLES,
		"cycles of all SIMDs with at least one wave"),
	MATRIX(issue_cyc, "issue_cycles", UNIT_CYCLES,
		"resident cycles in which a matrix instruction issued"),
	COLUMN(matrix_part, issue_share, UNIT_SHARE, "issue cycles as a share of resident_cycles",
		.digits = 6),
	MATRIX(issue_sum_cyc, "issue_cycles_of_records", UNIT_CYCLES,
		"sum of the issue cycles of all executions"),
	MATRIX(stall_sum_cyc, "stall_cycles_of_records", UNIT_CYCLES,
		"sum of the stall cycles of all executions"),
	RECORD(matrix_part, modelled, &model_record,
		"how long the pipe was busy, according to a model"),
};
const struct record matrix_record = RECORD_OF(matrix_part, RECORD_BLOCK, matrix_columns);

static bool matrix_part_make(
	struct answer *a, const struct matrix *m, struct matrix_part *out, struct incore_error *e)
{
	struct matrix_row *v = answer_alloc(a, m->n_groups, sizeof(*v), e);
	struct matrix_simd s;
	size_t n = 0;

	if (!v)
		return false;
	for (track_idx i = 0; i < m->trace->n_tracks; i++)
		if (matrix_simd_of(m, i, &s))
			v[n++] = (struct matrix_row){summary_place_of(m->trace, i), s.modelled_cyc,
				ratio(s.modelled_cyc, s.resident_cyc)};
	*out = (struct matrix_part){.m = *m,
		.issue_share = ratio(m->issue_cyc, m->resident_cyc),
		.modelled = {"modelled", *m, ratio(m->modelled_cyc, m->resident_cyc), {v, n}}};
	return true;
}

/* --- pipes ------------------------------------------------------------------------------------ */

static const struct column pipes_columns[] = {
	EVIDENCE_COLUMN(summary_pipes, "what the figures rest on"),
	COLUMN(summary_pipes, verdict, UNIT_NONE, "verdict on the kernel in one sentence"),
	RECORD(summary_pipes, screen, &verdict_screen_record,
		"the first screen, as incore verdict has it"),
	COLUMN(summary_pipes, health, UNIT_NONE,
		"verdict of incore check with errors and warnings"),
	PART(summary_pipes, pipes, &pipes_part_record),
	LIST(summary_pipes, rows, &hot_plain_record, "instructions with most cycles first"),
	RECORD(summary_pipes, source, &source_quality_record, "how well code is mapped to lines"),
	LIST(summary_pipes, tables, &producer_table_record,
		"tables of the producer that incore does not interpret"),
	LIST(summary_pipes, advice, &advice_record, "what to try, largest gain first"),
	LIST(summary_pipes, findings, &finding_record, "what incore check found, errors first",
		NO_JSON),
};
const struct record summary_pipes_record = RECORD_OF(summary_pipes, RECORD_BLOCK, pipes_columns);

struct pipes_job {
	const struct request *r;
	struct answer *a;
	struct trace *trace;
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

static bool summary_walk_pipes(struct pipes_job *j, bool is_all, struct incore_error *e)
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

static const char *summary_verdict_of(const struct pipes_job *j)
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

static bool summary_put_rows(struct pipes_job *j, uint64_t top, struct incore_error *e)
{
	size_t n = top < j->n_groups ? (size_t)top : j->n_groups;
	struct hot_row *v = ANSWER_ROWS(j->a, &j->out->rows, n, hot_row, e);

	for (size_t i = 0; i < n; i++)
		if (!v || !hot_row_make(j->a, j->hot, &j->groups[i], &v[i], e))
			return false;
	j->out->has_rows = j->n_groups;
	return v != NULL;
}

static bool pipes_put_health(struct pipes_job *j, struct incore_error *e)
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

/* What to try, and the lines that the page begins with. */
static bool put_verdict(struct answer *a, const struct request *r, struct advised *side,
	const char *health, struct rows *advice, struct verdict_screen *screen,
	struct incore_error *e)
{
	struct verdict_answer *v = ANSWER_NEW(a, verdict_answer, e);

	side->most_records = VERDICT_RECORDS;
	if (!v || !advise_capture(a, r, side, e) ||
		!verdict_make(a, r, side->trace, side, health, v, e))
		return false;
	*advice = side->rows;
	*screen = v->screen;
	return true;
}

static bool put_advice(struct pipes_job *j, struct incore_error *e)
{
	struct advised side = {.trace = j->trace,
		.pipes = j->pipes,
		.is_unusable = j->check->verdict == VERDICT_UNUSABLE};

	return put_verdict(j->a, j->r, &side, j->out->health, &j->out->advice, &j->out->screen, e);
}

/* Answers question_summary for a trace of pipes. */
static bool summary_pipes_make(const struct request *r, struct answer *a, struct trace *t,
	const struct selection *s, struct incore_error *e)
{
	struct pipes_job j = {
		.r = r, .a = a, .trace = t, .selection = s, .out = ANSWER_NEW(a, summary_pipes, e)};
	uint64_t top = request_top(r, 8, 20);
	bool is_all = selection_is_all(s);

	if (!j.out || !make_analyses(&j, is_all, e) || !summary_walk_pipes(&j, is_all, e))
		return false;
	j.out->evidence = evidence_name(t->meta.evidence);
	j.out->verdict = summary_verdict_of(&j);
	a->record = &summary_pipes_record;
	a->data = j.out;
	/* Programs get every pipe. */
	return pipes_part_make(a, j.pipes, WAVES_SORT_DURATION, r->is_for_people ? top : UINT64_MAX,
		       &j.out->pipes, e) &&
	       pipes_put_health(&j, e) && summary_put_rows(&j, top, e) && put_source(&j, e) &&
	       put_advice(&j, e) &&
	       producer_table_rows(a, t, top, top == UINT64_MAX, &j.out->tables, e);
}

/* --- waves ------------------------------------------------------------------------------------ */

/* --- columns -------------------------------------------------------------------------------- */

#define BOUND(M, NAME, UNIT, DOC, ...) COLUMN_AS(summary_bound, b.M, NAME, UNIT, DOC, ##__VA_ARGS__)
static const struct column bound_columns[] = {
	BOUND(has_verdict, "has_verdict", UNIT_NONE, "the verdict names a family of causes"),
	BOUND(reason, "reason", UNIT_NONE, "why the verdict names no family of causes", NULLABLE),
	COLUMN(summary_bound, family, UNIT_NONE, "family of causes with most exposed cycles",
		NULLABLE),
	BOUND(share, "share", UNIT_SHARE,
		"exposed cycles of the family as a share of the cycles of all waves", .digits = 6),
	BOUND(exposed_cyc, "exposed", UNIT_CYCLES,
		"cycles lost to the family during which no other wave issued"),
	BOUND(hidden_cyc, "hidden", UNIT_CYCLES,
		"cycles lost to the family during which another wave issued"),
	COLUMN(summary_bound, of, UNIT_CYCLES, "cycles of all waves"),
	COLUMN(summary_bound, second_family, UNIT_NONE,
		"family of causes with the next most exposed cycles", NULLABLE),
	BOUND(second_exposed_cyc, "second_exposed", UNIT_CYCLES, "exposed cycles of that"),
	BOUND(is_mixed, "mixed", UNIT_NONE,
		"the first and the second family differ by less than the noise"),
	BOUND(noise, "noise_floor", UNIT_SHARE, "noise as a share of the cycles of all waves",
		.digits = 6),
	COLUMN(summary_bound, noise_source, UNIT_NONE,
		"whether the noise was measured on repeats of the capture or assumed",
		.words = "repeats|assumed"),
	BOUND(n_repeats, "repeats", UNIT_COUNT, "number of repeats that the noise was measured on"),
	COLUMN(summary_bound, cause, UNIT_NONE, "the largest cause of the family", NULLABLE),
	POINTER(summary_bound, where, &code_ref_record,
		"the instruction that loses most cycles to this cause"),
	BOUND(where_exposed_cyc, "where_exposed", UNIT_CYCLES, "exposed cycles of that"),
	POINTER(summary_bound, producer, &code_ref_record,
		"the instruction that it waited for most"),
};
static const struct record bound_record = RECORD_OF(summary_bound, RECORD_BLOCK, bound_columns);

#define ORIGIN(M, NAME, DOC) COLUMN_AS(trace_meta, M, NAME, UNIT_NONE, DOC, NULLABLE)
static const struct column origin_columns[] = {
	ORIGIN(origin, "path", "path that the capture was read from"),
	ORIGIN(kernel, "kernel", "name of the kernel"),
	ORIGIN(arch, "arch", "architecture: gfx950, ..."),
	ORIGIN(machine.product, "product", "name of the device"),
	ORIGIN(launch.agent, "agent", "device that the kernel ran on"),
	ORIGIN(launch.dispatch, "dispatch", "number of the dispatch in the run"),
	ORIGIN(launch.launch_index, "launch_index", "number of the launch of this kernel, from 1"),
	ORIGIN(launch.launch_count, "launch_count", "launches of this kernel"),
	ORIGIN(launch.command, "command", "command line of the run"),
	ORIGIN(format, "format", "name of the reader that read it"),
	ORIGIN(format_version, "format_version", "version of the format, as the capture states it"),
};
static const struct record origin_record = RECORD_OF(trace_meta, RECORD_BLOCK, origin_columns);

static const struct column domain_columns[] = {
	COLUMN(clock_domain, id, UNIT_NONE, "number of the shader engine"),
	COLUMN_AS(clock_domain, is_aligned, "aligned", UNIT_NONE,
		"the offset of the shader engine is known"),
	COLUMN_AS(clock_domain, offset_cyc, "offset", UNIT_CYCLES,
		"cycles to add to align the engine's clock with the first"),
};
static const struct record domain_record = RECORD_OF(clock_domain, RECORD_LINE, domain_columns);

static const struct column clocks_columns[] = {
	COLUMN(summary_clocks, clock_mhz, UNIT_MHZ,
		"frequency of the clock that cycles are counted in", .digits = 3),
	COLUMN(summary_clocks, source, UNIT_NONE, "where the clock comes from", NULLABLE),
	COLUMN(summary_clocks, max_clock_mhz, UNIT_MHZ, "the highest clock of the device",
		NULLABLE),
	LIST(summary_clocks, domains, &domain_record, "clock of each shader engine"),
};
static const struct record clocks_record = RECORD_OF(summary_clocks, RECORD_BLOCK, clocks_columns);

static const struct column pie_columns[] = {
	COLUMN(viewer_pie, idle, UNIT_CYCLES, "recorded idle cycles"),
	COLUMN(viewer_pie, stall, UNIT_CYCLES, "recorded stall cycles, including waits"),
	COLUMN(viewer_pie, issue, UNIT_CYCLES, "recorded latency minus stall, including the drain"),
};
static const struct record pie_record = RECORD_OF(viewer_pie, RECORD_LINE, pie_columns);

static const struct column class_columns[] = {
	COLUMN(class_row, class, UNIT_NONE, "class of instructions"),
	PART(class_row, totals, &code_totals_record),
	RECORD(class_row, buckets, &bucket_record,
		"cycles by bucket; the buckets add up to the total"),
};
static const struct record class_record = RECORD_OF(class_row, RECORD_LINE, class_columns);

static const struct column producers_columns[] = {
	PART(summary_producers, sums, &producer_sums_record),
	LIST(summary_producers, edges, &edge_record, "which instruction each wait waited for"),
};
static const struct record producers_record =
	RECORD_OF(summary_producers, RECORD_BLOCK, producers_columns);

#define LINE_COLUMNS                                                                               \
	COLUMN(summary_line, hit, UNIT_COUNT, "number of executions"),                             \
		COLUMN(summary_line, cycles, UNIT_CYCLES, "cycles of the row or line"),            \
		COLUMN(summary_line, lost, UNIT_CYCLES, "cycles in which it did not issue"),       \
		COLUMN(summary_line, exposed, UNIT_CYCLES,                                         \
			"lost cycles during which no other wave issued"),                          \
		COLUMN(summary_line, cause, UNIT_NONE, "cause of most lost cycles", NULLABLE)
static const struct column row_columns[] = {
	POINTER(summary_line, at, &code_ref_record, "the instruction"),
	LINE_COLUMNS,
};
static const struct record row_record = RECORD_OF(summary_line, RECORD_LINE, row_columns);
static const struct column line_columns[] = {
	COLUMN(summary_line, line, UNIT_NONE, "source file and line"),
	COLUMN_HELD(summary_line, at, "costliest", COLUMN_POINTER, &code_ref_record,
		"instruction of the line with most exposed cycles"),
	LINE_COLUMNS,
};
static const struct record line_record = RECORD_OF(summary_line, RECORD_LINE, line_columns);

static const struct column legacy_columns[] = {
	COLUMN(name_count, name, UNIT_NONE, "stall type of the older hotspot script"),
	COLUMN(name_count, count, UNIT_CYCLES, "stated stall cycles of this type"),
};
static const struct record legacy_record = RECORD_OF(name_count, RECORD_BLOCK, legacy_columns);

static const struct column occupancy_columns[] = {
	COLUMN(summary_occupancy, peak_per_simd, UNIT_WAVES,
		"largest number of resident waves on one SIMD; null: none was followed", NULLABLE),
	COLUMN(summary_occupancy, peak, UNIT_WAVES,
		"largest number of resident waves overall; null: none was followed", NULLABLE),
	COLUMN(summary_occupancy, mean, UNIT_WAVES, "mean resident waves over the span", NULLABLE,
		.digits = 3),
	COLUMN(summary_occupancy, below_half_peak, UNIT_SHARE,
		"share of the span with fewer waves than half the peak", NULLABLE, .digits = 6),
	COLUMN(summary_occupancy, span, UNIT_CYCLES, "cycles from the first start to the last end",
		NULLABLE),
	COLUMN(summary_occupancy, tail, UNIT_CYCLES,
		"cycles from the first end that no start follows to the last end", NULLABLE),
	COLUMN(summary_occupancy, cu_balance, UNIT_NONE,
		"wave-cycles of the busiest CU divided by the mean; 1: perfect balance, 0: unknown",
		NULLABLE, .digits = 3),
	COLUMN(summary_occupancy, is_from_waves, UNIT_NONE,
		"counted from the traced waves, because starts and ends of all waves are missing"),
	RECORD(summary_occupancy, limits, &limits_record, "how many waves a SIMD can hold"),
};
static const struct record occupancy_record =
	RECORD_OF(summary_occupancy, RECORD_BLOCK, occupancy_columns);

#define HELD(M, OF, DOC) RECORD(summary_answer, M, OF, DOC)
#define WAVES(M, NAME, OF, DOC) COLUMN_HELD(summary_answer, M, NAME, COLUMN_POINTER, OF, DOC)
static const struct column summary_columns[] = {
	EVIDENCE_COLUMN(summary_answer, "what the figures rest on"),
	COLUMN(summary_answer, verdict, UNIT_NONE, "verdict on the kernel in one sentence"),
	HELD(screen, &verdict_screen_record, "the first screen, as incore verdict has it"),
	HELD(bound, &bound_record, "the parts of the verdict"),
	HELD(provenance, &origin_record, "the capture that was analysed"),
	HELD(health, &check_part_record, "result of incore check"),
	COLUMN(summary_answer, coverage, UNIT_NONE,
		"how much of the launch was traced, in one line"),
	HELD(clocks, &clocks_record, "clocks of the shader engines"),
	COLUMN(summary_answer, waves, UNIT_WAVES,
		"waves that were analysed; null: no wave was followed", NULLABLE),
	COLUMN(summary_answer, instructions, UNIT_COUNT, "instructions executed"),
	HELD(accounting, &accounting_record, "every cycle of all waves in one bucket"),
	HELD(accounting_shares, &bucket_shares_record, "the buckets as shares of the duration"),
	COLUMN(summary_answer, residue, UNIT_CYCLES, "duration minus all buckets; always 0"),
	WAVES(pie, "viewer_pie", &pie_record,
		"sums of the recorded columns, as the vendor's viewer has them; null: no wave was followed"),
	WAVES(wave_states, "states", &states_record,
		"cycles by state, from the hardware's state stream; null: no wave was followed"),
	HELD(hidden, &hidden_record, "lost cycles that other waves of the SIMD covered"),
	WAVES(pipes, "utilization", &pipe_cycles_record,
		"cycles of all SIMDs in which each pipe issued; null: no wave was followed"),
	WAVES(pipe_shares, "utilization_shares", &pipe_shares_record,
		"issue cycles of each pipe as a share of the resident cycles; null: no wave was followed"),
	LIST(summary_answer, utilization_by_simd, &utilization_record,
		"cycles in which each pipe issued, by SIMD"),
	WAVES(matrix_pipes, "matrix", &matrix_record,
		"how much the matrix pipes had to do; null: no wave was followed"),
	LIST(summary_answer, classes, &class_record, "figures by class of instructions"),
	LIST(summary_answer, causes, &summary_cause_record,
		"what cycles were spent on, largest cause first"),
	MAP(summary_answer, families, &family_record, "lost cycles by family of causes"),
	HELD(producers, &producers_record, "what was waited for"),
	LIST(summary_answer, rows, &row_record, "instructions with most exposed cycles first"),
	LIST(summary_answer, lines, &line_record, "source lines with most exposed cycles first"),
	HELD(source, &source_quality_record, "how well code is mapped to lines"),
	MAP(summary_answer, legacy_stall_by_type, &legacy_record,
		"stated stall by the types of the older hotspot script, largest first"),
	LIST(summary_answer, regions, &region_record,
		"regions of the code; null if source lines are enough", NULLABLE),
	LIST(summary_answer, loops, &loop_record, "loops of the code"),
	WAVES(lifetimes, "duration", &duration_record,
		"lifetimes of the waves; null: no wave was followed"),
	LIST(summary_answer, clusters, &cluster_record,
		"groups of waves that executed the same rows"),
	WAVES(meetings, "barriers", &barriers_record,
		"meetings of waves at barriers; null: no wave was followed"),
	HELD(occupancy, &occupancy_record, "how many waves there were at once"),
	POINTER(summary_answer, repeats, &repeats_record,
		"captures of this state beside it, which show its noise; null: none"),
	LIST(summary_answer, costs, &cost_record,
		"what one execution costs, by kind of instruction, largest latency first"),
	LIST(summary_answer, advice, &advice_record, "what to try, largest gain first"),
};
static const struct record summary_record =
	RECORD_OF(summary_answer, RECORD_BLOCK, summary_columns);

struct summary_summary_job {
	const struct request *r;
	struct answer *a;
	struct trace *trace;
	struct selection selection;
	struct repeats repeats;
	const struct summary *summary;
	struct summary_answer *out;
};

/* --- rows ----------------------------------------------------------------------------------- */

static bool put_bound(struct summary_summary_job *j, struct incore_error *e)
{
	const struct summary *s = j->summary;
	const struct bound *b = &s->bound;
	struct summary_bound *x = &j->out->bound;

	*x = (struct summary_bound){.b = *b,
		.family = b->has_verdict ? family_name(b->family) : NULL,
		.second_family = b->has_verdict ? family_name(b->second) : NULL,
		.noise_source = b->n_repeats ? "repeats" : "assumed",
		.cause = b->where != NO_CODE ? s->causes->v[b->cause].name : NULL,
		.of = s->duration_cyc};
	return code_ref_make(j->a, s->trace, b->where, &x->where, e) &&
	       code_ref_make(j->a, s->trace, b->producer, &x->producer, e);
}

static bool put_health(struct summary_summary_job *j, struct incore_error *e)
{
	const struct check *k = j->summary->check;
	struct finding_row *v = answer_alloc(j->a, k->n_findings, sizeof(*v), e);

	j->out->health_line = j->summary->health;
	return v && check_part_make(j->a, k, j->trace->meta.origin, v, &j->out->health, e);
}

static bool put_classes(struct summary_summary_job *j, struct incore_error *e)
{
	struct class_row *v = ANSWER_ROWS(j->a, &j->out->classes, CLASS_COUNT, class_row, e);
	size_t n = 0;

	for (unsigned k = 0; v && k < CLASS_COUNT; k++) {
		const struct hot_sums *s = &j->summary->hot->classes[k];

		if (s->totals.hit || hot_cycles(s))
			v[n++] = (struct class_row){
				class_name(k), s->totals, bucket_sums(s->bucket)};
	}
	j->out->classes.n = n;
	return v != NULL;
}

static bool put_line_name(
	struct summary_summary_job *j, uint32_t line, const char **out, struct incore_error *e)
{
	const struct source_lines *s = &j->summary->lines;
	struct strbuf b = {0};

	if (line == UINT32_MAX)
		return true;
	source_line_put(s, &s->lines[line], &b);
	*out = answer_text(j->a, &b, e);
	return *out != NULL;
}

static bool make_lines(struct summary_summary_job *j, const struct summary_row *from,
	uint32_t n_from, struct rows *out, struct incore_error *e)
{
	const struct causes *causes = j->summary->causes;
	size_t n = j->out->top < n_from ? (size_t)j->out->top : n_from;
	struct summary_line *v = ANSWER_ROWS(j->a, out, n, summary_line, e);

	for (size_t i = 0; v && i < n; i++) {
		const struct summary_row *r = &from[i];
		const struct cause_cell *c = causes_main_of_row(causes, r->code);

		v[i] = (struct summary_line){.hit = r->hits,
			.cycles = r->cycles,
			.lost = r->lost_cyc,
			.exposed = r->exposed_cyc,
			.cause = c ? causes->v[c->cause].name : NULL};
		if (!put_line_name(j, r->line, &v[i].line, e) ||
			!code_ref_make(j->a, j->trace, r->code, &v[i].at, e))
			return false;
	}
	return v != NULL;
}

/* Lists stated stall by the types of the older hotspot script, largest first, so that its published
 * shares can be checked. */
static bool put_legacy_types(struct summary_summary_job *j, struct incore_error *e)
{
	struct name_count *v =
		ANSWER_ROWS(j->a, &j->out->legacy_stall_by_type, FLYDSL_TYPE_COUNT, name_count, e);
	uint64_t sums[FLYDSL_TYPE_COUNT] = {0};
	size_t n = 0;

	flydsl_stall_by_type(j->trace, sums);
	for (; v && n < FLYDSL_TYPE_COUNT; n++) {
		unsigned best = 0;

		for (unsigned i = 1; i < FLYDSL_TYPE_COUNT; i++)
			best = sums[i] > sums[best] ? i : best;
		if (!sums[best])
			break;
		v[n] = (struct name_count){flydsl_type_name((enum flydsl_type)best), sums[best]};
		sums[best] = 0;
	}
	j->out->legacy_stall_by_type.n = n;
	return v != NULL;
}

static bool summary_put_code(struct summary_summary_job *j, struct incore_error *e)
{
	const struct summary *s = j->summary;
	struct summary_answer *x = j->out;

	for (uint32_t i = 0; i < s->n_rows; i++)
		x->lost += s->rows[i].lost_cyc;
	x->has_source = s->lines.collapse != COLLAPSE_NO_SOURCE;
	return make_lines(j, s->rows, s->n_rows, &x->rows, e) &&
	       make_lines(j, s->line_rows, s->n_line_rows, &x->lines, e) &&
	       source_quality_make(j->a, &s->lines, &x->source, e) && put_legacy_types(j, e) &&
	       (!s->regions ||
		       region_rows(j->a, s->trace, s->regions, s->n_regions, &x->regions, e)) &&
	       loop_rows(j->a, s->loops, &x->loops, e);
}

static bool put_occupancy(struct summary_summary_job *j, struct incore_error *e)
{
	const struct occupancy *o = &j->summary->occupancy;
	struct summary_occupancy *x = &j->out->occupancy;

	*x = (struct summary_occupancy){.peak_per_simd = o->peak_per_simd,
		.peak = o->all.peak,
		.span = o->span_cyc,
		.tail = o->tail_cyc,
		.mean = occupancy_mean(o),
		.below_half_peak = occupancy_below_half(o),
		.cu_balance = occupancy_cu_balance(o),
		.is_from_waves = o->is_from_tracks};
	return limits_make(j->a, &j->summary->limits, &x->limits, e);
}

/* What only followed waves have is there if a wave was followed. */
static void put_followed(struct summary_summary_job *j)
{
	struct summary_answer *x = j->out;
	struct summary_occupancy *o = &x->occupancy;

	if (j->trace->n_tracks || vendor_row(j->trace)->has_pie)
		x->pie = &x->viewer_pie;
	if (j->trace->n_tracks || j->summary->waves->n_waves) {
		x->wave_states = &x->states;
		x->pipes = &x->utilization;
		x->pipe_shares = &x->utilization_shares;
		x->matrix_pipes = &x->matrix;
		x->lifetimes = &x->duration;
		x->meetings = &x->barriers;
		return;
	}
	x->waves = NO_U64;
	if (!o->peak) {
		o->peak_per_simd = o->peak = o->span = o->tail = NO_U64;
		o->mean = o->below_half_peak = o->cu_balance = NAN;
	}
}

/* Fills in what needs no allocation. */
static void summary_put_values(struct summary_summary_job *j)
{
	const struct summary *s = j->summary;
	const struct trace *t = j->trace;
	const struct code_totals *all = &s->hot->all.totals;
	struct summary_answer *x = j->out;
	double mhz = trace_clock_mhz(t);
	const bool is_sampled = trace_kind(t) == KIND_SAMPLES;
	const uint64_t *bucket = is_sampled ? s->hot->all.bucket : s->waves->bucket;

	x->evidence = evidence_name(t->meta.evidence);
	x->verdict = s->sentence;
	x->provenance = t->meta;
	x->coverage = s->coverage;
	x->clocks = (struct summary_clocks){mhz > 0 ? mhz : NAN, t->meta.clock_source,
		t->meta.machine.max_clock_mhz, {t->clocks, t->n_clocks}};
	x->waves = s->waves->n_waves;
	x->instructions = is_sampled ? s->hot->n_instructions : s->waves->n_instructions;
	x->accounting = accounting_of(bucket, s->duration_cyc);
	x->accounting_shares = bucket_shares_of(bucket, s->duration_cyc);
	x->residue = s->causes->residue_cyc;
	x->viewer_pie = (struct viewer_pie){all->idle, all->stall, all->latency - all->stall};
	x->states = s->waves->states->all;
	x->hidden = hidden_part_of(s->hidden);
	x->utilization = pipe_cycles_of(s->utilization->cyc);
	x->utilization_shares = pipe_shares_of(s->utilization->cyc);
	x->duration = s->waves->duration;
	x->has_samples = t->samples != NULL;
	x->has_rows = s->n_rows;
	x->has_edges = s->producers->edges.n;
}

static bool make_answer(struct summary_summary_job *j, struct incore_error *e)
{
	const struct summary *s = j->summary;
	struct summary_answer *x = j->out;
	struct advised side = {.trace = j->trace, .summary = s};
	bool ok;

	summary_put_values(j);
	ok = put_bound(j, e) && put_health(j, e) &&
	     utilization_rows(j->a, s->utilization, &x->utilization_by_simd, e) &&
	     matrix_part_make(j->a, s->matrix, &x->matrix, e) && put_classes(j, e) &&
	     summary_cause_rows(j->a, s->causes, &x->causes, e) &&
	     family_rows(j->a, s->causes, &x->families, e) &&
	     producer_sums_make(j->a, s->producers, ATTRIBUTION_BLOCKING, UINT64_MAX,
		     s->duration_cyc, &x->producers.sums, e) &&
	     edge_rows(j->a, s->producers, x->top, &x->producers.edges, e) &&
	     summary_put_code(j, e) && cluster_rows(j->a, s->waves->clusters, &x->clusters, e) &&
	     barriers_make(j->a, s->waves->barriers, &x->barriers, e) && put_occupancy(j, e) &&
	     (!s->costs || cost_rows(j->a, s->costs, UINT64_MAX, &x->costs, e)) &&
	     repeats_make(j->a, &j->repeats, summary_per_execution(s->hot), &x->repeats, e) &&
	     put_verdict(j->a, j->r, &side, s->health, &x->advice, &x->screen, e);
	put_followed(j);
	return ok;
}

/* --- the question --------------------------------------------------------------------------- */

static bool summarize_waves(struct summary_summary_job *j, struct incore_error *e)
{
	struct walk_options o = request_walk(j->r, &j->selection);
	struct summary_options so = {.walk = &o};
	struct summary *s;

	j->out = ANSWER_NEW(j->a, summary_answer, e);
	if (!j->out ||
		!repeats_find(&j->repeats, j->r, j->trace, selection_is_all(&j->selection), e))
		return false;
	so.check = &j->repeats.siblings.ctx;
	so.repeats = (const double(*)[FAMILY_COUNT])j->repeats.shares;
	so.n_repeats = j->repeats.n;
	s = summary_new(j->trace, &so, e);
	if (!s || !ANSWER_KEEP(j->a, s, summary_free, e))
		return false;
	answer_walk_notes(j->a, &s->walk);
	j->summary = s;
	j->out->top = request_top(j->r, 8, 20);
	j->a->data = j->out;
	return make_answer(j, e);
}

static bool ask_summary(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct summary_summary_job j = {.r = r, .a = a};
	bool ok;

	ok = answer_open(a, r, r->paths[0], IMPORT_ALL | IMPORT_KEEP_TRACKS, &j.trace, e) &&
	     request_selection(r, j.trace, &j.selection, e);
	if (ok)
		ok = trace_kind(j.trace) == KIND_PIPES
			     ? summary_pipes_make(r, a, j.trace, &j.selection, e)
			     : summarize_waves(&j, e);
	repeats_deinit(&j.repeats);
	selection_deinit(&j.selection);
	return ok;
}

const struct question question_summary = {
	.reach = REACH_ALL,
	.name = "summary",
	.args = "PATH",
	.summary = "the one-page verdict: bound by what, where, on what evidence",
	.groups = OPTIONS_SELECT | OPTIONS_TOP | OPTIONS_CAPTURE,
	.min_paths = 1,
	.max_paths = 1,
	.records = RECORDS(&summary_record, &summary_pipes_record),
	.ask = ask_summary,
	.page = summary_page,
};
