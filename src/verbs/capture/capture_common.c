/* SPDX-License-Identifier: Apache-2.0 */
/* capture_common.c: see capture_common.h. */
#include "verbs/capture/capture_common.h"

struct app_input {
	const char *command;
};
static const struct column app_columns[] = {
	COLUMN(app_input, command, UNIT_NONE,
		"command line of the application, quoted for a shell"),
};
const struct record capture_app_record = RECORD_OF(app_input, RECORD_BLOCK, app_columns);

bool capture_needs_app(const struct request *r, const char *or_else, struct incore_error *e)
{
	return err_set(e, INCORE_USAGE, "missing-argument",
		"%s needs an application%s; usage: incore %s [options] -- APP [ARG...]",
		r->question->name, or_else, r->question->name);
}

const char *const *capture_app(const struct request *r, struct answer *a, struct incore_error *e)
{
	const char **app = answer_alloc(a, r->n_paths + 1, sizeof(*app), e);

	if (app && r->n_paths)
		memcpy(app, r->paths, r->n_paths * sizeof(*app));
	return app;
}

struct drive capture_drive(const struct request *r, const char *const *app, bool runs)
{
	if (r->signals && runs)
		r->signals->hold(true);
	return (struct drive){.app = app,
		.echo_fd = r->echo_fd,
		.pool = r->pool,
		.progress = r->progress,
		.is_cancelled = r->signals ? r->signals->is_held : NULL,
		.cancel_signal = r->signals ? r->signals->first : NULL};
}

static bool put_about(struct answer *a, const char *const *app, struct incore_error *e)
{
	struct app_input *about = ANSWER_NEW(a, app_input, e);
	struct strbuf command = {0};

	if (!about)
		return false;
	process_quote(app, &command);
	about->command = answer_text(a, &command, e);
	answer_about(a, &capture_app_record, about);
	return about->command != NULL;
}

bool capture_answer(struct answer *a, const char *const *app, const struct capture_done *d,
	bool is_ok, struct incore_error *e)
{
	struct incore_error late = {0};

	for (size_t i = 0; i < d->n_warnings; i++)
		if (d->warnings[i])
			answer_warn(a, "%s", d->warnings[i]);
	a->is_no = d->is_no;
	a->app_status = is_ok ? 0 : d->app_status;
	if (!is_ok && d->is_empty)
		return false;
	if (!put_about(a, app, is_ok ? e : &late)) {
		incore_error_clear(&late);
		return false;
	}
	answer_set(a, d->record, d->data);
	if (!is_ok)
		err_move(&a->failure, e);
	return true;
}

void capture_page_plan(struct page *p, const struct rocprof_run *t)
{
	struct str rest = str_of(t->configuration), line;

	page_gap(p);
	page_line(p, "%s:", t->input);
	while (str_cut(&rest, "\n", &line) && line.n)
		page_line(p, "%.*s", STR_ARG(line));
	page_command(p, "$ ", "%s", t->command);
}
