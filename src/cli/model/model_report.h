/* SPDX-License-Identifier: Apache-2.0 */
/*
 * model_report.h: how the verbs of `incore model` report the results of the engine: cores, pipes,
 * findings; and the directory they write them to, with the trace in the formats of the exports.
 */
#pragma once

#include "cli/model/model_job.h"
#include "model/engine/engine.h"
#include "model/engine/to_trace.h"

struct model_report {
	const struct opstream_set *set;
	const struct profile *profile;
	const struct timed *timed;
	bool is_file; /* it is kept as a file: state exactly which profile was used */
};

/* dir: where its files are; NULL: no files were written. */
bool model_json_report(struct cli *c, const struct model_report *r, const char *dir);
extern const struct record *const model_report_records[];
bool model_text_report(struct cli *c, const struct model_report *r);
/* Is it only for information, not a defect of the kernel? */
bool model_is_note(const struct model_finding *f);

/* Writes the directory of a run beside its place; the caller commits or aborts *d. */
bool model_write_dir(
	struct cli *c, const char *path, const struct model_report *r, struct out_dir *d);
/* Names of its files, text_items; path NULL: no files were written. */
struct rows model_dir_files(const char *path);
/* Times the streams as the options say, writes --output (if given) and prints the result. */
bool model_cli_time(struct cli *c, const struct opstream_set *set);
