/* SPDX-License-Identifier: Apache-2.0 */
/* draw.h: numbers by chance for one test program; the same seed gives the same numbers. */
#ifndef TESTS_UNIT_DRAW_H
#define TESTS_UNIT_DRAW_H

#include <stdint.h>

static uint64_t draw_seed = 1;

static inline uint32_t draw(uint32_t below)
{
	draw_seed = draw_seed * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(draw_seed >> 33) % below;
}

#endif
