/* SPDX-License-Identifier: Apache-2.0 */
/* Does the CSV reader give the fields of RFC 4180, and read back what csv_put() writes? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "codec/csv.h"

/* All rows as "field|field/row/" for comparison. */
static bool rows_of(const char *text, size_t n, struct strbuf *out, struct incore_error *e)
{
	char *copy = malloc(n ? n : 1); /* exact: ASan sees an overrun */
	struct csv_reader c;
	bool at_end = false;

	assert_non_null(copy);
	memcpy(copy, text, n);
	csv_init(&c, copy, n, "in.csv");
	while (csv_row(&c, &at_end, e)) {
		for (size_t i = 0; i < c.fields.n; i++) {
			if (i)
				sb_putc(out, '|');
			sb_str(out, c.fields.v[i]);
		}
		sb_putc(out, '/');
	}
	csv_deinit(&c);
	free(copy);
	return at_end;
}

static void test_csv_rows(void **state)
{
	static const struct {
		const char *text, *want;
	} cases[] = {
		{"", ""},
		{"\n\n", ""},
		{"a,b\nc,d\n", "a|b/c|d/"},
		{"a,b\r\nc,d", "a|b/c|d/"},
		{"a,\n,b\n,\n", "a|/|b/|/"},
		{"a\rb,c\n", "a\rb|c/"},
		{"\"a\",\"b,c\"\n", "a|b,c/"},
		{"\"a\"\"b\",\"\"\"\"\n", "a\"b|\"/"},
		{"\"a\"\"\",\"x\"\"y\"\"z\",plain,\"q\"\n\"\"\"\",2\n",
			"a\"|x\"y\"z|plain|q/\"|2/"},
		{"\"two\nlines\",x\n", "two\nlines|x/"},
		{"\"\"\n", "/"},
		{"a\"b,c\n", "a\"b|c/"},
		{"\xef\xbb\xbf"
		 "a,b\n",
			"a|b/"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf b = {0};

		sb_puts(&b, "");
		assert_true(rows_of(cases[i].text, strlen(cases[i].text), &b, NULL));
		assert_string_equal(b.p, cases[i].want);
		sb_free(&b);
	}
}

static void test_csv_errors(void **state)
{
	struct incore_error e = {0};
	struct strbuf b = {0}, wide = {0};

	(void)state;
	assert_false(rows_of("a\nb,\"c\nd", 8, &b, &e));
	assert_string_equal(e.code, "truncated");
	assert_int_equal(e.line, 2);
	assert_int_equal(e.column, 3);
	assert_false(rows_of("\"x\ny\"z,1\n", 9, &b, &e));
	assert_string_equal(e.code, "bad-csv");
	assert_int_equal(e.line, 2);
	assert_int_equal(e.column, 3);
	for (int i = 0; i < CSV_MAX_FIELDS; i++)
		sb_putc(&wide, ',');
	assert_false(rows_of(wide.p, wide.n, &b, &e));
	assert_string_equal(e.code, "bad-csv");
	incore_error_clear(&e);
	sb_free(&b);
	sb_free(&wide);
}

static void test_csv_header(void **state)
{
	static const char text[] = "\"Name\",\"The \"\"x\"\"\",Last\nv,2,3\nw\n";
	struct csv_reader c;
	bool at_end;

	(void)state;
	csv_init(&c, text, sizeof(text) - 1, "in.csv");
	assert_true(csv_header(&c, NULL));
	assert_int_equal(csv_column(&c, "The \"x\""), 1);
	assert_int_equal(csv_column(&c, "no"), -1);
	assert_true(csv_row(&c, &at_end, NULL));
	assert_int_equal(c.line, 2);
	assert_true(str_is(csv_field(&c, csv_column(&c, "Last")), "3"));
	assert_true(csv_row(&c, &at_end, NULL));
	assert_int_equal(c.line, 3);
	assert_int_equal(csv_field(&c, 2).n, 0); /* missing */
	assert_int_equal(csv_field(&c, -1).n, 0);
	assert_int_equal(csv_column(&c, "Name"), 0); /* the header survives the rows */
	assert_false(csv_row(&c, &at_end, NULL));
	assert_true(at_end);
	csv_deinit(&c);
}

static void test_csv_round_trip(void **state)
{
	static const char bytes[] = "ab,\"\r\n ";
	struct strbuf text = {0}, want = {0}, got = {0}, field = {0};
	uint64_t seed = 5;

	(void)state;
	for (int i = 0; i < 500; i++) {
		for (int f = 0; f < 3; f++) {
			sb_reset(&field);
			sb_puts(&field, f ? "" : "x"); /* no line is empty */
			for (uint64_t n = (seed = hash_mix64(seed + 1)) % 6; n > 0; n--)
				sb_putc(&field, bytes[(seed = hash_mix64(seed + 1)) % 7]);
			sb_puts(&want, f ? "|" : "");
			sb_add(&want, field.p, field.n);
			sb_puts(&text, f ? "," : "");
			csv_put(&text, (struct str){field.p, field.n});
		}
		sb_puts(&want, "/");
		sb_puts(&text, "\r\n");
	}
	assert_true(rows_of(text.p, text.n, &got, NULL));
	assert_string_equal(got.p, want.p);
	sb_free(&text);
	sb_free(&want);
	sb_free(&got);
	sb_free(&field);
}

/* What a spreadsheet would run is text with an apostrophe; numbers stay numbers. */
static void test_csv_formulas(void **state)
{
	static const char *const cases[][2] = {{"=1+1", "'=1+1"}, {"@SUM(A1)", "'@SUM(A1)"},
		{"+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"}, {"-1+2", "'-1+2"},
		{"-2,5 \"x\"", "\"'-2,5 \"\"x\"\"\""}, {"-12.5e3", "-12.5e3"}, {"+7", "+7"},
		{"-", "-"}, {"", ""}, {"a=b", "a=b"}, {"v_add_f32 v1, v2", "\"v_add_f32 v1, v2\""}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf b = {0};

		assert_true(csv_put_text(&b, str_of(cases[i][0])));
		assert_string_equal(b.p ? b.p : "", cases[i][1]);
		sb_free(&b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_csv_rows),
		cmocka_unit_test(test_csv_errors),
		cmocka_unit_test(test_csv_header),
		cmocka_unit_test(test_csv_round_trip),
		cmocka_unit_test(test_csv_formulas),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
