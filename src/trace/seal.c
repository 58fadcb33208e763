/* SPDX-License-Identifier: Apache-2.0 */
/*
 * seal.c: checks the invariants that every analysis relies on: indices in range, tables sorted,
 * names set. An importer that fails here has a bug or passed on an unchecked number of its input.
 */
#include "trace/trace.h"

static bool bad(struct incore_error *e, const char *table, uint64_t i, const char *what)
{
	return err_set(e, INCORE_BAD_INPUT, "bad-trace", "%s %llu: %s", table,
		(unsigned long long)i, what);
}

static bool clock_ok(const struct trace *t, clock_idx c)
{
	return c < t->n_clocks || c == NO_CLOCK;
}

static bool seal_code(const struct trace *t, struct incore_error *e)
{
	for (uint32_t i = 0; i < t->n_code; i++) {
		const struct code_row *r = &t->code[i];

		if (!r->text || !r->source)
			return bad(e, "code row", i, "no text");
		if (r->inst_class >= CLASS_COUNT)
			return bad(e, "code row", i, "unknown class");
		if (r->opcode >= t->n_opcodes && !r->is_label)
			return bad(e, "code row", i, "opcode out of range");
		if (r->first_frame > t->n_frames || r->n_frames > t->n_frames - r->first_frame)
			return bad(e, "code row", i, "frames out of range");
	}
	for (uint32_t i = 0; i < t->n_frames; i++)
		if (t->frames[i].source >= t->n_sources && t->frames[i].source != NO_SOURCE)
			return bad(e, "frame", i, "source out of range");
	for (uint32_t i = 0; i < t->n_sources; i++)
		if (!t->sources[i].path)
			return bad(e, "source", i, "no path");
	for (uint32_t i = 0; i < t->n_opcodes; i++)
		if (!t->opcodes[i])
			return bad(e, "opcode", i, "no name");
	return true;
}

static bool seal_samples(const struct trace *t, struct incore_error *e)
{
	if (t->samples && t->n_reasons && (!t->reasons || !t->reason_counts))
		return bad(e, "samples", 0, "reasons without counts");
	for (uint32_t i = 0; i < t->n_reasons; i++)
		if (!t->reasons[i])
			return bad(e, "stall reason", i, "no name");
	for (uint32_t i = 0; i < t->n_metrics; i++) {
		const struct code_metric *m = &t->metrics[i];

		if (!m->name || (m->n && (!m->row || !m->value)))
			return bad(e, "metric", i, "no name or no values");
		for (uint32_t k = 0; k < m->n; k++)
			if (m->row[k] >= t->n_code || (k && m->row[k] <= m->row[k - 1]))
				return bad(e, "metric", i, "its rows do not rise");
	}
	for (uint32_t i = 0; i < t->n_code_links; i++) {
		const struct code_link *l = &t->code_links[i];

		if (l->row >= t->n_code || l->to >= t->n_code || l->kind >= CODE_LINK_KINDS ||
			(l->reason >= t->n_reasons && l->reason != NO_REASON))
			return bad(e, "code link", i, "out of range");
		if (i && l->row < l[-1].row)
			return bad(e, "code link", i, "not sorted");
	}
	return true;
}

static int coord_cmp(const struct track *a, const struct track *b)
{
	for (int i = 0; i < TRACK_LEVELS; i++)
		if (a->coord[i] != b->coord[i])
			return a->coord[i] < b->coord[i] ? -1 : 1;
	return 0;
}

static bool seal_tracks(const struct trace *t, struct incore_error *e)
{
	if (t->n_tracks && (!t->levels[0] || !t->loader.load))
		return bad(e, "tracks", t->n_tracks, "no levels or no loader");
	for (uint32_t i = 0; i < t->n_tracks; i++) {
		const struct track *k = &t->tracks[i];

		if (!k->name)
			return bad(e, "track", i, "no name");
		if (!clock_ok(t, k->clock))
			return bad(e, "track", i, "clock out of range");
		if (k->begin_cyc > k->end_cyc)
			return bad(e, "track", i, "ends before it begins");
		if (i && coord_cmp(&t->tracks[i - 1], k) > 0)
			return bad(e, "track", i, "not sorted");
	}
	return true;
}

static bool seal_occupancy(const struct trace *t, struct incore_error *e)
{
	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		const struct occupancy_event *o = &t->occupancy[i];

		if (!clock_ok(t, o->clock))
			return bad(e, "occupancy event", i, "clock out of range");
		if (i && (o->clock < o[-1].clock ||
				 (o->clock == o[-1].clock && o->time_cyc < o[-1].time_cyc)))
			return bad(e, "occupancy event", i, "not sorted");
	}
	for (uint32_t i = 0; i < t->n_kernel_names; i++) {
		if (!t->kernel_names[i].name)
			return bad(e, "kernel", i, "no name");
		if (i && t->kernel_names[i].id <= t->kernel_names[i - 1].id)
			return bad(e, "kernel", i, "ids not rising");
	}
	for (uint32_t i = 0; i < t->n_dispatch_events; i++)
		if (!clock_ok(t, t->dispatch_events[i].clock))
			return bad(e, "dispatch event", i, "clock out of range");
	return true;
}

static bool seal_side(const struct trace *t, struct incore_error *e)
{
	for (uint32_t i = 0; i < t->n_counters; i++)
		if (!t->counters[i].name || !clock_ok(t, t->counters[i].clock))
			return bad(e, "counter", i, "no name or clock out of range");
	for (uint32_t i = 0; i < t->n_counter_names; i++)
		if (!t->counter_names[i])
			return bad(e, "counter", i, "no name");
	for (uint32_t i = 0; i < t->n_markers; i++)
		if (!clock_ok(t, t->markers[i].clock))
			return bad(e, "marker", i, "clock out of range");
	for (uint32_t i = 0; i < t->n_other_issues; i++)
		if (!clock_ok(t, t->other_issues[i].clock))
			return bad(e, "issue record", i, "clock out of range");
	for (uint32_t i = 0; i < t->n_links; i++)
		if (t->links[i].from_track >= t->n_tracks || t->links[i].to_track >= t->n_tracks)
			return bad(e, "link", i, "track out of range");
	for (uint32_t i = 0; i < t->n_heads; i++)
		if (t->heads[i].track >= t->n_tracks)
			return bad(e, "head cost", i, "track out of range");
	for (uint32_t i = 0; i < t->n_tables; i++) {
		const struct named_table *k = &t->tables[i];

		if (!k->name || !k->origin || (k->n_cols && !k->cols) ||
			(k->n_cols && k->n_rows && !k->cells))
			return bad(e, "table", i, "no name or no content");
		for (uint32_t c = 0; c < k->n_cols; c++)
			if (!k->cols[c])
				return bad(e, "table", i, "a column has no name");
	}
	for (uint32_t i = 0; i < t->n_notes; i++) {
		if (!t->notes[i].code || !t->notes[i].message)
			return bad(e, "note", i, "no text");
		t->notes[i].weight = note_kind_weight(t->notes[i].kind);
	}
	return true;
}

bool trace_seal(struct trace *t, struct incore_error *e)
{
	if (!t->meta.format || !t->meta.origin)
		return bad(e, "meta", 0, "no format or no origin");
	if (t->reference_clock >= t->n_clocks && t->reference_clock != NO_CLOCK)
		return bad(e, "reference clock", t->reference_clock, "out of range");
	return seal_code(t, e) && seal_samples(t, e) && seal_tracks(t, e) && seal_occupancy(t, e) &&
	       seal_side(t, e);
}
