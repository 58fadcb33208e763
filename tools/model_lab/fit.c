/* SPDX-License-Identifier: Apache-2.0 */
/* fit.c: damped least squares over whole estimates; each derivative is two runs of the model. */
#include "model_lab/fit.h"

#include <math.h>

#define MAX_STEPS 40
#define LEAST_EFFECT                                                                               \
	0.01	    /* a constant that changes no estimate by more than this cannot be fitted */
#define ALIKE 0.995 /* cosine of two constants' effects above which they are indistinguishable */

struct fit_key {
	enum prof_key key;
	double start;	/* if the profile has no value */
	double highest; /* 0: no limit */
};

static const struct fit_key KEYS[] = {
	{K_LAUNCH, 500, 0},
	{K_S_FETCH, 40, 0},
	{K_HBM_BW, 600, 0},
	{K_HBM_LAT, 200, 0},
	{K_L2_QUEUE, 0.5, 1},
};
#define N_KEYS (sizeof(KEYS) / sizeof(KEYS[0]))

struct fit {
	struct device_step *d;
	struct profile *p;
	struct device_fit *out;
	bool only_fit_rows;
	size_t n_rows;
	unsigned at[MAX_UNKNOWNS]; /* indices in `out` of the fitted values */
	unsigned n;
	double *jacobian; /* [row * MAX_UNKNOWNS + k]: of log(estimate), by relative change */
	double *log_est, *error;
	struct incore_error *e;
};

unsigned device_fit_keys(enum prof_key keys[MAX_UNKNOWNS])
{
	for (unsigned i = 0; i < N_KEYS; i++)
		keys[i] = KEYS[i].key;
	return N_KEYS;
}

static const struct fit_key *limits_of(enum prof_key key)
{
	for (unsigned i = 0; i < N_KEYS; i++)
		if (KEYS[i].key == key)
			return &KEYS[i];
	return NULL;
}

static void set_value(struct fit *f, const struct fit_value *v, double value)
{
	struct prof_value *k = &f->p->k[v->key];

	k->e4 = (int64_t)(value * PROF_ONE + 0.5);
	k->is_set = true;
}

/* Computes log(estimate) of the rows, log(estimate / device), and the sum of squares of the
 * latter. */
static bool evaluate(struct fit *f, double *log_est, double *error, double *sum)
{
	size_t row = 0;

	for (unsigned i = 0; i < f->out->n; i++)
		set_value(f, &f->out->v[i], f->out->v[i].after);
	if (!device_estimate(f->d, f->p, true, f->e))
		return false;
	*sum = 0;
	EACH (const struct device_kernel, k, f->d->kernels.v, f->d->kernels.n) {
		if (!k->set || k->device_us <= 0 || (f->only_fit_rows && k->is_check))
			continue;
		log_est[row] = log(fmax(k->estimate_us, 1e-9));
		error[row] = log_est[row] - log(k->device_us);
		*sum += error[row] * error[row];
		row++;
	}
	return true;
}

/* Computes how the estimates change with each constant. */
static bool differentiate(struct fit *f, double *other, double *scratch)
{
	double sum;

	for (unsigned k = 0; k < f->n; k++) {
		struct fit_value *v = &f->out->v[f->at[k]];
		double value = v->after, step = 0.1;

		v->after = value * (1 + step);
		if (!evaluate(f, other, scratch, &sum))
			return false;
		v->after = value;
		v->effect = 0;
		for (size_t i = 0; i < f->n_rows; i++) {
			double slope = (other[i] - f->log_est[i]) / step;

			f->jacobian[i * MAX_UNKNOWNS + k] = slope;
			v->effect = fmax(v->effect, fabs(slope) / 5);
		}
	}
	return true;
}

/* Excludes constants that no estimate depends on, or whose effect equals another's. */
static void drop_unknowable(struct fit *f)
{
	unsigned kept = 0;

	for (unsigned k = 0; k < f->n; k++) {
		struct fit_value *v = &f->out->v[f->at[k]];

		if (v->effect < LEAST_EFFECT)
			v->why = "no kernel depends on it by more than 1 %";
		for (unsigned j = 0; j < kept && !v->why; j++) {
			double ab = 0, aa = 0, bb = 0;

			for (size_t i = 0; i < f->n_rows; i++) {
				double a = f->jacobian[i * MAX_UNKNOWNS + k];
				double b = f->jacobian[i * MAX_UNKNOWNS + j];

				ab += a * b;
				aa += a * a;
				bb += b * b;
			}
			if (fabs(ab) > ALIKE * sqrt(aa * bb))
				v->why = "these kernels do not tell it from another constant";
		}
		if (v->why) {
			v->after = v->before;
			continue;
		}
		for (size_t i = 0; i < f->n_rows; i++)
			f->jacobian[i * MAX_UNKNOWNS + kept] = f->jacobian[i * MAX_UNKNOWNS + k];
		f->at[kept++] = f->at[k];
	}
	f->n = kept;
}

static bool solve_step(const struct fit *f, double damping, double *step)
{
	struct equations s = {.n = f->n};
	double unit[MAX_UNKNOWNS] = {0};

	for (size_t i = 0; i < f->n_rows; i++)
		equations_add(&s, &f->jacobian[i * MAX_UNKNOWNS], -f->error[i], 1);
	for (unsigned k = 0; k < f->n; k++) {
		unit[k] = 1;
		equations_add(&s, unit, 0, damping);
		unit[k] = 0;
	}
	return equations_solve(&s, step);
}

static void take_step(struct fit *f, const double *step, const double *from)
{
	for (unsigned k = 0; k < f->n; k++) {
		struct fit_value *v = &f->out->v[f->at[k]];
		const struct fit_key *limits = limits_of(v->key);
		double grow = fmin(fmax(1 + step[k], 0.4), 2.5);

		v->after = from[k] * grow;
		if (limits && limits->highest > 0)
			v->after = fmin(v->after, limits->highest);
	}
}

static bool descend(struct fit *f, double *other, double *scratch)
{
	double damping = 1e-2, best, sum, from[MAX_UNKNOWNS], step[MAX_UNKNOWNS];
	bool ok = evaluate(f, f->log_est, f->error, &best);

	for (unsigned i = 0; ok && f->n && i < MAX_STEPS && damping < 1e3; i++) {
		ok = differentiate(f, other, scratch);
		if (ok && i == 0)
			drop_unknowable(f);
		for (unsigned k = 0; k < f->n; k++)
			from[k] = f->out->v[f->at[k]].after;
		if (!ok || !f->n || !solve_step(f, damping, step))
			break;
		take_step(f, step, from);
		ok = evaluate(f, other, scratch, &sum);
		if (ok && sum < best) {
			bool is_done = best - sum < 1e-6 * best;

			best = sum;
			damping /= 4;
			memcpy(f->log_est, other, f->n_rows * sizeof(*other));
			memcpy(f->error, scratch, f->n_rows * sizeof(*scratch));
			if (is_done)
				break;
			continue;
		}
		for (unsigned k = 0; k < f->n; k++)
			f->out->v[f->at[k]].after = from[k];
		damping *= 8;
	}
	return ok && evaluate(f, f->log_est, f->error, &best) && differentiate(f, other, scratch) &&
	       evaluate(f, f->log_est, f->error, &best);
}

/* The error of a row under a fit without it is its error divided by 1 - its leverage. */
static double left_out_error(const struct fit *f)
{
	double sum = 0;

	for (size_t i = 0; i < f->n_rows; i++) {
		const double *row = &f->jacobian[i * MAX_UNKNOWNS];
		struct equations s = {.n = f->n};
		double leverage = 0, x[MAX_UNKNOWNS] = {0};

		for (size_t j = 0; j < f->n_rows; j++)
			equations_add(&s, &f->jacobian[j * MAX_UNKNOWNS], 0, 1);
		for (unsigned k = 0; k < f->n; k++)
			s.a[k][f->n] = row[k];
		if (f->n && equations_solve(&s, x))
			for (unsigned k = 0; k < f->n; k++)
				leverage += row[k] * x[k];
		sum += fabs(exp(f->error[i] / fmax(1 - leverage, 0.05)) - 1);
	}
	return f->n_rows ? sum / (double)f->n_rows : 0;
}

static bool start(struct fit *f, const enum prof_key *keys, unsigned n)
{
	for (unsigned i = 0; i < n && i < MAX_UNKNOWNS; i++) {
		const struct fit_key *limits = limits_of(keys[i]);
		double value = (double)f->p->k[keys[i]].e4 / PROF_ONE;
		double from = value > 0 ? value : limits ? limits->start : 1;

		f->out->v[f->out->n++] =
			(struct fit_value){.key = keys[i], .before = value, .after = from};
		f->at[f->n++] = i;
	}
	EACH (const struct device_kernel, k, f->d->kernels.v, f->d->kernels.n) {
		f->n_rows += k->set && k->device_us > 0 && !(f->only_fit_rows && k->is_check);
	}
	return f->n_rows > f->n ||
	       err_set(f->e, INCORE_BAD_INPUT, "not-determined",
		       "%zu kernels with a time and an estimate do not determine %u constants",
		       f->n_rows, f->n);
}

bool device_fit_run(struct device_step *d, struct profile *p, const enum prof_key *keys, unsigned n,
	bool only_fit_rows, struct device_fit *out, struct incore_error *e)
{
	struct fit f = {.d = d, .p = p, .out = out, .only_fit_rows = only_fit_rows, .e = e};
	size_t rows = d->kernels.n + 1;
	double *v = mem_zalloc(rows * (MAX_UNKNOWNS + 4), sizeof(*v));
	bool ok;

	*out = (struct device_fit){0};
	if (!v)
		return err_nomem(e);
	f.jacobian = v;
	f.log_est = v + rows * MAX_UNKNOWNS;
	f.error = f.log_est + rows;
	ok = device_estimate(d, p, true, e);
	out->before = device_error_of(d, only_fit_rows ? 0 : -1, -1);
	ok = ok && start(&f, keys, n) && descend(&f, f.error + rows, f.error + 2 * rows);
	out->after = device_error_of(d, only_fit_rows ? 0 : -1, -1);
	out->left_out = ok ? left_out_error(&f) : 0;
	mem_free(v);
	return ok;
}
