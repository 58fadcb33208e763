/* SPDX-License-Identifier: Apache-2.0 */
/* costs.c: counts latencies by kind: small ones in arrays, since nearly all are, the rest in a map. */
#include "analysis/code/costs.h"

#include "base/mem.h"
#include "base/search.h"
#include "isa/amd_kind.h"
#include "trace/kind.h"

#define MAX_KINDS 256u /* there are about fifty; the last one takes what is left */
#define SMALL_CYC 512u

struct costs_worker {
	uint64_t (*small)[SMALL_CYC]; /* by kind: executions of each latency */
	uint64_t *stall, *latency;
	struct histograms large;
	uint32_t n_kinds;
};

bool costs_apply(const struct trace *t)
{
	return t->meta.gfx_major && t->n_tracks && trace_kind(t) == KIND_WAVES;
}

/* Numbers the kinds of all rows. */
static bool name_kinds(struct costs *c, struct intern *names)
{
	const struct trace *t = c->trace;
	struct strbuf text = {0};
	bool ok = true;

	for (code_idx i = 0; ok && i <= t->n_code; i++) {
		const struct code_row *r = i < t->n_code ? &t->code[i] : NULL;
		enum inst_class k = r ? (enum inst_class)r->inst_class : CLASS_OTHER;
		uint32_t id;

		if (r && r->is_label)
			continue;
		sb_reset(&text);
		ok = r ? amd_kind_put(&text, k, (struct str){r->text, r->text_len})
		       : sb_puts(&text, "(unknown code)");
		id = ok ? intern_find(names, (struct str){text.p, text.n}) : INTERN_NONE;
		if (ok && id == INTERN_NONE)
			id = intern_add(names, names->n < MAX_KINDS - 1
						       ? (struct str){text.p, text.n}
						       : STR("others"));
		ok = ok && id != INTERN_NONE;
		if (!ok)
			break;
		c->kind_of_row[i] = (uint16_t)id;
		c->v[id].inst_class = k;
		c->v[id].n_rows += r != NULL;
	}
	sb_free(&text);
	return ok;
}

struct costs *costs_new(const struct trace *t, struct incore_error *e)
{
	struct costs *c = mem_zalloc(1, sizeof(*c));
	struct intern names;
	bool ok = c != NULL;

	intern_init(&names);
	if (ok) {
		c->trace = t;
		arena_init(&c->arena);
		c->v = arena_zalloc(&c->arena, MAX_KINDS + 1, sizeof(*c->v));
		c->kind_of_row =
			arena_zalloc(&c->arena, (size_t)t->n_code + 1, sizeof(*c->kind_of_row));
		ok = c->v && c->kind_of_row && name_kinds(c, &names);
		c->n = names.n;
	}
	for (uint32_t i = 0; ok && i < names.n; i++) {
		c->v[i].kind = arena_strndup(&c->arena, names.strs[i].p, names.strs[i].n);
		ok = c->v[i].kind != NULL;
	}
	intern_deinit(&names);
	if (ok)
		return c;
	costs_free(c);
	return err_nomem_null(e);
}

void costs_free(struct costs *c)
{
	if (!c)
		return;
	histograms_deinit(&c->sum);
	arena_deinit(&c->arena);
	mem_free(c);
}

static bool costs_worker_init(void *self, void *mine)
{
	const struct costs *c = self;
	struct costs_worker *m = mine;

	m->n_kinds = c->n;
	m->small = mem_zalloc((size_t)c->n + 1, sizeof(*m->small));
	m->stall = mem_zalloc((size_t)c->n + 1, sizeof(*m->stall));
	m->latency = mem_zalloc((size_t)c->n + 1, sizeof(*m->latency));
	return m->small && m->stall && m->latency;
}

static void costs_worker_deinit(void *self, void *mine)
{
	struct costs_worker *m = mine;

	(void)self;
	mem_free(m->small);
	mem_free(m->stall);
	mem_free(m->latency);
	histograms_deinit(&m->large);
}

static bool costs_track(void *self, void *mine, const struct walk_track *w, struct incore_error *e)
{
	const struct costs *c = self;
	struct costs_worker *m = mine;
	const struct track_data *d = w->data;
	uint32_t n_code = c->trace->n_code;

	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t kind = c->kind_of_row[d->code[i] < n_code ? d->code[i] : n_code];
		uint32_t cyc = d->dur_cyc[i];

		if (d->start_cyc[i] < w->from_cyc || d->start_cyc[i] >= w->to_cyc)
			continue;
		m->stall[kind] += d->stall_cyc[i];
		m->latency[kind] += cyc;
		if (cyc < SMALL_CYC)
			m->small[kind][cyc]++;
		else if (!histograms_add(&m->large, kind, cyc, 1))
			return err_nomem(e);
	}
	return true;
}

static bool costs_merge(void *self, void *mine, struct incore_error *e)
{
	struct costs *c = self;
	struct costs_worker *m = mine;
	uint64_t key, count;
	size_t pos = 0;
	bool ok = true;

	for (uint32_t k = 0; k < m->n_kinds; k++) {
		c->v[k].stall_cyc += m->stall[k];
		c->v[k].latency_cyc += m->latency[k];
		for (uint32_t cyc = 0; ok && cyc < SMALL_CYC; cyc++)
			ok = !m->small[k][cyc] || histograms_add(&c->sum, k, cyc, m->small[k][cyc]);
	}
	while (ok && u64_map_next(&m->large.counts, &pos, &key, &count)) {
		uint64_t *at = u64_map_at(&c->sum.counts, key);

		ok = at != NULL;
		if (ok)
			*at += count;
	}
	return ok || err_nomem(e);
}

struct collector costs_collector(struct costs *c)
{
	return (struct collector){.self = c,
		.worker_bytes = sizeof(struct costs_worker),
		.worker_init = costs_worker_init,
		.track = costs_track,
		.merge = costs_merge,
		.worker_deinit = costs_worker_deinit};
}

static int compare_costs(const void *pa, const void *pb)
{
	const struct cost *a = pa, *b = pb;

	RETURN_UNLESS_EQUAL(b->latency_cyc, a->latency_cyc);
	RETURN_UNLESS_EQUAL(b->hits, a->hits);
	return strcmp(a->kind, b->kind);
}

bool costs_finish(struct costs *c, struct incore_error *e)
{
	uint32_t kept = 0;

	if (!histograms_seal(&c->sum, c->n, e))
		return false;
	for (uint32_t k = 0; k < c->n; k++) {
		struct cost x = c->v[k];

		x.each = histograms_get(&c->sum, k);
		x.hits = x.each.n;
		if (x.hits)
			c->v[kept++] = x;
	}
	c->n = kept;
	SORT(c->v, c->n, compare_costs);
	return true;
}
