/* SPDX-License-Identifier: Apache-2.0 */
/* machines.c: one bottleneck at a time, on machines drawn at random. */
#include "machines.h"

#include <string.h>

#define FIRST 3u /* row number of the first row in the loop */

static const char *const hit = "buffer_load_dwordx4 v[8:11], v0, s[4:7], 0 offen";
static const char *const stream = "buffer_load_dwordx4 v[8:11], v0, s[4:7], 0 offen nt";
static const char *const narrow = "global_load_dword v40, v[2:3], off";
static const char *const wide = "global_load_dwordx4 v[40:43], v[2:3], off";
static const char *const read = "ds_read_b128 v[16:19], v1";
static const char *const swap = "ds_bpermute_b32 v32, v1, v31";
static const char *const matrix[] = {
	"v_mfma_f32_16x16x32_f16 a[0:3], v[16:19], v[20:23], a[0:3]",
	"v_mfma_f32_16x16x32_f16 a[4:7], v[16:19], v[20:23], a[4:7]",
	"v_mfma_f32_16x16x32_f16 a[8:11], v[16:19], v[20:23], a[8:11]",
	"v_mfma_f32_16x16x32_f16 a[12:15], v[16:19], v[20:23], a[12:15]",
};
static const char *const vector[] = {"v_add_f32_e32 v60, v31, v32", "v_add_f32_e32 v61, v31, v32",
	"v_add_f32_e32 v62, v31, v32", "v_add_f32_e32 v63, v31, v32"};
static const char *const wait_memory = "s_waitcnt vmcnt(0)";
static const char *const wait_lds = "s_waitcnt lgkmcnt(0)";

const struct machine_kernel machine_kernels[] = {{"valu", 4, false}, {"mfma", 4, false},
	{"salu", 6, false}, {"lds", 4, false}, {"vmem-data", 4, false}, {"hbm", 4, false},
	{"narrow-access", 4, false}, {"late-load", 1, false}, {"late-lds", 1, false},
	{"late-scalar", 1, false}, {"cross-lane", 1, false}, {"nop-padding", 1, false},
	{"uneven-barrier", 1, true}};
const unsigned n_machine_kernels = sizeof(machine_kernels) / sizeof(*machine_kernels);

static struct sim_row rows[SIM_MAX_ROWS];
static unsigned n_rows;

static void put(const char *text)
{
	if (n_rows < SIM_MAX_ROWS)
		rows[n_rows++] = (struct sim_row){.text = text, .source = "/kernels/machine.hip:7"};
}

static void put_n(const char *const *texts, unsigned kinds, unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		put(texts[i % kinds]);
}

static void loop(int times, int idle_times)
{
	put("s_cbranch_scc1 %u");
	rows[n_rows - 1].to = FIRST;
	rows[n_rows - 1].times = times - 1;
	rows[n_rows - 1].idle_times = idle_times - 1;
}

/* A load that many instructions of one unit stand beside. */
static void full(const char *const *texts, unsigned kinds, unsigned n)
{
	put(hit);
	put_n(texts, kinds, n);
	put(wait_memory);
	loop(16, 16);
}

static void many(const char *what, unsigned n, const char *wait)
{
	put_n(&what, 1, n);
	put_n(vector, 4, 4);
	put(wait);
	loop(16, 16);
}

/* Asked for in the turn that needs it, or one turn ahead. */
static void asked(const char *what, const char *wait, const char *wait_for_older, bool is_ahead)
{
	if (is_ahead)
		rows[1].text = what; /* before the loop */
	put(what);
	if (!is_ahead)
		put(wait);
	else
		put(wait_for_older);
	put_n(matrix, 4, 16);
	loop(24, 24);
}

static void make_full(const char *name, bool is_mended)
{
	static const char *const scalar[] = {"s_add_u32 s20, s21, s22", "s_add_u32 s23, s21, s22"};

	if (strcmp(name, "valu") == 0)
		full(vector, 4, is_mended ? 60 : 120);
	else if (strcmp(name, "mfma") == 0)
		full(matrix, 4, is_mended ? 24 : 48);
	else if (strcmp(name, "salu") == 0)
		full(scalar, 2, is_mended ? 60 : 120);
	else if (strcmp(name, "lds") == 0)
		many(read, is_mended ? 8 : 16, wait_lds);
	else if (strcmp(name, "vmem-data") == 0)
		many(hit, is_mended ? 8 : 16, wait_memory);
	else if (strcmp(name, "hbm") == 0)
		many(stream, is_mended ? 4 : 8, wait_memory);
	else if (strcmp(name, "narrow-access") == 0)
		many(is_mended ? wide : narrow, is_mended ? 4 : 16, wait_memory);
}

static void make_waiting(const char *name, bool is_mended)
{
	if (strcmp(name, "late-load") == 0) {
		asked(hit, wait_memory, "s_waitcnt vmcnt(1)", is_mended);
	} else if (strcmp(name, "late-lds") == 0) {
		asked(read, wait_lds, "s_waitcnt lgkmcnt(1)", is_mended);
	} else if (strcmp(name, "late-scalar") == 0) {
		put_n(matrix, 4, is_mended ? 0 : 16);
		put("s_load_dwordx4 s[12:15], s[0:1], 0x0");
		put_n(matrix, 4, is_mended ? 16 : 0);
		put(wait_lds);
		put_n(matrix, 4, 4);
		put("s_add_u32 s20, s12, s13");
	} else if (strcmp(name, "cross-lane") == 0) {
		put(is_mended ? "v_add_f32_dpp v32, v31, v31 row_shr:1" : swap);
		put(wait_lds);
		put_n(vector, 4, 8);
		loop(24, 24);
	} else if (strcmp(name, "nop-padding") == 0) {
		put(matrix[0]);
		put_n(is_mended ? vector : (const char *const[]){"s_nop 7"}, is_mended ? 4 : 1,
			is_mended ? 1 : 2);
		put("v_accvgpr_read_b32 v31, a0");
		loop(40, 40);
	}
}

static void make_shared(const char *name, bool is_mended)
{
	if (strcmp(name, "uneven-barrier") == 0) {
		put_n(matrix, 4, 8);
		loop(is_mended ? 9 : 24, is_mended ? 9 : 4);
		put("s_barrier");
		put_n(matrix, 4, 8);
	}
}

const struct program_text *machine_program(unsigned kernel, bool is_mended)
{
	static struct program_text text = {.kernel = "machine", .rows = rows};
	const char *name = machine_kernels[kernel].name;

	n_rows = 0;
	put("v_lshlrev_b32_e32 v0, 4, v0");
	put("s_mov_b32 s10, 4");
	make_full(name, is_mended);
	make_waiting(name, is_mended);
	make_shared(name, is_mended);
	put("s_endpgm");
	text.n = n_rows;
	return &text;
}

static unsigned drawn(uint64_t seed, unsigned key, unsigned middle)
{
	unsigned spread = middle * 3 / 10;

	return middle - spread + (unsigned)sim_random(seed, key, 2 * spread + 1);
}

struct sim_rates machine_rates(uint64_t seed)
{
	return (struct sim_rates){.lds_bytes = drawn(seed, 1, 128 * 16 * 10 / 13),
		.l1_bytes = drawn(seed, 2, 64 * 16 * 10 / 13),
		.hbm_bytes = drawn(seed, 3, 10 * 16),
		.memory_cyc = drawn(seed, 4, 600),
		.lds_cyc = drawn(seed, 5, 96),
		.scalar_cyc = drawn(seed, 6, 240),
		.vmem_queue = drawn(seed, 7, 32),
		.lds_queue = drawn(seed, 8, 24)};
}
