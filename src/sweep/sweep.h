/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sweep.h: many tasks over a pool of devices or over Slurm, with a journal from which any later
 * driver goes on. What a line of the journal does to the state is one function, for the driver that
 * writes it and for the one that reads it (journal.c).
 * Owner: struct sweep owns all; sweep_open() .. sweep_close(). The request is borrowed.
 * Threads: one at a time; workers of a pool touch nothing of it.
 */
#pragma once

#include "base/vec.h"
#include "run/journal.h"
#include "sweep/devices.h"
#include "sweep/result.h"

#define SWEEP_JOURNAL "journal"
#define SWEEP_CANCEL "cancel" /* a file that asks the driver to end */

struct sweep;

struct sweep_request { /* options first: their table is the command line's */
	const char *dir;
	bool is_resume, is_dry, uses_slurm, follows;
	const char *plan;
	/* Each line that was journaled, and about five times a second without one (NULL). */
	void (*on_event)(void *ctx, const struct sweep *s, const char *line);
	void *ctx;
	bool (*is_cancelled)(void *ctx);
};

enum sweep_state { SWEEP_WAITING, SWEEP_RUNNING, SWEEP_OK, SWEEP_FAILED, SWEEP_CANCELLED };

struct sweep_task {
	uint8_t state; /* enum sweep_state */
	bool is_excluded;
	uint8_t missed;	     /* how often Slurm was asked and had no more to say of it */
	uint32_t attempts;   /* begun; the last one's number */
	uint32_t counted;    /* of them those that count against `retries` */
	uint32_t lost;	     /* those that a device or a node lost */
	uint32_t submission; /* to Slurm, from 1; 0: none */
	uint64_t began_ms, wall_ms, all_ms; /* all_ms: of all attempts */
	int64_t status;
	const char *outcome, *how, *where; /* of the last attempt; where: devices or a node */
	const char *const *captures;	   /* NULL ends; NULL: none */
};

struct sweep_submission {
	const char *name;   /* of the jobs: found again where the number was not noted */
	const char *job_id; /* NULL: not known */
	uint32_t n_open;    /* tasks without an end */
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
	uint64_t first_ms, last_ms; /* of the first attempt's begin and the last one's end */
	uint64_t begun_ms;	    /* when its first driver began */
	bool uses_slurm;	    /* asked for, or what is resumed is there */
	bool is_begun;		    /* the journal has its first line */
};

/* --- state.c --- */
/* The folder, the plan's copy and the journal, new or (is_resume) as they are. Codes:
 * "directory-used", "plan-changed", "journal-busy". */
bool sweep_open(struct sweep *s, const struct sweep_request *q, struct incore_error *e);
/* What a sweep has come to, also while a driver runs; nothing is written. */
bool sweep_look(struct sweep *s, const struct sweep_request *q, struct incore_error *e);
/* The plan alone and the devices that are there, for a dry run. */
bool sweep_preview(struct sweep *s, const struct sweep_request *q, struct incore_error *e);
void sweep_close(struct sweep *s);
/* The folder of an attempt, in arena a. NULL: no memory. */
const char *sweep_dir_of(const struct sweep *s, uint32_t task, uint32_t attempt, struct arena *a);
/* Is there something that can be started, or something that runs? */
bool sweep_is_done(const struct sweep *s);

/* --- events.c: what happened, on the disk, and what follows from it --- */
bool sweep_note_begin(struct sweep *s, struct incore_error *e);
bool sweep_note_driver(struct sweep *s, struct incore_error *e);
bool sweep_note_start(struct sweep *s, uint32_t task, const char *where, struct incore_error *e);
bool sweep_note_end(
	struct sweep *s, uint32_t task, const struct sweep_result *r, struct incore_error *e);
bool sweep_note_sick(struct sweep *s, const char *device, const char *why, struct incore_error *e);
bool sweep_note_submit(
	struct sweep *s, const char *name, const uint32_t *tasks, size_t n, struct incore_error *e);
bool sweep_note_job(struct sweep *s, uint32_t submission, const char *id, struct incore_error *e);
/* One line of a journal; for journal_read(). */
bool sweep_apply(void *sweep, struct str line, struct incore_error *e);
/* Notes the result of the running attempt; where nobody has told one, `otherwise` is told now. What
 * failed on a sick device (not NULL: why) is no failure of the task. */
bool sweep_settle(struct sweep *s, uint32_t task, const struct sweep_result *otherwise,
	const char *sick, struct incore_error *e);

/* --- local.c, slurm.c: until all is done, or as long as follows says --- */
bool sweep_run_local(struct sweep *s, struct incore_error *e);
bool sweep_run_slurm(struct sweep *s, struct incore_error *e);
/* Ends what Slurm has of it. */
bool sweep_cancel_slurm(struct sweep *s, struct incore_error *e);
/* The one or the other; what stands in the answer is complete also after a failure. */
bool sweep_run(struct sweep *s, struct incore_error *e);
/* Asks a driver, wherever it runs, to end, and waits for it; what Slurm has is ended. */
bool sweep_cancel(struct sweep *s, struct incore_error *e);
