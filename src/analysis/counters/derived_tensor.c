/* SPDX-License-Identifier: Apache-2.0 */
/* derived_tensor.c: arithmetic on tensors [XCC][SE][CU][TIME]. */
#include <math.h>
#include <stdarg.h>

#include "analysis/counters/derived_internal.h"

static const char *const AXIS_NAME[DERIVED_AXES] = {"XCC", "SE", "CU", "TIME"};

bool(derived_fault_set)(
	struct derived *d, struct derived_fault *f, const char *code, const char *fmt, ...)
{
	struct strbuf b = {0};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	f->code = code;
	f->message = b.failed || !b.p ? NULL : arena_strndup(&d->arena, b.p, b.n);
	if (!f->message) {
		f->code = "no-memory";
		f->message = "out of memory";
	}
	sb_free(&b);
	return false;
}

bool tensor_new(struct derived *d, const uint32_t dim[DERIVED_AXES], struct derived_tensor *out,
	struct derived_fault *f)
{
	uint64_t n = 1;

	for (unsigned a = 0; a < DERIVED_AXES; a++) {
		n *= dim[a];
		if (n > DERIVED_MAX_ELEMENTS)
			break;
	}
	if (d->n_elements + n > DERIVED_MAX_ELEMENTS)
		return derived_fault_set(d, f, "size", "more than %llu numbers in all definitions",
			(unsigned long long)DERIVED_MAX_ELEMENTS);
	out->v = arena_zalloc(&d->arena, (size_t)n + 1, sizeof(double));
	if (!out->v)
		return derived_fault_set(d, f, "no-memory", "out of memory");
	for (unsigned a = 0; a < DERIVED_AXES; a++)
		out->dim[a] = dim[a];
	d->n_elements += n;
	return true;
}

bool tensor_number(struct derived *d, double v, struct derived_tensor *out, struct derived_fault *f)
{
	static const uint32_t one[DERIVED_AXES] = {1, 1, 1, 1};

	if (!tensor_new(d, one, out, f))
		return false;
	out->v[0] = v;
	return true;
}

static double derived_tensor_apply(enum derived_op op, double a, double b)
{
	switch (op) {
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_DIV: /* the sign of zero and 0/0 follow IEEE, without triggering UBSan */
		return b != 0			  ? a / b
		       : a == 0 || isnan(a)	  ? NAN
		       : signbit(a) != signbit(b) ? -INFINITY
						  : INFINITY;
	case OP_EQ:
		return a == b;
	case OP_LT:
		return a < b;
	case OP_GT:
		return a > b;
	case OP_LE:
		return a <= b;
	case OP_GE:
		return a >= b;
	case OP_AND:
		return a != 0 && b != 0;
	case OP_OR:
		return a != 0 || b != 0;
	case OP_MAX:
		return fmax(a, b);
	case OP_MIN:
		return fmin(a, b);
	}
	return NAN;
}

/* Steps between neighbours along each axis; 0 where the axis is broadcast. */
static void strides(const struct derived_tensor *x, size_t out[DERIVED_AXES])
{
	size_t step = 1;

	for (unsigned a = DERIVED_AXES; a-- > 0;) {
		out[a] = x->dim[a] == 1 ? 0 : step;
		step *= x->dim[a];
	}
}

static size_t derived_tensor_place(const size_t at[DERIVED_AXES], const size_t stride[DERIVED_AXES])
{
	size_t p = 0;

	for (unsigned a = 0; a < DERIVED_AXES; a++)
		p += at[a] * stride[a];
	return p;
}

/* Advances to the next index of a tensor of these dimensions; false after the last one. */
static bool step_index(const uint32_t dim[DERIVED_AXES], size_t at[DERIVED_AXES])
{
	for (unsigned a = DERIVED_AXES; a-- > 0;) {
		if (++at[a] < dim[a])
			return true;
		at[a] = 0;
	}
	return false;
}

static size_t derived_tensor_count(const struct derived_tensor *x)
{
	return (size_t)x->dim[0] * x->dim[1] * x->dim[2] * x->dim[3];
}

bool tensor_apply(struct derived *d, enum derived_op op, const struct derived_tensor ab[2],
	struct derived_tensor *out, struct derived_fault *f)
{
	uint32_t dim[DERIVED_AXES];
	size_t sa[DERIVED_AXES], sb[DERIVED_AXES], at[DERIVED_AXES] = {0}, n = 0;

	for (unsigned a = 0; a < DERIVED_AXES; a++) {
		uint32_t x = ab[0].dim[a], y = ab[1].dim[a];

		if (x != y && x != 1 && y != 1)
			return derived_fault_set(d, f, "shape",
				"the operands have %u and %u entries along %s", x, y, AXIS_NAME[a]);
		dim[a] = x > y ? x : y;
	}
	if (!tensor_new(d, dim, out, f))
		return false;
	strides(&ab[0], sa);
	strides(&ab[1], sb);
	if (derived_tensor_count(out) == 0)
		return true;
	do
		out->v[n++] = derived_tensor_apply(op, ab[0].v[derived_tensor_place(at, sa)],
			ab[1].v[derived_tensor_place(at, sb)]);
	while (step_index(dim, at));
	return true;
}

bool tensor_fold(struct derived *d, enum derived_fold fold, unsigned axes,
	const struct derived_tensor *x, struct derived_tensor *out, struct derived_fault *f)
{
	uint32_t dim[DERIVED_AXES];
	size_t so[DERIVED_AXES], at[DERIVED_AXES] = {0}, folded = 1, n = 0;

	for (unsigned a = 0; a < DERIVED_AXES; a++) {
		dim[a] = axes >> a & 1 ? 1 : x->dim[a];
		folded *= axes >> a & 1 ? x->dim[a] : 1;
	}
	if (derived_tensor_count(x) == 0)
		return derived_fault_set(d, f, "shape", "nothing to fold: the tensor is empty");
	if (!tensor_new(d, dim, out, f))
		return false;
	strides(out, so);
	for (size_t i = 0; i < derived_tensor_count(out); i++)
		out->v[i] = fold == FOLD_MIN ? INFINITY : fold == FOLD_MAX ? -INFINITY : 0;
	do {
		double *to = &out->v[derived_tensor_place(at, so)], v = x->v[n++];

		*to = fold == FOLD_MIN ? fmin(*to, v) : fold == FOLD_MAX ? fmax(*to, v) : *to + v;
	} while (step_index(x->dim, at));
	for (size_t i = 0; fold == FOLD_MEAN && i < derived_tensor_count(out); i++)
		out->v[i] /= (double)folded;
	return true;
}

/* Keeps the entries keep[0 .. n) along an axis. */
static bool take_along_axis(struct derived *d, const uint32_t *keep, uint32_t n, unsigned axis,
	struct derived_tensor *x, struct derived_fault *f)
{
	struct derived_tensor out;
	uint32_t dim[DERIVED_AXES];
	size_t sx[DERIVED_AXES], at[DERIVED_AXES] = {0}, i = 0;

	for (unsigned a = 0; a < DERIVED_AXES; a++)
		dim[a] = a == axis ? n : x->dim[a];
	if (!tensor_new(d, dim, &out, f))
		return false;
	strides(x, sx);
	do {
		size_t from[DERIVED_AXES] = {at[0], at[1], at[2], at[3]};

		from[axis] = keep[at[axis]];
		out.v[i++] = x->v[derived_tensor_place(from, sx)];
	} while (step_index(dim, at));
	*x = out;
	return true;
}

static bool index_in(struct derived *d, int64_t at, unsigned axis, const struct derived_tensor *x,
	uint32_t *out, struct derived_fault *f)
{
	int64_t n = x->dim[axis], i = at < 0 ? at + n : at;

	if (i < 0 || i >= n)
		return derived_fault_set(d, f, "shape", "index %lld of %lld along %s",
			(long long)at, (long long)n, AXIS_NAME[axis]);
	*out = (uint32_t)i;
	return true;
}

bool tensor_select(struct derived *d, const struct derived_range *r, unsigned axis,
	struct derived_tensor *x, struct derived_fault *f)
{
	uint32_t first, n = 0, *keep;
	int64_t stop = r->is_one ? 0 : r->stop > x->dim[axis] ? x->dim[axis] : r->stop;

	if (!index_in(d, r->start, axis, x, &first, f))
		return false;
	if (r->is_one)
		return take_along_axis(d, &first, 1, axis, x, f);
	if (r->step < 1)
		return derived_fault_set(d, f, "shape", "a step of %lld", (long long)r->step);
	keep = arena_zalloc(&d->arena, (size_t)x->dim[axis] + 1, sizeof(*keep));
	if (!keep)
		return derived_fault_set(d, f, "no-memory", "out of memory");
	for (int64_t i = first; i < stop; i += r->step) {
		keep[n++] = (uint32_t)i;
		if (r->step > stop)
			break;
	}
	if (n == 0)
		return derived_fault_set(d, f, "shape", "the range %lld:%lld is empty along %s",
			(long long)r->start, (long long)r->stop, AXIS_NAME[axis]);
	return take_along_axis(d, keep, n, axis, x, f);
}

bool tensor_remove(struct derived *d, int64_t at, unsigned axis, struct derived_tensor *x,
	struct derived_fault *f)
{
	uint32_t gone = 0, n = 0, *keep;

	if (!index_in(d, at, axis, x, &gone, f))
		return false;
	if (x->dim[axis] < 2)
		return derived_fault_set(
			d, f, "shape", "nothing would be left along %s", AXIS_NAME[axis]);
	keep = arena_zalloc(&d->arena, x->dim[axis], sizeof(*keep));
	if (!keep)
		return derived_fault_set(d, f, "no-memory", "out of memory");
	for (uint32_t i = 0; i < x->dim[axis]; i++)
		if (i != gone)
			keep[n++] = i;
	return take_along_axis(d, keep, n, axis, x, f);
}

bool tensor_delta(
	struct derived *d, unsigned axis, struct derived_tensor *x, struct derived_fault *f)
{
	struct derived_tensor ab[2] = {*x, *x};

	if (x->dim[axis] < 2)
		return derived_fault_set(
			d, f, "shape", "a difference along %s needs two entries", AXIS_NAME[axis]);
	return tensor_remove(d, 0, axis, &ab[0], f) && tensor_remove(d, -1, axis, &ab[1], f) &&
	       tensor_apply(d, OP_SUB, ab, x, f);
}

bool tensor_linear(struct derived *d, double n, unsigned axis, struct derived_tensor *out,
	struct derived_fault *f)
{
	uint32_t dim[DERIVED_AXES] = {1, 1, 1, 1};

	if (!(n >= 1 && n <= DERIVED_MAX_SAMPLES))
		return derived_fault_set(
			d, f, "size", "linear() makes 1 to %u numbers", DERIVED_MAX_SAMPLES);
	dim[axis] = (uint32_t)n;
	if (!tensor_new(d, dim, out, f))
		return false;
	for (uint32_t i = 0; i < dim[axis]; i++)
		out->v[i] = i;
	return true;
}
