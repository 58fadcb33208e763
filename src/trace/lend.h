/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lend.h: slices of a trace that stand in columns already are not read from its files again. Only
 * what the columns hold exactly as the file does is lent: the rest (states, stated waits, records of
 * unknown code, tracks cut to the screen, pipes) comes from the loader, as before.
 * Owner: the caller; the columns and the trace that they are of must outlive every load.
 * Threads: lend_to() at any time, beside loads.
 */
#pragma once

#include "trace/columns.h"

struct lent_columns {
	struct track_lender lender;
	const struct trace *of;
	const struct columns *columns;
	int64_t origin_cyc; /* time 0 of the columns */
};

struct lent_columns lend_columns(
	const struct trace *of, const struct columns *columns, int64_t origin_cyc);
/* Lets t take its slices from there; does nothing where t is of another capture. */
void lend_to(const struct lent_columns *l, struct trace *t);
