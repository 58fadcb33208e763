/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export_npy.c: a record as a NumPy array, format 1.0. BFLOAT16 and the FP8 types, which NumPy does
 * not know, are widened to float32, exactly; FP4E2M1 stays bytes. A truncated tensor is flat.
 */
#include <string.h>

#include "dump/read/export.h"
#include "dump/read/values.h"

static const char *descr_of(unsigned dtype)
{
	static const char *const descr[DTYPE_COUNT] = {
		[DTYPE_FLOAT32] = "<f4",
		[DTYPE_FLOAT16] = "<f2",
		[DTYPE_INT32] = "<i4",
		[DTYPE_INT16] = "<i2",
		[DTYPE_INT8] = "|i1",
		[DTYPE_UINT8] = "|u1",
		[DTYPE_BFLOAT16] = "<f4",
		[DTYPE_INT64] = "<i8",
		[DTYPE_UINT64] = "<u8",
		[DTYPE_UINT16] = "<u2",
		[DTYPE_UINT32] = "<u4",
		[DTYPE_BOOL] = "|b1",
		[DTYPE_FP8E4M3FN] = "<f4",
		[DTYPE_FP8E8M0] = "<f4",
		[DTYPE_FP4E2M1] = "|u1",
	};

	return dtype < DTYPE_COUNT ? descr[dtype] : "|u1";
}

static bool is_widened(unsigned dtype)
{
	return dtype == DTYPE_BFLOAT16 || dtype == DTYPE_FP8E4M3FN || dtype == DTYPE_FP8E8M0;
}

static bool write_head(FILE *f, const char *descr, const struct dump_geometry *g)
{
	struct strbuf b = {0};
	uint8_t head[10] = {0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0};
	bool ok;

	sb_printf(&b, "{'descr': '%s', 'fortran_order': False, 'shape': (", descr);
	for (unsigned i = 0; i < g->rank; i++)
		sb_printf(&b, "%s%llu%s", i ? " " : "", (unsigned long long)g->shape[i],
			i + 1 < g->rank || g->rank == 1 ? "," : "");
	sb_puts(&b, "), }");
	while ((sizeof(head) + b.n + 1) % 64 && !b.failed)
		sb_putc(&b, ' ');
	sb_putc(&b, '\n');
	head[8] = (uint8_t)b.n;
	head[9] = (uint8_t)(b.n >> 8);
	ok = !b.failed;
	if (ok) {
		fwrite(head, 1, sizeof(head), f);
		fwrite(b.p, 1, b.n, f);
	}
	sb_free(&b);
	return ok;
}

static void write_wide(FILE *f, unsigned dtype, const uint8_t *p, uint64_t n)
{
	for (uint64_t i = 0; i < n && !ferror(f); i++) {
		float v = (float)value_double(dtype, p, i, 0);
		uint32_t bits;
		uint8_t out[4];

		memcpy(&bits, &v, sizeof(bits));
		for (unsigned k = 0; k < 4; k++)
			out[k] = (uint8_t)(bits >> 8 * k);
		fwrite(out, 1, sizeof(out), f);
	}
}

static bool write_npy(const struct dump *d, uint32_t record, FILE *f, struct incore_error *e)
{
	const struct dump_record *r = &d->records.v[record];
	struct dump_geometry g;
	const uint8_t *p;
	uint8_t scalar[8];
	uint64_t n;

	if (!dump_export_data(d, record, &p, &n, scalar, e))
		return false;
	dump_geometry_of(d, r, &g);
	if (r->kind == DUMP_SCALAR)
		g.rank = 0;
	else if (n != g.numel) /* a truncated tensor has no shape */
		g = (struct dump_geometry){.rank = 1, .shape = {n}, .numel = n};
	if (!write_head(f, descr_of(r->dtype), &g))
		return err_nomem(e);
	if (is_widened(r->dtype))
		write_wide(f, r->dtype, p, n);
	else if (n)
		fwrite(p, dtype_bytes(r->dtype) ? dtype_bytes(r->dtype) : 1, n, f);
	return true;
}

const struct dump_export_ops dump_export_npy = {"npy", "npy", false, write_npy};
