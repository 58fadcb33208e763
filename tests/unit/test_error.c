/* SPDX-License-Identifier: Apache-2.0 */
/* Do errors keep status, code, place and causes, and read well on one line? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "base/error.h"
#include "base/str.h"

static void check_text(const struct incore_error *e, const char *want)
{
	struct strbuf b = {0};

	err_format(e, &b);
	assert_string_equal(b.p, want);
	sb_free(&b);
}

static void test_error_chain(void **state)
{
	struct incore_error e = {0}, moved = {0};

	(void)state;
	assert_false(err_file(&e, "truncated", "a.json", 7, "ends\nearly"));
	check_text(&e, "a.json@7: ends early");
	e.line = 2;
	e.column = 5;
	assert_false(err_wrap(&e, "wave file of SE %u", 3u));
	assert_false(err_wrap(&e, "capture"));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_string_equal(e.code, "truncated");
	check_text(&e, "capture because: wave file of SE 3 because: a.json:2:5: ends early");
	err_move(&moved, &e);
	assert_null(e.message);
	assert_null(e.cause);
	check_text(&moved, "capture because: wave file of SE 3 because: a.json:2:5: ends early");
	assert_false(err_set(&moved, INCORE_USAGE, "usage", "again: %s", moved.message));
	check_text(&moved, "again: capture");
	incore_error_clear(&moved);
	incore_error_clear(&moved);
}

static void test_error_errno(void **state)
{
	static const struct {
		int errnum;
		enum incore_status status;
		const char *code;
	} cases[] = {{ENOENT, INCORE_BAD_INPUT, "not-found"},
		{ENOTDIR, INCORE_BAD_INPUT, "not-found"},
		{EACCES, INCORE_BAD_INPUT, "not-readable"},
		{EISDIR, INCORE_BAD_INPUT, "is-directory"}, {ELOOP, INCORE_BAD_INPUT, "link-loop"},
		{ENOSPC, INCORE_FAILED, "no-space"}, {EPIPE, INCORE_FAILED, "broken-pipe"},
		{EIO, INCORE_FAILED, "io"}};
	struct incore_error e = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		assert_false(err_errno(&e, cases[i].errnum, "p", "cannot open"));
		assert_int_equal(e.status, cases[i].status);
		assert_string_equal(e.code, cases[i].code);
	}
	err_errno(&e, ENOENT, "dir/x", "cannot open");
	check_text(&e, "dir/x: cannot open: No such file or directory");
	incore_error_clear(&e);
}

static void test_error_nobody_cares(void **state)
{
	(void)state;
	assert_false(err_set(NULL, INCORE_USAGE, "x", "y"));
	assert_false(err_file(NULL, "x", "p", 0, "y"));
	assert_false(err_errno(NULL, ENOENT, "p", "y"));
	assert_false(err_wrap(NULL, "y"));
	assert_false(err_nomem(NULL));
	incore_error_clear(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error_chain),
		cmocka_unit_test(test_error_errno),
		cmocka_unit_test(test_error_nobody_cares),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
