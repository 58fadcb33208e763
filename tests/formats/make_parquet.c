/* SPDX-License-Identifier: Apache-2.0 */
/* make_parquet.c: a Parquet file of every type and layout, whose values follow from the row's number
 * (tables.py has the same formulas in SQL). usage: make_parquet FILE ROWS */
#include <math.h>
#include <stdlib.h>

#include "codec/parquet/parquet.h"
#include "codec/record.h"

#define BATCH 1000u

struct row {
	uint64_t i, far, hash, maybe;
	uint32_t big, few;
	uint16_t mid;
	uint8_t small;
	int64_t down, signed_maybe;
	double real;
	bool is_third;
	const char *word, *name, *bad;
};

static const struct column columns[] = {
	COLUMN(row, i, UNIT_INDEX, "counts"),
	COLUMN(row, far, UNIT_ADDRESS, "from the end of 64 bits"),
	COLUMN(row, hash, UNIT_NONE, "as good as random"),
	COLUMN(row, maybe, UNIT_NONE, "nothing in every seventh row", NULLABLE),
	COLUMN(row, big, UNIT_NONE, "beyond a signed 32-bit number"),
	COLUMN(row, few, UNIT_NONE, "three values in runs"),
	COLUMN(row, mid, UNIT_NONE, "16 bits"),
	COLUMN(row, small, UNIT_NONE, "8 bits"),
	COLUMN(row, down, UNIT_CYCLES, "falls below zero"),
	COLUMN(row, signed_maybe, UNIT_NONE, "nothing but in every fifth row", NULLABLE),
	COLUMN(row, real, UNIT_NONE, "not a number in every ninth row", NULLABLE),
	COLUMN(row, is_third, UNIT_NONE, "every third"),
	COLUMN(row, word, UNIT_NONE, "one of a few, nothing in every fourth row", NULLABLE),
	COLUMN(row, name, UNIT_NONE, "each its own"),
	COLUMN(row, bad, UNIT_NONE, "no UTF-8"),
};
#define N_COLUMNS (sizeof(columns) / sizeof(columns[0]))

static struct {
	uint64_t i[BATCH], far[BATCH], hash[BATCH], maybe[BATCH];
	uint32_t big[BATCH], few[BATCH];
	uint16_t mid[BATCH];
	uint8_t small[BATCH];
	int64_t down[BATCH], signed_maybe[BATCH];
	double real[BATCH];
	bool is_third[BATCH];
	const char *word[BATCH], *name[BATCH], *bad[BATCH];
	char text[BATCH][24];
} v;

static void fill_batch(uint64_t from, uint32_t n)
{
	static const char *const words[] = {"alpha", "beta", "", "delta", "\xc3\xa9psilon"};

	for (uint32_t k = 0; k < n; k++) {
		uint64_t i = from + k;

		v.i[k] = i;
		v.far[k] = UINT64_MAX - 1 - i % 77777;
		v.hash[k] = i * 2654435761u % 1099511627776u;
		v.maybe[k] = i % 7 == 0 ? NO_U64 : i / 100;
		v.big[k] = (uint32_t)(4000000000u - i);
		v.few[k] = (uint32_t)(i / 50 % 3);
		v.mid[k] = (uint16_t)(i * 7 % 65536);
		v.small[k] = (uint8_t)(i % 200);
		v.down[k] = 1000 - (int64_t)(i * i % 10000019);
		v.signed_maybe[k] = i % 5 == 0 ? -(int64_t)i : NO_I64;
		v.real[k] = i % 9 == 0 ? (double)NAN : (double)i / 8;
		v.is_third[k] = i % 3 == 0;
		v.word[k] = i % 4 == 0 ? NULL : words[i % 5];
		snprintf(v.text[k], sizeof(v.text[k]), "row %llu", (unsigned long long)i);
		v.name[k] = v.text[k];
		v.bad[k] = i % 2 ? "a\xff"
				   "b"
				 : "ab";
	}
}

int main(int argc, char **argv)
{
	const void *at[N_COLUMNS] = {v.i, v.far, v.hash, v.maybe, v.big, v.few, v.mid, v.small,
		v.down, v.signed_maybe, v.real, v.is_third, v.word, v.name, v.bad};
	uint64_t rows = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	FILE *f = argc > 2 ? fopen(argv[1], "wb") : NULL;
	struct incore_error e = {0};
	struct parquet *p;
	bool ok;

	if (!f)
		return 2;
	p = parquet_new(f, columns, N_COLUMNS, 0, &e);
	ok = p != NULL;
	for (uint64_t i = 0; ok && i < rows; i += BATCH) {
		uint32_t n = rows - i < BATCH ? (uint32_t)(rows - i) : BATCH;

		fill_batch(i, n);
		ok = parquet_rows(p, at, n, &e);
	}
	ok = ok && parquet_finish(p, &e);
	parquet_free(p);
	incore_error_clear(&e);
	return (fclose(f) == 0 && ok) ? 0 : 1;
}
