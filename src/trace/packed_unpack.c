/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_unpack.c: columns of one block, read, and of the slices only those that are wanted. Nearly
 * all varints are one byte: eight of them are taken at once, in loops that compilers turn into
 * vectors.
 */
#include "codec/varint.h"
#include "trace/packed_block.h"

/* NULL when it ends too early or is too long. */
static inline const uint8_t *get(const uint8_t *p, const uint8_t *end, uint64_t *v)
{
	uint64_t r = 0;

	if (p < end && *p < 0x80) {
		*v = *p;
		return p + 1;
	}
	for (unsigned shift = 0; shift < 64 && p < end; shift += 7) {
		uint8_t b = *p++;

		if (shift == 63 && b > 1)
			return NULL;
		r |= (uint64_t)(b & 0x7f) << shift;
		if (b < 0x80) {
			*v = r;
			return p;
		}
	}
	return NULL;
}

static bool read_piece_record(const uint8_t **p, const uint8_t *end, struct piece *pc)
{
	uint64_t v[1 + PIECE_KINDS + BLOCK_VARINTS] = {0};

	for (size_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		*p = get(*p, end, &v[i]);
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

bool block_read_pieces(const uint8_t *p, size_t size, const uint64_t raw_bytes[STREAM_COUNT],
	uint32_t n_pieces, struct piece *out)
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

#define RUN 32u /* varints that are taken at once where each is one byte, or all are 0 */

/* All bits of the bytes of a run. */
static inline uint64_t bits_of_run(const uint8_t *p)
{
	uint64_t w[RUN / 8];

	memcpy(w, p, RUN);
	return w[0] | w[1] | w[2] | w[3];
}

static inline void widen_run(const uint8_t *restrict p, uint32_t scale, uint32_t *restrict out)
{
	for (unsigned i = 0; i < RUN; i++)
		out[i] = p[i] * scale;
}

static inline void count_run(uint32_t first, uint32_t *out)
{
	for (unsigned i = 0; i < RUN; i++)
		out[i] = first + i;
}

static bool read_u32s(const uint8_t *p, size_t size, uint32_t scale, uint32_t n, uint32_t *out)
{
	const uint8_t *end = p + size;
	uint64_t v;

	for (uint32_t i = 0; i < n;) {
		if (n - i >= RUN && end - p >= RUN && !(bits_of_run(p) & 0x8080808080808080u)) {
			widen_run(p, scale, out + i);
			i += RUN;
			p += RUN;
			continue;
		}
		for (uint32_t stop = n - i < 8 ? n : i + 8; i < stop; i++) {
			p = get(p, end, &v);
			if (!p || v > UINT32_MAX)
				return false;
			out[i] = (uint32_t)v * scale;
		}
	}
	return p == end;
}

/* The stream of issues holds what is left of a length without its stall. */
static bool read_lengths(
	const struct piece *pc, const uint8_t *const stream[STREAM_COUNT], struct track_data *d)
{
	uint32_t n = pc->n[PIECE_ROWS], *dur = d->dur_cyc + d->n, *stall = d->stall_cyc + d->n;
	uint32_t is_bad = 0;

	if (!read_u32s(stream[STREAM_STALL] + pc->from[STREAM_STALL], pc->length[STREAM_STALL],
		    pc->scale, n, stall) ||
		!read_u32s(stream[STREAM_ISSUE] + pc->from[STREAM_ISSUE], pc->length[STREAM_ISSUE],
			pc->scale, n, dur))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		dur[i] += stall[i];
		is_bad |= dur[i] < stall[i];
	}
	return !is_bad;
}

/* Eight slices with their gaps, none of them negative. */
static inline uint64_t start_eight(
	const uint8_t *gap, uint32_t scale, const uint32_t *dur, uint64_t at, uint64_t *start)
{
	for (unsigned i = 0; i < 8; i++) {
		start[i] = at + (uint64_t)(gap[i] >> 1) * scale;
		at = start[i] + dur[i];
	}
	return at;
}

/* The same without gaps: the next begins where the one before ended. */
static inline uint64_t start_eight_close(const uint32_t *dur, uint64_t at, uint64_t *start)
{
	for (unsigned i = 0; i < 8; i++) {
		start[i] = at;
		at += dur[i];
	}
	return at;
}

static bool read_starts(
	const struct piece *pc, const uint8_t *p, struct piece_cursor *c, struct track_data *d)
{
	const uint8_t *end = p + pc->length[STREAM_GAP];
	uint64_t *start = d->start_cyc + d->n, v;
	const uint32_t *dur = d->dur_cyc + d->n;
	uint64_t floor = d->n ? start[-1] : 0, at = c->end_cyc;
	uint32_t n = pc->n[PIECE_ROWS];

	for (uint32_t i = 0; i < n;) {
		uint64_t gaps = UINT64_MAX;

		if (n - i >= 8 && end - p >= 8 && at >= floor)
			memcpy(&gaps, p, 8);
		if (!(gaps & 0x8181818181818181u)) { /* short, and not negative */
			at = gaps ? start_eight(p, pc->scale, dur + i, at, start + i)
				  : start_eight_close(dur + i, at, start + i);
			if (at < floor)
				return false;
			i += 8;
			p += 8;
			floor = start[i - 1];
			continue;
		}
		p = get(p, end, &v);
		if (!p)
			return false;
		start[i] = at + (uint64_t)unzigzag(v) * pc->scale;
		if (start[i] < floor)
			return false;
		floor = start[i];
		at = start[i] + dur[i];
		i++;
	}
	c->end_cyc = at;
	return p == end;
}

static bool read_code(const struct block_code *k, const struct piece *pc, const uint8_t *p,
	struct piece_cursor *c, code_idx *code)
{
	const uint8_t *end = p + pc->length[STREAM_CODE];
	uint32_t n = pc->n[PIECE_ROWS], last = c->code, is_bad = 0;
	uint64_t v;

	for (uint32_t i = 0; i < n;) {
		/* the first may be row 0, behind no row at all */
		if (n - i >= RUN && end - p >= RUN && !bits_of_run(p)) {
			is_bad |= (last + RUN >= k->n) | (last + RUN < RUN - 1);
			count_run(last + 1, code + i);
			last += RUN;
			i += RUN;
			p += RUN;
			continue;
		}
		p = get(p, end, &v);
		if (!p)
			return false;
		last += 1 + (uint32_t)unzigzag(v);
		is_bad |= (last >= k->n) & (last != NO_CODE);
		code[i++] = last;
	}
	c->code = last;
	return p == end && !is_bad;
}

static bool read_classes(const struct block_code *k, const code_idx *code, const uint8_t *kind,
	uint32_t n, uint8_t *out)
{
	uint32_t is_bad = 0;

	for (uint32_t i = 0; i < n; i++) {
		out[i] = kind[i] ^ k->class[code[i] < k->n ? code[i] : k->n];
		is_bad |= out[i] >= CLASS_COUNT;
	}
	return !is_bad;
}

static bool read_rows(const struct block_code *k, const struct piece *pc,
	const uint8_t *const stream[STREAM_COUNT], unsigned want, struct piece_cursor *c,
	struct track_data *d)
{
	uint32_t n = pc->n[PIECE_ROWS];
	unsigned streams = block_streams(want);

	if (n == 0)
		return true;
	if (streams & 1u << STREAM_STALL && !read_lengths(pc, stream, d))
		return false;
	if (streams & 1u << STREAM_GAP &&
		!read_starts(pc, stream[STREAM_GAP] + pc->from[STREAM_GAP], c, d))
		return false;
	if (streams & 1u << STREAM_CODE &&
		!read_code(k, pc, stream[STREAM_CODE] + pc->from[STREAM_CODE], c, d->code + d->n))
		return false;
	if (streams & 1u << STREAM_CLASS &&
		!read_classes(k, d->code + d->n, stream[STREAM_CLASS] + pc->from[STREAM_CLASS], n,
			d->inst_class + d->n))
		return false;
	if (streams & 1u << STREAM_TAG)
		memcpy(d->tag + d->n, stream[STREAM_TAG] + pc->from[STREAM_TAG], n);
	d->n += n;
	return true;
}

static bool read_states(
	const struct piece *pc, const uint8_t *const stream[STREAM_COUNT], struct track_data *d)
{
	uint32_t n = pc->n[PIECE_STATES];
	const uint8_t *state;

	if (n == 0)
		return true;
	state = stream[STREAM_STATE] + pc->from[STREAM_STATE];
	for (uint32_t i = 0; i < n; i++) {
		if (state[i] >= STATE_COUNT)
			return false;
		d->state[d->n_states + i] = state[i];
	}
	if (!read_u32s(stream[STREAM_STATE_DUR] + pc->from[STREAM_STATE_DUR],
		    pc->length[STREAM_STATE_DUR], pc->scale, n, d->state_dur_cyc + d->n_states))
		return false;
	d->n_states += n;
	return true;
}

static bool is_code(const struct block_code *k, code_idx c)
{
	return c < k->n || c == NO_CODE;
}

static bool read_waits(const struct block_code *k, const struct piece *pc, const uint8_t *p,
	struct piece_cursor *c, struct track_data *d)
{
	const uint8_t *end = p + pc->length[STREAM_WAITS];

	for (uint32_t i = 0; i < pc->n[PIECE_WAITS]; i++) {
		struct stated_wait *w = &d->stated_waits[d->n_stated_waits];
		uint64_t v[3];

		for (int j = 0; j < 3; j++) {
			p = get(p, end, &v[j]);
			if (!p)
				return false;
		}
		w->wait = c->wait + (uint32_t)unzigzag(v[0]);
		w->n = (uint32_t)v[1];
		w->first = c->n_named + (uint32_t)unzigzag(v[2]);
		if (v[1] > UINT32_MAX || !is_code(k, w->wait))
			return false;
		c->wait = w->wait;
		c->n_named = w->first + w->n;
		d->n_stated_waits++;
	}
	return p == end;
}

static bool read_producers(const struct block_code *k, const struct piece *pc, const uint8_t *p,
	struct piece_cursor *c, struct track_data *d)
{
	const uint8_t *end = p + pc->length[STREAM_PRODUCERS];
	uint64_t v;

	for (uint32_t i = 0; i < pc->n[PIECE_PRODUCERS]; i++) {
		p = get(p, end, &v);
		if (!p)
			return false;
		c->producer += (uint32_t)unzigzag(v);
		if (!is_code(k, c->producer))
			return false;
		d->stated_producers[d->n_stated_producers++] = c->producer;
	}
	return p == end;
}

unsigned block_streams(unsigned want)
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

bool block_read_piece(const struct block_code *k, const struct piece *pc,
	const uint8_t *const stream[STREAM_COUNT], unsigned want, struct piece_cursor *c,
	struct track_data *d)
{
	if (pc->scale == 0)
		return false;
	if (!(want & TRACK_NO_SLICES) && !read_rows(k, pc, stream, want, c, d))
		return false;
	if (want & TRACK_STATES && !read_states(pc, stream, d))
		return false;
	if (!(want & TRACK_STATED_WAITS))
		return true;
	return (pc->n[PIECE_WAITS] == 0 ||
		       read_waits(k, pc, stream[STREAM_WAITS] + pc->from[STREAM_WAITS], c, d)) &&
	       (pc->n[PIECE_PRODUCERS] == 0 ||
		       read_producers(
			       k, pc, stream[STREAM_PRODUCERS] + pc->from[STREAM_PRODUCERS], c, d));
}
