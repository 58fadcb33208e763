/* SPDX-License-Identifier: Apache-2.0 */
/* report_md.c: the written report as Markdown; pictures stand in it as SVG data. */
#include <string.h>

#include "base/file.h"
#include "base/plain.h"
#include "serve/report/report.h"

/* Fences are longer than any run of backquotes inside. */
static void put_fenced(struct strbuf *b, struct str text)
{
	unsigned longest = 2, run = 0;

	for (size_t i = 0; i < text.n; i++) {
		run = text.p[i] == '`' ? run + 1 : 0;
		longest = run > longest ? run : longest;
	}
	for (unsigned i = 0; i <= longest; i++)
		sb_putc(b, '`');
	sb_puts(b, "text\n");
	sb_str(b, text);
	if (text.n && text.p[text.n - 1] != '\n')
		sb_putc(b, '\n');
	for (unsigned i = 0; i <= longest; i++)
		sb_putc(b, '`');
	sb_puts(b, "\n\n");
}

/* A line of prose in which nothing of the capture can become markup, or another line. */
static void put_prose(struct strbuf *b, struct str text)
{
	struct strbuf plain = {0};

	b->failed |= !sb_plain(&plain, text);
	for (size_t i = 0; i < plain.n; i++) {
		char c = plain.p[i];

		if (c == '<')
			sb_puts(b, "&lt;");
		else if (c == '&')
			sb_puts(b, "&amp;");
		else if (strchr("\\`*_[]#|!~", c) && c)
			sb_printf(b, "\\%c", c);
		else
			sb_putc(b, c);
	}
	sb_free(&plain);
}

static void put_list(struct strbuf *b, struct str text)
{
	struct str item, line;

	while (report_next_item(&text, &item)) {
		sb_puts(b, "-");
		while (str_cut(&item, "\n", &line)) {
			line = str_trim(line);
			sb_puts(b, str_starts(line, "try ") || str_starts(line, "see ") ? "\n  - "
											: " ");
			put_prose(b, line);
		}
		sb_putc(b, '\n');
	}
	sb_putc(b, '\n');
}

static void put_block(const struct report_block *block, struct strbuf *b)
{
	struct str rest = block->text, line;

	if (block->title.n) {
		sb_puts(b, "## ");
		put_prose(b, block->title);
		sb_puts(b, "\n\n");
	}
	if (block->kind == REPORT_LIST) {
		put_list(b, block->text);
	} else if (block->kind == REPORT_PROSE) {
		while (str_cut(&rest, "\n", &line)) {
			put_prose(b, str_trim(line));
			sb_putc(b, '\n');
		}
		sb_putc(b, '\n');
	} else {
		put_fenced(b, block->text);
	}
}

static void put_blocks(struct str text, struct strbuf *b)
{
	struct report_block block;

	while (report_next_block(&text, &block))
		put_block(&block, b);
}

static void put_line(const struct report *r, const struct report_line *l, struct strbuf *b)
{
	put_prose(b, str_of(r->view->trace->sources[l->source].path));
	report_put_cost(r, l, b);
	sb_printf(b, "%s%.*s\n\n", l->why.n ? "; " : "", STR_ARG(l->why));
	if (l->text.n)
		put_fenced(b, l->text);
}

/* ![words](data:image/svg+xml;base64,...): the picture needs no file beside the text. The words
 * stand where a reader shows no such picture. */
static void put_picture(struct strbuf *b, const struct strbuf *words, const struct strbuf *svg)
{
	if (svg->n == 0)
		return;
	sb_printf(b, "![%s](data:image/svg+xml;base64,", words->n ? words->p : "");
	report_base64(b, (struct str){svg->p, svg->n}, 0);
	sb_puts(b, ")\n\n");
}

static bool put_pictures(const struct report *r, struct strbuf *b, struct incore_error *e)
{
	struct strbuf buckets = {0}, lanes = {0}, words = {0}, what = {0};
	bool ok = report_svg_buckets(r->view, &buckets, e) && report_svg_lanes(r->view, &lanes, e);

	sb_puts(&words, "where the cycles went: ");
	report_bucket_words(r->view, &words);
	sb_puts(&what, "what each track executed over time, by class");
	put_picture(b, &words, &buckets);
	put_picture(b, &what, &lanes);
	if (ok && (words.failed || what.failed || buckets.failed || lanes.failed))
		ok = err_nomem(e);
	sb_free(&buckets);
	sb_free(&lanes);
	sb_free(&words);
	sb_free(&what);
	return ok;
}

bool report_markdown(const struct report *r, FILE *out, struct incore_error *e)
{
	const struct trace *t = r->view->trace;
	struct str rest = r->summary;
	struct report_block block;
	struct strbuf b = {0};
	bool ok;

	sb_puts(&b, "# ");
	put_prose(&b, str_of(t->meta.kernel ? t->meta.kernel : "kernel of unknown name"));
	sb_printf(&b, "\n\nEvidence: **%s**. %s\n\n", evidence_name(t->meta.evidence),
		report_evidence(t));
	if (r->left_out.n) {
		sb_puts(&b, "Not in the pictures: ");
		put_prose(&b, r->left_out);
		sb_puts(&b, "\n\n");
	}
	if (report_next_block(&rest, &block)) /* the verdict */
		put_block(&block, &b);
	ok = put_pictures(r, &b, e);
	put_blocks(rest, &b);
	put_blocks(r->code, &b);
	if (ok && !report_put_lines(r, "## ", "\n\n", put_line, &b))
		ok = err_nomem(e);
	if (r->difference.n) {
		sb_puts(&b, "## Difference to the second capture\n\n");
		put_blocks(r->difference, &b);
	}
	sb_puts(&b, "## All findings, with their evidence\n\n");
	put_fenced(&b, r->health);
	sb_puts(&b, "## How to reproduce\n\n");
	put_fenced(&b, r->again);
	if (ok && b.failed)
		ok = err_nomem(e);
	if (ok && fwrite(b.p, 1, b.n, out) != b.n)
		ok = err_write(e);
	sb_free(&b);
	return ok;
}
