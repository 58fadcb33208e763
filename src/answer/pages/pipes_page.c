/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_page.c: the tables about pipes. */
#include "answer/pages/pipes_page.h"

#include "base/mem.h"

#define MAX_MATRIX 16u /* most pipes side by side */

static struct rows first_rows(struct rows rows, uint64_t top)
{
	return (struct rows){rows.v, top < rows.n ? (size_t)top : rows.n};
}

void put_pipe_head(struct page *p, const struct pipes_part *x, const struct trace *t)
{
	const struct pipes_totals *n = &x->totals;
	double mhz = trace_clock_mhz(t);

	page_say(p, "%s of %u core%s, %s", COUNTED(n->pipes, "pipe"), (unsigned)n->cores,
		plural(n->cores), COUNTED(n->instructions, "instruction"));
	page_say(p, " and %s of synchronisation, %s", U64_TEXT(n->sync_instructions),
		COUNTED(x->span, "cycle"));
	if (mhz > 0)
		page_say(p, " (%.2f us)", (double)x->span / mhz);
	page_line(p, ", %s", evidence_text(t, (char[EVIDENCE_TEXT]){0}));
	if (!n->pipes) {
		page_line(p, t->n_tracks ? "no pipe matches the selection"
					 : "nothing to show: no pipe was traced (see incore info, "
					   "incore check)");
		return;
	}
	page_fact(p, "bound       ", "%s", x->bound.sentence);
}

void put_pipe_table(struct page *p, const struct pipes_part *x)
{
	const char *const columns[] = {"core", "pipe", "instructions", "busy", "busy_pct",
		"accounting.wait", "accounting.stall", "accounting.idle", "accounting.drain",
		"exposed", "latency_sum", "mean_depth", "depth_max", "gaps.count", "gaps.p50",
		"gaps.p90", "gaps.p99", "first", "last", p->is_csv ? "sync_instructions" : NULL,
		"config_only", "cache_miss_stall", "span", "critical_path", NULL};

	page_main_records(p, &pipe_line_record, x->pipes, columns);
	if (!p->is_csv && x->pipes.n < x->n_all)
		page_line(p, "%zu of %u pipes shown (--top all shows every one)", x->pipes.n,
			x->n_all);
}

/* Work pipes of the main core, in the order in which they are shown. */
static uint32_t matrix_of(const struct pipes_part *x, const struct pipe_line *v[MAX_MATRIX])
{
	const struct pipe_line *all = x->pipes.v;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_all && n < MAX_MATRIX; i++)
		if (all[i].core_index == x->main_core && pipe_role_is_work(all[i].r.role))
			v[n++] = &all[i];
	return n;
}

void put_pipe_overlap(struct page *p, const struct pipes_part *x)
{
	struct table_column columns[MAX_MATRIX + 2] = {{"busy with", "pipe", CELL_LEFT, false}};
	const struct core_line *cores = x->cores.v;
	const struct pipe_line *v[MAX_MATRIX];
	uint32_t n = x->main_core == UINT32_MAX ? 0 : matrix_of(x, v);
	const struct pipe_core *k;
	struct table *t;

	if (n < 2)
		return;
	k = &cores[x->main_core].k;
	for (uint32_t i = 0; i < n; i++)
		columns[i + 1] = (struct table_column){v[i]->pipe, NULL, CELL_RIGHT, false};
	columns[n + 1] = (struct table_column){"alone", NULL, CELL_RIGHT, false};
	page_gap(p);
	page_line(p, "cycles in which two pipes of %.*s were busy together",
		STR_ARG(cores[x->main_core].core));
	t = page_table_of(p, columns, n + 2);
	for (uint32_t i = 0; i < n; i++) {
		table_cstr(t, v[i]->pipe);
		for (uint32_t m = 0; m < n; m++)
			table_u64(t, k->overlap[(size_t)v[i]->lane * k->n + v[m]->lane]);
		table_u64(t, v[i]->r.exposed_cyc);
	}
}

void put_pipe_pairs(struct page *p, const struct pipes_part *x)
{
	static const char *const columns[] = {"producer", "consumer_pipe", "cycles",
		"share_of_wait", "share_of_all", "count", "blocked", "cores", NULL};

	page_records(p, &pair_record, first_rows(x->pairs, x->top), columns);
}

void put_pipe_path(struct page *p, const struct pipes_part *x)
{
	static const char *const pipe_columns[] = {
		"core", "pipe", "work", "share", "wait", "stall", "gap", NULL};
	static const char *const row_columns[] = {"row", "cycles", "share", "isa", "source", NULL};
	const struct path_part_row *path = x->critical_path;

	if (!path)
		return;
	page_gap(p);
	page_say(p, "critical path: %s = work %s + wait %s + stall %s",
		COUNTED(path->span, "cycle"), U64_TEXT(path->x.part[PATH_WORK]),
		U64_TEXT(path->x.part[PATH_WAIT]), U64_TEXT(path->x.part[PATH_STALL]));
	page_say(p, " + gaps %s + before %s + after %s;", U64_TEXT(path->x.part[PATH_GAP]),
		U64_TEXT(path->x.lead_cyc), U64_TEXT(path->x.tail_cyc));
	page_line(p, " %s, %s, %s inferred", COUNTED(path->x.n_slices, "slice"),
		COUNTED(path->x.n_hops, "flag"), U64_TEXT(path->x.n_inferred));
	page_records(p, &path_pipe_record, first_rows(path->by_pipe, x->top), pipe_columns);
	page_gap(p);
	page_records(p, &path_line_record, first_rows(path->every_row, x->top), row_columns);
}

void put_pipe_cores(struct page *p, struct rows cores, uint64_t top)
{
	static const char *const columns[] = {"core", "begin", "span", "busy", "busy_pct",
		"compute_busy", "compute_pct", "n_pipes", NULL};
	const struct core_line *all = cores.v;
	struct core_line *v = mem_zalloc(cores.n + 1, sizeof(*v));
	size_t n = 0;

	if (!v) {
		p->is_failed = true;
		return;
	}
	for (size_t i = 0; i < cores.n && n < top; i++)
		if (!all[i].is_empty)
			v[n++] = all[i];
	page_main_records(p, &core_line_record, (struct rows){v, n}, columns);
	mem_free(v);
	if (!p->is_csv && n < cores.n)
		page_line(p, "%zu of %zu cores shown (--top all shows every one)", n, cores.n);
}
