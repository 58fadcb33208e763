/* SPDX-License-Identifier: Apache-2.0 */
/*
 * manifest_read.c: reads the manifest of every generation. Parts: values and geometry; one record;
 * losses; the manifest.
 */
#include "dump/read/manifest_read.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#include "base/file.h"
#include "codec/json_fields.h"

/* Every key, in the order in which producers write them. */
enum record_key {
	KEY_TASK_ID,
	KEY_SUBTASK_ID,
	KEY_FUNC_ID,
	KEY_ARG_INDEX,
	KEY_ROLE,
	KEY_STAGE,
	KEY_KIND,
	KEY_DTYPE,
	KEY_VALUE,
	KEY_IS_CONTIGUOUS,
	KEY_SHAPE,
	KEY_STRIDES,
	KEY_RAW_SHAPE,
	KEY_OFFSETS,
	KEY_START_OFFSET,
	KEY_NUMEL,
	KEY_AMBIGUOUS,
	KEY_BIN_OFFSET,
	KEY_BIN_SIZE,
	KEY_TRUNCATED,
	KEY_OVERWRITTEN,
	KEY_DISPATCH_ID,
	KEY_BLOCK_IDX,
	KEY_BLOCK_NUM,
	KEY_CORE_TYPE,
	KEY_CORE_ID,
	KEY_KERNEL,
	KEY_TENSOR_COUNT,
	KEY_SCALAR_COUNT,
	KEY_BUFFER_ADDR,
	KEY_BUFFER_SIZE,
	KEY_RAW,
	KEY_CRC32C,
	KEY_INCOMPLETE,
	KEY_PAYLOAD_LOST,
	KEY_TORN,
	KEY_SCALARS,
	KEY_INDEX, /* for KEY_ARG_INDEX */
	KEY_COUNT
};

enum value_type {
	VALUE_NONE,
	VALUE_INTEGER,
	VALUE_REAL,
	VALUE_BOOL,
	VALUE_NULL,
	VALUE_INFINITE,
	VALUE_BITS
};

/* A `value` as written; its dtype may follow later. */
struct raw_value {
	enum value_type type;
	bool is_negative;   /* INTEGER, INFINITE */
	uint64_t magnitude; /* INTEGER, BOOL, BITS */
	double real;
};

struct raw_dims {
	unsigned n;
	uint64_t v[DUMP_MAX_RANK];
};

struct raw_record {
	struct dump_record rec;
	struct dump_extra extra;
	struct raw_value value;
	struct raw_dims shape, strides, raw_shape, offsets;
	uint64_t numel, raw;
	uint64_t seen; /* bit per record_key */
	enum record_key last_key;
	bool has_extra;
	bool is_context, is_other; /* of the runtime's contexts; of a kind that is not known */
	VEC(uint64_t) scalars;	   /* X1 */
};

/* --- values and geometry ---------------------------------------------------------------------- */

/*
 * Converts values of a record: a printed scalar to its slot bits, and both ways to write a view to
 * one geometry.
 */

static bool reject(
	struct manifest_reader *m, const struct raw_record *x, const char *code, const char *text)
{
	m->r.value_at = m->r.start + x->rec.at;
	return json_reject(&m->r, code, "task 0x%llx slot %u: %s",
		(unsigned long long)x->rec.task_id, x->rec.slot, text);
}

static double as_real(const struct raw_value *v)
{
	switch (v->type) {
	case VALUE_REAL:
		return v->real;
	case VALUE_NULL:
		return (double)NAN;
	case VALUE_INFINITE:
		return v->is_negative ? -(double)INFINITY : (double)INFINITY;
	default:
		return v->is_negative ? -(double)v->magnitude : (double)v->magnitude;
	}
}

static uint64_t manifest_value_float_bits(double v)
{
	float f = (float)v;
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	return isnan(f) ? 0x7fc00000u : bits;
}

/* Like the slot: signed values wrap to their width and are then zero-extended. */
static bool integer_bits(struct manifest_reader *m, struct raw_record *x)
{
	const struct raw_value *v = &x->value;
	unsigned dtype = x->rec.dtype;
	unsigned width = 8 * dtype_bytes(dtype);
	uint64_t most = width && width < 64 ? (1ull << width) - 1 : UINT64_MAX;

	if (v->type != VALUE_INTEGER && v->type != VALUE_BOOL)
		return reject(m, x, "bad-value", "value: expected an integer");
	if (v->is_negative && v->magnitude) {
		if (!dtype_is_signed(dtype) || v->magnitude > most / 2 + 1)
			return reject(m, x, "out-of-range", "value: does not fit its dtype");
		x->rec.bits = -v->magnitude & most;
		return true;
	}
	/* types without a printed form are written as the raw slot */
	if ((dtype == DTYPE_INT32 || dtype == DTYPE_UINT32 || dtype == DTYPE_BOOL) &&
		v->magnitude > most)
		return reject(m, x, "out-of-range", "value: does not fit its dtype");
	x->rec.bits = v->magnitude;
	return true;
}

/* Converts value and dtype to slot bits; false: rejected. */
static bool record_scalar_bits(struct manifest_reader *m, struct raw_record *x)
{
	struct dump_record *r = &x->rec;

	if (r->dtype != DTYPE_UINT64)
		m->seen.has_typed_scalar = true;
	if (x->value.type != VALUE_NONE)
		r->flags |= DUMP_HAS_VALUE;
	if (x->value.type == VALUE_BITS || x->seen >> KEY_RAW & 1) {
		r->bits = x->value.type == VALUE_BITS ? x->value.magnitude : x->raw;
		r->flags |= DUMP_EXACT | DUMP_HAS_VALUE;
		return true;
	}
	if (x->value.type == VALUE_NONE)
		return true; /* a defect that `check` reports */
	if (r->dtype == DTYPE_FLOAT32) {
		r->bits = manifest_value_float_bits(as_real(&x->value));
		m->seen.has_inexact = true;
		return true;
	}
	r->flags |= DUMP_EXACT;
	return integer_bits(m, x);
}

/* Converts raw_shape and offsets to strides and start_offset. */
static bool convert_view(struct raw_record *x)
{
	uint64_t stride = 1, start = 0, step;

	x->strides.n = x->raw_shape.n;
	for (unsigned d = x->raw_shape.n; d-- > 0;) {
		uint64_t off = d < x->offsets.n ? x->offsets.v[d] : 0;

		x->strides.v[d] = stride;
		if (__builtin_mul_overflow(off, stride, &step) ||
			__builtin_add_overflow(start, step, &start) ||
			__builtin_mul_overflow(stride, x->raw_shape.v[d], &stride))
			return false;
	}
	x->rec.start_offset = start;
	return true;
}

/* Do the extent of the view (from the start of the buffer) and the size of the data fit 64 bits? */
static bool sizes_fit(const struct raw_record *x)
{
	uint64_t numel = 1, end = x->rec.start_offset, step, bytes;
	uint64_t size = dtype_bytes(x->rec.dtype);
	bool is_empty = false;

	for (unsigned d = 0; d < x->shape.n; d++)
		is_empty |= x->shape.v[d] == 0;
	for (unsigned d = 0; !is_empty && d < x->shape.n; d++) {
		if (__builtin_mul_overflow(numel, x->shape.v[d], &numel) ||
			__builtin_mul_overflow(x->shape.v[d] - 1, x->strides.v[d], &step) ||
			__builtin_add_overflow(end, step, &end))
			return false;
	}
	return !__builtin_mul_overflow(numel, size ? size : 1, &bytes) &&
	       !__builtin_mul_overflow(end, size ? size : 1, &bytes);
}

/* Converts shape, strides (or raw_shape, offsets) to one geometry index; false: rejected. */
static bool record_geometry(struct manifest_reader *m, struct raw_record *x)
{
	uint64_t words[1 + 2 * DUMP_MAX_RANK];
	unsigned n = x->shape.n;

	if (x->seen >> KEY_RAW_SHAPE & 1) {
		if (x->raw_shape.n != n || (x->offsets.n && x->offsets.n != n))
			return reject(m, x, "bad-value",
				"raw_shape and offsets have another rank than shape");
		if (!convert_view(x))
			return reject(m, x, "out-of-range", "the view overflows 64 bits");
	} else if (!(x->seen >> KEY_STRIDES & 1)) {
		uint64_t stride = 1;

		for (unsigned d = n; d-- > 0;) {
			x->strides.v[d] = stride;
			if (__builtin_mul_overflow(stride, x->shape.v[d], &stride))
				return reject(m, x, "out-of-range", "the shape overflows 64 bits");
		}
	} else if (x->strides.n != n) {
		return reject(m, x, "bad-value", "strides have another rank than shape");
	}
	if (!sizes_fit(x))
		return reject(m, x, "out-of-range", "shape, strides or offset overflow 64 bits");
	words[0] = n;
	memcpy(words + 1, x->shape.v, n * sizeof(words[0]));
	memcpy(words + 1 + n, x->strides.v, n * sizeof(words[0]));
	x->rec.geometry = intern_add(&m->d->geometries,
		(struct str){(const char *)words, (1 + 2 * (size_t)n) * sizeof(words[0])});
	return x->rec.geometry != INTERN_NONE || reject(m, x, "no-memory", "out of memory");
}

/* --- one record ------------------------------------------------------------------------------- */

/* One item of tensors[] or args[]: every key of every generation, any order. */

#define FIRST_CONTEXT 48 /* slot */

/* Reads a number, or a string that holds one: "0x0000000200000000", "8589934592". */
static bool manifest_number(struct manifest_reader *m, const char *what, uint64_t *out)
{
	struct str s;

	if (json_peek(&m->r) != JSON_STRING)
		return json_get_u64(&m->r, out);
	if (!json_get_str(&m->r, &s))
		return false;
	if (!str_to_u64(s, out))
		return json_reject(&m->r, "bad-value", "%s: expected a number, found '%.*s'", what,
			(int)(s.n < 40 ? s.n : 40), s.p);
	return true;
}

static bool manifest_record_get_number(const struct json_member *f)
{
	return manifest_number(f->ctx, f->f->key, f->at);
}

static bool get_small(const struct json_member *f)
{
	uint64_t v;

	if (!manifest_number(f->ctx, f->f->key, &v))
		return false;
	if (v >= DUMP_NONE)
		return json_reject(f->r, "out-of-range", "%s: %llu is too large", f->f->key,
			(unsigned long long)v);
	*(uint32_t *)f->at = (uint32_t)v;
	return true;
}

/* The place of a word, in any case, in a list; where it is not there, the length of the list. */
static uint8_t word_index(struct str s, const char *words)
{
	struct str all = str_of(words), word;
	uint8_t i = 0;

	for (; str_cut(&all, "|", &word); i++)
		if (s.n == word.n && strncasecmp(s.p, word.p, s.n) == 0)
			break;
	return i;
}

static bool unknown_word(const struct json_member *f, struct str s)
{
	return json_reject(f->r, "bad-value", "%s: unknown word '%.*s'", f->f->key,
		(int)(s.n < 40 ? s.n : 40), s.p);
}

static bool get_role(const struct json_member *f)
{
	uint8_t *role = f->at;
	struct str s;

	if (!json_get_str(f->r, &s))
		return false;
	*role = word_index(s, "input|output|inout");
	return *role <= DUMP_INOUT || unknown_word(f, s);
}

/* The slot, by either of its names. */
static bool get_slot(const struct json_member *f)
{
	struct dump_record *rec = f->at;
	struct json_member small = {.r = f->r, .f = f->f, .at = &rec->slot, .ctx = f->ctx};
	int64_t slot = 0;

	if (json_peek(f->r) != JSON_NUMBER || *f->r->p != '-')
		return get_small(&small);
	return json_get_i64(f->r, &slot) &&
	       json_reject(f->r, "out-of-range",
		       "task 0x%016llx: %s %lld is no slot: slots are 0 to 49",
		       (unsigned long long)rec->task_id, f->f->key, (long long)slot);
}

/* Every kind that a generation wrote. In lists of slots an unknown one is a note: what it says is
 * left out. */
static bool get_kind(const struct json_member *f)
{
	struct manifest_reader *m = f->ctx;
	struct raw_record *x = f->at;
	struct str s;
	uint8_t kind;

	if (!json_get_str(f->r, &s))
		return false;
	kind = word_index(s, "tensor|scalar|context|local_context|global_context");
	x->rec.kind = kind == DUMP_TENSOR ? DUMP_TENSOR : DUMP_SCALAR;
	x->is_context = kind > DUMP_SCALAR && kind < 5;
	x->is_other = kind == 5;
	if (x->is_other && !m->is_inside)
		return unknown_word(f, s);
	if (x->is_other)
		problems_add(&m->d->problems, WEIGHT_WARNING, "unknown-kind",
			(struct problem){.slot = UINT32_MAX,
				.record = (uint32_t)m->d->records.n,
				.note.offset = x->rec.at},
			"a slot of the unknown kind '%.*s' is left out", (int)(s.n < 40 ? s.n : 40),
			s.p);
	return true;
}

/* A record with an unknown stage is kept, but nothing is concluded from it. */
static bool get_stage(const struct json_member *f)
{
	struct dump *d = ((struct manifest_reader *)f->ctx)->d;
	struct dump_record *rec = f->at;
	struct str s;

	if (!json_get_str(f->r, &s))
		return false;
	rec->stage = str_is(s, "before_dispatch")    ? DUMP_BEFORE
		     : str_is(s, "after_completion") ? DUMP_AFTER
						     : DUMP_STAGE_OTHER;
	if (rec->stage == DUMP_STAGE_OTHER)
		problems_add(&d->problems, WEIGHT_WARNING, "unknown-stage",
			(struct problem){.slot = UINT32_MAX,
				.record = (uint32_t)d->records.n,
				.note.offset = rec->at},
			"record %zu has the unknown stage '%.*s' and takes no part", d->records.n,
			(int)(s.n < 40 ? s.n : 40), s.p);
	return true;
}

static bool get_func_ids(const struct json_member *f)
{
	struct manifest_reader *m = f->ctx;
	uint32_t *members = f->at;
	int32_t ids[DUMP_MAX_MEMBERS];
	unsigned n = 0;
	int64_t v;

	if (json_peek(&m->r) == JSON_ARRAY) {
		m->seen.has_func_list = true;
		json_enter_array(&m->r);
	} else {
		m->seen.has_func_int = true;
	}
	while (!m->seen.has_func_list ? n == 0 : json_next_item(&m->r)) {
		if (!json_get_i64(&m->r, &v))
			return false;
		if (v == 0xffff || v == UINT32_MAX)
			v = -1; /* the device's value for unknown */
		if (v < -1 || v > INT32_MAX)
			return json_reject(&m->r, "out-of-range",
				"func_id: expected -1 or a small number, found %lld", (long long)v);
		if (n == DUMP_MAX_MEMBERS)
			return json_reject(&m->r, "out-of-range", "func_id: more than %d members",
				DUMP_MAX_MEMBERS);
		ids[n++] = (int32_t)v;
	}
	*members =
		intern_add(&m->d->member_sets, (struct str){(const char *)ids, n * sizeof(ids[0])});
	return *members != INTERN_NONE || json_reject(&m->r, "no-memory", "out of memory");
}

static bool manifest_record_get_dims(const struct json_member *f)
{
	struct raw_dims *out = f->at;

	out->n = 0;
	json_enter_array(f->r);
	while (json_next_item(f->r)) {
		if (out->n == DUMP_MAX_RANK)
			return json_reject(f->r, "out-of-range", "%s: rank above %d", f->f->key,
				DUMP_MAX_RANK);
		if (!json_get_u64(f->r, &out->v[out->n]))
			return false;
		out->n++;
	}
	return !f->r->is_failed;
}

/* Integers stay exact: the text decides whether a number is one. */
static bool get_value_number(struct json_reader *r, struct raw_value *out)
{
	const char *p = r->p;
	int64_t i;

	while (p < r->end && (*p == '-' || (*p >= '0' && *p <= '9')))
		p++;
	out->is_negative = *r->p == '-';
	if (p < r->end && (*p == '.' || *p == 'e' || *p == 'E')) {
		out->type = VALUE_REAL;
		return json_get_double(r, &out->real);
	}
	out->type = VALUE_INTEGER;
	if (!out->is_negative)
		return json_get_u64(r, &out->magnitude);
	if (!json_get_i64(r, &i))
		return false;
	out->magnitude = -(uint64_t)i;
	return true;
}

static bool manifest_record_get_value(const struct json_member *f)
{
	struct raw_value *v = f->at;
	bool truth;
	struct str s;

	switch (json_peek(f->r)) {
	case JSON_NUMBER:
		return get_value_number(f->r, v);
	case JSON_BOOL:
		v->type = VALUE_BOOL;
		if (!json_get_bool(f->r, &truth))
			return false;
		v->magnitude = truth;
		return true;
	case JSON_NULL:
		v->type = VALUE_NULL;
		return json_get_null(f->r);
	default:
		if (!json_get_str(f->r, &s))
			return false;
		v->type = str_starts(s, "0x") ? VALUE_BITS : VALUE_INFINITE;
		if (v->type == VALUE_BITS && str_to_u64(s, &v->magnitude))
			return true;
		v->is_negative = str_is(s, "-$Inf");
		if (!v->is_negative && !str_is(s, "$Inf"))
			return json_reject(f->r, "bad-value",
				"value: expected a number, found '%.*s'",
				(int)(s.n < 40 ? s.n : 40), s.p);
		return true;
	}
}

/* A name, or a number as text. */
static bool manifest_record_get_name(const struct json_member *f)
{
	struct manifest_reader *m = f->ctx;
	uint32_t *out = f->at;
	char text[24];
	struct str s;
	uint64_t v;

	if (json_peek(&m->r) == JSON_NULL)
		return json_get_null(&m->r);
	if (json_peek(&m->r) == JSON_NUMBER) {
		if (!json_get_u64(&m->r, &v))
			return false;
		s = (struct str){
			text, (size_t)snprintf(text, sizeof(text), "%llu", (unsigned long long)v)};
	} else if (!json_get_str(&m->r, &s)) {
		return false;
	}
	*out = intern_add(&m->d->names, s);
	return *out != INTERN_NONE || json_reject(&m->r, "no-memory", "out of memory");
}

static bool manifest_record_get_dtype(const struct json_member *f)
{
	struct str s;

	if (!json_get_str(f->r, &s))
		return false;
	*(uint8_t *)f->at = (uint8_t)dtype_of_name(s.p, s.n);
	return true;
}

/* X1: the scalars of one subtask, as hex. */
static bool get_scalars(const struct json_member *f)
{
	struct manifest_reader *m = f->ctx;
	struct raw_record *x = f->at;
	uint64_t v;

	m->seen.has_argument_sets = true;
	json_enter_array(f->r);
	while (json_next_item(f->r)) {
		if (!manifest_number(m, f->f->key, &v))
			return false;
		if (!VEC_PUSH(&x->scalars, v))
			return json_reject(f->r, "no-memory", "out of memory");
	}
	return !f->r->is_failed;
}

static bool get_core(const struct json_member *f)
{
	int64_t v;

	if (json_peek(f->r) != JSON_NUMBER || *f->r->p != '-')
		return get_small(f);
	return json_get_i64(f->r, &v); /* -1: unknown */
}

static bool get_crc(const struct json_member *f)
{
	struct dump_record *rec = f->at;
	uint64_t crc;

	if (!manifest_number(f->ctx, f->f->key, &crc))
		return false;
	rec->crc32c = (uint32_t)crc;
	rec->flags |= DUMP_HAS_CRC;
	return crc <= UINT32_MAX ||
	       json_reject(f->r, "out-of-range", "%s: more than 32 bits", f->f->key);
}

static bool manifest_record_skip_value(const struct json_member *f)
{
	return json_skip(f->r);
}

/* clang-format off */
#define MEMBER(M, KEY, ...) JSON_FIELD(raw_record, M, KEY, ##__VA_ARGS__)
static const struct json_field record_fields[KEY_COUNT] = {
	[KEY_TASK_ID] = MEMBER(rec.task_id, "task_id", .get = manifest_record_get_number),
	[KEY_SUBTASK_ID] = {"subtask_id", .get = manifest_record_skip_value},
	[KEY_FUNC_ID] = MEMBER(rec.members, "func_id", .get = get_func_ids),
	[KEY_ARG_INDEX] = MEMBER(rec, "arg_index", .get = get_slot),
	[KEY_INDEX] = MEMBER(rec, "index", .get = get_slot),
	[KEY_ROLE] = MEMBER(rec.role, "role", .get = get_role),
	[KEY_STAGE] = MEMBER(rec, "stage", .get = get_stage),
	[KEY_KIND] = {"kind", .get = get_kind},
	[KEY_DTYPE] = MEMBER(rec.dtype, "dtype", .get = manifest_record_get_dtype),
	[KEY_VALUE] = MEMBER(value, "value", .get = manifest_record_get_value),
	[KEY_IS_CONTIGUOUS] = MEMBER(rec.flags, "is_contiguous", .bit = DUMP_CONTIGUOUS),
	[KEY_SHAPE] = MEMBER(shape, "shape", .get = manifest_record_get_dims),
	[KEY_STRIDES] = MEMBER(strides, "strides", .get = manifest_record_get_dims),
	[KEY_RAW_SHAPE] = MEMBER(raw_shape, "raw_shape", .get = manifest_record_get_dims),
	[KEY_OFFSETS] = MEMBER(offsets, "offsets", .get = manifest_record_get_dims),
	[KEY_START_OFFSET] = MEMBER(rec.start_offset, "start_offset", .get = manifest_record_get_number),
	[KEY_NUMEL] = MEMBER(numel, "numel", .get = manifest_record_get_number),
	[KEY_AMBIGUOUS] = MEMBER(rec.flags, "arg_index_ambiguous", .bit = DUMP_AMBIGUOUS),
	[KEY_BIN_OFFSET] = MEMBER(rec.bin_offset, "bin_offset", .get = manifest_record_get_number),
	[KEY_BIN_SIZE] = MEMBER(rec.bin_size, "bin_size", .get = manifest_record_get_number),
	[KEY_TRUNCATED] = MEMBER(rec.flags, "truncated", .bit = DUMP_TRUNCATED),
	[KEY_OVERWRITTEN] = MEMBER(rec.flags, "overwritten", .bit = DUMP_OVERWRITTEN),
	[KEY_DISPATCH_ID] = MEMBER(extra.dispatch_id, "dispatch_id", .get = manifest_record_get_number),
	[KEY_BLOCK_IDX] = MEMBER(extra.block_idx, "block_idx", .get = get_small),
	[KEY_BLOCK_NUM] = MEMBER(extra.block_num, "block_num", .get = get_small),
	[KEY_CORE_TYPE] = MEMBER(extra.core_type, "core_type", .get = manifest_record_get_name),
	[KEY_CORE_ID] = MEMBER(extra.core_id, "core_id", .get = get_core),
	[KEY_KERNEL] = MEMBER(extra.kernel, "kernel", .get = manifest_record_get_name),
	[KEY_TENSOR_COUNT] = MEMBER(extra.tensor_count, "tensor_count", .get = get_small),
	[KEY_SCALAR_COUNT] = MEMBER(extra.scalar_count, "scalar_count", .get = get_small),
	[KEY_BUFFER_ADDR] = MEMBER(extra.buffer_addr, "buffer_addr", .get = manifest_record_get_number),
	[KEY_BUFFER_SIZE] = MEMBER(extra.buffer_size, "buffer_size", .get = manifest_record_get_number),
	[KEY_RAW] = MEMBER(raw, "raw", .get = manifest_record_get_number),
	[KEY_CRC32C] = MEMBER(rec, "crc32c", .get = get_crc),
	[KEY_INCOMPLETE] = MEMBER(rec.flags, "incomplete", .bit = DUMP_INCOMPLETE),
	[KEY_PAYLOAD_LOST] = MEMBER(rec.flags, "payload_lost", .bit = DUMP_LOST),
	[KEY_TORN] = MEMBER(rec.flags, "torn", .bit = DUMP_TORN),
	[KEY_SCALARS] = {"scalars", .get = get_scalars},
};
/* clang-format on */

/* Producers keep a fixed order, so the place it had in the last record is tried first. */
static enum record_key manifest_record_key_of(struct manifest_reader *m, struct str key)
{
	for (unsigned i = 0; i < KEY_COUNT; i++) {
		unsigned k =
			m->next_key + i < KEY_COUNT ? m->next_key + i : m->next_key + i - KEY_COUNT;

		if (str_is(key, record_fields[k].key)) {
			m->next_key = k + 1 < KEY_COUNT ? k + 1 : 0;
			return (enum record_key)k;
		}
	}
	return KEY_COUNT;
}

static bool manifest_record_has(const struct raw_record *x, enum record_key k)
{
	return x->seen >> k & 1;
}

/* Reports an error at the start of the record. */
static bool reject_record(
	struct manifest_reader *m, const struct raw_record *x, const char *code, const char *text)
{
	m->r.value_at = m->r.start + x->rec.at;
	return json_reject(&m->r, code, "%s", text);
}

static const struct dump_extra no_extra = {.block_idx = DUMP_NONE,
	.block_num = DUMP_NONE,
	.core_id = DUMP_NONE,
	.tensor_count = DUMP_NONE,
	.scalar_count = DUMP_NONE,
	.kernel = DUMP_NONE,
	.core_type = DUMP_NONE};

static bool manifest_record_push(struct manifest_reader *m, const struct raw_record *x)
{
	struct dump *d = m->d;

	if (d->records.n >= DUMP_NONE - 1)
		return reject_record(m, x, "out-of-range", "too many records");
	if (x->has_extra && !d->extras.n) { /* first record with extras: fill up */
		for (size_t i = 0; i < d->records.n; i++)
			if (!VEC_PUSH(&d->extras, no_extra))
				return reject_record(m, x, "no-memory", "out of memory");
	}
	if ((x->has_extra || d->extras.n) && !VEC_PUSH(&d->extras, x->extra))
		return reject_record(m, x, "no-memory", "out of memory");
	if (!VEC_PUSH(&d->records, x->rec))
		return reject_record(m, x, "no-memory", "out of memory");
	return true;
}

/* X1 args[]: its tensors are also in tensors[], so only the scalars are new. */
static bool push_scalars(struct manifest_reader *m, struct raw_record *x)
{
	uint32_t tensors = x->extra.tensor_count == DUMP_NONE ? 0 : x->extra.tensor_count;

	if (!manifest_record_has(x, KEY_TASK_ID))
		return reject_record(m, x, "missing-key", "an argument set without task_id");
	if ((uint64_t)tensors + x->scalars.n >= DUMP_NONE)
		return reject_record(m, x, "out-of-range", "tensor_count is too large");
	x->has_extra = m->is_dispatches; /* in X2 each record has extras */
	x->shape.n = x->strides.n = 0;
	x->seen = 0;
	if (!record_geometry(m, x))
		return false;
	for (size_t i = 0; i < x->scalars.n; i++) {
		x->rec.kind = DUMP_SCALAR;
		x->rec.dtype = DTYPE_UINT64;
		x->rec.slot = tensors + (uint32_t)i;
		x->rec.bits = x->scalars.v[i];
		x->rec.flags = DUMP_EXACT | DUMP_HAS_VALUE | DUMP_CONTIGUOUS;
		x->rec.bin_size = x->rec.bin_offset = 0;
		if (!manifest_record_push(m, x))
			return false;
	}
	return true;
}

/* X2: recorded before the dispatch, in the order of the slots. The role of a tensor is not stated.
 * Returns the keys that are still required. */
static uint64_t fill_up(struct manifest_reader *m, struct raw_record *x)
{
	struct dump_record *r = &x->rec;

	if (m->is_inside && !manifest_record_has(x, KEY_ARG_INDEX))
		r->slot = x->is_context ? FIRST_CONTEXT : m->next_slot;
	m->next_slot = x->is_context ? m->next_slot : r->slot + 1;
	x->has_extra = true;
	if (!manifest_record_has(x, KEY_KIND) && !manifest_record_has(x, KEY_SHAPE))
		r->kind = DUMP_SCALAR;
	if (!manifest_record_has(x, KEY_ROLE))
		r->role = r->kind == DUMP_TENSOR ? DUMP_INOUT : DUMP_INPUT;
	if (!manifest_record_has(x, KEY_IS_CONTIGUOUS) && !manifest_record_has(x, KEY_STRIDES))
		r->flags |= DUMP_CONTIGUOUS;
	if (!manifest_record_has(x, KEY_DTYPE) && r->kind == DUMP_SCALAR)
		r->dtype = DTYPE_UINT64;
	return (m->is_inside ? 0 : 1u << KEY_TASK_ID | 1u << KEY_ARG_INDEX) |
	       (r->kind == DUMP_TENSOR ? 1u << KEY_DTYPE : 0);
}

static bool manifest_record_finish(struct manifest_reader *m, struct raw_record *x)
{
	struct dump_record *r = &x->rec;
	uint64_t needed = 1u << KEY_TASK_ID | 1u << KEY_ARG_INDEX | 1u << KEY_ROLE |
			  1u << KEY_STAGE | 1u << KEY_DTYPE;

	if (manifest_record_has(x, KEY_SCALARS))
		return push_scalars(m, x);
	if (manifest_record_has(x, KEY_INDEX)) {
		if (manifest_record_has(x, KEY_ARG_INDEX))
			return reject(m, x, "bad-value", "both index and arg_index name the slot");
		x->seen |= UINT64_C(1) << KEY_ARG_INDEX;
	}
	if (x->is_context && manifest_record_has(x, KEY_ARG_INDEX) && r->slot < FIRST_CONTEXT)
		return reject(m, x, "bad-value", "a context is in slot 48 or 49");
	if (m->is_dispatches)
		needed = fill_up(m, x);
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		char text[64];

		if (!(needed >> k & 1) || manifest_record_has(x, (enum record_key)k))
			continue;
		snprintf(text, sizeof(text), "a record without %s", record_fields[k].key);
		return reject_record(m, x, "missing-key", text);
	}
	m->seen.has_kind |= manifest_record_has(x, KEY_KIND);
	m->seen.has_subtask |= manifest_record_has(x, KEY_SUBTASK_ID);
	m->seen.has_raw_shape |= manifest_record_has(x, KEY_RAW_SHAPE);
	m->seen.has_ambiguous |= manifest_record_has(x, KEY_AMBIGUOUS);
	if (x->is_other || (m->is_dispatches && (x->is_context || r->slot >= FIRST_CONTEXT)))
		return true; /* contexts are recreated for every run, never copied */
	if (r->bin_size > UINT64_MAX - r->bin_offset)
		return reject_record(
			m, x, "out-of-range", "bin_offset + bin_size is beyond 64 bits");
	if (r->kind == DUMP_TENSOR && !manifest_record_has(x, KEY_SHAPE))
		return reject_record(m, x, "missing-key", "a tensor without shape");
	if (!record_geometry(m, x))
		return false;
	if (r->kind == DUMP_SCALAR && !record_scalar_bits(m, x))
		return false;
	if (r->kind == DUMP_TENSOR && manifest_record_has(x, KEY_NUMEL)) {
		r->bits = x->numel;
		r->flags |= DUMP_HAS_NUMEL;
	}
	return manifest_record_push(m, x);
}

static bool manifest_record(struct manifest_reader *m);

/* X2: the list in a dispatch, under any key, holds its arguments. */
static bool get_arguments(struct manifest_reader *m)
{
	bool ok = true;

	m->is_inside = true;
	m->next_slot = 0;
	for (json_enter_array(&m->r); ok && json_next_item(&m->r);)
		ok = json_peek(&m->r) == JSON_OBJECT ? manifest_record(m) : json_skip(&m->r);
	m->is_inside = false;
	return ok && !m->r.is_failed;
}

/* X2: copies what a dispatch states about all its arguments to each of them. */
static bool share_identity(struct manifest_reader *m, const struct raw_record *x, size_t first)
{
	if (!manifest_record_has(x, KEY_TASK_ID))
		return reject_record(m, x, "missing-key", "a dispatch without task_id");
	for (size_t i = first; i < m->d->records.n; i++) {
		struct dump_record *r = &m->d->records.v[i];
		struct dump_extra *to = &m->d->extras.v[i], own = *to;

		r->task_id = x->rec.task_id;
		r->members = r->members == DUMP_NONE ? x->rec.members : r->members;
		r->stage = manifest_record_has(x, KEY_STAGE) ? x->rec.stage : r->stage;
		*to = x->extra;
		to->buffer_addr = own.buffer_addr;
		to->buffer_size = own.buffer_size;
		to->has_buffer = own.has_buffer;
	}
	return true;
}

/* Reads one item of tensors[] or args[]; false: the reader has failed. */
static bool manifest_record(struct manifest_reader *m)
{
	size_t first = m->d->records.n;
	struct raw_record x = {
		.rec = {.members = DUMP_NONE}, .extra = no_extra, .last_key = KEY_COUNT};
	struct str key;
	bool ok = true, has_list = false;

	json_peek(&m->r);
	x.rec.at = json_offset(&m->r);
	for (json_enter_object(&m->r); ok && json_next_key(&m->r, &key);) {
		enum record_key k = manifest_record_key_of(m, key);

		if (k == KEY_COUNT) {
			bool is_list =
				m->is_dispatches && !m->is_inside && json_peek(&m->r) == JSON_ARRAY;

			has_list |= is_list;
			ok = is_list ? get_arguments(m) : json_skip(&m->r);
		} else {
			m->seen.has_early_value |= k == KEY_VALUE && x.last_key == KEY_DTYPE;
			m->seen.has_late_value |= k == KEY_VALUE && x.last_key == KEY_NUMEL;
			ok = json_once(&m->r, &x.seen, k, key) &&
			     json_get_field(&m->r, &record_fields[k], &x, m);
			x.has_extra |= k >= KEY_DISPATCH_ID && k <= KEY_BUFFER_SIZE;
		}
		x.last_key = k;
	}
	x.extra.has_dispatch = manifest_record_has(&x, KEY_DISPATCH_ID);
	x.extra.has_buffer = manifest_record_has(&x, KEY_BUFFER_ADDR);
	ok = ok && !m->r.is_failed &&
	     (has_list ? share_identity(m, &x, first) : manifest_record_finish(m, &x));
	VEC_FREE(&x.scalars);
	return ok;
}

/* --- losses ----------------------------------------------------------------------------------- */

/*
 * What the producer itself reports as missing: records that did not fit or could not be written,
 * and tasks with fewer recorded arguments than described.
 */

static struct problem of_task(uint64_t id, bool is_known)
{
	return (struct problem){.task_id = id,
		.has_task = is_known,
		.slot = UINT32_MAX,
		.record = UINT32_MAX,
		.note.offset = UINT64_MAX};
}

static bool read_loss(struct manifest_reader *m)
{
	uint64_t task = 0, records = 0, bytes = 0;
	struct str key, s = {0};
	char cause[40] = "unknown";
	bool has_task = false;

	for (json_enter_object(&m->r); json_next_key(&m->r, &key);) {
		if (str_is(key, "task_id") && json_peek(&m->r) != JSON_NULL) {
			has_task = manifest_number(m, "task_id", &task);
		} else if (str_is(key, "records")) {
			json_get_u64(&m->r, &records);
		} else if (str_is(key, "bytes")) {
			json_get_u64(&m->r, &bytes);
		} else if (str_is(key, "cause") && json_get_str(&m->r, &s)) {
			snprintf(cause, sizeof(cause), "%.*s", (int)(s.n < 39 ? s.n : 39), s.p);
		} else if (!m->r.is_failed) {
			json_skip(&m->r);
		}
	}
	if (m->r.is_failed)
		return false;
	if (has_task)
		problems_add(&m->d->problems, WEIGHT_ERROR, "producer-loss", of_task(task, true),
			"task 0x%016llx: the producer lost %llu records and %llu bytes (%s)",
			(unsigned long long)task, (unsigned long long)records,
			(unsigned long long)bytes, cause);
	else
		problems_add(&m->d->problems, WEIGHT_ERROR, "producer-loss", of_task(0, false),
			"the producer lost %llu records and %llu bytes (%s)",
			(unsigned long long)records, (unsigned long long)bytes, cause);
	return true;
}

static bool manifest_losses(struct manifest_reader *m)
{
	for (json_enter_array(&m->r); json_next_item(&m->r);)
		if (!read_loss(m))
			return false;
	return !m->r.is_failed;
}

static bool read_incomplete(struct manifest_reader *m)
{
	uint64_t task = 0, expected = UINT64_MAX, found = 0, block = 0;
	struct str key;

	for (json_enter_object(&m->r); json_next_key(&m->r, &key);) {
		if (str_is(key, "task_id"))
			manifest_number(m, "task_id", &task);
		else if (str_is(key, "block_idx"))
			json_get_u64(&m->r, &block);
		else if (str_is(key, "expected") && json_peek(&m->r) != JSON_NULL)
			json_get_u64(&m->r, &expected);
		else if (str_is(key, "found"))
			json_get_u64(&m->r, &found);
		else
			json_skip(&m->r);
	}
	if (m->r.is_failed)
		return false;
	if (expected == UINT64_MAX)
		problems_add(&m->d->problems, WEIGHT_ERROR, "undescribed-task", of_task(task, true),
			"task 0x%016llx block %llu: %llu arguments of a task that was never described",
			(unsigned long long)task, (unsigned long long)block,
			(unsigned long long)found);
	else
		problems_add(&m->d->problems, WEIGHT_ERROR, "incomplete-task", of_task(task, true),
			"task 0x%016llx block %llu: %llu of %llu arguments were recorded%s",
			(unsigned long long)task, (unsigned long long)block,
			(unsigned long long)found, (unsigned long long)expected,
			found >= expected ? ", not all at every stage" : "");
	return true;
}

/* Reports as problems what our own library counted as lost, and tasks whose arguments are
 * incomplete. */
static bool manifest_incomplete(struct manifest_reader *m)
{
	for (json_enter_array(&m->r); json_next_item(&m->r);)
		if (!read_incomplete(m))
			return false;
	return !m->r.is_failed;
}

/* --- the manifest ----------------------------------------------------------------------------- */

/* The top level of a manifest, and the generation that its keys imply. */

#define LEAST_RECORD_BYTES 64 /* of JSON: no record is shorter */

/* Rejects names that are absolute, contain a slash, or are "..". */
static bool manifest_name_is_safe(struct str name)
{
	return name.n > 0 && !memchr(name.p, '/', name.n) && !str_is(name, ".") &&
	       !str_is(name, "..");
}

/* A physical layout would be misread, so it is refused. */
static bool read_bin_format(struct manifest_reader *m)
{
	struct str key, s;

	for (json_enter_object(&m->r); json_next_key(&m->r, &key);) {
		bool is_type = str_is(key, "type"), is_order = str_is(key, "byte_order");

		if (!is_type && !is_order) {
			json_skip(&m->r);
			continue;
		}
		if (!json_get_str(&m->r, &s))
			return false;
		if (is_type && !str_is(s, "logical_contiguous"))
			return json_reject(&m->r, "bad-format",
				"bin_format.type: expected logical_contiguous, found '%.*s'",
				(int)(s.n < 40 ? s.n : 40), s.p);
		if (is_order && !str_is(s, "little_endian"))
			return json_reject(&m->r, "bad-format",
				"bin_format.byte_order: expected little_endian, found '%.*s'",
				(int)(s.n < 40 ? s.n : 40), s.p);
	}
	return !m->r.is_failed;
}

static bool read_bin_file(struct manifest_reader *m)
{
	struct str s;

	m->has_bin_file = true;
	if (!json_get_str_or_null(&m->r, &s))
		return false;
	m->is_bin_null = !s.p;
	if (!s.p)
		return true;
	if (!manifest_name_is_safe(s))
		return json_reject(&m->r, "bad-path",
			"bin_file: '%.*s' is not a name inside the dump directory",
			(int)(s.n < 60 ? s.n : 60), s.p);
	m->bin_file = arena_strndup(&m->d->arena, s.p, s.n);
	return m->bin_file || json_reject(&m->r, "no-memory", "out of memory");
}

static bool manifest_read_level(struct manifest_reader *m)
{
	uint64_t v;

	m->seen.has_level = true;
	if (!json_get_u64(&m->r, &v))
		return false;
	if (v > 3)
		return json_reject(&m->r, "bad-value",
			"dump_args_level: expected 0 to 3, found %llu", (unsigned long long)v);
	m->d->level = (int)v;
	return true;
}

static bool manifest_read_schema(struct manifest_reader *m)
{
	struct str s;

	m->seen.has_schema = true;
	if (!json_get_str(&m->r, &s))
		return false;
	if (!str_starts(s, "incore.args_dump/"))
		return json_reject(&m->r, "bad-format",
			"schema: expected incore.args_dump/1, found '%.*s'",
			(int)(s.n < 40 ? s.n : 40), s.p);
	return true;
}

/* Reserves memory for all records, limited to how many the remaining bytes can hold. */
static bool manifest_reserve(struct manifest_reader *m)
{
	uint64_t left = (uint64_t)(m->r.end - m->r.p) / LEAST_RECORD_BYTES;
	uint64_t n = m->d->counters.total < left ? m->d->counters.total : 0;

	return VEC_RESERVE(&m->d->records, m->d->records.n + n + 1) ||
	       json_reject(&m->r, "no-memory", "out of memory");
}

static bool read_array(struct manifest_reader *m, bool is_args)
{
	if (is_args)
		m->seen.has_args = true;
	else
		m->seen.has_tensors = true;
	if (!json_enter_array(&m->r) || !manifest_reserve(m))
		return false;
	while (json_next_item(&m->r))
		if (!manifest_record(m))
			return false;
	return !m->r.is_failed;
}

#define COUNTER_BIT 16 /* first counter bit of the keys seen; lower bits: keys of read_key() */

/* Counter keys have two endings: *_tensors up to G7, *_args later, and X1 has both. */
static uint64_t *counter_of(struct dump_counters *c, struct str key, unsigned *bit)
{
	const struct {
		const char *name;
		uint64_t *at;
	} all[] = {
		{"before_dispatch", &c->before},
		{"after_completion", &c->after},
		{"dropped_records", &c->dropped},
		{"dropped_overwrite", &c->overwritten},
		{"total_", &c->total},
		{"input_", &c->input},
		{"output_", &c->output},
		{"inout_", &c->inout},
		{"truncated_", &c->truncated},
	};

	*bit = COUNTER_BIT;
	if (str_ends(key, "_tensors")) {
		key.n -= strlen("tensors");
	} else if (str_ends(key, "_args")) {
		key.n -= strlen("args");
		*bit += sizeof(all) / sizeof(all[0]);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++, ++*bit)
		if (str_is(key, all[i].name))
			return all[i].at;
	return NULL;
}

static bool manifest_read_counter(struct manifest_reader *m, struct str key, uint64_t *once)
{
	unsigned bit;
	uint64_t *counter = counter_of(&m->d->counters, key, &bit), v;

	if (!counter)
		return json_skip(&m->r);
	if (!json_once(&m->r, once, bit, key) || !json_get_u64(&m->r, &v))
		return false;
	if (*counter == UINT64_MAX)
		*counter = v;
	return true;
}

static bool manifest_read_key(struct manifest_reader *m, struct str key, uint64_t *once)
{
	static const char *const names[] = {"args", "tensors", "bin_format", "bin_file",
		"dump_args_level", "schema", "timestamp", "repaired", "losses", "incomplete_tasks"};
	unsigned k = 0;

	while (k < sizeof(names) / sizeof(names[0]) && !str_is(key, names[k]))
		k++;
	if (k < sizeof(names) / sizeof(names[0]) && !json_once(&m->r, once, k, key))
		return false;
	switch (k) {
	case 0:
	case 1:
		return read_array(m, k == 0);
	case 2:
		return read_bin_format(m);
	case 3:
		return read_bin_file(m);
	case 4:
		return manifest_read_level(m);
	case 5:
		return manifest_read_schema(m);
	case 6:
		m->seen.has_timestamp = true;
		return json_skip(&m->r);
	case 7:
		return json_get_bool(&m->r, &m->d->is_repaired);
	case 8:
		return manifest_losses(m);
	case 9:
		return manifest_incomplete(m);
	}
	if (m->is_dispatches && json_peek(&m->r) == JSON_ARRAY)
		return read_array(m, true);
	return manifest_read_counter(m, key, once);
}

static void name_generation(
	struct dump *d, const struct manifest_evidence *s, bool is_bin_null, bool is_dispatches)
{
	enum dump_generation first = DUMP_G4, last = DUMP_G7;

	if (is_dispatches) {
		first = last = DUMP_X2;
	} else if (s->has_args && s->has_tensors) {
		first = last = DUMP_X1;
	} else if (s->has_schema) {
		first = last = DUMP_OWN;
	} else if (s->has_args) {
		first = last = s->has_level	  ? DUMP_G11
			       : s->has_func_list ? DUMP_G10
			       : s->has_func_int  ? DUMP_G9
						  : DUMP_G8;
	} else if (s->has_raw_shape) {
		first = last = s->has_timestamp ? DUMP_G1 : DUMP_G2;
	} else if (s->has_subtask) {
		first = last = DUMP_G3;
	} else {
		first = is_bin_null ? DUMP_G5 : DUMP_G4;
		if (s->has_typed_scalar)
			first = DUMP_G6;
		if (s->has_early_value || s->has_ambiguous)
			first = DUMP_G7;
		else if (s->has_late_value)
			last = DUMP_G6;
	}
	d->gen_first = first;
	d->gen_last = last < first ? first : last;
}

static bool manifest_finish(struct manifest_reader *m, struct incore_error *e)
{
	struct dump *d = m->d;

	if (!json_finish(&m->r, e))
		return false;
	if (!m->seen.has_args && !m->seen.has_tensors)
		return err_file(e, "not-a-dump", m->r.path, INCORE_NO_OFFSET,
			"not a dump manifest: neither args nor tensors is in it");
	if (m->seen.has_argument_sets && !m->seen.has_tensors)
		return err_file(e, "not-a-dump", m->r.path, INCORE_NO_OFFSET,
			"argument sets per subtask without tensors: no generation writes this");
	name_generation(d, &m->seen, m->is_bin_null, m->is_dispatches);
	if (!m->seen.has_level && m->is_bin_null) {
		d->level = 3;
		d->is_level_inferred = true;
	}
	d->has_scalar_loss = m->seen.has_inexact;
	return true;
}

bool manifest_read(struct manifest_reader *m, const void *json, size_t size, const char *path,
	struct incore_error *e)
{
	uint64_t once = 0;
	struct str key;
	bool ok = true;

	json_init(&m->r, json, size, path, 0);
	memset(&m->d->counters, 0xff, sizeof(m->d->counters));
	m->d->level = DUMP_LEVEL_UNKNOWN;
	m->d->manifest_bytes = size;
	m->is_dispatches = str_is(str_of(path_base(path)), "kernel_args_dump.json");
	if (m->is_dispatches && json_peek(&m->r) == JSON_ARRAY)
		read_array(m, true);
	else
		for (json_enter_object(&m->r); ok && json_next_key(&m->r, &key);)
			ok = manifest_read_key(m, key, &once);
	ok = manifest_finish(m, e);
	json_deinit(&m->r);
	return ok;
}
