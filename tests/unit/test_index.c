/* SPDX-License-Identifier: Apache-2.0 */
/* test_index.c: prefix sums against counting cycle by cycle; columns kept in a file; sub-lanes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "draw.h"
#include "trace/index.h"

#define SPAN 6000u

/* Slices that may overlap, leave gaps, be empty or reach beyond the end. */
static bool load_random(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	uint64_t at = 500;

	(void)want;
	(void)e;
	draw_seed = i + 7;
	assert_true(track_data_reserve(d, t->tracks[i].n_slices));
	d->n = t->tracks[i].n_slices;
	d->begin_cyc = 480;
	for (uint32_t k = 0; k < d->n; k++) {
		d->start_cyc[k] = at;
		d->dur_cyc[k] = draw(9) == 0 ? 0 : 1 + draw(20);
		d->stall_cyc[k] = draw(d->dur_cyc[k] + 1);
		d->code[k] = draw(50) == 0 ? NO_CODE : draw(5);
		d->inst_class[k] = (uint8_t)draw(CLASS_COUNT);
		d->tag[k] = (uint8_t)draw(9);
		if (i % 2 == 0)
			at += draw(4) == 0 ? draw(30) : d->dur_cyc[k] - draw(d->dur_cyc[k] / 4 + 1);
		else /* but for a few, one after the other */
			at += d->dur_cyc[k] + (draw(4) ? 0 : draw(20)) -
			      (i == 5 && draw(99) == 0 ? d->dur_cyc[k] / 2 : 0);
	}
	d->end_cyc = at + draw(40) - 10;
	return true;
}

static struct trace *make(uint32_t n_tracks, uint32_t n_slices)
{
	struct trace *t = trace_new();

	assert_non_null(t);
	t->n_code = 5;
	t->code = arena_zalloc(&t->arena, 5, sizeof(*t->code));
	t->n_tracks = n_tracks;
	t->tracks = arena_zalloc(&t->arena, n_tracks, sizeof(*t->tracks));
	for (uint32_t i = 0; i < n_tracks; i++) {
		t->tracks[i].n_slices = n_slices + i;
		t->tracks[i].name = "w";
	}
	t->loader.load = load_random;
	return t;
}

struct naive {						   /* by cycle */
	uint8_t slot[SPAN], is_stalled[SPAN], by[3][SPAN]; /* stalled: 2 if it is a wait */
};

/* Keys of slices: for causes, of gap and stall; for slices, of it. */
static uint8_t slice_keys[1000], issue_keys[256];

/* The rules, cycle by cycle: the first to start has it; buckets only inside the lifetime. */
static void count(const struct lane *l, struct naive *out)
{
	uint64_t prev = l->begin_cyc;

	memset(out, 255, sizeof(*out));
	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t start = lane_start(l, i), end = start + l->dur[i];
		uint8_t c = l->inst_class[i];

		for (uint64_t t = prev; t < start && t < SPAN; t++) {
			out->by[0][t] = BUCKET_IDLE;
			out->by[1][t] = slice_keys[i] >> 4;
		}
		for (uint64_t t = start > prev ? start : prev; t < end && t < SPAN; t++) {
			bool is_stall = t < start + l->stall[i];

			out->slot[t] = l->slot[c];
			out->is_stalled[t] =
				is_stall ? 1 + (class_stall_bucket(c) == BUCKET_WAIT) : 255;
			out->by[0][t] =
				(uint8_t)(is_stall ? class_stall_bucket(c) : class_issue_bucket(c));
			out->by[1][t] = is_stall ? slice_keys[i] & 15u : issue_keys[c];
			out->by[2][t] = slice_keys[i] % SPLIT_KEYS;
		}
		prev = end > prev ? end : prev;
	}
	for (uint64_t t = prev; t < l->end_cyc && t < SPAN; t++) {
		out->by[0][t] = BUCKET_IDLE;
		out->by[1][t] = 7;
	}
	for (uint64_t t = l->end_cyc; t < SPAN; t++)
		out->by[0][t] = out->by[1][t] = 255;
}

static void check_lane(const struct columns *c, uint32_t lane, const struct lane_split *splits,
	const struct naive *truth, unsigned step)
{
	unsigned mode = splits ? splits->mode - SPLIT_BUCKET : 0;
	struct split_row r = {.width = step, .n = SPAN / step};
	struct split_stop *stops = mem_alloc(r.n * sizeof(*stops));
	uint64_t want[LANE_SUMS] = {0}, got[LANE_SUMS];
	struct split_cursor one, row;
	uint32_t begun[2];

	split_begin(&one, c, splits, lane);
	split_begin(&row, c, splits, lane);
	split_find(&row, &r, stops);
	for (uint64_t at = 0; at < (uint64_t)r.n * step; at++) {
		uint8_t key = splits ? truth->by[mode][at] : truth->slot[at];

		if (at % step == 0) {
			uint32_t ended = split_at(&one, at, got, &begun[0]);

			got[SPLIT_UNKNOWN] = 0; /* records, not cycles */
			assert_memory_equal(
				got, want, (splits ? SPLIT_KEYS : LANE_SUMS) * sizeof(got[0]));
			split_fetch(&row, &stops[at / step]);
			assert_int_equal(
				split_at_stop(&row, at, &stops[at / step], got, &begun[1]), ended);
			got[SPLIT_UNKNOWN] = 0;
			assert_memory_equal(
				got, want, (splits ? SPLIT_KEYS : LANE_SUMS) * sizeof(got[0]));
			assert_int_equal(begun[0], begun[1]);
		}
		if (key != 255)
			want[key]++;
		if (!splits) {
			want[SPLIT_STALL] += truth->is_stalled[at] <= 2;
			want[SPLIT_WAIT] += truth->is_stalled[at] == 2;
		}
	}
	mem_free(stops);
}

/* Every third slice waited for something, if it is a wait. */
static bool find_waits(struct lane_waits *self, unsigned worker, track_idx track,
	const struct track_data *d, const struct lane_wait **v, size_t *n, struct incore_error *e)
{
	static struct lane_wait found[200];

	(void)self;
	(void)worker;
	(void)track;
	(void)e;
	for (*n = 0; *n < d->n / 3; ++*n)
		found[*n] = (struct lane_wait){(uint32_t)*n * 3, (uint8_t)(*n % SLOT_COUNT)};
	*v = found;
	return true;
}

/* Waits have the colour of what they waited for, in every way to look at them; other slices, the
 * hash of the content and what is lent keep their class. */
static void waits_have_colours(void **state)
{
	struct trace *t = make(1, 400);
	struct lane_waits waits = {find_waits};
	struct columns_options o = {.origin_cyc = 480};
	struct columns plain = {0}, c = {0};
	unsigned n = 0;

	(void)state;
	assert_true(columns_load(t, &o, &plain, NULL));
	o.waits = &waits;
	assert_true(columns_load(t, &o, &c, NULL));
	assert_true(c.lanes[0].hash == plain.lanes[0].hash);
	for (uint32_t i = 0; i < c.lanes[0].n; i++) {
		uint8_t was = plain.lanes[0].inst_class[i], now = c.lanes[0].inst_class[i];
		bool is_found = was == CLASS_WAIT && i % 3 == 0 && i / 3 < 400 / 3;

		n += is_found;
		assert_int_equal(class_plain(now), was);
		assert_int_equal(c.lanes[0].slot[now],
			is_found ? i / 3 % SLOT_COUNT : plain.lanes[0].slot[was]);
		assert_int_equal(class_stall_bucket(now), class_stall_bucket(was));
		assert_int_equal(class_issue_bucket(now), class_issue_bucket(was));
		assert_int_equal(class_unit(now), class_unit(was));
	}
	assert_true(n > 2);
	columns_deinit(&plain);
	columns_deinit(&c);
	trace_free(t);
}

static void sums_equal_counting(void **state)
{
	static const uint32_t widths[] = {SPLIT_WIDTH_NARROW, SPLIT_WIDTH, SPLIT_WIDTH};
	struct trace *t = make(6, 400);
	struct lane_waits waits = {find_waits};
	struct columns_options o = {.origin_cyc = 480, .waits = &waits};
	struct columns c = {0};
	struct lane_split splits[3][6] = {0};
	static struct naive truth;

	(void)state;
	for (unsigned i = 0; i < sizeof(slice_keys); i++)
		slice_keys[i] = (uint8_t)(draw(SPLIT_KEYS) << 4 | draw(SPLIT_KEYS));
	for (unsigned i = 0; i < sizeof(issue_keys); i++)
		issue_keys[i] = (uint8_t)draw(SPLIT_KEYS);
	assert_true(columns_load(t, &o, &c, NULL));
	assert_int_equal(c.n_lanes, 6);
	for (unsigned k = 0; k < 18; k++) {
		struct lane_split *s = &splits[k / 6][k % 6];
		const struct lane *l = &c.lanes[k % 6];

		*s = (struct lane_split){.mode = SPLIT_BUCKET + k / 6,
			.width = widths[k / 6],
			.keys = k < 6 ? NULL : slice_keys,
			.issue_key = issue_keys,
			.tail_key = 7};
		lane_split_index(l, s, mem_zalloc(lane_blocks(l->n), s->width * sizeof(uint32_t)));
	}
	for (uint32_t i = 0; i < c.n_lanes; i++) {
		count(&c.lanes[i], &truth);
		for (unsigned step = 1; step < 1500; step = step * 3 + 1) {
			check_lane(&c, i, NULL, &truth, step);
			for (unsigned k = 0; k < 3; k++)
				check_lane(&c, i, splits[k], &truth, step);
		}
	}
	for (unsigned k = 0; k < 18; k++)
		mem_free((void *)(uintptr_t)splits[k / 6][k % 6].sums);
	columns_deinit(&c);
	trace_free(t);
}

static void account_buckets(
	const struct track_data *d, uint64_t from, uint64_t to, uint64_t sums[BUCKET_COUNT])
{
	struct account a;

	for (account_begin(&a, d, from, to); account_next(&a);) {
		sums[BUCKET_IDLE] += a.gap_cyc + a.tail_cyc;
		sums[class_stall_bucket(d->inst_class[a.i])] += a.stall_cyc;
		sums[class_issue_bucket(d->inst_class[a.i])] += a.issue_cyc;
	}
	assert_int_equal(account_residue(&a), 0);
}

/* Any window of a track, cut by the walk of the analyses and by the index of the timeline; also of
 * a plain track whose last mark is full (21), which has its tail from the cursor's cover. */
static void index_agrees_with_account(void **state)
{
	struct trace *t = make(24, 299);
	struct lane_split splits[24] = {0};
	struct columns c = {0};

	(void)state;
	assert_true(columns_load(t, &(struct columns_options){0}, &c, NULL));
	for (track_idx i = 0; i < 24; i++) {
		const struct lane *l = &c.lanes[i];
		struct lane_split *s = &splits[i];
		uint32_t *rows = mem_zalloc(lane_blocks(l->n), SPLIT_WIDTH_NARROW * sizeof(*rows));
		struct track_data d = {0};

		assert_int_equal(c.first_lane[i], i);
		assert_true(load_random(t, i, 0, &d, NULL));
		*s = (struct lane_split){.mode = SPLIT_BUCKET, .width = SPLIT_WIDTH_NARROW};
		lane_split_index(l, s, rows);
		for (unsigned n = 0; n < 500; n++) {
			uint64_t from = 400 + draw(3000), to = from + draw(3000);
			uint64_t want[LANE_SUMS] = {0}, at[2][LANE_SUMS];
			struct split_cursor k;
			uint32_t begun;

			account_buckets(&d, from, to, want);
			split_begin(&k, &c, splits, i);
			split_at(&k, from, at[0], &begun);
			split_at(&k, to, at[1], &begun);
			for (unsigned b = 0; b < BUCKET_COUNT; b++)
				assert_int_equal(at[1][b] - at[0][b], want[b]);
		}
		mem_free(rows);
		track_data_deinit(&d);
	}
	columns_deinit(&c);
	trace_free(t);
}

/* The table of classes, in words. */
static void buckets_of_classes(void **state)
{
	(void)state;
	for (unsigned c = 0; c < 256; c++) {
		bool is_sync = c == CLASS_FLAG_WAIT || c == CLASS_SYNC; /* of Ascend: all of it */
		bool is_wait = is_sync || class_plain(c) == CLASS_WAIT || c == CLASS_BARRIER ||
			       c == CLASS_SLEEP;

		assert_int_equal(class_stall_bucket(c), is_wait		   ? BUCKET_WAIT
							: c == CLASS_DRAIN ? BUCKET_DRAIN
									   : BUCKET_STALL);
		assert_int_equal(class_issue_bucket(c), is_sync		   ? BUCKET_WAIT
							: c == CLASS_DRAIN ? BUCKET_DRAIN
									   : BUCKET_ISSUE);
	}
}

static void unknown_code_is_counted(void **state)
{
	struct trace *t = make(1, 300);
	struct columns_options o = {0};
	struct columns c = {0};
	struct split_cursor k;
	uint64_t got[LANE_SUMS];
	uint32_t begun, n = 0;

	(void)state;
	assert_true(columns_load(t, &o, &c, NULL));
	for (uint32_t i = 0; i < c.lanes[0].n; i++)
		n += c.lanes[0].code[i] == NO_CODE;
	split_begin(&k, &c, NULL, 0);
	assert_int_equal(split_at(&k, UINT64_MAX, got, &begun), 300);
	assert_int_equal(got[SPLIT_UNKNOWN], n);
	assert_int_equal(begun, 300);
	columns_deinit(&c);
	trace_free(t);
}

static bool load_long(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	(void)want;
	(void)e;
	(void)i;
	assert_true(track_data_reserve(d, t->tracks[i].n_slices));
	d->n = t->tracks[i].n_slices;
	for (uint32_t k = 0; k < d->n; k++) {
		d->start_cyc[k] = (uint64_t)k << 30;
		d->dur_cyc[k] = 1u << 29;
		d->stall_cyc[k] = 0;
		d->code[k] = 0;
		d->inst_class[k] = CLASS_VALU;
		d->tag[k] = 0;
	}
	d->begin_cyc = 0;
	d->end_cyc = (uint64_t)d->n << 30;
	return true;
}

/* A track longer than 32 bits is several lanes that read as one. */
static void long_tracks_are_split(void **state)
{
	struct trace *t = make(1, 40);
	struct columns_options o = {0};
	struct columns c = {0};
	struct split_cursor k;
	uint64_t got[LANE_SUMS];
	uint32_t begun, i;

	(void)state;
	t->loader.load = load_long;
	assert_true(columns_load(t, &o, &c, NULL));
	assert_true(c.n_lanes > 5);
	assert_int_equal(columns_count(&c, 0), 40);
	assert_non_null(columns_slice(&c, 0, 39, &i));
	assert_null(columns_slice(&c, 0, 40, &i));
	split_begin(&k, &c, NULL, 0);
	for (uint64_t at = 0; at <= 40; at++) {
		assert_int_equal(split_at(&k, at << 30, got, &begun), at);
		assert_int_equal(got[SLOT_VALU], at << 29);
	}
	assert_int_equal(c.end_cyc, (uint64_t)40 << 30);
	columns_deinit(&c);
	trace_free(t);
}

static void sub_lanes_fit_first(void **state)
{
	uint64_t start[] = {0, 5, 10, 10, 12, 30};
	uint32_t dur[] = {10, 10, 5, 2, 3, 1};
	struct track_data d = {.n = 6, .start_cyc = start, .dur_cyc = dur};
	uint8_t sub[6];
	static const uint8_t want[6] = {0, 1, 0, 2, 2, 0};

	(void)state;
	assert_int_equal(lane_pack_sub(&d, sub), 3);
	assert_memory_equal(sub, want, sizeof(want));
}

static void a_file_maps_back(void **state)
{
	char path[] = "/tmp/incore-columns-XXXXXX";
	int fd = mkstemp(path);
	struct trace *t = make(9, 150), *other = make(8, 150);
	struct columns_options o = {.origin_cyc = 480};
	struct columns heap = {0}, file = {0}, again = {0};
	uint64_t bad_key[2] = {1, 3};
	struct incore_error e = {0};
	FILE *f;

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	assert_true(columns_load(t, &o, &heap, NULL));
	o.spill_path = path;
	o.key[0] = 1;
	o.key[1] = 2;
	assert_true(columns_load(t, &o, &file, &e));
	assert_true(columns_map(path, t, o.key, &again, &e));
	assert_int_equal(again.n_slices, heap.n_slices);
	assert_int_equal(again.end_cyc, heap.end_cyc);
	for (uint32_t i = 0; i < heap.n_lanes; i++) {
		assert_int_equal(heap.lanes[i].hash, again.lanes[i].hash);
		assert_memory_equal(heap.lanes[i].sums, again.lanes[i].sums,
			lane_bytes(heap.lanes[i].n, false));
	}
	columns_deinit(&again);
	assert_false(columns_map(path, t, bad_key, &again, &e));
	assert_false(columns_map(path, other, o.key, &again, &e));
	f = fopen(path, "r+b");
	fseek(f, -20, SEEK_END);
	fputc(77, f);
	fclose(f);
	assert_false(columns_map(path, t, o.key, &again, &e));
	assert_int_equal(truncate(path, 100), 0);
	assert_false(columns_map(path, t, o.key, &again, &e));
	assert_int_equal(truncate(path, 10), 0);
	assert_false(columns_map(path, t, o.key, &again, &e));
	incore_error_clear(&e);
	columns_deinit(&heap);
	columns_deinit(&file);
	trace_free(t);
	trace_free(other);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_have_colours),
		cmocka_unit_test(sums_equal_counting),
		cmocka_unit_test(index_agrees_with_account),
		cmocka_unit_test(buckets_of_classes),
		cmocka_unit_test(unknown_code_is_counted),
		cmocka_unit_test(long_tracks_are_split),
		cmocka_unit_test(sub_lanes_fit_first),
		cmocka_unit_test(a_file_maps_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
