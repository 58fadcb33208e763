/* SPDX-License-Identifier: Apache-2.0 */
/*
 * backend_model.c: replay with the embedded model: records the kernel, times its ops, and writes
 * the directory that MindStudio Insight opens. Tile values are not computed; it checks slots,
 * extents, strides, scalars, control flow, and that every wait is matched.
 */
#include "args/words.h"
#include "replay/backend.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args/dtype.h"
#include "base/dated.h"
#include "base/file.h"
#include "base/log.h"
#include "export/export.h"
#include "model/engine/engine.h"
#include "model/engine/to_trace.h"
#include "model/profile/profile.h"
#include "model/record/record.h"
#include "replay/arguments/reach.h"
#include "replay/look.h"
#include "replay/workspace.h"
#include "trace/packed.h"

#define PACK_LEVEL 3

struct model_replay {
	const struct replay_job *job;
	struct arena *arena;
	struct replay_outcome *out;
	struct opstream_set set;
	struct profile profile;
	struct timed timed;
	struct incore_error *e;
};

/* Sets which source runs where. */
static bool take_members(struct model_replay *m, struct record_options *o)
{
	const char *aic = NULL, *aiv[2] = {NULL, NULL};
	uint8_t lanes[2] = {0, 0};
	unsigned n = 0;

	EACH (const struct replay_member, member, m->job->members, m->job->n_members) {
		if (member->core == KERNEL_ON_AIC) {
			aic = member->source;
		} else if (n < 2) {
			aiv[n] = member->source;
			lanes[n++] = member->lanes;
		}
	}
	if (n == 2 && lanes[0] == 2) { /* given in reverse order */
		const char *first = aiv[0];

		aiv[0] = aiv[1];
		aiv[1] = first;
	}
	if (aic)
		o->cores = aiv[0] ? KERNEL_ON_MIX : KERNEL_ON_AIC;
	else
		o->cores = KERNEL_ON_AIV;
	o->kernel = aic ? aic : aiv[0];
	o->kernel_aiv = aic ? aiv[0] : NULL;
	o->kernel_aiv1 = aiv[1];
	o->lanes = lanes[0];
	return o->kernel || err_set(m->e, INCORE_USAGE, "no-source", "no kernel source");
}

/* Number of blocks, from `first` on, with equal scalars. */
static uint32_t count_alike(const struct args *a, uint32_t first)
{
	uint32_t n = 1;

	while (first + n < a->rows.n &&
		memcmp(&a->rows.v[first], &a->rows.v[first + n], sizeof(a->rows.v[0])) == 0)
		n++;
	return n;
}

/* Records blocks with equal scalars together. */
static bool record_blocks(struct model_replay *m)
{
	const struct replay_job *job = m->job;
	struct record_options o = {.arch = job->target,
		.args = job->args,
		.has_raw_scalars = true, /* as in args.json: both ways give the same stream */
		.block_num = job->args->block_count,
		.wrapped = job->wrapped,
		.is_unsafe = job->means->is_unsafe,
		.defines = job->means->defines.v,
		.n_defines = job->means->defines.n,
		.include_dirs = job->means->include_dirs.v,
		.n_include_dirs = job->means->include_dirs.n};
	struct record_info info;

	if (!take_members(m, &o))
		return false;
	for (uint32_t b = 0; b < job->args->rows.n; b += o.blocks) {
		o.blocks = count_alike(job->args, b);
		o.first_block = job->args->first_block + b;
		if (!record_kernel(&o, &m->set, &info, m->e))
			return false;
	}
	return true;
}

static bool write_ops(struct model_replay *m)
{
	char *path = arena_printf(m->arena, "%s/ops.opstream", m->job->workspace);
	struct out_file f = {0};
	bool ok;

	if (!path)
		return err_nomem(m->e);
	ok = out_file_open(&f, path, m->e) && opstream_write_binary(&m->set, f.f, m->e) &&
	     out_file_commit(&f, m->e);
	out_file_abort(&f);
	return ok;
}

/* Adds remarks on differences from the recorded arguments to the result. */
static bool compare_reach(struct model_replay *m)
{
	reach_remarks found = {0};
	const char **copy;
	bool ok = m->job->wrapped || /* its arguments are invented, not recorded */
		  reach_compare(&m->set, m->job->args->slots, m->arena, &found, m->e);

	copy = ok ? arena_zalloc(m->arena, found.n + 1, sizeof(*copy)) : NULL;
	for (size_t i = 0; copy && i < found.n; i++)
		copy[i] = found.v[i];
	m->out->remarks = copy;
	m->out->n_remarks = copy ? found.n : 0;
	VEC_FREE(&found);
	return copy || (ok ? err_nomem(m->e) : false);
}

static bool make_parents(struct model_replay *m, const char **simulator)
{
	char stamp[DATED_STAMP];
	const char *top = arena_printf(m->arena, "%s/insight_export", m->job->workspace), *opprof;

	dated_stamp(stamp, false);
	opprof = top ? arena_printf(m->arena, "%s/OPPROF_%s_model", top, stamp) : NULL;
	*simulator = opprof ? arena_printf(m->arena, "%s/simulator", opprof) : NULL;
	if (!*simulator)
		return err_nomem(m->e);
	if (!workspace_dir(top, 0700, m->e))
		return false;
	return mkdir(opprof, 0700) == 0 || err_errno(m->e, errno, opprof, "make the directory");
}

static bool write_packed(struct model_replay *m, const struct trace *t)
{
	struct packed_options o = {.level = PACK_LEVEL};
	char *path = arena_printf(m->arena, "%s/trace.incore", m->job->workspace);
	struct packed_result r;
	struct out_file f = {0};

	if (!path)
		return err_nomem(m->e);
	if (!out_file_open(&f, path, m->e))
		return false;
	if (!packed_write(t, f.f, &o, &r, m->e)) {
		out_file_abort(&f);
		return false;
	}
	return out_file_commit(&f, m->e);
}

/* Removes the parent folders of a directory that was not written. */
static void remove_parents(struct model_replay *m)
{
	char *path = arena_strdup(m->arena, m->out->simulator_dir);

	for (unsigned up = 0; path && up < 2; up++) {
		*strrchr(path, '/') = '\0';
		rmdir(path);
	}
	m->out->simulator_dir = NULL;
}

/* Reports, as `export` does, what the viewer's files cannot hold. */
static bool keep_cuts(struct model_replay *m, const struct export_result *r)
{
	m->out->cuts = arena_zalloc(m->arena, r->n_cuts + 1, sizeof(*m->out->cuts));
	for (uint32_t i = 0; m->out->cuts && i < r->n_cuts; i++) {
		struct note *k = &m->out->cuts[m->out->n_cuts++];

		*k = r->cuts[i];
		k->code = arena_strdup(m->arena, k->code);
		k->message = arena_strdup(m->arena, k->message);
		if (!k->code || !k->message)
			return err_nomem(m->e);
	}
	return m->out->cuts || err_nomem(m->e);
}

static bool write_trace(struct model_replay *m, const struct trace *t)
{
	struct export_options o = {.no_sources = m->job->means->no_sources};
	struct export_result r;
	bool ok;

	if (!write_packed(m, t) || !make_parents(m, &m->out->simulator_dir))
		return false;
	if (!export_run(t, export_find("insight"), m->out->simulator_dir, &o, &r, m->e)) {
		remove_parents(m);
		return false;
	}
	ok = keep_cuts(m, &r);
	export_result_deinit(&r);
	return ok;
}

static bool go_on(struct model_replay *m)
{
	const struct replay_means *x = m->job->means;

	return !x->is_cancelled || !x->is_cancelled(x->cancel_ctx) ||
	       err_set(m->e, INCORE_FAILED, "interrupted", "interrupted");
}

static const char *lane_name(unsigned pipe)
{
	static const char *const NAMES[ENGINE_PIPES] = {
		"SCALAR", "VECTOR", "MTE1", "MTE2", "MTE3", "CUBE", "ALL", "FIXP"};

	return NAMES[pipe];
}

/* One line: duration, busiest pipe, findings, what was checked. */
static bool make_verdict(struct model_replay *m)
{
	const struct timed_core *longest = NULL;
	uint64_t n_findings = 0;
	unsigned best = 0;
	struct strbuf b = {0};

	for (size_t i = 0; i < m->timed.cores.n; i++)
		if (!longest || m->timed.cores.v[i].end_cyc > longest->end_cyc)
			longest = &m->timed.cores.v[i];
	for (size_t i = 0; i < m->timed.findings.n; i++)
		n_findings += note_is_loss(&m->timed.findings.v[i].note);
	for (unsigned p = 1; longest && p < ENGINE_PIPES; p++)
		if (longest->lanes[p].busy_cyc > longest->lanes[best].busy_cyc || best == 0)
			best = p;
	sb_printf(&b, "estimate (embedded model, profile %s): ", m->profile.name);
	if (longest && longest->end_cyc)
		sb_printf(&b, "%llu cycles, %s busy %llu %% of them, ",
			(unsigned long long)longest->end_cyc, lane_name(best),
			(unsigned long long)(100 * longest->lanes[best].busy_cyc /
					     longest->end_cyc));
	else
		sb_puts(&b, "no cycle at all, ");
	sb_printf(&b,
		"%llu finding%s; slots, extents, strides, scalars and control flow checked, %zu remark%s, outputs not computed%s%s",
		(unsigned long long)n_findings, n_findings == 1 ? "" : "s", m->out->n_remarks,
		m->out->n_remarks == 1 ? "" : "s", m->timed.is_complete ? "" : "; incomplete: ",
		m->timed.is_complete ? "" : m->timed.reason);
	m->out->verdict = b.failed ? NULL : arena_strndup(m->arena, b.p, b.n);
	sb_free(&b);
	m->out->basis = arena_printf(m->arena, "profile %s (%s), sha256 %s", m->profile.name,
		m->profile.soc, m->profile.sha256);
	if (m->timed.findings.n)
		m->out->warning = arena_strdup(m->arena, m->timed.findings.v[0].note.message);
	m->out->is_partial = !m->timed.is_complete;
	m->out->app = arena_printf(m->arena, "%s/run_model.sh", m->job->workspace);
	m->out->library = arena_printf(m->arena, "%s/ops.opstream", m->job->workspace);
	m->out->symbol = m->out->demangled = arena_strdup(m->arena,
		m->set.v.n ? opstream_str(&m->set.v.v[0], m->set.v.v[0].kernel) : m->job->label);
	if (!m->out->app || !m->out->library || !m->out->symbol)
		return err_nomem(m->e);
	return (m->out->verdict && m->out->basis) || err_nomem(m->e);
}

#ifdef __x86_64__
#define SEES_LOADS true /* the recorder sees every scalar load (recorder/driver/memory.cpp) */
#else
#define SEES_LOADS false
#endif

/* Which slots does scalar code read? Their values may decide how much is done: random ones of an
 * arg-spec are made up. A value that is never read decides nothing. */
static void mark_steering(struct model_replay *m)
{
	EACH (const struct opstream, s, m->set.v.v, m->set.v.n)
		EACH (const struct op_form, f, s->forms.v, s->forms.n)
			for (unsigned n = 0; n < f->n_opnds; n++) {
				const struct op_opnd *o = &s->opnds.v[f->first_opnd + n];

				if (f->pipe == OPP_S && o->what == OPND_GM &&
					(o->access & ACCESS_READ) && o->slot < ARG_CONTEXT_SLOT)
					m->out->steers |= UINT64_C(1) << o->slot;
			}
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
		struct arg *s = &m->job->args->slots[i];

		if ((m->out->steers >> i & 1) && s->is_used && s->origin == ARG_SPEC &&
			s->content.is_filled && s->content.fill == FILL_RANDOM &&
			!dtype_is_float(s->dtype))
			s->control = ARG_MADE_UP;
		if (SEES_LOADS && s->is_tensor && !(m->out->steers >> i & 1))
			s->control = ARG_GIVEN;
	}
}

static bool put_control(
	struct trace *t, const struct args *args, enum arg_control kind, struct incore_error *e)
{
	struct strbuf b = {0};
	bool ok;

	args_control(args, kind, &b);
	ok = !b.n ||
	     (!b.failed &&
		     model_labels_add(
			     t, kind == ARG_MADE_UP ? "made_up_control" : "assumed_control", b.p));
	sb_free(&b);
	return ok || err_nomem(e);
}

/* Marks the trace if its figures rest on values that nobody gave, or show less than the kernel's
 * work. */
static bool put_marks(struct model_replay *m, struct trace *t)
{
	struct look_wants wants = *m->job->wants;
	struct look look = {0};

	wants.steers = m->out->steers;
	if (!put_control(t, m->job->args, ARG_MADE_UP, m->e) ||
		!put_control(t, m->job->args, ARG_ASSUMED, m->e) ||
		!look_at_trace(m->arena, t, &wants, &look, m->e))
		return false;
	return !look.degenerate || model_labels_add(t, "degenerate", look.degenerate) ||
	       err_nomem(m->e);
}

static bool replay_model(struct model_replay *m)
{
	struct engine_options o = {.profile = &m->profile,
		.keep_slices = true,
		.find_races = true,
		.allow_unknown = m->job->means->allow_unknown};
	struct trace *t = NULL;
	bool ok = go_on(m) && record_blocks(m) && go_on(m);

	if (ok)
		log_info("replay", "timing %zu op stream%s with profile %s", m->set.v.n,
			m->set.v.n == 1 ? "" : "s", m->profile.name);
	if (ok)
		mark_steering(m);
	ok = ok && engine_run(&m->set, &o, &m->timed, m->e) && compare_reach(m) &&
	     timed_to_trace(&m->set, &m->timed, &m->profile, &t, m->e) && put_marks(m, t) &&
	     go_on(m) && write_ops(m) && write_trace(m, t) && make_verdict(m);
	trace_free(t);
	return ok;
}

static bool preflight_model(const struct replay_job *job, struct incore_error *e)
{
	struct profile p;

	if (!profile_load(&p, job->means->profile, job->target, e))
		return false;
	profile_deinit(&p);
	return record_is_possible(
		&(struct record_options){.arch = job->target, .is_unsafe = job->means->is_unsafe},
		e);
}

static bool run_model(const struct replay_job *job, struct arena *a, struct replay_outcome *out,
	struct incore_error *e)
{
	struct model_replay m = {.job = job, .arena = a, .out = out, .e = e};
	bool ok;

	*out = (struct replay_outcome){.verdict = "workspace written, nothing was started"};
	if (job->means->is_dry)
		return true;
	if (!profile_load(&m.profile, job->means->profile, job->target, e))
		return false;
	opstream_set_init(&m.set);
	ok = replay_model(&m);
	timed_deinit(&m.timed);
	opstream_set_deinit(&m.set);
	profile_deinit(&m.profile);
	return ok;
}

const struct backend_ops backend_model = {
	.name = "model",
	.summary = "the embedded model, on any machine; an estimate",
	.evidence = "estimate",
	.preflight = preflight_model,
	.run = run_model,
};
