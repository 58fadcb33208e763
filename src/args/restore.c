/* SPDX-License-Identifier: Apache-2.0 */
/* restore.c: writes recorded bytes back through a strided view, the inverse of a dump's
 * gathering. */
#include "args/args.h"

/* Writes n elements `step` bytes apart. */
static void put_elements(uint8_t *to, const uint8_t *from, uint64_t n, uint64_t step, unsigned elem)
{
	if (step == elem) {
		memcpy(to, from, n * elem);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		memcpy(to + i * step, from + i * elem, elem);
}

/* Writes the first n elements in logical order; `to` is the place of element 0. */
static void scatter(const struct arg *a, unsigned elem, uint64_t n, uint8_t *to)
{
	uint64_t index[ARG_MAX_DIMS] = {0}, at = 0;
	unsigned last = a->n_dims ? a->n_dims - 1 : 0;
	uint64_t inner = a->n_dims ? a->shape[last] : 1, stride = a->n_dims ? a->strides[last] : 1;
	const uint8_t *from = a->bytes;

	while (n > 0) {
		uint64_t run = inner < n ? inner : n;

		put_elements(to + at * elem, from, run, stride * elem, elem);
		from += run * elem;
		n -= run;
		if (n == 0)
			break;
		for (unsigned d = last; d-- > 0;) {
			at += a->strides[d];
			if (++index[d] < a->shape[d])
				break;
			at -= a->shape[d] * a->strides[d];
			index[d] = 0;
		}
	}
}

/* Counts the elements of the view; false on overflow of 64 bits. */
static bool count_elements(const struct arg *a, uint64_t *n)
{
	*n = 1;
	for (uint32_t d = 0; d < a->n_dims; d++)
		if (__builtin_mul_overflow(*n, a->shape[d], n))
			return false;
	return true;
}

bool arg_restore(const struct arg *a, uint8_t *buffer, uint64_t size, struct incore_error *e)
{
	unsigned elem = dtype_bytes(a->dtype);
	uint64_t n, numel, end;

	if (!a->is_tensor)
		return err_set(e, INCORE_BAD_INPUT, "not-a-tensor",
			"slot %u is a scalar: it has no buffer", a->slot);
	if (!count_elements(a, &numel))
		numel = UINT64_MAX; /* more than there are bytes */
	if (!a->bytes || !numel)
		return true;
	n = elem ? a->n_bytes / elem : 0;
	n = n < numel ? n : numel;
	if (!elem || !a->extent || __builtin_add_overflow(a->start_offset, a->extent, &end) ||
		end > size / elem)
		return err_set(e, INCORE_BAD_INPUT, "beyond-buffer",
			"slot %u: its view of %llu elements from element %llu leaves a buffer of %llu bytes",
			a->slot, (unsigned long long)a->extent, (unsigned long long)a->start_offset,
			(unsigned long long)size);
	scatter(a, elem, n, buffer + a->start_offset * elem);
	return true;
}
