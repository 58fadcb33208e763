/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h: the one list of tables that a trace is outside of it: for SQL, the SQLite file, Parquet
 * and the store. A table has described columns (codec/column.h, flat: no records, no lists); a
 * cursor over an open trace gives its rows in batches, a vector a column.
 *
 *	struct table_scan scan = TABLE_SCAN_ALL;
 *	struct table_cursor *c = table_open(table_find("slices"), trace, &scan, e);
 *	while (c && table_next(c, &batch, e) && batch.n)
 *		use ((const uint32_t *)batch.column[i])[row]; NULL where column i was not asked for
 *	table_close(c);
 *
 * Rows come in the same order for any number of threads: slices by track and slice, links by the
 * track and slice of their end, the rest as the verbs give them.
 * Owner: the caller owns the cursor; a batch is valid until the next call; its texts as long as the
 * cursor. The trace must outlive it. Memory: one track and one batch for slices and links; the
 * other tables are as large as the code of the kernel, not as its run.
 * May fail: memory, a trace of which nothing more can be had. A damaged track is left out and
 * counted (table_failed()). Threads: a cursor belongs to one thread; any number over one trace.
 */
#pragma once

#include "base/pool.h"
#include "base/progress.h"
#include "codec/record.h"
#include "trace/trace.h"

/* Columns that a scan can be limited on, by name, in the tables that have them. */
#define TABLE_CAPTURE "capture"
#define TABLE_TRACK "track"
#define TABLE_SLICE "slice"
#define TABLE_ROW "row"
#define TABLE_TIME "start"

struct table_source;

struct table {
	const char *name, *doc;
	const struct record *record;	   /* columns of scalar types and texts; at most 64 */
	unsigned want;			   /* enum import_want: tables of the trace that it needs */
	bool has_lasting_texts;		   /* they outlive the cursor: as long as the trace */
	const struct table_source *source; /* private */
};

extern const struct table *const table_list[]; /* NULL ends; the order that they are written in */
const struct table *table_find(const char *name);
/* Place of a column in the table's record; -1: there is none. */
int table_column(const struct table *t, const char *name);

#define TABLE_BATCH 8192u /* rows of a batch, at most */

struct table_batch {
	uint32_t n;		   /* rows; 0: the end */
	const void *const *column; /* by column of the record: values of its type */
};

struct table_keep;
struct table_analyses;

struct table_scan {
	uint32_t capture; /* what the column of that name says */
	uint64_t columns; /* which are wanted: a bit each, by place */
	/* Limits, all included. Of slices exactly these rows come; of other tables at least these:
	 * they leave out what they find without looking at each row. */
	track_idx first_track, last_track;
	uint32_t first_slice, last_slice;
	int64_t first_row, last_row; /* with a limit, slices of unknown code are left out */
	int64_t first_cyc, last_cyc; /* of the start; tracks that did not live then are not read */
	/* Of slices: class after class by name, in each as ever. Several passes, no more memory. */
	bool is_by_class;
	struct table_keep *keep;	 /* may be NULL: every track is read anew */
	struct table_analyses *analyses; /* may be NULL: each table walks the tracks for itself */
	struct pool *pool;		 /* NULL: the caller's thread */
	struct progress *progress;	 /* may be NULL; carries the wish to stop */
};
#define TABLE_SCAN_ALL                                                                             \
	{                                                                                          \
		.capture = 1, .columns = UINT64_MAX, .last_track = UINT32_MAX,                     \
		.last_slice = UINT32_MAX, .first_row = INT64_MIN, .last_row = INT64_MAX,           \
		.first_cyc = INT64_MIN, .last_cyc = INT64_MAX                                      \
	}

struct table_cursor;

/* NULL with *e filled where it fails. The scan is copied. */
struct table_cursor *table_open(const struct table *table, const struct trace *t,
	const struct table_scan *scan, struct incore_error *e);
bool table_next(struct table_cursor *c, struct table_batch *out, struct incore_error *e);
/* From the start again with other limits (the columns stay those of table_open()). What was
 * computed, and the track that was read last, is not made again: cheap for the inner side of a
 * join. */
void table_rescan(struct table_cursor *c, const struct table_scan *scan);
void table_close(struct table_cursor *c); /* NULL is fine */
/* Tracks of a trace that stay in memory when they were read, up to so many bytes, for the scans to
 * come: those then find what they look for in columns that stand there. The trace must outlive it;
 * one thread at a time. NULL on lack of memory. */
struct table_keep *table_keep_new(const struct trace *t, uint64_t most_bytes);
void table_keep_free(struct table_keep *k); /* NULL is fine */
/* Of a trace of waves: causes, producers and findings of one walk, for whoever scans all three. The
 * trace, and what cursors show of it, must not outlive it; one thread. NULL on lack of memory. */
struct table_analyses *table_analyses_new(void);
void table_analyses_free(struct table_analyses *a); /* NULL is fine */
/* Tracks that could not be read so far. */
uint32_t table_failed(const struct table_cursor *c);
/* About how many rows a scan gives, without reading a track: for planning. */
uint64_t table_estimate(const struct table *table, const struct trace *t);

/* Bytes of a value of a column's type. */
size_t column_width(enum column_type type);
/* Where the value of a row stands; the column was asked for. */
static inline const void *table_value(
	const struct table *t, const struct table_batch *b, unsigned column, uint32_t row)
{
	return (const char *)b->column[column] +
	       row * column_width(t->record->columns[column].type);
}
