/* SPDX-License-Identifier: Apache-2.0 */
/* cells.c: reads values and rows of the document by the list of fields. */
#include "import/json/json.h"

#define MAX_CYC (INT64_MAX / 8)

bool doc_no_memory(struct json_reader *r)
{
	return json_reject(r, "no-memory", "out of memory");
}

bool doc_is_null(struct json_reader *r)
{
	return json_peek(r) == JSON_NULL && json_get_null(r);
}

static bool is_too_long(const struct field *d, uint64_t cyc)
{
	return cyc > MAX_CYC && d->name && str_ends(str_of(d->name), "_cycles");
}

static void read_uint(struct json_reader *r, const struct field *d, void *p)
{
	size_t width = field_width(d);
	uint64_t v;

	if (!json_get_u64(r, &v))
		return;
	if ((width < sizeof(v) && v >> 8 * width) || is_too_long(d, v))
		json_reject(r, "out-of-range", "%s is too large", d->name);
	else
		memcpy(p, &v, width);
}

void doc_read_int(struct json_reader *r, const struct field *d, int64_t *p)
{
	if (json_get_i64(r, p) && is_too_long(d, *p < 0 ? 0 - (uint64_t)*p : (uint64_t)*p))
		json_reject(r, "out-of-range", "%s is too large", d->name);
}

/* Moves to the next item of an array, which must exist. */
static bool next_cell(struct json_reader *r)
{
	return json_next_item(r) || json_reject(r, NULL, "too few values");
}

static void end_cells(struct json_reader *r)
{
	if (json_next_item(r))
		json_reject(r, NULL, "too many values");
}

static void read_ratio(struct json_reader *r, uint64_t v[2])
{
	json_enter_array(r);
	for (int i = 0; i < 2 && next_cell(r); i++)
		json_get_u64(r, &v[i]);
	end_cells(r);
}

void doc_read_text(struct json_reader *r, struct arena *a, const char **p, size_t *n)
{
	struct str s;

	if (!json_get_str(r, &s))
		return;
	*p = arena_strndup(a, s.n ? s.p : "", s.n);
	*n = s.n;
	if (!*p)
		doc_no_memory(r);
	else if (s.n > UINT32_MAX)
		json_reject(r, "out-of-range", "text too long");
}

static void read_sized_text(struct json_reader *r, struct arena *a, const char **p)
{
	size_t n = 0;
	uint32_t n32;

	doc_read_text(r, a, p, &n);
	n32 = (uint32_t)n;
	memcpy(p + 1, &n32, sizeof(n32));
}

static void read_class(struct json_reader *r, uint8_t *out)
{
	struct str s;

	if (!json_get_str(r, &s))
		return;
	for (unsigned i = 0; i < CLASS_COUNT; i++)
		if (str_is(s, class_name((enum inst_class)i))) {
			*out = (uint8_t)i;
			return;
		}
	json_reject(r, NULL, "unknown class");
}

static void read_word(struct json_reader *r, const struct field *d, uint32_t *out)
{
	struct str s;

	if (!json_get_str(r, &s))
		return;
	for (uint32_t i = 0; d->words[i]; i++)
		if (str_is(s, d->words[i])) {
			*out = i;
			return;
		}
	json_reject(r, NULL, "unknown %s", d->name);
}

/* Sets the value used if the document has null, or no member. */
static void set_none(const struct field *d, void *p)
{
	memset(p, 0, field_width(d));
	if (d->type == FIELD_VALUE)
		*(int64_t *)p = NO_VALUE;
	else if (d->type == FIELD_INDEX || d->type == FIELD_CLOCK || d->type == FIELD_SOURCE)
		*(uint32_t *)p = UINT32_MAX;
}

static bool may_be_null(const struct field *d)
{
	return d->type == FIELD_VALUE || d->type == FIELD_INDEX || d->type == FIELD_CLOCK ||
	       d->type == FIELD_SOURCE || d->type == FIELD_STR || d->type == FIELD_RATIO;
}

static void read_value(struct json_reader *r, struct arena *a, const struct field *d, void *p)
{
	size_t n;

	if (may_be_null(d) && doc_is_null(r)) {
		set_none(d, p);
		return;
	}
	switch ((enum field_type)d->type) {
	case FIELD_U8:
	case FIELD_U16:
	case FIELD_U32:
	case FIELD_U64:
	case FIELD_INDEX:
	case FIELD_CLOCK:
	case FIELD_SOURCE:
		read_uint(r, d, p);
		break;
	case FIELD_RATIO:
		read_ratio(r, p);
		break;
	case FIELD_I64:
	case FIELD_VALUE:
		doc_read_int(r, d, p);
		break;
	case FIELD_BOOL:
		json_get_bool(r, p);
		break;
	case FIELD_STR:
		doc_read_text(r, a, p, &n);
		break;
	case FIELD_TEXT:
		read_sized_text(r, a, p);
		break;
	case FIELD_CLASS:
		read_class(r, p);
		break;
	case FIELD_ENUM:
		read_word(r, d, p);
		break;
	}
}

/* Reads a field; one with several values is an array. */
static void read_field(struct json_reader *r, struct arena *a, const struct field *d, void *row)
{
	char *p = (char *)row + d->offset;
	size_t width = field_width(d);

	if (d->size == width) {
		read_value(r, a, d, p);
		return;
	}
	json_enter_array(r);
	for (size_t i = 0; i < d->size && next_cell(r); i += width)
		read_value(r, a, d, p + i);
	end_cells(r);
}

void doc_clear_row(const struct field_table *d, void *row)
{
	memset(row, 0, d->row_size);
	for (uint32_t i = 0; i < d->n_fields; i++)
		for (size_t k = 0; k < d->fields[i].size; k += field_width(&d->fields[i]))
			set_none(&d->fields[i], (char *)row + d->fields[i].offset + k);
}

void doc_read_cells(struct json_reader *r, struct arena *a, const struct field_table *d, void *row)
{
	json_enter_array(r);
	for (uint32_t i = 0; i < d->n_fields; i++) {
		const struct field *x = field_at(d, FORMAT_JSON, i);

		if (x->name && next_cell(r))
			read_field(r, a, x, row);
	}
	end_cells(r);
}

void doc_read_members(struct reading *x, const struct field_table *d, more_fn more, void *row)
{
	struct str key;

	for (json_enter_object(&x->r); json_next_key(&x->r, &key);) {
		uint32_t i = 0;

		while (i < d->n_fields && !(d->fields[i].name && str_is(key, d->fields[i].name)))
			i++;
		if (i < d->n_fields)
			read_field(&x->r, &x->t->arena, &d->fields[i], row);
		else if (!more || !more(x, key, row))
			json_skip(&x->r);
	}
}

void *doc_read_rows(struct reading *x, const struct field_table *d, more_fn more, uint32_t *n)
{
	VEC(char) v = {0};
	size_t count = 0;
	void *rows = NULL;

	for (json_enter_array(&x->r); json_next_item(&x->r); count++) {
		char *row;

		if (count >= UINT32_MAX - 1 || !VEC_RESERVE(&v, (count + 1) * d->row_size) ||
			!v.v) {
			doc_no_memory(&x->r);
			break;
		}
		row = v.v + count * d->row_size;
		doc_clear_row(d, row);
		if (json_peek(&x->r) == JSON_ARRAY)
			doc_read_cells(&x->r, &x->t->arena, d, row);
		else
			doc_read_members(x, d, more, row);
	}
	if (!x->r.is_failed && count) {
		rows = arena_memdup(&x->t->arena, v.v, count * d->row_size);
		if (!rows)
			doc_no_memory(&x->r);
	}
	*n = rows ? (uint32_t)count : 0;
	VEC_FREE(&v);
	return rows;
}
