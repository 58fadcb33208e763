/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_read.c: the events of a per-run trace.json as slices, flags and counters. One pass, no
 * tree; a slice remembers where its texts stand.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "codec/json_reader.h"
#include "export/clean/clean.h"
#include "export/clean/clean_value.h"
#include "isa/ascend.h"

#define RELEASE_BYTES (2u << 20)

struct event {
	const char *at;
	struct str name, name_raw, pid, pid_raw, tid, args, detail, ts_raw, dur_raw, id, group;
	double ts, dur;
	char phase;
	bool has_ts, has_dur, is_bad_time, is_number_pid;
};

struct open_flag { /* a B that waits for its E */
	struct clean_slice slice;
	struct clean_sync sync;
	struct str group;
	uint64_t key;
	uint32_t below; /* the one under it on the same stack, + 1 */
	bool is_taken;
};

struct pending_head {
	struct clean_slice slice[2]; /* cache_time, ccu_time */
	bool has[2];
	uint64_t group;
};

struct reader {
	struct clean *c;
	struct json_reader r;
	VEC(struct open_flag) open;
	struct u64_map tops;   /* key -> index in open + 1 */
	struct open_flag last; /* the B seen last, while nothing else came */
	bool has_last;
	VEC(struct pending_head) heads;
	struct u64_map head_at; /* group -> index in heads + 1 */
	bool is_nomem;
	const char *released;
};

/* --- values --- */

static void read_args(struct json_reader *r, struct event *v)
{
	const char *from;
	struct str key;

	if (json_peek(r) != JSON_OBJECT) {
		v->args = clean_raw(r);
		return;
	}
	from = r->p;
	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "detail"))
			v->detail = clean_inside(clean_raw(r));
		else
			clean_skip(r);
	}
	v->args = (struct str){from, (size_t)(r->p - from)};
}

static void read_lane(struct json_reader *r, struct str key, struct event *v)
{
	struct str raw = clean_raw(r);

	if (!clean_is_string(raw) && !clean_is_number(raw))
		raw = (struct str){0};
	if (raw.n > CLEAN_MAX_NAME)
		raw = (struct str){0};
	if (key.p[0] == 't') {
		v->tid = clean_inside(raw);
		return;
	}
	v->pid_raw = raw;
	v->pid = clean_inside(raw);
	v->is_number_pid = clean_is_number(raw);
}

static void read_time(struct json_reader *r, struct str key, struct event *v)
{
	struct str raw = clean_raw(r);

	if (!raw.n || str_is(raw, "null"))
		return;
	if (key.p[0] == 't') {
		v->ts_raw = raw;
		v->has_ts = true;
		v->is_bad_time |= !clean_time(&v->ts_raw, &v->ts);
	} else {
		v->dur_raw = raw;
		v->has_dur = true;
		v->is_bad_time |= !clean_time(&v->dur_raw, &v->dur);
	}
}

static void read_event(struct reader *k, struct event *v)
{
	struct json_reader *r = &k->r;
	struct str key;

	json_peek(r);
	*v = (struct event){.at = r->p};
	for (json_enter_object(r); json_next_key(r, &key);) {
		struct str raw;

		if (str_is(key, "args")) {
			read_args(r, v);
		} else if (str_is(key, "ts") || str_is(key, "dur")) {
			read_time(r, key, v);
		} else if (str_is(key, "pid") || str_is(key, "tid")) {
			read_lane(r, key, v);
		} else if (str_is(key, "name")) {
			v->name_raw = clean_raw(r);
			v->name = clean_inside(v->name_raw);
		} else if (str_is(key, "ph")) {
			raw = clean_inside(clean_raw(r));
			v->phase = raw.n == 1 ? raw.p[0] : '?';
		} else if (str_is(key, "id")) {
			v->id = clean_raw(r);
		} else if (str_is(key, "group_id")) {
			v->group = clean_raw(r);
		} else {
			json_skip(r);
		}
	}
}

/* --- slices --- */

static uint32_t place(const struct event *v, struct str s)
{
	return s.n ? (uint32_t)(s.p - v->at) : 0;
}

static struct clean_slice slice_of(const struct event *v, uint32_t lane)
{
	return (struct clean_slice){.at = v->at,
		.ts = v->ts,
		.dur = v->dur,
		.name_off = place(v, v->name_raw),
		.name_len = clean_is_string(v->name_raw) ? (uint32_t)v->name_raw.n : 0,
		.args_off = place(v, v->args),
		.args_len = (uint32_t)v->args.n,
		.ts_off = place(v, v->ts_raw),
		.ts_len = (uint8_t)v->ts_raw.n,
		.dur_off = place(v, v->dur_raw),
		.dur_len = (uint8_t)v->dur_raw.n,
		.lane = lane};
}

static uint64_t hash_str(struct str s, uint64_t seed)
{
	uint64_t h = hash_bytes(s.p, s.n, seed);

	return h ? h : 1;
}

/* The head cost that was announced for this slice, if any. */
static bool take_head(struct reader *k, struct str group, struct clean_slice *s)
{
	uint64_t *at;
	struct pending_head *h;
	struct clean_head out = {.slice = (uint32_t)k->c->slices.n};

	if (!k->heads.n || !group.n)
		return true;
	at = u64_map_find(&k->head_at, hash_str(group, s->lane / 2));
	if (!at || !*at)
		return true;
	h = &k->heads.v[*at - 1];
	*at = 0;
	out.cache = h->has[0] ? h->slice[0].dur : 0;
	out.ccu = h->has[1] ? h->slice[1].dur : 0;
	h->has[0] = h->has[1] = false;
	s->bits |= CLEAN_HAS_HEAD;
	return VEC_PUSH(&k->c->heads, out);
}

static bool push_slice(struct reader *k, struct clean_slice s, struct str group)
{
	struct clean_lane *lane = &k->c->lanes.v[s.lane];

	lane->n++;
	if (!lane->is_kept)
		return true;
	if (k->c->slices.n >= UINT32_MAX - 1)
		return false;
	return take_head(k, group, &s) && VEC_PUSH(&k->c->slices, s);
}

/* cache_time and ccu_time wait for the instruction of their group. */
static bool keep_head(struct reader *k, const struct event *v, uint32_t lane)
{
	unsigned which = str_is(v->name, "ccu_time");
	uint64_t group = hash_str(v->group, lane / 2);
	uint64_t *at = u64_map_at(&k->head_at, group);

	if (!at)
		return false;
	if (*at && k->heads.v[*at - 1].has[which])
		return push_slice(k, slice_of(v, lane), (struct str){0});
	if (!*at) {
		if (!VEC_PUSH(&k->heads, (struct pending_head){.group = group}))
			return false;
		*at = k->heads.n;
	}
	k->heads.v[*at - 1].has[which] = true;
	k->heads.v[*at - 1].slice[which] = slice_of(v, lane);
	return true;
}

static bool flush_heads(struct reader *k)
{
	for (size_t i = 0; i < k->heads.n; i++)
		for (unsigned w = 0; w < 2; w++) {
			if (!k->heads.v[i].has[w])
				continue;
			k->c->n_heads_left += k->c->lanes.v[k->heads.v[i].slice[w].lane].is_kept;
			if (!push_slice(k, k->heads.v[i].slice[w], (struct str){0}))
				return false;
		}
	return true;
}

/* --- flags --- */

static struct str or_unknown(struct str s)
{
	return s.n ? s : STR("?");
}

static uint32_t key_of(struct clean *c, struct str detail)
{
	struct ascend_flag f = ascend_flag_of(detail);
	struct clean_key key = {or_unknown(f.producer), or_unknown(f.consumer), or_unknown(f.id)};
	struct strbuf b = {0};
	uint32_t n = c->sync_keys.n, k;

	sb_printf(
		&b, "%.*s\t%.*s\t%.*s", STR_ARG(key.pipe), STR_ARG(key.trigger), STR_ARG(key.flag));
	k = b.failed ? INTERN_NONE : intern_add(&c->sync_keys, (struct str){b.p, b.n});
	sb_free(&b);
	if (k == INTERN_NONE || k < n)
		return k;
	key.pipe = (struct str){c->sync_keys.strs[k].p, key.pipe.n};
	key.trigger = (struct str){key.pipe.p + key.pipe.n + 1, key.trigger.n};
	key.flag = (struct str){key.trigger.p + key.trigger.n + 1, key.flag.n};
	return VEC_PUSH(&c->keys, key) ? k : INTERN_NONE;
}

static uint64_t stack_key(const struct reader *k, const struct event *v, uint32_t lane)
{
	uint64_t h = hash_str(v->name, lane + 1);

	return k->c->options.is_legacy ? h : hash_str(v->id, h);
}

static bool spill_last(struct reader *k)
{
	uint64_t *top = u64_map_at(&k->tops, k->last.key);

	if (!top)
		return false;
	k->last.below = (uint32_t)*top;
	if (k->open.n >= UINT32_MAX - 1 || !VEC_PUSH(&k->open, k->last))
		return false;
	*top = k->open.n;
	k->has_last = false;
	return true;
}

static bool begin_flag(struct reader *k, const struct event *v, uint32_t lane)
{
	struct open_flag f = {.slice = slice_of(v, lane + 1), .group = v->id.n ? v->id : v->group};
	enum ascend_sync sync = ascend_sync_of(v->name);

	f.slice.sync = (uint8_t)sync;
	if (k->has_last && !spill_last(k))
		return false;
	f.key = stack_key(k, v, lane);
	f.slice.dur_len = 0;
	f.sync = (struct clean_sync){.begin = v->ts, .lane = lane, .is_set = ascend_is_set(sync)};
	f.sync.id = v->id.n ? hash_str(v->id, 0) : 0;
	f.sync.slice = CLEAN_NO_SLICE;
	f.slice.bits = ascend_is_set(sync)    ? CLEAN_IS_SET
		       : ascend_is_wait(sync) ? CLEAN_IS_WAIT
					      : 0;
	f.sync.key = f.slice.bits ? key_of(k->c, v->detail) : 0;
	if (f.sync.key == INTERN_NONE)
		return false;
	k->last = f;
	k->has_last = true;
	return true;
}

static bool close_flag(struct reader *k, struct open_flag *f, double end)
{
	struct clean *c = k->c;
	bool is_kept = c->lanes.v[f->slice.lane].is_kept;

	f->sync.end = end;
	f->slice.dur = end > f->sync.begin ? end - f->sync.begin : 0;
	f->slice.bits |= CLEAN_IS_CUT;
	if (c->options.is_legacy) {
		c->lanes.v[f->slice.lane].n++;
	} else {
		if (is_kept)
			f->sync.slice = (uint32_t)c->slices.n;
		if (!push_slice(k, f->slice, f->group))
			return false;
	}
	return !(f->slice.bits & (CLEAN_IS_SET | CLEAN_IS_WAIT)) || VEC_PUSH(&c->syncs, f->sync);
}

static bool end_flag(struct reader *k, const struct event *v, uint32_t lane)
{
	uint64_t key = stack_key(k, v, lane), *top;
	struct open_flag f;

	if (k->has_last && k->last.key == key) {
		f = k->last;
		k->has_last = false;
		return close_flag(k, &f, v->ts);
	}
	top = u64_map_find(&k->tops, key);
	if (!top || !*top) {
		k->c->n_open++;
		return true;
	}
	f = k->open.v[*top - 1];
	k->open.v[*top - 1].is_taken = true;
	*top = f.below;
	return close_flag(k, &f, v->ts);
}

/* --- one event --- */

static bool add_counter(struct reader *k, const struct event *v, uint32_t lane)
{
	struct clean_event s = {.at = v->at,
		.name_off = place(v, v->name_raw),
		.name_len = clean_is_string(v->name_raw) ? (uint32_t)v->name_raw.n : 0,
		.args_off = place(v, v->args),
		.args_len = (uint32_t)v->args.n,
		.ts_off = place(v, v->ts_raw),
		.ts_len = (uint8_t)v->ts_raw.n,
		.lane = lane};

	return s.ts_len == 0 || VEC_PUSH(&k->c->counters, s);
}

static bool is_legacy_sync(struct str name)
{
	return str_is(name, "SET_FLAG") || str_is(name, "WAIT_FLAG") || str_is(name, "BAR");
}

static bool add_slice(struct reader *k, const struct event *v, uint32_t lane)
{
	if (v->group.n && (str_is(v->name, "cache_time") || str_is(v->name, "ccu_time")))
		return keep_head(k, v, lane);
	if (!k->c->options.is_legacy) {
		enum ascend_sync sync = ascend_sync_of(v->name);
		struct clean_slice s = slice_of(v, sync ? lane + 1 : lane);

		s.sync = (uint8_t)sync;
		return push_slice(k, s, v->group);
	}
	if (!is_legacy_sync(v->name))
		return push_slice(k, slice_of(v, lane), v->group);
	k->c->lanes.v[lane + 1].n++;
	return true;
}

/* Which events are lost, and why; the others have a lane. */
static bool is_usable(struct clean *c, const struct event *v)
{
	if (!v->pid_raw.n || !v->tid.n)
		c->n_no_lane++;
	else if (!v->has_ts)
		c->n_no_time++;
	else if (v->is_bad_time ||
		 (!c->options.is_legacy && (v->ts < 0 || (v->has_dur && v->dur < 0))))
		c->n_bad_time++;
	else
		return true;
	return false;
}

static bool add_event(struct reader *k, struct event *v)
{
	struct clean *c = k->c;
	uint32_t lane;

	if (v->phase == 'M' || v->phase == 's' || v->phase == 't' || v->phase == 'f')
		return true;
	if (!strchr("XBEC", v->phase) || !v->phase) {
		c->n_unknown_phase++;
		return true;
	}
	if (v->is_number_pid && v->phase != 'C')
		c->is_per_core = true;
	if ((size_t)(k->r.p - v->at) > UINT32_MAX) {
		c->n_bad_event++;
		return true;
	}
	if (!is_usable(c, v))
		return true;
	lane = clean_lane_of(c, v->pid, v->pid_raw, v->tid);
	if (lane == UINT32_MAX)
		return false;
	switch (v->phase) {
	case 'X':
		return add_slice(k, v, lane);
	case 'B':
		return begin_flag(k, v, lane);
	case 'E':
		return end_flag(k, v, lane);
	default:
		return add_counter(k, v, lane);
	}
}

/* --- the text --- */

static void release(struct reader *k)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uintptr_t from = ((uintptr_t)k->released + page - 1) / page * page;
	uintptr_t to = (uintptr_t)k->r.p / page * page;

	if ((size_t)(k->r.p - k->released) < RELEASE_BYTES)
		return;
	progress_add(k->c->options.progress, (uint64_t)(k->r.p - k->released));
	if (k->c->options.is_mapped && to > from)
		madvise((void *)from, to - from, MADV_DONTNEED);
	k->released = k->r.p;
}

static bool read_events(struct reader *k)
{
	struct event v;

	if (!json_enter_array(&k->r))
		return false;
	while (json_next_item(&k->r)) {
		if (json_peek(&k->r) != JSON_OBJECT) {
			k->c->n_bad_event++;
			json_skip(&k->r);
			continue;
		}
		read_event(k, &v);
		if (k->r.is_failed)
			break;
		k->c->n_events++;
		if (!add_event(k, &v)) {
			k->is_nomem = true;
			return false;
		}
		release(k);
	}
	return !k->r.is_failed;
}

static bool read_top(struct reader *k)
{
	struct clean *c = k->c;
	bool has_events = false;
	struct str key;

	if (json_peek(&k->r) == JSON_ARRAY) {
		c->is_bare_array = true;
		return read_events(k);
	}
	for (json_enter_object(&k->r); json_next_key(&k->r, &key);) {
		if (str_is(key, "traceEvents")) {
			has_events = true;
			read_events(k);
		} else if (str_is(key, "profilingType")) {
			c->profiling_type = clean_raw(&k->r);
		} else if (str_is(key, "schemaVersion")) {
			c->schema_version = clean_raw(&k->r);
		} else {
			json_skip(&k->r);
		}
		if (k->is_nomem)
			return false;
	}
	return k->r.is_failed || has_events ||
	       json_reject(&k->r, "bad-shape", "no key traceEvents in the top object");
}

/* Flags that never ended. */
static void count_open(struct reader *k)
{
	k->c->n_open += k->has_last;
	for (size_t i = 0; i < k->open.n; i++)
		k->c->n_open += !k->open.v[i].is_taken;
}

bool clean_read_json(
	struct clean *c, struct str text, const char *path, uint64_t offset, struct incore_error *e)
{
	struct reader k = {.c = c, .released = text.p};
	bool ok;

	json_init(&k.r, text.p, text.n, path, 0);
	progress_begin(c->options.progress, "events", text.n);
	ok = read_top(&k) && flush_heads(&k);
	count_open(&k);
	progress_end(c->options.progress);
	if (!ok && !k.r.is_failed)
		err_nomem(e);
	else
		ok = json_finish(&k.r, e);
	if (!ok && e && offset && k.r.is_failed) {
		e->offset += offset;
		e->line = 0;
	}
	json_deinit(&k.r);
	VEC_FREE(&k.open);
	VEC_FREE(&k.heads);
	u64_map_deinit(&k.tops);
	u64_map_deinit(&k.head_at);
	return ok;
}
