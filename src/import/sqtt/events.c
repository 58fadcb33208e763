/* SPDX-License-Identifier: Apache-2.0 */
/* events.c: what the command processor did: launches, flushes, stalls, as registers and events say. */
#include "import/sqtt/internal.h"

#define MAX_EVENTS (1u << 20) /* of one stream: more is corruption */

enum cs_register {
	CS_INITIATOR = 0x00, /* bit 0: launch */
	CS_THREADS_X = 0x07,
	CS_THREADS_Z = 0x09,
	CS_PGM_LO = 0x0c,
	CS_PGM_HI = 0x0d,
	CS_EVENT = 0x7f,
	CS_EVENT_FLUSH = 7,
};

static void add_event(struct decoder *d, const struct sqtt_event *x)
{
	if (d->event.n < MAX_EVENTS)
		sqtt_need(d, VEC_PUSH(&d->event, *x));
	else
		sqtt_note(d, SQTT_NOTE_OVERFULL);
}

/* Decoder 0.1.6 has none. */
static bool has_events(const struct decoder *d)
{
	return d->sink->event && !d->is_c16;
}

void sqtt_event(struct decoder *d, enum sqtt_event_type type, unsigned queue, bool is_bottom)
{
	struct sqtt_event x = {.time = d->now,
		.type = (uint8_t)type,
		.me = (uint8_t)(queue >> 2 & 1),
		.pipe = (uint8_t)(queue & 3),
		.flags = is_bottom ? 2 : 0};
	struct sqtt_pc entry;

	if (!has_events(d))
		return;
	if (type == SQTT_DISPATCH) {
		entry = userdata_entry(d, queue);
		x.pc = entry.addr;
		x.object = entry.object;
		memcpy(x.threads, d->threads[queue], sizeof(x.threads));
	}
	add_event(d, &x);
}

bool sqtt_register(struct decoder *d, unsigned queue, unsigned which, uint32_t data)
{
	if (which == CS_PGM_LO)
		d->pgm_lo[queue] = data;
	else if (which == CS_PGM_HI)
		d->pgm_hi[queue] = data;
	else if (which >= CS_THREADS_X && which <= CS_THREADS_Z)
		d->threads[queue][which - CS_THREADS_X] = data;
	else if (which == CS_INITIATOR && data & 1)
		sqtt_event(d, SQTT_DISPATCH, queue, false);
	else if (which == CS_EVENT && data == CS_EVENT_FLUSH)
		sqtt_event(d, SQTT_CS_FLUSH, queue, false);
	else
		return false;
	return true;
}

void sqtt_resolve_events(struct decoder *d)
{
	for (size_t i = 0; d->user.is_enabled && i < d->event.n; i++) {
		struct sqtt_event *x = &d->event.v[i];
		struct sqtt_pc pc;

		if (!x->pc || x->object)
			continue;
		pc = userdata_resolve_preloaded(&d->user, x->pc);
		x->pc = pc.addr;
		x->object = pc.object;
	}
}
