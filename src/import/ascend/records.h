/* SPDX-License-Identifier: Apache-2.0 */
/* records.h: the records that the builder of Ascend traces (build.h) keeps while files are read. */
#pragma once

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/trace_events.h"
#include "import/import.h"
#include "isa/ascend.h"
#include "trace/mem_tracks.h"
#include "trace/trace_text.h"

/* Flags of a slice. Until the clock is known, its times are microseconds: start is a double, dur a
 * float. With REC_EXTRA, stall is an index into extras; else, while reading for IMPORT_TEXT, it is
 * the index of its event. */
enum { REC_EXTRA = 1, REC_LONG = 2 /* dur is an index into b->long_us */ };

struct asc_extra {	   /* more data of a flag or of an instruction with a head cost */
	uint64_t key;	   /* shared by the SET and the WAIT of a pair; 0: not a flag */
	struct str id;	   /* the producer's id, for messages */
	double cache, ccu; /* head cost: microseconds or cycles */
	uint64_t end;	   /* cycles; set by asc_finish() */
	uint32_t stall_cyc, cache_cyc; /* the head cost; set by asc_finish() */
	uint32_t lane, slice;	       /* lane NO_TRACK: head cost without its instruction */
	uint32_t code;
	uint32_t event; /* IMPORT_TEXT: its number in trace_text.slices */
	uint8_t sync;	/* enum ascend_sync */
	bool is_linked;
};

#define NO_EXTRA UINT32_MAX

struct asc_lane {	     /* a (pid, tid) of the file; several may belong to one pipe */
	struct str pid, tid; /* raw, in the trace's arena */
	const char *unit;    /* unit of its file if the pid does not name one, or NULL */
	VEC(struct track_slice) recs;
	uint32_t unit_idx, pipe; /* resolved by asc_finish() */
};

struct asc_row {      /* beside each code row */
	double us;    /* sum of its slices' lengths, without flags and marks */
	uint64_t n;   /* slices */
	uint64_t cyc; /* sum of lengths once the clock is known */
	uint8_t sync;
	bool is_kind_known; /* the kind of its core is known */
	uint64_t own;	    /* number + 1 in our own table, if the event states it; else 0 */
};

struct asc_stated { /* totals of one PC on one kind of core */
	uint64_t pc;
	enum ascend_core kind;
	bool is_kind_known;
	int64_t calls, cycles;
	struct str text, source; /* in the trace's arena */
	struct str pipe;
};

struct asc_open { /* a B or E whose counterpart was not seen yet */
	double ts;
	uint32_t lane, code, next;
	bool is_begin;
	uint64_t offset; /* of a B in the file */
	struct str id, detail;
};

struct asc_unit {
	const char *name;
	struct ascend_unit at;
	uint64_t begin, end; /* cycles */
	uint32_t track_of[256];
	uint32_t n_others;
	struct str others[ASCEND_OTHERS]; /* lanes of unknown names */
};

struct asc_flow {
	uint64_t key;
	uint32_t lane;
	bool is_from;
	double ts;
};

struct asc_name { /* M: the name of a pid or (pid, tid) */
	uint64_t key;
	struct str name;
	bool is_ambiguous;
};

struct asc_series {
	uint64_t key;
	const char *name, *unit;
	VEC(double) ts;
	VEC(uint64_t) value;
};

struct asc_transfer { /* a request of a transfer engine to global memory */
	uint64_t tick, instr;
	uint32_t bytes;
	bool is_write; /* to it */
};

struct asc_detail {
	unsigned type; /* of its block */
	struct str json;
};

struct asc_table {
	struct named_table t;
	VEC(const char *) cols;
	VEC(const char *) cells;
	bool is_failed; /* latched: out of memory */
};
