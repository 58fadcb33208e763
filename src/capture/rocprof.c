/* SPDX-License-Identifier: Apache-2.0 */
/* rocprof.c: which rocprofv3 is installed, and what can it do? */
#include "capture/rocprof.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "run/job.h"

/* From public reports; we have not reproduced any of them on our own hardware. */
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
		unsigned long v[3] = {0};
		unsigned n = 0;
		char *end = (char *)p;

		if (p != text && strchr("0123456789.", p[-1]))
			continue;
		while (n < 3 && *end >= '0' && *end <= '9') {
			v[n++] = strtoul(end, &end, 10);
			end += n < 3 && *end == '.';
		}
		if (n == 3 && v[0] < 100 && v[1] < 100 && v[2] < 100) {
			*found = (struct str){p, (size_t)(end - p)};
			return (unsigned)(v[0] * 10000 + v[1] * 100 + v[2]);
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
		int before = at ? rest.p[at - 1] : ' ', after;

		rest = str_sub(rest, (size_t)at + n, rest.n);
		after = rest.n ? rest.p[0] : ' ';
		if (strchr(" \t\n,|[(/", before) && after != '-' && after != '_' &&
			!(after >= 'a' && after <= 'z') && !(after >= '0' && after <= '9'))
			return true;
	}
	return false;
}

/* Path of a program below an installation's folder, in the arena; NULL: not found. */
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
	text = job_ask(r.path, "--version", a, e);
	if (!text)
		return false;
	r.release = release_of(text, &found);
	r.version = arena_strndup(a, found.p, found.n);
	r.help = job_ask(r.path, "--help", a, e);
	if (!r.help)
		return false;
	if (!r.version)
		return err_nomem(e);
	*out = r;
	return true;
}
