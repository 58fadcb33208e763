/* SPDX-License-Identifier: Apache-2.0 */
/* temp_dir.c: removes one tree of a test. */
#include "temp_dir.h"

#include <ftw.h>
#include <stdio.h>
#include <string.h>

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(path);
}

int temp_dir_remove(const char *dir)
{
	if (strncmp(dir, "/tmp/incore-", 12) != 0 || strchr(dir + 12, '/'))
		return -1;
	return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}
