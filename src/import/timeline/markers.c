/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markers.c: the markers of an AMD trace as a timeline of scopes. Markers of a slot are in order;
 * a scope that is open when its wave ends, ends with it. Without names, values are not taken as
 * scopes, because they may be arbitrary.
 */
#include "import/marker_names.h"

#include "base/search.h"
#include "import/timeline/timeline.h"

#define MAX_SCOPES 64

struct name {
	uint64_t id;
	uint32_t code;	   /* code row of the timeline */
	uint32_t payloads; /* payload records that follow the marker */
	bool is_point;
};

struct slot_at { /* the source of markers */
	clock_idx clock;
	uint32_t cu, simd, slot;
};

struct marker_event { /* a marker, or the end of a wave */
	struct slot_at at;
	int64_t time;
	uint32_t order;
	uint64_t value;
	bool is_end;
};

ORDER(event_cmp, struct marker_event,
	UP(at.clock) UP(at.cu) UP(at.simd) UP(at.slot) UP(time) UP(is_end) UP(order))

struct scope {
	int64_t from;
	uint32_t code;
};

struct scopes {
	struct timeline l;
	struct trace *t;
	VEC(struct name) names;
	struct u64_map name_at;
	unsigned id_bits;
	VEC(struct marker_event) events;
	struct scope open[MAX_SCOPES];
	unsigned n_open, n_skip; /* n_skip: payload records still to skip */
	uint64_t n_too_deep, n_unknown, n_ambiguous;
};

static struct name *markers_name_of(struct scopes *x, uint64_t id)
{
	uint64_t *at = u64_map_at(&x->name_at, id);

	if (!at)
		return NULL;
	if (*at == 0) {
		if (!VEC_PUSH(&x->names, (struct name){.id = id, .code = TL_NONE}))
			return NULL;
		*at = x->names.n;
	}
	return &x->names.v[*at - 1];
}

static bool take_name(struct scopes *x, const struct named_table *k, uint32_t row)
{
	const char *kind = named_table_cell(k, row, "kind"),
		   *name = named_table_cell(k, row, "name");
	const char *source = named_table_cell(k, row, "source");
	uint64_t id, count;
	struct name *n;

	if (!kind || !name || !str_to_u64(str_of(named_table_cell(k, row, "id")), &id))
		return true;
	if (strcmp(kind, "clock-bits") == 0) {
		x->id_bits = id < MARKER_ID_BITS ? MARKER_ID_BITS - (unsigned)id : x->id_bits;
		return true;
	}
	n = markers_name_of(x, id);
	if (!n)
		return false;
	if (strcmp(kind, "payload") == 0) {
		n->payloads =
			str_to_u64(str_of(name), &count) && count < 1 << 16 ? (uint32_t)count : 0;
		return true;
	}
	if (n->code != TL_NONE) { /* name of another code object: the first one is kept */
		x->n_ambiguous += strcmp(x->l.rows.v[n->code].text, name) != 0;
		return true;
	}
	n->is_point = strcmp(kind, "point") == 0;
	n->code = tl_row(&x->l, str_of(name), str_of(kind));
	if (n->code != TL_NONE && source && *source)
		x->l.rows.v[n->code].source = source;
	return n->code != TL_NONE;
}

static bool take_names(struct scopes *x)
{
	for (uint32_t i = 0; i < x->t->n_tables; i++) {
		const struct named_table *k = &x->t->tables[i];

		for (uint32_t r = 0; strcmp(k->name, MARKER_NAMES) == 0 && r < k->n_rows; r++)
			if (!take_name(x, k, r))
				return false;
	}
	return true;
}

static bool take_events(struct scopes *x)
{
	const struct trace *t = x->t;
	bool has_slots = t->levels[3] && strcmp(t->levels[3], "slot") == 0;

	EACH (const struct marker, m, t->markers, t->n_markers) {
		struct marker_event v = {{m->clock, m->cu, m->simd, m->slot},
			trace_aligned(t, m->clock, m->time_cyc), (uint32_t)x->events.n, m->value,
			false};

		if (!VEC_PUSH(&x->events, v))
			return false;
	}
	for (track_idx i = 0; has_slots && i < t->n_tracks; i++) {
		const struct track *k = &t->tracks[i];
		struct marker_event v = {{k->clock, k->coord[1], k->coord[2], k->coord[3]},
			trace_aligned(t, k->clock, k->end_cyc), (uint32_t)x->events.n, 0, true};

		if (!VEC_PUSH(&x->events, v))
			return false;
	}
	SORT(x->events.v, x->events.n, event_cmp);
	return true;
}

static uint32_t markers_lane_of(struct scopes *x, const struct slot_at *s)
{
	char process[64], thread[64];
	uint32_t se = s->clock < x->t->n_clocks ? x->t->clocks[s->clock].id : 0;
	int n = snprintf(process, sizeof(process), "SE %u CU %u", se, s->cu);
	int m = snprintf(thread, sizeof(thread), "SIMD %u slot %u", s->simd, s->slot);
	uint32_t p = tl_process(&x->l, (struct str){process, (size_t)n});

	return tl_lane(&x->l, p, (struct str){thread, (size_t)m});
}

static bool close_scope(struct scopes *x, uint32_t lane, int64_t time)
{
	const struct scope *s = &x->open[--x->n_open];

	return tl_add_slice(&x->l, lane, (struct tl_slice){s->from, time, s->code, TL_SLICE});
}

static bool close_all(struct scopes *x, uint32_t lane, int64_t time)
{
	bool ok = true;

	x->n_skip = 0;
	while (ok && x->n_open)
		ok = close_scope(x, lane, time);
	return ok;
}

/* Adds a value without a name as a separate point. */
static bool markers_add_value(struct scopes *x, uint32_t lane, const struct marker_event *v)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "0x%llx", (unsigned long long)v->value);
	uint32_t code = tl_row(&x->l, (struct str){text, (size_t)n}, STR("value"));

	x->n_unknown += x->names.n > 0;
	return tl_add_slice(&x->l, lane, (struct tl_slice){v->time, v->time, code, TL_INSTANT});
}

static bool take_marker(struct scopes *x, uint32_t lane, const struct marker_event *v)
{
	uint64_t id = v->value >> 2 & ((UINT64_C(1) << x->id_bits) - 1), *at;
	bool is_exit = v->value & 1, is_enter = v->value & 2;
	const struct name *n;

	if (x->n_skip) {
		x->n_skip--;
		x->l.counts[TL_ARGS]++;
		return true;
	}
	at = u64_map_find(&x->name_at, id);
	n = at ? &x->names.v[*at - 1] : NULL;
	if (!x->names.n || (id && (!n || n->code == TL_NONE)))
		return markers_add_value(x, lane, v);
	if (is_exit && !x->n_open)
		x->l.counts[TL_NO_BEGIN]++;
	else if (is_exit && !close_scope(x, lane, v->time))
		return false;
	if (!id || !n)
		return true;
	x->n_skip = n->payloads;
	if (!is_enter || n->is_point)
		return tl_add_slice(
			&x->l, lane, (struct tl_slice){v->time, v->time, n->code, TL_INSTANT});
	if (x->n_open == MAX_SCOPES)
		x->n_too_deep++;
	else
		x->open[x->n_open++] = (struct scope){v->time, n->code};
	return true;
}

static bool take_slots(struct scopes *x)
{
	uint32_t lane = TL_NONE;

	for (size_t i = 0; i < x->events.n; i++) {
		const struct marker_event *v = &x->events.v[i];
		bool is_last = i + 1 == x->events.n || memcmp(&v->at, &v[1].at, sizeof(v->at)) != 0;

		if (!v->is_end && lane == TL_NONE && (lane = markers_lane_of(x, &v->at)) == TL_NONE)
			return false;
		if (v->is_end ? !close_all(x, lane, v->time) : !take_marker(x, lane, v))
			return false;
		if (is_last && !close_all(x, lane, v->time))
			return false;
		if (is_last)
			lane = TL_NONE;
	}
	return true;
}

/* Removes the data about waves, code and clocks of the old trace. */
static void forget_waves(struct trace *t)
{
	if (t->loader.close)
		t->loader.close(t->loader_ctx);
	t->loader = (struct track_loader){0};
	t->n_tracks = t->n_code = t->n_frames = t->n_sources = t->n_code_links = 0;
	t->n_occupancy = t->n_dispatch_events = t->n_counters = t->n_counter_names = 0;
	t->n_kernel_names = t->n_markers = t->n_other_issues = t->n_stated_series = 0;
	t->n_links = t->n_heads = t->n_moved = t->n_reasons = t->n_metrics = 0;
	t->levels[3] = t->levels[4] = NULL;
	t->samples = NULL;
	t->reason_counts = NULL;
	t->has_stated_totals = false;
	t->meta.gfx_major = 0;
	t->meta.clock_quantum = 1;
}

static bool note_counts(struct scopes *x)
{
	return (!x->n_unknown ||
		       trace_note(x->t, "unnamed-marker", x->l.path, INCORE_NO_OFFSET, x->n_unknown,
			       "markers whose number has no name are shown by their value")) &&
	       (!x->n_ambiguous ||
		       trace_note(x->t, "ambiguous-marker", x->l.path, INCORE_NO_OFFSET,
			       x->n_ambiguous,
			       "numbers of markers that code objects name differently: the "
			       "first name is shown")) &&
	       (!x->n_too_deep ||
		       trace_note(x->t, "too-deep", x->l.path, INCORE_NO_OFFSET, x->n_too_deep,
			       "scopes inside of %d others were left out", MAX_SCOPES));
}

bool marker_timeline(struct trace *t, struct incore_error *e)
{
	struct trace_meta was = t->meta;
	struct scopes x = {.t = t, .id_bits = MARKER_ID_BITS};
	bool ok;

	if (!t->n_markers)
		return err_file(e, "no-markers", t->meta.origin, INCORE_NO_OFFSET,
			"--markers: this capture has no markers (s_ttracedata)");
	tl_init(&x.l, t, t->meta.origin);
	x.l.unit_word = "cycles";
	t->meta.evidence = was.evidence;
	ok = (take_names(&x) && take_events(&x) && take_slots(&x)) || err_nomem(e);
	forget_waves(t);
	ok = ok && tl_finish(&x.l, e) && (note_counts(&x) || err_nomem(e));
	if (ok && x.l.unit_ns == 1) { /* cycles of the trace, not nanoseconds */
		t->meta.clock_hz_num = t->clocks[0].hz_num = was.clock_hz_num;
		t->meta.clock_hz_den = t->clocks[0].hz_den = was.clock_hz_den;
		t->meta.clock_source = was.clock_source;
	}
	VEC_FREE(&x.names);
	VEC_FREE(&x.events);
	u64_map_deinit(&x.name_at);
	tl_deinit(&x.l);
	return ok;
}
