/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_write.h: turns a log into a manifest, for close and for repair. Records are ordered by
 * task, stage, slot, block, dispatch; equal ones keep the order of the log. Memory: job->sort_bytes
 * for the order, plus what the largest single task needs. Owner: see repair.h.
 */
#pragma once

#include <stddef.h>

#include "dump/log_read.h"
#include "dump/repair.h"

#define MANIFEST_SCHEMA "incore.args_dump/1"

struct manifest_job {
	const char *dir;
	bool is_older;	   /* tensor_dump.json + tensor_dump.bin, seventh generation */
	bool is_repair;	   /* marks the manifest as repaired, checks every payload */
	int level;	   /* -1: as the records say */
	size_t sort_bytes; /* 0: 64 MiB */
};

const char *manifest_file_name(bool is_older); /* "args_dump.json" */
const char *manifest_bin_name(bool is_older);  /* "args.bin" */

/* Reads dir/args.log, writes the manifest beside it, syncs and renames it. */
bool manifest_write(
	const struct manifest_job *job, struct repair_report *report, struct incore_error *e);
