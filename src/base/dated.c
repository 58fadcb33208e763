/* SPDX-License-Identifier: Apache-2.0 */
/* dated.c: folders that have the time in their name. */
#include "base/dated.h"

#include <errno.h>
#include <sys/stat.h>
#include <time.h>

void dated_stamp(char out[DATED_STAMP], bool has_gap)
{
	time_t now = time(NULL);
	struct tm tm;

	localtime_r(&now, &tm);
	if (has_gap)
		strftime(out, DATED_STAMP, "%Y%m%d_%H%M%S", &tm);
	else
		strftime(out, DATED_STAMP, "%Y%m%d%H%M%S", &tm);
}

const char *dated_dir(struct arena *a, const char *stem, unsigned mode, struct incore_error *e)
{
	char stamp[DATED_STAMP];

	dated_stamp(stamp, true);
	for (unsigned i = 0; i < 1000; i++) {
		char *path = i ? arena_printf(a, "%s_%s_%u", stem, stamp, i)
			       : arena_printf(a, "%s_%s", stem, stamp);

		if (!path)
			return err_nomem_null(e);
		if (mkdir(path, mode) == 0) /* ours from now on: another run takes the next name */
			return path;
		if (errno != EEXIST) {
			err_errno(e, errno, path, "make the directory");
			return NULL;
		}
	}
	err_set(e, INCORE_FAILED, "no-place", "%s_%s: a thousand of this second are there", stem,
		stamp);
	return NULL;
}
