/* SPDX-License-Identifier: Apache-2.0 */
/* gather.c: copies strided views in logical row-major order. */
#include "dump/gather.h"

#include <string.h>

bool view_measure(struct gather_view *v, uint64_t *end)
{
	uint64_t last = v->start, bytes;

	v->numel = 1;
	for (unsigned d = 0; d < v->rank; d++)
		if (v->shape[d] == 0)
			v->numel = 0;
	for (unsigned d = 0; d < v->rank && v->numel; d++)
		if (__builtin_mul_overflow(v->numel, v->shape[d], &v->numel))
			return false;
	if (__builtin_mul_overflow(v->numel, (uint64_t)v->elem_bytes, &bytes))
		return false;
	*end = v->start;
	if (v->numel == 0)
		return true;
	for (unsigned d = 0; d < v->rank; d++) {
		uint64_t reach;

		if (__builtin_mul_overflow(v->shape[d] - 1, v->strides[d], &reach) ||
			__builtin_add_overflow(last, reach, &last))
			return false;
	}
	if (__builtin_add_overflow(last, 1, end))
		return false;
	return !__builtin_mul_overflow(*end, (uint64_t)v->elem_bytes, &bytes);
}

bool view_make_dense(struct gather_view *v)
{
	uint64_t step = 1;

	for (unsigned d = v->rank; d-- > 0;) {
		v->strides[d] = step;
		if (v->shape[d] > 1 && __builtin_mul_overflow(step, v->shape[d], &step))
			return false;
	}
	return true;
}

bool view_is_dense(const struct gather_view *v)
{
	uint64_t step = 1;

	for (unsigned d = v->rank; d-- > 0;) {
		if (v->strides[d] != step)
			return false;
		if (__builtin_mul_overflow(step, v->shape[d], &step))
			return false;
	}
	return true;
}

void view_simplify(struct gather_view *v)
{
	unsigned n = 0;

	for (unsigned d = 0; d < v->rank; d++) {
		if (v->shape[d] == 1)
			continue;
		if (n > 0 && v->strides[n - 1] == v->shape[d] * v->strides[d]) {
			v->shape[n - 1] *= v->shape[d];
			v->strides[n - 1] = v->strides[d];
			continue;
		}
		v->shape[n] = v->shape[d];
		v->strides[n++] = v->strides[d];
	}
	v->rank = n;
}

/* Copies n elements that are `step` bytes apart. A constant size compiles to a load and a store. */
static uint8_t *copy_apart(
	uint8_t *dst, const uint8_t *src, uint64_t n, uint64_t step, unsigned elem_bytes)
{
	switch (elem_bytes) {
	case 1:
		for (uint64_t i = 0; i < n; i++)
			dst[i] = src[i * step];
		break;
	case 2:
		for (uint64_t i = 0; i < n; i++)
			memcpy(dst + 2 * i, src + i * step, 2);
		break;
	case 4:
		for (uint64_t i = 0; i < n; i++)
			memcpy(dst + 4 * i, src + i * step, 4);
		break;
	default:
		for (uint64_t i = 0; i < n; i++)
			memcpy(dst + 8 * i, src + i * step, 8);
		break;
	}
	return dst + n * elem_bytes;
}

static uint8_t *copy_run(
	uint8_t *dst, const uint8_t *src, uint64_t n, uint64_t stride, unsigned elem_bytes)
{
	if (stride != 1)
		return copy_apart(dst, src, n, stride * elem_bytes, elem_bytes);
	memcpy(dst, src, n * elem_bytes);
	return dst + n * elem_bytes;
}

void view_gather(const struct gather_view *v, uint64_t from, uint64_t n, uint8_t *dst)
{
	uint64_t index[LOG_MAX_RANK] = {0}, at = v->start, rest = from, inner, stride;
	unsigned last = v->rank ? v->rank - 1 : 0;

	inner = v->rank ? v->shape[last] : 1;
	stride = v->rank ? v->strides[last] : 1;
	for (unsigned d = v->rank; d-- > 0;) {
		index[d] = rest % v->shape[d];
		rest /= v->shape[d];
		at += index[d] * v->strides[d];
	}
	while (n > 0) {
		uint64_t run = inner - index[last];

		if (run > n)
			run = n;
		dst = copy_run(dst, v->base + at * v->elem_bytes, run, stride, v->elem_bytes);
		n -= run;
		if (n == 0)
			break;
		at -= index[last] * stride;
		index[last] = 0;
		for (unsigned d = last; d-- > 0;) {
			at += v->strides[d];
			if (++index[d] < v->shape[d])
				break;
			at -= v->shape[d] * v->strides[d];
			index[d] = 0;
		}
	}
}
