/* SPDX-License-Identifier: Apache-2.0 */
/*
 * journal.h: what a long job has done, one fact per line, so that it can be resumed after it was
 * killed. Lines are only appended, and each is on the disk before journal_add() returns. A line
 * begins with the hash of its text and of all lines before it: a changed, lost or moved line is
 * detected. A last line that a crash left incomplete is removed when the journal is opened again.
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

/* Receives the text of each existing line; returning false ends the reading with its error. */
typedef bool (*journal_fn)(void *ctx, struct str text, struct incore_error *e);

/* Creates or continues the file. each may be NULL. Error codes: "journal-busy",
 * "journal-damaged". */
bool journal_open(
	struct journal *j, const char *path, journal_fn each, void *ctx, struct incore_error *e);
/* Read a journal that another process may hold, or one in memory: nothing is created, locked or
 * truncated. */
bool journal_read(const char *path, journal_fn each, void *ctx, struct incore_error *e);
bool journal_parse(
	struct str all, const char *path, journal_fn each, void *ctx, struct incore_error *e);
/* Appends a text without a line break. A line that could not be written whole is removed again. */
bool journal_add(struct journal *j, struct str text, struct incore_error *e);
/* Appends a line without syncing it, for facts that can be recovered otherwise: a crash of the
 * machine may lose it until the next journal_add(). */
bool journal_note(struct journal *j, struct str text, struct incore_error *e);
/* Safe on a zeroed struct. */
void journal_close(struct journal *j);
