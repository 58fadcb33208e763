/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_trace.c: simulator/trace.json, which is also the TRACE block. Keys are in alphabetical
 * order (args before ph), X events sorted by end, B and E of a flag adjacent, s and t with the
 * flag's own id, pid and tid. Flags whose partner is on another core come last.
 */

#include "base/search.h"
#include "export/insight/insight.h"
#include "export/labels.h"

static void next_event(struct insight *s)
{
	text_puts(&s->trace, s->has_event ? ",{" : "{");
	s->has_event = true;
}

/* Writes a string with escaped braces: after "ph" the viewer counts braces, even in strings. */
static void put_safe(struct text_out *o, struct str s)
{
	size_t from = 0;
	bool has_brace = false;

	for (size_t i = 0; i < s.n; i++)
		has_brace |= s.p[i] == '{' || s.p[i] == '}';
	if (!has_brace) {
		text_put_quoted(o, s);
		return;
	}
	text_puts(o, "\"");
	for (size_t i = 0; i <= s.n; i++) {
		if (i < s.n && s.p[i] != '{' && s.p[i] != '}')
			continue;
		text_put_escaped(o, str_sub(s, from, i - from));
		if (i < s.n)
			text_puts(o, s.p[i] == '{' ? "\\u007b" : "\\u007d");
		from = i + 1;
	}
	text_puts(o, "\"");
}

static const char *pipe_of_track(const struct insight *s, track_idx i)
{
	const char *slash = strrchr(s->t->tracks[i].name, '/');

	return slash ? slash + 1 : s->t->tracks[i].name;
}

/* --- metadata --- */

static void put_meta(
	struct insight *s, const char *what, const char *pid, const char *tid, uint32_t index)
{
	struct text_out *o = &s->trace;

	next_event(s);
	text_puts(o, "\"args\":{\"sort_index\":");
	text_put_u64(o, index);
	text_puts(o, "},\"name\":\"");
	text_puts(o, what);
	text_puts(o, "\",\"ph\":\"M\",\"pid\":");
	put_safe(o, str_of(pid));
	text_puts(o, ",\"tid\":");
	put_safe(o, str_of(tid));
	text_puts(o, "}");
}

static void put_label(struct insight *s, const struct insight_unit *u)
{
	struct text_out *o = &s->trace;
	char text[128];

	snprintf(text, sizeof(text), "%s%s", evidence_name(s->t->meta.evidence),
		s->is_cycles ? ", 1 ns shown = 1 cycle" : "");
	next_event(s);
	text_puts(o, "\"args\":{\"labels\":");
	text_put_quoted(o, str_of(text));
	text_puts(o, "},\"name\":\"process_labels\",\"ph\":\"M\",\"pid\":");
	put_safe(o, str_of(u->name));
	text_puts(o, ",\"tid\":\"NA\"}");
}

/* Writes an index for every lane, including lanes without slices. */
static void put_lanes(struct insight *s, const struct insight_unit *u)
{
	size_t n;
	const struct ascend_lane *lanes = ascend_lanes(&n);

	for (size_t i = 0; i < n; i++)
		put_meta(s, "thread_sort_index", u->name, lanes[i].name, lanes[i].pipe);
	for (track_idx i = 0; i < s->t->n_tracks; i++) {
		uint32_t pipe = s->t->tracks[i].coord[2];

		if (s->unit_of[i] == (uint32_t)(u - s->units.v) && pipe >= PIPE_WARP0)
			put_meta(s, "thread_sort_index", u->name, pipe_of_track(s, i), pipe);
	}
}

bool insight_begin_trace(struct insight *s, struct incore_error *e)
{
	struct strbuf metadata = {0};
	char mhz[64];
	bool ok;

	s->trace_file = insight_file(s, NULL, "trace.json", e);
	if (!s->trace_file || !text_out_open(&s->trace, s->trace_file, e))
		return false;
	snprintf(mhz, sizeof(mhz), "{\"clockMHz\":%.17g,",
		s->is_cycles ? 1000.0 : trace_clock_mhz(s->t));
	ok = labels_put_metadata(s->t, &metadata);
	text_puts(&s->trace, mhz);
	text_puts(&s->trace, "\"displayTimeUnit\":\"ns\",\"metadata\":");
	text_puts(&s->trace, ok ? metadata.p : "{}");
	text_puts(&s->trace, ",\"profilingType\":\"op\",\"schemaVersion\":2,\"traceEvents\":[");
	sb_free(&metadata);
	if (!ok)
		return err_nomem(e);
	for (size_t i = 0; i < s->n_drawn; i++)
		put_meta(s, "process_sort_index", s->units.v[i].name, "NA",
			3 * s->units.v[i].core + 1 + s->units.v[i].unit);
	for (size_t i = 0; i < s->n_drawn; i++) {
		put_label(s, &s->units.v[i]);
		put_lanes(s, &s->units.v[i]);
	}
	return true;
}

/* --- events --- */

struct slice_text {
	const char *args; /* without its closing brace */
	struct str name, tid;
	const char *pid, *cname;
	char group[48]; /* "": no group */
	uint64_t bytes;
	uint64_t row;	      /* number + 1, if only that identifies it; 0: not written */
	struct str true_name; /* of a flag whose name the viewer does not know; n 0: not needed */
};

static void put_tail(struct insight *s, const struct slice_text *v, char ph, uint64_t ts)
{
	struct text_out *o = &s->trace;
	char text[16];

	text_puts(o, "\"name\":");
	text_put_quoted(o, v->name);
	snprintf(text, sizeof(text), ",\"ph\":\"%c\"", ph);
	text_puts(o, text);
	text_puts(o, ",\"pid\":");
	put_safe(o, str_of(v->pid));
	text_puts(o, ",\"tid\":");
	put_safe(o, v->tid);
	text_puts(o, ",\"ts\":");
	insight_put_us(s, o, ts);
	text_puts(o, "}");
}

static void put_args(struct insight *s, const struct slice_text *v)
{
	struct text_out *o = &s->trace;

	text_puts(o, "\"args\":");
	text_puts(o, v->args);
	if (v->bytes) {
		text_puts(o, ",\"process_bytes\":\"");
		text_put_u64(o, v->bytes);
		text_puts(o, "\"");
	}
	if (v->row) {
		text_puts(o, ",\"row\":\"");
		text_put_u64(o, v->row - 1);
		text_puts(o, "\"");
	}
	if (v->true_name.n) {
		text_puts(o, ",\"true_name\":");
		text_put_quoted(o, v->true_name);
	}
	text_puts(o, "},\"cname\":\"");
	text_puts(o, v->cname);
	text_puts(o, "\",");
}

static void put_slice(struct insight *s, const struct slice_text *v, uint64_t ts, uint64_t dur)
{
	struct text_out *o = &s->trace;

	next_event(s);
	put_args(s, v);
	text_puts(o, "\"dur\":");
	insight_put_us(s, o, dur);
	text_puts(o, ",");
	if (v->group[0]) {
		text_puts(o, "\"group_id\":");
		text_put_quoted(o, str_of(v->group));
		text_puts(o, ",");
	}
	put_tail(s, v, 'X', ts);
}

static void put_heads(struct insight *s, const struct slice_text *v, uint64_t start, uint64_t cache,
	uint64_t queue)
{
	struct slice_text h = *v;

	h.bytes = 0;
	if (cache) {
		h.name = STR("cache_time");
		put_slice(s, &h, start, cache);
	}
	if (queue) {
		h.name = STR("ccu_time");
		put_slice(s, &h, start + cache, queue);
	}
}

/* --- one track --- */

static void add_cell(struct insight *s, const struct export_track *k, uint32_t i, uint64_t cache)
{
	const struct track_data *d = k->data;
	code_idx code = d->code[i];
	uint64_t start = d->start_cyc[i] + d->stall_cyc[i], end = d->start_cyc[i] + d->dur_cyc[i];
	struct insight_cell *c;
	enum ascend_sync sync;

	if (code >= s->t->n_code)
		return;
	c = &s->cells[(size_t)code * s->units.n + s->unit_of[k->index]];
	sync = ascend_sync_of(insight_opcode(s, code));
	if (s->reach_track[code] != k->index + 1) {
		s->reach_track[code] = k->index + 1;
		s->reach[code] = 0;
	}
	c->hit++;
	c->cycles += end - start;
	c->pipe = d->tag[i];
	c->cache += cache;
	c->queue += d->stall_cyc[i] - cache;
	if (end > s->reach[code]) {
		uint64_t grown = end - (start > s->reach[code] ? start : s->reach[code]);

		c->ran += grown;
		c->busy += sync == SYNC_NONE ? grown : 0;
		s->reach[code] = end;
	}
	if (ascend_is_wait(sync))
		c->wait += end - start;
}

static bool is_cross(const struct insight *s, uint64_t pair)
{
	const struct link *l = pair ? &s->t->links[pair - 1] : NULL;

	return l && s->unit_of[l->from_track] != s->unit_of[l->to_track];
}

static bool add_flag(struct insight *s, const struct export_track *k, uint32_t i, uint64_t cache)
{
	const struct track_data *d = k->data;
	uint64_t *pair = u64_map_find(&s->pair_of, (uint64_t)k->index << 32 | i);
	struct insight_flag f = {.track = k->index,
		.slice = i,
		.start = d->start_cyc[i] + d->stall_cyc[i],
		.end = d->start_cyc[i] + d->dur_cyc[i],
		.cache = cache,
		.queue = d->stall_cyc[i] - cache,
		.code = d->code[i],
		.pair = pair ? *pair : 0};

	f.is_wait = ascend_is_wait(ascend_sync_of(insight_opcode(s, f.code)));
	return is_cross(s, f.pair) ? VEC_PUSH(&s->cross, f) : VEC_PUSH(&s->flags, f);
}

static bool put_one(struct insight *s, const struct export_track *k, uint32_t i)
{
	const struct track_data *d = k->data;
	uint64_t cache = d->stall_cyc[i] ? trace_cache_cyc(s->t, k->index, i) : 0;
	const struct insight_unit *u = &s->units.v[s->unit_of[k->index]];
	struct slice_text v = {.args = insight_row_args(s, d->code[i]),
		.name = insight_event_name(s, d->code[i]),
		.tid = str_of(pipe_of_track(s, k->index)),
		.pid = u->name,
		.cname = ascend_lane(d->tag[i])->cname};
	enum ascend_sync sync = ascend_sync_of(v.name);

	if (!v.args)
		return false;
	if (insight_is_named(s, d->code[i], s->unit_of[k->index]))
		v.row = (uint64_t)d->code[i] + 1;
	cache = cache < d->stall_cyc[i] ? cache : d->stall_cyc[i];
	add_cell(s, k, i, cache);
	/* A flag to or from another core that has no partner is written as a normal slice. */
	if (sync == SYNC_SET || sync == SYNC_WAIT ||
		((ascend_is_set(sync) || ascend_is_wait(sync)) &&
			u64_map_find(&s->pair_of, (uint64_t)k->index << 32 | i)))
		return add_flag(s, k, i, cache);
	if (d->stall_cyc[i])
		snprintf(v.group, sizeof(v.group), "%.*s_%llu",
			(int)(v.name.n < 24 ? v.name.n : 24), v.name.p,
			(unsigned long long)++s->n_groups);
	put_heads(s, &v, d->start_cyc[i], cache, d->stall_cyc[i] - cache);
	if (d->code[i] < s->t->n_code && s->t->code[d->code[i]].bytes &&
		s->t->code[d->code[i]].stated.hit &&
		s->t->code[d->code[i]].bytes % s->t->code[d->code[i]].stated.hit == 0)
		v.bytes = s->t->code[d->code[i]].bytes / s->t->code[d->code[i]].stated.hit;
	put_slice(s, &v, d->start_cyc[i] + d->stall_cyc[i], d->dur_cyc[i] - d->stall_cyc[i]);
	return true;
}

struct by_end {
	uint64_t end, pc;
	uint32_t slice;
};

ORDER(end_cmp, struct by_end, UP(end) UP(pc) UP(slice))

bool insight_put_track(struct insight *s, const struct export_track *k, struct incore_error *e)
{
	const struct track_data *d = k->data;
	struct by_end *v = mem_resize(NULL, (size_t)d->n + 1, sizeof(*v));
	bool ok = v != NULL;

	for (uint32_t i = 0; ok && i < d->n; i++)
		v[i] = (struct by_end){d->start_cyc[i] + d->dur_cyc[i],
			d->code[i] < s->t->n_code ? s->t->code[d->code[i]].address : 0, i};
	if (ok)
		SORT(v, d->n, end_cmp);
	for (uint32_t i = 0; ok && i < d->n; i++)
		ok = put_one(s, k, v[i].slice);
	insight_hash_track(s, k);
	mem_free(v);
	return ok || err_nomem(e);
}

/* --- flags --- */

static int pair_cmp(const void *pa, const void *pb)
{
	const struct insight_flag *a = pa, *b = pb;
	uint64_t x = a->pair ? a->pair : UINT64_MAX, y = b->pair ? b->pair : UINT64_MAX;

	RETURN_UNLESS_EQUAL(x, y);
	if (a->is_wait != b->is_wait)
		return a->is_wait ? 1 : -1;
	RETURN_UNLESS_EQUAL(a->track, b->track);
	return COMPARE(a->slice, b->slice);
}

/* Maps a flag to a name known to the viewer, which drops B and E of others: SET_FLAGI is
 * SET_FLAG. */
static struct str plain_flag(struct str opcode)
{
	static const char *const names[] = {"SET_FLAG", "WAIT_FLAG", "set_event", "wait_event"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (str_is(opcode, names[i]))
			return opcode;
	return ascend_is_wait(ascend_sync_of(opcode)) ? STR("WAIT_FLAG") : STR("SET_FLAG");
}

/* Writes B and E together; the head cost of a WAIT goes before it, under the flag's id. */
static bool put_flag(struct insight *s, const struct insight_flag *f, const char *id)
{
	struct slice_text v = {.args = insight_row_args(s, f->code),
		.name = insight_opcode(s, f->code),
		.tid = str_of(pipe_of_track(s, f->track)),
		.pid = s->units.v[s->unit_of[f->track]].name,
		.cname = f->is_wait ? "yellow" : "black"};
	struct text_out *o = &s->trace;
	struct str plain = plain_flag(v.name);
	bool is_plain = str_eq(v.name, plain);

	if (!v.args)
		return false;
	if (!is_plain || insight_is_named(s, f->code, s->unit_of[f->track]))
		v.row = (uint64_t)f->code + 1;
	if (!is_plain) {
		v.true_name = v.name;
		v.name = plain;
	}
	snprintf(v.group, sizeof(v.group), "%s", id);
	put_heads(s, &v, f->start - f->cache - f->queue, f->cache, f->queue);
	next_event(s);
	put_args(s, &v);
	text_puts(o, "\"id\":");
	text_put_quoted(o, str_of(id));
	text_puts(o, ",");
	put_tail(s, &v, 'B', f->start);
	next_event(s);
	text_puts(o, "\"args\":{},\"cname\":\"");
	text_puts(o, v.cname);
	text_puts(o, "\",\"id\":");
	text_put_quoted(o, str_of(id));
	text_puts(o, ",");
	put_tail(s, &v, 'E', f->end);
	return true;
}

static void put_flow(struct insight *s, const struct insight_flag *set,
	const struct insight_flag *wait, const char *id)
{
	struct text_out *o = &s->trace;

	for (unsigned k = 0; k < 2; k++) {
		const struct insight_flag *f = k ? wait : set;
		struct slice_text v = {.name = STR("flow"),
			.tid = str_of(pipe_of_track(s, f->track)),
			.pid = s->units.v[s->unit_of[f->track]].name};

		next_event(s);
		text_puts(o, "\"cat\":\"");
		text_put_escaped(o, str_of(pipe_of_track(s, set->track)));
		text_puts(o, "To");
		text_put_escaped(o, str_of(pipe_of_track(s, wait->track)));
		text_puts(o, "\",\"id\":");
		text_put_quoted(o, str_of(id));
		text_puts(o, ",");
		put_tail(s, &v, k ? 't' : 's', f->end);
	}
}

/* unit: that of all flags; INSIGHT_NO_UNIT: the two of a pair are on different units. */
static bool put_flags(struct insight *s, struct insight_flag *v, size_t n, uint32_t unit)
{
	char id[96];

	SORT(v, n, pair_cmp);
	for (size_t i = 0; i < n; i++) {
		bool is_pair = i + 1 < n && v[i].pair && v[i].pair == v[i + 1].pair &&
			       !v[i].is_wait && v[i + 1].is_wait;

		if (unit == INSIGHT_NO_UNIT)
			snprintf(id, sizeof(id), "intra_%llu", (unsigned long long)s->n_cross++);
		else
			snprintf(id, sizeof(id), "%.64s_%llu", s->units.v[unit].name,
				(unsigned long long)s->n_ids++);
		if (!put_flag(s, &v[i], id) || (is_pair && !put_flag(s, &v[i + 1], id)))
			return false;
		if (is_pair) {
			put_flow(s, &v[i], &v[i + 1], id);
			s->n_flows++;
			i++;
		}
	}
	return true;
}

bool insight_end_unit(struct insight *s, struct incore_error *e)
{
	bool ok = put_flags(s, s->flags.v, s->flags.n, s->open_unit);

	s->flags.n = 0;
	return ok || err_nomem(e);
}

/* --- counters and the end --- */

void insight_put_counter(
	struct insight *s, const struct counter_series *c, uint64_t time, uint64_t value)
{
	struct text_out *o = &s->trace;
	const char *slash = strrchr(c->name, '/'); /* "MTE Throughput/GM_TO_UB" */
	struct str pid = slash ? (struct str){c->name, (size_t)(slash - c->name)} : STR("Counters");
	char text[64];

	if (time == 0) { /* the viewer drops samples at time 0 */
		time = 1;
		s->n_moved_samples++;
	}
	next_event(s);
	text_puts(o, "\"args\":{");
	if (c->unit && c->per_unit) {
		text_puts(o, "\"throughput(");
		text_put_escaped(o, str_of(c->unit));
		snprintf(text, sizeof(text), ")\":%.9g", (double)value / c->per_unit);
	} else {
		snprintf(text, sizeof(text), "\"value\":%llu", (unsigned long long)value);
	}
	text_puts(o, text);
	text_puts(o, "},\"name\":");
	text_put_quoted(o, str_of(slash ? slash + 1 : c->name));
	text_puts(o, ",\"ph\":\"C\",\"pid\":");
	put_safe(o, pid);
	text_puts(o, ",\"tid\":0,\"ts\":");
	insight_put_us(s, o, time);
	text_puts(o, "}");
}

bool insight_end_trace(struct insight *s, struct incore_error *e)
{
	if (!put_flags(s, s->cross.v, s->cross.n, INSIGHT_NO_UNIT))
		return err_nomem(e);
	text_puts(&s->trace, "]}");
	return text_out_close(&s->trace, e);
}
