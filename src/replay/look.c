/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: duration, bottleneck, and whether a run did its work. */
#include "replay/look.h"

#include "analysis/check/check.h"
#include "analysis/pipes/pipes.h"
#include "base/file.h"
#include "import/import.h"
#include "replay/source/classify.h"

/* --- files ------------------------------------------------------------------------------------ */

struct count {
	struct arena *arena;
	const char *dir;
	struct look *out;
};

static bool count_files(void *ctx, const char *name, struct incore_error *e)
{
	struct count *c = ctx;

	(void)e;
	c->out->n_core_traces += strcmp(name, "trace.json") == 0;
	c->out->n_csv += strstr(name, "instr_exe") && strstr(name, ".csv");
	return true;
}

static bool count_core(void *ctx, const char *name, struct incore_error *e)
{
	struct count *c = ctx;
	char *path = arena_printf(c->arena, "%s/%s", c->dir, name);

	if (!path)
		return err_nomem(e);
	return strncmp(name, "core", 4) != 0 || !file_is_dir(path) ||
	       dir_each(path, count_files, c, e);
}

static bool open_trace(const char *path, struct trace **out, struct incore_error *e)
{
	struct import_options o = {.want = IMPORT_ALL};
	struct capture_list list;
	bool ok;

	if (!import_find(path, NULL, &list, e))
		return false;
	ok = import_read(capture_choose(&list), &o, out, e);
	capture_list_deinit(&list);
	return ok;
}

/* --- did it work? ----------------------------------------------------------------------------- */

/* Findings of `check`: nothing ran at all; less may have run than the source has. */
static const char *const NOTHING[] = {"empty-shell", "not-executed", NULL};
static const char *const LITTLE[] = {"no-compute", "near-empty", "one-side-empty", NULL};

static bool is_listed(const char *const *list, const char *id)
{
	for (size_t i = 0; list[i]; i++)
		if (strcmp(id, list[i]) == 0)
			return true;
	return false;
}

static bool find_message(struct arena *a, const struct trace *t, const char *const *ids,
	const char **message, struct incore_error *e)
{
	struct walk_options o = {0};
	struct walk_result r;
	struct check *c = check_run(t, NULL, &o, &r, e);
	bool ok = c != NULL;

	*message = NULL;
	for (uint32_t i = 0; ok && i < c->n_findings && !*message; i++)
		if (is_listed(ids, c->findings[i].note.code)) {
			*message = arena_strdup(a, c->findings[i].note.message);
			ok = *message || err_nomem(e);
		}
	check_free(c);
	walk_result_deinit(&r);
	return ok;
}

/* Work of the cores' units, sync left out. */
static void count_work(const struct pipes *p, uint64_t *cube, uint64_t *vector)
{
	*cube = *vector = 0;
	for (uint32_t i = 0; i < p->n_tracks; i++) {
		const char *name = p->trace->tracks[i].name;
		const char *pipe = strrchr(name, '/');

		pipe = pipe ? pipe + 1 : name;
		if (strcmp(pipe, "CUBE") == 0)
			*cube += p->rows[i].n_work;
		if (strncmp(pipe, "VEC", 3) == 0 || strncmp(pipe, "RVEC", 4) == 0)
			*vector += p->rows[i].n_work;
	}
}

/* Slots whose values scalar code reads, with those values. */
static void put_steering(const struct look_wants *w, struct strbuf *b)
{
	const char *before = "; it is steered by ";

	for (uint32_t i = 0; w->args && i < ARG_CONTEXT_SLOT; i++) {
		const struct arg *s = &w->args->slots[i];
		const struct arg_buffer *buffer =
			s->is_used && s->is_tensor ? &w->args->buffers.v[s->buffer] : NULL;
		uint64_t value = 0;

		if (!(w->steers >> i & 1) || !buffer || dtype_is_float(s->dtype))
			continue;
		if (buffer->p)
			memcpy(&value, buffer->p,
				buffer->n < dtype_bytes(s->dtype) ? buffer->n
								  : dtype_bytes(s->dtype));
		sb_printf(b, "%sslot %u%s%s (begins with %lld)", before, i, *s->name ? " " : "",
			s->name, (long long)value);
		before = ", ";
	}
	if (*before == ',' && w->option)
		sb_printf(b, ": %s gives it other values", w->option);
}

static bool has_made_up(const struct args *a)
{
	for (uint32_t i = 0; a && i < ARG_CONTEXT_SLOT; i++)
		if (a->slots[i].is_used && a->slots[i].control == ARG_MADE_UP)
			return true;
	return false;
}

/* Says why, and what cures it. */
static bool tell(struct arena *a, const struct look_wants *w, const char *why, struct look *out,
	struct incore_error *e)
{
	struct strbuf b = {0};

	sb_puts(&b, why);
	if (w->cure && *w->cure)
		sb_printf(&b, "; %s", w->cure);
	else
		put_steering(w, &b);
	out->degenerate = b.failed ? NULL : arena_strndup(a, b.p, b.n);
	sb_free(&b);
	return out->degenerate || err_nomem(e);
}

static bool judge(struct arena *a, const struct pipes *p, const struct look_wants *w,
	struct look *out, struct incore_error *e)
{
	const char *nothing, *little;
	uint64_t cube, vector;

	if (!find_message(a, p->trace, NOTHING, &nothing, e))
		return false;
	if (nothing)
		return tell(a, w, nothing, out, e);
	count_work(p, &cube, &vector);
	if (w->has_cube && (w->computes & COMPUTES_CUBE) && !cube)
		return tell(a, w,
			"no cube work: its source has matrix instructions, and none of them ran",
			out, e);
	if (w->has_vector && (w->computes & COMPUTES_VECTOR) && !vector)
		return tell(a, w,
			"no vector work: its source has vector instructions, and none of them ran",
			out, e);
	if (!w->computes || (!(w->cure && *w->cure) && !has_made_up(w->args)))
		return true; /* it works at the shape that it was given */
	return find_message(a, p->trace, LITTLE, &little, e) &&
	       (!little || tell(a, w, little, out, e));
}

bool look_at_trace(struct arena *a, const struct trace *t, const struct look_wants *w,
	struct look *out, struct incore_error *e)
{
	struct walk_options o = {0};
	struct walk_result r = {0};
	struct pipes *p = pipes_new(t, e);
	bool ok = p && pipes_collect(p, &o, &r, e) && judge(a, p, w, out, e);

	for (uint32_t i = 0; ok && i < p->n_cores; i++)
		if (p->cores[i].end_cyc - p->cores[i].begin_cyc > out->cycles)
			out->cycles = p->cores[i].end_cyc - p->cores[i].begin_cyc;
	if (ok) {
		out->bound = p->bound.track == NO_TRACK ? arena_strdup(a, p->bound.kind)
							: arena_printf(a, "%s %s", p->bound.kind,
								  t->tracks[p->bound.track].name);
		ok = out->bound || err_nomem(e);
	}
	walk_result_deinit(&r);
	pipes_free(p);
	return ok;
}

bool look_at_run(struct arena *a, const char *simulator, const struct look_wants *w,
	struct look *out, struct incore_error *e)
{
	struct count count = {a, simulator, out};
	struct trace *t = NULL;
	bool ok;

	*out = (struct look){.bound = ""};
	ok = dir_each(simulator, count_core, &count, e) && open_trace(simulator, &t, e) &&
	     look_at_trace(a, t, w, out, e);
	trace_free(t);
	return ok;
}
