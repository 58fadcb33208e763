/* SPDX-License-Identifier: Apache-2.0 */
/* leftover.c: removes trees, and files that must not be left when a signal ends the program. */
#include "base/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#define MAX_DEPTH 64 /* a descriptor and 2 KiB of stack each */
#define MAX_LEFTOVERS 32

enum place_state { PLACE_FREE, PLACE_TREE, PLACE_EMPTY_DIR };

/* A signal handler only sees globals; paths are copies, since other threads keep running. */
static struct {
	_Atomic(int) state;
	char path[PATH_MAX];
} places[MAX_LEFTOVERS];
static _Atomic(bool) is_ending;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for adding and dropping */

static bool remove_at(int dir_fd, const char *name, unsigned depth);

/* Removes the entries of a directory; was any removed? Makes only async-signal-safe calls. */
static bool remove_entries(int fd, unsigned depth)
{
	_Alignas(struct dirent64) char buf[2048];
	bool any = false;
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = getdents64(fd, buf, sizeof(buf))) > 0)
		for (ssize_t at = 0; at < n;) {
			const struct dirent64 *entry = (const void *)(buf + at);

			at += entry->d_reclen;
			if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
				any |= remove_at(fd, entry->d_name, depth + 1);
		}
	return any;
}

/* Empties a directory again as long as that helps: others may still write into it, and a listing
 * may skip entries when some are removed. */
static bool remove_at(int dir_fd, const char *name, unsigned depth)
{
	bool is_gone = false;
	int fd;

	if (unlinkat(dir_fd, name, 0) == 0 || unlinkat(dir_fd, name, AT_REMOVEDIR) == 0)
		return true;
	if (depth == MAX_DEPTH)
		return false;
	fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return false;
	while (!is_gone && remove_entries(fd, depth))
		is_gone = unlinkat(dir_fd, name, AT_REMOVEDIR) == 0;
	close(fd);
	return is_gone;
}

void remove_tree(const char *path)
{
	remove_at(AT_FDCWD, path, 0);
}

void leftover_add(const char *path, bool if_empty)
{
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < MAX_LEFTOVERS && atomic_load(&places[i].state) != PLACE_FREE)
		i++;
	/* Never overwrite a path that the handler may be reading. */
	if (i < MAX_LEFTOVERS && strlen(path) < PATH_MAX && !atomic_load(&is_ending)) {
		memcpy(places[i].path, path, strlen(path) + 1);
		atomic_store(&places[i].state, if_empty ? PLACE_EMPTY_DIR : PLACE_TREE);
	}
	pthread_mutex_unlock(&lock);
}

void leftover_drop(const char *path)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAX_LEFTOVERS; i++)
		if (atomic_load(&places[i].state) && strcmp(places[i].path, path) == 0)
			atomic_store(&places[i].state, PLACE_FREE);
	pthread_mutex_unlock(&lock);
}

void leftover_remove_all(void)
{
	int errnum = errno;

	atomic_store(&is_ending, true);
	for (size_t i = 0; i < MAX_LEFTOVERS; i++)
		if (atomic_load(&places[i].state) == PLACE_TREE)
			remove_at(AT_FDCWD, places[i].path, 0);
	for (size_t i = MAX_LEFTOVERS; i-- > 0;)
		if (atomic_load(&places[i].state) == PLACE_EMPTY_DIR)
			unlinkat(AT_FDCWD, places[i].path, AT_REMOVEDIR);
	errno = errnum;
}
