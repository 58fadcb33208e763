/* SPDX-License-Identifier: Apache-2.0 */
/* cause_rules.c: the causes of gaps and stalls, and the families of causes. */
#include "analysis/waves/causes_internal.h"
#include "isa/amd.h"

static const char *const family_names[FAMILY_COUNT] = {"useful", "memory", "cross-lane", "scalar",
	"sync", "scheduling", "pipe", "dependency", "fetch", "arbiter", "launch"};

const char *family_name(enum cause_family f)
{
	return (unsigned)f < FAMILY_COUNT ? family_names[f] : "unknown";
}

const struct kind_def cause_kind_defs[CAUSE_KINDS] = {
	[CAUSE_ISSUE] = {"issue:", BUCKET_ISSUE, FAMILY_USEFUL},
	[CAUSE_PIPE_STALL] = {"pipe-stall:", BUCKET_STALL, FAMILY_PIPE},
	[CAUSE_WAIT] = {"wait:", BUCKET_WAIT, FAMILY_MEMORY},
	[CAUSE_BARRIER] = {"barrier", BUCKET_WAIT, FAMILY_SYNC},
	[CAUSE_SLEEP] = {"sleep", BUCKET_WAIT, FAMILY_SYNC},
	[CAUSE_NOP_PADDING] = {"nop-padding", BUCKET_STALL, FAMILY_SCHEDULING},
	[CAUSE_NOP_EXCESS] = {"nop-excess", BUCKET_STALL, FAMILY_SCHEDULING},
	[CAUSE_CROSS_PIPE] = {"gap:cross-pipe", BUCKET_IDLE, FAMILY_DEPENDENCY},
	[CAUSE_BRANCH] = {"gap:branch", BUCKET_IDLE, FAMILY_FETCH},
	[CAUSE_GAP] = {"gap:other", BUCKET_IDLE, FAMILY_ARBITER},
	[CAUSE_LAUNCH] = {"launch", BUCKET_IDLE, FAMILY_LAUNCH},
	[CAUSE_TAIL] = {"tail", BUCKET_IDLE, FAMILY_LAUNCH},
	[CAUSE_DRAIN] = {"drain", BUCKET_DRAIN, FAMILY_MEMORY},
};

static bool is_vector(enum inst_class k)
{
	return k == CLASS_VALU || k == CLASS_TRANS || k == CLASS_MATRIX;
}

static bool is_other_pipe(enum inst_class k)
{
	return k == CLASS_LDS || k == CLASS_LDS_XLANE || k == CLASS_SALU ||
	       (k >= CLASS_VMEM_LOAD && k <= CLASS_VMEM_TO_LDS);
}

enum cause_kind cause_of_gap(const struct track_data *d, uint32_t i)
{
	if (i == 0)
		return CAUSE_LAUNCH;
	if (d->inst_class[i - 1] == CLASS_BRANCH && d->tag[i - 1] == AMD_CATEGORY_JUMP)
		return CAUSE_BRANCH;
	if (is_vector(d->inst_class[i - 1]) && is_other_pipe(d->inst_class[i]))
		return CAUSE_CROSS_PIPE;
	return CAUSE_GAP;
}

enum cause_kind cause_of_stall(enum inst_class c)
{
	switch (c) {
	case CLASS_WAIT:
		return CAUSE_WAIT;
	case CLASS_BARRIER:
		return CAUSE_BARRIER;
	case CLASS_SLEEP:
		return CAUSE_SLEEP;
	case CLASS_NOP:
		return CAUSE_NOP_PADDING;
	case CLASS_DRAIN:
		return CAUSE_DRAIN;
	default:
		return CAUSE_PIPE_STALL;
	}
}

static enum cause_family wait_family(uint32_t key)
{
	unsigned mask = (key | key >> 8 | key >> 16 | key >> 24) & 0xff;
	const unsigned memory = 1u << AMD_PRODUCER_LDS | 1u << AMD_PRODUCER_VMEM_ATOMIC |
				1u << AMD_PRODUCER_VMEM_LOAD | 1u << AMD_PRODUCER_VMEM_STORE |
				1u << AMD_PRODUCER_VMEM_TO_LDS;

	if (mask & memory)
		return FAMILY_MEMORY;
	if (mask & 1u << AMD_PRODUCER_LDS_XLANE)
		return FAMILY_CROSS_LANE;
	return mask ? FAMILY_SCALAR : FAMILY_SCHEDULING;
}

enum cause_family cause_family_of(enum cause_kind kind, uint32_t key)
{
	return kind == CAUSE_WAIT ? wait_family(key) : cause_kind_defs[kind].family;
}
