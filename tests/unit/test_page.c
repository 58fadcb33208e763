/* SPDX-License-Identifier: Apache-2.0 */
/* Does a page say the same in every medium, at every width, whatever texts of files stand in it? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "page/write.h"

static char *as_text(const struct page *p, unsigned width, bool use_color)
{
	char *text = NULL;
	size_t n = 0;
	struct text_medium m = {open_memstream(&text, &n), width, use_color};
	struct incore_error e = {0};

	assert_true(page_is_whole((struct page *)p, &e));
	page_write_text(p, &m);
	fclose(m.out);
	return text;
}

static void expect_text(const struct page *p, unsigned width, const char *want)
{
	char *got = as_text(p, width, false);

	assert_string_equal(got, want);
	free(got);
}

static void test_paragraphs(void **state)
{
	struct page p;

	(void)state;
	page_init(&p);
	page_fact(&p, "kernel  ", "one two three four five six seven eight nine ten");
	page_command(&p, "ask     ", "incore hot a-path-that-is-long --by line --top all");
	page_prose(&p, "  ", "alpha beta gamma delta epsilon zeta eta theta iota kappa");
	expect_text(&p, 40,
		"kernel  one two three four five six\n"
		"        seven eight nine ten\n"
		"ask     incore hot a-path-that-is-long --by line --top all\n"
		"  alpha beta gamma delta epsilon zeta\n"
		"  eta theta iota kappa\n");
	/* where the width is not known a fact is one line */
	expect_text(&p, 0,
		"kernel  one two three four five six seven eight nine ten\n"
		"ask     incore hot a-path-that-is-long --by line --top all\n"
		"  alpha beta gamma delta epsilon zeta eta theta iota kappa\n");
	page_deinit(&p);
}

/* Two columns of text: the first may be cut, the second is left out before anything wraps. */
static void test_narrow_table(void **state)
{
	struct table_column columns[] = {{"name", NULL, CELL_LEFT, true, 0},
		{"cycles", NULL, CELL_RIGHT, false, 0}, {"note", NULL, CELL_LEFT, false, 1}};
	struct page p;
	struct table *t;

	(void)state;
	page_init(&p);
	t = page_table_of(&p, columns, 3);
	TABLE_ROW(t, CELL_TEXT("a_kernel_of_a_long_name"), CELL_COUNT(1234), CELL_TEXT("seen"));
	expect_text(&p, 0,
		"name                     cycles  note\n"
		"a_kernel_of_a_long_name   1,234  seen\n");
	expect_text(&p, 30,
		"name              cycles  note\n"
		"a_kernel_of_a_l\xe2\x80\xa6   1,234  seen\n");
	expect_text(&p, 22,
		"name            cycles\n"
		"a_kernel_of_a\xe2\x80\xa6   1,234\n"
		"no room for: note (a\n"
		"             pipe and\n"
		"             --csv\n"
		"             have all)\n");
	page_deinit(&p);
}

/* The titles of a producer's table come from its file. */
static void test_hostile_title(void **state)
{
	struct table_column columns[] = {{"a\033[2J\003", NULL, CELL_LEFT, false, 0}};
	struct page p;

	(void)state;
	page_init(&p);
	table_cstr(page_table_of(&p, columns, 1), "x");
	expect_text(&p, 0, "a\\x1b[2J\\x03\nx\n");
	page_deinit(&p);
}

static void test_styles(void **state)
{
	struct page p;
	char *text;

	(void)state;
	page_init(&p);
	page_line(&p, "%sbad%s: %s", style_mark(CELL_BAD), style_mark_end, "\033[2J\003x");
	expect_text(&p, 0, "bad: \\x1b[2J\\x03x\n");
	text = as_text(&p, 0, true);
	assert_string_equal(text, "\033[31mbad\033[0m: \\x1b[2J\\x03x\n");
	free(text);
	page_deinit(&p);
}

static void put_document(struct page *p)
{
	struct table *t;

	page_heading(p, "Facts <of> it");
	page_fact(p, "kernel  ", "k<1> & co");
	page_fact(p, "        ", "further");
	page_gap(p);
	page_item(p, "  * ", "first");
	page_item(p, "    try ", "this");
	page_item(p, "  * ", "second");
	page_line(p, "one line");
	page_line(p, "%sanother%s", style_mark(CELL_HOT), style_mark_end);
	t = page_table(p, "name<|%");
	TABLE_ROW(t, CELL_TEXT("a`b"), CELL_PERCENT(1, 2));
}

static void test_html(void **state)
{
	struct strbuf b = {0};
	struct block_group g;
	struct page p;
	size_t at = 0;

	(void)state;
	page_init(&p);
	put_document(&p);
	while (page_next_group(&p, &at, &g))
		group_write_html(&g, &b);
	assert_string_equal(b.p,
		"<h2>Facts &lt;of&gt; it</h2>\n"
		"<dl>\n<dt>kernel</dt><dd>k&lt;1&gt; &amp; co further</dd>\n</dl>\n"
		"<ul>\n<li>first <br><strong>try</strong> this</li>\n<li>second</li>\n</ul>\n"
		"<p>one line<br>\nanother</p>\n"
		"<div class=\"scroll\"><table><thead><tr><th>name</th><th class=\"n\">%</th></tr></thead>\n"
		"<tbody><tr><td>a`b</td><td class=\"n\">50.0</td></tr>\n</tbody></table></div>\n");
	sb_free(&b);
	page_deinit(&p);
}

static void test_markdown(void **state)
{
	struct strbuf b = {0};
	struct block_group g;
	struct page p;
	size_t at = 0;

	(void)state;
	page_init(&p);
	put_document(&p);
	while (page_next_group(&p, &at, &g))
		group_write_markdown(&g, 0, &b);
	assert_string_equal(b.p, "## Facts &lt;of> it\n\n"
				 "- **kernel** k&lt;1> &amp; co\n  further\n\n"
				 "- first\n  - try this\n- second\n\n"
				 "one line\\\nanother\n\n"
				 "```text\nname     %\na`b   50.0\n```\n\n");
	sb_free(&b);
	page_deinit(&p);
}

static void test_csv(void **state)
{
	struct page p;
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);

	(void)state;
	page_init(&p);
	put_document(&p);
	assert_true(page_write_csv(&p, f));
	fclose(f);
	assert_string_equal(text, "name,%\r\na`b,50.0\r\n");
	free(text);
	page_deinit(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_paragraphs),
		cmocka_unit_test(test_narrow_table),
		cmocka_unit_test(test_hostile_title),
		cmocka_unit_test(test_styles),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_csv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
