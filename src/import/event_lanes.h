/* SPDX-License-Identifier: Apache-2.0 */
/* event_lanes.h: whose Chrome trace is this? Lanes named after cores and pipes are Ascend's. */
#pragma once

#include <stddef.h>
#include <stdint.h>

enum event_lanes {
	LANES_NONE, /* no events, or none on a lane */
	LANES_ASCEND,
	LANES_OTHER,
};

/* Judges by the first bytes of a file. */
enum event_lanes event_lanes_of(const uint8_t *head, size_t n);
