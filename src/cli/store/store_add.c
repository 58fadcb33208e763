/* SPDX-License-Identifier: Apache-2.0 */
/* store_add.c: incore store add: adds captures to a store, each whole or not at all. */
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "cli/ask.h"
#include "cli/draw.h"
#include "cli/store/store_job.h"
#include "page/say.h"
#include "sweep/handover.h"

static const struct option_def options[] = {
	STORE_OPTION,
	{OPT_REVISION, NULL, NULL, "revision of the source of the captures"},
	{OPT_LABEL, NULL, NULL, "label that distinguishes captures of one kernel; may be repeated"},
	{OPT_SWEEP, NULL, NULL,
		"all captures of this sweep, labelled with their parameters; may be repeated"},
	{OPT_AT, NULL, NULL,
		"time of the captures: 2026-11-18[T01:02:03Z] or @SECONDS (default: now)"},
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
	struct cli *c;
	const char *path;  /* of the store */
	const char *sweep; /* folder of the sweep while its captures are added, else NULL */
	struct asked asked;
	struct store *store;
	struct arena arena;
	struct store_identity id;
	struct text_list labels; /* given by the user */
	VEC(struct added_row) rows;
};

/* Each capture needs the memory of the one before: the C library would return it to the system in
 * between and request it again, 240 page faults each. Setting this stops the C library from raising
 * its mmap threshold as it runs, so that is set to the highest value that it would choose. */
static void keep_memory(void)
{
#ifdef __GLIBC__
	mallopt(M_TRIM_THRESHOLD, 64 << 20);
	mallopt(M_MMAP_THRESHOLD, 32 << 20);
#endif
}

/* The absolute path, so that it is found from anywhere; in the arena unless path is absolute. */
static const char *whole_path(struct add_job *j, const char *path)
{
	char *here, *out;

	if (path[0] == '/')
		return path;
	here = getcwd(NULL, 0);
	out = here ? arena_printf(&j->arena, "%s/%s", here, path) : NULL;
	free(here);
	return out;
}

static bool add_one(struct add_job *j, const char *path)
{
	struct incore_error *e = &j->c->error;
	struct added_row row;
	struct store_added added;
	struct trace *t;

	if (!cli_open(j->c, &j->asked, path, IMPORT_ALL, &t))
		return false;
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
	cli_warn_unread(j->c, added.unread);
	row = (struct added_row){.path = j->id.path,
		.kernel = t->meta.kernel ? arena_strdup(&j->arena, t->meta.kernel) : NULL,
		.state = added.is_there ? "there" : "added",
		.capture = added.capture};
	if (t->meta.kernel && !row.kernel)
		return err_nomem(e);
	row.path = arena_strdup(&j->arena, row.path); /* it may point into the trace */
	return (row.path && VEC_PUSH(&j->rows, row)) || err_nomem(e);
}

/* Captures of a sweep must not lead out of the sweep's folder; others are named by the user. */
static bool fence(struct add_job *j, const char *path)
{
	struct captures *k = &j->asked.captures;

	if (j->sweep && file_name_below(j->sweep, path) != path && !k->cache.follow_links)
		return captures_fence(k, j->sweep, &j->c->error);
	return captures_fence_named(k, path, &j->c->error);
}

/* Frees what was read for one capture before the next. */
static bool add_path(struct add_job *j, const char *path)
{
	bool ok = cli_begin(j->c, &j->asked) && fence(j, path) && add_one(j, path);

	cli_answered(&j->asked);
	if (ok && progress_is_cancelled(j->c->progress))
		return err_set(&j->c->error, INCORE_FAILED, "cancelled", "cancelled");
	return ok;
}

/* The label of a parameter; characters that are not allowed become blanks. */
static const char *label_of(struct add_job *j, const struct sweep_pair *p)
{
	char *out = arena_printf(&j->arena, "%s=%s", p->name, p->value.text);

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
	for (size_t i = 0; ok && i < j->labels.n; i++)
		ok = VEC_PUSH(&labels, j->labels.v[i]);
	for (size_t i = 0; ok && i < x->params.n; i++) {
		const char *label = label_of(j, &x->params.v[i]);

		ok = label && VEC_PUSH(&labels, label);
	}
	if (!ok)
		err_nomem(e);
	j->id.labels = ok ? store_labels(&j->arena, &labels, e) : NULL;
	VEC_FREE(&labels);
	if (!j->id.labels || add_path(j, x->path))
		return j->id.labels != NULL;
	if (e != &j->c->error)
		err_move(e, &j->c->error);
	return false;
}

static bool add_all(struct add_job *j)
{
	struct incore_error *e = &j->c->error;

	for (unsigned i = 0; i < j->c->n_args; i++)
		if (!add_path(j, j->c->args[i]))
			return false;
	for (unsigned i = 0; i < cli_many(j->c, "sweep"); i++)
		if (!sweep_each_capture(cli_many_at(j->c, "sweep", i), add_swept, j, e))
			return false;
	return true;
}

static bool prepare(struct add_job *j)
{
	struct incore_error *e = &j->c->error;
	const char *at = cli_text(j->c, "at");
	bool ok = true;

	j->id = (struct store_identity){.revision = cli_text(j->c, "revision"), .at = NO_I64};
	if (!j->c->n_args && !cli_many(j->c, "sweep"))
		return err_set(e, INCORE_USAGE, "missing-argument",
			"store add takes captures, or --sweep DIR");
	if (at && !store_time(at, &j->id.at))
		return err_set(e, INCORE_USAGE, "bad-time",
			"--at '%s': a time is 2026-11-18, 2026-11-18T01:02:03Z or @SECONDS", at);
	for (unsigned i = 0; ok && i < cli_many(j->c, "label"); i++)
		ok = VEC_PUSH(&j->labels, cli_many_at(j->c, "label", i)) || err_nomem(e);
	j->id.labels = ok ? store_labels(&j->arena, &j->labels, e) : NULL;
	return j->id.labels != NULL;
}

static bool print(struct add_job *j)
{
	static const char *const columns[] = {"capture", "state", "kernel", "path", NULL};
	const char *path = store_shown(j->path, &j->arena);
	struct added x = {{j->rows.v, j->rows.n}};

	if (!path)
		return err_nomem(&j->c->error);
	if (j->c->use_json)
		return store_job_json(j->c, path, &data_record, &x);
	return record_table_print(j->c, &added_record, x.captures, columns);
}

static void free_job(struct add_job *j)
{
	VEC_FREE(&j->rows);
	VEC_FREE(&j->labels);
	arena_deinit(&j->arena);
}

static bool run_add(struct cli *c)
{
	struct add_job j = {.c = c, .path = store_path(c)};
	bool ok;

	keep_memory();
	arena_init(&j.arena);
	ok = prepare(&j) && add_all(&j);
	store_close(j.store);
	ok = ok && print(&j);
	free_job(&j);
	return ok;
}

bool store_add_sweep(struct cli *c, const char *dir, const char *path)
{
	const struct verb *verb = c->verb;
	struct add_job j = {
		.c = c, .path = path, .id = {.revision = cli_text(c, "revision"), .at = NO_I64}};
	const char *shown;
	bool ok;

	keep_memory();
	arena_init(&j.arena);
	shown = store_shown(path, &j.arena);
	c->verb = &store_verb_add; /* read captures with the options of `store add` */
	ok = (shown || err_nomem(&c->error)) && sweep_each_capture(dir, add_swept, &j, &c->error);
	c->verb = verb;
	store_close(j.store);
	if (ok && !c->use_json)
		say(c->out, "%s in %s\n", COUNTED(j.rows.n, "capture"), shown);
	free_job(&j);
	return ok;
}

const struct verb store_verb_add = {
	.name = "store add",
	.args = "[CAPTURE...]",
	.summary = "add captures; creates the store if it does not exist",
	.groups = OPTIONS_OUTPUT | OPTIONS_CSV | OPTIONS_CAPTURE,
	.options = options,
	.max_args = UINT32_MAX,
	.run = run_add,
	.records = RECORDS(&data_record),
	.inputs = store_inputs,
};
