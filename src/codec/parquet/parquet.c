/* SPDX-License-Identifier: Apache-2.0 */
/* parquet.c: writes row groups one after the other, and the footer with their places. */
#include "codec/parquet/parquet.h"

#include "base/mem.h"
#include "codec/parquet/parquet_column.h"
#include "codec/parquet/thrift.h"

#define GROUP_TEXT_BYTES (32u << 20) /* a group ends when its texts are longer */
#define CODEC_ZSTD 6

/* Fields of the format's structs. */
enum { STAT_NULLS = 3, STAT_MOST = 5, STAT_LEAST = 6 };
enum {
	CHUNK_TYPE = 1,
	CHUNK_ENCODINGS = 2,
	CHUNK_PATH = 3,
	CHUNK_CODEC = 4,
	CHUNK_VALUES = 5,
	CHUNK_SIZE = 6,
	CHUNK_PACKED = 7,
	CHUNK_DATA_AT = 9,
	CHUNK_DICTIONARY_AT = 11,
	CHUNK_STATISTICS = 12,
};
enum { COLUMN_FILE_OFFSET = 2, COLUMN_META = 3 };
enum { GROUP_COLUMNS = 1, GROUP_SIZE = 2, GROUP_ROWS = 3, GROUP_OFFSET = 5, GROUP_PACKED = 6 };
enum {
	SCHEMA_TYPE = 1,
	SCHEMA_REPETITION = 3,
	SCHEMA_NAME = 4,
	SCHEMA_CHILDREN = 5,
	SCHEMA_CONVERTED = 6,
	SCHEMA_LOGICAL = 10,
};
enum { LOGICAL_STRING = 1, LOGICAL_INTEGER = 10, INTEGER_BITS = 1, INTEGER_SIGNED = 2 };
enum {
	FILE_VERSION = 1,
	FILE_SCHEMA = 2,
	FILE_ROWS = 3,
	FILE_GROUPS = 4,
	FILE_KEYS = 5,
	FILE_MAKER = 6,
	FILE_ORDERS = 7,
};

struct parquet {
	FILE *f;
	uint64_t at; /* bytes written */
	struct parquet_column *columns;
	unsigned n_columns;
	struct parquet_pager pager;
	uint32_t rows; /* of the open group */
	uint64_t n_rows;
	uint32_t n_groups;
	struct strbuf groups; /* their descriptions, for the footer */
	struct strbuf dictionary, bound, chunk;
};

static void parquet_write_bytes(struct parquet *p, const char *bytes, size_t n)
{
	if (n)
		fwrite(bytes, 1, n, p->f);
	p->at += n;
}

struct parquet *parquet_new(
	FILE *f, const struct column *columns, unsigned n, uint64_t skip, struct incore_error *e)
{
	struct parquet *p = mem_zalloc(1, sizeof(*p));
	bool ok = p != NULL;

	if (ok)
		p->columns = mem_zalloc(n + 1, sizeof(*p->columns));
	ok = ok && p->columns && parquet_pager_init(&p->pager);
	for (unsigned i = 0; ok && i < n; i++)
		if (!(skip >> i & 1))
			ok = parquet_column_init(&p->columns[p->n_columns++], &columns[i], i);
	if (!ok) {
		parquet_free(p);
		return err_nomem_null(e);
	}
	parquet_restart(p, f);
	return p;
}

void parquet_restart(struct parquet *p, FILE *f)
{
	p->f = f;
	p->at = p->n_rows = 0;
	p->rows = p->n_groups = 0;
	sb_reset(&p->groups);
	parquet_write_bytes(p, "PAR1", 4);
}

void parquet_free(struct parquet *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->n_columns; i++)
		parquet_column_deinit(&p->columns[i]);
	mem_free(p->columns);
	parquet_pager_deinit(&p->pager);
	sb_free(&p->groups);
	sb_free(&p->dictionary);
	sb_free(&p->bound);
	sb_free(&p->chunk);
	mem_free(p);
}

/* --- groups --- */

struct chunk_size {
	uint64_t plain, packed; /* bytes including headers */
};

static void put_statistics(struct parquet *p, const struct parquet_column *k, struct thrift *t)
{
	static const int16_t fields[] = {STAT_MOST, STAT_LEAST};

	thrift_struct(t, CHUNK_STATISTICS);
	thrift_number(t, STAT_NULLS, THRIFT_I64, k->rows - k->n);
	for (unsigned i = 0; i < 2; i++) {
		sb_reset(&p->bound);
		if (parquet_column_bound(k, fields[i] == STAT_MOST, &p->bound))
			thrift_binary(t, fields[i], (struct str){p->bound.p, p->bound.n});
	}
	thrift_end(t);
}

/* Describes the chunk in p->chunk. */
static void put_chunk(struct parquet *p, const struct parquet_column *k, uint64_t at,
	uint64_t data_at, const struct chunk_size *size)
{
	struct thrift t = {.out = &p->chunk};
	bool has_dictionary = data_at > at;
	unsigned encodings = k->encodings | 1u << ENCODING_RLE;

	if (has_dictionary)
		encodings |= 1u << ENCODING_PLAIN;

	thrift_element(&t);
	thrift_number(&t, COLUMN_FILE_OFFSET, THRIFT_I64, (int64_t)at);
	thrift_struct(&t, COLUMN_META);
	thrift_number(&t, CHUNK_TYPE, THRIFT_I32, k->physical);
	thrift_list(&t, CHUNK_ENCODINGS, THRIFT_I32, (size_t)__builtin_popcount(encodings));
	for (int i = 0; encodings >> i; i++)
		if (encodings >> i & 1)
			bytes_put_zigzag(t.out, i);
	thrift_list(&t, CHUNK_PATH, THRIFT_BINARY, 1);
	bytes_put_str(t.out, str_of(k->column->name));
	thrift_number(&t, CHUNK_CODEC, THRIFT_I32, CODEC_ZSTD);
	thrift_number(&t, CHUNK_VALUES, THRIFT_I64, k->rows);
	thrift_number(&t, CHUNK_SIZE, THRIFT_I64, (int64_t)size->plain);
	thrift_number(&t, CHUNK_PACKED, THRIFT_I64, (int64_t)size->packed);
	thrift_number(&t, CHUNK_DATA_AT, THRIFT_I64, (int64_t)data_at);
	if (has_dictionary)
		thrift_number(&t, CHUNK_DICTIONARY_AT, THRIFT_I64, (int64_t)at);
	put_statistics(p, k, &t);
	thrift_end(&t);
	thrift_end(&t);
}

static bool write_chunk(
	struct parquet *p, struct parquet_column *k, struct chunk_size *sum, struct incore_error *e)
{
	struct chunk_size size = {0};
	uint64_t at = p->at, data_at;

	if (!parquet_column_end_page(k, &p->pager, e))
		return false;
	sb_reset(&p->dictionary);
	if (k->encodings >> ENCODING_DICTIONARY & 1) {
		sb_reset(&p->pager.page);
		parquet_column_put_dictionary(k, &p->pager.page);
		if (!parquet_put_page(&p->pager, PAGE_DICTIONARY, parquet_column_entries(k),
			    ENCODING_PLAIN, &p->dictionary, &size.plain, e))
			return false;
	}
	parquet_write_bytes(p, p->dictionary.p, p->dictionary.n);
	data_at = p->at;
	parquet_write_bytes(p, k->pages.p, k->pages.n);
	size.plain += k->plain_bytes;
	size.packed = p->at - at;
	put_chunk(p, k, at, data_at, &size);
	sum->plain += size.plain;
	sum->packed += size.packed;
	return true;
}

static bool parquet_write_group(struct parquet *p, struct incore_error *e)
{
	struct thrift t = {.out = &p->groups};
	struct chunk_size size = {0};
	uint64_t at = p->at;

	if (!p->rows)
		return true;
	sb_reset(&p->chunk);
	for (unsigned i = 0; i < p->n_columns; i++) {
		if (!write_chunk(p, &p->columns[i], &size, e))
			return false;
		parquet_column_clear(&p->columns[i]);
	}
	thrift_element(&t);
	thrift_list(&t, GROUP_COLUMNS, THRIFT_STRUCT, p->n_columns);
	sb_add(t.out, p->chunk.p, p->chunk.n);
	thrift_number(&t, GROUP_SIZE, THRIFT_I64, (int64_t)size.plain);
	thrift_number(&t, GROUP_ROWS, THRIFT_I64, p->rows);
	thrift_number(&t, GROUP_OFFSET, THRIFT_I64, (int64_t)at);
	thrift_number(&t, GROUP_PACKED, THRIFT_I64, (int64_t)size.packed);
	thrift_end(&t);
	p->n_rows += p->rows;
	p->n_groups++;
	p->rows = 0;
	return !p->chunk.failed && !p->groups.failed ? true : err_nomem(e);
}

bool parquet_rows(struct parquet *p, const void *const *vectors, uint32_t n, struct incore_error *e)
{
	for (uint32_t done = 0; done < n;) {
		uint32_t room = PARQUET_GROUP_ROWS - p->rows,
			 take = n - done < room ? n - done : room;
		bool is_full = take == room;

		for (unsigned i = 0; i < p->n_columns; i++) {
			struct parquet_column *k = &p->columns[i];
			const char *v = vectors[k->place];

			if (!parquet_column_add(k, &p->pager, v + done * k->width, take, e))
				return false;
			is_full |= k->word_bytes > GROUP_TEXT_BYTES;
		}
		p->rows += take;
		done += take;
		if (is_full && !parquet_write_group(p, e))
			return false;
	}
	return true;
}

/* --- the footer --- */

static void parquet_put_type(struct thrift *t, enum column_type type)
{
	static const uint8_t bits[] = {[COLUMN_U64] = 64,
		[COLUMN_U32] = 32,
		[COLUMN_U16] = 16,
		[COLUMN_U8] = 8,
		[COLUMN_I64] = 64};
	static const uint8_t converted[] = {[COLUMN_U64] = 14,
		[COLUMN_U32] = 13,
		[COLUMN_U16] = 12,
		[COLUMN_U8] = 11,
		[COLUMN_I64] = 18};

	if (type == COLUMN_TEXT) {
		thrift_number(t, SCHEMA_CONVERTED, THRIFT_I32, 0); /* UTF8 */
		thrift_struct(t, SCHEMA_LOGICAL);
		thrift_struct(t, LOGICAL_STRING);
	} else if (type <= COLUMN_I64) {
		thrift_number(t, SCHEMA_CONVERTED, THRIFT_I32, converted[type]);
		thrift_struct(t, SCHEMA_LOGICAL);
		thrift_struct(t, LOGICAL_INTEGER);
		thrift_byte(t, INTEGER_BITS, (int8_t)bits[type]);
		thrift_bool(t, INTEGER_SIGNED, type == COLUMN_I64);
	} else {
		return;
	}
	thrift_end(t);
	thrift_end(t);
}

static void put_schema(const struct parquet *p, struct thrift *t)
{
	thrift_list(t, FILE_SCHEMA, THRIFT_STRUCT, (size_t)p->n_columns + 1);
	thrift_element(t);
	thrift_binary(t, SCHEMA_NAME, STR("schema"));
	thrift_number(t, SCHEMA_CHILDREN, THRIFT_I32, p->n_columns);
	thrift_end(t);
	for (unsigned i = 0; i < p->n_columns; i++) {
		const struct parquet_column *k = &p->columns[i];

		thrift_element(t);
		thrift_number(t, SCHEMA_TYPE, THRIFT_I32, k->physical);
		thrift_number(t, SCHEMA_REPETITION, THRIFT_I32, k->is_nullable); /* 1: optional */
		thrift_binary(t, SCHEMA_NAME, str_of(k->column->name));
		parquet_put_type(t, k->column->type);
		thrift_end(t);
	}
}

/* Writes the meaning and the unit of each column: "doc:cycles", "unit:cycles". */
static void put_keys(const struct parquet *p, struct thrift *t)
{
	static const char *const what[] = {"doc", "unit"};
	char key[80];

	thrift_list(t, FILE_KEYS, THRIFT_STRUCT, (size_t)p->n_columns * 2);
	for (unsigned i = 0; i < p->n_columns * 2; i++) {
		const struct column *c = p->columns[i / 2].column;

		snprintf(key, sizeof(key), "%s:%.60s", what[i % 2], c->name);
		thrift_element(t);
		thrift_binary(t, 1, str_of(key));
		thrift_binary(t, 2, str_of(i % 2 ? unit_name(c->unit) : c->doc));
		thrift_end(t);
	}
}

bool parquet_finish(struct parquet *p, struct incore_error *e)
{
	struct strbuf *b = &p->chunk;
	struct thrift t = {.out = b};
	size_t n;

	if (!parquet_write_group(p, e))
		return false;
	sb_reset(b);
	thrift_number(&t, FILE_VERSION, THRIFT_I32, 2);
	put_schema(p, &t);
	thrift_number(&t, FILE_ROWS, THRIFT_I64, (int64_t)p->n_rows);
	thrift_list(&t, FILE_GROUPS, THRIFT_STRUCT, p->n_groups);
	sb_add(b, p->groups.p, p->groups.n);
	put_keys(p, &t);
	thrift_binary(&t, FILE_MAKER, STR("incore version " INCORE_VERSION));
	thrift_list(&t, FILE_ORDERS, THRIFT_STRUCT, p->n_columns);
	for (unsigned i = 0; i < p->n_columns; i++) { /* order by type: marks the bounds as valid */
		thrift_element(&t);
		thrift_struct(&t, 1);
		thrift_end(&t);
		thrift_end(&t);
	}
	thrift_end(&t);
	n = b->n;
	bytes_put_u32(b, (uint32_t)n);
	sb_puts(b, "PAR1");
	if (b->failed || n > UINT32_MAX)
		return err_nomem(e);
	parquet_write_bytes(p, b->p, b->n);
	return true;
}
