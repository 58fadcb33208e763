/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode_gfx10.h: the bytes of a gfx10, gfx11 or gfx12 thread trace.
 *
 * What can be said: each instruction of a wave is issued (time + stall) later than the one before;
 * a stall begins where the state before it ends or later, and only in slots 0 to 15; an immediate
 * lasts one cycle after its stall, and has one only from the end of the instruction before it on.
 * The message of the wave's end is said by the end alone.
 */
#ifndef TESTS_SQTT_ENCODE_GFX10_H
#define TESTS_SQTT_ENCODE_GFX10_H

#include "stream.h"

void sq_wave_events_gfx10(struct sq_events *v, const struct sq_stream *s, const struct sq_wave *w);
bool sq_encode_gfx10(const struct sq_stream *s, struct strbuf *out);
/* Code of an issue on another SIMD; 0: this cannot be said. */
unsigned sq_other_code(enum sq_gen gen, unsigned category, unsigned cycles);

#endif
