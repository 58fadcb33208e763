/* SPDX-License-Identifier: Apache-2.0 */
/* record_schema.c: describes the form of answers: JSON Schema and the list of tables and
 * columns. */
#include "base/vec.h"
#include "codec/record.h"

static bool is_object(const struct record *r)
{
	return r->style == RECORD_BLOCK || r->style == RECORD_LINE;
}

static void put_type(const char *name, bool is_nullable, struct json_writer *w)
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

static void put_words(const char *key, const char *words, bool is_nullable, struct json_writer *w)
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

static void put_count(const struct column *c, bool is_nullable, struct json_writer *w)
{
	if (c->words) {
		put_words("enum", c->words, is_nullable, w);
	} else if (c->flags & COLUMN_HEX) {
		put_type("string", is_nullable, w);
		json_w_kv_cstr(w, "pattern", "^0x[0-9a-f]+$");
	} else {
		put_type("integer", is_nullable, w);
		json_w_kv_u64(w, "minimum", 0);
	}
}

/* Writes the members of the schema of a column's value into the open object. */
static void put_column(const struct column *c, struct json_writer *w)
{
	bool is_nullable = c->flags & COLUMN_NULLABLE;

	if (c->doc && *c->doc)
		json_w_kv_cstr(w, "description", c->doc);
	switch (c->type) {
	case COLUMN_I64:
		put_type("integer", is_nullable, w);
		break;
	case COLUMN_F64:
		/* values that are not finite are null, or left out */
		put_type("number", !(c->flags & COLUMN_OPTIONAL), w);
		break;
	case COLUMN_BOOL:
		if (c->words)
			put_count(c, false, w);
		else
			put_type("boolean", false, w);
		break;
	case COLUMN_TEXT:
	case COLUMN_STR:
		if (c->words)
			put_words("enum", c->words, is_nullable, w);
		else
			put_type("string", is_nullable, w);
		break;
	case COLUMN_ANY:
		put_words("type", c->words ? c->words : "integer|number|string", is_nullable, w);
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
		put_type("array", is_nullable, w);
		json_w_key(w, "items");
		record_schema(c->of, w);
		if (c->digits) {
			json_w_kv_i64(w, "minItems", c->digits);
			json_w_kv_i64(w, "maxItems", c->digits);
		}
		break;
	case COLUMN_MAP:
		put_type("object", is_nullable, w);
		json_w_kv_object(w, "additionalProperties");
		put_column(&c->of->columns[1], w);
		json_w_end(w);
		break;
	default:
		put_count(c, is_nullable, w);
	}
	if (c->unit != UNIT_NONE)
		json_w_kv_cstr(w, "x-unit", unit_name(c->unit));
}

static void put_required(const struct record *r, struct json_writer *w)
{
	EACH (const struct column, c, r->columns, r->n_columns) {
		if (!c->name || (c->flags & (COLUMN_OPTIONAL | COLUMN_NO_JSON)))
			continue;
		if (c->type == COLUMN_PART || c->type == COLUMN_PART_AT)
			put_required(c->of, w);
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
		put_column(c, w);
		json_w_end(w);
	}
}

static void put_tuple(const struct record *r, struct json_writer *w)
{
	put_type("array", false, w);
	json_w_kv_u64(w, "minItems", r->n_columns);
	json_w_kv_u64(w, "maxItems", r->n_columns);
	json_w_kv_array(w, "items");
	for (uint16_t i = 0; i < r->n_columns; i++) {
		json_w_object(w);
		put_column(&r->columns[i], w);
		json_w_end(w);
	}
	json_w_end(w);
}

/* Describes members that have no column. */
static void put_others(const struct column *last, struct json_writer *w)
{
	json_w_key(w, "additionalProperties");
	if (last->name) {
		json_w_bool(w, false);
		return;
	}
	json_w_object(w);
	put_column(last, w);
	json_w_end(w);
}

void record_schema_members(const struct record *r, struct json_writer *w)
{
	if (r->style == RECORD_SCALAR) {
		put_column(&r->columns[0], w);
		return;
	}
	if (r->style == RECORD_TUPLE) {
		put_tuple(r, w);
		return;
	}
	put_type("object", false, w);
	put_others(&r->columns[r->n_columns - 1], w);
	json_w_kv_row(w, "required");
	put_required(r, w);
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
