/* SPDX-License-Identifier: Apache-2.0 */
/* opstream_codes.h: the codes in the records of an op stream; values are in files. C and C++. */
#pragma once

enum opstream_arch { ARCH_A2A3 = 0, ARCH_A5 = 1, ARCH_COUNT };
enum opstream_core { CORE_AIC = 0, CORE_AIV = 1, CORE_COUNT };
enum opstream_origin { ARGS_SYNTHETIC = 0, ARGS_DUMP = 1, ARGS_ORIGIN_COUNT };

enum op_kind {
	OPK_OP = 0,  /* a tile op */
	OPK_SET = 1, /* flag (src, dst, id) */
	OPK_WAIT = 2,
	OPK_BARRIER = 3, /* of `pipe`; OPP_ALL: all */
	OPK_XSET = 4,	 /* cross-core: flag.id, flag.mode, flag.src = the pipe it follows */
	OPK_XWAIT = 5,	 /* flag.id; flag.dst = the pipe that waits (OPP_S: everything) */
	OPK_PUSH =
		6, /* FIFO; aux = number of this push (from 0) on its pipe object and direction */
	OPK_POP = 7,
	OPK_FREE = 8,
	OPK_SCALAR = 9,	 /* intrinsic on the scalar pipe: dcci, dsb, set_mask_norm ... */
	OPK_GMREAD = 10, /* scalar load or store in global memory */
	OPK_GMWRITE = 11,
	OPK_GETV = 12, /* scalar load or store in a tile */
	OPK_SETV = 13,
	OPK_EXT = 14,	   /* communication with something outside the block */
	OPK_FIFO_END = 15, /* a TPipe is destroyed; aux = pushes made on it */
	OPK_COUNT
};

/* The values of pipe_t. */
enum op_pipe {
	OPP_S = 0,
	OPP_V = 1,
	OPP_MTE1 = 2,
	OPP_MTE2 = 3,
	OPP_MTE3 = 4,
	OPP_M = 5,
	OPP_ALL = 6,
	OPP_FIX = 7,
	OPP_NONE = 8, /* costs nothing, touches nothing: TASSIGN, TRESHAPE */
	OPP_COUNT
};

enum op_what { OPND_TILE = 0, OPND_GM = 1, OPND_SCALAR = 2, OPND_WHAT_COUNT };

enum op_role {
	ROLE_DST = 0,
	ROLE_SRC = 1,
	ROLE_TMP = 2,
	ROLE_IDX = 3,
	ROLE_ROW =
		4, /* scalar: first row and column of the part that TEXTRACT, TINSERT, TIMG2COL */
	ROLE_COL = 5,	/* and similar ops touch; signed */
	ROLE_VALUE = 6, /* any other scalar */
	ROLE_COUNT
};

/* What an operand does to memory; see op_opnd.access. */
enum op_access { ACCESS_READ = 1, ACCESS_WRITE = 2, ACCESS_WHOLE = 4, ACCESS_PART = 8 };

enum op_loc { /* TileType */
	LOC_VEC = 0,
	LOC_MAT = 1,
	LOC_LEFT = 2,
	LOC_RIGHT = 3,
	LOC_ACC = 4,
	LOC_BIAS = 5,
	LOC_SCALING = 6,
	LOC_SCALE_LEFT = 7,
	LOC_SCALE_RIGHT = 8,
	LOC_CTRL = 9,
	LOC_COUNT
};

enum op_dtype {
	DT_NONE = 0,
	DT_F32 = 1,
	DT_F16 = 2,
	DT_BF16 = 3,
	DT_I8 = 4,
	DT_U8 = 5,
	DT_I16 = 6,
	DT_U16 = 7,
	DT_I32 = 8,
	DT_U32 = 9,
	DT_I64 = 10,
	DT_U64 = 11,
	DT_F8E4M3 = 12,
	DT_F8E5M2 = 13,
	DT_F8E8M0 = 14,
	DT_HIF8 = 15,
	DT_F4E2M1 = 16, /* 4 bits; two in a byte */
	DT_F4E1M2 = 17,
	DT_F64 = 18,
	DT_BOOL = 19,
	DT_COUNT
};

enum op_blayout { BL_ROW_MAJOR = 0, BL_COL_MAJOR = 1, BL_COUNT };
enum op_slayout { SL_NONE_BOX = 0, SL_ROW_MAJOR = 1, SL_COL_MAJOR = 2, SL_COUNT };
enum op_pad { PAD_NULL = 0, PAD_ZERO = 1, PAD_MAX = 2, PAD_MIN = 3, PAD_COUNT };
enum op_compact {
	COMPACT_NULL = 0,
	COMPACT_NORMAL = 1,
	COMPACT_ROW_PLUS_ONE = 2,
	COMPACT_ROW_ALIGNED = 3,
	COMPACT_COUNT
};
enum op_layout { /* of global memory */
	LAYOUT_ND = 0,
	LAYOUT_DN = 1,
	LAYOUT_NZ = 2,
	LAYOUT_MX_A_ZZ = 3,
	LAYOUT_MX_A_ND = 4,
	LAYOUT_MX_A_DN = 5,
	LAYOUT_MX_B_NN = 6,
	LAYOUT_MX_B_ND = 7,
	LAYOUT_MX_B_DN = 8,
	LAYOUT_NC1HWC0 = 9,
	LAYOUT_FRACTAL_Z = 10,
	LAYOUT_OTHER = 11,
	LAYOUT_COUNT
};
/* Values of op_form.fifo_dir, equal to those of the API. */
enum op_dir {
	DIR_NONE = 0,
	DIR_C2V = 1,
	DIR_V2C = 2,
	DIR_BOTH = 3,
	DIR_V2C_CTRL = 4,
	DIR_C2V_GM = 5,
	DIR_V2C_GM = 6,
	DIR_BOTH_GM = 7,
	DIR_COUNT
};
enum op_split {
	SPLIT_NONE = 0,
	SPLIT_UP_DOWN = 1,
	SPLIT_LEFT_RIGHT = 2,
	SPLIT_UP_DOWN_ODD = 3,
	SPLIT_LEFT_RIGHT_ODD = 4,
	SPLIT_COUNT
};
