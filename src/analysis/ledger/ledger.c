/* SPDX-License-Identifier: Apache-2.0 */
/* ledger.c: how long each unit needs, what is queueing, what is latency, and which of them binds. */
#include <stdio.h>

#include "analysis/ledger/ledger_internal.h"
#include "base/mem.h"
#include "trace/kind.h"

/* Cycles of launch and end at most; the slowest SM's idle cycles beyond that are its own. */
#define FIXED_CYC 3500
#define LANES 32
/* A mean latency is queueing as far as it exceeds this many times that of an idle machine. */
#define IDLE_MARGIN 1.5
#define DEVICE_WARPS 2048 / LANES

#define LOADS_LONG "LDG LDL ATOMG ATOM LD LDGDEPBAR UBLKCP TEX"
#define LOADS_SHORT "LDS LDC MUFU SHFL ATOMS LDSM S2R S2UR F2I I2F F2F"

/* Counters of the units: the busiest of them counts. */
static const struct {
	const char *counter[5];
	bool is_of_device;
} counters[MACHINE_UNITS] = {
	[MACHINE_ISSUE] = {{"sm__issue_active"}},
	[MACHINE_FMA] = {{"sm__pipe_fma_cycles_active", "sm__pipe_fmaheavy_cycles_active"}},
	[MACHINE_ALU] = {{"sm__pipe_alu_cycles_active"}},
	[MACHINE_XU] = {{"sm__inst_executed_pipe_xu"}},
	[MACHINE_FP64] = {{"sm__pipe_fp64_cycles_active"}},
	[MACHINE_TENSOR] = {{"sm__pipe_tensor_cycles_active"}},
	[MACHINE_UNIFORM] = {{"sm__inst_executed_pipe_uniform"}},
	[MACHINE_LSU] = {{"sm__inst_executed_pipe_lsu", "l1tex__lsuin_requests",
		"sm__mio_inst_issued"}},
	[MACHINE_ADU] = {{"sm__inst_executed_pipe_adu"}},
	[MACHINE_L1] = {{"l1tex__data_pipe_lsu_wavefronts", "l1tex__lsu_writeback_active"}},
	[MACHINE_L2_LINK] = {{"l1tex__m_xbar2l1tex_read_sectors",
		"l1tex__m_l1tex2xbar_req_cycles_active"}},
	[MACHINE_CONSTANTS] = {{"idc__request_cycles_active"}},
	[MACHINE_L2] = {{"lts__t_tag_requests", "lts__t_sectors", "lts__d_sectors",
				"lts__xbar2lts_cycles_active", "lts__lts2xbar_cycles_active"},
		true},
	[MACHINE_L2_ATOMICS] = {{"lts__d_atomic_input_cycles_active"}, true},
	[MACHINE_DRAM] = {{"dram__cycles_active"}, true},
};
#define MOST_COUNTERS (sizeof(counters[0].counter) / sizeof(counters[0].counter[0]))

bool unit_is_of_sm(enum machine_unit u)
{
	return counters[u].counter[0] && !counters[u].is_of_device;
}

double ledger_ratio(double part, double whole)
{
	return whole > 0 ? part / whole : 0;
}

/* --- the launch ----------------------------------------------------------------------------- */

static void read_limits(struct ledger *l, const struct ledger_figures *f)
{
	static const char *const names[] = {
		"registers", "shared_mem", "warps", "blocks", "barriers"};
	char name[64];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		double n;

		snprintf(name, sizeof(name), "launch__occupancy_limit_%s", names[i]);
		n = ledger_counted(f, name);
		if (n > 0 && (!l->limiter || n < l->blocks_per_sm)) {
			l->limiter = names[i];
			l->blocks_per_sm = n;
		}
	}
}

static void read_launch(struct ledger *l, const struct ledger_figures *f)
{
	double active = ledger_counted(f, "sm__cycles_active.max");
	double idle;

	l->us = ledger_counted(f, "gpu__time_duration.sum") / 1000;
	l->elapsed_cyc = ledger_counted(f, "sm__cycles_elapsed.max");
	idle = l->elapsed_cyc - active;
	l->fixed_cyc = idle < 0 ? 0 : idle > FIXED_CYC ? FIXED_CYC : idle;
	l->window_cyc = l->elapsed_cyc - l->fixed_cyc;
	l->sms = ledger_counted(f, "launch__sm_count");
	l->blocks = ledger_counted(f, "launch__grid_size");
	l->block_threads = ledger_counted(f, "launch__block_size");
	l->warps_per_block = ceil(l->block_threads / LANES);
	l->fill = active > 0 ? ledger_counted(f, "sm__cycles_active.avg") / active : 1;
	l->warps_per_sm = ledger_counted(f, "sm__warps_active.avg.per_cycle_active");
	l->waves = ledger_counted(f, "launch__waves_per_multiprocessor");
	l->executed = ledger_counted(f, "smsp__inst_executed.sum");
	l->issued = greater(ledger_counted(f, "smsp__inst_issued.sum"), l->executed);
	read_limits(l, f);
}

/* What a report must hold for a ledger; NULL: all of it is there. */
static const char *what_is_missing(const struct ledger *l)
{
	if (l->trace->meta.vendor != VENDOR_NVIDIA ||
		(trace_kind(l->trace) != KIND_SAMPLES && l->elapsed_cyc <= 0))
		return "counters of the units are not in this capture";
	if (l->elapsed_cyc <= 0 || l->window_cyc <= 0)
		return "no counters were taken: take a report with ncu --set full";
	if (!l->rates)
		return "the rates of this chip are not known";
	if (l->executed <= 0)
		return "executed instructions were not counted: take one with ncu --set full";
	if (l->samples <= 0)
		return "no instruction was sampled: take a report with ncu --set full";
	return NULL;
}

/* --- the units ------------------------------------------------------------------------------ */

static void read_unit(struct ledger *l, const struct ledger_figures *f, enum machine_unit u)
{
	struct ledger_unit *x = &l->unit[u];
	double practical = l->rates->practical[u];

	for (size_t i = 0; i < MOST_COUNTERS && counters[u].counter[i]; i++) {
		double mean = ledger_share(f, counters[u].counter[i], "avg");
		double busiest = ledger_share(f, counters[u].counter[i], "max");

		x->is_known |= practical > 0 && (isfinite(mean) || isfinite(busiest));
		if (isfinite(mean))
			x->mean_pct = greater(x->mean_pct, 100 * mean);
		if (isfinite(busiest))
			x->busiest_pct = greater(x->busiest_pct, 100 * busiest);
	}
	if (!x->is_known)
		return;
	x->busiest_pct = greater(x->busiest_pct, x->mean_pct);
	x->cycles = x->busiest_pct / 100 * l->elapsed_cyc / practical;
	if (x->cycles > l->window_cyc)
		x->cycles = l->window_cyc;
}

/* --- waits ---------------------------------------------------------------------------------- */

/* Little's law: warps that wait for the reason in a cycle / instructions a cycle that cause it. */
static double latency_of(const struct ledger *l, const struct ledger_figures *f,
	enum ledger_wait_id w, double causes)
{
	char name[96];
	double waiting;

	snprintf(name, sizeof(name), "smsp__average_warps_issue_stalled_%s_per_issue_active.ratio",
		ledger_wait_code(w));
	waiting = ledger_stated(f, name);
	return isfinite(waiting) && causes > 0 ? waiting * l->issued / causes : NAN;
}

/* The latency of a load on an idle machine, by where its data were found. */
static double idle_load(const struct ledger *l, const struct ledger_figures *f)
{
	const struct machine_rates *r = l->rates;
	double l1 = ledger_stated(f, "l1tex__t_sector_hit_rate.pct") / 100;
	double l2 = ledger_stated(f, "lts__t_sector_hit_rate.pct") / 100;

	if (!isfinite(l1) || !isfinite(l2) || r->dram_cyc <= 0)
		return NAN;
	l1 = l1 > 1 ? 1 : l1;
	l2 = l2 > 1 ? 1 : l2;
	return l1 * r->l1_cyc + (1 - l1) * (l2 * r->l2_cyc + (1 - l2) * r->dram_cyc);
}

static void ledger_set_latency(struct ledger_wait *x, double latency, double idle)
{
	x->latency_cyc = latency;
	x->idle_cyc = idle > 0 ? idle : NAN;
	if (isfinite(latency) && isfinite(x->idle_cyc) && latency > IDLE_MARGIN * idle)
		x->queued = 1 - IDLE_MARGIN * idle / latency;
}

/* The part of the waits for loads that stands before a queue of stores. */
static double before_queue(const struct ledger *l)
{
	double all = 0, behind = 0;

	for (code_idx i = 0; i < l->trace->n_code; i++) {
		all += l->rows[i].exposed[LEDGER_LONG];
		behind += l->rows[i].is_behind_queue ? l->rows[i].exposed[LEDGER_LONG] : 0;
	}
	return ledger_ratio(behind, all);
}

static void read_waits(struct ledger *l, const struct ledger_figures *f)
{
	const struct machine_rates *r = l->rates;
	double behind = before_queue(l);

	for (unsigned w = 0; w < LEDGER_WAITS; w++) {
		struct ledger_wait *x = &l->wait[w];

		*x = (struct ledger_wait){.latency_cyc = NAN, .idle_cyc = NAN};
		for (code_idx i = 0; i < l->trace->n_code; i++)
			x->exposed += l->rows[i].exposed[w];
		x->exposed /= l->samples;
		l->exposed += x->exposed;
		if (w >= LEDGER_LG)
			x->queued = 1;
	}
	ledger_set_latency(&l->wait[LEDGER_LONG],
		(1 - behind) * latency_of(l, f, LEDGER_LONG, ledger_count(l, LOADS_LONG)),
		idle_load(l, f));
	l->wait[LEDGER_LONG].before_room = behind;
	l->wait[LEDGER_LONG].queued = behind + (1 - behind) * l->wait[LEDGER_LONG].queued;
	ledger_set_latency(&l->wait[LEDGER_SHORT],
		latency_of(l, f, LEDGER_SHORT, ledger_count(l, LOADS_SHORT)), r->shared_cyc);
	ledger_set_latency(&l->wait[LEDGER_DRAIN],
		latency_of(l, f, LEDGER_DRAIN, l->blocks * l->warps_per_block), r->dram_cyc);
}

/* What is left of a wait when nothing queues. */
static double idle_part(const struct ledger_wait *x)
{
	double part = x->idle_cyc / x->latency_cyc;

	return (1 - x->before_room) * (isfinite(part) && part < 1 ? part : 1);
}

static void sum_waits(struct ledger *l)
{
	double queued[LEDGER_OWNERS] = {0};
	double all = 0;

	for (unsigned w = 0; w < LEDGER_WAITS; w++) {
		const struct ledger_wait *x = &l->wait[w];
		enum ledger_owner o = w == LEDGER_MATH_PIPE			   ? LEDGER_MATH
				      : w == LEDGER_SHORT || w == LEDGER_MIO_QUEUE ? LEDGER_MIO
										   : LEDGER_MEMORY;

		queued[o] += x->exposed * x->queued;
		all += x->exposed * x->queued;
		l->latency_share += x->exposed * (1 - x->queued);
		if (w < LEDGER_LG)
			l->idle_share += x->exposed * idle_part(x);
	}
	l->owner = queued[LEDGER_MIO] > queued[LEDGER_MEMORY] ? LEDGER_MIO : LEDGER_MEMORY;
	if (queued[LEDGER_MATH] > queued[l->owner])
		l->owner = LEDGER_MATH;
	l->queue_cyc = l->window_cyc * (all < 1 ? all : 1);
}

/* --- what binds ----------------------------------------------------------------------------- */

#define MOSTLY_FILLED (2.0 / 3)

/* The launch leaves SMs without work: too few blocks, or SMs that wait for the last of them. */
static bool is_launch(const struct ledger *l)
{
	return (l->blocks > 0 && l->blocks < l->sms) || l->fill < MOSTLY_FILLED;
}

static void find_bound(struct ledger *l)
{
	l->fullest = MACHINE_UNITS;
	for (unsigned u = 0; u < MACHINE_UNITS; u++)
		if (l->unit[u].is_known && l->unit[u].cycles > l->full_cyc) {
			l->fullest = (enum machine_unit)u;
			l->full_cyc = l->unit[u].cycles;
		}
	l->is_queue = l->queue_cyc > l->full_cyc;
	if (l->is_queue)
		l->full_cyc = l->queue_cyc;
	l->is_full = l->full_cyc >= LEDGER_FULL * l->window_cyc;
	l->bound = is_launch(l)	 ? LEDGER_BY_LAUNCH
		   : !l->is_full ? LEDGER_BY_LATENCY
		   : l->is_queue ? LEDGER_BY_QUEUE
				 : LEDGER_BY_UNIT;
}

static bool fill_ledger(struct ledger *l, struct incore_error *e)
{
	struct ledger_figures f = {0};
	struct change_maker m = {.l = l, .f = &f};

	if (!ledger_read_figures(l, &f, e) || !ledger_read_rows(l, e))
		return false;
	read_launch(l, &f);
	l->missing = what_is_missing(l);
	if (l->missing)
		return true;
	for (code_idx i = 0; i < l->trace->n_code; i++)
		l->sectors += l->rows[i].sectors + l->rows[i].local_sectors;
	for (unsigned u = 0; u < MACHINE_UNITS; u++)
		read_unit(l, &f, (enum machine_unit)u);
	read_waits(l, &f);
	sum_waits(l);
	find_bound(l);
	ledger_find_tree(&m);
	ledger_memory_changes(&m);
	ledger_launch_changes(&m);
	ledger_compute_changes(&m);
	ledger_latency_changes(&m);
	ledger_rank(l);
	return !m.is_failed || err_nomem(e);
}

struct ledger *ledger_new(const struct trace *t, struct incore_error *e)
{
	struct ledger *l = mem_zalloc(1, sizeof(*l));

	if (!l) {
		err_nomem(e);
		return NULL;
	}
	arena_init(&l->arena);
	l->trace = t;
	l->rates = machine_rates_find(t->meta.arch);
	if (fill_ledger(l, e))
		return l;
	ledger_free(l);
	return NULL;
}

void ledger_free(struct ledger *l)
{
	if (!l)
		return;
	arena_deinit(&l->arena);
	mem_free(l);
}
