/* SPDX-License-Identifier: Apache-2.0 */
/* report_md.c: the written report as Markdown; pictures stand in it as SVG data. */
#include <string.h>

#include "serve/report.h"

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

/* Prose in which nothing of the capture can become markup. */
static void put_prose(struct strbuf *b, struct str text)
{
	for (size_t i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '<')
			sb_puts(b, "&lt;");
		else if (c == '&')
			sb_puts(b, "&amp;");
		else if (strchr("\\`*_[]#|!~", c) && c)
			sb_printf(b, "\\%c", c);
		else
			sb_putc(b, c);
	}
}

static void put_block(const struct report_block *block, struct strbuf *b)
{
	if (block->title.n) {
		sb_puts(b, "## ");
		put_prose(b, block->title);
		sb_puts(b, "\n\n");
	}
	if (block->is_prose) {
		put_prose(b, block->text);
		sb_puts(b, "\n\n");
	} else {
		put_fenced(b, block->text);
	}
}

static void put_source(const struct view *v, struct strbuf *b)
{
	struct strbuf text = {0};
	struct report_source s;
	struct str line;

	if (!report_hottest_source(v, &s))
		return;
	sb_puts(b, "## The costliest source line\n\n");
	put_prose(b, str_of(s.path));
	sb_printf(b, ":%u\n\n", s.marked);
	for (uint32_t n = s.first; str_cut(&s.lines, "\n", &line); n++) {
		sb_printf(&text, "%c%5u  ", n == s.marked ? '>' : ' ', n);
		sb_str(&text, line);
		sb_putc(&text, '\n');
	}
	put_fenced(b, (struct str){text.p, text.n});
	b->failed |= text.failed;
	sb_free(&text);
}

/* ![title](data:image/svg+xml;base64,...): the picture needs no file beside the text. */
static bool put_picture(struct strbuf *b, const char *title, const struct strbuf *svg)
{
	static const char digits[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const uint8_t *p = (const uint8_t *)svg->p;

	if (svg->failed || svg->n == 0)
		return !svg->failed;
	sb_printf(b, "![%s](data:image/svg+xml;base64,", title);
	for (size_t i = 0; i < svg->n; i += 3) {
		size_t left = svg->n - i;
		uint32_t v = (uint32_t)p[i] << 16 | (left > 1 ? (uint32_t)p[i + 1] << 8 : 0) |
			     (left > 2 ? p[i + 2] : 0);

		sb_putc(b, digits[v >> 18]);
		sb_putc(b, digits[v >> 12 & 63]);
		sb_putc(b, left > 1 ? digits[v >> 6 & 63] : '=');
		sb_putc(b, left > 2 ? digits[v & 63] : '=');
	}
	sb_puts(b, ")\n\n");
	return true;
}

static bool put_pictures(const struct report *r, struct strbuf *b, struct incore_error *e)
{
	struct strbuf buckets = {0}, lanes = {0};
	bool ok = report_svg_buckets(r->view, &buckets, e) && report_svg_lanes(r->view, &lanes, e);

	ok = ok && ((put_picture(b, "where the cycles went, by bucket", &buckets) &&
			    put_picture(b, "what each track executed, by class", &lanes)) ||
			   err_nomem(e));
	sb_free(&buckets);
	sb_free(&lanes);
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
	sb_printf(&b, "\n\nEvidence: **%s**.", evidence_name(t->meta.evidence));
	if (t->meta.evidence == EVIDENCE_ESTIMATE)
		sb_puts(&b, " These figures are an estimate of a model, not a measurement.");
	if (t->meta.evidence == EVIDENCE_VENDOR_SIMULATOR)
		sb_puts(&b, " These figures come from a vendor's simulator, not from hardware.");
	if (t->meta.evidence == EVIDENCE_HARDWARE_SAMPLE)
		sb_puts(&b, " These figures are samples: counts, not cycles.");
	sb_puts(&b, "\n\n");
	if (r->left_out.n) {
		sb_puts(&b, "Not in the pictures: ");
		put_prose(&b, r->left_out);
		sb_puts(&b, "\n\n");
	}
	if (report_next_block(&rest, &block)) /* the verdict */
		put_block(&block, &b);
	ok = put_pictures(r, &b, e);
	while (report_next_block(&rest, &block))
		put_block(&block, &b);
	put_source(r->view, &b);
	if (r->difference.n) {
		sb_puts(&b, "## Difference to the second capture\n\n");
		put_fenced(&b, r->difference);
	}
	sb_puts(&b, "## Findings\n\n");
	put_fenced(&b, r->health);
	sb_puts(&b, "## How to reproduce\n\n");
	put_fenced(&b, r->command);
	if (ok && b.failed)
		ok = err_nomem(e);
	if (ok && fwrite(b.p, 1, b.n, out) != b.n)
		ok = err_set(e, INCORE_FAILED, "write-failed", "the report cannot be written");
	sb_free(&b);
	return ok;
}
