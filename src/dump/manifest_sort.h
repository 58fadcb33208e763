/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_sort.h: records of a log in the order of their tasks, in bounded memory: what does not
 * fit goes as sorted runs to a file without a name, and comes back merged. Owner: the caller's
 * struct, sorter_deinit() frees. One thread. May fail: memory, the file.
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
	struct sort_entry *buf; /* a part of the sorter's memory */
	size_t n, next;
};

struct sorter {
	const char *dir; /* for the file */
	size_t most;	 /* entries in memory */
	VEC(struct sort_entry) buf;
	VEC(struct sort_run) runs;
	uint64_t in_file;
	size_t next; /* while reading, without runs */
	int fd;
};

void sorter_init(struct sorter *s, const char *dir, size_t bytes);
void sorter_deinit(struct sorter *s);
bool sorter_add(struct sorter *s, struct sort_entry entry, struct incore_error *e);
/* After the last add. */
bool sorter_finish(struct sorter *s, struct incore_error *e);
/* The next in order; *has is false at the end. */
bool sorter_next(struct sorter *s, struct sort_entry *out, bool *has, struct incore_error *e);
