/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_write.c: writes a trace to a packed file. Tracks are put into groups by their stated
 * length alone, groups are loaded and compressed in parallel and written in order, so that the
 * bytes do not depend on the number of threads and memory holds a few groups only.
 */
#include "trace/packed.h"

#include <errno.h>
#include <stdio.h>
#include <zstd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "codec/zstd.h"
#include "trace/packed_file.h"

/* For grouping, a track of unknown length is assumed to issue once in this many cycles. */
#define GUESSED_CYC_PER_SLICE 8
#define GROUPS_PER_WORKER 4
/* Streams repeat in long parts, from wave to wave and loop to loop. Ignoring shorter matches makes
 * them 6 % smaller and 11 % faster to unpack. */
#define SHORTEST_MATCH 6

struct written_block { /* ready to be written */
	struct block_info info;
	struct block_place place;
	struct strbuf bytes;
};

struct packed_group {
	track_idx first, end;
	VEC(struct written_block) blocks;
	struct arena arena; /* holds stored errors */
};

struct packed_worker {
	struct track_data data;
	struct packed_block block;
	ZSTD_CCtx *zstd; /* for streams */
};

struct packed_writer {
	const struct trace *t;
	const struct packed_options *o;
	int level;
	FILE *f;
	uint64_t offset; /* bytes written */
	struct packed_dir dir;
	uint32_t dir_cap;
	struct packed_worker *workers;
	unsigned n_workers;
	VEC(struct packed_group) groups;
	size_t base; /* first group of the batch */
	struct hash_stream hash;
	struct strbuf table;
	uint32_t n_sections;
	struct packed_result result;
};

static bool packed_write_emit(
	struct packed_writer *w, const void *p, size_t n, struct incore_error *e)
{
	if (n && fault_hit(FAULT_WRITE))
		return err_errno(e, EIO, "packed file", "cannot write");
	if (n && fwrite(p, 1, n, w->f) != n)
		return err_write(e);
	w->offset += n;
	return true;
}

/* --- blocks --- */

/* Appends a stream to out, compressed if that makes it smaller. */
static bool pack_stream(const struct packed_writer *w, ZSTD_CCtx *zstd, struct str raw,
	struct strbuf *out, uint64_t *stored_bytes, struct incore_error *e)
{
	size_t before = out->n;

	if (raw.n && !zstd_pack_with(zstd, raw.p, raw.n, w->level, out, e))
		return false;
	if (out->n - before >= raw.n) {
		out->n = before;
		sb_add(out, raw.p, raw.n);
	}
	*stored_bytes = out->n - before;
	return out->failed ? err_nomem(e) : true;
}

static bool flush_block(struct packed_writer *w, struct packed_group *g, struct packed_worker *me,
	struct incore_error *e)
{
	struct packed_block *b = &me->block;
	struct written_block out = {0};
	struct hash_stream hash;
	struct hash128 sum;
	bool ok = true;

	out.info.first_track = b->first_track;
	out.info.n_pieces = b->n_pieces;
	out.info.n_rows = b->n[PIECE_ROWS];
	out.info.min_cyc = b->min_cyc;
	out.info.max_cyc = b->max_cyc;
	memcpy(out.info.sums, b->sums, sizeof(b->sums));
	hash_stream_init(&hash);
	for (int s = 0; s < STREAM_COUNT && ok; s++) {
		struct str raw = {(const char *)b->stream[s].v, b->stream[s].n};
		size_t at = out.bytes.n;

		out.info.raw_bytes[s] = b->stream[s].n;
		hash_stream_add(&hash, b->stream[s].v, b->stream[s].n);
		ok = pack_stream(w, me->zstd, raw, &out.bytes, &out.place.stored_bytes[s], e);
		if (ok && out.place.stored_bytes[s])
			out.place.checksum[s] = hash_bytes(
				out.bytes.p + at, (size_t)out.place.stored_bytes[s], (uint64_t)s);
	}
	sum = hash_stream_end(&hash);
	out.info.hash[0] = sum.lo;
	out.info.hash[1] = sum.hi;
	if (ok && !VEC_PUSH(&g->blocks, out))
		ok = err_nomem(e);
	if (!ok)
		sb_free(&out.bytes);
	block_clear(b);
	return ok;
}

/* Loads as much of the track as possible; for the rest its error is stored. */
static bool load_most(struct packed_writer *w, struct packed_group *g, track_idx i,
	struct track_data *d, struct incore_error *e)
{
	static const unsigned wants[] = {
		TRACK_STATES | TRACK_STATED_WAITS, TRACK_STATES, TRACK_STATED_WAITS, 0};
	struct track_content *c = &w->dir.contents[i];
	struct incore_error why = {0};

	for (size_t k = 0; k < sizeof(wants) / sizeof(wants[0]); k++) {
		incore_error_clear(&why);
		if (trace_load_track(w->t, i, wants[k], d, &why)) {
			c->error_want = wants[0] & ~wants[k];
			return true;
		}
		if (track_error_is_fatal(&why)) {
			err_move(e, &why);
			return false;
		}
		if (k == 0 && !stored_error_of(&g->arena, &why, &c->error)) {
			incore_error_clear(&why);
			return err_nomem(e);
		}
	}
	incore_error_clear(&why);
	track_data_reset(d);
	c->error_want = wants[0] | TRACK_NO_SLICES;
	return true;
}

static void fill_content(struct track_content *c, const struct track_data *d)
{
	c->n[PIECE_ROWS] = d->n;
	c->n[PIECE_STATES] = d->n_states;
	c->n[PIECE_WAITS] = d->n_stated_waits;
	c->n[PIECE_PRODUCERS] = d->n_stated_producers;
	c->n_unknown_code = d->n_unknown_code;
	c->stated_slices = d->stated_slices;
	c->begin_cyc = d->begin_cyc;
	c->end_cyc = d->end_cyc;
	memcpy(c->coord_file, d->coord_file, sizeof(c->coord_file));
}

static bool pack_track(struct packed_writer *w, struct packed_group *g, struct packed_worker *me,
	track_idx i, struct incore_error *e)
{
	struct piece_cursor cursor;
	bool is_done = false;

	if (!load_most(w, g, i, &me->data, e))
		return false;
	fill_content(&w->dir.contents[i], &me->data);
	piece_cursor_init(&cursor, me->data.begin_cyc);
	while (!is_done) {
		if (block_is_full(&me->block) && !flush_block(w, g, me, e))
			return false;
		if (!block_add(&me->block, w->t, i, &me->data, &cursor, &is_done))
			return err_nomem(e);
	}
	return true;
}

static bool pack_group(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct packed_writer *w = ctx;
	struct packed_group *g = &w->groups.v[w->base + item];
	struct packed_worker *me = &w->workers[worker];

	block_clear(&me->block);
	for (track_idx i = g->first; i < g->end; i++) {
		progress_add(w->o->progress, 1);
		if (!pack_track(w, g, me, i, e))
			return false;
	}
	return me->block.n_pieces == 0 || flush_block(w, g, me, e);
}

/* Uses only what the trace states: groups must not depend on what loading finds. */
static uint64_t expected_slices(const struct track *k)
{
	uint64_t n = k->n_slices;

	if (n == 0)
		n = (k->end_cyc - k->begin_cyc) / GUESSED_CYC_PER_SLICE + 1;
	return n < BLOCK_MAX_ROWS ? n : BLOCK_MAX_ROWS;
}

static bool packed_write_make_groups(struct packed_writer *w, struct incore_error *e)
{
	uint64_t n = 0;
	struct packed_group g = {0};

	for (track_idx i = 0; i < w->t->n_tracks; i++) {
		uint64_t slices = expected_slices(&w->t->tracks[i]);

		if (i > g.first &&
			(n + slices > BLOCK_MAX_ROWS || i - g.first >= BLOCK_MAX_PIECES)) {
			g.end = i;
			if (!VEC_PUSH(&w->groups, g))
				return err_nomem(e);
			g.first = i;
			n = 0;
		}
		n += slices;
	}
	g.end = w->t->n_tracks;
	if (g.first < g.end && !VEC_PUSH(&w->groups, g))
		return err_nomem(e);
	for (size_t i = 0; i < w->groups.n; i++)
		arena_init(&w->groups.v[i].arena);
	return true;
}

static bool add_to_dir(struct packed_writer *w, const struct written_block *b)
{
	struct packed_dir *d = &w->dir;

	if (d->n_blocks == w->dir_cap) {
		uint32_t cap = w->dir_cap ? w->dir_cap * 2 : 16;
		void *p = mem_resize(d->blocks, cap, sizeof(*d->blocks));
		void *q;

		if (!p)
			return false;
		d->blocks = p;
		q = mem_resize(d->places, cap, sizeof(*d->places));
		if (!q)
			return false;
		d->places = q;
		w->dir_cap = cap;
	}
	d->blocks[d->n_blocks] = b->info;
	d->places[d->n_blocks] = b->place;
	d->places[d->n_blocks].offset = w->offset;
	d->n_blocks++;
	return true;
}

static bool packed_write_group(
	struct packed_writer *w, struct packed_group *g, struct incore_error *e)
{
	EACH (struct written_block, b, g->blocks.v, g->blocks.n) {
		if (!add_to_dir(w, b))
			return err_nomem(e);
		if (!packed_write_emit(w, b->bytes.p, b->bytes.n, e))
			return false;
		w->result.column_bytes += b->bytes.n;
		sb_free(&b->bytes);
	}
	VEC_FREE(&g->blocks);
	return true;
}

static bool run_batch(struct packed_writer *w, size_t n, struct incore_error *e)
{
	if (w->o->pool)
		return pool_run(w->o->pool, n, 1, pack_group, w, e);
	for (size_t i = 0; i < n; i++)
		if (!pack_group(w, i, 0, e))
			return false;
	return true;
}

static bool write_blocks(struct packed_writer *w, struct incore_error *e)
{
	size_t batch = (size_t)w->n_workers * GROUPS_PER_WORKER;

	for (w->base = 0; w->base < w->groups.n; w->base += batch) {
		size_t n = w->groups.n - w->base;

		if (n > batch)
			n = batch;
		if (!run_batch(w, n, e))
			return false;
		for (size_t i = 0; i < n; i++)
			if (!packed_write_group(w, &w->groups.v[w->base + i], e))
				return false;
	}
	return true;
}

/* --- sections --- */

static void hash_section(struct packed_writer *w, uint32_t id, const struct strbuf *raw)
{
	uint8_t head[12];

	for (unsigned i = 0; i < 4; i++)
		head[i] = (uint8_t)(id >> 8 * i);
	for (unsigned i = 0; i < 8; i++)
		head[4 + i] = (uint8_t)((uint64_t)raw->n >> 8 * i);
	hash_stream_add(&w->hash, head, sizeof(head));
	hash_stream_add(&w->hash, raw->p, raw->n);
}

static bool write_section(
	struct packed_writer *w, uint32_t id, const struct strbuf *raw, struct incore_error *e)
{
	struct strbuf packed = {0};
	const struct strbuf *use = raw;
	uint32_t codec = PACKED_RAW;
	bool ok = true;

	if (id != PACKED_PLACES)
		hash_section(w, id, raw);
	if (raw->n)
		ok = zstd_pack(raw->p, raw->n, w->level, &packed, e);
	if (ok && packed.n < raw->n && packed_may_grow(packed.n, raw->n)) {
		use = &packed;
		codec = PACKED_ZSTD;
	}
	bytes_put_u32(&w->table, id);
	bytes_put_u32(&w->table, codec);
	bytes_put_u64(&w->table, w->offset);
	bytes_put_u64(&w->table, use->n);
	bytes_put_u64(&w->table, raw->n);
	bytes_put_u64(&w->table, hash_bytes(use->p, use->n, id));
	w->n_sections++;
	ok = ok && packed_write_emit(w, use->p, use->n, e);
	sb_free(&packed);
	return ok;
}

/* Writes one section with the given function. */
static bool packed_write_table(struct packed_writer *w, uint32_t id, struct incore_error *e)
{
	struct trace shallow = *w->t; /* the movers may set empty arrays to NULL */
	struct strbuf raw = {0};
	struct fields f;
	bool ok;

	fields_init_write(&f, FORMAT_PACKED, &raw);
	fields_use_dict(&f);
	if (id == PACKED_CONTENT)
		packed_move_contents(&f, w->t, &w->dir);
	else if (id == PACKED_BLOCKS)
		packed_move_blocks(&f, &w->dir);
	else if (id == PACKED_PLACES)
		packed_move_places(&f, &w->dir);
	else
		packed_move_table(&f, id, &shallow);
	ok = fields_end(&f, packed_section_name(id), e) && write_section(w, id, &raw, e);
	fields_deinit(&f);
	sb_free(&raw);
	return ok;
}

static bool write_trailer(struct packed_writer *w, struct incore_error *e)
{
	struct hash128 hash = hash_stream_end(&w->hash);
	uint64_t table_at = w->offset;
	struct strbuf b = {0};
	bool ok;

	if (w->table.failed)
		return err_nomem(e);
	if (!packed_write_emit(w, w->table.p, w->table.n, e))
		return false;
	bytes_put_u64(&b, table_at);
	bytes_put_u32(&b, w->n_sections);
	bytes_put_u32(&b, 0);
	bytes_put_u64(&b, w->offset + PACKED_TRAILER_BYTES);
	bytes_put_u64(&b, hash.lo);
	bytes_put_u64(&b, hash.hi);
	bytes_put_u64(&b, hash_bytes(w->table.p, w->table.n, 0));
	if (!b.failed)
		bytes_put_u64(&b, hash_bytes(b.p, b.n, 0));
	sb_add(&b, PACKED_END_MAGIC, 8);
	ok = b.failed ? err_nomem(e) : packed_write_emit(w, b.p, b.n, e);
	sb_free(&b);
	w->result.content_hash[0] = hash.lo;
	w->result.content_hash[1] = hash.hi;
	w->result.file_bytes = w->offset;
	return ok;
}

static bool write_header(struct packed_writer *w, struct incore_error *e)
{
	uint8_t head[PACKED_HEADER_BYTES] = PACKED_MAGIC;

	head[8] = PACKED_VERSION;
	head[12] = PACKED_HEADER_BYTES;
	return packed_write_emit(w, head, sizeof(head), e);
}

static ZSTD_CCtx *new_packer(void)
{
	ZSTD_CCtx *zstd = ZSTD_createCCtx();

	if (zstd && ZSTD_isError(ZSTD_CCtx_setParameter(zstd, ZSTD_c_minMatch, SHORTEST_MATCH))) {
		ZSTD_freeCCtx(zstd);
		zstd = NULL;
	}
	return zstd;
}

static bool writer_init(struct packed_writer *w, struct incore_error *e)
{
	w->n_workers = w->o->pool ? pool_size(w->o->pool) : 1;
	w->workers = mem_zalloc(w->n_workers, sizeof(*w->workers));
	w->dir.contents = mem_zalloc((size_t)w->t->n_tracks + 1, sizeof(*w->dir.contents));
	hash_stream_init(&w->hash);
	if (!w->workers || !w->dir.contents)
		return err_nomem(e);
	for (unsigned i = 0; i < w->n_workers; i++) {
		w->workers[i].zstd = new_packer();
		if (!w->workers[i].zstd)
			return err_nomem(e);
	}
	return true;
}

static void writer_deinit(struct packed_writer *w)
{
	for (unsigned i = 0; w->workers && i < w->n_workers; i++) {
		track_data_deinit(&w->workers[i].data);
		block_deinit(&w->workers[i].block);
		ZSTD_freeCCtx(w->workers[i].zstd);
	}
	mem_free(w->workers);
	EACH (struct packed_group, g, w->groups.v, w->groups.n) {
		for (size_t k = 0; k < g->blocks.n; k++)
			sb_free(&g->blocks.v[k].bytes);
		VEC_FREE(&g->blocks);
		arena_deinit(&g->arena);
	}
	VEC_FREE(&w->groups);
	mem_free(w->dir.contents);
	mem_free(w->dir.blocks);
	mem_free(w->dir.places);
	sb_free(&w->table);
}

static bool write_all_parts(struct packed_writer *w, struct incore_error *e)
{
	if (!write_header(w, e) || !write_blocks(w, e))
		return false;
	for (uint32_t id = PACKED_META; id < PACKED_OPTIONAL; id++)
		if (!packed_write_table(w, id, e))
			return false;
	return (!packed_has_sampled(w->t) || packed_write_table(w, PACKED_SAMPLED, e)) &&
	       write_trailer(w, e);
}

bool packed_write(const struct trace *t, FILE *f, const struct packed_options *o,
	struct packed_result *out, struct incore_error *e)
{
	struct packed_writer w = {.t = t, .o = o, .f = f};
	bool ok;

	w.level = o->level ? o->level : PACKED_DEFAULT_LEVEL;
	ok = writer_init(&w, e) && packed_write_make_groups(&w, e);
	progress_begin(o->progress, "waves", t->n_tracks);
	ok = ok && write_all_parts(&w, e);
	progress_end(o->progress);
	for (uint32_t i = 0; ok && i < t->n_tracks; i++) {
		w.result.n_slices += w.dir.contents[i].n[PIECE_ROWS];
		w.result.n_failed += w.dir.contents[i].error != NULL;
	}
	w.result.n_tracks = t->n_tracks;
	w.result.n_blocks = w.dir.n_blocks;
	writer_deinit(&w);
	if (ok)
		*out = w.result;
	return ok;
}

static bool load_nothing(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	(void)t;
	(void)i;
	(void)want;
	(void)d;
	(void)e;
	return true;
}

bool packed_write_tables(const struct trace *t, FILE *f, struct incore_error *e)
{
	struct trace shallow = *t;
	struct packed_options o = {0};
	struct packed_result r;

	shallow.loader = (struct track_loader){.load = load_nothing};
	return packed_write(&shallow, f, &o, &r, e);
}
