/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_txt.c: a record as the legacy viewer writes it: a head of "# key: value" lines, the rows
 * of the last dimension, then every element with its indices. Floats have that viewer's few digits.
 */
#include "dump/read/export.h"

#include <string.h>

#include "dump/read/values.h"

static void put_dims(FILE *f, const char *name, unsigned rank, const uint64_t *v)
{
	fprintf(f, "# %s: [", name);
	for (unsigned i = 0; i < rank; i++)
		fprintf(f, "%s%llu", i ? ", " : "", (unsigned long long)v[i]);
	fputs("]\n", f);
}

static void put_head(FILE *f, const struct dump_record *r, const struct dump_geometry *g)
{
	static const char *const stages[] = {"before_dispatch", "after_completion", "other"};

	fprintf(f, "# task_id: 0x%016llx\n", (unsigned long long)r->task_id);
	fprintf(f, "# role: %s\n# stage: %s\n# arg_index: %u\n# dtype: %s\n# kind: %s\n",
		dump_role_name(r->role), stages[r->stage], r->slot, dtype_name(r->dtype),
		dump_kind_name(r->kind));
	/* that viewer is a Python program, hence True and False */
	fprintf(f, "# is_contiguous: %s\n", r->flags & DUMP_CONTIGUOUS ? "True" : "False");
	put_dims(f, "shape", g->rank, g->shape);
	put_dims(f, "strides", g->rank, g->strides);
	fprintf(f, "# start_offset: %llu\n", (unsigned long long)r->start_offset);
}

static const char *text_of(unsigned dtype, const uint8_t *p, uint64_t i, char buf[ELEMENT_TEXT])
{
	return value_text(dtype, value_bits(dtype, p, i), VALUE_LEGACY, buf);
}

static void put_overview(FILE *f, unsigned dtype, const uint8_t *p, uint64_t n, uint64_t row)
{
	size_t width = 0;
	char text[ELEMENT_TEXT];

	for (uint64_t i = 0; i < n; i++) {
		size_t w = strlen(text_of(dtype, p, i, text));

		width = w > width ? w : width;
	}
	fputs("# Overview:\n", f);
	for (uint64_t i = 0; i < n && !ferror(f); i++)
		fprintf(f, "%*s%c", (int)width, text_of(dtype, p, i, text),
			(i + 1) % row == 0 || i + 1 == n ? '\n' : ' ');
}

static void put_detail(
	FILE *f, unsigned dtype, const uint8_t *p, uint64_t n, const struct dump_geometry *g)
{
	uint64_t at[DUMP_MAX_RANK] = {0};
	char text[ELEMENT_TEXT];

	fputs("# Detail:\n", f);
	for (uint64_t i = 0; i < n && !ferror(f); i++) {
		fputc('[', f);
		for (unsigned k = 0; k < g->rank; k++)
			fprintf(f, "%s%llu", k ? ", " : "", (unsigned long long)at[k]);
		fprintf(f, "] %s\n", text_of(dtype, p, i, text));
		for (unsigned k = g->rank; k-- > 0;) {
			if (++at[k] < g->shape[k])
				break;
			at[k] = 0;
		}
	}
}

static bool write_txt(const struct dump *d, uint32_t record, FILE *f, struct incore_error *e)
{
	const struct dump_record *r = &d->records.v[record];
	struct dump_geometry g;
	const uint8_t *p;
	uint8_t scalar[8];
	char text[ELEMENT_TEXT];
	uint64_t n;

	if (!dump_export_data(d, record, &p, &n, scalar, e))
		return false;
	dump_geometry_of(d, r, &g);
	put_head(f, r, &g);
	if (r->flags & DUMP_OVERWRITTEN) {
		fputs("# DATA OVERWRITTEN (host too slow)\n", f);
		return true;
	}
	if (r->flags & DUMP_TRUNCATED)
		fputs("# DATA TRUNCATED (tensor too large for arena)\n", f);
	if (r->kind == DUMP_SCALAR) {
		fprintf(f, "# value: %s\n", scalar_text(r->dtype, r->bits, text));
	} else if (!n) {
		fputs("# (no data)\n", f);
	} else {
		put_overview(
			f, r->dtype, p, n, g.rank && g.shape[g.rank - 1] ? g.shape[g.rank - 1] : 1);
		put_detail(f, r->dtype, p, n, &g);
	}
	return true;
}

const struct dump_export_ops dump_export_txt = {"txt", "txt", true, write_txt};
