/* SPDX-License-Identifier: Apache-2.0 */
/*
 * summary_why.c: what lies behind the row named by a verdict on samples: what it waits for, how
 * well the producer's accesses are laid out, how many lanes work, how many warps fit on an SM.
 */
#include "analysis/code/samples.h"
#include "analysis/place.h"
#include "analysis/producer_tables.h"
#include "analysis/summary/summary.h"
#include "base/search.h"
#include "trace/kind.h"

#define EXCESS 1.5     /* times what the best layout needs; below that nothing is said */
#define FEW_LANES 24   /* active lanes on average */
#define BUSY_ISSUE 0.6 /* share of a scheduler's cycles */
#define FEW_WARPS 0.5  /* share of the warps an SM can hold */

static const struct code_metric *metric_named(const struct trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_metrics; i++)
		if (!t->metrics[i].is_real && strcmp(t->metrics[i].name, name) == 0)
			return &t->metrics[i];
	return NULL;
}

static uint64_t figure_of(const struct trace *t, const char *name, code_idx row)
{
	const struct code_metric *m = metric_named(t, name);
	uint32_t lo = 0, hi = m ? m->n : 0;

	BISECT(lo, hi, i, m->row[i] < row);
	return m && lo < m->n && m->row[lo] == row ? m->value[lo] : 0;
}

/* The row with the largest figure among those of a class, or NO_CODE. */
static code_idx largest_of(const struct trace *t, const char *name, enum inst_class k)
{
	const struct code_metric *m = metric_named(t, name);
	code_idx best = NO_CODE;
	uint64_t most = 0;

	for (uint32_t i = 0; m && i < m->n; i++)
		if (t->code[m->row[i]].inst_class == k && m->value[i] > most) {
			most = m->value[i];
			best = m->row[i];
		}
	return best;
}

/* Of the rows linked by the code for samples of this kind, the most executed one: a row after a
 * loop can also be reached from before the loop. */
static code_idx most_executed_of(const struct trace *t, enum cause_kind kind, code_idx row)
{
	uint32_t n;
	const struct code_link *l = trace_links_of(t, row, &n);
	code_idx best = NO_CODE;

	for (uint32_t i = 0; i < n; i++)
		if (l[i].reason != NO_REASON &&
			sample_cause_of(t->reasons[l[i].reason])->kind == kind &&
			(best == NO_CODE || t->code[l[i].to].stated.hit > t->code[best].stated.hit))
			best = l[i].to;
	return best;
}

code_idx summary_producer_of(const struct summary *s, const struct cause *x, code_idx row)
{
	const struct trace *t = s->trace;
	bool is_sampled = s->is_sampled;

	/* edges are sorted by cycles; those of samples mix all reasons of the row */
	for (size_t i = 0; x->kind == CAUSE_WAIT && i < s->producers->edges.n; i++) {
		const struct producer_edge *e = &s->producers->edges.v[i];

		if (e->wait == row &&
			(!is_sampled || t->code[e->producer].inst_class == x->inst_class))
			return e->producer;
	}
	if (!is_sampled)
		return NO_CODE;
	if (x->kind == CAUSE_DRAIN) /* outstanding stores that delay the end of a warp */
		return largest_of(t, SUMMARY_SECTORS, CLASS_VMEM_STORE);
	return most_executed_of(t, x->kind, row);
}

double summary_excess(const struct trace *t, const char *name, code_idx row)
{
	const bool is_sectors = strcmp(name, SUMMARY_SECTORS) == 0;
	double least = (double)figure_of(
		t, is_sectors ? SUMMARY_SECTORS "_ideal" : SUMMARY_WAVEFRONTS "_ideal", row);
	double got = (double)figure_of(t, name, row);

	return least > 0 && got >= EXCESS * least ? got / least : 0;
}

/* Says what the layout of the row's accesses costs. */
static void put_access(const struct trace *t, code_idx row, struct strbuf *out)
{
	double sectors = summary_excess(t, SUMMARY_SECTORS, row);
	double wavefronts = summary_excess(t, SUMMARY_WAVEFRONTS, row);
	const char *opcode = t->opcodes[t->code[row].opcode];

	if (wavefronts > 0)
		sb_printf(out,
			"; bank conflicts: it takes %.1f x the passes through shared memory that it must",
			wavefronts);
	if (sectors > 0)
		sb_printf(out, "; uncoalesced: it moves %.1f x the sectors that it must", sectors);
	if (!strcmp(opcode, "LDL") || !strcmp(opcode, "STL"))
		sb_puts(out, "; local memory: spilled registers, or an array that is indexed");
}

double summary_few_lanes(const struct trace *t, code_idx *split)
{
	const struct code_metric *m = metric_named(t, "thread_inst_executed");
	double lanes = 0, hits = 0;

	for (uint32_t i = 0; m && i < m->n; i++) {
		lanes += (double)m->value[i];
		hits += (double)t->code[m->row[i]].stated.hit;
	}
	*split = largest_of(t, "smsp__branch_targets_threads_divergent", CLASS_BRANCH);
	return hits <= 0 || lanes <= 0 || lanes >= FEW_LANES * hits ? 0 : lanes / hits;
}

uint32_t summary_few_lanes_rows(const struct trace *t, code_idx *rows, uint32_t most)
{
	const struct code_metric *m = metric_named(t, "thread_inst_executed");
	uint32_t n = 0;

	for (uint32_t i = 0; m && i < m->n && n < most; i++) {
		double hits = (double)t->code[m->row[i]].stated.hit;

		if (hits > 0 && (double)m->value[i] < FEW_LANES * hits)
			rows[n++] = m->row[i];
	}
	return n;
}

static void put_lanes(const struct summary *s, struct strbuf *out)
{
	code_idx split;
	double lanes = summary_few_lanes(s->trace, &split);

	if (lanes <= 0)
		return;
	sb_printf(out, "; on average %.1f of %d lanes are on", lanes, SUMMARY_LANES);
	if (split != NO_CODE) {
		sb_puts(out, ", they part most at ");
		place_put(s->trace, split, out);
		sb_printf(out, ": `%s`", s->trace->code[split].text);
	}
}

/* If nearly every cycle issues, waits are not what makes the kernel long. */
static void put_issue(const struct summary *s, struct strbuf *out)
{
	double busy = table_metric(s->trace, "smsp__issue_active.avg.per_cycle_active");

	if (busy >= BUSY_ISSUE && busy <= 1)
		sb_printf(out,
			"; schedulers issue in %.0f %% of their cycles: fewer instructions would count for more",
			100 * busy);
}

static void put_warps(const struct summary *s, struct strbuf *out)
{
	const struct block_limits *b = &s->limits.blocks;

	if (!s->limits.is_by_block || b->warps <= 0 ||
		(double)(b->per_sm * b->warps) > FEW_WARPS * (double)b->max_warps)
		return;
	sb_puts(out, "; ");
	blocks_put_limit(b, out);
}

void summary_put_why(const struct summary *s, struct strbuf *out)
{
	const struct trace *t = s->trace;
	const struct bound *b = &s->bound;
	const struct cause *x = &s->causes->v[b->cause];
	uint32_t reason = samples_main_reason(t, trace_reasons_of(t, b->where));
	const char *word = reason != NO_REASON ? t->reasons[reason] : "";

	if (!strcmp(word, "no_instructions"))
		sb_puts(out, ": its code was not there: a miss of the instruction cache");
	if (!strcmp(word, "imc_miss"))
		sb_puts(out, ": a miss of the constant cache");
	if (b->producer != NO_CODE || x->kind == CAUSE_PIPE_STALL)
		put_access(t, b->producer != NO_CODE ? b->producer : b->where, out);
	put_issue(s, out);
	put_lanes(s, out);
	put_warps(s, out);
}
