/* SPDX-License-Identifier: Apache-2.0 */
/*
 * perfetto_packet.h: packets of a Perfetto trace, written as they are made. Interned data belongs
 * to one sequence of packets: a name is written with the first packet of a sequence that uses it,
 * and a sequence begins with its state cleared. Only the last sequence that knows a name is
 * remembered, one number per name.
 * Owner: the caller zeroes a struct packets, packets_init() .. packets_deinit(). Lack of memory is
 * latched in `out`, failures of the file in the file.
 */
#pragma once

#include "codec/perfetto_fields.h"
#include "codec/protobuf_writer.h"
#include "export/export.h"

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
struct sequence {
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

bool packets_init(struct packets *p, FILE *f, const struct trace *t, struct incore_error *e);
void packets_deinit(struct packets *p);
/* Writes the rest; false with the error of the file or of memory. */
bool packets_finish(struct packets *p, struct incore_error *e);

/* Begins a sequence about one track from that time on; uuid 0: about any track. */
struct sequence packets_begin(struct packets *p, uint64_t uuid, uint64_t at_ns);
void packets_slice(struct packets *p, struct sequence *q, const struct packet_slice *s);
void packets_slice_end(struct packets *p, struct sequence *q, uint64_t at_ns, uint64_t uuid);
/* A packet of an event that is not a slice: add its own fields, then close both. */
struct packet_at {
	size_t packet, event;
};
struct packet_at packets_open_event(
	struct packets *p, struct sequence *q, uint64_t at_ns, uint64_t uuid, enum event_type type);
void packets_close_event(struct packets *p, struct packet_at at);

/* A track below another (0: a process). Add further fields, then close it. */
struct descriptor_at {
	size_t packet, descriptor;
	uint64_t uuid;
};
struct descriptor_at packets_open_track(
	struct packets *p, uint64_t parent, struct str name, uint32_t rank);
void packets_close_track(struct packets *p, struct descriptor_at at);
