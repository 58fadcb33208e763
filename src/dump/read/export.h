/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h: writes records as files for other programs, one file per record. Either all of them
 * appear or no file does: they go into a new directory that is renamed when it is complete, or into
 * an existing one where each file is new (or replaced if requested).
 */
#pragma once

#include "dump/read/model.h"

struct dump_export_ops {
	const char *name, *suffix;
	bool holds_nothing; /* also writes a file for a record without data */
	bool (*write)(const struct dump *d, uint32_t record, FILE *f, struct incore_error *e);
};

extern const struct dump_export_ops dump_export_npy, dump_export_raw, dump_export_csv,
	dump_export_txt;

#define DUMP_EXPORT_CHOICES "npy|raw|csv|txt"

struct dump_export_job {
	const struct dump *d;
	const struct dump_export_ops *ops;
	const uint32_t *records;
	size_t n;
	const char *dir;
	bool may_replace; /* existing files */
};

struct dump_export_result {
	uint64_t n_files, n_skipped; /* skipped: no payload */
	uint64_t n_overwritten;	     /* of those skipped: the payload was overwritten or lost */
	uint64_t n_truncated;	     /* files that hold only a prefix of the payload */
};

bool dump_export_run(
	const struct dump_export_job *job, struct dump_export_result *out, struct incore_error *e);
/* "task_0x0000000200000009_before_in0_i51.npy". */
void dump_export_name(const struct dump *d, uint32_t record, const char *suffix, char buf[96]);
