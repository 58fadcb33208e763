/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_graph.c: blocks, edges and functions from decoded instructions. Time is linear in the number
 * of instructions, except for the binary search of targets by address.
 */
#include "isa/sass/sass_graph.h"

#include "base/search.h"
#include "base/vec.h"

struct edge {
	uint32_t from, to; /* instructions first, blocks later */
};

typedef VEC(struct edge) edges;

/* Working state on the heap while the graph is built. */
struct making {
	struct sass_graph *g;
	struct sass_inst *inst;
	uint64_t *address;
	uint32_t *block_of;
	struct sass_block *block;
	bool *is_leader;
	bool *is_text_end; /* last instruction of its text */
	edges branches;	   /* from an instruction to its target */
	edges calls;
	const struct sass_jump *jumps; /* sorted by from */
	size_t n_jumps;
};

static uint32_t inst_at(const struct making *m, uint64_t address)
{
	uint32_t lo = 0, hi = m->g->n_inst;

	BISECT(lo, hi, i, m->address[i] < address);
	return lo < m->g->n_inst && m->address[lo] == address ? lo : SASS_NO_INST;
}

ORDER(compare_jumps, struct sass_jump, UP(from) UP(to))

static size_t first_jump_from(const struct making *m, uint64_t from)
{
	size_t lo = 0, hi = m->n_jumps;

	BISECT(lo, hi, i, m->jumps[i].from < from);
	return lo;
}

static bool ends_block(const struct sass_inst *i)
{
	return i->inst_class == SASS_BRANCH || i->inst_class == SASS_CALL ||
	       i->inst_class == SASS_RETURN || i->inst_class == SASS_EXIT;
}

/* Can control continue after it? The return of a call is handled elsewhere. */
static bool falls_through(const struct sass_inst *i)
{
	return !ends_block(i) || i->flags & SASS_CONDITIONAL;
}

static bool add_target(struct making *m, edges *list, uint32_t from, uint64_t to_address)
{
	uint32_t to = inst_at(m, to_address);

	if (to == SASS_NO_INST)
		return true;
	m->is_leader[to] = true;
	return VEC_PUSH(list, (struct edge){from, to});
}

static bool add_targets(struct making *m, uint32_t i)
{
	const struct sass_inst *inst = &m->inst[i];
	edges *list = inst->inst_class == SASS_CALL ? &m->calls : &m->branches;
	size_t n = list->n, j = first_jump_from(m, m->address[i]);

	if (j < m->n_jumps && m->jumps[j].from == m->address[i]) {
		for (; j < m->n_jumps && m->jumps[j].from == m->address[i]; j++)
			if ((!j || compare_jumps(&m->jumps[j - 1], &m->jumps[j])) &&
				!add_target(m, list, i, m->jumps[j].to))
				return false;
	} else if (!(inst->flags & SASS_INDIRECT)) {
		if (!add_target(m, list, i, m->address[i] + (uint64_t)inst->branch))
			return false;
	}
	m->g->n_indirect += list->n == n;
	return true;
}

static bool find_leaders(struct making *m)
{
	for (uint32_t i = 0; i < m->g->n_inst; i++) {
		const struct sass_inst *inst = &m->inst[i];

		if (i + 1 < m->g->n_inst && (ends_block(inst) || m->is_text_end[i]))
			m->is_leader[i + 1] = true;
		if ((inst->inst_class == SASS_BRANCH || inst->inst_class == SASS_CALL) &&
			!(inst->flags & SASS_NEVER) && !add_targets(m, i))
			return false;
	}
	return true;
}

static void number_blocks(struct making *m)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->g->n_inst; i++) {
		if (m->is_leader[i] || !i) {
			m->block[n] = (struct sass_block){.first = i, .function = n};
			n++;
		}
		m->block[n - 1].n++;
		m->block_of[i] = n - 1;
	}
	m->g->n_blocks = n;
}

static uint32_t function_root(struct making *m, uint32_t b)
{
	while (m->block[b].function != b) {
		uint32_t up = m->block[b].function;

		m->block[b].function = m->block[up].function;
		b = up;
	}
	return b;
}

/* The lower number wins, so that roots do not depend on the order of edges. */
static void join_functions(struct making *m, uint32_t a, uint32_t b)
{
	a = function_root(m, a);
	b = function_root(m, b);
	m->block[a > b ? a : b].function = a > b ? b : a;
}

/* Sorts edges into lists by `from`, or by `to` if `turn` is set. */
static bool make_lists(
	struct arena *a, const edges *e, uint32_t n, bool turn, struct sass_lists *out)
{
	uint32_t *first = arena_zalloc(a, (size_t)n + 2, sizeof(*first));
	uint32_t *item = arena_zalloc(a, e->n + 1, sizeof(*item));

	if (!first || !item)
		return false;
	for (size_t i = 0; i < e->n; i++)
		first[(turn ? e->v[i].to : e->v[i].from) + 2]++;
	for (uint32_t i = 2; i <= n; i++)
		first[i] += first[i - 1];
	for (size_t i = 0; i < e->n; i++)
		item[first[(turn ? e->v[i].to : e->v[i].from) + 1]++] =
			turn ? e->v[i].from : e->v[i].to;
	*out = (struct sass_lists){.first = first, .item = item};
	return true;
}

/* Converts instructions to blocks and adds an edge for each fall-through. */
static bool finish_edges(struct making *m)
{
	struct sass_graph *g = m->g;

	for (size_t i = 0; i < m->branches.n; i++) {
		struct edge *e = &m->branches.v[i];

		*e = (struct edge){m->block_of[e->from], m->block_of[e->to]};
		join_functions(m, e->from, e->to);
	}
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		uint32_t last = m->block[b].first + m->block[b].n - 1;
		const struct sass_inst *inst = &m->inst[last];
		bool is_last = b + 1 == g->n_blocks || m->is_text_end[last];

		m->block[b].is_return = inst->inst_class == SASS_RETURN;
		m->block[b].is_call = inst->inst_class == SASS_CALL && !is_last;
		if (m->block[b].is_call) {
			m->block[b + 1].is_over = true;
			join_functions(m, b, b + 1);
		}
		if (is_last || !falls_through(inst))
			continue;
		if (!VEC_PUSH(&m->branches, (struct edge){b, b + 1}))
			return false;
		join_functions(m, b, b + 1);
	}
	return true;
}

static bool finish_functions(struct arena *a, struct making *m)
{
	struct sass_graph *g = m->g;
	edges returns = {0}, sites = {0};
	bool ok = true;

	for (uint32_t b = 0; b < g->n_blocks; b++)
		m->block[b].function = function_root(m, b);
	for (size_t i = 0; i < m->calls.n && ok; i++) {
		struct edge *e = &m->calls.v[i];

		*e = (struct edge){m->block_of[e->from], m->block_of[e->to]};
		m->block[e->to].is_entry = true;
		ok = VEC_PUSH(&sites, (struct edge){m->block[e->to].function, e->from});
	}
	for (uint32_t b = 0; b < g->n_blocks && ok; b++)
		if (m->block[b].is_return)
			ok = VEC_PUSH(&returns, (struct edge){m->block[b].function, b});
	ok = ok && make_lists(a, &m->branches, g->n_blocks, true, &g->before) &&
	     make_lists(a, &m->branches, g->n_blocks, false, &g->after) &&
	     make_lists(a, &m->calls, g->n_blocks, true, &g->callers) &&
	     make_lists(a, &m->calls, g->n_blocks, false, &g->callees) &&
	     make_lists(a, &sites, g->n_blocks, false, &g->sites) &&
	     make_lists(a, &returns, g->n_blocks, false, &g->returns);
	VEC_FREE(&returns);
	VEC_FREE(&sites);
	return ok;
}

static void decode_texts(struct making *m, unsigned sm, const struct sass_text *texts, size_t n)
{
	uint32_t i = 0;

	for (size_t t = 0; t < n; t++) {
		size_t count = texts[t].n_bytes / SASS_INST_BYTES;

		for (size_t k = 0; k < count; k++, i++) {
			m->inst[i] = sass_decode(sm, texts[t].bytes + k * SASS_INST_BYTES);
			m->address[i] = texts[t].address + k * SASS_INST_BYTES;
		}
		if (count)
			m->is_text_end[i - 1] = true;
	}
}

static bool sort_jumps(struct arena *a, struct making *m, const struct sass_jump *jumps, size_t n)
{
	struct sass_jump *copy;

	if (!n)
		return true;
	copy = arena_memdup(a, jumps, n * sizeof(*jumps));
	if (!copy)
		return false;
	SORT(copy, n, compare_jumps);
	m->jumps = copy;
	m->n_jumps = n;
	return true;
}

static bool make_arrays(struct arena *a, struct making *m, size_t n)
{
	m->inst = arena_zalloc(a, n + 1, sizeof(*m->inst));
	m->address = arena_zalloc(a, n + 1, sizeof(*m->address));
	m->block_of = arena_zalloc(a, n + 1, sizeof(*m->block_of));
	m->block = arena_zalloc(a, n + 1, sizeof(*m->block));
	m->is_leader = arena_zalloc(a, n + 1, sizeof(*m->is_leader));
	m->is_text_end = arena_zalloc(a, n + 1, sizeof(*m->is_text_end));
	return m->inst && m->address && m->block_of && m->block && m->is_leader && m->is_text_end;
}

bool sass_graph_make(struct arena *a, unsigned sm, const struct sass_text *texts, size_t n_texts,
	const struct sass_jump *jumps, size_t n_jumps, struct sass_graph *out)
{
	struct sass_graph g = {0};
	struct making m = {.g = &g};
	size_t n = 0;
	bool ok = false;

	for (size_t t = 0; t < n_texts; t++)
		n += texts[t].n_bytes / SASS_INST_BYTES;
	if (n >= UINT32_MAX / 2 || !make_arrays(a, &m, n))
		goto out;
	g.n_inst = (uint32_t)n;
	decode_texts(&m, sm, texts, n_texts);
	if (!sort_jumps(a, &m, jumps, n_jumps) || !find_leaders(&m))
		goto out;
	number_blocks(&m);
	if (!finish_edges(&m) || !finish_functions(a, &m))
		goto out;
	g.inst = m.inst;
	g.address = m.address;
	g.block = m.block;
	g.block_of = m.block_of;
	*out = g;
	ok = true;
out:
	VEC_FREE(&m.branches);
	VEC_FREE(&m.calls);
	return ok;
}
