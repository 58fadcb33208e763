/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h: whole files in, whole files out.
 * In: file_load() gives the bytes followed by at least FILE_PAD zero bytes (small files are read
 * into a buffer that the next load reuses; large ones are mapped where map_guard.h watches, else
 * read too). Only regular files; a directory, FIFO or device is an error. Out: struct out_file writes beside the target and renames at
 * out_file_commit(): the target appears whole or not at all; struct out_dir does so for a
 * directory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/file_root.h"
#include "base/str.h"

#define FILE_PAD 64

struct file_data {
	const uint8_t *data;
	size_t size;
	/* private */
	uint8_t *buf;
	size_t buf_cap;
	void *map;
	size_t map_size;
	bool is_own; /* set before a load: our own file, which nobody shortens, is mapped anyway */
};

/* Loads path into *f, replacing what it held. *f starts zeroed; file_unload() frees all; after a
 * failure there is nothing to free. */
bool file_load(struct file_data *f, const char *path, struct incore_error *e);
/* The same below a directory; `path` is only for messages. A link out of it: "link-outside". */
bool file_load_at(struct file_data *f, struct file_root root, const char *name, const char *path,
	struct incore_error *e);
/* The same of an open descriptor that nothing was read from yet; closes it. *f holds nothing but
 * its buffer. */
bool file_load_fd(struct file_data *f, int fd, const char *path, struct incore_error *e);
void file_unload(struct file_data *f);
/* What b holds takes the place of what *f held; b is empty then. */
bool file_hold(struct file_data *f, struct strbuf *b, struct incore_error *e);
/* Lets go of a mapping; the buffer stays for the next load. */
void file_unmap(struct file_data *f);
/* Bytes that will not be read again soon: gives their memory back. They stay readable. */
void file_forget(const struct file_data *f, size_t from, size_t end);

/* Where what is not kept may lie: $TMPDIR, or the system's place. Borrowed. */
const char *file_temp_root(void);
/* The folder that stands to the running program's own as `up` says, on the heap; NULL: there is
 * none. */
char *file_beside_program(const char *up);
bool file_exists(const char *path);
bool file_is_dir(const char *path);
/* size in bytes, or -1 */
int64_t file_size(const char *path);
/* "dir/name" on the heap; NULL on lack of memory. */
char *path_join(const char *dir, const char *name);
const char *path_base(
	const char *path); /* part after the last '/', trailing slashes ignored by the caller */

/* Calls fn for each name in dir but "." and "..", in byte order. */
typedef bool (*dir_fn)(void *ctx, const char *name, struct incore_error *e);
bool dir_each(const char *dir, dir_fn fn, void *ctx, struct incore_error *e);
/* The same below a directory; `dir` is only for messages. */
bool dir_each_below(struct file_root root, const char *name, const char *dir, dir_fn fn, void *ctx,
	struct incore_error *e);
/* Removes a file, or a directory and all in it as far as may be; links are not followed. */
void remove_tree(const char *path);
/*
 * What a program that a signal ends must take away: a file, a tree, or a directory if it is empty
 * by then. Told of by whoever makes it, until it is in its place or gone; at most 32 at a time.
 */
void leftover_add(const char *path, bool if_empty);
void leftover_drop(const char *path);
/* Removes them all; for a signal handler, after which the process ends. */
void leftover_remove_all(void);

/* A stream over fd (closed with it) that remembers why a write failed; `path` is for messages. NULL
 * with errno. */
FILE *out_stream(int fd, const char *mode, const char *path);
/* Takes away what writers of files in this directory left that were killed; nobody may write there. */
void out_file_clean(const char *dir);
/* Why the last write failed, of those that did. */
int out_stream_errno(void);
/* That as an error with the file's name, for whoever sees ferror(). */
bool err_write(struct incore_error *e);
/* A system call that failed on a file to be written: status FAILED. */
bool err_output(struct incore_error *e, int errnum, const char *path, const char *what);

struct out_file {
	FILE *f;
	int fd;		 /* of f, where path is set */
	char *path;	 /* target; NULL: stdout */
	char *tmp_path;	 /* beside it */
	bool is_unnamed; /* the file gets that name at commit: an interrupted run leaves nothing */
};

/* path "-" or NULL: stdout, unbuffered commit. */
bool out_file_open(struct out_file *o, const char *path, struct incore_error *e);
/* The same of a file that others open by o->tmp_path; a device or a FIFO is refused. */
bool out_file_open_named(struct out_file *o, const char *path, struct incore_error *e);
/* Flushes, checks, fsyncs, renames. On failure the target is untouched and the temporary gone. */
bool out_file_commit(struct out_file *o, struct incore_error *e);
/* Drops what was written; safe after commit. */
void out_file_abort(struct out_file *o);
/* A file of this text, all of the above. */
bool out_file_text(const char *path, struct str text, struct incore_error *e);

/*
 * A directory that appears whole or not at all: made beside the target, renamed at commit.
 * out_dir_open() refuses a target that is there, unless it is an empty directory.
 */
struct out_dir {
	char *path;	/* target */
	char *tmp_path; /* beside it */
	int fd;
	unsigned mode;
	uint64_t bytes; /* written so far */
	uint64_t files;
};

/* mode: of its files, less the umask; who may read may enter the directory. */
bool out_dir_open(struct out_dir *o, const char *path, unsigned mode, struct incore_error *e);
/* A new file in it, for writing and reading back; directories in its name are made. NULL with the
 * error. */
FILE *out_dir_file(struct out_dir *o, const char *name, struct incore_error *e);
/* Flushes, checks and closes a file of out_dir_file(), whatever the outcome. */
bool out_dir_done(struct out_dir *o, FILE *f, const char *name, struct incore_error *e);
bool out_dir_commit(struct out_dir *o, struct incore_error *e);
/* Removes what was written; safe after commit and on a zeroed struct. */
void out_dir_abort(struct out_dir *o);

bool write_all(int fd, const void *p, size_t n, struct incore_error *e);
