/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timeline.h: what readers of other tools' timelines share: a builder that takes slices, halves of
 * slices, instants, flows and counters of named lanes in any order and makes the trace of them.
 *
 * How such a timeline stands in the model (trace.h):
 *	levels	 "process", "thread", "depth": coord[0] and [1] are ordinals in the order a viewer shows
 *		 them, coord[2] how many slices of the thread are open around it
 *	track	 one per thread and depth, named "process/thread", further down "process/thread [1]"
 *	slice	 as the file has it, class USERMARK, no stall: nothing says what waits for what. An
 *		 instant has no length. tag: enum tl_kind
 *	code	 a row per (category, name): the text is the name, the opcode the category (without
 *		 one the name); there is no code
 *	links	 LINK_FLOW, from each step of a flow to the next
 * Times are nanoseconds from the earliest one; where a slice is longer than 32 bits of them hold,
 * ten, a hundred, ... nanoseconds.
 *
 * Order of work: tl_init(), readers add, tl_finish(); tl_deinit() in all cases. Strings are copied.
 * Adding returns false on lack of memory alone; what is wrong with the input is counted.
 */
#pragma once

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "import/import.h"

enum tl_kind { TL_SLICE, TL_INSTANT, TL_ASYNC };

enum tl_count { /* things that are only counted; tl_finish() makes notes of them */
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
	const char *key, *name, *labels; /* name, labels: NULL where not said */
	int64_t sort;
};

struct tl_lane {
	uint32_t process;
	const char *key, *name;
	int64_t sort;
	VEC(struct tl_slice) slices;
	uint32_t first_track, n_tracks; /* set by tl_finish() */
};

struct tl_half { /* a begin or an end that looks for its other half */
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
	TL_FLOW_IN, /* an end of several: what it comes from stays */
};

struct tl_flow {
	uint64_t key;
	int64_t at_ns;
	uint32_t order, lane;
	uint8_t step;
	bool is_next; /* meant is the next slice, not the one around it */
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
	const char *unit_word;		 /* what is called "ns" here: "ns", or "cycles" */
};

#define TL_NONE UINT32_MAX
#define TL_MAX_NS (INT64_MAX / 4)

void tl_init(struct timeline *l, struct trace *t, const char *path);
void tl_deinit(struct timeline *l);

/* Indices, made at first sight; TL_NONE on lack of memory. */
uint32_t tl_process(struct timeline *l, struct str key);
uint32_t tl_lane(struct timeline *l, uint32_t process, struct str key);
uint32_t tl_row(struct timeline *l, struct str name, struct str category);
/* A copy, without the escapes of JSON where names are raw; NULL on lack of memory. */
const char *tl_text(struct timeline *l, struct str raw);

bool tl_add_slice(struct timeline *l, uint32_t lane, struct tl_slice s);
/* key: what both halves share; 0: they are a stack on their lane. */
bool tl_add_half(struct timeline *l, struct tl_half h);
bool tl_add_flow(struct timeline *l, struct tl_flow f);
/* Of a counter `name` of a process; unit: what the value is called. */
bool tl_add_counter(struct timeline *l, uint32_t process, struct str name, struct str unit,
	int64_t at_ns, double value);

/* Pairs halves, lays slices out, binds flows, and hands all to the trace. */
bool tl_finish(struct timeline *l, struct incore_error *e);

/* import_ops.look of all of them: only reading it all tells how much there is. */
void tl_look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c);

/* --- layout.c --- */
bool tl_pair_halves(struct timeline *l);
bool tl_layout(struct timeline *l, struct incore_error *e);
bool tl_bind_flows(struct timeline *l);
