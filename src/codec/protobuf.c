/* SPDX-License-Identifier: Apache-2.0 */
/* protobuf.c: see protobuf.h. */
#include "codec/protobuf.h"

#include <string.h>

#include "base/little_endian.h"

static bool protobuf_fail(struct pb_reader *r)
{
	r->is_failed = true;
	return false;
}

/* Reads at most ten bytes; on failure p does not move. */
static bool read_varint(struct pb_reader *r, uint64_t *out)
{
	const uint8_t *p = r->p;
	uint64_t v = 0;

	if (p < r->end && *p < 0x80) { /* the usual case */
		*out = *p;
		r->p = p + 1;
		return true;
	}
	for (unsigned shift = 0; shift < 70 && p < r->end; shift += 7) {
		uint8_t b = *p++;

		if (shift < 64)
			v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80)) {
			r->p = p;
			*out = v;
			return true;
		}
	}
	return protobuf_fail(r);
}

static bool read_fixed(struct pb_reader *r, unsigned n, uint64_t *out)
{
	if ((size_t)(r->end - r->p) < n)
		return protobuf_fail(r);
	*out = le_bytes(r->p, n);
	r->p += n;
	return true;
}

bool pb_next(struct pb_reader *r, struct pb_field *f)
{
	uint64_t key, n;

	if (r->is_failed || r->p == r->end || !read_varint(r, &key))
		return false;
	if (key >> 3 == 0 || key >> 3 > UINT32_MAX)
		return protobuf_fail(r);
	*f = (struct pb_field){.number = (uint32_t)(key >> 3), .wire = (enum pb_wire)(key & 7)};
	switch (f->wire) {
	case PB_VARINT:
		return read_varint(r, &f->value);
	case PB_FIXED64:
		return read_fixed(r, 8, &f->value);
	case PB_FIXED32:
		return read_fixed(r, 4, &f->value);
	case PB_BYTES:
		if (!read_varint(r, &n))
			return false;
		if (n > (uint64_t)(r->end - r->p))
			return protobuf_fail(r);
		f->bytes = (struct str){(const char *)r->p, (size_t)n};
		r->p += n;
		return true;
	}
	return protobuf_fail(r); /* groups do not occur in the files that are read here */
}

double pb_float(const struct pb_field *f)
{
	uint32_t bits = (uint32_t)f->value;
	double d;
	float x;

	if (f->wire == PB_FIXED64) {
		memcpy(&d, &f->value, sizeof(d));
		return d;
	}
	memcpy(&x, &bits, sizeof(x));
	return f->wire == PB_FIXED32 ? (double)x : (double)f->value;
}
