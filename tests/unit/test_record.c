/* SPDX-License-Identifier: Apache-2.0 */
/* Recording: which values scalar code may see, what stops a run, and what it is told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "args/spec.h"
#include "base/file.h"
#include "model/record/record.h"

static char cache[] = "/tmp/incore-test-record-XXXXXX";
enum { BOMB = 90 }; /* the case that no compiler ends in time */
static char recorder[4096], kernel[4096];

static bool run_case(int number, uint32_t blocks, const char *const *words,
	struct opstream_set *set, struct incore_error *e)
{
	struct record_options o = {.kernel = kernel,
		.recorder_dir = recorder,
		.cache_dir = cache,
		.cores = KERNEL_ON_AIV,
		.blocks = blocks,
		.compile_limit_s = number == BOMB ? 1 : 0,
		.run_limit_s = 2};
	char define[32];
	const char *const defines[] = {define};
	struct record_info info;
	struct args a;
	bool ok;

	snprintf(define, sizeof(define), "CASE=%d", number);
	o.defines = defines;
	o.n_defines = 1;
	args_init(&a);
	for (; *words; words++)
		assert_true(args_add_word(&a, *words, NULL));
	o.args = &a;
	opstream_set_init(set);
	ok = record_kernel(&o, set, &info, e);
	args_deinit(&a);
	return ok;
}

static const char *const USUAL[] = {"0=f32[8,64]:value3", "1=f32[16,64]:out", NULL};

static unsigned count_of(const struct opstream *s, const char *name)
{
	unsigned n = 0;

	for (size_t i = 0; i < s->ops.n; i++)
		n += strcmp(opstream_str(s, s->forms.v[s->ops.v[i].form].name), name) == 0;
	return n;
}

static void test_record_known_values(void **state)
{
	static const struct {
		int number;
		unsigned trips;
	} CASES[] = {{0, 1}, {1, 3}, {2, 4}, {5, 2}, {6, 5}, {11, 3}};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct incore_error e = {0};
		struct opstream_set set;

		if (!run_case(CASES[i].number, 1, USUAL, &set, &e))
			fail_msg("case %d: %s", CASES[i].number,
				e.cause ? e.cause->message : e.message);
		assert_int_equal(set.v.n, 1);
		assert_int_equal(count_of(&set.v.v[0], "TADDS"), CASES[i].trips);
		opstream_set_deinit(&set);
		incore_error_clear(&e);
	}
}

static void test_record_stops(void **state)
{
	static const struct {
		int number;
		const char *code, *part;
	} CASES[] = {
		{3, "no-value",
			"element 5 of the Vec tile of 8x64 at 0x1000 is computed on the device"},
		{4, "no-value", "byte 2044 of slot 1, which a tile op stored, after TSTORE"},
		{7, "out-of-bounds", "byte 400000 of slot 1, whose buffer has 4096 bytes"},
		{8, "missing-argument", "reads slot 7, which no argument fills"},
		{9, "chip-address", "address 0x100c of the chip"},
		{10, "too-long", "did not end within 2 s, after TLOAD at record_kernel.cpp:33"},
		{12, "out-of-bounds",
			"TSTORE at record_kernel.cpp:65: its global address belongs to no slot"},
		{14, "does-not-compile", "'TFOO' is missing"},
		{BOMB, "too-long", "the compiler did not end within 1 s"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
		struct incore_error e = {0};
		struct opstream_set set;
		struct strbuf text = {0};

		assert_false(run_case(CASES[i].number, 1, USUAL, &set, &e));
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		err_format(&e, &text);
		if (strcmp(e.code, CASES[i].code) != 0 || !strstr(text.p, CASES[i].part))
			fail_msg("case %d: [%s] %s", CASES[i].number, e.code, text.p);
		assert_int_equal(set.v.n, 0);
		sb_free(&text);
		incore_error_clear(&e);
		opstream_set_deinit(&set);
	}
}

/* Nobody says what slot 0 holds: the ops run, a value does not come of it. */
static void test_record_unsupplied(void **state)
{
	static const char *const WORDS[] = {"0=f32[8,64]", "1=f32[16,64]:out", NULL};
	struct incore_error e = {0};
	struct opstream_set set;
	struct strbuf text = {0};

	(void)state;
	assert_true(run_case(0, 1, WORDS, &set, NULL));
	assert_int_equal(set.v.v[0].missing_slots, 1);
	opstream_set_deinit(&set);
	assert_false(run_case(1, 1, WORDS, &set, &e));
	err_format(&e, &text);
	assert_non_null(
		strstr(text.p, "was loaded from byte 280 of slot 0, which nobody supplied"));
	assert_string_equal(e.code, "no-value");
	sb_free(&text);
	incore_error_clear(&e);
	opstream_set_deinit(&set);
}

static void test_record_blocks(void **state)
{
	struct opstream_set set;

	(void)state;
	assert_true(run_case(13, 3, USUAL, &set, NULL));
	assert_int_equal(set.v.n, 3);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(set.v.v[i].block_idx, i);
		assert_int_equal(count_of(&set.v.v[i], "TADDS"), i * 10 + 3);
	}
	opstream_set_deinit(&set);
}

/* A mixed kernel of two sources: AIC, then both lanes of the AIV. */
static void test_record_two_sources(void **state)
{
	struct record_options o = {.kernel = kernel,
		.kernel_aiv = kernel,
		.recorder_dir = recorder,
		.cache_dir = cache,
		.blocks = 2};
	struct record_info info;
	struct opstream_set set;
	struct args a;

	(void)state;
	args_init(&a);
	opstream_set_init(&set);
	for (unsigned i = 0; USUAL[i]; i++)
		assert_true(args_add_word(&a, USUAL[i], NULL));
	o.args = &a;
	assert_true(record_kernel(&o, &set, &info, NULL));
	assert_int_equal(info.cores, KERNEL_ON_MIX);
	assert_int_equal(set.v.n, 6);
	for (uint32_t i = 0; i < 6; i++) {
		assert_true(set.v.v[i].is_mixed);
		assert_int_equal(set.v.v[i].block_idx, i / 3);
		assert_int_equal(set.v.v[i].core, i % 3 ? CORE_AIV : CORE_AIC);
		assert_int_equal(set.v.v[i].lane, i % 3 == 2);
	}
	opstream_set_deinit(&set);
	args_deinit(&a);
}

static void test_record_sites(void **state)
{
	struct opstream_set set;
	const struct opstream *s;
	const struct op_site *site;

	(void)state;
	assert_true(run_case(0, 1, USUAL, &set, NULL));
	s = &set.v.v[0];
	site = &s->sites.v[s->ops.v[s->ops.n - 1].site];
	assert_string_equal(opstream_str(s, site->file), kernel);
	assert_int_equal(site->line, 74);
	assert_string_equal(opstream_str(s, site->hint), "%sum");
	assert_int_equal(strlen(opstream_str(s, s->source_sha256)), 64);
	assert_true(s->slots.v[0].flags & SLOT_READ);
	opstream_set_deinit(&set);
}

static bool remove_one(void *ctx, const char *name, struct incore_error *e)
{
	char *path = path_join(cache, name);

	(void)ctx;
	(void)e;
	if (path)
		unlink(path);
	mem_free(path);
	return true;
}

static int finish(void **state)
{
	(void)state;
	dir_each(cache, remove_one, NULL, NULL);
	return rmdir(cache);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_record_known_values),
		cmocka_unit_test(test_record_stops),
		cmocka_unit_test(test_record_unsupplied),
		cmocka_unit_test(test_record_blocks),
		cmocka_unit_test(test_record_two_sources),
		cmocka_unit_test(test_record_sites),
	};
	const char *root = getenv("INCORE_SOURCE_ROOT");

	if (system("g++ --version >/dev/null 2>&1 || clang++ --version >/dev/null 2>&1") != 0) {
		puts("no C++ compiler");
		return 77;
	}
	if (!root || !mkdtemp(cache))
		return 1;
	snprintf(recorder, sizeof(recorder), "%s/recorder", root);
	snprintf(kernel, sizeof(kernel), "%s/tests/unit/record_kernel.cpp", root);
	return cmocka_run_group_tests(tests, NULL, finish);
}
