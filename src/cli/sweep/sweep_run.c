/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_run.c: incore sweep PLAN: runs it, resumes it, or prints what it would do. */
#include <unistd.h>

#include "cli/draw.h"
#include "cli/output.h"
#include "cli/store/store_job.h"
#include "cli/sweep/sweep_verbs.h"
#include "page/say.h"

#define FIELD(M) OPTION_FIELD(sweep_request, M)

static const struct option_def options[] = {
	{OPT_OUTPUT_FOLDER, NULL, NULL,
		"folder of the sweep (default: the plan's name with .sweep)", FIELD(dir)},
	{OPT_RESUME, NULL, NULL,
		"continue a sweep that ended or was killed; finished tasks do not run again",
		FIELD(is_resume)},
	{OPT_SLURM, NULL, NULL, "submit the tasks to Slurm as job arrays", FIELD(uses_slurm)},
	{OPT_FOLLOW, NULL, NULL, "with --slurm: wait until all tasks end, and retry lost ones",
		FIELD(follows)},
	{OPT_DRY_RUN, NULL, NULL, "print what would be done; run nothing", FIELD(is_dry)},
#ifdef INCORE_SQLITE
	{OPT_STORE, NULL, NULL,
		"add the captures of finished tasks to this store, not to the plan's"},
	{OPT_REVISION, NULL, NULL, "revision of the built source, for captures added to a store"},
#endif
	OPTION_END,
};

static const struct column input_columns[] = {
	COLUMN(sweep_input, plan, UNIT_NONE,
		"path of the plan; null: the folder's own copy was used", NULLABLE),
	COLUMN(sweep_input, directory, UNIT_NONE, "the folder of the sweep"),
};
const struct record sweep_input_record = RECORD_OF(sweep_input, RECORD_BLOCK, input_columns);

static void print_plan(struct cli *c, const struct sweep_answer *a)
{
	for (size_t i = 0; i < a->by_task.n; i++)
		say(c->out, "%llu.%llu  %s\n  %s\n", (unsigned long long)a->by_task.v[i].cell,
			(unsigned long long)a->by_task.v[i].repeat, a->by_task.v[i].params,
			a->by_task.v[i].command);
	say(c->out, "%llu task%s of %llu cell%s, %llu left out; results in %s; pool %s:",
		(unsigned long long)a->tasks, plural(a->tasks), (unsigned long long)a->cells,
		plural(a->cells), (unsigned long long)a->excluded, a->directory, a->pool);
	for (size_t i = 0; i < a->devices.n; i++)
		say(c->out, " %s", a->devices.v[i]);
	say(c->out, "%s\n", a->devices.n ? "" : " no devices");
}

static enum cell_style state_style(const void *row, const char *column)
{
	const struct sweep_task_row *x = row;

	if (strcmp(column, "state") != 0)
		return CELL_PLAIN;
	return strcmp(x->state, "failed") == 0 ? CELL_BAD
	       : strcmp(x->state, "ok") == 0   ? CELL_PLAIN
					       : CELL_WARM;
}

static bool print_tasks(struct cli *c, const struct sweep *s, const struct sweep_answer *a)
{
	static const char *const tasks[] = {"cell", "repeat", "params", "state", "attempts",
		"where", "wall_ms=ms", "how", NULL};
	static const char *const cells[] = {
		"cell", "params", "ok", "failed", "median_ms", "spread", NULL};
	bool ok = record_table_print_styled(c, &sweep_task_record,
		(struct rows){a->by_task.v, a->by_task.n}, tasks, state_style);

	if (ok && s->plan.repeats > 1)
		ok = record_table_print(
			c, &sweep_cell_record, (struct rows){a->by_cell.v, a->by_cell.n}, cells);
	return ok;
}

static bool print_text(struct cli *c, const struct sweep *s, const struct sweep_answer *a)
{
	if (s->q->is_dry) {
		print_plan(c, a);
		return true;
	}
	if (!print_tasks(c, s, a))
		return false;
	for (size_t i = 0; i < a->sick.n; i++)
		say(c->out, "%s left the pool: %s\n", a->sick.v[i].id, a->sick.v[i].why);
	for (size_t i = 0; i < a->submissions.n; i++)
		say(c->out, "Slurm job %s: %llu of %llu tasks open\n",
			a->submissions.v[i].job_id ? a->submissions.v[i].job_id : "(not known)",
			(unsigned long long)a->submissions.v[i].open,
			(unsigned long long)a->submissions.v[i].tasks);
	say(c->out,
		"%s: %llu of %llu ok, %llu failed, %llu cancelled, %llu running, %llu waiting; %llu attempts, %llu of them again\n",
		a->verdict, (unsigned long long)a->ok, (unsigned long long)a->tasks,
		(unsigned long long)a->failed, (unsigned long long)a->cancelled,
		(unsigned long long)a->running, (unsigned long long)a->waiting,
		(unsigned long long)a->attempts, (unsigned long long)a->retries);
	return true;
}

bool sweep_print(struct cli *c, struct sweep *s, const char *plan)
{
	struct sweep_answer a;
	bool ok = sweep_answer_make(s, &a, &c->error);

	c->is_no = ok && (a.failed || a.cancelled);
	if (ok && c->use_json)
		ok = cli_json(c, &sweep_input_record, &(struct sweep_input){plan, s->q->dir},
			&sweep_answer_record, &a);
	else if (ok)
		ok = print_text(c, s, &a);
	sweep_answer_deinit(&a);
	return ok;
}

/* "plans/attention.yaml": attention.sweep */
static const char *default_dir(struct arena *a, const char *plan)
{
	struct str name = str_of(path_base(plan));

	if (str_ends(name, ".yaml"))
		name.n -= strlen(".yaml");
	else if (str_ends(name, ".yml"))
		name.n -= strlen(".yml");
	return arena_printf(a, "%.*s.sweep", STR_ARG(name));
}

static bool run_sweep(struct cli *c, struct sweep *s, struct sweep_request *q)
{
	struct sweep_live live = {.as_json = c->use_json,
		.is_shown = !c->use_json && c->progress && isatty(STDERR_FILENO)};
	struct incore_error later = {0};
	bool ok;

	if (q->is_dry)
		return sweep_preview(s, q, &c->error) && sweep_print(c, s, q->plan);
	q->on_event = sweep_live_event;
	q->ctx = &live;
	if (!sweep_open(s, q, &c->error))
		return false;
	output_finish_on_signals();
	ok = sweep_run(s, &c->error);
	sweep_live_end(&live);
	err_move(&later, &c->error);
	if (!sweep_print(c, s, q->plan) && ok)
		return false;
	if (!ok)
		err_move(&c->error, &later);
	incore_error_clear(&later);
	return ok;
}

/* The store for captures, as a string that outlives the sweep; NULL: none. */
static bool find_store(struct cli *c, const struct sweep *s, struct arena *a, const char **out)
{
	const char *path = s->plan.store;

	*out = cli_has(c, "store") ? cli_text(c, "store") : NULL;
	if (*out || !path)
		return true;
	*out = *path == '/' || str_has(str_of(path), "://")
		       ? arena_strdup(a, path)
		       : arena_printf(a, "%s/%s", s->base,
				 path); /* relative to the base, as all paths of a plan */
	return *out || err_nomem(&c->error);
}

static bool add_to_store(struct cli *c, const char *dir, const char *store)
{
#ifdef INCORE_SQLITE
	return store_add_sweep(c, dir, store);
#else
	(void)dir;
	return err_set(&c->error, INCORE_MISSING, "no-sqlite",
		"this incore was built without SQLite: %s gets no captures", store);
#endif
}

static bool run(struct cli *c)
{
	struct sweep_request q = {.plan = c->args[0], .is_cancelled = output_interrupted};
	struct sweep s = {0};
	const char *store = NULL;
	struct arena a;
	bool ok;

	for (const struct option_def *d = options; d->name; d++)
		if (d->is_stored)
			option_store(
				d, cli_has(c, d->name) ? cli_text(c, d->name) : d->fallback, &q);
	arena_init(&a);
	if (!q.dir)
		q.dir = default_dir(&a, q.plan);
	ok = q.dir ? run_sweep(c, &s, &q) : err_nomem(&c->error);
	ok = ok && find_store(c, &s, &a, &store);
	sweep_close(&s);
	if (ok && store && !q.is_dry)
		ok = add_to_store(c, q.dir, store);
	arena_deinit(&a);
	return ok;
}

const struct verb sweep_verb_run = {
	.name = "sweep run",
	.args = "PLAN",
	.summary = "run a plan; `run` may be left out",
	.groups = OPTIONS_OUTPUT | OPTIONS_OWN_FILE,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run,
	.records = RECORDS(&sweep_answer_record),
	.inputs = RECORDS(&sweep_input_record),
};
