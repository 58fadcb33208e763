/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ops.h: all known tile ops and intrinsics: where each runs, how it is priced, what it does to its
 * operands. Pure; any thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/str.h"
#include "model/stream/opstream_types.h"

enum price_class {
	PRICE_FREE, /* TASSIGN, TRESHAPE: nothing */
	PRICE_LOAD,
	PRICE_STORE, /* Acc source: PRICE_FIX; see op_price_class() */
	PRICE_L0,
	PRICE_MAD,
	PRICE_FIX,
	PRICE_V2,
	PRICE_V1,
	PRICE_V4,
	PRICE_V2T,
	PRICE_VC,
	PRICE_RED,
	PRICE_CRED,
	PRICE_ROWX,
	PRICE_RX,
	PRICE_CX,
	PRICE_GIDX,
	PRICE_GMSK,
	PRICE_SORT,
	PRICE_MRG,
	PRICE_TR,
	PRICE_TCI,
	PRICE_GETV,
	PRICE_SCALAR,
	PRICE_SYNC, /* flags, barriers, cross-core */
	PRICE_FIFO,
	PRICE_EXT,
	PRICE_DEFAULT, /* known name without its own class: 2 R + 6, marked fallback */
	PRICE_UNKNOWN, /* name not in the table */
	PRICE_COUNT
};

/* Effects on dst beyond "written", and where the op exists. */
enum op_trait {
	OPT_ACCUMULATES = 1, /* dst is also read */
	OPT_PADS = 2,	     /* dst is written beyond its valid part */
	OPT_SUB_SRC = 4,     /* reads the part of src at (row, col) that dst's valid part covers */
	OPT_SUB_DST = 8,     /* writes the part of dst at (row, col) that src's valid part covers */
	OPT_A5 = 16,	     /* a5 only */
	OPT_INTRINSIC = 32,  /* not a tile op */
	OPT_MEMBER = 64,     /* GetValue, SetValue */
	OPT_IN_PUBLIC = 128, /* occurs in the public kernels; else only offered by name */
	OPT_SILENT = 256, /* returns a value or expands into other ops: never occurs in a stream */
	OPT_FILLS = 512,  /* writes the padding of dst where dst has a pad value */
	OPT_SCATTERS = 1024, /* writes data-dependent places of dst: counts as all of it */
};

#define OP_UNKNOWN 0 /* entry 0 of the table */

struct op_info {
	const char *name;
	const char *operands; /* "dst, src0, src1" */
	const char
		*pipe; /* "V", "MTE3; Acc: FIX": for people; a stream has the pipe of each form */
	enum price_class price;
	unsigned traits; /* enum op_trait */
};

/* The table; *n entries, [0] stands for unknown names. */
const struct op_info *op_table(size_t *n);
/* Index in the table, or OP_UNKNOWN. */
unsigned op_find(struct str name);
const char *price_class_name(enum price_class c);
/* What an operand of a form does to memory (enum op_access); derived from op, role and pad. */
unsigned op_access_of(const struct op_form *f, const struct op_opnd *o);
/* The class of one form: by name, then by pipe and operands where the table depends on them (TMOV,
 * TSTORE, TEXTRACT, TGATHER). */
enum price_class op_price_class(const struct op_form *f, const struct op_opnd *opnds);
