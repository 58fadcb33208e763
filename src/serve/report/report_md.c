/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_md.c: the written report as Markdown that a pull request or a comment takes: no picture, no
 * line broken inside a sentence, never more than such a comment holds.
 */
#include <string.h>

#include "answer/summary.h"
#include "base/file.h"
#include "codec/markup.h"
#include "serve/report/report.h"

#define MAX_BYTES 65535u /* GitHub takes 65,536 characters; a character is a byte or more */
#define END_BYTES 1024u	 /* for what was left out */
#define TEXT_MAX 600u	 /* of one fact or title: names of kernels and paths may be endless */
#define BRIEF_ROWS 6u	 /* of a table, with its head */

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

static void put_list(struct strbuf *b, struct str text)
{
	struct str item, line;

	while (report_next_item(&text, &item)) {
		sb_puts(b, "-");
		while (str_cut(&item, "\n", &line)) {
			line = str_trim(line);
			sb_puts(b, str_starts(line, "try ") || str_starts(line, "see ") ? "\n  - "
											: " ");
			markup_prose(b, line);
		}
		sb_putc(b, '\n');
	}
	sb_putc(b, '\n');
}

static void put_prose_lines(struct strbuf *b, struct str text)
{
	struct str line;

	for (bool is_first = true; str_cut(&text, "\n", &line); is_first = false) {
		if (!is_first)
			sb_puts(b, "\\\n"); /* a backslash: a line of its own */
		markup_prose(b, str_trim(line));
	}
	sb_puts(b, "\n\n");
}

static void put_short(struct strbuf *b, struct str text)
{
	markup_prose(b, str_sub(text, 0, TEXT_MAX));
	if (text.n > TEXT_MAX)
		sb_puts(b, "...");
}

/* "kernel   text" as "- **kernel** text" */
static void put_facts(struct strbuf *b, struct str text)
{
	struct str line;

	while (str_cut(&text, "\n", &line)) {
		ptrdiff_t gap = str_find(line, "  ");

		if (gap > 0) {
			sb_puts(b, "- **");
			markup_prose(b, str_sub(line, 0, (size_t)gap));
			sb_puts(b, "** ");
			line = str_sub(line, (size_t)gap, line.n);
		} else {
			sb_puts(b, "  ");
		}
		put_short(b, str_trim(line));
		sb_putc(b, '\n');
	}
	sb_putc(b, '\n');
}

static void put_heading(struct strbuf *b, struct str title)
{
	sb_puts(b, "## ");
	markup_prose(b, title);
	sb_puts(b, "\n\n");
}

static void put_block(const struct report_block *block, struct strbuf *b)
{
	if (block->title.n)
		put_heading(b, block->title);
	if (block->kind == REPORT_LIST)
		put_list(b, block->text);
	else if (block->kind == REPORT_PROSE)
		put_prose_lines(b, block->text);
	else if (block->kind == REPORT_FACTS)
		put_facts(b, block->text);
	else
		put_fenced(b, block->text);
}

/* --- within what a comment holds --- */

struct page {
	const struct report *report;
	struct strbuf text, part, left_out;
};

/* What was put into part becomes text, or is left out and named. */
static void end_part(struct page *p, struct str name)
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

static void put_blocks(struct page *p, struct str text, struct str name)
{
	struct report_block block;

	while (report_next_block(&text, &block)) {
		if (block.title.n)
			name = block.title;
		put_block(&block, &p->part);
		end_part(p, name);
	}
}

static void put_line(const struct report *r, const struct report_line *l, struct strbuf *b)
{
	markup_prose(b, str_of(r->view->trace->sources[l->source].path));
	report_put_cost(r, l, b);
	sb_printf(b, "%s%.*s\n\n", l->why.n ? "; " : "", STR_ARG(l->why));
	if (l->text.n)
		put_fenced(b, l->text);
}

static void put_head(struct page *p)
{
	const struct report *r = p->report;
	struct strbuf title = {0};

	report_title(r, &title);
	sb_puts(&p->text, "# ");
	put_short(&p->text, (struct str){title.p, title.n});
	sb_puts(&p->text, "\n\nEvidence: **");
	report_evidence_words(r, &p->text);
	sb_printf(&p->text, "**. %s\n\n", report_evidence(r));
	p->text.failed |= title.failed;
	sb_free(&title);
}

static void put_capture(struct page *p, unsigned capture)
{
	struct strbuf title = {0};

	report_capture_title(p->report, capture, &title);
	sb_puts(&p->part, "## ");
	put_short(&p->part, (struct str){title.p, title.n});
	sb_puts(&p->part, "\n\n");
	p->part.failed |= title.failed;
	sb_free(&title);
}

static void put_code(struct strbuf *b, struct str text)
{
	markup_code(b, str_sub(text, 0, TEXT_MAX));
}

/* The verdict, the split, what to try. */
static void put_card(struct page *p, unsigned capture)
{
	const struct report_card *c = p->report->card[capture];
	struct strbuf *b = &p->part;

	if (p->report->second)
		put_capture(p, capture);

	for (unsigned i = 0; i < c->n_verdict; i++) {
		sb_puts(b, "- ");
		report_put_verdict_line(c->verdict[i], put_short, put_code, b);
		sb_putc(b, '\n');
	}
	if (c->all_cyc) {
		sb_puts(b, "- Where ");
		report_put_count(b, c->all_cyc);
		sb_puts(b, " cycles went: ");
		report_bucket_words(c, b);
		sb_putc(b, '\n');
	}
	sb_puts(b, c->n_advice ? "\nWhat to try first:\n\n" : "");
	for (size_t i = 0; i < c->n_advice; i++) {
		const struct advice_row *a = &c->advice[i];

		sb_printf(b, "%zu. **", i + 1);
		put_short(b, str_of(a->rule));
		sb_puts(b, "** (");
		put_short(b, str_of(a->cause));
		sb_puts(b, "), ");
		put_short(b, str_of(a->place));
		sb_puts(b, ": ");
		put_short(b, str_of(a->experiment));
		sb_puts(b, " (");
		report_put_exposed(a, b);
		sb_puts(b, ")\n");
	}
	sb_putc(b, '\n');
	end_part(p, STR("verdict"));
}

static void put_cards(struct page *p)
{
	put_card(p, 0);
	if (p->report->second)
		put_card(p, 1);
}

/* The first block of this kind whose title begins so; of a table its first rows. */
static void put_brief_block(struct page *p, struct str text, const char *title)
{
	struct report_block block;

	while (report_next_block(&text, &block)) {
		struct str rest = block.text, line;
		size_t n = 0;

		if (block.kind != REPORT_TABLE || (title && !str_starts(block.title, title)))
			continue;
		if (block.title.n)
			put_heading(&p->part, block.title);
		for (unsigned i = 0; i < BRIEF_ROWS && str_cut(&rest, "\n", &line); i++)
			n = (size_t)(line.p + line.n - block.text.p);
		put_fenced(&p->part, str_sub(block.text, 0, n));
		end_part(p, block.title);
		return;
	}
}

static void put_brief(struct page *p)
{
	const struct report *r = p->report;
	struct report_block headline;
	struct str rest = r->difference, again = r->again, line;

	put_head(p);
	if (report_next_block(&rest, &headline)) {
		put_block(&headline, &p->part);
		put_brief_block(p, rest, NULL);
	}
	put_cards(p);
	if (!r->second)
		put_brief_block(
			p, r->summary, r->view->has_pipes ? "Instructions" : "Top instructions");
	str_cut(&again, "\n", &line);
	put_fenced(&p->part, str_trim(str_sub(line, strlen("this report"), line.n)));
	end_part(p, STR("How to reproduce"));
}

static bool put_whole(struct page *p, struct incore_error *e)
{
	const struct report *r = p->report;
	struct str rest = r->summary;
	struct report_block verdict; /* which the card has */

	put_head(p);
	if (r->difference.n) {
		if (r->is_compared)
			put_heading(&p->part, STR("What changed from A to B"));
		put_blocks(p, r->difference, STR("the difference"));
	}
	put_cards(p);
	if (r->second)
		put_heading(&p->part, STR("All of A"));
	report_next_block(&rest, &verdict);
	put_blocks(p, rest, STR("summary"));
	put_blocks(p, r->code, STR("code"));
	if (!report_put_lines(r, "## ", "\n\n", put_line, &p->part))
		return err_nomem(e);
	end_part(p, STR("source"));
	put_heading(&p->part, STR("All findings, with their evidence"));
	put_fenced(&p->part, r->health);
	end_part(p, STR("findings"));
	put_heading(&p->part, STR("How to reproduce"));
	put_fenced(&p->part, r->again);
	end_part(p, STR("how to reproduce"));
	return true;
}

bool report_markdown(const struct report *r, FILE *out, struct incore_error *e)
{
	struct page p = {.report = r};
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
