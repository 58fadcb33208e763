/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c: runs all kernels of a build in parallel; after each of them the lists are complete. */
#include "replay/build/profile.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log.h"
#include "dump/read/task_args.h"
#include "export/clean/clean_job.h"
#include "import/import.h"
#include "replay/supply.h"
#include "replay/workspace.h"

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
	arena_deinit(&r->arena);
}

/* --- one kernel --- */

struct one { /* a worker's result; moved to its row under the lock */
	struct arena arena;
	struct testcase testcase;
	struct profile_facts facts;
	struct replay_outcome outcome;
	char *folder;
};

static bool run_kernel(const struct profile_request *q, struct one *o, const struct build_kernel *k,
	struct incore_error *e)
{
	const char *entry = arena_printf(&o->arena, "%s/%s_entry.cpp", o->folder, k->stem);
	bool has_wrapper = o->testcase.signature.form != KERNEL_SLOTS;
	const char *source = has_wrapper ? entry : k->source;
	struct replay_job job = {.workspace = o->folder,
		.label = k->name,
		.target = q->has_target ? q->target : o->testcase.target,
		.args = &o->testcase.args,
		.defines = q->defines,
		.n_defines = q->n_defines,
		.include_dirs = q->include_dirs,
		.n_include_dirs = q->n_include_dirs,
		.wrapped = has_wrapper ? k->source : NULL,
		.is_ready = true, /* is_ready() has checked once for all kernels */
		.is_cancelled = q->is_cancelled,
		.cancel_ctx = q->cancel_ctx,
		.options = q->backend_options};

	if (!entry)
		return err_nomem(e);
	supply_sides(
		&o->testcase, k->source, source, job.members, &job.n_members, &job.kernel_class);
	return q->backend->run(&job, &o->arena, &o->outcome, e);
}

/* Replaces invented slots by those of a recorded run of this kernel. */
static bool take_from_dump(const struct profile_request *q, struct testcase *t, const char *stem,
	struct incore_error *e)
{
	struct dump *d = dump_open(q->dump, q->follow_links, e);
	struct args recorded;
	bool ok = d != NULL, is_found = false;

	args_init(&recorded);
	for (uint32_t i = 0; ok && i < d->tasks.n && !is_found; i++) {
		const struct dump_task *task = &d->tasks.v[i];

		if (!task->n_copies || !str_is(dump_kernel_of(d, d->order[task->first_copy]), stem))
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
	     (!q->dump || take_from_dump(q, &o->testcase, k->stem, e)) &&
	     args_write(&o->testcase.args, o->folder, e) &&
	     testcase_wrapper(&o->testcase, source, &wrapper, e);
	if (ok && wrapper.n) {
		name = arena_printf(&o->arena, "%s_entry.cpp", k->stem);
		ok = name ? workspace_text(
				    o->folder, name, (struct str){wrapper.p, wrapper.n}, 0644, e)
			  : err_nomem(e);
	}
	if (ok && !q->has_target && !o->testcase.has_target)
		o->testcase.target = TARGET_A2A3;
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

/* Writes <kernel>.clean.json and instr_metrics.json beside the simulator's own files. */
static bool make_clean(struct one *o, const char *kernel, struct incore_error *e)
{
	struct clean_runs runs = {0};
	bool ok = clean_find(&runs, o->outcome.simulator_dir, e);

	for (size_t i = 0; ok && i < runs.v.n; i++) {
		struct clean_job j = {.run = &runs.v.v[i], .dir = o->folder};
		struct import_options want = {.want = IMPORT_TEXT};
		struct trace *t = NULL;

		if (j.run->is_other)
			continue;
		runs.v.v[i].kernel = kernel; /* the build's name: a trace has at best the file's */
		ok = clean_job_open(&j, e) &&
		     import_read_as(clean_job_format(&j), j.run->path, &want, &t, e) &&
		     clean_job_take(&j, t, e);
		trace_free(t);
		ok = ok &&
		     (!j.clean.is_text || (clean_job_write(&j, e) && clean_job_commit(&j, e)));
		clean_job_deinit(&j);
	}
	clean_runs_deinit(&runs);
	return ok;
}

static bool try_one(const struct profile_request *q, const struct testcase_options *values,
	struct one *o, const struct build_kernel *k, struct incore_error *e)
{
	return prepare(q, values, o, k, e) && run_kernel(q, o, k, e) && move_simulator(o, e) &&
	       make_clean(o, k->name, e) &&
	       profile_look(&o->arena, o->outcome.simulator_dir, o->testcase.has_cube,
		       o->testcase.has_vector, &o->facts, e);
}

/* Did it fail in a way that other values may avoid? */
static bool is_by_value(const struct incore_error *why)
{
	return err_is(why, "out-of-bounds") || err_is(why, "bad-shape") || err_is(why, "crash");
}

/* Makes the n-th guess at the integers that nobody set: 0 keeps an offset inside, a count needs
 * more. First all get the same value, 0, 1 and the bound; then a single one of them gets 1. */
static bool make_guess(
	const struct testcase_options *o, unsigned n_free, unsigned n, struct testcase_options *out)
{
	static const char *const WHY[] = {"defaults are 0, which keeps every access inside",
		"defaults are 1: with 0 it has no work or leaves a buffer",
		"defaults are the bound: with 0 and 1 it has no work or leaves a buffer",
		"one default is 1: with all alike it has no work or leaves a buffer"};
	int64_t bound = o->dynamic_dim > 0 ? o->dynamic_dim : 256;

	*out = *o;
	out->free_why = WHY[n < 3 ? n : 3];
	out->free_value = n == 0 ? 0 : n == 2 ? bound : 1;
	out->free_one = n > 2 ? n - 2 : 0;
	return n == 0 || n <= (n_free > 1 ? 2 + n_free : n_free ? 2 : 0);
}

/* Uses the first guess that keeps every access in bounds and gives the kernel work of its kind;
 * else the first that runs; else reports why 0 fails. */
static bool run_one(const struct profile_request *q, struct one *o, const struct build_kernel *k,
	struct incore_error *e)
{
	struct testcase_options base = q->testcase, guess;
	unsigned n, kept = UINT_MAX;
	bool ok = false, has_work = false, goes_on = true;

	base.kernel = k->name;
	base.stem = k->stem;
	for (n = 0; goes_on && make_guess(&base, o->testcase.n_free, n, &guess); n++) {
		struct incore_error why = {0};
		bool lacks_values;

		ok = try_one(q, &guess, o, k, &why);
		lacks_values =
			!ok && err_is(&why, "no-value") && !base.fill_control && !q->needs_values;
		has_work = ok && !o->facts.degenerate;
		kept = ok && kept == UINT_MAX ? n : kept;
		goes_on = !has_work && (ok || is_by_value(&why));
		if (!ok && !e->code)
			err_move(e, &why);
		if (lacks_values) {
			base.fill_control = goes_on = true;
			n = UINT_MAX; /* restart with filled control tensors */
		}
		incore_error_clear(&why);
	}
	if (has_work || kept == UINT_MAX)
		return has_work;
	if (kept != n - 1) { /* later guesses have replaced its files */
		make_guess(&base, o->testcase.n_free, kept, &guess);
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
			b->n_done, b->n_todo, row->is_degenerate ? "WARN" : "OK", row->kernel.name,
			2 + row->n_core_traces + row->n_csv, row->n_core_traces, row->n_csv,
			(unsigned long long)row->cycles, *row->message ? " -- " : "", row->message);
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

/* Stores a worker's result in the row and writes the lists. */
static bool settle(struct batch *b, struct profile_row *row, const struct one *o,
	const struct incore_error *why, bool ok, struct incore_error *e)
{
	struct strbuf text = {0};

	if (ok) {
		row->status = PROFILE_EXPORTED;
		row->simulator = keep(b, o->outcome.simulator_dir);
		row->cycles = o->facts.cycles;
		row->bound = keep(b, o->facts.bound);
		row->is_degenerate = o->facts.degenerate != NULL;
		row->n_core_traces = o->facts.n_core_traces;
		row->n_csv = o->facts.n_csv;
		row->message = keep(b, o->outcome.is_partial ? o->outcome.verdict
				       : o->facts.degenerate ? o->facts.degenerate
				       : o->outcome.warning  ? o->outcome.warning
							     : "");
		row->workload = keep(b, o->testcase.workload);
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
	struct profile_row *row = &b->r->rows.v[b->todo.v[item]];
	struct incore_error why = {0};
	struct one o = {0};
	struct timespec from, to;
	bool ok;

	(void)worker;
	if (b->q->is_cancelled && b->q->is_cancelled(b->q->cancel_ctx))
		return err_set(e, INCORE_FAILED, "interrupted", "interrupted");
	if (is_over(b))
		return true;
	clock_gettime(CLOCK_MONOTONIC, &from);
	log_info("profile", "kernel %s of %s", row->kernel.name, row->kernel.source);
	arena_init(&o.arena);
	o.folder = arena_printf(&o.arena, "%s/funcs/%s", b->r->root, row->kernel.name);
	ok = o.folder ? run_one(b->q, &o, &row->kernel, &why) : err_nomem(&why);
	clock_gettime(CLOCK_MONOTONIC, &to);
	pthread_mutex_lock(&b->lock);
	row->seconds =
		(double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) * 1e-9;
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
	for (unsigned i = 0; i < q->n_funcs; i++)
		if (is_called(k, str_of(q->funcs[i])))
			return true;
	return q->n_funcs == 0;
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

	for (unsigned i = 0; i < q->n_funcs; i++)
		if (!has_kernel(all, str_of(q->funcs[i])))
			return no_such_func(q, all, str_of(q->funcs[i]), e);
	for (unsigned i = 0; i < t->n_set + t->n_data; i++) {
		struct str word = str_of(i < t->n_set ? t->set[i] : t->data[i - t->n_set]), name;
		struct str rest = str_sub(
			word, 0, (size_t)(str_find(word, "=") < 0 ? 0 : str_find(word, "=")));

		if (str_find(rest, ":") >= 0 && str_cut(&rest, ":", &name) &&
			!has_kernel(all, name))
			return no_such_func(q, all, name, e);
	}
	return true;
}

static bool choose(const struct profile_request *q, struct profile_run *r, struct incore_error *e)
{
	build_kernels all = {0};
	bool ok = discover_kernels(&r->arena, q->build_dir, &all, e) && check_names(q, &all, e);

	for (size_t i = 0; ok && i < all.n; i++)
		if (is_wanted(q, &all.v[i]))
			ok = VEC_PUSH(&r->rows,
				     (struct profile_row){.kernel = all.v[i], .message = ""}) ||
			     err_nomem(e);
	VEC_FREE(&all);
	return ok;
}

/* Creates <root>/<name>_<time>, or takes the run folder to resume. */
static bool make_root(
	const struct profile_request *q, struct profile_run *r, struct incore_error *e)
{
	const char *top = q->output_root ? q->output_root : q->build_dir;
	char *stem;

	if (q->resume) {
		r->root = arena_strdup(&r->arena, q->resume);
		if (!r->root || !profile_read_manifest(r, e))
			return r->root ? false : err_nomem(e);
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
	r->root = workspace_new(&r->arena, stem, 0700, e);
	return r->root != NULL;
}

static bool write_head(
	const struct profile_request *q, struct profile_run *r, struct incore_error *e)
{
	char *funcs = arena_printf(&r->arena, "%s/funcs", r->root);
	struct strbuf b = {0};
	bool ok = workspace_dir(funcs, 0700, e);

	sb_printf(&b,
		"build_dir=%s\nsource_count=%zu\nbackend=%s\nevidence=%s\ndynamic_dim=%lld\nseed=%llu\n\nsources:\n",
		q->build_dir, r->rows.n, q->backend->name, q->backend->evidence,
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
	struct replay_job job = {
		.target = q->has_target ? q->target : TARGET_A2A3, .options = q->backend_options};

	if (q->backend->preflight(&job, e))
		return true;
	if (q->has_target)
		return false;
	job.target = TARGET_A5;
	return q->backend->preflight(&job, e);
}

bool profile_run(const struct profile_request *q, struct profile_run *out, struct incore_error *e)
{
	struct batch b = {.q = q, .r = out, .lock = PTHREAD_MUTEX_INITIALIZER};
	bool ok;

	*out = (struct profile_run){.symbol = q->backend->symbol};
	arena_init(&out->arena);
	ok = choose(q, out, e) && is_ready(q, e) && make_root(q, out, e) && write_head(q, out, e) &&
	     profile_write_lists(out, e);
	for (uint32_t i = 0; ok && i < out->rows.n; i++)
		if (out->rows.v[i].status != PROFILE_EXPORTED)
			ok = VEC_PUSH(&b.todo, i) || err_nomem(e);
	b.n_todo = (uint32_t)b.todo.n;
	ok = ok && pool_run(q->pool, b.todo.n, 1, work, &b, e);
	VEC_FREE(&b.todo);
	pthread_mutex_destroy(&b.lock);
	return ok;
}
