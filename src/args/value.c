/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value.c: values of arguments as bits and bytes.
 *
 * Parts: values as bits and bytes; bytes that an arg-spec describes.
 */
#include "args/value.h"

#include <math.h>
#include <stdlib.h>

#include "args/args.h"
#include "base/file.h"
#include "base/hash.h"

/* --- values as bits and bytes ----------------------------------------------------------------- */

unsigned arg_dtype_of(struct str name, bool *is_bits)
{
	if (str_is(name, "FLOAT32_BITS") || str_is(name, "FLOAT64_BITS")) {
		*is_bits = true;
		return str_is(name, "FLOAT32_BITS") ? DTYPE_FLOAT32 : DTYPE_FLOAT64;
	}
	return dtype_of_spec_name(name.p, name.n);
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

uint32_t float_bits(double v)
{
	float f = (float)v;
	uint32_t u;

	memcpy(&u, &f, 4);
	return u;
}

uint16_t half_bits(double v)
{
	double a = fabs(v);
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	int e;

	if (isnan(v))
		return (uint16_t)(sign | 0x7e00);
	if (a >= 65520)
		return (uint16_t)(sign | 0x7c00);
	frexp(a, &e);
	e = e < -13 ? -13 : e; /* subnormals share the smallest exponent */
	/* in units of the last place: 11 bits, the hidden bit adds to the exponent */
	return (uint16_t)(sign + (a == 0 ? 0
					 : (uint16_t)((e + 13) << 10) +
							 (uint16_t)nearbyint(ldexp(a, 11 - e))));
}

uint16_t bfloat_bits(double v)
{
	uint32_t u = float_bits(v);

	if (isnan(v))
		return (uint16_t)(u >> 16 | 0x40);
	return (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}

static bool pack_integer(unsigned dtype, const struct arg_number *v, uint64_t *out)
{
	unsigned bits = dtype == DTYPE_BOOL ? 1 : dtype_bits(dtype);
	bool is_signed = dtype_is_signed(dtype);
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
	case DTYPE_FLOAT32:
		*out = float_bits(v->f);
		return true;
	case DTYPE_FLOAT64:
		memcpy(out, &v->f, 8);
		return true;
	case DTYPE_FLOAT16:
		*out = half_bits(v->f);
		return true;
	case DTYPE_BFLOAT16:
		*out = bfloat_bits(v->f);
		return true;
	default:
		if (is_bits) { /* a float whose single-precision bits go into an integer slot */
			*out = float_bits(v->f);
			return true;
		}
		return pack_integer(dtype, v, out);
	}
}

/* --- values written by a user --- */

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

bool arg_value_parse(unsigned dtype, struct str text, uint64_t *bits)
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
		return arg_pack(dtype, false, &(struct arg_number){.is_float = true, .f = f}, bits);
	case DTYPE_BOOL:
		*bits = str_is(text, "true") || str_is(text, "1");
		return *bits || str_is(text, "false") || str_is(text, "0");
	case DTYPE_FP8E4M3FN:
	case DTYPE_FP8E8M0:
	case DTYPE_FP4E2M1:
		return false; /* only possible as bits */
	default:
		return parse_integer(dtype, text, bits);
	}
}

/* --- views --- */

void arg_default_strides(struct arg *s)
{
	uint64_t stride = 1;

	for (uint32_t i = s->n_dims; i-- > 0;) {
		s->strides[i] = stride > UINT32_MAX ? UINT32_MAX : stride;
		stride = stride > UINT32_MAX ? stride : stride * (s->shape[i] ? s->shape[i] : 1);
	}
}

bool arg_extent_bytes(const struct arg *s, uint64_t *bytes)
{
	uint64_t n = 1, bits = dtype_bits(s->dtype);
	bool is_empty = false;

	if (s->start_offset > ARG_MAX_BYTES)
		return false;
	for (uint32_t i = 0; i < s->n_dims; i++) {
		is_empty = is_empty || s->shape[i] == 0;
		n += (s->shape[i] ? s->shape[i] - 1 : 0) * s->strides[i];
		if (n > ARG_MAX_BYTES)
			return false;
	}
	n = is_empty ? 0 : n + s->start_offset;
	*bytes = (n * bits + 7) / 8;
	return *bytes <= ARG_MAX_BYTES;
}

/* --- bytes that an arg-spec describes --------------------------------------------------------- */

/* Makes the bytes of buffers that an arg-spec describes. */

double arg_noise(uint64_t place)
{
	return (double)(hash_mix64(place) >> 11) * 0x1p-52 - 1.0;
}

/* One element of a pattern: floats in [-1, 1) from the seed, or a value; integers keep the
 * value. */
static uint64_t arg_value_element(unsigned dtype, const struct arg_content *s, uint64_t i)
{
	double v =
		s->fill == FILL_VALUE ? s->value : arg_noise(s->seed * 0x9e3779b97f4a7c15u + i + 1);
	float f = (float)v;

	switch (dtype) {
	case DTYPE_FLOAT32:
		return float_bits(f);
	case DTYPE_FLOAT16:
		return half_bits(f);
	case DTYPE_BFLOAT16:
		return bfloat_bits(f);
	default:
		return s->fill == FILL_VALUE ? (uint64_t)(int64_t)v : 0;
	}
}

static bool fill_from_file(const struct arg *s, struct arg_buffer *b, struct incore_error *e)
{
	const struct arg_content *c = &s->content;
	uint64_t n = c->n_bytes ? c->n_bytes : b->n;
	struct file_data f = {0};
	bool ok = file_load(&f, c->path, e) || err_wrap(e, "data of slot %u", s->slot);

	if (ok && (c->off > f.size || n > f.size - c->off || n > b->n))
		ok = err_file(e, "truncated", c->path, c->off,
			"slot %u needs %llu bytes here, the file has %zu in all", s->slot,
			(unsigned long long)n, f.size);
	if (ok)
		memcpy(b->p, f.data + c->off, n);
	file_unload(&f);
	return ok;
}

static bool fill_buffer(const struct arg *s, struct arg_buffer *b, struct incore_error *e)
{
	const struct arg_content *c = &s->content;
	unsigned size = dtype_bytes(s->dtype);

	b->is_zero = !c->path && c->fill == FILL_ZERO;
	b->is_known = c->path || (c->is_filled && c->fill != FILL_NONE);
	if (c->path)
		return fill_from_file(s, b, e);
	for (uint64_t i = 0; b->is_known && !b->is_zero && size && (i + 1) * size <= b->n; i++) {
		uint64_t bits = arg_value_element(s->dtype, c, i);

		memcpy(b->p + i * size, &bits, size);
	}
	return true;
}

bool args_fill(struct args *a, struct incore_error *e)
{
	EACH (struct arg, s, a->slots, ARG_CONTEXT_SLOT) {
		struct arg_buffer *b;

		if (s->origin != ARG_SPEC)
			continue;
		s->dtype = (uint8_t)dtype_in_record(s->dtype);
		if (!s->is_tensor)
			continue;
		b = &a->buffers.v[s->buffer];
		if (b->p && !s->content.is_filled)
			continue; /* the first slot that shares it has filled it */
		if (!b->p)
			b->p = mem_zalloc(b->n ? b->n : 1, 1);
		if (!b->p)
			return err_nomem(e);
		b->is_size_known = true;
		if (!fill_buffer(s, b, e))
			return false;
	}
	return true;
}
