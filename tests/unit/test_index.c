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
#include "trace/index.h"

#define SPAN 6000u

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* Slices that may overlap, leave gaps, be empty or reach beyond the end. */
static bool load_random(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	uint64_t at = 500;

	(void)want;
	(void)e;
	seed = i + 7;
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
		at += draw(4) == 0 ? draw(30) : d->dur_cyc[k] - draw(d->dur_cyc[k] / 4 + 1);
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

struct naive { /* by cycle */
	uint8_t slot[SPAN], is_stalled[SPAN], bucket[SPAN];
};

/* The rules, cycle by cycle: the first to start has it; buckets only inside the lifetime. */
static void count(const struct lane *l, struct naive *out)
{
	uint64_t prev = l->begin_cyc;

	memset(out, 255, sizeof(*out));
	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t start = lane_start(l, i), end = start + l->dur[i];

		for (uint64_t t = prev; t < start && t < SPAN; t++)
			out->bucket[t] = BUCKET_IDLE;
		for (uint64_t t = start > prev ? start : prev; t < end && t < SPAN; t++) {
			bool is_stall = t < start + l->stall[i];

			out->slot[t] = l->slot[l->inst_class[i]];
			out->is_stalled[t] = is_stall ? 1 : 255;
			out->bucket[t] = (uint8_t)(is_stall ? slice_stall_bucket(l->inst_class[i])
							    : slice_issue_bucket(l->inst_class[i]));
		}
		prev = end > prev ? end : prev;
	}
	for (uint64_t t = prev; t < l->end_cyc && t < SPAN; t++)
		out->bucket[t] = BUCKET_IDLE;
	for (uint64_t t = l->end_cyc; t < SPAN; t++)
		out->bucket[t] = 255;
}

static void sums_equal_counting(void **state)
{
	struct trace *t = make(6, 200);
	struct columns_options o = {.origin_cyc = 480};
	struct columns c = {0};
	struct lane_split splits[6] = {0};
	static struct naive truth;

	(void)state;
	assert_true(columns_load(t, &o, &c, NULL));
	assert_int_equal(c.n_lanes, 6);
	for (uint32_t i = 0; i < c.n_lanes; i++) {
		uint32_t *sums = mem_zalloc(lane_blocks(c.lanes[i].n), 8 * sizeof(*sums));

		splits[i].mode = SPLIT_BUCKET;
		splits[i].width = SPLIT_WIDTH_NARROW;
		lane_split_index(&c.lanes[i], &splits[i], sums);
	}
	for (uint32_t i = 0; i < c.n_lanes; i++) {
		count(&c.lanes[i], &truth);
		for (unsigned step = 1; step < 700; step = step * 3 + 1) {
			struct split_cursor class, bucket;
			uint64_t want[LANE_SUMS] = {0}, lost = 0, by[BUCKET_COUNT] = {0};
			uint64_t got[LANE_SUMS];
			uint32_t begun;

			split_begin(&class, &c, NULL, i);
			split_begin(&bucket, &c, splits, i);
			for (uint64_t at = 0; at < SPAN; at++) {
				if (at % step == 0) {
					split_at(&class, at, got, &begun);
					for (unsigned k = 0; k < SLOT_COUNT; k++)
						assert_int_equal(got[k], want[k]);
					assert_int_equal(got[SPLIT_STALL], lost);
					split_at(&bucket, at, got, &begun);
					for (unsigned k = 0; k < BUCKET_COUNT; k++)
						assert_int_equal(got[k], by[k]);
				}
				if (truth.slot[at] != 255)
					want[truth.slot[at]]++;
				lost += truth.is_stalled[at] == 1;
				if (truth.bucket[at] != 255)
					by[truth.bucket[at]]++;
			}
		}
	}
	for (uint32_t i = 0; i < c.n_lanes; i++)
		mem_free((void *)(uintptr_t)splits[i].sums);
	columns_deinit(&c);
	trace_free(t);
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
		cmocka_unit_test(sums_equal_counting),
		cmocka_unit_test(unknown_code_is_counted),
		cmocka_unit_test(long_tracks_are_split),
		cmocka_unit_test(sub_lanes_fit_first),
		cmocka_unit_test(a_file_maps_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
