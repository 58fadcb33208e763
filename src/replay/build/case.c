/* SPDX-License-Identifier: Apache-2.0 */
/* case.c: which folder has changed after a program ran? */
#include "replay/build/case.h"

#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/process.h"
#include "base/vec.h"
#include "replay/build/discover.h"

struct look {
	struct arena *arena;
	const char *root;
	struct timespec start;
	const char *best; /* path */
	struct timespec best_time;
};

static bool is_later(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec > b.tv_sec : a.tv_nsec > b.tv_nsec;
}

/* When a build was last written: its own folder, or that of its kernels. */
static struct timespec changed(struct arena *a, const char *path)
{
	const char *inner = arena_printf(a, "%s/ptoas", path);
	struct stat st = {0}, in = {0};

	stat(path, &st);
	if (inner && stat(inner, &in) == 0 && is_later(in.st_mtim, st.st_mtim))
		return in.st_mtim;
	return st.st_mtim;
}

static bool consider(void *ctx, const char *name, struct incore_error *e)
{
	struct look *l = ctx;
	const char *path = arena_printf(l->arena, "%s/%s", l->root, name);
	build_kernels found = {0};
	struct timespec at;

	if (!path)
		return err_nomem(e);
	at = changed(l->arena, path);
	/* file system timestamps are coarser than our clock */
	if (at.tv_sec + 1 >= l->start.tv_sec && (!l->best || is_later(at, l->best_time)) &&
		file_is_dir(path) && discover_kernels(l->arena, path, &found, NULL)) {
		l->best = path;
		l->best_time = at;
	}
	VEC_FREE(&found);
	return true;
}

static bool run_script(struct arena *a, const struct case_request *q, struct incore_error *e)
{
	size_t n = strlen(q->script);
	bool is_python = n > 3 && strcmp(q->script + n - 3, ".py") == 0;
	VEC(const char *) argv = {0};
	struct strbuf why = {0};
	struct process_spec spec = {.log_fd = STDERR_FILENO,
		.is_cancelled = q->is_cancelled,
		.cancel_ctx = q->cancel_ctx};
	struct process_result r = {0};
	const char *program =
		strchr(q->script, '/') ? q->script : arena_printf(a, "./%s", q->script);
	bool ok = program && (!is_python || VEC_PUSH(&argv, (const char *)"python3")) &&
		  VEC_PUSH(&argv, program);

	for (unsigned i = 0; ok && i < q->n_args; i++)
		ok = VEC_PUSH(&argv, q->args[i]);
	ok = (ok && VEC_PUSH(&argv, (const char *)NULL)) || err_nomem(e);
	spec.argv = argv.v;
	ok = ok && process_run(&spec, &r, e);
	if (ok && (r.end != PROCESS_EXITED || r.code != 0)) {
		process_describe(&spec, &r, &why);
		ok = err_set(e, r.end == PROCESS_NOT_STARTED ? INCORE_MISSING : INCORE_FAILED,
			"case-failed", "%s: %s", q->script, why.p ? why.p : "it failed");
	}
	sb_free(&why);
	VEC_FREE(&argv);
	return ok;
}

bool case_run(
	struct arena *a, const struct case_request *q, const char **build, struct incore_error *e)
{
	struct look l = {.arena = a, .root = q->output_root};

	clock_gettime(CLOCK_REALTIME, &l.start);
	if (!run_script(a, q, e) || (file_is_dir(l.root) && !dir_each(l.root, consider, &l, e)))
		return false;
	*build = l.best;
	return l.best || err_file(e, "no-build", l.root, INCORE_NO_OFFSET,
				 "%s ended well and left no new build here", q->script);
}
