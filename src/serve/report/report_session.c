/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_session.c: the report of the shown captures, with the same bytes as from the command line:
 * it reads the captures again in a separate session.
 */
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "serve/report/report_job.h"
#include "serve/session/session_internal.h"

/* Checks the size now, not after everything has been read again. */
static bool report_session_fits(
	const struct session_capture *const v[2], unsigned n, struct incore_error *e)
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

/* A report takes many times the memory of other requests, and is rarely asked for. */
static void give_memory_back(void)
{
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}

static bool report_session_write_report(
	const struct report_request *q, struct strbuf *out, struct incore_error *e)
{
	struct report_job *job = report_job_new(q, e);
	char *bytes = NULL;
	size_t n = 0;
	FILE *f = job ? open_memstream(&bytes, &n) : NULL;
	bool ok = f && report_job_read(job, e) && report_job_write(job, f, e);

	report_job_free(job);
	if (job && !f)
		err_nomem(e);
	if (f && fclose(f) != 0)
		ok = err_nomem(e);
	if (ok && n > REPORT_MAX_BYTES)
		ok = err_set(e, INCORE_USAGE, "too-large",
			"the report has more than %u bytes; incore report makes one of a part: "
			"--hottest N, --waves SET or --window A-B",
			REPORT_MAX_BYTES);
	if (ok && !sb_add(out, bytes, n))
		ok = err_nomem(e);
	free(bytes);
	return ok;
}

/* Makes the report from a request like that of the command line. */
static bool make_report(struct session *s, struct report_request *q, struct request *reading,
	struct strbuf *out, struct incore_error *e)
{
	struct strbuf words = {0}, command = {0}, closer = {0};
	bool ok;

	sb_printf(&words, " --format html%s", s->reading_words);
	report_put_command("report", q, words.p ? words.p : "", "-", &command);
	report_put_command("view", q, s->reading_words, NULL, &closer);
	q->command = command.p;
	q->closer = closer.p;
	/* the session's pool may be busy with other captures */
	reading->pool = pool_new(pool_size(s->ask_pool), e);
	ok = reading->pool &&
	     (!(words.failed || command.failed || closer.failed) || err_nomem(e)) &&
	     report_session_write_report(q, out, e);
	pool_free(reading->pool);
	sb_free(&words);
	sb_free(&command);
	sb_free(&closer);
	return ok;
}

bool report_of_session(
	struct session *s, const struct query *q, struct strbuf *out, struct incore_error *e)
{
	const struct session_capture *v[REPORT_MAX_CAPTURES];
	const char *paths[REPORT_MAX_CAPTURES];
	struct request reading = s->reading;
	struct report_request report = {.n = query_text(q, "base") ? 2 : 1,
		.paths = paths,
		.reading = &reading,
		.colors = s->v->view.colors,
		.part = {.hottest = REPORT_ALL_TRACKS},
		.stop = s->stop};
	bool ok;

	for (unsigned i = 0; i < report.n; i++) {
		if (!(v[i] = session_ready(s, q, i ? "base" : "c", e)))
			return false;
		paths[i] = v[i]->path;
	}
	if (!report_session_fits(v, report.n, e))
		return false;
	if (pthread_mutex_trylock(&s->report_lock) != 0)
		return err_set(e, INCORE_PARTIAL, "busy",
			"another report is being made: try again when it is done");
	ok = make_report(s, &report, &reading, out, e);
	give_memory_back();
	pthread_mutex_unlock(&s->report_lock);
	return ok;
}
