/* SPDX-License-Identifier: Apache-2.0 */
/* build.c: collects the contents of a timeline in file order and hands them to the trace. */
#include "import/timeline/timeline.h"

#include "base/hash.h"
#include "base/search.h"
#include "codec/trace_events.h"

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

static bool note_time(struct timeline *l, int64_t ns)
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
	if (!note_time(l, s.from_ns) || !note_time(l, s.to_ns))
		return true;
	return l->lanes.v[lane].slices.n < UINT32_MAX - 1 && VEC_PUSH(&l->lanes.v[lane].slices, s);
}

bool tl_add_half(struct timeline *l, struct tl_half h)
{
	if (h.lane == TL_NONE || (h.is_begin && h.code == TL_NONE))
		return false;
	if (!note_time(l, h.at_ns))
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
	if (!note_time(l, f.at_ns))
		return true;
	f.order = (uint32_t)l->flows.n;
	return l->flows.n < UINT32_MAX - 1 && VEC_PUSH(&l->flows, f);
}

static struct tl_series *find_series(
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
	if (!note_time(l, at_ns))
		return true;
	s = find_series(l, process, name, unit);
	if (!s || s->points.n >= UINT32_MAX - 1)
		return false;
	p.order = (uint32_t)s->points.n;
	p.value = (uint64_t)(value * COUNTER_SCALE + 0.5);
	return VEC_PUSH(&s->points, p);
}

/* --- to the trace --- */

static bool put_rows(struct timeline *l)
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

static bool put_series(struct timeline *l, struct tl_series *s, struct counter_series *out)
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

static bool put_counters(struct timeline *l)
{
	struct trace *t = l->trace;

	t->counters = arena_zalloc(&t->arena, l->series.n + 1, sizeof(*t->counters));
	t->counter_names = arena_zalloc(&t->arena, l->series.n + 1, sizeof(*t->counter_names));
	if (!t->counters || !t->counter_names)
		return false;
	EACH (struct tl_series, s, l->series.v, l->series.n) {
		if (!put_series(l, s, &t->counters[t->n_counters]))
			return false;
		t->counter_names[t->n_counter_names++] = t->counters[t->n_counters++].name;
	}
	return true;
}

static const struct {
	enum note_kind kind;
	const char *code, *message;
} count_notes[TL_COUNTS] = {
	[TL_BAD_TIME] = {NOTE_DAMAGED, "bad-time", "events without a usable time were left out"},
	[TL_BAD_DURATION] = {NOTE_DAMAGED, "bad-duration",
		"slices without a usable length: they are shown with none"},
	[TL_NO_LANE] = {NOTE_DAMAGED, "no-lane", "events that belong to no process or thread"},
	[TL_NO_BEGIN] = {NOTE_DAMAGED, "end-without-begin", "ends of slices that never began"},
	[TL_NO_END] = {NOTE_GUESSED, "begin-without-end",
		"slices that never end: they are shown up to the last time of the file"},
	[TL_TOO_DEEP] = {NOTE_CLAMPED, "too-deep",
		"slices that overlap more others than there are lanes for share the last lane"},
	[TL_BAD_COUNTER] = {NOTE_LOST, "bad-counter",
		"counter values that are negative, no numbers or of too many names"},
	[TL_LOOSE_FLOW] = {NOTE_UNMAPPED, "loose-flow", "ends of flows that touch no slice"},
	[TL_ARGS] = {NOTE_LOST, "args-left-out", "events whose arguments are not kept"},
	[TL_OTHER_EVENTS] = {NOTE_LOST, "other-events",
		"events of kinds that are not kept (objects, samples, memory dumps, ...)"},
	[TL_NOT_OBJECTS] = {NOTE_DAMAGED, "not-an-event", "items that are no events"},
};

static bool put_notes(struct timeline *l)
{
	struct trace *t = l->trace;
	bool ok = true;

	for (unsigned i = 0; ok && i < TL_COUNTS; i++)
		if (l->counts[i])
			ok = trace_note(t, count_notes[i].kind, count_notes[i].code, l->path,
				INCORE_NO_OFFSET, l->counts[i], "%s", count_notes[i].message);
	if (ok && l->min_ns)
		ok = trace_note(t, NOTE_INFO, "times-from-first", l->path, INCORE_NO_OFFSET, 1,
			"times are given from the earliest, which is %lld %s in the file",
			(long long)l->min_ns, l->unit_word);
	if (ok && l->unit_ns > 1)
		ok = trace_note(t, NOTE_CLAMPED, "coarser-clock", l->path, INCORE_NO_OFFSET, 1,
			"a slice is so long that one cycle is %lld %s", (long long)l->unit_ns,
			l->unit_word);
	return ok;
}

static bool put_clock(struct timeline *l)
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
	return tl_layout(l, e) && ((put_clock(l) && put_rows(l) && tl_bind_flows(l) &&
					   put_counters(l) && put_notes(l)) ||
					  err_nomem(e));
}

void tl_look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c)
{
	(void)path;
	(void)cache;
	(void)a;
	c->is_uncounted = true;
}
