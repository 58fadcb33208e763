/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c: from a command line to a request, from an answer to a screen. */
#include "cli/ask.h"

#include <stdlib.h>
#include <unistd.h>

#include "cli/draw.h"
#include "cli/options.h"
#include "cli/output.h"

/* Takes all options of the table that were given, including repeated ones. */
static bool take_options(struct cli *c, const struct option_def *table, struct request *r)
{
	for (; table && table->name; table++) {
		const struct option_def *own = option_find(r->question->options, table->name);

		/* a verb's own option may hide a shared one of its name */
		for (unsigned i = 0;
			table->is_stored && (!own || own == table) && i < cli_many(c, table->name);
			i++)
			if (!request_set(r, table->name, cli_many_at(c, table->name, i), &c->error))
				return false;
	}
	return true;
}

static void show_line(void *ctx, const char *line)
{
	(void)ctx;
	fprintf(stderr, "%s\n", line);
}

/* Makes a request from the command line; the captures stay the caller's. */
static bool make_request(
	struct cli *c, const struct question *q, struct captures *k, struct request *out)
{
	if (!request_init(out, q, &c->error))
		return false;
	out->paths = c->args;
	out->n_paths = c->n_args;
	out->captures = k;
	out->pool = c->pool;
	out->progress = c->progress;
	out->is_for_people = !c->use_json && !c->use_csv;
	out->is_strict = cli_flag(c, "strict");
	out->words = c->words;
	out->out = c->out;
	out->signals = &output_watch;
	out->on_line = cli_flag(c, "quiet") ? NULL : show_line;
	out->echo_fd = cli_flag(c, "verbose") ? STDERR_FILENO : 0;
	if (take_options(c, q->options, out) &&
		(!(q->groups & OPTIONS_SELECT) || take_options(c, request_select_options, out)) &&
		(!(q->groups & OPTIONS_TOP) || take_options(c, request_top_options, out)) &&
		(!(q->groups & OPTIONS_CAPTURE) || take_options(c, request_capture_options, out))) {
		captures_follow_links(k, out->follow_links);
		return true;
	}
	request_deinit(out);
	return false;
}

static void take_warnings(struct cli *c, const struct answer *a)
{
	for (size_t i = 0; i < a->warnings.n; i++)
		cli_warn(c, "%s", a->warnings.v[i]);
	c->n_notes += a->n_notes;
	c->n_losses += a->n_losses;
}

void cli_move_warnings(struct cli *c, struct answer *a)
{
	take_warnings(c, a);
	c->warnings.failed |= a->has_lost_warning;
	a->warnings.n = 0;
	a->n_notes = a->n_losses = 0;
}

void cli_session_notes(struct cli *c, const struct session *s)
{
	struct answer a = {0};

	arena_init(&a.arena);
	for (unsigned i = 0; i < c->n_args; i++) {
		const struct trace *t = session_trace(s, i);

		if (t)
			answer_notes(&a, t->notes, t->n_notes);
	}
	cli_move_warnings(c, &a);
	answer_deinit(&a);
}

void cli_warn_unread(struct cli *c, uint64_t n)
{
	if (!n)
		return;
	c->n_losses++;
	cli_warn(c,
		"%llu track%s could not be read: the timeline lacks %s (incore check says more)",
		(unsigned long long)n, plural(n), n == 1 ? "it" : "them");
}

bool cli_begin(struct cli *c, struct asked *out)
{
	*out = (struct asked){.shape = {.name = c->verb->name,
				      .groups = c->verb->groups,
				      .options = c->verb->options,
				      .params_size = c->verb->params_size}};
	captures_init(&out->captures);
	arena_init(&out->answer.arena);
	return make_request(c, &out->shape, &out->captures, &out->request);
}

bool cli_open(struct cli *c, struct asked *x, const char *path, unsigned want, struct trace **out)
{
	bool ok = answer_open(&x->answer, &x->request, path, want, out, &c->error);

	cli_move_warnings(c, &x->answer);
	return ok;
}

static bool ask_verb(struct cli *c, struct asked *out)
{
	bool ok;

	*out = (struct asked){0};
	captures_init(&out->captures);
	if (!make_request(c, c->verb->question, &out->captures, &out->request))
		return false;
	if (c->verb->prepare)
		c->verb->prepare(c, &out->request);
	ok = answer_ask(&out->request, &out->answer, &c->error);
	take_warnings(c, &out->answer);
	return ok;
}

void cli_answered(struct asked *x)
{
	answer_deinit(&x->answer);
	request_deinit(&x->request);
	captures_deinit(&x->captures);
}

static bool print_json(struct cli *c, const struct answer *a)
{
	struct json_writer w;

	json_w_file(&w, c->out, 1);
	answer_json(a, &w);
	/* Write errors are reported when the sink is closed: a full disk fails, a closed pipe ends
	 * quietly. */
	return ferror(c->out) || json_w_finish(&w, &c->error);
}

static bool draw_answer(struct cli *c, const struct answer *a)
{
	struct page p;

	cli_page_init(c, &p);
	a->question->page(a, &p);
	return cli_page_finish(c, &p);
}

static bool print_answer(struct cli *c, const struct answer *a)
{
	if (a->is_streamed)
		return true;
	return c->use_json ? print_json(c, a) : draw_answer(c, a);
}

/* The verb has done its work if its files are in place, even if nothing can be said of them. */
static bool has_written(struct cli *c, const struct answer *a)
{
	if (!a->is_written || c->use_json || !err_is(&c->error, "no-memory"))
		return false;
	incore_error_clear(&c->error);
	fputs("incore: warning: the output was written, but there is no memory to describe it\n",
		stderr);
	return true;
}

bool cli_run_question(struct cli *c)
{
	struct asked x;
	bool ok;

	ok = (ask_verb(c, &x) && print_answer(c, &x.answer)) || has_written(c, &x.answer);

	c->is_no = x.answer.is_no;
	c->app_status = x.answer.app_status;
	if (ok && x.answer.failure.status != INCORE_OK) {
		err_move(&c->error, &x.answer.failure);
		ok = false;
	}
	cli_answered(&x);
	return ok;
}
