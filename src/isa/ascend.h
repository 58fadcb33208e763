/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend.h: what an Ascend instruction is: its pipe, its class, and whether it synchronises.
 *
 * How an Ascend trace maps to the model (trace.h):
 *	levels	 "core", "unit", "pipe": coord[0] core number; coord[1] 0 cube (or a plain core),
 *		 1 and 2 the vector cores; coord[2] enum ascend_pipe
 *	track	 one per core, unit and pipe that has slices; its name is "core0.veccore1/MTE2"; begin
 *		 and end are the span of its core and unit: first start to last end over its pipes
 *	slice	 [start, start + dur); stall_cyc of it, at the front, are the head cost (cache_time +
 *		 ccu_time): the instruction itself is [start + stall, start + dur). Slices of a pipe may
 *		 overlap; they are sorted by (start, end, code) or (start, end, address, code)
 *	tag	 enum ascend_pipe
 *	code	 a row per (core kind, pc, opcode), flags also per operands; code_object is the core
 *		 kind (enum ascend_core), number the row's own index, address the pc; the text is the
 *		 opcode, a blank and the operands without values ("SET_FLAG PIPE:MTE2,..." whole)
 *	links	 LINK_FLAG, LINK_CROSS_CORE: SET to WAIT slice; LINK_BARRIER: last to end to BAR
 * Threads: all functions are pure.
 *
 * More than 150 lines because pipes, their lanes, names and keys are one table.
 */
#pragma once

#include "base/str.h"
#include "trace/class.h"
#include "trace/trace.h"

/* --- names ------------------------------------------------------------------------------------ */

/*
 * Names of the tables of an Ascend trace (trace.tables) and their columns; if no columns are
 * listed, the producer names them.
 */

#define ASCEND_TABLE_BLOCKS "blocks" /* offset, type, name, bytes, padding, version */
#define ASCEND_TABLE_INSTR                                                                         \
	"api-instr" /* Core + the columns of API_INSTR, a row per PC and core    \
				       */
#define ASCEND_TABLE_CORES "api-cores"	   /* Core: as API_INSTR lists them, if not by number */
#define ASCEND_TABLE_LINES "api-file"	   /* Core, Source + the columns of API_FILE */
#define ASCEND_TABLE_INSTR_CSV "instr-exe" /* Core + the columns of the CSV */
#define ASCEND_TABLE_CODE_CSV "code-exe"
#define ASCEND_TABLE_SUMMARY "summary-log"   /* core, name, value: all a summary log states */
#define ASCEND_TABLE_BUSY "stated-busy"	     /* core, unit, pipe (lane name), cycles, name */
#define ASCEND_TABLE_DETAILS "detail-blocks" /* type, json: blocks of details beside a trace */
#define ASCEND_TABLE_LABELS "labels"	   /* key, value: what the maker of the trace says of it */
#define ASCEND_TABLE_SLICES "slice-hashes" /* hash: a row per track; only inside a container */
#define ASCEND_TABLE_BASE "base-info"	   /* key, value */
#define ASCEND_TABLE_BLOCK_DETAIL "block-detail"
#define ASCEND_TABLE_COMPUTE "compute-load"	      /* 0x06 */
#define ASCEND_TABLE_COMPUTE_ALL "compute-load-table" /* 0x07 */
#define ASCEND_TABLE_MEMORY "memory-units"	      /* 0x08: core, path, from, to, request, ... */
#define ASCEND_TABLE_MEMORY_CORE "memory-cores"	      /* 0x08: L2 cache and cycles a core */
#define ASCEND_TABLE_MEMORY_ALL "memory-table"	      /* 0x09: block, table, row, column, value */
#define ASCEND_TABLE_OCCUPANCY "core-occupancy"	      /* 0x0C */
#define ASCEND_TABLE_ROOFLINE "roofline"	      /* 0x0D */
#define ASCEND_TABLE_CACHE "cacheline"		      /* 0x0E */
#define ASCEND_TABLE_STALL "top-stall"		      /* 0x0F */
#define ASCEND_TABLE_ADVICE "advice"		      /* block, text */

/* --- keys and hashes -------------------------------------------------------------------------- */

/*
 * Keys that identify an instruction or pipe of a trace.json in a table stored elsewhere. The
 * exporter writes code rows into events and the importer finds them again by these keys, so both
 * must compute them alike. Threads: all functions are pure.
 */

/* Key of a row: from the kind of its core (enum ascend_core), pc, opcode, and for synchronisation
 * the operands. text is the opcode, a blank and the operands. */
uint64_t ascend_row_key(unsigned kind, uint64_t pc, struct str opcode, struct str text);

struct ascend_slice {
	uint64_t start;
	uint32_t dur, stall;
	code_idx code;
};
/* Hash over all slices of a pipe in order: start with 0 and add one slice after another. */
uint64_t ascend_slice_hash(uint64_t hash, const struct ascend_slice *s);

/* --- pipes and instructions ------------------------------------------------------------------- */

/* The values give the order in which MindStudio Insight sorts the lanes. */
enum ascend_pipe {
	PIPE_NONE = 0,
	PIPE_SCALAR = 1,
	PIPE_FLOWCTRL = 2,
	PIPE_MTE1 = 3,
	PIPE_CUBE = 4,
	PIPE_FIXP = 5,
	PIPE_MTE2 = 6,
	PIPE_VECTOR = 7,
	PIPE_MTE3 = 8,
	PIPE_CACHEMISS = 9,
	PIPE_SCALARLDST = 10,
	PIPE_ALL = 11,
	PIPE_USERMARK = 12,
	PIPE_EVENT = 13,
	PIPE_RVECEX = 18,
	PIPE_RVECLP = 19,
	PIPE_RVECST = 20,
	PIPE_RVECLD = 21,
	PIPE_PUSHQ = 22,
	PIPE_RVECSU = 23,
	PIPE_WARP0 = 100,  /* + n, n < ASCEND_WARPS */
	PIPE_OTHER0 = 200, /* + k: the k-th lane with an unknown name, which is in the track's
			      name */
};
#define ASCEND_WARPS 64
#define ASCEND_OTHERS 56

enum ascend_core { ASCEND_PLAIN = 0, ASCEND_CUBE = 1, ASCEND_VEC = 2 };

enum ascend_family { ASCEND_UNKNOWN, ASCEND_310P, ASCEND_310B, ASCEND_A2A3, ASCEND_A5 };

struct ascend_lane {
	enum ascend_pipe pipe;
	const char *name;      /* as a tid */
	const char *cname;     /* colour word of trace.json */
	const char *label;     /* what it does: "load GM->UB/L1" */
	unsigned dataflow;     /* order from load to store, for people */
	unsigned per_core_pid; /* pid in the per-core schema; 0: none */
	bool is_work;	       /* an execution pipe: not SCALAR, FLOWCTRL, CACHEMISS, ALL, ... */
	bool is_compute;       /* CUBE, VECTOR, RVEC*, PUSHQ, WARP_n */
	bool is_a5;	       /* exists on A5 only */
};

/* The known lanes without WARP_n, in the order of the enum; *n is their number. */
const struct ascend_lane *ascend_lanes(size_t *n);
/* Lane of a pipe; WARP_n share one entry named "WARP", unknown pipes one named "?". */
const struct ascend_lane *ascend_lane(unsigned pipe);
/* Pipe of a lane name ("MTE2", "WARP_3", also cleaned "MTE2#1" and "MTE2 (load ...)");
 * PIPE_NONE if unknown. */
enum ascend_pipe ascend_pipe_of_lane(struct str tid);
/* "MTE2", "WARP_3"; "?" for others. Names that must be composed are written to buf. */
const char *ascend_pipe_name(unsigned pipe, char buf[16]);
/* Unit name of a dump line ("VEC", "FC", "FIX_PIPE") -> pipe; anything unknown is PIPE_ALL. */
enum ascend_pipe ascend_pipe_of_unit(struct str unit);
static inline bool ascend_is_warp(unsigned pipe)
{
	return pipe >= PIPE_WARP0 && pipe < PIPE_WARP0 + ASCEND_WARPS;
}

/* --- synchronisation: never work --- */

enum ascend_sync {
	SYNC_NONE,
	SYNC_SET,	 /* SET_FLAG, set_event */
	SYNC_WAIT,	 /* WAIT_FLAG, wait_event */
	SYNC_SET_CROSS,	 /* SET_INTRA_BLOCK[I], SET_CROSS_CORE, FFTS_CROSS_CORE_SYNC */
	SYNC_WAIT_CROSS, /* WAIT_INTRA_BLOCK[I], WAIT_FLAG_DEV[I] */
	SYNC_BARRIER,	 /* BAR, PIPE_BARRIER */
	SYNC_GET_BUF,
	SYNC_RLS_BUF,
	SYNC_NOP, /* NOP_PIPE */
};
/* Looks up an opcode, compared up to the first '.'. */
enum ascend_sync ascend_sync_of(struct str opcode);
static inline bool ascend_is_set(enum ascend_sync s)
{
	return s == SYNC_SET || s == SYNC_SET_CROSS;
}
static inline bool ascend_is_wait(enum ascend_sync s)
{
	return s == SYNC_WAIT || s == SYNC_WAIT_CROSS;
}
/* Is it configuration rather than work on a data pipe? (MOV_SPR_XN and the like.) */
bool ascend_is_config(struct str opcode);

/* What a flag's operands say; borrowed from the text, empty where missing. */
struct ascend_flag {
	struct str producer; /* PIPE: label of the setting pipe */
	struct str consumer; /* TRIGGERPIPE: label of the waiting pipe */
	struct str id;	     /* FLAGID, event_id, sync_id: as written */
};
/* Parses "PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:0," or a code row's text; blanks do not matter. */
struct ascend_flag ascend_flag_of(struct str detail);

/* Synchronisation by opcode first, else what the pipe does. */
enum inst_class ascend_class(unsigned pipe, struct str opcode);

/* --- cores and clocks --- */

struct ascend_unit { /* "core3.veccore1" */
	uint32_t core;
	uint32_t unit; /* coord[1] */
	enum ascend_core kind;
};
/* False: not a name of that form. */
bool ascend_unit_of(struct str pid, struct ascend_unit *out);

struct ascend_soc {
	const char *name; /* "910B1", "9599" */
	unsigned mhz;
	enum ascend_family family;
};
/* "Ascend910B1", "910B1", "Ascend950PR_9599", "9599"; NULL if unknown. */
const struct ascend_soc *ascend_soc_find(struct str name);
/* The clock in the table that lies within 0.5 % of mhz, or 0. */
unsigned ascend_snap_mhz(double mhz);
#define ASCEND_DEFAULT_MHZ 1850
