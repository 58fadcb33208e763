/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_insight_same.c: what is exported as a simulator/ directory and imported again is the same
 * trace, field by field; what does not belong together is found out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "codec/insight_blocks.h"
#include "export/export.h"
#include "import/import.h"
#include "isa/ascend.h"
#include "random_pipes.h"
#include "random_trace.h"
#include "temp_dir.h"

static void fail_with(const struct incore_error *e, const char *what)
{
	struct strbuf b = {0};

	err_format(e, &b);
	fail_msg("%s: %s", what, b.p ? b.p : "?");
}

static void write_out(const struct trace *t, const char *dir)
{
	struct export_options o = {0};
	struct export_result r;
	struct incore_error e = {0};

	if (!export_run(t, export_find("insight"), dir, &o, &r, &e))
		fail_with(&e, "export");
	export_result_deinit(&r);
}

static struct trace *read_in(const char *dir, const char *name, const struct import_options *in)
{
	struct capture_list list = {0};
	struct incore_error e = {0};
	struct trace *t = NULL;
	char *path = path_join(dir, name);

	if (!import_find(path, NULL, &list, &e) || !list.n || !import_read(&list.v[0], in, &t, &e))
		fail_with(&e, name);
	mem_free(path);
	capture_list_deinit(&list);
	return t;
}

static bool has_note(const struct trace *t, const char *code)
{
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (strcmp(t->notes[i].code, code) == 0)
			return true;
	return false;
}

/* What the file is stays its own: format, version, and the table of its blocks. */
static void set_file_apart(struct trace *t, const struct trace *as)
{
	t->meta.format = as->meta.format;
	t->meta.format_version = as->meta.format_version;
	assert_true(t->n_tables > 0 && strcmp(t->tables[0].name, ASCEND_TABLE_BLOCKS) == 0);
	t->tables++;
	t->n_tables--;
}

static void must_be_same(const struct trace *a, struct trace *b, uint64_t seed, const char *name)
{
	const char *what;

	set_file_apart(b, a);
	what = trace_difference(a, b);
	if (what)
		fail_msg("seed %d, %s: %s differs", (int)seed, name, what);
	trace_free(b);
}

static void test_same(void **state)
{
	static const char *const names[] = {"simulator/visualize_data.bin", "simulator", "."};
	struct random_pipes *m = malloc(sizeof(*m));
	struct import_options in = {.want = IMPORT_ALL};

	(void)state;
	assert_non_null(m);
	for (uint64_t seed = 1; seed <= 60; seed++) {
		char dir[] = "/tmp/incore-same-XXXXXX";
		struct trace *a;

		random_pipes_make(m, seed);
		a = random_pipes_trace(m);
		random_pipes_fill(a, seed);
		assert_non_null(mkdtemp(dir));
		write_out(a, dir);
		for (int i = 0; i < 3; i++)
			must_be_same(a, read_in(dir, names[i], &in), seed, names[i]);
		trace_free(a);
		assert_int_equal(temp_dir_remove(dir), 0);
	}
	free(m);
}

/* Slices of one start and end: by code where the maker sorts so, by address where an import does.
 */
static void test_ties(void **state)
{
	static const struct mem_slice slices[] = {
		{5, 10, 0, "VADD", NULL}, {5, 10, 2, "VMUL", NULL}, {5, 10, 0, "VSUB", NULL}};
	static const struct mem_pipe pipes[] = {{"core0.veccore0/VECTOR", MEM_SLICES(slices)}};
	static const uint64_t addresses[2][3] = {{0x10, 0x20, 0x30}, {0x30, 0x10, 0x20}};
	struct import_options in = {.want = IMPORT_ALL};

	(void)state;
	for (int i = 0; i < 2; i++) {
		char dir[] = "/tmp/incore-same-XXXXXX";
		struct trace *a = mem_pipes_new(&(struct mem_pipes){MEM_PIPES(pipes)});

		for (int k = 0; k < 3; k++)
			a->code[k].address = addresses[i][k];
		assert_non_null(mkdtemp(dir));
		write_out(a, dir);
		must_be_same(a, read_in(dir, "simulator", &in), (uint64_t)i, "ties");
		trace_free(a);
		assert_int_equal(temp_dir_remove(dir), 0);
	}
}

/* --- what was changed --- */

static void rewrite(const char *path, void (*change)(uint8_t *p, size_t n))
{
	struct file_data f = {0};
	struct out_file o = {0};
	uint8_t *copy;

	assert_true(file_load(&f, path, NULL));
	copy = malloc(f.size);
	assert_non_null(copy);
	memcpy(copy, f.data, f.size);
	change(copy, f.size);
	assert_true(out_file_open(&o, path, NULL));
	assert_int_equal(fwrite(copy, 1, f.size, o.f), f.size);
	assert_true(out_file_commit(&o, NULL));
	file_unload(&f);
	free(copy);
}

static struct insight_block own_block(const uint8_t *p, size_t n)
{
	struct insight_blocks k = {0};
	struct insight_block found;

	assert_true(insight_blocks_read(&k, p, n, "x", NULL));
	found = k.v.v[k.v.n - 1];
	insight_blocks_deinit(&k);
	assert_int_equal(found.type, INSIGHT_TABLES);
	return found;
}

static void hide_own(uint8_t *p, size_t n)
{
	p[own_block(p, n).offset + 8] = INSIGHT_TABLES + 1;
}

static void damage_own(uint8_t *p, size_t n)
{
	p[own_block(p, n).offset + INSIGHT_HEADER_BYTES + 40] ^= 0x10;
	p[n - 80] ^= 0x10;
}

static void change_event(uint8_t *p, size_t n)
{
	char *at = memmem(p, n, "\"dur\":", 6);

	assert_non_null(at);
	at[6] = at[6] == '7' ? '8' : '7'; /* microseconds: another length in any case */
}

static void rename_event(uint8_t *p, size_t n)
{
	char *at = memmem(p, n, "\"name\":\"VADD\"", 13);

	assert_non_null(at);
	at[9] = 'X';
}

/* The events stay readable, and what was put aside is told. */
static void test_changed(void **state)
{
	static const struct {
		void (*change)(uint8_t *p, size_t n);
		const char *note;
	} cases[] = {{hide_own, "unknown-blocks"}, {damage_own, "bad-block"},
		{change_event, "own-tables"}, {rename_event, "own-tables"}};
	struct random_pipes *m = malloc(sizeof(*m));
	struct import_options in = {.want = IMPORT_ALL};

	(void)state;
	assert_non_null(m);
	random_pipes_make(m, 5);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char dir[] = "/tmp/incore-same-XXXXXX", *path;
		struct trace *a = random_pipes_trace(m), *b;

		a->meta.evidence = EVIDENCE_ESTIMATE;
		assert_non_null(mkdtemp(dir));
		write_out(a, dir);
		path = path_join(dir, "simulator/visualize_data.bin");
		rewrite(path, cases[i].change);
		b = read_in(dir, "simulator/visualize_data.bin", &in);
		assert_true(has_note(b, cases[i].note));
		assert_int_equal(b->meta.evidence, EVIDENCE_ESTIMATE);
		assert_int_equal(b->n_tracks, a->n_tracks);
		mem_free(path);
		trace_free(a);
		trace_free(b);
		assert_int_equal(temp_dir_remove(dir), 0);
	}
	free(m);
}

/* Another clock means other microseconds; the cycles are what was written. */
static void test_user_clock(void **state)
{
	char dir[] = "/tmp/incore-same-XXXXXX";
	struct random_pipes *m = malloc(sizeof(*m));
	struct import_options in = {.want = IMPORT_ALL, .clock_hz = 1000000000};
	struct trace *a, *b;

	(void)state;
	assert_non_null(m);
	random_pipes_make(m, 6);
	a = random_pipes_trace(m);
	assert_non_null(mkdtemp(dir));
	write_out(a, dir);
	b = read_in(dir, "simulator", &in);
	assert_int_equal(b->meta.clock_hz_num, 1000000000);
	assert_int_equal(b->tracks[0].end_cyc, a->tracks[0].end_cyc);
	assert_false(has_note(b, "own-tables"));
	trace_free(a);
	trace_free(b);
	assert_int_equal(temp_dir_remove(dir), 0);
	free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_ties),
		cmocka_unit_test(test_changed),
		cmocka_unit_test(test_user_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
