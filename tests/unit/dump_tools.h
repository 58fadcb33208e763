/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_tools.h: a dump in a directory of its own, made and read back. Reading goes through jansson,
 * not through our own reader. Everything asserts.
 */
#ifndef TEST_DUMP_TOOLS_H
#define TEST_DUMP_TOOLS_H

#include <stdint.h>

#include <jansson.h>

#include "incore/dump.h"

/* cmocka fixtures: an empty directory at tool_dir(), gone afterwards. */
int tool_make_dir(void **state);
int tool_remove_dir(void **state);
const char *tool_dir(void);

struct incore_dump_options tool_options(void); /* defaults, small rings */
struct incore_dump *tool_open(const struct incore_dump_options *o);
struct incore_dump_writer *tool_attach(struct incore_dump *d);

/* A task with func id 42 and these counts. */
void tool_task(struct incore_dump_writer *w, uint64_t task_id, uint32_t tensors, uint32_t scalars);
/* A dense row of n UINT64 elements at `data`; returns what the library returned. */
int tool_row(struct incore_dump_writer *w, uint64_t task_id, uint32_t slot, const uint64_t *data,
	uint64_t n);
int tool_scalar(struct incore_dump_writer *w, uint64_t task_id, uint32_t slot, uint64_t raw);

/* The manifest as it lies in the directory; NULL where there is none. The caller drops it. */
json_t *tool_manifest(const char *name);
json_t *tool_close(struct incore_dump *d); /* close must give 0 */
json_t *tool_repair(void);
/* Record i of "args" (or "tensors"). */
json_t *tool_record(json_t *manifest, size_t i);
size_t tool_records(json_t *manifest);
uint64_t tool_u64(json_t *object, const char *key);
const char *tool_string(json_t *object, const char *key);
/* True, or absent and false. */
int tool_flag(json_t *object, const char *key);
/* The payload of a record is these bytes. */
void tool_expect_payload(json_t *record, const char *bin, const void *want, size_t n);
char *tool_path(const char *name); /* static storage */

#endif
