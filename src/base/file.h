/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file.h: reads and writes whole files.
 * In: file_load() gives the bytes followed by at least FILE_PAD zero bytes. Small files are read
 * into a buffer that the next load reuses; large ones are mapped if map_guard.h watches, else read.
 * Only regular files: a directory, FIFO or device is an error. Out: struct out_file writes beside
 * the target and renames at out_file_commit(), so that the target appears whole or not at all;
 * struct out_dir does the same for a directory.
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
	bool is_own; /* set before a load: the file is ours and nobody truncates it: always map */
};

/* Loads path into *f, replacing what it held. *f starts zeroed; file_unload() frees all; after a
 * failure there is nothing to free. */
bool file_load(struct file_data *f, const char *path, struct incore_error *e);
/* file_load() below a directory; `path` is only for messages. A link out of it: "link-outside". */
bool file_load_at(struct file_data *f, struct file_root root, const char *name, const char *path,
	struct incore_error *e);
void file_unload(struct file_data *f);
/* Replaces the content of *f with that of b, which is empty afterwards. */
bool file_hold(struct file_data *f, struct strbuf *b, struct incore_error *e);
/* Gives back the memory of bytes that will not be read again soon. They stay readable. */
void file_forget(const struct file_data *f, size_t from, size_t end);

/* Directory for temporary files: $TMPDIR, or the system's. Borrowed. */
const char *file_temp_root(void);
/* The folder at the relative path `up` from the folder of the running program, on the heap; NULL:
 * there is none. */
char *file_beside_program(const char *up);
bool file_exists(const char *path);
bool file_is_dir(const char *path);
/* size in bytes, or -1 */
int64_t file_size(const char *path);
/* "dir/name" on the heap; NULL on lack of memory. */
char *path_join(const char *dir, const char *name);
const char *path_base(
	const char *path); /* part after the last '/', trailing slashes ignored by the caller */

/* Calls fn for each name in dir except "." and "..", in byte order. */
typedef bool (*dir_fn)(void *ctx, const char *name, struct incore_error *e);
bool dir_each(const char *dir, dir_fn fn, void *ctx, struct incore_error *e);
/* Removes a file, or a directory with as much of its content as possible; never follows links. */
void remove_tree(const char *path);
/*
 * Registers what must be removed if a signal ends the program: a file, a tree, or a directory if it
 * is empty by then. Whoever makes it adds it, and drops it once it is in place or gone; at most 32.
 */
void leftover_add(const char *path, bool if_empty);
void leftover_drop(const char *path);
/* Removes all of them; for a signal handler, after which the process ends. */
void leftover_remove_all(void);

/* A stream over fd (closed with it) that remembers why a write failed; `path` is for messages. NULL
 * with errno. */
FILE *out_stream(int fd, const char *mode, const char *path);
/* Removes what killed writers left in this directory; nobody may be writing there. */
void out_file_clean(const char *dir);
/* The errno of the last write that failed. */
int out_stream_errno(void);
/* That errno as an error with the file's name, for callers that see ferror(). */
bool err_write(struct incore_error *e);
/* Error for a system call that failed on an output file: status FAILED. */
bool err_output(struct incore_error *e, int errnum, const char *path, const char *what);

struct out_file {
	FILE *f;
	int fd;		 /* of f, if path is set */
	char *path;	 /* target; NULL: stdout */
	char *tmp_path;	 /* beside it */
	bool is_unnamed; /* it gets tmp_path only at commit: an interrupted run leaves nothing */
};

/* Opens a file for writing. path "-" or NULL: stdout, unbuffered commit. */
bool out_file_open(struct out_file *o, const char *path, struct incore_error *e);
/* Opens a file that others can open as o->tmp_path; a device or a FIFO is refused. */
bool out_file_open_named(struct out_file *o, const char *path, struct incore_error *e);
/* Flushes, checks, fsyncs, renames. On failure the target is untouched and the temporary gone. */
bool out_file_commit(struct out_file *o, struct incore_error *e);
/* Discards what was written; safe after commit. */
void out_file_abort(struct out_file *o);
/* Opens, writes and commits a file with this text. */
bool out_file_text(const char *path, struct str text, struct incore_error *e);

/*
 * A directory that appears whole or not at all: made beside the target, renamed at commit.
 * out_dir_open() refuses an existing target, unless it is an empty directory.
 */
struct out_dir {
	char *path;	/* target */
	char *tmp_path; /* beside it */
	int fd;
	unsigned mode;
	uint64_t bytes; /* written so far */
	uint64_t files;
};

/* mode: of its files, less the umask; whoever may read may also enter the directory. */
bool out_dir_open(struct out_dir *o, const char *path, unsigned mode, struct incore_error *e);
/* Opens a new file in it, for writing and reading back; creates the directories in its name. NULL
 * with the error. */
FILE *out_dir_file(struct out_dir *o, const char *name, struct incore_error *e);
/* Flushes, checks and closes a file of out_dir_file(), whatever the outcome. */
bool out_dir_done(struct out_dir *o, FILE *f, const char *name, struct incore_error *e);
bool out_dir_commit(struct out_dir *o, struct incore_error *e);
/* Removes what was written; safe after commit and on a zeroed struct. */
void out_dir_abort(struct out_dir *o);

bool write_all(int fd, const void *p, size_t n, struct incore_error *e);
