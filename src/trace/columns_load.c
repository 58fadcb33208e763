/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_load.c: all tracks of a trace, read in parallel, made into lanes. With a file to spill
 * to, each lane is written when it is made and its memory freed; the file is mapped at the end.
 *
 * Parts: lanes in a mapped file; all tracks.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/map_guard.h"
#include "base/mem.h"
#include "base/vec.h"
#include "trace/index.h"

/*
 * A columns file, shared by its writer and its reader. Native byte order and layout: it is a cache
 * of this machine, never exchanged.
 */

#define COLUMNS_MAGIC "incols1"
#define COLUMNS_VERSION 3u
#define COLUMNS_FIRST 128u /* lowest offset of the first lane */

struct columns_head { /* at the start; written last */
	char magic[8];
	uint32_t version, lane_sums;
	uint64_t key[2];
	uint32_t n_tracks, n_lanes;
	uint64_t dir_offset, dir_hash, file_bytes;
};
_Static_assert(sizeof(struct columns_head) <= COLUMNS_FIRST, "the head lies before the lanes");

struct columns_entry { /* the directory: one per lane */
	uint32_t track, n, first, n_sub;
	uint64_t base_cyc, begin_cyc, end_cyc, offset, hash;
};

/* --- lanes in a mapped file ------------------------------------------------------------------- */

/*
 * Columns kept in a mapped file, so that the system can reclaim their memory at any time.
 */

/* Appends the directory, writes the head, and calls fsync. */
static bool columns_file_end(int fd, const struct columns *c, uint64_t offset,
	const uint64_t key[2], struct incore_error *e)
{
	size_t n = (size_t)c->n_lanes * sizeof(struct columns_entry);
	struct columns_entry *dir = mem_zalloc(c->n_lanes, sizeof(*dir));
	struct columns_head h = {.magic = COLUMNS_MAGIC,
		.version = COLUMNS_VERSION,
		.lane_sums = LANE_HEAD,
		.key = {key[0], key[1]},
		.n_tracks = c->n_tracks,
		.n_lanes = c->n_lanes,
		.dir_offset = offset,
		.file_bytes = offset + n};
	bool ok;

	if (!dir)
		return err_nomem(e);
	for (uint32_t i = 0; i < c->n_lanes; i++) {
		const struct lane *l = &c->lanes[i];

		dir[i] = (struct columns_entry){l->track, l->n, l->first, l->n_sub, l->base_cyc,
			l->begin_cyc, l->end_cyc, l->offset, l->hash};
	}
	h.dir_hash = hash_bytes(dir, n, 0);
	ok = lseek(fd, (off_t)offset, SEEK_SET) >= 0 && write_all(fd, dir, n, e) &&
	     lseek(fd, 0, SEEK_SET) == 0 && write_all(fd, &h, sizeof(h), e);
	mem_free(dir);
	return ok;
}

static bool columns_is_sound(
	const struct columns_head *h, const struct trace *t, const uint64_t key[2], uint64_t size)
{
	return memcmp(h->magic, COLUMNS_MAGIC, sizeof(h->magic)) == 0 &&
	       h->version == COLUMNS_VERSION && h->lane_sums == LANE_HEAD && h->key[0] == key[0] &&
	       h->key[1] == key[1] && h->n_tracks == t->n_tracks && h->file_bytes == size &&
	       h->dir_offset % 8 == 0 && h->dir_offset <= size &&
	       (size - h->dir_offset) / sizeof(struct columns_entry) == h->n_lanes;
}

/* Nothing in the directory is trusted: the columns must lie inside the file. */
static bool take_lane(
	struct columns *c, const struct trace *t, const struct columns_entry *x, uint64_t limit)
{
	struct lane *l = &c->lanes[c->n_lanes];
	size_t bytes = lane_bytes(x->n, x->n_sub > 1);

	if (x->track >= t->n_tracks || x->n_sub == 0 || x->n_sub > LANE_MAX_SUB ||
		x->offset % LANE_ALIGN || x->offset > limit || bytes > limit - x->offset)
		return false;
	if (c->n_lanes ? x->track < l[-1].track || x->track > l[-1].track + 1 : x->track != 0)
		return false;
	*l = (struct lane){.track = x->track,
		.n = x->n,
		.first = x->first,
		.n_sub = x->n_sub,
		.base_cyc = x->base_cyc,
		.begin_cyc = x->begin_cyc,
		.end_cyc = x->end_cyc,
		.offset = x->offset,
		.hash = x->hash,
		.slot = slots_of_track(t->tracks[x->track].name)};
	lane_place(l, (uint8_t *)c->map + x->offset);
	if (l->first != (c->n_lanes && l[-1].track == l->track ? l[-1].first + l[-1].n : 0))
		return false;
	c->n_lanes++;
	return true;
}

static bool columns_take_lanes(struct columns *c, const struct trace *t, const uint64_t key[2])
{
	const struct columns_head *h = c->map;
	const struct columns_entry *dir;
	size_t dir_bytes;

	if (!columns_is_sound(h, t, key, c->map_size))
		return false;
	dir = (const struct columns_entry *)((uint8_t *)c->map + h->dir_offset);
	dir_bytes = (size_t)h->n_lanes * sizeof(*dir);
	if (hash_bytes(dir, dir_bytes, 0) != h->dir_hash)
		return false;
	c->n_tracks = h->n_tracks;
	c->lanes = mem_zalloc((size_t)h->n_lanes + 1, sizeof(*c->lanes));
	for (uint32_t i = 0; c->lanes && i < h->n_lanes; i++)
		if (!take_lane(c, t, &dir[i], h->dir_offset))
			return false;
	return c->lanes &&
	       (c->n_lanes == 0 ? c->n_tracks == 0
				: c->lanes[c->n_lanes - 1].track + 1 == c->n_tracks) &&
	       columns_number(c);
}

bool columns_map(const char *path, const struct trace *t, const uint64_t key[2],
	struct columns *out, struct incore_error *e)
{
	struct columns c = {0};
	struct stat st;
	int fd = fault_hit(FAULT_OPEN) ? -1 : open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_file(e, "no-columns", path, INCORE_NO_OFFSET, "cannot be opened");
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		st.st_size >= (off_t)sizeof(struct columns_head)) {
		c.map_size = (size_t)st.st_size;
		c.map = mmap(NULL, c.map_size, PROT_READ, MAP_SHARED, fd, 0);
		if (c.map == MAP_FAILED)
			c.map = NULL;
		else
			map_guard_add(c.map, c.map_size, path); /* our own file: a guard is
								   optional */
	}
	close(fd);
	if (!c.map || !columns_take_lanes(&c, t, key)) {
		columns_deinit(&c);
		return err_file(e, "bad-columns", path, INCORE_NO_OFFSET,
			"is not a columns file of this capture");
	}
	*out = c;
	return true;
}

void columns_deinit(struct columns *c)
{
	for (uint32_t i = 0; c->chunks && i < c->n_lanes; i++)
		mem_free(c->chunks[i]);
	mem_free(c->chunks);
	mem_free(c->lanes);
	mem_free(c->first_lane);
	if (c->map) {
		map_guard_drop(c->map);
		munmap(c->map, c->map_size);
	}
	*c = (struct columns){0};
}

/* --- all tracks ------------------------------------------------------------------------------- */

struct made { /* the lanes of one track */
	struct lane *lanes;
	void **chunks; /* NULL once spilled */
	uint32_t n;
	bool is_failed;
};

struct load_worker { /* the track that it reads */
	struct track_data data;
	uint8_t *sub;
	uint32_t sub_cap;
	const struct lane_wait *waits;
	size_t n_waits;
};

struct load_job {
	const struct trace *t;
	const struct columns_options *o;
	struct made *made;
	struct load_worker *workers;
	bool has_pipes;
	int fd; /* of the spill file, or -1 */
	pthread_mutex_t lock;
	uint64_t offset; /* guarded by the lock */
};

static bool columns_spill(struct load_job *j, struct lane *l, void **chunk, struct incore_error *e)
{
	size_t bytes = lane_bytes(l->n, l->n_sub > 1), done = 0;

	pthread_mutex_lock(&j->lock);
	l->offset = j->offset;
	j->offset += bytes;
	pthread_mutex_unlock(&j->lock);
	while (done < bytes) {
		ssize_t n = fault_hit(FAULT_WRITE)
				    ? -1
				    : pwrite(j->fd, (const uint8_t *)l->sums + done, bytes - done,
					      (off_t)(l->offset + done));

		if (n <= 0)
			return err_set(e, INCORE_FAILED, "write-failed",
				"the columns file cannot be written");
		done += (size_t)n;
	}
	mem_free(*chunk);
	*chunk = NULL;
	return true;
}

/* Hash of the content, independent of its layout and of what waits waited for, because links use
 * it. */
static uint64_t columns_content_hash(const struct lane *l)
{
	const uint32_t *wide[] = {l->start, l->dur, l->stall, l->code};
	const uint8_t *narrow[] = {l->inst_class, l->tag, l->sub};
	uint64_t hash = l->base_cyc ^ l->end_cyc;

	for (unsigned i = 0; i < 4; i++)
		hash = hash_bytes(wide[i], l->n * sizeof(*wide[i]), hash);
	for (unsigned i = 0; i < 3 && narrow[i]; i++)
		hash = hash_bytes(narrow[i], l->n, hash);
	return hash;
}

static void colour_waits(struct lane *l, const struct load_worker *w)
{
	uint8_t *cls = (uint8_t *)l->inst_class;

	EACH (const struct lane_wait, x, w->waits, w->n_waits)
		if (x->slice - l->first < l->n && cls[x->slice - l->first] == CLASS_WAIT)
			cls[x->slice - l->first] = (uint8_t)(CLASS_WAIT_FOR + x->slot);
}

static bool columns_add_lane(struct load_job *j, struct made *m, const struct load_worker *w,
	const struct lane *like, int64_t shift, struct incore_error *e)
{
	struct lane *l = mem_resize(m->lanes, (size_t)m->n + 1, sizeof(*l));
	void **chunks = l ? mem_resize(m->chunks, (size_t)m->n + 1, sizeof(*chunks)) : NULL;

	m->lanes = l ? l : m->lanes;
	m->chunks = chunks ? chunks : m->chunks;
	if (!l || !chunks)
		return err_nomem(e);
	l += m->n;
	*l = *like;
	m->chunks[m->n] = lane_alloc(l);
	if (!m->chunks[m->n])
		return err_nomem(e);
	m->n++;
	lane_fill(l, &w->data, l->first, shift, w->sub);
	l->hash = columns_content_hash(l);
	colour_waits(l, w);
	lane_index(l);
	return j->fd < 0 || columns_spill(j, l, &m->chunks[m->n - 1], e);
}

static bool pack_sub(struct load_job *j, struct load_worker *w, uint32_t *n_sub)
{
	const struct track_data *d = &w->data;

	*n_sub = 1;
	if (!j->has_pipes || d->n == 0)
		return true;
	if (d->n > w->sub_cap) {
		uint8_t *p = mem_resize(w->sub, d->n, 1);

		if (!p)
			return false;
		w->sub = p;
		w->sub_cap = d->n;
	}
	*n_sub = lane_pack_sub(d, w->sub);
	return true;
}

/* Reads a track; false for what concerns more than this one. */
static bool load_track(struct load_job *j, track_idx i, unsigned worker, struct incore_error *e)
{
	struct load_worker *w = &j->workers[worker];
	const struct track *k = &j->t->tracks[i];
	struct incore_error ignored = {0};
	struct lane_waits *waits = j->o->waits;

	w->n_waits = 0;
	if (!trace_load_track(j->t, i, 0, &w->data, &ignored)) {
		if (track_error_is_fatal(&ignored)) {
			err_move(e, &ignored);
			return false;
		}
		j->made[i].is_failed = true;
		w->data.n = 0;
		w->data.begin_cyc = k->begin_cyc;
		w->data.end_cyc = k->end_cyc;
	}
	incore_error_clear(&ignored);
	return !waits || w->data.n == 0 ||
	       waits->find(waits, worker, i, &w->data, &w->waits, &w->n_waits, e);
}

static bool load_one(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct load_job *j = ctx;
	struct load_worker *w = &j->workers[worker];
	struct made *m = &j->made[item];
	const struct track *k = &j->t->tracks[item];
	int64_t shift = trace_aligned(j->t, k->clock, 0) - j->o->origin_cyc;
	struct lane like = {.track = (track_idx)item, .slot = slots_of_track(k->name), .n_sub = 1};
	uint32_t from = 0, n_sub = 1;
	const atomic_bool *stop = j->o->stop;

	if (stop && atomic_load(stop))
		return err_set(e, INCORE_FAILED, "stopped", "the reading was stopped");
	if (!load_track(j, (track_idx)item, worker, e))
		return false;
	if (!pack_sub(j, w, &n_sub))
		return err_nomem(e);
	like.n_sub = n_sub;
	like.begin_cyc = (uint64_t)((int64_t)w->data.begin_cyc + shift);
	like.end_cyc = (uint64_t)((int64_t)w->data.end_cyc + shift);
	if ((int64_t)like.begin_cyc < 0)
		like.begin_cyc = 0;
	if ((int64_t)like.end_cyc < (int64_t)like.begin_cyc)
		like.end_cyc = like.begin_cyc;
	do {
		like.first = from;
		like.n = lane_cut(&w->data, from, shift, &like.base_cyc);
		if (!columns_add_lane(j, m, w, &like, shift, e))
			return false;
		from += like.n;
	} while (from < w->data.n);
	progress_add(j->o->progress, 1);
	return true;
}

/* Joins the lanes of all tracks into one array. */
static bool columns_join(struct load_job *j, struct columns *c, struct incore_error *e)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < j->t->n_tracks; i++)
		n += j->made[i].n;
	c->n_tracks = j->t->n_tracks;
	c->lanes = mem_zalloc((size_t)n + 1, sizeof(*c->lanes));
	c->chunks = mem_zalloc((size_t)n + 1, sizeof(*c->chunks));
	if (!c->lanes || !c->chunks)
		return err_nomem(e);
	EACH (struct made, m, j->made, j->t->n_tracks) {
		c->n_failed += m->is_failed;
		for (uint32_t k = 0; k < m->n; k++) {
			c->lanes[c->n_lanes] = m->lanes[k];
			c->chunks[c->n_lanes++] = m->chunks[k];
			m->chunks[k] = NULL;
		}
	}
	return true;
}

/* Gives the spill file its name and maps it; the lanes have no bytes left on the heap. */
static bool end_spill(
	struct load_job *j, struct columns *c, const char *tmp, struct incore_error *e)
{
	const char *path = j->o->spill_path;
	uint32_t n_failed = c->n_failed;
	struct columns mapped;

	if (!columns_file_end(j->fd, c, j->offset, j->o->key, e))
		return false;
	if (fault_hit(FAULT_WRITE) || rename(tmp, path) != 0)
		return err_set(
			e, INCORE_FAILED, "write-failed", "%s cannot be put in its place", path);
	if (!columns_map(path, j->t, j->o->key, &mapped, e))
		return false;
	columns_deinit(c);
	*c = mapped;
	c->n_failed = n_failed;
	return true;
}

static bool columns_has_level(const struct trace *t, const char *name)
{
	for (int i = 0; i < TRACK_LEVELS && t->levels[i]; i++)
		if (!strcmp(t->levels[i], name))
			return true;
	return false;
}

static bool columns_load_columns(
	struct load_job *j, struct columns *c, const char *tmp, struct incore_error *e)
{
	progress_begin(j->o->progress, "tracks", j->t->n_tracks);
	if (!pool_run(j->o->pool, j->t->n_tracks, 1, load_one, j, e))
		return false;
	progress_end(j->o->progress);
	if (!columns_join(j, c, e))
		return false;
	return j->fd >= 0 ? end_spill(j, c, tmp, e) : columns_number(c) || err_nomem(e);
}

static void columns_free_job(struct load_job *j, unsigned n_workers)
{
	for (unsigned i = 0; j->workers && i < n_workers; i++) {
		track_data_deinit(&j->workers[i].data);
		mem_free(j->workers[i].sub);
	}
	for (uint32_t i = 0; j->made && i < j->t->n_tracks; i++) {
		for (uint32_t k = 0; k < j->made[i].n; k++)
			mem_free(j->made[i].chunks[k]);
		mem_free(j->made[i].chunks);
		mem_free(j->made[i].lanes);
	}
	mem_free(j->workers);
	mem_free(j->made);
	pthread_mutex_destroy(&j->lock);
}

bool columns_load(const struct trace *t, const struct columns_options *o, struct columns *out,
	struct incore_error *e)
{
	struct load_job j = {.t = t,
		.o = o,
		.fd = -1,
		.has_pipes = columns_has_level(t, "pipe"),
		.offset = COLUMNS_FIRST};
	unsigned n_workers = o->pool ? pool_size(o->pool) : 1;
	struct strbuf tmp = {0};
	struct columns c = {0};
	bool ok;

	pthread_mutex_init(&j.lock, NULL);
	j.made = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*j.made));
	j.workers = mem_zalloc(n_workers, sizeof(*j.workers));
	ok = j.made && j.workers;
	if (!ok)
		err_nomem(e);
	if (ok && o->spill_path) {
		sb_printf(&tmp, "%s.%ld", o->spill_path, (long)getpid());
		j.fd = tmp.failed || fault_hit(FAULT_OPEN)
			       ? -1
			       : open(tmp.p, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		ok = j.fd >= 0 ||
		     err_set(e, INCORE_FAILED, "write-failed", "%s cannot be made", o->spill_path);
	}
	if (j.fd >= 0)
		leftover_add(tmp.p, false);
	ok = ok && columns_load_columns(&j, &c, tmp.p, e);
	if (j.fd >= 0) {
		close(j.fd);
		if (!ok && tmp.p)
			unlink(tmp.p);
		leftover_drop(tmp.p);
	}
	sb_free(&tmp);
	columns_free_job(&j, n_workers);
	if (!ok)
		columns_deinit(&c);
	else
		*out = c;
	return ok;
}
