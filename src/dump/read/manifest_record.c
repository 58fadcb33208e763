/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_record.c: one item of tensors[] or args[]: every key of every generation, any order. */
#include "dump/read/manifest_record.h"

#include <strings.h>

#include "codec/json_fields.h"

#define FIRST_CONTEXT 48 /* slot */

bool manifest_number(struct manifest_reader *m, const char *what, uint64_t *out)
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

static bool get_number(const struct json_member *f)
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

/* Reads a word as its index in a list of words. */
static bool get_word(const struct json_member *f)
{
	struct str s, all = str_of(f->f->how), word;

	if (!json_get_str(f->r, &s))
		return false;
	for (uint8_t i = 0; str_cut(&all, "|", &word); i++) {
		if (s.n == word.n && strncasecmp(s.p, word.p, s.n) == 0) {
			*(uint8_t *)f->at = i;
			return true;
		}
	}
	return json_reject(f->r, "bad-value", "%s: unknown word '%.*s'", f->f->key,
		(int)(s.n < 40 ? s.n : 40), s.p);
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
		problems_add(&d->problems, PROBLEM_WARNING, "unknown-stage",
			(struct problem){.slot = UINT32_MAX,
				.record = (uint32_t)d->records.n,
				.at = rec->at},
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

static bool get_dims(const struct json_member *f)
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

static bool get_value(const struct json_member *f)
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
static bool get_name(const struct json_member *f)
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

static bool get_dtype(const struct json_member *f)
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

static bool skip_value(const struct json_member *f)
{
	return json_skip(f->r);
}

/* clang-format off */
#define MEMBER(M, KEY, ...) JSON_FIELD(raw_record, M, KEY, ##__VA_ARGS__)
static const struct json_field record_fields[KEY_COUNT] = {
	[KEY_TASK_ID] = MEMBER(rec.task_id, "task_id", .get = get_number),
	[KEY_SUBTASK_ID] = {"subtask_id", .get = skip_value},
	[KEY_FUNC_ID] = MEMBER(rec.members, "func_id", .get = get_func_ids),
	[KEY_ARG_INDEX] = MEMBER(rec.slot, "arg_index", .get = get_small),
	[KEY_ROLE] = MEMBER(rec.role, "role", .get = get_word, .how = "input|output|inout"),
	[KEY_STAGE] = MEMBER(rec, "stage", .get = get_stage),
	[KEY_KIND] = MEMBER(rec.kind, "kind", .get = get_word, .how = "tensor|scalar|context"),
	[KEY_DTYPE] = MEMBER(rec.dtype, "dtype", .get = get_dtype),
	[KEY_VALUE] = MEMBER(value, "value", .get = get_value),
	[KEY_IS_CONTIGUOUS] = MEMBER(rec.flags, "is_contiguous", .bit = DUMP_CONTIGUOUS),
	[KEY_SHAPE] = MEMBER(shape, "shape", .get = get_dims),
	[KEY_STRIDES] = MEMBER(strides, "strides", .get = get_dims),
	[KEY_RAW_SHAPE] = MEMBER(raw_shape, "raw_shape", .get = get_dims),
	[KEY_OFFSETS] = MEMBER(offsets, "offsets", .get = get_dims),
	[KEY_START_OFFSET] = MEMBER(rec.start_offset, "start_offset", .get = get_number),
	[KEY_NUMEL] = MEMBER(numel, "numel", .get = get_number),
	[KEY_AMBIGUOUS] = MEMBER(rec.flags, "arg_index_ambiguous", .bit = DUMP_AMBIGUOUS),
	[KEY_BIN_OFFSET] = MEMBER(rec.bin_offset, "bin_offset", .get = get_number),
	[KEY_BIN_SIZE] = MEMBER(rec.bin_size, "bin_size", .get = get_number),
	[KEY_TRUNCATED] = MEMBER(rec.flags, "truncated", .bit = DUMP_TRUNCATED),
	[KEY_OVERWRITTEN] = MEMBER(rec.flags, "overwritten", .bit = DUMP_OVERWRITTEN),
	[KEY_DISPATCH_ID] = MEMBER(extra.dispatch_id, "dispatch_id", .get = get_number),
	[KEY_BLOCK_IDX] = MEMBER(extra.block_idx, "block_idx", .get = get_small),
	[KEY_BLOCK_NUM] = MEMBER(extra.block_num, "block_num", .get = get_small),
	[KEY_CORE_TYPE] = MEMBER(extra.core_type, "core_type", .get = get_name),
	[KEY_CORE_ID] = MEMBER(extra.core_id, "core_id", .get = get_core),
	[KEY_KERNEL] = MEMBER(extra.kernel, "kernel", .get = get_name),
	[KEY_TENSOR_COUNT] = MEMBER(extra.tensor_count, "tensor_count", .get = get_small),
	[KEY_SCALAR_COUNT] = MEMBER(extra.scalar_count, "scalar_count", .get = get_small),
	[KEY_BUFFER_ADDR] = MEMBER(extra.buffer_addr, "buffer_addr", .get = get_number),
	[KEY_BUFFER_SIZE] = MEMBER(extra.buffer_size, "buffer_size", .get = get_number),
	[KEY_RAW] = MEMBER(raw, "raw", .get = get_number),
	[KEY_CRC32C] = MEMBER(rec, "crc32c", .get = get_crc),
	[KEY_INCOMPLETE] = MEMBER(rec.flags, "incomplete", .bit = DUMP_INCOMPLETE),
	[KEY_PAYLOAD_LOST] = MEMBER(rec.flags, "payload_lost", .bit = DUMP_LOST),
	[KEY_TORN] = MEMBER(rec.flags, "torn", .bit = DUMP_TORN),
	[KEY_SCALARS] = {"scalars", .get = get_scalars},
};
/* clang-format on */

/* Producers keep a fixed order, so the place it had in the last record is tried first. */
static enum record_key key_of(struct manifest_reader *m, struct str key)
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

static bool has(const struct raw_record *x, enum record_key k)
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

static bool push(struct manifest_reader *m, const struct raw_record *x)
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

	if (!has(x, KEY_TASK_ID))
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
		if (!push(m, x))
			return false;
	}
	return true;
}

/* X2: recorded before the dispatch, in the order of the slots. The role of a tensor is not stated.
 * Returns the keys that are still required. */
static uint64_t fill_up(struct manifest_reader *m, struct raw_record *x)
{
	struct dump_record *r = &x->rec;

	if (m->is_inside && !has(x, KEY_ARG_INDEX))
		r->slot = m->next_slot;
	m->next_slot = r->slot + 1;
	x->has_extra = true;
	if (!has(x, KEY_KIND) && !has(x, KEY_SHAPE))
		r->kind = DUMP_SCALAR;
	if (!has(x, KEY_ROLE))
		r->role = r->kind == DUMP_TENSOR ? DUMP_INOUT : DUMP_INPUT;
	if (!has(x, KEY_IS_CONTIGUOUS) && !has(x, KEY_STRIDES))
		r->flags |= DUMP_CONTIGUOUS;
	if (!has(x, KEY_DTYPE) && r->kind == DUMP_SCALAR)
		r->dtype = DTYPE_UINT64;
	return (m->is_inside ? 0 : 1u << KEY_TASK_ID | 1u << KEY_ARG_INDEX) |
	       (r->kind == DUMP_TENSOR ? 1u << KEY_DTYPE : 0);
}

static bool finish(struct manifest_reader *m, struct raw_record *x)
{
	struct dump_record *r = &x->rec;
	uint64_t needed = 1u << KEY_TASK_ID | 1u << KEY_ARG_INDEX | 1u << KEY_ROLE |
			  1u << KEY_STAGE | 1u << KEY_DTYPE;

	if (has(x, KEY_SCALARS))
		return push_scalars(m, x);
	if (r->kind != DUMP_TENSOR) /* a context slot is a number */
		r->kind = DUMP_SCALAR;
	if (m->is_dispatches)
		needed = fill_up(m, x);
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		char text[64];

		if (!(needed >> k & 1) || has(x, (enum record_key)k))
			continue;
		snprintf(text, sizeof(text), "a record without %s", record_fields[k].key);
		return reject_record(m, x, "missing-key", text);
	}
	m->seen.has_kind |= has(x, KEY_KIND);
	m->seen.has_subtask |= has(x, KEY_SUBTASK_ID);
	m->seen.has_raw_shape |= has(x, KEY_RAW_SHAPE);
	m->seen.has_ambiguous |= has(x, KEY_AMBIGUOUS);
	if (m->is_dispatches && r->slot >= FIRST_CONTEXT)
		return true; /* recreated for every run, never copied */
	if (r->bin_size > UINT64_MAX - r->bin_offset)
		return reject_record(
			m, x, "out-of-range", "bin_offset + bin_size is beyond 64 bits");
	if (r->kind == DUMP_TENSOR && !has(x, KEY_SHAPE))
		return reject_record(m, x, "missing-key", "a tensor without shape");
	if (!record_geometry(m, x))
		return false;
	if (r->kind == DUMP_SCALAR && !record_scalar_bits(m, x))
		return false;
	if (r->kind == DUMP_TENSOR && has(x, KEY_NUMEL)) {
		r->bits = x->numel;
		r->flags |= DUMP_HAS_NUMEL;
	}
	return push(m, x);
}

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
	if (!has(x, KEY_TASK_ID))
		return reject_record(m, x, "missing-key", "a dispatch without task_id");
	for (size_t i = first; i < m->d->records.n; i++) {
		struct dump_record *r = &m->d->records.v[i];
		struct dump_extra *to = &m->d->extras.v[i], own = *to;

		r->task_id = x->rec.task_id;
		r->members = r->members == DUMP_NONE ? x->rec.members : r->members;
		r->stage = has(x, KEY_STAGE) ? x->rec.stage : r->stage;
		*to = x->extra;
		to->buffer_addr = own.buffer_addr;
		to->buffer_size = own.buffer_size;
		to->has_buffer = own.has_buffer;
	}
	return true;
}

bool manifest_record(struct manifest_reader *m)
{
	size_t first = m->d->records.n;
	struct raw_record x = {
		.rec = {.members = DUMP_NONE}, .extra = no_extra, .last_key = KEY_COUNT};
	struct str key;
	bool ok = true, has_list = false;

	json_peek(&m->r);
	x.rec.at = json_offset(&m->r);
	for (json_enter_object(&m->r); ok && json_next_key(&m->r, &key);) {
		enum record_key k = key_of(m, key);

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
	x.extra.has_dispatch = has(&x, KEY_DISPATCH_ID);
	x.extra.has_buffer = has(&x, KEY_BUFFER_ADDR);
	ok = ok && !m->r.is_failed && (has_list ? share_identity(m, &x, first) : finish(m, &x));
	VEC_FREE(&x.scalars);
	return ok;
}
