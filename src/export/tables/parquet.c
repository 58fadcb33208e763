/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet.c: the tables of a trace as a folder of Parquet files, partitioned as Hive does:
 * TABLE/capture=1/part-0.parquet, and slices by the first level of their tracks as well. See
 * incore-parquet(7). One file is open at a time, with one row group of it in memory.
 */
#include "codec/parquet/parquet.h"

#include "base/mem.h"
#include "export/tables/tabular.h"
#include "export/writer.h"

struct parquet_state {
	const struct trace *trace;
	struct out_dir dir;
	const struct table *table;
	int track_column;     /* if the table is also partitioned by it; otherwise -1 */
	uint64_t skip;	      /* columns given by the path */
	struct parquet *open; /* for the whole table, reused from file to file */
	FILE *f;
	struct strbuf name; /* of the open file */
	uint32_t level;	    /* first level of the tracks in it */
};

static bool close_part(struct parquet_state *s, struct incore_error *e)
{
	FILE *f = s->f;
	bool ok = s->open && parquet_finish(s->open, e);

	s->f = NULL;
	return !f || (out_dir_done(&s->dir, f, s->name.p, ok ? e : NULL) && ok);
}

/* Opens the file of a level; UINT32_MAX: rows that belong to no track. */
static bool open_part(struct parquet_state *s, uint32_t level, struct incore_error *e)
{
	const struct record *r = s->table->record;

	if (s->f && !close_part(s, e))
		return false;
	sb_reset(&s->name);
	sb_printf(&s->name, "%s/capture=1/", s->table->name);
	if (level != UINT32_MAX)
		sb_printf(&s->name, "%s=%u/", s->trace->levels[0] ? s->trace->levels[0] : "track",
			level);
	sb_puts(&s->name, "part-0.parquet");
	if (s->name.failed)
		return err_nomem(e);
	s->level = level;
	s->f = out_dir_file(&s->dir, s->name.p, e);
	if (!s->f)
		return false;
	if (s->open)
		parquet_restart(s->open, s->f);
	else
		s->open = parquet_new(s->f, r->columns, r->n_columns, s->skip, e);
	return s->open != NULL;
}

static bool parquet_export_begin_table(void *ctx, const struct table *t, struct incore_error *e)
{
	struct parquet_state *s = ctx;
	int capture = table_column(t, TABLE_CAPTURE);

	(void)e;
	s->table = t;
	s->skip = capture < 0 ? 0 : (uint64_t)1 << capture;
	s->track_column = strcmp(t->name, "slices") == 0 ? table_column(t, TABLE_TRACK) : -1;
	return true;
}

/* Number of rows from `first` on that belong to the same file. */
static uint32_t rows_of_part(
	const struct parquet_state *s, const uint32_t *track, uint32_t first, uint32_t n)
{
	uint32_t end = first + 1, level = s->trace->tracks[track[first]].coord[0];

	while (end < n &&
		(track[end] == track[end - 1] || s->trace->tracks[track[end]].coord[0] == level))
		end++;
	return end - first;
}

static bool write_some(struct parquet_state *s, const struct table_batch *b, uint32_t first,
	uint32_t n, struct incore_error *e)
{
	const void *at[64];

	for (uint16_t i = 0; i < s->table->record->n_columns; i++)
		at[i] = table_value(s->table, b, i, first);
	return parquet_rows(s->open, at, n, e) && (!ferror(s->f) || err_write(e));
}

static bool parquet_export_write_rows(
	void *ctx, const struct table_batch *b, struct incore_error *e)
{
	struct parquet_state *s = ctx;
	const uint32_t *track = s->track_column < 0 ? NULL : b->column[s->track_column];

	for (uint32_t first = 0, n; first < b->n; first += n) {
		uint32_t level = track ? s->trace->tracks[track[first]].coord[0] : UINT32_MAX;

		n = track ? rows_of_part(s, track, first, b->n) : b->n;
		if ((!s->f || s->level != level) && !open_part(s, level, e))
			return false;
		if (!write_some(s, b, first, n, e))
			return false;
	}
	return true;
}

/* Ends a table. One without rows becomes a file without rows, so that readers find its columns. */
static bool parquet_export_end_table(void *ctx, struct incore_error *e)
{
	struct parquet_state *s = ctx;
	bool ok = (s->f || open_part(s, UINT32_MAX, e)) && close_part(s, e);

	parquet_free(s->open);
	s->open = NULL;
	return ok;
}

static bool parquet_export_begin(struct export *x, struct incore_error *e)
{
	struct parquet_state *s = mem_zalloc(1, sizeof(*s));
	struct tabular_sink sink = {
		s, parquet_export_begin_table, parquet_export_write_rows, parquet_export_end_table};

	if (!s)
		return err_nomem(e);
	x->state = s;
	s->trace = x->trace;
	if (!x->path || strcmp(x->path, "-") == 0)
		return err_set(e, INCORE_USAGE, "missing-option",
			"--to parquet needs -o DIR: it is a directory");
	return out_dir_open(&s->dir, x->path, 0666, e) && tabular_send(x, &sink, e);
}

static bool parquet_export_end(struct export *x, struct incore_error *e)
{
	struct parquet_state *s = x->state;

	(void)e;
	x->result->bytes = s->dir.bytes;
	return true;
}

static bool parquet_export_commit(struct export *x, struct incore_error *e)
{
	struct parquet_state *s = x->state;

	return out_dir_commit(&s->dir, e);
}

static void parquet_export_free_state(struct export *x)
{
	struct parquet_state *s = x->state;

	if (!s)
		return;
	parquet_free(s->open);
	if (s->f)
		fclose(s->f);
	out_dir_abort(&s->dir);
	sb_free(&s->name);
	mem_free(s);
	x->state = NULL;
}

const struct export_ops export_parquet = {
	.name = "parquet",
	.suffix = "/",
	.media_type = "application/vnd.apache.parquet",
	.summary = "the tables of incore sql as a folder of Parquet files",
	.is_directory = true,
	TABULAR_WRITER,
	.begin = parquet_export_begin,
	.end = parquet_export_end,
	.commit = parquet_export_commit,
	.abort = parquet_export_free_state,
};
