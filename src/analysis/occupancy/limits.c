/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c: how many waves of this kernel fit on a SIMD, and what would allow one more?. Divisions:
 * blocks on an SM; limits.
 */
#include "analysis/occupancy/limits.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/occupancy/blocks.h"
#include "analysis/producer_tables.h"
#include "trace/kind.h"

/* --- blocks on an SM -------------------------------------------------------------------------- */

/* All generations since Volta: a register file of 64 K words for four schedulers; a warp gets 256
 * words at a time, so 8 registers per thread. */
#define SM_REGISTERS 65536
#define SM_SCHEDULERS 4
#define REGISTER_GRANULE 8
#define WARP_LANES 32

const char *block_limit_name(enum block_limit k)
{
	static const char *const names[BLOCKS_LIMITS] = {
		"registers", "shared memory", "warps", "blocks", "barriers", "clusters", "grid"};

	return k < BLOCKS_LIMITS ? names[k] : "?";
}

static int64_t whole(const struct trace *t, const char *name, int64_t otherwise)
{
	double v = table_metric(t, name);

	return v >= 0 && v < 1e15 ? (int64_t)v : otherwise;
}

static int64_t quotient(int64_t a, int64_t b)
{
	return a > 0 && b > 0 ? a / b : NO_VALUE;
}

static int64_t round_up(int64_t a, int64_t to)
{
	return (a + to - 1) / to * to;
}

static void find_launch(const struct trace *t, struct block_limits *b)
{
	const struct trace_machine *m = &t->meta.machine;
	const struct trace_launch *l = &t->meta.launch;

	b->sms = m->cus;
	b->schedulers = m->cus > 0 && m->simds >= m->cus ? m->simds / m->cus : SM_SCHEDULERS;
	b->grid = l->workgroups;
	b->threads = 1;
	for (unsigned i = 0; i < 3; i++) /* more than 1,024 threads: damaged input */
		b->threads = l->workgroup[i] > 0 && l->workgroup[i] <= 1024 && b->threads > 0
				     ? b->threads * l->workgroup[i]
				     : NO_VALUE;
	b->warps = b->threads > 0 ? round_up(b->threads, WARP_LANES) / WARP_LANES : NO_VALUE;
	b->max_warps = whole(t, "device__attribute_max_warps_per_multiprocessor",
		m->max_waves_per_simd > 0 ? m->max_waves_per_simd * b->schedulers : NO_VALUE);
	b->registers = whole(t, "launch__registers_per_thread_allocated", NO_VALUE);
	if (b->registers <= 0 || b->registers > 256) /* before 2024 the figure was per block */
		b->registers = l->vgprs > 0 && l->vgprs < 256 ? round_up(l->vgprs, REGISTER_GRANULE)
							      : NO_VALUE;
	b->shared = whole(t, "launch__shared_mem_per_block_allocated", l->lds_bytes);
	b->shared_max = m->lds_bytes_per_cu;
	b->shared_config = whole(t, "launch__shared_mem_config_size", b->shared_max);
	b->cluster = whole(t, "launch__cluster_size", 0);
	b->achieved_pct = table_metric(t, "sm__warps_active.avg.pct_of_peak_sustained_active");
}

/* Warps are distributed to schedulers, each with its own part of the registers. */
static int64_t blocks_by_registers(const struct block_limits *b)
{
	int64_t words = SM_REGISTERS / b->schedulers;
	int64_t each = b->registers > 0 ? quotient(words, b->registers * WARP_LANES) : NO_VALUE;

	return each != NO_VALUE ? quotient(each * b->schedulers, b->warps) : NO_VALUE;
}

static void find_limits(const struct trace *t, struct block_limits *b)
{
	static const char *const stated[BLOCKS_LIMITS] = {"launch__occupancy_limit_registers",
		"launch__occupancy_limit_shared_mem", "launch__occupancy_limit_warps",
		"launch__occupancy_limit_blocks", "launch__occupancy_limit_barriers"};
	int64_t clusters =
		b->cluster > 1 ? whole(t, "launch__cluster_max_active", NO_VALUE) : NO_VALUE;
	const int64_t computed[BLOCKS_LIMITS] = {
		[BLOCKS_REGISTERS] = blocks_by_registers(b),
		[BLOCKS_SHARED] = quotient(b->shared_config, b->shared),
		[BLOCKS_WARPS] = quotient(b->max_warps, b->warps),
		[BLOCKS_SLOTS] =
			whole(t, "device__attribute_max_blocks_per_multiprocessor", NO_VALUE),
		[BLOCKS_BARRIERS] = NO_VALUE,
		[BLOCKS_CLUSTERS] = clusters > 0 && clusters < 1 << 20 && b->cluster < 1 << 20
					    ? quotient(clusters * b->cluster, b->sms)
					    : NO_VALUE,
		[BLOCKS_GRID] = b->grid > 0 && b->sms > 0 ? (b->grid - 1) / b->sms + 1 : NO_VALUE,
	};

	b->per_sm = NO_VALUE;
	for (unsigned k = 0; k < BLOCKS_LIMITS; k++) {
		int64_t n = stated[k] ? whole(t, stated[k], NO_VALUE) : NO_VALUE;

		b->by[k] = (struct block_count){n != NO_VALUE ? n : computed[k], n == NO_VALUE};
		n = b->by[k].blocks;
		if (n == NO_VALUE || (b->per_sm != NO_VALUE && n > b->per_sm))
			continue;
		b->mask = (n == b->per_sm ? b->mask : 0) | 1u << k;
		b->per_sm = n;
	}
}

static void blocks_compute(const struct trace *t, struct block_limits *b)
{
	int64_t least = INT64_MAX;

	*b = (struct block_limits){0};
	find_launch(t, b);
	find_limits(t, b);
	b->fills = table_metric(t, "launch__waves_per_multiprocessor");
	b->is_fills_computed = !(b->fills >= 0);
	for (unsigned k = 0; k < BLOCKS_GRID; k++) /* without the grid: the room a small grid
						      leaves counts here */
		if (b->by[k].blocks != NO_VALUE && b->by[k].blocks < least)
			least = b->by[k].blocks;
	if (b->is_fills_computed)
		b->fills = least > 0 && least != INT64_MAX && b->sms > 0 && b->grid > 0
				   ? (double)b->grid / (double)b->sms / (double)least
				   : (double)NAN;
}

static bool blocks_put_reason(const struct block_limits *b, unsigned k, struct strbuf *out)
{
	switch (k) {
	case BLOCKS_REGISTERS:
		return sb_printf(out, "registers (%" PRId64 " a thread, %" PRId64 " threads)",
			b->registers, b->threads);
	case BLOCKS_SHARED:
		return sb_printf(out, "shared memory (%" PRId64 " of %" PRId64 " bytes a block)",
			b->shared, b->shared_config);
	case BLOCKS_WARPS:
		return sb_printf(out, "warps (%" PRId64 " a block)", b->warps);
	case BLOCKS_CLUSTERS:
		return sb_printf(out, "clusters (%" PRId64 " blocks each)", b->cluster);
	case BLOCKS_GRID:
		return sb_printf(
			out, "the grid (%" PRId64 " blocks on %" PRId64 " SMs)", b->grid, b->sms);
	default:
		return sb_puts(out, block_limit_name((enum block_limit)k));
	}
}

/* Blocks run in rounds that fill the device; in the last round part of it is idle. */
static bool put_tail(const struct block_limits *b, struct strbuf *out)
{
	double rounds = ceil(b->fills);

	if (!(b->fills > 0) || b->fills > 1e9)
		return true;
	return sb_printf(out,
		"; the grid fills the device %.2f times: with equal blocks %.1f %% of its room stays empty",
		b->fills, 100 * (rounds - b->fills) / rounds);
}

bool blocks_put_limit(const struct block_limits *b, struct strbuf *out)
{
	const char *joint = "";

	if (!sb_printf(out, "limited to %" PRId64 " block%s per SM", b->per_sm,
		    plural((uint64_t)b->per_sm)))
		return false;
	if (b->warps > 0 && b->max_warps > 0 &&
		!sb_printf(out, " (%" PRId64 " of %" PRId64 " warps)", b->per_sm * b->warps,
			b->max_warps))
		return false;
	if (!sb_puts(out, " by "))
		return false;
	for (unsigned k = 0; k < BLOCKS_LIMITS; k++) {
		if (!(b->mask >> k & 1))
			continue;
		if (!sb_puts(out, joint) || !blocks_put_reason(b, k, out))
			return false;
		joint = " and ";
	}
	return true;
}

/* As blocks_put_limit(), plus the measured occupancy and what stays empty at the end. */
static bool blocks_put_sentence(const struct block_limits *b, struct strbuf *out)
{
	if (!blocks_put_limit(b, out))
		return false;
	if (b->achieved_pct >= 0 &&
		!sb_printf(out, "; %.1f %% of the SM's warps were there", b->achieved_pct))
		return false;
	return put_tail(b, out);
}

static bool put_registers_step(const struct block_limits *b, int64_t next, struct strbuf *out)
{
	int64_t warps = b->warps > 0 ? b->warps : 1;
	int64_t each = (next * warps + b->schedulers - 1) / b->schedulers;
	int64_t room = SM_REGISTERS / b->schedulers / WARP_LANES / each;

	if (b->registers <= 0)
		return sb_printf(out, "%" PRId64 " blocks need fewer registers per thread", next);
	return sb_printf(out,
		"%" PRId64 " blocks need <= %" PRId64 " registers per thread (now %" PRId64 ")",
		next, room / REGISTER_GRANULE * REGISTER_GRANULE, b->registers);
}

static bool put_shared_step(const struct block_limits *b, int64_t next, struct strbuf *out)
{
	if (b->shared <= 0 || b->shared_max <= 0)
		return sb_printf(out, "%" PRId64 " blocks need less shared memory each", next);
	if (b->shared <= b->shared_max / next)
		return sb_printf(out,
			"%" PRId64 " blocks need %" PRId64
			" bytes of shared memory, the SM was set to %" PRId64 " of its %" PRId64,
			next, b->shared * next, b->shared_config, b->shared_max);
	return sb_printf(out,
		"%" PRId64 " blocks need <= %" PRId64
		" bytes of shared memory per block (now %" PRId64 ")",
		next, b->shared_max / next, b->shared);
}

static bool blocks_put_step(const struct block_limits *b, unsigned k, struct strbuf *out)
{
	int64_t next = b->per_sm + 1;

	switch (k) {
	case BLOCKS_REGISTERS:
		return put_registers_step(b, next, out);
	case BLOCKS_SHARED:
		return put_shared_step(b, next, out);
	case BLOCKS_WARPS:
		return sb_printf(out,
			"%" PRId64 " blocks need smaller blocks (now %" PRId64 " warps)", next,
			b->warps);
	case BLOCKS_SLOTS:
		return sb_printf(out,
			"the SM holds no more than %" PRId64 " blocks: larger blocks would fill it",
			b->per_sm);
	case BLOCKS_BARRIERS:
		return sb_printf(
			out, "%" PRId64 " blocks need fewer named barriers per block", next);
	case BLOCKS_CLUSTERS:
		return sb_printf(out,
			"%" PRId64 " blocks need smaller clusters (now %" PRId64 " blocks)", next,
			b->cluster);
	default:
		return sb_printf(out,
			"%" PRId64 " blocks need a grid of more than %" PRId64
			" blocks (now %" PRId64 ")",
			next, b->per_sm * b->sms, b->grid);
	}
}

/* "3 blocks need <= 80 registers per thread (now 120); ..." */
static bool blocks_put_next_step(const struct block_limits *b, struct strbuf *out)
{
	const char *joint = "";

	if (b->per_sm <= 0 || b->per_sm > 1 << 20)
		return false;
	if (b->warps > 0 && b->per_sm * b->warps >= b->max_warps && b->max_warps > 0)
		return sb_puts(out, "the SM holds no more warps");
	for (unsigned k = 0; k < BLOCKS_LIMITS; k++) {
		if (!(b->mask >> k & 1))
			continue;
		if (!sb_puts(out, joint) || !blocks_put_step(b, k, out))
			return false;
		joint = "; ";
	}
	return true;
}

/* --- limits ----------------------------------------------------------------------------------- */

/* Order of precedence among equal limits. */
static const enum limit_kind order[LIMIT_KINDS] = {LIMIT_VGPR, LIMIT_LDS, LIMIT_GRID, LIMIT_WAVES,
	LIMIT_BLOCKS, LIMIT_BARRIERS, LIMIT_CLUSTERS};

const char *limit_name(enum limit_kind k)
{
	static const char *const names[LIMIT_KINDS] = {
		"waves", "vgpr", "lds", "grid", "blocks", "barriers", "clusters"};

	return k < LIMIT_KINDS ? names[k] : "?";
}

/* Returns the capture's own figure, else the table's, and counts which was used. */
static int64_t limits_choose(
	int64_t stated, uint32_t assumed, unsigned *n_stated, unsigned *n_assumed)
{
	if (stated > 0) {
		(*n_stated)++;
		return stated;
	}
	if (assumed == 0)
		return NO_VALUE;
	(*n_assumed)++;
	return assumed;
}

static void find_machine(const struct trace *t, struct limits *l)
{
	const struct trace_machine *m = &t->meta.machine;
	const struct amd_machine *a = amd_machine_find(t->meta.arch, t->meta.gfx_major);
	const struct amd_machine none = {0};
	unsigned n_stated = 0, n_assumed = 0;
	int64_t per_cu = m->cus > 0 && m->simds > 0 ? m->simds / m->cus : NO_VALUE;

	l->assumed = a;
	if (!a)
		a = &none;
	l->max_waves_per_simd =
		limits_choose(m->max_waves_per_simd, a->waves_per_simd, &n_stated, &n_assumed);
	l->lds_bytes_per_cu =
		limits_choose(m->lds_bytes_per_cu, a->lds_bytes_per_cu, &n_stated, &n_assumed);
	l->simds = limits_choose(m->simds, a->simds, &n_stated, &n_assumed);
	l->simds_per_cu = limits_choose(per_cu, a->simds_per_cu, &n_stated, &n_assumed);
	l->wave_size = limits_choose(m->wave_size, a->wave_size, &n_stated, &n_assumed);
	l->vgpr_pool = a->vgprs_per_simd;
	l->vgpr_granule = a->vgpr_granule;
	l->has_unified_accum = a->has_unified_accum;
	if (a->wave_size == 32 && l->wave_size == 64) { /* a register holds two lanes */
		l->vgpr_pool /= 2;
		l->vgpr_granule /= 2;
	}
	l->is_assumed = n_assumed > 0;
	l->machine_source = n_stated && n_assumed ? "mixed"
			    : n_stated		  ? "side-files"
			    : n_assumed		  ? "assumed"
						  : NULL;
}

static void find_kernel(const struct trace *t, struct limits *l)
{
	const struct trace_launch *k = &t->meta.launch;
	uint64_t items = 1;

	l->regs = amd_regs_of_trace(t);
	l->arch_vgprs = amd_regs_round(l->regs.arch, l->vgpr_granule);
	l->accum_vgprs = amd_regs_round(l->regs.accum, l->vgpr_granule);
	l->stated_vgprs = k->vgprs;
	l->lds_bytes_per_workgroup = k->lds_bytes;
	l->launched_waves = k->waves;
	l->waves_per_workgroup = NO_VALUE;
	for (code_idx i = 0; i < t->n_code; i++) {
		l->has_code |= !t->code[i].is_label;
		l->has_lds_instructions |=
			!t->code[i].is_label && (t->code[i].inst_class == CLASS_LDS ||
							t->code[i].inst_class == CLASS_VMEM_TO_LDS);
	}
	for (unsigned i = 0; i < 3; i++) {
		/* no workgroup has more than 1,024 work-items; anything else is damaged input */
		if (k->workgroup[i] <= 0 || k->workgroup[i] > 1024)
			return;
		items *= (uint64_t)k->workgroup[i];
	}
	if (l->wave_size > 0)
		l->waves_per_workgroup =
			(int64_t)((items + (uint64_t)l->wave_size - 1) / (uint64_t)l->wave_size);
}

static struct limit limits_known(uint64_t waves)
{
	return (struct limit){LIMIT_KNOWN, waves};
}

/* An SM gives resources to whole blocks: converts those limits to warps per scheduler. */
static void find_blocks(const struct trace *t, struct limits *l)
{
	static const enum limit_kind kinds[BLOCKS_LIMITS] = {LIMIT_VGPR, LIMIT_LDS, LIMIT_WAVES,
		LIMIT_BLOCKS, LIMIT_BARRIERS, LIMIT_CLUSTERS, LIMIT_GRID};
	struct block_limits *b = &l->blocks;

	blocks_compute(t, b);
	l->is_by_block = b->per_sm != NO_VALUE;
	l->arch_vgprs = l->regs.arch = b->registers > 0 ? (uint32_t)b->registers : 0;
	for (unsigned k = 0; k < BLOCKS_LIMITS; k++) {
		int64_t n = b->by[k].blocks;
		bool may_be_none = k == BLOCKS_BARRIERS || k == BLOCKS_CLUSTERS;

		if (n == NO_VALUE || b->warps <= 0 || n > 1 << 20)
			l->by[kinds[k]].state = may_be_none ? LIMIT_NONE : LIMIT_UNKNOWN;
		else
			l->by[kinds[k]] = limits_known(
				(uint64_t)((n * b->warps + b->schedulers - 1) / b->schedulers));
	}
}

static struct limit limit_vgpr(const struct limits *l)
{
	uint32_t need = l->arch_vgprs > l->accum_vgprs ? l->arch_vgprs : l->accum_vgprs;

	if (l->vgpr_pool == 0 || !l->has_code)
		return (struct limit){LIMIT_UNKNOWN, 0};
	if (l->has_unified_accum)
		need = l->arch_vgprs + l->accum_vgprs;
	if (need == 0)
		return (struct limit){LIMIT_NONE, 0};
	return limits_known(l->vgpr_pool / need);
}

static struct limit limit_lds(const struct limits *l)
{
	uint64_t workgroups, waves;

	if (l->lds_bytes_per_workgroup <= 0 && l->has_code && !l->has_lds_instructions)
		return (struct limit){LIMIT_NONE, 0};
	/* a stated 0 is not credible if there are LDS instructions */
	if (l->lds_bytes_per_workgroup <= 0 || l->lds_bytes_per_cu <= 0 || l->simds_per_cu <= 0 ||
		l->waves_per_workgroup <= 0)
		return (struct limit){LIMIT_UNKNOWN, 0};
	workgroups = (uint64_t)(l->lds_bytes_per_cu / l->lds_bytes_per_workgroup);
	waves = workgroups * (uint64_t)l->waves_per_workgroup;
	return limits_known((waves + (uint64_t)l->simds_per_cu - 1) / (uint64_t)l->simds_per_cu);
}

static struct limit limit_grid(const struct limits *l)
{
	if (l->launched_waves <= 0 || l->simds <= 0)
		return (struct limit){LIMIT_UNKNOWN, 0};
	return limits_known(
		((uint64_t)l->launched_waves + (uint64_t)l->simds - 1) / (uint64_t)l->simds);
}

void limits_compute(const struct trace *t, struct limits *l)
{
	*l = (struct limits){0};
	find_machine(t, l);
	find_kernel(t, l);
	l->by[LIMIT_WAVES] = l->max_waves_per_simd > 0
				     ? limits_known((uint64_t)l->max_waves_per_simd)
				     : (struct limit){LIMIT_UNKNOWN, 0};
	l->by[LIMIT_VGPR] = limit_vgpr(l);
	l->by[LIMIT_LDS] = limit_lds(l);
	l->by[LIMIT_GRID] = limit_grid(l);
	l->by[LIMIT_BLOCKS] = l->by[LIMIT_BARRIERS] = l->by[LIMIT_CLUSTERS] =
		(struct limit){LIMIT_NONE, 0};
	if (vendor_row(t)->has_blocks)
		find_blocks(t, l);
	for (unsigned i = 0; i < LIMIT_KINDS; i++) {
		const struct limit *x = &l->by[order[i]];

		l->is_upper_bound |= x->state == LIMIT_UNKNOWN;
		if (x->state != LIMIT_KNOWN)
			continue;
		if (!l->is_known || x->waves < l->predicted) {
			l->predicted = x->waves;
			l->limiter = order[i];
			l->limiter_mask = 0;
		}
		l->is_known = true;
		if (x->waves == l->predicted)
			l->limiter_mask |= 1u << order[i];
	}
	/* registers for more waves than the hardware can hold: report what it can hold */
	if (l->by[LIMIT_VGPR].state == LIMIT_KNOWN && l->by[LIMIT_WAVES].state == LIMIT_KNOWN &&
		l->by[LIMIT_VGPR].waves > l->by[LIMIT_WAVES].waves)
		l->by[LIMIT_VGPR].waves = l->by[LIMIT_WAVES].waves;
}

/* Registers a wave may use for n waves per SIMD, rounded down to the granule; 0 if unknown. */
static uint32_t limits_vgprs_for(const struct limits *l, uint64_t waves)
{
	if (waves == 0 || l->vgpr_granule == 0 || waves > l->vgpr_pool)
		return 0;
	return l->vgpr_pool / (uint32_t)waves / l->vgpr_granule * l->vgpr_granule;
}

uint64_t limits_lds_for(const struct limits *l, uint64_t waves)
{
	uint64_t per_simd, workgroups;

	if (waves == 0 || waves > 1024 || l->lds_bytes_per_cu <= 0 || l->simds_per_cu <= 0 ||
		l->waves_per_workgroup <= 0)
		return 0;
	/* the fewest workgroups that put `waves` on some SIMD */
	per_simd = (waves - 1) * (uint64_t)l->simds_per_cu + 1;
	workgroups = (per_simd + (uint64_t)l->waves_per_workgroup - 1) /
		     (uint64_t)l->waves_per_workgroup;
	return (uint64_t)l->lds_bytes_per_cu / workgroups;
}

static bool put_step(const struct limits *l, enum limit_kind k, struct strbuf *out)
{
	uint64_t next = l->predicted + 1;

	switch (k) {
	case LIMIT_VGPR:
		return sb_printf(out, "%" PRIu64 " waves need <= %u VGPRs (now %u)", next,
			limits_vgprs_for(l, next), l->arch_vgprs + l->accum_vgprs);
	case LIMIT_LDS:
		return sb_printf(out,
			"%" PRIu64 " waves need <= %" PRIu64
			" bytes of LDS per workgroup (now %" PRId64 ")",
			next, limits_lds_for(l, next), l->lds_bytes_per_workgroup);
	case LIMIT_GRID:
		return sb_printf(out,
			"%" PRIu64 " waves need a grid of more than %" PRIu64 " waves (now %" PRId64
			")",
			next, l->predicted * (uint64_t)l->simds, l->launched_waves);
	default:
		return sb_puts(out, "the hardware holds no more waves");
	}
}

bool limits_put_next_step(const struct limits *l, struct strbuf *out)
{
	const char *joint = "";

	if (!l->is_known || l->predicted == 0)
		return false;
	if (l->is_by_block)
		return blocks_put_next_step(&l->blocks, out);
	if (l->limiter_mask & 1u << LIMIT_WAVES)
		return put_step(l, LIMIT_WAVES, out);
	for (unsigned i = 0; i < 3; i++) {
		if (!(l->limiter_mask & 1u << order[i]))
			continue;
		if (!sb_puts(out, joint) || !put_step(l, order[i], out))
			return false;
		joint = "; ";
	}
	return true;
}

static bool put_reason(const struct limits *l, enum limit_kind k, struct strbuf *out)
{
	switch (k) {
	case LIMIT_VGPR:
		if (l->accum_vgprs)
			return sb_printf(out, "registers (%u + %u of %u VGPRs)", l->arch_vgprs,
				l->accum_vgprs, l->vgpr_pool);
		return sb_printf(out, "registers (%u of %u VGPRs)", l->arch_vgprs, l->vgpr_pool);
	case LIMIT_LDS:
		return sb_printf(out, "LDS (%" PRId64 " of %" PRId64 " bytes a workgroup)",
			l->lds_bytes_per_workgroup, l->lds_bytes_per_cu);
	case LIMIT_GRID:
		return sb_printf(out, "the grid (%" PRId64 " waves on %" PRId64 " SIMDs)",
			l->launched_waves, l->simds);
	default:
		return sb_puts(out, "the hardware");
	}
}

bool limits_put_sentence(const struct limits *l, struct strbuf *out)
{
	const char *joint = "";

	if (!l->is_known)
		return sb_puts(out, "no limit is known for this target");
	if (l->is_by_block)
		return blocks_put_sentence(&l->blocks, out);
	if (!sb_printf(out, "%s %" PRIu64 " wave%s per SIMD by ",
		    l->is_upper_bound ? "limited to at most" : "limited to", l->predicted,
		    plural(l->predicted)))
		return false;
	for (unsigned i = 0; i < LIMIT_KINDS; i++) {
		if (!(l->limiter_mask & 1u << order[i]))
			continue;
		if (!sb_puts(out, joint) || !put_reason(l, order[i], out))
			return false;
		joint = " and ";
	}
	for (unsigned i = 0; i < LIMIT_KINDS; i++)
		if (l->by[order[i]].state == LIMIT_UNKNOWN &&
			!sb_printf(out, "; %s unknown", limit_name(order[i])))
			return false;
	return true;
}
