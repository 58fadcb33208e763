/* SPDX-License-Identifier: Apache-2.0 */
/* packed_dir.c: writes and reads the tracks, blocks and places of a packed file. */
#include "trace/packed_dir.h"

#include "base/mem.h"

#define MAX_ERROR_LINKS 16

static struct stored_error *error_slot(struct fields *f, struct stored_error *s)
{
	if (!f->is_reading)
		return s;
	s = arena_zalloc(f->arena, 1, sizeof(*s));
	f->is_nomem |= !s;
	return s;
}

static void move_error(struct fields *f, struct stored_error **at)
{
	uint32_t n = 0;

	for (const struct stored_error *s = *at; s && !f->is_reading; s = s->cause)
		n++;
	fields_u32(f, &n);
	if (n > MAX_ERROR_LINKS)
		f->is_failed = true;
	for (uint32_t i = 0; i < n && !f->is_failed; i++) {
		struct stored_error *s = error_slot(f, *at);

		if (!s)
			return;
		fields_u32(f, &s->status);
		fields_str(f, &s->code);
		fields_str(f, &s->message);
		fields_str(f, &s->path);
		fields_u64(f, &s->offset);
		fields_u32(f, &s->line);
		fields_u32(f, &s->column);
		if (f->is_reading)
			*at = s;
		at = &s->cause;
	}
}

/* Most values repeat those of the track table: store the difference to them. */
static void move_from_track(struct fields *f, const struct track *k, struct track_content *c)
{
	uint64_t begin = k->begin_cyc, end = k->end_cyc;
	uint32_t stated = k->n_slices;

	fields_delta_u64(f, &c->begin_cyc, &begin);
	fields_delta_u64(f, &c->end_cyc, &end);
	fields_delta_u32(f, &c->stated_slices, &stated);
	for (int i = 0; i < TRACK_LEVELS; i++) {
		uint32_t coord = k->coord[i];

		fields_delta_u32(f, &c->coord_file[i], &coord);
	}
}

void packed_move_contents(struct fields *f, const struct trace *t, struct packed_dir *dir)
{
	uint32_t n = t->n_tracks;
	struct track_content *c = fields_array(f, dir->contents, &n, sizeof(*c), 15);

	if (n != t->n_tracks) {
		f->is_failed = true;
		return;
	}
	for (int k = 0; k < PIECE_KINDS; k++)
		for (uint32_t i = 0; i < n; i++)
			fields_u32(f, &c[i].n[k]);
	for (uint32_t i = 0; i < n; i++)
		fields_u32(f, &c[i].n_unknown_code);
	for (uint32_t i = 0; i < n; i++)
		move_from_track(f, &t->tracks[i], &c[i]);
	for (uint32_t i = 0; i < n; i++) {
		fields_u32(f, &c[i].error_want);
		move_error(f, &c[i].error);
	}
	if (f->is_reading)
		dir->contents = c;
}

/* Classes from this one on are written only if a block has it or a later one. */
#define ALWAYS_STORED_CLASSES CLASS_SCALAR

static void move_sums(struct fields *f, struct class_sum *sums)
{
	uint32_t n = CLASS_COUNT;

	while (!f->is_reading && n > ALWAYS_STORED_CLASSES && sums[n - 1].hit == 0)
		n--;
	fields_u32(f, &n);
	if (n > CLASS_COUNT) { /* a class added by a later version */
		f->is_failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++) {
		fields_u64(f, &sums[i].hit);
		fields_u64(f, &sums[i].dur_cyc);
		fields_u64(f, &sums[i].stall_cyc);
	}
}

void packed_move_blocks(struct fields *f, struct packed_dir *dir)
{
	dir->blocks = fields_array(
		f, dir->blocks, &dir->n_blocks, sizeof(*dir->blocks), 8 + STREAM_COUNT);
	EACH (struct block_info, b, dir->blocks, dir->n_blocks) {
		fields_u32(f, &b->first_track);
		fields_u32(f, &b->n_pieces);
		fields_u32(f, &b->n_rows);
		fields_u64(f, &b->min_cyc);
		fields_u64(f, &b->max_cyc);
		for (int s = 0; s < STREAM_COUNT; s++)
			fields_u64(f, &b->raw_bytes[s]);
		fields_u64(f, &b->hash[0]);
		fields_u64(f, &b->hash[1]);
		move_sums(f, b->sums);
	}
}

void packed_move_places(struct fields *f, struct packed_dir *dir)
{
	uint32_t n = dir->n_blocks;

	dir->places = fields_array(f, dir->places, &n, sizeof(*dir->places), 1 + 2 * STREAM_COUNT);
	if (n != dir->n_blocks) {
		f->is_failed = true;
		return;
	}
	EACH (struct block_place, p, dir->places, n) {
		fields_u64(f, &p->offset);
		for (int s = 0; s < STREAM_COUNT; s++) {
			fields_u64(f, &p->stored_bytes[s]);
			fields_u64(f, &p->checksum[s]);
		}
	}
}

bool stored_error_of(struct arena *a, const struct incore_error *e, struct stored_error **out)
{
	struct stored_error **at = out;

	for (int i = 0; e && i < MAX_ERROR_LINKS; i++, e = e->cause) {
		struct stored_error *s = arena_zalloc(a, 1, sizeof(*s));

		if (!s)
			return false;
		s->status = e->status;
		s->code = e->code ? arena_strdup(a, e->code) : NULL;
		s->message = e->message ? arena_strdup(a, e->message) : NULL;
		s->path = e->path ? arena_strdup(a, e->path) : NULL;
		s->offset = e->offset;
		s->line = e->line;
		s->column = e->column;
		if ((e->code && !s->code) || (e->message && !s->message) || (e->path && !s->path))
			return false;
		*at = s;
		at = &s->cause;
	}
	return true;
}

/* An error's code must live as long as the program, so only codes known here are restored. */
static const char *known_code(const char *code)
{
	static const char *const known[] = {"bad-json", "truncated", "bad-type", "out-of-range",
		"too-deep", "duplicate-key", "bad-value", "missing-key", "bad-path", "not-found",
		"not-readable", "is-directory", "link-loop", "link-outside", "not-regular",
		"too-large", "io", "bad-zstd", "bad-packed"};

	for (size_t i = 0; code && i < sizeof(known) / sizeof(known[0]); i++)
		if (strcmp(known[i], code) == 0)
			return known[i];
	return "bad-track";
}

bool stored_error_raise(const struct stored_error *s, struct incore_error *e)
{
	enum incore_status status = INCORE_BAD_INPUT;

	if (!e)
		return false;
	if (s->cause) {
		stored_error_raise(s->cause, e);
		err_wrap(e, "%s", s->message ? s->message : "");
	} else {
		if (s->status > INCORE_OK && s->status <= INCORE_FAILED)
			status = (enum incore_status)s->status;
		err_set(e, status, known_code(s->code), "%s", s->message ? s->message : "");
	}
	if (s->path && !e->path)
		e->path = mem_strndup(s->path, strlen(s->path));
	e->offset = s->offset;
	e->line = s->line;
	e->column = s->column;
	return false;
}
