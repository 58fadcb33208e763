/* SPDX-License-Identifier: Apache-2.0 */
/*
 * repair.h: the manifest of a dump that was not closed, rebuilt from its log. The log and the
 * payload file are only read; a second repair produces the same bytes. Owner: the caller frees the
 * report with repair_report_deinit(), also after a failure. One thread.
 */
#pragma once

#include "base/error.h"
#include "base/vec.h"
#include "dump/log_types.h"

#define REPAIR_LIST_MOST 1000 /* at most this many entries in each list below; counts are exact */

struct repair_lost { /* a payload that is missing although its record exists */
	uint64_t task_id;
	uint32_t slot;
	uint8_t stage;
	const char *why; /* "beyond the end of the payload file", "checksum differs", ... */
};

struct repair_task {
	uint64_t task_id, dispatch_id;
	uint32_t block_idx;
	uint32_t expected, found; /* arguments; expected UINT32_MAX: the task was never described */
};

struct repair_report {
	char *manifest;		     /* path of the file written */
	const char *payload_file;    /* its name in the directory */
	uint64_t records;	     /* tensors and scalars in the manifest */
	uint64_t flushes;	     /* FLUSH records seen */
	bool is_closed;		     /* CLOSE was seen */
	uint64_t log_bytes;	     /* of the file */
	uint64_t cut_off, cut_bytes; /* the part of the log that was not used */
	const char *cut_why;	     /* NULL: all of it was used */
	uint64_t bin_bytes;	     /* of the payload file */
	uint64_t n_lost_payloads, n_incomplete;
	uint64_t lost_records, lost_bytes; /* what the producer counted as lost */
	VEC(struct repair_lost) lost_payloads;
	VEC(struct repair_task) incomplete;
};

/* dir: the dump's directory. Writes the manifest beside the log. */
bool dump_repair(const char *dir, struct repair_report *report, struct incore_error *e);
void repair_report_deinit(struct repair_report *report);
