/* SPDX-License-Identifier: Apache-2.0 */
/* opstream_io.h: what the readers and writers of op streams share. */
#pragma once

#include "model/stream/opstream.h"

/* What is wrong: entry `index` of `table` is not `expected`. */
struct opstream_fault {
	const char *table;
	size_t index;
	const char *expected;
};

bool opstream_check(const struct opstream *s, struct opstream_fault *f);

bool opstream_read_binary(struct opstream_set *set, const uint8_t *p, size_t n, const char *path,
	struct incore_error *e);
bool opstream_read_jsonl(struct opstream_set *set, const char *p, size_t n, const char *path,
	struct incore_error *e);
