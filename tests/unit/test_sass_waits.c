/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_sass_waits.c: who is waited for, on small programs by hand, and on random ones against a walk
 * along every path up to a length.
 */
#include "isa/sass/sass_waits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "draw.h"

#define MOST 64u
#define N 7u /* no scoreboard */
#define MOST_STEPS 60000u

/* One line of a program. Control codes come with every instruction. */
enum op {
	ALU,
	LOAD,
	STORE,
	DEPBAR,
	BRA,
	BRC,
	BRX,
	EXIT,
	CALL,
	RET,
	COPY,
	CLOSE,
	FLUSH,
	BULK,
	MMA,
	MMA_END,
	MMA_WAIT,
	BAR,
	ARV,
	TRY,
	TMA,
	FENCE
};

struct line {
	enum op op;
	unsigned arg;  /* target; scoreboard of DEPBAR; number of a barrier */
	unsigned arg2; /* count */
	unsigned mask; /* waits for these scoreboards */
	unsigned set;  /* scoreboard; 0 to 5, N: none. LOAD and CLOSE on write, others on read */
	bool is_guarded;
};

static void put_word(uint8_t *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

/* sm_90: offsets of branches in words, eight bits below and the others from bit 34. */
static uint64_t offset_bits(unsigned from, unsigned to, uint64_t *hi)
{
	int64_t words = ((int64_t)to - from - 1) * 4;
	uint64_t up = (uint64_t)(words >> 8);

	*hi |= up >> 30 & 0x3ffff;
	return ((uint64_t)words & 255) << 16 | up << 34;
}

static void put_line(uint8_t *p, unsigned at, const struct line *l)
{
	static const uint16_t opcode[] = {[ALU] = 0x810,
		[LOAD] = 0x981,
		[STORE] = 0x986,
		[DEPBAR] = 0x91a,
		[BRA] = 0x947,
		[BRC] = 0x947,
		[BRX] = 0x949,
		[EXIT] = 0x94d,
		[CALL] = 0x944,
		[RET] = 0x950,
		[COPY] = 0xfae,
		[CLOSE] = 0x9af,
		[FLUSH] = 0x9b7,
		[BULK] = 0x3b5,
		[MMA] = 0x9f0,
		[MMA_END] = 0x9f0,
		[MMA_WAIT] = 0x9c5,
		[BAR] = 0xb1d,
		[ARV] = 0xb1d,
		[TRY] = 0x5a7,
		[TMA] = 0x5b4,
		[FENCE] = 0x992};
	bool on_write = l->op == LOAD || l->op == CLOSE;
	uint64_t lo = opcode[l->op] | (l->op == BRC || l->is_guarded ? 0u : 7u) << 12 |
		      255ull << 16 | 255ull << 24;
	uint64_t hi = 255 | 7ull << 17 | 7ull << 20 | 7ull << 23 | 1ull << 41;

	if (l->op >= BRA && l->op <= RET) { /* the offset takes these bits */
		lo &= ~(0xffull << 16);
		hi &= ~0x3ffffull;
	}
	if (l->op == BRA || l->op == BRC || l->op == CALL)
		lo |= offset_bits(at, l->arg, &hi);
	if (l->op == DEPBAR)
		lo |= 1ull << 47 | (uint64_t)l->arg << 44 | (uint64_t)l->arg2 << 38;
	if (l->op == MMA_WAIT)
		hi |= 1ull << 16 | (uint64_t)l->arg2 << 8;
	if (l->op == MMA_END)
		hi &= ~(7ull << 20);
	if (l->op == BAR || l->op == ARV)
		lo |= (uint64_t)l->arg << 54;
	if (l->op == ARV)
		hi |= 1ull << 13;
	hi |= (uint64_t)(on_write ? l->set : N) << 46 | (uint64_t)(on_write ? N : l->set) << 49;
	hi |= (uint64_t)l->mask << 52;
	put_word(p, lo);
	put_word(p + 8, hi);
}

struct program {
	struct arena a;
	struct sass_waits w;
	uint8_t bytes[MOST * SASS_INST_BYTES];
};

static void find(struct program *p, const struct line *l, unsigned n, const struct sass_jump *jumps,
	size_t n_jumps)
{
	struct sass_text text = {.address = 0x1000, .bytes = p->bytes, .n_bytes = n * 16u};

	assert_true(n <= MOST);
	for (unsigned i = 0; i < n; i++)
		put_line(p->bytes + 16 * i, i, &l[i]);
	arena_init(&p->a);
	assert_true(sass_waits_find(&p->a, 90, &text, 1, jumps, n_jumps, &p->w));
	assert_int_equal(p->w.n_inst, n);
}

/* "1w0 4r2": producers by number, kind and scoreboard, without stall counts and registers. */
static const char *waits_of(const struct program *p, uint32_t inst)
{
	static const char letters[] = "wrcgbmMB";
	static char text[512];
	size_t at = 0;

	text[0] = 0;
	for (uint32_t k = p->w.first[inst]; k < p->w.first[inst + 1]; k++) {
		const struct sass_wait *w = &p->w.wait[k];

		assert_int_equal(w->waiter, inst);
		if (w->kind < SASS_WAIT_STALL)
			at += (size_t)snprintf(text + at, sizeof(text) - at, "%s%u%c%u",
				at ? " " : "", w->producer, letters[w->kind], w->scoreboard);
	}
	return text;
}

#define FIND(p, lines) find(p, lines, sizeof(lines) / sizeof(*(lines)), NULL, 0)

static void test_sass_waits_line(void **state)
{
	static const struct line l[] = {{LOAD, .set = 0}, {LOAD, .set = 1}, {STORE, .set = 0},
		{ALU, .mask = 1, .set = N}, {ALU, .mask = 3, .set = N}, {EXIT, .set = N}};
	struct program p;

	(void)state;
	FIND(&p, l);
	assert_string_equal(waits_of(&p, 3), "0w0 2r0");
	assert_string_equal(waits_of(&p, 4), "1w1"); /* scoreboard 0 was emptied by 3 */
	assert_int_equal(p.w.flags[4], SASS_UNKNOWN_PRODUCER);
	assert_int_equal(p.w.n_masks, 3);
	assert_int_equal(p.w.n_unknown, 1);
	arena_deinit(&p.a);
}

static void test_sass_waits_diamond(void **state)
{
	/* 1 goes to 4 or on; both sides load on scoreboard 2, one of them has waited for 0 */
	static const struct line l[] = {{LOAD, .set = 2}, {BRC, 4, .set = N}, {LOAD, .set = 2},
		{BRA, 6, .set = N}, {ALU, .mask = 4, .set = N}, {LOAD, .set = 2},
		{ALU, .mask = 4, .set = N}, {EXIT, .set = N}};
	struct program p;

	(void)state;
	FIND(&p, l);
	assert_string_equal(waits_of(&p, 4), "0w2");
	assert_string_equal(waits_of(&p, 6), "0w2 2w2 5w2");
	assert_int_equal(p.w.n_unknown, 0);
	arena_deinit(&p.a);
}

static void test_sass_waits_loop(void **state)
{
	/* the load at the end of the body is waited for at its start, one turn later */
	static const struct line l[] = {{LOAD, .set = 1}, {ALU, .mask = 2, .set = N},
		{LOAD, .set = 1}, {BRC, 1, .set = N}, {EXIT, .mask = 2, .set = N}};
	struct program p;

	(void)state;
	FIND(&p, l);
	assert_string_equal(waits_of(&p, 1), "0w1 2w1");
	assert_string_equal(waits_of(&p, 4), "2w1");
	arena_deinit(&p.a);
}

static void test_sass_waits_call(void **state)
{
	/* 8 is called twice: its wait sees both callers, each caller its own */
	static const struct line l[] = {{LOAD, .set = 0}, {LOAD, .set = 3}, {CALL, 9, .set = N},
		{ALU, .mask = 8, .set = N}, {LOAD, .set = 0}, {LOAD, .set = 3}, {CALL, 9, .set = N},
		{ALU, .mask = 9, .set = N}, {EXIT, .set = N}, {ALU, .mask = 1, .set = N},
		{LOAD, .set = 0}, {RET, .set = N}};
	struct program p;

	(void)state;
	FIND(&p, l);
	assert_string_equal(waits_of(&p, 9), "0w0 4w0 10w0");
	assert_string_equal(waits_of(&p, 3), "1w3");
	assert_string_equal(waits_of(&p, 7), "5w3 10w0");
	arena_deinit(&p.a);
}

static void test_sass_waits_depbar(void **state)
{
	static const struct line l[] = {{LOAD, .set = 0}, {LOAD, .set = 0}, {LOAD, .set = 0},
		{DEPBAR, 0, 2, .set = N}, {DEPBAR, 0, 1, .set = N}, {LOAD, .set = 0},
		{ALU, .mask = 1, .set = N}, {EXIT, .set = N}};
	struct program p;

	(void)state;
	FIND(&p, l);
	assert_string_equal(waits_of(&p, 3), "0c0");
	assert_string_equal(waits_of(&p, 4), "1c0");
	assert_string_equal(waits_of(&p, 6), "2w0 5w0");
	arena_deinit(&p.a);
}

static void test_sass_waits_copies(void **state)
{
	/* a pipeline of two groups: the wait for all but one is for the older */
	static const struct line l[] = {{COPY, .set = 1}, {COPY, .set = N}, {CLOSE, .set = 0},
		{COPY, .set = N}, {CLOSE, .set = 0}, {DEPBAR, 0, 1, .set = N},
		{ALU, .mask = 2, .set = N}, {COPY, .set = N}, {CLOSE, .set = 0}, {BRC, 5, .set = N},
		{DEPBAR, 0, 0, .set = N}, {EXIT, .set = N}};
	struct program p;
	struct sass_wait out[8];

	(void)state;
	FIND(&p, l);
	assert_string_equal(waits_of(&p, 5), "0g0 1g0 3g0 7g0");
	assert_string_equal(waits_of(&p, 6), "0r1");
	assert_string_equal(waits_of(&p, 10), "3g0 7g0");
	/* samples behind the DEPBAR are its samples; those of another unit are the mask's */
	assert_int_equal(sass_blame(&p.w, 11, SASS_REASON_LONG, out, 8), 2);
	assert_int_equal(out[0].producer, 3);
	assert_int_equal(sass_blame(&p.w, 6, SASS_REASON_LONG, out, 8), 5);
	assert_int_equal(sass_blame(&p.w, 6, SASS_REASON_WAIT, out, 8), 1);
	assert_int_equal(out[0].producer, 5);
	assert_int_equal(sass_blame(&p.w, 6, SASS_REASON_OTHER, out, 8), 0);
	arena_deinit(&p.a);
}

static void test_sass_waits_matrix(void **state)
{
	static const struct line l[] = {{MMA, .set = N}, {MMA_END, .set = N}, {MMA, .set = N},
		{MMA_END, .set = N}, {MMA_WAIT, 0, 1, .set = N}, {MMA_WAIT, 0, 0, .set = N},
		{BULK, .set = N}, {BULK, .set = N}, {FLUSH, .set = 4}, {DEPBAR, 4, 0, .set = N},
		{EXIT, .set = N}};
	struct program p;
	struct sass_wait out[8];

	(void)state;
	FIND(&p, l);
	assert_string_equal(waits_of(&p, 4), "0m6 1m6");
	assert_string_equal(waits_of(&p, 5), "2m6 3m6");
	assert_string_equal(waits_of(&p, 9), "6b4 7b4");
	assert_int_equal(sass_blame(&p.w, 4, SASS_REASON_GMMA, out, 8), 2);
	arena_deinit(&p.a);
}

static void test_sass_waits_barriers(void **state)
{
	static const struct line l[] = {{TMA, .set = N}, {TRY, .set = 2},
		{ALU, .mask = 4, .set = N}, {ARV, 3, .set = N}, {BAR, 3, .set = N}, {ALU, .set = N},
		{BAR, 0, .set = N}, {EXIT, .set = N}};
	struct program p;
	struct sass_wait out[8];

	(void)state;
	FIND(&p, l);
	assert_string_equal(waits_of(&p, 1), "0M7");
	assert_string_equal(waits_of(&p, 2), "1r2");
	assert_string_equal(waits_of(&p, 4), "3B7 4B7");
	assert_string_equal(waits_of(&p, 6), "6B7");
	assert_int_equal(sass_blame(&p.w, 5, SASS_REASON_BARRIER, out, 8), 2);
	assert_int_equal(sass_blame(&p.w, 7, SASS_REASON_BARRIER, out, 8), 1);
	assert_int_equal(out[0].producer, 6);
	arena_deinit(&p.a);
}

static void test_sass_waits_table(void **state)
{
	/* a jump by register goes where the table says, and to nowhere without one */
	static const struct line l[] = {{LOAD, .set = 0}, {BRX, .set = N}, {LOAD, .set = 0},
		{ALU, .mask = 1, .set = N}, {EXIT, .set = N}, {ALU, .mask = 1, .set = N},
		{EXIT, .set = N}};
	static const struct sass_jump jumps[] = {{0x1010, 0x1050}, {0x1010, 0x1030}};
	struct program p;

	(void)state;
	find(&p, l, 7, jumps, 2);
	assert_string_equal(waits_of(&p, 3), "0w0 2w0");
	assert_string_equal(waits_of(&p, 5), "0w0");
	assert_int_equal(p.w.n_indirect, 0);
	arena_deinit(&p.a);
	find(&p, l, 7, NULL, 0);
	assert_string_equal(waits_of(&p, 5), "");
	assert_int_equal(p.w.n_indirect, 1);
	arena_deinit(&p.a);
}

/* --- random programs --- */

struct walk {
	const struct line *l;
	unsigned n;
	bool want[MOST][MOST][6]; /* waiter, producer, scoreboard */
	bool is_reached[MOST];
	unsigned steps;
};

struct machine {
	unsigned at, depth;
	unsigned back[4];
	unsigned out[6][48], n_out[6]; /* by scoreboard, oldest first */
};

static void wait_for(struct walk *w, struct machine *m, unsigned c, unsigned keep)
{
	unsigned gone = m->n_out[c] > keep ? m->n_out[c] - keep : 0;

	for (unsigned i = 0; i < gone; i++)
		w->want[m->at][m->out[c][i]][c] = true;
	memmove(m->out[c], m->out[c] + gone, (m->n_out[c] - gone) * sizeof(m->out[c][0]));
	m->n_out[c] -= gone;
}

static void walk_on(struct walk *w, struct machine m, unsigned left)
{
	for (; left && m.at < w->n && w->steps < MOST_STEPS; left--) {
		const struct line *l = &w->l[m.at];

		w->is_reached[m.at] = true;
		w->steps++;
		for (unsigned c = 0; c < 6; c++)
			if (l->mask >> c & 1)
				wait_for(w, &m, c, 0);
		if (l->op == DEPBAR)
			wait_for(w, &m, l->arg, l->arg2);
		if (l->is_guarded) { /* the way on which it does nothing */
			struct machine other = m;

			other.at++;
			walk_on(w, other, left - 1);
		}
		if (l->set < 6)
			m.out[l->set][m.n_out[l->set]++] = m.at;
		if (l->op == EXIT || (l->op == RET && !m.depth))
			return;
		if (l->op == BRC) {
			struct machine other = m;

			other.at = l->arg;
			walk_on(w, other, left - 1);
		}
		if (l->op == CALL)
			m.back[m.depth++] = m.at + 1;
		m.at = l->op == BRA || l->op == CALL ? l->arg
		       : l->op == RET		     ? m.back[--m.depth]
						     : m.at + 1;
	}
}

/* A main part of ten lines and a function of five; the last of each ends it. */
static unsigned random_program(struct line *l)
{
	unsigned branches = 0, calls = 0;

	for (unsigned i = 0; i < 15; i++) {
		bool inside = i >= 10;
		unsigned lo = inside ? 10 : 0, room = inside ? 5 : 10, kind = draw(12);

		l[i] = (struct line){.op = ALU, .set = N};
		if (i == 9 || i == 14)
			l[i].op = inside ? RET : EXIT;
		else if (kind < 4)
			l[i] = (struct line){.op = kind & 1 ? LOAD : STORE,
				.set = draw(2),
				.is_guarded = !draw(6)};
		else if (kind < 6)
			l[i].mask = 1 + draw(3);
		else if (kind == 6)
			l[i] = (struct line){
				.op = DEPBAR, .arg = draw(2), .arg2 = draw(4), .set = N};
		else if (kind < 9 && branches++ < 4)
			l[i] = (struct line){.op = BRC, .arg = lo + draw(room), .set = N};
		else if (kind == 9 && !inside)
			l[i] = (struct line){.op = CALL, .arg = 10 + !draw(8), .set = N};
		else if (kind == 10)
			l[i] = (struct line){.op = BRA, .arg = i + 1, .set = N};
	}
	for (unsigned i = 0; i < 10; i++)
		calls += l[i].op == CALL;
	return calls ? 15 : 10; /* nobody goes to the function */
}

static void fail_program(const struct line *l, unsigned n, unsigned waiter, unsigned producer)
{
	for (unsigned i = 0; i < n; i++)
		fprintf(stderr, "%2u: op %d arg %u %u mask %x set %u\n", i, l[i].op, l[i].arg,
			l[i].arg2, l[i].mask, l[i].set);
	fail_msg("waiter %u producer %u", waiter, producer);
}

/* What was seen must have been found; and nothing else, if all there is was seen: then true. */
static bool compare_walk(const struct program *p, const struct walk *w)
{
	static bool got[MOST][MOST][6];
	bool all = w->steps < MOST_STEPS, inexact = false, counts = false;

	memset(got, 0, sizeof(got));
	for (uint32_t k = 0; k < p->w.first[w->n]; k++)
		if (p->w.wait[k].kind <= SASS_WAIT_COUNT)
			got[p->w.wait[k].waiter][p->w.wait[k].producer][p->w.wait[k].scoreboard] =
				true;
	for (unsigned i = 0; i < w->n; i++)
		all = all && w->is_reached[i];
	for (unsigned i = 0; i < w->n; i++) {
		inexact = inexact || w->l[i].op == CALL || w->l[i].is_guarded;
		counts = counts || w->l[i].op == DEPBAR;
		if (w->l[i].op == CALL && w->l[i].arg != 10) /* two entries count as one function */
			all = false;
	}
	if (inexact && counts) /* how many were raised is not known then: see sass_search.c */
		all = false;
	for (unsigned i = 0; i < w->n; i++)
		for (unsigned j = 0; j < w->n; j++)
			for (unsigned c = 0; c < 6; c++)
				if (w->want[i][j][c] > got[i][j][c] ||
					(all && got[i][j][c] > w->want[i][j][c]))
					fail_program(w->l, w->n, i, j);
	return all;
}

static void test_sass_waits_random(void **state)
{
	static struct walk w;
	struct line l[MOST];
	unsigned exact = 0;

	(void)state;
	for (unsigned round = 0; round < 400; round++) {
		struct program p;

		w = (struct walk){.l = l, .n = random_program(l)};
		walk_on(&w, (struct machine){0}, 40);
		find(&p, l, w.n, NULL, 0);
		exact += compare_walk(&p, &w);
		arena_deinit(&p.a);
	}
	assert_true(exact > 100);
}

/* Any bytes: no crash, bounded work, ranges in order. */
static void test_sass_waits_any_bytes(void **state)
{
	enum { COUNT = 20000 };
	uint8_t *bytes = malloc(COUNT * 16);

	(void)state;
	assert_non_null(bytes);
	for (unsigned round = 0; round < 4; round++) {
		struct sass_text text = {0, bytes, COUNT * 16};
		struct sass_waits w;
		struct arena a;

		for (unsigned i = 0; i < COUNT * 16; i++)
			bytes[i] = (uint8_t)draw(256);
		for (unsigned i = 0; round && i < COUNT; i++) /* mostly branches, calls and loads */
			put_line(bytes + 16 * i, i,
				&(struct line){.op = (enum op[]){BRC, CALL, LOAD, RET}[draw(4)],
					.arg = draw(COUNT),
					.mask = round == 2,
					.set = draw(6)});
		arena_init(&a);
		assert_true(sass_waits_find(&a, 90, &text, 1, NULL, 0, &w));
		for (uint32_t i = 0; i < w.n_inst; i++)
			assert_true(w.first[i] <= w.first[i + 1]);
		arena_deinit(&a);
	}
	free(bytes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sass_waits_line),
		cmocka_unit_test(test_sass_waits_diamond),
		cmocka_unit_test(test_sass_waits_loop),
		cmocka_unit_test(test_sass_waits_call),
		cmocka_unit_test(test_sass_waits_depbar),
		cmocka_unit_test(test_sass_waits_copies),
		cmocka_unit_test(test_sass_waits_matrix),
		cmocka_unit_test(test_sass_waits_barriers),
		cmocka_unit_test(test_sass_waits_table),
		cmocka_unit_test(test_sass_waits_random),
		cmocka_unit_test(test_sass_waits_any_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
