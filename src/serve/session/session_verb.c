/* SPDX-License-Identifier: Apache-2.0 */
/*
 * session_verb.c: answers of the verbs, with the same bytes and from the same code as the command
 * line, one verb at a time. Answers are cached, as the data never changes; cached ones need not
 * wait.
 */
#include "base/mem.h"
#include "serve/session/session_internal.h"

#define KEPT_MAX_BYTES ((size_t)48 << 20)

struct kept { /* newest first */
	struct kept *next;
	char *question;
	struct strbuf text;
};

void session_forget(struct session *s)
{
	while (s->kept) {
		struct kept *k = s->kept;

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
	const struct kept *k;

	pthread_mutex_lock(&s->kept_lock);
	for (k = s->kept; k && !str_is(question, k->question);)
		k = k->next;
	if (k)
		sb_add(out, k->text.p, k->text.n);
	pthread_mutex_unlock(&s->kept_lock);
	return k != NULL;
}

static void drop_oldest(struct session *s)
{
	struct kept **at = &s->kept, *last;

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
static void keep(struct session *s, struct str question, const struct strbuf *text)
{
	struct kept *k = mem_zalloc(1, sizeof(*k));

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
		drop_oldest(s);
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
			keep(s, target, out);
	}
	pthread_mutex_unlock(&s->verb_lock);
	return ok && (!out->failed || err_nomem(e));
}
