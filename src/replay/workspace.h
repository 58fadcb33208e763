/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workspace.h: the folder of one replay: arguments, sources, scripts, provenance. Built beside its
 * final path and renamed to it when complete. May fail: the path is taken (status 2), writing
 * (status 6, and nothing is left).
 */
#pragma once

#include "replay/plan.h"

/* Creates r->workspace and writes the arguments r->args into it. */
bool workspace_make(const struct replay_plan *p, struct replay_report *r, const struct dump *d,
	struct incore_error *e);

/* Writes summary.txt (what ran, its evidence, and where the trace is), and the provenance again
 * with what the run has added. */
bool workspace_summary(const struct replay_plan *p, const struct replay_report *r,
	const struct dump *d, struct incore_error *e);

/* Writes run_model.sh into the job's folder: its arguments, edited or not, through the model. */
bool workspace_run_model(
	const struct replay_job *job, const char *source, bool is_typed, struct incore_error *e);

/* Creates a directory that may exist already; path NULL counts as out of memory. */
bool workspace_dir(const char *path, unsigned mode, struct incore_error *e);
/* Writes a file in a folder, with this mode. */
bool workspace_text(
	const char *dir, const char *name, struct str text, unsigned mode, struct incore_error *e);
