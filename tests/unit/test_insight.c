/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_insight.c: a trace of pipes written as a simulator/ directory and read back is the same
 * trace: pipes, slices with their head cost, instructions, links and clock, over many made by
 * chance.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "export/export.h"
#include "import/import.h"
#include "isa/ascend.h"
#include "random_pipes.h"
#include "temp_dir.h"

static void fail_with(const struct incore_error *e, const char *what)
{
	struct strbuf b = {0};

	err_format(e, &b);
	fail_msg("%s: %s", what, b.p ? b.p : "?");
}

static struct trace *written_and_read(const struct trace *t, const char *dir)
{
	struct export_options o = {0};
	struct export_result r;
	struct incore_error e = {0};
	struct capture_list list = {0};
	struct import_options in = {.want = IMPORT_ALL};
	struct trace *back = NULL;
	char *bin;

	if (!export_run(t, export_find("insight"), dir, &o, &r, &e))
		fail_with(&e, "export");
	export_result_deinit(&r);
	bin = path_join(dir, "simulator/visualize_data.bin");
	assert_non_null(bin);
	if (!import_find(bin, NULL, &list, &e) || !list.n ||
		!import_read(&list.v[0], &in, &back, &e))
		fail_with(&e, "import");
	mem_free(bin);
	capture_list_deinit(&list);
	return back;
}

static int by_ends(const void *pa, const void *pb)
{
	return memcmp(pa, pb, 4 * sizeof(uint32_t));
}

static void same_links(const struct trace *a, const struct trace *b)
{
	uint32_t(*x)[4] = calloc(a->n_links + 1, sizeof(*x)),
	(*y)[4] = calloc(a->n_links + 1, sizeof(*y));
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n_links; i++)
		if (b->links[i].kind == LINK_FLAG)
			n++;
	assert_int_equal(n, a->n_links);
	n = 0;
	for (uint32_t i = 0; i < a->n_links; i++) {
		const struct link *l = &a->links[i];

		x[i][0] = l->from_track, x[i][1] = l->from_slice, x[i][2] = l->to_track,
		x[i][3] = l->to_slice;
	}
	for (uint32_t i = 0; i < b->n_links; i++) {
		const struct link *l = &b->links[i];

		if (l->kind != LINK_FLAG)
			continue;
		y[n][0] = l->from_track, y[n][1] = l->from_slice, y[n][2] = l->to_track,
		y[n][3] = l->to_slice;
		n++;
	}
	qsort(x, n, sizeof(*x), by_ends);
	qsort(y, n, sizeof(*y), by_ends);
	assert_memory_equal(x, y, n * sizeof(*x));
	free(x);
	free(y);
}

static void same_track(const struct trace *a, const struct trace *b, track_idx i)
{
	struct track_data x = {0}, y = {0};
	struct incore_error e = {0};

	assert_memory_equal(a->tracks[i].coord, b->tracks[i].coord, sizeof(a->tracks[i].coord));
	assert_string_equal(a->tracks[i].name, b->tracks[i].name);
	assert_int_equal(a->tracks[i].begin_cyc, b->tracks[i].begin_cyc);
	assert_int_equal(a->tracks[i].end_cyc, b->tracks[i].end_cyc);
	assert_true(trace_load_track(a, i, 0, &x, &e));
	assert_true(trace_load_track(b, i, 0, &y, &e));
	assert_int_equal(x.n, y.n);
	for (uint32_t s = 0; s < x.n; s++) {
		assert_int_equal(x.start_cyc[s], y.start_cyc[s]);
		assert_int_equal(x.dur_cyc[s], y.dur_cyc[s]);
		assert_int_equal(x.stall_cyc[s], y.stall_cyc[s]);
		assert_int_equal(x.inst_class[s], y.inst_class[s]);
		assert_int_equal(x.tag[s], y.tag[s]);
		assert_string_equal(a->code[x.code[s]].text, b->code[y.code[s]].text);
		assert_int_equal(a->code[x.code[s]].address, b->code[y.code[s]].address);
	}
	track_data_deinit(&x);
	track_data_deinit(&y);
}

static void test_insight_round_trip(void **state)
{
	struct random_pipes *m = malloc(sizeof(*m));

	(void)state;
	assert_non_null(m);
	for (uint64_t seed = 1; seed <= 40; seed++) {
		char dir[] = "/tmp/incore-insight-XXXXXX";
		struct trace *a, *b;

		random_pipes_make(m, seed);
		a = random_pipes_trace(m);
		assert_non_null(mkdtemp(dir));
		b = written_and_read(a, dir);
		assert_int_equal(a->n_tracks, b->n_tracks);
		assert_int_equal(b->meta.vendor, VENDOR_ASCEND);
		assert_true(trace_clock_mhz(a) == trace_clock_mhz(b));
		for (track_idx i = 0; i < a->n_tracks; i++)
			same_track(a, b, i);
		same_links(a, b);
		trace_free(a);
		trace_free(b);
		assert_int_equal(temp_dir_remove(dir), 0);
	}
	free(m);
}

/* --- labels --- */

static const char *const label_cols[] = {"key", "value"};
static const char *const label_cells[] = {
	"profile", "a2a3 [draft]", "calibration", "none: \"raw\""};
static const struct named_table labels = {
	ASCEND_TABLE_LABELS, "model", 2, 2, label_cols, label_cells};

static char *text_of(const char *dir, const char *name)
{
	char *path = path_join(dir, name), *text;
	struct file_data f = {0};

	assert_true(path && file_load(&f, path, NULL));
	text = mem_strndup((const char *)f.data, f.size);
	file_unload(&f);
	mem_free(path);
	return text;
}

static struct trace *read_back(const char *dir, const char *name)
{
	struct capture_list list = {0};
	struct import_options in = {.want = IMPORT_ALL};
	struct incore_error e = {0};
	struct trace *t = NULL;
	char *path = path_join(dir, name);

	if (!import_find(path, NULL, &list, &e) || !list.n || !import_read(&list.v[0], &in, &t, &e))
		fail_with(&e, name);
	mem_free(path);
	capture_list_deinit(&list);
	return t;
}

static struct trace *labelled(struct random_pipes *m, uint64_t clock_hz)
{
	struct mem_pipes p = {.pipes = m->pipes,
		.n_pipes = m->n_pipes,
		.links = m->links,
		.n_links = m->n_links,
		.tables = &labels,
		.n_tables = 1};
	struct trace *t;

	random_pipes_make(m, 3);
	p.n_pipes = m->n_pipes;
	p.n_links = m->n_links;
	t = mem_pipes_new(&p);
	t->meta.evidence = EVIDENCE_ESTIMATE;
	t->meta.clock_hz_num = clock_hz;
	t->meta.clock_hz_den = clock_hz ? 3 : 0;
	return t;
}

/* trace.json alone says that it is an estimate, of what, and on which clock. */
static void test_labels(void **state)
{
	struct random_pipes *m = malloc(sizeof(*m));
	static const uint64_t clocks[] = {5000000000, 0};

	(void)state;
	assert_non_null(m);
	for (int i = 0; i < 2; i++) {
		char dir[] = "/tmp/incore-insight-XXXXXX";
		struct trace *a = labelled(m, clocks[i]), *b;
		const struct named_table *k;
		char *text;

		assert_non_null(mkdtemp(dir));
		trace_free(written_and_read(a, dir));
		text = text_of(dir, "simulator/trace.json");
		assert_true(strstr(text, "\"profilingType\":\"op\"") < strchr(text, '['));
		assert_non_null(strstr(text, "{\"labels\":\"estimate"));
		b = read_back(dir, "simulator/trace.json");
		assert_int_equal(b->meta.evidence, EVIDENCE_ESTIMATE);
		assert_string_equal(b->meta.kernel, "k");
		assert_int_equal(b->meta.clock_hz_num, a->meta.clock_hz_num);
		assert_int_equal(b->meta.clock_hz_den, a->meta.clock_hz_den);
		k = trace_find_table(b, ASCEND_TABLE_LABELS);
		assert_true(k && k->n_rows == 2);
		for (uint32_t c = 0; c < 4; c++)
			assert_string_equal(k->cells[c], label_cells[c]);
		for (track_idx t = 0; t < a->n_tracks; t++)
			same_track(a, b, t);
		mem_free(text);
		trace_free(a);
		trace_free(b);
		assert_int_equal(temp_dir_remove(dir), 0);
	}
	free(m);
}

static void test_chrome_labels(void **state)
{
	char dir[] = "/tmp/incore-insight-XXXXXX", *path, *text;
	struct random_pipes *m = malloc(sizeof(*m));
	struct trace *t;
	struct export_options o = {0};
	struct export_result r;
	struct incore_error e = {0};

	(void)state;
	assert_non_null(m);
	assert_non_null(mkdtemp(dir));
	t = labelled(m, 1);
	path = path_join(dir, "c.json");
	if (!export_run(t, export_find("chrome"), path, &o, &r, &e))
		fail_with(&e, "export");
	export_result_deinit(&r);
	text = text_of(dir, "c.json");
	assert_non_null(strstr(text, "\"evidence\":\"estimate\""));
	assert_non_null(strstr(text, "\"labels\":{\"profile\":\"a2a3 \\u005bdraft]\","));
	mem_free(text);
	mem_free(path);
	trace_free(t);
	assert_int_equal(temp_dir_remove(dir), 0);
	free(m);
}

static bool count_entry(void *ctx, const char *name, struct incore_error *e)
{
	(void)name;
	(void)e;
	++*(unsigned *)ctx;
	return true;
}

static unsigned n_entries(const char *dir)
{
	struct incore_error e = {0};
	unsigned n = 0;

	assert_true(dir_each(dir, count_entry, &n, &e));
	return n;
}

/* Nothing is left behind, and a directory that is there is not touched. */
static void test_insight_refuses(void **state)
{
	char dir[] = "/tmp/incore-insight-XXXXXX";
	struct random_pipes *m = malloc(sizeof(*m));
	struct export_options o = {0};
	struct export_result r;
	struct incore_error e = {0};
	struct trace *t;

	(void)state;
	assert_non_null(m);
	assert_non_null(mkdtemp(dir));
	random_pipes_make(m, 1);
	t = random_pipes_trace(m);
	trace_free(written_and_read(t, dir));
	assert_false(export_run(t, export_find("insight"), dir, &o, &r, &e));
	assert_string_equal(e.code, "exists");
	incore_error_clear(&e);
	assert_false(export_run(t, export_find("insight"), NULL, &o, &r, &e));
	assert_int_equal(e.status, INCORE_USAGE);
	incore_error_clear(&e);
	assert_int_equal(n_entries(dir), 1);
	assert_int_equal(temp_dir_remove(dir), 0);
	trace_free(t);
	free(m);
}

/* --- what the format cannot hold --- */

static uint64_t cut_of(const struct export_result *r, const char *what)
{
	for (uint32_t i = 0; i < r->n_cuts; i++)
		if (strcmp(r->cuts[i].code, what) == 0)
			return r->cuts[i].count;
	return 0;
}

static struct trace *written(
	const struct trace *t, const char *dir, struct export_result *r, char **events)
{
	struct export_options o = {0};
	struct incore_error e = {0};

	if (!export_run(t, export_find("insight"), dir, &o, r, &e))
		fail_with(&e, "export");
	*events = text_of(dir, "simulator/trace.json");
	return read_back(dir, "simulator/visualize_data.bin");
}

/* One core sets, two await it: both have their line, and both come back. */
static void test_cross_links(void **state)
{
	static const struct mem_slice set[] = {{5, 2, 0, "SET_CROSS_CORE PIPE:FIXP,ID:1,", NULL}};
	static const struct mem_slice wait[] = {{1, 9, 0, "WAIT_FLAG_DEV PIPE:S,ID:1,", NULL}};
	static const struct mem_pipe pipes[] = {{"core0.cubecore0/FIXP", MEM_SLICES(set)},
		{"core0.veccore0/SCALAR", MEM_SLICES(wait)},
		{"core0.veccore1/SCALAR", MEM_SLICES(wait)}};
	static const struct link links[] = {
		{0, 1, 0, 0, LINK_CROSS_CORE}, {0, 2, 0, 0, LINK_CROSS_CORE}};
	struct trace *a = mem_pipes_new(&(struct mem_pipes){MEM_PIPES(pipes), MEM_LINKS(links)});
	char dir[] = "/tmp/incore-insight-XXXXXX", *text;
	struct export_result r;
	struct trace *b;

	(void)state;
	assert_non_null(mkdtemp(dir));
	b = written(a, dir, &r, &text);
	assert_int_equal(r.n_links, 2);
	assert_int_equal(cut_of(&r, "links without a line"), 0);
	assert_non_null(strstr(text, "\"true_name\":\"SET_CROSS_CORE\"},\"cname\":\"black\","
				     "\"id\":\"intra_0\",\"name\":\"SET_FLAG\",\"ph\":\"B\""));
	assert_non_null(strstr(text, "\"ph\":\"t\",\"pid\":\"core0.veccore0\""));
	assert_non_null(strstr(text, "\"same_as\":\"intra_0\",\"true_name\":\"SET_CROSS_CORE\""));
	assert_non_null(strstr(text, "\"id\":\"intra_1\",\"name\":\"flow\",\"ph\":\"t\","
				     "\"pid\":\"core0.veccore1\""));
	assert_int_equal(b->n_links, 2);
	trace_free(b);
	/* without the tables beside them the events alone say that it is no flag of a core's own */
	b = read_back(dir, "simulator/trace.json");
	assert_int_equal(b->n_links, 2);
	assert_int_equal(b->links[1].kind, LINK_CROSS_CORE);
	assert_int_equal(b->tracks[b->links[1].from_track].n_slices, 1);
	trace_free(b);
	trace_free(a);
	mem_free(text);
	export_result_deinit(&r);
	assert_int_equal(temp_dir_remove(dir), 0);
}

static bool has_block(const struct trace *t, const char *name)
{
	const struct named_table *k = trace_find_table(t, ASCEND_TABLE_BLOCKS);

	for (uint32_t i = 0; k && i < k->n_rows; i++)
		if (strcmp(named_table_cell(k, i, "name"), name) == 0)
			return true;
	return false;
}

/* Of a table that the viewer would not show the costliest rows are written. */
static void test_large_table(void **state)
{
	enum { ROWS = 101, BYTES = 1 << 20 };
	static const struct mem_slice work[] = {{5, 2, 0, "VADD X1,", NULL}};
	static const struct mem_pipe pipes[] = {{"core0.veccore0/VECTOR", MEM_SLICES(work)}};
	struct trace *a = mem_pipes_new(&(struct mem_pipes){MEM_PIPES(pipes)}), *b;
	struct code_row *code = arena_zalloc(&a->arena, ROWS, sizeof(*code));
	char *large = arena_zalloc(&a->arena, BYTES + 1, 1);
	char dir[] = "/tmp/incore-insight-XXXXXX", *text;
	struct export_result r;

	(void)state;
	assert_true(code && large);
	memset(large, 'x', BYTES);
	code[0] = a->code[0];
	for (uint32_t i = 1; i < ROWS; i++) {
		code[i] = a->code[0];
		code[i].address = 0x1000 + i;
		code[i].text = large;
		code[i].text_len = BYTES;
	}
	a->code = code;
	a->n_code = ROWS;
	assert_non_null(mkdtemp(dir));
	b = written(a, dir, &r, &text);
	assert_int_equal(cut_of(&r, "rows of tables"), 1);
	assert_int_equal(cut_of(&r, "columns of ours"), 6);
	assert_true(has_block(b, "API_INSTR"));
	assert_int_equal(b->n_code, ROWS);
	trace_free(a);
	trace_free(b);
	mem_free(text);
	export_result_deinit(&r);
	assert_int_equal(temp_dir_remove(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_insight_round_trip),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_chrome_labels),
		cmocka_unit_test(test_insight_refuses),
		cmocka_unit_test(test_cross_links),
		cmocka_unit_test(test_large_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
