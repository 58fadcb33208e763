/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_report.c: the report of what is shown. The command that writes any report makes it, in a
 * process of its own: the bytes are those of the command line, and neither its memory nor its end
 * is the server's.
 */
#include "base/process.h"
#include "serve/report/report.h"
#include "serve/session/session_internal.h"

#define REPORT_LIMIT_MS 300000u
#define MAX_WORDS 64u
#define MAX_TOLD 500u /* bytes of what a failed command says */

/* Always false: the error is how it ended, and what it said. */
static bool told_why(const struct process_spec *spec, const struct process_result *r,
	const struct strbuf *said, struct incore_error *e)
{
	struct strbuf end = {0};

	process_describe(spec, r, &end);
	err_set(e, INCORE_USAGE, "no-report", "no report: %s: %.*s", end.p ? end.p : "",
		(int)(said->n < MAX_TOLD ? said->n : MAX_TOLD), said->p ? said->p : "");
	sb_free(&end);
	return false;
}

static bool is_ending(void *session)
{
	struct session *s = session;

	return atomic_load(&s->stop);
}

static bool write_report(
	struct session *s, const char *const *argv, struct strbuf *out, struct incore_error *e)
{
	struct process_spec spec = {.argv = argv,
		.output = out,
		.max_output_bytes = REPORT_MAX_BYTES,
		.limit_ms = REPORT_LIMIT_MS,
		.is_cancelled = is_ending,
		.cancel_ctx = s};
	struct process_result r;

	if (!process_run(&spec, &r, e))
		return false;
	if (r.end != PROCESS_EXITED || r.code != 0)
		return told_why(&spec, &r, out, e);
	if (r.is_output_cut)
		return err_set(e, INCORE_USAGE, "too-large",
			"the report has more than %u bytes; incore report makes one of a part: "
			"--hottest N, --waves SET or --window A-B",
			REPORT_MAX_BYTES);
	return !out->failed || err_nomem(e);
}

/* Told at once, not after a command has read it all. */
static bool fits(const struct session_capture *const v[2], unsigned n, struct incore_error *e)
{
	uint64_t n_slices = 0;

	for (unsigned i = 0; i < n; i++)
		n_slices += v[i]->columns.n_slices;
	if (n_slices <= REPORT_MAX_SLICES)
		return true;
	return err_set(e, INCORE_USAGE, "too-large",
		"%llu slices are more than the %u that a report holds; incore report makes one of "
		"a part: --hottest N, --waves SET or --window A-B",
		(unsigned long long)n_slices, REPORT_MAX_SLICES);
}

bool session_report(
	struct session *s, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const struct session_capture *v[REPORT_MAX_CAPTURES];
	const char *argv[MAX_WORDS];
	unsigned n = 0, n_captures = query_text(q, "base") ? 2 : 1;
	bool ok;

	if (!s->report)
		return err_set(e, INCORE_NO, "no-such-answer", "no reports are made here");
	for (unsigned i = 0; i < n_captures; i++)
		if (!(v[i] = session_ready(s, q, i ? "base" : "c", e)))
			return false;
	if (!fits(v, n_captures, e))
		return false;
	while (s->report[n] && n + n_captures + 4 < MAX_WORDS) {
		argv[n] = s->report[n];
		n++;
	}
	argv[n++] = "-o-";
	argv[n++] = "--";
	for (unsigned i = 0; i < n_captures; i++)
		argv[n++] = v[i]->path;
	argv[n] = NULL;
	if (pthread_mutex_trylock(&s->report_lock) != 0)
		return err_set(e, INCORE_PARTIAL, "busy", "another report is being made");
	ok = write_report(s, argv, out, e);
	pthread_mutex_unlock(&s->report_lock);
	return ok;
}
