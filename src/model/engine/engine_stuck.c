/* SPDX-License-Identifier: Apache-2.0 */
/*
 * engine_stuck.c: why can nothing run? A wait that no set will ever satisfy is reported and
 * released, so that the rest of the kernel is still checked; otherwise the cycle of waits is a
 * deadlock.
 */
#include <assert.h>

#include "model/engine/engine_cross.h"

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

static uint32_t op_of(const struct node *n)
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
	struct fired x = {.slice = NO_SLICE, .op = op_of(n)};
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
	struct finding_op a = {n->c->out->stream, op_of(n), (uint8_t)n->pipe}, none = {0, NO_OP, 0};
	struct model_finding *x = finding_add(g->out, g->set, FIND_UNMATCHED_WAIT, &a, &none);
	struct strbuf text = {0};
	unsigned id = 0;

	if (!x)
		return err_nomem(g->e);
	if (x->message)
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
	x->message = text.failed ? NULL : arena_strdup(&g->out->arena, text.p);
	sb_free(&text);
	return x->message ? true : err_nomem(g->e);
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
	struct finding_op at = {n->c->out->stream, op_of(n), (uint8_t)n->pipe};
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
	struct finding_op a = {cycle[0].c->out->stream, op_of(&cycle[0]), (uint8_t)cycle[0].pipe};
	struct node other = cycle[len > 1 ? 1 : 0];
	struct finding_op b = {other.c->out->stream, op_of(&other), (uint8_t)other.pipe};
	struct strbuf text = {0}, line = {0};
	struct model_finding *x;
	bool ok;

	if (!VEC_PUSH(&g->out->findings,
		    (struct model_finding){.kind = FIND_DEADLOCK, .count = 1, .a = a, .b = b}))
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
		x->message = text.failed ? NULL : arena_strdup(&g->out->arena, text.p);
		ok = x->message || err_nomem(g->e);
	}
	sb_free(&text);
	sb_free(&line);
	return ok;
}

bool engine_stuck(struct engine *g)
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
	if (x->message)
		return true;
	sb_printf(&text, "flag left set at exit: %s->%s id %u, set by ",
		op_pipe_name(flag / N_FLAG_IDS / ENGINE_PIPES),
		op_pipe_name(flag / N_FLAG_IDS % ENGINE_PIPES), flag % N_FLAG_IDS);
	finding_put_op(g->set, &a, &text);
	sb_puts(&text, ", is never waited for and would reach the next kernel on that core");
	x->message = text.failed ? NULL : arena_strdup(&g->out->arena, text.p);
	sb_free(&text);
	return x->message ? true : err_nomem(g->e);
}

bool engine_left(struct engine *g)
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
