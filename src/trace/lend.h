/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lend.h: avoids reading slices again from a trace's files when columns hold them already. Only
 * what the columns hold exactly as the file does is lent; the rest (states, stated waits, records
 * of unknown code, tracks cut to the screen, pipes) comes from the loader, as before.
 * Owner: the caller; the columns and their trace must outlive every load.
 * Threads: lend_to() may be called at any time, also during loads.
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
/* Lets t take its slices from the columns; does nothing if t is of another capture. */
void lend_to(const struct lent_columns *l, struct trace *t);
