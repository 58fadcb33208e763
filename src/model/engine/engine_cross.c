/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_cross.c: which sets a cross-core wait needs, and how FIFO ops are expanded.
 *
 * a2a3, mode 2: a set on the AIC counts up on both AIVs; the AIC's counter counts up when both AIVs
 * have set. Modes 0 and 1 are between cores of one kind. a5 (mode 4 here): the AIC selects a lane
 * by its id, with 16 added for lane 1; an AIV uses plain ids.
 */
#include "model/engine/engine_cross.h"

static struct core *find_core(const struct engine *g, enum opstream_core kind, uint32_t lane)
{
	for (uint32_t i = 0; i < g->n_cores; i++)
		if (g->cores[i].s->core == kind &&
			(kind == CORE_AIC || g->cores[i].s->lane == lane))
			return (struct core *)&g->cores[i];
	return NULL;
}

static unsigned all_aivs(const struct engine *g, unsigned id, struct xsource out[BLOCK_CORES])
{
	unsigned n = 0;

	for (uint32_t i = 0; i < g->n_cores; i++)
		if (g->cores[i].s->core == CORE_AIV)
			out[n++] = (struct xsource){i, id};
	return n;
}

static bool aivs_set(const struct engine *g, unsigned id, unsigned mode)
{
	for (uint32_t i = 0; i < g->n_cores; i++)
		if (g->cores[i].s->core == CORE_AIV && g->cores[i].x[id].n_total[mode])
			return true;
	return false;
}

static unsigned intra_source(
	const struct engine *g, const struct core *c, unsigned id, struct xsource out[BLOCK_CORES])
{
	const struct core *from;

	if (c->s->core == CORE_AIC) {
		from = find_core(g, CORE_AIV, id / 16);
		id %= 16;
	} else {
		from = find_core(g, CORE_AIC, 0);
		id = id % 16 + 16 * (c->s->lane & 1);
	}
	if (!from)
		return 0;
	out[0] = (struct xsource){from->at, id};
	return 1;
}

unsigned engine_xsources(
	const struct engine *g, const struct core *c, unsigned id, struct xsource out[BLOCK_CORES])
{
	const struct core *aic = find_core(g, CORE_AIC, 0);

	if (c->s->arch == ARCH_A5 && intra_source(g, c, id, out) &&
		g->cores[out[0].core].x[out[0].id].n_total[4])
		return 1;
	if (c->s->core == CORE_AIC) {
		if (!aivs_set(g, id, 2) && c->x[id].n_total[0]) {
			out[0] = (struct xsource){c->at, id};
			return 1;
		}
		return c->s->arch == ARCH_A5 ? intra_source(g, c, id, out) : all_aivs(g, id, out);
	}
	if (aic && aic->x[id].n_total[2]) {
		out[0] = (struct xsource){aic->at, id};
		return 1;
	}
	if (aivs_set(g, id, 1) || aivs_set(g, id, 0))
		return all_aivs(g, id, out);
	if (!aic)
		return 0;
	out[0] = (struct xsource){aic->at, id};
	return 1;
}

bool engine_xready(
	struct engine *g, struct core *c, unsigned id, uint64_t *cyc, struct fired **last)
{
	struct xsource from[BLOCK_CORES];
	unsigned n = engine_xsources(g, c, id, from);

	*cyc = 0;
	*last = NULL;
	for (unsigned i = 0; i < n; i++) {
		struct xflag *x = &g->cores[from[i].core].x[from[i].id];
		struct fired *f;

		if (x->fired.n <= c->x[id].taken.n)
			return false;
		f = &x->fired.v[c->x[id].taken.n];
		if (!*last || f->cyc > *cyc) {
			*cyc = f->cyc;
			*last = f;
		}
	}
	return true;
}

bool engine_xtake(struct engine *g, struct core *c, unsigned id, unsigned pipe, uint64_t cyc)
{
	struct xsource from[BLOCK_CORES];
	unsigned n = engine_xsources(g, c, id, from);

	g->out->n_external += n == 0;
	for (unsigned i = 0; g->races && i < n; i++)
		races_join(g->races, c->at, pipe,
			&g->cores[from[i].core].x[from[i].id].fired.v[c->x[id].taken.n].clock);
	return VEC_PUSH(&c->x[id].taken, cyc) || err_nomem(g->e);
}

/* --- FIFOs --- */

struct fifo { /* one direction of a TPipe, as one core sees it */
	unsigned data_id, free_id;
	uint32_t period, slots;
	unsigned wait_pipe; /* pipe of this core's waits */
	unsigned move_pipe; /* pipe that its sets follow */
	bool moves;	    /* a pop loads */
	bool frees_in_pop;  /* else TFREE does */
	bool is_intra;	    /* a5 */
	unsigned lanes;	    /* AIC of a5: bits of the AIV lanes on the other side */
};

static struct fifo fifo_of(const struct core *c, const struct op_form *f)
{
	bool is_producer = f->kind == OPK_PUSH || f->kind == OPK_FIFO_END;
	bool is_v2c = is_producer == (c->s->core == CORE_AIV);
	bool is_both = f->fifo_dir == DIR_BOTH || f->fifo_dir == DIR_BOTH_GM;
	bool by_gm = c->s->arch == ARCH_A2A3 || f->fifo_dir >= DIR_C2V_GM;
	unsigned base = (unsigned)f->fifo_flag_id + (is_both && is_v2c ? 2 : 0);
	struct fifo q = {.data_id = base % 16,
		.free_id = (base + 1) % 16,
		.slots = f->fifo_slot_num ? f->fifo_slot_num : 1,
		.is_intra = c->s->arch == ARCH_A5,
		.moves = by_gm,
		.frees_in_pop = c->s->arch == ARCH_A2A3,
		.lanes = c->fifo_lanes[f->fifo_flag_id & 255]};

	q.period = q.slots <= 2 ? q.slots : q.slots / 2;
	if (is_producer)
		q.move_pipe = c->s->core == CORE_AIC ? OPP_FIX : OPP_MTE3;
	else
		q.move_pipe = by_gm ? OPP_MTE2 : c->s->core == CORE_AIC ? OPP_MTE1 : OPP_V;
	q.wait_pipe = q.is_intra ? q.move_pipe : OPP_S;
	return q;
}

static unsigned add_x(const struct core *c, const struct fifo *q, enum act act, unsigned id,
	struct micro out[MAX_MICROS], unsigned n)
{
	struct micro m = {.act = (uint8_t)act,
		.pipe = (uint8_t)(act == ACT_XWAIT ? q->wait_pipe : q->move_pipe),
		.xid = (uint8_t)id,
		.part = act == ACT_XWAIT ? PART_XWAIT : PART_XSET};

	if (!q->is_intra || c->s->core == CORE_AIV) {
		out[n++] = m;
		return n;
	}
	for (unsigned lane = 0; lane < 2; lane++)
		if (q->lanes & 1u << lane) {
			out[n] = m;
			out[n++].xid = (uint8_t)(id + 16 * lane);
		}
	return n;
}

unsigned engine_micros(const struct engine *g, const struct core *c, const struct op_exec *x,
	const struct op_form *f, struct micro out[MAX_MICROS], uint32_t *repeat)
{
	struct fifo q = fifo_of(c, f);
	uint32_t t = x->aux, due;
	unsigned n = 0;

	(void)g;
	*repeat = 1;
	switch (f->kind) {
	case OPK_PUSH:
		if (t >= q.slots && t % q.period == 0)
			n = add_x(c, &q, ACT_XWAIT, q.free_id, out, n);
		out[n++] = (struct micro){ACT_OP, (uint8_t)q.move_pipe, 0, PART_MOVE};
		return add_x(c, &q, ACT_XSET, q.data_id, out, n);
	case OPK_POP:
		n = add_x(c, &q, ACT_XWAIT, q.data_id, out, n);
		if (q.moves)
			out[n++] = (struct micro){ACT_OP, (uint8_t)q.move_pipe, 0, PART_MOVE};
		if (q.frees_in_pop && (t + 1) % q.period == 0)
			n = add_x(c, &q, ACT_XSET, q.free_id, out, n);
		return n;
	case OPK_FREE:
		return !q.frees_in_pop && (t + 1) % q.period == 0
			       ? add_x(c, &q, ACT_XSET, q.free_id, out, n)
			       : 0;
	default: /* the end: remaining credits that no push waited for */
		due = t / q.period;
		if (t > q.slots)
			due -= (t - 1) / q.period - (q.slots - 1) / q.period;
		*repeat = due;
		return due ? add_x(c, &q, ACT_XWAIT, q.free_id, out, n) : 0;
	}
}
