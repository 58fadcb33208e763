/* SPDX-License-Identifier: Apache-2.0 */
/* test_box.c: statistics of boxes against counting cycle by cycle, whatever the windows. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "draw.h"
#include "serve/view/select_walk.h"
#include "trace/index.h"

#define SPAN 4096u
#define TRACKS 7u
#define KEYS 16u

/* Tracks that overlap themselves, leave gaps, hold empty slices, begin together. */
static bool load_random(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	uint64_t at = 20;

	(void)want;
	(void)e;
	assert_true(track_data_reserve(d, t->tracks[i].n_slices));
	d->n = t->tracks[i].n_slices;
	d->begin_cyc = 10;
	for (uint32_t k = 0; k < d->n; k++) {
		d->start_cyc[k] = at;
		d->dur_cyc[k] = draw(9) == 0 ? 0 : 1 + draw(draw(6) ? 12 : 90);
		d->stall_cyc[k] = draw(d->dur_cyc[k] + 1);
		d->code[k] = draw(20) == 0 ? NO_CODE : draw(KEYS - 1);
		d->inst_class[k] = (uint8_t)draw(CLASS_COUNT);
		d->tag[k] = 0;
		at += draw(4) == 0 ? draw(30) : draw(d->dur_cyc[k] + 1);
	}
	d->end_cyc = at + draw(60);
	return true;
}

static struct trace *make(void)
{
	struct trace *t = trace_new();

	assert_non_null(t);
	t->n_code = KEYS - 1;
	t->code = arena_zalloc(&t->arena, KEYS, sizeof(*t->code));
	t->n_tracks = TRACKS;
	t->tracks = arena_zalloc(&t->arena, TRACKS, sizeof(*t->tracks));
	for (uint32_t i = 0; i < TRACKS; i++) {
		t->tracks[i].n_slices = i == 3 ? 0 : 40 + 30 * i;
		t->tracks[i].name = "w";
	}
	t->loader.load = load_random;
	return t;
}

struct naive {
	uint64_t count, sum, lost[2], families[KEYS];
	uint8_t is_covered[SPAN];
	uint32_t lengths[4096];
};

static void add(struct naive *v, uint32_t key, const struct box *b, uint64_t from, uint64_t to)
{
	for (unsigned all = 0; all < 2; all++) {
		struct naive *x = all ? &v[KEYS] : &v[key];

		x->lengths[x->count++] = (uint32_t)(to - from);
		for (uint64_t t = from; t < to; t++)
			if (t >= b->t0 && t < b->t1) {
				x->sum++;
				x->is_covered[t] = 1;
			}
	}
}

static void lose(
	struct naive *x, const struct box *b, uint64_t from, uint64_t to, const unsigned how[2])
{
	for (uint64_t t = from; t < to; t++)
		if (t >= b->t0 && t < b->t1) {
			x->lost[how[0]]++;
			x->families[how[1]]++;
		}
}

static void count_slices(const struct select_walk *w, const struct box *b, struct naive *v)
{
	for (uint32_t k = 0; k < w->n; k++) {
		const struct lane *l = &w->v->columns->lanes[w->now[k].lane];
		const struct lane_split *x = &w->causes[w->now[k].lane];

		for (uint32_t i = 0; i < l->n; i++) {
			uint64_t start = lane_start(l, i), end = start + l->dur[i];
			uint32_t key = l->code[i] == NO_CODE ? KEYS - 1 : l->code[i];
			uint8_t c = l->inst_class[i];
			bool is_wait = class_issue_bucket(c) == BUCKET_WAIT;
			unsigned how[2] = {is_wait || class_stall_bucket(c) == BUCKET_WAIT,
				is_wait ? x->issue_key[c] : x->keys[i] & 15u};

			if (start >= b->t1 || (end <= b->t0 && start < b->t0))
				continue;
			add(v, key, b, start, end);
			lose(&v[key], b, start, is_wait ? end : start + l->stall[i], how);
		}
	}
}

static void count_causes(const struct select_walk *w, const struct box *b, struct naive *v)
{
	for (uint32_t k = 0; k < w->n; k++) {
		const struct lane *l = &w->v->columns->lanes[w->now[k].lane];
		const struct lane_split *x = &w->causes[w->now[k].lane];
		uint32_t limit = lane_end(l);

		for (uint32_t i = 0; i <= l->n && l->n; i++) {
			struct pieces p =
				i < l->n ? lane_pieces_of(l, i)
					 : (struct pieces){lane_cover(l, i), limit, limit, limit};
			uint64_t at[4] = {p.gap, p.stall, p.issue, p.end};
			uint8_t keys[3] = {x->tail_key, 0, 0};

			if (i < l->n) {
				keys[0] = x->keys[i] >> 4;
				keys[1] = x->keys[i] & 15u;
				keys[2] = x->issue_key[l->inst_class[i]];
			}
			for (unsigned n = 0; n < 3; n++) {
				uint64_t from = l->base_cyc + at[n], to = at[n + 1];

				to = l->base_cyc + (to < limit ? to : limit);
				if (to > from && to > b->t0 && from < b->t1)
					add(v, keys[n], b, from, to);
			}
		}
	}
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void compare(const struct box_stat *s, struct naive *x, const uint64_t *families)
{
	uint64_t covered = 0, total = 0;

	for (uint32_t t = 0; t < SPAN; t++)
		covered += x->is_covered[t];
	qsort(x->lengths, x->count, sizeof(*x->lengths), by_value);
	assert_int_equal(s->count, x->count);
	assert_int_equal(s->sum, x->sum);
	assert_int_equal(s->union_cyc, covered);
	if (!x->count)
		return;
	for (uint64_t i = 0; i < x->count; i++)
		total += x->lengths[i];
	assert_int_equal(s->length_sum, total);
	assert_int_equal(s->min, x->lengths[0]);
	assert_int_equal(s->median, x->lengths[x->count / 2]);
	assert_int_equal(s->p95, x->lengths[x->count * 95 / 100]);
	assert_int_equal(s->max, x->lengths[x->count - 1]);
	if (!families)
		return;
	assert_int_equal(s->stall, x->lost[0]);
	assert_int_equal(s->wait, x->lost[1]);
	for (unsigned f = 0; f < KEYS; f++)
		assert_int_equal(families[f], x->families[f]);
}

/* A box of some tracks; small limits make many windows, and many passes over the lengths. */
static void check_box(const struct view *v, const struct lane_split *causes, unsigned round)
{
	static struct naive truth[KEYS + 1];
	uint32_t first = draw(TRACKS), last = first + draw(TRACKS - first);
	struct query_ranges tracks = {.n = 1, .v = {{first, last}}};
	uint64_t t0 = draw(1500), t1 = t0 + (round % 9 == 0 ? 0 : draw(2500));
	bool by_cause = round % 2;
	struct box b;
	struct select_walk w = {.v = v,
		.columns = v->columns,
		.box = &b,
		.by = by_cause ? BY_CAUSE : BY_ROW,
		.causes = causes};

	memset(truth, 0, sizeof(truth));
	assert_true(box_init(&b, t0, t1, KEYS, by_cause ? 0 : KEYS));
	if (round % 3) {
		b.max_pieces = 1 + draw(40);
		b.lengths.n_bins = draw(10);
		b.lengths.max_far = 60 + draw(90);
	}
	assert_true(select_walk_init(&w, &tracks));
	(by_cause ? count_causes : count_slices)(&w, &b, truth);
	assert_true(select_walk_run(&w) && box_finish(&b));
	assert_true(b.has_quantiles);
	compare(&b.total, &truth[KEYS], NULL);
	for (uint32_t i = 0; i < b.n_stats; i++) {
		uint32_t key = b.stats[i].key;

		assert_true(i == 0 || b.stats[i - 1].sum >= b.stats[i].sum);
		compare(&b.stats[i], &truth[key], by_cause ? NULL : b.families + key * KEYS);
		truth[key].count = 0;
	}
	for (uint32_t k = 0; k < KEYS; k++)
		assert_int_equal(truth[k].count, 0);
	select_walk_deinit(&w);
	box_deinit(&b);
}

static void boxes_equal_counting(void **state)
{
	struct trace *t = make();
	struct columns_options o = {0};
	struct columns c = {0};
	struct view v = {.trace = t, .columns = &c};
	struct lane_split causes[TRACKS];
	static uint8_t keys[1000], issue[256];

	(void)state;
	assert_true(columns_load(t, &o, &c, NULL));
	assert_int_equal(c.n_lanes, TRACKS);
	assert_true(c.end_cyc < SPAN);
	for (unsigned i = 0; i < sizeof(keys); i++)
		keys[i] = (uint8_t)draw(256);
	for (unsigned i = 0; i < sizeof(issue); i++)
		issue[i] = (uint8_t)draw(KEYS);
	for (uint32_t i = 0; i < TRACKS; i++)
		causes[i] = (struct lane_split){.keys = keys, .issue_key = issue, .tail_key = 3};
	for (unsigned round = 0; round < 600; round++)
		check_box(&v, causes, round);
	columns_deinit(&c);
	trace_free(t);
}

/* Lengths that never fit leave quantiles unknown, and nothing else. */
static void too_many_lengths(void **state)
{
	struct box b;

	(void)state;
	assert_true(box_init(&b, 0, 1000, 2, 0));
	b.lengths.n_bins = b.lengths.max_far = 0;
	box_window(&b, 0, 1000);
	assert_true(box_add(&b, 5, (struct box_piece){.key = 1, .inside = 10, .length = 12}));
	assert_true(box_add(&b, 0, (struct box_piece){.key = 1, .inside = 8, .length = 8}));
	box_flush(&b);
	assert_true(box_finish(&b));
	assert_false(b.has_quantiles);
	assert_int_equal(b.n_stats, 1);
	assert_int_equal(b.stats[0].sum, 18);
	assert_int_equal(b.stats[0].union_cyc, 15);
	assert_int_equal(b.total.max, 12);
	box_deinit(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(boxes_equal_counting),
		cmocka_unit_test(too_many_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
