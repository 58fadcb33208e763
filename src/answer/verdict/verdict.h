/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verdict.h: the answer of `incore verdict`: what bounds a kernel and what a change would bring,
 * as figures and as the lines of the first screen. Captures with counters of the units have a
 * ledger (ledger.h); others have what their analyses know, and a line that says what is missing.
 */
#pragma once

#include "analysis/ledger/ledger.h"
#include "answer/advise.h"
#include "answer/siblings.h"

struct verdict_unit_row {
	const char *unit, *name;
	double peak_pct;      /* of the nominal peak: mean of the instances */
	double busiest_pct;   /* and the busiest instance */
	double practical_pct; /* of the nominal peak that is reached in practice */
	double full_pct;      /* of the time, at the practical rate */
	double cycles;	      /* that the busiest instance needs */
};

struct verdict_wait_row {
	const char *reason, *words;
	double exposed_pct; /* of warp time */
	double queued_pct;  /* part of it that is queueing */
	double latency, idle_latency;
};

struct verdict_change_row {
	const char *rule, *change, *counted, *step, *place;
	const struct code_ref *where, *waits_for;
	uint64_t found; /* rows */
	double pct, least_pct, most_pct;
	double after_us, low_us, high_us;
	const char *no_gain;	  /* why pct is not known; NULL: it is, or nothing more is known */
	const char *sure, *basis; /* basis: what the figure rests on */
	const char *next;	  /* the fullest unit afterwards */
};

/* Sentences for people, without their heads; NULL: there is nothing to say. Beside its head each
 * fits into a line of VERDICT_WIDTH columns, but for `waits` (two lines) and `change` (three). */
#define VERDICT_WIDTH 80u
#define VERDICT_HEAD 10u /* columns of a head */
struct verdict_screen {
	const char *kernel,
		*launch; /* the first line: "gemm", "274.7 us  64 blocks x 256 threads" */
	const char *bound_by, *of_peak, *waits, *at, *change, *gain, *sure, *noise, *other, *health,
		*missing;
};
extern const struct record verdict_screen_record;

struct verdict_line {
	const char *head, *text; /* text NULL: the line is left out */
};
#define VERDICT_LINES 11u
/* Line i of the screen below the first, as all faces show it. */
struct verdict_line verdict_line(const struct verdict_screen *s, unsigned i);

struct verdict_answer {
	const char *evidence;
	const char *kernel, *size; /* size: "4096 blocks x 256 threads" */
	double us;		   /* time of one launch */
	double cycles;		   /* elapsed */
	const char *bound, *unit;  /* codes; unit NULL: none */
	double full_pct;
	double exposed_pct, fill_pct, warps, waves;
	const char *limiter;
	const char *rates, *rates_evidence; /* the chip; NULL: none */
	const char *missing;		    /* what is not in the capture; NULL: nothing */
	struct rows units;		    /* verdict_unit_row, the fullest first */
	struct rows waits;		    /* verdict_wait_row, the largest first */
	struct rows changes;		    /* verdict_change_row, the best first */
	struct verdict_screen screen;
	const struct repeats_row *repeats; /* NULL: none beside it */
	bool is_counted;		   /* from counters: what is not listed is not wasted */
	bool is_ledger;			   /* asked for by --ledger */
};
extern const struct record verdict_unit_record, verdict_wait_record, verdict_change_record;

/* A verdict plays up to so many records again to find gains; longer traces are for advise. */
#define VERDICT_RECORDS 2000000u

/* Makes the verdict on a trace. *side: what was advised on it, with its health; NULL: both are
 * found here, as far as they are needed. */
bool verdict_make(struct answer *a, const struct request *r, struct trace *t,
	const struct advised *side, const char *health, struct verdict_answer *to,
	struct incore_error *e);

/* verdict_ledger.c: appends what binds, as "L1/shared memory: 95 % of what it can do". */
void verdict_put_bound(const struct ledger *l, struct strbuf *b);
/* The answer from counters; *l belongs to the answer. */
bool verdict_of_ledger(struct answer *a, const struct ledger *l, struct verdict_answer *to,
	struct incore_error *e);
/* verdict_traced.c: from a timeline or samples without counters. */
bool verdict_of_trace(struct answer *a, const struct advised *side, struct verdict_answer *to,
	struct incore_error *e);

/* verdict_screen.c: makes the text of b the answer's, and empties b. */
bool verdict_keep(struct answer *a, struct strbuf *b, const char **out, struct incore_error *e);
/* Keeps a sentence of at most that many lines; drops whole clauses at its end if it is longer. */
bool verdict_keep_lines(struct answer *a, struct strbuf *b, unsigned lines, const char **out,
	struct incore_error *e);
/* The sentences about the best changes; to->changes must be filled. */
bool verdict_put_first(struct answer *a, struct verdict_answer *to, struct incore_error *e);
/* The first line and the last ones, of what *to has. */
bool verdict_put_frame(
	struct answer *a, const char *health, struct verdict_answer *to, struct incore_error *e);
