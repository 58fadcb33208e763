/* SPDX-License-Identifier: Apache-2.0 */
/* What is worse now, since when, and until when: series made from figures, a revision each. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "store/series.h"

#define MOST 64
#define CYCLES STORE_CYCLES

struct made {
	struct arena arena;
	struct store_entry v[MOST];
	struct store_entries entries;
	struct store_ask ask;
	struct store_judged out;
	struct store_acceptance accepted;
};

/* "r1 100 100 r2 200": captures with their revisions; "-": some without. Of them up to `capture` this
 * level was accepted; 0: nothing was. */
static void judge(struct made *m, const char *text, uint64_t capture, double level)
{
	struct str rest = str_of(text), word;
	const char *revision = NULL;
	size_t n = 0;
	uint64_t x;

	*m = (struct made){
		.ask = {.figure = CYCLES, .history = {STORE_SIGMAS, STORE_FLOOR}, .most_pct = NAN}};
	arena_init(&m->arena);
	m->ask.arena = &m->arena;
	while (str_cut(&rest, " ", &word)) {
		if (!str_to_u64(word, &x)) {
			revision =
				str_is(word, "-") ? NULL : arena_strndup(&m->arena, word.p, word.n);
			continue;
		}
		assert_true(n < MOST);
		m->v[n] = (struct store_entry){.capture = n + 1,
			.at = (int64_t)n,
			.kernel = "k",
			.evidence = "synthetic",
			.labels = "",
			.revision = revision,
			.code = "c",
			.path = "/p",
			.figure = {[0] = NO_I64, [CYCLES] = (int64_t)x}};
		n++;
	}
	m->entries.v.v = m->v;
	m->entries.v.n = n;
	m->accepted = (struct store_acceptance){.kernel = "k",
		.evidence = "synthetic",
		.labels = "",
		.figure = "cycles",
		.capture = capture,
		.until = (int64_t)capture - 1,
		.level = level};
	m->entries.accepted = (struct rows){&m->accepted, capture != 0};
	assert_true(store_judge(&m->ask, &m->entries, 0, &m->out, NULL));
}

/* "new 5 100 200": kind, first capture, level before, that of now; as many as there are. */
static void expect_accepted(const char *text, uint64_t capture, double level, const char *verdict,
	const char *regressions)
{
	struct made m;
	const struct store_regression *r;
	struct strbuf b = {0};

	judge(&m, text, capture, level);
	r = m.out.gate.regressions.v;
	for (size_t i = 0; i < m.out.gate.regressions.n; i++)
		sb_printf(&b, "%s%s %d %.0f %.0f", i ? ", " : "", r[i].kind,
			(int)r[i].change.capture, r[i].change.before, r[i].now);
	assert_string_equal(m.out.gate.verdict, verdict);
	assert_string_equal(b.p ? b.p : "", regressions);
	sb_free(&b);
	arena_deinit(&m.arena);
}

static void expect(const char *text, const char *verdict, const char *regressions)
{
	expect_accepted(text, 0, 0, verdict, regressions);
}

#define R1 "r1 1000 1001 1000 1001 1000 "

static void test_what_is_new_stands_from_the_next_revision_on(void **state)
{
	(void)state;
	expect(R1 "r2 1000", "passed", "");
	expect(R1 "r2 2000", "worse", "new 6 1000 2000");
	expect(R1 "r2 2000 2001", "worse", "new 6 1000 2000");
	/* one capture alone was not confirmed until the next: that is nothing new */
	expect(R1 "r2 2000 r3 2001", "standing", "standing 6 1000 2000");
	expect(R1 "r2 2000 r3 2001 r4 2000 r5 2002", "standing", "standing 6 1000 2000");
	expect(R1 "- 2000 2001 2000 2001", "standing", "standing 6 1000 2000");
}

static void test_it_stands_until_the_series_is_back(void **state)
{
	(void)state;
	expect(R1 "r2 2000 r3 2001 r4 1000", "better", "over 6 1000 1000");
	expect(R1 "r2 2000 r3 2001 r4 1009", "better", "over 6 1000 1009");
	expect(R1 "r2 2000 r3 2001 r4 1020", "standing", "standing 6 1000 1020");
	expect(R1 "r2 2000 r3 2001 r4 1500 1501", "standing", "standing 6 1000 1500");
	/* one capture that was lucky mends nothing */
	expect(R1 "r2 2000 r3 2001 r4 1000 r5 2000", "standing", "standing 6 1000 2000");
	/* what was mended and comes again is new */
	expect(R1 "r2 2000 2001 r3 1000 1001 r4 2000", "worse",
		"new 10 1000 2000, over 6 1000 2000");
	expect(R1 "r2 2000 2001 r3 1000 1001 r4 2000 r5 2000", "standing",
		"standing 10 1000 2000, over 6 1000 2000");
}

static void test_each_step_has_a_level_to_go_back_to(void **state)
{
	(void)state;
	expect(R1 "r2 2000 2001 r3 3000 3001", "worse", "new 8 2000 3000, standing 6 1000 3000");
	expect(R1 "r2 2000 2001 r3 3000 3001 r4 2000 2001", "standing",
		"standing 6 1000 2000, over 8 2000 2000");
	expect(R1 "r2 2000 2001 r3 3000 3001 r4 1000", "better",
		"over 6 1000 1000, over 8 2000 1000");
}

static void test_what_is_not_sure_is_not_said(void **state)
{
	(void)state;
	expect("r1 1000 1001 1000 r2 2000", "no-claim", "");
	expect("r1 1000 1001 1000 r2 2000 2001", "worse", "new 4 1000 2000");
	/* of one revision the median counts: one of three is none */
	expect(R1 "r2 1000 1001 2000", "passed", "");
	expect(R1 "r2 1000 2001 2000", "worse", "new 7 1000 2000");
	expect("r1 1000 1001 1000 1001 2000 2001 2000 2001", "worse", "new 5 1000 2000");
}

static void test_what_is_accepted_passes_as_far_as_it_goes(void **state)
{
	(void)state;
	expect_accepted(R1 "r2 2000", 6, 2000, "accepted", "accepted 6 1000 2000");
	expect_accepted(R1 "r2 2000 r3 2001", 6, 2000, "accepted", "accepted 6 1000 2000");
	expect_accepted(
		R1 "r2 2000 2001 r3 2003 2002", 7, 2000, "accepted", "accepted 6 1000 2002");
	/* a further step is new, what was accepted stays so */
	expect_accepted(R1 "r2 2000 2001 r3 3000", 7, 2000, "worse",
		"new 8 2000 3000, accepted 6 1000 3000");
	expect_accepted(R1 "r2 2000 2001 r3 3000 r4 3001", 7, 2000, "standing",
		"standing 8 2000 3000, accepted 6 1000 3000");
	/* also where one capture alone was accepted */
	expect_accepted(
		R1 "r2 2000 r3 3000", 6, 2000, "worse", "new 7 2000 3000, accepted 6 1000 3000");
	expect_accepted(R1 "r2 2000 r3 3000 3001 r4 3000", 6, 2000, "standing",
		"standing 7 2000 3000, accepted 6 1000 3000");
	/* mended and back again is new; what was over is */
	expect_accepted(R1 "r2 2000 2001 r3 1000", 7, 2000, "better", "over 6 1000 1000");
	expect_accepted(R1 "r2 2000 2001 r3 1000 1001 r4 2000", 7, 2000, "worse",
		"new 10 1000 2000, over 6 1000 2000");
	expect_accepted(R1 "r2 2000 2001 r3 3000 3001 r4 2000 2001", 7, 2000, "accepted",
		"accepted 6 1000 2000, over 8 2000 2000");
}

/* Captures of which none is off alone, while their median is: there is no change in the history. */
static void test_what_the_median_alone_shows(void **state)
{
#define NOISY "r1 1000 1020 1000 1020 1000 1020 1000 1020 "
	(void)state;
	expect(NOISY "r2 1080 1082 1081 1080", "worse", "new 9 1010 1080");
	expect_accepted(
		NOISY "r2 1080 1082 1081 1080", 12, 1080, "accepted", "accepted 9 1010 1080");
	expect_accepted(NOISY "r2 1080 1082 1081 1080 r3 1081 1080 1082 1080", 12, 1080, "accepted",
		"accepted 13 1020 1080");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_new_stands_from_the_next_revision_on),
		cmocka_unit_test(test_it_stands_until_the_series_is_back),
		cmocka_unit_test(test_each_step_has_a_level_to_go_back_to),
		cmocka_unit_test(test_what_is_not_sure_is_not_said),
		cmocka_unit_test(test_what_is_accepted_passes_as_far_as_it_goes),
		cmocka_unit_test(test_what_the_median_alone_shows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
