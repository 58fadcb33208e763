/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h: shared by the readers of other tools' timelines: a builder that takes slices, halves
 * of slices, instants, flows and counters of named lanes in any order and makes a trace from them.
 *
 * How a timeline is represented in the model (trace.h):
 *	levels	 "process", "thread", "depth": coord[0] and [1] are ordinals in the order a viewer shows
 *		 them, coord[2] the number of enclosing slices of the thread
 *	track	 one per thread and depth, named "process/thread", further down "process/thread [1]"
 *	slice	 as in the file, class USERMARK, no stall: dependencies are unknown. An
 *		 instant has no length. tag: enum tl_kind
 *	code	 a row per (category, name): the text is the name, the opcode the category (without
 *		 one the name); there is no code
 *	links	 LINK_FLOW, from each step of a flow to the next
 * Times are nanoseconds from the earliest one; if a slice would exceed 32 bits, the unit is ten, a
 * hundred, ... nanoseconds.
 *
 * Order of work: tl_init(), readers add, tl_finish(); tl_deinit() in all cases. Strings are copied.
 * Adding returns false only when out of memory; invalid input is counted.
 */
#pragma once

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "import/import.h"

enum tl_kind { TL_SLICE, TL_INSTANT, TL_ASYNC };

enum tl_count { /* events that are only counted; tl_finish() makes notes of them */
	TL_BAD_TIME,
	TL_BAD_DURATION,
	TL_NO_LANE,
	TL_NO_BEGIN,
	TL_NO_END,
	TL_TOO_DEEP,
	TL_BAD_COUNTER,
	TL_LOOSE_FLOW,
	TL_ARGS,
	TL_OTHER_EVENTS,
	TL_NOT_OBJECTS,
	TL_COUNTS
};

struct tl_slice {
	int64_t from_ns, to_ns;
	uint32_t code;
	uint8_t kind;
};

struct tl_process {
	const char *key, *name, *labels; /* name, labels: NULL if not stated */
	int64_t sort;
};

struct tl_lane {
	uint32_t process;
	const char *key, *name;
	int64_t sort;
	VEC(struct tl_slice) slices;
	uint32_t first_track, n_tracks; /* set by tl_finish() */
};

struct tl_half { /* a begin or an end to be paired with its other half */
	uint64_t key;
	int64_t at_ns;
	uint32_t order, lane, code; /* lane, code: of a begin */
	uint8_t kind;
	bool is_begin;
};

enum tl_step {
	TL_FLOW_START,
	TL_FLOW_STEP,
	TL_FLOW_END,
	TL_FLOW_IN, /* one of several ends: the source of the flow stays open */
};

struct tl_flow {
	uint64_t key;
	int64_t at_ns;
	uint32_t order, lane;
	uint8_t step;
	bool is_next; /* refers to the next slice, not to the enclosing one */
};

struct tl_point {
	int64_t at_ns;
	uint32_t order;
	uint64_t value;
};

struct tl_series {
	const char *name, *unit;
	VEC(struct tl_point) points;
};

struct timeline {
	struct trace *trace;
	const char *path;
	bool is_escaped; /* names are raw JSON strings */
	VEC(struct tl_process) processes;
	VEC(struct tl_lane) lanes;
	VEC(struct code_row) rows;
	VEC(struct tl_half) halves;
	VEC(struct tl_flow) flows;
	VEC(struct tl_series) series;
	struct u64_map process_at, lane_at, row_at, series_at;
	struct intern opcodes;
	struct strbuf scratch;
	uint64_t counts[TL_COUNTS];
	int64_t min_ns, max_ns, unit_ns; /* unit_ns: set by tl_finish() */
	const char *unit_word;		 /* the unit of what is called ns here: "ns" or "cycles" */
};

#define TL_NONE UINT32_MAX
#define TL_MAX_NS (INT64_MAX / 4)

void tl_init(struct timeline *l, struct trace *t, const char *path);
void tl_deinit(struct timeline *l);

/* Find or make an entry and return its index; TL_NONE when out of memory. */
uint32_t tl_process(struct timeline *l, struct str key);
uint32_t tl_lane(struct timeline *l, uint32_t process, struct str key);
uint32_t tl_row(struct timeline *l, struct str name, struct str category);
/* Copies a text; resolves JSON escapes if names are raw. NULL when out of memory. */
const char *tl_text(struct timeline *l, struct str raw);

bool tl_add_slice(struct timeline *l, uint32_t lane, struct tl_slice s);
/* key: common to both halves; 0: halves form a stack on their lane. */
bool tl_add_half(struct timeline *l, struct tl_half h);
bool tl_add_flow(struct timeline *l, struct tl_flow f);
/* Adds a value of the counter `name` of a process; unit: label of the value. */
bool tl_add_counter(struct timeline *l, uint32_t process, struct str name, struct str unit,
	int64_t at_ns, double value);

/* Pairs halves, lays out slices, binds flows, and hands everything to the trace. */
bool tl_finish(struct timeline *l, struct incore_error *e);

/* import_ops.look of all timeline importers: the counts need a full read. */
void tl_look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c);
