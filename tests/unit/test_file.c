/* SPDX-License-Identifier: Apache-2.0 */
/* Are files loaded whole with zeros behind them, and written whole or not at all? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file_store.h"
#include "base/map_guard.h"
#include "base/mem.h"
#include "base/str.h"

static char *tmp_dir;

static int make_tmp(void **state)
{
	static char name[] = "/tmp/incore-test-XXXXXX";

	(void)state;
	tmp_dir = mkdtemp(name);
	return tmp_dir ? 0 : -1;
}

static int remove_tmp(void **state)
{
	DIR *d = opendir(tmp_dir);
	struct dirent *ent;

	(void)state;
	while (d && (ent = readdir(d)) != NULL)
		if (ent->d_name[0] != '.' || strlen(ent->d_name) > 2)
			unlinkat(dirfd(d), ent->d_name, 0);
	if (d)
		closedir(d);
	return rmdir(tmp_dir);
}

static char *in_tmp(const char *name)
{
	char *p = path_join(tmp_dir, name);

	assert_non_null(p);
	return p;
}

static void make_file(const char *path, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	for (size_t i = 0; i < n; i++)
		fputc((int)(i * 31 % 251) + 1, f);
	assert_int_equal(fclose(f), 0);
}

static void test_file_load_sizes(void **state)
{
	/* the last four are mapped, on and around a page boundary */
	static const size_t sizes[] = {0, 1, 4095, 4096, 70000, 4 << 20, (4 << 20) + 1, 5 << 20,
		(5 << 20) - 1, (5 << 20) - 64};
	char *path = in_tmp("data");
	struct file_data f = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		make_file(path, sizes[i]);
		assert_true(file_load(&f, path, NULL));
		assert_int_equal(f.size, sizes[i]);
		assert_int_equal(file_size(path), sizes[i]);
		for (size_t k = 0; k < f.size; k += 97)
			assert_int_equal(f.data[k], k * 31 % 251 + 1);
		for (size_t k = 0; k < FILE_PAD; k++)
			assert_int_equal(f.data[f.size + k], 0);
	}
	file_unload(&f);
	assert_null(f.data);
	unlink(path);
	mem_free(path);
}

static void expect_refused(const char *path, const char *code)
{
	struct incore_error e = {0};
	struct file_data f = {0};

	assert_false(file_load(&f, path, &e));
	assert_string_equal(e.code, code);
	assert_string_equal(e.path, path);
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	incore_error_clear(&e);
	file_unload(&f);
}

static void test_file_refused(void **state)
{
	char *fifo = in_tmp("fifo"), *loop = in_tmp("loop"), *below;

	(void)state;
	assert_int_equal(mkfifo(fifo, 0600), 0);
	assert_int_equal(symlink("loop", loop), 0);
	below = path_join(fifo, "x");
	expect_refused(fifo, "not-regular"); /* must not wait for a writer */
	expect_refused(loop, "link-loop");
	expect_refused(tmp_dir, "is-directory");
	expect_refused("/nowhere/at/all", "not-found");
	expect_refused(below, "not-found");
	expect_refused("/dev/null", "not-regular");
	assert_false(file_exists(loop));
	assert_true(file_exists(fifo) && !file_is_dir(fifo) && file_is_dir(tmp_dir));
	assert_int_equal(file_size(tmp_dir), -1);
	unlink(fifo);
	unlink(loop);
	mem_free(fifo);
	mem_free(loop);
	mem_free(below);
}

static bool collect(void *ctx, const char *name, struct incore_error *e)
{
	(void)e;
	sb_puts(ctx, name);
	return sb_putc(ctx, ' ');
}

static bool refuse(void *ctx, const char *name, struct incore_error *e)
{
	(void)ctx;
	return err_set(e, INCORE_NO, "stop", "%s", name);
}

static void expect_names(const char *want)
{
	struct strbuf b = {0};

	sb_puts(&b, "");
	assert_true(dir_each(tmp_dir, collect, &b, NULL));
	assert_string_equal(b.p, want);
	sb_free(&b);
}

static void test_file_dir_each(void **state)
{
	static const char *const names[] = {"b", "a10", "a2", "Z"};
	struct incore_error e = {0};

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char *p = in_tmp(names[i]);

		make_file(p, 1);
		mem_free(p);
	}
	expect_names("Z a10 a2 b ");
	assert_false(dir_each(tmp_dir, refuse, NULL, &e));
	assert_string_equal(e.message, "Z");
	assert_false(dir_each("/nowhere", collect, NULL, &e));
	assert_string_equal(e.code, "not-found");
	for (size_t i = 0; i < 4; i++) {
		char *p = in_tmp(names[i]);

		unlink(p);
		mem_free(p);
	}
	incore_error_clear(&e);
}

static void test_file_out(void **state)
{
	char *path = in_tmp("out"), *link = in_tmp("link");
	struct file_data f = {0};
	struct out_file o;
	struct stat st;

	(void)state;
	assert_true(out_file_open(&o, path, NULL));
	fputs("first", o.f);
	assert_false(file_exists(path)); /* not before the commit */
	assert_true(out_file_commit(&o, NULL));
	out_file_abort(&o); /* safe */
	assert_true(file_load(&f, path, NULL));
	assert_memory_equal(f.data, "first", 5);
	assert_int_equal(chmod(path, 0640), 0);
	assert_int_equal(symlink("out", link), 0);
	assert_true(out_file_open(&o, link, NULL)); /* through the link, mode kept */
	fputs("second", o.f);
	assert_true(out_file_commit(&o, NULL));
	assert_true(file_load(&f, path, NULL));
	assert_memory_equal(f.data, "second", 6);
	assert_true(stat(path, &st) == 0 && (st.st_mode & 0777) == 0640);
	assert_true(lstat(link, &st) == 0 && S_ISLNK(st.st_mode));
	assert_true(out_file_open(&o, path, NULL));
	fputs("third", o.f);
	out_file_abort(&o);
	assert_true(file_load(&f, path, NULL));
	assert_int_equal(f.size, 6);
	expect_names("link out "); /* no temporary left */
	unlink(path);
	unlink(link);
	file_unload(&f);
	mem_free(path);
	mem_free(link);
}

static void test_file_out_bad(void **state)
{
	struct incore_error e = {0};
	struct out_file o;

	(void)state;
	assert_false(out_file_open(&o, "/nowhere/x", &e));
	assert_int_equal(e.status, INCORE_FAILED);
	assert_false(out_file_open(&o, tmp_dir, &e));
	assert_string_equal(e.code, "is-directory");
	assert_true(out_file_open(&o, "/dev/full", &e));
	for (int i = 0; i < 5000; i++)
		fputs("x", o.f);
	assert_false(out_file_commit(&o, &e));
	assert_string_equal(e.code, "no-space");
	assert_true(out_file_open(&o, "/dev/null", &e));
	fputs("x", o.f);
	assert_true(out_file_commit(&o, &e));
	assert_true(file_exists("/dev/null"));
	assert_true(out_file_open(&o, "-", &e));
	assert_ptr_equal(o.f, stdout);
	assert_true(out_file_commit(&o, &e));
	incore_error_clear(&e);
}

static void test_file_paths(void **state)
{
	char *p = path_join("a/", "b"), *q = path_join("a", "b"), *r = path_join("", "b");

	(void)state;
	assert_string_equal(p, "a/b");
	assert_string_equal(q, "a/b");
	assert_string_equal(r, "b");
	assert_string_equal(path_base("x/y.json"), "y.json");
	assert_string_equal(path_base("y.json"), "y.json");
	mem_free(p);
	mem_free(q);
	mem_free(r);
}

static void write_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* What was opened for its head or kept by one reader is what the next reader gets. */
static void test_file_store(void **state)
{
	struct file_store s = {0};
	struct file_data f = {0}, g = {0};
	struct incore_error e = {0};
	uint8_t head[4];
	char *path = in_tmp("stored");
	const uint8_t *kept;
	size_t n = 0;

	(void)state;
	write_text(path, "0123456789");
	assert_int_equal(file_store_head(&s, FILE_ANYWHERE, path, head, sizeof(head), &n), 0);
	assert_int_equal(n, 4);
	assert_int_equal(s.n_fds, 1);
	assert_true(file_store_load_at(&s, FILE_KEEP, &f, FILE_ANYWHERE, path, path, &e));
	assert_int_equal(s.n_fds, 0); /* the descriptor of the head was read */
	assert_memory_equal(f.data, "0123456789", 11);
	kept = f.data;
	assert_true(file_store_load_at(&s, FILE_TAKE, &g, FILE_ANYWHERE, path, path, &e));
	assert_ptr_equal(g.data, kept);
	assert_int_equal(s.files.n, 0);
	assert_int_equal(s.bytes, 0);
	file_unload(&f); /* borrowed: frees nothing */
	file_unload(&g);

	assert_true(file_store_load_at(&s, FILE_KEEP, &f, FILE_ANYWHERE, path, path, &e));
	write_text(path, "another");
	assert_true(file_store_load_at(&s, FILE_TAKE, &g, FILE_ANYWHERE, path, path, &e));
	assert_memory_equal(g.data, "another", 8); /* the file changed: nothing of it is kept */
	assert_int_not_equal(
		file_store_head(&s, FILE_ANYWHERE, tmp_dir, head, sizeof(head), &n), 0);
	file_unload(&g);
	file_store_deinit(&s);
	mem_free(path);
}

static void assert_opens(struct file_root r, const char *name, bool does)
{
	int fd = file_open_below(r, name);

	if (fd < 0 && does)
		fail_msg("%s: %s", name, strerror(errno));
	if (!does)
		assert_int_equal(errno, EXDEV);
	assert_int_equal(fd >= 0, does);
	if (fd >= 0)
		close(fd);
}

/* Links that stay below a directory are followed, others are not. */
static void test_file_below(void **state)
{
	char *outside = in_tmp("outside"), *root = in_tmp("root"), *path[8];
	struct file_root r;

	(void)state;
	assert_int_equal(mkdir(root, 0700), 0);
	write_text(outside, "secret");
	for (unsigned i = 0; i < 8; i++) {
		char name[32];

		snprintf(name, sizeof(name), "root/%u", i);
		path[i] = in_tmp(name);
	}
	write_text(path[0], "inside");
	assert_int_equal(symlink("0", path[1]), 0);
	assert_int_equal(symlink(path[0], path[2]), 0); /* an absolute name, but of a file inside */
	assert_int_equal(symlink("../outside", path[3]), 0);
	assert_int_equal(symlink(outside, path[4]), 0);
	assert_int_equal(symlink("3", path[5]), 0);
	assert_int_equal(symlink("..", path[6]), 0);
	assert_int_equal(symlink("/nowhere/at/all", path[7]), 0);
	assert_true(file_root_open(&r, root, false));
	assert_opens(r, "0", true);
	assert_opens(r, "1", true);
	assert_opens(r, "2", true);
	assert_opens(r, "3", false);
	assert_opens(r, "4", false);
	assert_opens(r, "5", false);
	assert_opens(r, "6/outside", false);
	assert_opens(r, "../outside", false);
	assert_opens(r, outside, false);
	assert_opens(r, "7", false);
	assert_opens(r, "6/root/0", true); /* out and back: it lies inside */
	r.follow_links = true;
	assert_opens(r, "3", true);
	close(r.fd);
	assert_string_equal(file_name_below("a/b", "a/b//c/d"), "c/d");
	assert_string_equal(file_name_below("a/", "a/c"), "c");
	assert_string_equal(file_name_below("", "c"), "c");
	assert_string_equal(file_name_below("a/b", "a/bc"), "a/bc");
	for (unsigned i = 0; i < 8; i++) {
		unlink(path[i]);
		mem_free(path[i]);
	}
	rmdir(root);
	unlink(outside);
	mem_free(root);
	mem_free(outside);
}

static void make_large(const char *path, off_t size)
{
	write_text(path, "first bytes");
	assert_int_equal(truncate(path, size), 0);
}

/* A mapped file that shrinks reads as zeros and is told; without the guard files are not mapped. */
static void test_file_shrinks(void **state)
{
	const off_t size = (off_t)8 << 20, left = (off_t)1 << 20;
	char *path = in_tmp("large"), *other = in_tmp("other");
	struct file_data f = {0}, g = {0};
	struct incore_error e = {0};
	uint64_t sum = 0, since;

	(void)state;
	make_large(path, size);
	make_large(other, size);
	assert_true(file_load(&f, path, &e));
	assert_null(f.map);
	assert_int_equal(f.size, size);
	file_unload(&f);
	assert_true(map_guard_install());
	since = map_guard_now();
	assert_true(file_load(&f, path, &e));
	assert_true(file_load(&g, other, &e));
	assert_non_null(f.map);
	assert_int_equal(truncate(path, left), 0);
	for (off_t i = 0; i < size; i += 4096)
		sum += f.data[i] + g.data[i];
	assert_int_equal(sum, 2 * 'f');
	assert_true(map_guard_check(other, since, &e));
	assert_true(map_guard_check_map(g.map, &e));
	assert_false(map_guard_check_map(f.map, &e));
	file_unload(&f);
	assert_false(map_guard_check(path, since, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_string_equal(e.code, "changed-file");
	assert_string_equal(e.path, path);
	assert_int_equal(e.offset, left);
	incore_error_clear(&e);
	assert_true(map_guard_check(path, map_guard_now(), &e));
	assert_true(file_load(&f, path, &e)); /* as it is now */
	assert_int_equal(f.size, left);
	file_unload(&f);
	file_unload(&g);
	unlink(path);
	unlink(other);
	mem_free(path);
	mem_free(other);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_load_sizes),
		cmocka_unit_test(test_file_refused),
		cmocka_unit_test(test_file_dir_each),
		cmocka_unit_test(test_file_out),
		cmocka_unit_test(test_file_out_bad),
		cmocka_unit_test(test_file_paths),
		cmocka_unit_test(test_file_store),
		cmocka_unit_test(test_file_below),
		cmocka_unit_test(test_file_shrinks),
	};

	return cmocka_run_group_tests(tests, make_tmp, remove_tmp);
}
