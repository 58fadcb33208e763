/* SPDX-License-Identifier: Apache-2.0 */
/* box.c: sums as pieces come; unions and quantiles from the pieces sorted by key and start. */
#include "serve/box.h"

#include <string.h>

#include "base/mem.h"

#define MAX_DIGITS (1u << 16)

bool box_init(struct box *b, uint64_t t0, uint64_t t1, uint32_t n_keys)
{
	*b = (struct box){.t0 = t0, .t1 = t1, .n_keys = n_keys};
	b->stats = mem_zalloc((size_t)n_keys + 1, sizeof(*b->stats));
	b->is_summary = t1 - t0 > UINT32_MAX;
	for (uint32_t i = 0; b->stats && i < n_keys; i++)
		b->stats[i].key = i;
	return b->stats != NULL;
}

void box_deinit(struct box *b)
{
	mem_free(b->stats);
	VEC_FREE(&b->pieces);
	*b = (struct box){0};
}

static void count(struct box_stat *s, uint64_t inside, uint32_t length)
{
	s->min = s->count == 0 || length < s->min ? length : s->min;
	s->max = length > s->max ? length : s->max;
	s->count++;
	s->sum += inside;
	s->length_sum += length;
}

void box_add(struct box *b, uint32_t key, uint64_t start, uint64_t end, uint32_t length)
{
	struct box_piece p = {.key = key, .length = length};

	start = start < b->t0 ? b->t0 : start;
	end = end > b->t1 ? b->t1 : end;
	end = end < start ? start : end;
	count(&b->stats[key], end - start, length);
	if (b->is_summary)
		return;
	p.start = (uint32_t)(start - b->t0);
	p.end = (uint32_t)(end - b->t0);
	if (b->pieces.n == BOX_MAX_PIECES) {
		b->is_summary = true;
		VEC_FREE(&b->pieces);
	} else if (!VEC_PUSH(&b->pieces, p)) {
		b->has_failed = true;
	}
}

void box_add_lost(struct box *b, uint32_t key, uint64_t stall, uint64_t wait)
{
	b->stats[key].stall += stall;
	b->stats[key].wait += wait;
}

struct digit {
	unsigned shift, bits;
	uint32_t *at; /* MAX_DIGITS */
};

/* One pass of a stable sort by a digit of the start. */
static void sort_digit(
	const struct box_piece *from, struct box_piece *to, size_t n, const struct digit *d)
{
	uint32_t sum = 0, mask = (1u << d->bits) - 1;

	memset(d->at, 0, ((size_t)mask + 1) * sizeof(*d->at));
	for (size_t i = 0; i < n; i++)
		d->at[from[i].start >> d->shift & mask]++;
	for (uint32_t k = 0; k <= mask; k++) {
		uint32_t here = d->at[k];

		d->at[k] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[d->at[from[i].start >> d->shift & mask]++] = from[i];
}

/* Stable by key; first[k] is where key k begins. */
static void sort_key(const struct box_piece *from, struct box_piece *to, size_t n, uint32_t *first,
	uint32_t n_keys)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		first[from[i].key]++;
	for (uint32_t k = 0; k < n_keys; k++) {
		uint32_t here = first[k];

		first[k] = sum;
		sum += here;
	}
	for (size_t i = 0; i < n; i++)
		to[first[from[i].key]++] = from[i];
}

static uint64_t union_of(const struct box_piece *p, size_t n)
{
	uint64_t sum = 0, cover = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t start = p[i].start > cover ? p[i].start : cover;

		if (p[i].end > start) {
			sum += p[i].end - start;
			cover = p[i].end;
		}
	}
	return sum;
}

/* The k-th smallest (from 0); leaves v partly sorted. */
static uint32_t select_nth(uint32_t *v, size_t n, size_t k)
{
	size_t lo = 0, hi = n;

	while (hi - lo > 1) {
		uint32_t pivot = v[lo + (hi - lo) / 2];
		size_t below = lo, i = lo, above = hi;

		while (i < above) { /* three ways: many lengths are equal */
			uint32_t x = v[i];

			if (x < pivot) {
				v[i++] = v[below];
				v[below++] = x;
			} else if (x > pivot) {
				v[i] = v[--above];
				v[above] = x;
			} else {
				i++;
			}
		}
		if (k < below)
			hi = below;
		else if (k >= above)
			lo = above;
		else
			return pivot;
	}
	return v[lo];
}

static void quantiles(struct box_stat *s, const struct box_piece *p, size_t n, uint32_t *scratch)
{
	size_t at = n * 95 / 100;

	if (n == 0)
		return;
	for (size_t i = 0; i < n; i++)
		scratch[i] = p[i].length;
	s->median = select_nth(scratch, n, n / 2);
	s->p95 = select_nth(scratch, n, at < n ? at : n - 1);
}

/* Two digits that cover the box's width. */
static void sort_start(const struct box *b, struct box_piece *other, uint32_t *at)
{
	unsigned bits = 2;

	while (bits < 32 && (b->t1 - b->t0) >> bits)
		bits += 2;
	sort_digit(b->pieces.v, other, b->pieces.n, &(struct digit){0, bits / 2, at});
	sort_digit(other, b->pieces.v, b->pieces.n, &(struct digit){bits / 2, bits / 2, at});
}

static bool sweep(struct box *b)
{
	size_t n = b->pieces.n;
	struct box_piece *other = mem_alloc((n + 1) * sizeof(*other));
	uint32_t *digits = mem_alloc(MAX_DIGITS * sizeof(*digits));
	uint32_t *first = mem_zalloc((size_t)b->n_keys + 1, sizeof(*first));
	uint32_t *scratch = mem_alloc((n + 1) * sizeof(*scratch));
	bool ok = other && digits && first && scratch;

	if (ok) {
		sort_start(b, other, digits);
		b->total.union_cyc = union_of(b->pieces.v, n);
		quantiles(&b->total, b->pieces.v, n, scratch);
		sort_key(b->pieces.v, other, n, first, b->n_keys);
	}
	for (uint32_t k = 0; ok && k < b->n_keys; k++) {
		uint32_t from = k ? first[k - 1] : 0;

		b->stats[k].union_cyc = union_of(other + from, first[k] - from);
		quantiles(&b->stats[k], other + from, first[k] - from, scratch);
	}
	mem_free(other);
	mem_free(digits);
	mem_free(first);
	mem_free(scratch);
	return ok;
}

static bool is_before(const struct box_stat *a, const struct box_stat *b)
{
	return a->sum != b->sum ? a->sum > b->sum : a->key < b->key;
}

/* Heap sort: no recursion, no library. */
static void sink(struct box_stat *v, size_t at, size_t n)
{
	struct box_stat x = v[at];

	for (size_t k; (k = 2 * at + 1) < n; at = k) {
		if (k + 1 < n && is_before(&v[k], &v[k + 1]))
			k++;
		if (!is_before(&x, &v[k]))
			break;
		v[at] = v[k];
	}
	v[at] = x;
}

static void sort_stats(struct box_stat *v, size_t n)
{
	for (size_t i = n / 2; i-- > 0;)
		sink(v, i, n);
	for (size_t i = n; i-- > 1;) {
		struct box_stat x = v[0];

		v[0] = v[i];
		v[i] = x;
		sink(v, 0, i);
	}
}

/* All keys together; union and quantiles are sweep()'s. */
static void add_up(struct box *b)
{
	struct box_stat *t = &b->total;

	for (uint32_t k = 0; k < b->n_keys; k++) {
		const struct box_stat *s = &b->stats[k];

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
	add_up(b);
	if (b->has_failed || (!b->is_summary && !sweep(b)))
		return false;
	for (uint32_t k = 0; k < b->n_keys; k++)
		if (b->stats[k].count)
			b->stats[b->n_stats++] = b->stats[k];
	sort_stats(b->stats, b->n_stats);
	return true;
}
