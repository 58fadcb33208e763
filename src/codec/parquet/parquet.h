/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet.h: rows of described columns (column.h) as a Parquet file: columns one after the other in
 * groups of rows, each with its least and greatest value, dictionaries where values repeat, zstd.
 *
 *	struct parquet *p = parquet_new(f, columns, n, e);
 *	parquet_rows(p, vectors, n_rows, e) ...
 *	parquet_finish(p, e); parquet_free(p);
 *
 * Memory is that of one group of rows, however long the file. Texts are copied. What is no UTF-8 in
 * a text becomes U+FFFD: readers refuse a file for it.
 * Owner: the caller owns the file and the descriptions, which outlive the writer.
 */
#pragma once

#include <stdio.h>

#include "base/error.h"
#include "codec/column.h"

struct parquet;

/* Columns of scalar types and texts (COLUMN_U64 .. COLUMN_TEXT). skip: bit i leaves column i out.
 * NULL with the error. */
struct parquet *parquet_new(
	FILE *f, const struct column *columns, unsigned n, uint64_t skip, struct incore_error *e);
/* Vectors by column, as of struct table_batch; those of columns that are left out are not looked
 * at. */
bool parquet_rows(
	struct parquet *p, const void *const *vectors, uint32_t n, struct incore_error *e);
/* The rest of the rows and the foot of the file; failures of the file stay in it (ferror()). */
bool parquet_finish(struct parquet *p, struct incore_error *e);
/* After that: another file of the same columns. */
void parquet_restart(struct parquet *p, FILE *f);
void parquet_free(struct parquet *p);
