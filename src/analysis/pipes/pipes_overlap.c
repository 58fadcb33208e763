/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_overlap.c: which pipes of a core were busy together, and which alone? */
#include "analysis/pipes/pipes_internal.h"
#include "base/mem.h"

struct cursor {
	const struct pipe_row *row;
	size_t at; /* index into its busy spans */
	bool is_on;
};

/* The next time after pos at which a pipe starts or stops, or UINT64_MAX. */
static uint64_t next_time(struct cursor *v, uint32_t n, uint64_t pos)
{
	uint64_t next = UINT64_MAX;

	for (uint32_t k = 0; k < n; k++) {
		struct cursor *c = &v[k];
		const struct busy_span *s;

		while (c->at < c->row->busy.n && c->row->busy.v[c->at].to_cyc <= pos)
			c->at++;
		c->is_on = false;
		if (c->at == c->row->busy.n)
			continue;
		s = &c->row->busy.v[c->at];
		c->is_on = s->from_cyc <= pos;
		if (c->is_on && s->to_cyc < next)
			next = s->to_cyc;
		if (!c->is_on && s->from_cyc < next)
			next = s->from_cyc;
	}
	return next;
}

/* Adds a stretch of `cyc` cycles in which exactly the pipes that are on were busy. */
static void add_stretch(struct pipes *p, struct pipe_core *c, const struct cursor *v, uint64_t cyc)
{
	uint32_t n_work = 0, work = 0;
	bool is_computing = false;

	for (uint32_t i = 0; i < c->n; i++) {
		if (!v[i].is_on)
			continue;
		for (uint32_t k = i; k < c->n; k++)
			if (v[k].is_on)
				c->overlap[(size_t)i * c->n + k] += cyc;
		if (!pipe_role_is_work(v[i].row->role))
			continue;
		n_work++;
		work = i;
		is_computing |= v[i].row->role == ROLE_COMPUTE;
	}
	c->busy_cyc += n_work ? cyc : 0;
	c->compute_cyc += is_computing ? cyc : 0;
	if (n_work == 1)
		p->rows[c->first + work].exposed_cyc += cyc;
}

static bool overlap_core(struct pipes *p, struct pipe_core *c, struct cursor *v)
{
	uint64_t pos = 0;

	c->overlap = arena_zalloc(&p->arena, (size_t)c->n * c->n, sizeof(*c->overlap));
	if (!c->overlap)
		return false;
	for (uint32_t i = 0; i < c->n; i++)
		v[i] = (struct cursor){.row = &p->rows[c->first + i]};
	for (;;) {
		uint64_t next = next_time(v, c->n, pos);

		if (next == UINT64_MAX)
			break;
		add_stretch(p, c, v, next - pos);
		pos = next;
	}
	for (uint32_t i = 0; i < c->n; i++)
		for (uint32_t k = 0; k < i; k++)
			c->overlap[(size_t)i * c->n + k] = c->overlap[(size_t)k * c->n + i];
	return true;
}

bool pipes_find_overlap(struct pipes *p, struct incore_error *e)
{
	struct cursor *v = mem_zalloc((size_t)p->trace->n_tracks + 1, sizeof(*v));
	bool ok = v != NULL;

	for (uint32_t i = 0; ok && i < p->n_cores; i++)
		ok = overlap_core(p, &p->cores[i], v);
	mem_free(v);
	return ok || err_nomem(e);
}
