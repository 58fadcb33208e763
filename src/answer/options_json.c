/* SPDX-License-Identifier: Apache-2.0 */
/* options_json.c: options of a question as a JSON object. */
#include "answer/answer.h"
#include "answer/captures.h"
#include "answer/request.h"
#include "base/arena.h"
#include "codec/json_reader.h"

static bool set_text(struct request *r, const char *name, struct json_reader *j, struct arena *a,
	struct incore_error *e)
{
	struct str s;
	char *copy;

	if (!json_get_str(j, &s))
		return false;
	copy = arena_strndup(a, s.p, s.n);
	return copy ? request_set(r, name, copy, e) : err_nomem(e);
}

static bool set_number(struct request *r, const char *name, struct json_reader *j, struct arena *a,
	struct incore_error *e)
{
	uint64_t v;
	char *copy;

	if (!json_get_u64(j, &v))
		return false;
	copy = arena_printf(a, "%llu", (unsigned long long)v);
	return copy ? request_set(r, name, copy, e) : err_nomem(e);
}

static bool set_flag(
	struct request *r, const char *name, struct json_reader *j, struct incore_error *e)
{
	bool v;

	if (!json_get_bool(j, &v))
		return false;
	return !v || request_set(r, name, NULL, e);
}

static bool set_many(struct request *r, const char *name, struct json_reader *j, struct arena *a,
	struct incore_error *e)
{
	json_enter_array(j);
	while (json_next_item(j))
		if (!set_text(r, name, j, a, e))
			return false;
	return true;
}

static bool set_one(struct request *r, struct str key, struct json_reader *j, struct arena *a,
	struct incore_error *e)
{
	const char *name = arena_strndup(a, key.p, key.n);
	const struct option_def *d = name ? request_option(r->question, name) : NULL;

	if (!name)
		return err_nomem(e);
	if (!d)
		return err_set(e, INCORE_USAGE, "unknown-option", "%s has no option '%s'",
			r->question->name, name);
	if (d->type == OPTION_FLAG)
		return set_flag(r, name, j, e);
	switch (json_peek(j)) {
	case JSON_STRING:
	case JSON_INVALID: /* the reader says what is wrong */
		return set_text(r, name, j, a, e);
	case JSON_NUMBER:
		return set_number(r, name, j, a, e);
	case JSON_ARRAY:
		if (d->type == OPTION_MANY)
			return set_many(r, name, j, a, e);
		break;
	default:
		break;
	}
	return json_reject(j, "bad-type", "option %s wants a text or a number", name);
}

bool request_set_json(
	struct request *r, const char *options, struct arena *a, struct incore_error *e)
{
	struct json_reader j;
	struct strbuf text = {0};
	struct str key;
	bool ok = true;

	captures_follow_links(r->captures, false);
	if (!options)
		return true;
	/* the reader wants some bytes behind the text */
	if (!sb_puts(&text, options) || !sb_reserve(&text, JSON_PAD)) {
		sb_free(&text);
		return err_nomem(e);
	}
	memset(text.p + text.n, 0, JSON_PAD);
	json_init(&j, text.p, text.n, NULL, 0);
	for (json_enter_object(&j); ok && json_next_key(&j, &key);)
		ok = set_one(r, key, &j, a, e) && !j.is_failed;
	if (ok || j.is_failed)
		ok = json_finish(&j, e) || err_wrap(e, "reading the options");
	if (!ok && e->status == INCORE_BAD_INPUT)
		e->status = INCORE_USAGE;
	if (ok)
		captures_follow_links(r->captures, r->follow_links);
	json_deinit(&j);
	sb_free(&text);
	return ok;
}
