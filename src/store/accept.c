/* SPDX-License-Identifier: Apache-2.0 */
/* accept.c: accepted regressions, kept in the store: by whom, when and why. */
#include "store/accept.h"

#include <math.h>

#include "base/search.h"
#include "store/row.h"
#include "store/schema.h"

#define SERIES_OF_ACCEPTANCE                                                                       \
	COLUMN(store_acceptance, kernel, UNIT_NONE, "name of the kernel", NULLABLE),               \
		COLUMN(store_acceptance, arch, UNIT_NONE, "architecture", NULLABLE),               \
		COLUMN(store_acceptance, evidence, UNIT_NONE, "what the figures rest on"),         \
		COLUMN(store_acceptance, labels, UNIT_NONE, "labels of the captures")
#define NUMBER                                                                                     \
	COLUMN(store_acceptance, acceptance, UNIT_INDEX, "number of the acceptance in the store")
#define WHAT                                                                                       \
	COLUMN(store_acceptance, figure, UNIT_NONE, "figure that was compared, in cycles",         \
		.words = STORE_FIGURE_CHOICES),                                                    \
		COLUMN(store_acceptance, capture, UNIT_INDEX,                                      \
			"newest capture at that time; changes that begin later are not accepted"), \
		COLUMN(store_acceptance, level, UNIT_CYCLES,                                       \
			"accepted level; higher values are not accepted")
#define WHY                                                                                        \
	COLUMN(store_acceptance, who, UNIT_NONE, "name of the person who accepted it"),            \
		COLUMN(store_acceptance, because, UNIT_NONE, "reason for accepting it",            \
			.flags = COLUMN_WIDE)

static const struct column kept_columns[] = {
	NUMBER,
	SERIES_OF_ACCEPTANCE,
	WHAT,
	COLUMN(store_acceptance, until, UNIT_NONE,
		"time at which the newest capture was taken, in seconds since 1970"),
	COLUMN(store_acceptance, at, UNIT_NONE, "time of the acceptance, in seconds since 1970"),
	WHY,
};
const struct record store_acceptances_record =
	RECORD_OF(store_acceptance, RECORD_LINE, kept_columns);

static const struct column shown_columns[] = {
	NUMBER,
	COLUMN(store_acceptance, time, UNIT_NONE, "time of the acceptance, UTC"),
	WHY,
	WHAT,
};
const struct record store_accepted_record = RECORD_OF(store_acceptance, RECORD_LINE, shown_columns);

static const struct column listed_columns[] = {
	SERIES_OF_ACCEPTANCE,
	PART_SELF(&store_accepted_record),
};
const struct record store_acceptance_record =
	RECORD_OF(store_acceptance, RECORD_LINE, listed_columns);

/* --- reading --- */

static const char ALL[] = "SELECT acceptance, kernel, arch, evidence, labels, figure, capture,"
			  " level, until, at, who, because FROM acceptances";

static bool store_accept_read_one(struct store_row *r, struct store_acceptance *out)
{
	*out = (struct store_acceptance){.acceptance = (uint64_t)store_int(r->s, r->q, 0),
		.kernel = store_text_at(r, 1),
		.arch = store_text_at(r, 2),
		.evidence = store_text_or(r, 3, "unknown"),
		.labels = store_text_or(r, 4, ""),
		.figure = store_text_or(r, 5, ""),
		.capture = (uint64_t)store_int(r->s, r->q, 6),
		.level = r->s->backend->value(r->q, 7, STORE_REAL).d,
		.until = store_int(r->s, r->q, 8),
		.at = store_int(r->s, r->q, 9),
		.who = store_text_or(r, 10, "?"),
		.because = store_text_or(r, 11, "?")};
	out->time = store_time_text(out->at, r->a);
	if (!isfinite(out->level)) /* the file is corrupt */
		out->level = 0;
	return r->ok && out->time;
}

static int by_series(const struct store_acceptance *a, const struct store_acceptance *b)
{
	struct store_entry x = {
		.kernel = a->kernel, .arch = a->arch, .evidence = a->evidence, .labels = a->labels};
	struct store_entry y = {
		.kernel = b->kernel, .arch = b->arch, .evidence = b->evidence, .labels = b->labels};

	return store_compare_series(&x, &y);
}
ORDER(by_series_and_time, struct store_acceptance, THEN(by_series) UP(at) UP(acceptance))

bool store_acceptances(struct store *s, struct arena *a, struct rows *out, struct incore_error *e)
{
	struct store_row r = {s, store_ask(s, ALL, e), a, true};
	VEC(struct store_acceptance) v = {0};
	bool ok = r.q != NULL;

	while (ok && store_step(s, r.q, e)) {
		struct store_acceptance x;

		ok = (store_accept_read_one(&r, &x) && VEC_PUSH(&v, x)) || err_nomem(e);
	}
	ok = ok && !e->code;
	store_done(s, r.q);
	SORT(v.v, v.n, by_series_and_time);
	*out = (struct rows){ok ? arena_memdup(a, v.v, v.n * sizeof(*v.v)) : NULL, v.n};
	VEC_FREE(&v);
	return ok && (out->v || err_nomem(e));
}

struct rows store_accepted_of(const struct rows *all, const struct store_entry *x)
{
	const struct store_acceptance *v = all->v;
	struct store_acceptance want = {
		.kernel = x->kernel, .arch = x->arch, .evidence = x->evidence, .labels = x->labels};
	size_t low = 0, high = all->n, n = 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_series(&v[middle], &want) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	while (low + n < all->n && by_series(&v[low + n], &want) == 0)
		n++;
	return (struct rows){n ? &v[low] : NULL, n};
}

/* --- writing --- */

static bool next_number(struct store *s, uint64_t *out, struct incore_error *e)
{
	struct store_query *q =
		store_ask(s, "SELECT coalesce(max(acceptance), 0) + 1 FROM acceptances", e);
	bool ok = q && store_step(s, q, e);

	*out = ok ? (uint64_t)store_int(s, q, 0) : 0;
	store_done(s, q);
	return ok && !e->code;
}

static bool store_accept_write_all(
	struct store *s, struct store_acceptance *v, size_t n, struct incore_error *e)
{
	uint64_t number;
	bool ok = next_number(s, &number, e) && s->backend->rows(s, STORE_ACCEPTANCES, e);

	if (!ok)
		return false;
	for (size_t i = 0; ok && i < n; i++) {
		v[i].acceptance = number + i;
		store_put_values(s, &store_acceptances_record, &v[i]);
		ok = s->backend->row(s, e);
	}
	return s->backend->rows_end(s, ok, e);
}

bool store_accept(struct store *s, struct store_acceptance *v, size_t n, struct incore_error *e)
{
	return store_begin(s, STORE_WRITE, e) &&
	       store_end(s, store_accept_write_all(s, v, n, e), e);
}

bool store_withdraw(
	struct store *s, const struct store_acceptance *v, size_t n, struct incore_error *e)
{
	bool ok = store_begin(s, STORE_WRITE, e);

	if (!ok)
		return false;
	for (size_t i = 0; ok && i < n; i++)
		ok = store_run_with(
			s, "DELETE FROM acceptances WHERE acceptance = $1", v[i].acceptance, e);
	return store_end(s, ok, e);
}
