/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: decides which task is replayed, and which source runs on which core. */
#include "replay/plan.h"

#include <stdlib.h>

#include "base/file.h"
#include "base/log.h"
#include "replay/source/classify.h"
#include "replay/source/source_text.h"

static bool dump_has_funcs(const struct dump *d)
{
	int32_t members[DUMP_MAX_MEMBERS];

	for (size_t i = 0; i < d->tasks.n; i++)
		for (unsigned n = dump_members_of(d, d->tasks.v[i].members, members); n > 0; n--)
			if (members[n - 1] >= 0)
				return true;
	return false;
}

static bool list_tasks(const struct dump *d, const char *why, struct incore_error *e)
{
	struct strbuf b = {0};

	for (size_t i = 0; i < d->tasks.n && i < 24; i++)
		sb_printf(&b, "%s0x%016llx", i ? ", " : "", (unsigned long long)d->tasks.v[i].id);
	if (d->tasks.n > 24)
		sb_printf(&b, " and %zu more", d->tasks.n - 24);
	err_file(e, "no-task", d->manifest, INCORE_NO_OFFSET, "%s; its tasks: %s", why,
		b.p ? b.p : "none");
	sb_free(&b);
	return false;
}

bool plan_task(const struct dump *d, const struct replay_request *q, uint32_t *task,
	uint32_t *block, struct incore_error *e)
{
	struct task_query query = {.has_task = q->has_task,
		.task = q->task,
		.has_dispatch = q->has_dispatch,
		.dispatch = q->dispatch,
		.funcs = q->funcs,
		.n_funcs = q->n_funcs,
		.block = DUMP_NONE};

	if (!q->n_funcs && dump_has_funcs(d))
		return err_set(e, INCORE_USAGE, "no-func",
			"this dump has func ids: say with --func which kernel is to be replayed (incore dump ls lists them)");
	if (!q->n_funcs && !q->has_task)
		return list_tasks(d,
			"this dump has no func ids: say with --task which task is to be replayed",
			e);
	if (!task_find_one(d, &query, task, e))
		return false;
	*block = q->has_block	   ? q->block
		 : q->has_dispatch ? task_block_of_dispatch(d, *task, q->dispatch)
				   : DUMP_NONE;
	return true;
}

/* --- members --- */

struct source_facts {
	struct file_data file;
	struct strbuf masked;
	const char *path; /* absolute */
};

static void source_facts_free(struct source_facts *s)
{
	file_unload(&s->file);
	sb_free(&s->masked);
}

static bool read_source(
	struct arena *a, const char *path, struct source_facts *s, struct incore_error *e)
{
	char *full;

	if (!file_load(&s->file, path, e))
		return err_wrap(e, "kernel source");
	if (!source_mask((struct str){(const char *)s->file.data, s->file.size}, path, NULL,
		    &s->masked, e))
		return false;
	full = realpath(path, NULL);
	s->path = full ? arena_strdup(a, full) : NULL;
	free(full);
	if (!s->path)
		return err_nomem(e);
	if (!kernel_has_entry((struct str){s->masked.p ? s->masked.p : "", s->masked.n}))
		return err_file(e, "no-entry", path, INCORE_NO_OFFSET,
			"no kernel_entry(int64_t *args) in this source (comments and disabled regions do not count)");
	return true;
}

/* The core of a task that the dump states. */
static enum kernel_core stated_core(const struct dump *d, uint32_t task)
{
	const struct dump_task *t = d ? &d->tasks.v[task] : NULL;
	const struct dump_extra *x =
		t && t->n_copies ? dump_extra_of(d, d->order[t->first_copy]) : NULL;
	struct str name =
		x && x->core_type != DUMP_NONE ? d->names.strs[x->core_type] : (struct str){"", 0};

	enum kernel_core core;

	if (!kernel_core_of(name, &core) || core == KERNEL_ON_MIX) /* a record states one core */
		return KERNEL_ON_ANY;
	return core;
}

static bool add_member(struct replay_report *out, const char *source, enum kernel_core core,
	int32_t func, uint8_t lanes, struct incore_error *e)
{
	unsigned n_aic = core == KERNEL_ON_AIC, n_aiv = core == KERNEL_ON_AIV;

	for (uint32_t i = 0; i < out->n_members; i++) {
		n_aic += out->members[i].core == KERNEL_ON_AIC;
		n_aiv += out->members[i].core == KERNEL_ON_AIV;
	}
	if (n_aic > 1 || n_aiv > 2)
		return err_set(e, INCORE_USAGE, "too-many-sources",
			"a task has at most one AIC and two AIV kernels; this is %s number %u",
			core == KERNEL_ON_AIC ? "AIC" : "AIV",
			core == KERNEL_ON_AIC ? n_aic : n_aiv);
	out->members[out->n_members++] = (struct replay_member){source, core, func, lanes};
	return true;
}

/* Both sides of a mixed source are members. */
static bool add_sides(struct replay_report *out, const char *source, enum kernel_core core,
	int32_t func, uint8_t lanes, struct incore_error *e)
{
	if (core != KERNEL_ON_MIX)
		return add_member(out, source, core, func, lanes, e);
	return add_member(out, source, KERNEL_ON_AIC, func, 0, e) &&
	       add_member(out, source, KERNEL_ON_AIV, func, lanes, e);
}

static bool has_core(const struct replay_report *r, enum kernel_core core)
{
	for (uint32_t i = 0; i < r->n_members; i++)
		if (r->members[i].core == core)
			return true;
	return false;
}

/* The lanes that a vector kernel ran on, by the positions of the task's members: {0, 1, -1} has no
 * lane 1, {22, 23, 23} has one source on both. A kernel whose id is not among the members (one
 * source has all sides) has the lanes of all of them. 0: the dump does not state it. */
static uint8_t recorded_lanes(
	const struct dump *d, const struct dump_task *t, int32_t func, bool has_cube)
{
	int32_t at[3];
	uint8_t mine, all;

	if (!dump_positions(d, t, has_cube, at))
		return 0;
	mine = (uint8_t)((at[1] == func) | (at[2] == func) << 1);
	all = (uint8_t)((at[1] >= 0) | (at[2] >= 0) << 1);
	return func >= 0 && mine ? mine : all;
}

uint8_t plan_usual_lanes(const struct replay_report *r, uint32_t member)
{
	bool has_cube = has_core(r, KERNEL_ON_AIC);
	unsigned n = 0;

	if (r->members[member].core == KERNEL_ON_AIC)
		return 0;
	if (r->n_members - has_cube < 2)
		return has_cube ? 3 : 1;
	for (uint32_t i = 0; i < member; i++)
		n += r->members[i].core == KERNEL_ON_AIV;
	return (uint8_t)(1u << n);
}

/* Sets each vector kernel's lanes: those the user states, else the dump's, else the default. */
static bool settle_lanes(
	struct replay_report *out, const struct dump *d, uint32_t task, struct incore_error *e)
{
	bool has_cube = has_core(out, KERNEL_ON_AIC);
	uint8_t taken = 0;

	for (uint32_t i = 0; i < out->n_members; i++) {
		struct replay_member *m = &out->members[i];

		if (m->core == KERNEL_ON_AIC)
			continue;
		if (!m->lanes && d)
			m->lanes = recorded_lanes(d, &d->tasks.v[task], m->func, has_cube);
		if (!m->lanes || (m->lanes == 3 && out->n_members - has_cube > 1))
			m->lanes = plan_usual_lanes(out, i);
		if (m->lanes & taken)
			return err_set(e, INCORE_USAGE, "lane-taken",
				"%s is to run on a lane that another source has", m->source);
		taken |= m->lanes;
	}
	return true;
}

static bool take_source(const struct replay_request *q, const struct dump *d, uint32_t task,
	unsigned i, struct replay_report *out, struct incore_error *e)
{
	struct core_evidence evidence = {.said = q->cores[i],
		.recorded = q->n_sources == 1 ? stated_core(d, task) : KERNEL_ON_ANY};
	struct source_facts s = {0};
	struct core_answer answer = {0};
	struct str masked = {0};
	bool ok = read_source(&out->arena, q->sources[i], &s, e);

	if (ok) {
		masked = (struct str){s.masked.p, s.masked.n};
		evidence.path = s.path;
		evidence.asks = kernel_asks(masked);
		answer = cores_decide(&evidence);
		log_debug("replay", "%s: %s (%s)", s.path, kernel_core_name(answer.core),
			answer.reason);
		if (answer.core == KERNEL_ON_ANY)
			ok = err_file(e, "unknown-core", q->sources[i], INCORE_NO_OFFSET,
				"%s; say --core aic, aiv or mix", answer.reason);
	}
	ok = ok && args_cover(&out->args, kernel_slots_read(masked), q->sources[i], e) &&
	     add_sides(out, s.path, answer.core, i < q->n_funcs ? q->funcs[i] : -1, q->lanes[i], e);
	if (ok && (i == 0 || answer.kernel_class == KERNEL_SPMD_MIX)) {
		out->kernel_class = answer.kernel_class;
		out->class_reason = answer.reason;
	}
	source_facts_free(&s);
	return ok;
}

/* A single source for a task of several kernels only covers the task if it has both sides. */
static bool remark_left_out(
	const struct replay_request *q, struct replay_report *out, struct incore_error *e)
{
	const char *text;

	if (q->n_funcs <= 1 || out->n_members > 1)
		return true;
	text = arena_printf(&out->args.arena,
		"the task has %u kernels, %u source is given: the others do not run", q->n_funcs,
		q->n_sources);
	return args_remark(&out->args, text, e);
}

bool plan_members(const struct replay_request *q, const struct dump *d, uint32_t task,
	struct replay_report *out, struct incore_error *e)
{
	if (!q->n_sources)
		return err_set(e, INCORE_USAGE, "no-source",
			"say with --source where the kernel's source is");
	if (q->n_sources > REPLAY_MAX_MEMBERS)
		return err_set(e, INCORE_USAGE, "too-many-sources", "at most %d sources",
			REPLAY_MAX_MEMBERS);
	if (q->n_sources > 1 && q->n_funcs && q->n_sources != q->n_funcs)
		return err_set(e, INCORE_USAGE, "sources-and-funcs",
			"%u sources for %u func ids: give one source each, in the same order",
			q->n_sources, q->n_funcs);
	for (unsigned i = 0; i < q->n_sources; i++)
		if (!take_source(q, d, task, i, out, e))
			return false;
	if (out->n_members > 1 && out->kernel_class != KERNEL_SPMD_MIX) {
		out->kernel_class = KERNEL_SPMD_MIX;
		out->class_reason = "it has more than one kernel";
	}
	return settle_lanes(out, d, task, e) && remark_left_out(q, out, e);
}
