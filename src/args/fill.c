/* SPDX-License-Identifier: Apache-2.0 */
/* fill.c: makes the bytes of buffers that an arg-spec describes. */
#include "args/args.h"
#include "args/value.h"
#include "base/file.h"
#include "base/hash.h"

double arg_noise(uint64_t place)
{
	return (double)(hash_mix64(place) >> 11) * 0x1p-52 - 1.0;
}

/* One element of a pattern: floats in [-1, 1) from the seed, or a value; integers keep the
 * value. */
static uint64_t element(unsigned dtype, const struct arg_content *s, uint64_t i)
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
		uint64_t bits = element(s->dtype, c, i);

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
