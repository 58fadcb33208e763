/* SPDX-License-Identifier: Apache-2.0 */
/* Does the JSON reader give exact values, and say exactly where a document is wrong? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "codec/json_reader.h"

/* A reader over an exact copy with JSON_PAD bytes behind it, so that ASan sees every overrun. */
struct text {
	struct json_reader r;
	char *copy;
};

static struct json_reader *open_text_n(struct text *t, const char *s, size_t n, unsigned flags)
{
	t->copy = calloc(1, n + JSON_PAD);
	assert_non_null(t->copy);
	memcpy(t->copy, s, n);
	json_init(&t->r, t->copy, n, "in.json", flags);
	return &t->r;
}

static struct json_reader *open_text(struct text *t, const char *s, unsigned flags)
{
	return open_text_n(t, s, strlen(s), flags);
}

static void close_text(struct text *t)
{
	json_deinit(&t->r);
	free(t->copy);
}

/* Reads any value whole, with the typed calls. */
static void walk(struct json_reader *r)
{
	struct str s;
	double d;
	bool b;

	switch (json_peek(r)) {
	case JSON_OBJECT:
		for (json_enter_object(r); json_next_key(r, &s);)
			walk(r);
		break;
	case JSON_ARRAY:
		for (json_enter_array(r); json_next_item(r);)
			walk(r);
		break;
	case JSON_STRING:
		json_get_str(r, &s);
		break;
	case JSON_NUMBER:
		json_get_double(r, &d);
		break;
	case JSON_BOOL:
		json_get_bool(r, &b);
		break;
	case JSON_NULL:
		json_get_null(r);
		break;
	case JSON_INVALID:
		json_skip(r); /* makes the error */
		break;
	}
}

struct bad_case {
	const char *text, *code;
	uint32_t line, column;
};

static void test_json_reader_bad(void **state)
{
	static const struct bad_case cases[] = {
		{"", "truncated", 1, 1},
		{"  \n ", "truncated", 2, 2},
		{"[1,2", "truncated", 1, 5},
		{"[1,", "truncated", 1, 4},
		{"{\"a\"", "truncated", 1, 5},
		{"{\"a\":", "truncated", 1, 6},
		{"\"abc", "truncated", 1, 5},
		{"\"a\\", "truncated", 1, 4},
		{"\"\\u12", "truncated", 1, 6},
		{"\"\\ud800\\u", "truncated", 1, 10},
		{"tru", "truncated", 1, 4},
		{"-", "truncated", 1, 2},
		{"1.", "truncated", 1, 3},
		{"1e+", "truncated", 1, 4},
		{"[1,]", "bad-json", 1, 4},
		{"{\"a\":1,}", "bad-json", 1, 8},
		{"[1 2]", "bad-json", 1, 4},
		{"[1\n,,2]", "bad-json", 2, 2},
		{"{\"a\" 1}", "bad-json", 1, 6},
		{"{1:2}", "bad-json", 1, 2},
		{"{\"a\":}", "bad-json", 1, 6},
		{"[1}", "bad-json", 1, 3},
		{"{\"a\":1]", "bad-json", 1, 7},
		{"[}", "bad-json", 1, 2},
		{"{]", "bad-json", 1, 2},
		{"01", "bad-json", 1, 1},
		{"-01", "bad-json", 1, 2},
		{"+1", "bad-json", 1, 1},
		{".5", "bad-json", 1, 1},
		{"1.e5", "bad-json", 1, 3},
		{"1e", "truncated", 1, 3},
		{"[1e]", "bad-json", 1, 4},
		{"[-]", "bad-json", 1, 3},
		{"nul]", "bad-json", 1, 1},
		{"True", "bad-json", 1, 1},
		{"NaN", "bad-json", 1, 1},
		{"'a'", "bad-json", 1, 1},
		{"\"a\nb\"", "bad-json", 1, 3},
		{"\"\\x\"", "bad-json", 1, 2},
		{"\"\\u12g4\"", "bad-json", 1, 2},
		{"\"\\u0000\"", "bad-json", 1, 2},
		{"\"\\udc00\"", "bad-json", 1, 2},
		{"\"\\ud800\"", "bad-json", 1, 2},
		{"\"\\ud800\\u0041\"", "bad-json", 1, 2},
		{"1 2", "bad-json", 1, 3},
		{"{}}", "bad-json", 1, 3},
		{"1e400", "out-of-range", 1, 1},
		{"\xef\xbb\xbf[]", "bad-json", 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct bad_case *c = &cases[i];
		struct incore_error e = {0};
		struct text t;

		walk(open_text(&t, c->text, 0));
		if (json_finish(&t.r, &e) || strcmp(e.code, c->code) != 0 || e.line != c->line ||
			e.column != c->column)
			fail_msg("%s: got %s at %u:%u, want %s at %u:%u", c->text,
				e.code ? e.code : "success", e.line, e.column, c->code, c->line,
				c->column);
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		assert_string_equal(e.path, "in.json");
		incore_error_clear(&e);
		close_text(&t);
	}
}

static void test_json_reader_error_text(void **state)
{
	struct incore_error e = {0};
	struct strbuf b = {0};
	struct text t;
	int64_t v;

	(void)state;
	json_enter_array(open_text(&t, "[\n  \"x\"]", 0));
	assert_false(json_get_i64(&t.r, &v));
	assert_false(json_get_i64(&t.r, &v)); /* sticky */
	assert_false(json_finish(&t.r, &e));
	err_format(&e, &b);
	assert_string_equal(b.p, "in.json:2:3: expected an integer, found a string");
	assert_string_equal(e.code, "bad-type");
	assert_int_equal(e.offset, 4);
	sb_free(&b);
	incore_error_clear(&e);
	close_text(&t);
}

static void test_json_reader_integers(void **state)
{
	struct text t;
	uint64_t u;
	uint32_t w;
	int64_t v;

	(void)state;
	json_enter_array(open_text(&t,
		"[9223372036854775807,-9223372036854775808, 0 ,-0,18446744073709551615,4294967295]",
		0));
	assert_true(json_get_i64(&t.r, &v));
	assert_true(v == INT64_MAX);
	assert_true(json_get_i64(&t.r, &v));
	assert_true(v == INT64_MIN);
	assert_true(json_get_i64(&t.r, &v));
	assert_true(v == 0);
	assert_true(json_get_i64(&t.r, &v));
	assert_true(v == 0);
	assert_true(json_get_u64(&t.r, &u));
	assert_true(u == UINT64_MAX);
	assert_true(json_get_u32(&t.r, &w));
	assert_true(w == UINT32_MAX);
	assert_false(json_next_item(&t.r));
	assert_true(json_finish(&t.r, NULL));
	close_text(&t);
}

static bool reads_i64(const char *text, const char **code)
{
	struct text t;
	int64_t v;
	bool ok = json_get_i64(open_text(&t, text, 0), &v);

	*code = t.r.fail_code;
	close_text(&t);
	return ok;
}

static void test_json_reader_integer_limits(void **state)
{
	const char *code;
	struct text t;
	uint64_t u = 7;
	uint32_t w = 7;

	(void)state;
	assert_false(reads_i64("9223372036854775808", &code));
	assert_string_equal(code, "out-of-range");
	assert_false(reads_i64("-9223372036854775809", &code));
	assert_string_equal(code, "out-of-range");
	assert_false(reads_i64("100000000000000000000000000000000", &code));
	assert_string_equal(code, "out-of-range");
	assert_false(reads_i64("1.0", &code));
	assert_string_equal(code, "bad-type");
	assert_false(reads_i64("1e3", &code));
	assert_string_equal(code, "bad-type");
	assert_false(json_get_u64(open_text(&t, "-1", 0), &u));
	assert_string_equal(t.r.fail_code, "out-of-range");
	close_text(&t);
	assert_false(json_get_u64(open_text(&t, "18446744073709551616", 0), &u));
	close_text(&t);
	assert_false(json_get_u32(open_text(&t, "4294967296", 0), &w));
	close_text(&t);
	assert_true(u == 7 && w == 7); /* outputs untouched */
}

#define ZEROS "00000000000000000000000000000000000000000000000000"

static void test_json_reader_doubles(void **state)
{
	static const char *const texts[] = {"0", "-0.0", "1.5", "0.1", "1e22", "1e23",
		"123456789.5e-3", "2.2250738585072011e-308", "4.9e-324", "1e-400",
		"1.7976931348623157e308", "9007199254740993", "0.30000000000000004",
		"179769313486231580793728971405301e276", "1" ZEROS ZEROS ZEROS ".5"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		double got = 0, want = strtod(texts[i], NULL);
		struct text t;

		assert_true(json_get_double(open_text(&t, texts[i], 0), &got));
		if (memcmp(&got, &want, sizeof(got)) != 0)
			fail_msg("%s: got %.17g, want %.17g", texts[i], got, want);
		close_text(&t);
	}
}

static void test_json_reader_strings(void **state)
{
	struct text t;
	struct str s;

	(void)state;
	json_enter_array(open_text(&t,
		"[\"plain\",\"\",\"a\\\"\\\\\\/"
		"\\b\\f\\n\\r\\tz\",\"\\u0041\\u00e9\\u20ac\\ud83d\\ude00\","
		"null]",
		0));
	assert_true(json_get_str(&t.r, &s));
	assert_true(str_is(s, "plain"));
	assert_ptr_equal(s.p, t.copy + 2); /* borrowed */
	assert_true(json_get_str(&t.r, &s));
	assert_int_equal(s.n, 0);
	assert_true(json_get_str(&t.r, &s));
	assert_true(str_is(s, "a\"\\/\b\f\n\r\tz"));
	assert_true(json_get_str(&t.r, &s));
	assert_true(str_is(s, "A\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"));
	assert_true(json_get_str_or_null(&t.r, &s));
	assert_null(s.p);
	assert_false(json_next_item(&t.r));
	assert_true(json_finish(&t.r, NULL));
	close_text(&t);
}

static void test_json_reader_null_containers(void **state)
{
	struct text t;
	struct str key;

	(void)state;
	json_enter_array(open_text(&t, "[null, null, {\"k\":[]}]", 0));
	assert_false(json_enter_array_or_null(&t.r));
	assert_false(json_enter_object_or_null(&t.r));
	assert_false(t.r.is_failed);
	assert_true(json_enter_object_or_null(&t.r));
	assert_true(json_next_key(&t.r, &key));
	assert_true(json_enter_array_or_null(&t.r));
	assert_false(json_next_item(&t.r));
	assert_false(json_next_key(&t.r, &key));
	assert_false(json_next_item(&t.r));
	assert_true(json_finish(&t.r, NULL));
	close_text(&t);
}

static void test_json_reader_depth(void **state)
{
	char deep[2 * JSON_MAX_DEPTH + 4];
	struct text t;

	(void)state;
	for (int use_skip = 0; use_skip < 2; use_skip++) {
		for (size_t n = JSON_MAX_DEPTH; n <= JSON_MAX_DEPTH + 1; n++) {
			memset(deep, '[', n);
			memset(deep + n, ']', n);
			open_text_n(&t, deep, 2 * n, 0);
			if (use_skip)
				json_skip(&t.r);
			else
				walk(&t.r);
			assert_int_equal(json_finish(&t.r, NULL), n == JSON_MAX_DEPTH);
			if (n > JSON_MAX_DEPTH)
				assert_string_equal(t.r.fail_code, "too-deep");
			close_text(&t);
		}
	}
}

static void test_json_reader_skip(void **state)
{
	static const struct bad_case cases[] = {
		{"{\"a\":[1,{\"b\":\"]}\\\"\"}],\"c\":null}", NULL, 0, 0},
		{"\"a string \\u0041 that is somewhat longer than a vector\"", NULL, 0, 0},
		{" -1.5e3 ", NULL, 0, 0},
		{"true", NULL, 0, 0},
		{"[[]", "truncated", 1, 4},
		{"[\"]", "truncated", 1, 4},
		{"[[}]", "bad-json", 1, 3},
		{"{\"a\":[}", "bad-json", 1, 7},
		{"[\"a\tb\"]", "bad-json", 1, 4},
		{"01", "bad-json", 1, 1},
		{"]", "bad-type", 1, 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct bad_case *c = &cases[i];
		struct incore_error e = {0};
		struct text t;
		bool ok;

		json_skip(open_text(&t, c->text, 0));
		ok = json_finish(&t.r, &e);
		if (ok != !c->code || (!ok && (strcmp(e.code, c->code) != 0 || e.line != c->line ||
						      e.column != c->column)))
			fail_msg("%s: got %s at %u:%u", c->text, ok ? "success" : e.code, e.line,
				e.column);
		incore_error_clear(&e);
		close_text(&t);
	}
}

static void test_json_reader_tolerant(void **state)
{
	static const char *const texts[] = {"[1,2,]", "[1,2", "[1,2,", "[1,2,\n ", "{\"a\":1,}",
		"{\"a\":[{\"b\":1},", "{\"a\":[{\"b\":1}", "\"tab\there\"", "\xef\xbb\xbf[1]",
		"[]"};
	static const char *const still_bad[] = {
		"[1,,2]", "{\"a\":", "[\"a", "[1}", "[tru", "[1 2]"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct text t;

		walk(open_text(&t, texts[i], JSON_TOLERANT));
		if (!json_finish(&t.r, NULL))
			fail_msg("%s: %s", texts[i], t.r.fail_text);
		assert_int_equal(t.r.depth, 0);
		close_text(&t);
	}
	for (size_t i = 0; i < sizeof(still_bad) / sizeof(still_bad[0]); i++) {
		struct text t;

		walk(open_text(&t, still_bad[i], JSON_TOLERANT));
		if (json_finish(&t.r, NULL))
			fail_msg("%s was accepted", still_bad[i]);
		close_text(&t);
	}
}

static void test_json_reader_once_and_reject(void **state)
{
	struct incore_error e = {0};
	uint64_t seen = 0;
	struct text t;
	struct str key;
	int64_t v;

	(void)state;
	for (json_enter_object(open_text(&t, "{\"a\":1,\n \"a\":2}", 0));
		json_next_key(&t.r, &key);)
		if (json_once(&t.r, &seen, 0, key))
			json_skip(&t.r);
	assert_false(json_finish(&t.r, &e));
	assert_string_equal(e.code, "duplicate-key");
	assert_string_equal(e.message, "the key 'a' is there twice");
	assert_int_equal(e.line, 2);
	assert_int_equal(e.column, 2);
	incore_error_clear(&e);
	close_text(&t);

	json_enter_array(open_text(&t, "[ 1, -5 ]", 0));
	json_get_i64(&t.r, &v);
	json_get_i64(&t.r, &v);
	assert_false(json_reject(&t.r, "bad-value", "%d is negative", (int)v));
	assert_false(json_finish(&t.r, &e));
	assert_string_equal(e.message, "-5 is negative");
	assert_int_equal(e.column, 6);
	incore_error_clear(&e);
	close_text(&t);
}

static void test_json_reader_short_tuple(void **state)
{
	struct text t;
	int64_t v;

	(void)state;
	json_enter_array(open_text(&t, "[1]", 0));
	assert_true(json_get_i64(&t.r, &v));
	assert_false(json_get_i64(&t.r, &v));
	assert_string_equal(t.r.fail_code, "bad-type");
	assert_string_equal(t.r.fail_text, "expected an integer, found the end of the array");
	close_text(&t);
}

/* Nested arrays long enough for the wide path, cut and damaged at every byte: the wide and the
 * narrow path must agree on where a value ends, and on what is wrong. */
static void test_json_reader_skip_windows(void **state)
{
	static char text[600 + JSON_PAD];
	unsigned seed = 11;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		unsigned depth = 0, n = 0;
		struct json_reader r;
		uint64_t want;

		memset(text, 0, sizeof(text));
		do { /* a random walk that ends when the first bracket is closed */
			unsigned dice = (unsigned)rand_r(&seed) % 8;
			bool is_close = depth && (n > 400 || (dice < 3 && (depth > 1 || n > 200)));

			if (is_close)
				depth--;
			else if (n == 0 || dice == 3)
				depth++;
			text[n] = is_close		? ']'
				  : n == 0 || dice == 3 ? '['
							: "0123456789,,,,,,"[rand_r(&seed) % 16];
			n++;
		} while (depth);
		want = n;
		memcpy(text + n, ",7]", 3);
		json_init(&r, text, n + 3, NULL, 0);
		assert_true(json_skip(&r));
		assert_int_equal(json_offset(&r), want);
		json_deinit(&r);
		json_init(&r, text, (size_t)(rand_r(&seed) % (int)n), NULL, 0); /* cut */
		assert_false(json_skip(&r));
		json_deinit(&r);
		text[n - 1] = '}'; /* wrong kind */
		json_init(&r, text, n + 3, NULL, 0);
		assert_false(json_skip(&r));
		json_deinit(&r);
	}
}

/* What is plain the reader takes, too, and to the same byte. */
static void test_json_reader_plain(void **state)
{
	static const char *const seeds[] = {"\"a string of plain text, beyond sixteen bytes\"",
		"\"a\\n\\\"b\\/\"", "\"\"", "\"\xc3\xa4\"", "0", "-12.50",
		"123456789012345678901234567890.5",
		/* not plain */
		"1e5", "-", "01", "1.", "\"\\u0041\"", "true"};
	static const char bytes[] = "\"\\/bux019.-eE,\n\x01\x80 ";
	const size_t n_plain_seeds = 7;
	char text[80 + JSON_PAD];
	unsigned seed = 5, n_plain = 0;

	(void)state;
	for (unsigned round = 0; round < 26000; round++) {
		size_t k = round % (sizeof(seeds) / sizeof(*seeds)), n = strlen(seeds[k]);
		const char *end;
		struct json_reader r;

		memset(text, 0, sizeof(text));
		memcpy(text, seeds[k], n);
		text[n] = ',';
		if (round >= 26)
			text[(unsigned)rand_r(&seed) % n] =
				bytes[(unsigned)rand_r(&seed) % (sizeof(bytes) - 1)];
		end = json_plain_value(text, text + n + 1);
		if (round < 26)
			assert_int_equal(end != NULL, k < n_plain_seeds);
		if (!end)
			continue;
		n_plain++;
		json_init(&r, text, (size_t)(end - text), NULL, 0);
		assert_true(json_skip(&r) && json_finish(&r, NULL));
		json_deinit(&r);
		assert_null(json_plain_value(text, end - 1)); /* cut */
	}
	assert_true(n_plain > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_reader_plain),
		cmocka_unit_test(test_json_reader_skip_windows),
		cmocka_unit_test(test_json_reader_bad),
		cmocka_unit_test(test_json_reader_error_text),
		cmocka_unit_test(test_json_reader_integers),
		cmocka_unit_test(test_json_reader_integer_limits),
		cmocka_unit_test(test_json_reader_doubles),
		cmocka_unit_test(test_json_reader_strings),
		cmocka_unit_test(test_json_reader_null_containers),
		cmocka_unit_test(test_json_reader_depth),
		cmocka_unit_test(test_json_reader_skip),
		cmocka_unit_test(test_json_reader_tolerant),
		cmocka_unit_test(test_json_reader_once_and_reject),
		cmocka_unit_test(test_json_reader_short_tuple),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
