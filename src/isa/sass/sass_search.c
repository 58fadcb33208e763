/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_search.c: the search of sass_search.h. Per counter there is one list of the instructions
 * that raise or empty it, so that a step of the search is a block, not an instruction.
 */
#include "isa/sass/sass_search.h"

#include "base/search.h"

/* State of a search on a path: the next `skip` instructions that raised the counter are left out (a
 * wait for all but the newest), and the path ends after `limit` more (a DEPBAR.LE left no more).
 * Both are exact up to 6; above that a spurious candidate is better than a missing one. */
#define STATES 8u
#define NO_LIMIT (STATES - 1)

/* Compiled code needs a handful of steps per search. */
#define MOST_SEARCH_STEPS 4096u
#define LEAST_SEARCH_STEPS 16u
#define STEPS_PER_INST 8u

struct path {
	uint32_t block;
	uint8_t skip, limit;
	bool is_inside; /* entered a function through its returns */
};

struct seen {
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
	struct seen *seen;
	struct path queue[SASS_MOST_STEPS];
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

struct sass_searcher *sass_searcher_new(struct arena *a, const struct sass_graph *g)
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

static void add_found(struct sass_searcher *s, uint32_t inst)
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
static bool walk_block(struct sass_searcher *s, enum sass_count c, struct path *p, uint32_t end)
{
	for (uint32_t e = end; e-- > s->first_event[c][p->block] && step_search(s);) {
		uint32_t i = s->event[c][e];
		unsigned left = leaves(&s->g->inst[i], c);

		if (raises(&s->g->inst[i], c)) {
			if (p->skip)
				p->skip--;
			else
				add_found(s, i);
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
static bool push_path(struct sass_searcher *s, uint32_t block, const struct path *p, bool is_inside)
{
	struct seen *seen = &s->seen[block];
	uint64_t bit = 1ull << (p->skip * STATES + p->limit);

	if (s->n_queue == SASS_MOST_STEPS)
		s->is_cut = true;
	if (s->n_queue == SASS_MOST_STEPS || !step_search(s))
		return false;
	if (seen->stamp != s->stamp)
		*seen = (struct seen){.stamp = s->stamp};
	if (!(seen->states[is_inside] & bit)) {
		seen->states[is_inside] |= bit;
		s->queue[s->n_queue++] = (struct path){block, p->skip, p->limit, is_inside};
	}
	return true;
}

/* Pushes the paths to one list of blocks. */
static bool push_paths(struct sass_searcher *s, const struct sass_lists *l, uint32_t of,
	const struct path *p, bool is_inside)
{
	for (uint32_t k = l->first[of]; k < l->first[of + 1]; k++)
		if (!push_path(s, l->item[k], p, is_inside))
			return false;
	return true;
}

/* A block after a call is reached from the returns of the called function, and from the call itself
 * if that function may leave the counter alone. How often it raises the counter is unknown then:
 * nothing is skipped, since a spurious candidate is better than a missing one. */
static void push_over_call(struct sass_searcher *s, enum sass_count c, const struct path *p)
{
	const struct sass_graph *g = s->g;
	uint32_t site = p->block - 1;
	struct path past = *p;

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

static void push_before(struct sass_searcher *s, enum sass_count c, const struct path *p)
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

uint32_t sass_search(struct sass_searcher *s, uint32_t inst, enum sass_count count, unsigned skip,
	uint32_t *found, bool *cut)
{
	const uint32_t allowed =
		s->all_steps > MOST_SEARCH_STEPS ? MOST_SEARCH_STEPS : LEAST_SEARCH_STEPS;
	struct path p = {.block = s->g->block_of[inst],
		.skip = (uint8_t)(skip < STATES ? skip : STATES - 1),
		.limit = NO_LIMIT};

	s->stamp++;
	s->n_queue = s->n_found = 0;
	s->n_steps = allowed;
	s->found = found;
	s->is_cut = false;
	if (walk_block(s, count, &p, events_before(s, count, inst)))
		push_before(s, count, &p);
	for (uint32_t q = 0; q < s->n_queue && s->n_steps; q++) {
		p = s->queue[q];
		if (walk_block(s, count, &p, s->first_event[count][p.block + 1]))
			push_before(s, count, &p);
	}
	s->all_steps -= allowed - s->n_steps < s->all_steps ? allowed - s->n_steps : s->all_steps;
	*cut = s->is_cut;
	return s->n_found;
}
