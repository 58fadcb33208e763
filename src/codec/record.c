/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record.c: finds values of described structs by path and writes them as JSON.
 *
 * Parts: values by path, and as JSON; the schema.
 */
#include "codec/record.h"

#include <inttypes.h>
#include <math.h>

#include "base/vec.h"

/* --- values by path, and as JSON -------------------------------------------------------------- */

const char *unit_name(enum unit u)
{
	static const char *const names[] = {[UNIT_NONE] = "",
		[UNIT_COUNT] = "count",
		[UNIT_CYCLES] = "cycles",
		[UNIT_US] = "us",
		[UNIT_MHZ] = "MHz",
		[UNIT_PERCENT] = "%",
		[UNIT_SHARE] = "share",
		[UNIT_BYTES] = "bytes",
		[UNIT_ADDRESS] = "address",
		[UNIT_ROW] = "row",
		[UNIT_INDEX] = "index",
		[UNIT_WAVES] = "waves",
		[UNIT_SAMPLES] = "samples"};

	return names[u];
}

/* --- values --------------------------------------------------------------------------------- */

static const void *record_field_at(const void *row, size_t offset)
{
	return (const char *)row + offset;
}

static bool find_in(const struct record *r, struct str name, uint32_t base, struct leaf *out)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		if (c->type == COLUMN_PART) {
			if (find_in(c->of, name, base + c->offset, out))
				return true;
		} else if (str_is(name, c->name)) {
			*out = (struct leaf){.column = c, .offset = base + c->offset};
			return true;
		}
	}
	return false;
}

bool record_find(const struct record *r, const char *path, struct leaf *out)
{
	struct str rest = str_of(path), name;
	struct leaf found = {0}, next;

	while (str_cut(&rest, ".", &name)) {
		const struct column *holder = found.column;

		if (!find_in(holder ? holder->of : r, name, 0, &next))
			return false;
		if (!holder) {
			found = next;
			continue;
		}
		if (holder->type == COLUMN_POINTER)
			found.is_behind = true;
		if (found.is_behind)
			found.inner += next.offset;
		else
			found.offset += next.offset;
		found.column = next.column;
	}
	*out = found;
	return found.column != NULL;
}

const void *leaf_value(const struct leaf *l, const void *row)
{
	const void *value = record_field_at(row, l->offset);

	if (!l->is_behind)
		return value;
	value = *(const void *const *)value;
	return value ? record_field_at(value, l->inner) : NULL;
}

uint64_t column_u64(const struct column *c, const void *value)
{
	switch (c->type) {
	case COLUMN_U64:
		return *(const uint64_t *)value;
	case COLUMN_U32:
		return *(const uint32_t *)value;
	case COLUMN_U16:
		return *(const uint16_t *)value;
	case COLUMN_U8:
		return *(const uint8_t *)value;
	case COLUMN_BOOL:
		return *(const bool *)value;
	default:
		return 0;
	}
}

struct str column_word(const struct column *c, uint64_t i)
{
	struct str rest = str_of(c->words), word;

	while (str_cut(&rest, "|", &word))
		if (i-- == 0)
			return word;
	return STR("");
}

const char *column_hex(const struct column *c, const void *value, char buf[COLUMN_HEX_TEXT])
{
	snprintf(buf, COLUMN_HEX_TEXT, "0x%0*" PRIx64, c->digits, column_u64(c, value));
	return buf;
}

const void *rows_at(const struct record *r, const struct rows *rows, size_t i)
{
	return rows->at ? rows->at(rows->v, i) : record_field_at(rows->v, i * r->size);
}

/* Is the value absent? 0 is a value unless the column has COLUMN_SOME. */
static bool is_nothing(const struct column *c, const void *value)
{
	const struct column *first = c->type == COLUMN_RECORD ? &c->of->columns[0] : NULL;

	if ((c->flags & COLUMN_SOME) && column_u64(c, value) == 0)
		return true;
	switch (c->type) {
	case COLUMN_RECORD:
		value = record_field_at(value, first->offset);
		return is_nothing(first, value) ||
		       (first->type <= COLUMN_U8 && column_u64(first, value) == 0);
	case COLUMN_U64:
		return *(const uint64_t *)value == NO_U64;
	case COLUMN_U32:
		return *(const uint32_t *)value == UINT32_MAX;
	case COLUMN_I64:
		return *(const int64_t *)value == NO_I64;
	case COLUMN_F64:
		return !isfinite(*(const double *)value);
	case COLUMN_TEXT:
		return !*(const char *const *)value;
	case COLUMN_STR:
		return !((const struct str *)value)->p;
	case COLUMN_POINTER:
	case COLUMN_PART_AT:
		return !*(const void *const *)value;
	case COLUMN_LIST:
	case COLUMN_MAP:
		return !((const struct rows *)value)->v;
	default:
		return false;
	}
}

bool column_is_null(const struct column *c, const void *value)
{
	bool is_sure = c->type == COLUMN_F64 || c->type == COLUMN_TEXT || c->type == COLUMN_POINTER;

	if (!value)
		return true;
	return (is_sure || (c->flags & (COLUMN_NULLABLE | COLUMN_OPTIONAL))) &&
	       is_nothing(c, value);
}

/* --- JSON ----------------------------------------------------------------------------------- */

static void record_put_rows(const struct column *c, const struct rows *rows, struct json_writer *w)
{
	bool is_line = c->of->style == RECORD_SCALAR && !(c->flags & COLUMN_BLOCK);

	if (is_line || (c->flags & COLUMN_ONE_LINE))
		json_w_row(w);
	else
		json_w_array(w);
	for (size_t i = 0; i < rows->n; i++)
		record_json(c->of, rows_at(c->of, rows, i), w);
	json_w_end(w);
}

static void record_put_value(const struct column *c, const void *value, struct json_writer *w);

static void put_map(const struct column *c, const struct rows *rows, struct json_writer *w)
{
	const struct column *key = &c->of->columns[0], *held = &c->of->columns[1];

	if (c->of->style == RECORD_LINE)
		json_w_row_object(w);
	else
		json_w_object(w);
	for (size_t i = 0; i < rows->n; i++) {
		const void *row = rows_at(c->of, rows, i);

		json_w_key(w, *(const char *const *)record_field_at(row, key->offset));
		record_put_value(held, record_field_at(row, held->offset), w);
	}
	json_w_end(w);
}

static void put_any(const struct any *x, struct json_writer *w)
{
	struct column c = {.type = x->type, .digits = x->digits, .of = x->of};

	record_put_value(&c, &x->i, w);
}

static void put_vector(const struct column *c, const void *vec, struct json_writer *w)
{
	struct rows rows = {0};

	memcpy(&rows, vec, offsetof(struct rows, at)); /* a VEC() begins like struct rows */
	record_put_rows(c, &rows, w);
}

static void record_put_count(const struct column *c, const void *value, struct json_writer *w)
{
	char text[COLUMN_HEX_TEXT];

	if (c->words)
		json_w_str(w, column_word(c, column_u64(c, value)));
	else if (c->flags & COLUMN_HEX)
		json_w_cstr(w, column_hex(c, value, text));
	else
		json_w_u64(w, column_u64(c, value));
}

static void record_put_value(const struct column *c, const void *value, struct json_writer *w)
{
	if (column_is_null(c, value)) {
		json_w_null(w);
		return;
	}
	switch (c->type) {
	case COLUMN_I64:
		json_w_i64(w, *(const int64_t *)value);
		break;
	case COLUMN_F64:
		if (c->digits < 0)
			json_w_sig(w, *(const double *)value, -c->digits);
		else
			json_w_double(w, *(const double *)value, c->digits);
		break;
	case COLUMN_BOOL:
		if (c->words)
			record_put_count(c, value, w);
		else
			json_w_bool(w, *(const bool *)value);
		break;
	case COLUMN_TEXT:
		json_w_cstr(w, *(const char *const *)value);
		break;
	case COLUMN_STR:
		json_w_str(w, *(const struct str *)value);
		break;
	case COLUMN_ANY:
		put_any(value, w);
		break;
	case COLUMN_RECORD:
	case COLUMN_PART:
		record_json(c->of, value, w);
		break;
	case COLUMN_POINTER:
		record_json(c->of, *(const void *const *)value, w);
		break;
	case COLUMN_LIST:
		record_put_rows(c, value, w);
		break;
	case COLUMN_VEC:
		put_vector(c, value, w);
		break;
	case COLUMN_MAP:
		put_map(c, value, w);
		break;
	default:
		record_put_count(c, value, w);
	}
}

/* Writes the members into an open object. */
static void record_json_members(const struct record *r, const void *value, struct json_writer *w)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		const void *v = record_field_at(value, c->offset);

		if ((c->flags & COLUMN_NO_JSON) ||
			((c->flags & COLUMN_OPTIONAL) && is_nothing(c, v)))
			continue;
		if (c->type == COLUMN_PART_AT)
			v = *(const void *const *)v;
		if (c->type == COLUMN_PART || c->type == COLUMN_PART_AT) {
			record_json_members(c->of, v, w);
			continue;
		}
		if (r->style == RECORD_BLOCK || r->style == RECORD_LINE)
			json_w_key(w, c->name);
		record_put_value(c, v, w);
	}
}

void record_json(const struct record *r, const void *value, struct json_writer *w)
{
	switch (r->style) {
	case RECORD_BLOCK:
		json_w_object(w);
		break;
	case RECORD_LINE:
		json_w_row_object(w);
		break;
	case RECORD_TUPLE:
		json_w_row(w);
		break;
	case RECORD_SCALAR:
		record_json_members(r, value, w);
		return;
	}
	record_json_members(r, value, w);
	json_w_end(w);
}

/* --- the schema ------------------------------------------------------------------------------- */

/*
 * Describes the form of answers: JSON Schema and the list of tables and columns.
 */

static bool is_object(const struct record *r)
{
	return r->style == RECORD_BLOCK || r->style == RECORD_LINE;
}

static void record_put_type(const char *name, bool is_nullable, struct json_writer *w)
{
	json_w_key(w, "type");
	if (!is_nullable) {
		json_w_cstr(w, name);
		return;
	}
	json_w_row(w);
	json_w_cstr(w, name);
	json_w_cstr(w, "null");
	json_w_end(w);
}

static void record_put_words(
	const char *key, const char *words, bool is_nullable, struct json_writer *w)
{
	struct str rest = str_of(words), word;

	json_w_kv_row(w, key);
	while (str_cut(&rest, "|", &word))
		json_w_str(w, word);
	if (is_nullable && strcmp(key, "type") == 0)
		json_w_cstr(w, "null");
	else if (is_nullable)
		json_w_null(w);
	json_w_end(w);
}

static void put_held_or_null(const struct record *r, struct json_writer *w)
{
	json_w_kv_array(w, "oneOf");
	json_w_row_object(w);
	json_w_kv_cstr(w, "type", "null");
	json_w_end(w);
	record_schema(r, w);
	json_w_end(w);
}

static void record_schema_put_count(const struct column *c, bool is_nullable, struct json_writer *w)
{
	if (c->words) {
		record_put_words("enum", c->words, is_nullable, w);
	} else if (c->flags & COLUMN_HEX) {
		record_put_type("string", is_nullable, w);
		json_w_kv_cstr(w, "pattern", "^0x[0-9a-f]+$");
	} else {
		record_put_type("integer", is_nullable, w);
		json_w_kv_u64(w, "minimum", 0);
	}
}

/* Writes the members of the schema of a column's value into the open object. */
static void record_put_column(const struct column *c, struct json_writer *w)
{
	bool is_nullable = c->flags & COLUMN_NULLABLE;

	if (c->doc && *c->doc)
		json_w_kv_cstr(w, "description", c->doc);
	switch (c->type) {
	case COLUMN_I64:
		record_put_type("integer", is_nullable, w);
		break;
	case COLUMN_F64:
		/* values that are not finite are null, or left out */
		record_put_type("number", !(c->flags & COLUMN_OPTIONAL), w);
		break;
	case COLUMN_BOOL:
		if (c->words)
			record_schema_put_count(c, false, w);
		else
			record_put_type("boolean", false, w);
		break;
	case COLUMN_TEXT:
	case COLUMN_STR:
		if (c->words)
			record_put_words("enum", c->words, is_nullable, w);
		else
			record_put_type("string", is_nullable, w);
		break;
	case COLUMN_ANY:
		record_put_words(
			"type", c->words ? c->words : "integer|number|string", is_nullable, w);
		break;
	case COLUMN_RECORD:
	case COLUMN_PART:
	case COLUMN_PART_AT:
	case COLUMN_POINTER:
		if (is_nullable || (c->type == COLUMN_POINTER && !(c->flags & COLUMN_OPTIONAL)))
			put_held_or_null(c->of, w);
		else
			record_schema_members(c->of, w);
		break;
	case COLUMN_LIST:
	case COLUMN_VEC:
		record_put_type("array", is_nullable, w);
		json_w_key(w, "items");
		record_schema(c->of, w);
		if (c->digits) {
			json_w_kv_i64(w, "minItems", c->digits);
			json_w_kv_i64(w, "maxItems", c->digits);
		}
		break;
	case COLUMN_MAP:
		record_put_type("object", is_nullable, w);
		json_w_kv_object(w, "additionalProperties");
		record_put_column(&c->of->columns[1], w);
		json_w_end(w);
		break;
	default:
		record_schema_put_count(c, is_nullable, w);
	}
	if (c->unit != UNIT_NONE)
		json_w_kv_cstr(w, "x-unit", unit_name(c->unit));
}

static void record_put_required(const struct record *r, struct json_writer *w)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		if (!c->name || (c->flags & (COLUMN_OPTIONAL | COLUMN_NO_JSON)))
			continue;
		if (c->type == COLUMN_PART || c->type == COLUMN_PART_AT)
			record_put_required(c->of, w);
		else
			json_w_cstr(w, c->name);
	}
}

static void put_properties(const struct record *r, struct json_writer *w)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		if (!c->name || (c->flags & COLUMN_NO_JSON))
			continue;
		if (c->type == COLUMN_PART || c->type == COLUMN_PART_AT) {
			put_properties(c->of, w);
			continue;
		}
		json_w_kv_object(w, c->name);
		record_put_column(c, w);
		json_w_end(w);
	}
}

static void put_tuple(const struct record *r, struct json_writer *w)
{
	record_put_type("array", false, w);
	json_w_kv_u64(w, "minItems", r->n_columns);
	json_w_kv_u64(w, "maxItems", r->n_columns);
	json_w_kv_array(w, "items");
	for (uint16_t i = 0; i < r->n_columns; i++) {
		json_w_object(w);
		record_put_column(&r->columns[i], w);
		json_w_end(w);
	}
	json_w_end(w);
}

/* Describes members that have no column. */
static void record_put_others(const struct column *last, struct json_writer *w)
{
	json_w_key(w, "additionalProperties");
	if (last->name) {
		json_w_bool(w, false);
		return;
	}
	json_w_object(w);
	record_put_column(last, w);
	json_w_end(w);
}

void record_schema_members(const struct record *r, struct json_writer *w)
{
	if (r->style == RECORD_SCALAR) {
		record_put_column(&r->columns[0], w);
		return;
	}
	if (r->style == RECORD_TUPLE) {
		put_tuple(r, w);
		return;
	}
	record_put_type("object", false, w);
	record_put_others(&r->columns[r->n_columns - 1], w);
	json_w_kv_row(w, "required");
	record_put_required(r, w);
	json_w_end(w);
	json_w_kv_object(w, "properties");
	put_properties(r, w);
	json_w_end(w);
}

void record_schema(const struct record *r, struct json_writer *w)
{
	json_w_object(w);
	record_schema_members(r, w);
	json_w_end(w);
}

/* --- tables and columns --------------------------------------------------------------------- */

static const char *type_word(const struct column *c)
{
	switch (c->type) {
	case COLUMN_F64:
		return "number";
	case COLUMN_BOOL:
		return "boolean";
	case COLUMN_TEXT:
	case COLUMN_STR:
		return "text";
	case COLUMN_ANY:
		return "value";
	default:
		return "integer";
	}
}

static bool is_held(const struct column *c)
{
	return c->type >= COLUMN_RECORD && c->type <= COLUMN_PART_AT;
}

static bool is_table(const struct column *c)
{
	return c->type >= COLUMN_LIST;
}

/* Writes the flat columns of a table; `prefix` has the names of the outer records. */
static void describe_columns(const struct record *r, const char *prefix, struct json_writer *w)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		struct strbuf name = {0};

		if (is_table(c))
			continue;
		sb_puts(&name, prefix);
		sb_puts(&name, c->name);
		if (is_held(c)) {
			if (*c->name)
				sb_putc(&name, '_');
			describe_columns(c->of, name.p ? name.p : "", w);
		} else {
			json_w_row_object(w);
			json_w_kv_cstr(w, "name", name.p);
			json_w_kv_cstr(w, "type", type_word(c));
			json_w_kv_cstr(w, "unit", c->unit == UNIT_NONE ? NULL : unit_name(c->unit));
			json_w_kv_cstr(w, "doc", c->doc);
			json_w_end(w);
		}
		w->is_failed |= name.failed;
		sb_free(&name);
	}
}

static void describe_tables(const struct record *r, const char *prefix, struct json_writer *w)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		struct strbuf name = {0};

		if (!is_table(c) && !is_held(c))
			continue;
		sb_puts(&name, prefix);
		if (*c->name)
			sb_printf(&name, "%s%s", *prefix ? "." : "", c->name);
		if (is_table(c)) {
			json_w_object(w);
			json_w_kv_cstr(w, "name", name.p);
			json_w_kv_cstr(w, "doc", c->doc);
			json_w_kv_array(w, "columns");
			describe_columns(c->of, "", w);
			json_w_end(w);
			json_w_end(w);
		}
		if (is_object(c->of))
			describe_tables(c->of, name.p ? name.p : "", w);
		w->is_failed |= name.failed;
		sb_free(&name);
	}
}

void record_describe(const struct record *r, struct json_writer *w)
{
	json_w_kv_array(w, "values");
	describe_columns(r, "", w);
	json_w_end(w);
	json_w_kv_array(w, "tables");
	describe_tables(r, "", w);
	json_w_end(w);
}
