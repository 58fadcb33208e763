/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c: lines of the journal. A line is written, then read back as a later driver would do it:
 * the state depends only on the lines.
 */
#include <unistd.h>

#include "base/file.h"
#include "codec/json_writer.h"
#include "sweep/sweep.h"

#define MOST_LOST 20u /* attempts lost to machines after which a task is still retried */

/* --- reading --- */

struct sweep_events_event {
	struct str name, title, where, id;
	struct sweep_result r;
	uint64_t task, attempt, submission, unix_ms;
	bool has_task, uses_slurm;
	VEC(uint32_t) tasks, attempts;
	VEC(const char *) captures;
};

static void get_str_copy(struct json_reader *r, struct arena *a, struct str *out)
{
	const char *text = NULL;

	sweep_get_text(r, a, &text);
	*out = str_of(text);
}

/* [[task, attempt], ...] */
static void get_tasks(struct json_reader *r, struct sweep_events_event *v)
{
	for (json_enter_array(r); json_next_item(r);) {
		uint32_t pair[2] = {0};

		for (unsigned i = (json_enter_array(r), 0); json_next_item(r); i++)
			if (i < 2)
				json_get_u32(r, &pair[i]);
			else
				json_skip(r);
		if (!VEC_PUSH(&v->tasks, pair[0]) || !VEC_PUSH(&v->attempts, pair[1]))
			json_reject(r, "no-memory", "out of memory");
	}
}

static void sweep_events_get_captures(
	struct json_reader *r, struct arena *a, struct sweep_events_event *v)
{
	for (json_enter_array(r); json_next_item(r);) {
		const char *path = NULL;

		sweep_get_text(r, a, &path);
		if (path && !VEC_PUSH(&v->captures, path))
			json_reject(r, "no-memory", "out of memory");
	}
}

static void get_member(
	struct json_reader *r, struct arena *a, struct str key, struct sweep_events_event *v)
{
	if (str_is(key, "event"))
		get_str_copy(r, a, &v->name);
	else if (str_is(key, "task"))
		v->has_task = json_get_u64(r, &v->task);
	else if (str_is(key, "attempt"))
		json_get_u64(r, &v->attempt);
	else if (str_is(key, "name"))
		get_str_copy(r, a, &v->title);
	else if (str_is(key, "where"))
		get_str_copy(r, a, &v->where);
	else if (str_is(key, "outcome"))
		sweep_get_text(r, a, &v->r.outcome);
	else if (str_is(key, "how"))
		sweep_get_text(r, a, &v->r.how);
	else if (str_is(key, "status"))
		json_get_i64(r, &v->r.status);
	else if (str_is(key, "begin_ms"))
		json_get_u64(r, &v->r.begin_ms);
	else if (str_is(key, "wall_ms"))
		json_get_u64(r, &v->r.wall_ms);
	else if (str_is(key, "unix_ms"))
		json_get_u64(r, &v->unix_ms);
	else if (str_is(key, "submission"))
		json_get_u64(r, &v->submission);
	else if (str_is(key, "id"))
		get_str_copy(r, a, &v->id);
	else if (str_is(key, "slurm"))
		json_get_bool(r, &v->uses_slurm);
	else if (str_is(key, "tasks"))
		get_tasks(r, v);
	else if (str_is(key, "captures"))
		sweep_events_get_captures(r, a, v);
	else
		json_skip(r);
}

/* --- changes of state --- */

static void set_state(struct sweep *s, struct sweep_task *t, enum sweep_state to)
{
	s->counts[t->state]--;
	s->counts[to]++;
	t->state = (uint8_t)to;
}

/* State of a task after an attempt ended like this. */
static enum sweep_state state_after(
	const struct sweep *s, struct sweep_task *t, const char *outcome)
{
	if (strcmp(outcome, "ok") == 0)
		return SWEEP_OK;
	if (strcmp(outcome, "cancelled") == 0)
		return SWEEP_CANCELLED;
	if (strcmp(outcome, "machine") == 0)
		return ++t->lost > MOST_LOST ? SWEEP_FAILED : SWEEP_WAITING;
	return ++t->counted > s->plan.retries ? SWEEP_FAILED : SWEEP_WAITING;
}

static bool sweep_events_bad(struct incore_error *e, const char *path, const char *what)
{
	return err_file(
		e, "journal-damaged", path, INCORE_NO_OFFSET, "a line of the journal %s", what);
}

static bool begin_attempt(struct sweep *s, uint64_t task, uint64_t attempt,
	const struct sweep_events_event *v, struct incore_error *e)
{
	struct sweep_task *t = task < s->plan.n_tasks ? &s->tasks[task] : NULL;

	if (!t || t->is_excluded || t->state != SWEEP_WAITING ||
		attempt != (uint64_t)t->attempts + 1)
		return sweep_events_bad(
			e, s->journal_path, "begins an attempt that is not possible");
	set_state(s, t, SWEEP_RUNNING);
	s->n_attempts++;
	s->n_retries += t->attempts > 0;
	t->attempts++;
	t->began_ms = v->unix_ms;
	t->where = v->where.p;
	t->submission = 0;
	if (!s->first_ms)
		s->first_ms = v->unix_ms;
	return true;
}

static bool end_attempt(struct sweep *s, struct sweep_events_event *v, struct incore_error *e)
{
	struct sweep_task *t = v->task < s->plan.n_tasks ? &s->tasks[v->task] : NULL;

	if (!v->has_task || !t || t->state != SWEEP_RUNNING || v->attempt != t->attempts ||
		!v->r.outcome)
		return sweep_events_bad(e, s->journal_path, "ends an attempt that does not run");
	t->outcome = v->r.outcome;
	t->how = v->r.how ? v->r.how : "";
	t->status = v->r.status;
	t->wall_ms = v->r.wall_ms;
	t->all_ms += v->r.wall_ms;
	if (v->where.p)
		t->where = v->where.p;
	t->captures = NULL;
	if (v->captures.n) {
		if (!VEC_PUSH(&v->captures, NULL))
			return err_nomem(e);
		t->captures = arena_memdup(
			&s->arena, v->captures.v, v->captures.n * sizeof(*v->captures.v));
		if (!t->captures)
			return err_nomem(e);
	}
	s->n_lost += strcmp(v->r.outcome, "machine") == 0;
	s->last_ms = v->unix_ms;
	if (t->submission)
		s->submissions.v[t->submission - 1].n_open--;
	set_state(s, t, state_after(s, t, v->r.outcome));
	return true;
}

static bool begin_submission(struct sweep *s, struct sweep_events_event *v, struct incore_error *e)
{
	struct sweep_submission x = {.name = v->id.p, .n_open = (uint32_t)v->tasks.n};

	if (!x.name)
		return sweep_events_bad(e, s->journal_path, "submits jobs without a name");
	for (size_t i = 0; i < v->tasks.n; i++) {
		if (!begin_attempt(s, v->tasks.v[i], v->attempts.v[i], v, e))
			goto fail;
		s->tasks[v->tasks.v[i]].submission = (uint32_t)s->submissions.n + 1;
		if (!VEC_PUSH(&x.tasks, v->tasks.v[i])) {
			err_nomem(e);
			goto fail;
		}
	}
	if (VEC_PUSH(&s->submissions, x))
		return true;
	err_nomem(e);
fail:
	VEC_FREE(&x.tasks);
	return false;
}

static bool sweep_events_follow(
	struct sweep *s, struct sweep_events_event *v, struct incore_error *e)
{
	if (str_is(v->name, "sweep")) {
		s->is_begun = true;
		s->begun_ms = v->unix_ms;
		s->base = v->where.p ? v->where.p : s->base;
		s->name = v->title.p ? v->title.p : s->name;
	} else if (str_is(v->name, "driver")) {
		s->uses_slurm = v->uses_slurm;
		for (uint64_t i = 0; i < s->plan.n_tasks; i++) /* a new driver tries them again */
			if (s->tasks[i].state == SWEEP_CANCELLED)
				set_state(s, &s->tasks[i], SWEEP_WAITING);
	} else if (str_is(v->name, "start")) {
		return v->has_task ? begin_attempt(s, v->task, v->attempt, v, e)
				   : sweep_events_bad(e, s->journal_path, "starts nothing");
	} else if (str_is(v->name, "end")) {
		return end_attempt(s, v, e);
	} else if (str_is(v->name, "sick")) {
		return VEC_PUSH(&s->sick, (struct sweep_sick){v->id.p ? v->id.p : "",
						  v->r.how ? v->r.how : ""}) ||
		       err_nomem(e);
	} else if (str_is(v->name, "submit")) {
		return begin_submission(s, v, e);
	} else if (str_is(v->name, "job")) {
		if (!v->submission || v->submission > s->submissions.n)
			return sweep_events_bad(
				e, s->journal_path, "is of a submission that is not there");
		s->submissions.v[v->submission - 1].job_id = v->id.p;
	} else {
		return sweep_events_bad(e, s->journal_path, "is of an unknown kind");
	}
	return true;
}

bool sweep_apply(void *sweep, struct str line, struct incore_error *e)
{
	struct sweep *s = sweep;
	struct sweep_events_event v = {0};
	struct json_reader r;
	struct str key;
	/* the reader needs padding after the text */
	char *copy = mem_zalloc(1, line.n + JSON_PAD);
	bool ok;

	if (!copy)
		return err_nomem(e);
	memcpy(copy, line.p, line.n);
	json_init(&r, copy, line.n, s->journal_path, 0);
	for (json_enter_object(&r); json_next_key(&r, &key);)
		get_member(&r, &s->arena, key, &v);
	ok = json_finish(&r, e) && sweep_events_follow(s, &v, e);
	json_deinit(&r);
	VEC_FREE(&v.tasks);
	VEC_FREE(&v.attempts);
	VEC_FREE(&v.captures);
	mem_free(copy);
	return ok;
}

/* --- writing --- */

struct sweep_events_line {
	struct json_writer w;
	struct strbuf text;
};

static void open_line(struct sweep_events_line *l, const char *event)
{
	l->text = (struct strbuf){0};
	json_w_buf(&l->w, &l->text, 0);
	json_w_object(&l->w);
	json_w_kv_cstr(&l->w, "event", event);
	json_w_kv_u64(&l->w, "unix_ms", sweep_now_ms());
}

/* Writes the line, then applies it. A line that begins something is on the disk before that begins;
 * an end need not be, because its result already is. */
static bool close_line(
	struct sweep *s, struct sweep_events_line *l, bool is_begin, struct incore_error *e)
{
	struct str text;
	bool ok;

	json_w_end(&l->w);
	ok = json_w_finish(&l->w, e);
	text = (struct str){l->text.p, l->text.n};
	ok = ok && (is_begin ? journal_add : journal_note)(&s->journal, text, e) &&
	     sweep_apply(s, text, e);
	if (ok && s->q->on_event)
		s->q->on_event(s->q->ctx, s, l->text.p);
	sb_free(&l->text);
	return ok;
}

bool sweep_note_begin(struct sweep *s, struct incore_error *e)
{
	struct sweep_events_line l;

	open_line(&l, "sweep");
	json_w_kv_cstr(&l.w, "name", s->name);
	json_w_kv_cstr(&l.w, "where", s->base);
	json_w_kv_u64(&l.w, "n_tasks", s->plan.n_tasks - s->n_excluded);
	json_w_kv_cstr(&l.w, "incore", INCORE_VERSION);
	return close_line(s, &l, true, e);
}

bool sweep_note_driver(struct sweep *s, struct incore_error *e)
{
	char host[256] = "";
	struct sweep_events_line l;

	gethostname(host, sizeof(host) - 1);
	open_line(&l, "driver");
	json_w_kv_cstr(&l.w, "host", host);
	json_w_kv_i64(&l.w, "pid", getpid());
	json_w_kv_bool(&l.w, "slurm", s->uses_slurm);
	return close_line(s, &l, true, e);
}

bool sweep_note_start(struct sweep *s, uint32_t task, const char *where, struct incore_error *e)
{
	struct sweep_events_line l;

	open_line(&l, "start");
	json_w_kv_u64(&l.w, "task", task);
	json_w_kv_u64(&l.w, "attempt", s->tasks[task].attempts + 1);
	json_w_kv_cstr(&l.w, "where", where);
	return close_line(s, &l, true, e);
}

bool sweep_note_end(
	struct sweep *s, uint32_t task, const struct sweep_result *r, struct incore_error *e)
{
	struct sweep_events_line l;

	open_line(&l, "end");
	json_w_kv_u64(&l.w, "task", task);
	json_w_kv_u64(&l.w, "attempt", s->tasks[task].attempts);
	json_w_kv_cstr(&l.w, "outcome", r->outcome);
	json_w_kv_cstr(&l.w, "how", r->how);
	json_w_kv_i64(&l.w, "status", r->status);
	json_w_kv_u64(&l.w, "wall_ms", r->wall_ms);
	if (r->host && s->tasks[task].submission)
		json_w_kv_cstr(&l.w, "where", r->host);
	if (r->captures) {
		json_w_kv_array(&l.w, "captures");
		for (const char *const *p = r->captures; *p; p++)
			json_w_cstr(&l.w, *p);
		json_w_end(&l.w);
	}
	return close_line(s, &l, false, e);
}

bool sweep_note_sick(struct sweep *s, const char *device, const char *why, struct incore_error *e)
{
	struct sweep_events_line l;

	open_line(&l, "sick");
	json_w_kv_cstr(&l.w, "id", device);
	json_w_kv_cstr(&l.w, "how", why);
	return close_line(s, &l, false, e);
}

bool sweep_note_submit(
	struct sweep *s, const char *name, const uint32_t *tasks, size_t n, struct incore_error *e)
{
	struct sweep_events_line l;

	open_line(&l, "submit");
	json_w_kv_u64(&l.w, "submission", s->submissions.n + 1);
	json_w_kv_cstr(&l.w, "id", name);
	json_w_kv_array(&l.w, "tasks");
	for (size_t i = 0; i < n; i++) {
		json_w_row(&l.w);
		json_w_u64(&l.w, tasks[i]);
		json_w_u64(&l.w, s->tasks[tasks[i]].attempts + 1);
		json_w_end(&l.w);
	}
	json_w_end(&l.w);
	return close_line(s, &l, true, e);
}

bool sweep_note_job(struct sweep *s, uint32_t submission, const char *id, struct incore_error *e)
{
	struct sweep_events_line l;

	open_line(&l, "job");
	json_w_kv_u64(&l.w, "submission", submission);
	json_w_kv_cstr(&l.w, "id", id);
	return close_line(s, &l, true, e);
}

bool sweep_settle(struct sweep *s, uint32_t task, const struct sweep_result *otherwise,
	const char *sick, struct incore_error *e)
{
	struct sweep_task *t = &s->tasks[task];
	struct sweep_result r;
	bool is_there = false, is_first = false, ok;
	struct arena a;
	const char *dir;

	arena_init(&a);
	dir = sweep_dir_of(s, task, t->attempts, &a);
	ok = (dir || err_nomem(e)) && sweep_result_read(dir, &a, &r, &is_there, e);
	if (ok && !is_there)
		ok = sweep_result_claim(dir, otherwise, &is_first, e) &&
		     sweep_result_read(dir, &a, &r, &is_there, e);
	if (ok && sick && strcmp(r.outcome, "ok") != 0) {
		r.how = arena_printf(&a, "%s; %s", r.how, sick);
		r.outcome = "machine";
		ok = r.how || err_nomem(e);
	}
	ok = ok && sweep_note_end(s, task, &r, e);
	arena_deinit(&a);
	return ok;
}
