/* SPDX-License-Identifier: Apache-2.0 */
/* lend.c: copies a track from the columns if they hold it exactly as its file does. */
#include "trace/lend.h"

#include "trace/class.h"

/* Times in the track's own clock; false for values that no track can have: columns may come from a
 * file, too. */
static bool copy_times(const struct lane *l, uint64_t base_cyc, struct track_data *d)
{
	const uint32_t *start = l->start, *dur = l->dur, *stall = l->stall;
	uint32_t before = 0, bad = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		bad |= (start[i] < before) | (stall[i] > dur[i]) |
		       (dur[i] >= UINT32_MAX - start[i]); /* cut to 32 bits */
		before = start[i];
		d->start_cyc[i] = base_cyc + start[i];
		d->dur_cyc[i] = dur[i];
		d->stall_cyc[i] = stall[i];
	}
	return !bad;
}

static bool copy_codes(const struct lane *l, uint32_t n_code, struct track_data *d)
{
	uint32_t bad = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint8_t c = class_plain(l->inst_class[i]);

		bad |= (l->code[i] >= n_code) | (c >= CLASS_COUNT);
		d->code[i] = l->code[i];
		d->inst_class[i] = c;
	}
	memcpy(d->tag, l->tag, l->n);
	return !bad;
}

static bool lend_load(const struct track_lender *self, const struct trace *t, track_idx i,
	unsigned want, struct track_data *d)
{
	const struct lent_columns *x = (const struct lent_columns *)self;
	const struct columns *c = x->columns;
	const struct lane *l = &c->lanes[c->first_lane[i]];
	int64_t shift = trace_aligned(x->of, x->of->tracks[i].clock, 0) - x->origin_cyc;

	/* a slice at 0 may have begun earlier, cut off at the screen's origin */
	if (want & ~(unsigned)TRACK_LESS || c->first_lane[i + 1] - c->first_lane[i] != 1 ||
		l->n == 0 || l->n_sub != 1 || l->base_cyc == 0 || l->begin_cyc == 0 ||
		l->end_cyc <= l->begin_cyc)
		return false;
	if (!track_data_reserve(d, l->n) ||
		!copy_times(l, (uint64_t)((int64_t)l->base_cyc - shift), d) ||
		!copy_codes(l, t->n_code, d))
		return false;
	d->n = l->n;
	d->stated_slices = l->n;
	d->begin_cyc = (uint64_t)((int64_t)l->begin_cyc - shift);
	d->end_cyc = (uint64_t)((int64_t)l->end_cyc - shift);
	return true;
}

struct lent_columns lend_columns(
	const struct trace *of, const struct columns *columns, int64_t origin_cyc)
{
	return (struct lent_columns){{lend_load}, of, columns, origin_cyc};
}

static bool lend_is_same(const struct trace *a, const struct trace *b)
{
	if (a->n_tracks != b->n_tracks || a->n_code != b->n_code)
		return false;
	for (uint32_t i = 0; i < a->n_tracks; i++) {
		const struct track *x = &a->tracks[i], *y = &b->tracks[i];

		if (memcmp(x->coord, y->coord, sizeof(x->coord)) != 0 || x->clock != y->clock)
			return false;
	}
	return true;
}

void lend_to(const struct lent_columns *l, struct trace *t)
{
	if (l->columns->n_tracks == t->n_tracks && lend_is_same(l->of, t))
		__atomic_store_n(&t->lender, &l->lender, __ATOMIC_RELEASE);
}
