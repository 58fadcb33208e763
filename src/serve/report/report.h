/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.h: a capture as one self-contained HTML file, or as Markdown. The page is the viewer
 * itself with the data in the file; before its script runs, without scripts, and on paper it is a
 * static report. The same input gives the same bytes. May fail: memory, writing.
 */
#pragma once

#include <stdio.h>

#include "base/vec.h"
#include "page/page.h"
#include "serve/view/view.h"

#define REPORT_MAX_SLICES 2000000u /* in all its captures */
#define REPORT_MAX_CAPTURES 2u
#define REPORT_MAX_BYTES (15u << 20)

struct report_answer { /* answer of a verb: the question as asked by the page, and the JSON */
	const char *question;
	struct str json;
};

struct report_cost { /* cost of a code row, as in `incore isa` */
	uint64_t hits, cost;
};

struct answer;
struct advice_row;
struct verdict_screen;

#define REPORT_TRIES 3u
struct report_card { /* the first screen; texts and rows belong to the answer it is made from */
	const struct verdict_screen *verdict;
	uint64_t bucket[BUCKET_COUNT], all_cyc; /* from the table of the summary; 0: no cycles */
	const struct advice_row *advice;	/* largest gain first */
	size_t n_advice;
};

struct report {
	const struct view *view;
	const struct view *second; /* NULL: only one capture */
	const struct report_card *card[REPORT_MAX_CAPTURES];
	const struct report_answer *answers;
	size_t n_answers;
	const struct page *summary;	      /* of `incore summary` */
	const struct page *code;	      /* further parts, about the code */
	const struct page *health;	      /* of `incore check` */
	struct str blob[REPORT_MAX_CAPTURES]; /* from blob_write(); empty: only one capture */
	const struct page
		*difference; /* of `incore diff`, or the reason why it failed; NULL: one capture */
	bool is_compared;
	struct str left_out;		 /* one line per omitted thing; empty: nothing omitted */
	const struct page *again;	 /* how to make this report again, what was read */
	const struct report_cost *costs; /* by code row */
	uint64_t all_cost;		 /* 100 % of the costs */
	const char *unit;		 /* of the costs: "cycles" or "stalled samples" */
	bool no_source;			 /* leave out the text of sources */
	bool is_brief;			 /* Markdown of at most 60 lines */
};

bool report_html(const struct report *r, FILE *out, struct incore_error *e);
bool report_markdown(const struct report *r, FILE *out, struct incore_error *e);

/* report_card.c */
/* Makes the card of an answer of summary, which must outlive it. */
void report_card_make(struct report_card *c, const struct answer *summary);
/* Writes "kernel", or "kernel: A -> B" for two captures, named by the parts of their paths that
 * differ; with "and" instead of the arrow if they are not compared. */
void report_title(const struct report *r, struct strbuf *out);
/* Writes "A: kernel, path" for the first capture, "B: ..." for the second. */
void report_capture_title(const struct report *r, unsigned capture, struct strbuf *out);
/* Writes "hardware-trace", or if two captures differ: "A hardware-trace, B estimate". */
void report_evidence_words(const struct report *r, struct strbuf *out);
/* "saves 53 %, 27 to 70", or "12.3 % exposed" where that is all that is known. */
void report_put_gain(const struct advice_row *a, struct strbuf *b);
/* The place in a page of summary behind what is on the card. */
size_t report_after_card(const struct page *summary);

/* report_parts.c */
/* A sentence that explains figures with this evidence. */
const char *report_evidence(const struct report *r);
/* Appends the bytes as gzip in base64 lines; false on lack of memory. */
bool report_pack(struct str bytes, struct strbuf *out);
/* "12,345" */
void report_put_count(struct strbuf *b, uint64_t v);

/* report_source.c: the source lines that cost most, each with its neighbours. */
#define REPORT_LINES 3u
struct report_line {
	source_idx source;
	uint32_t line;	 /* 1-based */
	uint64_t cost;	 /* of the instructions whose innermost line it is */
	struct str text; /* "line  cost  text" of the lines around it; or */
	struct str why;	 /* the reason why there is no text */
};
/* Writes a title between `before` and `after`, then calls put() for each line, the costliest first;
 * nothing if no line is known. False on lack of memory. */
bool report_put_lines(const struct report *r, const char *before, const char *after,
	void (*put)(const struct report *r, const struct report_line *l, struct strbuf *b),
	struct strbuf *b);
/* ":12: 3,456 cycles, 7.8 %" */
void report_put_cost(const struct report *r, const struct report_line *l, struct strbuf *b);

/* Writes the cycles by bucket as text: "issue 16.5 %, stall ..."; nothing without cycles. */
void report_bucket_words(const struct report_card *c, struct strbuf *out);
