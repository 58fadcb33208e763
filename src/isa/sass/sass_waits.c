/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_waits.c: every wait of every instruction with its candidates, collected in one pass over the
 * code. Scoreboards and groups are searched for on the graph; arrivals at barriers come from other
 * warps, so for them the whole code is searched; fixed latencies need only the block.
 *
 * Parts: blocks and edges; the search along the edges; waits and their candidates.
 */
#include "isa/sass/sass_waits.h"

#include <string.h>

#include "base/search.h"
#include "base/vec.h"

/*
 * The control flow graph of code in one or more texts, for backward searches. Blocks end at
 * branches and calls. A call's block leads to the block after it ("over") only as far as the called
 * function lets a search through; the searcher decides that. Functions are sets of blocks that
 * branches connect: code that two entries share makes one function of both. Owner: the caller's
 * arena. May fail: memory.
 */

struct sass_block {
	uint32_t first, n; /* instructions */
	uint32_t function;
	bool is_call;	/* ends in a call, whose target may be unknown */
	bool is_entry;	/* target of a call */
	bool is_return; /* ends in a return */
	bool is_over;	/* follows a call: block - 1 is that call */
};

/* Lists of numbers; list i is item[first[i]] to item[first[i + 1] - 1]. */
struct sass_lists {
	const uint32_t *first, *item;
};

struct sass_graph {
	uint32_t n_inst, n_blocks;
	const struct sass_inst *inst;
	const uint64_t *address;
	const struct sass_block *block;
	const uint32_t *block_of;  /* by instruction */
	struct sass_lists before;  /* by block: blocks that branch or fall into it */
	struct sass_lists after;   /* by block: blocks it branches or falls into */
	struct sass_lists returns; /* by function: its blocks that return */
	struct sass_lists callers; /* by block that is an entry: blocks that call it */
	struct sass_lists callees; /* by block that ends in a call: the entries it calls */
	struct sass_lists sites;   /* by function: blocks that call one of its entries */
	uint32_t n_indirect;	   /* branches and calls with no known target */
};

/*
 * Which instructions can have raised a counter before an instruction is reached: a backward search
 * over the graph that ends where the counter was last known to be empty.
 *
 * Calls are followed exactly: a search that enters a function through its returns leaves it only by
 * the call it came from, and skips the function if some path through it does not empty the counter.
 * Owner: the caller's arena. May fail: only during set-up, on lack of memory.
 */

/* Scoreboards are 0 to 5. */
enum sass_count {
	SASS_COUNT_WGMMA = SASS_COUNTER_WGMMA, /* closed groups of asynchronous matrix work */
	SASS_COUNT_COPIES,		       /* LDGSTS not yet in a group */
	SASS_COUNT_MATRIX,		       /* asynchronous matrix work not yet in a group */
	SASS_COUNT_BULK,		       /* bulk copies not yet in a group */
	SASS_COUNTS
};

struct sass_searcher; /* in the arena */

/* --- blocks and edges ------------------------------------------------------------------------- */

/*
 * Blocks, edges and functions from decoded instructions. Time is linear in the number of
 * instructions, except for the binary search of targets by address.
 */

struct edge {
	uint32_t from, to; /* instructions first, blocks later */
};

typedef VEC(struct edge) edges;

/* Working state on the heap while the graph is built. */
struct graph_making {
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

static uint32_t sass_waits_inst_at(const struct graph_making *m, uint64_t address)
{
	uint32_t lo = 0, hi = m->g->n_inst;

	BISECT(lo, hi, i, m->address[i] < address);
	return lo < m->g->n_inst && m->address[lo] == address ? lo : SASS_NO_INST;
}

ORDER(compare_jumps, struct sass_jump, UP(from) UP(to))

static size_t first_jump_from(const struct graph_making *m, uint64_t from)
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

static bool add_target(struct graph_making *m, edges *list, uint32_t from, uint64_t to_address)
{
	uint32_t to = sass_waits_inst_at(m, to_address);

	if (to == SASS_NO_INST)
		return true;
	m->is_leader[to] = true;
	return VEC_PUSH(list, (struct edge){from, to});
}

static bool add_targets(struct graph_making *m, uint32_t i)
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

static bool find_leaders(struct graph_making *m)
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

static void number_blocks(struct graph_making *m)
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

static uint32_t function_root(struct graph_making *m, uint32_t b)
{
	while (m->block[b].function != b) {
		uint32_t up = m->block[b].function;

		m->block[b].function = m->block[up].function;
		b = up;
	}
	return b;
}

/* The lower number wins, so that roots do not depend on the order of edges. */
static void join_functions(struct graph_making *m, uint32_t a, uint32_t b)
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
static bool finish_edges(struct graph_making *m)
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

static bool finish_functions(struct arena *a, struct graph_making *m)
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

static void decode_texts(
	struct graph_making *m, unsigned sm, const struct sass_text *texts, size_t n)
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

static bool sort_jumps(
	struct arena *a, struct graph_making *m, const struct sass_jump *jumps, size_t n)
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

static bool make_arrays(struct arena *a, struct graph_making *m, size_t n)
{
	m->inst = arena_zalloc(a, n + 1, sizeof(*m->inst));
	m->address = arena_zalloc(a, n + 1, sizeof(*m->address));
	m->block_of = arena_zalloc(a, n + 1, sizeof(*m->block_of));
	m->block = arena_zalloc(a, n + 1, sizeof(*m->block));
	m->is_leader = arena_zalloc(a, n + 1, sizeof(*m->is_leader));
	m->is_text_end = arena_zalloc(a, n + 1, sizeof(*m->is_text_end));
	return m->inst && m->address && m->block_of && m->block && m->is_leader && m->is_text_end;
}

static bool sass_graph_make(struct arena *a, unsigned sm, const struct sass_text *texts,
	size_t n_texts, const struct sass_jump *jumps, size_t n_jumps, struct sass_graph *out)
{
	struct sass_graph g = {0};
	struct graph_making m = {.g = &g};
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

/* --- the search along the edges --------------------------------------------------------------- */

/*
 * The search. Per counter there is one list of the instructions that raise or
 * empty it, so that a step of the search is a block, not an instruction.
 */

/* State of a search on a path: the next `skip` instructions that raised the counter are left out (a
 * wait for all but the newest), and the path ends after `limit` more (a DEPBAR.LE left no more).
 * Both are exact up to 6; above that a spurious candidate is better than a missing one. */
#define STATES 8u
#define NO_LIMIT (STATES - 1)

/* Compiled code needs a handful of steps per search. */
#define MOST_SEARCH_STEPS 4096u
#define LEAST_SEARCH_STEPS 16u
#define STEPS_PER_INST 8u

struct search_path {
	uint32_t block;
	uint8_t skip, limit;
	bool is_inside; /* entered a function through its returns */
};

struct search_seen {
	uint32_t stamp;
	uint64_t states[2]; /* outside, inside: bit skip * STATES + limit */
};

struct sass_searcher {
	const struct sass_graph *g;
	uint32_t *event[SASS_COUNTS];	    /* instructions that raise or empty it, in order */
	uint32_t *first_event[SASS_COUNTS]; /* by block, and one more */
	uint16_t *passes;		    /* by function: counters that some path does not
					       touch */
	uint16_t *passes_over; /* by block that ends in a call: `passes` of the called function */
	uint16_t *raised;      /* by function: counters raised by it or its callees */
	uint32_t stamp;
	uint32_t n_steps;   /* events and edges this search may still look at */
	uint64_t all_steps; /* and all later searches together: a bound for any code */
	uint32_t *inst_stamp;
	struct search_seen *seen;
	struct search_path queue[SASS_MOST_STEPS];
	uint32_t n_queue;
	uint32_t *found, n_found;
	bool is_cut;
};

static bool is_warpgroup_matrix(const struct sass_inst *i)
{
	return i->inst_class == SASS_TENSOR_ASYNC && (i->opcode & 0x1f0) == 0x1f0;
}

static bool raises(const struct sass_inst *i, enum sass_count c)
{
	if (i->flags & SASS_NEVER)
		return false;
	switch (c) {
	case SASS_COUNT_WGMMA:
		return i->flags & SASS_GROUP_CLOSE && i->counter == SASS_COUNTER_WGMMA;
	case SASS_COUNT_COPIES:
		return i->inst_class == SASS_ASYNC_COPY;
	case SASS_COUNT_MATRIX:
		return is_warpgroup_matrix(i) && !(i->flags & SASS_GROUP_CLOSE);
	case SASS_COUNT_BULK:
		return i->inst_class == SASS_ASYNC_BULK && !(i->flags & SASS_ARRIVES);
	default:
		return i->set_write == (uint8_t)c || i->set_read == (uint8_t)c;
	}
}

/* How many outstanding the instruction leaves at most, or NO_LIMIT. A mask applies whatever the
 * guard says. */
static unsigned leaves(const struct sass_inst *i, enum sass_count c)
{
	bool counts = i->flags & SASS_COUNTER_WAIT && !(i->flags & SASS_GUARDED) &&
		      i->counter == (uint8_t)c;
	unsigned left = counts && i->count < NO_LIMIT ? i->count : NO_LIMIT;

	switch (c) {
	case SASS_COUNT_COPIES:
		return (i->opcode & 0x1ff) == 0x1af ? 0 : NO_LIMIT;
	case SASS_COUNT_MATRIX:
		return is_warpgroup_matrix(i) && i->flags & SASS_GROUP_CLOSE ? 0 : NO_LIMIT;
	case SASS_COUNT_BULK:
		return (i->opcode & 0x1ff) == 0x1b7 ? 0 : NO_LIMIT;
	case SASS_COUNT_WGMMA:
		return left;
	default:
		return i->wait_mask >> c & 1 ? 0 : left;
	}
}

static bool list_events(struct arena *a, struct sass_searcher *s, enum sass_count c)
{
	const struct sass_graph *g = s->g;
	uint32_t n = 0;

	s->first_event[c] = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(uint32_t));
	for (uint32_t i = 0; i < g->n_inst; i++)
		n += raises(&g->inst[i], c) || leaves(&g->inst[i], c) != NO_LIMIT;
	s->event[c] = arena_zalloc(a, (size_t)n + 1, sizeof(uint32_t));
	if (!s->first_event[c] || !s->event[c])
		return false;
	n = 0;
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		s->first_event[c][b] = n;
		for (uint32_t i = g->block[b].first; i < g->block[b].first + g->block[b].n; i++)
			if (raises(&g->inst[i], c) || leaves(&g->inst[i], c) != NO_LIMIT)
				s->event[c][n++] = i;
	}
	s->first_event[c][g->n_blocks] = n;
	return true;
}

static uint16_t emptied_in(const struct sass_searcher *s, uint32_t b)
{
	uint16_t mask = 0;

	for (unsigned c = 0; c < SASS_COUNTS; c++)
		for (uint32_t e = s->first_event[c][b]; e < s->first_event[c][b + 1]; e++)
			if (!leaves(&s->g->inst[s->event[c][e]], c))
				mask |= (uint16_t)(1u << c);
	return mask;
}

/* Blocks to look at again, each at most once in the list. */
struct todo {
	uint32_t *block, n;
	bool *is_listed;
	uint16_t *in; /* by block: counters that reach its start from an entry untouched */
};

static void todo_add(struct todo *t, uint32_t b, uint16_t in)
{
	if (!(in & ~t->in[b]))
		return;
	t->in[b] |= in;
	if (!t->is_listed[b]) {
		t->is_listed[b] = true;
		t->block[t->n++] = b;
	}
}

static uint16_t passes_call(const struct sass_searcher *s, uint32_t b)
{
	const struct sass_graph *g = s->g;
	uint32_t k = g->callees.first[b], end = g->callees.first[b + 1];
	uint16_t mask = k == end ? UINT16_MAX : 0; /* unknown callee: assume that it empties
						      nothing */

	for (; k < end; k++)
		mask |= s->passes[g->block[g->callees.item[k]].function];
	return mask;
}

static void pass_block(struct sass_searcher *s, struct todo *t, uint32_t b, uint16_t out)
{
	const struct sass_graph *g = s->g;
	uint32_t f = g->block[b].function;

	for (uint32_t k = g->after.first[b]; k < g->after.first[b + 1]; k++)
		todo_add(t, g->after.item[k], out);
	if (g->block[b].is_call)
		todo_add(t, b + 1, out & passes_call(s, b));
	if (!g->block[b].is_return || !(out & ~s->passes[f]))
		return;
	s->passes[f] |= out;
	for (uint32_t k = g->sites.first[f]; k < g->sites.first[f + 1]; k++) {
		uint32_t site = g->sites.item[k];

		if (t->in[site] && !t->is_listed[site]) {
			t->is_listed[site] = true;
			t->block[t->n++] = site;
		}
	}
}

/* Finds the counters that some path through each function does not touch: forward from the entries
 * until nothing changes. Every block is revisited at most once per counter. */
static bool find_passes(struct arena *a, struct sass_searcher *s)
{
	const struct sass_graph *g = s->g;
	struct todo t = {
		.block = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*t.block)),
		.is_listed = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*t.is_listed)),
		.in = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*t.in)),
	};
	uint16_t *emptied = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*emptied));

	if (!t.block || !t.is_listed || !t.in || !emptied)
		return false;
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		emptied[b] = emptied_in(s, b);
		if (g->block[b].is_entry)
			todo_add(&t, b, UINT16_MAX);
	}
	while (t.n) {
		uint32_t b = t.block[--t.n];

		t.is_listed[b] = false;
		pass_block(s, &t, b, t.in[b] & (uint16_t)~emptied[b]);
	}
	for (uint32_t b = 0; b < g->n_blocks; b++)
		if (g->block[b].is_call)
			s->passes_over[b] = passes_call(s, b);
	return true;
}

static bool find_raised(struct arena *a, struct sass_searcher *s)
{
	const struct sass_graph *g = s->g;
	struct todo t = {
		.block = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*t.block)),
		.is_listed = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*t.is_listed)),
		.in = s->raised,
	};

	if (!t.block || !t.is_listed)
		return false;
	for (unsigned c = 0; c < SASS_COUNTS; c++)
		for (uint32_t e = 0; e < s->first_event[c][g->n_blocks]; e++)
			if (raises(&g->inst[s->event[c][e]], c))
				todo_add(&t, g->block[g->block_of[s->event[c][e]]].function,
					(uint16_t)(1u << c));
	while (t.n) {
		uint32_t f = t.block[--t.n];

		t.is_listed[f] = false;
		for (uint32_t k = g->sites.first[f]; k < g->sites.first[f + 1]; k++)
			todo_add(&t, g->block[g->sites.item[k]].function, s->raised[f]);
	}
	return true;
}

static struct sass_searcher *sass_searcher_new(struct arena *a, const struct sass_graph *g)
{
	struct sass_searcher *s = arena_zalloc(a, 1, sizeof(*s));

	if (!s)
		return NULL;
	s->g = g;
	s->all_steps = (1u << 20) + (uint64_t)STEPS_PER_INST * g->n_inst;
	s->inst_stamp = arena_zalloc(a, (size_t)g->n_inst + 1, sizeof(*s->inst_stamp));
	s->seen = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*s->seen));
	s->passes = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*s->passes));
	s->passes_over = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*s->passes_over));
	s->raised = arena_zalloc(a, (size_t)g->n_blocks + 1, sizeof(*s->raised));
	if (!s->inst_stamp || !s->seen || !s->passes || !s->passes_over || !s->raised)
		return NULL;
	for (unsigned c = 0; c < SASS_COUNTS; c++)
		if (!list_events(a, s, c))
			return NULL;
	return find_passes(a, s) && find_raised(a, s) ? s : NULL;
}

static bool step_search(struct sass_searcher *s)
{
	if (s->n_steps && --s->n_steps == 0)
		s->is_cut = true;
	return s->n_steps;
}

static void sass_waits_add_found(struct sass_searcher *s, uint32_t inst)
{
	if (s->inst_stamp[inst] == s->stamp)
		return;
	if (s->n_found == SASS_MOST_CANDIDATES) {
		s->is_cut = true;
		s->n_steps = 0;
		return;
	}
	s->inst_stamp[inst] = s->stamp;
	s->found[s->n_found++] = inst;
}

/* Goes back from event `end` of a block to its start; false: the path ends on the way. */
static bool sass_waits_walk_block(
	struct sass_searcher *s, enum sass_count c, struct search_path *p, uint32_t end)
{
	for (uint32_t e = end; e-- > s->first_event[c][p->block] && step_search(s);) {
		uint32_t i = s->event[c][e];
		unsigned left = leaves(&s->g->inst[i], c);

		if (raises(&s->g->inst[i], c)) {
			if (p->skip)
				p->skip--;
			else
				sass_waits_add_found(s, i);
			/* a guarded instruction may not have counted */
			if (p->limit != NO_LIMIT && !(s->g->inst[i].flags & SASS_GUARDED) &&
				--p->limit == 0)
				return false;
		}
		if (!left)
			return false;
		if (left < p->limit)
			p->limit = (uint8_t)left;
	}
	return s->n_steps;
}

/* False: no more may be pushed; those already listed are still processed. */
static bool push_path(
	struct sass_searcher *s, uint32_t block, const struct search_path *p, bool is_inside)
{
	struct search_seen *seen = &s->seen[block];
	uint64_t bit = 1ull << (p->skip * STATES + p->limit);

	if (s->n_queue == SASS_MOST_STEPS)
		s->is_cut = true;
	if (s->n_queue == SASS_MOST_STEPS || !step_search(s))
		return false;
	if (seen->stamp != s->stamp)
		*seen = (struct search_seen){.stamp = s->stamp};
	if (!(seen->states[is_inside] & bit)) {
		seen->states[is_inside] |= bit;
		s->queue[s->n_queue++] = (struct search_path){block, p->skip, p->limit, is_inside};
	}
	return true;
}

/* Pushes the paths to one list of blocks. */
static bool push_paths(struct sass_searcher *s, const struct sass_lists *l, uint32_t of,
	const struct search_path *p, bool is_inside)
{
	for (uint32_t k = l->first[of]; k < l->first[of + 1]; k++)
		if (!push_path(s, l->item[k], p, is_inside))
			return false;
	return true;
}

/* A block after a call is reached from the returns of the called function, and from the call itself
 * if that function may leave the counter alone. How often it raises the counter is unknown then:
 * nothing is skipped, since a spurious candidate is better than a missing one. */
static void push_over_call(struct sass_searcher *s, enum sass_count c, const struct search_path *p)
{
	const struct sass_graph *g = s->g;
	uint32_t site = p->block - 1;
	struct search_path past = *p;

	for (uint32_t k = g->callees.first[site]; k < g->callees.first[site + 1]; k++) {
		uint32_t f = g->block[g->callees.item[k]].function;

		if (!step_search(s) || !push_paths(s, &g->returns, f, p, true))
			return;
		if (s->raised[f] >> c & 1)
			past.skip = 0;
	}
	if (s->passes_over[site] >> c & 1)
		push_path(s, site, &past, p->is_inside);
}

static void sass_waits_push_before(
	struct sass_searcher *s, enum sass_count c, const struct search_path *p)
{
	const struct sass_block *b = &s->g->block[p->block];

	if (!push_paths(s, &s->g->before, p->block, p, p->is_inside))
		return;
	if (b->is_over)
		push_over_call(s, c, p);
	if (b->is_entry && !p->is_inside)
		push_paths(s, &s->g->callers, p->block, p, false);
}

/* Number of events of the block before the instruction itself. */
static uint32_t events_before(const struct sass_searcher *s, enum sass_count c, uint32_t inst)
{
	uint32_t b = s->g->block_of[inst];
	uint32_t lo = s->first_event[c][b], hi = s->first_event[c][b + 1];

	BISECT(lo, hi, i, s->event[c][i] < inst);
	return lo;
}

/* Fills found with at most SASS_MOST_CANDIDATES instructions, nearest first, that raised `count`
 * and can still be outstanding when `inst` waits for all but the newest `skip`. Returns their
 * number. *cut: there may be more. */
static uint32_t sass_search(struct sass_searcher *s, uint32_t inst, enum sass_count count,
	unsigned skip, uint32_t *found, bool *cut)
{
	const uint32_t allowed =
		s->all_steps > MOST_SEARCH_STEPS ? MOST_SEARCH_STEPS : LEAST_SEARCH_STEPS;
	struct search_path p = {.block = s->g->block_of[inst],
		.skip = (uint8_t)(skip < STATES ? skip : STATES - 1),
		.limit = NO_LIMIT};

	s->stamp++;
	s->n_queue = s->n_found = 0;
	s->n_steps = allowed;
	s->found = found;
	s->is_cut = false;
	if (sass_waits_walk_block(s, count, &p, events_before(s, count, inst)))
		sass_waits_push_before(s, count, &p);
	for (uint32_t q = 0; q < s->n_queue && s->n_steps; q++) {
		p = s->queue[q];
		if (sass_waits_walk_block(s, count, &p, s->first_event[count][p.block + 1]))
			sass_waits_push_before(s, count, &p);
	}
	s->all_steps -= allowed - s->n_steps < s->all_steps ? allowed - s->n_steps : s->all_steps;
	*cut = s->is_cut;
	return s->n_found;
}

/* --- waits and their candidates --------------------------------------------------------------- */

#define REGISTER_REACH 32u /* instructions after which no fixed latency matters any more */
#define MOST_BEFORE 8u	   /* instructions that can have been issued just before */
#define N_REGISTERS (256u + 256u + 8u + 8u)

typedef VEC(uint32_t) inst_list;

struct members {
	uint32_t first, n; /* in finding.member */
	bool is_known, is_cut;
};

struct wait_finding {
	const struct sass_graph *g;
	struct sass_searcher *s;
	VEC(struct sass_wait) wait;
	inst_list member;      /* members of groups, by the instruction that closes them */
	struct members *group; /* by instruction */
	inst_list arrivals;    /* at mbarriers: bulk copies first, at most SASS_MOST_CANDIDATES */
	inst_list signals;     /* BAR.ARV and UCGABAR_ARV */
	uint32_t writer[N_REGISTERS]; /* last writer in this block: its number + 1, or 0 */
	uint8_t *flags;
	uint32_t *first;
	uint32_t n_masks, n_unknown;
	bool is_out_of_memory;
};

static void sass_waits_add_wait(struct wait_finding *f, uint32_t waiter, uint32_t producer,
	enum sass_wait_kind kind, unsigned scoreboard)
{
	struct sass_wait w = {.waiter = waiter,
		.producer = producer,
		.kind = (uint8_t)kind,
		.scoreboard = (uint8_t)scoreboard};

	if (!VEC_PUSH(&f->wait, w))
		f->is_out_of_memory = true;
}

/* --- groups --- */

/* The members closed by a closing instruction: found once, then cached. */
static const struct members *find_members(
	struct wait_finding *f, uint32_t closer, enum sass_count count)
{
	struct members *m = &f->group[closer];
	uint32_t found[SASS_MOST_CANDIDATES], n;

	if (m->is_known)
		return m;
	n = sass_search(f->s, closer, count, 0, found, &m->is_cut);
	m->first = (uint32_t)f->member.n;
	m->is_known = true;
	if (count == SASS_COUNT_MATRIX && !VEC_PUSH(&f->member, closer)) /* closer is the last
									    member */
		f->is_out_of_memory = true;
	for (uint32_t i = 0; i < n; i++)
		if (!VEC_PUSH(&f->member, found[i]))
			f->is_out_of_memory = true;
	m->n = (uint32_t)f->member.n - m->first;
	return m;
}

/* Candidates of one waiter and counter, limited by the room for them. */
struct room {
	uint32_t waiter;
	unsigned scoreboard, n;
};

static void add_candidate(
	struct wait_finding *f, struct room *r, uint32_t producer, enum sass_wait_kind kind)
{
	if (r->n++ < SASS_MOST_CANDIDATES)
		sass_waits_add_wait(f, r->waiter, producer, kind, r->scoreboard);
	else
		f->flags[r->waiter] |= SASS_CUT;
}

static void sass_waits_add_group(struct wait_finding *f, struct room *r, uint32_t closer)
{
	uint16_t base = f->g->inst[closer].opcode & 0x1ff;
	enum sass_count count = base == 0x1af	? SASS_COUNT_COPIES
				: base == 0x1b7 ? SASS_COUNT_BULK
						: SASS_COUNT_MATRIX;
	enum sass_wait_kind kind = base == 0x1af   ? SASS_WAIT_GROUP
				   : base == 0x1b7 ? SASS_WAIT_BULK
						   : SASS_WAIT_WGMMA;
	const struct members *m = find_members(f, closer, count);

	if (m->is_cut)
		f->flags[r->waiter] |= SASS_CUT;
	if (!m->n) /* an empty group, or one filled where no path starts */
		add_candidate(f, r, closer, kind);
	for (uint32_t i = 0; i < m->n; i++)
		add_candidate(f, r, f->member.v[m->first + i], kind);
}

static void add_counter_wait(
	struct wait_finding *f, uint32_t waiter, unsigned counter, unsigned skip, bool is_counted)
{
	uint32_t found[SASS_MOST_CANDIDATES], n;
	struct room r = {.waiter = waiter, .scoreboard = counter};
	bool cut = false;

	n = sass_search(f->s, waiter, (enum sass_count)counter, skip, found, &cut);
	f->n_masks++;
	if (cut)
		f->flags[waiter] |= SASS_CUT;
	if (!n) {
		f->n_unknown++;
		f->flags[waiter] |= SASS_UNKNOWN_PRODUCER;
	}
	for (uint32_t i = 0; i < n; i++) {
		const struct sass_inst *p = &f->g->inst[found[i]];

		if (p->flags & SASS_GROUP_CLOSE && p->counter == counter)
			sass_waits_add_group(f, &r, found[i]);
		else if (is_counted)
			add_candidate(f, &r, found[i], SASS_WAIT_COUNT);
		else
			add_candidate(f, &r, found[i],
				p->set_write == counter ? SASS_WAIT_WRITE : SASS_WAIT_READ);
	}
}

static void add_scoreboards(struct wait_finding *f, uint32_t i)
{
	const struct sass_inst *inst = &f->g->inst[i];

	for (unsigned c = 0; c < SASS_SCOREBOARDS; c++)
		if (inst->wait_mask >> c & 1)
			add_counter_wait(f, i, c, 0, false);
	if (inst->flags & SASS_COUNTER_WAIT && inst->counter <= SASS_COUNTER_WGMMA)
		add_counter_wait(f, i, inst->counter, inst->count, true);
}

/* --- barriers --- */

static bool list_has_room(const inst_list *l)
{
	return l->n < SASS_MOST_CANDIDATES;
}

/* Bulk copies and tensor cores end long waits, so they are listed before plain arrivals. */
static void sass_waits_list_arrivals(struct wait_finding *f, bool engines)
{
	for (uint32_t i = 0; i < f->g->n_inst && list_has_room(&f->arrivals); i++) {
		const struct sass_inst *inst = &f->g->inst[i];
		bool is_engine = inst->inst_class == SASS_ASYNC_BULK ||
				 inst->inst_class == SASS_TENSOR_ASYNC;

		if (inst->flags & SASS_ARRIVES && inst->inst_class != SASS_BARRIER &&
			is_engine == engines && !VEC_PUSH(&f->arrivals, i))
			f->is_out_of_memory = true;
	}
}

static void list_signals(struct wait_finding *f)
{
	for (uint32_t i = 0; i < f->g->n_inst && list_has_room(&f->signals); i++) {
		const struct sass_inst *inst = &f->g->inst[i];

		if (inst->inst_class == SASS_BARRIER && inst->flags & SASS_ARRIVES &&
			!(inst->flags & SASS_BLOCKS) && !VEC_PUSH(&f->signals, i))
			f->is_out_of_memory = true;
	}
}

/* An arrival by LDGSTS stands for the copies before it. */
static void add_arrival(struct wait_finding *f, struct room *r, uint32_t arrival)
{
	const struct members *m;

	if ((f->g->inst[arrival].opcode & 0x1ff) == 0x1b0) {
		m = find_members(f, arrival, SASS_COUNT_COPIES);
		for (uint32_t i = 0; i < m->n; i++)
			add_candidate(f, r, f->member.v[m->first + i], SASS_WAIT_MBARRIER);
	}
	add_candidate(f, r, arrival, SASS_WAIT_MBARRIER);
}

static void add_barriers(struct wait_finding *f, uint32_t i)
{
	const struct sass_inst *inst = &f->g->inst[i];
	struct room r = {.waiter = i, .scoreboard = SASS_COUNTER_NONE};

	if (inst->flags & SASS_TRY_WAIT)
		for (size_t k = 0; k < f->arrivals.n; k++)
			add_arrival(f, &r, f->arrivals.v[k]);
	if (!(inst->flags & SASS_BLOCKS))
		return;
	add_candidate(f, &r, i, SASS_WAIT_BARRIER);
	for (size_t k = 0; k < f->signals.n && inst->inst_class == SASS_BARRIER; k++) {
		const struct sass_inst *o = &f->g->inst[f->signals.v[k]];
		bool same_kind = (o->opcode & 0x1ff) == (inst->opcode & 0x1ff);

		if (same_kind && (o->barrier == inst->barrier || o->barrier == SASS_NO_BARRIER ||
					 inst->barrier == SASS_NO_BARRIER))
			add_candidate(f, &r, f->signals.v[k], SASS_WAIT_BARRIER);
	}
}

/* --- fixed latencies --- */

static uint32_t last_of(const struct sass_graph *g, uint32_t b)
{
	return g->block[b].first + g->block[b].n - 1;
}

static void add_last_of(
	struct wait_finding *f, struct room *r, const struct sass_lists *l, uint32_t of)
{
	for (uint32_t k = l->first[of]; k < l->first[of + 1] && r->n < MOST_BEFORE; k++)
		add_candidate(f, r, last_of(f->g, l->item[k]), SASS_WAIT_STALL);
}

static void add_issued_before(struct wait_finding *f, uint32_t i)
{
	const struct sass_graph *g = f->g;
	uint32_t b = g->block_of[i];
	struct room r = {.waiter = i, .scoreboard = SASS_COUNTER_NONE};

	if (i != g->block[b].first) {
		add_candidate(f, &r, i - 1, SASS_WAIT_STALL);
		return;
	}
	add_last_of(f, &r, &g->before, b);
	if (g->block[b].is_over)
		for (uint32_t k = g->callees.first[b - 1];
			k < g->callees.first[b] && r.n < MOST_BEFORE; k++)
			add_last_of(f, &r, &g->returns, g->block[g->callees.item[k]].function);
	if (g->block[b].is_entry)
		add_last_of(f, &r, &g->callers, b);
}

static unsigned register_slot(uint8_t file, unsigned number)
{
	static const uint16_t base[] = {0, 256, 512, 520};

	return base[file] + number;
}

static void add_register(struct wait_finding *f, uint32_t i, uint8_t file, unsigned number)
{
	uint32_t writer = f->writer[register_slot(file, number)];
	size_t own = f->first[i];

	if (!writer-- || i - writer > REGISTER_REACH ||
		f->g->inst[writer].set_write != SASS_NO_SCOREBOARD)
		return;
	for (size_t k = f->wait.n; k-- > own && f->wait.v[k].kind == SASS_WAIT_REGISTER;)
		if (f->wait.v[k].producer == writer)
			return;
	sass_waits_add_wait(f, i, writer, SASS_WAIT_REGISTER, SASS_COUNTER_NONE);
}

static void add_registers(struct wait_finding *f, uint32_t i)
{
	const struct sass_inst *inst = &f->g->inst[i];

	if (i == f->g->block[f->g->block_of[i]].first)
		memset(f->writer, 0, sizeof(f->writer));
	if (inst->guard != SASS_NO_PRED)
		add_register(
			f, i, inst->is_guard_uniform ? SASS_FILE_UP : SASS_FILE_P, inst->guard);
	for (unsigned k = 0; k < inst->n_operands; k++)
		for (unsigned r = 0; r < inst->operand[k].n && !inst->operand[k].is_write; r++)
			add_register(f, i, inst->operand[k].file, inst->operand[k].first + r);
	for (unsigned k = 0; k < inst->n_operands; k++)
		for (unsigned r = 0; r < inst->operand[k].n && inst->operand[k].is_write; r++)
			f->writer[register_slot(
				inst->operand[k].file, inst->operand[k].first + r)] = i + 1;
}

/* --- all --- */

ORDER(compare_waits, struct sass_wait, UP(kind) UP(producer) UP(scoreboard))

/* Sorts the waits and removes duplicates. */
static void sort_waits(struct wait_finding *f, uint32_t i)
{
	size_t n = f->wait.n - f->first[i], kept = 0;
	struct sass_wait *w;

	if (!n)
		return;
	w = f->wait.v + f->first[i];
	SORT(w, n, compare_waits);
	for (size_t k = 0; k < n; k++)
		if (!kept || compare_waits(&w[kept - 1], &w[k]))
			w[kept++] = w[k];
	f->wait.n = f->first[i] + kept;
}

static bool sass_waits_find_all(struct wait_finding *f)
{
	sass_waits_list_arrivals(f, true);
	sass_waits_list_arrivals(f, false);
	list_signals(f);
	for (uint32_t i = 0; i < f->g->n_inst && !f->is_out_of_memory; i++) {
		if (f->wait.n > UINT32_MAX / 2)
			return false;
		f->first[i] = (uint32_t)f->wait.n;
		add_registers(f, i);
		add_scoreboards(f, i);
		add_barriers(f, i);
		add_issued_before(f, i);
		sort_waits(f, i);
	}
	f->first[f->g->n_inst] = (uint32_t)f->wait.n;
	return !f->is_out_of_memory;
}

bool sass_waits_find(struct arena *a, unsigned sm, const struct sass_text *texts, size_t n_texts,
	const struct sass_jump *jumps, size_t n_jumps, struct sass_waits *out)
{
	struct sass_graph g;
	struct wait_finding f = {.g = &g};
	struct sass_wait *wait = NULL;
	bool ok = false;

	if (!sass_graph_make(a, sm, texts, n_texts, jumps, n_jumps, &g))
		return false;
	f.s = sass_searcher_new(a, &g);
	f.group = arena_zalloc(a, (size_t)g.n_inst + 1, sizeof(*f.group));
	f.flags = arena_zalloc(a, (size_t)g.n_inst + 1, sizeof(*f.flags));
	f.first = arena_zalloc(a, (size_t)g.n_inst + 1, sizeof(*f.first));
	if (!f.s || !f.group || !f.flags || !f.first || !sass_waits_find_all(&f))
		goto out;
	wait = arena_zalloc(a, f.wait.n + 1, sizeof(*wait));
	if (!wait)
		goto out;
	if (f.wait.n)
		memcpy(wait, f.wait.v, f.wait.n * sizeof(*wait));
	*out = (struct sass_waits){.n_inst = g.n_inst,
		.inst = g.inst,
		.address = g.address,
		.first = f.first,
		.wait = wait,
		.flags = f.flags,
		.n_masks = f.n_masks,
		.n_unknown = f.n_unknown,
		.n_indirect = g.n_indirect};
	ok = true;
out:
	VEC_FREE(&f.wait);
	VEC_FREE(&f.member);
	VEC_FREE(&f.arrivals);
	VEC_FREE(&f.signals);
	return ok;
}
