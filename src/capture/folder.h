/* SPDX-License-Identifier: Apache-2.0 */
/*
 * folder.h: the directory that a capture goes to: new or empty, with a journal of what was run,
 * packed captures by the names of their kernels, and the result as JSON.
 * Owner: texts are in the caller's arena. May fail: on files and memory; "directory-used".
 */
#pragma once

#include "base/arena.h"
#include "capture/drive.h"
#include "codec/record.h"
#include "trace/trace.h"

/* Where it is, as an answer says it. */
struct folder {
	const char *directory; /* absolute: programs may change theirs */
	const char *journal;   /* path */
};
extern const struct record folder_record;

/* Makes the directory, or finds it empty, and opens the journal. */
bool folder_open(struct folder *f, const char *dir, struct journal *j, struct arena *a,
	struct incore_error *e);
/* A file with this text. */
bool folder_write(const char *path, struct str text, struct incore_error *e);
/* capture.json, also of what failed: the first failure is the one to tell. Returns ok, or false. */
bool folder_write_result(const char *dir, const struct record *r, const void *data, struct arena *a,
	bool ok, struct incore_error *e);
/* "DIR/kernel<tail>.incore", with a number behind it where that is taken; NULL on lack of memory. */
const char *folder_file_name(
	struct arena *a, const char *dir, const char *kernel, const char *tail);
bool folder_pack(
	const char *path, const struct trace *t, const struct drive *f, struct incore_error *e);
/* The part of a name that all spellings of it have: "void ns::f<int>(int)" and "_ZN2ns1fIiEEvi"
 * share "f". */
struct str kernel_plain_name(const char *name);
