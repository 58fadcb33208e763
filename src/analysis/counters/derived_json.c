/* SPDX-License-Identifier: Apache-2.0 */
/* derived_json.c: definitions and their values as JSON. */
#include <math.h>

#include "analysis/counters/derived.h"

#define MAX_ROWS 256 /* rows per definition: SE times CU */
#define DIGITS 9

/* One row of values over time: the mean of each `group` neighbours. */
static void put_values(const double *v, uint32_t n, uint32_t group, struct json_writer *w)
{
	json_w_kv_row(w, "values");
	for (uint32_t i = 0; i < n; i += group) {
		uint32_t m = n - i < group ? n - i : group;
		double sum = 0;

		for (uint32_t k = 0; k < m; k++)
			sum += v[i + k];
		json_w_sig(w, sum / m, DIGITS);
	}
	json_w_end(w);
}

static void put_extent(const struct derived_tensor *x, struct json_writer *w)
{
	size_t n = (size_t)x->dim[0] * x->dim[1] * x->dim[2] * x->dim[3], finite = 0;
	double low = NAN, high = NAN, sum = 0;
	const double *v = x->v;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		low = fmin(low, v[i]);
		high = fmax(high, v[i]);
		sum += v[i];
		finite++;
	}
	json_w_key(w, "min");
	json_w_sig(w, low, DIGITS);
	json_w_key(w, "max");
	json_w_sig(w, high, DIGITS);
	json_w_key(w, "mean");
	json_w_sig(w, finite ? sum / (double)finite : NAN, DIGITS);
}

static void put_rows(const struct derived *d, const struct derived_tensor *x, uint32_t points,
	struct json_writer *w)
{
	uint32_t n = x->dim[3], group = points && n > points ? (n + points - 1) / points : 1,
		 rows = 0;

	json_w_kv_u64(w, "every", group);
	json_w_kv_array(w, "rows");
	for (uint32_t se = 0; se < x->dim[1]; se++) {
		for (uint32_t cu = 0; cu < x->dim[2] && rows < MAX_ROWS; cu++, rows++) {
			json_w_row_object(w);
			if (x->dim[1] == d->n_ses && d->n_ses > 1)
				json_w_kv_u64(w, "se", d->trace->clocks[d->se_clock[se]].id);
			if (x->dim[2] > 1)
				json_w_kv_u64(w, "cu", cu);
			put_values(x->v + ((size_t)se * x->dim[2] + cu) * n, n, group, w);
			json_w_end(w);
		}
	}
	json_w_end(w);
}

static void put_definition(const struct derived *d, const struct derived_definition *x,
	uint32_t points, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_str(w, "name", x->name);
	json_w_kv_str(w, "text", x->text);
	json_w_kv_bool(w, "default", x->is_default);
	json_w_kv_bool(w, "hidden", x->is_hidden);
	json_w_kv_u64(w, "line", x->line);
	json_w_key(w, "error");
	if (x->state != DERIVED_OK) {
		json_w_object(w);
		json_w_kv_cstr(w, "code", x->code);
		json_w_kv_cstr(w, "message", x->message);
		json_w_kv_u64(w, "line", x->error_line);
		json_w_kv_u64(w, "column", x->error_column);
		json_w_end(w);
	} else {
		json_w_null(w);
		json_w_kv_row(w, "shape");
		for (unsigned a = 0; a < DERIVED_AXES; a++)
			json_w_u64(w, x->value.dim[a]);
		json_w_end(w);
		put_extent(&x->value, w);
		if (!x->is_hidden)
			put_rows(d, &x->value, points, w);
	}
	json_w_end(w);
}

static void put_counter(const struct derived *d, const struct derived_counter *x, uint32_t points,
	struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_str(w, "name", x->name);
	json_w_kv_cstr(w, "unit", x->unit);
	put_extent(&x->value, w);
	put_rows(d, &x->value, points, w);
	json_w_end(w);
}

void derived_json(const struct derived *d, uint32_t points, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_object(w, "axes");
	json_w_kv_u64(w, "first_cycle", d->first_cyc);
	json_w_kv_u64(w, "step", d->step_cyc);
	json_w_kv_bool(w, "coarse", d->is_coarse);
	json_w_kv_u64(w, "samples", d->n_samples);
	json_w_kv_u64(w, "ses", d->n_ses);
	json_w_kv_u64(w, "cus", d->n_cus);
	json_w_end(w);
	json_w_kv_array(w, "counters");
	for (uint32_t i = 0; i < d->n_counters; i++)
		if (!d->counters[i].is_clock)
			put_counter(d, &d->counters[i], points, w);
	json_w_end(w);
	json_w_kv_array(w, "definitions");
	for (uint32_t i = 0; i < d->n; i++)
		put_definition(d, &d->v[i], points, w);
	json_w_end(w);
	json_w_end(w);
}
