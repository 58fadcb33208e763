/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes_latency.c: waits that no full unit explains: loads with too few in flight, chains of
 * arithmetic, barriers, fences, fetch; and launches that leave SMs without work.
 */
#include "analysis/ledger/ledger_internal.h"

#define STEP 4.0 /* "four in flight": the step that is asked about */
#define WARPS_WANTED 32.0
#define FEW_WARPS 16
#define LANES 32

/* What is left of latency when a share of it is divided by a factor. */
static double divided(double share, double by)
{
	return 1 - share + share / by;
}

/* --- rows by their waits -------------------------------------------------------------------- */

static double waits_for_load(const struct ledger_row *r)
{
	return r->exposed[LEDGER_LONG];
}

static double waits_for_before(const struct ledger_row *r)
{
	return r->exposed[LEDGER_WAIT];
}

static double waits_for_fence(const struct ledger_row *r)
{
	return r->exposed[LEDGER_MEMBAR];
}

static double waits_for_fetch(const struct ledger_row *r)
{
	return r->exposed[LEDGER_FETCH];
}

static double changes_latency_barrier_of(const struct ledger_row *r)
{
	return ledger_is_op(r, "BAR") ? r->n : 0;
}

static double any_wait(const struct ledger_row *r)
{
	double sum = 0;

	for (unsigned w = 0; w < LEDGER_WAITS; w++)
		sum += r->exposed[w];
	return sum;
}

/* --- the launch ----------------------------------------------------------------------------- */

/* Of all SMs' time, if each block is as long as the others: the last ones leave SMs idle. */
static double even_fill(const struct ledger *l, double blocks)
{
	double each = blocks / greater(1, l->sms);

	return each < 1 ? each : each / ceil(each);
}

void effect_grid(const struct ledger *l, double blocks, struct ledger_change *c)
{
	double now = lesser(l->fill, l->blocks < l->sms ? l->blocks / l->sms : 1);
	double left = now / even_fill(l, blocks);
	double each = greater(1, l->blocks / l->sms), then = greater(1, blocks / l->sms);
	double fit = l->blocks_per_sm > 0 ? l->blocks_per_sm : then;
	double more = lesser(STEP, lesser(then, fit) / lesser(each, fit));

	effect_scale_sm(&c->best, left);
	effect_scale_sm(&c->worst, left);
	c->best.latency = left / greater(1, more);
	c->worst.latency = left / lesser(1, more);
}

static void small_grid(struct change_maker *m)
{
	const struct ledger *l = m->l;

	change_begin(m, CHANGE_GRID, LEDGER_CAUSE);
	change_counted(m, "%.0f blocks on %.0f SMs", l->blocks, l->sms);
	m->c.step = arena_printf(&m->l->arena, "%.0f blocks", STEP * l->sms);
	m->is_failed |= !m->c.step;
	/* who divides the work anew can also choose which lanes touch which addresses */
	for (uint32_t i = 0; i < l->n_changes; i++)
		if (l->change[i].id == CHANGE_COALESCE)
			for (unsigned u = 0; u < MACHINE_UNITS; u++)
				m->c.best.unit[u] = l->change[i].best.unit[u];
	effect_grid(l, STEP * l->sms, &m->c);
	change_rows(m, any_wait);
	change_end(m);
}

static void changes_latency_tail(struct change_maker *m)
{
	const struct ledger *l = m->l;

	if (l->fill >= .85 || (l->waves >= 8 && l->bound != LEDGER_BY_LAUNCH) ||
		ledger_count(l, "RED REDG ATOMG ATOM") > 0)
		return;
	change_begin(m, CHANGE_TAIL, LEDGER_WASTE);
	change_counted(m, "%.2f waves of blocks; SMs are idle for %.0f %% of the time", l->waves,
		100 * (1 - l->fill));
	effect_scale_sm(&m->c.best, l->fill);
	m->c.best.latency = l->fill;
	change_rows(m, any_wait);
	change_end(m);
}

#define MOST_WARPS 64

/* Blocks `by` times as large, where the number of blocks limits an SM: as many times the warps. */
bool effect_blocks(const struct ledger *l, double by, struct ledger_change *c)
{
	double fit = greater(1, l->blocks_per_sm * l->warps_per_block);

	if (!l->limiter || strcmp(l->limiter, "blocks") != 0)
		return false;
	by = lesser(by, MOST_WARPS / fit);
	c->best.latency = 1 / (by < 2 ? by * by : 2 * by);
	c->worst.latency = 1 / by;
	return true;
}

/* An SM holds so many blocks and no more: small ones leave most of its warps unused. */
static void small_blocks(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double fit = l->blocks_per_sm * l->warps_per_block, by;

	if (!l->limiter || strcmp(l->limiter, "blocks") != 0 || fit > MOST_WARPS / 2 ||
		l->waves < 1 || l->is_full)
		return;
	by = MOST_WARPS / greater(1, fit);
	change_begin(m, CHANGE_SMALL_BLOCKS, LEDGER_WASTE);
	change_counted(m, "blocks of %.0f threads: %.0f blocks fit on an SM, %.0f warps of %d",
		l->block_threads, l->blocks_per_sm, fit, MOST_WARPS);
	m->c.step = arena_printf(&m->l->arena, "%.0f times as large", by);
	m->is_failed |= !m->c.step;
	effect_blocks(l, by, &m->c);
	change_rows(m, any_wait);
	change_end(m);
}

void ledger_launch_changes(struct change_maker *m)
{
	small_blocks(m);
	if (m->l->blocks > 0 && m->l->blocks < m->l->sms)
		small_grid(m);
	else
		changes_latency_tail(m);
}

/* --- barriers ------------------------------------------------------------------------------- */

struct shared_use {
	double n, on; /* accesses to shared memory; share of their lanes that are on, 0..1 */
};

static struct shared_use shared_use(const struct ledger *l)
{
	struct shared_use x = {0};
	double lanes = 0;

	for (code_idx i = 0; i < l->trace->n_code; i++)
		if (ledger_is_any(&l->rows[i], "LDS STS")) {
			x.n += l->rows[i].n;
			lanes += l->rows[i].lanes_on;
		}
	x.on = x.n > 0 ? lanes / (LANES * x.n) : 1;
	return x;
}

static double barriers_a_warp(const struct ledger *l)
{
	return ledger_ratio(ledger_count(l, "BAR"), l->blocks * l->warps_per_block);
}

void ledger_find_tree(struct change_maker *m)
{
	const struct ledger *l = m->l;
	struct shared_use x = shared_use(l);

	m->has_tree = barriers_a_warp(l) >= 5 && x.n > .1 * l->executed && x.on < .5 &&
		      ledger_count(l, "BAR") >=
			      3 * ledger_count(l, "LDG LDL ATOMG ATOM LD LDGDEPBAR UBLKCP TEX");
}

static void tree(struct change_maker *m)
{
	const struct ledger *l = m->l;
	struct shared_use x = shared_use(l);
	double wait = ledger_latency_of(l, LEDGER_BARRIER) + ledger_latency_of(l, LEDGER_SHORT);
	double left = greater(.2, x.on);

	change_begin(m, CHANGE_TREE, LEDGER_CAUSE);
	change_counted(m, "a tree in shared memory: %.0f barriers a warp, %.0f %% of its lanes on",
		barriers_a_warp(l), 100 * x.on);
	for (unsigned i = 0; i < 2; i++) {
		struct ledger_effect *f = i ? &m->c.worst : &m->c.best;

		f->unit[MACHINE_LSU] = f->unit[MACHINE_L1] = left;
		f->unit[MACHINE_ADU] = .3;
		f->unit[MACHINE_ISSUE] =
			1 - (x.n * (1 - left) + .8 * ledger_count(l, "BAR")) / l->executed;
		f->queue = ledger_queue_of(l, LEDGER_MIO, .5);
		f->latency = 1 - (i ? .35 : .9) * wait;
	}
	change_rows(m, changes_latency_barrier_of);
	change_end(m);
}

/* Each round every lane stores one value, all meet, and it is read by one or two neighbours: most of
 * that stays within a warp. */
static bool is_exchange(const struct ledger *l)
{
	double stores = ledger_count(l, "STS"), loads = ledger_count(l, "LDS");
	double bars = ledger_count(l, "BAR");

	return barriers_a_warp(l) >= 4 && stores > .02 * l->executed && bars >= .5 * stores &&
	       loads >= .5 * stores && loads <= 3 * stores && shared_use(l).on >= .9;
}

static void neighbours(struct change_maker *m)
{
	const struct ledger *l = m->l;
	struct shared_use x = shared_use(l);
	double wait = ledger_latency_of(l, LEDGER_BARRIER) + ledger_latency_of(l, LEDGER_SHORT);
	double bars = ledger_count(l, "BAR");

	change_begin(m, CHANGE_NEIGHBOURS, LEDGER_WASTE);
	change_counted(m,
		"%.0f barriers a warp, each around %.1f stores and %.1f loads of shared memory",
		barriers_a_warp(l), ledger_count(l, "STS") / greater(1, bars),
		ledger_count(l, "LDS") / greater(1, bars));
	for (unsigned i = 0; i < 2; i++) {
		struct ledger_effect *f = i ? &m->c.worst : &m->c.best;
		double left = i ? .7 : .1;

		f->unit[MACHINE_LSU] = f->unit[MACHINE_L1] = f->unit[MACHINE_ADU] = left;
		f->unit[MACHINE_ISSUE] = 1 - (1 - left) * (x.n / 2 + bars) / l->executed;
		f->queue = ledger_queue_of(l, LEDGER_MIO, left);
		f->latency = 1 - (i ? .3 : .9) * wait;
	}
	change_rows(m, changes_latency_barrier_of);
	change_end(m);
}

/* Warps that arrive late make the others wait; a barrier every few instructions also takes slots of
 * issue and address units, and keeps what follows it from overlapping with what stands before. */
static void barrier(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double n = ledger_count(l, "BAR"), share = n / l->executed;
	double wait = ledger_latency_of(l, LEDGER_BARRIER);
	double with = wait + ledger_latency_of(l, LEDGER_SHORT) / 2;
	bool is_frequent = share > .02;

	if (n <= 0 || (l->wait[LEDGER_BARRIER].exposed <= .05 && !is_frequent))
		return;
	change_begin(m, CHANGE_BARRIER, LEDGER_WASTE);
	change_counted(m,
		"warps wait at the barrier for %.0f %% of exposed time; %.1f barriers a warp",
		100 * ledger_ratio(l->wait[LEDGER_BARRIER].exposed, l->exposed),
		barriers_a_warp(l));
	m->c.best.latency = 1 - (is_frequent ? with : wait);
	m->c.worst.latency = 1 - .2 * wait;
	if (is_frequent) {
		m->c.best.unit[MACHINE_ADU] = .1;
		m->c.best.unit[MACHINE_ISSUE] = 1 - 2 * share;
		m->c.best.unit[MACHINE_LSU] = 1 - share;
		m->c.best.queue = ledger_queue_of(l, LEDGER_MIO, .5);
	}
	change_rows(m, changes_latency_barrier_of);
	change_end(m);
}

/* --- latency -------------------------------------------------------------------------------- */

/* What keeps warps few, if it is the resources of a block. */
static bool is_limited(const struct ledger *l)
{
	return l->limiter &&
	       (strcmp(l->limiter, "registers") == 0 || strcmp(l->limiter, "shared_mem") == 0) &&
	       l->blocks_per_sm * l->warps_per_block < FEW_WARPS;
}

static const char *limit_words(const struct ledger *l)
{
	return l->limiter[0] == 'r' ? "registers" : "shared memory";
}

void effect_in_flight(const struct ledger *l, double by, struct ledger_change *c)
{
	double of_load = ledger_latency_of(l, LEDGER_LONG);
	double at_barrier = ledger_latency_of(l, LEDGER_BARRIER);
	/* a barrier waits for what the late warps wait for */
	double with = of_load + at_barrier * ledger_ratio(of_load, 1 - at_barrier);

	c->best.latency = divided(with, by);
	c->worst.latency = divided(of_load, by);
}

static void in_flight(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double by = STEP;

	if (l->wait[LEDGER_LONG].exposed <= .1 || !isfinite(l->wait[LEDGER_LONG].latency_cyc))
		return;
	if (is_limited(l))
		by = lesser(8, greater(STEP, WARPS_WANTED / greater(1, l->warps_per_sm)));
	change_begin(m, CHANGE_IN_FLIGHT, LEDGER_PARALLELISM);
	if (is_limited(l))
		change_counted(m, "%s allow%s %.0f block%s an SM; a load takes %.0f cycles",
			limit_words(l), l->limiter[0] == 'r' ? "" : "s", l->blocks_per_sm,
			l->blocks_per_sm == 1 ? "" : "s", l->wait[LEDGER_LONG].latency_cyc);
	else
		change_counted(m,
			"a load takes %.0f cycles, and %.0f warps an SM are too few to hide it",
			l->wait[LEDGER_LONG].latency_cyc, l->warps_per_sm);
	m->c.step = arena_printf(&m->l->arena, "%.0f times as many in flight", by);
	m->is_failed |= !m->c.step;
	effect_in_flight(l, by, &m->c);
	m->c.is_of_waits = true;
	change_rows(m, waits_for_load);
	change_end(m);
}

/* One step ahead hides a wait behind the rest of its turn, no more: bytes in flight stay. */
static void ahead(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double loads = ledger_count(l, "LDG LDL ATOMG ATOM LD LDGDEPBAR UBLKCP TEX");
	double of_load = ledger_latency_of(l, LEDGER_LONG);
	double rest =
		greater(0, 1 - l->wait[LEDGER_LONG].exposed * (1 - l->wait[LEDGER_LONG].queued));

	if (l->wait[LEDGER_LONG].exposed <= .1 || ledger_count(l, "BAR") <= .5 * loads ||
		loads <= 8 * l->blocks * l->warps_per_block)
		return;
	change_begin(m, CHANGE_AHEAD, LEDGER_PARALLELISM);
	change_counted(m, "a tile is asked for in the turn that needs it: %.0f cycles a load",
		l->wait[LEDGER_LONG].latency_cyc);
	m->c.step = "one turn";
	m->c.best.latency = 1 - lesser(of_load, rest);
	m->c.is_of_waits = true;
	change_rows(m, waits_for_load);
	change_end(m);
}

static void chain(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double wait = ledger_latency_of(l, LEDGER_WAIT) + ledger_latency_of(l, LEDGER_BRANCH) / 2;

	if (l->wait[LEDGER_WAIT].exposed <= .1)
		return;
	change_begin(m, CHANGE_CHAIN, LEDGER_PARALLELISM);
	change_counted(m, "each instruction waits for the one before it; %.0f warps an SM",
		l->warps_per_sm);
	m->c.step = "four chains";
	m->c.best.latency = m->c.worst.latency = divided(wait, STEP);
	m->c.is_of_waits = true;
	change_rows(m, waits_for_before);
	change_end(m);
}

static void fence(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double wait = ledger_latency_of(l, LEDGER_MEMBAR);

	if (l->wait[LEDGER_MEMBAR].exposed <= .05)
		return;
	change_begin(m, CHANGE_FENCE, LEDGER_CAUSE);
	change_counted(m, "warps wait for memory fences for %.0f %% of their time",
		100 * l->wait[LEDGER_MEMBAR].exposed);
	m->c.best.latency = 1 - wait;
	m->c.worst.latency = 1 - .7 * wait;
	change_rows(m, waits_for_fence);
	change_end(m);
}

static void fetch(struct change_maker *m)
{
	const struct ledger *l = m->l;

	if (l->wait[LEDGER_FETCH].exposed <= .08)
		return;
	change_begin(m, CHANGE_FETCH, LEDGER_WASTE);
	change_counted(m, "instructions are not there in time for %.0f %% of warp time",
		100 * l->wait[LEDGER_FETCH].exposed);
	m->c.best.latency = 1 - ledger_latency_of(l, LEDGER_FETCH);
	m->c.worst.latency = 1 - .4 * ledger_latency_of(l, LEDGER_FETCH);
	change_rows(m, waits_for_fetch);
	change_end(m);
}

void ledger_latency_changes(struct change_maker *m)
{
	const struct ledger *l = m->l;

	if (m->has_tree)
		tree(m);
	else
		barrier(m);
	if (!m->has_tree && is_exchange(l))
		neighbours(m);
	in_flight(m);
	ahead(m);
	chain(m);
	fence(m);
	fetch(m);
}
