/* SPDX-License-Identifier: Apache-2.0 */
/* diff_sides.c: the two captures of a diff, and the repeats that separate noise from change. */
#include "answer/captures.h"
#include "answer/diff.h"
#include "answer/siblings.h"

struct accounted {
	struct trace *trace;
	struct diff_side side;
};

struct diff_sides {
	struct answer *answer;
	const struct request *r;
	struct accounted a, b;
	/* A repeat of both A and B is here only once. */
	struct accounted repeats[2 * DIFF_MAX_REPEATS];
	uint32_t n_repeats;
	struct diff_side sides_a[DIFF_MAX_REPEATS],
		sides_b[DIFF_MAX_REPEATS]; /* copies of the sides of repeats */
	uint32_t n_a, n_b;
	struct diff_side of_state[2 + 2 * DIFF_MAX_REPEATS]; /* copies, too */
	uint32_t n_state;
	bool is_pair;
};

static void close_side(struct accounted *x)
{
	if (x->trace)
		diff_side_close(&x->side);
	trace_free(x->trace);
}

static void diff_sides_free(struct diff_sides *s)
{
	for (uint32_t i = 0; i < s->n_repeats; i++)
		close_side(&s->repeats[i]);
	close_side(&s->a);
	close_side(&s->b);
	mem_free(s);
}

/* Takes t. */
static bool account_side(
	struct diff_sides *s, struct trace *t, struct accounted *out, struct incore_error *e)
{
	struct walk_result walk = {0};
	struct walk_options o = request_walk(s->r, NULL);
	bool ok = diff_side_open(&out->side, t, &o, &walk, e);

	if (ok) {
		answer_walk_notes(s->answer, &walk);
		out->trace = t;
	} else {
		trace_free(t);
	}
	walk_result_deinit(&walk);
	return ok;
}

static bool open_side(
	struct diff_sides *s, const char *path, struct accounted *out, struct incore_error *e)
{
	struct trace *t;

	if (!answer_open(s->answer, s->r, path, IMPORT_SIDE_FILES, &t, e))
		return false;
	trace_share(t); /* the answer holds a reference, too */
	return account_side(s, t, out, e);
}

static bool is_same_origin(const struct trace *t, const struct trace *other)
{
	return t->meta.launch.dispatch == other->meta.launch.dispatch &&
	       t->meta.launch.agent == other->meta.launch.agent &&
	       str_is(str_of(t->meta.origin), other->meta.origin);
}

static struct accounted *find_repeat(struct diff_sides *s, const char *path)
{
	for (uint32_t i = 0; i < s->n_repeats; i++)
		if (siblings_is_same(
			    &s->r->captures->cache.fence, s->repeats[i].trace->meta.origin, path))
			return &s->repeats[i];
	return NULL;
}

/* Takes t. */
static bool add_repeat(struct diff_sides *s, struct trace *t, bool is_a, struct incore_error *e)
{
	struct accounted *x = find_repeat(s, t->meta.origin);

	if (x) {
		trace_free(t);
	} else {
		x = &s->repeats[s->n_repeats];
		if (!account_side(s, t, x, e))
			return false;
		s->n_repeats++;
	}
	if (is_a)
		s->sides_a[s->n_a++] = x->side;
	else
		s->sides_b[s->n_b++] = x->side;
	return true;
}

/* Keeps t as a repeat of A or B if it has that code; else drops it, and warns if it was given. */
static bool keep_repeat(struct diff_sides *s, struct trace *t, bool is_beside_b, bool is_given,
	struct incore_error *e)
{
	bool is_b = diff_same_code(t, s->b.trace);
	bool is_a = !(is_b && is_beside_b) && diff_same_code(t, s->a.trace);
	bool is_new = !is_same_origin(t, s->a.trace) && !is_same_origin(t, s->b.trace);

	if ((is_a || is_b) && is_new && (is_a ? s->n_a : s->n_b) < DIFF_MAX_REPEATS)
		return add_repeat(s, t, is_a, e);
	if (!is_a && !is_b && is_given)
		answer_warn(s->answer, "--noise %s: not the code of either capture, left out",
			t->meta.origin ? t->meta.origin : "?");
	trace_free(t);
	return true;
}

/* A given repeat may be the other capture of the pair: the user says that it is a repeat. */
static bool keep_given(struct diff_sides *s, struct trace *t, struct incore_error *e)
{
	bool is_b_itself = is_same_origin(t, s->b.trace) && diff_same_code(t, s->a.trace);

	s->is_pair |= is_b_itself && !is_same_origin(s->a.trace, s->b.trace);
	if (is_b_itself && s->n_a < DIFF_MAX_REPEATS)
		return add_repeat(s, t, true, e);
	return keep_repeat(s, t, false, true, e);
}

static bool read_repeat(
	struct diff_sides *s, const struct capture *k, struct trace **out, struct incore_error *e)
{
	struct import_options o = request_import(s->r, 0);

	return captures_read(s->r->captures, k, &o, out, e);
}

static bool add_given(struct diff_sides *s, const char *path, struct incore_error *e)
{
	struct captures *k = s->r->captures;
	struct capture_list list = {0};
	bool ok = captures_named(k, path, e) && captures_find(k, path, &list, e);

	for (uint32_t i = 0; ok && i < list.n; i++) {
		struct trace *t = NULL;

		captures_lock(k);
		capture_look(&k->cache, &list.arena, &list.v[i]);
		captures_unlock(k);
		if (!list.v[i].is_empty)
			ok = read_repeat(s, &list.v[i], &t, e) && keep_given(s, t, e);
	}
	capture_list_deinit(&list);
	return ok || err_wrap(e, "reading the repeat '%s'", path);
}

/* Adds siblings of one side's capture (same agent, same code); unreadable ones are left out. If
 * repeats are given, only checks whether A and B are siblings. */
static bool add_siblings(struct diff_sides *s, const struct accounted *of, struct incore_error *e)
{
	struct captures *k = s->r->captures;
	struct capture_list list = {0};
	struct siblings found = {0};
	struct incore_error ignored = {0};
	const struct diff_params *p = s->r->params;
	const char *path = of->trace->meta.origin;
	const struct trace *other = of == &s->a ? s->b.trace : s->a.trace;
	bool ok = true;

	if (!path || !captures_find(k, path, &list, &ignored)) {
		incore_error_clear(&ignored);
		return true;
	}
	if (list.n == 1) {
		captures_lock(k);
		ok = siblings_find(&found, &list.v[0], NULL, &k->cache, e);
		captures_unlock(k);
	}
	for (size_t i = 0; ok && i < found.captures.n; i++) {
		struct trace *t = NULL;

		if (found.facts.v[i].is_self)
			continue;
		if (siblings_is_same(
			    &k->cache.fence, found.captures.v[i]->path, other->meta.origin))
			s->is_pair = true;
		else if (p->noise.n)
			continue;
		else if (read_repeat(s, found.captures.v[i], &t, e))
			ok = keep_repeat(s, t, of == &s->b, false, e);
		else
			incore_error_clear(e);
	}
	siblings_deinit(&found);
	capture_list_deinit(&list);
	return ok;
}

static bool open_repeats(struct diff_sides *s, struct incore_error *e)
{
	const struct diff_params *p = s->r->params;

	for (size_t i = 0; i < p->noise.n; i++)
		if (!add_given(s, p->noise.v[i], e))
			return false;
	return add_siblings(s, &s->a, e) && add_siblings(s, &s->b, e);
}

/* Why A and B cannot be two captures of one state; NULL: they can. Rows are compared by their
 * number, and samples have a noise of their own. */
static const char *why_no_state(const struct diff_sides *s)
{
	if (is_same_origin(s->a.trace, s->b.trace))
		return "A and B are the same capture";
	if (!diff_same_code(s->a.trace, s->b.trace))
		return "the code of A and B differs";
	if (trace_is_sampled(s->a.trace) || trace_is_sampled(s->b.trace))
		return "samples are compared by their sampling error";
	return NULL;
}

static bool gather_state(struct diff_sides *s, struct incore_error *e)
{
	const struct diff_params *p = s->r->params;
	bool is_told = p->stable_within_pct != NO_COUNT;
	const char *why = is_told || s->is_pair ? why_no_state(s) : NULL;

	if (is_told && why)
		return err_set(e, INCORE_BAD_INPUT, "not-comparable", "--stable-within: %s", why);
	if (why || !(is_told || s->is_pair))
		return true;
	s->of_state[s->n_state++] = s->a.side;
	s->of_state[s->n_state++] = s->b.side;
	for (uint32_t i = 0; i < s->n_repeats; i++)
		if (!is_same_origin(s->repeats[i].trace, s->b.trace) &&
			s->repeats[i].side.hot->all.totals.hit)
			s->of_state[s->n_state++] = s->repeats[i].side;
	return true;
}

struct diff_sides *diff_sides_open(
	struct answer *a, const struct request *r, struct diff_options *o, struct incore_error *e)
{
	struct diff_sides *s = mem_zalloc(1, sizeof(*s));

	if (!s)
		return err_nomem_null(e);
	s->answer = a;
	s->r = r;
	if (!ANSWER_KEEP(a, s, diff_sides_free, e))
		return NULL;
	if (!open_side(s, r->paths[0], &s->a, e) || !open_side(s, r->paths[1], &s->b, e) ||
		!open_repeats(s, e) || !gather_state(s, e))
		return NULL;
	o->repeats_a = s->sides_a;
	o->n_repeats_a = s->n_a;
	o->repeats_b = s->sides_b;
	o->n_repeats_b = s->n_b;
	o->is_pair = s->is_pair;
	return s;
}

const struct diff_side *diff_sides_a(const struct diff_sides *s)
{
	return &s->a.side;
}

const struct diff_side *diff_sides_b(const struct diff_sides *s)
{
	return &s->b.side;
}

const struct diff_side *diff_sides_of_state(const struct diff_sides *s, uint32_t *n)
{
	*n = s->n_state;
	return s->of_state;
}
