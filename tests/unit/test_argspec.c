/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments: what a spec says, what it may not say, and the bits of its values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "args/spec.h"
#include "base/file.h"

static bool read_spec(struct args *a, const char *text, struct incore_error *e)
{
	size_t n = strlen(text);
	char *p = calloc(1, n + FILE_PAD);
	bool ok;

	assert_non_null(p);
	memcpy(p, text, n);
	args_init(a);
	ok = args_read_spec(a, p, n, "spec.json", e);
	free(p);
	return ok;
}

static void test_argspec_document_example(void **state)
{
	struct args a;
	const struct arg *s;
	unsigned n = 0;

	(void)state;
	assert_true(read_spec(&a,
		"{\"args\": ["
		"{\"kind\": \"tensor\", \"index\": 0, \"name\": \"sij\", \"dtype\": \"FLOAT32\", "
		"\"shape\": [16, 16],"
		" \"role\": \"input\", \"fill\": \"zero\"},"
		"{\"kind\": \"tensor\", \"index\": 2, \"dtype\": \"FLOAT32\", \"shape\": [16], "
		"\"role\": \"output\"},"
		"{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"BFLOAT16\", \"shape\": [16, 1], "
		"\"strides\": [16, 1]},"
		"{\"kind\": \"scalar\", \"index\": 4, \"dtype\": \"FLOAT32\", \"value\": 1.0, "
		"\"pack_mode\": \"bits\"}]}",
		NULL));
	for (uint32_t i = 0; i < ARG_SLOTS; i++)
		n += a.slots[i].is_used;
	assert_int_equal(n, 4);
	s = &a.slots[0];
	assert_string_equal(s->name, "sij");
	assert_int_equal(a.buffers.v[s->buffer].n, 1024);
	assert_int_equal(s->strides[0], 16);
	assert_true(s->content.is_filled);
	assert_true(a.slots[2].is_written);
	s = &a.slots[1];
	assert_int_equal(a.buffers.v[s->buffer].n, (15 * 16 + 1) * 2);
	assert_int_equal(s->content.fill, FILL_NONE); /* nobody said what it holds */
	assert_int_equal(a.slots[4].bits, 0x3f800000);
	for (uint32_t i = 0; i < 5; i++)
		assert_true(!a.slots[i].is_used || a.slots[i].slot == i);
	args_deinit(&a);
}

static void test_argspec_packs(void **state)
{
	static const struct {
		const char *word;
		uint64_t bits;
	} CASES[] = {
		{"0=f32:1.0", 0x3f800000},
		{"0=f32:1", 0x3f800000},
		{"0=FLOAT32_BITS:1.0", 0x3f800000},
		{"0=FLOAT32_BITS:1065353216", 0x3f800000},
		{"0=FLOAT64_BITS:1.0", 0x3ff0000000000000},
		{"0=f16:1.0", 0x3c00},
		{"0=f16:-2.5", 0xc100},
		{"0=f16:65504", 0x7bff},
		{"0=f16:65520", 0x7c00},
		{"0=f16:5.9604644775390625e-08", 1},
		{"0=f16:0.00006103515625", 0x400},
		{"0=bf16:1.0", 0x3f80},
		{"0=bf16:3.0e38", 0x7f62},
		{"0=i64:-3", 0xfffffffffffffffd},
		{"0=i8:-128", 0xffffffffffffff80},
		{"0=u64:0xffffffffffffffff", 0xffffffffffffffff},
		{"0=bool:1", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct args a;

		args_init(&a);
		assert_true(args_add_word(&a, CASES[i].word, NULL));
		assert_int_equal(a.slots[0].bits, CASES[i].bits);
		args_deinit(&a);
	}
}

static void test_argspec_refused(void **state)
{
	static const char *const SPECS[] = {
		"{}",
		"[{\"kind\":\"matrix\",\"index\":0}]",
		"[{\"kind\":\"scalar\",\"index\":48,\"dtype\":\"INT32\",\"value\":1}]",
		"[{\"kind\":\"scalar\",\"index\":49,\"dtype\":\"INT32\",\"value\":1}]",
		"[{\"kind\":\"scalar\",\"index\":50,\"dtype\":\"INT32\",\"value\":1}]",
		"[{\"kind\":\"scalar\",\"index\":-1,\"dtype\":\"INT32\",\"value\":1}]",
		"[{\"kind\":\"scalar\",\"index\":1,\"dtype\":\"INT32\",\"value\":1},"
		"{\"kind\":\"scalar\",\"index\":1,\"dtype\":\"INT32\",\"value\":1}]",
		"[{\"kind\":\"scalar\",\"index\":1,\"dtype\":\"INT99\",\"value\":1}]",
		"[{\"kind\":\"scalar\",\"index\":1,\"dtype\":\"INT32\",\"value\":1.5}]",
		"[{\"kind\":\"scalar\",\"index\":1,\"dtype\":\"UINT8\",\"value\":256}]",
		"[{\"kind\":\"scalar\",\"index\":1,\"dtype\":\"INT32\"}]",
		"[{\"kind\":\"scalar\",\"dtype\":\"INT32\",\"value\":1}]",
		"[{\"index\":1,\"dtype\":\"INT32\",\"value\":1}]",
		"[{\"kind\":\"tensor\",\"index\":1,\"dtype\":\"INT32\"}]",
		"[{\"kind\":\"tensor\",\"index\":1,\"dtype\":\"INT32\",\"shape\":[2,2],\"strides\":"
		"[1]}]",
		"[{\"kind\":\"tensor\",\"index\":1,\"dtype\":\"INT32\",\"shape\":[1,1,1,1,1,1]}]",
		"[{\"kind\":\"tensor\",\"index\":1,\"dtype\":\"INT32\",\"shape\":[4000000000,"
		"4000000000]}]",
		"[{\"kind\":\"tensor\",\"index\":1,\"dtype\":\"INT32\",\"shape\":[2],\"data\":{"
		"\"file\":\"/etc/x\"}}]",
		"[{\"kind\":\"tensor\",\"index\":1,\"dtype\":\"INT32\",\"shape\":[2],\"data\":{"
		"\"file\":\"a/../../x\"}}]",
		"[{\"kind\":\"tensor\",\"index\":1,\"dtype\":\"INT32\",\"shape\":[2],\"data\":{}}]",
		"[{\"kind\":\"tensor\",\"index\":1,\"dtype\":\"INT32\",\"shape\":[2],\"fill\":"
		"\"ones\"}]",
		"[{\"kind\":\"tensor\",\"index\":1,\"dtype\":\"INT32\",\"shape\":[2],\"buffer_"
		"bytes\":\"big\"}]",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(SPECS) / sizeof(SPECS[0]); i++) {
		struct incore_error e = {0};
		struct args a;

		if (read_spec(&a, SPECS[i], &e))
			fail_msg("accepted: %s", SPECS[i]);
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		incore_error_clear(&e);
		args_deinit(&a);
	}
}

static void test_argspec_words(void **state)
{
	static const char *const BAD[] = {"", "x", "0", "0=", "0=f32", "0=f32[", "0=f32[2",
		"0=f32[]", "0=f32[2]x", "0=f32[2]:ones", "0=f32[1,1,1,1,1,1]", "0=q32[2]",
		"48=i32:1", "0=i32:", "0=i32:1.5", "99999999999=i32:1", "0=f32[2]:randomx"};
	struct args a;

	(void)state;
	args_init(&a);
	for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
		struct incore_error e = {0};

		if (args_add_word(&a, BAD[i], &e))
			fail_msg("accepted: %s", BAD[i]);
		assert_int_equal(e.status, INCORE_USAGE);
		incore_error_clear(&e);
	}
	assert_true(args_add_word(&a, "0=f16[128,64]", NULL));
	assert_true(args_add_word(&a, "1=f32[8]:out", NULL));
	assert_true(args_add_word(&a, "2=i32[8]:value3", NULL));
	assert_true(args_add_word(&a, "3=i32[8]:random7", NULL));
	assert_false(args_add_word(&a, "3=i32[8]", NULL));
	assert_int_equal(a.buffers.v[a.slots[0].buffer].n, 16384);
	assert_false(a.slots[0].content.is_filled);
	assert_true(a.slots[1].is_written);
	assert_true(a.slots[2].content.value == 3);
	assert_int_equal(a.slots[3].content.seed, 7);
	args_deinit(&a);
}

static void test_argspec_shared_buffer(void **state)
{
	struct args a;
	struct incore_error e = {0};

	(void)state;
	assert_true(read_spec(&a,
		"[{\"kind\": \"tensor\", \"index\": 3, \"dtype\": \"INT8\", \"shape\": [8], "
		"\"buffer\": 7},"
		"{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [4], "
		"\"buffer\": 7},"
		"{\"kind\": \"tensor\", \"index\": 5, \"dtype\": \"INT8\", \"shape\": [4]}]",
		NULL));
	assert_int_equal(args_owner(&a, 3), 1);
	assert_int_equal(args_owner(&a, 1), 1);
	assert_int_equal(args_owner(&a, 5), 5);
	assert_int_equal(a.buffers.v[a.slots[1].buffer].n, 8); /* what the wider view needs */
	args_deinit(&a);
	assert_false(read_spec(&a,
		"[{\"kind\": \"tensor\", \"index\": 0, \"dtype\": \"INT8\", \"shape\": [8], "
		"\"buffer\": 7, \"buffer_bytes\": 8},"
		"{\"kind\": \"tensor\", \"index\": 1, \"dtype\": \"INT8\", \"shape\": [8], "
		"\"buffer\": 7, \"buffer_bytes\": 16}]",
		&e));
	assert_non_null(strstr(e.message, "slots 0 and 1 share buffer 7, of 8 and of 16 bytes"));
	incore_error_clear(&e);
	args_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_argspec_document_example),
		cmocka_unit_test(test_argspec_packs),
		cmocka_unit_test(test_argspec_shared_buffer),
		cmocka_unit_test(test_argspec_refused),
		cmocka_unit_test(test_argspec_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
