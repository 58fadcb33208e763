/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ascend.h: the readers of Ascend artifacts; each adds what one file or block holds to a builder.
 * `base` is the byte of the file where the given bytes begin, for messages. Damage that leaves a
 * usable rest is a note; false means that nothing could be made of the bytes.
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
/* "metadata" or "otherData" of a trace.json: ours or nobody's. False on lack of memory. */
bool asc_read_metadata(struct asc_build *b, struct str object, const char *path);
/* The block INSIGHT_TABLES; the bytes must stay until asc_deinit(). */
bool asc_read_own(struct asc_build *b, struct str bytes, const char *path, uint64_t base,
	struct incore_error *e);
bool asc_add_source(struct asc_build *b, struct str path, struct str text);
bool asc_read_bin(struct asc_build *b, const struct file_data *f, const char *path, bool with_trace,
	struct incore_error *e);
/* core: "core0.cubecore0" or NULL; as_rows: make code rows of it (there is no other source). */
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

/* import_ops.look of all of them. */
void asc_look(const char *path, struct capture_cache *cache, struct arena *a, struct capture *c);

/* The unit that a path of a per-core file names, or NULL. */
const char *asc_unit_of_path(struct arena *a, const char *path);

struct asc_copy {
	const char *path;
	const char *note;    /* code of the note where it differs */
	bool is_same_schema; /* lengths and missing instructions count, too */
};
/* Compares a builder with that of another file which should say the same. */
bool asc_compare_copy(struct asc_build *b, const struct asc_build *other,
	const struct asc_copy *copy, struct incore_error *e);

/* Compares a builder of ticks with that of the derived trace; takes its source lines. */
bool asc_compare(struct asc_build *b, const struct asc_build *other, struct incore_error *e);
