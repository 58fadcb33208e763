/* SPDX-License-Identifier: Apache-2.0 */
/* task_load.c: one task of a dump, laid out in slots and buffers. */
#include "base/mem.h"
#include "dump/read/task_args.h"

/* A rank above the descriptor's, or a number above its 32 bits, cannot be passed to a kernel. */
static bool fits_descriptor(const struct arg *s, uint64_t task, struct incore_error *e)
{
	if (s->n_dims > ARG_DESCRIPTOR_DIMS)
		return err_set(e, INCORE_BAD_INPUT, "bad-rank",
			"task 0x%016llx slot %u: a tensor of %u dimensions; a descriptor holds %u",
			(unsigned long long)task, s->slot, s->n_dims, ARG_DESCRIPTOR_DIMS);
	for (unsigned i = 0; i < s->n_dims; i++)
		if (s->shape[i] > UINT32_MAX || s->strides[i] > UINT32_MAX)
			return err_set(e, INCORE_BAD_INPUT, "bad-shape",
				"task 0x%016llx slot %u: a dimension or stride beyond 32 bits",
				(unsigned long long)task, s->slot);
	return true;
}

static bool load_slot(struct args *a, uint64_t task, const struct arg *t, struct incore_error *e)
{
	struct arg *s = &a->slots[t->slot];

	*s = *t;
	s->bytes = NULL; /* owned by the dump; now copied to the buffer */
	s->n_bytes = 0;
	s->name = arena_printf(&a->arena, "arg%u", t->slot);
	if (!s->name)
		return err_nomem(e);
	if (!s->is_tensor) {
		s->buffer = 0;
		return true;
	}
	if (!s->n_dims) { /* a descriptor has at least one dimension */
		s->n_dims = 1;
		s->shape[0] = s->strides[0] = 1;
	}
	return fits_descriptor(s, task, e);
}

static bool load_buffers(struct args *a, const struct task_args *args, struct incore_error *e)
{
	for (size_t i = 0; i < args->buffers.n; i++) {
		struct arg_buffer b = args->buffers.v[i];
		uint32_t index;

		b.p = mem_zalloc(b.n ? b.n : 1, 1);
		if (!b.p)
			return err_nomem(e);
		if (!args_add_buffer(a, &b, &index, e))
			return false;
	}
	EACH (const struct arg, t, args->args.v, args->args.n) {
		struct arg_buffer *b;

		if (!t->is_tensor || !t->bytes || (t->flags & TASK_ARG_BAD))
			continue;
		b = &a->buffers.v[t->buffer];
		if (!arg_restore(t, b->p, b->n, e))
			return false;
		b->is_known = true;
	}
	return true;
}

/* Adds remarks on what the result depends on but the dump does not state. */
static bool load_remarks(struct args *a, const struct task_args *args, struct incore_error *e)
{
	uint32_t n_sized = 0;
	bool ok = true;

	for (size_t i = 0; i < args->buffers.n; i++)
		n_sized += args->buffers.v[i].from == TASK_BUFFER_VIEWS;
	if (n_sized)
		ok = args_remark(a,
			arena_printf(&a->arena,
				"size of %u buffer%s not stated: what the known views need, rounded up to %u bytes",
				n_sized, n_sized == 1 ? "" : "s", TASK_BUFFER_ROUND),
			e);
	if (ok && args->n_unknown)
		ok = args_remark(a,
			arena_printf(&a->arena,
				"%u tensor%s: nothing says which share a buffer (no deps.json), each has its own",
				args->n_unknown, args->n_unknown == 1 ? "" : "s"),
			e);
	for (size_t i = 0; ok && i < args->args.n; i++) {
		uint32_t flags = args->args.v[i].flags & ~TASK_ARG_BAD;

		if (flags)
			ok = args_remark(a,
				arena_printf(&a->arena, "slot %u: %s", args->args.v[i].slot,
					task_arg_flag_text(flags)),
				e);
	}
	for (size_t i = 0; ok && i < args->ignored.n; i++)
		ok = args_remark(a,
			arena_printf(&a->arena,
				"slot %u is left out: its records are of no stage that a replay knows",
				args->ignored.v[i]),
			e);
	return ok;
}

static bool refuse_defects(
	struct args *a, const struct task_args *args, bool force, struct incore_error *e)
{
	struct incore_error why = {0};
	bool ok = task_args_refuse(args, &why);

	if (ok)
		return true;
	if (!force) {
		err_move(e, &why);
		return false;
	}
	a->is_forced = true;
	ok = args_remark(a,
		arena_printf(&a->arena, "forced although %s", why.message ? why.message : ""), e);
	incore_error_clear(&why);
	return ok;
}

/* Loads the scalars of one block. */
static bool load_row(
	struct args *a, struct dump *d, uint32_t t, uint32_t block, struct incore_error *e)
{
	struct task_args own = {0};
	bool ok = task_args_init(&own, d, t, block, e);

	for (size_t i = 0; ok && i < own.args.n; i++)
		if (!own.args.v[i].is_tensor)
			a->rows.v[block].bits[own.args.v[i].slot] = own.args.v[i].bits;
	task_args_deinit(&own);
	return ok;
}

/* Scalars that differ between blocks are not a defect if the dump states their blocks. */
static bool pass_block_scalars(
	struct task_args *whole, struct dump *d, uint32_t t, struct incore_error *e)
{
	struct task_args own = {0};
	bool ok = true, has_several = false;

	for (size_t i = 0; i < whole->args.n; i++)
		has_several |=
			!whole->args.v[i].is_tensor && (whole->args.v[i].flags & TASK_ARG_SEVERAL);
	for (uint32_t b = 0; ok && has_several && b < whole->n_blocks; b++) {
		ok = task_args_init(&own, d, t, b, e);
		for (size_t i = 0; ok && i < own.args.n; i++)
			if (!own.args.v[i].is_tensor)
				has_several &= own.is_block_stated &&
					       !(own.args.v[i].flags & TASK_ARG_SEVERAL);
		task_args_deinit(&own);
	}
	for (size_t i = 0; ok && has_several && i < whole->args.n; i++)
		if (!whole->args.v[i].is_tensor)
			whole->args.v[i].flags &= ~(uint32_t)TASK_ARG_SEVERAL;
	return ok;
}

static bool load_rows(
	struct args *a, struct dump *d, uint32_t t, uint32_t block, struct incore_error *e)
{
	uint32_t n_blocks = d->tasks.v[t].n_blocks ? d->tasks.v[t].n_blocks : 1;
	bool is_one = block != DUMP_NONE || n_blocks == 1; /* the slots already have its scalars */

	if (!args_spread(a, is_one ? 1 : n_blocks, e))
		return false;
	a->first_block = block == DUMP_NONE ? 0 : block;
	a->block_count = n_blocks;
	for (uint32_t b = 0; !is_one && b < n_blocks; b++)
		if (!load_row(a, d, t, b, e))
			return false;
	for (uint32_t i = 0; i < ARG_SLOTS; i++)
		a->slots[i].bits = a->rows.v[0].bits[i];
	return true;
}

bool task_args_load(struct args *a, struct dump *d, uint32_t t, uint32_t block, bool force,
	struct incore_error *e)
{
	struct task_args whole = {0};
	bool ok = task_args_init(&whole, d, t, block, e);

	if (ok && block == DUMP_NONE)
		ok = pass_block_scalars(&whole, d, t, e);
	ok = ok && refuse_defects(a, &whole, force, e) && load_buffers(a, &whole, e) &&
	     load_remarks(a, &whole, e);
	for (size_t i = 0; ok && i < whole.args.n; i++)
		ok = load_slot(a, whole.id, &whole.args.v[i], e);
	ok = ok && load_rows(a, d, t, block, e);
	a->is_recorded = true;
	task_args_deinit(&whole);
	return ok;
}
