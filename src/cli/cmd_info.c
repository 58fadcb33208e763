/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_info.c: incore info: what was captured, on what, how much of it, and is it healthy? */
#include <string.h>

#include "analysis/check/check.h"
#include "analysis/pipes/pipe_sweep.h"
#include "analysis/summary/info.h"
#include "analysis/summary/tables.h"
#include "cli/cli.h"
#include "answer/siblings.h"
#include "cli/text/table.h"
#include "cli/text/tables_text.h"

#define MAX_PATHS 4096
#define LABEL "%-11s "

static const struct option_def options[] = {
	{0, "quick", OPTION_FLAG, NULL, NULL, NULL, "no health line: no wave file is read"},
	OPTION_END,
};

struct job {
	struct cli *c;
	struct trace *trace;
	struct info info;
	bool has_info;
	struct capture_list beside; /* captures in the same folder, this one included */
	const struct capture *self; /* in it, or NULL */
	struct strbuf health;
};

static bool is_repeat(const struct job *j, const struct capture *k)
{
	return j->self && k != j->self && j->self->same_as && k->same_as &&
	       !strcmp(j->self->same_as, k->same_as);
}

static bool make_health(struct job *j)
{
	struct siblings s = {0};
	struct walk_options o = cli_walk_options(j->c, NULL);
	struct walk_result walk = {0};
	struct check *k;
	bool ok = false;

	if (j->self && !siblings_find(&s, j->self, &j->beside, j->c->captures, &j->c->error))
		return false;
	k = check_run(j->trace, &s.ctx, &o, &walk, &j->c->error);
	if (k) {
		cli_walk_notes(j->c, &walk);
		ok = check_health(k, &j->health) || err_nomem(&j->c->error);
	}
	check_free(k);
	walk_result_deinit(&walk);
	siblings_deinit(&s);
	return ok;
}

static bool open_one(struct job *j, const char *path)
{
	struct cli *c = j->c;
	struct incore_error ignored = {0};

	if (!cli_open_trace(c, path, IMPORT_ALL, &j->trace))
		return false;
	j->has_info = true;
	if (!info_make(&j->info, j->trace, &c->error))
		return false;
	if (!import_siblings(j->trace->meta.origin, c->captures, &j->beside, &ignored))
		incore_error_clear(&ignored);
	for (uint32_t i = 0; i < j->beside.n; i++)
		if (siblings_is_same(j->beside.v[i].path, j->trace->meta.origin))
			j->self = &j->beside.v[i];
	return cli_flag(c, "quick") || make_health(j);
}

static void close_one(struct job *j)
{
	if (j->has_info)
		info_deinit(&j->info);
	sb_free(&j->health);
	capture_list_deinit(&j->beside);
	trace_free(j->trace);
	*j = (struct job){.c = j->c};
}

/* --- JSON --- */

static void put_number(struct json_writer *w, const char *key, int64_t v)
{
	if (v == NO_VALUE)
		json_w_kv_null(w, key);
	else
		json_w_kv_i64(w, key, v);
}

static void put_json(const struct job *j, struct json_writer *w)
{
	json_w_object(w);
	info_json(&j->info, w);
	if (j->trace->n_tables)
		tables_json(j->trace, 0, false, w);
	json_w_key(w, "siblings");
	json_w_array(w);
	for (uint32_t i = 0; i < j->beside.n; i++) {
		const struct capture *k = &j->beside.v[i];

		if (k == j->self)
			continue;
		json_w_object(w);
		json_w_kv_cstr(w, "path", k->path);
		put_number(w, "agent", k->agent);
		put_number(w, "dispatch", k->dispatch);
		put_number(w, "waves", k->is_uncounted ? NO_VALUE : (int64_t)k->n_tracks);
		put_number(w, "rows", k->is_uncounted ? NO_VALUE : (int64_t)k->n_rows);
		put_number(w, "mapped_rows", k->is_uncounted ? NO_VALUE : (int64_t)k->n_mapped);
		json_w_kv_bool(w, "is_empty", k->is_empty);
		json_w_kv_bool(w, "is_repeat", is_repeat(j, k));
		json_w_end(w);
	}
	json_w_end(w);
	json_w_kv_cstr(w, "health", j->health.n ? j->health.p : NULL);
	json_w_end(w);
}

/* --- text --- */

static void print_machine(const struct job *j)
{
	const struct trace_meta *m = &j->trace->meta;
	const struct trace_machine *x = &m->machine;
	FILE *out = j->c->out;
	char a[32], b[32];

	fprintf(out, LABEL "%s", "machine", m->arch ? m->arch : "unknown");
	if (m->arch_source)
		fprintf(out, " (%s)", m->arch_source);
	if (x->product)
		fprintf(out, ", %s", x->product);
	if (x->cus != NO_VALUE && x->ses != NO_VALUE)
		fprintf(out, ", %s CU%s in %s shader engine%s", fmt_u64(a, (uint64_t)x->cus),
			plural((uint64_t)x->cus), fmt_u64(b, (uint64_t)x->ses),
			plural((uint64_t)x->ses));
	if (x->max_clock_mhz != NO_VALUE)
		fprintf(out, ", at most %s MHz", fmt_u64(a, (uint64_t)x->max_clock_mhz));
	fputc('\n', out);
}

static void print_clock(const struct job *j)
{
	const struct trace *t = j->trace;
	FILE *out = j->c->out;
	double mhz = trace_clock_mhz(t);

	if (mhz > 0)
		fprintf(out, LABEL "%.2f MHz (%s)", "clock", mhz, t->meta.clock_source);
	else
		fprintf(out, LABEL "unknown: cycles only", "clock");
	for (uint32_t i = 0; i < t->n_clocks && t->n_clocks > 1; i++) {
		const struct clock_domain *c = &t->clocks[i];

		fprintf(out, "%s SE%u ", i ? "," : "; offsets in cycles:", c->id);
		if (c->is_aligned)
			fprintf(out, "%+lld", (long long)c->offset_cyc);
		else
			fprintf(out, "unknown");
	}
	fputc('\n', out);
}

static void print_triple(FILE *out, const char *what, const int64_t v[3])
{
	char a[32], b[32], c[32];

	if (v[0] >= 0 && v[1] >= 0 && v[2] >= 0)
		fprintf(out, ", %s %s x %s x %s", what, fmt_u64(a, (uint64_t)v[0]),
			fmt_u64(b, (uint64_t)v[1]), fmt_u64(c, (uint64_t)v[2]));
}

static void print_launch(const struct job *j)
{
	const struct trace_launch *l = &j->trace->meta.launch;
	FILE *out = j->c->out;
	char a[32], b[32], d[32];

	if (l->dispatch == NO_VALUE)
		return;
	fprintf(out, LABEL "dispatch %lld of agent %lld", "launch", (long long)l->dispatch,
		(long long)l->agent);
	if (l->launch_index != NO_VALUE)
		fprintf(out, ", launch %s of %s of kernel id %lld",
			fmt_u64(a, (uint64_t)l->launch_index),
			fmt_u64(b, (uint64_t)l->launch_count), (long long)l->kernel_id);
	if (l->waves != NO_VALUE)
		fprintf(out, ", %s wave%s", fmt_u64(a, (uint64_t)l->waves),
			plural((uint64_t)l->waves));
	print_triple(out, "grid", l->grid);
	print_triple(out, "workgroup", l->workgroup);
	fputc('\n', out);
	if (l->is_other_run)
		fprintf(out, LABEL "as a discovery run saw the same dispatch\n", "");
	if (l->vgprs != NO_VALUE && l->sgprs != NO_VALUE && l->lds_bytes != NO_VALUE)
		fprintf(out,
			LABEL
			"%s VGPR%s, %s SGPR%s, %s byte%s of LDS as the producer states them\n",
			"resources", fmt_u64(a, (uint64_t)l->vgprs), plural((uint64_t)l->vgprs),
			fmt_u64(b, (uint64_t)l->sgprs), plural((uint64_t)l->sgprs),
			fmt_u64(d, (uint64_t)l->lds_bytes), plural((uint64_t)l->lds_bytes));
	if (l->command)
		fprintf(out, LABEL "%s\n", "command", l->command);
}

static void print_code(const struct job *j)
{
	const struct info *i = &j->info;
	FILE *out = j->c->out;
	char a[32], b[32], c[32], d[32];

	if (!j->trace->n_code) {
		fprintf(out, LABEL "none: nothing was executed\n", "code");
		return;
	}
	fprintf(out, LABEL "%s row%s, %s instruction%s, %s executed\n", "code",
		fmt_u64(a, j->trace->n_code), plural(j->trace->n_code),
		fmt_u64(b, i->n_instructions), plural(i->n_instructions),
		fmt_u64(c, i->n_executed));
	fprintf(out, LABEL "%s of %s row%s (%s of %s instruction%s) mapped", "source",
		fmt_u64(a, i->n_mapped), fmt_u64(b, j->trace->n_code), plural(j->trace->n_code),
		fmt_u64(c, i->n_mapped), fmt_u64(d, i->n_instructions), plural(i->n_instructions));
	if (i->n_mapped)
		fprintf(out, " to %s line%s of %s file%s, %s with a snapshot",
			fmt_u64(a, i->n_lines), plural(i->n_lines), fmt_u64(b, j->trace->n_sources),
			plural(j->trace->n_sources), fmt_u64(c, i->n_snapshots));
	fputc('\n', out);
}

static bool print_waves(const struct job *j)
{
	const struct trace *t = j->trace;
	const struct info *i = &j->info;
	struct strbuf where = {0};
	FILE *out = j->c->out;
	char a[32], b[32];
	double mhz = trace_clock_mhz(t);
	bool ok;

	for (unsigned k = 0; k + 1 < TRACK_LEVELS && t->levels[k] && t->n_tracks; k++) {
		sb_printf(&where, ", %s ", t->levels[k]);
		info_put_numbers(&i->coords[k], &where);
	}
	ok = !where.failed;
	fprintf(out, LABEL "%s%s", "waves", fmt_u64(a, t->n_tracks), where.p ? where.p : "");
	if (t->n_tracks)
		fprintf(out, "; %s cycle%s from first begin to last end",
			fmt_u64(b, (uint64_t)(i->end_cyc - i->begin_cyc)),
			plural((uint64_t)(i->end_cyc - i->begin_cyc)));
	if (t->n_tracks && mhz > 0)
		fprintf(out, ", %.2f us", (double)(i->end_cyc - i->begin_cyc) / mhz);
	fputc('\n', out);
	sb_free(&where);
	return ok || err_nomem(&j->c->error);
}

/* Lane names of all cores, each once, in the order of the tracks. */
static bool put_lanes(const struct trace *t, struct strbuf *out)
{
	for (track_idx i = 0; i < t->n_tracks; i++) {
		const char *name = pipe_lane_name(&t->tracks[i]);
		bool is_new = true;

		for (track_idx k = 0; k < i && is_new; k++)
			is_new = t->tracks[k].coord[2] != t->tracks[i].coord[2];
		if (is_new)
			sb_printf(out, "%s%s", out->n ? " " : "", name);
	}
	return !out->failed;
}

static bool print_pipes(const struct job *j)
{
	const struct trace *t = j->trace;
	const struct info *i = &j->info;
	struct strbuf lanes = {0}, cores = {0};
	FILE *out = j->c->out;
	char a[32];
	double mhz = trace_clock_mhz(t);
	bool ok = put_lanes(t, &lanes) && info_put_numbers(&i->coords[0], &cores);

	if (!t->n_tracks) {
		fprintf(out, LABEL "none: no instruction timeline\n", "pipes");
	} else if (ok) {
		fprintf(out, LABEL "%u on core %s: %s\n", "pipes", t->n_tracks, cores.p, lanes.p);
		fprintf(out, LABEL "%s cycle%s from first start to last end", "span",
			fmt_u64(a, (uint64_t)(i->end_cyc - i->begin_cyc)),
			plural((uint64_t)(i->end_cyc - i->begin_cyc)));
		if (mhz > 0)
			fprintf(out, ", %.2f us", (double)(i->end_cyc - i->begin_cyc) / mhz);
		fprintf(out, ", %s flag pairs and other links\n", fmt_u64(a, t->n_links));
	}
	sb_free(&lanes);
	sb_free(&cores);
	return ok || err_nomem(&j->c->error);
}

static void print_extras(const struct job *j)
{
	const struct trace *t = j->trace;
	FILE *out = j->c->out;
	char a[32];

	fprintf(out, LABEL, "counters");
	for (uint32_t i = 0; i < t->n_counter_names; i++)
		fprintf(out, "%s%s", i ? ", " : "", t->counter_names[i]);
	fprintf(out, "%s\n", t->n_counter_names ? "" : t->n_counters ? "streamed" : "none");
	if (t->samples)
		fprintf(out, LABEL "PC samples per row\n", "samples");
	if (t->n_markers)
		fprintf(out, LABEL "%s\n", "markers", fmt_u64(a, t->n_markers));
	for (uint32_t i = 0; i < t->n_kernel_names && i < 32; i++)
		fprintf(out, LABEL "%u: %s\n", i ? "" : "kernel ids", t->kernel_names[i].id,
			t->kernel_names[i].name);
	if (t->n_kernel_names > 32)
		fprintf(out, LABEL "and %u more\n", "", t->n_kernel_names - 32);
}

static bool print_occupancy(struct job *j)
{
	static const struct table_column columns[] = {
		{"se", NULL, CELL_RIGHT, false},
		{"events", NULL, CELL_RIGHT, false},
		{"starts", NULL, CELL_RIGHT, false},
		{"ends", NULL, CELL_RIGHT, false},
		{"CUs", "cus", CELL_RIGHT, false},
		{"on target CU", "target_cu_starts", CELL_RIGHT, false},
	};
	struct table t;
	bool ok;

	if (!j->info.n_domains)
		return true;
	fprintf(j->c->out, "\nwave starts and ends of all CUs\n");
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < j->info.n_domains; i++) {
		const struct info_domain *d = &j->info.domains[i];

		table_u64(&t, d->id);
		table_u64(&t, d->events);
		table_u64(&t, d->starts);
		table_u64(&t, d->ends);
		table_u64(&t, d->cus);
		if (j->trace->meta.target_cu == NO_VALUE)
			table_cstr(&t, "-");
		else
			table_u64(&t, d->target_cu_starts);
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok || err_nomem(&j->c->error);
}

/* How many blocks of each type a container has, in the order of their first. */
static void print_blocks(struct job *j)
{
	const struct named_table *k = trace_find_table(j->trace, "blocks");
	const char *types[256], *names[256];
	uint32_t counts[256] = {0};
	size_t n = 0;

	for (uint32_t r = 0; k && r < k->n_rows; r++) {
		const char *type = named_table_cell(k, r, "type");
		const char *name = named_table_cell(k, r, "name");
		size_t at = 0;

		while (type && at < n && strcmp(types[at], type) != 0)
			at++;
		if (!type || at == sizeof(types) / sizeof(types[0]))
			continue;
		types[at] = type;
		names[at] = name ? name : "";
		counts[at]++;
		n += at == n;
	}
	if (n)
		fprintf(j->c->out, "\n" LABEL, "blocks");
	for (size_t i = 0; i < n; i++)
		fprintf(j->c->out, "%s%u of type %s%s%s%s", i ? ", " : "", counts[i], types[i],
			*names[i] ? " (" : "", names[i], *names[i] ? ")" : "");
	if (n)
		fputc('\n', j->c->out);
}

/* What an on-device run or a side file states. */
static bool print_details(struct job *j)
{
	const struct named_table *base = trace_find_table(j->trace, "base-info");

	print_blocks(j);
	return tables_print_list(j->c, j->trace) &&
	       (!base || tables_print_one(j->c, base, base->n_rows));
}

static bool print_beside(struct job *j)
{
	static const struct table_column columns[] = {
		{"capture", NULL, CELL_LEFT, true},
		{"waves", NULL, CELL_RIGHT, false},
		{"rows", NULL, CELL_RIGHT, false},
		{"mapped", NULL, CELL_RIGHT, false},
		{"remark", NULL, CELL_LEFT, false},
	};
	struct table t;
	bool ok;

	if (j->beside.n < 2)
		return true;
	fprintf(j->c->out, "\ncaptures beside each other\n");
	table_init(&t, columns, sizeof(columns) / sizeof(columns[0]));
	for (uint32_t i = 0; i < j->beside.n; i++) {
		const struct capture *k = &j->beside.v[i];

		table_cstr(&t, path_base(k->path));
		if (k->is_uncounted) {
			for (unsigned n = 0; n < 3; n++)
				table_cstr(&t, "-");
		} else {
			table_u64(&t, k->n_tracks);
			table_u64(&t, k->n_rows);
			table_u64(&t, k->n_mapped);
		}
		table_cstr(&t, k == j->self	 ? "this one"
			       : k->is_empty	 ? "empty"
			       : is_repeat(j, k) ? "same code"
						 : "");
	}
	ok = table_print(&t, j->c);
	table_deinit(&t);
	return ok || err_nomem(&j->c->error);
}

static void print_explain(FILE *out)
{
	fprintf(out,
		"\n"
		"evidence    how the cycles were obtained: measured on hardware, sampled, "
		"simulated\n"
		"clock       shader clock during the trace: sum of shader cycles / sum of real "
		"time;\n"
		"            an offset is what to add to an engine's cycles to align it with the "
		"first\n"
		"executed    rows with at least one hit, as the producer states\n"
		"mapped      rows with a source position; the label row of a kernel never has one\n"
		"on target CU  waves that could have instruction detail: only one CU per engine "
		"has it\n"
		"health      verdict of incore check with its errors and warnings\n");
}

static bool print_text(struct job *j)
{
	const struct trace_meta *m = &j->trace->meta;
	FILE *out = j->c->out;

	fprintf(out, LABEL "%s\n", "kernel", m->kernel ? m->kernel : "unknown");
	fprintf(out, LABEL "%s (%s%s%s)\n", "evidence",
		evidence_text(j->trace, (char[EVIDENCE_TEXT]){0}), m->format,
		m->format_version ? " " : "", m->format_version ? m->format_version : "");
	print_machine(j);
	print_clock(j);
	print_launch(j);
	print_code(j);
	if (trace_has_pipes(j->trace) ? !print_pipes(j) : !print_waves(j))
		return false;
	print_extras(j);
	if (j->health.n)
		fprintf(out, LABEL "%s\n", "health", j->health.p);
	if (!print_occupancy(j) || !print_details(j) || !print_beside(j))
		return false;
	if (cli_flag(j->c, "explain"))
		print_explain(out);
	return true;
}

/* --- the verb --- */

static bool run_json(struct job *jobs, unsigned n)
{
	struct cli *c = jobs->c;
	const struct trace **traces = mem_zalloc(n, sizeof(*traces));
	struct json_writer w;

	if (!traces)
		return err_nomem(&c->error);
	for (unsigned i = 0; i < n; i++)
		traces[i] = jobs[i].trace;
	cli_json_begin(c, &w, traces, n);
	if (n == 1) {
		put_json(&jobs[0], &w);
	} else {
		json_w_object(&w);
		json_w_key(&w, "captures");
		json_w_array(&w);
		for (unsigned i = 0; i < n; i++)
			put_json(&jobs[i], &w);
		json_w_end(&w);
		json_w_end(&w);
	}
	mem_free(traces);
	return cli_json_end(c, &w);
}

static bool run_text(struct job *jobs, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		if (n > 1)
			fprintf(jobs->c->out, "%s%s\n", i ? "\n" : "", jobs->c->args[i]);
		if (!print_text(&jobs[i]))
			return false;
	}
	return true;
}

static int run(struct cli *c)
{
	struct job *jobs = mem_zalloc(c->n_args, sizeof(*jobs));
	unsigned n = 0;
	bool ok = jobs != NULL;

	if (!ok)
		err_nomem(&c->error);
	for (; ok && n < c->n_args; n++) {
		jobs[n].c = c;
		ok = open_one(&jobs[n], c->args[n]);
	}
	if (ok)
		ok = c->use_json ? run_json(jobs, n) : run_text(jobs, n);
	for (unsigned i = 0; i < n; i++)
		close_one(&jobs[i]);
	mem_free(jobs);
	return ok ? INCORE_OK : cli_fail(c);
}

const struct verb verb_info = {
	.name = "info",
	.args = "PATH...",
	.summary = "what was captured, on what machine, how much of it",
	.groups = OPTIONS_OUTPUT | OPTIONS_CAPTURE,
	.options = options,
	.min_args = 1,
	.max_args = MAX_PATHS,
	.run = run,
};
