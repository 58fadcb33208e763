/* SPDX-License-Identifier: Apache-2.0 */
/* summary_parts.c: causes, hidden latency, pipes of a SIMD and the matrix pipe, for the summary. */
#include "answer/summary_parts.h"

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

bool summary_cause_rows(
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
};
static const struct record family_sums_record =
	RECORD_OF(family_sums, RECORD_LINE, family_sums_columns);
static const struct column family_columns[] = {
	COLUMN(family_row, family, UNIT_NONE, "family of causes"),
	RECORD(family_row, sums, &family_sums_record, "cycles lost to this family"),
};
const struct record family_record = RECORD_OF(family_row, RECORD_BLOCK, family_columns);

bool family_rows(struct answer *a, const struct causes *c, struct rows *out, struct incore_error *e)
{
	struct family_row *v = ANSWER_ROWS(a, out, FAMILY_COUNT, family_row, e);
	uint64_t lost = 0;
	size_t n = 0;

	for (unsigned f = FAMILY_USEFUL + 1; f < FAMILY_COUNT; f++)
		lost += c->family[f].cyc;
	for (unsigned f = FAMILY_USEFUL + 1; v && f < FAMILY_COUNT; f++) {
		const struct family_sum *s = &c->family[f];

		if (s->cyc)
			v[n++] = (struct family_row){
				family_name(f), {s->cyc, c->busy ? s->hidden_cyc : NO_U64,
							c->busy ? s->cyc - s->hidden_cyc : NO_U64,
							ratio(s->cyc, lost)}};
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

struct hidden_part hidden_part_of(const struct hidden *h)
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

static struct simd_place place_of(const struct trace *t, track_idx i)
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

struct pipe_cycles pipe_cycles_of(const uint64_t cyc[PIPE_COUNT])
{
	struct pipe_cycles x = {.idle = cyc[PIPE_RESIDENT] - cyc[PIPE_ANY]};

	memcpy(x.cyc, cyc, sizeof(x.cyc));
	return x;
}

struct pipe_shares pipe_shares_of(const uint64_t cyc[PIPE_COUNT])
{
	uint64_t whole = cyc[PIPE_RESIDENT];
	struct pipe_shares x = {.idle = ratio(whole - cyc[PIPE_ANY], whole)};

	for (unsigned p = 0; p <= PIPE_ANY; p++)
		x.of[p] = ratio(cyc[p], whole);
	return x;
}

bool utilization_rows(
	struct answer *a, const struct utilization *u, struct rows *out, struct incore_error *e)
{
	struct utilization_row *v = ANSWER_ROWS(a, out, u->groups->n_groups, utilization_row, e);
	size_t n = 0;

	for (uint32_t i = 0; v && i < u->groups->n_groups; i++) {
		const struct utilization_simd *s = &u->simds[i];

		if (s->first != NO_TRACK)
			v[n++] = (struct utilization_row){place_of(u->groups->trace, s->first),
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

bool matrix_part_make(
	struct answer *a, const struct matrix *m, struct matrix_part *out, struct incore_error *e)
{
	struct matrix_row *v = answer_alloc(a, m->n_groups, sizeof(*v), e);
	struct matrix_simd s;
	size_t n = 0;

	if (!v)
		return false;
	for (track_idx i = 0; i < m->trace->n_tracks; i++)
		if (matrix_simd_of(m, i, &s))
			v[n++] = (struct matrix_row){place_of(m->trace, i), s.modelled_cyc,
				ratio(s.modelled_cyc, s.resident_cyc)};
	*out = (struct matrix_part){.m = *m,
		.issue_share = ratio(m->issue_cyc, m->resident_cyc),
		.modelled = {"modelled", *m, ratio(m->modelled_cyc, m->resident_cyc), {v, n}}};
	return true;
}
