/* SPDX-License-Identifier: Apache-2.0 */
/* arguments.c: one task of a dump, laid out in slots and buffers. */
#include "replay/arguments/arguments.h"

#include <stdlib.h>

#include "dump/dtype.h"
#include "replay/arguments/value_parse.h"

void arguments_init(struct arguments *a)
{
	*a = (struct arguments){0};
	arena_init(&a->arena);
}

void arguments_deinit(struct arguments *a)
{
	for (size_t i = 0; i < a->buffers.n; i++)
		mem_free(a->buffers.v[i].p);
	VEC_FREE(&a->buffers);
	VEC_FREE(&a->rows);
	VEC_FREE(&a->blocks);
	VEC_FREE(&a->files);
	VEC_FREE(&a->remarks);
	arena_deinit(&a->arena);
}

static bool remark(struct arguments *a, struct incore_error *e, const char *text)
{
	return (text && VEC_PUSH(&a->remarks, text)) || err_nomem(e);
}

static bool is_dense(const struct dump_geometry *g)
{
	uint64_t want = 1;

	for (unsigned i = g->rank; i-- > 0;) {
		if (g->strides[i] != want)
			return false;
		want *= g->shape[i];
	}
	return true;
}

/* A rank above the descriptor's, or a number above its 32 bits, cannot be passed to a kernel. */
static bool take_geometry(
	const struct task_arg *t, struct replay_slot *s, uint64_t task, struct incore_error *e)
{
	if (t->geometry.rank > REPLAY_MAX_DIMS)
		return err_set(e, INCORE_BAD_INPUT, "bad-rank",
			"task 0x%016llx slot %u: a tensor of %u dimensions; a descriptor holds %u",
			(unsigned long long)task, t->slot, t->geometry.rank, REPLAY_MAX_DIMS);
	s->n_dims = t->geometry.rank ? t->geometry.rank : 1;
	s->shape[0] = s->strides[0] = 1;
	for (unsigned i = 0; i < t->geometry.rank; i++) {
		if (t->geometry.shape[i] > UINT32_MAX || t->geometry.strides[i] > UINT32_MAX)
			return err_set(e, INCORE_BAD_INPUT, "bad-shape",
				"task 0x%016llx slot %u: a dimension or stride beyond 32 bits",
				(unsigned long long)task, t->slot);
		s->shape[i] = (uint32_t)t->geometry.shape[i];
		s->strides[i] = (uint32_t)t->geometry.strides[i];
	}
	s->start_offset = t->start_offset;
	s->extent = t->extent;
	s->is_contiguous = is_dense(&t->geometry);
	return true;
}

static bool take_slot(struct arguments *a, const struct task_args *args, const struct task_arg *t,
	struct replay_slot *s, struct incore_error *e)
{
	*s = (struct replay_slot){.is_used = true,
		.is_tensor = t->kind == DUMP_TENSOR,
		.name = arena_printf(&a->arena, "arg%u", t->slot),
		.dtype = t->dtype,
		.bits = t->bits,
		.buffer = t->buffer == DUMP_NONE ? 0 : t->buffer,
		.is_read = t->role != DUMP_OUTPUT,
		.is_written = t->role != DUMP_INPUT};
	if (!s->name)
		return err_nomem(e);
	a->origin[t->slot] = t->kind == DUMP_SCALAR || t->bytes ? ARGUMENT_DUMP : ARGUMENT_NO_BYTES;
	return !s->is_tensor || take_geometry(t, s, args->id, e);
}

static bool restore(struct arguments *a, const struct task_args *args, struct incore_error *e)
{
	for (size_t i = 0; i < args->buffers.n; i++) {
		struct argument_bytes b = {.n = args->buffers.v[i].size};

		b.p = mem_zalloc(b.n ? b.n : 1, 1);
		if (!b.p || !VEC_PUSH(&a->buffers, b)) {
			mem_free(b.p);
			return err_nomem(e);
		}
	}
	for (size_t i = 0; i < args->args.n; i++) {
		const struct task_arg *t = &args->args.v[i];
		struct argument_bytes *b;

		if (t->kind != DUMP_TENSOR || !t->bytes || (t->flags & TASK_ARG_BAD))
			continue;
		b = &a->buffers.v[t->buffer];
		if (!task_arg_restore(t, b->p, b->n, e))
			return false;
		b->is_known = true;
	}
	return true;
}

/* What the dump does not say and the result depends on. */
static bool take_remarks(struct arguments *a, const struct task_args *args, struct incore_error *e)
{
	uint32_t n_sized = 0;

	for (size_t i = 0; i < args->buffers.n; i++)
		n_sized += args->buffers.v[i].from == TASK_BUFFER_VIEWS;
	if (n_sized && !remark(a, e,
			       arena_printf(&a->arena,
				       "size of %u buffer%s not stated: what the known views need, "
				       "rounded up to %u bytes",
				       n_sized, n_sized == 1 ? "" : "s", TASK_BUFFER_ROUND)))
		return false;
	if (args->n_unknown &&
		!remark(a, e,
			arena_printf(&a->arena,
				"%u tensor%s: nothing says which share a buffer (no deps.json), "
				"each has its own",
				args->n_unknown, args->n_unknown == 1 ? "" : "s")))
		return false;
	for (size_t i = 0; i < args->args.n; i++)
		if (args->args.v[i].flags & ~TASK_ARG_BAD &&
			!remark(a, e,
				arena_printf(&a->arena, "slot %u: %s", args->args.v[i].slot,
					task_arg_flag_text(args->args.v[i].flags & ~TASK_ARG_BAD))))
			return false;
	for (size_t i = 0; i < args->ignored.n; i++)
		if (!remark(a, e,
			    arena_printf(&a->arena,
				    "slot %u is left out: its records are of no stage that a "
				    "replay knows",
				    args->ignored.v[i])))
			return false;
	return true;
}

static bool refuse(
	struct arguments *a, const struct task_args *args, bool force, struct incore_error *e)
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
	ok = remark(a, e,
		arena_printf(&a->arena, "forced although %s", why.message ? why.message : ""));
	incore_error_clear(&why);
	return ok;
}

static bool add_row(struct arguments *a, struct dump *d, const struct task_args *whole, uint32_t t,
	uint32_t block, struct incore_error *e)
{
	struct argument_row row = {0};
	struct task_args own = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < whole->args.n; i++)
		ok = take_slot(a, whole, &whole->args.v[i], &row.slots[whole->args.v[i].slot], e);
	if (ok && block != whole->block) { /* scalars are each block's own */
		ok = task_args_init(&own, d, t, block, e);
		for (size_t i = 0; ok && i < own.args.n; i++)
			if (own.args.v[i].kind == DUMP_SCALAR)
				row.slots[own.args.v[i].slot].bits = own.args.v[i].bits;
		task_args_deinit(&own);
	}
	return ok && (VEC_PUSH(&a->rows, row) || err_nomem(e));
}

/* Scalars that differ from block to block are no defect where the dump says which is whose. */
static bool pass_block_scalars(
	struct task_args *whole, struct dump *d, uint32_t t, struct incore_error *e)
{
	struct task_args own = {0};
	bool ok = true, has_several = false;

	for (size_t i = 0; i < whole->args.n; i++)
		has_several |= whole->args.v[i].kind == DUMP_SCALAR &&
			       (whole->args.v[i].flags & TASK_ARG_SEVERAL);
	for (uint32_t b = 0; ok && has_several && b < whole->n_blocks; b++) {
		ok = task_args_init(&own, d, t, b, e);
		for (size_t i = 0; ok && i < own.args.n; i++)
			if (own.args.v[i].kind == DUMP_SCALAR)
				has_several &= own.is_block_stated &&
					       !(own.args.v[i].flags & TASK_ARG_SEVERAL);
		task_args_deinit(&own);
	}
	for (size_t i = 0; ok && has_several && i < whole->args.n; i++)
		if (whole->args.v[i].kind == DUMP_SCALAR)
			whole->args.v[i].flags &= ~(uint32_t)TASK_ARG_SEVERAL;
	return ok;
}

bool arguments_from_task(struct arguments *a, struct dump *d, uint32_t t, uint32_t block,
	bool force, struct incore_error *e)
{
	struct task_args whole = {0};
	uint32_t n_blocks = d->tasks.v[t].n_blocks ? d->tasks.v[t].n_blocks : 1;
	bool ok = task_args_init(&whole, d, t, block, e) &&
		  (block != DUMP_NONE || pass_block_scalars(&whole, d, t, e)) &&
		  refuse(a, &whole, force, e) && restore(a, &whole, e) &&
		  take_remarks(a, &whole, e);

	a->first_block = block == DUMP_NONE ? 0 : block;
	a->is_recorded = true;
	a->block_count = n_blocks;
	for (uint32_t b = 0; ok && b < (block == DUMP_NONE ? n_blocks : 1); b++)
		ok = add_row(a, d, &whole, t, block == DUMP_NONE && n_blocks > 1 ? b : block, e);
	task_args_deinit(&whole);
	return ok;
}

bool arguments_cover(
	const struct arguments *a, struct str masked, const char *source, struct incore_error *e)
{
	uint64_t read = kernel_slots_read(masked);
	struct strbuf missing = {0};

	for (uint32_t i = 0; i < REPLAY_LOCAL_CONTEXT; i++)
		if (read >> i & 1 && !(a->rows.n && a->rows.v[0].slots[i].is_used))
			sb_printf(&missing, "%s%u", missing.n ? ", " : "", i);
	if (!missing.n)
		return true;
	err_file(e, "missing-slot", source, INCORE_NO_OFFSET,
		"the kernel reads args[%s], and nothing supplies %s", missing.p ? missing.p : "",
		strchr(missing.p ? missing.p : "", ',') ? "them" : "it");
	sb_free(&missing);
	return false;
}

/* --- what the user sets --- */

static bool bad_slot(struct incore_error *e, const char *word, const char *why)
{
	return err_set(e, INCORE_USAGE, "bad-slot", "%s: %s", word, why);
}

static bool split_word(const char *word, uint32_t *slot, struct str *value, struct incore_error *e)
{
	const char *eq = strchr(word, '=');
	uint64_t n;

	if (!eq || !str_to_u64((struct str){word, (size_t)(eq - word)}, &n))
		return bad_slot(e, word, "expected SLOT=VALUE");
	if (n >= REPLAY_SLOTS)
		return bad_slot(e, word, "slots are 0 to 47");
	if (n >= REPLAY_LOCAL_CONTEXT)
		return bad_slot(e, word, "slots 48 and 49 are contexts, which are made, not set");
	*slot = (uint32_t)n;
	*value = str_of(eq + 1);
	return true;
}

/* Every element of the view; what else lies in the buffer stays. */
static void set_elements(const struct replay_slot *s, struct argument_bytes *b, uint64_t bits)
{
	unsigned size = dtype_bytes(s->dtype);
	uint32_t at[REPLAY_MAX_DIMS] = {0};
	bool is_empty = size == 0;

	for (uint32_t d = 0; d < s->n_dims; d++)
		is_empty |= s->shape[d] == 0;
	b->is_known = true;
	b->is_zero = false;
	while (!is_empty) {
		uint64_t k = s->start_offset;
		uint32_t d = s->n_dims;

		for (uint32_t i = 0; i < s->n_dims; i++)
			k += (uint64_t)at[i] * s->strides[i];
		if (k < b->n / size)
			memcpy(b->p + k * size, &bits, size);
		while (d > 0 && ++at[d - 1] == s->shape[d - 1])
			at[--d] = 0;
		if (d == 0)
			return;
	}
}

bool arguments_set(struct arguments *a, const char *word, struct incore_error *e)
{
	struct str value;
	uint32_t slot = 0;
	struct replay_slot *s;
	uint64_t bits;

	if (!split_word(word, &slot, &value, e))
		return false;
	s = a->rows.n ? &a->rows.v[0].slots[slot] : NULL;
	if (!s || !s->is_used)
		return bad_slot(e, word, "the task has no such slot");
	if (!value_parse(s->dtype, value, &bits))
		return err_set(e, INCORE_USAGE, "bad-value", "%s: no value of type %s", word,
			dtype_name(s->dtype));
	for (size_t i = 0; i < a->rows.n && !s->is_tensor; i++)
		a->rows.v[i].slots[slot].bits = bits;
	if (s->is_tensor)
		set_elements(s, &a->buffers.v[s->buffer], bits);
	a->origin[slot] = ARGUMENT_SET;
	a->is_recorded = false;
	return true;
}

bool arguments_need_restored(struct arguments *a, uint32_t slot, struct incore_error *e)
{
	const struct replay_slot *s =
		slot < REPLAY_SLOTS && a->rows.n ? &a->rows.v[0].slots[slot] : NULL;
	const char *why = !s || !s->is_used ? "the task has no such slot"
			  : !s->is_tensor   ? "it is a scalar: its bits are always those recorded"
			  : a->origin[slot] == ARGUMENT_SET ? "it is also set"
			  : !s->is_read ? "it is an output: nothing was there before"
			  : a->origin[slot] != ARGUMENT_DUMP ? "the dump holds no bytes of it"
							     : NULL;

	return !why || err_set(e, INCORE_BAD_INPUT, "not-restorable",
			       "slot %u cannot be restored: %s", slot, why);
}
