/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: paged attention as a runtime would run it: per block of the KV cache the tasks QK, SF,
 * PV, UP; checked against attention computed at once in double precision, and dumped dispatch by
 * dispatch.
 *
 * usage: paged_attention [--dump DIR] [--level 0..3] [--older] [--sync] [--threads N] [--context N]
 * [--seed N]
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels.h"
#include "runtime.h"

#define MAX_CONTEXT 1024
#define TILE_ELEMS (TILE * TILE)
#define TOLERANCE 0.02 /* probabilities have the 8 bits of bf16 */

struct arguments {
	const char *dump;
	unsigned level, threads, context, seed;
	bool is_older, is_synced;
};

struct attention {
	unsigned context, n_blocks;
	unsigned table[MAX_CONTEXT / TILE]; /* logical block -> physical block */
	struct buffer q, k, v;		    /* bf16 */
	struct buffer mi, li, oi, dst;	    /* float */
};

static float next_random(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return (float)(*state >> 8) / 8388608.0f - 1.0f;
}

static void fill(struct buffer b, unsigned n, uint32_t *state)
{
	uint16_t *p = (uint16_t *)b.p;

	for (unsigned i = 0; i < n; i++)
		p[i] = bf16_of_float(next_random(state));
}

static void set_up(struct runtime *rt, struct attention *a, const struct arguments *arg)
{
	uint32_t state = arg->seed;

	a->context = arg->context;
	a->n_blocks = (arg->context + TILE - 1) / TILE;
	for (unsigned i = 0; i < a->n_blocks; i++)
		a->table[i] = (i + 1) % a->n_blocks; /* not in order: that is the point of pages */
	a->q = runtime_alloc(rt, TILE_ELEMS * 2);
	a->k = runtime_alloc(rt, (uint64_t)a->n_blocks * TILE_ELEMS * 2);
	a->v = runtime_alloc(rt, (uint64_t)a->n_blocks * TILE_ELEMS * 2);
	a->mi = runtime_alloc(rt, TILE * 4);
	a->li = runtime_alloc(rt, TILE * 4);
	a->oi = runtime_alloc(rt, TILE_ELEMS * 4);
	a->dst = runtime_alloc(rt, TILE_ELEMS * 4);
	fill(a->q, TILE_ELEMS, &state);
	fill(a->k, a->n_blocks * TILE_ELEMS, &state);
	fill(a->v, a->n_blocks * TILE_ELEMS, &state);
	memset(a->mi.p, 0, a->mi.bytes); /* dst stays as it is: only the last block writes it */
	memset(a->li.p, 0, a->li.bytes);
	memset(a->oi.p, 0, a->oi.bytes);
}

static void run_qk(const struct task *t)
{
	kernel_qk(task_data(t, 0), task_data(t, 1), task_data(t, 2));
}

static void run_sf(const struct task *t)
{
	float *rows[2] = {task_data(t, 2), task_data(t, 3)}, scale;
	uint32_t bits = (uint32_t)t->scalars[0];

	memcpy(&scale, &bits, sizeof(scale));
	kernel_softmax(
		task_data(t, 0), (unsigned)t->tensors[0].shape[1], scale, task_data(t, 1), rows);
}

static void run_pv(const struct task *t)
{
	kernel_pv(task_data(t, 0), task_data(t, 1), task_data(t, 2));
}

static void run_up(const struct task *t)
{
	struct update u = {task_data(t, 0), task_data(t, 1), task_data(t, 2), task_data(t, 3),
		task_data(t, 4), task_data(t, 5), task_data(t, 6), t->scalars[0] != 0,
		t->scalars[1] != 0};

	kernel_update(&u);
}

static void square(struct task *t, struct buffer b, uint8_t role, uint8_t dtype, uint64_t start)
{
	struct tensor *x = task_tensor(t, b, role, dtype);

	x->rank = 2;
	x->shape[0] = x->shape[1] = x->strides[0] = TILE;
	x->strides[1] = 1;
	x->start = start;
}

static void row(struct task *t, struct buffer b, uint8_t role)
{
	struct tensor *x = task_tensor(t, b, role, INCORE_DUMP_FLOAT32);

	x->rank = 1;
	x->shape[0] = TILE;
	x->strides[0] = 1;
}

static struct task *new_task(struct runtime *rt, unsigned func, kernel_fn run)
{
	static const char *const names[] = {"QK", "SF", "PV", "UP"};
	struct task *t = runtime_submit(rt, names[func]);

	if (!t)
		abort(); /* MAX_CONTEXT fits MAX_TASKS */
	t->func_id = (uint16_t)func;
	t->core_type = func % 2 ? INCORE_DUMP_CORE_AIV : INCORE_DUMP_CORE_AIC;
	t->run = run;
	if (func > 0)
		task_after(t, rt->n_tasks - 2);
	return t;
}

static void submit_update(struct runtime *rt, const struct attention *a, unsigned block,
	const struct buffer of_block[3])
{
	struct task *t = new_task(rt, 3, run_up);

	row(t, of_block[0], INCORE_DUMP_INPUT);
	row(t, of_block[1], INCORE_DUMP_INPUT);
	square(t, of_block[2], INCORE_DUMP_INPUT, INCORE_DUMP_FLOAT32, 0);
	row(t, a->mi, INCORE_DUMP_INOUT);
	row(t, a->li, INCORE_DUMP_INOUT);
	square(t, a->oi, INCORE_DUMP_INOUT, INCORE_DUMP_FLOAT32, 0);
	square(t, a->dst, INCORE_DUMP_INOUT, INCORE_DUMP_FLOAT32, 0);
	t->scalars[t->n_scalars++] = block == 0;
	t->scalars[t->n_scalars++] = block == a->n_blocks - 1;
	if (block > 0)
		task_after(t, rt->n_tasks - 5); /* the update before this one */
}

static void submit_block(struct runtime *rt, const struct attention *a, unsigned block)
{
	uint64_t page = (uint64_t)a->table[block] * TILE_ELEMS;
	unsigned valid = block == a->n_blocks - 1 ? a->context - block * TILE : TILE;
	struct buffer sij = runtime_alloc(rt, TILE_ELEMS * 4);
	struct buffer pij = runtime_alloc(rt, TILE_ELEMS * 2);
	struct buffer mij = runtime_alloc(rt, TILE * 4), lij = runtime_alloc(rt, TILE * 4);
	struct buffer oi_new = runtime_alloc(rt, TILE_ELEMS * 4);
	struct task *t = new_task(rt, 0, run_qk);
	float scale = 1.0f;

	square(t, a->q, INCORE_DUMP_INPUT, INCORE_DUMP_BFLOAT16, 0);
	square(t, a->k, INCORE_DUMP_INPUT, INCORE_DUMP_BFLOAT16, page);
	square(t, sij, INCORE_DUMP_OUTPUT, INCORE_DUMP_FLOAT32, 0);
	t = new_task(rt, 1, run_sf);
	square(t, sij, INCORE_DUMP_INPUT, INCORE_DUMP_FLOAT32, 0);
	t->tensors[0].shape[1] = valid; /* of the tail block a strided view */
	square(t, pij, INCORE_DUMP_OUTPUT, INCORE_DUMP_BFLOAT16, 0);
	row(t, mij, INCORE_DUMP_OUTPUT);
	row(t, lij, INCORE_DUMP_OUTPUT);
	t->scalars[t->n_scalars++] = incore_dump_bits(&scale, sizeof(scale));
	t = new_task(rt, 2, run_pv);
	square(t, pij, INCORE_DUMP_INPUT, INCORE_DUMP_BFLOAT16, 0);
	square(t, a->v, INCORE_DUMP_INPUT, INCORE_DUMP_BFLOAT16, page);
	square(t, oi_new, INCORE_DUMP_OUTPUT, INCORE_DUMP_FLOAT32, 0);
	submit_update(rt, a, block, (const struct buffer[]){mij, lij, oi_new});
}

/* Largest difference to attention over all keys at once. */
static double check(const struct attention *a)
{
	const uint16_t *q = (const uint16_t *)a->q.p, *k = (const uint16_t *)a->k.p;
	const uint16_t *v = (const uint16_t *)a->v.p;
	const float *dst = (const float *)a->dst.p;
	double worst = 0, weight[MAX_CONTEXT];

	for (unsigned r = 0; r < TILE; r++) {
		double sum = 0;

		for (unsigned j = 0; j < a->context; j++) {
			unsigned at = a->table[j / TILE] * TILE_ELEMS + j % TILE * TILE;
			double s = 0;

			for (unsigned i = 0; i < TILE; i++)
				s += (double)bf16_to_float(q[r * TILE + i]) *
				     (double)bf16_to_float(k[at + i]);
			weight[j] = exp(s);
			sum += weight[j];
		}
		for (unsigned c = 0; c < TILE; c++) {
			double o = 0;

			for (unsigned j = 0; j < a->context; j++)
				o += weight[j] / sum *
				     (double)bf16_to_float(v[a->table[j / TILE] * TILE_ELEMS +
							     j % TILE * TILE + c]);
			o = fabs(o - (double)dst[r * TILE + c]);
			worst = o > worst || isnan(o) ? o : worst;
		}
	}
	return worst;
}

static bool read_arguments(struct arguments *a, int argc, char **argv)
{
	static const char *const names[] = {"--level", "--threads", "--context", "--seed"};
	unsigned *values[] = {&a->level, &a->threads, &a->context, &a->seed};

	*a = (struct arguments){.level = 2, .threads = 3, .context = 33, .seed = 1};
	for (int i = 1; i < argc; i++) {
		bool is_known = true;

		if (strcmp(argv[i], "--older") == 0) {
			a->is_older = true;
		} else if (strcmp(argv[i], "--sync") == 0) {
			a->is_synced = true;
		} else if (i + 1 < argc && strcmp(argv[i], "--dump") == 0) {
			a->dump = argv[++i];
		} else {
			is_known = false;
			for (unsigned k = 0; k < 4 && i + 1 < argc && !is_known; k++)
				if (strcmp(argv[i], names[k]) == 0) {
					*values[k] = (unsigned)strtoul(argv[++i], NULL, 10);
					is_known = true;
				}
		}
		if (!is_known)
			return false;
	}
	return a->level <= 3 && a->threads > 0 && a->context > 0 && a->context <= MAX_CONTEXT;
}

static int open_dump(struct runtime *rt, const struct arguments *arg)
{
	struct incore_dump_options o;
	int rc;

	if (!arg->dump)
		return 0;
	incore_dump_options_init(&o);
	o.level = arg->level;
	o.is_older = arg->is_older;
	o.sync = arg->is_synced;
	rc = incore_dump_open(&rt->dump, arg->dump, &o);
	/* at levels 1 and 3: the softmax of the last block, whole */
	if (rc == 0)
		rc = incore_dump_mark(rt->dump, (uint64_t)TASK_RING << 32 | (rt->n_tasks - 3),
			INCORE_DUMP_ALL_SLOTS);
	return rc;
}

int main(int argc, char **argv)
{
	struct attention a = {0};
	struct arguments arg;
	struct runtime rt;
	double worst;
	int rc;

	if (!read_arguments(&arg, argc, argv)) {
		fprintf(stderr,
			"usage: paged_attention [--dump DIR] [--level 0..3] [--older] "
			"[--sync] [--threads N] [--context 1..%d] [--seed N]\n",
			MAX_CONTEXT);
		return 2;
	}
	if (!runtime_init(&rt, UINT64_C(4) << 20))
		return 6;
	set_up(&rt, &a, &arg);
	for (unsigned i = 0; i < a.n_blocks; i++)
		submit_block(&rt, &a, i);
	rc = open_dump(&rt, &arg);
	if (rc == 0)
		rc = runtime_run(&rt, arg.threads);
	if (rt.dump) {
		int closed = incore_dump_close(rt.dump);

		rc = rc ? rc : closed;
	}
	if (rc)
		fprintf(stderr, "paged_attention: %s: %s\n", arg.dump, strerror(rc));
	worst = rc ? 0 : check(&a);
	if (!rc)
		printf("%u tasks, context %u, largest error %.4f: %s\n", rt.n_tasks, arg.context,
			worst, worst < TOLERANCE ? "ok" : "WRONG");
	runtime_deinit(&rt);
	return rc ? 6 : worst < TOLERANCE ? 0 : 1;
}
