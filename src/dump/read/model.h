/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model.h: the contents of a dump, whichever generation wrote it: records in manifest order,
 * grouped into tasks, their slots, and the copies of a slot (one per block before, one after).
 * Owner: dump_open() creates it, dump_free() frees everything. Immutable afterwards except for
 * dump_choose(), which fills the choice of the slots. One thread. May fail: functions that take
 * `e`.
 */
#pragma once

#include "args/dtype.h"
#include "base/arena.h"
#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "dump/read/problems.h"

#define DUMP_NONE UINT32_MAX
#define DUMP_MAX_RANK 8
#define DUMP_MAX_MEMBERS 16
#define DUMP_LEVEL_UNKNOWN (-1)

enum dump_role { DUMP_INPUT = 0, DUMP_OUTPUT = 1, DUMP_INOUT = 2 };
enum dump_stage { DUMP_BEFORE = 0, DUMP_AFTER = 1, DUMP_STAGE_OTHER = 2 };
enum dump_kind { DUMP_TENSOR = 0, DUMP_SCALAR = 1 };

enum dump_generation {
	DUMP_G1 = 1,
	DUMP_G2,
	DUMP_G3,
	DUMP_G4,
	DUMP_G5,
	DUMP_G6,
	DUMP_G7,
	DUMP_G8,
	DUMP_G9,
	DUMP_G10,
	DUMP_G11,
	DUMP_X1,     /* tensors[] and args[] in one file; unreleased */
	DUMP_X2,     /* kernel_args_dump.json, one entry per dispatch; unreleased */
	DUMP_OWN,    /* incore.args_dump/1: G11 with additions */
	DUMP_DEVICE, /* raw 128-byte records */
};

enum dump_record_flags {
	DUMP_TRUNCATED = 1,
	DUMP_OVERWRITTEN = 2,
	DUMP_CONTIGUOUS = 4, /* as stated */
	DUMP_AMBIGUOUS = 8,  /* arg_index_ambiguous */
	DUMP_EXACT = 16,     /* scalar: `bits` are exactly the slot's */
	DUMP_HAS_CRC = 32,
	DUMP_INCOMPLETE = 64,
	DUMP_LOST = 128,	/* payload_lost: the record exists, its bytes do not */
	DUMP_HAS_VALUE = 256,	/* scalar */
	DUMP_OUT_OF_FILE = 512, /* its region exceeds the payload file */
	DUMP_HAS_NUMEL = 1024,
	DUMP_TORN = 2048, /* copied while its task was still running */
};

struct dump_record {
	uint64_t task_id;
	uint64_t start_offset; /* elements */
	uint64_t bits;	       /* scalar: slot bits; tensor: numel as stated */
	uint64_t bin_offset, bin_size;
	uint64_t at; /* byte offset in the manifest */
	uint32_t slot;
	uint32_t geometry; /* of dump_geometry() */
	uint32_t members;  /* of dump_members(); DUMP_NONE: unknown */
	uint32_t crc32c;
	uint8_t role, stage, kind, dtype; /* the enums above; enum dump_dtype */
	uint16_t flags;
};

/* Fields that only some generations state; the list has one per record or is empty. */
struct dump_extra {
	uint64_t dispatch_id, buffer_addr, buffer_size;
	uint32_t block_idx, block_num, core_id; /* DUMP_NONE: not stated */
	uint32_t tensor_count, scalar_count;	/* of the task; DUMP_NONE */
	uint32_t kernel, core_type;		/* of d->names; DUMP_NONE */
	bool has_dispatch, has_buffer;
};

struct dump_geometry {
	unsigned rank;
	uint64_t shape[DUMP_MAX_RANK], strides[DUMP_MAX_RANK]; /* elements */
	uint64_t numel;					       /* product of shape; 1 for rank 0 */
};

/* How the before copy that shows the state before the task was chosen. */
enum dump_choice {
	DUMP_CHOICE_NONE,      /* no before copy */
	DUMP_CHOICE_ONLY,      /* there is only one */
	DUMP_CHOICE_SAME,      /* all hold the same bytes */
	DUMP_CHOICE_WRITER,    /* equals what the previous writer left */
	DUMP_CHOICE_AMBIGUOUS, /* several, and nothing decides */
};

struct dump_slot {
	uint32_t index;		    /* arg_index */
	uint32_t first, n;	    /* copies: d->order[first .. first + n) */
	uint32_t n_before, n_after; /* befores come first, then afters, then other stages */
	uint32_t before;	    /* record chosen; the first one until dump_choose() */
	uint32_t writer; /* record of the after copy that it equals (DUMP_CHOICE_WRITER) */
	uint16_t
		n_distinct; /* contents among the before copies; 0: not looked at, 65535: or more */
	uint8_t choice;	    /* enum dump_choice; NONE before dump_choose() where n_before > 1 */
};

struct dump_task {
	uint64_t id;
	uint32_t first_slot, n_slots;
	uint32_t first_copy, n_copies; /* in d->order */
	uint32_t members;	       /* DUMP_NONE: unknown */
	uint32_t n_blocks;
	bool is_complete; /* false: `check` names the missing slots */
};

struct dump_counters { /* as the manifest states them; UINT64_MAX: not stated */
	uint64_t total, before, after, input, output, inout, truncated, dropped, overwritten;
};

struct deps;

struct dump {
	char *dir, *manifest, *payload; /* payload: may be NULL */
	const char *root;		/* while opening: its files must lie below this */
	bool follow_links;		/* even if they lead out of root */
	struct file_data bytes;		/* of the payload file */
	bool is_payload_missing;	/* named, but missing */
	bool is_repaired, has_scalar_loss;
	enum dump_generation gen_first, gen_last; /* the keys fit this range */
	int level;				  /* DUMP_LEVEL_UNKNOWN */
	bool is_level_inferred;
	struct dump_counters counters;
	uint64_t manifest_bytes;
	VEC(struct dump_record) records;
	VEC(struct dump_extra) extras; /* empty, or one per record */
	uint32_t *order; /* record indices by task, slot, stage, block, manifest index */
	VEC(struct dump_task) tasks;
	VEC(struct dump_slot) slots;
	struct intern geometries, member_sets, names;
	struct u64_map func_names; /* func id -> index in names; of name_map_*.json */
	struct deps *deps;	   /* NULL: none found */
	struct arena arena;
	struct problems problems;
	bool is_chosen;
};

#include "dump/read/model_get.h"
