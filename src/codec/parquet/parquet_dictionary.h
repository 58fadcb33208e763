/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parquet_dictionary.h: numbers the distinct values in order of first occurrence. Small values are
 * looked up directly in a table, others by hash.
 * Owner: zeroed first; parquet_dictionary_deinit() frees.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define DICTIONARY_MAX 32767u /* entries */

struct parquet_dictionary {
	uint32_t n;
	uint64_t *entry;  /* the values, by index */
	uint16_t *direct; /* by small value: its index + 1; 0: not in the dictionary */
	uint16_t *slot;	  /* hash table of the indices + 1 of large values */
};

bool parquet_dictionary_init(struct parquet_dictionary *d);
void parquet_dictionary_deinit(struct parquet_dictionary *d);
void parquet_dictionary_clear(struct parquet_dictionary *d);
/* Finds or adds n values and returns their indices; false: the dictionary is full. */
bool parquet_dictionary_find(
	struct parquet_dictionary *d, const uint64_t *v, uint32_t n, uint16_t *out);
