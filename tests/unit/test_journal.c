/* SPDX-License-Identifier: Apache-2.0 */
/* test_journal.c: what was written is read back, whatever a crash or a hand did to the file. */
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
#include "base/mem.h"
#include "run/journal.h"

static char dir[] = "/tmp/incore-journal-XXXXXX", path[64];

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/journal", dir);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

static bool join(void *ctx, struct str text, struct incore_error *e)
{
	(void)e;
	return sb_str(ctx, text) && sb_putc(ctx, ';');
}

static void add(const char *text)
{
	struct journal j;
	struct incore_error e = {0};

	assert_true(journal_open(&j, path, NULL, NULL, &e));
	assert_true(journal_add(&j, str_of(text), &e));
	journal_close(&j);
}

/* What is in it, "a;b;"; NULL: it is damaged. On the heap. */
static char *lines(void)
{
	struct journal j;
	struct incore_error e = {0};
	struct strbuf b = {0};
	bool ok = journal_open(&j, path, join, &b, &e);

	if (!ok) {
		assert_string_equal(e.code, "journal-damaged");
		incore_error_clear(&e);
		sb_free(&b);
		return NULL;
	}
	journal_close(&j);
	return b.p ? b.p : mem_strndup("", 0);
}

static void assert_lines(const char *want)
{
	char *got = lines();

	if (want)
		assert_string_equal(got ? got : "damaged", want);
	else
		assert_null(got);
	mem_free(got);
}

static void write_file(const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	fclose(f);
}

/* Cut at every byte: the lines before the cut are there, and the next line fits behind them. */
static void test_journal_cut_anywhere(void **state)
{
	struct file_data f = {0};
	struct incore_error e = {0};
	char *copy;
	size_t size, ends[3], n = 0;

	(void)state;
	unlink(path);
	add("one");
	add("two");
	add("three");
	assert_lines("one;two;three;");
	assert_true(file_load(&f, path, &e));
	size = f.size;
	copy = malloc(size);
	memcpy(copy, f.data, size);
	file_unload(&f);
	for (size_t i = 0; i < size; i++)
		if (copy[i] == '\n')
			ends[n++] = i + 1;
	for (size_t cut = 0; cut < size; cut++) {
		static const char *const WANT[] = {"x;", "one;x;", "one;two;x;"};

		write_file(copy, cut);
		add("x");
		assert_lines(WANT[(cut >= ends[0]) + (cut >= ends[1])]);
	}
	free(copy);
}

/* A byte changed anywhere is seen, and so is a line that is not where it was written. */
static void test_journal_changed_anywhere(void **state)
{
	struct file_data f = {0};
	struct incore_error e = {0};
	char *copy, *last;
	size_t size;

	(void)state;
	unlink(path);
	add("one");
	add("two");
	add("three");
	assert_true(file_load(&f, path, &e));
	size = f.size;
	copy = malloc(size);
	memcpy(copy, f.data, size);
	file_unload(&f);
	last = copy + size - strlen("three") - 18;
	for (size_t i = 0; i + 1 < size; i++) {
		copy[i] ^= 1;
		write_file(copy, size);
		assert_lines(NULL);
		copy[i] ^= 1;
	}
	write_file(last, strlen("three") + 18);
	assert_lines(NULL);
	free(copy);
}

static void test_journal_one_holder(void **state)
{
	struct journal a, b;
	struct incore_error e = {0};

	(void)state;
	unlink(path);
	assert_true(journal_open(&a, path, NULL, NULL, &e));
	assert_false(journal_open(&b, path, NULL, NULL, &e));
	assert_string_equal(e.code, "journal-busy");
	assert_false(journal_add(&a, STR("two\nlines"), &e));
	journal_close(&a);
	assert_lines("");
	incore_error_clear(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_journal_cut_anywhere),
		cmocka_unit_test(test_journal_changed_anywhere),
		cmocka_unit_test(test_journal_one_holder),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
