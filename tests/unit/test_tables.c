/* SPDX-License-Identifier: Apache-2.0 */
/* tables: sums equal those of the analyses, limits leave exactly what a filter would, any number of
 * threads, any choice of columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above first */
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/code/hot.h"
#include "analysis/pipes/pipe_sweep.h"
#include "analysis/selection.h"
#include "base/vec.h"
#include "random_pipes.h"
#include "random_trace.h"
#include "tables/tables.h"
#include "trace/kind.h"

/* Of waves, with code; the first seed that gives one. */
static struct trace *random_waves(bool has_bad)
{
	for (uint64_t seed = 1;; seed++) {
		struct trace *t = random_trace_new(&(struct random_shape){.seed = seed,
			.n_tracks = 23,
			.max_slices = 300,
			.long_slices = 3 * TABLE_BATCH + 5,
			.has_bad_tracks = has_bad,
			.clock_quantum = 4});

		if (t->n_code > 10 && trace_kind(t) != KIND_PIPES)
			return t;
		trace_free(t);
	}
}

/* All values of all rows of a scan as one text, a line each. */
static char *dump(const char *table, const struct trace *t, const struct table_scan *scan)
{
	const struct table *k = table_find(table);
	struct incore_error e = {0};
	struct table_cursor *c = table_open(k, t, scan, &e);
	struct table_batch b;
	struct strbuf out = {0};

	assert_non_null(c);
	for (;;) {
		assert_true(table_next(c, &b, &e));
		if (!b.n)
			break;
		assert_true(b.n <= TABLE_BATCH);
		for (uint32_t i = 0; i < b.n; i++) {
			for (unsigned j = 0; j < k->record->n_columns; j++) {
				const struct column *x = &k->record->columns[j];
				const void *v = b.column[j] ? table_value(k, &b, j, i) : NULL;

				assert_int_equal(v != NULL, scan->columns >> j & 1);
				if (!v || column_is_null(x, v))
					sb_puts(&out, v ? "null " : "");
				else if (x->type == COLUMN_TEXT)
					sb_printf(&out, "%s ", *(const char *const *)v);
				else if (x->type == COLUMN_F64)
					sb_printf(&out, "%g ", *(const double *)v);
				else if (x->type == COLUMN_I64)
					sb_printf(&out, "%lld ", (long long)*(const int64_t *)v);
				else
					sb_printf(&out, "%llu ",
						(unsigned long long)column_u64(x, v));
			}
			sb_putc(&out, '\n');
		}
	}
	table_close(c);
	assert_false(out.failed);
	return out.p ? out.p : strdup("");
}

/* Sum of a column over rows whose text column `key` is `word`; NULL: of all. */
static uint64_t sum(const char *table, const struct trace *t, const char *name, const char *key,
	const char *word)
{
	const struct table *k = table_find(table);
	struct table_scan scan = TABLE_SCAN_ALL;
	struct incore_error e = {0};
	int at = table_column(k, name), by = key ? table_column(k, key) : -1;
	struct table_cursor *c;
	struct table_batch b;
	uint64_t all = 0;

	assert_true(at >= 0);
	scan.columns = 1ull << at | (by >= 0 ? 1ull << by : 0);
	c = table_open(k, t, &scan, &e);
	assert_non_null(c);
	while (table_next(c, &b, &e) && b.n)
		for (uint32_t i = 0; i < b.n; i++)
			if (by < 0 || !strcmp(((const char *const *)b.column[by])[i], word))
				all += column_u64(&k->record->columns[at],
					table_value(k, &b, (unsigned)at, i));
	table_close(c);
	return all;
}

static void test_sums_are_those_of_hot(void **state)
{
	struct trace *t = random_waves(false);
	struct hot *h = hot_new(t);
	struct collector made = hot_collector(h);
	const struct collector *list[] = {&made};
	struct walk_options o = {0};
	struct incore_error e = {0};
	struct walk_result r;
	uint64_t empty_cyc = 0, duration = 0;

	(void)state;
	assert_true(walk_tracks(t, &o, list, 1, &r, &e));
	for (track_idx i = 0; i < t->n_tracks; i++) {
		struct track_data d = {0};

		assert_true(trace_load_track(t, i, 0, &d, &e));
		empty_cyc += d.n ? 0 : d.end_cyc - d.begin_cyc; /* no slice owns it */
		track_data_deinit(&d);
	}
	for (unsigned b = 0; b < BUCKET_COUNT; b++) {
		char name[32] = "bucket_";

		strcat(name, bucket_name(b));
		assert_int_equal(
			sum("slices", t, name, NULL, NULL) + (b == BUCKET_IDLE ? empty_cyc : 0),
			h->all.bucket[b]);
		duration += h->all.bucket[b];
	}
	assert_int_equal(duration, h->duration_cyc);
	assert_int_equal(sum("causes", t, "cycles", NULL, NULL), h->duration_cyc);
	hot_free(h);
	walk_result_deinit(&r);
	trace_free(t);
}

static void test_causes_fill_the_buckets(void **state)
{
	static const struct mem_code code[] = {{"; k"}, {"s_load_dwordx2 s[0:1], s[2:3], 0x0"},
		{"s_waitcnt lgkmcnt(0)"}, {"v_add_f32 v0, v0, v0"}, {"s_endpgm"}};
	static const struct mem_record records[] = {{108, 1, 0, 4, 1}, {112, 9, 40, 40, 2},
		{152, 6, 4, 8, 3}, {168, 6, 0, 4, 99}, {180, 6, 0, 4, 3}, {184, 11, 0, 16, 4}};
	static const struct mem_wave waves[] = {{.begin = 100, .end = 200, MEM_RECORDS(records)},
		{.wave = 1, .begin = 200, .end = 260}};
	static const struct {
		const char *bucket;
		uint64_t cycles;
	} want[] = {{"issue", 16}, {"wait", 40}, {"stall", 4}, {"idle", 84}, {"drain", 16}};
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct table_scan scan = TABLE_SCAN_ALL;
	char *links;

	(void)state;
	for (unsigned i = 0; i < 5; i++)
		assert_int_equal(
			sum("causes", t, "cycles", "bucket", want[i].bucket), want[i].cycles);
	assert_int_equal(sum("slices", t, "bucket_wait", NULL, NULL), 40);
	assert_int_equal(sum("slices", t, "bucket_idle", NULL, NULL), 24); /* 60 have no slice */
	assert_int_equal(sum("producers", t, "cycles", NULL, NULL), 40);
	links = dump("links", t, &scan);
	assert_string_equal(links, "1 wait 0 1 0 0 \n");
	free(links);
	trace_free(t);
}

/* The lines of `all` that pass the same limits, looked at one by one. */
static char *filtered(const struct trace *t, const struct table_scan *s)
{
	struct table_scan scan = TABLE_SCAN_ALL;
	char *all = dump("slices", t, &scan), *save = NULL;
	struct strbuf out = {0};
	bool limits_rows = s->first_row > INT64_MIN || s->last_row < INT64_MAX;

	for (char *line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
		unsigned capture, track, slice, duration, stall;
		long long start, row = INT64_MIN;
		int n = sscanf(line, "%u %u %u %lld %u %u %lld", &capture, &track, &slice, &start,
			&duration, &stall, &row);

		int64_t shift = trace_aligned(t, t->tracks[track].clock, 0) - trace_origin(t);

		/* a track that did not live then is not read, wherever its slices lie */
		if ((int64_t)t->tracks[track].begin_cyc + shift > s->last_cyc ||
			(int64_t)t->tracks[track].end_cyc + shift < s->first_cyc)
			continue;
		if (track < s->first_track || track > s->last_track || slice < s->first_slice ||
			slice > s->last_slice || start < s->first_cyc || start > s->last_cyc ||
			(limits_rows && (n < 7 || row < s->first_row || row > s->last_row)))
			continue;
		sb_printf(&out, "%s\n", line);
	}
	free(all);
	return out.p ? out.p : strdup("");
}

static void test_limits_leave_what_a_filter_leaves(void **state)
{
	struct trace *t = random_waves(false);
	const struct table_scan all = TABLE_SCAN_ALL;
	struct table_scan cases[12];
	int64_t middle = 0;

	(void)state;
	for (track_idx i = 0; i < t->n_tracks; i++)
		middle += (trace_aligned(t, t->tracks[i].clock, t->tracks[i].begin_cyc) -
				  trace_origin(t)) /
			  t->n_tracks;
	for (unsigned i = 0; i < 12; i++)
		cases[i] = all;
	cases[1].first_track = cases[1].last_track = 1;
	cases[2].first_track = 5, cases[2].last_track = 9;
	cases[3].first_cyc = middle, cases[3].last_cyc = middle + 20000;
	cases[4].last_cyc = middle;
	cases[5].first_row = cases[5].last_row = t->code[t->n_code / 2].number;
	cases[6].first_row = t->code[t->n_code / 2].number;
	cases[7].first_track = 1, cases[7].first_slice = TABLE_BATCH - 1;
	cases[7].last_slice = 2 * TABLE_BATCH + 1;
	cases[8].first_track = 1000;
	cases[9].first_cyc = INT64_MAX;
	cases[10].last_slice = 0;
	cases[11].first_row = t->code[0].number, cases[11].first_cyc = middle;
	for (unsigned i = 0; i < 12; i++) {
		char *have = dump("slices", t, &cases[i]), *want = filtered(t, &cases[i]);

		assert_string_equal(have, want);
		free(have);
		free(want);
	}
	trace_free(t);
}

static void test_rescan_is_a_new_scan(void **state)
{
	struct trace *t = random_waves(false);
	struct table_scan all = TABLE_SCAN_ALL, one = TABLE_SCAN_ALL;
	struct incore_error e = {0};

	(void)state;
	one.first_track = one.last_track = 3;
	for (const struct table *const *k = table_list; *k; k++) {
		struct table_cursor *c = table_open(*k, t, &all, &e);
		struct table_batch b;
		uint64_t first = 0, third = 0;

		while (table_next(c, &b, &e) && b.n)
			first += b.n;
		table_rescan(c, &one);
		while (table_next(c, &b, &e) && b.n)
			;
		table_rescan(c, &all);
		while (table_next(c, &b, &e) && b.n)
			third += b.n;
		assert_int_equal(first, third);
		table_close(c);
	}
	trace_free(t);
}

static void test_any_threads_any_columns(void **state)
{
	struct trace *t = random_waves(true);
	struct pool *pool = pool_new(4, NULL);

	(void)state;
	for (const struct table *const *k = table_list; *k; k++) {
		struct table_scan scan = TABLE_SCAN_ALL, many = TABLE_SCAN_ALL;
		char *a = dump((*k)->name, t, &scan), *b;

		many.pool = pool;
		b = dump((*k)->name, t, &many);
		assert_string_equal(a, b);
		free(a);
		free(b);
		for (unsigned i = 0; i < (*k)->record->n_columns; i++) {
			scan.columns = 1ull << i;
			free(dump((*k)->name, t, &scan));
		}
		scan.columns = 0;
		free(dump((*k)->name, t, &scan));
	}
	pool_free(pool);
	trace_free(t);
}

static void test_damaged_tracks_are_counted(void **state)
{
	struct trace *t = random_waves(true);
	struct table_scan scan = TABLE_SCAN_ALL;
	struct incore_error e = {0};
	struct table_cursor *c = table_open(table_find("slices"), t, &scan, &e);
	struct table_batch b;

	(void)state;
	while (table_next(c, &b, &e) && b.n)
		;
	assert_true(table_failed(c) > 0);
	table_close(c);
	trace_free(t);
}

static void test_pipes_too(void **state)
{
	struct random_pipes *m = calloc(1, sizeof(*m));
	struct trace *t;

	(void)state;
	random_pipes_make(m, 3);
	t = random_pipes_trace(m);
	for (const struct table *const *k = table_list; *k; k++) {
		struct table_scan scan = TABLE_SCAN_ALL;

		free(dump((*k)->name, t, &scan));
	}
	trace_free(t);
	free(m);
}

/* What every reader relies on: flat columns of known types, each described, at most 64. */
static void test_columns_are_flat(void **state)
{
	(void)state;
	for (const struct table *const *k = table_list; *k; k++) {
		const struct record *r = (*k)->record;

		assert_true(r->n_columns <= 64);
		assert_int_equal(table_column(*k, TABLE_CAPTURE), 0);
		assert_ptr_equal(table_find((*k)->name), *k);
		for (unsigned i = 0; i < r->n_columns; i++) {
			assert_true(column_width(r->columns[i].type) > 0);
			assert_true(strlen(r->columns[i].doc) > 0);
			assert_null(r->columns[i].of);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums_are_those_of_hot),
		cmocka_unit_test(test_causes_fill_the_buckets),
		cmocka_unit_test(test_limits_leave_what_a_filter_leaves),
		cmocka_unit_test(test_rescan_is_a_new_scan),
		cmocka_unit_test(test_any_threads_any_columns),
		cmocka_unit_test(test_damaged_tracks_are_counted),
		cmocka_unit_test(test_pipes_too),
		cmocka_unit_test(test_columns_are_flat),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
