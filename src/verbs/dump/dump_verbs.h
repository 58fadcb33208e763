/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_verbs.h: shared by the questions about dumps (dump ls, dump show, ...): the options that
 * open a dump and select records, and records as text. For rows see dump_rows.h.
 */
#pragma once

#include "answer/answer.h"
#include "dump/read/model.h"
#include "dump/read/record_read.h"
#include "dump/read/select.h"
#include "page/page.h"

#define DTYPE_CHOICES                                                                              \
	"FLOAT32|FLOAT16|BFLOAT16|INT64|INT32|INT16|INT8|UINT64|UINT32|UINT16|UINT8|BOOL|"         \
	"FP8E4M3FN|FP8E8M0|FP4E2M1"

struct dump_filter { /* options that select records */
	const char *task, *kernel, *dtype;
	uint64_t dispatch, func, slot;
	unsigned stage, role, kind, payload, contiguous; /* NO_CHOICE: any */
	struct text_list indices;
};

/* S: the params struct, which has a `struct dump_filter filter`. */
#define DUMP_FILTER(S, M) OPTION_FIELD(S, filter.M)
#define DUMP_FILTER_OPTIONS(S)                                                                     \
	{OPT_TASK_T, NULL, NULL, "only this task: 0x200000009, 8589934601 or 2:9 (ring:local)",    \
		DUMP_FILTER(S, task)},                                                             \
		{OPT_DISPATCH, NULL, NULL, "only this dispatch id", DUMP_FILTER(S, dispatch)},     \
		{OPT_FUNC, NULL, NULL, "only tasks with this func id", DUMP_FILTER(S, func)},      \
		{OPT_KERNEL_TEXT, NULL, NULL, "only kernels with TEXT in their name",              \
			DUMP_FILTER(S, kernel)},                                                   \
		{OPT_STAGE, "before|after", NULL, "only records copied at this stage",             \
			DUMP_FILTER(S, stage)},                                                    \
		{OPT_ROLE, "input|output|inout", NULL, "only arguments with this role",            \
			DUMP_FILTER(S, role)},                                                     \
		{OPT_KIND, "tensor|scalar", NULL, "only arguments of this kind",                   \
			DUMP_FILTER(S, kind)},                                                     \
		{OPT_DTYPE, NULL, NULL, "only this element type, in upper or lower case",          \
			DUMP_FILTER(S, dtype)},                                                    \
		{OPT_ARG, NULL, NULL, "only this argument slot", DUMP_FILTER(S, slot)},            \
		{OPT_PAYLOAD, "yes|no", NULL, "only records with (without) payload",               \
			DUMP_FILTER(S, payload)},                                                  \
		{OPT_CONTIGUOUS, "yes|no", NULL, "only contiguous (strided) views",                \
			DUMP_FILTER(S, contiguous)},                                               \
	{                                                                                          \
		OPT_INDEX_I, NULL, NULL,                                                           \
			"only the record with this manifest index; may be repeated",               \
			DUMP_FILTER(S, indices)                                                    \
	}

struct dump_source {	 /* options that say how to read a dump */
	unsigned layout; /* NO_CHOICE: it has a manifest */
	const char *arena;
	bool follow_links;
};

/* S: the params struct, which has a `struct dump_source source`. */
#define DUMP_RECORDS_OPTIONS(S)                                                                    \
	{OPT_RECORDS, DEVICE_LAYOUT_CHOICES, NULL,                                                 \
		"the file holds 128-byte device records of this generation",                       \
		OPTION_FIELD(S, source.layout)},                                                   \
	{                                                                                          \
		OPT_ARENA, NULL, NULL,                                                             \
			"with --records: the payload arena of the thread that wrote them",         \
			OPTION_FIELD(S, source.arena)                                              \
	}
/* Opens a dump, which the answer keeps; defects found so far become warnings, and losses for
 * --strict. */
bool dump_ask_open(struct answer *a, const char *path, const struct dump_source *s,
	struct dump **out, struct incore_error *e);
/* Opens it without reporting its defects. */
bool dump_ask_open_quietly(struct answer *a, const char *path, const struct dump_source *s,
	struct dump **out, struct incore_error *e);
/* Makes a selection from the filter options of a request; free it with dump_select_deinit(), also
 * after a failure. */
bool dump_ask_select(const struct request *r, const struct dump_filter *f, struct dump_select *out,
	struct incore_error *e);

#define DUMP_DIMS_TEXT (24 * DUMP_MAX_RANK + 4)
#define DUMP_MEMBERS_TEXT ((size_t)16 * DUMP_MAX_MEMBERS)
#define DUMP_SCALAR_TEXT 160
/* These return text in the caller's buffer. */
const char *dump_text_members(const struct dump *d, uint32_t members, char buf[DUMP_MEMBERS_TEXT]);
const char *dump_text_dims(const uint64_t *v, unsigned n, char buf[DUMP_DIMS_TEXT]); /* "[16, 1]" */
/* "3.5 inexact", "1065353216 (1.0 as FLOAT32)"; "" for tensors. */
const char *dump_text_scalar(const struct dump_record *r, char buf[DUMP_SCALAR_TEXT]);
/* "72 records, 12 tasks, G11, level 2, 32,832 bytes of payload" */
void dump_page_head(struct page *p, const struct dump *d);
