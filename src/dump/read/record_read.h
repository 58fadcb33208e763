/* SPDX-License-Identifier: Apache-2.0 */
/* record_read.h: reads 128-byte device records of every layout. Their contents are untrusted. */
#pragma once

#include "dump/read/model.h"
#include "dump/record_types.h"

#define DEVICE_LAYOUT_CHOICES "g1|g3|g4|g7|g9|g10"

/* Rank and member count are clamped before anything is copied. */
void device_record_get(const uint8_t *p, enum device_layout layout, struct device_record *out);
/* Reads a file of records, or of whole record buffers (256 and a count), into d. */
bool records_read(
	struct dump *d, const uint8_t *p, size_t size, const char *layout, struct incore_error *e);
/* Then the payload: bin_offset is a position in the thread's arena until one of these is called.
 * `path` is a file with the contents of that arena. */
bool records_use_arena(struct dump *d, const char *path, struct incore_error *e);
void records_without_arena(struct dump *d);
