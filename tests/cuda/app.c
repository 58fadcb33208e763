/* SPDX-License-Identifier: Apache-2.0 */
/*
 * app.c: an application on the stand-in: what it does is what its words say, one after the other.
 *
 *	device ID NAME MIG	context ID DEVICE	end ID		module CONTEXT FILE
 *	unload CONTEXT FILE	launch CONTEXT KERNEL FILE TIMES PCS	drop CONTEXT N	full CONTEXT
 *	wait MS	fork (a child ends at once)	spawn (fork: the rest, without CUDA yet)
 *	exec (the rest in a new program)	init	kill SIGNAL	quit STATUS (no handlers)
 *	exit STATUS	again (from "init" on, for ever)	print TEXT
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "stand_in.h"

struct file {
	void *p;
	size_t n;
};

static struct file load(const char *path)
{
	static struct {
		const char *path;
		struct file f;
	} all[16];
	size_t i = 0;
	FILE *f;

	for (; all[i].path; i++)
		if (!strcmp(all[i].path, path))
			return all[i].f;
	f = fopen(path, "rb");
	if (!f)
		return (struct file){(void *)"", 0};
	all[i].path = path;
	all[i].f.p = malloc(1 << 20);
	all[i].f.n = fread(all[i].f.p, 1, 1 << 20, f);
	fclose(f);
	return all[i].f;
}

static uint32_t number(const char *s)
{
	return (uint32_t)strtoul(s, NULL, 10);
}

static void run_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		exit(0);
	waitpid(pid, NULL, 0);
}

/* Words of process and time; the number of words used, 0: none of these. */
static int do_process(char **v, char **all, char **from)
{
	if (!strcmp(v[0], "wait"))
		return usleep(1000 * number(v[1])), 2;
	if (!strcmp(v[0], "print"))
		return puts(v[1]), fflush(stdout), 2;
	if (!strcmp(v[0], "fork"))
		return run_child(), 1;
	if (!strcmp(v[0], "spawn")) {
		pid_t pid = fork();

		if (pid > 0)
			waitpid(pid, NULL, 0);
		return 1;
	}
	if (!strcmp(v[0], "exec")) {
		char *rest[64] = {all[0]};

		for (int i = 1; v[i] && i < 63; i++)
			rest[i] = v[i];
		execv(all[0], rest);
	}
	if (!strcmp(v[0], "kill"))
		return raise((int)number(v[1])), usleep(100000), 2;
	if (!strcmp(v[0], "quit"))
		_exit((int)number(v[1]));
	if (!strcmp(v[0], "exit"))
		exit((int)number(v[1]));
	return !strcmp(v[0], "again") ? -(int)(v - from) : 0;
}

static int do_cuda(char **v)
{
	if (!strcmp(v[0], "init"))
		return stand_in_init(), 1;
	if (!strcmp(v[0], "device"))
		return stand_in_device(number(v[1]), v[2], number(v[3])), 4;
	if (!strcmp(v[0], "context"))
		return stand_in_context(number(v[1]), number(v[2])), 3;
	if (!strcmp(v[0], "end"))
		return stand_in_end_context(number(v[1])), 2;
	if (!strcmp(v[0], "module"))
		return stand_in_module(number(v[1]), load(v[2]).p, load(v[2]).n), 3;
	if (!strcmp(v[0], "unload"))
		return stand_in_unload(number(v[1]), load(v[2]).p, load(v[2]).n), 3;
	if (!strcmp(v[0], "launch")) {
		for (uint32_t i = 0; i < number(v[4]); i++)
			stand_in_launch(number(v[1]), v[2],
				stand_in_crc(load(v[3]).p, load(v[3]).n), number(v[5]));
		return 6;
	}
	if (!strcmp(v[0], "drop"))
		return stand_in_drop(number(v[1]), number(v[2]), 0), 3;
	if (!strcmp(v[0], "full"))
		return stand_in_drop(number(v[1]), 0, 1), 2;
	return 0;
}

int main(int argc, char **argv)
{
	char **mark = argv + 1;

	(void)argc;
	for (char **v = argv + 1; *v;) {
		int n = do_process(v, argv, mark);

		if (n == 0)
			n = do_cuda(v);
		if (n == 0) {
			fprintf(stderr, "app: what is %s?\n", *v);
			return 99;
		}
		if (!strcmp(*v, "module"))
			mark = v + n; /* "again" begins behind the last module */
		v += n;
	}
	return 0;
}
