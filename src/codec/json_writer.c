/* SPDX-License-Identifier: Apache-2.0 */
/* json_writer.c: streaming JSON to a file or a buffer. */
#include "codec/json_writer.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/file.h"

static void json_writer_put_bytes(struct json_writer *w, const char *p, size_t n)
{
	if (w->is_failed || n == 0)
		return;
	if (w->sb)
		w->is_failed = !sb_add(w->sb, p, n);
	else
		w->is_failed = fwrite(p, 1, n, w->file) != n;
}

static uint64_t level_bit(unsigned depth)
{
	return UINT64_C(1) << (depth & 63);
}

static bool in_row(const struct json_writer *w)
{
	return w->depth > 0 && (w->is_row & level_bit(w->depth - 1));
}

static void new_line(struct json_writer *w)
{
	static const char blanks[] = "                                ";
	size_t left = (size_t)w->indent * w->depth;

	json_writer_put_bytes(w, "\n", 1);
	while (left > 0) {
		size_t n = left < sizeof(blanks) - 1 ? left : sizeof(blanks) - 1;

		json_writer_put_bytes(w, blanks, n);
		left -= n;
	}
}

/* Writes what precedes an item of the open container: a comma, a new line, or nothing. */
static void before_item(struct json_writer *w)
{
	uint64_t bit;

	if (w->after_key) {
		w->after_key = false;
		return;
	}
	if (w->depth == 0)
		return;
	bit = level_bit(w->depth - 1);
	if (w->has_item & bit)
		json_writer_put_bytes(w, ", ", w->indent && in_row(w) ? 2 : 1);
	w->has_item |= bit;
	if (w->indent && !in_row(w))
		new_line(w);
}

static void open_container(struct json_writer *w, bool is_object, bool is_row)
{
	uint64_t bit;

	if (w->depth >= JSON_W_MAX_DEPTH) {
		w->is_failed = true;
		return;
	}
	is_row = is_row || in_row(w); /* containers inside a row stay on its line */
	before_item(w);
	bit = level_bit(w->depth++);
	w->has_item &= ~bit;
	w->is_object = is_object ? w->is_object | bit : w->is_object & ~bit;
	w->is_row = is_row ? w->is_row | bit : w->is_row & ~bit;
	json_writer_put_bytes(w, is_object ? "{" : "[", 1);
}

void json_w_file(struct json_writer *w, FILE *file, unsigned indent)
{
	*w = (struct json_writer){.file = file, .indent = indent};
}

void json_w_buf(struct json_writer *w, struct strbuf *sb, unsigned indent)
{
	*w = (struct json_writer){.sb = sb, .indent = indent};
}

void json_w_object(struct json_writer *w)
{
	open_container(w, true, false);
}

void json_w_array(struct json_writer *w)
{
	open_container(w, false, false);
}

void json_w_row(struct json_writer *w)
{
	open_container(w, false, true);
}

void json_w_row_object(struct json_writer *w)
{
	open_container(w, true, true);
}

void json_w_end(struct json_writer *w)
{
	bool is_multi_line;
	uint64_t bit;

	if (w->depth == 0 || w->after_key) {
		w->is_failed = true;
		return;
	}
	bit = level_bit(w->depth - 1);
	is_multi_line = w->indent && (w->has_item & bit) && !(w->is_row & bit);
	w->depth--;
	if (is_multi_line)
		new_line(w);
	json_writer_put_bytes(w, w->is_object & bit ? "}" : "]", 1);
	if (w->depth == 0 && w->indent)
		json_writer_put_bytes(w, "\n", 1);
}

/* Writes a byte that must be escaped. */
static void json_writer_put_escape(struct json_writer *w, unsigned char c)
{
	static const char from[] = "\"\\\b\f\n\r\t", to[] = "\"\\bfnrt";
	const char *at = c ? strchr(from, c) : NULL;
	char text[8];

	if (at)
		snprintf(text, sizeof(text), "\\%c", to[at - from]);
	else
		snprintf(text, sizeof(text), "\\u%04x", c);
	json_writer_put_bytes(w, text, strlen(text));
}

static void put_string(struct json_writer *w, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t from = 0, i = 0;

	json_writer_put_bytes(w, "\"", 1);
	while (i < s.n) {
		size_t n;

		if (p[i] >= 0x20 && p[i] < 0x7f && p[i] != '"' && p[i] != '\\') {
			i++;
			continue;
		}
		n = p[i] >= 0x80 ? utf8_length(p + i, s.n - i) : 0;
		if (n) {
			i += n;
			continue;
		}
		json_writer_put_bytes(w, s.p + from, i - from);
		if (p[i] < 0x80)
			json_writer_put_escape(w, p[i]);
		else
			json_writer_put_bytes(w, "\xef\xbf\xbd", 3);
		from = ++i;
	}
	if (from < s.n)
		json_writer_put_bytes(w, s.p + from, s.n - from);
	json_writer_put_bytes(w, "\"", 1);
}

void json_w_key_str(struct json_writer *w, struct str key)
{
	if (w->depth == 0 || !(w->is_object & level_bit(w->depth - 1)) || w->after_key) {
		w->is_failed = true;
		return;
	}
	before_item(w);
	put_string(w, key);
	json_writer_put_bytes(w, ": ", w->indent ? 2 : 1);
	w->after_key = true;
}

void json_w_key(struct json_writer *w, const char *key)
{
	json_w_key_str(w, str_of(key));
}

void json_w_i64(struct json_writer *w, int64_t v)
{
	uint64_t magnitude = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	char buf[24], *p = buf + sizeof(buf);

	do {
		*--p = (char)('0' + magnitude % 10);
		magnitude /= 10;
	} while (magnitude);
	if (v < 0)
		*--p = '-';
	before_item(w);
	json_writer_put_bytes(w, p, (size_t)(buf + sizeof(buf) - p));
}

void json_w_raw(struct json_writer *w, struct str json)
{
	before_item(w);
	json_writer_put_bytes(w, json.p, json.n);
}

void json_w_u64(struct json_writer *w, uint64_t v)
{
	char buf[24], *p = buf + sizeof(buf);

	do {
		*--p = (char)('0' + v % 10);
		v /= 10;
	} while (v);
	before_item(w);
	json_writer_put_bytes(w, p, (size_t)(buf + sizeof(buf) - p));
}

void json_w_double(struct json_writer *w, double v, int digits)
{
	char buf[400];
	char *point;
	int n;

	if (!isfinite(v)) {
		json_w_null(w);
		return;
	}
	if (digits < 0 || digits > 40)
		digits = 17;
	n = snprintf(buf, sizeof(buf), "%.*f", digits, v);
	if (n < 0 || (size_t)n >= sizeof(buf)) {
		w->is_failed = true;
		return;
	}
	point = strpbrk(buf, ".,"); /* ',' under a foreign locale */
	if (point) {
		char *end = buf + n;

		*point = '.';
		while (end[-1] == '0')
			*--end = 0;
		if (end[-1] == '.')
			*--end = 0;
	}
	before_item(w);
	if (strcmp(buf, "-0") == 0)
		json_writer_put_bytes(w, "0", 1);
	else
		json_writer_put_bytes(w, buf, strlen(buf));
}

void json_w_sig(struct json_writer *w, double v, int digits)
{
	char buf[64], *point;
	int n;

	if (!isfinite(v)) {
		json_w_null(w);
		return;
	}
	if (digits < 1 || digits > 17)
		digits = 17;
	n = snprintf(buf, sizeof(buf), "%.*g", digits, v);
	if (n < 0 || (size_t)n >= sizeof(buf)) {
		w->is_failed = true;
		return;
	}
	point = strchr(buf, ','); /* a foreign locale */
	if (point)
		*point = '.';
	before_item(w);
	json_writer_put_bytes(w, buf, (size_t)n);
}

void json_w_bool(struct json_writer *w, bool v)
{
	before_item(w);
	json_writer_put_bytes(w, v ? "true" : "false", v ? 4 : 5);
}

void json_w_null(struct json_writer *w)
{
	before_item(w);
	json_writer_put_bytes(w, "null", 4);
}

void json_w_str(struct json_writer *w, struct str s)
{
	before_item(w);
	put_string(w, s);
}

void json_w_cstr(struct json_writer *w, const char *s)
{
	if (s)
		json_w_str(w, str_of(s));
	else
		json_w_null(w);
}

void json_w_kv_i64(struct json_writer *w, const char *key, int64_t v)
{
	json_w_key(w, key);
	json_w_i64(w, v);
}

void json_w_kv_u64(struct json_writer *w, const char *key, uint64_t v)
{
	json_w_key(w, key);
	json_w_u64(w, v);
}

void json_w_kv_double(struct json_writer *w, const char *key, double v, int digits)
{
	json_w_key(w, key);
	json_w_double(w, v, digits);
}

void json_w_kv_bool(struct json_writer *w, const char *key, bool v)
{
	json_w_key(w, key);
	json_w_bool(w, v);
}

void json_w_kv_null(struct json_writer *w, const char *key)
{
	json_w_key(w, key);
	json_w_null(w);
}

void json_w_kv_str(struct json_writer *w, const char *key, struct str s)
{
	json_w_key(w, key);
	json_w_str(w, s);
}

void json_w_kv_cstr(struct json_writer *w, const char *key, const char *s)
{
	json_w_key(w, key);
	json_w_cstr(w, s);
}

void json_w_kv_object(struct json_writer *w, const char *key)
{
	json_w_key(w, key);
	json_w_object(w);
}

void json_w_kv_array(struct json_writer *w, const char *key)
{
	json_w_key(w, key);
	json_w_array(w);
}

void json_w_kv_row(struct json_writer *w, const char *key)
{
	json_w_key(w, key);
	json_w_row(w);
}

void json_w_kv_row_object(struct json_writer *w, const char *key)
{
	json_w_key(w, key);
	json_w_row_object(w);
}

bool json_w_finish(struct json_writer *w, struct incore_error *e)
{
	if (w->sb && w->sb->failed)
		return err_nomem(e);
	if (w->file && ferror(w->file))
		return err_write(e);
	if (w->depth > 0 || w->after_key || w->is_failed)
		return err_set(e, INCORE_FAILED, "internal", "JSON was left unfinished");
	return true;
}
