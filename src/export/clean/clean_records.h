/* SPDX-License-Identifier: Apache-2.0 */
/* clean_records.h: records of a run that is being cleaned (clean.h): slices, lanes, flags,
 * arrows. */
#pragma once

#include "analysis/pipes/clean.h"
#include "base/str.h"

/* One slice. */
struct clean_slice {
	uint64_t at; /* its event in the text; without a text its row in clean.rows */
	double ts, dur;
	uint32_t lane;
	uint8_t kind; /* enum pipe_kind; not used for work */
	bool is_cut;  /* dur differs from the text: print it */
};

struct clean_row { /* of a code row: name and arguments as JSON, one after the other */
	const char *p;
	uint32_t name_len, args_len;
};

/* A pipe of a core, or the synchronisation of that pipe. */
struct clean_lane {
	struct str pid;
	struct str pipe;
	uint32_t group; /* shared by lanes of one pid; in string order of pids */
	bool is_wait;	/* holds flags, barriers, locks */
	bool is_kept;
	uint32_t order;	 /* of the pipe in the dataflow */
	uint64_t n;	 /* slices read, kept or not */
	uint32_t n_rows; /* after layout */
	uint32_t first_tid;
	struct clean_span *spans; /* sorted, after layout; n_spans of them */
	size_t n_spans;
	struct clean_lane_sum sum;
	double busy; /* union of the pipe's instructions; for a sync lane: exposed waits */
};

struct clean_head { /* waiting times of an instruction before it began */
	uint32_t slice;
	double cache, ccu;
};

struct clean_sync { /* one end of a flag */
	double begin, end;
	uint64_t id; /* the same for partners */
	uint32_t lane, key, slice;
	uint32_t number; /* in the order of the input */
	bool is_set;
};

struct clean_key { /* parts of a flag's detail */
	struct str pipe, trigger, flag;
};

#define CLEAN_NO_SLICE UINT32_MAX
#define CLEAN_NO_LANE UINT32_MAX

struct clean_arrow {
	uint32_t from, to; /* slices */
	uint32_t key;
	uint32_t number; /* of its SET */
};

/* Producers of a wait that are not lanes. */
#define CLEAN_BY_NOBODY UINT32_MAX
#define CLEAN_BY_BARRIER (UINT32_MAX - 1)
#define CLEAN_BY_BUFFER (UINT32_MAX - 2)

struct clean_wait {	   /* sum over the waits of one pipe for another */
	uint32_t lane;	   /* the waiting (sync) lane */
	uint32_t producer; /* lane of the SET, or CLEAN_BY_... */
	double exposed;
	uint64_t n;
};

struct clean_event { /* a counter sample, which is copied */
	uint64_t at;
	double ts;
	uint32_t lane;
};
