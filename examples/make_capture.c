/* SPDX-License-Identifier: Apache-2.0 */
/*
 * make_capture.c: makes a small thread-trace capture, sound or broken in one known way, for the
 * demo and the tests.
 *
 *	make_capture VARIANT DIRECTORY	writes DIRECTORY/ui_output_agent_*_dispatch_*
 *	make_capture --list		names the variants
 *	make_capture --all DIRECTORY	writes every variant to DIRECTORY/VARIANT
 *	make_capture --change ROW=K VARIANT DIRECTORY	the variant with row ROW K times as fast (0: not
 *		there; ROW 0: no row), random latencies the same whatever the change
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "machines.h"
#include "planted.h"
#include "programs.h"
#include "ui_write.h"

#define AGENT 1000
#define FIRST_WAVE 20000

static struct sim_program program;

struct shape { /* how many waves, and where */
	unsigned n_se, n_simd, n_slots, n_numbers;
};

static bool add_waves(struct ui_capture *c, struct shape s)
{
	size_t n = (size_t)s.n_se * s.n_simd * s.n_slots * s.n_numbers, i = 0;

	c->sim.waves = calloc(n, sizeof(*c->sim.waves));
	if (!c->sim.waves)
		return false;
	c->sim.n_waves = n;
	for (unsigned se = 0; se < s.n_se; se++) {
		for (unsigned k = 0; k < s.n_simd * s.n_slots * s.n_numbers; k++) {
			unsigned number = k % s.n_numbers, slot = k / s.n_numbers % s.n_slots;
			unsigned simd = k / s.n_numbers / s.n_slots;

			c->sim.waves[i++] = (struct sim_wave){
				.se = se,
				.cu = c->target_cu,
				.simd = simd,
				.slot = slot,
				.number = number,
				.workgroup = slot * s.n_numbers + number,
				.begin = FIRST_WAVE + 4 * simd + 12 * slot + 4000 * number,
			};
		}
	}
	return true;
}

static void capture_init(struct ui_capture *c, const struct program_text *t, unsigned gfx)
{
	memset(&program, 0, sizeof(program));
	program.kernel = t->kernel;
	program.rows = t->rows;
	program.n = t->n;
	program.vaddr = 5632;
	sim_layout(&program);
	*c = (struct ui_capture){
		.sim = {.program = &program, .gfx = gfx, .quantum = gfx == 9 ? 4 : 1, .seed = 7},
		.program = &program,
		.n_se = 1,
		.target_cu = 1,
		.agent = AGENT,
		.dispatch = 3,
		.arch = "gfx950",
		.kernel_vgprs = 4,
		.kernel_sgprs = 16,
		.workgroup_size = 64,
		.workgroups = 64,
		.sources = t->sources,
		.clock_mhz = 2150,
	};
}

static struct sim_change changes[SIM_MAX_ROWS];
static bool has_changes;

static bool finish(struct ui_capture *c, const char *dir)
{
	bool ok;

	c->sim.changes = has_changes ? changes : NULL;
	ok = c->sim.waves && sim_run(&c->sim) && ui_write(c, dir);

	sim_free(&c->sim);
	return ok;
}

/* --- variants --- */

static bool two_waves(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_add, 9);
	return add_waves(&c, (struct shape){1, 2, 1, 1}) && finish(&c, dir);
}

static void gemm_init(struct ui_capture *c)
{
	capture_init(c, &program_gemm, 9);
	c->n_se = 2;
	c->n_other_cus = 7; /* 8 of 9 CU numbers are there, as on the real machine */
	for (unsigned i = 1; i < 7; i++)
		c->other_cus[i] = i + 2;
	c->other_waves_per_simd = 2;
	c->dispatch = 7;
	c->kernel_vgprs = 28; /* half of the 40 + 16 that the ISA uses, as rocprofv3 has it */
	c->kernel_accum = 0;
	c->kernel_sgprs = 32;
	c->lds_bytes = 65536;
	c->workgroup_size = 256;
	c->workgroups = 32 * 15;
}

static bool gemm(const char *dir)
{
	struct ui_capture c;

	gemm_init(&c);
	c.flags = UI_SIDE_FILES;
	if (!add_waves(&c, (struct shape){2, 4, 1, 1}))
		return false;
	c.sim.waves[1].tail = 8;
	c.sim.waves[2].tail = -4;
	c.sim.waves[3].has_overlap = true;
	return finish(&c, dir);
}

static bool shell(const char *dir, unsigned flags, uint64_t dispatch)
{
	struct ui_capture c;

	capture_init(&c, &program_gemm, 9);
	c.n_se = 2;
	c.flags = UI_NO_WAVES | flags;
	c.sources = NULL;
	c.dispatch = dispatch;
	c.n_other_cus = 2;
	c.other_cus[0] = 3;
	c.other_cus[1] = 5;
	c.other_waves_per_simd = 1;
	return add_waves(&c, (struct shape){2, 4, 1, 1}) && finish(&c, dir);
}

static bool shell_empty(const char *dir)
{
	return shell(dir, UI_NO_EVENTS, 3);
}

static bool shell_missed_cu(const char *dir)
{
	return shell(dir, UI_MISS_TARGET, 3);
}

/* The buffer of SE0 ran full: its four waves stop in the middle and never end. */
static bool truncated(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_add, 9);
	c.n_se = 2;
	c.flags = UI_OPEN_END;
	if (!add_waves(&c, (struct shape){2, 4, 1, 1}))
		return false;
	for (unsigned i = 0; i < 4; i++)
		c.sim.waves[i].cut_after = 5 + i % 2;
	return finish(&c, dir);
}

static bool path_of(char *out, size_t size, const char *dir, const char *name)
{
	return snprintf(out, size, "%s/ui_output_agent_%u_dispatch_3/%s", dir, AGENT, name) <
	       (int)size;
}

static bool missing_wave(const char *dir)
{
	struct ui_capture c;
	char from[4096], to[4096];

	capture_init(&c, &program_add, 9);
	return add_waves(&c, (struct shape){1, 4, 1, 2}) && finish(&c, dir) &&
	       path_of(from, sizeof(from), dir, "se0_sm3_sl0_wv0.json") &&
	       path_of(to, sizeof(to), dir, "se0_sm0_sl5_wv9.json") && rename(from, to) == 0;
}

static bool early_exit(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, program_early_exit(), 9);
	if (!add_waves(&c, (struct shape){1, 4, 2, 1}))
		return false;
	for (size_t i = 0; i < c.sim.n_waves; i++)
		c.sim.waves[i].is_idle = true;
	return finish(&c, dir);
}

static bool repeated(const char *dir)
{
	struct ui_capture c;

	if (!shell(dir, UI_NO_EVENTS, 5))
		return false;
	for (unsigned i = 0; i < 2; i++) {
		gemm_init(&c);
		c.n_se = 1;
		c.n_other_cus = 1;
		c.dispatch = 7 + 2 * i;
		c.sim.seed = 7 + i;
		if (!add_waves(&c, (struct shape){1, 4, 1, 1}) || !finish(&c, dir))
			return false;
	}
	return true;
}

static bool pc_sampling(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_gemm, 9);
	c.flags = UI_PC_SAMPLING;
	return ui_write(&c, dir);
}

static bool v31(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_add, 9);
	c.n_se = 2;
	c.flags = UI_NEW_COLUMNS;
	c.n_other_cus = 1;
	c.other_waves_per_simd = 1;
	return add_waves(&c, (struct shape){2, 2, 1, 1}) && finish(&c, dir);
}

/* Two kernels at once, each on an SE of its own. */
static bool two_kernels(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_add, 9);
	c.n_se = 2;
	c.flags = UI_NEW_COLUMNS;
	c.second_kernel = "scale<float, 4>";
	if (!add_waves(&c, (struct shape){2, 2, 1, 1}))
		return false;
	c.sim.waves[3].tail = 8;
	return finish(&c, dir);
}

static bool inlined(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_inline, 9);
	return add_waves(&c, (struct shape){1, 4, 2, 1}) && finish(&c, dir);
}

static bool gfx11(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_gfx11, 11);
	c.arch = "gfx1100";
	return add_waves(&c, (struct shape){1, 1, 8, 1}) && finish(&c, dir);
}

static bool gfx12(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_gfx12, 12);
	c.arch = "gfx1200";
	return add_waves(&c, (struct shape){1, 1, 8, 1}) && finish(&c, dir);
}

static bool collapsed(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_collapsed, 9);
	return add_waves(&c, (struct shape){1, 4, 2, 1}) && finish(&c, dir);
}

/* The snapshot is shorter than the lines that the code names. */
static bool stale_source(const char *dir)
{
	static const struct ui_source shorter[] = {
		{"/kernels/add.py", "import gpu\n\n\n@gpu.kernel\ndef add_one(\n        x, y):\n"},
		{NULL, NULL},
	};
	struct ui_capture c;

	capture_init(&c, &program_add, 9);
	c.sources = shorter;
	return add_waves(&c, (struct shape){1, 4, 2, 1}) && finish(&c, dir);
}

static bool no_source(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_add, 9);
	c.sources = NULL;
	c.flags = UI_UNMAPPED;
	return add_waves(&c, (struct shape){1, 4, 2, 1}) && finish(&c, dir);
}

static bool throttled(const char *dir)
{
	struct ui_capture c;

	capture_init(&c, &program_add, 9);
	c.flags = UI_SIDE_FILES;
	c.clock_mhz = 1990;
	return add_waves(&c, (struct shape){1, 4, 2, 1}) && finish(&c, dir);
}

/* Keeps the first half of a file. */
static bool halve(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && truncate(path, st.st_size / 2) == 0;
}

static bool bad_json(const char *dir)
{
	char path[4096];

	return two_waves(dir) && path_of(path, sizeof(path), dir, "code.json") && halve(path);
}

static bool bad_wave(const char *dir)
{
	char path[4096];

	return two_waves(dir) && path_of(path, sizeof(path), dir, "se0_sm1_sl0_wv0.json") &&
	       halve(path);
}

static const struct variant {
	const char *name;
	bool (*make)(const char *dir);
	const char *what;
} variants[] = {
	{"two_waves", two_waves, "two waves of a ten-row kernel"},
	{"gemm", gemm, "matrix loop, barrier, LDS; 8 waves on 2 SEs; sources and side files"},
	{"shell_empty", shell_empty, "a directory in which nothing was traced"},
	{"shell_missed_cu", shell_missed_cu, "the grid missed the traced CU"},
	{"truncated", truncated, "the trace buffer ran full: half of the waves are cut"},
	{"missing_wave", missing_wave, "one listed wave file is gone, one is not listed"},
	{"early_exit", early_exit, "every wave leaves before the matrix instructions"},
	{"repeated", repeated, "a shell and two captures of one kernel"},
	{"pc_sampling", pc_sampling, "PC sampling: no waves, 13 columns"},
	{"v31", v31, "14 columns, occupancy 3.1.0, counters, markers, other SIMDs, spm"},
	{"two_kernels", two_kernels, "two kernels at once, each on its own SE"},
	{"inline", inlined, "inline chains in the source column"},
	{"gfx11", gfx11, "gfx11 waits (vscnt)"},
	{"gfx12", gfx12, "gfx12 waits (loadcnt, dscnt, kmcnt, storecnt)"},
	{"collapsed", collapsed, "nearly all rows on one source line"},
	{"stale_source", stale_source, "the source copy is shorter than the lines named"},
	{"no_source", no_source, "built without line information"},
	{"throttled", throttled, "a clock 10 % below the maximum"},
	{"bad_json", bad_json, "code.json is cut in the middle"},
	{"bad_wave", bad_wave, "one of two wave files is cut in the middle"},
};

#define N_VARIANTS (sizeof(variants) / sizeof(variants[0]))

static int make_all(const char *dir)
{
	char path[4096];

	for (size_t i = 0; i < N_VARIANTS; i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, variants[i].name);
		if (!variants[i].make(path)) {
			fprintf(stderr, "make_capture: cannot write %s\n", path);
			return 1;
		}
	}
	return 0;
}

/* "12=2.5" */
static bool read_change(const char *text)
{
	char *end;
	unsigned long row = strtoul(text, &end, 10);
	double k = *end == '=' ? strtod(end + 1, NULL) : -1;

	if (row > SIM_MAX_ROWS || k < 0 || k > 1000)
		return false;
	has_changes = true;
	if (row)
		changes[row - 1] = (struct sim_change){(unsigned)(k * 1000 + 0.5), k == 0};
	return true;
}

/* DIR/<rule>/planted and DIR/<rule>/sound. */
static int write_planted(const char *dir)
{
	for (unsigned i = 0; i < 2 * PLANTED_COUNT; i++) {
		struct ui_capture c;
		char path[4096];
		bool is_sound = i % 2;

		snprintf(path, sizeof(path), "%s/%s", dir, planted_names[i / 2]);
		mkdir(path, 0777);
		snprintf(path, sizeof(path), "%s/%s/%s", dir, planted_names[i / 2],
			is_sound ? "sound" : "planted");
		capture_init(&c, planted_program((enum planted)(i / 2), is_sound), 9);
		c.workgroups = 1 << 20; /* the grid limits nothing */
		if (!add_waves(&c, (struct shape){1, 4, 1, 1}))
			return 1;
		for (unsigned k = 1; k < 4; k++)
			c.sim.waves[k].is_idle = i / 2 == PLANTED_UNEVEN_BARRIER;
		if (!finish(&c, path)) {
			fprintf(stderr, "make_capture: cannot write %s\n", path);
			return 1;
		}
	}
	return 0;
}

/* DIR/<bottleneck>/planted and DIR/<bottleneck>/mended, on the machine of that seed. */
static int write_machines(const char *seed, const char *dir)
{
	const uint64_t number = strtoull(seed, NULL, 10);
	const struct sim_rates rates = machine_rates(number);

	for (unsigned i = 0; i < 2 * n_machine_kernels; i++) {
		const struct machine_kernel *m = &machine_kernels[i / 2];
		const bool is_mended = i % 2;
		struct ui_capture c;
		char path[4096];

		snprintf(path, sizeof(path), "%s/%s", dir, m->name);
		mkdir(path, 0777);
		snprintf(path, sizeof(path), "%s/%s/%s", dir, m->name,
			is_mended ? "mended" : "planted");
		capture_init(&c, machine_program(i / 2, is_mended), 9);
		c.workgroups = 1 << 20; /* the grid limits nothing */
		c.sim.rates = &rates;
		c.sim.seed = number;
		if (!add_waves(&c, (struct shape){1, 4, m->n_slots, 1}))
			return 1;
		for (size_t k = 0; k < c.sim.n_waves; k++)
			c.sim.waves[k].is_idle = m->is_uneven && k % 4;
		if (!finish(&c, path)) {
			fprintf(stderr, "make_capture: cannot write %s\n", path);
			return 1;
		}
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && strcmp(argv[1], "--change") == 0 && read_change(argv[2])) {
		argc -= 2;
		argv += 2;
	}
	if (argc == 2 && strcmp(argv[1], "--list") == 0) {
		for (size_t i = 0; i < N_VARIANTS; i++)
			printf("%-16s %s\n", variants[i].name, variants[i].what);
		return 0;
	}
	if (argc == 4 && strcmp(argv[1], "--machine") == 0)
		return write_machines(argv[2], argv[3]);
	if (argc == 3 && strcmp(argv[1], "--planted") == 0)
		return write_planted(argv[2]);
	if (argc == 3 && strcmp(argv[1], "--all") == 0)
		return make_all(argv[2]);
	for (size_t i = 0; argc == 3 && i < N_VARIANTS; i++) {
		if (strcmp(argv[1], variants[i].name) == 0)
			return variants[i].make(argv[2]) ? 0 : 1;
	}
	fprintf(stderr,
		"usage: make_capture [--change ROW=K] VARIANT DIRECTORY | --all DIRECTORY | --planted DIRECTORY | --machine SEED DIRECTORY | --list\n");
	return 2;
}
