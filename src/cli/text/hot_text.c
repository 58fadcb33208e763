/* SPDX-License-Identifier: Apache-2.0 */
/* hot_text.c: the tables of incore hot. */
#include <inttypes.h>

#include "cli/text/hot_job.h"
#include "cli/text/pipes_text.h"
#include "cli/text/table.h"

static void put_bucket_cells(struct table *t, const struct hot_sums *s)
{
	static const enum bucket order[] = {
		BUCKET_ISSUE, BUCKET_WAIT, BUCKET_STALL, BUCKET_IDLE, BUCKET_DRAIN};

	for (unsigned b = 0; b < BUCKET_COUNT; b++)
		table_u64(t, s->bucket[order[b]]);
}

/* "file.py:12" of a source string: the last part of the innermost frame's path. */
static struct str short_source(const char *source)
{
	struct str s = str_of(source ? source : "");
	ptrdiff_t arrow = str_find(s, " -> "), slash;

	if (arrow >= 0)
		s = str_sub(s, 0, (size_t)arrow);
	slash = str_rfind_char(s, '/');
	return slash < 0 ? s : str_sub(s, (size_t)slash + 1, s.n);
}

/* What stands in an empty cell. */
static const char *nothing(const struct hot_job *j)
{
	return j->c->use_csv ? "" : "-";
}

/* A row number is a name: no thousands commas. */
static void put_number(struct hot_job *j, struct table *t, const struct code_row *r)
{
	char text[24];

	if (!r) {
		table_cstr(t, nothing(j));
		return;
	}
	snprintf(text, sizeof(text), "%" PRId64, r->number);
	table_str(t, str_of(text));
}

static enum cell_style heat(uint64_t part, uint64_t whole)
{
	if (whole == 0 || part * 100 < whole * 2)
		return CELL_PLAIN;
	return part * 100 < whole * 10 ? CELL_WARM : CELL_HOT;
}

static bool print_rows(struct hot_job *j)
{
	static const struct table_column columns[] = {
		{"row", "row", CELL_RIGHT, false},
		{"cycles", "cycles", CELL_RIGHT, false},
		{"%", "share_pct", CELL_RIGHT, false},
		{"hit", "hits", CELL_RIGHT, false},
		{"issue", "issue_cycles", CELL_RIGHT, false},
		{"wait", "wait_cycles", CELL_RIGHT, false},
		{"stall", "stall_cycles", CELL_RIGHT, false},
		{"idle", "idle_cycles", CELL_RIGHT, false},
		{"drain", "drain_cycles", CELL_RIGHT, false},
		{"lost to", "cause", CELL_LEFT, false},
		{"of row", "producer_row", CELL_RIGHT, false},
		{"instruction", "isa", CELL_LEFT, true},
		{"source", "source", CELL_LEFT, true},
	};
	const struct trace *tr = j->trace;
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < j->n_shown; i++) {
		const struct hot_group *g = &j->groups[i];
		const struct code_row *r = g->code < tr->n_code ? &tr->code[g->code] : NULL;
		uint64_t cycles = hot_cycles(&g->sums);
		struct hot_loss loss = hot_job_loss(j, g);

		put_number(j, &t, r);
		table_u64(&t, cycles);
		table_pct(&t, cycles, j->hot->duration_cyc);
		table_style(&t, heat(cycles, j->hot->duration_cyc));
		table_u64(&t, g->sums.totals.hit);
		put_bucket_cells(&t, &g->sums);
		table_cstr(&t, loss.name[0] ? loss.name : nothing(j));
		put_number(j, &t, loss.edge ? &tr->code[loss.edge->producer] : NULL);
		table_cstr(&t, g->key);
		table_str(&t, !r	      ? str_of(nothing(j))
			      : j->c->use_csv ? str_of(r->source)
					      : short_source(r->source));
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

/* Is any shown line more than its own instructions: a place that others were inlined into? */
static bool has_inlined(const struct hot_job *j)
{
	if (!hot_job_is_by(j, "line"))
		return false;
	for (uint32_t i = 0; i < j->n_groups; i++)
		if (j->groups[i].inclusive.latency != j->groups[i].sums.totals.latency)
			return true;
	return false;
}

static bool print_groups(struct hot_job *j)
{
	const struct table_column columns[] = {
		{j->by, j->by, CELL_LEFT, true},
		{"cycles", "cycles", CELL_RIGHT, false},
		{"%", "share_pct", CELL_RIGHT, false},
		{"issue", "issue_cycles", CELL_RIGHT, false},
		{"wait", "wait_cycles", CELL_RIGHT, false},
		{"stall", "stall_cycles", CELL_RIGHT, false},
		{"idle", "idle_cycles", CELL_RIGHT, false},
		{"drain", "drain_cycles", CELL_RIGHT, false},
		{"hit", "hits", CELL_RIGHT, false},
		{"rows", "executed_rows", CELL_RIGHT, false},
		{"latency", "latency_cycles", CELL_RIGHT, false},
		{"with inlined", "inclusive_latency_cycles", CELL_RIGHT, false},
	};
	struct table t;
	bool is_inlined = has_inlined(j), ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]) - (is_inlined ? 0 : 2));
	for (uint32_t i = 0; i < j->n_shown; i++) {
		const struct hot_group *g = &j->groups[i];
		uint64_t cycles = hot_cycles(&g->sums);

		table_cstr(&t, g->key);
		table_u64(&t, cycles);
		table_pct(&t, cycles, j->hot->duration_cyc);
		table_style(&t, heat(cycles, j->hot->duration_cyc));
		put_bucket_cells(&t, &g->sums);
		table_u64(&t, g->sums.totals.hit);
		table_u64(&t, g->n_executed);
		if (is_inlined) {
			table_u64(&t, g->sums.totals.latency);
			table_u64(&t, g->inclusive.latency);
		}
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

/* The producer's own totals, or samples: what there is without a timeline. */
static bool print_stated(struct hot_job *j)
{
	bool has_samples = j->trace->samples != NULL;
	const struct table_column columns[] = {
		{hot_job_is_by(j, "instr") ? "row" : "rows", NULL, CELL_RIGHT, false},
		{has_samples ? "samples" : "latency", has_samples ? "samples" : "latency_cycles",
			CELL_RIGHT, false},
		{"%", "share_pct", CELL_RIGHT, false},
		{has_samples ? "stalled" : "stall", has_samples ? "stalled" : "stall_cycles",
			CELL_RIGHT, false},
		{has_samples ? "mostly" : "hit", has_samples ? "stall_reason" : "hits",
			has_samples ? CELL_LEFT : CELL_RIGHT, false},
		{hot_job_is_by(j, "instr") ? "instruction" : j->by, NULL, CELL_LEFT, true},
	};
	const struct hot_sums *all = &j->hot->all;
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < j->n_shown; i++) {
		const struct hot_group *g = &j->groups[i];
		const struct hot_sums *s = &g->sums;

		if (hot_job_is_by(j, "instr") && g->code < j->trace->n_code)
			put_number(j, &t, &j->trace->code[g->code]);
		else
			table_u64(&t, g->n_rows);
		table_u64(&t, has_samples ? s->samples : s->totals.latency);
		table_pct(&t, has_samples ? s->samples : s->totals.latency,
			has_samples ? all->samples : all->totals.latency);
		table_u64(&t, has_samples ? s->stalled_samples : s->totals.stall);
		if (has_samples)
			table_cstr(&t, s->stalled_samples ? hot_stall_reason(s) : nothing(j));
		else
			table_u64(&t, s->totals.hit);
		table_cstr(&t, g->key);
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

static bool print_causes(struct hot_job *j)
{
	static const struct table_column columns[] = {
		{"cause", "cause", CELL_LEFT, false},
		{"cycles", "cycles", CELL_RIGHT, false},
		{"%", "share_pct", CELL_RIGHT, false},
		{"times", "times", CELL_RIGHT, false},
		{"each", "cycles_each", CELL_RIGHT, false},
		{"bucket", "bucket", CELL_LEFT, false},
		{"family", "family", CELL_LEFT, false},
	};
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < j->n_shown; i++) {
		const struct cause *x = &j->causes->v[i];

		table_cstr(&t, x->name);
		table_u64(&t, x->cyc);
		table_pct(&t, x->cyc, j->hot->duration_cyc);
		table_style(&t,
			x->kind == CAUSE_ISSUE ? CELL_GOOD : heat(x->cyc, j->hot->duration_cyc));
		table_u64(&t, x->hits);
		table_double(&t, x->hits ? (double)x->cyc / (double)x->hits : 0, 1);
		table_cstr(&t, bucket_name(x->bucket));
		table_cstr(&t, family_name(x->family));
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

/* Who waited for whom, then the instructions whose flags were awaited. */
static bool print_pairs(struct hot_job *j)
{
	struct pipes_text x = {.c = j->c, .p = j->pipes, .top = j->n_shown};

	if (!pipes_print_pairs(&x))
		return false;
	if (j->c->use_csv || !j->pipes->edges.n)
		return true;
	x.top = cli_top(j->c);
	fputc('\n', j->c->out);
	return pipes_print_edges(&x);
}

static bool print_producers(struct hot_job *j)
{
	static const struct table_column columns[] = {
		{"waited for", "producer", CELL_LEFT, false},
		{"wait", "wait_cycles", CELL_RIGHT, false},
		{"% of wait", "share_of_wait_pct", CELL_RIGHT, false},
		{"% of all", "share_of_all_pct", CELL_RIGHT, false},
		{"waits", "waits", CELL_RIGHT, false},
		{"blocked", "blocked_waits", CELL_RIGHT, false},
	};
	const struct producer_groups *p = producers_get(j->producers, j->attribution);
	struct table t;
	char key[WAIT_KEY_LEN];
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < j->n_shown; i++) {
		const struct producer_group *g = &p->groups.v[i];

		table_cstr(&t, wait_key_name(g->key, key));
		table_u64(&t, g->wait_cyc);
		table_pct(&t, g->wait_cyc, p->wait_cyc + p->barrier_cyc + p->sleep_cyc);
		table_pct(&t, g->wait_cyc, j->hot->duration_cyc);
		table_style(&t, heat(g->wait_cyc, j->hot->duration_cyc));
		table_u64(&t, g->n_waits);
		table_u64(&t, g->n_blocked);
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

/* Which load each wait waits for: the costliest edges. */
static bool print_edges(struct hot_job *j)
{
	static const struct table_column columns[] = {
		{"waiting", "wait_row", CELL_RIGHT, false},
		{"for", "producer_row", CELL_RIGHT, false},
		{"cycles", "cycles", CELL_RIGHT, false},
		{"waits", "waits", CELL_RIGHT, false},
		{"lat p50", "latency_p50_cycles", CELL_RIGHT, false},
		{"p95", "latency_p95_cycles", CELL_RIGHT, false},
		{"producer", "producer_isa", CELL_LEFT, true},
		{"wait", "wait_isa", CELL_LEFT, true},
	};
	const struct trace *tr = j->trace;
	uint64_t top = cli_top(j->c);
	struct table t;
	bool ok;

	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (size_t i = 0; i < j->producers->edges.n && i < top; i++) {
		const struct producer_edge *x = &j->producers->edges.v[i];

		if (x->producer >= tr->n_code || x->wait >= tr->n_code)
			continue;
		put_number(j, &t, &tr->code[x->wait]);
		put_number(j, &t, &tr->code[x->producer]);
		table_u64(&t, x->stall_cyc + x->shared_cyc);
		table_u64(&t, x->count);
		table_u64(&t, x->latency.median);
		table_u64(&t, x->latency.p95);
		table_cstr(&t, tr->code[x->producer].text);
		table_cstr(&t, tr->code[x->wait].text);
	}
	fputc('\n', j->c->out);
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok;
}

static void print_footer(struct hot_job *j)
{
	const struct trace *t = j->trace;
	uint32_t n_notes = j->c->n_notes;
	char a[32], b[32], d[32];
	FILE *out = j->c->out;

	if (hot_job_is_by(j, "producer") && !j->hot->is_stated && !j->pipes) {
		const struct producer_groups *p = producers_get(j->producers, j->attribution);

		fprintf(out, "beside these: barrier %s, sleep %s cycles; %s attribution, ",
			fmt_u64(a, p->barrier_cyc), fmt_u64(b, p->sleep_cyc),
			attribution_name(j->attribution));
		fprintf(out, "%s wait%s free, %s blocked\n", fmt_u64(a, j->producers->n_free),
			plural(j->producers->n_free), fmt_u64(b, j->producers->n_blocked));
	}
	if (j->pipes)
		fprintf(out, "beside these: idle %s, drain %s cycles of pipes with nothing to do\n",
			fmt_u64(a, j->pipes->bucket[BUCKET_IDLE]),
			fmt_u64(b, j->pipes->bucket[BUCKET_DRAIN]));
	if (j->n_shown < j->n_groups)
		fprintf(out, "%s of %s shown (--top all shows every one)\n", fmt_u64(a, j->n_shown),
			fmt_u64(b, j->n_groups));
	fprintf(out, "%s %s%s, %s instruction%s, %s cycle%s, %s, %u note%s\n",
		fmt_u64(a, j->hot->n_waves), trace_has_pipes(t) ? "pipe" : "wave",
		plural(j->hot->n_waves), fmt_u64(b, j->hot->n_instructions),
		plural(j->hot->n_instructions), fmt_u64(d, j->hot->duration_cyc),
		plural(j->hot->duration_cyc), cli_evidence(t, (char[EVIDENCE_TEXT]){0}), n_notes,
		plural(n_notes));
}

static const char pipe_explanation[] =
	"\ncycles = issue + wait + stall. Every cycle of every pipe over its core's span is in "
	"exactly one\n"
	"row, or in idle or drain of its pipe: then the pipe had nothing to do, and no row has "
	"it.\n"
	"  issue  in flight; of several, the oldest has the cycle\n"
	"  wait   inside a flag wait, buffer wait or barrier, the pipe not working\n"
	"  stall  head cost before it: cache miss, issue queue\n"
	"latency in --json is the sum of lengths, as the producer's tables have it: instructions "
	"in\n"
	"flight together make it larger than the time the pipe was busy.\n";

static void print_explanation(struct hot_job *j)
{
	if (j->pipes) {
		fputs(pipe_explanation, j->c->out);
		return;
	}
	fputs("\ncycles = issue + wait + stall + idle + drain: every cycle of every wave is in "
	      "exactly "
	      "one of them.\n"
	      "  issue  the instruction was issuing          wait   at s_waitcnt, s_barrier, "
	      "s_sleep\n"
	      "  stall  held back before issue (s_nop too)   idle   nothing of the wave was due\n"
	      "  drain  s_endpgm, waiting for stores\n"
	      "Other viewers count the drain as issue and waits as stall; code.json's Latency, "
	      "Stall "
	      "and Idle\nare in --json as totals, with the meaning its producer gives them.\n",
		j->c->out);
}

bool hot_text_print(struct hot_job *j)
{
	bool ok;

	if (j->trace->n_code == 0)
		ok = true;
	else if (j->hot->is_stated)
		ok = hot_job_is_by(j, "cause") || hot_job_is_by(j, "producer") || print_stated(j);
	else if (hot_job_is_by(j, "instr"))
		ok = print_rows(j);
	else if (hot_job_is_by(j, "cause"))
		ok = print_causes(j);
	else if (hot_job_is_by(j, "producer") && j->pipes)
		ok = print_pairs(j);
	else if (hot_job_is_by(j, "producer"))
		ok = print_producers(j) &&
		     (j->c->use_csv || j->attribution == ATTRIBUTION_CLASS_SET ||
			     j->producers->edges.n == 0 || print_edges(j));
	else
		ok = print_groups(j);
	if (ok && !j->c->use_csv) {
		print_footer(j);
		if (cli_flag(j->c, "explain"))
			print_explanation(j);
	}
	return ok;
}
