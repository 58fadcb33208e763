/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest.c: filenames.json: the files of a directory and the machine it was made on. Written
 * last: readers recognise the directory by this file.
 */
#include "base/search.h"
#include "export/ui_output/writer.h"

static int compare_places(const void *pa, const void *pb)
{
	const struct ui_wave_place *a = pa, *b = pb;

	if (a->se != b->se)
		return ui_cmp_key(a->se, b->se);
	if (a->simd != b->simd)
		return ui_cmp_key(a->simd, b->simd);
	if (a->slot != b->slot)
		return ui_cmp_key(a->slot, b->slot);
	return ui_cmp_key(a->wave, b->wave);
}

static void put_place(struct json_writer *w, const struct ui_wave_place *p)
{
	char name[80];

	snprintf(name, sizeof(name), "se%u_sm%u_sl%u_wv%u.json", p->se, p->simd, p->slot, p->wave);
	ui_put_key(w, "", p->wave);
	json_w_array(w);
	json_w_cstr(w, name);
	json_w_u64(w, p->begin_cyc);
	json_w_u64(w, p->end_cyc);
	json_w_end(w);
}

/* {"<SE>":{"<SIMD>":{"<slot>":{"<wave>":[file,begin,end]}}}} */
static void put_waves(struct ui_writer *u)
{
	struct json_writer *w = &u->w;
	const struct ui_wave_place *v = u->places.v;
	size_t n = u->places.n;

	json_w_key(w, "wave_filenames");
	if (!n) {
		json_w_null(w);
		return;
	}
	SORT(u->places.v, n, compare_places);
	json_w_object(w);
	for (size_t i = 0; i < n; i++) {
		bool new_se = i == 0 || v[i].se != v[i - 1].se;
		bool new_simd = new_se || v[i].simd != v[i - 1].simd;
		bool new_slot = new_simd || v[i].slot != v[i - 1].slot;

		for (int k = i == 0 ? 0 : new_se + new_simd + new_slot; k > 0; k--)
			json_w_end(w);
		if (new_se) {
			ui_put_key(w, "", v[i].se);
			json_w_object(w);
		}
		if (new_simd) {
			ui_put_key(w, "", v[i].simd);
			json_w_object(w);
		}
		if (new_slot) {
			ui_put_key(w, "", v[i].slot);
			json_w_object(w);
		}
		put_place(w, &v[i]);
	}
	for (int k = 0; k < 4; k++)
		json_w_end(w);
}

/* {"<SE>":[[file,begin,end]]} for one file per engine, in the order of their keys */
static void put_side_files(
	struct json_writer *w, const char *key, const struct ui_side_file *v, size_t n)
{
	bool is_issues = key[0] == 'o';

	if (!n)
		return;
	json_w_kv_object(w, key);
	for (size_t i = 0; i < n; i++) {
		char name[64];

		snprintf(name, sizeof(name),
			is_issues ? "other_simd_se%u_0.json" : "shaderdata_%u_0.json", v[i].se);
		ui_put_key(w, "", v[i].se);
		json_w_array(w);
		json_w_array(w);
		json_w_cstr(w, name);
		json_w_u64(w, v[i].begin_cyc);
		json_w_u64(w, v[i].end_cyc);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

/* Only stochastic sampling has samples with the reason why a wave was stalled. */
static bool is_stochastic(const struct trace *t)
{
	for (code_idx i = 0; i < t->n_code; i++)
		if (t->samples[i].stalled)
			return true;
	return false;
}

bool ui_write_manifest(struct ui_writer *u, struct incore_error *e)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;
	bool is_sampled = t->samples && !u->places.n;

	if (!ui_file_open(u, "filenames.json", e))
		return false;
	json_w_object(w);
	json_w_kv_array(w, "counter_names");
	for (uint32_t i = 0; i < t->n_counter_names; i++)
		json_w_cstr(w, t->counter_names[i]);
	json_w_end(w);
	json_w_kv_u64(w, "gfxip", t->meta.gfx_major);
	json_w_kv_cstr(w, "gfxv", t->meta.gfx_major > 9 ? "navi" : "vega");
	json_w_kv_u64(w, "global_begin_time", 0);
	if (is_sampled)
		json_w_kv_bool(w, "is_pcs_stochastic", is_stochastic(t));
	put_side_files(w, "other_simd_filenames", u->issues.v, u->issues.n);
	if (is_sampled)
		json_w_kv_bool(w, "pc_sampling", true);
	put_side_files(w, "shaderdata_filenames", u->markers.v, u->markers.n);
	if (t->meta.evidence == EVIDENCE_SYNTHETIC)
		json_w_kv_bool(w, "synthetic", true);
	if (is_sampled)
		json_w_kv_bool(w, "thread_trace", false);
	json_w_kv_cstr(w, "version", UI_VERSION);
	put_waves(u);
	json_w_end(w);
	return ui_file_close(u, e);
}
