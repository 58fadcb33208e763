/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c: from a request to a trace, step by step. */
#include "replay/replay.h"
#include "args/words.h"

#include <stdlib.h>

#include "args/spec.h"
#include "base/file.h"
#include "base/log.h"
#include "export/clean/clean_job.h"
#include "replay/plan.h"
#include "replay/supply.h"
#include "replay/workspace.h"

const struct backend_ops *backend_of(const struct replay_means *m)
{
	return m->backend == REPLAY_MODEL ? &backend_model : &backend_msprof;
}

void replay_report_deinit(struct replay_report *r)
{
	args_deinit(&r->args);
	arena_deinit(&r->arena);
}

/* The kernel's name in folders and traces: that of its source, without characters that paths must
 * not contain. */
static const char *label_of(struct replay_report *r, const char *source)
{
	const char *base = path_base(source);
	const char *dot = strrchr(base, '.');
	char *label = arena_strndup(
		&r->arena, base, dot && dot > base ? (size_t)(dot - base) : strlen(base));

	for (char *p = label; p && *p; p++)
		if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			    (*p >= '0' && *p <= '9') || strchr("_.-", *p)))
			*p = '_';
	return label;
}

static bool take_arguments(const struct replay_plan *p, struct replay_report *r, struct dump *d,
	uint32_t *task, struct incore_error *e)
{
	const struct replay_request *q = p->q;
	uint32_t block;

	if (d) {
		if (!plan_task(d, p, task, &block, e) ||
			!task_args_load(&r->args, d, *task, block, q->force, e))
			return false;
		r->task = d->tasks.v[*task].id;
		r->has_task = true;
	}
	if (q->arg_spec && !(args_load_spec(&r->args, q->arg_spec, e) && args_fill(&r->args, e) &&
				   args_spread(&r->args, p->n_blocks, e)))
		return false;
	if (!d && !q->arg_spec && !r->wrapper &&
		!supply_recipe(
			&r->args, p->n_sources ? p->sources[0] : "", p->chosen, p->n_blocks, e))
		return false;
	if (!d && q->block != NO_COUNT && !args_one_block(&r->args, (uint32_t)q->block, e))
		return false;
	for (size_t i = 0; i < q->set.n;
		i++) /* a typed kernel has them already: sizes may depend on them */
		if (!args_set(&r->args, q->set.v[i], e))
			return false;
	for (size_t i = 0; i < q->restore.n; i++) {
		uint64_t slot;

		if (!str_to_u64(str_of(q->restore.v[i]), &slot) || slot >= ARG_SLOTS)
			return err_set(e, INCORE_USAGE, "bad-slot",
				"--restore-arg %s: expected a slot, 0 to 47", q->restore.v[i]);
		if (!args_need_restored(&r->args, (uint32_t)slot, e))
			return false;
	}
	return true;
}

/* A kernel that needs a value which nobody gave: says what gives it. Always true. */
static bool say_cure(const struct replay_report *r, struct incore_error *e)
{
	const char *at = e && e->message ? strstr(e->message, "of slot ") : NULL;
	unsigned long slot = at ? strtoul(at + strlen("of slot "), NULL, 10) : ARG_CONTEXT_SLOT;

	if (err_is(e, "no-value") && slot < ARG_CONTEXT_SLOT && r->args.slots[slot].is_used)
		err_set(e, e->status, "no-value",
			"%s; --set-arg %lu=VALUE gives all of it one value, an --arg-spec with \"data\" its own bytes",
			e->message, slot);
	return true;
}

/* Did it do its work? */
static bool look_at_result(struct replay_report *r, struct incore_error *e)
{
	r->wants.args = &r->args;
	r->wants.steers = r->outcome.steers;
	return !r->outcome.simulator_dir ||
	       look_at_run(&r->arena, r->outcome.simulator_dir, &r->wants, &r->look, e);
}

static bool run_backend(const struct replay_plan *p, struct replay_report *r, const struct dump *d,
	struct incore_error *e)
{
	struct replay_job job = {.means = &p->q->means,
		.workspace = r->workspace,
		.label = r->label,
		.module = p->q->case_file,
		.case_name = p->chosen ? p->chosen->name : NULL,
		.asked = p->q->kernel,
		.target = r->target,
		.kernel_class = r->kernel_class,
		.n_members = r->n_members,
		.args = &r->args,
		.wants = &r->wants,
		.is_ready = !p->q->means.is_dry};

	memcpy(job.members, r->members, sizeof(job.members));
	if (r->wrapper) {
		const char *name = arena_printf(&r->arena, "%s_entry.cpp", r->label);
		const char *path =
			arena_printf(&r->arena, "%s/%s_entry.cpp", r->workspace, r->label);

		if (!name || !path)
			return err_nomem(e);
		if (!workspace_text(r->workspace, name, str_of(r->wrapper), 0644, e))
			return false;
		job.wrapped = r->members[0].source;
		for (uint32_t i = 0; i < job.n_members; i++)
			job.members[i].source = path;
	}
	log_info("replay", "backend %s in %s", p->backend->name, r->workspace);
	if (!p->backend->run(&job, &r->arena, &r->outcome, e))
		return say_cure(r, e) && err_wrap(e, "replay in %s", r->workspace);
	if (!look_at_result(r, e))
		return false;
	for (size_t i = 0; i < r->outcome.n_remarks; i++)
		if (!args_remark(&r->args, r->outcome.remarks[i], e))
			return false;
	return workspace_summary(p, r, d, e);
}

/* An option without effect here is a user error and must not be ignored. */
static bool check_request(const struct replay_plan *p, struct incore_error *e)
{
	const struct replay_request *q = p->q;

	if (!q->dump && (p->has_task || q->dispatch != NO_COUNT || p->n_funcs || q->restore.n))
		return err_set(e, INCORE_USAGE, "no-dump",
			"--task, --dispatch, --func and --restore-arg choose from a dump, and none is named");
	if (q->dump && p->n_blocks)
		return err_set(e, INCORE_USAGE, "blocks-of-dump",
			"--blocks is for replays without a dump: the dump says how many there are");
	return true;
}

/* For a kernel with typed parameters, this also sets its members and arguments. */
static bool take_form(const struct replay_plan *p, struct replay_report *r, struct incore_error *e)
{
	unsigned backend = p->q->means.backend;
	bool is_typed = false;

	if (p->q->dump || p->n_sources != 1)
		return backend != REPLAY_PTOAS ||
		       err_set(e, INCORE_USAGE, "bad-request",
			       "--backend ptoas takes one --source and no dump");
	if (!supply_is_typed(p->sources[0], &is_typed, e))
		return false;
	if (is_typed ? backend == REPLAY_SIMPLER : backend == REPLAY_PTOAS)
		return err_file(e, "other-form", p->sources[0], INCORE_NO_OFFSET,
			is_typed
				? "no kernel_entry(int64_t *args), as --backend simpler takes it"
				: "it has kernel_entry(int64_t *args): --backend ptoas takes kernels with typed parameters");
	if (!is_typed || supply_typed(p, r, e))
		return true;
	if (backend == REPLAY_PTOAS || !(err_is(e, "no-pto") || err_is(e, "no-kernel")))
		return false;
	incore_error_clear(e); /* not such a kernel: plan_members() says what it lacks */
	return true;
}

/* Reports a missing program or library before anything is written. */
static bool is_ready(const struct replay_plan *p, struct incore_error *e)
{
	struct replay_job job = {.means = &p->q->means, .target = p->target};

	return p->q->means.is_dry || p->backend->preflight(&job, e);
}

bool replay_run(const struct replay_request *q, struct replay_report *out, struct incore_error *e)
{
	struct replay_plan p;
	struct dump *d = NULL;
	uint32_t task = 0;
	bool ok;

	*out = (struct replay_report){0};
	arena_init(&out->arena);
	args_init(&out->args);
	if (!plan_read(q, &out->arena, &p, e) || !check_request(&p, e))
		return false;
	out->target = p.target;
	out->backend = p.backend;
	if (q->dump) {
		log_info("replay", "reading the dump %s", q->dump);
		d = dump_open(q->dump, q->follow_links, e);
		if (!d)
			return false;
	}
	ok = take_form(&p, out, e) && take_arguments(&p, out, d, &task, e) &&
	     (out->wrapper || plan_members(&p, d, task, out, e));
	if (ok) {
		if (!q->dump && !q->arg_spec)
			out->args.made_by = out->wrapper ? "made up" : "recipe";
		out->label = label_of(out, out->members[0].source);
		ok = out->label || err_nomem(e);
	}
	ok = ok && is_ready(&p, e) && workspace_make(&p, out, d, e);
	if (ok && !run_backend(&p, out, d, e)) {
		if (q->means.is_dry) /* nothing ran, so there is nothing to inspect */
			remove_tree(out->workspace);
		ok = false;
	}
	dump_free(d);
	return ok;
}
