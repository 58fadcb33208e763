/* SPDX-License-Identifier: Apache-2.0 */
/* report_again.c: how a report is made again, and from what it was made. */
#include <string.h>

#include "base/process.h"
#include "cli/options.h"
#include "cli/report/report_code.h"

#define MAX_WORDS 48u

/* Options that decide what is read and what goes in; others change no byte of the report. */
static unsigned add_options(struct cli *c, const char **words, unsigned n, bool with_own)
{
	struct option_list list;

	options_of(c->verb, &list);
	for (unsigned i = 0; i < list.n && n + 3 < MAX_WORDS; i++) {
		bool is_own = strcmp(list.group[i], "Options") == 0;

		if ((!is_own && strcmp(list.group[i], "Selection") != 0) || (is_own && !with_own) ||
			!cli_has(c, list.def[i]->name))
			continue;
		words[n++] = list.def[i]->name;
		if (list.def[i]->type != OPTION_FLAG)
			words[n++] = cli_text(c, list.def[i]->name);
	}
	return n;
}

/* Names of options stand without their dashes in `words`; values follow where there are any. */
static void put_command(struct cli *c, const char *verb, const char *file, struct strbuf *out)
{
	const char *words[MAX_WORDS + 1] = {NULL};
	unsigned n = add_options(c, words, 0, file != NULL);
	const char *one[] = {file, NULL};

	sb_printf(out, "incore %s", verb);
	for (unsigned i = 0; i < c->n_args; i++) {
		const char *path[] = {c->args[i], NULL};

		sb_putc(out, ' ');
		process_quote(path, out);
	}
	for (unsigned i = 0; i < n; i++) {
		const char *value[] = {words[i + 1], NULL};
		const struct option_def *d = c->verb->options;

		while (d->name && strcmp(d->name, words[i]) != 0)
			d++;
		sb_printf(out, " --%s", words[i]);
		if (d->name && d->type == OPTION_FLAG)
			continue;
		sb_putc(out, ' ');
		process_quote(value, out);
		i++;
	}
	if (file) {
		sb_puts(out, " -o ");
		process_quote(one, out);
	}
	sb_putc(out, '\n');
}

bool report_again_make(struct cli *c, const struct view *v, struct strbuf *out)
{
	const struct trace_meta *m = &v->trace->meta;
	const char *name = cli_text(c, "output");

	sb_puts(out, "this report   ");
	put_command(c, "report", strcmp(name, "-") == 0 ? name : path_base(name), out);
	sb_puts(out, "look closer   ");
	put_command(c, "view", NULL, out);
	sb_printf(out, "made by       incore %s\n", INCORE_VERSION);
	sb_printf(out, "capture       %s%s%s: %s\n", m->format, m->format_version ? " " : "",
		m->format_version ? m->format_version : "", m->origin ? m->origin : c->args[0]);
	sb_printf(out,
		"content       %s (of code and timeline; the same capture has it anywhere)\n",
		v->hash);
	if (m->launch.command)
		sb_printf(out, "collected by  %s\n", m->launch.command);
	return !out->failed || err_nomem(&c->error);
}
