/* SPDX-License-Identifier: Apache-2.0 */
/* Does the JSON writer write what our reader and jansson read back as the same? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "codec/json_reader.h"
#include "codec/json_writer.h"

static void write_sample(struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_i64(w, "low", INT64_MIN);
	json_w_kv_u64(w, "high", UINT64_MAX);
	json_w_kv_double(w, "half", 0.5, 3);
	json_w_kv_double(w, "whole", 20, 2);
	json_w_kv_double(w, "nan", (double)NAN, 2);
	json_w_kv_bool(w, "yes", true);
	json_w_kv_null(w, "none");
	json_w_kv_str(w, "text",
		STR("a\"\\\n\x01\xc3\xa9\xff"
		    "z"));
	json_w_kv_cstr(w, "null", NULL);
	json_w_key(w, "empty");
	json_w_array(w);
	json_w_end(w);
	json_w_key(w, "rows");
	json_w_array(w);
	for (int i = 0; i < 2; i++) {
		json_w_row(w);
		json_w_i64(w, i);
		json_w_row_object(w);
		json_w_kv_i64(w, "k", -i);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

static void test_json_writer_compact(void **state)
{
	struct strbuf b = {0};
	struct json_writer w;

	(void)state;
	json_w_buf(&w, &b, 0);
	write_sample(&w);
	assert_true(json_w_finish(&w, NULL));
	assert_string_equal(b.p,
		"{\"low\":-9223372036854775808,\"high\":18446744073709551615,"
		"\"half\":0.5,\"whole\":20,\"nan\":null,\"yes\":true,\"none\":null,"
		"\"text\":\"a\\\"\\\\\\n\\u0001\xc3\xa9\xef\xbf\xbdz\",\"null\":null,"
		"\"empty\":[],\"rows\":[[0,{\"k\":0}],[1,{\"k\":-1}]]}");
	sb_free(&b);
}

static void test_json_writer_indented(void **state)
{
	struct strbuf b = {0};
	struct json_writer w;

	(void)state;
	json_w_buf(&w, &b, 2);
	json_w_object(&w);
	json_w_kv_i64(&w, "a", 1);
	json_w_key(&w, "rows");
	json_w_array(&w);
	json_w_row(&w);
	json_w_i64(&w, 1);
	json_w_i64(&w, 2);
	json_w_end(&w);
	json_w_row_object(&w);
	json_w_kv_bool(&w, "b", false);
	json_w_kv_i64(&w, "c", 3);
	json_w_end(&w);
	json_w_end(&w);
	json_w_key(&w, "none");
	json_w_object(&w);
	json_w_end(&w);
	json_w_end(&w);
	assert_true(json_w_finish(&w, NULL));
	assert_string_equal(b.p, "{\n  \"a\": 1,\n  \"rows\": [\n    [1, 2],\n    {\"b\": false, "
				 "\"c\": 3}\n  ],\n  \"none\": {}\n}\n");
	sb_free(&b);
}

static void test_json_writer_doubles(void **state)
{
	static const struct {
		double v;
		int digits;
		const char *want;
	} cases[] = {{0.5, 1, "0.5"}, {48.5, 3, "48.5"}, {100, 1, "100"}, {-0.0001, 2, "0"},
		{1e-9, 12, "0.000000001"}, {1.0 / 3, 4, "0.3333"}, {2, 0, "2"}, {10, 0, "10"},
		{-12.340, 2, "-12.34"}, {(double)INFINITY, 2, "null"}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct strbuf b = {0};
		struct json_writer w;

		json_w_buf(&w, &b, 0);
		json_w_double(&w, cases[i].v, cases[i].digits);
		assert_true(json_w_finish(&w, NULL));
		assert_string_equal(b.p, cases[i].want);
		sb_free(&b);
	}
}

/* All 256 bytes one by one and in pairs: always valid JSON, valid UTF-8 kept. */
static void test_json_writer_round_trip(void **state)
{
	(void)state;
	for (unsigned i = 1; i < 65536; i++) {
		char raw[2] = {(char)(i >> 8), (char)(i & 0xff)};
		struct strbuf b = {0};
		struct json_writer w;
		struct json_reader r;
		struct str s;

		json_w_buf(&w, &b, 0);
		json_w_array(&w);
		json_w_str(&w, (struct str){raw, 2});
		json_w_end(&w);
		assert_true(json_w_finish(&w, NULL));
		for (unsigned k = 0; k < JSON_PAD; k++)
			sb_putc(&b, 0);
		json_init(&r, b.p, b.n - JSON_PAD, NULL, 0);
		json_enter_array(&r);
		if (raw[0] && raw[1]) { /* the reader refuses \u0000 */
			assert_true(json_get_str(&r, &s));
			if (i >> 8 < 0x80 && (i & 0xff) < 0x80)
				assert_true(str_eq(s, (struct str){raw, 2}));
			assert_false(json_next_item(&r));
			assert_true(json_finish(&r, NULL));
		}
		json_deinit(&r);
		sb_free(&b);
	}
}

static void test_json_writer_misuse(void **state)
{
	struct incore_error e = {0};
	struct strbuf b = {0};
	struct json_writer w;

	(void)state;
	json_w_buf(&w, &b, 0);
	json_w_object(&w);
	assert_false(json_w_finish(&w, &e));
	json_w_key(&w, "a");
	json_w_end(&w); /* a key without a value */
	assert_false(json_w_finish(&w, &e));
	json_w_buf(&w, &b, 0);
	json_w_end(&w);
	assert_false(json_w_finish(&w, &e));
	json_w_buf(&w, &b, 0);
	for (int i = 0; i <= JSON_W_MAX_DEPTH; i++)
		json_w_array(&w);
	assert_true(w.is_failed);
	incore_error_clear(&e);
	sb_free(&b);
}

static void test_json_writer_full_disk(void **state)
{
	FILE *f = fopen("/dev/full", "w");
	struct incore_error e = {0};
	struct json_writer w;

	(void)state;
	if (!f)
		skip();
	setvbuf(f, NULL, _IONBF, 0);
	json_w_file(&w, f, 0);
	json_w_array(&w);
	json_w_end(&w);
	assert_false(json_w_finish(&w, &e));
	assert_int_equal(e.status, INCORE_FAILED);
	incore_error_clear(&e);
	fclose(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_writer_compact),
		cmocka_unit_test(test_json_writer_indented),
		cmocka_unit_test(test_json_writer_doubles),
		cmocka_unit_test(test_json_writer_round_trip),
		cmocka_unit_test(test_json_writer_misuse),
		cmocka_unit_test(test_json_writer_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
