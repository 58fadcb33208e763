/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arrow.c: tables through Arrow's C data interface. An array is a copy: it does not point into an
 * answer, so it may outlive all answers.
 */
#include <errno.h>

#include "lib/lib.h"

/* --- schema --- */

static const char *format_of(enum column_type t)
{
	switch (t) {
	case COLUMN_U64:
		return "L";
	case COLUMN_U32:
		return "I";
	case COLUMN_U16:
		return "S";
	case COLUMN_U8:
		return "C";
	case COLUMN_I64:
		return "l";
	case COLUMN_F64:
		return "g";
	case COLUMN_BOOL:
		return "b";
	default:
		return "u";
	}
}

static size_t width_of(enum column_type t)
{
	switch (t) {
	case COLUMN_U64:
	case COLUMN_I64:
	case COLUMN_F64:
		return 8;
	case COLUMN_U32:
		return 4;
	case COLUMN_U16:
		return 2;
	default:
		return 1;
	}
}

static bool is_text(enum column_type t)
{
	return t == COLUMN_TEXT || t == COLUMN_STR;
}

static void release_schema(struct ArrowSchema *s)
{
	for (int64_t i = 0; i < s->n_children; i++) {
		if (s->children[i] && s->children[i]->release)
			s->children[i]->release(s->children[i]);
		mem_free(s->children[i]);
	}
	mem_free(s->children);
	mem_free((void *)(uintptr_t)s->name);
	s->release = NULL;
}

static bool make_schema(
	struct ArrowSchema *out, const char *format, const char *name, bool is_nullable)
{
	*out = (struct ArrowSchema){.format = format,
		.name = mem_strndup(name, strlen(name)),
		.flags = is_nullable ? ARROW_FLAG_NULLABLE : 0,
		.release = release_schema};
	return out->name != NULL;
}

bool arrow_schema(
	const struct arrow_column *v, size_t n, struct ArrowSchema *out, struct incore_error *e)
{
	struct ArrowSchema s;
	bool ok = make_schema(&s, "+s", "", false);

	s.children = mem_zalloc(n ? n : 1, sizeof(struct ArrowSchema *));
	for (size_t i = 0; ok && s.children && i < n; i++) {
		s.children[i] = mem_zalloc(1, sizeof(struct ArrowSchema));
		ok = s.children[i] &&
		     make_schema(s.children[i], format_of(v[i].type), v[i].name, v[i].is_nullable);
		s.n_children += s.children[i] != NULL;
	}
	if (ok && s.children) {
		*out = s;
		return true;
	}
	release_schema(&s);
	return err_nomem(e);
}

/* --- arrays --- */

static void release_array(struct ArrowArray *x)
{
	for (int64_t i = 0; i < x->n_children; i++) {
		if (x->children[i] && x->children[i]->release)
			x->children[i]->release(x->children[i]);
		mem_free(x->children[i]);
	}
	mem_free(x->children);
	for (int64_t i = 0; x->buffers && i < x->n_buffers; i++)
		mem_free((void *)(uintptr_t)x->buffers[i]);
	mem_free(x->buffers);
	x->release = NULL;
}

/* Buffers: validity, values; for texts validity, offsets, bytes. */
static bool make_array(struct ArrowArray *x, enum column_type type, size_t length)
{
	size_t bits = (length + 7) / 8 + 1;

	*x = (struct ArrowArray){.length = (int64_t)length,
		.n_buffers = is_text(type) ? 3 : 2,
		.release = release_array};
	x->buffers = mem_zalloc(3, sizeof(void *));
	if (!x->buffers)
		return false;
	x->buffers[0] = mem_zalloc(bits, 1);
	if (is_text(type))
		x->buffers[1] = mem_zalloc(length + 1, sizeof(int32_t));
	else
		x->buffers[1] = type == COLUMN_BOOL ? mem_zalloc(bits, 1)
						    : mem_zalloc(length + 1, width_of(type));
	if (!x->buffers[0] || !x->buffers[1])
		return false;
	memset((void *)(uintptr_t)x->buffers[0], 0xff, bits);
	return true;
}

bool arrow_array(const struct arrow_column *v, size_t n, size_t length, struct ArrowArray *out,
	struct incore_error *e)
{
	struct ArrowArray x = {.length = (int64_t)length, .n_buffers = 1, .release = release_array};
	bool ok;

	x.buffers = mem_zalloc(1, sizeof(void *)); /* no row of the struct is null */
	x.children = mem_zalloc(n ? n : 1, sizeof(struct ArrowArray *));
	ok = x.buffers && x.children;
	for (size_t i = 0; ok && i < n; i++) {
		x.children[i] = mem_zalloc(1, sizeof(struct ArrowArray));
		x.n_children += x.children[i] != NULL;
		ok = x.children[i] && make_array(x.children[i], v[i].type, length);
	}
	if (ok) {
		*out = x;
		return true;
	}
	release_array(&x);
	return err_nomem(e);
}

void arrow_set_null(struct ArrowArray *child, size_t row)
{
	uint8_t *bits = (uint8_t *)(uintptr_t)child->buffers[0];

	bits[row / 8] = (uint8_t)(bits[row / 8] & ~(1u << row % 8));
	child->null_count++;
}

void *arrow_slot(struct ArrowArray *child, enum column_type type, size_t row)
{
	return (uint8_t *)(uintptr_t)child->buffers[1] + row * width_of(type);
}

void arrow_set_bool(struct ArrowArray *child, size_t row, bool value)
{
	uint8_t *bits = (uint8_t *)(uintptr_t)child->buffers[1];

	if (value)
		bits[row / 8] = (uint8_t)(bits[row / 8] | 1u << row % 8);
}

static void put_valid(struct strbuf *b, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;

	for (size_t i = 0; i < s.n;) {
		size_t n = utf8_length(p + i, s.n - i);

		if (n)
			sb_add(b, s.p + i, n);
		else
			sb_puts(b, "\xef\xbf\xbd");
		i += n ? n : 1;
	}
}

bool arrow_add_text(struct ArrowArray *child, size_t row, struct str s, struct incore_error *e)
{
	int32_t *offsets = (int32_t *)(uintptr_t)child->buffers[1];
	/* the bytes grow in a strbuf; its capacity is stored in the array while it is filled */
	struct strbuf b = {.p = (char *)(uintptr_t)child->buffers[2],
		.n = (size_t)offsets[row],
		.cap = (size_t)(uintptr_t)child->private_data};

	put_valid(&b, s);
	if (!b.p)
		sb_reserve(&b, 1);
	child->buffers[2] = b.p;
	child->private_data = (void *)(uintptr_t)b.cap;
	if (b.failed || !b.p)
		return err_nomem(e);
	if (b.n > INT32_MAX)
		return err_set(
			e, INCORE_FAILED, "too-large", "more than 2 GiB of text in a column");
	offsets[row + 1] = (int32_t)b.n;
	return true;
}

/* --- tables --- */

static bool put_value(struct ArrowArray *child, const struct column *c, const void *v, size_t row,
	struct incore_error *e)
{
	bool is_null = column_is_null(c, v);

	if (is_null)
		arrow_set_null(child, row);
	if (is_text(c->type)) {
		struct str s = {"", 0};

		if (!is_null)
			s = c->type == COLUMN_STR ? *(const struct str *)v
						  : str_of(*(const char *const *)v);
		return arrow_add_text(child, row, s, e);
	}
	if (is_null)
		return true;
	if (c->type == COLUMN_BOOL)
		arrow_set_bool(child, row, *(const bool *)v);
	else
		memcpy(arrow_slot(child, c->type, row), v, width_of(c->type));
	return true;
}

static bool fill_table(const struct flat_table *t, struct ArrowArray *out, struct incore_error *e)
{
	size_t first = t->parent ? 1 : 0;

	for (size_t r = 0; t->parent && r < t->n_rows; r++)
		memcpy(arrow_slot(out->children[0], COLUMN_U32, r), &t->parent[r],
			sizeof(uint32_t));
	for (size_t k = 0; k < t->columns.n; k++)
		for (size_t r = 0; r < t->n_rows; r++)
			if (!put_value(out->children[k + first], t->columns.v[k].column,
				    flat_value(t, r, &t->columns.v[k]), r, e))
				return false;
	return true;
}

bool incore_table_arrow(const struct incore_answer *a, size_t table, struct ArrowSchema *schema,
	struct ArrowArray *array, struct incore_error *e)
{
	const struct flat_table *t = table < a->tables.v.n ? a->tables.v.v[table] : NULL;
	struct arrow_column *v;
	size_t n;
	bool ok;

	if (!t)
		return err_set(
			e, INCORE_USAGE, "no-such-table", "the answer has no table %zu", table);
	n = t->columns.n + (t->parent ? 1 : 0);
	v = mem_zalloc(n ? n : 1, sizeof(*v));
	if (!v)
		return err_nomem(e);
	if (t->parent)
		v[0] = (struct arrow_column){"parent", COLUMN_U32, false};
	for (size_t i = 0; i < t->columns.n; i++)
		v[i + (t->parent ? 1 : 0)] = (struct arrow_column){
			t->columns.v[i].name, t->columns.v[i].column->type, true};
	ok = arrow_schema(v, n, schema, e);
	if (ok && !arrow_array(v, n, t->n_rows, array, e)) {
		schema->release(schema);
		ok = false;
	} else if (ok && !fill_table(t, array, e)) {
		schema->release(schema);
		array->release(array);
		ok = false;
	}
	mem_free(v);
	return ok;
}
