/* SPDX-License-Identifier: Apache-2.0 */
/* argspec_value.c: what the values of arguments are as bits and bytes. */
#include "model/record/argspec_value.h"

#include <math.h>
#include <stdlib.h>

#include "model/stream/opstream.h"

enum op_dtype arg_dtype_of(struct str name, bool *is_bits)
{
	static const struct {
		const char *name;
		enum op_dtype dtype;
	} NAMES[] = {{"FLOAT32", DT_F32}, {"FLOAT16", DT_F16}, {"BFLOAT16", DT_BF16},
		{"INT8", DT_I8}, {"UINT8", DT_U8}, {"INT16", DT_I16}, {"UINT16", DT_U16},
		{"INT32", DT_I32}, {"UINT32", DT_U32}, {"INT64", DT_I64}, {"UINT64", DT_U64},
		{"BOOL", DT_BOOL}, {"FLOAT64", DT_F64}, {"FP8E4M3FN", DT_F8E4M3},
		{"FP8E5M2", DT_F8E5M2}, {"FP8E8M0", DT_F8E8M0}, {"HIF8", DT_HIF8},
		{"FP4E2M1", DT_F4E2M1}, {"FP4E1M2", DT_F4E1M2}};

	if (str_is(name, "FLOAT32_BITS") || str_is(name, "FLOAT64_BITS")) {
		*is_bits = true;
		return str_is(name, "FLOAT32_BITS") ? DT_F32 : DT_F64;
	}
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		if (str_is(name, NAMES[i].name))
			return NAMES[i].dtype;
	for (unsigned i = 1; i < DT_COUNT; i++)
		if (str_is(name, op_dtype_name(i)))
			return (enum op_dtype)i;
	return DT_NONE;
}

static bool looks_like_float(const char *p, const char *end)
{
	for (; p < end && strchr("+-0123456789.eE", *p) && *p; p++)
		if (*p == '.' || *p == 'e' || *p == 'E')
			return true;
	return false;
}

bool arg_number_get(struct json_reader *r, struct arg_number *out)
{
	int64_t i;
	bool b;

	*out = (struct arg_number){0};
	if (json_peek(r) == JSON_BOOL) {
		if (!json_get_bool(r, &b))
			return false;
		out->bits = b;
		return true;
	}
	if (json_peek(r) == JSON_NUMBER && looks_like_float(r->p, r->end)) {
		out->is_float = true;
		return json_get_double(r, &out->f);
	}
	if (json_peek(r) == JSON_NUMBER && *r->p == '-') {
		if (!json_get_i64(r, &i))
			return false;
		out->bits = (uint64_t)i;
		out->f = (double)i;
		return true;
	}
	if (!json_get_u64(r, &out->bits))
		return false;
	out->f = (double)out->bits;
	return true;
}

bool arg_number_of(struct str text, struct arg_number *out)
{
	char buffer[64], *end;
	int64_t i;

	*out = (struct arg_number){0};
	if (text.n == 0 || text.n >= sizeof(buffer))
		return false;
	if (str_to_u64(text, &out->bits)) {
		out->f = (double)out->bits;
		return true;
	}
	if (str_to_i64(text, &i)) {
		out->bits = (uint64_t)i;
		out->f = (double)i;
		return true;
	}
	memcpy(buffer, text.p, text.n);
	buffer[text.n] = '\0';
	if (!looks_like_float(buffer, buffer + text.n))
		return false;
	out->is_float = true;
	out->f = strtod(buffer, &end);
	return *end == '\0' && isfinite(out->f);
}

static uint32_t f32_bits(double v)
{
	float f = (float)v;
	uint32_t u;

	memcpy(&u, &f, 4);
	return u;
}

/* Round to nearest even; overflow is infinity. */
static uint16_t f16_bits(double v)
{
	double a = fabs(v);
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	int e;

	if (isnan(v))
		return 0x7e00;
	if (a >= 65520)
		return (uint16_t)(sign | 0x7c00);
	frexp(a, &e);
	e = e < -13 ? -13 : e; /* subnormals share the smallest exponent */
	/* in units of the last place: 11 bits, the hidden one carries into the exponent */
	return (uint16_t)(sign + (a == 0 ? 0
					 : (uint16_t)((e + 13) << 10) +
							 (uint16_t)nearbyint(ldexp(a, 11 - e))));
}

static uint16_t bf16_bits(double v)
{
	uint32_t u = f32_bits(v);

	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static bool pack_integer(unsigned dtype, const struct arg_number *v, uint64_t *out)
{
	unsigned bits = dtype == DT_BOOL ? 1 : op_dtype_bits(dtype);
	bool is_signed = dtype == DT_I8 || dtype == DT_I16 || dtype == DT_I32 || dtype == DT_I64;
	bool is_negative = !v->is_float && v->f < 0;
	uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;

	if (v->is_float)
		return false;
	if (is_negative ? !is_signed || (int64_t)v->bits < -(int64_t)(mask / 2) - 1
			: v->bits > (is_signed ? mask / 2 : mask))
		return false;
	*out = v->bits; /* sign-extended to the slot */
	return true;
}

bool arg_pack(unsigned dtype, bool is_bits, const struct arg_number *v, uint64_t *out)
{
	if (is_bits && !v->is_float) {
		*out = v->bits;
		return true;
	}
	switch (dtype) {
	case DT_F32:
		*out = f32_bits(v->f);
		return true;
	case DT_F64:
		memcpy(out, &v->f, 8);
		return true;
	case DT_F16:
		*out = f16_bits(v->f);
		return true;
	case DT_BF16:
		*out = bf16_bits(v->f);
		return true;
	default:
		if (is_bits) { /* a float whose single bits are wanted in an integer slot */
			*out = f32_bits(v->f);
			return true;
		}
		return pack_integer(dtype, v, out);
	}
}

void arg_default_strides(struct arg_slot *s)
{
	uint64_t stride = 1;

	for (uint32_t i = s->ndims; i-- > 0;) {
		s->stride[i] = stride > UINT32_MAX ? UINT32_MAX : (uint32_t)stride;
		stride = stride > UINT32_MAX ? stride : stride * (s->shape[i] ? s->shape[i] : 1);
	}
}

bool arg_extent_bytes(const struct arg_slot *s, uint64_t *bytes)
{
	uint64_t n = 1, bits = op_dtype_bits(s->dtype);
	bool is_empty = false;

	if (s->start_offset > ARG_MAX_BYTES)
		return false;
	for (uint32_t i = 0; i < s->ndims; i++) {
		is_empty = is_empty || s->shape[i] == 0;
		n += (s->shape[i] ? (uint64_t)s->shape[i] - 1 : 0) * s->stride[i];
		if (n > ARG_MAX_BYTES)
			return false;
	}
	n = is_empty ? 0 : n + s->start_offset;
	*bytes = (n * bits + 7) / 8;
	return *bytes <= ARG_MAX_BYTES;
}
