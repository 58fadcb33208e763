/* SPDX-License-Identifier: Apache-2.0 */
/* repair.c: rebuilds the manifest of a dump that was not closed. */
#include "dump/repair.h"

#include <errno.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/mem.h"
#include "dump/manifest_write.h"

void repair_report_deinit(struct repair_report *report)
{
	VEC_FREE(&report->lost_payloads);
	VEC_FREE(&report->incomplete);
	mem_free(report->manifest);
	*report = (struct repair_report){0};
}

/* Finds which generation was being written: its payload file exists, even if empty. */
static bool find_generation(const char *dir, bool *is_older, struct incore_error *e)
{
	char *older = path_join(dir, manifest_bin_name(true));
	char *now = path_join(dir, manifest_bin_name(false));
	bool ok = older && now;

	if (ok)
		*is_older = file_exists(older) && !file_exists(now);
	else
		err_nomem(e);
	mem_free(older);
	mem_free(now);
	return ok;
}

bool dump_repair(const char *dir, struct repair_report *report, struct incore_error *e)
{
	struct manifest_job job = {.is_repair = true, .level = -1};
	char *real;
	bool ok;

	*report = (struct repair_report){0};
	if (!find_generation(dir, &job.is_older, e))
		return false;
	real = realpath(dir, NULL); /* so that close and repair write the same run_dir */
	if (!real)
		return err_errno(e, errno, dir, "cannot open");
	job.dir = real;
	ok = manifest_write(&job, report, e) || err_wrap(e, "repair of %s", dir);
	free(real);
	return ok;
}
