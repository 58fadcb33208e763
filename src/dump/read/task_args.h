/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_args.h: one task of a dump as the arguments of its kernel (args/args.h): what each slot is,
 * the bytes that were there before the dispatch, which slots share a buffer and how large it is,
 * and what prevents the use of a slot.
 *
 * Owner: task_args_init() fills the caller's struct, task_args_deinit() frees its lists, also after
 * a failure. Payload is borrowed from the dump, which must live as long; nothing is copied.
 * Failure: functions that take `e`. A defect of one slot is not a failure but a flag of the slot,
 * so that a caller can show all defects, and then refuse (task_args_refuse()) or continue if
 * forced.
 * Threads: one at a time per dump.
 */
#pragma once

#include "args/args.h"
#include "dump/read/model.h"

#define TASK_BUFFER_ROUND 1024 /* runtimes allocate multiples of this */

/* --- selecting a task --- */
struct task_where {
	uint32_t slot; /* a scalar ... */
	uint64_t bits; /* ... with these */
};

struct task_query { /* everything set must match; zero-initialise, block DUMP_NONE */
	bool has_task, has_dispatch;
	uint64_t task, dispatch;
	const int32_t *funcs; /* the member set, in any order */
	unsigned n_funcs;     /* 0: any */
	const struct task_where *where;
	unsigned n_where;
	const char *kernel; /* its name in the dump; NULL: any */
	uint64_t slots;	    /* bit i: it has slot i, and no others; 0: any */
	uint32_t block;	    /* of the task; DUMP_NONE: the task as a whole */
};

typedef VEC(uint32_t) task_list; /* indices of d->tasks, ids ascending; VEC_FREE() */

bool task_find(
	const struct dump *d, const struct task_query *q, task_list *out, struct incore_error *e);
/* Finds the only match. No match: the error lists the existing member sets (or tasks); several: the
 * tasks that match. */
bool task_find_one(
	const struct dump *d, const struct task_query *q, uint32_t *out, struct incore_error *e);

/* The block that a dispatch of task t ran; DUMP_NONE: not stated, or several. */
uint32_t task_block_of_dispatch(const struct dump *d, uint32_t t, uint64_t dispatch);

/* --- its arguments --- */
enum task_arg_flags { /* of arg.flags */
	/* these prevent a replay: TASK_ARG_BAD */
	TASK_ARG_TRUNCATED = 1,	  /* the bytes are a prefix */
	TASK_ARG_OVERWRITTEN = 2, /* the producer lost them */
	TASK_ARG_AMBIGUOUS = 4,	  /* the slot was selected by a value that was passed twice */
	TASK_ARG_SEVERAL = 8,	  /* several before copies differ, nothing decides which is right */
	TASK_ARG_LOST = 16,	  /* the bytes were lost, or are not in the file */
	TASK_ARG_CHECKSUM = 32,	  /* the bytes are not those that were recorded */
	TASK_ARG_CONFLICT = 64,	  /* its records disagree about what it is */
	TASK_ARG_NO_BEFORE = 128, /* read by the kernel, but only recorded after it */
	TASK_ARG_NO_VALUE = 256,  /* a scalar without a value */
	TASK_ARG_BEYOND = 512,	  /* the view exceeds its buffer, or 64 bits */
	TASK_ARG_NO_TYPE = 1024,  /* a dtype that is not known */
	TASK_ARG_INCOMPLETE = 2048, /* the producer says so of the task: a slot may be wrong */
	/* these do not prevent it */
	TASK_ARG_NO_BYTES = 4096, /* read by the kernel, recorded without payload: geometry only */
	TASK_ARG_INEXACT = 8192,  /* a scalar that was rounded to 6 digits */
	TASK_ARG_TORN = 16384,	  /* the after copy was taken while the task ran */
};
#define TASK_ARG_BAD 4095u

enum task_buffer_from {	    /* of arg_buffer.from: source of the size */
	TASK_BUFFER_STATED, /* stated by the record */
	TASK_BUFFER_DEPS,   /* stated by deps.json */
	TASK_BUFFER_VIEWS,  /* the least that its known views need, rounded up */
};

struct task_args {
	const struct dump *d;
	uint64_t id;
	int32_t members[DUMP_MAX_MEMBERS]; /* func ids; n 0: not stated */
	unsigned n_members;
	uint32_t n_blocks, block; /* block DUMP_NONE: the task as a whole */
	bool is_block_stated;  /* false: the dump does not say which block each copy belongs to */
	VEC(struct arg) args;  /* slots ascending; context slots left out */
	VEC(uint32_t) missing; /* required slots that are absent */
	VEC(uint32_t) ignored; /* slots that only have records of unknown stages */
	VEC(struct arg_buffer) buffers; /* without their bytes */
	uint32_t n_unknown;		/* tensors whose buffer may be shared in unknown ways */
};

/* Reads task t of d->tasks. Chooses among before copies (dump_choose()). Fails on a slot above 49
 * and on a block that the task does not have. */
bool task_args_init(
	struct task_args *a, struct dump *d, uint32_t t, uint32_t block, struct incore_error *e);
void task_args_deinit(struct task_args *a);
const struct arg *task_arg_find(const struct task_args *a, uint32_t slot); /* or NULL */
/* False, with task, slot and reason, if a slot is missing or has a flag of TASK_ARG_BAD. */
bool task_args_refuse(const struct task_args *a, struct incore_error *e);

/* Loads the slots of task t, its buffers with their bytes restored, and its rows into empty
 * arguments; block DUMP_NONE: all of its blocks. A slot that is missing, cut, overwritten or
 * ambiguous is refused with task and slot; with `force` it becomes a remark. The result borrows
 * nothing from the dump. */
bool task_args_load(struct args *a, struct dump *d, uint32_t t, uint32_t block, bool force,
	struct incore_error *e);
