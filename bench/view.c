/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c: the viewer's answers on many slices: how long columns and sums take, a tile, a box, a
 * search; as figures and per slice. The trace is made here: waves of a loop of loads, waits, matrix
 * and vector instructions. usage: view MILLIONS LANES
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/mem.h"
#include "serve/view/view.h"

#define ROWS 64u
#define TILES 400u

/* Of this process alone: the machine may be busy with others. */
static double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint64_t seed = 88172645463325252u;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 33) % below;
}

static const uint8_t classes[] = {CLASS_VMEM_LOAD, CLASS_SALU, CLASS_VALU, CLASS_MATRIX, CLASS_WAIT,
	CLASS_LDS, CLASS_VALU, CLASS_MATRIX};

static bool load_track(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	uint32_t n = t->tracks[i].n_slices;
	uint64_t at = draw(1000);

	(void)want;
	if (!track_data_reserve(d, n))
		return err_nomem(e);
	d->begin_cyc = at;
	for (uint32_t k = 0; k < n; k++) {
		uint8_t c = classes[k % sizeof(classes)];
		uint32_t stall = c == CLASS_WAIT ? draw(400) : draw(8) == 0 ? draw(32) : 0;

		d->start_cyc[k] = at;
		d->dur_cyc[k] = stall + 4;
		d->stall_cyc[k] = stall;
		d->code[k] = k % ROWS;
		d->inst_class[k] = c;
		d->tag[k] = 0;
		at += d->dur_cyc[k] + (draw(6) == 0 ? 4 : 0);
	}
	d->n = n;
	d->end_cyc = at;
	return true;
}

static struct trace *make_trace(uint64_t n_slices, uint32_t lanes)
{
	struct trace *t = trace_new();

	if (!t)
		exit(1);
	t->n_code = ROWS;
	t->code = arena_zalloc(&t->arena, ROWS, sizeof(*t->code));
	t->n_tracks = lanes;
	t->tracks = arena_zalloc(&t->arena, lanes, sizeof(*t->tracks));
	if (!t->code || !t->tracks)
		exit(1);
	for (uint32_t i = 0; i < ROWS; i++) {
		t->code[i].text = arena_printf(&t->arena, "v_op%u v%u, v%u", i % 16, i, i + 1);
		t->code[i].text_len = (uint32_t)strlen(t->code[i].text);
		t->code[i].number = i;
	}
	for (uint32_t i = 0; i < lanes; i++) {
		t->tracks[i].n_slices = (uint32_t)(n_slices / lanes);
		t->tracks[i].name = "wave";
		t->tracks[i].kernel_id = UINT32_MAX;
	}
	t->loader.load = load_track;
	return t;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static double ask(struct view *v, const char *target, size_t *bytes,
	bool (*answer)(
		const struct view *, const struct query *, struct strbuf *, struct incore_error *))
{
	struct incore_error e = {0};
	struct strbuf out = {0};
	struct query q;
	double from = now_ms();

	if (!query_parse(&q, str_of(target), &e) || !view_need(v, view_needs(&q), v, &e) ||
		!answer(v, &q, &out, &e)) {
		fprintf(stderr, "view: %s: %s\n", target, e.message ? e.message : "failed");
		exit(1);
	}
	*bytes = out.n;
	sb_free(&out);
	return now_ms() - from;
}

static void tiles(struct view *v, const char *mode, unsigned least, unsigned most)
{
	static double ms[TILES];
	double sum = 0;
	size_t bytes = 0;
	char target[128];

	for (unsigned i = 0; i < TILES; i++) {
		unsigned level = least + draw(most - least + 1);
		uint64_t tiles_at = (v->columns->end_cyc >> level) / VIEW_TILE_CELLS + 1;
		uint32_t lane = v->columns->n_tracks > 60 ? draw(v->columns->n_tracks - 60) : 0;

		snprintf(target, sizeof(target),
			"/api/1/tile?tracks=%u-%u&level=%u&i=%" PRIu64 "&mode=%s", lane, lane + 59,
			level, (uint64_t)draw((uint32_t)tiles_at), mode);
		ms[i] = ask(v, target, &bytes, view_tile);
		sum += ms[i];
	}
	qsort(ms, TILES, sizeof(*ms), by_value);
	printf("tile 60 x 512, %-6s levels %2u-%2u  p50 %6.2f ms  p95 %6.2f ms  %5.1f ns a cell\n",
		mode, least, most, ms[TILES / 2], ms[TILES * 95 / 100],
		sum / TILES * 1e6 / (60.0 * VIEW_TILE_CELLS));
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) * 1000000u : 20000000u;
	uint32_t lanes = argc > 2 ? (uint32_t)strtoul(argv[2], NULL, 10) : 1024;
	struct trace *t = make_trace(n, lanes);
	struct columns c = {0};
	struct columns_options o = {0};
	struct incore_error e = {0};
	struct view v = {.trace = t, .columns = &c};
	double from = now_ms(), index;
	uint64_t bytes = 0;
	char target[128];
	size_t size;

	if (lanes < 60 || !columns_load(t, &o, &c, &e))
		return 1;
	printf("%" PRIu64 " slices on %u lanes, made and laid out in %.0f ms\n", c.n_slices, lanes,
		now_ms() - from);
	from = now_ms();
	for (uint32_t i = 0; i < c.n_lanes; i++) {
		lane_index(&c.lanes[i]);
		bytes += lane_bytes(c.lanes[i].n, false);
	}
	index = now_ms() - from;
	printf("index %.0f ms, %.1f ns a slice; columns and index %.2f bytes a slice\n", index,
		index * 1e6 / (double)c.n_slices, (double)bytes / (double)c.n_slices);
	tiles(&v, "class", 0, 4);
	tiles(&v, "class", 5, 10);
	tiles(&v, "class", 11, 16);
	for (unsigned level = 12; level <= 15; level++)
		tiles(&v, "class", level, level); /* the dearest: a block or more apart */
	tiles(&v, "bucket", 5, 16);
	snprintf(target, sizeof(target), "/api/1/select?t0=0&t1=%" PRIu64,
		c.end_cyc * UINT64_C(1000000) / c.n_slices);
	index = ask(&v, target, &size, view_select);
	printf("box of about 1 M slices  %.1f ms\n", index);
	index = ask(&v, "/api/1/select?by=row", &size, view_select);
	printf("box of all slices        %.0f ms, %.1f ms a million\n", index,
		index * 1e6 / (double)c.n_slices);
	ask(&v, "/api/1/find?q=op7", &size, view_find);
	printf("search, first time includes the sums of rows; then %.1f ms\n",
		ask(&v, "/api/1/find?q=op7", &size, view_find));
	columns_deinit(&c);
	view_index_free(&v);
	trace_free(t);
	return 0;
}
