/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clean_trace.c: the slices of a trace of pipes (camodel dumps, a packed file, a model's run), for
 * input that is no text of events. Times are cycles and shown as 1 ns each.
 */
#include "base/mem.h"
#include "codec/json_writer.h"
#include "export/clean/clean.h"
#include "isa/ascend.h"

#define CYCLE_SHOWN 0.001 /* microseconds */

struct row_text { /* of a code row: name and arguments as JSON, one after the other */
	const char *p;
	uint32_t name_len, args_len;
};

struct source {
	struct clean *c;
	const struct trace *t;
	struct row_text *rows;
	uint32_t *first_sync;	/* of each track, into c->syncs; one more at the end */
	VEC(uint32_t) slice_of; /* of each sync: its slice in the track */
	struct track_data data;
};

static bool make_row(struct source *k, code_idx code)
{
	const struct code_row *r = &k->t->code[code];
	struct row_text *out = &k->rows[code];
	struct json_writer w;
	struct strbuf b = {0};
	struct str text = {r->text, r->text_len}, opcode = str_of(k->t->opcodes[r->opcode]);
	char pc[24];
	char *copy;

	json_w_buf(&w, &b, 0);
	json_w_str(&w, opcode);
	out->name_len = (uint32_t)b.n;
	snprintf(pc, sizeof(pc), "0x%llx", (unsigned long long)r->address);
	json_w_buf(&w, &b, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "code", r->source ? r->source : "");
	json_w_kv_str(
		&w, "detail", text.n > opcode.n ? str_sub(text, opcode.n + 1, text.n) : STR(""));
	json_w_kv_cstr(&w, "pc_addr", pc);
	json_w_end(&w);
	out->args_len = (uint32_t)b.n - out->name_len;
	copy = b.failed ? NULL : arena_strndup(&k->c->arena, b.p, b.n);
	sb_free(&b);
	out->p = copy;
	return copy != NULL;
}

static bool add_key(struct clean *c, struct str text, uint32_t *key)
{
	struct ascend_flag f = ascend_flag_of(text);
	struct strbuf b = {0};
	uint32_t n = c->sync_keys.n;
	const char *p;

	sb_printf(&b, "%.*s\t%.*s\t%.*s", STR_ARG(f.producer), STR_ARG(f.consumer), STR_ARG(f.id));
	*key = b.failed ? INTERN_NONE : intern_add(&c->sync_keys, (struct str){b.p, b.n});
	sb_free(&b);
	if (*key == INTERN_NONE || *key < n)
		return *key != INTERN_NONE;
	p = c->sync_keys.strs[*key].p;
	return VEC_PUSH(&c->keys,
		(struct clean_key){{p, f.producer.n}, {p + f.producer.n + 1, f.consumer.n},
			{p + f.producer.n + f.consumer.n + 2, f.id.n}});
}

static bool add_sync(struct source *k, uint32_t i, uint32_t lane, enum ascend_sync sync)
{
	struct clean *c = k->c;
	const struct track_data *d = &k->data;
	const struct code_row *r = &k->t->code[d->code[i]];
	struct clean_sync s = {.begin = (double)(d->start_cyc[i] + d->stall_cyc[i]),
		.end = (double)(d->start_cyc[i] + d->dur_cyc[i]),
		.lane = lane,
		.slice = c->lanes.v[lane].is_kept ? (uint32_t)c->slices.n : CLEAN_NO_SLICE,
		.is_set = ascend_is_set(sync),
		.id = UINT64_MAX - c->syncs.n};

	return add_key(c, (struct str){r->text, r->text_len}, &s.key) && VEC_PUSH(&c->syncs, s) &&
	       VEC_PUSH(&k->slice_of, i);
}

static bool add_head(struct source *k, track_idx track, uint32_t i)
{
	const struct trace *t = k->t;
	double stall = k->data.stall_cyc[i], cache = 0;
	uint32_t lo = 0, hi = t->n_heads;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct head_cost *h = &t->heads[mid];

		if (h->track < track || (h->track == track && h->slice < i))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo < t->n_heads && t->heads[lo].track == track && t->heads[lo].slice == i)
		cache = t->heads[lo].cache_cyc;
	return VEC_PUSH(
		&k->c->heads, (struct clean_head){(uint32_t)k->c->slices.n, cache, stall - cache});
}

static bool add_slice(struct source *k, track_idx track, uint32_t i, uint32_t lane)
{
	const struct track_data *d = &k->data;
	code_idx code = d->code[i];
	struct clean_slice s = {.at = "\"?\"", .name_len = 3, .lane = lane};
	enum ascend_sync sync = SYNC_NONE;

	s.ts = (double)(d->start_cyc[i] + d->stall_cyc[i]);
	s.dur = (double)(d->dur_cyc[i] - d->stall_cyc[i]);
	if (code < k->t->n_code) {
		if (!k->rows[code].p && !make_row(k, code))
			return false;
		s.at = k->rows[code].p;
		s.name_len = k->rows[code].name_len;
		s.args_off = s.name_len;
		s.args_len = k->rows[code].args_len;
		sync = ascend_sync_of(str_of(k->t->opcodes[k->t->code[code].opcode]));
	}
	if (ascend_is_set(sync) || ascend_is_wait(sync))
		if (!add_sync(k, i, lane, sync))
			return false;
	s.sync = (uint8_t)sync;
	s.lane += sync != SYNC_NONE;
	k->c->lanes.v[s.lane].n++;
	if (!k->c->lanes.v[s.lane].is_kept)
		return true;
	if (d->stall_cyc[i]) {
		s.bits |= CLEAN_HAS_HEAD;
		if (!add_head(k, track, i))
			return false;
	}
	if (k->c->options.is_legacy && sync != SYNC_NONE)
		return true;
	return k->c->slices.n < UINT32_MAX - 1 && VEC_PUSH(&k->c->slices, s);
}

static bool add_track(struct source *k, track_idx i, struct incore_error *e)
{
	struct str name = str_of(k->t->tracks[i].name), pid = name, pipe = STR("?");
	ptrdiff_t slash = str_rfind_char(name, '/');
	char raw[CLEAN_MAX_NAME + 1];
	uint32_t lane;

	if (slash > 0) {
		pid = str_sub(name, 0, (size_t)slash);
		pipe = str_sub(name, (size_t)slash + 1, name.n);
	}
	if (pid.n > CLEAN_MAX_NAME - 2 || pipe.n > CLEAN_MAX_NAME)
		return err_set(e, INCORE_BAD_INPUT, "bad-name", "the name of a lane is too long");
	snprintf(raw, sizeof(raw), "\"%.*s\"", STR_ARG(pid));
	if (!trace_load_track(k->t, i, 0, &k->data, e))
		return false;
	lane = clean_lane_of(k->c, pid, str_of(raw), pipe);
	if (lane == UINT32_MAX)
		return err_nomem(e);
	k->first_sync[i] = (uint32_t)k->c->syncs.n;
	k->c->n_events += k->data.n;
	for (uint32_t s = 0; s < k->data.n; s++)
		if (!add_slice(k, i, s, lane))
			return err_nomem(e);
	return true;
}

static struct clean_sync *find_sync(struct source *k, track_idx track, uint32_t slice)
{
	uint32_t lo = k->first_sync[track], hi = k->first_sync[track + 1];

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (k->slice_of.v[mid] == slice)
			return &k->c->syncs.v[mid];
		if (k->slice_of.v[mid] < slice)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

static bool has_partner(const struct source *k, const struct clean_sync *s)
{
	return s->id <= k->t->n_links;
}

/* Partners get the same id. An arrow of a viewer's file (LINK_FLOW) is only near its slices: it
 * counts where the flags themselves say nothing. */
static void join_syncs(struct source *k, bool is_flow)
{
	for (uint32_t i = 0; i < k->t->n_links; i++) {
		const struct link *l = &k->t->links[i];
		struct clean_sync *a = find_sync(k, l->from_track, l->from_slice);
		struct clean_sync *b = find_sync(k, l->to_track, l->to_slice);

		if ((l->kind == LINK_FLOW) == is_flow && a && b && a->is_set && !b->is_set &&
			!(is_flow && (has_partner(k, a) || has_partner(k, b))))
			a->id = b->id = (uint64_t)i + 1;
	}
}

bool clean_read_trace(struct clean *c, const struct trace *t, struct incore_error *e)
{
	struct source k = {.c = c, .t = t};
	bool ok = false;

	c->time_name = "cycles";
	c->ticks_per_unit = CYCLE_SHOWN;
	k.rows = mem_zalloc((size_t)t->n_code + 1, sizeof(*k.rows));
	k.first_sync = mem_zalloc((size_t)t->n_tracks + 1, sizeof(*k.first_sync));
	if (!k.rows || !k.first_sync) {
		err_nomem(e);
		goto out;
	}
	progress_begin(c->options.progress, "pipes", t->n_tracks);
	ok = true;
	for (track_idx i = 0; ok && i < t->n_tracks; i++) {
		progress_add(c->options.progress, 1);
		ok = add_track(&k, i, e);
	}
	progress_end(c->options.progress);
	k.first_sync[t->n_tracks] = (uint32_t)c->syncs.n;
	if (ok) {
		join_syncs(&k, false);
		join_syncs(&k, true);
	}
out:
	track_data_deinit(&k.data);
	VEC_FREE(&k.slice_of);
	mem_free(k.rows);
	mem_free(k.first_sync);
	return ok;
}
