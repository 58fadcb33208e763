/* SPDX-License-Identifier: Apache-2.0 */
/* parquet.c: groups of rows one after the other, and the foot that says where they are. */
#include "codec/parquet/parquet.h"

#include <zstd.h>

#include "base/mem.h"
#include "codec/parquet/parquet_column.h"
#include "codec/parquet/thrift.h"
#include "codec/zstd.h"

#define ZSTD_LEVEL 1
#define GROUP_TEXT_BYTES (32u << 20) /* a group ends where its texts are longer */
#define CODEC_ZSTD 6
#define PAGE_DATA 0
#define PAGE_DICTIONARY 2

/* Fields of the format's structs. */
enum {
	PAGE_TYPE = 1,
	PAGE_SIZE = 2,
	PAGE_PACKED = 3,
	PAGE_DATA_HEAD = 5,
	PAGE_DICTIONARY_HEAD = 7
};
enum { HEAD_VALUES = 1, HEAD_ENCODING = 2, HEAD_LEVELS = 3, HEAD_REPEATS = 4 };
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
	struct parquet_scratch scratch;
	ZSTD_CCtx *zstd;
	uint32_t rows; /* of the open group */
	uint64_t n_rows;
	uint32_t n_groups;
	struct strbuf groups; /* their descriptions, for the foot */
	struct strbuf dictionary, page, packed, head, chunk;
};

static void write_bytes(struct parquet *p, const char *bytes, size_t n)
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
	if (ok)
		p->zstd = ZSTD_createCCtx();
	ok = ok && p->columns && p->zstd && parquet_scratch_init(&p->scratch);
	for (unsigned i = 0; ok && i < n; i++)
		if (!(skip >> i & 1))
			ok = parquet_column_init(&p->columns[p->n_columns++], &columns[i], i);
	if (!ok) {
		parquet_free(p);
		return err_nomem_null(e);
	}
	p->f = f;
	write_bytes(p, "PAR1", 4);
	return p;
}

void parquet_free(struct parquet *p)
{
	if (!p)
		return;
	for (unsigned i = 0; i < p->n_columns; i++)
		parquet_column_deinit(&p->columns[i]);
	mem_free(p->columns);
	parquet_scratch_deinit(&p->scratch);
	ZSTD_freeCCtx(p->zstd);
	sb_free(&p->groups);
	sb_free(&p->dictionary);
	sb_free(&p->page);
	sb_free(&p->packed);
	sb_free(&p->head);
	sb_free(&p->chunk);
	mem_free(p);
}

/* --- pages --- */

struct chunk_size {
	uint64_t plain, packed; /* bytes with their heads */
};

/* Head and compressed bytes of a page; n: values of it, nothing included. */
static bool write_page(struct parquet *p, const struct strbuf *bytes, int type, uint32_t n,
	enum parquet_encoding encoding, struct chunk_size *size, struct incore_error *e)
{
	struct thrift t = {.out = &p->head};

	sb_reset(&p->packed);
	sb_reset(&p->head);
	if (!zstd_pack_with(p->zstd, bytes->p ? bytes->p : "", bytes->n, ZSTD_LEVEL, &p->packed, e))
		return false;
	thrift_number(&t, PAGE_TYPE, THRIFT_I32, type);
	thrift_number(&t, PAGE_SIZE, THRIFT_I32, (int64_t)bytes->n);
	thrift_number(&t, PAGE_PACKED, THRIFT_I32, (int64_t)p->packed.n);
	thrift_struct(&t, type == PAGE_DATA ? PAGE_DATA_HEAD : PAGE_DICTIONARY_HEAD);
	thrift_number(&t, HEAD_VALUES, THRIFT_I32, n);
	thrift_number(&t, HEAD_ENCODING, THRIFT_I32, encoding);
	if (type == PAGE_DATA) {
		thrift_number(&t, HEAD_LEVELS, THRIFT_I32, ENCODING_RLE);
		thrift_number(&t, HEAD_REPEATS, THRIFT_I32, ENCODING_RLE);
	}
	thrift_end(&t);
	thrift_end(&t);
	if (p->head.failed || bytes->failed || p->packed.n > INT32_MAX || bytes->n > INT32_MAX)
		return err_nomem(e);
	write_bytes(p, p->head.p, p->head.n);
	write_bytes(p, p->packed.p, p->packed.n);
	size->plain += p->head.n + bytes->n;
	size->packed += p->head.n + p->packed.n;
	return true;
}

static void put_statistics(struct parquet *p, const struct parquet_column *k, struct thrift *t)
{
	static const int16_t fields[] = {STAT_MOST, STAT_LEAST};

	thrift_struct(t, CHUNK_STATISTICS);
	thrift_number(t, STAT_NULLS, THRIFT_I64, k->rows - k->n);
	for (unsigned i = 0; i < 2; i++) {
		sb_reset(&p->head);
		if (parquet_column_bound(k, fields[i] == STAT_MOST, &p->head))
			thrift_binary(t, fields[i], (struct str){p->head.p, p->head.n});
	}
	thrift_end(t);
}

/* Describes the chunk in p->chunk. */
static void put_chunk(struct parquet *p, const struct parquet_column *k, struct parquet_layout l,
	uint64_t at, uint64_t data_at, const struct chunk_size *size)
{
	struct thrift t = {.out = &p->chunk};
	bool has_dictionary = l.encoding == ENCODING_DICTIONARY;

	thrift_element(&t);
	thrift_number(&t, COLUMN_FILE_OFFSET, THRIFT_I64, (int64_t)at);
	thrift_struct(&t, COLUMN_META);
	thrift_number(&t, CHUNK_TYPE, THRIFT_I32, k->physical);
	thrift_list(&t, CHUNK_ENCODINGS, THRIFT_I32, has_dictionary ? 3 : 2);
	bytes_put_zigzag(t.out, ENCODING_RLE);
	if (has_dictionary)
		bytes_put_zigzag(t.out, ENCODING_PLAIN);
	bytes_put_zigzag(t.out, l.encoding);
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
	struct parquet_layout l;

	sb_reset(&p->dictionary);
	sb_reset(&p->page);
	l = parquet_column_put(k, &p->scratch, &p->dictionary, &p->page);
	if (p->page.failed || p->dictionary.failed)
		return err_nomem(e);
	if (l.encoding == ENCODING_DICTIONARY && !write_page(p, &p->dictionary, PAGE_DICTIONARY,
							 l.n_dictionary, ENCODING_PLAIN, &size, e))
		return false;
	data_at = p->at;
	if (!write_page(p, &p->page, PAGE_DATA, k->rows, l.encoding, &size, e))
		return false;
	put_chunk(p, k, l, at, data_at, &size);
	sum->plain += size.plain;
	sum->packed += size.packed;
	return true;
}

static bool write_group(struct parquet *p, struct incore_error *e)
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

			if (!parquet_column_add(k, v + done * k->width, take))
				return err_nomem(e);
			is_full |= k->word_bytes > GROUP_TEXT_BYTES;
		}
		p->rows += take;
		done += take;
		if (is_full && !write_group(p, e))
			return false;
	}
	return true;
}

/* --- the foot --- */

static void put_type(struct thrift *t, enum column_type type)
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
		put_type(t, k->column->type);
		thrift_end(t);
	}
}

/* What each column means and its unit: "doc:cycles", "unit:cycles". */
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

	if (!write_group(p, e))
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
	for (unsigned i = 0; i < p->n_columns; i++) { /* by type: bounds are to be believed */
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
	write_bytes(p, b->p, b->n);
	return true;
}
