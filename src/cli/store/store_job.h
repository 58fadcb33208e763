/* SPDX-License-Identifier: Apache-2.0 */
/* store_job.h: shared by the verbs of `incore store`: which store, which captures, which rule. */
#pragma once

#include "cli/cli.h"
#include "store/answers.h"

#define STORE_OPTION                                                                               \
	{                                                                                          \
		OPT_STORE, NULL, NULL,                                                             \
			"file or postgresql://... (default: $INCORE_STORE, else incore.store)"     \
	}
#define STORE_SELECT_OPTIONS                                                                       \
	STORE_OPTION, {OPT_KERNEL_K, NULL, NULL, "only kernels whose name matches"},               \
		{OPT_ARCH, NULL, NULL, "only this architecture"},                                  \
	{                                                                                          \
		OPT_LABEL, NULL, NULL, "only captures with this label; may be repeated"            \
	}
#define STORE_JUDGE_OPTIONS                                                                        \
	{OPT_FIGURE, STORE_FIGURE_CHOICES, NULL,                                                   \
		"figure to compare (default: duration, or else cycles)"},                          \
		{OPT_SIGMAS, NULL, "4", "a change counts if it is larger than X times the noise"}, \
	{                                                                                          \
		OPT_FLOOR, NULL, "1", "a smaller change does not count, however small the noise"   \
	}
#define STORE_RULE_OPTIONS                                                                         \
	STORE_JUDGE_OPTIONS,                                                                       \
	{                                                                                          \
		OPT_MOVERS, NULL, "3", "number of instructions to list for each change"            \
	}

extern const struct verb store_verb_add, store_verb_ls, store_verb_show, store_verb_history,
	store_verb_regressions, store_verb_gate, store_verb_accept, store_verb_prune,
	store_verb_export;

struct store_job {
	struct cli *c;
	const char *path; /* without secrets, so that it may be shown */
	struct store *store;
	struct arena arena;
	struct store_select select;
	struct store_entries entries;
	struct store_ask ask;
};

extern const struct record *const store_inputs[]; /* {"store": path} */

const char *store_path(const struct cli *c);
/* The path without parts that must not be shown; NULL: no memory. */
const char *store_shown(const char *path, struct arena *a);
/* Opens the store and lists what the options select. Call store_job_close() in any case. */
bool store_job_open(struct store_job *j, struct cli *c);
void store_job_close(struct store_job *j);
/* The rule of STORE_RULE_OPTIONS. */
bool store_job_rule(struct store_job *j);
bool store_job_json(struct cli *c, const char *path, const struct record *r, const void *value);
/* The value of an option as a number; status USAGE if it is not one. */
bool store_real(struct cli *c, const char *name, double *out);
bool store_number(struct cli *c, const char *text, uint64_t *out);
/* Adds the captures of a sweep, or those made so far, to a store. */
bool store_add_sweep(struct cli *c, const char *dir, const char *path);
/* "gemm_f16 on gfx950, hardware-trace, shape=1024: duration of 12 captures, noise 0.3 %" */
void store_say_series(struct cli *c, const struct store_series *s);
void store_say_why(struct cli *c, const struct store_why *w);
/* "accepted 2026-11-08T10:00:00Z by me, cycles up to 8270032896 of capture 30: because" */
void store_say_acceptance(struct cli *c, const struct store_acceptance *a);
/* Print acceptances of one series, a line each; or of several, each with its series. */
void store_say_accepted(struct cli *c, struct rows accepted);
void store_say_accepted_series(struct cli *c, struct rows accepted);
void store_say_regression(struct cli *c, const struct store_regression *r);
