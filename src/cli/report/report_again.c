/* SPDX-License-Identifier: Apache-2.0 */
/* report_again.c: how a report is made again, and from what it was made. */
#include <string.h>

#include "base/plain.h"
#include "base/process.h"
#include "cli/options.h"
#include "cli/report/report_code.h"

static void put_quoted(const char *word, struct strbuf *out)
{
	const char *one[] = {word, NULL};

	sb_putc(out, ' ');
	process_quote(one, out);
}

/* Options that decide what is read and what goes in; others change no byte of the report. */
static void put_options(struct cli *c, bool with_own, struct strbuf *out)
{
	struct option_list list;

	options_of(c->verb, &list);
	for (unsigned i = 0; i < list.n; i++) {
		const struct option_def *d = list.def[i];
		bool is_own = strcmp(list.group[i], "Options") == 0;

		if (!cli_has(c, d->name) || (is_own && !with_own) ||
			(!is_own && strcmp(list.group[i], "Selection") != 0))
			continue;
		sb_printf(out, " --%s", d->name);
		if (d->type != OPTION_FLAG)
			put_quoted(cli_text(c, d->name), out);
	}
}

static void put_command(struct cli *c, const char *verb, const char *file, struct strbuf *out)
{
	sb_printf(out, "incore %s", verb);
	for (unsigned i = 0; i < c->n_args; i++)
		put_quoted(c->args[i], out);
	put_options(c, file != NULL, out);
	if (file) {
		sb_puts(out, " -o");
		put_quoted(file, out);
	}
}

/* A line of its own, whatever stands in it. */
static void end_line(struct strbuf *line, struct strbuf *out)
{
	sb_plain(out, (struct str){line->p, line->n});
	sb_putc(out, '\n');
	out->failed |= line->failed;
	sb_reset(line);
}

bool report_again_make(struct cli *c, const struct view *v, struct strbuf *out)
{
	const struct trace_meta *m = &v->trace->meta;
	const char *name = cli_text(c, "output");
	struct strbuf line = {0};

	sb_puts(&line, "this report   ");
	put_command(c, "report", strcmp(name, "-") == 0 ? name : path_base(name), &line);
	end_line(&line, out);
	sb_puts(&line, "look closer   ");
	put_command(c, "view", NULL, &line);
	end_line(&line, out);
	sb_printf(out, "made by       incore %s\n", INCORE_VERSION);
	sb_printf(&line, "capture       %s%s%s: %s", m->format, m->format_version ? " " : "",
		m->format_version ? m->format_version : "", m->origin ? m->origin : c->args[0]);
	end_line(&line, out);
	sb_printf(out,
		"content       %s (of code and timeline; the same capture has it anywhere)\n",
		v->hash);
	if (m->launch.command) {
		sb_printf(&line, "collected by  %s", m->launch.command);
		end_line(&line, out);
	}
	sb_free(&line);
	return !out->failed || err_nomem(&c->error);
}
