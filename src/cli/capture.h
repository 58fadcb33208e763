/* SPDX-License-Identifier: Apache-2.0 */
/* capture.h: shared by the capture verbs: the application after the options, the JSON output. */
#pragma once

#include "capture/rocprof.h"
#include "cli/cli.h"

extern const struct verb verb_capture_cuda, verb_capture_ncu;
extern const struct verb verb_capture_pmc, verb_capture_pcs, verb_capture_sys;
extern const struct verb verb_capture_msprof;
extern const struct record capture_app_record; /* `input` of all capture verbs */

struct drive capture_drive(struct cli *c); /* without an application */
/* The words of the application, on the heap; fills *request from the options. NULL: an error, or no
 * application was given. */
const char **capture_app(struct cli *c, const struct option_def *options, void *request);
void capture_print_plan(struct cli *c, const struct rocprof_run *t); /* input.yaml and command */
bool capture_print_json(
	struct cli *c, const char *const *app, const struct record *r, const void *data);
