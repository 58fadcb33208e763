/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c: from a request to a trace, step by step. */
#include "replay/replay.h"

#include "args/spec.h"
#include "base/file.h"
#include "base/log.h"
#include "export/clean/clean_job.h"
#include "replay/plan.h"
#include "replay/supply.h"
#include "replay/workspace.h"

const struct backend_ops *backend_find(const char *name)
{
	static const struct backend_ops *const ALL[] = {&backend_model, &backend_msprof};

	if (strcmp(name, "simpler") == 0 || strcmp(name, "ptoas") == 0)
		return &backend_msprof;
	for (size_t i = 0; i < sizeof(ALL) / sizeof(*ALL); i++)
		if (strcmp(ALL[i]->name, name) == 0)
			return ALL[i];
	return NULL;
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

static bool take_arguments(const struct replay_request *q, struct replay_report *r, struct dump *d,
	uint32_t *task, struct incore_error *e)
{
	uint32_t block;

	if (d) {
		if (!plan_task(d, q, task, &block, e) ||
			!task_args_load(&r->args, d, *task, block, q->force, e))
			return false;
		r->task = d->tasks.v[*task].id;
		r->has_task = true;
	}
	if (q->arg_spec && !(args_load_spec(&r->args, q->arg_spec, e) && args_fill(&r->args, e) &&
				   args_spread(&r->args, q->n_blocks, e)))
		return false;
	if (!d && !q->arg_spec && !r->wrapper &&
		!supply_recipe(&r->args, q->n_sources ? q->sources[0] : "", q->n_blocks, e))
		return false;
	if (!d && q->has_block && !args_one_block(&r->args, q->block, e))
		return false;
	for (unsigned i = 0; i < q->n_set; i++)
		if (!args_set(&r->args, q->set[i], e))
			return false;
	for (unsigned i = 0; i < q->n_restore; i++) {
		uint64_t slot;

		if (!str_to_u64(str_of(q->restore[i]), &slot) || slot >= ARG_SLOTS)
			return err_set(e, INCORE_USAGE, "bad-slot",
				"--restore-arg %s: expected a slot, 0 to 47", q->restore[i]);
		if (!args_need_restored(&r->args, (uint32_t)slot, e))
			return false;
	}
	return true;
}

static bool run_backend(const struct replay_request *q, struct replay_report *r,
	const struct dump *d, struct incore_error *e)
{
	struct replay_job job = {.workspace = r->workspace,
		.label = r->label,
		.target = r->target,
		.kernel_class = r->kernel_class,
		.n_members = r->n_members,
		.args = &r->args,
		.defines = q->defines,
		.n_defines = q->n_defines,
		.include_dirs = q->include_dirs,
		.n_include_dirs = q->n_include_dirs,
		.is_ready = !q->is_dry,
		.is_dry = q->is_dry,
		.has_debug_lines = q->has_debug_lines,
		.progress = q->progress,
		.is_cancelled = q->is_cancelled,
		.cancel_ctx = q->cancel_ctx,
		.options = q->backend_options};

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
	log_info("replay", "backend %s in %s", q->backend->name, r->workspace);
	if (!q->backend->run(&job, &r->arena, &r->outcome, e))
		return err_wrap(e, "replay in %s", r->workspace);
	for (size_t i = 0; i < r->outcome.n_remarks; i++)
		if (!args_remark(&r->args, r->outcome.remarks[i], e))
			return false;
	return workspace_summary(q, r, d, e);
}

/* An option without effect here is a user error and must not be ignored. */
static bool check_request(const struct replay_request *q, struct incore_error *e)
{
	if (!q->dump && (q->has_task || q->has_dispatch || q->n_funcs || q->n_restore))
		return err_set(e, INCORE_USAGE, "no-dump",
			"--task, --dispatch, --func and --restore-arg choose from a dump, and none is named");
	if (q->dump && q->n_blocks)
		return err_set(e, INCORE_USAGE, "blocks-of-dump",
			"--blocks is for replays without a dump: the dump says how many there are");
	return true;
}

/* For a kernel with typed parameters, this also sets its members and arguments. */
static bool take_form(
	const struct replay_request *q, struct replay_report *r, struct incore_error *e)
{
	bool is_typed = false;

	if (q->dump || q->n_sources != 1)
		return q->form != FORM_TYPED ||
		       err_set(e, INCORE_USAGE, "bad-request",
			       "--backend ptoas takes one --source and no dump");
	if (!supply_is_typed(q->sources[0], &is_typed, e))
		return false;
	if (q->form != FORM_ANY && is_typed != (q->form == FORM_TYPED))
		return err_file(e, "other-form", q->sources[0], INCORE_NO_OFFSET,
			is_typed
				? "no kernel_entry(int64_t *args), as --backend simpler takes it"
				: "it has kernel_entry(int64_t *args): --backend ptoas takes kernels with typed parameters");
	if (!is_typed || supply_typed(q, r, e))
		return true;
	if (q->form != FORM_ANY || !(err_is(e, "no-pto") || err_is(e, "no-kernel")))
		return false;
	incore_error_clear(e); /* not such a kernel: plan_members() says what it lacks */
	return true;
}

/* Reports a missing program or library before anything is written. */
static bool is_ready(const struct replay_request *q, struct incore_error *e)
{
	struct replay_job job = {.target = q->target, .options = q->backend_options};

	return q->is_dry || q->backend->preflight(&job, e);
}

bool replay_run(const struct replay_request *q, struct replay_report *out, struct incore_error *e)
{
	struct dump *d = NULL;
	uint32_t task = 0;
	bool ok;

	*out = (struct replay_report){.target = q->target};
	arena_init(&out->arena);
	args_init(&out->args);
	if (!check_request(q, e))
		return false;
	if (q->dump) {
		log_info("replay", "reading the dump %s", q->dump);
		d = dump_open(q->dump, q->follow_links, e);
		if (!d)
			return false;
	}
	ok = take_form(q, out, e) && take_arguments(q, out, d, &task, e) &&
	     (out->wrapper || plan_members(q, d, task, out, e));
	if (ok) {
		out->label = label_of(out, out->members[0].source);
		ok = out->label || err_nomem(e);
	}
	ok = ok && is_ready(q, e) && workspace_make(q, out, d, e);
	if (ok && !run_backend(q, out, d, e)) {
		if (q->is_dry) /* nothing ran, so there is nothing to inspect */
			remove_tree(out->workspace);
		ok = false;
	}
	dump_free(d);
	return ok;
}
