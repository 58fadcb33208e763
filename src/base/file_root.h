/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_root.h: files below a directory. Directories from others may hold links: a name or a link
 * that leads out of the directory is refused, unless the caller says that links are followed. Links
 * that stay inside, absolute ones too, are treated like any file, and the directory itself may be
 * named by a link. Something swapped while it is opened yields a file inside or an error.
 * Owner: the caller closes the descriptor of a root, and those that the functions return.
 */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

struct file_root {
	int fd; /* of the directory */
	bool follow_links;
};

/* Names may lead anywhere. */
#define FILE_ANYWHERE ((struct file_root){AT_FDCWD, true})
/* Every name is refused as leading out. */
#define FILE_NOWHERE ((struct file_root){-1, false})

/* "" is the current directory. False with errno. */
bool file_root_open(struct file_root *r, const char *dir, bool follow_links);
/* Opens a directory below another as a root; only the given follow_links counts, not that of the
 * other. */
bool file_root_open_below(
	struct file_root *r, struct file_root above, const char *name, bool follow_links);
/* The name of path relative to dir if it begins with dir; else path itself. */
const char *file_name_below(const char *dir, const char *path);
/* A descriptor to read from; -1 with errno, EXDEV if the name leads out. Never waits for the writer
 * of a FIFO. */
int file_open_below(struct file_root r, const char *name);
/* Opens a directory, to list it; -1 as above. */
int file_open_dir_below(struct file_root r, const char *name);
/* stat(); returns 0 or the errno. */
int file_stat_below(struct file_root r, const char *name, struct stat *st);
/* lstat(): if the last part of the name is a link, describes the link itself. */
int file_lstat_below(struct file_root r, const char *name, struct stat *st);
