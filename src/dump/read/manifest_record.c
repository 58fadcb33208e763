/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_record.c: one item of tensors[] or args[]: every key of every generation, any order. */
#include "dump/read/manifest_record.h"

#include <string.h>
#include <strings.h>

#define RECORD_KEY_TEXT(name, text) {"" text, sizeof(text) - 1},
static const struct str key_texts[] = {RECORD_KEYS(RECORD_KEY_TEXT)};

/* Producers keep to an order: look where the last record had it first. */
static enum record_key key_of(struct manifest_reader *m, struct str key)
{
	for (unsigned i = 0; i < KEY_COUNT; i++) {
		unsigned k =
			m->next_key + i < KEY_COUNT ? m->next_key + i : m->next_key + i - KEY_COUNT;

		if (str_eq(key_texts[k], key)) {
			m->next_key = k + 1 < KEY_COUNT ? k + 1 : 0;
			return (enum record_key)k;
		}
	}
	return KEY_COUNT;
}

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

static bool get_u32(struct manifest_reader *m, const char *what, uint32_t *out)
{
	uint64_t v;

	if (!manifest_number(m, what, &v))
		return false;
	if (v >= DUMP_NONE)
		return json_reject(&m->r, "out-of-range", "%s: %llu is too large", what,
			(unsigned long long)v);
	*out = (uint32_t)v;
	return true;
}

static bool get_word(struct manifest_reader *m, const char *what, const char *const *words,
	unsigned n, uint8_t *out)
{
	struct str s;

	if (!json_get_str(&m->r, &s))
		return false;
	for (unsigned i = 0; i < n; i++) {
		if (s.n == strlen(words[i]) && strncasecmp(s.p, words[i], s.n) == 0) {
			*out = (uint8_t)i;
			return true;
		}
	}
	return json_reject(&m->r, "bad-value", "%s: unknown word '%.*s'", what,
		(int)(s.n < 40 ? s.n : 40), s.p);
}

/* An unknown moment keeps its record; nothing is concluded from it. */
static bool get_stage(struct manifest_reader *m, struct raw_record *x)
{
	struct str s;

	if (!json_get_str(&m->r, &s))
		return false;
	x->rec.stage = str_is(s, "before_dispatch")    ? DUMP_BEFORE
		       : str_is(s, "after_completion") ? DUMP_AFTER
						       : DUMP_STAGE_OTHER;
	if (x->rec.stage == DUMP_STAGE_OTHER)
		problems_add(&m->d->problems, PROBLEM_WARNING, "unknown-stage",
			(struct problem){.slot = UINT32_MAX,
				.record = (uint32_t)m->d->records.n,
				.at = x->rec.at},
			"record %zu has the unknown stage '%.*s' and takes no part",
			m->d->records.n, (int)(s.n < 40 ? s.n : 40), s.p);
	return true;
}

static bool get_func_ids(struct manifest_reader *m, struct raw_record *x)
{
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
			v = -1; /* unknown, as the device writes it */
		if (v < -1 || v > INT32_MAX)
			return json_reject(&m->r, "out-of-range",
				"func_id: expected -1 or a small number, found %lld", (long long)v);
		if (n == DUMP_MAX_MEMBERS)
			return json_reject(&m->r, "out-of-range", "func_id: more than %d members",
				DUMP_MAX_MEMBERS);
		ids[n++] = (int32_t)v;
	}
	x->rec.members =
		intern_add(&m->d->member_sets, (struct str){(const char *)ids, n * sizeof(ids[0])});
	return x->rec.members != INTERN_NONE || json_reject(&m->r, "no-memory", "out of memory");
}

static bool get_dims(struct manifest_reader *m, const char *what, struct raw_dims *out)
{
	out->n = 0;
	json_enter_array(&m->r);
	while (json_next_item(&m->r)) {
		if (out->n == DUMP_MAX_RANK)
			return json_reject(
				&m->r, "out-of-range", "%s: rank above %d", what, DUMP_MAX_RANK);
		if (!json_get_u64(&m->r, &out->v[out->n]))
			return false;
		out->n++;
	}
	return !m->r.is_failed;
}

/* Integers stay exact: the text decides whether it is one. */
static bool get_value_number(struct manifest_reader *m, struct raw_value *out)
{
	const char *p = m->r.p;
	int64_t i;

	while (p < m->r.end && (*p == '-' || (*p >= '0' && *p <= '9')))
		p++;
	out->is_negative = *m->r.p == '-';
	if (p < m->r.end && (*p == '.' || *p == 'e' || *p == 'E')) {
		out->type = VALUE_REAL;
		return json_get_double(&m->r, &out->real);
	}
	out->type = VALUE_INTEGER;
	if (!out->is_negative)
		return json_get_u64(&m->r, &out->magnitude);
	if (!json_get_i64(&m->r, &i))
		return false;
	out->magnitude = -(uint64_t)i;
	return true;
}

static bool get_value(struct manifest_reader *m, struct raw_record *x)
{
	struct raw_value *v = &x->value;
	bool truth;
	struct str s;

	if (x->last_key == KEY_DTYPE)
		m->seen.has_early_value = true;
	if (x->last_key == KEY_NUMEL)
		m->seen.has_late_value = true;
	switch (json_peek(&m->r)) {
	case JSON_NUMBER:
		return get_value_number(m, v);
	case JSON_BOOL:
		v->type = VALUE_BOOL;
		if (!json_get_bool(&m->r, &truth))
			return false;
		v->magnitude = truth;
		return true;
	case JSON_NULL:
		v->type = VALUE_NULL;
		return json_get_null(&m->r);
	default:
		if (!json_get_str(&m->r, &s))
			return false;
		v->type = VALUE_INFINITE;
		v->is_negative = str_is(s, "-$Inf");
		if (!v->is_negative && !str_is(s, "$Inf"))
			return json_reject(&m->r, "bad-value",
				"value: expected a number, found '%.*s'",
				(int)(s.n < 40 ? s.n : 40), s.p);
		return true;
	}
}

static bool get_flag(struct manifest_reader *m, struct raw_record *x, unsigned flag)
{
	bool v;

	if (!json_get_bool(&m->r, &v))
		return false;
	if (v)
		x->rec.flags |= (uint16_t)flag;
	return true;
}

/* A name, or a number as text. */
static bool get_name(struct manifest_reader *m, uint32_t *out)
{
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

static bool get_dtype(struct manifest_reader *m, struct raw_record *x)
{
	struct str s;

	if (!json_get_str(&m->r, &s))
		return false;
	x->rec.dtype = (uint8_t)dtype_of_name(s.p, s.n);
	return true;
}

/* X1: the scalars of one subtask, as hex. */
static bool get_scalars(struct manifest_reader *m, struct raw_record *x)
{
	uint64_t v;

	m->seen.has_argument_sets = true;
	json_enter_array(&m->r);
	while (json_next_item(&m->r)) {
		if (!manifest_number(m, "scalars", &v))
			return false;
		if (!VEC_PUSH(&x->scalars, v))
			return json_reject(&m->r, "no-memory", "out of memory");
	}
	return !m->r.is_failed;
}

static bool get_core(struct manifest_reader *m, struct raw_record *x)
{
	int64_t v;

	if (json_peek(&m->r) != JSON_NUMBER || *m->r.p != '-')
		return get_u32(m, "core_id", &x->extra.core_id);
	return json_get_i64(&m->r, &v); /* -1: unknown */
}

static bool get_extra(struct manifest_reader *m, struct raw_record *x, enum record_key k)
{
	struct dump_extra *t = &x->extra;
	uint64_t crc;

	switch (k) {
	case KEY_DISPATCH_ID:
		t->has_dispatch = true;
		return manifest_number(m, "dispatch_id", &t->dispatch_id);
	case KEY_BLOCK_IDX:
		return get_u32(m, "block_idx", &t->block_idx);
	case KEY_BLOCK_NUM:
		return get_u32(m, "block_num", &t->block_num);
	case KEY_CORE_TYPE:
		return get_name(m, &t->core_type);
	case KEY_CORE_ID:
		return get_core(m, x);
	case KEY_KERNEL:
		return get_name(m, &t->kernel);
	case KEY_TENSOR_COUNT:
		return get_u32(m, "tensor_count", &t->tensor_count);
	case KEY_SCALAR_COUNT:
		return get_u32(m, "scalar_count", &t->scalar_count);
	case KEY_BUFFER_ADDR:
		t->has_buffer = true;
		return manifest_number(m, "buffer_addr", &t->buffer_addr);
	case KEY_BUFFER_SIZE:
		return manifest_number(m, "buffer_size", &t->buffer_size);
	case KEY_RAW:
		return manifest_number(m, "raw", &x->raw);
	case KEY_CRC32C:
		if (!manifest_number(m, "crc32c", &crc))
			return false;
		x->rec.crc32c = (uint32_t)crc;
		x->rec.flags |= DUMP_HAS_CRC;
		return crc <= UINT32_MAX ||
		       json_reject(&m->r, "out-of-range", "crc32c: more than 32 bits");
	case KEY_INCOMPLETE:
		return get_flag(m, x, DUMP_INCOMPLETE);
	case KEY_PAYLOAD_LOST:
		return get_flag(m, x, DUMP_LOST);
	case KEY_TORN:
		return get_flag(m, x, DUMP_TORN);
	case KEY_SCALARS:
		return get_scalars(m, x);
	default:
		return json_skip(&m->r);
	}
}

static bool get_key(struct manifest_reader *m, struct raw_record *x, enum record_key k)
{
	static const char *const roles[] = {"input", "output", "inout"};
	static const char *const kinds[] = {"tensor", "scalar"};
	struct dump_record *r = &x->rec;

	switch (k) {
	case KEY_TASK_ID:
		return manifest_number(m, "task_id", &r->task_id);
	case KEY_FUNC_ID:
		return get_func_ids(m, x);
	case KEY_ARG_INDEX:
		return get_u32(m, "arg_index", &r->slot);
	case KEY_ROLE:
		return get_word(m, "role", roles, 3, &r->role);
	case KEY_STAGE:
		return get_stage(m, x);
	case KEY_KIND:
		return get_word(m, "kind", kinds, 2, &r->kind);
	case KEY_DTYPE:
		return get_dtype(m, x);
	case KEY_VALUE:
		return get_value(m, x);
	case KEY_IS_CONTIGUOUS:
		return get_flag(m, x, DUMP_CONTIGUOUS);
	case KEY_SHAPE:
		return get_dims(m, "shape", &x->shape);
	case KEY_STRIDES:
		return get_dims(m, "strides", &x->strides);
	case KEY_RAW_SHAPE:
		return get_dims(m, "raw_shape", &x->raw_shape);
	case KEY_OFFSETS:
		return get_dims(m, "offsets", &x->offsets);
	case KEY_START_OFFSET:
		return manifest_number(m, "start_offset", &r->start_offset);
	case KEY_NUMEL:
		return manifest_number(m, "numel", &x->numel);
	case KEY_AMBIGUOUS:
		return get_flag(m, x, DUMP_AMBIGUOUS);
	case KEY_BIN_OFFSET:
		return manifest_number(m, "bin_offset", &r->bin_offset);
	case KEY_BIN_SIZE:
		return manifest_number(m, "bin_size", &r->bin_size);
	case KEY_TRUNCATED:
		return get_flag(m, x, DUMP_TRUNCATED);
	case KEY_OVERWRITTEN:
		return get_flag(m, x, DUMP_OVERWRITTEN);
	default:
		return get_extra(m, x, k);
	}
}

static bool has(const struct raw_record *x, enum record_key k)
{
	return x->seen >> k & 1;
}

/* Fails where the record began. */
static bool reject_record(
	struct manifest_reader *m, const struct raw_record *x, const char *code, const char *text)
{
	m->r.value_at = m->r.start + x->rec.at;
	return json_reject(&m->r, code, "%s", text);
}

static bool push(struct manifest_reader *m, const struct raw_record *x)
{
	struct dump *d = m->d;

	if (d->records.n >= DUMP_NONE - 1)
		return reject_record(m, x, "out-of-range", "too many records");
	if (x->has_extra && !d->extras.n) { /* the first record that states more: fill up */
		struct dump_extra none = {.block_idx = DUMP_NONE,
			.block_num = DUMP_NONE,
			.core_id = DUMP_NONE,
			.tensor_count = DUMP_NONE,
			.scalar_count = DUMP_NONE,
			.kernel = DUMP_NONE,
			.core_type = DUMP_NONE};

		for (size_t i = 0; i < d->records.n; i++)
			if (!VEC_PUSH(&d->extras, none))
				return reject_record(m, x, "no-memory", "out of memory");
	}
	if ((x->has_extra || d->extras.n) && !VEC_PUSH(&d->extras, x->extra))
		return reject_record(m, x, "no-memory", "out of memory");
	if (!VEC_PUSH(&d->records, x->rec))
		return reject_record(m, x, "no-memory", "out of memory");
	return true;
}

/* X1 args[]: the tensors are in tensors[] too, only the scalars are news. */
static bool push_scalars(struct manifest_reader *m, struct raw_record *x)
{
	uint32_t tensors = x->extra.tensor_count == DUMP_NONE ? 0 : x->extra.tensor_count;

	if (!has(x, KEY_TASK_ID))
		return reject_record(m, x, "missing-key", "an argument set without task_id");
	if ((uint64_t)tensors + x->scalars.n >= DUMP_NONE)
		return reject_record(m, x, "out-of-range", "tensor_count is too large");
	x->has_extra = false;
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

static bool finish(struct manifest_reader *m, struct raw_record *x)
{
	struct dump_record *r = &x->rec;

	if (has(x, KEY_SCALARS))
		return push_scalars(m, x);
	for (unsigned k = 0; k < KEY_COUNT; k++) {
		static const uint64_t needed = 1u << KEY_TASK_ID | 1u << KEY_ARG_INDEX |
					       1u << KEY_ROLE | 1u << KEY_STAGE | 1u << KEY_DTYPE;
		char text[64];

		if (!(needed >> k & 1) || has(x, (enum record_key)k))
			continue;
		snprintf(text, sizeof(text), "a record without %s", key_texts[k].p);
		return reject_record(m, x, "missing-key", text);
	}
	m->seen.has_kind |= has(x, KEY_KIND);
	m->seen.has_subtask |= has(x, KEY_SUBTASK_ID);
	m->seen.has_raw_shape |= has(x, KEY_RAW_SHAPE);
	m->seen.has_ambiguous |= has(x, KEY_AMBIGUOUS);
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

bool manifest_record(struct manifest_reader *m)
{
	struct raw_record x = {
		.rec = {.members = DUMP_NONE},
		.extra = {.block_idx = DUMP_NONE,
			.block_num = DUMP_NONE,
			.core_id = DUMP_NONE,
			.tensor_count = DUMP_NONE,
			.scalar_count = DUMP_NONE,
			.kernel = DUMP_NONE,
			.core_type = DUMP_NONE},
		.last_key = KEY_COUNT,
	};
	struct str key;
	bool ok = true;

	json_peek(&m->r);
	x.rec.at = json_offset(&m->r);
	for (json_enter_object(&m->r); ok && json_next_key(&m->r, &key);) {
		enum record_key k = key_of(m, key);

		if (k == KEY_COUNT) {
			ok = json_skip(&m->r);
		} else {
			ok = json_once(&m->r, &x.seen, k, key) && get_key(m, &x, k);
			x.has_extra |= k >= KEY_DISPATCH_ID && k <= KEY_BUFFER_SIZE;
		}
		x.last_key = k;
	}
	ok = ok && !m->r.is_failed && finish(m, &x);
	VEC_FREE(&x.scalars);
	return ok;
}
