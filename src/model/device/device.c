/* SPDX-License-Identifier: Apache-2.0 */
/* device.c: how much do the kernels of a step slow each other down, and how accurate is the
 * model? */
#include "model/device/device.h"

#include <math.h>

#include "base/search.h"

#define UNKNOWN_DUTY 0.5 /* assumed for a kernel that could not be recorded */
#define ROUNDS 3	 /* loads depend on times and times on loads */

enum kernel_kind device_kind_of(const struct swim_kernel *k)
{
	return k->is_aic && k->is_aiv ? KIND_MIXED : k->is_aic ? KIND_CUBE : KIND_VECTOR;
}

ORDER_AT(by_name, struct swim_kernel, A_TO_Z(name))

/* --- times --- */

static double median_us(const struct swimlane *s, uint32_t kernel, uint64_t *ticks)
{
	size_t n = 0;

	EACH (const struct swim_run, r, s->runs.v, s->runs.n) {
		if (s->tasks.v[r->task].kernel == kernel)
			ticks[n++] = r->end - r->start;
	}
	SORT(ticks, n, compare_u64);
	return n ? swimlane_us(s, ticks[(n - 1) / 2] + ticks[n / 2]) / 2 : 0;
}

bool device_init(struct device_step *d, const struct swimlane *s, struct incore_error *e)
{
	size_t n = s->kernels.n;
	const struct swim_kernel **order = mem_zalloc(n + 1, sizeof(*order));
	uint64_t *ticks = mem_zalloc(s->runs.n + 1, sizeof(*ticks));
	bool ok;

	*d = (struct device_step){.s = s};
	d->overlap = mem_zalloc(n * n + 1, sizeof(*d->overlap));
	ok = order && ticks && d->overlap && VEC_RESERVE(&d->kernels, n + 1);
	for (size_t i = 0; ok && i < n; i++)
		order[i] = &s->kernels.v[i];
	if (ok)
		SORT(order, n, by_name);
	for (size_t i = 0; ok && i < n; i++)
		VEC_PUSH(&d->kernels, (struct device_kernel){.k = order[i],
					      .why = "not in the build",
					      .is_check = i % 2 == 1,
					      .device_us = median_us(s,
						      (uint32_t)(order[i] - s->kernels.v), ticks)});
	mem_free(order);
	mem_free(ticks);
	if (ok)
		device_overlap(d, s->runs.v, s->runs.n);
	else
		device_deinit(d);
	return ok || err_nomem(e);
}

void device_deinit(struct device_step *d)
{
	VEC_FREE(&d->kernels);
	mem_free(d->overlap);
	d->overlap = NULL;
}

/* --- load --- */

static size_t place_of(const struct device_step *d, uint32_t task)
{
	const struct swim_kernel *k = &d->s->kernels.v[d->s->tasks.v[task].kernel];
	size_t i = 0;

	while (d->kernels.v[i].k != k)
		i++;
	return i;
}

void device_overlap(struct device_step *d, const struct swim_run *runs, size_t n)
{
	size_t n_k = d->kernels.n;

	memset(d->overlap, 0, n_k * n_k * sizeof(*d->overlap));
	for (size_t i = 0; i < n; i++) {
		size_t a = place_of(d, runs[i].task);

		d->overlap[a * n_k + a] += (double)(runs[i].end - runs[i].start);
		for (size_t j = i + 1; j < n && runs[j].start < runs[i].end; j++) {
			size_t b = place_of(d, runs[j].task);
			uint64_t end = runs[j].end < runs[i].end ? runs[j].end : runs[i].end;
			double both = (double)(end - runs[j].start);

			d->overlap[a * n_k + b] += both;
			d->overlap[b * n_k + a] += both;
		}
	}
	for (size_t a = 0; a < n_k; a++) {
		double sum = 0;

		for (size_t i = 0; i < n; i++)
			if (place_of(d, runs[i].task) == a)
				sum += (double)(runs[i].end - runs[i].start);
		for (size_t b = 0; b < n_k && sum > 0; b++)
			d->overlap[a * n_k + b] /= sum;
	}
}

/* Bytes that a stream reads of a slot, each counted once. */
static uint64_t bytes_read(const struct opstream *s, unsigned slot)
{
	struct u64_map seen = {0};
	uint64_t sum = 0;

	EACH (const struct op_exec, x, s->ops.v, s->ops.n) {
		const struct op_form *f = &s->forms.v[x->form];

		for (unsigned i = 0; f->pipe == OPP_MTE2 && i < f->n_opnds; i++) {
			const struct op_opnd *o = &s->opnds.v[f->first_opnd + i];
			uint64_t *at;

			if (o->what != OPND_GM || o->slot != slot)
				continue;
			at = u64_map_at(&seen, s->words.v[x->first_word + i]);
			if (at && !*at)
				sum += s->derived.v[x->form].bytes;
			if (at)
				*at = 1;
		}
	}
	u64_map_deinit(&seen);
	return sum;
}

/* A tensor that a task of the step has written is in L2. For any other, each byte comes from HBM
 * once, however many cores read it. */
static unsigned device_cold_part(
	const struct device_step *d, const struct device_kernel *k, const struct swim_arg *a)
{
	const struct swim_tensor *t = a->tensor == SWIM_NONE ? NULL : &d->s->tensors.v[a->tensor];
	double all = 0;

	if (!t)
		return 1000;
	if (t->is_written)
		return 0;
	for (size_t i = 0; i < k->set->v.n; i++)
		all += (double)bytes_read(&k->set->v.v[i], a->idx);
	all *= (double)(k->k->n_runs ? k->k->n_runs : k->k->n_tasks) / (double)k->set->v.n;
	return t->bytes && all > (double)t->bytes ? (unsigned)(1000 * (double)t->bytes / all)
						  : 1000;
}

void device_attach(struct device_step *d, size_t i, const struct opstream_set *set)
{
	struct device_kernel *k = &d->kernels.v[i];
	const struct swim_task *t = &d->s->tasks.v[k->k->first_task];

	k->set = set;
	k->why = NULL;
	for (unsigned slot = 0; slot < OPSTREAM_SLOTS; slot++)
		k->cold_permille[slot] = 1000;
	EACH (const struct swim_arg, a, d->s->args.v + t->first_arg, t->n_args) {
		if (a->idx < OPSTREAM_SLOTS)
			k->cold_permille[a->idx] = (uint16_t)device_cold_part(d, k, a);
	}
}

/* --- estimates --- */

/* A block takes as long as its slowest core; returns the mean over the recorded blocks. */
static double mean_cycles(const struct timed *t, double *duty)
{
	double sum = 0, memory = 0, all = 0;
	size_t blocks = 0;

	for (size_t i = 0, n; i < t->cores.n; i += n) {
		uint64_t end = 0;

		for (n = 0; i + n < t->cores.n && t->cores.v[i + n].block == t->cores.v[i].block;
			n++) {
			const struct timed_core *c = &t->cores.v[i + n];

			end = c->end_cyc > end ? c->end_cyc : end;
			memory += (double)c->memory_cyc;
			all += (double)c->end_cyc;
		}
		sum += (double)end;
		blocks++;
	}
	*duty = all > 0 ? fmin(memory / all, 1) : 0;
	return blocks ? sum / (double)blocks : 0;
}

static bool estimate_one(struct device_step *d, struct device_kernel *k, const struct profile *p,
	bool with_load, struct incore_error *e)
{
	struct engine_options o = {.profile = p,
		.allow_unknown = true,
		.cold_permille = k->cold_permille,
		.active_permille = with_load ? (uint32_t)(k->cores * 1000 + 0.5) : 0,
		.others_permille = with_load ? (uint32_t)(k->others * 1000 + 0.5) : 0};
	struct timed t;

	(void)d;
	if (!engine_run(k->set, &o, &t, e))
		return err_wrap(e, "kernel %s", k->k->name);
	k->estimate_us = mean_cycles(&t, &k->duty) * PROF_ONE / (double)p->k[K_CLOCK_MHZ].e4;
	k->error = k->device_us > 0 ? k->estimate_us / k->device_us - 1 : 0;
	timed_deinit(&t);
	return true;
}

static void set_loads(struct device_step *d)
{
	size_t n = d->kernels.n;

	for (size_t i = 0; i < n; i++) {
		struct device_kernel *k = &d->kernels.v[i];

		k->cores = fmax(d->overlap[i * n + i], 1);
		k->others = 0;
		for (size_t j = 0; j < n; j++)
			if (j != i)
				k->others += d->overlap[i * n + j] * d->kernels.v[j].duty;
	}
}

bool device_estimate(
	struct device_step *d, const struct profile *p, bool with_load, struct incore_error *e)
{
	for (unsigned round = 0; round < (with_load ? ROUNDS : 1); round++) {
		if (round == 0)
			EACH (struct device_kernel, k, d->kernels.v, d->kernels.n)
				k->duty = UNKNOWN_DUTY;
		else
			set_loads(d);
		EACH (struct device_kernel, k, d->kernels.v, d->kernels.n) {
			if (k->set && !estimate_one(d, k, p, with_load && round, e))
				return false;
		}
	}
	return true;
}

static int compare_double(const void *a, const void *b)
{
	return COMPARE(*(const double *)a, *(const double *)b);
}

struct device_error device_error_of(const struct device_step *d, int which, int kind)
{
	double *ratio = mem_zalloc(d->kernels.n + 1, sizeof(*ratio));
	struct device_error x = {0};

	EACH (const struct device_kernel, k, d->kernels.v, d->kernels.n) {
		if (!k->set || k->device_us <= 0 || (which >= 0 && k->is_check != (which == 1)) ||
			(kind >= 0 && (int)device_kind_of(k->k) != kind))
			continue;
		if (ratio)
			ratio[x.n] = 1 / (1 + k->error);
		x.n++;
		x.mean += fabs(k->error);
		x.bias += k->error;
		if (fabs(k->error) >= fabs(x.worst)) {
			x.worst = k->error;
			x.worst_name = k->k->name;
		}
	}
	if (x.n && ratio) {
		SORT(ratio, x.n, compare_double);
		x.mean /= x.n;
		x.bias /= x.n;
		x.low = ratio[(x.n - 1) / 10];
		x.high = ratio[x.n - 1 - (x.n - 1) / 10];
	}
	mem_free(ratio);
	return x;
}
