/* SPDX-License-Identifier: Apache-2.0 */
/* ncu.c: one run under ncu, and its report converted to packed captures. */
#include "capture/ncu.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/pack.h"
#include "capture/rocprof.h"
#include "import/import.h"

/* What our verbs use: samples and executions by instruction, launch, occupancy, throughput. */
#define SECTIONS                                                                                   \
	"SourceCounters,LaunchStats,Occupancy,SpeedOfLight,WarpStateStats,MemoryWorkloadAnalysis_Tables"
#define RIGHTS                                                                                     \
	"the driver lets only root read counters: as root, or set NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d and reload the driver; see incore doctor cuda"

void ncu_init(struct ncu *n, const struct ncu_request *q)
{
	*n = (struct ncu){.q = q, .answer = {.place = {.directory = q->dir}}};
	arena_init(&n->arena);
}

void ncu_deinit(struct ncu *n)
{
	VEC_FREE(&n->answer.captures);
	VEC_FREE(&n->answer.warnings);
	VEC_FREE(&n->argv);
	journal_close(&n->journal);
	arena_deinit(&n->arena);
}

/* --- the tool --- */

static const char *ncu_capture_find_program(struct ncu *n)
{
	const char *homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
	char *found = process_find(n->q->tool ? n->q->tool : "ncu");
	const char *path = found ? arena_strdup(&n->arena, found) : NULL;

	mem_free(found);
	if (n->q->tool)
		return path && access(path, X_OK) == 0 && !file_is_dir(path) ? path : NULL;
	for (size_t i = 0; !path && i < sizeof(homes) / sizeof(*homes); i++) {
		path = homes[i] ? arena_printf(&n->arena, "%s/bin/ncu", homes[i]) : NULL;
		path = path && access(path, X_OK) == 0 ? path : NULL;
	}
	return path;
}

static bool ncu_capture_find_tool(struct ncu *n, struct incore_error *e)
{
	const char *text;
	struct str found;

	n->answer.tool = ncu_capture_find_program(n);
	if (!n->answer.tool)
		return err_set(e, INCORE_MISSING, "no-ncu",
			"there is no %s%s: install Nsight Compute, name the program with --tool, or take samples without it (incore capture cuda)",
			n->q->tool ? n->q->tool : "ncu",
			n->q->tool ? "" : " in PATH, $CUDA_HOME/bin or /usr/local/cuda/bin");
	text = job_ask(n->answer.tool, "--version", &n->arena, e);
	if (!text)
		return false;
	release_of(text, &found);
	if (!found.n) { /* its major number is a year */
		ptrdiff_t at = str_find(str_of(text), "Version ");

		found = at < 0 ? STR("") : str_sub(str_of(text), (size_t)at + 8, SIZE_MAX);
		found.n = strcspn(found.n ? found.p : "", " \n");
	}
	n->answer.version = arena_strndup(&n->arena, found.p, found.n);
	return n->answer.version || err_nomem(e);
}

/* --- the command --- */

static bool ncu_capture_word(struct ncu *n, const char *w)
{
	return w && VEC_PUSH(&n->argv, w);
}

/* Adds the sections; one that this release lacks is left out with a warning. */
static bool add_sections(struct ncu *n, const char *known, struct incore_error *e)
{
	struct str rest = str_of(n->q->sections ? n->q->sections : SECTIONS), part;
	bool ok = true;

	while (ok && str_cut(&rest, ",", &part)) {
		const char *line = arena_printf(&n->arena, "\n%.*s ", STR_ARG(part));

		if (!line)
			return err_nomem(e);
		if (strstr(known, line))
			ok = ncu_capture_word(n, "--section") &&
			     ncu_capture_word(n, arena_strndup(&n->arena, part.p, part.n));
		else
			ok = VEC_PUSH(&n->answer.warnings,
				arena_printf(&n->arena,
					"ncu %s has no section %.*s: it is left out",
					n->answer.version, STR_ARG(part)));
	}
	return ok || err_nomem(e);
}

static bool ncu_capture_make_command(struct ncu *n, struct incore_error *e)
{
	const struct ncu_request *q = n->q;
	const char *known = q->set ? "" : job_ask(n->answer.tool, "--list-sections", &n->arena, e);
	struct strbuf text = {0};
	bool ok;

	if (!known)
		return false;
	ok = ncu_capture_word(n, n->answer.tool) && ncu_capture_word(n, "--export") &&
	     ncu_capture_word(n, n->report) && ncu_capture_word(n, "--import-source") &&
	     ncu_capture_word(n, "yes") && ncu_capture_word(n, "--clock-control") &&
	     ncu_capture_word(n, q->clock) && ncu_capture_word(n, "--cache-control") &&
	     ncu_capture_word(n, q->cache) && ncu_capture_word(n, "--launch-skip") &&
	     ncu_capture_word(n, arena_printf(&n->arena, "%llu", (unsigned long long)q->skip));
	if (ok && q->count)
		ok = ncu_capture_word(n, "--launch-count") &&
		     ncu_capture_word(
			     n, arena_printf(&n->arena, "%llu", (unsigned long long)q->count));
	if (ok && q->kernel)
		ok = ncu_capture_word(n, "--kernel-name-base") &&
		     ncu_capture_word(n, "demangled") && ncu_capture_word(n, "--kernel-name") &&
		     ncu_capture_word(n, arena_printf(&n->arena, "regex:%s", q->kernel));
	if (ok && q->set)
		ok = ncu_capture_word(n, "--set") && ncu_capture_word(n, q->set);
	else if (ok && !add_sections(n, known, e))
		return false;
	for (const char *const *p = q->drive.app; ok && *p; p++)
		ok = ncu_capture_word(n, *p);
	ok = ok && VEC_PUSH(&n->argv, NULL);
	if (ok)
		process_quote(n->argv.v, &text);
	n->answer.command = ok && !text.failed ? arena_strndup(&n->arena, text.p, text.n) : NULL;
	sb_free(&text);
	return n->answer.command || err_nomem(e);
}

/* --- the run --- */

static bool judge_run(
	struct ncu *n, const struct job *j, struct job_result *r, struct incore_error *e)
{
	struct str said = {r->tail.p ? r->tail.p : "", r->tail.n};
	struct strbuf how = {0};

	if (r->process.end == PROCESS_CANCELLED)
		return err_set(e, INCORE_FAILED, "interrupted", "interrupted while ncu ran; log %s",
			n->answer.log);
	if (str_has(said, "ERR_NVGPUCTRPERM"))
		return err_set(e, INCORE_FAILED, "no-rights", "ncu may not profile: " RIGHTS);
	if (!n->answer.status)
		return true;
	n->app_status = (int)n->answer.status;
	job_describe(j, &r->process, &how);
	err_set(e, INCORE_FAILED, "app-failed",
		"ncu with the application: %s; log %s; it ends: %.*s", how.p ? how.p : "",
		n->answer.log, STR_ARG(job_last_line(r)));
	sb_free(&how);
	return false;
}

static bool ncu_capture_run_tool(struct ncu *n, struct incore_error *e)
{
	struct job j = drive_job(&n->q->drive, "ncu", n->q->limit_s, &n->journal);
	struct job_result r;
	bool ok;

	j.argv = n->argv.v;
	j.log_path = n->answer.log;
	progress_begin(n->q->drive.progress, "ncu", 1);
	ok = job_run(&j, &r, e);
	progress_end(n->q->drive.progress);
	if (!ok)
		return false;
	n->answer.status = job_exit_status(&r.process);
	ok = judge_run(n, &j, &r, e);
	job_result_deinit(&r);
	return ok;
}

static bool pack_results(struct ncu *n, struct incore_error *e)
{
	struct capture_list l;
	bool ok = true;

	if (!file_exists(n->report))
		return true;
	if (!import_find(n->report, NULL, &l, e)) {
		bool is_empty = err_is(e, "empty-report");

		if (is_empty)
			incore_error_clear(e);
		return is_empty;
	}
	progress_begin(n->q->drive.progress, "results", l.n);
	for (uint32_t i = 0; ok && i < l.n; i++) {
		struct pack_request q = {
			.path = l.v[i].path, .dir = n->q->dir, .drive = &n->q->drive};
		struct pack_result got;

		ok = pack_capture(&q, &n->arena, &got, e) &&
		     (VEC_PUSH(&n->answer.captures,
			      (struct ncu_file){got.file, got.kernel, got.verdict, got.health, i,
				      got.samples}) ||
			     err_nomem(e));
		progress_add(n->q->drive.progress, 1);
	}
	progress_end(n->q->drive.progress);
	capture_list_deinit(&l);
	return ok;
}

bool ncu_take(struct ncu *n, struct incore_error *e)
{
	struct incore_error late = {0};
	bool ok;

	if (!ncu_capture_find_tool(n, e))
		return false;
	if (!n->q->is_dry && !folder_open(&n->answer.place, n->q->dir, &n->journal, &n->arena, e))
		return false;
	n->report = arena_printf(&n->arena, "%s/report.ncu-rep", n->answer.place.directory);
	n->answer.log = arena_printf(&n->arena, "%s/ncu.log", n->q->dir);
	if (!n->report || !n->answer.log)
		return err_nomem(e);
	if (!ncu_capture_make_command(n, e))
		return false;
	n->answer.verdict = "planned";
	if (n->q->is_dry)
		return true;
	ok = ncu_capture_run_tool(n, e);
	/* results are packed even if the application failed */
	if (!pack_results(n, ok ? e : &late))
		ok = false;
	incore_error_clear(&late);
	n->is_no = !n->answer.captures.n;
	n->answer.verdict = n->is_no ? "nothing" : "captured";
	if (!n->q->keeps_raw)
		unlink(n->report);
	return folder_write_result(n->q->dir, &ncu_record, &n->answer, &n->arena, ok, e);
}

/* --- fields --- */

static const struct column file_columns[] = {
	COLUMN(ncu_file, file, UNIT_NONE, "packed capture"),
	COLUMN(ncu_file, kernel, UNIT_NONE, "name of the kernel"),
	COLUMN(ncu_file, result, UNIT_INDEX, "number of the result in the report, from 0"),
	COLUMN(ncu_file, samples, UNIT_COUNT, "samples in the code of the kernel"),
	COLUMN(ncu_file, verdict, UNIT_NONE, "verdict of incore check on the capture",
		.words = "ok|suspect|unusable"),
	COLUMN(ncu_file, health, UNIT_NONE, "verdict of incore check with errors and warnings"),
};
static const struct record ncu_file_record = RECORD_OF(ncu_file, RECORD_BLOCK, file_columns);

static const struct column ncu_columns[] = {
	COLUMN(ncu_answer, tool, UNIT_NONE, "path of the ncu that was used"),
	COLUMN(ncu_answer, version, UNIT_NONE, "release of ncu"),
	PART(ncu_answer, place, &folder_record),
	COLUMN(ncu_answer, command, UNIT_NONE, "command that was run"),
	COLUMN(ncu_answer, log, UNIT_NONE, "file with the output of the command"),
	COLUMN(ncu_answer, status, UNIT_NONE, "exit status of the command"),
	COLUMN(ncu_answer, verdict, UNIT_NONE, "result of the capture",
		.words = "captured|nothing|planned"),
	VECTOR(ncu_answer, captures, "captures", &ncu_file_record, "captures that were taken"),
};
const struct record ncu_record = RECORD_OF(ncu_answer, RECORD_BLOCK, ncu_columns);
