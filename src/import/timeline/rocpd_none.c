/* SPDX-License-Identifier: Apache-2.0 */
/* rocpd_none.c: databases of rocprofv3 where the program is built without SQLite. */
#include "import/timeline/rocpd.h"

bool rocpd_load(
	struct rocpd *r, const void *data, size_t size, const char *path, struct incore_error *e)
{
	(void)r;
	(void)data;
	(void)size;
	return err_set(e, INCORE_MISSING, "no-sqlite",
		"%s is a database, and this incore was built without SQLite", path);
}
