/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_unpack.c: reads the pieces of one block: states, stated waits, and, through packed_rows.h,
 * slices.
 */
#include "codec/varint.h"
#include "trace/packed_rows.h"

static bool read_piece_record(const uint8_t **p, const uint8_t *end, struct piece *pc)
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

static bool read_states(
	const struct piece *pc, const uint8_t *const stream[STREAM_COUNT], struct track_data *d)
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
			p = varint_get(p, end, &v[j]);
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
		p = varint_get(p, end, &v);
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
	if (!(want & TRACK_NO_SLICES) && pc->n[PIECE_ROWS] > 0 &&
		!block_read_rows(k, pc, stream, want, c, d))
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
