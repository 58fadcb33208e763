/* SPDX-License-Identifier: Apache-2.0 */
/*
 * links.c: which slice waited for which: the producers of counter waits, track by track, then the
 * links between tracks that the capture contains.
 */
#include "analysis/waves/waits.h"
#include "tables/source.h"

struct link_row {
	uint32_t capture;
	const char *kind;
	uint32_t track, slice, from_track, from_slice;
};

static const struct column link_columns[] = {
	COLUMN(link_row, capture, UNIT_INDEX, "number of the capture, as in the other tables"),
	COLUMN(link_row, kind, UNIT_NONE, "kind of the link",
		.words = "wait|flag|barrier|cross-core|flow"),
	COLUMN(link_row, track, UNIT_INDEX, "track of the slice that waited"),
	COLUMN(link_row, slice, UNIT_INDEX, "number of the slice that waited"),
	COLUMN(link_row, from_track, UNIT_INDEX, "track of the slice that was waited for"),
	COLUMN(link_row, from_slice, UNIT_INDEX,
		"slice that was waited for; for a wait on a counter: the last one issued"),
};
static const struct record link_record = RECORD_OF(link_row, RECORD_LINE, link_columns);

struct links_state {
	struct track_walk walk;
	struct wait_tables *tables;
	struct waits waits;
	VEC(struct link_row) rows; /* of the loaded track */
	size_t at;
	uint32_t next_stated;
	bool is_inside;
};

static bool start(struct table_cursor *c, struct incore_error *e)
{
	struct links_state *s = arena_zalloc(&c->arena, 1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	c->state = s;
	s->walk.loaded = NO_TRACK;
	s->walk.less = TRACK_LESS & ~(unsigned)TRACK_NO_CODE;
	s->tables = wait_tables_new(c->trace, e);
	return s->tables != NULL;
}

/* Adds one link per counter of a wait, from the instance that was issued last. */
static bool resolve(struct table_cursor *c, struct links_state *s, struct incore_error *e)
{
	track_idx i = s->walk.loaded;
	struct walk_track w = {.trace = c->trace,
		.idx = i,
		.track = &c->trace->tracks[i],
		.data = s->walk.data,
		.to_cyc = UINT64_MAX};

	s->rows.n = s->at = 0;
	if (!w.data->n)
		return true;
	if (!waits_resolve(&s->waits, s->tables, &w, WAITS_BY_CODE, e))
		return false;
	EACH (const struct wait_event, v, s->waits.events.v, s->waits.events.n) {
		for (uint8_t k = 0; k < v->n_sides; k++) {
			uint32_t from = s->waits.sides.v[v->first_side + k].youngest;
			struct link_row x = {c->scan.capture, "wait", i, v->slice, i, from};

			if (from < w.data->n && !VEC_PUSH(&s->rows, x))
				return err_nomem(e);
		}
	}
	return true;
}

static struct link_row stated_row(const struct table_cursor *c, const struct link *l)
{
	static const char *const words[] = {[LINK_FLAG] = "flag",
		[LINK_BARRIER] = "barrier",
		[LINK_CROSS_CORE] = "cross-core",
		[LINK_FLOW] = "flow"};

	return (struct link_row){c->scan.capture, words[l->kind], l->to_track, l->to_slice,
		l->from_track, l->from_slice};
}

static void put(struct table_cursor *c, const struct link_row *x)
{
	for (unsigned k = 0; k < c->n_columns; k++) {
		const struct column *column = &link_record.columns[k];
		size_t width = column_width(column->type);

		if (c->vector[k])
			memcpy((char *)c->vector[k] + c->n_out * width,
				(const char *)x + column->offset, width);
	}
	c->n_out++;
}

static bool next_links(struct table_cursor *c, struct incore_error *e)
{
	struct links_state *s = c->state;

	if (!s && !start(c, e))
		return false;
	s = c->state;
	while (c->n_out < TABLE_BATCH) {
		if (s->is_inside && s->at < s->rows.n) {
			put(c, &s->rows.v[s->at++]);
			continue;
		}
		if (!track_walk_next(&s->walk, c, e))
			return false;
		s->is_inside = s->walk.loaded != NO_TRACK;
		if (!s->is_inside)
			break;
		if (!resolve(c, s, e))
			return false;
	}
	for (; c->n_out < TABLE_BATCH && s->next_stated < c->trace->n_links; s->next_stated++) {
		struct link_row x = stated_row(c, &c->trace->links[s->next_stated]);

		if (x.track >= c->scan.first_track && x.track <= c->scan.last_track)
			put(c, &x);
	}
	return true;
}

static void rewind_links(struct table_cursor *c)
{
	struct links_state *s = c->state;

	if (!s)
		return;
	s->walk.next = 0;
	s->next_stated = 0;
	s->is_inside = false;
}

static void close_links(struct table_cursor *c)
{
	struct links_state *s = c->state;

	if (!s)
		return;
	track_data_deinit(&s->walk.own);
	waits_deinit(&s->waits);
	wait_tables_free(s->tables);
	VEC_FREE(&s->rows);
}

static uint64_t estimate_links(const struct trace *t)
{
	return t->n_links + table_count_slices(t) / 16;
}

const struct table links_table = {
	.name = "links",
	.doc = "which slice waited for which",
	.record = &link_record,
	.has_lasting_texts = true,
	.source = &(const struct table_source){.next = next_links,
		.rewind = rewind_links,
		.close = close_links,
		.estimate = estimate_links},
};
