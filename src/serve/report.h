/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h: a capture as one HTML file that asks nobody for anything, or as Markdown. The page is
 * the viewer itself over data in the file; before its script runs, and where none runs, it is a
 * written report. The same input gives the same bytes. May fail: memory, writing.
 */
#ifndef SERVE_REPORT_H
#define SERVE_REPORT_H

#include <stdio.h>

#include "base/vec.h"
#include "serve/view.h"

#define REPORT_MAX_SLICES 2000000u /* of all its captures */
#define REPORT_MAX_CAPTURES 2u
#define REPORT_MAX_BYTES (15u << 20)

struct report_answer { /* of a verb: question as the page asks it, and its JSON */
	const char *question;
	struct str json;
};

struct report {
	const struct view *view;
	const struct report_answer *answers;
	size_t n_answers;
	struct str summary;		      /* the written page, as `incore summary` prints it */
	struct str health;		      /* findings, as `incore check` prints them */
	struct str blob[REPORT_MAX_CAPTURES]; /* of blob_write(); empty: one capture */
	struct str difference; /* from the first capture to the second, as `incore diff` prints */
	struct str left_out;   /* one line a thing that is not in here; empty: nothing */
	struct str command;    /* that makes this report again */
};

bool report_html(const struct report *r, FILE *out, struct incore_error *e);
bool report_markdown(const struct report *r, FILE *out, struct incore_error *e);

/* report_parts.c */
/* Blocks of a written page: a title or none, then its lines. */
struct report_block {
	struct str title, text;
	bool is_prose; /* to be filled as a paragraph */
};
bool report_next_block(struct str *rest, struct report_block *out);
/* Text with & < > " ' escaped. */
void report_escape(struct strbuf *b, struct str text);
/* gzip, then base64 in lines; false on lack of memory. */
bool report_pack(struct str bytes, struct strbuf *out);
/* The source lines around the costliest row of the capture, "file:line" in *where; false: none. */
struct report_source {
	struct str lines;
	uint32_t first, marked; /* numbers */
	const char *path;
};
bool report_hottest_source(const struct view *v, struct report_source *out);

/* report_svg.c: pictures. Lanes of the whole capture by class; its cycles by bucket. */
bool report_svg_lanes(const struct view *v, struct strbuf *out, struct incore_error *e);
bool report_svg_buckets(const struct view *v, struct strbuf *out, struct incore_error *e);

#endif
