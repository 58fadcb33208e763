/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ui_output.c: a trace as the directory of JSON files that rocprofv3 makes of a thread trace and
 * its viewer opens. Waves are written one by one as they are read; sums over them (totals of code
 * rows, state series, the manifest) follow at the end. Numbers are computed from the waves that are
 * written, never copied from a producer's figures.
 */
#include "base/search.h"
#include "export/ui_output/writer.h"
#include "export/writer.h"

bool ui_file_open(struct ui_writer *u, const char *name, struct incore_error *e)
{
	u->file = out_dir_file(&u->dir, name, e);
	if (!u->file)
		return false;
	u->name = name;
	json_w_file(&u->w, u->file, 0);
	return true;
}

bool ui_file_close(struct ui_writer *u, struct incore_error *e)
{
	FILE *f = u->file;
	bool ok;

	u->file = NULL;
	ok = json_w_finish(&u->w, e);
	return out_dir_done(&u->dir, f, u->name, ok ? e : NULL) && ok;
}

void ui_put_row(struct json_writer *w, const int64_t *v, unsigned n)
{
	json_w_array(w);
	for (unsigned i = 0; i < n; i++)
		json_w_i64(w, v[i]);
	json_w_end(w);
}

int ui_cmp_key(uint64_t a, uint64_t b)
{
	char left[24], right[24];

	snprintf(left, sizeof(left), "%llu", (unsigned long long)a);
	snprintf(right, sizeof(right), "%llu", (unsigned long long)b);
	return strcmp(left, right);
}

void ui_put_key(struct json_writer *w, const char *prefix, uint64_t number)
{
	char key[40];

	snprintf(key, sizeof(key), "%s%llu", prefix, (unsigned long long)number);
	json_w_key(w, key);
}

struct clock_key {
	uint32_t id;
	clock_idx clock;
};

static int compare_keys(const void *pa, const void *pb)
{
	const struct clock_key *a = pa, *b = pb;

	return ui_cmp_key(a->id, b->id);
}

clock_idx *ui_clocks_by_key(const struct trace *t)
{
	struct clock_key *keys = mem_zalloc((size_t)t->n_clocks + 1, sizeof(*keys));
	clock_idx *out = mem_zalloc((size_t)t->n_clocks + 1, sizeof(*out));

	if (keys && out) {
		for (clock_idx i = 0; i < t->n_clocks; i++)
			keys[i] = (struct clock_key){t->clocks[i].id, i};
		SORT(keys, t->n_clocks, compare_keys);
		for (clock_idx i = 0; i < t->n_clocks; i++)
			out[i] = keys[i].clock;
	} else {
		mem_free(out);
		out = NULL;
	}
	mem_free(keys);
	return out;
}

static bool check(const struct export *x, struct incore_error *e)
{
	const struct selection *s = x->options->walk.selection;

	if (!x->path || strcmp(x->path, "-") == 0)
		return err_set(e, INCORE_USAGE, "missing-option",
			"ui_output is a directory of files: name it with -o DIR");
	if (x->trace->meta.vendor != VENDOR_AMD)
		return err_set(e, INCORE_USAGE, "wrong-vendor",
			"ui_output is a format of AMD thread traces; this trace is of %s",
			vendor_name(x->trace->meta.vendor));
	if (s && (s->has_from || s->has_to))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"ui_output holds whole waves; --from and --until cannot be used with it");
	return true;
}

static bool begin(struct export *x, struct incore_error *e)
{
	struct ui_writer *u;

	if (!check(x, e))
		return false;
	u = mem_zalloc(1, sizeof(*u));
	if (!u)
		return err_nomem(e);
	x->state = u;
	u->x = x;
	u->last = NO_TRACK;
	u->dir.fd = -1;
	u->totals = mem_zalloc((size_t)x->trace->n_code + 1, sizeof(*u->totals));
	if (!u->totals)
		return err_nomem(e);
	u->tables = wait_tables_new(x->trace, e);
	return u->tables && out_dir_open(&u->dir, x->path, 0666, e);
}

static bool track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	return ui_write_wave(x->state, k, e);
}

static bool counter(struct export *x, const struct export_sample *s, struct incore_error *e)
{
	(void)x;
	(void)s;
	(void)e;
	return true; /* written from the series, in end() */
}

static bool lost(struct export *x, const struct note *n, struct incore_error *e)
{
	(void)x;
	(void)n;
	(void)e;
	return true; /* the format has no place for notes; the driver counts them as left out */
}

static bool truncated(struct export *x, const struct export_cut *c, struct incore_error *e)
{
	(void)x;
	(void)c;
	(void)e;
	return true; /* reported to the user in the result */
}

static bool end(struct export *x, struct incore_error *e)
{
	struct ui_writer *u = x->state;

	return ui_write_code(u, e) && ui_write_occupancy(u, e) && ui_write_realtime(u, e) &&
	       ui_write_wstates(u, e) && ui_write_sources(u, e) && ui_write_counters(u, e) &&
	       ui_write_manifest(u, e) &&
	       export_cut(x, "waves",
		       "without instructions and states the format leaves a wave out", u->n_skipped,
		       e) &&
	       export_cut(x, "addresses of records",
		       "a record of unknown code is written as line 0", u->n_unknown_code, e);
}

static bool commit(struct export *x, struct incore_error *e)
{
	struct ui_writer *u = x->state;

	x->result->bytes = u->dir.bytes;
	return out_dir_commit(&u->dir, e);
}

static void free_state(struct export *x)
{
	struct ui_writer *u = x->state;

	if (!u)
		return;
	if (u->file)
		fclose(u->file);
	out_dir_abort(&u->dir);
	waits_deinit(&u->waits);
	wait_tables_free(u->tables);
	mem_free(u->totals);
	VEC_FREE(&u->places);
	VEC_FREE(&u->markers);
	VEC_FREE(&u->issues);
	for (int i = 0; i < STATE_COUNT; i++)
		VEC_FREE(&u->changes[i].all);
	mem_free(u);
}

const struct export_ops export_ui_output = {
	.name = "ui_output",
	.suffix = "/",
	.media_type = "inode/directory",
	.summary = "directory of a decoded AMD thread trace, for the ROCprof Compute Viewer",
	.holds = EXPORT_SLICES | EXPORT_STATES | EXPORT_LINKS | EXPORT_COUNTERS | EXPORT_CYCLES |
		 EXPORT_STALLS | EXPORT_OCCUPANCY | EXPORT_CODE | EXPORT_SAMPLES,
	.is_directory = true,
	.takes_tracks = true,
	.commit = commit,
	EXPORT_WRITER,
};
