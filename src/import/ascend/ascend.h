/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend.h: the readers of Ascend artifacts; each adds the content of one file or block to a
 * builder. `base` is the offset in the file where the given bytes begin, for messages. Partial
 * damage becomes a note; false means that the bytes are unusable.
 *
 * More than 150 lines because the readers of six kinds of files share one builder.
 */
#pragma once

#include "base/file.h"
#include "base/map.h"
#include "base/vec.h"
#include "codec/trace_events.h"
#include "import/import.h"
#include "isa/ascend.h"
#include "trace/mem_tracks.h"
#include "trace/trace_text.h"

/* --- what a file holds ------------------------------------------------------------------------ */

/* The records that the builder of Ascend traces keeps while files are read. */

/* Flags of a slice. Until the clock is known, its times are microseconds: start is a double, dur a
 * float. With REC_EXTRA, stall is an index into extras; else, while reading for IMPORT_TEXT, it is
 * the index of its event. */
enum {
	REC_EXTRA = 1,
	REC_LONG = 2,  /* dur is an index into b->long_us */
	REC_BYTES = 4, /* without REC_EXTRA: stall is an index into b->moved */
};

struct asc_extra {	   /* more data of a flag or of an instruction with a head cost */
	uint64_t key;	   /* shared by the SET and the WAIT of a pair; 0: not a flag */
	struct str id;	   /* the producer's id, for messages */
	double cache, ccu; /* head cost: microseconds or cycles */
	uint64_t end;	   /* cycles; set by asc_finish() */
	uint64_t bytes;	   /* moved by it; 0: not stated */
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
	struct str same_as; /* a B that only carries another line of the flag with this id */
};

struct asc_again { /* another key of a flag */
	uint64_t key, of;
	uint8_t sync; /* enum ascend_sync */
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

/* --- what is built ---------------------------------------------------------------------------- */

/*
 * Shared by the readers of Ascend artifacts: a builder that takes instructions, flags, rows and
 * tables in any order and makes a trace from them (see isa/ascend.h for its shape).
 *
 * Order of work: asc_init(), readers add, asc_finish() finds the clock, turns microseconds into
 * cycles, sorts, pairs flags and hands the slices to the trace. asc_deinit() in all cases. Bytes
 * that were read must stay valid until then. An instruction takes 24 bytes.
 */

enum asc_count { /* events that are only counted; asc_finish() makes notes of them */
	ASC_NO_TS,
	ASC_BAD_TS,
	ASC_BAD_DUR,
	ASC_UNPAIRED,
	ASC_BACKWARDS, /* an E that is earlier than its B */
	ASC_UNKNOWN_PH,
	ASC_NO_LANE,
	ASC_NOT_OBJECT,
	ASC_LONE_HEAD,
	ASC_CLAMPED,
	ASC_BAD_COUNTER,
	ASC_COUNTS
};

struct asc_build {
	struct trace *trace;
	const struct import_options *options;
	const struct file_data *file; /* the file being read, or NULL */
	const char *path;	      /* of the file being read, for notes */
	const char *unit;	      /* unit of a per-core file, for numeric pids; or NULL */
	bool has_trace;		      /* a TRACE block was found */
	struct str trace_text;	      /* its bytes, if it is the only one */
	bool is_ticks;		      /* times are already cycles (dumps) */
	bool is_cleaned;	      /* sub-lanes were folded back */
	bool has_api;		      /* stated totals come from API_INSTR */
	VEC(struct asc_lane) lanes;
	struct u64_map lane_at;
	VEC(struct code_row) code;
	VEC(struct asc_row) rows;
	struct u64_map code_at;
	struct intern opcodes, sources;
	VEC(struct frame) frames;
	VEC(struct asc_extra) extras;
	VEC(struct asc_open) open;
	VEC(struct asc_again) again;
	struct u64_map open_at;
	size_t n_open;
	VEC(struct asc_flow) flows;
	VEC(struct asc_name) names;
	struct u64_map name_at, cell_at, head_at;
	VEC(struct asc_series) series;
	VEC(struct asc_stated) stated; /* from API_INSTR, else from the CSV files */
	VEC(struct asc_stated) csv;
	VEC(struct named_table) tables;
	VEC(struct asc_detail) details; /* blocks of details in file order */
	VEC(struct asc_unit) units;
	VEC(double) long_us;
	VEC(uint64_t) moved;	       /* bytes of slices without an extra */
	size_t n_moved;		       /* slices with bytes */
	VEC(struct source_file) texts; /* SOURCE blocks */
	uint64_t counts[ASC_COUNTS];
	uint64_t n_events, n_slices, n_heads;
	bool is_quantised, is_inexact; /* a ts was / was not a multiple of 1 ns */
	double float_us;	       /* the latest ts past 1 ms, for the step of a 32-bit float */
	bool has_late_double;	       /* a ts past 1 ms does not fit a 32-bit float */
	double min_us;
	struct str clock_text;		 /* as our own exporter states it */
	bool has_metadata, is_cycle_1ns; /* our metadata; times are cycles, 1 ns each */
	uint64_t clock_hz_num, clock_hz_den;
	unsigned ratio_mhz; /* found by comparing exact ticks with trace.json; 0: unknown */
	VEC(struct asc_transfer) transfers;
	struct u64_map transfer_at, transfer_end; /* by request; by instruction */
	const char *binary;			  /* aicore_binary.o of the dumps, or NULL */
	const char *binary_root;   /* directory of `binary` if it is outside the capture, or NULL */
	uint64_t start_pc;	   /* its load address; 0: unknown */
	const char *soc;	   /* as a details block states it */
	struct trace *own;	   /* the tables that our exporter wrote, or NULL; owned */
	uint64_t text_base;	   /* offset in the file of the events being read */
	VEC(uint32_t) head_extras; /* for each of text->lone_heads its extra, or NO_EXTRA */
	struct strbuf scratch;
	struct str last_pid, last_tid; /* the previous lane, for speed */
	uint32_t last_lane;
};

/* --- build.c: adding --- */
bool asc_init(struct asc_build *b, struct trace *t, const struct import_options *o,
	struct incore_error *e);
void asc_deinit(struct asc_build *b);
bool asc_note(struct asc_build *b, const char *code, uint64_t offset, const char *fmt, ...)
	PRINTF_LIKE(4, 5);
/* Moves an error's offset by `base`, where the bytes begin in the file. */
void asc_error_at(struct incore_error *e, uint64_t base);
/* Returns the index of the lane, or NO_TRACK when out of memory. */
uint32_t asc_lane(struct asc_build *b, struct str pid, struct str tid);
struct asc_op { /* the key of a code row */
	enum ascend_core kind;
	bool is_kind_known;
	uint64_t pc;
	struct str name, detail, code; /* raw JSON strings or plain text */
	uint64_t own;		       /* number + 1 in our own table; 0: not stated */
};
/* Finds or makes the row of an instruction; NO_CODE when out of memory. */
uint32_t asc_code(struct asc_build *b, const struct asc_op *op);
bool asc_add_frames(struct asc_build *b, struct code_row *row, struct str code); /* "a:1\nb:2" */
/* Adds a slice; flags and slices with a group get an extra. NULL when out of memory. */
struct track_slice *asc_add(struct asc_build *b, uint32_t lane, uint32_t code);
/* Finds or makes the extra of a slice; NULL when out of memory. */
struct asc_extra *asc_extra_of(struct asc_build *b, struct track_slice *r, uint32_t lane);
bool asc_set_us(struct asc_build *b, struct track_slice *r, double ts, double dur);
/* Keeps what a slice moved, which must have its extra by then; nothing with IMPORT_TEXT. */
bool asc_set_bytes(struct asc_build *b, struct track_slice *r, uint64_t bytes);
uint64_t asc_bytes_of(const struct asc_build *b, const struct track_slice *r);
/* The key under which a process_name (tid NULL) or thread_name is stored. */
uint64_t asc_name_key(const struct asc_build *b, struct str pid, struct str tid);
/* The key that pairs a flag without id: FIFO per unit and operands; 0: not a flag. */
uint64_t asc_fifo_key(struct asc_build *b, uint32_t lane, enum ascend_sync sync, struct str detail);

#define ASC_COUNTER_SCALE 1000 /* counter values are kept in thousandths */
/* --- finishing --- */
bool asc_finish(struct asc_build *b, struct incore_error *e);
struct asc_links {
	VEC(struct link) v;
};
/* Adds the links of barriers. */
bool asc_link_barriers(struct asc_build *b, struct asc_links *out);
bool asc_merge_csv(struct asc_build *b); /* uses CSV totals, or compares them with API_INSTR */
bool asc_put_code(struct asc_build *b, struct incore_error *e);	  /* code, sources, totals */
bool asc_find_lines(struct asc_build *b, struct incore_error *e); /* from aicore_binary.o */
bool asc_put_throughput(struct asc_build *b, double mhz);	  /* counters from mte logs */
bool asc_count_notes(struct asc_build *b, struct incore_error *e);
/* Sorts slices by (start, end, address, code), without code by (start, end, code). */
void asc_sort_recs(const struct code_row *code, struct track_slice *v, size_t n);
/* If our own tables fit the slices, the trace becomes the one that was exported. */
bool asc_take_own(struct asc_build *b, struct incore_error *e);

/* --- tables: failures latch until asc_table_close() --- */
/* cols: names separated by '|'. */
void asc_table_open(struct asc_build *b, struct asc_table *k, const char *name, const char *origin,
	const char *cols);
void asc_table_column(struct asc_build *b, struct asc_table *k, struct str name);
/* A cell; p NULL: missing. Cells are put in the order of the columns. */
void asc_put(struct asc_build *b, struct asc_table *k, struct str cell);
void asc_putf(struct asc_build *b, struct asc_table *k, const char *fmt, ...) PRINTF_LIKE(3, 4);
void asc_table_drop(struct asc_table *k);
/* Adds the table to the trace if it has rows, and frees it. False when out of memory. */
bool asc_table_close(struct asc_build *b, struct asc_table *k);

/* --- the readers ------------------------------------------------------------------------------ */

bool asc_read_events(struct asc_build *b, struct str bytes, const char *path, uint64_t base,
	struct incore_error *e);
/* Reads the block INSIGHT_TABLES; the bytes must stay valid until asc_deinit(). */
bool asc_read_own(struct asc_build *b, struct str bytes, const char *path, uint64_t base,
	struct incore_error *e);
bool asc_add_source(struct asc_build *b, struct str path, struct str text);
bool asc_read_bin(struct asc_build *b, const struct file_data *f, const char *path, bool with_trace,
	struct incore_error *e);
/* core: "core0.cubecore0" or NULL; as_rows: make code rows from it (there is no other source). */
bool asc_read_instr_csv(struct asc_build *b, struct str bytes, const char *path, const char *core,
	struct incore_error *e);
bool asc_read_code_csv(struct asc_build *b, struct str bytes, const char *path, const char *core,
	struct incore_error *e);
bool asc_read_summary(
	struct asc_build *b, struct str bytes, const char *path, struct incore_error *e);
bool asc_is_summary_name(struct str name);
/* Reads the dumps of a directory; *n_cores of them were usable. */
bool asc_read_dumps(
	struct asc_build *b, const char *dir, uint32_t *n_cores, struct incore_error *e);
bool asc_read_mte_log(struct asc_build *b, struct str bytes, struct str core);
void asc_read_start_pc(struct asc_build *b, const char *path);
bool asc_is_dump_name(struct str name);

/* import_ops.look of all Ascend importers. */
void asc_look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c);

/* The unit named by the path of a per-core file, or NULL. */
const char *asc_unit_of_path(struct arena *a, const char *path);

struct asc_copy {
	const char *path;
	const char *note;    /* code of the note about a difference */
	bool is_same_schema; /* also compare lengths and missing instructions */
};
