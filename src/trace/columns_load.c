/* SPDX-License-Identifier: Apache-2.0 */
/*
 * columns_load.c: all tracks of a trace, read in parallel, made into lanes. With a file to spill
 * to, each lane is written when it is made and its memory freed; the file is mapped at the end.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/vec.h"
#include "trace/columns_internal.h"

struct made { /* the lanes of one track */
	struct lane *lanes;
	void **chunks; /* NULL once spilled */
	uint32_t n;
	bool is_failed;
};

struct load_worker {
	struct track_data data;
	uint8_t *sub;
	uint32_t sub_cap;
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

static bool spill(struct load_job *j, struct lane *l, void **chunk, struct incore_error *e)
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

/* Hash of the content, independent of its layout, because links use it. */
static uint64_t content_hash(const struct lane *l)
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

static bool add_lane(struct load_job *j, struct made *m, const struct track_data *d,
	const struct lane *like, const uint8_t *sub, int64_t shift, struct incore_error *e)
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
	lane_fill(l, d, l->first, shift, sub);
	l->hash = content_hash(l);
	return j->fd < 0 || spill(j, l, &m->chunks[m->n - 1], e);
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

static bool load_one(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct load_job *j = ctx;
	struct load_worker *w = &j->workers[worker];
	struct made *m = &j->made[item];
	const struct track *k = &j->t->tracks[item];
	struct incore_error ignored = {0};
	int64_t shift = trace_aligned(j->t, k->clock, 0) - j->o->origin_cyc;
	struct lane like = {.track = (track_idx)item, .slot = slots_of_track(k->name), .n_sub = 1};
	uint32_t from = 0, n_sub = 1;
	const atomic_bool *stop = j->o->stop;

	if (stop && atomic_load(stop))
		return err_set(e, INCORE_FAILED, "stopped", "the reading was stopped");
	if (!trace_load_track(j->t, (track_idx)item, 0, &w->data, &ignored)) {
		if (track_error_is_fatal(&ignored)) { /* concerns more than this track */
			err_move(e, &ignored);
			return false;
		}
		m->is_failed = true;
		w->data.n = 0;
		w->data.begin_cyc = k->begin_cyc;
		w->data.end_cyc = k->end_cyc;
	}
	incore_error_clear(&ignored);
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
		if (!add_lane(j, m, &w->data, &like, w->sub, shift, e))
			return false;
		from += like.n;
	} while (from < w->data.n);
	progress_add(j->o->progress, 1);
	return true;
}

/* Joins the lanes of all tracks into one array. */
static bool join(struct load_job *j, struct columns *c, struct incore_error *e)
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

static bool has_level(const struct trace *t, const char *name)
{
	for (int i = 0; i < TRACK_LEVELS && t->levels[i]; i++)
		if (!strcmp(t->levels[i], name))
			return true;
	return false;
}

static bool load_columns(
	struct load_job *j, struct columns *c, const char *tmp, struct incore_error *e)
{
	progress_begin(j->o->progress, "tracks", j->t->n_tracks);
	if (!pool_run(j->o->pool, j->t->n_tracks, 1, load_one, j, e))
		return false;
	progress_end(j->o->progress);
	if (!join(j, c, e))
		return false;
	return j->fd >= 0 ? end_spill(j, c, tmp, e) : columns_number(c) || err_nomem(e);
}

static void free_job(struct load_job *j, unsigned n_workers)
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
		.has_pipes = has_level(t, "pipe"),
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
	ok = ok && load_columns(&j, &c, tmp.p, e);
	if (j.fd >= 0) {
		close(j.fd);
		if (!ok && tmp.p)
			unlink(tmp.p);
		leftover_drop(tmp.p);
	}
	sb_free(&tmp);
	free_job(&j, n_workers);
	if (!ok)
		columns_deinit(&c);
	else
		*out = c;
	return ok;
}
