/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_packet.h: what of a packet of Perfetto's format is looked at. */
#pragma once

#include "base/str.h"

struct packet {
	uint64_t timestamp, clock, sequence, flags;
	struct str event, track, interned, defaults, snapshot, compressed;
};

/* Strings are borrowed; p NULL: absent. False: it is no sound message. */
bool perfetto_packet(struct str bytes, struct packet *p);
