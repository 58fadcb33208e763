/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machines.h: kernels that one unit of the toy engine bounds, and the same kernels mended, for
 * machines whose memory is drawn anew: what `incore verdict` must find from the trace alone.
 */
#ifndef EXAMPLES_MACHINES_H
#define EXAMPLES_MACHINES_H

#include "programs.h"

struct machine_kernel {
	const char *name; /* of the bottleneck */
	unsigned n_slots; /* waves of a SIMD */
	bool is_uneven;	  /* three of four waves have little to do */
};
extern const struct machine_kernel machine_kernels[];
extern const unsigned n_machine_kernels;

/* In one buffer: valid until the next call. */
const struct program_text *machine_program(unsigned kernel, bool is_mended);
/* Rates of a machine: each up to 30 % from the middle. */
struct sim_rates machine_rates(uint64_t seed);

#endif
