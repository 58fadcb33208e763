/* SPDX-License-Identifier: Apache-2.0 */
/* test_job.c: programs that fork, leave, hang, die, print without end or close what they have. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "run/job.h"

#define SH(text)                                                                                   \
	(const char *const[])                                                                      \
	{                                                                                          \
		"/bin/sh", "-c", text, NULL                                                        \
	}

static char dir[] = "/tmp/incore-job-XXXXXX", log_path[64], note_path[64], pid_path[64];

static int set_up(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return 1;
	snprintf(log_path, sizeof(log_path), "%s/log", dir);
	snprintf(note_path, sizeof(note_path), "%s/journal", dir);
	snprintf(pid_path, sizeof(pid_path), "%s/pid", dir);
	setenv("PID_FILE", pid_path, 1);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	remove_tree(dir);
	return 0;
}

static struct job_result run(struct job j)
{
	struct job_result r;
	struct incore_error e = {0};

	j.name = "test";
	if (!job_run(&j, &r, &e))
		fail_msg("%s", e.message);
	return r;
}

/* The whole file as text, on the heap. */
static char *text_of(const char *path)
{
	struct file_data f = {0};
	struct incore_error e = {0};
	char *text;

	if (!file_load(&f, path, &e))
		fail_msg("%s", e.message);
	text = mem_strndup((const char *)f.data, f.size);
	file_unload(&f);
	return text;
}

/* Ends within a minute or fails: no time is compared. */
static void wait_gone(pid_t pid)
{
	for (int i = 0; i < 6000 && kill(pid, 0) == 0; i++)
		usleep(10000);
	assert_int_equal(kill(pid, 0), -1);
}

static pid_t pid_in_file(void)
{
	char *text = text_of(pid_path);
	pid_t pid = atoi(text);

	mem_free(text);
	assert_true(pid > 1);
	return pid;
}

static void test_job_passes_the_status_on(void **state)
{
	struct job_result r = run((struct job){.argv = SH("exit 42")});

	(void)state;
	assert_int_equal(job_exit_status(&r.process), 42);
	job_result_deinit(&r);
	r = run((struct job){.argv = SH("kill -SEGV $$")});
	assert_int_equal(job_exit_status(&r.process), 128 + SIGSEGV);
	job_result_deinit(&r);
	r = run((struct job){.argv = (const char *const[]){"no-such-program-here", NULL}});
	assert_int_equal(job_exit_status(&r.process), 127);
	job_result_deinit(&r);
}

static void test_job_hangs(void **state)
{
	struct job j = {.argv = SH("trap '' TERM INT; sleep 1000 & wait; sleep 1000"),
		.limit_ms = 1000,
		.grace_ms = 100};
	struct job_result r = run(j);
	struct strbuf how = {0};

	(void)state;
	assert_int_equal(job_exit_status(&r.process), 124);
	job_describe(&j, &r.process, &how);
	assert_string_equal(how.p, "not done after 1 s");
	sb_free(&how);
	job_result_deinit(&r);
}

/* A daemon has left the group and the session: the guard is its reaper. */
static void test_job_leaves_a_daemon(void **state)
{
	struct job_result r = run((struct job){
		.argv = SH("setsid sh -c 'echo $$ >$PID_FILE.new; mv $PID_FILE.new $PID_FILE; "
			   "exec sleep 1000' >/dev/null 2>&1 </dev/null & "
			   "while ! test -s $PID_FILE; do :; done; exit 3")});

	(void)state;
	assert_int_equal(job_exit_status(&r.process), 3);
	wait_gone(pid_in_file());
	job_result_deinit(&r);
	unlink(pid_path);
}

/* The same when we are killed, which nothing can catch. */
static void test_job_daemon_dies_with_us(void **state)
{
	int fds[2];
	char byte;
	pid_t us;

	(void)state;
	assert_int_equal(pipe(fds), 0);
	us = fork();
	if (us == 0) {
		struct job_result r;

		job_run(&(struct job){.name = "test",
				.argv = SH("(setsid sh -c 'echo $$ >$PID_FILE; echo up; exec sleep "
					   "1000' &) ; sleep 1000"),
				.echo_fd = fds[1]},
			&r, NULL);
		_exit(0);
	}
	assert_int_equal(read(fds[0], &byte, 1), 1);
	kill(us, SIGKILL);
	waitpid(us, NULL, 0);
	wait_gone(pid_in_file());
	close(fds[0]);
	close(fds[1]);
	unlink(pid_path);
}

static void test_job_prints_without_end(void **state)
{
	struct job_result r = run((struct job){
		.argv = SH("echo first; head -c 20000000 /dev/zero | tr '\\0' x; echo; echo last"),
		.log_path = log_path,
		.max_log_bytes = 1000});
	char *log = text_of(log_path);

	(void)state;
	assert_int_equal(r.output_bytes, 20000012);
	assert_true(r.tail.n <= 2 * JOB_TAIL_BYTES);
	assert_true(str_is(job_last_line(&r), "last"));
	assert_true(strlen(log) < 1400);
	assert_non_null(strstr(log, "$ /bin/sh -c"));
	assert_non_null(strstr(log, "\nfirst\n"));
	assert_non_null(strstr(log, "\n[19999012 bytes left out]\n"));
	assert_non_null(strstr(log, "x\nlast\n[exit status 0]\n"));
	mem_free(log);
	job_result_deinit(&r);
}

static void test_job_log_is_whole(void **state)
{
	struct job_result r = run((struct job){.argv = SH("echo a; printf b >&2; kill -9 $$"),
		.log_path = log_path,
		.max_log_bytes = 4});
	char *log = text_of(log_path);

	(void)state;
	assert_non_null(strstr(log, "\na\nb\n[killed by signal 9"));
	assert_int_equal(job_exit_status(&r.process), 137);
	mem_free(log);
	job_result_deinit(&r);
}

static void test_job_closes_its_descriptors(void **state)
{
	struct job_result r = run((struct job){
		.argv = SH(
			"for i in 0 1 2 3 4 5 6 7 8 9; do eval \"exec $i>&- $i<&-\"; done; exit 5")});

	(void)state;
	assert_int_equal(job_exit_status(&r.process), 5);
	assert_int_equal(r.output_bytes, 0);
	job_result_deinit(&r);
}

static bool has_started(void *ctx)
{
	(void)ctx;
	return file_exists(pid_path);
}

static int interrupt(void *ctx)
{
	(void)ctx;
	return SIGINT;
}

/* The signal that we got is the one that it gets. */
static void test_job_passes_signals_on(void **state)
{
	struct job_result r =
		run((struct job){.argv = SH("trap 'echo got INT; exit 0' INT; echo $$ >$PID_FILE; "
					    "while :; do sleep 0.01; done"),
			.is_cancelled = has_started,
			.cancel_signal = interrupt,
			.grace_ms = 60000});

	(void)state;
	assert_int_equal(r.process.end, PROCESS_CANCELLED);
	assert_true(str_is(job_last_line(&r), "got INT"));
	job_result_deinit(&r);
	unlink(pid_path);
}

static void test_job_journal(void **state)
{
	struct journal j;
	struct incore_error e = {0};
	struct job_result r;
	char *text;

	(void)state;
	assert_true(journal_open(&j, note_path, NULL, NULL, &e));
	r = run((struct job){.argv = SH("exit 4"), .journal = &j});
	job_result_deinit(&r);
	journal_close(&j);
	text = text_of(note_path);
	assert_non_null(strstr(text, "{\"event\":\"start\",\"name\":\"test\",\"unix_s\":"));
	assert_non_null(strstr(text, "\"argv\":[\"/bin/sh\",\"-c\",\"exit 4\"]}"));
	assert_non_null(strstr(text, "\"status\":4,\"how\":\"exit status 4\","));
	mem_free(text);
}

static void test_job_bad_log(void **state)
{
	struct job_result r;
	struct incore_error e = {0};

	(void)state;
	assert_false(job_run(
		&(struct job){
			.name = "test", .argv = SH("true"), .log_path = "/no/such/folder/log"},
		&r, &e));
	assert_int_equal(e.status, INCORE_FAILED);
	incore_error_clear(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_job_passes_the_status_on),
		cmocka_unit_test(test_job_hangs),
		cmocka_unit_test(test_job_leaves_a_daemon),
		cmocka_unit_test(test_job_daemon_dies_with_us),
		cmocka_unit_test(test_job_prints_without_end),
		cmocka_unit_test(test_job_log_is_whole),
		cmocka_unit_test(test_job_closes_its_descriptors),
		cmocka_unit_test(test_job_passes_signals_on),
		cmocka_unit_test(test_job_journal),
		cmocka_unit_test(test_job_bad_log),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
