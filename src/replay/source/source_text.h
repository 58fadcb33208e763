/* SPDX-License-Identifier: Apache-2.0 */
/*
 * source_text.h: the part of a C++ source that a compiler would see, for questions asked of its
 * text. Comments, the insides of string and character literals, directives and regions that no
 * build uses are blanked; every other byte keeps its place, so that offsets and lines stay valid. A
 * condition on a macro that was never mentioned is unknown, and both of its branches are kept.
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
	/* Called for each directive that a compiler would see: "define N 4"; may be NULL. */
	bool (*on_directive)(void *ctx, struct str line);
	void *ctx;
};

/* Appends the masked text to *out (as long as `src`). `path` is for messages. */
bool source_mask(struct str src, const char *path, const struct source_macros *known,
	struct strbuf *out, struct incore_error *e);

/* 1-based line number of a byte offset. */
uint32_t source_line(struct str text, size_t offset);

/* True if `word` occurs in masked text as a whole identifier at or after *pos; *pos moves past
 * it. */
bool source_find_word(struct str masked, const char *word, size_t *pos);
