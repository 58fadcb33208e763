/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_job.h: makes a report: reads the captures in a separate session, asks everything that the
 * page shows, and writes either form. The same request gives the same bytes for any caller.
 * Owner: report_job_new() .. report_job_free(); the texts of the request must outlive it. One
 * thread. May fail: like reading and asking, and with status USAGE if the timeline is larger than a
 * report can hold.
 */
#pragma once

#include "serve/report/blob.h"
#include "serve/report/report.h"
#include "serve/session/session.h"

#define REPORT_ALL_TRACKS UINT64_MAX

struct report_part_options {
	const char *waves;  /* tracks by number: "0,2-3"; NULL: all */
	const char *window; /* cycles "A-B"; NULL: all */
	uint64_t hottest;   /* number of tracks that lose most cycles, or REPORT_ALL_TRACKS */
	bool no_source;	    /* the text of sources is left out; only reported here */
};

struct report_part {
	struct blob_part *parts; /* by track; NULL: all */
	uint64_t n_slices;	 /* selected slices */
	struct strbuf left_out;	 /* text for the page; empty: nothing */
};

struct report_request {
	unsigned n; /* captures: one, or two to compare */
	const char *const *paths;
	const struct request *reading; /* as in session_options */
	const struct colors *colors;
	struct report_part_options part; /* of the timeline */
	bool is_markdown, is_brief;
	const char *command, *closer; /* how to make it again, how to look closer */
	atomic_bool *stop;	      /* as in session_options */
};

struct report_job;

/* report_session.c: the callback of session_options: the HTML report of capture c and, if it is
 * compared, of base. */
bool report_of_session(
	struct session *s, const struct query *q, struct strbuf *out, struct incore_error *e);

struct report_job *report_job_new(const struct report_request *q, struct incore_error *e);
/* Reads the captures; the session has the messages of reading, also after a failure. */
bool report_job_read(struct report_job *j, struct incore_error *e);
struct session *report_job_session(struct report_job *j);
/* Asks all questions and writes the report. */
bool report_job_write(struct report_job *j, FILE *out, struct incore_error *e);
void report_job_free(struct report_job *j);

/* Facts on the written report. */
struct report_told {
	enum evidence evidence[REPORT_MAX_CAPTURES];
	uint64_t n_slices;
	unsigned n_answers;  /* number of answers that it was made from */
	unsigned n_warned;   /* number of these with warnings */
	struct str left_out; /* omitted part of the timeline; empty: nothing */
	struct str lacks;    /* failed answers and why, one per line */
};
struct report_told report_job_told(const struct report_job *j);

/*
 * report_again.c: writes "incore VERB PATH... OPTIONS -o FILE" and quotes the paths; option_words
 * must already be quoted. Without file: no -o. Failures are latched in out.
 */
void report_put_command(const char *verb, const struct report_request *q, const char *option_words,
	const char *file, struct strbuf *out);
