/* SPDX-License-Identifier: Apache-2.0 */
/* model_get.h: cheap queries on a dump. Included only by model.h. */
#pragma once

const char *dump_role_name(unsigned role);   /* "input", "output", "inout" */
const char *dump_stage_name(unsigned stage); /* "before", "after", "other" */
const char *dump_kind_name(unsigned kind);   /* "tensor", "scalar" */
const char *dump_choice_name(unsigned choice);
/* "G4", "G4-G6", "X1", "incore/1", "device". */
const char *dump_generation_name(const struct dump *d, char buf[16]);
/* Level in words for a table: "2", "3 (inferred)", "unknown". */
const char *dump_level_name(const struct dump *d, char buf[24]);

void dump_geometry_of(const struct dump *d, const struct dump_record *r, struct dump_geometry *out);
/* Member func ids (int32, -1 unknown); n 0: not stated. */
unsigned dump_members_of(const struct dump *d, uint32_t members, int32_t out[DUMP_MAX_MEMBERS]);
/* Which kernel ran where: func ids on AIC, AIV0 and AIV1; -1: no kernel. If a record lists two func
 * ids, `has_cube` says whether one is the cube's. False: not stated. */
bool dump_positions(const struct dump *d, const struct dump_task *t, bool has_cube, int32_t out[3]);
const struct dump_extra *dump_extra_of(const struct dump *d, uint32_t record); /* or NULL */
/* Kernel name of a record: stated, or by func id from name_map_*.json; {NULL, 0}: unknown. */
struct str dump_kernel_of(const struct dump *d, uint32_t record);
uint32_t dump_block_of(const struct dump *d, uint32_t record); /* DUMP_NONE: not stated */

/* Bytes of a record's payload; NULL with *n 0 if it has no payload. Fails if it should have one
 * that the file does not hold. */
bool dump_payload(const struct dump *d, uint32_t record, const uint8_t **p, uint64_t *n,
	struct incore_error *e);
/* bin_size that follows from the shape; 0 for scalars and unknown dtypes. */
uint64_t dump_full_size(const struct dump *d, uint32_t record);
/* True if the strides are those of a dense row-major tensor. */
bool dump_geometry_is_dense(const struct dump_geometry *g);

const struct dump_task *dump_task_find(const struct dump *d, uint64_t id); /* or NULL */
const struct dump_slot *dump_slot_find(
	const struct dump *d, const struct dump_task *t, uint32_t index);
/* The slot that a record belongs to. */
const struct dump_slot *dump_slot_of(const struct dump *d, uint32_t record);
/* First after copy of a slot, or DUMP_NONE. */
uint32_t dump_slot_after(const struct dump *d, const struct dump_slot *s);

/* Opens the dump at path (a directory, a manifest, or a build directory with one below). Links that
 * lead out of it are followed only if follow_links is set. */
struct dump *dump_open(const char *path, bool follow_links, struct incore_error *e);
/* Reads a manifest from memory, without any file (payload NULL): for tests and fuzzing. */
struct dump *dump_from_bytes(
	const void *json, size_t size, const char *path, struct incore_error *e);
/* Opens raw 128-byte device records of one layout (record_read.h) and one thread; arena: a file
 * with the bytes of that thread's payload arena, or NULL. */
struct dump *dump_open_records(
	const char *path, const char *layout, const char *arena, struct incore_error *e);
void dump_free(struct dump *d);
/* Fills choice, before, writer and n_distinct of every slot; reads payload if a slot has several
 * copies. */
bool dump_choose(struct dump *d, struct incore_error *e);
