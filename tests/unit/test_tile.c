/* SPDX-License-Identifier: Apache-2.0 */
/* test_tile.c: cells of lanes of several tracks, against adding up those tracks cycle by cycle. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "analysis/waves/matrix_passes.h"
#include "base/mem.h"
#include "serve/view/tile_frame.h"
#include "serve/view/view.h"
#include "serve/view/view_track.h"
#include "trace/account.h"

#define TRACKS 9u
#define SPAN (12u * VIEW_TILE_CELLS)
#define HEAD 32u
#define MAX_KEYS 12u
#define FLAG_EDGE 8u

typedef bool view_fn(
	const struct view *, const struct query *, struct strbuf *, struct incore_error *);

static uint64_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(seed >> 33) % below;
}

/* 0 to 5 follow one another, one cycle apart or many; the rest lie across them. */
static bool load_random(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	uint64_t at = t->tracks[i].begin_cyc;

	(void)want;
	(void)e;
	assert_true(track_data_reserve(d, t->tracks[i].n_slices));
	d->n = t->tracks[i].n_slices;
	d->begin_cyc = at;
	for (uint32_t k = 0; k < d->n; k++) {
		at += draw(3) ? 0 : draw(9);
		d->start_cyc[k] = at;
		d->dur_cyc[k] = 1 + draw(draw(6) ? 6 : 40);
		d->stall_cyc[k] = draw(d->dur_cyc[k] + 1);
		d->code[k] = draw(5);
		d->inst_class[k] = (uint8_t)draw(CLASS_COUNT);
		d->tag[k] = 0;
		at += d->dur_cyc[k];
	}
	d->end_cyc = t->tracks[i].end_cyc;
	assert_true(at <= d->end_cyc);
	return true;
}

static struct trace *make(void)
{
	static const char *const texts[] = {"v_add", "v_mul", "s_add", "s_nop", "v_mov"};
	struct trace *t = trace_new();

	assert_non_null(t);
	t->n_code = 5;
	t->code = arena_zalloc(&t->arena, t->n_code, sizeof(*t->code));
	for (uint32_t i = 0; i < t->n_code; i++) {
		t->code[i].text = texts[i];
		t->code[i].text_len = (uint32_t)strlen(texts[i]);
		t->code[i].source = "";
	}
	t->n_tracks = TRACKS;
	t->tracks = arena_zalloc(&t->arena, TRACKS, sizeof(*t->tracks));
	for (uint32_t i = 0; i < TRACKS; i++) {
		struct track *k = &t->tracks[i];

		k->name = "w";
		k->n_slices = i == 4 ? 0 : 1 + draw(12);
		k->begin_cyc =
			i < 6 ? (i ? t->tracks[i - 1].end_cyc + (i % 2 ? 1 : 140) : 37) : draw(300);
		k->end_cyc = k->begin_cyc + 50u * k->n_slices + draw(30);
		k->kernel_id = i % 3 == 2 ? UINT32_MAX : 1 + i % 3;
	}
	t->loader.load = load_random;
	return t;
}

static void ask(struct view *v, view_fn *answer, const char *target, struct strbuf *out)
{
	struct query q;
	struct incore_error e = {0};

	assert_true(query_parse(&q, str_of(target), &e));
	assert_true(view_need(v, view_needs(&q), NULL, &e));
	assert_true(answer(v, &q, out, &e));
}

/* Every cycle of each track alone, as a tile of level 0 shows it. */
static void ask_cycles(struct view *v, view_fn *answer, const char *path, uint8_t *cycles)
{
	for (unsigned i = 0; i < SPAN / VIEW_TILE_CELLS; i++) {
		struct strbuf out = {0};
		char target[200];

		snprintf(
			target, sizeof(target), "%s&tracks=0-%u&level=0&i=%u", path, TRACKS - 1, i);
		ask(v, answer, target, &out);
		assert_int_equal(out.n, HEAD + TRACKS * VIEW_TILE_CELLS * TILE_CELL_BYTES);
		for (unsigned t = 0; t < TRACKS; t++)
			memcpy(cycles + ((size_t)t * SPAN + (size_t)i * VIEW_TILE_CELLS) * 4,
				out.p + HEAD + (size_t)t * VIEW_TILE_CELLS * 4,
				VIEW_TILE_CELLS * 4);
		sb_free(&out);
	}
}

struct lane_of {
	uint32_t first, last;
	uint32_t kernel; /* 0: any */
};

static bool is_in(const struct view *v, const struct lane_of *l, uint32_t t)
{
	uint32_t id = v->trace->tracks[t].kernel_id;

	return t >= l->first && t <= l->last && (!l->kernel || id == UINT32_MAX || id == l->kernel);
}

static void expect_cell(const struct view *v, const uint8_t *cycles, const struct lane_of *l,
	const uint8_t *cell, uint32_t at, unsigned level)
{
	uint64_t sums[MAX_KEYS] = {0}, covered = 0, lost = 0;
	unsigned best = 0, edge = 0;

	for (uint32_t t = 0; t < TRACKS; t++)
		for (uint32_t c = at; is_in(v, l, t) && c < at + (1u << level) && c < SPAN; c++) {
			const uint8_t *p = cycles + ((size_t)t * SPAN + c) * 4;

			edge |= p[3] & FLAG_EDGE;
			lost += p[2] == 255;
			if (p[0] == CELL_NOTHING)
				continue;
			assert_true(p[0] < MAX_KEYS && p[1] == 255);
			sums[p[0]]++;
			covered++;
		}
	for (unsigned k = 1; k < MAX_KEYS; k++)
		best = sums[k] > sums[best] ? k : best;
	assert_int_equal(cell[0], covered ? best : CELL_NOTHING);
	assert_int_equal(cell[1], tile_share(covered, level));
	assert_int_equal(cell[2], tile_share(lost, level));
	assert_int_equal(cell[3] & FLAG_EDGE, edge);
}

static void check(struct view *v, view_fn *answer, const char *path)
{
	static const struct lane_of lanes[][2] = {{{0, 5, 0}, {6, 6, 0}}, {{0, 1, 0}, {2, 5, 0}},
		{{0, 8, 0}, {4, 4, 0}}, {{0, 5, 1}, {3, 8, 1}}, {{0, 8, 2}, {1, 1, 2}}};
	uint8_t *cycles = mem_zalloc((size_t)TRACKS * SPAN, 4);

	ask_cycles(v, answer, path, cycles);
	for (unsigned n = 0; n < sizeof(lanes) / sizeof(lanes[0]); n++)
		for (unsigned level = 0; level < 9; level++) {
			struct strbuf out = {0};
			char target[200], kernel[20] = "";

			if (lanes[n][0].kernel)
				snprintf(kernel, sizeof(kernel), "&kernel=%u", lanes[n][0].kernel);
			snprintf(target, sizeof(target), "%s%s&lanes=%u-%u,%u-%u&level=%u&i=%u",
				path, kernel, lanes[n][0].first, lanes[n][0].last,
				lanes[n][1].first, lanes[n][1].last, level, level < 2);
			ask(v, answer, target, &out);
			assert_int_equal(out.n, HEAD + 2 * VIEW_TILE_CELLS * TILE_CELL_BYTES);
			for (unsigned c = 0; c < 2 * VIEW_TILE_CELLS; c++)
				expect_cell(v, cycles, &lanes[n][c / VIEW_TILE_CELLS],
					(uint8_t *)out.p + HEAD + (size_t)c * 4,
					(c % VIEW_TILE_CELLS + (level < 2) * VIEW_TILE_CELLS)
						<< level,
					level);
			sb_free(&out);
		}
	mem_free(cycles);
}

/* Each cycle in one bucket: as the analyses account for it, as tiles draw it, and the sum of all
 * slices as a click on them says. */
static void agrees_with_account(struct view *v)
{
	uint8_t *cycles = mem_zalloc((size_t)TRACKS * SPAN, 4), *want = mem_alloc(SPAN);
	struct view_track k = {0};

	ask_cycles(v, view_tile, "/api/1/tile?mode=bucket", cycles);
	for (track_idx t = 0; t < TRACKS; t++) {
		const struct lane *l = &v->columns->lanes[v->columns->first_lane[t]];
		uint64_t slices[BUCKET_COUNT] = {0}, all[BUCKET_COUNT] = {0};
		struct account a;

		assert_true(view_track_load(v, NULL, t, &k, NULL));
		memset(want, CELL_NOTHING, SPAN);
		account_begin(&a, &k.data, 0, UINT64_MAX);
		memset(want + a.lo, BUCKET_IDLE, a.hi - a.lo); /* gaps and the tail */
		while (account_next(&a)) {
			enum inst_class c = k.data.inst_class[a.i];

			memset(want + a.at.stall, class_stall_bucket(c), a.stall_cyc);
			memset(want + a.at.issue, class_issue_bucket(c), a.issue_cyc);
			slice_buckets(v, l, a.i, slices);
		}
		for (uint32_t at = 0; at < SPAN; at++) {
			assert_int_equal(cycles[((size_t)t * SPAN + at) * 4], want[at]);
			if (want[at] < BUCKET_COUNT)
				all[want[at]]++;
		}
		if (k.data.n)
			assert_memory_equal(slices, all, sizeof(all));
	}
	view_track_deinit(&k);
	mem_free(cycles);
	mem_free(want);
}

static void lanes_of_tracks(void **state)
{
	(void)state;
	for (seed = 1; seed < 9; seed++) {
		uint64_t kept = seed;
		struct trace *t = make();
		struct columns c = {0};
		struct view v = {.trace = t, .columns = &c, .hash = "0"};

		assert_true(columns_load(t, &(struct columns_options){0}, &c, NULL));
		assert_true(c.end_cyc <= SPAN);
		assert_true(view_index_make(&v, NULL));
		check(&v, view_tile, "/api/1/tile?mode=class");
		check(&v, view_tile, "/api/1/tile?mode=bucket");
		agrees_with_account(&v);
		check(&v, view_tile, "/api/1/tile?mode=kernel");
		check(&v, view_found, "/api/1/found?q=v_");
		view_index_free(&v);
		columns_deinit(&c);
		trace_free(t);
		seed = kept;
	}
}

/* A pass that was issued before 65,536 cycles and lasts beyond, and one that outlives its wave. */
#define PASS_AT 65530u
static bool load_passes(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	static const uint64_t starts[] = {100, 104, PASS_AT, PASS_AT + 400};

	(void)want;
	(void)e;
	assert_true(track_data_reserve(d, 4));
	d->n = 4;
	d->begin_cyc = t->tracks[i].begin_cyc;
	d->end_cyc = t->tracks[i].end_cyc;
	for (uint32_t k = 0; k < d->n; k++) {
		d->start_cyc[k] = starts[k];
		d->dur_cyc[k] = 4;
		d->stall_cyc[k] = 0;
		d->code[k] = 0;
		d->inst_class[k] = CLASS_MATRIX;
		d->tag[k] = 0;
	}
	return true;
}

static uint32_t busy_of(struct view *v, unsigned row, unsigned level, uint64_t at)
{
	struct strbuf out = {0};
	char target[100];
	const uint8_t *p;
	uint32_t n;

	snprintf(target, sizeof(target), "/api/1/units?simds=0&level=%u&i=%u", level,
		(unsigned)((at >> level) / VIEW_TILE_CELLS));
	ask(v, view_units, target, &out);
	p = (uint8_t *)out.p + HEAD +
	    ((size_t)row * VIEW_TILE_CELLS + (at >> level) % VIEW_TILE_CELLS) * 4;
	n = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	sb_free(&out);
	return n;
}

static void passes_of_the_matrix_pipe(void **state)
{
	static const char text[] = "v_mfma_f32_32x32x8_f16 a[0:15], v[0:1], v[2:3], a[0:15]";
	static const char *const levels[TRACK_LEVELS] = {"se", "cu", "simd", "slot", "wave"};
	struct trace *t = make();
	struct columns c = {0};
	struct view v = {.trace = t, .columns = &c, .hash = "0"};
	uint32_t passes[5];

	(void)state;
	memcpy(t->levels, levels, sizeof(levels));
	t->meta.arch = "gfx942";
	t->n_tracks = 1;
	t->tracks[0].n_slices = 4;
	t->tracks[0].begin_cyc = 0;
	t->tracks[0].end_cyc = PASS_AT + 410;
	t->code[0].text = text;
	t->code[0].text_len = sizeof(text) - 1;
	t->code[0].inst_class = CLASS_MATRIX;
	t->loader.load = load_passes;
	assert_int_equal(matrix_passes(t, passes), 32);
	assert_int_equal(passes[0], 32);
	assert_int_equal(passes[1], 0);
	assert_true(columns_load(t, &(struct columns_options){0}, &c, NULL));
	assert_true(view_index_make(&v, NULL));
	for (uint64_t at = 98; at < 140; at++) /* two at once are busy once */
		assert_int_equal(busy_of(&v, 2, 0, at), at >= 100 && at < 136);
	for (uint64_t at = PASS_AT - 2; at < PASS_AT + 36; at++) {
		assert_int_equal(busy_of(&v, 1, 0, at), at >= PASS_AT && at < PASS_AT + 4);
		assert_int_equal(busy_of(&v, 2, 0, at), at >= PASS_AT && at < PASS_AT + 32);
	}
	assert_int_equal(busy_of(&v, 2, 16, 0), 36 + 6);
	assert_int_equal(busy_of(&v, 2, 16, 65536), 26 + 10);
	assert_int_equal(busy_of(&v, 1, 16, 65536), 4);
	view_index_free(&v);
	columns_deinit(&c);
	trace_free(t);
}

static void refuses(const struct view *v, const char *target)
{
	struct strbuf out = {0};
	struct query q;
	struct incore_error e = {0};

	assert_true(query_parse(&q, str_of(target), &e));
	assert_false(view_tile(v, &q, &out, &e));
	assert_int_equal(e.status, INCORE_USAGE);
	assert_int_equal(out.n, 0);
	incore_error_clear(&e);
}

static void bad_lanes(void **state)
{
	struct trace *t = make();
	struct columns c = {0};
	struct view v = {.trace = t, .columns = &c, .hash = "0"};
	char many[1024] = "/api/1/tile?level=0&i=0&lanes=0";

	(void)state;
	assert_true(columns_load(t, &(struct columns_options){0}, &c, NULL));
	refuses(&v, "/api/1/tile?level=0&i=0&lanes=");
	refuses(&v, "/api/1/tile?level=0&i=0&lanes=0-9");
	refuses(&v, "/api/1/tile?level=0&i=0&lanes=3-2");
	refuses(&v, "/api/1/tile?level=0&i=0&lanes=0&kernel=x");
	refuses(&v, "/api/1/tile?level=0&lanes=0");
	for (unsigned i = 0; i < VIEW_MAX_TRACKS; i++)
		strcat(many, ",0");
	refuses(&v, many);
	columns_deinit(&c);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(lanes_of_tracks),
		cmocka_unit_test(passes_of_the_matrix_pipe), cmocka_unit_test(bad_lanes)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
