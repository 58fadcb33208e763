/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_packet.c: reads the fields of a packet by number. */
#include "import/timeline/perfetto_packet.h"

#include "codec/perfetto_fields.h"
#include "codec/protobuf.h"

static void put_bytes(struct packet *p, const struct pb_field *f)
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

bool perfetto_packet(struct str bytes, struct packet *p)
{
	struct pb_reader r = pb_of(bytes);
	struct pb_field f;

	*p = (struct packet){0};
	while (pb_next(&r, &f)) {
		if (f.wire == PB_BYTES)
			put_bytes(p, &f);
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
