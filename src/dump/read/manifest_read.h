/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_read.h: reads args_dump.json and its older forms into records. By key, never by
 * position; one pass, no tree; about 100 bytes per record. Only for the files of the reader; others
 * call dump_open().
 */
#pragma once

#include "codec/json_reader.h"
#include "dump/read/model.h"

/* Keys seen so far, from which the generation follows. */
struct manifest_evidence {
	bool has_timestamp, has_schema, has_level, has_args, has_tensors;
	bool has_raw_shape, has_subtask, has_kind, has_func_int, has_func_list;
	bool has_early_value, has_late_value; /* right after dtype; after numel */
	bool has_typed_scalar, has_ambiguous, has_argument_sets;
	bool has_inexact; /* a FLOAT32 scalar without its raw bits */
};

struct manifest_reader {
	struct json_reader r;
	struct dump *d;
	struct manifest_evidence seen;
	bool has_bin_file, is_bin_null;
	char *bin_file;	   /* in d->arena */
	unsigned next_key; /* key expected next in a record */
	/* X2: its layout was never published, so everything is found by key */
	bool is_dispatches, is_inside; /* a dispatch */
	uint32_t next_slot;
};

/* Reads the whole manifest into m->d. */
bool manifest_read(struct manifest_reader *m, const void *json, size_t size, const char *path,
	struct incore_error *e);
