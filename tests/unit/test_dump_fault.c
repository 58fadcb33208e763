/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What does a dump do when the disk is full, fails, is slow, or the directory refuses? The system
 * calls below stand before those of libc, so that each can be made to fail as root too.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "dump/log_read.h"
#include "dump_tools.h"

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at);
ssize_t pwritev64(int fd, const struct iovec *iov, int n, off_t at);
int openat64(int dir, const char *name, int flags, ...);

/* What the disk does. */
static struct {
	atomic_int error;     /* errno of every write; 0: none */
	atomic_long room;     /* bytes until then; a write that crosses it is short */
	atomic_bool is_stuck; /* writes wait */
	atomic_int open_error;
	atomic_int syncs[2]; /* order of the first sync of payload and log */
	atomic_int n_syncs;
} disk;

static int reset_disk(void **state)
{
	atomic_store(&disk.error, 0);
	atomic_store(&disk.is_stuck, false);
	atomic_store(&disk.open_error, 0);
	atomic_store(&disk.n_syncs, 0);
	return tool_make_dir(state);
}

/* How many of n bytes the disk takes; -1 with errno. */
static ssize_t allowed(size_t n)
{
	long left;

	while (atomic_load(&disk.is_stuck))
		usleep(200);
	if (!atomic_load(&disk.error))
		return (ssize_t)n;
	left = atomic_load(&disk.room);
	if (left <= 0) {
		errno = atomic_load(&disk.error);
		return -1;
	}
	n = n < (size_t)left ? n : (size_t)left;
	atomic_fetch_sub(&disk.room, (long)n);
	return (ssize_t)n;
}

ssize_t pwrite64(int fd, const void *p, size_t n, off_t at)
{
	ssize_t k = allowed(n);

	return k < 0 ? k : syscall(SYS_pwrite64, fd, p, (size_t)k, at);
}

ssize_t pwritev64(int fd, const struct iovec *iov, int n, off_t at)
{
	ssize_t k = allowed(iov->iov_len); /* the first only: a short write, which is legal */

	(void)n;
	return k < 0 ? k : syscall(SYS_pwrite64, fd, iov->iov_base, (size_t)k, at);
}

int openat64(int dir, const char *name, int flags, ...)
{
	if (flags & O_CREAT && atomic_load(&disk.open_error)) {
		errno = atomic_load(&disk.open_error);
		return -1;
	}
	return (int)syscall(SYS_openat, dir, name, flags, 0666);
}

int fdatasync(int fd)
{
	struct stat bin, st;

	if (stat(tool_path("args.bin"), &bin) == 0 && fstat(fd, &st) == 0) {
		int i = atomic_fetch_add(&disk.n_syncs, 1);

		if (i < 2)
			atomic_store(&disk.syncs[i], st.st_ino == bin.st_ino ? 1 : 2);
	}
	return 0;
}

static size_t log_size(void)
{
	struct stat st;

	return stat(tool_path("args.log"), &st) == 0 ? (size_t)st.st_size : 0;
}

static void test_dump_fault_refusing_directory(void **state)
{
	struct incore_dump *d = NULL;

	(void)state;
	atomic_store(&disk.open_error, EACCES);
	assert_int_equal(incore_dump_open(&d, tool_dir(), NULL), EACCES);
	assert_null(d);
	atomic_store(&disk.open_error, 0);
	assert_int_equal(incore_dump_open(&d, "/nowhere/at/all", NULL), ENOENT);
	assert_int_equal(incore_dump_open(&d, "/dev/null", NULL), ENOTDIR);
	assert_int_not_equal(access(tool_path("args.bin"), F_OK), 0);
	/* no room for the head of the log: nothing stays */
	atomic_store(&disk.error, ENOSPC);
	atomic_store(&disk.room, 3);
	assert_int_equal(incore_dump_open(&d, tool_dir(), NULL), ENOSPC);
	assert_int_not_equal(access(tool_path("args.log"), F_OK), 0);
	assert_int_not_equal(access(tool_path("args.bin"), F_OK), 0);
}

/* Any file of a dump, finished or not, keeps a new one out. */
static void test_dump_fault_nothing_overwritten(void **state)
{
	static const char *const names[] = {
		"args.bin", "args.log", "args_dump.json", "tensor_dump.json", "tensor_dump.bin"};
	struct incore_dump *d = NULL;

	(void)state;
	for (unsigned i = 0; i < 5; i++) {
		FILE *f = fopen(tool_path(names[i]), "w");

		assert_non_null(f);
		fputs("precious", f);
		fclose(f);
		assert_int_equal(incore_dump_open(&d, tool_dir(), NULL), EEXIST);
		f = fopen(tool_path(names[i]), "r");
		assert_int_equal(fgetc(f), 'p');
		fclose(f);
		unlink(tool_path(names[i]));
	}
}

/* Two flushed tasks, then the disk fails after `room` bytes, then it is well again. */
static void fail_once(int error, long room)
{
	uint64_t data[40];
	struct incore_dump_stats stats;
	struct incore_dump *d = tool_open(NULL);
	struct incore_dump_writer *w = tool_attach(d), *other = tool_attach(d);
	size_t good;
	json_t *m, *list;
	uint64_t lost = 0, shown = 0;

	for (unsigned i = 0; i < 40; i++)
		data[i] = i * 77;
	for (uint64_t i = 0; i < 2; i++) {
		tool_task(w, i, 1, 0);
		assert_int_equal(tool_row(w, i, 0, data, 40), 0);
	}
	assert_int_equal(incore_dump_flush(w), 0);
	good = log_size();
	atomic_store(&disk.room, room);
	atomic_store(&disk.error, error);
	for (uint64_t i = 2; i < 5; i++) {
		tool_task(w, i, 1, 0);
		assert_int_equal(tool_row(w, i, 0, data, 40), 0);
	}
	assert_int_equal(incore_dump_flush(w), error);
	assert_true(log_size() >= good);
	assert_int_equal(log_size() % 8, 0); /* cut back to whole records */
	incore_dump_get_writer_stats(w, &stats);
	assert_int_equal(stats.write_error, error);
	atomic_store(&disk.error, 0);
	tool_task(w, 9, 1, 0);
	assert_int_equal(tool_row(w, 9, 0, data, 40), 0);
	assert_int_equal(incore_dump_flush(w), error); /* something of it is gone for good */
	tool_task(other, 10, 1, 0);
	assert_int_equal(tool_row(other, 10, 0, data, 40), 0);
	assert_int_equal(incore_dump_flush(other), 0); /* another thread lost nothing */
	assert_int_equal(incore_dump_close(d), error);
	m = tool_manifest("args_dump.json");
	for (size_t i = 0; i < tool_records(m); i++) {
		json_t *r = tool_record(m, i);
		uint64_t id = strtoull(tool_string(r, "task_id"), NULL, 16);

		shown++;
		if (tool_flag(r, "payload_lost"))
			assert_true(id >= 2 && id < 5);
		else
			tool_expect_payload(r, "args.bin", data, sizeof(data));
		assert_int_equal(tool_flag(r, "incomplete"),
			tool_flag(r, "payload_lost") || json_object_get(r, "kernel") == NULL);
	}
	list = json_object_get(m, "losses");
	for (size_t i = 0; i < json_array_size(list); i++) {
		json_t *l = json_array_get(list, i);
		uint64_t id = strtoull(tool_string(l, "task_id"), NULL, 16);

		assert_true(id >= 2 && id < 5);
		assert_int_equal(tool_u64(l, "thread"), 0);
		assert_string_equal(
			tool_string(l, "cause"), error == ENOSPC ? "no-space" : "write-error");
		lost += tool_u64(l, "records") + tool_u64(l, "bytes");
	}
	assert_true(lost > 0);
	assert_true(shown >= 4);
	json_decref(m);
}

static void test_dump_fault_no_space(void **state)
{
	(void)state;
	for (long room = 0; room < 3 * 320 + 3 * 208; room += 37) {
		fail_once(ENOSPC, room);
		tool_remove_dir(state);
		reset_disk(state);
	}
	fail_once(EIO, 333);
}

/* The disk stays full: close fails, says so, and leaves the log to be repaired. */
static void test_dump_fault_full_until_the_end(void **state)
{
	uint64_t data[4] = {1, 2, 3, 4};
	struct incore_dump *d = tool_open(NULL);
	struct incore_dump_writer *w = tool_attach(d);
	json_t *m;

	(void)state;
	tool_task(w, 1, 1, 0);
	assert_int_equal(tool_row(w, 1, 0, data, 4), 0);
	assert_int_equal(incore_dump_flush(w), 0);
	atomic_store(&disk.room, 10);
	atomic_store(&disk.error, ENOSPC);
	assert_int_equal(tool_row(w, 2, 0, data, 4), 0);
	assert_int_equal(incore_dump_close(d), ENOSPC);
	assert_int_not_equal(access(tool_path("args_dump.json"), F_OK), 0);
	m = tool_repair();
	assert_int_equal(tool_records(m), 1);
	tool_expect_payload(tool_record(m, 0), "args.bin", data, 32);
	json_decref(m);
}

/* A disk that hangs: records wait no longer than told, drops are counted, a flush gives up. */
static void test_dump_fault_stuck(void **state)
{
	uint64_t data[1024] = {0}, dropped = 0, bytes = 0;
	struct incore_dump_options o = tool_options();
	struct incore_dump_writer *w;
	struct incore_dump *d;
	json_t *m, *list;

	(void)state;
	o.wait_ms = 1;
	o.flush_ms = 500; /* the time of the close, too */
	d = tool_open(&o);
	w = tool_attach(d);
	atomic_store(&disk.is_stuck, true);
	for (uint64_t i = 0; i < 40; i++) {
		int rc = tool_row(w, i / 10, 0, data, 1024);

		assert_true(rc == 0 || rc == EAGAIN);
		dropped += rc == EAGAIN;
	}
	assert_int_equal(incore_dump_flush(w), ETIMEDOUT);
	atomic_store(&disk.is_stuck, false);
	assert_true(dropped >= 32); /* the arena holds eight of these */
	m = tool_close(d);
	assert_int_equal(tool_records(m), 40 - dropped);
	assert_int_equal(tool_u64(m, "dropped_records"), dropped);
	list = json_object_get(m, "losses");
	assert_int_equal(json_array_size(list), 4);
	for (size_t i = 0; i < 4; i++) {
		json_t *l = json_array_get(list, i);

		assert_int_equal(strtoull(tool_string(l, "task_id"), NULL, 16), i);
		assert_string_equal(tool_string(l, "cause"), "arena-full");
		bytes += tool_u64(l, "bytes");
	}
	assert_int_equal(bytes, dropped * 8192);
	json_decref(m);
}

static void test_dump_fault_sync(void **state)
{
	struct incore_dump_options o = tool_options();
	uint64_t data[4] = {0};
	struct incore_dump *d;
	struct incore_dump_writer *w;

	(void)state;
	d = tool_open(&o);
	w = tool_attach(d);
	assert_int_equal(tool_row(w, 1, 0, data, 4), 0);
	assert_int_equal(incore_dump_flush(w), 0);
	assert_int_equal(atomic_load(&disk.n_syncs), 0);
	json_decref(tool_close(d));
	tool_remove_dir(state);
	reset_disk(state);
	o.sync = true;
	d = tool_open(&o);
	w = tool_attach(d);
	assert_int_equal(tool_row(w, 1, 0, data, 4), 0);
	assert_int_equal(incore_dump_flush(w), 0);
	assert_int_equal(atomic_load(&disk.n_syncs), 2);
	assert_int_equal(atomic_load(&disk.syncs[0]), 1); /* payload, then the log */
	assert_int_equal(atomic_load(&disk.syncs[1]), 2);
	json_decref(tool_close(d));
}

static void test_dump_fault_options(void **state)
{
	struct incore_dump_options o = tool_options();
	struct incore_dump_writer *w = NULL;
	struct incore_dump *d = NULL;

	(void)state;
	o.ring_bytes = 65537;
	assert_int_equal(incore_dump_open(&d, tool_dir(), &o), EINVAL);
	o = tool_options();
	o.level = 4;
	assert_int_equal(incore_dump_open(&d, tool_dir(), &o), EINVAL);
	o = tool_options();
	o.max_writers = 1;
	d = tool_open(&o);
	tool_attach(d);
	assert_int_equal(incore_dump_attach(d, &w), EMFILE);
	assert_null(w);
	json_decref(tool_close(d));
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, reset_disk, tool_remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_dump_fault_refusing_directory),
		CASE(test_dump_fault_nothing_overwritten),
		CASE(test_dump_fault_no_space),
		CASE(test_dump_fault_full_until_the_end),
		CASE(test_dump_fault_stuck),
		CASE(test_dump_fault_sync),
		CASE(test_dump_fault_options),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
