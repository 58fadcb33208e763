/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opstream_types.h: the records of an op stream, as they lie in a file and in memory:
 * little-endian, naturally aligned, explicit padding. C and C++ (the recorder's driver writes
 * them); installed beside the recorder's headers. incore-opstream(7) is the format, opstream.h the
 * reader.
 *
 * A file is one or more streams, one after the other; a stream is a head, then its tables without
 * gaps: slots, sites, forms, operands, ops, words, strings (padded with NUL to 8 bytes). A string
 * is named by its byte offset in the strings and ends in NUL; offset 0 is the empty string.
 *
 * What repeats is stored once: a *form* is everything about an op that its executions share (name,
 * pipe, tile shapes, flags); an *op* is one execution: its form, its place in the source, and one
 * 64-bit word per operand (an address, an offset or a value). seq is an op's index.
 */
#ifndef MODEL_OPSTREAM_TYPES_H
#define MODEL_OPSTREAM_TYPES_H

#include <assert.h>
#include <stdint.h>

#define OPSTREAM_MAGIC "INCOREOP"
#define OPSTREAM_VERSION 1
#define OPSTREAM_SLOTS 50     /* slots of the argument array; 48 and 49 are the contexts */
#define OPSTREAM_MAX_OPNDS 12 /* of one op */
#define OPSTREAM_NO_SLOT 0xff /* global memory of no slot */
#define OPSTREAM_ABSENT 0xff  /* a template value that was not given */

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
	ROLE_COL = 5,	/* and their like touch; signed */
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
/* Values of op_form.dir; those of the API. */
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

/* Values of a slot record's flags. */
enum op_slot_flag {
	SLOT_TENSOR = 1,     /* else a scalar */
	SLOT_PAYLOAD = 2,    /* its bytes were supplied */
	SLOT_SIZE_KNOWN = 4, /* else `bytes` is the end of the farthest touch */
	SLOT_OUTPUT = 8,
	SLOT_READ = 16, /* the kernel read args[slot] */
};

enum opstream_head_flag {
	OPSTREAM_COMPLETE = 1, /* the kernel returned; else `reason` says why it did not */
	OPSTREAM_MIXED = 2,    /* the block has AIC and AIV streams that belong together */
};

struct opstream_head {
	char magic[8];
	uint32_t version;
	uint32_t head_bytes;		       /* of this record: 128 */
	uint64_t total_bytes;		       /* of the stream, head included */
	uint8_t arch, core, lane, args_origin; /* lane: 0 or 1 of an AIV */
	uint32_t flags;			       /* enum opstream_head_flag */
	uint32_t block_idx, block_num;
	uint64_t payload_slots, missing_slots;		   /* bit i: slot i */
	uint32_t kernel, front_end, source_sha256, reason; /* strings; the digest in hex */
	uint32_t n_slots, n_sites, n_forms, n_opnds;
	uint64_t n_ops, n_words, string_bytes;
	uint32_t reserved[4];
};

struct op_slot {
	uint8_t slot;  /* index in the argument array */
	uint8_t flags; /* enum op_slot_flag */
	uint8_t dtype;
	uint8_t reserved;
	uint32_t alloc;	       /* slots that share an allocation share this number */
	uint64_t alloc_off;    /* byte of the allocation where the slot's buffer begins */
	uint64_t bytes;	       /* of the slot's buffer */
	uint64_t value;	       /* of a scalar: its bits */
	uint64_t start_offset; /* elements */
	uint32_t ndims;
	uint32_t name; /* string */
	uint32_t shapes[5];
	uint32_t strides[5]; /* elements */
};

struct op_site {       /* a place in the source that issues ops */
	uint32_t file; /* string: as the compiler saw it */
	uint32_t line;
	uint32_t hint; /* string: "%name" of the nearest "// pto: %name", or empty */
	uint32_t reserved;
};

struct op_form {
	uint32_t name; /* string: "TADD", "set_flag" */
	uint8_t kind;  /* enum op_kind */
	uint8_t pipe;  /* enum op_pipe: whose queue it enters; SET: src, WAIT: dst */
	uint8_t n_opnds;
	uint8_t reserved;
	uint32_t first_opnd;
	/* template values, OPSTREAM_ABSENT where the op has none */
	uint8_t atomic;	   /* AtomicType: 0 none, 1 add, 2 max, 3 min */
	uint8_t round;	   /* RoundMode: none rint round floor ceil trunc odd = 0..6 */
	uint8_t sat;	   /* SaturationMode: on 0, off 1 */
	uint8_t mask;	   /* MaskPattern: 1..7 */
	uint8_t split;	   /* enum op_split */
	uint8_t exhausted; /* bool of TMRGSORT */
	uint8_t phase;	   /* unspecified 0, partial 1, final 2 */
	uint8_t mode;	   /* CmpMode of TCMP, ReluPreMode of TSTORE ... */
	/* SET, WAIT, XSET, XWAIT */
	uint8_t flag_src, flag_dst; /* enum op_pipe */
	uint8_t flag_mode;	    /* of XSET: 0, 1 or 2; of a5's intra-block flags 4 */
	uint8_t reserved2;
	int32_t flag_id;
	/* PUSH, POP, FREE, FIFO_END */
	uint16_t fifo_flag_id;
	uint8_t fifo_dir;	 /* enum op_dir, of the TPipe */
	uint8_t fifo_flags;	 /* 1: NoSplit, 2: UnitFlag, 4: the FIFO object is a TMPipe */
	uint32_t fifo_slot_size; /* bytes */
	uint16_t fifo_slot_num, fifo_local_num;
	uint16_t op; /* in memory: index in the op table (ops.h), OP_UNKNOWN if none; in files 0 */
	uint16_t fifo_object; /* which TPipe of the kernel, by construction; 0 the first */
	uint32_t reserved3;
};

struct op_opnd {
	uint8_t what;				/* enum op_what */
	uint8_t role;				/* enum op_role */
	uint8_t dtype;				/* enum op_dtype */
	uint8_t bits;				/* of an element: 4 .. 64 */
	uint8_t loc;				/* tile: enum op_loc */
	uint8_t blayout, slayout, pad, compact; /* tile */
	uint8_t layout;				/* gm: enum op_layout */
	uint8_t slot;				/* gm: slot or OPSTREAM_NO_SLOT */
	uint8_t access;				/* in memory: enum op_access; in files 0 */
	uint32_t fractal;			/* tile: bytes, 512 or 1024 */
	/* tile: rows, cols, valid rows, valid cols, 0; gm: the rectangle that is moved, clipped to
	 * the tile's valid part */
	uint32_t shape[5];
	uint32_t reserved;
	int64_t stride[5]; /* gm: elements */
};
#define OPND_ROWS(o) ((o)->shape[0])
#define OPND_COLS(o) ((o)->shape[1])
#define OPND_VROW(o) ((o)->shape[2])
#define OPND_VCOL(o) ((o)->shape[3])

struct op_exec { /* one execution of an op */
	uint32_t form;
	uint32_t site;
	uint32_t first_word; /* n_opnds of the form follow: a tile's byte address in its buffer, the
				byte offset in the slot's buffer, a scalar's bits */
	uint32_t aux;	     /* FIFO ops: see enum op_kind; else 0 */
};

static_assert(sizeof(struct opstream_head) == 128, "opstream head");
static_assert(sizeof(struct op_slot) == 88, "op stream slot");
static_assert(sizeof(struct op_site) == 16, "op stream site");
static_assert(sizeof(struct op_form) == 48, "op stream form");
static_assert(sizeof(struct op_opnd) == 80, "op stream operand");
static_assert(sizeof(struct op_exec) == 16, "op stream op");

#endif
