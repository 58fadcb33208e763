/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open.c: which capture, and which part of it? Chooses one of the captures a path holds, reads it,
 * turns its notes into warnings, and makes the selection of the common options.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#include <stdlib.h>

#include "cli/cli.h"
#include "import/capture_cache.h"
#include "isa/ascend.h"

/* A regular expression is input too: it may not run for ever. */
#define MATCH_LIMIT 1000000
#define DEPTH_LIMIT 1000
#define NAMES_SHOWN 5

/* --- names --- */

struct name_filter {
	pcre2_code *code;
	pcre2_match_data *match;
	pcre2_match_context *context;
};

static void filter_deinit(struct name_filter *f)
{
	pcre2_match_data_free(f->match);
	pcre2_match_context_free(f->context);
	pcre2_code_free(f->code);
}

static bool filter_init(struct name_filter *f, const char *regex, struct incore_error *e)
{
	int code;
	PCRE2_SIZE at;
	PCRE2_UCHAR text[120];

	*f = (struct name_filter){0};
	f->code = pcre2_compile((PCRE2_SPTR)regex, PCRE2_ZERO_TERMINATED, 0, &code, &at, NULL);
	if (!f->code) {
		pcre2_get_error_message(code, text, sizeof(text));
		return err_set(e, INCORE_USAGE, "bad-regex", "--kernel '%s': %s at character %zu",
			regex, (char *)text, (size_t)at + 1);
	}
	f->match = pcre2_match_data_create_from_pattern(f->code, NULL);
	f->context = pcre2_match_context_create(NULL);
	if (!f->match || !f->context) {
		filter_deinit(f);
		return err_nomem(e);
	}
	pcre2_set_match_limit(f->context, MATCH_LIMIT);
	pcre2_set_depth_limit(f->context, DEPTH_LIMIT);
	return true;
}

/* *does: whether it matches. False when the expression gives up. */
static bool filter_match(
	const struct name_filter *f, const char *name, bool *does, struct incore_error *e)
{
	PCRE2_UCHAR text[120];
	int n = pcre2_match(f->code, (PCRE2_SPTR)name, strlen(name), 0, 0, f->match, f->context);

	*does = n >= 0;
	if (n >= 0 || n == PCRE2_ERROR_NOMATCH)
		return true;
	pcre2_get_error_message(n, text, sizeof(text));
	return err_set(e, INCORE_USAGE, "bad-regex", "--kernel: %s", (char *)text);
}

/* Any name of the trace: its kernel, or one that its occupancy list knows. */
static bool filter_trace(
	const struct name_filter *f, const struct trace *t, bool *does, struct incore_error *e)
{
	*does = false;
	if (t->meta.kernel && !filter_match(f, t->meta.kernel, does, e))
		return false;
	for (uint32_t i = 0; i < t->n_kernel_names && !*does; i++) {
		if (!filter_match(f, t->kernel_names[i].name, does, e))
			return false;
	}
	return true;
}

/* --- which capture --- */

static int64_t number_or_any(const struct cli *c, const char *name)
{
	uint64_t v = cli_count(c, name);

	if (!cli_has(c, name))
		return NO_VALUE;
	return v < INT64_MAX ? (int64_t)v : INT64_MAX;
}

struct capture_choice cli_choice(const struct cli *c)
{
	return (struct capture_choice){number_or_any(c, "agent"), number_or_any(c, "dispatch")};
}

static void put_names(struct strbuf *b, const struct capture *const *v, size_t n)
{
	for (size_t i = 0; i < n && i < NAMES_SHOWN; i++)
		sb_printf(b, "%s%s%s", i ? ", " : "", path_base(v[i]->path),
			v[i]->is_empty ? " (empty)" : "");
	if (n > NAMES_SHOWN)
		sb_printf(b, " and %zu more", n - NAMES_SHOWN);
}

static bool none_wanted(struct cli *c, const struct capture_list *l, const char *path)
{
	struct strbuf names = {0};
	const struct capture **all = mem_zalloc(l->n + 1, sizeof(*all));

	for (uint32_t i = 0; all && i < l->n; i++)
		all[i] = &l->v[i];
	if (all)
		put_names(&names, all, l->n);
	err_set(&c->error, INCORE_USAGE, "no-such-capture",
		"no capture below '%s' is the one asked for; there %s %s", path,
		l->n == 1 ? "is" : "are", names.p ? names.p : "others");
	sb_free(&names);
	mem_free(all);
	return false;
}

static void warn_others(struct cli *c, const struct capture *const *v, size_t n, size_t chosen)
{
	struct strbuf names = {0};
	const struct capture *k = v[chosen], **others;

	others = n < 2 ? NULL : mem_zalloc(n, sizeof(*others));
	if (!others)
		return;
	/* The chosen one leaves the list of the others. */
	for (size_t i = 0, j = 0; i < n; i++) {
		if (i != chosen)
			others[j++] = v[i];
	}
	put_names(&names, others, n - 1);
	if (!names.failed)
		cli_warn(c,
			"%zu captures here; this is %s (others: %s); --dispatch or --agent chooses",
			n, path_base(k->path), names.p);
	sb_free(&names);
	mem_free(others);
}

struct import_options cli_import_options(const struct cli *c, unsigned want)
{
	return (struct import_options){.want = want,
		.cache = c->captures,
		.pool = c->pool,
		.progress = c->progress,
		.soc = cli_text(c, "soc"),
		.clock_hz = cli_has(c, "clock") ? cli_count(c, "clock") * UINT64_C(1000000) : 0,
		.decoder_compat = cli_text(c, "decoder-compat"),
		.disasm = getenv("INCORE_DISASM")};
}

static bool read_capture(struct cli *c, const struct capture *k, unsigned want, struct trace **out)
{
	struct import_options o = cli_import_options(c, want);

	if (!c->reader)
		return import_read(k, &o, out, &c->error);
	if (!c->reader(c->reader_ctx, k, &o, out, &c->error))
		return false;
	capture_remember(c->captures, k, *out);
	return true;
}

/* The first of v[] that --kernel names; without it the first. */
static bool read_first(struct cli *c, const struct capture *const *v, size_t n, unsigned want,
	struct trace **out, size_t *chosen)
{
	const char *regex = cli_text(c, "kernel");
	struct name_filter f;
	bool ok = true, does = false;

	if (!regex || n < 2) {
		*chosen = 0;
		return read_capture(c, v[0], want, out);
	}
	if (!filter_init(&f, regex, &c->error))
		return false;
	for (size_t i = 0; i < n && ok && !does; i++) {
		struct trace *t;

		if (v[i]->is_empty || !read_capture(c, v[i], want, &t)) {
			incore_error_clear(&c->error);
			continue;
		}
		ok = filter_trace(&f, t, &does, &c->error);
		*chosen = i;
		if (ok && does)
			*out = t;
		else
			trace_free(t);
	}
	if (ok && !does)
		ok = err_set(&c->error, INCORE_USAGE, "no-such-kernel",
			"no kernel of the %zu captures matches '%s'", n, regex);
	filter_deinit(&f);
	return ok;
}

bool cli_open_trace(struct cli *c, const char *path, unsigned want, struct trace **out)
{
	struct capture_list list = {0};
	const struct capture **v = NULL;
	size_t n = 0, chosen = 0;
	struct trace *t = NULL;
	bool ok = false;

	if (!import_find(path, c->captures, &list, &c->error))
		return false;
	v = mem_zalloc(list.n ? list.n : 1, sizeof(*v));
	if (!v) {
		err_nomem(&c->error);
		goto out;
	}
	n = captures_rank(&list, c->captures, cli_choice(c), v);
	if (n == 0) {
		none_wanted(c, &list, path);
		goto out;
	}
	if (!read_first(c, v, n, want, &t, &chosen))
		goto out;
	warn_others(c, v, n, chosen);
	cli_notes(c, t->notes, t->n_notes);
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
		/* An id without a name reads "3 / 0x1600". */
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

	if (!filter_init(&f, regex, e))
		return false;
	for (uint32_t i = 0; ok && i < t->n_kernel_names; i++) {
		struct number_range r = {t->kernel_names[i].id, t->kernel_names[i].id};

		ok = filter_match(&f, t->kernel_names[i].name, &does, e);
		if (ok && does) {
			any = true;
			ok = VEC_PUSH(&s->kernel_ids.ranges, r) || err_nomem(e);
		}
	}
	s->has_kernel_filter = any;
	if (ok && !any) {
		/* Without a list of ids the capture as a whole has one name. */
		ok = filter_trace(&f, t, &does, e) && (does || no_such_kernel(t, regex, e));
	}
	filter_deinit(&f);
	return ok;
}

static int level_of(const struct trace *t, const char *name)
{
	for (int i = 0; i < TRACK_LEVELS && t->levels[i]; i++) {
		if (strcmp(t->levels[i], name) == 0)
			return i;
	}
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

/* "MTE2,CUBE", "cube,vec0"; numbers as for the other levels. */
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
	return s->ranges.n > 0 || err_set(e, INCORE_USAGE, "bad-option", "%s wants a name", what);
}

static bool select_levels(struct cli *c, const struct trace *t, struct selection *s)
{
	static const char *const names[] = {
		"se", "cu", "simd", "slot", "wave", "core", "unit", "pipe"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = cli_text(c, names[i]);
		char what[16];
		int level;

		if (!text)
			continue;
		level = level_of(t, names[i]);
		if (level < 0)
			return err_set(&c->error, INCORE_USAGE, "no-such-level",
				"--%s: this capture has no tracks of that kind", names[i]);
		snprintf(what, sizeof(what), "--%s", names[i]);
		if (!strcmp(names[i], "unit") || !strcmp(names[i], "pipe")
				? !parse_names(&s->level[level], text, names[i], &c->error)
				: !number_set_parse(
					  &s->level[level], str_of(text), what, &c->error))
			return false;
	}
	return true;
}

/* Where --to is the verb's own word (export), the window ends at --until. */
static const char *end_option(const struct cli *c)
{
	for (const struct option_def *d = c->verb->options; d && d->name; d++)
		if (strcmp(d->name, "until") == 0)
			return d->name;
	return "to";
}

bool cli_selection(struct cli *c, const struct trace *t, struct selection *out)
{
	struct selection s = {0};
	const char *regex = cli_text(c, "kernel");

	if (!select_levels(c, t, &s) || (regex && !select_kernels(t, regex, &s, &c->error)))
		goto fail;
	s.has_from = cli_has(c, "from");
	s.has_to = cli_has(c, end_option(c));
	s.from_cyc = cli_count(c, "from");
	s.to_cyc = cli_count(c, end_option(c));
	if (s.has_from && s.has_to && s.to_cyc <= s.from_cyc) {
		err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--%s must be greater than --from", end_option(c));
		goto fail;
	}
	*out = s;
	return true;
fail:
	selection_deinit(&s);
	return false;
}

struct walk_options cli_walk_options(struct cli *c, const struct selection *s)
{
	return (struct walk_options){.selection = s, .pool = c->pool, .progress = c->progress};
}

/* --- notes --- */

void cli_notes(struct cli *c, const struct note *notes, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		const struct note *note = &notes[i];

		if (note->kind == NOTE_INFO)
			continue;
		c->n_notes++;
		if (note->kind != NOTE_GUESSED)
			c->n_losses++;
		if (note->path && !str_has(str_of(note->message), note->path))
			cli_warn(c, "%s: %s: %s", note_kind_name(note->kind), note->path,
				note->message);
		else
			cli_warn(c, "%s: %s", note_kind_name(note->kind), note->message);
	}
}

void cli_walk_notes(struct cli *c, const struct walk_result *r)
{
	cli_notes(c, r->notes, r->n_notes);
	if (r->n_unknown_code) {
		c->n_notes++;
		c->n_losses++;
		cli_warn(c, "unmapped: %llu %s no known row of the code",
			(unsigned long long)r->n_unknown_code,
			r->n_unknown_code == 1 ? "record names" : "records name");
	}
	if (r->n_notes_dropped) {
		c->n_losses++;
		cli_warn(c, "%llu more note%s of this kind", (unsigned long long)r->n_notes_dropped,
			plural(r->n_notes_dropped));
	}
}
