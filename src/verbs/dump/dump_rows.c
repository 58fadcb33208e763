/* SPDX-License-Identifier: Apache-2.0 */
/* dump_rows.c: dumps, records and values with their descriptions. */
#include "verbs/dump/dump_rows.h"

#include <math.h>

#include "dump/read/values.h"

/* --- which dump --- */

static const struct column deps_columns[] = {
	COLUMN(deps, path, UNIT_NONE, "path of the dependency file"),
};
static const struct record deps_record = RECORD_OF(deps, RECORD_SCALAR, deps_columns);

static const struct column files_columns[] = {
	COLUMN_AS(dump, dir, "path", UNIT_NONE, "directory of the dump"),
	COLUMN(dump, manifest, UNIT_NONE, "path of the manifest of the dump"),
	COLUMN(dump, payload, UNIT_NONE,
		"path of the payload file of the dump, which may be missing", NULLABLE),
};
static const struct record files_record = RECORD_OF(dump, RECORD_BLOCK, files_columns);

static const struct column state_columns[] = {
	COLUMN_AS(dump, is_level_inferred, "level_inferred", UNIT_NONE,
		"the level is not stated; it was inferred from what was dumped"),
	COLUMN_AS(dump, is_repaired, "repaired", UNIT_NONE, "the manifest was rebuilt from a log"),
	POINTER(dump, deps, &deps_record, "the dependency file that was read"),
	COLUMN_AS(dump, records.n, "records", UNIT_COUNT, "records in the manifest"),
	COLUMN_AS(dump, tasks.n, "tasks", UNIT_COUNT, "tasks that the records belong to"),
	COLUMN_AS(dump, counters.dropped, "dropped_records", UNIT_COUNT,
		"records that the run reports as dropped", NULLABLE),
	COLUMN_AS(dump, counters.overwritten, "dropped_overwrite", UNIT_COUNT,
		"records that the run reports as overwritten", NULLABLE),
	COLUMN_AS(dump, counters.truncated, "truncated", UNIT_COUNT,
		"records that the run reports as truncated", NULLABLE),
};
static const struct record state_record = RECORD_OF(dump, RECORD_BLOCK, state_columns);

static const struct column input_columns[] = {
	PART_AT(dump_input, dump, &files_record),
	COLUMN(dump_input, payload_bytes, UNIT_BYTES, "size of the payload file", NULLABLE),
	COLUMN(dump_input, generation, UNIT_NONE,
		"generations of the format that the dump may have"),
	COLUMN(dump_input, level, UNIT_NONE, "how much the run dumped", NULLABLE),
	PART_AT(dump_input, dump, &state_record),
};
const struct record dump_input_record = RECORD_OF(dump_input, RECORD_BLOCK, input_columns);
const struct record *const dump_inputs[] = {&dump_input_record, NULL};

void dump_input_fill(struct dump_input *in, const struct dump *d)
{
	*in = (struct dump_input){.dump = d,
		.payload_bytes = d->payload && !d->is_payload_missing ? d->bytes.size : NO_U64,
		.level = d->level == DUMP_LEVEL_UNKNOWN ? NO_I64 : d->level};
	in->generation = dump_generation_name(d, in->generation_text);
}

bool dump_answer(struct answer *a, const struct dump *d, const struct record *r, const void *data,
	struct incore_error *e)
{
	struct dump_input *in = ANSWER_NEW(a, dump_input, e);

	if (!in)
		return false;
	dump_input_fill(in, d);
	answer_about(a, &dump_input_record, in);
	answer_set(a, r, data);
	return true;
}

/* --- values --- */

struct pair {
	double a, b;
};
static const struct column pair_columns[] = {
	COLUMN(pair, a, UNIT_NONE, "the low half of the byte", .digits = -9),
	COLUMN(pair, b, UNIT_NONE, "the high half of the byte", .digits = -9),
};
static const struct record pair_record = RECORD_OF(pair, RECORD_TUPLE, pair_columns);

static struct any any_double(double v, int8_t digits)
{
	if (isnan(v))
		return (struct any){.type = COLUMN_TEXT, .text = "nan"};
	if (isinf(v))
		return (struct any){.type = COLUMN_TEXT, .text = v < 0 ? "-inf" : "inf"};
	return (struct any){.type = COLUMN_F64, .digits = digits, .d = v};
}

struct any dump_value(unsigned dtype, uint64_t bits)
{
	uint8_t p[8];

	for (unsigned i = 0; i < 8; i++)
		p[i] = (uint8_t)(bits >> 8 * i);
	if (dtype == DTYPE_FP4E2M1)
		return (struct any){.type = COLUMN_RECORD,
			.of = &pair_record,
			.pair = {value_double(dtype, p, 0, 0), value_double(dtype, p, 0, 1)}};
	if (dtype == DTYPE_FLOAT16)
		return any_double(value_double(dtype, p, 0, 0), -5);
	if (dtype_is_float(dtype))
		return any_double(value_double(dtype, p, 0, 0), -9);
	if (dtype == DTYPE_BOOL && bits <= 1)
		return (struct any){.type = COLUMN_BOOL, .is = bits != 0};
	if (dtype == DTYPE_UINT64 || dtype >= DTYPE_COUNT)
		return (struct any){.type = COLUMN_U64, .u = bits};
	return (struct any){.type = COLUMN_I64, .i = value_i64(dtype, bits)};
}

/* --- records --- */

struct func_id {
	int64_t v;
};
static const struct column func_id_columns[] = {
	COLUMN(func_id, v, UNIT_NONE, "id of a member function; -1: unknown"),
};
const struct record func_id_record = RECORD_OF(func_id, RECORD_SCALAR, func_id_columns);

struct rows func_id_rows(const struct dump *d, uint32_t members, int64_t ids[DUMP_MAX_MEMBERS])
{
	int32_t narrow[DUMP_MAX_MEMBERS];
	unsigned n = dump_members_of(d, members, narrow);

	for (unsigned i = 0; i < n; i++)
		ids[i] = narrow[i];
	return (struct rows){n ? ids : NULL, n};
}

struct checksum {
	uint32_t v;
};
static const struct column crc_columns[] = {
	COLUMN(checksum, v, UNIT_NONE, "CRC-32C of the payload", .flags = COLUMN_HEX, .digits = 8),
};
static const struct record crc_record = RECORD_OF(checksum, RECORD_SCALAR, crc_columns);

static const struct column scalar_columns[] = {
	COLUMN(scalar_row, value, UNIT_NONE, "value of the scalar, read by its type",
		.words = DUMP_VALUE_TYPES, NULLABLE),
	COLUMN(scalar_row, raw, UNIT_NONE, "bits of the argument slot", .flags = COLUMN_HEX,
		.digits = 16),
	COLUMN(scalar_row, exact, UNIT_NONE, "false: the bits come from a text with six digits"),
};
static const struct record scalar_record = RECORD_OF(scalar_row, RECORD_LINE, scalar_columns);

static const struct column buffer_columns[] = {
	COLUMN_AS(record_buffer, addr, "buffer_addr", UNIT_ADDRESS, "address of the buffer",
		.flags = COLUMN_HEX, .digits = 1),
	COLUMN_AS(record_buffer, size, "buffer_size", UNIT_BYTES, "size of the buffer; 0: unknown"),
	COLUMN_AS(record_buffer, is_from_deps, "buffer_from", UNIT_NONE,
		"where the size of the buffer is stated", .words = "record|deps.json"),
};
static const struct record buffer_record = RECORD_OF(record_buffer, RECORD_LINE, buffer_columns);

static const struct column record_row_columns[] = {
	COLUMN(record_row, index, UNIT_INDEX, "number of the record in the manifest"),
	DUMP_TASK_ID(record_row),
	LIST(record_row, func_id, &func_id_record, "functions that the task runs", NULLABLE),
	DUMP_KERNEL(record_row),
	COLUMN(record_row, slot, UNIT_INDEX, "number of the argument", .title = "arg"),
	COLUMN(record_row, role, UNIT_NONE, "whether the task reads or writes the argument",
		.words = DUMP_ROLES),
	COLUMN(record_row, stage, UNIT_NONE, "whether it was copied before or after the task",
		.words = DUMP_STAGES),
	COLUMN(record_row, kind, UNIT_NONE, "kind of the argument", .words = DUMP_KINDS),
	COLUMN(record_row, dtype, UNIT_NONE, "type of the argument's elements",
		.words = DUMP_DTYPES),
	COLUMN(record_row, contiguous, UNIT_NONE,
		"the elements are contiguous, as the manifest states"),
	LIST(record_row, shape, &number_item_record, "dimensions of the argument, in elements"),
	LIST(record_row, strides, &number_item_record, "strides of the dimensions, in elements"),
	COLUMN(record_row, start_offset, UNIT_COUNT,
		"elements of the buffer before the first one of the tensor"),
	COLUMN(record_row, numel, UNIT_COUNT, "number of elements: the product of the shape"),
	COLUMN(record_row, bin_offset, UNIT_BYTES,
		"offset of the record's bytes in the payload file"),
	COLUMN(record_row, bin_size, UNIT_BYTES, "size of the record's bytes in the payload file",
		.title = "bytes"),
	COLUMN(record_row, truncated, UNIT_NONE,
		"only the first bytes of the argument were copied"),
	COLUMN(record_row, overwritten, UNIT_NONE,
		"the bytes were overwritten before they were written out"),
	COLUMN(record_row, ambiguous, UNIT_NONE, "the argument number is uncertain"),
	POINTER(record_row, crc32c, &crc_record, "CRC-32C of the payload", OPTIONAL),
	COLUMN(record_row, payload_lost, UNIT_NONE, "the bytes of the record were lost",
		.flags = COLUMN_OPTIONAL | COLUMN_SOME),
	COLUMN(record_row, incomplete, UNIT_NONE, "the task was not dumped completely",
		.flags = COLUMN_OPTIONAL | COLUMN_SOME),
	COLUMN(record_row, torn, UNIT_NONE,
		"the record was copied while its task was still running",
		.flags = COLUMN_OPTIONAL | COLUMN_SOME),
	PART_AT(record_row, scalar, &scalar_record, OPTIONAL),
	POINTER(record_row, dispatch_id, &number_item_record, "dispatch that the task belongs to",
		OPTIONAL),
	COLUMN(record_row, block_idx, UNIT_INDEX, "number of the block that copied the record",
		OPTIONAL),
	COLUMN(record_row, block_num, UNIT_COUNT, "blocks of the task", OPTIONAL),
	COLUMN(record_row, core_type, UNIT_NONE, "kind of the core that ran the block", OPTIONAL),
	COLUMN(record_row, core_id, UNIT_INDEX, "number of the core that ran the block", OPTIONAL),
	PART_AT(record_row, buffer, &buffer_record, OPTIONAL),
};
const struct record record_row_record = RECORD_OF(record_row, RECORD_LINE, record_row_columns);

static struct scalar_row scalar_of(const struct dump_record *r)
{
	unsigned n = dtype_bytes(r->dtype);
	uint64_t bits = n && n < 8 ? r->bits & ((1ull << 8 * n) - 1) : r->bits;

	return (struct scalar_row){.value = r->flags & DUMP_HAS_VALUE
						    ? dump_value(r->dtype, bits)
						    : (struct any){.type = COLUMN_TEXT},
		.raw = r->bits,
		.exact = r->flags & DUMP_EXACT};
}

static void fill_extra(struct record_row *x, const struct dump *d, const struct dump_extra *k)
{
	x->dispatch_id = k->has_dispatch ? &k->dispatch_id : NULL;
	x->block_idx = k->block_idx;
	x->block_num = k->block_num;
	x->core_id = k->core_id;
	if (k->core_type != DUMP_NONE)
		x->core_type = d->names.strs[k->core_type];
}

void record_row_fill(struct record_row *x, const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];
	const struct dump_extra *extra = dump_extra_of(d, record);

	*x = (struct record_row){.index = record,
		.slot = r->slot,
		.task_id = r->task_id,
		.kernel = dump_kernel_of(d, record),
		.role = dump_role_name(r->role),
		.stage = dump_stage_name(r->stage),
		.kind = dump_kind_name(r->kind),
		.dtype = dtype_name(r->dtype),
		.contiguous = r->flags & DUMP_CONTIGUOUS,
		.truncated = r->flags & DUMP_TRUNCATED,
		.overwritten = r->flags & DUMP_OVERWRITTEN,
		.ambiguous = r->flags & DUMP_AMBIGUOUS,
		.payload_lost = r->flags & DUMP_LOST,
		.incomplete = r->flags & DUMP_INCOMPLETE,
		.torn = r->flags & DUMP_TORN,
		.start_offset = r->start_offset,
		.bin_offset = r->bin_offset,
		.bin_size = r->bin_size,
		.crc32c = r->flags & DUMP_HAS_CRC ? &r->crc32c : NULL,
		.block_idx = DUMP_NONE,
		.block_num = DUMP_NONE,
		.core_id = DUMP_NONE};
	dump_geometry_of(d, r, &x->geometry);
	x->numel = x->geometry.numel;
	x->shape = (struct rows){x->geometry.shape, x->geometry.rank};
	x->strides = (struct rows){x->geometry.strides, x->geometry.rank};
	x->func_id = func_id_rows(d, r->members, x->func_ids);
	if (r->kind == DUMP_SCALAR) {
		x->scalar_held = scalar_of(r);
		x->scalar = &x->scalar_held;
	}
	if (extra)
		fill_extra(x, d, extra);
	if (record_buffer_of(d, record, &x->buffer_held))
		x->buffer = &x->buffer_held;
}
