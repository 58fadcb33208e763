/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.c: what is an op of this name, and what does it do to its operands? Parts: the table;
 * descriptions.
 */
#include "model/stream/ops.h"

/* --- the table -------------------------------------------------------------------------------- */

/* The ops and intrinsics, as data. Order: as in incore-opstream(7). */

#define PUB OPT_IN_PUBLIC
#define INT OPT_INTRINSIC

static const struct op_info OP_TABLE[] = {
	{"", "", "", PRICE_UNKNOWN, 0},

	/* data movement */
	{"TLOAD", "dst, gm", "MTE2", PRICE_LOAD, PUB | OPT_FILLS},
	{"TSTORE", "gm, src[, preQuant]", "MTE3; Acc: FIX", PRICE_STORE, PUB},
	{"TEXTRACT", "dst, src, row, col", "MTE1; Acc or Vec to Mat: FIX", PRICE_L0,
		PUB | OPT_SUB_SRC},
	{"TMOV", "dst, src[, fp | preQuant | tmp]",
		"MTE1; Mat to Scaling, Acc, Vec to Mat: FIX; Vec to Vec: V", PRICE_L0, PUB},
	{"TPREFETCH", "dst, gm", "MTE2", PRICE_LOAD, 0},
	{"MGATHER", "dst, gm, idx", "MTE2", PRICE_LOAD, 0},
	{"MSCATTER", "gm, src, idx", "V", PRICE_DEFAULT, 0},
	{"TIMG2COL", "dst, src, row, col", "MTE1", PRICE_L0, 0},
	{"TSTORE_FP", "gm, src, fp", "FIX", PRICE_FIX, 0},
	{"TMOV_FP", "dst, src, fp", "FIX", PRICE_FIX, 0},
	{"TINSERT", "dst, src, row, col", "FIX", PRICE_FIX, OPT_SUB_DST},
	{"TEXTRACT_FP", "dst, src, fp, row, col", "FIX", PRICE_FIX, OPT_SUB_SRC},
	{"TASSIGN", "tile | gm, address", "none", PRICE_FREE, PUB},
	{"TRESHAPE", "dst, src", "none", PRICE_FREE, PUB},
	{"TSUBVIEW", "dst, src, row, col", "none", PRICE_FREE, 0},

	/* matrix */
	{"TMATMUL", "c, a, b", "M", PRICE_MAD, PUB},
	{"TMATMUL_ACC", "c[, cIn], a, b", "M", PRICE_MAD, PUB | OPT_ACCUMULATES},
	{"TMATMUL_BIAS", "c, a, b, bias", "M", PRICE_MAD, 0},
	{"TMATMUL_MX", "c[, cIn], a, aScale, b, bScale[, bias]", "M", PRICE_MAD, PUB | OPT_A5},
	{"TGEMV", "c, a, b", "M", PRICE_MAD, 0},
	{"TGEMV_ACC", "c[, cIn], a, b", "M", PRICE_MAD, OPT_ACCUMULATES},
	{"TGEMV_BIAS", "c, a, b, bias", "M", PRICE_MAD, 0},
	{"TGEMV_MX", "c[, cIn], a, aScale, b, bScale[, bias]", "M", PRICE_MAD, OPT_A5},

	/* elementwise, two tiles */
	{"TADD", "dst, src0, src1", "V", PRICE_V2, PUB},
	{"TMUL", "dst, src0, src1", "V", PRICE_V2, PUB},
	{"TMAX", "dst, src0, src1", "V", PRICE_V2, PUB},
	{"TSUB", "dst, src0, src1", "V", PRICE_V2, PUB},
	{"TMIN", "dst, src0, src1", "V", PRICE_V2, 0},
	{"TAND", "dst, src0, src1", "V", PRICE_V2, 0},
	{"TOR", "dst, src0, src1", "V", PRICE_V2, 0},
	{"TXOR", "dst, src0, src1[, tmp]", "V", PRICE_V2, 0},
	{"TSHL", "dst, src0, src1", "V", PRICE_V2, 0},
	{"TSHR", "dst, src0, src1", "V", PRICE_V2, 0},
	{"TDIV", "dst, src0, src1", "V", PRICE_V4, PUB},
	{"TREM", "dst, src0, src1[, tmp]", "V", PRICE_DEFAULT, 0},
	{"TFMOD", "dst, src0, src1[, tmp]", "V", PRICE_DEFAULT, 0},
	{"TPOW", "dst, src0, src1[, tmp]", "V", PRICE_DEFAULT, 0},
	{"TPRELU", "dst, src0, src1[, tmp]", "V", PRICE_DEFAULT, 0},
	{"TADDC", "dst, src0, src1, src2", "V", PRICE_DEFAULT, 0},
	{"TSUBC", "dst, src0, src1, src2", "V", PRICE_DEFAULT, 0},
	{"TPARTADD", "dst, src0, src1", "V", PRICE_V2, 0},
	{"TPARTMUL", "dst, src0, src1", "V", PRICE_V2, 0},
	{"TPARTMAX", "dst, src0, src1", "V", PRICE_V2, 0},
	{"TPARTMIN", "dst, src0, src1", "V", PRICE_V2, 0},
	{"TSEL", "dst, mask, src0, src1[, tmp]", "V", PRICE_V2, 0},
	{"TCMP", "dst, src0, src1, CmpMode", "V", PRICE_V2, 0},
	{"TFUSEDMULADD", "dst, src0, src1", "V", PRICE_V2, OPT_ACCUMULATES},
	{"TFUSEDMULADDRELU", "dst, src0, src1", "V", PRICE_V2, OPT_ACCUMULATES},
	{"TMULADDDST", "dst, src0, src1", "V", PRICE_V2, OPT_ACCUMULATES},
	{"TCONCAT", "dst, src0, src1", "V", PRICE_V1, PUB},
	{"TINTERLEAVE", "dst0, dst1, src0, src1", "V", PRICE_DEFAULT, 0},
	{"TDEINTERLEAVE", "dst0, dst1, src0, src1", "V", PRICE_DEFAULT, 0},

	/* elementwise, tile and scalar */
	{"TMULS", "dst, src, scalar", "V", PRICE_V1, PUB},
	{"TADDS", "dst, src, scalar", "V", PRICE_V1, PUB},
	{"TMAXS", "dst, src, scalar", "V", PRICE_V1, PUB},
	{"TMINS", "dst, src, scalar", "V", PRICE_V1, PUB},
	{"TSUBS", "dst, src, scalar", "V", PRICE_V1, PUB},
	{"TDIVS", "dst, src, scalar", "V", PRICE_V4, 0},
	{"TANDS", "dst, src, scalar", "V", PRICE_V1, 0},
	{"TORS", "dst, src, scalar", "V", PRICE_V1, 0},
	{"TXORS", "dst, src, scalar[, tmp]", "V", PRICE_V1, 0},
	{"TSHLS", "dst, src, scalar", "V", PRICE_V1, 0},
	{"TSHRS", "dst, src, scalar", "V", PRICE_V1, 0},
	{"TREMS", "dst, src, scalar[, tmp]", "V", PRICE_DEFAULT, 0},
	{"TFMODS", "dst, src, scalar[, tmp]", "V", PRICE_DEFAULT, 0},
	{"TPOWS", "dst, src, scalar[, tmp]", "V", PRICE_DEFAULT, 0},
	{"TLRELU", "dst, src, scalar", "V", PRICE_V1, 0},
	{"TAXPY", "dst, src, scalar", "V", PRICE_V1, OPT_ACCUMULATES},
	{"TSELS", "dst, src0, src1, scalar", "V", PRICE_DEFAULT, 0},
	{"TCMPS", "dst, src, scalar, CmpMode", "V", PRICE_V1, 0},
	{"TEXPANDS", "dst, scalar", "V; Mat: MTE2", PRICE_V1, PUB},

	/* elementwise, one tile */
	{"TNEG", "dst, src", "V", PRICE_V1, PUB},
	{"TRECIP", "dst, src", "V", PRICE_V1, PUB},
	{"TABS", "dst, src", "V", PRICE_V1, PUB},
	{"TRSQRT", "dst, src[, tmp]", "V", PRICE_V1, PUB},
	{"TNOT", "dst, src", "V", PRICE_V1, 0},
	{"TRELU", "dst, src", "V", PRICE_V1, 0},
	{"TEXP", "dst, src", "V", PRICE_V2T, PUB},
	{"TSQRT", "dst, src", "V", PRICE_V2T, PUB},
	{"TLOG", "dst, src", "V", PRICE_V2T, PUB},
	{"TCVT", "dst, src[, tmp], RoundMode[, SaturationMode]", "V", PRICE_VC, PUB},
	{"TQUANT", "dst, src, scale[, ...]", "V", PRICE_DEFAULT, 0},
	{"TDEQUANT", "dst, src, scale[, ...]", "V", PRICE_DEFAULT, 0},

	/* reductions */
	{"TROWSUM", "dst, src, tmp", "V", PRICE_RED, PUB},
	{"TROWMAX", "dst, src, tmp", "V", PRICE_RED, PUB},
	{"TROWMIN", "dst, src, tmp", "V", PRICE_RED, 0},
	{"TROWPROD", "dst, src, tmp", "V", PRICE_RED, 0},
	{"TROWARGMAX", "dst, src, tmp", "V", PRICE_RED, 0},
	{"TROWARGMIN", "dst, src, tmp", "V", PRICE_RED, 0},
	{"TCOLSUM", "dst, src[, tmp, bool]", "V", PRICE_CRED, PUB},
	{"TCOLMAX", "dst, src", "V", PRICE_CRED, PUB},
	{"TCOLMIN", "dst, src", "V", PRICE_CRED, 0},
	{"TCOLPROD", "dst, src[, tmp]", "V", PRICE_CRED, 0},
	{"TCOLARGMAX", "dst, src[, tmp]", "V", PRICE_CRED, 0},
	{"TCOLARGMIN", "dst, src[, tmp]", "V", PRICE_CRED, 0},

	/* broadcast */
	{"TROWEXPANDMUL", "dst, src, row vector[, tmp]", "V", PRICE_RX, PUB},
	{"TROWEXPANDDIV", "dst, src, row vector[, tmp]", "V", PRICE_RX, PUB},
	{"TROWEXPANDSUB", "dst, src, row vector[, tmp]", "V", PRICE_RX, PUB},
	{"TROWEXPANDADD", "dst, src, row vector[, tmp]", "V", PRICE_RX, 0},
	{"TROWEXPANDMAX", "dst, src, row vector[, tmp]", "V", PRICE_RX, 0},
	{"TROWEXPANDMIN", "dst, src, row vector[, tmp]", "V", PRICE_RX, 0},
	{"TROWEXPANDEXPDIF", "dst, src, row vector[, tmp]", "V", PRICE_RX, 0},
	{"TCOLEXPANDMUL", "dst, src, column vector", "V", PRICE_CX, PUB},
	{"TCOLEXPANDADD", "dst, src, column vector", "V", PRICE_CX, PUB},
	{"TCOLEXPANDEXPDIF", "dst, src, column vector", "V", PRICE_CX, PUB},
	{"TCOLEXPANDSUB", "dst, src, column vector", "V", PRICE_CX, 0},
	{"TCOLEXPANDDIV", "dst, src, column vector", "V", PRICE_CX, 0},
	{"TCOLEXPANDMAX", "dst, src, column vector", "V", PRICE_CX, 0},
	{"TCOLEXPANDMIN", "dst, src, column vector", "V", PRICE_CX, 0},
	{"TCOLEXPAND", "dst, src", "V", PRICE_CX, PUB},
	{"TROWEXPAND", "dst, src", "V", PRICE_ROWX, PUB},

	/* padding, gather, sort, transpose, constants */
	{"TFILLPAD", "dst, src", "V; Mat: MTE2", PRICE_V1, PUB | OPT_PADS},
	{"TFILLPAD_INPLACE", "dst, src", "V; Mat: MTE2", PRICE_V1, PUB | OPT_PADS},
	{"TFILLPAD_EXPAND", "dst, src", "V; Mat: MTE2", PRICE_V1, OPT_PADS},
	{"TGATHER", "dst, src, idx, tmp | <mask> dst, src", "V", PRICE_GIDX, PUB},
	{"TGATHERB", "dst, src, idx", "V", PRICE_GIDX, 0},
	{"TSCATTER", "dst, src, idx", "V", PRICE_DEFAULT, OPT_SCATTERS},
	{"TSORT32", "dst, src, idx[, tmp]", "V", PRICE_SORT, PUB},
	{"TMRGSORT", "dst, src, blockLen | dst, numList, tmp, s0, s1[, s2[, s3]]", "V", PRICE_MRG,
		PUB},
	{"TTRANS", "dst, src, tmp", "V", PRICE_TR, PUB},
	{"TCI", "dst, start[, tmp]", "S; with tmp: V", PRICE_TCI, PUB},
	{"TTRI", "dst, diagonal", "V", PRICE_DEFAULT, 0},
	{"THISTOGRAM", "dst, src, idx", "V", PRICE_DEFAULT, 0},
	{"TRANDOM", "dst, key, counter", "V", PRICE_DEFAULT, 0},

	/* between cores, and outside */
	{"TPUSH", "pipe, tile", "Acc: FIX; Vec: MTE3", PRICE_FIFO, PUB},
	{"TPOP", "pipe, tile", "MTE2 (a5: see the page)", PRICE_FIFO, PUB},
	{"TFREE", "pipe", "S", PRICE_FIFO, PUB},
	{"TALLOC", "pipe[, tile]", "S", PRICE_FIFO, 0},
	{"TPIPE_END", "pipe", "S", PRICE_FIFO, OPT_SILENT},
	{"TNOTIFY", "signal, value, NotifyOp", "S", PRICE_EXT, PUB},
	{"TWAIT", "signal, value, WaitCmp", "S", PRICE_EXT, PUB},
	{"TPUT", "gm dst, gm src, staging", "MTE2, then MTE3", PRICE_EXT, PUB},
	{"TPUT_ASYNC", "gm dst, gm src, session", "S", PRICE_EXT, PUB},
	{"TPREFETCH_ASYNC", "gm, session", "S", PRICE_EXT, PUB},

	/* settings */
	{"SETFMATRIX", "src", "S", PRICE_SCALAR, 0},
	{"SET_IMG2COL_RPT", "src", "S", PRICE_SCALAR, 0},
	{"SET_IMG2COL_PADDING", "src", "S", PRICE_SCALAR, 0},
	{"SET_QUANT_SCALAR", "value", "S", PRICE_SCALAR, 0},
	{"SET_QUANT_VECTOR", "fp", "S", PRICE_SCALAR, 0},
	{"TSYNC", "...", "S", PRICE_SCALAR, 0},
	{"TPRINT", "tile", "S", PRICE_SCALAR, 0},
	{"TGET_SCALE_ADDR", "dst, src", "S", PRICE_SCALAR, 0},
	{"GetValue", "tile, index", "S", PRICE_GETV, PUB | OPT_MEMBER},
	{"SetValue", "tile, index, value", "S", PRICE_GETV, PUB | OPT_MEMBER},

	/* intrinsics */
	{"set_flag", "src, dst, id", "src", PRICE_SYNC, PUB | INT},
	{"wait_flag", "src, dst, id", "dst", PRICE_SYNC, PUB | INT},
	{"pipe_barrier", "pipe", "pipe", PRICE_SYNC, PUB | INT},
	{"pipe_sync", "", "S", PRICE_SYNC, PUB | INT | OPT_SILENT},
	{"scalar_load", "global memory", "S", PRICE_SCALAR, INT},
	{"scalar_store", "global memory", "S", PRICE_SCALAR, INT},
	{"dcci", "pointer, line[, dst]", "S", PRICE_SCALAR, PUB | INT},
	{"dsb", "kind", "S", PRICE_SCALAR, PUB | INT},
	{"set_mask_norm", "", "S", PRICE_SCALAR, PUB | INT},
	{"set_mask_count", "", "S", PRICE_SCALAR, PUB | INT},
	{"set_vector_mask", "high, low", "S", PRICE_SCALAR, PUB | INT},
	{"get_block_idx", "args", "S", PRICE_SCALAR, PUB | INT | OPT_SILENT},
	{"get_block_num", "args", "S", PRICE_SCALAR, PUB | INT | OPT_SILENT},
	{"get_sub_block_id", "args", "S", PRICE_SCALAR, PUB | INT | OPT_SILENT},
	{"get_subblockid", "", "S", PRICE_SCALAR, INT | OPT_SILENT},
	{"get_subblockdim", "", "S", PRICE_SCALAR, INT | OPT_SILENT},
	{"get_coreid", "", "S", PRICE_SCALAR, INT | OPT_SILENT},
	{"get_sys_cnt", "", "S", PRICE_SCALAR, PUB | INT | OPT_SILENT},
	{"ffts_cross_core_sync", "pipe, config", "pipe", PRICE_SYNC, INT},
	{"wait_flag_dev", "id", "S", PRICE_SYNC, INT},
	{"set_intra_block", "pipe, id", "pipe", PRICE_SYNC, INT},
	{"wait_intra_block", "pipe, id", "pipe", PRICE_SYNC, INT},
	{"set_ffts_base_addr", "address", "S", PRICE_SCALAR, INT},
	{"set_atomic_none", "", "S", PRICE_SCALAR, INT},
	{"set_atomic_add", "", "S", PRICE_SCALAR, INT},
	{"set_atomic_max", "", "S", PRICE_SCALAR, INT},
	{"set_atomic_min", "", "S", PRICE_SCALAR, INT},
	{"set_atomic_f32", "", "S", PRICE_SCALAR, INT},
	{"set_atomic_f16", "", "S", PRICE_SCALAR, INT},
	{"set_atomic_bf16", "", "S", PRICE_SCALAR, INT},
	{"set_atomic_s8", "", "S", PRICE_SCALAR, INT},
	{"set_atomic_s16", "", "S", PRICE_SCALAR, INT},
	{"set_atomic_s32", "", "S", PRICE_SCALAR, INT},
};

static const size_t OP_TABLE_N = sizeof(OP_TABLE) / sizeof(OP_TABLE[0]);

/* --- descriptions ----------------------------------------------------------------------------- */

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
