/* SPDX-License-Identifier: Apache-2.0 */
/*
 * random_stream.h: waves that walk a program at random, as far as a stream of their generation can
 * say them, with the states a decoder must show.
 */
#ifndef TESTS_SQTT_RANDOM_STREAM_H
#define TESTS_SQTT_RANDOM_STREAM_H

#include "stream.h"

struct sq_shape {
	uint64_t seed;
	bool is_c16;
	bool has_extras; /* data, counters, clock samples */
	bool has_losses;
	unsigned n_waves;   /* in all; about half of them have detail */
	unsigned max_insts; /* of a wave, roughly */
	bool is_placed;	    /* the rest says where; else it is drawn too */
	unsigned cu, simd;
	uint64_t load_base;
	uint32_t object, rt_khz;
};

/* *s is overwritten; free it with sq_stream_deinit(). False on lack of memory. */
bool sq_random_stream(
	struct sq_stream *s, const struct sq_program *p, const struct sq_shape *shape);

/* Starts and ends of all waves in the order of the stream. */
bool sq_occupancy(const struct sq_stream *s, struct sqtt_occupancy **out, size_t *n);

#endif
