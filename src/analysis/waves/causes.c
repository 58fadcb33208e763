/* SPDX-License-Identifier: Apache-2.0 */
/* causes.c: the taxonomy of cycles: names, buckets and families of causes, sorted and summed. */
#include "analysis/waves/causes.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "isa/amd.h"
#include "trace/account.h"

/* Slots: issue by class, pipe-stall by class, the single causes, then one per wait key seen. */
enum {
	SLOT_ISSUE = 0,
	SLOT_PIPE = CLASS_COUNT,
	SLOT_SINGLE = 2 * CLASS_COUNT, /* + enum cause_kind */
	SLOT_WAIT = SLOT_SINGLE + CAUSE_KINDS,
};

struct cause_slot {
	uint64_t cyc, hidden_cyc, hits, free_hits, free_cyc;
};

struct causes_cell {
	code_idx code;
	uint32_t slot;
	uint64_t cyc, hidden_cyc, hits;
};

/* Most pieces of a row fall under few causes: a dense table by kind serves them, where "by class"
 * means the row's own class. The rest goes through the map. */
struct dense {
	uint64_t cyc, hidden_cyc, hits;
};

struct wait_cache {	     /* the cell last used for a row's waits */
	uint32_t slot, cell; /* cell: index + 1 */
};

#define DENSE_MAX_ROWS 65536u

struct causes_gather {
	struct dense (*dense)[CAUSE_KINDS]; /* by code row; NULL: only the map is used */
	struct wait_cache *wait_cache;	    /* by code row, with dense */
	VEC(struct cause_slot) slots;
	VEC(uint32_t) keys;	  /* of slot SLOT_WAIT + i */
	struct u64_map key_slots; /* key -> slot */
	VEC(struct causes_cell) cells;
	struct u64_map cell_index; /* (code, slot) -> index + 1 */
	struct waits waits;
	uint64_t duration_cyc;
	/* of the track being looked at */
	struct busy_view view;
	bool has_failed;
};

static inline uint32_t slot_of_kind(enum cause_kind kind, enum inst_class k)
{
	if (kind == CAUSE_ISSUE)
		return SLOT_ISSUE + k;
	return kind == CAUSE_PIPE_STALL ? SLOT_PIPE + k : SLOT_SINGLE + kind;
}

struct kind_def {
	const char *name;
	enum bucket bucket;
	enum cause_family family;
};

/* --- rules ------------------------------------------------------------------------------------ */

static const char *const family_names[FAMILY_COUNT] = {"useful", "memory", "cross-lane", "scalar",
	"sync", "scheduling", "pipe", "dependency", "fetch", "arbiter", "launch"};

const char *family_name(enum cause_family f)
{
	return (unsigned)f < FAMILY_COUNT ? family_names[f] : "unknown";
}

static const struct kind_def cause_kind_defs[CAUSE_KINDS] = {
	[CAUSE_ISSUE] = {"issue:", BUCKET_ISSUE, FAMILY_USEFUL},
	[CAUSE_PIPE_STALL] = {"pipe-stall:", BUCKET_STALL, FAMILY_PIPE},
	[CAUSE_WAIT] = {"wait:", BUCKET_WAIT, FAMILY_MEMORY},
	[CAUSE_BARRIER] = {"barrier", BUCKET_WAIT, FAMILY_SYNC},
	[CAUSE_SLEEP] = {"sleep", BUCKET_WAIT, FAMILY_SYNC},
	[CAUSE_NOP_PADDING] = {"nop-padding", BUCKET_STALL, FAMILY_SCHEDULING},
	[CAUSE_NOP_EXCESS] = {"nop-excess", BUCKET_STALL, FAMILY_SCHEDULING},
	[CAUSE_CROSS_PIPE] = {"gap:cross-pipe", BUCKET_IDLE, FAMILY_DEPENDENCY},
	[CAUSE_BRANCH] = {"gap:branch", BUCKET_IDLE, FAMILY_FETCH},
	[CAUSE_GAP] = {"gap:other", BUCKET_IDLE, FAMILY_ARBITER},
	[CAUSE_LAUNCH] = {"launch", BUCKET_IDLE, FAMILY_LAUNCH},
	[CAUSE_TAIL] = {"tail", BUCKET_IDLE, FAMILY_LAUNCH},
	[CAUSE_DRAIN] = {"drain", BUCKET_DRAIN, FAMILY_MEMORY},
};

static bool is_vector(enum inst_class k)
{
	return k == CLASS_VALU || k == CLASS_TRANS || k == CLASS_MATRIX;
}

static bool is_other_pipe(enum inst_class k)
{
	return k == CLASS_LDS || k == CLASS_LDS_XLANE || k == CLASS_SALU ||
	       (k >= CLASS_VMEM_LOAD && k <= CLASS_VMEM_TO_LDS);
}

enum cause_kind cause_of_gap(const struct track_data *d, uint32_t i)
{
	if (i == 0)
		return CAUSE_LAUNCH;
	if (d->inst_class[i - 1] == CLASS_BRANCH && d->tag[i - 1] == AMD_CATEGORY_JUMP)
		return CAUSE_BRANCH;
	if (is_vector(d->inst_class[i - 1]) && is_other_pipe(d->inst_class[i]))
		return CAUSE_CROSS_PIPE;
	return CAUSE_GAP;
}

enum cause_kind cause_of_stall(enum inst_class c)
{
	switch (c) {
	case CLASS_WAIT:
		return CAUSE_WAIT;
	case CLASS_BARRIER:
		return CAUSE_BARRIER;
	case CLASS_SLEEP:
		return CAUSE_SLEEP;
	case CLASS_NOP:
		return CAUSE_NOP_PADDING;
	case CLASS_DRAIN:
		return CAUSE_DRAIN;
	default:
		return CAUSE_PIPE_STALL;
	}
}

static enum cause_family wait_family(uint32_t key)
{
	unsigned mask = (key | key >> 8 | key >> 16 | key >> 24) & 0xff;
	const unsigned memory = 1u << AMD_PRODUCER_LDS | 1u << AMD_PRODUCER_VMEM_ATOMIC |
				1u << AMD_PRODUCER_VMEM_LOAD | 1u << AMD_PRODUCER_VMEM_STORE |
				1u << AMD_PRODUCER_VMEM_TO_LDS;

	if (mask & memory)
		return FAMILY_MEMORY;
	if (mask & 1u << AMD_PRODUCER_LDS_XLANE)
		return FAMILY_CROSS_LANE;
	return mask ? FAMILY_SCALAR : FAMILY_SCHEDULING;
}

/* Who stands before a full queue of vector memory waits for memory, as who waits for its results:
 * it is one queue. */
enum cause_family cause_family_of_stall(enum inst_class c)
{
	return c >= CLASS_VMEM_LOAD && c <= CLASS_VMEM_TO_LDS ? FAMILY_MEMORY : FAMILY_PIPE;
}

enum cause_family cause_family_of(enum cause_kind kind, uint32_t key)
{
	return kind == CAUSE_WAIT ? wait_family(key) : cause_kind_defs[kind].family;
}

/* --- what a wave gives ------------------------------------------------------------------------ */

static void causes_gather_deinit(void *self, void *mine)
{
	struct causes_gather *g = mine;

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

/* self: a struct causes; mine: a zeroed struct causes_gather. */
static bool causes_gather_init(void *self, void *mine)
{
	const struct causes *c = self;
	struct causes_gather *g = mine;
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
static uint32_t key_slot(struct causes_gather *g, uint32_t key)
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

static void add_to_cell(struct causes_gather *g, uint64_t cell, const struct causes_cell *c)
{
	g->cells.v[cell - 1].cyc += c->cyc;
	g->cells.v[cell - 1].hidden_cyc += c->hidden_cyc;
	g->cells.v[cell - 1].hits += c->hits;
}

/* Returns the cell's index + 1; 0 on (latched) failure. */
static uint64_t causes_add_cell(struct causes_gather *g, const struct causes_cell *c)
{
	uint64_t *at = u64_map_at(&g->cell_index, (uint64_t)c->code << 32 | c->slot);

	if (at && *at == 0 &&
		VEC_PUSH(&g->cells, (struct causes_cell){.code = c->code, .slot = c->slot}))
		*at = g->cells.n;
	if (!at || *at == 0) {
		g->has_failed = true;
		return 0;
	}
	add_to_cell(g, *at, c);
	return *at;
}

struct causes_piece {
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

static void add_slowly(
	const struct causes *c, struct causes_gather *g, uint32_t slot, struct causes_cell x)
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
		*last = (struct wait_cache){slot, (uint32_t)causes_add_cell(g, &x)};
		if (!last->cell)
			last->slot = 0;
		return;
	}
	causes_add_cell(g, &x);
}

/* Adds a piece of any kind except WAIT. */
static void causes_add(const struct causes *c, struct causes_gather *g, enum cause_kind kind,
	const struct causes_piece *p)
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
		(struct causes_cell){p->code, 0, p->cyc, hidden, p->is_hit});
}

static void add_nop(const struct causes *c, struct causes_gather *g, struct causes_piece p)
{
	uint64_t floor = cause_nop_floor(c, p.code), rest = p.cyc > floor ? p.cyc - floor : 0;

	p.cyc -= rest;
	causes_add(c, g, CAUSE_NOP_PADDING, &p);
	if (rest) {
		p.start += p.cyc;
		p.cyc = rest;
		causes_add(c, g, CAUSE_NOP_EXCESS, &p);
	}
}

static void causes_add_wait(const struct causes *c, struct causes_gather *g,
	const struct causes_piece *p, const struct wait_event *ev)
{
	uint32_t slot = key_slot(g, ev ? ev->key : 0);
	uint64_t hidden = busy_hidden(&g->view, p->start, p->cyc);

	add_slowly(c, g, slot, (struct causes_cell){p->code, 0, p->cyc, hidden, p->is_hit});
	if (ev && ev->n_sides > 0 && !ev->is_blocked) {
		g->slots.v[slot].free_hits += p->is_hit;
		g->slots.v[slot].free_cyc += p->cyc;
	}
}

static void causes_add_stall(const struct causes *c, struct causes_gather *g, enum inst_class k,
	const struct causes_piece *p, const struct wait_event *ev)
{
	enum cause_kind kind = cause_of_stall(k);

	if (kind == CAUSE_WAIT)
		causes_add_wait(c, g, p, ev);
	else if (kind == CAUSE_NOP_PADDING)
		add_nop(c, g, *p);
	else
		causes_add(c, g, kind, p);
}

/* Adds the pieces of one record. */
static void causes_add_record(const struct causes *c, struct causes_gather *g,
	const struct account *a, const struct wait_event *ev)
{
	const struct track_data *d = a->d;
	enum inst_class k = d->inst_class[a->i];
	struct causes_piece p = {
		.code = d->code[a->i], .inst_class = k, .is_lost = true, .is_hit = true};

	if (a->gap_cyc) {
		p.start = a->at.gap;
		p.cyc = a->gap_cyc;
		causes_add(c, g, cause_of_gap(d, a->i), &p);
	}
	if (a->stall_cyc) {
		p.start = a->at.stall;
		p.cyc = a->stall_cyc;
		p.is_hit = k != CLASS_DRAIN; /* a DRAIN is counted with its issue */
		causes_add_stall(c, g, k, &p, ev);
	}
	if (a->issue_cyc || a->is_hit) {
		p.start = a->at.issue;
		p.cyc = a->issue_cyc;
		p.is_hit = a->is_hit;
		p.is_lost = k == CLASS_DRAIN;
		causes_add(c, g, k == CLASS_DRAIN ? CAUSE_DRAIN : CAUSE_ISSUE, &p);
	}
	if (a->tail_cyc) {
		p = (struct causes_piece){p.code, a->at.end, a->tail_cyc, k, true, true};
		causes_add(c, g, CAUSE_TAIL, &p);
	}
}

static bool causes_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct causes *c = self;
	struct causes_gather *g = mine;
	const struct waits *waits = waits_of(&g->waits, c->tables, w, 0, e);
	struct account a;
	size_t ev = 0;

	if (!waits)
		return false;
	busy_view_init(&g->view, c->busy, w->idx);
	account_begin(&a, w->data, w->from_cyc, w->to_cyc);
	if (w->data->n == 0 && a.tail_cyc)
		causes_add(c, g, CAUSE_TAIL,
			&(struct causes_piece){
				NO_CODE, a.at.end, a.tail_cyc, CLASS_OTHER, true, true});
	while (account_next(&a)) {
		const struct wait_event *hit = NULL;

		while (ev < waits->events.n && waits->events.v[ev].slice < a.i)
			ev++;
		if (ev < waits->events.n && waits->events.v[ev].slice == a.i)
			hit = &waits->events.v[ev];
		causes_add_record(c, g, &a, hit);
	}
	g->duration_cyc += account_duration(&a);
	return !g->has_failed || err_nomem(e);
}

/* Merges the dense table of a worker into slots and cells of the total. */
static void merge_dense(
	const struct causes *c, struct causes_gather *to, const struct causes_gather *from)
{
	for (code_idx i = 0; from->dense && i < c->trace->n_code; i++) {
		for (unsigned k = 0; k < CAUSE_KINDS; k++) {
			const struct dense *d = &from->dense[i][k];
			uint32_t slot = slot_of_kind(k, c->row_class[i]);

			if (!d->cyc && !d->hits)
				continue;
			add_slot(&to->slots.v[slot], d->cyc, d->hidden_cyc, d->hits);
			causes_add_cell(
				to, &(struct causes_cell){i, slot, d->cyc, d->hidden_cyc, d->hits});
		}
	}
}

static bool causes_merge(void *self, void *mine, struct incore_error *e)
{
	struct causes_gather *to = ((struct causes *)self)->gather, *from = mine;

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
		struct causes_cell x = from->cells.v[i];

		if (x.slot >= SLOT_WAIT)
			x.slot = key_slot(to, from->keys.v[x.slot - SLOT_WAIT]);
		causes_add_cell(to, &x);
	}
	return !to->has_failed || err_nomem(e);
}

struct collector causes_collector(struct causes *c)
{
	return (struct collector){c, sizeof(struct causes_gather), causes_gather_init, causes_track,
		causes_merge, causes_gather_deinit};
}

/* --- causes ----------------------------------------------------------------------------------- */

/* "s_nop N" costs N + 1 issue slots. */
static uint32_t nop_floor(const struct trace *t, const struct code_row *r)
{
	struct str text = {r->text, r->text_len};
	uint64_t n;

	if (r->is_label || !str_starts(text, "s_nop"))
		return 0;
	if (!str_to_u64(str_trim(str_sub(text, 5, text.n)), &n) || n > 0xffff)
		n = 0;
	return (uint32_t)(n + 1) * t->meta.clock_quantum;
}

struct causes *causes_new(
	const struct trace *t, const struct busy *busy, unsigned want, struct incore_error *e)
{
	struct causes *c = mem_zalloc(1, sizeof(*c));

	if (!c)
		return err_nomem_null(e);
	arena_init(&c->arena);
	c->trace = t;
	c->busy = busy;
	c->want = want;
	c->gather = arena_zalloc(&c->arena, 1, sizeof(struct causes_gather));
	c->nop_floor_cyc = arena_zalloc(&c->arena, (size_t)t->n_code + 1, sizeof(uint32_t));
	c->row_class = arena_zalloc(&c->arena, (size_t)t->n_code + 1, sizeof(uint8_t));
	if (!c->gather || !causes_gather_init(c, c->gather) || !c->nop_floor_cyc || !c->row_class) {
		err_nomem(e);
		causes_free(c);
		return NULL;
	}
	for (uint32_t i = 0; i < t->n_code; i++) {
		c->nop_floor_cyc[i] = nop_floor(t, &t->code[i]);
		c->row_class[i] = t->code[i].inst_class < CLASS_COUNT ? t->code[i].inst_class : 0;
	}
	c->tables = wait_tables_new(t, e);
	if (!c->tables) {
		causes_free(c);
		return NULL;
	}
	return c;
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	if (c->gather)
		causes_gather_deinit(c, c->gather);
	if (c->tables)
		wait_tables_free(c->tables);
	arena_deinit(&c->arena);
	mem_free(c);
}

/* A wait for several kinds is named by the slowest: memory if any of them is, then cross-lane, then
 * scalar. */
static bool name_cause(
	struct causes *c, const struct causes_gather *g, uint32_t slot, struct cause *out)
{
	char key[WAIT_KEY_LEN];
	struct strbuf name = {0};

	*out = (struct cause){.cyc = g->slots.v[slot].cyc,
		.hidden_cyc = g->slots.v[slot].hidden_cyc,
		.hits = g->slots.v[slot].hits,
		.free_hits = g->slots.v[slot].free_hits,
		.free_cyc = g->slots.v[slot].free_cyc};
	if (slot < SLOT_SINGLE) {
		out->kind = slot < SLOT_PIPE ? CAUSE_ISSUE : CAUSE_PIPE_STALL;
		out->inst_class = (enum inst_class)(slot % CLASS_COUNT);
	} else {
		out->kind = slot < SLOT_WAIT ? (enum cause_kind)(slot - SLOT_SINGLE) : CAUSE_WAIT;
	}
	out->bucket = cause_kind_defs[out->kind].bucket;
	out->family = out->kind == CAUSE_PIPE_STALL ? cause_family_of_stall(out->inst_class)
						    : cause_kind_defs[out->kind].family;
	sb_puts(&name, cause_kind_defs[out->kind].name);
	if (slot < SLOT_SINGLE)
		sb_puts(&name, class_name(out->inst_class));
	if (slot >= SLOT_WAIT) {
		out->key = g->keys.v[slot - SLOT_WAIT];
		out->family = cause_family_of(CAUSE_WAIT, out->key);
		sb_puts(&name, wait_key_name(out->key, key));
	}
	out->name = name.failed ? NULL : arena_strndup(&c->arena, name.p, name.n);
	sb_free(&name);
	return out->name != NULL;
}

static int compare_causes(const void *a, const void *b)
{
	const struct cause *x = a, *y = b;

	RETURN_UNLESS_EQUAL(y->cyc, x->cyc);
	return str_cmp(str_of(x->name), str_of(y->name));
}

ORDER(compare_cells, struct cause_cell, UP(code) DOWN(cyc) UP(cause))

/* Converts the slots in cells to positions in the sorted list of causes. */
static bool causes_finish_cells(
	struct causes *c, const struct causes_gather *g, const uint32_t *place)
{
	c->cells = arena_zalloc(&c->arena, g->cells.n + 1, sizeof(*c->cells));
	if (!c->cells)
		return false;
	for (size_t i = 0; i < g->cells.n; i++) {
		const struct causes_cell *x = &g->cells.v[i];

		c->cells[i] = (struct cause_cell){
			x->code, place[x->slot], x->cyc, x->hidden_cyc, x->hits};
	}
	c->n_cells = (uint32_t)g->cells.n;
	SORT(c->cells, c->n_cells, compare_cells);
	return true;
}

static uint32_t causes_slot_of(const struct causes_gather *g, const struct cause *x)
{
	const uint64_t *s;

	if (x->kind != CAUSE_WAIT)
		return slot_of_kind(x->kind, x->inst_class);
	s = u64_map_find(&g->key_slots, x->key);
	return s ? (uint32_t)*s : 0;
}

bool causes_finish(struct causes *c, struct incore_error *e)
{
	const struct causes_gather *g = c->gather;
	uint32_t *place = arena_zalloc(&c->arena, g->slots.n, sizeof(*place));
	uint64_t sum = 0;

	c->v = arena_zalloc(&c->arena, g->slots.n, sizeof(*c->v));
	if (!c->v || !place)
		return err_nomem(e);
	for (uint32_t i = 0; i < g->slots.n; i++)
		if ((g->slots.v[i].cyc || g->slots.v[i].hits) &&
			!name_cause(c, g, i, &c->v[c->n++]))
			return err_nomem(e);
	SORT(c->v, c->n, compare_causes);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct cause *x = &c->v[i];

		place[causes_slot_of(g, x)] = i;
		c->family[x->family].cyc += x->cyc;
		c->family[x->family].hidden_cyc += x->hidden_cyc;
		c->bucket[x->bucket] += x->cyc;
		sum += x->cyc;
	}
	c->duration_cyc = g->duration_cyc;
	c->residue_cyc = (int64_t)(g->duration_cyc - sum);
	return causes_finish_cells(c, g, place) || err_nomem(e);
}

const struct cause_cell *causes_of_row(const struct causes *c, code_idx code, uint32_t *n)
{
	uint32_t low = 0, high = c->n_cells, end;

	BISECT(low, high, i, c->cells[i].code < code);
	for (end = low; end < c->n_cells && c->cells[end].code == code;)
		end++;
	*n = end - low;
	return c->cells + low;
}

const struct cause_cell *causes_main_of_row(const struct causes *c, code_idx code)
{
	uint32_t n;
	const struct cause_cell *x = causes_of_row(c, code, &n);

	for (uint32_t i = 0; i < n; i++)
		if (c->v[x[i].cause].kind != CAUSE_ISSUE && x[i].cyc > 0)
			return &x[i];
	return NULL;
}
