/* SPDX-License-Identifier: Apache-2.0 */
/*
 * args.h: the arguments of one kernel dispatch: slots, the buffers behind them, and the scalars of
 * each block. They come from a dump's record, an arg-spec or a generated case and go to a
 * recorder's job or a launched kernel. Tensors that shared a buffer share it again; a scalar is
 * the bits of its slot.
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

#define ARG_SLOTS 50	      /* of a kernel's argument array */
#define ARG_CONTEXT_SLOT 48   /* 48 and 49 belong to the runtime and are not arguments */
#define ARG_MAX_DIMS 8	      /* of a record */
#define ARG_DESCRIPTOR_DIMS 5 /* of the tensor descriptor that a kernel reads */
#define ARG_MAX_BYTES (UINT64_C(1) << 34) /* of a buffer: half of a slot's window */
#define ARG_NONE UINT32_MAX

enum arg_origin { /* source of a slot's content */
	ARG_UNUSED,
	ARG_DUMP,
	ARG_NO_BYTES, /* the dump has only its geometry, or nothing supplies it */
	ARG_SET,      /* set by the user, replacing other content */
	ARG_SPEC      /* an arg-spec, or generated */
};

enum arg_fill { /* the codes of the recorder's job */
	FILL_ZERO = 0,
	FILL_RANDOM = 1, /* from the seed; identical bytes on every machine */
	FILL_VALUE = 2,	 /* one value in every element */
	FILL_NONE = 3,	 /* nothing supplies the elements: reading one stops the run */
};

struct arg_content {	/* content of a tensor before the dispatch */
	bool is_filled; /* the content is given, by a fill or by bytes */
	enum arg_fill fill;
	uint64_t seed;
	double value;
	const uint8_t *p;      /* bytes in memory, n_bytes of them; NULL: none */
	const char *path;      /* bytes of a file; NULL: none */
	uint64_t off, n_bytes; /* in the file; n_bytes 0: the size of the buffer */
};

/* A value that decides how much a kernel does (trip counts, bounds, indices, conditions) and that
 * nobody gave. */
enum arg_control {
	ARG_GIVEN,   /* given, or it decides nothing */
	ARG_ASSUMED, /* follows from the .pto: the kernel works at full shape */
	ARG_MADE_UP, /* nothing says what it is */
};

struct arg { /* one slot */
	bool is_used, is_tensor;
	bool is_read, is_written; /* according to its role */
	bool is_contiguous;
	uint8_t origin;	 /* enum arg_origin */
	uint8_t dtype;	 /* enum dump_dtype */
	uint8_t control; /* enum arg_control */
	uint32_t slot;
	const char *name;	 /* "" if none */
	const char *pto, *alias; /* its names in the .pto: "%arg1", "seq_lens"; NULL: none */
	const char *said; /* more precise source than `origin`: "file len.bin"; NULL: use origin */
	uint64_t bits;	  /* scalar: the bits in the slot, in the first block */
	uint32_t buffer;  /* tensor: index in args.buffers */
	uint32_t n_dims;  /* of the view, in elements of its buffer */
	uint64_t shape[ARG_MAX_DIMS], strides[ARG_MAX_DIMS];
	uint64_t start_offset;	    /* from the buffer's start */
	uint64_t extent;	    /* from the first element touched to the end of the last */
	struct arg_content content; /* as an arg-spec describes it; see args_content() */
	/* of a dump: dump/read/task_args.h */
	uint32_t flags;		/* defects that prevent its use */
	uint32_t before, after; /* record numbers; ARG_NONE: none */
	const uint8_t *bytes;	/* recorded, row-major, dense; NULL: none */
	uint64_t n_bytes;	/* fewer than the shape needs if truncated */
};

struct arg_buffer {	    /* one allocation */
	uint64_t n;	    /* bytes */
	uint8_t *p;	    /* content before the dispatch; NULL: not made, the slots describe it */
	bool is_zero;	    /* known to be all zero: no file is needed */
	bool is_known;	    /* a tensor restored bytes into it, or the user filled it */
	bool is_size_known; /* else `n` is what the views need; the kernel may touch more */
	const char *file;   /* of args_write(): "args/buffer_00.bin"; NULL: none, all zero */
	/* of a dump */
	uint64_t addr;	     /* device address in that run; 0: unknown, shared with no slot */
	uint8_t from;	     /* enum task_buffer_from: source of the size */
	bool is_overlapping; /* another buffer of the task has some of the same addresses */
};

struct arg_row { /* the scalars of one block */
	uint64_t bits[ARG_SLOTS];
};

struct args {
	struct arena arena;
	struct arg slots[ARG_SLOTS];
	VEC(struct arg_buffer) buffers;
	VEC(struct arg_row) rows;  /* one per block; none: all blocks have the bits of the slots */
	VEC(const char *) remarks; /* caveats for the reader of the result */
	uint32_t first_block, block_count; /* as passed to the kernel */
	const char *made_by; /* of slots of a spec that nobody gave: "recipe"; or NULL */
	bool is_recorded;    /* everything is as in the recorded run */
	bool is_forced;	     /* a defect was ignored at the user's request */
};

void args_init(struct args *a);
void args_deinit(struct args *a);

/* Adds a buffer; takes ownership of its bytes, even on failure. */
bool args_add_buffer(
	struct args *a, const struct arg_buffer *b, uint32_t *index, struct incore_error *e);
/* Adds a caveat for the reader of the result; NULL counts as out of memory. */
bool args_remark(struct args *a, const char *text, struct incore_error *e);
/* Makes one row per block, `n_blocks` if there are none yet; existing rows take over the scalars of
 * an arg-spec. */
bool args_spread(struct args *a, uint32_t n_blocks, struct incore_error *e);
/* Keeps one block of a spec's blocks. Status 2 if there is no such block. */
bool args_one_block(struct args *a, uint32_t block, struct incore_error *e);

/* The lowest slot that has the buffer of this tensor. */
uint32_t args_owner(const struct args *a, uint32_t slot);
/* The bits of a scalar in a block, counted from first_block. */
uint64_t args_bits(const struct args *a, uint32_t row, uint32_t slot);
/* Content of a tensor: its buffer's bytes if they are made, else its description. */
struct arg_content args_content(const struct args *a, const struct arg *s);
/* Fills is_contiguous and extent from the view. */
void arg_measure(struct arg *s);

/* Makes the bytes of the buffers that an arg-spec describes; element types become those
 * that a descriptor supports. */
bool args_fill(struct args *a, struct incore_error *e);
/* Pseudo-random value in [-1, 1) for a position, identical on every machine. */
double arg_noise(uint64_t place);
/* Writes the recorded bytes of a tensor through its view into its buffer of `size`
 * bytes; other bytes stay unchanged. It is an error if the view exceeds the buffer; without
 * recorded bytes nothing is done. */
bool arg_restore(const struct arg *a, uint8_t *buffer, uint64_t size, struct incore_error *e);
/* Writes args/buffer_NN.bin and args.json (an arg-spec, for people and for later runs; the run that
 * writes it does not read it) below a folder. Fills `file` of the buffers. */
bool args_write(struct args *a, const char *folder, struct incore_error *e);
/* A shape or strides as a row of JSON. */
void arg_put_dims(struct json_writer *w, const char *key, const uint64_t *v, uint32_t n);
