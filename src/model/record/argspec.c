/* SPDX-License-Identifier: Apache-2.0 */
/* argspec.c: the arguments of a kernel, from JSON or from the words of a command line. */
#include "model/record/argspec.h"

#include "base/file.h"
#include "codec/json_reader.h"
#include "model/record/argspec_value.h"

#define CONTEXT_SLOT 48 /* and 49 */

void argspec_init(struct argspec *a)
{
	*a = (struct argspec){0};
	arena_init(&a->arena);
}

void argspec_deinit(struct argspec *a)
{
	VEC_FREE(&a->slots);
	arena_deinit(&a->arena);
	*a = (struct argspec){0};
}

const struct arg_slot *argspec_find(const struct argspec *a, uint32_t slot)
{
	for (size_t i = 0; i < a->slots.n; i++)
		if (a->slots.v[i].slot == slot)
			return &a->slots.v[i];
	return NULL;
}

const struct arg_slot *argspec_owner(const struct argspec *a, const struct arg_slot *s)
{
	for (size_t i = 0; s->buffer != ARG_OWN_BUFFER && i < a->slots.n; i++)
		if (a->slots.v[i].is_tensor && a->slots.v[i].buffer == s->buffer)
			return &a->slots.v[i];
	return s;
}

/* Why a slot number is refused, or NULL. */
static const char *refused_slot(const struct argspec *a, int64_t slot)
{
	if (slot < 0 || slot >= OPSTREAM_SLOTS)
		return "expected a slot from 0 to 47";
	if (slot >= CONTEXT_SLOT)
		return "slots 48 and 49 are the contexts, not arguments";
	return argspec_find(a, (uint32_t)slot) ? "the slot is given twice" : NULL;
}

static bool insert(struct argspec *a, const struct arg_slot *s, struct incore_error *e)
{
	size_t i = a->slots.n;

	if (!VEC_PUSH(&a->slots, *s))
		return err_nomem(e);
	for (; i > 0 && a->slots.v[i - 1].slot > s->slot; i--)
		a->slots.v[i] = a->slots.v[i - 1];
	a->slots.v[i] = *s;
	return true;
}

/* --- JSON --- */

struct pending { /* one argument while its keys are read */
	struct arg_slot s;
	struct arg_number value;
	int64_t index;
	uint32_t n_strides;
	bool has_kind, has_index, has_value, has_shape, is_bits, is_size_unknown, has_size;
};

static bool get_shape(struct json_reader *r, uint32_t v[5], uint32_t *n)
{
	*n = 0;
	for (json_enter_array(r); json_next_item(r);) {
		if (*n == 5)
			return json_reject(r, NULL, "more than 5 dimensions");
		if (!json_get_u32(r, &v[(*n)++]))
			return false;
	}
	return !r->is_failed;
}

static bool get_word(struct json_reader *r, struct str *s, const char *a, const char *b)
{
	if (!json_get_str(r, s))
		return false;
	if (str_is(*s, a) || str_is(*s, b))
		return true;
	return json_reject(r, NULL, "expected \"%s\" or \"%s\", found \"%.*s\"", a, b,
		(int)(s->n < 40 ? s->n : 40), s->p);
}

static bool fill_of(struct json_reader *r, struct arg_slot *s, struct str word)
{
	s->is_filled = true;
	if (str_is(word, "zero"))
		s->fill = FILL_ZERO;
	else if (str_is(word, "random"))
		s->fill = FILL_RANDOM;
	else if (str_is(word, "value"))
		s->fill = FILL_VALUE;
	else if (str_is(word, "none"))
		s->is_filled = false;
	else
		return json_reject(r, NULL, "fill: expected zero, random, value or none");
	return true;
}

/* "zero" or {"kind": "random", "seed": 7} or {"kind": "value", "value": 3} */
static bool get_fill(struct json_reader *r, struct arg_slot *s)
{
	struct str key, word;

	if (json_peek(r) == JSON_STRING)
		return json_get_str(r, &word) && fill_of(r, s, word);
	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "kind")) {
			if (json_get_str(r, &word))
				fill_of(r, s, word);
		} else if (str_is(key, "seed"))
			json_get_u64(r, &s->fill_seed);
		else if (str_is(key, "value"))
			json_get_double(r, &s->fill_value);
		else
			json_skip(r);
	}
	return !r->is_failed;
}

static bool is_inside(struct str path)
{
	struct str rest = path, part;

	if (path.n == 0 || path.p[0] == '/' || memchr(path.p, 0, path.n))
		return false;
	while (str_cut(&rest, "/", &part))
		if (str_is(part, ".."))
			return false;
	return !str_is(rest, "..");
}

static bool get_data(struct json_reader *r, struct argspec *a, struct arg_slot *s)
{
	struct str key, word;

	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "file")) {
			if (!json_get_str(r, &word))
				break;
			if (!is_inside(word))
				return json_reject(
					r, NULL, "data: expected a file in the folder of the spec");
			s->data_path = arena_strndup(&a->arena, word.p, word.n);
			if (!s->data_path)
				return json_reject(r, "no-memory", "out of memory");
		} else if (str_is(key, "offset"))
			json_get_u64(r, &s->data_off);
		else if (str_is(key, "bytes"))
			json_get_u64(r, &s->data_bytes);
		else
			json_skip(r);
	}
	if (!r->is_failed && !s->data_path)
		return json_reject(r, NULL, "data: no file is named");
	s->is_filled = true;
	return !r->is_failed;
}

static bool get_size(struct json_reader *r, struct pending *p)
{
	struct str word;

	p->has_size = true;
	if (json_peek(r) != JSON_STRING)
		return json_get_u64(r, &p->s.bytes);
	if (json_get_str(r, &word) && !str_is(word, "unknown"))
		return json_reject(r, NULL, "buffer_bytes: expected a number or \"unknown\"");
	p->is_size_unknown = true;
	return !r->is_failed;
}

static bool get_dtype(struct json_reader *r, struct pending *p)
{
	struct str word;

	if (!json_get_str(r, &word))
		return false;
	p->s.dtype = (uint8_t)arg_dtype_of(word, &p->is_bits);
	return p->s.dtype != DT_NONE || json_reject(r, "bad-dtype", "unknown dtype \"%.*s\"",
						(int)(word.n < 40 ? word.n : 40), word.p);
}

static bool get_name(struct json_reader *r, struct argspec *a, struct arg_slot *s)
{
	struct str word;

	if (!json_get_str(r, &word))
		return false;
	for (size_t i = 0; i < word.n; i++)
		if ((unsigned char)word.p[i] < ' ')
			return json_reject(r, NULL, "control character in a name");
	s->name = arena_strndup(&a->arena, word.p, word.n);
	return s->name || json_reject(r, "no-memory", "out of memory");
}

static bool arg_key(struct json_reader *r, struct argspec *a, struct pending *p, struct str key)
{
	struct str word;

	if (str_is(key, "kind")) {
		p->has_kind = get_word(r, &word, "tensor", "scalar");
		p->s.is_tensor = p->has_kind && str_is(word, "tensor");
		return p->has_kind;
	}
	if (str_is(key, "index")) {
		p->has_index = json_get_i64(r, &p->index);
		if (p->has_index && refused_slot(a, p->index))
			return json_reject(r, "bad-slot", "slot %lld: %s", (long long)p->index,
				refused_slot(a, p->index));
		return p->has_index;
	}
	if (str_is(key, "name"))
		return get_name(r, a, &p->s);
	if (str_is(key, "dtype"))
		return get_dtype(r, p);
	if (str_is(key, "shape"))
		return p->has_shape = get_shape(r, p->s.shape, &p->s.ndims);
	if (str_is(key, "strides"))
		return get_shape(r, p->s.stride, &p->n_strides);
	if (str_is(key, "role")) {
		if (!json_get_str(r, &word))
			return false;
		p->s.is_input = !str_is(word, "output");
		p->s.is_output = str_is(word, "output") || str_is(word, "inout");
		return true;
	}
	if (str_is(key, "fill"))
		return get_fill(r, &p->s);
	if (str_is(key, "data"))
		return get_data(r, a, &p->s);
	if (str_is(key, "start_offset"))
		return json_get_u64(r, &p->s.start_offset);
	if (str_is(key, "buffer_bytes"))
		return get_size(r, p);
	if (str_is(key, "buffer"))
		return json_get_u32(r, &p->s.buffer);
	if (str_is(key, "value"))
		return p->has_value = arg_number_get(r, &p->value);
	if (str_is(key, "pack_mode")) {
		if (!get_word(r, &word, "value", "bits"))
			return false;
		p->is_bits = p->is_bits || str_is(word, "bits");
		return true;
	}
	return json_skip(r);
}

static bool end_tensor(struct json_reader *r, struct pending *p)
{
	uint64_t bytes;

	if (!p->has_shape || p->s.ndims == 0)
		return json_reject(r, NULL, "slot %u: a tensor needs a shape", p->s.slot);
	if (p->n_strides && p->n_strides != p->s.ndims)
		return json_reject(r, NULL, "slot %u: %u strides for %u dimensions", p->s.slot,
			p->n_strides, p->s.ndims);
	if (!p->n_strides)
		arg_default_strides(&p->s);
	if (!arg_extent_bytes(&p->s, &bytes))
		return json_reject(
			r, "out-of-range", "slot %u: its extent is too large", p->s.slot);
	if (!p->has_size || p->is_size_unknown)
		p->s.bytes = bytes;
	if (p->s.bytes > ARG_MAX_BYTES)
		return json_reject(
			r, "out-of-range", "slot %u: its buffer is too large", p->s.slot);
	p->s.is_size_known = !p->is_size_unknown;
	p->s.is_size_stated = p->has_size && !p->is_size_unknown;
	if (!p->s.is_filled)
		p->s.fill = FILL_NONE;
	return true;
}

static bool end_arg(
	struct json_reader *r, struct argspec *a, struct pending *p, struct incore_error *e)
{
	p->s.slot = (uint32_t)p->index;
	p->s.name = p->s.name ? p->s.name : "";
	if (!p->has_kind)
		return json_reject(r, NULL, "an argument without a kind");
	if (!p->has_index)
		return json_reject(r, NULL, "an argument without an index");
	if (p->s.dtype == DT_NONE)
		return json_reject(r, "bad-dtype", "slot %u: no dtype", p->s.slot);
	if (p->s.is_tensor) {
		if (!end_tensor(r, p))
			return false;
	} else if (!p->has_value) {
		return json_reject(r, NULL, "slot %u: a scalar needs a value", p->s.slot);
	} else if (!arg_pack(p->s.dtype, p->is_bits, &p->value, &p->s.value)) {
		return json_reject(
			r, "out-of-range", "slot %u: the value does not fit its dtype", p->s.slot);
	}
	return insert(a, &p->s, e);
}

static bool read_list(struct json_reader *r, struct argspec *a, struct incore_error *e)
{
	struct str key;

	for (json_enter_array(r); json_next_item(r);) {
		struct pending p = {.s = {.buffer = ARG_OWN_BUFFER, .is_input = true}};

		for (json_enter_object(r); json_next_key(r, &key);)
			arg_key(r, a, &p, key);
		if (r->is_failed || !end_arg(r, a, &p, e))
			return false;
	}
	return !r->is_failed;
}

/* What shares a buffer has one size: the one that is stated, or what the widest view needs. */
static bool settle_buffers(struct json_reader *r, struct argspec *a)
{
	for (size_t i = 0; i < a->slots.n; i++) {
		struct arg_slot *s = &a->slots.v[i];
		struct arg_slot *owner = (struct arg_slot *)argspec_owner(a, s);

		if (!s->is_tensor || owner == s)
			continue;
		if (s->is_size_stated && owner->is_size_stated && s->bytes != owner->bytes)
			return json_reject(r, "bad-buffer",
				"slots %u and %u share buffer %u, of %llu and of %llu bytes",
				owner->slot, s->slot, s->buffer, (unsigned long long)owner->bytes,
				(unsigned long long)s->bytes);
		owner->bytes = s->bytes > owner->bytes ? s->bytes : owner->bytes;
		owner->is_size_known &= s->is_size_known;
		owner->is_size_stated |= s->is_size_stated;
	}
	for (size_t i = 0; i < a->slots.n; i++) {
		a->slots.v[i].bytes = argspec_owner(a, &a->slots.v[i])->bytes;
		a->slots.v[i].is_size_known = argspec_owner(a, &a->slots.v[i])->is_size_known;
	}
	return true;
}

bool argspec_read(
	struct argspec *a, const void *json, size_t n, const char *path, struct incore_error *e)
{
	struct json_reader r;
	struct str key;
	bool has_args = false, ok = true;

	json_init(&r, json, n, path, 0);
	if (json_peek(&r) == JSON_ARRAY) {
		has_args = true;
		ok = read_list(&r, a, e);
	} else {
		for (json_enter_object(&r); ok && json_next_key(&r, &key);) {
			if (str_is(key, "args")) {
				has_args = true;
				ok = read_list(&r, a, e);
			} else if (str_is(key, "args_origin")) {
				struct str word = {0};

				if (get_word(&r, &word, "dump", "synthetic"))
					a->origin =
						str_is(word, "dump") ? ARGS_DUMP : ARGS_SYNTHETIC;
			} else
				json_skip(&r);
		}
		if (ok && !r.is_failed && !has_args)
			json_reject(&r, NULL,
				"expected a list of arguments, or an object with \"args\"");
	}
	ok = ok && !r.is_failed && settle_buffers(&r, a);
	if (r.is_failed)
		ok = json_fail(&r, e);
	else if (ok)
		ok = json_finish(&r, e);
	json_deinit(&r);
	return ok;
}

bool argspec_load(struct argspec *a, const char *path, struct incore_error *e)
{
	struct file_data f = {0};
	const char *slash = strrchr(path, '/');
	bool ok;

	if (!file_load(&f, path, e))
		return err_wrap(e, "arguments");
	ok = argspec_read(a, f.data, f.size, path, e);
	file_unload(&f);
	/* payloads are named from the spec's folder */
	for (size_t i = 0; ok && slash && i < a->slots.n; i++) {
		struct arg_slot *s = &a->slots.v[i];

		if (!s->data_path)
			continue;
		s->data_path =
			arena_printf(&a->arena, "%.*s/%s", (int)(slash - path), path, s->data_path);
		if (!s->data_path)
			ok = err_nomem(e);
	}
	return ok;
}

/* --- words --- */

static bool bad_word(struct incore_error *e, const char *word, const char *why)
{
	return err_set(e, INCORE_USAGE, "bad-argument", "argument '%s': %s", word, why);
}

static bool word_fill(struct arg_slot *s, struct str fill)
{
	uint64_t number = 0;

	s->is_filled = true;
	if (fill.n == 0 || str_is(fill, "none")) {
		s->fill = FILL_NONE;
		s->is_filled = false;
	} else if (str_is(fill, "zero")) {
		s->fill = FILL_ZERO;
	} else if (str_is(fill, "out")) {
		s->is_input = false;
		s->is_output = true;
		s->fill = FILL_NONE;
		s->is_filled = false;
	} else if (str_starts(fill, "random")) {
		s->fill = FILL_RANDOM;
		if (fill.n > 6 && !str_to_u64(str_sub(fill, 6, fill.n), &number))
			return false;
		s->fill_seed = number;
	} else if (str_starts(fill, "value")) {
		struct arg_number v;

		if (!arg_number_of(str_sub(fill, 5, fill.n), &v))
			return false;
		s->fill = FILL_VALUE;
		s->fill_value = v.is_float ? v.f : (double)(int64_t)v.bits;
	} else {
		return false;
	}
	return true;
}

static bool word_tensor(struct arg_slot *s, struct str dims, struct str fill, const char *word,
	struct incore_error *e)
{
	struct str rest = dims, part;
	uint64_t v;

	s->is_tensor = true;
	while (rest.n) {
		if (!str_cut(&rest, ",", &part)) {
			part = rest;
			rest.n = 0;
		}
		if (s->ndims == 5 || !str_to_u64(part, &v) || v > UINT32_MAX)
			return bad_word(e, word, "expected up to 5 sizes, as f32[128,64]");
		s->shape[s->ndims++] = (uint32_t)v;
	}
	if (s->ndims == 0)
		return bad_word(e, word, "expected up to 5 sizes, as f32[128,64]");
	arg_default_strides(s);
	if (!arg_extent_bytes(s, &s->bytes))
		return bad_word(e, word, "the tensor is too large");
	s->is_size_known = true;
	if (!word_fill(s, fill))
		return bad_word(e, word,
			"expected :zero, :random, :random<seed>, :value<number>, :none or :out");
	return true;
}

bool argspec_add_word(struct argspec *a, const char *word, struct incore_error *e)
{
	struct str rest = str_of(word), slot, type, text;
	struct arg_slot s = {.name = "", .buffer = ARG_OWN_BUFFER, .is_input = true};
	struct arg_number value;
	ptrdiff_t open, close;
	uint64_t number;
	bool is_bits = false;

	if (!str_cut(&rest, "=", &slot) || !str_to_u64(slot, &number) || number > INT32_MAX)
		return bad_word(e, word, "expected SLOT=f32[128,64] or SLOT=i64:128");
	if (refused_slot(a, (int64_t)number))
		return bad_word(e, word, refused_slot(a, (int64_t)number));
	s.slot = (uint32_t)number;
	open = str_find(rest, "[");
	close = str_find(rest, "]");
	text = str_sub(rest, (size_t)(close > 0 ? close + 1 : 0), rest.n);
	type = open > 0 ? str_sub(rest, 0, (size_t)open) : rest;
	if (open < 0 && !str_cut(&text, ":", &type))
		return bad_word(e, word, "expected SLOT=f32[128,64] or SLOT=i64:128");
	s.dtype = (uint8_t)arg_dtype_of(type, &is_bits);
	if (s.dtype == DT_NONE)
		return bad_word(e, word, "unknown dtype");
	if (open > 0) {
		if (close < open || (text.n && text.p[0] != ':'))
			return bad_word(
				e, word, "expected SLOT=f32[128,64] or SLOT=f32[128,64]:zero");
		text = str_sub(text, 1, text.n);
		if (!word_tensor(&s, str_sub(rest, (size_t)open + 1, (size_t)(close - open - 1)),
			    text, word, e))
			return false;
	} else if (!arg_number_of(text, &value) || !arg_pack(s.dtype, is_bits, &value, &s.value)) {
		return bad_word(e, word, "expected a number of that dtype after the colon");
	}
	return insert(a, &s, e);
}
