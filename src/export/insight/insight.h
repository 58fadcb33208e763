/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight.h: what the writers of a simulator/ directory share: the staging folder, the cores, and
 * what each instruction added up to on each core. See incore-insight(7) for the rules of the reader
 * that it is written for. Owner: the exporter's state, freed by its abort().
 */
#pragma once

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/insight/insight_tables.h"
#include "export/text_out.h"
#include "isa/ascend.h"

struct insight_cell { /* one code row on one core */
	uint64_t hit, cycles, busy, wait;
	uint64_t bytes;	       /* of a sum alone */
	uint64_t ran;	       /* union of all its slices, flags too */
	uint64_t cache, queue; /* head cost */
	uint8_t pipe;	       /* enum ascend_pipe; of the last slice */
};

#define INSIGHT_NO_UNIT UINT32_MAX

struct insight_unit {
	const char *name; /* "core0.cubecore0" */
	struct str said;  /* what the trace calls it */
	uint32_t core, unit;
	enum ascend_core kind; /* as the name says */
};

struct insight_flag { /* a SET or WAIT */
	track_idx track;
	uint32_t slice;
	uint64_t start, end, cache, queue;
	code_idx code;
	uint64_t pair; /* link index + 1; 0: none */
	bool is_wait;
};

struct insight {
	const struct trace *t;
	const struct selection *selection; /* NULL: everything */
	struct arena arena;
	char *target;
	struct out_dir dir; /* is put there */
	size_t n_old_path;  /* of target: its first directory that was made here; 0: none was */
	VEC(struct insight_unit) units;
	size_t n_drawn;		    /* of these have slices; others have stated rows alone */
	uint32_t *unit_of;	    /* by track; INSIGHT_NO_UNIT: not selected */
	struct insight_cell *cells; /* code row * units + unit */
	uint64_t *reach;	    /* by code row: end of its union on the open track */
	uint32_t *reach_track;	    /* whose that is, + 1 */
	const char **row_args;	    /* by code row: "args" without bytes, made on first use */
	uint8_t *is_row_named;	    /* by code row: only its number tells it from another */
	uint64_t *track_hash;	    /* by track, of its slices */
	uint32_t n_hashed;
	struct u64_map pair_of;		/* track << 32 | slice -> link + 1 */
	VEC(struct insight_flag) flags; /* of the open unit */
	VEC(struct insight_flag) cross; /* whose partner is on another unit */
	const char **paths;		/* by source: as all files name it */
	uint8_t *has_block;		/* by source: it has text or lines */
	struct insight_stated instr, stated_lines;
	VEC(struct insight_use) uses; /* by source, line and code */
	uint64_t n_lines;
	FILE *trace_file, *core_file;
	struct text_out trace, core;
	bool has_event, has_core_event, is_core_open;
	uint32_t open_unit;
	uint64_t n_ids, n_groups;
	bool is_cycles; /* no clock: 1 cycle is written as 0.001 us */
	uint64_t n_moved_samples, n_sources_left, n_flows, n_links, n_cross;
	uint64_t n_stated_left, n_rows_left, n_places_left, n_details_left, n_bytes_replaced;
};

/* --- insight_text.c: pieces of JSON --- */
void insight_put_us(struct insight *s, struct text_out *o, uint64_t cyc);
/* args of a row up to, not including, its closing brace; NULL on lack of memory. */
const char *insight_row_args(struct insight *s, code_idx code);
struct str insight_opcode(const struct insight *s, code_idx code);
/* What its events are called: the opcode, of a miss its address, of a mark its number, too. */
struct str insight_event_name(const struct insight *s, code_idx code);
/* Is it an instruction, not a miss or a mark? */
bool insight_is_instruction(const struct insight *s, code_idx code);
/* Names all sources: UTF-8, no character that the viewer refuses, distinct. */
bool insight_make_paths(struct insight *s);
/* Appends text; what is no UTF-8 becomes U+FFFD. The number of such bytes. */
uint64_t insight_put_utf8(struct strbuf *b, struct str text);
uint64_t insight_row_bytes(const struct insight *s, code_idx code, uint32_t unit);

/* --- insight_trace.c: trace.json --- */
bool insight_begin_trace(struct insight *s, struct incore_error *e);
bool insight_put_track(struct insight *s, const struct export_track *k, struct incore_error *e);
bool insight_end_unit(struct insight *s, struct incore_error *e);
void insight_put_counter(
	struct insight *s, const struct counter_series *c, uint64_t time, uint64_t value);
bool insight_end_trace(struct insight *s, struct incore_error *e);

/* --- insight_core.c: <core>/trace.json and the CSV files --- */
bool insight_begin_core(struct insight *s, uint32_t unit, struct incore_error *e);
bool insight_put_core_track(
	struct insight *s, const struct export_track *k, struct incore_error *e);
bool insight_end_core(struct insight *s, struct incore_error *e);

/* --- insight_own.c: what brings the same trace back --- */
/* Finds the rows that events have to name by their number. */
bool insight_find_named(struct insight *s);
/* Must an event of this row on this unit say its number? */
bool insight_is_named(const struct insight *s, code_idx code, uint32_t unit);
void insight_hash_track(struct insight *s, const struct export_track *k);
/* The block of tables, with free(); *n is 0 where not all pipes were written. */
bool insight_own_bytes(struct insight *s, char **bytes, size_t *n, struct incore_error *e);

/* --- insight_bin.c --- */
bool insight_write_bin(struct insight *s, struct incore_error *e);

/* --- insight_dir.c --- */
bool insight_dir_begin(struct insight *s, const char *path, struct incore_error *e);
/* A new file (mode 0640) below the staging folder; dir may be NULL. */
FILE *insight_file(struct insight *s, const char *dir, const char *name, struct incore_error *e);
bool insight_dir_commit(struct insight *s, struct incore_error *e);
void insight_dir_abort(struct insight *s);
