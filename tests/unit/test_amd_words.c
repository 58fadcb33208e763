/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text without a disassembler: are waits, branches and messages written in full, and does every
 * analysis read the same from it as from LLVM's text? The second part is skipped without LLVM.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "isa/amd.h"
#include "isa/amd_waits.h"
#include "isa/amd_words.h"
#include "isa/disasm.h"

static const struct {
	const char *gpu;
	uint32_t w[3];
	const char *text;
} cases[] = {
	{"gfx950", {0xbf8c0f70}, "s_waitcnt vmcnt(0)"},
	{"gfx950", {0xbf8cc07f}, "s_waitcnt lgkmcnt(0)"},
	{"gfx950", {0xbf8c0070}, "s_waitcnt vmcnt(0) lgkmcnt(0)"},
	{"gfx950", {0xbf8a0000}, "s_barrier"},
	{"gfx950", {0xbf810000}, "s_endpgm"},
	{"gfx950", {0xbf85ffe4}, "s_cbranch_scc1 65508"},
	{"gfx950", {0xbf800007}, "s_nop 7"},
	{"gfx950", {0xd3e70000, 0x04020501}, "v_mfma <0xd3e70000 0x04020501>"},
	{"gfx950", {0xdc508000, 0x00000000}, "global_load <0xdc508000 0x00000000>"},
	{"gfx950", {0xc0060002, 0x00000000}, "s_load <0xc0060002 0x00000000>"},
	{"gfx950", {0xbe801d00}, "s_setpc_b64 <0xbe801d00>"},
	{"gfx1030", {0xbbfd0000}, "s_waitcnt_vscnt null, 0x0"},
	{"gfx1100", {0xbf89fc07}, "s_waitcnt lgkmcnt(0)"},
	{"gfx1100", {0xbf8903f7}, "s_waitcnt vmcnt(0)"},
	{"gfx1100", {0xbc7c0000}, "s_waitcnt_vscnt null, 0x0"},
	{"gfx1100", {0xbfbd0000}, "s_barrier"},
	{"gfx1200", {0xbfc00001}, "s_wait_loadcnt 0x1"},
	{"gfx1200", {0xbfc70000}, "s_wait_kmcnt 0x0"},
	{"gfx1200", {0xbfc80102}, "s_wait_loadcnt_dscnt 0x102"},
	{"gfx1200", {0xbf94ffff}, "s_barrier_wait 0xffff"},
	{"gfx1200", {0xbe804ec1}, "s_barrier_signal <0xbe804ec1>"},
};

static void test_amd_words_texts(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		enum amd_arch arch = amd_arch_of_gpu(cases[i].gpu);
		const uint8_t *p = (const uint8_t *)cases[i].w;
		struct amd_code_inst inst;
		struct strbuf b = {0};

		assert_true(amd_code_decode(arch, p, sizeof(cases[i].w), &inst));
		assert_true(amd_words_put(&b, arch, &inst, p));
		if (strcmp(b.p, cases[i].text) != 0)
			fail_msg("%s %08x: '%s', want '%s'", cases[i].gpu, cases[i].w[0], b.p,
				cases[i].text);
		sb_free(&b);
	}
}

/* --- against LLVM --- */

#define WORDS 12000u

static uint32_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return (uint32_t)(*s >> 16);
}

/* Half of them sequencer and scalar words, a third memory, the rest anything. */
static uint32_t make_word(uint32_t i, uint64_t *seed)
{
	static const uint8_t tops[] = {
		0x30, 0x31, 0x33, 0x34, 0x35, 0x36, 0x37, 0x38, 0x39, 0x3a, 0x3b, 0x3c, 0x3d};
	uint32_t w = next_random(seed);

	switch (i % 6) {
	case 0:
	case 1:
		return 0xbf800000u | (i / 6 & 127) << 16 | (w & 0xffff);
	case 2:
		return 0xb0000000u | (i / 6 & 31) << 23 | (w & 0x7fffff);
	case 3:
	case 4:
		return (w & 0x3ffffff) | (uint32_t)tops[w >> 28 & 15 ? (w >> 28) % 13 : 0] << 26;
	default:
		return w;
	}
}

/* Does every reader of text see the same? Transcendental functions need a full decoder. */
static bool same_meaning(unsigned major, struct str a, struct str b)
{
	enum inst_class ca = amd_class(AMD_NO_CATEGORY, a), cb = amd_class(AMD_NO_CATEGORY, b);
	struct amd_wait_row wa = amd_wait_row(major, a), wb = amd_wait_row(major, b);
	uint64_t ta = 0, tb = 0;
	bool has_a = amd_branch_target(a, 4096, &ta), has_b = amd_branch_target(b, 4096, &tb);

	if (major >= 12 && str_has(a, "th:TH_ATOMIC_") && !str_has(a, "RETURN"))
		return true; /* cascaded atomics are spelled without the word */
	if (str_starts(a, "s_cbranch_g_fork") || str_starts(a, "image_"))
		return true; /* never emitted; not told apart to the last */
	if (str_ends(a, " lds") && !str_starts(a, "buffer_"))
		return true; /* a bit that gfx942 uses otherwise */
	return (ca == CLASS_TRANS ? CLASS_VALU : ca) == cb && wa.role == wb.role &&
	       wa.counters == wb.counters && wa.order == wb.order &&
	       memcmp(wa.value, wb.value, sizeof(wa.value)) == 0 && has_a == has_b && ta == tb;
}

static void compare(const char *gpu, struct arena *a)
{
	enum amd_arch arch = amd_arch_of_gpu(gpu);
	struct disasm_inst *v = arena_zalloc(a, WORDS, sizeof(*v));
	struct amd_code_inst *inst = arena_zalloc(a, WORDS, sizeof(*inst));
	uint32_t(*words)[4] = arena_zalloc(a, WORDS, sizeof(*words)), n = 0;
	struct disasm_report report;
	struct incore_error e = {0};
	uint64_t seed = 88172645463325252u;

	for (uint32_t i = 0; i < WORDS; i++) {
		words[n][0] = make_word(i, &seed);
		for (unsigned k = 1; k < 4; k++)
			words[n][k] = next_random(&seed);
		v[n].bytes = (const uint8_t *)words[n];
		v[n].address = 4096;
		if (!amd_code_decode(arch, v[n].bytes, 16, &inst[n]) ||
			inst[n].inst_class == AMD_CODE_UNKNOWN)
			continue;
		v[n].len_bytes = inst[n].len_bytes;
		n++;
	}
	assert_true(disasm_texts(v, n, gpu, "llvm", a, &report, &e));
	if (!report.source) {
		print_message("no LLVM that knows %s: not compared\n", gpu);
		skip();
	}
	for (uint32_t i = 0; i < n; i++) {
		struct strbuf b = {0};

		amd_words_put(&b, arch, &inst[i], v[i].bytes);
		if (v[i].text && !same_meaning(amd_arch_major(arch), str_of(v[i].text),
					 (struct str){b.p, b.n}))
			fail_msg("%s %08x: '%s' is read as '%s'", gpu, words[i][0], v[i].text, b.p);
		sb_free(&b);
	}
}

static void test_amd_words_mean_what_llvm_says(void **state)
{
	static const char *const gpus[] = {
		"gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1200", "gfx950"};
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++)
		compare(gpus[i], &a);
	arena_deinit(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_amd_words_texts),
		cmocka_unit_test(test_amd_words_mean_what_llvm_says),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
