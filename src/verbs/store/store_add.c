/* SPDX-License-Identifier: Apache-2.0 */
/* store_add.c: incore store add: adds captures to a store, each whole or not at all. */
#include <stdlib.h>
#include <unistd.h>

#include "answer/captures.h"
#include "base/file.h"
#include "sweep/handover.h"
#include "verbs/store/store_verbs.h"

static const struct option_def options[] = {
	STORE_OPTION,
	{OPT_REVISION, NULL, NULL, "revision of the source of the captures", STORE_FIELD(revision)},
	{OPT_LABEL, NULL, NULL, "label that distinguishes captures of one kernel; may be repeated",
		STORE_ALL(select.labels)},
	{OPT_SWEEP, NULL, NULL,
		"all captures of this sweep, labelled with their parameters; may be repeated",
		STORE_FIELD(sweeps)},
	{OPT_AT, NULL, NULL,
		"time of the captures: 2026-11-18[T01:02:03Z] or @SECONDS (default: now)",
		STORE_FIELD(at)},
	OPTION_END,
};

struct added_row {
	const char *path, *kernel, *state;
	uint64_t capture;
};
static const struct column added_columns[] = {
	COLUMN(added_row, capture, UNIT_INDEX, "number of the capture in the store"),
	COLUMN(added_row, state, UNIT_NONE, "whether the capture was already in the store",
		.words = "added|there"),
	COLUMN(added_row, kernel, UNIT_NONE, "name of the kernel", NULLABLE),
	COLUMN(added_row, path, UNIT_NONE, "path that the capture was read from",
		.flags = COLUMN_WIDE),
};
static const struct record added_record = RECORD_OF(added_row, RECORD_LINE, added_columns);

struct added {
	struct rows captures;
};
static const struct column data_columns[] = {
	LIST(added, captures, &added_record, "the captures, in the order in which they were given"),
};
static const struct record data_record = RECORD_OF(added, RECORD_BLOCK, data_columns);

struct add_job {
	const struct request *request;
	struct answer *answer;
	const char *path;  /* of the store */
	const char *sweep; /* folder of the sweep while its captures are added, else NULL */
	struct store *store;
	struct store_identity id;
	const struct text_list *labels; /* given by the user */
	VEC(struct added_row) rows;
};

/* What is read for one capture, freed before the next. */
struct add_reading {
	struct request request;
	struct captures captures;
	struct answer answer;
};

/* The absolute path, so that it is found from anywhere; in the arena unless path is absolute. */
static const char *whole_path(struct add_job *j, const char *path)
{
	char *here, *out;

	if (path[0] == '/')
		return path;
	here = getcwd(NULL, 0);
	out = here ? arena_printf(&j->answer->arena, "%s/%s", here, path) : NULL;
	free(here);
	return out;
}

static bool add_trace(
	struct add_job *j, const struct trace *t, const char *path, struct incore_error *e)
{
	struct arena *arena = &j->answer->arena;
	struct store_added added;
	struct added_row row;

	path = t->meta.origin ? t->meta.origin : path;
	j->id.path = whole_path(j, path);
	if (!j->id.path)
		return err_nomem(e);
	if (!j->store) /* only once there is something to add */
		j->store = store_open(j->path, true, e);
	if (!j->store)
		return false;
	if (!store_add(j->store, t, &j->id, &added, e))
		return err_wrap(e, "adding '%s'", path);
	answer_warn_unread(j->answer, added.unread);
	row = (struct added_row){.path = arena_strdup(arena, j->id.path),
		.kernel = t->meta.kernel ? arena_strdup(arena, t->meta.kernel) : NULL,
		.state = added.is_there ? "there" : "added",
		.capture = added.capture};
	return (row.path && !row.kernel == !t->meta.kernel && VEC_PUSH(&j->rows, row)) ||
	       err_nomem(e);
}

/* Captures of a sweep must not lead out of the sweep's folder; others are named by the user. */
static bool fence_path(
	const struct add_job *j, struct captures *k, const char *path, struct incore_error *e)
{
	captures_follow_links(k, j->request->follow_links);
	if (j->sweep && file_name_below(j->sweep, path) != path && !k->cache.follow_links)
		return captures_fence(k, j->sweep, e);
	return captures_fence_named(k, path, e);
}

static bool add_path(struct add_job *j, const char *path, struct incore_error *e)
{
	struct add_reading x = {.request = *j->request};
	struct trace *t;
	bool ok;

	captures_init(&x.captures);
	arena_init(&x.answer.arena);
	x.request.captures = &x.captures;
	ok = fence_path(j, &x.captures, path, e) &&
	     answer_open(&x.answer, &x.request, path, IMPORT_ALL, &t, e);
	answer_move_warnings(j->answer, &x.answer);
	ok = ok && add_trace(j, t, path, e);
	answer_deinit(&x.answer);
	captures_deinit(&x.captures);
	if (ok && progress_is_cancelled(j->request->progress))
		return err_set(e, INCORE_FAILED, "cancelled", "cancelled");
	return ok;
}

/* The label of a parameter; characters that are not allowed become blanks. */
static const char *label_of(struct add_job *j, const struct sweep_pair *p)
{
	char *out = arena_printf(&j->answer->arena, "%s=%s", p->name, p->value.text);

	for (char *c = out; c && *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == ',')
			*c = ' ';
	return out;
}

static bool add_swept(void *ctx, const struct sweep_capture *x, struct incore_error *e)
{
	struct add_job *j = ctx;
	struct text_list labels = {0};
	bool ok = true;

	j->sweep = x->dir;
	for (size_t i = 0; ok && j->labels && i < j->labels->n; i++)
		ok = VEC_PUSH(&labels, j->labels->v[i]);
	for (size_t i = 0; ok && i < x->params.n; i++) {
		const char *label = label_of(j, &x->params.v[i]);

		ok = label && VEC_PUSH(&labels, label);
	}
	if (!ok)
		err_nomem(e);
	j->id.labels = ok ? store_labels(&j->answer->arena, &labels, e) : NULL;
	VEC_FREE(&labels);
	return j->id.labels && add_path(j, x->path, e);
}

static bool add_all(struct add_job *j, const struct store_params *p, struct incore_error *e)
{
	for (unsigned i = 0; i < j->request->n_paths; i++)
		if (!add_path(j, j->request->paths[i], e))
			return false;
	for (size_t i = 0; i < p->sweeps.n; i++)
		if (!sweep_each_capture(p->sweeps.v[i], add_swept, j, e))
			return false;
	return true;
}

static bool identify(struct add_job *j, const struct store_params *p, struct incore_error *e)
{
	j->id = (struct store_identity){.revision = p->revision, .at = NO_I64};
	j->labels = &p->select.labels;
	if (!j->request->n_paths && !p->sweeps.n)
		return err_set(e, INCORE_USAGE, "missing-argument",
			"store add takes captures, or --sweep DIR");
	if (p->at && !store_time(p->at, &j->id.at))
		return err_set(e, INCORE_USAGE, "bad-time",
			"--at '%s': expected 2026-11-18, 2026-11-18T01:02:03Z or @SECONDS", p->at);
	j->id.labels = store_labels(&j->answer->arena, j->labels, e);
	return j->id.labels != NULL;
}

/* What was added, as the answer. */
static bool put_added(struct add_job *j, struct incore_error *e)
{
	struct store_input *about = ANSWER_NEW(j->answer, store_input, e);
	struct added *x = ANSWER_NEW(j->answer, added, e);
	struct added_row *v =
		x ? ANSWER_ROWS(j->answer, &x->captures, j->rows.n, added_row, e) : NULL;

	if (!about || !v)
		return false;
	if (j->rows.n)
		memcpy(v, j->rows.v, j->rows.n * sizeof(*v));
	about->store = store_shown(j->answer, j->path, e);
	answer_about(j->answer, &store_input_record, about);
	answer_set(j->answer, &data_record, x);
	return about->store != NULL;
}

static bool store_add_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct store_params *p = r->params;
	struct add_job j = {.request = r, .answer = a, .path = store_path(p)};
	bool ok = identify(&j, p, e) && add_all(&j, p, e);

	store_close(j.store);
	ok = ok && put_added(&j, e);
	VEC_FREE(&j.rows);
	return ok;
}

bool store_add_sweep(
	const struct request *r, struct answer *a, struct store_sweep *x, struct incore_error *e)
{
	struct add_job j = {.request = r,
		.answer = a,
		.path = x->store,
		.id = {.revision = x->revision, .at = NO_I64}};
	bool ok = sweep_each_capture(x->dir, add_swept, &j, e);

	store_close(j.store);
	x->n_added = j.rows.n;
	VEC_FREE(&j.rows);
	return ok;
}

static void store_add_page(const struct answer *a, struct page *p)
{
	static const char *const columns[] = {"capture", "state", "kernel", "path", NULL};
	const struct added *x = a->data;

	page_main_records(p, &added_record, x->captures, columns);
}

const struct question question_store_add = {
	.name = "store add",
	.summary = "add captures; creates the store if it does not exist",
	.args = "[CAPTURE...]",
	.max_paths = UINT32_MAX,
	.groups = OPTIONS_CSV | OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&data_record),
	.inputs = RECORDS(&store_input_record),
	.ask = store_add_ask,
	.page = store_add_page,
};
