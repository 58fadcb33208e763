/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_tables.c: the tables in a blob besides the columns of slices, by the list of the trace's
 * fields (those that field_list.c stores in FORMAT_BLOB). One function per table reads and writes.
 */
#include "serve/report/blob_internal.h"

static void move_magic(struct fields *f)
{
	const uint8_t *p;

	if (!f->is_reading) {
		sb_add(f->out, BLOB_MAGIC, BLOB_MAGIC_LEN);
		return;
	}
	p = bytes_take(&f->in, BLOB_MAGIC_LEN);
	f->is_failed |= !p || memcmp(p, BLOB_MAGIC, BLOB_MAGIC_LEN) != 0;
}

static void move_hash(struct fields *f, char *hash, size_t size)
{
	const char *s = hash;

	fields_str(f, &s);
	if (!f->is_reading || !fields_ok(f))
		return;
	f->is_failed |= strlen(s) >= size;
	if (!f->is_failed)
		memcpy(hash, s, strlen(s) + 1);
}

static void move_levels(struct fields *f, const char **levels)
{
	uint32_t n = 0;

	while (n < TRACK_LEVELS && levels[n])
		n++;
	fields_u32(f, &n);
	f->is_failed |= n > TRACK_LEVELS;
	for (uint32_t i = 0; fields_ok(f) && i < n; i++)
		fields_str(f, &levels[i]);
}

static bool move_head(struct fields *f, struct view *v, struct trace *t)
{
	move_magic(f);
	if (!fields_ok(f))
		return false;
	move_hash(f, v->hash, sizeof(v->hash));
	fields_i64(f, &v->origin_cyc);
	fields_bool(f, &v->has_pipes);
	fields_row(f, &table_meta, &t->meta, NULL);
	fields_str(f, &t->meta.arch);
	move_levels(f, t->levels);
	return fields_ok(f);
}

/* Moves the text of a source; when reading, it points into the blob. */
static void move_source_text(struct fields *f, struct source_file *s, bool no_source)
{
	bool has = s->text && !no_source;
	struct str text = {s->text, s->text_len};

	fields_bool(f, &has);
	if (has && !f->is_reading)
		bytes_put_str(f->out, text);
	if (!has || !f->is_reading)
		return;
	text = bytes_str(&f->in);
	s->text = text.p;
	s->text_len = text.n;
}

static bool move_sources(struct fields *f, struct trace *t, bool no_source)
{
	fields_rows(f, &table_sources, t, 1);
	for (uint32_t i = 0; fields_ok(f) && i < t->n_sources; i++) {
		fields_row(f, &table_sources, &t->sources[i], NULL);
		move_source_text(f, &t->sources[i], no_source);
	}
	fields_table(f, &table_frames, t);
	return fields_ok(f);
}

static bool move_code(struct fields *f, struct trace *t)
{
	uint64_t prev[FIELD_MAX] = {0};

	fields_rows(f, &table_code, t, 1);
	for (uint32_t i = 0; fields_ok(f) && i < t->n_code; i++) {
		struct code_row *r = &t->code[i];
		uint32_t first;

		fields_row(f, &table_code, r, prev);
		first = r->n_frames ? r->first_frame : 0;
		fields_u32(f, &first);
		if (!f->is_reading)
			continue;
		r->first_frame = first;
		r->source = "";
		f->is_failed |= r->inst_class >= CLASS_COUNT || first > t->n_frames ||
				r->n_frames > t->n_frames - first;
	}
	return fields_ok(f);
}

static bool move_tracks(struct fields *f, struct trace *t)
{
	fields_table(f, &table_clocks, t);
	fields_table(f, &table_tracks, t);
	for (uint32_t i = 0; f->is_reading && i < t->n_tracks; i++)
		t->tracks[i].workgroup = NO_VALUE;
	fields_table(f, &table_kernel_names, t);
	fields_table(f, &table_markers, t);
	return fields_ok(f);
}

static void move_series(struct fields *f, struct counter_series *s)
{
	uint64_t last = 0, *times, *values = (uint64_t *)s->value;

	fields_row(f, &table_counters, s, NULL);
	times = fields_array(f, (void *)s->time_cyc, &s->n, sizeof(*times), 2);
	if (f->is_reading) {
		s->unit = s->unit && *s->unit ? s->unit : NULL;
		s->time_cyc = times;
		s->value = values = arena_zalloc(f->arena, s->n, sizeof(*values));
		f->is_nomem |= !values;
	}
	for (uint32_t k = 0; fields_ok(f) && k < s->n; k++) {
		fields_delta_u64(f, &times[k], &last);
		fields_u64(f, &values[k]);
		if (f->is_reading)
			times[k] %= INT64_MAX / 4; /* so that sums cannot overflow */
	}
}

static bool move_counters(struct fields *f, struct trace *t)
{
	fields_rows(f, &table_counters, t, 1);
	for (uint32_t i = 0; fields_ok(f) && i < t->n_counters; i++)
		move_series(f, &t->counters[i]);
	return fields_ok(f);
}

static bool move_links(struct fields *f, struct trace *t)
{
	fields_table(f, &table_links, t);
	for (uint32_t i = 0; f->is_reading && i < t->n_links; i++)
		f->is_failed |= t->links[i].from_track >= t->n_tracks ||
				t->links[i].to_track >= t->n_tracks;
	return fields_ok(f);
}

bool blob_move_tables(struct fields *f, struct view *v, struct trace *t, bool no_source)
{
	f->of = t;
	return move_head(f, v, t) && move_sources(f, t, no_source) && move_code(f, t) &&
	       move_tracks(f, t) && move_counters(f, t) && move_links(f, t);
}
