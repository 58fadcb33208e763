/* SPDX-License-Identifier: Apache-2.0 */
/* stream.c: lists of events in the order in which they are written. */
#include "stream.h"

#include <stdlib.h>

#include "encode_gfx10.h"
#include "encode_gfx9.h"

void sq_stream_deinit(struct sq_stream *s)
{
	for (size_t i = 0; i < s->waves.n; i++) {
		VEC_FREE(&s->waves.v[i].insts);
		VEC_FREE(&s->waves.v[i].spans);
	}
	VEC_FREE(&s->waves);
	VEC_FREE(&s->realtime);
	VEC_FREE(&s->perf);
	VEC_FREE(&s->shaderdata);
	VEC_FREE(&s->other);
	VEC_FREE(&s->losses);
}

void sq_add_event(struct sq_events *v, struct sq_event e)
{
	e.seq = (uint32_t)v->all.n;
	v->is_failed |= !VEC_PUSH(&v->all, e);
}

void sq_add_wave_events(struct sq_events *v, const struct sq_stream *s, const struct sq_wave *w)
{
	if (s->gen == SQ_GFX9)
		sq_wave_events_gfx9(v, s, w);
	else
		sq_wave_events_gfx10(v, s, w);
}

void sq_add_extras(struct sq_events *v, const struct sq_stream *s)
{
	for (size_t i = 0; i < s->shaderdata.n; i++) {
		const struct sqtt_shaderdata *d = &s->shaderdata.v[i];

		sq_add_event(v, (struct sq_event){.time = d->time,
					.kind = SQ_DATA,
					.cu = d->cu,
					.simd = d->simd,
					.slot = d->slot,
					.aux = d->flags,
					.value = d->value});
	}
	for (size_t i = 0; i < s->perf.n; i++) /* the stamp is later than the sample */
		sq_add_event(v, (struct sq_event){.time = s->perf.v[i].time + 4 * s->perf.v[i].cu,
					.kind = SQ_PERF,
					.value = i});
	for (size_t i = 0; i < s->other.n; i++)
		sq_add_event(v, (struct sq_event){
					.time = s->other.v[i].time, .kind = SQ_OTHER, .value = i});
	for (size_t i = 0; i < s->realtime.n; i++)
		sq_add_event(v, (struct sq_event){.time = s->realtime.v[i].time,
					.kind = SQ_REALTIME,
					.value = s->realtime.v[i].clock});
	for (size_t i = 0; i < s->losses.n; i++)
		sq_add_event(v, (struct sq_event){.time = s->losses.v[i], .kind = SQ_LOSS});
}

static int compare_events(const void *pa, const void *pb)
{
	const struct sq_event *a = pa, *b = pb;

	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return a->seq < b->seq ? -1 : a->seq > b->seq;
}

void sq_sort_events(struct sq_events *v)
{
	if (v->all.n)
		qsort(v->all.v, v->all.n, sizeof(*v->all.v), compare_events);
}

bool sq_encode(const struct sq_stream *s, struct strbuf *out)
{
	return s->gen == SQ_GFX9 ? sq_encode_gfx9(s, out) : sq_encode_gfx10(s, out);
}
