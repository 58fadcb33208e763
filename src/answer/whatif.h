/* SPDX-License-Identifier: Apache-2.0 */
/* whatif.h: how long the kernel would take with one thing changed: parameters, and the answer of
 * answer/whatif.c. */
#pragma once

#include "analysis/whatif/whatif.h"
#include "answer/rows.h"

struct whatif_params {
	struct text_list faster, ahead, sooner, remove, opcode, even;
	const char *waves;
	/* asked alone */
	const char *rule; /* of advise */
	uint64_t grid, block;
	const char *tile, *elements; /* "x4" */
	bool nothing;		     /* replay without any change */
};

struct whatif_identity { /* the replay with nothing changed */
	uint64_t waves, reproduced;
	double share; /* per cent; NaN: nothing was replayed */
};

struct whatif_unit_row {
	const char *unit;
	uint64_t before, after, low, high, waves, reproduced;
	double coupling;
};

struct whatif_limit_row {
	const char *part;
	int64_t row;
	const char *isa, *source;
	uint64_t before, after;
	int64_t change;
	double share; /* of the time after */
};

struct whatif_answer {
	const char *evidence, *based_on, *method, *change, *verdict, *why;
	const char *differs; /* how far --remove and =inf differ, and why; NULL: they agree, or
			      * only one of them applies */
	uint64_t rows, executions;
	uint64_t before, after, low, high;   /* NO_U64: no answer */
	double saved, saved_low, saved_high; /* per cent of before */
	double before_us, after_us, low_us, high_us;
	struct whatif_identity identity;
	struct rows untrue; /* text_item */
	struct rows units;  /* whatif_unit_row */
	uint64_t found;	    /* limits that exist; fewer may be given */
	struct rows limits; /* whatif_limit_row */
};

extern const struct record whatif_limit_record, whatif_unit_record;
