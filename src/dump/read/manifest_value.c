/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_value.c: converts values of a record: a printed scalar to its slot bits, and both ways
 * to write a view to one geometry.
 */
#include <math.h>
#include <string.h>

#include "dump/read/manifest_record.h"

static bool reject(
	struct manifest_reader *m, const struct raw_record *x, const char *code, const char *text)
{
	m->r.value_at = m->r.start + x->rec.at;
	return json_reject(&m->r, code, "task 0x%llx slot %u: %s",
		(unsigned long long)x->rec.task_id, x->rec.slot, text);
}

static double as_real(const struct raw_value *v)
{
	switch (v->type) {
	case VALUE_REAL:
		return v->real;
	case VALUE_NULL:
		return (double)NAN;
	case VALUE_INFINITE:
		return v->is_negative ? -(double)INFINITY : (double)INFINITY;
	default:
		return v->is_negative ? -(double)v->magnitude : (double)v->magnitude;
	}
}

static uint64_t float_bits(double v)
{
	float f = (float)v;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return isnan(f) ? 0x7fc00000u : bits;
}

/* Like the slot: signed values wrap to their width and are then zero-extended. */
static bool integer_bits(struct manifest_reader *m, struct raw_record *x)
{
	const struct raw_value *v = &x->value;
	unsigned dtype = x->rec.dtype;
	unsigned width = 8 * dtype_bytes(dtype);
	uint64_t most = width && width < 64 ? (1ull << width) - 1 : UINT64_MAX;

	if (v->type != VALUE_INTEGER && v->type != VALUE_BOOL)
		return reject(m, x, "bad-value", "value: expected an integer");
	if (v->is_negative && v->magnitude) {
		if (!dtype_is_signed(dtype) || v->magnitude > most / 2 + 1)
			return reject(m, x, "out-of-range", "value: does not fit its dtype");
		x->rec.bits = -v->magnitude & most;
		return true;
	}
	/* types without a printed form are written as the raw slot */
	if ((dtype == DTYPE_INT32 || dtype == DTYPE_UINT32 || dtype == DTYPE_BOOL) &&
		v->magnitude > most)
		return reject(m, x, "out-of-range", "value: does not fit its dtype");
	x->rec.bits = v->magnitude;
	return true;
}

bool record_scalar_bits(struct manifest_reader *m, struct raw_record *x)
{
	struct dump_record *r = &x->rec;

	if (r->dtype != DTYPE_UINT64)
		m->seen.has_typed_scalar = true;
	if (x->value.type != VALUE_NONE)
		r->flags |= DUMP_HAS_VALUE;
	if (x->value.type == VALUE_BITS || x->seen >> KEY_RAW & 1) {
		r->bits = x->value.type == VALUE_BITS ? x->value.magnitude : x->raw;
		r->flags |= DUMP_EXACT | DUMP_HAS_VALUE;
		return true;
	}
	if (x->value.type == VALUE_NONE)
		return true; /* a defect that `check` reports */
	if (r->dtype == DTYPE_FLOAT32) {
		r->bits = float_bits(as_real(&x->value));
		m->seen.has_inexact = true;
		return true;
	}
	r->flags |= DUMP_EXACT;
	return integer_bits(m, x);
}

/* Converts raw_shape and offsets to strides and start_offset. */
static bool convert_view(struct raw_record *x)
{
	uint64_t stride = 1, start = 0, step;

	x->strides.n = x->raw_shape.n;
	for (unsigned d = x->raw_shape.n; d-- > 0;) {
		uint64_t off = d < x->offsets.n ? x->offsets.v[d] : 0;

		x->strides.v[d] = stride;
		if (__builtin_mul_overflow(off, stride, &step) ||
			__builtin_add_overflow(start, step, &start) ||
			__builtin_mul_overflow(stride, x->raw_shape.v[d], &stride))
			return false;
	}
	x->rec.start_offset = start;
	return true;
}

/* Do the extent of the view (from the start of the buffer) and the size of the data fit 64 bits? */
static bool sizes_fit(const struct raw_record *x)
{
	uint64_t numel = 1, end = x->rec.start_offset, step, bytes;
	uint64_t size = dtype_bytes(x->rec.dtype);
	bool is_empty = false;

	for (unsigned d = 0; d < x->shape.n; d++)
		is_empty |= x->shape.v[d] == 0;
	for (unsigned d = 0; !is_empty && d < x->shape.n; d++) {
		if (__builtin_mul_overflow(numel, x->shape.v[d], &numel) ||
			__builtin_mul_overflow(x->shape.v[d] - 1, x->strides.v[d], &step) ||
			__builtin_add_overflow(end, step, &end))
			return false;
	}
	return !__builtin_mul_overflow(numel, size ? size : 1, &bytes) &&
	       !__builtin_mul_overflow(end, size ? size : 1, &bytes);
}

bool record_geometry(struct manifest_reader *m, struct raw_record *x)
{
	uint64_t words[1 + 2 * DUMP_MAX_RANK];
	unsigned n = x->shape.n;

	if (x->seen >> KEY_RAW_SHAPE & 1) {
		if (x->raw_shape.n != n || (x->offsets.n && x->offsets.n != n))
			return reject(m, x, "bad-value",
				"raw_shape and offsets have another rank than shape");
		if (!convert_view(x))
			return reject(m, x, "out-of-range", "the view overflows 64 bits");
	} else if (!(x->seen >> KEY_STRIDES & 1)) {
		uint64_t stride = 1;

		for (unsigned d = n; d-- > 0;) {
			x->strides.v[d] = stride;
			if (__builtin_mul_overflow(stride, x->shape.v[d], &stride))
				return reject(m, x, "out-of-range", "the shape overflows 64 bits");
		}
	} else if (x->strides.n != n) {
		return reject(m, x, "bad-value", "strides have another rank than shape");
	}
	if (!sizes_fit(x))
		return reject(m, x, "out-of-range", "shape, strides or offset overflow 64 bits");
	words[0] = n;
	memcpy(words + 1, x->shape.v, n * sizeof(words[0]));
	memcpy(words + 1 + n, x->strides.v, n * sizeof(words[0]));
	x->rec.geometry = intern_add(&m->d->geometries,
		(struct str){(const char *)words, (1 + 2 * (size_t)n) * sizeof(words[0])});
	return x->rec.geometry != INTERN_NONE || reject(m, x, "no-memory", "out of memory");
}
