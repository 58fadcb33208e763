/* SPDX-License-Identifier: Apache-2.0 */
/* box.c: counts the pieces of a window, sorts them by start, and sweeps them for unions. */
#include "serve/view/box.h"
#include "base/search.h"
#include "base/vec.h"

#include <string.h>

#include "base/mem.h"

#define ONE_PASS_BITS 13u /* digits whose counts fit the innermost cache */
#define MAX_DIGIT_BITS 15u

bool box_init(struct box *b, uint64_t t0, uint64_t t1, uint32_t n_keys, uint32_t n_families)
{
	*b = (struct box){.t0 = t0,
		.t1 = t1,
		.n_keys = n_keys,
		.n_families = n_families,
		.max_pieces = BOX_WINDOW_PIECES};
	b->stats = mem_zalloc((size_t)n_keys + 1, sizeof(*b->stats));
	b->families =
		n_families ? mem_zalloc((size_t)n_keys + 1, n_families * sizeof(uint64_t)) : NULL;
	b->pieces = mem_alloc(BOX_WINDOW_PIECES * sizeof(*b->pieces));
	b->spans = mem_alloc(BOX_WINDOW_PIECES * sizeof(*b->spans));
	b->sorted = mem_alloc(BOX_WINDOW_PIECES * sizeof(*b->sorted));
	b->digits = mem_alloc((sizeof(*b->digits) << MAX_DIGIT_BITS));
	for (uint32_t i = 0; b->stats && i < n_keys; i++)
		b->stats[i].key = i;
	if (b->stats && (b->families || !n_families) && b->pieces && b->spans && b->sorted &&
		b->digits && lengths_init(&b->lengths, n_keys) && lengths_init(&b->all_lengths, 1))
		return true;
	box_deinit(b);
	return false;
}

void box_deinit(struct box *b)
{
	mem_free(b->stats);
	mem_free(b->families);
	mem_free(b->pieces);
	mem_free(b->spans);
	mem_free(b->sorted);
	mem_free(b->digits);
	lengths_deinit(&b->lengths);
	lengths_deinit(&b->all_lengths);
	*b = (struct box){0};
}

void box_window(struct box *b, uint64_t from, uint64_t to)
{
	b->from = from;
	b->to = to;
	b->n_pieces = 0;
}

/* Adds the statistics of a piece that do not depend on order. */
static void count(struct box *b, const struct box_piece *p)
{
	struct box_stat *s = &b->stats[p->key];

	s->min = s->count == 0 || p->length < s->min ? p->length : s->min;
	s->max = p->length > s->max ? p->length : s->max;
	s->count++;
	s->sum += p->inside;
	s->length_sum += p->length;
	if (p->lost) {
		*(p->is_wait ? &s->wait : &s->stall) += p->lost;
		if (b->families)
			b->families[(size_t)p->key * b->n_families + p->family % b->n_families] +=
				p->lost;
	}
	lengths_add(&b->lengths, p->key, p->length);
	lengths_add(&b->all_lengths, 0, p->length);
}

/* One pass of a stable sort by a digit of the start. */
static void sort_digit(struct box *b, const struct box_span *from, struct box_span *to,
	unsigned shift, unsigned bits)
{
	uint32_t sum = 0, mask = (1u << bits) - 1, *at = b->digits;

	memset(at, 0, ((size_t)mask + 1) * sizeof(*at));
	for (uint32_t i = 0; i < b->n_pieces; i++)
		at[from[i].start >> shift & mask]++;
	for (uint32_t k = 0; k <= mask; k++) {
		uint32_t here = at[k];

		at[k] = sum;
		sum += here;
	}
	for (uint32_t i = 0; i < b->n_pieces; i++)
		to[at[from[i].start >> shift & mask]++] = from[i];
}

/* Sorts spans by start; returns the array that holds the result. */
static const struct box_span *sort_spans(struct box *b)
{
	unsigned bits = 1, half;

	while (bits < 2 * MAX_DIGIT_BITS && (b->to - b->from - 1) >> bits)
		bits++;
	if (bits <= ONE_PASS_BITS) {
		sort_digit(b, b->spans, b->sorted, 0, bits);
		return b->sorted;
	}
	half = (bits + 1) / 2;
	sort_digit(b, b->spans, b->sorted, 0, half);
	sort_digit(b, b->sorted, b->spans, half, half);
	return b->spans;
}

static inline uint64_t uncovered(uint64_t *cover, uint64_t start, uint64_t end)
{
	uint64_t from = start > *cover ? start : *cover;

	if (end <= from)
		return 0;
	*cover = end;
	return end - from;
}

void box_flush(struct box *b)
{
	const struct box_span *v;
	uint64_t all = 0, cover = b->total.cover;

	for (uint32_t i = 0; i < b->n_pieces; i++) {
		const struct box_piece *p = &b->pieces[i];

		count(b, p);
		b->spans[i] = (struct box_span){p->start, p->inside, p->key};
	}
	v = b->n_pieces ? sort_spans(b) : NULL;
	for (uint32_t i = 0; i < b->n_pieces; i++) {
		struct box_stat *s = &b->stats[v[i].key];
		uint64_t start = b->from + v[i].start, end = start + v[i].inside;

		s->union_cyc += uncovered(&s->cover, start, end);
		all += uncovered(&cover, start, end);
	}
	b->total.union_cyc += all;
	b->total.cover = cover;
	b->n_pieces = 0;
}

void box_flush_lengths(struct box *b)
{
	for (uint32_t i = 0; i < b->n_pieces; i++)
		lengths_add(&b->lengths, b->pieces[i].key, b->pieces[i].length);
	b->n_pieces = 0;
}

static void set_quantiles(void *ctx, uint32_t key, struct quantiles q)
{
	struct box_stat *s = (struct box_stat *)ctx + key;

	s->median = q.median;
	s->p95 = q.p95;
}

bool box_take_quantiles(struct box *b)
{
	return lengths_quantiles(&b->lengths, set_quantiles, b->stats);
}

ORDER(by_sum, struct box_stat, DOWN(sum) UP(key))

/* Adds up all keys, except the union, which box_flush() computes. */
static void add_up(struct box *b)
{
	struct box_stat *t = &b->total;

	EACH (const struct box_stat, s, b->stats, b->n_keys) {
		if (!s->count)
			continue;
		t->min = t->count == 0 || s->min < t->min ? s->min : t->min;
		t->max = s->max > t->max ? s->max : t->max;
		t->count += s->count;
		t->sum += s->sum;
		t->length_sum += s->length_sum;
		t->stall += s->stall;
		t->wait += s->wait;
	}
}

bool box_finish(struct box *b)
{
	if (b->lengths.has_failed || b->all_lengths.has_failed)
		return false;
	add_up(b);
	b->has_quantiles = !b->lengths.has_spilled && !b->all_lengths.has_spilled;
	if (b->has_quantiles && (!box_take_quantiles(b) || !lengths_quantiles(&b->all_lengths,
								   set_quantiles, &b->total)))
		return false;
	for (uint32_t k = 0; k < b->n_keys; k++)
		if (b->stats[k].count)
			b->stats[b->n_stats++] = b->stats[k];
	SORT(b->stats, b->n_stats, by_sum);
	return true;
}
