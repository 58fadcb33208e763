/* SPDX-License-Identifier: Apache-2.0 */
/* clean_records.h: what a run is while it is cleaned (clean.h): slices, lanes, flags, arrows. */
#ifndef EXPORT_CLEAN_CLEAN_RECORDS_H
#define EXPORT_CLEAN_CLEAN_RECORDS_H

#include "analysis/pipes/clean.h"
#include "base/str.h"

enum clean_flag_bits { /* of a slice */
	CLEAN_IS_SET = 1,
	CLEAN_IS_WAIT = 2,
	CLEAN_HAS_HEAD = 4,
	CLEAN_IS_CUT = 8, /* dur is not the text's: print it */
};

/* One slice; the texts are places relative to `at`. */
struct clean_slice {
	const char *at;
	double ts, dur;
	uint32_t name_off, name_len; /* the string with its quotes */
	uint32_t args_off, args_len; /* the value; 0: none */
	uint32_t ts_off, dur_off;
	uint8_t ts_len, dur_len; /* 0: print the number */
	uint8_t bits;		 /* enum clean_flag_bits */
	uint8_t sync;		 /* enum ascend_sync: the text need not be looked at again */
	uint32_t lane;
	uint32_t row; /* on its lane */
};

/* A pipe of a core, or the synchronisation of that pipe. */
struct clean_lane {
	struct str pid;	    /* as text */
	struct str pid_raw; /* as JSON */
	struct str pipe;
	uint32_t group; /* lanes of one pid share it; in string order of pids */
	bool is_wait;	/* holds flags, barriers, locks */
	bool is_kept;
	uint32_t order;	 /* of the pipe in the dataflow */
	uint64_t n;	 /* slices read, kept or not */
	uint32_t n_rows; /* after layout */
	uint32_t first_tid;
	struct clean_span *spans; /* sorted, after layout; n_spans of them */
	size_t n_spans;
	struct clean_lane_sum sum;
	double busy; /* union of the pipe's instructions; of a sync lane: exposed waits */
};

struct clean_head { /* what an instruction waited for before it began */
	uint32_t slice;
	double cache, ccu;
};

struct clean_sync { /* one end of a flag */
	double begin, end;
	uint64_t id; /* hash of its id; 0: none */
	uint32_t lane, key, slice;
	bool is_set;
};

struct clean_key { /* what a flag's detail says; texts as they stand */
	struct str pipe, trigger, flag;
};

#define CLEAN_NO_SLICE UINT32_MAX

struct clean_arrow {
	uint32_t from, to; /* slices */
	uint32_t key;
	uint32_t set, wait; /* into syncs */
};

/* Who ended a wait, where it is no lane. */
#define CLEAN_BY_NOBODY UINT32_MAX
#define CLEAN_BY_BARRIER (UINT32_MAX - 1)
#define CLEAN_BY_BUFFER (UINT32_MAX - 2)

struct clean_wait {	   /* sum over the waits of one pipe for another */
	uint32_t lane;	   /* that waits (the sync lane) */
	uint32_t producer; /* lane of the SET, or CLEAN_BY_... */
	double exposed;
	uint64_t n;
};

struct clean_event { /* copied through: a counter sample */
	const char *at;
	uint32_t name_off, name_len, args_off, args_len, ts_off;
	uint8_t ts_len;
	uint32_t lane;
};

#endif
