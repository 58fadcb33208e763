/* SPDX-License-Identifier: Apache-2.0 */
/* report_source.c: the source lines that cost most, and the lines around them. */
#include <stdlib.h>

#include "base/mem.h"
#include "base/search.h"
#include "serve/report/report.h"

#define CONTEXT_LINES 3u

ORDER(by_place, struct report_line, UP(source) UP(line))

ORDER(by_cost, struct report_line, DOWN(cost) THEN(by_place))

/* Merges rows of the same line and adds up their costs. */
static size_t merge_lines(struct report_line *v, size_t n)
{
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		if (m && by_place(&v[m - 1], &v[i]) == 0)
			v[m - 1].cost += v[i].cost;
		else
			v[m++] = v[i];
	}
	return m;
}

/* Collects all lines with a cost, in order of position; the caller frees them. */
static bool collect(const struct report *r, struct report_line **out, size_t *n)
{
	const struct trace *t = r->view->trace;
	struct report_line *v = mem_zalloc((size_t)t->n_code + 1, sizeof(*v));

	*n = 0;
	*out = v;
	if (!v)
		return false;
	for (uint32_t i = 0; r->costs && i < t->n_code; i++) {
		const struct code_row *c = &t->code[i];
		const struct frame *f = c->n_frames ? &t->frames[c->first_frame] : NULL;

		if (f && f->source < t->n_sources && r->costs[i].cost)
			v[(*n)++] = (struct report_line){
				.source = f->source, .line = f->line, .cost = r->costs[i].cost};
	}
	SORT(v, *n, by_place);
	*n = merge_lines(v, *n);
	return true;
}

/* Is the line already shown with its cost, among the neighbours of another line? */
static bool is_in_sight(const struct report_line *shown, unsigned n, const struct report_line *l)
{
	for (unsigned i = 0; i < n; i++)
		if (shown[i].source == l->source && l->line <= shown[i].line + CONTEXT_LINES &&
			l->line + CONTEXT_LINES >= shown[i].line)
			return true;
	return false;
}

/* Finds the costliest lines, the costliest first, and their number. */
static bool top_lines(const struct report *r, struct report_line out[REPORT_LINES], unsigned *n)
{
	struct report_line *v;
	size_t m;

	*n = 0;
	if (!collect(r, &v, &m))
		return false;
	SORT(v, m, by_cost);
	for (size_t i = 0; *n < REPORT_LINES && i < m; i++)
		if (!is_in_sight(out, *n, &v[i]))
			out[(*n)++] = v[i];
	mem_free(v);
	return true;
}

static uint64_t cost_at(const struct report_line *v, size_t n, source_idx source, uint32_t line)
{
	struct report_line key = {.source = source, .line = line};
	const struct report_line *found = bsearch(&key, v, n, sizeof(*v), by_place);

	return found ? found->cost : 0;
}

static void put_lines(const struct report_line *v, size_t n, const struct source_file *s,
	const struct report_line *at, struct strbuf *out)
{
	uint32_t first = at->line > CONTEXT_LINES ? at->line - CONTEXT_LINES : 1;
	struct str rest = {s->text, s->text_len}, part;

	for (uint32_t i = 1; i <= at->line + CONTEXT_LINES && str_cut(&rest, "\n", &part); i++) {
		struct strbuf cost = {0};

		if (i < first || (i > at->line && rest.p == NULL && part.n == 0))
			continue;
		if (cost_at(v, n, at->source, i))
			report_put_count(&cost, cost_at(v, n, at->source, i));
		sb_printf(out, "%c%6u %12s  ", i == at->line ? '>' : ' ', i, cost.n ? cost.p : "");
		sb_str(out,
			part.n && part.p[part.n - 1] == '\r' ? str_sub(part, 0, part.n - 1) : part);
		sb_putc(out, '\n');
		out->failed |= cost.failed;
		sb_free(&cost);
	}
}

/* Writes the lines around it to *out, or the reason why there is no text to *why. */
static bool line_context(
	const struct report *r, const struct report_line *l, struct strbuf *out, struct strbuf *why)
{
	const struct source_file *s = &r->view->trace->sources[l->source];
	struct report_line *v;
	size_t n;

	if (r->no_source)
		return sb_puts(why, "its text is left out as asked");
	if (!s->text)
		return sb_puts(why, "the capture has no copy of the file");
	if (l->line == 0 || l->line > s->n_lines)
		return sb_printf(why,
			"the copy of the file has %u lines: it is not the one that was compiled",
			s->n_lines);
	if (!collect(r, &v, &n))
		return false;
	put_lines(v, n, s, l, out);
	mem_free(v);
	return !out->failed;
}

void report_put_cost(const struct report *r, const struct report_line *l, struct strbuf *b)
{
	sb_printf(b, ":%u: ", l->line);
	report_put_count(b, l->cost);
	sb_printf(b, " %s, %.1f %%", r->unit,
		100.0 * (double)l->cost / (double)(r->all_cost ? r->all_cost : 1));
}

bool report_put_lines(const struct report *r, const char *before, const char *after,
	void (*put)(const struct report *r, const struct report_line *l, struct strbuf *b),
	struct strbuf *b)
{
	struct report_line lines[REPORT_LINES];
	unsigned n;

	if (!top_lines(r, lines, &n))
		return false;
	if (n)
		sb_printf(b, "%sSource around the costliest lines (%s of each line)%s", before,
			r->unit, after);
	for (unsigned i = 0; i < n; i++) {
		struct strbuf text = {0}, why = {0};
		bool ok = line_context(r, &lines[i], &text, &why);

		lines[i].text = (struct str){text.p ? text.p : "", text.n};
		lines[i].why = (struct str){why.p ? why.p : "", why.n};
		put(r, &lines[i], b);
		b->failed |= !ok || text.failed || why.failed;
		sb_free(&text);
		sb_free(&why);
	}
	return !b->failed;
}
