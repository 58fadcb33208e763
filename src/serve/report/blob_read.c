/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blob_read.c: the data of a report, and the tables that it shares with who writes it. Parts:
 * tables; reading.
 */
#include "base/mem.h"
#include "codec/varint.h"
#include "serve/report/blob_internal.h"

/* --- tables ----------------------------------------------------------------------------------- */

/*
 * The tables in a blob besides the columns of slices, by the list of the trace's fields (those that
 * field_list.c stores in FORMAT_BLOB). One function per table reads and writes.
 */

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

static bool blob_tables_move_sources(struct fields *f, struct trace *t, bool no_source)
{
	fields_rows(f, &table_sources, t, 1);
	for (uint32_t i = 0; fields_ok(f) && i < t->n_sources; i++) {
		fields_row(f, &table_sources, &t->sources[i], NULL);
		move_source_text(f, &t->sources[i], no_source);
	}
	fields_table(f, &table_frames, t);
	return fields_ok(f);
}

static bool blob_tables_move_code(struct fields *f, struct trace *t)
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

static bool blob_tables_move_tracks(struct fields *f, struct trace *t)
{
	fields_table(f, &table_clocks, t);
	fields_table(f, &table_tracks, t);
	for (uint32_t i = 0; f->is_reading && i < t->n_tracks; i++)
		t->tracks[i].workgroup = NO_VALUE;
	fields_table(f, &table_kernel_names, t);
	fields_table(f, &table_markers, t);
	return fields_ok(f);
}

static void blob_tables_move_series(struct fields *f, struct counter_series *s)
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

static bool blob_tables_move_counters(struct fields *f, struct trace *t)
{
	fields_rows(f, &table_counters, t, 1);
	for (uint32_t i = 0; fields_ok(f) && i < t->n_counters; i++)
		blob_tables_move_series(f, &t->counters[i]);
	return fields_ok(f);
}

static bool blob_tables_move_links(struct fields *f, struct trace *t)
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
	return move_head(f, v, t) && blob_tables_move_sources(f, t, no_source) &&
	       blob_tables_move_code(f, t) && blob_tables_move_tracks(f, t) &&
	       blob_tables_move_counters(f, t) && blob_tables_move_links(f, t);
}

/* --- reading ---------------------------------------------------------------------------------- */

/*
 * Decodes a blob into a view. Every count is checked against the bytes left.
 */

struct blob_read_reading {
	struct fields f;
	struct blob_view *out;
	struct trace *t;
};

bool blob_streams_init(struct blob_streams *s, const struct trace *t)
{
	s->tag_of = mem_zalloc((size_t)t->n_code + 1, 1);
	s->class_of = mem_zalloc((size_t)t->n_code + 1, 1);
	for (uint32_t i = 0; s->class_of && i < t->n_code; i++)
		s->class_of[i] = t->code[i].inst_class;
	return s->tag_of && s->class_of;
}

void blob_streams_deinit(struct blob_streams *s)
{
	mem_free(s->tag_of);
	mem_free(s->class_of);
}

/* Sets the opcodes, which the accounting of pipes uses: the first word of each text. */
static bool blob_read_name_opcodes(struct blob_read_reading *x)
{
	struct trace *t = x->t;

	t->opcodes = arena_zalloc(&t->arena, t->n_code, sizeof(*t->opcodes));
	x->f.is_nomem |= !t->opcodes;
	for (uint32_t i = 0; fields_ok(&x->f) && i < t->n_code; i++) {
		const char *text = t->code[i].text, *end = text;

		while (*end && *end != ' ')
			end++;
		t->opcodes[i] = arena_strndup(&t->arena, text, (size_t)(end - text));
		x->f.is_nomem |= !t->opcodes[i];
		t->code[i].opcode = i;
	}
	t->n_opcodes = t->n_code;
	return fields_ok(&x->f);
}

/* --- columns --- */

struct streams {
	struct bytes_reader r[BLOB_STREAMS];
	struct blob_streams predicted;
};

static bool get_slices(struct blob_read_reading *x, struct streams *s, struct lane *l)
{
	uint32_t *start = (uint32_t *)l->start, *dur = (uint32_t *)l->dur;
	uint32_t *stall = (uint32_t *)l->stall, *code = (uint32_t *)l->code;
	uint8_t *cls = (uint8_t *)l->inst_class, *tag = (uint8_t *)l->tag;
	uint32_t n_code = x->t->n_code;
	uint64_t end = 0, last = 0;

	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t at = end + (uint64_t)bytes_zigzag(&s->r[BLOB_START]);
		uint64_t length = bytes_varint(&s->r[BLOB_DUR]);
		uint64_t lost = bytes_varint(&s->r[BLOB_STALL]);
		uint64_t row = last + 1 + (uint64_t)bytes_zigzag(&s->r[BLOB_CODE]);

		if (at > UINT32_MAX || length > UINT32_MAX - at || lost > length || row > n_code)
			return false;
		start[i] = (uint32_t)at;
		dur[i] = (uint32_t)length;
		stall[i] = (uint32_t)lost;
		code[i] = row == n_code ? NO_CODE : (code_idx)row;
		cls[i] = bytes_u8(&s->r[BLOB_CLASS]) ^ s->predicted.class_of[row];
		tag[i] = bytes_u8(&s->r[BLOB_TAG]) ^ s->predicted.tag_of[row];
		s->predicted.tag_of[row] = tag[i];
		if (l->sub)
			((uint8_t *)l->sub)[i] = bytes_u8(&s->r[BLOB_SUB]);
		end = at + length;
		last = row;
	}
	for (unsigned k = 0; k < BLOB_STREAMS; k++)
		if (s->r[k].is_failed)
			return false;
	return true;
}

static bool get_lane(struct blob_read_reading *x, struct streams *s)
{
	struct columns *c = &x->out->columns;
	struct lane *l = &c->lanes[c->n_lanes];
	struct bytes_reader *r = &s->r[BLOB_LANES];
	uint64_t track = bytes_varint(r), n = bytes_varint(r), n_sub = bytes_varint(r);
	const struct lane *last = c->n_lanes ? l - 1 : NULL;

	*l = (struct lane){.base_cyc = bytes_varint(r)};
	l->begin_cyc = bytes_varint(r);
	l->end_cyc = bytes_varint(r);
	if (r->is_failed || track >= c->n_tracks || n_sub == 0 || n_sub > LANE_MAX_SUB ||
		n > (uint64_t)(s->r[BLOB_TAG].end - s->r[BLOB_TAG].p) ||
		l->base_cyc > INT64_MAX / 4 || l->end_cyc > INT64_MAX / 4)
		return false;
	if (last ? track != last->track && track != last->track + 1 : track != 0)
		return false;
	if (last && track == last->track) {
		if (l->base_cyc < last->base_cyc || last->first > UINT32_MAX - last->n - n)
			return false;
		l->first = last->first + last->n;
	}
	l->track = (track_idx)track;
	l->n = (uint32_t)n;
	l->n_sub = (uint32_t)n_sub;
	l->slot = slots_of_track(x->t->tracks[track].name);
	c->chunks[c->n_lanes] = lane_alloc(l);
	if (!c->chunks[c->n_lanes]) {
		x->f.is_nomem = true;
		return false;
	}
	c->n_lanes++;
	if (!get_slices(x, s, l))
		return false;
	lane_index(l);
	return true;
}

static bool get_columns(struct blob_read_reading *x)
{
	struct columns *c = &x->out->columns;
	struct streams s = {0};
	uint64_t n = bytes_varint(&x->f.in);
	bool ok = n <= (uint64_t)(x->f.in.end - x->f.in.p) / 6; /* least bytes of a lane */

	n = ok ? n : 0;
	c->n_tracks = x->t->n_tracks;
	for (unsigned i = 0; i < BLOB_STREAMS; i++) {
		struct str bytes = bytes_str(&x->f.in);

		if (!x->f.in.is_failed)
			s.r[i] = (struct bytes_reader){.p = (const uint8_t *)bytes.p,
				.end = (const uint8_t *)bytes.p + bytes.n};
	}
	ok = ok && fields_ok(&x->f) && blob_streams_init(&s.predicted, x->t);
	c->lanes = mem_zalloc((size_t)n + 1, sizeof(*c->lanes));
	c->chunks = mem_zalloc((size_t)n + 1, sizeof(*c->chunks));
	ok = ok && c->lanes && c->chunks;
	for (uint32_t i = 0; ok && i < n; i++)
		ok = get_lane(x, &s);
	blob_streams_deinit(&s.predicted);
	return ok && (n ? c->lanes[n - 1].track + 1 == c->n_tracks : c->n_tracks == 0) &&
	       columns_number(c);
}

bool blob_read(const void *bytes, size_t n, struct blob_view *out, struct incore_error *e)
{
	struct blob_read_reading x = {.out = out};
	struct trace *t = trace_new();
	uint64_t at;
	bool ok;

	*out = (struct blob_view){.trace = t};
	if (!t)
		return err_nomem(e);
	x.t = t;
	fields_init_read(&x.f, FORMAT_BLOB, bytes, n, &t->arena);
	ok = blob_move_tables(&x.f, &out->view, t, false) &&
	     (!out->view.has_pipes || blob_read_name_opcodes(&x)) && get_columns(&x);
	at = (uint64_t)(x.f.in.p - (const uint8_t *)bytes);
	fields_deinit(&x.f);
	if (!ok) {
		blob_view_deinit(out);
		if (x.f.is_nomem)
			return err_nomem(e);
		return err_set(e, INCORE_BAD_INPUT, "bad-columns",
			"the columns are damaged near byte %llu", (unsigned long long)at);
	}
	out->view.trace = out->trace;
	out->view.columns = &out->columns;
	return true;
}

void blob_view_deinit(struct blob_view *b)
{
	view_index_free(&b->view);
	for (uint32_t i = 0; b->columns.chunks && i < b->columns.n_lanes; i++)
		mem_free(b->columns.chunks[i]);
	mem_free(b->columns.chunks);
	mem_free(b->columns.lanes);
	mem_free(b->columns.first_lane);
	trace_free(b->trace);
	*b = (struct blob_view){0};
}
