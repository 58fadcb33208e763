/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workspace.h: the folder of one replay: arguments, sources, scripts, where it all comes from.
 * Made beside its place and put there whole. May fail: a place that is taken (status 2), writing
 * (status 6, and nothing is left).
 */
#pragma once

#include "replay/replay.h"

/* Fills r->workspace. The arguments in it are written (r->args). */
bool workspace_make(const struct replay_request *q, struct replay_report *r, const struct dump *d,
	struct incore_error *e);

/* summary.txt: what ran, on which evidence, and where the trace is; and the provenance once more, with
 * what the run has added. */
bool workspace_summary(const struct replay_request *q, const struct replay_report *r,
	const struct dump *d, struct incore_error *e);

/* provenance.c */
bool provenance_write(const char *dir, const struct replay_request *q,
	const struct replay_report *r, const struct dump *d, struct incore_error *e);
/* A directory that may be there already; NULL counts as out of memory. */
bool workspace_dir(const char *path, unsigned mode, struct incore_error *e);
#define WORKSPACE_STAMP 32
/* The local time: 20260102_030405, or without the gap. */
void workspace_stamp(char out[WORKSPACE_STAMP], bool has_gap);
/* A new directory <stem>_<time>, with a number behind it where that name is taken; or NULL. */
const char *workspace_new(struct arena *a, const char *stem, unsigned mode, struct incore_error *e);
/* A whole file in a folder, with its mode. */
bool workspace_text(
	const char *dir, const char *name, struct str text, unsigned mode, struct incore_error *e);
