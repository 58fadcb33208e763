/* SPDX-License-Identifier: Apache-2.0 */
/* perfetto_packet.h: the fields of a Perfetto packet that are used. */
#pragma once

#include "base/str.h"

struct packet {
	uint64_t timestamp, clock, sequence, flags;
	struct str event, track, interned, defaults, snapshot, compressed;
};

/* Strings are borrowed; p NULL: absent. False: not a valid message. */
bool perfetto_packet(struct str bytes, struct packet *p);
