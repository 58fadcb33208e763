/* SPDX-License-Identifier: Apache-2.0 */
/* Does text come from a disassembler where there is one, and can it do no harm? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "isa/disasm.h"

static uint32_t nop[2] = {0xbf800003, 0xbf800003}, end[1] = {0xbf810000}, branch[1] = {0xbf85ffe4};
/* known to crash LLVM 22 on gfx942, with and without a literal */
static uint32_t crash[3] = {0xe8740626, 0xff5bd7d4, 0xa75da7aa};
static uint32_t sdwa[2] = {0x3a881cf9, 0x81461762};

static struct disasm_inst of(const uint32_t *w, uint32_t len)
{
	return (struct disasm_inst){(const uint8_t *)w, 0x1000, len, NULL, false};
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

/* A program in the place of llvm-objdump that says this. */
static void stand_in(char path[64], const char *version, const char *lines)
{
	int fd;
	FILE *f;

	strcpy(path, "/tmp/incore-objdump-XXXXXX");
	fd = mkstemp(path);
	assert_true(fd >= 0);
	f = fdopen(fd, "w");
	assert_non_null(f);
	fprintf(f,
		"#!/bin/sh\nif [ \"$1\" = --version ]; then echo 'Debian LLVM version %s'; exit; fi\n"
		"cat > \"$0.elf\"; cat <<'END'\n%sEND\n",
		version, lines);
	assert_int_equal(fchmod(fd, 0700), 0);
	assert_int_equal(fclose(f), 0);
}

static void ask_stand_in(const char *version, const char *lines, struct disasm_inst *v, uint32_t n,
	struct disasm_report *r, struct arena *a)
{
	char path[64], elf[70];

	stand_in(path, version, lines);
	snprintf(elf, sizeof(elf), "%s.elf", path);
	assert_true(disasm_texts(v, n, "gfx942", path, a, r, NULL));
	unlink(path);
	unlink(elf);
}

static void test_disasm_program(void **state)
{
	struct disasm_inst v[] = {of(nop, 4), of(crash, 8), of(branch, 4), of(nop, 8), of(end, 4)};
	struct disasm_report r;
	struct arena a;

	(void)state;
	arena_init(&a);
	ask_stand_in("22.1.8",
		"\n-: file format elf64-amdgpu\n0000 <.text>:\n\t\xff//\n//:\n // zz: \n"
		"\ts_nop 3      // 000000000000: BF800003 \n"
		"\ts_nop 0      // 000000000004: BF800000\n"
		"\tv_wrong 1    // 00000000000c: BF85FFE4 BF85FFE4\n"
		"\ts_cbranch_scc1 65508 // 00000000000c: BF85FFE4 <x+0x10>\n"
		"\tv_late 1     // 000000000000: BF800003\n"
		"\t.long 0x1    // 000000000018: BF810000\n"
		"\ts_past 1     // ffffffffffffffff: BF810000\n",
		v, 5, &r, &a);
	assert_string_equal(r.source, "llvm-objdump 22.1.8");
	assert_string_equal(v[0].text, "s_nop 3");
	assert_null(v[1].text); /* never shown to it */
	assert_string_equal(v[2].text, "s_cbranch_scc1 65508");
	assert_null(v[3].text);
	assert_null(v[4].text); /* does not know it */
	assert_int_equal(r.n_texts, 2);
	assert_int_equal(r.n_rejected, 2);
	assert_int_equal(r.n_refused, 1);
	for (unsigned i = 0; i < 5; i++)
		v[i].text = NULL;
	ask_stand_in("22.1.8", "END\nkill -9 $$\ncat <<'END'\n", v, 5, &r, &a);
	assert_int_equal(r.n_texts, 0);
	assert_int_equal(r.n_crashes, 1);
	assert_true(r.gave_up);
	ask_stand_in("14.0.6", "", v, 5, &r, &a); /* does not know gfx942: is not asked */
	assert_null(r.source);
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_disasm_none),
		cmocka_unit_test(test_disasm_llvm),
		cmocka_unit_test(test_disasm_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
