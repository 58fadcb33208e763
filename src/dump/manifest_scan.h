/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_scan.h: the first pass over a log: counters, losses, lost payloads, and the records in
 * the order of their tasks. Owner: the caller's struct, scan_deinit() frees. One thread.
 */
#pragma once

#include "base/file.h"
#include "base/map.h"
#include "dump/loss.h"
#include "dump/manifest_sort.h"
#include "dump/manifest_write.h"

struct scan_thread {
	uint64_t records, payload_bytes, dropped_records, dropped_bytes;
};

struct scan {
	const struct manifest_job *job;
	struct repair_report *report;
	struct file_data log, bin; /* bin: for repair only */
	struct log_reader reader;
	struct sorter sorter;
	int level; /* -1: no record states it */
	uint64_t total, before, after, by_role[3], truncated, dropped, payload_bytes;
	VEC(struct scan_thread) threads; /* by thread number */
	VEC(struct loss) losses;	 /* sorted by thread, task, cause; no duplicates */
	VEC(uint64_t) lost_payloads;	 /* offsets of records in the log, ascending */
	struct u64_map lost_tasks;	 /* tasks that lost something */
};

bool scan_log(struct scan *s, const struct manifest_job *job, struct repair_report *report,
	struct incore_error *e);
void scan_deinit(struct scan *s);
bool scan_is_payload_lost(const struct scan *s, uint64_t off);
