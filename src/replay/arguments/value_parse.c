/* SPDX-License-Identifier: Apache-2.0 */
/* value_parse.c: text to bits, per element type. */
#include "replay/arguments/value_parse.h"

#include <math.h>
#include <stdlib.h>

#include "dump/dtype.h"

static uint32_t float_bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, sizeof(u));
	return u;
}

uint16_t bfloat_of_float(float f)
{
	uint32_t u = float_bits(f);

	if (isnan(f))
		return (uint16_t)(u >> 16 | 0x40);
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

uint16_t half_of_float(float f)
{
	uint32_t u = float_bits(f);
	uint16_t sign = (uint16_t)(u >> 16 & 0x8000);
	float magnitude = fabsf(f);

	if (isnan(f))
		return (uint16_t)(sign | 0x7e00);
	if (magnitude >= 65520.0f) /* half way to what would be 65536 */
		return (uint16_t)(sign | 0x7c00);
	if (magnitude <
		0x1p-14f) /* subnormal: a multiple of 2^-24, rounded by the hardware's mode */
		return (uint16_t)(sign | (uint16_t)lrintf(magnitude * 0x1p24f));
	u = (u & 0x7fffffff) + 0xfff + (u >> 13 & 1);
	return (uint16_t)(sign | (uint16_t)((u >> 13) - (112u << 10)));
}

static bool parse_float(struct str text, float *out)
{
	char buf[64], *end;

	if (!text.n || text.n >= sizeof(buf) || strchr(" \t\n", text.p[0]))
		return false;
	memcpy(buf, text.p, text.n);
	buf[text.n] = '\0';
	*out = strtof(buf, &end);
	return *end == '\0' && end != buf;
}

static bool parse_integer(unsigned dtype, struct str text, uint64_t *bits)
{
	unsigned width = dtype_bytes(dtype) * 8;
	uint64_t mask = width == 64 ? UINT64_MAX : ((uint64_t)1 << width) - 1;
	int64_t i;

	if (!dtype_is_signed(dtype))
		return str_to_u64(text, bits) && *bits <= mask;
	if (!str_to_i64(text, &i))
		return false;
	if (width < 64 && (i < -((int64_t)1 << (width - 1)) || i > (int64_t)(mask >> 1)))
		return false;
	*bits = (uint64_t)i & mask;
	return true;
}

bool value_parse(unsigned dtype, struct str text, uint64_t *bits)
{
	unsigned width = dtype_bytes(dtype) * 8;
	float f;

	if (!width)
		return false;
	if (str_starts(text, "0x"))
		return str_to_u64(text, bits) && (width == 64 || *bits >> width == 0);
	if (str_starts(text, "f32:")) {
		if (width < 32 || !parse_float(str_sub(text, 4, text.n), &f))
			return false;
		*bits = float_bits(f);
		return true;
	}
	switch (dtype) {
	case DTYPE_FLOAT32:
	case DTYPE_FLOAT16:
	case DTYPE_BFLOAT16:
		if (!parse_float(text, &f))
			return false;
		*bits = dtype == DTYPE_FLOAT32	 ? float_bits(f)
			: dtype == DTYPE_FLOAT16 ? half_of_float(f)
						 : bfloat_of_float(f);
		return true;
	case DTYPE_BOOL:
		*bits = str_is(text, "true") || str_is(text, "1");
		return *bits || str_is(text, "false") || str_is(text, "0");
	case DTYPE_FP8E4M3FN:
	case DTYPE_FP8E8M0:
	case DTYPE_FP4E2M1:
		return false; /* only as bits */
	default:
		return parse_integer(dtype, text, bits);
	}
}
