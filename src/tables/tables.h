/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.h: the one list of tables that a trace is presented as: for SQL, the SQLite file, Parquet
 * and the store. A table has described columns (codec/column.h, flat: no records, no lists); a
 * cursor over an open trace returns its rows in batches, one vector per column.
 *
 *	struct table_scan scan = TABLE_SCAN_ALL;
 *	struct table_cursor *c = table_open(table_find("slices"), trace, &scan, e);
 *	while (c && table_next(c, &batch, e) && batch.n)
 *		use ((const uint32_t *)batch.column[i])[row]; NULL if column i was not requested
 *	table_close(c);
 *
 * Rows come in the same order for any number of threads: slices by track and slice, links by the
 * track and slice of their end, the other tables in the order of the verbs.
 * Owner: the caller owns the cursor; a batch is valid until the next call; its texts as long as the
 * cursor. The trace must outlive it. Memory: one track and one batch for slices and links; the
 * size of the other tables depends on the kernel's code, not on the length of its run.
 * May fail: memory, a trace that cannot be read any further. A damaged track is left out and
 * counted (table_failed()). Threads: one per cursor; a trace may have any number of cursors.
 */
#pragma once

#include "base/pool.h"
#include "base/progress.h"
#include "codec/record.h"
#include "trace/trace.h"

/* Names of the columns that a scan can be limited by, in the tables that have them. */
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
	bool has_lasting_texts;		   /* texts live as long as the trace, not the cursor */
	const struct table_source *source; /* private */
};

extern const struct table *const table_list[]; /* ends with NULL; in the order of writing */
const struct table *table_find(const char *name);
/* Index of a column in the table's record; -1: no such column. */
int table_column(const struct table *t, const char *name);

#define TABLE_BATCH 8192u /* rows of a batch, at most */

struct table_batch {
	uint32_t n;		   /* rows; 0: the end */
	const void *const *column; /* by column of the record: array of values of its type */
};

struct table_keep;
struct table_analyses;

struct table_scan {
	uint32_t capture; /* value of the column "capture" */
	uint64_t columns; /* the wanted columns: one bit each, by index */
	/* Limits, all inclusive. The table of slices returns exactly the rows within them; other
	 * tables may return more, as they do not check each row. */
	track_idx first_track, last_track;
	uint32_t first_slice, last_slice;
	int64_t first_row, last_row; /* with a limit, slices of unknown code are left out */
	int64_t first_cyc, last_cyc; /* start time; tracks outside it are not read */
	/* Slices only: sorted by name of class, then as usual. Several passes, no more memory. */
	bool is_by_class;
	struct table_keep *keep;	 /* may be NULL: every track is read again */
	struct table_analyses *analyses; /* may be NULL: each table walks the tracks for itself */
	struct pool *pool;		 /* NULL: the caller's thread */
	struct progress *progress;	 /* may be NULL; carries the request to cancel */
};
#define TABLE_SCAN_ALL                                                                             \
	{                                                                                          \
		.capture = 1, .columns = UINT64_MAX, .last_track = UINT32_MAX,                     \
		.last_slice = UINT32_MAX, .first_row = INT64_MIN, .last_row = INT64_MAX,           \
		.first_cyc = INT64_MIN, .last_cyc = INT64_MAX                                      \
	}

struct table_cursor;

/* NULL with *e filled on failure. The scan is copied. */
struct table_cursor *table_open(const struct table *table, const struct trace *t,
	const struct table_scan *scan, struct incore_error *e);
bool table_next(struct table_cursor *c, struct table_batch *out, struct incore_error *e);
/* Restarts with other limits (the columns stay those of table_open()). Computed rows and the track
 * read last are reused: cheap for the inner side of a join. */
void table_rescan(struct table_cursor *c, const struct table_scan *scan);
void table_close(struct table_cursor *c); /* NULL is fine */
/* Makes a cache of the tracks of a trace that were read, up to most_bytes, so that later scans find
 * their columns in memory. The trace must outlive it; one thread at a time. NULL on lack of
 * memory. */
struct table_keep *table_keep_new(const struct trace *t, uint64_t most_bytes);
void table_keep_free(struct table_keep *k); /* NULL is fine */
/* Shares the causes, producers and findings of one walk over a trace of waves between the scans of
 * these tables. The trace and its cursors must not outlive it; one thread. NULL on lack of
 * memory. */
struct table_analyses *table_analyses_new(void);
void table_analyses_free(struct table_analyses *a); /* NULL is fine */
/* Number of tracks that could not be read so far. */
uint32_t table_failed(const struct table_cursor *c);
/* Estimates the number of rows without reading a track: for query planning. */
uint64_t table_estimate(const struct table *table, const struct trace *t);

/* Size in bytes of a value of a column's type. */
size_t column_width(enum column_type type);
/* Address of a value in a batch; the column must have been requested. */
static inline const void *table_value(
	const struct table *t, const struct table_batch *b, unsigned column, uint32_t row)
{
	return (const char *)b->column[column] +
	       row * column_width(t->record->columns[column].type);
}
