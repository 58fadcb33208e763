/* SPDX-License-Identifier: Apache-2.0 */
/* engine.c: sets up the streams of each block and runs them to the end or until they are stuck. */
#include "model/engine/engine_cross.h"
#include "model/engine/engine_memory.h"

#define LOAD_ROUNDS 8 /* after this many rounds the memory share is accurate enough */

static uint64_t whole(const struct profile *p, enum prof_key k)
{
	return ((uint64_t)p->k[k].e4 + PROF_ONE / 2) / PROF_ONE;
}

/* --- forms --- */

static bool is_pipe(unsigned p)
{
	return p < ENGINE_PIPES && p != OPP_ALL;
}

static void step_flag(struct step *st, const struct op_form *f)
{
	st->flag = NO_FLAG;
	if (f->kind == OPK_SET || f->kind == OPK_WAIT) {
		st->pipe = f->kind == OPK_SET ? f->flag_src : f->flag_dst;
		st->is_bad = !is_pipe(f->flag_src) || !is_pipe(f->flag_dst) ||
			     f->flag_src == f->flag_dst || f->flag_id < 0 ||
			     f->flag_id >= N_FLAG_IDS;
		if (!st->is_bad)
			st->flag =
				(uint16_t)((f->flag_src * ENGINE_PIPES + f->flag_dst) * N_FLAG_IDS +
					   f->flag_id);
	}
	if (f->kind == OPK_XSET || f->kind == OPK_XWAIT) {
		st->pipe = f->kind == OPK_XSET ? f->flag_src : f->flag_dst;
		if (!is_pipe(st->pipe))
			st->pipe = OPP_S;
		st->is_bad = f->flag_id < 0 || f->flag_id >= N_XIDS;
		st->xid = (uint8_t)(f->flag_id & (N_XIDS - 1));
	}
	if (f->kind == OPK_BARRIER && !is_pipe(f->pipe))
		st->pipe = OPP_ALL;
}

static bool make_steps(struct engine *g, struct core *c)
{
	c->steps = mem_zalloc(c->s->forms.n + 1, sizeof(*c->steps));
	if (!c->steps)
		return err_nomem(g->e);
	for (size_t i = 0; i < c->s->forms.n; i++) {
		const struct op_form *f = &c->s->forms.v[i];
		struct step *st = &c->steps[i];

		st->kind = f->kind;
		st->pipe = f->pipe;
		price_form(g->o->profile, c->s, f, &st->price);
		/* n transfers are one duration, too */
		if (st->price.is_dma && st->price.data_cyc &&
			st->price.n_dma > PRICE_MAX_CYC / st->price.data_cyc)
			st->price.n_dma = (uint32_t)(PRICE_MAX_CYC / st->price.data_cyc);
		step_flag(st, f);
		memory_price(g, st);
	}
	return true;
}

static bool check_known(struct engine *g, const struct core *c, uint32_t op)
{
	const struct op_exec *x = &c->s->ops.v[op];
	const struct op_site *at = &c->s->sites.v[x->site];

	if (!c->steps[x->form].price.is_unknown || g->o->allow_unknown)
		return true;
	return err_set(g->e, INCORE_BAD_INPUT, "unknown-op",
		"the model does not know %s (%s:%u, seq %u, %s); --allow-unknown times it at a marked guess",
		opstream_str(c->s, c->s->forms.v[x->form].name), opstream_str(c->s, at->file),
		at->line, op, opstream_core_name(c->s));
}

/* --- totals: how many sets a wait can get --- */

static void count_fifo_sets(struct engine *g, struct core *c, const struct op_exec *x)
{
	const struct op_form *f = &c->s->forms.v[x->form];
	struct micro m[MAX_MICROS];
	uint32_t repeat;
	unsigned n = engine_micros(g, c, x, f, m, &repeat);

	for (unsigned i = 0; i < n; i++)
		if (m[i].act == ACT_XSET)
			c->x[m[i].xid].n_total[c->s->arch == ARCH_A5 ? 4 : 2]++;
}

static bool count_sets(struct engine *g, struct core *c)
{
	for (uint32_t i = 0; i < c->s->ops.n; i++) {
		const struct op_exec *x = &c->s->ops.v[i];
		const struct step *st = &c->steps[x->form];
		unsigned mode;

		if (st->price.is_unknown && !check_known(g, c, i))
			return false;
		switch (st->kind) {
		case OPK_SET:
			if (!st->is_bad)
				c->flags[st->flag].n_total++;
			break;
		case OPK_XSET:
			mode = c->s->forms.v[x->form].flag_mode;
			if (!st->is_bad)
				c->x[st->xid].n_total[mode <= 4 ? mode : 2]++;
			break;
		case OPK_PUSH:
		case OPK_POP:
		case OPK_FREE:
			count_fifo_sets(g, c, x);
			break;
		default:
			break;
		}
	}
	return true;
}

static void find_fifo_lanes(struct engine *g, const struct core *c)
{
	EACH (const struct op_form, f, c->s->forms.v, c->s->forms.n) {
		if (c->s->core == CORE_AIV && (f->kind == OPK_PUSH || f->kind == OPK_POP))
			for (uint32_t k = 0; k < g->n_cores; k++)
				g->cores[k].fifo_lanes[f->fifo_flag_id & 255] |=
					1u << (c->s->lane & 1);
	}
}

/* --- one block --- */

static bool init_core(struct engine *g, struct core *c, uint32_t index)
{
	c->out = &g->out->cores.v[index];
	c->index = index;
	c->s = &g->set->v.v[c->out->stream];
	c->at = (uint32_t)(c - g->cores);
	c->t = g->launch;
	c->flags = mem_zalloc(N_FLAGS, sizeof(*c->flags));
	c->fetched = mem_zalloc(c->s->sites.n + 1, 1);
	if (!c->flags || !c->fetched)
		return err_nomem(g->e);
	for (unsigned i = 0; i < ENGINE_PIPES; i++) {
		c->pipes[i].last_slice = NO_SLICE;
		c->pipes[i].done = mem_zalloc(g->depth, sizeof(uint64_t));
		if (!c->pipes[i].done)
			return err_nomem(g->e);
	}
	c->out->lanes[OPP_S].status = (uint8_t)g->o->profile->k[K_S_OP].status;
	return make_steps(g, c);
}

static void deinit_core(struct core *c)
{
	for (unsigned i = 0; c->flags && i < N_FLAGS; i++)
		VEC_FREE(&c->flags[i].fired);
	for (unsigned i = 0; i < N_XIDS; i++) {
		VEC_FREE(&c->x[i].fired);
		VEC_FREE(&c->x[i].taken);
	}
	for (unsigned i = 0; i < ENGINE_PIPES; i++) {
		VEC_FREE(&c->pipes[i].pending);
		mem_free(c->pipes[i].done);
	}
	u64_map_deinit(&c->read);
	mem_free(c->fetched);
	mem_free(c->flags);
	mem_free(c->steps);
}

static bool run_rounds(struct engine *g)
{
	while (!g->is_stopped) {
		bool moved = false, all_done = true;

		EACH (struct core, c, g->cores, g->n_cores) {
			if (!engine_drain(g, c, &moved) || !engine_scalar(g, c, &moved))
				return false;
			all_done = all_done && c->is_done;
		}
		if (all_done)
			return true;
		if (!moved && !engine_stuck(g))
			return false;
	}
	return true;
}

/* Lets operations in progress on its pipes end. */
static void end_stuck(struct core *c)
{
	c->out->end_cyc = c->t;
	for (unsigned p = 0; p < ENGINE_PIPES; p++)
		if (c->out->lanes[p].busy_end > c->out->end_cyc)
			c->out->end_cyc = c->out->lanes[p].busy_end;
}

/* Cores [first, first + n) of the result are one block. */
static bool run_block(struct engine *g, uint32_t first, uint32_t n)
{
	uint32_t streams[BLOCK_CORES];
	bool ok = true;

	memset(g->cores, 0, sizeof(g->cores));
	g->n_cores = n;
	g->is_stopped = false;
	for (uint32_t i = 0; ok && i < n; i++) {
		streams[i] = g->out->cores.v[first + i].stream;
		ok = init_core(g, &g->cores[i], first + i);
	}
	for (uint32_t i = 0; ok && i < n; i++)
		find_fifo_lanes(g, &g->cores[i]);
	for (uint32_t i = 0; ok && i < n; i++)
		ok = count_sets(g, &g->cores[i]);
	if (ok && g->o->find_races) {
		g->races = races_new(g->set, streams, n, g->out);
		ok = g->races || err_nomem(g->e);
	}
	ok = ok && run_rounds(g) && engine_left(g) && engine_counters(g);
	races_free(g->races);
	g->races = NULL;
	for (uint32_t i = 0; i < n; i++) {
		g->out->n_ops += g->cores[i].s ? g->cores[i].s->ops.n : 0;
		if (g->cores[i].out && !g->cores[i].is_done)
			end_stuck(&g->cores[i]);
		deinit_core(&g->cores[i]);
	}
	return ok;
}

static bool add_cores(const struct opstream_set *set, struct timed *out, struct incore_error *e)
{
	for (size_t i = 0; i < set->v.n; i++) {
		const struct opstream *s = &set->v.v[i];

		if (!VEC_PUSH(&out->cores,
			    (struct timed_core){.stream = (uint32_t)i, .block = s->block_idx}))
			return err_nomem(e);
		if (!s->is_complete) {
			out->is_complete = false;
			out->reason = "the kernel did not run to its end";
		}
	}
	return true;
}

static bool has_blocks(const struct timed *t)
{
	for (size_t i = 1; i < t->cores.n; i++)
		if (t->cores.v[i].block != t->cores.v[0].block)
			return true;
	return false;
}

/* Runs all blocks once with the current memory share. */
static bool run_once(struct engine *g, struct incore_error *e)
{
	struct timed *out = g->out;
	bool ok;

	*out = (struct timed){.is_complete = true,
		.has_load = g->o->active_permille > 1000 || g->o->others_permille};
	arena_init(&out->arena);
	ok = add_cores(g->set, out, e);
	for (uint32_t i = 0, n; ok && i < out->cores.n; i += n) {
		for (n = 1; i + n < out->cores.n &&
			    out->cores.v[i + n].block == out->cores.v[i].block && n < BLOCK_CORES;)
			n++;
		ok = run_block(g, i, n);
	}
	if (!ok)
		timed_deinit(out);
	return ok;
}

bool engine_run(const struct opstream_set *set, const struct engine_options *o, struct timed *out,
	struct incore_error *e)
{
	const struct profile *p = o->profile;
	struct engine *g = mem_zalloc(1, sizeof(*g));
	struct engine_options quick = {0};
	bool ok = g != NULL;

	if (!g) {
		*out = (struct timed){0};
		return err_nomem(e);
	}
	*g = (struct engine){.set = set, .o = o, .out = out, .e = e};
	g->depth = (uint32_t)whole(p, K_QUEUE_DEPTH);
	g->flag_set = whole(p, K_FLAG_SET);
	g->flag_wait = whole(p, K_FLAG_WAIT);
	g->s_sync = whole(p, K_S_SYNC);
	g->s_op = whole(p, K_S_OP);
	g->s_loop = whole(p, K_S_LOOP);
	g->s_fetch = whole(p, K_S_FETCH);
	g->launch = whole(p, K_LAUNCH);
	g->hbm_lat = whole(p, K_HBM_LAT);
	if (p->k[K_HBM_BW].e4 > 0 && (o->active_permille > 1000 || o->others_permille)) {
		/* memory load and time depend on each other, hence iterate */
		quick = *o;
		quick.keep_slices = quick.find_races = false;
		g->o = &quick;
		for (unsigned i = 0; ok && i < LOAD_ROUNDS && (i == 0 || memory_share(g)); i++) {
			if (i)
				timed_deinit(out);
			ok = run_once(g, e);
		}
		if (ok)
			timed_deinit(out);
		g->o = o;
	}
	ok = ok && run_once(g, e);
	if (ok && o->find_races && has_blocks(out) && !engine_blocks(set, out)) {
		timed_deinit(out);
		ok = err_nomem(e);
	}
	mem_free(g);
	return ok;
}

void timed_deinit(struct timed *t)
{
	for (size_t i = 0; i < t->cores.n; i++)
		for (unsigned k = 0; k < ENGINE_PIPES; k++)
			VEC_FREE(&t->cores.v[i].lanes[k].slices);
	VEC_FREE(&t->cores);
	VEC_FREE(&t->links);
	VEC_FREE(&t->findings);
	arena_deinit(&t->arena);
}
