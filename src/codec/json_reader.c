/* SPDX-License-Identifier: Apache-2.0 */
/* json_reader.c: containers, simple values and errors of the JSON reader. */
#include "codec/json_reader.h"

#include <stdarg.h>
#include <stdio.h>

#include "codec/json_core.h"

bool(json_stop)(struct json_reader *r, const char *at, const char *code, const char *fmt, ...)
{
	va_list ap;

	if (r->is_failed)
		return false;
	r->is_failed = true;
	r->fail_at = at < r->end ? at : r->end;
	r->fail_code = code;
	va_start(ap, fmt);
	vsnprintf(r->fail_text, sizeof(r->fail_text), fmt, ap);
	va_end(ap);
	return false;
}

static const char *name_of_byte(const struct json_reader *r, char buf[16])
{
	char c = json_cur(r);

	switch (c) {
	case '"':
		return "a string";
	case '{':
		return "an object";
	case '[':
		return "an array";
	case ']':
		return "the end of the array";
	case '}':
		return "the end of the object";
	case 't':
	case 'f':
		return "a boolean";
	case 'n':
		return "null";
	default:
		break;
	}
	if (c == '-' || (c >= '0' && c <= '9'))
		return "a number";
	snprintf(buf, 16, c > ' ' && c <= '~' ? "'%c'" : "byte 0x%02x", (unsigned char)c);
	return buf;
}

bool(json_stop_expected)(struct json_reader *r, const char *what)
{
	char buf[16], c = json_cur(r);
	/* a value of the wrong type, or an array that is too short: still well-formed */
	bool is_value = c && strchr("\"{[tfn-0123456789", c);
	bool is_short = c == ']' || (c == '}' && r->need_comma);

	if (r->p >= r->end)
		return json_stop(
			r, r->end, "truncated", "expected %s, found the end of input", what);
	return json_stop(r, r->p, is_value || is_short ? "bad-type" : "bad-json",
		"expected %s, found %s", what, name_of_byte(r, buf));
}

bool(json_stop_comma)(struct json_reader *r)
{
	char buf[16];

	if (r->depth == 0)
		return json_stop(r, r->p, "bad-json", "unexpected text after the end of the value");
	if (r->p >= r->end)
		return json_stop(r, r->end, "truncated", "input ends inside an array or object");
	if (!r->need_comma)
		return json_stop(r, r->p, "bad-json", "nothing follows the ','");
	return json_stop(r, r->p, "bad-json", "expected ',' or the end of the container, found %s",
		name_of_byte(r, buf));
}

void json_init(
	struct json_reader *r, const void *data, size_t size, const char *path, unsigned flags)
{
	*r = (struct json_reader){.p = data,
		.start = data,
		.end = (const char *)data + size,
		.value_at = data,
		.path = path,
		.flags = flags};
	if ((flags & JSON_TOLERANT) && size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		r->p += 3;
}

void json_deinit(struct json_reader *r)
{
	sb_free(&r->scratch);
	sb_free(&r->key_scratch);
}

enum json_type json_peek(struct json_reader *r)
{
	if (!json_begin_value(r))
		return JSON_INVALID;
	switch (json_cur(r)) {
	case '{':
		return JSON_OBJECT;
	case '[':
		return JSON_ARRAY;
	case '"':
		return JSON_STRING;
	case 't':
	case 'f':
		return JSON_BOOL;
	case 'n':
		return JSON_NULL;
	case '-':
	case '0':
	case '1':
	case '2':
	case '3':
	case '4':
	case '5':
	case '6':
	case '7':
	case '8':
	case '9':
		return JSON_NUMBER;
	default:
		return JSON_INVALID;
	}
}

static bool enter(struct json_reader *r, char open, const char *what)
{
	if (!json_begin_value(r))
		return false;
	if (json_cur(r) != open)
		return json_stop_expected(r, what);
	if (r->depth >= JSON_MAX_DEPTH)
		return json_stop(
			r, r->p, "too-deep", "nested deeper than %d levels", JSON_MAX_DEPTH);
	r->p++;
	r->depth++;
	r->need_comma = false;
	return true;
}

static bool leave(struct json_reader *r, size_t n_bytes)
{
	r->value_at = r->p;
	r->p += n_bytes;
	r->depth--;
	r->need_comma = true;
	return false;
}

/* Moves to the next member: true if one must follow, false at the end or on an error. */
static bool next_member(struct json_reader *r, char close)
{
	bool is_tolerant = (r->flags & JSON_TOLERANT) != 0;
	char c;

	if (r->is_failed || r->depth == 0)
		return false;
	json_space(r);
	c = json_cur(r);
	if (c == close)
		return leave(r, 1);
	if (r->need_comma && c == ',') {
		r->p++;
		json_space(r);
		r->need_comma = false;
		c = json_cur(r);
		if (c == close)
			return is_tolerant ? leave(r, 1) : json_stop_comma(r);
	}
	if (r->p >= r->end && is_tolerant)
		return leave(r, 0);
	if (r->need_comma || r->p >= r->end)
		return json_stop_comma(r);
	r->value_at = r->p;
	return true;
}

bool json_enter_object(struct json_reader *r)
{
	return enter(r, '{', "an object");
}

bool json_next_key(struct json_reader *r, struct str *key)
{
	const char *at;
	struct str s;
	char buf[16];

	if (!next_member(r, '}'))
		return false;
	at = r->p;
	if (*at != '"')
		return json_stop(
			r, at, "bad-json", "expected a key, found %s", name_of_byte(r, buf));
	if (!json_scan_string(r, &s, &r->key_scratch))
		return false;
	json_space(r);
	if (json_cur(r) != ':') {
		if (r->p >= r->end)
			return json_stop_expected(r, "':'");
		return json_stop(r, r->p, "bad-json", "expected ':' after the key");
	}
	r->p++;
	r->value_at = at;
	*key = s;
	return true;
}

bool json_enter_array(struct json_reader *r)
{
	return enter(r, '[', "an array");
}

bool json_next_item(struct json_reader *r)
{
	if (!next_member(r, ']'))
		return false;
	if (*r->p == '}')
		return json_stop(r, r->p, "bad-json", "expected ']', found '}'");
	return true;
}

bool json_enter_object_or_null(struct json_reader *r)
{
	if (json_peek(r) == JSON_NULL)
		return json_get_null(r) && false;
	return json_enter_object(r);
}

bool json_enter_array_or_null(struct json_reader *r)
{
	if (json_peek(r) == JSON_NULL)
		return json_get_null(r) && false;
	return json_enter_array(r);
}

/* Reads the given word at the next byte; `what` is for the message. */
static bool get_word(struct json_reader *r, const char *word, const char *what)
{
	size_t left = (size_t)(r->end - r->p), n = strlen(word);

	if (left >= n && memcmp(r->p, word, n) == 0)
		return json_end_value(r, r->p + n);
	if (left < n && left > 0 && memcmp(r->p, word, left) == 0)
		return json_stop(r, r->end, "truncated", "input ends inside %s", word);
	if (json_cur(r) == *word)
		return json_stop(r, r->p, "bad-json", "expected %s, found an unknown word", what);
	return json_stop_expected(r, what);
}

bool json_get_bool(struct json_reader *r, bool *out)
{
	bool is_true;

	if (!json_begin_value(r))
		return false;
	is_true = json_cur(r) == 't';
	if (!get_word(r, is_true ? "true" : "false", "a boolean"))
		return false;
	*out = is_true;
	return true;
}

bool json_get_null(struct json_reader *r)
{
	return json_begin_value(r) && get_word(r, "null", "null");
}

bool json_get_str(struct json_reader *r, struct str *out)
{
	struct str s;

	if (!json_begin_value(r))
		return false;
	if (json_cur(r) != '"')
		return json_stop_expected(r, "a string");
	if (!json_scan_string(r, &s, &r->scratch))
		return false;
	r->need_comma = true;
	*out = s;
	return true;
}

bool json_get_str_or_null(struct json_reader *r, struct str *out)
{
	if (json_peek(r) != JSON_NULL)
		return json_get_str(r, out);
	if (!json_get_null(r))
		return false;
	*out = (struct str){NULL, 0};
	return true;
}

bool json_reject(struct json_reader *r, const char *code, const char *fmt, ...)
{
	char text[sizeof(r->fail_text)];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return json_stop(r, r->value_at, code ? code : "bad-value", "%s", text);
}

bool json_once(struct json_reader *r, uint64_t *seen, unsigned bit, struct str key)
{
	uint64_t mask = UINT64_C(1) << (bit & 63);

	if (r->is_failed)
		return false;
	if (*seen & mask)
		return json_reject(r, "duplicate-key", "the key '%.*s' is there twice",
			(int)(key.n < 40 ? key.n : 40), key.p);
	*seen |= mask;
	return true;
}

uint64_t json_offset(const struct json_reader *r)
{
	return (uint64_t)(r->p - r->start);
}

bool json_finish(struct json_reader *r, struct incore_error *e)
{
	if (!r->is_failed) {
		json_space(r);
		if (r->p < r->end)
			json_stop(
				r, r->p, "bad-json", "unexpected text after the end of the value");
		else if (r->depth > 0 && !(r->flags & JSON_TOLERANT))
			json_stop_comma(r);
	}
	return r->is_failed ? json_fail(r, e) : true;
}

bool json_fail(struct json_reader *r, struct incore_error *e)
{
	const char *line = r->start, *at = r->fail_at, *next;
	uint32_t n_lines = 1;

	if (!r->is_failed)
		return err_set(e, INCORE_BAD_INPUT, "bad-json", "malformed JSON");
	if (strcmp(r->fail_code, "no-memory") == 0)
		return err_nomem(e);
	err_file(e, r->fail_code, r->path, (uint64_t)(at - r->start), "%s", r->fail_text);
	if (!e)
		return false;
	while (line < at && (next = memchr(line, '\n', (size_t)(at - line))) != NULL) {
		line = next + 1;
		n_lines++;
	}
	e->line = n_lines;
	e->column = (uint32_t)(at - line) + 1;
	return false;
}
