/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does the JSON reader accept what jansson accepts, with the same values? On generated documents,
 * and on the same ones with bytes changed, added, removed and cut. Known differences: jansson
 * refuses invalid UTF-8, our reader does not look; jansson keeps the last of two equal keys.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Both sides call their types JSON_NULL and so on: theirs get another name. */
#define JSON_OBJECT JANSSON_OBJECT
#define JSON_ARRAY JANSSON_ARRAY
#define JSON_STRING JANSSON_STRING
#define JSON_INTEGER JANSSON_INTEGER
#define JSON_NULL JANSSON_NULL
#include <jansson.h>
#undef JSON_OBJECT
#undef JSON_ARRAY
#undef JSON_STRING
#undef JSON_INTEGER
#undef JSON_NULL

#include "base/hash.h"
#include "base/str.h"
#include "codec/json_reader.h"

#define N_DOCUMENTS 5000
#define N_MUTANTS 30

static uint64_t rng_state;

static uint64_t rnd(uint64_t below)
{
	return hash_mix64(rng_state += 0x9e3779b97f4a7c15u) % below;
}

static void put_space(struct strbuf *b)
{
	while (rnd(6) == 0)
		sb_putc(b, " \t\n\r"[rnd(4)]);
}

static void put_number(struct strbuf *b)
{
	static const char *const special[] = {"9223372036854775807", "-9223372036854775808",
		"9223372036854775808", "-9223372036854775809", "0", "-0", "0.0", "1e308", "1e-320",
		"1.7976931348623157e308", "123456789012345678", "9007199254740993.0", "1E5",
		"1e+2"};

	switch (rnd(5)) {
	case 0:
		sb_puts(b, special[rnd(sizeof(special) / sizeof(special[0]))]);
		break;
	case 1:
		sb_printf(b, "%lld", (long long)(hash_mix64(rnd(UINT64_MAX)) >> rnd(64)));
		break;
	case 2:
		sb_printf(b, "%.*g", (int)rnd(18) + 1,
			(double)(int64_t)rnd(UINT64_MAX) / (double)(rnd(UINT64_MAX) + 1));
		break;
	case 3:
		sb_printf(b, "%.17e", (double)rnd(UINT64_MAX) * (rnd(2) ? 1e-200 : 1e150));
		break;
	default:
		sb_printf(b, "%u", (unsigned)rnd(2000));
	}
}

static void put_text(struct strbuf *b)
{
	static const char *const parts[] = {"a", "key", " ", "\\n", "\\\"", "\\\\", "\\/",
		"\\u0041", "\\u20ac", "\\ud83d\\ude00", "\xc3\xa9", "\xf0\x9f\x98\x80", "[", "}",
		",", "\x7f", "a longer run of plain characters in a row"};

	sb_putc(b, '"');
	for (uint64_t n = rnd(6); n > 0; n--)
		sb_puts(b, parts[rnd(sizeof(parts) / sizeof(parts[0]))]);
	sb_putc(b, '"');
}

static void put_value(struct strbuf *b, unsigned depth)
{
	static const char *const words[] = {"true", "false", "null"};
	uint64_t n, kind = rnd(depth > 5 ? 4 : 8);

	put_space(b);
	if (kind < 2) {
		put_number(b);
	} else if (kind == 2) {
		put_text(b);
	} else if (kind == 3) {
		sb_puts(b, words[rnd(3)]);
	} else if (kind < 6) {
		sb_putc(b, '[');
		for (n = rnd(5); n > 0; n--) {
			put_value(b, depth + 1);
			if (n > 1)
				sb_putc(b, ',');
		}
		put_space(b);
		sb_putc(b, ']');
	} else {
		sb_putc(b, '{');
		for (n = rnd(5); n > 0; n--) {
			put_space(b);
			sb_printf(b, "\"%u", (unsigned)n); /* unique */
			sb_puts(b, rnd(3) ? "\"" : "\\t\"");
			put_space(b);
			sb_putc(b, ':');
			put_value(b, depth + 1);
			if (n > 1)
				sb_putc(b, ',');
		}
		put_space(b);
		sb_putc(b, '}');
	}
	put_space(b);
}

/* One change of a kind that tends to leave the document almost right. */
static void mutate(struct strbuf *b)
{
	static const char bytes[] = "[]{},:\"\\0123456789.eE+-tfnu \n\t\x01\xff";
	size_t at = b->n ? rnd(b->n) : 0;
	char c = bytes[rnd(sizeof(bytes) - 1)];

	if (b->n == 0)
		return;
	switch (rnd(4)) {
	case 0:
		b->p[at] = c;
		break;
	case 1:
		memmove(b->p + at, b->p + at + 1, b->n - at);
		b->n--;
		break;
	case 2:
		sb_putc(b, ' ');
		memmove(b->p + at + 1, b->p + at, b->n - at - 1);
		b->p[at] = c;
		break;
	default:
		b->n = at;
	}
	b->p[b->n] = 0;
}

/* Reads the value at r and compares it with want (NULL: nothing to compare with). */
static bool compare(struct json_reader *r, const json_t *want);

static bool compare_number(struct json_reader *r, const json_t *want)
{
	const char *p = r->p;
	bool is_real;
	int64_t i;
	double d;

	while (p < r->end && strchr("-0123456789", *p) && *p)
		p++;
	is_real = p < r->end && (*p == '.' || *p == 'e' || *p == 'E');
	if (is_real)
		return json_get_double(r, &d) &&
		       (!want || (json_typeof(want) == JSON_REAL && json_real_value(want) == d));
	return json_get_i64(r, &i) &&
	       (!want || (json_typeof(want) == JANSSON_INTEGER && json_integer_value(want) == i));
}

static bool compare_object(struct json_reader *r, const json_t *want)
{
	struct str key;
	size_t n = 0;

	if (want && json_typeof(want) != JANSSON_OBJECT)
		return false;
	for (json_enter_object(r); json_next_key(r, &key); n++) {
		char *name = strndup(key.p, key.n);
		const json_t *v = want ? json_object_get(want, name) : NULL;

		free(name);
		if ((want && !v) || !compare(r, v))
			return false;
	}
	return !r->is_failed && (!want || json_object_size(want) == n);
}

static bool compare_array(struct json_reader *r, const json_t *want)
{
	size_t n = 0;

	if (want && json_typeof(want) != JANSSON_ARRAY)
		return false;
	for (json_enter_array(r); json_next_item(r); n++)
		if (!compare(r, want ? json_array_get(want, n) : NULL))
			return false;
	return !r->is_failed && (!want || json_array_size(want) == n);
}

static bool compare(struct json_reader *r, const json_t *want)
{
	struct str s;
	bool b;

	switch (json_peek(r)) {
	case JSON_OBJECT:
		return compare_object(r, want);
	case JSON_ARRAY:
		return compare_array(r, want);
	case JSON_STRING:
		return json_get_str(r, &s) &&
		       (!want || (json_typeof(want) == JANSSON_STRING &&
					 json_string_length(want) == s.n &&
					 memcmp(json_string_value(want), s.p, s.n) == 0));
	case JSON_NUMBER:
		return compare_number(r, want);
	case JSON_BOOL:
		return json_get_bool(r, &b) &&
		       (!want || json_typeof(want) == (b ? JSON_TRUE : JSON_FALSE));
	case JSON_NULL:
		return json_get_null(r) && (!want || json_typeof(want) == JANSSON_NULL);
	case JSON_INVALID:
		break;
	}
	return json_skip(r); /* makes the error */
}

/* What stands behind the input must not matter. */
static char *with_pad(const char *p, size_t n)
{
	char *copy = malloc(n + JSON_PAD);

	assert_non_null(copy);
	memcpy(copy, p, n);
	memset(copy + n, "\0\0 ,e.-\xff"[rnd(8)], JSON_PAD);
	return copy;
}

static bool we_skip(const char *p, size_t n)
{
	struct json_reader r;
	bool ok;

	json_init(&r, p, n, NULL, 0);
	ok = json_skip(&r) && json_finish(&r, NULL);
	json_deinit(&r);
	return ok;
}

/* Returns whether the document is good. */
static bool check_document(const char *p, size_t n)
{
	json_error_t err;
	json_t *want = json_loadb(p, n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &err);
	bool is_good = want != NULL, can_compare = true, same, ok;
	char *copy = with_pad(p, n);
	struct json_reader r;

	if (!want && json_error_code(&err) == json_error_invalid_utf8)
		can_compare = false;
	if (!want && json_error_code(&err) == json_error_duplicate_key) {
		json_t *loose = json_loadb(p, n, JSON_DECODE_ANY, &err);

		is_good = loose != NULL;
		json_decref(loose);
	}
	json_init(&r, copy, n, "doc", 0);
	same = compare(&r, want);
	ok = json_finish(&r, NULL);
	if (can_compare && (ok != is_good || (is_good && !same)))
		fail_msg("jansson %s, we %s (%s): %.*s", is_good ? "accepts" : err.text,
			ok ? "accept" : "refuse", r.is_failed ? r.fail_text : "other value", (int)n,
			p);
	if (is_good && can_compare && !we_skip(copy, n))
		fail_msg("not skipped: %.*s", (int)n, p);
	if (!is_good)
		we_skip(copy, n); /* must only be safe */
	json_deinit(&r);
	json_decref(want);
	free(copy);
	return is_good;
}

static void test_json_diff_generated(void **state)
{
	struct strbuf doc = {0}, mutant = {0};
	unsigned good = 0, bad = 0;

	(void)state;
	rng_state = 1;
	for (unsigned i = 0; i < N_DOCUMENTS; i++) {
		sb_reset(&doc);
		put_value(&doc, 0);
		check_document(doc.p, doc.n);
		for (unsigned k = 0; k < N_MUTANTS; k++) {
			sb_reset(&mutant);
			sb_add(&mutant, doc.p, doc.n);
			for (uint64_t m = 1 + rnd(2); m > 0; m--)
				mutate(&mutant);
			if (check_document(mutant.p, mutant.n))
				good++;
			else
				bad++;
		}
	}
	assert_true(good > 1000 && bad > 1000); /* the generator must make both kinds */
	sb_free(&doc);
	sb_free(&mutant);
}

/* Every cut of a good array or object is refused as cut, nothing else. */
static void test_json_diff_cut(void **state)
{
	struct strbuf doc = {0};

	(void)state;
	rng_state = 2;
	for (unsigned i = 0; i < 300; i++) {
		sb_reset(&doc);
		sb_puts(&doc, "[\"\\ud83d\\ude00\",");
		put_value(&doc, 0);
		sb_putc(&doc, ']');
		if (!check_document(doc.p, doc.n)) /* a number out of range */
			continue;
		for (size_t n = 0; n < doc.n; n++) {
			char *copy = with_pad(doc.p, n);
			struct json_reader r;

			json_init(&r, copy, n, NULL, 0);
			compare(&r, NULL);
			json_finish(&r, NULL);
			if (!r.is_failed || strcmp(r.fail_code, "truncated") != 0)
				fail_msg("%s for the first %zu bytes of %s",
					r.is_failed ? r.fail_code : "success", n, doc.p);
			json_deinit(&r);
			free(copy);
		}
	}
	sb_free(&doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_diff_generated),
		cmocka_unit_test(test_json_diff_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
