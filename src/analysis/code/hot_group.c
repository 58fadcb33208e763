/* SPDX-License-Identifier: Apache-2.0 */
/* hot_group.c: the rows of hot.h rolled up by line, opcode and class, and what a row lost most to.
 */
#include "analysis/code/hot.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/code/samples.h"
#include "analysis/code/source_lines.h"
#include "analysis/pipes/pipe_sweep.h"
#include "base/map.h"
#include "base/search.h"
#include "trace/kind.h"

struct str hot_line_of(const struct code_row *row)
{
	struct str all = str_of(row->source ? row->source : ""), link, first = {0};

	while (str_cut(&all, " -> ", &link)) {
		if (!str_ends(link, ":?")) /* belongs to the file, but to no line */
			return link.n ? link : STR("<unknown>");
		first = first.n ? first : link;
	}
	return first.n ? first : STR("<unknown>");
}

static struct str group_key(const struct trace *t, enum hot_by by, code_idx i)
{
	if (by == HOT_BY_LINE)
		return i < t->n_code ? hot_line_of(&t->code[i]) : STR("<unknown>");
	if (by == HOT_BY_OPCODE)
		return i < t->n_code ? str_of(t->opcodes[t->code[i].opcode]) : STR("(unknown)");
	return i < t->n_code ? str_of(t->code[i].text) : STR("(unknown code)");
}

struct sorting {
	enum hot_sort by;
	bool is_pipes;	 /* instructions in flight may own no cycle, which is not "unknown" */
	bool is_exposed; /* sampled data: exposed samples are known */
};

static bool is_empty(const struct hot_sums *s)
{
	return !s->totals.hit && !hot_cycles(s) && !s->samples;
}

static uint64_t sort_value(const struct hot_group *g, const struct sorting *s)
{
	switch (s->by) {
	case HOT_SORT_LOST:
		if (s->is_exposed)
			return g->sums.exposed_samples;
		return g->sums.bucket[BUCKET_WAIT] + g->sums.bucket[BUCKET_STALL] +
		       g->sums.bucket[BUCKET_IDLE] + g->sums.bucket[BUCKET_DRAIN];
	case HOT_SORT_LATENCY:
		return g->sums.totals.latency;
	case HOT_SORT_STALL:
		return g->sums.totals.stall;
	case HOT_SORT_IDLE:
		return g->sums.totals.idle;
	case HOT_SORT_HIT:
		return g->sums.totals.hit;
	case HOT_SORT_CYCLES:
		break;
	}
	if (hot_cycles(&g->sums) || s->is_pipes)
		return hot_cycles(&g->sums);
	/* stated totals have no buckets: latency and idle come closest */
	return g->sums.totals.latency + g->sums.totals.idle + g->sums.samples;
}

static int compare_groups(const void *pa, const void *pb, void *ctx)
{
	const struct hot_group *a = pa, *b = pb;
	const struct sorting *s = ctx;
	uint64_t va = sort_value(a, s), vb = sort_value(b, s);

	RETURN_UNLESS_EQUAL(vb, va);
	RETURN_UNLESS_EQUAL(b->inclusive.latency, a->inclusive.latency);
	RETURN_UNLESS_EQUAL(a->code, b->code);
	return str_cmp(str_of(a->key), str_of(b->key));
}

/* Groups of several rows have their own sums of reasons. */
static bool add_reasons(struct hot_group *g, const struct trace *t, code_idx i, struct arena *a)
{
	struct reason_count *to = (struct reason_count *)g->reasons;

	if (!t->samples || i >= t->n_code)
		return true;
	if (!to)
		g->reasons = to = arena_zalloc(a, (size_t)t->n_reasons + 1, sizeof(*to));
	for (uint32_t k = 0; to && k < t->n_reasons; k++) {
		to[k].all += trace_reasons_of(t, i)[k].all;
		to[k].not_issued += trace_reasons_of(t, i)[k].not_issued;
	}
	return to != NULL;
}

static void add_to_group(struct hot_group *g, const struct hot *h, code_idx i)
{
	const struct hot_sums *s = &h->rows[i];
	bool is_hotter =
		g->code > h->trace->n_code || hot_cycles(s) > hot_cycles(&h->rows[g->code]);

	if (is_hotter)
		g->code = i;
	g->n_rows++;
	g->n_executed += s->totals.hit > 0;
	hot_add(&g->sums, s);
}

static bool group_rows(const struct hot *h, enum hot_by by, struct arena *a, struct hot_group *v,
	uint32_t *n, struct incore_error *e)
{
	const struct trace *t = h->trace;
	struct intern names;
	bool ok = false;

	intern_init(&names);
	for (code_idx i = 0; i <= t->n_code; i++) {
		uint32_t k = *n;

		if (i < t->n_code ? t->code[i].is_label : h->rows[i].totals.hit == 0)
			continue;
		if (by != HOT_BY_INSTR) {
			k = intern_add(&names, group_key(t, by, i));
			if (k == INTERN_NONE)
				goto out;
		}
		if (k == *n) {
			struct str key = group_key(t, by, i);

			v[k] = (struct hot_group){.code = NO_CODE};
			v[k].key = arena_strndup(a, key.p, key.n);
			if (!v[k].key)
				goto out;
			(*n)++;
		}
		add_to_group(&v[k], h, i);
		if (by != HOT_BY_INSTR && !add_reasons(&v[k], t, i, a))
			goto out;
	}
	ok = true;
out:
	intern_deinit(&names);
	return ok || err_nomem(e);
}

static bool group_classes(const struct hot *h, struct arena *a, struct hot_group *v, uint32_t *n)
{
	const struct trace *t = h->trace;

	for (; *n < CLASS_COUNT; (*n)++)
		v[*n] = (struct hot_group){.key = class_name(*n), .code = NO_CODE};
	for (code_idx i = 0; i < t->n_code; i++)
		if (!t->code[i].is_label) {
			add_to_group(&v[t->code[i].inst_class], h, i);
			if (!add_reasons(&v[t->code[i].inst_class], t, i, a))
				return false;
		}
	/* a record's own class decides, not that of its text: use the sums by record */
	for (unsigned c = 0; c < CLASS_COUNT; c++)
		v[c].sums = h->classes[c];
	return true;
}

/* Adds a line without instructions of its own, into which others were inlined. */
static bool add_call_site(
	const struct source_lines *lines, uint32_t at, struct arena *a, struct hot_group *g)
{
	struct strbuf key = {0};

	*g = (struct hot_group){.code = NO_CODE, .inclusive = lines->lines[at].inclusive.totals};
	if (source_line_put(lines, &lines->lines[at], &key))
		g->key = arena_strndup(a, key.p, key.n);
	sb_free(&key);
	return g->key != NULL;
}

/* Adds what lines cost with everything inlined into them. */
static bool add_inclusive(const struct hot *h, struct arena *a, struct hot_group *v, uint32_t *n,
	struct incore_error *e)
{
	const struct trace *t = h->trace;
	struct code_totals *totals = mem_zalloc((size_t)t->n_code + 1, sizeof(*totals));
	struct source_lines lines;
	bool ok = true;

	if (!totals)
		return err_nomem(e);
	for (code_idx i = 0; i < t->n_code; i++)
		totals[i] = h->rows[i].totals;
	if (!source_lines_compute(&lines, t, totals, e)) {
		mem_free(totals);
		return false;
	}
	for (uint32_t i = 0; i < *n; i++) {
		const struct code_row *r = v[i].code < t->n_code ? &t->code[v[i].code] : NULL;
		const struct frame *f = r && r->n_frames ? &t->frames[r->first_frame] : NULL;
		uint32_t at = f ? source_lines_find(&lines, f->source, f->line) : UINT32_MAX;

		v[i].inclusive =
			at < lines.n_lines ? lines.lines[at].inclusive.totals : v[i].sums.totals;
	}
	for (uint32_t i = 0; ok && i < lines.n_lines; i++)
		if (lines.lines[i].exclusive.rows == 0 && lines.lines[i].inclusive.rows)
			ok = add_call_site(&lines, i, a, &v[(*n)++]);
	source_lines_deinit(&lines);
	mem_free(totals);
	return ok || err_nomem(e);
}

/* Upper bound of the number of groups: every row, every line of every inline chain, every class. */
static size_t most_groups(const struct trace *t)
{
	return (size_t)t->n_code + 1 + t->n_frames + CLASS_COUNT;
}

bool hot_group(const struct hot *h, enum hot_by by, enum hot_sort sort, bool with_zero,
	struct arena *a, struct hot_group **out, uint32_t *n, struct incore_error *e)
{
	struct sorting order = {sort, trace_kind(h->trace) == KIND_PIPES && !h->is_stated,
		trace_has_exposed_samples(h->trace)};
	struct hot_group *v = arena_zalloc(a, most_groups(h->trace), sizeof(*v));
	uint32_t n_all = 0, kept = 0;

	if (!v)
		return err_nomem(e);
	if (by == HOT_BY_CLASS && !group_classes(h, a, v, &n_all))
		return err_nomem(e);
	if (by != HOT_BY_CLASS && !group_rows(h, by, a, v, &n_all, e))
		return false;
	if (by == HOT_BY_LINE && !add_inclusive(h, a, v, &n_all, e))
		return false;
	for (uint32_t i = 0; i < n_all; i++)
		if (with_zero || !is_empty(&v[i].sums) || v[i].inclusive.hit)
			v[kept++] = v[i];
	qsort_r(v, kept, sizeof(*v), compare_groups, &order);
	for (uint32_t i = 0; i < kept; i++)
		if (v[i].code >= h->trace->n_code)
			v[i].code = NO_CODE;
	*out = v;
	*n = kept;
	return true;
}

/* --- why a row lost cycles ------------------------------------------------------------------ */

static enum bucket largest_loss(const struct hot_sums *s)
{
	enum bucket best = BUCKET_STALL;

	for (unsigned b = BUCKET_STALL; b < BUCKET_COUNT; b++)
		if (s->bucket[b] > s->bucket[best])
			best = b;
	return best;
}

/* The largest loss on a pipe, where only flags, barriers and head costs can lose cycles. */
static struct hot_loss loss_on_pipe(
	const struct hot *h, const struct hot_group *g, const struct producer_edge *edge)
{
	const struct trace *t = h->trace;
	enum inst_class c = g->code < t->n_code ? t->code[g->code].inst_class : CLASS_OTHER;
	enum bucket b = largest_loss(&g->sums);
	struct hot_loss loss = {.cyc = g->sums.bucket[b]};
	const char *what = "head-cost", *of = "";

	if (loss.cyc == 0)
		return loss;
	if (b == BUCKET_WAIT) {
		loss.edge = edge;
		what = c == CLASS_FLAG_WAIT ? "wait:" : "barrier";
		if (c == CLASS_FLAG_WAIT)
			of = edge ? class_name(t->code[edge->producer].inst_class) : "(unmatched)";
	}
	snprintf(loss.name, sizeof(loss.name), "%s%s", what, of);
	return loss;
}

/* The largest loss in sampled data: the reason with most exposed samples. */
static struct hot_loss loss_of_samples(
	const struct hot *h, const struct hot_group *g, const struct producer_edge *edge)
{
	const struct trace *t = h->trace;
	const struct reason_count *counts = hot_reasons(h, g);
	uint32_t main = counts ? samples_main_reason(t, counts) : NO_REASON;
	const struct sample_cause *c = main == NO_REASON ? NULL : sample_cause_of(t->reasons[main]);
	struct hot_loss loss = {0};
	bool is_known = edge && edge->producer < t->n_code;

	if (!c)
		return loss;
	loss.cyc = counts[main].all * t->sampling.period_cyc;
	if (c->has_producer && is_known)
		loss.edge = edge;
	sample_cause_name(c,
		c->has_class ? class_name(g->code < t->n_code ? t->code[g->code].inst_class : 0)
		: is_known   ? class_name(t->code[edge->producer].inst_class)
			     : "(unknown)",
		loss.name);
	return loss;
}

struct hot_loss hot_loss(
	const struct hot *h, const struct hot_group *g, const struct producer_edge *edge)
{
	const struct trace *t = h->trace;
	enum inst_class c = g->code < t->n_code ? t->code[g->code].inst_class : CLASS_OTHER;
	enum bucket b = largest_loss(&g->sums);
	struct hot_loss loss = {.cyc = g->sums.bucket[b]};
	const char *what = "wait:", *of = "(drained)";

	if (trace_kind(t) == KIND_PIPES)
		return loss_on_pipe(h, g, edge);
	if (trace_kind(t) == KIND_SAMPLES)
		return loss_of_samples(h, g, edge);
	if (loss.cyc == 0)
		return loss;
	if (b == BUCKET_WAIT && c == CLASS_WAIT && edge && edge->producer < t->n_code) {
		loss.edge = edge;
		of = class_name(t->code[edge->producer].inst_class);
	} else if (b == BUCKET_STALL && c != CLASS_NOP) {
		what = "pipe-stall:";
		of = class_name(c);
	} else if (b != BUCKET_WAIT || c != CLASS_WAIT) {
		what = b == BUCKET_IDLE	   ? "gap"
		       : b == BUCKET_DRAIN ? "drain"
		       : c == CLASS_NOP	   ? "nop"
		       : c == CLASS_SLEEP  ? "sleep"
					   : "barrier";
		of = "";
	}
	snprintf(loss.name, sizeof(loss.name), "%s%s", what, of);
	return loss;
}
