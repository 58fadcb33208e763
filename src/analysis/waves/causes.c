/* SPDX-License-Identifier: Apache-2.0 */
/* causes.c: the taxonomy of cycles: names, buckets and families of causes, sorted and summed. */
#include "analysis/waves/causes.h"

#include "analysis/waves/causes_internal.h"
#include "base/mem.h"
#include "base/search.h"

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
	c->gather = arena_zalloc(&c->arena, 1, sizeof(struct gather));
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
static bool name_cause(struct causes *c, const struct gather *g, uint32_t slot, struct cause *out)
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
	out->family = cause_kind_defs[out->kind].family;
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
static bool finish_cells(struct causes *c, const struct gather *g, const uint32_t *place)
{
	c->cells = arena_zalloc(&c->arena, g->cells.n + 1, sizeof(*c->cells));
	if (!c->cells)
		return false;
	for (size_t i = 0; i < g->cells.n; i++) {
		const struct cell *x = &g->cells.v[i];

		c->cells[i] = (struct cause_cell){
			x->code, place[x->slot], x->cyc, x->hidden_cyc, x->hits};
	}
	c->n_cells = (uint32_t)g->cells.n;
	SORT(c->cells, c->n_cells, compare_cells);
	return true;
}

static uint32_t slot_of(const struct gather *g, const struct cause *x)
{
	const uint64_t *s;

	if (x->kind != CAUSE_WAIT)
		return slot_of_kind(x->kind, x->inst_class);
	s = u64_map_find(&g->key_slots, x->key);
	return s ? (uint32_t)*s : 0;
}

bool causes_finish(struct causes *c, struct incore_error *e)
{
	const struct gather *g = c->gather;
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

		place[slot_of(g, x)] = i;
		c->family[x->family].cyc += x->cyc;
		c->family[x->family].hidden_cyc += x->hidden_cyc;
		c->bucket[x->bucket] += x->cyc;
		sum += x->cyc;
	}
	c->duration_cyc = g->duration_cyc;
	c->residue_cyc = (int64_t)(g->duration_cyc - sum);
	return finish_cells(c, g, place) || err_nomem(e);
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
