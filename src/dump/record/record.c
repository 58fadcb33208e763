/* SPDX-License-Identifier: Apache-2.0 */
/* record.c: tasks, scalars and tensors, passed in by the recording thread. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "args/dtype.h"
#include "dump/gather.h"
#include "dump/record/log_write.h"
#include "dump/record/producer.h"

#define OLDER_MAX_RANK 5
#define MAX_TENSOR_ENTRY 512 /* a payload entry and the largest tensor record */

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "payload is copied as it lies in memory");

static void count_drop(
	struct incore_dump_writer *w, uint64_t task_id, uint64_t bytes, enum log_cause cause)
{
	struct log_loss l = {task_id, 1, bytes, cause};

	loss_add(&w->losses, w->thread, &l);
	atomic_fetch_add_explicit(&w->dropped_records, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&w->dropped_bytes, bytes, memory_order_relaxed);
}

static int recorder_refuse(
	struct incore_dump_writer *w, const struct incore_dump_slot *s, int rc, const char *what)
{
	snprintf(w->why, sizeof(w->why), "task 0x%016llx slot %u: %s",
		(unsigned long long)s->task_id, s->index, what);
	count_drop(w, s->task_id, 0, LOG_REFUSED);
	return rc;
}

static uint32_t recorder_flags_of(
	const struct incore_dump_writer *w, const struct incore_dump_slot *s)
{
	return (s->is_ambiguous ? LOG_AMBIGUOUS : 0u) | (s->is_torn ? LOG_TORN : 0u) |
	       w->dump->o.level << LOG_LEVEL_SHIFT;
}

/* Puts a log record without payload; counts a drop if there is no room. */
static int put_record(struct incore_dump_writer *w, const struct log_arg *a)
{
	uint32_t size = a->is_scalar ? log_scalar_bytes() : log_tensor_bytes(a->rank);
	struct ring_entry *e = (struct ring_entry *)writer_entry(
		w, (uint32_t)sizeof(*e) + size, w->dump->o.wait_ms);

	if (!e) {
		count_drop(w, a->task_id, 0, LOG_RING_FULL);
		return EAGAIN;
	}
	e->kind = ENTRY_RECORD;
	if (a->is_scalar)
		log_put_scalar((uint8_t *)(e + 1), w->thread, a);
	else
		log_put_tensor((uint8_t *)(e + 1), w->thread, a);
	writer_publish(w);
	return 0;
}

int incore_dump_put_task(struct incore_dump_writer *w, const struct incore_dump_task *t)
{
	struct log_task l;
	struct ring_entry *e;
	size_t n;

	if (!w || !t)
		return EINVAL;
	if (!dump_is_ours(w->dump))
		return ECHILD;
	if (w->dump->o.level == INCORE_DUMP_OFF ||
		(w->dump->o.level == INCORE_DUMP_SELECTED &&
			marks_of(&w->dump->marks, t->task_id) == 0))
		return 0;
	if (t->func_count > INCORE_DUMP_MAX_FUNCS || t->core_type > INCORE_DUMP_CORE_MIX) {
		struct incore_dump_slot s = {.task_id = t->task_id};

		return recorder_refuse(w, &s, EINVAL, "more than 3 func ids, or no such core type");
	}
	n = t->kernel ? strnlen(t->kernel, LOG_MAX_NAME) : 0;
	l = (struct log_task){t->task_id, t->dispatch_id, t->block_idx, t->block_num, t->core_id,
		t->tensor_count, t->scalar_count, t->core_type, t->func_count,
		{t->func_ids[0], t->func_ids[1], t->func_ids[2]}, (uint16_t)n, t->kernel};
	if (!loss_is_empty(&w->losses))
		writer_tell_losses(w, 0);
	e = (struct ring_entry *)writer_entry(
		w, (uint32_t)sizeof(*e) + log_task_bytes(l.name_bytes), w->dump->o.wait_ms);
	if (!e) {
		count_drop(w, t->task_id, 0, LOG_RING_FULL);
		return EAGAIN;
	}
	e->kind = ENTRY_RECORD;
	log_put_task((uint8_t *)(e + 1), w->thread, &l);
	writer_publish(w);
	return 0;
}

int incore_dump_put_scalar(struct incore_dump_writer *w, const struct incore_dump_scalar *s)
{
	uint32_t level;
	struct log_arg a;

	if (!w || !s)
		return EINVAL;
	if (!dump_is_ours(w->dump))
		return ECHILD;
	level = w->dump->o.level;
	if (level == INCORE_DUMP_OFF)
		return 0;
	if (s->dtype >= DTYPE_COUNT)
		return recorder_refuse(w, &s->slot, EINVAL, "no such dtype");
	a.flags = recorder_flags_of(w, &s->slot);
	if (level != INCORE_DUMP_FULL) {
		if (marks_has(marks_of(&w->dump->marks, s->slot.task_id), s->slot.index))
			a.flags |= LOG_MARKED;
		else if (level == INCORE_DUMP_SELECTED)
			return 0;
	}
	a.task_id = s->slot.task_id;
	a.dispatch_id = s->slot.dispatch_id;
	a.slot = s->slot.index;
	a.role = INCORE_DUMP_INPUT;
	a.stage = INCORE_DUMP_BEFORE;
	a.dtype = s->dtype;
	a.rank = 0;
	a.block_idx = s->slot.block_idx;
	a.is_scalar = true;
	a.raw = s->raw;
	if (!loss_is_empty(&w->losses))
		writer_tell_losses(w, 0);
	return put_record(w, &a);
}

/* Reads the view into *v, with its size in bytes; returns NULL or what is wrong with it. */
static const char *read_view(const struct incore_dump_writer *w, const struct incore_dump_tensor *t,
	struct gather_view *v, uint64_t *bytes)
{
	uint64_t end;

	*v = (struct gather_view){.base = t->data, .start = t->start_offset, .rank = t->rank};
	v->elem_bytes = dtype_bytes(t->dtype);
	if (!v->elem_bytes)
		return "no such dtype";
	if (t->rank > INCORE_DUMP_MAX_RANK)
		return "rank above 8";
	if (w->dump->o.is_older && t->rank > OLDER_MAX_RANK)
		return "rank above 5, which the older generation cannot hold";
	if (t->role > INCORE_DUMP_INOUT || t->stage > INCORE_DUMP_AFTER)
		return "no such role or stage";
	if ((t->role == INCORE_DUMP_INPUT && t->stage == INCORE_DUMP_AFTER) ||
		(t->role == INCORE_DUMP_OUTPUT && t->stage == INCORE_DUMP_BEFORE))
		return "an input is recorded before, an output after";
	if (t->rank && !t->shape)
		return "no shape";
	for (unsigned d = 0; d < t->rank; d++) {
		v->shape[d] = t->shape[d];
		v->strides[d] = t->strides ? t->strides[d] : 0;
		if (t->strides && t->strides[d] == 0)
			return "a stride of 0";
	}
	if (!t->strides && !view_make_dense(v))
		return "a shape beyond 64 bits";
	if (!view_measure(v, &end))
		return "a shape or view beyond 64 bits";
	if (t->buffer_size && v->numel && end > t->buffer_size / v->elem_bytes)
		return "the view leaves its buffer";
	*bytes = v->numel * v->elem_bytes;
	return v->numel && !t->data ? "no data" : NULL;
}

static void recorder_fill_arg(
	const struct incore_dump_tensor *t, const struct gather_view *v, struct log_arg *a)
{
	a->task_id = t->slot.task_id;
	a->dispatch_id = t->slot.dispatch_id;
	a->slot = t->slot.index;
	a->role = t->role;
	a->stage = t->stage;
	a->dtype = t->dtype;
	a->rank = t->rank;
	a->block_idx = t->slot.block_idx;
	a->is_scalar = false;
	a->start_offset = t->start_offset;
	a->buffer_addr = t->buffer_addr ? t->buffer_addr : (uint64_t)(uintptr_t)t->data;
	a->buffer_size = t->buffer_size;
	a->bin_offset = 0;
	a->crc32c = 0;
	for (unsigned d = 0; d < t->rank; d++) {
		a->shape[d] = v->shape[d];
		a->strides[d] = v->strides[d];
	}
}

/* Room for n bytes of payload in one piece, or NULL. */
static uint8_t *reserve_payload(struct incore_dump_writer *w, uint64_t n, uint64_t *at)
{
	struct ring *r = &w->arena;
	uint64_t room = (n + ARENA_ALIGN - 1) & ~(uint64_t)(ARENA_ALIGN - 1);
	uint64_t skip = ring_skip(r, room);

	if (!ring_has_room(r, skip + room) && !writer_wait(w, r, skip + room, w->dump->o.wait_ms))
		return NULL;
	*at = r->head + skip;
	return ring_at(r, *at);
}

static void put_payload_entry(
	struct incore_dump_writer *w, struct payload_entry *e, uint64_t at, uint64_t n)
{
	w->arena.head = at + ((n + ARENA_ALIGN - 1) & ~(uint64_t)(ARENA_ALIGN - 1));
	e->at = at;
	e->bytes = n;
	e->arena_end = w->arena.head;
}

/* Puts a payload that fits the arena. */
static int recorder_put_whole(
	struct incore_dump_writer *w, const struct gather_view *v, struct log_arg *a)
{
	uint32_t size = (uint32_t)sizeof(struct payload_entry) + log_tensor_bytes(a->rank);
	struct payload_entry *e;
	uint64_t at;
	uint8_t *to = reserve_payload(w, a->bin_size, &at);

	if (!to) {
		count_drop(w, a->task_id, a->full_size, LOG_ARENA_FULL);
		return EAGAIN;
	}
	e = (struct payload_entry *)writer_entry(w, size, w->dump->o.wait_ms);
	if (!e) {
		count_drop(w, a->task_id, a->full_size, LOG_RING_FULL);
		return EAGAIN;
	}
	view_gather(v, 0, a->bin_size / v->elem_bytes, to);
	e->head.kind = ENTRY_PAYLOAD;
	put_payload_entry(w, e, at, a->bin_size);
	log_put_tensor((uint8_t *)(e + 1), w->thread, a);
	writer_publish(w);
	return 0;
}

/* Puts one part of a larger payload; false if there is no room in time. Leaves room in the ring for
 * the record that ends it. */
static bool put_piece(
	struct incore_dump_writer *w, const struct gather_view *v, uint64_t from, uint64_t n)
{
	uint32_t ms = w->dump->o.wait_ms;
	struct payload_entry *e;
	uint64_t at;
	uint8_t *to = reserve_payload(w, n, &at);

	if (!to || !writer_wait(w, &w->ring, UINT64_C(4) * MAX_TENSOR_ENTRY, ms))
		return false;
	e = (struct payload_entry *)writer_entry(w, sizeof(*e), ms);
	if (!e)
		return false;
	view_gather(v, from / v->elem_bytes, n / v->elem_bytes, to);
	e->head.kind = ENTRY_PIECE;
	put_payload_entry(w, e, at, n);
	writer_publish(w);
	dump_wake(w->dump);
	return true;
}

/* Puts a payload larger than the arena, piece by piece, as fast as the collector writes. */
static int put_stream(struct incore_dump_writer *w, const struct gather_view *v, struct log_arg *a)
{
	uint32_t size = (uint32_t)sizeof(struct payload_entry) + log_tensor_bytes(a->rank);
	uint64_t piece = w->arena.bytes / 4, done = 0;
	struct payload_entry *e;

	while (done < a->bin_size) {
		uint64_t n = a->bin_size - done < piece ? a->bin_size - done : piece;

		if (!put_piece(w, v, done, n))
			break;
		done += n;
	}
	if (done == 0) {
		count_drop(w, a->task_id, a->full_size, LOG_ARENA_FULL);
		return EAGAIN;
	}
	if (done < a->bin_size) {
		a->bin_size = done;
		a->flags |= LOG_TRUNCATED;
	}
	e = (struct payload_entry *)writer_entry(w, size, w->dump->o.flush_ms);
	if (!e) { /* cannot be: put_piece() left room */
		count_drop(w, a->task_id, a->full_size, LOG_RING_FULL);
		return EAGAIN;
	}
	e->head.kind = ENTRY_LAST;
	e->at = e->bytes = 0;
	e->arena_end = w->arena.head;
	log_put_tensor((uint8_t *)(e + 1), w->thread, a);
	writer_publish(w);
	dump_wake(w->dump);
	return 0;
}

/* How many bytes of the payload to record: limited by the level, the budget and, without waiting,
 * the arena. */
static uint64_t wanted(const struct incore_dump_writer *w, const struct log_arg *a, unsigned elem)
{
	const struct incore_dump_options *o = &w->dump->o;
	uint64_t n = a->full_size;

	if (a->flags & LOG_NO_PAYLOAD)
		return 0;
	if (o->max_payload_bytes && n > o->max_payload_bytes)
		n = o->max_payload_bytes;
	if (o->wait_ms == 0 && n > w->arena.bytes / 2)
		n = w->arena.bytes / 2;
	return n - n % elem;
}

int incore_dump_put_tensor(struct incore_dump_writer *w, const struct incore_dump_tensor *t)
{
	uint32_t level;
	const char *why;
	struct log_arg a;
	struct gather_view v;

	if (!w || !t)
		return EINVAL;
	if (!dump_is_ours(w->dump))
		return ECHILD;
	level = w->dump->o.level;
	if (level == INCORE_DUMP_OFF)
		return 0;
	a.flags = recorder_flags_of(w, &t->slot);
	if (level != INCORE_DUMP_FULL) {
		if (marks_has(marks_of(&w->dump->marks, t->slot.task_id), t->slot.index))
			a.flags |= LOG_MARKED;
		else if (level == INCORE_DUMP_SELECTED)
			return 0;
		else
			a.flags |= LOG_NO_PAYLOAD;
	}
	why = read_view(w, t, &v, &a.full_size);
	if (why)
		return recorder_refuse(w, &t->slot, EINVAL, why);
	recorder_fill_arg(t, &v, &a);
	a.bin_size = wanted(w, &a, v.elem_bytes);
	if (a.bin_size < a.full_size && !(a.flags & LOG_NO_PAYLOAD))
		a.flags |= LOG_TRUNCATED;
	if (!loss_is_empty(&w->losses))
		writer_tell_losses(w, 0);
	if (a.bin_size == 0)
		return put_record(w, &a);
	view_simplify(&v);
	if (a.bin_size <= w->arena.bytes / 2)
		return recorder_put_whole(w, &v, &a);
	return put_stream(w, &v, &a);
}

uint64_t incore_dump_bits(const void *value, size_t bytes)
{
	uint64_t v = 0;

	memcpy(&v, value, bytes < sizeof(v) ? bytes : sizeof(v));
	return v;
}
