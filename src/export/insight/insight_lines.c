/* SPDX-License-Identifier: Apache-2.0 */
/*
 * insight_lines.c: the source lines that have figures: those in the call chain of an instruction,
 * and those that the producer stated. A line outside of the toolkit counts every instruction whose
 * chain contains it, once.
 */
#include "base/search.h"
#include "export/insight/insight.h"

#define SHOWN_LINES 10000u /* of a file; the viewer shows no more */

/* Sorted so that stated figures of a line come after its instructions. */
ORDER(use_cmp, struct insight_use, UP(source) UP(line) UP(code))

bool insight_is_written(const struct insight *s, code_idx code)
{
	bool is_hit = !s->selection;

	for (size_t i = 0; i < s->units.n && !is_hit; i++)
		is_hit = s->cells[(size_t)code * s->units.n + i].hit != 0;
	return is_hit;
}

static bool add_uses(struct insight *s)
{
	for (code_idx c = 0; c < s->t->n_code; c++) {
		const struct code_row *r = &s->t->code[c];

		for (uint16_t i = 0; insight_is_written(s, c) && i < r->n_frames; i++) {
			const struct frame *f = &s->t->frames[r->first_frame + i];

			if (f->source < s->t->n_sources &&
				!strstr(s->t->sources[f->source].path, "ascend-toolkit") &&
				!VEC_PUSH(&s->uses,
					(struct insight_use){f->source, f->line, c, NULL}))
				return false;
		}
	}
	EACH (const struct insight_group, g, s->stated_lines.groups.v, s->stated_lines.groups.n)
		if (g->source != NO_SOURCE &&
			!VEC_PUSH(&s->uses,
				(struct insight_use){g->source, (uint32_t)g->number, NO_CODE, g}))
			return false;
	return true;
}

bool insight_find_lines(struct insight *s)
{
	size_t n = 0;

	s->has_block = arena_zalloc(&s->arena, (size_t)s->t->n_sources + 1, 1);
	if (!s->has_block || !add_uses(s))
		return false;
	for (source_idx i = 0; i < s->t->n_sources; i++)
		s->has_block[i] = s->t->sources[i].text_len != 0;
	SORT(s->uses.v, s->uses.n, use_cmp);
	EACH (const struct insight_use, u, s->uses.v, s->uses.n) {
		const struct insight_use *last = n ? &s->uses.v[n - 1] : NULL;
		bool is_new = !last || last->source != u->source || last->line != u->line;

		/* With a selection, a line without selected instructions is left out, even if
		 * stated. */
		if ((last && use_cmp(u, last) == 0) || (is_new && u->stated && s->selection))
			continue;
		s->has_block[u->source] = 1;
		s->n_lines += is_new;
		s->uses.v[n++] = *u;
	}
	s->uses.n = n;
	return true;
}

bool insight_placeholder(const struct insight *s, source_idx i, struct strbuf *out)
{
	size_t lo = 0, hi = s->uses.n;
	uint32_t line = 0; /* last line written */

	BISECT(lo, hi, k, s->uses.v[k].source < i);
	for (; lo < s->uses.n && s->uses.v[lo].source == i; lo++) {
		if (s->uses.v[lo].line <= line || s->uses.v[lo].line > SHOWN_LINES)
			continue;
		while (++line < s->uses.v[lo].line)
			sb_putc(out, '\n');
		sb_printf(out, "// line %u: the capture has no text of this file\n", line);
	}
	if (!line)
		sb_putc(out, '\n');
	return !out->failed;
}
