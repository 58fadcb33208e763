/* SPDX-License-Identifier: Apache-2.0 */
/* changes.c: how a change is made, estimated and ranked; the words for changes and waits. */
#include <stdarg.h>

#include "analysis/ledger/ledger_internal.h"
#include "base/search.h"

#define NEAR .05     /* gains this near: the surer evidence comes first */
#define NOTHING .005 /* a change that is expected to save less is not listed */

/* clang-format off */
static const struct {
	const char *code, *words;
} changes[CHANGE_IDS] = {
	[CHANGE_COALESCE] = {"uncoalesced", "let the lanes of a warp touch neighbouring addresses"},
	[CHANGE_GRID] = {"small-grid", "split the work over more blocks"},
	[CHANGE_TAIL] = {"uneven-tail", "even out the blocks, or make them smaller, so that all SMs end together"},
	[CHANGE_BANKS] = {"bank-conflicts", "pad or swizzle the tile in shared memory"},
	[CHANGE_SHARED_ATOMICS] = {"shared-atomics", "a copy of the counters per warp, or add up in the warp first"},
	[CHANGE_CONSTANTS] = {"serial-constants", "use shared or global memory, or an index that is the same for the warp"},
	[CHANGE_LOCAL] = {"spill", "keep the values in registers: fewer live values, no index known only at run time"},
	[CHANGE_ATOMICS] = {"atomics", "add up in the warp or in shared memory first, or spread the targets"},
	[CHANGE_LANES] = {"few-lanes", "give the lanes of a warp one path"},
	[CHANGE_FP64] = {"double-precision", "use float where it suffices: constants with f, float functions"},
	[CHANGE_SPECIAL] = {"special-functions", "fewer special functions, or polynomials on the FMA pipe"},
	[CHANGE_INT_DIVISION] = {"integer-division", "a shift, a mask, or a reciprocal computed once"},
	[CHANGE_DIVISION] = {"float-division", "__fdividef, or multiply by a reciprocal"},
	[CHANGE_POWER] = {"costly-function", "a fast intrinsic, a cheaper identity, or a smaller range of arguments"},
	[CHANGE_TREE] = {"tree-reduction", "warp shuffles and one barrier"},
	[CHANGE_NEIGHBOURS] = {"neighbour-exchange", "exchange with neighbours by warp shuffles; shared memory and a barrier for the warps' edges alone"},
	[CHANGE_BARRIER] = {"uneven-barrier", "even out the work before the barrier, or use fewer barriers"},
	[CHANGE_REUSE] = {"register-tile", "keep a tile of results in registers"},
	[CHANGE_TILE] = {"larger-tile", "a larger tile a block, so that an operand serves more matrix instructions"},
	[CHANGE_TENSOR] = {"tensor-cores", "use tensor cores (mma, wmma, tl.dot) for the sum of products"},
	[CHANGE_RELOAD] = {"reload", "keep the values in registers or shared memory, or make fewer passes"},
	[CHANGE_NARROW] = {"narrow-access", "load and store 16 bytes a lane"},
	[CHANGE_SMALL_BLOCKS] = {"small-blocks", "larger blocks, so that more warps fit on an SM"},
	[CHANGE_IN_FLIGHT] = {"more-in-flight", "more loads in flight: independent loads, wider loads, or more warps"},
	[CHANGE_AHEAD] = {"one-step-ahead", "ask for the next tile one turn ahead, with one barrier fewer"},
	[CHANGE_CHAIN] = {"dependent-chain", "independent chains of arithmetic, or more warps"},
	[CHANGE_FENCE] = {"fence", "fewer fences, or of a narrower scope"},
	[CHANGE_FETCH] = {"fetch", "smaller code: less unrolling, fewer inlined copies"},
};

static const struct {
	const char *code, *words;
} waits[LEDGER_WAITS] = {
	[LEDGER_LONG] = {"long_scoreboard", "global memory (long scoreboard)"},
	[LEDGER_SHORT] = {"short_scoreboard", "shared memory or special functions (short scoreboard)"},
	[LEDGER_BARRIER] = {"barrier", "the barrier"},
	[LEDGER_MEMBAR] = {"membar", "memory fences (membar)"},
	[LEDGER_WAIT] = {"wait", "the instruction before (fixed latency)"},
	[LEDGER_BRANCH] = {"branch_resolving", "branch targets"},
	[LEDGER_DISPATCH] = {"dispatch_stall", "the dispatch unit"},
	[LEDGER_DRAIN] = {"drain", "stores at the end (drain)"},
	[LEDGER_FETCH] = {"no_instructions", "instruction fetch"},
	[LEDGER_IMC] = {"imc_miss", "constants (IMC miss)"},
	[LEDGER_SLEEPING] = {"sleeping", "sleep instructions"},
	[LEDGER_GMMA] = {"gmma", "asynchronous matrix instructions"},
	[LEDGER_MISC] = {"misc", "other reasons"},
	[LEDGER_LG] = {"lg_throttle", "a full load/store queue (LG throttle)"},
	[LEDGER_TEX] = {"tex_throttle", "a full texture queue (TEX throttle)"},
	[LEDGER_MIO_QUEUE] = {"mio_throttle", "a full shared-memory/special-function queue (MIO throttle)"},
	[LEDGER_MATH_PIPE] = {"math_pipe_throttle", "a busy arithmetic pipe"},
};
/* clang-format on */

const char *ledger_change_code(enum ledger_change_id id)
{
	return changes[id].code;
}

const char *ledger_change_words(enum ledger_change_id id)
{
	return changes[id].words;
}

const char *ledger_wait_code(enum ledger_wait_id id)
{
	return waits[id].code;
}

const char *ledger_wait_words(enum ledger_wait_id id)
{
	return waits[id].words;
}

const char *ledger_bound_name(enum ledger_bound b)
{
	static const char *const names[] = {"unit", "queue", "latency", "launch"};

	return names[b];
}

const char *ledger_evidence_name(enum ledger_evidence e)
{
	static const char *const names[] = {"cause", "waste", "parallelism"};

	return names[e];
}

/* --- making a change ------------------------------------------------------------------------ */

double ledger_latency_of(const struct ledger *l, enum ledger_wait_id w)
{
	const struct ledger_wait *x = &l->wait[w];

	return w < LEDGER_LG ? ledger_ratio(x->exposed * (1 - x->queued), l->latency_share) : 0;
}

double ledger_queue_of(const struct ledger *l, enum ledger_owner o, double factor)
{
	return l->owner == o ? factor : 1;
}

struct ledger_effect effect_none(void)
{
	struct ledger_effect x = {.queue = 1, .latency = 1};

	for (unsigned u = 0; u < MACHINE_UNITS; u++)
		x.unit[u] = 1;
	return x;
}

void effect_scale_sm(struct ledger_effect *x, double factor)
{
	for (unsigned u = 0; u < MACHINE_UNITS; u++)
		if (unit_is_of_sm((enum machine_unit)u))
			x->unit[u] *= factor;
	x->queue *= factor;
}

void change_begin(struct change_maker *m, enum ledger_change_id id, enum ledger_evidence evidence)
{
	m->c = (struct ledger_change){
		.id = id, .evidence = evidence, .best = effect_none(), .worst = effect_none()};
}

void change_counted(struct change_maker *m, const char *fmt, ...)
{
	struct strbuf b = {0};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	m->c.counted = b.failed ? NULL : arena_strdup(&m->l->arena, b.p);
	m->is_failed |= !m->c.counted;
	sb_free(&b);
}

void change_rows(struct change_maker *m, row_cost_fn cost)
{
	const struct ledger *l = m->l;
	struct ledger_change *c = &m->c;

	for (code_idx i = 0; i < l->trace->n_code; i++) {
		double x = cost(&l->rows[i]);
		uint32_t at;

		if (!(x > 0))
			continue;
		c->n_found++;
		for (at = c->n_rows; at && cost(&l->rows[c->rows[at - 1]]) < x; at--)
			if (at < LEDGER_PLACES)
				c->rows[at] = c->rows[at - 1];
		if (at < LEDGER_PLACES)
			c->rows[at] = i;
		if (c->n_rows < LEDGER_PLACES)
			c->n_rows++;
	}
}

void change_end(struct change_maker *m)
{
	struct ledger *l = m->l;

	ledger_estimate(l, &m->c);
	if (m->c.gain >= NOTHING && l->n_changes < LEDGER_CHANGES)
		l->change[l->n_changes++] = m->c;
}

/* --- the order ------------------------------------------------------------------------------ */

ORDER(by_gain, struct ledger_change, DOWN(gain) UP(evidence) UP(id))

void ledger_rank(struct ledger *l)
{
	struct ledger_change *v = l->change;

	SORT(v, l->n_changes, by_gain);
	for (uint32_t i = 0; i + 1 < l->n_changes; i++)
		for (uint32_t k = 0; k + 1 < l->n_changes; k++)
			if (v[k + 1].gain > v[k].gain - NEAR && v[k + 1].evidence < v[k].evidence) {
				struct ledger_change x = v[k];

				v[k] = v[k + 1];
				v[k + 1] = x;
			}
}
