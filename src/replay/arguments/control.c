/* SPDX-License-Identifier: Apache-2.0 */
/* control.c: finds the values that make a kernel work at full shape, by folding its .pto again. */
#include "replay/arguments/control.h"

#include <string.h>

#define LARGEST ((int64_t)1 << 30)	/* value that is tried */
#define LARGEST_USED ((int64_t)1 << 20) /* a bound that no view gives */
#define MOST_TEXT                                                                                  \
	(UINT64_C(256) << 20) /* bytes of .pto read in all: a hostile file ends the search */

struct settling {
	struct str text;
	const char *path;
	const struct pto_launch *known;
	const char *const *funcs;
	struct control *out;
	bool has_value[PTO_MAX_PARAMS]; /* settled, or being tried */
	int64_t value[PTO_MAX_PARAMS];
	uint64_t n_read;
	bool is_whole_grid;
	struct incore_error *e;
};

/* What one folding showed, of all functions of the kernel. */
struct look {
	uint64_t n_outside, work;
	struct pto_param params[PTO_MAX_PARAMS];
	uint32_t n_params;
};

static bool settled(const struct settling *s, uint32_t i, int64_t *value)
{
	if (i < PTO_MAX_PARAMS && s->has_value[i])
		*value = s->value[i];
	return i < PTO_MAX_PARAMS && s->has_value[i];
}

static bool scalar_of(void *ctx, uint32_t i, int64_t *value)
{
	const struct settling *s = ctx;

	return settled(s, i, value) ||
	       (s->known->scalar && s->known->scalar(s->known->ctx, i, value));
}

static bool element_of(void *ctx, uint32_t i, int64_t *value)
{
	const struct settling *s = ctx;

	return settled(s, i, value) ||
	       (s->known->element && s->known->element(s->known->ctx, i, value));
}

static bool is_of_kernel(const struct settling *s, const char *name)
{
	for (size_t i = 0; s->funcs[i]; i++)
		if (strcmp(s->funcs[i], name) == 0)
			return true;
	return false;
}

static void unite(struct pto_param *to, const struct pto_param *p)
{
	bool has_work = to->has_work, has_place = to->has_place;
	bool is_control = to->is_control, is_bound = to->is_bound, is_blind = to->is_blind;

	*to = *p;
	to->has_work |= has_work;
	to->has_place |= has_place;
	to->is_control |= is_control;
	to->is_bound |= is_bound;
	to->is_blind |= is_blind;
}

/* Folds the kernel with the values so far; focus: the parameter whose accesses are counted. */
static bool fold_once(struct settling *s, uint64_t focus, struct look *out)
{
	struct pto_launch launch = {.n_blocks = s->known->n_blocks,
		.dynamic_dim = s->known->dynamic_dim,
		.scalar = scalar_of,
		.element = element_of,
		.ctx = s,
		.focus = focus,
		.is_whole_grid = s->is_whole_grid};
	struct pto_module m;
	struct arena arena;
	bool ok;

	*out = (struct look){0};
	s->n_read += s->text.n;
	arena_init(&arena);
	ok = pto_read(&arena, s->text, s->path, &launch, &m, s->e);
	for (uint32_t f = 0; ok && f < m.n_funcs; f++) {
		const struct pto_func *func = &m.funcs[f];

		if (!is_of_kernel(s, func->name))
			continue;
		out->n_outside += func->n_outside;
		out->work = out->work * 31 + func->work;
		out->n_params = func->n_params > out->n_params ? func->n_params : out->n_params;
		for (uint32_t i = 0; i < func->n_params; i++)
			unite(&out->params[i], &func->params[i]);
	}
	for (uint32_t i = 0; i < out->n_params; i++) /* the arena ends here */
		out->params[i].name = out->params[i].type = out->params[i].alias = NULL;
	arena_deinit(&arena);
	return ok;
}

/* Folds with one value of parameter i; sizes that do not fit count as outside. */
static bool try_value(struct settling *s, uint32_t i, int64_t value, struct look *out)
{
	s->has_value[i] = true;
	s->value[i] = value;
	if (fold_once(s, (uint64_t)1 << i, out))
		return true;
	if (!err_is(s->e, "bad-pto"))
		return false;
	incore_error_clear(s->e);
	*out = (struct look){.n_outside = 1};
	return true;
}

/* The least of 0, 1, 2, 4 ... that stays inside; -1: none. */
static bool find_least(struct settling *s, uint32_t i, int64_t most, int64_t *least)
{
	struct look x;

	*least = -1;
	for (int64_t v = 0; v <= most && s->n_read < MOST_TEXT; v = v ? v * 2 : 1) {
		if (!try_value(s, i, v, &x))
			return false;
		if (!x.n_outside) {
			*least = v;
			return true;
		}
	}
	return true;
}

/* The largest value from `low`, which is inside, that stays inside. */
static bool find_largest(struct settling *s, uint32_t i, int64_t low, int64_t most, int64_t *out)
{
	int64_t high = most;
	struct look x;

	if (!try_value(s, i, most, &x))
		return false;
	if (!x.n_outside)
		low = most;
	while (low + 1 < high && s->n_read < MOST_TEXT) {
		int64_t middle = low + (high - low) / 2;

		if (!try_value(s, i, middle, &x))
			return false;
		*(x.n_outside ? &high : &low) = middle;
	}
	*out = low;
	return true;
}

/* The least value from `low` that does the work of `high`. */
static bool find_saturated(struct settling *s, uint32_t i, int64_t low, int64_t high, int64_t *out)
{
	uint64_t work;
	struct look x;

	if (!try_value(s, i, high, &x))
		return false;
	work = x.work;
	while (low < high && s->n_read < MOST_TEXT) {
		int64_t middle = low + (high - low) / 2;

		if (!try_value(s, i, middle, &x))
			return false;
		if (x.work == work)
			high = middle;
		else
			low = middle + 1;
	}
	*out = high;
	return true;
}

static int64_t most_of(const struct pto_param *p)
{
	unsigned bits = p->elem_bits;

	return bits && bits < 31 ? ((int64_t)1 << (bits - 1)) - 1 : LARGEST;
}

static bool settle_work(struct settling *s, uint32_t i, int64_t least, int64_t most)
{
	int64_t value = 0;
	struct look x, y;

	if (!find_largest(s, i, least, most, &value) || !try_value(s, i, least, &x) ||
		!try_value(s, i, value, &y))
		return false;
	s->out[i] = (struct control){CONTROL_FULL, value};
	if (x.work == y.work) /* it decides places after all, or what it decides is not known */
		s->out[i] = (struct control){CONTROL_PLACE, least};
	else if (value == most && !find_saturated(s, i, least, most, &s->out[i].value))
		return false;
	if (value == most && s->out[i].value > LARGEST_USED)
		s->out[i].state = CONTROL_OPEN;
	return true;
}

static bool settle_one(struct settling *s, uint32_t i, const struct pto_param *p)
{
	int64_t least = -1, most = most_of(p);

	s->is_whole_grid = true;
	if (!find_least(s, i, most, &least))
		return false;
	if (least < 0) { /* not for every block there may be: for those that are launched */
		s->is_whole_grid = false;
		if (!find_least(s, i, most, &least))
			return false;
	}
	s->out[i] = (struct control){least < 0 ? CONTROL_OPEN : CONTROL_PLACE, least};
	if (least >= 0 && p->has_work && !settle_work(s, i, least, most))
		return false;
	if (s->n_read >= MOST_TEXT)
		s->out[i].state = CONTROL_OPEN;
	s->has_value[i] = s->out[i].state > CONTROL_OPEN;
	s->value[i] = s->out[i].value;
	return true;
}

/* Is it an integer, or a pointer to integers that are loaded as scalars, that nobody gives? */
static bool is_asked(const struct settling *s, const struct pto_param *p, uint32_t i)
{
	int64_t value;

	if (p->launched || p->is_bound || !p->is_integer || (p->is_pointer && !p->is_control))
		return false;
	return p->is_pointer ? !(s->known->element && s->known->element(s->known->ctx, i, &value))
			     : !(s->known->scalar && s->known->scalar(s->known->ctx, i, &value));
}

/* A value is open if, with all others settled, it still decides through something unknown. */
static bool settle_blind(struct settling *s)
{
	struct look x;

	if (!fold_once(s, 0, &x))
		return false;
	for (uint32_t i = 0; i < x.n_params; i++)
		if (x.params[i].is_blind && s->out[i].state > CONTROL_OPEN)
			s->out[i].state = CONTROL_OPEN;
	return true;
}

bool control_settle(struct str text, const char *path, const struct pto_launch *known,
	const char *const *funcs, struct control out[PTO_MAX_PARAMS], struct incore_error *e)
{
	struct incore_error why = {0};
	struct settling s = {text, path, known, funcs, out, .is_whole_grid = true, .e = &why};
	struct look x;
	bool ok = fold_once(&s, 0, &x);

	memset(out, 0, PTO_MAX_PARAMS * sizeof(*out));
	/* places first: what decides work is then bounded by accesses that are known */
	for (unsigned pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; ok && i < x.n_params; i++) {
			const struct pto_param *p = &x.params[i];

			if ((p->has_work || p->has_place) && p->has_work == (pass == 1) &&
				is_asked(&s, p, i))
				ok = settle_one(&s, i, p);
		}
	ok = ok && settle_blind(&s);
	if (!ok && err_is(&why, "bad-pto")) { /* sizes without a bound: reported elsewhere */
		incore_error_clear(&why);
		return true;
	}
	if (!ok)
		err_move(e, &why);
	return ok;
}
