/* SPDX-License-Identifier: Apache-2.0 */
/* events.c: actions of the command processor: launches, flushes, stalls, from registers and
 * events. */
#include "import/sqtt/internal.h"

#define MAX_EVENTS (1u << 18) /* per stream: more is corruption */

/* Decoder 0.1.6 has none. */
void sqtt_event(struct decoder *d, enum sqtt_event_type type, unsigned queue, bool is_bottom)
{
	bool is_launch = type == SQTT_DISPATCH;
	struct sqtt_pc entry = is_launch ? userdata_entry(d, queue) : (struct sqtt_pc){0, 0};
	struct sqtt_event x = {d->now, entry.addr, entry.object, {0}, (uint8_t)type,
		(uint8_t)(queue >> 2), queue & 3, is_bottom ? 2 : 0};

	if (!d->sink->event || d->is_c16)
		return;
	if (is_launch)
		memcpy(x.threads, d->threads[queue], sizeof(x.threads));
	if (d->event.n < MAX_EVENTS)
		sqtt_need(d, VEC_PUSH(&d->event, x));
	else
		sqtt_note(d, SQTT_NOTE_OVERFULL);
}

bool sqtt_register(struct decoder *d, unsigned queue, unsigned which, uint32_t data)
{
	if (which == 0x0c) /* COMPUTE_PGM_LO, _HI */
		d->pgm_lo[queue] = data;
	else if (which == 0x0d)
		d->pgm_hi[queue] = data;
	else if (which >= 7 && which <= 9) /* COMPUTE_NUM_THREAD_X to _Z */
		d->threads[queue][which - 7] = data;
	else if (which == 0 && data & 1) /* COMPUTE_DISPATCH_INITIATOR */
		sqtt_event(d, SQTT_DISPATCH, queue, false);
	else if (which == 0x7f && data == 7)
		sqtt_event(d, SQTT_CS_FLUSH, queue, false);
	else
		return false;
	return true;
}

void sqtt_resolve_events(struct decoder *d)
{
	for (size_t i = 0; d->user.is_enabled && i < d->event.n; i++) {
		struct sqtt_event *x = &d->event.v[i];
		struct sqtt_pc pc = {x->pc, x->object};

		if (x->pc && !x->object)
			pc = userdata_resolve_preloaded(&d->user, x->pc);
		x->pc = pc.addr;
		x->object = pc.object;
	}
}
