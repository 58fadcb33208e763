/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_gate.h: conditions on a diff for CI.
 *
 *	gate   := metric op value		"stall_per_hit<+5%"
 *	op     := < | <= | > | >=		what must hold for B
 *	value  := [+-]number%  change of A in percent | [+-]number  change | number  value of B
 *	        | number%  value of B, of a share ("stall_share<60%")
 *
 * A change within the noise of repeats never fails a gate on changes.
 */
#pragma once

#include "analysis/diff/diff.h"

enum gate_op { GATE_LT, GATE_LE, GATE_GT, GATE_GE };
enum gate_kind { GATE_VALUE, GATE_CHANGE, GATE_CHANGE_PCT };

struct gate {
	const char *text; /* as given; borrowed */
	char metric[64];
	enum gate_op op;
	enum gate_kind kind;
	double limit; /* in the unit of the kind; shares are 0..1 */
};

struct gate_result {
	const struct gate *gate;
	const struct diff_value *value;
	double got, limit, noise; /* in the unit of the gate's kind; limit as written */
	bool is_passed;
	bool is_saved_by_noise; /* beyond the limit, but within the noise */
};

/* Parses a gate. Fails with status USAGE, saying what was expected and where. */
bool gate_parse(struct gate *g, const char *text, struct incore_error *e);
/* Checks a gate. Fails with status USAGE for an unknown metric (the message lists the known
 * ones). */
bool gate_check(const struct gate *g, const struct diff *d, struct gate_result *out,
	struct incore_error *e);
/* "stall_per_hit 6.209 is +22.24 % of 5.079, limit < +5 % (no repeat: noise unknown)" */
bool gate_put(const struct gate_result *r, const struct diff *d, struct strbuf *out);
