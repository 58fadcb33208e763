/* SPDX-License-Identifier: Apache-2.0 */
/* walk.h: one wave's way through a program, and the states that a decoder must show of it. */
#ifndef TESTS_SQTT_WALK_H
#define TESTS_SQTT_WALK_H

#include "stream.h"

/* Fills insts, spans and end of a wave that begins at w->begin. False on lack of memory. */
bool sq_walk(const struct sq_stream *s, struct sq_wave *w, uint64_t *state, unsigned max_insts);

#endif
