/* SPDX-License-Identifier: Apache-2.0 */
/*
 * * diff.c: values per execution (or launch) of two captures, what changed, and whether repeats
 * differ as much. Divisions: one side; gates; captures of one state; the comparison.
 */
#include "analysis/diff/diff.h"

#include <math.h>
#include <stdlib.h>

#include "analysis/code/samples.h"
#include "analysis/diff/diff_gate.h"
#include "analysis/diff/stable.h"
#include "analysis/pipes/pipes.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "trace/kind.h"

/* --- one side --------------------------------------------------------------------------------- */

/* Causes of pipes are made from the analysis of pipes. */
static bool diff_walk_pipes(struct diff_side *s, const struct walk_options *o,
	struct walk_result *walk_out, struct incore_error *e)
{
	struct pipes *p = pipes_new(s->trace, e);
	struct collector made[2];
	const struct collector *list[] = {&made[0], &made[1]};
	bool ok = false;

	if (!p)
		return false;
	made[0] = hot_collector(s->hot);
	made[1] = pipes_collector(p);
	if (walk_tracks(s->trace, o, list, 2, walk_out, e))
		ok = pipes_finish(p, e) && pipes_fill_causes(p, s->causes, e);
	pipes_free(p);
	return ok;
}

bool diff_side_open(struct diff_side *s, const struct trace *t, const struct walk_options *o,
	struct walk_result *walk_out, struct incore_error *e)
{
	struct collector hot, causes;
	const struct collector *list[] = {&hot, &causes};

	memset(walk_out, 0, sizeof(*walk_out));
	*s = (struct diff_side){.trace = t};
	s->hot = hot_new(t);
	if (!s->hot)
		return err_nomem(e);
	s->causes = causes_new(t, NULL, 0, e);
	if (!s->causes)
		goto fail;
	if (!t->n_tracks) {
		hot_take_stated(s->hot);
		if (trace_kind(t) != KIND_SAMPLES || samples_fill_causes(s->causes, e))
			return true;
		goto fail;
	}
	if (trace_kind(t) == KIND_PIPES) {
		if (diff_walk_pipes(s, o, walk_out, e))
			return true;
		goto fail;
	}
	hot = hot_collector(s->hot);
	causes = causes_collector(s->causes);
	if (walk_tracks(t, o, list, 2, walk_out, e) && causes_finish(s->causes, e))
		return true;
fail:
	diff_side_close(s);
	return false;
}

void diff_side_close(struct diff_side *s)
{
	hot_free(s->hot);
	causes_free(s->causes);
	*s = (struct diff_side){0};
}

/* --- gates ------------------------------------------------------------------------------------ */

static bool bad_gate(const char *text, const char *at, const char *want, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "bad-gate",
		"--gate '%s': expected %s at character %zu; a gate reads like 'stall_per_hit<+5%%'",
		text, want, (size_t)(at - text) + 1);
}

static const char *diff_skip_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

static bool is_metric_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

static bool parse_op(const char **p, enum gate_op *op)
{
	bool is_less = **p == '<';

	if (!is_less && **p != '>')
		return false;
	(*p)++;
	*op = is_less ? GATE_LT : GATE_GT;
	if (**p == '=') {
		(*p)++;
		*op = is_less ? GATE_LE : GATE_GE;
	}
	return true;
}

/* Digits with an optional fraction: no locale, no exponent, no inf. */
static bool parse_number(const char **p, double *out)
{
	double v = 0, unit = 1;
	const char *start = *p;
	unsigned n = 0;

	for (; **p >= '0' && **p <= '9' && n < 15; (*p)++, n++)
		v = v * 10 + (**p - '0');
	if (**p == '.')
		for ((*p)++; **p >= '0' && **p <= '9' && n < 15; (*p)++, n++) {
			unit /= 10;
			v += unit * (**p - '0');
		}
	*out = v;
	return n > 0 && *p > start && !(**p >= '0' && **p <= '9');
}

bool gate_parse(struct gate *g, const char *text, struct incore_error *e)
{
	const char *p = diff_skip_blanks(text), *name = p;
	char sign = 0;
	bool is_pct;
	size_t n;

	while (is_metric_char(*p))
		p++;
	n = (size_t)(p - name);
	if (!n || n >= sizeof(g->metric))
		return bad_gate(text, name, "the name of a value", e);
	*g = (struct gate){.text = text};
	memcpy(g->metric, name, n);
	p = diff_skip_blanks(p);
	if (!parse_op(&p, &g->op))
		return bad_gate(text, p, "<, <=, > or >=", e);
	p = diff_skip_blanks(p);
	if (*p == '+' || *p == '-')
		sign = *p++;
	if (!parse_number(&p, &g->limit))
		return bad_gate(text, p, "a number", e);
	p = diff_skip_blanks(p);
	is_pct = *p == '%';
	p = diff_skip_blanks(p + is_pct);
	if (*p)
		return bad_gate(text, p, "the end", e);
	g->limit = sign == '-' ? -g->limit : g->limit;
	g->kind = !sign ? GATE_VALUE : is_pct ? GATE_CHANGE_PCT : GATE_CHANGE;
	if (!sign && is_pct) {
		g->limit /= 100;
		if (!strstr(g->metric, "_share"))
			return bad_gate(text, text, "a share (or a sign before the percentage)", e);
	}
	return true;
}

static const struct diff_value *find_value(const struct diff *d, const char *name)
{
	for (uint32_t i = 0; i < d->n_values; i++)
		if (strcmp(d->values[i].name, name) == 0)
			return &d->values[i];
	return NULL;
}

static bool unknown_metric(const struct gate *g, const struct diff *d, struct incore_error *e)
{
	struct strbuf names = {0};

	for (uint32_t i = 0; i < d->n_values; i++)
		sb_printf(&names, "%s%s", i ? ", " : "", d->values[i].name);
	err_set(e, INCORE_USAGE, "bad-gate", "--gate '%s': no value '%s'; there are %s", g->text,
		g->metric, names.p ? names.p : "none");
	sb_free(&names);
	return false;
}

static bool holds(enum gate_op op, double x, double limit)
{
	switch (op) {
	case GATE_LT:
		return x < limit;
	case GATE_LE:
		return x <= limit;
	case GATE_GT:
		return x > limit;
	case GATE_GE:
		return x >= limit;
	}
	return false;
}

bool gate_check(
	const struct gate *g, const struct diff *d, struct gate_result *out, struct incore_error *e)
{
	const struct diff_value *v = find_value(d, g->metric);
	struct gate_result r = {.gate = g, .value = v, .limit = g->limit};

	if (!v)
		return unknown_metric(g, d, e);
	if (!v->is_known)
		return err_set(e, INCORE_BAD_INPUT, "not-comparable",
			"--gate '%s': the captures do not contain %s", g->text, g->metric);
	if (g->kind == GATE_CHANGE_PCT && v->a == 0 && v->b != 0)
		return err_set(e, INCORE_BAD_INPUT, "not-comparable",
			"--gate '%s': %s is 0 in the first capture, a change in percent has no meaning",
			g->text, g->metric);
	r.got = g->kind == GATE_VALUE ? v->b : g->kind == GATE_CHANGE ? v->change : v->change_pct;
	r.noise = d->options->noise_factor * (g->kind == GATE_CHANGE_PCT ? v->noise_pct : v->noise);
	r.is_passed = holds(g->op, r.got, r.limit);
	if (!r.is_passed && d->has_noise && g->kind != GATE_VALUE && fabs(r.got) <= r.noise)
		r.is_passed = r.is_saved_by_noise = true;
	*out = r;
	return true;
}

static const char *op_text(enum gate_op op)
{
	static const char *const names[] = {"<", "<=", ">", ">="};

	return names[op];
}

bool gate_put(const struct gate_result *r, const struct diff *d, struct strbuf *out)
{
	const struct gate *g = r->gate;
	const struct diff_value *v = r->value;
	double by = v->is_share ? 100 : 1;
	const char *unit = v->is_share ? " %" : "";

	sb_printf(out, "%s: %s %.3f%s -> %.3f%s (%+.2f %%), limit %s ",
		r->is_passed ? "passed" : "FAILED", v->name, by * v->a, unit, by * v->b, unit,
		v->change_pct, op_text(g->op));
	if (g->kind == GATE_CHANGE_PCT)
		sb_printf(out, "%+g %%", r->limit);
	else if (g->kind == GATE_CHANGE)
		sb_printf(out, "%+g", r->limit);
	else
		sb_printf(out, "%g%s", by * r->limit, unit);
	if (!d->has_noise)
		sb_puts(out, "; no repeat: noise unknown");
	else
		sb_printf(out, "; noise %.3f%s (%.2f %%)", by * v->noise, unit, v->noise_pct);
	if (r->is_saved_by_noise)
		sb_puts(out, ": beyond the limit but within the noise");
	return !out->failed;
}

/* --- captures of one state -------------------------------------------------------------------- */

static double per_execution(const struct diff_side *s, uint64_t cycles)
{
	uint64_t hits = s->hot->all.totals.hit;

	return hits ? (double)cycles / (double)hits : 0;
}

static double diff_row_of(const struct diff_side *s, code_idx i)
{
	return per_execution(s, s->hot->rows[i].totals.latency);
}

static void judge_total(struct stability *out, const struct diff_side *sides, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		double x = per_execution(&sides[i], sides[i].hot->all.totals.latency);

		out->least = !i || x < out->least ? x : out->least;
		out->most = !i || x > out->most ? x : out->most;
	}
	out->spread_pct = out->least > 0 ? 100 * (out->most - out->least) / out->least : 0;
}

static struct stable_row judge_row(
	const struct stability *of, const struct diff_side *sides, uint32_t n, code_idx code)
{
	struct stable_row r = {.code = code,
		.a = diff_row_of(&sides[0], code),
		.b = diff_row_of(&sides[1], code),
		.least = diff_row_of(&sides[0], code)};

	r.most = r.least;
	for (uint32_t i = 1; i < n; i++) {
		double x = diff_row_of(&sides[i], code);

		r.least = x < r.least ? x : r.least;
		r.most = x > r.most ? x : r.most;
	}
	r.spread_pct = of->least > 0 ? 100 * (r.most - r.least) / of->least : 0;
	return r;
}

static int by_spread(const void *pa, const void *pb)
{
	const struct stable_row *a = pa, *b = pb;

	RETURN_UNLESS_EQUAL(b->spread_pct, a->spread_pct);
	RETURN_UNLESS_EQUAL(a->code, b->code);
	return 0;
}

bool stability_judge(struct stability *out, const struct diff_side *sides, uint32_t n,
	double total_pct, double row_pct, struct arena *arena, struct incore_error *e)
{
	code_idx n_code = sides[0].trace->n_code;
	struct stable_row *v = arena_zalloc(arena, (size_t)n_code + 1, sizeof(*v));
	uint32_t moved = 0;

	*out = (struct stability){.rows = v};
	if (!v)
		return err_nomem(e);
	judge_total(out, sides, n);
	for (code_idx i = 0; i < n_code; i++) {
		v[moved] = judge_row(out, sides, n, i);
		out->n_beyond += v[moved].spread_pct > row_pct;
		moved += v[moved].spread_pct > 0;
	}
	SORT(v, moved, by_spread);
	out->row_most_pct = moved ? v[0].spread_pct : 0;
	out->is_stable = out->spread_pct < total_pct && !out->n_beyond;
	out->n_rows = out->is_stable ? 0 : out->n_beyond ? out->n_beyond : moved;
	return true;
}

/* --- the comparison --------------------------------------------------------------------------- */

const char *diff_verdict_name(enum diff_verdict v)
{
	static const char *const names[] = {
		"no-claim", "within-noise", "beyond-noise", "not-comparable"};

	return names[v];
}

#define SAMPLED_SIGMAS 2 /* standard errors by which samples may differ by chance */

/* --- values of a whole capture --- */

enum value_kind {
	VALUE_TOTAL, /* hit, latency, stall, idle in the producer's meaning */
	VALUE_TOTAL_PER_HIT,
	VALUE_TOTAL_PER_LAUNCH,
	VALUE_STALL_SHARE, /* stall as a share of latency */
	VALUE_BUCKET_PER_HIT,
	VALUE_BUCKET_SHARE, /* bucket as a share of all lifetimes */
	VALUE_DURATION,
	VALUE_DURATION_PER_HIT,
	VALUE_DURATION_PER_WAVE,
	VALUE_WAVES,
	VALUE_CLOCK,
};

struct value_def {
	const char *name;
	enum value_kind kind;
	unsigned which; /* total or bucket */
};

enum { TOTAL_HIT, TOTAL_LATENCY, TOTAL_STALL, TOTAL_IDLE };

static const struct value_def defs[] = {
	{"latency_per_hit", VALUE_TOTAL_PER_HIT, TOTAL_LATENCY},
	{"stall_per_hit", VALUE_TOTAL_PER_HIT, TOTAL_STALL},
	{"idle_per_hit", VALUE_TOTAL_PER_HIT, TOTAL_IDLE},
	{"latency_per_launch", VALUE_TOTAL_PER_LAUNCH, TOTAL_LATENCY},
	{"stall_per_launch", VALUE_TOTAL_PER_LAUNCH, TOTAL_STALL},
	{"stall_share", VALUE_STALL_SHARE, 0},
	{"duration_per_hit", VALUE_DURATION_PER_HIT, 0},
	{"issue_per_hit", VALUE_BUCKET_PER_HIT, BUCKET_ISSUE},
	{"wait_per_hit", VALUE_BUCKET_PER_HIT, BUCKET_WAIT},
	{"accounting_stall_per_hit", VALUE_BUCKET_PER_HIT, BUCKET_STALL},
	{"accounting_idle_per_hit", VALUE_BUCKET_PER_HIT, BUCKET_IDLE},
	{"drain_per_hit", VALUE_BUCKET_PER_HIT, BUCKET_DRAIN},
	{"issue_share", VALUE_BUCKET_SHARE, BUCKET_ISSUE},
	{"wait_share", VALUE_BUCKET_SHARE, BUCKET_WAIT},
	{"accounting_stall_share", VALUE_BUCKET_SHARE, BUCKET_STALL},
	{"idle_share", VALUE_BUCKET_SHARE, BUCKET_IDLE},
	{"drain_share", VALUE_BUCKET_SHARE, BUCKET_DRAIN},
	{"duration_per_wave", VALUE_DURATION_PER_WAVE, 0},
	{"duration", VALUE_DURATION, 0},
	{"latency", VALUE_TOTAL, TOTAL_LATENCY},
	{"stall", VALUE_TOTAL, TOTAL_STALL},
	{"idle", VALUE_TOTAL, TOTAL_IDLE},
	{"hit", VALUE_TOTAL, TOTAL_HIT},
	{"waves", VALUE_WAVES, 0},
	{"clock_mhz", VALUE_CLOCK, 0},
};
#define N_DEFS (sizeof(defs) / sizeof(*defs))

static double total_of(const struct code_totals *t, unsigned which)
{
	return (double)(which == TOTAL_HIT	 ? t->hit
			: which == TOTAL_LATENCY ? t->latency
			: which == TOTAL_STALL	 ? t->stall
						 : t->idle);
}

static double ratio(double x, double of)
{
	return of > 0 ? x / of : NAN;
}

/* Launches whose samples are summed; 0: not stated, or a trace of a single launch. */
static uint64_t launches_of(const struct diff_side *s)
{
	int64_t n = s->trace->meta.launch.launch_count;

	return kind_row(s->trace)->is_by_launch && n > 0 ? (uint64_t)n : 0;
}

static uint64_t work_of(const struct diff_side *s, enum diff_per per)
{
	return per == DIFF_PER_LAUNCH ? launches_of(s) : s->hot->all.totals.hit;
}

/* NAN if the capture does not say. */
static double diff_value_of(const struct diff_side *s, const struct value_def *v)
{
	const struct hot *h = s->hot;
	double hit = (double)h->all.totals.hit, dur = (double)h->duration_cyc;

	switch (v->kind) {
	case VALUE_TOTAL:
		return v->which == TOTAL_HIT && hit <= 0 ? NAN : total_of(&h->all.totals, v->which);
	case VALUE_TOTAL_PER_HIT:
		return ratio(total_of(&h->all.totals, v->which), hit);
	case VALUE_TOTAL_PER_LAUNCH:
		return ratio(total_of(&h->all.totals, v->which), (double)launches_of(s));
	case VALUE_STALL_SHARE:
		return ratio((double)h->all.totals.stall, (double)h->all.totals.latency);
	case VALUE_BUCKET_PER_HIT:
		return dur > 0 ? ratio((double)h->all.bucket[v->which], hit) : NAN;
	case VALUE_BUCKET_SHARE:
		return ratio((double)h->all.bucket[v->which], dur);
	case VALUE_DURATION:
		return dur > 0 ? dur : NAN;
	case VALUE_DURATION_PER_HIT:
		return dur > 0 ? ratio(dur, hit) : NAN;
	case VALUE_DURATION_PER_WAVE:
		return dur > 0 ? ratio(dur, (double)h->n_waves) : NAN;
	case VALUE_WAVES:
		return (double)h->n_waves;
	case VALUE_CLOCK:
		return trace_clock_mhz(s->trace) > 0 ? trace_clock_mhz(s->trace) : NAN;
	}
	return NAN;
}

/* --- spread among repeats --- */

struct spread {
	double lo, hi;
	uint32_t n;
};

static void spread_add(struct spread *s, double v)
{
	if (isnan(v))
		return;
	s->lo = !s->n || v < s->lo ? v : s->lo;
	s->hi = !s->n || v > s->hi ? v : s->hi;
	s->n++;
}

/* The larger of two groups' spreads counts. */
static void spread_take(const struct spread *s, double *noise, double *noise_pct)
{
	if (s->n < 2)
		return;
	if (s->hi - s->lo > *noise)
		*noise = s->hi - s->lo;
	if (s->lo > 0 && 100 * (s->hi - s->lo) / s->lo > *noise_pct)
		*noise_pct = 100 * (s->hi - s->lo) / s->lo;
}

static enum diff_verdict judge(const struct diff *d, double change, double noise)
{
	if (!d->has_noise)
		return DIFF_NO_CLAIM;
	return fabs(change) > d->options->noise_factor * noise ? DIFF_BEYOND : DIFF_WITHIN;
}

static void noise_of_value(const struct diff *d, const struct value_def *v, struct diff_value *out)
{
	const struct diff_options *o = d->options;
	struct spread a = {0}, b = {0};

	spread_add(&a, diff_value_of(d->a, v));
	for (uint32_t i = 0; i < o->n_repeats_a; i++)
		spread_add(&a, diff_value_of(&o->repeats_a[i], v));
	spread_add(&b, diff_value_of(d->b, v));
	for (uint32_t i = 0; i < o->n_repeats_b; i++)
		spread_add(&b, diff_value_of(&o->repeats_b[i], v));
	spread_take(&a, &out->noise, &out->noise_pct);
	spread_take(&b, &out->noise, &out->noise_pct);
}

/* Standard error of a value computed from samples, from their counts only. */
static double sampling_error(const struct diff_side *s, const struct value_def *v)
{
	double x = diff_value_of(s, v), n = (double)s->hot->all.samples;
	double period = (double)s->trace->sampling.period_cyc;
	double hits = (double)s->hot->all.totals.hit;

	if (isnan(x) || x <= 0 || !n)
		return 0;
	switch (v->kind) {
	case VALUE_TOTAL:
		return v->which == TOTAL_HIT ? 0 : sqrt(x * period);
	case VALUE_DURATION:
		return sqrt(x * period);
	case VALUE_TOTAL_PER_HIT:
	case VALUE_BUCKET_PER_HIT:
	case VALUE_DURATION_PER_HIT:
		return sqrt(x * hits * period) / hits;
	case VALUE_TOTAL_PER_LAUNCH:
		return sqrt(x * period / (double)launches_of(s));
	case VALUE_STALL_SHARE:
	case VALUE_BUCKET_SHARE:
		return sqrt(x * (1 - x) / n);
	default:
		return 0;
	}
}

/* Samples: noise is twice the standard error of the difference, or the spread of repeats. */
static double sampled_noise(const struct diff *d, double error_a, double error_b, double noise)
{
	double both = SAMPLED_SIGMAS * hypot(error_a, error_b);

	return d->is_sampled && both > noise ? both : noise;
}

static bool fill_values(struct diff *d, struct incore_error *e)
{
	d->values = arena_zalloc(&d->arena, N_DEFS, sizeof(*d->values));
	if (!d->values)
		return err_nomem(e);
	d->n_values = N_DEFS;
	for (size_t i = 0; i < N_DEFS; i++) {
		struct diff_value *v = &d->values[i];

		v->name = defs[i].name;
		v->is_share =
			defs[i].kind == VALUE_STALL_SHARE || defs[i].kind == VALUE_BUCKET_SHARE;
		v->is_count = defs[i].kind == VALUE_TOTAL || defs[i].kind == VALUE_DURATION ||
			      defs[i].kind == VALUE_WAVES;
		v->a = diff_value_of(d->a, &defs[i]);
		v->b = diff_value_of(d->b, &defs[i]);
		v->is_known = !isnan(v->a) && !isnan(v->b);
		v->change = v->is_known ? v->b - v->a : 0;
		v->change_pct = v->is_known && v->a != 0 ? 100 * v->change / v->a : 0;
		noise_of_value(d, &defs[i], v);
		v->noise = sampled_noise(d, sampling_error(d->a, &defs[i]),
			sampling_error(d->b, &defs[i]), v->noise);
		if (d->is_sampled && v->a > 0 && 100 * v->noise / v->a > v->noise_pct)
			v->noise_pct = 100 * v->noise / v->a;
		v->verdict = v->is_known ? judge(d, v->change, v->noise) : DIFF_NOT_COMPARABLE;
	}
	return true;
}

/* --- parts --- */

struct diff_cell { /* one part of one side */
	const char *key;
	code_idx code;
	uint64_t work, cycles, stall; /* work: executions, or launches */
};

struct diff_cells {
	struct diff_cell *v;
	uint32_t n;
};

static uint64_t work_in(const struct diff_side *s, enum diff_per per, uint64_t hits)
{
	return per == DIFF_PER_LAUNCH ? launches_of(s) : hits;
}

static bool cells_of_rows(
	const struct diff_side *s, enum diff_per per, struct arena *a, struct diff_cells *out)
{
	const struct trace *t = s->trace;

	out->v = arena_zalloc(a, (size_t)t->n_code + 1, sizeof(*out->v));
	if (!out->v)
		return false;
	out->n = t->n_code;
	for (code_idx i = 0; i < t->n_code; i++) {
		const struct code_totals *r = &s->hot->rows[i].totals;

		out->v[i] = (struct diff_cell){
			t->code[i].text, i, work_in(s, per, r->hit), r->latency, r->stall};
	}
	return true;
}

static bool cells_of_causes(
	const struct diff_side *s, enum diff_per per, struct arena *a, struct diff_cells *out)
{
	out->v = arena_zalloc(a, (size_t)s->causes->n + 1, sizeof(*out->v));
	if (!out->v)
		return false;
	out->n = s->causes->n;
	for (uint32_t i = 0; i < out->n; i++) {
		const struct cause *c = &s->causes->v[i];

		out->v[i] = (struct diff_cell){c->name, NO_CODE, work_of(s, per), c->cyc,
			c->bucket == BUCKET_ISSUE ? 0 : c->cyc};
	}
	return true;
}

static bool cells_of(const struct diff *d, const struct diff_side *s, struct arena *a,
	struct diff_cells *out, struct incore_error *e)
{
	enum diff_by by = d->by;
	static const enum hot_by hot_by[] = {
		[DIFF_BY_LINE] = HOT_BY_LINE,
		[DIFF_BY_OPCODE] = HOT_BY_OPCODE,
		[DIFF_BY_CLASS] = HOT_BY_CLASS,
	};
	struct hot_group *g = NULL;
	uint32_t n = 0;

	if (by == DIFF_BY_INSTR)
		return cells_of_rows(s, d->per, a, out) || err_nomem(e);
	if (by == DIFF_BY_CAUSE)
		return cells_of_causes(s, d->per, a, out) || err_nomem(e);
	if (!hot_group(s->hot, hot_by[by], HOT_SORT_LATENCY, false, a, &g, &n, e))
		return false;
	out->v = arena_zalloc(a, (size_t)n + 1, sizeof(*out->v));
	if (!out->v)
		return err_nomem(e);
	out->n = n;
	for (uint32_t i = 0; i < n; i++)
		out->v[i] = (struct diff_cell){g[i].key, g[i].code,
			work_in(s, d->per, g[i].sums.totals.hit), g[i].sums.totals.latency,
			g[i].sums.totals.stall};
	return true;
}

static double per_work(uint64_t cycles, uint64_t work)
{
	return work ? (double)cycles / (double)work : 0;
}

static void part_add(struct diff_part *p, const struct diff_cell *c, bool is_b)
{
	if (is_b) {
		p->code_b = c->code;
		p->work_b = c->work;
		p->cycles_b = c->cycles;
		p->stall_b = c->stall;
	} else {
		p->code_a = c->code;
		p->work_a = c->work;
		p->cycles_a = c->cycles;
		p->stall_a = c->stall;
	}
}

/* Rows: A's in order with their partners, then B's without partner. *of_row: part of each row of B.
 */
static bool join_rows(struct diff *d, const struct diff_cells *a, const struct diff_cells *b,
	uint32_t *part_of_b, struct incore_error *e)
{
	d->parts = arena_zalloc(&d->arena, (size_t)a->n + b->n + 1, sizeof(*d->parts));
	if (!d->parts)
		return err_nomem(e);
	for (uint32_t i = 0; i < b->n; i++)
		part_of_b[i] = UINT32_MAX;
	for (uint32_t i = 0; i < a->n; i++) {
		struct diff_part *p = &d->parts[d->n_parts];
		code_idx k = d->align.b_of_a[i];

		*p = (struct diff_part){.key = a->v[i].key, .code_a = i, .code_b = NO_CODE};
		part_add(p, &a->v[i], false);
		if (k != NO_CODE) {
			part_add(p, &b->v[k], true);
			part_of_b[k] = d->n_parts;
		}
		d->n_parts++;
	}
	for (uint32_t i = 0; i < b->n; i++) {
		struct diff_part *p = &d->parts[d->n_parts];

		if (part_of_b[i] != UINT32_MAX)
			continue;
		*p = (struct diff_part){.key = b->v[i].key, .code_a = NO_CODE};
		part_add(p, &b->v[i], true);
		part_of_b[i] = d->n_parts++;
	}
	return true;
}

/* The key under which a part of B is compared. */
static const char *key_in_b(const struct diff *d, const char *key)
{
	return d->by == DIFF_BY_LINE ? line_pairs_key(&d->align.lines, key) : key;
}

/* Other groupings: by equal keys. */
static bool join_keys(struct diff *d, const struct diff_cells *a, const struct diff_cells *b,
	struct intern *keys, struct incore_error *e)
{
	d->parts = arena_zalloc(&d->arena, (size_t)a->n + b->n + 1, sizeof(*d->parts));
	if (!d->parts)
		return err_nomem(e);
	for (unsigned side = 0; side < 2; side++) {
		const struct diff_cells *c = side ? b : a;

		for (uint32_t i = 0; i < c->n; i++) {
			const char *key = side ? key_in_b(d, c->v[i].key) : c->v[i].key;
			uint32_t id = intern_add(keys, str_of(key));

			if (id == INTERN_NONE)
				return err_nomem(e);
			if (id == d->n_parts) {
				d->parts[id].code_a = d->parts[id].code_b = NO_CODE;
				d->parts[id].key = arena_strdup(&d->arena, key);
				if (!d->parts[id].key)
					return err_nomem(e);
				d->n_parts++;
			}
			part_add(&d->parts[id], &c->v[i], side);
		}
	}
	for (uint32_t i = 0; d->by == DIFF_BY_LINE && i < d->n_parts; i++)
		d->parts[i].key_b = line_pairs_moved(&d->align.lines, d->parts[i].key);
	return true;
}

/* --- noise of parts --- */

struct part_noise {
	struct diff *d;
	const struct intern *keys; /* NULL for rows */
	const uint32_t *part_of_b; /* rows only: part of each row of B */
	struct spread *spread;	   /* by part */
};

static uint32_t diff_part_of(const struct part_noise *n, const struct diff_cell *c, bool is_b)
{
	uint32_t id;

	if (!n->keys)
		return is_b ? n->part_of_b[c->code] : c->code;
	id = intern_find(n->keys, str_of(is_b ? key_in_b(n->d, c->key) : c->key));
	return id == INTERN_NONE ? UINT32_MAX : id;
}

static bool add_repeat(
	const struct part_noise *n, const struct diff_side *s, bool is_b, struct incore_error *e)
{
	struct arena tmp;
	struct diff_cells c = {0};
	bool ok;

	arena_init(&tmp);
	ok = cells_of(n->d, s, &tmp, &c, e);
	for (uint32_t i = 0; ok && i < c.n; i++) {
		uint32_t k = diff_part_of(n, &c.v[i], is_b);

		if (k < n->d->n_parts && c.v[i].work)
			spread_add(&n->spread[k], per_work(c.v[i].cycles, c.v[i].work));
	}
	arena_deinit(&tmp);
	return ok;
}

static bool add_group(struct part_noise *n, const struct diff_side *self,
	const struct diff_side *repeats, uint32_t n_repeats, struct incore_error *e)
{
	struct diff *d = n->d;
	bool is_b = self == d->b, ok = true;

	if (!n_repeats)
		return true;
	memset(n->spread, 0, d->n_parts * sizeof(*n->spread));
	ok = add_repeat(n, self, is_b, e);
	for (uint32_t i = 0; ok && i < n_repeats; i++)
		ok = add_repeat(n, &repeats[i], is_b, e);
	for (uint32_t i = 0; ok && i < d->n_parts; i++) {
		double unused = 0;

		spread_take(&n->spread[i], &d->parts[i].noise, &unused);
	}
	return ok;
}

/* Parts get the work of their whole side: whatever is missing on a side cost nothing there. */
static void fill_work(struct diff *d)
{
	for (uint32_t i = 0; i < d->n_parts; i++) {
		d->parts[i].work_a = work_of(d->a, d->per);
		d->parts[i].work_b = work_of(d->b, d->per);
	}
}

static double error_per_work(const struct diff_side *s, uint64_t cycles, uint64_t work)
{
	return sqrt((double)cycles * (double)s->trace->sampling.period_cyc) / (double)work;
}

static void judge_parts(struct diff *d)
{
	double all = (double)work_of(d->a, d->per);

	EACH (struct diff_part, p, d->parts, d->n_parts) {
		p->per_work_a = per_work(p->cycles_a, p->work_a);
		p->per_work_b = per_work(p->cycles_b, p->work_b);
		p->stall_per_work_a = per_work(p->stall_a, p->work_a);
		p->stall_per_work_b = per_work(p->stall_b, p->work_b);
		p->verdict = DIFF_NOT_COMPARABLE;
		if (!p->work_a || !p->work_b)
			continue;
		p->change = p->per_work_b - p->per_work_a;
		p->noise = sampled_noise(d, error_per_work(d->a, p->cycles_a, p->work_a),
			error_per_work(d->b, p->cycles_b, p->work_b), p->noise);
		p->contribution = all > 0 ? p->change * (double)p->work_a / all : 0;
		p->verdict = judge(d, p->change, p->noise);
	}
}

static int verdict_rank(enum diff_verdict v)
{
	return v == DIFF_BEYOND ? 0 : v == DIFF_NOT_COMPARABLE ? 2 : 1;
}

static int by_size(const void *pa, const void *pb)
{
	const struct diff_part *a = pa, *b = pb;
	int ra = verdict_rank(a->verdict), rb = verdict_rank(b->verdict);
	double x = fabs(a->contribution), y = fabs(b->contribution);
	uint64_t ca = a->cycles_a + a->cycles_b, cb = b->cycles_a + b->cycles_b;

	if (ra != rb)
		return ra - rb;
	RETURN_UNLESS_EQUAL(y, x);
	RETURN_UNLESS_EQUAL(cb, ca);
	RETURN_UNLESS_EQUAL(a->code_a, b->code_a);
	RETURN_UNLESS_EQUAL(a->code_b, b->code_b);
	return strcmp(a->key, b->key);
}

/* Is the part empty: executed on neither side, or without samples? */
static bool is_empty(const struct diff *d, const struct diff_part *p)
{
	return d->per == DIFF_PER_LAUNCH ? !p->cycles_a && !p->cycles_b : !p->work_a && !p->work_b;
}

static void drop_empty(struct diff *d)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < d->n_parts; i++)
		if (!is_empty(d, &d->parts[i]))
			d->parts[n++] = d->parts[i];
	d->n_parts = n;
}

static bool fill_parts(struct diff *d, struct incore_error *e)
{
	enum diff_by by = d->options->by;
	struct part_noise n = {.d = d};
	struct diff_cells a = {0}, b = {0};
	struct intern keys;
	uint32_t *part_of_b;
	bool ok = false;

	d->by = by == DIFF_BY_INSTR && !d->align.b_of_a ? DIFF_BY_LINE : by;
	intern_init(&keys);
	part_of_b = mem_zalloc((size_t)d->b->trace->n_code + 1, sizeof(*part_of_b));
	if (!part_of_b) {
		err_nomem(e);
		goto out;
	}
	if (!cells_of(d, d->a, &d->arena, &a, e) || !cells_of(d, d->b, &d->arena, &b, e))
		goto out;
	ok = d->by == DIFF_BY_INSTR ? join_rows(d, &a, &b, part_of_b, e)
				    : join_keys(d, &a, &b, &keys, e);
	n.keys = d->by == DIFF_BY_INSTR ? NULL : &keys;
	n.part_of_b = part_of_b;
	n.spread = arena_zalloc(&d->arena, (size_t)d->n_parts + 1, sizeof(*n.spread));
	ok = ok && (n.spread || err_nomem(e));
	ok = ok && add_group(&n, d->a, d->options->repeats_a, d->options->n_repeats_a, e) &&
	     add_group(&n, d->b, d->options->repeats_b, d->options->n_repeats_b, e);
	if (!ok)
		goto out;
	if (d->by == DIFF_BY_CAUSE || d->per == DIFF_PER_LAUNCH)
		fill_work(d);
	judge_parts(d);
	drop_empty(d);
	SORT(d->parts, d->n_parts, by_size);
out:
	mem_free(part_of_b);
	intern_deinit(&keys);
	return ok;
}

/* --- the whole --- */

__extension__ typedef unsigned __int128 wide; /* holds the product of two counts */

/* Is hit_b / hit_a the same on every row? Exactly, by cross multiplication. */
static bool is_uniform(const struct diff *d)
{
	wide all_a = d->a->hot->all.totals.hit, all_b = d->b->hot->all.totals.hit;

	if (d->per == DIFF_PER_LAUNCH || !d->align.b_of_a || d->align.matched != d->align.rows_a ||
		d->align.matched != d->align.rows_b)
		return false;
	for (code_idx i = 0; i < d->a->trace->n_code; i++) {
		code_idx k = d->align.b_of_a[i];

		if (k != NO_CODE && d->b->hot->rows[k].totals.hit * all_a !=
					    d->a->hot->rows[i].totals.hit * all_b)
			return false;
	}
	return true;
}

static void compare_clocks(struct diff *d)
{
	double off;

	d->clock_a_mhz = trace_clock_mhz(d->a->trace);
	d->clock_b_mhz = trace_clock_mhz(d->b->trace);
	d->is_clock_alike = true;
	if (d->clock_a_mhz <= 0 || d->clock_b_mhz <= 0)
		return;
	off = fabs(d->clock_b_mhz - d->clock_a_mhz);
	d->is_clock_alike = off <= 0.03 * d->clock_a_mhz;
}

/* Compares per execution if both sides counted them; otherwise samples are compared per launch. */
static bool choose_work(struct diff *d, struct incore_error *e)
{
	const struct diff_side *bad = !d->a->hot->all.totals.hit ? d->a : d->b;

	d->per = DIFF_PER_HIT;
	if (d->a->hot->all.totals.hit && d->b->hot->all.totals.hit)
		return true;
	d->per = DIFF_PER_LAUNCH;
	if (launches_of(d->a) && launches_of(d->b) && d->a->hot->all.samples &&
		d->b->hot->all.samples)
		return true;
	return err_set(e, INCORE_BAD_INPUT, "not-comparable",
		"the %s capture holds no execution of anything%s: there is no cycle per execution to compare",
		bad == d->a ? "first" : "second",
		bad->trace->samples ? ", only samples, and not both say of how many launches" : "");
}

/* The stronger of the verdicts on latency and stall. */
static enum diff_verdict diff_verdict_of(const struct diff *d)
{
	enum diff_verdict v = DIFF_NO_CLAIM;

	for (size_t i = 0; i < N_DEFS; i++)
		if (defs[i].kind == (d->per == DIFF_PER_LAUNCH ? VALUE_TOTAL_PER_LAUNCH
							       : VALUE_TOTAL_PER_HIT) &&
			defs[i].which != TOTAL_IDLE && d->values[i].verdict > v)
			v = d->values[i].verdict;
	return v;
}

bool diff_run(struct diff *d, const struct diff_side *a, const struct diff_side *b,
	const struct diff_options *o, struct incore_error *e)
{
	*d = (struct diff){.a = a, .b = b, .options = o};
	arena_init(&d->arena);
	d->is_sampled = kind_row(a->trace)->is_by_launch && kind_row(b->trace)->is_by_launch;
	d->has_noise = o->n_repeats_a || o->n_repeats_b || d->is_sampled;
	if (!choose_work(d, e))
		goto fail;
	if (!diff_align_rows(&d->align, a, b, o, &d->arena, e))
		goto fail;
	d->work_ratio = (double)work_of(b, d->per) / (double)work_of(a, d->per);
	d->is_same_work = is_uniform(d);
	compare_clocks(d);
	if (!fill_values(d, e) || !fill_parts(d, e))
		goto fail;
	d->verdict = diff_verdict_of(d);
	return true;
fail:
	diff_deinit(d);
	return false;
}

void diff_deinit(struct diff *d)
{
	line_pairs_deinit(&d->align.lines);
	arena_deinit(&d->arena);
	*d = (struct diff){0};
}
