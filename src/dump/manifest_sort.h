/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_sort.h: sorts the records of a log by task in bounded memory: what does not fit is
 * written as sorted runs to an unnamed temporary file, and merged when read back. Owner: the
 * caller's struct, sorter_deinit() frees. One thread. May fail: memory, the file.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"

struct sort_entry {
	uint64_t task_id;
	uint64_t off; /* of the record in the log */
};

struct sort_run {
	uint64_t at, left;	/* entries in the file */
	struct sort_entry *buf; /* part of the sorter's buffer */
	size_t n, next;
};

struct sorter {
	const char *dir; /* where the temporary file is created */
	size_t most;	 /* maximum number of entries in memory */
	VEC(struct sort_entry) buf;
	VEC(struct sort_run) runs;
	uint64_t in_file;
	size_t next; /* while reading, without runs */
	int fd;
};

void sorter_init(struct sorter *s, const char *dir, size_t bytes);
void sorter_deinit(struct sorter *s);
bool sorter_add(struct sorter *s, struct sort_entry entry, struct incore_error *e);
/* Call after the last add. */
bool sorter_finish(struct sorter *s, struct incore_error *e);
/* Returns the next entry in order; *has is false at the end. */
bool sorter_next(struct sorter *s, struct sort_entry *out, bool *has, struct incore_error *e);
