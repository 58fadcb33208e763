/* SPDX-License-Identifier: Apache-2.0 */
/* limits.c: the predicted limit of waves and everything it is based on, for several answers. */
#include "answer/limits.h"

static const struct column limit_columns[] = {
	COLUMN(limit_line, state, UNIT_NONE,
		"whether the limit is known; none: the kernel uses none of this resource",
		.words = "known|unknown|none"),
	COLUMN(limit_line, waves, UNIT_WAVES, "waves per SIMD that this limit allows", NULLABLE),
};
static const struct record limit_record = RECORD_OF(limit_line, RECORD_LINE, limit_columns);

static const struct column by_columns[] = {
	RECORD(limits_by, waves, &limit_record,
		"waves per SIMD that the hardware allows for any kernel"),
	RECORD(limits_by, vgpr, &limit_record, "waves per SIMD that the vector registers allow"),
	RECORD(limits_by, lds, &limit_record, "waves per SIMD that the LDS allows"),
	RECORD(limits_by, grid, &limit_record, "waves per SIMD that the grid provides"),
};
static const struct record by_record = RECORD_OF(limits_by, RECORD_BLOCK, by_columns);

#define FIGURE(M, NAME, UNIT, DOC, ...) COLUMN_AS(limits_part, l.M, NAME, UNIT, DOC, ##__VA_ARGS__)
#define KNOWN(M, UNIT, DOC) FIGURE(M, #M, UNIT, DOC, NULLABLE)
static const struct column kernel_columns[] = {
	FIGURE(arch_vgprs, "arch_vgprs", UNIT_COUNT,
		"vector registers of a wave, in whole granules"),
	FIGURE(accum_vgprs, "accum_vgprs", UNIT_COUNT,
		"accumulation registers of a wave, in whole granules"),
	FIGURE(regs.arch, "arch_vgprs_used", UNIT_COUNT, "vector registers that the text names"),
	FIGURE(regs.accum, "accum_vgprs_used", UNIT_COUNT,
		"accumulation registers that the text names"),
	KNOWN(stated_vgprs, UNIT_COUNT, "vector registers that the producer states"),
	KNOWN(lds_bytes_per_workgroup, UNIT_BYTES, "LDS bytes per workgroup"),
	FIGURE(has_lds_instructions, "has_lds_instructions", UNIT_NONE,
		"the code uses the LDS for more than moves across lanes"),
	KNOWN(waves_per_workgroup, UNIT_WAVES, "waves per workgroup"),
	KNOWN(launched_waves, UNIT_WAVES, "waves of the launch"),
};
static const struct record kernel_record = RECORD_OF(limits_part, RECORD_BLOCK, kernel_columns);

static const struct column machine_columns[] = {
	FIGURE(machine_source, "source", UNIT_NONE, "where the figures come from",
		.words = "side-files|assumed|mixed", NULLABLE),
	COLUMN(limits_part, assumed_target, UNIT_NONE, "target whose figures were assumed",
		NULLABLE),
	COLUMN(limits_part, assumed_product, UNIT_NONE, "product whose figures were assumed",
		NULLABLE),
	KNOWN(max_waves_per_simd, UNIT_WAVES, "waves that a SIMD can hold"),
	FIGURE(vgpr_pool, "vgprs_per_simd", UNIT_COUNT, "registers that the waves of a SIMD share",
		.flags = COLUMN_NULLABLE | COLUMN_SOME),
	FIGURE(vgpr_granule, "vgpr_granule", UNIT_COUNT,
		"number of registers that are allocated at a time",
		.flags = COLUMN_NULLABLE | COLUMN_SOME),
	KNOWN(lds_bytes_per_cu, UNIT_BYTES, "LDS bytes per compute unit"),
	KNOWN(simds, UNIT_COUNT, "SIMDs of the device"),
	KNOWN(simds_per_cu, UNIT_COUNT, "SIMDs of a compute unit"),
	KNOWN(wave_size, UNIT_COUNT, "lanes of a wave"),
};
static const struct record machine_record = RECORD_OF(limits_part, RECORD_BLOCK, machine_columns);

static const struct column block_columns[] = {
	COLUMN(block_line, limit, UNIT_NONE, "name of the limit",
		.words = "registers|shared memory|warps|blocks|barriers|clusters|grid"),
	COLUMN(block_line, blocks, UNIT_COUNT,
		"blocks of this launch that one SM can hold under this limit"),
	COLUMN(block_line, source, UNIT_NONE,
		"whether the report states it or it was computed from the launch",
		.words = "report|computed"),
};
static const struct record block_record = RECORD_OF(block_line, RECORD_LINE, block_columns);

static const struct column blocks_columns[] = {
	COLUMN(blocks_part, per_sm, UNIT_COUNT, "blocks that one SM can hold", NULLABLE),
	COLUMN(blocks_part, warps_per_block, UNIT_WAVES, "warps per block", NULLABLE),
	COLUMN(blocks_part, achieved_pct, UNIT_PERCENT,
		"measured warps, as a share of the warps that one SM can hold", .digits = 2,
		NULLABLE),
	COLUMN(blocks_part, fills, UNIT_NONE, "how many times the grid fills the device",
		.digits = 3, NULLABLE),
	COLUMN(blocks_part, fills_source, UNIT_NONE, "where fills comes from",
		.words = "report|computed"),
	LIST(blocks_part, by, &block_record, "NVIDIA: blocks per SM under each limit"),
};
static const struct record blocks_record = RECORD_OF(blocks_part, RECORD_BLOCK, blocks_columns);

static const struct column limits_columns[] = {
	COLUMN(limits_part, waves_per_simd, UNIT_WAVES,
		"waves per SIMD under the tightest known limit", NULLABLE),
	COLUMN(limits_part, limiter, UNIT_NONE, "name of the tightest limit",
		.words = "waves|vgpr|lds|grid|blocks|barriers|clusters", NULLABLE),
	FIGURE(is_upper_bound, "is_upper_bound", UNIT_NONE,
		"some limits are unknown, so the real number may be lower"),
	LIST(limits_part, limiters, &text_item_record,
		"names of all limits that are equally tight"),
	RECORD(limits_part, by, &by_record, "every limit by itself"),
	COLUMN(limits_part, sentence, UNIT_NONE, "the limit in one sentence"),
	COLUMN(limits_part, next_step, UNIT_NONE, "change that would allow one wave more",
		NULLABLE),
	RECORD_SELF("kernel", &kernel_record, "resources that the kernel needs"),
	RECORD_SELF("machine", &machine_record, "resources that the machine has"),
	POINTER(limits_part, blocks, &blocks_record, "NVIDIA: blocks per SM", OPTIONAL),
};
const struct record limits_record = RECORD_OF(limits_part, RECORD_BLOCK, limits_columns);

static struct limit_line limit_line_of(const struct limit *x)
{
	static const char *const states[] = {"known", "unknown", "none"};

	return (struct limit_line){states[x->state], x->state == LIMIT_KNOWN ? x->waves : NO_U64};
}

static bool put_limiters(
	struct answer *a, const struct limits *l, struct rows *out, struct incore_error *e)
{
	struct text_item *v = ANSWER_ROWS(a, out, LIMIT_KINDS, text_item, e);
	size_t n = 0;

	for (unsigned k = 0; v && k < LIMIT_KINDS; k++)
		if (l->is_known && (l->limiter_mask & 1u << k))
			v[n++].v = limit_name(k);
	out->n = n;
	return v != NULL;
}

static bool put_texts(
	struct answer *a, const struct limits *l, struct limits_part *out, struct incore_error *e)
{
	struct strbuf text = {0};
	bool ok = limits_put_sentence(l, &text);

	out->sentence = arena_strndup(&a->arena, text.p ? text.p : "", text.n);
	sb_reset(&text);
	if (ok && limits_put_next_step(l, &text)) {
		out->next_step = arena_strndup(&a->arena, text.p, text.n);
		ok = out->next_step != NULL;
	}
	ok = ok && !text.failed && out->sentence;
	sb_free(&text);
	return ok || err_nomem(e);
}

static bool limits_put_blocks(struct answer *a, const struct block_limits *b,
	struct limits_part *out, struct incore_error *e)
{
	static const char *const sources[] = {"report", "computed"};
	struct blocks_part *x = ANSWER_NEW(a, blocks_part, e);
	struct block_line *v = x ? ANSWER_ROWS(a, &x->by, BLOCKS_LIMITS, block_line, e) : NULL;

	if (!v)
		return false;
	x->per_sm = b->per_sm;
	x->warps_per_block = b->warps;
	x->achieved_pct = b->achieved_pct;
	x->fills = b->fills;
	x->fills_source = sources[b->is_fills_computed];
	x->by.n = 0;
	for (unsigned k = 0; k < BLOCKS_LIMITS; k++)
		if (b->by[k].blocks != NO_VALUE)
			v[x->by.n++] = (struct block_line){block_limit_name(k), b->by[k].blocks,
				sources[b->by[k].is_computed]};
	out->blocks = x;
	return true;
}

bool limits_make(
	struct answer *a, const struct limits *l, struct limits_part *out, struct incore_error *e)
{
	const struct amd_machine *assumed = l->is_assumed ? l->assumed : NULL;

	*out = (struct limits_part){.l = *l,
		.waves_per_simd = l->is_known ? l->predicted : NO_U64,
		.limiter = l->is_known ? limit_name(l->limiter) : NULL,
		.by = {limit_line_of(&l->by[LIMIT_WAVES]), limit_line_of(&l->by[LIMIT_VGPR]),
			limit_line_of(&l->by[LIMIT_LDS]), limit_line_of(&l->by[LIMIT_GRID])},
		.assumed_target = assumed ? assumed->arch : NULL,
		.assumed_product = assumed ? assumed->product : NULL};
	return put_limiters(a, l, &out->limiters, e) && put_texts(a, l, out, e) &&
	       (!l->is_by_block || limits_put_blocks(a, &l->blocks, out, e));
}
