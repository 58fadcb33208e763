/* SPDX-License-Identifier: Apache-2.0 */
/* task_args.c: the slots of one task, merged over both stages; before takes precedence. */
#include "dump/read/task_args.h"

#include "base/crc32c.h"
#include "dump/read/deps.h"
#include "dump/read/task_buffers.h"

/* The copy of this block, or DUMP_NONE if the dump does not state it. */
static uint32_t copy_of_block(const struct dump *d, const struct dump_slot *s, uint32_t block)
{
	for (uint32_t i = 0; i < s->n_before; i++)
		if (dump_block_of(d, d->order[s->first + i]) == block)
			return d->order[s->first + i];
	return DUMP_NONE;
}

static uint32_t flags_of_record(const struct dump_record *r)
{
	uint32_t flags = 0;

	if (r->flags & DUMP_TRUNCATED)
		flags |= TASK_ARG_TRUNCATED;
	if (r->flags & DUMP_OVERWRITTEN)
		flags |= TASK_ARG_OVERWRITTEN;
	if (r->flags & (DUMP_LOST | DUMP_OUT_OF_FILE))
		flags |= TASK_ARG_LOST;
	return flags;
}

/* Do all copies of a slot agree about it? */
static bool copies_agree(const struct dump *d, const struct dump_slot *s)
{
	const struct dump_record *a = &d->records.v[d->order[s->first]];

	for (uint32_t i = 1; i < s->n_before + s->n_after; i++) {
		const struct dump_record *b = &d->records.v[d->order[s->first + i]];

		if (a->kind != b->kind || a->dtype != b->dtype || a->role != b->role ||
			a->geometry != b->geometry || a->start_offset != b->start_offset)
			return false;
	}
	return true;
}

static void fill_bytes(const struct dump *d, struct arg *a, uint64_t numel)
{
	const struct dump_record *r = &d->records.v[a->before];

	if (!dump_payload(d, a->before, &a->bytes, &a->n_bytes, NULL))
		a->flags |= TASK_ARG_LOST;
	if (a->n_bytes > dump_full_size(d, a->before))
		a->flags |= TASK_ARG_CONFLICT;
	else if (a->n_bytes && a->n_bytes < dump_full_size(d, a->before))
		a->flags |= TASK_ARG_TRUNCATED; /* even if it is not flagged */
	if (a->bytes && (r->flags & DUMP_HAS_CRC) && crc32c(0, a->bytes, a->n_bytes) != r->crc32c)
		a->flags |= TASK_ARG_CHECKSUM;
	if (!a->bytes && numel &&
		!(a->flags & (TASK_ARG_TRUNCATED | TASK_ARG_OVERWRITTEN | TASK_ARG_LOST)))
		a->flags |= TASK_ARG_NO_BYTES;
}

static void fill_tensor(const struct dump *d, struct arg *a, const struct dump_record *r)
{
	struct dump_geometry g;
	uint64_t end;

	dump_geometry_of(d, r, &g);
	a->n_dims = g.rank;
	memcpy(a->shape, g.shape, g.rank * sizeof(g.shape[0]));
	memcpy(a->strides, g.strides, g.rank * sizeof(g.strides[0]));
	arg_measure(a); /* determines density; the extent is checked below */
	a->extent = 0;
	a->start_offset = r->start_offset;
	if (!dtype_bytes(r->dtype))
		a->flags |= TASK_ARG_NO_TYPE;
	if (!task_view_end(&g, r->start_offset, dtype_bytes(r->dtype), &end))
		a->flags |= TASK_ARG_BEYOND;
	else
		a->extent = end - r->start_offset;
	if (a->before != DUMP_NONE)
		fill_bytes(d, a, g.numel);
	else if (r->role != DUMP_OUTPUT)
		a->flags |= TASK_ARG_NO_BEFORE;
}

static void fill_arg(struct task_args *all, const struct dump_slot *s, struct arg *a)
{
	const struct dump *d = all->d;
	uint32_t of_block = all->block == DUMP_NONE ? DUMP_NONE : copy_of_block(d, s, all->block);
	const struct dump_record *r;

	*a = (struct arg){.is_used = true,
		.slot = s->index,
		.name = "",
		.before = s->before,
		.buffer = DUMP_NONE};
	a->after = dump_slot_after(d, s);
	if (of_block != DUMP_NONE) {
		a->before = of_block;
		all->is_block_stated = true;
	} else if (s->choice == DUMP_CHOICE_AMBIGUOUS) {
		a->flags |= TASK_ARG_SEVERAL;
	}
	r = &d->records.v[a->before != DUMP_NONE ? a->before : a->after];
	a->is_tensor = r->kind == DUMP_TENSOR;
	a->is_read = r->role != DUMP_OUTPUT;
	a->is_written = r->role != DUMP_INPUT;
	a->dtype = r->dtype;
	if (of_block == DUMP_NONE && !copies_agree(d, s))
		a->flags |= TASK_ARG_CONFLICT;
	if (r->flags & DUMP_AMBIGUOUS)
		a->flags |= TASK_ARG_AMBIGUOUS;
	if (r->flags & DUMP_INCOMPLETE)
		a->flags |= TASK_ARG_INCOMPLETE;
	if (a->after != DUMP_NONE && (d->records.v[a->after].flags & DUMP_TORN))
		a->flags |= TASK_ARG_TORN;
	if (a->is_tensor) {
		if (a->before != DUMP_NONE)
			a->flags |= flags_of_record(r);
		fill_tensor(d, a, r);
		a->origin = a->bytes ? ARG_DUMP : ARG_NO_BYTES;
		return;
	}
	a->origin = ARG_DUMP;
	a->bits = r->bits;
	if (!(r->flags & DUMP_HAS_VALUE))
		a->flags |= TASK_ARG_NO_VALUE;
	else if (!(r->flags & DUMP_EXACT))
		a->flags |= TASK_ARG_INEXACT;
}

static bool add_slot(struct task_args *all, const struct dump_slot *s, struct incore_error *e)
{
	const struct dump *d = all->d;
	const struct dump_record *r = &d->records.v[d->order[s->first]];
	struct arg a;

	if (s->index >= ARG_SLOTS)
		return err_file(e, "bad-slot", d->manifest, r->at,
			"task 0x%016llx: slot %u; the argument array has slots 0 to %d",
			(unsigned long long)all->id, s->index, ARG_SLOTS - 1);
	if (s->index >= ARG_CONTEXT_SLOT)
		return true;
	if (s->n_before + s->n_after == 0)
		return VEC_PUSH(&all->ignored, s->index) || err_nomem(e);
	fill_arg(all, s, &a);
	return VEC_PUSH(&all->args, a) || err_nomem(e);
}

/* Slots are 0 .. n-1; their number follows from the highest one, the producer's count, or
 * deps.json. */
static bool find_missing(struct task_args *all, const struct dump_task *t, struct incore_error *e)
{
	const struct dump *d = all->d;
	const struct dump_extra *x = dump_extra_of(d, d->order[t->first_copy]);
	const struct deps_task *known = deps_task_find(d->deps, t->id);
	uint64_t want = all->args.n ? all->args.v[all->args.n - 1].slot + 1ull : 0;
	size_t at = 0;

	if (x && x->tensor_count != DUMP_NONE && x->scalar_count != DUMP_NONE &&
		(uint64_t)x->tensor_count + x->scalar_count > want)
		want = (uint64_t)x->tensor_count + x->scalar_count;
	for (uint32_t i = 0; known && i < known->n_args; i++) {
		uint64_t next = d->deps->args.v[known->first_arg + i].slot + 1ull;

		want = next > want ? next : want;
	}
	if (want > ARG_CONTEXT_SLOT)
		want = ARG_CONTEXT_SLOT;
	for (uint32_t slot = 0; slot < want; slot++) {
		if (at < all->args.n && all->args.v[at].slot == slot)
			at++;
		else if (!VEC_PUSH(&all->missing, slot))
			return err_nomem(e);
	}
	return true;
}

bool task_args_init(
	struct task_args *a, struct dump *d, uint32_t t, uint32_t block, struct incore_error *e)
{
	const struct dump_task *task = &d->tasks.v[t];

	*a = (struct task_args){.d = d, .id = task->id, .n_blocks = task->n_blocks, .block = block};
	a->n_members = dump_members_of(d, task->members, a->members);
	if (block != DUMP_NONE && block >= task->n_blocks)
		return err_set(e, INCORE_USAGE, "no-such-block",
			"task 0x%016llx has no block %u: it ran as %u",
			(unsigned long long)task->id, block, task->n_blocks);
	if (!dump_choose(d, e))
		return false;
	for (uint32_t i = 0; i < task->n_slots; i++)
		if (!add_slot(a, &d->slots.v[task->first_slot + i], e))
			return false;
	return find_missing(a, task, e) && task_buffers_find(a, e);
}

void task_args_deinit(struct task_args *a)
{
	VEC_FREE(&a->args);
	VEC_FREE(&a->missing);
	VEC_FREE(&a->ignored);
	VEC_FREE(&a->buffers);
}

const struct arg *task_arg_find(const struct task_args *a, uint32_t slot)
{
	for (size_t i = 0; i < a->args.n; i++)
		if (a->args.v[i].slot == slot)
			return &a->args.v[i];
	return NULL;
}

const char *task_arg_flag_text(uint32_t flags)
{
	static const char *const texts[] = {"its payload is cut short",
		"its payload was overwritten before it was saved",
		"it was selected by a value that was passed twice",
		"its before copies differ, and nothing tells which is the state before the task",
		"its payload is lost", "its payload does not have the checksum that was recorded",
		"its records disagree about what it is",
		"the kernel reads it, but it was only recorded after completion",
		"it is a scalar without a value", "its view leaves its buffer",
		"its dtype is not known", "the producer marked its task as incomplete",
		"it was recorded without payload", "its value went through 6 digits",
		"it was copied while the task was still running"};

	for (unsigned i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (flags >> i & 1)
			return texts[i];
	return "";
}

bool task_args_refuse(const struct task_args *a, struct incore_error *e)
{
	const struct dump *d = a->d;

	if (a->missing.n)
		return err_file(e, "missing-slot", d->manifest, INCORE_NO_OFFSET,
			"task 0x%016llx: slot %u is missing", (unsigned long long)a->id,
			a->missing.v[0]);
	EACH (const struct arg, arg, a->args.v, a->args.n) {
		uint32_t record = arg->before != DUMP_NONE ? arg->before : arg->after;

		if (arg->flags & TASK_ARG_BAD)
			return err_file(e, "bad-slot", d->manifest, d->records.v[record].at,
				"task 0x%016llx slot %u: %s", (unsigned long long)a->id, arg->slot,
				task_arg_flag_text(arg->flags & TASK_ARG_BAD));
	}
	return true;
}
