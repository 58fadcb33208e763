/* SPDX-License-Identifier: Apache-2.0 */
/* causes_gather.c: the walk behind causes.c: assigns a cause to each piece of each record. */
#include "analysis/waves/causes_internal.h"
#include "base/mem.h"
#include "isa/amd.h"
#include "trace/account.h"

void causes_gather_deinit(void *self, void *mine)
{
	struct gather *g = mine;

	(void)self;
	VEC_FREE(&g->slots);
	VEC_FREE(&g->keys);
	VEC_FREE(&g->cells);
	u64_map_deinit(&g->key_slots);
	u64_map_deinit(&g->cell_index);
	waits_deinit(&g->waits);
	mem_free(g->dense);
	mem_free(g->wait_cache);
}

bool causes_gather_init(void *self, void *mine)
{
	const struct causes *c = self;
	struct gather *g = mine;
	uint32_t n = c->trace->n_code;

	if (!VEC_RESERVE(&g->slots, SLOT_WAIT + 16))
		return false;
	while (g->slots.n < SLOT_WAIT)
		g->slots.v[g->slots.n++] = (struct cause_slot){0};
	if (!(c->want & CAUSES_ROWS) || n == 0 || n > DENSE_MAX_ROWS)
		return true;
	g->dense = mem_zalloc(n, sizeof(*g->dense));
	g->wait_cache = mem_zalloc(n, sizeof(*g->wait_cache));
	return g->dense && g->wait_cache;
}

/* Slot of a wait key; on failure latches it and returns a harmless slot. */
static uint32_t key_slot(struct gather *g, uint32_t key)
{
	uint64_t *s = u64_map_at(&g->key_slots, key);

	if (s && *s == 0) {
		if (VEC_RESERVE(&g->keys, g->keys.n + 1) &&
			VEC_PUSH(&g->slots, (struct cause_slot){0})) {
			g->keys.v[g->keys.n++] = key;
			*s = g->slots.n - 1;
		}
	}
	if (!s || *s == 0) {
		g->has_failed = true;
		return SLOT_SINGLE + CAUSE_WAIT;
	}
	return (uint32_t)*s;
}

static void add_to_cell(struct gather *g, uint64_t cell, const struct cell *c)
{
	g->cells.v[cell - 1].cyc += c->cyc;
	g->cells.v[cell - 1].hidden_cyc += c->hidden_cyc;
	g->cells.v[cell - 1].hits += c->hits;
}

/* Returns the cell's index + 1; 0 on (latched) failure. */
static uint64_t add_cell(struct gather *g, const struct cell *c)
{
	uint64_t *at = u64_map_at(&g->cell_index, (uint64_t)c->code << 32 | c->slot);

	if (at && *at == 0 && VEC_PUSH(&g->cells, (struct cell){.code = c->code, .slot = c->slot}))
		*at = g->cells.n;
	if (!at || *at == 0) {
		g->has_failed = true;
		return 0;
	}
	add_to_cell(g, *at, c);
	return *at;
}

struct piece {
	code_idx code;
	uint64_t start, cyc;
	enum inst_class inst_class;
	bool is_lost; /* may be hidden by other waves */
	bool is_hit;
};

static void add_slot(struct cause_slot *s, uint64_t cyc, uint64_t hidden, uint64_t hits)
{
	s->cyc += cyc;
	s->hidden_cyc += hidden;
	s->hits += hits;
}

static void add_slowly(const struct causes *c, struct gather *g, uint32_t slot, struct cell x)
{
	x.slot = slot;
	add_slot(&g->slots.v[slot], x.cyc, x.hidden_cyc, x.hits);
	if (!(c->want & CAUSES_ROWS))
		return;
	if (g->wait_cache && slot >= SLOT_WAIT && x.code != NO_CODE) {
		struct wait_cache *last = &g->wait_cache[x.code];

		if (last->slot == slot) {
			add_to_cell(g, last->cell, &x);
			return;
		}
		*last = (struct wait_cache){slot, (uint32_t)add_cell(g, &x)};
		if (!last->cell)
			last->slot = 0;
		return;
	}
	add_cell(g, &x);
}

/* Adds a piece of any kind except WAIT. */
static void add(
	const struct causes *c, struct gather *g, enum cause_kind kind, const struct piece *p)
{
	uint64_t hidden = p->is_lost ? busy_hidden(&g->view, p->start, p->cyc) : 0;

	if (g->dense && p->code != NO_CODE &&
		(kind > CAUSE_PIPE_STALL || p->inst_class == c->row_class[p->code])) {
		struct dense *d = &g->dense[p->code][kind];

		d->cyc += p->cyc;
		d->hidden_cyc += hidden;
		d->hits += p->is_hit;
		return;
	}
	add_slowly(c, g, slot_of_kind(kind, p->inst_class),
		(struct cell){p->code, 0, p->cyc, hidden, p->is_hit});
}

static void add_nop(const struct causes *c, struct gather *g, struct piece p)
{
	uint64_t floor = cause_nop_floor(c, p.code), rest = p.cyc > floor ? p.cyc - floor : 0;

	p.cyc -= rest;
	add(c, g, CAUSE_NOP_PADDING, &p);
	if (rest) {
		p.start += p.cyc;
		p.cyc = rest;
		add(c, g, CAUSE_NOP_EXCESS, &p);
	}
}

static void add_wait(const struct causes *c, struct gather *g, const struct piece *p,
	const struct wait_event *ev)
{
	uint32_t slot = key_slot(g, ev ? ev->key : 0);
	uint64_t hidden = busy_hidden(&g->view, p->start, p->cyc);

	add_slowly(c, g, slot, (struct cell){p->code, 0, p->cyc, hidden, p->is_hit});
	if (ev && ev->n_sides > 0 && !ev->is_blocked) {
		g->slots.v[slot].free_hits += p->is_hit;
		g->slots.v[slot].free_cyc += p->cyc;
	}
}

static void add_stall(const struct causes *c, struct gather *g, enum inst_class k,
	const struct piece *p, const struct wait_event *ev)
{
	enum cause_kind kind = cause_of_stall(k);

	if (kind == CAUSE_WAIT)
		add_wait(c, g, p, ev);
	else if (kind == CAUSE_NOP_PADDING)
		add_nop(c, g, *p);
	else
		add(c, g, kind, p);
}

/* Adds the pieces of one record. */
static void add_record(const struct causes *c, struct gather *g, const struct account *a,
	const struct wait_event *ev)
{
	const struct track_data *d = a->d;
	enum inst_class k = d->inst_class[a->i];
	struct piece p = {.code = d->code[a->i], .inst_class = k, .is_lost = true, .is_hit = true};

	if (a->gap_cyc) {
		p.start = a->at.gap;
		p.cyc = a->gap_cyc;
		add(c, g, cause_of_gap(d, a->i), &p);
	}
	if (a->stall_cyc) {
		p.start = a->at.stall;
		p.cyc = a->stall_cyc;
		p.is_hit = k != CLASS_DRAIN; /* a DRAIN is counted with its issue */
		add_stall(c, g, k, &p, ev);
	}
	if (a->issue_cyc || a->is_hit) {
		p.start = a->at.issue;
		p.cyc = a->issue_cyc;
		p.is_hit = a->is_hit;
		p.is_lost = k == CLASS_DRAIN;
		add(c, g, k == CLASS_DRAIN ? CAUSE_DRAIN : CAUSE_ISSUE, &p);
	}
	if (a->tail_cyc) {
		p = (struct piece){p.code, a->at.end, a->tail_cyc, k, true, true};
		add(c, g, CAUSE_TAIL, &p);
	}
}

static bool causes_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct causes *c = self;
	struct gather *g = mine;
	const struct waits *waits = waits_of(&g->waits, c->tables, w, 0, e);
	struct account a;
	size_t ev = 0;

	if (!waits)
		return false;
	busy_view_init(&g->view, c->busy, w->idx);
	account_begin(&a, w->data, w->from_cyc, w->to_cyc);
	if (w->data->n == 0 && a.tail_cyc)
		add(c, g, CAUSE_TAIL,
			&(struct piece){NO_CODE, a.at.end, a.tail_cyc, CLASS_OTHER, true, true});
	while (account_next(&a)) {
		const struct wait_event *hit = NULL;

		while (ev < waits->events.n && waits->events.v[ev].slice < a.i)
			ev++;
		if (ev < waits->events.n && waits->events.v[ev].slice == a.i)
			hit = &waits->events.v[ev];
		add_record(c, g, &a, hit);
	}
	g->duration_cyc += account_duration(&a);
	return !g->has_failed || err_nomem(e);
}

/* Merges the dense table of a worker into slots and cells of the total. */
static void merge_dense(const struct causes *c, struct gather *to, const struct gather *from)
{
	for (code_idx i = 0; from->dense && i < c->trace->n_code; i++) {
		for (unsigned k = 0; k < CAUSE_KINDS; k++) {
			const struct dense *d = &from->dense[i][k];
			uint32_t slot = slot_of_kind(k, c->row_class[i]);

			if (!d->cyc && !d->hits)
				continue;
			add_slot(&to->slots.v[slot], d->cyc, d->hidden_cyc, d->hits);
			add_cell(to, &(struct cell){i, slot, d->cyc, d->hidden_cyc, d->hits});
		}
	}
}

static bool causes_merge(void *self, void *mine, struct incore_error *e)
{
	struct gather *to = ((struct causes *)self)->gather, *from = mine;

	to->duration_cyc += from->duration_cyc;
	merge_dense(self, to, from);
	for (uint32_t i = 0; i < from->slots.n; i++) {
		const struct cause_slot *s = &from->slots.v[i];
		uint32_t k = i < SLOT_WAIT ? i : key_slot(to, from->keys.v[i - SLOT_WAIT]);

		add_slot(&to->slots.v[k], s->cyc, s->hidden_cyc, s->hits);
		to->slots.v[k].free_hits += s->free_hits;
		to->slots.v[k].free_cyc += s->free_cyc;
	}
	for (size_t i = 0; i < from->cells.n; i++) {
		struct cell x = from->cells.v[i];

		if (x.slot >= SLOT_WAIT)
			x.slot = key_slot(to, from->keys.v[x.slot - SLOT_WAIT]);
		add_cell(to, &x);
	}
	return !to->has_failed || err_nomem(e);
}

struct collector causes_collector(struct causes *c)
{
	return (struct collector){c, sizeof(struct gather), causes_gather_init, causes_track,
		causes_merge, causes_gather_deinit};
}
