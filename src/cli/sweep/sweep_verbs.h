/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_verbs.h: what the verbs of `incore sweep` share. */
#pragma once

#include "cli/cli.h"
#include "sweep/answer.h"

extern const struct verb sweep_verb_run, sweep_verb_status, sweep_verb_cancel, sweep_verb_cell;

struct sweep_input {
	const char *plan; /* NULL: the folder's own */
	const char *directory;
};
extern const struct record sweep_input_record;

/* The answer as text or JSON; c->is_no is set where not all is well. */
bool sweep_print(struct cli *c, struct sweep *s, const char *plan);

/* --- sweep_live.c: how it goes, while it goes --- */
struct sweep_live {
	bool as_json, is_shown;
	unsigned n_lines; /* on the screen */
	unsigned width;
	uint64_t drawn_ms;
};
/* struct sweep_request.on_event; ctx is a struct sweep_live. Events are lines of JSON on standard
 * error, or a table there that is drawn anew. */
void sweep_live_event(void *ctx, const struct sweep *s, const char *line);
/* Takes the table away. */
void sweep_live_end(struct sweep_live *l);
