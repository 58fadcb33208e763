/* SPDX-License-Identifier: Apache-2.0 */
/* report_part.c: the part of a timeline that a report carries. */
#include "serve/report/report_part.h"

#include "base/search.h"

#include "analysis/selection.h"
#include "base/mem.h"

struct track_loss {
	track_idx track;
	uint64_t lost_cyc;
};

ORDER(by_loss, struct track_loss, DOWN(lost_cyc) UP(track))

static bool keep_waves(struct report_part *p, const char *waves, uint32_t n, struct incore_error *e)
{
	struct number_set set = {0};
	bool ok = number_set_parse(&set, str_of(waves), "--waves", e);

	for (uint32_t i = 0; ok && i < n; i++)
		if (!number_set_has(&set, i))
			p->parts[i].n = 0;
	VEC_FREE(&set.ranges);
	return ok;
}

/* Keeps those of the remaining tracks that lose most. */
static bool keep_hottest(
	struct report_part *p, uint64_t keep, const struct columns *x, struct incore_error *e)
{
	struct track_loss *v = mem_zalloc((size_t)x->n_tracks + 1, sizeof(*v));

	if (!v)
		return err_nomem(e);
	for (track_idx i = 0; i < x->n_tracks; i++) {
		uint64_t sums[LANE_SUMS];
		struct split_cursor k;
		uint32_t begun;

		split_begin(&k, x, NULL, i);
		split_at(&k, UINT64_MAX, sums, &begun);
		v[i] = (struct track_loss){i, sums[SPLIT_STALL]};
	}
	SORT(v, x->n_tracks, by_loss);
	for (track_idx i = 0; i < x->n_tracks; i++) {
		if (p->parts[v[i].track].n && keep)
			keep--;
		else
			p->parts[v[i].track].n = 0;
	}
	mem_free(v);
	return true;
}

static bool parse_window(const char *window, uint64_t *from, uint64_t *to, struct incore_error *e)
{
	struct str text = str_of(window);
	ptrdiff_t dash = str_find(text, "-");

	if (dash > 0 && str_to_u64(str_sub(text, 0, (size_t)dash), from) &&
		str_to_u64(str_sub(text, (size_t)dash + 1, text.n), to) && *from < *to)
		return true;
	return err_set(e, INCORE_USAGE, "bad-option-value",
		"--window expects two rising cycles A-B, not '%s'", text.p);
}

/* Keeps the slices of a track that touch the window; they are contiguous. */
static void keep_window(struct report_part *p, const struct columns *x, uint64_t from, uint64_t to)
{
	for (track_idx t = 0; t < x->n_tracks; t++) {
		uint32_t first = UINT32_MAX, end = 0;

		for (uint32_t k = x->first_lane[t]; k < x->first_lane[t + 1]; k++) {
			const struct lane *l = &x->lanes[k];
			uint32_t i = lane_first_after(l, from);

			for (; i < l->n && lane_start(l, i) < to; i++) {
				first = first == UINT32_MAX ? l->first + i : first;
				end = l->first + i + 1;
			}
		}
		if (first == UINT32_MAX)
			first = end;
		if (p->parts[t].n)
			p->parts[t] = (struct blob_part){first, end - first};
	}
}

static bool say_left_out(struct report_part *p, const struct report_part_options *o,
	const struct columns *x, struct incore_error *e)
{
	uint32_t n = 0;

	for (track_idx i = 0; i < x->n_tracks; i++)
		n += p->parts[i].n == 0;
	sb_printf(&p->left_out, "%s of %s", U64_TEXT(x->n_slices - p->n_slices),
		COUNTED(x->n_slices, "slice"));
	if (n)
		sb_printf(&p->left_out, ", the timeline of %s of %s", U64_TEXT(n),
			COUNTED(x->n_tracks, "track"));
	if (o->window)
		sb_printf(&p->left_out, ", all outside cycles %s", o->window);
	sb_puts(&p->left_out, ". Tables and totals are of the whole capture");
	if (o->no_source)
		sb_puts(&p->left_out, "; the text of sources is left out");
	sb_putc(&p->left_out, '.');
	return !p->left_out.failed || err_nomem(e);
}

static bool nothing_left(const struct columns *x, struct incore_error *e)
{
	if (x->n_failed)
		return err_set(e, INCORE_BAD_INPUT, "nothing-left",
			"no slice is left: %u of %u tracks could not be read", x->n_failed,
			x->n_tracks);
	return err_set(e, INCORE_USAGE, "nothing-left",
		"--waves, --window and --hottest together leave no slice: the capture has tracks 0 "
		"to %u and cycles 0 to %llu",
		x->n_tracks - 1, (unsigned long long)x->end_cyc);
}

bool report_part_make(struct report_part *p, const struct report_part_options *o,
	const struct columns *x, struct incore_error *e)
{
	uint64_t from, to;

	p->n_slices = x->n_slices;
	if (!o->waves && !o->window && o->hottest == REPORT_ALL_TRACKS) {
		if (o->no_source)
			sb_puts(&p->left_out, "the text of sources.");
		return !p->left_out.failed || err_nomem(e);
	}
	p->parts = mem_zalloc((size_t)x->n_tracks + 1, sizeof(*p->parts));
	if (!p->parts)
		return err_nomem(e);
	for (track_idx i = 0; i < x->n_tracks; i++)
		p->parts[i].n = columns_count(x, i);
	if (o->waves && !keep_waves(p, o->waves, x->n_tracks, e))
		return false;
	if (o->hottest != REPORT_ALL_TRACKS && !keep_hottest(p, o->hottest, x, e))
		return false;
	if (o->window) {
		if (!parse_window(o->window, &from, &to, e))
			return false;
		keep_window(p, x, from, to);
	}
	p->n_slices = 0;
	for (track_idx i = 0; i < x->n_tracks; i++)
		p->n_slices += p->parts[i].n;
	if (p->n_slices == 0 && x->n_slices)
		return nothing_left(x, e);
	return say_left_out(p, o, x, e);
}

void report_part_deinit(struct report_part *p)
{
	mem_free(p->parts);
	sb_free(&p->left_out);
}
