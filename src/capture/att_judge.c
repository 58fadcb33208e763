/* SPDX-License-Identifier: Apache-2.0 */
/*
 * att_judge.c: reads, checks and packs the files of an attempt, and decides whether they are what
 * was requested.
 */
#include "analysis/name_filter.h"
#include "answer/check.h"
#include "base/file.h"
#include "capture/att.h"
#include "capture/folder.h"
#include "capture/pack.h"
#include "import/sqtt/container.h"

#define MAX_DEPTH                                                                                  \
	2	   /* folder depth of the output: rocprofv3 may add a folder with the host's name */
#define MAX_SE 32u /* of a mask */
#define MAX_CU 16u

struct judging {
	struct att *a;
	struct att_attempt *attempt;
	struct att_sight *sight;
	const char *dir;
	unsigned depth;
};

/* --- is it what was requested? --- */

/* Does one of the names hold the plain part of the other? */
static bool names_agree(const char *a, const char *b)
{
	struct str x = kernel_plain_name(a), y = kernel_plain_name(b);
	char shorter[256];

	snprintf(shorter, sizeof(shorter), "%.*s", STR_ARG(x.n < y.n ? x : y));
	return str_has(x.n < y.n ? y : x, shorter);
}

/* The launch with this dispatch of a wanted kernel; else any launch with it; else NULL. */
static const struct launch *launch_of(const struct att *a, int64_t dispatch)
{
	const struct launch *any = NULL;

	for (size_t i = 0; a->has_launches && i < a->launches.v.n; i++) {
		const struct launch *x = &a->launches.v.v[i];

		if ((int64_t)x->dispatch != dispatch)
			continue;
		if (a->launches.kernels.v[x->kernel].is_chosen &&
			number_set_has(&a->window.launches, x->ordinal))
			return x;
		any = x;
	}
	return any;
}

static bool check_launch(struct att *a, struct att_capture *c, struct incore_error *e)
{
	const struct launch *x = launch_of(a, c->dispatch);
	const char *name = x ? a->launches.kernels.v[x->kernel].name : NULL;
	struct strbuf asked = {0};
	bool ok = true;

	if (!x)
		return true;
	c->launch = x->ordinal;
	att_put_set(&a->window.launches, "", "", &asked);
	if (!a->launches.kernels.v[x->kernel].is_chosen)
		ok = err_set(e, INCORE_NO, "wrong-kernel",
			"dispatch %lld was captured, which is launch %u of %s and not of what was asked for: %s",
			(long long)c->dispatch, x->ordinal, name, a->window.kernel);
	else if (!number_set_has(&a->window.launches, x->ordinal))
		ok = err_set(e, INCORE_NO, "wrong-launch",
			"dispatch %lld was captured, which is launch %u of %s; launch %s was asked for",
			(long long)c->dispatch, x->ordinal, name, asked.p ? asked.p : "");
	sb_free(&asked);
	return ok;
}

/* Checks the kernel name found in the code itself. */
static bool check_name(const struct att *a, const struct att_capture *c, struct incore_error *e)
{
	const struct launch *x = launch_of(a, c->dispatch);
	struct name_filter f;
	bool does = false, ok;

	if (!c->kernel || (x && names_agree(c->kernel, a->launches.kernels.v[x->kernel].name)))
		return true;
	if (!a->window.kernel)
		return true;
	if (!name_filter_init(&f, a->window.kernel, e))
		return false;
	ok = name_filter_match(&f, c->kernel, &does, e);
	name_filter_deinit(&f);
	if (!ok || does || (!x && names_agree(c->kernel, a->window.kernel)))
		return ok;
	return err_set(e, INCORE_NO, "wrong-kernel",
		"the code that ran is %s, and not what was asked for: %s", c->kernel,
		a->window.kernel);
}

/* --- results of check --- */

/* Finds where most waves ran, for a capture whose target CU had none. */
static void find_place(const struct trace *t, struct att_sight *s)
{
	uint32_t counts[MAX_SE][MAX_CU] = {{0}}, best = 0;

	for (uint32_t i = 0; i < t->n_occupancy; i++) {
		const struct occupancy_event *x = &t->occupancy[i];
		uint32_t se = x->clock < t->n_clocks ? t->clocks[x->clock].id : MAX_SE;

		if (!x->is_start || se >= MAX_SE || x->cu >= MAX_CU || ++counts[se][x->cu] <= best)
			continue;
		best = counts[se][x->cu];
		s->is_placed = true;
		s->se = se;
		s->cu = x->cu;
	}
}

static void take_findings(struct judging *j, const struct check_answer *c, const struct trace *t)
{
	const struct check_part *p = &c->worst;
	struct att_sight *s = j->sight;

	s->gfx_major = t->meta.gfx_major;
	for (size_t i = 0; i < p->findings.n; i++) {
		const struct finding_row *f = (const struct finding_row *)p->findings.v + i;
		struct str id = str_of(f->id);

		if (str_is(id, "empty-shell") || str_is(id, "missed-cu") ||
			str_is(id, "not-executed")) {
			s->is_empty = true;
			find_place(t, s);
		} else if (str_is(id, "truncated")) {
			s->is_truncated = true;
			j->attempt->n_truncated++;
		} else if (str_is(id, "early-exit") && f->level == SEVERITY_ERROR) {
			s->is_early = true;
		}
	}
}

/* --- one dispatch --- */

struct dispatch {
	struct judging *j;
	const struct sqtt_container *from;
	struct att_capture c;
};

/* "kernel_dispatch_3.incore", with what distinguishes it from others of the attempt. */
static const char *file_name(struct judging *j, const struct sqtt_container *c, const char *kernel)
{
	struct arena *a = &j->a->arena;
	const char *tail = c->dispatch == NO_VALUE
				   ? ""
				   : arena_printf(a, "_dispatch_%lld", (long long)c->dispatch);

	return tail ? folder_file_name(a, j->attempt->run.folder, kernel, tail) : NULL;
}

/* A stream that cannot be read at all is an empty one: all zeros, or nothing. */
static bool note_unreadable(struct judging *j, struct att_capture *c, struct incore_error *e)
{
	struct strbuf why = {0};

	if (e->status != INCORE_BAD_INPUT)
		return false;
	err_format(e, &why);
	incore_error_clear(e);
	c->verdict = "unreadable";
	c->health = arena_strndup(&j->a->arena, why.p ? why.p : "", why.n);
	sb_free(&why);
	j->sight->is_empty = true;
	return c->health || err_nomem(e);
}

static bool take_answer(void *ctx, const struct answer *got, struct incore_error *e)
{
	struct dispatch *x = ctx;
	struct judging *j = x->j;
	struct att_capture *c = &x->c;
	const struct check_answer *k = got->data;
	const struct trace *t = got->traces.v[0];
	struct att *a = j->a;
	const struct checked_row *row = k->checked.v;

	c->kernel = t->meta.kernel ? arena_strdup(&a->arena, t->meta.kernel) : NULL;
	c->waves = t->n_tracks;
	c->verdict = k->worst.verdict; /* a word of the program */
	c->health = arena_strdup(&a->arena, row->health);
	c->file = file_name(j, x->from, t->meta.kernel);
	if (!c->health || !c->file || (t->meta.kernel && !c->kernel))
		return err_nomem(e);
	take_findings(j, k, t);
	j->attempt->n_usable += strcmp(c->verdict, "unusable") != 0;
	return folder_pack(c->file, t, &a->q->drive, e) && check_launch(a, c, e) &&
	       check_name(a, c, e);
}

static bool judge_dispatch(
	struct judging *j, const struct sqtt_container *from, struct incore_error *e)
{
	struct dispatch x = {.j = j,
		.from = from,
		.c = {.agent = from->agent,
			.dispatch = from->dispatch,
			.launch = NO_VALUE,
			.stream_bytes = from->n_bytes}};
	bool ok = pack_check(from->first, &j->a->q->drive, take_answer, &x, e);

	if (!ok && !x.c.verdict)
		ok = note_unreadable(j, &x.c, e);
	if (!VEC_PUSH(&j->attempt->captures, x.c))
		return err_nomem(e);
	return ok;
}

/* --- the directory --- */

static bool judge_folder(void *ctx, const char *name, struct incore_error *e);

/* The first error about a wrong capture is reported after all captures were packed. */
static bool judge_streams(struct judging *j, struct incore_error *e)
{
	struct sqtt_container *v;
	struct incore_error wrong = {0};
	uint32_t n = 0;

	if (!sqtt_containers(NULL, j->dir, &j->a->arena, &v, &n, e)) {
		if (!err_is(e, "no-stream"))
			return false;
		incore_error_clear(e);
		n = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (judge_dispatch(j, &v[i], e))
			continue;
		if (e->status != INCORE_NO) {
			incore_error_clear(&wrong);
			return false;
		}
		err_move(&wrong, e);
	}
	if (wrong.status != INCORE_OK) {
		err_move(e, &wrong);
		return false;
	}
	return j->depth == MAX_DEPTH || dir_each(j->dir, judge_folder, j, e);
}

static bool judge_folder(void *ctx, const char *name, struct incore_error *e)
{
	struct judging below = *(struct judging *)ctx;
	char *path;
	bool ok;

	if (str_starts(str_of(name), "ui_output")) /* decoded by the tool; we do our own decoding */
		return true;
	path = path_join(below.dir, name);
	if (!path)
		return err_nomem(e);
	below.dir = path;
	below.depth++;
	ok = !file_is_dir(path) || judge_streams(&below, e);
	mem_free(path);
	return ok;
}

bool att_judge(struct att *a, struct att_attempt *t, struct att_sight *s, struct incore_error *e)
{
	struct judging j = {.a = a, .attempt = t, .sight = s, .dir = t->run.raw};
	bool ok = judge_streams(&j, e);

	if (ok && !t->captures.n)
		s->is_empty = true;
	return ok;
}
