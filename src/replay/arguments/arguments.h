/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.h: the slots and buffers of one dispatch, as they were before it: from a dump, changed
 * by what the user sets. Tensors that shared a buffer share it again; payload is scattered through
 * its view; scalars are the slot's bits.
 * Owner: arguments_init() / arguments_deinit(); all of it lives in its arena and heap. May fail: a
 * slot that is missing, cut, overwritten or ambiguous is refused with task and slot.
 */
#ifndef REPLAY_ARGUMENTS_ARGUMENTS_H
#define REPLAY_ARGUMENTS_ARGUMENTS_H

#include "base/vec.h"
#include "dump/read/task_args.h"
#include "replay/backend.h"

struct argument_bytes { /* content of one buffer before the dispatch */
	uint8_t *p;	/* `n` of them */
	uint64_t n;
	bool is_zero;  /* known to be, all of it: no file is needed */
	bool is_known; /* some tensor restored bytes into it, or the user filled it */
};

enum argument_origin {
	ARGUMENT_UNUSED,
	ARGUMENT_DUMP,
	ARGUMENT_NO_BYTES,
	ARGUMENT_SET,
	ARGUMENT_SPEC
};

struct argument_row { /* of one block */
	struct replay_slot slots[REPLAY_SLOTS];
};

struct arguments {
	struct arena arena;
	VEC(struct argument_bytes) buffers;
	VEC(struct argument_row) rows;	   /* one a block */
	VEC(struct replay_block) blocks;   /* of arguments_seal() */
	VEC(struct replay_buffer) files;   /* of arguments_write() */
	VEC(const char *) remarks;	   /* what a reader of the result must know */
	uint8_t origin[REPLAY_SLOTS];	   /* enum argument_origin */
	uint32_t first_block, block_count; /* what the kernel is told */
	bool is_recorded;		   /* all of it is as a run had it */
	bool is_forced;			   /* a defect was passed over because the user said so */
};

void arguments_init(struct arguments *a);
void arguments_deinit(struct arguments *a);

/* Task t of the dump; block DUMP_NONE: all of its blocks. With `force` defects are remarks. */
bool arguments_from_task(struct arguments *a, struct dump *d, uint32_t t, uint32_t block,
	bool force, struct incore_error *e);

/* From an arg-spec file, over what is there: its slots replace those of a dump. `n_blocks` 0: 1. */
bool arguments_from_spec(
	struct arguments *a, const char *path, uint32_t n_blocks, struct incore_error *e);

/* Keeps one block of those of a spec. Status 2 where there is no such block. */
bool arguments_one_block(struct arguments *a, uint32_t block, struct incore_error *e);

/* "SLOT=VALUE": a scalar in its recorded type (a number, 0x bits, true, inf, nan), or every element
 * of a tensor. */
bool arguments_set(struct arguments *a, const char *word, struct incore_error *e);
/* The slot must hold bytes of the dump: refused for scalars, outputs, missing payload, set slots. */
bool arguments_need_restored(struct arguments *a, uint32_t slot, struct incore_error *e);

/* Every args[N] that the code reads is supplied. `masked` as of source_text.h. */
bool arguments_cover(
	const struct arguments *a, struct str masked, const char *source, struct incore_error *e);

/* Writes args/buffer_NN.bin and args.json (an arg-spec) below the workspace, fills files and
 * blocks. */
bool arguments_write(struct arguments *a, const char *workspace, struct incore_error *e);

#endif
