/* SPDX-License-Identifier: Apache-2.0 */
/* map_guard.c: turns SIGBUS on a mapped file into zeros and a mark. */
#include "base/map_guard.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_MAPS 1024

/* A signal handler only sees globals. */
static struct guarded {
	_Atomic(uintptr_t) base;  /* 0: not mapped (any more) */
	size_t size;		  /* set before base */
	char *path;		  /* NULL: this entry is free */
	_Atomic(uint64_t) marked; /* 0, or the number of its mark */
	uint64_t offset;	  /* of the first missing byte */
} maps[MAX_MAPS];
static _Atomic(uint64_t) n_marks;
static _Atomic(bool) is_installed;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects free entries and paths */

static struct guarded *find_map(uintptr_t at)
{
	for (size_t i = 0; i < MAX_MAPS; i++) {
		uintptr_t base = atomic_load(&maps[i].base);

		if (base && at >= base && at - base < maps[i].size)
			return &maps[i];
	}
	return NULL;
}

/* Replaces everything from the bad page on by zeros: a file that shrank has nothing behind it, and
 * the result is lost anyway. */
static void on_bus_error(int sig, siginfo_t *info, void *context)
{
	uintptr_t at = (uintptr_t)info->si_addr, base;
	struct guarded *g = info->si_code > 0 ? find_map(at) : NULL;
	uint64_t none = 0;

	(void)context;
	if (!g) { /* not ours: it recurs and ends the process as usual */
		signal(sig, SIG_DFL);
		return;
	}
	base = atomic_load(&g->base);
	at = base + ((at - base) & ~((uintptr_t)sysconf(_SC_PAGESIZE) - 1));
	if (mmap((void *)at, g->size - (at - base), PROT_READ,
		    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED) {
		signal(sig, SIG_DFL);
		return;
	}
	if (!atomic_load(&g->marked)) {
		g->offset = at - base;
		atomic_compare_exchange_strong(
			&g->marked, &none, atomic_fetch_add(&n_marks, 1) + 1);
	}
}

bool map_guard_install(void)
{
	struct sigaction act = {.sa_sigaction = on_bus_error, .sa_flags = SA_SIGINFO};

	if (sigaction(SIGBUS, &act, NULL) == 0)
		atomic_store(&is_installed, true);
	return atomic_load(&is_installed);
}

bool map_guard_add(void *base, size_t size, const char *path)
{
	char *copy = atomic_load(&is_installed) ? mem_strndup(path, strlen(path)) : NULL;
	size_t i = 0;

	if (!copy)
		return false;
	pthread_mutex_lock(&lock);
	while (i < MAX_MAPS && maps[i].path)
		i++;
	if (i < MAX_MAPS) {
		maps[i].path = copy;
		maps[i].size = size;
		atomic_store(&maps[i].base, (uintptr_t)base);
	}
	pthread_mutex_unlock(&lock);
	if (i == MAX_MAPS)
		mem_free(copy);
	return i < MAX_MAPS;
}

void map_guard_drop(void *base)
{
	pthread_mutex_lock(&lock);
	for (size_t i = 0; i < MAX_MAPS; i++) {
		if (atomic_load(&maps[i].base) != (uintptr_t)base)
			continue;
		atomic_store(&maps[i].base, 0);
		if (!atomic_load(&maps[i].marked)) {
			mem_free(maps[i].path);
			maps[i].path = NULL;
		}
	}
	pthread_mutex_unlock(&lock);
}

uint64_t map_guard_now(void)
{
	return atomic_load(&n_marks);
}

static bool say_marked(const struct guarded *g, struct incore_error *e)
{
	return err_file(e, "changed-file", g->path, g->offset,
		"the file became shorter, or could not be read, while it was in use");
}

bool map_guard_check(const char *below, uint64_t since, struct incore_error *e)
{
	bool ok = true;

	if (map_guard_now() == since)
		return true;
	pthread_mutex_lock(&lock);
	for (size_t i = 0; ok && i < MAX_MAPS; i++)
		if (atomic_load(&maps[i].marked) > since && maps[i].path &&
			strncmp(maps[i].path, below, strlen(below)) == 0)
			ok = say_marked(&maps[i], e);
	pthread_mutex_unlock(&lock);
	return ok;
}

bool map_guard_check_map(const void *base, struct incore_error *e)
{
	struct guarded *g = base && map_guard_now() ? find_map((uintptr_t)base) : NULL;

	return !g || !atomic_load(&g->marked) || say_marked(g, e);
}
