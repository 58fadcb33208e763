/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet.h: writes rows of described columns (column.h) as a Parquet file: row groups with one
 * column after the other, each with its minimum and maximum, dictionaries for repeated values,
 * zstd.
 *
 *	struct parquet *p = parquet_new(f, columns, n, e);
 *	parquet_rows(p, vectors, n_rows, e) ...
 *	parquet_finish(p, e); parquet_free(p);
 *
 * Memory use is that of one row group, however long the file. Texts are copied. Invalid UTF-8 in a
 * text becomes U+FFFD, because readers reject such a file.
 * Owner: the caller owns the file and the descriptions, which outlive the writer.
 */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "codec/column.h"

struct parquet;

/* Columns of scalar types and texts (COLUMN_U64 .. COLUMN_TEXT). skip: bit i leaves out column i.
 * NULL on error. */
struct parquet *parquet_new(
	FILE *f, const struct column *columns, unsigned n, uint64_t skip, struct incore_error *e);
/* One vector per column, as in struct table_batch; those of skipped columns are not read. */
bool parquet_rows(
	struct parquet *p, const void *const *vectors, uint32_t n, struct incore_error *e);
/* Writes the remaining rows and the footer; write errors stay in the file (ferror()). */
bool parquet_finish(struct parquet *p, struct incore_error *e);
/* After parquet_finish(): starts another file with the same columns. */
void parquet_restart(struct parquet *p, FILE *f);
void parquet_free(struct parquet *p);
