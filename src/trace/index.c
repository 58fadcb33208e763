/* SPDX-License-Identifier: Apache-2.0 */
/* index.c: prefix sums of lanes, and the cursor over them. */
#include "trace/index.h"

static inline struct lane_pieces pieces_of(const struct lane *l, uint32_t i, uint32_t cover)
{
	uint32_t start = l->start[i] > cover ? l->start[i] : cover;
	uint32_t issue = l->start[i] + l->stall[i], end = l->start[i] + l->dur[i];

	issue = issue > start ? issue : start;
	end = end > start ? end : start;
	issue = issue < end ? issue : end;
	return (struct lane_pieces){cover, start, issue, end};
}

static inline uint32_t part(uint32_t from, uint32_t to, uint32_t limit)
{
	to = to < limit ? to : limit;
	return to > from ? to - from : 0;
}

/* Adds what slice i has before `limit`; a whole slice also counts as a record. */
static inline void add_class(const struct lane *l, uint32_t i, const struct lane_pieces *p,
	uint32_t limit, uint64_t sums[LANE_SUMS])
{
	sums[l->slot[l->inst_class[i]]] += part(p->stall, p->end, limit);
	sums[SPLIT_STALL] += part(p->stall, p->issue, limit);
	if (l->has_unknown)
		sums[SPLIT_UNKNOWN] += limit == UINT32_MAX && l->code[i] == NO_CODE;
}

enum bucket slice_stall_bucket(enum inst_class c)
{
	return c == CLASS_FLAG_WAIT || c == CLASS_SYNC ? BUCKET_WAIT : class_stall_bucket(c);
}

enum bucket slice_issue_bucket(enum inst_class c)
{
	if (c == CLASS_FLAG_WAIT || c == CLASS_SYNC)
		return BUCKET_WAIT;
	return c == CLASS_DRAIN ? BUCKET_DRAIN : BUCKET_ISSUE;
}

static inline void add_pieces(const struct lane *l, const struct lane_split *s, uint32_t i,
	const struct lane_pieces *p, uint32_t limit, uint64_t sums[LANE_SUMS])
{
	bool is_cause = s->mode == SPLIT_CAUSE;
	unsigned gap = is_cause ? s->keys[i] >> 4 : BUCKET_IDLE;
	unsigned stall = is_cause ? s->keys[i] & 15u : slice_stall_bucket(l->inst_class[i]);
	unsigned issue =
		is_cause ? s->issue_key[l->inst_class[i]] : slice_issue_bucket(l->inst_class[i]);

	/* as account.h: what reaches beyond the track's end is cut off */
	limit = limit < lane_end(l) ? limit : lane_end(l);
	sums[gap % SPLIT_KEYS] += part(p->gap, p->stall, limit);
	sums[stall % SPLIT_KEYS] += part(p->stall, p->issue, limit);
	sums[issue % SPLIT_KEYS] += part(p->issue, p->end, limit);
}

static inline void add_split(const struct lane *l, const struct lane_split *s, uint32_t i,
	const struct lane_pieces *p, uint32_t limit, uint64_t sums[LANE_SUMS])
{
	if (s->mode == SPLIT_SLICE)
		sums[s->keys[i] % SPLIT_KEYS] += part(p->stall, p->end, limit);
	else
		add_pieces(l, s, i, p, limit, sums);
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
	uint32_t(*sums)[LANE_SUMS] = (uint32_t(*)[LANE_SUMS])l->sums;
	uint64_t now[LANE_SUMS] = {0};
	uint32_t at = first_cover(l);

	l->has_unknown = true;
	for (uint32_t i = 0; i < l->n; i++) {
		struct lane_pieces p = pieces_of(l, i, at);

		if (i % LANE_BLOCK == 0) {
			cover[i / LANE_BLOCK] = at;
			for (unsigned k = 0; k < LANE_SUMS; k++)
				sums[i / LANE_BLOCK][k] = (uint32_t)now[k];
		}
		add_class(l, i, &p, UINT32_MAX, now);
		at = p.end;
	}
}

void lane_split_index(const struct lane *l, struct lane_split *s, uint32_t (*sums)[SPLIT_KEYS])
{
	uint64_t now[LANE_SUMS] = {0};
	uint32_t at = first_cover(l);

	for (uint32_t i = 0; i < l->n; i++) {
		struct lane_pieces p = pieces_of(l, i, at);

		if (i % LANE_BLOCK == 0)
			for (unsigned k = 0; k < SPLIT_KEYS; k++)
				sums[i / LANE_BLOCK][k] = (uint32_t)now[k];
		add_split(l, s, i, &p, UINT32_MAX, now);
		at = p.end;
	}
	s->sums = (const uint32_t(*)[SPLIT_KEYS])sums;
}

uint32_t lane_block_at(const struct lane *l, uint32_t rel)
{
	uint32_t lo = 0, hi = lane_blocks(l->n);

	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (l->cover[mid] <= rel)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

struct lane_pieces lane_pieces_after(const struct lane *l, uint32_t i, uint32_t cover)
{
	return pieces_of(l, i, cover);
}

struct lane_pieces lane_pieces_of(const struct lane *l, uint32_t i)
{
	uint32_t cover = l->cover[i / LANE_BLOCK];

	for (uint32_t k = i / LANE_BLOCK * LANE_BLOCK; k < i; k++)
		if (l->start[k] + l->dur[k] > cover)
			cover = l->start[k] + l->dur[k];
	return pieces_of(l, i, cover);
}

static void load_block(struct split_cursor *k, const struct lane *l, uint32_t b)
{
	k->i = b * LANE_BLOCK;
	k->cover = l->n ? l->cover[b] : first_cover(l);
	for (unsigned j = 0; j < LANE_SUMS; j++)
		k->sums[j] = 0;
	if (!l->n)
		return;
	if (k->splits)
		for (unsigned j = 0; j < SPLIT_KEYS; j++)
			k->sums[j] = k->splits[k->lane].sums[b][j];
	else
		for (unsigned j = 0; j < LANE_SUMS; j++)
			k->sums[j] = l->sums[b][j];
}

void split_begin(struct split_cursor *k, const struct columns *c, const struct lane_split *splits,
	track_idx track)
{
	*k = (struct split_cursor){.c = c, .splits = splits};
	k->lane = c->first_lane[track];
	k->end_lane = c->first_lane[track + 1];
	load_block(k, &c->lanes[k->lane], 0);
}

static void add(const struct split_cursor *k, const struct lane *l, uint32_t i, uint32_t limit,
	uint64_t sums[LANE_SUMS])
{
	struct lane_pieces p = pieces_of(l, i, (uint32_t)k->cover);

	if (k->splits)
		add_split(l, &k->splits[k->lane], i, &p, limit, sums);
	else
		add_class(l, i, &p, limit, sums);
}

/* What lies behind the last slice of the lane: time until the next lane or the track's end. */
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

/* Brings the cursor behind all slices of the lane that end by rel. */
static void advance(struct split_cursor *k, const struct lane *l, uint32_t rel)
{
	uint32_t next = k->i / LANE_BLOCK + 1;

	if (next < lane_blocks(l->n) && l->cover[next] <= rel)
		load_block(k, l, lane_block_at(l, rel));
	while (k->i < l->n) {
		struct lane_pieces p = pieces_of(l, k->i, (uint32_t)k->cover);

		if (p.end > rel)
			break;
		add(k, l, k->i, UINT32_MAX, k->sums);
		k->cover = p.end;
		k->i++;
	}
}

void split_ahead(const struct split_cursor *k, uint64_t t, uint32_t *block)
{
	const struct lane *l = &k->c->lanes[k->lane];
	uint32_t n = lane_blocks(l->n), b = *block, step = 1, at;
	uint32_t rel;

	if (t < l->base_cyc || t - l->base_cyc >= UINT32_MAX || b >= n)
		return;
	rel = (uint32_t)(t - l->base_cyc);
	while (step < n - b && l->cover[b + step] <= rel) {
		b += step;
		step *= 2;
	}
	for (; step; step /= 2)
		if (step < n - b && l->cover[b + step] <= rel)
			b += step;
	if (b <= *block)
		return;
	*block = b;
	at = b * LANE_BLOCK;
	for (unsigned i = 0; i < LANE_BLOCK; i += 16) {
		__builtin_prefetch(l->start + at + i);
		__builtin_prefetch(l->dur + at + i);
		__builtin_prefetch(l->stall + at + i);
	}
	__builtin_prefetch(l->inst_class + at);
	if (k->splits)
		__builtin_prefetch(k->splits[k->lane].sums + b);
	else
		__builtin_prefetch(l->sums + b);
}

static void next_lane(struct split_cursor *k)
{
	const struct lane *l = &k->c->lanes[k->lane];

	advance(k, l, UINT32_MAX);
	add_tail(k, l, UINT64_MAX, k->sums);
	for (unsigned j = 0; j < LANE_SUMS; j++)
		k->before[j] += k->sums[j];
	k->passed += l->n;
	k->lane++;
	load_block(k, &l[1], 0);
}

uint32_t split_at(struct split_cursor *k, uint64_t t, uint64_t out[LANE_SUMS], uint32_t *n_begun)
{
	const struct lane *l;
	uint64_t rel;

	while (k->lane + 1 < k->end_lane && k->c->lanes[k->lane + 1].base_cyc <= t)
		next_lane(k);
	l = &k->c->lanes[k->lane];
	rel = t > l->base_cyc ? t - l->base_cyc : 0;
	rel = rel < UINT32_MAX ? rel : UINT32_MAX;
	advance(k, l, (uint32_t)rel);
	for (unsigned j = 0; j < LANE_SUMS; j++)
		out[j] = k->before[j] + k->sums[j];
	*n_begun = k->passed + k->i;
	if (k->i < l->n) {
		*n_begun += l->start[k->i] < rel;
		if (rel < UINT32_MAX)
			add(k, l, k->i, (uint32_t)rel, out);
	} else {
		add_tail(k, l, t, out);
	}
	return k->passed + k->i;
}
