/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waits.c: the product's wait model: queues of outstanding instances per counter, resolved at each
 * executed wait. The viewer's model runs beside it when asked for.
 */
#include "analysis/waves/waits.h"

struct wait_item {
	uint32_t slice;
	code_idx code;
};

struct wait_queue {
	VEC(struct wait_item) items;
	size_t head;		       /* the oldest outstanding */
	uint64_t raised;	       /* value of the counter */
	uint64_t by_order[AMD_ORDERS]; /* of it, per kind */
};

struct wait_queues {
	struct wait_queue product[AMD_COUNTERS];
	struct wait_queue viewer[AMD_COUNTERS];
	struct wait_queue flat_load, flat_store; /* of the viewer: shared by two counters */
	uint16_t parallel;			 /* of the viewer: counters out of order */
};

static bool wait_queue_push(struct wait_queue *q, uint32_t slice, code_idx code);

/* --- the viewer's model ----------------------------------------------------------------------- */

/*
 * The wait model of the viewer that writes `waitcnt` arrays: first-in-first-out
 * lists of lines, a flag that a counter may be out of order, shared lists of flat accesses. It
 * exists to reproduce those arrays and for the attribution `class-set`; its errors are kept.
 */

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

static void wait_viewer_start(struct wait_queues *q)
{
	for (unsigned c = 0; c < AMD_COUNTERS; c++)
		clear(&q->viewer[c]);
	clear(&q->flat_load);
	clear(&q->flat_store);
	q->parallel = 0;
}

/* One record in the viewer's model; *mask gets the classes of all producers of a wait. */
static bool wait_viewer_step(struct waits *w, const struct wait_tables *t,
	const struct walk_track *track, uint32_t i, uint8_t *mask)
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

static void wait_viewer_free(struct wait_queues *q)
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

/* --- blocking waits --------------------------------------------------------------------------- */

#define MAX_CANDIDATES 64u

/* Appends; a queue that ran empty starts over, so that it does not grow along the track. */
static bool wait_queue_push(struct wait_queue *q, uint32_t slice, code_idx code)
{
	if (q->head == q->items.n)
		q->head = q->items.n = 0;
	return VEC_PUSH(&q->items, (struct wait_item){slice, code});
}

static unsigned lowest_bit(unsigned mask)
{
	return (unsigned)__builtin_ctz(mask);
}

static bool push_producer(
	struct waits *w, const struct amd_wait_row *row, uint32_t slice, code_idx code)
{
	for (unsigned left = row->counters; left; left &= left - 1) {
		unsigned c = lowest_bit(left);
		struct wait_queue *q = &w->queues->product[c];

		if (!wait_queue_push(q, slice, code))
			return false;
		q->raised += row->value[c];
		q->by_order[row->order] += row->value[c];
	}
	return true;
}

/* Is everything outstanding of one kind that returns in order? */
static bool waits_is_in_order(const struct wait_queue *q, const struct wait_tables *t)
{
	enum amd_order oldest = (enum amd_order)t->amd.row[q->items.v[q->head].code].order;

	return !amd_order_is_free(oldest) && q->by_order[oldest] == q->raised;
}

static bool add_producer(struct waits *w, struct wait_side *side, uint32_t slice)
{
	side->n++;
	side->youngest = slice;
	return VEC_PUSH(&w->producers, (struct wait_producer){slice});
}

/* Removes instances from the head until the counter is at `value`. */
static bool consume_head(
	struct waits *w, const struct wait_tables *t, struct wait_side *side, unsigned value)
{
	struct wait_queue *q = &w->queues->product[side->counter];
	uint8_t last = 0;

	while (q->head < q->items.n && q->raised > value) {
		const struct wait_item *it = &q->items.v[q->head++];
		const struct amd_wait_row *row = &t->amd.row[it->code];

		q->raised -= row->value[side->counter];
		q->by_order[row->order] -= row->value[side->counter];
		last = (uint8_t)(1u << row->producer);
		side->producers |= last;
		if (!add_producer(w, side, it->slice))
			return false;
	}
	if (side->resolution == WAIT_EXACT)
		side->producers = last;
	return true;
}

/* No counter exceeds 63, so of more candidates the oldest have long returned. Otherwise a track of
 * scalar loads that never drains would take quadratic time. */
static void drop_oldest(struct wait_queue *q, const struct wait_tables *t, unsigned counter)
{
	while (q->items.n - q->head > MAX_CANDIDATES) {
		const struct amd_wait_row *row = &t->amd.row[q->items.v[q->head++].code];

		q->raised -= row->value[counter];
		q->by_order[row->order] -= row->value[counter];
	}
}

/*
 * Kinds that overtake each other, counter above zero: which instances came back is unknown. All are
 * candidates. Of an ordered kind with L outstanding, the oldest L - value must have returned and
 * are removed.
 */
static bool keep_candidates(
	struct waits *w, const struct wait_tables *t, struct wait_side *side, unsigned value)
{
	struct wait_queue *q = &w->queues->product[side->counter];
	size_t kept;

	drop_oldest(q, t, side->counter);
	kept = q->head;
	for (size_t i = q->head; i < q->items.n; i++) {
		struct wait_item it = q->items.v[i];
		const struct amd_wait_row *row = &t->amd.row[it.code];
		uint64_t *pending = &q->by_order[row->order];

		side->producers |= (uint8_t)(1u << row->producer);
		if (!add_producer(w, side, it.slice))
			return false;
		if (!amd_order_is_free((enum amd_order)row->order) && *pending > value) {
			*pending -= row->value[side->counter];
			q->raised -= row->value[side->counter];
			continue;
		}
		q->items.v[kept++] = it;
	}
	q->items.n = kept;
	return true;
}

static bool resolve_side(struct waits *w, const struct wait_tables *t, struct wait_event *ev,
	unsigned counter, unsigned value)
{
	struct wait_queue *q = &w->queues->product[counter];
	struct wait_side side = {.counter = (uint8_t)counter, .youngest = NO_SLICE};
	bool ok;

	if (q->raised <= value)
		return true;
	side.first = (uint32_t)w->producers.n;
	side.in_flight = (uint32_t)(q->items.n - q->head);
	if (side.in_flight == 1 || waits_is_in_order(q, t))
		side.resolution = WAIT_EXACT;
	else
		side.resolution = value == 0 ? WAIT_GROUP : WAIT_UNRESOLVED;
	ok = side.resolution == WAIT_UNRESOLVED ? keep_candidates(w, t, &side, value)
						: consume_head(w, t, &side, value);
	if (!ok || !VEC_PUSH(&w->sides, side))
		return false;
	if (side.resolution > ev->resolution)
		ev->resolution = side.resolution;
	ev->key |= (uint32_t)side.producers
		   << 8 * (ev->n_sides < WAIT_SIDES ? ev->n_sides : WAIT_SIDES - 1);
	ev->n_sides++;
	return true;
}

static bool touches_window(const struct walk_track *track, uint32_t i)
{
	const struct track_data *d = track->data;
	uint64_t start = d->start_cyc[i], end = start + d->dur_cyc[i];

	return start < track->to_cyc && (end > track->from_cyc || start >= track->from_cyc);
}

static bool resolve_wait(struct waits *w, const struct wait_tables *t,
	const struct walk_track *track, uint32_t i, uint8_t viewer_mask, bool is_by_code)
{
	const struct track_data *d = track->data;
	const struct amd_wait_row *row = &t->amd.row[d->code[i]];
	size_t n_sides = w->sides.n, n_producers = w->producers.n;
	struct wait_event ev = {.slice = i,
		.first_side = (uint32_t)n_sides,
		.viewer_mask = viewer_mask,
		.is_blocked = !is_by_code && d->stall_cyc[i] > WAIT_FLOOR_CYC};

	for (unsigned left = row->counters; left; left &= left - 1)
		if (!resolve_side(w, t, &ev, lowest_bit(left), row->value[lowest_bit(left)]))
			return false;
	if (is_by_code || touches_window(track, i))
		return VEC_PUSH(&w->events, ev);
	w->sides.n = n_sides;
	w->producers.n = n_producers;
	return true;
}

static bool start_track(struct waits *w)
{
	if (!w->queues)
		w->queues = mem_zalloc(1, sizeof(*w->queues));
	if (!w->queues)
		return false;
	EACH (struct wait_queue, q, w->queues->product, AMD_COUNTERS) {
		q->head = q->items.n = 0;
		q->raised = 0;
		memset(q->by_order, 0, sizeof(q->by_order));
	}
	wait_viewer_start(w->queues);
	w->events.n = w->sides.n = w->producers.n = w->stated.n = w->viewer_producers.n = 0;
	return true;
}

struct wait_tables *wait_tables_new(const struct trace *t, struct incore_error *e)
{
	struct wait_tables *out = mem_zalloc(1, sizeof(*out));

	if (!out)
		return err_nomem_null(e);
	arena_init(&out->arena);
	out->gfx_major = t->meta.gfx_major;
	if (out->gfx_major == 0 || amd_wait_tables(&out->arena, t, &out->amd))
		return out;
	wait_tables_free(out);
	return err_nomem_null(e);
}

void wait_tables_free(struct wait_tables *t)
{
	if (!t)
		return;
	arena_deinit(&t->arena);
	mem_free(t);
}

bool waits_resolve(struct waits *w, const struct wait_tables *t, const struct walk_track *track,
	unsigned want, struct incore_error *e)
{
	const struct track_data *d = track->data;
	const uint32_t n_code = t->amd.n_code;
	const uint8_t *role = t->amd.role;

	if (!start_track(w))
		return err_nomem(e);
	for (uint32_t i = 0; i < d->n; i++) {
		code_idx code = d->code[i];
		uint8_t mask = 0;
		bool ok = true;

		if (code >= n_code || role[code] == AMD_ROLE_NONE)
			continue;
		if (want & WAITS_VIEWER)
			ok = wait_viewer_step(w, t, track, i, &mask);
		if (ok && role[code] == AMD_ROLE_PRODUCER)
			ok = push_producer(w, &t->amd.row[code], i, code);
		else if (ok && role[code] == AMD_ROLE_WAIT)
			ok = resolve_wait(w, t, track, i, mask, want & WAITS_BY_CODE);
		if (!ok)
			return err_nomem(e);
	}
	return true;
}

const struct waits *waits_of(struct waits *own, const struct wait_tables *t,
	const struct walk_track *track, unsigned want, struct incore_error *e)
{
	const struct waits *shared = track->waits ? *track->waits : NULL;

	if (shared && !(want & WAITS_VIEWER))
		return shared;
	if (!waits_resolve(own, t, track, want, e))
		return NULL;
	if (track->waits)
		*track->waits = own;
	return own;
}

void waits_deinit(struct waits *w)
{
	if (w->queues) {
		for (unsigned c = 0; c < AMD_COUNTERS; c++)
			VEC_FREE(&w->queues->product[c].items);
		wait_viewer_free(w->queues);
		mem_free(w->queues);
	}
	VEC_FREE(&w->events);
	VEC_FREE(&w->sides);
	VEC_FREE(&w->producers);
	VEC_FREE(&w->stated);
	VEC_FREE(&w->viewer_producers);
	*w = (struct waits){0};
}

static char *waits_put_word(char *p, const char *word)
{
	size_t n = strlen(word);

	memcpy(p, word, n + 1);
	return p + n;
}

const char *wait_key_name(uint32_t key, char buf[WAIT_KEY_LEN])
{
	char *p = buf;

	if (key == 0)
		waits_put_word(p, "(drained)");
	else if (!(key & 255)) {
		waits_put_word(
			p, key == WAIT_KEY_UNKNOWN ? "(unknown)" : class_name((key >> 8) - 1));
		return buf;
	}
	for (; key; key >>= 8) {
		const char *sep = "";

		for (unsigned i = 0; i < AMD_PRODUCERS; i++) {
			if (!(key & 1u << i))
				continue;
			p = waits_put_word(p, sep);
			p = waits_put_word(p, amd_producer_name((enum amd_producer)i));
			sep = "+";
		}
		if (key >> 8)
			p = waits_put_word(p, " & ");
	}
	return buf;
}

int wait_key_cmp(uint32_t a, uint32_t b)
{
	char x[WAIT_KEY_LEN], y[WAIT_KEY_LEN];

	return strcmp(wait_key_name(a, x), wait_key_name(b, y));
}
