/* SPDX-License-Identifier: Apache-2.0 */
/* selection.c: selects tracks and a time window. */
#include "analysis/selection.h"

static bool parse_range(struct str part, struct number_range *r)
{
	ptrdiff_t dash = str_find(part, "-");

	if (dash < 0)
		return str_to_u64(part, &r->first) && (r->last = r->first, true);
	return str_to_u64(str_sub(part, 0, (size_t)dash), &r->first) &&
	       str_to_u64(str_sub(part, (size_t)dash + 1, part.n), &r->last) && r->first <= r->last;
}

bool number_set_parse(
	struct number_set *s, struct str text, const char *what, struct incore_error *e)
{
	struct str rest = text, part;

	while (str_cut(&rest, ",", &part)) {
		struct number_range r;

		if (!parse_range(str_trim(part), &r))
			return err_set(e, INCORE_USAGE, "bad-option",
				"%s expects numbers such as 0, 0-3 or 0,2,5-7, not \"%.*s\"", what,
				STR_ARG(text));
		if (!VEC_PUSH(&s->ranges, r))
			return err_nomem(e);
	}
	if (s->ranges.n == 0)
		return err_set(
			e, INCORE_USAGE, "bad-option", "%s expects at least one number", what);
	return true;
}

bool number_set_has(const struct number_set *s, uint64_t n)
{
	for (size_t i = 0; i < s->ranges.n; i++)
		if (n >= s->ranges.v[i].first && n <= s->ranges.v[i].last)
			return true;
	return s->ranges.n == 0;
}

void selection_deinit(struct selection *s)
{
	for (unsigned i = 0; i < TRACK_LEVELS; i++)
		VEC_FREE(&s->level[i].ranges);
	VEC_FREE(&s->kernel_ids.ranges);
}

bool selection_is_all(const struct selection *s)
{
	for (unsigned i = 0; i < TRACK_LEVELS; i++)
		if (s->level[i].ranges.n)
			return false;
	return !s->has_from && !s->has_to && !s->has_kernel_filter;
}

static bool window_touches(const struct selection *s, const struct trace *t, const struct track *k)
{
	uint64_t from, to;

	if (!s->has_from && !s->has_to)
		return true;
	selection_window(s, t, k, &from, &to);
	return k->begin_cyc < to && k->end_cyc > from;
}

bool selection_has(const struct selection *s, const struct trace *t, const struct track *k)
{
	if (!s)
		return true;
	for (unsigned i = 0; i < TRACK_LEVELS; i++)
		if (!number_set_has(&s->level[i], k->coord[i]))
			return false;
	/* a wave of unknown kernel passes: such a capture holds only one kernel */
	if (s->has_kernel_filter && k->kernel_id != UINT32_MAX &&
		(s->kernel_ids.ranges.n == 0 || !number_set_has(&s->kernel_ids, k->kernel_id)))
		return false;
	return window_touches(s, t, k);
}

int64_t trace_origin(const struct trace *t)
{
	int64_t origin = 0;

	for (track_idx i = 0; i < t->n_tracks; i++) {
		int64_t begin = trace_aligned(t, t->tracks[i].clock, t->tracks[i].begin_cyc);

		if (i == 0 || begin < origin)
			origin = begin;
	}
	return origin;
}

/* Converts screen time (cycles after the origin) to the clock of track k; 0 if before its start. */
static uint64_t to_track_clock(
	const struct trace *t, const struct track *k, int64_t origin, uint64_t cyc)
{
	int64_t offset = k->clock < t->n_clocks ? t->clocks[k->clock].offset_cyc : 0;
	__int128 own = (__int128)origin + cyc - offset;

	if (own < 0)
		return 0;
	return own > UINT64_MAX ? UINT64_MAX : (uint64_t)own;
}

void selection_window(const struct selection *s, const struct trace *t, const struct track *k,
	uint64_t *from, uint64_t *to)
{
	int64_t origin;

	*from = 0;
	*to = UINT64_MAX;
	if (!s || (!s->has_from && !s->has_to))
		return;
	origin = s->has_origin ? s->origin_cyc : trace_origin(t);
	if (s->has_from)
		*from = to_track_clock(t, k, origin, s->from_cyc);
	if (s->has_to)
		*to = to_track_clock(t, k, origin, s->to_cyc);
}
