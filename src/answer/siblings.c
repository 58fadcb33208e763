/* SPDX-License-Identifier: Apache-2.0 */
/* siblings.c: which captures beside this one are repeats of it? */
#include "answer/siblings.h"

#include <math.h>
#include <sys/stat.h>

#include "analysis/summary/summary.h"
#include "answer/captures.h"
#include "import/capture_cache.h"

bool siblings_is_same(const struct file_fence *f, const char *a, const char *b)
{
	struct stat sa, sb;
	uint32_t part_a, part_b;

	if (strcmp(a, b) == 0)
		return true;
	return capture_stat(f, a, &sa, &part_a) == 0 && capture_stat(f, b, &sb, &part_b) == 0 &&
	       part_a == part_b && sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
}

static bool add_sibling(struct siblings *s, const struct capture *self, const struct capture *k,
	struct capture_cache *cache, struct incore_error *e)
{
	struct check_sibling x = {
		.path = k->path, .dispatch = k->dispatch, .n_tracks = k->n_tracks};

	x.is_self = siblings_is_same(capture_fence(cache), self->path, k->path);
	if (!x.is_self)
		x.clock_mhz = capture_clock_mhz(cache, k);
	if (!VEC_PUSH(&s->facts, x) || !VEC_PUSH(&s->captures, k))
		return err_nomem(e);
	return true;
}

static bool is_alike(const struct capture *a, const struct capture *b)
{
	return !b->is_empty && a->same_as && b->same_as && strcmp(a->same_as, b->same_as) == 0;
}

bool siblings_find(struct siblings *s, const struct capture *self, const struct capture_list *all,
	struct capture_cache *cache, struct incore_error *e)
{
	struct incore_error ignored = {0};
	struct capture me = *self;

	*s = (struct siblings){0};
	if (!all) {
		if (!import_siblings(self->path, cache, &s->beside, &ignored))
			incore_error_clear(&ignored);
		all = &s->beside;
		capture_look(cache, &s->beside.arena, &me);
	}
	for (uint32_t i = 0; i < all->n; i++)
		if (is_alike(&me, &all->v[i]) && !add_sibling(s, &me, &all->v[i], cache, e)) {
			siblings_deinit(s);
			return false;
		}
	s->ctx.siblings = s->facts.v;
	s->ctx.n_siblings = (uint32_t)s->facts.n;
	s->ctx.has_disk = true;
	return true;
}

void siblings_deinit(struct siblings *s)
{
	VEC_FREE(&s->facts);
	VEC_FREE(&s->captures);
	capture_list_deinit(&s->beside);
	*s = (struct siblings){0};
}

/* --- what differs among them ------------------------------------------------------------------- */

static bool repeats_read(const struct request *r, const struct capture *k, struct trace **out)
{
	struct import_options o = {
		.want = IMPORT_KEEP_TRACKS, .pool = r->pool, .cache = &r->captures->cache};
	struct incore_error ignored = {0};
	bool ok;

	captures_lock(r->captures);
	ok = import_read(k, &o, out, &ignored);
	captures_unlock(r->captures);
	incore_error_clear(&ignored);
	return ok;
}

static bool repeats_add(struct repeats *x, const struct request *r, const struct capture *k)
{
	struct walk_options all = request_walk(r, NULL);
	struct incore_error ignored = {0};
	struct capture_shares shares;
	struct trace *t;
	bool ok = captures_shares(r->captures, k->path, &shares);

	if (!ok && repeats_read(r, k, &t)) {
		ok = summary_repeat(t, &all, shares.of_family, &shares.per_execution, &ignored);
		trace_free(t);
		incore_error_clear(&ignored);
		if (ok)
			captures_keep_shares(r->captures, &shares);
	}
	if (!ok)
		return false;
	memcpy(x->shares[x->n], shares.of_family, sizeof(shares.of_family));
	x->per_execution[x->n] = shares.per_execution;
	return true;
}

bool repeats_find(struct repeats *x, const struct request *r, const struct trace *t,
	bool with_figures, struct incore_error *e)
{
	struct captures *k = r->captures;
	struct incore_error ignored = {0};
	const char *origin = t->meta.origin;
	bool ok = true;

	captures_lock(k);
	if (origin && !import_find(origin, &k->cache, &x->found, &ignored))
		incore_error_clear(&ignored);
	if (x->found.n)
		ok = siblings_find(&x->siblings, &x->found.v[0], NULL, &k->cache, e);
	captures_unlock(k);
	for (size_t i = 0; ok && with_figures && i < x->siblings.captures.n && x->n < REPEATS_MOST;
		i++)
		if (!x->siblings.facts.v[i].is_self)
			x->n += repeats_add(x, r, x->siblings.captures.v[i]);
	return ok;
}

void repeats_deinit(struct repeats *x)
{
	siblings_deinit(&x->siblings);
	capture_list_deinit(&x->found);
}

static const struct column repeats_columns[] = {
	COLUMN(repeats_row, captures, UNIT_COUNT,
		"captures of this state: this one and those beside it of the same agent and code"),
	COLUMN(repeats_row, least, UNIT_CYCLES, "cycles of one execution in the fastest of them",
		.digits = 4),
	COLUMN(repeats_row, most, UNIT_CYCLES, "cycles of one execution in the slowest of them",
		.digits = 4),
	COLUMN(repeats_row, spread_pct, UNIT_PERCENT,
		"how far they are apart: a smaller difference is noise", .digits = 4),
	COLUMN(repeats_row, limit_pct, UNIT_PERCENT,
		"captures of one state further apart are not stable", .digits = 4),
	COLUMN(repeats_row, is_stable, UNIT_NONE, "whether they are less than that apart"),
	COLUMN(repeats_row, statement, UNIT_NONE, "the same in words"),
};
const struct record repeats_record = RECORD_OF(repeats_row, RECORD_BLOCK, repeats_columns);

bool repeats_make(struct answer *a, const struct repeats *x, double own,
	const struct repeats_row **out, struct incore_error *e)
{
	struct repeats_row *row;

	*out = NULL;
	if (!x->n || !isfinite(own) || own <= 0)
		return true;
	row = ANSWER_NEW(a, repeats_row, e);
	if (!row)
		return false;
	*row = (struct repeats_row){
		.captures = 1, .least = own, .most = own, .limit_pct = REPEATS_LIMIT_PCT};
	for (uint32_t i = 0; i < x->n; i++) {
		if (!isfinite(x->per_execution[i]) || x->per_execution[i] <= 0)
			continue;
		row->captures++;
		row->least = fmin(row->least, x->per_execution[i]);
		row->most = fmax(row->most, x->per_execution[i]);
	}
	if (row->captures < 2)
		return true;
	row->spread_pct = 100 * (row->most - row->least) / row->least;
	row->is_stable = row->spread_pct < row->limit_pct;
	row->statement = arena_printf(&a->arena,
		"%llu captures of this state, %.2f to %.2f cycles of one execution, %.2f %% apart: %s; what is smaller is noise",
		(unsigned long long)row->captures, row->least, row->most, row->spread_pct,
		row->is_stable ? "stable" : "not stable");
	*out = row;
	return row->statement || err_nomem(e);
}
