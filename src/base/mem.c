/* SPDX-License-Identifier: Apache-2.0 */
/* mem.c: the only door to malloc, and where tests make things fail. */
#include "base/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef INCORE_FAULT_INJECTION
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

/* Which call of each kind fails (0: none), and how many there have been. Set once, tests only. */
static unsigned long fault_nth[4];
static atomic_ulong fault_calls[4];
static pthread_once_t fault_once = PTHREAD_ONCE_INIT;

/* With a sanitizer INCORE_FAULT_TRACE=1 shows where the failing call came from. */
extern void __sanitizer_print_stack_trace(void) __attribute__((weak));

/* How many calls of each kind there were: the test then knows which n to try. */
static void fault_report(void)
{
	fprintf(stderr, "faults: alloc %lu read %lu write %lu open %lu\n",
		atomic_load(&fault_calls[0]), atomic_load(&fault_calls[1]),
		atomic_load(&fault_calls[2]), atomic_load(&fault_calls[3]));
}

static void fault_parse(const char *s)
{
	static const char *const names[] = {"alloc:", "read:", "write:", "open:"};

	while (s && *s) {
		for (size_t i = 0; i < 4; i++)
			if (strncmp(s, names[i], strlen(names[i])) == 0)
				fault_nth[i] = strtoul(s + strlen(names[i]), NULL, 10);
		s = strchr(s, ',');
		s = s ? s + 1 : NULL;
	}
}

/*
 * Starting a program under a sanitizer costs more than most runs. INCORE_FAULT_SERVE=IN,OUT,1,2 (file
 * descriptors): for each 32 bytes that come from IN, a fault as in INCORE_FAULT, a child goes on
 * from here with it; what it prints comes into two files, empty before; its status goes to OUT.
 */
static void fault_serve(const char *ends)
{
	char fault[33] = {0};
	int fd[4], status;
	pid_t child;

	if (sscanf(ends, "%d,%d,%d,%d", &fd[0], &fd[1], &fd[2], &fd[3]) != 4)
		_exit(2);
	while (read(fd[0], fault, 32) == 32) {
		for (int i = 2; i < 4; i++)
			if (ftruncate(fd[i], 0) != 0 || lseek(fd[i], 0, SEEK_SET) != 0)
				_exit(2);
		child = fork();
		if (child == 0) {
			dup2(fd[2], STDOUT_FILENO);
			dup2(fd[3], STDERR_FILENO);
			for (int i = 0; i < 4; i++)
				close(fd[i]);
			fault_parse(fault);
			return;
		}
		if (child < 0 || waitpid(child, &status, 0) != child ||
			write(fd[1], &status, sizeof(status)) != sizeof(status))
			_exit(2);
	}
	_exit(0);
}

static void fault_setup(void)
{
	const char *ends = getenv("INCORE_FAULT_SERVE");

	fault_parse(getenv("INCORE_FAULT"));
	if (getenv("INCORE_FAULT_REPORT"))
		atexit(fault_report);
	if (ends)
		fault_serve(ends);
}

bool fault_hit(enum fault_point point)
{
	pthread_once(&fault_once, fault_setup);
	if (!fault_nth[point] || atomic_fetch_add(&fault_calls[point], 1) + 1 != fault_nth[point])
		return false;
	if (__sanitizer_print_stack_trace && getenv("INCORE_FAULT_TRACE"))
		__sanitizer_print_stack_trace();
	return true;
}
#endif

void *mem_alloc(size_t size)
{
	if (fault_hit(FAULT_ALLOC) || size > PTRDIFF_MAX)
		return NULL;
	return malloc(size ? size : 1);
}

void *mem_zalloc(size_t n, size_t size)
{
	if (fault_hit(FAULT_ALLOC) || (size && n > PTRDIFF_MAX / size))
		return NULL;
	return calloc(n ? n : 1, size ? size : 1);
}

void *mem_resize(void *p, size_t n, size_t size)
{
	if (fault_hit(FAULT_ALLOC) || (size && n > PTRDIFF_MAX / size))
		return NULL;
	n *= size;
	return realloc(p, n ? n : 1);
}

char *mem_strndup(const char *s, size_t n)
{
	char *p = n < PTRDIFF_MAX ? mem_alloc(n + 1) : NULL;

	if (!p)
		return NULL;
	if (n)
		memcpy(p, s, n);
	p[n] = 0;
	return p;
}

void mem_free(void *p)
{
	free(p);
}
