/* SPDX-License-Identifier: Apache-2.0 */
/*
 * packed_file.h: an opened packed file: header, trailer and section table checked, sections handed
 * out uncompressed. Owner: packed_file_close() after a successful open.
 */
#pragma once

#include "base/file.h"
#include "trace/packed_types.h"

struct packed_file {
	struct file_data data;
	struct packed_trailer trailer;
	struct packed_section sections[PACKED_SECTION_END]; /* by id; id 0: absent */
};

bool packed_file_open(
	struct packed_file *f, struct file_data data, const char *path, struct incore_error *e);
/* Opens bytes in memory, owned by the caller; they must stay valid. */
bool packed_file_of_bytes(struct packed_file *f, const uint8_t *p, size_t n, const char *path,
	struct incore_error *e);
void packed_file_close(struct packed_file *f);
/* Uncompressed bytes of a section on the heap (never NULL on success); its checksum is checked. */
bool packed_file_section(const struct packed_file *f, const char *path, uint32_t id, uint8_t **out,
	size_t *n, struct incore_error *e);
/* Compares the checksum of stored bytes with the directory's; disabled in fuzz builds. */
bool packed_checksum_ok(const uint8_t *p, size_t n, uint64_t seed, uint64_t want);
