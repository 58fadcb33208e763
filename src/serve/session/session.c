/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session.c: the captures that a page is shown, and the answers to its questions. Parts: columns on
 * disk; loading; the session.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "analysis/pipes/pipe_sweep.h"
#include "analysis/selection.h"
#include "answer/answer.h"
#include "base/clock.h"
#include "base/file_fence.h"
#include "base/hash.h"
#include "base/map_guard.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "serve/session/session_internal.h"
#include "serve/session/wait_slots.h"
#include "serve/view/colors.h"
#include "serve/view/view_trace.h"
#include "trace/kind.h"
#include "trace/trace.h"

/* --- columns on disk -------------------------------------------------------------------------- */

/*
 * Columns of large captures, kept under $XDG_CACHE_HOME/incore (or ~/.cache/incore) so that the
 * next view can map them. The name of a file is a key of all files of the capture (name, size, time
 * of change) and of the options: a changed capture has another name. At most CACHE_MAX_BYTES; the
 * least recently used files are removed first. Nothing here fails: without a cache the columns are
 * read again. Where the cached columns of a capture are, and whether they are still valid.
 */

#define CACHE_MAX_BYTES (UINT64_C(8) << 30)
#define CACHE_LEAST_BYTES (UINT64_C(16) << 20) /* smaller captures are read as fast as mapped */

struct cache_file {
	char *dir, *path;
	uint64_t key[2];
};

#define SUFFIX ".columns"
#define MAX_DEPTH 3
#define MAX_ENTRIES 400000u
#define TAG "CACHEDIR.TAG"

/* --- the key --- */

struct survey {
	const struct file_fence *fence; /* of the reader of the capture */
	struct hash_stream hash;
	const char *dir;
	uint64_t bytes;
	uint32_t n;
	unsigned depth;
};

static void add_stat(struct survey *s, const char *name, const struct stat *st)
{
	/* writing to a file or replacing it changes at least one of these */
	int64_t facts[] = {st->st_size, st->st_mtim.tv_sec, st->st_mtim.tv_nsec, st->st_ctim.tv_sec,
		st->st_ctim.tv_nsec, (int64_t)st->st_dev, (int64_t)st->st_ino};

	hash_stream_add(&s->hash, name, strlen(name) + 1);
	hash_stream_add(&s->hash, facts, sizeof(facts));
	s->bytes += (uint64_t)st->st_size;
}

static bool survey_entry(void *ctx, const char *name, struct incore_error *e)
{
	struct survey *s = ctx;
	char *path = path_join(s->dir, name);
	const char *dir = s->dir;
	struct stat st;
	bool ok = path && s->n++ < MAX_ENTRIES;

	if (ok && file_stat_in(s->fence, path, &st) == 0) {
		if (S_ISREG(st.st_mode)) {
			add_stat(s, name, &st);
		} else if (S_ISDIR(st.st_mode) && s->depth < MAX_DEPTH) {
			s->dir = path;
			s->depth++;
			hash_stream_add(&s->hash, name, strlen(name) + 1);
			ok = dir_each_in(s->fence, path, survey_entry, s, e);
			s->depth--;
			s->dir = dir;
		}
	}
	mem_free(path);
	return ok;
}

/* Hashes the files of a capture. For a single file, this includes the other files of its folder. */
static bool survey(const char *path, struct survey *s)
{
	struct incore_error ignored = {0};
	const char *base = path_base(path);
	struct stat st;
	char *dir;
	bool ok;

	if (file_stat_in(s->fence, path, &st) != 0)
		return false;
	if (S_ISDIR(st.st_mode)) {
		s->dir = path;
		ok = dir_each_in(s->fence, path, survey_entry, s, &ignored);
	} else {
		dir = base == path ? mem_strndup(".", 1) : mem_strndup(path, (size_t)(base - path));
		s->dir = dir;
		s->depth = MAX_DEPTH;
		ok = dir && dir_each_in(s->fence, dir, survey_entry, s, &ignored);
		s->bytes = (uint64_t)st.st_size;
		mem_free(dir);
	}
	incore_error_clear(&ignored);
	return ok;
}

/* --- the folder --- */

static bool session_cache_make_dir(const char *path)
{
	return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Path of "$XDG_CACHE_HOME/incore", which is created if missing. */
static char *cache_dir(void)
{
	static const char tag[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
				  "# This folder may be removed at any time.\n";
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char *below = NULL, *dir = NULL, *file = NULL;
	int fd;

	if (base && base[0] == '/')
		below = mem_strndup(base, strlen(base));
	else if (home && home[0] == '/')
		below = path_join(home, ".cache");
	dir = below && session_cache_make_dir(below) ? path_join(below, "incore") : NULL;
	mem_free(below);
	if (!dir || !session_cache_make_dir(dir)) {
		mem_free(dir);
		return NULL;
	}
	file = path_join(dir, TAG);
	fd = file ? open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
	if (fd >= 0) {
		write_all(fd, tag, sizeof(tag) - 1, NULL);
		close(fd);
	}
	mem_free(file);
	return dir;
}

/* False: no cache for this capture. */
static void cache_file_deinit(struct cache_file *f)
{
	mem_free(f->dir);
	mem_free(f->path);
	*f = (struct cache_file){0};
}

/* False: no cache for this capture. */
static bool cache_file_for(const struct trace *t, const char *salt, struct cache_file *out)
{
	struct survey s = {.fence = t->fence};
	struct hash128 key;
	char name[64];

	hash_stream_init(&s.hash);
	hash_stream_add(&s.hash, INCORE_VERSION, sizeof(INCORE_VERSION));
	hash_stream_add(&s.hash, salt, strlen(salt) + 1);
	hash_stream_add(&s.hash, t->meta.origin, strlen(t->meta.origin) + 1);
	if (t->n_tracks == 0 || !survey(t->meta.origin, &s) || s.bytes < CACHE_LEAST_BYTES)
		return false;
	key = hash_stream_end(&s.hash);
	*out = (struct cache_file){.key = {key.lo, key.hi}};
	out->dir = cache_dir();
	snprintf(name, sizeof(name), "%016llx%016llx" SUFFIX, (unsigned long long)key.hi,
		(unsigned long long)key.lo);
	out->path = out->dir ? path_join(out->dir, name) : NULL;
	if (!out->path)
		cache_file_deinit(out);
	return out->path != NULL;
}

/* Marks the file as used now. */
static void cache_touch(const struct cache_file *f)
{
	utimensat(AT_FDCWD, f->path, NULL, 0);
}

/* --- the limit --- */

struct session_cache_kept_file {
	char *path;
	uint64_t bytes;
	int64_t used_s;
};

struct kept_files {
	const struct cache_file *f;
	VEC(struct session_cache_kept_file) v;
	uint64_t bytes;
};

static bool add_kept(void *ctx, const char *name, struct incore_error *e)
{
	struct kept_files *k = ctx;
	struct stat st;
	char *path;

	(void)e;
	if (!str_has(str_of(name), SUFFIX))
		return true;
	path = path_join(k->f->dir, name);
	if (path && strcmp(path, k->f->path) != 0 && lstat(path, &st) == 0 && S_ISREG(st.st_mode) &&
		VEC_PUSH(&k->v, (struct session_cache_kept_file){
					path, (uint64_t)st.st_size, st.st_mtime})) {
		k->bytes += (uint64_t)st.st_size;
		return true;
	}
	mem_free(path);
	return true;
}

ORDER(by_age, struct session_cache_kept_file, UP(used_s))

/* Removes the least recently used files, but never f itself. */
static void cache_trim(const struct cache_file *f)
{
	struct kept_files k = {.f = f};
	struct incore_error ignored = {0};
	int64_t own = file_size(f->path);

	dir_each(f->dir, add_kept, &k, &ignored);
	incore_error_clear(&ignored);
	k.bytes += own > 0 ? (uint64_t)own : 0;
	SORT(k.v.v, k.v.n, by_age);
	for (size_t i = 0; i < k.v.n; i++) {
		if (k.bytes > CACHE_MAX_BYTES && unlink(k.v.v[i].path) == 0)
			k.bytes -= k.v.v[i].bytes;
		mem_free(k.v.v[i].path);
	}
	VEC_FREE(&k.v);
}

/* --- loading ---------------------------------------------------------------------------------- */

/*
 * Reads one capture: the trace, then its columns, from the cache if possible.
 */

static void on_progress(void *ctx, const char *what, uint64_t done, uint64_t total, bool is_last)
{
	struct session *s = ctx;
	uint64_t now = clock_ns();

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

static struct progress *session_progress_new(struct session *s)
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

/* Reads all slices, and finds what their waits waited for. spill: the file for the columns, or
 * NULL. */
static bool read_columns(struct session *s, struct session_capture *c,
	const struct cache_file *spill, struct incore_error *e)
{
	struct columns_options o = {.origin_cyc = c->view.origin_cyc,
		.pool = s->reading.pool,
		.progress = s->progress,
		.stop = s->stop};
	bool ok = wait_slots_new(c->trace, o.pool, &o.waits, e);

	if (spill) {
		o.spill_path = spill->path;
		memcpy(o.key, spill->key, sizeof(o.key));
	}
	ok = ok && columns_load(c->trace, &o, &c->columns, e);
	wait_slots_free(o.waits);
	return ok;
}

static bool session_load_columns(
	struct session *s, struct session_capture *c, struct incore_error *e)
{
	struct incore_error ignored = {0};
	struct cache_file f = {0};
	bool ok = false;

	if (!s->no_cache && cache_file_for(c->trace, s->salt, &f)) {
		ok = columns_map(f.path, c->trace, f.key, &c->columns, &ignored);
		if (ok) {
			cache_touch(&f);
		} else {
			incore_error_clear(&ignored);
			ok = read_columns(s, c, &f, &ignored);
			if (ok)
				cache_trim(&f);
		}
	}
	incore_error_clear(&ignored);
	cache_file_deinit(&f);
	/* on a full or read-only disk the columns stay in memory */
	return ok || read_columns(s, c, NULL, e);
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

/* session_load.c */
static void session_read_one(struct session *s, struct session_capture *c)
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
	if (!session_load_columns(s, c, &c->error) || !set_ready(s, c))
		set_failed(s, c);
}

/* --- the session ------------------------------------------------------------------------------ */

/*
 * Several captures, each loading, ready or failed; dispatches questions.
 */

#define JSON "application/json; charset=utf-8"
#define BINARY "application/octet-stream"
#define TEXT "text/plain; charset=utf-8"

typedef bool (*view_fn)(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);

static const struct {
	const char *name;
	view_fn answer;
	const char *media_type;
	bool needs_slices, is_immutable;
} answers[] = {
	{"tile", view_tile, BINARY, true, true},
	{"slices", view_slices, BINARY, true, false},
	{"at", view_at, JSON, true, false},
	{"links", view_links, BINARY, true, false},
	{"select", view_select, JSON, true, false},
	{"find", view_find, JSON, true, false},
	{"found", view_found, BINARY, true, false},
	{"units", view_units, BINARY, true, false},
	{"machine", view_machine, JSON, true, false},
	{"resident", view_resident, BINARY, true, false},
	{"buckets", view_buckets, BINARY, true, false},
	{"histogram", view_histogram, JSON, true, false},
	{"rows", view_rows, JSON, true, false},
	{"code", view_code, JSON, true, false},
	{"counters", view_counters, BINARY, false, false},
	{"derived", view_derived, JSON, false, false},
	{"source", view_source, TEXT, false, false},
	{"tables", view_tables, JSON, false, false},
};

struct session *session_new(const struct session_options *o, struct incore_error *e)
{
	struct session *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem_null(e);
	pthread_mutex_init(&s->lock, NULL);
	pthread_mutex_init(&s->verb_lock, NULL);
	pthread_mutex_init(&s->kept_lock, NULL);
	pthread_mutex_init(&s->report_lock, NULL);
	pthread_cond_init(&s->news, NULL);
	captures_init(&s->captures);
	s->captures.always = IMPORT_ALL; /* so that one trace of a capture answers every question */
	s->reading = *o->reading;
	captures_follow_links(&s->captures, s->reading.follow_links);
	s->reading.captures = &s->captures;
	s->no_cache = o->no_cache;
	s->reading_words = o->reading_words;
	s->report = o->report;
	s->stop = o->stop ? o->stop : &s->own_stop;
	s->now.stage = "open";
	s->now.eta_s = -1;
	s->salt = mem_strndup(o->salt ? o->salt : "", o->salt ? strlen(o->salt) : 0);
	s->progress = s->reading.progress = session_progress_new(s);
	s->v = mem_zalloc(o->n ? o->n : 1, sizeof(*s->v));
	if (!s->v || !s->progress || !s->salt)
		goto fail;
	for (; s->n < o->n; s->n++) {
		struct session_capture *c = &s->v[s->n];

		c->path = mem_strndup(o->paths[s->n], strlen(o->paths[s->n]));
		c->view.colors = o->colors;
		pthread_mutex_init(&c->build_lock, NULL);
		pthread_rwlock_init(&c->diff_lock, NULL);
		if (!c->path || !captures_fence_named(&s->captures, c->path, NULL)) {
			s->n++;
			goto fail;
		}
	}
	s->ask_pool = pool_new(pool_size(o->reading->pool), e);
	if (s->ask_pool)
		return s;
	session_free(s);
	return NULL;
fail:
	session_free(s);
	return err_nomem_null(e);
}

void session_load(struct session *s)
{
	for (unsigned i = 0; i < s->n && !atomic_load(s->stop); i++) {
		session_read_one(s, &s->v[i]);
		pthread_mutex_lock(&s->lock);
		s->now.n_read = i + 1;
		s->n_news++;
		pthread_cond_broadcast(&s->news);
		pthread_mutex_unlock(&s->lock);
	}
	pthread_mutex_lock(&s->lock);
	s->now = (struct session_progress){
		.stage = "ready", .done = 1, .total = 1, .n_read = s->n, .is_done = true};
	s->n_news++;
	pthread_cond_broadcast(&s->news);
	pthread_mutex_unlock(&s->lock);
}

static void *load_thread(void *ctx)
{
	session_load(ctx);
	return NULL;
}

bool session_start(struct session *s, struct incore_error *e)
{
	s->is_started = pthread_create(&s->thread, NULL, load_thread, s) == 0;
	return s->is_started ||
	       err_set(e, INCORE_FAILED, "no-thread", "cannot start a thread to read with");
}

void session_stop(struct session *s)
{
	atomic_store(s->stop, true);
}

void session_free(struct session *s)
{
	if (!s)
		return;
	if (s->is_started) {
		session_stop(s);
		pthread_join(s->thread, NULL);
	}
	session_forget(s);
	EACH (struct session_capture, c, s->v, s->n) {
		view_index_free(&c->view);
		columns_deinit(&c->columns);
		columns_deinit(&c->narrow);
		trace_free(c->trace);
		incore_error_clear(&c->error);
		sb_free(&c->failure);
		mem_free(c->path);
		pthread_mutex_destroy(&c->build_lock);
		pthread_rwlock_destroy(&c->diff_lock);
	}
	captures_deinit(&s->captures);
	pool_free(s->ask_pool);
	progress_free(s->progress);
	mem_free(s->v);
	mem_free(s->salt);
	pthread_mutex_destroy(&s->lock);
	pthread_mutex_destroy(&s->verb_lock);
	pthread_mutex_destroy(&s->kept_lock);
	pthread_mutex_destroy(&s->report_lock);
	pthread_cond_destroy(&s->news);
	mem_free(s);
}

bool session_find(struct session *s, struct incore_error *e)
{
	for (unsigned i = 0; i < s->n; i++) {
		struct capture_list list = {0};

		if (!captures_find(&s->captures, s->v[i].path, &list, e))
			return false;
		capture_list_deinit(&list);
	}
	return true;
}

const struct trace *session_trace(const struct session *s, unsigned capture)
{
	return s->v[capture].trace;
}

void session_notes(const struct session *s, struct answer *a)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].trace)
			answer_notes(a, s->v[i].trace->notes, s->v[i].trace->n_notes);
}

bool session_failure(struct session *s, struct incore_error *e)
{
	for (unsigned i = 0; i < s->n; i++)
		if (s->v[i].state == CAPTURE_FAILED) {
			err_move(e, &s->v[i].error);
			return true;
		}
	return false;
}

struct session_progress session_wait(struct session *s, uint64_t *seen, unsigned ms)
{
	struct session_progress now;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += ms / 1000 + until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&s->lock);
	while (s->n_news <= *seen && !s->now.is_done)
		if (pthread_cond_timedwait(&s->news, &s->lock, &until) != 0)
			break;
	*seen = s->n_news;
	now = s->now;
	pthread_mutex_unlock(&s->lock);
	return now;
}

/* --- answers --- */

static enum capture_state session_state_of(struct session *s, const struct session_capture *c)
{
	enum capture_state state;

	pthread_mutex_lock(&s->lock);
	state = c->state;
	pthread_mutex_unlock(&s->lock);
	return state;
}

struct session_capture *session_capture(
	struct session *s, const struct query *q, const char *key, struct incore_error *e)
{
	uint64_t i;

	if (!query_number(q, key, 0, s->n - 1, &i, e))
		return NULL;
	return &s->v[i];
}

/* The text is set before the state and does not change afterwards, so it needs no lock. */
static const char *failure_text(const struct session_capture *c)
{
	return c->failure.n ? c->failure.p : "out of memory";
}

static bool must_be(
	enum capture_state state, const struct session_capture *c, struct incore_error *e)
{
	if (state == CAPTURE_LOADING)
		return err_set(e, INCORE_PARTIAL, "loading", "the capture is still being read");
	if (state == CAPTURE_FAILED)
		return err_set(e, INCORE_BAD_INPUT, c->error.code ? c->error.code : "failed",
			"the capture could not be read: %s", failure_text(c));
	return true;
}

struct session_capture *session_ready(
	struct session *s, const struct query *q, const char *key, struct incore_error *e)
{
	struct session_capture *c = session_capture(s, q, key, e);

	return c && must_be(session_state_of(s, c), c, e) ? c : NULL;
}

static const char *session_state_name(enum capture_state state)
{
	return state == CAPTURE_READY ? "ready" : state == CAPTURE_FAILED ? "failed" : "loading";
}

static void session_put_captures(struct session *s, struct json_writer *w)
{
	json_w_kv_array(w, "captures");
	for (unsigned i = 0; i < s->n; i++) {
		struct session_capture *c = &s->v[i];
		enum capture_state state = session_state_of(s, c);
		bool is_ready = state == CAPTURE_READY;

		json_w_row_object(w);
		json_w_kv_u64(w, "index", i);
		json_w_kv_cstr(w, "path", c->path);
		json_w_kv_cstr(w, "kernel", is_ready ? c->trace->meta.kernel : NULL);
		json_w_kv_cstr(w, "hash", is_ready ? c->view.hash : NULL);
		json_w_kv_cstr(w, "state", session_state_name(state));
		json_w_kv_cstr(w, "error", state == CAPTURE_FAILED ? failure_text(c) : NULL);
		json_w_end(w);
	}
	json_w_end(w);
}

static bool view_page(
	struct session *s, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	struct session_capture *c = session_capture(s, q, "c", e);
	enum capture_state state;
	struct json_writer w;
	const struct trace *t;
	struct view view;
	uint64_t from;

	if (!c)
		return false;
	pthread_mutex_lock(&s->lock);
	state = c->state;
	view = c->view;
	pthread_mutex_unlock(&s->lock);
	t = view.trace;
	if (!query_number(q, "from", 0, t && t->n_tracks ? t->n_tracks - 1 : 0, &from, e))
		return false;
	json_w_buf(&w, out, 1);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.view/1");
	json_w_kv_cstr(&w, "incore", INCORE_VERSION);
	json_w_kv_cstr(&w, "hash", state == CAPTURE_READY ? view.hash : NULL);
	json_w_kv_cstr(&w, "state", session_state_name(state));
	json_w_kv_cstr(&w, "error", state == CAPTURE_FAILED ? failure_text(c) : NULL);
	session_put_captures(s, &w);
	colors_json(view.colors, &w);
	json_w_key(&w, "input");
	if (t)
		input_json(t, IMPORT_ALL, &w);
	else
		json_w_null(&w);
	if (t && !view_trace(&view, (uint32_t)from, &w))
		return err_nomem(e);
	json_w_end(&w);
	return json_w_finish(&w, e);
}

static bool session_build(struct session_capture *c, unsigned needs,
	const struct session_capture *base, struct incore_error *e)
{
	bool ok;

	pthread_mutex_lock(&c->build_lock);
	ok = view_need(&c->view, needs, &base->view, e);
	pthread_mutex_unlock(&c->build_lock);
	return ok;
}

/* Answers with the sums of this comparison, locked against replacement. If a request with another
 * base replaces them first, they are computed again. */
static bool view_diff(struct session_capture *c, unsigned i, const struct query *q,
	const struct session_capture *base, struct strbuf *out, struct incore_error *e)
{
	bool has, ok = true;

	do {
		pthread_rwlock_rdlock(&c->diff_lock);
		has = view_has(&c->view, view_needs(q), &base->view);
		if (has)
			ok = answers[i].answer(&c->view, q, out, e);
		pthread_rwlock_unlock(&c->diff_lock);
		if (!has) {
			pthread_rwlock_wrlock(&c->diff_lock);
			ok = session_build(c, view_needs(q), base, e);
			pthread_rwlock_unlock(&c->diff_lock);
		}
	} while (ok && !has);
	return ok;
}

/* Answers about a capture, after building the data needed; questions without needs never wait. */
static bool view_capture(struct session *s, unsigned i, const struct query *q, struct strbuf *out,
	struct incore_error *e)
{
	struct session_capture *c = session_ready(s, q, "c", e), *base;
	unsigned needs = view_needs(q);
	bool ok;

	if (!c || !(base = query_text(q, "base") ? session_ready(s, q, "base", e) : c))
		return false;
	if (needs & NEED_DIFF)
		ok = view_diff(c, i, q, base, out, e);
	else
		ok = (view_has(&c->view, needs, &base->view) || session_build(c, needs, base, e)) &&
		     answers[i].answer(&c->view, q, out, e);
	return ok && (!out->failed || err_nomem(e));
}

/* Checks that no file of mapped columns was truncated while it was read: answers would be
 * invalid. */
static bool columns_are_whole(struct session *s, struct incore_error *e)
{
	for (unsigned i = 0; i < s->n; i++)
		if (session_state_of(s, &s->v[i]) == CAPTURE_READY &&
			!map_guard_check_map(s->v[i].columns.map, e))
			return false;
	return true;
}

static bool session_answer_target(
	struct session *s, struct str target, struct reply *r, struct incore_error *e)
{
	const struct question *asked;
	struct query q;

	if (!query_parse(&q, target, e))
		return false;
	r->media_type = JSON;
	if (strcmp(q.name, "trace") == 0)
		return view_page(s, &q, &r->body, e);
	if (strcmp(q.name, "report") == 0) {
		r->media_type = BINARY; /* for download; never shown as a page of this server */
		return s->report ? s->report(s, &q, &r->body, e)
				 : err_set(e, INCORE_NO, "no-such-answer",
					   "this server makes no reports");
	}
	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (strcmp(q.name, answers[i].name) != 0)
			continue;
		if (strcmp(q.name, "counters") != 0 || query_text(&q, "name"))
			r->media_type = answers[i].media_type;
		r->is_immutable =
			answers[i].is_immutable && query_text(&q, "h") && !query_text(&q, "base");
		return view_capture(s, i, &q, &r->body, e);
	}
	asked = question_for(q.name, REACH_HTTP);
	if (asked && !asked->inputs) /* about the captures that are shown, not about a store */
		return session_verb(s, &q, target, &r->body, e);
	return err_set(e, INCORE_NO, "no-such-answer", "there is no such question");
}

static unsigned status_of(const struct incore_error *e)
{
	switch (e->status) {
	case INCORE_NO:
		return 404;
	case INCORE_USAGE:
		return 400;
	case INCORE_PARTIAL:
		return 409;
	case INCORE_BAD_INPUT:
		return 422;
	default:
		return 500;
	}
}

void reply_error(struct reply *r, const struct incore_error *e)
{
	struct json_writer w;

	sb_free(&r->body);
	r->status = status_of(e);
	r->media_type = JSON;
	r->is_immutable = false;
	json_w_buf(&w, &r->body, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.error/1");
	json_w_kv_object(&w, "error");
	json_w_kv_cstr(&w, "code", e->code ? e->code : "no-memory");
	json_w_kv_cstr(&w, "message", e->message ? e->message : "out of memory");
	json_w_end(&w);
	json_w_end(&w);
	json_w_finish(&w, NULL);
}

void session_answer(struct session *s, struct str target, struct reply *r)
{
	struct incore_error e = {0};

	*r = (struct reply){.status = 200};
	if (!session_answer_target(s, target, r, &e) || !columns_are_whole(s, &e))
		reply_error(r, &e);
	err_move(&r->error, &e);
}

struct view *session_view(
	struct session *s, unsigned capture, unsigned needs, struct incore_error *e)
{
	struct session_capture *c = &s->v[capture];

	if (!must_be(session_state_of(s, c), c, e) || !view_need(&c->view, needs, &c->view, e))
		return NULL;
	return &c->view;
}

uint64_t session_unread(struct session *s)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < s->n; i++)
		n += s->v[i].columns.n_failed;
	return n;
}

void session_narrow(struct session *s, unsigned capture, struct columns *columns)
{
	struct session_capture *c = &s->v[capture];

	view_index_free(&c->view);
	c->narrow = *columns;
	c->view.columns = &c->narrow;
	*columns = (struct columns){0};
}
