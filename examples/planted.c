/* SPDX-License-Identifier: Apache-2.0 */
/* planted.c: one defect at a time. Data and a little building; the toy engine does the rest. */
#include "planted.h"

#include <stdio.h>
#include <string.h>

#define FIRST 3u /* row number of the first row in the loop */

static const char *const load = "buffer_load_dwordx4 v[8:11], v0, s[4:7], 0 offen";
static const char *const copy = "buffer_load_dwordx4 v0, s[4:7], 0 offen lds";
static const char *const store = "global_store_dwordx4 v[2:3], v[12:15], off";
static const char *const read = "ds_read_b128 v[16:19], v1";
static const char *const write = "ds_write_b128 v1, v[8:11]";
static const char *const swap = "ds_bpermute_b32 v32, v1, v31";
static const char *const scalar = "s_load_dwordx4 s[12:15], s[0:1], 0x0";
static const char *const spilled = "scratch_load_dword v33, off, s32";
static const char *const narrow = "global_load_dword v40, v[2:3], off";
static const char *const matrix[] = {
	"v_mfma_f32_16x16x32_f16 a[0:3], v[16:19], v[20:23], a[0:3]",
	"v_mfma_f32_16x16x32_f16 a[4:7], v[16:19], v[20:23], a[4:7]",
	"v_mfma_f32_16x16x32_f16 a[8:11], v[16:19], v[20:23], a[8:11]",
	"v_mfma_f32_16x16x32_f16 a[12:15], v[16:19], v[20:23], a[12:15]",
};
static const char *const vector = "v_add_f32_e32 v31, v31, v32";
static const char *const wait_memory = "s_waitcnt vmcnt(0)";
static const char *const wait_lds = "s_waitcnt lgkmcnt(0)";

const char *const planted_names[PLANTED_COUNT] = {"late-load", "start-load", "late-copy",
	"late-lds", "lds-write", "late-scalar", "cross-lane", "store-in-wait", "empty-wait",
	"uneven-barrier", "nop-padding", "matrix-chain", "narrow-access", "spill", "few-waves",
	"short-loop", "end-drain", "prefetched"};

static struct sim_row rows[SIM_MAX_ROWS];
static unsigned n_rows;

static void put(const char *text)
{
	if (n_rows < SIM_MAX_ROWS)
		rows[n_rows++] = (struct sim_row){.text = text, .source = "/kernels/planted.hip:7"};
}

static void put_n(const char *text, unsigned n)
{
	while (n-- > 0)
		put(text);
}

/* Independent matrix instructions, 16 cycles each. */
static void work(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put(matrix[i % 4]);
}

static void begin(void)
{
	n_rows = 0;
	put("v_lshlrev_b32_e32 v0, 4, v0");
	put("s_mov_b32 s10, 4");
}

/* So often around, less often for a wave that has little to do. */
static void loop(int times, int idle_times)
{
	put("s_cbranch_scc1 %u");
	rows[n_rows - 1].to = FIRST;
	rows[n_rows - 1].times = times - 1;
	rows[n_rows - 1].idle_times = idle_times - 1;
}

/* Something is issued and waited for: at once, or behind work that takes longer. */
static void late(const char *what, const char *wait, unsigned n_work, bool is_sound)
{
	put(what);
	if (is_sound)
		work(n_work);
	put(wait);
	if (!is_sound)
		work(4);
	loop(24, 24);
}

static void make_memory(enum planted p, bool is_sound)
{
	if (p == PLANTED_PREFETCHED && is_sound) {
		rows[1].text = load; /* before the loop */
		put(load);
		put("s_waitcnt vmcnt(1)");
		work(4);
		loop(24, 24);
	} else if (p == PLANTED_LATE_LOAD || p == PLANTED_PREFETCHED)
		late(load, wait_memory, 64, is_sound);
	else if (p == PLANTED_LATE_COPY)
		late(copy, wait_memory, 64, is_sound);
	else if (p == PLANTED_LATE_LDS)
		late(read, wait_lds, 12, is_sound);
	else if (p == PLANTED_LDS_WRITE)
		late(write, wait_lds, 12, is_sound);
	else if (p == PLANTED_LATE_SCALAR)
		late(scalar, wait_lds, 40, is_sound);
	else if (p == PLANTED_SPILL)
		late(is_sound ? vector : spilled, wait_memory, 4, false);
	else if (p == PLANTED_CROSS_LANE)
		late(is_sound ? "v_add_f32_dpp v32, v31, v31 row_shr:1" : swap, wait_lds, 4, false);
	else if (p == PLANTED_FEW_WAVES)
		late(is_sound ? load : "buffer_load_dwordx4 v[248:251], v0, s[4:7], 0 offen",
			wait_memory, 64, is_sound);
	else if (p == PLANTED_START_LOAD) {
		put(load);
		if (is_sound)
			work(64);
		put(wait_memory);
		work(16);
	}
}

static void make_order(enum planted p, bool is_sound)
{
	if (p == PLANTED_STORE_IN_WAIT) {
		put(is_sound ? store : load);
		put(is_sound ? load : store);
		work(is_sound ? 64 : 4);
		put(wait_memory);
		loop(24, 24);
	} else if (p == PLANTED_NARROW_ACCESS) {
		put_n(is_sound ? load : narrow, is_sound ? 1 : 8);
		work(64);
		put(wait_memory);
		loop(12, 12);
	} else if (p == PLANTED_EMPTY_WAIT) {
		put_n(vector, 8);
		put(is_sound ? vector : wait_memory);
		loop(40, 40);
	} else if (p == PLANTED_END_DRAIN) {
		put(store);
		work(is_sound ? 64 : 4);
	}
}

static void make_issue(enum planted p, bool is_sound)
{
	if (p == PLANTED_UNEVEN_BARRIER) {
		work(8);
		loop(24, is_sound ? 24 : 2);
		put("s_barrier");
		work(8);
	} else if (p == PLANTED_NOP_PADDING) {
		put(matrix[0]);
		put_n(is_sound ? vector : "s_nop 7", is_sound ? 8 : 1);
		put("v_accvgpr_read_b32 v31, a0");
		loop(40, 40);
	} else if (p == PLANTED_MATRIX_CHAIN) {
		for (unsigned i = 0; i < 8; i++)
			put(matrix[is_sound ? i % 4 : 0]);
		loop(40, 40);
	} else if (p == PLANTED_SHORT_LOOP) {
		put_n(vector, is_sound ? 48 : 4);
		loop(is_sound ? 8 : 96, 8);
	}
}

const struct program_text *planted_program(enum planted p, bool is_sound)
{
	static struct program_text text = {.kernel = "planted", .rows = rows};

	begin();
	make_memory(p, is_sound);
	make_order(p, is_sound);
	make_issue(p, is_sound);
	put("s_endpgm");
	text.n = n_rows;
	return &text;
}
