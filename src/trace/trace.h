/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace.h: THE TRACE. Read this file first.
 *
 * One `struct trace` is one execution of one kernel, whatever recorded it. An importer builds it,
 * then it is sealed: immutable, shared by all threads. What it holds:
 *
 *	meta	 who, where, on what, with which clock, and what kind of evidence this is
 *	code	 the static instruction table, with the totals its producer stated (never mixed
 *		 with ours)
 *	sources	 files that code rows point at
 *	clocks	 one per clock domain (an AMD shader engine): how its cycles map to the trace's
 *	tracks	 lanes of execution (an AMD wave, an Ascend pipe); none for sampled data
 *	occupancy, dispatches, counters, markers, links, stated series: side tables, may be empty
 *	notes	 everything lost, truncated, guessed, clamped or contradictory that the import saw
 *
 * What happened ON a track (its slices and states) is not held here: trace_load_track() loads one
 * track at a time into a buffer of the caller's, from the original file, from a packed file or from
 * memory. So an analysis of one track at a time needs the memory of one track, however large the
 * capture.
 *
 * Times are unsigned 64-bit cycles of the track's own clock domain; trace_aligned() converts them
 * to the trace clock. Microseconds exist only at the edge (meta.clock_hz).
 *
 * Owner: the trace owns everything reachable from it (one arena) and trace_free() frees it all.
 * Strings end in NUL.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/arena.h"
#include "base/error.h"
#include "base/note.h"
#include "base/str.h"
#include "trace/class.h"

typedef uint32_t code_idx;
typedef uint32_t track_idx;
typedef uint32_t source_idx;
typedef uint32_t clock_idx;
#define NO_CODE UINT32_MAX
#define NO_TRACK UINT32_MAX
#define NO_SOURCE UINT32_MAX
#define NO_CLOCK UINT32_MAX
#define NO_VALUE INT64_MIN /* a number the capture does not give */

enum vendor { VENDOR_UNKNOWN, VENDOR_AMD, VENDOR_ASCEND, VENDOR_NVIDIA };

enum evidence {
	EVIDENCE_UNKNOWN,
	EVIDENCE_HARDWARE_TRACE,
	EVIDENCE_HARDWARE_SAMPLE,
	EVIDENCE_VENDOR_SIMULATOR,
	EVIDENCE_ESTIMATE,
	EVIDENCE_SYNTHETIC,    /* made up by a generator: no machine, no model of one */
	EVIDENCE_INSTRUMENTED, /* the kernel was changed so that it records itself */
};
/* The words of an enumeration, by value; NULL ends. */
extern const char *const evidence_words[], *const vendor_words[], *const state_words[],
									  *const code_link_words[];
const char *evidence_name(enum evidence ev); /* "hardware-trace", ... */
enum evidence evidence_of(struct str name);  /* EVIDENCE_UNKNOWN for any other word */
const char *vendor_name(enum vendor v);	     /* "amd", ... */

/* The machine and the launch, as stated in side files; NO_VALUE if unknown. */
struct trace_machine {
	int64_t simds;		/* of the whole device */
	int64_t cus, ses, xccs; /* compute units, shader engines (all XCCs), dies */
	int64_t max_waves_per_simd;
	int64_t lds_bytes_per_cu;
	int64_t wave_size;
	int64_t max_clock_mhz;
	const char *product; /* or NULL */
};

struct trace_launch {
	int64_t agent, dispatch; /* from the directory name: agent handle, process-wide dispatch
				    id */
	int64_t kernel_id;
	int64_t launch_index, launch_count; /* launch k (1-based) of n of this kernel id */
	int64_t vgprs, accum_vgprs, sgprs, lds_bytes,
		scratch_bytes;	       /* as the producer states them */
	int64_t workgroup[3], grid[3]; /* work-items */
	int64_t workgroups, waves;     /* launched in all, computed from the above */
	int64_t start_ns, end_ns; /* from the kernel trace; may be another run: see is_other_run */
	bool is_other_run;	  /* the kernel trace belongs to a discovery run */
	const char *command;	  /* command line or NULL; never host names */
};

struct trace_meta {
	enum vendor vendor;
	enum evidence evidence;
	const char *format;	    /* import_ops name: "ui_output", "incore" */
	const char *format_version; /* as stated in the files, or NULL */
	const char *origin;	    /* path as the user gave it */
	const char *kernel;	    /* symbol, or NULL if unknown */
	const char *arch;	    /* "gfx950", or "gfx9" when only the family is known */
	const char *arch_source;    /* where arch comes from: "agent_info", "filenames.json", ... */
	unsigned gfx_major;	    /* 9, 10, 11, 12; 0: not AMD */
	uint64_t clock_hz_num, clock_hz_den; /* trace clock as an exact fraction; den 0: unknown */
	const char *clock_source;	     /* "realtime.json", or NULL */
	unsigned clock_quantum;	  /* all times are multiples of this: 4 on gfx9, else 1 */
	bool is_from_us;	  /* cycles were computed from microseconds: as exact as the
				     clock */
	int64_t target_cu;	  /* the CU with instruction detail, or NO_VALUE */
	uint64_t content_hash[2]; /* for a packed file; 0,0 otherwise */
	uint64_t code_key;	  /* equal for equal code of the same input format; 0: unknown */
	struct trace_machine machine;
	struct trace_launch launch;
};

/* --- code --- */

struct frame { /* one link of an inline chain */
	source_idx source;
	uint32_t line; /* 1-based */
};

struct code_totals {
	uint64_t hit, latency, stall, idle;
};
static inline bool code_totals_differ(const struct code_totals *a, const struct code_totals *b)
{
	return a->hit != b->hit || a->latency != b->latency || a->stall != b->stall ||
	       a->idle != b->idle;
}

/* PC samples of a row; the stall reasons are in trace.reason_counts. */
struct code_samples {
	uint64_t issued, stalled;
};

struct reason_count {
	uint64_t all;	     /* samples that found the row stalled for this reason */
	uint64_t not_issued; /* those during which its scheduler issued nothing: exposed */
};

/* The reasons of AMD's PC samples: used, in this order, for files with counts but no names. */
#define AMD_STALL_REASONS 10
extern const char *const amd_stall_reasons[AMD_STALL_REASONS];

struct trace_sampling {
	uint64_t period_cyc; /* between two samples of one sampler; 0: samples are only counts */
	uint64_t n_dropped;  /* bytes or samples lost, as stated by the producer */
	bool has_not_issued; /* reason_count.not_issued is known */
};

/* A figure that the producer gives per row, besides samples: sectors, wavefronts, ... */
struct code_metric {
	const char *name;
	uint32_t n;
	const code_idx *row; /* rising */
	const uint64_t *value;
	bool is_real; /* value holds the bits of a double */
};

/* What follows from the code alone: which rows a row can have waited for, where it can go. */
enum code_link_kind {
	CODE_LINK_WRITE,    /* scoreboard: the result of `to` was not ready */
	CODE_LINK_READ,	    /* scoreboard: `to` had not read its sources */
	CODE_LINK_COUNT,    /* a wait until few are left on a scoreboard */
	CODE_LINK_GROUP,    /* a group of asynchronous copies */
	CODE_LINK_BULK,	    /* copies of the copy engine */
	CODE_LINK_WGMMA,    /* asynchronous matrix instructions */
	CODE_LINK_MBARRIER, /* `to` arrives at barriers in memory */
	CODE_LINK_BARRIER,  /* `to` arrives at the same barrier */
	CODE_LINK_STALL,    /* the stall count of the instruction before */
	CODE_LINK_REGISTER, /* fixed latency: `to` wrote what is read here */
	CODE_LINK_JUMP,	    /* goes to `to` or to the next row */
	CODE_LINK_GOTO,	    /* goes to `to` */
	CODE_LINK_END,	    /* the target is unknown; to is the row itself */
	CODE_LINK_KINDS
};
#define NO_REASON UINT32_MAX

struct code_link { /* sorted by (row, kind, reason, to) */
	code_idx row, to;
	uint32_t kind;	 /* enum code_link_kind */
	uint32_t reason; /* of the samples it explains: index into trace.reasons, or NO_REASON */
};

struct code_row {
	const char *text; /* disassembly; a label row reads "; name" */
	uint32_t text_len;
	uint32_t opcode; /* index into trace.opcodes: the first word of the text */
	int64_t number;	 /* the producer's line number, the key of wave records */
	uint64_t address;
	uint32_t code_object;
	bool is_label;	    /* not an instruction: a symbol's name */
	uint8_t inst_class; /* enum inst_class by text; a slice's own class takes precedence */
	uint16_t n_frames;
	uint32_t first_frame;	   /* into trace.frames, innermost first */
	const char *source;	   /* the producer's own source string, "" if none (facts and legacy
				      reports group by it) */
	struct code_totals stated; /* the producer's; zero if it states none */
	uint64_t bytes;		   /* moved by all its executions; 0: not stated */
};

struct source_file {
	const char *path;     /* as in the debug info */
	const char *snapshot; /* name of the copy in the capture, or NULL */
	const char *text;     /* content of the copy, or NULL */
	size_t text_len;
	uint32_t n_lines; /* of the copy; 0 if none */
};

/* --- time --- */

struct clock_domain {
	uint32_t id;		 /* AMD: shader engine number */
	bool is_aligned;	 /* offset is known */
	int64_t offset_cyc;	 /* add to this domain's time to get trace time */
	uint64_t hz_num, hz_den; /* of this domain; den 0: unknown */
	uint32_t n_samples;	 /* pairs (gfx clock, realtime clock) */
	const int64_t (*samples)[2];
};

/* --- tracks --- */

#define TRACK_LEVELS 5 /* AMD: se, cu, simd, slot, wave; Ascend: core, unit, pipe */

/* A leaf of the track tree, given as the path to it: coord[i] is its number on level i of
 * trace.levels. */
struct track {
	uint32_t coord[TRACK_LEVELS];
	clock_idx clock;
	uint32_t n_slices; /* as stated, before loading; 0 if unknown */
	uint64_t begin_cyc, end_cyc;
	uint32_t kernel_id; /* of occupancy's dispatch list, or UINT32_MAX */
	const char *name;   /* file or lane name for messages: "se0_sm2_sl0_wv0.json" */
	int64_t workgroup;  /* or NO_VALUE */
};

enum track_want { /* what trace_load_track() should load besides slices */
	TRACK_STATES = 1,
	TRACK_STATED_WAITS = 2,
	TRACK_NO_SLICES = 4,
	/* Columns of slices that the caller does not need: a loader may leave them unset. */
	TRACK_NO_START = 8,
	TRACK_NO_LENGTH = 16, /* durations and stalls */
	TRACK_NO_CODE = 32,
	TRACK_NO_CLASS = 64,
	TRACK_NO_TAG = 128,
	TRACK_LESS = 248, /* all of these */
};

enum wave_state {
	STATE_EMPTY = 0,
	STATE_IDLE = 1,
	STATE_EXEC = 2,
	STATE_WAIT = 3,
	STATE_STALL = 4,
	STATE_COUNT
};

/* One stated wait: the producer says that code row `wait` waited for `n` rows. */
struct stated_wait {
	code_idx wait;
	uint32_t first, n; /* into track_data.stated_producers */
};

/* The slices that a caller needs. Limits are inclusive; first must not exceed last. */
struct slice_filter {
	uint64_t first_cyc, last_cyc;	/* their starts; 0 and UINT64_MAX: any */
	code_idx first_code, last_code; /* their rows; 0 and UINT32_MAX: any, unknown ones too */
};

/*
 * The content of one track, columns of equal length, sorted by start. Times are absolute in the
 * track's clock domain. Owner: the caller; zero it first, reuse it for the next track,
 * track_data_deinit() at the end. At most 22 bytes a slice, 26 with a filter.
 */
struct track_data {
	uint32_t n;
	uint64_t *start_cyc;
	uint32_t *dur_cyc;   /* stall + issue */
	uint32_t *stall_cyc; /* <= dur_cyc; cycles before issue */
	code_idx *code;	     /* NO_CODE: pc not in any known code object */
	uint8_t *inst_class; /* enum inst_class */
	uint8_t *tag; /* the producer's own category number; AMD: 7 branch taken, 8 not taken */
	uint32_t cap;
	/* Set by the caller; NULL: all slices. A loader may leave out slices that do not pass the
	 * filter, but no others; is_part says that it did. */
	const struct slice_filter *filter;
	bool is_part;
	uint32_t *number; /* with is_part: number of each slice on its track, from 0 */
	uint32_t numbers_cap;

	uint32_t n_states; /* run-length from track.begin_cyc */
	uint8_t *state;	   /* enum wave_state */
	uint32_t *state_dur_cyc;
	uint32_t states_cap;

	uint32_t n_stated_waits;
	struct stated_wait *stated_waits;
	uint32_t stated_waits_cap;
	uint32_t n_stated_producers;
	code_idx *stated_producers;
	uint32_t stated_producers_cap;

	/* Findings while loading this track; the walk turns them into notes. */
	uint32_t n_unknown_code;     /* records that name no known row (also those of unknown pc) */
	uint64_t begin_cyc, end_cyc; /* as this track's own file says */
	uint32_t stated_slices;	     /* number of records its file states */
	uint32_t coord_file[TRACK_LEVELS]; /* coordinates its file states */

	void *loader_scratch; /* owned by the loader; freed through loader_free */
	void (*loader_free)(void *scratch);
};

/* A slice as readers make them. */
struct track_slice {
	uint64_t start;
	uint32_t dur, stall; /* cycles */
	code_idx code;
	uint8_t inst_class, tag;
	uint8_t flags; /* the reader's own */
};

bool track_data_reserve(struct track_data *d, uint32_t n_slices);
/* Appends a slice, for which there must be room. */
static inline void track_data_put(struct track_data *d, const struct track_slice *s)
{
	uint32_t i = d->n++;

	d->start_cyc[i] = s->start;
	d->dur_cyc[i] = s->dur;
	d->stall_cyc[i] = s->stall;
	d->code[i] = s->code;
	d->inst_class[i] = s->inst_class;
	d->tag[i] = s->tag;
	d->n_unknown_code += s->code == NO_CODE;
}
bool track_data_reserve_numbers(struct track_data *d); /* for the reserved slices */
bool track_data_reserve_states(struct track_data *d, uint32_t n);
bool track_data_reserve_stated(struct track_data *d, uint32_t n_waits, uint32_t n_producers);
void track_data_reset(struct track_data *d); /* keeps memory */
void track_data_deinit(struct track_data *d);
/* The loader's own memory of that size, zeroed at first; drop() frees it. NULL: out of memory. */
void *track_scratch(struct track_data *d, size_t size, void (*drop)(void *scratch));

/* --- side tables --- */

struct occupancy_event {
	uint64_t time_cyc;
	clock_idx clock;
	uint16_t cu;
	uint8_t simd, slot;
	uint32_t kernel_id;
	uint8_t is_start;
	uint8_t me, pipe;	    /* 0 if the format has none */
	uint8_t workgroup, cluster; /* they wrap: 7 and 5 bits */
};

struct kernel_name {
	uint32_t id;
	const char *name;
};

struct dispatch_event { /* occupancy 3.1.0 "events" */
	uint64_t time_cyc;
	clock_idx clock;
	bool is_dispatch; /* else a hardware event of `type` */
	uint32_t type;	  /* 6 packet loss, 9 / 10 thread-trace stall begin / end, ... */
	uint32_t me, pipe, kernel_id, flags;
	const char *kernel_name;
	int64_t vgprs, sgprs, lds_bytes;
	int64_t thread_dim[3];
};

struct counter_series {
	const char *name; /* "SQ_BUSY_CU_CYCLES" or "NAME:mask" */
	clock_idx clock;
	uint32_t cu; /* UINT32_MAX: of the whole domain */
	uint32_t n;
	const uint64_t *time_cyc;
	const uint64_t *value; /* increment since the last sample; with a unit: a level */
	const char *unit;      /* NULL: events; "MB/s": the values are levels of this unit */
	uint32_t per_unit;     /* with a unit: value / per_unit gives it */
};

struct marker { /* s_ttracedata and the like */
	uint64_t time_cyc;
	uint64_t value;
	clock_idx clock;
	uint16_t cu;
	uint8_t simd, slot, flags;
};

struct other_issue { /* issue on a SIMD without detail (gfx10+) */
	uint64_t time_cyc;
	uint32_t dur_cyc;
	uint32_t category;
	clock_idx clock;
};

struct stated_series {	/* wstates<k>.json, all SEs pooled on unaligned clocks */
	uint32_t state; /* enum wave_state */
	uint32_t n;
	const uint64_t *time_cyc;
	const uint32_t *count;
};

enum link_kind { LINK_FLAG, LINK_BARRIER, LINK_CROSS_CORE, LINK_FLOW };
struct link { /* importers of pipes sort them by (to_track, to_slice) */
	track_idx from_track, to_track;
	uint32_t from_slice, to_slice;
	enum link_kind kind;
};

/* How the stall_cyc of a slice (Ascend head cost) splits; sorted by (track, slice). */
struct head_cost {
	track_idx track;
	uint32_t slice;
	uint32_t cache_cyc; /* instruction cache miss; the rest of stall_cyc is the issue queue */
};

/* What one slice moved, where its producer says so; sorted by (track, slice). */
struct slice_bytes {
	track_idx track;
	uint32_t slice;
	uint64_t bytes;
};

/*
 * A table given by the producer that no analysis interprets as a whole: details of an on-device
 * run, rows of a CSV file, the blocks of a container. Numbers are kept as written.
 */
struct named_table {
	const char *name;   /* isa/ascend.h: ASCEND_TABLE_... */
	const char *origin; /* file or block that contains it */
	uint32_t n_cols, n_rows;
	const char *const *cols;
	const char *const *cells; /* n_rows * n_cols, row after row; NULL: missing */
};

/* --- the trace --- */

/* A name stored in a table that not every question reads. */
struct table_name {
	unsigned tables;     /* enum import_want; 0: known without any */
	const char *without; /* the name if these were not read */
};

struct trace;

struct track_loader {
	/* *d is empty; its begin, end and coordinates are those of the track. */
	bool (*load)(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
		struct incore_error *e);
	void (*close)(void *ctx);
	/* Announces that tracks will be loaded more than once; may be NULL. See
	 * trace_keep_tracks(). */
	void (*keep)(struct trace *t);
};

/* Lends slices that are already in memory (lend.h); false: use the loader. *d is as the loader gets
 * it, and is left so if false. */
struct track_lender {
	bool (*load)(const struct track_lender *self, const struct trace *t, track_idx i,
		unsigned want, struct track_data *d);
};

struct trace {
	struct arena arena;
	struct trace_meta meta;

	uint32_t n_code;
	struct code_row *code;
	struct code_samples *samples;	    /* one per code row, or NULL: no PC sampling */
	uint32_t n_reasons;		    /* 0 without samples */
	const char *const *reasons;	    /* names of stall reasons; issued samples have none */
	struct reason_count *reason_counts; /* n_code * n_reasons, row after row */
	struct trace_sampling sampling;
	uint32_t n_metrics;
	struct code_metric *metrics; /* names may not repeat */
	uint32_t n_code_links;
	struct code_link *code_links;
	bool has_stated_totals; /* code rows carry the producer's totals */
	uint32_t n_opcodes;
	const char **opcodes;
	uint32_t n_frames;
	struct frame *frames;
	uint32_t n_sources;
	struct source_file *sources;

	uint32_t n_clocks;
	struct clock_domain *clocks;
	uint32_t reference_clock; /* the domain whose offset is 0; NO_CLOCK if none is aligned */

	const char *levels[TRACK_LEVELS]; /* "se", "cu", ...; NULL ends */
	uint32_t n_tracks;
	struct track *tracks; /* sorted by coord */
	struct track_loader loader;
	void *loader_ctx;
	struct trace_text *text; /* positions of the slices in their file (trace_text.h), or NULL */

	uint32_t n_occupancy;
	struct occupancy_event *occupancy; /* sorted by (clock, time), ties in file order */
	uint32_t n_kernel_names;
	struct kernel_name *kernel_names; /* sorted by id */
	uint32_t n_dispatch_events;
	struct dispatch_event *dispatch_events;
	uint32_t n_counter_names;
	const char **counter_names; /* as the manifest lists them */
	uint32_t n_counters;
	struct counter_series *counters;
	uint32_t n_markers;
	struct marker *markers;
	uint32_t n_other_issues;
	struct other_issue *other_issues;
	uint32_t n_stated_series;
	struct stated_series *stated_series;
	uint32_t n_links;
	struct link *links;
	uint32_t n_heads;
	struct head_cost *heads;
	uint32_t n_moved; /* 0: code rows may still have sums */
	struct slice_bytes *moved;
	uint32_t n_tables;
	struct named_table *tables; /* in the order they were found; names may repeat */
	uint32_t n_notes;
	struct note *notes;
	struct table_name kernel_from, arch_from; /* for meta.kernel, meta.arch */
	const char *read_from;			  /* the path it was read from, or NULL */
	uint64_t read_at;			  /* map_guard_now() before reading */
	const struct file_fence *fence; /* for paths named in it; owned by the reader, or NULL */
	unsigned reading;		/* private: tables being read, recorded by trace_note() */
	unsigned n_shares;		/* private: owners besides the first */
	const struct track_lender *lender; /* private: or NULL; atomic */
};

void trace_free(struct trace *t);
/* Adds an owner: trace_free() frees only when every owner has called it. Any thread. */
void trace_share(struct trace *t);
/* Keeps what is opened to load tracks, up to a limit, because they will be loaded more than once.
 * Does nothing to a shared trace. */
void trace_keep_tracks(struct trace *t);

/* Loads track i into *d (reset first). Thread-safe for different *d. */
bool trace_load_track(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e);
/* After such an error, is the whole trace unusable? (A damaged track leaves the others usable.) */
bool track_error_is_fatal(const struct incore_error *e);

static inline int64_t trace_aligned(const struct trace *t, clock_idx c, uint64_t time_cyc)
{
	return (int64_t)time_cyc + (c < t->n_clocks ? t->clocks[c].offset_cyc : 0);
}

/* The name to use if these tables were read. */
static inline const char *table_name_get(const char *name, struct table_name from, unsigned want)
{
	return from.tables & ~want ? from.without : name;
}

/* The counts of a row, one per reason. */
static inline const struct reason_count *trace_reasons_of(const struct trace *t, code_idx i)
{
	return &t->reason_counts[(size_t)i * t->n_reasons];
}
/* Are its reasons those of AMD, in their order? */
bool trace_has_amd_reasons(const struct trace *t);
/* Links of a row: *n of them from the pointer returned. */
const struct code_link *trace_links_of(const struct trace *t, code_idx row, uint32_t *n);
/* Allocates samples and counts for n named reasons in the trace's arena; the names are borrowed.
 * False on lack of memory. */
bool trace_make_samples(struct trace *t, const char *const *reasons, uint32_t n);
/* Trace clock in MHz, 0 when unknown. */
double trace_clock_mhz(const struct trace *t);
/* The instruction cache's part of a slice's head cost. */
uint32_t trace_cache_cyc(const struct trace *t, track_idx track, uint32_t slice);
/* What a slice moved; 0: nothing, or not stated. */
uint64_t trace_moved_bytes(const struct trace *t, track_idx track, uint32_t slice);
/* The first table of that name, or NULL; its cell by column name, or NULL where missing. */
const struct named_table *trace_find_table(const struct trace *t, const char *name);
const char *named_table_cell(const struct named_table *k, uint32_t row, const char *column);
/* "a.py:12" of frame i of a row, or of the whole chain "inner -> outer"; appended to out. */
bool trace_put_frame(const struct trace *t, const struct frame *f, struct strbuf *out);

/* Adds a note while building (printf-like message copied into the arena). False on lack of memory.
 */
bool trace_note(struct trace *t, const char *code, const char *path, uint64_t offset,
	uint64_t count, const char *fmt, ...) PRINTF_LIKE(6, 7);
/* Another kind than the row of the code has: one case is milder, or a file states the kind. */
bool trace_note_as(struct trace *t, enum note_kind kind, const char *code, const char *path,
	uint64_t offset, uint64_t count, const char *fmt, ...) PRINTF_LIKE(7, 8);

/* A launch of which nothing is known. */
struct trace_launch trace_no_launch(void);
/* A new empty trace with all NO_VALUE fields set; NULL on lack of memory. */
struct trace *trace_new(void);
/* Checks the invariants that analyses rely on (indices in range, tracks sorted, names set). An
 * importer calls it last. */
bool trace_seal(struct trace *t, struct incore_error *e);
