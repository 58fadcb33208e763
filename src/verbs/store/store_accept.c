/* SPDX-License-Identifier: Apache-2.0 */
/* store_accept.c: incore store accept: accepts named regressions, with who, when and why. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "store/accept.h"
#include "verbs/store/store_verbs.h"

#define MOST_TEXT 1000u

static const struct option_def options[] = {
	STORE_OPTION,
	{OPT_BECAUSE, NULL, NULL, "reason for accepting it, in one line", STORE_FIELD(because)},
	{OPT_BY_NAME, NULL, NULL, "who accepts it (default: $USER)", STORE_FIELD(by)},
	{OPT_AT, NULL, NULL,
		"time of acceptance: 2026-11-18[T01:02:03Z] or @SECONDS (default: now)",
		STORE_FIELD(at)},
	{OPT_WITHDRAW, NULL, NULL, "withdraw what was accepted", STORE_FIELD(is_withdrawn)},
	{OPT_ARCH, NULL, NULL, "only captures of this architecture", STORE_ALL(select.arch)},
	{OPT_LABEL, NULL, NULL, "only captures with this label; may be repeated",
		STORE_ALL(select.labels)},
	STORE_JUDGE_OPTIONS,
	{OPT_MAX, NULL, NULL, "same as for store gate", STORE_FIELD(max)},
	OPTION_END,
};

struct accepted {
	const char *kernel; /* as given */
	bool is_withdrawn;
	struct rows acceptances;
};
static const struct column accepted_columns[] = {
	COLUMN(accepted, is_withdrawn, UNIT_NONE, "the acceptances were withdrawn"),
	LIST(accepted, acceptances, &store_acceptance_record,
		"what was accepted or withdrawn, one row per series and figure"),
};
static const struct record accepted_record = RECORD_OF(accepted, RECORD_BLOCK, accepted_columns);

/* --- the kernel --- */

/* "turn" is also turn(float const*, unsigned int). */
static bool is_called(const char *kernel, const char *name, bool is_whole)
{
	size_t n = strlen(name);

	kernel = kernel ? kernel : "";
	return strncmp(kernel, name, n) == 0 && (is_whole ? !kernel[n] : kernel[n] == '(');
}

/* The full name of the only kernel of that name; NULL with the error set. */
static const char *find_kernel(struct store_job *j, const char *name, struct incore_error *e)
{
	const char *found = NULL;

	for (unsigned is_whole = 2; !found && is_whole--;)
		for (size_t i = 0; i < j->entries.v.n; i++) {
			const char *kernel = j->entries.v.v[i].kernel;

			if (!is_called(kernel, name, is_whole))
				continue;
			kernel = kernel ? kernel : "";
			if (found && strcmp(found, kernel) != 0) {
				err_set(e, INCORE_USAGE, "which-kernel",
					"'%s' is %s and %s: give the whole name", name, found,
					kernel);
				return NULL;
			}
			found = kernel;
		}
	if (!found)
		err_set(e, INCORE_USAGE, "no-kernel",
			"%s: no kernel '%s' is selected: incore store ls lists them",
			j->about->store, name);
	return found;
}

/* --- reason and author --- */

static bool check_text(const char *option, const char *text, struct incore_error *e)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			n = 0;
	return (n && n <= MOST_TEXT) ||
	       err_set(e, INCORE_USAGE, "bad-text",
		       "--%s takes one line of at most %u bytes, without control characters",
		       option, MOST_TEXT);
}

static const char *who_is_it(struct store_job *j, struct incore_error *e)
{
	static const char *const names[] = {"USER", "LOGNAME"};
	const char *who = j->p->by;

	for (unsigned i = 0; !who && i < 2; i++) {
		const char *set = getenv(names[i]);

		who = set && *set ? set : NULL;
	}
	if (!who)
		who = arena_printf(&j->answer->arena, "user %lu", (unsigned long)getuid());
	if (!who)
		err_nomem(e);
	return who && check_text("by", who, e) ? who : NULL;
}

static bool read_said(struct store_job *j, struct store_acceptance *out, struct incore_error *e)
{
	const struct store_params *p = j->p;

	if (p->is_withdrawn == (p->because != NULL))
		return err_set(e, INCORE_USAGE, "bad-option",
			"store accept takes --because TEXT, or --withdraw");
	out->at = (int64_t)time(NULL);
	if (p->at && !store_time(p->at, &out->at))
		return err_set(e, INCORE_USAGE, "bad-time",
			"--at '%s': a time is 2026-11-18, 2026-11-18T01:02:03Z or @SECONDS", p->at);
	if (p->is_withdrawn)
		return true;
	out->because = p->because;
	return check_text("because", p->because, e) && (out->who = who_is_it(j, e));
}

/* --- accepting --- */

/* Accepts that the series is as bad as it is now. */
static void put_one(const struct store_judged *x, const struct store_acceptance *said,
	struct store_acceptance *out)
{
	const struct store_regression *r = x->gate.regressions.v;
	const struct store_point *last = x->history.points.v;

	last += x->history.points.n - 1;
	*out = *said;
	out->kernel = r->series.kernel;
	out->arch = r->series.arch;
	out->evidence = r->series.evidence;
	out->labels = r->series.labels;
	out->figure = r->series.figure;
	out->capture = last->entry.capture;
	out->until = last->entry.at;
	for (size_t i = 0; i < x->gate.regressions.n; i++)
		if (r[i].is < STORE_ACCEPTED && r[i].now > out->level)
			out->level = r[i].now;
}

static bool accept_all(struct store_job *j, const char *kernel, const struct store_acceptance *said,
	struct store_acceptance *v, size_t *n, struct incore_error *e)
{
	const struct store_entries *x = &j->entries;
	struct store_judged judged;

	for (size_t at = 0; at < x->v.n; at += store_series(x, at)) {
		if (!is_called(x->v.v[at].kernel, kernel, true))
			continue;
		if (!store_judge(&j->ask, x, at, &judged, e))
			return false;
		if (store_is_worse(&judged.gate))
			put_one(&judged, said, &v[(*n)++]);
	}
	return *n ? store_accept(j->store, v, *n, e)
		  : err_set(e, INCORE_USAGE, "nothing-to-accept",
			    "%s: '%s' is no worse than its noise allows, or it was accepted "
			    "before",
			    j->about->store, kernel);
}

static bool withdraw_all(struct store_job *j, const char *kernel, struct store_acceptance *v,
	size_t *n, struct incore_error *e)
{
	const struct store_entries *x = &j->entries;
	const char *figure = j->ask.figure < STORE_FIGURES ? store_figures[j->ask.figure] : NULL;

	for (size_t at = 0; at < x->v.n; at += store_series(x, at)) {
		struct rows of = store_accepted_of(&x->accepted, &x->v.v[at]);
		const struct store_acceptance *a = of.v;

		for (size_t i = 0; i < of.n && is_called(x->v.v[at].kernel, kernel, true); i++)
			if (!figure || strcmp(a[i].figure, figure) == 0)
				v[(*n)++] = a[i];
	}
	return *n ? store_withdraw(j->store, v, *n, e)
		  : err_set(e, INCORE_USAGE, "nothing-accepted", "%s: nothing of '%s' was accepted",
			    j->about->store, kernel);
}

static bool accept_or_withdraw(struct store_job *j, struct incore_error *e)
{
	struct accepted *out = ANSWER_NEW(j->answer, accepted, e);
	struct store_acceptance said = {0}, *v;
	const char *kernel;
	bool ok;

	if (!out || !read_said(j, &said, e) || !(kernel = find_kernel(j, j->request->paths[0], e)))
		return false;
	v = ANSWER_ROWS(j->answer, &out->acceptances, j->entries.v.n + j->entries.accepted.n,
		store_acceptance, e);
	if (!v)
		return false;
	out->kernel = j->request->paths[0];
	out->is_withdrawn = j->p->is_withdrawn;
	out->acceptances.n = 0;
	ok = out->is_withdrawn ? withdraw_all(j, kernel, v, &out->acceptances.n, e)
			       : accept_all(j, kernel, &said, v, &out->acceptances.n, e);
	for (size_t i = 0; ok && i < out->acceptances.n; i++)
		ok = (v[i].time = store_time_text(v[i].at, &j->answer->arena)) || err_nomem(e);
	answer_set(j->answer, &accepted_record, out);
	return ok;
}

static bool store_accept_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	return store_answer(r, a, accept_or_withdraw, e);
}

static void store_accept_page(const struct answer *a, struct page *p)
{
	const struct accepted *x = a->data;

	if (x->is_withdrawn)
		page_line(
			p, "%s: %s taken back", x->kernel, COUNTED(x->acceptances.n, "acceptance"));
	else
		store_page_accepted_series(p, x->acceptances);
}

const struct question question_store_accept = {
	.name = "store accept",
	.summary = "accept what got worse in a kernel, and say why; or take that back",
	.args = "KERNEL",
	.min_paths = 1,
	.max_paths = 1,
	.options = options,
	.params_size = sizeof(struct store_params),
	.records = RECORDS(&accepted_record),
	.inputs = RECORDS(&store_input_record),
	.ask = store_accept_ask,
	.page = store_accept_page,
};
