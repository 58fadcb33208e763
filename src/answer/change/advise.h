/* SPDX-License-Identifier: Apache-2.0 */
/*
 * advise.h: what to change: the answer that answer/advise.c gives, and its rows, which summary shows
 * too. What two captures say of advice that was taken is there as well.
 */
#pragma once

#include "analysis/advise/advise.h"
#include "answer/rows.h"

struct advice_gain { /* of whatif.h; cycles of the kernel, of its traced part */
	uint64_t before, after, low, high;
	double pct, least_pct, most_pct; /* of before, saved */
	const char *method, *why;	 /* why: what bounds it; NULL: nothing that is known */
	bool does_nothing;
};

struct advice_row {
	const char *rule, *finding, *cause, *place, *evidence, *experiment, *prediction, *risk;
	const struct code_ref *where, *waits_for; /* NULL: none */
	struct rows rows;			  /* code_ref pointers: struct advice_place */
	uint64_t found;				  /* rows there are */
	uint64_t exposed;
	double share_pct;		/* of all lifetimes */
	const char *question;		/* options of incore whatif; NULL: none can be asked */
	const struct advice_gain *gain; /* NULL: not asked, or there is no answer */
	const char *no_gain; /* why a question has no answer; NULL: it has, or none is asked */
	const char *confirm; /* a command */
};
extern const struct record advice_record;

struct advice_place {
	const struct code_ref *at;
};

/* Rows of a list of advice; all_cyc: what exposed cycles are a share of. Gains are not asked here. */
bool advice_rows(struct answer *a, const struct trace *t, const struct advise_list *l,
	uint64_t all_cyc, struct rows *out, struct incore_error *e);

struct advised {	   /* the advice on one capture */
	struct rows rows;  /* advice_row */
	uint64_t span_cyc; /* of the kernel, as far as whatif.h times it; 0: it does not */
};
/* Asks whatif.h what each would bring, rows of the same order, and puts the largest gain first. */
bool advice_gains(struct answer *a, const struct trace *t, const struct advise_list *l,
	const struct walk_options *o, struct advised *to, struct incore_error *e);

struct taken_row { /* advice on the first capture, seen from the second */
	const char *rule, *state, *place;
	double before_pct, after_pct; /* exposed, of all lifetimes */
	double promised_pct, least_pct, most_pct;
};

struct advise_taken {
	uint64_t before, after; /* cycles, as advise_answer.unit says */
	double change_pct;	/* negative: shorter */
	double least_pct,
		most_pct; /* promised by what was taken, together; not a number: nothing */
	const char *verdict;
	struct rows rows; /* taken_row */
};

struct advise_answer {
	const char *evidence, *world, *verdict;
	const char *unit; /* what a kernel's cycles are of */
	uint64_t cycles;
	struct rows advice;		  /* advice_row */
	const struct advise_taken *taken; /* NULL: one capture */
};
extern const struct record taken_record;
