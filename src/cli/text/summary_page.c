/* SPDX-License-Identifier: Apache-2.0 */
/* summary_page.c: how a paragraph is wrapped and a table of the summary page printed. */
#include "cli/text/summary_page.h"
#include "cli/text/say.h"

#include <stdarg.h>
#include <string.h>

#define PAGE_WIDTH 100u /* at most; a narrower terminal has its own */

double page_percent(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

const char *page_text(struct page *p, const struct strbuf *b)
{
	p->is_failed |= b->failed;
	return b->p ? b->p : "";
}

void page_wrap(struct page *p, const char *head, const char *text)
{
	size_t indent = strlen(head), column = indent;
	size_t width = p->c->width && p->c->width < PAGE_WIDTH ? p->c->width : PAGE_WIDTH;
	struct str rest = str_of(text), word;

	fputs(head, p->out);
	for (bool first = true; str_cut(&rest, " ", &word); first = false) {
		if (!first && column + 1 + word.n > width && !p->c->is_unbroken) {
			say(p->out, "\n%*s", (int)indent, "");
			column = indent;
			first = true;
		}
		say(p->out, "%s%.*s", first ? "" : " ", STR_ARG(word));
		column += word.n + !first;
	}
	fputc('\n', p->out);
}

void page_line(struct page *p, const char *head, const char *fmt, ...)
{
	struct strbuf b = {0};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	page_wrap(p, head, page_text(p, &b));
	sb_free(&b);
}

void page_title(struct page *p, const char *text)
{
	say(p->out, "\n%s%s%s\n", style_on(p->c, CELL_WARM), text, style_off(p->c));
}

void page_findings(struct page *p, struct rows findings)
{
	const struct finding_row *v = findings.v;

	for (size_t i = 0; i < findings.n; i++)
		if (v[i].level != SEVERITY_INFO)
			page_line(p, "  - ", "%s: %s; %s", v[i].id, v[i].message,
				v[i].advice ? v[i].advice : "");
}

void page_advice(struct page *p, struct rows advice)
{
	const struct advice_row *v = advice.v;

	if (!advice.n)
		return;
	page_title(p, "What to try (by exposed cycles; incore advise asks what each would bring)");
	for (size_t i = 0; i < advice.n; i++) {
		page_line(p, "  * ", "%s, %s, %s: %s", v[i].rule, v[i].cause, v[i].place,
			v[i].evidence);
		page_line(p, "    try ", "%s", v[i].experiment);
		page_line(p, "    see ", "%s", v[i].prediction);
	}
}
