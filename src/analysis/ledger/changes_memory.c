/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes_memory.c: waste in what moves data: sectors beyond the ideal, bank conflicts, constants
 * indexed by lane, local memory, atomics that meet, values that are read again.
 */
#include "analysis/ledger/ledger_internal.h"

#define LANES 32
#define SECTOR_BYTES 32
#define SECTORS_A_LINE 4
#define EXCESS 1.5 /* so many times the ideal is waste */
#define SMALL .05  /* a smaller share of all is not worth a change */
#define ATOMICS "RED REDG ATOMG ATOM"
#define ARITHMETIC "FFMA HFMA2 FMUL FADD DFMA"

/* --- coalescing ----------------------------------------------------------------------------- */

struct access { /* sums over the rows whose lanes are apart */
	double n, sectors, ideal, excess;
	double lines, lines_excess; /* of all rows; beyond what neighbours would touch */
	bool has_loads;
};

static bool is_apart(const struct ledger_row *r)
{
	return r->sectors > EXCESS * r->ideal_sectors;
}

static double sectors_wasted(const struct ledger_row *r)
{
	return is_apart(r) ? r->sectors - r->ideal_sectors : 0;
}

static struct access sum_access(const struct ledger *l)
{
	struct access a = {0};

	for (code_idx i = 0; i < l->trace->n_code; i++) {
		const struct ledger_row *r = &l->rows[i];
		double least = greater(r->n, r->ideal_sectors / SECTORS_A_LINE);

		a.lines += r->lines;
		if (!is_apart(r))
			continue;
		a.n += r->n;
		a.sectors += r->sectors;
		a.ideal += r->ideal_sectors;
		a.excess += r->sectors - r->ideal_sectors;
		a.lines_excess += greater(0, r->lines - least);
		a.has_loads |= !ledger_is_any(r, "STG ST RED REDG");
	}
	return a;
}

/* Part of the passes through L1 that are shared memory's, which neighbours do not change. */
static double shared_part(const struct change_maker *m)
{
	double all = m->l->unit[MACHINE_L1].mean_pct / 100 * m->l->elapsed_cyc * m->l->sms;
	const char *shared = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum";

	return lesser(1, ledger_ratio(ledger_counted(m->f, shared), all));
}

static double dram_bytes(const struct change_maker *m)
{
	return ledger_counted(m->f, "dram__bytes_read.sum") +
	       ledger_counted(m->f, "dram__bytes_write.sum");
}

/* Favourable: only the sectors and lines that neighbours need are left on all levels, and nothing
 * queues. Unfavourable: bytes that caches had merged are not saved. */
static void coalesce(struct change_maker *m)
{
	const struct ledger *l = m->l;
	struct access a = sum_access(l);
	double left = l->sectors - a.excess, part = ledger_ratio(left, l->sectors);
	double to_l2 = ledger_counted(m->f, "lts__t_sectors_srcunit_tex.sum");
	double lines = a.lines > 0 ? 1 - a.lines_excess / a.lines : 1;
	double l2, dram, l1, shared, cut, of_load;

	if (a.excess <= SMALL * l->sectors)
		return;
	l2 = lesser(1, greater(part, ledger_ratio(left, to_l2 > 0 ? to_l2 : l->sectors)));
	dram = dram_bytes(m) > 0 && l2 < 1 ? lesser(l2, left * SECTOR_BYTES / dram_bytes(m)) : l2;
	shared = shared_part(m);
	l1 = shared + (1 - shared) * greater(part, lines);
	cut = ledger_ratio(l->rates->tag_cyc * a.lines_excess / greater(1, a.n),
		l->wait[LEDGER_LONG].latency_cyc);
	cut = lesser(1 - part, cut);
	of_load = ledger_latency_of(l, LEDGER_LONG);
	change_begin(m, CHANGE_COALESCE, LEDGER_WASTE);
	change_counted(m, "%.1f sectors a%s where %.1f would do", a.sectors / greater(1, a.n),
		a.has_loads ? " request" : " store", a.ideal / greater(1, a.n));
	m->c.best.unit[MACHINE_L2] = l2 < 1 ? greater(lines, l2 * .5) : lines;
	m->c.best.unit[MACHINE_L2_LINK] = lines;
	m->c.best.unit[MACHINE_DRAM] = dram;
	m->c.worst.unit[MACHINE_L2] = m->c.worst.unit[MACHINE_L2_LINK] = l2;
	m->c.worst.unit[MACHINE_DRAM] = l2;
	m->c.best.unit[MACHINE_L1] = m->c.worst.unit[MACHINE_L1] = l1;
	m->c.best.queue = ledger_queue_of(l, LEDGER_MEMORY, 0);
	m->c.worst.queue = ledger_queue_of(l, LEDGER_MEMORY, part);
	m->c.best.latency = 1 - of_load * cut;
	m->c.worst.latency = 1 - of_load * cut / 2;
	change_rows(m, sectors_wasted);
	change_end(m);
}

/* --- shared memory -------------------------------------------------------------------------- */

static double passes_wasted(const struct ledger_row *r)
{
	return r->passes > EXCESS * r->ideal_passes ? r->passes - r->ideal_passes : 0;
}

static double passes_of(const struct ledger_row *r)
{
	return ledger_is_op(r, "LDS") ? r->n : 0;
}

struct passes {		       /* through shared memory */
	double all;	       /* of L1 and shared memory, from the counters */
	double shared;	       /* of the rows */
	double n, took, ideal; /* of the rows with conflicts */
};

static struct passes sum_passes(const struct ledger *l)
{
	struct passes p = {0};

	for (code_idx i = 0; i < l->trace->n_code; i++) {
		const struct ledger_row *r = &l->rows[i];

		p.shared += r->passes;
		if (passes_wasted(r) <= 0)
			continue;
		p.n += r->n;
		p.took += r->passes;
		p.ideal += r->ideal_passes;
	}
	p.all = l->unit[MACHINE_L1].mean_pct / 100 * l->elapsed_cyc * l->sms;
	p.all = greater(1, greater(p.all, p.shared));
	return p;
}

static void banks(struct change_maker *m, const struct passes *p)
{
	const struct ledger *l = m->l;
	double waste = p->took - p->ideal, left = greater(.001, 1 - waste / p->all);
	double part = 1 - ledger_ratio(p->ideal, p->took);
	double of_short = ledger_latency_of(l, LEDGER_SHORT);
	bool is_atomic = ledger_count(l, "ATOMS") > .3 * ledger_count(l, "LDS STS ATOMS");

	if (waste <= SMALL * p->all)
		return;
	change_begin(m, is_atomic ? CHANGE_SHARED_ATOMICS : CHANGE_BANKS, LEDGER_WASTE);
	change_counted(m, "%.1f passes through shared memory an access where %.1f would do",
		p->took / greater(1, p->n), p->ideal / greater(1, p->n));
	m->c.best.unit[MACHINE_L1] = m->c.worst.unit[MACHINE_L1] = left;
	m->c.best.queue = ledger_queue_of(l, LEDGER_MIO, 0);
	m->c.worst.queue = ledger_queue_of(l, LEDGER_MIO, left);
	m->c.best.latency = 1 - of_short * part;
	m->c.worst.latency = 1 - of_short * part / 2;
	change_rows(m, passes_wasted);
	change_end(m);
}

static void scale_reuse(const struct ledger *l, struct ledger_effect *x, double part, double left)
{
	double loads = ledger_count(l, "LDS") / l->executed;
	double others = greater(0, 1 - loads - ledger_count(l, ARITHMETIC) / l->executed);

	x->unit[MACHINE_L1] = x->unit[MACHINE_LSU] = 1 - part * (1 - left);
	/* a tile of results also shares the instructions around the multiply-adds */
	x->unit[MACHINE_ISSUE] = 1 - (1 - left) * (loads + others / 2);
	x->queue = ledger_queue_of(l, LEDGER_MIO, left);
}

bool ledger_has_reuse(const struct ledger *l)
{
	return ledger_count(l, "LDS") > .15 * ledger_count(l, ARITHMETIC) &&
	       ledger_count(l, "FFMA DFMA HFMA2") > .1 * l->executed;
}

/* A tile of k x k results reads 1/k of the values per multiply-add; where only one side of it can
 * grow, the root of that. */
void effect_reuse(const struct ledger *l, double side, struct ledger_change *c)
{
	struct passes p = sum_passes(l);
	double part = lesser(1, p.shared / p.all), less = 1 - 1 / side;
	double of_short = ledger_latency_of(l, LEDGER_SHORT);

	scale_reuse(l, &c->best, part, 1 / side);
	scale_reuse(l, &c->worst, part, sqrt(1 / side));
	c->best.latency = 1 - less * of_short;
	c->worst.latency = 1 - .4 / .75 * less * of_short;
}

#define TILE_SIDE 4

/* Values read from shared memory serve one multiply-add each. */
static void reuse(struct change_maker *m, const struct passes *p)
{
	const struct ledger *l = m->l;
	double loads = ledger_count(l, "LDS"), arithmetic = ledger_count(l, ARITHMETIC);
	double busy = greater(l->unit[MACHINE_L1].cycles, l->unit[MACHINE_LSU].cycles);

	if (!ledger_has_reuse(l) || busy <= .5 * l->window_cyc || p->took - p->ideal > .3 * p->all)
		return;
	change_begin(m, CHANGE_REUSE, LEDGER_WASTE);
	change_counted(m, "shared memory is read %.2f times a multiply-add", loads / arithmetic);
	m->c.step = "4x4: a quarter of the reads";
	effect_reuse(l, TILE_SIDE, &m->c);
	change_rows(m, passes_of);
	change_end(m);
}

/* --- constants and local memory ------------------------------------------------------------- */

static double constant_by_lane(const struct ledger_row *r)
{
	const char *bracket = ledger_is_op(r, "LDC") ? strrchr(r->op, '[') : NULL;

	return bracket && bracket[1] == 'R' ? r->n : 0;
}

static void constants(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double loads = ledger_count(l, "LDC");
	double passes = ledger_ratio(ledger_counted(m->f, "idc__requests.sum"), loads);
	double of_short = ledger_latency_of(l, LEDGER_SHORT);

	if (passes <= EXCESS || l->unit[MACHINE_CONSTANTS].cycles <= .1 * l->window_cyc)
		return;
	change_begin(m, CHANGE_CONSTANTS, LEDGER_WASTE);
	change_counted(m, "%.0f passes a load of constants that are indexed by lane", passes);
	for (unsigned i = 0; i < 2; i++) {
		struct ledger_effect *x = i ? &m->c.worst : &m->c.best;

		x->unit[MACHINE_CONSTANTS] = x->unit[MACHINE_ADU] = x->unit[MACHINE_LSU] =
			i ? 1 / passes : .1 / passes;
	}
	m->c.best.queue = ledger_queue_of(l, LEDGER_MIO, 0);
	m->c.worst.queue = ledger_queue_of(l, LEDGER_MIO, 1 / passes);
	m->c.best.latency = 1 - of_short;
	m->c.worst.latency = 1 - of_short / 2;
	change_rows(m, constant_by_lane);
	change_end(m);
}

static double local_of(const struct ledger_row *r)
{
	return r->local_sectors;
}

/* Favourable: the accesses go with the arithmetic around them. Unfavourable: a quarter of the
 * passes through L1 is still needed. */
static void local(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double sectors = 0, accesses = ledger_count(l, "LDL STL");
	double left, issue, of_load;

	for (code_idx i = 0; i < l->trace->n_code; i++)
		sectors += l->rows[i].local_sectors;
	if (sectors <= SMALL * l->sectors || accesses <= .005 * l->executed)
		return;
	left = 1 - sectors / l->sectors;
	issue = 1 - lesser(.9, 2 * accesses / l->executed);
	of_load =
		ledger_latency_of(l, LEDGER_LONG) *
		ledger_ratio(ledger_count(l, "LDL"), ledger_count(l, "LDG LDL ATOMG ATOM LD TEX"));
	change_begin(m, CHANGE_LOCAL, LEDGER_WASTE);
	change_counted(m, "%.0f %% of all sectors are local memory", 100 * sectors / l->sectors);
	for (unsigned i = 0; i < 2; i++) {
		struct ledger_effect *x = i ? &m->c.worst : &m->c.best;

		x->unit[MACHINE_L2] = x->unit[MACHINE_DRAM] = x->unit[MACHINE_L2_LINK] = left;
		x->unit[MACHINE_L1] = i ? .25 : left;
	}
	m->c.best.unit[MACHINE_LSU] = m->c.best.unit[MACHINE_ISSUE] = m->c.best.unit[MACHINE_ALU] =
		issue;
	m->c.best.queue = ledger_queue_of(l, LEDGER_MEMORY, 0);
	m->c.worst.queue = ledger_queue_of(l, LEDGER_MEMORY, greater(left, .1));
	m->c.best.latency = 1 - of_load;
	m->c.worst.latency = 1 - .7 * of_load;
	change_rows(m, local_of);
	change_end(m);
}

/* --- atomics -------------------------------------------------------------------------------- */

static double atomic_of(const struct ledger_row *r)
{
	return ledger_is_any(r, ATOMICS) ? r->n : 0;
}

/* How much fuller the fullest slice of L2 is than the mean. */
static double hottest_slice(const struct change_maker *m)
{
	static const char *const counters[] = {
		"lts__d_atomic_input_cycles_active", "lts__t_tag_requests"};
	double hot = 1;

	for (unsigned i = 0; i < 2; i++) {
		double mean = ledger_share(m->f, counters[i], "avg");
		double busiest = ledger_share(m->f, counters[i], "max");

		if (isfinite(mean) && isfinite(busiest))
			hot = greater(hot, busiest / greater(1e-5, mean));
	}
	return hot;
}

/* The units' time that atomics can be blamed for. */
static double atomics_time(const struct ledger *l, double hot)
{
	double t = l->unit[MACHINE_L2_ATOMICS].cycles;

	if (hot > 4)
		t = greater(t, l->unit[MACHINE_L2].cycles);
	if (l->wait[LEDGER_LONG].queued > .3 || l->wait[LEDGER_DRAIN].queued > .3 ||
		l->wait[LEDGER_LG].exposed > .2)
		t = greater(t, l->queue_cyc);
	return t;
}

/* A slice that is full without anybody waiting for memory holds nobody up. */
static bool is_waited_for(const struct ledger *l)
{
	return l->wait[LEDGER_LONG].exposed + l->wait[LEDGER_LG].exposed +
		       l->wait[LEDGER_DRAIN].exposed >
	       SMALL;
}

static void atomics(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double n = ledger_count(l, ATOMICS), lanes = 0, hot = hottest_slice(m);
	double best = .002, worst = 1.0 / LANES, of_load = ledger_latency_of(l, LEDGER_LONG), wait;

	for (code_idx i = 0; i < l->trace->n_code; i++)
		lanes += atomic_of(&l->rows[i]) > 0 ? l->rows[i].lanes : 0;
	if (n <= 0 || !is_waited_for(l) || atomics_time(l, hot) <= .25 * l->window_cyc)
		return;
	if (ledger_count(l, "REDUX") > 0 || lanes / n < 2) { /* added up in the warp already */
		best = 1.0 / LANES;
		worst = .25;
	}
	wait = l->is_full ? of_load * ledger_ratio(ledger_count(l, "ATOMG ATOM"),
					      ledger_count(l, "LDG LDL ATOMG ATOM LD TEX"))
			  : of_load + ledger_latency_of(l, LEDGER_DRAIN);
	change_begin(m, CHANGE_ATOMICS, LEDGER_CAUSE);
	change_counted(m,
		"atomics meet on few addresses: the busiest slice of L2 has %.0f times the mean",
		hot);
	for (unsigned i = 0; i < 2; i++) {
		struct ledger_effect *x = i ? &m->c.worst : &m->c.best;
		double left = i ? worst : best;

		x->unit[MACHINE_L2_ATOMICS] = x->unit[MACHINE_L2] = left;
		x->unit[MACHINE_L2_LINK] = left;
		x->queue = ledger_queue_of(l, LEDGER_MEMORY, left);
	}
	/* loads beside them wait in the same slices; in shared memory the lanes still take turns */
	m->c.best.latency = (1 - wait * (1 - best)) * (l->is_full ? .3 : 1);
	m->c.worst.latency = 1 - .7 * wait;
	m->c.worst.added_cyc = lanes / greater(1, l->sms);
	change_rows(m, atomic_of);
	change_end(m);
}

/* --- values that are loaded again ----------------------------------------------------------- */

static double good_load(const struct ledger_row *r)
{
	return ledger_is_op(r, "LDG") && r->sectors <= 1.6 * r->ideal_sectors ? r->sectors : 0;
}

static void scale_reload(const struct ledger *l, struct ledger_effect *x, double left, double least)
{
	x->unit[MACHINE_L1] = left;
	x->unit[MACHINE_LSU] = (1 + left) / 2;
	x->unit[MACHINE_L2] = x->unit[MACHINE_L2_LINK] = greater(left, least);
	x->queue = ledger_queue_of(l, LEDGER_MEMORY, left);
}

#define NOISE_BYTES 65536 /* DRAM is read this much by any kernel: parameters, code */

/*
 * Sectors that loads ask for, by those that DRAM gave: the caches are empty when a report is taken,
 * so every distinct sector comes from there at least once and the ratio is a lower bound. It counts
 * where the loads come from L1 or L2 as well. Unfavourable: no load can be saved.
 */
static void reload(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double loaded = 0, from_dram = ledger_counted(m->f, "dram__bytes_read.sum") / SECTOR_BYTES;
	double of_load = ledger_latency_of(l, LEDGER_LONG), left;

	for (code_idx i = 0; i < l->trace->n_code; i++)
		loaded += good_load(&l->rows[i]);
	if (from_dram * SECTOR_BYTES < NOISE_BYTES || loaded <= 1.8 * from_dram ||
		loaded <= .3 * l->sectors ||
		ledger_count(l, "LDS") > .15 * ledger_count(l, ARITHMETIC))
		return;
	left = from_dram / loaded;
	change_begin(m, CHANGE_RELOAD, LEDGER_WASTE);
	change_counted(m, "the same bytes are loaded %.1f times", 1 / left);
	scale_reload(l, &m->c.best, left, left);
	scale_reload(l, &m->c.worst, 1, 1);
	m->c.best.latency = 1 - of_load * (1 - left);
	change_rows(m, good_load);
	change_end(m);
}

/* --- narrow accesses ------------------------------------------------------------------------ */

static bool has_modifier(const struct ledger_row *r, const char *wanted)
{
	const char *at = strstr(r->op, wanted), *blank = strchr(r->op, ' ');

	return at && (!blank || at < blank);
}

/* Bytes that a lane moves where it moves less than a word; 0: a word or more. */
static double narrow_bytes(const struct ledger_row *r)
{
	if (!ledger_is_any(r, "LDG STG"))
		return 0;
	return has_modifier(r, ".U8") || has_modifier(r, ".S8")	    ? 1
	       : has_modifier(r, ".U16") || has_modifier(r, ".S16") ? 2
								    : 0;
}

static double narrow_of(const struct ledger_row *r)
{
	return narrow_bytes(r) > 0 ? r->n : 0;
}

#define WIDE_BYTES 16
#define WORD_BYTES 4
#define PER_ACCESS 3 /* the access, its address, its share of the loop */

/* Unfavourable: only whole words can be moved, and the arithmetic around them stays. */
static void changes_memory_narrow(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double n = 0, bytes = 0, of_load = ledger_latency_of(l, LEDGER_LONG), all;

	for (code_idx i = 0; i < l->trace->n_code; i++) {
		n += narrow_of(&l->rows[i]);
		bytes += narrow_of(&l->rows[i]) * narrow_bytes(&l->rows[i]);
	}
	all = ledger_count(l, "LDG STG");
	if (n <= .3 * all || n <= .01 * l->executed)
		return;
	bytes /= n;
	change_begin(m, CHANGE_NARROW, LEDGER_WASTE);
	change_counted(m, "%.0f %% of the accesses to global memory move %.1f byte%s a lane",
		100 * n / all, bytes, bytes > 1 ? "s" : "");
	m->c.step = "16 bytes; at least 4";
	for (unsigned i = 0; i < 2; i++) {
		struct ledger_effect *x = i ? &m->c.worst : &m->c.best;
		double left = bytes / (i ? WORD_BYTES : WIDE_BYTES), share = n / all;
		double part = 1 - share * (1 - left);
		double slots = lesser(.9, (i ? 1 : PER_ACCESS) * n / l->executed);

		x->unit[MACHINE_LSU] = x->unit[MACHINE_L1] = part;
		x->unit[MACHINE_L2_LINK] = x->unit[MACHINE_L2] = i ? 1 : part;
		x->unit[MACHINE_ISSUE] = x->unit[MACHINE_ALU] = x->unit[MACHINE_FMA] =
			1 - slots * (1 - left);
		x->queue = ledger_queue_of(l, LEDGER_MEMORY, part);
		x->latency = 1 - of_load * (1 - part);
	}
	change_rows(m, narrow_of);
	change_end(m);
}

void ledger_memory_changes(struct change_maker *m)
{
	struct passes p = sum_passes(m->l);

	coalesce(m);
	banks(m, &p);
	constants(m);
	local(m);
	atomics(m);
	if (!m->has_tree)
		reuse(m, &p);
	reload(m);
	changes_memory_narrow(m);
}
