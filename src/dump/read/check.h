/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.h: can this dump be trusted? Adds what it finds to d->problems and marks incomplete tasks.
 * A dump with a defect is defective: something in it is missing, wrong or contradictory.
 */
#pragma once

#include "dump/read/model.h"

enum dump_verdict { DUMP_SOUND, DUMP_SUSPECT, DUMP_DEFECTIVE };

struct dump_check {
	uint64_t n_regions, payload_bytes; /* in the file */
	uint64_t covered_bytes, uncovered_bytes, overlapping;
	uint64_t n_checksums, n_bad_checksums; /* records that state a checksum */
	uint64_t n_incomplete_tasks, n_missing_slots;
};

bool dump_check(struct dump *d, struct dump_check *out, struct incore_error *e);
enum dump_verdict dump_verdict_of(const struct dump *d);
const char *dump_verdict_name(enum dump_verdict v); /* "sound", "suspect", "defective" */
