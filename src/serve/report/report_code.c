/* SPDX-License-Identifier: Apache-2.0 */
/* report_code.c: the code in a written report. */
#include "serve/report/report_code.h"

#include <stdlib.h>

#include "answer/isa.h"
#include "answer/summary.h"
#include "base/search.h"

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

static const char *source_of(const struct trace *t, uint32_t i, struct strbuf *b)
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
static uint8_t *mark_rows(const struct report_code *p, const struct trace *t)
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

static void put_row(
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
		table_cstr(table, source_of(t, i, &b));
	table->is_failed |= b.failed;
	sb_free(&b);
}

/* Writes the costly rows and the rows around them; a row of dots separates the pieces. */
static void put_context(struct report_code *x, const struct trace *t, struct page *p)
{
	uint8_t *marks = mark_rows(x, t);
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
		put_row(table, x, t, i);
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

struct range { /* consecutive rows with the same source line */
	uint32_t first, end;
	uint64_t cost;
};

static int by_cost(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return x->first < y->first ? -1 : x->first > y->first;
}

static int by_first(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

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

static uint32_t find_ranges(const struct report_code *p, const struct trace *t, struct range *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_code; i++) {
		if (t->code[i].is_label)
			continue;
		if (n && v[n - 1].end == i && is_same_line(t, v[n - 1].first, i)) {
			v[n - 1].end = i + 1;
			v[n - 1].cost += p->costs[i].cost;
		} else {
			v[n++] = (struct range){i, i + 1, p->costs[i].cost};
		}
	}
	return n;
}

static void put_range_table(struct report_code *x, const struct trace *t, struct page *p,
	const struct range *v, uint32_t n)
{
	struct strbuf b = {0};
	struct table *table;
	char titles[96];

	snprintf(titles, sizeof(titles), "from|to|rows|%s|%%|source<", x->unit);
	table = page_table(p, titles);
	for (uint32_t i = 0; i < n; i++) {
		const char *source = source_of(t, v[i].first, &b);

		TABLE_ROW(table, CELL_ADDRESS(t->code[v[i].first].address),
			CELL_ADDRESS(t->code[v[i].end - 1].address),
			CELL_COUNT(v[i].end - v[i].first), CELL_COUNT(v[i].cost),
			CELL_PERCENT(v[i].cost, x->all_cost),
			CELL_TEXT(*source ? source : "(unmapped)"));
	}
	p->is_failed |= b.failed;
	sb_free(&b);
}

static void put_ranges(struct report_code *x, const struct trace *t, struct page *p)
{
	struct range *v = mem_zalloc((size_t)t->n_code + 1, sizeof(*v));
	uint64_t shown = 0;
	uint32_t n, all;

	if (!v) {
		p->is_failed = true;
		return;
	}
	all = find_ranges(x, t, v);
	qsort(v, all, sizeof(*v), by_cost);
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
		put_ranges(x, t, p);
	return page_is_whole(p, e);
}

void report_code_deinit(struct report_code *x)
{
	mem_free(x->costs);
}
