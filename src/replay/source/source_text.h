/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_text.h: the part of a C++ source that a compiler would see, for questions asked of its
 * text. Comments, the insides of string and character literals, directives and regions that no
 * build takes are blanked; every other byte stays where it was, so that offsets and lines hold.
 * A condition on a macro that nobody has named is unknown, and both of its branches are kept.
 * Owner: the caller frees *out. May fail: memory; unbalanced #if/#endif; an open comment.
 */
#pragma once

#include "base/str.h"

struct source_macro {
	const char *name;
	bool is_defined;
	int64_t value;
};

struct source_macros {
	size_t n;
	const struct source_macro *v;
	/* Called for each directive that a compiler would see: "define N 4"; NULL: not. */
	bool (*on_directive)(void *ctx, struct str line);
	void *ctx;
};

/* Appends the masked text to *out (as long as `src`). `path` is for messages. */
bool source_mask(struct str src, const char *path, const struct source_macros *known,
	struct strbuf *out, struct incore_error *e);

/* 1-based line of a byte. */
uint32_t source_line(struct str text, size_t offset);

/* True where `word` stands in masked text as a whole identifier at or after *pos; *pos moves behind
 * it. */
bool source_find_word(struct str masked, const char *word, size_t *pos);
