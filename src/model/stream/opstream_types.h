/* SPDX-License-Identifier: Apache-2.0 */
/*
 * opstream_types.h: the records of an op stream, as they lie in a file and in memory:
 * little-endian, aligned, explicit padding. C and C++; installed beside the recorder's headers,
 * whose driver writes them. incore-opstream(7) is the format, opstream.h the reader.
 *
 * A file is one or more streams, one after the other; a stream is a head, then its tables without
 * gaps: slots, sites, forms, operands, ops, words, strings (padded with NUL to 8 bytes). A string
 * is named by its byte offset in the strings and ends in NUL; offset 0 is the empty string.
 *
 * What repeats is stored once: a *form* is everything about an op that its executions share (name,
 * pipe, tile shapes, flags); an *op* is one execution: its form, its place in the source, and one
 * 64-bit word per operand (an address, an offset or a value). seq is an op's index.
 */
#pragma once

#include <assert.h>
#include <stdint.h>

#include "opstream_codes.h"

#define OPSTREAM_MAGIC "INCOREOP"
#define OPSTREAM_VERSION 1
#define OPSTREAM_SLOTS 50     /* slots of the argument array; 48 and 49 are the contexts */
#define OPSTREAM_MAX_OPNDS 12 /* of one op */
#define OPSTREAM_NO_SLOT 0xff /* global memory of no slot */
#define OPSTREAM_ABSENT 0xff  /* a template value that was not given */

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
