/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sqtt_conformance.c: every record and field of every real thread trace equals what AMD's decoder
 * 0.1.6 made of it (oracle.json), under the rules of that decoder, before records become a trace.
 * usage: sqtt_conformance [RUN_DIR...]; all runs below INCORE_SHARED by default. Prints the first
 * difference of each stream by record, field and byte offset. Status 77: the data is not there.
 * Under our own rules every instruction of these streams must have an address; the differences from
 * 0.1.6 are printed by name.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/str.h"
#include "base/vec.h"
#include "codec/elf.h"
#include "import/sqtt/decoder.h"

#define MAX_FIELDS 7

struct row {
	int64_t field[MAX_FIELDS];
	uint32_t off;
};

enum kind { OCCUPANCY, REALTIME, SHADERDATA, PERF, OTHER_SIMD, WAVES, SPANS, INSTS, KINDS };

static const struct {
	const char *name; /* also the key in oracle.json */
	unsigned n;
	const char *fields[MAX_FIELDS];
} kinds[KINDS] = {
	[OCCUPANCY] = {"occupancy", 7, {"time", "cu", "simd", "slot", "start", "pc", "codeobj"}},
	[REALTIME] = {"realtime", 2, {"time", "clock"}},
	[SHADERDATA] = {"shaderdata", 6, {"time", "value", "cu", "simd", "slot", "flags"}},
	[PERF] = {"perfevents", 7, {"time", "c0", "c1", "c2", "c3", "cu", "bank"}},
	[OTHER_SIMD] = {"other_simd", 4, {"time", "cycles", "wgp", "category"}},
	[WAVES] = {"wave", 6, {"cu", "simd", "wave_id", "contexts", "begin", "end"}},
	[SPANS] = {"timeline", 3, {"wave", "state", "dur"}},
	[INSTS] = {"inst", 7, {"wave", "category", "time", "stall", "dur", "pc", "codeobj"}},
};

struct records {
	VEC(struct row) rows[KINDS];
};

static void add(struct records *r, enum kind k, struct row row)
{
	if (!VEC_PUSH(&r->rows[k], row))
		abort();
}

static void clear(struct records *r)
{
	for (int k = 0; k < KINDS; k++)
		r->rows[k].n = 0;
}

/* --- ours */

static bool on_wave(void *ctx, const struct sqtt_wave *w, struct incore_error *e)
{
	struct records *r = ctx;
	int64_t index = (int64_t)r->rows[WAVES].n;

	(void)e;
	add(r, WAVES,
		(struct row){{w->cu, w->simd, w->slot, w->contexts, w->begin, w->end}, w->off});
	for (size_t i = 0; i < w->n_spans; i++)
		add(r, SPANS,
			(struct row){{index, w->timeline[i].state, w->timeline[i].dur}, w->off});
	for (size_t i = 0; i < w->n_insts; i++) {
		const struct sqtt_inst *x = &w->insts[i];

		add(r, INSTS,
			(struct row){{index, x->category, x->time, x->stall, x->dur, (int64_t)x->pc,
					     x->object},
				x->off});
	}
	return true;
}

static bool on_occupancy(
	void *ctx, const struct sqtt_occupancy *o, size_t n, struct incore_error *e)
{
	struct records *r = ctx;
	size_t front = 0;

	(void)e;
	for (size_t i = 0; i < n; i++, o++) {
		struct row row = {
			{o->time, o->cu, o->simd, o->slot, o->is_start, (int64_t)o->pc, o->object},
			o->off};

		add(r, OCCUPANCY, row);
		if (!o->is_front)
			continue;
		memmove(r->rows[OCCUPANCY].v + front + 1, r->rows[OCCUPANCY].v + front,
			(r->rows[OCCUPANCY].n - 1 - front) * sizeof(row));
		r->rows[OCCUPANCY].v[front++] = row;
	}
	return true;
}

static bool on_realtime(void *ctx, const struct sqtt_realtime *s, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, s++)
		add(ctx, REALTIME, (struct row){{s->time, (int64_t)s->clock}, s->off});
	return true;
}

static bool on_perf(void *ctx, const struct sqtt_perf *p, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, p++)
		add(ctx, PERF,
			(struct row){{p->time, p->counter[0], p->counter[1], p->counter[2],
					     p->counter[3], p->cu, p->bank},
				p->off});
	return true;
}

static bool on_shaderdata(
	void *ctx, const struct sqtt_shaderdata *s, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, s++)
		add(ctx, SHADERDATA,
			(struct row){
				{s->time, s->value, s->cu, s->simd, s->slot, s->flags}, s->off});
	return true;
}

static bool on_other(void *ctx, const struct sqtt_other_simd *o, size_t n, struct incore_error *e)
{
	(void)e;
	for (size_t i = 0; i < n; i++, o++)
		add(ctx, OTHER_SIMD,
			(struct row){{o->time, o->cycles, o->cu, o->category}, o->off});
	return true;
}

/* --- theirs */

static void add_json(struct records *r, enum kind k, const json_t *item, int64_t wave)
{
	struct row row = {.off = 0};
	size_t n = 0, i;
	json_t *v;

	if (wave >= 0)
		row.field[n++] = wave;
	json_array_foreach(item, i, v) if (n < MAX_FIELDS) row.field[n++] = json_integer_value(v);
	add(r, k, row);
}

static void read_wave(struct records *r, const json_t *w)
{
	int64_t index = (int64_t)r->rows[WAVES].n;
	struct row row = {.off = 0};
	json_t *item;
	size_t i;

	for (unsigned f = 0; f < kinds[WAVES].n; f++)
		row.field[f] = json_integer_value(json_object_get(w, kinds[WAVES].fields[f]));
	add(r, WAVES, row);
	json_array_foreach(json_object_get(w, "timeline"), i, item) add_json(r, SPANS, item, index);
	json_array_foreach(json_object_get(w, "insts"), i, item) add_json(r, INSTS, item, index);
}

static void read_oracle(struct records *r, const json_t *trace)
{
	json_t *item;
	size_t i;

	clear(r);
	for (int k = 0; k <= OTHER_SIMD; k++)
		json_array_foreach(json_object_get(trace, kinds[k].name), i, item)
			add_json(r, k, item, -1);
	json_array_foreach(json_object_get(trace, "waves"), i, item) read_wave(r, item);
}

/* --- comparison */

static void print_difference(
	const char *path, int k, size_t i, const struct row *g, const struct row *w)
{
	for (unsigned f = 0; f < kinds[k].n; f++) {
		if (g->field[f] == w->field[f])
			continue;
		printf("%s: %s %zu, %s: got %" PRId64 ", want %" PRId64 " (byte %" PRIu32 ")\n",
			path, kinds[k].name, i, kinds[k].fields[f], g->field[f], w->field[f],
			g->off);
		return;
	}
}

static bool compare(const char *path, const struct records *got, const struct records *want)
{
	for (int k = 0; k < KINDS; k++) {
		const struct row *g = got->rows[k].v, *w = want->rows[k].v;
		size_t n = got->rows[k].n, m = want->rows[k].n;

		for (size_t i = 0; i < n && i < m; i++) {
			if (memcmp(g[i].field, w[i].field, sizeof(g[i].field)) == 0)
				continue;
			print_difference(path, k, i, &g[i], &w[i]);
			return false;
		}
		if (n != m) {
			printf("%s: %s: got %zu records, want %zu\n", path, kinds[k].name, n, m);
			return false;
		}
	}
	return true;
}

static bool compare_result(const char *path, const struct sqtt_result *res, const json_t *trace)
{
	int64_t status = json_integer_value(json_object_get(trace, "status"));
	size_t info = json_array_size(json_object_get(trace, "info"));
	size_t got = (size_t)res->is_lost + res->is_stitch_incomplete + res->is_wave_incomplete;

	if ((int64_t)res->status == status && info == got)
		return true;
	printf("%s: status %d and %zu infos, want %" PRId64 " and %zu\n", path, (int)res->status,
		got, status, info);
	return false;
}

/* --- one run */

struct run {
	const char *dir;
	struct arena arena;
	struct file_data elf_file;
	VEC(struct sqtt_segment) segments;
	struct sqtt_code code;
	struct records got, want;
	unsigned streams, equal;
	size_t counts[KINDS];
	uint64_t insts, stitched, notes[SQTT_NOTE_COUNT]; /* by our own rules */
};

static bool load_code(struct run *r, uint64_t load_base, struct incore_error *e)
{
	char *path = path_join(r->dir, "code.elf");
	struct elf_image elf;
	bool ok = file_load(&r->elf_file, path, e) &&
		  elf_open(&elf, (struct str){(const char *)r->elf_file.data, r->elf_file.size},
			  path, &r->arena, e);

	for (uint32_t i = 0; ok && i < elf.n_sections; i++) {
		const struct elf_section *s = &elf.sections[i];

		if (s->data && s->type == 1 && (s->flags & 4) &&
			!VEC_PUSH(&r->segments,
				(struct sqtt_segment){0, s->address, load_base + s->address,
					s->data, (size_t)s->size}))
			abort();
	}
	r->code = (struct sqtt_code){AMD_ARCH_UNKNOWN, r->segments.n, r->segments.v};
	free(path);
	return ok;
}

static bool run_right(struct run *r, const struct file_data *f, struct incore_error *e)
{
	const struct sqtt_options o = {SQTT_RULES_RIGHT, &r->code, SQTT_TARGET_OF_STREAM};
	const struct sqtt_sink sink = {.ctx = NULL};
	struct sqtt_result res;

	if (!sqtt_decode(f->data, f->size, &o, &sink, &res, e))
		return false;
	r->insts += res.insts;
	r->stitched += res.stitched;
	for (int n = 0; n < SQTT_NOTE_COUNT; n++)
		r->notes[n] += res.notes[n].count;
	return true;
}

static bool run_stream(struct run *r, const json_t *trace, struct incore_error *e)
{
	const struct sqtt_options o = {SQTT_RULES_C16, &r->code, SQTT_TARGET_OF_STREAM};
	const struct sqtt_sink sink = {
		&r->got, on_wave, on_occupancy, on_realtime, on_perf, on_shaderdata, on_other};
	char *path = path_join(r->dir, json_string_value(json_object_get(trace, "file")));
	struct file_data file = {0};
	struct sqtt_result res;
	bool ok = file_load(&file, path, e);

	clear(&r->got);
	read_oracle(&r->want, trace);
	ok = ok && sqtt_decode(file.data, file.size, &o, &sink, &res, e);
	if (ok) {
		r->streams++;
		r->equal += compare(path, &r->got, &r->want) && compare_result(path, &res, trace);
		for (int k = 0; k < KINDS; k++)
			r->counts[k] += r->got.rows[k].n;
	}
	ok = ok && run_right(r, &file, e);
	file_unload(&file);
	free(path);
	return ok;
}

static bool run_dir(struct run *r, const char *dir, struct incore_error *e)
{
	char *path = path_join(dir, "oracle.json");
	json_error_t je;
	json_t *oracle = json_load_file(path, 0, &je), *trace;
	bool ok = oracle != NULL;
	size_t i;

	if (!ok)
		err_set(e, INCORE_BAD_INPUT, "bad-json", "%s: %s", path, je.text);
	r->dir = dir;
	r->segments.n = 0;
	ok = ok &&
	     load_code(r, (uint64_t)json_integer_value(json_object_get(oracle, "load_base")), e);
	json_array_foreach(json_object_get(oracle, "traces"), i, trace) ok =
		ok && run_stream(r, trace, e);
	json_decref(oracle);
	free(path);
	return ok;
}

static bool visit(void *ctx, const char *name, struct incore_error *e)
{
	struct run *r = ctx;
	char *dir = path_join(r->dir, name);
	char *oracle = path_join(dir, "oracle.json");
	const char *parent = r->dir;
	bool ok = true;

	if (file_exists(oracle))
		ok = run_dir(r, dir, e);
	else if (file_is_dir(dir)) {
		r->dir = dir;
		ok = dir_each(dir, visit, r, e);
	}
	r->dir = parent;
	free(oracle);
	free(dir);
	return ok;
}

static char *data_root(void)
{
	const char *shared = getenv("INCORE_SHARED"), *source = getenv("INCORE_SOURCE_ROOT");
	char *beside = path_join(source ? source : ".", "../shared");
	char *root = path_join(shared ? shared : beside, "data/amd/sqtt");

	free(beside);
	return root;
}

int main(int argc, char **argv)
{
	struct incore_error e = {0};
	struct run r = {0};
	bool ok = true;
	char *root = data_root();

	arena_init(&r.arena);
	if (argc < 2 && !file_is_dir(root)) {
		printf("no thread traces at %s\n", root);
		free(root);
		return 77;
	}
	r.dir = root;
	if (argc < 2)
		ok = dir_each(root, visit, &r, &e);
	for (int i = 1; ok && i < argc; i++)
		ok = run_dir(&r, argv[i], &e);
	if (!ok)
		printf("%s\n", e.message ? e.message : "failed");
	for (int k = 0; k < KINDS; k++) {
		printf("%s %zu%s", kinds[k].name, r.counts[k], k + 1 < KINDS ? ", " : "\n");
		VEC_FREE(&r.got.rows[k]);
		VEC_FREE(&r.want.rows[k]);
	}
	printf("%u of %u streams equal\n", r.equal, r.streams);
	printf("by our own rules: %" PRIu64 " of %" PRIu64 " instructions have an address",
		r.stitched, r.insts);
	for (int n = 0; n < SQTT_NOTE_COUNT; n++)
		if (r.notes[n])
			printf(", %s %" PRIu64, sqtt_note_name(n), r.notes[n]);
	printf("\n");
	VEC_FREE(&r.segments);
	file_unload(&r.elf_file);
	arena_deinit(&r.arena);
	incore_error_clear(&e);
	free(root);
	return ok && r.streams > 0 && r.equal == r.streams && r.stitched == r.insts ? 0 : 1;
}
