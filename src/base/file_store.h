/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_store.h: files that were opened once and will be read again. A first look keeps what it
 * opened here, and the reader after it takes that instead of opening the file a second time. A file
 * is the same while its device, inode, size and time of change are.
 * Owner: the caller zeroes the store and calls file_store_deinit(). Bounded: past its limits
 * nothing more is kept, and a file is simply opened again. Threads: one at a time.
 */
#pragma once

#include <sys/stat.h>

#include "base/file.h"
#include "base/vec.h"

struct kept_file {
	struct stat st;
	int fd;		       /* opened for its head only; -1: all of it is in data */
	struct file_data data; /* stays where it is in memory when the store grows */
};

struct file_store {
	VEC(struct kept_file) files;
	size_t bytes; /* in buffers; mapped files cost none */
	unsigned n_fds;
};

enum file_store_use {
	FILE_TAKE, /* the last reader: *f owns the bytes, the store forgets them */
	FILE_KEEP, /* others follow: *f borrows the bytes from the store where that has room */
};

/* Two answers of stat() about one file that did not change between them. */
bool file_is_same(const struct stat *a, const struct stat *b);

void file_store_deinit(struct file_store *s);
/* file_load_at() through a store, which may be NULL: then it is just that. */
bool file_store_load_at(struct file_store *s, enum file_store_use use, struct file_data *f,
	struct file_root root, const char *name, const char *path, struct incore_error *e);
/* The same of a path that begins with dir, below that. */
bool file_store_load_below(struct file_store *s, enum file_store_use use, struct file_data *f,
	const char *dir, bool follow_links, const char *path, struct incore_error *e);
/* The first bytes of a regular file below root, at most cap; never waits for a FIFO or device. Gives 0
 * or the errno. s may be NULL. */
int file_store_head(struct file_store *s, struct file_root root, const char *name, uint8_t *head,
	size_t cap, size_t *n);
