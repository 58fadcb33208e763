/* SPDX-License-Identifier: Apache-2.0 */
/* test_diff.c: alignment, gates and noise of `diff`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/diff/diff.h"
#include "analysis/diff/diff_gate.h"
#include "analysis/diff/stable.h"
#include "base/mem.h"
#include "mem_trace.h"

/* --- longest common subsequence --- */

static uint32_t next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Matches rise and join equal keys; returns how many. */
static uint32_t check_match(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m)
{
	uint32_t *match = mem_zalloc(n + 1, sizeof(*match)), last = UINT32_MAX, count = 0;

	assert_true(diff_lcs(a, n, b, m, match, NULL));
	for (uint32_t i = 0; i < n; i++) {
		if (match[i] == UINT32_MAX)
			continue;
		assert_true(match[i] < m);
		assert_int_equal(a[i], b[match[i]]);
		assert_true(last == UINT32_MAX || match[i] > last);
		last = match[i];
		count++;
	}
	mem_free(match);
	return count;
}

static uint32_t exact_length(const uint32_t *a, uint32_t n, const uint32_t *b, uint32_t m)
{
	uint32_t row[65] = {0};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t diagonal = 0;

		for (uint32_t j = 1; j <= m; j++) {
			uint32_t up = row[j];

			row[j] = a[i] == b[j - 1]  ? diagonal + 1
				 : up > row[j - 1] ? up
						   : row[j - 1];
			diagonal = up;
		}
	}
	return row[m];
}

static void test_diff_lcs_small(void **state)
{
	uint32_t seed = 7, a[64], b[64];

	(void)state;
	for (int round = 0; round < 500; round++) {
		uint32_t n = next_random(&seed) % 65, m = next_random(&seed) % 65;
		uint32_t keys = 1 + next_random(&seed) % 20;

		for (uint32_t i = 0; i < 64; i++) {
			a[i] = next_random(&seed) % keys;
			b[i] = next_random(&seed) % keys;
		}
		assert_int_equal(check_match(a, n, b, m), exact_length(a, n, b, m));
	}
}

/* Long lists with insertions and deletions: nothing but those is lost. */
static void test_diff_lcs_large(void **state)
{
	enum { N = 100000 };
	uint32_t *a = mem_zalloc(N, sizeof(*a)), *b = mem_zalloc(2 * N, sizeof(*b));
	uint32_t seed = 3, m = 0, cut = 0;

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		a[i] = next_random(&seed) % 3000;
		if (next_random(&seed) % 100 == 0) {
			cut++;
			continue;
		}
		if (next_random(&seed) % 100 == 0)
			b[m++] = 4000 + next_random(&seed) % 10;
		b[m++] = a[i];
	}
	assert_true(check_match(a, N, b, m) >= N - cut);
	mem_free(a);
	mem_free(b);
}

/* All keys equal, and nothing in common: the ends of the range, in linear time. */
static void test_diff_lcs_degenerate(void **state)
{
	enum { N = 50000 };
	uint32_t *a = mem_zalloc(N, sizeof(*a)), *b = mem_zalloc(N, sizeof(*b));

	(void)state;
	assert_int_equal(check_match(a, N, b, N - 7), N - 7);
	for (uint32_t i = 0; i < N; i++)
		b[i] = 1;
	assert_int_equal(check_match(a, N, b, N), 0);
	for (uint32_t i = 0; i < N; i++) {
		a[i] = i % 2;
		b[i] = (i + 1) % 2;
	}
	assert_true(check_match(a, N, b, N) > N / 2);
	assert_int_equal(check_match(a, 0, b, N), 0);
	mem_free(a);
	mem_free(b);
}

/* --- gates --- */

struct gate_case {
	const char *text;
	bool ok;
	enum gate_kind kind;
	enum gate_op op;
	double limit;
};

static const struct gate_case gate_cases[] = {
	{"stall_per_hit<+5%", true, GATE_CHANGE_PCT, GATE_LT, 5},
	{" wait_per_hit >= -2.5 % ", true, GATE_CHANGE_PCT, GATE_GE, -2.5},
	{"latency_per_hit<=+0.25", true, GATE_CHANGE, GATE_LE, 0.25},
	{"latency_per_hit>-3", true, GATE_CHANGE, GATE_GT, -3},
	{"stall_per_hit<6.5", true, GATE_VALUE, GATE_LT, 6.5},
	{"stall_share<60%", true, GATE_VALUE, GATE_LT, 0.6},
	{"", false, 0, 0, 0},
	{"<5", false, 0, 0, 0},
	{"stall_per_hit", false, 0, 0, 0},
	{"stall_per_hit<", false, 0, 0, 0},
	{"stall_per_hit<+", false, 0, 0, 0},
	{"stall_per_hit<5%", false, 0, 0, 0},
	{"stall_per_hit<+5%x", false, 0, 0, 0},
	{"stall_per_hit<1e5", false, 0, 0, 0},
	{"stall_per_hit<inf", false, 0, 0, 0},
	{"stall_per_hit<.", false, 0, 0, 0},
	{"stall_per_hit<12345678901234567890", false, 0, 0, 0},
	{"STALL<5", false, 0, 0, 0},
	{"a_name_that_is_much_longer_than_any_value_there_is_or_ever_will_be_here<1", false, 0, 0,
		0},
};

static void test_diff_gate_parse(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(gate_cases) / sizeof(*gate_cases); i++) {
		const struct gate_case *c = &gate_cases[i];
		struct incore_error e = {0};
		struct gate g;

		if (gate_parse(&g, c->text, &e) != c->ok)
			fail_msg("'%s': %s", c->text, c->ok ? "refused" : "taken");
		if (c->ok) {
			assert_int_equal(g.kind, c->kind);
			assert_int_equal(g.op, c->op);
			assert_true(g.limit - c->limit < 1e-9 && c->limit - g.limit < 1e-9);
		} else {
			assert_int_equal(e.status, INCORE_USAGE);
		}
		incore_error_clear(&e);
	}
}

/* --- two captures --- */

static const struct mem_code code[] = {
	{.text = "; k"},
	{.text = "s_load_dwordx2 s[0:1], s[2:3], 0x0", .source = "a.py:1"},
	{.text = "s_waitcnt lgkmcnt(0)", .source = "a.py:2"},
	{.text = "v_add_u32_e32 v0, v1, v2", .source = "a.py:3"},
	{.text = "s_endpgm", .source = "a.py:4"},
};
static const struct mem_code other_code[] = {
	{.text = "; q"},
	{.text = "v_mov_b32_e32 v0, 0", .source = "b.py:1"},
	{.text = "v_mov_b32_e32 v1, 0", .source = "b.py:2"},
	{.text = "v_mov_b32_e32 v2, 0", .source = "b.py:3"},
	{.text = "s_nop 7", .source = "b.py:4"},
};
/* A line was inserted above the kernel; line 2 of it is another one now. */
static const struct mem_code lower_code[] = {
	{.text = "; k"},
	{.text = "s_load_dwordx2 s[0:1], s[2:3], 0x0", .source = "a.py:2"},
	{.text = "s_waitcnt lgkmcnt(0)", .source = "a.py:3"},
	{.text = "v_add_u32_e32 v0, v1, v2", .source = "a.py:4"},
	{.text = "s_endpgm", .source = "a.py:5"},
};
static const struct mem_code rewritten_code[] = {
	{.text = "; k"},
	{.text = "global_load_dwordx2 v[0:1], v2, s[0:1]", .source = "a.py:2"},
	{.text = "s_waitcnt vmcnt(0)", .source = "a.py:3"},
	{.text = "v_pk_add_f32 v[0:1], v[2:3], v[4:5]", .source = "a.py:4"},
	{.text = "s_trap 2", .source = "a.py:5"},
};
static const struct mem_record fast[] = {
	{0, 1, 0, 4, 1}, {4, 9, 100, 100, 2}, {104, 6, 0, 4, 3}, {108, 11, 0, 12, 4}};
static const struct mem_record slow[] = {
	{0, 1, 0, 4, 1}, {4, 9, 140, 140, 2}, {144, 6, 0, 4, 3}, {148, 11, 0, 12, 4}};

static struct trace *make(const struct mem_record *r, uint32_t n_waves, const struct mem_code *c)
{
	static struct mem_wave waves[2][8];
	static unsigned turn;
	struct mem_wave *w = waves[turn++ % 2];

	for (uint32_t i = 0; i < n_waves; i++)
		w[i] = (struct mem_wave){.simd = i % 4,
			.slot = i / 4,
			.records = r,
			.n_records = 4,
			.end = r[3].time + r[3].duration};
	/* sorted by simd, then slot */
	for (uint32_t i = 0; i < n_waves; i++) {
		w[i].simd = i * 4 / n_waves;
		w[i].slot = i - (w[i].simd * n_waves + 3) / 4;
	}
	return mem_trace_new(
		&(struct mem_capture){.code = c, .n_code = 5, .waves = w, .n_waves = n_waves});
}

struct pair {
	struct trace *a, *b;
	struct diff_side sa, sb;
};

static void pair_open(struct pair *p, struct trace *a, struct trace *b)
{
	struct walk_result w = {0};
	struct walk_options o = {0};

	p->a = a;
	p->b = b;
	assert_true(diff_side_open(&p->sa, a, &o, &w, NULL));
	walk_result_deinit(&w);
	assert_true(diff_side_open(&p->sb, b, &o, &w, NULL));
	walk_result_deinit(&w);
}

static void pair_close(struct pair *p)
{
	diff_side_close(&p->sa);
	diff_side_close(&p->sb);
	trace_free(p->a);
	trace_free(p->b);
}

static void test_diff_per_hit(void **state)
{
	struct diff_options o = {.min_match = 0.5, .noise_factor = 1};
	struct gate_result g = {0};
	struct gate gate;
	struct pair p;
	struct diff d;

	(void)state;
	pair_open(&p, make(fast, 4, code), make(slow, 8, code));
	assert_true(diff_run(&d, &p.sa, &p.sb, &o, NULL));
	assert_int_equal(d.align.kind, ALIGN_ROW);
	assert_true(d.is_same_work);
	assert_true(d.work_ratio == 2);
	assert_string_equal(d.values[0].name, "latency_per_hit");
	assert_true(d.values[0].a == 30 && d.values[0].b == 40);
	assert_int_equal(d.verdict, DIFF_NO_CLAIM);
	assert_int_equal(d.parts[0].code_a, 2);
	assert_true(d.parts[0].change == 40 && d.parts[0].contribution == 10);
	assert_true(gate_parse(&gate, "stall_per_hit<+5%", NULL));
	assert_true(gate_check(&gate, &d, &g, NULL));
	assert_false(g.is_passed);
	diff_deinit(&d);
	pair_close(&p);
}

static void test_diff_noise(void **state)
{
	struct diff_options o = {.min_match = 0.5, .noise_factor = 1, .by = DIFF_BY_CAUSE};
	struct gate_result g = {0};
	struct gate gate;
	struct pair p;
	struct diff d;

	(void)state;
	pair_open(&p, make(fast, 4, code), make(slow, 4, code));
	/* a repeat of A that is as slow as B: the change is noise */
	o.repeats_a = &p.sb;
	o.n_repeats_a = 1;
	assert_true(diff_run(&d, &p.sa, &p.sb, &o, NULL));
	assert_int_equal(d.verdict, DIFF_WITHIN);
	for (uint32_t i = 0; i < d.n_parts; i++)
		assert_int_equal(d.parts[i].verdict, DIFF_WITHIN);
	assert_true(gate_parse(&gate, "stall_per_hit<+5%", NULL));
	assert_true(gate_check(&gate, &d, &g, NULL));
	assert_true(g.is_passed && g.is_saved_by_noise);
	diff_deinit(&d);
	/* a repeat that equals A: it is not */
	o.repeats_a = &p.sa;
	assert_true(diff_run(&d, &p.sa, &p.sb, &o, NULL));
	assert_int_equal(d.verdict, DIFF_BEYOND);
	assert_int_equal(d.parts[0].verdict, DIFF_BEYOND);
	diff_deinit(&d);
	pair_close(&p);
}

/* --- captures of one state --- */

/* The same total, but one cycle of 30 is of another row. */
static const struct mem_record moved[] = {
	{0, 1, 0, 4, 1}, {4, 9, 99, 99, 2}, {103, 6, 0, 5, 3}, {108, 11, 0, 12, 4}};

static struct stability judged(const struct diff_side *sides, uint32_t n, double total_pct,
	double row_pct, struct arena *a)
{
	struct stability s;

	assert_true(stability_judge(&s, sides, n, total_pct, row_pct, a, NULL));
	return s;
}

static void test_diff_stable(void **state)
{
	struct diff_side three[3];
	struct stability s;
	struct arena arena;
	struct pair p, q;

	(void)state;
	arena_init(&arena);
	pair_open(&p, make(fast, 4, code), make(fast, 8, code));
	three[0] = p.sa;
	three[1] = p.sb;
	s = judged(three, 2, 2, 1, &arena);
	assert_true(s.is_stable && s.spread_pct == 0 && s.row_most_pct == 0 && !s.n_rows);

	/* a third one shows what two do not: 40 cycles for 30, all of it on the wait */
	pair_open(&q, make(slow, 4, code), make(moved, 4, code));
	three[2] = q.sa;
	s = judged(three, 3, 2, 1, &arena);
	assert_false(s.is_stable);
	assert_true(s.least == 30 && s.most == 40 && s.n_beyond == 1 && s.n_rows == 1);
	assert_true(s.rows[0].code == 2 && s.rows[0].a == 25 && s.rows[0].b == 25);
	assert_true(s.rows[0].least == 25 && s.rows[0].most == 35);
	assert_true(s.spread_pct > 33.3 && s.spread_pct < 33.4);

	/* rows alone: 0.25 of 30 cycles */
	three[1] = q.sb;
	s = judged(three, 2, 2, 0.5, &arena);
	assert_true(!s.is_stable && s.spread_pct == 0 && s.n_beyond == 2 && s.n_rows == 2);
	assert_int_equal(s.rows[0].code, 2);
	assert_int_equal(s.rows[1].code, 3);
	s = judged(three, 2, 2, 1, &arena);
	assert_true(s.is_stable && s.row_most_pct > 0.83 && s.row_most_pct < 0.84);

	/* the total alone: every row that moved is named */
	three[1] = q.sa;
	s = judged(three, 2, 30, 50, &arena);
	assert_true(!s.is_stable && !s.n_beyond && s.n_rows == 1 && s.rows[0].code == 2);
	pair_close(&p);
	pair_close(&q);
	arena_deinit(&arena);
}

static void test_diff_refuses(void **state)
{
	struct diff_options o = {.min_match = 0.5, .noise_factor = 1};
	struct incore_error e = {0};
	struct pair p;
	struct diff d;

	(void)state;
	pair_open(&p, make(fast, 4, code), make(fast, 4, other_code));
	assert_false(diff_run(&d, &p.sa, &p.sb, &o, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_string_equal(e.code, "not-comparable");
	incore_error_clear(&e);
	o.min_match = 0;
	assert_true(diff_run(&d, &p.sa, &p.sb, &o, &e));
	for (uint32_t i = 0; i < d.n_parts; i++)
		assert_int_equal(d.parts[i].verdict, DIFF_NOT_COMPARABLE);
	diff_deinit(&d);
	pair_close(&p);
}

static const struct diff_part *part_of(const struct diff *d, const char *key)
{
	for (uint32_t i = 0; i < d->n_parts; i++)
		if (strcmp(d->parts[i].key, key) == 0)
			return &d->parts[i];
	return NULL;
}

/* Lines that only moved are compared with themselves, not with what stands at their number now. */
static void test_diff_moved_lines(void **state)
{
	struct diff_options o = {.min_match = 0.5, .noise_factor = 1, .by = DIFF_BY_LINE};
	const struct diff_part *wait;
	struct pair p;
	struct diff d;

	(void)state;
	pair_open(&p, make(fast, 4, code), make(slow, 4, lower_code));
	assert_true(diff_run(&d, &p.sa, &p.sb, &o, NULL));
	assert_int_equal(d.n_parts, 4);
	for (uint32_t i = 0; i < d.n_parts; i++)
		assert_int_equal(d.parts[i].verdict, DIFF_NO_CLAIM);
	wait = part_of(&d, "a.py:2");
	assert_true(wait && wait->change == 40 && wait->key_b);
	assert_string_equal(wait->key_b, "a.py:3");
	diff_deinit(&d);
	pair_close(&p);
	pair_open(&p, make(fast, 4, code), make(slow, 4, code));
	assert_true(diff_run(&d, &p.sa, &p.sb, &o, NULL));
	assert_true(part_of(&d, "a.py:2") && !part_of(&d, "a.py:2")->key_b);
	diff_deinit(&d);
	pair_close(&p);
}

static void set_text(struct trace *t, const char *text, uint32_t n_lines)
{
	assert_int_equal(t->n_sources, 1);
	t->sources[0].text = text;
	t->sources[0].text_len = strlen(text);
	t->sources[0].n_lines = n_lines;
}

/* Where no instruction is the other's, the texts of the files pair lines; without texts, numbers. */
static void test_diff_moved_text(void **state)
{
	struct diff_options o = {.min_match = 0.5, .noise_factor = 1};
	struct pair p;
	struct diff d;

	(void)state;
	pair_open(&p, make(fast, 4, code), make(slow, 4, rewritten_code));
	set_text(p.a, "load()\nwait()\nadd()\nend()\n", 4);
	set_text(p.b, "import x\nload()\n  wait()\nadd()\nend()\n", 5);
	assert_true(diff_run(&d, &p.sa, &p.sb, &o, NULL));
	assert_int_equal(d.align.kind, ALIGN_LINE);
	assert_true(diff_matched_share(&d.align) == 1);
	assert_int_equal(d.n_parts, 4);
	assert_string_equal(part_of(&d, "a.py:4")->key_b, "a.py:5");
	diff_deinit(&d);
	set_text(p.b, "", 0);
	p.b->sources[0].text = NULL;
	assert_true(diff_run(&d, &p.sa, &p.sb, &o, NULL));
	assert_int_equal(d.n_parts, 5);
	assert_null(part_of(&d, "a.py:2")->key_b);
	diff_deinit(&d);
	pair_close(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff_lcs_small),
		cmocka_unit_test(test_diff_lcs_large),
		cmocka_unit_test(test_diff_lcs_degenerate),
		cmocka_unit_test(test_diff_gate_parse),
		cmocka_unit_test(test_diff_per_hit),
		cmocka_unit_test(test_diff_noise),
		cmocka_unit_test(test_diff_stable),
		cmocka_unit_test(test_diff_refuses),
		cmocka_unit_test(test_diff_moved_lines),
		cmocka_unit_test(test_diff_moved_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
