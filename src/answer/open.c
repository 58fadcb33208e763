/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c: which capture, and which part of it? Chooses one of the captures at a path, reads it,
 * turns its notes into warnings, and makes the selection of a request.
 */
#include <stdlib.h>

#include "analysis/name_filter.h"
#include "answer/answer.h"
#include "answer/captures.h"
#include "base/file.h"
#include "isa/ascend.h"

#define NAMES_SHOWN 5

/* --- names --- */

/* Does any name of the trace match: its kernel, or a kernel in its occupancy list? */
static bool filter_trace(
	const struct name_filter *f, const struct trace *t, bool *does, struct incore_error *e)
{
	*does = false;
	if (t->meta.kernel && !name_filter_match(f, t->meta.kernel, does, e))
		return false;
	for (uint32_t i = 0; i < t->n_kernel_names && !*does; i++) {
		if (!name_filter_match(f, t->kernel_names[i].name, does, e))
			return false;
	}
	return true;
}

/* --- which capture --- */

static int64_t number_or_any(uint64_t v)
{
	if (v == NO_COUNT)
		return NO_VALUE;
	return v < INT64_MAX ? (int64_t)v : INT64_MAX;
}

struct capture_choice request_choice(const struct request *r)
{
	return (struct capture_choice){number_or_any(r->agent), number_or_any(r->dispatch)};
}

static void open_put_names(struct strbuf *b, const struct capture *const *v, size_t n)
{
	for (size_t i = 0; i < n && i < NAMES_SHOWN; i++)
		sb_printf(b, "%s%s%s", i ? ", " : "", path_base(v[i]->path),
			v[i]->is_empty ? " (empty)" : "");
	if (n > NAMES_SHOWN)
		sb_printf(b, " and %zu more", n - NAMES_SHOWN);
}

static bool none_wanted(const struct capture_list *l, const char *path, struct incore_error *e)
{
	struct strbuf names = {0};
	const struct capture **all = mem_zalloc(l->n + 1, sizeof(*all));

	for (uint32_t i = 0; all && i < l->n; i++)
		all[i] = &l->v[i];
	if (all)
		open_put_names(&names, all, l->n);
	err_set(e, INCORE_USAGE, "no-such-capture",
		"no capture below '%s' is the one asked for; there %s %s", path,
		l->n == 1 ? "is" : "are", names.p ? names.p : "others");
	sb_free(&names);
	mem_free(all);
	return false;
}

static void warn_others(struct answer *a, const struct capture *const *v, size_t n, size_t chosen)
{
	struct strbuf names = {0};
	const struct capture *k = v[chosen], **others;

	others = n < 2 ? NULL : mem_zalloc(n, sizeof(*others));
	if (!others)
		return;
	/* Take the chosen capture out of the list of the others. */
	for (size_t i = 0, j = 0; i < n; i++) {
		if (i != chosen)
			others[j++] = v[i];
	}
	open_put_names(&names, others, n - 1);
	if (!names.failed)
		answer_warn(a,
			"%zu captures here; this is %s (others: %s); --dispatch or --agent chooses",
			n, path_base(k->path), names.p);
	sb_free(&names);
	mem_free(others);
}

struct import_options request_import(const struct request *r, unsigned want)
{
	return (struct import_options){.want = want,
		.cache = &r->captures->cache,
		.pool = r->pool,
		.progress = r->progress,
		.soc = r->soc,
		.clock_hz = r->clock_mhz == NO_COUNT ? 0 : r->clock_mhz * UINT64_C(1000000),
		.decoder_compat = r->decoder_compat == NO_CHOICE ? NULL : "0.1.6",
		.markers = r->markers,
		.code = r->code,
		.source_roots = r->source_roots.v,
		.n_source_roots = r->source_roots.n,
		.disasm = getenv("INCORE_DISASM")};
}

/* Reads the first of v[] that matches the request's kernel; without a kernel, the first. */
static bool read_first(const struct request *r, const struct capture *const *v, size_t n,
	unsigned want, struct trace **out, size_t *chosen, struct incore_error *e)
{
	struct import_options o = request_import(r, want);
	struct name_filter f;
	bool ok = true, does = false;

	if (!r->kernel || n < 2) {
		*chosen = 0;
		return captures_read(r->captures, v[0], &o, out, e);
	}
	if (!name_filter_init(&f, r->kernel, e))
		return false;
	for (size_t i = 0; i < n && ok && !does; i++) {
		struct trace *t;

		if (v[i]->is_empty || !captures_read(r->captures, v[i], &o, &t, e)) {
			incore_error_clear(e);
			continue;
		}
		ok = filter_trace(&f, t, &does, e);
		*chosen = i;
		if (ok && does)
			*out = t;
		else
			trace_free(t);
	}
	if (ok && !does)
		ok = err_set(e, INCORE_USAGE, "no-such-kernel",
			"no kernel of the %zu captures matches '%s'", n, r->kernel);
	name_filter_deinit(&f);
	return ok;
}

bool answer_open(struct answer *a, const struct request *r, const char *path, unsigned want,
	struct trace **out, struct incore_error *e)
{
	struct capture_list list = {0};
	const struct capture **v = NULL;
	size_t n = 0, chosen = 0;
	struct trace *t = NULL;
	bool ok = false;

	if (!captures_find(r->captures, path, &list, e))
		return false;
	v = mem_zalloc(list.n ? list.n : 1, sizeof(*v));
	if (!v) {
		err_nomem(e);
		goto out;
	}
	n = captures_choose(r->captures, &list, request_choice(r), v);
	if (n == 0) {
		none_wanted(&list, path, e);
		goto out;
	}
	if (!read_first(r, v, n, want, &t, &chosen, e))
		goto out;
	if (!VEC_PUSH(&a->traces, t)) {
		trace_free(t);
		err_nomem(e);
		goto out;
	}
	warn_others(a, v, n, chosen);
	a->want = want;
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (note_is_told(&t->notes[i], want))
			answer_notes(a, &t->notes[i], 1);
	*out = t;
	ok = true;
out:
	mem_free(v);
	capture_list_deinit(&list);
	return ok;
}

/* --- which part --- */

static bool no_such_kernel(const struct trace *t, const char *regex, struct incore_error *e)
{
	struct strbuf names = {0};

	for (uint32_t i = 0, n = 0; i < t->n_kernel_names && n < NAMES_SHOWN; i++) {
		/* An id without a name looks like "3 / 0x1600". */
		if (!str_has(str_of(t->kernel_names[i].name), " / 0x"))
			sb_printf(&names, "%s%.60s", n++ ? ", " : "", t->kernel_names[i].name);
	}
	if (!names.n && t->meta.kernel)
		sb_printf(&names, "%.60s", t->meta.kernel);
	err_set(e, INCORE_USAGE, "no-such-kernel", "no kernel matches '%s'; there is %s", regex,
		names.n ? names.p : "none with a name");
	sb_free(&names);
	return false;
}

static bool select_kernels(
	const struct trace *t, const char *regex, struct selection *s, struct incore_error *e)
{
	struct name_filter f;
	bool ok = true, does, any = false;

	if (!name_filter_init(&f, regex, e))
		return false;
	for (uint32_t i = 0; ok && i < t->n_kernel_names; i++) {
		struct number_range r = {t->kernel_names[i].id, t->kernel_names[i].id};

		ok = name_filter_match(&f, t->kernel_names[i].name, &does, e);
		if (ok && does) {
			any = true;
			ok = VEC_PUSH(&s->kernel_ids.ranges, r) || err_nomem(e);
		}
	}
	s->has_kernel_filter = any;
	if (ok && !any) {
		/* Without a list of ids the whole capture has one name. */
		ok = filter_trace(&f, t, &does, e) && (does || no_such_kernel(t, regex, e));
	}
	name_filter_deinit(&f);
	return ok;
}

static int level_of(const struct trace *t, const char *name)
{
	for (int i = 0; i < TRACK_LEVELS && t->levels[i]; i++) {
		if (strcmp(t->levels[i], name) == 0)
			return i;
	}
	/* an SM corresponds to a CU, its sub-partition to a SIMD */
	for (int i = 0; i < TRACK_LEVELS && trace_kind(t) == KIND_SCOPES; i++)
		if (strcmp(request_level_names[i], name) == 0)
			return i;
	return -1;
}

/* Number of a unit or pipe by its name; false: no such name. */
static bool number_of_name(const char *level, struct str name, uint64_t *out)
{
	static const char *const units[] = {"cube", "vec0", "vec1"};

	if (!strcmp(level, "pipe")) {
		*out = ascend_pipe_of_lane(name);
		return *out != PIPE_NONE;
	}
	for (*out = 0; *out < sizeof(units) / sizeof(units[0]); ++*out)
		if (str_is(name, units[*out]))
			return true;
	return false;
}

/* Parses "MTE2,CUBE", "cube,vec0"; numbers as for the other levels. */
static bool parse_names(
	struct number_set *s, const char *text, const char *level, struct incore_error *e)
{
	struct str rest = str_of(text), part;
	char what[16];

	snprintf(what, sizeof(what), "--%s", level);
	while (str_cut(&rest, ",", &part)) {
		struct number_range r;

		part = str_trim(part);
		if (part.n && part.p[0] >= '0' && part.p[0] <= '9') {
			if (!number_set_parse(s, part, what, e))
				return false;
			continue;
		}
		if (!number_of_name(level, part, &r.first))
			return err_set(e, INCORE_USAGE, "bad-option",
				"%s: nothing is named \"%.*s\"", what, STR_ARG(part));
		r.last = r.first;
		if (!VEC_PUSH(&s->ranges, r))
			return err_nomem(e);
	}
	return s->ranges.n > 0 || err_set(e, INCORE_USAGE, "bad-option", "%s expects a name", what);
}

static bool select_level(const struct trace *t, const char *name, const char *text,
	struct selection *s, struct incore_error *e)
{
	int level = level_of(t, name);
	char what[16];

	if (level < 0)
		return err_set(e, INCORE_USAGE, "no-such-level",
			"--%s: this capture has no tracks of that kind", name);
	if (!strcmp(name, "unit") || !strcmp(name, "pipe"))
		return parse_names(&s->level[level], text, name, e);
	snprintf(what, sizeof(what), "--%s", name);
	return number_set_parse(&s->level[level], str_of(text), what, e);
}

/* Selects one kernel by its number in the capture. */
static bool select_kernel_id(
	const struct trace *t, uint64_t id, struct selection *s, struct incore_error *e)
{
	struct number_range r = {id, id};

	for (uint32_t i = 0; i < t->n_kernel_names; i++)
		if (t->kernel_names[i].id == id) {
			s->has_kernel_filter = true;
			return VEC_PUSH(&s->kernel_ids.ranges, r) || err_nomem(e);
		}
	return err_set(e, INCORE_USAGE, "no-such-kernel", "the capture has no kernel %llu",
		(unsigned long long)id);
}

static bool select_part(
	const struct request *r, const struct trace *t, struct selection *s, struct incore_error *e)
{
	for (unsigned i = 0; i < REQUEST_LEVELS; i++)
		if (r->level[i] && !select_level(t, request_level_names[i], r->level[i], s, e))
			return false;
	if (r->kernel && !select_kernels(t, r->kernel, s, e))
		return false;
	if (r->kernel_id != NO_KERNEL_ID && !select_kernel_id(t, r->kernel_id, s, e))
		return false;
	s->has_from = r->from != NO_COUNT;
	s->has_to = r->to != NO_COUNT;
	s->from_cyc = s->has_from ? r->from : 0;
	s->to_cyc = s->has_to ? r->to : 0;
	if (s->has_from && s->has_to && s->to_cyc <= s->from_cyc)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--%s must be greater than --from", r->to_name);
	return true;
}

bool request_selection(const struct request *r, const struct trace *t, struct selection *out,
	struct incore_error *e)
{
	struct selection s = {0};

	if (!select_part(r, t, &s, e)) {
		selection_deinit(&s);
		return false;
	}
	*out = s;
	return true;
}

struct walk_options request_walk(const struct request *r, const struct selection *s)
{
	return (struct walk_options){.selection = s, .pool = r->pool, .progress = r->progress};
}

/* --- notes --- */

void answer_notes(struct answer *a, const struct note *notes, uint32_t n)
{
	EACH (const struct note, note, notes, n) {
		if (note->kind == NOTE_INFO)
			continue;
		a->n_notes++;
		a->n_losses += note_is_loss(note);
		if (note->path && !str_has(str_of(note->message), note->path))
			answer_warn(a, "%s: %s: %s", note_kind_name(note->kind), note->path,
				note->message);
		else
			answer_warn(a, "%s: %s", note_kind_name(note->kind), note->message);
	}
}

void answer_walk_notes(struct answer *a, const struct walk_result *r)
{
	answer_notes(a, r->notes, r->n_notes);
	if (r->n_unknown_code) {
		a->n_notes++;
		a->n_losses++;
		answer_warn(a, "unmapped: %llu %s no known row of the code",
			(unsigned long long)r->n_unknown_code,
			r->n_unknown_code == 1 ? "record names" : "records name");
	}
	if (r->n_notes_dropped) {
		a->n_losses++;
		answer_warn(a, "%llu more note%s of this kind",
			(unsigned long long)r->n_notes_dropped, plural(r->n_notes_dropped));
	}
}

bool answer_walked(struct answer *a, struct walk_result *r, bool is_ok)
{
	if (is_ok)
		answer_walk_notes(a, r);
	walk_result_deinit(r);
	return is_ok;
}
