/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h: many tasks over a pool of devices or over Slurm, with a journal from which any later
 * driver can resume. A single function applies a journal line to the state, for the driver that
 * writes it and for one that reads it (events.c).
 * Owner: struct sweep owns everything; sweep_open() .. sweep_close(). The request is borrowed.
 * Threads: one at a time; workers of a pool do not touch it.
 */
#pragma once

#include "base/vec.h"
#include "run/journal.h"
#include "sweep/devices.h"
#include "sweep/result.h"

#define SWEEP_JOURNAL "journal"
#define SWEEP_CANCEL "cancel" /* a file that tells the driver to stop */

struct sweep;

struct sweep_request { /* options first: their table is the command line's */
	const char *dir;
	bool is_resume, is_dry, uses_slurm, follows;
	const char *plan;
	/* Called for each journaled line, and about five times a second with NULL. */
	void (*on_event)(void *ctx, const struct sweep *s, const char *line);
	void *ctx;
	bool (*is_cancelled)(void *ctx);
};

enum sweep_state { SWEEP_WAITING, SWEEP_RUNNING, SWEEP_OK, SWEEP_FAILED, SWEEP_CANCELLED };

struct sweep_task {
	uint8_t state; /* enum sweep_state */
	bool is_excluded;
	uint8_t missed;	     /* how often in a row Slurm had no more to report on it */
	uint32_t attempts;   /* begun; number of the last one */
	uint32_t counted;    /* attempts that count against `retries` */
	uint32_t lost;	     /* attempts that a device or a node lost */
	uint32_t submission; /* Slurm submission, from 1; 0: not submitted */
	uint64_t began_ms, wall_ms, all_ms; /* all_ms: of all attempts */
	int64_t status;
	const char *outcome, *how, *where; /* last attempt; where: devices or a node */
	const char *const *captures;	   /* ends with NULL; may be NULL */
};

struct sweep_submission {
	const char *name;   /* of the jobs; finds them if the id was not noted */
	const char *job_id; /* NULL: not known */
	uint32_t n_open;    /* tasks not yet ended */
	VEC(uint32_t) tasks;
};

struct sweep_sick {
	const char *id, *why;
};

struct sweep {
	const struct sweep_request *q;
	struct arena arena;
	struct sweep_plan plan;
	const char *name, *dir, *base, *journal_path;
	struct journal journal;
	struct sweep_task *tasks;
	struct sweep_devices devices;
	VEC(struct sweep_sick) sick;
	VEC(struct sweep_submission) submissions;
	uint64_t counts[5]; /* tasks by state */
	uint64_t n_excluded, n_attempts, n_retries, n_lost;
	uint64_t first_ms, last_ms; /* begin of the first attempt, end of the last */
	uint64_t begun_ms;	    /* when its first driver began */
	bool uses_slurm;	    /* requested, or the resumed sweep does */
	bool is_begun;		    /* the journal has its first line */
};

/* --- state.c --- */
/* Opens the folder, the plan's copy and the journal: new ones, or existing ones if is_resume. Error
 * codes: "directory-used", "plan-changed", "journal-busy". */
bool sweep_open(struct sweep *s, const struct sweep_request *q, struct incore_error *e);
/* Loads the state of a sweep, also while a driver runs; writes nothing. */
bool sweep_look(struct sweep *s, const struct sweep_request *q, struct incore_error *e);
/* Loads only the plan and the existing devices, for a dry run. */
bool sweep_preview(struct sweep *s, const struct sweep_request *q, struct incore_error *e);
void sweep_close(struct sweep *s);
/* The folder of an attempt, in arena a. NULL: no memory. */
const char *sweep_dir_of(const struct sweep *s, uint32_t task, uint32_t attempt, struct arena *a);
/* Is there something that can be started, or something that runs? */
bool sweep_is_done(const struct sweep *s);

/* --- events.c: writes events to the journal and applies them to the state --- */
bool sweep_note_begin(struct sweep *s, struct incore_error *e);
bool sweep_note_driver(struct sweep *s, struct incore_error *e);
bool sweep_note_start(struct sweep *s, uint32_t task, const char *where, struct incore_error *e);
bool sweep_note_end(
	struct sweep *s, uint32_t task, const struct sweep_result *r, struct incore_error *e);
bool sweep_note_sick(struct sweep *s, const char *device, const char *why, struct incore_error *e);
bool sweep_note_submit(
	struct sweep *s, const char *name, const uint32_t *tasks, size_t n, struct incore_error *e);
bool sweep_note_job(struct sweep *s, uint32_t submission, const char *id, struct incore_error *e);
/* Applies one line of a journal; a callback for journal_read(). */
bool sweep_apply(void *sweep, struct str line, struct incore_error *e);
/* Journals the result of the running attempt; if none was written, `otherwise` becomes the result.
 * A failure on a sick device (`sick` says why, or is NULL) does not count as one of the task. */
bool sweep_settle(struct sweep *s, uint32_t task, const struct sweep_result *otherwise,
	const char *sick, struct incore_error *e);

/* --- local.c, slurm.c: run until all is done, or as long as `follows` says --- */
bool sweep_run_local(struct sweep *s, struct incore_error *e);
bool sweep_run_slurm(struct sweep *s, struct incore_error *e);
/* Cancels the sweep's Slurm jobs. */
bool sweep_cancel_slurm(struct sweep *s, struct incore_error *e);
/* Runs locally or on Slurm; the state for the answer is complete even after a failure. */
bool sweep_run(struct sweep *s, struct incore_error *e);
/* Asks a driver, wherever it runs, to stop, and waits for it; cancels its Slurm jobs. */
bool sweep_cancel(struct sweep *s, struct incore_error *e);
