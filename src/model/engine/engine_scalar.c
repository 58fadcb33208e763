/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_scalar.c: runs the ops of a core: its front end (program order, issue costs, full queues,
 * waits of the scalar pipe) and the pipes that it feeds. Parts: pipes; the front end.
 */
#include "model/engine/engine_cross.h"

/* --- pipes ------------------------------------------------------------------------------------ */

/* When does an op in a pipe's queue start, and when is it complete? */

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Adds a slice to a lane; its index goes to *slice (NO_SLICE if slices are not kept). */
static bool engine_slice(struct engine *g, struct core *c, unsigned pipe,
	const struct timed_slice *s, uint32_t *slice)
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

static bool engine_link(struct engine *g, const struct fired *from, struct core *c, unsigned pipe,
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
static void engine_wait_span(struct core *c, unsigned pipe, uint64_t start, uint64_t end)
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
	if (!x->note.message) {
		sb_printf(&text, "double set: %s->%s id %d is set by ", op_pipe_name(f->flag_src),
			op_pipe_name(f->flag_dst), f->flag_id);
		finding_put_op(g->set, &b, &text);
		sb_puts(&text, " before the set of ");
		finding_put_op(g->set, &a, &text);
		sb_puts(&text, " was waited for; a flag is one bit");
		x->note.message = text.failed ? NULL : arena_strdup(&g->out->arena, text.p);
		sb_free(&text);
	}
	return x->note.message ? true : err_nomem(g->e);
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

/* Called when a wait is released at cyc: was its flag set again before? */
static bool engine_released(
	struct engine *g, struct core *c, uint16_t flag, uint32_t op, uint64_t cyc)
{
	struct flag *f = &c->flags[flag];

	f->last_release = cyc;
	f->last_wait_op = op;
	/* the set after the one just taken */
	if (f->head < f->fired.n && is_double(f, f->fired.v[f->head].op, f->fired.v[f->head].cyc))
		return report_double(g, c, f->last_set_op, f->fired.v[f->head].op);
	return true;
}

/* Takes the set that a wait pairs with; false: it has not fired yet. */
static bool engine_take_flag(struct core *c, uint16_t flag, struct fired *out)
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

static bool engine_fire(
	struct engine *g, struct core *c, struct entry *n, unsigned pipe, uint64_t cyc)
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

#define UNKNOWN_CYC UINT64_MAX

/* Passes an entry to a pipe; times it (and what it wakes) if possible. */
static bool engine_enqueue(struct engine *g, struct core *c, unsigned pipe, struct entry *n)
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

/* --- the front end ---------------------------------------------------------------------------- */

/* Writes the issues so far as one slice. */
static bool flush_run(struct engine *g, struct core *c)
{
	struct timed_lane *l = &c->out->lanes[OPP_S];
	uint64_t dur = c->t - c->run_start;
	struct timed_slice s = {.start = c->run_start,
		.dur = dur > UINT32_MAX ? UINT32_MAX : (uint32_t)dur,
		.op = NO_OP,
		.part = PART_ISSUE};
	uint32_t slice;

	if (dur == 0)
		return true;
	s.stall = c->run_stall > s.dur ? s.dur : (uint32_t)c->run_stall;
	g->out->n_clamped += dur > UINT32_MAX;
	l->busy_cyc += dur - c->run_stall;
	l->busy_end = c->t;
	c->run_start = c->t;
	c->run_stall = 0;
	return engine_slice(g, c, OPP_S, &s, &slice);
}

static void pay(struct core *c, uint64_t cyc)
{
	if (!c->is_paid)
		c->t += cyc;
	c->is_paid = true;
}

/* Adds a slice of the scalar lane from t to end; advances the clock to end. */
static bool own_slice(
	struct engine *g, struct core *c, const struct entry *n, uint64_t end, uint32_t *slice)
{
	struct timed_slice s = {.start = c->t, .op = n->op, .part = n->part};
	uint64_t dur = end - c->t;

	if (!flush_run(g, c))
		return false;
	s.dur = dur > UINT32_MAX ? UINT32_MAX : (uint32_t)dur;
	g->out->n_clamped += dur > UINT32_MAX;
	s.is_sync = n->act != ACT_OP;
	if (s.is_sync) {
		engine_wait_span(c, OPP_S, c->t, end);
	} else {
		c->out->lanes[OPP_S].busy_cyc += dur;
		c->out->lanes[OPP_S].busy_end = end;
		c->out->lanes[OPP_S].n_ops++;
	}
	c->t = c->run_start = end;
	return engine_slice(g, c, OPP_S, &s, slice);
}

static bool blocked(
	struct core *c, enum block_kind kind, uint32_t pipe, uint32_t flag, uint32_t xid)
{
	c->block.kind = kind;
	c->block.pipe = pipe;
	c->block.flag = flag;
	c->block.xid = xid;
	c->block.op = c->pc;
	return true;
}

/* Ensures room in a pipe's queue, if necessary by advancing the clock until there is some. */
static bool need_slot(struct engine *g, struct core *c, unsigned pipe)
{
	struct pipe *p = &c->pipes[pipe];
	uint64_t done;

	if (p->n_slots < g->depth)
		return true;
	done = p->done[p->n_slots % g->depth];
	if (done == UNKNOWN_CYC)
		return blocked(c, BLOCK_QUEUE, pipe, 0, 0);
	if (done > c->t) {
		if (!flush_run(g, c))
			return false;
		c->out->lanes[OPP_S].stall_cyc += done - c->t;
		c->run_stall = done - c->t;
		c->t = done;
	}
	return true;
}

static void scalar_clock_changed(struct engine *g, struct core *c)
{
	bool pending = false;

	for (unsigned i = 1; i < ENGINE_PIPES; i++)
		pending = pending || c->pipes[i].pending.n;
	races_scalar_changed(g->races, c->at, pending);
}

/* --- waits of the scalar pipe itself --- */

static bool scalar_set(struct engine *g, struct core *c, struct entry *n)
{
	bool moved;

	return engine_fire(g, c, n, OPP_S, c->t + g->flag_set) && engine_drain(g, c, &moved);
}

static bool scalar_wait(struct engine *g, struct core *c, struct entry *n)
{
	struct fired from;
	uint64_t end;
	uint32_t slice;

	if (!engine_take_flag(c, n->flag, &from))
		return blocked(c, BLOCK_FLAG, OPP_S, n->flag, 0);
	end = from.cyc + g->flag_wait > c->t ? from.cyc + g->flag_wait : c->t;
	if (!own_slice(g, c, n, end, &slice) || !engine_link(g, &from, c, OPP_S, slice, LINK_FLAG))
		return false;
	if (g->races) {
		race_join(races_clock(g->races, c->at, OPP_S), &from.clock);
		scalar_clock_changed(g, c);
	}
	return engine_released(g, c, n->flag, n->op, end);
}

static bool scalar_xwait(struct engine *g, struct core *c, struct entry *n)
{
	struct fired *last = NULL;
	uint64_t cyc = 0, end;
	uint32_t slice;

	if (!engine_xready(g, c, n->xid, &cyc, &last))
		return blocked(c, BLOCK_X, OPP_S, 0, n->xid);
	end = cyc + g->flag_wait > c->t ? cyc + g->flag_wait : c->t;
	if (!last)
		end = c->t;
	if (!own_slice(g, c, n, end, &slice) ||
		(last && !engine_link(g, last, c, OPP_S, slice, LINK_CROSS_CORE)))
		return false;
	if (!engine_xtake(g, c, n->xid, OPP_S, end))
		return false;
	if (g->races)
		scalar_clock_changed(g, c);
	return true;
}

static bool scalar_barrier(struct engine *g, struct core *c, struct entry *n)
{
	struct fired from = {.slice = NO_SLICE};
	uint64_t end = c->t;
	uint32_t slice;

	for (unsigned i = 1; i < ENGINE_PIPES; i++)
		if (c->pipes[i].pending.n)
			return blocked(c, BLOCK_ALL, i, 0, 0);
	for (unsigned i = 1; i < ENGINE_PIPES; i++)
		if (c->pipes[i].last_done > end) {
			end = c->pipes[i].last_done;
			from.lane = c->index * ENGINE_PIPES + i;
			from.slice = c->pipes[i].last_slice;
		}
	if (!own_slice(g, c, n, end, &slice) ||
		!engine_link(g, &from, c, OPP_S, slice, LINK_BARRIER))
		return false;
	if (g->races) {
		for (unsigned i = 1; i < ENGINE_PIPES; i++)
			race_join(races_clock(g->races, c->at, OPP_S),
				races_clock(g->races, c->at, i));
		scalar_clock_changed(g, c);
	}
	return true;
}

/* --- ops --- */

static bool touches_memory(const struct core *c, const struct op_form *f)
{
	for (unsigned i = 0; i < f->n_opnds; i++)
		if (c->s->opnds.v[f->first_opnd + i].access)
			return true;
	return false;
}

static bool scalar_op(struct engine *g, struct core *c, const struct step *st, struct entry *n)
{
	uint32_t slice;
	uint64_t end = c->t + st->price.issue_cyc;

	if (st->price.status > c->out->lanes[OPP_S].status)
		c->out->lanes[OPP_S].status = st->price.status;
	if (!own_slice(g, c, n, end, &slice))
		return false;
	if (!g->races || !touches_memory(c, &c->s->forms.v[c->s->ops.v[n->op].form]))
		return true;
	if (!races_op(g->races, c->at, OPP_S, n->op))
		return err_nomem(g->e);
	scalar_clock_changed(g, c);
	return true;
}

/* One micro op; the front end is blocked if c->block says so afterwards. */
static bool do_micro(struct engine *g, struct core *c, const struct micro *m, struct entry *n)
{
	n->act = m->act;
	n->part = m->part;
	n->xid = m->xid;
	pay(c, m->act == ACT_OP ? g->s_op : g->s_sync);
	if (m->pipe == OPP_S) {
		if (m->act == ACT_XWAIT)
			return scalar_xwait(g, c, n);
		return m->act == ACT_XSET ? scalar_set(g, c, n) : true;
	}
	if (m->act != ACT_XSET && !need_slot(g, c, m->pipe))
		return false;
	if (c->block.kind != BLOCK_NONE)
		return true;
	n->issue = c->t;
	return engine_enqueue(g, c, m->pipe, n);
}

static bool do_fifo(struct engine *g, struct core *c, struct entry *n)
{
	const struct op_exec *x = &c->s->ops.v[c->pc];
	struct micro m[MAX_MICROS];
	uint32_t repeat;
	unsigned n_micros = engine_micros(g, c, x, &c->s->forms.v[x->form], m, &repeat);

	while (n_micros && c->micro < n_micros * repeat) {
		if (!do_micro(g, c, &m[c->micro % n_micros], n))
			return false;
		if (c->block.kind != BLOCK_NONE)
			return true;
		c->micro++;
		c->is_paid = false;
	}
	if (n_micros == 0)
		pay(c, g->s_sync);
	g->out->n_fallback += c->steps[x->form].price.is_fallback;
	return true;
}

static bool bad_flag(struct engine *g, struct core *c)
{
	const struct op_form *f = &c->s->forms.v[c->s->ops.v[c->pc].form];
	struct finding_op a = {c->out->stream, c->pc, f->pipe}, none = {0, NO_OP, 0};
	struct model_finding *x = finding_add(g->out, g->set, FIND_BAD_FLAG, &a, &none);
	struct strbuf text = {0};

	if (!x)
		return err_nomem(g->e);
	if (!x->note.message) {
		sb_puts(&text, "bad flag: ");
		finding_put_op(g->set, &a, &text);
		if (f->kind == OPK_XSET || f->kind == OPK_XWAIT)
			sb_printf(&text, " names cross-core id %d; ids are 0 to 15", f->flag_id);
		else
			sb_printf(&text, " names %s->%s id %d; ids are 0 to 7 between two pipes",
				op_pipe_name(f->flag_src), op_pipe_name(f->flag_dst), f->flag_id);
		x->note.message = text.failed ? NULL : arena_strdup(&g->out->arena, text.p);
		sb_free(&text);
	}
	return x->note.message ? true : err_nomem(g->e);
}

static bool do_sync(struct engine *g, struct core *c, const struct step *st, struct entry *n)
{
	bool is_wait = st->kind == OPK_WAIT || st->kind == OPK_XWAIT;

	pay(c, g->s_sync);
	if (st->is_bad)
		return bad_flag(g, c);
	n->flag = st->flag;
	n->xid = st->xid;
	n->act = st->kind == OPK_SET	 ? ACT_SET
		 : st->kind == OPK_WAIT	 ? ACT_WAIT
		 : st->kind == OPK_XSET	 ? ACT_XSET
		 : st->kind == OPK_XWAIT ? ACT_XWAIT
					 : ACT_BAR;
	if (st->pipe == OPP_S || st->pipe == OPP_ALL) {
		if (st->kind == OPK_BARRIER)
			return st->pipe == OPP_S || scalar_barrier(g, c, n);
		if (st->kind == OPK_XWAIT)
			return scalar_xwait(g, c, n);
		return is_wait ? scalar_wait(g, c, n) : scalar_set(g, c, n);
	}
	if (n->act != ACT_SET && n->act != ACT_XSET && !need_slot(g, c, st->pipe))
		return false;
	if (c->block.kind != BLOCK_NONE)
		return true;
	n->issue = c->t;
	return engine_enqueue(g, c, st->pipe, n);
}

static bool do_op(struct engine *g, struct core *c, const struct step *st)
{
	struct entry n = {.op = c->pc, .act = ACT_OP, .part = PART_OP, .flag = NO_FLAG};
	uint32_t slice;

	switch (st->kind) {
	case OPK_SET:
	case OPK_WAIT:
	case OPK_BARRIER:
	case OPK_XSET:
	case OPK_XWAIT:
		return do_sync(g, c, st, &n);
	case OPK_PUSH:
	case OPK_POP:
	case OPK_FREE:
	case OPK_FIFO_END:
		return do_fifo(g, c, &n);
	case OPK_EXT:
		g->out->n_external++;
		n.act = ACT_WAIT;
		return own_slice(g, c, &n, c->t, &slice);
	default:
		break;
	}
	if (st->pipe == OPP_NONE)
		return true;
	g->out->n_fallback += st->price.is_fallback;
	g->out->n_unknown += st->price.is_unknown;
	if (st->pipe == OPP_S || st->pipe == OPP_ALL)
		return scalar_op(g, c, st, &n);
	pay(c, st->price.issue_cyc);
	if (!need_slot(g, c, st->pipe))
		return false;
	if (c->block.kind != BLOCK_NONE) {
		/* counted once it is not blocked */
		g->out->n_fallback -= st->price.is_fallback;
		g->out->n_unknown -= st->price.is_unknown;
		return true;
	}
	n.issue = c->t;
	return engine_enqueue(g, c, st->pipe, &n);
}

/* An op above the previous one in the source, or on its line, begins an iteration: the scalar pipe
 * has counted, compared and jumped. Ops without a place in the source are ignored. */
static void pay_loop(struct engine *g, struct core *c)
{
	const struct op_site *at = &c->s->sites.v[c->s->ops.v[c->pc].site], *last = c->last_site;
	uint8_t *fetched = &c->fetched[c->s->ops.v[c->pc].site];

	if (!at->line || c->loop_pc == c->pc + 1)
		return;
	if (!*fetched) /* its instructions are not cached yet */
		c->t += g->s_fetch;
	*fetched = 1;
	if (last && last->file == at->file && at->line <= last->line &&
		(at != last || c->last_form == c->s->ops.v[c->pc].form))
		c->t += g->s_loop;
	c->loop_pc = c->pc + 1;
	c->last_site = at;
	c->last_form = c->s->ops.v[c->pc].form;
}

bool engine_scalar(struct engine *g, struct core *c, bool *moved)
{
	struct entry end = {.op = NO_OP, .act = ACT_BAR, .part = PART_END, .flag = NO_FLAG};

	if (c->is_done)
		return true;
	c->block.kind = BLOCK_NONE;
	for (; c->pc < c->s->ops.n; c->pc++) {
		pay_loop(g, c);
		if (!do_op(g, c, &c->steps[c->s->ops.v[c->pc].form]))
			return false;
		if (c->block.kind != BLOCK_NONE)
			return true;
		c->is_paid = false;
		c->micro = 0;
		*moved = true;
	}
	if (!scalar_barrier(g, c, &end))
		return false;
	if (c->block.kind != BLOCK_NONE)
		return true;
	c->is_done = *moved = true;
	c->out->end_cyc = c->t;
	c->out->is_complete = true;
	return flush_run(g, c);
}
