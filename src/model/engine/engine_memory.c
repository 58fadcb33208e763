/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_memory.c: what does a transfer cost on a memory shared with other cores? HBM supplies a
 * fixed number of bytes per cycle to all cores that transfer at the same time; data read before, or
 * written by an earlier kernel, comes from L2, where it queues behind reads that miss.
 */
#include "model/engine/engine_memory.h"

void memory_price(const struct engine *g, struct step *st)
{
	const struct op_price *q = &st->price;
	uint64_t queue_e4 = (uint64_t)g->o->profile->k[K_L2_QUEUE].e4, by_share = 0;

	st->cold_cyc = st->hit_cyc = q->data_cyc;
	if (!q->is_read || !g->share_e4)
		return;
	by_share = (uint64_t)(((unsigned __int128)q->bytes * PROF_ONE + g->share_e4 / 2) /
			      g->share_e4);
	if (by_share > PRICE_MAX_CYC / (q->n_dma ? q->n_dma : 1))
		by_share = PRICE_MAX_CYC / (q->n_dma ? q->n_dma : 1);
	if (by_share > q->data_cyc) {
		st->cold_cyc = by_share;
		st->hit_cyc += ((by_share - q->data_cyc) * queue_e4 + PROF_ONE / 2) / PROF_ONE;
	}
}

/* Index of the global-memory operand that a form reads, or -1. */
static int read_operand(const struct opstream *s, const struct op_form *f)
{
	for (unsigned i = 0; i < f->n_opnds; i++)
		if (s->opnds.v[f->first_opnd + i].what == OPND_GM)
			return (int)i;
	return -1;
}

/* Thousandths of a read that come from HBM: 0 if this core has read the data before. */
static bool cold_part(struct engine *g, struct core *c, uint32_t op, unsigned *permille)
{
	const struct op_exec *x = &c->s->ops.v[op];
	const struct op_form *f = &c->s->forms.v[x->form];
	unsigned slot = c->steps[x->form].price.slot;
	int k = read_operand(c->s, f);
	uint64_t *seen;

	*permille = g->o->cold_permille && slot < OPSTREAM_SLOTS ? g->o->cold_permille[slot] : 1000;
	if (k < 0 || !*permille)
		return true;
	seen = u64_map_at(&c->read, c->s->words.v[x->first_word + (unsigned)k] << 8 | slot);
	if (!seen)
		return false;
	if (*seen)
		*permille = 0;
	*seen = 1;
	return true;
}

bool memory_cost(struct engine *g, struct core *c, uint32_t op, uint64_t *lat, uint64_t *each)
{
	const struct step *st = &c->steps[c->s->ops.v[op].form];
	const struct op_price *q = &st->price;
	unsigned cold = 0;

	*lat = q->lat_cyc;
	*each = q->data_cyc;
	if (g->o->profile->dma_serial)
		return true;
	if (!q->is_read) {
		c->out->memory_cyc += q->n_dma * q->data_cyc;
		return true;
	}
	if (!cold_part(g, c, op, &cold))
		return false;
	*each = (st->cold_cyc * cold + st->hit_cyc * (1000 - cold) + 500) / 1000;
	if (q->is_strided)
		*lat += g->hbm_lat * cold / 1000;
	c->out->memory_cyc += q->n_dma * st->cold_cyc * cold / 1000;
	return true;
}

bool memory_share(struct engine *g)
{
	uint64_t busy = 0, span = 0, cores_e3, old = g->share_e4;

	for (size_t i = 0; i < g->out->cores.n; i++) {
		const struct timed_core *c = &g->out->cores.v[i];

		busy += c->memory_cyc < c->end_cyc ? c->memory_cyc : c->end_cyc;
		span += c->end_cyc;
	}
	cores_e3 = g->o->active_permille > 1000 ? g->o->active_permille : 1000;
	cores_e3 = g->o->others_permille + (span ? cores_e3 * busy / span : 0);
	if (cores_e3 < 1000)
		cores_e3 = 1000;
	g->share_e4 = (uint64_t)g->o->profile->k[K_HBM_BW].e4 * 1000 / cores_e3;
	/* move halfway, so that it does not oscillate */
	g->share_e4 = old ? (g->share_e4 + old) / 2 : g->share_e4;
	return g->share_e4 > old + old / 500 || old > g->share_e4 + old / 500;
}
