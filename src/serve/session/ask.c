/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c: turns a URL into a request, and the answer into the same JSON bytes as the command
 * line. */
#include "serve/session/session_internal.h"

static bool is_in(const char *const *list, const char *name)
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

static bool set_option(struct request *r, const struct query *q, const char *key, const char *value,
	struct incore_error *e)
{
	const struct option_def *d = request_option(r->question, key);

	if (!d || !(d->reach & REACH_HTTP))
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
		else if (!is_in(others, key))
			ok = set_option(r, q, key, q->pair[i].value, e);
		if (!ok)
			return false;
	}
	return true;
}

static bool make_request(struct session *s, const struct question *q, const char *const paths[2],
	struct request *out, struct incore_error *e)
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

bool session_put_answer(struct session *s, const struct query *q, const char *const paths[2],
	struct strbuf *out, struct incore_error *e)
{
	struct json_writer w;
	struct answer a = {0};
	struct request r;
	bool ok;

	if (!make_request(s, question_find(q->name), paths, &r, e))
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
	if (!make_request(s, question_find(question), paths, &r, e))
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
