/* SPDX-License-Identifier: Apache-2.0 */
/* select.h: selects records. Every filter that is set must match; indices are those of the
 * manifest. Owner: the caller; texts are borrowed. */
#pragma once

#include "dump/read/model.h"

#define SELECT_ANY UINT32_MAX

struct dump_select {
	VEC(uint32_t) indices; /* not empty: exactly these; other filters are ignored */
	bool has_task, has_dispatch, has_func;
	uint64_t task, dispatch;
	int32_t func;
	uint32_t slot;			   /* SELECT_ANY */
	unsigned stage, role, kind, dtype; /* SELECT_ANY */
	int has_payload, is_contiguous;	   /* -1 any, 0, 1 */
	const char *kernel;		   /* part of the name, any case; NULL: any */
};

void dump_select_init(struct dump_select *s);
void dump_select_deinit(struct dump_select *s);
/* "0x200000009", "0X...", "8589934601", "2:9". */
bool dump_task_parse(const char *text, uint64_t *out);
/* All selected records, in manifest order. An index that does not exist is an error. */
typedef VEC(uint32_t) record_list;
bool dump_select_list(const struct dump_select *s, const struct dump *d, record_list *out,
	struct incore_error *e);
