/* SPDX-License-Identifier: Apache-2.0 */
/* state.c: the folder of a sweep: a copy of the plan, the journal, and the state they describe. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "sweep/shim.h"
#include "sweep/sweep.h"

#define CANCEL_ROUNDS 600 /* each 100 ms */
#define BUSY_ROUNDS 30 /* each 100 ms: guards of a killed driver may still have its journal open */

static bool sweep_state_refuse_entry(void *ctx, const char *name, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "directory-used",
		"%s holds %s: continue with --resume, or name a new one with -o", (const char *)ctx,
		name);
}

/* The folder that holds the plan, as an absolute path. */
static const char *base_of(const char *plan, struct arena *a, struct incore_error *e)
{
	const char *name = path_base(plan);
	char *dir =
		mem_strndup(name == plan ? "." : plan, name == plan ? 1 : (size_t)(name - plan));
	char *real = dir ? realpath(dir, NULL) : NULL;
	const char *base = real ? arena_strdup(a, real) : NULL;

	if (!dir || (real && !base))
		err_nomem(e);
	else if (!real)
		err_errno(e, errno, dir, "cannot find the folder of the plan");
	free(real);
	mem_free(dir);
	return base;
}

/* Fails if the plan differs from the copy: cells are numbered by the copy. */
static bool same_plan(const char *copy, struct str text, const char *plan, struct incore_error *e)
{
	struct file_data f = {0};
	bool ok = file_load(&f, copy, e);

	if (ok && !str_eq((struct str){(const char *)f.data, f.size}, text))
		ok = err_set(e, INCORE_USAGE, "plan-changed",
			"%s is not the plan that this sweep was begun with, %s: begin another with -o",
			plan, copy);
	file_unload(&f);
	return ok;
}

/* Creates the plan's copy in the folder, or compares the plan with it. */
static bool keep_plan(struct sweep *s, struct incore_error *e)
{
	const char *copy = arena_printf(&s->arena, "%s/" SWEEP_PLAN_COPY, s->dir);
	struct file_data f = {0};
	struct str text;
	bool ok;

	if (!copy)
		return err_nomem(e);
	if (!file_load(&f, s->q->plan, e))
		return false;
	text = (struct str){(const char *)f.data, f.size};
	ok = s->q->is_resume && file_exists(copy) ? same_plan(copy, text, s->q->plan, e)
						  : out_file_text(copy, text, e);
	file_unload(&f);
	return ok;
}

static bool make_tasks(struct sweep *s, struct incore_error *e)
{
	const struct sweep_plan *p = &s->plan;

	s->tasks = mem_zalloc(p->n_tasks, sizeof(*s->tasks));
	if (!s->tasks)
		return err_nomem(e);
	for (uint64_t i = 0; i < p->n_tasks; i++) {
		s->tasks[i].is_excluded = sweep_is_excluded(p, sweep_cell_of(p, i));
		s->n_excluded += s->tasks[i].is_excluded;
	}
	s->counts[SWEEP_WAITING] = p->n_tasks - s->n_excluded;
	return true;
}

/* Sets the names and reads the plan from the file `plan`. */
static bool sweep_state_init(
	struct sweep *s, const struct sweep_request *q, const char *plan, struct incore_error *e)
{
	*s = (struct sweep){.q = q};
	arena_init(&s->arena);
	if (!sweep_plan_load(&s->plan, plan, e))
		return false;
	s->base = base_of(plan, &s->arena, e);
	if (!s->base || !make_tasks(s, e))
		return false;
	s->name = s->plan.name ? s->plan.name : arena_strdup(&s->arena, path_base(plan));
	return s->name || err_nomem(e);
}

bool sweep_preview(struct sweep *s, const struct sweep_request *q, struct incore_error *e)
{
	if (!sweep_state_init(s, q, q->plan, e))
		return false;
	s->dir = q->dir;
	return q->uses_slurm || !s->plan.needs.devices ||
	       sweep_devices_find(&s->plan, &s->arena, &s->devices, e);
}

/* Makes the folder's path absolute: tasks run elsewhere. */
static bool find_dir(struct sweep *s, struct incore_error *e)
{
	char *real = realpath(s->q->dir, NULL);

	s->dir = real ? arena_strdup(&s->arena, real) : NULL;
	s->journal_path = real ? arena_printf(&s->arena, "%s/" SWEEP_JOURNAL, real) : NULL;
	if (!real)
		return err_errno(e, errno, s->q->dir, "cannot open the folder of the sweep");
	free(real);
	return (s->dir && s->journal_path) || err_nomem(e);
}

static bool open_journal(struct sweep *s, struct incore_error *e)
{
	for (unsigned i = 0; i < BUSY_ROUNDS; i++) {
		if (journal_open(&s->journal, s->journal_path, sweep_apply, s, e))
			return true;
		if (!err_is(e, "journal-busy") || !s->q->is_resume)
			return false;
		usleep(100000);
	}
	return false;
}

bool sweep_open(struct sweep *s, const struct sweep_request *q, struct incore_error *e)
{
	if (!sweep_state_init(s, q, q->plan, e))
		return false;
	if (mkdir(q->dir, 0777) != 0 && errno != EEXIST)
		return err_output(e, errno, q->dir, "cannot make the folder");
	if (!q->is_resume && !dir_each(q->dir, sweep_state_refuse_entry, (void *)q->dir, e))
		return false;
	if (!find_dir(s, e) || !keep_plan(s, e) || !open_journal(s, e))
		return false;
	s->uses_slurm |= q->uses_slurm;
	return s->is_begun || sweep_note_begin(s, e);
}

bool sweep_run(struct sweep *s, struct incore_error *e)
{
	return s->uses_slurm ? sweep_run_slurm(s, e) : sweep_run_local(s, e);
}

/* Waits until no driver holds the journal any more. */
static bool wait_for_driver(struct sweep *s, struct incore_error *e)
{
	for (unsigned i = 0; i < CANCEL_ROUNDS; i++) {
		if (journal_open(&s->journal, s->journal_path, NULL, NULL, e))
			return true;
		if (!err_is(e, "journal-busy"))
			return false;
		usleep(100000);
	}
	return err_wrap(e, "the driver of %s has not ended yet: try again later", s->dir);
}

bool sweep_cancel(struct sweep *s, struct incore_error *e)
{
	const char *marker = arena_printf(&s->arena, "%s/" SWEEP_CANCEL, s->dir);
	const struct sweep_request *q = s->q;

	if (!marker)
		return err_nomem(e);
	if (!out_file_text(marker, STR("cancel\n"), e) || !wait_for_driver(s, e))
		return false;
	journal_close(&s->journal);
	sweep_close(s);
	if (!sweep_look(s, q, e)) /* as its driver left it */
		return false;
	if (!s->uses_slurm)
		return true;
	return journal_open(&s->journal, s->journal_path, NULL, NULL, e) &&
	       sweep_cancel_slurm(s, e);
}

bool sweep_look(struct sweep *s, const struct sweep_request *q, struct incore_error *e)
{
	char *plan = path_join(q->dir, SWEEP_PLAN_COPY);
	bool ok;

	*s = (struct sweep){.q = q};
	if (!plan)
		return err_nomem(e);
	if (!file_exists(plan))
		ok = err_file(e, "no-sweep", q->dir, INCORE_NO_OFFSET,
			"there is no sweep here: it has no " SWEEP_PLAN_COPY);
	else
		ok = sweep_state_init(s, q, plan, e) && find_dir(s, e) &&
		     (!file_exists(s->journal_path) ||
			     journal_read(s->journal_path, sweep_apply, s, e));
	mem_free(plan);
	return ok;
}

void sweep_close(struct sweep *s)
{
	EACH (struct sweep_submission, x, s->submissions.v, s->submissions.n)
		VEC_FREE(&x->tasks);
	VEC_FREE(&s->submissions);
	VEC_FREE(&s->sick);
	journal_close(&s->journal);
	mem_free(s->tasks);
	sweep_plan_deinit(&s->plan);
	arena_deinit(&s->arena);
	*s = (struct sweep){0};
}

const char *sweep_dir_of(const struct sweep *s, uint32_t task, uint32_t attempt, struct arena *a)
{
	const struct sweep_plan *p = &s->plan;

	return sweep_attempt_dir(s->dir,
		sweep_task_name(sweep_cell_of(p, task), task % p->repeats, p->repeats, a), attempt,
		a);
}

bool sweep_is_done(const struct sweep *s)
{
	return !s->counts[SWEEP_WAITING] && !s->counts[SWEEP_RUNNING];
}
