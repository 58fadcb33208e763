/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_buffers.c: the memory behind the tensors of a task. Known from the record itself, else from
 * deps.json of the same run; else each tensor gets a buffer of its own that holds its view.
 */
#include "dump/task_buffers.h"

#include <string.h>

#include "dump/deps.h"
#include "dump/gather.h"

struct known {
	uint64_t addr, size; /* 0: not known */
	uint8_t from;
};

/* What the records of a slot, or deps.json, say of its buffer. */
static struct known known_of(const struct task_args *a, const struct task_arg *arg)
{
	const struct dump *d = a->d;
	uint32_t record = arg->before != DUMP_NONE ? arg->before : arg->after;
	const struct dump_extra *x = dump_extra_of(d, record);
	const struct deps_task *task = deps_task_find(d->deps, a->id);
	const struct deps_arg *da = deps_arg_find(d->deps, task, arg->slot);
	const struct deps_tensor *t =
		da && da->has_tensor ? deps_tensor_find(d->deps, da->tensor_id) : NULL;
	struct known k = {.from = TASK_BUFFER_VIEWS};
	unsigned dtype;

	if (x && x->has_buffer && x->buffer_addr) {
		k.addr = x->buffer_addr;
		k.size = x->buffer_size;
		k.from = k.size ? TASK_BUFFER_STATED : TASK_BUFFER_VIEWS;
	}
	if (!t || k.size)
		return k;
	dtype = t->dtype != DTYPE_UNKNOWN ? t->dtype : arg->dtype;
	if (!__builtin_mul_overflow(t->buffer_numel, (uint64_t)dtype_bytes(dtype), &k.size) &&
		k.size)
		k.from = TASK_BUFFER_DEPS;
	else
		k.size = 0;
	if (!k.addr)
		k.addr = t->buffer_addr;
	return k;
}

/* Bytes from the buffer's start to the end of the view; 0 for an empty one. */
static uint64_t view_end(const struct task_arg *arg)
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
	struct task_arg *arg = &a->args.v[index];
	struct known k = known_of(a, arg);
	uint64_t end = view_end(arg);
	struct task_buffer b = {k.addr, k.size, k.from, false, index};

	for (size_t i = 0; k.addr && i < a->buffers.n; i++) {
		struct task_buffer *other = &a->buffers.v[i];

		if (other->addr != k.addr)
			continue;
		arg->buffer = (uint32_t)i;
		if (k.size > other->size || (k.size && other->from == TASK_BUFFER_VIEWS)) {
			other->size = k.size;
			other->from = k.from;
		}
		if (other->from == TASK_BUFFER_VIEWS && rounded(end) > other->size)
			other->size = rounded(end);
		return true;
	}
	if (b.from == TASK_BUFFER_VIEWS) {
		uint64_t reach = b.addr ? reach_of(a->d, b.addr) : 0;

		b.size = rounded(reach > end ? reach : end);
	}
	a->n_unknown += k.addr == 0;
	arg->buffer = (uint32_t)a->buffers.n;
	return VEC_PUSH(&a->buffers, b) || err_nomem(e);
}

static void note_overlaps(struct task_args *a)
{
	for (size_t i = 0; i < a->buffers.n; i++)
		for (size_t k = i + 1; k < a->buffers.n; k++) {
			struct task_buffer *x = &a->buffers.v[i], *y = &a->buffers.v[k];
			bool is_below = x->addr < y->addr;
			const struct task_buffer *low = is_below ? x : y, *high = is_below ? y : x;

			/* a size that was rounded up here says nothing about the next buffer */
			if (!low->addr || !high->addr || low->from == TASK_BUFFER_VIEWS ||
				high->addr - low->addr >= low->size)
				continue;
			x->is_overlapping = y->is_overlapping = true;
		}
}

bool task_buffers_find(struct task_args *a, struct incore_error *e)
{
	for (size_t i = 0; i < a->args.n; i++)
		if (a->args.v[i].kind == DUMP_TENSOR && !add_tensor(a, (uint32_t)i, e))
			return false;
	for (size_t i = 0; i < a->args.n; i++) {
		struct task_arg *arg = &a->args.v[i];

		if (arg->kind == DUMP_TENSOR && view_end(arg) > a->buffers.v[arg->buffer].size)
			arg->flags |= TASK_ARG_BEYOND;
	}
	note_overlaps(a);
	return true;
}
