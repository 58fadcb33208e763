/* SPDX-License-Identifier: Apache-2.0 */
/* diff_lines.c: pairs the source lines of two captures by instructions, then text, then number. */
#include "analysis/diff/diff_lines.h"

#include <stdio.h>

#include "analysis/code/hot.h"
#include "analysis/diff/diff.h"
#include "base/mem.h"

struct line_votes {
	struct line_pairs *p;
	const uint32_t *line_of_a, *line_of_b; /* by row: number of its line, or INTERN_NONE */
	struct u64_map of_pair;		       /* (line of a, line of b): rows that they share */
	uint32_t *best_of_a, *best_of_b;
	uint64_t *most_of_a, *most_of_b;
};

static bool is_line(const struct code_row *r)
{
	return !r->is_label && r->source && r->source[0];
}

/* Numbers the lines of a trace; NULL on lack of memory. */
static uint32_t *number_lines(const struct trace *t, struct intern *lines, struct arena *a)
{
	uint32_t *v = arena_zalloc(a, (size_t)t->n_code + 1, sizeof(*v));

	for (code_idx i = 0; v && i < t->n_code; i++) {
		v[i] = INTERN_NONE;
		if (!is_line(&t->code[i]))
			continue;
		v[i] = intern_add(lines, hot_line_of(&t->code[i]));
		if (v[i] == INTERN_NONE)
			return NULL;
	}
	return v;
}

static void pair(struct line_pairs *p, uint32_t a, uint32_t b)
{
	if (p->b_of_a[a] != INTERN_NONE || p->a_of_b[b] != INTERN_NONE)
		return;
	p->b_of_a[a] = b;
	p->a_of_b[b] = a;
}

/* --- by instructions --- */

static uint64_t vote_key(uint32_t a, uint32_t b)
{
	return (uint64_t)a << 32 | b;
}

static bool count_votes(struct line_votes *v, const code_idx *rows, uint32_t n)
{
	for (code_idx i = 0; i < n; i++) {
		uint64_t *at;

		if (rows[i] == NO_CODE || v->line_of_a[i] == INTERN_NONE ||
			v->line_of_b[rows[i]] == INTERN_NONE)
			continue;
		at = u64_map_at(&v->of_pair, vote_key(v->line_of_a[i], v->line_of_b[rows[i]]));
		if (!at)
			return false;
		++*at;
	}
	return true;
}

/* Lines that share more rows with each other than either does with any other line are one. */
static void elect(struct line_votes *v, const code_idx *rows, uint32_t n)
{
	for (code_idx i = 0; i < n; i++) {
		uint32_t a = v->line_of_a[i];
		uint32_t b = rows[i] == NO_CODE ? INTERN_NONE : v->line_of_b[rows[i]];
		uint64_t count;

		if (a == INTERN_NONE || b == INTERN_NONE)
			continue;
		count = *u64_map_find(&v->of_pair, vote_key(a, b));
		if (count > v->most_of_a[a]) {
			v->most_of_a[a] = count;
			v->best_of_a[a] = b;
		}
		if (count > v->most_of_b[b]) {
			v->most_of_b[b] = count;
			v->best_of_b[b] = a;
		}
	}
	for (uint32_t a = 0; a < v->p->a.n; a++)
		if (v->most_of_a[a] && v->best_of_b[v->best_of_a[a]] == a)
			pair(v->p, a, v->best_of_a[a]);
}

static bool pair_by_rows(struct line_pairs *p, const uint32_t *line_of_a, const uint32_t *line_of_b,
	const code_idx *rows, uint32_t n)
{
	struct line_votes v = {.p = p, .line_of_a = line_of_a, .line_of_b = line_of_b};
	struct arena tmp;
	bool ok;

	arena_init(&tmp);
	v.best_of_a = arena_zalloc(&tmp, p->a.n + 1u, sizeof(*v.best_of_a));
	v.best_of_b = arena_zalloc(&tmp, p->b.n + 1u, sizeof(*v.best_of_b));
	v.most_of_a = arena_zalloc(&tmp, p->a.n + 1u, sizeof(*v.most_of_a));
	v.most_of_b = arena_zalloc(&tmp, p->b.n + 1u, sizeof(*v.most_of_b));
	ok = v.best_of_a && v.best_of_b && v.most_of_a && v.most_of_b && count_votes(&v, rows, n);
	if (ok)
		elect(&v, rows, n);
	u64_map_deinit(&v.of_pair);
	arena_deinit(&tmp);
	return ok;
}

/* --- by text --- */

/* Numbers of the texts of a file's lines; NULL on lack of memory. */
static uint32_t *number_texts(
	const struct source_file *f, struct intern *texts, struct arena *a, uint32_t *n)
{
	uint32_t *v = arena_zalloc(a, (size_t)f->n_lines + 1, sizeof(*v));
	struct str rest = {f->text, f->text_len}, line;

	for (*n = 0; v && *n < f->n_lines && str_cut(&rest, "\n", &line); ++*n) {
		v[*n] = intern_add(texts, str_trim(line));
		if (v[*n] == INTERN_NONE)
			return NULL;
	}
	return v;
}

static bool find_line(const struct intern *lines, const char *path, uint32_t number, uint32_t *out)
{
	char text[4096];
	int n = snprintf(text, sizeof(text), "%s:%u", path, number);

	*out = n > 0 && (size_t)n < sizeof(text) ? intern_find(lines, (struct str){text, (size_t)n})
						 : INTERN_NONE;
	return *out != INTERN_NONE;
}

static bool pair_files(struct line_pairs *p, const struct source_file *fa,
	const struct source_file *fb, struct incore_error *e)
{
	struct arena tmp;
	struct intern texts;
	uint32_t n_a, n_b, *a, *b, *match, line_a, line_b;
	bool ok = false;

	arena_init(&tmp);
	intern_init(&texts);
	a = number_texts(fa, &texts, &tmp, &n_a);
	b = number_texts(fb, &texts, &tmp, &n_b);
	match = arena_zalloc(&tmp, (size_t)fa->n_lines + 1, sizeof(*match));
	if (!a || !b || !match)
		err_nomem(e);
	else
		ok = diff_lcs(a, n_a, b, n_b, match, e);
	for (uint32_t i = 0; ok && i < n_a; i++)
		if (match[i] != UINT32_MAX && find_line(&p->a, fa->path, i + 1, &line_a) &&
			find_line(&p->b, fb->path, match[i] + 1, &line_b))
			pair(p, line_a, line_b);
	intern_deinit(&texts);
	arena_deinit(&tmp);
	return ok;
}

static bool pair_by_text(
	struct line_pairs *p, const struct trace *a, const struct trace *b, struct incore_error *e)
{
	source_idx *file = arena_zalloc(&p->arena, (size_t)a->n_sources + 1, sizeof(*file));
	struct intern paths;
	bool ok = file || err_nomem(e);

	intern_init(&paths);
	for (source_idx i = 0; ok && i < a->n_sources; i++) {
		uint32_t id = intern_add(&paths, str_of(a->sources[i].path));

		ok = id != INTERN_NONE || err_nomem(e);
		if (ok)
			file[id] = i;
	}
	for (source_idx k = 0; ok && k < b->n_sources; k++) {
		uint32_t id = intern_find(&paths, str_of(b->sources[k].path));

		if (id != INTERN_NONE && a->sources[file[id]].text && b->sources[k].text)
			ok = pair_files(p, &a->sources[file[id]], &b->sources[k], e);
	}
	intern_deinit(&paths);
	return ok;
}

/* --- the whole --- */

/* Lines that nothing else has moved keep their number. */
static bool name_lines(struct line_pairs *p)
{
	for (uint32_t b = 0; b < p->b.n; b++) {
		uint32_t a = intern_find(&p->a, p->b.strs[b]);

		if (a != INTERN_NONE)
			pair(p, a, b);
	}
	for (uint32_t b = 0; b < p->b.n; b++) {
		uint32_t a = p->a_of_b[b];

		if (a != INTERN_NONE)
			p->key_of_b[b] = p->a.strs[a].p;
		else if (intern_find(&p->a, p->b.strs[b]) == INTERN_NONE)
			p->key_of_b[b] = p->b.strs[b].p;
		else
			p->key_of_b[b] = arena_printf(&p->arena, "%s (B)", p->b.strs[b].p);
		if (!p->key_of_b[b])
			return false;
	}
	return true;
}

bool line_pairs_make(struct line_pairs *p, const struct trace *a, const struct trace *b,
	const code_idx *rows, struct incore_error *e)
{
	uint32_t *line_of_a, *line_of_b;

	*p = (struct line_pairs){0};
	arena_init(&p->arena);
	intern_init(&p->a);
	intern_init(&p->b);
	line_of_a = number_lines(a, &p->a, &p->arena);
	line_of_b = number_lines(b, &p->b, &p->arena);
	p->a_of_b = arena_zalloc(&p->arena, p->b.n + 1u, sizeof(*p->a_of_b));
	p->b_of_a = arena_zalloc(&p->arena, p->a.n + 1u, sizeof(*p->b_of_a));
	p->key_of_b = arena_zalloc(&p->arena, p->b.n + 1u, sizeof(*p->key_of_b));
	if (!line_of_a || !line_of_b || !p->a_of_b || !p->b_of_a || !p->key_of_b)
		return err_nomem(e);
	memset(p->a_of_b, 0xff, p->b.n * sizeof(*p->a_of_b));
	memset(p->b_of_a, 0xff, p->a.n * sizeof(*p->b_of_a));
	if (rows && !pair_by_rows(p, line_of_a, line_of_b, rows, a->n_code))
		return err_nomem(e);
	return pair_by_text(p, a, b, e) && (name_lines(p) || err_nomem(e));
}

void line_pairs_deinit(struct line_pairs *p)
{
	intern_deinit(&p->a);
	intern_deinit(&p->b);
	arena_deinit(&p->arena);
	*p = (struct line_pairs){0};
}

const char *line_pairs_key(const struct line_pairs *p, const char *line_of_b)
{
	uint32_t b = intern_find(&p->b, str_of(line_of_b));

	return b == INTERN_NONE ? line_of_b : p->key_of_b[b];
}

const char *line_pairs_moved(const struct line_pairs *p, const char *line_of_a)
{
	uint32_t a = intern_find(&p->a, str_of(line_of_a)), b;

	b = a == INTERN_NONE ? INTERN_NONE : p->b_of_a[a];
	if (b == INTERN_NONE || str_eq(p->a.strs[a], p->b.strs[b]))
		return NULL;
	return p->b.strs[b].p;
}
