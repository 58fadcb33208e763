/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_verbs.h: shared by the verbs of `incore store`: which store, which captures, which rule, and
 * the parts that several of their pages have.
 */
#pragma once

#include "answer/answer.h"
#include "gate/gate.h"
#include "page/page.h"
#include "store/answers.h"

/* The options of all verbs of a store; each verb takes some of them. */
struct store_params {
	const char *store;
	struct store_select select;
	/* The rule. */
	unsigned figure;
	const char *sigmas, *floor, *max; /* numbers as text; floor and max in per cent */
	uint64_t movers;
	bool is_new_alone;
	/* Parts of lists. */
	uint64_t from, last, points, changes, top;
	uint64_t capture;
	bool is_all;
	/* What is added, accepted or removed. */
	struct text_list sweeps;
	const char *revision, *at, *because, *by, *before;
	uint64_t keep;
	bool is_withdrawn, is_dry;
	struct gate_files files;
};
#define STORE_FIELD(M) OPTION_FIELD(store_params, M)
#define STORE_ALL(M) OPTION_ALL(store_params, M) /* also for the page of a store */

#define STORE_OPTION                                                                               \
	{                                                                                          \
		OPT_STORE, NULL, NULL,                                                             \
			"file or postgresql://... (default: $INCORE_STORE, else incore.store)",    \
			STORE_FIELD(store)                                                         \
	}
#define STORE_SERIES_OPTIONS                                                                       \
	{OPT_ARCH, NULL, NULL, "only this architecture", STORE_ALL(select.arch)},                  \
	{                                                                                          \
		OPT_LABEL, NULL, NULL, "only captures with this label; may be repeated",           \
			STORE_ALL(select.labels)                                                   \
	}
#define STORE_SELECT_OPTIONS                                                                       \
	STORE_OPTION,                                                                              \
		{OPT_KERNEL_K, NULL, NULL, "only kernels whose name matches",                      \
			STORE_ALL(select.kernel)},                                                 \
		STORE_SERIES_OPTIONS
#define STORE_FIGURE_OPTION                                                                        \
	{                                                                                          \
		OPT_FIGURE, STORE_FIGURE_CHOICES, NULL,                                            \
			"figure to compare (default: duration, or else cycles)", STORE_ALL(figure) \
	}
#define STORE_JUDGE_OPTIONS                                                                        \
	STORE_FIGURE_OPTION,                                                                       \
		{OPT_SIGMAS, NULL, "4", "a change counts if it is larger than X times the noise",  \
			STORE_FIELD(sigmas)},                                                      \
	{                                                                                          \
		OPT_FLOOR, NULL, "1", "a smaller change does not count, however small the noise",  \
			STORE_FIELD(floor)                                                         \
	}
#define STORE_RULE_OPTIONS                                                                         \
	STORE_JUDGE_OPTIONS,                                                                       \
	{                                                                                          \
		OPT_MOVERS, NULL, "3", "number of instructions to list for each change",           \
			STORE_FIELD(movers)                                                        \
	}
#define STORE_FROM_OPTION                                                                          \
	{                                                                                          \
		OPT_FROM_ROW, NULL, NULL, "first row to give, from 0", STORE_ALL(from)             \
	}

/* One request to a store, while it is answered. */
struct store_job {
	const struct request *request;
	const struct store_params *p;
	struct answer *answer;
	struct store_input *about; /* the `input` of the answer */
	struct store *store;
	struct store_entries entries; /* that the options select; the answer keeps them */
	struct store_ask ask;	      /* with the rule of the options */
};

/* The path of the store that the options name; shown: without secrets, in the answer. */
const char *store_path(const struct store_params *p);
const char *store_shown(struct answer *a, const char *path, struct incore_error *e);
/* Opens the store, lists what the options select, and has the rest answered by `put`. */
bool store_answer(const struct request *r, struct answer *a,
	bool (*put)(struct store_job *j, struct incore_error *e), struct incore_error *e);
bool store_capture_number(const char *text, uint64_t *out, struct incore_error *e);
/* The part of a list that --from and --top ask for. */
bool store_part(struct store_job *j, struct rows *rows, size_t row_size, struct incore_error *e);
/* Adds the captures of a sweep, or those made so far, to a store. */
struct store_sweep {
	const char *dir, *store;
	const char *revision; /* NULL: not given */
	uint64_t n_added;     /* filled */
};
bool store_add_sweep(
	const struct request *r, struct answer *a, struct store_sweep *x, struct incore_error *e);

/* --- parts of pages --- */
/* "gemm_f16 on gfx950, hardware-trace, shape=1024: duration of 12 captures, noise 0.3 %" */
void store_page_series(struct page *p, const struct store_series *s);
void store_page_why(struct page *p, const struct store_why *w);
/* Acceptances of one series, a line each; or of several, each with its series. */
void store_page_accepted(struct page *p, struct rows accepted);
void store_page_accepted_series(struct page *p, struct rows accepted);
void store_page_regression(struct page *p, const struct store_regression *r);
