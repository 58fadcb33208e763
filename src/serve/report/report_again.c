/* SPDX-License-Identifier: Apache-2.0 */
/* report_again.c: the command that makes a report again, and the inputs it was made from. */
#include "base/process.h"
#include "serve/report/report_job.h"

static void put_quoted(const char *word, struct strbuf *out)
{
	const char *one[] = {word, NULL};

	sb_putc(out, ' ');
	process_quote(one, out);
}

void report_put_command(const char *verb, const struct report_request *q, const char *option_words,
	const char *file, struct strbuf *out)
{
	sb_printf(out, "incore %s", verb);
	for (unsigned i = 0; i < q->n; i++)
		put_quoted(q->paths[i], out);
	sb_puts(out, option_words);
	if (file) {
		sb_puts(out, " -o");
		put_quoted(file, out);
	}
}

void report_again_put(const struct report_request *q, const struct view *v, struct page *p)
{
	const struct trace_meta *m = &v->trace->meta;

	page_command(p, "this report   ", "%s", q->command);
	page_command(p, "look closer   ", "%s", q->closer);
	page_fact(p, "made by       ", "incore %s", INCORE_VERSION);
	page_fact(p, "capture       ", "%s%s%s: %s", m->format, m->format_version ? " " : "",
		m->format_version ? m->format_version : "", m->origin ? m->origin : q->paths[0]);
	page_fact(p, "content       ",
		"%s (of code and timeline; the same capture has it anywhere)", v->hash);
	if (m->launch.command)
		page_command(p, "collected by  ", "%s", m->launch.command);
}
