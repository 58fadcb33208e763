/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile.c: runs all kernels of a build in parallel; after each of them the lists are complete.
 * Parts: lists; the build.
 */
#include "replay/build/profile.h"
#include "args/words.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dated.h"
#include "base/file.h"
#include "base/log.h"
#include "base/search.h"
#include "codec/csv.h"
#include "dump/read/task_args.h"
#include "export/clean/clean_job.h"
#include "import/import.h"
#include "replay/look.h"
#include "replay/source/kernel_config.h"
#include "replay/supply.h"
#include "replay/workspace.h"

/* --- lists ------------------------------------------------------------------------------------ */

/* The lists of a run folder, and reading them back. */

static const char HEADER[] =
	"func,status,source_cpp,symbol,demangled,app,kernel_lib,case_dir,build_dir,collect_dir,export_dir,export_src,artifact_count,trace_json,visualize_data_bin,core_trace_count,instr_csv_count,duration_sec,message\n";

const char *profile_status_name(enum profile_status s)
{
	static const char *const NAMES[] = {
		"not_run", "started", "exported", "collect_failed", "failed"};

	return NAMES[s];
}

static bool write_list(
	const char *folder, const char *name, const struct strbuf *b, struct incore_error *e)
{
	char *path = path_join(folder, name);
	struct out_file o = {0};
	bool ok = path && !b->failed ? out_file_open(&o, path, e) : err_nomem(e);

	if (ok) {
		fwrite(b->p, 1, b->n, o.f);
		ok = out_file_commit(&o, e);
	}
	mem_free(path);
	return ok;
}

/* Writes profile.txt in the folder of a kernel that ran, with what a resumed run needs. */
static bool profile_write_kernel(const struct profile_row *k, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	sb_printf(&b, "func=%s\nstatus=%s\nsource=%s\nsimulator=%s\ncycles=%llu\nbound_by=%s\n",
		k->kernel.name, profile_status_name(k->status), k->kernel.source, k->simulator,
		(unsigned long long)k->cycles, k->bound);
	sb_printf(&b,
		"degenerate=%s\nlinks_left=%llu\nmade_up=%s\nassumed=%s\nworkload=%s\nmessage=%s\n",
		k->is_degenerate ? "yes" : "no", (unsigned long long)k->links_left, k->made_up,
		k->assumed, k->workload, k->message);
	ok = write_list(k->folder, "profile.txt", &b, e);
	sb_free(&b);
	return ok;
}

static void put_field(struct strbuf *b, const char *text, bool is_last)
{
	csv_put(b, str_of(text ? text : ""));
	sb_putc(b, is_last ? '\n' : ',');
}

static void put_row(struct strbuf *b, const struct profile_row *k)
{
	bool is_there = k->status == PROFILE_EXPORTED;
	char number[32];

	put_field(b, k->kernel.name, false);
	put_field(b, profile_status_name(k->status), false);
	put_field(b, k->kernel.source, false);
	put_field(b, is_there ? k->symbol : "", false);
	put_field(b, is_there ? k->demangled : "", false);
	put_field(b, is_there ? k->app : "", false);
	put_field(b, is_there ? k->library : "", false);
	put_field(b, k->folder, false);
	put_field(b, k->folder, false);
	put_field(b, k->collect, false);
	put_field(b, k->simulator, false);
	put_field(b, k->simulator, false);
	snprintf(number, sizeof(number), "%u", is_there ? 2 + k->n_core_traces + k->n_csv : 0);
	put_field(b, number, false);
	sb_printf(b, "%s%s,%s%s,", is_there ? k->simulator : "", is_there ? "/trace.json" : "",
		is_there ? k->simulator : "", is_there ? "/visualize_data.bin" : "");
	sb_printf(b, "%u,%u,%.2f,", k->n_core_traces, k->n_csv, k->seconds);
	put_field(b, k->message, true);
}

static bool write_manifest(const struct profile_run *r, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	sb_puts(&b, HEADER);
	for (size_t i = 0; i < r->rows.n; i++)
		put_row(&b, &r->rows.v[i]);
	ok = write_list(r->root, "manifest_export.csv", &b, e);
	sb_free(&b);
	return ok;
}

static bool write_summary(const struct profile_run *r, struct incore_error *e)
{
	struct strbuf b = {0};
	size_t failed = 0;
	bool ok;

	for (size_t i = 0; i < r->rows.n; i++)
		failed += r->rows.v[i].status == PROFILE_COLLECT_FAILED ||
			  r->rows.v[i].status == PROFILE_FAILED;
	sb_printf(&b, "run_root=%s\ntotal=%zu\nexported=%u\nfailed=%zu\n\nexports:\n", r->root,
		r->rows.n, r->n_exported, failed);
	EACH (const struct profile_row, k, r->rows.v, r->rows.n) {
		if (k->status != PROFILE_NOT_RUN)
			sb_printf(&b, "%s\t%s\t%s\t%s\n", k->kernel.name,
				profile_status_name(k->status), k->simulator ? k->simulator : "",
				k->message ? k->message : "");
	}
	sb_puts(&b, "\nworkloads:\n");
	EACH (const struct profile_row, k, r->rows.v, r->rows.n) {
		if (k->workload)
			sb_printf(&b, "%s\t%s\n", k->kernel.name, k->workload);
	}
	ok = write_list(r->root, "summary.txt", &b, e);
	sb_free(&b);
	return ok;
}

ORDER_AT(by_cost, struct profile_row, DOWN(cycles) A_TO_Z(kernel.name))

static bool write_overview(const struct profile_run *r, struct incore_error *e)
{
	VEC(const struct profile_row *) order = {0};
	struct strbuf b = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < r->rows.n; i++)
		if (r->rows.v[i].status == PROFILE_EXPORTED)
			ok = VEC_PUSH(&order, &r->rows.v[i]) || err_nomem(e);
	if (ok && order.n)
		SORT(order.v, order.n, by_cost);
	sb_puts(&b, "cycles\tbound_by\tdegenerate\tfunc\tworkload\n");
	for (size_t i = 0; i < order.n; i++)
		sb_printf(&b, "%llu\t%s\t%s\t%s\t%s\n", (unsigned long long)order.v[i]->cycles,
			order.v[i]->bound ? order.v[i]->bound : "",
			order.v[i]->is_degenerate ? "yes" : "no", order.v[i]->kernel.name,
			order.v[i]->workload ? order.v[i]->workload : "");
	ok = ok && write_list(r->root, "overview.tsv", &b, e);
	VEC_FREE(&order);
	sb_free(&b);
	return ok;
}

/* Writes manifest_export.csv, summary.txt and overview.tsv of the run folder, each atomically. */
static bool profile_write_lists(const struct profile_run *r, struct incore_error *e)
{
	return write_manifest(r, e) && write_summary(r, e) && write_overview(r, e);
}

/* --- reading back --- */

static struct profile_row *row_named(struct profile_run *r, struct str name)
{
	for (size_t i = 0; i < r->rows.n; i++)
		if (str_is(name, r->rows.v[i].kernel.name))
			return &r->rows.v[i];
	return NULL;
}

/* Reads, from the kernel's own file, what the lists do not contain; false: the file is missing. */
static bool take_kernel(struct profile_run *r, struct profile_row *k)
{
	char *path = path_join(k->folder, "profile.txt");
	const char **texts[] = {&k->bound, &k->made_up, &k->assumed, &k->workload, &k->message};
	static const char *const KEYS[] = {"bound_by", "made_up", "assumed", "workload", "message"};
	struct file_data f = {0};
	struct str rest, line, key;
	unsigned n = 0;

	if (!path || !file_load(&f, path, NULL)) {
		mem_free(path);
		return false;
	}
	rest = (struct str){(const char *)f.data, f.size};
	while (str_cut(&rest, "\n", &line) && str_cut(&line, "=", &key)) {
		for (size_t i = 0; i < sizeof(KEYS) / sizeof(*KEYS); i++)
			if (str_is(key, KEYS[i]))
				n += (*texts[i] = arena_strndup(&r->arena, line.p, line.n)) != NULL;
		if (str_is(key, "cycles"))
			n += str_to_u64(line, &k->cycles);
		if (str_is(key, "links_left"))
			n += str_to_u64(line, &k->links_left);
		if (str_is(key, "degenerate"))
			k->is_degenerate = str_is(line, "yes");
	}
	file_unload(&f);
	mem_free(path);
	return n == 7;
}

/* Takes what the lists state of a kernel's files. */
static bool take_paths(struct profile_run *r, const struct csv_reader *c, struct profile_row *k)
{
	const char **const at[] = {&k->symbol, &k->demangled, &k->app, &k->library, &k->folder};

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		struct str s = c->fields.v[3 + i];

		*at[i] = arena_strndup(&r->arena, s.p, s.n);
		if (!*at[i])
			return false;
	}
	k->simulator = arena_strndup(&r->arena, c->fields.v[10].p, c->fields.v[10].n);
	k->collect = arena_strndup(&r->arena, c->fields.v[9].p, c->fields.v[9].n);
	return k->simulator && k->collect;
}

static bool take_row(struct profile_run *r, const struct csv_reader *c, struct incore_error *e)
{
	struct profile_row *k = row_named(r, c->fields.v[0]);
	uint64_t n_core = 0, n_csv = 0;
	char seconds[32];

	if (!k || !str_is(c->fields.v[1], "exported") || !str_is(c->fields.v[2], k->kernel.source))
		return true;
	if (!take_paths(r, c, k))
		return err_nomem(e);
	if (!file_is_dir(k->simulator) || !take_kernel(r, k)) { /* it was removed: run again */
		*k = (struct profile_row){
			.kernel = k->kernel, .message = "", .made_up = "", .assumed = ""};
		return true;
	}
	snprintf(seconds, sizeof(seconds), "%.*s", STR_ARG(c->fields.v[17]));
	k->seconds = strtod(seconds, NULL);
	str_to_u64(c->fields.v[15], &n_core);
	str_to_u64(c->fields.v[16], &n_csv);
	k->n_core_traces = (uint32_t)n_core;
	k->n_csv = (uint32_t)n_csv;
	k->status = PROFILE_EXPORTED;
	r->n_exported++;
	return true;
}

/* Fills the rows that an earlier run exported, matched by name and source; without a manifest it
 * fills nothing. */
static bool profile_read_manifest(struct profile_run *r, struct incore_error *e)
{
	char *path = path_join(r->root, "manifest_export.csv");
	struct file_data f = {0};
	struct csv_reader c;
	bool ok, at_end = false;

	if (!path)
		return err_nomem(e);
	if (!file_exists(path)) { /* killed before the first list */
		mem_free(path);
		return true;
	}
	ok = file_load(&f, path, e);
	if (ok) {
		csv_init(&c, f.data, f.size, path);
		ok = csv_header(&c, e);
		if (ok && c.header.n != 19)
			ok = err_file(e, "bad-manifest", path, 0, "expected 19 columns, found %zu",
				c.header.n);
		while (ok && csv_row(&c, &at_end, e))
			ok = c.fields.n != 19 || take_row(r, &c, e);
		ok = ok && at_end;
		csv_deinit(&c);
	}
	file_unload(&f);
	mem_free(path);
	return ok;
}

/* --- the build -------------------------------------------------------------------------------- */

struct batch {
	const struct profile_request *q;
	struct profile_run *r;
	pthread_mutex_t lock; /* protects rows, arena, lists, lines */
	uint32_t n_done, n_todo;
	bool has_failure;
	VEC(uint32_t) todo;
};

void profile_run_deinit(struct profile_run *r)
{
	VEC_FREE(&r->rows);
	VEC_FREE(&r->config);
	arena_deinit(&r->arena);
}

/* --- one kernel --- */

struct one { /* a worker's result; moved to its row under the lock */
	struct arena arena;
	struct testcase testcase;
	struct look look;
	struct replay_outcome outcome;
	const config_kernels *config; /* of the run */
	char *folder;
	const char *collect; /* where the simulator's files were put */
	const char *bundle;  /* or NULL */
};

static enum opstream_arch target_of(const struct profile_request *q)
{
	return q->target == PROFILE_A5 ? ARCH_A5 : ARCH_A2A3;
}

/* "fa_fused_aic" is a side of the kernel "fa_fused". */
static bool is_side_of(struct str name, const char *stem)
{
	size_t n = strlen(stem);

	return str_starts(name, stem) && (name.n == n || str_is(str_sub(name, n, name.n), "_aic") ||
						 str_is(str_sub(name, n, name.n), "_aiv"));
}

/* Is the task one of this kernel: by the name in the dump, else by its func ids in the build? */
static bool is_task_of(const struct dump *d, const struct dump_task *task,
	const config_kernels *config, const char *stem)
{
	int32_t ids[DUMP_MAX_MEMBERS];
	struct str name = {"", 0};

	if (task->n_copies)
		name = dump_kernel_of(d, d->order[task->first_copy]);
	if (name.n)
		return is_side_of(name, stem);
	for (unsigned n = dump_members_of(d, task->members, ids); n > 0; n--)
		for (size_t i = 0; i < config->n; i++)
			if (config->v[i].func == ids[n - 1] &&
				is_side_of(str_of(config->v[i].name), stem))
				return true;
	return false;
}

/* Replaces invented slots by those of a recorded run of this kernel. */
static bool take_from_dump(const struct profile_request *q, const config_kernels *config,
	struct testcase *t, const char *stem, struct incore_error *e)
{
	struct dump *d = dump_open(q->dump, q->follow_links, e);
	struct args recorded;
	bool ok = d != NULL, is_found = false;

	args_init(&recorded);
	for (uint32_t i = 0; ok && i < d->tasks.n && !is_found; i++) {
		if (!is_task_of(d, &d->tasks.v[i], config, stem))
			continue;
		is_found = true;
		ok = task_args_load(&recorded, d, i, DUMP_NONE, false, e);
	}
	if (ok && is_found) {
		struct args made_up = t->args;

		for (uint32_t i = 0; i < ARG_CONTEXT_SLOT && ok; i++)
			if (made_up.slots[i].is_used != recorded.slots[i].is_used)
				ok = err_file(e, "other-kernel", d->manifest, INCORE_NO_OFFSET,
					"slot %u of %s is %s in the dump, and %s by its source", i,
					stem, recorded.slots[i].is_used ? "there" : "not there",
					made_up.slots[i].is_used ? "there" : "not there");
		t->args = recorded;
		recorded = made_up;
		t->n_free = 0;
		ok = ok && testcase_describe(t, e);
	}
	args_deinit(&recorded);
	dump_free(d);
	return ok;
}

static bool prepare(const struct profile_request *q, const struct testcase_options *values,
	struct one *o, const struct build_kernel *k, struct incore_error *e)
{
	struct strbuf wrapper = {0};
	char *name, *source;
	bool ok;

	remove_tree(o->folder); /* left by an interrupted run */
	source = realpath(k->source, NULL);
	ok = source ? workspace_dir(o->folder, 0700, e) : err_errno(e, errno, k->source, "read");
	testcase_deinit(&o->testcase); /* from an earlier attempt */
	o->testcase = (struct testcase){0};
	ok = ok && testcase_read(&o->testcase, source, values, e) &&
	     (!q->dump || take_from_dump(q, o->config, &o->testcase, k->stem, e)) &&
	     args_write(&o->testcase.args, o->folder, e) &&
	     testcase_wrapper(&o->testcase, source, &wrapper, e);
	if (ok && wrapper.n) {
		name = arena_printf(&o->arena, "%s_entry.cpp", k->stem);
		ok = name ? workspace_text(
				    o->folder, name, (struct str){wrapper.p, wrapper.n}, 0644, e)
			  : err_nomem(e);
	}
	if (ok && !q->target && !o->testcase.has_target)
		o->testcase.target = ARCH_A2A3;
	free(source);
	sb_free(&wrapper);
	return ok;
}

/* Moves the simulator directory to where PyPTO's scripts and their readers expect it,
 * collect/out/OPPROF_<...>/simulator, and leaves a link in its place. */
static bool move_simulator(struct one *o, struct incore_error *e)
{
	const char *from = o->outcome.simulator_dir, *run = strstr(from, "/insight_export/OPPROF_");
	const char *collect = arena_printf(&o->arena, "%s/collect", o->folder);
	const char *out = arena_printf(&o->arena, "%s/collect/out", o->folder);
	const char *slash = run ? strchr(run + strlen("/insight_export/"), '/') : NULL;
	const char *name, *to, *link, *old;

	if (!slash)
		return true; /* msprof left it elsewhere */
	o->collect = collect;
	name = arena_strndup(&o->arena, run + strlen("/insight_export/"),
		(size_t)(slash - run) - strlen("/insight_export/"));
	old = arena_strndup(&o->arena, from, (size_t)(slash - from));
	to = arena_printf(&o->arena, "%s/%s", out, name ? name : "");
	link = arena_printf(&o->arena, "../collect/out/%s", name ? name : "");
	o->outcome.simulator_dir = arena_printf(&o->arena, "%s%s", to ? to : "", slash);
	if (!collect || !out || !name || !old || !to || !link || !o->outcome.simulator_dir)
		return err_nomem(e);
	if (!workspace_dir(collect, 0700, e) || !workspace_dir(out, 0700, e))
		return false;
	if (rename(old, to) != 0 || symlink(link, old) != 0)
		return err_errno(e, errno, to, "put the trace in place");
	return true;
}

/* Cleans one run into its kernel's folder, or into a bundle below the run folder. */
static bool clean_one(struct one *o, const struct clean_run *run, const struct build_kernel *k,
	const char *bundles, struct incore_error *e)
{
	struct clean_job j = {.run = run, .dir = bundles ? bundles : o->folder};
	struct import_options want = {.want = IMPORT_TEXT};
	struct trace *t = NULL;
	bool ok = clean_job_open(&j, e) &&
		  import_read_as(clean_job_format(&j), run->path, &want, &t, e) &&
		  clean_job_take(&j, t, e);

	trace_free(t);
	if (ok && bundles) {
		ok = clean_job_bundle(&j, NULL, e);
		j.origin.source = k->source;
		j.origin.workload = o->testcase.workload;
		o->bundle = ok ? arena_strdup(&o->arena, j.dir) : NULL;
		ok = ok && (o->bundle || err_nomem(e));
	}
	ok = ok && (!j.clean.is_text || (clean_job_write(&j, e) && clean_job_commit(&j, e)));
	clean_job_deinit(&j);
	return ok;
}

/* Writes <kernel>.clean.json and instr_metrics.json beside the simulator's own files, or a bundle of
 * all of it below `bundles`. */
static bool make_clean(
	struct one *o, const struct build_kernel *k, const char *bundles, struct incore_error *e)
{
	struct clean_runs runs = {0};
	bool ok = clean_find(&runs, o->outcome.simulator_dir, e);

	for (size_t i = 0; ok && i < runs.v.n; i++) {
		if (runs.v.v[i].is_other)
			continue;
		runs.v.v[i].kernel = k->name; /* a trace has at best the file's */
		ok = clean_one(o, &runs.v.v[i], k, bundles, e);
	}
	clean_runs_deinit(&runs);
	return ok;
}

static bool run_kernel(const struct profile_request *q, struct one *o, const struct build_kernel *k,
	struct incore_error *e)
{
	const char *entry = arena_printf(&o->arena, "%s/%s_entry.cpp", o->folder, k->stem);
	bool has_wrapper = o->testcase.signature.form != KERNEL_SLOTS;
	const char *source = has_wrapper ? entry : k->source;
	struct look_wants wants;
	struct replay_job job = {.means = &q->means,
		.workspace = o->folder,
		.label = k->name,
		.target = q->target ? target_of(q) : o->testcase.target,
		.args = &o->testcase.args,
		.wants = &wants,
		.wrapped = has_wrapper ? k->source : NULL,
		.is_ready = true}; /* is_ready() has checked once for all kernels */

	if (!entry)
		return err_nomem(e);
	supply_sides(
		&o->testcase, k->source, source, job.members, &job.n_members, &job.kernel_class);
	return supply_wants(&o->testcase, "--set ", &o->arena, &wants, e) &&
	       workspace_run_model(&job, k->source, has_wrapper, e) &&
	       backend_of(&q->means)->run(&job, &o->arena, &o->outcome, e) &&
	       move_simulator(o, e) && make_clean(o, k, NULL, e) &&
	       look_at_run(&o->arena, o->outcome.simulator_dir, &wants, &o->look, e);
}

/* A kernel that is for the other generation: said before what its compiler says. */
static bool say_target(
	const struct profile_request *q, const struct testcase *t, struct incore_error *e)
{
	if (!q->target || !t->has_target || t->target == target_of(q))
		return false;
	return err_wrap(e, "the .pto is for %s (pto.target_arch), and --target says %s",
		op_arch_name(t->target), op_arch_name(target_of(q)));
}

static bool try_one(const struct profile_request *q, const struct testcase_options *values,
	struct one *o, const struct build_kernel *k, struct incore_error *e)
{
	return (prepare(q, values, o, k, e) && run_kernel(q, o, k, e)) ||
	       say_target(q, &o->testcase, e);
}

/* Did it fail in a way that other values may avoid? */
static bool is_by_value(const struct incore_error *why)
{
	return err_is(why, "out-of-bounds") || err_is(why, "bad-shape") || err_is(why, "crash");
}

/* Makes the n-th guess at the integers that nobody set and that do not follow from the .pto: 0
 * keeps an offset inside, a count needs more. First all get the same value, 0, 1 and the bound;
 * then a single one of them gets 1. A simulator takes minutes, so it gets one guess more. */
static bool make_guess(const struct testcase_options *o, unsigned n_free, bool is_slow, unsigned n,
	struct testcase_options *out)
{
	static const char *const WHY[] = {"defaults are 0, which keeps every access inside",
		"defaults are 1: with 0 it has no work or leaves a buffer",
		"defaults are the bound: with 0 and 1 it has no work or leaves a buffer",
		"one default is 1: with all alike it has no work or leaves a buffer"};
	int64_t bound = o->dynamic_dim > 0 ? (int64_t)o->dynamic_dim : 256;

	*out = *o;
	out->free_why = WHY[n < 3 ? n : 3];
	out->free_value = n == 0 ? 0 : n == 2 ? bound : 1;
	out->free_one = n > 2 ? n - 2 : 0;
	return n == 0 || n <= (!n_free ? 0 : is_slow ? 1 : n_free > 1 ? 2 + n_free : 2);
}

/* Uses the first guess that keeps every access in bounds and gives the kernel work of its kind;
 * else the first that runs; else reports why 0 fails. */
static bool run_one(const struct profile_request *q, struct one *o, const struct build_kernel *k,
	struct incore_error *e)
{
	struct testcase_options base = q->testcase, guess;
	bool is_slow = backend_of(&q->means)->does_compute;
	unsigned n, kept = UINT_MAX;
	bool ok = false, has_work = false, goes_on = true;

	base.kernel = k->name;
	base.stem = k->stem;
	base.needs_values = q->needs_values;
	for (n = 0; goes_on && make_guess(&base, o->testcase.n_free, is_slow, n, &guess); n++) {
		struct incore_error why = {0};

		ok = try_one(q, &guess, o, k, &why);
		has_work = ok && !o->look.degenerate;
		kept = ok && kept == UINT_MAX ? n : kept;
		goes_on = !has_work && (ok || is_by_value(&why));
		if (!ok && !e->code)
			err_move(e, &why);
		incore_error_clear(&why);
	}
	if (has_work || kept == UINT_MAX)
		return has_work;
	if (kept != n - 1) { /* later guesses have replaced its files */
		make_guess(&base, o->testcase.n_free, is_slow, kept, &guess);
		incore_error_clear(e);
		ok = try_one(q, &guess, o, k, e);
	}
	return ok;
}

/* --- the batch --- */

static void tell(struct batch *b, const struct profile_row *row)
{
	struct strbuf line = {0};

	if (!b->q->on_line)
		return;
	if (row->status == PROFILE_EXPORTED)
		sb_printf(&line,
			"[%02u/%02u] %s %s: artifacts=%u core_traces=%u instr_csv=%u cycles=%llu%s%s",
			b->n_done, b->n_todo, row->is_degenerate || *row->made_up ? "WARN" : "OK",
			row->kernel.name, 2 + row->n_core_traces + row->n_csv, row->n_core_traces,
			row->n_csv, (unsigned long long)row->cycles, *row->message ? " -- " : "",
			row->message);
	else
		sb_printf(&line, "[%02u/%02u] FAIL %s: %s", b->n_done, b->n_todo, row->kernel.name,
			row->message);
	if (!line.failed)
		b->q->on_line(b->q->ctx, line.p);
	sb_free(&line);
}

static const char *keep(struct batch *b, const char *text)
{
	return text ? arena_strdup(&b->r->arena, text) : "";
}

static const char *keep_control(struct batch *b, const struct args *args, enum arg_control kind)
{
	struct strbuf text = {0};
	const char *kept;

	args_control(args, kind, &text);
	kept = keep(b, text.p);
	sb_free(&text);
	return kept;
}

/* The most important thing to know of a run, after what was made up. */
static const char *message_of(struct batch *b, const struct profile_row *row, const struct one *o)
{
	const struct profile_request *q = b->q;
	bool is_other = q->target && o->testcase.has_target && o->testcase.target != target_of(q);
	const char *rest = o->outcome.is_partial ? o->outcome.verdict
			   : o->look.degenerate	 ? o->look.degenerate
			   : o->outcome.warning	 ? o->outcome.warning
			   : is_other		 ? "its .pto is for the other --target"
						 : "";

	if (!row->made_up || !*row->made_up)
		return keep(b, rest);
	return arena_printf(&b->r->arena, "made-up control values: %s%s%s", row->made_up,
		*rest ? "; " : "", rest);
}

/* Stores a worker's result in the row and writes the lists. */
static bool settle(struct batch *b, struct profile_row *row, const struct one *o,
	const struct incore_error *why, bool ok, struct incore_error *e)
{
	struct strbuf text = {0};

	if (ok) {
		row->status = PROFILE_EXPORTED;
		row->simulator = keep(b, o->outcome.simulator_dir);
		row->symbol = keep(b, o->outcome.symbol);
		row->demangled = keep(b, o->outcome.demangled);
		row->app = keep(b, o->outcome.app);
		row->library = keep(b, o->outcome.library);
		row->collect = keep(b, o->collect);
		row->bundle = keep(b, o->bundle);
		for (uint32_t i = 0; i < o->outcome.n_cuts; i++)
			if (strcmp(o->outcome.cuts[i].code, "links without a line") == 0)
				row->links_left = o->outcome.cuts[i].count;
		row->cycles = o->look.cycles;
		row->bound = keep(b, o->look.bound);
		row->is_degenerate = o->look.degenerate != NULL;
		row->n_core_traces = o->look.n_core_traces;
		row->n_csv = o->look.n_csv;
		row->workload = keep(b, o->testcase.workload);
		row->made_up = keep_control(b, &o->testcase.args, ARG_MADE_UP);
		row->assumed = keep_control(b, &o->testcase.args, ARG_ASSUMED);
		row->message = message_of(b, row, o);
		b->r->n_exported++;
	} else {
		err_format(why, &text);
		row->status =
			why->status == INCORE_FAILED ? PROFILE_COLLECT_FAILED : PROFILE_FAILED;
		row->message = keep(b, text.p);
		b->has_failure = true;
		sb_free(&text);
	}
	row->message = row->message ? row->message : "";
	row->made_up = row->made_up ? row->made_up : "";
	row->assumed = row->assumed ? row->assumed : "";
	b->n_done++;
	/* the kernel's own file first: a row of the lists always has it */
	if (!(ok ? profile_write_kernel(row, e) : true) || !profile_write_lists(b->r, e))
		return false;
	tell(b, row); /* only report what has been written */
	return true;
}

static bool is_over(struct batch *b)
{
	bool is_over;

	pthread_mutex_lock(&b->lock);
	is_over = b->has_failure && b->q->ends_at_failure;
	pthread_mutex_unlock(&b->lock);
	return is_over;
}

static bool work(void *ctx, size_t item, unsigned worker, struct incore_error *e)
{
	struct batch *b = ctx;
	const struct replay_means *means = &b->q->means;
	struct profile_row *row = &b->r->rows.v[b->todo.v[item]];
	struct incore_error why = {0};
	struct one o = {.config = &b->r->config};
	uint64_t from_ns;
	bool ok;

	(void)worker;
	if (means->is_cancelled && means->is_cancelled(means->cancel_ctx))
		return err_set(e, INCORE_FAILED, "interrupted", "interrupted");
	if (is_over(b))
		return true;
	from_ns = clock_ns();
	log_info("profile", "kernel %s of %s", row->kernel.name, row->kernel.source);
	arena_init(&o.arena);
	o.folder = arena_printf(&o.arena, "%s/funcs/%s", b->r->root, row->kernel.name);
	ok = o.folder ? run_one(b->q, &o, &row->kernel, &why) : err_nomem(&why);
	ok = ok && (!b->q->makes_bundles || make_clean(&o, &row->kernel, b->r->root, &why));
	pthread_mutex_lock(&b->lock);
	row->seconds = (double)(clock_ns() - from_ns) * 1e-9;
	row->folder = keep(b, o.folder);
	ok = settle(b, row, &o, &why, ok, e);
	pthread_mutex_unlock(&b->lock);
	incore_error_clear(&why);
	testcase_deinit(&o.testcase);
	arena_deinit(&o.arena);
	return ok;
}

static bool is_called(const struct build_kernel *k, struct str name)
{
	return str_is(name, k->name) || str_is(name, k->stem);
}

static bool is_wanted(const struct profile_request *q, const struct build_kernel *k)
{
	for (size_t i = 0; i < q->funcs.n; i++)
		if (is_called(k, str_of(q->funcs.v[i])))
			return true;
	return q->funcs.n == 0;
}

static bool no_such_func(const struct profile_request *q, const build_kernels *all, struct str name,
	struct incore_error *e)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < all->n && i < 40; i++)
		sb_printf(&b, "%s%s", i ? ", " : "", all->v[i].name);
	err_set(e, INCORE_USAGE, "no-such-func", "no kernel named %.*s in %s; it has %s%s",
		STR_ARG(name), q->build_dir, b.p ? b.p : "none", all->n > 40 ? ", ..." : "");
	sb_free(&b);
	return false;
}

static bool has_kernel(const build_kernels *all, struct str name)
{
	for (size_t i = 0; i < all->n; i++)
		if (is_called(&all->v[i], name))
			return true;
	return false;
}

/* Every given name must match a kernel. */
static bool check_names(
	const struct profile_request *q, const build_kernels *all, struct incore_error *e)
{
	const struct testcase_options *t = &q->testcase;

	for (size_t i = 0; i < q->funcs.n; i++)
		if (!has_kernel(all, str_of(q->funcs.v[i])))
			return no_such_func(q, all, str_of(q->funcs.v[i]), e);
	for (size_t i = 0; i < t->set.n + t->data.n; i++) {
		struct str word = str_of(i < t->set.n ? t->set.v[i] : t->data.v[i - t->set.n]),
			   name;
		struct str rest = str_sub(
			word, 0, (size_t)(str_find(word, "=") < 0 ? 0 : str_find(word, "=")));

		if (str_find(rest, ":") >= 0 && str_cut(&rest, ":", &name) &&
			!has_kernel(all, name))
			return no_such_func(q, all, name, e);
	}
	return true;
}

/* Does a word of --set or --data name a parameter of a selected kernel? */
static bool names_parameter(const struct profile_run *r, struct str word, struct strbuf *names)
{
	ptrdiff_t eq = str_find(word, "=");
	struct str name = str_sub(word, 0, eq < 0 ? word.n : (size_t)eq), kernel = {"", 0};
	bool is_found = false;

	if (str_find(name, ":") >= 0)
		str_cut(&name, ":", &kernel);
	for (size_t i = 0; i < r->rows.n && !is_found; i++) {
		const struct build_kernel *k = &r->rows.v[i].kernel;
		struct testcase_options o = {0};
		struct incore_error why = {0};
		struct testcase t;

		if (kernel.n && !is_called(k, kernel))
			continue;
		/* a kernel that cannot be read says so when its turn comes */
		is_found = !testcase_read(&t, k->source, &o, &why) || testcase_has_name(&t, name);
		for (uint32_t s = 0; !is_found && s < ARG_CONTEXT_SLOT && names->n < 600; s++)
			if (t.args.slots[s].is_used)
				sb_printf(names, "%s%s:%s%s%s", names->n ? ", " : "", k->name,
					t.args.slots[s].name, t.args.slots[s].alias ? " %" : "",
					t.args.slots[s].alias ? t.args.slots[s].alias : "");
		incore_error_clear(&why);
		testcase_deinit(&t);
	}
	return is_found;
}

static bool check_parameters(
	const struct profile_request *q, const struct profile_run *r, struct incore_error *e)
{
	const struct testcase_options *t = &q->testcase;
	struct strbuf names = {0};
	bool ok = true;

	for (size_t i = 0; ok && i < t->set.n + t->data.n; i++) {
		const char *word = i < t->set.n ? t->set.v[i] : t->data.v[i - t->set.n];

		sb_reset(&names);
		ok = names_parameter(r, str_of(word), &names) ||
		     err_set(e, INCORE_USAGE, "no-such-parameter",
			     "%s %s: no kernel that is selected has a parameter of that name; there are %s%s",
			     i < t->set.n ? "--set" : "--data", word, names.p ? names.p : "none",
			     names.n >= 600 ? " ..." : "");
	}
	sb_free(&names);
	return ok;
}

/* A dump must have a task of at least one selected kernel: else it is of another program. */
static bool check_dump(
	const struct profile_request *q, struct profile_run *r, struct incore_error *e)
{
	const char *path = arena_printf(&r->arena, "%s/kernel_config.py", q->build_dir);
	struct dump *d = path ? dump_open(q->dump, q->follow_links, e) : NULL;
	bool is_found = false, ok = d != NULL;
	struct strbuf names = {0};

	if (ok && file_exists(path))
		ok = kernel_config_read(&r->arena, path, CONFIG_PARSED, &r->config, e);
	for (size_t i = 0; ok && !is_found && i < d->tasks.n; i++) {
		const struct dump_task *task = &d->tasks.v[i];
		struct str name = {"", 0};

		if (task->n_copies)
			name = dump_kernel_of(d, d->order[task->first_copy]);
		for (size_t k = 0; k < r->rows.n && !is_found; k++)
			is_found = is_task_of(d, task, &r->config, r->rows.v[k].kernel.stem);
		if (names.n < 400 && (!names.n || name.n))
			sb_printf(&names, "%s%.*s", names.n && name.n ? ", " : "", STR_ARG(name));
	}
	if (ok && !is_found)
		ok = err_file(e, "other-program", d->manifest, INCORE_NO_OFFSET,
			"no task of a kernel of %s is in this dump; its tasks are of %s",
			q->build_dir,
			names.n ? names.p : "kernels without a name (no name_map_*.json)");
	sb_free(&names);
	dump_free(d);
	return ok;
}

static bool choose(const struct profile_request *q, struct profile_run *r, struct incore_error *e)
{
	build_kernels all = {0};
	bool ok = discover_kernels(&r->arena, q->build_dir, &all, e) && check_names(q, &all, e);

	for (size_t i = 0; ok && i < all.n; i++)
		if (is_wanted(q, &all.v[i]))
			ok = VEC_PUSH(&r->rows, (struct profile_row){.kernel = all.v[i],
							.message = "",
							.made_up = "",
							.assumed = ""}) ||
			     err_nomem(e);
	VEC_FREE(&all);
	return ok && check_parameters(q, r, e) && (!q->dump || check_dump(q, r, e));
}

struct latest {
	struct arena *arena;
	const char *dir, *name, *path;
};

static bool take_latest(void *ctx, const char *name, struct incore_error *e)
{
	struct latest *l = ctx;

	if (strncmp(name, l->name, strlen(l->name)) != 0 || name[strlen(l->name)] != '_')
		return true;
	l->path = arena_printf(
		l->arena, "%s/%s", l->dir, name); /* names sort by time: keep the last */
	return l->path || err_nomem(e);
}

/* Finds the run folder to resume. */
static bool find_latest(
	const struct profile_request *q, struct profile_run *r, struct incore_error *e)
{
	struct latest l = {
		&r->arena, q->output_root ? q->output_root : q->build_dir, q->name, NULL};

	if (!file_is_dir(l.dir) || !dir_each(l.dir, take_latest, &l, NULL) || !l.path)
		return err_set(e, INCORE_BAD_INPUT, "nothing-to-resume",
			"nothing to resume: there is no folder %s_* in %s", l.name, l.dir);
	r->root = l.path;
	return true;
}

/* Creates <root>/<name>_<time>, or takes the run folder to resume. */
static bool make_root(
	const struct profile_request *q, struct profile_run *r, struct incore_error *e)
{
	const char *top = q->output_root ? q->output_root : q->build_dir;
	char *stem;

	if (q->resumes) {
		if (!profile_read_manifest(r, e))
			return false;
		out_file_clean(r->root); /* left by a killed run */
		out_file_clean(q->build_dir);
		for (size_t i = 0; i < r->rows.n; i++)
			if (r->rows.v[i].folder)
				out_file_clean(r->rows.v[i].folder);
		return true;
	}
	if (q->output_root && !workspace_dir(top, 0755, e))
		return false;
	stem = arena_printf(&r->arena, "%s/%s", top, q->name);
	if (!stem)
		return err_nomem(e);
	r->root = dated_dir(&r->arena, stem, 0700, e);
	return r->root != NULL;
}

static bool write_head(
	const struct profile_request *q, struct profile_run *r, struct incore_error *e)
{
	char *funcs = arena_printf(&r->arena, "%s/funcs", r->root);
	struct strbuf b = {0};
	bool ok = workspace_dir(funcs, 0700, e);

	if (q->script)
		sb_printf(&b, "script=%s\n", q->script);
	sb_printf(&b,
		"build_dir=%s\nsource_count=%zu\nbackend=%s\nevidence=%s\ndynamic_dim=%lld\nseed=%llu\n\nsources:\n",
		q->build_dir, r->rows.n, r->backend->name, r->backend->evidence,
		(long long)(q->testcase.dynamic_dim ? q->testcase.dynamic_dim : 256),
		(unsigned long long)(q->testcase.seed ? q->testcase.seed : TESTCASE_DEFAULT_SEED));
	for (size_t i = 0; i < r->rows.n; i++)
		sb_printf(&b, "%s\t%s\n", r->rows.v[i].kernel.name, r->rows.v[i].kernel.source);
	ok = ok && (!b.failed || err_nomem(e)) &&
	     workspace_text(r->root, "README.txt", (struct str){b.p, b.n}, 0644, e);
	sb_reset(&b);
	sb_printf(&b, "%s\n", r->root);
	if (ok && !q->output_root)
		ok = workspace_text(q->build_dir, "latest_all_funcs_kernel_insight_export_root.txt",
			(struct str){b.p, b.n}, 0644, e);
	sb_free(&b);
	return ok;
}

/* Checks once, before anything is written, what every kernel needs to run. Kernels that state their
 * own platform may be for either. */
static bool is_ready(const struct profile_request *q, struct incore_error *e)
{
	const struct backend_ops *backend = backend_of(&q->means);
	struct replay_job job = {.means = &q->means, .target = target_of(q)};

	if (backend->preflight(&job, e))
		return true;
	if (q->target)
		return false;
	job.target = ARCH_A5;
	return backend->preflight(&job, e);
}

bool profile_run(const struct profile_request *q, struct profile_run *out, struct incore_error *e)
{
	struct batch b = {.q = q, .r = out, .lock = PTHREAD_MUTEX_INITIALIZER};
	bool ok;

	*out = (struct profile_run){.backend = backend_of(&q->means)};
	arena_init(&out->arena);
	ok = (!q->resumes || find_latest(q, out, e)) && choose(q, out, e) && is_ready(q, e) &&
	     make_root(q, out, e) && write_head(q, out, e) && profile_write_lists(out, e);
	for (uint32_t i = 0; ok && i < out->rows.n; i++)
		if (out->rows.v[i].status != PROFILE_EXPORTED)
			ok = VEC_PUSH(&b.todo, i) || err_nomem(e);
	b.n_todo = (uint32_t)b.todo.n;
	ok = ok && pool_run(q->pool, b.todo.n, 1, work, &b, e);
	VEC_FREE(&b.todo);
	pthread_mutex_destroy(&b.lock);
	return ok;
}
