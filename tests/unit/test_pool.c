/* SPDX-License-Identifier: Apache-2.0 */
/* Does the parallel loop run each item once, and fail the same way on any number of workers? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdatomic.h>

#include "base/log.h"
#include "base/pool.h"
#include "base/progress.h"

#define N_ITEMS 1000

struct job {
	struct pool *pool;
	atomic_int runs[N_ITEMS];
	size_t fail_from, fail_every; /* 0: never */
};

static bool run_item(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct job *j = ctx;

	if (worker >= pool_size(j->pool))
		return err_set(e, INCORE_FAILED, "worker", "worker %u", worker);
	atomic_fetch_add(&j->runs[item], 1);
	if (j->fail_every && item >= j->fail_from && item % j->fail_every == 0)
		return err_set(e, INCORE_NO, "item", "item %zu", item);
	return true;
}

static void test_pool_runs_all(void **state)
{
	static const size_t grains[] = {0, 1, 7, 5000, SIZE_MAX};

	(void)state;
	for (unsigned workers = 1; workers <= 5; workers++) {
		struct pool *p = pool_new(workers, NULL);

		assert_non_null(p);
		assert_int_equal(pool_size(p), workers);
		for (size_t g = 0; g < sizeof(grains) / sizeof(grains[0]); g++) {
			struct job j = {.pool = p};

			assert_true(pool_run(p, N_ITEMS, grains[g], run_item, &j, NULL));
			for (size_t i = 0; i < N_ITEMS; i++)
				assert_int_equal(j.runs[i], 1);
		}
		assert_true(pool_run(p, 0, 1, run_item, NULL, NULL));
		pool_free(p);
	}
}

static void test_pool_lowest_error(void **state)
{
	(void)state;
	for (unsigned workers = 1; workers <= 4; workers++) {
		struct pool *p = pool_new(workers, NULL);

		for (unsigned round = 0; round < 50; round++) {
			struct job j = {.pool = p, .fail_from = round * 7 + 1, .fail_every = 3};
			size_t first = (j.fail_from + 2) / 3 * 3;
			struct incore_error e = {0};
			char want[32];

			snprintf(want, sizeof(want), "item %zu", first);
			assert_false(pool_run(p, N_ITEMS, 1 + round % 9, run_item, &j, &e));
			assert_string_equal(e.message, want);
			assert_int_equal(e.status, INCORE_NO);
			for (size_t i = 0; i <= first; i++)
				assert_int_equal(j.runs[i], 1);
			incore_error_clear(&e);
		}
		pool_free(p);
	}
}

static void test_pool_none(void **state)
{
	struct job j = {0};
	struct pool *p = pool_new(0, NULL);

	(void)state;
	assert_true(pool_size(p) >= 1);
	pool_free(p);
	pool_free(NULL);
	assert_int_equal(pool_size(NULL), 1);
	assert_true(pool_run(NULL, N_ITEMS, 1, run_item, &j, NULL));
	assert_int_equal(j.runs[N_ITEMS - 1], 1);
}

struct told {
	uint64_t done, total;
	unsigned calls, lasts;
};

static void tell(void *ctx, const char *what, uint64_t done, uint64_t total, bool is_last)
{
	struct told *t = ctx;

	assert_string_equal(what, "waves");
	t->done = done;
	t->total = total;
	t->calls++;
	t->lasts += is_last;
}

static bool add_one(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	(void)item;
	(void)worker;
	(void)e;
	progress_add(ctx, 1);
	return true;
}

static void test_pool_progress(void **state)
{
	struct pool *p = pool_new(3, NULL);
	struct told t = {0};
	struct progress *pr = progress_new(tell, &t);

	(void)state;
	progress_begin(pr, "waves", 20000);
	assert_true(pool_run(p, 20000, 10, add_one, pr, NULL));
	progress_end(pr);
	progress_end(pr); /* told once */
	assert_int_equal(t.done, 20000);
	assert_int_equal(t.total, 20000);
	assert_int_equal(t.lasts, 1);
	progress_begin(NULL, "x", 1);
	progress_add(NULL, 1);
	progress_end(NULL);
	progress_free(pr);
	progress_free(NULL);
	pool_free(p);
}

static char logged[100];

static void keep_log(enum log_level level, const char *module, const char *text)
{
	snprintf(logged, sizeof(logged), "%d %s %s", (int)level, module, text);
}

static void test_pool_log(void **state)
{
	(void)state;
	log_warn("m", "dropped");
	log_set_sink(keep_log, LOG_INFO);
	log_debug("m", "too low");
	assert_string_equal(logged, "");
	log_warn("json", "n=%d", 3);
	assert_string_equal(logged, "2 json n=3");
	log_set_sink(NULL, LOG_WARN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pool_runs_all),
		cmocka_unit_test(test_pool_lowest_error),
		cmocka_unit_test(test_pool_none),
		cmocka_unit_test(test_pool_progress),
		cmocka_unit_test(test_pool_log),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
