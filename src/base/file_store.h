/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_store.h: files that were opened once and will be read again. A first pass keeps here what it
 * opened, and a later reader takes it from here instead of opening the file again. A file counts as
 * the same while its device, inode, size and modification time are the same.
 * Owner: the caller zeroes the store and calls file_store_deinit(). Bounded: beyond its limits
 * nothing more is kept, and files are simply opened again. Threads: one at a time.
 */
#pragma once

#include <sys/stat.h>

#include "base/file.h"
#include "base/vec.h"

struct stored_file {
	struct stat st;
	int fd;		       /* only its head was read so far; -1: all of it is in data */
	struct file_data data; /* its bytes do not move when the store grows */
};

struct file_store {
	VEC(struct stored_file) files;
	size_t bytes; /* in buffers; mapped files cost none */
	unsigned n_fds;
};

enum file_store_use {
	FILE_TAKE, /* the last reader: *f owns the bytes, the store forgets them */
	FILE_KEEP, /* more readers follow: *f borrows the bytes if the store has room for them */
};

/* Are these two results of stat() about one file that did not change in between? */
bool file_is_same(const struct stat *a, const struct stat *b);

void file_store_deinit(struct file_store *s);
/* file_load_at() through a store. NULL: plain file_load_at(). */
bool file_store_load_at(struct file_store *s, enum file_store_use use, struct file_data *f,
	struct file_root root, const char *name, const char *path, struct incore_error *e);
/* Loads a path below dir, which the path begins with. */
bool file_store_load_below(struct file_store *s, enum file_store_use use, struct file_data *f,
	const char *dir, bool follow_links, const char *path, struct incore_error *e);
/* Reads the first bytes of a regular file below root, at most cap; never waits for a FIFO or
 * device. Returns 0 or the errno. s may be NULL. */
int file_store_head(struct file_store *s, struct file_root root, const char *name, uint8_t *head,
	size_t cap, size_t *n);
