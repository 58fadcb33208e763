/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h: where the rows of a table come from. Internal to this folder. Most tables are made as
 * one array of structs when the first batch is read (make); tables that grow with the length of
 * the run fill batches of columns themselves (next).
 */
#pragma once

#include "base/arena.h"
#include "tables/tables.h"

struct table_cursor {
	const struct table *table;
	const struct trace *trace;
	struct table_scan scan;
	struct arena arena;
	int64_t origin_cyc;
	uint32_t n_failed;
	uint32_t n_columns;
	void **vector;	     /* by column: buffer for a batch; NULL: column not wanted */
	const void **column; /* the batch's columns: the vector, or the track's own column */
	struct rows rows;    /* result of make */
	size_t at, end;	     /* range of rows still to return */
	bool is_made, is_by_track, is_by_row; /* rows are in the order of that column */
	void *state;			      /* the source's own, freed by `close` */
	uint32_t n_out;			      /* rows of the batch being filled */
};

struct table_source {
	/* Makes all rows as structs of the table's record, in c->rows, in the arena. */
	bool (*make)(struct table_cursor *c, struct incore_error *e);
	/* Or: writes the next c->n_out rows into the vectors; 0: the end. */
	bool (*next)(struct table_cursor *c, struct incore_error *e);
	void (*close)(
		struct table_cursor *c); /* frees c->state and what `make` kept; may be NULL */
	void (*rewind)(struct table_cursor *c);	     /* restarts `next` from the first row */
	uint64_t (*estimate)(const struct trace *t); /* NULL: about one row per row of code */
};

extern const struct table captures_table, tracks_table, code_table, slices_table, links_table,
	causes_table, producers_table, findings_table, notes_table, metrics_table,
	vendor_rules_table;

static inline bool table_wants(const struct table_cursor *c, unsigned column)
{
	return c->vector[column] != NULL;
}

/* Allocates n rows for `make` and sets c->rows to them; NULL with err_nomem. */
void *table_rows(struct table_cursor *c, size_t n, size_t size, struct incore_error *e);
#define TABLE_ROWS(c, n, T, e) ((struct T *)table_rows((c), (n), sizeof(struct T), (e)))

/* Number of a code row as shown in tables; NO_I64: not known. */
static inline int64_t table_row_of(const struct trace *t, code_idx code)
{
	return code < t->n_code ? t->code[code].number : NO_I64;
}

/* A walk over the tracks that a scan wants, one in memory at a time. */
struct track_walk {
	const struct track_data *data; /* of the current track */
	track_idx next;		       /* next track to consider */
	track_idx loaded;	       /* current track; NO_TRACK: none */
	unsigned less;		       /* columns not needed: bits of TRACK_LESS */
	bool may_be_part; /* slices outside the time limits and outside the code rows */
	code_idx first_code, last_code; /* below are not needed; 0 and UINT32_MAX: any row */
	struct track_data own;		/* the data read last, */
	track_idx held;			/* of this track, */
	unsigned held_less;		/* without these columns, */
	bool has_data;			/* if any: kept after the end of the walk */
};
/* The kept slices of a track, or NULL. */
const struct track_data *table_keep_get(const struct table_keep *k, track_idx i);
/* Stores a copy, if there is room. */
void table_keep_put(struct table_keep *k, track_idx i, const struct track_data *d);
/* Loads the next wanted track and sets w->loaded to its number; NO_TRACK at the end. */
bool track_walk_next(struct track_walk *w, struct table_cursor *c, struct incore_error *e);
/* Offset from the track's clock to the time of tables: cycles since the origin shown everywhere. */
int64_t table_shift(const struct table_cursor *c, track_idx track);
/* Estimates the number of slices without reading a track. */
uint64_t table_count_slices(const struct trace *t);
