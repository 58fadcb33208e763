/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_job.h: a report from its captures to its bytes: reads them anew in a session of its own, asks
 * all that the page shows, puts both forms together. The same request gives the same bytes, whoever
 * makes it. Owner: report_job_new() .. report_job_free(); the texts of the request must outlive it.
 * One thread. May fail: what reading and asking fail with, and with status
 * USAGE where the timeline is larger than a report holds.
 */
#pragma once

#include "serve/report/report.h"
#include "serve/report/report_part.h"
#include "serve/session/session.h"

struct report_request {
	unsigned n; /* captures: one, or two to compare */
	const char *const *paths;
	const struct request *reading; /* as of session_options */
	const struct colors *colors;
	struct report_part_options part; /* of the timeline */
	bool is_markdown, is_brief;
	const char *command, *closer; /* how to make it again, how to look closer */
	atomic_bool *stop;	      /* as of session_options */
};

struct report_job;

struct report_job *report_job_new(const struct report_request *q, struct incore_error *e);
/* Reads the captures; the session tells what reading them had to say, also after a failure. */
bool report_job_read(struct report_job *j, struct incore_error *e);
struct session *report_job_session(struct report_job *j);
/* Asks and writes. */
bool report_job_write(struct report_job *j, FILE *out, struct incore_error *e);
void report_job_free(struct report_job *j);

/* What was written. */
struct report_told {
	enum evidence evidence[REPORT_MAX_CAPTURES];
	uint64_t n_slices;
	unsigned n_answers;  /* that it was made of */
	unsigned n_warned;   /* of them, came with warnings */
	struct str left_out; /* of the timeline; empty: nothing */
	struct str lacks;    /* answers that could not be given and why, a line each */
};
struct report_told report_job_told(const struct report_job *j);

/*
 * report_again.c: "incore VERB PATH... OPTIONS -o FILE", the paths quoted; the words of options are
 * quoted already. No file: without -o. Failures stay in out.
 */
void report_put_command(const char *verb, const struct report_request *q, const char *option_words,
	const char *file, struct strbuf *out);
/* The facts on the report itself. */
void report_again_put(const struct report_request *q, const struct view *v, struct page *p);
