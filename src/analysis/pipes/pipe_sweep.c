/* SPDX-License-Identifier: Apache-2.0 */
/* pipe_sweep.c: splits the span of a pipe into pieces, each cycle in exactly one. */
#include "analysis/pipes/pipe_sweep.h"

#include "base/mem.h"
#include "base/search.h"
#include "isa/ascend.h"

/* --- roles of lanes --------------------------------------------------------------------------- */

const char *pipe_lane_name(const struct track *k)
{
	const char *slash = strrchr(k->name, '/');

	return slash ? slash + 1 : k->name;
}

struct str pipe_core_name(const struct track *k)
{
	struct str s = str_of(k->name);
	ptrdiff_t slash = str_rfind_char(s, '/');

	return slash < 0 ? s : str_sub(s, 0, (size_t)slash);
}

enum pipe_role pipe_role(const struct track *k)
{
	const struct ascend_lane *lane = ascend_lane(k->coord[2]);

	if (lane->is_compute)
		return ROLE_COMPUTE;
	if (lane->is_work)
		return lane->pipe == PIPE_OTHER0 ? ROLE_OTHER : ROLE_MOVE;
	switch (lane->pipe) {
	case PIPE_CACHEMISS:
	case PIPE_USERMARK:
	case PIPE_EVENT:
		return ROLE_MARK;
	default:
		return ROLE_CONTROL;
	}
}

static enum pipe_kind kind_of_opcode(struct str opcode)
{
	switch (ascend_sync_of(opcode)) {
	case SYNC_SET:
	case SYNC_SET_CROSS:
		return KIND_SET;
	case SYNC_WAIT:
	case SYNC_WAIT_CROSS:
		return KIND_WAIT;
	case SYNC_BARRIER:
		return KIND_BARRIER;
	case SYNC_GET_BUF:
		return KIND_BUFFER;
	case SYNC_RLS_BUF:
	case SYNC_NOP:
		return KIND_NOTHING;
	default:
		return ascend_is_config(opcode) ? KIND_CONFIG : KIND_WORK;
	}
}

uint8_t *pipe_kinds_new(const struct trace *t)
{
	uint8_t *kinds = mem_alloc((size_t)t->n_code + 1);
	uint8_t *of_opcode = mem_zalloc((size_t)t->n_opcodes + 1, 1);

	if (!kinds || !of_opcode) {
		mem_free(kinds);
		mem_free(of_opcode);
		return NULL;
	}
	for (uint32_t i = 0; i < t->n_opcodes; i++)
		of_opcode[i] = (uint8_t)kind_of_opcode(str_of(t->opcodes[i]));
	for (code_idx i = 0; i < t->n_code; i++)
		kinds[i] = of_opcode[t->code[i].opcode];
	kinds[t->n_code] = KIND_WORK;
	mem_free(of_opcode);
	return kinds;
}

/* --- the sweep -------------------------------------------------------------------------------- */

/* trace.json draws a barrier as its last cycle; rounded to 1 ns that may be two. */

void pipe_sweep_deinit(struct pipe_sweep *s)
{
	VEC_FREE(&s->work);
	VEC_FREE(&s->wait);
	VEC_FREE(&s->head);
}

ORDER(compare_spans, struct pipe_span, UP(from_cyc) UP(slice))

/* Slices are sorted by start; only head costs can put the following spans out of order. */
static void sort_spans(struct pipe_span *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i].from_cyc < v[i - 1].from_cyc) {
			SORT(v, n, compare_spans);
			return;
		}
}

/* Where spans overlap, the one that began first keeps the cycles. */
static size_t keep_oldest(struct pipe_span *v, size_t n)
{
	uint64_t end = 0;
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		struct pipe_span x = v[i];

		mem_step(i);
		if (x.from_cyc < end)
			x.from_cyc = end;
		if (x.to_cyc <= x.from_cyc)
			continue;
		end = x.to_cyc;
		v[out++] = x;
	}
	return out;
}

/* Where spans overlap, the one that ends last keeps the cycles. */
static size_t keep_last_ending(struct pipe_span *v, size_t n)
{
	size_t out = 0;

	for (size_t i = 0; i < n; i++) {
		if (out && v[i].to_cyc <= v[out - 1].to_cyc)
			continue;
		if (out && v[out - 1].to_cyc > v[i].from_cyc)
			v[out - 1].to_cyc = v[i].from_cyc;
		if (out && v[out - 1].to_cyc <= v[out - 1].from_cyc)
			out--;
		v[out++] = v[i];
	}
	return out;
}

static bool pipe_sweep_gather(
	struct pipe_sweep *s, const struct walk_track *w, const uint8_t *kinds)
{
	const struct track_data *d = w->data;

	s->work.n = s->wait.n = s->head.n = 0;
	for (uint32_t i = 0; i < d->n; i++) {
		enum pipe_kind kind = pipe_kind_of(kinds, w->trace, d, i);
		uint64_t start = d->start_cyc[i], end = start + d->dur_cyc[i];
		uint64_t begin = start + d->stall_cyc[i]; /* begin of the slice without its head */
		struct pipe_span x = {begin < end ? begin : end, end, i};

		mem_step(i);
		if (end > s->last_cyc)
			s->last_cyc = end;
		if (d->stall_cyc[i] && !VEC_PUSH(&s->head, (struct pipe_span){start, begin, i}))
			return false;
		if (kind == KIND_BARRIER && end - x.from_cyc <= PIPE_BARRIER_SHOWN_CYC)
			continue;
		if (pipe_kind_is_work(kind) ? !VEC_PUSH(&s->work, x)
					    : pipe_kind_is_wait(kind) && !VEC_PUSH(&s->wait, x))
			return false;
	}
	sort_spans(s->work.v, s->work.n);
	sort_spans(s->wait.v, s->wait.n);
	s->work.n = keep_oldest(s->work.v, s->work.n);
	s->wait.n = keep_last_ending(s->wait.v, s->wait.n);
	s->head.n = keep_oldest(s->head.v, s->head.n);
	return true;
}

struct pipe_sweep_cursor {
	const struct pipe_span *v;
	size_t n, at;
	enum bucket bucket;
};

/* The piece that starts at pos. */
static struct pipe_piece next_piece(
	const struct pipe_sweep *s, struct pipe_sweep_cursor *lists, unsigned n, uint64_t pos)
{
	struct pipe_piece p = {BUCKET_IDLE, NO_SLICE, pos, s->hi};

	if (pos >= s->last_cyc)
		p.bucket = BUCKET_DRAIN;
	else if (s->last_cyc < s->hi)
		p.to_cyc = s->last_cyc;
	EACH (struct pipe_sweep_cursor, c, lists, n) {
		const struct pipe_span *x;

		while (c->at < c->n && c->v[c->at].to_cyc <= pos)
			c->at++;
		if (c->at == c->n)
			continue;
		x = &c->v[c->at];
		if (x->from_cyc <= pos) { /* no list before this one covers pos */
			p.bucket = c->bucket;
			p.slice = x->slice;
			if (x->to_cyc < p.to_cyc)
				p.to_cyc = x->to_cyc;
			return p;
		}
		if (x->from_cyc < p.to_cyc)
			p.to_cyc = x->from_cyc;
	}
	return p;
}

bool pipe_sweep_track(struct pipe_sweep *s, const struct walk_track *w, const uint8_t *kinds,
	pipe_piece_fn fn, void *ctx, struct incore_error *e)
{
	const struct track_data *d = w->data;
	uint64_t end = d->end_cyc > d->begin_cyc ? d->end_cyc : d->begin_cyc;
	struct pipe_sweep_cursor lists[3];

	s->lo = d->begin_cyc > w->from_cyc ? d->begin_cyc : w->from_cyc;
	s->hi = end < w->to_cyc ? end : w->to_cyc;
	if (s->hi < s->lo)
		s->hi = s->lo;
	s->last_cyc = 0;
	if (!pipe_sweep_gather(s, w, kinds))
		return err_nomem(e);
	if (s->last_cyc > s->hi)
		s->last_cyc = s->hi;
	lists[0] = (struct pipe_sweep_cursor){s->work.v, s->work.n, 0, BUCKET_ISSUE};
	lists[1] = (struct pipe_sweep_cursor){s->wait.v, s->wait.n, 0, BUCKET_WAIT};
	lists[2] = (struct pipe_sweep_cursor){s->head.v, s->head.n, 0, BUCKET_STALL};
	for (uint64_t pos = s->lo, n = 0; pos < s->hi; n++) {
		struct pipe_piece p = next_piece(s, lists, 3, pos);

		mem_step((size_t)n);
		if (!fn(ctx, &p))
			return err_nomem(e);
		pos = p.to_cyc;
	}
	return true;
}
