/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine.c: sets up the streams of each block and runs them to the end or until they are stuck.
 * Parts: shared memory; cross-core counters at the end; nothing can run; blocks that share memory;
 * the run.
 */
#include <assert.h>

#include "base/search.h"
#include "model/engine/engine_cross.h"
#include "model/stream/ranges.h"

/* --- shared memory ---------------------------------------------------------------------------- */

/*
 * What does a transfer cost on a memory shared with other cores? HBM supplies a fixed number of
 * bytes per cycle to all cores that transfer at the same time; data read before, or written by an
 * earlier kernel, comes from L2, where it queues behind reads that miss.
 */

/* Computes how long each transfer of a read takes with the core's share of the memory. */
static void memory_price(const struct engine *g, struct step *st)
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

/* Updates the share from the run in g->out; true: it has changed noticeably. */
static bool memory_share(struct engine *g)
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

/* --- cross-core counters at the end ----------------------------------------------------------- */

/*
 * Checks cross-core counters at the end. Sets that nobody waited for do not depend on the times; a
 * counter overflow does depend on the estimated times.
 */

#define COUNTER_MAX 15u
#define SHARED_IDS 16u /* an AIV has no others */

struct counter { /* counter of one core, and the cores whose sets it counts */
	const struct core *c;
	unsigned id, n_from;
	struct xsource from[BLOCK_CORES];
};

/* The k-th set that it counts, i.e. the latest of the k-th sets of its sources; or NULL. */
static const struct fired *kth_set(const struct engine *g, const struct counter *n, size_t k)
{
	const struct fired *last = NULL;

	for (unsigned i = 0; i < n->n_from; i++) {
		const struct xflag *x = &g->cores[n->from[i].core].x[n->from[i].id];

		if (x->fired.n <= k)
			return NULL;
		if (!last || x->fired.v[k].cyc > last->cyc)
			last = &x->fired.v[k];
	}
	return last;
}

static struct finding_op op_of(const struct engine *g, const struct fired *f)
{
	return (struct finding_op){g->out->cores.v[f->lane / ENGINE_PIPES].stream, f->op,
		(uint8_t)(f->lane % ENGINE_PIPES)};
}

/* Returns the finding about the set; starts its text if it is new. */
static struct model_finding *begin(
	struct engine *g, enum finding_kind kind, const struct fired *set, struct strbuf *text)
{
	struct finding_op a = op_of(g, set), none = {0, NO_OP, 0};
	struct model_finding *x = finding_add(g->out, g->set, kind, &a, &none);

	if (x && !x->note.message)
		finding_put_op(g->set, &a, text);
	return x;
}

static bool end(struct engine *g, struct model_finding *x, struct strbuf *text)
{
	x->note.message = text->failed ? NULL : arena_strdup(&g->out->arena, text->p);
	sb_free(text);
	return x->note.message ? true : err_nomem(g->e);
}

static bool check_left(struct engine *g, const struct counter *n)
{
	size_t waits = n->c->x[n->id].taken.n, sets = waits;
	const struct fired *first = kth_set(g, n, waits);
	struct model_finding *x;
	struct strbuf text = {0};

	if (!first)
		return true;
	while (kth_set(g, n, sets))
		sets++;
	x = begin(g, FIND_LEFT_SET, first, &text);
	if (!x)
		return err_nomem(g->e);
	if (x->note.message)
		return true;
	sb_printf(&text,
		" leaves cross-core id %u set at exit: %s counts %zu sets and %zu waits; what is left would reach the next kernel on that core",
		n->id, opstream_core_name(n->c->s), sets, waits);
	return end(g, x, &text);
}

static bool check_full(struct engine *g, const struct counter *n)
{
	const struct xflag *own = &n->c->x[n->id];
	const struct fired *set;

	for (size_t k = COUNTER_MAX; (set = kth_set(g, n, k)); k++) {
		size_t due = k - COUNTER_MAX; /* this wait must have made room */
		struct strbuf text = {0};
		struct model_finding *x;

		if (due < own->taken.n && own->taken.v[due] <= set->cyc)
			continue;
		x = begin(g, FIND_COUNTER_FULL, set, &text);
		if (!x)
			return err_nomem(g->e);
		if (x->note.message)
			return true;
		sb_printf(&text,
			" is set number %zu of cross-core id %u, and %s has waited %zu times by then (at these times): a counter holds at most %u",
			k + 1, n->id, opstream_core_name(n->c->s),
			due < own->taken.n ? due : own->taken.n, COUNTER_MAX);
		return end(g, x, &text);
	}
	return true;
}

/* After the end, reports counters that are left set or overflowed. */
static bool engine_counters(struct engine *g)
{
	for (uint32_t i = 0; i < g->n_cores; i++) {
		struct counter n = {.c = &g->cores[i]};
		unsigned ids = n.c->s->core == CORE_AIC ? N_XIDS : SHARED_IDS;

		for (; n.c->is_done && n.id < ids; n.id++) {
			n.n_from = engine_xsources(g, n.c, n.id, n.from);
			if (!check_left(g, &n) || !check_full(g, &n))
				return false;
		}
	}
	return true;
}

/* --- nothing can run -------------------------------------------------------------------------- */

/*
 * Why can nothing run? A wait that no set will ever satisfy is reported and released, so that the
 * rest of the kernel is still checked; otherwise the cycle of waits is a deadlock.
 */

/* A pipe (or the scalar pipe, 0) of a core that cannot continue. */
struct node {
	struct core *c;
	unsigned pipe;
};

static const struct entry *head_of(const struct node *n)
{
	const struct pipe *p = &n->c->pipes[n->pipe];

	return n->pipe != OPP_S && p->pending.n ? &p->pending.v[p->head] : NULL;
}

static uint32_t stuck_op_of(const struct node *n)
{
	const struct entry *h = head_of(n);

	if (n->pipe != OPP_S)
		return h ? h->op : NO_OP;
	return n->c->pc < n->c->s->ops.n ? n->c->pc : NO_OP;
}

/* What a node waits for, as BLOCK_FLAG, BLOCK_X, ...; the id in *id. */
static enum block_kind waits_for(const struct node *n, unsigned *id)
{
	const struct entry *h = head_of(n);

	if (n->pipe == OPP_S) {
		*id = n->c->block.kind == BLOCK_FLAG ? n->c->block.flag : n->c->block.xid;
		return n->c->block.kind;
	}
	if (!h)
		return BLOCK_NONE;
	*id = h->act == ACT_WAIT ? h->flag : h->xid;
	return h->act == ACT_WAIT ? BLOCK_FLAG : BLOCK_X;
}

/* --- unmatched --- */

static bool is_unmatched_x(struct engine *g, struct core *c, unsigned id)
{
	struct xsource from[BLOCK_CORES];
	unsigned n = engine_xsources(g, c, id, from);

	for (unsigned i = 0; i < n; i++) {
		const struct xflag *x = &g->cores[from[i].core].x[from[i].id];
		uint64_t total = 0;

		for (unsigned m = 0; m < 5; m++)
			total += x->n_total[m];
		if (total <= c->x[id].taken.n)
			return true;
	}
	return false;
}

static bool is_unmatched(struct engine *g, const struct node *n)
{
	unsigned id = 0;

	switch (waits_for(n, &id)) {
	case BLOCK_FLAG:
		return n->c->flags[id].n_total <= n->c->flags[id].n_wait;
	case BLOCK_X:
		return is_unmatched_x(g, n->c, id);
	default:
		return false;
	}
}

static bool release(struct engine *g, const struct node *n)
{
	struct fired x = {.slice = NO_SLICE, .op = stuck_op_of(n)};
	struct xsource from[BLOCK_CORES];
	unsigned id = 0, n_from;

	if (waits_for(n, &id) == BLOCK_FLAG) {
		n->c->flags[id].n_set++;
		return VEC_PUSH(&n->c->flags[id].fired, x) || err_nomem(g->e);
	}
	n_from = engine_xsources(g, n->c, id, from);
	for (unsigned i = 0; i < n_from; i++) {
		struct xflag *f = &g->cores[from[i].core].x[from[i].id];

		while (f->fired.n <= n->c->x[id].taken.n)
			if (!VEC_PUSH(&f->fired, x))
				return err_nomem(g->e);
	}
	return true;
}

static bool report_unmatched(struct engine *g, const struct node *n)
{
	struct finding_op a = {n->c->out->stream, stuck_op_of(n), (uint8_t)n->pipe},
			  none = {0, NO_OP, 0};
	struct model_finding *x = finding_add(g->out, g->set, FIND_UNMATCHED_WAIT, &a, &none);
	struct strbuf text = {0};
	unsigned id = 0;

	if (!x)
		return err_nomem(g->e);
	if (x->note.message)
		return true;
	sb_puts(&text, "unmatched wait: ");
	finding_put_op(g->set, &a, &text);
	if (waits_for(n, &id) == BLOCK_FLAG) {
		unsigned src = id / N_FLAG_IDS / ENGINE_PIPES;
		unsigned dst = id / N_FLAG_IDS % ENGINE_PIPES;

		sb_printf(&text,
			" waits for %s->%s id %u a %s time, the kernel sets it %u times: missing set_flag(PIPE_%s, PIPE_%s, EVENT_ID%u)",
			op_pipe_name(src), op_pipe_name(dst), id % N_FLAG_IDS,
			n->c->flags[id].n_wait ? "further" : "first", n->c->flags[id].n_total,
			op_pipe_name(src), op_pipe_name(dst), id % N_FLAG_IDS);
	} else {
		sb_printf(&text,
			" waits for cross-core id %u, which the other side does not set that often",
			id);
	}
	x->note.message = text.failed ? NULL : arena_strdup(&g->out->arena, text.p);
	sb_free(&text);
	return x->note.message ? true : err_nomem(g->e);
}

/* --- deadlock --- */

/* Is a set of this flag in the queue of its pipe, after the entry that blocks it? */
static bool is_queued(const struct pipe *p, enum act act, unsigned id)
{
	for (size_t i = p->head; i < p->pending.n; i++)
		if (p->pending.v[i].act == act &&
			(act == ACT_SET ? p->pending.v[i].flag : p->pending.v[i].xid) == id)
			return true;
	return false;
}

/* The node that must advance first. */
static struct node next_of(struct engine *g, const struct node *n)
{
	struct xsource from[BLOCK_CORES];
	unsigned id = 0, n_from;

	switch (waits_for(n, &id)) {
	case BLOCK_QUEUE:
	case BLOCK_ALL:
		return (struct node){n->c, n->c->block.pipe};
	case BLOCK_FLAG: {
		unsigned src = id / N_FLAG_IDS / ENGINE_PIPES;

		return (struct node){n->c, is_queued(&n->c->pipes[src], ACT_SET, id) ? src : OPP_S};
	}
	case BLOCK_X:
		n_from = engine_xsources(g, n->c, id, from);
		for (unsigned i = 0; i < n_from; i++) {
			struct core *c = &g->cores[from[i].core];

			if (c->x[from[i].id].fired.n > n->c->x[id].taken.n)
				continue;
			for (unsigned pipe = 1; pipe < ENGINE_PIPES; pipe++)
				if (is_queued(&c->pipes[pipe], ACT_XSET, from[i].id))
					return (struct node){c, pipe};
			return (struct node){c, OPP_S};
		}
		break;
	default:
		break;
	}
	return *n;
}

static void put_node(struct engine *g, const struct node *n, struct strbuf *out)
{
	struct finding_op at = {n->c->out->stream, stuck_op_of(n), (uint8_t)n->pipe};
	unsigned id = 0;

	sb_printf(out, "%s %s", opstream_core_name(n->c->s), op_pipe_name(n->pipe));
	sb_puts(out, " stands at ");
	finding_put_op(g->set, &at, out);
	switch (waits_for(n, &id)) {
	case BLOCK_QUEUE:
		sb_printf(out, ", held by the full queue of %s", op_pipe_name(n->c->block.pipe));
		break;
	case BLOCK_ALL:
		sb_printf(out, ", waiting for %s to finish", op_pipe_name(n->c->block.pipe));
		break;
	case BLOCK_FLAG:
		sb_printf(out, ", waiting for flag %s->%s id %u",
			op_pipe_name(id / N_FLAG_IDS / ENGINE_PIPES),
			op_pipe_name(id / N_FLAG_IDS % ENGINE_PIPES), id % N_FLAG_IDS);
		break;
	case BLOCK_X:
		sb_printf(out, ", waiting for cross-core id %u", id);
		break;
	default:
		break;
	}
}

static bool is_node(const struct node *a, const struct node *b)
{
	return a->c == b->c && a->pipe == b->pipe;
}

/* Follows the waits from `at` until one repeats; the cycle begins there. */
static unsigned find_cycle(struct engine *g, struct node at, struct node *cycle, unsigned max)
{
	struct node seen[BLOCK_CORES * ENGINE_PIPES + 1];
	unsigned n = 0, len = 0;

	for (;;) {
		for (unsigned i = 0; i < n; i++)
			if (is_node(&seen[i], &at)) {
				for (; i < n && len < max; i++)
					cycle[len++] = seen[i];
				return len;
			}
		if (n == sizeof(seen) / sizeof(seen[0]))
			return 0;
		seen[n++] = at;
		at = next_of(g, &at);
	}
}

static unsigned stuck_nodes(struct engine *g, struct node *out)
{
	unsigned n = 0;

	for (uint32_t i = 0; i < g->n_cores; i++)
		for (unsigned pipe = 0; pipe < ENGINE_PIPES; pipe++) {
			struct node k = {&g->cores[i], pipe};

			if (pipe == OPP_S ? !k.c->is_done : head_of(&k) != NULL)
				out[n++] = k;
		}
	return n;
}

static bool add_line(struct engine *g, struct model_finding *x, const struct strbuf *text)
{
	x->lines[x->n_lines] = text->failed ? NULL : arena_strdup(&g->out->arena, text->p);
	return x->lines[x->n_lines++] ? true : err_nomem(g->e);
}

static bool report_deadlock(struct engine *g, const struct node *stuck, unsigned n)
{
	struct node cycle[BLOCK_CORES * ENGINE_PIPES];
	unsigned len = find_cycle(g, stuck[0], cycle, BLOCK_CORES * ENGINE_PIPES);
	struct finding_op a = {
		cycle[0].c->out->stream, stuck_op_of(&cycle[0]), (uint8_t)cycle[0].pipe};
	struct node other = cycle[len > 1 ? 1 : 0];
	struct finding_op b = {other.c->out->stream, stuck_op_of(&other), (uint8_t)other.pipe};
	struct strbuf text = {0}, line = {0};
	struct model_finding *x;
	bool ok;

	if (!VEC_PUSH(&g->out->findings, finding_make(FIND_DEADLOCK, &a, &b)))
		return err_nomem(g->e);
	x = &g->out->findings.v[g->out->findings.n - 1];
	x->lines = arena_zalloc(&g->out->arena, n + 1, sizeof(*x->lines));
	ok = x->lines || err_nomem(g->e);
	for (unsigned i = 0; ok && i < n; i++) {
		sb_reset(&line);
		put_node(g, &stuck[i], &line);
		ok = add_line(g, x, &line);
	}
	sb_puts(&text, "deadlock: ");
	for (unsigned i = 0; i < len; i++) {
		sb_puts(&text, i ? "; which waits for: " : "");
		put_node(g, &cycle[i], &text);
	}
	sb_puts(&text, "; which waits for the first");
	if (ok) {
		x->note.message = text.failed ? NULL : arena_strdup(&g->out->arena, text.p);
		ok = x->note.message || err_nomem(g->e);
	}
	sb_free(&text);
	sb_free(&line);
	return ok;
}

/* Nothing can run: an unmatched wait is reported and released, else a deadlock ends the block. */
static bool engine_stuck(struct engine *g)
{
	struct node stuck[BLOCK_CORES * ENGINE_PIPES];
	unsigned n = stuck_nodes(g, stuck);
	bool any = false;

	for (unsigned i = 0; i < n; i++)
		if (is_unmatched(g, &stuck[i])) {
			any = true;
			if (!report_unmatched(g, &stuck[i]) || !release(g, &stuck[i]))
				return false;
		}
	g->out->is_complete = false;
	if (any) {
		g->out->reason = "a wait has no set";
		return true;
	}
	assert(n > 0); /* a node that waits for nothing is not stuck */
	g->is_stopped = true;
	g->out->reason = "deadlock";
	return report_deadlock(g, stuck, n);
}

/* --- flags that outlive the kernel --- */

static bool report_left(struct engine *g, struct core *c, unsigned flag)
{
	const struct flag *f = &c->flags[flag];
	struct finding_op a = {c->out->stream, f->fired.v[f->head].op,
		(uint8_t)(flag / N_FLAG_IDS / ENGINE_PIPES)};
	struct finding_op none = {0, NO_OP, 0};
	struct model_finding *x = finding_add(g->out, g->set, FIND_LEFT_SET, &a, &none);
	struct strbuf text = {0};

	if (!x)
		return err_nomem(g->e);
	if (x->note.message)
		return true;
	sb_printf(&text, "flag left set at exit: %s->%s id %u, set by ",
		op_pipe_name(flag / N_FLAG_IDS / ENGINE_PIPES),
		op_pipe_name(flag / N_FLAG_IDS % ENGINE_PIPES), flag % N_FLAG_IDS);
	finding_put_op(g->set, &a, &text);
	sb_puts(&text, ", is never waited for and would reach the next kernel on that core");
	x->note.message = text.failed ? NULL : arena_strdup(&g->out->arena, text.p);
	sb_free(&text);
	return x->note.message ? true : err_nomem(g->e);
}

#define N_FLAGS ((size_t)ENGINE_PIPES * ENGINE_PIPES * N_FLAG_IDS)

/* After the end: flags left set */
static bool engine_left(struct engine *g)
{
	for (uint32_t i = 0; i < g->n_cores; i++)
		for (unsigned k = 0; k < N_FLAGS; k++) {
			struct core *c = &g->cores[i];

			if (c->is_done && c->flags[k].head < c->flags[k].fired.n &&
				!report_left(g, c, k))
				return false;
		}
	return true;
}

/* --- blocks that share memory ----------------------------------------------------------------- */

/*
 * Do blocks touch the same global memory, with at least one writing? Nothing orders blocks, so this
 * deserves a note, but it is not necessarily a race: the runtime may order them.
 */

#define MAX_SPANS 8000000 /* with more, the memory is not checked */

struct span {
	uint64_t from, to;
	uint32_t alloc, block;
	uint32_t stream, op;
	uint8_t slot, is_write, is_atomic;
};

struct share {
	const struct opstream_set *set;
	struct timed *out;
	VEC(struct span) spans;
	VEC(uint32_t) written; /* allocations */
	struct range_list ranges;
};

static const struct op_slot *slot_of(const struct opstream *s, unsigned slot)
{
	for (size_t i = 0; i < s->slots.n; i++)
		if (s->slots.v[i].slot == slot)
			return &s->slots.v[i];
	return NULL;
}

static bool is_written(const struct share *b, uint32_t alloc)
{
	for (size_t i = 0; i < b->written.n; i++)
		if (b->written.v[i] == alloc)
			return true;
	return false;
}

static bool find_written(struct share *b)
{
	EACH (const struct opstream, s, b->set->v.v, b->set->v.n) {
		EACH (const struct op_opnd, o, s->opnds.v, s->opnds.n) {
			const struct op_slot *slot =
				o->what == OPND_GM ? slot_of(s, o->slot) : NULL;

			if (slot && o->access & ACCESS_WRITE && !is_written(b, slot->alloc) &&
				!VEC_PUSH(&b->written, slot->alloc))
				return false;
		}
	}
	return true;
}

static bool add_operand(struct share *b, uint32_t stream, uint32_t op, unsigned k)
{
	const struct opstream *s = &b->set->v.v[stream];
	const struct op_exec *x = &s->ops.v[op];
	const struct op_form *f = &s->forms.v[x->form];
	const struct op_opnd *o = &s->opnds.v[f->first_opnd + k];
	const struct op_slot *slot = o->what == OPND_GM && o->access ? slot_of(s, o->slot) : NULL;

	if (!slot || !is_written(b, slot->alloc))
		return true;
	b->ranges.v.n = 0;
	b->ranges.bytes = 0;
	b->ranges.is_cut = false;
	if (!ranges_of(s, x, k, &b->ranges))
		return false;
	for (size_t i = 0; i < b->ranges.v.n; i++)
		if (!VEC_PUSH(&b->spans, (struct span){b->ranges.v.v[i].from, b->ranges.v.v[i].to,
						 slot->alloc, s->block_idx, stream, op, o->slot,
						 (o->access & ACCESS_WRITE) != 0, f->atomic == 1}))
			return false;
	return true;
}

ORDER(span_cmp, struct span, UP(alloc) UP(from) UP(stream) UP(op))

static bool report(struct share *b, const struct span *p, const struct span *q)
{
	struct finding_op x = {p->stream, p->op, 0}, y = {q->stream, q->op, 0};
	const struct opstream *s = &b->set->v.v[p->stream], *t = &b->set->v.v[q->stream];
	struct strbuf text = {0};
	struct model_finding *f;

	x.pipe = s->forms.v[s->ops.v[p->op].form].pipe;
	y.pipe = t->forms.v[t->ops.v[q->op].form].pipe;
	f = finding_add(b->out, b->set, FIND_BLOCKS_SHARE, &x, &y);
	if (!f || f->note.message)
		return f != NULL;
	f->first_byte = q->from;
	f->end_byte = p->to < q->to ? p->to : q->to;
	f->buffer = arena_printf(&b->out->arena, "GM slot %u", q->slot);
	sb_puts(&text, "blocks share memory: ");
	finding_put_op(b->set, &x, &text);
	sb_printf(&text, " of block %u and ", p->block);
	finding_put_op(b->set, &y, &text);
	sb_printf(&text,
		" of block %u touch bytes 0x%llx to 0x%llx of GM slot %u, one writes; blocks have no order",
		q->block, (unsigned long long)f->first_byte, (unsigned long long)f->end_byte - 1,
		q->slot);
	f->note.message = text.failed ? NULL : arena_strdup(&b->out->arena, text.p);
	sb_free(&text);
	return f->note.message && f->buffer;
}

/* The two farthest-reaching spans so far that belong to different blocks. */
struct reach {
	const struct span *v[2];
};

static void reach_add(struct reach *r, const struct span *s)
{
	for (unsigned i = 0; i < 2; i++)
		if (r->v[i] && r->v[i]->block == s->block) {
			if (s->to > r->v[i]->to)
				r->v[i] = s;
			if (i == 1 && r->v[1]->to > r->v[0]->to) {
				r->v[1] = r->v[0];
				r->v[0] = s;
			}
			return;
		}
	if (!r->v[0] || s->to > r->v[0]->to) {
		r->v[1] = r->v[0];
		r->v[0] = s;
	} else if (!r->v[1] || s->to > r->v[1]->to) {
		r->v[1] = s;
	}
}

static bool check_against(struct share *b, const struct reach *r, const struct span *s)
{
	for (unsigned i = 0; i < 2; i++) {
		const struct span *p = r->v[i];

		if (p && p->block != s->block && p->to > s->from &&
			!(p->is_atomic && p->is_write && s->is_atomic && s->is_write))
			return report(b, p, s);
	}
	return true;
}

static bool sweep(struct share *b)
{
	struct reach reads = {{NULL, NULL}}, writes = {{NULL, NULL}};

	SORT(b->spans.v, b->spans.n, span_cmp);
	for (size_t i = 0; i < b->spans.n; i++) {
		const struct span *s = &b->spans.v[i];

		if (i && s[-1].alloc != s->alloc)
			reads = writes = (struct reach){{NULL, NULL}};
		if (!check_against(b, &writes, s) || (s->is_write && !check_against(b, &reads, s)))
			return false;
		reach_add(s->is_write ? &writes : &reads, s);
	}
	return true;
}

/* Adds notes on global memory that blocks share. False: out of memory. */
static bool engine_blocks(const struct opstream_set *set, struct timed *out)
{
	struct share b = {.set = set, .out = out};
	bool ok = find_written(&b);

	for (uint32_t i = 0; ok && i < set->v.n; i++) {
		const struct opstream *s = &set->v.v[i];

		for (uint32_t k = 0; ok && k < s->ops.n && b.spans.n < MAX_SPANS; k++)
			for (unsigned o = 0; ok && o < s->forms.v[s->ops.v[k].form].n_opnds; o++)
				ok = add_operand(&b, i, k, o);
	}
	if (ok && b.spans.n >= MAX_SPANS)
		out->n_unchecked++;
	else if (ok && b.spans.n)
		ok = sweep(&b);
	VEC_FREE(&b.spans);
	VEC_FREE(&b.written);
	VEC_FREE(&b.ranges.v);
	return ok;
}

/* --- the run ---------------------------------------------------------------------------------- */

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
