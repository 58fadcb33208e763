/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits_viewer.c: the wait model of the viewer that writes `waitcnt` arrays: first-in-first-out
 * lists of lines, a flag that a counter may be out of order, shared lists of flat accesses. It
 * exists to reproduce those arrays and for the attribution `class-set`; its errors are kept.
 */
#include "analysis/waves/waits_internal.h"

static void clear(struct wait_queue *q)
{
	q->head = q->items.n = 0;
}

static bool drain(struct waits *w, const struct wait_tables *t, struct wait_queue *q, size_t keep,
	uint8_t *mask)
{
	while (q->items.n - q->head > keep) {
		code_idx code = q->items.v[q->head++].code;

		*mask |= (uint8_t)(1u << t->amd.row[code].producer);
		if (!VEC_PUSH(&w->viewer_producers, code))
			return false;
	}
	return true;
}

/* Closes the entry of wait `slice` whose producers begin at `first`; without producers there is no
 * entry. */
static bool emit(struct waits *w, uint32_t slice, size_t first)
{
	uint32_t n = (uint32_t)(w->viewer_producers.n - first);

	return n == 0 || VEC_PUSH(&w->stated, (struct stated_like){slice, (uint32_t)first, n});
}

static bool resolve(struct waits *w, const struct wait_tables *t, uint32_t slice, unsigned counter,
	unsigned value, uint8_t *mask)
{
	struct wait_queues *q = w->queues;
	size_t first = w->viewer_producers.n;
	bool is_lds = counter == AMD_LGKMCNT || counter == AMD_DSCNT;
	bool uses_load = is_lds || counter == AMD_VMCNT || counter == AMD_LOADCNT;
	bool uses_store = is_lds || counter == AMD_VSCNT || counter == AMD_STORECNT;

	if (value == 0)
		q->parallel &= (uint16_t) ~(1u << counter);
	if (q->parallel & 1u << counter)
		return true;
	if (uses_load && !drain(w, t, &q->flat_load, 0, mask))
		return false;
	if (uses_store && !drain(w, t, &q->flat_store, 0, mask))
		return false;
	return drain(w, t, &q->viewer[counter], value, mask) && emit(w, slice, first);
}

static bool resolve_all(struct waits *w, const struct wait_tables *t, uint32_t slice, uint8_t *mask)
{
	size_t first = w->viewer_producers.n;

	for (const uint8_t *c = amd_viewer_order(t->gfx_major); *c < AMD_COUNTERS; c++)
		if (!drain(w, t, &w->queues->viewer[*c], 0, mask))
			return false;
	return emit(w, slice, first);
}

void wait_viewer_start(struct wait_queues *q)
{
	for (unsigned c = 0; c < AMD_COUNTERS; c++)
		clear(&q->viewer[c]);
	clear(&q->flat_load);
	clear(&q->flat_store);
	q->parallel = 0;
}

bool wait_viewer_step(struct waits *w, const struct wait_tables *t, const struct walk_track *track,
	uint32_t i, uint8_t *mask)
{
	code_idx code = track->data->code[i];
	const struct amd_viewer_row *row = &t->amd.viewer[code];
	struct wait_queues *q = w->queues;

	q->parallel |= row->parallel;
	switch (row->push) {
	case AMD_PUSH_LIST:
		return wait_queue_push(&q->viewer[row->counter], i, code);
	case AMD_PUSH_LIST_TWICE:
		return wait_queue_push(&q->viewer[row->counter], i, code) &&
		       wait_queue_push(&q->viewer[row->counter], i, code);
	case AMD_PUSH_FLAT_LOAD:
		return wait_queue_push(&q->flat_load, i, code);
	case AMD_PUSH_FLAT_STORE:
		return wait_queue_push(&q->flat_store, i, code);
	default:
		break;
	}
	if (row->is_wait_idle)
		return resolve_all(w, t, i, mask);
	if (!row->is_wait)
		return true;
	for (const uint8_t *c = amd_viewer_order(t->gfx_major); *c < AMD_COUNTERS; c++)
		if ((row->counters & 1u << *c) && !resolve(w, t, i, *c, row->value[*c], mask))
			return false;
	return true;
}

void wait_viewer_free(struct wait_queues *q)
{
	for (unsigned c = 0; c < AMD_COUNTERS; c++)
		VEC_FREE(&q->viewer[c].items);
	VEC_FREE(&q->flat_load.items);
	VEC_FREE(&q->flat_store.items);
}

bool waits_equal_stated(const struct waits *w, const struct track_data *d)
{
	if (w->stated.n != d->n_stated_waits)
		return false;
	for (uint32_t i = 0; i < d->n_stated_waits; i++) {
		const struct stated_like *ours = &w->stated.v[i];
		const struct stated_wait *theirs = &d->stated_waits[i];

		if (d->code[ours->slice] != theirs->wait || ours->n != theirs->n)
			return false;
		if (memcmp(w->viewer_producers.v + ours->first, d->stated_producers + theirs->first,
			    (size_t)ours->n * sizeof(code_idx)) != 0)
			return false;
	}
	return true;
}
