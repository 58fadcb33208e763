/* SPDX-License-Identifier: Apache-2.0 */
/* Do the fast row readers read exactly what the general calls read, in any shape of text? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/hash.h"
#include "codec/json_reader.h"

#define MOST_VALUES 4096

static uint64_t rng_state;

static uint64_t rnd(uint64_t below)
{
	return hash_mix64(rng_state += 0x9e3779b97f4a7c15u) % below;
}

static char *with_pad(const char *p, size_t n)
{
	char *copy = calloc(1, n + JSON_PAD);

	assert_non_null(copy);
	memcpy(copy, p, n);
	return copy;
}

/* The slow truth: rows of n_cols by the general calls. */
static size_t slow_rows(struct json_reader *r, size_t n_cols, int64_t *out)
{
	size_t n = 0;

	while (json_next_item(r)) {
		size_t c = 0;

		for (json_enter_array(r); json_next_item(r); c++) {
			if (c < n_cols)
				json_get_i64(r, &out[n * n_cols + c]);
			else
				json_skip(r);
		}
		if (r->is_failed || c < n_cols)
			break;
		n++;
	}
	return n;
}

static int64_t random_value(unsigned style)
{
	static const int64_t limits[] = {0, 9, 10, 99999999, 100000000, 9999999999999999,
		10000000000000000, INT64_MAX, INT64_MIN, -1};

	if (style == 2 && rnd(8) == 0)
		return limits[rnd(sizeof(limits) / sizeof(limits[0]))];
	if (style == 2)
		return (int64_t)(rnd(UINT64_MAX) >> (1 + rnd(62)));
	return (int64_t)rnd(rnd(3) ? 10 : 10000000);
}

/* style 0: as wave files have them; 1: with white space; 2: any 64-bit value, extra columns. */
static void put_rows(struct strbuf *b, unsigned style, size_t n_cols, size_t n_rows)
{
	const char *gap = style == 1 ? " " : "";

	for (size_t i = 0; i < n_rows; i++) {
		size_t extra = style == 2 && rnd(10) == 0 ? 1 + rnd(3) : 0;

		sb_printf(b, "%s%s[", i ? "," : "", rnd(4) ? gap : "");
		for (size_t c = 0; c < n_cols; c++)
			sb_printf(b, "%s%s%lld", c ? "," : "", gap, (long long)random_value(style));
		while (extra-- > 0)
			sb_puts(b, rnd(2) ? ",[1,\"]\"]" : ",7");
		sb_printf(b, "%s]", gap);
	}
}

/* Rows of five as the importer reads them: the fastest way as far as it goes, then the other. */
static size_t rows5(struct json_reader *r, size_t batch, int64_t *out)
{
	struct json_row5 rows[16];
	size_t n = batch, total = 0;
	bool is_narrow = true;

	while (n == batch || is_narrow) {
		n = json_read_rows5(r, batch, rows);
		is_narrow = n != 0;
		for (size_t i = 0; i < n; i++) {
			int64_t row[5] = {(int64_t)json_row5_first(&rows[i]), rows[i].second,
				rows[i].third, rows[i].fourth, rows[i].fifth};

			memcpy(out + (total + i) * 5, row, sizeof(row));
		}
		if (n && *r->value_at != '[')
			fail_msg("the last row begins at '%c'", *r->value_at);
		if (!is_narrow)
			n = json_read_i64_rows(r, 5, batch, out + total * 5);
		total += n;
	}
	return total;
}

/* The fastest way needs some bytes before the rows. */
static void check_rows5(const char *text, const int64_t *want, size_t n_want, bool is_good)
{
	static int64_t got[MOST_VALUES];
	size_t n = strlen(text);
	char *copy = calloc(1, n + 16 + JSON_PAD);
	struct json_reader r;

	assert_non_null(copy);
	memset(copy, ' ', 16);
	memcpy(copy + 16, text, n);
	json_init(&r, copy, n + 16, "r", 0);
	json_enter_array(&r);
	if (rows5(&r, 1 + rnd(9), got) != n_want ||
		memcmp(got, want, n_want * 5 * sizeof(*got)) != 0 ||
		json_finish(&r, NULL) != is_good)
		fail_msg("rows of five differ: %s", text);
	json_deinit(&r);
	free(copy);
}

static void check_same(const char *text, size_t n_cols, size_t batch)
{
	static int64_t fast[MOST_VALUES], slow[MOST_VALUES];
	char *copy = with_pad(text, strlen(text));
	size_t n_fast = 0, n_slow, n;
	struct json_reader a, b;

	json_init(&a, copy, strlen(text), "a", 0);
	json_init(&b, copy, strlen(text), "b", 0);
	json_enter_array(&a);
	json_enter_array(&b);
	do {
		n = json_read_i64_rows(&a, n_cols, batch, fast + n_fast * n_cols);
		n_fast += n;
	} while (n == batch);
	n_slow = slow_rows(&b, n_cols, slow);
	if (n_fast != n_slow || memcmp(fast, slow, n_fast * n_cols * sizeof(*fast)) != 0)
		fail_msg("%zu rows, want %zu: %s", n_fast, n_slow, text);
	/* a short row is an error to the row reader alone */
	if (!json_finish(&b, NULL) && json_finish(&a, NULL))
		fail_msg("accepted: %s", text);
	else if (!b.is_failed && a.is_failed && strcmp(a.fail_code, "bad-type") != 0)
		fail_msg("refused (%s): %s", a.fail_text, text);
	if (n_cols == 5)
		check_rows5(text, fast, n_fast, json_finish(&a, NULL));
	json_deinit(&a);
	json_deinit(&b);
	free(copy);
}

static void test_json_rows_same_as_slow(void **state)
{
	struct strbuf b = {0};

	(void)state;
	rng_state = 3;
	for (unsigned i = 0; i < 3000; i++) {
		size_t n_cols = 1 + rnd(rnd(3) ? 6 : 20);

		sb_reset(&b);
		sb_puts(&b, i % 2 ? "[" : "  \n     [ ");
		put_rows(&b, i % 3, n_cols, rnd(12));
		sb_puts(&b, i % 2 ? "]" : " ]\n");
		check_same(b.p, n_cols, 1 + rnd(9));
		if (n_cols > 2) /* the same text, fewer columns wanted */
			check_same(b.p, n_cols - 1, 4);
	}
	sb_free(&b);
}

static void test_json_rows_mutants(void **state)
{
	static const char bytes[] = "[],0019-.e \"x{}";
	struct strbuf b = {0};

	(void)state;
	rng_state = 4;
	for (unsigned i = 0; i < 20000; i++) {
		size_t n_cols = rnd(2) ? 5 : 2;

		sb_reset(&b);
		sb_puts(&b, "       [");
		put_rows(&b, 0, n_cols, 1 + rnd(6));
		sb_puts(&b, "]");
		b.p[8 + rnd(b.n - 8)] = bytes[rnd(sizeof(bytes) - 1)];
		if (rnd(4) == 0)
			b.p[8 + rnd(b.n - 8)] = 0; /* cut */
		check_same(b.p, n_cols, 1 + rnd(9));
	}
	sb_free(&b);
}

static void test_json_rows_errors(void **state)
{
	static const struct {
		const char *text, *code, *message;
		uint32_t column;
	} cases[] = {
		{"[[1,2,3,4,5],[1,2,3]]", "bad-type", "expected a row of 5 integers, found 3", 14},
		{"[[1,2,3,4,5],[1,2,\"3\",4,5]]", "bad-type", "expected an integer, found a string",
			19},
		{"[[1,2,3,4,5],[1,2,3,4,05]]", "bad-json", "a number may not begin with 0", 23},
		{"[[1,2,3,4,5],[1,,3,4,5]]", "bad-json", "expected an integer, found ','", 17},
		{"[[1,2,3,4,5] [1,2,3,4,5]]", "bad-json",
			"expected ',' or the end of the container, found an array", 14},
		{"[[1,2,3,4,5],[1,2,3,4,5],]", "bad-json", "nothing follows the ','", 26},
		{"[[1,2,3,4,5],7]", "bad-type", "expected an array, found a number", 14},
		{"[[1,2,3,4,5],[1,2,3,4,99999999999999999999]]", "out-of-range",
			"the number does not fit 64 bits with sign", 23},
		{"[[1,2,3,4,5],[1,2,3,4.5,5]]", "bad-type",
			"expected an integer, found a fraction or exponent", 21},
		{"[[1,2,3,4,5],[1,2,3,4,5]", "truncated", "input ends inside an array or object",
			25},
		{"[[1,2,3,4,5],[1,2,3,4,5", "truncated", "input ends inside an array or object",
			24},
		{"[[1,2,3,4,5],[1,2,3,4,5}]", "bad-json",
			"expected ',' or the end of the container, found the end of the object",
			24},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct incore_error e = {0};
		struct json_reader r;
		int64_t out[25];
		char *copy = with_pad(cases[i].text, strlen(cases[i].text));

		json_init(&r, copy, strlen(cases[i].text), "rows", 0);
		json_enter_array(&r);
		json_read_i64_rows(&r, 5, 5, out);
		assert_false(json_finish(&r, &e));
		if (strcmp(e.code, cases[i].code) != 0 ||
			strcmp(e.message, cases[i].message) != 0 || e.column != cases[i].column)
			fail_msg("%s: got %s, %s, column %u", cases[i].text, e.code, e.message,
				e.column);
		incore_error_clear(&e);
		json_deinit(&r);
		free(copy);
	}
}

static void test_json_rows_then_more(void **state)
{
	static const char text[] = "{\"rows\":[[1,2],[3,4],[5,6]],\"flat\":[7,-8, 9,10000000000]}";
	char *copy = with_pad(text, strlen(text));
	struct json_reader r;
	int64_t out[8];
	struct str key;

	(void)state;
	json_init(&r, copy, strlen(text), NULL, 0);
	json_enter_object(&r);
	assert_true(json_next_key(&r, &key));
	json_enter_array(&r);
	assert_int_equal(json_read_i64_rows(&r, 2, 2, out), 2);
	assert_int_equal(json_read_i64_rows(&r, 2, 1, out), 1);
	assert_true(out[0] == 5 && out[1] == 6);
	assert_int_equal(json_read_i64_rows(&r, 2, 1, out), 0);
	assert_true(json_next_key(&r, &key));
	assert_true(str_is(key, "flat"));
	json_enter_array(&r);
	assert_int_equal(json_read_i64s(&r, 3, out), 3);
	assert_true(out[0] == 7 && out[1] == -8 && out[2] == 9);
	assert_int_equal(json_read_i64s(&r, 3, out), 1);
	assert_true(out[0] == 10000000000);
	assert_false(json_next_key(&r, &key));
	assert_true(json_finish(&r, NULL));
	json_deinit(&r);
	free(copy);
}

static void test_json_rows_reject_place(void **state)
{
	static const char text[] = "[[1,2,3,4,5],[6,7,8,9,10]]";
	char *copy = with_pad(text, strlen(text));
	struct incore_error e = {0};
	struct json_reader r;
	int64_t out[10];

	(void)state;
	json_init(&r, copy, strlen(text), NULL, 0);
	json_enter_array(&r);
	assert_int_equal(json_read_i64_rows(&r, 5, 2, out), 2);
	json_reject(&r, "bad-value", "no");
	json_fail(&r, &e);
	assert_int_equal(e.column, 14);
	incore_error_clear(&e);
	json_deinit(&r);
	free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_rows_same_as_slow),
		cmocka_unit_test(test_json_rows_mutants),
		cmocka_unit_test(test_json_rows_errors),
		cmocka_unit_test(test_json_rows_then_more),
		cmocka_unit_test(test_json_rows_reject_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
