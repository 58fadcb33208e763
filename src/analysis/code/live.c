/* SPDX-License-Identifier: Apache-2.0 */
/* live.c: which vector registers are still needed? Sets of registers flow backwards through the
 * graph until nothing changes. */
#include "analysis/code/live.h"

#include "base/mem.h"
#include "isa/amd_live.h"
#include "trace/kind.h"

struct flow {
	const struct cfg *g;
	struct arena arena;
	uint32_t words;		    /* words per set */
	uint32_t accum_at;	    /* first bit of accumulation registers: a multiple of 64 */
	uint64_t *need, *kill, *in; /* by block: read before written; written; live at its start */
	uint64_t *at, *reads, *writes;
	uint32_t *list; /* blocks to revisit, each listed at most once */
	uint8_t *is_listed;
};

static void row_sets(struct flow *f, code_idx row)
{
	struct amd_live_sets s = {.reads = f->reads,
		.writes = f->writes,
		.accum_at = f->accum_at,
		.bits = f->words * 64};
	const struct code_row *r = &f->g->trace->code[row];

	memset(f->reads, 0, f->words * sizeof(uint64_t));
	memset(f->writes, 0, f->words * sizeof(uint64_t));
	amd_live_row((struct str){r->text, r->text_len}, &s);
}

static void sum_block(struct flow *f, uint32_t b)
{
	const struct cfg_block *k = &f->g->blocks[b];
	uint64_t *need = f->need + (size_t)b * f->words, *kill = f->kill + (size_t)b * f->words;

	for (uint32_t i = 0; i < k->n; i++) {
		row_sets(f, f->g->rows[k->first + i]);
		for (uint32_t w = 0; w < f->words; w++) {
			need[w] |= f->reads[w] & ~kill[w];
			kill[w] |= f->writes[w];
		}
	}
}

/* Registers live after a block. */
static void after(const struct flow *f, uint32_t b, uint64_t *out)
{
	memset(out, 0, f->words * sizeof(uint64_t));
	for (unsigned k = 0; k < CFG_EDGES; k++) {
		uint32_t to = f->g->blocks[b].succ[k];

		for (uint32_t w = 0; to != NO_BLOCK && w < f->words; w++)
			out[w] |= f->in[(size_t)to * f->words + w];
	}
}

static bool visit(struct flow *f, uint32_t b)
{
	const size_t at = (size_t)b * f->words;
	bool has_changed = false;

	after(f, b, f->at);
	for (uint32_t w = 0; w < f->words; w++) {
		uint64_t v = f->need[at + w] | (f->at[w] & ~f->kill[at + w]);

		has_changed |= v != f->in[at + w];
		f->in[at + w] = v;
	}
	return has_changed;
}

/* Visits every block once, last first, then the predecessors of changed blocks. Sets only grow, so
 * it terminates.
 */
static void settle(struct flow *f)
{
	const struct cfg *g = f->g;
	uint32_t n = 0;

	for (uint32_t b = 0; b < g->n_blocks; b++) {
		f->list[n++] = b;
		f->is_listed[b] = 1;
	}
	while (n > 0) {
		uint32_t b = f->list[--n];

		f->is_listed[b] = 0;
		if (!visit(f, b))
			continue;
		for (uint32_t k = 0; k < g->blocks[b].n_preds; k++) {
			uint32_t p = g->preds[g->blocks[b].first_pred + k];

			if (!f->is_listed[p])
				f->list[n++] = p;
			f->is_listed[p] = 1;
		}
	}
}

static void count_rows(struct flow *f, struct live *l)
{
	for (uint32_t b = 0; b < f->g->n_blocks; b++) {
		const struct cfg_block *k = &f->g->blocks[b];

		after(f, b, f->at);
		for (uint32_t i = k->n; i-- > 0;) {
			struct live_row *r = &l->rows[f->g->rows[k->first + i]];

			row_sets(f, f->g->rows[k->first + i]);
			for (uint32_t w = 0; w < f->words; w++) {
				f->at[w] = (f->at[w] & ~f->writes[w]) | f->reads[w];
				*(w < f->accum_at / 64 ? &r->arch : &r->accum) +=
					(uint32_t)__builtin_popcountll(f->at[w]);
			}
			l->most.arch = r->arch > l->most.arch ? r->arch : l->most.arch;
			l->most.accum = r->accum > l->most.accum ? r->accum : l->most.accum;
		}
	}
}

static bool solve(struct flow *f, struct live *l)
{
	size_t n = (size_t)f->g->n_blocks * f->words + 1;

	f->need = arena_zalloc(&f->arena, n, sizeof(uint64_t));
	f->kill = arena_zalloc(&f->arena, n, sizeof(uint64_t));
	f->in = arena_zalloc(&f->arena, n, sizeof(uint64_t));
	f->at = arena_zalloc(&f->arena, f->words, sizeof(uint64_t));
	f->reads = arena_zalloc(&f->arena, f->words, sizeof(uint64_t));
	f->writes = arena_zalloc(&f->arena, f->words, sizeof(uint64_t));
	f->list = arena_zalloc(&f->arena, (size_t)f->g->n_blocks + 1, sizeof(*f->list));
	f->is_listed = arena_zalloc(&f->arena, (size_t)f->g->n_blocks + 1, 1);
	if (!f->need || !f->kill || !f->in || !f->at || !f->reads || !f->writes || !f->list ||
		!f->is_listed)
		return false;
	for (uint32_t b = 0; b < f->g->n_blocks; b++)
		sum_block(f, b);
	settle(f);
	count_rows(f, l);
	return true;
}

struct live *live_new(const struct cfg *g, struct incore_error *e)
{
	struct live *l = mem_zalloc(1, sizeof(*l));
	const struct trace *t = g->trace;
	struct flow f = {.g = g};
	struct amd_regs most;
	bool ok = true;

	if (!l)
		return err_nomem_null(e);
	arena_init(&l->arena);
	arena_init(&f.arena);
	l->rows = arena_zalloc(&l->arena, (size_t)t->n_code + 1, sizeof(*l->rows));
	if (l->rows && vendor_row(t)->has_registers) {
		most = amd_regs_of_trace(t);
		f.accum_at = (most.arch + 63) / 64 * 64;
		f.words = f.accum_at / 64 + (most.accum + 63) / 64;
		ok = f.words == 0 || solve(&f, l);
	}
	arena_deinit(&f.arena);
	if (l->rows && ok)
		return l;
	err_nomem(e);
	live_free(l);
	return NULL;
}

void live_free(struct live *l)
{
	if (!l)
		return;
	arena_deinit(&l->arena);
	mem_free(l);
}
