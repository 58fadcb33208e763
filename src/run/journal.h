/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h: what a long job has done, a line a fact, for whoever goes on after it was killed.
 * Lines are only appended, and each is on the disk before journal_add() returns. A line begins with
 * the hash of its text and of all lines before it: one that is changed, lost or moved is seen. A
 * last line that a crash cut is taken off when the journal is opened again.
 * Owner: journal_open() .. journal_close(); one holder at a time (flock), one thread at a time.
 */
#pragma once

#include "base/str.h"

struct journal {
	int fd; /* 0: not open */
	char *path;
	uint64_t n_lines, size_bytes;
	uint64_t chain; /* hash of the last line */
};

/* Gets the text of each line that is there; false ends the reading with its error. */
typedef bool (*journal_fn)(void *ctx, struct str text, struct incore_error *e);

/* Makes or continues the file. each may be NULL. Codes: "journal-busy", "journal-damaged". */
bool journal_open(
	struct journal *j, const char *path, journal_fn each, void *ctx, struct incore_error *e);
/* The same of a journal that somebody else may hold, or of its bytes: nothing is made, locked or
 * cut. */
bool journal_read(const char *path, journal_fn each, void *ctx, struct incore_error *e);
bool journal_parse(
	struct str all, const char *path, journal_fn each, void *ctx, struct incore_error *e);
/* A text without a line break. A line that could not be written whole is taken off again. */
bool journal_add(struct journal *j, struct str text, struct incore_error *e);
/* The same of a line that may be lost with a crash of the machine, for whoever can find out again:
 * it is on the disk with the next journal_add(). */
bool journal_note(struct journal *j, struct str text, struct incore_error *e);
/* Safe on a zeroed struct. */
void journal_close(struct journal *j);
