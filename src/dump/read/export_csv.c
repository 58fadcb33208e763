/* SPDX-License-Identifier: Apache-2.0 */
/* export_csv.c: a record as rows: one column per dimension, then the value with enough digits to
 * read it back exactly. */
#include "dump/read/export.h"
#include "dump/read/values.h"

static bool write_csv(const struct dump *d, uint32_t record, FILE *f, struct incore_error *e)
{
	const struct dump_record *r = &d->records.v[record];
	uint64_t at[DUMP_MAX_RANK] = {0}, n;
	struct dump_geometry g;
	const uint8_t *p;
	uint8_t scalar[8];
	char text[ELEMENT_TEXT];

	if (!dump_export_data(d, record, &p, &n, scalar, e))
		return false;
	dump_geometry_of(d, r, &g);
	for (unsigned k = 0; k < g.rank; k++)
		fprintf(f, "i%u,", k);
	fputs("value\r\n", f);
	for (uint64_t i = 0; i < n && !ferror(f); i++) {
		for (unsigned k = 0; k < g.rank; k++)
			fprintf(f, "%llu,", (unsigned long long)at[k]);
		if (r->kind == DUMP_SCALAR)
			scalar_text(r->dtype, r->bits, text);
		else
			value_text(r->dtype, value_bits(r->dtype, p, i), VALUE_ROUND_TRIP, text);
		fprintf(f, "%s\r\n", text);
		for (unsigned k = g.rank; k-- > 0;) {
			if (++at[k] < g.shape[k])
				break;
			at[k] = 0;
		}
	}
	return true;
}

const struct dump_export_ops dump_export_csv = {"csv", "csv", false, write_csv};
