/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c: see pack.h. */
#include "capture/pack.h"

#include "answer/captures.h"
#include "answer/check.h"
#include "capture/folder.h"

static bool take_answer(const struct pack_request *q, const struct answer *got, struct arena *a,
	struct pack_result *out, struct incore_error *e)
{
	const struct check_answer *k = got->data;
	const struct trace *t = got->traces.v[0];
	const struct checked_row *row = k->checked.v;
	const char *kernel = q->kernel ? q->kernel : t->meta.kernel;

	out->verdict = k->worst.verdict; /* a word of the program */
	out->health = arena_strdup(a, row->health);
	out->kernel = arena_strdup(a, kernel ? kernel : "(no name)");
	out->dropped = t->sampling.n_dropped;
	out->period_cyc = t->sampling.period_cyc;
	out->has_counts = t->has_stated_totals;
	for (code_idx i = 0; t->samples && i < t->n_code; i++)
		out->samples += t->samples[i].issued + t->samples[i].stalled;
	out->file = folder_file_name(a, q->dir, kernel, "");
	if (!out->health || !out->kernel || !out->file)
		return err_nomem(e);
	return folder_pack(out->file, t, q->pool, q->progress, e);
}

bool pack_capture(const struct pack_request *q, struct arena *a, struct pack_result *out,
	struct incore_error *e)
{
	struct captures k;
	struct request r;
	struct answer got;
	bool ok;

	*out = (struct pack_result){0};
	if (!request_init(&r, question_find("check"), e))
		return false;
	captures_init(&k);
	r.paths = &q->path;
	r.n_paths = 1;
	r.captures = &k;
	r.pool = q->pool;
	r.progress = q->progress;
	ok = answer_ask(&r, &got, e) && take_answer(q, &got, a, out, e);
	answer_deinit(&got);
	request_deinit(&r);
	captures_deinit(&k);
	return ok;
}
