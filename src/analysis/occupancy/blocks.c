/* SPDX-License-Identifier: Apache-2.0 */
/* blocks.c: how many blocks of an NVIDIA launch fit on an SM, and what would allow one more? */
#include "analysis/occupancy/blocks.h"

#include <inttypes.h>
#include <math.h>

#include "analysis/producer_tables.h"

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

void blocks_compute(const struct trace *t, struct block_limits *b)
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

static bool put_reason(const struct block_limits *b, unsigned k, struct strbuf *out)
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
		if (!sb_puts(out, joint) || !put_reason(b, k, out))
			return false;
		joint = " and ";
	}
	return true;
}

bool blocks_put_sentence(const struct block_limits *b, struct strbuf *out)
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

static bool put_step(const struct block_limits *b, unsigned k, struct strbuf *out)
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

bool blocks_put_next_step(const struct block_limits *b, struct strbuf *out)
{
	const char *joint = "";

	if (b->per_sm <= 0 || b->per_sm > 1 << 20)
		return false;
	if (b->warps > 0 && b->per_sm * b->warps >= b->max_warps && b->max_warps > 0)
		return sb_puts(out, "the SM holds no more warps");
	for (unsigned k = 0; k < BLOCKS_LIMITS; k++) {
		if (!(b->mask >> k & 1))
			continue;
		if (!sb_puts(out, joint) || !put_step(b, k, out))
			return false;
		joint = "; ";
	}
	return true;
}
