/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ui_output.c: a trace as the directory of JSON files that rocprofv3 makes of a thread trace and
 * its viewer opens. Waves are written one by one as they are read; sums over them (totals of code
 * rows, state series, the manifest) follow at the end. Numbers are computed from the waves that are
 * written, never copied from a producer's figures. Parts: clocks and wave states; one wave;
 * occupancy; the manifest; the directory.
 */
#include "base/search.h"
#include "export/ui_output/writer.h"
#include "export/writer.h"
#include "trace/kind.h"

/* --- clocks and wave states ------------------------------------------------------------------- */

/*
 * Values over time for all waves: the clock samples of the shader engines (realtime.json) and the
 * number of waves in each state (wstates<k>.json; all engines pooled, each on its own clock, as the
 * producer does it).
 */

__extension__ typedef unsigned __int128 u128;

#define USUAL_HZ UINT64_C(100000000)
#define FIRST_LIMIT (1u << 20)

/* --- realtime.json --- */

/* Frequency of the reference clock, computed from the shader clock in Hz and the samples. */
static uint64_t frequency_of(const struct trace *t)
{
	EACH (const struct clock_domain, c, t->clocks, t->n_clocks) {
		int64_t gfx, rt;
		u128 num, den;

		if (c->n_samples < 2 || !c->hz_den)
			continue;
		gfx = c->samples[c->n_samples - 1][0] - c->samples[0][0];
		rt = c->samples[c->n_samples - 1][1] - c->samples[0][1];
		if (gfx <= 0 || rt <= 0)
			continue;
		num = (u128)c->hz_num * (u128)rt;
		den = (u128)c->hz_den * (u128)gfx;
		if (num % den == 0 && num / den <= UINT64_MAX)
			return (uint64_t)(num / den);
	}
	return USUAL_HZ;
}

static void ui_clocks_put_samples(struct json_writer *w, const struct clock_domain *c)
{
	if (!c->n_samples)
		return;
	ui_put_key(w, "SE", c->id);
	json_w_array(w);
	for (uint32_t i = 0; i < c->n_samples; i++)
		ui_put_row(w, c->samples[i], 2);
	json_w_end(w);
}

static bool ui_write_realtime(struct ui_writer *u, struct incore_error *e)
{
	const struct trace *t = u->x->trace;
	clock_idx *order = ui_clocks_by_key(t);
	struct json_writer *w = &u->w;

	if (!order)
		return err_nomem(e);
	if (!ui_file_open(u, "realtime.json", e)) {
		mem_free(order);
		return false;
	}
	json_w_object(w);
	for (clock_idx i = 0; i < t->n_clocks; i++)
		ui_clocks_put_samples(w, &t->clocks[order[i]]);
	json_w_kv_object(w, "metadata");
	json_w_kv_cstr(w, "descriptor", "[gfx_clock, realtime_clock]");
	json_w_kv_u64(w, "frequency", frequency_of(t));
	json_w_end(w);
	json_w_end(w);
	mem_free(order);
	return ui_file_close(u, e);
}

/* --- wstates<k>.json --- */

ORDER(compare_changes, struct ui_change, UP(time_cyc))

/* Sorts changes by time and merges those at the same time. */
static void merge_changes(struct ui_changes *c)
{
	size_t n = 0;

	if (c->all.n < 2)
		return;
	SORT(c->all.v, c->all.n, compare_changes);
	for (size_t i = 1; i < c->all.n; i++) {
		if (c->all.v[i].time_cyc == c->all.v[n].time_cyc)
			c->all.v[n].delta += c->all.v[i].delta;
		else
			c->all.v[++n] = c->all.v[i];
	}
	c->all.n = n + 1;
}

/* clocks.c */
static bool ui_add_change(struct ui_changes *c, uint64_t time_cyc, int64_t delta)
{
	if (c->limit < FIRST_LIMIT)
		c->limit = FIRST_LIMIT;
	if (c->all.n >= c->limit) {
		merge_changes(c);
		if (c->all.n > c->limit / 2)
			c->limit *= 2;
	}
	return VEC_PUSH(&c->all, (struct ui_change){time_cyc, delta});
}

static bool write_series(
	struct ui_writer *u, const char *name, struct ui_changes *c, struct incore_error *e)
{
	struct json_writer *w = &u->w;
	int64_t running = 0;

	merge_changes(c);
	if (!ui_file_open(u, name, e))
		return false;
	json_w_object(w);
	json_w_kv_cstr(w, "name", name);
	json_w_kv_array(w, "state");
	for (size_t i = 0; i < c->all.n; i++)
		json_w_i64(w, running += c->all.v[i].delta);
	json_w_end(w);
	json_w_kv_array(w, "time");
	for (size_t i = 0; i < c->all.n; i++)
		json_w_u64(w, c->all.v[i].time_cyc);
	json_w_end(w);
	json_w_end(w);
	return ui_file_close(u, e);
}

static bool ui_write_wstates(struct ui_writer *u, struct incore_error *e)
{
	for (unsigned k = 0; k < STATE_COUNT; k++) {
		char name[] = "wstates0.json";

		name[7] = (char)('0' + k);
		if (u->changes[k].all.n && !write_series(u, name, &u->changes[k], e))
			return false;
	}
	return true;
}

/* --- one wave --------------------------------------------------------------------------------- */

/*
 * One track -> one wave file, se<SE>_sm<SIMD>_sl<slot>_wv<n>.json. A wave without records and with
 * fewer than three states gets no file, and its number goes to the next wave of its slot.
 */

#define MIN_STATES 3u
#define COORD_SE 0
#define COORD_CU 1
#define COORD_SIMD 2
#define COORD_SLOT 3
#define COORD_WAVE 4

static int64_t line_of(const struct trace *t, code_idx code)
{
	return code == NO_CODE ? 0 : t->code[code].number;
}

static void ui_wave_put_instructions(struct ui_writer *u, const struct track_data *d)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;

	json_w_key(w, "instructions");
	if (!d->n) {
		json_w_null(w);
		return;
	}
	json_w_array(w);
	for (uint32_t i = 0; i < d->n; i++) {
		int64_t row[] = {(int64_t)d->start_cyc[i], d->tag[i], d->stall_cyc[i],
			d->dur_cyc[i], line_of(t, d->code[i])};

		ui_put_row(w, row, 5);
	}
	json_w_end(w);
}

static void put_timeline(struct ui_writer *u, const struct track_data *d)
{
	struct json_writer *w = &u->w;

	json_w_key(w, "timeline");
	if (!d->n_states) {
		json_w_null(w);
		return;
	}
	json_w_array(w);
	for (uint32_t i = 0; i < d->n_states; i++) {
		int64_t row[] = {d->state[i], d->state_dur_cyc[i]};

		ui_put_row(w, row, 2);
	}
	json_w_end(w);
}

/* Writes [[wait_line,[[producer_line,0],...]],...] by the viewer's own model. */
static void ui_wave_put_waits(struct ui_writer *u, const struct track_data *d)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;

	json_w_key(w, "waitcnt");
	if (!u->waits.stated.n || !d->n) {
		json_w_null(w);
		return;
	}
	json_w_array(w);
	EACH (const struct stated_like, s, u->waits.stated.v, u->waits.stated.n) {
		json_w_array(w);
		json_w_i64(w, line_of(t, d->code[s->slice]));
		json_w_array(w);
		for (uint32_t k = 0; k < s->n; k++) {
			code_idx code = u->waits.viewer_producers.v[s->first + k];
			int64_t row[] = {line_of(t, code), 0};

			ui_put_row(w, row, 2);
		}
		json_w_end(w);
		json_w_end(w);
		u->x->result->n_links += s->n;
	}
	json_w_end(w);
}

/* Adds to the totals of code rows by the producer's own rule; skips records of unknown code. */
static void ui_wave_add_totals(struct ui_writer *u, const struct track_data *d)
{
	uint64_t prev = d->begin_cyc;

	for (uint32_t i = 0; i < d->n; i++) {
		uint64_t end = d->start_cyc[i] + d->dur_cyc[i];
		struct code_totals *sum;

		if (d->code[i] == NO_CODE) {
			u->n_unknown_code++;
			continue;
		}
		sum = &u->totals[d->code[i]];
		sum->hit++;
		sum->latency += d->dur_cyc[i];
		sum->stall += d->stall_cyc[i];
		sum->idle += d->start_cyc[i] > prev ? d->start_cyc[i] - prev : 0;
		prev = end > prev ? end : prev;
	}
}

static bool add_changes(struct ui_writer *u, const struct track_data *d)
{
	uint64_t at = d->begin_cyc;

	for (uint32_t i = 0; i < d->n_states; i++) {
		struct ui_changes *c = &u->changes[d->state[i]];

		if (!ui_add_change(c, at, 1) || !ui_add_change(c, at + d->state_dur_cyc[i], -1))
			return false;
		at += d->state_dur_cyc[i];
	}
	return true;
}

static bool ui_wave_is_same_slot(const struct track *a, const struct track *b)
{
	return a->coord[COORD_SE] == b->coord[COORD_SE] &&
	       a->coord[COORD_CU] == b->coord[COORD_CU] &&
	       a->coord[COORD_SIMD] == b->coord[COORD_SIMD] &&
	       a->coord[COORD_SLOT] == b->coord[COORD_SLOT];
}

static void put_wave(
	struct ui_writer *u, const struct export_track *k, const struct ui_wave_place *p)
{
	const struct track_data *d = k->data;
	struct json_writer *w = &u->w;
	char name[16];

	snprintf(name, sizeof(name), "SE%u", p->se);
	json_w_object(w);
	json_w_kv_u64(w, "duration", p->end_cyc - p->begin_cyc);
	json_w_kv_cstr(w, "name", name);
	json_w_kv_u64(w, "num_insts", d->n);
	json_w_kv_u64(w, "num_stitched", d->n - d->n_unknown_code);
	json_w_kv_object(w, "wave");
	json_w_kv_u64(w, "begin", p->begin_cyc);
	json_w_kv_u64(w, "cu", k->track->coord[COORD_CU]);
	json_w_kv_u64(w, "end", p->end_cyc);
	json_w_kv_u64(w, "id", p->wave);
	ui_wave_put_instructions(u, d);
	json_w_kv_u64(w, "simd", p->simd);
	json_w_kv_u64(w, "slot", p->slot);
	put_timeline(u, d);
	ui_wave_put_waits(u, d);
	json_w_end(w);
	json_w_end(w);
}

/* wave.c: writes the file of one track, adds to totals, changes and places. */
static bool ui_write_wave(struct ui_writer *u, const struct export_track *k, struct incore_error *e)
{
	const struct trace *t = u->x->trace;
	const struct track_data *d = k->data;
	const uint32_t *c = k->track->coord;
	struct ui_wave_place p = {
		c[COORD_SE], c[COORD_SIMD], c[COORD_SLOT], c[COORD_WAVE], d->begin_cyc, d->end_cyc};
	struct walk_track walk = {t, k->index, k->track, d, 0, UINT64_MAX};
	char name[80];

	if (u->last == NO_TRACK || !ui_wave_is_same_slot(&t->tracks[u->last], k->track))
		u->n_skipped_in_slot = 0;
	u->last = k->index;
	if (d->n == 0 && d->n_states < MIN_STATES) {
		u->n_skipped_in_slot++;
		u->n_skipped++;
		return true;
	}
	p.wave -= u->n_skipped_in_slot;
	ui_wave_add_totals(u, d);
	if (!add_changes(u, d) || !VEC_PUSH(&u->places, p))
		return err_nomem(e);
	if (d->n && !waits_resolve(&u->waits, u->tables, &walk, WAITS_VIEWER, e))
		return false;
	snprintf(name, sizeof(name), "se%u_sm%u_sl%u_wv%u.json", p.se, p.simd, p.slot, p.wave);
	if (!ui_file_open(u, name, e))
		return false;
	put_wave(u, k, &p);
	return ui_file_close(u, e);
}

/* --- occupancy -------------------------------------------------------------------------------- */

/*
 * Starts and ends of the waves of all CUs, and the names of kernels, occupancy.json. Version 3.0.0
 * has six columns; if the trace has workgroups, queues or events, version 3.1.0 is written, with
 * eleven and the events. The trace does not know whether a start was extended: 0.
 */

static const char *const fields[] = {"time", "cu", "simd", "wave_id", "start", "kernel_id", "me_id",
	"pipe_id", "is_ext", "workgroup_id", "cluster_id"};
#define N_BASIC 6u
#define N_FIELDS 11u

/* Does the trace need the newer version? */
static bool is_extended(const struct trace *t)
{
	if (t->n_dispatch_events)
		return true;
	for (uint32_t i = 0; i < t->n_tracks; i++)
		if (t->tracks[i].workgroup != NO_VALUE)
			return true;
	EACH (const struct occupancy_event, o, t->occupancy, t->n_occupancy) {
		if (o->me || o->pipe || o->workgroup || o->cluster)
			return true;
	}
	return false;
}

static void ui_occupancy_put_list(struct ui_writer *u, clock_idx clock, unsigned n_columns)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;
	uint32_t i = 0, end = t->n_occupancy;

	BISECT(i, end, k, t->occupancy[k].clock < clock); /* sorted by clock */
	if (i == t->n_occupancy || t->occupancy[i].clock != clock)
		return;
	ui_put_key(w, "", t->clocks[clock].id);
	json_w_array(w);
	for (; i < t->n_occupancy && t->occupancy[i].clock == clock; i++) {
		const struct occupancy_event *o = &t->occupancy[i];
		int64_t row[N_FIELDS] = {(int64_t)o->time_cyc, o->cu, o->simd, o->slot, o->is_start,
			o->kernel_id, o->me, o->pipe, 0, o->workgroup, o->cluster};

		ui_put_row(w, row, n_columns);
	}
	json_w_end(w);
}

static int ui_occupancy_compare_names(const void *pa, const void *pb)
{
	const struct kernel_name *const *a = pa, *const *b = pb;

	return ui_cmp_key((*a)->id, (*b)->id);
}

static bool ui_occupancy_put_names(struct ui_writer *u)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;
	bool is_raw = strcmp(t->meta.format, "sqtt") == 0;
	const struct kernel_name **sorted =
		mem_zalloc((size_t)t->n_kernel_names + 1, sizeof(*sorted));

	if (!sorted)
		return false;
	for (uint32_t i = 0; i < t->n_kernel_names; i++)
		sorted[i] = &t->kernel_names[i];
	SORT(sorted, t->n_kernel_names, ui_occupancy_compare_names);
	json_w_key(w, "dispatches");
	if (t->n_kernel_names || is_raw) {
		json_w_object(w);
		if (is_raw) /* AMD's tools give unknown programs this name */
			json_w_kv_cstr(w, "0", "0 / 0x0");
		for (uint32_t i = 0; i < t->n_kernel_names; i++) {
			ui_put_key(w, "", sorted[i]->id);
			json_w_cstr(w, sorted[i]->name);
		}
		json_w_end(w);
	} else {
		json_w_null(w);
	}
	mem_free(sorted);
	return true;
}

static void ui_occupancy_put_known(struct json_writer *w, const char *key, int64_t v)
{
	if (v != NO_VALUE)
		json_w_kv_i64(w, key, v);
}

static void put_event(struct json_writer *w, const struct dispatch_event *d)
{
	json_w_object(w);
	json_w_kv_u64(w, "flags", d->flags);
	if (d->is_dispatch) {
		json_w_kv_u64(w, "kernel_id", d->kernel_id);
		if (d->kernel_name)
			json_w_kv_cstr(w, "kernel_name", d->kernel_name);
	}
	json_w_kv_cstr(w, "kind", d->is_dispatch ? "dispatch" : "event");
	if (d->is_dispatch)
		ui_occupancy_put_known(w, "lds_size", d->lds_bytes);
	json_w_kv_u64(w, "me_id", d->me);
	json_w_kv_u64(w, "pipe_id", d->pipe);
	if (d->is_dispatch) {
		ui_occupancy_put_known(w, "sgprs", d->sgprs);
		ui_occupancy_put_known(w, "thread_dim_x", d->thread_dim[0]);
		ui_occupancy_put_known(w, "thread_dim_y", d->thread_dim[1]);
		ui_occupancy_put_known(w, "thread_dim_z", d->thread_dim[2]);
	}
	json_w_kv_u64(w, "time", d->time_cyc);
	if (!d->is_dispatch)
		json_w_kv_u64(w, "type", d->type);
	else
		ui_occupancy_put_known(w, "vgprs", d->vgprs);
	json_w_end(w);
}

static void put_events(struct ui_writer *u, const clock_idx *order)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;

	json_w_key(w, "events");
	if (!t->n_dispatch_events) {
		json_w_null(w);
		return;
	}
	json_w_object(w);
	for (clock_idx c = 0; c < t->n_clocks; c++) {
		bool is_open = false;

		for (uint32_t i = 0; i < t->n_dispatch_events; i++) {
			if (t->dispatch_events[i].clock != order[c])
				continue;
			if (!is_open) {
				ui_put_key(w, "", t->clocks[order[c]].id);
				json_w_array(w);
			}
			is_open = true;
			put_event(w, &t->dispatch_events[i]);
		}
		if (is_open)
			json_w_end(w);
	}
	json_w_end(w);
}

static bool ui_occupancy_put_occupancy(struct ui_writer *u, const clock_idx *order)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;
	bool is_wide = is_extended(t);

	json_w_object(w);
	for (clock_idx c = 0; c < t->n_clocks; c++)
		ui_occupancy_put_list(u, order[c], is_wide ? N_FIELDS : N_BASIC);
	if (!ui_occupancy_put_names(u))
		return false;
	if (is_wide) {
		put_events(u, order);
		json_w_kv_array(w, "occupancy_fields");
		for (unsigned i = 0; i < N_FIELDS; i++)
			json_w_cstr(w, fields[i]);
		json_w_end(w);
	}
	json_w_kv_cstr(w, "version", is_wide ? UI_VERSION_EVENTS : UI_VERSION);
	json_w_end(w);
	return true;
}

static bool ui_write_occupancy(struct ui_writer *u, struct incore_error *e)
{
	clock_idx *order = ui_clocks_by_key(u->x->trace);
	bool ok = order ? ui_file_open(u, "occupancy.json", e) : err_nomem(e);

	if (ok && !ui_occupancy_put_occupancy(u, order))
		ok = err_nomem(e);
	mem_free(order);
	return ok && ui_file_close(u, e);
}

/* --- the manifest ----------------------------------------------------------------------------- */

/*
 * Filenames.json: the files of a directory and the machine it was made on. Written last: readers
 * recognise the directory by this file.
 */

static int ui_manifest_compare_places(const void *pa, const void *pb)
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

static void ui_manifest_put_place(struct json_writer *w, const struct ui_wave_place *p)
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
static void ui_manifest_put_waves(struct ui_writer *u)
{
	struct json_writer *w = &u->w;
	const struct ui_wave_place *v = u->places.v;
	size_t n = u->places.n;

	json_w_key(w, "wave_filenames");
	if (!n) {
		json_w_null(w);
		return;
	}
	SORT(u->places.v, n, ui_manifest_compare_places);
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
		ui_manifest_put_place(w, &v[i]);
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

static bool ui_write_manifest(struct ui_writer *u, struct incore_error *e)
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
	ui_manifest_put_waves(u);
	json_w_end(w);
	return ui_file_close(u, e);
}

/* --- the directory ---------------------------------------------------------------------------- */

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

static int ui_write_compare_keys(const void *pa, const void *pb)
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
		SORT(keys, t->n_clocks, ui_write_compare_keys);
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
	if (strcmp(vendor_row(x->trace)->viewer_format, "ui_output") != 0)
		return err_set(e, INCORE_USAGE, "wrong-vendor",
			"ui_output is a format of AMD thread traces; this trace is of %s",
			vendor_name(x->trace->meta.vendor));
	if (kind_row(x->trace)->no_code)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"ui_output holds instructions, and this capture has none; export it with --to chrome or --to perfetto");
	if (s && (s->has_from || s->has_to))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"ui_output holds whole waves; --from and --until cannot be used with it");
	return true;
}

static bool ui_write_begin(struct export *x, struct incore_error *e)
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

static bool ui_write_track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	return ui_write_wave(x->state, k, e);
}

static bool ui_write_end(struct export *x, struct incore_error *e)
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

static bool ui_write_commit(struct export *x, struct incore_error *e)
{
	struct ui_writer *u = x->state;

	x->result->bytes = u->dir.bytes;
	return out_dir_commit(&u->dir, e);
}

static void ui_write_free_state(struct export *x)
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
	.commit = ui_write_commit,
	.begin = ui_write_begin,
	.track = ui_write_track,
	.counter = export_sample_held,
	.lost = export_note_told,
	.truncated = export_note_told,
	.end = ui_write_end,
	.abort = ui_write_free_state,
};
