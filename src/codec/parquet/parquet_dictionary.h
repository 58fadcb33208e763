/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_dictionary.h: numbers by the order of their first coming. Small ones are found where they
 * stand in a table, others by hash.
 * Owner: zeroed first; parquet_dictionary_deinit() frees.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DICTIONARY_MAX 32767u /* entries */

struct parquet_dictionary {
	uint32_t n;
	uint64_t *entry;  /* by place */
	uint16_t *direct; /* by number: its place + 1; 0: it has none */
	uint16_t *slot;	  /* the same of large numbers, by hash */
};

bool parquet_dictionary_init(struct parquet_dictionary *d);
void parquet_dictionary_deinit(struct parquet_dictionary *d);
void parquet_dictionary_clear(struct parquet_dictionary *d);
/* Places of n numbers; false: there are too many of them. */
bool parquet_dictionary_find(
	struct parquet_dictionary *d, const uint64_t *v, uint32_t n, uint16_t *out);
