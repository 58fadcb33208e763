/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recognises raw thread traces and their generation. gfx9 has a software header of 8 bytes, later
 * generations begin with a header token.
 */
#include "import/sqtt/internal.h"

static unsigned field(uint64_t h, unsigned lo, unsigned hi)
{
	return (unsigned)(h >> lo & (((uint64_t)2 << (hi - lo)) - 1));
}

static void read_gfx9(uint64_t h, struct sqtt_stream *s)
{
	s->gfx_major = 9;
	s->version = field(h, 13, 15);
	s->simd_mask = field(h, 16, 19);
	s->target_cu = field(h, 20, 24);
	s->se = (int)field(h, 26, 31);
	s->is_double_buffer = field(h, 32, 32);
}

static bool read_gfx10(uint64_t h, struct sqtt_stream *s)
{
	static const uint8_t major[] = {0, 10, 10, 11, 12, 12};

	s->version = field(h, 7, 12);
	if (s->version == 0 || s->version >= sizeof(major))
		return false;
	s->gfx_major = major[s->version];
	s->is_mi400 = s->version == 5;
	s->is_unverified = s->gfx_major == 10 || s->is_mi400;
	s->target_simd = field(h, 13, 14);
	/* MI400 has one more WGP bit */
	s->target_cu = field(h, 15, s->is_mi400 ? 18 : 17) | field(h, 19, 19) << 7;
	s->is_double_buffer = s->gfx_major == 12 && field(h, 43, 43);
	s->se = -1;
	return true;
}

bool sqtt_recognise(
	const uint8_t *data, size_t size, struct sqtt_stream *out, struct incore_error *e)
{
	struct sqtt_stream s = {0};
	uint64_t h;

	if (size < 8)
		return err_set(e, INCORE_BAD_INPUT, "truncated",
			"expected a thread trace of 8 or more bytes, found %zu", size);
	h = load64(data);
	if ((field(h, 0, 12) == 0 || field(h, 0, 12) == 0x11) && field(h, 13, 15) >= 4 &&
		field(h, 13, 15) <= 6) {
		read_gfx9(h, &s);
		*out = s;
		return true;
	}
	if (field(h, 0, 12) == 0 || !read_gfx10(h, &s))
		return err_set(e, INCORE_BAD_INPUT, "bad-magic",
			"not a thread trace: the first 8 bytes are %016llx", (unsigned long long)h);
	*out = s;
	return true;
}
