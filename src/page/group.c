/* SPDX-License-Identifier: Apache-2.0 */
/* group.c: which blocks make one paragraph, list or list of facts. */
#include "page/group.h"

static bool is_paragraph(enum block_kind kind)
{
	return kind == BLOCK_LINE || kind == BLOCK_PROSE;
}

static bool is_fact(enum block_kind kind)
{
	return kind == BLOCK_FACT || kind == BLOCK_COMMAND;
}

/* Tables and listings stand alone. */
static bool is_same_group(const struct page_block *a, const struct page_block *b)
{
	return (is_paragraph(a->kind) && is_paragraph(b->kind)) ||
	       (is_fact(a->kind) && is_fact(b->kind)) ||
	       (a->kind == BLOCK_ITEM && b->kind == BLOCK_ITEM);
}

bool page_next_group(const struct page *p, size_t *at, struct block_group *out)
{
	const struct page_block *v = p->blocks.v;
	size_t i = *at, n = p->blocks.n;

	*out = (struct block_group){0};
	while (i < n && v[i].kind == BLOCK_GAP)
		i++;
	if (i == n)
		return false;
	if (v[i].kind == BLOCK_HEADING)
		out->heading = v[i++].text;
	if (i < n && v[i].kind != BLOCK_GAP && v[i].kind != BLOCK_HEADING) {
		out->v = &v[i];
		for (out->n = 1, i++; i < n && is_same_group(out->v, &v[i]); i++)
			out->n++;
	}
	*at = i;
	return true;
}

struct str block_name(const struct page_block *b)
{
	struct str s = str_trim(str_of(b->head));

	return str_is(s, "-") || str_is(s, "*") ? STR("") : s;
}

bool block_goes_on(const struct page_block *b)
{
	if (b->kind == BLOCK_ITEM)
		return block_name(b).n > 0;
	return is_fact(b->kind) && !block_name(b).n;
}
