/* SPDX-License-Identifier: Apache-2.0 */
/*
 * producer_tables.h: the tables that a producer gave and no analysis interprets, as answers give
 * them. Owner: rows are made in the arena of the answer; texts stand in its captures.
 */
#pragma once

#include "answer/rows.h"

struct producer_table { /* a table that a producer gave */
	const char *name, *origin;
	uint64_t rows;
	struct rows columns, cells; /* text_item; struct rows of nullable text_item */
};
extern const struct record producer_table_record; /* RECORD_BLOCK */
/* Of tables of details the first `top` rows; with `all` of the others too, up to a limit. */
bool producer_table_rows(struct answer *a, const struct trace *t, uint64_t top, bool all,
	struct rows *out, struct incore_error *e);
