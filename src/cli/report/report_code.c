/* SPDX-License-Identifier: Apache-2.0 */
/* report_code.c: the code in a written report. */
#include "cli/report/report_code.h"

#include <stdlib.h>

#include "answer/isa.h"
#include "answer/summary.h"
#include "base/search.h"
#include "cli/ask.h"
#include "cli/draw.h"
#include "page/say.h"

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
	/* What 100 % is: the sum of all lifetimes, which rows need not reach. */
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

/* The costliest rows are those of the summary, of waves or of pipes. */
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

/* Rows within reach of a costly one are shown: 1, the costly ones: 2. */
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

/* Costly rows with what stands around them; pieces apart by a row of dots. */
static bool put_context(struct report_code *p, const struct trace *t, struct cli *c)
{
	uint8_t *marks = mark_rows(p, t);
	uint32_t last = UINT32_MAX;
	struct table table;
	char titles[128];

	if (!marks)
		return err_nomem(&c->error);
	snprintf(titles, sizeof(titles), "<|row|address|%s|%s|%%|instruction<%s",
		t->samples ? "samples" : "hits", p->unit, has_lines(t) ? "|source<" : "");
	table_titles(&table, titles);
	for (uint32_t i = 0; i < t->n_code; i++) {
		if (!marks[i] || t->code[i].is_label)
			continue;
		if (last != UINT32_MAX && i > last + 1)
			for (unsigned k = 0; k < table.n_columns; k++)
				table_cstr(&table, k == 0 || k == 6 ? ".." : "");
		table_cstr(&table, marks[i] & 2 ? ">" : ".");
		put_row(&table, p, t, i);
		last = i;
	}
	mem_free(marks);
	if (last != UINT32_MAX)
		say(c->out, "\n\nCode around the costliest instructions (marked >)\n");
	else
		table_deinit(&table);
	return last == UINT32_MAX || table_finish(&table, c);
}

struct reason_sum {
	const char *name;
	uint32_t place;
	uint64_t all;
};
ORDER(by_samples, struct reason_sum, DOWN(all) UP(place))

static bool put_reasons(const struct trace *t, struct cli *c)
{
	struct reason_sum *sums = mem_zalloc((size_t)t->n_reasons + 1, sizeof(*sums));
	uint64_t all = 0, issued = 0;
	struct table table;

	if (!sums)
		return err_nomem(&c->error);
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
	table_titles(&table, "reason<|stalled samples|%");
	for (uint32_t k = 0; k < t->n_reasons; k++)
		if (sums[k].all)
			TABLE_ROW(&table, CELL_TEXT(sums[k].name), CELL_COUNT(sums[k].all),
				CELL_PERCENT(sums[k].all, all));
	say(c->out, "\n\nStall reasons of all samples\n%s issued, %s stalled\n",
		COUNTED(issued, "sample"), U64_TEXT(all));
	mem_free(sums);
	return table_finish(&table, c);
}

/* --- addresses and source lines --- */

struct range { /* rows that follow each other and have one source line */
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

static bool print_ranges(struct report_code *p, const struct trace *t, struct cli *c,
	const struct range *v, uint32_t n)
{
	struct strbuf b = {0};
	struct table table;
	char titles[96];

	snprintf(titles, sizeof(titles), "from|to|rows|%s|%%|source<", p->unit);
	table_titles(&table, titles);
	for (uint32_t i = 0; i < n; i++) {
		const char *source = source_of(t, v[i].first, &b);

		TABLE_ROW(&table, CELL_ADDRESS(t->code[v[i].first].address),
			CELL_ADDRESS(t->code[v[i].end - 1].address),
			CELL_COUNT(v[i].end - v[i].first), CELL_COUNT(v[i].cost),
			CELL_PERCENT(v[i].cost, p->all_cost),
			CELL_TEXT(*source ? source : "(unmapped)"));
	}
	table.is_failed |= b.failed;
	sb_free(&b);
	return table_finish(&table, c);
}

static bool put_ranges(struct report_code *p, const struct trace *t, struct cli *c)
{
	struct range *v = mem_zalloc((size_t)t->n_code + 1, sizeof(*v));
	uint64_t shown = 0;
	uint32_t n, all;
	bool ok;

	if (!v)
		return err_nomem(&c->error);
	all = find_ranges(p, t, v);
	qsort(v, all, sizeof(*v), by_cost);
	for (n = 0; n < all && n < MAX_RANGES && v[n].cost; n++)
		shown += v[n].cost;
	qsort(v, n, sizeof(*v), by_first);
	say(c->out,
		"\n\nAddresses and their source lines\nthe %u costliest of %u ranges, in the order of the code: %.1f %% of all %s\n",
		n, all, p->all_cost ? 100.0 * (double)shown / (double)p->all_cost : 0, p->unit);
	ok = print_ranges(p, t, c, v, n);
	mem_free(v);
	return ok;
}

static bool put_text(struct report_code *p, const struct trace *t, struct cli *c)
{
	if (t->samples && !put_reasons(t, c))
		return false;
	if (!put_context(p, t, c))
		return false;
	if (!has_lines(t) || !p->all_cost)
		return true;
	return put_ranges(p, t, c);
}

bool report_code_make(struct report_code *p, const struct trace *t, const struct answer *isa,
	const struct answer *summary, struct incore_error *e)
{
	struct text_page page;

	p->costs = mem_zalloc((size_t)t->n_code + 1, sizeof(*p->costs));
	if (!p->costs)
		return err_nomem(e);
	take_costs(p, t, isa->data);
	take_top(p, summary);
	if (!text_page_open(&page, e))
		return false;
	return text_page_close(&page, put_text(p, t, &page.cli), &p->text, e);
}

void report_code_deinit(struct report_code *p)
{
	mem_free(p->costs);
	sb_free(&p->text);
}
