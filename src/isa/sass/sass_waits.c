/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sass_waits.c: every wait of every instruction with its candidates, collected in one pass over the
 * code. Scoreboards and groups are searched for on the graph; arrivals at barriers come from other
 * warps, so for them the whole code is searched; fixed latencies need only the block.
 */
#include "isa/sass/sass_waits.h"

#include <string.h>

#include "base/search.h"
#include "base/vec.h"
#include "isa/sass/sass_search.h"

#define REGISTER_REACH 32u /* instructions after which no fixed latency matters any more */
#define MOST_BEFORE 8u	   /* instructions that can have been issued just before */
#define N_REGISTERS (256u + 256u + 8u + 8u)

typedef VEC(uint32_t) inst_list;

struct members {
	uint32_t first, n; /* in finding.member */
	bool is_known, is_cut;
};

struct finding {
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

static void add_wait(struct finding *f, uint32_t waiter, uint32_t producer,
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
static const struct members *find_members(struct finding *f, uint32_t closer, enum sass_count count)
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
	struct finding *f, struct room *r, uint32_t producer, enum sass_wait_kind kind)
{
	if (r->n++ < SASS_MOST_CANDIDATES)
		add_wait(f, r->waiter, producer, kind, r->scoreboard);
	else
		f->flags[r->waiter] |= SASS_CUT;
}

static void add_group(struct finding *f, struct room *r, uint32_t closer)
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
	struct finding *f, uint32_t waiter, unsigned counter, unsigned skip, bool is_counted)
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
			add_group(f, &r, found[i]);
		else if (is_counted)
			add_candidate(f, &r, found[i], SASS_WAIT_COUNT);
		else
			add_candidate(f, &r, found[i],
				p->set_write == counter ? SASS_WAIT_WRITE : SASS_WAIT_READ);
	}
}

static void add_scoreboards(struct finding *f, uint32_t i)
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
static void list_arrivals(struct finding *f, bool engines)
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

static void list_signals(struct finding *f)
{
	for (uint32_t i = 0; i < f->g->n_inst && list_has_room(&f->signals); i++) {
		const struct sass_inst *inst = &f->g->inst[i];

		if (inst->inst_class == SASS_BARRIER && inst->flags & SASS_ARRIVES &&
			!(inst->flags & SASS_BLOCKS) && !VEC_PUSH(&f->signals, i))
			f->is_out_of_memory = true;
	}
}

/* An arrival by LDGSTS stands for the copies before it. */
static void add_arrival(struct finding *f, struct room *r, uint32_t arrival)
{
	const struct members *m;

	if ((f->g->inst[arrival].opcode & 0x1ff) == 0x1b0) {
		m = find_members(f, arrival, SASS_COUNT_COPIES);
		for (uint32_t i = 0; i < m->n; i++)
			add_candidate(f, r, f->member.v[m->first + i], SASS_WAIT_MBARRIER);
	}
	add_candidate(f, r, arrival, SASS_WAIT_MBARRIER);
}

static void add_barriers(struct finding *f, uint32_t i)
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

static void add_last_of(struct finding *f, struct room *r, const struct sass_lists *l, uint32_t of)
{
	for (uint32_t k = l->first[of]; k < l->first[of + 1] && r->n < MOST_BEFORE; k++)
		add_candidate(f, r, last_of(f->g, l->item[k]), SASS_WAIT_STALL);
}

static void add_issued_before(struct finding *f, uint32_t i)
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

static void add_register(struct finding *f, uint32_t i, uint8_t file, unsigned number)
{
	uint32_t writer = f->writer[register_slot(file, number)];
	size_t own = f->first[i];

	if (!writer-- || i - writer > REGISTER_REACH ||
		f->g->inst[writer].set_write != SASS_NO_SCOREBOARD)
		return;
	for (size_t k = f->wait.n; k-- > own && f->wait.v[k].kind == SASS_WAIT_REGISTER;)
		if (f->wait.v[k].producer == writer)
			return;
	add_wait(f, i, writer, SASS_WAIT_REGISTER, SASS_COUNTER_NONE);
}

static void add_registers(struct finding *f, uint32_t i)
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
static void sort_waits(struct finding *f, uint32_t i)
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

static bool find_all(struct finding *f)
{
	list_arrivals(f, true);
	list_arrivals(f, false);
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
	struct finding f = {.g = &g};
	struct sass_wait *wait = NULL;
	bool ok = false;

	if (!sass_graph_make(a, sm, texts, n_texts, jumps, n_jumps, &g))
		return false;
	f.s = sass_searcher_new(a, &g);
	f.group = arena_zalloc(a, (size_t)g.n_inst + 1, sizeof(*f.group));
	f.flags = arena_zalloc(a, (size_t)g.n_inst + 1, sizeof(*f.flags));
	f.first = arena_zalloc(a, (size_t)g.n_inst + 1, sizeof(*f.first));
	if (!f.s || !f.group || !f.flags || !f.first || !find_all(&f))
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
