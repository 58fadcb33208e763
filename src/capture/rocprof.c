/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rocprof.c: rocprofv3 as a tool: where it is, what is wrong with its releases, and one run of it.
 * Parts: the tool; one run.
 */
#include "capture/rocprof.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"
#include "capture/folder.h"
#include "run/job.h"

/* --- the tool --------------------------------------------------------------------------------- */

/*
 * Which rocprofv3 is installed, and what can it do?
 */

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

static const char *rocprof_find_program(const char *given, struct arena *a)
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
	struct rocprof r = {.path = rocprof_find_program(given, a)};
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

/* --- one run ---------------------------------------------------------------------------------- */

/*
 * See rocprof_run.h.
 */

bool rocprof_run_place(struct rocprof_run *t, const char *dir, const char *name, struct arena *a)
{
	t->name = arena_strdup(a, name);
	t->outcome = "planned";
	t->folder = arena_printf(a, "%s/%s", dir, name);
	t->raw = arena_printf(a, "%s/%s/raw", dir, name);
	t->input = arena_printf(a, "%s/%s/input.yaml", dir, name);
	t->log = arena_printf(a, "%s/%s/log", dir, name);
	return t->name && t->folder && t->raw && t->input && t->log;
}

static const char *const *rocprof_run_make_command(struct arena *a, const struct rocprof *tool,
	const char *input, const char *const *app, uint64_t attach_pid)
{
	size_t n = 0, at = 0;
	const char **v;

	while (app[n])
		n++;
	v = arena_zalloc(a, n + 6, sizeof(*v));
	if (!v)
		return NULL;
	v[at++] = tool->path;
	v[at++] = "-i";
	v[at++] = input;
	if (attach_pid != NO_COUNT) {
		v[at++] = "--attach";
		v[at] = arena_printf(a, "%llu", (unsigned long long)attach_pid);
		return v[at] ? v : NULL;
	}
	v[at++] = "--";
	for (size_t i = 0; i < n; i++)
		v[at++] = app[i];
	return v;
}

bool rocprof_run_command(struct rocprof_run *t, const struct rocprof *tool, const char *const *app,
	uint64_t attach_pid, struct arena *a)
{
	struct strbuf b = {0};

	t->argv = rocprof_run_make_command(a, tool, t->input, app, attach_pid);
	if (!t->argv)
		return false;
	process_quote(t->argv, &b);
	t->command = drive_text(a, &b);
	return t->command;
}

bool rocprof_run_start(struct rocprof_run *t, const struct drive *f, uint64_t limit_s,
	struct journal *journal, struct incore_error *e)
{
	struct job j = drive_job(f, t->name, limit_s, journal);

	j.argv = t->argv;
	j.log_path = t->log;
	t->outcome = "not finished";
	if (mkdir(t->folder, 0777) != 0 || mkdir(t->raw, 0777) != 0)
		return err_output(e, errno, t->folder, "cannot make the directory");
	leftover_add(t->raw, false);
	if (!out_file_text(t->input, str_of(t->configuration), e) || !job_run(&j, &t->result, e))
		return false;
	t->status = job_exit_status(&t->result.process);
	t->outcome = t->status ? "failed" : "ended well";
	if (t->result.process.end == PROCESS_CANCELLED)
		return err_set(e, INCORE_FAILED, "interrupted", "interrupted while %s ran; log %s",
			t->name, t->log);
	return true;
}

struct str rocprof_run_said(const struct rocprof_run *t)
{
	return (struct str){t->result.tail.p ? t->result.tail.p : "", t->result.tail.n};
}

/* Explanation of a known failure of the tool, used instead of its last line; NULL: not a known
 * one. */
static const char *known_trouble(struct str said)
{
	if (str_has(said, "decoder") &&
		(str_has(said, "not found") || str_has(said, "could not find")))
		return "it wants AMD's decoder library, which incore does not need: install rocprof-trace-decoder, or a release that traces without it (ROCm 7.13)";
	if (str_has(said, "/dev/kfd") || str_has(said, "ermission denied"))
		return "it may not use the device: see incore doctor att";
	if (str_has(said, "already in use") || str_has(said, "context conflict"))
		return "another profiler holds the device, or the application starts processes of its own: trace one process, or one rank";
	return NULL;
}

bool rocprof_run_failed(const struct rocprof_run *t, uint64_t limit_s, struct incore_error *e)
{
	const char *trouble = known_trouble(rocprof_run_said(t));
	struct strbuf how = {0};

	job_describe(&(struct job){.argv = t->argv, .limit_ms = limit_s * 1000}, &t->result.process,
		&how);
	err_set(e, INCORE_FAILED, "app-failed",
		"%s of rocprofv3 with the application: %s; log %s; %s%.*s", t->name,
		how.p ? how.p : "", t->log, trouble ? "" : "it ends: ",
		STR_ARG(trouble ? str_of(trouble) : job_last_line(&t->result)));
	sb_free(&how);
	return false;
}

void rocprof_run_clear(const struct rocprof_run *t, bool keeps_raw)
{
	if (!t->raw)
		return;
	if (!keeps_raw)
		remove_tree(t->raw);
	leftover_drop(t->raw);
}

void rocprof_run_deinit(struct rocprof_run *t)
{
	job_result_deinit(&t->result);
}

/* --- input.yaml --- */

void rocprof_put_key(struct strbuf *out, const char *key, const char *value)
{
	sb_printf(out, "    %s: \"", key);
	for (const char *p = value; *p; p++) {
		if ((unsigned char)*p < ' ' || *p == 127) {
			sb_printf(out, "\\x%02x", (unsigned)(unsigned char)*p);
			continue;
		}
		if (*p == '"' || *p == '\\')
			sb_putc(out, '\\');
		sb_putc(out, *p);
	}
	sb_puts(out, "\"\n");
}

/* A line break in the text must not end the comment. */
static void put_comment(struct strbuf *out, const char *what, const char *text)
{
	sb_printf(out, "# %s", what);
	for (const char *p = text; *p; p++)
		sb_add(out, (unsigned char)*p < ' ' ? " " : p, 1);
	sb_putc(out, '\n');
}

void rocprof_put_head(const struct rocprof *tool, const char *verb, const char *const *app,
	const char *because, struct strbuf *out)
{
	struct strbuf words = {0};

	process_quote(app, &words);
	sb_printf(out, "# Written by incore " INCORE_VERSION " %s.\n", verb);
	sb_printf(out, "# rocprofv3 %s: %s\n", tool->version, tool->path);
	put_comment(out, "for: ", words.p ? words.p : "");
	put_comment(out, "because: ", because);
	sb_puts(out, "jobs:\n  -\n");
	out->failed |= words.failed;
	sb_free(&words);
}

/* --- fields --- */

static const struct column run_columns[] = {
	COLUMN(rocprof_run, input, UNIT_NONE,
		"path of the configuration that was given to rocprofv3"),
	COLUMN(rocprof_run, configuration, UNIT_NONE, "contents of the configuration"),
	COLUMN(rocprof_run, command, UNIT_NONE, "command that was run"),
	COLUMN(rocprof_run, log, UNIT_NONE, "file with the output of the command"),
	COLUMN(rocprof_run, status, UNIT_NONE,
		"exit status of rocprofv3, which is the application's"),
	COLUMN(rocprof_run, outcome, UNIT_NONE, "result of the run"),
};
const struct record rocprof_run_record = RECORD_OF(rocprof_run, RECORD_BLOCK, run_columns);
