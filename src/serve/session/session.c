/* SPDX-License-Identifier: Apache-2.0 */
/* session.c: several captures, each loading, ready or failed; dispatches questions. */
#include "serve/session/session_internal.h"

#include <time.h>

#include "answer/answer.h"
#include "base/map_guard.h"
#include "base/mem.h"
#include "serve/view/colors.h"
#include "serve/view/view_trace.h"

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

static enum capture_state state_of(struct session *s, const struct session_capture *c)
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

	return c && must_be(state_of(s, c), c, e) ? c : NULL;
}

static const char *state_name(enum capture_state state)
{
	return state == CAPTURE_READY ? "ready" : state == CAPTURE_FAILED ? "failed" : "loading";
}

static void put_captures(struct session *s, struct json_writer *w)
{
	json_w_kv_array(w, "captures");
	for (unsigned i = 0; i < s->n; i++) {
		struct session_capture *c = &s->v[i];
		enum capture_state state = state_of(s, c);
		bool is_ready = state == CAPTURE_READY;

		json_w_row_object(w);
		json_w_kv_u64(w, "index", i);
		json_w_kv_cstr(w, "path", c->path);
		json_w_kv_cstr(w, "kernel", is_ready ? c->trace->meta.kernel : NULL);
		json_w_kv_cstr(w, "hash", is_ready ? c->view.hash : NULL);
		json_w_kv_cstr(w, "state", state_name(state));
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
	json_w_kv_cstr(&w, "state", state_name(state));
	json_w_kv_cstr(&w, "error", state == CAPTURE_FAILED ? failure_text(c) : NULL);
	put_captures(s, &w);
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

static bool build(struct session_capture *c, unsigned needs, const struct session_capture *base,
	struct incore_error *e)
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
			ok = build(c, view_needs(q), base, e);
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
		ok = (view_has(&c->view, needs, &base->view) || build(c, needs, base, e)) &&
		     answers[i].answer(&c->view, q, out, e);
	return ok && (!out->failed || err_nomem(e));
}

/* Checks that no file of mapped columns was truncated while it was read: answers would be
 * invalid. */
static bool columns_are_whole(struct session *s, struct incore_error *e)
{
	for (unsigned i = 0; i < s->n; i++)
		if (state_of(s, &s->v[i]) == CAPTURE_READY &&
			!map_guard_check_map(s->v[i].columns.map, e))
			return false;
	return true;
}

static bool answer(struct session *s, struct str target, struct reply *r, struct incore_error *e)
{
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
					   "no reports are made here");
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
	if (question_for(q.name, REACH_HTTP))
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
	if (!answer(s, target, r, &e) || !columns_are_whole(s, &e))
		reply_error(r, &e);
	err_move(&r->error, &e);
}

struct view *session_view(
	struct session *s, unsigned capture, unsigned needs, struct incore_error *e)
{
	struct session_capture *c = &s->v[capture];

	if (!must_be(state_of(s, c), c, e) || !view_need(&c->view, needs, &c->view, e))
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
