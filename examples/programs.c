/* SPDX-License-Identifier: Apache-2.0 */
/* programs.c: which instructions do the example kernels hold? Data only. */
#include "programs.h"

#include <stdio.h>

#define ADD(line) "/kernels/add.py:" #line
#define GEMM(line) "/kernels/gemm.py:" #line
#define HELP(line) "/kernels/helpers.py:" #line
#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct sim_row add_rows[] = {
	{"s_load_dwordx4 s[0:3], s[0:1], 0x0", ADD(6), 0, 0, 0},
	{"v_lshlrev_b32_e32 v0, 2, v0", ADD(7), 0, 0, 0},
	{"s_waitcnt lgkmcnt(0)", ADD(8), 0, 0, 0},
	{"global_load_dword v1, v0, s[0:1]", ADD(8), 0, 0, 0},
	{"s_waitcnt vmcnt(0)", ADD(9), 0, 0, 0},
	{"v_add_f32_e32 v1, 1.0, v1", ADD(9), 0, 0, 0},
	{"s_nop 1", ADD(9), 0, 0, 0},
	{"global_store_dword v0, v1, s[2:3]", ADD(10), 0, 0, 0},
	{"s_endpgm", ADD(10), 0, 0, 0},
};

static const struct ui_source add_sources[] = {
	{"/kernels/add.py", "import gpu\n"
			    "\n"
			    "\n"
			    "@gpu.kernel\n"
			    "def add_one(\n"
			    "        x, y):\n"
			    "    i = gpu.thread_id() * 4\n"
			    "    a = x[i]\n"
			    "    b = a + 1.0\n"
			    "    y[i] = b\n"},
	{NULL, NULL},
};

const struct program_text program_add = {"add_one", add_rows, COUNT(add_rows), add_sources};

/* Row numbers are 1-based; the loop runs from row 13 to row 32. */
static const struct sim_row gemm_rows[] = {
	/* 1 */ {"s_load_dwordx4 s[4:7], s[0:1], 0x0", GEMM(8), 0, 0, 0},
	/* 2 */ {"s_load_dwordx2 s[8:9], s[0:1], 0x10", GEMM(8), 0, 0, 0},
	/* 3 */ {"v_lshlrev_b32_e32 v0, 4, v0", GEMM(9), 0, 0, 0},
	/* 4 */ {"v_and_b32_e32 v1, 63, v0", GEMM(9), 0, 0, 0},
	/* 5 */ {"v_mov_b32_e32 v2, 0", GEMM(10), 0, 0, 0},
	/* 6 */ {"s_mov_b32 s10, 4", GEMM(11), 0, 0, 0},
	/* 7 */ {"s_waitcnt lgkmcnt(0)", GEMM(12), 0, 0, 0},
	/* 8 */ {"buffer_load_dwordx4 v[8:11], v0, s[4:7], 0 offen", GEMM(12), 0, 0, 0},
	/* 9 */
	{"buffer_load_dwordx4 v[12:15], v0, s[4:7], 0 offen offset:1024", GEMM(13), 0, 0, 0},
	/* 10 */ {"v_accvgpr_write_b32 a15, 0", GEMM(10), 0, 0, 0},
	/* 11 */ {"s_waitcnt vmcnt(1)", GEMM(14), 0, 0, 0},
	/* 12 */ {"ds_write_b128 v1, v[8:11]", GEMM(14), 0, 0, 0},
	/* 13 */ {"s_waitcnt vmcnt(0)", GEMM(17), 0, 0, 0},
	/* 14 */ {"ds_write_b128 v1, v[12:15] offset:4096", GEMM(17), 0, 0, 0},
	/* 15 */ {"s_waitcnt lgkmcnt(0)", GEMM(18), 0, 0, 0},
	/* 16 */ {"s_barrier", GEMM(18), 0, 0, 0},
	/* 17 */
	{"buffer_load_dwordx4 v[12:15], v0, s[4:7], 0 offen offset:2048", GEMM(19), 0, 0, 0},
	/* 18 */ {"ds_read_b128 v[16:19], v1", GEMM(20), 0, 0, 0},
	/* 19 */ {"ds_read_b128 v[20:23], v1 offset:4096", GEMM(21), 0, 0, 0},
	/* 20 */ {"s_waitcnt lgkmcnt(1)", GEMM(22), 0, 0, 0},
	/* 21 */ {"v_cvt_pk_f16_f32 v24, v16, v17", GEMM(22), 0, 0, 0},
	/* 22 */ {"s_waitcnt lgkmcnt(0)", GEMM(22), 0, 0, 0},
	/* 23 */ {"v_cvt_pk_f16_f32 v25, v20, v21", GEMM(22), 0, 0, 0},
	/* 24 */ {"s_nop 1", GEMM(22), 0, 0, 0},
	/* 25 */ {"v_mfma_f32_16x16x32_f16 a[0:3], v[16:19], v[20:23], a[0:3]", GEMM(23), 0, 0, 0},
	/* 26 */ {"v_mfma_f32_16x16x32_f16 a[4:7], v[16:19], v[20:23], a[4:7]", GEMM(23), 0, 0, 0},
	/* 27 */
	{"v_mfma_f32_16x16x32_f16 a[8:11], v[16:19], v[20:23], a[8:11]", GEMM(23), 0, 0, 0},
	/* 28 */
	{"v_mfma_f32_16x16x32_f16 a[12:15], v[16:19], v[20:23], a[12:15]", GEMM(23), 0, 0, 0},
	/* 29 */ {"v_add_u32_e32 v0, 64, v0", GEMM(24), 0, 0, 0},
	/* 30 */ {"s_add_i32 s10, s10, -1", GEMM(16), 0, 0, 0},
	/* 31 */ {"s_cmp_lg_u32 s10, 0", GEMM(16), 0, 0, 0},
	/* 32 */ {"s_cbranch_scc1 %u", GEMM(16), 13, 3, 3},
	/* 33 */ {"s_nop 7", GEMM(26), 0, 0, 0},
	/* 34 */ {"v_accvgpr_read_b32 v31, a0", GEMM(26), 0, 0, 0},
	/* 35 */ {"v_exp_f32_e32 v31, v31", GEMM(27), 0, 0, 0},
	/* 36 */ {"ds_bpermute_b32 v32, v1, v31", GEMM(28), 0, 0, 0},
	/* 37 */ {"s_waitcnt lgkmcnt(0)", GEMM(28), 0, 0, 0},
	/* 38 */ {"v_add_f32_e32 v31, v31, v32", GEMM(28), 0, 0, 0},
	/* 39 */ {"s_waitcnt vmcnt(0)", GEMM(29), 0, 0, 0},
	/* 40 */ {"global_store_dword v0, v31, s[8:9]", GEMM(29), 0, 0, 0},
	/* 41 */ {"global_store_dword v0, v32, s[8:9] offset:256", GEMM(29), 0, 0, 0},
	/* 42 */ {"s_endpgm", GEMM(29), 0, 0, 0},
};

static const char gemm_text[] = "import gpu\n"
				"from gpu import lds, mfma\n"
				"\n"
				"TILE = 64\n"
				"\n"
				"\n"
				"@gpu.kernel\n"
				"def gemm_f16(a, b, c, k):\n"
				"    lane = gpu.lane() * 16\n"
				"    acc = mfma.zeros(16, 16)\n"
				"    n = k // TILE\n"
				"    tile_a = a.load(lane)\n"
				"    tile_b = b.load(lane)\n"
				"    lds.store(0, tile_a)\n"
				"    # one tile of k per step\n"
				"    for step in range(n):\n"
				"        lds.store(4096, tile_b)\n"
				"        gpu.barrier()\n"
				"        tile_b = b.load(lane + TILE)\n"
				"        x = lds.load(0)\n"
				"        y = lds.load(4096)\n"
				"        x, y = gpu.pack(x, y)\n"
				"        acc = mfma.f16(x, y, acc)\n"
				"        lane = lane + TILE\n"
				"    # softmax-like tail\n"
				"    v = acc.read()\n"
				"    v = gpu.exp(v)\n"
				"    v = v + gpu.shuffle(v, lane)\n"
				"    c.store(lane, v)\n";

static const struct ui_source gemm_sources[] = {
	{"/kernels/gemm.py", gemm_text},
	{NULL, NULL},
};

const struct program_text program_gemm = {"gemm_f16", gemm_rows, COUNT(gemm_rows), gemm_sources};

static const struct sim_row inline_rows[] = {
	{"s_load_dwordx2 s[2:3], s[0:1], 0x0", GEMM(8), 0, 0, 0},
	{"v_lshlrev_b32_e32 v0, 2, v0", HELP(3) " -> " GEMM(9), 0, 0, 0},
	{"s_waitcnt lgkmcnt(0)", HELP(5) " -> " GEMM(12), 0, 0, 0},
	{"global_load_dword v1, v0, s[2:3]", HELP(5) " -> " GEMM(12), 0, 0, 0},
	{"s_waitcnt vmcnt(0)", HELP(8) " -> " HELP(11) " -> " GEMM(22), 0, 0, 0},
	{"v_exp_f32_e32 v1, v1", HELP(8) " -> " HELP(11) " -> " GEMM(22), 0, 0, 0},
	{"v_mul_f32_e32 v1, v1, v1", HELP(9) " -> " HELP(11) " -> " GEMM(22), 0, 0, 0},
	{"v_add_f32_e32 v1, 1.0, v1", HELP(11) " -> " GEMM(22), 0, 0, 0},
	{"global_store_dword v0, v1, s[2:3]", GEMM(29), 0, 0, 0},
	{"s_endpgm", NULL, 0, 0, 0},
};

static const char helpers_text[] = "import gpu\n\ndef offset(i):\n    # bytes\n    return i * 4\n\n"
				   "def soft(x):\n    e = gpu.exp(x)\n    return e * e\n\n"
				   "def act(x): return soft(x) + 1.0\n";
static const struct ui_source inline_sources[] = {
	{"/kernels/gemm.py", gemm_text},
	{"/kernels/helpers.py", helpers_text},
	{NULL, NULL},
};

const struct program_text program_inline = {
	"inlined", inline_rows, COUNT(inline_rows), inline_sources};

static const struct sim_row gfx11_rows[] = {
	{"s_load_b128 s[0:3], s[0:1], 0x0", ADD(6), 0, 0, 0},
	{"v_lshlrev_b32_e32 v0, 2, v0", ADD(7), 0, 0, 0},
	{"s_waitcnt lgkmcnt(0)", ADD(8), 0, 0, 0},
	{"global_load_b32 v1, v0, s[0:1]", ADD(8), 0, 0, 0},
	{"global_load_b32 v2, v0, s[0:1] offset:4", ADD(8), 0, 0, 0},
	{"s_waitcnt vmcnt(1)", ADD(9), 0, 0, 0},
	{"v_add_f32_e32 v1, 1.0, v1", ADD(9), 0, 0, 0},
	{"s_waitcnt vmcnt(0)", ADD(9), 0, 0, 0},
	{"v_wmma_f32_16x16x16_f16 v[8:15], v[0:7], v[0:7], v[8:15]", ADD(9), 0, 0, 0},
	{"global_store_b32 v0, v1, s[2:3]", ADD(10), 0, 0, 0},
	{"s_waitcnt_vscnt null, 0x0", ADD(10), 0, 0, 0},
	{"s_endpgm", ADD(10), 0, 0, 0},
};

const struct program_text program_gfx11 = {"add_wmma", gfx11_rows, COUNT(gfx11_rows), add_sources};

static const struct sim_row gfx12_rows[] = {
	{"s_load_b128 s[0:3], s[0:1], 0x0", ADD(6), 0, 0, 0},
	{"v_lshlrev_b32_e32 v0, 2, v0", ADD(7), 0, 0, 0},
	{"s_wait_kmcnt 0x0", ADD(8), 0, 0, 0},
	{"global_load_b32 v1, v0, s[0:1]", ADD(8), 0, 0, 0},
	{"global_load_b32 v2, v0, s[0:1] offset:4", ADD(8), 0, 0, 0},
	{"s_wait_loadcnt 0x1", ADD(9), 0, 0, 0},
	{"ds_store_b32 v0, v1", ADD(9), 0, 0, 0},
	{"ds_load_b32 v3, v0", ADD(9), 0, 0, 0},
	{"s_wait_dscnt 0x0", ADD(9), 0, 0, 0},
	{"v_add_f32_e32 v1, v3, v1", ADD(9), 0, 0, 0},
	{"s_wait_loadcnt 0x0", ADD(9), 0, 0, 0},
	{"global_store_b32 v0, v1, s[2:3]", ADD(10), 0, 0, 0},
	{"s_wait_storecnt 0x0", ADD(10), 0, 0, 0},
	{"s_endpgm", ADD(10), 0, 0, 0},
};

const struct program_text program_gfx12 = {"add_lds", gfx12_rows, COUNT(gfx12_rows), add_sources};

/* Nearly everything is said to come from the decorator line. */
static const struct sim_row collapsed_rows[] = {
	{"s_load_dwordx4 s[0:3], s[0:1], 0x0", ADD(4), 0, 0, 0},
	{"v_lshlrev_b32_e32 v0, 2, v0", ADD(4), 0, 0, 0},
	{"s_waitcnt lgkmcnt(0)", ADD(4), 0, 0, 0},
	{"global_load_dword v1, v0, s[0:1]", ADD(4), 0, 0, 0},
	{"s_waitcnt vmcnt(0)", ADD(4), 0, 0, 0},
	{"v_add_f32_e32 v1, 1.0, v1", ADD(9), 0, 0, 0},
	{"v_mul_f32_e32 v1, v1, v1", ADD(4), 0, 0, 0},
	{"global_store_dword v0, v1, s[2:3]", ADD(4), 0, 0, 0},
	{"s_endpgm", ADD(10), 0, 0, 0},
};

const struct program_text program_collapsed = {
	"add_one", collapsed_rows, COUNT(collapsed_rows), add_sources};

#define BODY 240 /* rows of the part no wave reaches */

const struct program_text *program_early_exit(void)
{
	static struct sim_row rows[BODY + 8];
	static struct program_text text = {"decode_paged", rows, 0, gemm_sources};
	unsigned n = 0;

	rows[n++] = (struct sim_row){"s_load_dwordx2 s[2:3], s[0:1], 0x0", GEMM(8), 0, 0, 0};
	rows[n++] = (struct sim_row){"s_waitcnt lgkmcnt(0)", GEMM(9), 0, 0, 0};
	rows[n++] = (struct sim_row){"s_cmp_eq_u32 s2, 0", GEMM(11), 0, 0, 0};
	rows[n++] = (struct sim_row){"s_cbranch_scc1 %u", GEMM(11), BODY + 5, 0, 1};
	for (unsigned i = 0; i < BODY; i++)
		rows[n++] = i % 3 ? (struct sim_row){"v_mfma_f32_16x16x32_f16 a[0:3], v[0:3], "
						     "v[4:7], a[0:3]",
					    GEMM(23), 0, 0, 0}
				  : (struct sim_row){"ds_read_b128 v[0:3], v1", GEMM(20), 0, 0, 0};
	rows[n++] = (struct sim_row){"s_endpgm", GEMM(29), 0, 0, 0};
	text.n = n;
	return &text;
}
