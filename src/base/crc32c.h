/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc32c.h: CRC-32C (Castagnoli), for records written by a program that may die meanwhile. The
 * usual variant, with inversion before and after: crc32c(0, "123456789", 9) is 0xe3069283.
 * Allocates nothing; any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Continues from `crc`, the checksum of the bytes before (0: none). */
uint32_t crc32c(uint32_t crc, const void *data, size_t n);
/* The same result without the CPU's CRC instruction: for CPUs that lack it, and for tests. */
uint32_t crc32c_portable(uint32_t crc, const void *data, size_t n);
