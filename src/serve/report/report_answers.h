/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_answers.h: the answers that a report carries, each under the question that its page asks:
 * those of ui/questions.txt, and where waves of several kernels ran, the same about each of them.
 * Owner: report_answers_deinit(). May fail: memory; *error says so.
 */
#pragma once

#include "serve/report/report.h"
#include "serve/session/session.h"

#define REPORT_MAX_QUESTIONS 512u

struct report_answers {
	struct session *session;    /* who is asked */
	unsigned n_captures;	    /* that it shows */
	struct incore_error *error; /* of every function here */
	struct strbuf lacks;	    /* questions without an answer and why, a line each */
	unsigned n;
	struct report_answer v[REPORT_MAX_QUESTIONS];
	struct strbuf questions[REPORT_MAX_QUESTIONS], bodies[REPORT_MAX_QUESTIONS];
};

/* All that the page asks about that capture; adds to left_out what there is no room for. */
bool report_answers_all(struct report_answers *a, unsigned capture, struct strbuf *left_out);
/* Something that is no question to ask, but found the same way. */
bool report_answers_put(struct report_answers *a, struct str question, struct str json);
void report_answers_deinit(struct report_answers *a);
