/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h: a capture as one HTML file that asks nobody for anything, or as Markdown. The page is
 * the viewer itself over data in the file; before its script runs, where none runs, and on paper it
 * is a written report. The same input gives the same bytes. May fail: memory, writing.
 */
#pragma once

#include <stdio.h>

#include "base/vec.h"
#include "page/page.h"
#include "serve/view/view.h"

#define REPORT_MAX_SLICES 2000000u /* of all its captures */
#define REPORT_MAX_CAPTURES 2u
#define REPORT_MAX_BYTES (15u << 20)

struct report_answer { /* of a verb: question as the page asks it, and its JSON */
	const char *question;
	struct str json;
};

struct report_cost { /* of a code row, as `incore isa` says */
	uint64_t hits, cost;
};

struct answer;
struct advice_row;

#define REPORT_VERDICT_LINES 3u
#define REPORT_TRIES 3u
struct report_card { /* the first screen; texts and rows are those of the answer it is made of */
	struct str verdict[REPORT_VERDICT_LINES]; /* the sentence, cut where its clauses end */
	unsigned n_verdict;
	uint64_t bucket[BUCKET_COUNT], all_cyc; /* of the table of the summary; 0: no cycles */
	const struct advice_row *advice;	/* costliest first */
	size_t n_advice;
};

struct report {
	const struct view *view;
	const struct view *second; /* NULL: there is one capture */
	const struct report_card *card[REPORT_MAX_CAPTURES];
	const struct report_answer *answers;
	size_t n_answers;
	const struct page *summary;	      /* of `incore summary` */
	const struct page *code;	      /* more of it, about the code */
	const struct page *health;	      /* of `incore check` */
	struct str blob[REPORT_MAX_CAPTURES]; /* of blob_write(); empty: one capture */
	const struct page
		*difference; /* of `incore diff`, or why there is none; NULL: one capture */
	bool is_compared;
	struct str left_out;		 /* one line a thing that is not in here; empty: nothing */
	const struct page *again;	 /* facts: how to make this report again, what was read */
	const struct report_cost *costs; /* by code row */
	uint64_t all_cost;		 /* what 100 % of them is */
	const char *unit;		 /* of them: "cycles" or "stalled samples" */
	bool no_source;			 /* the reader shall not see the text of sources */
	bool is_brief;			 /* Markdown of at most 60 lines */
};

bool report_html(const struct report *r, FILE *out, struct incore_error *e);
bool report_markdown(const struct report *r, FILE *out, struct incore_error *e);

/* report_card.c */
/* Of an answer of summary, which lives longer. */
void report_card_make(struct report_card *c, const struct answer *summary);
/* "kernel", or "kernel: A -> B" of two captures, called by what differs in their paths; "and" in
 * place of the arrow where they are not compared. */
void report_title(const struct report *r, struct strbuf *out);
/* "A: kernel, path" of the first capture, B of the second */
void report_capture_title(const struct report *r, unsigned capture, struct strbuf *out);
/* "hardware-trace", or of two captures that differ in it: "A hardware-trace, B estimate". */
void report_evidence_words(const struct report *r, struct strbuf *out);
/* A line of the verdict, begun with a capital; what stands between its backquotes is code. */
typedef void report_put_fn(struct strbuf *b, struct str text);
void report_put_verdict_line(
	struct str line, report_put_fn *put, report_put_fn *put_code, struct strbuf *b);
/* "12.3 % exposed" */
void report_put_exposed(const struct advice_row *a, struct strbuf *b);

/* report_parts.c */
/* A sentence that says what figures of that evidence are. */
const char *report_evidence(const struct report *r);
/* gzip, then base64 in lines; false on lack of memory. */
bool report_pack(struct str bytes, struct strbuf *out);
/* "12,345" */
void report_put_count(struct strbuf *b, uint64_t v);

/* report_source.c: the source lines that cost most, each with its neighbours. */
#define REPORT_LINES 3u
struct report_line {
	source_idx source;
	uint32_t line;	 /* 1-based */
	uint64_t cost;	 /* of the instructions whose innermost line it is */
	struct str text; /* "line  cost  text" of its neighbourhood; or */
	struct str why;	 /* why there is none */
};
/* A title between its marks, then put() for each line, the costliest first; nothing where no line
 * is known. False on lack of memory. */
bool report_put_lines(const struct report *r, const char *before, const char *after,
	void (*put)(const struct report *r, const struct report_line *l, struct strbuf *b),
	struct strbuf *b);
/* ":12: 3,456 cycles, 7.8 %" */
void report_put_cost(const struct report *r, const struct report_line *l, struct strbuf *b);

/* report_svg.c: pictures. Lanes of the whole capture by class; the cycles of the card by bucket. */
bool report_svg_lanes(const struct view *v, struct strbuf *out, struct incore_error *e);
bool report_svg_buckets(const struct report_card *c, const struct view *v, struct strbuf *out,
	struct incore_error *e);
/* The same in words: "issue 16.5 %, stall ..."; nothing where there are no cycles. */
void report_bucket_words(const struct report_card *c, struct strbuf *out);
