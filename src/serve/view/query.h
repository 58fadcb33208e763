/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h: parses a request: "/api/1/tile?tracks=0-3&level=4". The text is untrusted: percent
 * escapes are decoded once, control characters and duplicate names are rejected, nothing is longer
 * than QUERY_MAX_BYTES. Owner: a struct query holds its own text. May fail: all, with USAGE.
 * Also runs in a browser.
 */
#pragma once

#include "base/str.h"

#define QUERY_MAX_BYTES 4096u
#define QUERY_MAX_PAIRS 32u
#define QUERY_MAX_RANGES 64u

struct query_pair {
	const char *key, *value;
};

struct query_ranges { /* "0-3,7" */
	unsigned n;
	struct {
		uint32_t first, last;
	} v[QUERY_MAX_RANGES];
};

struct query {
	char text[QUERY_MAX_BYTES + 1];
	const char *name; /* "tile"; "" if the path is not below /api/1/ */
	const char *path; /* the whole path, unescaped */
	unsigned n;
	struct query_pair pair[QUERY_MAX_PAIRS];
};

bool query_parse(struct query *q, struct str target, struct incore_error *e);
/* The value, or NULL. */
const char *query_text(const struct query *q, const char *key);
/* A whole number in [0, max]; `fallback` if the key is missing; QUERY_NEEDED makes that an
 * error. */
#define QUERY_NEEDED UINT64_MAX
bool query_number(const struct query *q, const char *key, uint64_t fallback, uint64_t max,
	uint64_t *out, struct incore_error *e);
/* Ranges "a-b,c" with all numbers below `limit`; missing: all. */
bool query_set(const struct query *q, const char *key, uint32_t limit, struct query_ranges *out,
	struct incore_error *e);
/* Index of the value in the words "a|b|c"; missing: 0. */
bool query_word(const struct query *q, const char *key, const char *words, unsigned *out,
	struct incore_error *e);
