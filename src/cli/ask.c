/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c: from a request to a screen. */
#include "cli/ask.h"

#include <unistd.h>

#include "cli/editor.h"
#include "cli/output.h"
#include "page/write.h"

/* --- drawing --- */

static bool print_json(struct cli *c, const struct answer *a)
{
	struct json_writer w;

	json_w_file(&w, c->out, 1);
	answer_json(a, &w);
	/* Write errors are reported when the sink is closed: a full disk fails, a closed pipe ends
	 * quietly. */
	return ferror(c->out) || json_w_finish(&w, &c->error);
}

static bool write_page(struct cli *c, struct page *p)
{
	struct text_medium m;

	if (!page_is_whole(p, &c->error))
		return false;
	if (p->is_long)
		output_page(c, p->open_at);
	if (c->options.csv)
		return page_write_csv(p, c->out) || err_nomem(&c->error);
	m = (struct text_medium){.out = c->out, .width = c->width, .use_color = c->use_color};
	page_write_text(p, &m);
	return true;
}

static bool draw_answer(struct cli *c, const struct answer *a)
{
	struct page p;
	bool ok;

	page_init(&p);
	p.is_csv = c->options.csv;
	p.explains = c->options.explains;
	p.columns = c->options.columns;
	a->question->page(a, &p);
	ok = write_page(c, &p);
	page_deinit(&p);
	return ok;
}

static bool print_answer(struct cli *c, const struct answer *a)
{
	return c->options.json ? print_json(c, a) : draw_answer(c, a);
}

/* --- what the terminal offers --- */

static bool show_now(void *ctx, const struct answer *a, struct incore_error *e)
{
	struct cli *c = ctx;
	bool ok = print_answer(c, a);

	output_warnings(c);
	if (!ok && e != &c->error)
		err_move(e, &c->error);
	return ok;
}

static void report_now(void *ctx, const struct incore_error *e)
{
	const struct cli *c = ctx;

	output_error(e, c->options.json);
}

static void tell_line(void *ctx, const char *line, const void *state)
{
	(void)ctx;
	(void)state;
	if (line)
		fprintf(stderr, "%s\n", line);
}

/* Adds what the terminal has to the request of the command line. */
static void complete_request(struct cli *c)
{
	struct request *r = &c->request;

	c->terminal = (struct terminal){.in = stdin,
		.editor = isatty(STDIN_FILENO) ? &typed_lines : NULL,
		.is_screen = c->is_terminal,
		.show = show_now,
		.report = report_now,
		.ctx = c};
	r->captures = &c->captures;
	r->pool = c->pool;
	r->progress = c->progress;
	r->is_for_people = !c->options.json && !c->options.csv;
	r->is_csv = c->options.csv;
	r->is_strict = c->options.strict;
	r->out = c->out;
	r->signals = &output_watch;
	r->tell = c->options.quiet ? NULL : tell_line;
	r->echo_fd = c->options.verbose ? STDERR_FILENO : 0;
	r->terminal = &c->terminal;
	if (c->verb->prepare)
		c->verb->prepare(c, r);
}

/* --- asking --- */

/* The verb has done its work if its files are in place, even if nothing can be said of them. */
static bool has_written(struct cli *c)
{
	if (!c->answer.is_written || c->options.json || !err_is(&c->error, "no-memory"))
		return false;
	incore_error_clear(&c->error);
	fputs("incore: warning: the output was written, but there is no memory to describe it\n",
		stderr);
	return true;
}

bool cli_ask(struct cli *c)
{
	struct answer *a = &c->answer;
	bool ok;

	captures_follow_links(&c->captures, c->request.follow_links);
	complete_request(c);
	ok = answer_ask(&c->request, a, &c->error) && (a->is_streamed || print_answer(c, a));
	if (!ok && !has_written(c))
		return false;
	if (a->failure.status == INCORE_OK)
		return true;
	err_move(&c->error, &a->failure);
	return false;
}
