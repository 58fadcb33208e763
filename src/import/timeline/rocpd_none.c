/* SPDX-License-Identifier: Apache-2.0 */
/* rocpd_none.c: databases of rocprofv3 for builds without SQLite. */
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

bool rocpd_chunks_open(struct rocpd_chunks *x, const void *data, size_t size, const char *path,
	struct incore_error *e)
{
	(void)x;
	return rocpd_load(NULL, data, size, path, e);
}

bool rocpd_chunk_read(void *ctx, const struct sqtt_chunk *c, uint8_t *to, struct incore_error *e)
{
	(void)c;
	(void)to;
	return rocpd_load(ctx, NULL, 0, "it", e);
}

void rocpd_chunks_close(struct rocpd_chunks *x)
{
	(void)x;
}
