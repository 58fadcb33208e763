/* SPDX-License-Identifier: Apache-2.0 */
/*
 * task_args.c: finds a task of a dump and restores its arguments. Parts: finding a task; buffers;
 * arguments; loading them.
 */
#include "dump/read/task_args.h"

#include <stdio.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/mem.h"
#include "base/str.h"
#include "dump/gather.h"
#include "dump/read/deps.h"

/* --- finding a task --------------------------------------------------------------------------- */

/*
 * Finds the selected task; errors for no match or several list the candidates.
 */

#define MOST_LISTED 12

static bool has_member(const int32_t *ids, unsigned n, int32_t id)
{
	for (unsigned i = 0; i < n; i++)
		if (ids[i] == id)
			return true;
	return false;
}

/* Has the task exactly these members, ignoring order and repetition? */
static bool has_members(const struct dump *d, const struct dump_task *t, const struct task_query *q)
{
	int32_t ids[DUMP_MAX_MEMBERS];
	unsigned n = dump_members_of(d, t->members, ids);

	for (unsigned i = 0; i < q->n_funcs; i++)
		if (!has_member(ids, n, q->funcs[i]))
			return false;
	for (unsigned i = 0; i < n; i++)
		if (ids[i] >= 0 && !has_member(q->funcs, q->n_funcs, ids[i]))
			return false;
	return true;
}

static bool has_dispatch(const struct dump *d, const struct dump_task *t, uint64_t dispatch)
{
	for (uint32_t i = 0; i < t->n_copies; i++) {
		const struct dump_extra *x = dump_extra_of(d, d->order[t->first_copy + i]);

		if (x && x->has_dispatch && x->dispatch_id == dispatch)
			return true;
	}
	return false;
}

static bool has_value(
	const struct dump *d, const struct dump_task *t, const struct task_where *where)
{
	const struct dump_slot *s = dump_slot_find(d, t, where->slot);

	for (uint32_t i = 0; s && i < s->n; i++) {
		const struct dump_record *r = &d->records.v[d->order[s->first + i]];

		if (r->kind == DUMP_SCALAR && (r->flags & DUMP_HAS_VALUE) && r->bits == where->bits)
			return true;
	}
	return false;
}

/* Bit i: the task has slot i. */
static uint64_t slots_of(const struct dump *d, const struct dump_task *t)
{
	uint64_t slots = 0;

	for (uint32_t i = 0; i < t->n_slots; i++)
		if (d->slots.v[t->first_slot + i].index < ARG_CONTEXT_SLOT)
			slots |= UINT64_C(1) << d->slots.v[t->first_slot + i].index;
	return slots;
}

static bool is_kernel(const struct dump *d, const struct dump_task *t, const char *name)
{
	return t->n_copies && str_is(dump_kernel_of(d, d->order[t->first_copy]), name);
}

static bool is_meant(const struct dump *d, const struct dump_task *t, const struct task_query *q)
{
	if ((q->has_task && t->id != q->task) ||
		(q->has_dispatch && !has_dispatch(d, t, q->dispatch)) ||
		(q->block != DUMP_NONE && q->block >= t->n_blocks) ||
		(q->n_funcs && !has_members(d, t, q)))
		return false;
	for (unsigned i = 0; i < q->n_where; i++)
		if (!has_value(d, t, &q->where[i]))
			return false;
	return (!q->kernel || is_kernel(d, t, q->kernel)) &&
	       (!q->slots || slots_of(d, t) == q->slots);
}

bool task_find(
	const struct dump *d, const struct task_query *q, task_list *out, struct incore_error *e)
{
	for (size_t i = 0; i < d->tasks.n; i++)
		if (is_meant(d, &d->tasks.v[i], q) && !VEC_PUSH(out, (uint32_t)i))
			return err_nomem(e);
	return true;
}

static void put_set(struct strbuf *b, const struct dump *d, uint32_t members)
{
	int32_t ids[DUMP_MAX_MEMBERS];
	unsigned n = dump_members_of(d, members, ids);

	for (unsigned i = 0; i < n; i++)
		sb_printf(b, "%s%d", i ? "," : "", (int)ids[i]);
	if (!n)
		sb_puts(b, "not stated");
}

/* " {0,1,2} (4 tasks), {3} (4 tasks)": the member sets in order of first occurrence. */
static void put_sets(struct strbuf *b, const struct dump *d)
{
	uint32_t seen[MOST_LISTED];
	unsigned n = 0;

	for (size_t i = 0; i < d->tasks.n; i++) {
		uint32_t members = d->tasks.v[i].members;
		uint64_t count = 0;
		unsigned k = 0;

		while (k < n && seen[k] != members)
			k++;
		if (k < n)
			continue;
		if (n == MOST_LISTED) {
			sb_puts(b, ", ...");
			return;
		}
		seen[n++] = members;
		for (size_t j = i; j < d->tasks.n; j++)
			count += d->tasks.v[j].members == members;
		sb_printf(b, "%s{", n > 1 ? ", " : "");
		put_set(b, d, members);
		sb_printf(b, "} (%llu task%s)", (unsigned long long)count, count == 1 ? "" : "s");
	}
}

/* ", dispatch 3, 4": those of a task; nothing if the dump does not number them. */
static void put_dispatches(struct strbuf *b, const struct dump *d, const struct dump_task *t)
{
	uint64_t last = UINT64_MAX;
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n_copies; i++) {
		const struct dump_extra *x = dump_extra_of(d, d->order[t->first_copy + i]);

		if (!x || !x->has_dispatch || x->dispatch_id == last || n == MOST_LISTED)
			continue;
		last = x->dispatch_id;
		sb_printf(b, "%s%llu", n++ ? ", " : "dispatch ", (unsigned long long)last);
	}
}

/* " 0 FLOAT32[16,16] before+after, 3 UINT64": the slots of a task, with the stages of tensors. */
static void put_slots(struct strbuf *b, const struct dump *d, const struct dump_task *t)
{
	for (uint32_t i = 0; i < t->n_slots && i < MOST_LISTED; i++) {
		const struct dump_slot *s = &d->slots.v[t->first_slot + i];
		const struct dump_record *r = &d->records.v[d->order[s->first]];
		struct dump_geometry g;

		sb_printf(b, "%s%u %s", i ? ", " : " ", s->index, dtype_name(r->dtype));
		if (r->kind != DUMP_TENSOR)
			continue;
		dump_geometry_of(d, r, &g);
		for (unsigned k = 0; k < g.rank; k++)
			sb_printf(b, "%s%llu", k ? "," : "[", (unsigned long long)g.shape[k]);
		sb_printf(b, "%s %s%s%s", g.rank ? "]" : "", s->n_before ? "before" : "",
			s->n_before && s->n_after ? "+" : "", s->n_after ? "after" : "");
	}
}

/* with_slots: what tells them apart, too. */
static void task_find_put_tasks(
	struct strbuf *b, const struct dump *d, const task_list *l, bool with_slots)
{
	size_t n = l ? l->n : d->tasks.n;

	for (size_t i = 0; i < n && i < MOST_LISTED; i++) {
		const struct dump_task *t = &d->tasks.v[l ? l->v[i] : i];

		sb_printf(b, "%s0x%016llx", i ? ", " : "", (unsigned long long)t->id);
		if (!with_slots)
			continue;
		sb_puts(b, " (");
		put_dispatches(b, d, t);
		sb_puts(b, b->p[b->n - 1] == '(' ? "slots" : ", slots");
		put_slots(b, d, t);
		sb_puts(b, ")");
	}
	if (n > MOST_LISTED)
		sb_printf(b, " and %zu more", n - MOST_LISTED);
}

/* The dispatch ids that there are, or that there are none. */
static void put_all_dispatches(struct strbuf *b, const struct dump *d)
{
	size_t before = b->n;

	for (size_t i = 0; i < d->tasks.n && i < MOST_LISTED; i++) {
		sb_puts(b, b->n > before ? "; " : " ");
		put_dispatches(b, d, &d->tasks.v[i]);
	}
	if (!d->extras.n)
		sb_puts(b,
			" none has a dispatch id (only schema incore/1 and kernel_args_dump.json do): name the task");
}

/* Lists matches of the task id and of the func ids separately, to show which is wrong. */
static bool put_near(
	struct strbuf *b, const struct dump *d, const struct task_query *q, struct incore_error *e)
{
	struct task_query by_func = {.funcs = q->funcs, .n_funcs = q->n_funcs, .block = DUMP_NONE};
	const struct dump_task *named = q->has_task ? dump_task_find(d, q->task) : NULL;
	task_list found = {0};
	bool ok = true;

	if (named && q->n_funcs) {
		sb_puts(b, "; that task has the func ids {");
		put_set(b, d, named->members);
		sb_puts(b, "}");
	}
	if (q->n_funcs && (q->has_task || q->has_dispatch))
		ok = task_find(d, &by_func, &found, e);
	if (found.n) {
		sb_puts(b, "; to the func ids fit ");
		task_find_put_tasks(b, d, &found, false);
	}
	VEC_FREE(&found);
	if (q->has_dispatch) {
		sb_puts(b, "; of the tasks:");
		put_all_dispatches(b, d);
	}
	return ok;
}

static bool complain(const struct dump *d, const struct task_query *q, const task_list *found,
	struct incore_error *e)
{
	struct strbuf b = {0};
	bool is_none = found->n == 0;

	if (is_none && q->n_funcs) {
		sb_puts(&b, "no task fits; the func ids of the tasks are ");
		put_sets(&b, d);
	} else if (is_none) {
		sb_puts(&b, "no task fits; the tasks are ");
		task_find_put_tasks(&b, d, NULL, q->slots != 0);
	} else {
		sb_printf(&b, "%zu tasks fit, one must be named: ", found->n);
		task_find_put_tasks(&b, d, found, true);
	}
	if (is_none && !put_near(&b, d, q, e)) {
		sb_free(&b);
		return false;
	}
	if (b.failed)
		err_nomem(e);
	else
		err_set(e, INCORE_USAGE, is_none ? "no-such-task" : "which-task", "%s: %s",
			d->manifest, b.p);
	sb_free(&b);
	return false;
}

bool task_find_one(
	const struct dump *d, const struct task_query *q, uint32_t *out, struct incore_error *e)
{
	task_list found = {0};
	bool ok = task_find(d, q, &found, e);

	if (ok && found.n == 1)
		*out = found.v[0];
	else
		ok = ok && complain(d, q, &found, e);
	VEC_FREE(&found);
	return ok;
}

uint32_t task_block_of_dispatch(const struct dump *d, uint32_t t, uint64_t dispatch)
{
	const struct dump_task *task = &d->tasks.v[t];
	uint32_t block = DUMP_NONE;

	for (uint32_t i = 0; i < task->n_copies; i++) {
		const struct dump_extra *x = dump_extra_of(d, d->order[task->first_copy + i]);

		if (!x || !x->has_dispatch || x->dispatch_id != dispatch)
			continue;
		if (block != DUMP_NONE && block != x->block_idx)
			return DUMP_NONE;
		block = x->block_idx;
	}
	return block;
}

/* --- buffers ---------------------------------------------------------------------------------- */

/*
 * The memory behind the tensors of a task. Known from the record itself or from deps.json of the
 * run; otherwise each tensor gets its own buffer that holds its view.
 */

/* Bytes from the buffer's start to the end of the view; 0 for an empty one. */
static uint64_t view_end(const struct arg *arg)
{
	if (arg->flags & TASK_ARG_BEYOND || !arg->extent)
		return 0;
	return (arg->start_offset + arg->extent) * dtype_bytes(arg->dtype);
}

static uint64_t task_buffers_rounded(uint64_t n)
{
	uint64_t more = n + (TASK_BUFFER_ROUND - 1);

	return more < n ? n : more & ~(uint64_t)(TASK_BUFFER_ROUND - 1);
}

/* *end: one past the last element that a view touches, counted from its buffer's start. False if
 * it, or its size in bytes, exceeds 64 bits. */
static bool task_view_end(
	const struct dump_geometry *g, uint64_t start, unsigned elem_bytes, uint64_t *end)
{
	struct gather_view v = {.start = start, .rank = g->rank, .elem_bytes = elem_bytes};

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

static bool task_buffers_add_tensor(struct task_args *a, uint32_t index, struct incore_error *e)
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
		if (other->from == TASK_BUFFER_VIEWS && task_buffers_rounded(end) > other->n)
			other->n = task_buffers_rounded(end);
		return true;
	}
	if (b.from == TASK_BUFFER_VIEWS) {
		uint64_t reach = b.addr ? reach_of(a->d, b.addr) : 0;

		b.n = task_buffers_rounded(reach > end ? reach : end);
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

/* Fills buffers, and the buffer of each tensor. */
static bool task_buffers_find(struct task_args *a, struct incore_error *e)
{
	for (size_t i = 0; i < a->args.n; i++)
		if (a->args.v[i].is_tensor && !task_buffers_add_tensor(a, (uint32_t)i, e))
			return false;
	EACH (struct arg, arg, a->args.v, a->args.n) {
		if (arg->is_tensor && view_end(arg) > a->buffers.v[arg->buffer].n)
			arg->flags |= TASK_ARG_BEYOND;
	}
	note_overlaps(a);
	return true;
}

/* --- arguments -------------------------------------------------------------------------------- */

/*
 * The slots of one task, merged over both stages; before takes precedence.
 */

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

static void task_args_fill_arg(struct task_args *all, const struct dump_slot *s, struct arg *a)
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

static bool task_args_add_slot(
	struct task_args *all, const struct dump_slot *s, struct incore_error *e)
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
	task_args_fill_arg(all, s, &a);
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
		if (!task_args_add_slot(a, &d->slots.v[task->first_slot + i], e))
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

/* What the lowest of these flags means, in words. */
static const char *task_arg_flag_text(uint32_t flags)
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

/* --- loading them ----------------------------------------------------------------------------- */

/*
 * One task of a dump, laid out in slots and buffers.
 */

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
