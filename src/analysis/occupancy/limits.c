/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c: how many waves of this kernel fit on a SIMD, and what would allow one more? */
#include "analysis/occupancy/limits.h"

#include "trace/kind.h"

#include <inttypes.h>

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
static int64_t choose(int64_t stated, uint32_t assumed, unsigned *n_stated, unsigned *n_assumed)
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
		choose(m->max_waves_per_simd, a->waves_per_simd, &n_stated, &n_assumed);
	l->lds_bytes_per_cu =
		choose(m->lds_bytes_per_cu, a->lds_bytes_per_cu, &n_stated, &n_assumed);
	l->simds = choose(m->simds, a->simds, &n_stated, &n_assumed);
	l->simds_per_cu = choose(per_cu, a->simds_per_cu, &n_stated, &n_assumed);
	l->wave_size = choose(m->wave_size, a->wave_size, &n_stated, &n_assumed);
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

static struct limit known(uint64_t waves)
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
			l->by[kinds[k]] = known(
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
	return known(l->vgpr_pool / need);
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
	return known((waves + (uint64_t)l->simds_per_cu - 1) / (uint64_t)l->simds_per_cu);
}

static struct limit limit_grid(const struct limits *l)
{
	if (l->launched_waves <= 0 || l->simds <= 0)
		return (struct limit){LIMIT_UNKNOWN, 0};
	return known(((uint64_t)l->launched_waves + (uint64_t)l->simds - 1) / (uint64_t)l->simds);
}

void limits_compute(const struct trace *t, struct limits *l)
{
	*l = (struct limits){0};
	find_machine(t, l);
	find_kernel(t, l);
	l->by[LIMIT_WAVES] = l->max_waves_per_simd > 0 ? known((uint64_t)l->max_waves_per_simd)
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
