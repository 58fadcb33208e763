/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"
#include "base/file.h"
/* report_md.c: the written report as Markdown; pictures stand in it as SVG data. */
#include "base/file.h"
#include <string.h>

#include "base/file.h"
#include "serve/report/report.h"

#include "base/file.h"
/* Fences are longer than any run of backquotes inside. */
#include "base/file.h"
static void put_fenced(struct strbuf *b, struct str text)
#include "base/file.h"
{
#include "base/file.h"
	unsigned longest = 2, run = 0;
#include "base/file.h"

#include "base/file.h"
	for (size_t i = 0; i < text.n; i++) {
#include "base/file.h"
		run = text.p[i] == '`' ? run + 1 : 0;
#include "base/file.h"
		longest = run > longest ? run : longest;
#include "base/file.h"
	}
#include "base/file.h"
	for (unsigned i = 0; i <= longest; i++)
#include "base/file.h"
		sb_putc(b, '`');
#include "base/file.h"
	sb_puts(b, "text\n");
#include "base/file.h"
	sb_str(b, text);
#include "base/file.h"
	if (text.n && text.p[text.n - 1] != '\n')
#include "base/file.h"
		sb_putc(b, '\n');
#include "base/file.h"
	for (unsigned i = 0; i <= longest; i++)
#include "base/file.h"
		sb_putc(b, '`');
#include "base/file.h"
	sb_puts(b, "\n\n");
#include "base/file.h"
}
#include "base/file.h"

#include "base/file.h"
/* Prose in which nothing of the capture can become markup. */
#include "base/file.h"
static void put_prose(struct strbuf *b, struct str text)
#include "base/file.h"
{
#include "base/file.h"
	for (size_t i = 0; i < text.n; i++) {
#include "base/file.h"
		char c = text.p[i];
#include "base/file.h"

#include "base/file.h"
		if (c == '<')
#include "base/file.h"
			sb_puts(b, "&lt;");
#include "base/file.h"
		else if (c == '&')
#include "base/file.h"
			sb_puts(b, "&amp;");
#include "base/file.h"
		else if (strchr("\\`*_[]#|!~", c) && c)
#include "base/file.h"
			sb_printf(b, "\\%c", c);
#include "base/file.h"
		else
#include "base/file.h"
			sb_putc(b, c);
#include "base/file.h"
	}
#include "base/file.h"
}
#include "base/file.h"

#include "base/file.h"
static void put_list(struct strbuf *b, struct str text)
#include "base/file.h"
{
#include "base/file.h"
	struct str item, line;
#include "base/file.h"

#include "base/file.h"
	while (report_next_item(&text, &item)) {
#include "base/file.h"
		sb_puts(b, "-");
#include "base/file.h"
		while (str_cut(&item, "\n", &line)) {
#include "base/file.h"
			line = str_trim(line);
#include "base/file.h"
			sb_puts(b, str_starts(line, "try ") || str_starts(line, "see ") ? "\n  - "
#include "base/file.h"
											: " ");
#include "base/file.h"
			put_prose(b, line);
#include "base/file.h"
		}
#include "base/file.h"
		sb_putc(b, '\n');
#include "base/file.h"
	}
#include "base/file.h"
	sb_putc(b, '\n');
#include "base/file.h"
}
#include "base/file.h"

#include "base/file.h"
static void put_block(const struct report_block *block, struct strbuf *b)
#include "base/file.h"
{
#include "base/file.h"
	struct str rest = block->text, line;
#include "base/file.h"

#include "base/file.h"
	if (block->title.n) {
#include "base/file.h"
		sb_puts(b, "## ");
#include "base/file.h"
		put_prose(b, block->title);
#include "base/file.h"
		sb_puts(b, "\n\n");
#include "base/file.h"
	}
#include "base/file.h"
	if (block->kind == REPORT_LIST) {
#include "base/file.h"
		put_list(b, block->text);
#include "base/file.h"
	} else if (block->kind == REPORT_PROSE) {
#include "base/file.h"
		while (str_cut(&rest, "\n", &line)) {
#include "base/file.h"
			put_prose(b, str_trim(line));
#include "base/file.h"
			sb_putc(b, '\n');
#include "base/file.h"
		}
#include "base/file.h"
		sb_putc(b, '\n');
#include "base/file.h"
	} else {
#include "base/file.h"
		put_fenced(b, block->text);
#include "base/file.h"
	}
#include "base/file.h"
}
#include "base/file.h"

#include "base/file.h"
static void put_blocks(struct str text, struct strbuf *b)
#include "base/file.h"
{
#include "base/file.h"
	struct report_block block;
#include "base/file.h"

#include "base/file.h"
	while (report_next_block(&text, &block))
#include "base/file.h"
		put_block(&block, b);
#include "base/file.h"
}
#include "base/file.h"

#include "base/file.h"
static void put_line(const struct report *r, const struct report_line *l, struct strbuf *b)
#include "base/file.h"
{
#include "base/file.h"
	put_prose(b, str_of(r->view->trace->sources[l->source].path));
#include "base/file.h"
	report_put_cost(r, l, b);
#include "base/file.h"
	sb_printf(b, "%s%.*s\n\n", l->why.n ? "; " : "", STR_ARG(l->why));
#include "base/file.h"
	if (l->text.n)
#include "base/file.h"
		put_fenced(b, l->text);
#include "base/file.h"
}
#include "base/file.h"

#include "base/file.h"
/* ![words](data:image/svg+xml;base64,...): the picture needs no file beside the text. The words
#include "base/file.h"
 * stand where a reader shows no such picture. */
#include "base/file.h"
static void put_picture(struct strbuf *b, const struct strbuf *words, const struct strbuf *svg)
#include "base/file.h"
{
#include "base/file.h"
	if (svg->n == 0)
#include "base/file.h"
		return;
#include "base/file.h"
	sb_printf(b, "![%s](data:image/svg+xml;base64,", words->n ? words->p : "");
#include "base/file.h"
	report_base64(b, (struct str){svg->p, svg->n}, 0);
#include "base/file.h"
	sb_puts(b, ")\n\n");
#include "base/file.h"
}
#include "base/file.h"

#include "base/file.h"
static bool put_pictures(const struct report *r, struct strbuf *b, struct incore_error *e)
#include "base/file.h"
{
#include "base/file.h"
	struct strbuf buckets = {0}, lanes = {0}, words = {0}, what = {0};
#include "base/file.h"
	bool ok = report_svg_buckets(r->view, &buckets, e) && report_svg_lanes(r->view, &lanes, e);
#include "base/file.h"

#include "base/file.h"
	sb_puts(&words, "where the cycles went: ");
#include "base/file.h"
	report_bucket_words(r->view, &words);
#include "base/file.h"
	sb_puts(&what, "what each track executed over time, by class");
#include "base/file.h"
	put_picture(b, &words, &buckets);
#include "base/file.h"
	put_picture(b, &what, &lanes);
#include "base/file.h"
	if (ok && (words.failed || what.failed || buckets.failed || lanes.failed))
#include "base/file.h"
		ok = err_nomem(e);
#include "base/file.h"
	sb_free(&buckets);
#include "base/file.h"
	sb_free(&lanes);
#include "base/file.h"
	sb_free(&words);
#include "base/file.h"
	sb_free(&what);
#include "base/file.h"
	return ok;
#include "base/file.h"
}
#include "base/file.h"

#include "base/file.h"
bool report_markdown(const struct report *r, FILE *out, struct incore_error *e)
#include "base/file.h"
{
#include "base/file.h"
	const struct trace *t = r->view->trace;
#include "base/file.h"
	struct str rest = r->summary;
#include "base/file.h"
	struct report_block block;
#include "base/file.h"
	struct strbuf b = {0};
#include "base/file.h"
	bool ok;
#include "base/file.h"

#include "base/file.h"
	sb_puts(&b, "# ");
#include "base/file.h"
	put_prose(&b, str_of(t->meta.kernel ? t->meta.kernel : "kernel of unknown name"));
#include "base/file.h"
	sb_printf(&b, "\n\nEvidence: **%s**. %s\n\n", evidence_name(t->meta.evidence),
#include "base/file.h"
		report_evidence(t));
#include "base/file.h"
	if (r->left_out.n) {
#include "base/file.h"
		sb_puts(&b, "Not in the pictures: ");
#include "base/file.h"
		put_prose(&b, r->left_out);
#include "base/file.h"
		sb_puts(&b, "\n\n");
#include "base/file.h"
	}
#include "base/file.h"
	if (report_next_block(&rest, &block)) /* the verdict */
#include "base/file.h"
		put_block(&block, &b);
#include "base/file.h"
	ok = put_pictures(r, &b, e);
#include "base/file.h"
	put_blocks(rest, &b);
#include "base/file.h"
	put_blocks(r->code, &b);
#include "base/file.h"
	if (ok && !report_put_lines(r, "## ", "\n\n", put_line, &b))
#include "base/file.h"
		ok = err_nomem(e);
#include "base/file.h"
	if (r->difference.n) {
#include "base/file.h"
		sb_puts(&b, "## Difference to the second capture\n\n");
#include "base/file.h"
		put_blocks(r->difference, &b);
#include "base/file.h"
	}
#include "base/file.h"
	sb_puts(&b, "## All findings, with their evidence\n\n");
#include "base/file.h"
	put_fenced(&b, r->health);
#include "base/file.h"
	sb_puts(&b, "## How to reproduce\n\n");
#include "base/file.h"
	put_fenced(&b, r->again);
#include "base/file.h"
	if (ok && b.failed)
#include "base/file.h"
		ok = err_nomem(e);
#include "base/file.h"
	if (ok && fwrite(b.p, 1, b.n, out) != b.n)
#include "base/file.h"
		ok = err_write(e);
#include "base/file.h"
	sb_free(&b);
#include "base/file.h"
	return ok;
#include "base/file.h"
}
