/* SPDX-License-Identifier: Apache-2.0 */
/* model_build.c: records the kernels of a build for a step that a device ran. */
#include "cli/model/model_build.h"

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

static bool take_list(struct cli *c, const char *name, struct text_list *out)
{
	for (unsigned i = 0; i < cli_many(c, name); i++)
		if (!VEC_PUSH(out, cli_many_at(c, name, i)))
			return err_nomem(&c->error);
	return true;
}

static bool record_all(struct cli *c, struct model_build *b, const char *work)
{
	struct profile_request q = {.build_dir = cli_text(c, "build"),
		.output_root = work,
		.name = "run",
		.needs_values = true, /* the device's times depend on the device's data */
		.pool = c->pool,
		.target = b->profile.arch == ARCH_A5 ? PROFILE_A5 : PROFILE_A2A3,
		.means = {.backend = REPLAY_MODEL,
			.profile = b->profile.path,
			.allow_unknown = true,
			.is_unsafe = cli_flag(c, "unsafe-native")}};
	build_kernels all = {0};
	bool ok = take_list(c, "value", &q.testcase.set) &&
		  take_list(c, "data", &q.testcase.data) &&
		  discover_kernels(&b->arena, q.build_dir, &all, &c->error);

	for (size_t i = 0; ok && i < b->step.kernels.n; i++) {
		uint32_t blocks = b->step.kernels.v[i].k->blocks;
		bool is_new = true;

		for (size_t k = 0; k < i; k++)
			is_new = is_new && b->step.kernels.v[k].k->blocks != blocks;
		ok = !is_new || record_blocks(b, &q, &all, blocks, &c->error);
	}
	VEC_FREE(&all);
	VEC_FREE(&q.testcase.set);
	VEC_FREE(&q.testcase.data);
	return ok;
}

/* Did `incore profile` invent values that control the kernel? Then its time cannot be compared. */
static bool is_made_up(struct model_build *b, const char *stream)
{
	char *path = arena_strndup(&b->arena, stream, strlen(stream) - strlen("ops.opstream"));
	char *facts = path ? path_join(path, "profile.txt") : NULL;
	struct file_data f = {0};
	bool is_so = facts && file_exists(facts) && file_load(&f, facts, NULL) &&
		     str_find((struct str){(const char *)f.data, f.size}, " everywhere") >= 0;

	file_unload(&f);
	mem_free(facts);
	return is_so;
}

/* Takes recordings as they are from a folder written by `incore profile`. */
static bool take_run(struct cli *c, struct model_build *b)
{
	for (size_t i = 0; i < b->step.kernels.n; i++) {
		struct device_kernel *k = &b->step.kernels.v[i];
		char *path = arena_printf(
			&b->arena, "%s/funcs/%s/ops.opstream", cli_text(c, "build"), k->k->name);

		if (!path)
			return err_nomem(&c->error);
		if (!file_exists(path)) {
			k->why = "not recorded in this run";
			continue;
		}
		if (is_made_up(b, path)) {
			k->why = "what steers it was made up in this run";
			continue;
		}
		if (!opstream_load(&b->sets[i], path, &c->error))
			return false;
		device_attach(&b->step, i, &b->sets[i]);
	}
	return true;
}

static bool record_in_folder(struct cli *c, struct model_build *b)
{
	char *work = path_join(file_temp_root(), "incore-build-XXXXXX");
	bool ok;

	if (!work || !mkdtemp(work)) {
		mem_free(work);
		return err_set(&c->error, INCORE_FAILED, "no-folder",
			"cannot make a folder in %s for the kernels", file_temp_root());
	}
	ok = record_all(c, b, work);
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

bool model_build_open(struct cli *c, const char *profile, bool needs_times, struct model_build *b)
{
	const char *lane = cli_text(c, "swimlane"), *deps = cli_text(c, "deps");
	bool ok;

	*b = (struct model_build){0};
	arena_init(&b->arena);
	if (!cli_text(c, "build") || !(lane || (deps && !needs_times)))
		return err_set(&c->error, INCORE_USAGE, "missing-option",
			"%s needs --build DIR and --swimlane FILE (the device's own times)%s",
			c->verb->name, needs_times ? "" : ", or --deps FILE alone");
	ok = profile_load(&b->profile, profile, ARCH_A2A3, &c->error) &&
	     swimlane_load(&b->swim, lane, deps, &c->error) &&
	     device_init(&b->step, &b->swim, &c->error);
	if (!ok)
		return false;
	b->sets = mem_zalloc(b->step.kernels.n + 1, sizeof(*b->sets));
	if (!b->sets)
		return err_nomem(&c->error);
	return has_run(cli_text(c, "build")) ? take_run(c, b) : record_in_folder(c, b);
}

void model_build_close(struct model_build *b)
{
	for (size_t i = 0; b->sets && i < b->step.kernels.n; i++)
		opstream_set_deinit(&b->sets[i]);
	mem_free(b->sets);
	device_deinit(&b->step);
	swimlane_deinit(&b->swim);
	profile_deinit(&b->profile);
	arena_deinit(&b->arena);
}
