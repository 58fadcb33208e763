/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The ledger: what binds a kernel made of stated figures, each rule on a kernel with its waste and
 * on the same kernel without it, and the time after a change.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analysis/ledger/ledger.h"
#include "isa/ncu_names.h"
#include "mem_trace.h"

#define MOST_ROWS 8
#define MOST_FIGURES 8
#define MOST_TOTALS 12

struct figure { /* of a row, or of the kernel (row 0) */
	unsigned row;
	const char *name;
	double value;
};

struct made_row {
	const char *text;
	uint64_t n;	    /* executed */
	const char *reason; /* NULL: issued alone */
	uint64_t exposed;   /* samples */
};

struct made_kernel {
	struct made_row rows[MOST_ROWS];
	struct figure of_rows[MOST_FIGURES];
	struct figure totals[MOST_TOTALS]; /* besides, or in place of, those of every kernel */
};

#define SHARE(COUNTER) COUNTER ".avg.pct_of_peak_sustained_elapsed"
#define LATENCY(REASON) "smsp__average_warps_issue_stalled_" REASON "_per_issue_active.ratio"

/* 1,056 blocks of 256 threads on 132 SMs, 100,000 cycles, all of them busy. */
static const struct figure every[] = {{0, "gpu__time_duration.sum", 50000},
	{0, "sm__cycles_elapsed.max", 100000}, {0, "sm__cycles_active.max", 100000},
	{0, "sm__cycles_active.avg", 99000}, {0, "launch__sm_count", 132},
	{0, "launch__grid_size", 1056}, {0, "launch__block_size", 256},
	{0, "launch__waves_per_multiprocessor", 1}, {0, "launch__occupancy_limit_registers", 8},
	{0, "launch__occupancy_limit_blocks", 32}, {0, "sm__warps_active.avg.per_cycle_active", 60},
	{0, "smsp__inst_executed.sum", 1e7}, {0, "l1tex__t_sector_hit_rate.pct", 0},
	{0, "lts__t_sector_hit_rate.pct", 0}, {0, SHARE("sm__issue_active"), 30}};

static const char *const reasons[] = {"barrier", "long_scoreboard", "short_scoreboard", "wait",
	"membar", "no_instructions", "lg_throttle", "mio_throttle", "drain", "selected"};
#define REASONS (sizeof(reasons) / sizeof(*reasons))
#define ISSUED 1000 /* samples a row */

static uint32_t reason_of(const char *name)
{
	for (uint32_t i = 0; i < REASONS; i++)
		if (strcmp(reasons[i], name) == 0)
			return i;
	fail_msg("no reason %s", name);
	return 0;
}

/* Totals of the kernel stand before those of every kernel: equal names are taken once. */
static void make_totals(struct trace *t, const struct made_kernel *k)
{
	static const char *const cols[] = {"name", "value", "instances"};
	const size_t n_every = sizeof(every) / sizeof(*every);
	struct named_table *x = arena_zalloc(&t->arena, 1, sizeof(*x));
	const char **cells = arena_zalloc(&t->arena, (n_every + MOST_TOTALS) * 3, sizeof(*cells));
	uint32_t n = 0;

	assert_true(x && cells);
	for (size_t i = 0; i < n_every + MOST_TOTALS; i++) {
		const struct figure *f = i < n_every ? &every[i] : &k->totals[i - n_every];
		bool is_replaced = false;

		for (size_t o = 0; i < n_every && o < MOST_TOTALS; o++)
			is_replaced |= k->totals[o].name && !strcmp(k->totals[o].name, f->name);
		if (!f->name || is_replaced || isnan(f->value))
			continue;
		cells[3 * n] = f->name;
		cells[3 * n + 1] = arena_printf(&t->arena, "%.17g", f->value);
		cells[3 * n++ + 2] = "0";
	}
	*x = (struct named_table){.name = NCU_TABLE_METRICS,
		.origin = "k",
		.n_cols = 3,
		.n_rows = n,
		.cols = cols,
		.cells = cells};
	t->tables = x;
	t->n_tables = 1;
}

static void make_row_figures(struct trace *t, const struct made_kernel *k)
{
	t->metrics = arena_zalloc(&t->arena, MOST_FIGURES, sizeof(*t->metrics));
	assert_non_null(t->metrics);
	for (unsigned i = 0; i < MOST_FIGURES && k->of_rows[i].name; i++) {
		code_idx *row = arena_zalloc(&t->arena, 1, sizeof(*row));
		uint64_t *value = arena_zalloc(&t->arena, 1, sizeof(*value));

		assert_true(row && value);
		*row = k->of_rows[i].row;
		*value = (uint64_t)k->of_rows[i].value;
		t->metrics[t->n_metrics++] = (struct code_metric){
			.name = k->of_rows[i].name, .n = 1, .row = row, .value = value};
	}
}

static struct trace *make_trace(const struct made_kernel *k)
{
	struct mem_code code[MOST_ROWS];
	uint32_t n = 0;
	struct trace *t;

	while (n < MOST_ROWS && k->rows[n].text) {
		code[n] = (struct mem_code){.text = k->rows[n].text};
		n++;
	}
	t = mem_trace_new(&(struct mem_capture){.code = code, .n_code = n});
	t->meta.vendor = VENDOR_NVIDIA;
	t->meta.arch = "sm_90";
	assert_true(trace_make_samples(t, reasons, REASONS));
	t->sampling = (struct trace_sampling){.period_cyc = 1024, .has_not_issued = true};
	for (uint32_t i = 0; i < n; i++) {
		t->code[i].stated.hit = k->rows[i].n;
		t->samples[i].issued = ISSUED;
		t->samples[i].stalled = k->rows[i].exposed;
		if (k->rows[i].reason)
			t->reason_counts[i * REASONS + reason_of(k->rows[i].reason)] =
				(struct reason_count){k->rows[i].exposed, k->rows[i].exposed};
	}
	make_totals(t, k);
	make_row_figures(t, k);
	return t;
}

static struct ledger *make_ledger(struct trace *t)
{
	struct incore_error e = {0};
	struct ledger *l = ledger_new(t, &e);

	assert_non_null(l);
	return l;
}

static const struct ledger_change *find_change(const struct ledger *l, enum ledger_change_id id)
{
	for (uint32_t i = 0; i < l->n_changes; i++)
		if (l->change[i].id == id)
			return &l->change[i];
	return NULL;
}

/* --- what binds ----------------------------------------------------------------------------- */

#define FFMA                                                                                       \
	{                                                                                          \
		"FFMA R1, R2, R3, R4", 4000000                                                     \
	}

static void check_bound(const struct made_kernel *k, enum ledger_bound bound, int unit)
{
	struct trace *t = make_trace(k);
	struct ledger *l = make_ledger(t);

	assert_null(l->missing);
	assert_int_equal(l->bound, bound);
	if (unit >= 0)
		assert_int_equal(l->fullest, unit);
	ledger_free(l);
	trace_free(t);
}

static void a_full_unit_binds(void **state)
{
	(void)state;
	check_bound(&(struct made_kernel){{FFMA},
			    .totals = {{0, SHARE("l1tex__data_pipe_lsu_wavefronts"), 89}}},
		LEDGER_BY_UNIT, MACHINE_L1);
	/* the busiest instance counts: one slice of L2 */
	check_bound(
		&(struct made_kernel){{FFMA},
			.totals = {{0, SHARE("lts__t_tag_requests"), 2},
				{0, "lts__t_tag_requests.max.pct_of_peak_sustained_elapsed", 80}}},
		LEDGER_BY_UNIT, MACHINE_L2);
	/* 75 % of what is possible is not full */
	check_bound(
		&(struct made_kernel){{FFMA}, .totals = {{0, SHARE("dram__cycles_active"), 69}}},
		LEDGER_BY_LATENCY, MACHINE_DRAM);
}

static void waits_far_above_an_idle_machine_are_a_queue(void **state)
{
	static const struct made_kernel k = {
		{{"LDG R1, [R2]", 1000000}, {"FADD R1, R1, R2", 1000000, "long_scoreboard", 30000}},
		.totals = {{0, LATENCY("long_scoreboard"), 800}}};
	struct trace *t = make_trace(&k);
	struct ledger *l = make_ledger(t);

	(void)state;
	/* Little: 800 warps x 1e7 instructions / 1e6 loads */
	assert_float_equal(l->wait[LEDGER_LONG].latency_cyc, 8000, 1);
	assert_float_equal(l->wait[LEDGER_LONG].idle_cyc, 730, 1);
	assert_true(l->wait[LEDGER_LONG].queued > .8);
	assert_int_equal(l->bound, LEDGER_BY_QUEUE);
	assert_int_equal(l->owner, LEDGER_MEMORY);
	ledger_free(l);
	trace_free(t);
}

static void too_few_blocks_are_the_launch(void **state)
{
	(void)state;
	check_bound(&(struct made_kernel){{FFMA}, .totals = {{0, "launch__grid_size", 16}}},
		LEDGER_BY_LAUNCH, -1);
	check_bound(&(struct made_kernel){{FFMA}, .totals = {{0, "sm__cycles_active.avg", 52000}}},
		LEDGER_BY_LAUNCH, -1);
}

static void check_missing(struct trace *t, const char *words)
{
	struct ledger *l = make_ledger(t);

	assert_non_null(l->missing);
	assert_non_null(strstr(l->missing, words));
	assert_int_equal(l->n_changes, 0);
	ledger_free(l);
	trace_free(t);
}

static void without_counters_there_is_no_ledger(void **state)
{
	static const struct made_kernel bare = {
		{FFMA}, .totals = {{0, "sm__cycles_elapsed.max", NAN}}};
	static const struct made_kernel whole = {{FFMA}};
	struct trace *t = make_trace(&bare);

	(void)state;
	check_missing(t, "no counters");
	t = make_trace(&whole);
	t->meta.arch = "sm_70";
	check_missing(t, "rates of this chip");
	t = make_trace(&whole);
	t->meta.vendor = VENDOR_AMD;
	check_missing(t, "not in this capture");
}

static void rates_of_other_chips_are_marked(void **state)
{
	static const struct made_kernel k = {{FFMA}};
	struct trace *t = make_trace(&k);
	struct ledger *l;

	(void)state;
	t->meta.arch = "sm_80";
	l = make_ledger(t);
	assert_null(l->missing);
	assert_int_equal(l->rates->evidence, RATE_DERIVED);
	assert_true(isnan(l->wait[LEDGER_LONG].idle_cyc)); /* latencies are not taken over */
	ledger_free(l);
	trace_free(t);
}

/* --- the rules ------------------------------------------------------------------------------ */

#define SECTORS "memory_l2_theoretical_sectors_global"
#define PASSES "memory_l1_wavefronts_shared"
#define L1_BUSY                                                                                    \
	{                                                                                          \
		0, SHARE("l1tex__data_pipe_lsu_wavefronts"), 85                                    \
	}
#define LANES_ON "thread_inst_executed"

static const struct rule_case {
	enum ledger_change_id id;
	struct made_kernel has, lacks; /* the waste */
} cases[] = {
	{CHANGE_COALESCE,
		{{{"LDG R1, [R2]", 100000}}, {{0, SECTORS, 3200000}, {0, SECTORS "_ideal", 400000}},
			{{0, SHARE("lts__t_sectors"), 80}}},
		{{{"LDG R1, [R2]", 100000}}, {{0, SECTORS, 400000}, {0, SECTORS "_ideal", 400000}},
			{{0, SHARE("lts__t_sectors"), 80}}}},
	{CHANGE_GRID, {{FFMA}, .totals = {{0, "launch__grid_size", 16}}}, {{FFMA}}},
	{CHANGE_TAIL, {{FFMA}, .totals = {{0, "sm__cycles_active.avg", 70000}}}, {{FFMA}}},
	{CHANGE_BANKS,
		{{{"LDS R1, [R2]", 300000}}, {{0, PASSES, 9600000}, {0, PASSES "_ideal", 300000}},
			{L1_BUSY}},
		{{{"LDS R1, [R2]", 300000}}, {{0, PASSES, 300000}, {0, PASSES "_ideal", 300000}},
			{L1_BUSY}}},
	{CHANGE_SHARED_ATOMICS,
		{{{"ATOMS.ADD RZ, [R2], R1", 300000}},
			{{0, PASSES, 9600000}, {0, PASSES "_ideal", 300000}}, {L1_BUSY}},
		{{{"ATOMS.ADD RZ, [R2], R1", 300000}},
			{{0, PASSES, 300000}, {0, PASSES "_ideal", 300000}}, {L1_BUSY}}},
	{CHANGE_CONSTANTS,
		{{{"LDC R1, c[0x3][R2]", 800000}},
			.totals = {{0, "idc__requests.sum", 24e6},
				{0, SHARE("idc__request_cycles_active"), 70}}},
		{{{"LDC R1, c[0x3][0x10]", 800000}},
			.totals = {{0, "idc__requests.sum", 800000},
				{0, SHARE("idc__request_cycles_active"), 70}}}},
	{CHANGE_LOCAL,
		{{{"LDL R1, [R2]", 800000}}, {{0, "memory_l2_theoretical_sectors_local", 8e6}},
			{{0, SHARE("lts__t_sectors"), 80}}},
		{{{"LDG R1, [R2]", 800000}},
			{{0, SECTORS, 3200000}, {0, SECTORS "_ideal", 3200000}},
			{{0, SHARE("lts__t_sectors"), 80}}}},
	{CHANGE_ATOMICS,
		{{{"RED.ADD [R2], R1", 800000, "lg_throttle", 2000}},
			.totals = {{0, SHARE("lts__d_atomic_input_cycles_active"), 1},
				{0, "lts__d_atomic_input_cycles_active.max.pct_of_peak_sustained_elapsed",
					75}}},
		{{{"RED.ADD [R2], R1", 800000}},
			.totals = {{0, SHARE("lts__d_atomic_input_cycles_active"), 1}}}},
	{CHANGE_LANES, {{FFMA}, {{0, LANES_ON, 16000000}}, {{0, SHARE("sm__issue_active"), 90}}},
		{{FFMA}, {{0, LANES_ON, 128000000}}, {{0, SHARE("sm__issue_active"), 90}}}},
	{CHANGE_TENSOR,
		{{{"FFMA R1, R2, R3, R1", 8000000}},
			.totals = {{0, SHARE("sm__pipe_fma_cycles_active"), 90}}},
		/* a polynomial multiplies what it has so far */
		{{{"FFMA R1, R1, R3, R4", 8000000}},
			.totals = {{0, SHARE("sm__pipe_fma_cycles_active"), 90}}}},
	{CHANGE_NEIGHBOURS,
		{{{"STS [R2], R1", 1000000}, {"BAR.SYNC 0x0", 1000000, "barrier", 4000},
			 {"LDS R3, [R2+0x4]", 1000000, "short_scoreboard", 4000}},
			{{0, LANES_ON "_true", 32e6}, {2, LANES_ON "_true", 32e6}}},
		/* a tile that is read many times */
		{{{"STS [R2], R1", 100000}, {"BAR.SYNC 0x0", 100000, "barrier", 4000},
			 {"LDS R3, [R2+0x4]", 4000000, "short_scoreboard", 4000}},
			{{0, LANES_ON "_true", 32e5}, {2, LANES_ON "_true", 128e6}}}},
	{CHANGE_FP64,
		{{{"F2F R2, R1", 1000000}, {"DFMA R2, R2, R4, R6", 1000000}},
			.totals = {{0, SHARE("sm__inst_executed_pipe_xu"), 80}}},
		{{FFMA}, .totals = {{0, SHARE("sm__inst_executed_pipe_xu"), 80}}}},
	{CHANGE_SPECIAL,
		{{{"MUFU.EX2 R2, R1", 3000000}},
			.totals = {{0, SHARE("sm__inst_executed_pipe_xu"), 80}}},
		{{{"MUFU.EX2 R2, R1", 3000000}},
			.totals = {{0, SHARE("sm__inst_executed_pipe_xu"), 30}}}},
	{CHANGE_INT_DIVISION,
		{{{"I2F R1, R2", 200000}, {"MUFU.RCP R1, R1", 200000}, {"F2I R1, R1", 200000},
			 {"IMAD.HI R3, R1, R4, R5", 400000}},
			.totals = {{0, SHARE("sm__issue_active"), 85}}},
		{{{"IMAD R3, R1, R4, R5", 400000}},
			.totals = {{0, SHARE("sm__issue_active"), 85}}}},
	{CHANGE_DIVISION,
		{{{"MUFU.RCP R1, R2", 500000}, {"FCHK P0, R2, R3", 500000}},
			.totals = {{0, SHARE("sm__issue_active"), 85}}},
		{{{"MUFU.RCP R1, R2", 500000}}, .totals = {{0, SHARE("sm__issue_active"), 85}}}},
	{CHANGE_POWER,
		{{{"FFMA R1, R2, R3, 0.018033718690276145935", 200000}},
			.totals = {{0, SHARE("sm__issue_active"), 85}}},
		{{{"FFMA R1, R2, R3, 0.5", 200000}},
			.totals = {{0, SHARE("sm__issue_active"), 85}}}},
	{CHANGE_TREE,
		{{{"LDS R1, [R2]", 1500000}, {"BAR.SYNC 0x0", 100000, "barrier", 2000}},
			{{0, "thread_inst_executed_true", 6000000}}},
		{{{"LDS R1, [R2]", 1500000}, {"BAR.SYNC 0x0", 100000, "barrier", 2000}},
			{{0, "thread_inst_executed_true", 48000000}}}},
	{CHANGE_BARRIER, {{{"BAR.SYNC 0x0", 20000, "barrier", 2000}}},
		{{{"BAR.SYNC 0x0", 20000, "barrier", 20}}}},
	{CHANGE_REUSE,
		{{FFMA, {"LDS R1, [R2]", 4000000}}, {{1, PASSES, 10e6}, {1, PASSES "_ideal", 10e6}},
			{L1_BUSY}},
		{{FFMA, {"LDS R1, [R2]", 400000}}, {{1, PASSES, 10e6}, {1, PASSES "_ideal", 10e6}},
			{L1_BUSY}}},
	{CHANGE_TILE,
		{{{"HMMA.16816.F32 R1, R2, R3, R4", 500000}, {"LDSM R1, [R2]", 500000},
			 {"HMMA.16816.F32 R1, R2, R3, R4", 500000, "short_scoreboard", 2000}},
			.totals = {{0, SHARE("sm__pipe_tensor_cycles_active"), 30}}},
		{{{"HMMA.16816.F32 R1, R2, R3, R4", 500000}, {"LDSM R1, [R2]", 500000},
			 {"HMMA.16816.F32 R1, R2, R3, R4", 500000, "short_scoreboard", 2000}},
			.totals = {{0, SHARE("sm__pipe_tensor_cycles_active"), 80}}}},
	{CHANGE_RELOAD,
		{{{"LDG R1, [R2]", 800000, "long_scoreboard", 2000}},
			{{0, SECTORS, 3200000}, {0, SECTORS "_ideal", 3200000}},
			{{0, "dram__bytes_read.sum", 10e6}, {0, LATENCY("long_scoreboard"), 30}}},
		{{{"LDG R1, [R2]", 800000, "long_scoreboard", 2000}},
			{{0, SECTORS, 3200000}, {0, SECTORS "_ideal", 3200000}},
			{{0, "dram__bytes_read.sum", 100e6}, {0, LATENCY("long_scoreboard"), 30}}}},
	{CHANGE_NARROW,
		{{{"LDG.U8 R1, [R2]", 800000, "long_scoreboard", 2000}},
			.totals = {{0, LATENCY("long_scoreboard"), 30}}},
		{{{"LDG R1, [R2]", 800000, "long_scoreboard", 2000}},
			.totals = {{0, LATENCY("long_scoreboard"), 30}}}},
	{CHANGE_SMALL_BLOCKS,
		{{FFMA}, .totals = {{0, "launch__block_size", 32},
				 {0, "launch__occupancy_limit_registers", 64}}},
		{{FFMA}, .totals = {{0, "launch__occupancy_limit_registers", 64}}}},
	{CHANGE_IN_FLIGHT,
		{{{"LDG R1, [R2]", 800000}, {"FADD R1, R1, R2", 800000, "long_scoreboard", 2000}},
			.totals = {{0, LATENCY("long_scoreboard"), 30}}},
		{{{"LDG R1, [R2]", 800000}, {"FADD R1, R1, R2", 800000, "long_scoreboard", 100}},
			.totals = {{0, LATENCY("long_scoreboard"), 30}}}},
	{CHANGE_AHEAD,
		{{{"LDG R1, [R2]", 100000}, {"STS [R3], R1", 100000, "long_scoreboard", 2000},
			 {"BAR.SYNC 0x0", 100000}},
			.totals = {{0, LATENCY("long_scoreboard"), 5}}},
		{{{"LDG R1, [R2]", 100000}, {"STS [R3], R1", 100000, "long_scoreboard", 2000}},
			.totals = {{0, LATENCY("long_scoreboard"), 5}}}},
	{CHANGE_CHAIN, {{{"FFMA R1, R1, R2, R3", 4000000, "wait", 2000}}},
		{{{"FFMA R1, R1, R2, R3", 4000000, "wait", 50}}}},
	{CHANGE_FENCE, {{{"MEMBAR.SC.GPU", 10000, "membar", 2000}}},
		{{{"MEMBAR.SC.GPU", 10000, "membar", 10}}}},
	{CHANGE_FETCH, {{{"FFMA R1, R1, R2, R3", 4000000, "no_instructions", 2000}}},
		{{{"FFMA R1, R1, R2, R3", 4000000, "no_instructions", 10}}}},
};

static void each_rule_speaks_of_its_waste_alone(void **state)
{
	bool is_tested[CHANGE_IDS] = {false};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct trace *with = make_trace(&cases[i].has),
			     *without = make_trace(&cases[i].lacks);
		struct ledger *a = make_ledger(with), *b = make_ledger(without);
		const struct ledger_change *c = find_change(a, cases[i].id);

		if (!c || find_change(b, cases[i].id))
			fail_msg("%s %s", ledger_change_code(cases[i].id),
				c ? "speaks without its waste" : "is silent");
		assert_true(c->gain > 0 && c->gain <= 1);
		assert_true(c->least <= c->gain && c->gain <= c->most && c->most <= 1);
		assert_non_null(c->counted);
		is_tested[cases[i].id] = true;
		ledger_free(a);
		ledger_free(b);
		trace_free(with);
		trace_free(without);
	}
	for (unsigned i = 0; i < CHANGE_IDS; i++)
		if (!is_tested[i])
			fail_msg("%s has no case", ledger_change_code(i));
}

/* --- the time after a change ---------------------------------------------------------------- */

static struct ledger_effect no_effect(void)
{
	struct ledger_effect x = {.queue = 1, .latency = 1};

	for (unsigned u = 0; u < MACHINE_UNITS; u++)
		x.unit[u] = 1;
	return x;
}

static void time_is_composed_of_what_stands(void **state)
{
	struct ledger l = {.elapsed_cyc = 1100, .window_cyc = 1000, .fixed_cyc = 100};
	struct ledger_effect x = no_effect();

	(void)state;
	l.unit[MACHINE_L1] = (struct ledger_unit){.is_known = true, .cycles = 600};
	l.fullest = MACHINE_L1;
	l.full_cyc = 600;
	for (unsigned q = 0; q < 3; q++) /* nothing changed: nothing saved */
		assert_float_equal(ledger_after(&l, &x, q), 1100, 1e-3);
	x.latency = 0;
	for (unsigned q = 0; q < 3; q++)
		assert_float_equal(ledger_after(&l, &x, q), 700, 1e-3);
	x.unit[MACHINE_L1] = .5;
	assert_float_equal(ledger_after(&l, &x, 1), 400, 1e-3);
	x.latency = 1;
	assert_float_equal(ledger_after(&l, &x, 1), 100 + 300 + 400, 1e-3);
	assert_float_equal(ledger_after(&l, &x, 2), 100 + sqrt(300. * 300 + 800. * 800), 1e-3);
	assert_float_equal(ledger_after(&l, &x, 0), 1100, 1e-3);
	/* work that moves elsewhere is a floor */
	x.latency = 0;
	x.added_cyc = 500;
	assert_float_equal(ledger_after(&l, &x, 1), 600, 1e-3);
}

static void behind_a_full_unit_no_latency_helps(void **state)
{
	struct ledger l = {.elapsed_cyc = 1000,
		.window_cyc = 1000,
		.is_full = true,
		.full_cyc = 950,
		.fullest = MACHINE_DRAM,
		.idle_share = .5};
	struct ledger_change c = {.best = no_effect(), .worst = no_effect()};
	double last = 2;

	(void)state;
	l.unit[MACHINE_DRAM] = (struct ledger_unit){.is_known = true, .cycles = 950};
	c.best.latency = 0;
	ledger_estimate(&l, &c);
	assert_float_equal(c.gain, 0, 1e-9);
	assert_int_equal(c.next, MACHINE_DRAM);
	/* the less a unit has to do, the shorter */
	for (int i = 9; i >= 0; i--) {
		c.best.unit[MACHINE_DRAM] = c.worst.unit[MACHINE_DRAM] = i / 10.;
		ledger_estimate(&l, &c);
		assert_true(1 - c.gain <= last);
		last = 1 - c.gain;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_full_unit_binds),
		cmocka_unit_test(waits_far_above_an_idle_machine_are_a_queue),
		cmocka_unit_test(too_few_blocks_are_the_launch),
		cmocka_unit_test(without_counters_there_is_no_ledger),
		cmocka_unit_test(rates_of_other_chips_are_marked),
		cmocka_unit_test(each_rule_speaks_of_its_waste_alone),
		cmocka_unit_test(time_is_composed_of_what_stands),
		cmocka_unit_test(behind_a_full_unit_no_latency_helps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
