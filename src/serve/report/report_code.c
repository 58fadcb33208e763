/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_code.c: the code of a report and its source. Parts: lines of source; code.
 */
#include "serve/report/report_code.h"

#include <stdlib.h>

#include "answer/isa.h"
#include "answer/verdict/summary.h"
#include "base/mem.h"
#include "base/search.h"
#include "serve/report/report.h"

/* --- lines of source -------------------------------------------------------------------------- */

/*
 * The source lines that cost most, and the lines around them.
 */

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
static bool report_source_collect(const struct report *r, struct report_line **out, size_t *n)
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
	if (!report_source_collect(r, &v, &m))
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

static void report_source_put_lines(const struct report_line *v, size_t n,
	const struct source_file *s, const struct report_line *at, struct strbuf *out)
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
	if (!report_source_collect(r, &v, &n))
		return false;
	report_source_put_lines(v, n, s, l, out);
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

/* --- code ------------------------------------------------------------------------------------- */

/*
 * The code in a written report.
 */

#define CONTEXT_ROWS 3u
#define MAX_RANGES 16u

/* --- figures of the answers --- */

static uint64_t sum_buckets(const struct bucket_sums *b)
{
	return b->issue + b->stall + b->wait + b->drain + b->idle;
}

static void take_costs(struct report_code *p, const struct trace *t, const struct isa_answer *isa)
{
	bool is_sampled = t->samples && !t->n_tracks;
	const struct isa_row *v = isa->rows.v;

	p->unit = is_sampled ? "stalled samples" : "cycles";
	for (size_t i = 0; i < isa->rows.n; i++) {
		const struct isa_row *r = &v[i];

		p->costs[r->index] = (struct report_cost){
			r->h.totals.hit, is_sampled ? r->stalled : sum_buckets(&r->h.buckets)};
	}
	/* 100 % is the sum of all lifetimes; rows may add up to less. */
	if (isa->accounting && !is_sampled)
		p->all_cost = isa->accounting->duration;
	for (uint32_t i = 0; is_sampled && i < t->n_code; i++)
		p->all_cost += t->samples[i].stalled;
}

static void add_top(struct report_code *p, int64_t row)
{
	if (row >= 0 && p->n_top < REPORT_TOP_ROWS)
		p->top[p->n_top++] = row;
}

/* Takes the costliest rows from the summary, of waves or of pipes. */
static void take_top(struct report_code *p, const struct answer *summary)
{
	if (answer_is(summary, &summary_pipes_record)) {
		const struct summary_pipes *s = summary->data;
		const struct hot_row *v = s->rows.v;

		for (size_t i = 0; i < s->rows.n; i++)
			add_top(p, v[i].row);
	} else {
		const struct summary_answer *s = summary->data;
		const struct summary_line *v = s->rows.v;

		for (size_t i = 0; i < s->rows.n; i++)
			if (v[i].at)
				add_top(p, v[i].at->row);
	}
}

/* --- text --- */

static const char *report_code_source_of(const struct trace *t, uint32_t i, struct strbuf *b)
{
	sb_reset(b);
	if (t->code[i].n_frames)
		trace_put_frame(t, &t->frames[t->code[i].first_frame], b);
	return b->n ? b->p : "";
}

static bool has_lines(const struct trace *t)
{
	for (uint32_t i = 0; i < t->n_code; i++)
		if (t->code[i].n_frames)
			return true;
	return false;
}

/* Marks rows near a costly one with 1, and the costly ones also with 2. */
static uint8_t *report_code_mark_rows(const struct report_code *p, const struct trace *t)
{
	uint8_t *marks = mem_zalloc((size_t)t->n_code + 1, 1);

	for (uint32_t i = 0; marks && i < t->n_code; i++) {
		uint32_t first = i > CONTEXT_ROWS ? i - CONTEXT_ROWS : 0;
		bool is_top = false;

		for (unsigned k = 0; k < p->n_top; k++)
			is_top |= t->code[i].number == p->top[k] && !t->code[i].is_label;
		if (!is_top)
			continue;
		for (uint32_t j = first; j <= i + CONTEXT_ROWS && j < t->n_code; j++)
			marks[j] |= 1;
		marks[i] |= 2;
	}
	return marks;
}

static void report_code_put_row(
	struct table *table, const struct report_code *p, const struct trace *t, uint32_t i)
{
	const struct code_row *r = &t->code[i];
	uint64_t cost = p->costs[i].cost;
	uint64_t hits =
		t->samples ? t->samples[i].issued + t->samples[i].stalled : p->costs[i].hits;
	struct strbuf b = {0};

	TABLE_ROW(table, CELL_NAME(r->number), CELL_ADDRESS(r->address), CELL_COUNT(hits),
		CELL_COUNT(cost), CELL_PERCENT(cost, p->all_cost));
	table_str(table, (struct str){r->text, r->text_len});
	if (table->n_columns == 8)
		table_cstr(table, report_code_source_of(t, i, &b));
	table->is_failed |= b.failed;
	sb_free(&b);
}

/* Writes the costly rows and the rows around them; a row of dots separates the pieces. */
static void put_context(struct report_code *x, const struct trace *t, struct page *p)
{
	uint8_t *marks = report_code_mark_rows(x, t);
	uint32_t last = UINT32_MAX;
	struct table *table = NULL;
	char titles[128];

	p->is_failed |= !marks;
	snprintf(titles, sizeof(titles), "<|row|address|%s|%s|%%|instruction<%s",
		t->samples ? "samples" : "hits", x->unit, has_lines(t) ? "|source<" : "");
	for (uint32_t i = 0; marks && i < t->n_code; i++) {
		if (!marks[i] || t->code[i].is_label)
			continue;
		if (!table) {
			page_heading(p, "Code around the costliest instructions (marked >)");
			table = page_table(p, titles);
		}
		if (last != UINT32_MAX && i > last + 1)
			for (unsigned k = 0; k < table->n_columns; k++)
				table_cstr(table, k == 0 || k == 6 ? ".." : "");
		table_cstr(table, marks[i] & 2 ? ">" : ".");
		report_code_put_row(table, x, t, i);
		last = i;
	}
	mem_free(marks);
}

struct reason_sum {
	const char *name;
	uint32_t place;
	uint64_t all;
};
ORDER(by_samples, struct reason_sum, DOWN(all) UP(place))

static void put_reasons(const struct trace *t, struct page *p)
{
	struct reason_sum *sums = mem_zalloc((size_t)t->n_reasons + 1, sizeof(*sums));
	uint64_t all = 0, issued = 0;
	struct table *table;

	if (!sums) {
		p->is_failed = true;
		return;
	}
	for (uint32_t k = 0; k < t->n_reasons; k++)
		sums[k] = (struct reason_sum){t->reasons[k], k, 0};
	for (uint32_t i = 0; i < t->n_code; i++) {
		issued += t->samples[i].issued;
		for (uint32_t k = 0; k < t->n_reasons; k++) {
			sums[k].all += trace_reasons_of(t, i)[k].all;
			all += trace_reasons_of(t, i)[k].all;
		}
	}
	SORT(sums, t->n_reasons, by_samples);
	page_heading(p, "Stall reasons of all samples");
	page_line(p, "%s issued, %s stalled", COUNTED(issued, "sample"), U64_TEXT(all));
	table = page_table(p, "reason<|stalled samples|%");
	for (uint32_t k = 0; k < t->n_reasons; k++)
		if (sums[k].all)
			TABLE_ROW(table, CELL_TEXT(sums[k].name), CELL_COUNT(sums[k].all),
				CELL_PERCENT(sums[k].all, all));
	mem_free(sums);
}

/* --- addresses and source lines --- */

struct report_code_range { /* consecutive rows with the same source line */
	uint32_t first, end;
	uint64_t cost;
};

static int report_code_by_cost(const void *a, const void *b)
{
	const struct report_code_range *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int by_first(const void *a, const void *b)
{
	const struct report_code_range *x = a, *y = b;

	return x->first < y->first ? -1 : x->first > y->first;
}

static bool is_same_line(const struct trace *t, uint32_t i, uint32_t j)
{
	const struct code_row *a = &t->code[i], *b = &t->code[j];

	if (!a->n_frames || !b->n_frames)
		return a->n_frames == b->n_frames;
	return t->frames[a->first_frame].source == t->frames[b->first_frame].source &&
	       t->frames[a->first_frame].line == t->frames[b->first_frame].line;
}

static uint32_t find_ranges(
	const struct report_code *p, const struct trace *t, struct report_code_range *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_code; i++) {
		if (t->code[i].is_label)
			continue;
		if (n && v[n - 1].end == i && is_same_line(t, v[n - 1].first, i)) {
			v[n - 1].end = i + 1;
			v[n - 1].cost += p->costs[i].cost;
		} else {
			v[n++] = (struct report_code_range){i, i + 1, p->costs[i].cost};
		}
	}
	return n;
}

static void put_range_table(struct report_code *x, const struct trace *t, struct page *p,
	const struct report_code_range *v, uint32_t n)
{
	struct strbuf b = {0};
	struct table *table;
	char titles[96];

	snprintf(titles, sizeof(titles), "from|to|rows|%s|%%|source<", x->unit);
	table = page_table(p, titles);
	for (uint32_t i = 0; i < n; i++) {
		const char *source = report_code_source_of(t, v[i].first, &b);

		TABLE_ROW(table, CELL_ADDRESS(t->code[v[i].first].address),
			CELL_ADDRESS(t->code[v[i].end - 1].address),
			CELL_COUNT(v[i].end - v[i].first), CELL_COUNT(v[i].cost),
			CELL_PERCENT(v[i].cost, x->all_cost),
			CELL_TEXT(*source ? source : "(unmapped)"));
	}
	p->is_failed |= b.failed;
	sb_free(&b);
}

static void report_code_put_ranges(struct report_code *x, const struct trace *t, struct page *p)
{
	struct report_code_range *v = mem_zalloc((size_t)t->n_code + 1, sizeof(*v));
	uint64_t shown = 0;
	uint32_t n, all;

	if (!v) {
		p->is_failed = true;
		return;
	}
	all = find_ranges(x, t, v);
	qsort(v, all, sizeof(*v), report_code_by_cost);
	for (n = 0; n < all && n < MAX_RANGES && v[n].cost; n++)
		shown += v[n].cost;
	qsort(v, n, sizeof(*v), by_first);
	page_heading(p, "Addresses and their source lines");
	page_line(p, "the %u costliest of %u ranges, in the order of the code: %.1f %% of all %s",
		n, all, x->all_cost ? 100.0 * (double)shown / (double)x->all_cost : 0, x->unit);
	put_range_table(x, t, p, v, n);
	mem_free(v);
}

bool report_code_make(struct report_code *x, const struct trace *t, const struct answer *isa,
	const struct answer *summary, struct page *p, struct incore_error *e)
{
	x->costs = mem_zalloc((size_t)t->n_code + 1, sizeof(*x->costs));
	if (!x->costs)
		return err_nomem(e);
	take_costs(x, t, isa->data);
	take_top(x, summary);
	if (t->samples)
		put_reasons(t, p);
	put_context(x, t, p);
	if (has_lines(t) && x->all_cost)
		report_code_put_ranges(x, t, p);
	return page_is_whole(p, e);
}

void report_code_deinit(struct report_code *x)
{
	mem_free(x->costs);
}
