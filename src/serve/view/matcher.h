/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matcher.h: matches texts with what the user typed: literal text, ignoring case, or a regular
 * expression between slashes (matcher_pcre.c; not supported in a report: matcher_literal.c).
 * Owner: matcher_deinit(). May fail: an invalid expression, with USAGE; one that takes too long.
 */
#pragma once

#include "base/str.h"

struct matcher {
	struct str literal;
	bool is_regex;
	void *regex; /* private */
};

bool matcher_init(struct matcher *m, const char *text, struct incore_error *e);
void matcher_deinit(struct matcher *m);
bool matcher_has(struct matcher *m, struct str text);
/* Is `needle` in `text`, ignoring the case of A-Z? */
bool regex_init(struct matcher *m, struct str pattern, struct incore_error *e);
bool regex_has(struct matcher *m, struct str text);
void regex_deinit(struct matcher *m);
