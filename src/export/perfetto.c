/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.c: Perfetto's protocol buffers, for ui.perfetto.dev and trace_processor. See
 * incore-perfetto(7). Tracks by shader engine, CU, SIMD, slot and wave: a wave's track has its
 * lifetime and within it the instructions, each with the cycles that account.h attributes to it, so
 * that sums match incore hot; its states are on a track below. For pipes, where several
 * instructions are in flight at once: as many tracks as needed, slices as recorded. One nanosecond
 * is one cycle, unless real time is requested. Parts: packets; the writer.
 */
#include "analysis/waves/states.h"
#include "base/mem.h"
#include "codec/perfetto_fields.h"
#include "codec/protobuf_writer.h"
#include "export/export.h"
#include "export/labels.h"
#include "export/lanes.h"
#include "export/writer.h"
#include "trace/kind.h"

/* Names of events: code rows first, then these. */
enum own_name { NAME_UNKNOWN, NAME_WAVE, NAME_STATES, NAMES_OWN = NAME_STATES + STATE_COUNT };
/* Categories: classes of instructions, then these. */
enum own_category { CATEGORY_STATE = 256, CATEGORY_WAVE, CATEGORIES };
enum packet_label { LABEL_ROW, LABEL_STALL, LABEL_WORKGROUP, LABELS };

struct packets {
	FILE *f;
	struct strbuf out;
	const struct trace *trace;
	uint32_t *known_name; /* by code row, then by own_name: the last sequence that knows it */
	uint32_t known_category[CATEGORIES];
	uint32_t known_labels;
	uint32_t n_sequences;
	uint64_t n_uuids;
};

/* A sequence of packets about one track (with times relative to the packet before), or about any
 * track (with absolute times, and each event names its track). */
struct perfetto_sequence {
	uint32_t id;   /* 0: not open */
	uint64_t uuid; /* of its single track; 0: any track */
	uint64_t at_ns;
};

/* The data of a packet that begins a slice. */
struct packet_slice {
	uint64_t at_ns, uuid; /* uuid: for a sequence about any track */
	uint32_t name;	      /* code row, or n_code + own_name */
	unsigned category;
	bool has_row, has_stall, has_workgroup;
	uint64_t stall_cyc, workgroup;
	const uint64_t *flows, *flow_ends; /* ids of arrows that start here, that end here */
	size_t n_flows, n_flow_ends;
};

/* A packet of an event that is not a slice: add its own fields, then close both. */
struct packet_at {
	size_t packet, event;
};

/* A track below another (0: a process). Add further fields, then close it. */
struct descriptor_at {
	size_t packet, descriptor;
	uint64_t uuid;
};

/* --- packets ---------------------------------------------------------------------------------- */

/*
 * Sequences, their interned data, events and tracks.
 */

#define FLUSH_BYTES (256u << 10)
#define DESCRIPTORS 1u /* the sequence of tracks; it has no state */

static const char *const label_names[LABELS] = {"row", "stall", "workgroup"};

static bool packets_init(struct packets *p, FILE *f, const struct trace *t, struct incore_error *e)
{
	*p = (struct packets){.f = f, .trace = t, .n_sequences = DESCRIPTORS};
	p->known_name = mem_zalloc((size_t)t->n_code + NAMES_OWN, sizeof(*p->known_name));
	return (p->known_name && sb_reserve(&p->out, FLUSH_BYTES + 4096)) || err_nomem(e);
}

static void packets_deinit(struct packets *p)
{
	mem_free(p->known_name);
	sb_free(&p->out);
	*p = (struct packets){0};
}

static void flush_packets(struct packets *p)
{
	if (!p->out.failed && p->out.n)
		fwrite(p->out.p, 1, p->out.n, p->f);
	p->out.n = 0;
}

/* Writes the rest; false with the error of the file or of memory. */
static bool packets_finish(struct packets *p, struct incore_error *e)
{
	flush_packets(p);
	if (p->out.failed)
		return err_nomem(e);
	return !ferror(p->f) || err_write(e);
}

static void close_packet(struct packets *p, size_t at)
{
	pb_close(&p->out, at);
	if (p->out.n >= FLUSH_BYTES)
		flush_packets(p);
}

/* --- sequences --- */

static void perfetto_packet_put_clock(struct strbuf *b, enum clock_number id, uint64_t at_ns)
{
	size_t clock = pb_open(b, SNAPSHOT_CLOCK);

	pb_put_number(b, CLOCK_ID, id);
	pb_put_number(b, CLOCK_TIMESTAMP, at_ns);
	if (id == CLOCK_OF_SEQUENCE)
		pb_put_number(b, CLOCK_INCREMENTAL, 1);
	pb_close(b, clock);
}

/* Sets a default track and clock for the sequence, so that events take few bytes. */
static void put_defaults(struct strbuf *b, uint64_t uuid, uint64_t at_ns)
{
	size_t part = pb_open(b, PACKET_CLOCK_SNAPSHOT), event;

	perfetto_packet_put_clock(b, CLOCK_BOOT_TIME, at_ns);
	perfetto_packet_put_clock(b, CLOCK_OF_SEQUENCE, at_ns);
	pb_close(b, part);
	part = pb_open(b, PACKET_DEFAULTS);
	event = pb_open(b, DEFAULTS_TRACK_EVENT);
	pb_put_number(b, EVENT_TRACK, uuid);
	pb_close(b, event);
	pb_put_number(b, DEFAULTS_CLOCK, CLOCK_OF_SEQUENCE);
	pb_close(b, part);
}

/* Begins a sequence about one track from that time on; uuid 0: about any track. */
static struct perfetto_sequence packets_begin(struct packets *p, uint64_t uuid, uint64_t at_ns)
{
	struct perfetto_sequence q = {++p->n_sequences, uuid, at_ns};
	size_t packet = pb_open(&p->out, TRACE_PACKET);

	pb_put_number(&p->out, PACKET_SEQUENCE_ID, q.id);
	pb_put_number(&p->out, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
	pb_put_number(&p->out, PACKET_FIRST_ON_SEQUENCE, 1);
	if (uuid)
		put_defaults(&p->out, uuid, at_ns);
	close_packet(p, packet);
	return q;
}

/* --- interned data --- */

static struct str name_text(const struct trace *t, uint32_t name)
{
	if (name < t->n_code)
		return (struct str){t->code[name].text, t->code[name].text_len};
	name -= t->n_code;
	return name == NAME_UNKNOWN ? STR("(unknown)")
	       : name == NAME_WAVE  ? STR("wave")
				    : str_of(state_name((enum wave_state)(name - NAME_STATES)));
}

static const char *category_text(unsigned category)
{
	return category == CATEGORY_STATE  ? "state"
	       : category == CATEGORY_WAVE ? "wave"
					   : class_name((enum inst_class)category);
}

/* Writes an interned entry; their numbers start at 1. */
static void put_entry(struct strbuf *b, enum interned_field kind, uint64_t index, struct str text)
{
	size_t entry = pb_open(b, kind);

	pb_put_number(b, ENTRY_IID, index + 1);
	pb_put_str(b, ENTRY_TEXT, text);
	pb_close(b, entry);
}

static const struct frame *perfetto_packet_innermost(const struct trace *t, uint32_t name)
{
	return name < t->n_code && t->code[name].n_frames ? &t->frames[t->code[name].first_frame]
							  : NULL;
}

static void perfetto_packet_put_source(struct strbuf *b, const struct trace *t, uint32_t name)
{
	const struct frame *f = perfetto_packet_innermost(t, name);
	size_t entry;

	if (!f)
		return;
	entry = pb_open(b, INTERNED_SOURCE);
	pb_put_number(b, ENTRY_IID, (uint64_t)name + 1);
	if (f->source < t->n_sources)
		pb_put_str(b, ENTRY_TEXT, str_of(t->sources[f->source].path));
	pb_put_number(b, ENTRY_LINE, f->line);
	pb_close(b, entry);
}

static void put_interned(struct packets *p, uint32_t sequence, const struct packet_slice *s)
{
	struct strbuf *b = &p->out;
	size_t part = pb_open(b, PACKET_INTERNED);

	if (p->known_name[s->name] != sequence) {
		put_entry(b, INTERNED_NAME, s->name, name_text(p->trace, s->name));
		perfetto_packet_put_source(b, p->trace, s->name);
		p->known_name[s->name] = sequence;
	}
	if (p->known_category[s->category] != sequence)
		put_entry(b, INTERNED_CATEGORY, s->category, str_of(category_text(s->category)));
	p->known_category[s->category] = sequence;
	for (unsigned i = 0; i < LABELS && p->known_labels != sequence; i++)
		put_entry(b, INTERNED_LABEL, i, str_of(label_names[i]));
	p->known_labels = sequence;
	pb_close(b, part);
}

/* --- events --- */

static inline size_t open_packet(struct packets *p, struct perfetto_sequence *q, uint64_t at_ns)
{
	size_t packet = pb_open(&p->out, TRACE_PACKET);

	pb_put_number(&p->out, PACKET_TIMESTAMP, q->uuid ? at_ns - q->at_ns : at_ns);
	pb_put_number(&p->out, PACKET_SEQUENCE_ID, q->id);
	pb_put_number(&p->out, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	q->at_ns = at_ns;
	return packet;
}

static struct packet_at packets_open_event(struct packets *p, struct perfetto_sequence *q,
	uint64_t at_ns, uint64_t uuid, enum event_type type)
{
	struct packet_at at = {.packet = open_packet(p, q, at_ns)};

	at.event = pb_open(&p->out, PACKET_TRACK_EVENT);
	pb_put_number(&p->out, EVENT_TYPE, type);
	if (!q->uuid)
		pb_put_number(&p->out, EVENT_TRACK, uuid);
	return at;
}

static void packets_close_event(struct packets *p, struct packet_at at)
{
	pb_close(&p->out, at.event);
	close_packet(p, at.packet);
}

static void perfetto_packet_put_label(
	struct strbuf *b, enum packet_label label, enum annotation_field f, uint64_t v)
{
	size_t part = pb_open(b, EVENT_ANNOTATION);

	pb_put_number(b, ANNOTATION_NAME_IID, (uint64_t)label + 1);
	pb_put_number(b, f, v);
	pb_close(b, part);
}

static void perfetto_packet_put_slice(
	struct packets *p, const struct perfetto_sequence *q, const struct packet_slice *s)
{
	struct strbuf *b = &p->out;
	const struct trace *t = p->trace;

	pb_put_number(b, EVENT_TYPE, EVENT_BEGIN);
	if (!q->uuid)
		pb_put_number(b, EVENT_TRACK, s->uuid);
	pb_put_number(b, EVENT_CATEGORY_IID, s->category + 1);
	pb_put_number(b, EVENT_NAME_IID, (uint64_t)s->name + 1);
	if (perfetto_packet_innermost(t, s->name))
		pb_put_number(b, EVENT_SOURCE_IID, (uint64_t)s->name + 1);
	if (s->has_row)
		perfetto_packet_put_label(
			b, LABEL_ROW, ANNOTATION_INT, (uint64_t)t->code[s->name].number);
	if (s->has_stall)
		perfetto_packet_put_label(b, LABEL_STALL, ANNOTATION_UINT, s->stall_cyc);
	if (s->has_workgroup)
		perfetto_packet_put_label(b, LABEL_WORKGROUP, ANNOTATION_UINT, s->workgroup);
	for (size_t i = 0; i < s->n_flows; i++)
		pb_put_fixed64(b, EVENT_FLOW, s->flows[i]);
	for (size_t i = 0; i < s->n_flow_ends; i++)
		pb_put_fixed64(b, EVENT_FLOW_END, s->flow_ends[i]);
}

/* Begins a sequence about one track from that time on; uuid 0: about any track. */
static void packets_slice(
	struct packets *p, struct perfetto_sequence *q, const struct packet_slice *s)
{
	size_t packet = open_packet(p, q, s->at_ns), event;

	if (p->known_name[s->name] != q->id || p->known_category[s->category] != q->id)
		put_interned(p, q->id, s);
	event = pb_open(&p->out, PACKET_TRACK_EVENT);
	perfetto_packet_put_slice(p, q, s);
	pb_close(&p->out, event);
	close_packet(p, packet);
}

/* Begins a sequence about one track from that time on; uuid 0: about any track. */
static void packets_slice_end(
	struct packets *p, struct perfetto_sequence *q, uint64_t at_ns, uint64_t uuid)
{
	packets_close_event(p, packets_open_event(p, q, at_ns, uuid, EVENT_END));
}

/* --- tracks --- */

static struct descriptor_at packets_open_track(
	struct packets *p, uint64_t parent, struct str name, uint32_t rank)
{
	struct strbuf *b = &p->out;
	struct descriptor_at at = {.uuid = ++p->n_uuids};

	at.packet = pb_open(b, TRACE_PACKET);
	pb_put_number(b, PACKET_SEQUENCE_ID, DESCRIPTORS);
	at.descriptor = pb_open(b, PACKET_TRACK_DESCRIPTOR);
	pb_put_number(b, DESCRIPTOR_UUID, at.uuid);
	if (parent)
		pb_put_number(b, DESCRIPTOR_PARENT, parent);
	pb_put_str(b, DESCRIPTOR_NAME, name);
	pb_put_number(b, DESCRIPTOR_ORDERING, ORDERING_EXPLICIT);
	pb_put_number(b, DESCRIPTOR_RANK, rank);
	return at;
}

static void packets_close_track(struct packets *p, struct descriptor_at at)
{
	pb_close(&p->out, at.descriptor);
	close_packet(p, at.packet);
}

/* --- the writer ------------------------------------------------------------------------------- */

struct perfetto_state {
	struct packets packets;
	uint32_t coord[TRACK_LEVELS]; /* of the current tracks, and their numbers */
	uint64_t node[TRACK_LEVELS];
	unsigned n_nodes;
	uint32_t n_processes;
	uint64_t *process_of; /* by clock: its process; 0: not created yet */
	int64_t begin_cyc, end_cyc;
	struct perfetto_sequence slices, states, rest; /* rest: counters and notes */
	uint64_t uuid;				       /* of the current track */
	struct lanes lanes;
	struct lane_flows flows;
	VEC(uint64_t) row_uuids; /* of the current lane */
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

static bool perfetto_latched(const struct perfetto_state *s, struct incore_error *e)
{
	return !s->packets.out.failed && !s->text.failed ? true : err_nomem(e);
}

static bool perfetto_begin(struct export *x, struct incore_error *e)
{
	const struct trace *t = x->trace;
	struct perfetto_state *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem(e);
	x->state = s;
	lanes_init(&s->lanes, x);
	s->running_clock = NO_CLOCK;
	s->process_of = mem_zalloc((size_t)t->n_clocks + 1, sizeof(*s->process_of));
	if (!s->process_of)
		return err_nomem(e);
	if (!packets_init(&s->packets, x->file.f, t, e))
		return false;
	s->rest = packets_begin(&s->packets, 0, 0);
	return !s->lanes.has_rows || flows_of_selected(&s->flows, x, e);
}

/* --- tracks --- */

static uint64_t perfetto_put_track(
	struct perfetto_state *s, uint64_t parent, const char *name, uint32_t rank)
{
	struct descriptor_at at = packets_open_track(&s->packets, parent, str_of(name), rank);

	packets_close_track(&s->packets, at);
	return at.uuid;
}

/* Writes a process, whose place is in s->text, with data that this format has no other place for:
 * producer, source, device. */
static uint64_t perfetto_put_process(struct export *x, uint32_t rank)
{
	struct perfetto_state *s = x->state;
	struct strbuf *b = &s->packets.out, about = {0};
	struct descriptor_at at;
	size_t process;

	lanes_put_about(&s->lanes, &s->text);
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
	struct perfetto_state *s = x->state;

	sb_reset(&s->text);
	lanes_put_engine(&s->lanes, number, &s->text);
	return perfetto_put_process(x, number);
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
		s->node[i] = i ? perfetto_put_track(s, s->node[i - 1], name, k->coord[i])
			       : put_engine(x, k->coord[0]);
		s->coord[i] = k->coord[i];
	}
	s->n_nodes = n;
	s->uuid = n ? s->node[n - 1] : perfetto_put_track(s, 0, k->name, 0);
	if (k->clock < t->n_clocks && n)
		s->process_of[k->clock] = s->node[0];
}

/* For lanes: a process per unit; further rows of a lane are made as its slices need them. */
static void perfetto_open_lane(struct export *x, const struct track *k, bool is_first)
{
	struct perfetto_state *s = x->state;

	if (is_first) {
		sb_reset(&s->text);
		lanes_put_group(&s->lanes, &s->text);
		s->node[0] = perfetto_put_process(x, s->lanes.group);
	}
	if (k->clock < x->trace->n_clocks)
		s->process_of[k->clock] = s->node[0];
	s->row_uuids.n = 0;
	s->uuid = 0;
}

static bool perfetto_track(struct export *x, const struct export_track *k, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	struct packet_slice wave = {.name = x->trace->n_code + NAME_WAVE,
		.category = CATEGORY_WAVE,
		.has_workgroup = k->track->workgroup != NO_VALUE,
		.workgroup = (uint64_t)k->track->workgroup};
	bool is_first = lanes_begin(&s->lanes, k->track);

	s->begin_cyc = k->from_cyc;
	s->end_cyc = k->to_cyc;
	s->states.id = 0;
	if (s->lanes.has_rows) {
		perfetto_open_lane(x, k->track, is_first);
		s->slices = packets_begin(&s->packets, 0, 0);
		return perfetto_latched(s, e);
	}
	open_nodes(x, k->track);
	flows_clear(&s->flows);
	wave.at_ns = time_ns(x, k->from_cyc);
	s->slices = packets_begin(&s->packets, s->uuid, wave.at_ns);
	packets_slice(&s->packets, &s->slices, &wave);
	return perfetto_latched(s, e);
}

/* --- slices --- */

static uint32_t lane_rank(const struct trace *t, track_idx i)
{
	const struct track *k = &t->tracks[i];

	return (trace_kind(t) == KIND_TIMELINE ? i : k->coord[2]) * 256;
}

/* Finds the track of a slice's row, and makes it if it is new. */
static bool perfetto_row(struct export *x, const struct export_slice *v, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	uint32_t row;

	if (!lanes_row(&s->lanes, v->start_cyc, v->dur_cyc, &row, e))
		return false;
	while (row >= s->row_uuids.n) {
		uint32_t n = (uint32_t)s->row_uuids.n, rank = lane_rank(x->trace, v->track) + n;

		sb_reset(&s->text);
		lanes_put_name(&s->lanes, n, &s->text);
		if (!VEC_PUSH(&s->row_uuids, perfetto_put_track(s, s->node[0], s->text.p, rank)))
			return err_nomem(e);
	}
	s->uuid = s->row_uuids.v[row];
	return true;
}

static bool perfetto_slice(struct export *x, const struct export_slice *v, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	bool is_known = v->code < x->trace->n_code;
	struct lanes_span a = lanes_span_of(&s->lanes, v);
	struct packet_slice p = {.at_ns = time_ns(x, a.from_cyc),
		.name = is_known ? v->code : x->trace->n_code + NAME_UNKNOWN,
		.category = v->inst_class,
		.has_row = is_known,
		.has_stall = a.stall_cyc != 0,
		.stall_cyc = a.stall_cyc};

	if (s->lanes.has_rows && !perfetto_row(x, v, e))
		return false;
	if (!flows_ids(&s->flows, v->track, v->index))
		return err_nomem(e);
	p.flows = s->flows.starting.v;
	p.n_flows = s->flows.starting.n;
	p.flow_ends = s->flows.ending.v;
	p.n_flow_ends = s->flows.ending.n;
	p.uuid = s->uuid;
	s->n_clipped += a.from_cyc < 0 || a.to_cyc - a.from_cyc != (int64_t)v->dur_cyc;
	packets_slice(&s->packets, &s->slices, &p);
	packets_slice_end(&s->packets, &s->slices, time_ns(x, a.to_cyc), s->uuid);
	return perfetto_latched(s, e);
}

static bool perfetto_state_run(
	struct export *x, const struct export_state *v, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	struct packet_slice p = {.at_ns = time_ns(x, v->start_cyc),
		.name = x->trace->n_code + NAME_STATES + (v->state < STATE_COUNT ? v->state : 0),
		.category = CATEGORY_STATE};

	if (!s->states.id)
		s->states = packets_begin(&s->packets, perfetto_put_track(s, s->uuid, "state", 0),
			time_ns(x, s->begin_cyc));
	packets_slice(&s->packets, &s->states, &p);
	packets_slice_end(
		&s->packets, &s->states, time_ns(x, v->start_cyc + (int64_t)v->dur_cyc), 0);
	return perfetto_latched(s, e);
}

static bool perfetto_link(struct export *x, const struct export_link *l, struct incore_error *e)
{
	struct perfetto_state *s = x->state;

	return s->lanes.has_rows || flows_add(&s->flows, l, e);
}

static bool perfetto_track_end(struct export *x, struct incore_error *e)
{
	struct perfetto_state *s = x->state;

	if (!s->lanes.has_rows)
		packets_slice_end(&s->packets, &s->slices, time_ns(x, s->end_cyc), 0);
	return perfetto_latched(s, e);
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

static bool perfetto_counter(
	struct export *x, const struct export_sample *v, struct incore_error *e)
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
	if (export_is_level(c))
		pb_put_double(&s->packets.out, EVENT_DOUBLE_COUNTER, export_level(c, v->value));
	else
		pb_put_number(&s->packets.out, EVENT_COUNTER, v->value);
	packets_close_event(&s->packets, at);
	return perfetto_latched(s, e);
}

static void perfetto_put_running(struct export *x, clock_idx clock, int64_t time, uint64_t running)
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

static void perfetto_put_note(struct export *x, const char *kind, const char *text, uint64_t count)
{
	struct perfetto_state *s = x->state;
	struct strbuf *b = &s->packets.out;
	struct packet_at at;
	size_t part;

	if (!s->notes_uuid)
		s->notes_uuid = perfetto_put_track(s, 0, "notes of incore", 0);
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
static void perfetto_put_dropped(struct perfetto_state *s)
{
	struct strbuf *b = &s->packets.out;
	size_t packet = pb_open(b, TRACE_PACKET);

	pb_put_number(b, PACKET_SEQUENCE_ID, s->rest.id);
	pb_put_number(b, PACKET_SEQUENCE_FLAGS, SEQUENCE_STATE_CLEARED);
	pb_put_number(b, PACKET_PREVIOUS_DROPPED, 1);
	pb_close(b, packet);
}

static bool perfetto_lost(struct export *x, const struct note *n, struct incore_error *e)
{
	struct perfetto_state *s = x->state;

	if (n->kind == NOTE_LOST || n->kind == NOTE_TRUNCATED || n->kind == NOTE_DAMAGED)
		perfetto_put_dropped(s);
	perfetto_put_note(x, note_kind_name(n->kind), n->message, n->count);
	return perfetto_latched(s, e);
}

static bool perfetto_truncated(struct export *x, const struct note *c, struct incore_error *e)
{
	struct perfetto_state *s = x->state;
	struct strbuf text = {0};

	sb_printf(&text, "%s left out: %s", c->code, c->message);
	s->text.failed |= text.failed;
	perfetto_put_note(x, "left-out", text.p, c->count);
	sb_free(&text);
	return perfetto_latched(s, e);
}

static bool perfetto_end(struct export *x, struct incore_error *e)
{
	struct perfetto_state *s = x->state;

	export_each_running(x, perfetto_put_running);
	return export_cut(x, "overlaps of records", "slices of one track must nest", s->n_clipped,
		       e) &&
	       perfetto_latched(s, e) && packets_finish(&s->packets, e);
}

static void perfetto_free_state(struct export *x)
{
	struct perfetto_state *s = x->state;

	if (!s)
		return;
	packets_deinit(&s->packets);
	flows_deinit(&s->flows);
	lanes_deinit(&s->lanes);
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
	EXPORT_SLICE_WRITER(perfetto),
};
