/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_lines.h: which source line of B is which line of A? An edit above a line moves it, so equal
 * numbers say little. Aligned instructions decide first: two lines are one if most instructions of
 * each are instructions of the other. Then the texts of the files do, where the captures hold them,
 * and last the number.
 *
 * Owner: line_pairs_make() .. line_pairs_deinit(), which is safe on a zeroed struct; call it after a
 * failure, too.
 */
#pragma once

#include "base/map.h"
#include "trace/trace.h"

struct line_pairs {
	struct intern a, b; /* "a.py:12" as hot_line_of() gives it */
	uint32_t *a_of_b;   /* by number of b: the number of a, or INTERN_NONE */
	uint32_t *b_of_a;
	const char **key_of_b; /* by number of b: line_pairs_key() */
	struct arena arena;
};

/* rows: by row of a its row of b, or NO_CODE; NULL: no row is known to be another. */
bool line_pairs_make(struct line_pairs *p, const struct trace *a, const struct trace *b,
	const code_idx *rows, struct incore_error *e);
void line_pairs_deinit(struct line_pairs *p);
/* The name under which a line of B is compared: its line of A, or its own; "a.py:12 (B)" if that
 * means another line in A. Keys of neither trace are returned as they are. */
const char *line_pairs_key(const struct line_pairs *p, const char *line_of_b);
/* The line of B that a line of A is compared with, if it has another name; NULL otherwise. */
const char *line_pairs_moved(const struct line_pairs *p, const char *line_of_a);
