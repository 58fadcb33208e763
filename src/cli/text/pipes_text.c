/* SPDX-License-Identifier: Apache-2.0 */
/* pipes_text.c: the tables about pipes. */
#include "cli/text/pipes_text.h"

#include "base/mem.h"
#include "cli/text/table.h"

#define COLUMNS(c) (c), (unsigned)(sizeof(c) / sizeof((c)[0]))
#define MAX_MATRIX 16u /* pipes side by side */

static bool finish(const struct pipes_text *x, struct table *t)
{
	bool ok = table_print(t, x->c);

	table_deinit(t);
	return ok || err_nomem(&x->c->error);
}

const struct pipe_core *pipes_main_core(const struct pipes_text *x)
{
	const struct pipes *p = x->p;
	track_idx want = p->bound.track != NO_TRACK ? p->bound.track
			 : x->n_list		    ? x->list[0]
						    : NO_TRACK;

	for (uint32_t i = 0; want != NO_TRACK && i < p->n_cores; i++)
		if (want >= p->cores[i].first && want < p->cores[i].first + p->cores[i].n)
			return &p->cores[i];
	return NULL;
}

static uint64_t span_of(const struct pipes *p)
{
	uint64_t begin = UINT64_MAX, end = 0;

	for (uint32_t i = 0; i < p->n_cores; i++) {
		if (p->cores[i].begin_cyc < begin)
			begin = p->cores[i].begin_cyc;
		if (p->cores[i].end_cyc > end)
			end = p->cores[i].end_cyc;
	}
	return end > begin ? end - begin : 0;
}

void pipes_print_head(const struct pipes_text *x)
{
	const struct pipes *p = x->p;
	FILE *out = x->c->out;
	char a[32], b[32], d[32];
	double mhz = trace_clock_mhz(p->trace);

	fprintf(out, "%s pipe%s of %u core%s, %s instruction%s", fmt_u64(a, p->n_pipes),
		plural(p->n_pipes), p->n_cores, plural(p->n_cores), fmt_u64(b, p->n_instructions),
		plural(p->n_instructions));
	fprintf(out, " and %s of synchronisation, %s cycle%s", fmt_u64(a, p->n_sync),
		fmt_u64(d, span_of(p)), plural(span_of(p)));
	if (mhz > 0)
		fprintf(out, " (%.2f us)", (double)span_of(p) / mhz);
	fprintf(out, ", %s\n", evidence_text(p->trace, (char[EVIDENCE_TEXT]){0}));
	if (!p->n_pipes) {
		fputs(p->trace->n_tracks ? "no pipe matches the selection\n"
					 : "nothing to show: no pipe was traced (see incore info, "
					   "incore check)\n",
			out);
		return;
	}
	fprintf(out, "bound       %s\n", p->bound.sentence);
}

static void put_core(struct table *t, const struct pipes *p, track_idx i)
{
	table_str(t, pipe_core_name(&p->trace->tracks[i]));
	table_cstr(t, pipe_lane_name(&p->trace->tracks[i]));
}

static const struct table_column pipe_columns[] = {
	{"core", NULL, CELL_LEFT, true},
	{"pipe", NULL, CELL_LEFT, false},
	{"instr", "instructions", CELL_RIGHT, false},
	{"busy", "busy_cycles", CELL_RIGHT, false},
	{"%", "busy_pct", CELL_RIGHT, false},
	{"wait", "wait_cycles", CELL_RIGHT, false},
	{"stall", "stall_cycles", CELL_RIGHT, false},
	{"idle", "idle_cycles", CELL_RIGHT, false},
	{"drain", "drain_cycles", CELL_RIGHT, false},
	{"alone", "exposed_cycles", CELL_RIGHT, false},
	{"latency", "latency_sum_cycles", CELL_RIGHT, false},
	{"depth", "depth_mean", CELL_RIGHT, false},
	{"max", "depth_max", CELL_RIGHT, false},
	{"gaps", NULL, CELL_RIGHT, false},
	{"p50", "gap_p50_cycles", CELL_RIGHT, false},
	{"p90", "gap_p90_cycles", CELL_RIGHT, false},
	{"p99", "gap_p99_cycles", CELL_RIGHT, false},
	{"first", "first_cycle", CELL_RIGHT, false},
	{"last", "last_cycle", CELL_RIGHT, false},
	/* CSV alone from here */
	{"sync", "sync_instructions", CELL_RIGHT, false},
	{"config", "config_only_cycles", CELL_RIGHT, false},
	{"cache", "cache_miss_stall_cycles", CELL_RIGHT, false},
	{"span", "span_cycles", CELL_RIGHT, false},
	{"path", "critical_path_cycles", CELL_RIGHT, false},
};
#define CSV_ONLY 5u

static void put_pipe(const struct pipes_text *x, struct table *t, track_idx i)
{
	const struct pipe_row *r = &x->p->rows[i];

	put_core(t, x->p, i);
	table_u64(t, r->n_work);
	table_u64(t, r->busy_cyc);
	table_pct(t, r->busy_cyc, r->duration_cyc);
	table_u64(t, r->bucket[BUCKET_WAIT]);
	table_u64(t, r->bucket[BUCKET_STALL]);
	table_u64(t, r->bucket[BUCKET_IDLE]);
	table_u64(t, r->bucket[BUCKET_DRAIN]);
	table_u64(t, r->exposed_cyc);
	table_u64(t, r->latency_cyc);
	table_double(t, r->busy_cyc ? (double)r->latency_cyc / (double)r->busy_cyc : 0, 1);
	table_u64(t, r->depth_max);
	table_u64(t, r->gaps.n);
	table_u64(t, r->gaps.p50);
	table_u64(t, r->gaps.p90);
	table_u64(t, r->gaps.p99);
	table_u64(t, r->first_cyc);
	table_u64(t, r->last_cyc);
	if (!x->c->use_csv)
		return;
	table_u64(t, r->n_sync);
	table_u64(t, r->config_cyc);
	table_u64(t, r->cache_cyc);
	table_u64(t, r->duration_cyc);
	table_u64(t, x->p->path.of_track[i][PATH_WORK]);
}

bool pipes_print_table(const struct pipes_text *x)
{
	unsigned n = sizeof(pipe_columns) / sizeof(pipe_columns[0]);
	struct table t;

	table_init(&t, pipe_columns, x->c->use_csv ? n : n - CSV_ONLY);
	for (uint32_t i = 0; i < x->n_shown; i++)
		put_pipe(x, &t, x->list[i]);
	if (!finish(x, &t))
		return false;
	if (!x->c->use_csv && x->n_shown < x->n_list)
		fprintf(x->c->out, "%u of %u pipes shown (--top all shows every one)\n", x->n_shown,
			x->n_list);
	return true;
}

/* Work pipes of a core in the order shown. */
static uint32_t matrix_of(
	const struct pipes_text *x, const struct pipe_core *core, track_idx v[MAX_MATRIX])
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_list && n < MAX_MATRIX; i++) {
		track_idx k = x->list[i];

		if (k >= core->first && k < core->first + core->n &&
			pipe_role_is_work(x->p->rows[k].role))
			v[n++] = k;
	}
	return n;
}

bool pipes_print_overlap(const struct pipes_text *x, const struct pipe_core *core)
{
	struct table_column columns[MAX_MATRIX + 2] = {{"busy with", "pipe", CELL_LEFT, false}};
	track_idx v[MAX_MATRIX];
	uint32_t n = core ? matrix_of(x, core, v) : 0;
	struct table t;

	if (n < 2)
		return true;
	for (uint32_t i = 0; i < n; i++)
		columns[i + 1] = (struct table_column){
			pipe_lane_name(&x->p->trace->tracks[v[i]]), NULL, CELL_RIGHT, false};
	columns[n + 1] = (struct table_column){"alone", NULL, CELL_RIGHT, false};
	fprintf(x->c->out, "\ncycles in which two pipes of %.*s were busy together\n",
		STR_ARG(pipe_core_name(&x->p->trace->tracks[core->first])));
	table_init(&t, columns, n + 2);
	for (uint32_t i = 0; i < n; i++) {
		table_cstr(&t, pipe_lane_name(&x->p->trace->tracks[v[i]]));
		for (uint32_t k = 0; k < n; k++)
			table_u64(&t, core->overlap[(size_t)(v[i] - core->first) * core->n +
						    (v[k] - core->first)]);
		table_u64(&t, x->p->rows[v[i]].exposed_cyc);
	}
	return finish(x, &t);
}

bool pipes_print_pairs(const struct pipes_text *x)
{
	static const struct table_column columns[] = {
		{"waited for", "producer", CELL_LEFT, false},
		{"by", "consumer", CELL_LEFT, false},
		{"wait", "wait_cycles", CELL_RIGHT, false},
		{"% of wait", "share_of_wait_pct", CELL_RIGHT, false},
		{"% of all", "share_of_all_pct", CELL_RIGHT, false},
		{"waits", "waits", CELL_RIGHT, false},
		{"blocked", "blocked_waits", CELL_RIGHT, false},
		{"cores", "cross_core", CELL_LEFT, false},
	};
	const struct pipes *p = x->p;
	struct table t;

	table_init(&t, COLUMNS(columns));
	for (size_t i = 0; i < p->pairs.n && i < x->top; i++) {
		const struct pipe_pair *k = &p->pairs.v[i];

		table_cstr(&t, k->producer ? k->producer : "(unmatched)");
		table_cstr(&t, k->consumer);
		table_u64(&t, k->cyc);
		table_pct(&t, k->cyc, p->bucket[BUCKET_WAIT]);
		table_pct(&t, k->cyc, p->duration_cyc);
		table_u64(&t, k->count);
		table_u64(&t, k->blocked);
		table_cstr(&t, k->is_cross_core ? "another" : "same");
	}
	return finish(x, &t);
}

bool pipes_print_edges(const struct pipes_text *x)
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
	const struct trace *tr = x->p->trace;
	struct table t;
	char number[24];

	table_init(&t, COLUMNS(columns));
	for (size_t i = 0; i < x->p->edges.n && i < x->top; i++) {
		const struct producer_edge *k = &x->p->edges.v[i];

		snprintf(number, sizeof(number), "%lld", (long long)tr->code[k->wait].number);
		table_cstr(&t, number);
		snprintf(number, sizeof(number), "%lld", (long long)tr->code[k->producer].number);
		table_cstr(&t, number);
		table_u64(&t, k->stall_cyc);
		table_u64(&t, k->count);
		table_u64(&t, k->latency.median);
		table_u64(&t, k->latency.p95);
		table_cstr(&t, tr->code[k->producer].text);
		table_cstr(&t, tr->code[k->wait].text);
	}
	return finish(x, &t);
}

static bool print_path_pipes(const struct pipes_text *x)
{
	static const struct table_column columns[] = {
		{"core", NULL, CELL_LEFT, true},
		{"pipe", NULL, CELL_LEFT, false},
		{"work", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"wait", NULL, CELL_RIGHT, false},
		{"stall", NULL, CELL_RIGHT, false},
		{"gap", NULL, CELL_RIGHT, false},
	};
	const struct pipe_path *path = &x->p->path;
	struct table t;
	uint32_t shown = 0;

	table_init(&t, COLUMNS(columns));
	for (uint32_t i = 0; i < x->n_list && shown < x->top; i++) {
		const uint64_t *v = path->of_track[x->list[i]];

		if (!(v[PATH_WORK] | v[PATH_WAIT] | v[PATH_STALL] | v[PATH_GAP]))
			continue;
		shown++;
		put_core(&t, x->p, x->list[i]);
		table_u64(&t, v[PATH_WORK]);
		table_pct(&t, v[PATH_WORK], path->end_cyc - path->begin_cyc);
		table_u64(&t, v[PATH_WAIT]);
		table_u64(&t, v[PATH_STALL]);
		table_u64(&t, v[PATH_GAP]);
	}
	return finish(x, &t);
}

static bool print_path_rows(const struct pipes_text *x)
{
	static const struct table_column columns[] = {
		{"row", NULL, CELL_RIGHT, false},
		{"cycles", NULL, CELL_RIGHT, false},
		{"%", NULL, CELL_RIGHT, false},
		{"instruction", NULL, CELL_LEFT, true},
		{"source", NULL, CELL_LEFT, true},
	};
	const struct pipe_path *path = &x->p->path;
	const struct trace *tr = x->p->trace;
	struct table t;
	char number[24];

	table_init(&t, COLUMNS(columns));
	for (uint32_t i = 0; i < path->n_rows && i < x->top; i++) {
		code_idx code = path->rows[i].code;
		const struct code_row *r = code < tr->n_code ? &tr->code[code] : NULL;

		snprintf(number, sizeof(number), "%lld", r ? (long long)r->number : -1LL);
		table_cstr(&t, r ? number : "-");
		table_u64(&t, path->rows[i].cyc);
		table_pct(&t, path->rows[i].cyc, path->end_cyc - path->begin_cyc);
		table_cstr(&t, r ? r->text : "(unknown code)");
		table_cstr(&t, r && r->source[0] ? r->source : "-");
	}
	return finish(x, &t);
}

bool pipes_print_path(const struct pipes_text *x)
{
	const struct pipe_path *path = &x->p->path;
	FILE *out = x->c->out;
	char a[32], b[32], d[32], f[32];

	if (!path->is_known)
		return true;
	fprintf(out, "\ncritical path: %s cycle%s = work %s + wait %s + stall %s",
		fmt_u64(a, path->end_cyc - path->begin_cyc),
		plural(path->end_cyc - path->begin_cyc), fmt_u64(b, path->part[PATH_WORK]),
		fmt_u64(d, path->part[PATH_WAIT]), fmt_u64(f, path->part[PATH_STALL]));
	fprintf(out, " + gaps %s + before %s + after %s;", fmt_u64(a, path->part[PATH_GAP]),
		fmt_u64(b, path->lead_cyc), fmt_u64(d, path->tail_cyc));
	fprintf(out, " %s slice%s, %s flag%s, %s inferred\n", fmt_u64(a, path->n_slices),
		plural(path->n_slices), fmt_u64(b, path->n_hops), plural(path->n_hops),
		fmt_u64(d, path->n_inferred));
	if (!print_path_pipes(x))
		return false;
	fputc('\n', out);
	return print_path_rows(x);
}

bool pipes_print_cores(const struct pipes_text *x)
{
	static const struct table_column columns[] = {
		{"core", NULL, CELL_LEFT, false},
		{"begin", "begin_cycles", CELL_RIGHT, false},
		{"span", "span_cycles", CELL_RIGHT, false},
		{"busy", "busy_cycles", CELL_RIGHT, false},
		{"%", "busy_pct", CELL_RIGHT, false},
		{"compute", "compute_busy_cycles", CELL_RIGHT, false},
		{"%", "compute_pct", CELL_RIGHT, false},
		{"pipes", NULL, CELL_RIGHT, false},
	};
	const struct pipes *p = x->p;
	uint32_t shown = 0;
	struct table t;

	table_init(&t, COLUMNS(columns));
	for (uint32_t i = 0; i < p->n_cores && shown < x->top; i++) {
		const struct pipe_core *k = &p->cores[i];
		uint64_t span = k->end_cyc > k->begin_cyc ? k->end_cyc - k->begin_cyc : 0;

		if (k->begin_cyc > k->end_cyc)
			continue;
		shown++;
		table_str(&t, pipe_core_name(&p->trace->tracks[k->first]));
		table_u64(&t, k->begin_cyc);
		table_u64(&t, span);
		table_u64(&t, k->busy_cyc);
		table_pct(&t, k->busy_cyc, span);
		table_u64(&t, k->compute_cyc);
		table_pct(&t, k->compute_cyc, span);
		table_u64(&t, k->n);
	}
	if (!finish(x, &t))
		return false;
	if (!x->c->use_csv && shown < p->n_cores)
		fprintf(x->c->out, "%u of %u cores shown (--top all shows every one)\n", shown,
			p->n_cores);
	return true;
}
