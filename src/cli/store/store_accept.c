/* SPDX-License-Identifier: Apache-2.0 */
/* store_accept.c: incore store accept: accepts named regressions, with who, when and why. */
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "cli/store/store_job.h"
#include "page/say.h"
#include "store/accept.h"

#define MOST_TEXT 1000u

static const struct option_def options[] = {
	STORE_OPTION,
	{OPT_BECAUSE, NULL, NULL, "reason for accepting it, in one line"},
	{OPT_BY_NAME, NULL, NULL, "who accepts it (default: $USER)"},
	{OPT_AT, NULL, NULL,
		"time of acceptance: 2026-11-18[T01:02:03Z] or @SECONDS (default: now)"},
	{OPT_WITHDRAW, NULL, NULL, "withdraw what was accepted"},
	{OPT_ARCH, NULL, NULL, "only captures of this architecture"},
	{OPT_LABEL, NULL, NULL, "only captures with this label; may be repeated"},
	STORE_JUDGE_OPTIONS,
	{OPT_MAX, NULL, NULL, "same as for store gate"},
	OPTION_END,
};

struct accepted {
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
static const char *find_kernel(struct store_job *j, const char *name)
{
	const char *found = NULL;

	for (unsigned is_whole = 2; !found && is_whole--;)
		for (size_t i = 0; i < j->entries.v.n; i++) {
			const char *kernel = j->entries.v.v[i].kernel;

			if (!is_called(kernel, name, is_whole))
				continue;
			kernel = kernel ? kernel : "";
			if (found && strcmp(found, kernel) != 0) {
				err_set(&j->c->error, INCORE_USAGE, "which-kernel",
					"'%s' is %s and %s: give the whole name", name, found,
					kernel);
				return NULL;
			}
			found = kernel;
		}
	if (!found)
		err_set(&j->c->error, INCORE_USAGE, "no-kernel",
			"%s: no kernel '%s' is selected: incore store ls lists them", j->path,
			name);
	return found;
}

/* --- reason and author --- */

static bool check_text(struct cli *c, const char *option, const char *text)
{
	size_t n = strlen(text);

	for (size_t i = 0; i < n; i++)
		if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
			n = 0;
	return (n && n <= MOST_TEXT) ||
	       err_set(&c->error, INCORE_USAGE, "bad-text",
		       "--%s takes one line of at most %u bytes, without control characters",
		       option, MOST_TEXT);
}

static const char *who_is_it(struct store_job *j)
{
	static const char *const names[] = {"USER", "LOGNAME"};
	const char *who = cli_text(j->c, "by");

	for (unsigned i = 0; !who && i < 2; i++) {
		const char *set = getenv(names[i]);

		who = set && *set ? set : NULL;
	}
	if (!who)
		who = arena_printf(&j->arena, "user %lu", (unsigned long)getuid());
	if (!who)
		err_nomem(&j->c->error);
	return who && check_text(j->c, "by", who) ? who : NULL;
}

static bool read_said(struct store_job *j, struct store_acceptance *out)
{
	const char *because = cli_text(j->c, "because"), *at = cli_text(j->c, "at");
	bool is_withdrawn = cli_flag(j->c, "withdraw");

	if (is_withdrawn == (because != NULL))
		return err_set(&j->c->error, INCORE_USAGE, "bad-option",
			"store accept takes --because TEXT, or --withdraw");
	out->at = (int64_t)time(NULL);
	if (at && !store_time(at, &out->at))
		return err_set(&j->c->error, INCORE_USAGE, "bad-time",
			"--at '%s': a time is 2026-11-18, 2026-11-18T01:02:03Z or @SECONDS", at);
	if (is_withdrawn)
		return true;
	out->because = because;
	return check_text(j->c, "because", because) && (out->who = who_is_it(j));
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
	struct store_acceptance *v, size_t *n)
{
	const struct store_entries *x = &j->entries;
	struct store_judged judged;

	for (size_t at = 0; at < x->v.n; at += store_series(x, at)) {
		if (!is_called(x->v.v[at].kernel, kernel, true))
			continue;
		if (!store_judge(&j->ask, x, at, &judged, &j->c->error))
			return false;
		if (store_is_worse(&judged.gate))
			put_one(&judged, said, &v[(*n)++]);
	}
	return *n ? store_accept(j->store, v, *n, &j->c->error)
		  : err_set(&j->c->error, INCORE_USAGE, "nothing-to-accept",
			    "%s: '%s' is no worse than its noise allows, or it was accepted "
			    "before",
			    j->path, kernel);
}

static bool withdraw_all(
	struct store_job *j, const char *kernel, struct store_acceptance *v, size_t *n)
{
	const struct store_entries *x = &j->entries;
	const char *figure = cli_text(j->c, "figure");

	for (size_t at = 0; at < x->v.n; at += store_series(x, at)) {
		struct rows of = store_accepted_of(&x->accepted, &x->v.v[at]);
		const struct store_acceptance *a = of.v;

		for (size_t i = 0; i < of.n && is_called(x->v.v[at].kernel, kernel, true); i++)
			if (!figure || strcmp(a[i].figure, figure) == 0)
				v[(*n)++] = a[i];
	}
	return *n ? store_withdraw(j->store, v, *n, &j->c->error)
		  : err_set(&j->c->error, INCORE_USAGE, "nothing-accepted",
			    "%s: nothing of '%s' was accepted", j->path, kernel);
}

static bool change(struct store_job *j, struct accepted *out)
{
	struct store_acceptance said = {0}, *v;
	const char *kernel;
	bool ok;

	if (!read_said(j, &said) || !(kernel = find_kernel(j, j->c->args[0])))
		return false;
	v = arena_zalloc(&j->arena, j->entries.v.n + j->entries.accepted.n + 1, sizeof(*v));
	if (!v)
		return err_nomem(&j->c->error);
	ok = out->is_withdrawn ? withdraw_all(j, kernel, v, &out->acceptances.n)
			       : accept_all(j, kernel, &said, v, &out->acceptances.n);
	out->acceptances.v = v;
	for (size_t i = 0; ok && i < out->acceptances.n; i++)
		ok = (v[i].time = store_time_text(v[i].at, &j->arena)) || err_nomem(&j->c->error);
	return ok;
}

static bool run_accept(struct cli *c)
{
	struct accepted x = {.is_withdrawn = cli_flag(c, "withdraw")};
	struct store_job j;
	bool ok = store_job_open(&j, c) && store_job_rule(&j) &&
		  store_real(c, "max", &j.ask.most_pct) && change(&j, &x);

	if (ok && c->use_json)
		ok = store_job_json(c, j.path, &accepted_record, &x);
	else if (ok && x.is_withdrawn)
		say(c->out, "%s: %s taken back\n", c->args[0],
			COUNTED(x.acceptances.n, "acceptance"));
	else if (ok)
		store_say_accepted_series(c, x.acceptances);
	store_job_close(&j);
	return ok;
}

const struct verb store_verb_accept = {
	.name = "store accept",
	.args = "KERNEL",
	.summary = "accept what got worse in a kernel, and say why; or take that back",
	.groups = OPTIONS_OUTPUT,
	.options = options,
	.min_args = 1,
	.max_args = 1,
	.run = run_accept,
	.records = RECORDS(&accepted_record),
	.inputs = store_inputs,
};
