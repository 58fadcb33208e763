/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_args.h: one task of a dump as the arguments of its kernel (args/args.h): what each slot is,
 * the bytes that were there before the dispatch, which slots share a buffer and how large it is,
 * and what stands in the way of using a slot.
 *
 * Owner: task_args_init() fills the caller's struct, task_args_deinit() frees its lists, also after
 * a failure. Payload is borrowed from the dump, which must live as long; nothing is copied.
 * Failure: where `e` is taken. A defect of one slot is no failure but a flag of it, so that a
 * caller can show all of them, and then refuse (task_args_refuse()) or go on when told to.
 * Threads: one at a time per dump.
 */
#pragma once

#include "args/args.h"
#include "dump/read/model.h"

#define TASK_BUFFER_ROUND 1024 /* runtimes allocate multiples of it */

/* --- which task is meant --- */
struct task_where {
	uint32_t slot; /* a scalar ... */
	uint64_t bits; /* ... with these */
};

struct task_query { /* what is set must hold; zero-initialise, block DUMP_NONE */
	bool has_task, has_dispatch;
	uint64_t task, dispatch;
	const int32_t *funcs; /* the member set, in any order */
	unsigned n_funcs;     /* 0: any */
	const struct task_where *where;
	unsigned n_where;
	uint32_t block; /* of the task; DUMP_NONE: the task as a whole */
};

typedef VEC(uint32_t) task_list; /* indices of d->tasks, ids ascending; VEC_FREE() */

bool task_find(
	const struct dump *d, const struct task_query *q, task_list *out, struct incore_error *e);
/* The only one. None: the error lists the member sets (or tasks) there are; several: the tasks. */
bool task_find_one(
	const struct dump *d, const struct task_query *q, uint32_t *out, struct incore_error *e);

/* The block that a dispatch of task t ran; DUMP_NONE: not stated, or several. */
uint32_t task_block_of_dispatch(const struct dump *d, uint32_t t, uint64_t dispatch);

/* --- its arguments --- */
enum task_arg_flags { /* of arg.flags */
	/* these stand in the way of a replay: TASK_ARG_BAD */
	TASK_ARG_TRUNCATED = 1,	    /* the bytes are a prefix */
	TASK_ARG_OVERWRITTEN = 2,   /* the producer lost them */
	TASK_ARG_AMBIGUOUS = 4,	    /* the slot was selected by a value that was passed twice */
	TASK_ARG_SEVERAL = 8,	    /* several before copies differ, nothing tells which counts */
	TASK_ARG_LOST = 16,	    /* the record outlived its bytes, or they are not in the file */
	TASK_ARG_CHECKSUM = 32,	    /* the bytes are not those that were recorded */
	TASK_ARG_CONFLICT = 64,	    /* its records disagree about what it is */
	TASK_ARG_NO_BEFORE = 128,   /* read by the kernel, but only recorded after it */
	TASK_ARG_NO_VALUE = 256,    /* a scalar without a value */
	TASK_ARG_BEYOND = 512,	    /* the view leaves its buffer, or 64 bits */
	TASK_ARG_NO_TYPE = 1024,    /* a dtype that is not known */
	TASK_ARG_INCOMPLETE = 2048, /* the producer says the task is: a slot may be wrong */
	/* these do not */
	TASK_ARG_NO_BYTES = 4096, /* read by the kernel, recorded without payload: geometry only */
	TASK_ARG_INEXACT = 8192,  /* a scalar that went through 6 digits */
	TASK_ARG_TORN = 16384,	  /* the after copy was taken while the task ran */
};
#define TASK_ARG_BAD 4095u

enum task_buffer_from {	    /* of arg_buffer.from: who says the size */
	TASK_BUFFER_STATED, /* by the record */
	TASK_BUFFER_DEPS,   /* by deps.json */
	TASK_BUFFER_VIEWS,  /* the least that its known views need, rounded up */
};

struct task_args {
	const struct dump *d;
	uint64_t id;
	int32_t members[DUMP_MAX_MEMBERS]; /* func ids; n 0: not stated */
	unsigned n_members;
	uint32_t n_blocks, block; /* block DUMP_NONE: the task as a whole */
	bool is_block_stated;	  /* false: the dump does not say which copy is which block's */
	VEC(struct arg) args;	  /* slots ascending; context slots left out */
	VEC(uint32_t) missing;	  /* slots that must be there and are not */
	VEC(uint32_t) ignored;	  /* slots with records of unknown stages alone */
	VEC(struct arg_buffer) buffers; /* without their bytes */
	uint32_t n_unknown;		/* tensors of which nothing says what shares their buffer */
};

/* Task t of d->tasks. Chooses among before copies (dump_choose()). An error: a slot above 49, a
 * block beyond the task's. */
bool task_args_init(
	struct task_args *a, struct dump *d, uint32_t t, uint32_t block, struct incore_error *e);
void task_args_deinit(struct task_args *a);
const struct arg *task_arg_find(const struct task_args *a, uint32_t slot); /* or NULL */
/* False, with task, slot and reason, where a slot is missing or TASK_ARG_BAD. */
bool task_args_refuse(const struct task_args *a, struct incore_error *e);
/* What the lowest of these flags means, in words. */
const char *task_arg_flag_text(uint32_t flags);

/* Its slots, buffers with their bytes restored, and rows, into arguments that are empty; block
 * DUMP_NONE: all of its blocks. A slot that is missing, cut, overwritten or ambiguous is refused with
 * task and slot; with `force` it is a remark. Nothing of the dump is borrowed. */
bool task_args_load(struct args *a, struct dump *d, uint32_t t, uint32_t block, bool force,
	struct incore_error *e);
