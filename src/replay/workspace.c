/* SPDX-License-Identifier: Apache-2.0 */
/*
 * workspace.c: creates a folder that a person can read and run again by hand. Parts: provenance;
 * the folder.
 */
#include "replay/workspace.h"
#include "args/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/dated.h"
#include "base/file.h"
#include "base/process.h"
#include "codec/json_writer.h"
#include "export/clean/clean_job.h"
#include "replay/plan.h"

/* --- provenance ------------------------------------------------------------------------------- */

/* Records what a workspace was made from: dump, task, workload, sources, versions. */

static void put_id(struct json_writer *w, const char *key, bool is_there, uint64_t value)
{
	char text[32];

	snprintf(text, sizeof(text), "0x%016llx", (unsigned long long)value);
	json_w_kv_cstr(w, key, is_there ? text : NULL);
}

static void put_slot(struct json_writer *w, const struct replay_report *r, uint32_t i)
{
	const struct arg *s = &r->args.slots[i];

	json_w_row_object(w);
	json_w_kv_u64(w, "slot", i);
	json_w_kv_cstr(w, "kind", s->is_tensor ? "tensor" : "scalar");
	json_w_kv_cstr(w, "dtype", dtype_name(s->dtype));
	if (s->is_tensor) {
		arg_put_dims(w, "shape", s->shape, s->n_dims);
		json_w_kv_u64(w, "buffer_bytes", r->args.buffers.v[s->buffer].n);
	} else {
		put_id(w, "bits", true, s->bits);
	}
	json_w_kv_cstr(w, "from", args_origin(&r->args, s));
	json_w_end(w);
}

static void put_members(struct json_writer *w, const struct replay_report *r)
{
	json_w_kv_array(w, "members");
	for (uint32_t i = 0; i < r->n_members; i++) {
		json_w_row_object(w);
		json_w_kv_cstr(w, "source", r->members[i].source);
		json_w_kv_cstr(w, "core", kernel_core_name(r->members[i].core));
		json_w_kv_i64(w, "func_id", r->members[i].func);
		json_w_end(w);
	}
	json_w_end(w);
}

/* Writes the scalars of blocks that differ from the first: args.json only has those of the
 * first. */
static void put_blocks(struct json_writer *w, const struct args *a)
{
	json_w_kv_array(w, "scalars_of_blocks");
	for (size_t b = 1; b < a->rows.n; b++)
		for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
			uint64_t bits = a->rows.v[b].bits[i];

			if (bits == a->rows.v[0].bits[i])
				continue;
			json_w_row_object(w);
			json_w_kv_u64(w, "block", a->first_block + b);
			json_w_kv_u64(w, "slot", i);
			put_id(w, "bits", true, bits);
			json_w_end(w);
		}
	json_w_end(w);
}

static void put_all(struct json_writer *w, const struct replay_plan *p,
	const struct replay_report *r, const struct dump *d)
{
	json_w_object(w);
	json_w_kv_cstr(w, "schema", "incore.replay_workspace/1");
	json_w_kv_cstr(w, "incore", INCORE_VERSION);
	json_w_kv_cstr(w, "command", p->q->command);
	json_w_kv_cstr(w, "backend", p->backend->name);
	json_w_kv_cstr(w, "evidence", p->backend->evidence);
	json_w_kv_cstr(w, "basis", r->outcome.basis);
	json_w_kv_cstr(w, "target", op_arch_name(r->target));
	json_w_kv_cstr(w, "dump", d ? d->manifest : NULL);
	json_w_kv_cstr(w, "arg_spec", p->q->arg_spec);
	put_id(w, "task", r->has_task, r->task);
	json_w_kv_u64(w, "first_block", r->args.first_block);
	json_w_kv_u64(w, "blocks", r->args.rows.n);
	json_w_kv_u64(w, "block_num", r->args.block_count);
	json_w_kv_cstr(w, "kernel_class", kernel_class_name(r->kernel_class));
	json_w_kv_cstr(w, "kernel_class_because", r->class_reason);
	json_w_kv_bool(w, "is_forced", r->args.is_forced);
	put_members(w, r);
	json_w_kv_array(w, "slots");
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++)
		if (r->args.slots[i].is_used)
			put_slot(w, r, i);
	json_w_end(w);
	put_blocks(w, &r->args);
	json_w_kv_array(w, "remarks");
	for (size_t i = 0; i < r->args.remarks.n; i++)
		json_w_str(w, str_of(r->args.remarks.v[i]));
	json_w_end(w);
	json_w_end(w);
}

static bool provenance_write(const char *dir, const struct replay_plan *p,
	const struct replay_report *r, const struct dump *d, struct incore_error *e)
{
	struct strbuf b = {0};
	struct json_writer w;
	bool ok;

	json_w_buf(&w, &b, 2);
	put_all(&w, p, r, d);
	sb_putc(&b, '\n');
	ok = (!b.failed || err_nomem(e)) &&
	     workspace_text(dir, "provenance.json", (struct str){b.p, b.n}, 0644, e);
	sb_free(&b);
	return ok;
}

/* --- the folder ------------------------------------------------------------------------------- */

bool workspace_text(
	const char *dir, const char *name, struct str text, unsigned mode, struct incore_error *e)
{
	char *path = path_join(dir, name);
	struct out_file o = {0};
	bool ok = path != NULL || err_nomem(e);

	ok = ok && out_file_open(&o, path, e);
	if (ok) {
		fwrite(text.p, 1, text.n, o.f);
		ok = out_file_commit(&o, e);
	}
	if (ok && mode != 0644 && chmod(path, mode) != 0)
		ok = err_errno(e, errno, path, "set the mode of");
	mem_free(path);
	return ok;
}

bool workspace_dir(const char *path, unsigned mode, struct incore_error *e)
{
	if (!path)
		return err_nomem(e);
	return mkdir(path, mode) == 0 || errno == EEXIST ||
	       err_errno(e, errno, path, "make the directory");
}

static const char *new_place(struct replay_report *r, struct incore_error *e)
{
	char *stem = arena_printf(&r->arena, "outputs/replay_%s", r->label);

	if (!stem)
		err_nomem(e);
	if (!stem || !workspace_dir("outputs", 0755, e))
		return NULL;
	return dated_dir(&r->arena, stem, 0755, e);
}

/* --- contents --- */

static bool copy_sources(const char *dir, const struct replay_report *r, struct incore_error *e)
{
	char *folder = path_join(dir, "kernels");
	bool ok = workspace_dir(folder, 0755, e);

	for (uint32_t i = 0; ok && i < r->n_members; i++) {
		struct file_data f = {0};
		char name[512];

		snprintf(name, sizeof(name), "%u_%.400s", i, path_base(r->members[i].source));
		ok = file_load(&f, r->members[i].source, e) &&
		     workspace_text(
			     folder, name, (struct str){(const char *)f.data, f.size}, 0644, e);
		file_unload(&f);
	}
	mem_free(folder);
	return ok;
}

static void put_list(struct strbuf *b, const char *option, const struct text_list *values)
{
	for (size_t i = 0; i < values->n; i++) {
		sb_puts(b, option);
		process_quote((const char *const[]){values->v[i], NULL}, b);
	}
}

static void put_means(struct strbuf *b, const struct replay_means *m)
{
	put_list(b, " --define ", &m->defines);
	put_list(b, " --include ", &m->include_dirs);
}

static const char RUN_MODEL[] =
	"#!/bin/sh\n# Made by incore: this kernel again, through the embedded model (an estimate), with args.json and\n"
	"# the files of args/ as they are now. Every run makes a new folder, or the one that is named.\n"
	"set -eu\ncd \"$(dirname \"$0\")\"\nagain=${1:-again_$(date +%Y%m%d_%H%M%S)_$$}\n"
	"incore replay --arg-spec args.json";

bool workspace_run_model(
	const struct replay_job *job, const char *source, bool is_typed, struct incore_error *e)
{
	char *full = realpath(source, NULL);
	struct strbuf b = {0};
	bool ok;

	sb_puts(&b, RUN_MODEL);
	sb_puts(&b, " --source ");
	process_quote((const char *const[]){full ? full : source, NULL}, &b);
	free(full);
	put_means(&b, job->means);
	if (!is_typed)
		sb_printf(&b, " --core %s",
			kernel_core_name(
				job->n_members > 1 ? KERNEL_ON_MIX : job->members[0].core));
	sb_printf(&b, " --target %s --blocks %u -o \"$again\"\n", op_arch_name(job->target),
		job->args->block_count);
	ok = (!b.failed || err_nomem(e)) &&
	     workspace_text(job->workspace, "run_model.sh", (struct str){b.p, b.n}, 0755, e);
	sb_free(&b);
	return ok;
}

/* Writes a script to run the kernel with the embedded model by hand. */
static bool write_run_script(const char *dir, const struct replay_plan *p,
	const struct replay_report *r, struct incore_error *e)
{
	static const char *const LANES[] = {"", "0", "1", "01"}; /* index: replay_member.lanes */
	struct strbuf b = {0}, cores = {0};
	bool ok;

	sb_puts(&b, RUN_MODEL);
	for (uint32_t i = 0; i < r->n_members; i++) {
		const struct replay_member *m = &r->members[i];

		sb_puts(&b, " --source ");
		process_quote((const char *const[]){m->source, NULL}, &b);
		sb_printf(&cores, "%s%s%s", i ? "," : "", kernel_core_name(m->core),
			m->lanes == plan_usual_lanes(r, i) ? "" : LANES[m->lanes]);
	}
	put_means(&b, &p->q->means);
	sb_printf(&b, " --core %s --target %s --blocks %u", cores.p ? cores.p : "",
		op_arch_name(r->target), r->args.block_count);
	if (r->args.rows.n < r->args.block_count)
		sb_printf(&b, " --block %u", r->args.first_block);
	sb_puts(&b, " -o \"$again\"\n");
	ok = ((!b.failed && !cores.failed) || err_nomem(e)) &&
	     workspace_text(dir, "run_model.sh", (struct str){b.p, b.n}, 0755, e);
	sb_free(&b);
	sb_free(&cores);
	return ok;
}

static const char README[] =
	"A replay of one kernel dispatch, made by incore.\n\n"
	"args.json        the arguments, as an arg-spec (incore-model(1), incore-replay(1))\n"
	"args/            the buffers before the dispatch, one file each; a buffer without a file is zeros\n"
	"kernels/         the sources as they were (the scripts use the originals)\n"
	"provenance.json  dump, task, slots and where each comes from\n"
	"run_model.sh     the kernel through the embedded model again, in a new folder again_<time>\n"
	"run_collect.sh   the kernel through msprof op simulator again (backend msprof), likewise\n"
	"insight_export/  the trace: OPPROF_*/simulator/; MindStudio Insight opens its visualize_data.bin,\n"
	"                 which has the Source page, too (trace.json has the timeline alone)\n"
	"summary.txt      what came out, and on which evidence it rests\n";

static bool fill(const char *dir, const struct replay_plan *p, struct replay_report *r,
	const struct dump *d, struct incore_error *e)
{
	return args_write(&r->args, dir, e) && copy_sources(dir, r, e) &&
	       provenance_write(dir, p, r, d, e) && write_run_script(dir, p, r, e) &&
	       workspace_text(dir, "README.txt", str_of(README), 0644, e);
}

static bool put_in_place(const char *temp, const char *place, struct incore_error *e)
{
	if (rename(temp, place) == 0)
		return true;
	if (errno == ENOTEMPTY || errno == EEXIST || errno == ENOTDIR)
		return err_set(e, INCORE_USAGE, "exists",
			"%s already exists; name a new or an empty directory", place);
	return err_errno(e, errno, place, "put the workspace in place");
}

bool workspace_make(const struct replay_plan *p, struct replay_report *r, const struct dump *d,
	struct incore_error *e)
{
	const char *place = p->q->out_dir ? p->q->out_dir : new_place(r, e);
	char *temp = place ? arena_printf(&r->arena, "%s.%ld.tmp", place, (long)getpid()) : NULL;
	char *full;
	bool ok;

	if (!temp)
		return place ? err_nomem(e) : false;
	ok = mkdir(temp, 0755) == 0 || err_errno(e, errno, temp, "make the directory");
	if (ok)
		leftover_add(temp, false);
	if (!p->q->out_dir)
		leftover_add(place, true);
	if (ok && !(fill(temp, p, r, d, e) && put_in_place(temp, place, e))) {
		remove_tree(temp);
		ok = false;
	}
	leftover_drop(temp);
	leftover_drop(place);
	if (!ok) {
		if (!p->q->out_dir)
			rmdir(place);
		return false;
	}
	full = realpath(place, NULL);
	r->workspace = full ? arena_strdup(&r->arena, full) : NULL;
	free(full);
	return r->workspace || err_nomem(e);
}

bool workspace_summary(const struct replay_plan *p, const struct replay_report *r,
	const struct dump *d, struct incore_error *e)
{
	struct strbuf b = {0}, workload = {0};
	bool ok;

	sb_printf(&b, "kernel=%s\nbackend=%s\ntarget=%s\nevidence=%s\n", r->label, p->backend->name,
		op_arch_name(r->target), p->backend->evidence);
	if (r->outcome.basis)
		sb_printf(&b, "basis=%s\n", r->outcome.basis);
	if (r->has_task)
		sb_printf(&b, "task=0x%016llx\n", (unsigned long long)r->task);
	sb_printf(&b, "partial=%s\nsimulator=%s\nverdict=%s\n",
		r->outcome.is_partial ? "yes" : "no",
		r->outcome.simulator_dir ? r->outcome.simulator_dir : "",
		r->outcome.verdict ? r->outcome.verdict : "");
	sb_printf(&b, "degenerate=%s%s\n", r->look.degenerate ? "yes: " : "no",
		r->look.degenerate ? r->look.degenerate : "");
	sb_puts(&b, "made_up_control=");
	args_control(&r->args, ARG_MADE_UP, &b);
	sb_puts(&b, "\nassumed_control=");
	args_control(&r->args, ARG_ASSUMED, &b);
	args_workload(&r->args, &workload);
	sb_printf(&b, "\nworkload=%s\n", workload.p ? workload.p : "");
	for (size_t i = 0; i < r->args.remarks.n; i++)
		sb_printf(&b, "remark=%s\n", r->args.remarks.v[i]);
	if (r->outcome.warning)
		sb_printf(&b, "warning=%s\n", r->outcome.warning);
	ok = ((!b.failed && !workload.failed) || err_nomem(e)) &&
	     provenance_write(r->workspace, p, r, d, e) &&
	     workspace_text(r->workspace, "summary.txt", (struct str){b.p, b.n}, 0644, e);
	sb_free(&workload);
	sb_free(&b);
	return ok;
}
