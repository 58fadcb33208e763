/* SPDX-License-Identifier: Apache-2.0 */
/* summary_bound.c: which family of causes bounds the kernel, where, and the sentence that says so.
 */
#include <math.h>

#include "analysis/place.h"
#include "analysis/summary/summary.h"
#include "base/search.h"
#include "base/vec.h"
#include "trace/kind.h"

static uint64_t exposed(const struct family_sum *f)
{
	return f->cyc - f->hidden_cyc;
}

static double share_of(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : 0;
}

uint64_t summary_line_key(const struct trace *t, code_idx code)
{
	const struct code_row *r = &t->code[code];
	const struct frame *f = r->n_frames ? &t->frames[r->first_frame] : NULL;

	return f && f->source < t->n_sources ? (uint64_t)f->source << 32 | f->line : 0;
}

struct row_cost { /* rows of a cause, for sums by line */
	uint64_t line, cyc;
	code_idx code;
};
ORDER(by_line, struct row_cost, UP(line) DOWN(cyc) UP(code))

/*
 * An unrolled loop spreads the cost of one line over many rows, none of which need be the
 * costliest: for samples the costliest line is taken, then its costliest row. A row without a line
 * counts as a line of its own.
 */
static code_idx costliest_by_line(struct row_cost *v, size_t n, uint64_t *exposed_cyc)
{
	code_idx best = NO_CODE;
	uint64_t most = 0;

	SORT(v, n, by_line);
	for (size_t i = 0, k; i < n; i = k) {
		uint64_t sum = 0;

		for (k = i; k < n && (k == i || (v[i].line && v[k].line == v[i].line)); k++)
			sum += v[k].cyc;
		if (sum <= most)
			continue;
		most = sum;
		best = v[i].code;
		*exposed_cyc = v[i].cyc;
	}
	return best;
}

/* The row with most exposed cycles of a cause, or NO_CODE. */
static bool find_row(
	const struct summary *s, uint32_t cause, struct bound *b, struct incore_error *e)
{
	const struct causes *c = s->causes;
	bool is_by_line = s->is_sampled, ok = true;
	VEC(struct row_cost) rows = {0};
	struct row_cost best = {.code = NO_CODE};

	for (uint32_t i = 0; i < c->n_cells && ok; i++) {
		const struct cause_cell *k = &c->cells[i];
		struct row_cost r = {0, k->cyc - k->hidden_cyc, k->code};

		if (k->cause != cause || k->code == NO_CODE || !r.cyc)
			continue;
		if (r.cyc > best.cyc)
			best = r;
		r.line = is_by_line ? summary_line_key(s->trace, r.code) : 0;
		ok = !is_by_line || VEC_PUSH(&rows, r);
	}
	if (ok && is_by_line)
		best.code = costliest_by_line(rows.v, rows.n, &best.cyc);
	VEC_FREE(&rows);
	b->where = best.code;
	b->where_exposed_cyc = best.cyc;
	return ok || err_nomem(e);
}

const struct producer_edge *summary_edge_of(const struct summary *s, code_idx wait)
{
	const struct producers *p = s->producers;

	/* edges are sorted by cycles: the first that ends here is the costliest */
	for (size_t i = 0; i < p->edges.n; i++)
		if (p->edges.v[i].wait == wait)
			return &p->edges.v[i];
	return NULL;
}

/* Error of this capture's shares: the largest difference to a repeat. */
static double measured_noise(const struct summary *s, const struct summary_options *o)
{
	double worst = 0;

	for (uint32_t i = 0; i < o->n_repeats; i++) {
		for (unsigned f = 0; f < FAMILY_COUNT; f++) {
			double mine = share_of(exposed(&s->causes->family[f]), s->duration_cyc);

			if (f != FAMILY_USEFUL && fabs(mine - o->repeats[i][f]) > worst)
				worst = fabs(mine - o->repeats[i][f]);
		}
	}
	return worst;
}

static void rank_families(struct bound *b, const struct causes *c)
{
	b->family = b->second = FAMILY_USEFUL;
	for (unsigned f = FAMILY_USEFUL + 1; f < FAMILY_COUNT; f++) {
		uint64_t x = exposed(&c->family[f]);

		if (b->family == FAMILY_USEFUL || x > b->exposed_cyc) {
			b->second = b->family;
			b->second_exposed_cyc = b->exposed_cyc;
			b->family = f;
			b->exposed_cyc = x;
		} else if (b->second == FAMILY_USEFUL || x > b->second_exposed_cyc) {
			b->second = f;
			b->second_exposed_cyc = x;
		}
	}
	b->hidden_cyc = c->family[b->family].hidden_cyc;
}

static bool find_where(struct summary *s, struct bound *b, struct incore_error *e)
{
	const struct causes *c = s->causes;
	uint64_t most = 0;

	b->where = b->producer = NO_CODE;
	for (uint32_t i = 0; i < c->n; i++) {
		uint64_t x = c->v[i].cyc - c->v[i].hidden_cyc;

		if (c->v[i].family == b->family && x > most) {
			most = x;
			b->cause = i;
		}
	}
	if (most && !find_row(s, b->cause, b, e))
		return false;
	if (b->where != NO_CODE)
		b->producer = summary_producer_of(s, &c->v[b->cause], b->where);
	return true;
}

/* Why no bound can be named, or NULL. */
static const char *refusal(struct summary *s)
{
	const enum trace_kind kind = trace_kind(s->trace);
	struct arena *a = &s->arena;

	if (s->check->verdict == VERDICT_UNUSABLE && s->check->n_findings)
		return arena_printf(
			a, "the capture is unusable: %s", s->check->findings[0].message);
	if (kind == KIND_TOTALS && !s->trace->samples && vendor_row(s->trace)->no_samples)
		return vendor_row(s->trace)->no_samples;
	if (kind_table[kind].no_verdict)
		return kind_table[kind].no_verdict;
	if (s->duration_cyc == 0)
		return "no wave lies in the selection";
	if (check_find(s->check, "no-code"))
		return "the code that ran is not known, so waits cannot be told from work";
	return NULL;
}

static void put_text(struct strbuf *out, const char *text)
{
	struct str t = str_of(text);

	sb_printf(out, "`%.*s%s`", (int)(t.n > 48 ? 47 : t.n), t.p, t.n > 48 ? "..." : "");
}

static void put_producer(const struct summary *s, struct strbuf *out)
{
	static const char *const words[CAUSE_KINDS] = {[CAUSE_WAIT] = " waits for ",
		[CAUSE_BARRIER] = " stands behind ",
		[CAUSE_NOP_PADDING] = " right after ",
		[CAUSE_DRAIN] = " waits for the stores, most of them by "};
	const struct bound *b = &s->bound;
	const char *word = words[s->causes->v[b->cause].kind];

	if (b->producer == NO_CODE || !word)
		return;
	if (b->producer == b->where) {
		sb_puts(out, " waits for itself: each needs the one before");
		return;
	}
	sb_puts(out, word);
	put_text(out, s->trace->code[b->producer].text);
	sb_printf(out, " of row %lld", (long long)s->trace->code[b->producer].number);
	if (s->is_sampled)
		place_put_line(s->trace, &s->trace->code[b->producer], " at ", out);
}

static void put_where(const struct summary *s, struct strbuf *out)
{
	const struct bound *b = &s->bound;

	sb_printf(out, ", most in %s", s->causes->v[b->cause].name);
	if (b->where == NO_CODE)
		return;
	sb_puts(out, " at ");
	place_put(s->trace, b->where, out);
	sb_puts(out, ": ");
	put_text(out, s->trace->code[b->where].text);
	put_producer(s, out);
	if (s->is_sampled)
		summary_put_why(s, out);
}

static void put_occupancy(const struct summary *s, struct strbuf *out)
{
	if (!s->occupancy.peak_per_simd)
		return;
	sb_printf(out, "; at most %llu wave%s per SIMD",
		(unsigned long long)s->occupancy.peak_per_simd, plural(s->occupancy.peak_per_simd));
	if (s->limits.is_known)
		sb_printf(out, " (limit %llu by %s)", (unsigned long long)s->limits.predicted,
			limit_name(s->limits.limiter));
}

static void put_verdict(const struct summary *s, struct strbuf *out)
{
	const struct bound *b = &s->bound;
	uint64_t all = b->exposed_cyc + b->hidden_cyc;
	const char *whose = kind_row(s->trace)->cycles_of;

	if (b->is_mixed)
		sb_printf(out, "Mixed: %s (%.1f %%) and %s (%.1f %%) lose about as many %s cycles",
			family_name(b->family), 100 * b->share, family_name(b->second),
			100 * share_of(b->second_exposed_cyc, s->duration_cyc), whose);
	else
		sb_printf(out, "Bound by %s: %.1f %% of %s cycles are lost to it and exposed",
			family_name(b->family), 100 * b->share, whose);
	put_where(s, out);
	sb_printf(out, "; other %s hide %.1f %% of the %s loss", s->is_sampled ? "warps" : "waves",
		100 * share_of(b->hidden_cyc, all), family_name(b->family));
	put_occupancy(s, out);
	sb_printf(out, "; health: %s.", s->health);
}

bool summary_find_bound(struct summary *s, const struct summary_options *o, struct incore_error *e)
{
	struct bound *b = &s->bound;
	struct strbuf text = {0};

	*b = (struct bound){.where = NO_CODE, .producer = NO_CODE, .n_repeats = o->n_repeats};
	b->noise = o->n_repeats ? measured_noise(s, o) : SUMMARY_ASSUMED_NOISE;
	b->reason = refusal(s);
	b->has_verdict = !b->reason;
	if (s->duration_cyc) {
		rank_families(b, s->causes);
		if (!find_where(s, b, e))
			return false;
		b->share = share_of(b->exposed_cyc, s->duration_cyc);
		b->is_mixed =
			b->share - share_of(b->second_exposed_cyc, s->duration_cyc) < b->noise;
	}
	if (b->reason)
		sb_printf(&text, "No bound verdict: %s.", b->reason);
	else
		put_verdict(s, &text);
	s->sentence = text.failed ? NULL : arena_strdup(&s->arena, text.p);
	sb_free(&text);
	return s->sentence || err_nomem(e);
}
