/* SPDX-License-Identifier: Apache-2.0 */
/* summary_json.c: the page as JSON; each part is written by the analysis that made it. */
#include "analysis/summary/summary.h"

#include "analysis/code/flydsl_hotspot.h"
#include "analysis/ratio.h"

static void put_code(const struct trace *t, const char *key, code_idx code, struct json_writer *w)
{
	const struct code_row *r = code < t->n_code ? &t->code[code] : NULL;

	json_w_key(w, key);
	if (!r) {
		json_w_null(w);
		return;
	}
	json_w_row_object(w);
	json_w_kv_i64(w, "row", r->number);
	json_w_kv_u64(w, "address", r->address);
	json_w_kv_cstr(w, "isa", r->text);
	json_w_kv_cstr(w, "source", r->source && r->source[0] ? r->source : NULL);
	json_w_end(w);
}

static void put_bound(const struct summary *s, struct json_writer *w)
{
	const struct bound *b = &s->bound;
	bool has_cause = b->where != NO_CODE;

	json_w_key(w, "bound");
	json_w_object(w);
	json_w_kv_bool(w, "has_verdict", b->has_verdict);
	json_w_kv_cstr(w, "reason", b->reason);
	json_w_kv_cstr(w, "family", b->has_verdict ? family_name(b->family) : NULL);
	json_w_kv_double(w, "share", b->share, 6);
	json_w_kv_u64(w, "exposed", b->exposed_cyc);
	json_w_kv_u64(w, "hidden", b->hidden_cyc);
	json_w_kv_u64(w, "of", s->duration_cyc);
	json_w_kv_cstr(w, "second_family", b->has_verdict ? family_name(b->second) : NULL);
	json_w_kv_u64(w, "second_exposed", b->second_exposed_cyc);
	json_w_kv_bool(w, "mixed", b->is_mixed);
	json_w_kv_double(w, "noise_floor", b->noise, 6);
	json_w_kv_cstr(w, "noise_source", b->n_repeats ? "repeats" : "assumed");
	json_w_kv_u64(w, "repeats", b->n_repeats);
	json_w_kv_cstr(w, "cause", has_cause ? s->causes->v[b->cause].name : NULL);
	put_code(s->trace, "where", b->where, w);
	json_w_kv_u64(w, "where_exposed", b->where_exposed_cyc);
	put_code(s->trace, "producer", b->producer, w);
	json_w_end(w);
}

static void put_provenance(const struct trace *t, struct json_writer *w)
{
	const struct trace_meta *m = &t->meta;

	json_w_key(w, "provenance");
	json_w_object(w);
	json_w_kv_cstr(w, "path", m->origin);
	json_w_kv_cstr(w, "kernel", m->kernel);
	json_w_kv_cstr(w, "arch", m->arch);
	json_w_kv_cstr(w, "product", m->machine.product);
	known_json(w, "agent", m->launch.agent);
	known_json(w, "dispatch", m->launch.dispatch);
	known_json(w, "launch_index", m->launch.launch_index);
	known_json(w, "launch_count", m->launch.launch_count);
	json_w_kv_cstr(w, "command", m->launch.command);
	json_w_kv_cstr(w, "format", m->format);
	json_w_kv_cstr(w, "format_version", m->format_version);
	json_w_end(w);
}

static void put_clocks(const struct trace *t, struct json_writer *w)
{
	double mhz = trace_clock_mhz(t);

	json_w_key(w, "clocks");
	json_w_object(w);
	json_w_key(w, "clock_mhz");
	if (mhz > 0)
		json_w_double(w, mhz, 3);
	else
		json_w_null(w);
	json_w_kv_cstr(w, "source", t->meta.clock_source);
	known_json(w, "max_clock_mhz", t->meta.machine.max_clock_mhz);
	json_w_key(w, "domains");
	json_w_array(w);
	for (uint32_t i = 0; i < t->n_clocks; i++) {
		const struct clock_domain *d = &t->clocks[i];

		json_w_row_object(w);
		json_w_kv_u64(w, "id", d->id);
		json_w_kv_bool(w, "aligned", d->is_aligned);
		json_w_kv_i64(w, "offset", d->offset_cyc);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

/* Shares of the sums of the recorded columns, as the vendor's viewer shows them. */
static void put_pie(const struct hot *h, struct json_writer *w)
{
	const struct code_totals *t = &h->all.totals;

	json_w_key(w, "viewer_pie");
	json_w_row_object(w);
	json_w_kv_u64(w, "idle", t->idle);
	json_w_kv_u64(w, "stall", t->stall);
	json_w_kv_u64(w, "issue", t->latency - t->stall);
	json_w_end(w);
}

static void put_classes(const struct hot *h, struct json_writer *w)
{
	json_w_key(w, "classes");
	json_w_array(w);
	for (unsigned k = 0; k < CLASS_COUNT; k++) {
		const struct hot_sums *s = &h->classes[k];

		if (!s->totals.hit && !hot_cycles(s))
			continue;
		json_w_row_object(w);
		json_w_kv_cstr(w, "class", class_name(k));
		json_w_kv_u64(w, "hit", s->totals.hit);
		json_w_kv_u64(w, "latency", s->totals.latency);
		json_w_kv_u64(w, "stall", s->totals.stall);
		json_w_kv_u64(w, "idle", s->totals.idle);
		json_w_key(w, "buckets");
		json_w_row_object(w);
		for (unsigned b = 0; b < BUCKET_COUNT; b++)
			json_w_kv_u64(w, bucket_name(b), s->bucket[b]);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_rows(
	const struct summary *s, const struct summary_row *v, uint64_t n, struct json_writer *w)
{
	json_w_array(w);
	for (uint64_t i = 0; i < n; i++) {
		const struct cause_cell *c = causes_main_of_row(s->causes, v[i].code);
		struct strbuf name = {0};

		json_w_row_object(w);
		if (v[i].line != UINT32_MAX) {
			source_line_put(&s->lines, &s->lines.lines[v[i].line], &name);
			json_w_kv_cstr(w, "line", name.p ? name.p : "");
			w->is_failed |= name.failed;
		}
		put_code(s->trace, v[i].line == UINT32_MAX ? "at" : "costliest", v[i].code, w);
		json_w_kv_u64(w, "hit", v[i].hits);
		json_w_kv_u64(w, "cycles", v[i].cycles);
		json_w_kv_u64(w, "lost", v[i].lost_cyc);
		json_w_kv_u64(w, "exposed", v[i].exposed_cyc);
		json_w_kv_cstr(w, "cause", c ? s->causes->v[c->cause].name : NULL);
		json_w_end(w);
		sb_free(&name);
	}
	json_w_end(w);
}

/* Stated stall by the types of the older hotspot script, so that its published shares can be
 * checked; largest first. */
static void put_legacy_types(const struct trace *t, struct json_writer *w)
{
	uint64_t sums[FLYDSL_TYPE_COUNT] = {0};

	flydsl_stall_by_type(t, sums);
	json_w_key(w, "legacy_stall_by_type");
	json_w_object(w);
	for (unsigned n = 0; n < FLYDSL_TYPE_COUNT; n++) {
		unsigned best = 0;

		for (unsigned i = 1; i < FLYDSL_TYPE_COUNT; i++)
			best = sums[i] > sums[best] ? i : best;
		if (!sums[best])
			break;
		json_w_kv_u64(w, flydsl_type_name((enum flydsl_type)best), sums[best]);
		sums[best] = 0;
	}
	json_w_end(w);
}

static void put_source(const struct summary *s, struct json_writer *w)
{
	json_w_key(w, "source");
	source_quality_json(&s->lines, w);
	put_legacy_types(s->trace, w);
	json_w_key(w, "regions");
	if (s->regions)
		regions_json(s->trace, s->regions, s->n_regions, w);
	else
		json_w_null(w);
}

static void put_advice(const struct summary *s, struct json_writer *w)
{
	json_w_key(w, "advice");
	json_w_array(w);
	for (uint32_t i = 0; i < s->n_advice; i++) {
		const struct advice *a = &s->advice[i];

		json_w_object(w);
		json_w_kv_cstr(w, "cause", s->causes->v[a->cause].name);
		put_code(s->trace, "where", a->code, w);
		json_w_kv_u64(w, "exposed", a->exposed_cyc);
		json_w_kv_cstr(w, "evidence", a->evidence);
		json_w_kv_cstr(w, "experiment", a->experiment);
		json_w_kv_cstr(w, "prediction", a->prediction);
		json_w_end(w);
	}
	json_w_end(w);
}

static void put_occupancy(const struct summary *s, struct json_writer *w)
{
	const struct occupancy *o = &s->occupancy;

	json_w_key(w, "occupancy");
	json_w_object(w);
	json_w_kv_u64(w, "peak_per_simd", o->peak_per_simd);
	json_w_kv_u64(w, "peak", o->all.peak);
	json_w_kv_double(w, "mean", occupancy_mean(o), 3);
	json_w_kv_double(w, "below_half_peak", occupancy_below_half(o), 6);
	json_w_kv_u64(w, "span", o->span_cyc);
	json_w_kv_u64(w, "tail", o->tail_cyc);
	json_w_kv_double(w, "cu_balance", occupancy_cu_balance(o), 3);
	json_w_kv_bool(w, "is_from_waves", o->is_from_tracks);
	json_w_key(w, "limits");
	limits_json(&s->limits, w);
	json_w_end(w);
}

static void put_cycles(const struct summary *s, struct json_writer *w)
{
	json_w_key(w, "accounting");
	buckets_json(s->waves->bucket, s->duration_cyc, w);
	bucket_shares_json(s->waves->bucket, s->duration_cyc, w);
	json_w_kv_i64(w, "residue", s->causes->residue_cyc);
	put_pie(s->hot, w);
	json_w_key(w, "states");
	states_json(&s->waves->states->all, w);
	json_w_key(w, "hidden");
	hidden_json(s->hidden, w);
	json_w_key(w, "utilization");
	utilization_json(s->utilization->cyc, w);
	json_w_key(w, "utilization_shares");
	utilization_shares_json(s->utilization->cyc, w);
	json_w_key(w, "utilization_by_simd");
	utilization_simds_json(s->utilization, w);
	json_w_key(w, "matrix");
	matrix_json(s->matrix, w);
	put_classes(s->hot, w);
	causes_json(s->causes, w);
}

void summary_json(const struct summary *s, uint64_t top, struct json_writer *w)
{
	json_w_kv_cstr(w, "verdict", s->sentence);
	put_bound(s, w);
	put_provenance(s->trace, w);
	json_w_key(w, "health");
	json_w_object(w);
	check_json(s->check, w);
	json_w_end(w);
	json_w_kv_cstr(w, "coverage", s->coverage);
	put_clocks(s->trace, w);
	json_w_kv_u64(w, "waves", s->waves->n_waves);
	json_w_kv_u64(w, "instructions", s->waves->n_instructions);
	put_cycles(s, w);
	json_w_key(w, "producers");
	json_w_object(w);
	producers_json(s->producers, ATTRIBUTION_BLOCKING, UINT64_MAX, w);
	producers_json_edges(s->producers, top, w);
	json_w_end(w);
	json_w_key(w, "rows");
	put_rows(s, s->rows, top < s->n_rows ? top : s->n_rows, w);
	json_w_key(w, "lines");
	put_rows(s, s->line_rows, top < s->n_line_rows ? top : s->n_line_rows, w);
	put_source(s, w);
	json_w_key(w, "loops");
	loops_json(s->loops, w);
	json_w_key(w, "duration");
	duration_json(&s->waves->duration, w);
	json_w_key(w, "clusters");
	clusters_json(s->waves->clusters, w);
	json_w_key(w, "barriers");
	barriers_json(s->waves->barriers, w);
	put_occupancy(s, w);
	put_advice(s, w);
}
