/* SPDX-License-Identifier: Apache-2.0 */
/* rocprof.c: which rocprofv3 is there, and what can it do? */
#include "capture/rocprof.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "run/job.h"

#define ASK_MS 60000 /* for --version and --help */

/* From public reports; none of them was seen on our own hardware. */
const struct rocprof_fault rocprof_faults[] = {
	{10202, 10202, "drops-simd-0", "drops SIMD id 0 and traces SIMD 3 instead",
		"name the SIMDs as a mask (gfx9: --simd 0xf), or install another release"},
	{1, 10100, "few-options", "has no counters in a thread trace and a small default buffer",
		"install ROCm 7.0 or newer for --counters and --activity"},
	{0, 0, NULL, NULL, NULL},
};

bool rocprof_has_fault(const struct rocprof *r, const struct rocprof_fault *f)
{
	return r->release >= f->from && r->release <= f->to;
}

unsigned release_of(const char *text, struct str *found)
{
	for (const char *p = text; *p; p++) {
		unsigned a, b, c;
		int n = 0;

		if ((p == text || !strchr("0123456789.", p[-1])) &&
			sscanf(p, "%2u.%2u.%2u%n", &a, &b, &c, &n) == 3 && *p >= '0' && *p <= '9') {
			*found = (struct str){p, (size_t)n};
			return a * 10000 + b * 100 + c;
		}
	}
	*found = (struct str){"", 0};
	return 0;
}

bool rocprof_has(const struct rocprof *r, const char *option)
{
	struct str rest = str_of(r->help);
	size_t n = strlen(option);
	ptrdiff_t at;

	while ((at = str_find(rest, option)) >= 0) {
		char before = at ? rest.p[at - 1] : ' ', after;

		rest = str_sub(rest, (size_t)at + n, rest.n);
		after = rest.n ? rest.p[0] : ' ';
		if (strchr(" \t\n,|[(/", before) && after != '-' && after != '_' &&
			!(after >= 'a' && after <= 'z') && !(after >= '0' && after <= '9'))
			return true;
	}
	return false;
}

/* What it prints when asked; status FAILED where it cannot answer. */
static const char *ask_tool(
	const char *path, const char *option, struct arena *a, struct incore_error *e)
{
	struct job j = {.name = option,
		.argv = (const char *const[]){path, option, NULL},
		.limit_ms = ASK_MS};
	struct job_result r;
	struct strbuf how = {0};
	const char *text = NULL;

	if (!job_run(&j, &r, e))
		return NULL;
	job_describe(&j, &r.process, &how);
	if (r.process.end != PROCESS_EXITED || r.process.code != 0)
		err_set(e, INCORE_FAILED, "tool-failed", "%s %s: %s; it ends: %.*s", path, option,
			how.p ? how.p : "", STR_ARG(job_last_line(&r)));
	else if (!(text = arena_strndup(a, r.tail.p ? r.tail.p : "", r.tail.n)))
		err_nomem(e);
	job_result_deinit(&r);
	sb_free(&how);
	return text;
}

/* A program below a folder of an installation, in the arena; NULL: not there. */
static const char *program_below(const char *root, struct arena *a)
{
	const char *path = root && *root ? arena_printf(a, "%s/bin/rocprofv3", root) : NULL;

	return path && access(path, X_OK) == 0 ? path : NULL;
}

static const char *find_program(const char *given, struct arena *a)
{
	char *found = process_find(given ? given : "rocprofv3");
	const char *path = found ? arena_strdup(a, found) : NULL;

	mem_free(found);
	if (given)
		return path && access(path, X_OK) == 0 && !file_is_dir(path) ? path : NULL;
	if (!path)
		path = program_below(getenv("ROCM_PATH"), a);
	return path ? path : program_below("/opt/rocm", a);
}

bool rocprof_find(struct rocprof *out, const char *given, struct arena *a, struct incore_error *e)
{
	struct rocprof r = {.path = find_program(given, a)};
	const char *text;
	struct str found;

	if (!r.path)
		return err_set(e, INCORE_MISSING, "no-rocprofv3",
			"there is no %s%s: install rocprofiler-sdk of ROCm 6.4 or newer, or name the program with --tool",
			given ? given : "rocprofv3",
			given ? "" : " in PATH, $ROCM_PATH/bin or /opt/rocm/bin");
	text = ask_tool(r.path, "--version", a, e);
	if (!text)
		return false;
	r.release = release_of(text, &found);
	r.version = arena_strndup(a, found.p, found.n);
	r.help = ask_tool(r.path, "--help", a, e);
	if (!r.help)
		return false;
	if (!r.version)
		return err_nomem(e);
	*out = r;
	return true;
}
