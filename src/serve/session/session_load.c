/* SPDX-License-Identifier: Apache-2.0 */
/* session_load.c: reads one capture: the trace, then its columns, from the cache if possible. */
#include <time.h>

#include "analysis/pipes/pipe_sweep.h"
#include "analysis/selection.h"
#include "base/hash.h"
#include "serve/session/cache.h"
#include "serve/session/session_internal.h"
#include "trace/kind.h"

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void on_progress(void *ctx, const char *what, uint64_t done, uint64_t total, bool is_last)
{
	struct session *s = ctx;
	uint64_t now = now_ns();

	pthread_mutex_lock(&s->lock);
	if (strcmp(s->now.stage, what) != 0 || is_last)
		s->stage_ns = now;
	s->now = (struct session_progress){.stage = is_last ? "index" : what,
		.done = done,
		.total = total,
		.n_read = s->now.n_read,
		.eta_s = done && total > done ? (double)(now - s->stage_ns) / 1e9 *
							(double)(total - done) / (double)done
					      : -1};
	s->n_news++;
	pthread_cond_broadcast(&s->news);
	pthread_mutex_unlock(&s->lock);
}

struct progress *session_progress_new(struct session *s)
{
	return progress_new(on_progress, s);
}

/* Hashes what is shown: code and slices. The same capture has the same hash on any machine. */
static void hash_content(struct view *v)
{
	const struct trace *t = v->trace;
	struct hash_stream h;
	struct hash128 x;

	hash_stream_init(&h);
	for (uint32_t i = 0; i < t->n_code; i++) {
		hash_stream_add(&h, t->code[i].text, (size_t)t->code[i].text_len + 1);
		hash_stream_add(&h, &t->code[i].address, sizeof(t->code[i].address));
		hash_stream_add(&h, &t->code[i].stated, sizeof(t->code[i].stated));
	}
	for (uint32_t i = 0; i < v->columns->n_lanes; i++)
		hash_stream_add(&h, &v->columns->lanes[i].hash, sizeof(uint64_t));
	x = hash_stream_end(&h);
	snprintf(v->hash, sizeof(v->hash), "%016llx%016llx", (unsigned long long)x.hi,
		(unsigned long long)x.lo);
}

static bool load_columns(struct session *s, struct session_capture *c, struct incore_error *e)
{
	struct columns_options o = {.origin_cyc = c->view.origin_cyc,
		.pool = s->reading.pool,
		.progress = s->progress,
		.stop = s->stop};
	struct incore_error ignored = {0};
	struct cache_file f = {0};
	bool ok = false;

	if (!s->no_cache && cache_file_for(c->trace, s->salt, &f)) {
		ok = columns_map(f.path, c->trace, f.key, &c->columns, &ignored);
		if (ok) {
			cache_touch(&f);
		} else {
			o.spill_path = f.path;
			memcpy(o.key, f.key, sizeof(o.key));
			incore_error_clear(&ignored);
			ok = columns_load(c->trace, &o, &c->columns, &ignored);
			if (ok)
				cache_trim(&f);
		}
	}
	incore_error_clear(&ignored);
	cache_file_deinit(&f);
	if (ok)
		return true;
	o.spill_path = NULL; /* on a full or read-only disk the columns stay in memory */
	return columns_load(c->trace, &o, &c->columns, e);
}

static void set_failed(struct session *s, struct session_capture *c)
{
	err_format(&c->error, &c->failure);
	pthread_mutex_lock(&s->lock);
	c->state = CAPTURE_FAILED;
	pthread_mutex_unlock(&s->lock);
}

/* Publishes the complete view for answers, atomically. */
static bool set_ready(struct session *s, struct session_capture *c)
{
	struct view v = c->view;

	v.columns = &c->columns;
	hash_content(&v);
	if (!view_index_make(&v, &c->error))
		return false;
	if (!v.has_pipes)
		captures_lend(&s->captures, v.trace, v.columns, v.origin_cyc);
	pthread_mutex_lock(&s->lock);
	c->view = v;
	c->state = CAPTURE_READY;
	pthread_mutex_unlock(&s->lock);
	return true;
}

static bool open_capture(struct session *s, struct session_capture *c, struct trace **out)
{
	struct answer opened = {0};
	bool ok;

	arena_init(&opened.arena);
	ok = answer_open(&opened, &s->reading, c->path, IMPORT_ALL, out, &c->error);
	if (ok)
		trace_share(*out);
	answer_deinit(&opened);
	return ok;
}

void session_read_one(struct session *s, struct session_capture *c)
{
	struct trace *t = NULL;

	if (!open_capture(s, c, &t)) {
		set_failed(s, c);
		return;
	}
	pthread_mutex_lock(&s->lock);
	c->trace = t;
	c->view.trace = t;
	c->view.origin_cyc = trace_origin(t);
	c->view.has_pipes = trace_kind(t) == KIND_PIPES;
	pthread_mutex_unlock(&s->lock);
	if (!load_columns(s, c, &c->error) || !set_ready(s, c))
		set_failed(s, c);
}
