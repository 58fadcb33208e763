/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_read.c: a packed file as a trace. Tables are read at once; tracks when asked for, out of
 * the mapped file. Each track_data keeps the streams of the block it touched last.
 *
 * Parts: slices; pieces of a block; the file as a trace.
 */
#include <zstd.h>

#include "base/hash.h"
#include "base/mem.h"
#include "codec/varint.h"
#include "codec/zstd.h"
#include "trace/packed.h"
#include "trace/packed_file.h"

/*
 * The slices of a piece, read from their columns of bytes. Internal to the reader of packed files.
 */

/* --- slices ----------------------------------------------------------------------------------- */

/*
 * Reads slices from the columns of a block, but only those that are wanted. Nearly all varints are
 * one byte: a run of them is read at once, in loops that compilers vectorise. With a filter, a run
 * that cannot pass it is only summed up and skipped.
 */

static unsigned block_streams(unsigned want);

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

static bool packed_read_has_run(const struct rows_reader *r, unsigned s)
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

/* Reads n varints, each multiplied by scale. Returns where they end, or NULL if they are invalid. */
static const uint8_t *block_read_u32s(
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
static bool packed_read_take_lengths(struct rows_reader *r, uint32_t n, struct track_data *d)
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

static bool packed_read_take_classes(
	struct rows_reader *r, uint32_t n, const code_idx *code, uint8_t *out)
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
	if (reads(r, STREAM_STALL) && !packed_read_take_lengths(r, n, d))
		return false;
	if (reads(r, STREAM_GAP) && !take_starts(r, n, c, d))
		return false;
	if (reads(r, STREAM_CODE) && !take_code(r, n, c, d->code + d->n))
		return false;
	if (reads(r, STREAM_CLASS) &&
		!packed_read_take_classes(r, n, d->code + d->n, d->inst_class + d->n))
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
static inline uint64_t packed_read_sum_bytes(const uint8_t *p)
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
			*sum += packed_read_sum_bytes(p);
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
		length = (length + packed_read_sum_bytes(gap) / 2) * r->scale;
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

static bool packed_read_is_short(const struct rows_reader *r, enum packed_stream s)
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
			is_run &= !reads(r, s) || packed_read_has_run(r, s);
		if (is_run && pass_run(r, f, c))
			ok = true;
		else if (is_run && is_by_row && packed_read_is_short(r, STREAM_STALL) &&
			 packed_read_is_short(r, STREAM_ISSUE))
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

/* Appends the slices of a piece to d, which has room for all of them: the columns that are wanted
 * and, with a filter, not much more than passes it. False: the bytes are invalid. */
static bool block_read_rows(const struct block_code *k, const struct packed_piece *pc,
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

/* --- pieces of a block ------------------------------------------------------------------------ */

/*
 * Reads the pieces of one block: states, stated waits, and slices.
 */

static bool read_piece_record(const uint8_t **p, const uint8_t *end, struct packed_piece *pc)
{
	uint64_t v[1 + PIECE_KINDS + BLOCK_VARINTS] = {0};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		*p = varint_get(*p, end, &v[i]);
		if (!*p || v[i] > UINT32_MAX)
			return false;
	}
	pc->scale = (uint32_t)v[0];
	for (int k = 0; k < PIECE_KINDS; k++)
		pc->n[k] = (uint32_t)v[1 + k];
	for (size_t s = 0; s < BLOCK_VARINTS; s++)
		pc->length[block_varints[s]] = (uint32_t)v[1 + PIECE_KINDS + s];
	pc->length[STREAM_CLASS] = pc->length[STREAM_TAG] = pc->n[PIECE_ROWS];
	pc->length[STREAM_STATE] = pc->n[PIECE_STATES];
	return true;
}

/* Reads n_pieces records of STREAM_PIECES; false when they do not fit the sizes of the streams. */
static bool block_read_pieces(const uint8_t *p, size_t size, const uint64_t raw_bytes[STREAM_COUNT],
	uint32_t n_pieces, struct packed_piece *out)
{
	const uint8_t *end = p + size;
	uint64_t at[STREAM_COUNT] = {0}, n[PIECE_KINDS] = {0};

	for (uint32_t i = 0; i < n_pieces; i++) {
		memset(&out[i], 0, sizeof(out[i]));
		if (!read_piece_record(&p, end, &out[i]))
			return false;
		for (int s = STREAM_GAP; s < STREAM_COUNT; s++) {
			out[i].from[s] = (uint32_t)at[s];
			at[s] += out[i].length[s];
			if (at[s] > raw_bytes[s] || at[s] > UINT32_MAX)
				return false;
		}
		for (int k = 0; k < PIECE_KINDS; k++) {
			n[k] += out[i].n[k];
			if (n[k] > block_max[k])
				return false;
		}
	}
	for (int s = STREAM_GAP; s < STREAM_COUNT; s++)
		if (at[s] != raw_bytes[s])
			return false;
	return p == end;
}

static bool packed_read_states(const struct packed_piece *pc,
	const uint8_t *const stream[STREAM_COUNT], struct track_data *d)
{
	uint32_t n = pc->n[PIECE_STATES];
	const uint8_t *state, *dur, *end;

	if (n == 0)
		return true;
	state = stream[STREAM_STATE] + pc->from[STREAM_STATE];
	dur = stream[STREAM_STATE_DUR] + pc->from[STREAM_STATE_DUR];
	end = dur + pc->length[STREAM_STATE_DUR];
	for (uint32_t i = 0; i < n; i++) {
		if (state[i] >= STATE_COUNT)
			return false;
		d->state[d->n_states + i] = state[i];
	}
	if (block_read_u32s(dur, end, pc->scale, n, d->state_dur_cyc + d->n_states) != end)
		return false;
	d->n_states += n;
	return true;
}

static bool packed_read_is_code(const struct block_code *k, code_idx c)
{
	return c < k->n || c == NO_CODE;
}

static bool packed_read_waits(const struct block_code *k, const struct packed_piece *pc,
	const uint8_t *p, struct piece_cursor *c, struct track_data *d)
{
	const uint8_t *end = p + pc->length[STREAM_WAITS];

	for (uint32_t i = 0; i < pc->n[PIECE_WAITS]; i++) {
		struct stated_wait *w = &d->stated_waits[d->n_stated_waits];
		uint64_t v[3];

		for (int j = 0; j < 3; j++) {
			p = varint_get(p, end, &v[j]);
			if (!p)
				return false;
		}
		w->wait = c->wait + (uint32_t)unzigzag(v[0]);
		w->n = (uint32_t)v[1];
		w->first = c->n_named + (uint32_t)unzigzag(v[2]);
		if (v[1] > UINT32_MAX || !packed_read_is_code(k, w->wait))
			return false;
		c->wait = w->wait;
		c->n_named = w->first + w->n;
		d->n_stated_waits++;
	}
	return p == end;
}

static bool packed_read_producers(const struct block_code *k, const struct packed_piece *pc,
	const uint8_t *p, struct piece_cursor *c, struct track_data *d)
{
	const uint8_t *end = p + pc->length[STREAM_PRODUCERS];
	uint64_t v;

	for (uint32_t i = 0; i < pc->n[PIECE_PRODUCERS]; i++) {
		p = varint_get(p, end, &v);
		if (!p)
			return false;
		c->producer += (uint32_t)unzigzag(v);
		if (!packed_read_is_code(k, c->producer))
			return false;
		d->stated_producers[d->n_stated_producers++] = c->producer;
	}
	return p == end;
}

/* Bit mask of the streams needed for `want` (enum track_want as for loading). */
static unsigned block_streams(unsigned want)
{
	unsigned bits = 1u << STREAM_PIECES;
	bool has_slices = !(want & TRACK_NO_SLICES);

	if (has_slices && !(want & TRACK_NO_START))
		bits |= 1u << STREAM_GAP;
	if (has_slices &&
		(want & (TRACK_NO_START | TRACK_NO_LENGTH)) != (TRACK_NO_START | TRACK_NO_LENGTH))
		bits |= 1u << STREAM_ISSUE | 1u << STREAM_STALL;
	if (has_slices &&
		(want & (TRACK_NO_CODE | TRACK_NO_CLASS)) != (TRACK_NO_CODE | TRACK_NO_CLASS))
		bits |= 1u << STREAM_CODE;
	if (has_slices && !(want & TRACK_NO_CLASS))
		bits |= 1u << STREAM_CLASS;
	if (has_slices && !(want & TRACK_NO_TAG))
		bits |= 1u << STREAM_TAG;
	if (want & TRACK_STATES)
		bits |= 1u << STREAM_STATE | 1u << STREAM_STATE_DUR;
	if (want & TRACK_STATED_WAITS)
		bits |= 1u << STREAM_WAITS | 1u << STREAM_PRODUCERS;
	return bits;
}

/* Appends a piece to d, which must have room. `stream` holds the wanted streams. False: the bytes
 * are invalid. */
static bool block_read_piece(const struct block_code *k, const struct packed_piece *pc,
	const uint8_t *const stream[STREAM_COUNT], unsigned want, struct piece_cursor *c,
	struct track_data *d)
{
	if (pc->scale == 0)
		return false;
	if (!(want & TRACK_NO_SLICES) && pc->n[PIECE_ROWS] > 0 &&
		!block_read_rows(k, pc, stream, want, c, d))
		return false;
	if (want & TRACK_STATES && !packed_read_states(pc, stream, d))
		return false;
	if (!(want & TRACK_STATED_WAITS))
		return true;
	return (pc->n[PIECE_WAITS] == 0 ||
		       packed_read_waits(
			       k, pc, stream[STREAM_WAITS] + pc->from[STREAM_WAITS], c, d)) &&
	       (pc->n[PIECE_PRODUCERS] == 0 ||
		       packed_read_producers(
			       k, pc, stream[STREAM_PRODUCERS] + pc->from[STREAM_PRODUCERS], c, d));
}

/* --- the file as a trace ---------------------------------------------------------------------- */

struct packed_ctx { /* trace.loader_ctx, in the trace's arena */
	struct packed_file file;
	struct packed_dir dir;
	uint32_t *block_of; /* first block of each track */
	struct block_code code;
	const char *path;
};

struct packed_scratch { /* track_data.loader_scratch */
	const struct packed_ctx *ctx;
	uint64_t hash[2]; /* hash of its content, in case another file gets the same address */
	uint32_t block;
	unsigned have; /* bit per stream */
	const uint8_t *stream[STREAM_COUNT];
	VEC(uint8_t) buf[STREAM_COUNT];
	VEC(struct packed_piece) pieces;
	ZSTD_DCtx *zstd;
};

static bool bad_block(
	const struct packed_ctx *x, uint32_t b, const char *what, struct incore_error *e)
{
	return err_file(e, "bad-packed", x->path, x->dir.places[b].offset, "block %u: %s", b, what);
}

/* --- blocks --- */

static void packed_read_free_scratch(void *p)
{
	struct packed_scratch *s = p;

	for (int i = 0; i < STREAM_COUNT; i++)
		VEC_FREE(&s->buf[i]);
	VEC_FREE(&s->pieces);
	ZSTD_freeDCtx(s->zstd);
	mem_free(s);
}

static bool touch_stream(const struct packed_ctx *x, struct packed_scratch *s, uint32_t b, int i,
	struct incore_error *e)
{
	const struct block_place *place = &x->dir.places[b];
	size_t raw = (size_t)x->dir.blocks[b].raw_bytes[i];
	size_t stored = (size_t)place->stored_bytes[i];
	const uint8_t *p = x->file.data.data + place->offset;

	for (int k = 0; k < i; k++)
		p += place->stored_bytes[k];
	s->stream[i] = p;
	if (raw == 0)
		return true;
	if (!packed_checksum_ok(p, stored, (uint64_t)i, place->checksum[i]))
		return bad_block(x, b, "damaged (checksum)", e);
	if (stored == raw)
		return true;
	if (!VEC_RESERVE(&s->buf[i], raw))
		return err_nomem(e);
	if (!s->zstd)
		s->zstd = ZSTD_createDCtx(); /* NULL: a context is made for each stream */
	s->stream[i] = s->buf[i].v;
	if (!zstd_unpack_with(s->zstd, (struct str){(const char *)p, stored}, s->buf[i].v, raw, e))
		return err_wrap(e, "block %u of %s", b, x->path);
	return true;
}

static bool touch_pieces(
	const struct packed_ctx *x, struct packed_scratch *s, uint32_t b, struct incore_error *e)
{
	const struct block_info *info = &x->dir.blocks[b];

	if (!touch_stream(x, s, b, STREAM_PIECES, e))
		return false;
	if (!VEC_RESERVE(&s->pieces, info->n_pieces))
		return err_nomem(e);
	if (!block_read_pieces(s->stream[STREAM_PIECES], (size_t)info->raw_bytes[STREAM_PIECES],
		    info->raw_bytes, info->n_pieces, s->pieces.v))
		return bad_block(x, b, "its pieces do not fit it", e);
	s->pieces.n = info->n_pieces;
	return true;
}

/* Loads the streams of block b that `want` needs into the scratch, unless they are there
 * already. */
static bool touch_block(const struct packed_ctx *x, struct packed_scratch *s, uint32_t b,
	unsigned want, struct incore_error *e)
{
	const uint64_t *hash = x->file.trailer.content_hash;
	unsigned need = block_streams(want);

	if (s->ctx != x || s->block != b || s->hash[0] != hash[0] || s->hash[1] != hash[1]) {
		s->have = 0;
		s->ctx = x;
		s->block = b;
		memcpy(s->hash, hash, sizeof(s->hash));
	}
	for (int i = 0; i < STREAM_COUNT; i++) {
		if (!(need & ~s->have & 1u << i))
			continue;
		if (!(i == STREAM_PIECES ? touch_pieces(x, s, b, e) : touch_stream(x, s, b, i, e)))
			return false;
		s->have |= 1u << i;
	}
	return true;
}

/* --- one track --- */

static bool packed_read_fits(const struct track_content *c, const struct piece_cursor *at,
	const struct track_data *d, const struct packed_piece *p)
{
	return p->n[PIECE_ROWS] <= c->n[PIECE_ROWS] - at->done[PIECE_ROWS] &&
	       p->n[PIECE_STATES] <= c->n[PIECE_STATES] - d->n_states &&
	       p->n[PIECE_WAITS] <= c->n[PIECE_WAITS] - d->n_stated_waits &&
	       p->n[PIECE_PRODUCERS] <= c->n[PIECE_PRODUCERS] - d->n_stated_producers;
}

static bool is_whole(const struct track_content *c, unsigned want, const struct piece_cursor *at,
	const struct track_data *d)
{
	if (!(want & TRACK_NO_SLICES) && !at->is_past && at->done[PIECE_ROWS] != c->n[PIECE_ROWS])
		return false;
	if (want & TRACK_STATES && d->n_states != c->n[PIECE_STATES])
		return false;
	if (!(want & TRACK_STATED_WAITS))
		return true;
	for (uint32_t i = 0; i < d->n_stated_waits; i++)
		if ((uint64_t)d->stated_waits[i].first + d->stated_waits[i].n >
			d->n_stated_producers)
			return false;
	return d->n_stated_waits == c->n[PIECE_WAITS] &&
	       d->n_stated_producers == c->n[PIECE_PRODUCERS];
}

static bool packed_read_reserve(const struct track_content *c, unsigned want, struct track_data *d)
{
	if (!(want & TRACK_NO_SLICES) && !track_data_reserve(d, c->n[PIECE_ROWS]))
		return false;
	if (d->is_part && !track_data_reserve_numbers(d))
		return false;
	if (want & TRACK_STATES && !track_data_reserve_states(d, c->n[PIECE_STATES]))
		return false;
	return !(want & TRACK_STATED_WAITS) ||
	       track_data_reserve_stated(d, c->n[PIECE_WAITS], c->n[PIECE_PRODUCERS]);
}

static void packed_read_fill(const struct track_content *c, struct track_data *d)
{
	d->n_unknown_code = c->n_unknown_code;
	d->stated_slices = c->stated_slices;
	d->begin_cyc = c->begin_cyc;
	d->end_cyc = c->end_cyc;
	memcpy(d->coord_file, c->coord_file, sizeof(d->coord_file));
}

static bool packed_read_load(const struct trace *t, track_idx i, unsigned want,
	struct track_data *d, struct incore_error *e)
{
	const struct packed_ctx *x = t->loader_ctx;
	const struct track_content *c = &x->dir.contents[i];
	struct packed_scratch *s =
		track_scratch(d, sizeof(struct packed_scratch), packed_read_free_scratch);
	struct piece_cursor cursor;
	uint32_t b = x->block_of[i];

	if (c->error && c->error_want & (want | TRACK_NO_SLICES))
		return stored_error_raise(c->error, e);
	d->is_part = d->filter && !(want & (TRACK_STATES | TRACK_STATED_WAITS | TRACK_NO_SLICES));
	if (!s || !packed_read_reserve(c, want, d))
		return err_nomem(e);
	piece_cursor_init(&cursor, c->begin_cyc);
	for (;; b++) {
		uint32_t k = i - x->dir.blocks[b].first_track;

		if (!touch_block(x, s, b, want, e))
			return false;
		if (k >= s->pieces.n || !packed_read_fits(c, &cursor, d, &s->pieces.v[k]) ||
			!block_read_piece(&x->code, &s->pieces.v[k], s->stream, want, &cursor, d))
			return bad_block(x, b, "makes no sense", e);
		if (cursor.is_past || b + 1 >= x->dir.n_blocks ||
			x->dir.blocks[b + 1].first_track != i)
			break;
	}
	if (!is_whole(c, want, &cursor, d))
		return bad_block(x, b, "does not hold what the directory says", e);
	packed_read_fill(c, d);
	if (want & TRACK_NO_SLICES)
		d->n_unknown_code = 0;
	return true;
}

static void packed_read_close_ctx(void *ctx)
{
	struct packed_ctx *x = ctx;

	packed_file_close(&x->file);
}

/* --- opening --- */

static bool move_section(const struct packed_ctx *x, uint32_t id, struct trace *t,
	struct packed_dir *dir, struct incore_error *e)
{
	struct fields f;
	uint8_t *raw;
	size_t n;
	bool ok;

	if (!packed_file_section(&x->file, x->path, id, &raw, &n, e))
		return false;
	fields_init_read(&f, FORMAT_PACKED, raw, n, &t->arena);
	fields_use_dict(&f);
	if (id == PACKED_CONTENT)
		packed_move_contents(&f, t, dir);
	else if (id == PACKED_BLOCKS)
		packed_move_blocks(&f, dir);
	else if (id == PACKED_PLACES)
		packed_move_places(&f, dir);
	else
		packed_move_table(&f, id, t);
	ok = fields_end(&f, packed_section_name(id), e);
	if (!ok)
		err_wrap(e, "packed trace %s", x->path);
	fields_deinit(&f);
	mem_free(raw);
	return ok;
}

/* Checks that a block's streams lie inside the file and are no larger than its rows can make
 * them. */
static bool check_block(const struct packed_ctx *x, uint32_t b)
{
	const struct block_info *info = &x->dir.blocks[b];
	const struct block_place *place = &x->dir.places[b];
	uint64_t left = x->file.trailer.table_offset;

	if (info->n_pieces == 0 || info->n_pieces > BLOCK_MAX_PIECES ||
		place->offset < PACKED_HEADER_BYTES || place->offset > left)
		return false;
	left -= place->offset;
	for (int s = 0; s < STREAM_COUNT; s++) {
		if (info->raw_bytes[s] > (uint64_t)BLOCK_MAX_ROWS * 30 ||
			place->stored_bytes[s] > info->raw_bytes[s] ||
			place->stored_bytes[s] > left)
			return false;
		left -= place->stored_bytes[s];
	}
	return true;
}

/* Checks that the blocks hold all tracks in order; only the last track of a block may continue in
 * the next. */
static bool check_blocks(struct packed_ctx *x, const struct trace *t, struct incore_error *e)
{
	uint64_t next = 0; /* next track without a piece */

	for (uint32_t b = 0; b < x->dir.n_blocks; b++) {
		const struct block_info *info = &x->dir.blocks[b];
		uint64_t first = info->first_track, end = first + info->n_pieces;

		if (!check_block(x, b))
			return bad_block(x, b, "out of bounds", e);
		if (first != next && !(b > 0 && first + 1 == next))
			return bad_block(x, b, "does not follow the block before", e);
		if (end > t->n_tracks)
			return bad_block(x, b, "more pieces than tracks", e);
		for (; next < end; next++)
			x->block_of[next] = b;
	}
	if (next != t->n_tracks)
		return err_file(e, "bad-packed", x->path, INCORE_NO_OFFSET,
			"blocks hold %llu of %u tracks", (unsigned long long)next, t->n_tracks);
	return true;
}

/* The counts of a track decide how much memory is allocated: check them against its blocks
 * first. */
static bool check_contents(
	const struct packed_ctx *x, const struct trace *t, struct incore_error *e)
{
	for (track_idx i = 0; i < t->n_tracks; i++) {
		const struct track_content *c = &x->dir.contents[i];
		uint32_t last = x->block_of[i];
		uint64_t room;

		while (last + 1 < x->dir.n_blocks && x->dir.blocks[last + 1].first_track == i)
			last++;
		room = (uint64_t)(last - x->block_of[i] + 1) * BLOCK_MAX_ROWS;
		if (c->n[PIECE_ROWS] > room || c->n[PIECE_STATES] > room ||
			c->n[PIECE_WAITS] > room || c->n[PIECE_PRODUCERS] > 2 * room ||
			c->begin_cyc > c->end_cyc)
			return err_file(e, "bad-packed", x->path, INCORE_NO_OFFSET,
				"track %u: more content than its blocks can hold", i);
	}
	return true;
}

static bool packed_read_all(
	struct packed_ctx *x, uint32_t skip, struct trace *t, struct incore_error *e)
{
	for (uint32_t id = PACKED_META; id < PACKED_SECTION_END; id++) {
		bool is_skipped = id <= PACKED_NOTES ? skip & 1u << id : !x->file.sections[id].id;

		if (!is_skipped && !move_section(x, id, t, &x->dir, e))
			return false;
	}
	x->block_of = arena_zalloc(&t->arena, (size_t)t->n_tracks + 1, sizeof(*x->block_of));
	if (!x->block_of)
		return err_nomem(e);
	return check_blocks(x, t, e) && check_contents(x, t, e);
}

/* Stores the classes of the code contiguously, because every slice looks them up. */
static bool list_classes(struct packed_ctx *x, struct trace *t, struct incore_error *e)
{
	uint8_t *class = arena_zalloc(&t->arena, (size_t)t->n_code + 1, 1);

	for (code_idx i = 0; class && i < t->n_code; i++)
		class[i] = t->code[i].inst_class;
	x->code = (struct block_code){t->n_code, class};
	return class || err_nomem(e);
}

static struct packed_ctx *new_ctx(struct trace *t, const char *path)
{
	struct packed_ctx *x = arena_zalloc(&t->arena, 1, sizeof(*x));

	if (x)
		x->path = arena_strdup(&t->arena, path);
	return x && x->path ? x : NULL;
}

static bool fill_trace(struct packed_ctx *x, uint32_t skip, struct trace *t, struct incore_error *e)
{
	t->loader = (struct track_loader){.load = packed_read_load, .close = packed_read_close_ctx};
	t->loader_ctx = x;
	if (!packed_read_all(x, skip, t, e) || !list_classes(x, t, e))
		return false;
	memcpy(t->meta.content_hash, x->file.trailer.content_hash, sizeof(t->meta.content_hash));
	t->meta.code_key = x->file.sections[PACKED_CODE].checksum;
	return true;
}

bool packed_read_data(struct file_data data, const char *path, uint32_t skip, struct trace *t,
	struct incore_error *e)
{
	struct packed_ctx *x = new_ctx(t, path);

	if (!x) {
		file_unload(&data);
		return err_nomem(e);
	}
	return packed_file_open(&x->file, data, path, e) && fill_trace(x, skip, t, e);
}

bool packed_read(const char *path, uint32_t skip, struct trace *t, struct incore_error *e)
{
	struct file_data f = {0};

	return file_load(&f, path, e) && packed_read_data(f, path, skip, t, e);
}

bool packed_read_bytes(
	const uint8_t *p, size_t n, const char *path, struct trace *t, struct incore_error *e)
{
	return packed_read_data((struct file_data){.data = p, .size = n}, path, 0, t, e);
}

void packed_look_at_trace(const struct trace *t, struct packed_summary *out)
{
	*out = (struct packed_summary){.agent = t->meta.launch.agent,
		.dispatch = t->meta.launch.dispatch,
		.n_tracks = t->n_tracks,
		.n_code = t->n_code,
		.has_samples = t->samples != NULL,
		.code_key = t->meta.code_key};
	for (uint32_t i = 0; i < t->n_code; i++)
		out->n_mapped += !t->code[i].is_label && t->code[i].n_frames > 0;
}

bool packed_look(
	struct str bytes, const char *path, struct packed_summary *out, struct incore_error *e)
{
	struct trace *t = trace_new();
	struct packed_ctx x = {.path = path};
	struct file_data data = {.data = (const uint8_t *)bytes.p, .size = bytes.n};
	bool ok;

	if (!t)
		return err_nomem(e);
	ok = packed_file_open(&x.file, data, path, e) &&
	     move_section(&x, PACKED_META, t, &x.dir, e) &&
	     move_section(&x, PACKED_CODE, t, &x.dir, e) &&
	     move_section(&x, PACKED_SAMPLES, t, &x.dir, e) &&
	     move_section(&x, PACKED_TRACKS, t, &x.dir, e) &&
	     (!x.file.sections[PACKED_SAMPLED].id ||
		     move_section(&x, PACKED_SAMPLED, t, &x.dir, e));
	if (ok) {
		t->meta.code_key = x.file.sections[PACKED_CODE].checksum;
		packed_look_at_trace(t, out);
	}
	trace_free(t);
	return ok;
}
