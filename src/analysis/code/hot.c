/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hot.c: where the cycles go, by instruction: one pass over the waves. Divisions: pipes; groups;
 * rows.
 */
#include "analysis/code/hot.h"

#include <stdio.h>
#include <stdlib.h>

#include "analysis/code/samples.h"
#include "analysis/code/source_lines.h"
#include "analysis/pipes/pipe_sweep.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "trace/account.h"
#include "trace/kind.h"

/* --- pipes ------------------------------------------------------------------------------------ */

/*
 * Where the cycles of pipes go, by instruction: the pieces of pipe_sweep.h, each given
 * to the row of its owner. Idle and drain belong to no row: the pipe had nothing to do.
 */

struct pipes_worker {
	struct hot *sum; /* only rows and classes are used */
	uint8_t *kinds;
	struct pipe_sweep sweep;
	const struct walk_track *w; /* the track being looked at */
};

static void pipes_worker_deinit(void *self, void *mine)
{
	struct pipes_worker *m = mine;

	(void)self;
	hot_free(m->sum);
	mem_free(m->kinds);
	pipe_sweep_deinit(&m->sweep);
}

static bool pipes_worker_init(void *self, void *mine)
{
	const struct hot *h = self;
	struct pipes_worker *m = mine;

	m->sum = hot_new(h->trace);
	m->kinds = pipe_kinds_new(h->trace);
	return m->sum && m->kinds;
}

static bool hot_take_piece(void *ctx, const struct pipe_piece *p)
{
	struct pipes_worker *m = ctx;
	const struct track_data *d = m->w->data;
	uint32_t n_code = m->w->trace->n_code;
	uint64_t cyc = p->to_cyc - p->from_cyc;
	code_idx row;

	m->sum->all.bucket[p->bucket] += cyc;
	if (p->slice == NO_SLICE)
		return true;
	row = d->code[p->slice] < n_code ? d->code[p->slice] : n_code;
	m->sum->rows[row].bucket[p->bucket] += cyc;
	m->sum->classes[d->inst_class[p->slice]].bucket[p->bucket] += cyc;
	return true;
}

/* Totals in the producer's meaning: length without head cost is its latency. */
static void count_slices(struct pipes_worker *m)
{
	const struct walk_track *w = m->w;
	const struct track_data *d = w->data;
	uint32_t n_code = w->trace->n_code;

	for (uint32_t i = 0; i < d->n; i++) {
		code_idx row = d->code[i] < n_code ? d->code[i] : n_code;
		struct hot_sums s = {
			.totals = {.hit = 1,
				.latency = d->dur_cyc[i] - d->stall_cyc[i],
				.stall = d->stall_cyc[i]},
		};

		if (d->start_cyc[i] < w->from_cyc || d->start_cyc[i] >= w->to_cyc)
			continue;
		hot_add(&m->sum->rows[row], &s);
		hot_add(&m->sum->classes[d->inst_class[i]], &s);
		if (row < n_code)
			hot_add(&m->sum->all, &s);
		m->sum->n_instructions++;
	}
}

static bool hot_pipes_track(
	void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct pipes_worker *m = mine;

	(void)self;
	m->w = w;
	count_slices(m);
	if (pipe_role(w->track) == ROLE_MARK)
		return true; /* cache misses and user ranges are not units of the machine */
	if (!pipe_sweep_track(&m->sweep, w, m->kinds, hot_take_piece, m, e))
		return false;
	m->sum->n_waves++;
	m->sum->duration_cyc += m->sweep.hi - m->sweep.lo;
	return true;
}

static bool hot_pipes_merge(void *self, void *mine, struct incore_error *e)
{
	struct hot *h = self;
	const struct hot *m = ((struct pipes_worker *)mine)->sum;

	(void)e;
	for (code_idx i = 0; i <= h->trace->n_code; i++)
		hot_add(&h->rows[i], &m->rows[i]);
	for (unsigned c = 0; c < CLASS_COUNT; c++)
		hot_add(&h->classes[c], &m->classes[c]);
	hot_add(&h->all, &m->all);
	h->n_waves += m->n_waves;
	h->n_instructions += m->n_instructions;
	h->duration_cyc += m->duration_cyc;
	h->residue_cyc = (int64_t)(h->duration_cyc - hot_cycles(&h->all));
	return true;
}

static struct collector hot_pipes_collector(struct hot *h)
{
	return (struct collector){h, sizeof(struct pipes_worker), pipes_worker_init,
		hot_pipes_track, hot_pipes_merge, pipes_worker_deinit};
}

/* --- groups ----------------------------------------------------------------------------------- */

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

static bool hot_is_empty(const struct hot_sums *s)
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

static bool hot_group_rows(const struct hot *h, enum hot_by by, struct arena *a,
	struct hot_group *v, uint32_t *n, struct incore_error *e)
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
	if (by != HOT_BY_CLASS && !hot_group_rows(h, by, a, v, &n_all, e))
		return false;
	if (by == HOT_BY_LINE && !add_inclusive(h, a, v, &n_all, e))
		return false;
	for (uint32_t i = 0; i < n_all; i++)
		if (with_zero || !hot_is_empty(&v[i].sums) || v[i].inclusive.hit)
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
	if (trace_kind(h->trace) == KIND_PIPES)
		return loss_on_pipe(h, g, edge);
	if (trace_kind(h->trace) == KIND_SAMPLES)
		return loss_of_samples(h, g, edge);
	return hot_loss_in(h, g, edge, largest_loss(&g->sums));
}

struct hot_loss hot_loss_in(const struct hot *h, const struct hot_group *g,
	const struct producer_edge *edge, enum bucket b)
{
	const struct trace *t = h->trace;
	enum inst_class c = g->code < t->n_code ? t->code[g->code].inst_class : CLASS_OTHER;
	struct hot_loss loss = {.cyc = g->sums.bucket[b]};
	const char *what = "wait:", *of = "(drained)";

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

/* --- rows ------------------------------------------------------------------------------------- */

struct hot *hot_new(const struct trace *t)
{
	struct hot *h = mem_zalloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->trace = t;
	h->rows = mem_zalloc((size_t)t->n_code + 1, sizeof(*h->rows));
	if (!h->rows) {
		mem_free(h);
		return NULL;
	}
	return h;
}

void hot_free(struct hot *h)
{
	if (h)
		mem_free(h->rows);
	mem_free(h);
}

/* Difference of the accounting's pieces from the recorded figures, modulo 2^64: zero for nearly all
 * records. */
struct more {
	uint64_t stall, issue, idle;
};

/*
 * Counts of one worker, by code row, in separate arrays: the hot loop touches only the first two.
 * Records with the class of their row (all, unless a file contradicts itself) are converted to
 * buckets once, at the end; others are counted in `odd`.
 */
struct hot_worker {
	struct code_totals *totals;
	uint8_t *classes; /* classes by the rows' texts */
	struct more *more;
	struct hot *odd;
	uint64_t n_waves, n_instructions, duration_cyc;
	int64_t residue_cyc;
};

static void hot_worker_deinit(void *self, void *mine)
{
	struct hot_worker *m = mine;

	(void)self;
	mem_free(m->totals);
	mem_free(m->classes);
	mem_free(m->more);
	hot_free(m->odd);
}

static enum inst_class class_of_row(const struct trace *t, code_idx i)
{
	return i < t->n_code ? (enum inst_class)t->code[i].inst_class : CLASS_OTHER;
}

static bool hot_worker_init(void *self, void *mine)
{
	const struct trace *t = ((struct hot *)self)->trace;
	struct hot_worker *m = mine;

	m->totals = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->totals));
	m->classes = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->classes));
	m->more = mem_zalloc((size_t)t->n_code + 1, sizeof(*m->more));
	m->odd = hot_new(t);
	if (!m->totals || !m->classes || !m->more || !m->odd)
		return false;
	for (code_idx i = 0; i <= t->n_code; i++)
		m->classes[i] = (uint8_t)class_of_row(t, i);
	return true;
}

void hot_add(struct hot_sums *to, const struct hot_sums *from)
{
	to->totals.hit += from->totals.hit;
	to->totals.latency += from->totals.latency;
	to->totals.stall += from->totals.stall;
	to->totals.idle += from->totals.idle;
	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		to->bucket[b] += from->bucket[b];
	to->samples += from->samples;
	to->stalled_samples += from->stalled_samples;
	to->exposed_samples += from->exposed_samples;
	to->hidden_cyc += from->hidden_cyc;
	to->exposed_cyc += from->exposed_cyc;
}

void hot_take_exposed(struct hot *h, const struct causes *c)
{
	h->has_exposed = true;
	for (uint32_t i = 0; i < c->n_cells; i++) {
		const struct cause_cell *x = &c->cells[i];
		struct hot_sums s = {
			.hidden_cyc = x->hidden_cyc, .exposed_cyc = x->cyc - x->hidden_cyc};

		if (c->v[x->cause].kind == CAUSE_ISSUE)
			continue;
		hot_add(&h->rows[x->code < h->trace->n_code ? x->code : h->trace->n_code], &s);
		hot_add(&h->all, &s);
	}
}

static inline void hot_add_record(
	struct code_totals *to, const struct track_data *d, uint32_t i, uint64_t idle)
{
	to->hit++;
	to->latency += d->dur_cyc[i];
	to->stall += d->stall_cyc[i];
	to->idle += idle;
}

static void to_buckets(
	struct hot_sums *s, const struct code_totals *t, const struct more *more, enum inst_class c)
{
	s->totals = *t;
	s->bucket[class_stall_bucket(c)] += t->stall + more->stall;
	s->bucket[class_issue_bucket(c)] += t->latency - t->stall + more->issue;
	s->bucket[BUCKET_IDLE] += t->idle + more->idle;
}

/* Adds a record with any pieces of the accounting. */
static void count_pieces(
	struct code_totals *to, struct more *more, const struct account *a, uint64_t idle)
{
	uint64_t stall = a->d->stall_cyc[a->i];

	more->stall += a->stall_cyc;
	more->issue += a->issue_cyc;
	more->idle += a->gap_cyc + a->tail_cyc;
	if (!a->is_hit)
		return;
	hot_add_record(to, a->d, a->i, idle);
	more->stall -= stall;
	more->issue -= a->d->dur_cyc[a->i] - stall;
	more->idle -= idle;
}

/* A record whose class is not that of its row. */
static void count_odd(struct hot *h, const struct account *a, code_idx row, uint64_t idle)
{
	enum inst_class c = (enum inst_class)a->d->inst_class[a->i];
	struct code_totals totals = {0};
	struct more more = {0};
	struct hot_sums s = {0};

	count_pieces(&totals, &more, a, idle);
	to_buckets(&s, &totals, &more, c);
	hot_add(&h->rows[row], &s);
	hot_add(&h->classes[c], &s);
}

/*
 * Counts one record of any kind: unknown code, a class that contradicts its row, an overlap, the
 * window's edge, the last. The producer's idle ignores records of unknown code, also for the end of
 * earlier records: `known_end`. Returns that end after this record.
 */
static uint64_t count_record(struct hot_worker *m, const struct walk_track *w,
	const struct account *a, uint64_t known_end)
{
	const struct track_data *d = a->d;
	uint32_t i = a->i, n_code = w->trace->n_code;
	bool is_known = d->code[i] < n_code;
	code_idx row = is_known ? d->code[i] : n_code;
	uint64_t start = d->start_cyc[i];
	uint64_t idle = is_known && start > known_end ? start - known_end : 0;

	if (d->inst_class[i] == m->classes[row])
		count_pieces(&m->totals[row], &m->more[row], a, idle);
	else
		count_odd(m->odd, a, row, idle);
	m->n_instructions += a->is_hit;
	return is_known ? cover_after(known_end, start, d->dur_cyc[i]) : known_end;
}

/*
 * Fast path: takes records as long as they are ordinary: known, of their row's class, after the
 * previous one, inside the window and not the last. Their pieces equal the recorded figures, so
 * nothing has to be cut. Returns the end of all records so far.
 */
static uint64_t count_plain(struct hot_worker *m, const struct walk_track *w, struct account *a)
{
	const struct track_data d = *w->data; /* a copy: the counting does not change it */
	struct code_totals *totals = m->totals;
	const uint8_t *classes = m->classes;
	uint32_t n_code = w->trace->n_code, i = a->next, first = i;
	uint64_t cover = a->raw.end, hi = a->hi;

	if (cover < a->lo)
		return cover;
	for (; i + 1 < d.n; i++) {
		uint64_t start = d.start_cyc[i], end = start + d.dur_cyc[i];
		code_idx code = d.code[i];

		if (start < cover || end >= hi || code >= n_code ||
			d.inst_class[i] != classes[code])
			break;
		hot_add_record(&totals[code], &d, i, start - cover);
		cover = end;
	}
	m->n_instructions += i - first;
	a->sum_cyc += cover - a->raw.end;
	a->raw.end = cover;
	a->next = i;
	return cover;
}

static bool hot_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	struct hot_worker *m = mine;
	uint64_t known_end = w->data->begin_cyc;
	struct account a;

	(void)self;
	(void)e;
	m->n_waves++;
	account_begin(&a, w->data, w->from_cyc, w->to_cyc);
	for (;;) {
		if (known_end == a.raw.end)
			known_end = count_plain(m, w, &a);
		if (!account_next(&a))
			break;
		known_end = count_record(m, w, &a, known_end);
	}
	if (a.d->n == 0) /* a wave that ran nothing: idle, belongs to no row */
		m->odd->all.bucket[BUCKET_IDLE] += a.tail_cyc;
	m->duration_cyc += account_duration(&a);
	m->residue_cyc += account_residue(&a);
	return true;
}

static bool hot_merge(void *self, void *mine, struct incore_error *e)
{
	struct hot *h = self;
	const struct hot_worker *m = mine;
	uint32_t n = h->trace->n_code;

	(void)e;
	for (code_idx i = 0; i <= n; i++) {
		struct hot_sums s = {0};

		to_buckets(&s, &m->totals[i], &m->more[i], class_of_row(h->trace, i));
		hot_add(&h->classes[class_of_row(h->trace, i)], &s);
		hot_add(&s, &m->odd->rows[i]);
		hot_add(&h->rows[i], &s);
		if (i == n) /* in the accounting, but not in the totals as its producer counts */
			s.totals = (struct code_totals){0};
		hot_add(&h->all, &s);
	}
	hot_add(&h->all, &m->odd->all);
	for (unsigned c = 0; c < CLASS_COUNT; c++)
		hot_add(&h->classes[c], &m->odd->classes[c]);
	h->n_waves += m->n_waves;
	h->n_instructions += m->n_instructions;
	h->duration_cyc += m->duration_cyc;
	h->residue_cyc += m->residue_cyc;
	return true;
}

struct collector hot_collector(struct hot *h)
{
	if (trace_kind(h->trace) == KIND_PIPES)
		return hot_pipes_collector(h);
	return (struct collector){h, sizeof(struct hot_worker), hot_worker_init, hot_track,
		hot_merge, hot_worker_deinit};
}

void hot_take_stated(struct hot *h)
{
	const struct trace *t = h->trace;

	h->is_stated = true;
	for (code_idx i = 0; i < t->n_code; i++) {
		struct hot_sums s = {.totals = t->code[i].stated};

		if (t->samples) {
			s.samples = t->samples[i].issued + t->samples[i].stalled;
			s.stalled_samples = t->samples[i].stalled;
		}
		if (trace_kind(t) == KIND_SAMPLES) {
			samples_add_buckets(t, i, s.bucket, &s.exposed_samples);
			s.totals.latency = hot_cycles(&s);
			s.totals.stall = s.totals.latency - s.bucket[BUCKET_ISSUE];
		}
		h->rows[i] = s;
		hot_add(&h->all, &s);
		hot_add(&h->classes[t->code[i].inst_class], &s);
	}
	h->n_instructions = h->all.totals.hit;
	h->duration_cyc = hot_cycles(&h->all);
}

const struct reason_count *hot_reasons(const struct hot *h, const struct hot_group *g)
{
	if (!h->trace->samples || g->reasons)
		return g->reasons;
	return g->code < h->trace->n_code ? trace_reasons_of(h->trace, g->code) : NULL;
}

const char *hot_stall_reason(const struct trace *t, const struct reason_count *reasons)
{
	uint32_t best = 0;

	/* AMD's first reason is "none": it only wins if no other does */
	for (uint32_t r = 1; r < t->n_reasons; r++)
		if (reasons[r].all > reasons[best].all)
			best = r;
	return t->reasons[best];
}

uint32_t hot_static_rows(const struct trace *t)
{
	uint32_t n = 0;

	for (code_idx i = 0; i < t->n_code; i++)
		n += !t->code[i].is_label;
	return n;
}
