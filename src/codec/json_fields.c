/* SPDX-License-Identifier: Apache-2.0 */
/* json_fields.c: converts between JSON objects and structs by a table of members. */
#include "codec/json_fields.h"

static bool json_fields_get_word(
	struct json_reader *r, const char *(*word)(unsigned), uint64_t *out)
{
	struct str s;

	if (!json_get_str(r, &s))
		return false;
	for (unsigned i = 0; word(i); i++)
		if (str_is(s, word(i))) {
			*out = i;
			return true;
		}
	return json_reject(r, NULL, "unknown word \"%.*s\"", (int)(s.n < 40 ? s.n : 40), s.p);
}

static bool json_fields_get_number(struct json_reader *r, unsigned size, uint64_t *out)
{
	uint32_t v, most = size < sizeof(v) ? (UINT32_C(1) << 8 * size) - 1 : UINT32_MAX;

	if (size == sizeof(*out))
		return json_get_u64(r, out);
	if (!json_get_u32(r, &v))
		return false;
	*out = v;
	return v <= most || json_reject(r, "out-of-range", "expected 0 to %u, found %u", most, v);
}

/* The count of an array that has one. */
static uint32_t *json_fields_count_of(const struct json_member *m)
{
	return (uint32_t *)((char *)m->at - m->f->offset + m->f->count);
}

static bool get_items(const struct json_member *m, uint32_t *v, uint32_t *n)
{
	*n = 0;
	for (json_enter_array(m->r); json_next_item(m->r);) {
		if (*n == m->f->items)
			return json_reject(m->r, NULL, "more than %u items", m->f->items);
		if (!json_get_u32(m->r, &v[(*n)++]))
			return false;
	}
	return !m->r->is_failed;
}

static uint64_t json_fields_value_of(const struct json_field *f, const void *at)
{
	return f->size == sizeof(uint8_t)    ? *(const uint8_t *)at
	       : f->size == sizeof(uint16_t) ? *(const uint16_t *)at
	       : f->size == sizeof(uint32_t) ? *(const uint32_t *)at
					     : *(const uint64_t *)at;
}

static void json_fields_set_value(const struct json_field *f, void *at, uint64_t v)
{
	if (f->size == sizeof(uint8_t))
		*(uint8_t *)at = (uint8_t)v;
	else if (f->size == sizeof(uint16_t))
		*(uint16_t *)at = (uint16_t)v;
	else if (f->size == sizeof(uint32_t))
		*(uint32_t *)at = (uint32_t)v;
	else
		*(uint64_t *)at = v;
}

static bool json_fields_get_value(const struct json_member *m)
{
	const struct json_field *f = m->f;
	uint64_t v = 0;
	bool is;

	if (f->is_bool)
		return json_get_bool(m->r, m->at);
	if (f->items)
		return get_items(
			m, m->at, f->is_counter ? json_fields_count_of(m) : &(uint32_t){0});
	if (f->bit) {
		if (!json_get_bool(m->r, &is))
			return false;
		v = json_fields_value_of(f, m->at);
		v = is ? v | f->bit : v & ~(uint64_t)f->bit;
	} else if (!(f->word ? json_fields_get_word(m->r, f->word, &v)
			     : json_fields_get_number(m->r, f->size, &v))) {
		return false;
	}
	json_fields_set_value(f, m->at, v);
	return true;
}

bool json_get_field(struct json_reader *r, const struct json_field *f, void *to, void *ctx)
{
	return (f->get ? f->get : json_fields_get_value)(
		&(struct json_member){.r = r, .f = f, .at = (char *)to + f->offset, .ctx = ctx});
}

bool json_get_member(struct json_reader *r, struct str key, const struct json_field *f, size_t n,
	void *to, void *ctx)
{
	while (n && !str_is(key, f->key))
		f++, n--;
	if (!n)
		return json_skip(r);
	return (f->get ? f->get : json_fields_get_value)(
		&(struct json_member){.r = r, .f = f, .at = (char *)to + f->offset, .ctx = ctx});
}

bool json_get_fields(
	struct json_reader *r, const struct json_field *f, size_t n, void *to, void *ctx)
{
	struct str key;

	for (json_enter_object(r); json_next_key(r, &key);)
		json_get_member(r, key, f, n, to, ctx);
	return !r->is_failed;
}

static void put_items(const struct json_member *m, const uint32_t *v, uint32_t n)
{
	json_w_array(m->w);
	for (uint32_t i = 0; i < n; i++)
		json_w_u64(m->w, v[i]);
	json_w_end(m->w);
}

static void json_fields_put_value(const struct json_member *m)
{
	const struct json_field *f = m->f;

	if (f->items)
		put_items(m, m->at, f->count ? *json_fields_count_of(m) : f->items);
	else if (f->is_bool)
		json_w_bool(m->w, *(const bool *)m->at);
	else if (f->bit)
		json_w_bool(m->w, json_fields_value_of(f, m->at) & f->bit);
	else if (f->word)
		json_w_cstr(m->w, f->word((unsigned)json_fields_value_of(f, m->at)));
	else
		json_w_u64(m->w, json_fields_value_of(f, m->at));
}

void json_put_fields(struct json_writer *w, const struct json_field *f, size_t n, const void *from,
	uint8_t kind, const void *ctx)
{
	for (; n; f++, n--) {
		if (f->kinds && !(f->kinds & kind))
			continue;
		json_w_key(w, f->key);
		(f->put ? f->put : json_fields_put_value)(&(struct json_member){
			.w = w, .f = f, .at = (char *)from + f->offset, .ctx = (void *)ctx});
	}
}
