/* SPDX-License-Identifier: Apache-2.0 */
/* dump_json.c: dumps, records and values as JSON, the same in every verb of `incore dump`. */
#include <inttypes.h>
#include <math.h>

#include "cli/dump/dump_job.h"
#include "cli/options.h"
#include "dump/read/deps.h"
#include "dump/read/values.h"

void dump_json_hex(struct json_writer *w, const char *key, uint64_t v, int digits)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%0*" PRIx64, digits, v);
	json_w_kv_cstr(w, key, text);
}

static void put_or_null(struct json_writer *w, const char *key, uint64_t v, uint64_t none)
{
	if (v == none)
		json_w_kv_null(w, key);
	else
		json_w_kv_u64(w, key, v);
}

void dump_json_input(struct json_writer *w, const struct dump *d)
{
	const struct dump_counters *n = &d->counters;
	char gen[16];

	json_w_object(w);
	json_w_kv_cstr(w, "path", d->dir);
	json_w_kv_cstr(w, "manifest", d->manifest);
	json_w_kv_cstr(w, "payload", d->payload);
	json_w_key(w, "payload_bytes");
	if (d->payload && !d->is_payload_missing)
		json_w_u64(w, d->bytes.size);
	else
		json_w_null(w);
	json_w_kv_cstr(w, "generation", dump_generation_name(d, gen));
	json_w_key(w, "level");
	if (d->level == DUMP_LEVEL_UNKNOWN)
		json_w_null(w);
	else
		json_w_i64(w, d->level);
	json_w_kv_bool(w, "level_inferred", d->is_level_inferred);
	json_w_kv_bool(w, "repaired", d->is_repaired);
	json_w_kv_cstr(w, "deps", d->deps ? d->deps->path : NULL);
	json_w_kv_u64(w, "records", d->records.n);
	json_w_kv_u64(w, "tasks", d->tasks.n);
	put_or_null(w, "dropped_records", n->dropped, UINT64_MAX);
	put_or_null(w, "dropped_overwrite", n->overwritten, UINT64_MAX);
	put_or_null(w, "truncated", n->truncated, UINT64_MAX);
	json_w_end(w);
}

void dump_json_begin(struct cli *c, struct json_writer *w, const struct dump *d)
{
	cli_json_head(c, w);
	dump_json_input(w, d);
	json_w_key(w, "data");
	json_w_object(w);
	json_w_kv_cstr(w, "verb", verb_last_word(c->verb));
}

static void put_double(struct json_writer *w, double v, int digits)
{
	if (isnan(v))
		json_w_cstr(w, "nan");
	else if (isinf(v))
		json_w_cstr(w, v < 0 ? "-inf" : "inf");
	else
		json_w_sig(w, v, digits);
}

void dump_json_value(struct json_writer *w, unsigned dtype, uint64_t bits)
{
	uint8_t p[8];

	for (unsigned i = 0; i < 8; i++)
		p[i] = (uint8_t)(bits >> 8 * i);
	if (dtype == DTYPE_FP4E2M1) {
		json_w_row(w);
		put_double(w, value_double(dtype, p, 0, 0), 9);
		put_double(w, value_double(dtype, p, 0, 1), 9);
		json_w_end(w);
	} else if (dtype_is_float(dtype)) {
		put_double(w, value_double(dtype, p, 0, 0),
			dtype == DTYPE_FLOAT16	  ? 5
			: dtype == DTYPE_BFLOAT16 ? 4
						  : 9);
	} else if (dtype == DTYPE_BOOL && bits <= 1) {
		json_w_bool(w, bits != 0);
	} else if (dtype == DTYPE_UINT64 || dtype >= DTYPE_COUNT) {
		json_w_u64(w, bits);
	} else {
		json_w_i64(w, value_i64(dtype, bits));
	}
}

static void put_dims(struct json_writer *w, const char *key, const uint64_t *v, unsigned n)
{
	json_w_key(w, key);
	json_w_row(w);
	for (unsigned i = 0; i < n; i++)
		json_w_u64(w, v[i]);
	json_w_end(w);
}

static void put_members(struct json_writer *w, const struct dump *d, uint32_t members)
{
	int32_t ids[DUMP_MAX_MEMBERS];
	unsigned n = dump_members_of(d, members, ids);

	json_w_key(w, "func_id");
	if (!n) {
		json_w_null(w);
		return;
	}
	json_w_row(w);
	for (unsigned i = 0; i < n; i++)
		json_w_i64(w, ids[i]);
	json_w_end(w);
}

static void put_extra(struct json_writer *w, const struct dump *d, const struct dump_extra *x)
{
	if (x->has_dispatch)
		json_w_kv_u64(w, "dispatch_id", x->dispatch_id);
	if (x->block_idx != DUMP_NONE)
		json_w_kv_u64(w, "block_idx", x->block_idx);
	if (x->block_num != DUMP_NONE)
		json_w_kv_u64(w, "block_num", x->block_num);
	if (x->core_type != DUMP_NONE)
		json_w_kv_str(w, "core_type", d->names.strs[x->core_type]);
	if (x->core_id != DUMP_NONE)
		json_w_kv_u64(w, "core_id", x->core_id);
}

static void put_buffer(struct json_writer *w, const struct dump *d, uint32_t record)
{
	struct record_buffer b;

	if (!record_buffer_of(d, record, &b))
		return;
	dump_json_hex(w, "buffer_addr", b.addr, 1);
	json_w_kv_u64(w, "buffer_size", b.size);
	json_w_kv_cstr(w, "buffer_from", b.is_from_deps ? "deps.json" : "record");
}

static void put_scalar(struct json_writer *w, const struct dump_record *r)
{
	uint64_t bits = r->bits;
	unsigned n = dtype_bytes(r->dtype);

	if (n && n < 8)
		bits &= (1ull << 8 * n) - 1;
	json_w_key(w, "value");
	if (r->flags & DUMP_HAS_VALUE)
		dump_json_value(w, r->dtype, bits);
	else
		json_w_null(w);
	dump_json_hex(w, "raw", r->bits, 16);
	json_w_kv_bool(w, "exact", r->flags & DUMP_EXACT);
}

void dump_json_record(struct json_writer *w, const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];
	const struct dump_extra *x = dump_extra_of(d, record);
	struct str kernel = dump_kernel_of(d, record);
	struct dump_geometry g;

	dump_geometry_of(d, r, &g);
	json_w_kv_u64(w, "index", record);
	dump_json_hex(w, "task_id", r->task_id, 16);
	put_members(w, d, r->members);
	json_w_key(w, "kernel");
	if (kernel.p)
		json_w_str(w, kernel);
	else
		json_w_null(w);
	json_w_kv_u64(w, "slot", r->slot);
	json_w_kv_cstr(w, "role", dump_role_name(r->role));
	json_w_kv_cstr(w, "stage", dump_stage_name(r->stage));
	json_w_kv_cstr(w, "kind", dump_kind_name(r->kind));
	json_w_kv_cstr(w, "dtype", dtype_name(r->dtype));
	json_w_kv_bool(w, "contiguous", r->flags & DUMP_CONTIGUOUS);
	put_dims(w, "shape", g.shape, g.rank);
	put_dims(w, "strides", g.strides, g.rank);
	json_w_kv_u64(w, "start_offset", r->start_offset);
	json_w_kv_u64(w, "numel", g.numel);
	json_w_kv_u64(w, "bin_offset", r->bin_offset);
	json_w_kv_u64(w, "bin_size", r->bin_size);
	json_w_kv_bool(w, "truncated", r->flags & DUMP_TRUNCATED);
	json_w_kv_bool(w, "overwritten", r->flags & DUMP_OVERWRITTEN);
	json_w_kv_bool(w, "ambiguous", r->flags & DUMP_AMBIGUOUS);
	if (r->flags & DUMP_HAS_CRC)
		dump_json_hex(w, "crc32c", r->crc32c, 8);
	if (r->flags & DUMP_LOST)
		json_w_kv_bool(w, "payload_lost", true);
	if (r->flags & DUMP_INCOMPLETE)
		json_w_kv_bool(w, "incomplete", true);
	if (r->flags & DUMP_TORN)
		json_w_kv_bool(w, "torn", true);
	if (r->kind == DUMP_SCALAR)
		put_scalar(w, r);
	if (x)
		put_extra(w, d, x);
	put_buffer(w, d, record);
}
