/* SPDX-License-Identifier: Apache-2.0 */
/* msprof.c: one run under msprof, and packing what it left. */
#include "capture/msprof.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "answer/captures.h"
#include "base/file.h"
#include "replay/msprof/msprof.h"
#include "replay/msprof/msprof_steps.h"

#define STEP_S 300 /* limit of an export */

void msprof_capture_init(struct msprof_capture *x, const struct msprof_request *q)
{
	*x = (struct msprof_capture){
		.q = q, .answer = {.place = {.directory = q->dir}, .verdict = "planned"}};
	arena_init(&x->arena);
}

void msprof_capture_deinit(struct msprof_capture *x)
{
	VEC_FREE(&x->answer.captures);
	VEC_FREE(&x->answer.warnings);
	journal_close(&x->journal);
	cann_deinit(&x->cann);
	arena_deinit(&x->arena);
}

/* msprof takes the application and its arguments as one text, and how it splits that text is not
 * documented: a word that might be split is refused. The program's path is made absolute. */
static bool join_application(struct msprof_capture *x, struct incore_error *e)
{
	char *path = process_find(x->q->drive.app[0]), *real = path ? realpath(path, NULL) : NULL;
	struct strbuf b = {0};
	bool ok = true;

	if (!real)
		ok = err_set(e, INCORE_USAGE, "bad-application", "there is no program %s",
			x->q->drive.app[0]);
	for (size_t i = 0; ok && x->q->drive.app[i]; i++) {
		const char *word = i ? x->q->drive.app[i] : real;

		if (!*word || strpbrk(word, " \t\n\"'\\$`;|&<>()*?[]{}~#"))
			ok = err_set(e, INCORE_USAGE, "bad-application",
				"msprof splits the command of the application at blanks and quotes, which would break '%s': put the command into a script without arguments",
				word);
		sb_printf(&b, "%s%s", i ? " " : "", word);
	}
	x->answer.application = ok && !b.failed ? arena_strndup(&x->arena, b.p, b.n) : NULL;
	mem_free(path);
	free(real);
	sb_free(&b);
	return !ok ? false : x->answer.application || err_nomem(e);
}

static bool msprof_capture_prepare(struct msprof_capture *x, struct incore_error *e)
{
	const struct msprof_request *q = x->q;
	struct cann_options o = {.home = q->home,
		.set_env = q->set_env,
		.soc = q->soc,
		.is_on_device = q->is_on_device};

	if (!q->minutes || q->minutes > MSPROF_MAX_MINUTES || !q->launches || q->launches > 5000)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--timeout takes 1 to %u minutes, --launches 1 to 5000",
			MSPROF_MAX_MINUTES);
	if (q->kernel && !cann_is_word(q->kernel))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--kernel is the name of a kernel, not '%s'", q->kernel);
	if (!join_application(x, e) || !cann_open(&x->cann, &o, (enum opstream_arch)q->target, e))
		return false;
	x->answer.cann = x->cann.home;
	x->answer.soc = x->cann.soc;
	if (x->cann.soc_note && !VEC_PUSH(&x->answer.warnings, x->cann.soc_note))
		return err_nomem(e);
	return cann_program(&x->cann, "msprof") ||
	       err_set(e, INCORE_MISSING, "no-msprof",
		       "there is no msprof in the PATH that %s sets", x->cann.set_env);
}

static bool make_directory(struct msprof_capture *x, struct incore_error *e)
{
	const char *logs;
	const char *dir;

	if (!folder_open(&x->answer.place, x->q->dir, &x->journal, &x->arena, e))
		return false;
	dir = x->answer.place.directory;
	logs = arena_printf(&x->arena, "%s/logs", dir);
	x->answer.log = arena_printf(&x->arena, "%s/logs/collect.log", dir);
	if (!logs || !x->answer.log)
		return err_nomem(e);
	if (chmod(dir, 0755) != 0 ||
		mkdir(logs, 0755) != 0) /* msprof refuses folders that others may write */
		return err_output(e, errno, logs, "cannot make the directory");
	return true;
}

/* --- what it left --- */

static bool msprof_capture_keep(
	struct msprof_capture *x, const struct capture *found, struct incore_error *e)
{
	struct import_options o = {.want = IMPORT_ALL, .pool = x->q->drive.pool};
	struct msprof_file f = {0};
	struct trace *t;
	bool ok;

	if (!import_read(found, &o, &t, e))
		return false;
	f.kernel = t->meta.kernel ? arena_strdup(&x->arena, t->meta.kernel) : NULL;
	f.evidence = evidence_name(t->meta.evidence);
	f.tracks = t->n_tracks;
	f.file = folder_file_name(
		&x->arena, x->q->dir, f.kernel, x->q->is_on_device ? "_device" : "_simulated");
	ok = f.file ? folder_pack(f.file, t, &x->q->drive, e) : err_nomem(e);
	ok = ok && (VEC_PUSH(&x->answer.captures, f) || err_nomem(e));
	trace_free(t);
	return ok;
}

static bool msprof_capture_read_back(
	struct msprof_capture *x, const char *dir, struct incore_error *e)
{
	struct capture_list list;
	bool ok = import_find(dir, NULL, &list, e);

	if (!ok)
		return false;
	for (uint32_t i = 0; ok && i < list.n; i++)
		ok = msprof_capture_keep(x, &list.v[i], e);
	capture_list_deinit(&list);
	return ok;
}

static bool msprof_capture_take_warnings(
	struct msprof_capture *x, struct msprof_steps *m, bool has_success, struct incore_error *e)
{
	const char *text;

	if (!has_success)
		msprof_warn(
			m, "msprof does not say that all tasks succeeded; the files are complete");
	text = m->warnings.n ? arena_strndup(&x->arena, m->warnings.p, m->warnings.n) : NULL;
	return !m->warnings.failed &&
			       (!m->warnings.n || (text && VEC_PUSH(&x->answer.warnings, text)))
		       ? true
		       : err_nomem(e);
}

static bool msprof_capture_run(struct msprof_capture *x, struct incore_error *e)
{
	const struct msprof_request *q = x->q;
	struct msprof_steps m = {.arena = &x->arena,
		.cann = &x->cann,
		.cwd = x->answer.place.directory,
		.of = "the capture",
		.journal = &x->journal,
		.echo_fd = q->drive.echo_fd,
		.is_cancelled = q->drive.is_cancelled,
		.cancel_signal = q->drive.cancel_signal,
		.e = e};
	struct msprof_collection c = {.application = x->answer.application,
		.kernel = q->kernel,
		.is_on_device = q->is_on_device,
		.launch_count = (uint32_t)q->launches,
		.minutes = (uint32_t)q->minutes,
		.step_limit_s = STEP_S};
	const char *line = q->is_on_device ? NULL
					   : arena_printf(&x->arena, "LD_LIBRARY_PATH=%s",
						     x->cann.library_path);
	const char *raw;
	bool ok;

	if (!q->is_on_device && (!line || !cann_set_env(&x->cann, line)))
		return err_nomem(e);
	raw = msprof_collect(&m, &c);
	x->answer.status = c.status;
	x->answer.is_partial = c.is_partial;
	ok = raw && msprof_capture_read_back(x, raw, e) &&
	     msprof_capture_take_warnings(x, &m, c.has_success, e);
	if (raw && ok && !q->keeps_raw)
		remove_tree(raw);
	msprof_steps_deinit(&m);
	return ok;
}

bool msprof_take(struct msprof_capture *x, struct incore_error *e)
{
	bool ok;

	if (!msprof_capture_prepare(x, e))
		return false;
	if (x->q->is_dry)
		return true;
	if (!make_directory(x, e))
		return false;
	ok = msprof_capture_run(x, e);
	x->is_no = ok && (!x->answer.captures.n || x->answer.is_partial);
	x->answer.verdict = !ok			   ? "failed"
			    : x->answer.is_partial ? "partial"
			    : x->is_no		   ? "nothing"
						   : "captured";
	return folder_write_result(x->q->dir, &msprof_record, &x->answer, &x->arena, ok, e);
}

/* --- fields --- */

static const struct column file_columns[] = {
	COLUMN(msprof_file, file, UNIT_NONE, "packed capture"),
	COLUMN(msprof_file, kernel, UNIT_NONE, "kernel that the capture is about", NULLABLE),
	COLUMN(msprof_file, evidence, UNIT_NONE, "what the figures of the capture rest on"),
	COLUMN(msprof_file, tracks, UNIT_COUNT, "pipes in the capture; 0: only totals"),
};
static const struct record msprof_file_record = RECORD_OF(msprof_file, RECORD_BLOCK, file_columns);

static const struct column msprof_columns[] = {
	COLUMN(msprof_answer, cann, UNIT_NONE, "path of the CANN installation that was used"),
	COLUMN(msprof_answer, soc, UNIT_NONE, "chip that was simulated", NULLABLE),
	PART(msprof_answer, place, &folder_record),
	COLUMN(msprof_answer, application, UNIT_NONE, "application as it was given to msprof"),
	COLUMN(msprof_answer, log, UNIT_NONE, "file with the output of msprof", NULLABLE),
	COLUMN(msprof_answer, status, UNIT_NONE, "exit status of msprof"),
	COLUMN(msprof_answer, is_partial, UNIT_NONE,
		"the run was cut off by its time limit, so there is no total time"),
	COLUMN(msprof_answer, verdict, UNIT_NONE, "whether the run produced a capture",
		.words = "captured|partial|nothing|failed|planned"),
	VECTOR(msprof_answer, captures, "captures", &msprof_file_record,
		"captures that the run produced"),
};
const struct record msprof_record = RECORD_OF(msprof_answer, RECORD_BLOCK, msprof_columns);
