/* SPDX-License-Identifier: Apache-2.0 */
/* test_process.c: outside programs end when they should, with all that they started. */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/process.h"
#include "base/walls.h"

static struct process_result run(struct process_spec spec, struct strbuf *out)
{
	struct process_result r;
	struct incore_error e = {0};

	spec.output = out;
	if (!process_run(&spec, &r, &e))
		fail_msg("%s", e.message);
	return r;
}

#define ARGV(...)                                                                                  \
	.argv = (const char *const[])                                                              \
	{                                                                                          \
		__VA_ARGS__, NULL                                                                  \
	}
#define SH(text) ARGV("/bin/sh", "-c", text)

static void test_process_output_and_status(void **state)
{
	struct strbuf b = {0};
	struct process_result r =
		run((struct process_spec){SH("echo out; echo err >&2; exit 7")}, &b);

	(void)state;
	assert_int_equal(r.end, PROCESS_EXITED);
	assert_int_equal(r.code, 7);
	assert_string_equal(b.p, "out\nerr\n");
	sb_reset(&b);
	r = run((struct process_spec){SH("kill -SEGV $$")}, &b);
	assert_int_equal(r.end, PROCESS_SIGNALLED);
	assert_int_equal(r.code, SIGSEGV);
	sb_free(&b);
}

/* A program that only the PATH of its own environment has. */
static void test_process_looks_in_the_path_given(void **state)
{
	char dir[] = "/tmp/incore-process-XXXXXX", path[64], entry[64];
	const char *const env[] = {entry, NULL};
	struct strbuf b = {0};
	struct process_result r;
	FILE *f;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/only-there", dir);
	snprintf(entry, sizeof(entry), "PATH=%s:/usr/bin:/bin", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs("#!/bin/sh\necho found\n", f);
	fclose(f);
	assert_int_equal(chmod(path, 0700), 0);
	r = run((struct process_spec){ARGV("only-there")}, &b);
	assert_int_equal(r.end, PROCESS_NOT_STARTED);
	r = run((struct process_spec){ARGV("only-there"), .env = env}, &b);
	assert_int_equal(r.end, PROCESS_EXITED);
	assert_string_equal(b.p, "found\n");
	sb_free(&b);
	unlink(path);
	rmdir(dir);
}

static void test_process_input(void **state)
{
	size_t n = 3u << 20;
	char *text = malloc(n);
	struct strbuf b = {0};
	struct process_result r;

	(void)state;
	memset(text, 'x', n);
	r = run((struct process_spec){ARGV("cat"), .input = {text, n}}, &b);
	assert_int_equal(r.code, 0);
	assert_int_equal(b.n, n);
	assert_memory_equal(b.p, text, n);
	sb_reset(&b);
	r = run((struct process_spec){ARGV("true"), .input = {text, n}}, &b); /* reads none of it */
	assert_int_equal(r.code, 0);
	r = run((struct process_spec){ARGV("cat"), .input = {text, n}, .max_output_bytes = 10}, &b);
	assert_int_equal(b.n, 10);
	assert_true(r.is_output_cut);
	sb_free(&b);
	free(text);
}

static void test_process_environment(void **state)
{
	struct strbuf b = {0};

	(void)state;
	setenv("INCORE_TEST_A", "ours", 1);
	run((struct process_spec){SH("echo $INCORE_TEST_A $INCORE_TEST_B; pwd"), .cwd = "/",
		    .env = (const char *const[]){"INCORE_TEST_A=theirs", "INCORE_TEST_B=2", NULL}},
		&b);
	assert_string_equal(b.p, "theirs 2\n/\n");
	sb_free(&b);
}

static void test_process_not_started(void **state)
{
	struct strbuf b = {0};
	struct process_result r = run((struct process_spec){ARGV("no-such-program-here")}, &b);

	(void)state;
	assert_int_equal(r.end, PROCESS_NOT_STARTED);
	assert_int_equal(r.code, ENOENT);
	r = run((struct process_spec){ARGV("/etc/passwd")}, &b);
	assert_int_equal(r.end, PROCESS_NOT_STARTED);
	assert_int_equal(r.code, EACCES);
	r = run((struct process_spec){ARGV("true"), .cwd = "/no/such/folder"}, &b);
	assert_int_equal(r.end, PROCESS_NOT_STARTED);
	assert_int_equal(r.code, ENOENT);
	sb_free(&b);
}

/* Ends within a minute or fails: no time is compared. */
static void wait_gone(pid_t pid)
{
	for (int i = 0; i < 6000 && kill(pid, 0) == 0; i++)
		usleep(10000);
	assert_int_equal(kill(pid, 0), -1);
}

static bool always(void *ctx)
{
	(void)ctx;
	return true;
}

static void test_process_limits(void **state)
{
	static const char TWO[] = "trap '' TERM; sleep 1000 & echo $!; sleep 1000";
	struct strbuf b = {0}, text = {0};
	struct process_spec spec = {SH(TWO), .limit_ms = 1000, .grace_ms = 100};
	struct process_result r = run(spec, &b);

	(void)state;
	assert_int_equal(r.end, PROCESS_TIMED_OUT);
	wait_gone(atoi(b.p));
	process_describe(&spec, &r, &text);
	assert_string_equal(text.p, "not done after 1 s");
	sb_reset(&b);
	r = run((struct process_spec){SH("sleep 1000"), .is_cancelled = always}, &b);
	assert_int_equal(r.end, PROCESS_CANCELLED);
	sb_free(&text);
	sb_free(&b);
}

/* What the program leaves behind goes with it, also when it keeps the pipe open. */
static void test_process_orphans(void **state)
{
	struct strbuf b = {0};
	struct process_result r = run((struct process_spec){SH("sleep 1000 & echo $!")}, &b);

	(void)state;
	assert_int_equal(r.end, PROCESS_EXITED);
	wait_gone(atoi(b.p));
	sb_free(&b);
}

static pid_t own_pid;
static unsigned *forks_of_others; /* shared with all children */

static void count_fork(void)
{
	*forks_of_others += getpid() != own_pid;
}

/* A guard behind walls is made without libc, so that libc's fork() could wait in it for ever: for
 * the lock of malloc that a thread of ours held then. It must not be called there. */
static void test_process_guard_forks_bare(void **state)
{
	struct strbuf b = {0};
	struct walls walls = {
		.programs = (const char *const[]){"/usr", "/bin", "/lib", "/lib64", NULL}};
	struct incore_error e = {0};
	struct process_result r;

	(void)state;
	if (!walls_are_possible(&e))
		skip();
	own_pid = getpid();
	forks_of_others = mmap(NULL, sizeof(*forks_of_others), PROT_READ | PROT_WRITE,
		MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(forks_of_others != MAP_FAILED);
	assert_int_equal(pthread_atfork(count_fork, NULL, NULL), 0);
	r = run((struct process_spec){SH("echo in"), .walls = &walls}, &b);
	assert_int_equal(r.end, PROCESS_EXITED);
	assert_int_equal(r.code, 0);
	assert_string_equal(b.p, "in\n");
	assert_int_equal(*forks_of_others, 0);
	sb_free(&b);
}

static void test_process_dies_with_us(void **state)
{
	int fds[2];
	char text[32] = {0};
	pid_t us;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	us = fork();
	if (us == 0) {
		struct process_result r;

		process_run(&(struct process_spec){SH("sleep 1000 & echo $!; sleep 1000"),
				    .log_fd = fds[1]},
			&r, NULL);
		_exit(0);
	}
	assert_true(read(fds[0], text, sizeof(text) - 1) > 0);
	kill(us, SIGKILL);
	waitpid(us, NULL, 0);
	wait_gone(atoi(text));
	close(fds[0]);
	close(fds[1]);
}

static void test_process_quote(void **state)
{
	struct strbuf b = {0};
	char *path = process_find("sh");

	(void)state;
	process_quote((const char *const[]){"cc", "-DX=1", "a b", "it's", "", NULL}, &b);
	assert_string_equal(b.p, "cc -DX=1 'a b' 'it'\\''s' ''");
	assert_non_null(path);
	assert_non_null(strstr(path, "/sh"));
	assert_null(process_find("no-such-program-here"));
	mem_free(path);
	sb_free(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_process_output_and_status),
		cmocka_unit_test(test_process_looks_in_the_path_given),
		cmocka_unit_test(test_process_input),
		cmocka_unit_test(test_process_environment),
		cmocka_unit_test(test_process_not_started),
		cmocka_unit_test(test_process_limits),
		cmocka_unit_test(test_process_orphans),
		cmocka_unit_test(test_process_guard_forks_bare),
		cmocka_unit_test(test_process_dies_with_us),
		cmocka_unit_test(test_process_quote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
