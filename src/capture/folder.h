/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h: the output directory of a capture: new or empty, with a journal of what was run, packed
 * captures named after their kernels, and the result as JSON.
 * Owner: texts are in the caller's arena. May fail: on files and memory; "directory-used".
 */
#pragma once

#include "base/arena.h"
#include "capture/drive.h"
#include "codec/record.h"
#include "trace/trace.h"

/* The directory as stated in an answer. */
struct capture_folder {
	const char *directory; /* absolute: programs may change their working directory */
	const char *journal;   /* path */
};
extern const struct record folder_record;

/* Creates the directory, or checks that it is empty, and opens the journal. */
bool folder_open(struct capture_folder *f, const char *dir, struct journal *j, struct arena *a,
	struct incore_error *e);
/* Writes capture.json, also after a failure: the first error is the one to report. Returns ok, or
 * false if writing failed. */
bool folder_write_result(const char *dir, const struct record *r, const void *data, struct arena *a,
	bool ok, struct incore_error *e);
/* "DIR/kernel<tail>.incore", with a number appended if that name is taken; NULL: out of memory. */
const char *folder_file_name(
	struct arena *a, const char *dir, const char *kernel, const char *tail);
bool folder_pack(
	const char *path, const struct trace *t, const struct drive *f, struct incore_error *e);
/* The part of a kernel's name common to all its spellings: "void ns::f<int>(int)" and
 * "_ZN2ns1fIiEEvi" share "f". */
struct str kernel_plain_name(const char *name);
