/* SPDX-License-Identifier: Apache-2.0 */
/* test_packed_filter.c: with a filter, a packed track gives the slices that it asks for as the whole
 * track has them, each with its number; and where runs can be passed over, little else. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>

#include "mem_trace.h"
#include "trace/packed.h"

#define N_CODE 700u
#define N_SLICES 70000u /* more than a block holds */

/* Parts of a wave: straight code, long waits, slices that overlap, unknown code, gaps of all sizes. */
enum part { STRAIGHT, LONG_STALLS, OVERLAPPING, JUMPING, GAPS, PART_COUNT };

static uint64_t roll(uint64_t *seed, uint64_t below)
{
	*seed = *seed * 6364136223846793005u + 1442695040888963407u;
	return (*seed >> 33) % below;
}

static struct mem_record *make_wave(bool is_mixed, uint64_t seed, unsigned quantum, uint32_t n)
{
	struct mem_record *r = calloc(n, sizeof(*r));
	uint64_t at = 1000 * (uint64_t)quantum;
	uint32_t line = 1;
	enum part part = STRAIGHT;

	assert_non_null(r);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t stall = (uint32_t)roll(&seed, 3) * 4;

		if (i % 500 == 0 && is_mixed)
			part = (enum part)roll(&seed, PART_COUNT);
		if (part == LONG_STALLS && roll(&seed, 10) == 0)
			stall = (uint32_t)roll(&seed, 1u << roll(&seed, 25));
		if (part == JUMPING && roll(&seed, 4) == 0)
			line = (uint32_t)roll(&seed, N_CODE + 20); /* some are no row */
		if (part == GAPS)
			at += roll(&seed, 1u << roll(&seed, 20)) * quantum;
		r[i] = (struct mem_record){.time = at,
			.category = 1 + (uint32_t)roll(&seed, 12),
			.stall = stall * quantum,
			.duration = (stall + 4) * quantum,
			.line = line};
		if (part != OVERLAPPING || roll(&seed, 3))
			at += r[i].duration;
		line = line + 1 < N_CODE ? line + 1 : 1;
	}
	return r;
}

/* A wave as a packed file in memory. */
struct packed_wave {
	struct mem_code code[N_CODE];
	struct mem_record *records;
	struct mem_wave wave;
	struct mem_capture capture;
	char *bytes;
	struct trace *made, *trace;
	struct track_data whole;
};

static struct packed_wave *wave_new(uint64_t seed, unsigned quantum, uint32_t n)
{
	struct packed_wave *w = calloc(1, sizeof(*w));
	struct packed_result result;
	struct packed_options o = {0};
	struct incore_error e = {0};
	size_t size;
	FILE *f;

	assert_non_null(w);
	for (unsigned i = 0; i < N_CODE; i++)
		w->code[i].text = i ? i % 5 ? "v_add_f32 v0, v1, v2" : "s_nop 0" : "; k";
	w->records = make_wave(seed != STRAIGHT, seed, quantum, n);
	w->wave = (struct mem_wave){.begin = 1000 * (uint64_t)quantum,
		.end = UINT32_MAX,
		.records = w->records,
		.n_records = n};
	w->capture = (struct mem_capture){MEM_CODE(w->code), .waves = &w->wave, .n_waves = 1};
	w->made = mem_trace_new(&w->capture);
	w->made->meta.clock_quantum = quantum;
	f = open_memstream(&w->bytes, &size);
	assert_non_null(f);
	assert_true(packed_write(w->made, f, &o, &result, &e));
	fclose(f);
	w->trace = trace_new();
	w->trace->meta.origin = "wave";
	assert_true(packed_read_bytes((const uint8_t *)w->bytes, size, "wave", w->trace, &e));
	assert_true(trace_seal(w->trace, &e));
	assert_true(trace_load_track(w->trace, 0, 0, &w->whole, &e));
	assert_int_equal(w->whole.n, n);
	assert_false(w->whole.is_part);
	return w;
}

static void wave_free(struct packed_wave *w)
{
	track_data_deinit(&w->whole);
	trace_free(w->trace);
	trace_free(w->made);
	free(w->bytes);
	free(w->records);
	free(w);
}

static bool asks_for(const struct slice_filter *f, const struct track_data *d, uint32_t i)
{
	return d->start_cyc[i] >= f->first_cyc && d->start_cyc[i] <= f->last_cyc &&
	       d->code[i] >= f->first_code && d->code[i] <= f->last_code;
}

/* Columns that are read at all with `less` are as in the whole; d->start and d->code may be missing. */
static void same_slice(const struct track_data *d, uint32_t k, const struct track_data *whole,
	uint32_t i, unsigned less)
{
	if (!(less & TRACK_NO_START))
		assert_int_equal(d->start_cyc[k], whole->start_cyc[i]);
	if (!(less & TRACK_NO_CODE))
		assert_int_equal(d->code[k], whole->code[i]);
	if (!(less & TRACK_NO_CLASS))
		assert_int_equal(d->inst_class[k], whole->inst_class[i]);
	if (!(less & TRACK_NO_TAG))
		assert_int_equal(d->tag[k], whole->tag[i]);
	if (less & TRACK_NO_LENGTH)
		return;
	assert_int_equal(d->dur_cyc[k], whole->dur_cyc[i]);
	assert_int_equal(d->stall_cyc[k], whole->stall_cyc[i]);
}

/* Returns how many slices came. */
static uint32_t check_filter(
	const struct packed_wave *w, const struct slice_filter *f, unsigned less)
{
	struct track_data d = {.filter = f};
	struct incore_error e = {0};
	uint32_t k = 0, n;

	assert_true(trace_load_track(w->trace, 0, less, &d, &e));
	assert_true(d.is_part);
	for (uint32_t i = 0; i < w->whole.n; i++) {
		bool is_there = k < d.n && d.number[k] == i;

		assert_true(is_there || !asks_for(f, &w->whole, i));
		if (is_there)
			same_slice(&d, k++, &w->whole, i, less);
	}
	assert_int_equal(k, d.n);
	n = d.n;
	track_data_deinit(&d);
	return n;
}

static struct slice_filter random_filter(const struct packed_wave *w, uint64_t *seed)
{
	struct slice_filter f = {0, UINT64_MAX, 0, UINT32_MAX};
	uint32_t i = (uint32_t)roll(seed, w->whole.n), kind = (uint32_t)roll(seed, 3);

	if (kind != 0) {
		f.first_cyc = w->whole.start_cyc[i] + roll(seed, 3) - 1;
		f.last_cyc = f.first_cyc + roll(seed, 1u << roll(seed, 20));
	}
	if (kind != 1) {
		f.first_code = (uint32_t)roll(seed, N_CODE);
		f.last_code = f.first_code + (uint32_t)roll(seed, 1u << roll(seed, 8));
	}
	return f;
}

/* The columns that a limit is on must be read. */
static unsigned random_less(const struct slice_filter *f, uint64_t *seed)
{
	unsigned less = (unsigned)roll(seed, 32) << 3;

	if (f->first_cyc || f->last_cyc < UINT64_MAX)
		less &= ~(unsigned)TRACK_NO_START;
	if (f->first_code || f->last_code < UINT32_MAX)
		less &= ~(unsigned)TRACK_NO_CODE;
	return less;
}

static void test_packed_filter_random(void **state)
{
	static const unsigned quanta[] = {1, 4, 1024, 4096};

	(void)state;
	for (unsigned q = 0; q < sizeof(quanta) / sizeof(quanta[0]); q++) {
		struct packed_wave *w = wave_new(77 + q, quanta[q], q ? 9000 : N_SLICES);
		uint64_t seed = q;

		for (unsigned i = 0; i < 60; i++) {
			struct slice_filter f = random_filter(w, &seed);

			check_filter(w, &f, random_less(&f, &seed));
		}
		wave_free(w);
	}
}

/* Straight code and short stalls: what is asked for comes with less than a run on both sides. */
static void test_packed_filter_passes_over(void **state)
{
	struct packed_wave *w = wave_new(STRAIGHT, 1, 490);
	struct slice_filter rows = {0, UINT64_MAX, 300, 302}, none = {0, UINT64_MAX, 600, 602};
	struct slice_filter time = {
		w->whole.start_cyc[200], w->whole.start_cyc[203], 0, UINT32_MAX};

	(void)state;
	assert_int_equal(w->whole.code[489], 490); /* one part of straight code */
	assert_in_range(check_filter(w, &rows, TRACK_NO_START), 3, 64);
	assert_in_range(check_filter(w, &rows, 0), 3, 64);
	assert_in_range(check_filter(w, &time, TRACK_NO_CODE), 4, 96);
	assert_in_range(check_filter(w, &time, 0), 4, 96);
	assert_int_equal(check_filter(w, &none, 0), 490 % 32); /* the rest of a piece is taken */
	wave_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed_filter_random),
		cmocka_unit_test(test_packed_filter_passes_over),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
