/* SPDX-License-Identifier: Apache-2.0 */
/* producers_roll.c: edges rolled up by their producer's row, opcode or source line. */
#include <stdlib.h>

#include "analysis/waves/producers.h"
#include "base/map.h"

static uint64_t roll_cycles(const struct producer_roll *r)
{
	return r->stall_cyc + r->shared_cyc;
}

static int by_cycles(const void *a, const void *b)
{
	const struct producer_roll *x = a, *y = b;
	uint64_t xc = roll_cycles(x), yc = roll_cycles(y);

	if (xc != yc)
		return xc < yc ? 1 : -1;
	return (x->code > y->code) - (x->code < y->code);
}

static const char *key_of(const struct trace *t, code_idx code, enum producer_by by)
{
	const struct code_row *row = &t->code[code];

	switch (by) {
	case PRODUCER_BY_OPCODE:
		return row->opcode < t->n_opcodes ? t->opcodes[row->opcode] : row->text;
	case PRODUCER_BY_SOURCE:
		return row->source && row->source[0] ? row->source : "<unknown>";
	default:
		return row->text;
	}
}

static void roll_add(struct producer_roll *r, const struct producer_edge *edge)
{
	r->count += edge->count;
	r->n_blocked += edge->n_blocked;
	r->stall_cyc += edge->stall_cyc;
	r->shared_cyc += edge->shared_cyc;
}

bool producers_roll(const struct producers *p, enum producer_by by, struct arena *a,
	struct producer_roll **out, uint32_t *n, struct incore_error *e)
{
	struct producer_roll *rolls = arena_zalloc(a, p->edges.n + 1, sizeof(*rolls));
	struct intern keys;
	struct u64_map index = {0};
	uint32_t count = 0;
	bool ok = rolls != NULL;

	intern_init(&keys);
	/* Edges come costliest first, so the first row of a key is its costliest edge's. */
	for (size_t i = 0; ok && i < p->edges.n; i++) {
		const struct producer_edge *edge = &p->edges.v[i];
		const char *key = key_of(p->trace, edge->producer, by);
		uint64_t id =
			by == PRODUCER_BY_ROW ? edge->producer : intern_add(&keys, str_of(key));
		uint64_t *at = u64_map_at(&index, id);

		ok = at && (by == PRODUCER_BY_ROW || id != INTERN_NONE);
		if (!ok)
			break;
		if (*at == 0) {
			rolls[count] = (struct producer_roll){.key = key, .code = edge->producer};
			*at = ++count;
		}
		roll_add(&rolls[*at - 1], edge);
	}
	intern_deinit(&keys);
	u64_map_deinit(&index);
	if (!ok)
		return err_nomem(e);
	if (count > 1)
		qsort(rolls, count, sizeof(*rolls), by_cycles);
	*out = rolls;
	*n = count;
	return true;
}
