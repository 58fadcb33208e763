/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advise.h: what to change: the answer of answer/advise.c and its rows, which summary shows too;
 * also what a second capture shows about advice that was followed.
 */
#pragma once

#include "analysis/advise/gains.h"
#include "answer/rows.h"

struct advice_row {
	const char *rule, *finding, *cause, *place, *evidence, *experiment, *prediction, *risk;
	const struct code_ref *where, *waits_for; /* NULL: none */
	struct rows rows;			  /* struct advice_place: pointers to code_ref */
	uint64_t found;				  /* rows that exist */
	uint64_t exposed;
	double share_pct;		/* of all lifetimes */
	const char *question;		/* options of incore whatif; NULL: it cannot be asked */
	const struct advice_gain *gain; /* NULL: not asked, or no answer */
	const char *no_gain; /* why there is no gain; NULL: there is, or it was not asked for */
	const char *confirm; /* a command */
};
extern const struct record advice_record;

struct advice_place {
	const struct code_ref *at;
};

/* Makes the rows of a list of advice, without gains. all_cyc: the cycles that shares refer to. */
bool advice_rows(struct answer *a, const struct trace *t, const struct advise_list *l,
	uint64_t all_cyc, struct rows *out, struct incore_error *e);

/* The advice on waves or samples as rows, without gains. */
bool advice_of_summary(
	struct answer *a, const struct summary *s, struct rows *out, struct incore_error *e);

struct pipes;

struct ledger;

struct advised { /* one capture, with what its advice rests on, which the answer owns */
	struct trace *trace;
	/* Set before: a limit to records that are played again to find gains (0: none), and that
	 * the capture cannot be believed, so that there is no advice. */
	uint64_t most_records;
	bool is_unusable;
	/* Made, unless they are there already. */
	const struct summary *summary; /* of waves and samples, else NULL */
	const struct pipes *pipes;     /* of pipes, else NULL */
	/* Made. */
	const struct ledger *ledger; /* of a capture with counters, else NULL */
	const char *missing; /* what counters lack for a ledger; NULL: nothing, or there are none */
	struct advise_time time;
	struct rows rows; /* advice_row, the largest gain first */
	const char *verdict;
};
/* Advises on x->trace and fills the rest of *x. */
bool advise_capture(
	struct answer *a, const struct request *r, struct advised *x, struct incore_error *e);

/* Rules of the ledger that advise.h does not have. */
#define ADVISE_LEDGER_CHOICES                                                                      \
	"small-grid|uneven-tail|shared-atomics|serial-constants|double-precision|"                 \
	"integer-division|float-division|costly-function|tree-reduction|register-tile|"            \
	"larger-tile|reload|small-blocks|more-in-flight|one-step-ahead|tensor-cores|"              \
	"neighbour-exchange"

/* verdict/advise_ledger.c: of a capture with counters, replaces the rows of *x by those of its
 * ledger and, with the ledger's gains, those of rules that the ledger does not have; and says what
 * binds. Leaves *x as it is where there is no ledger. */
bool advise_by_ledger(struct answer *a, struct advised *x, struct incore_error *e);

struct ledger;
struct ledger_change;
struct advice_gain advice_gain_of_ledger(const struct ledger *l, const struct ledger_change *c);

struct taken_row { /* advice on the first capture, judged by the second */
	const char *rule, *state, *place;
	double before_pct, after_pct; /* exposed, of all lifetimes */
	double promised_pct, least_pct, most_pct;
};

struct advise_taken {
	struct advise_follow f;
	const char *verdict;
	struct rows rows; /* taken_row */
};

struct advise_answer {
	const char *evidence, *world, *verdict;
	const char *unit; /* what the cycles of the kernel measure */
	uint64_t cycles;
	struct rows advice;		  /* advice_row */
	const struct advise_taken *taken; /* NULL: one capture */
	struct rows vendor; /* vendor_rule, the largest estimate first; empty: not asked */
	bool is_beside_vendor;
};
extern const struct record taken_record;
