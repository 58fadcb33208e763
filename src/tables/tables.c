/* SPDX-License-Identifier: Apache-2.0 */
/* tables.c: the list of tables, and functions common to all cursors. */
#include "tables/tables.h"

#include <string.h>

#include "analysis/selection.h"
#include "base/search.h"
#include "tables/source.h"

const struct table *const table_list[] = {&captures_table, &tracks_table, &code_table,
	&slices_table, &links_table, &causes_table, &producers_table, &findings_table, &notes_table,
	NULL};

const struct table *table_find(const char *name)
{
	for (const struct table *const *t = table_list; *t; t++)
		if (strcmp((*t)->name, name) == 0)
			return *t;
	return NULL;
}

int table_column(const struct table *t, const char *name)
{
	for (uint16_t i = 0; i < t->record->n_columns; i++)
		if (strcmp(t->record->columns[i].name, name) == 0)
			return i;
	return -1;
}

size_t column_width(enum column_type type)
{
	static const uint8_t width[] = {
		[COLUMN_U64] = sizeof(uint64_t),
		[COLUMN_U32] = sizeof(uint32_t),
		[COLUMN_U16] = sizeof(uint16_t),
		[COLUMN_U8] = sizeof(uint8_t),
		[COLUMN_I64] = sizeof(int64_t),
		[COLUMN_F64] = sizeof(double),
		[COLUMN_BOOL] = sizeof(bool),
		[COLUMN_TEXT] = sizeof(const char *),
	};

	return type < sizeof(width) ? width[type] : 0;
}

/* --- a cursor --- */

static bool make_vectors(struct table_cursor *c, struct incore_error *e)
{
	const struct record *r = c->table->record;

	c->vector = arena_zalloc(&c->arena, r->n_columns, sizeof(*c->vector));
	c->column = arena_zalloc(&c->arena, r->n_columns, sizeof(*c->column));
	if (!c->vector || !c->column)
		return err_nomem(e);
	for (uint16_t i = 0; i < r->n_columns; i++) {
		if (!(c->scan.columns >> i & 1))
			continue;
		c->vector[i] =
			arena_zalloc(&c->arena, TABLE_BATCH, column_width(r->columns[i].type));
		if (!c->vector[i])
			return err_nomem(e);
		c->column[i] = c->vector[i];
	}
	return true;
}

struct table_cursor *table_open(const struct table *table, const struct trace *t,
	const struct table_scan *scan, struct incore_error *e)
{
	struct table_cursor *c = mem_zalloc(1, sizeof(*c));

	if (!c)
		return err_nomem_null(e);
	c->table = table;
	c->trace = t;
	c->scan = *scan;
	c->n_columns = table->record->n_columns;
	arena_init(&c->arena);
	c->origin_cyc = trace_origin(t);
	if (make_vectors(c, e))
		return c;
	table_close(c);
	return NULL;
}

void table_close(struct table_cursor *c)
{
	if (!c)
		return;
	if (c->table->source->close)
		c->table->source->close(c);
	arena_deinit(&c->arena);
	mem_free(c);
}

uint32_t table_failed(const struct table_cursor *c)
{
	return c->n_failed;
}

uint64_t table_estimate(const struct table *table, const struct trace *t)
{
	return table->source->estimate ? table->source->estimate(t) : (uint64_t)t->n_code + 1;
}

void *table_rows(struct table_cursor *c, size_t n, size_t size, struct incore_error *e)
{
	void *v = arena_zalloc(&c->arena, n + 1, size);

	if (!v)
		return err_nomem_null(e);
	c->rows = (struct rows){v, n};
	return v;
}

static int64_t key_of(const struct table_cursor *c, const struct column *k, size_t i)
{
	const void *p = (const char *)c->rows.v + i * c->table->record->size + k->offset;

	return k->type == COLUMN_I64 ? *(const int64_t *)p : (int64_t)column_u64(k, p);
}

static bool is_rising(const struct table_cursor *c, const struct column *k)
{
	for (size_t i = 1; i < c->rows.n; i++)
		if (key_of(c, k, i - 1) > key_of(c, k, i))
			return false;
	return true;
}

/* Limits the rows to those whose key is in [first, last], if they are sorted by that key. */
static void narrow(
	struct table_cursor *c, const char *name, bool is_sorted, int64_t first, int64_t last)
{
	int at = table_column(c->table, name);
	const struct column *k = at < 0 ? NULL : &c->table->record->columns[at];
	size_t lo = c->at, hi = c->end;

	if (!k || !is_sorted)
		return;
	BISECT(lo, hi, i, key_of(c, k, i) < first);
	c->at = lo;
	hi = c->end;
	BISECT(lo, hi, i, key_of(c, k, i) <= last);
	c->end = lo;
}

/* Applies the limits on the keys that the rows are sorted by. */
static void limit_rows(struct table_cursor *c)
{
	const struct table_scan *s = &c->scan;

	c->at = 0;
	c->end = c->rows.n;
	if (s->first_track > 0 || s->last_track < UINT32_MAX)
		narrow(c, TABLE_TRACK, c->is_by_track, s->first_track, s->last_track);
	else if (s->first_row > INT64_MIN || s->last_row < INT64_MAX)
		narrow(c, TABLE_ROW, c->is_by_row, s->first_row, s->last_row);
}

static bool make_rows(struct table_cursor *c, struct incore_error *e)
{
	int track = table_column(c->table, TABLE_TRACK), row = table_column(c->table, TABLE_ROW);

	if (!c->table->source->make(c, e))
		return false;
	c->is_made = true;
	c->is_by_track = track >= 0 && is_rising(c, &c->table->record->columns[track]);
	c->is_by_row = row >= 0 && is_rising(c, &c->table->record->columns[row]);
	limit_rows(c);
	return true;
}

/* Copies the next rows of an array of structs into the vectors, column by column. */
static void transpose(struct table_cursor *c)
{
	const struct record *r = c->table->record;
	size_t left = c->end - c->at;
	uint32_t n = left < TABLE_BATCH ? (uint32_t)left : TABLE_BATCH;

	for (uint16_t k = 0; k < r->n_columns; k++) {
		size_t width = column_width(r->columns[k].type);
		const char *from = (const char *)c->rows.v + c->at * r->size + r->columns[k].offset;
		char *to = c->vector[k];

		for (uint32_t i = 0; to && i < n; i++, to += width, from += r->size)
			memcpy(to, from, width);
	}
	c->at += n;
	c->n_out = n;
}

static bool next_rows(struct table_cursor *c, struct incore_error *e)
{
	const struct table_source *s = c->table->source;

	if (s->next)
		return s->next(c, e);
	if (!c->is_made && !make_rows(c, e))
		return false;
	transpose(c);
	return true;
}

bool table_next(struct table_cursor *c, struct table_batch *out, struct incore_error *e)
{
	c->n_out = 0;
	if (progress_is_cancelled(c->scan.progress))
		return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
	if (!next_rows(c, e))
		return false;
	*out = (struct table_batch){c->n_out, c->column};
	return true;
}

void table_rescan(struct table_cursor *c, const struct table_scan *scan)
{
	uint64_t columns = c->scan.columns;

	c->scan = *scan;
	c->scan.columns = columns;
	if (c->table->source->rewind)
		c->table->source->rewind(c);
	else if (c->is_made)
		limit_rows(c);
}

/* --- tracks --- */

#define USUAL_SLICES 1000u /* assumed for a track with an unknown number of slices */

uint64_t table_count_slices(const struct trace *t)
{
	uint64_t n = 0;

	for (track_idx i = 0; i < t->n_tracks; i++)
		n += t->tracks[i].n_slices ? t->tracks[i].n_slices : USUAL_SLICES;
	return n;
}

int64_t table_shift(const struct table_cursor *c, track_idx track)
{
	return trace_aligned(c->trace, c->trace->tracks[track].clock, 0) - c->origin_cyc;
}

/* Did the track live within the limits on time? */
static bool lived(const struct table_cursor *c, track_idx i)
{
	const struct track *k = &c->trace->tracks[i];
	int64_t shift = table_shift(c, i);

	return (int64_t)k->begin_cyc + shift <= c->scan.last_cyc &&
	       (int64_t)k->end_cyc + shift >= c->scan.first_cyc;
}

/* Converts a limit on time to the clock of a track. */
static uint64_t in_clock(int64_t cyc, int64_t shift)
{
	int64_t at;

	if (__builtin_sub_overflow(cyc, shift, &at))
		return cyc < 0 ? 0 : UINT64_MAX;
	return at > 0 ? (uint64_t)at : 0;
}

/* Sets which slices of a track are needed; false: all of them, also if tracks are cached, as later
 * scans may need the rest. */
static bool limit_slices(const struct track_walk *w, const struct table_cursor *c, track_idx i,
	struct slice_filter *f)
{
	const struct table_scan *s = &c->scan;
	int64_t shift = table_shift(c, i);

	*f = (struct slice_filter){in_clock(s->first_cyc, shift),
		s->last_cyc == INT64_MAX ? UINT64_MAX : in_clock(s->last_cyc, shift), w->first_code,
		w->last_code};
	return w->may_be_part && !s->keep &&
	       (f->first_cyc || f->last_cyc < UINT64_MAX || f->first_code ||
		       f->last_code < UINT32_MAX);
}

/* Loads a track; one that cannot be read is counted and does not end the walk. */
static bool load(struct track_walk *w, struct table_cursor *c, track_idx i, struct incore_error *e)
{
	const struct track_data *kept = table_keep_get(c->scan.keep, i);
	unsigned less = c->scan.keep ? 0 : w->less; /* later scans may need other columns */
	struct incore_error why = {0};
	struct slice_filter filter;

	w->data = kept ? kept : &w->own;
	w->loaded = i;
	if (kept || (w->has_data && w->held == i && !(w->held_less & ~less)))
		return true;
	w->own.filter = limit_slices(w, c, i, &filter) ? &filter : NULL;
	w->has_data = trace_load_track(c->trace, i, less, &w->own, &why);
	w->own.filter = NULL;
	w->held = w->own.is_part ? NO_TRACK : i;
	w->held_less = less;
	if (w->has_data) {
		table_keep_put(c->scan.keep, i, &w->own);
		return true;
	}
	w->loaded = NO_TRACK;
	if (track_error_is_fatal(&why)) {
		err_move(e, &why);
		return false;
	}
	incore_error_clear(&why);
	c->n_failed++;
	return true;
}

bool track_walk_next(struct track_walk *w, struct table_cursor *c, struct incore_error *e)
{
	if (w->next < c->scan.first_track)
		w->next = c->scan.first_track;
	for (; w->next < c->trace->n_tracks && w->next <= c->scan.last_track; w->next++) {
		if (!lived(c, w->next))
			continue;
		if (progress_is_cancelled(c->scan.progress))
			return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
		if (!load(w, c, w->next, e))
			return false;
		if (w->loaded == w->next) {
			w->next++;
			return true;
		}
	}
	w->loaded = NO_TRACK;
	return true;
}
