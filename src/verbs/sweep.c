/* SPDX-License-Identifier: Apache-2.0 */
/* sweep.c: incore sweep run, status, cancel: a plan of many runs; and cell: one attempt of a task. */
#include "sweep/answer.h"

#include "answer/answer.h"
#include "page/page.h"
#include "sweep/handover.h"
#include "sweep/shim.h"
#ifdef INCORE_SQLITE
#include "verbs/store/store_verbs.h"
#endif

struct sweep_params {
	struct sweep_request run;
	const char *store, *revision; /* for captures that are added to a store */
	bool is_captures;	      /* only their paths */
};
#define FIELD(M) OPTION_FIELD(sweep_params, M)

static const struct option_def run_options[] = {
	{OPT_OUTPUT_FOLDER, NULL, NULL,
		"folder of the sweep (default: the plan's name with .sweep)", FIELD(run.dir)},
	{OPT_RESUME, NULL, NULL,
		"continue a sweep that ended or was killed; finished tasks do not run again",
		FIELD(run.is_resume)},
	{OPT_SLURM, NULL, NULL, "submit the tasks to Slurm as job arrays", FIELD(run.uses_slurm)},
	{OPT_FOLLOW, NULL, NULL, "with --slurm: wait until all tasks end, and retry lost ones",
		FIELD(run.follows)},
	{OPT_DRY_RUN, NULL, NULL, "print what would be done; run nothing", FIELD(run.is_dry)},
#ifdef INCORE_SQLITE
	{OPT_STORE, NULL, NULL,
		"add the captures of finished tasks to this store, not to the plan's",
		FIELD(store)},
	{OPT_REVISION, NULL, NULL, "revision of the built source, for captures added to a store",
		FIELD(revision)},
#endif
	OPTION_END,
};

struct sweep_about {
	const char *plan; /* NULL: the folder's own */
	const char *directory;
};
static const struct column input_columns[] = {
	COLUMN(sweep_about, plan, UNIT_NONE,
		"path of the plan; null: the folder's own copy was used", NULLABLE),
	COLUMN(sweep_about, directory, UNIT_NONE, "the folder of the sweep"),
};
static const struct record input_record = RECORD_OF(sweep_about, RECORD_BLOCK, input_columns);

/* One sweep, kept by the answer, whose texts are its. */
struct sweep_job {
	struct sweep_answer answer; /* the described value */
	struct sweep_request q;
	struct sweep sweep;
	const struct request *request; /* while it is answered */
	bool is_made;		       /* the answer is */
	const char *store;	       /* that captures were added to; NULL: none */
	uint64_t n_added;
	bool is_captures;
	VEC(const char *) captures;
};

static void drop_sweep(struct sweep_job *j)
{
	if (j->is_made)
		sweep_answer_deinit(&j->answer);
	sweep_close(&j->sweep);
	VEC_FREE(&j->captures);
}

static struct sweep_job *new_job(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct sweep_job *j = ANSWER_NEW(a, sweep_job, e);

	if (!j || !ANSWER_KEEP(a, j, drop_sweep, e))
		return NULL;
	j->request = r;
	return j;
}

static bool put_state(struct sweep_job *j, struct answer *a, struct incore_error *e)
{
	struct sweep_about *about = ANSWER_NEW(a, sweep_about, e);

	j->is_made = true;
	if (!sweep_answer_make(&j->sweep, &j->answer, e) || !about)
		return false;
	*about = (struct sweep_about){j->q.plan, j->q.dir};
	a->is_no = j->answer.failed || j->answer.cancelled;
	answer_about(a, &input_record, about);
	answer_set(a, &sweep_answer_record, &j->answer);
	return true;
}

/* --- running --- */

static void tell_event(void *ctx, const struct sweep *s, const char *line)
{
	const struct request *r = ((struct sweep_job *)ctx)->request;

	if (r->tell)
		r->tell(r->tell_ctx, line, s);
}

static bool is_to_end(void *ctx)
{
	const struct request *r = ((struct sweep_job *)ctx)->request;

	return (r->signals && r->signals->is_held(NULL)) || progress_is_cancelled(r->progress);
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

/* The state is the answer, also where the run failed: then that is the failure of the answer. */
static bool run_plan(struct sweep_job *j, struct answer *a, struct incore_error *e)
{
	struct incore_error later = {0};
	bool ok;

	if (j->q.is_dry)
		return sweep_preview(&j->sweep, &j->q, e) && put_state(j, a, e);
	j->q.on_event = tell_event;
	j->q.is_cancelled = is_to_end;
	j->q.ctx = j;
	if (!sweep_open(&j->sweep, &j->q, e))
		return false;
	if (j->request->signals)
		j->request->signals->hold(true);
	ok = sweep_run(&j->sweep, e);
	tell_event(j, NULL, NULL);
	if (ok)
		return put_state(j, a, e);
	if (put_state(j, a, &later))
		err_move(&a->failure, e);
	incore_error_clear(&later);
	return a->failure.status != INCORE_OK;
}

#ifdef INCORE_SQLITE
static bool add_to_store(
	struct sweep_job *j, struct answer *a, const char *store, struct incore_error *e)
{
	const struct sweep_params *p = j->request->params;
	struct store_sweep x = {.dir = j->q.dir, .store = store, .revision = p->revision};

	j->store = store_shown(a, store, e);
	journal_close(&j->sweep.journal); /* for a driver that goes on */
	if (!j->store || !store_add_sweep(j->request, a, &x, e))
		return false;
	j->n_added = x.n_added;
	return true;
}
#else
static bool add_to_store(
	struct sweep_job *j, struct answer *a, const char *store, struct incore_error *e)
{
	(void)j;
	(void)a;
	return err_set(e, INCORE_MISSING, "no-sqlite",
		"this incore was built without SQLite: %s gets no captures", store);
}
#endif

/* Adds the captures to the store that the request or the plan names, if any. */
static bool hand_to_store(struct sweep_job *j, struct answer *a, struct incore_error *e)
{
	const struct sweep_params *p = j->request->params;
	const char *path = j->sweep.plan.store, *store = p->store;

	if (!store && path) /* relative to the base, as all paths of a plan */
		store = *path == '/' || str_has(str_of(path), "://")
				? path
				: arena_printf(&a->arena, "%s/%s", j->sweep.base, path);
	if (!store)
		return !path || err_nomem(e);
	return add_to_store(j, a, store, e);
}

static bool sweep_run_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct sweep_params *p = r->params;
	struct sweep_job *j = new_job(r, a, e);

	if (!j)
		return false;
	j->q = p->run;
	j->q.plan = r->paths[0];
	if (!j->q.dir)
		j->q.dir = default_dir(&a->arena, j->q.plan);
	if (!j->q.dir)
		return err_nomem(e);
	if (!run_plan(j, a, e))
		return false;
	if (a->failure.status == INCORE_OK && !j->q.is_dry && !hand_to_store(j, a, e))
		err_move(&a->failure, e);
	return true;
}

/* --- its page --- */

static void put_plan(struct page *p, const struct sweep_answer *a)
{
	for (size_t i = 0; i < a->by_task.n; i++) {
		page_line(p, "%llu.%llu  %s", (unsigned long long)a->by_task.v[i].cell,
			(unsigned long long)a->by_task.v[i].repeat, a->by_task.v[i].params);
		page_command(p, "  ", "%s", a->by_task.v[i].command);
	}
	page_say(p, "%llu task%s of %llu cell%s, %llu left out; results in %s; pool %s:",
		(unsigned long long)a->tasks, plural(a->tasks), (unsigned long long)a->cells,
		plural(a->cells), (unsigned long long)a->excluded, a->directory, a->pool);
	for (size_t i = 0; i < a->devices.n; i++)
		page_say(p, " %s", a->devices.v[i]);
	page_line(p, "%s", a->devices.n ? "" : " no devices");
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

static void put_tasks(struct page *p, const struct sweep_answer *a, uint64_t repeats)
{
	static const char *const tasks[] = {"cell", "repeat", "params", "state", "attempts",
		"where", "wall_ms=ms", "how", NULL};
	static const char *const cells[] = {
		"cell", "params", "ok", "failed", "median_ms", "spread", NULL};

	page_main_records_styled(p, &sweep_task_record, (struct rows){a->by_task.v, a->by_task.n},
		tasks, state_style);
	if (repeats > 1)
		page_records(
			p, &sweep_cell_record, (struct rows){a->by_cell.v, a->by_cell.n}, cells);
}

static void sweep_state_page(const struct answer *answer, struct page *p)
{
	const struct sweep_job *j = answer->data;
	const struct sweep_answer *a = &j->answer;

	for (size_t i = 0; i < j->captures.n; i++)
		page_line(p, "%s", j->captures.v[i]);
	if (j->is_captures)
		return;
	if (j->q.is_dry) {
		put_plan(p, a);
		return;
	}
	put_tasks(p, a, j->sweep.plan.repeats);
	for (size_t i = 0; i < a->sick.n; i++)
		page_line(p, "%s left the pool: %s", a->sick.v[i].id, a->sick.v[i].why);
	for (size_t i = 0; i < a->submissions.n; i++)
		page_line(p, "Slurm job %s: %llu of %llu tasks open",
			a->submissions.v[i].job_id ? a->submissions.v[i].job_id : "(not known)",
			(unsigned long long)a->submissions.v[i].open,
			(unsigned long long)a->submissions.v[i].tasks);
	page_line(p,
		"%s: %llu of %llu ok, %llu failed, %llu cancelled, %llu running, %llu waiting; %llu attempts, %llu of them again",
		a->verdict, (unsigned long long)a->ok, (unsigned long long)a->tasks,
		(unsigned long long)a->failed, (unsigned long long)a->cancelled,
		(unsigned long long)a->running, (unsigned long long)a->waiting,
		(unsigned long long)a->attempts, (unsigned long long)a->retries);
	if (j->store && answer->failure.status == INCORE_OK)
		page_line(p, "%s in %s", COUNTED(j->n_added, "capture"), j->store);
}

#define SWEEP_QUESTION(NAME, ARGS)                                                                 \
	.name = "sweep " #NAME, .args = (ARGS), .min_paths = 1, .max_paths = 1,                    \
	.params_size = sizeof(struct sweep_params), .records = RECORDS(&sweep_answer_record),      \
	.inputs = RECORDS(&input_record), .ask = sweep_##NAME##_ask, .page = sweep_state_page

const struct question question_sweep_run = {
	SWEEP_QUESTION(run, "PLAN"),
	.summary = "run a plan; `run` may be left out",
	.options = run_options,
};

/* --- looking and ending --- */

static const struct option_def status_options[] = {
	{OPT_CAPTURES, NULL, NULL, "print only the paths of captures of finished tasks",
		FIELD(is_captures)},
	OPTION_END,
};

struct path_taker {
	struct sweep_job *job;
	struct answer *answer;
};

static bool take_capture(void *ctx, const struct sweep_capture *x, struct incore_error *e)
{
	struct path_taker *t = ctx;
	const char *path = arena_strdup(&t->answer->arena, x->path);

	return (path && VEC_PUSH(&t->job->captures, path)) || err_nomem(e);
}

static bool sweep_status_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct sweep_params *p = r->params;
	struct sweep_job *j = new_job(r, a, e);

	if (!j)
		return false;
	j->q.dir = r->paths[0];
	if (!sweep_look(&j->sweep, &j->q, e) || !put_state(j, a, e))
		return false;
	if (!p->is_captures || !r->is_for_people) /* the others have them in the answer */
		return true;
	j->is_captures = true;
	a->is_no = false; /* what was asked for is there */
	return sweep_each_capture(j->q.dir, take_capture, &(struct path_taker){j, a}, e);
}

const struct question question_sweep_status = {
	SWEEP_QUESTION(status, "DIR"),
	.summary = "what a sweep has come to, also while it runs",
	.options = status_options,
};

static bool sweep_cancel_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct sweep_job *j = new_job(r, a, e);

	if (!j)
		return false;
	j->q.dir = r->paths[0];
	return sweep_look(&j->sweep, &j->q, e) && sweep_cancel(&j->sweep, e) && put_state(j, a, e);
}

const struct question question_sweep_cancel = {
	SWEEP_QUESTION(cancel, "DIR"),
	.summary = "end a sweep, its tasks, and its jobs in Slurm",
};

/* --- one attempt --- */

struct cell_params {
	const char *base, *list;
	uint64_t task, attempt, index;
};
#define CELL_FIELD(M) OPTION_FIELD(cell_params, M)
static const struct option_def cell_options[] = {
	{OPT_BASE, NULL, ".", "folder of the plan", CELL_FIELD(base)},
	{OPT_TASK_NUMBER, NULL, NULL, "number of the task", CELL_FIELD(task)},
	{OPT_ATTEMPT, NULL, "1", "number of the attempt", CELL_FIELD(attempt)},
	{OPT_LIST_FILE, NULL, NULL, "file with tasks and attempts, one per line", CELL_FIELD(list)},
	{OPT_INDEX, NULL, NULL, "line of the list, from 0", CELL_FIELD(index)},
	OPTION_END,
};

/* What it did is the result that it left in the folder of the sweep, which the driver reads. */
static bool sweep_cell_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	const struct cell_params *p = r->params;
	struct sweep_shim s = {.dir = r->paths[0],
		.base = p->base,
		.task = p->task,
		.attempt = (uint32_t)p->attempt,
		.is_cancelled = r->signals->is_held,
		.cancel_signal = r->signals->first};
	bool has_task = p->task != NO_COUNT, has_index = p->index != NO_COUNT;

	a->is_streamed = true;
	if (!p->list != !has_index || !p->list != has_task || !s.attempt)
		return err_set(e, INCORE_USAGE, "missing-option",
			"sweep cell needs --task N, or --list FILE with --index N");
	if (p->list && !sweep_shim_pick(&s, p->list, p->index, e))
		return false;
	r->signals->hold(true);
	return sweep_shim_run(&s, e);
}

const struct question question_sweep_cell = {
	.name = "sweep cell",
	.args = "DIR",
	.summary = "run one attempt of one task, as the driver and Slurm do",
	.options = cell_options,
	.params_size = sizeof(struct cell_params),
	.min_paths = 1,
	.max_paths = 1,
	.ask = sweep_cell_ask,
};
