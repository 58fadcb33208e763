/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_rows.c: reads slices from the columns of a block, but only those that are wanted. Nearly
 * all varints are one byte: a run of them is read at once, in loops that compilers vectorise. With
 * a filter, a run that cannot pass it is only summed up and skipped.
 */
#include "trace/packed_rows.h"

#include "codec/varint.h"

#define RUN 32u			      /* slices that are read, or skipped, at once */
#define LONG_BITS 0x8080808080808080u /* set in bytes of varints that continue in the next byte */
#define ODD_BITS 0x0101010101010101u  /* set in zigzag bytes that are negative */

/* The unread rest of a piece. */
struct rows_reader {
	const struct block_code *k;
	uint32_t scale;
	unsigned streams; /* bit mask of the streams that are read */
	const uint8_t *p[STREAM_COUNT], *end[STREAM_COUNT];
};

static bool reads(const struct rows_reader *r, unsigned s)
{
	return r->streams & 1u << s;
}

static bool has_run(const struct rows_reader *r, unsigned s)
{
	return r->end[s] - r->p[s] >= RUN;
}

/* OR of all bytes of a run. */
static inline uint64_t bits_of_run(const uint8_t *p)
{
	uint64_t w[RUN / 8];

	memcpy(w, p, RUN);
	return w[0] | w[1] | w[2] | w[3];
}

/* --- all of them --- */

static inline void widen_run(const uint8_t *restrict p, uint32_t scale, uint32_t *restrict out)
{
	for (unsigned i = 0; i < RUN; i++)
		out[i] = p[i] * scale;
}

static inline void count_eight(uint32_t first, uint32_t *out)
{
	for (unsigned i = 0; i < 8; i++)
		out[i] = first + i;
}

const uint8_t *block_read_u32s(
	const uint8_t *p, const uint8_t *end, uint32_t scale, uint32_t n, uint32_t *out)
{
	uint64_t v;

	for (uint32_t i = 0; i < n;) {
		if (n - i >= RUN && end - p >= RUN && !(bits_of_run(p) & LONG_BITS)) {
			widen_run(p, scale, out + i);
			i += RUN;
			p += RUN;
			continue;
		}
		for (uint32_t stop = n - i < 8 ? n : i + 8; i < stop; i++) {
			p = varint_get(p, end, &v);
			if (!p || v > UINT32_MAX)
				return NULL;
			out[i] = (uint32_t)v * scale;
		}
	}
	return p;
}

static bool take_u32s(struct rows_reader *r, enum packed_stream s, uint32_t n, uint32_t *out)
{
	const uint8_t *p = block_read_u32s(r->p[s], r->end[s], r->scale, n, out);

	if (p)
		r->p[s] = p;
	return p != NULL;
}

/* The issue stream holds durations minus stalls. */
static bool take_lengths(struct rows_reader *r, uint32_t n, struct track_data *d)
{
	uint32_t *dur = d->dur_cyc + d->n, *stall = d->stall_cyc + d->n, is_bad = 0;

	if (!take_u32s(r, STREAM_STALL, n, stall) || !take_u32s(r, STREAM_ISSUE, n, dur))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		dur[i] += stall[i];
		is_bad |= dur[i] < stall[i];
	}
	return !is_bad;
}

/* Starts of eight slices with gaps, none of them negative. */
static inline uint64_t start_eight(
	const uint8_t *gap, uint32_t scale, const uint32_t *dur, uint64_t at, uint64_t *start)
{
	for (unsigned i = 0; i < 8; i++) {
		start[i] = at + (uint64_t)(gap[i] >> 1) * scale;
		at = start[i] + dur[i];
	}
	return at;
}

/* As start_eight(), without gaps: each slice begins where the previous one ended. */
static inline uint64_t start_eight_close(const uint32_t *dur, uint64_t at, uint64_t *start)
{
	for (unsigned i = 0; i < 8; i++) {
		start[i] = at;
		at += dur[i];
	}
	return at;
}

static bool take_starts(
	struct rows_reader *r, uint32_t n, struct piece_cursor *c, struct track_data *d)
{
	const uint8_t *p = r->p[STREAM_GAP], *end = r->end[STREAM_GAP];
	uint64_t *start = d->start_cyc + d->n, floor = c->start_cyc, at = c->end_cyc, v;
	const uint32_t *dur = d->dur_cyc + d->n;

	for (uint32_t i = 0; i < n;) {
		uint64_t gaps = UINT64_MAX;

		if (n - i >= 8 && end - p >= 8 && at >= floor)
			memcpy(&gaps, p, 8);
		if (!(gaps & (LONG_BITS | ODD_BITS))) {
			at = gaps ? start_eight(p, r->scale, dur + i, at, start + i)
				  : start_eight_close(dur + i, at, start + i);
			if (at < floor)
				return false;
			i += 8;
			p += 8;
			floor = start[i - 1];
			continue;
		}
		p = varint_get(p, end, &v);
		if (!p)
			return false;
		start[i] = at + (uint64_t)unzigzag(v) * r->scale;
		if (start[i] < floor)
			return false;
		floor = start[i];
		at = start[i] + dur[i];
		i++;
	}
	c->start_cyc = floor;
	c->end_cyc = at;
	r->p[STREAM_GAP] = p;
	return true;
}

/* How many rows at p just follow their predecessor: a run, eight, or 0 (decode a number). */
static inline uint32_t straight_rows(const uint8_t *p, const uint8_t *end, uint32_t n)
{
	uint64_t eight = 1;

	if (n >= 8 && end - p >= 8)
		memcpy(&eight, p, 8);
	if (eight)
		return 0;
	return n >= RUN && end - p >= RUN && !bits_of_run(p) ? RUN : 8;
}

static bool take_code(struct rows_reader *r, uint32_t n, struct piece_cursor *c, code_idx *code)
{
	const uint8_t *p = r->p[STREAM_CODE], *end = r->end[STREAM_CODE];
	uint32_t last = c->code, n_code = r->k->n, is_bad = 0;
	uint64_t v;

	for (uint32_t i = 0; i < n;) {
		uint32_t m = straight_rows(p, end, n - i);

		if (m) {
			/* the first may be row 0, which follows no row */
			is_bad |= (last + m >= n_code) | (last + m < m - 1);
			for (uint32_t k = 0; k < m; k += 8)
				count_eight(last + 1 + k, code + i + k);
			last += m;
			i += m;
			p += m;
			continue;
		}
		p = varint_get(p, end, &v);
		if (!p)
			return false;
		last += 1 + (uint32_t)unzigzag(v);
		is_bad |= (last >= n_code) & (last != NO_CODE);
		code[i++] = last;
	}
	c->code = last;
	r->p[STREAM_CODE] = p;
	return !is_bad;
}

static bool take_classes(struct rows_reader *r, uint32_t n, const code_idx *code, uint8_t *out)
{
	const struct block_code *k = r->k;
	const uint8_t *kind = r->p[STREAM_CLASS];
	uint32_t is_bad = 0;

	for (uint32_t i = 0; i < n; i++) {
		out[i] = kind[i] ^ k->class[code[i] < k->n ? code[i] : k->n];
		is_bad |= out[i] >= CLASS_COUNT;
	}
	r->p[STREAM_CLASS] += n;
	return !is_bad;
}

/* Appends the next n slices to d. */
static bool take_rows(
	struct rows_reader *r, uint32_t n, struct piece_cursor *c, struct track_data *d)
{
	if (reads(r, STREAM_STALL) && !take_lengths(r, n, d))
		return false;
	if (reads(r, STREAM_GAP) && !take_starts(r, n, c, d))
		return false;
	if (reads(r, STREAM_CODE) && !take_code(r, n, c, d->code + d->n))
		return false;
	if (reads(r, STREAM_CLASS) && !take_classes(r, n, d->code + d->n, d->inst_class + d->n))
		return false;
	if (reads(r, STREAM_TAG)) {
		memcpy(d->tag + d->n, r->p[STREAM_TAG], n);
		r->p[STREAM_TAG] += n;
	}
	d->n += n;
	c->done[PIECE_ROWS] += n;
	return true;
}

/* --- some of them --- */

/* With numbers up to this, products and sums over a run fit 32 bits. */
#define USUAL_VALUE (1u << 20)
#define USUAL_SCALE 1024u

/* The sum of the bytes of a run of one-byte varints; four lanes of 16 bits hold it. */
static inline uint64_t sum_bytes(const uint8_t *p)
{
	const uint64_t even = 0x00ff00ff00ff00ffu;
	uint64_t w[RUN / 8], lanes = 0;

	memcpy(w, p, RUN);
	for (unsigned i = 0; i < RUN / 8; i++)
		lanes += (w[i] & even) + (w[i] >> 8 & even);
	return lanes * 0x0001000100010001u >> 48;
}

/* Skips a run of varints, adding them to *sum unless it is NULL. False: one is unusual. */
static bool pass_values(const uint8_t **at, const uint8_t *end, uint64_t *sum, uint32_t *last)
{
	const uint8_t *p = *at;
	uint64_t v = 0, all = 0;

	if (!(bits_of_run(p) & LONG_BITS)) {
		*at = p + RUN;
		*last += p[RUN - 1];
		if (sum)
			*sum += sum_bytes(p);
		return true;
	}
	for (unsigned i = 0; i < RUN; i++) {
		p = varint_get(p, end, &v);
		if (!p || v > USUAL_VALUE)
			return false;
		all += v;
	}
	*at = p;
	*last += (uint32_t)v;
	if (sum)
		*sum += all;
	return true;
}

/* Reads the rows of a run and whether any passes the filter. False: one is invalid. */
static bool pass_code(struct rows_reader *r, const struct slice_filter *f, const uint8_t **at,
	uint32_t *code, bool *is_wanted)
{
	const uint8_t *p = *at, *end = r->end[STREAM_CODE];
	uint32_t last = *code, n_code = r->k->n, n_wanted = f->last_code - f->first_code;
	uint32_t is_one = 0, is_bad = 0;
	uint64_t v;

	for (uint32_t i = 0; i < RUN;) {
		uint32_t m = straight_rows(p, end, RUN - i);

		if (m) {
			is_one |= (last + 1 <= f->last_code) & (last + m >= f->first_code);
			is_bad |= (last + m >= n_code) | (last + m < m - 1);
			last += m;
			i += m;
			p += m;
			continue;
		}
		p = varint_get(p, end, &v);
		if (!p)
			return false;
		last += 1 + (uint32_t)unzigzag(v);
		is_one |= last - f->first_code <= n_wanted;
		is_bad |= (last >= n_code) & (last != NO_CODE);
		i++;
	}
	*code = last;
	*at = p;
	*is_wanted = is_one;
	return !is_bad;
}

/* Skips the next run if none of it passes the filter. False: it must be read slice by slice;
 * nothing is changed then. */
static bool pass_run(struct rows_reader *r, const struct slice_filter *f, struct piece_cursor *c)
{
	static const enum packed_stream bytewise[] = {STREAM_GAP, STREAM_CLASS, STREAM_TAG};
	const uint8_t *code = r->p[STREAM_CODE], *gap = r->p[STREAM_GAP];
	const uint8_t *stall = r->p[STREAM_STALL], *issue = r->p[STREAM_ISSUE];
	uint64_t length = 0, at = c->end_cyc;
	uint64_t *sum = reads(r, STREAM_GAP) ? &length : NULL;
	uint32_t row = c->code, last = 0;
	bool is_wanted = true;

	if (reads(r, STREAM_CODE) && !pass_code(r, f, &code, &row, &is_wanted))
		return false;
	if (is_wanted && !reads(r, STREAM_GAP))
		return false;
	if (reads(r, STREAM_STALL) &&
		(!pass_values(&stall, r->end[STREAM_STALL], sum, &last) ||
			!pass_values(&issue, r->end[STREAM_ISSUE], sum, &last)))
		return false;
	if (reads(r, STREAM_GAP)) {
		if (bits_of_run(gap) & (LONG_BITS | ODD_BITS) || at < c->start_cyc)
			return false;
		length = (length + sum_bytes(gap) / 2) * r->scale;
		c->is_past = at > f->last_cyc; /* starts do not fall */
		if ((is_wanted && at <= f->last_cyc && at + length >= f->first_cyc) ||
			at + length < at)
			return false;
		c->end_cyc = at + length;
		c->start_cyc = at + length - (uint64_t)last * r->scale;
	}
	r->p[STREAM_CODE] = code;
	r->p[STREAM_STALL] = stall;
	r->p[STREAM_ISSUE] = issue;
	for (size_t i = 0; i < sizeof(bytewise) / sizeof(bytewise[0]); i++)
		if (reads(r, bytewise[i]))
			r->p[bytewise[i]] += RUN;
	c->code = row;
	c->done[PIECE_ROWS] += RUN;
	return true;
}

static bool is_short(const struct rows_reader *r, enum packed_stream s)
{
	return !reads(r, s) || !(bits_of_run(r->p[s]) & LONG_BITS);
}

/* Reads the other columns of slice i of a run with known rows, at d->n. */
static bool take_one(const struct rows_reader *r, unsigned i, code_idx row, struct track_data *d)
{
	const struct block_code *k = r->k;
	uint32_t n = d->n++;

	d->code[n] = row;
	if (reads(r, STREAM_STALL)) {
		d->stall_cyc[n] = r->p[STREAM_STALL][i] * r->scale;
		d->dur_cyc[n] = d->stall_cyc[n] + r->p[STREAM_ISSUE][i] * r->scale;
	}
	if (reads(r, STREAM_TAG))
		d->tag[n] = r->p[STREAM_TAG][i];
	if (!reads(r, STREAM_CLASS))
		return true;
	d->inst_class[n] = r->p[STREAM_CLASS][i] ^ k->class[row < k->n ? row : k->n];
	return d->inst_class[n] < CLASS_COUNT;
}

/* Takes the slices of the next run whose rows pass the filter. Times are not checked; all numbers
 * must be one byte. */
static bool take_matching(struct rows_reader *r, const struct slice_filter *f,
	struct piece_cursor *c, struct track_data *d)
{
	static const enum packed_stream others[] = {
		STREAM_STALL, STREAM_ISSUE, STREAM_CLASS, STREAM_TAG};
	const code_idx first = f->first_code, n_wanted = f->last_code - first;
	code_idx rows[RUN];
	bool ok = take_code(r, RUN, c, rows);

	for (unsigned i = 0; ok && i < RUN; i++) {
		if (rows[i] - first > n_wanted)
			continue;
		d->number[d->n] = c->done[PIECE_ROWS] + i;
		ok = take_one(r, i, rows[i], d);
	}
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (reads(r, others[i]))
			r->p[others[i]] += RUN;
	c->done[PIECE_ROWS] += RUN;
	return ok;
}

/* Reads n slices and keeps all of them, with their numbers, if any of their times can pass the
 * filter. */
static bool take_wanted(struct rows_reader *r, const struct slice_filter *f, uint32_t n,
	struct piece_cursor *c, struct track_data *d)
{
	uint32_t from = d->n, number = c->done[PIECE_ROWS];

	if (!take_rows(r, n, c, d))
		return false;
	for (uint32_t i = 0; i < n; i++)
		d->number[from + i] = number + i;
	if (!reads(r, STREAM_GAP))
		return true;
	c->is_past = d->start_cyc[from] > f->last_cyc;
	if (c->is_past || d->start_cyc[from + n - 1] < f->first_cyc)
		d->n = from;
	return true;
}

static bool take_some(struct rows_reader *r, const struct slice_filter *f, uint32_t n,
	struct piece_cursor *c, struct track_data *d)
{
	bool is_by_row = reads(r, STREAM_CODE) && !reads(r, STREAM_GAP), ok = true;

	for (uint32_t i = 0; ok && i < n && !c->is_past;) {
		bool is_run = n - i >= RUN;
		uint32_t m = is_run ? RUN : n - i;

		for (unsigned s = STREAM_GAP; s <= STREAM_CODE; s++)
			is_run &= !reads(r, s) || has_run(r, s);
		if (is_run && pass_run(r, f, c))
			ok = true;
		else if (is_run && is_by_row && is_short(r, STREAM_STALL) &&
			 is_short(r, STREAM_ISSUE))
			ok = take_matching(r, f, c, d);
		else
			ok = take_wanted(r, f, m, c, d);
		i += m;
	}
	return ok;
}

/* --- a piece --- */

static bool is_used_up(const struct rows_reader *r)
{
	for (unsigned s = STREAM_GAP; s <= STREAM_TAG; s++)
		if (reads(r, s) && r->p[s] != r->end[s])
			return false;
	return true;
}

bool block_read_rows(const struct block_code *k, const struct piece *pc,
	const uint8_t *const stream[STREAM_COUNT], unsigned want, struct piece_cursor *c,
	struct track_data *d)
{
	struct rows_reader r = {.k = k, .scale = pc->scale, .streams = block_streams(want)};
	uint32_t n = pc->n[PIECE_ROWS];
	bool ok;

	for (unsigned s = STREAM_GAP; s <= STREAM_TAG; s++) {
		r.p[s] = reads(&r, s) ? stream[s] + pc->from[s] : NULL;
		r.end[s] = reads(&r, s) ? r.p[s] + pc->length[s] : NULL;
	}
	if (d->is_part && pc->scale <= USUAL_SCALE)
		ok = take_some(&r, d->filter, n, c, d);
	else if (d->is_part)
		ok = take_wanted(&r, d->filter, n, c, d);
	else
		ok = take_rows(&r, n, c, d);
	return ok && (c->is_past || is_used_up(&r));
}
