/* SPDX-License-Identifier: Apache-2.0 */
/* test_registry.c: every format keeps the rules of its table, and captures are found wherever they
 * lie, also among links that loop, pipes and a hundred thousand other files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/str.h"
#include "export/export.h"
#include "import/import.h"
#include "temp_dir.h"

static char root[] = "/tmp/incore-test-registry-XXXXXX";

static char *path_of(const char *fmt, ...) PRINTF_LIKE(1, 2);
static char *path_of(const char *fmt, ...)
{
	static struct strbuf b;
	va_list ap;

	sb_reset(&b);
	sb_printf(&b, "%s/", root);
	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	return b.p;
}

static void make_dir(const char *name)
{
	assert_int_equal(mkdir(path_of("%s", name), 0777), 0);
}

static void make_file(const char *name, const char *text)
{
	FILE *f = fopen(path_of("%s", name), "w");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

/* A directory that the ui_output importer knows. */
static void make_capture(const char *dir)
{
	struct strbuf b = {0};

	make_dir(dir);
	sb_printf(&b, "%s/filenames.json", dir);
	make_file(b.p,
		"{\"counter_names\":[],\"gfxip\":9,\"gfxv\":\"vega\",\"global_begin_time\":0,"
		"\"version\":\"3.0.0\",\"wave_filenames\":null}");
	sb_free(&b);
}

static int set_up(void **state)
{
	(void)state;
	memcpy(root + strlen(root) - 6, "XXXXXX", 6);
	return mkdtemp(root) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	return temp_dir_remove(root);
}

static bool has_man_page(const char *name)
{
	const char *source = getenv("INCORE_SOURCE_ROOT");
	char path[4096];

	if (!source)
		return true;
	snprintf(path, sizeof(path), "%s/man/incore-%s.7.scd", source, name);
	return file_exists(path);
}

static void test_registry_import(void **state)
{
	(void)state;
	for (size_t i = 0; import_registry[i]; i++) {
		const struct import_ops *o = import_registry[i];

		assert_non_null(o->name);
		assert_non_null(o->summary);
		assert_true(i < 32); /* find.c: MAX_FORMATS */
		assert_non_null(o->signs);
		for (const struct signature *s = o->signs; signature_is_set(s); s++)
			assert_true(s->score || o->sniff);
		assert_non_null(o->read);
		assert_non_null(o->lost);
		if (!has_man_page(o->name))
			fail_msg("no man page incore-%s.7", o->name);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(o->name, import_registry[k]->name);
	}
}

static void test_registry_export(void **state)
{
	(void)state;
	for (size_t i = 0; export_registry[i]; i++) {
		const struct export_ops *o = export_registry[i];
		bool is_whole = o->takes_tracks || o->takes_sums;

		assert_non_null(o->name);
		assert_non_null(o->suffix);
		assert_non_null(o->media_type);
		assert_non_null(o->summary);
		assert_non_null(o->begin);
		assert_non_null(o->end);
		assert_non_null(o->lost);
		assert_non_null(o->truncated);
		/* a format of whole tracks or of tables takes them at once */
		assert_true(is_whole || !(o->holds & EXPORT_SLICES) == !o->slice);
		assert_true(is_whole || !(o->holds & EXPORT_STATES) == !o->state_run);
		assert_true(is_whole || !(o->holds & EXPORT_LINKS) == !o->link);
		assert_true(!(o->holds & EXPORT_COUNTERS) == !o->counter);
		if (!has_man_page(o->name))
			fail_msg("no man page incore-%s.7", o->name);
		assert_ptr_equal(export_find(o->name), o);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(o->name, export_registry[k]->name);
	}
	assert_null(export_find("svg"));
}

static void find(const char *path, uint32_t want)
{
	struct capture_list l = {0};
	struct incore_error e = {0};

	if (!import_find(path, NULL, &l, &e))
		fail_msg("%s: %s", path, e.message);
	if (l.n != want)
		fail_msg("%s: %u captures, expected %u", path, l.n, want);
	capture_list_deinit(&l);
}

static void find_fails(const char *path, const char *code, const char *words)
{
	struct capture_list l = {0};
	struct incore_error e = {0};

	assert_false(import_find(path, NULL, &l, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_string_equal(e.code, code);
	if (!str_has(str_of(e.message), words))
		fail_msg("%s: '%s' has no '%s'", path, e.message, words);
	incore_error_clear(&e);
	capture_list_deinit(&l);
}

static void test_registry_find(void **state)
{
	struct capture_list l = {0};
	struct incore_error e = {0};

	(void)state;
	make_dir("run");
	make_dir("run/deep");
	make_capture("run/ui_output_agent_2_dispatch_10");
	make_capture("run/ui_output_agent_2_dispatch_9");
	make_capture("run/ui_output_agent_1_dispatch_30");
	make_capture("run/deep/ui_output_agent_3_dispatch_1");
	assert_true(import_find(path_of("run"), NULL, &l, &e));
	assert_int_equal(l.n, 4);
	assert_int_equal(l.v[0].dispatch, 30);
	assert_int_equal(l.v[1].dispatch, 9);
	assert_int_equal(l.v[2].dispatch, 10);
	assert_int_equal(l.v[3].agent, 3);
	assert_non_null(capture_choose(&l));
	capture_list_deinit(&l);
	find(root, 3); /* two levels down and no further */
	find(path_of("run/ui_output_agent_2_dispatch_9"), 1);
	find(path_of("run/ui_output_agent_2_dispatch_9/"), 1);
	assert_true(import_siblings(path_of("run/ui_output_agent_2_dispatch_9/"), NULL, &l, &e));
	assert_int_equal(l.n, 3);
	capture_list_deinit(&l);
}

/* Beside means beside: what a folder next to it holds, however it is called, is no sibling. */
static void test_registry_siblings_flat(void **state)
{
	struct capture_list l = {0};
	struct incore_error e = {0};

	(void)state;
	make_dir("run");
	make_dir("run/OPPROF_1");
	make_capture("run/ui_output_agent_1_dispatch_1");
	make_capture("run/OPPROF_1/ui_output_agent_1_dispatch_2");
	assert_true(import_siblings(path_of("run/ui_output_agent_1_dispatch_1"), NULL, &l, &e));
	assert_int_equal(l.n, 1);
	capture_list_deinit(&l);
}

/* Equals stay in the order of their list, wherever they lie in memory. */
static void test_registry_rank(void **state)
{
	struct capture v[4] = {{.path = "c", .position = 2, .n_tracks = 5},
		{.path = "b", .position = 1, .n_tracks = 5},
		{.path = "a", .position = 0, .n_tracks = 5},
		{.path = "d", .position = 3, .n_tracks = 9, .is_empty = true}};
	struct capture_list l = {.v = v, .n = 4};
	const struct capture *ranked[4];

	(void)state;
	assert_int_equal(captures_rank(&l, NULL, ANY_CAPTURE, ranked), 4);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(ranked[i]->position, i);
	assert_ptr_equal(capture_choose(&l), ranked[0]);
}

static void test_registry_find_traps(void **state)
{
	(void)state;
	make_dir("run");
	make_capture("run/ui_output_agent_1_dispatch_1");
	assert_int_equal(mkfifo(path_of("run/pipe"), 0777), 0);
	assert_int_equal(symlink("loop", path_of("run/loop")), 0);
	assert_int_equal(symlink(".", path_of("run/again")), 0);
	assert_int_equal(symlink("..", path_of("run/up")), 0);
	assert_int_equal(symlink("nowhere", path_of("run/dangling")), 0);
	assert_int_equal(symlink("ui_output_agent_1_dispatch_1", path_of("run/a_latest")), 0);
	find(path_of("run"), 1);
	find(path_of("run/a_latest"), 1);
	find_fails(path_of("run/pipe"), "not-a-file", "neither a file nor a directory");
	find_fails(path_of("run/loop"), "link-loop", "symbolic");
	find_fails(path_of("run/none"), "not-found", "No such file");
	find_fails(path_of("run/ui_output_agent_1_dispatch_1/filenames.json"), "unknown-format",
		"give the directory");
	make_dir("empty");
	find_fails(path_of("empty"), "unknown-format", "directory is empty");
	make_file("empty/readme", "hello");
	find_fails(path_of("empty"), "unknown-format", "readme");
	make_file("zero", "");
	find_fails(path_of("zero"), "unknown-format", "empty file");
}

static void test_registry_find_many(void **state)
{
	int dir;

	(void)state;
	make_capture("big");
	dir = open(path_of("big"), O_RDONLY | O_DIRECTORY);
	assert_true(dir >= 0);
	for (unsigned i = 0; i < 100000; i++) {
		char name[64];
		int fd;

		snprintf(name, sizeof(name), "se0_sm0_sl0_wv%u.json", i);
		fd = openat(dir, name, O_WRONLY | O_CREAT, 0666);
		assert_true(fd >= 0);
		close(fd);
	}
	close(dir);
	find(root, 1);
	unlink(path_of("big/filenames.json"));
	find_fails(path_of("big"), "unknown-format", "100000 files of other kinds");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registry_import),
		cmocka_unit_test(test_registry_export),
		cmocka_unit_test_setup_teardown(test_registry_find, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_registry_siblings_flat, set_up, tear_down),
		cmocka_unit_test(test_registry_rank),
		cmocka_unit_test_setup_teardown(test_registry_find_traps, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_registry_find_many, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
