/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c: what a store answers about some of its captures, series by series. */
#include "store/answers.h"

#include <stdlib.h>

static const struct column histories_columns[] = {
	LIST(store_histories, series, &store_history_record,
		"captures of equal kernel, architecture, evidence and labels"),
};
const struct record store_histories_record =
	RECORD_OF(store_histories, RECORD_BLOCK, histories_columns);

static const struct column worse_columns[] = {
	LIST(store_worse, regressions, &store_regression_record,
		"changes to the worse, the newest first"),
};
const struct record store_worse_record = RECORD_OF(store_worse, RECORD_BLOCK, worse_columns);

static const struct column gates_columns[] = {
	COLUMN(store_gates, is_passed, UNIT_NONE, "no series is worse"),
	COLUMN(store_gates, worse, UNIT_COUNT, "series that are"),
	COLUMN(store_gates, no_claim, UNIT_COUNT, "series with too few captures to tell"),
	LIST(store_gates, series, &store_gate_record, "each series, by kernel"),
};
const struct record store_gates_record = RECORD_OF(store_gates, RECORD_BLOCK, gates_columns);

static const struct column shown_columns[] = {
	RECORD(store_card, capture, &store_entry_record, "what it is and its figures"),
	LIST(store_card, rows, &store_mover_record,
		"instructions by cycles and cause; nothing stood before"),
	LIST(store_card, findings, &store_finding_record, "what check found"),
};
const struct record store_card_record = RECORD_OF(store_card, RECORD_BLOCK, shown_columns);

bool store_histories(const struct store_ask *x, const struct store_entries *entries,
	struct store_histories *out, struct incore_error *e)
{
	struct store_history *v =
		arena_zalloc(x->arena, entries->v.n + 1, sizeof(*v)); /* at most so many */
	size_t n = 0, at = 0;

	if (!v)
		return err_nomem(e);
	for (; at < entries->v.n; n++) {
		size_t k = store_series(entries, at);

		if (!store_history(x, &entries->v.v[at], k, &v[n], e))
			return false;
		at += k;
	}
	out->series = (struct rows){v, n};
	return true;
}

/* Newest first; of one time the capture that was added last. */
static int by_time(const void *a, const void *b)
{
	const struct store_change *x = &((const struct store_regression *)a)->change;
	const struct store_change *y = &((const struct store_regression *)b)->change;

	if (x->at != y->at)
		return x->at < y->at ? 1 : -1;
	return (x->capture < y->capture) - (x->capture > y->capture);
}

bool store_worse(const struct store_ask *x, const struct store_entries *entries, bool is_all,
	struct store_worse *out, struct incore_error *e)
{
	struct store_histories all;
	const struct store_history *h;
	regression_list list = {0};
	struct store_regression *v;
	bool ok = store_histories(x, entries, &all, e);

	h = ok ? all.series.v : NULL;
	for (size_t i = 0; ok && i < all.series.n; i++)
		ok = store_regressions(&h[i], x, is_all, &list) || err_nomem(e);
	v = ok ? arena_zalloc(x->arena, list.n + 1, sizeof(*v)) : NULL;
	if (v) {
		if (list.n)
			memcpy(v, list.v, list.n * sizeof(*v));
		qsort(v, list.n, sizeof(*v), by_time);
		out->regressions = (struct rows){v, list.n};
	}
	VEC_FREE(&list);
	return v || (ok && err_nomem(e));
}

bool store_gates(const struct store_ask *x, const struct store_entries *entries,
	struct store_gates *out, struct incore_error *e)
{
	struct store_gate *v = arena_zalloc(x->arena, entries->v.n + 1, sizeof(*v));
	size_t n = 0, at = 0;

	*out = (struct store_gates){.is_passed = true};
	if (!v)
		return err_nomem(e);
	for (; at < entries->v.n; n++) {
		size_t k = store_series(entries, at);

		if (!store_gate(x, &entries->v.v[at], k, &v[n], e))
			return false;
		out->worse += strcmp(v[n].verdict, "worse") == 0;
		out->no_claim += strcmp(v[n].verdict, "no-claim") == 0;
		at += k;
	}
	out->series = (struct rows){v, n};
	out->is_passed = !out->worse;
	return true;
}

static bool no_capture(uint64_t capture, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "no-capture",
		"the store has no capture %llu: incore store ls lists them",
		(unsigned long long)capture);
}

bool store_card(const struct store_ask *x, const struct store_entries *entries, uint64_t capture,
	unsigned top, struct store_card *out, struct incore_error *e)
{
	struct store_entry nothing = {0};
	size_t at = 0;

	while (at < entries->v.n && entries->v.v[at].capture != capture)
		at++;
	if (at == entries->v.n)
		return no_capture(capture, e);
	out->capture = entries->v.v[at];
	nothing.code = out->capture.code; /* rows by number */
	return store_movers(x->store, &(struct store_pair){&nothing, &out->capture, false, top},
		       x->arena, &out->rows, e) &&
	       store_findings(x->store, capture, x->arena, &out->findings, e);
}

bool store_series_of(const struct store_entries *x, uint64_t capture, size_t *at, size_t *n,
	struct incore_error *e)
{
	for (*at = 0; *at < x->v.n; *at += *n) {
		*n = store_series(x, *at);
		for (size_t i = 0; i < *n; i++)
			if (x->v.v[*at + i].capture == capture)
				return true;
	}
	return no_capture(capture, e);
}
