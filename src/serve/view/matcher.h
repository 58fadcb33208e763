/* SPDX-License-Identifier: Apache-2.0 */
/*
 * matcher.h: does a text match what the user typed? Literal text without regard to case, or between
 * slashes a regular expression (matcher_pcre.c; a report has none: matcher_literal.c).
 * Owner: matcher_deinit(). May fail: a bad expression, with USAGE; one that takes too long.
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
/* Literal: is `needle` in `text`, A-Z and a-z being the same? */
bool matcher_literal(struct str text, struct str needle);
bool regex_init(struct matcher *m, struct str pattern, struct incore_error *e);
bool regex_has(struct matcher *m, struct str text);
void regex_deinit(struct matcher *m);
