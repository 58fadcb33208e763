/* SPDX-License-Identifier: Apache-2.0 */
/*
 * capture_common.h: shared by the verbs of `incore capture`: the application after the options, what
 * its drivers are given, and how what they did becomes an answer.
 */
#pragma once

#include "answer/answer.h"
#include "capture/rocprof.h"
#include "page/page.h"

extern const struct record capture_app_record; /* `input` of all capture verbs */

/* The words of the application as a driver takes them, in the answer; NULL: an error. */
const char *const *capture_app(const struct request *r, struct answer *a, struct incore_error *e);
/* What a driver is given. runs: unless it only plans, signals are held from here on. */
struct drive capture_drive(const struct request *r, const char *const *app, bool runs);
/* "%s needs an application"; always false. */
bool capture_needs_app(const struct request *r, const char *or_else, struct incore_error *e);

/* What a driver leaves, whether it succeeded or not. */
struct capture_done {
	const struct record *record;
	const void *data;
	bool is_empty; /* nothing was done that could be shown */
	bool is_no;
	int app_status;
	const char *const *warnings;
	size_t n_warnings;
};
/* Makes that the answer. Where the driver failed (is_ok false, *e says why) after something was
 * done, the failure becomes that of the answer. */
bool capture_answer(struct answer *a, const char *const *app, const struct capture_done *d,
	bool is_ok, struct incore_error *e);

/* The driver (struct att, ...) whose member `answer` is the data of an answer. */
#define DRIVER_OF(A, T)                                                                            \
	((const struct T *)(const void *)((const char *)(A)->data - offsetof(struct T, answer)))

void capture_page_plan(struct page *p, const struct rocprof_run *t); /* input.yaml and command */
