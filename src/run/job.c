/* SPDX-License-Identifier: Apache-2.0 */
/* job.c: one guarded program with its log and its lines in the journal. */
#include "run/job.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "codec/json_writer.h"

#define DEFAULT_LOG_BYTES ((uint64_t)8 << 20)
#define STATUS_TIMED_OUT 124 /* as of timeout(1) */
#define STATUS_NOT_STARTED 127
#define STATUS_SIGNAL 128
#define ASK_MS 60000 /* time limit for --version or --help */

struct keeper { /* of output */
	const struct job *job;
	struct job_result *result;
	int log_fd;
	uint64_t head_left; /* bytes that still go to the log directly */
	uint64_t kept_from; /* the first byte of output that the tail must add to the log */
};

/* Keeps the last JOB_TAIL_BYTES; temporarily up to twice as many. */
static bool keep_tail(struct strbuf *tail, const char *p, size_t n)
{
	sb_add(tail, p, n);
	if (!tail->failed && tail->n > 2 * JOB_TAIL_BYTES) {
		memmove(tail->p, tail->p + tail->n - JOB_TAIL_BYTES, JOB_TAIL_BYTES);
		tail->n = JOB_TAIL_BYTES;
		tail->p[tail->n] = '\0';
	}
	return !tail->failed;
}

static bool keep_output(void *ctx, const char *p, size_t n)
{
	struct keeper *k = ctx;
	size_t to_log = n < k->head_left ? n : (size_t)k->head_left;
	bool ok = true;

	if (k->job->echo_fd > 0) /* its reader may be gone: no reason to stop */
		write_all(k->job->echo_fd, p, n, NULL);
	if (k->log_fd >= 0)
		ok = write_all(k->log_fd, p, to_log, NULL);
	k->head_left -= to_log;
	k->kept_from += to_log;
	k->result->output_bytes += n;
	return keep_tail(&k->result->tail, p, n) && ok;
}

static bool job_open_log(struct keeper *k, struct incore_error *e)
{
	const struct job *j = k->job;
	struct strbuf line = {0};
	bool ok;

	k->log_fd = -1;
	k->head_left = (j->max_log_bytes ? j->max_log_bytes : DEFAULT_LOG_BYTES) / 2;
	if (!j->log_path)
		return true;
	k->log_fd = open(j->log_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (k->log_fd < 0)
		return err_output(e, errno, j->log_path, "cannot open the log");
	sb_puts(&line, "$ ");
	process_quote(j->argv, &line);
	sb_putc(&line, '\n');
	ok = (!line.failed || err_nomem(e)) && write_all(k->log_fd, line.p, line.n, e);
	sb_free(&line);
	return ok;
}

/* Writes the end of the output, and how the program ended. */
static bool job_close_log(struct keeper *k, struct incore_error *e)
{
	const struct job_result *r = k->result;
	uint64_t most = (k->job->max_log_bytes ? k->job->max_log_bytes : DEFAULT_LOG_BYTES) / 2;
	uint64_t left = r->output_bytes - k->kept_from, last = left < most ? left : most;
	struct strbuf text = {0};
	bool ok;

	if (k->log_fd < 0)
		return true;
	last = last < r->tail.n ? last : r->tail.n;
	if (left > last)
		sb_printf(&text, "\n[%llu bytes left out]\n", (unsigned long long)(left - last));
	if (last)
		sb_add(&text, r->tail.p + r->tail.n - last, (size_t)last);
	if (r->output_bytes && r->tail.p[r->tail.n - 1] != '\n')
		sb_putc(&text, '\n');
	sb_putc(&text, '[');
	job_describe(k->job, &r->process, &text);
	sb_puts(&text, "]\n");
	ok = (!text.failed || err_nomem(e)) && write_all(k->log_fd, text.p, text.n, e);
	sb_free(&text);
	return ok;
}

/* Writes the journal line of the start (r NULL) or of the end. */
static bool job_note(const struct job *j, const struct job_result *r, struct incore_error *e)
{
	struct json_writer w;
	struct strbuf line = {0}, how = {0};
	bool ok;

	if (!j->journal)
		return true;
	json_w_buf(&w, &line, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "event", r ? "end" : "start");
	json_w_kv_cstr(&w, "name", j->name);
	json_w_kv_i64(&w, "unix_s", (int64_t)time(NULL));
	if (r) {
		job_describe(j, &r->process, &how);
		json_w_kv_i64(&w, "status", job_exit_status(&r->process));
		json_w_kv_cstr(&w, "how", how.p);
		json_w_kv_u64(&w, "wall_ms", r->process.wall_ms);
		json_w_kv_u64(&w, "output_bytes", r->output_bytes);
	} else {
		json_w_kv_array(&w, "argv");
		for (const char *const *p = j->argv; *p; p++)
			json_w_cstr(&w, *p);
		json_w_end(&w);
	}
	json_w_end(&w);
	ok = json_w_finish(&w, e) && (!how.failed || err_nomem(e)) &&
	     journal_add(j->journal, (struct str){line.p, line.n}, e);
	sb_free(&line);
	sb_free(&how);
	return ok;
}

bool job_run(const struct job *j, struct job_result *out, struct incore_error *e)
{
	struct keeper k = {.job = j, .result = out, .log_fd = -1};
	struct process_spec spec = {.argv = j->argv,
		.cwd = j->cwd,
		.env = j->env,
		.output = j->output,
		.limit_ms = j->limit_ms,
		.grace_ms = (unsigned)j->grace_ms,
		.held = j->held,
		.n_held = j->n_held,
		.on_output = keep_output,
		.output_ctx = &k,
		.is_cancelled = j->is_cancelled,
		.cancel_signal = j->cancel_signal,
		.cancel_ctx = j->ctx};
	bool ok;

	*out = (struct job_result){0};
	ok = job_open_log(&k, e) && job_note(j, NULL, e) && process_run(&spec, &out->process, e) &&
	     job_close_log(&k, e) && job_note(j, out, e);
	if (k.log_fd >= 0)
		close(k.log_fd);
	if (!ok)
		job_result_deinit(out);
	return ok;
}

void job_result_deinit(struct job_result *r)
{
	sb_free(&r->tail);
}

int job_exit_status(const struct process_result *r)
{
	switch (r->end) {
	case PROCESS_EXITED:
		return r->code;
	case PROCESS_SIGNALLED:
		return STATUS_SIGNAL + r->code;
	case PROCESS_TIMED_OUT:
		return STATUS_TIMED_OUT;
	case PROCESS_CANCELLED:
		return STATUS_SIGNAL + SIGINT;
	case PROCESS_NOT_STARTED:
		break;
	}
	return STATUS_NOT_STARTED;
}

void job_describe(const struct job *j, const struct process_result *r, struct strbuf *out)
{
	process_describe(&(struct process_spec){.argv = j->argv, .limit_ms = j->limit_ms}, r, out);
}

struct str job_last_line(const struct job_result *r)
{
	struct str s = str_trim((struct str){r->tail.p ? r->tail.p : "", r->tail.n});
	ptrdiff_t at = str_rfind_char(s, '\n');

	return str_trim(str_sub(s, (size_t)(at + 1), s.n));
}

const char *job_ask(const char *path, const char *option, struct arena *a, struct incore_error *e)
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
