/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_job.h: shared by the verbs of `incore dump`: the selection options, opening a dump, and
 * records as text. For rows see dump_rows.h.
 */
#pragma once

#include "cli/cli.h"
#include "dump/read/model.h"
#include "dump/read/record_read.h"
#include "dump/read/select.h"

#define DTYPE_CHOICES                                                                              \
	"FLOAT32|FLOAT16|BFLOAT16|INT64|INT32|INT16|INT8|UINT64|UINT32|UINT16|UINT8|BOOL|"         \
	"FP8E4M3FN|FP8E8M0|FP4E2M1"

#define DUMP_SELECT_OPTIONS                                                                        \
	{OPT_TASK_T, NULL, NULL, "only this task: 0x200000009, 8589934601 or 2:9 (ring:local)"},   \
		{OPT_DISPATCH, NULL, NULL, "only this dispatch id"},                               \
		{OPT_FUNC, NULL, NULL, "only tasks with this func id"},                            \
		{OPT_KERNEL_TEXT, NULL, NULL, "only kernels with TEXT in their name"},             \
		{OPT_STAGE, "before|after", NULL, "only records copied at this stage"},            \
		{OPT_ROLE, "input|output|inout", NULL, "only arguments with this role"},           \
		{OPT_KIND, "tensor|scalar", NULL, "only arguments of this kind"},                  \
		{OPT_DTYPE, NULL, NULL, "only this element type, in upper or lower case"},         \
		{OPT_ARG, NULL, NULL, "only this argument slot"},                                  \
		{OPT_PAYLOAD, "yes|no", NULL, "only records with (without) payload"},              \
		{OPT_CONTIGUOUS, "yes|no", NULL, "only contiguous (strided) views"},               \
	{                                                                                          \
		OPT_INDEX_I, NULL, NULL,                                                           \
			"only the record with this manifest index; may be repeated"                \
	}

#define DUMP_RECORDS_OPTION                                                                        \
	{OPT_RECORDS, DEVICE_LAYOUT_CHOICES, NULL,                                                 \
		"the file holds 128-byte device records of this generation"},                      \
	{                                                                                          \
		OPT_ARENA, NULL, NULL,                                                             \
			"with --records: the payload arena of the thread that wrote them"          \
	}

extern const struct verb dump_verb_ls, dump_verb_show, dump_verb_check, dump_verb_diff,
	dump_verb_export, dump_verb_repair;

/* Opens one dump; defects found so far become warnings, and losses for --strict. */
bool dump_cli_open(struct cli *c, const char *path, struct dump **out);
/* Opens one dump without reporting its defects. */
bool dump_cli_open_quietly(struct cli *c, const char *path, struct dump **out);
/* Makes a selection from the selection options; free it with dump_select_deinit(). */
bool dump_cli_select(struct cli *c, struct dump_select *out);

#define DUMP_DIMS_TEXT (24 * DUMP_MAX_RANK + 4)
#define DUMP_MEMBERS_TEXT ((size_t)16 * DUMP_MAX_MEMBERS)
#define DUMP_SCALAR_TEXT 160
/* These return text in the caller's buffer. */
const char *dump_text_members(const struct dump *d, uint32_t members, char buf[DUMP_MEMBERS_TEXT]);
const char *dump_text_dims(const uint64_t *v, unsigned n, char buf[DUMP_DIMS_TEXT]); /* "[16, 1]" */
/* "3.5 inexact", "1065353216 (1.0 as FLOAT32)"; "" for tensors. */
const char *dump_text_scalar(const struct dump_record *r, char buf[DUMP_SCALAR_TEXT]);
/* "72 records, 12 tasks, G11, level 2, 32,832 bytes of payload" */
void dump_text_head(struct cli *c, const struct dump *d);
