/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c: rows of a sweep, and their descriptions. */
#include "sweep/answer.h"

#include <math.h>
#include <stdlib.h>

#include "answer/rows.h"
#include "base/process.h"

static const struct column sick_columns[] = {
	COLUMN_AS(sweep_sick, id, "device", UNIT_NONE, "device that was removed from the pool"),
	COLUMN(sweep_sick, why, UNIT_NONE, "why the device was removed"),
};
static const struct record sick_record = RECORD_OF(sweep_sick, RECORD_LINE, sick_columns);

static const struct column job_columns[] = {
	COLUMN(sweep_job_row, name, UNIT_NONE, "name of the Slurm jobs"),
	COLUMN(sweep_job_row, job_id, UNIT_NONE, "job number that sbatch reported", NULLABLE),
	COLUMN(sweep_job_row, tasks, UNIT_COUNT, "tasks of the job array"),
	COLUMN(sweep_job_row, open, UNIT_COUNT, "tasks of the job array that have not ended"),
};
static const struct record job_record = RECORD_OF(sweep_job_row, RECORD_LINE, job_columns);

static const struct column cell_columns[] = {
	COLUMN(sweep_cell_row, cell, UNIT_INDEX, "number of the cell"),
	COLUMN(sweep_cell_row, params, UNIT_NONE, "parameters of the cell", .flags = COLUMN_WIDE),
	COLUMN(sweep_cell_row, ok, UNIT_COUNT, "repeats that succeeded"),
	COLUMN(sweep_cell_row, failed, UNIT_COUNT, "repeats that finally failed"),
	COLUMN(sweep_cell_row, others, UNIT_COUNT, "repeats that have not ended"),
	COLUMN(sweep_cell_row, median_ms, UNIT_NONE,
		"median wall time of the successful repeats, in ms", .title = "median ms",
		.digits = 1, NULLABLE),
	COLUMN(sweep_cell_row, spread, UNIT_PERCENT,
		"longest minus shortest wall time in percent of the median: the noise of wall time",
		.title = "spread %", .digits = 1, NULLABLE),
};
const struct record sweep_cell_record = RECORD_OF(sweep_cell_row, RECORD_LINE, cell_columns);

static const struct column task_columns[] = {
	COLUMN(sweep_task_row, cell, UNIT_INDEX, "number of the cell"),
	COLUMN(sweep_task_row, repeat, UNIT_INDEX, "number of the repeat within the cell, from 0"),
	COLUMN(sweep_task_row, params, UNIT_NONE, "parameters of the cell", .flags = COLUMN_WIDE),
	COLUMN(sweep_task_row, state, UNIT_NONE, "state of the task",
		.words = "waiting|running|ok|failed|cancelled"),
	COLUMN(sweep_task_row, attempts, UNIT_COUNT, "attempts that were started"),
	COLUMN(sweep_task_row, where, UNIT_NONE, "devices or node of the last attempt", NULLABLE),
	COLUMN(sweep_task_row, outcome, UNIT_NONE, "outcome of the last attempt", NULLABLE),
	COLUMN(sweep_task_row, how, UNIT_NONE, "how the last attempt ended",
		.flags = COLUMN_NULLABLE | COLUMN_WIDE),
	COLUMN(sweep_task_row, status, UNIT_NONE,
		"exit status of the last attempt, as a shell reports it", NULLABLE),
	COLUMN(sweep_task_row, wall_ms, UNIT_NONE, "wall time of the last attempt, in ms",
		.title = "ms", NULLABLE),
	COLUMN(sweep_task_row, directory, UNIT_NONE, "folder of the last attempt", NULLABLE),
	COLUMN(sweep_task_row, log, UNIT_NONE, "file with the output of the last attempt",
		NULLABLE),
	COLUMN(sweep_task_row, command, UNIT_NONE, "command that would be run", OPTIONAL),
	LIST(sweep_task_row, captures, &text_item_record, "captures that the task left"),
};
const struct record sweep_task_record = RECORD_OF(sweep_task_row, RECORD_BLOCK, task_columns);

static const struct column answer_columns[] = {
	COLUMN(sweep_answer, name, UNIT_NONE, "name of the sweep"),
	COLUMN(sweep_answer, directory, UNIT_NONE, "folder of the sweep"),
	COLUMN(sweep_answer, journal, UNIT_NONE, "path of the journal of the sweep", NULLABLE),
	COLUMN(sweep_answer, pool, UNIT_NONE, "where the tasks of the sweep run",
		.words = "local|slurm"),
	COLUMN(sweep_answer, verdict, UNIT_NONE,
		"done: all tasks succeeded; failed: some tasks finally failed",
		.words = "planned|done|failed|cancelled|incomplete"),
	COLUMN(sweep_answer, cells, UNIT_COUNT, "cells of the matrix without the excluded ones"),
	COLUMN(sweep_answer, tasks, UNIT_COUNT, "number of tasks: cells times repeats"),
	COLUMN(sweep_answer, excluded, UNIT_COUNT, "tasks that the plan leaves out"),
	COLUMN(sweep_answer, ok, UNIT_COUNT, "tasks that succeeded"),
	COLUMN(sweep_answer, failed, UNIT_COUNT, "tasks that finally failed"),
	COLUMN(sweep_answer, cancelled, UNIT_COUNT, "tasks that were cancelled"),
	COLUMN(sweep_answer, waiting, UNIT_COUNT, "tasks that are waiting"),
	COLUMN(sweep_answer, running, UNIT_COUNT,
		"tasks that are running, or were when the driver was killed"),
	COLUMN(sweep_answer, attempts, UNIT_COUNT, "attempts that were started"),
	COLUMN(sweep_answer, retries, UNIT_COUNT, "attempts that were not the first of their task"),
	COLUMN(sweep_answer, lost, UNIT_COUNT,
		"attempts that ended because of a sick device or a lost node"),
	COLUMN(sweep_answer, wall_s, UNIT_NONE, "seconds from the first start to the last end",
		.digits = 3),
	COLUMN(sweep_answer, busy_s, UNIT_NONE, "seconds of all attempts together", .digits = 3),
	VECTOR(sweep_answer, devices, "devices", &text_item_record, "devices of the pool"),
	VECTOR(sweep_answer, sick, "sick", &sick_record, "devices that were removed from the pool"),
	VECTOR(sweep_answer, submissions, "submissions", &job_record, "job arrays of Slurm"),
	VECTOR(sweep_answer, by_cell, "by_cell", &sweep_cell_record, "results of each cell"),
	VECTOR(sweep_answer, by_task, "by_task", &sweep_task_record, "results of each task"),
};
const struct record sweep_answer_record = RECORD_OF(sweep_answer, RECORD_BLOCK, answer_columns);

/* --- rows --- */

static const char *const STATES[] = {"waiting", "running", "ok", "failed", "cancelled"};

/* Adds the command, for a sweep that has not begun. */
static bool add_command(struct sweep *s, uint32_t i, const char *dir, struct sweep_task_row *row,
	struct incore_error *e)
{
	struct sweep_place at = {.out = dir, .base = s->base, .devices = "DEVICES", .attempt = 1};
	struct sweep_cell cell;
	struct strbuf text = {0};

	if (!sweep_expand(&s->plan, i, &at, &s->arena, &cell, e))
		return false;
	process_quote(cell.argv, &text);
	row->command = text.failed ? NULL : arena_strdup(&s->arena, text.p ? text.p : "");
	sb_free(&text);
	return row->command || err_nomem(e);
}

static bool sweep_answer_add_task(struct sweep *s, uint32_t i, const char *params,
	struct sweep_answer *out, struct incore_error *e)
{
	const struct sweep_task *t = &s->tasks[i];
	struct sweep_task_row row = {.cell = sweep_cell_of(&s->plan, i),
		.repeat = i % s->plan.repeats,
		.attempts = t->attempts,
		.params = params,
		.state = STATES[t->state],
		.where = t->where && *t->where ? t->where : NULL,
		.outcome = t->outcome,
		.how = t->how,
		.status = t->outcome ? t->status : NO_I64,
		.wall_ms = t->outcome ? t->wall_ms : NO_U64,
		.captures = {t->captures, 0}};
	const char *dir = sweep_dir_of(s, i, t->attempts ? t->attempts : 1, &s->arena);

	if (!dir)
		return err_nomem(e);
	if (t->attempts) {
		row.directory = dir;
		row.log = arena_printf(&s->arena, "%s/log", dir);
	}
	while (t->captures && t->captures[row.captures.n])
		row.captures.n++;
	if (s->q->is_dry && !add_command(s, i, dir, &row, e))
		return false;
	return (!t->attempts || row.log) && VEC_PUSH(&out->by_task, row) ? true : err_nomem(e);
}

static int sweep_answer_by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static bool sweep_answer_add_cell(
	struct sweep *s, uint64_t cell, struct sweep_answer *out, struct incore_error *e)
{
	uint64_t repeats = s->plan.repeats, *ms = mem_zalloc(repeats, sizeof(*ms));
	struct sweep_cell_row row = {.cell = cell,
		.params = sweep_label(&s->plan, cell, &s->arena),
		.median_ms = NAN,
		.spread = NAN};
	bool ok = ms && row.params ? true : err_nomem(e);

	for (uint64_t i = 0; ok && i < repeats; i++) {
		const struct sweep_task *t = &s->tasks[cell * repeats + i];

		if (t->state == SWEEP_OK)
			ms[row.ok++] = t->wall_ms;
		else if (t->state == SWEEP_FAILED)
			row.failed++;
		else
			row.others++;
		ok = sweep_answer_add_task(s, (uint32_t)(cell * repeats + i), row.params, out, e);
	}
	if (ok && row.ok) {
		qsort(ms, row.ok, sizeof(*ms), sweep_answer_by_size);
		row.median_ms = (double)(ms[(row.ok - 1) / 2] + ms[row.ok / 2]) / 2;
		if (row.ok > 1 && row.median_ms > 0)
			row.spread = 100 * (double)(ms[row.ok - 1] - ms[0]) / row.median_ms;
	}
	mem_free(ms);
	return ok && (VEC_PUSH(&out->by_cell, row) || err_nomem(e));
}

static const char *sweep_answer_verdict_of(const struct sweep *s)
{
	if (s->q->is_dry)
		return "planned";
	if (s->counts[SWEEP_WAITING] || s->counts[SWEEP_RUNNING])
		return "incomplete";
	if (s->counts[SWEEP_CANCELLED])
		return "cancelled";
	return s->counts[SWEEP_FAILED] ? "failed" : "done";
}

static bool sweep_answer_add_places(
	struct sweep *s, struct sweep_answer *out, struct incore_error *e)
{
	bool ok = true;

	for (size_t i = 0; ok && i < s->devices.n; i++)
		ok = VEC_PUSH(&out->devices, s->devices.v[i].id);
	for (size_t i = 0; ok && i < s->sick.n; i++)
		ok = VEC_PUSH(&out->sick, s->sick.v[i]);
	for (size_t i = 0; ok && i < s->submissions.n; i++) {
		const struct sweep_submission *u = &s->submissions.v[i];

		ok = VEC_PUSH(&out->submissions,
			(struct sweep_job_row){u->name, u->job_id, u->tasks.n, u->n_open});
	}
	return ok || err_nomem(e);
}

bool sweep_answer_make(struct sweep *s, struct sweep_answer *out, struct incore_error *e)
{
	uint64_t busy_ms = 0;
	bool ok = true;

	*out = (struct sweep_answer){.name = s->name,
		.directory = s->dir ? s->dir : s->q->dir,
		.journal = s->journal_path,
		.pool = s->uses_slurm || s->q->uses_slurm ? "slurm" : "local",
		.verdict = sweep_answer_verdict_of(s),
		.tasks = s->plan.n_tasks - s->n_excluded,
		.cells = (s->plan.n_tasks - s->n_excluded) / s->plan.repeats,
		.excluded = s->n_excluded,
		.ok = s->counts[SWEEP_OK],
		.failed = s->counts[SWEEP_FAILED],
		.cancelled = s->counts[SWEEP_CANCELLED],
		.waiting = s->counts[SWEEP_WAITING],
		.running = s->counts[SWEEP_RUNNING],
		.attempts = s->n_attempts,
		.retries = s->n_retries,
		.lost = s->n_lost};
	for (uint64_t i = 0; i < s->plan.n_tasks; i++)
		busy_ms += s->tasks[i].all_ms;
	out->busy_s = (double)busy_ms / 1000;
	if (s->last_ms > s->first_ms)
		out->wall_s = (double)(s->last_ms - s->first_ms) / 1000;
	for (uint64_t c = 0; ok && c < s->plan.n_cells; c++)
		if (!s->tasks[c * s->plan.repeats].is_excluded)
			ok = sweep_answer_add_cell(s, c, out, e);
	return ok && sweep_answer_add_places(s, out, e);
}

void sweep_answer_deinit(struct sweep_answer *a)
{
	VEC_FREE(&a->by_cell);
	VEC_FREE(&a->by_task);
	VEC_FREE(&a->devices);
	VEC_FREE(&a->sick);
	VEC_FREE(&a->submissions);
}
