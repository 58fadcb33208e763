/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inject.c: makes calls fail, in builds with -Dfault=true (base/mem.h). INCORE_FAULT="alloc:N" has the N-th
 * allocation fail ("read:N", "write:N", "open:N" likewise, by comma); INCORE_FAULT_REPORT=1 counts the calls,
 * INCORE_FAULT_STACKS=FILE writes where each came from.
 */
#include <execinfo.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"

#define MAX_FRAMES 64

static const char *const names[] = {"alloc", "read", "write", "open"};

/* Which call of each kind fails (0: none), and how many there have been. Set once. */
static unsigned long fault_nth[4];
static atomic_ulong fault_calls[4];
static int stacks_fd = -1;
static pid_t stacks_of; /* copies of the process count for themselves, and are not told */
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

/* A line: the kind and the return addresses in the program, innermost first, as offsets that hold in every run. */
static void tell_stack(enum fault_point point)
{
	extern const char __ehdr_start[] __attribute__((visibility("hidden"))), etext[];
	char line[16 + MAX_FRAMES * 18];
	void *at[MAX_FRAMES];
	int n = backtrace(at, MAX_FRAMES),
	    length = snprintf(line, sizeof(line), "%s", names[point]);

	for (int i = 0; i < n; i++)
		if ((uintptr_t)at[i] > (uintptr_t)__ehdr_start &&
			(uintptr_t)at[i] < (uintptr_t)etext)
			length += snprintf(line + length, sizeof(line) - (size_t)length, " %lx",
				(unsigned long)((uintptr_t)at[i] - (uintptr_t)__ehdr_start));
	line[length++] = '\n';
	if (write(stacks_fd, line, (size_t)length) != length)
		_exit(2);
}

static void fault_parse(const char *s)
{
	while (s && *s) {
		for (size_t i = 0; i < 4; i++)
			if (strncmp(s, names[i], strlen(names[i])) == 0 &&
				s[strlen(names[i])] == ':')
				fault_nth[i] = strtoul(s + strlen(names[i]) + 1, NULL, 10);
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
	const char *ends = getenv("INCORE_FAULT_SERVE"), *stacks = getenv("INCORE_FAULT_STACKS");

	fault_parse(getenv("INCORE_FAULT"));
	if (getenv("INCORE_FAULT_REPORT"))
		atexit(fault_report);
	if (ends)
		fault_serve(ends);
	if (stacks)
		stacks_fd = open(stacks, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
	stacks_of = getpid();
}

bool fault_hit(enum fault_point point)
{
	pthread_once(&fault_once, fault_setup);
	if (stacks_fd >= 0 && getpid() == stacks_of)
		tell_stack(point);
	if (!fault_nth[point] || atomic_fetch_add(&fault_calls[point], 1) + 1 != fault_nth[point])
		return false;
	if (__sanitizer_print_stack_trace && getenv("INCORE_FAULT_TRACE"))
		__sanitizer_print_stack_trace();
	return true;
}
