/* SPDX-License-Identifier: Apache-2.0 */
/* task_restore.c: logical bytes back through a strided view: the way in of what gather.c took out.
 */
#include <string.h>

#include "dump/read/task_args.h"

/* n elements to places `step` bytes apart. */
static void put_run(uint8_t *to, const uint8_t *from, uint64_t n, uint64_t step, unsigned elem)
{
	if (step == elem) {
		memcpy(to, from, n * elem);
		return;
	}
	for (uint64_t i = 0; i < n; i++)
		memcpy(to + i * step, from + i * elem, elem);
}

/* The first n elements in logical order; `to` is where element 0 goes. */
static void scatter(
	const struct dump_geometry *g, unsigned elem, const uint8_t *from, uint64_t n, uint8_t *to)
{
	uint64_t index[DUMP_MAX_RANK] = {0}, at = 0;
	unsigned last = g->rank ? g->rank - 1 : 0;
	uint64_t inner = g->rank ? g->shape[last] : 1, stride = g->rank ? g->strides[last] : 1;

	while (n > 0) {
		uint64_t run = inner < n ? inner : n;

		put_run(to + at * elem, from, run, stride * elem, elem);
		from += run * elem;
		n -= run;
		if (n == 0)
			break;
		for (unsigned d = last; d-- > 0;) {
			at += g->strides[d];
			if (++index[d] < g->shape[d])
				break;
			at -= g->shape[d] * g->strides[d];
			index[d] = 0;
		}
	}
}

bool task_arg_restore(
	const struct task_arg *a, uint8_t *buffer, uint64_t size, struct incore_error *e)
{
	unsigned elem = dtype_bytes(a->dtype);
	uint64_t n, end;

	if (a->kind != DUMP_TENSOR)
		return err_set(e, INCORE_BAD_INPUT, "not-a-tensor",
			"slot %u is a scalar: it has no buffer", a->slot);
	if (!a->bytes || !a->geometry.numel)
		return true;
	n = elem ? a->n_bytes / elem : 0;
	n = n < a->geometry.numel ? n : a->geometry.numel;
	if (!elem || !a->extent || __builtin_add_overflow(a->start_offset, a->extent, &end) ||
		end > size / elem)
		return err_set(e, INCORE_BAD_INPUT, "beyond-buffer",
			"slot %u: its view of %llu elements from element %llu leaves a buffer of "
			"%llu bytes",
			a->slot, (unsigned long long)a->extent, (unsigned long long)a->start_offset,
			(unsigned long long)size);
	scatter(&a->geometry, elem, a->bytes, n, buffer + a->start_offset * elem);
	return true;
}
