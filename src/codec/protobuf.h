/* SPDX-License-Identifier: Apache-2.0 */
/*
 * protobuf.h: reads the fields of a protocol buffer message one after the other, without a schema
 * and without copying. Owner: nothing is owned; bytes of fields point into the message. Failures
 * latch in the reader; `p` is the place. Threads: pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/str.h"

enum pb_wire { PB_VARINT = 0, PB_FIXED64 = 1, PB_BYTES = 2, PB_FIXED32 = 5 };

struct pb_reader {
	const uint8_t *p, *end;
	bool is_failed; /* latched: a field is truncated, or its wire type is unknown */
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
/* The value of a float or double field. */
double pb_float(const struct pb_field *f);
