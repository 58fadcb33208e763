/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracks.c: the tracks of the document. Their content is read on demand: only its place in the
 * file is kept.
 */
#include "base/search.h"
#include "import/json/json.h"

struct doc_track { /* a track of the document */
	struct track k;
	uint32_t index;		       /* in the trace that was exported */
	int64_t begin_cyc, end_cyc;    /* aligned, from the origin of the document */
	uint64_t slices_at, states_at; /* byte offsets of the arrays; 0: absent */
	uint32_t n_states;
};

static const struct field track_fields[] = {
	CELL(doc_track, index, U32, "index"),
	CELL(doc_track, k.name, STR, "name"),
	CELL(doc_track, k.clock, CLOCK, "clock"),
	CELL(doc_track, k.kernel_id, INDEX, "kernel_id"),
	CELL(doc_track, k.workgroup, VALUE, "workgroup"),
	CELL(doc_track, begin_cyc, I64, "begin_cycles"),
	CELL(doc_track, end_cyc, I64, "end_cycles"),
};
static const struct field_table table_doc_tracks = CELLS(doc_track, track_fields);

/* Remembers where an array starts, and counts its rows. */
static void pass_rows(struct reading *x, uint64_t *at, uint32_t *n)
{
	*n = 0;
	if (json_peek(&x->r) == JSON_ARRAY)
		*at = json_offset(&x->r);
	for (json_enter_array(&x->r); json_next_item(&x->r); *n += 1)
		if (json_skip(&x->r) && *n == UINT32_MAX / 2)
			json_reject(&x->r, "out-of-range", "too many rows");
}

/* The number of a track on a level; the first track names the levels. */
static bool read_level(struct reading *x, struct str key, struct doc_track *row)
{
	const char **levels = x->t->levels;
	int i = 0;

	if (row->k.name || json_peek(&x->r) != JSON_NUMBER)
		return false;
	while (i < TRACK_LEVELS && levels[i] && !str_is(key, levels[i]))
		i++;
	if (i == TRACK_LEVELS)
		return json_reject(&x->r, NULL, "a track has more than %d levels", TRACK_LEVELS);
	if (!levels[i])
		levels[i] = arena_strndup(&x->t->arena, key.p, key.n);
	return json_get_u32(&x->r, &row->k.coord[i]) && (levels[i] || doc_no_memory(&x->r));
}

static bool more_of_track(struct reading *x, struct str key, void *p)
{
	struct doc_track *row = p;

	if (str_is(key, "slices"))
		pass_rows(x, &row->slices_at, &row->k.n_slices);
	else if (str_is(key, "states"))
		pass_rows(x, &row->states_at, &row->n_states);
	else
		return read_level(x, key, row);
	return true;
}

void doc_read_tracks(struct reading *x)
{
	x->doc->tracks = doc_read_rows(x, &table_doc_tracks, more_of_track, &x->t->n_tracks);
}

/* Converts a time of the document to its clock domain; negative: no such time. */
static int64_t cycles_of(const struct trace *t, clock_idx clock, int64_t at)
{
	const struct doc *doc = t->loader_ctx;

	return at + doc->origin_cyc - (clock < t->n_clocks ? t->clocks[clock].offset_cyc : 0);
}

static bool place_tracks(struct reading *x, struct incore_error *e)
{
	struct trace *t = x->t;

	t->tracks = arena_zalloc(&t->arena, (size_t)t->n_tracks + 1, sizeof(*t->tracks));
	if (!t->tracks)
		return err_nomem(e);
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		const struct doc_track *d = &x->doc->tracks[i];
		struct track *k = &t->tracks[i];

		*k = d->k;
		k->begin_cyc = (uint64_t)cycles_of(t, k->clock, d->begin_cyc);
		k->end_cyc = (uint64_t)cycles_of(t, k->clock, d->end_cyc);
		if (cycles_of(t, k->clock, d->begin_cyc) < 0 || k->begin_cyc > k->end_cyc)
			return err_file(e, "bad-value", x->doc->path, d->slices_at,
				"track %u: its clock has no such time", i);
		if (i && d->index <= d[-1].index)
			return err_file(e, "bad-value", x->doc->path, d->slices_at,
				"track %u: index %u is not above the one before", i, d->index);
	}
	return true;
}

static track_idx track_of_index(const struct trace *t, const struct doc *doc, uint32_t index)
{
	uint32_t lo = 0, hi = t->n_tracks;

	BISECT(lo, hi, i, doc->tracks[i].index < index);
	return lo < t->n_tracks && doc->tracks[lo].index == index ? lo : NO_TRACK;
}

/* If only some tracks were exported, the links between others are left out. */
static bool place_links(struct trace *t, const struct doc *doc)
{
	uint32_t n = 0, n_all = t->n_links;

	for (uint32_t i = 0; i < n_all; i++) {
		struct link k = t->links[i];

		k.from_track = track_of_index(t, doc, k.from_track);
		k.to_track = track_of_index(t, doc, k.to_track);
		if (k.from_track != NO_TRACK && k.to_track != NO_TRACK &&
			k.from_slice < t->tracks[k.from_track].n_slices &&
			k.to_slice < t->tracks[k.to_track].n_slices)
			t->links[n++] = k;
	}
	t->n_links = n;
	return n == n_all || trace_note(t, NOTE_LOST, "links-left-out", doc->path, INCORE_NO_OFFSET,
				     n_all - n, "links to slices that the document does not hold");
}

/* --- content of a track --- */

static const struct field slice_fields[] = {
	CELL(track_slice, start, I64, "start_cycles"),
	CELL(track_slice, dur, U32, "duration_cycles"),
	CELL(track_slice, stall, U32, "stall_cycles"),
	CELL(track_slice, code, INDEX, "code"),
	CELL(track_slice, inst_class, CLASS, "class"),
	CELL(track_slice, tag, U8, "category"),
};
static const struct field_table table_slices = CELLS(track_slice, slice_fields);

struct state_row {
	int64_t start_cyc;
	uint32_t dur_cyc, state;
};
static const struct field state_fields[] = {
	CELL(state_row, start_cyc, I64, "start_cycles"),
	CELL(state_row, dur_cyc, U32, "duration_cycles"),
	{.name = "state",
		.words = state_words,
		.offset = offsetof(struct state_row, state),
		.size = sizeof(uint32_t),
		.type = FIELD_ENUM},
};
static const struct field_table table_states = CELLS(state_row, state_fields);

static void add_slice(struct json_reader *r, const struct trace *t, const struct track_slice *s,
	struct track_data *d)
{
	if (s->start > INT64_MAX || s->stall > s->dur ||
		(s->code >= t->n_code && s->code != NO_CODE) ||
		(d->n && d->start_cyc[d->n - 1] > s->start))
		json_reject(r, NULL, "slice %u: its time, stall or code is out of range", d->n);
	else
		track_data_put(d, s);
}

static void add_state(struct track_data *d, uint32_t state, uint64_t dur_cyc)
{
	d->state[d->n_states] = (uint8_t)state;
	d->state_dur_cyc[d->n_states++] = (uint32_t)dur_cyc;
}

static void load_slice(
	struct json_reader *r, const struct trace *t, track_idx i, struct track_data *d)
{
	struct track_slice row;

	doc_clear_row(&table_slices, &row);
	doc_read_cells(r, NULL, &table_slices, &row);
	row.start = (uint64_t)cycles_of(t, t->tracks[i].clock, (int64_t)row.start);
	if (!r->is_failed)
		add_slice(r, t, &row, d);
}

/* If an export of a window has no state, an empty one is used. */
static void load_state(struct json_reader *r, const struct trace *t, track_idx i, uint64_t *at,
	struct track_data *d)
{
	struct state_row row;
	int64_t start;

	doc_clear_row(&table_states, &row);
	doc_read_cells(r, NULL, &table_states, &row);
	start = cycles_of(t, t->tracks[i].clock, row.start_cyc);
	if (start < (int64_t)*at || start - (int64_t)*at > UINT32_MAX)
		json_reject(r, NULL, "a state does not follow the one before");
	if (r->is_failed)
		return;
	if ((uint64_t)start > *at)
		add_state(d, STATE_EMPTY, (uint64_t)start - *at);
	add_state(d, row.state, row.dur_cyc);
	*at = (uint64_t)start + row.dur_cyc;
}

static bool load(const struct trace *t, track_idx i, unsigned want, struct track_data *d,
	struct incore_error *e)
{
	const struct doc *doc = t->loader_ctx;
	const struct doc_track *k = &doc->tracks[i];
	uint64_t at = t->tracks[i].begin_cyc;
	struct json_reader r;
	bool ok;

	if (!track_data_reserve(d, k->k.n_slices) || !track_data_reserve_states(d, 2 * k->n_states))
		return err_nomem(e);
	d->stated_slices = k->k.n_slices;
	json_init(&r, doc->file.data, doc->file.size, doc->path, 0);
	if (k->slices_at && !(want & TRACK_NO_SLICES)) {
		r.p = r.start + k->slices_at;
		json_enter_array(&r);
		while (d->n < k->k.n_slices && json_next_item(&r))
			load_slice(&r, t, i, d);
	}
	if (k->states_at && want & TRACK_STATES && !r.is_failed) {
		r.p = r.start + k->states_at;
		r.need_comma = false;
		json_enter_array(&r);
		for (uint32_t n = 0; n < k->n_states && json_next_item(&r); n++)
			load_state(&r, t, i, &at, d);
	}
	ok = !r.is_failed || json_fail(&r, e);
	json_deinit(&r);
	return ok;
}

bool doc_finish_tracks(struct reading *x, struct incore_error *e)
{
	x->t->loader.load = load;
	return place_tracks(x, e) && (place_links(x->t, x->doc) ? true : err_nomem(e));
}
