/* SPDX-License-Identifier: Apache-2.0 */
/* columns.c: the layout of a lane, and finding slices in it. */
#include "trace/columns.h"

#include "base/mem.h"
#include "trace/index.h"

static size_t columns_rounded(size_t n)
{
	return (n + LANE_ALIGN - 1) & ~(size_t)(LANE_ALIGN - 1);
}

size_t lane_bytes(uint32_t n, bool has_sub)
{
	size_t blocks = lane_blocks(n);

	return blocks * LANE_HEAD * sizeof(uint32_t) +
	       columns_rounded(lane_marks(n) * sizeof(uint32_t)) +
	       4 * columns_rounded(n * sizeof(uint32_t)) + (has_sub ? 3 : 2) * columns_rounded(n);
}

void lane_place(struct lane *l, void *bytes)
{
	size_t blocks = lane_blocks(l->n), column = columns_rounded(l->n * sizeof(uint32_t));
	uint8_t *p = bytes;

	l->sums = (const uint32_t(*)[LANE_HEAD])(void *)p;
	l->cover = (const uint32_t *)(void *)(p += blocks * sizeof(l->sums[0]));
	l->start = (const uint32_t *)(void *)(p +=
					      columns_rounded(lane_marks(l->n) * sizeof(uint32_t)));
	l->dur = (const uint32_t *)(void *)(p += column);
	l->stall = (const uint32_t *)(void *)(p += column);
	l->code = (const code_idx *)(void *)(p += column);
	l->inst_class = p += column;
	l->tag = p += columns_rounded(l->n);
	l->sub = l->n_sub > 1 ? p + columns_rounded(l->n) : NULL;
}

void *lane_alloc(struct lane *l)
{
	void *chunk = mem_zalloc(1, lane_bytes(l->n, l->n_sub > 1) + LANE_ALIGN);

	if (chunk)
		lane_place(l, (uint8_t *)chunk + (LANE_ALIGN - (uintptr_t)chunk % LANE_ALIGN));
	return chunk;
}

static uint64_t on_screen(uint64_t time_cyc, int64_t shift)
{
	int64_t t = (int64_t)time_cyc + shift;

	return t < 0 ? 0 : (uint64_t)t;
}

uint32_t lane_cut(const struct track_data *d, uint32_t from, int64_t shift, uint64_t *base)
{
	uint32_t i = from;

	*base = on_screen(d->begin_cyc, shift);
	if (from > 0 || (d->n && on_screen(d->start_cyc[0], shift) < *base))
		*base = on_screen(d->start_cyc[from], shift);
	else if (d->n && on_screen(d->start_cyc[0], shift) - *base > UINT32_MAX / 2)
		*base = on_screen(
			d->start_cyc[0], shift); /* the first slice is far from the begin stated
						    in its file */
	for (; i < d->n; i++) {
		uint64_t end = on_screen(d->start_cyc[i], shift) + d->dur_cyc[i];

		if (end < *base || end - *base >= UINT32_MAX)
			break;
	}
	/* a single slice too long for 32 bits gets its own lane; lane_fill() cuts it */
	return i > from ? i - from : d->n > from;
}

void lane_fill(struct lane *l, const struct track_data *d, uint32_t from, int64_t shift,
	const uint8_t *sub)
{
	uint32_t *start = (uint32_t *)l->start, *dur = (uint32_t *)l->dur;
	uint32_t *stall = (uint32_t *)l->stall, *code = (uint32_t *)l->code;
	uint8_t *cls = (uint8_t *)l->inst_class, *tag = (uint8_t *)l->tag;

	for (uint32_t i = 0; i < l->n; i++) {
		uint64_t at = on_screen(d->start_cyc[from + i], shift) - l->base_cyc;
		uint32_t len = d->dur_cyc[from + i];

		start[i] = at > UINT32_MAX ? UINT32_MAX : (uint32_t)at;
		dur[i] = len > UINT32_MAX - start[i] ? UINT32_MAX - start[i] : len;
		stall[i] = d->stall_cyc[from + i] < dur[i] ? d->stall_cyc[from + i] : dur[i];
		code[i] = d->code[from + i];
		cls[i] = d->inst_class[from + i];
		tag[i] = d->tag[from + i];
	}
	if (l->sub)
		memcpy((uint8_t *)l->sub, sub + from, l->n);
}

uint32_t lane_pack_sub(const struct track_data *d, uint8_t *sub)
{
	uint64_t end[LANE_MAX_SUB];
	uint32_t n = 0, used = 1;

	for (uint32_t i = 0; i < d->n; i++) {
		uint64_t stop = d->start_cyc[i] + d->dur_cyc[i];
		uint32_t k = 0;

		while (k < n && end[k] > d->start_cyc[i])
			k++;
		if (k == LANE_MAX_SUB)
			k--;
		if (k == n)
			n++;
		end[k] = stop;
		sub[i] = (uint8_t)k;
		used = n > used ? n : used;
	}
	return used;
}

uint32_t columns_count(const struct columns *c, track_idx track)
{
	const struct lane *last;

	if (track >= c->n_tracks)
		return 0;
	last = &c->lanes[c->first_lane[track + 1] - 1];
	return last->first + last->n;
}

const struct lane *columns_slice(
	const struct columns *c, track_idx track, uint32_t slice, uint32_t *i)
{
	if (track >= c->n_tracks)
		return NULL;
	for (uint32_t k = c->first_lane[track]; k < c->first_lane[track + 1]; k++) {
		const struct lane *l = &c->lanes[k];

		if (slice - l->first < l->n) {
			*i = slice - l->first;
			return l;
		}
	}
	return NULL;
}

uint32_t lane_first_after(const struct lane *l, uint64_t t)
{
	uint32_t rel, i;

	if (t < l->base_cyc)
		return 0;
	if (t - l->base_cyc >= UINT32_MAX)
		return l->n;
	rel = (uint32_t)(t - l->base_cyc);
	for (i = lane_mark_at(l, rel) * LANE_MARK; i < l->n && l->start[i] + l->dur[i] <= rel; i++)
		;
	return i;
}

static bool lane_has_unknown(const struct lane *l)
{
	uint32_t last = l->n ? lane_blocks(l->n) - 1 : 0;

	if (l->n && l->sums[last][SPLIT_UNKNOWN])
		return true;
	for (uint32_t i = last * LANE_BLOCK; i < l->n; i++)
		if (l->code[i] == NO_CODE)
			return true;
	return false;
}

bool columns_number(struct columns *c)
{
	uint32_t k = 0;

	c->n_slices = c->end_cyc = 0;
	c->first_lane = mem_zalloc((size_t)c->n_tracks + 1, sizeof(*c->first_lane));
	if (!c->first_lane)
		return false;
	for (track_idx i = 0; i < c->n_tracks; i++) {
		c->first_lane[i] = k;
		for (; k < c->n_lanes && c->lanes[k].track == i; k++) {
			struct lane *l = &c->lanes[k];
			uint64_t end = l->end_cyc;

			if (l->n) {
				uint64_t m = lane_marks(l->n) - 1;

				end = l->base_cyc + l->cover[m];
				for (uint64_t s = m * LANE_MARK; s < l->n; s++)
					if (l->base_cyc + l->start[s] + l->dur[s] > end)
						end = l->base_cyc + l->start[s] + l->dur[s];
			}
			l->has_unknown = lane_has_unknown(l);
			c->n_slices += l->n;
			c->end_cyc = end > c->end_cyc ? end : c->end_cyc;
			c->end_cyc = l->end_cyc > c->end_cyc ? l->end_cyc : c->end_cyc;
		}
	}
	c->first_lane[c->n_tracks] = k;
	return k == c->n_lanes;
}
