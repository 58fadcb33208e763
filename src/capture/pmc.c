/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pmc.c: counters of every launch, in as many runs as they need. How many counters of a block fit
 * one run is known for gfx9; if the tool still refuses a set, it is halved until it fits. The
 * results are merged by kernel and launch, and each value keeps the pass it was measured in.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/map.h"
#include "base/search.h"
#include "capture/folder.h"
#include "capture/roc.h"
#include "codec/csv.h"

#define MAX_COUNTERS 512u
#define MAX_PASSES 256u

/* Counters per block and run on gfx9 (MI200, MI300); if more would fit, this is only slower. */
static const struct {
	const char *block;
	unsigned n;
} blocks[] = {{"SQ_", 8}, {"SQC_", 8}, {"TA_", 2}, {"TD_", 2}, {"TCP_", 4}, {"TCC_", 4},
	{"CPC_", 2}, {"CPF_", 2}, {"SPI_", 2}, {"GRBM_", 2}, {"GDS_", 4}};
#define N_BLOCKS (sizeof(blocks) / sizeof(blocks[0]))

struct pass {
	uint32_t counter[MAX_COUNTERS]; /* indices */
	uint32_t n;
};

struct value {
	uint32_t kernel, counter, process, ordinal; /* ordinal: launch of its kernel, from 1 */
	uint32_t pass;
	uint64_t dispatch;
	double v;
};

struct pmc {
	struct roc *r;
	struct intern names, kernels;
	VEC(struct pass) queue;
	VEC(struct value) values;
	uint32_t pass;		  /* pass being read */
	uint32_t n_processes;	  /* processes whose files were read in this pass */
	struct u64_map launch_of; /* (process, kernel, dispatch) -> ordinal, of this pass */
	struct u64_map launches;  /* (process, kernel) -> how many, of this pass */
	uint64_t first_launches;  /* of the first pass */
	uint64_t n_launches;	  /* of this one */
};

/* --- passes --- */

static unsigned block_of(struct str name)
{
	for (unsigned i = 0; i < N_BLOCKS; i++)
		if (str_starts(name, blocks[i].block))
			return i;
	return N_BLOCKS; /* a derived metric: its needs are not known */
}

static bool read_names(struct pmc *x, struct incore_error *e)
{
	const char *p = x->r->q->counters;

	while (p && *p) {
		size_t n = strcspn(p, ", \t\n");

		if (n && intern_add(&x->names, (struct str){p, n}) == INTERN_NONE)
			return err_nomem(e);
		p += n + (p[n] != '\0');
	}
	if (!x->names.n || x->names.n > MAX_COUNTERS)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--counters names 1 to %u counters, separated by commas", MAX_COUNTERS);
	for (uint32_t i = 0; i < x->names.n; i++)
		for (size_t k = 0; k < x->names.strs[i].n; k++)
			if (!strchr("_:.[]=-", x->names.strs[i].p[k]) &&
				!(x->names.strs[i].p[k] >= '0' && x->names.strs[i].p[k] <= '9') &&
				!(x->names.strs[i].p[k] >= 'a' && x->names.strs[i].p[k] <= 'z') &&
				!(x->names.strs[i].p[k] >= 'A' && x->names.strs[i].p[k] <= 'Z'))
				return err_set(e, INCORE_USAGE, "bad-option-value",
					"'%s' is not the name of a counter", x->names.strs[i].p);
	return true;
}

/* Puts each counter into the first pass with room for its block, each metric into its own pass. */
static bool first_passes(struct pmc *x)
{
	for (uint32_t i = 0; i < x->names.n; i++) {
		unsigned block = block_of(x->names.strs[i]);
		struct pass *p = NULL;

		for (size_t k = 0; k < x->queue.n && !p && block < N_BLOCKS; k++) {
			unsigned n = 0, n_metrics = 0;

			for (uint32_t c = 0; c < x->queue.v[k].n; c++) {
				unsigned of = block_of(x->names.strs[x->queue.v[k].counter[c]]);

				n += of == block;
				n_metrics += of == N_BLOCKS;
			}
			if (n < blocks[block].n && !n_metrics)
				p = &x->queue.v[k];
		}
		if (!p) {
			if (!VEC_PUSH(&x->queue, (struct pass){{0}, 0}))
				return false;
			p = &x->queue.v[x->queue.n - 1];
		}
		p->counter[p->n++] = i;
	}
	return true;
}

static bool plan(struct pmc *x, const struct pass *p, const char *because, struct incore_error *e)
{
	struct strbuf s = {0}, list = {0};
	char name[32];
	bool ok;

	snprintf(name, sizeof(name), "pass_%zu", x->r->answer.runs.n + 1);
	sb_puts(&s, "    pmc: [");
	for (uint32_t i = 0; i < p->n; i++) {
		sb_printf(&s, "%s\"%s\"", i ? ", " : "", x->names.strs[p->counter[i]].p);
		sb_printf(&list, "%s%s", i ? " " : "", x->names.strs[p->counter[i]].p);
	}
	sb_puts(&s, "]\n    output_format: [csv]\n");
	ok = roc_plan(x->r, name, because, &s, e);
	if (ok) {
		roc_last(x->r)->counters = list.failed ? NULL : arena_strdup(&x->r->arena, list.p);
		ok = roc_last(x->r)->counters || err_nomem(e);
	}
	sb_free(&s);
	sb_free(&list);
	return ok;
}

/* --- results of a pass --- */

struct places {
	int dispatch, name, kernel_id, counter, value;
};

/* Finds which launch of its kernel this is, in the order of dispatches. */
static bool ordinal_of(struct pmc *x, struct value *v, struct incore_error *e)
{
	uint64_t group = (uint64_t)v->process << 32 | v->kernel;
	uint64_t *at = u64_map_at(
			 &x->launch_of, hash_mix64(group * 1000003 ^ hash_mix64(v->dispatch))),
		 *n;

	if (!at)
		return err_nomem(e);
	if (!*at) {
		n = u64_map_at(&x->launches, group);
		if (!n)
			return err_nomem(e);
		*at = ++*n;
		x->n_launches++;
	}
	v->ordinal = (uint32_t)*at;
	return true;
}

static bool take_row(
	struct pmc *x, const struct csv_reader *c, const struct places *p, struct incore_error *e)
{
	struct str number = str_trim(csv_field(c, p->value)), name = csv_field(c, p->name);
	struct value v = {.process = x->n_processes, .pass = x->pass};
	char text[64], *end;
	bool does;

	snprintf(text, sizeof(text), "%.*s", (int)(number.n < 63 ? number.n : 63), number.p);
	v.v = strtod(text, &end);
	v.counter = intern_find(&x->names, csv_field(c, p->counter));
	if (!str_to_u64(str_trim(csv_field(c, p->dispatch)), &v.dispatch) || end == text || *end ||
		!isfinite(v.v))
		return err_set(e, INCORE_BAD_INPUT, "bad-counters",
			"%s:%u: expected numbers for Dispatch_Id and Counter_Value", c->path,
			c->line);
	v.kernel = intern_add(&x->kernels, name);
	if (v.kernel == INTERN_NONE)
		return err_nomem(e);
	if (!roc_wants(x->r, x->kernels.strs[v.kernel].p, &does, e))
		return false;
	if (!does || v.counter == INTERN_NONE)
		return true;
	return ordinal_of(x, &v, e) && (VEC_PUSH(&x->values, v) || err_nomem(e));
}

static bool take_file(void *ctx, const char *path, struct incore_error *e)
{
	struct pmc *x = ctx;
	struct file_data f = {0};
	struct csv_reader c;
	struct places p;
	bool at_end = false, ok;

	if (!file_load(&f, path, e))
		return false;
	csv_init(&c, f.data, f.size, path);
	ok = csv_header(&c, e);
	p = (struct places){csv_column(&c, "Dispatch_Id"), csv_column(&c, "Kernel_Name"),
		csv_column(&c, "Kernel_Id"), csv_column(&c, "Counter_Name"),
		csv_column(&c, "Counter_Value")};
	if (ok && (p.dispatch < 0 || p.name < 0 || p.counter < 0 || p.value < 0))
		ok = err_file(e, "bad-counters", path, INCORE_NO_OFFSET,
			"counters have the columns Dispatch_Id, Kernel_Name, Counter_Name and Counter_Value");
	while (ok && csv_row(&c, &at_end, e))
		ok = take_row(x, &c, &p, e);
	csv_deinit(&c);
	file_unload(&f);
	x->n_processes++;
	return ok && at_end;
}

/* Notes counters that were requested but not delivered. */
static bool note_missing(struct pmc *x, const struct pass *p, struct incore_error *e)
{
	for (uint32_t i = 0; i < p->n; i++) {
		bool has_come = false;

		for (size_t k = 0; k < x->values.n && !has_come; k++)
			has_come = x->values.v[k].pass == x->pass &&
				   x->values.v[k].counter == p->counter[i];
		if (!has_come &&
			(!VEC_PUSH(&x->r->answer.refused,
				 arena_strdup(&x->r->arena, x->names.strs[p->counter[i]].p)) ||
				!x->r->answer.refused.v[x->r->answer.refused.n - 1]))
			return err_nomem(e);
	}
	return true;
}

static bool read_pass(struct pmc *x, const struct pass *p, struct incore_error *e)
{
	u64_map_deinit(&x->launch_of);
	u64_map_deinit(&x->launches);
	x->launch_of = x->launches = (struct u64_map){0};
	x->n_processes = 0;
	x->n_launches = 0;
	x->pass = (uint32_t)x->r->answer.runs.n;
	if (!roc_each_file(x->r, "_counter_collection.csv", take_file, x, e) ||
		!note_missing(x, p, e))
		return false;
	roc_last(x->r)->run.outcome = x->n_launches ? "usable" : "no launch was counted";
	if (!x->first_launches)
		x->first_launches = x->n_launches;
	return x->n_launches == x->first_launches || !x->n_launches ||
	       roc_warn(x->r, e,
		       "pass %u saw %llu launches and an earlier one %llu: the application does not run alike",
		       x->pass, (unsigned long long)x->n_launches,
		       (unsigned long long)x->first_launches);
}

/* --- runs --- */

static bool does_not_fit(struct str said)
{
	return str_has(said, "exceeds the capabilities") || str_has(said, "EXCEEDS_HW_LIMIT") ||
	       str_has(said, "cannot be collected");
}

static bool is_unknown_counter(struct str said)
{
	return str_has(said, "Unable to find") || str_has(said, "COUNTER_NOT_FOUND") ||
	       str_has(said, "not a valid counter") || str_has(said, "unsupported counter");
}

/* Adds the two halves of a pass at the end of the queue; a single counter is not split. */
static bool halve(struct pmc *x, const struct pass *p, struct incore_error *e)
{
	struct pass half[2] = {{{0}, 0}, {{0}, 0}};

	roc_last(x->r)->run.outcome = "does not fit one pass";
	if (p->n == 1) {
		const char *name = arena_strdup(&x->r->arena, x->names.strs[p->counter[0]].p);

		return (name && VEC_PUSH(&x->r->answer.refused, name)) || err_nomem(e);
	}
	for (uint32_t i = 0; i < p->n; i++)
		half[i >= p->n / 2].counter[half[i >= p->n / 2].n++] = p->counter[i];
	return (VEC_PUSH(&x->queue, half[0]) && VEC_PUSH(&x->queue, half[1])) || err_nomem(e);
}

static bool run_pass(struct pmc *x, size_t number, struct incore_error *e)
{
	struct pass p = x->queue.v[number];
	struct str said;

	if (!plan(x, &p, number < 1 ? "the first pass" : "counters that were left", e) ||
		!roc_run_last(x->r, e))
		return false;
	if (!roc_last(x->r)->run.status)
		return read_pass(x, &p, e);
	said = rocprof_run_said(&roc_last(x->r)->run);
	if (does_not_fit(said))
		return halve(x, &p, e);
	if (is_unknown_counter(said))
		return err_set(e, INCORE_USAGE, "unknown-counter",
			"rocprofv3 does not know a counter of %s: %.*s (rocprofv3 --list-avail lists them)",
			roc_last(x->r)->counters,
			STR_ARG(job_last_line(&roc_last(x->r)->run.result)));
	return roc_app_failed(x->r, e);
}

/* --- answer --- */

ORDER(by_kernel, struct value, UP(kernel) UP(counter) UP(process) UP(ordinal) UP(pass) UP(v))

static bool write_table(struct pmc *x, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	x->r->answer.table = arena_printf(&x->r->arena, "%s/counters.csv", x->r->q->dir);
	sb_puts(&b, "process,kernel,launch,dispatch,counter,value,pass\n");
	for (size_t i = 0; i < x->values.n; i++) {
		const struct value *v = &x->values.v[i];

		sb_printf(&b, "%u,", v->process);
		csv_put_text(&b, x->kernels.strs[v->kernel]);
		sb_printf(&b, ",%u,%llu,%s,%.17g,%u\n", v->ordinal, (unsigned long long)v->dispatch,
			x->names.strs[v->counter].p, v->v, v->pass);
	}
	ok = x->r->answer.table && !b.failed
		     ? folder_write(x->r->answer.table, (struct str){b.p, b.n}, e)
		     : err_nomem(e);
	sb_free(&b);
	return ok;
}

/* Instances of a counter in one launch are summed. */
static void add_launch(struct roc_counter *c, const struct value *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += v[i].v;
	c->least = !c->launches || sum < c->least ? sum : c->least;
	c->most = !c->launches || sum > c->most ? sum : c->most;
	c->sum += sum;
	c->launches++;
}

static bool sum_up(struct pmc *x, struct incore_error *e)
{
	const struct value *v = x->values.v;

	SORT(x->values.v, x->values.n, by_kernel);
	for (size_t i = 0, n, k; i < x->values.n; i += n) {
		struct roc_counter c = {.pass = v[i].pass,
			.kernel = arena_strdup(&x->r->arena, x->kernels.strs[v[i].kernel].p),
			.counter = arena_strdup(&x->r->arena, x->names.strs[v[i].counter].p)};

		for (n = 0; i + n < x->values.n && v[i + n].kernel == v[i].kernel &&
			    v[i + n].counter == v[i].counter;
			n += k) {
			for (k = 1; i + n + k < x->values.n && v[i + n + k].kernel == v[i].kernel &&
				    v[i + n + k].counter == v[i].counter &&
				    v[i + n + k].process == v[i + n].process &&
				    v[i + n + k].ordinal == v[i + n].ordinal;)
				k++;
			add_launch(&c, &v[i + n], k);
		}
		c.mean = c.sum / (double)c.launches;
		if (!c.kernel || !c.counter || !VEC_PUSH(&x->r->answer.counters, c))
			return err_nomem(e);
	}
	return !x->values.n || write_table(x, e);
}

static bool take(struct pmc *x, struct incore_error *e)
{
	bool ok = true;

	progress_begin(x->r->q->drive.progress, "passes", x->queue.n);
	for (size_t i = 0; ok && i < x->queue.n; i++) {
		ok = i < MAX_PASSES ? run_pass(x, i, e)
				    : err_set(e, INCORE_FAILED, "too-many-passes",
					      "more than %u passes would be needed", MAX_PASSES);
		progress_add(x->r->q->drive.progress, 1);
	}
	progress_end(x->r->q->drive.progress);
	ok = ok && sum_up(x, e);
	x->r->is_no = ok && x->r->answer.refused.n > 0;
	return ok;
}

bool roc_take_pmc(struct roc *r, struct incore_error *e)
{
	static const char *const needs[] = {"--pmc", "--output-format", NULL};
	struct pmc x = {.r = r};
	bool ok;

	intern_init(&x.names);
	intern_init(&x.kernels);
	ok = read_names(&x, e) && (first_passes(&x) || err_nomem(e)) && roc_open(r, needs, e);
	for (size_t i = 0; ok && r->q->is_dry && i < x.queue.n; i++)
		ok = plan(&x, &x.queue.v[i], "as far as is known before a run", e);
	if (ok && !r->q->is_dry)
		ok = take(&x, e);
	if (r->answer.place.journal)
		ok = roc_finish(r, ok, e);
	u64_map_deinit(&x.launch_of);
	u64_map_deinit(&x.launches);
	VEC_FREE(&x.queue);
	VEC_FREE(&x.values);
	intern_deinit(&x.names);
	intern_deinit(&x.kernels);
	return ok;
}
