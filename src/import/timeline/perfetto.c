/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto.c: timelines of track events in Perfetto's protobuf: flashinfer's profiler, run-iket,
 * and our own export. Packets are read in order; the names, clocks and defaults that they define
 * are valid for their sequence.
 *
 * A process of the timeline is a track without a parent, a thread a track below it, named by the
 * path to it.
 *
 * Parts: packets; track events, and the format.
 */
#include <math.h>

#include "base/hash.h"
#include "base/str.h"
#include "codec/gzip.h"
#include "codec/perfetto_fields.h"
#include "codec/protobuf.h"
#include "import/timeline/timeline.h"

/* The fields of a Perfetto packet that are used. */

struct packet {
	uint64_t timestamp, clock, sequence, flags;
	struct str event, track, interned, defaults, snapshot, compressed;
};

/* --- packets ---------------------------------------------------------------------------------- */

/* Reads the fields of a packet by number. */

static void perfetto_put_bytes(struct packet *p, const struct pb_field *f)
{
	switch (f->number) {
	case PACKET_TRACK_EVENT:
		p->event = f->bytes;
		break;
	case PACKET_TRACK_DESCRIPTOR:
		p->track = f->bytes;
		break;
	case PACKET_INTERNED:
		p->interned = f->bytes;
		break;
	case PACKET_DEFAULTS:
		p->defaults = f->bytes;
		break;
	case PACKET_CLOCK_SNAPSHOT:
		p->snapshot = f->bytes;
		break;
	case PACKET_COMPRESSED:
		p->compressed = f->bytes;
		break;
	default:
		break;
	}
}

/* Strings are borrowed; p NULL: absent. False: not a valid message. */
static bool perfetto_packet(struct str bytes, struct packet *p)
{
	struct pb_reader r = pb_of(bytes);
	struct pb_field f;

	*p = (struct packet){0};
	while (pb_next(&r, &f)) {
		if (f.wire == PB_BYTES)
			perfetto_put_bytes(p, &f);
		else if (f.number == PACKET_TIMESTAMP)
			p->timestamp = f.value;
		else if (f.number == PACKET_CLOCK)
			p->clock = f.value;
		else if (f.number == PACKET_SEQUENCE_ID)
			p->sequence = f.value;
		else if (f.number == PACKET_SEQUENCE_FLAGS)
			p->flags = f.value;
	}
	return !r.is_failed;
}

/* --- track events, and the format ------------------------------------------------------------- */

#define MAX_PARENTS 16

/* Written between packets by Perfetto's service, so that a reader may start in the middle. */
#define SYNC_MARKER "\x82\x47\x7a\x76\xb2\x8d\x42\xba\x81\xdc\x33\x32\x6d\x57\xa0\x79"

static int perfetto_sniff(const struct probe *p)
{
	struct pb_reader r = pb_of((struct str){(const char *)p->head, p->head_size});
	struct pb_field f;
	unsigned n = 0;
	bool is_marked = false;

	while (pb_next(&r, &f)) {
		struct pb_reader inner = pb_of(f.bytes);
		struct pb_field g;

		if (f.number != TRACE_PACKET || f.wire != PB_BYTES)
			return 0;
		while (pb_next(&inner, &g)) {
			n += (g.number == PACKET_TRACK_DESCRIPTOR ||
				     g.number == PACKET_TRACK_EVENT) &&
			     g.wire == PB_BYTES;
			is_marked |= (g.number == PACKET_SYNC_MARKER && g.wire == PB_BYTES &&
					     str_is(g.bytes, SYNC_MARKER)) ||
				     (g.number == PACKET_COMPRESSED && g.wire == PB_BYTES);
		}
		if (inner.is_failed)
			return 0;
	}
	return n || is_marked ? 55 : 0;
}

struct track_def {
	uint64_t uuid, parent;
	struct str name;
	uint32_t process, lane; /* TL_NONE: not created yet */
};

struct perfetto_sequence_state {
	uint64_t clock, track; /* defaults; 0: none */
	bool is_incremental;
	uint64_t unit_ns, at, base_ns;	  /* of the sequence's own clock */
	struct u64_map names, categories; /* iid -> place in texts + 1 */
};

struct perfetto_reading {
	struct timeline l;
	VEC(struct track_def) tracks;
	VEC(struct perfetto_sequence_state) sequences;
	VEC(struct str) texts;
	VEC(struct strbuf) unpacked; /* contents of compressed packets */
	struct u64_map track_at, sequence_at;
	uint64_t n_packets;
};

/* --- definitions in packets --- */

static struct perfetto_sequence_state *sequence_of(struct perfetto_reading *x, uint64_t id)
{
	uint64_t *at = u64_map_at(&x->sequence_at, id);

	if (!at)
		return NULL;
	if (*at == 0) {
		if (!VEC_PUSH(&x->sequences, (struct perfetto_sequence_state){.unit_ns = 1}))
			return NULL;
		*at = x->sequences.n;
	}
	return &x->sequences.v[*at - 1];
}

static void perfetto_forget(struct perfetto_sequence_state *s)
{
	u64_map_deinit(&s->names);
	u64_map_deinit(&s->categories);
	*s = (struct perfetto_sequence_state){.unit_ns = 1};
}

static bool read_interned(
	struct perfetto_reading *x, struct perfetto_sequence_state *s, struct str bytes)
{
	struct pb_reader r = pb_of(bytes);
	struct pb_field f, g;

	while (pb_next(&r, &f)) {
		struct pb_reader inner = pb_of(f.bytes);
		struct str text = {"", 0};
		uint64_t iid = 0, *at;

		if (f.wire != PB_BYTES ||
			(f.number != INTERNED_NAME && f.number != INTERNED_CATEGORY))
			continue;
		while (pb_next(&inner, &g)) {
			if (g.number == ENTRY_IID && g.wire == PB_VARINT)
				iid = g.value;
			else if (g.number == ENTRY_TEXT && g.wire == PB_BYTES)
				text = g.bytes;
		}
		at = u64_map_at(f.number == INTERNED_NAME ? &s->names : &s->categories, iid);
		if (!at || !VEC_PUSH(&x->texts, text))
			return false;
		*at = x->texts.n;
	}
	return true;
}

static void read_defaults(struct perfetto_sequence_state *s, struct str bytes)
{
	struct pb_reader r = pb_of(bytes);
	struct pb_field f, g;

	while (pb_next(&r, &f)) {
		struct pb_reader inner = pb_of(f.bytes);

		if (f.number == DEFAULTS_CLOCK && f.wire == PB_VARINT)
			s->clock = f.value;
		while (f.number == DEFAULTS_TRACK_EVENT && f.wire == PB_BYTES &&
			pb_next(&inner, &g))
			if (g.number == EVENT_TRACK)
				s->track = g.value;
	}
}

struct clock_at {
	uint64_t id, at, unit_ns, is_incremental;
};

static struct clock_at perfetto_read_clock(struct str bytes)
{
	struct clock_at c = {.unit_ns = 1};
	struct pb_reader r = pb_of(bytes);
	struct pb_field f;

	while (pb_next(&r, &f)) {
		if (f.number == CLOCK_ID)
			c.id = f.value;
		else if (f.number == CLOCK_TIMESTAMP)
			c.at = f.value;
		else if (f.number == CLOCK_INCREMENTAL)
			c.is_incremental = f.value;
		else if (f.number == CLOCK_UNIT_NS && f.value)
			c.unit_ns = f.value;
	}
	return c;
}

/* Reads a snapshot: the time of the sequence's own clock equals that of the other clock. */
static void read_snapshot(struct perfetto_sequence_state *s, struct str bytes)
{
	struct pb_reader r = pb_of(bytes);
	struct pb_field f;
	struct clock_at own = {0};
	uint64_t other = 0;

	while (pb_next(&r, &f)) {
		struct clock_at c;

		if (f.number != SNAPSHOT_CLOCK || f.wire != PB_BYTES)
			continue;
		c = perfetto_read_clock(f.bytes);
		if (c.id >= CLOCK_OF_SEQUENCE)
			own = c;
		else if (!other || c.id == CLOCK_BOOT_TIME)
			other = c.at;
	}
	if (own.id) {
		s->is_incremental = own.is_incremental;
		s->unit_ns = own.unit_ns;
		s->at = own.at;
		s->base_ns = other - own.at * own.unit_ns;
	}
}

/* --- tracks --- */

static struct track_def *track_of(struct perfetto_reading *x, uint64_t uuid)
{
	uint64_t *at = u64_map_at(&x->track_at, uuid);
	struct track_def d = {.uuid = uuid, .process = TL_NONE, .lane = TL_NONE};

	if (!at)
		return NULL;
	if (*at == 0) {
		if (!VEC_PUSH(&x->tracks, d))
			return NULL;
		*at = x->tracks.n;
	}
	return &x->tracks.v[*at - 1];
}

static struct str name_in(struct str bytes, unsigned number)
{
	struct pb_reader r = pb_of(bytes);
	struct pb_field f;
	struct str name = {NULL, 0};

	while (pb_next(&r, &f))
		if (f.number == number && f.wire == PB_BYTES)
			name = f.bytes;
	return name;
}

static bool read_track(struct perfetto_reading *x, struct str bytes)
{
	struct track_def d = {0}, *at;
	struct pb_reader r = pb_of(bytes);
	struct pb_field f;
	struct str owner = {NULL, 0};

	while (pb_next(&r, &f)) {
		if (f.number == DESCRIPTOR_UUID)
			d.uuid = f.value;
		else if (f.number == DESCRIPTOR_PARENT)
			d.parent = f.value;
		else if (f.wire != PB_BYTES)
			continue;
		else if (f.number == DESCRIPTOR_NAME || f.number == DESCRIPTOR_STATIC_NAME)
			d.name = f.bytes;
		else if (f.number == DESCRIPTOR_PROCESS)
			owner = name_in(f.bytes, PROCESS_NAME);
		else if (f.number == DESCRIPTOR_THREAD)
			owner = name_in(f.bytes, THREAD_NAME);
	}
	at = track_of(x, d.uuid);
	if (!at)
		return false;
	at->parent = d.parent;
	at->name = d.name.n ? d.name : owner;
	return true;
}

static bool perfetto_put_name(struct strbuf *b, const struct track_def *d)
{
	return d->name.n ? sb_str(b, d->name)
			 : sb_printf(b, "track %llu", (unsigned long long)d->uuid);
}

/* Names a thread by its path below the process; a process with slices by its own name. */
static bool name_lane(struct perfetto_reading *x, const uint64_t *path, unsigned n, uint32_t lane)
{
	struct strbuf name = {0};
	bool ok = true;

	for (unsigned i = n > 1 ? n - 1 : 1; ok && i-- > 0;)
		ok = (!name.n || sb_putc(&name, '/')) &&
		     perfetto_put_name(&name, track_of(x, path[i]));
	if (ok)
		x->l.lanes.v[lane].name = tl_text(&x->l, (struct str){name.p, name.n});
	sb_free(&name);
	return ok && x->l.lanes.v[lane].name;
}

static bool perfetto_name_process(
	struct perfetto_reading *x, const struct track_def *root, uint32_t process)
{
	struct strbuf name = {0};
	bool ok = perfetto_put_name(&name, root);

	if (ok)
		x->l.processes.v[process].name = tl_text(&x->l, (struct str){name.p, name.n});
	sb_free(&name);
	return ok && x->l.processes.v[process].name;
}

static struct str uuid_text(char text[24], uint64_t uuid)
{
	int n = snprintf(text, 24, "%llu", (unsigned long long)uuid);

	return (struct str){text, (size_t)n};
}

/* The lane of a track's slices, made at the first slice: the track is named by then. */
static uint32_t perfetto_lane_of(struct perfetto_reading *x, uint64_t uuid)
{
	uint64_t path[MAX_PARENTS];
	unsigned n = 0;
	char text[24];
	struct track_def *d = track_of(x, uuid);
	uint32_t process, lane;

	if (!d || d->lane != TL_NONE)
		return d ? d->lane : TL_NONE;
	for (;;) {
		path[n++] = d->uuid;
		if (!d->parent || n == MAX_PARENTS)
			break;
		d = track_of(x, d->parent);
		if (!d)
			return TL_NONE;
	}
	process = tl_process(&x->l, uuid_text(text, d->uuid));
	if (process == TL_NONE || !perfetto_name_process(x, d, process))
		return TL_NONE;
	/* Tracks were defined in the order in which they shall be shown. */
	x->l.processes.v[process].sort = (int64_t)*u64_map_find(&x->track_at, d->uuid);
	lane = tl_lane(&x->l, process, uuid_text(text, uuid));
	if (lane == TL_NONE || !name_lane(x, path, n, lane))
		return TL_NONE;
	x->l.lanes.v[lane].sort = (int64_t)*u64_map_find(&x->track_at, uuid);
	d = track_of(x, uuid);
	d->process = process;
	return d->lane = lane;
}

/* --- events --- */

struct perfetto_event {
	uint64_t type, track, name_iid, category_iid;
	struct str name, category;
	bool has_value;
	double value;
};

static struct perfetto_event perfetto_read_event(
	struct perfetto_reading *x, const struct perfetto_sequence_state *s, struct str bytes)
{
	struct perfetto_event v = {.track = s->track};
	struct pb_reader r = pb_of(bytes);
	struct pb_field f;
	uint64_t *at;
	bool has_args = false;

	while (pb_next(&r, &f)) {
		if (f.number == EVENT_TYPE)
			v.type = f.value;
		else if (f.number == EVENT_TRACK)
			v.track = f.value;
		else if (f.number == EVENT_NAME_IID)
			v.name_iid = f.value;
		else if (f.number == EVENT_CATEGORY_IID && f.wire == PB_VARINT)
			v.category_iid = f.value;
		else if (f.number == EVENT_NAME && f.wire == PB_BYTES)
			v.name = f.bytes;
		else if (f.number == EVENT_CATEGORY && f.wire == PB_BYTES)
			v.category = f.bytes;
		else if (f.number == EVENT_ANNOTATION)
			has_args = true;
		else if (f.number == EVENT_COUNTER && f.wire == PB_VARINT)
			v.value = (double)(int64_t)f.value;
		else if (f.number == EVENT_DOUBLE_COUNTER && f.wire == PB_FIXED64)
			v.value = pb_float(&f);
	}
	x->l.counts[TL_ARGS] += has_args;
	at = v.name_iid ? u64_map_find(&s->names, v.name_iid) : NULL;
	if (at)
		v.name = x->texts.v[*at - 1];
	at = v.category_iid ? u64_map_find(&s->categories, v.category_iid) : NULL;
	if (at)
		v.category = x->texts.v[*at - 1];
	return v;
}

static bool perfetto_add_flow(struct perfetto_reading *x, const struct pb_field *f,
	struct tl_flow at, const struct perfetto_event *v)
{
	bool is_end = f->number == EVENT_FLOW_END || f->number == EVENT_OLD_FLOW_END;

	if (f->wire == PB_BYTES || v->type == EVENT_END || v->type == EVENT_SAMPLE ||
		(!is_end && f->number != EVENT_FLOW && f->number != EVENT_OLD_FLOW))
		return true;
	at.key = hash_mix64(f->value);
	at.step = is_end ? TL_FLOW_END : TL_FLOW_STEP;
	return tl_add_flow(&x->l, at);
}

/* Adds flows, which are bound to the slice that the event begins. */
static bool add_flows(struct perfetto_reading *x, struct str bytes, const struct perfetto_event *v,
	uint32_t lane, int64_t at_ns)
{
	struct pb_reader r = pb_of(bytes);
	struct tl_flow at = {.at_ns = at_ns, .lane = lane};
	struct pb_field f;

	while (pb_next(&r, &f))
		if (!perfetto_add_flow(x, &f, at, v))
			return false;
	return true;
}

static bool perfetto_add_sample(
	struct perfetto_reading *x, const struct perfetto_event *v, int64_t at_ns)
{
	struct track_def *d = track_of(x, v->track);
	uint32_t process = d ? tl_process(&x->l, STR("counters")) : TL_NONE;
	char text[24];

	if (process == TL_NONE)
		return false;
	return tl_add_counter(&x->l, process, d->name.n ? d->name : uuid_text(text, d->uuid),
		STR("value"), at_ns, v->value);
}

static bool perfetto_add_event(struct perfetto_reading *x, const struct perfetto_sequence_state *s,
	struct str bytes, uint64_t time_ns)
{
	struct perfetto_event v = perfetto_read_event(x, s, bytes);
	struct timeline *l = &x->l;
	int64_t at = time_ns < TL_MAX_NS ? (int64_t)time_ns : INT64_MAX;
	uint32_t lane, code = 0;

	if (v.type == EVENT_SAMPLE)
		return perfetto_add_sample(x, &v, at);
	if (v.type != EVENT_BEGIN && v.type != EVENT_END && v.type != EVENT_INSTANT) {
		l->counts[TL_OTHER_EVENTS]++;
		return true;
	}
	lane = perfetto_lane_of(x, v.track);
	if (v.type != EVENT_END)
		code = tl_row(l, v.name, v.category);
	if (lane == TL_NONE || code == TL_NONE || !add_flows(x, bytes, &v, lane, at))
		return false;
	if (v.type == EVENT_INSTANT)
		return tl_add_slice(l, lane, (struct tl_slice){at, at, code, TL_INSTANT});
	return tl_add_half(l, (struct tl_half){.at_ns = at,
				      .lane = lane,
				      .code = code,
				      .is_begin = v.type == EVENT_BEGIN});
}

static bool add_packet(struct perfetto_reading *x, const struct packet *p)
{
	struct perfetto_sequence_state *s = sequence_of(x, p->sequence);
	uint64_t clock, at;

	if (!s)
		return false;
	if (p->flags & SEQUENCE_STATE_CLEARED)
		perfetto_forget(s);
	if (p->snapshot.p)
		read_snapshot(s, p->snapshot);
	if (p->defaults.p)
		read_defaults(s, p->defaults);
	if (p->interned.p && !read_interned(x, s, p->interned))
		return false;
	if (p->track.p && !read_track(x, p->track))
		return false;
	if (!p->event.p)
		return true;
	clock = p->clock ? p->clock : s->clock;
	at = p->timestamp;
	if (clock >= CLOCK_OF_SEQUENCE) {
		s->at = s->is_incremental ? s->at + at : at;
		at = s->base_ns + s->at * s->unit_ns;
	}
	return perfetto_add_event(x, s, p->event, at);
}

static bool read_compressed(
	struct perfetto_reading *x, struct str bytes, uint64_t offset, struct incore_error *e);

/* outer: the packet that contains them compressed; NULL: packets of the file itself. */
static bool read_packets(
	struct perfetto_reading *x, struct str bytes, const uint64_t *outer, struct incore_error *e)
{
	struct pb_reader r = pb_of(bytes);
	struct pb_field field;
	struct packet p;
	bool ok = true;

	while (ok && pb_next(&r, &field)) {
		uint64_t offset = (uint64_t)((const char *)r.p - bytes.p) - field.bytes.n;

		if (field.number != TRACE_PACKET || field.wire != PB_BYTES)
			continue;
		if (!perfetto_packet(field.bytes, &p))
			return err_file(e, "bad-trace", x->l.path, outer ? *outer : offset,
				"a packet that is not a valid message");
		x->n_packets++;
		ok = p.compressed.p && !outer ? read_compressed(x, p.compressed, offset, e)
					      : add_packet(x, &p) || err_nomem(e);
	}
	if (ok && r.is_failed)
		ok = trace_note(x->l.trace, "cut-trace", x->l.path,
			     outer ? *outer : (uint64_t)((const char *)r.p - bytes.p), 1,
			     "the packets end in the middle; what was before is kept") ||
		     err_nomem(e);
	return ok;
}

/* Names are borrowed: the bytes stay valid while the trace is read. */
static bool read_compressed(
	struct perfetto_reading *x, struct str bytes, uint64_t offset, struct incore_error *e)
{
	struct strbuf plain = {0};
	bool ok = zlib_unpack(bytes, x->l.path, &plain, e);

	if (!ok && err_is(e, "bad-gzip"))
		e->offset += offset;
	if (ok && !VEC_PUSH(&x->unpacked, plain))
		ok = err_nomem(e);
	if (!ok) {
		sb_free(&plain);
		return false;
	}
	return read_packets(x, (struct str){plain.p, plain.n}, &offset, e);
}

static bool perfetto_read_file(
	struct perfetto_reading *x, const struct file_data *f, struct incore_error *e)
{
	if (!read_packets(x, (struct str){(const char *)f->data, f->size}, NULL, e))
		return false;
	if (!x->tracks.n)
		return err_file(e, "no-track-events", x->l.path, 0,
			"none of its %llu packets is a track event: scheduling, system calls and "
			"samples are not read",
			(unsigned long long)x->n_packets);
	return tl_finish(&x->l, e);
}

static void free_reading(struct perfetto_reading *x)
{
	EACH (struct perfetto_sequence_state, s, x->sequences.v, x->sequences.n)
		perfetto_forget(s);
	VEC_FREE(&x->tracks);
	VEC_FREE(&x->sequences);
	EACH (struct strbuf, b, x->unpacked.v, x->unpacked.n)
		sb_free(b);
	VEC_FREE(&x->unpacked);
	VEC_FREE(&x->texts);
	u64_map_deinit(&x->track_at);
	u64_map_deinit(&x->sequence_at);
	tl_deinit(&x->l);
}

static bool perfetto_read(
	const char *path, const struct import_options *o, struct trace *t, struct incore_error *e)
{
	struct file_data f = {0};
	struct perfetto_reading x = {0};
	bool ok;

	tl_init(&x.l, t, path);
	ok = import_load_plain(o, &f, path, e) && perfetto_read_file(&x, &f, e);
	free_reading(&x);
	file_unload(&f);
	return ok;
}

static const struct signature perfetto_signs[] = {
	{.begins = "\x0a", .min_bytes = 3}, /* TRACE_PACKET << 3 | PB_BYTES */
	{0},
};

const struct import_ops import_perfetto = {
	.name = "perfetto",
	.summary = "Perfetto timeline of track events: flashinfer, run-iket, ...",
	.looks_for = "a Perfetto trace (.pftrace) with track events",
	.reads_packed = true,
	.signs = perfetto_signs,
	.sniff = perfetto_sniff,
	.look = tl_look,
	.read = perfetto_read,
	.lost = import_lost_noted,
};
