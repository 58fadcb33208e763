/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_text.c: the tables about pipes. */
#include "cli/text/pipes_text.h"

#include "base/mem.h"
#include "cli/text/record_table.h"
#include "cli/text/say.h"
#include "cli/text/table.h"

#define MAX_MATRIX 16u /* pipes side by side */

static struct rows first_rows(struct rows rows, uint64_t top)
{
	return (struct rows){rows.v, top < rows.n ? (size_t)top : rows.n};
}

void pipes_print_head(struct cli *c, const struct pipes_part *p, const struct trace *t)
{
	const struct pipes_totals *n = &p->totals;
	FILE *out = c->out;
	double mhz = trace_clock_mhz(t);

	say(out, "%s of %u core%s, %s", COUNTED(n->pipes, "pipe"), (unsigned)n->cores,
		plural(n->cores), COUNTED(n->instructions, "instruction"));
	say(out, " and %s of synchronisation, %s", U64_TEXT(n->sync_instructions),
		COUNTED(p->span, "cycle"));
	if (mhz > 0)
		say(out, " (%.2f us)", (double)p->span / mhz);
	say(out, ", %s\n", evidence_text(t, (char[EVIDENCE_TEXT]){0}));
	if (!n->pipes) {
		fputs(t->n_tracks ? "no pipe matches the selection\n"
				  : "nothing to show: no pipe was traced (see incore info, "
				    "incore check)\n",
			out);
		return;
	}
	say(out, "bound       %s\n", p->bound.sentence);
}

bool pipes_print_table(struct cli *c, const struct pipes_part *p)
{
	const char *const columns[] = {"core", "pipe", "instructions", "busy", "busy_pct",
		"accounting.wait", "accounting.stall", "accounting.idle", "accounting.drain",
		"exposed", "latency_sum", "mean_depth", "depth_max", "gaps.count", "gaps.p50",
		"gaps.p90", "gaps.p99", "first", "last", c->use_csv ? "sync_instructions" : NULL,
		"config_only", "cache_miss_stall", "span", "critical_path", NULL};

	if (!record_table_print(c, &pipe_line_record, p->pipes, columns))
		return false;
	if (!c->use_csv && p->pipes.n < p->n_all)
		say(c->out, "%zu of %u pipes shown (--top all shows every one)\n", p->pipes.n,
			p->n_all);
	return true;
}

/* Work pipes of the main core in the order shown. */
static uint32_t matrix_of(const struct pipes_part *p, const struct pipe_line *v[MAX_MATRIX])
{
	const struct pipe_line *all = p->pipes.v;
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_all && n < MAX_MATRIX; i++)
		if (all[i].core_index == p->main_core && pipe_role_is_work(all[i].r.role))
			v[n++] = &all[i];
	return n;
}

bool pipes_print_overlap(struct cli *c, const struct pipes_part *p)
{
	struct table_column columns[MAX_MATRIX + 2] = {{"busy with", "pipe", CELL_LEFT, false}};
	const struct core_line *cores = p->cores.v;
	const struct pipe_line *v[MAX_MATRIX];
	uint32_t n = p->main_core == UINT32_MAX ? 0 : matrix_of(p, v);
	const struct pipe_core *k;
	struct table t;

	if (n < 2)
		return true;
	k = &cores[p->main_core].k;
	for (uint32_t i = 0; i < n; i++)
		columns[i + 1] = (struct table_column){v[i]->pipe, NULL, CELL_RIGHT, false};
	columns[n + 1] = (struct table_column){"alone", NULL, CELL_RIGHT, false};
	say(c->out, "\ncycles in which two pipes of %.*s were busy together\n",
		STR_ARG(cores[p->main_core].core));
	table_init(&t, columns, n + 2);
	for (uint32_t i = 0; i < n; i++) {
		table_cstr(&t, v[i]->pipe);
		for (uint32_t m = 0; m < n; m++)
			table_u64(&t, k->overlap[(size_t)v[i]->lane * k->n + v[m]->lane]);
		table_u64(&t, v[i]->r.exposed_cyc);
	}
	return table_finish(&t, c);
}

bool pipes_print_pairs(struct cli *c, const struct pipes_part *p)
{
	static const char *const columns[] = {"producer", "consumer_pipe", "cycles",
		"share_of_wait", "share_of_all", "count", "blocked", "cores", NULL};

	return record_table_print(c, &pair_record, first_rows(p->pairs, p->top), columns);
}

bool pipes_print_path(struct cli *c, const struct pipes_part *p)
{
	static const char *const pipe_columns[] = {
		"core", "pipe", "work", "share", "wait", "stall", "gap", NULL};
	static const char *const row_columns[] = {"row", "cycles", "share", "isa", "source", NULL};
	const struct path_part_row *path = p->critical_path;
	FILE *out = c->out;

	if (!path)
		return true;
	say(out, "\ncritical path: %s = work %s + wait %s + stall %s", COUNTED(path->span, "cycle"),
		U64_TEXT(path->x.part[PATH_WORK]), U64_TEXT(path->x.part[PATH_WAIT]),
		U64_TEXT(path->x.part[PATH_STALL]));
	say(out, " + gaps %s + before %s + after %s;", U64_TEXT(path->x.part[PATH_GAP]),
		U64_TEXT(path->x.lead_cyc), U64_TEXT(path->x.tail_cyc));
	say(out, " %s, %s, %s inferred\n", COUNTED(path->x.n_slices, "slice"),
		COUNTED(path->x.n_hops, "flag"), U64_TEXT(path->x.n_inferred));
	if (!record_table_print(
		    c, &path_pipe_record, first_rows(path->by_pipe, p->top), pipe_columns))
		return false;
	fputc('\n', out);
	return record_table_print(
		c, &path_line_record, first_rows(path->every_row, p->top), row_columns);
}

bool pipes_print_cores(struct cli *c, struct rows cores, uint64_t top)
{
	static const char *const columns[] = {"core", "begin", "span", "busy", "busy_pct",
		"compute_busy", "compute_pct", "n_pipes", NULL};
	const struct core_line *all = cores.v;
	struct core_line *v = mem_zalloc(cores.n + 1, sizeof(*v));
	size_t n = 0;
	bool ok;

	if (!v)
		return err_nomem(&c->error);
	for (size_t i = 0; i < cores.n && n < top; i++)
		if (!all[i].is_empty)
			v[n++] = all[i];
	ok = record_table_print(c, &core_line_record, (struct rows){v, n}, columns);
	mem_free(v);
	if (ok && !c->use_csv && n < cores.n)
		say(c->out, "%zu of %zu cores shown (--top all shows every one)\n", n, cores.n);
	return ok;
}
