/* SPDX-License-Identifier: Apache-2.0 */
/* A child of fork() leaves its parent's dump alone, at once and whatever the other threads hold; it
 * may have a dump of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dump_tools.h"

#define THREADS 3
#define FORKS 40
#define HANG_S 120 /* a child that waits for what never comes is ended, and seen */

/* The allocator of AddressSanitizer takes no care of fork(): a thread of the child may wait for ever
 * for a lock that another thread of the parent held. There the child has no dump of its own. */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define CHILD_RECORDS 0
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define CHILD_RECORDS 0
#endif
#ifndef CHILD_RECORDS
#define CHILD_RECORDS 1
#endif

struct recorder {
	struct incore_dump *d;
	uint64_t number, n_put;
	atomic_bool *is_over;
	int rc;
};

/* Marks, attaches and flushes take locks: some fork finds them held. */
static void *record(void *arg)
{
	struct recorder *r = arg;
	struct incore_dump_writer *w = NULL;

	r->rc = incore_dump_attach(r->d, &w);
	while (r->rc == 0 && !atomic_load(r->is_over)) {
		uint64_t id = r->number << 32 | r->n_put;

		r->rc = tool_scalar(w, id, 0, id);
		r->n_put += r->rc == 0;
		if (r->rc == 0)
			r->rc = incore_dump_flush_all(r->d);
	}
	return NULL;
}

static int record_as_child(unsigned number)
{
	struct incore_dump_options o = tool_options();
	struct incore_dump_writer *w = NULL;
	struct incore_dump *own = NULL;
	char dir[4096];

	snprintf(dir, sizeof(dir), "%s/child%u", tool_dir(), number);
	if (incore_dump_open(&own, dir, &o) != 0 || incore_dump_attach(own, &w) != 0)
		return 5;
	return tool_scalar(w, 7, 0, 7) || incore_dump_close(own) ? 6 : 0;
}

/* Which of the child's calls did not keep the promise; 0: none. */
static int live_as_child(struct incore_dump *d, struct incore_dump_writer *w, unsigned number)
{
	uint64_t data[4] = {1, 2, 3, 4};
	struct incore_dump_writer *other = NULL;

	alarm(HANG_S);
	if (incore_dump_mark(d, 1, 0) != ECHILD || incore_dump_attach(d, &other) != ECHILD)
		return 1;
	if (tool_row(w, 1, 0, data, 4) != ECHILD || tool_scalar(w, 1, 1, 5) != ECHILD)
		return 2;
	if (incore_dump_flush(w) != ECHILD || incore_dump_flush_all(d) != ECHILD)
		return 3;
	incore_dump_detach(w);
	if (incore_dump_close(d) != ECHILD)
		return 4;
	return CHILD_RECORDS ? record_as_child(number) : 0;
}

static void remove_child_dump(unsigned number)
{
	static const char *const names[] = {"args_dump.json", "args.bin"};
	char path[4200];

	for (unsigned i = 0; i < 2; i++) {
		snprintf(path, sizeof(path), "%s/child%u/%s", tool_dir(), number, names[i]);
		assert_int_equal(unlink(path), 0);
	}
	snprintf(path, sizeof(path), "%s/child%u", tool_dir(), number);
	assert_int_equal(rmdir(path), 0);
}

static void test_dump_fork_leaves_alone(void **state)
{
	struct incore_dump_options o = tool_options();
	struct incore_dump *d = tool_open(&o);
	struct incore_dump_writer *w = tool_attach(d);
	struct recorder recorders[THREADS];
	pthread_t threads[THREADS];
	atomic_bool is_over = false;
	uint64_t n_put = 0;
	json_t *m;

	(void)state;
	for (unsigned i = 0; i < THREADS; i++) {
		recorders[i] = (struct recorder){.d = d, .number = i + 1, .is_over = &is_over};
		assert_int_equal(pthread_create(&threads[i], NULL, record, &recorders[i]), 0);
	}
	for (unsigned i = 0; i < FORKS; i++) {
		pid_t child = fork();
		int status = -1;

		if (child == 0)
			_exit(live_as_child(d, w, i));
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
		if (CHILD_RECORDS)
			remove_child_dump(i);
	}
	atomic_store(&is_over, true);
	for (unsigned i = 0; i < THREADS; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(recorders[i].rc, 0);
		n_put += recorders[i].n_put;
	}
	m = tool_close(d);
	assert_int_equal(tool_records(m), n_put);
	json_decref(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(
			test_dump_fork_leaves_alone, tool_make_dir, tool_remove_dir),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
