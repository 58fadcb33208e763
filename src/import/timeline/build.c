/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build.c: collects the contents of a timeline in file order and hands them to the trace.
 *
 * Parts: lanes; contents in the order of a file.
 */
#include "base/hash.h"
#include "base/search.h"
#include "codec/trace_events.h"
#include "import/timeline/timeline.h"
#include "trace/mem_tracks.h"

/* --- lanes ------------------------------------------------------------------------------------ */

/*
 * Assigns slices to lanes. Slices of a thread nest or overlap; each is put into the first lane of
 * its thread that is free when it begins, so that nested slices are sorted by depth and slices of a
 * lane never overlap.
 */

#define MAX_DEPTH 64

/* --- halves --- */

ORDER(half_cmp, struct tl_half, UP(key) UP(at_ns) UP(order))

static bool pair_run(struct timeline *l, const struct tl_half *v, size_t n, uint32_t *stack)
{
	size_t depth = 0;

	for (size_t i = 0; i < n; i++) {
		const struct tl_half *b;

		if (v[i].is_begin) {
			stack[depth++] = (uint32_t)i;
			continue;
		}
		if (depth == 0) {
			l->counts[TL_NO_BEGIN]++;
			continue;
		}
		b = &v[stack[--depth]];
		if (!tl_add_slice(
			    l, b->lane, (struct tl_slice){b->at_ns, v[i].at_ns, b->code, b->kind}))
			return false;
	}
	while (depth) {
		const struct tl_half *b = &v[stack[--depth]];

		l->counts[TL_NO_END]++;
		if (!tl_add_slice(
			    l, b->lane, (struct tl_slice){b->at_ns, l->max_ns, b->code, b->kind}))
			return false;
	}
	return true;
}

static bool tl_pair_halves(struct timeline *l)
{
	size_t n = l->halves.n;
	uint32_t *stack = n ? mem_alloc(n * sizeof(*stack)) : NULL;
	bool ok = stack || n == 0;

	SORT(l->halves.v, n, half_cmp);
	for (size_t i = 0, end = 0; ok && i < n; i = end) {
		while (end < n && l->halves.v[end].key == l->halves.v[i].key)
			end++;
		ok = pair_run(l, l->halves.v + i, end - i, stack);
	}
	mem_free(stack);
	VEC_FREE(&l->halves);
	return ok;
}

/* --- the order of lanes --- */

struct lane_ref {
	int64_t process_sort, sort;
	uint64_t process_number, number; /* UINT64_MAX: the key is not a number */
	uint32_t process, lane;
};

ORDER(lane_cmp, struct lane_ref,
	UP(process_sort) UP(process_number) UP(process) UP(sort) UP(number) UP(lane))

static uint64_t timeline_build_number_of(const char *key)
{
	uint64_t v;

	return str_to_u64(str_of(key), &v) ? v : UINT64_MAX;
}

static struct lane_ref *sorted_lanes(struct timeline *l, size_t *n)
{
	struct lane_ref *v = mem_zalloc(l->lanes.n + 1, sizeof(*v));

	*n = 0;
	for (uint32_t i = 0; v && i < l->lanes.n; i++) {
		const struct tl_lane *k = &l->lanes.v[i];
		const struct tl_process *p = &l->processes.v[k->process];

		if (k->slices.n)
			v[(*n)++] = (struct lane_ref){p->sort, k->sort,
				timeline_build_number_of(p->key), timeline_build_number_of(k->key),
				k->process, i};
	}
	if (v)
		SORT(v, *n, lane_cmp);
	return v;
}

static const char *timeline_build_name_of(
	struct timeline *l, const struct tl_lane *k, uint32_t depth)
{
	const struct tl_process *p = &l->processes.v[k->process];
	const char *process = p->name ? p->name : *p->key ? p->key : "no process";
	const char *thread = k->name ? k->name : *k->key ? k->key : "no thread";

	sb_reset(&l->scratch);
	sb_printf(&l->scratch, "%s%s%s%s%s/%s%s",
		!p->name && timeline_build_number_of(p->key) != UINT64_MAX ? "process " : "",
		process, p->labels ? " (" : "", p->labels ? p->labels : "", p->labels ? ")" : "",
		!k->name && timeline_build_number_of(k->key) != UINT64_MAX ? "thread " : "",
		thread);
	if (depth)
		sb_printf(&l->scratch, " [%u]", depth);
	return l->scratch.failed ? NULL
				 : arena_strndup(&l->trace->arena, l->scratch.p, l->scratch.n);
}

/* --- depth --- */

struct lane_layout {
	struct timeline *l;
	VEC(struct track) tracks;
	struct mem_tracks *content;
	VEC(uint8_t) depth;	  /* by slice of the current lane */
	uint32_t process, thread; /* ordinals of the lane */
};

/* Of two slices that begin together, the longer is the outer one. */
ORDER(slice_cmp, struct tl_slice, UP(from_ns) DOWN(to_ns) UP(code) UP(kind))

static bool find_depths(struct lane_layout *x, const struct tl_lane *k, uint32_t count[MAX_DEPTH])
{
	int64_t end[MAX_DEPTH];
	unsigned n = 0;

	x->depth.n = 0;
	memset(count, 0, MAX_DEPTH * sizeof(*count));
	EACH (const struct tl_slice, s, k->slices.v, k->slices.n) {
		unsigned d = 0;

		while (d < n && end[d] > s->from_ns)
			d++;
		if (d == MAX_DEPTH) {
			d--;
			x->l->counts[TL_TOO_DEEP]++;
		}
		n = d < n ? n : d + 1;
		end[d] = s->to_ns;
		count[d]++;
		if (!VEC_PUSH(&x->depth, (uint8_t)d))
			return false;
	}
	return true;
}

static bool timeline_build_add_track(
	struct lane_layout *x, const struct tl_lane *k, uint32_t depth, uint32_t n)
{
	struct track t = {.coord = {x->process, x->thread, depth},
		.kernel_id = UINT32_MAX,
		.workgroup = NO_VALUE,
		.begin_cyc = UINT64_MAX,
		.name = timeline_build_name_of(x->l, k, depth)};

	return t.name && x->tracks.n < NO_TRACK - 1 && mem_tracks_add(x->content, n) &&
	       VEC_PUSH(&x->tracks, t);
}

static void timeline_build_put_slice(
	struct lane_layout *x, uint32_t track, const struct tl_slice *s)
{
	const struct timeline *l = x->l;
	struct track *t = &x->tracks.v[track];
	uint64_t from = (uint64_t)(s->from_ns - l->min_ns) / (uint64_t)l->unit_ns;
	uint64_t to = (uint64_t)(s->to_ns - l->min_ns) / (uint64_t)l->unit_ns;

	x->content->slices.v[track][t->n_slices++] = (struct track_slice){.start = from,
		.dur = (uint32_t)(to - from),
		.code = s->code,
		.inst_class = CLASS_USERMARK,
		.tag = s->kind};
	t->begin_cyc = from < t->begin_cyc ? from : t->begin_cyc;
	t->end_cyc = to > t->end_cyc ? to : t->end_cyc;
}

static bool layout_lane(struct lane_layout *x, struct tl_lane *k)
{
	uint32_t count[MAX_DEPTH];

	SORT(k->slices.v, k->slices.n, slice_cmp);
	if (!find_depths(x, k, count))
		return false;
	k->first_track = (uint32_t)x->tracks.n;
	for (uint32_t d = 0; d < MAX_DEPTH && count[d]; d++, k->n_tracks++)
		if (!timeline_build_add_track(x, k, d, count[d]))
			return false;
	for (size_t i = 0; i < x->depth.n; i++)
		timeline_build_put_slice(x, k->first_track + x->depth.v[i], &k->slices.v[i]);
	VEC_FREE(&k->slices);
	return true;
}

static bool timeline_build_hand_over(struct lane_layout *x)
{
	struct trace *t = x->l->trace;

	t->n_tracks = (uint32_t)x->tracks.n;
	t->tracks = arena_memdup(&t->arena, x->tracks.v, x->tracks.n * sizeof(*x->tracks.v));
	return !t->n_tracks || t->tracks;
}

static bool tl_layout(struct timeline *l, struct incore_error *e)
{
	struct lane_layout x = {.l = l, .content = mem_tracks_new(l->trace)};
	size_t n;
	struct lane_ref *v = sorted_lanes(l, &n);
	bool ok = v && x.content;

	for (size_t i = 0; ok && i < n; i++) {
		if (i && v[i].process != v[i - 1].process) {
			x.process++;
			x.thread = 0;
		} else if (i) {
			x.thread++;
		}
		ok = layout_lane(&x, &l->lanes.v[v[i].lane]);
	}
	ok = ok && timeline_build_hand_over(&x);
	mem_free(v);
	VEC_FREE(&x.tracks);
	VEC_FREE(&x.depth);
	return ok || err_nomem(e);
}

/* --- flows --- */

ORDER(flow_cmp, struct tl_flow, UP(key) UP(at_ns) UP(step) UP(order))
ORDER(link_cmp, struct link, UP(to_track) UP(to_slice) UP(from_track) UP(from_slice))

/* The index of the first slice of a track that begins after `at`. */
static uint32_t place_after(const struct trace *t, track_idx i, uint64_t at)
{
	const struct track_slice *v = mem_tracks_at(t, i);
	uint32_t lo = 0, hi = t->tracks[i].n_slices;

	BISECT(lo, hi, k, v[k].start <= at);
	return lo;
}

static bool timeline_build_is_inside(const struct track_slice *s, uint64_t at)
{
	return s->start == at || s->start + s->dur > at;
}

/* Finds the innermost slice around the time (one that ends then only if there is no other), or the
 * next slice of the thread. */
static bool timeline_build_bind(
	const struct timeline *l, const struct tl_flow *f, track_idx *track, uint32_t *slice)
{
	const struct trace *t = l->trace;
	const struct tl_lane *k = &l->lanes.v[f->lane];
	uint64_t at = (uint64_t)(f->at_ns - l->min_ns) / (uint64_t)l->unit_ns, best = UINT64_MAX;

	for (uint32_t d = k->n_tracks; d-- > 0;) {
		track_idx i = k->first_track + d;
		const struct track_slice *v = mem_tracks_at(t, i);
		uint32_t p = place_after(t, i, at);

		if (f->is_next) {
			p = at ? place_after(t, i, at - 1) : 0;
			if (p < t->tracks[i].n_slices && v[p].start <= best) {
				best = v[p].start;
				*track = i;
				*slice = p;
			}
		} else if (p && v[p - 1].start + v[p - 1].dur >= at &&
			   (best == UINT64_MAX || timeline_build_is_inside(&v[p - 1], at))) {
			best = v[p - 1].start;
			*track = i;
			*slice = p - 1;
			if (timeline_build_is_inside(&v[p - 1], at))
				return true;
		}
	}
	return best != UINT64_MAX;
}

static bool tl_bind_flows(struct timeline *l)
{
	struct trace *t = l->trace;
	struct link *v = arena_zalloc(&t->arena, l->flows.n + 1, sizeof(*v));
	struct link k = {.kind = LINK_FLOW};
	bool has_from = false;

	if (!v)
		return false;
	SORT(l->flows.v, l->flows.n, flow_cmp);
	for (size_t i = 0; i < l->flows.n; i++) {
		const struct tl_flow *f = &l->flows.v[i];
		track_idx track = 0;
		uint32_t slice = 0;

		has_from = has_from && i && f[-1].key == f->key && f->step != TL_FLOW_START;
		if (!timeline_build_bind(l, f, &track, &slice)) {
			l->counts[TL_LOOSE_FLOW]++;
			continue;
		}
		if (has_from) {
			k.to_track = track;
			k.to_slice = slice;
			v[t->n_links++] = k;
		}
		if (f->step == TL_FLOW_IN)
			continue;
		k.from_track = track;
		k.from_slice = slice;
		has_from = f->step != TL_FLOW_END;
	}
	SORT(v, t->n_links, link_cmp);
	t->links = v;
	return true;
}

/* --- contents in the order of a file ---------------------------------------------------------- */

#define COUNTER_SCALE 1000 /* values are kept in thousandths */
#define MAX_SERIES 4096	   /* different names for all samples do not make series */

void tl_init(struct timeline *l, struct trace *t, const char *path)
{
	*l = (struct timeline){.trace = t,
		.path = path,
		.min_ns = INT64_MAX,
		.max_ns = INT64_MIN,
		.unit_ns = 1,
		.unit_word = "ns"};
	intern_init(&l->opcodes);
	t->meta.evidence = EVIDENCE_INSTRUMENTED;
	t->levels[0] = "process";
	t->levels[1] = "thread";
	t->levels[2] = "depth";
}

void tl_deinit(struct timeline *l)
{
	EACH (struct tl_lane, k, l->lanes.v, l->lanes.n)
		VEC_FREE(&k->slices);
	EACH (struct tl_series, s, l->series.v, l->series.n)
		VEC_FREE(&s->points);
	VEC_FREE(&l->processes);
	VEC_FREE(&l->lanes);
	VEC_FREE(&l->rows);
	VEC_FREE(&l->halves);
	VEC_FREE(&l->flows);
	VEC_FREE(&l->series);
	u64_map_deinit(&l->process_at);
	u64_map_deinit(&l->lane_at);
	u64_map_deinit(&l->row_at);
	u64_map_deinit(&l->series_at);
	intern_deinit(&l->opcodes);
	sb_free(&l->scratch);
}

const char *tl_text(struct timeline *l, struct str raw)
{
	sb_reset(&l->scratch);
	if (l->is_escaped ? !trace_event_text(&l->scratch, raw) : !sb_str(&l->scratch, raw))
		return NULL;
	return arena_strndup(&l->trace->arena, l->scratch.p ? l->scratch.p : "", l->scratch.n);
}

uint32_t tl_process(struct timeline *l, struct str key)
{
	uint64_t *at = u64_map_at(&l->process_at, hash_bytes(key.p, key.n, 1));
	struct tl_process p = {0};

	if (!at)
		return TL_NONE;
	if (*at == 0) {
		p.key = tl_text(l, key);
		if (!p.key || l->processes.n >= TL_NONE - 1 || !VEC_PUSH(&l->processes, p))
			return TL_NONE;
		*at = l->processes.n;
	}
	return (uint32_t)(*at - 1);
}

uint32_t tl_lane(struct timeline *l, uint32_t process, struct str key)
{
	uint64_t *at;
	struct tl_lane k = {.process = process};

	if (process == TL_NONE)
		return TL_NONE;
	at = u64_map_at(&l->lane_at, hash_bytes(key.p, key.n, (uint64_t)process + 2));
	if (!at)
		return TL_NONE;
	if (*at == 0) {
		k.key = tl_text(l, key);
		if (!k.key || l->lanes.n >= TL_NONE - 1 || !VEC_PUSH(&l->lanes, k))
			return TL_NONE;
		*at = l->lanes.n;
	}
	return (uint32_t)(*at - 1);
}

uint32_t tl_row(struct timeline *l, struct str name, struct str category)
{
	uint64_t key = hash_bytes(name.p, name.n, hash_bytes(category.p, category.n, 3));
	uint64_t *at = u64_map_at(&l->row_at, key);
	struct code_row row = {.source = "", .inst_class = CLASS_USERMARK};

	if (!at)
		return TL_NONE;
	if (*at)
		return (uint32_t)(*at - 1);
	row.number = (int64_t)l->rows.n;
	row.opcode = intern_add(&l->opcodes, str_of(tl_text(l, category.n ? category : name)));
	row.text = tl_text(l, name);
	row.text_len = (uint32_t)l->scratch.n;
	if (!row.text || row.opcode == INTERN_NONE || l->scratch.n > UINT32_MAX ||
		l->rows.n >= NO_CODE || !VEC_PUSH(&l->rows, row))
		return TL_NONE;
	*at = l->rows.n;
	return (uint32_t)(*at - 1);
}

/* --- adding --- */

static bool timeline_build_note_time(struct timeline *l, int64_t ns)
{
	if (ns < -TL_MAX_NS || ns > TL_MAX_NS) {
		l->counts[TL_BAD_TIME]++;
		return false;
	}
	l->min_ns = ns < l->min_ns ? ns : l->min_ns;
	l->max_ns = ns > l->max_ns ? ns : l->max_ns;
	return true;
}

bool tl_add_slice(struct timeline *l, uint32_t lane, struct tl_slice s)
{
	if (lane == TL_NONE || s.code == TL_NONE)
		return false;
	if (s.to_ns < s.from_ns) {
		l->counts[TL_BAD_DURATION]++;
		s.to_ns = s.from_ns;
	}
	if (!timeline_build_note_time(l, s.from_ns) || !timeline_build_note_time(l, s.to_ns))
		return true;
	return l->lanes.v[lane].slices.n < UINT32_MAX - 1 && VEC_PUSH(&l->lanes.v[lane].slices, s);
}

bool tl_add_half(struct timeline *l, struct tl_half h)
{
	if (h.lane == TL_NONE || (h.is_begin && h.code == TL_NONE))
		return false;
	if (!timeline_build_note_time(l, h.at_ns))
		return true;
	if (!h.key)
		h.key = hash_mix64((uint64_t)h.lane + 1);
	h.order = (uint32_t)l->halves.n;
	return l->halves.n < UINT32_MAX - 1 && VEC_PUSH(&l->halves, h);
}

bool tl_add_flow(struct timeline *l, struct tl_flow f)
{
	if (f.lane == TL_NONE)
		return false;
	if (!timeline_build_note_time(l, f.at_ns))
		return true;
	f.order = (uint32_t)l->flows.n;
	return l->flows.n < UINT32_MAX - 1 && VEC_PUSH(&l->flows, f);
}

static struct tl_series *timeline_build_find_series(
	struct timeline *l, uint32_t process, struct str name, struct str unit)
{
	uint64_t key =
		hash_bytes(unit.p, unit.n, hash_bytes(name.p, name.n, (uint64_t)process + 5));
	uint64_t *at = u64_map_at(&l->series_at, key);
	struct tl_series s = {0};

	if (!at)
		return NULL;
	if (*at == 0) {
		s.name = tl_text(l, name);
		s.unit = tl_text(l, unit);
		if (!s.name || !s.unit || !VEC_PUSH(&l->series, s))
			return NULL;
		*at = l->series.n;
	}
	return &l->series.v[*at - 1];
}

bool tl_add_counter(struct timeline *l, uint32_t process, struct str name, struct str unit,
	int64_t at_ns, double value)
{
	struct tl_series *s;
	struct tl_point p = {.at_ns = at_ns};

	if (process == TL_NONE)
		return false;
	if (!(value >= 0) || value > 1e15 || l->series.n >= MAX_SERIES) {
		l->counts[TL_BAD_COUNTER]++;
		return true;
	}
	if (!timeline_build_note_time(l, at_ns))
		return true;
	s = timeline_build_find_series(l, process, name, unit);
	if (!s || s->points.n >= UINT32_MAX - 1)
		return false;
	p.order = (uint32_t)s->points.n;
	p.value = (uint64_t)(value * COUNTER_SCALE + 0.5);
	return VEC_PUSH(&s->points, p);
}

/* --- to the trace --- */

static bool timeline_build_put_rows(struct timeline *l)
{
	struct trace *t = l->trace;

	t->n_code = (uint32_t)l->rows.n;
	t->code = arena_memdup(&t->arena, l->rows.v, l->rows.n * sizeof(*l->rows.v));
	t->n_opcodes = l->opcodes.n;
	t->opcodes = arena_zalloc(&t->arena, (size_t)l->opcodes.n + 1, sizeof(*t->opcodes));
	if ((t->n_code && !t->code) || !t->opcodes)
		return false;
	for (uint32_t i = 0; i < t->n_opcodes; i++) {
		t->opcodes[i] =
			arena_strndup(&t->arena, l->opcodes.strs[i].p, l->opcodes.strs[i].n);
		if (!t->opcodes[i])
			return false;
	}
	return true;
}

ORDER(point_cmp, struct tl_point, UP(at_ns) UP(order))

static bool timeline_build_put_series(
	struct timeline *l, struct tl_series *s, struct counter_series *out)
{
	struct arena *a = &l->trace->arena;
	uint64_t *time = arena_zalloc(a, s->points.n, sizeof(*time));
	uint64_t *value = arena_zalloc(a, s->points.n, sizeof(*value));

	if (!time || !value)
		return false;
	SORT(s->points.v, s->points.n, point_cmp);
	for (size_t i = 0; i < s->points.n; i++) {
		time[i] = (uint64_t)((s->points.v[i].at_ns - l->min_ns) / l->unit_ns);
		value[i] = s->points.v[i].value;
	}
	*out = (struct counter_series){.name = s->name,
		.cu = UINT32_MAX,
		.n = (uint32_t)s->points.n,
		.time_cyc = time,
		.value = value,
		.unit = s->unit,
		.per_unit = COUNTER_SCALE};
	return true;
}

static bool timeline_build_put_counters(struct timeline *l)
{
	struct trace *t = l->trace;

	t->counters = arena_zalloc(&t->arena, l->series.n + 1, sizeof(*t->counters));
	t->counter_names = arena_zalloc(&t->arena, l->series.n + 1, sizeof(*t->counter_names));
	if (!t->counters || !t->counter_names)
		return false;
	EACH (struct tl_series, s, l->series.v, l->series.n) {
		if (!timeline_build_put_series(l, s, &t->counters[t->n_counters]))
			return false;
		t->counter_names[t->n_counter_names++] = t->counters[t->n_counters++].name;
	}
	return true;
}

static const struct {
	const char *code, *message;
} count_notes[TL_COUNTS] = {
	[TL_BAD_TIME] = {"bad-time", "events without a usable time were left out"},
	[TL_BAD_DURATION] = {"bad-duration",
		"slices without a usable length: they are shown with none"},
	[TL_NO_LANE] = {"no-lane", "events that belong to no process or thread"},
	[TL_NO_BEGIN] = {"end-without-begin", "ends of slices that never began"},
	[TL_NO_END] = {"begin-without-end",
		"slices that never end: they are shown up to the last time of the file"},
	[TL_TOO_DEEP] = {"too-deep",
		"slices that overlap more others than there are lanes for share the last lane"},
	[TL_BAD_COUNTER] = {"bad-counter",
		"counter values that are negative, no numbers or of too many names"},
	[TL_LOOSE_FLOW] = {"loose-flow", "ends of flows that touch no slice"},
	[TL_ARGS] = {"args-left-out", "events whose arguments are not kept"},
	[TL_OTHER_EVENTS] = {"other-events",
		"events of kinds that are not kept (objects, samples, memory dumps, ...)"},
	[TL_NOT_OBJECTS] = {"not-an-event", "items that are no events"},
};

static bool timeline_build_put_notes(struct timeline *l)
{
	struct trace *t = l->trace;
	bool ok = true;

	for (unsigned i = 0; ok && i < TL_COUNTS; i++)
		if (l->counts[i])
			ok = trace_note(t, count_notes[i].code, l->path, INCORE_NO_OFFSET,
				l->counts[i], "%s", count_notes[i].message);
	if (ok && l->min_ns)
		ok = trace_note(t, "times-from-first", l->path, INCORE_NO_OFFSET, 1,
			"times are given from the earliest, which is %lld %s in the file",
			(long long)l->min_ns, l->unit_word);
	if (ok && l->unit_ns > 1)
		ok = trace_note(t, "coarser-clock", l->path, INCORE_NO_OFFSET, 1,
			"a slice is so long that one cycle is %lld %s", (long long)l->unit_ns,
			l->unit_word);
	return ok;
}

static bool timeline_build_put_clock(struct timeline *l)
{
	struct trace *t = l->trace;

	t->clocks = arena_zalloc(&t->arena, 1, sizeof(*t->clocks));
	if (!t->clocks)
		return false;
	t->n_clocks = 1;
	t->reference_clock = 0;
	t->meta.clock_hz_num = UINT64_C(1000000000) / (uint64_t)l->unit_ns;
	t->meta.clock_hz_den = 1;
	t->meta.clock_source = "timestamps";
	t->clocks[0] = (struct clock_domain){
		.is_aligned = true, .hz_num = t->meta.clock_hz_num, .hz_den = 1};
	return true;
}

/* Chooses the time unit so that lengths fit 32 bits. */
static void choose_unit(struct timeline *l)
{
	uint64_t longest = 0;

	EACH (const struct tl_lane, k, l->lanes.v, l->lanes.n)
		EACH (const struct tl_slice, s, k->slices.v, k->slices.n) {
			uint64_t n = (uint64_t)(s->to_ns - s->from_ns);

			longest = n > longest ? n : longest;
		}
	while (longest / (uint64_t)l->unit_ns >= UINT32_MAX && l->unit_ns < 1000000000)
		l->unit_ns *= 10;
}

/* Clamps lengths over 136 years, which cannot be real. */
static void cut_longest(struct timeline *l)
{
	const int64_t max = (int64_t)(UINT32_MAX - 1) * 1000000000;

	EACH (struct tl_lane, k, l->lanes.v, l->lanes.n)
		EACH (struct tl_slice, s, k->slices.v, k->slices.n)
			if (s->to_ns - s->from_ns > max) {
				s->to_ns = s->from_ns + max;
				l->counts[TL_BAD_DURATION]++;
			}
}

bool tl_finish(struct timeline *l, struct incore_error *e)
{
	if (l->min_ns == INT64_MAX)
		l->min_ns = l->max_ns = 0;
	if (!tl_pair_halves(l))
		return err_nomem(e);
	cut_longest(l);
	choose_unit(l);
	return tl_layout(l, e) &&
	       ((timeline_build_put_clock(l) && timeline_build_put_rows(l) && tl_bind_flows(l) &&
			timeline_build_put_counters(l) && timeline_build_put_notes(l)) ||
		       err_nomem(e));
}

void tl_look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	(void)path;
	(void)cache;
	(void)a;
	c->is_uncounted = true;
}
