/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.c: Perfetto's protocol buffers, for ui.perfetto.dev and trace_processor. See
 * incore-perfetto(7). Tracks by shader engine, CU, SIMD, slot and wave: a wave's track has its
 * lifetime and within it the instructions, each with the cycles that account.h attributes to it, so
 * that sums match incore hot; its states are on a track below. For pipes, where several
 * instructions are in flight at once: as many tracks as needed, slices as recorded. One nanosecond
 * is one cycle, unless real time is requested.
 */
#include "analysis/pipes/clean.h"
#include "analysis/pipes/pipe_sweep.h"
#include "base/mem.h"
#include "export/flows.h"
#include "export/labels.h"
#include "export/perfetto/perfetto_packet.h"
#include "export/writer.h"

struct perfetto_state {
	struct packets packets;
	uint32_t coord[TRACK_LEVELS]; /* of the current tracks, and their numbers */
	uint64_t node[TRACK_LEVELS];
	unsigned n_nodes;
	uint32_t n_processes;
	uint64_t *process_of; /* by clock: its process; 0: not created yet */
	int64_t begin_cyc, end_cyc;
	struct sequence slices, states, rest; /* rest: counters and notes */
	uint64_t uuid;			      /* of the current track */
	bool has_pipes;
	struct flows flows;
	struct clean_rows rows; /* of the current pipe */
	VEC(uint64_t) row_uuids;
	const struct counter_series *series;
	uint64_t series_uuid, notes_uuid;
	clock_idx running_clock;
	uint64_t n_clipped;
	struct strbuf text;
};

static uint64_t time_ns(const struct export *x, int64_t cyc)
{
	const struct trace_meta *m = &x->trace->meta;
	uint64_t v = cyc < 0 ? 0 : (uint64_t)cyc;

	if (!x->options->is_real_time)
		return v;
	return (uint64_t)((unsigned __int128)v * m->clock_hz_den * 1000000000u / m->clock_hz_num);
}

static bool latched(const struct perfetto_state *s, struct incore_error *e)
{
	return !s->packets.out.failed && !s->text.failed ? true : err_nomem(e);
}

static bool begin(struct export *x, struct incore_error *e)
{
	const struct trace *t = x->trace;
	struct perfetto_state *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	x->state = s;
	clean_rows_init(&s->rows);
	s->running_clock = NO_CLOCK;
	if (x->options->is_real_time && !t->meta.clock_hz_num)
		return err_set(e, INCORE_USAGE, "no-clock",
			"--time us: this capture does not give its clock; use --time cycles");
	s->process_of = mem_zalloc((size_t)t->n_clocks + 1, sizeof(*s->process_of));
	if (!s->process_of)
		return err_nomem(e);
	s->has_pipes = export_has_lanes(t);
	if (!packets_init(&s->packets, x->file.f, t, e))
		return false;
	s->rest = packets_begin(&s->packets, 0, 0);
	return !s->has_pipes || flows_of_links(&s->flows, x, e);
}

/* --- tracks --- */

static uint64_t put_track(
	struct perfetto_state *s, uint64_t parent, const char *name, uint32_t rank)
{
	struct descriptor_at at = packets_open_track(&s->packets, parent, str_of(name), rank);

	packets_close_track(&s->packets, at);
	return at.uuid;
}

/* Writes a process, with data that this format has no other place for: producer, source, device. */
static uint64_t put_process(struct export *x, struct str place, uint32_t rank)
{
	struct perfetto_state *s = x->state;
	const struct trace_meta *m = &x->trace->meta;
	struct strbuf *b = &s->packets.out, about = {0};
	struct descriptor_at at;
	size_t process;

	sb_reset(&s->text);
	sb_printf(&s->text, "%.*s, %s, %s (%s)", STR_ARG(place), m->kernel ? m->kernel : "kernel",
		evidence_name(m->evidence),
		x->options->is_real_time ? "real time" : "1 ns shown = 1 cycle");
	if (!labels_put_metadata(x->trace, &about))
		s->text.failed = true;
	at = packets_open_track(&s->packets, 0, (struct str){s->text.p, s->text.n}, rank);
	process = pb_open(b, DESCRIPTOR_PROCESS);
	pb_put_number(b, PROCESS_PID, ++s->n_processes);
	pb_put_str(b, PROCESS_NAME, (struct str){s->text.p, s->text.n});
	pb_close(b, process);
	pb_put_str(b, DESCRIPTOR_DESCRIPTION, (struct str){about.p, about.n});
	packets_close_track(&s->packets, at);
	sb_free(&about);
	return at.uuid;
}

static uint64_t put_engine(struct export *x, uint32_t number)
{
	char place[48];

	snprintf(place, sizeof(place), "%s %u", x->trace->levels[0] ? x->trace->levels[0] : "track",
		number);
	return put_process(x, str_of(place), number);
}

/* For waves: makes a track for each level when the first wave below it is written. */
static void open_nodes(struct export *x, const struct track *k)
{
	struct perfetto_state *s = x->state;
	const struct trace *t = x->trace;
	unsigned n = 0, same = 0;
	char name[48];

	while (n < TRACK_LEVELS && t->levels[n])
		n++;
	while (same < s->n_nodes && same < n && s->coord[same] == k->coord[same])
		same++;
	if (same == n && n)
		same--; /* each wave gets its own track, even with equal numbers */
	for (unsigned i = same; i < n; i++) {
		snprintf(name, sizeof(name), "%s %u", t->levels[i], k->coord[i]);
		s->node[i] = i ? put_track(s, s->node[i - 1], name, k->coord[i])
			       : put_engine(x, k->coord[0]);
		s->coord[i] = k->coord[i];
	}
	s->n_nodes = n;
	s->uuid = n ? s->node[n - 1] : put_track(s, 0, k->name, 0);
	if (k->clock < t->n_clocks && n)
		s->process_of[k->clock] = s->node[0];
}

/* For pipes: a process per unit; further tracks of a pipe are made as its slices need them. */
static void open_pipe(struct export *x, const struct export_track *k)
{
	struct perfetto_state *s = x->state;
	const struct track *v = k->track;

	uint32_t unit = export_unit_of(x->trace, v);

	if (!s->n_nodes || s->coord[0] != unit)
		s->node[0] = put_process(x, pipe_core_name(v), unit);
	s->n_nodes = 1;
	s->coord[0] = unit;
	if (v->clock < x->trace->n_clocks)
		s->process_of[v->clock] = s->node[0];
	clean_rows_clear(&s->rows);
	s->row_uuids.n = 0;
	s->uuid = 0;
}

static bool track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	struct packet_slice wave = {.name = x->trace->n_code + NAME_WAVE,
		.category = CATEGORY_WAVE,
		.has_workgroup = k->track->workgroup != NO_VALUE,
		.workgroup = (uint64_t)k->track->workgroup};

	s->begin_cyc = k->from_cyc;
	s->end_cyc = k->to_cyc;
	s->states.id = 0;
	if (s->has_pipes) {
		open_pipe(x, k);
		s->slices = packets_begin(&s->packets, 0, 0);
		return latched(s, e);
	}
	open_nodes(x, k->track);
	flows_clear(&s->flows);
	wave.at_ns = time_ns(x, k->from_cyc);
	s->slices = packets_begin(&s->packets, s->uuid, wave.at_ns);
	packets_slice(&s->packets, &s->slices, &wave);
	return latched(s, e);
}

/* --- slices --- */

static uint32_t lane_rank(const struct trace *t, track_idx i)
{
	const struct track *k = &t->tracks[i];

	return (trace_is_timeline(t) ? i : k->coord[2]) * 256;
}

static bool pipe_row(struct export *x, const struct export_slice *v, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	const char *lane = pipe_lane_name(&x->trace->tracks[v->track]);
	double start = (double)v->start_cyc;
	uint32_t row = clean_rows_put(&s->rows, start, start + (double)v->dur_cyc, 0);

	if (row == CLEAN_NO_ROW)
		return err_nomem(e);
	while (row >= s->row_uuids.n) {
		uint32_t rank = lane_rank(x->trace, v->track) + (uint32_t)s->row_uuids.n;

		sb_reset(&s->text);
		sb_printf(&s->text, s->row_uuids.n ? "%s #%zu" : "%s", lane, s->row_uuids.n);
		if (!VEC_PUSH(&s->row_uuids, put_track(s, s->node[0], s->text.p, rank)))
			return err_nomem(e);
	}
	s->uuid = s->row_uuids.v[row];
	return true;
}

static bool slice(struct export *x, const struct export_slice *v, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	bool is_known = v->code < x->trace->n_code;
	int64_t from = s->has_pipes ? v->start_cyc : v->own_cyc;
	int64_t to = s->has_pipes ? v->start_cyc + v->dur_cyc : v->own_end_cyc;
	uint64_t stall = s->has_pipes ? v->stall_cyc : (uint64_t)(v->own_issue_cyc - v->own_cyc);
	struct packet_slice p = {.at_ns = time_ns(x, from),
		.name = is_known ? v->code : x->trace->n_code + NAME_UNKNOWN,
		.category = v->inst_class,
		.has_row = is_known,
		.has_stall = stall != 0,
		.stall_cyc = stall};

	if (s->has_pipes && !pipe_row(x, v, e))
		return false;
	if (!flows_ids(&s->flows, v->track, v->index))
		return err_nomem(e);
	p.flows = s->flows.starting.v;
	p.n_flows = s->flows.starting.n;
	p.flow_ends = s->flows.ending.v;
	p.n_flow_ends = s->flows.ending.n;
	p.uuid = s->uuid;
	s->n_clipped += from < 0 || to - from != (int64_t)v->dur_cyc;
	packets_slice(&s->packets, &s->slices, &p);
	packets_slice_end(&s->packets, &s->slices, time_ns(x, to), s->uuid);
	return latched(s, e);
}

static bool state_run(struct export *x, const struct export_state *v, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	struct packet_slice p = {.at_ns = time_ns(x, v->start_cyc),
		.name = x->trace->n_code + NAME_STATES + (v->state < STATE_COUNT ? v->state : 0),
		.category = CATEGORY_STATE};

	if (!s->states.id)
		s->states = packets_begin(
			&s->packets, put_track(s, s->uuid, "state", 0), time_ns(x, s->begin_cyc));
	packets_slice(&s->packets, &s->states, &p);
	packets_slice_end(
		&s->packets, &s->states, time_ns(x, v->start_cyc + (int64_t)v->dur_cyc), 0);
	return latched(s, e);
}

static bool link(struct export *x, const struct export_link *l, struct incore_error *e)
{
	struct perfetto_state *s = x->state;

	return s->has_pipes || flows_add(&s->flows, l, e);
}

static bool track_end(struct export *x, struct incore_error *e)
{
	struct perfetto_state *s = x->state;

	if (!s->has_pipes)
		packets_slice_end(&s->packets, &s->slices, time_ns(x, s->end_cyc), 0);
	return latched(s, e);
}

/* --- counters --- */

static uint64_t process_of_clock(struct export *x, clock_idx c)
{
	struct perfetto_state *s = x->state;
	uint32_t n = x->trace->n_clocks, at = c < n ? c : n;

	if (!s->process_of[at])
		s->process_of[at] = put_engine(x, at < n ? x->trace->clocks[at].id : 0);
	return s->process_of[at];
}

static uint64_t put_counter_track(
	struct export *x, clock_idx clock, const char *name, const char *unit)
{
	struct perfetto_state *s = x->state;
	struct strbuf *b = &s->packets.out;
	uint64_t parent = process_of_clock(x, clock);
	struct descriptor_at at = packets_open_track(&s->packets, parent, str_of(name), 0);
	size_t counter = pb_open(b, DESCRIPTOR_COUNTER);

	if (unit)
		pb_put_str(b, COUNTER_UNIT_NAME, str_of(unit));
	else
		pb_put_number(b, COUNTER_UNIT, UNIT_IS_COUNT);
	pb_close(b, counter);
	packets_close_track(&s->packets, at);
	return at.uuid;
}

static bool counter(struct export *x, const struct export_sample *v, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	const struct counter_series *c = v->series;
	struct packet_at at;

	if (!export_has_clock(x, c->clock))
		return true;
	if (c != s->series)
		s->series_uuid = put_counter_track(x, c->clock, c->name, c->unit);
	s->series = c;
	at = packets_open_event(
		&s->packets, &s->rest, time_ns(x, v->time_cyc), s->series_uuid, EVENT_SAMPLE);
	if (c->unit && c->per_unit) /* the values of a level are fractions of its unit */
		pb_put_double(
			&s->packets.out, EVENT_DOUBLE_COUNTER, (double)v->value / c->per_unit);
	else
		pb_put_number(&s->packets.out, EVENT_COUNTER, v->value);
	packets_close_event(&s->packets, at);
	return latched(s, e);
}

static void put_running(struct export *x, clock_idx clock, int64_t time, uint64_t running)
{
	struct perfetto_state *s = x->state;
	struct packet_at at;

	if (clock != s->running_clock)
		s->series_uuid = put_counter_track(x, clock, "running waves", NULL);
	s->running_clock = clock;
	at = packets_open_event(
		&s->packets, &s->rest, time_ns(x, time), s->series_uuid, EVENT_SAMPLE);
	pb_put_number(&s->packets.out, EVENT_COUNTER, running);
	packets_close_event(&s->packets, at);
}

/* --- losses --- */

static void put_note(struct export *x, const char *kind, const char *text, uint64_t count)
{
	struct perfetto_state *s = x->state;
	struct strbuf *b = &s->packets.out;
	struct packet_at at;
	size_t part;

	if (!s->notes_uuid)
		s->notes_uuid = put_track(s, 0, "notes of incore", 0);
	at = packets_open_event(&s->packets, &s->rest, 0, s->notes_uuid, EVENT_INSTANT);
	pb_put_str(b, EVENT_CATEGORY, str_of(kind));
	pb_put_str(b, EVENT_NAME, str_of(text));
	part = pb_open(b, EVENT_ANNOTATION);
	pb_put_str(b, ANNOTATION_NAME, STR("count"));
	pb_put_number(b, ANNOTATION_UINT, count);
	pb_close(b, part);
	packets_close_event(&s->packets, at);
}

/* Writes a packet that reports lost data, as readers of this format show it. The sequence of notes
 * has no state that such a packet could invalidate. */
static void put_dropped(struct perfetto_state *s)
{
	struct strbuf *b = &s->packets.out;
	size_t packet = pb_open(b, TRACE_PACKET);

	pb_put_number(b, PACKET_SEQUENCE_ID, s->rest.id);
	pb_put_number(b, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
	pb_put_number(b, PACKET_PREVIOUS_DROPPED, 1);
	pb_close(b, packet);
}

static bool lost(struct export *x, const struct note *n, struct incore_error *e)
{
	struct perfetto_state *s = x->state;

	if (n->kind == NOTE_LOST || n->kind == NOTE_TRUNCATED || n->kind == NOTE_DAMAGED)
		put_dropped(s);
	put_note(x, note_kind_name(n->kind), n->message, n->count);
	return latched(s, e);
}

static bool truncated(struct export *x, const struct export_cut *c, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	struct strbuf text = {0};

	sb_printf(&text, "%s left out: %s", c->what, c->why);
	s->text.failed |= text.failed;
	put_note(x, "left-out", text.p, c->count);
	sb_free(&text);
	return latched(s, e);
}

static bool end(struct export *x, struct incore_error *e)
{
	struct perfetto_state *s = x->state;

	export_each_running(x, put_running);
	return export_cut(x, "overlaps of records", "slices of one track must nest", s->n_clipped,
		       e) &&
	       latched(s, e) && packets_finish(&s->packets, e);
}

static void free_state(struct export *x)
{
	struct perfetto_state *s = x->state;

	if (!s)
		return;
	packets_deinit(&s->packets);
	flows_deinit(&s->flows);
	clean_rows_deinit(&s->rows);
	VEC_FREE(&s->row_uuids);
	mem_free(s->process_of);
	sb_free(&s->text);
	mem_free(s);
	x->state = NULL;
}

const struct export_ops export_perfetto = {
	.name = "perfetto",
	.suffix = ".pftrace",
	.media_type = "application/octet-stream",
	.summary = "Perfetto trace (ui.perfetto.dev, trace_processor)",
	.holds = EXPORT_SLICES | EXPORT_STATES | EXPORT_LINKS | EXPORT_COUNTERS | EXPORT_CYCLES |
		 EXPORT_STALLS | EXPORT_NOTES | EXPORT_OCCUPANCY | EXPORT_TRACK_LINKS,
	.links_first = true,
	.takes_time = true,
	EXPORT_SLICE_WRITER,
};
