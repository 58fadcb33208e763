/* SPDX-License-Identifier: Apache-2.0 */
/* Do blocks in a file hold what blocks of the heap do, in little memory, and is a full disk told? */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "export/clean/spill.h"

#define MB ((size_t)1 << 20)
#define MANY (20 * MB) /* numbers of 8 bytes */

static char dir[] = "/tmp/incore-spill-XXXXXX";

static int make_dir(void **state)
{
	(void)state;
	signal(SIGXFSZ, SIG_IGN);
	return mkdtemp(dir) ? 0 : 1;
}

static int remove_dir(void **state)
{
	(void)state;
	return rmdir(dir); /* no file of ours is left in it */
}

static size_t resident_mb(void)
{
	char text[64] = "";
	FILE *f = fopen("/proc/self/statm", "r");
	size_t pages = 0;

	if (f && fgets(text, sizeof(text), f))
		pages = strtoul(strchr(text, ' '), NULL, 10);
	if (f)
		fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE) / MB;
}

static void test_spill_little_memory(void **state)
{
	VEC(uint64_t) v = {0};
	size_t before = resident_mb(), most = 0, sum = 0;

	(void)state;
	spill_begin(dir);
	for (uint64_t i = 0; i < MANY; i++) {
		assert_true(VEC_PUSH(&v, i * 3));
		mem_step(i);
		if (i % MB == 0)
			most = resident_mb() > most ? resident_mb() : most;
	}
	for (uint64_t i = 0; i < MANY; i++) {
		sum += v.v[i] != i * 3;
		mem_step(i);
		if (i % MB == 0)
			most = resident_mb() > most ? resident_mb() : most;
	}
	assert_int_equal(sum, 0);
	assert_true(most < before + SPILL_RESIDENT_BYTES / MB + 24); /* of 160 MB */
	VEC_FREE(&v);
	spill_end();
}

static void test_spill_blocks(void **state)
{
	static const size_t sizes[] = {100, 70000, 3 * MB, 70 * MB, 70 * MB + 1, 5000};
	uint8_t *zero, *p = NULL;

	(void)state;
	p = mem_resize(p, 50, 1); /* of the heap */
	memset(p, 7, 50);
	spill_begin(dir);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		p = mem_resize(p, sizes[i], 1);
		assert_non_null(p);
		for (size_t k = 0; k < 50; k++)
			assert_int_equal(p[k], 7);
		p[sizes[i] - 1] = 9;
		if (i && sizes[i] > sizes[i - 1] && sizes[i - 1] > 50)
			assert_int_equal(p[sizes[i - 1] - 1], 9);
	}
	zero = mem_zalloc(3, MB);
	assert_non_null(zero);
	for (size_t i = 0; i < 3 * MB; i++)
		assert_int_equal(zero[i], 0);
	spill_end(); /* blocks outlive it */
	p[0] = zero[3 * MB - 1] = 1;
	mem_free(p);
	mem_free(zero);
}

struct pair {
	uint32_t key, number;
};

ORDER(by_key, struct pair, UP(key))

static void test_sort_long(void **state)
{
	size_t n = MB + 3; /* four runs and a rest */
	struct pair *v = mem_resize(NULL, n, sizeof(*v));

	(void)state;
	assert_non_null(v);
	for (size_t i = 0; i < n; i++)
		v[i] = (struct pair){(uint32_t)(i * 2654435761u) >> 16, (uint32_t)i};
	assert_true(SORT_LONG(v, n, by_key));
	for (size_t i = 1; i < n; i++)
		assert_true(v[i - 1].key < v[i].key ||
			    (v[i - 1].key == v[i].key && v[i - 1].number < v[i].number));
	mem_free(v);
	assert_true(SORT_LONG((struct pair *)NULL, (size_t)0, by_key));
}

static void test_spill_full(void **state)
{
	struct rlimit was, small;
	struct incore_error e = {0};
	uint8_t *p;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = was;
	small.rlim_cur = 2 * MB;
	spill_begin(dir);
	p = mem_resize(NULL, MB, 1);
	assert_non_null(p);
	p[MB - 1] = 5;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	assert_null(mem_alloc(4 * MB));
	assert_null(mem_resize(p, 8 * MB, 1));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	assert_int_equal(p[MB - 1], 5);
	err_nomem(&e);
	assert_false(spill_error(&e));
	assert_int_equal(e.status, INCORE_FAILED);
	assert_string_equal(e.path, dir);
	incore_error_clear(&e);
	mem_free(p);
	spill_end();
	spill_begin("/nowhere/at/all");
	assert_null(mem_alloc(MB));
	assert_false(spill_error(&e));
	assert_string_equal(e.path, "/nowhere/at/all");
	incore_error_clear(&e);
	spill_end();
	assert_true(spill_error(&e)); /* of what went before */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spill_little_memory),
		cmocka_unit_test(test_spill_blocks),
		cmocka_unit_test(test_sort_long),
		cmocka_unit_test(test_spill_full),
	};

	return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
