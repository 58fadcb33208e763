/* SPDX-License-Identifier: Apache-2.0 */
/*
 * planted.h: kernels with one defect each, and the same kernel without it: what a rule of advise must
 * speak of, and where it must be silent.
 */
#ifndef EXAMPLES_PLANTED_H
#define EXAMPLES_PLANTED_H

#include "programs.h"

enum planted {
	PLANTED_LATE_LOAD,
	PLANTED_START_LOAD,
	PLANTED_LATE_COPY,
	PLANTED_LATE_LDS,
	PLANTED_LDS_WRITE,
	PLANTED_LATE_SCALAR,
	PLANTED_CROSS_LANE,
	PLANTED_STORE_IN_WAIT,
	PLANTED_EMPTY_WAIT,
	PLANTED_UNEVEN_BARRIER,
	PLANTED_NOP_PADDING,
	PLANTED_MATRIX_CHAIN,
	PLANTED_NARROW_ACCESS,
	PLANTED_SPILL,
	PLANTED_FEW_WAVES,
	PLANTED_SHORT_LOOP,
	PLANTED_END_DRAIN,
	PLANTED_PREFETCHED, /* no rule: a late load, and the same asked for one step earlier */
	PLANTED_COUNT
};
extern const char *const planted_names[PLANTED_COUNT]; /* rules of incore advise; of the last not */

/* In one buffer: valid until the next call. */
const struct program_text *planted_program(enum planted p, bool is_sound);

#endif
