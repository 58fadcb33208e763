/* SPDX-License-Identifier: Apache-2.0 */
/* test_sweep.c: plans to commands, lines of a journal to states, results that are told once, leases. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "run/lease.h"
#include "sweep/answer.h"
#include "sweep/sweep.h"

static char dir[] = "/tmp/incore-sweep-XXXXXX";

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : 1;
}

static int tear_down(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

static struct sweep_plan plan_of(const char *text)
{
	struct sweep_plan p;
	struct incore_error e = {0};

	if (!sweep_plan_read(&p, str_of(text), "p.yaml", &e))
		fail_msg("%s", e.message);
	return p;
}

static void tasks_are_numbered_over_the_matrix(void **state)
{
	struct sweep_plan p =
		plan_of("matrix:\n  a: [x, y]\n  b: [{c: 1, d: 2}, {c: 3, d: 4}]\n"
			"exclude: [{a: y, d: 2}]\nrepeats: 3\n"
			"run: [prog, \"{a}{c}{{d}\", \"{repeat}/{attempt}\", \"{out}\"]\n"
			"env: {V: \"{d}\"}\ncwd: sub\n");
	struct sweep_place at = {.out = "/o", .base = "/b", .attempt = 7};
	struct sweep_cell cell;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_int_equal(p.n_cells, 4);
	assert_int_equal(p.n_tasks, 12);
	assert_true(sweep_is_excluded(&p, 2));
	assert_false(sweep_is_excluded(&p, 3));
	assert_true(sweep_expand(&p, 11, &at, &a, &cell, NULL));
	assert_string_equal(cell.label, "a=y c=3 d=4");
	assert_string_equal(cell.argv[1], "y3{d}");
	assert_string_equal(cell.argv[2], "2/7");
	assert_string_equal(cell.argv[3], "/o");
	assert_null(cell.argv[4]);
	assert_string_equal(cell.env[0], "V=4");
	assert_string_equal(cell.cwd, "/b/sub");
	arena_deinit(&a);
	sweep_plan_deinit(&p);
}

static void our_own_verbs_get_a_place(void **state)
{
	struct sweep_plan p = plan_of("capture: [att, --kernel, k, --, ./app, -o]\n");
	struct sweep_plan q = plan_of("profile: [-o, mine]\n");
	struct sweep_place at = {.out = "/o", .base = "/b", .attempt = 1};
	struct sweep_cell cell;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_true(sweep_expand(&p, 0, &at, &a, &cell, NULL));
	assert_string_equal(cell.argv[1], "capture");
	assert_string_equal(cell.argv[2], "att");
	assert_string_equal(cell.argv[3], "-o");
	assert_string_equal(cell.argv[4], "/o/capture");
	assert_string_equal(cell.argv[5], "--kernel");
	assert_string_equal(cell.captures[0], "/o/capture/*.incore");
	assert_true(sweep_expand(&q, 0, &at, &a, &cell, NULL));
	assert_string_equal(cell.argv[2], "-o");
	assert_string_equal(cell.argv[3], "mine");
	assert_null(cell.argv[4]);
	arena_deinit(&a);
	sweep_plan_deinit(&p);
	sweep_plan_deinit(&q);
}

static bool line(struct sweep *s, const char *text)
{
	return sweep_apply(s, str_of(text), NULL);
}

#define START(T, A) "{\"event\":\"start\",\"task\":" #T ",\"attempt\":" #A ",\"unix_ms\":5}"
#define END(T, A, O)                                                                               \
	"{\"event\":\"end\",\"task\":" #T ",\"attempt\":" #A ",\"outcome\":\"" O                   \
	"\",\"how\":\"x\",\"wall_ms\":3,\"unix_ms\":9}"

static void state_follows_from_lines(void **state)
{
	static const struct sweep_request q;
	struct sweep s = {.q = &q, .journal_path = "journal"};

	(void)state;
	arena_init(&s.arena);
	s.plan = plan_of("matrix: {a: [1, 2]}\nretries: 1\nrun: [x]\n");
	s.tasks = mem_zalloc(2, sizeof(*s.tasks));
	s.counts[SWEEP_WAITING] = 2;
	assert_true(line(&s, START(0, 1)) && line(&s, END(0, 1, "cut")));
	assert_int_equal(
		s.tasks[0].state, SWEEP_WAITING); /* a cut one is tried again, and counts */
	assert_false(line(&s, START(0, 1)));
	assert_false(line(&s, END(0, 1, "ok")));
	assert_true(line(&s, START(0, 2)) && line(&s, END(0, 2, "machine")));
	assert_int_equal(s.tasks[0].state, SWEEP_WAITING); /* a sick device does not */
	assert_true(line(&s, START(0, 3)) && line(&s, END(0, 3, "failed")));
	assert_int_equal(s.tasks[0].state, SWEEP_FAILED);
	assert_false(line(&s, START(0, 4)));
	assert_true(line(&s, START(1, 1)) && line(&s, END(1, 1, "cancelled")));
	assert_true(line(&s, "{\"event\":\"driver\",\"slurm\":true}"));
	assert_int_equal(s.tasks[1].state, SWEEP_WAITING);
	assert_true(line(&s, "{\"event\":\"submit\",\"id\":\"n\",\"tasks\":[[1,2]]}"));
	assert_int_equal(s.submissions.v[0].n_open, 1);
	assert_true(line(&s, END(1, 2, "ok")));
	assert_int_equal(s.submissions.v[0].n_open, 0);
	assert_true(sweep_is_done(&s));
	assert_int_equal(s.n_attempts, 5);
	assert_int_equal(s.n_retries, 3);
	assert_int_equal(s.tasks[0].all_ms, 9);
	assert_false(line(&s, "{\"event\":\"unheard of\"}"));
	sweep_close(&s);
}

static void a_result_is_told_once(void **state)
{
	struct sweep_result first = {.outcome = "ok", .how = "exit status 0"};
	struct sweep_result late = {.outcome = "cut", .how = "late"}, r;
	struct incore_error e = {0};
	struct arena a;
	bool is_first, is_there;
	char path[96];

	(void)state;
	arena_init(&a);
	snprintf(path, sizeof(path), "%s/cells/00000/1", dir);
	assert_true(sweep_result_read(path, &a, &r, &is_there, &e) && !is_there);
	assert_true(sweep_result_claim(path, &first, &is_first, &e) && is_first);
	assert_true(sweep_result_claim(path, &late, &is_first, &e) && !is_first);
	assert_true(sweep_result_read(path, &a, &r, &is_there, &e) && is_there);
	assert_string_equal(r.outcome, "ok");
	arena_deinit(&a);
}

static void a_lease_has_one_holder(void **state)
{
	struct lease mine, other;
	struct incore_error e = {0};

	(void)state;
	assert_true(lease_take(&mine, dir, "sim:0", &e) && mine.fd);
	assert_true(lease_take(&other, dir, "sim:0", &e) && !other.fd);
	lease_end(&mine);
	assert_true(lease_take(&other, dir, "sim:0", &e) && other.fd);
	lease_end(&other);
	assert_false(lease_take(&other, "/no/such/folder", "sim:0", &e));
	incore_error_clear(&e);
}

/* A plan may name a folder for its leases that does not exist yet. */
static void a_lease_makes_its_folder(void **state)
{
	char folder[64];
	struct lease mine;
	struct incore_error e = {0};

	(void)state;
	snprintf(folder, sizeof(folder), "%s/leases", dir);
	assert_true(lease_take(&mine, folder, "sim:0", &e) && mine.fd);
	lease_end(&mine);
	assert_true(file_is_dir(folder));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tasks_are_numbered_over_the_matrix),
		cmocka_unit_test(our_own_verbs_get_a_place),
		cmocka_unit_test(state_follows_from_lines),
		cmocka_unit_test(a_result_is_told_once),
		cmocka_unit_test(a_lease_has_one_holder),
		cmocka_unit_test(a_lease_makes_its_folder),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
