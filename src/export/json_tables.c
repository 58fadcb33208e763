/* SPDX-License-Identifier: Apache-2.0 */
/* json_tables.c: meta, code and side tables of the json export. Times are of the clock domain. */
#include "export/json_tables.h"

void json_put_index(struct json_writer *w, uint32_t index)
{
	if (index == UINT32_MAX)
		json_w_null(w);
	else
		json_w_u64(w, index);
}

void json_put_value(struct json_writer *w, const char *key, int64_t v)
{
	if (v == NO_VALUE)
		json_w_kv_null(w, key);
	else
		json_w_kv_i64(w, key, v);
}

static void put_dims(struct json_writer *w, const char *key, const int64_t v[3])
{
	json_w_key(w, key);
	json_w_row(w);
	for (int i = 0; i < 3; i++) {
		if (v[i] == NO_VALUE)
			json_w_null(w);
		else
			json_w_i64(w, v[i]);
	}
	json_w_end(w);
}

static void put_launch(struct json_writer *w, const struct trace_launch *l)
{
	json_w_key(w, "launch");
	json_w_object(w);
	json_put_value(w, "agent", l->agent);
	json_put_value(w, "dispatch", l->dispatch);
	json_put_value(w, "kernel_id", l->kernel_id);
	json_put_value(w, "launch_index", l->launch_index);
	json_put_value(w, "launch_count", l->launch_count);
	json_put_value(w, "vgprs", l->vgprs);
	json_put_value(w, "accum_vgprs", l->accum_vgprs);
	json_put_value(w, "sgprs", l->sgprs);
	json_put_value(w, "lds_bytes", l->lds_bytes);
	json_put_value(w, "scratch_bytes", l->scratch_bytes);
	put_dims(w, "workgroup", l->workgroup);
	put_dims(w, "grid", l->grid);
	json_put_value(w, "workgroups", l->workgroups);
	json_put_value(w, "waves", l->waves);
	json_put_value(w, "start_ns", l->start_ns);
	json_put_value(w, "end_ns", l->end_ns);
	json_w_kv_bool(w, "is_other_run", l->is_other_run);
	json_w_kv_cstr(w, "command", l->command);
	json_w_end(w);
}

static void put_machine(struct json_writer *w, const struct trace_machine *m)
{
	json_w_key(w, "machine");
	json_w_object(w);
	json_put_value(w, "simds", m->simds);
	json_put_value(w, "cus", m->cus);
	json_put_value(w, "ses", m->ses);
	json_put_value(w, "xccs", m->xccs);
	json_put_value(w, "max_waves_per_simd", m->max_waves_per_simd);
	json_put_value(w, "lds_bytes_per_cu", m->lds_bytes_per_cu);
	json_put_value(w, "wave_size", m->wave_size);
	json_put_value(w, "max_clock_mhz", m->max_clock_mhz);
	json_w_kv_cstr(w, "product", m->product);
	json_w_end(w);
}

void json_put_meta(struct json_writer *w, const struct trace *t)
{
	const struct trace_meta *m = &t->meta;

	json_w_key(w, "meta");
	json_w_object(w);
	json_w_kv_cstr(w, "vendor", vendor_name(m->vendor));
	json_w_kv_cstr(w, "evidence", evidence_name(m->evidence));
	json_w_kv_cstr(w, "format", m->format);
	json_w_kv_cstr(w, "format_version", m->format_version);
	json_w_kv_cstr(w, "kernel", m->kernel);
	json_w_kv_cstr(w, "arch", m->arch);
	json_w_kv_cstr(w, "arch_source", m->arch_source);
	json_w_kv_u64(w, "gfx_major", m->gfx_major);
	json_w_key(w, "clock_hz"); /* an exact fraction, or null */
	if (m->clock_hz_den) {
		json_w_row(w);
		json_w_u64(w, m->clock_hz_num);
		json_w_u64(w, m->clock_hz_den);
		json_w_end(w);
	} else {
		json_w_null(w);
	}
	json_w_kv_cstr(w, "clock_source", m->clock_source);
	json_w_kv_u64(w, "clock_quantum", m->clock_quantum);
	json_put_value(w, "target_cu", m->target_cu);
	put_launch(w, &m->launch);
	put_machine(w, &m->machine);
	json_w_end(w);
}

static void put_frames(struct json_writer *w, const struct trace *t, const struct code_row *r)
{
	json_w_key(w, "frames"); /* innermost first */
	json_w_row(w);
	for (uint32_t i = 0; i < r->n_frames; i++) {
		const struct frame *f = &t->frames[r->first_frame + i];

		json_w_row(w);
		json_put_index(w, f->source);
		json_w_u64(w, f->line);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_samples(struct json_writer *w, const struct code_samples *s)
{
	json_w_key(w, "samples");
	json_w_object(w);
	json_w_kv_u64(w, "issued", s->issued);
	json_w_kv_u64(w, "stalled", s->stalled);
	json_w_key(w, "reasons");
	json_w_row(w);
	for (int i = 0; i < STALL_REASONS; i++)
		json_w_u64(w, s->reason[i]);
	json_w_end(w);
	json_w_end(w);
}

static void put_stated(struct json_writer *w, const struct code_totals *s)
{
	json_w_key(w, "stated");
	json_w_object(w);
	json_w_kv_u64(w, "hit", s->hit);
	json_w_kv_u64(w, "latency_cycles", s->latency);
	json_w_kv_u64(w, "stall_cycles", s->stall);
	json_w_kv_u64(w, "idle_cycles", s->idle);
	json_w_end(w);
}

void json_put_code(struct json_writer *w, const struct trace *t)
{
	json_w_key(w, "code");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];

		json_w_row_object(w);
		json_w_kv_i64(w, "row", r->number);
		json_w_kv_u64(w, "address", r->address);
		json_w_kv_u64(w, "code_object", r->code_object);
		json_w_kv_str(w, "isa", (struct str){r->text, r->text_len});
		json_w_kv_cstr(w, "class", class_name((enum inst_class)r->inst_class));
		json_w_kv_bool(w, "is_label", r->is_label);
		json_w_kv_cstr(w, "source", r->source);
		put_frames(w, t, r);
		if (t->has_stated_totals)
			put_stated(w, &r->stated);
		if (t->samples)
			put_samples(w, &t->samples[i]);
		json_w_end(w);
	}
	json_w_end(w);
}

void json_put_sources(struct json_writer *w, const struct trace *t)
{
	json_w_key(w, "sources");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_sources; i++) {
		const struct source_file *s = &t->sources[i];

		json_w_object(w);
		json_w_kv_cstr(w, "path", s->path);
		json_w_kv_cstr(w, "snapshot", s->snapshot);
		json_w_kv_u64(w, "lines", s->n_lines);
		json_w_key(w, "text");
		if (s->text)
			json_w_str(w, (struct str){s->text, s->text_len});
		else
			json_w_null(w);
		json_w_end(w);
	}
	json_w_end(w);
}

void json_put_clocks(struct json_writer *w, const struct trace *t)
{
	json_w_key(w, "clocks");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_clocks; i++) {
		const struct clock_domain *c = &t->clocks[i];

		json_w_object(w);
		json_w_kv_u64(w, "id", c->id);
		json_w_kv_bool(w, "is_aligned", c->is_aligned);
		json_w_kv_i64(w, "offset_cycles", c->offset_cyc);
		json_w_key(w, "samples"); /* [cycles, realtime ticks] */
		json_w_array(w);
		for (uint32_t k = 0; k < c->n_samples; k++) {
			json_w_row(w);
			json_w_i64(w, c->samples[k][0]);
			json_w_i64(w, c->samples[k][1]);
			json_w_end(w);
		}
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_occupancy(struct json_writer *w, const struct trace *t)
{
	static const char *const names[] = {"time_cycles", "clock", "cu", "simd", "slot",
		"kernel_id", "is_start", "me", "pipe", "workgroup", "cluster"};

	json_w_key(w, "occupancy_columns");
	json_w_row(w);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		json_w_cstr(w, names[i]);
	json_w_end(w);
	json_w_key(w, "occupancy");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		const struct occupancy_event *o = &t->occupancy[i];

		json_w_row(w);
		json_w_u64(w, o->time_cyc);
		json_put_index(w, o->clock);
		json_w_u64(w, o->cu);
		json_w_u64(w, o->simd);
		json_w_u64(w, o->slot);
		json_put_index(w, o->kernel_id);
		json_w_u64(w, o->is_start);
		json_w_u64(w, o->me);
		json_w_u64(w, o->pipe);
		json_w_u64(w, o->workgroup);
		json_w_u64(w, o->cluster);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_dispatches(struct json_writer *w, const struct trace *t)
{
	json_w_key(w, "kernels");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_kernel_names; i++) {
		json_w_object(w);
		json_w_kv_u64(w, "id", t->kernel_names[i].id);
		json_w_kv_cstr(w, "name", t->kernel_names[i].name);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_key(w, "dispatch_events");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_dispatch_events; i++) {
		const struct dispatch_event *d = &t->dispatch_events[i];

		json_w_object(w);
		json_w_kv_u64(w, "time_cycles", d->time_cyc);
		json_w_key(w, "clock");
		json_put_index(w, d->clock);
		json_w_kv_bool(w, "is_dispatch", d->is_dispatch);
		json_w_kv_u64(w, "type", d->type);
		json_w_kv_u64(w, "me", d->me);
		json_w_kv_u64(w, "pipe", d->pipe);
		json_w_key(w, "kernel_id");
		json_put_index(w, d->kernel_id);
		json_w_kv_u64(w, "flags", d->flags);
		json_w_kv_cstr(w, "kernel", d->kernel_name);
		json_put_value(w, "vgprs", d->vgprs);
		json_put_value(w, "sgprs", d->sgprs);
		json_put_value(w, "lds_bytes", d->lds_bytes);
		put_dims(w, "thread_dim", d->thread_dim);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_counters(struct json_writer *w, const struct trace *t)
{
	json_w_key(w, "counters");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_counters; i++) {
		const struct counter_series *c = &t->counters[i];

		json_w_object(w);
		json_w_kv_cstr(w, "name", c->name);
		json_w_key(w, "clock");
		json_put_index(w, c->clock);
		json_w_key(w, "cu");
		json_put_index(w, c->cu);
		json_w_key(w, "samples"); /* [time_cycles, increments] */
		json_w_array(w);
		for (uint32_t k = 0; k < c->n; k++) {
			json_w_row(w);
			json_w_u64(w, c->time_cyc[k]);
			json_w_u64(w, c->value[k]);
			json_w_end(w);
		}
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_markers(struct json_writer *w, const struct trace *t)
{
	json_w_key(w, "markers"); /* [time_cycles, value, clock, cu, simd, slot, flags] */
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_markers; i++) {
		const struct marker *m = &t->markers[i];

		json_w_row(w);
		json_w_u64(w, m->time_cyc);
		json_w_u64(w, m->value);
		json_put_index(w, m->clock);
		json_w_u64(w, m->cu);
		json_w_u64(w, m->simd);
		json_w_u64(w, m->slot);
		json_w_u64(w, m->flags);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_key(w, "other_issues"); /* [time_cycles, duration_cycles, category, clock] */
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_other_issues; i++) {
		const struct other_issue *o = &t->other_issues[i];

		json_w_row(w);
		json_w_u64(w, o->time_cyc);
		json_w_u64(w, o->dur_cyc);
		json_w_u64(w, o->category);
		json_put_index(w, o->clock);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_series(struct json_writer *w, const struct trace *t)
{
	json_w_key(w, "stated_series"); /* waves in a state over time, all clocks pooled */
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_stated_series; i++) {
		const struct stated_series *s = &t->stated_series[i];

		json_w_object(w);
		json_w_kv_u64(w, "state", s->state);
		json_w_key(w, "samples"); /* [time_cycles, waves] */
		json_w_array(w);
		for (uint32_t k = 0; k < s->n; k++) {
			json_w_row(w);
			json_w_u64(w, s->time_cyc[k]);
			json_w_u64(w, s->count[k]);
			json_w_end(w);
		}
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_links(struct json_writer *w, const struct trace *t)
{
	static const char *const kinds[] = {"flag", "barrier", "cross-core", "flow"};

	json_w_key(w, "links"); /* [from_track, from_slice, to_track, to_slice, kind] */
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_links; i++) {
		const struct link *l = &t->links[i];

		json_w_row(w);
		json_w_u64(w, l->from_track);
		json_w_u64(w, l->from_slice);
		json_w_u64(w, l->to_track);
		json_w_u64(w, l->to_slice);
		json_w_cstr(w, (unsigned)l->kind <= LINK_FLOW ? kinds[l->kind] : "unknown");
		json_w_end(w);
	}
	json_w_end(w);
}

void json_put_side_tables(struct json_writer *w, const struct trace *t)
{
	put_occupancy(w, t);
	put_dispatches(w, t);
	put_counters(w, t);
	put_markers(w, t);
	put_series(w, t);
	put_links(w, t);
}
