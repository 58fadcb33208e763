/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff_align.c: which row of A is which row of B? Identical listings are matched row by row;
 * otherwise the texts of each pair of functions are matched; if too little matches, source lines
 * are used, paired by their texts (diff_lines.h).
 */
#include <stdlib.h>

#include "analysis/diff/diff.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/search.h"
#include "base/vec.h"
#include "isa/amd.h"

/* --- longest common subsequence --------------------------------------------------------------- */

/*
 * Aligns two lists of keys. Equal ends are cut off; small rests are solved exactly;
 * large ones are split at the longest increasing sequence of runs of keys that occur once in each
 * list, and solved piece by piece. Memory is linear, time about linear in the number of elements.
 */

#define EXACT_CELLS (1u << 20) /* largest rest solved exactly */
#define LOOK_AHEAD 64u	       /* distance searched by solve_greedy() */

struct diff_align_piece {
	uint32_t a0, a1, b0, b1;
};

struct anchor {
	uint32_t a, b;
};

struct lcs {
	const uint32_t *a, *b;
	uint32_t *match;
	uint16_t *cells; /* EXACT_CELLS lengths */
	VEC(struct diff_align_piece) todo;
	VEC(struct anchor) anchors;
	VEC(uint32_t) tails, back; /* longest increasing sequence */
};

static void trim(struct lcs *l, struct diff_align_piece *p)
{
	while (p->a0 < p->a1 && p->b0 < p->b1 && l->a[p->a0] == l->b[p->b0])
		l->match[p->a0++] = p->b0++;
	while (p->a0 < p->a1 && p->b0 < p->b1 && l->a[p->a1 - 1] == l->b[p->b1 - 1])
		l->match[--p->a1] = --p->b1;
}

/* cells[i * w + j]: length of the best match of a[i..), b[j..). */
static void solve_exact(struct lcs *l, const struct diff_align_piece *p)
{
	uint32_t n = p->a1 - p->a0, m = p->b1 - p->b0, w = m + 1, i, j;
	uint16_t *c = l->cells;

	for (j = 0; j <= m; j++)
		c[n * w + j] = 0;
	for (i = n; i-- > 0;) {
		c[i * w + m] = 0;
		for (j = m; j-- > 0;) {
			uint16_t down = c[(i + 1) * w + j], right = c[i * w + j + 1];

			c[i * w + j] = l->a[p->a0 + i] == l->b[p->b0 + j]
					       ? (uint16_t)(c[(i + 1) * w + j + 1] + 1)
				       : down > right ? down
						      : right;
		}
	}
	for (i = 0, j = 0; i < n && j < m;) {
		if (l->a[p->a0 + i] == l->b[p->b0 + j]) {
			l->match[p->a0 + i++] = p->b0 + j++;
		} else if (c[(i + 1) * w + j] >= c[i * w + j + 1]) {
			i++;
		} else {
			j++;
		}
	}
}

/* Last resort without unique keys: takes the next equal key a short way ahead. */
static void solve_greedy(struct lcs *l, const struct diff_align_piece *p)
{
	uint32_t j = p->b0;

	for (uint32_t i = p->a0; i < p->a1; i++)
		for (uint32_t k = j; k < p->b1 && k < j + LOOK_AHEAD; k++)
			if (l->a[i] == l->b[k]) {
				l->match[i] = k;
				j = k + 1;
				break;
			}
}

static uint64_t run_hash(const uint32_t *v, uint32_t n)
{
	uint64_t h = n;

	for (uint32_t i = 0; i < n; i++)
		h = hash_mix64(h ^ v[i]) + 0x9e3779b97f4a7c15u * (i + 1);
	return h;
}

#define ONCE 1u
#define TWICE 2u

/* Value: count in a (bits 0-1), count in b (bits 2-3), index in b (from bit 32). */
static bool count_runs(
	struct lcs *l, const struct diff_align_piece *p, uint32_t n, struct u64_map *m)
{
	for (uint32_t i = p->a0; i + n <= p->a1; i++) {
		uint64_t *at = u64_map_at(m, run_hash(&l->a[i], n));

		if (!at)
			return false;
		*at = (*at & 3) ? TWICE : ONCE;
	}
	for (uint32_t i = p->b0; i + n <= p->b1; i++) {
		uint64_t *at = u64_map_find(m, run_hash(&l->b[i], n));

		if (at)
			*at = (*at & 3) | ((*at & 12) ? TWICE : ONCE) << 2 | (uint64_t)i << 32;
	}
	return true;
}

static bool find_anchors(struct lcs *l, const struct diff_align_piece *p, uint32_t n)
{
	struct u64_map m = {0};
	bool ok = count_runs(l, p, n, &m);

	l->anchors.n = 0;
	for (uint32_t i = p->a0; ok && i + n <= p->a1; i++) {
		const uint64_t *at = u64_map_find(&m, run_hash(&l->a[i], n));
		uint32_t k = at ? (uint32_t)(*at >> 32) : 0;

		if (at && (*at & 15) == (ONCE | ONCE << 2) && l->a[i] == l->b[k])
			ok = VEC_PUSH(&l->anchors, (struct anchor){i, k});
	}
	u64_map_deinit(&m);
	return ok;
}

/* Keeps the longest sequence of anchors that rises in b (they rise in a already). */
static bool keep_rising(struct lcs *l)
{
	size_t n = l->anchors.n, len = 0;
	uint32_t at;

	if (!VEC_RESERVE(&l->tails, n + 1) || !VEC_RESERVE(&l->back, n + 1))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		size_t lo = 0, hi = len;

		BISECT(lo, hi, k, l->anchors.v[l->tails.v[k]].b < l->anchors.v[i].b);
		l->back.v[i] = lo ? l->tails.v[lo - 1] : UINT32_MAX;
		l->tails.v[lo] = i;
		len = lo == len ? len + 1 : len;
	}
	at = len ? l->tails.v[len - 1] : UINT32_MAX;
	for (size_t i = len; i-- > 0; at = l->back.v[at])
		l->tails.v[i] = at;
	for (size_t i = 0; i < len; i++)
		l->anchors.v[i] = l->anchors.v[l->tails.v[i]];
	l->anchors.n = len;
	return true;
}

static bool diff_align_split(struct lcs *l, const struct diff_align_piece *p)
{
	struct diff_align_piece rest = *p;

	for (size_t i = 0; i < l->anchors.n; i++) {
		struct anchor x = l->anchors.v[i];

		l->match[x.a] = x.b;
		if (x.a > rest.a0 && x.b > rest.b0 &&
			!VEC_PUSH(&l->todo, (struct diff_align_piece){rest.a0, x.a, rest.b0, x.b}))
			return false;
		rest.a0 = x.a + 1;
		rest.b0 = x.b + 1;
	}
	return rest.a0 >= rest.a1 || rest.b0 >= rest.b1 || VEC_PUSH(&l->todo, rest);
}

static bool solve(struct lcs *l, struct diff_align_piece p)
{
	static const uint32_t lengths[] = {8, 4, 2, 1};
	uint64_t cells;

	trim(l, &p);
	if (p.a0 == p.a1 || p.b0 == p.b1)
		return true;
	cells = (uint64_t)(p.a1 - p.a0 + 1) * (p.b1 - p.b0 + 1);
	if (cells <= EXACT_CELLS && p.a1 - p.a0 < UINT16_MAX && p.b1 - p.b0 < UINT16_MAX) {
		solve_exact(l, &p);
		return true;
	}
	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++) {
		if (!find_anchors(l, &p, lengths[i]))
			return false;
		if (l->anchors.n)
			return keep_rising(l) && diff_align_split(l, &p);
	}
	solve_greedy(l, &p);
	return true;
}

bool diff_lcs(const uint32_t *a, uint32_t n_a, const uint32_t *b, uint32_t n_b, uint32_t *match,
	struct incore_error *e)
{
	struct lcs l = {.a = a, .b = b, .match = match};
	bool ok;

	for (uint32_t i = 0; i < n_a; i++)
		match[i] = UINT32_MAX;
	l.cells = mem_alloc(EXACT_CELLS * sizeof(*l.cells));
	ok = l.cells && VEC_PUSH(&l.todo, (struct diff_align_piece){0, n_a, 0, n_b});
	while (ok && l.todo.n)
		ok = solve(&l, l.todo.v[--l.todo.n]);
	mem_free(l.cells);
	VEC_FREE(&l.todo);
	VEC_FREE(&l.anchors);
	VEC_FREE(&l.tails);
	VEC_FREE(&l.back);
	return ok || err_nomem(e);
}

/* --- alignment -------------------------------------------------------------------------------- */

const char *diff_align_name(enum diff_align_kind k)
{
	static const char *const names[] = {"row", "text", "line"};

	return names[k];
}

double diff_matched_share(const struct diff_align *x)
{
	uint64_t all = x->latency_a + x->latency_b;

	if (all)
		return (double)(x->matched_a + x->matched_b) / (double)all;
	return x->rows_a + x->rows_b ? 2.0 * x->matched / (x->rows_a + x->rows_b) : 0;
}

static struct str row_text(const struct code_row *r)
{
	return (struct str){r->text, r->text_len};
}

bool diff_same_code(const struct trace *a, const struct trace *b)
{
	if (a->n_code != b->n_code)
		return false;
	for (code_idx i = 0; i < a->n_code; i++)
		if (!str_eq(row_text(&a->code[i]), row_text(&b->code[i])))
			return false;
	return true;
}

static bool same_addresses(const struct trace *a, const struct trace *b)
{
	for (code_idx i = 0; i < a->n_code; i++)
		if (a->code[i].address != b->code[i].address)
			return false;
	return true;
}

static void diff_align_count_rows(
	struct diff_align *x, const struct diff_side *a, const struct diff_side *b)
{
	for (code_idx i = 0; i < a->trace->n_code; i++)
		x->rows_a += !a->trace->code[i].is_label;
	for (code_idx i = 0; i < b->trace->n_code; i++)
		x->rows_b += !b->trace->code[i].is_label;
	x->latency_a = a->hot->all.totals.latency;
	x->latency_b = b->hot->all.totals.latency;
}

static void sum_matched(struct diff_align *x, const struct diff_side *a, const struct diff_side *b)
{
	x->matched = 0;
	x->matched_a = x->matched_b = 0;
	for (code_idx i = 0; i < a->trace->n_code; i++) {
		code_idx k = x->b_of_a[i];

		if (k == NO_CODE || a->trace->code[i].is_label)
			continue;
		x->matched++;
		x->matched_a += a->hot->rows[i].totals.latency;
		x->matched_b += b->hot->rows[k].totals.latency;
	}
}

/* --- by text --- */

struct function {
	struct str name;
	code_idx first, end; /* rows [first, end), without the label */
	uint32_t partner;    /* index on the other side, or UINT32_MAX */
};

typedef VEC(struct function) function_list;

static bool list_functions(const struct trace *t, function_list *out)
{
	for (code_idx i = 0; i < t->n_code;) {
		struct function f = {STR(""), i, i, UINT32_MAX};

		if (t->code[i].is_label) {
			f.name = row_text(&t->code[i]);
			f.first = ++i;
		}
		while (i < t->n_code && !t->code[i].is_label)
			i++;
		f.end = i;
		if (!VEC_PUSH(out, f))
			return false;
	}
	return true;
}

/* Pairs functions by name, then the rest in order. */
static bool pair_functions(function_list *a, function_list *b)
{
	struct intern names;
	struct u64_map at = {0};
	bool ok = true;
	size_t j = 0;

	intern_init(&names);
	for (size_t i = 0; ok && i < b->n; i++) {
		uint32_t id = intern_add(&names, b->v[i].name);
		uint64_t *v = id == INTERN_NONE ? NULL : u64_map_at(&at, id);

		ok = v != NULL;
		if (ok && !*v)
			*v = i + 1;
	}
	for (size_t i = 0; ok && i < a->n; i++) {
		uint32_t id = intern_find(&names, a->v[i].name);
		uint64_t *v = id == INTERN_NONE ? NULL : u64_map_find(&at, id);

		if (!v || !*v)
			continue;
		a->v[i].partner = (uint32_t)(*v - 1);
		b->v[*v - 1].partner = (uint32_t)i;
		*v = 0;
	}
	for (size_t i = 0; ok && i < a->n; i++) {
		if (a->v[i].partner != UINT32_MAX)
			continue;
		while (j < b->n && b->v[j].partner != UINT32_MAX)
			j++;
		if (j == b->n)
			break;
		a->v[i].partner = (uint32_t)j;
		b->v[j].partner = (uint32_t)i;
	}
	intern_deinit(&names);
	u64_map_deinit(&at);
	return ok;
}

/* Branches compare without their target, because inserted code changes the offset. */
static struct str key_text(const struct code_row *r)
{
	struct str s = row_text(r);

	return amd_is_branch(s) ? amd_mnemonic(s) : s;
}

static uint32_t *make_keys(const struct trace *t, struct intern *texts)
{
	uint32_t *v = mem_zalloc((size_t)t->n_code + 1, sizeof(*v));

	for (code_idx i = 0; v && i < t->n_code; i++) {
		v[i] = intern_add(texts, key_text(&t->code[i]));
		if (v[i] == INTERN_NONE) {
			mem_free(v);
			return NULL;
		}
	}
	return v;
}

struct text_align {
	function_list a, b;
	struct intern texts;
	uint32_t *keys_a, *keys_b, *match;
};

static bool match_functions(struct diff_align *x, struct text_align *w, struct incore_error *e)
{
	for (size_t i = 0; i < w->a.n; i++) {
		const struct function *f = &w->a.v[i], *g;

		if (f->partner == UINT32_MAX)
			continue;
		g = &w->b.v[f->partner];
		if (!diff_lcs(&w->keys_a[f->first], f->end - f->first, &w->keys_b[g->first],
			    g->end - g->first, w->match, e))
			return false;
		for (code_idx k = f->first; k < f->end; k++) {
			uint32_t m = w->match[k - f->first];

			if (m != UINT32_MAX)
				x->b_of_a[k] = g->first + m;
		}
	}
	return true;
}

static bool align_text(struct diff_align *x, const struct diff_side *a, const struct diff_side *b,
	struct incore_error *e)
{
	struct text_align w = {0};
	bool ok = false;

	intern_init(&w.texts);
	w.keys_a = make_keys(a->trace, &w.texts);
	w.keys_b = make_keys(b->trace, &w.texts);
	w.match = mem_zalloc((size_t)a->trace->n_code + 1, sizeof(*w.match));
	if (!w.keys_a || !w.keys_b || !w.match || !list_functions(a->trace, &w.a) ||
		!list_functions(b->trace, &w.b) || !pair_functions(&w.a, &w.b)) {
		err_nomem(e);
		goto out;
	}
	ok = match_functions(x, &w, e);
	x->kind = ALIGN_TEXT;
	if (ok)
		sum_matched(x, a, b);
out:
	mem_free(w.keys_a);
	mem_free(w.keys_b);
	mem_free(w.match);
	VEC_FREE(&w.a);
	VEC_FREE(&w.b);
	intern_deinit(&w.texts);
	return ok;
}

/* --- by source line --- */

static bool is_mapped(const struct trace *t, const struct hot_group *g)
{
	return g->code < t->n_code && t->code[g->code].source && t->code[g->code].source[0];
}

static bool align_line(struct diff_align *x, const struct diff_side *a, const struct diff_side *b,
	struct incore_error *e)
{
	struct arena tmp;
	struct intern keys;
	struct hot_group *ga = NULL, *gb = NULL;
	uint32_t na = 0, nb = 0, n = 0;
	uint64_t *latency = NULL;
	bool ok = false;

	arena_init(&tmp);
	intern_init(&keys);
	if (!hot_group(a->hot, HOT_BY_LINE, HOT_SORT_LATENCY, true, &tmp, &ga, &na, e) ||
		!hot_group(b->hot, HOT_BY_LINE, HOT_SORT_LATENCY, true, &tmp, &gb, &nb, e))
		goto out;
	latency = arena_zalloc(&tmp, (size_t)na + 1, sizeof(*latency));
	ok = latency || err_nomem(e);
	for (uint32_t i = 0; ok && i < na; i++) {
		uint32_t id;

		if (!is_mapped(a->trace, &ga[i]))
			continue;
		id = intern_add(&keys, str_of(ga[i].key));
		ok = id != INTERN_NONE || err_nomem(e);
		if (ok)
			latency[id] += ga[i].sums.totals.latency;
	}
	x->kind = ALIGN_LINE;
	x->matched_a = x->matched_b = 0;
	for (uint32_t i = 0; ok && i < nb; i++) {
		uint32_t id = intern_find(&keys, str_of(line_pairs_key(&x->lines, gb[i].key)));

		if (id == INTERN_NONE || !is_mapped(b->trace, &gb[i]))
			continue;
		n++;
		x->matched_a += latency[id];
		x->matched_b += gb[i].sums.totals.latency;
	}
	x->matched = n;
out:
	intern_deinit(&keys);
	arena_deinit(&tmp);
	return ok;
}

/* --- choice --- */

/* Any two kernels share a few waits and an s_endpgm, which hold much of the latency, so a share of
 * rows half as large must match, too. */
static bool is_enough(const struct diff_align *x, double min_match)
{
	return diff_matched_share(x) >= min_match &&
	       4.0 * x->matched >= min_match * (x->rows_a + x->rows_b);
}

static bool diff_align_refuse(const struct diff_align *text, const struct diff_align *line,
	double min_match, struct incore_error *e)
{
	return err_set(e, INCORE_BAD_INPUT, "not-comparable",
		"the two captures are not of comparable code: %.1f %% of latency matches by text (%u of %u and %u instructions), %.1f %% by source line; at least %.0f %% is wanted (--min-match)",
		100 * diff_matched_share(text), text->matched, text->rows_a, text->rows_b,
		100 * diff_matched_share(line), 100 * min_match);
}

/* Rows pair lines only where enough of them match: two kernels share some texts by chance. */
static bool choose_align(struct diff_align *x, const struct diff_side *a, const struct diff_side *b,
	const struct diff_options *o, struct incore_error *e)
{
	bool by_text = o->has_align ? o->align != ALIGN_LINE : is_enough(x, o->min_match);
	struct diff_align line = *x;

	if ((!by_text || o->by == DIFF_BY_LINE) &&
		!line_pairs_make(&x->lines, a->trace, b->trace, by_text ? x->b_of_a : NULL, e))
		return false;
	if (by_text)
		return is_enough(x, o->min_match) || diff_align_refuse(x, &line, o->min_match, e);
	line.lines = x->lines;
	line.b_of_a = NULL;
	if (!align_line(&line, a, b, e))
		return false;
	if (diff_matched_share(&line) < o->min_match)
		return diff_align_refuse(x, &line, o->min_match, e);
	*x = line;
	return true;
}

bool diff_align_rows(struct diff_align *x, const struct diff_side *a, const struct diff_side *b,
	const struct diff_options *o, struct arena *arena, struct incore_error *e)
{
	bool is_same = diff_same_code(a->trace, b->trace);

	diff_align_count_rows(x, a, b);
	x->b_of_a = arena_zalloc(arena, (size_t)a->trace->n_code + 1, sizeof(*x->b_of_a));
	if (!x->b_of_a)
		return err_nomem(e);
	for (code_idx i = 0; i < a->trace->n_code; i++)
		x->b_of_a[i] = is_same ? i : NO_CODE;
	if (is_same) {
		sum_matched(x, a, b);
		x->kind = same_addresses(a->trace, b->trace) ? ALIGN_ROW : ALIGN_TEXT;
	} else if (!align_text(x, a, b, e)) {
		return false;
	}
	return choose_align(x, a, b, o, e);
}
