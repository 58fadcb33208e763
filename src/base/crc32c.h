/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc32c.h: CRC-32C (Castagnoli) for records that are written while a program may die: the usual one,
 * with inversion before and after; crc32c(0, "123456789", 9) is 0xe3069283. No memory, any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Goes on from `crc`, the checksum of what came before (0: nothing). */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);
/* The same without the processor's instruction: where it lacks one, and for tests. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t n);

extern const uint32_t crc32c_table[8][256];
