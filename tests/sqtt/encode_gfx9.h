/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode_gfx9.h: the bytes of a gfx9 (MI200, MI300, MI350) thread trace.
 *
 * What can be said: all times are multiples of 4 and 2000 or later; instructions of a wave follow
 * one another without overlap; an immediate begins where the instruction before it ends and is all
 * stall (4 cycles if it is the first); tokens that confirm instructions keep their order, so
 * sq_confirm_gfx9() may not go back. By 0.1.6 rules a message is the last of its wave and begins
 * where the instruction before it ends.
 */
#ifndef TESTS_SQTT_ENCODE_GFX9_H
#define TESTS_SQTT_ENCODE_GFX9_H

#include "stream.h"

void sq_wave_events_gfx9(struct sq_events *v, const struct sq_stream *s, const struct sq_wave *w);
bool sq_encode_gfx9(const struct sq_stream *s, struct strbuf *out);
/* When the token that confirms this instruction comes. */
int64_t sq_confirm_gfx9(const struct sq_inst *x, unsigned simd, bool is_c16);

#endif
