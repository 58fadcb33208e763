/* SPDX-License-Identifier: Apache-2.0 */
/* Does the written report take the text of a verb apart as it was meant, whatever the text is? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "serve/report/report.h"

static void expect_block(
	struct str *rest, const char *title, enum report_kind kind, const char *text)
{
	struct report_block b;

	assert_true(report_next_block(rest, &b));
	assert_true(str_is(b.title, title));
	assert_int_equal(b.kind, kind);
	assert_true(str_is(b.text, text));
}

static void test_blocks(void **state)
{
	struct str rest = STR("Bound by memory: 50 % are\nlost to it.\n\n"
			      "kernel   k on gfx950, a name that\n"
			      "         goes on\ncapture  /c\n\n"
			      "Health\n  suspect: a\n  - a: one\n    two\n\n"
			      "Why\n  cause  cycles\n  wait      12\n  note of one line\n\n"
			      "Only a title\n");

	(void)state;
	expect_block(&rest, "", REPORT_PROSE, "Bound by memory: 50 % are\nlost to it.");
	expect_block(&rest, "", REPORT_FACTS,
		"kernel   k on gfx950, a name that\n         goes on\ncapture  /c");
	expect_block(&rest, "Health", REPORT_PROSE, "  suspect: a");
	expect_block(&rest, "", REPORT_LIST, "  - a: one\n    two");
	expect_block(&rest, "Why", REPORT_TABLE, "  cause  cycles\n  wait      12");
	expect_block(&rest, "", REPORT_PROSE, "  note of one line");
	expect_block(&rest, "", REPORT_PROSE, "Only a title");
	assert_false(report_next_block(&rest, &(struct report_block){0}));
}

/* A verdict right above the facts, as the pages of pipes have it. */
static void test_verdict_above_facts(void **state)
{
	struct str rest = STR("latency-bound: MTE2\nholds 57 %\nkernel     m, estimate\n"
			      "health     ok\n  - a: b\n");

	(void)state;
	expect_block(&rest, "", REPORT_PROSE, "latency-bound: MTE2\nholds 57 %");
	expect_block(&rest, "", REPORT_FACTS, "kernel     m, estimate\nhealth     ok");
	expect_block(&rest, "", REPORT_LIST, "  - a: b");
}

static void test_items(void **state)
{
	struct str rest = STR("  * one,\n    more\n    try this\n  - two"), item;

	(void)state;
	assert_true(report_next_item(&rest, &item));
	assert_true(str_is(item, "one,\n    more\n    try this"));
	assert_true(report_next_item(&rest, &item));
	assert_true(str_is(item, "two"));
	assert_false(report_next_item(&rest, &item));
}

static void test_columns(void **state)
{
	struct str table = STR("  row  wait row  instruction\n   11       330  s_waitcnt vmcnt(0)\n"
			       "    2         -");
	struct report_column c[4];
	struct str line = STR("   11       330  s_waitcnt vmcnt(0)");

	(void)state;
	assert_int_equal(report_columns(table, c, 4), 3);
	assert_true(str_is(report_cell(line, &c[0]), "11"));
	assert_true(str_is(report_cell(line, &c[1]), "330"));
	assert_true(str_is(report_cell(line, &c[2]), "s_waitcnt vmcnt(0)"));
	assert_true(str_is(report_cell(STR("    2         -"), &c[2]), ""));
	/* no more columns than there is room for: the last one takes the rest */
	assert_int_equal(report_columns(table, c, 2), 2);
	assert_true(str_is(report_cell(line, &c[1]), "330  s_waitcnt vmcnt(0)"));
	assert_true(report_is_number(STR("1,234.5")));
	assert_false(report_is_number(STR("0x10")));
}

static void test_columns_want_ascii(void **state)
{
	struct str rest = STR("a  b\n\xc2\xb5  2\n");

	(void)state;
	expect_block(&rest, "", REPORT_PLAIN, "a  b\n\xc2\xb5  2");
}

/* Whatever the text: the blocks end, and hold its lines in order. */
static void test_any_text(void **state)
{
	static const char pieces[][8] = {"\n", " ", "  ", "- ", "* ", "K", "kernel ", "a", "try "};
	uint32_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 4000; round++) {
		struct strbuf b = {0};
		struct report_column c[3];
		struct report_block block;
		struct str rest, item;
		size_t seen = 0;
		char *exact;

		for (unsigned i = 0; i < round % 24; i++) {
			seed = seed * 1664525u + 1013904223u;
			sb_puts(&b, pieces[(seed >> 16) % 9]);
		}
		exact = malloc(b.n ? b.n : 1);
		assert_non_null(exact);
		if (b.n)
			memcpy(exact, b.p, b.n);
		rest = (struct str){exact, b.n};
		while (report_next_block(&rest, &block)) {
			struct str items = block.text;

			assert_true(block.title.n + block.text.n > 0);
			seen += block.title.n + block.text.n;
			report_columns(block.text, c, 3);
			while (block.kind == REPORT_LIST && report_next_item(&items, &item))
				assert_true(item.n <= block.text.n);
		}
		assert_true(seen <= b.n);
		free(exact);
		sb_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_verdict_above_facts),
		cmocka_unit_test(test_items),
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_columns_want_ascii),
		cmocka_unit_test(test_any_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
