/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_buffers.c: the memory behind the tensors of a task. Known from the record itself or from
 * deps.json of the run; otherwise each tensor gets its own buffer that holds its view.
 */
#include "dump/read/task_buffers.h"

#include <string.h>

#include "dump/gather.h"
#include "dump/read/deps.h"

/* Bytes from the buffer's start to the end of the view; 0 for an empty one. */
static uint64_t view_end(const struct arg *arg)
{
	if (arg->flags & TASK_ARG_BEYOND || !arg->extent)
		return 0;
	return (arg->start_offset + arg->extent) * dtype_bytes(arg->dtype);
}

static uint64_t rounded(uint64_t n)
{
	uint64_t more = n + (TASK_BUFFER_ROUND - 1);

	return more < n ? n : more & ~(uint64_t)(TASK_BUFFER_ROUND - 1);
}

bool task_view_end(
	const struct dump_geometry *g, uint64_t start, unsigned elem_bytes, uint64_t *end)
{
	struct view v = {.start = start, .rank = g->rank, .elem_bytes = elem_bytes};

	memcpy(v.shape, g->shape, g->rank * sizeof(v.shape[0]));
	memcpy(v.strides, g->strides, g->rank * sizeof(v.strides[0]));
	return view_measure(&v, end);
}

/* The furthest that any view of the dump reaches into the buffer at addr, in bytes. */
static uint64_t reach_of(const struct dump *d, uint64_t addr)
{
	uint64_t most = 0;

	for (size_t i = 0; i < d->extras.n; i++) {
		const struct dump_record *r = &d->records.v[i];
		struct dump_geometry g;
		uint64_t end;

		if (d->extras.v[i].buffer_addr != addr || r->kind != DUMP_TENSOR)
			continue;
		dump_geometry_of(d, r, &g);
		if (!g.numel || !task_view_end(&g, r->start_offset, dtype_bytes(r->dtype), &end))
			continue;
		end *= dtype_bytes(r->dtype);
		most = end > most ? end : most;
	}
	return most;
}

static bool add_tensor(struct task_args *a, uint32_t index, struct incore_error *e)
{
	struct arg *arg = &a->args.v[index];
	uint64_t end = view_end(arg);
	struct arg_buffer b = {.is_size_known = true, .from = TASK_BUFFER_VIEWS};
	struct record_buffer k;

	if (record_buffer_of(a->d, arg->before != DUMP_NONE ? arg->before : arg->after, &k)) {
		b.addr = k.addr;
		b.n = k.size;
	}
	if (k.size)
		b.from = k.is_from_deps ? TASK_BUFFER_DEPS : TASK_BUFFER_STATED;
	for (size_t i = 0; b.addr && i < a->buffers.n; i++) {
		struct arg_buffer *other = &a->buffers.v[i];

		if (other->addr != b.addr)
			continue;
		arg->buffer = (uint32_t)i;
		if (b.n > other->n || (b.n && other->from == TASK_BUFFER_VIEWS)) {
			other->n = b.n;
			other->from = b.from;
		}
		if (other->from == TASK_BUFFER_VIEWS && rounded(end) > other->n)
			other->n = rounded(end);
		return true;
	}
	if (b.from == TASK_BUFFER_VIEWS) {
		uint64_t reach = b.addr ? reach_of(a->d, b.addr) : 0;

		b.n = rounded(reach > end ? reach : end);
	}
	a->n_unknown += b.addr == 0;
	arg->buffer = (uint32_t)a->buffers.n;
	return VEC_PUSH(&a->buffers, b) || err_nomem(e);
}

static void note_overlaps(struct task_args *a)
{
	for (size_t i = 0; i < a->buffers.n; i++)
		for (size_t k = i + 1; k < a->buffers.n; k++) {
			struct arg_buffer *x = &a->buffers.v[i], *y = &a->buffers.v[k];
			bool is_below = x->addr < y->addr;
			const struct arg_buffer *low = is_below ? x : y, *high = is_below ? y : x;

			/* a size rounded up here proves no overlap with the next buffer */
			if (!low->addr || !high->addr || low->from == TASK_BUFFER_VIEWS ||
				high->addr - low->addr >= low->n)
				continue;
			x->is_overlapping = y->is_overlapping = true;
		}
}

bool task_buffers_find(struct task_args *a, struct incore_error *e)
{
	for (size_t i = 0; i < a->args.n; i++)
		if (a->args.v[i].is_tensor && !add_tensor(a, (uint32_t)i, e))
			return false;
	EACH (struct arg, arg, a->args.v, a->args.n) {
		if (arg->is_tensor && view_end(arg) > a->buffers.v[arg->buffer].n)
			arg->flags |= TASK_ARG_BEYOND;
	}
	note_overlaps(a);
	return true;
}
