/* SPDX-License-Identifier: Apache-2.0 */
/*
 * note.h: one remark about data: a code, its weight, how often, where, and a text. Readers, writers
 * and checks all report with this struct, so that every face shows, counts and compares notes in
 * one way. Owner: of the strings, who made the note (an arena beside it).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum note_kind {
	NOTE_LOST,
	NOTE_TRUNCATED,
	NOTE_UNMAPPED,
	NOTE_CLAMPED,
	NOTE_CONTRADICTORY,
	NOTE_GUESSED,
	NOTE_MISSING,
	NOTE_DAMAGED,
	NOTE_INFO,
	NOTE_KINDS
};
extern const char *const note_kind_words[];   /* by value; NULL ends */
const char *note_kind_name(enum note_kind k); /* "lost", ... */

enum note_weight {
	WEIGHT_INFO,	/* good to know */
	WEIGHT_WARNING, /* the figures may not be what they seem */
	WEIGHT_ERROR,	/* the figures are wrong, or there are none */
	NOTE_WEIGHTS
};

const char *note_weight_name(enum note_weight w); /* "info", "warning", "error" */

struct note {
	enum note_kind kind;
	enum note_weight weight;
	const char *code;    /* stable word: "missing-wave-file", "unlisted-wave-file",
				"damaged-wave-file", ... */
	const char *message; /* one line */
	const char *path;    /* or NULL */
	uint64_t offset;     /* or INCORE_NO_OFFSET */
	uint64_t count;	     /* number of occurrences */
	unsigned tables;     /* shown only with these tables (enum import_want); 0: always */
};

/* The weight of a note that a reader made: all but mere information is a warning. */
enum note_weight note_kind_weight(enum note_kind k);
/* Does it mean that data is missing or wrong? --strict makes such a note an error. */
bool note_is_loss(const struct note *n);

/* Is the note shown to a reader who wants these tables? Reading more tables does not change it. */
static inline bool note_is_told(const struct note *n, unsigned want)
{
	return !(n->tables & ~want);
}
