/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_run.c: one run of the application with our library in it, and the logs of its processes. */
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/search.h"
#include "capture/cuda.h"

#define LIBRARY "libincore-cuda.so"
#define GRACE_MS 30000 /* time for an application to end by itself */
#define MAX_ENV 10
#define MAX_TOLD 8 /* maximum number of warnings from the logs of one run */

bool cuda_warn(struct cuda *c, struct incore_error *e, const char *text)
{
	return (text && VEC_PUSH(&c->answer.warnings, text)) || err_nomem(e);
}

/* --- tools --- */

static const char *file_in(struct arena *a, const char *dir, const char *name)
{
	const char *path = dir ? arena_printf(a, "%s/%s", dir, name) : NULL;

	return path && file_exists(path) ? path : NULL;
}

const char *cuda_find_library(struct arena *a)
{
	/* installed; a build directory */
	static const char *const places[] = {"../lib/incore", "src/cuda"};
	const char *named = getenv("INCORE_CUDA_LIBRARY"), *path = NULL;

	if (named && *named)
		return file_exists(named) ? arena_strdup(a, named) : NULL;
	for (size_t i = 0; !path && i < sizeof(places) / sizeof(*places); i++) {
		char *dir = file_beside_program(places[i]);

		path = file_in(a, dir, LIBRARY);
		mem_free(dir);
	}
	return path;
}

const char *cuda_find_cupti(struct arena *a)
{
	static const char *const below[] = {"extras/CUPTI/lib64", "lib64", "lib"};
	const char *homes[] = {
		getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda", "/opt/cuda"};
	const char *path = NULL;

	for (size_t i = 0; !path && i < sizeof(homes) / sizeof(*homes); i++)
		for (size_t k = 0; !path && homes[i] && k < sizeof(below) / sizeof(*below); k++)
			path = file_in(
				a, arena_printf(a, "%s/%s", homes[i], below[k]), "libcupti.so");
	return path;
}

bool cuda_find_tools(struct cuda *c, struct incore_error *e)
{
	c->answer.library = cuda_find_library(&c->arena);
	c->answer.cupti = c->q->cupti ? c->q->cupti : cuda_find_cupti(&c->arena);
	if (!c->answer.library)
		return err_set(e, INCORE_FAILED, "no-library",
			"there is no %s beside this program; INCORE_CUDA_LIBRARY names it",
			LIBRARY);
	if (c->q->cupti && !file_exists(c->q->cupti))
		return err_set(e, INCORE_USAGE, "no-cupti", "there is no %s", c->q->cupti);
	return true;
}

/* --- a run --- */

struct environment {
	const char *v[MAX_ENV];
	size_t n;
	bool is_nomem;
};

static void PRINTF_LIKE(3, 4) set(struct cuda *c, struct environment *env, const char *fmt, ...)
{
	struct strbuf b = {0};
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&b, fmt, ap);
	va_end(ap);
	if (env->n + 1 < MAX_ENV)
		env->v[env->n++] = b.failed ? NULL : arena_strndup(&c->arena, b.p, b.n);
	env->is_nomem |= b.failed || !env->v[env->n - 1];
	sb_free(&b);
}

static void fill_environment(
	struct cuda *c, struct environment *env, const char *words, const char *folder)
{
	const struct cuda_request *q = c->q;

	set(c, env, "CUDA_INJECTION64_PATH=%s", c->answer.library);
	set(c, env, CUDA_ENV_LOG "=%s", folder);
	set(c, env, CUDA_ENV_CUPTI "=%s", c->answer.cupti ? c->answer.cupti : "");
	set(c, env, CUDA_ENV_MODE "=%s", words);
	set(c, env, CUDA_ENV_PERIOD "=%u", c->period_log2);
	set(c, env, CUDA_ENV_LAUNCHES "=%s", q->launches ? q->launches : "");
	if (q->after_ms || q->for_ms)
		set(c, env, CUDA_ENV_WINDOW "=%llu:%llu", (unsigned long long)q->after_ms,
			(unsigned long long)(q->for_ms ? q->after_ms + q->for_ms : 0));
}

bool cuda_run(struct cuda *c, enum cuda_mode mode, struct incore_error *e)
{
	static const char *const words[CUDA_MODES] = CUDA_MODE_WORDS;
	static const char *const names[CUDA_MODES] = {"look", "samples", "samples", "exact"};
	struct environment env = {0};
	struct strbuf command = {0};
	struct cuda_run_row r = {.name = names[mode]};
	struct job j = drive_job(&c->q->drive, r.name, c->q->limit_s, &c->journal);

	r.folder = arena_printf(&c->arena, "%s/%s", c->answer.place.directory, r.name);
	r.log = arena_printf(&c->arena, "%s/%s.log", c->q->dir, r.name);
	process_quote(c->q->drive.app, &command);
	r.command = drive_text(&c->arena, &command);
	if (r.folder)
		fill_environment(c, &env, words[mode], r.folder);
	if (!r.folder || !r.log || !r.command || env.is_nomem)
		return err_nomem(e);
	j.env = env.v;
	j.log_path = r.log;
	if (mkdir(r.folder, 0777) != 0)
		return err_output(e, errno, r.folder, "cannot make the directory");
	if (!c->q->keeps_raw)
		leftover_add(r.folder, false);
	if (!job_run(&j, &r.result, e))
		return false;
	r.status = job_exit_status(&r.result.process);
	r.wall_ms = r.result.process.wall_ms;
	if (!VEC_PUSH(&c->answer.runs, r)) {
		job_result_deinit(&r.result);
		return err_nomem(e);
	}
	progress_add(c->q->drive.progress, 1);
	if (r.result.process.end == PROCESS_CANCELLED && mode == CUDA_LOOK)
		return err_set(e, INCORE_FAILED, "interrupted", "interrupted while %s ran; log %s",
			r.name, r.log);
	return true;
}

/* --- logs --- */

void cuda_processes_deinit(struct cuda_processes *p)
{
	for (size_t i = 0; i < p->v.n; i++) {
		cuda_log_deinit(&p->v.v[i].log);
		file_unload(&p->v.v[i].file);
	}
	VEC_FREE(&p->v);
}

struct opening {
	struct cuda *c;
	struct cuda_run_row *r;
	struct cuda_processes *out;
};

static bool open_one(void *ctx, const char *name, struct incore_error *e)
{
	struct opening *o = ctx;
	struct cuda_process p = {.path = arena_printf(&o->c->arena, "%s/%s", o->r->folder, name)};
	struct incore_error why = {0};
	struct strbuf text = {0};

	if (!p.path)
		return err_nomem(e);
	if (!str_ends(str_of(name), CUDA_LOG_SUFFIX))
		return true;
	if (file_load(&p.file, p.path, &why) &&
		cuda_log_read(&p.log, (struct str){(const char *)p.file.data, p.file.size}, p.path,
			&why)) {
		if (VEC_PUSH(&o->out->v, p))
			return true;
		err_nomem(&why);
	}
	cuda_log_deinit(&p.log);
	file_unload(&p.file);
	if (err_is(&why, "no-memory")) {
		err_move(e, &why);
		return false;
	}
	err_format(&why, &text);
	incore_error_clear(&why);
	return cuda_warn(o->c, e, drive_text(&o->c->arena, &text));
}

ORDER(by_start, struct cuda_process, UP(log.sections.v->start_unix_ns) A_TO_Z(path))

bool cuda_open_logs(
	struct cuda *c, struct cuda_run_row *r, struct cuda_processes *out, struct incore_error *e)
{
	struct opening o = {c, r, out};

	if (!dir_each(r->folder, open_one, &o, e))
		return false;
	SORT(out->v.v, out->v.n, by_start);
	r->processes = out->v.n;
	EACH (const struct cuda_process, p, out->v.v, out->v.n)
		r->unfinished += !p->log.sections.v[0].has_end;
	return true;
}

#define RIGHTS_FIX                                                                                 \
	"the driver lets only root read counters: as root, or set NVreg_RestrictProfilingToAdminUsers=0 in /etc/modprobe.d and reload the driver; see incore doctor cuda"

static bool refuse(struct cuda *c, const struct cuda_trouble *t, struct str text,
	const struct cuda_run_row *r, struct incore_error *e)
{
	(void)c;
	if (t->kind == CUDA_NO_CUPTI)
		return err_set(e, INCORE_FAILED, "no-cupti",
			"CUPTI could not be loaded in the application: %.*s; --cupti names libcupti.so, which is part of the CUDA toolkit; log %s",
			STR_ARG(text), r->log);
	if (t->code == 35 || t->code == 40)
		return err_set(e, INCORE_FAILED, "no-rights", "CUPTI refused (%.*s): " RIGHTS_FIX,
			STR_ARG(text));
	if (t->code == 39)
		return err_set(e, INCORE_FAILED, "cupti-refused",
			"CUPTI refused (%.*s): another profiler is in the application; take it out",
			STR_ARG(text));
	return err_set(e, INCORE_FAILED, "cupti-refused", "CUPTI refused (%.*s); log %s",
		STR_ARG(text), r->log);
}

/* Reports problems of one process; fatal if it recorded nothing. */
static bool judge_process(struct cuda *c, const struct cuda_run_row *r,
	const struct cuda_process *p, struct incore_error *e)
{
	const struct cuda_log *l = &p->log;
	bool is_look = !strcmp(r->name, "look");
	bool has_some = is_look ? l->launches.n : l->n_captures + l->counts.n;
	unsigned n = 0;

	EACH (const struct cuda_body, x, l->troubles.v, l->troubles.n) {
		struct cuda_trouble t;
		struct str text = str_sub(x->bytes, sizeof(t), x->bytes.n);

		memcpy(&t, x->bytes.p, sizeof(t));
		if (t.kind > CUDA_REFUSED)
			continue; /* losses become notes of the captures */
		if (!has_some && c->answer.captures.n == 0)
			return refuse(c, &t, text, r, e);
		if (n++ < MAX_TOLD &&
			!cuda_warn(c, e,
				arena_printf(&c->arena, "%s: process %llu: %.*s", r->name,
					(unsigned long long)l->sections.v[0].pid, STR_ARG(text))))
			return false;
	}
	return true;
}

/* For a log without samples: was the buffer too small for them? */
static bool was_full(const struct cuda_log *l)
{
	bool is_full = false;

	EACH (const struct cuda_body, x, l->samples.v, l->samples.n) {
		struct cuda_samples s;

		memcpy(&s, x->bytes.p, sizeof(s));
		is_full |= s.is_full || s.n_dropped;
	}
	return is_full;
}

static bool judge_samples(struct cuda *c, const struct cuda_processes *p, struct incore_error *e)
{
	bool is_full = false;
	uint64_t n = 0;

	EACH (const struct cuda_process, x, p->v.v, p->v.n) {
		n += x->log.n_captures;
		is_full |= was_full(&x->log);
	}
	if (n)
		return true;
	return err_set(e, INCORE_FAILED, "no-samples",
		"the sampler gave no samples with a period of %llu cycles%s",
		(unsigned long long)UINT64_C(1) << c->period_log2,
		is_full ? ": its buffer was full; a longer period (--period) gives fewer samples, which fit"
			: "; with a shorter period (--period) short kernels are hit, too");
}

bool cuda_judge_logs(struct cuda *c, const struct cuda_run_row *r, const struct cuda_processes *p,
	struct incore_error *e)
{
	uint64_t n_launches = 0;

	if (!p->v.n && !r->status)
		return err_set(e, INCORE_FAILED, "no-cuda",
			"no process of the application initialised CUDA; log %s", r->log);
	EACH (const struct cuda_process, x, p->v.v, p->v.n) {
		n_launches += x->log.launches.n;
		if (!judge_process(c, r, x, e))
			return false;
	}
	if (!n_launches && !r->status)
		return err_set(e, INCORE_FAILED, "no-kernels",
			"the application launched no kernel; log %s", r->log);
	return strcmp(r->name, "samples") != 0 || judge_samples(c, p, e);
}
