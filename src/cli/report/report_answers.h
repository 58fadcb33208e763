/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_answers.h: the answers that a report carries, each under the question that its page asks:
 * those of ui/questions.txt, and where waves of several kernels ran, the same about each of them.
 * Owner: report_answers_deinit(). Functions that return bool fill c->error on failure.
 */
#ifndef CLI_REPORT_REPORT_ANSWERS_H
#define CLI_REPORT_REPORT_ANSWERS_H

#include "cli/cli.h"
#include "serve/report/report.h"
#include "serve/session/session.h"

#define REPORT_MAX_QUESTIONS 512u

struct report_answers {
	struct cli *c;
	struct session *session; /* who is asked */
	unsigned n;
	struct report_answer v[REPORT_MAX_QUESTIONS];
	struct strbuf questions[REPORT_MAX_QUESTIONS], bodies[REPORT_MAX_QUESTIONS];
};

/* Keeps the answer under its question; one that cannot be given is left out: the page says so. Why
 * two captures cannot be compared is an answer, too. */
bool report_answers_ask(struct report_answers *a, struct str question);
/* All that the page asks about that capture; adds to left_out what there is no room for. */
bool report_answers_all(struct report_answers *a, unsigned capture, struct strbuf *left_out);
/* Something that is no question to ask, but found the same way. */
bool report_answers_put(struct report_answers *a, struct str question, struct str json);
void report_answers_deinit(struct report_answers *a);

#endif
