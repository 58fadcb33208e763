/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h: the arguments of one kernel dispatch, in the one shape that they have between a dump's
 * record, an arg-spec or a made-up case on one side and a recorder's job or a launched kernel on the
 * other: slots, the buffers behind them, and the scalars of each block. Tensors that shared a buffer
 * share it again; a scalar is the bits of its slot.
 * Owner: args_init() / args_deinit(), also after a failure; names live in the arena, bytes of buffers
 * on the heap. May fail: where `e` is taken. Threads: one at a time per struct.
 */
#pragma once

#include "args/dtype.h"
#include "base/arena.h"
#include "base/error.h"
#include "base/str.h"
#include "base/vec.h"
#include "codec/json_writer.h"

#define ARG_SLOTS 50			  /* of a kernel's argument array */
#define ARG_CONTEXT_SLOT 48		  /* 48 and 49 are the runtime's own, no arguments */
#define ARG_MAX_DIMS 8			  /* of a record */
#define ARG_DESCRIPTOR_DIMS 5		  /* of the tensor descriptor that a kernel reads */
#define ARG_MAX_BYTES (UINT64_C(1) << 34) /* of a buffer: half of what a slot's window has */
#define ARG_NONE UINT32_MAX

enum arg_origin { /* who says what a slot holds */
	ARG_UNUSED,
	ARG_DUMP,
	ARG_NO_BYTES, /* the dump has its geometry alone, or nobody supplies it */
	ARG_SET,      /* the user, over what was there */
	ARG_SPEC      /* an arg-spec, or made up */
};

enum arg_fill { /* the codes of the recorder's job */
	FILL_ZERO = 0,
	FILL_RANDOM = 1, /* from the seed; the same bytes on every machine */
	FILL_VALUE = 2,	 /* the value in every element */
	FILL_NONE = 3,	 /* nobody supplies them: reading one stops the run */
};

struct arg_content {	/* what a tensor holds before the dispatch */
	bool is_filled; /* somebody said so: by a fill or by bytes */
	enum arg_fill fill;
	uint64_t seed;
	double value;
	const uint8_t *p;      /* bytes in memory, n_bytes of them; NULL: none */
	const char *path;      /* bytes of a file; NULL: none */
	uint64_t off, n_bytes; /* of the path; n_bytes 0: as many as the buffer has */
};

struct arg { /* one slot */
	bool is_used, is_tensor;
	bool is_read, is_written; /* by its role */
	bool is_contiguous;
	uint8_t origin; /* enum arg_origin */
	uint8_t dtype;	/* enum dump_dtype */
	uint32_t slot;
	const char *name; /* "" if none */
	const char *said; /* who says so, closer than `origin`: "file len.bin"; NULL: as it says */
	uint64_t bits;	  /* scalar: as the slot holds them, in the first block */
	uint32_t buffer;  /* tensor: of args.buffers */
	uint32_t n_dims;  /* of the view, in elements of its buffer */
	uint64_t shape[ARG_MAX_DIMS], strides[ARG_MAX_DIMS];
	uint64_t start_offset;	    /* from the buffer's start */
	uint64_t extent;	    /* from the first to behind the last touched */
	struct arg_content content; /* as an arg-spec describes it; see args_content() */
	/* of a dump: dump/read/task_args.h */
	uint32_t flags;		/* what stands in the way of using it */
	uint32_t before, after; /* records; ARG_NONE: none */
	const uint8_t *bytes;	/* recorded, row-major, dense; NULL: none */
	uint64_t n_bytes;	/* fewer than the shape asks for where it is truncated */
};

struct arg_buffer {    /* one allocation */
	uint64_t n;    /* bytes */
	uint8_t *p;    /* its content before the dispatch; NULL: not made, its slots describe it */
	bool is_zero;  /* known to be, all of it: no file is needed */
	bool is_known; /* some tensor restored bytes into it, or the user filled it */
	bool is_size_known; /* else `n` is what the views need, and more may be touched */
	const char *file;   /* of args_write(): "args/buffer_00.bin"; NULL: none, all zero */
	/* of a dump */
	uint64_t addr;	     /* on the device of that run; 0: not known, shared with no slot */
	uint8_t from;	     /* enum task_buffer_from: who says the size */
	bool is_overlapping; /* another buffer of the task has some of the same addresses */
};

struct arg_row { /* the scalars of one block */
	uint64_t bits[ARG_SLOTS];
};

struct args {
	struct arena arena;
	struct arg slots[ARG_SLOTS];
	VEC(struct arg_buffer) buffers;
	VEC(struct arg_row) rows;	   /* one a block; none: all have the bits of the slots */
	VEC(const char *) remarks;	   /* what a reader of the result must know */
	uint32_t first_block, block_count; /* what the kernel is told */
	bool is_recorded;		   /* all of it is as a run had it */
	bool is_forced;			   /* a defect was passed over because the user said so */
};

void args_init(struct args *a);
void args_deinit(struct args *a);

/* Adds a buffer; its bytes are taken over, also on failure. */
bool args_add_buffer(
	struct args *a, const struct arg_buffer *b, uint32_t *index, struct incore_error *e);
/* A line that a reader of the result must know; NULL counts as out of memory. */
bool args_remark(struct args *a, const char *text, struct incore_error *e);
/* One row a block, `n_blocks` where there are none yet; rows that are there take over what an
 * arg-spec says of scalars. */
bool args_spread(struct args *a, uint32_t n_blocks, struct incore_error *e);
/* Keeps one block of those of a spec. Status 2 where there is no such block. */
bool args_one_block(struct args *a, uint32_t block, struct incore_error *e);

/* The lowest slot that has the buffer of this tensor. */
uint32_t args_owner(const struct args *a, uint32_t slot);
/* The bits of a scalar in a block, counted from first_block. */
uint64_t args_bits(const struct args *a, uint32_t row, uint32_t slot);
/* What a tensor holds: its buffer's bytes where they are made, else as it is described. */
struct arg_content args_content(const struct args *a, const struct arg *s);
/* Fills is_contiguous and extent from the view. */
void arg_measure(struct arg *s);

/* "SLOT=VALUE": a scalar in its recorded type (a number, 0x bits, true, inf, nan), or every element
 * of a tensor. */
bool args_set(struct args *a, const char *word, struct incore_error *e);
/* The slot must hold bytes of the dump: refused for scalars, outputs, missing payload, set slots. */
bool args_need_restored(const struct args *a, uint32_t slot, struct incore_error *e);
/* One line for people: every scalar with its bits in the first block, every tensor that somebody supplied, and who says
 * so; of the other tensors that they have no values. */
void args_workload(const struct args *a, struct strbuf *out);
/* Every slot that the code of `source` reads (a bit each) is supplied. */
bool args_cover(const struct args *a, uint64_t read, const char *source, struct incore_error *e);

/* fill.c: makes the bytes of the buffers that an arg-spec describes; types become those that a
 * descriptor has. */
bool args_fill(struct args *a, struct incore_error *e);
/* A value in [-1, 1) for a place of a pattern, the same on every machine. */
double arg_noise(uint64_t place);
/* restore.c: writes the recorded bytes of a tensor through its view into its buffer of `size` bytes;
 * what the view does not touch stays. An error where it leaves the buffer; no bytes: nothing. */
bool arg_restore(const struct arg *a, uint8_t *buffer, uint64_t size, struct incore_error *e);
/* write.c: args/buffer_NN.bin and args.json (an arg-spec, for people and for later runs; the run that
 * writes it does not read it) below a folder. Fills `file` of the buffers. */
bool args_write(struct args *a, const char *folder, struct incore_error *e);
/* A shape or strides as a row of JSON. */
void arg_put_dims(struct json_writer *w, const char *key, const uint64_t *v, uint32_t n);
