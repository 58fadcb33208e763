/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight.h: shared by the writers of a simulator/ directory: the staging folder, the cores, and
 * the sums of each instruction on each core. See incore-insight(7) for the rules of the reader that
 * it is written for. Owner: the exporter's state, freed by its abort().
 *
 * More than 150 lines because the writers of five kinds of files share one state.
 */
#pragma once

#include "base/map.h"
#include "base/mem.h"
#include "base/vec.h"
#include "export/export.h"
#include "export/text_out.h"
#include "isa/ascend.h"

struct insight_cell { /* one code row on one core */
	uint64_t hit, cycles, busy, wait;
	uint64_t bytes;	       /* moved, as the slices state */
	uint64_t ran;	       /* union of all its slices, including flags */
	uint64_t cache, queue; /* head cost */
	uint8_t pipe;	       /* enum ascend_pipe; of the last slice */
};

#define INSIGHT_NO_UNIT UINT32_MAX
#define INSIGHT_TABLE_BYTES ((size_t)100 << 20)

struct insight_unit {
	const char *name; /* "core0.cubecore0" */
	struct str said;  /* its name in the trace */
	uint32_t core, unit;
	enum ascend_core kind; /* according to the name */
};

struct insight_flag { /* a SET or WAIT */
	track_idx track;
	uint32_t slice;
	uint64_t start, end, cache, queue;
	code_idx code;
	uint64_t pair; /* link index + 1; 0: no link */
	bool is_wait;
	bool is_copy; /* for another line of a flag that is written already: without length */
};

enum insight_dtype { /* types of columns, as numbered by the viewer */
	INSIGHT_HIDDEN = 0,
	INSIGHT_INT = 1,
	INSIGHT_FLOAT = 2,
	INSIGHT_TEXT = 3,
	INSIGHT_PERCENT = 4,
	INSIGHT_JSON = 5,
	INSIGHT_DETAILS = 100,
};

/* Rows of a stated table for the same instruction or line on different cores. */
struct insight_group {
	uint32_t first, n;
	uint64_t number;   /* address or line */
	source_idx source; /* of a line; NO_SOURCE: not known */
};

/* What the producer stated per instruction (API_INSTR) or per line (API_FILE). */
struct insight_stated {
	const struct named_table *k; /* NULL: nothing stated */
	enum insight_dtype *dtype;   /* by column */
	uint32_t *unit;		     /* by row; INSIGHT_NO_UNIT: its unit is not written */
	VEC(struct insight_group) groups;
};

struct insight_use { /* a code row that belongs to a line, or the line's stated figures */
	source_idx source;
	uint32_t line;
	code_idx code;			    /* NO_CODE: stated figures */
	const struct insight_group *stated; /* or NULL */
};

struct insight {
	const struct trace *t;
	const struct selection *selection; /* NULL: everything */
	struct arena arena;
	char *target;
	struct out_dir dir; /* moved to target on commit */
	size_t n_old_path;  /* length of target up to the first directory created here; 0: none */
	VEC(struct insight_unit) units;
	size_t n_drawn;		    /* units with slices; the others only have stated rows */
	uint32_t *unit_of;	    /* by track; INSIGHT_NO_UNIT: not selected */
	struct insight_cell *cells; /* code row * units + unit */
	uint64_t *reach;	    /* by code row: end of its union on the current track */
	uint32_t *reach_track;	    /* track of reach, + 1 */
	const char **row_args;	    /* by code row: "args" without bytes, made on first use */
	uint8_t *is_row_named;	    /* by code row: only its number identifies it */
	uint64_t *track_hash;	    /* by track: hash of its slices */
	uint32_t n_hashed;
	struct trace shown;		/* t, if a text of it had to be made UTF-8 */
	struct u64_map end_of;		/* track << 32 | slice -> first of its ends of links + 1 */
	uint32_t *next_end;		/* by 2 * link + (is it the WAIT?): the next end + 1 */
	struct u64_map shared_ids;	/* track << 32 | slice -> id of a flag with several lines */
	VEC(struct insight_flag) flags; /* of the current unit */
	VEC(struct insight_flag) cross; /* flags whose partner is on another unit */
	const char **paths;		/* by source: its path in all files */
	uint8_t *has_block;		/* by source: it has text or lines */
	struct insight_stated instr, stated_lines;
	uint32_t *order;   /* by place in the lists of cores: the unit */
	size_t most_bytes; /* of a table; the viewer shows a larger one as an empty panel */
	VEC(struct insight_use) uses; /* by source, line and code */
	uint64_t n_lines;
	FILE *trace_file, *core_file;
	struct text_out trace, core;
	bool has_event, has_core_event, is_core_open;
	uint32_t open_unit;
	uint64_t n_ids, n_groups;
	bool no_sources;
	bool is_cycles; /* no clock: 1 cycle is written as 0.001 us */
	uint64_t n_moved_samples, n_sources_left, n_flows, n_links, n_cross;
	uint64_t n_stated_left, n_rows_left, n_columns_left, n_places_left, n_details_left,
		n_bytes_replaced;
};

/* --- insight_text.c: pieces of JSON --- */
void insight_put_us(struct insight *s, struct text_out *o, uint64_t cyc);
/* args of a row up to, not including, its closing brace; NULL on lack of memory. */
const char *insight_row_args(struct insight *s, code_idx code);
struct str insight_opcode(const struct insight *s, code_idx code);
/* Name of a row's events: the opcode; with the address for a miss, the number for a mark. */
struct str insight_event_name(const struct insight *s, code_idx code);
/* Is it an instruction, not a miss or a mark? */
bool insight_is_instruction(const struct insight *s, code_idx code);
/* Replaces s->t by a copy whose opcodes, operands and cells are UTF-8, if they are not. */
bool insight_make_texts(struct insight *s);
/* Names all sources: UTF-8, without characters that the viewer rejects, unique. */
bool insight_make_paths(struct insight *s);
/* Appends text as UTF-8: what is GBK is converted, of anything else bytes that are not UTF-8
 * become U+FFFD. Returns the number of bytes that were lost. */
uint64_t insight_put_utf8(struct strbuf *b, struct str text);
uint64_t insight_row_bytes(const struct insight *s, code_idx code, uint32_t unit);

/* --- insight_trace.c: trace.json --- */
bool insight_begin_trace(struct insight *s, struct incore_error *e);
bool insight_put_track(struct insight *s, const struct export_track *k, struct incore_error *e);
bool insight_end_unit(struct insight *s, struct incore_error *e);
void insight_put_counter(
	struct insight *s, const struct counter_series *c, uint64_t time, uint64_t value);
bool insight_end_trace(struct insight *s, struct incore_error *e);

/* <core>/trace.json and the CSV files */
bool insight_begin_core(struct insight *s, uint32_t unit, struct incore_error *e);
bool insight_put_core_track(
	struct insight *s, const struct export_track *k, struct incore_error *e);
bool insight_end_core(struct insight *s, struct incore_error *e);

/* --- insight.c: the folder, and data to restore the same trace --- */
/* A new file (mode 0640) below the staging folder; dir may be NULL. */
FILE *insight_file(struct insight *s, const char *dir, const char *name, struct incore_error *e);
/* Must an event of this row on this unit contain its number? */
bool insight_is_named(const struct insight *s, code_idx code, uint32_t unit);
void insight_hash_track(struct insight *s, const struct export_track *k);
/* Makes the block of tables, to be freed with free(); *n is 0 if not all pipes were written. */
bool insight_own_bytes(struct insight *s, char **bytes, size_t *n, struct incore_error *e);

/* --- insight_details.c: appends the block of a type from 0x05 to 0x0F, if there is one --- */
bool insight_put_detail(struct insight *s, unsigned type, struct strbuf *out);

/* --- insight_bin.c: visualize_data.bin --- */
/* Reads the tables that the producer stated; false only on lack of memory. */
bool insight_read_stated(struct insight *s);
bool insight_write_bin(struct insight *s, struct incore_error *e);
