/* SPDX-License-Identifier: Apache-2.0 */
/* Does text come from a disassembler where there is one, and can it do no harm? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/disasm.h"

static uint32_t nop[1] = {0xbf800003}, end[1] = {0xbf810000}, branch[1] = {0xbf85ffe4};
/* known to crash LLVM 22 on gfx942, with and without a literal */
static uint32_t crash[3] = {0xe8740626, 0xff5bd7d4, 0xa75da7aa};
static uint32_t sdwa[2] = {0x3a881cf9, 0x81461762};

static struct disasm_inst of(const uint32_t *w, uint32_t len)
{
	return (struct disasm_inst){(const uint8_t *)w, 0x1000, len, NULL};
}

static void test_disasm_none(void **state)
{
	struct disasm_inst v[] = {of(nop, 4)};
	struct disasm_report r;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_true(disasm_texts(v, 1, "gfx950", "none", &a, &r, NULL));
	assert_null(r.source);
	assert_null(v[0].text);
	assert_true(disasm_texts(v, 1, "gfx9999", NULL, &a, &r, NULL));
	assert_null(r.source);
	assert_true(disasm_texts(v, 1, NULL, NULL, &a, &r, NULL));
	assert_null(r.source);
	assert_true(disasm_texts(v, 1, "gfx950", "/no/such/library.so", &a, &r, NULL));
	assert_null(r.source);
	arena_deinit(&a);
}

static void test_disasm_llvm(void **state)
{
	struct disasm_inst v[] = {
		of(nop, 4), of(crash, 8), of(branch, 4), of(sdwa, 8), of(nop, 8), of(end, 4)};
	struct disasm_report r;
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_true(disasm_texts(v, 6, "gfx942", "llvm", &a, &r, NULL));
	if (!r.source) {
		arena_deinit(&a);
		print_message("no LLVM that knows gfx942 is installed\n");
		skip();
	}
	assert_string_equal(v[0].text, "s_nop 3");
	assert_null(v[1].text); /* never asked */
	assert_string_equal(v[2].text, "s_cbranch_scc1 65508");
	assert_null(v[4].text); /* not our length */
	assert_string_equal(v[5].text, "s_endpgm");
	assert_int_equal(r.n_texts + r.n_refused + r.n_rejected + r.n_crashes, 6);
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disasm_none),
		cmocka_unit_test(test_disasm_llvm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
