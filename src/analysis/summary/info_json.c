/* SPDX-License-Identifier: Apache-2.0 */
/* info_json.c: the JSON form of info; unknown values are null, never 0. */
#include "analysis/summary/info.h"

static void put_number(struct json_writer *w, const char *key, int64_t v)
{
	if (v == NO_VALUE)
		json_w_kv_null(w, key);
	else
		json_w_kv_i64(w, key, v);
}

static void put_mhz(struct json_writer *w, uint64_t num, uint64_t den, int digits)
{
	if (den)
		json_w_double(w, (double)num / (double)den / 1e6, digits);
	else
		json_w_null(w);
}

static void put_se_key(struct json_writer *w, uint32_t id)
{
	char key[16];

	snprintf(key, sizeof(key), "SE%u", id);
	json_w_key(w, key);
}

static void put_clocks(const struct trace *t, struct json_writer *w)
{
	json_w_key(w, "clock_mhz");
	put_mhz(w, t->meta.clock_hz_num, t->meta.clock_hz_den, 3);
	json_w_kv_cstr(w, "clock_source", t->meta.clock_source);
	json_w_key(w, "clock_mhz_by_se");
	json_w_object(w);
	for (uint32_t i = 0; i < t->n_clocks; i++) {
		put_se_key(w, t->clocks[i].id);
		put_mhz(w, t->clocks[i].hz_num, t->clocks[i].hz_den, 2);
	}
	json_w_end(w);
	json_w_key(w, "se_offsets");
	json_w_object(w);
	for (uint32_t i = 0; i < t->n_clocks; i++) {
		put_se_key(w, t->clocks[i].id);
		if (t->clocks[i].is_aligned)
			json_w_i64(w, t->clocks[i].offset_cyc);
		else
			json_w_null(w);
	}
	json_w_end(w);
}

static void put_code(const struct info *i, struct json_writer *w)
{
	const struct trace *t = i->trace;

	json_w_kv_u64(w, "rows", t->n_code);
	json_w_kv_u64(w, "instructions", i->n_instructions);
	json_w_kv_u64(w, "mapped_rows", i->n_mapped);
	if (t->has_stated_totals || t->samples)
		json_w_kv_u64(w, "executed_rows", i->n_executed);
	else
		json_w_kv_null(w, "executed_rows");
	json_w_key(w, "source_rows");
	json_w_object(w);
	json_w_kv_u64(w, "mapped", i->n_mapped);
	json_w_kv_u64(w, "total", t->n_code);
	json_w_kv_u64(w, "distinct_lines", i->n_lines);
	json_w_end(w);
	json_w_kv_u64(w, "source_files", t->n_sources);
	json_w_kv_u64(w, "source_snapshots", i->n_snapshots);
	json_w_key(w, "stated_totals");
	if (!t->has_stated_totals) {
		json_w_null(w);
		return;
	}
	json_w_object(w);
	json_w_kv_u64(w, "hit", i->stated.hit);
	json_w_kv_u64(w, "latency", i->stated.latency);
	json_w_kv_u64(w, "stall", i->stated.stall);
	json_w_kv_u64(w, "idle", i->stated.idle);
	json_w_end(w);
}

static void put_tracks(const struct info *i, struct json_writer *w)
{
	const struct trace *t = i->trace;

	json_w_kv_u64(w, "waves", t->n_tracks);
	json_w_kv_u64(w, "wave_files", i->n_track_files);
	put_number(w, "target_cu", t->meta.target_cu);
	json_w_key(w, "wave_coords");
	json_w_object(w);
	for (unsigned k = 0; k < TRACK_LEVELS && t->levels[k]; k++) {
		json_w_key(w, t->levels[k]);
		json_w_row(w);
		for (uint32_t n = 0; n < i->coords[k].n; n++)
			json_w_u64(w, i->coords[k].v[n]);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_key(w, "span_cycles");
	if (t->n_tracks)
		json_w_i64(w, i->end_cyc - i->begin_cyc);
	else
		json_w_null(w);
}

static void put_occupancy(const struct info *i, struct json_writer *w)
{
	const struct trace *t = i->trace;
	char key[16];

	json_w_key(w, "occupancy");
	json_w_object(w);
	for (uint32_t k = 0; k < i->n_domains; k++) {
		const struct info_domain *d = &i->domains[k];

		snprintf(key, sizeof(key), "%u", d->id);
		json_w_key(w, key);
		json_w_row_object(w);
		json_w_kv_u64(w, "events", d->events);
		json_w_kv_u64(w, "starts", d->starts);
		json_w_kv_u64(w, "ends", d->ends);
		json_w_kv_u64(w, "cus", d->cus);
		if (t->meta.target_cu == NO_VALUE)
			json_w_kv_null(w, "target_cu_starts");
		else
			json_w_kv_u64(w, "target_cu_starts", d->target_cu_starts);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_key(w, "dispatch_ids");
	json_w_object(w);
	for (uint32_t k = 0; k < t->n_kernel_names; k++) {
		snprintf(key, sizeof(key), "%u", t->kernel_names[k].id);
		json_w_kv_cstr(w, key, t->kernel_names[k].name);
	}
	json_w_end(w);
}

static void put_counters(const struct trace *t, struct json_writer *w)
{
	json_w_key(w, "counter_names");
	json_w_row(w);
	for (uint32_t k = 0; k < t->n_counter_names; k++)
		json_w_cstr(w, t->counter_names[k]);
	json_w_end(w);
	json_w_kv_u64(w, "counter_series", t->n_counters);
	json_w_kv_u64(w, "markers", t->n_markers);
	json_w_kv_u64(w, "other_simd_records", t->n_other_issues);
	json_w_kv_u64(w, "dispatch_events", t->n_dispatch_events);
	json_w_kv_bool(w, "has_pc_samples", t->samples != NULL);
}

static void put_machine(const struct trace_machine *m, struct json_writer *w)
{
	json_w_key(w, "machine");
	json_w_object(w);
	json_w_kv_cstr(w, "product", m->product);
	put_number(w, "xccs", m->xccs);
	put_number(w, "ses", m->ses);
	put_number(w, "cus", m->cus);
	put_number(w, "simds", m->simds);
	put_number(w, "max_waves_per_simd", m->max_waves_per_simd);
	put_number(w, "lds_bytes_per_cu", m->lds_bytes_per_cu);
	put_number(w, "wave_size", m->wave_size);
	put_number(w, "max_clock_mhz", m->max_clock_mhz);
	json_w_end(w);
}

static void put_triple(struct json_writer *w, const char *key, const int64_t v[3])
{
	json_w_key(w, key);
	if (v[0] == NO_VALUE || v[1] == NO_VALUE || v[2] == NO_VALUE) {
		json_w_null(w);
		return;
	}
	json_w_row(w);
	for (int i = 0; i < 3; i++)
		json_w_i64(w, v[i]);
	json_w_end(w);
}

static void put_launch(const struct trace_launch *l, struct json_writer *w)
{
	bool is_timed = l->start_ns != NO_VALUE && l->end_ns != NO_VALUE;

	json_w_key(w, "launch");
	json_w_object(w);
	put_number(w, "agent", l->agent);
	put_number(w, "dispatch", l->dispatch);
	put_number(w, "kernel_id", l->kernel_id);
	put_number(w, "launch_index", l->launch_index);
	put_number(w, "launch_count", l->launch_count);
	put_number(w, "vgprs", l->vgprs);
	put_number(w, "accum_vgprs", l->accum_vgprs);
	put_number(w, "sgprs", l->sgprs);
	put_number(w, "lds_bytes", l->lds_bytes);
	put_number(w, "scratch_bytes", l->scratch_bytes);
	put_triple(w, "workgroup", l->workgroup);
	put_triple(w, "grid", l->grid);
	put_number(w, "workgroups", l->workgroups);
	put_number(w, "waves", l->waves);
	put_number(w, "duration_ns", is_timed ? l->end_ns - l->start_ns : NO_VALUE);
	json_w_kv_bool(w, "is_other_run", l->is_other_run);
	json_w_kv_cstr(w, "command", l->command);
	json_w_end(w);
}

static void put_notes(const struct trace *t, struct json_writer *w)
{
	json_w_key(w, "notes");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_notes; i++) {
		const struct note *n = &t->notes[i];

		json_w_object(w);
		json_w_kv_cstr(w, "kind", note_kind_name(n->kind));
		json_w_kv_cstr(w, "code", n->code);
		json_w_kv_cstr(w, "message", n->message);
		json_w_kv_cstr(w, "path", n->path);
		if (n->offset == INCORE_NO_OFFSET)
			json_w_kv_null(w, "offset");
		else
			json_w_kv_u64(w, "offset", n->offset);
		json_w_kv_u64(w, "count", n->count);
		json_w_end(w);
	}
	json_w_end(w);
}

void info_json(const struct info *i, struct json_writer *w)
{
	const struct trace *t = i->trace;

	json_w_kv_cstr(w, "dir", i->dir);
	json_w_kv_cstr(w, "path", t->meta.origin);
	json_w_kv_cstr(w, "format", t->meta.format);
	json_w_kv_cstr(w, "format_version", t->meta.format_version);
	json_w_kv_cstr(w, "vendor", vendor_name(t->meta.vendor));
	json_w_kv_cstr(w, "evidence", evidence_name(t->meta.evidence));
	json_w_kv_cstr(w, "kernel", t->meta.kernel);
	json_w_kv_cstr(w, "arch", t->meta.arch);
	json_w_kv_cstr(w, "arch_source", t->meta.arch_source);
	put_number(w, "gfxip", t->meta.gfx_major ? (int64_t)t->meta.gfx_major : NO_VALUE);
	put_clocks(t, w);
	put_code(i, w);
	put_tracks(i, w);
	put_occupancy(i, w);
	put_counters(t, w);
	put_machine(&t->meta.machine, w);
	put_launch(&t->meta.launch, w);
	put_notes(t, w);
}
