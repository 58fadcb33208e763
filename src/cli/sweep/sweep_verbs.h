/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_verbs.h: shared by the verbs of `incore sweep`. */
#pragma once

#include "cli/cli.h"
#include "sweep/answer.h"

extern const struct verb sweep_verb_run, sweep_verb_status, sweep_verb_cancel, sweep_verb_cell;

struct sweep_input {
	const char *plan; /* NULL: the folder's own */
	const char *directory;
};
extern const struct record sweep_input_record;

/* Prints the answer as text or JSON; sets c->is_no if not all is well. */
bool sweep_print(struct cli *c, struct sweep *s, const char *plan);

/* --- sweep_live.c: progress of a running sweep --- */
struct sweep_live {
	bool as_json, is_shown;
	unsigned n_lines; /* on the screen */
	unsigned width;
	uint64_t drawn_ms;
};
/* Callback for sweep_request.on_event; ctx is a struct sweep_live. Prints events to standard error
 * as lines of JSON, or as a table that is redrawn. */
void sweep_live_event(void *ctx, const struct sweep *s, const char *line);
/* Removes the table from the screen. */
void sweep_live_end(struct sweep_live *l);
