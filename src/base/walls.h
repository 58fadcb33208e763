/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walls.h: what a child may do that works on somebody else's code. A compiler reads a kernel's
 * source, and the source can make it read any file, fill a disk or run for ever: it gets the folders
 * that it needs and nothing else (Landlock), no network, no tracing, no keys, no mounts (a filter of
 * system calls), and a namespace of pids in which everything ends with its first process. Where the
 * system grants it, a namespace of mounts in which other files do not even have names.
 * Owner: the caller owns all strings. May fail: as said at each; what fails leaves no half: the
 * child that could not enter must not go on.
 */
#ifndef BASE_WALLS_H
#define BASE_WALLS_H

#include <sys/types.h>

#include "base/error.h"

struct walls { /* files or folders, NULL ends; what is not there is left out */
	const char *const *programs; /* may be read and run */
	const char *const *readable;
	const char *const *writable; /* files in it may be made and removed, too */
	uint64_t file_bytes;	     /* of the largest file that may be written; 0: no limit */
	uint64_t cpu_s;		     /* of each process; 0: no limit */
};

/* Where systems keep what everybody may read and run; NULL ends. */
extern const char *const walls_system[];

/* False, with the reason and what to do, where this system has no Landlock or no filter. */
bool walls_are_possible(struct incore_error *e);

/*
 * fork() into a namespace of pids where the system grants one, for an ordinary user below a
 * namespace of users. In the child only async-signal-safe calls are allowed, and its parent is out
 * of sight.
 */
pid_t walls_fork(void);

/*
 * fork() for such a child: the one of libc would wait for the lock of malloc, which a thread of the
 * parent may have held when the child was made. The same rules.
 */
pid_t walls_fork_again(void);

/* For the child: its root has what the walls let it use and nothing else. False: the system grants
 * no such root, and it sees names as before. Async-signal-safe; walls_enter() calls it. */
bool walls_hide(const struct walls *w);

/* For the child, just before exec: 0, or an errno. Async-signal-safe. */
int walls_enter(const struct walls *w);

/* setrlimit() of both values. */
void walls_limit(int what, uint64_t value);

#endif
