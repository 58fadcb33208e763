/* SPDX-License-Identifier: Apache-2.0 */
/*
 * file_root.h: files below a directory. What comes from others may hold links: a name or a link
 * that leads out of the directory is refused, unless whoever asks says that links are followed.
 * Links that stay inside are like any file, absolute ones too, and so is a link that is the
 * directory's own name. What is swapped while it is opened gives a file inside or an error.
 * Owner: the caller closes the descriptor of a root, and what the functions give.
 */
#pragma once

#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

struct file_root {
	int fd; /* of the directory */
	bool follow_links;
};

/* Names lead wherever they lead. */
#define FILE_ANYWHERE ((struct file_root){AT_FDCWD, true})
/* Every name leads out. */
#define FILE_NOWHERE ((struct file_root){-1, false})

/* "" is the current directory. False with errno. */
bool file_root_open(struct file_root *r, const char *dir, bool follow_links);
/* The same of a directory that lies below another; it is as strict as asked, however that one is. */
bool file_root_open_below(
	struct file_root *r, struct file_root above, const char *name, bool follow_links);
/* What path is called below dir, when it begins with it; else path itself. */
const char *file_name_below(const char *dir, const char *path);
/* A descriptor to read from; -1 with errno, which is EXDEV where the name leads out. Never waits
 * for the writer of a FIFO. */
int file_open_below(struct file_root r, const char *name);
/* The same of a directory, to list it. */
int file_open_dir_below(struct file_root r, const char *name);
/* 0, or the errno. */
int file_stat_below(struct file_root r, const char *name, struct stat *st);
/* The same of a link itself, where the name's last part is one. */
int file_lstat_below(struct file_root r, const char *name, struct stat *st);
