/* SPDX-License-Identifier: Apache-2.0 */
/* index.c: prefix sums of lanes, and the cursor over them. */
#include "trace/index.h"

#include <string.h>

#include "base/search.h"

#define WHOLE UINT64_MAX /* limit that includes all of a slice */
#define LANE_FLAGS (LANE_HEAD - 1)

/* Adds the part of slice i before `limit`; a whole slice also counts as a record. */
static inline void add_class(
	const struct lane *l, uint32_t i, struct pieces p, uint64_t limit, uint32_t sums[LANE_HEAD])
{
	p = pieces_cut(p, 0, limit);
	sums[l->slot[l->inst_class[i]]] += (uint32_t)(p.end - p.stall);
	sums[SPLIT_STALL] += (uint32_t)(p.issue - p.stall);
	if (class_stall_bucket(l->inst_class[i]) == BUCKET_WAIT)
		sums[SPLIT_WAIT] += (uint32_t)(p.issue - p.stall);
	if (l->has_unknown)
		sums[SPLIT_UNKNOWN] += limit == WHOLE && l->code[i] == NO_CODE;
}

/* Keys of the sums that the gap before slice i, its stall and its issue go to, by bucket or
 * cause. */
struct piece_keys {
	unsigned gap, stall, issue;
};

static inline struct piece_keys keys_of(
	const struct lane *l, const struct lane_split *s, uint32_t i)
{
	uint8_t c = l->inst_class[i];

	if (s->mode != SPLIT_CAUSE)
		return (struct piece_keys){
			BUCKET_IDLE, class_stall_bucket(c), class_issue_bucket(c)};
	return (struct piece_keys){(s->keys[i] >> 4) % SPLIT_KEYS, (s->keys[i] & 15u) % SPLIT_KEYS,
		s->issue_key[c] % SPLIT_KEYS};
}

static inline void add_split(const struct lane *l, const struct lane_split *s, uint32_t i,
	struct pieces p, uint64_t limit, uint32_t sums[LANE_HEAD])
{
	struct piece_keys key;

	if (s->mode == SPLIT_SLICE) {
		p = pieces_cut(p, 0, limit);
		sums[s->keys[i] % SPLIT_KEYS] += (uint32_t)(p.end - p.stall);
		return;
	}
	p = pieces_cut(p, 0, limit < lane_end(l) ? limit : lane_end(l));
	key = keys_of(l, s, i);
	sums[key.gap] += (uint32_t)(p.stall - p.gap);
	sums[key.stall] += (uint32_t)(p.issue - p.stall);
	sums[key.issue] += (uint32_t)(p.end - p.issue);
}

/* Where the gap before the first slice begins. */
static uint32_t first_cover(const struct lane *l)
{
	uint64_t begin = l->first ? l->base_cyc : l->begin_cyc;

	return begin > l->base_cyc ? (uint32_t)(begin - l->base_cyc) : 0;
}

void lane_index(struct lane *l)
{
	uint32_t *cover = (uint32_t *)l->cover;
	uint32_t(*sums)[LANE_HEAD] = (uint32_t(*)[LANE_HEAD])l->sums;
	uint32_t now[LANE_HEAD] = {0}, at = first_cover(l);
	bool is_plain = true;

	l->has_unknown = true;
	for (uint32_t i = 0; i < l->n; i++) {
		struct pieces p = lane_pieces_after(l, i, at);

		if (i % LANE_MARK == 0)
			cover[i / LANE_MARK] = at;
		if (i % LANE_BLOCK == 0) {
			memcpy(sums[i / LANE_BLOCK], now, LANE_SUMS * sizeof(now[0]));
			if (i)
				sums[i / LANE_BLOCK - 1][LANE_FLAGS] |= is_plain;
			sums[i / LANE_BLOCK][LANE_FLAGS] = is_plain ? LANE_PLAIN_BEFORE : 0;
			is_plain = true;
		}
		is_plain &= l->start[i] >= at;
		add_class(l, i, p, WHOLE, now);
		at = (uint32_t)p.end;
	}
	if (l->n)
		sums[(l->n - 1) / LANE_BLOCK][LANE_FLAGS] |= is_plain;
	l->has_unknown = now[SPLIT_UNKNOWN] > 0;
}

void lane_split_index(const struct lane *l, struct lane_split *s, uint32_t *sums)
{
	uint32_t now[LANE_HEAD] = {0}, at = first_cover(l), limit = lane_end(l), *row = sums;

	for (uint32_t i = 0; i < l->n; i++) {
		struct pieces p = lane_pieces_after(l, i, at);

		if (i % LANE_BLOCK == 0) {
			bool is_cut = s->mode != SPLIT_SLICE && at > limit;

			row = sums + (size_t)(i / LANE_BLOCK) * s->width;
			memcpy(row, now, (s->width - 1) * sizeof(now[0]));
			row[s->width - 1] = l->sums[i / LANE_BLOCK][LANE_FLAGS];
			if (is_cut)
				row[s->width - 1] &= ~LANE_PLAIN_BEFORE;
			if (i && is_cut)
				row[-1] &= ~LANE_PLAIN;
		}
		add_split(l, s, i, p, WHOLE, now);
		at = (uint32_t)p.end;
	}
	if (l->n && s->mode != SPLIT_SLICE && at > limit)
		row[s->width - 1] &= ~LANE_PLAIN;
	s->sums = sums;
}

uint32_t lane_mark_at(const struct lane *l, uint32_t rel)
{
	uint32_t after = 1, n = lane_marks(l->n);

	BISECT(after, n, i, l->cover[i] <= rel);
	return after - 1;
}

uint32_t lane_cover(const struct lane *l, uint32_t i)
{
	uint32_t mark = i < l->n ? i / LANE_MARK : i ? (i - 1) / LANE_MARK : 0;
	uint32_t cover = l->n ? l->cover[mark] : first_cover(l);

	for (uint32_t k = mark * LANE_MARK; k < i; k++)
		cover = (uint32_t)cover_after(cover, l->start[k], l->dur[k]);
	return cover;
}

struct pieces lane_pieces_of(const struct lane *l, uint32_t i)
{
	return lane_pieces_after(l, i, lane_cover(l, i));
}

/* The sums before a block; the last word has its flags. */
static const uint32_t *index_head_of(const struct split_cursor *k, uint32_t lane, uint32_t b)
{
	if (k->splits)
		return k->splits[lane].sums + (size_t)b * k->splits[lane].width;
	return k->c->lanes[lane].sums[b];
}

static uint32_t head_width(const struct split_cursor *k, uint32_t lane)
{
	return k->splits ? k->splits[lane].width : LANE_HEAD;
}

static void load_block(struct split_cursor *k, const struct lane *l, uint32_t b)
{
	k->i = b * LANE_BLOCK;
	k->cover = l->n ? l->cover[(size_t)b * LANE_MARKS] : first_cover(l);
	memset(k->sums, 0, sizeof(k->sums));
	if (l->n && k->splits)
		memcpy(k->sums, index_head_of(k, k->lane, b),
			(k->splits[k->lane].width - 1) * sizeof(k->sums[0]));
	else if (l->n)
		memcpy(k->sums, l->sums[b], LANE_SUMS * sizeof(k->sums[0]));
}

void split_begin(struct split_cursor *k, const struct columns *c, const struct lane_split *splits,
	track_idx track)
{
	*k = (struct split_cursor){.c = c, .splits = splits};
	k->lane = c->first_lane[track];
	k->end_lane = c->first_lane[track + 1];
	load_block(k, &c->lanes[k->lane], 0);
}

static void index_add_slice(const struct split_cursor *k, const struct lane *l, uint32_t i,
	uint64_t limit, uint32_t sums[LANE_HEAD])
{
	struct pieces p = lane_pieces_after(l, i, k->cover);

	if (k->splits)
		add_split(l, &k->splits[k->lane], i, p, limit, sums);
	else
		add_class(l, i, p, limit, sums);
}

/* Adds the time after the lane's last slice, until the next lane or the track's end. */
static void add_tail(
	const struct split_cursor *k, const struct lane *l, uint64_t t, uint64_t sums[LANE_SUMS])
{
	const struct lane_split *s = k->splits ? &k->splits[k->lane] : NULL;
	uint64_t from = l->base_cyc + k->cover, to = l->end_cyc;
	unsigned key;

	if (k->lane + 1 < k->end_lane)
		to = l[1].base_cyc;
	to = to < t ? to : t;
	if (!s || s->mode == SPLIT_SLICE || to <= from)
		return;
	key = s->mode == SPLIT_CAUSE ? s->tail_key : s->is_pipe ? BUCKET_DRAIN : BUCKET_IDLE;
	if (s->mode == SPLIT_BUCKET && k->lane + 1 < k->end_lane)
		key = BUCKET_IDLE;
	sums[key % SPLIT_KEYS] += to - from;
}

/* --- where a time lies --- */

/* The last mark, from m on, whose earlier slices have all ended at rel; guess: estimated
 * distance. */
static uint32_t mark_from(const struct lane *l, uint32_t m, uint32_t guess, uint32_t rel)
{
	uint32_t n = lane_marks(l->n), step = 1, hi;

	if (guess < n - m && l->cover[m + guess] <= rel) {
		m += guess;
		while (step < n - m && l->cover[m + step] <= rel) {
			m += step;
			step *= 2;
		}
		hi = step < n - m ? m + step : n;
	} else {
		hi = guess < n - m ? m + guess : n;
		while (hi - m > step && l->cover[hi - step] > rel) {
			hi -= step;
			step *= 2;
		}
		m = hi - m > step ? hi - step : m;
	}
	m++;
	BISECT(m, hi, i, l->cover[i] <= rel);
	return m - 1;
}

static uint32_t rel_of(const struct lane *l, uint64_t t)
{
	uint64_t rel = t > l->base_cyc ? t - l->base_cyc : 0;

	return rel < UINT32_MAX ? (uint32_t)rel : UINT32_MAX;
}

void split_find(const struct split_cursor *k, const struct split_row *r, struct split_stop *stops)
{
	const struct lane *l = &k->c->lanes[k->lane];
	uint32_t lane = k->lane, m = k->i < l->n ? k->i / LANE_MARK : lane_marks(l->n), guess = 1;

	m -= m && m == lane_marks(l->n);
	for (uint32_t c = 0; c < r->n; c++) {
		uint64_t t = r->t0 + c * r->width;
		uint32_t from;

		for (; lane + 1 < k->end_lane && l[1].base_cyc <= t; lane++, l++)
			m = 0;
		from = m;
		if (l->n)
			m = mark_from(l, m, guess, rel_of(l, t));
		guess = m - from ? m - from : 1;
		if (m + guess * STOPS_AHEAD / 2 < lane_marks(l->n))
			__builtin_prefetch(l->cover + m + guess * STOPS_AHEAD / 2);
		stops[c] = (struct split_stop){lane, m};
	}
}

/* Is the mark nearer to the end of the block than to its beginning, and are sums kept there? */
static bool is_late(const struct lane *l, uint32_t mark)
{
	uint32_t end = (mark / LANE_MARKS + 1) * LANE_BLOCK;

	return mark % LANE_MARKS >= LANE_MARKS / 2 && end < l->n && end;
}

void split_fetch(const struct split_cursor *k, const struct split_stop *s)
{
	const struct lane *l = &k->c->lanes[s->lane];
	uint32_t b = s->mark / LANE_MARKS, at = s->mark * LANE_MARK;
	uint32_t lo = b * LANE_BLOCK, hi = at;

	if (is_late(l, s->mark)) {
		lo = at;
		hi = b * LANE_BLOCK + LANE_BLOCK - LANE_MARK;
		b++;
	}
	__builtin_prefetch(l->start + at);
	for (; lo <= hi; lo += LANE_MARK) {
		__builtin_prefetch(l->dur + lo);
		__builtin_prefetch(l->stall + lo);
		if (l->has_unknown && !k->splits)
			__builtin_prefetch(l->code + lo);
	}
	__builtin_prefetch(l->inst_class + at);
	__builtin_prefetch(index_head_of(k, s->lane, b));
	if (k->splits && k->splits[s->lane].keys)
		__builtin_prefetch(k->splits[s->lane].keys + at);
}

/* How many slices of the lane have ended at rel, for a plain block, where they begin and end in
 * order. */
static uint32_t ended_by(const struct lane *l, uint32_t mark, uint32_t rel)
{
	uint32_t first = mark * LANE_MARK, at = first;
	uint32_t n = l->n - at < LANE_MARK ? l->n - at : LANE_MARK;

	while (n > 1) { /* a mask, not a branch, which would be mispredicted half of the time */
		uint32_t half = n / 2;

		at += half & (0u - (l->start[at + half - 1] <= rel));
		n -= half;
	}
	at += l->start[at] <= rel;
	return at - (at > first && l->start[at - 1] + l->dur[at - 1] > rel);
}

/* --- sums there --- */

/* Adds the whole slices [from, to) of a plain block. */
static void add_plain_classes(
	const struct lane *l, uint32_t from, uint32_t to, uint32_t sums[LANE_HEAD])
{
	const uint8_t *slot = l->slot;
	uint32_t stall = 0, wait = 0;

	for (uint32_t i = from; i < to; i++) {
		uint8_t c = l->inst_class[i];

		sums[slot[c]] += l->dur[i];
		stall += l->stall[i];
		/* a mask, not a branch, which would be mispredicted often */
		wait += l->stall[i] & (0u - (class_stall_buckets[c] == BUCKET_WAIT));
	}
	sums[SPLIT_STALL] += stall;
	sums[SPLIT_WAIT] += wait;
	for (uint32_t i = from; l->has_unknown && i < to; i++)
		sums[SPLIT_UNKNOWN] += l->code[i] == NO_CODE;
}

static void add_plain_pieces(const struct lane *l, const struct lane_split *s, uint32_t from,
	uint32_t to, uint32_t sums[LANE_HEAD])
{
	uint32_t end = from % LANE_MARK ? l->start[from - 1] + l->dur[from - 1]
					: l->cover[from / LANE_MARK];

	for (uint32_t i = from; i < to; i++) {
		struct piece_keys key = keys_of(l, s, i);

		sums[key.gap] += l->start[i] - end;
		sums[key.stall] += l->stall[i];
		sums[key.issue] += l->dur[i] - l->stall[i];
		end = l->start[i] + l->dur[i];
	}
}

static void add_plain(const struct split_cursor *k, const struct lane *l, uint32_t from,
	uint32_t to, uint32_t sums[LANE_HEAD])
{
	const struct lane_split *s = k->splits ? &k->splits[k->lane] : NULL;

	if (!s)
		add_plain_classes(l, from, to, sums);
	else if (s->mode != SPLIT_SLICE)
		add_plain_pieces(l, s, from, to, sums);
	else
		for (uint32_t i = from; i < to; i++)
			sums[s->keys[i] % SPLIT_KEYS] += l->dur[i];
}

/* Moves to a stop in a plain block, from the nearest position whose sums are known. */
static void go(struct split_cursor *k, const struct lane *l, uint32_t mark, uint32_t rel)
{
	uint32_t b = mark / LANE_MARKS, i = ended_by(l, mark, rel), part[LANE_HEAD] = {0};

	if (k->i < b * LANE_BLOCK || k->i > i || i - k->i > LANE_BLOCK / 2)
		load_block(k, l, b + is_late(l, mark));
	if (k->i > i) {
		add_plain(k, l, i, k->i, part);
		for (unsigned j = 0; j < LANE_HEAD; j++)
			k->sums[j] -= part[j];
	} else {
		add_plain(k, l, k->i, i, k->sums);
	}
	k->i = i;
	/* all slices of the mark may have ended; then its cover lies before their end */
	k->cover = i > mark * LANE_MARK ? l->start[i - 1] + l->dur[i - 1] : l->cover[mark];
}

/* Advances the cursor past all slices of the lane that end by rel. */
static void index_advance(struct split_cursor *k, const struct lane *l, uint32_t mark, uint32_t rel)
{
	uint32_t b = mark / LANE_MARKS;
	bool late = is_late(l, mark);

	if (l->n && index_head_of(k, k->lane, b + late)[head_width(k, k->lane) - 1] &
			    (late ? LANE_PLAIN_BEFORE : LANE_PLAIN)) {
		go(k, l, mark, rel);
		return;
	}
	if (l->n && k->i < b * LANE_BLOCK)
		load_block(k, l, b);
	while (k->i < l->n) {
		struct pieces p = lane_pieces_after(l, k->i, k->cover);

		if (p.end > rel)
			break;
		index_add_slice(k, l, k->i, WHOLE, k->sums);
		k->cover = (uint32_t)p.end;
		k->i++;
	}
}

static void next_lane(struct split_cursor *k)
{
	const struct lane *l = &k->c->lanes[k->lane];

	index_advance(k, l, l->n ? lane_marks(l->n) - 1 : 0, UINT32_MAX);
	for (unsigned j = 0; j < LANE_SUMS; j++)
		k->before[j] += k->sums[j];
	add_tail(k, l, UINT64_MAX, k->before);
	k->passed += l->n;
	k->lane++;
	load_block(k, &l[1], 0);
}

uint32_t split_at_stop(struct split_cursor *k, uint64_t t, const struct split_stop *s,
	uint64_t out[LANE_SUMS], uint32_t *n_begun)
{
	uint32_t now[LANE_HEAD], rel;
	const struct lane *l;

	while (k->lane < s->lane)
		next_lane(k);
	l = &k->c->lanes[k->lane];
	rel = rel_of(l, t);
	index_advance(k, l, s->mark, rel);
	memcpy(now, k->sums, sizeof(now));
	*n_begun = k->passed + k->i;
	if (k->i < l->n) {
		*n_begun += l->start[k->i] < rel;
		if (rel < UINT32_MAX)
			index_add_slice(k, l, k->i, rel, now);
	}
	for (unsigned j = 0; j < LANE_SUMS; j++)
		out[j] = k->before[j] + now[j];
	if (k->i == l->n)
		add_tail(k, l, t, out);
	return k->passed + k->i;
}

uint32_t split_at(struct split_cursor *k, uint64_t t, uint64_t out[LANE_SUMS], uint32_t *n_begun)
{
	struct split_row r = {.t0 = t, .n = 1};
	struct split_stop s;

	split_find(k, &r, &s);
	return split_at_stop(k, t, &s, out, n_begun);
}
