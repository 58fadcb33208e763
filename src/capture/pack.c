/* SPDX-License-Identifier: Apache-2.0 */
/* pack.c: see pack.h. */
#include "capture/pack.h"

#include "answer/captures.h"
#include "answer/check.h"
#include "capture/folder.h"

bool pack_check(const char *path, const struct drive *f,
	bool (*take)(void *ctx, const struct answer *got, struct incore_error *e), void *ctx,
	struct incore_error *e)
{
	struct captures k;
	struct request r;
	struct answer got;
	bool ok;

	if (!request_init(&r, question_find("check"), e))
		return false;
	captures_init(&k);
	r.paths = &path;
	r.n_paths = 1;
	r.captures = &k;
	r.pool = f->pool;
	r.progress = f->progress;
	ok = answer_ask(&r, &got, e) && take(ctx, &got, e);
	answer_deinit(&got);
	request_deinit(&r);
	captures_deinit(&k);
	return ok;
}

struct packing {
	const struct pack_request *q;
	struct arena *arena;
	struct pack_result *out;
};

static bool capture_pack_take_answer(void *ctx, const struct answer *got, struct incore_error *e)
{
	const struct packing *x = ctx;
	struct pack_result *out = x->out;
	const struct check_answer *k = got->data;
	const struct trace *t = got->traces.v[0];
	const struct checked_row *row = k->checked.v;
	const char *kernel = x->q->kernel ? x->q->kernel : t->meta.kernel;

	out->verdict = k->worst.verdict; /* a word of the program */
	out->health = arena_strdup(x->arena, row->health);
	out->kernel = arena_strdup(x->arena, kernel ? kernel : "(no name)");
	out->dropped = t->sampling.n_dropped;
	out->period_cyc = t->sampling.period_cyc;
	out->has_counts = t->has_stated_totals;
	for (code_idx i = 0; t->samples && i < t->n_code; i++)
		out->samples += t->samples[i].issued + t->samples[i].stalled;
	out->file = folder_file_name(x->arena, x->q->dir, kernel, "");
	if (!out->health || !out->kernel || !out->file)
		return err_nomem(e);
	return folder_pack(out->file, t, x->q->drive, e);
}

bool pack_capture(const struct pack_request *q, struct arena *a, struct pack_result *out,
	struct incore_error *e)
{
	struct packing x = {q, a, out};

	*out = (struct pack_result){0};
	return pack_check(q->path, q->drive, capture_pack_take_answer, &x, e);
}
