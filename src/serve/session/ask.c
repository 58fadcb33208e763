/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ask.c: answers of verbs about the captures of a session. Parts: asking; answers that are kept.
 */
#include "base/mem.h"
#include "serve/session/session_internal.h"

/* --- asking ----------------------------------------------------------------------------------- */

/*
 * Turns a URL into a request, and the answer into the same JSON bytes as the command line.
 */

static bool session_ask_is_in(const char *const *list, const char *name)
{
	for (; *list; list++)
		if (strcmp(*list, name) == 0)
			return true;
	return false;
}

bool session_asks_kernel(const char *question)
{
	const struct question *q = question_find(question);

	return q && q->groups & OPTIONS_SELECT;
}

static bool session_ask_set_option(struct request *r, const struct query *q, const char *key,
	const char *value, struct incore_error *e)
{
	const struct option_def *d = request_option(r->question, key);

	if (!d || d->names_file || !(d->reach & REACH_HTTP))
		return err_set(e, INCORE_USAGE, "bad-query", "%s has no option %s for a viewer",
			q->name, key);
	if (d->type == OPTION_FLAG && strcmp(value, "1") != 0)
		return err_set(e, INCORE_USAGE, "bad-query", "%s wants 1", key);
	return request_set(r, key, value, e);
}

/* Sets options from the keys of a query, except the captures, the hash of the shown capture, and k,
 * the number of a kernel. */
static bool set_from_query(struct request *r, const struct query *q, struct incore_error *e)
{
	static const char *const others[] = {"c", "base", "h", NULL};

	for (unsigned i = 0; i < q->n; i++) {
		const char *key = q->pair[i].key;
		bool ok = true;

		if (!strcmp(key, "k") && session_asks_kernel(q->name))
			ok = query_number(q, "k", QUERY_NEEDED, UINT32_MAX, &r->kernel_id, e);
		else if (!session_ask_is_in(others, key))
			ok = session_ask_set_option(r, q, key, q->pair[i].value, e);
		if (!ok)
			return false;
	}
	return true;
}

static bool session_ask_make_request(struct session *s, const struct question *q,
	const char *const paths[2], struct request *out, struct incore_error *e)
{
	if (!request_init(out, q, e))
		return false;
	out->paths = paths;
	out->n_paths = q->min_paths;
	out->captures = &s->captures;
	out->pool = s->ask_pool;
	if (request_read_as(out, &s->reading, e))
		return true;
	request_deinit(out);
	return false;
}

/* ask.c: writes the answer to q->name about the first path, or about both if it compares. */
static bool session_put_answer(struct session *s, const struct query *q, const char *const paths[2],
	struct strbuf *out, struct incore_error *e)
{
	struct json_writer w;
	struct answer a = {0};
	struct request r;
	bool ok;

	if (!session_ask_make_request(s, question_find(q->name), paths, &r, e))
		return false;
	ok = set_from_query(&r, q, e) && answer_ask(&r, &a, e);
	if (ok) {
		json_w_buf(&w, out, 1);
		answer_json(&a, &w);
		ok = json_w_finish(&w, e);
	}
	s->n_warned += a.warnings.n > 0;
	answer_deinit(&a);
	request_deinit(&r);
	return ok;
}

bool session_ask(struct session *s, const char *question, unsigned capture, struct answer *out,
	struct incore_error *e)
{
	const char *paths[] = {s->v[capture].path, s->v[capture + 1 < s->n ? capture + 1 : 0].path};
	struct request r;
	bool ok;

	*out = (struct answer){0};
	if (!session_ask_make_request(s, question_find(question), paths, &r, e))
		return false;
	r.is_for_people = true;
	ok = answer_ask(&r, out, e);
	request_deinit(&r);
	return ok;
}

unsigned session_warned(const struct session *s)
{
	return s->n_warned;
}

/* --- answers that are kept -------------------------------------------------------------------- */

/*
 * Answers of the verbs, with the same bytes and from the same code as the command line, one verb at
 * a time. Answers are cached, as the data never changes; cached ones need not wait.
 */

#define KEPT_MAX_BYTES ((size_t)48 << 20)

struct session_kept { /* newest first */
	struct session_kept *next;
	char *question;
	struct strbuf text;
};

void session_forget(struct session *s)
{
	while (s->kept) {
		struct session_kept *k = s->kept;

		s->kept = k->next;
		sb_free(&k->text);
		mem_free(k->question);
		mem_free(k);
	}
	s->kept_bytes = 0;
}

/* Copies a cached answer to *out; false: not cached. Lack of memory sets out->failed. */
static bool tell_kept(struct session *s, struct str question, struct strbuf *out)
{
	const struct session_kept *k;

	pthread_mutex_lock(&s->kept_lock);
	for (k = s->kept; k && !str_is(question, k->question);)
		k = k->next;
	if (k)
		sb_add(out, k->text.p, k->text.n);
	pthread_mutex_unlock(&s->kept_lock);
	return k != NULL;
}

static void view_verb_drop_oldest(struct session *s)
{
	struct session_kept **at = &s->kept, *last;

	while ((*at)->next)
		at = &(*at)->next;
	last = *at;
	*at = NULL;
	s->kept_bytes -= last->text.n;
	sb_free(&last->text);
	mem_free(last->question);
	mem_free(last);
}

/* Caches a copy of the answer; on lack of memory the answer is just computed again later. */
static void view_verb_keep(struct session *s, struct str question, const struct strbuf *text)
{
	struct session_kept *k = mem_zalloc(1, sizeof(*k));

	if (!k || text->n > KEPT_MAX_BYTES / 2) {
		mem_free(k);
		return;
	}
	k->question = mem_strndup(question.p, question.n);
	if (!k->question || !sb_add(&k->text, text->p, text->n)) {
		sb_free(&k->text);
		mem_free(k->question);
		mem_free(k);
		return;
	}
	pthread_mutex_lock(&s->kept_lock);
	k->next = s->kept;
	s->kept = k;
	s->kept_bytes += text->n;
	while (s->kept_bytes > KEPT_MAX_BYTES && s->kept->next)
		view_verb_drop_oldest(s);
	pthread_mutex_unlock(&s->kept_lock);
}

bool session_verb(struct session *s, const struct query *q, struct str target, struct strbuf *out,
	struct incore_error *e)
{
	struct session_capture *c = session_capture(s, q, "c", e), *base;
	const char *paths[2];
	bool ok = true;

	if (!c || !(base = session_capture(s, q, "base", e)))
		return false;
	paths[0] = c->path;
	paths[1] = base->path;
	if (tell_kept(s, target, out))
		return !out->failed || err_nomem(e);
	pthread_mutex_lock(&s->verb_lock);
	if (!tell_kept(s, target, out)) { /* not answered meanwhile by another thread */
		ok = session_put_answer(s, q, paths, out, e);
		if (ok && !out->failed)
			view_verb_keep(s, target, out);
	}
	pthread_mutex_unlock(&s->verb_lock);
	return ok && (!out->failed || err_nomem(e));
}
