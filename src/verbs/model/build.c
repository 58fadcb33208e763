/* SPDX-License-Identifier: Apache-2.0 */
/* build.c: records the kernels of a build for a step that a device ran. */
#include "verbs/model/build.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "replay/build/profile.h"

/* The innermost cause: the text before it names folders that no longer exist. */
static const char *reason_of(const char *message)
{
	const char *at = message;

	for (const char *p = message; (p = strstr(p, "because: ")); at = p)
		p += strlen("because: ");
	return at;
}

/* Loads the op streams that the run of a kernel wrote. */
static bool take_streams(
	struct model_build *b, const struct profile_row *row, size_t at, struct incore_error *e)
{
	char *path = row->folder ? path_join(row->folder, "ops.opstream") : NULL;
	bool ok = true;

	if (row->status != PROFILE_EXPORTED) {
		b->step.kernels.v[at].why = arena_strdup(&b->arena, reason_of(row->message));
	} else if (!path) {
		ok = err_nomem(e);
	} else {
		ok = opstream_load(&b->sets[at], path, e);
		if (ok)
			device_attach(&b->step, at, &b->sets[at]);
	}
	mem_free(path);
	return ok;
}

static size_t find_kernel(const struct model_build *b, const struct build_kernel *k)
{
	size_t i = 0;

	while (i < b->step.kernels.n && strcmp(b->step.kernels.v[i].k->name, k->name) != 0 &&
		strcmp(b->step.kernels.v[i].k->name, k->stem) != 0)
		i++;
	return i;
}

/* Records the kernels that ran with this number of blocks, which each block gets as an input. */
static bool record_blocks(struct model_build *b, struct profile_request *q,
	const build_kernels *all, uint32_t blocks, struct incore_error *e)
{
	const char **names = mem_zalloc(all->n + 1, sizeof(*names));
	struct profile_run run;
	bool ok = names != NULL;

	if (!ok)
		return err_nomem(e);
	q->funcs = (struct text_list){.v = names};
	q->testcase.n_blocks = blocks;
	for (size_t i = 0; i < all->n; i++) {
		size_t at = find_kernel(b, &all->v[i]);

		if (at < b->step.kernels.n && b->step.kernels.v[at].k->blocks == blocks)
			names[q->funcs.n++] = all->v[i].name;
	}
	ok = q->funcs.n == 0 || profile_run(q, &run, e);
	for (size_t i = 0; ok && q->funcs.n && i < run.rows.n; i++)
		ok = take_streams(b, &run.rows.v[i], find_kernel(b, &run.rows.v[i].kernel), e);
	if (q->funcs.n)
		profile_run_deinit(&run);
	mem_free(names);
	return ok;
}

static bool record_all(const struct build_params *p, struct pool *pool, const char *work,
	struct model_build *b, struct incore_error *e)
{
	struct profile_request q = {.build_dir = p->build,
		.output_root = work,
		.name = "run",
		.needs_values = true, /* the device's times depend on the device's data */
		.pool = pool,
		.target = b->profile.arch == ARCH_A5 ? PROFILE_A5 : PROFILE_A2A3,
		.means = {.backend = REPLAY_MODEL,
			.profile = b->profile.path,
			.allow_unknown = true,
			.is_unsafe = p->is_unsafe},
		.testcase = {.set = p->values, .data = p->data}};
	build_kernels all = {0};
	bool ok = discover_kernels(&b->arena, q.build_dir, &all, e);

	for (size_t i = 0; ok && i < b->step.kernels.n; i++) {
		uint32_t blocks = b->step.kernels.v[i].k->blocks;
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new = is_new && b->step.kernels.v[k].k->blocks != blocks;
		ok = !is_new || record_blocks(b, &q, &all, blocks, e);
	}
	VEC_FREE(&all);
	return ok;
}

/* Are values that decide how much a kernel does not given in a run of `incore profile`? Then its
 * time cannot be compared. */
static bool is_made_up(struct model_build *b, const char *stream)
{
	char *path = arena_strndup(&b->arena, stream, strlen(stream) - strlen("ops.opstream"));
	char *facts = path ? path_join(path, "profile.txt") : NULL;
	struct file_data f = {0};
	bool is_so = false;

	if (facts && file_exists(facts) && file_load(&f, facts, NULL)) {
		struct str rest = {(const char *)f.data, f.size}, line, key;

		while (str_cut(&rest, "\n", &line) && str_cut(&line, "=", &key))
			is_so |= line.n && (str_is(key, "made_up") || str_is(key, "assumed"));
	}
	file_unload(&f);
	mem_free(facts);
	return is_so;
}

/* Takes recordings as they are from a folder written by `incore profile`. */
static bool take_run(const char *build, struct model_build *b, struct incore_error *e)
{
	for (size_t i = 0; i < b->step.kernels.n; i++) {
		struct device_kernel *k = &b->step.kernels.v[i];
		char *path = arena_printf(&b->arena, "%s/funcs/%s/ops.opstream", build, k->k->name);

		if (!path)
			return err_nomem(e);
		if (!file_exists(path)) {
			k->why = "not recorded in this run";
			continue;
		}
		if (is_made_up(b, path)) {
			k->why = "what decides how much it does was not given in this run";
			continue;
		}
		if (!opstream_load(&b->sets[i], path, e))
			return false;
		device_attach(&b->step, i, &b->sets[i]);
	}
	return true;
}

static bool record_in_folder(const struct build_params *p, struct pool *pool, struct model_build *b,
	struct incore_error *e)
{
	char *work = path_join(file_temp_root(), "incore-build-XXXXXX");
	bool ok;

	if (!work || !mkdtemp(work)) {
		mem_free(work);
		return err_set(e, INCORE_FAILED, "no-folder",
			"cannot make a folder in %s for the kernels", file_temp_root());
	}
	ok = record_all(p, pool, work, b, e);
	remove_tree(work);
	mem_free(work);
	return ok;
}

static bool has_run(const char *build)
{
	char *path = path_join(build, "funcs");
	bool is_run = path && file_is_dir(path);

	mem_free(path);
	return is_run;
}

static bool build_open(const struct request *r, const struct build_params *p, bool needs_times,
	struct model_build *b, struct incore_error *e)
{
	bool ok;

	arena_init(&b->arena);
	if (!p->build || !(p->swimlane || (p->deps && !needs_times)))
		return err_set(e, INCORE_USAGE, "missing-option",
			"%s needs --build DIR and --swimlane FILE (the device's own times)%s",
			r->question->name, needs_times ? "" : ", or --deps FILE alone");
	ok = profile_load(&b->profile, p->profile, ARCH_A2A3, e) &&
	     swimlane_load(&b->swim, p->swimlane, p->deps, e) && device_init(&b->step, &b->swim, e);
	if (!ok)
		return false;
	b->sets = mem_zalloc(b->step.kernels.n + 1, sizeof(*b->sets));
	if (!b->sets)
		return err_nomem(e);
	return has_run(p->build) ? take_run(p->build, b, e) : record_in_folder(p, r->pool, b, e);
}

static void drop_build(struct model_build *b)
{
	for (size_t i = 0; b->sets && i < b->step.kernels.n; i++)
		opstream_set_deinit(&b->sets[i]);
	mem_free(b->sets);
	device_deinit(&b->step);
	swimlane_deinit(&b->swim);
	profile_deinit(&b->profile);
	arena_deinit(&b->arena);
	mem_free(b);
}

struct model_build *model_build_new(const struct request *r, const struct build_params *p,
	bool needs_times, struct answer *a, struct incore_error *e)
{
	struct model_build *b = mem_zalloc(1, sizeof(*b));

	if (!b)
		return err_nomem_null(e);
	if (!ANSWER_KEEP(a, b, drop_build, e) || !build_open(r, p, needs_times, b, e))
		return NULL;
	return b;
}
