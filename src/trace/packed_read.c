/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_read.c: a packed file as a trace. Tables are read at once; tracks when asked for, out of
 * the mapped file. Each track_data keeps the streams of the block it touched last.
 */
#include "trace/packed.h"

#include <zstd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "codec/zstd.h"
#include "trace/packed_dir.h"
#include "trace/packed_file.h"
#include "trace/packed_tables.h"

struct packed_ctx { /* trace.loader_ctx, in the trace's arena */
	struct packed_file file;
	struct packed_dir dir;
	uint32_t *block_of; /* first block of each track */
	struct block_code code;
	const char *path;
};

struct packed_scratch { /* track_data.loader_scratch */
	const struct packed_ctx *ctx;
	uint64_t hash[2]; /* hash of its content, in case another file gets the same address */
	uint32_t block;
	unsigned have; /* bit per stream */
	const uint8_t *stream[STREAM_COUNT];
	VEC(uint8_t) buf[STREAM_COUNT];
	VEC(struct piece) pieces;
	ZSTD_DCtx *zstd;
};

static bool bad_block(
	const struct packed_ctx *x, uint32_t b, const char *what, struct incore_error *e)
{
	return err_file(e, "bad-packed", x->path, x->dir.places[b].offset, "block %u: %s", b, what);
}

/* --- blocks --- */

static void free_scratch(void *p)
{
	struct packed_scratch *s = p;

	for (int i = 0; i < STREAM_COUNT; i++)
		VEC_FREE(&s->buf[i]);
	VEC_FREE(&s->pieces);
	ZSTD_freeDCtx(s->zstd);
	mem_free(s);
}

static struct packed_scratch *get_scratch(struct track_data *d)
{
	if (!d->loader_scratch || d->loader_free != free_scratch) {
		if (d->loader_scratch && d->loader_free)
			d->loader_free(d->loader_scratch);
		d->loader_scratch = mem_zalloc(1, sizeof(struct packed_scratch));
		d->loader_free = free_scratch;
	}
	return d->loader_scratch;
}

static bool touch_stream(const struct packed_ctx *x, struct packed_scratch *s, uint32_t b, int i,
	struct incore_error *e)
{
	const struct block_place *place = &x->dir.places[b];
	size_t raw = (size_t)x->dir.blocks[b].raw_bytes[i];
	size_t stored = (size_t)place->stored_bytes[i];
	const uint8_t *p = x->file.data.data + place->offset;

	for (int k = 0; k < i; k++)
		p += place->stored_bytes[k];
	s->stream[i] = p;
	if (raw == 0)
		return true;
	if (!packed_checksum_ok(p, stored, (uint64_t)i, place->checksum[i]))
		return bad_block(x, b, "damaged (checksum)", e);
	if (stored == raw)
		return true;
	if (!VEC_RESERVE(&s->buf[i], raw))
		return err_nomem(e);
	if (!s->zstd)
		s->zstd = ZSTD_createDCtx(); /* NULL: a context is made for each stream */
	s->stream[i] = s->buf[i].v;
	if (!zstd_unpack_with(s->zstd, (struct str){(const char *)p, stored}, s->buf[i].v, raw, e))
		return err_wrap(e, "block %u of %s", b, x->path);
	return true;
}

static bool touch_pieces(
	const struct packed_ctx *x, struct packed_scratch *s, uint32_t b, struct incore_error *e)
{
	const struct block_info *info = &x->dir.blocks[b];

	if (!touch_stream(x, s, b, STREAM_PIECES, e))
		return false;
	if (!VEC_RESERVE(&s->pieces, info->n_pieces))
		return err_nomem(e);
	if (!block_read_pieces(s->stream[STREAM_PIECES], (size_t)info->raw_bytes[STREAM_PIECES],
		    info->raw_bytes, info->n_pieces, s->pieces.v))
		return bad_block(x, b, "its pieces do not fit it", e);
	s->pieces.n = info->n_pieces;
	return true;
}

/* Loads the streams of block b that `want` needs into the scratch, unless they are there
 * already. */
static bool touch_block(const struct packed_ctx *x, struct packed_scratch *s, uint32_t b,
	unsigned want, struct incore_error *e)
{
	const uint64_t *hash = x->file.trailer.content_hash;
	unsigned need = block_streams(want);

	if (s->ctx != x || s->block != b || s->hash[0] != hash[0] || s->hash[1] != hash[1]) {
		s->have = 0;
		s->ctx = x;
		s->block = b;
		memcpy(s->hash, hash, sizeof(s->hash));
	}
	for (int i = 0; i < STREAM_COUNT; i++) {
		if (!(need & ~s->have & 1u << i))
			continue;
		if (!(i == STREAM_PIECES ? touch_pieces(x, s, b, e) : touch_stream(x, s, b, i, e)))
			return false;
		s->have |= 1u << i;
	}
	return true;
}

/* --- one track --- */

static bool fits(const struct track_content *c, const struct piece_cursor *at,
	const struct track_data *d, const struct piece *p)
{
	return p->n[PIECE_ROWS] <= c->n[PIECE_ROWS] - at->done[PIECE_ROWS] &&
	       p->n[PIECE_STATES] <= c->n[PIECE_STATES] - d->n_states &&
	       p->n[PIECE_WAITS] <= c->n[PIECE_WAITS] - d->n_stated_waits &&
	       p->n[PIECE_PRODUCERS] <= c->n[PIECE_PRODUCERS] - d->n_stated_producers;
}

static bool is_whole(const struct track_content *c, unsigned want, const struct piece_cursor *at,
	const struct track_data *d)
{
	if (!(want & TRACK_NO_SLICES) && !at->is_past && at->done[PIECE_ROWS] != c->n[PIECE_ROWS])
		return false;
	if (want & TRACK_STATES && d->n_states != c->n[PIECE_STATES])
		return false;
	if (!(want & TRACK_STATED_WAITS))
		return true;
	for (uint32_t i = 0; i < d->n_stated_waits; i++)
		if ((uint64_t)d->stated_waits[i].first + d->stated_waits[i].n >
			d->n_stated_producers)
			return false;
	return d->n_stated_waits == c->n[PIECE_WAITS] &&
	       d->n_stated_producers == c->n[PIECE_PRODUCERS];
}

static bool reserve(const struct track_content *c, unsigned want, struct track_data *d)
{
	if (!(want & TRACK_NO_SLICES) && !track_data_reserve(d, c->n[PIECE_ROWS]))
		return false;
	if (d->is_part && !track_data_reserve_numbers(d))
		return false;
	if (want & TRACK_STATES && !track_data_reserve_states(d, c->n[PIECE_STATES]))
		return false;
	return !(want & TRACK_STATED_WAITS) ||
	       track_data_reserve_stated(d, c->n[PIECE_WAITS], c->n[PIECE_PRODUCERS]);
}

static void fill(const struct track_content *c, struct track_data *d)
{
	d->n_unknown_code = c->n_unknown_code;
	d->stated_slices = c->stated_slices;
	d->begin_cyc = c->begin_cyc;
	d->end_cyc = c->end_cyc;
	memcpy(d->coord_file, c->coord_file, sizeof(d->coord_file));
}

static bool load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct packed_ctx *x = t->loader_ctx;
	const struct track_content *c = &x->dir.contents[i];
	struct packed_scratch *s = get_scratch(d);
	struct piece_cursor cursor;
	uint32_t b = x->block_of[i];

	if (c->error && c->error_want & (want | TRACK_NO_SLICES))
		return stored_error_raise(c->error, e);
	d->is_part = d->filter && !(want & (TRACK_STATES | TRACK_STATED_WAITS | TRACK_NO_SLICES));
	if (!s || !reserve(c, want, d))
		return err_nomem(e);
	piece_cursor_init(&cursor, c->begin_cyc);
	for (;; b++) {
		uint32_t k = i - x->dir.blocks[b].first_track;

		if (!touch_block(x, s, b, want, e))
			return false;
		if (k >= s->pieces.n || !fits(c, &cursor, d, &s->pieces.v[k]) ||
			!block_read_piece(&x->code, &s->pieces.v[k], s->stream, want, &cursor, d))
			return bad_block(x, b, "makes no sense", e);
		if (cursor.is_past || b + 1 >= x->dir.n_blocks ||
			x->dir.blocks[b + 1].first_track != i)
			break;
	}
	if (!is_whole(c, want, &cursor, d))
		return bad_block(x, b, "does not hold what the directory says", e);
	fill(c, d);
	if (want & TRACK_NO_SLICES)
		d->n_unknown_code = 0;
	return true;
}

static void close_ctx(void *ctx)
{
	struct packed_ctx *x = ctx;

	packed_file_close(&x->file);
}

/* --- opening --- */

static bool move_section(const struct packed_ctx *x, uint32_t id, struct trace *t,
	struct packed_dir *dir, struct incore_error *e)
{
	struct fields f;
	uint8_t *raw;
	size_t n;
	bool ok;

	if (!packed_file_section(&x->file, x->path, id, &raw, &n, e))
		return false;
	fields_init_read(&f, FORMAT_PACKED, raw, n, &t->arena);
	fields_use_dict(&f);
	if (id == PACKED_CONTENT)
		packed_move_contents(&f, t, dir);
	else if (id == PACKED_BLOCKS)
		packed_move_blocks(&f, dir);
	else if (id == PACKED_PLACES)
		packed_move_places(&f, dir);
	else
		packed_move_table(&f, id, t);
	ok = fields_end(&f, packed_section_name(id), e);
	if (!ok)
		err_wrap(e, "packed trace %s", x->path);
	fields_deinit(&f);
	mem_free(raw);
	return ok;
}

/* Checks that a block's streams lie inside the file and are no larger than its rows can make
 * them. */
static bool check_block(const struct packed_ctx *x, uint32_t b)
{
	const struct block_info *info = &x->dir.blocks[b];
	const struct block_place *place = &x->dir.places[b];
	uint64_t left = x->file.trailer.table_offset;

	if (info->n_pieces == 0 || info->n_pieces > BLOCK_MAX_PIECES ||
		place->offset < PACKED_HEADER_BYTES || place->offset > left)
		return false;
	left -= place->offset;
	for (int s = 0; s < STREAM_COUNT; s++) {
		if (info->raw_bytes[s] > (uint64_t)BLOCK_MAX_ROWS * 30 ||
			place->stored_bytes[s] > info->raw_bytes[s] ||
			place->stored_bytes[s] > left)
			return false;
		left -= place->stored_bytes[s];
	}
	return true;
}

/* Checks that the blocks hold all tracks in order; only the last track of a block may continue in
 * the next. */
static bool check_blocks(struct packed_ctx *x, const struct trace *t, struct incore_error *e)
{
	uint64_t next = 0; /* next track without a piece */

	for (uint32_t b = 0; b < x->dir.n_blocks; b++) {
		const struct block_info *info = &x->dir.blocks[b];
		uint64_t first = info->first_track, end = first + info->n_pieces;

		if (!check_block(x, b))
			return bad_block(x, b, "out of bounds", e);
		if (first != next && !(b > 0 && first + 1 == next))
			return bad_block(x, b, "does not follow the block before", e);
		if (end > t->n_tracks)
			return bad_block(x, b, "more pieces than tracks", e);
		for (; next < end; next++)
			x->block_of[next] = b;
	}
	if (next != t->n_tracks)
		return err_file(e, "bad-packed", x->path, INCORE_NO_OFFSET,
			"blocks hold %llu of %u tracks", (unsigned long long)next, t->n_tracks);
	return true;
}

/* The counts of a track decide how much memory is allocated: check them against its blocks
 * first. */
static bool check_contents(
	const struct packed_ctx *x, const struct trace *t, struct incore_error *e)
{
	for (track_idx i = 0; i < t->n_tracks; i++) {
		const struct track_content *c = &x->dir.contents[i];
		uint32_t last = x->block_of[i];
		uint64_t room;

		while (last + 1 < x->dir.n_blocks && x->dir.blocks[last + 1].first_track == i)
			last++;
		room = (uint64_t)(last - x->block_of[i] + 1) * BLOCK_MAX_ROWS;
		if (c->n[PIECE_ROWS] > room || c->n[PIECE_STATES] > room ||
			c->n[PIECE_WAITS] > room || c->n[PIECE_PRODUCERS] > 2 * room ||
			c->begin_cyc > c->end_cyc)
			return err_file(e, "bad-packed", x->path, INCORE_NO_OFFSET,
				"track %u: more content than its blocks can hold", i);
	}
	return true;
}

static bool read_all(struct packed_ctx *x, uint32_t skip, struct trace *t, struct incore_error *e)
{
	for (uint32_t id = PACKED_META; id < PACKED_SECTION_END; id++) {
		bool is_skipped = id <= PACKED_NOTES ? skip & 1u << id : !x->file.sections[id].id;

		if (!is_skipped && !move_section(x, id, t, &x->dir, e))
			return false;
	}
	x->block_of = arena_zalloc(&t->arena, (size_t)t->n_tracks + 1, sizeof(*x->block_of));
	if (!x->block_of)
		return err_nomem(e);
	return check_blocks(x, t, e) && check_contents(x, t, e);
}

/* Stores the classes of the code contiguously, because every slice looks them up. */
static bool list_classes(struct packed_ctx *x, struct trace *t, struct incore_error *e)
{
	uint8_t *class = arena_zalloc(&t->arena, (size_t)t->n_code + 1, 1);

	for (code_idx i = 0; class && i < t->n_code; i++)
		class[i] = t->code[i].inst_class;
	x->code = (struct block_code){t->n_code, class};
	return class || err_nomem(e);
}

static struct packed_ctx *new_ctx(struct trace *t, const char *path)
{
	struct packed_ctx *x = arena_zalloc(&t->arena, 1, sizeof(*x));

	if (x)
		x->path = arena_strdup(&t->arena, path);
	return x && x->path ? x : NULL;
}

static bool fill_trace(struct packed_ctx *x, uint32_t skip, struct trace *t, struct incore_error *e)
{
	t->loader = (struct track_loader){.load = load, .close = close_ctx};
	t->loader_ctx = x;
	if (!read_all(x, skip, t, e) || !list_classes(x, t, e))
		return false;
	memcpy(t->meta.content_hash, x->file.trailer.content_hash, sizeof(t->meta.content_hash));
	t->meta.code_key = x->file.sections[PACKED_CODE].checksum;
	return true;
}

bool packed_read_data(struct file_data data, const char *path, uint32_t skip, struct trace *t,
	struct incore_error *e)
{
	struct packed_ctx *x = new_ctx(t, path);

	if (!x) {
		file_unload(&data);
		return err_nomem(e);
	}
	return packed_file_open(&x->file, data, path, e) && fill_trace(x, skip, t, e);
}

bool packed_read(const char *path, uint32_t skip, struct trace *t, struct incore_error *e)
{
	struct file_data f = {0};

	return file_load(&f, path, e) && packed_read_data(f, path, skip, t, e);
}

bool packed_read_bytes(
	const uint8_t *p, size_t n, const char *path, struct trace *t, struct incore_error *e)
{
	return packed_read_data((struct file_data){.data = p, .size = n}, path, 0, t, e);
}

void packed_look_at_trace(const struct trace *t, struct packed_summary *out)
{
	*out = (struct packed_summary){.agent = t->meta.launch.agent,
		.dispatch = t->meta.launch.dispatch,
		.n_tracks = t->n_tracks,
		.n_code = t->n_code,
		.has_samples = t->samples != NULL,
		.code_key = t->meta.code_key};
	for (uint32_t i = 0; i < t->n_code; i++)
		out->n_mapped += !t->code[i].is_label && t->code[i].n_frames > 0;
}

bool packed_look(
	struct str bytes, const char *path, struct packed_summary *out, struct incore_error *e)
{
	struct trace *t = trace_new();
	struct packed_ctx x = {.path = path};
	struct file_data data = {.data = (const uint8_t *)bytes.p, .size = bytes.n};
	bool ok;

	if (!t)
		return err_nomem(e);
	ok = packed_file_open(&x.file, data, path, e) &&
	     move_section(&x, PACKED_META, t, &x.dir, e) &&
	     move_section(&x, PACKED_CODE, t, &x.dir, e) &&
	     move_section(&x, PACKED_SAMPLES, t, &x.dir, e) &&
	     move_section(&x, PACKED_TRACKS, t, &x.dir, e) &&
	     (!x.file.sections[PACKED_SAMPLED].id ||
		     move_section(&x, PACKED_SAMPLED, t, &x.dir, e));
	if (ok) {
		t->meta.code_key = x.file.sections[PACKED_CODE].checksum;
		packed_look_at_trace(t, out);
	}
	trace_free(t);
	return ok;
}
