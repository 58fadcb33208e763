/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_answers.h: the answers stored in a report, each under the question that its page asks:
 * those of ui/questions.txt, and if waves of several kernels ran, also limited to each of them.
 * Owner: report_answers_deinit(). May fail: memory, with *error filled.
 */
#pragma once

#include "serve/report/report.h"
#include "serve/session/session.h"

#define REPORT_MAX_QUESTIONS 512u

struct report_answers {
	struct session *session;    /* answers the questions */
	unsigned n_captures;	    /* shown in the report */
	struct incore_error *error; /* filled by the functions here */
	struct strbuf lacks;	    /* questions without an answer and why, one per line */
	unsigned n;
	struct report_answer v[REPORT_MAX_QUESTIONS];
	struct strbuf questions[REPORT_MAX_QUESTIONS], bodies[REPORT_MAX_QUESTIONS];
};

/* Asks everything that the page asks about a capture; adds what does not fit to left_out. */
bool report_answers_all(struct report_answers *a, unsigned capture, struct strbuf *left_out);
/* Adds data that is not the answer to a question but is looked up in the same way. */
bool report_answers_put(struct report_answers *a, struct str question, struct str json);
void report_answers_deinit(struct report_answers *a);
