/* SPDX-License-Identifier: Apache-2.0 */
/*
 * log_write.h: appends to the log of this process (log_types.h). A record is written with one
 * call, so that it is complete in the file whatever happens to the process afterwards; records
 * that cannot be written are counted and reported in a record as soon as there is room again.
 * Threads: any. Never fails: if the log cannot be created, nothing is written (log_is_open()).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "cuda/log_types.h"

/* Creates a new file in the folder. */
void log_open(const char *folder);
bool log_is_open(void);
/* For the child of a fork(): the file belongs to the parent. */
void log_abandon(void);

struct log_part {
	const void *p;
	size_t n;
};
/* time_ns: CUPTI's clock. The body consists of two parts; the second may be empty. */
void log_add(enum cuda_record_type type, uint64_t time_ns, struct log_part a, struct log_part b);
/* Returns the id of a text and writes the text if it is new. */
uint64_t log_text(const char *text);
/* True only the first time for each id of a kind. */
bool log_is_new(enum cuda_record_type kind, uint64_t id);
/* text may be "". */
void log_trouble(enum cuda_trouble_kind kind, uint32_t code, uint64_t n, const char *text);
