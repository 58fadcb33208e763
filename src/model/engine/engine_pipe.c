/* SPDX-License-Identifier: Apache-2.0 */
/* engine_pipe.c: when does an op in a pipe's queue start, and when is it complete? */
#include "model/engine/engine_cross.h"
#include "model/engine/engine_memory.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

bool engine_slice(struct engine *g, struct core *c, unsigned pipe, const struct timed_slice *s,
	uint32_t *slice)
{
	struct timed_lane *l = &c->out->lanes[pipe];

	*slice = NO_SLICE;
	if (!g->o->keep_slices)
		return true;
	if (l->slices.n >= NO_SLICE)
		return err_set(g->e, INCORE_BAD_INPUT, "too-large", "too many slices in one pipe");
	*slice = (uint32_t)l->slices.n;
	return VEC_PUSH(&l->slices, *s) || err_nomem(g->e);
}

static struct timed_slice slice_of(
	struct engine *g, const struct entry *n, uint64_t start, uint64_t end)
{
	struct timed_slice s = {.start = start,
		.dur = (uint32_t)(end - start),
		.op = n->op,
		.part = n->part,
		.is_sync = n->act != ACT_OP};

	if (end - start > UINT32_MAX) {
		s.dur = UINT32_MAX;
		g->out->n_clamped++;
	}
	return s;
}

bool engine_link(struct engine *g, const struct fired *from, struct core *c, unsigned pipe,
	uint32_t slice, enum link_kind kind)
{
	if (from->slice == NO_SLICE || slice == NO_SLICE)
		return true;
	return VEC_PUSH(&g->out->links,
		       (struct timed_link){from->lane, from->slice, c->index * ENGINE_PIPES + pipe,
			       slice, (uint8_t)kind}) ||
	       err_nomem(g->e);
}

/* Waiting counts only while the pipe is not busy; busy_end is the end of its instructions so
 * far. */
void engine_wait_span(struct core *c, unsigned pipe, uint64_t start, uint64_t end)
{
	struct timed_lane *l = &c->out->lanes[pipe];
	struct pipe *p = &c->pipes[pipe];
	uint64_t from = later(later(start, l->busy_end), p->wait_end);

	if (end > from)
		l->wait_cyc += end - from;
	p->wait_end = later(p->wait_end, end);
}

/* --- ops --- */

static bool time_op(struct engine *g, struct core *c, unsigned pipe, struct entry *n, uint64_t *end)
{
	struct pipe *p = &c->pipes[pipe];
	struct timed_lane *l = &c->out->lanes[pipe];
	const struct op_price *q = &c->steps[c->s->ops.v[n->op].form].price;
	uint64_t start = later(n->issue, p->free), done, from;
	struct timed_slice s;
	uint32_t slice;

	if (q->is_dma) {
		/* n transfers: each starts a gap after the previous one, their data phases follow
		 * each other */
		uint64_t lat, each, all;

		if (!memory_cost(g, c, n->op, &lat, &each))
			return err_nomem(g->e);
		all = q->n_dma * each;
		done = later(start + lat + all, start + (q->n_dma - 1) * q->occ_cyc + lat + each);
		done = later(done, p->port_free + all);
		p->free = start + q->n_dma * q->occ_cyc;
		p->port_free = done;
	} else {
		p->free = start + q->occ_cyc;
		done = start + q->lat_cyc;
	}
	from = later(start, l->busy_end);
	if (done > from) {
		l->busy_cyc += done - from;
		l->busy_end = done;
	}
	l->n_ops++;
	if (q->status > l->status)
		l->status = q->status;
	s = slice_of(g, n, start, done);
	if (!engine_slice(g, c, pipe, &s, &slice))
		return false;
	if (done >= p->last_done) {
		p->last_done = done;
		p->last_slice = slice;
	}
	*end = done;
	return !g->races || races_op(g->races, c->at, pipe, n->op) || err_nomem(g->e);
}

/* --- flags --- */

static bool report_double(struct engine *g, struct core *c, uint32_t first, uint32_t second)
{
	const struct op_form *f = &c->s->forms.v[c->s->ops.v[second].form];
	struct finding_op a = {c->out->stream, first, f->flag_src};
	struct finding_op b = {c->out->stream, second, f->flag_src};
	struct model_finding *x = finding_add(g->out, g->set, FIND_DOUBLE_SET, &a, &b);
	struct strbuf text = {0};

	if (!x)
		return err_nomem(g->e);
	if (!x->message) {
		sb_printf(&text, "double set: %s->%s id %d is set by ", op_pipe_name(f->flag_src),
			op_pipe_name(f->flag_dst), f->flag_id);
		finding_put_op(g->set, &b, &text);
		sb_puts(&text, " before the set of ");
		finding_put_op(g->set, &a, &text);
		sb_puts(&text, " was waited for; a flag is one bit");
		x->message = text.failed ? NULL : arena_strdup(&g->out->arena, text.p);
		sb_free(&text);
	}
	return x->message ? true : err_nomem(g->e);
}

/*
 * Is a set at cyc, after the one that the last wait took, too early? Only if it also precedes that
 * wait in the program: generated code that works on devices often has a set that overtakes a wait
 * issued before it.
 */
static bool is_double(const struct flag *f, uint32_t op, uint64_t cyc)
{
	return cyc < f->last_release && op < f->last_wait_op;
}

bool engine_released(struct engine *g, struct core *c, uint16_t flag, uint32_t op, uint64_t cyc)
{
	struct flag *f = &c->flags[flag];

	f->last_release = cyc;
	f->last_wait_op = op;
	/* the set after the one just taken */
	if (f->head < f->fired.n && is_double(f, f->fired.v[f->head].op, f->fired.v[f->head].cyc))
		return report_double(g, c, f->last_set_op, f->fired.v[f->head].op);
	return true;
}

bool engine_take_flag(struct core *c, uint16_t flag, struct fired *out)
{
	struct flag *f = &c->flags[flag];

	if (f->head == f->fired.n)
		return false;
	*out = f->fired.v[f->head++];
	f->last_set_op = out->op;
	f->n_wait++;
	if (f->head == f->fired.n) {
		f->head = f->fired.n = 0;
	} else if (f->head >= 64 && f->head * 2 >= f->fired.n) {
		f->fired.n -= f->head;
		memmove(f->fired.v, f->fired.v + f->head, f->fired.n * sizeof(*f->fired.v));
		f->head = 0;
	}
	return true;
}

bool engine_fire(struct engine *g, struct core *c, struct entry *n, unsigned pipe, uint64_t cyc)
{
	struct fired x = {.cyc = cyc, .lane = c->index * ENGINE_PIPES + pipe, .op = n->op};
	struct timed_slice s = slice_of(g, n, cyc - g->flag_set, cyc);
	struct flag *f = NULL;

	if (!engine_slice(g, c, pipe, &s, &x.slice))
		return false;
	if (g->races)
		x.clock = *races_clock(g->races, c->at, pipe);
	if (n->act == ACT_XSET)
		return VEC_PUSH(&c->x[n->xid].fired, x) || err_nomem(g->e);
	f = &c->flags[n->flag];
	/* k earlier sets, k released waits: this set must not come before the last of them */
	if (f->n_set && f->n_wait == f->n_set && is_double(f, n->op, cyc) &&
		!report_double(g, c, f->last_set_op, n->op))
		return false;
	f->n_set++;
	if (!VEC_PUSH(&f->fired, x))
		return err_nomem(g->e);
	c->ready |= 1u << (n->flag / N_FLAG_IDS % ENGINE_PIPES);
	return true;
}

static bool time_wait(struct engine *g, struct core *c, unsigned pipe, struct entry *n,
	const struct fired *from, enum link_kind kind)
{
	struct pipe *p = &c->pipes[pipe];
	uint64_t start = later(n->issue, p->free);
	uint64_t end = later(start, from->cyc + g->flag_wait);
	struct timed_slice s = slice_of(g, n, start, end);
	uint32_t slice;

	engine_wait_span(c, pipe, start, end);
	p->free = end;
	if (!engine_slice(g, c, pipe, &s, &slice) || !engine_link(g, from, c, pipe, slice, kind))
		return false;
	if (end >= p->last_done) {
		p->last_done = end;
		p->last_slice = slice;
	}
	if (g->races)
		races_join(g->races, c->at, pipe, &from->clock);
	return true;
}

static bool time_barrier(
	struct engine *g, struct core *c, unsigned pipe, struct entry *n, uint64_t *end)
{
	struct pipe *p = &c->pipes[pipe];
	uint64_t start = later(n->issue, p->free);
	struct fired from = {.lane = c->index * ENGINE_PIPES + pipe, .slice = p->last_slice};
	struct timed_slice s;
	uint32_t slice;

	*end = later(start, p->last_done);
	engine_wait_span(c, pipe, start, *end);
	p->free = *end;
	if (g->races)
		races_barrier(g->races, c->at, pipe);
	s = slice_of(g, n, start, *end);
	if (!engine_slice(g, c, pipe, &s, &slice))
		return false;
	return *end == start || engine_link(g, &from, c, pipe, slice, LINK_BARRIER);
}

/* --- the queue --- */

static bool time_x(
	struct engine *g, struct core *c, unsigned pipe, struct entry *n, uint64_t *end, bool *ok)
{
	struct fired *last = NULL, from = {.slice = NO_SLICE};
	uint64_t cyc = 0;

	*ok = engine_xready(g, c, n->xid, &cyc, &last);
	if (!*ok)
		return true;
	if (last)
		from = *last;
	from.cyc = cyc;
	if (!time_wait(g, c, pipe, n, &from, LINK_CROSS_CORE))
		return false;
	*end = c->pipes[pipe].free;
	return engine_xtake(g, c, n->xid, pipe, *end);
}

/* Times one entry; *ok false: it waits for something not yet known. */
static bool time_entry(struct engine *g, struct core *c, unsigned pipe, struct entry *n, bool *ok)
{
	struct pipe *p = &c->pipes[pipe];
	uint64_t end = 0;
	struct fired from;

	*ok = true;
	if (g->races)
		races_issued(g->races, c->at, pipe, n->version);
	switch (n->act) {
	case ACT_SET:
	case ACT_XSET:
		return engine_fire(g, c, n, pipe, later(n->issue, p->last_done) + g->flag_set);
	case ACT_WAIT:
		*ok = engine_take_flag(c, n->flag, &from);
		if (!*ok)
			return true;
		if (!time_wait(g, c, pipe, n, &from, LINK_FLAG) ||
			!engine_released(g, c, n->flag, n->op, p->free))
			return false;
		end = p->free;
		break;
	case ACT_XWAIT:
		if (!time_x(g, c, pipe, n, &end, ok))
			return false;
		if (!*ok)
			return true;
		break;
	case ACT_BAR:
		if (!time_barrier(g, c, pipe, n, &end))
			return false;
		break;
	default:
		if (!time_op(g, c, pipe, n, &end))
			return false;
	}
	if (n->slot != NO_OP)
		p->done[n->slot % g->depth] = end;
	return true;
}

static bool drain_pipe(struct engine *g, struct core *c, unsigned pipe, bool *moved)
{
	struct pipe *p = &c->pipes[pipe];

	while (p->head < p->pending.n) {
		bool ok;

		if (!time_entry(g, c, pipe, &p->pending.v[p->head], &ok))
			return false;
		if (!ok)
			return true;
		p->head++;
		*moved = true;
		if (p->head >= 1024 && p->head * 2 >= p->pending.n) {
			p->pending.n -= p->head;
			memmove(p->pending.v, p->pending.v + p->head,
				p->pending.n * sizeof(*p->pending.v));
			p->head = 0;
		}
	}
	p->head = p->pending.n = 0;
	return true;
}

bool engine_drain(struct engine *g, struct core *c, bool *moved)
{
	for (unsigned pipe = 1; pipe < ENGINE_PIPES; pipe++)
		if (c->pipes[pipe].pending.n && !drain_pipe(g, c, pipe, moved))
			return false;
	while (c->ready) {
		unsigned pipe = (unsigned)__builtin_ctz(c->ready);

		c->ready &= ~(1u << pipe);
		if (c->pipes[pipe].pending.n && !drain_pipe(g, c, pipe, moved))
			return false;
	}
	return true;
}

bool engine_enqueue(struct engine *g, struct core *c, unsigned pipe, struct entry *n)
{
	struct pipe *p = &c->pipes[pipe];
	bool ok = false, moved;

	n->slot = NO_OP;
	if (n->act != ACT_SET && n->act != ACT_XSET) {
		n->slot = p->n_slots++;
		p->done[n->slot % g->depth] = UNKNOWN_CYC;
	}
	if (g->races)
		n->version = races_version(g->races, c->at);
	if (p->pending.n == 0 && !time_entry(g, c, pipe, n, &ok))
		return false;
	if (!ok)
		return VEC_PUSH(&p->pending, *n) || err_nomem(g->e);
	while (c->ready) {
		unsigned next = (unsigned)__builtin_ctz(c->ready);

		c->ready &= ~(1u << next);
		if (c->pipes[next].pending.n && !drain_pipe(g, c, next, &moved))
			return false;
	}
	return true;
}
