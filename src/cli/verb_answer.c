/* SPDX-License-Identifier: Apache-2.0 */
/* verb_answer.c: what would the command line say? */
#include "cli/verb_answer.h"

#include <stdlib.h>

#include "cli/options.h"
#include "import/capture_cache.h"

#define MAX_WORDS (QUERY_MAX_PAIRS + 16u)

/* Options that say nothing about where files are: the only ones a request may set. */
static const char *const allowed_text[] = {
	"se", "cu", "simd", "slot", "wave", "core", "unit", "pipe", "kernel", "top", "range", NULL};
static const char *const refused[] = {"json", "csv", "output", "color", "quiet", "verbose",
	"progress", "strict", "jobs", "explain", "agent", "dispatch", "soc", "clock",
	"decoder-compat", NULL};
/* Which capture, and how it is read: as the viewer was told. */
static const char *const handed_on[] = {
	"agent", "dispatch", "soc", "clock", "decoder-compat", NULL};

static bool is_in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

bool verb_answer_is(const char *name)
{
	static const char *const verbs[] = {
		"info", "check", "hot", "isa", "waves", "occupancy", "summary", "diff", NULL};

	return is_in(verbs, name);
}

bool verb_answers_init(struct verb_answers *a, const struct cli *view, struct incore_error *e)
{
	*a = (struct verb_answers){.view = view};
	captures_init(&a->captures);
	a->pool = pool_new((unsigned)cli_count(view, "jobs"), e);
	return a->pool != NULL;
}

void verb_answers_deinit(struct verb_answers *a)
{
	if (a->view)
		captures_deinit(&a->captures);
	pool_free(a->pool);
	*a = (struct verb_answers){0};
}

void verb_answer_lend(struct verb_answers *a, const struct view *v)
{
	if (!v->has_pipes)
		captures_lend(&a->captures, v->trace, v->columns, v->origin_cyc);
}

static bool read_once(void *ctx, const struct capture *k, const struct import_options *o,
	struct trace **out, struct incore_error *e)
{
	struct verb_answers *a = ctx;

	return captures_read(&a->captures, k, o, out, e);
}

bool verb_answer_open(struct verb_answers *a, const char *path, struct progress *progress,
	struct trace **out, struct incore_error *e)
{
	struct cli c = *a->view;
	bool ok;

	c.error = (struct incore_error){0};
	c.warnings = (struct strbuf){0};
	c.progress = progress;
	c.reader = read_once;
	c.reader_ctx = a;
	c.captures = NULL; /* the view's belongs to its thread */
	ok = cli_open_trace(&c, path, IMPORT_ALL, out);
	if (!ok)
		err_move(e, &c.error);
	sb_free(&c.warnings);
	return ok;
}

/* --- the words of a command line --- */

struct words {
	char *v[MAX_WORDS];
	unsigned n;
};

static bool add_word(struct words *w, const char *name, const char *value)
{
	struct strbuf b = {0};

	if (w->n == MAX_WORDS)
		return false;
	if (name)
		sb_printf(&b, "--%s", name);
	if (name && value)
		sb_putc(&b, '=');
	if (value)
		sb_puts(&b, value);
	w->v[w->n] = b.p;
	if (b.failed || !b.p) {
		sb_free(&b);
		return false;
	}
	w->n++;
	return true;
}

static const struct option_def *find_option(const struct option_list *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->def[i]->name, name) == 0)
			return l->def[i];
	return NULL;
}

static bool is_allowed(const struct option_def *d)
{
	if (is_in(refused, d->name) || d->type == OPTION_MANY)
		return false;
	return d->type != OPTION_TEXT || is_in(allowed_text, d->name);
}

/* --- one kernel of a capture --- */

static bool takes_kernel(const struct option_list *list)
{
	return find_option(list, "kernel") != NULL;
}

bool verb_answer_takes_kernel(const char *name)
{
	const struct verb *v = verb_answer_is(name) ? verb_find(name) : NULL;
	struct option_list list;

	if (!v)
		return false;
	options_of(v, &list);
	return takes_kernel(&list);
}

/* An expression that matches the name and nothing else. */
static bool put_exactly(struct strbuf *b, const char *name)
{
	sb_putc(b, '^');
	for (; *name; name++) {
		if (strchr("\\^$.*+?()[]{}|", *name))
			sb_putc(b, '\\');
		sb_putc(b, *name);
	}
	return sb_puts(b, "$");
}

/* --kernel for the one whose number the trace gives: a name may be longer than a request. */
static bool add_kernel(struct verb_answers *a, struct words *w, const struct query *q,
	const char *path, struct incore_error *e)
{
	struct strbuf regex = {0};
	struct trace *t = NULL;
	uint64_t id;
	bool ok = true, is_known = false;

	if (!query_text(q, "k"))
		return true;
	if (!query_number(q, "k", QUERY_NEEDED, UINT32_MAX, &id, e) ||
		!verb_answer_open(a, path, NULL, &t, e))
		return false;
	for (uint32_t i = 0; ok && !is_known && i < t->n_kernel_names; i++) {
		if (t->kernel_names[i].id != id)
			continue;
		is_known = true;
		ok = (put_exactly(&regex, t->kernel_names[i].name) &&
			     add_word(w, "kernel", regex.p)) ||
		     err_nomem(e);
	}
	if (!is_known)
		ok = err_set(e, INCORE_USAGE, "no-such-kernel", "the capture has no kernel %llu",
			(unsigned long long)id);
	sb_free(&regex);
	trace_free(t);
	return ok;
}

static bool add_pairs(struct words *w, const struct query *q, const struct option_list *list,
	struct incore_error *e)
{
	for (unsigned i = 0; i < q->n; i++) {
		const char *key = q->pair[i].key, *value = q->pair[i].value;
		const struct option_def *d = find_option(list, key);

		if (!strcmp(key, "c") || !strcmp(key, "base") || !strcmp(key, "h") ||
			(!strcmp(key, "k") && takes_kernel(list)))
			continue;
		if (!d || !is_allowed(d))
			return err_set(e, INCORE_USAGE, "bad-query",
				"%s has no option %s for a viewer", q->name, key);
		if (d->type == OPTION_FLAG && strcmp(value, "1") != 0)
			return err_set(e, INCORE_USAGE, "bad-query", "%s wants 1", key);
		if (!add_word(w, key, d->type == OPTION_FLAG ? NULL : value))
			return err_nomem(e);
	}
	return true;
}

static bool run_verb(struct verb_answers *a, const struct verb *v, struct words *w, FILE *out,
	struct incore_error *e)
{
	struct capture_cache captures;
	struct cli c = {.verb = v,
		.out = out,
		.pool = a->pool,
		.reader = read_once,
		.reader_ctx = a,
		.captures = &captures,
		.opened = &a->captures};
	const char *wants_help;
	int status = INCORE_USAGE;

	capture_cache_init(&captures);
	if (options_parse(&c, (int)w->n, w->v, &wants_help) && !wants_help) {
		c.use_json = cli_flag(&c, "json");
		status = v->run(&c);
	}
	if ((status == INCORE_OK || status == INCORE_NO) && c.warnings.failed) {
		err_nomem(&c.error);
		status = INCORE_FAILED;
	}
	a->n_warned += c.n_warnings > 0;
	err_move(e, &c.error);
	sb_free(&c.warnings);
	options_free(&c);
	capture_cache_deinit(&captures);
	return status == INCORE_OK || status == INCORE_NO;
}

static void drop_words(struct words *w)
{
	for (unsigned i = 0; i < w->n; i++)
		mem_free(w->v[i]);
}

/* Runs the verb on the words; frees them. */
static bool run_words(struct verb_answers *a, const struct verb *v, struct words *w,
	struct strbuf *out, struct incore_error *e)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	bool ok = f ? run_verb(a, v, w, f, e) : err_nomem(e);

	if (f && fclose(f) != 0 && ok)
		ok = err_nomem(e);
	if (ok && !sb_add(out, text, n))
		ok = err_nomem(e);
	free(text);
	drop_words(w);
	return ok;
}

/* "--", after which nothing is an option, then the paths. */
static bool add_paths(struct words *w, const char *const *paths, unsigned n)
{
	bool ok = add_word(w, "", NULL);

	for (unsigned i = 0; ok && i < n; i++)
		ok = add_word(w, NULL, paths[i]);
	return ok;
}

static bool hand_on(struct words *w, const struct verb_answers *a, const struct option_list *list)
{
	for (const char *const *name = handed_on; *name; name++)
		if (cli_has(a->view, *name) && find_option(list, *name) &&
			!add_word(w, *name, cli_text(a->view, *name)))
			return false;
	return true;
}

/* Which capture, and how it is read: as the viewer was told. */
static bool set_capture_options(
	const struct verb_answers *a, struct request *r, struct incore_error *e)
{
	for (const char *const *name = handed_on; *name; name++)
		if (cli_has(a->view, *name) && request_option(r->question, *name) &&
			!request_set(r, *name, cli_text(a->view, *name), e))
			return false;
	return true;
}

static bool set_from_query(struct request *r, const struct query *q, struct incore_error *e)
{
	for (unsigned i = 0; i < q->n; i++) {
		const char *key = q->pair[i].key, *value = q->pair[i].value;
		const struct option_def *d = request_option(r->question, key);

		if (!strcmp(key, "c") || !strcmp(key, "base") || !strcmp(key, "h"))
			continue;
		if (!strcmp(key, "k") && (r->question->groups & OPTIONS_SELECT)) {
			if (!query_number(q, "k", QUERY_NEEDED, UINT32_MAX, &r->kernel_id, e))
				return false;
			continue;
		}
		if (!d || !is_allowed(d))
			return err_set(e, INCORE_USAGE, "bad-query",
				"%s has no option %s for a viewer", q->name, key);
		if (d->type == OPTION_FLAG && strcmp(value, "1") != 0)
			return err_set(e, INCORE_USAGE, "bad-query", "%s wants 1", key);
		if (!request_set(r, key, value, e))
			return false;
	}
	return true;
}

static bool put_answer(
	struct verb_answers *a, const struct request *r, struct strbuf *out, struct incore_error *e)
{
	struct json_writer w;
	struct answer answer;
	bool ok = answer_ask(r, &answer, e);

	if (ok) {
		json_w_buf(&w, out, 1);
		answer_json(&answer, &w);
		ok = json_w_finish(&w, e);
	}
	a->n_warned += answer.warnings.n > 0;
	answer_deinit(&answer);
	return ok;
}

static bool ask_question(struct verb_answers *a, const struct question *question,
	const struct query *q, const char *const *paths, unsigned n_paths, struct strbuf *out,
	struct incore_error *e)
{
	struct request r;
	bool ok;

	if (!request_init(&r, question, e))
		return false;
	r.paths = paths;
	r.n_paths = n_paths;
	r.captures = &a->captures;
	r.pool = a->pool;
	ok = set_capture_options(a, &r, e) && set_from_query(&r, q, e) && put_answer(a, &r, out, e);
	request_deinit(&r);
	return ok;
}

bool verb_answer(struct verb_answers *a, const struct query *q, const char *const *paths,
	unsigned n_paths, struct strbuf *out, struct incore_error *e)
{
	const struct verb *v = verb_answer_is(q->name) ? verb_find(q->name) : NULL;
	struct option_list list;
	struct words w = {0};

	if (!v)
		return err_set(e, INCORE_NO, "no-such-answer", "there is no such verb");
	if (v->question)
		return ask_question(a, v->question, q, paths, n_paths, out, e);
	options_of(v, &list);
	if (!add_word(&w, "json", NULL) || !hand_on(&w, a, &list)) {
		drop_words(&w);
		return err_nomem(e);
	}
	if (!add_pairs(&w, q, &list, e) || !add_kernel(a, &w, q, paths[0], e) ||
		(!add_paths(&w, paths, n_paths) && !err_nomem(e))) {
		drop_words(&w);
		return false;
	}
	return run_words(a, v, &w, out, e);
}

bool verb_answer_text(struct verb_answers *a, const char *name, const char *const *paths,
	unsigned n_paths, struct strbuf *out, struct incore_error *e)
{
	const struct verb *v = verb_find(name);
	struct option_list list;
	struct words w = {0};

	options_of(v, &list);
	if (!hand_on(&w, a, &list) || !add_paths(&w, paths, n_paths)) {
		drop_words(&w);
		return err_nomem(e);
	}
	return run_words(a, v, &w, out, e);
}

void cli_warn_unread(struct cli *c, uint64_t n)
{
	if (!n)
		return;
	c->n_losses++;
	cli_warn(c,
		"%llu track%s could not be read: the timeline lacks %s (incore check says more)",
		(unsigned long long)n, plural(n), n == 1 ? "it" : "them");
}
