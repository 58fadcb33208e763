/* SPDX-License-Identifier: Apache-2.0 */
/*
 * walls.h: a sandbox for a child that works on untrusted code. A compiler reads a kernel's source,
 * and the source can make it read any file, fill a disk or run for ever. So the child gets only the
 * folders that it needs (Landlock), no network, tracing, keys or mounts (a filter of system calls),
 * and a pid namespace in which everything ends with its first process. Where the system allows it,
 * also a mount namespace in which other files are not even visible.
 * Owner: the caller owns all strings. May fail: as stated at each function. There is no partial
 * sandbox: a child that could not enter it must not go on.
 */
#ifndef BASE_WALLS_H
#define BASE_WALLS_H

#include <sys/types.h>

#include "base/error.h"

struct walls {			     /* files or folders, NULL ends; missing ones are ignored */
	const char *const *programs; /* may be read and run */
	const char *const *readable;
	const char *const *writable; /* files in them may also be created and removed */
	uint64_t file_bytes;	     /* of the largest file that may be written; 0: no limit */
	uint64_t cpu_s;		     /* of each process; 0: no limit */
};

/* Folders where systems keep what everybody may read and run; NULL ends. */
extern const char *const walls_system[];

/* False, with the reason and what to do, if this system lacks Landlock or the filter. */
bool walls_are_possible(struct incore_error *e);

/*
 * fork() into a pid namespace if the system allows one; for an ordinary user inside a user
 * namespace. In the child only async-signal-safe calls are allowed, and it cannot see its parent.
 */
pid_t walls_fork(void);

/*
 * fork() for such a child: fork() of libc would wait for the lock of malloc, which a thread of the
 * parent may have held when the child was made. The same rules apply.
 */
pid_t walls_fork_again(void);

/* For the child, just before exec: enters the sandbox; 0 or an errno. Async-signal-safe. */
int walls_enter(const struct walls *w);

/* setrlimit() with `value` as soft and hard limit. */
void walls_limit(int what, uint64_t value);

#endif
