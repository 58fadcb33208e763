/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_packet.c: sequences, their interned data, events and tracks. */
#include "export/perfetto/perfetto_packet.h"

#include "analysis/waves/states.h"
#include "base/mem.h"

#define FLUSH_BYTES (256u << 10)
#define DESCRIPTORS 1u /* the sequence of tracks; it has no state */

static const char *const label_names[LABELS] = {"row", "stall", "workgroup"};

bool packets_init(struct packets *p, FILE *f, const struct trace *t, struct incore_error *e)
{
	*p = (struct packets){.f = f, .trace = t, .n_sequences = DESCRIPTORS};
	p->known_name = mem_zalloc((size_t)t->n_code + NAMES_OWN, sizeof(*p->known_name));
	return (p->known_name && sb_reserve(&p->out, FLUSH_BYTES + 4096)) || err_nomem(e);
}

void packets_deinit(struct packets *p)
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

bool packets_finish(struct packets *p, struct incore_error *e)
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

static void put_clock(struct strbuf *b, enum clock_number id, uint64_t at_ns)
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

	put_clock(b, CLOCK_BOOT_TIME, at_ns);
	put_clock(b, CLOCK_OF_SEQUENCE, at_ns);
	pb_close(b, part);
	part = pb_open(b, PACKET_DEFAULTS);
	event = pb_open(b, DEFAULTS_TRACK_EVENT);
	pb_put_number(b, EVENT_TRACK, uuid);
	pb_close(b, event);
	pb_put_number(b, DEFAULTS_CLOCK, CLOCK_OF_SEQUENCE);
	pb_close(b, part);
}

struct sequence packets_begin(struct packets *p, uint64_t uuid, uint64_t at_ns)
{
	struct sequence q = {++p->n_sequences, uuid, at_ns};
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

static const struct frame *innermost(const struct trace *t, uint32_t name)
{
	return name < t->n_code && t->code[name].n_frames ? &t->frames[t->code[name].first_frame]
							  : NULL;
}

static void put_source(struct strbuf *b, const struct trace *t, uint32_t name)
{
	const struct frame *f = innermost(t, name);
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
		put_source(b, p->trace, s->name);
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

static inline size_t open_packet(struct packets *p, struct sequence *q, uint64_t at_ns)
{
	size_t packet = pb_open(&p->out, TRACE_PACKET);

	pb_put_number(&p->out, PACKET_TIMESTAMP, q->uuid ? at_ns - q->at_ns : at_ns);
	pb_put_number(&p->out, PACKET_SEQUENCE_ID, q->id);
	pb_put_number(&p->out, PACKET_SEQUENCE_FLAGS, SEQUENCE_NEEDS_STATE);
	q->at_ns = at_ns;
	return packet;
}

struct packet_at packets_open_event(
	struct packets *p, struct sequence *q, uint64_t at_ns, uint64_t uuid, enum event_type type)
{
	struct packet_at at = {.packet = open_packet(p, q, at_ns)};

	at.event = pb_open(&p->out, PACKET_TRACK_EVENT);
	pb_put_number(&p->out, EVENT_TYPE, type);
	if (!q->uuid)
		pb_put_number(&p->out, EVENT_TRACK, uuid);
	return at;
}

void packets_close_event(struct packets *p, struct packet_at at)
{
	pb_close(&p->out, at.event);
	close_packet(p, at.packet);
}

static void put_label(
	struct strbuf *b, enum packet_label label, enum annotation_field f, uint64_t v)
{
	size_t part = pb_open(b, EVENT_ANNOTATION);

	pb_put_number(b, ANNOTATION_NAME_IID, (uint64_t)label + 1);
	pb_put_number(b, f, v);
	pb_close(b, part);
}

static void put_slice(struct packets *p, const struct sequence *q, const struct packet_slice *s)
{
	struct strbuf *b = &p->out;
	const struct trace *t = p->trace;

	pb_put_number(b, EVENT_TYPE, EVENT_BEGIN);
	if (!q->uuid)
		pb_put_number(b, EVENT_TRACK, s->uuid);
	pb_put_number(b, EVENT_CATEGORY_IID, s->category + 1);
	pb_put_number(b, EVENT_NAME_IID, (uint64_t)s->name + 1);
	if (innermost(t, s->name))
		pb_put_number(b, EVENT_SOURCE_IID, (uint64_t)s->name + 1);
	if (s->has_row)
		put_label(b, LABEL_ROW, ANNOTATION_INT, (uint64_t)t->code[s->name].number);
	if (s->has_stall)
		put_label(b, LABEL_STALL, ANNOTATION_UINT, s->stall_cyc);
	if (s->has_workgroup)
		put_label(b, LABEL_WORKGROUP, ANNOTATION_UINT, s->workgroup);
	for (size_t i = 0; i < s->n_flows; i++)
		pb_put_fixed64(b, EVENT_FLOW, s->flows[i]);
	for (size_t i = 0; i < s->n_flow_ends; i++)
		pb_put_fixed64(b, EVENT_FLOW_END, s->flow_ends[i]);
}

void packets_slice(struct packets *p, struct sequence *q, const struct packet_slice *s)
{
	size_t packet = open_packet(p, q, s->at_ns), event;

	if (p->known_name[s->name] != q->id || p->known_category[s->category] != q->id)
		put_interned(p, q->id, s);
	event = pb_open(&p->out, PACKET_TRACK_EVENT);
	put_slice(p, q, s);
	pb_close(&p->out, event);
	close_packet(p, packet);
}

void packets_slice_end(struct packets *p, struct sequence *q, uint64_t at_ns, uint64_t uuid)
{
	packets_close_event(p, packets_open_event(p, q, at_ns, uuid, EVENT_END));
}

/* --- tracks --- */

struct descriptor_at packets_open_track(
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

void packets_close_track(struct packets *p, struct descriptor_at at)
{
	pb_close(&p->out, at.descriptor);
	close_packet(p, at.packet);
}
