/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_rows.h: a dump, its records and their values as described rows, the same in every verb of
 * `incore dump`. Owner: rows are stored in the caller's structs and point into the dump.
 */
#pragma once

#include "answer/rows.h"
#include "dump/read/deps.h"
#include "verbs/dump/dump_verbs.h"

/* The dump, as `input` of the envelope. */
struct dump_input {
	const struct dump *dump;
	uint64_t payload_bytes;
	int64_t level;
	char generation_text[16];
	const char *generation;
};
extern const struct record dump_input_record;
extern const struct record *const dump_inputs[]; /* of questions about one dump */
void dump_input_fill(struct dump_input *in, const struct dump *d);
/* Makes the answer one about this dump, with this data. */
bool dump_answer(struct answer *a, const struct dump *d, const struct record *r, const void *data,
	struct incore_error *e);

struct scalar_row {
	struct any value;
	uint64_t raw;
	bool exact;
};

/* Everything that a record states. */
struct record_row {
	uint32_t index, slot;
	uint64_t task_id;
	struct rows func_id; /* func_ids; empty: not stated */
	struct str kernel;
	const char *role, *stage, *kind, *dtype;
	bool contiguous, truncated, overwritten, ambiguous, payload_lost, incomplete, torn;
	struct rows shape, strides;
	uint64_t start_offset, numel, bin_offset, bin_size;
	const uint32_t *crc32c; /* NULL: not stated */
	const struct scalar_row *scalar;
	const uint64_t *dispatch_id;
	uint32_t block_idx, block_num, core_id;
	struct str core_type;
	const struct record_buffer *buffer;
	/* storage that the pointers point to */
	int64_t func_ids[DUMP_MAX_MEMBERS];
	struct dump_geometry geometry;
	struct scalar_row scalar_held;
	struct record_buffer buffer_held;
};
extern const struct record record_row_record; /* RECORD_LINE */
void record_row_fill(struct record_row *x, const struct dump *d, uint32_t record);

/* Ids of member functions; no rows if they are not stated. */
extern const struct record func_id_record;
struct rows func_id_rows(const struct dump *d, uint32_t members, int64_t ids[DUMP_MAX_MEMBERS]);

/* A value of element bits: a number, a text where it is not finite, a pair as an array. */
struct any dump_value(unsigned dtype, uint64_t bits);
#define DUMP_VALUE_TYPES "number|boolean|string|array"

#define DUMP_VERB(S, WORD)                                                                         \
	COLUMN(S, verb, UNIT_NONE, "verb of incore dump that answered", .words = WORD)
#define DUMP_ROLES "input|output|inout|unknown"
#define DUMP_STAGES "before|after|other"
#define DUMP_KINDS "tensor|scalar"
#define DUMP_PAIR_STATES "same|differs|other-kind|only-a|only-b|not-compared"
#define DUMP_DTYPES DTYPE_CHOICES "|UNKNOWN"
#define DUMP_TASK_ID(S)                                                                            \
	COLUMN(S, task_id, UNIT_NONE, "id of the task: its ring and its number in the ring",       \
		.title = "task", .csv = "task_id", .flags = COLUMN_HEX, .digits = 16)
#define DUMP_KERNEL(S)                                                                             \
	COLUMN(S, kernel, UNIT_NONE, "name of the kernel",                                         \
		.flags = COLUMN_NULLABLE | COLUMN_WIDE | COLUMN_DASH)
