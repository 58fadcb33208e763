/* SPDX-License-Identifier: Apache-2.0 */
/* attribution_methods.c: four ways to name the producers of samples (docs/attribution.md). */
#include "attribution.h"

#define SLICE_ROWS 32u	 /* rows after a wait in which a use is looked for */
#define SLICE_STEPS 256u /* blocks a slice goes back */

static void name_one(const struct run *r, struct named *x, code_idx row, double share)
{
	if (x->n == MOST_NAMED)
		return;
	x->row[x->n] = row;
	x->producer[x->n] = r->tables->amd.row[row].producer;
	x->share[x->n++] = share;
}

static void name_ours(const struct run *r, code_idx row, struct named *x)
{
	const struct producers *p = r->ours;
	uint64_t all = trace_reasons_of(&r->s, row)[REASON_WAITCNT].all;

	for (size_t i = 0; i < p->edges.n; i++)
		if (p->edges.v[i].wait == row)
			name_one(r, x, p->edges.v[i].producer,
				(double)p->edges.v[i].count / (double)all);
}

static void name_stated(const struct run *r, code_idx row, struct named *x)
{
	double all = 0;

	for (size_t i = 0; i < r->stated.n; i++)
		all += r->stated.v[i].row == row ? (double)r->stated.v[i].reason : 0;
	for (size_t i = 0; i < r->stated.n; i++)
		if (r->stated.v[i].row == row)
			name_one(r, x, r->stated.v[i].to, (double)r->stated.v[i].reason / all);
}

/* The first counter that the text names, memory before LDS; lgkmcnt is LDS or scalar memory. */
static void name_class(const struct run *r, code_idx row, struct named *x)
{
	static const struct {
		uint8_t counter, producer, other;
	} table[] = {{AMD_VMCNT, AMD_PRODUCER_VMEM_LOAD, AMD_PRODUCER_VMEM_LOAD},
		{AMD_LOADCNT, AMD_PRODUCER_VMEM_LOAD, AMD_PRODUCER_VMEM_LOAD},
		{AMD_LGKMCNT, AMD_PRODUCER_LDS, AMD_PRODUCER_SMEM},
		{AMD_DSCNT, AMD_PRODUCER_LDS, AMD_PRODUCER_LDS},
		{AMD_KMCNT, AMD_PRODUCER_SMEM, AMD_PRODUCER_SMEM},
		{AMD_VSCNT, AMD_PRODUCER_VMEM_STORE, AMD_PRODUCER_VMEM_STORE},
		{AMD_STORECNT, AMD_PRODUCER_VMEM_STORE, AMD_PRODUCER_VMEM_STORE}};
	const struct amd_wait_row *w = &r->tables->amd.row[row];

	for (size_t i = 0; w->role == AMD_ROLE_WAIT && i < sizeof(table) / sizeof(table[0]); i++) {
		if (!(w->counters >> table[i].counter & 1))
			continue;
		*x = (struct named){
			2, {NO_CODE, NO_CODE}, {table[i].producer, table[i].other}, {0.5, 0.5}};
		return;
	}
}

static uint32_t place_of(const struct run *r, code_idx row)
{
	uint32_t at = r->g.blocks[r->g.block_of[row]].first;

	while (r->g.rows[at] != row && at + 1 < r->g.n_rows)
		at++;
	return at;
}

/* The wait at the row, or the nearest before it by address: the lists and the classes are of waits. */
static code_idx wait_near(const struct run *r, code_idx row)
{
	uint32_t at = place_of(r, row);

	for (unsigned k = 0; k <= STATIC_WAITS_SKID && k <= at; k++)
		if (r->tables->amd.role[r->g.rows[at - k]] == AMD_ROLE_WAIT)
			return r->g.rows[at - k];
	return row;
}

/* Nearest memory instructions on every way back that write a register which `use` reads. */
static void slice_back(const struct run *r, const struct amd_reg_list *use, uint32_t block,
	uint32_t end, struct named *x)
{
	uint32_t queue[SLICE_STEPS] = {block}, n = 1;
	uint8_t *seen = mem_zalloc((size_t)r->g.n_blocks + 1, 1);

	must(seen != NULL);
	for (uint32_t q = 0; q < n; q++) {
		const struct cfg_block *b = &r->g.blocks[queue[q]];
		uint32_t i = q ? b->first + b->n : end;
		bool is_found = false;

		while (!is_found && i-- > b->first) {
			code_idx row = r->g.rows[i];

			is_found = amd_regs_meet(&r->operands[row].writes, use);
			if (is_found && r->tables->amd.row[row].role == AMD_ROLE_PRODUCER)
				name_one(r, x, row, 1);
		}
		for (uint32_t k = 0; !is_found && k < b->n_preds; k++) {
			uint32_t from = r->g.preds[b->first_pred + k];

			if (!seen[from] && n < SLICE_STEPS)
				queue[n++] = from;
			seen[from] = 1;
		}
	}
	mem_free(seen);
}

/* A row that waits has no operands: the use is the first one after it that memory delivered. */
static void name_slice(const struct run *r, code_idx row, struct named *x)
{
	uint32_t block = r->g.block_of[row], at = place_of(r, row);
	uint32_t end = r->g.blocks[block].first + r->g.blocks[block].n;

	for (unsigned k = 0; at < end && k < SLICE_ROWS && !x->n; k++, at++) {
		const struct amd_reg_list *use = &r->operands[r->g.rows[at]].reads;

		for (uint8_t o = 0; o < use->n; o++) {
			struct amd_reg_list one = {1, {use->v[o]}};

			/* the mask of lanes is no data */
			if (use->v[o].first != AMD_REG_EXEC)
				slice_back(r, &one, block, at, x);
		}
	}
	for (uint32_t i = 0; i < x->n; i++)
		x->share[i] = 1.0 / x->n;
}

void name_row(const struct run *r, enum method m, code_idx row, struct named *x)
{
	x->n = 0;
	if (r->g.block_of[row] == NO_BLOCK)
		return;
	if (m == OURS)
		name_ours(r, row, x);
	else if (m == BACK_SLICE)
		name_slice(r, row, x);
	else if (m == COUNTER_CLASS)
		name_class(r, wait_near(r, row), x);
	else
		name_stated(r, wait_near(r, row), x);
}
