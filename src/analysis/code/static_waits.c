/* SPDX-License-Identifier: Apache-2.0 */
/* static_waits.c: a backward search from each sampled wait. */
#include "analysis/code/static_waits.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"

#define NO_LIMIT 255u
#define MOST_ROWS 16384u /* rows that a search goes back */
#define MOST_WAYS 2u	 /* predecessors of a block, when searching for the wait before it */

struct path { /* a backward path that enters a block at its end */
	uint32_t block;
	uint8_t skip;  /* newest instances that may still be outstanding */
	uint8_t limit; /* most instances that can be outstanding: an earlier wait let no more
			  pass */
};

struct search {
	const struct cfg *g;
	struct amd_wait_tables amd;
	unsigned counter;
	bool is_first_only; /* a path ends at the first instance it finds */
	struct path queue[STATIC_WAITS_STEPS];
	uint32_t n_queue, rows_left;
	struct u64_map seen;
	code_idx found[STATIC_WAITS_MOST];
	uint32_t n_found;
	VEC(struct code_link) links;
	uint32_t reason;
};

static void add_found(struct search *s, code_idx row)
{
	for (uint32_t i = 0; i < s->n_found; i++)
		if (s->found[i] == row)
			return;
	if (s->n_found < STATIC_WAITS_MOST)
		s->found[s->n_found++] = row;
}

/* Walks back from position `end` of a block to its start; false if the path ends before that. */
static bool walk_block(struct search *s, struct path *p, uint32_t end)
{
	const unsigned c = s->counter;

	for (uint32_t i = end; i-- > s->g->blocks[p->block].first && s->rows_left; s->rows_left--) {
		const struct amd_wait_row *r = &s->amd.row[s->g->rows[i]];

		if (!(r->counters >> c & 1))
			continue;
		if (r->role == AMD_ROLE_WAIT) {
			p->limit = r->value[c] < p->limit ? r->value[c] : p->limit;
		} else if (r->role == AMD_ROLE_PRODUCER) {
			if (p->skip < r->value[c]) {
				add_found(s, s->g->rows[i]);
				p->skip = 0;
				if (s->is_first_only)
					return false;
			} else {
				p->skip = (uint8_t)(p->skip - r->value[c]);
			}
			if (p->limit != NO_LIMIT)
				p->limit = (uint8_t)(p->limit > r->value[c] ? p->limit - r->value[c]
									    : 0);
		}
		if (p->limit <= p->skip)
			return false;
	}
	return s->rows_left;
}

static bool push_before(struct search *s, const struct path *p)
{
	const struct cfg_block *b = &s->g->blocks[p->block];

	for (uint32_t k = 0; k < b->n_preds; k++) {
		uint32_t from = s->g->preds[b->first_pred + k];
		uint64_t *at = u64_map_at(
			&s->seen, (uint64_t)from << 16 | (unsigned)p->skip << 8 | p->limit);

		if (!at)
			return false;
		if (!*at && s->n_queue < STATIC_WAITS_STEPS)
			s->queue[s->n_queue++] = (struct path){from, p->skip, p->limit};
		*at = 1;
	}
	return true;
}

static uint32_t place_of(const struct cfg *g, code_idx row)
{
	const struct cfg_block *b = &g->blocks[g->block_of[row]];

	for (uint32_t i = b->first; i < b->first + b->n; i++)
		if (g->rows[i] == row)
			return i;
	return b->first;
}

/* Finds who raised the counter before the row, except the newest `skip`. */
static bool search_back(struct search *s, code_idx row, unsigned skip, bool is_first_only)
{
	struct path p = {s->g->block_of[row], (uint8_t)skip, NO_LIMIT};
	bool ok = true;

	s->n_queue = s->n_found = 0;
	s->rows_left = MOST_ROWS;
	s->is_first_only = is_first_only;
	if (walk_block(s, &p, place_of(s->g, row)))
		ok = push_before(s, &p);
	for (uint32_t q = 0; ok && q < s->n_queue; q++) {
		p = s->queue[q];
		if (walk_block(s, &p, s->g->blocks[p.block].first + s->g->blocks[p.block].n))
			ok = push_before(s, &p);
	}
	u64_map_deinit(&s->seen);
	return ok;
}

/* Do all found instructions return in the order of issue? */
static bool is_in_order(const struct search *s)
{
	for (uint32_t i = 0; i < s->n_found; i++)
		if (s->amd.row[s->found[i]].order != s->amd.row[s->found[0]].order ||
			amd_order_is_free((enum amd_order)s->amd.row[s->found[i]].order))
			return false;
	return true;
}

/* Turns the candidates of a wait row into links of the sampled row. */
static bool link_wait(struct search *s, code_idx sampled, code_idx wait)
{
	const struct amd_wait_row *r = &s->amd.row[wait];

	for (unsigned c = 0; c < AMD_COUNTERS; c++) {
		if (!(r->counters >> c & 1))
			continue;
		s->counter = c;
		if (!search_back(s, wait, 0, false))
			return false;
		if (s->n_found && is_in_order(s) && !search_back(s, wait, r->value[c], true))
			return false;
		for (uint32_t i = 0; i < s->n_found; i++)
			if (!VEC_PUSH(&s->links, (struct code_link){sampled, s->found[i],
							 CODE_LINK_COUNT, s->reason}))
				return false;
	}
	return true;
}

/* Links the nearest wait with a producer before position `end` of a block, else on the paths that
 * lead to it. */
static bool link_before(
	struct search *s, code_idx sampled, uint32_t block, uint32_t end, unsigned left)
{
	const struct cfg_block *b = &s->g->blocks[block];
	const size_t before = s->links.n;

	for (uint32_t i = end; i-- > b->first && left; left--) {
		if (s->amd.role[s->g->rows[i]] == AMD_ROLE_WAIT &&
			!link_wait(s, sampled, s->g->rows[i]))
			return false;
		if (s->links.n > before)
			return true;
	}
	for (uint32_t k = 0; left && k < b->n_preds && k < MOST_WAYS; k++) {
		uint32_t from = s->g->preds[b->first_pred + k];

		if (!link_before(s, sampled, from, s->g->blocks[from].first + s->g->blocks[from].n,
			    left))
			return false;
	}
	return true;
}

static bool link_row(struct search *s, code_idx row)
{
	size_t before = s->links.n;

	if (s->amd.role[row] == AMD_ROLE_WAIT && !link_wait(s, row, row))
		return false;
	return s->links.n > before ||
	       link_before(s, row, s->g->block_of[row], place_of(s->g, row), STATIC_WAITS_SKID);
}

ORDER(compare_links, struct code_link, UP(row) UP(kind) UP(to))

static bool keep_links(struct static_waits *w, struct search *s)
{
	SORT(s->links.v, s->links.n, compare_links);
	w->links = arena_zalloc(&w->arena, s->links.n + 1, sizeof(*w->links));
	for (size_t i = 0; w->links && i < s->links.n; i++)
		if (!w->n_links || compare_links(&w->links[w->n_links - 1], &s->links.v[i]) != 0)
			w->links[w->n_links++] = s->links.v[i];
	return w->links != NULL;
}

/* Rows of a block run equally often; issued samples per row of the block estimate how often. */
static bool weigh_rows(struct static_waits *w, const struct cfg *g)
{
	const struct trace *t = g->trace;
	uint64_t *weight = arena_zalloc(&w->arena, (size_t)t->n_code + 1, sizeof(*weight));

	for (uint32_t b = 0; weight && b < g->n_blocks; b++) {
		const code_idx *row = &g->rows[g->blocks[b].first];
		uint64_t issued = 1;

		for (uint32_t i = 0; i < g->blocks[b].n; i++)
			issued += t->samples[row[i]].issued >> 16 ? UINT16_MAX
								  : t->samples[row[i]].issued;
		for (uint32_t i = 0; i < g->blocks[b].n; i++)
			weight[row[i]] = (issued * 1024 + g->blocks[b].n - 1) / g->blocks[b].n;
	}
	w->weight = weight;
	return weight != NULL;
}

static uint32_t reason_named(const struct trace *t, const char *name)
{
	for (uint32_t k = 0; k < t->n_reasons; k++)
		if (strcmp(t->reasons[k], name) == 0)
			return k;
	return NO_REASON;
}

/* At a barrier a wave waits for the other waves there. */
static bool link_barrier(struct search *s, code_idx row, uint32_t reason)
{
	return reason == NO_REASON || !trace_reasons_of(s->g->trace, row)[reason].all ||
	       VEC_PUSH(&s->links, (struct code_link){row, row, CODE_LINK_BARRIER, reason});
}

static bool find_links(struct static_waits *w, struct search *s)
{
	const struct cfg *g = s->g;
	const uint32_t barrier = reason_named(g->trace, "barrier");

	if (!amd_wait_tables(&w->arena, g->trace, &s->amd))
		return false;
	for (uint32_t i = 0; i < g->n_rows; i++) {
		code_idx row = g->rows[i];

		if (!link_barrier(s, row, barrier) ||
			(trace_reasons_of(g->trace, row)[s->reason].all && !link_row(s, row)))
			return false;
	}
	return keep_links(w, s) && weigh_rows(w, g);
}

bool static_waits_find(struct static_waits *w, const struct trace *t, struct incore_error *e)
{
	struct cfg g = {0};
	struct search *s;
	bool ok;

	*w = (struct static_waits){0};
	arena_init(&w->arena);
	if (!t->samples || t->meta.vendor != VENDOR_AMD || reason_named(t, "waitcnt") == NO_REASON)
		return true;
	if (!cfg_build(&g, t, e))
		return false;
	s = mem_zalloc(1, sizeof(*s));
	if (s) {
		s->g = &g;
		s->reason = reason_named(t, "waitcnt");
	}
	ok = s && find_links(w, s);
	if (s)
		VEC_FREE(&s->links);
	mem_free(s);
	cfg_deinit(&g);
	if (!ok)
		static_waits_deinit(w);
	return ok || err_nomem(e);
}

void static_waits_deinit(struct static_waits *w)
{
	arena_deinit(&w->arena);
	*w = (struct static_waits){0};
}

const struct code_link *static_waits_of(const struct static_waits *w, code_idx row, uint32_t *n)
{
	uint32_t lo = 0, hi = w->n_links, end;

	BISECT(lo, hi, i, w->links[i].row < row);
	for (end = lo; end < w->n_links && w->links[end].row == row; end++)
		;
	*n = end - lo;
	return w->links + lo;
}
