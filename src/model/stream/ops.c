/* SPDX-License-Identifier: Apache-2.0 */
/* ops.c: what is an op of this name, and what does it do to its operands? */
#include "model/stream/ops.h"

#include "model/stream/ops_table.h"

const struct op_info *op_table(size_t *n)
{
	*n = OP_TABLE_N;
	return OP_TABLE;
}

unsigned op_find(struct str name)
{
	/* Called once per form, not per op: a linear scan of some 180 names is fast enough. */
	for (size_t i = 1; i < OP_TABLE_N; i++)
		if (str_is(name, OP_TABLE[i].name))
			return (unsigned)i;
	return OP_UNKNOWN;
}

const char *price_class_name(enum price_class c)
{
	static const char *const NAMES[PRICE_COUNT] = {"free", "LOAD", "STORE", "L0", "MAD", "FIX",
		"V2", "V1", "V4", "V2t", "VC", "RED", "CRED", "ROWX", "RX", "CX", "GIDX", "GMSK",
		"SORT", "MRG", "TR", "TCI", "GETV", "SCALAR", "sync", "FIFO", "EXT", "default",
		"unknown"};

	return (unsigned)c < PRICE_COUNT ? NAMES[c] : "unknown";
}

unsigned op_access_of(const struct op_form *f, const struct op_opnd *o)
{
	unsigned traits = f->op < OP_TABLE_N ? OP_TABLE[f->op].traits : 0;
	unsigned access = 0;

	if (o->what == OPND_SCALAR || f->pipe == OPP_NONE)
		return 0;
	switch (o->role) {
	case ROLE_DST:
		access = ACCESS_WRITE;
		if (traits & OPT_ACCUMULATES)
			access |= ACCESS_READ;
		if (traits & (OPT_PADS | OPT_SCATTERS) ||
			(traits & OPT_FILLS && o->pad != PAD_NULL))
			access |= ACCESS_WHOLE;
		if (traits & OPT_SUB_DST)
			access |= ACCESS_PART;
		break;
	case ROLE_SRC:
		access = ACCESS_READ;
		if (traits & OPT_SUB_SRC)
			access |= ACCESS_PART;
		break;
	case ROLE_IDX:
		access = ACCESS_READ;
		break;
	case ROLE_TMP:
		access = ACCESS_READ | ACCESS_WRITE;
		break;
	default:
		break;
	}
	return access;
}

enum price_class op_price_class(const struct op_form *f, const struct op_opnd *opnds)
{
	enum price_class c = f->op < OP_TABLE_N ? OP_TABLE[f->op].price : PRICE_UNKNOWN;

	(void)opnds;
	switch (c) {
	case PRICE_L0: /* TMOV and TEXTRACT have three paths */
		return f->pipe == OPP_FIX ? PRICE_FIX : f->pipe == OPP_V ? PRICE_V1 : PRICE_L0;
	case PRICE_STORE:
		return f->pipe == OPP_FIX ? PRICE_FIX : PRICE_STORE;
	case PRICE_GIDX:
		return f->mask != OPSTREAM_ABSENT ? PRICE_GMSK : PRICE_GIDX;
	case PRICE_TCI:
		return f->pipe == OPP_V ? PRICE_V1 : PRICE_TCI;
	default:
		return c;
	}
}
