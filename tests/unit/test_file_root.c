/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Does everything that is opened, listed or asked about below a directory lie there? Links to files
 * and folders, in the middle of a path, and swapped meanwhile; with openat2() and where the kernel
 * has none. Nothing needs /proc.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file_fence.h"

#define OPENAT2 437
#define ROUNDS 2000

static char dir[] = "/tmp/incore-test-XXXXXX";
static char inside[64], outside[64];

static void put_file(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static void put_dir(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	assert_int_equal(mkdir(path, 0700), 0);
}

/* A target that begins with '@' is an absolute name below the test's folder. */
static void put_link(const char *name, const char *target)
{
	char path[128], to[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(to, sizeof(to), "%s%s", *target == '@' ? dir : "", target + (*target == '@'));
	assert_int_equal(symlink(to, path), 0);
}

static void make_all(void)
{
	static const char *const links[][2] = {{"root/same", "file"},
		{"root/absolute", "@/root/file"}, {"root/to_dir", "dir"},
		{"root/dir/up", "../file"}, {"root/dir/chain", "../to_dir/up"},
		{"root/back", "../root/dir"}, {"root/self", "."},
		{"root/long", "@/outside/again/dir"}, {"outside/again", "../root"},
		{"root/out", "../outside/file"}, {"root/out_absolute", "@/outside/file"},
		{"root/out_dir", "../outside"}, {"root/dir/away", "@/outside"}, {"root/two", "out"},
		{"root/nowhere", "/no/such"}, {"root/dangling", "no"}, {"root/loop", "loop"},
		{"root/parent", ".."}, {"root/proc", "/proc/self/root"}};

	put_dir("root");
	put_dir("root/dir");
	put_dir("outside");
	put_dir("outside/dir");
	put_file("root/file", "inside");
	put_file("root/dir/file", "inside");
	put_file("outside/file", "secret");
	put_file("outside/dir/file", "secret");
	for (size_t i = 0; i < sizeof(links) / sizeof(*links); i++)
		put_link(links[i][0], links[i][1]);
}

static int begin(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(inside, sizeof(inside), "%s/root", dir);
	snprintf(outside, sizeof(outside), "%s/outside", dir);
	make_all();
	return 0;
}

static int end(void **state)
{
	(void)state;
	remove_tree(dir);
	memcpy(dir + strlen(dir) - 6, "XXXXXX", 6);
	return 0;
}

/* From here on the kernel has no openat2(). */
static int begin_without_openat2(void **state)
{
	struct sock_filter code[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OPENAT2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
	struct sock_fprog all = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
		prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &all) != 0)
		return -1;
	if (syscall(OPENAT2, AT_FDCWD, "/", NULL, 0) >= 0 || errno != ENOSYS)
		return -1;
	return begin(state);
}

static struct file_root open_root(void)
{
	struct file_root r;

	assert_true(file_root_open(&r, inside, false));
	return r;
}

/* What it holds, or "" and errno. */
static void read_below(struct file_root r, const char *name, char text[8])
{
	int fd = file_open_below(r, name);
	ssize_t n = fd < 0 ? 0 : read(fd, text, 7);

	text[n > 0 ? n : 0] = '\0';
	if (fd >= 0)
		close(fd);
}

static void test_inside(void **state)
{
	static const char *const names[] = {"file", "same", "absolute", "to_dir/file",
		"dir/../file", "dir/up", "dir/chain", "back/file", "self/self/file", "long/file",
		"./file", "to_dir/../dir//file", "parent/root/file", "../root/file"};
	struct file_root r = open_root();
	struct stat st;
	char text[8];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		read_below(r, names[i], text);
		if (strcmp(text, "inside") != 0)
			fail_msg("%s: '%s' %s", names[i], text, strerror(errno));
		assert_int_equal(file_stat_below(r, names[i], &st), 0);
		assert_true(S_ISREG(st.st_mode));
	}
	assert_int_equal(file_stat_below(r, "to_dir", &st), 0);
	assert_true(S_ISDIR(st.st_mode));
	assert_int_equal(file_lstat_below(r, "to_dir", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(file_lstat_below(r, "out", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	close(r.fd);
}

static void test_outside(void **state)
{
	static const char *const names[] = {"out", "out_absolute", "out_dir", "out_dir/file",
		"dir/away/file", "dir/away/dir/file", "two", "nowhere", "parent",
		"parent/outside/file", "../outside/file", "/etc/passwd", "..", "proc/etc/passwd",
		"dir/../../outside/file", "out_dir/no", "out_absolute/no"};
	struct file_root r = open_root(), other;
	struct stat st;
	char text[8];

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		errno = 0;
		read_below(r, names[i], text);
		if (*text || errno != EXDEV)
			fail_msg("%s: '%s' %s", names[i], text, strerror(errno));
		assert_int_equal(file_stat_below(r, names[i], &st), EXDEV);
		assert_true(file_open_dir_below(r, names[i]) < 0);
		assert_false(file_root_open_below(&other, r, names[i], false));
	}
	assert_int_equal(file_lstat_below(r, "out_dir/file", &st), EXDEV);
	assert_int_equal(file_stat_below(r, "dangling", &st), ENOENT);
	assert_int_equal(file_stat_below(r, "loop", &st), ELOOP);
	assert_int_equal(file_stat_below(r, "file/x", &st), ENOTDIR);
	assert_int_equal(file_stat_below(FILE_NOWHERE, "file", &st), EXDEV);
	close(r.fd);
}

/* --- swapped while it is opened --- */

struct swapper {
	const char *a, *b; /* change places */
	bool is_over;
};

static void *swap(void *ctx)
{
	struct swapper *s = ctx;

	while (!__atomic_load_n(&s->is_over, __ATOMIC_RELAXED))
		for (unsigned i = 0; i < 2; i++) /* there and back */
			syscall(SYS_renameat2, AT_FDCWD, s->a, AT_FDCWD, s->b,
				2 /* RENAME_EXCHANGE */);
	return NULL;
}

static void read_while_swapped(const char *a, const char *b, const char *name)
{
	char from[128], to[128], text[8];
	struct swapper s = {from, to, false};
	struct file_root r = open_root();
	pthread_t thread;

	snprintf(from, sizeof(from), "%s/%s", dir, a);
	snprintf(to, sizeof(to), "%s/%s", dir, b);
	assert_int_equal(pthread_create(&thread, NULL, swap, &s), 0);
	for (unsigned i = 0; i < ROUNDS; i++) {
		read_below(r, name, text);
		assert_string_not_equal(text, "secret");
	}
	__atomic_store_n(&s.is_over, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	/* How often it was inside before is up to the scheduler; now it is back at its place. */
	read_below(r, name, text);
	assert_string_equal(text, "inside");
	close(r.fd);
}

static void test_swapped(void **state)
{
	(void)state;
	read_while_swapped("root/dir", "root/out_dir", "dir/file");
	read_while_swapped("root/file", "root/out_absolute", "file");
	read_while_swapped("root/to_dir", "root/out_dir", "to_dir/file");
}

/* --- by path --- */

static bool count(void *ctx, const char *name, struct incore_error *e)
{
	(void)name;
	(void)e;
	++*(unsigned *)ctx;
	return true;
}

static const char *below(const char *name)
{
	static char path[160];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void test_fence(void **state)
{
	struct file_fence f = {0};
	struct incore_error e = {0};
	unsigned n = 0;

	(void)state;
	assert_true(file_fence_add(&f, inside, &e));
	assert_true(file_fence_add(&f, inside, &e));
	assert_int_equal(f.v.n, 1);
	assert_true(file_exists_in(&f, inside));
	assert_int_equal(file_size_in(&f, below("root/absolute")), 6);
	assert_true(file_is_dir_in(&f, below("root/to_dir")));
	assert_false(file_exists_in(&f, below("root/out_dir/file")));
	assert_false(file_exists_in(&f, below("root/../outside/file")));
	assert_true(dir_each_in(&f, below("root/dir"), count, &n, &e));
	assert_int_equal(n, 4);
	assert_false(dir_each_in(&f, below("root/out_dir"), count, &n, &e));
	incore_error_clear(&e);
	assert_true(file_exists_in(&f, below("outside/file"))); /* nothing is said of that */
	assert_true(file_exists_in(NULL, below("root/out_dir/file")));
	f.is_all = true;
	assert_false(file_exists_in(&f, below("outside/file")));
	assert_false(file_exists_in(&f, below("root2")));
	assert_true(file_fence_add(&f, below("outside/file"), &e));
	assert_true(file_exists_in(&f, below("outside/file")));
	assert_false(file_exists_in(&f, below("outside/dir")));
	/* the innermost counts */
	assert_true(file_fence_add(&f, dir, &e));
	assert_true(file_exists_in(&f, below("outside/dir")));
	assert_false(file_exists_in(&f, below("root/out")));
	assert_true(file_fence_add(&f, below("root/no"), &e)); /* it may come to be a link */
	assert_int_equal(symlink("../outside", below("root/no")), 0);
	assert_false(file_exists_in(&f, below("root/no/file")));
	file_fence_deinit(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_inside),
		cmocka_unit_test(test_outside), cmocka_unit_test(test_swapped),
		cmocka_unit_test(test_fence)};
	int failed = cmocka_run_group_tests_name("file_root", tests, begin, end);

	return failed + cmocka_run_group_tests_name(
				"file_root without openat2", tests, begin_without_openat2, end);
}
