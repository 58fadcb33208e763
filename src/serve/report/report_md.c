/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_md.c: the report as Markdown for a pull request or a comment: no pictures, no line breaks
 * inside sentences, never longer than such a comment may be.
 */
#include <string.h>

#include "answer/verdict/summary.h"
#include "base/file.h"
#include "codec/markup.h"
#include "page/write.h"
#include "serve/report/report.h"

#define MAX_BYTES 65535u /* GitHub takes 65,536 characters; a character is a byte or more */
#define END_BYTES 1024u	 /* reserved to list what was left out */
#define BRIEF_ROWS 6u	 /* of a table, including its head */

/* --- within the limit of a comment --- */

struct document {
	const struct report *report;
	struct strbuf text, part, left_out;
};

/* Appends p->part to the text if it fits; otherwise adds its name to those left out. */
static void end_part(struct document *p, struct str name)
{
	if (p->text.n + p->part.n + END_BYTES <= MAX_BYTES) {
		sb_add(&p->text, p->part.p ? p->part.p : "", p->part.n);
	} else if (p->left_out.n < END_BYTES / 2) {
		sb_puts(&p->left_out, p->left_out.n ? ", " : "");
		markup_prose(&p->left_out, str_sub(name, 0, 80));
	}
	p->text.failed |= p->part.failed;
	sb_reset(&p->part);
}

static void report_md_put_groups(
	struct document *p, const struct page *page, size_t at, const char *name)
{
	struct block_group g;

	while (page_next_group(page, &at, &g)) {
		if (g.heading)
			name = g.heading;
		group_write_markdown(&g, 0, &p->part);
		end_part(p, str_of(name));
	}
}

static void report_md_put_line(
	const struct report *r, const struct report_line *l, struct strbuf *b)
{
	markup_prose(b, str_of(r->view->trace->sources[l->source].path));
	report_put_cost(r, l, b);
	sb_printf(b, "%s%.*s\n\n", l->why.n ? "; " : "", STR_ARG(l->why));
	if (l->text.n)
		markdown_fenced(b, l->text);
}

static void report_md_put_head(struct document *p)
{
	const struct report *r = p->report;
	struct strbuf title = {0};

	report_title(r, &title);
	sb_puts(&p->text, "# ");
	markdown_short(&p->text, (struct str){title.p, title.n});
	sb_puts(&p->text, "\n\nEvidence: **");
	report_evidence_words(r, &p->text);
	sb_printf(&p->text, "**. %s\n\n", report_evidence(r));
	p->text.failed |= title.failed;
	sb_free(&title);
}

static void report_md_put_capture(struct document *p, unsigned capture)
{
	struct strbuf title = {0};

	report_capture_title(p->report, capture, &title);
	sb_puts(&p->part, "## ");
	markdown_short(&p->part, (struct str){title.p, title.n});
	sb_puts(&p->part, "\n\n");
	p->part.failed |= title.failed;
	sb_free(&title);
}

static void report_md_put_screen(const struct verdict_screen *s, struct strbuf *b)
{
	sb_puts(b, "**");
	markdown_short(b, str_of(s->kernel));
	sb_puts(b, "** ");
	markdown_short(b, str_of(s->launch ? s->launch : ""));
	sb_puts(b, "\n\n");
	for (unsigned i = 0; i < VERDICT_LINES; i++) {
		struct verdict_line l = verdict_line(s, i);

		if (!l.text)
			continue;
		sb_printf(b, "- **%s** ", l.head);
		markdown_short(b, str_of(l.text));
		sb_putc(b, '\n');
	}
}

static void report_md_put_tries(const struct report_card *c, struct strbuf *b)
{
	sb_puts(b, c->n_advice ? "\nWhat to try first:\n\n" : "");
	for (size_t i = 0; i < c->n_advice; i++) {
		const struct advice_row *a = &c->advice[i];

		sb_printf(b, "%zu. **", i + 1);
		markdown_short(b, str_of(a->rule));
		sb_puts(b, "** (");
		markdown_short(b, str_of(a->cause));
		sb_puts(b, "), ");
		markdown_short(b, str_of(a->place));
		sb_puts(b, ": ");
		markdown_short(b, str_of(a->experiment));
		sb_puts(b, " (");
		report_put_gain(a, b);
		sb_puts(b, ")\n");
	}
}

/* Writes the card: the verdict, the split, what to try. */
static void report_md_put_card(struct document *p, unsigned capture)
{
	const struct report_card *c = p->report->card[capture];
	struct strbuf *b = &p->part;

	if (p->report->second)
		report_md_put_capture(p, capture);

	report_md_put_screen(c->verdict, b);
	if (c->all_cyc) {
		sb_puts(b, "- Where ");
		report_put_count(b, c->all_cyc);
		sb_puts(b, " cycles went: ");
		report_bucket_words(c, b);
		sb_putc(b, '\n');
	}
	/* two screens in 60 lines have room for no more */
	if (!p->report->is_brief || !p->report->second)
		report_md_put_tries(c, b);
	sb_putc(b, '\n');
	end_part(p, STR("verdict"));
}

static void put_cards(struct document *p)
{
	report_md_put_card(p, 0);
	if (p->report->second)
		report_md_put_card(p, 1);
}

/* Writes the first rows of the first table whose heading starts with the given text. */
static void put_brief_table(
	struct document *p, const struct page *page, size_t at, const char *heading)
{
	struct block_group g;

	while (page_next_group(page, &at, &g)) {
		if (!g.n || g.v->kind != BLOCK_TABLE ||
			(heading && !(g.heading && str_starts(str_of(g.heading), heading))))
			continue;
		group_write_markdown(&g, BRIEF_ROWS, &p->part);
		end_part(p, str_of(g.heading ? g.heading : ""));
		return;
	}
}

static void put_brief(struct document *p)
{
	const struct report *r = p->report;
	const struct page_block *again = r->again->blocks.v;
	struct block_group headline;
	size_t at = 0;

	report_md_put_head(p);
	if (r->difference && page_next_group(r->difference, &at, &headline)) {
		group_write_markdown(&headline, 0, &p->part);
		put_brief_table(p, r->difference, at, NULL);
	}
	put_cards(p);
	if (!r->second)
		put_brief_table(
			p, r->summary, 0, r->view->has_pipes ? "Instructions" : "Top instructions");
	if (r->again->blocks.n)
		markdown_fenced(&p->part, str_of(again->text));
	end_part(p, STR("How to reproduce"));
}

static void put_as_text(struct document *p, const char *heading, const struct page *page)
{
	struct strbuf text = {0};

	markdown_heading(&p->part, str_of(heading));
	blocks_as_text(page->blocks.v, page->blocks.n, &text);
	markdown_fenced(&p->part, (struct str){text.p, text.n});
	p->part.failed |= text.failed;
	sb_free(&text);
}

static bool put_whole(struct document *p, struct incore_error *e)
{
	const struct report *r = p->report;

	report_md_put_head(p);
	if (r->difference) {
		if (r->is_compared)
			markdown_heading(&p->part, STR("What changed from A to B"));
		report_md_put_groups(p, r->difference, 0, "the difference");
	}
	put_cards(p);
	if (r->second)
		markdown_heading(&p->part, STR("All of A"));
	report_md_put_groups(p, r->summary, report_after_card(r->summary), "summary");
	report_md_put_groups(p, r->code, 0, "code");
	if (!report_put_lines(r, "## ", "\n\n", report_md_put_line, &p->part))
		return err_nomem(e);
	end_part(p, STR("source"));
	put_as_text(p, "All findings, with their evidence", r->health);
	end_part(p, STR("findings"));
	put_as_text(p, "How to reproduce", r->again);
	end_part(p, STR("how to reproduce"));
	return true;
}

bool report_markdown(const struct report *r, FILE *out, struct incore_error *e)
{
	struct document p = {.report = r};
	bool ok = true;

	if (r->is_brief)
		put_brief(&p);
	else
		ok = put_whole(&p, e);
	if (p.left_out.n)
		sb_printf(&p.text,
			"Left out, for a comment holds 65,536 characters: %s. incore report -o report.html has all.\n",
			p.left_out.p);
	while (p.text.n > 1 && p.text.p[p.text.n - 1] == '\n' && p.text.p[p.text.n - 2] == '\n')
		p.text.n--;
	if (ok && (p.text.failed || p.left_out.failed))
		ok = err_nomem(e);
	if (ok && fwrite(p.text.p, 1, p.text.n, out) != p.text.n)
		ok = err_write(e);
	sb_free(&p.text);
	sb_free(&p.part);
	sb_free(&p.left_out);
	return ok;
}
