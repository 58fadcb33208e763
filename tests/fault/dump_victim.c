/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records from three threads, to be killed at any moment. What a flush has promised is
 * told on standard output: 16 bytes, thread and last task, after the flush returned 0.
 *
 * usage: dump_victim DIR SEED      records until killed
 *        dump_victim --repair DIR  repairs what is left of it
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "dump/repair.h"
#include "incore/dump.h"

#define THREADS 3
#define TASKS 400	  /* of a thread; then it waits for its end */
#define LARGE (48 * 1024) /* bytes; more than half of the arena: written in pieces */

struct worker {
	struct incore_dump *dump;
	uint64_t thread, random;
};

static uint64_t next(struct worker *w)
{
	w->random = w->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return w->random >> 33;
}

/* Every word of row r says key + r. */
static void fill(uint64_t *p, uint64_t key, uint64_t rows, uint64_t row_words)
{
	for (uint64_t r = 0; r < rows; r++)
		for (uint64_t c = 0; c < row_words; c++)
			p[r * row_words + c] = key + r;
}

static int put_tensor(struct incore_dump_writer *w, struct incore_dump_slot slot, uint32_t index,
	uint64_t rows, uint64_t columns)
{
	static _Thread_local uint64_t data[LARGE / 8 * 2];
	uint64_t shape[2] = {rows, columns}, strides[2] = {columns + 1, 1};
	struct incore_dump_tensor t = {.slot = slot,
		.role = INCORE_DUMP_INPUT,
		.stage = INCORE_DUMP_BEFORE,
		.dtype = INCORE_DUMP_UINT64,
		.rank = 2,
		.data = data,
		.buffer_size = sizeof(data),
		.shape = shape,
		.strides = strides};

	t.slot.index = index;
	fill(data, slot.task_id * 1000 + index * 100000, rows, columns + 1);
	return incore_dump_put_tensor(w, &t);
}

static int put_task(struct worker *me, struct incore_dump_writer *w, uint64_t number)
{
	struct incore_dump_slot slot = {
		.task_id = me->thread << 32 | number, .dispatch_id = number};
	struct incore_dump_task task = {.task_id = slot.task_id,
		.dispatch_id = number,
		.block_num = 1,
		.tensor_count = 2,
		.scalar_count = 1,
		.func_count = 1,
		.kernel = "victim"};
	struct incore_dump_scalar s = {.slot = slot,
		.dtype = INCORE_DUMP_UINT64,
		.raw = slot.task_id ^ UINT64_C(0x5555555555555555)};
	uint64_t rows = number % 97 == 5 ? LARGE / 8 / 16 : number % 7;
	int rc = incore_dump_put_task(w, &task);

	rc = rc ? rc : put_tensor(w, slot, 0, rows, 16);
	rc = rc ? rc : put_tensor(w, slot, 1, 3, number % 50);
	s.slot.index = 2;
	return rc ? rc : incore_dump_put_scalar(w, &s);
}

static void *work(void *arg)
{
	struct worker *me = arg;
	struct incore_dump_writer *w;
	uint64_t promise[2] = {me->thread, 0};

	if (incore_dump_attach(me->dump, &w) != 0)
		_exit(3);
	for (uint64_t i = 0; i < TASKS; i++) {
		if (put_task(me, w, i) != 0)
			_exit(4);
		if (next(me) % 5 != 0)
			continue;
		if ((next(me) % 3 ? incore_dump_flush(w) : incore_dump_flush_all(me->dump)) != 0)
			_exit(5);
		promise[1] = i;
		if (write(1, promise, sizeof(promise)) != sizeof(promise))
			_exit(6);
	}
	for (;;)
		pause();
	return NULL;
}

static int repair(const char *dir)
{
	struct repair_report report;
	struct incore_error e = {0};
	bool ok = dump_repair(dir, &report, &e);

	if (!ok)
		fprintf(stderr, "%s\n", e.message);
	repair_report_deinit(&report);
	incore_error_clear(&e);
	return ok ? 0 : 3;
}

int main(int argc, char **argv)
{
	struct incore_dump_options o;
	struct worker workers[THREADS];
	struct incore_dump *d;
	pthread_t threads[THREADS];
	int rc;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "--repair") == 0)
		return repair(argv[2]);
	incore_dump_options_init(&o);
	o.ring_bytes = 65536;
	o.arena_bytes = 65536;
	rc = incore_dump_open(&d, argv[1], &o);
	if (rc) {
		fprintf(stderr, "%s\n", strerror(rc));
		return 6;
	}
	for (unsigned i = 0; i < THREADS; i++) {
		workers[i] = (struct worker){d, i, strtoull(argv[2], NULL, 10) * 31 + i};
		if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
			return 6;
	}
	pthread_join(threads[0], NULL);
	return 0;
}
