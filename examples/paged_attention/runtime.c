/* SPDX-License-Identifier: Apache-2.0 */
/* runtime.c: tasks, workers, and the dump of every dispatch. */
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define ALLOC_BYTES 1024
#define MAX_WORKERS 64

struct crew {
	struct runtime *rt;
	pthread_mutex_t lock;
	pthread_cond_t change;
	uint32_t n_done;
	int failure;
};

struct worker {
	struct crew *crew;
	struct incore_dump_writer *writer; /* NULL: no dump */
	unsigned core, n_cores;
};

bool runtime_init(struct runtime *rt, uint64_t pool_bytes)
{
	*rt = (struct runtime){.pool_bytes = pool_bytes};
	rt->pool = aligned_alloc(4096, (pool_bytes + 4095) & ~UINT64_C(4095));
	rt->tasks = calloc(MAX_TASKS, sizeof(*rt->tasks));
	if (!rt->pool || !rt->tasks)
		return false;
	memset(rt->pool, 0x7b, pool_bytes); /* as floats 1.3e36: it shows when one is used */
	return true;
}

void runtime_deinit(struct runtime *rt)
{
	free(rt->tasks);
	free(rt->pool);
}

struct buffer runtime_alloc(struct runtime *rt, uint64_t bytes)
{
	struct buffer b = {.addr = DEVICE_BASE + rt->used};

	b.bytes = (bytes + ALLOC_BYTES - 1) / ALLOC_BYTES * ALLOC_BYTES;
	if (rt->used + b.bytes > rt->pool_bytes)
		abort(); /* the caller sizes the pool */
	b.p = rt->pool + rt->used;
	rt->used += b.bytes;
	return b;
}

struct task *runtime_submit(struct runtime *rt, const char *name)
{
	struct task *t = rt->n_tasks < MAX_TASKS ? &rt->tasks[rt->n_tasks++] : NULL;

	if (t)
		t->name = name;
	return t;
}

void task_after(struct task *t, uint32_t dep)
{
	t->deps[t->n_deps++] = dep;
}

struct tensor *task_tensor(struct task *t, struct buffer buf, uint8_t role, uint8_t dtype)
{
	struct tensor *x = &t->tensors[t->n_tensors++];

	*x = (struct tensor){.buf = buf, .role = role, .dtype = dtype};
	return x;
}

void *task_data(const struct task *t, unsigned slot)
{
	const struct tensor *x = &t->tensors[slot];

	return x->buf.p + x->start * (x->dtype == INCORE_DUMP_BFLOAT16 ? 2 : 4);
}

static int dump_tensors(struct incore_dump_writer *w, const struct task *t,
	struct incore_dump_slot slot, uint8_t stage)
{
	int rc = 0;

	for (uint32_t i = 0; i < t->n_tensors && rc == 0; i++) {
		const struct tensor *x = &t->tensors[i];
		struct incore_dump_tensor d = {.slot = slot,
			.role = x->role,
			.stage = stage,
			.dtype = x->dtype,
			.rank = x->rank,
			.data = x->buf.p,
			.buffer_addr = x->buf.addr,
			.buffer_size = x->buf.bytes,
			.start_offset = x->start,
			.shape = x->shape,
			.strides = x->strides};

		if (x->role ==
			(stage == INCORE_DUMP_BEFORE ? INCORE_DUMP_OUTPUT : INCORE_DUMP_INPUT))
			continue;
		d.slot.index = i;
		rc = incore_dump_put_tensor(w, &d);
	}
	return rc;
}

static int dump_before(struct incore_dump_writer *w, const struct task *t,
	struct incore_dump_slot slot, unsigned core)
{
	struct incore_dump_task about = {.task_id = slot.task_id,
		.dispatch_id = slot.dispatch_id,
		.block_num = 1,
		.core_id = core,
		.tensor_count = t->n_tensors,
		.scalar_count = t->n_scalars,
		.core_type = t->core_type,
		.func_count = 1,
		.func_ids = {t->func_id, INCORE_DUMP_NO_FUNC, INCORE_DUMP_NO_FUNC},
		.kernel = t->name};
	int rc = incore_dump_put_task(w, &about);

	if (rc == 0)
		rc = dump_tensors(w, t, slot, INCORE_DUMP_BEFORE);
	for (uint32_t i = 0; i < t->n_scalars && rc == 0; i++) {
		struct incore_dump_scalar s = {
			.slot = slot, .dtype = INCORE_DUMP_UINT64, .raw = t->scalars[i]};

		s.slot.index = t->n_tensors + i;
		rc = incore_dump_put_scalar(w, &s);
	}
	return rc;
}

/* One dispatch: dump, run, dump. The task's tensors belong to nobody else while it runs. */
static int dispatch(struct incore_dump_writer *w, struct task *t, uint32_t number, unsigned core)
{
	struct incore_dump_slot slot = {
		.task_id = (uint64_t)TASK_RING << 32 | number, .dispatch_id = number};
	int rc = w ? dump_before(w, t, slot, core) : 0;

	t->run(t);
	if (w && rc == 0)
		rc = dump_tensors(w, t, slot, INCORE_DUMP_AFTER);
	return rc;
}

/* A task of this core whose predecessors are done; UINT32_MAX: none now. Tasks go to the cores in
 * turn, so that a run does not depend on who is faster. */
static uint32_t find_ready(const struct runtime *rt, unsigned core, unsigned n_cores)
{
	for (uint32_t i = core; i < rt->n_tasks; i += n_cores) {
		const struct task *t = &rt->tasks[i];
		bool is_ready = !t->is_started;

		for (uint32_t k = 0; k < t->n_deps; k++)
			is_ready = is_ready && rt->tasks[t->deps[k]].is_done;
		if (is_ready)
			return i;
	}
	return UINT32_MAX;
}

static void *work(void *arg)
{
	struct worker *me = arg;
	struct crew *crew = me->crew;
	struct runtime *rt = crew->rt;
	struct incore_dump_writer *w = me->writer;
	int rc = 0;

	pthread_mutex_lock(&crew->lock);
	while (crew->n_done < rt->n_tasks) {
		uint32_t i = find_ready(rt, me->core, me->n_cores);

		if (i == UINT32_MAX) {
			pthread_cond_wait(&crew->change, &crew->lock);
			continue;
		}
		rt->tasks[i].is_started = true;
		pthread_mutex_unlock(&crew->lock);
		if (rc == 0)
			rc = dispatch(w, &rt->tasks[i], i, me->core);
		else
			rt->tasks[i].run(&rt->tasks[i]);
		pthread_mutex_lock(&crew->lock);
		rt->tasks[i].is_done = true;
		crew->n_done++;
		pthread_cond_broadcast(&crew->change);
	}
	pthread_mutex_unlock(&crew->lock);
	if (w && rc == 0)
		rc = incore_dump_flush(w);
	incore_dump_detach(w);
	pthread_mutex_lock(&crew->lock);
	crew->failure = crew->failure ? crew->failure : rc;
	pthread_mutex_unlock(&crew->lock);
	return NULL;
}

int runtime_run(struct runtime *rt, unsigned n_threads)
{
	struct crew crew = {.rt = rt};
	struct worker workers[MAX_WORKERS];
	pthread_t threads[MAX_WORKERS];
	unsigned n = n_threads < MAX_WORKERS ? n_threads : MAX_WORKERS;
	int rc = 0;

	for (unsigned i = 0; i < n && rc == 0; i++) {
		workers[i] = (struct worker){&crew, NULL, i, n};
		if (rt->dump)
			rc = incore_dump_attach(rt->dump, &workers[i].writer);
	}
	if (rc)
		return rc;
	pthread_mutex_init(&crew.lock, NULL);
	pthread_cond_init(&crew.change, NULL);
	for (unsigned i = 1; i < n; i++)
		if (pthread_create(&threads[i], NULL, work, &workers[i]) != 0)
			abort(); /* its tasks are nobody else's */
	work(&workers[0]);
	for (unsigned i = 1; i < n; i++)
		pthread_join(threads[i], NULL);
	pthread_cond_destroy(&crew.change);
	pthread_mutex_destroy(&crew.lock);
	return crew.failure;
}
