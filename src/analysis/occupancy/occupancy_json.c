/* SPDX-License-Identifier: Apache-2.0 */
/* occupancy_json.c: occupancy as JSON, and the line that says how much of the launch was seen. */
#include <inttypes.h>

#include "analysis/occupancy/occupancy.h"
#include "analysis/ratio.h"

static void put_stats(struct json_writer *w, const struct occupancy_stats *s)
{
	json_w_kv_u64(w, "events", s->events);
	json_w_kv_u64(w, "starts", s->starts);
	json_w_kv_u64(w, "ends", s->ends);
	json_w_kv_u64(w, "peak_waves", s->peak);
	json_w_kv_u64(w, "wave_cycles", s->wave_cyc);
	json_w_kv_u64(w, "busy_cycles", s->busy_cyc);
	json_w_kv_i64(w, "first_cycle", s->first_cyc);
	json_w_kv_i64(w, "last_cycle", s->last_cyc);
	json_w_kv_u64(w, "unmatched_ends", s->unmatched_ends);
	json_w_kv_u64(w, "open", s->open);
	ratio_json(w, "mean_while_busy", s->wave_cyc, s->busy_cyc);
}

static double us_of(const struct trace *t, uint64_t cyc)
{
	double mhz = trace_clock_mhz(t);

	return mhz > 0 ? (double)cyc / mhz : 0;
}

static void put_us(struct json_writer *w, const struct trace *t, const char *key, uint64_t cyc)
{
	if (trace_clock_mhz(t) > 0)
		json_w_kv_double(w, key, us_of(t, cyc), 3);
	else
		json_w_kv_null(w, key);
}

static void put_all(const struct occupancy *o, struct json_writer *w)
{
	json_w_key(w, "all");
	json_w_object(w);
	put_stats(w, &o->all);
	json_w_kv_u64(w, "span", o->span_cyc);
	put_us(w, o->trace, "span_us", o->span_cyc);
	json_w_kv_double(w, "mean_waves", occupancy_mean(o), 4);
	json_w_kv_u64(w, "peak_per_simd", o->peak_per_simd);
	json_w_kv_u64(w, "below_half_peak", o->below_half_cyc);
	json_w_kv_double(w, "below_half_peak_share", occupancy_below_half(o), 6);
	json_w_kv_u64(w, "tail", o->tail_cyc);
	json_w_kv_double(w, "starts_per_kilocycle", occupancy_launch_rate(o), 3);
	json_w_kv_double(w, "cu_balance", occupancy_cu_balance(o), 4);
	json_w_kv_bool(w, "is_aligned", o->is_aligned);
	json_w_kv_cstr(w, "source", o->is_from_tracks ? "waves" : "events");
	json_w_end(w);
}

static void put_ses(const struct occupancy *o, struct json_writer *w)
{
	json_w_key(w, "ses");
	json_w_array(w);
	for (uint32_t i = 0; i < o->n_ses; i++) {
		const struct occupancy_se *x = &o->ses[i];

		json_w_row_object(w);
		json_w_kv_u64(w, "se", x->se);
		put_stats(w, &x->stats);
		json_w_kv_u64(w, "cus", x->n_cus);
		json_w_kv_u64(w, "peak_per_simd", x->peak_per_simd);
		json_w_kv_u64(w, "target_cu_starts", x->target_cu_starts);
		json_w_kv_bool(w, "is_aligned", x->is_aligned);
		json_w_end(w);
	}
	json_w_end(w);
}

/* Mean waves in each part of the span, of one CU or SIMD. */
static void put_unit_series(const struct occupancy *o, uint32_t unit, struct json_writer *w)
{
	json_w_key(w, "waves");
	json_w_row(w);
	for (uint32_t i = 0; i < o->n_bins && o->span_cyc; i++) {
		int64_t from, to;

		occupancy_bin(o, i, &from, &to);
		json_w_double(w,
			(double)o->bin_unit_wave_cyc[(size_t)unit * o->n_bins + i] /
				(to > from ? (double)((uint64_t)to - (uint64_t)from) : 1),
			2);
	}
	json_w_end(w);
}

static void put_cus(const struct occupancy *o, struct json_writer *w)
{
	json_w_key(w, "cus");
	json_w_array(w);
	for (uint32_t i = 0; i < o->n_cus; i++) {
		json_w_row_object(w);
		json_w_kv_u64(w, "se", o->cus[i].se);
		json_w_kv_u64(w, "cu", o->cus[i].cu);
		put_stats(w, &o->cus[i].stats);
		json_w_kv_u64(w, "peak_per_simd", o->cus[i].peak_per_simd);
		json_w_kv_bool(w, "is_target", o->cus[i].is_target);
		if (o->series == SERIES_CU)
			put_unit_series(o, i, w);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_key(w, "simds");
	json_w_array(w);
	for (uint32_t i = 0; i < o->n_simds; i++) {
		json_w_row_object(w);
		json_w_kv_u64(w, "se", o->simds[i].se);
		json_w_kv_u64(w, "cu", o->simds[i].cu);
		json_w_kv_u64(w, "simd", o->simds[i].simd);
		put_stats(w, &o->simds[i].stats);
		if (o->series == SERIES_SIMD)
			put_unit_series(o, i, w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_kernels(const struct occupancy *o, struct json_writer *w)
{
	json_w_key(w, "kernels");
	json_w_array(w);
	for (uint32_t i = 0; i < o->n_kernels; i++) {
		const struct occupancy_kernel *k = &o->kernels[i];

		json_w_row_object(w);
		json_w_kv_cstr(w, "name", k->name);
		json_w_kv_u64(w, "ids", k->n_ids);
		json_w_kv_u64(w, "ids_used", k->n_used);
		put_stats(w, &k->stats);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_key(w, "kernel_ids");
	json_w_array(w);
	for (uint32_t i = 0; i < o->n_kernel_ids; i++) {
		json_w_row_object(w);
		json_w_kv_u64(w, "id", o->kernel_ids[i].id);
		json_w_kv_cstr(w, "name", o->kernel_ids[i].name);
		json_w_kv_u64(w, "starts", o->kernel_ids[i].starts);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_series(const struct occupancy *o, struct json_writer *w)
{
	json_w_key(w, "series");
	json_w_array(w);
	for (uint32_t i = 0; i < o->n_bins && o->span_cyc; i++) {
		int64_t from, to;
		double cyc;

		occupancy_bin(o, i, &from, &to);
		cyc = to > from ? (double)((uint64_t)to - (uint64_t)from) : 1;
		json_w_row_object(w);
		json_w_kv_i64(w, "from", from - o->all.first_cyc);
		json_w_kv_i64(w, "to", to - o->all.first_cyc);
		json_w_kv_double(w, "mean_waves", (double)o->bin_wave_cyc[i] / cyc, 3);
		json_w_key(w, "by_se");
		json_w_row(w);
		for (uint32_t s = 0; s < o->n_ses; s++)
			json_w_double(
				w, (double)o->bin_se_wave_cyc[(size_t)s * o->n_bins + i] / cyc, 3);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_launch(const struct occupancy *o, struct json_writer *w)
{
	const struct trace_launch *l = &o->trace->meta.launch;

	json_w_key(w, "launch");
	json_w_object(w);
	known_json(w, "dispatch", l->dispatch);
	known_json(w, "kernel_id", l->kernel_id);
	known_json(w, "launch_index", l->launch_index);
	known_json(w, "launch_count", l->launch_count);
	known_json(w, "workgroups", l->workgroups);
	known_json(w, "waves", l->waves);
	json_w_end(w);
}

static const char *const event_names[OCCUPANCY_EVENT_TYPES] = {"none", "partial-flush",
	"bottom-of-pipe", "save-context", "dispatch-end", "cache-flush", "packet-loss",
	"code-object-load", "code-object-unload", "trace-stall-begin", "trace-stall-end",
	"trace-flush", "didt-stall-begin", "didt-stall-end", "cluster-barrier", "reserved",
	"gc-rinse", "spm-sample"};

const char *occupancy_event_name(uint32_t type)
{
	return type < OCCUPANCY_EVENT_TYPES ? event_names[type] : "unknown";
}

static void put_dispatches(const struct occupancy *o, struct json_writer *w)
{
	const struct trace *t = o->trace;

	json_w_key(w, "dispatches");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_dispatch_events; i++) {
		const struct dispatch_event *d = &t->dispatch_events[i];

		if (!d->is_dispatch)
			continue;
		json_w_row_object(w);
		json_w_kv_i64(w, "cycle", trace_aligned(t, d->clock, d->time_cyc));
		json_w_kv_u64(w, "se", d->clock < t->n_clocks ? t->clocks[d->clock].id : 0);
		json_w_kv_u64(w, "kernel_id", d->kernel_id);
		json_w_kv_cstr(w, "name", d->kernel_name);
		known_json(w, "vgprs", d->vgprs);
		known_json(w, "sgprs", d->sgprs);
		known_json(w, "lds_bytes", d->lds_bytes);
		json_w_key(w, "threads");
		json_w_row(w);
		for (unsigned k = 0; k < 3 && d->thread_dim[0] != NO_VALUE; k++)
			json_w_i64(w, d->thread_dim[k]);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_hardware_events(const struct occupancy *o, struct json_writer *w)
{
	const struct trace *t = o->trace;
	uint64_t n[OCCUPANCY_EVENT_TYPES + 1] = {0};

	for (uint32_t i = 0; i < t->n_dispatch_events; i++) {
		const struct dispatch_event *d = &t->dispatch_events[i];

		if (!d->is_dispatch)
			n[d->type < OCCUPANCY_EVENT_TYPES ? d->type : OCCUPANCY_EVENT_TYPES]++;
	}
	json_w_key(w, "hardware_events");
	json_w_object(w);
	for (unsigned k = 0; k <= OCCUPANCY_EVENT_TYPES; k++)
		if (n[k])
			json_w_kv_u64(w, occupancy_event_name(k), n[k]);
	json_w_end(w);
}

static void put_coverage(const struct occupancy *o, struct json_writer *w)
{
	struct strbuf sb = {0};
	uint64_t whole = o->launched_waves ? o->launched_waves : o->all.starts;

	json_w_key(w, "coverage");
	json_w_object(w);
	json_w_kv_u64(w, "traced_waves", o->traced_waves);
	json_w_kv_u64(w, "resident_waves", o->all.starts);
	if (o->launched_waves)
		json_w_kv_u64(w, "launched_waves", o->launched_waves);
	else
		json_w_kv_null(w, "launched_waves");
	if (whole)
		json_w_kv_double(w, "traced_share", (double)o->traced_waves / (double)whole, 6);
	else
		json_w_kv_null(w, "traced_share");
	json_w_kv_u64(w, "ses", o->n_ses);
	known_json(w, "target_cu", o->trace->meta.target_cu);
	if (trace_clock_mhz(o->trace) > 0)
		json_w_kv_double(w, "clock_mhz", trace_clock_mhz(o->trace), 2);
	else
		json_w_kv_null(w, "clock_mhz");
	if (occupancy_put_coverage(o, &sb))
		json_w_kv_str(w, "sentence", (struct str){sb.p, sb.n});
	else
		w->is_failed = true;
	json_w_end(w);
	sb_free(&sb);
}

bool occupancy_put_coverage(const struct occupancy *o, struct strbuf *out)
{
	const struct trace *t = o->trace;
	uint64_t whole = o->launched_waves ? o->launched_waves : o->all.starts;

	sb_put_u64(out, o->traced_waves);
	sb_puts(out, " of ");
	sb_put_u64(out, whole);
	sb_puts(out,
		o->launched_waves ? " launched waves traced" : " waves of the traced SEs traced");
	if (whole)
		sb_printf(out, " (%.1f %%)", 100.0 * (double)o->traced_waves / (double)whole);
	sb_printf(out, ", %u SE%s", o->n_ses, plural(o->n_ses));
	if (t->meta.target_cu != NO_VALUE)
		sb_printf(out, ", CU %" PRId64, t->meta.target_cu);
	if (trace_clock_mhz(t) > 0)
		sb_printf(out, ", %.1f MHz", trace_clock_mhz(t));
	sb_puts(out, ", span ");
	sb_put_u64(out, o->span_cyc);
	sb_puts(out, " cycles");
	if (trace_clock_mhz(t) > 0)
		sb_printf(out, " = %.2f us", us_of(t, o->span_cyc));
	return !out->failed;
}

void occupancy_json(const struct occupancy *o, struct json_writer *w)
{
	put_coverage(o, w);
	put_launch(o, w);
	put_all(o, w);
	put_ses(o, w);
	put_cus(o, w);
	put_kernels(o, w);
	put_dispatches(o, w);
	put_hardware_events(o, w);
	put_series(o, w);
}
