/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_block.c: writes the columns of one block; packed_read.c reads them. Every time is a
 * difference (a slice starts where the one before ended, a code row follows its predecessor), so
 * nearly all bytes are 0.
 */
#include "trace/packed_file.h"

#include "codec/varint.h"

#define VARINT_MAX 10

const enum packed_stream block_varints[BLOCK_VARINTS] = {STREAM_GAP, STREAM_ISSUE, STREAM_STALL,
	STREAM_CODE, STREAM_STATE_DUR, STREAM_WAITS, STREAM_PRODUCERS};
const uint32_t block_max[PIECE_KINDS] = {
	BLOCK_MAX_ROWS, BLOCK_MAX_ROWS, BLOCK_MAX_ROWS, 2 * BLOCK_MAX_ROWS};

void piece_cursor_init(struct piece_cursor *c, uint64_t begin_cyc)
{
	*c = (struct piece_cursor){.end_cyc = begin_cyc, .code = UINT32_MAX};
}

void block_clear(struct packed_block *b)
{
	for (int s = 0; s < STREAM_COUNT; s++)
		b->stream[s].n = 0;
	memset(b->n, 0, sizeof(b->n));
	memset(b->sums, 0, sizeof(b->sums));
	b->n_pieces = 0;
	b->first_track = 0;
	b->min_cyc = UINT64_MAX;
	b->max_cyc = 0;
}

void block_deinit(struct packed_block *b)
{
	for (int s = 0; s < STREAM_COUNT; s++)
		VEC_FREE(&b->stream[s]);
}

bool block_is_full(const struct packed_block *b)
{
	for (int k = 0; k < PIECE_KINDS; k++)
		if (b->n[k] >= block_max[k])
			return true;
	return b->n_pieces >= BLOCK_MAX_PIECES;
}

/* --- writing --- */

struct packed_part { /* part of a track: elements [from, to) of each kind */
	uint32_t from[PIECE_KINDS], to[PIECE_KINDS];
};

static uint32_t part_scale(const struct trace *t, const struct track_data *d,
	const struct packed_part *p, const struct piece_cursor *c)
{
	uint32_t q = t->meta.clock_quantum;

	if (q < 2 || q > 1024)
		return 1;
	if (c->end_cyc % q)
		return 1;
	for (uint32_t i = p->from[PIECE_ROWS]; i < p->to[PIECE_ROWS]; i++)
		if (d->start_cyc[i] % q || d->dur_cyc[i] % q || d->stall_cyc[i] % q)
			return 1;
	for (uint32_t i = p->from[PIECE_STATES]; i < p->to[PIECE_STATES]; i++)
		if (d->state_dur_cyc[i] % q)
			return 1;
	return q;
}

static bool packed_block_reserve(struct packed_block *b, const struct packed_part *p)
{
	size_t rows = p->to[PIECE_ROWS] - p->from[PIECE_ROWS];
	size_t states = p->to[PIECE_STATES] - p->from[PIECE_STATES];
	size_t waits = p->to[PIECE_WAITS] - p->from[PIECE_WAITS];
	size_t producers = p->to[PIECE_PRODUCERS] - p->from[PIECE_PRODUCERS];
	const size_t room[STREAM_COUNT] = {
		[STREAM_PIECES] = (size_t)(1 + PIECE_KINDS + BLOCK_VARINTS) * VARINT_MAX,
		[STREAM_GAP] = rows * VARINT_MAX,
		[STREAM_ISSUE] = rows * VARINT_MAX,
		[STREAM_STALL] = rows * VARINT_MAX,
		[STREAM_CODE] = rows * VARINT_MAX,
		[STREAM_CLASS] = rows,
		[STREAM_TAG] = rows,
		[STREAM_STATE] = states,
		[STREAM_STATE_DUR] = states * VARINT_MAX,
		[STREAM_WAITS] = waits * 3 * VARINT_MAX,
		[STREAM_PRODUCERS] = producers * VARINT_MAX,
	};

	for (int s = 0; s < STREAM_COUNT; s++) /* + 1: so that the array is never NULL */
		if (!VEC_RESERVE(&b->stream[s], b->stream[s].n + room[s] + 1))
			return false;
	return true;
}

static uint8_t *tail(struct packed_block *b, enum packed_stream s)
{
	return b->stream[s].v + b->stream[s].n;
}

static void set_tail(struct packed_block *b, enum packed_stream s, const uint8_t *end)
{
	b->stream[s].n = (size_t)(end - b->stream[s].v);
}

static void packed_block_add_sums(struct packed_block *b, const struct track_data *d, uint32_t i)
{
	struct packed_class_sum *s =
		&b->sums[d->inst_class[i] < CLASS_COUNT ? d->inst_class[i] : 0];
	uint64_t end = d->start_cyc[i] + d->dur_cyc[i];

	s->hit++;
	s->dur_cyc += d->dur_cyc[i];
	s->stall_cyc += d->stall_cyc[i];
	if (d->start_cyc[i] < b->min_cyc)
		b->min_cyc = d->start_cyc[i];
	if (end > b->max_cyc)
		b->max_cyc = end;
}

static void add_rows(struct packed_block *b, const struct trace *t, const struct track_data *d,
	const struct packed_part *p, uint32_t scale, struct piece_cursor *c)
{
	uint8_t *gap = tail(b, STREAM_GAP), *issue = tail(b, STREAM_ISSUE);
	uint8_t *stall = tail(b, STREAM_STALL), *code = tail(b, STREAM_CODE);
	uint8_t *kind = tail(b, STREAM_CLASS), *tag = tail(b, STREAM_TAG);

	for (uint32_t i = p->from[PIECE_ROWS]; i < p->to[PIECE_ROWS]; i++) {
		uint32_t row = d->code[i];
		uint8_t usual = row < t->n_code ? t->code[row].inst_class : 0;

		gap = varint_put(
			gap, zigzag((int64_t)(d->start_cyc[i] - c->end_cyc) / (int64_t)scale));
		issue = varint_put(issue, (d->dur_cyc[i] - d->stall_cyc[i]) / scale);
		stall = varint_put(stall, d->stall_cyc[i] / scale);
		code = varint_put(code, zigzag((int32_t)(row - c->code - 1)));
		*kind++ = d->inst_class[i] ^ usual;
		*tag++ = d->tag[i];
		c->end_cyc = d->start_cyc[i] + d->dur_cyc[i];
		c->code = row;
		packed_block_add_sums(b, d, i);
	}
	set_tail(b, STREAM_GAP, gap);
	set_tail(b, STREAM_ISSUE, issue);
	set_tail(b, STREAM_STALL, stall);
	set_tail(b, STREAM_CODE, code);
	set_tail(b, STREAM_CLASS, kind);
	set_tail(b, STREAM_TAG, tag);
}

static void packed_block_add_states(struct packed_block *b, const struct track_data *d,
	const struct packed_part *p, uint32_t scale)
{
	uint8_t *state = tail(b, STREAM_STATE), *dur = tail(b, STREAM_STATE_DUR);

	for (uint32_t i = p->from[PIECE_STATES]; i < p->to[PIECE_STATES]; i++) {
		*state++ = d->state[i];
		dur = varint_put(dur, d->state_dur_cyc[i] / scale);
	}
	set_tail(b, STREAM_STATE, state);
	set_tail(b, STREAM_STATE_DUR, dur);
}

static void packed_block_add_waits(struct packed_block *b, const struct track_data *d,
	const struct packed_part *p, struct piece_cursor *c)
{
	uint8_t *wait = tail(b, STREAM_WAITS), *producer = tail(b, STREAM_PRODUCERS);

	for (uint32_t i = p->from[PIECE_WAITS]; i < p->to[PIECE_WAITS]; i++) {
		const struct stated_wait *w = &d->stated_waits[i];

		wait = varint_put(wait, zigzag((int32_t)(w->wait - c->wait)));
		wait = varint_put(wait, w->n);
		wait = varint_put(wait, zigzag((int32_t)(w->first - c->n_named)));
		c->wait = w->wait;
		c->n_named = w->first + w->n;
	}
	for (uint32_t i = p->from[PIECE_PRODUCERS]; i < p->to[PIECE_PRODUCERS]; i++) {
		producer = varint_put(
			producer, zigzag((int32_t)(d->stated_producers[i] - c->producer)));
		c->producer = d->stated_producers[i];
	}
	set_tail(b, STREAM_WAITS, wait);
	set_tail(b, STREAM_PRODUCERS, producer);
}

static void packed_block_add_piece(struct packed_block *b, const struct packed_part *p,
	uint32_t scale, const size_t before[STREAM_COUNT])
{
	uint8_t *out = tail(b, STREAM_PIECES);

	out = varint_put(out, scale);
	for (int k = 0; k < PIECE_KINDS; k++)
		out = varint_put(out, p->to[k] - p->from[k]);
	for (size_t s = 0; s < BLOCK_VARINTS; s++)
		out = varint_put(out, b->stream[block_varints[s]].n - before[block_varints[s]]);
	set_tail(b, STREAM_PIECES, out);
	b->n_pieces++;
}

bool block_add(struct packed_block *b, const struct trace *t, track_idx i,
	const struct track_data *d, struct piece_cursor *c, bool *is_done)
{
	const uint32_t all[PIECE_KINDS] = {
		d->n, d->n_states, d->n_stated_waits, d->n_stated_producers};
	size_t before[STREAM_COUNT];
	struct packed_part p;
	uint32_t scale;

	*is_done = true;
	for (int k = 0; k < PIECE_KINDS; k++) {
		uint32_t rest = all[k] - c->done[k], room = block_max[k] - b->n[k];

		p.from[k] = c->done[k];
		p.to[k] = c->done[k] + (rest < room ? rest : room);
		*is_done &= p.to[k] == all[k];
	}
	if (!packed_block_reserve(b, &p))
		return false;
	for (int s = 0; s < STREAM_COUNT; s++)
		before[s] = b->stream[s].n;
	if (b->n_pieces == 0)
		b->first_track = i;
	scale = part_scale(t, d, &p, c);
	add_rows(b, t, d, &p, scale, c);
	packed_block_add_states(b, d, &p, scale);
	packed_block_add_waits(b, d, &p, c);
	packed_block_add_piece(b, &p, scale, before);
	for (int k = 0; k < PIECE_KINDS; k++) {
		b->n[k] += p.to[k] - p.from[k];
		c->done[k] = p.to[k];
	}
	return true;
}
