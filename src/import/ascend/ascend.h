/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend.h: the readers of Ascend artifacts; each adds the content of one file or block to a
 * builder. `base` is the offset in the file where the given bytes begin, for messages. Partial
 * damage becomes a note; false means that the bytes are unusable.
 */
#pragma once

#include "import/ascend/build.h"

bool asc_read_events(struct asc_build *b, struct str bytes, const char *path, uint64_t base,
	struct incore_error *e);
bool asc_read_api_instr(struct asc_build *b, struct str json, const char *path, uint64_t base,
	struct incore_error *e);
bool asc_read_api_file(struct asc_build *b, struct str json, const char *path, uint64_t base,
	struct incore_error *e);
bool asc_read_details(struct asc_build *b, unsigned type, struct str json, const char *path,
	uint64_t base, struct incore_error *e);
/* Reads "metadata" or "otherData" of a trace.json, if our exporter wrote it. False when out of
 * memory. */
bool asc_read_metadata(struct asc_build *b, struct str object, const char *path);
/* Reads the block INSIGHT_TABLES; the bytes must stay valid until asc_deinit(). */
bool asc_read_own(struct asc_build *b, struct str bytes, const char *path, uint64_t base,
	struct incore_error *e);
bool asc_add_source(struct asc_build *b, struct str path, struct str text);
bool asc_read_bin(struct asc_build *b, const struct file_data *f, const char *path, bool with_trace,
	struct incore_error *e);
/* core: "core0.cubecore0" or NULL; as_rows: make code rows from it (there is no other source). */
bool asc_read_instr_csv(struct asc_build *b, struct str bytes, const char *path, const char *core,
	struct incore_error *e);
bool asc_read_code_csv(struct asc_build *b, struct str bytes, const char *path, const char *core,
	struct incore_error *e);
bool asc_read_summary(
	struct asc_build *b, struct str bytes, const char *path, struct incore_error *e);
bool asc_is_summary_name(struct str name);
/* Reads the dumps of a directory; *n_cores of them were usable. */
bool asc_read_dumps(
	struct asc_build *b, const char *dir, uint32_t *n_cores, struct incore_error *e);
bool asc_read_mte_log(struct asc_build *b, struct str bytes, struct str core);
void asc_read_start_pc(struct asc_build *b, const char *path);
bool asc_is_dump_name(struct str name);

/* import_ops.look of all Ascend importers. */
void asc_look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c);

/* The unit named by the path of a per-core file, or NULL. */
const char *asc_unit_of_path(struct arena *a, const char *path);

struct asc_copy {
	const char *path;
	const char *note;    /* code of the note about a difference */
	bool is_same_schema; /* also compare lengths and missing instructions */
};
/* Compares a builder with that of another file that should have the same content. */
bool asc_compare_copy(struct asc_build *b, const struct asc_build *other,
	const struct asc_copy *copy, struct incore_error *e);

/* Compares a builder of ticks with that of the derived trace; takes its source lines. */
bool asc_compare(struct asc_build *b, const struct asc_build *other, struct incore_error *e);
