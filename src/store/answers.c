/* SPDX-License-Identifier: Apache-2.0 */
/* answers.c: answers of a store about some of its captures, series by series. */
#include "store/answers.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/search.h"

static const struct column input_columns[] = {
	COLUMN(store_input, store, UNIT_NONE, "the store that was read"),
};
const struct record store_input_record = RECORD_OF(store_input, RECORD_BLOCK, input_columns);
static const struct column part_columns[] = {
	COLUMN(store_input, store, UNIT_NONE, "the store that was read"),
	COLUMN(store_input, from, UNIT_INDEX,
		"index of the first row of the list that is included"),
	COLUMN(store_input, total, UNIT_COUNT, "total rows of the list"),
};
const struct record store_part_record = RECORD_OF(store_input, RECORD_BLOCK, part_columns);

static const struct column histories_columns[] = {
	LIST(store_histories, series, &store_history_record,
		"captures with equal kernel, architecture, evidence and labels"),
};
const struct record store_histories_record =
	RECORD_OF(store_histories, RECORD_BLOCK, histories_columns);

static const struct column worse_columns[] = {
	LIST(store_worse, regressions, &store_regression_record,
		"regressions, costliest first; then accepted ones, then those that are over"),
};
const struct record store_worse_record = RECORD_OF(store_worse, RECORD_BLOCK, worse_columns);

static const struct column gates_columns[] = {
	PART(store_gates, tally, &store_tally_record),
	LIST(store_gates, regressions, &store_regression_record,
		"new, standing and accepted regressions, each group with the costliest first"),
	LIST(store_gates, series, &store_gate_record, "result of each series, by kernel"),
};
const struct record store_gates_record = RECORD_OF(store_gates, RECORD_BLOCK, gates_columns);

static const struct column shown_columns[] = {
	RECORD(store_card, capture, &store_entry_record, "the capture and its figures"),
	LIST(store_card, accepted, &store_accepted_record,
		"changes that were accepted in the capture's series"),
	LIST(store_card, rows, &store_mover_record,
		"instructions by cycles and cause; no earlier capture is compared"),
	LIST(store_card, findings, &store_finding_record, "findings of incore check"),
};
const struct record store_card_record = RECORD_OF(store_card, RECORD_BLOCK, shown_columns);

/* Evaluates the gates of all series and lists their regressions, explained. */
static bool judge_all(const struct store_ask *x, const struct store_entries *entries, bool is_all,
	struct store_gates *out, struct incore_error *e)
{
	struct store_gate *v = arena_zalloc(x->arena, entries->v.n + 1, sizeof(*v));
	VEC(struct store_regression) list = {0};
	struct store_judged one;
	size_t n = 0;
	bool ok = v || err_nomem(e);

	for (size_t at = 0; ok && at < entries->v.n; at += store_series(entries, at)) {
		const struct store_regression *r;

		ok = store_judge(x, entries, at, &one, e) &&
		     store_explain_gate(x, &one.gate, is_all, e);
		if (!ok)
			break;
		v[n++] = one.gate;
		r = one.gate.regressions.v;
		for (size_t i = 0; ok && i < one.gate.regressions.n; i++)
			if (is_all || r[i].is != STORE_OVER)
				ok = VEC_PUSH(&list, r[i]) || err_nomem(e);
	}
	out->series = (struct rows){v, n};
	out->regressions.n = list.n;
	out->regressions.v = arena_memdup(x->arena, list.v, list.n * sizeof(*list.v));
	VEC_FREE(&list);
	return ok && (out->regressions.v || err_nomem(e));
}

bool store_worse(const struct store_ask *x, const struct store_entries *entries, bool is_all,
	struct store_worse *out, struct incore_error *e)
{
	struct store_gates all = {.series = {0}};
	bool ok = judge_all(x, entries, is_all, &all, e);

	SORT((struct store_regression *)all.regressions.v, ok ? all.regressions.n : 0,
		store_by_cost);
	out->regressions = all.regressions;
	return ok;
}

bool store_gates(const struct store_ask *x, const struct store_entries *entries,
	struct store_gates *out, struct incore_error *e)
{
	const struct store_gate *v;

	*out = (struct store_gates){.tally = STORE_TALLY_PASSED};
	if (!judge_all(x, entries, false, out, e))
		return false;
	SORT((struct store_regression *)out->regressions.v, out->regressions.n, store_by_kind);
	v = out->series.v;
	for (size_t i = 0; i < out->series.n; i++)
		store_count(x, &v[i], &out->tally);
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
	out->accepted = store_accepted_of(&entries->accepted, &out->capture);
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

/* --- files --- */

static const struct column file_columns[] = {
	COLUMN(store_file, capture, UNIT_INDEX, "number of the capture in the store"),
	COLUMN(store_file, path, UNIT_NONE, "absolute path that the capture was read from"),
	COLUMN(store_file, is_there, UNIT_NONE, "there is still a file or folder at the path"),
};
const struct record store_file_record = RECORD_OF(store_file, RECORD_LINE, file_columns);
static const struct column files_columns[] = {
	LIST(store_files, files, &store_file_record,
		"files of the captures, in the order in which they were asked for"),
};
const struct record store_files_record = RECORD_OF(store_files, RECORD_BLOCK, files_columns);

bool store_find_file(const struct store_entries *x, uint64_t capture, struct store_file *out,
	struct incore_error *e)
{
	for (size_t i = 0; i < x->v.n; i++)
		if (x->v.v[i].capture == capture) {
			const char *path = x->v.v[i].path;

			*out = (struct store_file){capture, path, file_exists(path)};
			return true;
		}
	return no_capture(capture, e);
}
