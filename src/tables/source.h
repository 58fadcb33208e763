/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source.h: where the rows of a table come from. Internal to the room. Most tables are made whole
 * as an array of structs when the first batch is asked for (make); those that are as long as the
 * run fill batches of columns themselves (next).
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
	void **vector;	     /* by column: room for a batch; NULL: not asked for */
	const void **column; /* what the batch shows: the vector, or the track's own column */
	struct rows rows;    /* of make */
	size_t at, end;	     /* of them: those to give */
	bool is_made, is_by_track, is_by_row; /* rows are in the order of that column */
	void *state;			      /* the source's own, freed by `close` */
	uint32_t n_out;			      /* rows of the batch that is being made */
};

struct table_source {
	/* All rows as structs of the table's record, in c->rows, in the arena. */
	bool (*make)(struct table_cursor *c, struct incore_error *e);
	/* Or: the next rows into the vectors, c->n_out of them; 0: the end. */
	bool (*next)(struct table_cursor *c, struct incore_error *e);
	void (*close)(
		struct table_cursor *c); /* frees c->state and what `make` kept; may be NULL */
	void (*rewind)(struct table_cursor *c);	     /* of `next`: from the start again */
	uint64_t (*estimate)(const struct trace *t); /* NULL: few */
};

extern const struct table captures_table, tracks_table, code_table, slices_table, links_table,
	causes_table, producers_table, findings_table, notes_table;

static inline bool table_wants(const struct table_cursor *c, unsigned column)
{
	return c->vector[column] != NULL;
}

/* Room for n rows of `make`; NULL with err_nomem. c->rows becomes it. */
void *table_rows(struct table_cursor *c, size_t n, size_t size, struct incore_error *e);
#define TABLE_ROWS(c, n, T, e) ((struct T *)table_rows((c), (n), sizeof(struct T), (e)))

/* Number of a code row as tables give it; NO_I64: not known. */
static inline int64_t table_row_of(const struct trace *t, code_idx code)
{
	return code < t->n_code ? t->code[code].number : NO_I64;
}

/* A walk over the tracks that a scan wants, one in memory at a time. */
struct track_walk {
	const struct track_data *data;	/* of the track where the walk stands */
	track_idx next;			/* to be looked at */
	track_idx loaded;		/* where the walk stands; NO_TRACK: at no track */
	unsigned less;			/* columns that nobody looks at: bits of TRACK_LESS */
	bool may_be_part;		/* nobody looks at slices outside the limits on time, and */
	code_idx first_code, last_code; /* outside these rows; 0 and UINT32_MAX: any */
	struct track_data own;		/* what was read last, */
	track_idx held;			/* of this track, */
	unsigned held_less;		/* but for these columns, */
	bool has_data;			/* if any: it stays when the walk has ended */
};
/* The kept slices of a track, or NULL. */
const struct track_data *table_keep_get(const struct table_keep *k, track_idx i);
/* Keeps a copy, if there is room. */
void table_keep_put(struct table_keep *k, track_idx i, const struct track_data *d);
/* Loads the next of them: w->loaded is its number, NO_TRACK at the end. */
bool track_walk_next(struct track_walk *w, struct table_cursor *c, struct incore_error *e);
/* Brings the track's clock to the time of tables: cycles since the origin of every screen. */
int64_t table_shift(const struct table_cursor *c, track_idx track);
/* About how many slices there are, without reading a track. */
uint64_t table_count_slices(const struct trace *t);
