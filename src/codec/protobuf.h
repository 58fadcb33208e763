/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.h: the fields of a protocol buffer message, one after the other, without a schema and
 * without a copy. Owner: nothing is owned; bytes of fields point into the message. Failures latch
 * in the reader: where it failed is `p`. Threads: pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_reader {
	const uint8_t *p, *end;
	bool is_failed; /* latched: a field is cut off, or of no known wire type */
};

struct pb_field {
	uint32_t number;
	enum pb_wire wire;
	uint64_t value;	  /* VARINT, FIXED64, FIXED32: its bits */
	struct str bytes; /* BYTES: text, or a message */
};

static inline struct pb_reader pb_of(struct str bytes)
{
	const uint8_t *p = (const uint8_t *)bytes.p;

	return (struct pb_reader){p, p ? p + bytes.n : p, false};
}

/* The next field; false at the end, or on failure. */
bool pb_next(struct pb_reader *r, struct pb_field *f);
/* The bits of a float or double as a number. */
double pb_float(const struct pb_field *f);
