/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scopes_clock.c: a common time for all SMs. Each SM has its own clock, all with the same
 * frequency; every warp read both its SM's clock and the shared timer, at its begin and at its
 * end.
 */
#include <math.h>

#include "base/search.h"
#include "import/scopes/scopes.h"

#define LEAST_SPAN_NS 20000u /* the timer is too coarse for shorter spans */
#define LEAST_HZ 1e7
#define MOST_HZ 1e11

struct clock_pair {
	uint32_t sm;
	uint64_t clock, ns;
};
ORDER(by_sm, struct clock_pair, UP(sm) UP(ns) UP(clock))

struct pairs {
	VEC(struct clock_pair) v;
	VEC(double) offsets; /* offsets of one SM */
};

static int compare_double(const void *pa, const void *pb)
{
	const double *a = pa, *b = pb;

	return COMPARE(*a, *b);
}

static bool collect_pairs(const struct scope_file *f, uint32_t n_warps, struct pairs *p)
{
	for (uint32_t i = 0; i < n_warps; i++) {
		const struct scope_warp *k = &f->warps[i];

		if (k->begin_ns &&
			!VEC_PUSH(&p->v, (struct clock_pair){k->sm, k->begin_clock, k->begin_ns}))
			return false;
		if (k->end_ns &&
			!VEC_PUSH(&p->v, (struct clock_pair){k->sm, k->end_clock, k->end_ns}))
			return false;
	}
	SORT(p->v.v, p->v.n, by_sm);
	return VEC_RESERVE(&p->offsets, p->v.n + 1);
}

/* The frequency from the SM with the longest span; 0: no span is long enough. */
static double measured_hz(const struct pairs *p)
{
	uint64_t longest = 0, cyc = 0;

	for (size_t i = 0, k; i < p->v.n; i = k) {
		const struct clock_pair *a = &p->v.v[i], *b;

		for (k = i; k < p->v.n && p->v.v[k].sm == a->sm; k++)
			;
		b = &p->v.v[k - 1];
		if (b->ns - a->ns > longest && b->clock > a->clock) {
			longest = b->ns - a->ns;
			cyc = b->clock - a->clock;
		}
	}
	return longest >= LEAST_SPAN_NS ? (double)cyc / (double)longest * 1e9 : 0;
}

/* The smallest observed step of the timer; 0: none. */
static uint64_t timer_step(const struct pairs *p)
{
	uint64_t least = 0;

	for (size_t i = 1; i < p->v.n; i++) {
		uint64_t step = p->v.v[i].ns - p->v.v[i - 1].ns;

		if (p->v.v[i].sm == p->v.v[i - 1].sm && step && (!least || step < least))
			least = step;
	}
	return least;
}

static bool put_offsets(struct scope_file *f, struct pairs *p, double hz)
{
	uint64_t first_ns = UINT64_MAX;

	EACH (const struct clock_pair, c, p->v.v, p->v.n)
		if (c->ns < first_ns)
			first_ns = c->ns;
	for (size_t i = 0, k; i < p->v.n; i = k) {
		double middle;

		p->offsets.n = 0;
		for (k = i; k < p->v.n && p->v.v[k].sm == p->v.v[i].sm; k++)
			p->offsets.v[p->offsets.n++] =
				(double)(p->v.v[k].ns - first_ns) * hz / 1e9 -
				(double)(p->v.v[k].clock - p->v.v[i].clock);
		SORT(p->offsets.v, p->offsets.n, compare_double);
		middle = p->offsets.v[p->offsets.n / 2];
		if (fabs(middle) > 1e18)
			return false;
		f->offset_cyc[p->v.v[i].sm] = llround(middle) - (int64_t)p->v.v[i].clock;
	}
	return true;
}

/* The earliest begin becomes time 0. */
static bool settle(struct scope_file *f, uint32_t n_warps)
{
	int64_t first = INT64_MAX, last = INT64_MIN;

	for (uint32_t i = 0; i < n_warps; i++) {
		int64_t at = (int64_t)f->warps[i].begin_clock + f->offset_cyc[f->warps[i].sm];
		int64_t end = (int64_t)f->warps[i].end_clock + f->offset_cyc[f->warps[i].sm];

		first = at < first ? at : first;
		last = end > last ? end : last;
	}
	for (uint32_t i = 0; n_warps && i < f->n_sms; i++)
		f->offset_cyc[i] -= first;
	return !n_warps || (last < INT64_MAX / 4 && first > INT64_MIN / 4);
}

static bool note_clock(
	struct trace *t, const struct scope_file *f, const struct pairs *p, bool is_measured)
{
	uint64_t step = timer_step(p);

	if (!t->meta.clock_hz_den)
		return trace_note(t, NOTE_GUESSED, "unaligned-sms", f->path, INCORE_NO_OFFSET, 1,
			"no frequency is known: the SMs are laid so that each begins at 0");
	return trace_note(t, is_measured ? NOTE_INFO : NOTE_GUESSED, "aligned-sms", f->path,
		INCORE_NO_OFFSET, 1,
		"SMs are aligned by the timer that they share, whose smallest step was %llu ns, with %s clock of %.0f MHz",
		(unsigned long long)step, is_measured ? "their measured" : "the device's stated",
		(double)t->meta.clock_hz_num / 1e6);
}

bool scopes_align(struct scope_file *f, struct trace *t, struct incore_error *e)
{
	struct pairs p = {0};
	double hz;
	bool ok = collect_pairs(f, t->n_tracks, &p), is_measured;

	hz = ok ? measured_hz(&p) : 0;
	is_measured = hz >= LEAST_HZ && hz <= MOST_HZ;
	if (!is_measured)
		hz = (double)f->head.clock_khz * 1e3;
	if (hz >= LEAST_HZ && hz <= MOST_HZ) {
		t->meta.clock_hz_num = (uint64_t)llround(hz);
		t->meta.clock_hz_den = 1;
		t->meta.clock_source = is_measured ? "globaltimer" : "device";
	}
	if (!ok)
		err_nomem(e);
	else if (!put_offsets(f, &p, hz) || !settle(f, t->n_tracks))
		ok = err_file(
			e, "bad-value", f->path, 0, "the clocks of its warps are out of range");
	else
		ok = note_clock(t, f, &p, is_measured) || err_nomem(e);
	VEC_FREE(&p.v);
	VEC_FREE(&p.offsets);
	return ok;
}
