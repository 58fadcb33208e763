/* SPDX-License-Identifier: Apache-2.0 */
/* profile_look.c: evaluates a simulator directory: duration, bottleneck, did it work at all? */
#include "analysis/check/check.h"
#include "analysis/pipes/pipes.h"
#include "base/file.h"
#include "import/import.h"
#include "replay/build/profile.h"

/* Findings of `check` which mean that the trace does not show the kernel's work. */
static const char *const DEGENERATE[] = {
	"empty-shell", "not-executed", "no-compute", "near-empty", "one-side-empty", NULL};

struct count {
	struct arena *arena;
	const char *dir;
	struct profile_facts *out;
};

static bool count_files(void *ctx, const char *name, struct incore_error *e)
{
	struct count *c = ctx;

	(void)e;
	c->out->n_core_traces += strcmp(name, "trace.json") == 0;
	c->out->n_csv += strstr(name, "instr_exe") && strstr(name, ".csv");
	return true;
}

static bool count_core(void *ctx, const char *name, struct incore_error *e)
{
	struct count *c = ctx;
	char *path = arena_printf(c->arena, "%s/%s", c->dir, name);

	if (!path)
		return err_nomem(e);
	return strncmp(name, "core", 4) != 0 || !file_is_dir(path) ||
	       dir_each(path, count_files, c, e);
}

static bool open_trace(const char *path, struct trace **out, struct incore_error *e)
{
	struct import_options o = {.want = IMPORT_ALL};
	struct capture_list list;
	bool ok;

	if (!import_find(path, NULL, &list, e))
		return false;
	ok = import_read(capture_choose(&list), &o, out, e);
	capture_list_deinit(&list);
	return ok;
}

static bool is_degenerate(const char *id)
{
	for (size_t i = 0; DEGENERATE[i]; i++)
		if (strcmp(id, DEGENERATE[i]) == 0)
			return true;
	return false;
}

static bool take_check(
	struct arena *a, const struct trace *t, struct profile_facts *out, struct incore_error *e)
{
	struct walk_options o = {0};
	struct walk_result r;
	struct check *c = check_run(t, NULL, &o, &r, e);
	bool ok = c != NULL;

	for (uint32_t i = 0; ok && i < c->n_findings && !out->degenerate; i++)
		if (is_degenerate(c->findings[i].id)) {
			out->degenerate = arena_strdup(a, c->findings[i].message);
			ok = out->degenerate || err_nomem(e);
		}
	check_free(c);
	walk_result_deinit(&r);
	return ok;
}

/* Determines from the pipes' slices whether the work expected of that kind of kernel was done. */
static void take_work(
	const struct pipes *p, bool wants_cube, bool wants_vector, struct profile_facts *out)
{
	uint64_t cube = 0, vector = 0;

	for (uint32_t i = 0; i < p->n_tracks; i++) {
		const char *name = p->trace->tracks[i].name;
		const char *pipe = strrchr(name, '/');

		pipe = pipe ? pipe + 1 : name;
		if (strcmp(pipe, "CUBE") == 0)
			cube += p->rows[i].n_work;
		if (strncmp(pipe, "VEC", 3) == 0 || strncmp(pipe, "RVEC", 4) == 0)
			vector += p->rows[i].n_work;
	}
	if (out->degenerate)
		return;
	if (wants_cube && !cube)
		out->degenerate =
			"no cube work: the kernel is a cube kernel and ran no matrix instruction";
	else if (wants_vector && !vector)
		out->degenerate =
			"no vector work: the kernel is a vector kernel and ran no vector instruction";
}

bool profile_look(struct arena *a, const char *simulator, bool wants_cube, bool wants_vector,
	struct profile_facts *out, struct incore_error *e)
{
	struct count count = {a, simulator, out};
	struct walk_options o = {0};
	struct walk_result r = {0};
	struct trace *t = NULL;
	struct pipes *p = NULL;
	bool ok;

	*out = (struct profile_facts){.bound = ""};
	ok = dir_each(simulator, count_core, &count, e) && open_trace(simulator, &t, e);
	ok = ok && (p = pipes_new(t, e)) && pipes_collect(p, &o, &r, e) && take_check(a, t, out, e);
	if (ok) {
		for (uint32_t i = 0; i < p->n_cores; i++)
			if (p->cores[i].end_cyc - p->cores[i].begin_cyc > out->cycles)
				out->cycles = p->cores[i].end_cyc - p->cores[i].begin_cyc;
		take_work(p, wants_cube, wants_vector, out);
		out->bound = p->bound.track == NO_TRACK ? arena_strdup(a, p->bound.kind)
							: arena_printf(a, "%s %s", p->bound.kind,
								  t->tracks[p->bound.track].name);
		ok = out->bound || err_nomem(e);
	}
	walk_result_deinit(&r);
	pipes_free(p);
	trace_free(t);
	return ok;
}
