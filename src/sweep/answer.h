/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h: the state of a sweep as a described value: all tasks, and for each cell the spread of
 * its repeats.
 * Owner: sweep_answer_make() .. sweep_answer_deinit(); the sweep owns the texts.
 */
#pragma once

#include "codec/record.h"
#include "sweep/sweep.h"

struct sweep_task_row {
	uint64_t cell, repeat, attempts;
	const char *params, *state, *where, *outcome, *how, *directory, *log;
	int64_t status;
	uint64_t wall_ms;
	const char *command;  /* of a dry run */
	struct rows captures; /* text_item */
};

struct sweep_cell_row {
	uint64_t cell, ok, failed, others;
	const char *params;
	double median_ms, spread; /* of successful runs; NAN: too few (none, fewer than two) */
};

struct sweep_job_row {
	const char *name, *job_id;
	uint64_t tasks, open;
};

struct sweep_answer {
	const char *name, *directory, *journal, *pool, *verdict;
	uint64_t cells, tasks, excluded, ok, failed, cancelled, waiting, running;
	uint64_t attempts, retries, lost;
	double wall_s, busy_s;
	VEC(struct sweep_cell_row) by_cell;
	VEC(struct sweep_task_row) by_task;
	VEC(const char *) devices;
	VEC(struct sweep_sick) sick;
	VEC(struct sweep_job_row) submissions;
};
extern const struct record sweep_answer_record, sweep_task_record, sweep_cell_record;

bool sweep_answer_make(struct sweep *s, struct sweep_answer *out, struct incore_error *e);
void sweep_answer_deinit(struct sweep_answer *a);
