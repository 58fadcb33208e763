/* SPDX-License-Identifier: Apache-2.0 */
/* export_raw.c: the bytes of a record as they are: a tensor dense and row-major, a scalar as its
 * slot. */
#include "dump/read/export.h"

static bool write_raw(const struct dump *d, uint32_t record, FILE *f, struct incore_error *e)
{
	const uint8_t *p;
	uint8_t scalar[8];
	uint64_t n;

	if (!dump_export_data(d, record, &p, &n, scalar, e))
		return false;
	n = d->records.v[record].kind == DUMP_SCALAR ? 8 : d->records.v[record].bin_size;
	if (n)
		fwrite(p, 1, n, f); /* errors are reported when the file is committed */
	return true;
}

const struct dump_export_ops dump_export_raw = {"raw", "bin", false, write_raw};
