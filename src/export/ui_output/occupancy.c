/* SPDX-License-Identifier: Apache-2.0 */
/*
 * occupancy.c: starts and ends of the waves of all CUs, and the names of kernels, occupancy.json.
 * Version 3.0.0 has six columns; if the trace has workgroups, queues or events, version 3.1.0 is
 * written, with eleven and the events. The trace does not know whether a start was extended: 0.
 */
#include "export/ui_output/writer.h"

#include "base/search.h"

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

static void put_list(struct ui_writer *u, clock_idx clock, unsigned n_columns)
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

static int compare_names(const void *pa, const void *pb)
{
	const struct kernel_name *const *a = pa, *const *b = pb;

	return ui_cmp_key((*a)->id, (*b)->id);
}

static bool put_names(struct ui_writer *u)
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
	SORT(sorted, t->n_kernel_names, compare_names);
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

static void put_known(struct json_writer *w, const char *key, int64_t v)
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
		put_known(w, "lds_size", d->lds_bytes);
	json_w_kv_u64(w, "me_id", d->me);
	json_w_kv_u64(w, "pipe_id", d->pipe);
	if (d->is_dispatch) {
		put_known(w, "sgprs", d->sgprs);
		put_known(w, "thread_dim_x", d->thread_dim[0]);
		put_known(w, "thread_dim_y", d->thread_dim[1]);
		put_known(w, "thread_dim_z", d->thread_dim[2]);
	}
	json_w_kv_u64(w, "time", d->time_cyc);
	if (!d->is_dispatch)
		json_w_kv_u64(w, "type", d->type);
	else
		put_known(w, "vgprs", d->vgprs);
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

static bool put_occupancy(struct ui_writer *u, const clock_idx *order)
{
	const struct trace *t = u->x->trace;
	struct json_writer *w = &u->w;
	bool is_wide = is_extended(t);

	json_w_object(w);
	for (clock_idx c = 0; c < t->n_clocks; c++)
		put_list(u, order[c], is_wide ? N_FIELDS : N_BASIC);
	if (!put_names(u))
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

bool ui_write_occupancy(struct ui_writer *u, struct incore_error *e)
{
	clock_idx *order = ui_clocks_by_key(u->x->trace);
	bool ok = order ? ui_file_open(u, "occupancy.json", e) : err_nomem(e);

	if (ok && !put_occupancy(u, order))
		ok = err_nomem(e);
	mem_free(order);
	return ok && ui_file_close(u, e);
}
