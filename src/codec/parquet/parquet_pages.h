/* SPDX-License-Identifier: Apache-2.0 */
/* parquet_pages.h: how the values of a page of a Parquet file are laid out. Pure but for the buffer,
 * where failures latch. */
#pragma once

#include "base/str.h"

/* Runs and packed bits by turns, as of levels and of places in a dictionary; each value is less than
 * 2^width. */
void parquet_put_runs(struct strbuf *b, const uint32_t *v, uint32_t n, unsigned width);
/* The same of n equal values. */
void parquet_put_run(struct strbuf *b, uint32_t v, uint32_t n, unsigned width);
/* Differences of neighbours, packed by blocks of 128. */
void parquet_put_deltas(struct strbuf *b, const uint64_t *v, uint32_t n);
/* Bits that numbers up to `most` take. */
static inline unsigned parquet_bits(uint64_t most)
{
	return most ? 64 - (unsigned)__builtin_clzll(most) : 0;
}
