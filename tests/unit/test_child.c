/* SPDX-License-Identifier: Apache-2.0 */
/* Is work in a child process kept apart: its answer, its refusal, its crash, its flood? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/child.h"
#include "base/file.h"

static bool say(void *ctx, int fd)
{
	const char *text = ctx;

	return write_all(fd, text, strlen(text), NULL);
}

static bool say_and_refuse(void *ctx, int fd)
{
	say(ctx, fd);
	return false;
}

static bool say_and_abort(void *ctx, int fd)
{
	say(ctx, fd);
	abort();
}

static bool say_and_exit(void *ctx, int fd)
{
	say(ctx, fd);
	_Exit(1); /* what a library does on a fatal error */
}

static bool flood(void *ctx, int fd)
{
	for (;;)
		if (!say(ctx, fd))
			return false;
}

static void test_child_ends(void **state)
{
	static const struct {
		bool (*work)(void *ctx, int fd);
		enum child_end end;
	} cases[] = {
		{say, CHILD_DONE},
		{say_and_refuse, CHILD_REFUSED},
		{say_and_abort, CHILD_CRASHED},
		{say_and_exit, CHILD_CRASHED},
	};
	char text[] = "half an answer";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct child_job j = {cases[i].work, text, 60, 1000};
		struct strbuf out = {0};
		struct incore_error e = {0};
		enum child_end end;

		assert_true(child_run(&j, &out, &end, &e));
		assert_int_equal(end, cases[i].end);
		assert_string_equal(out.p, text);
		sb_free(&out);
	}
}

static void test_child_output_is_limited(void **state)
{
	char text[] = "again and ";
	struct child_job j = {flood, text, 60, 100000};
	struct strbuf out = {0};
	struct incore_error e = {0};
	enum child_end end;

	(void)state;
	assert_true(child_run(&j, &out, &end, &e));
	assert_int_equal(end, CHILD_TOO_LONG);
	assert_true(out.n < 100000 + 2 * 65536);
	sb_free(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_child_ends),
		cmocka_unit_test(test_child_output_is_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
