/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_read.h: args_dump.json and its ancestors into records. By key, never by position; one
 * pass, no tree; about 100 bytes a record. For the files of the reader; others call dump_open().
 */
#pragma once

#include "codec/json_reader.h"
#include "dump/read/model.h"

/* What has been seen: tells the generation. */
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
	char *bin_file;	   /* of d->arena */
	unsigned next_key; /* of a record: where the next one is expected */
	/* X2: its layout was never published, so that all of it is found by key */
	bool is_dispatches, is_inside; /* a dispatch */
	uint32_t next_slot;
};

/* All of it; what the file says goes to m->d. */
bool manifest_read(struct manifest_reader *m, const void *json, size_t size, const char *path,
	struct incore_error *e);
/* One item of tensors[] or args[]; false: the reader has failed. */
bool manifest_record(struct manifest_reader *m);
/* What our own library counted as lost, and tasks whose arguments did not all arrive: problems. */
bool manifest_losses(struct manifest_reader *m);
bool manifest_incomplete(struct manifest_reader *m);
/* A number, or a string of one: "0x0000000200000000", "8589934592". */
bool manifest_number(struct manifest_reader *m, const char *what, uint64_t *out);
/* Refused names: absolute, with a slash, "..". */
bool manifest_name_is_safe(struct str name);
