/* SPDX-License-Identifier: Apache-2.0 */
/*
 * spec.c: the arguments of a kernel, from JSON.
 *
 * Parts: arguments from words of a command line; arguments from JSON.
 */
#include "args/spec.h"
#include "args/value.h"
#include "base/file.h"
#include "codec/json_reader.h"

/* --- arguments from words of a command line --------------------------------------------------- */

/* The arguments of a kernel, from the words of a command line. */

static const char *spec_refused_slot(const struct args *a, int64_t slot);

static bool bad_word(struct incore_error *e, const char *word, const char *why)
{
	return err_set(e, INCORE_USAGE, "bad-argument", "argument '%s': %s", word, why);
}

static bool word_fill(struct arg *s, struct str fill)
{
	struct arg_content *c = &s->content;
	uint64_t number = 0;

	c->is_filled = true;
	if (fill.n == 0 || str_is(fill, "none")) {
		c->fill = FILL_NONE;
		c->is_filled = false;
	} else if (str_is(fill, "zero")) {
		c->fill = FILL_ZERO;
	} else if (str_is(fill, "out")) {
		s->is_read = false;
		s->is_written = true;
		c->fill = FILL_NONE;
		c->is_filled = false;
	} else if (str_starts(fill, "random")) {
		c->fill = FILL_RANDOM;
		if (fill.n > 6 && !str_to_u64(str_sub(fill, 6, fill.n), &number))
			return false;
		c->seed = number;
	} else if (str_starts(fill, "value")) {
		struct arg_number v;

		if (!arg_number_of(str_sub(fill, 5, fill.n), &v))
			return false;
		c->fill = FILL_VALUE;
		c->value = v.is_float ? v.f : (double)(int64_t)v.bits;
	} else {
		return false;
	}
	return true;
}

static bool word_tensor(struct arg *s, struct str dims, struct str fill, const char *word,
	struct arg_buffer *b, struct incore_error *e)
{
	struct str rest = dims, part;
	uint64_t v;

	s->is_tensor = true;
	while (rest.n) {
		if (!str_cut(&rest, ",", &part)) {
			part = rest;
			rest.n = 0;
		}
		if (s->n_dims == ARG_DESCRIPTOR_DIMS || !str_to_u64(part, &v) || v > UINT32_MAX)
			return bad_word(e, word, "expected up to 5 sizes, as f32[128,64]");
		s->shape[s->n_dims++] = v;
	}
	if (s->n_dims == 0)
		return bad_word(e, word, "expected up to 5 sizes, as f32[128,64]");
	arg_default_strides(s);
	arg_measure(s);
	if (!arg_extent_bytes(s, &b->n))
		return bad_word(e, word, "the tensor is too large");
	b->is_size_known = true;
	if (!word_fill(s, fill))
		return bad_word(e, word,
			"expected :zero, :random, :random<seed>, :value<number>, :none or :out");
	return true;
}

bool args_add_word(struct args *a, const char *word, struct incore_error *e)
{
	struct str rest = str_of(word), slot, type, text;
	struct arg s = SPEC_ARG;
	struct arg_buffer b = {0};
	struct arg_number value;
	ptrdiff_t open, close;
	uint64_t number;
	bool is_bits = false;

	if (!str_cut(&rest, "=", &slot) || !str_to_u64(slot, &number) || number > INT32_MAX)
		return bad_word(e, word, "expected SLOT=f32[128,64] or SLOT=i64:128");
	if (spec_refused_slot(a, (int64_t)number))
		return bad_word(e, word, spec_refused_slot(a, (int64_t)number));
	s.slot = (uint32_t)number;
	open = str_find(rest, "[");
	close = str_find(rest, "]");
	text = str_sub(rest, (size_t)(close > 0 ? close + 1 : 0), rest.n);
	type = open > 0 ? str_sub(rest, 0, (size_t)open) : rest;
	if (open < 0 && !str_cut(&text, ":", &type))
		return bad_word(e, word, "expected SLOT=f32[128,64] or SLOT=i64:128");
	s.dtype = (uint8_t)arg_dtype_of(type, &is_bits);
	if (s.dtype == DTYPE_UNKNOWN)
		return bad_word(e, word, "unknown dtype");
	if (open > 0) {
		if (close < open || (text.n && text.p[0] != ':'))
			return bad_word(
				e, word, "expected SLOT=f32[128,64] or SLOT=f32[128,64]:zero");
		text = str_sub(text, 1, text.n);
		if (!word_tensor(&s, str_sub(rest, (size_t)open + 1, (size_t)(close - open - 1)),
			    text, word, &b, e) ||
			!args_add_buffer(a, &b, &s.buffer, e))
			return false;
	} else if (!arg_number_of(text, &value) || !arg_pack(s.dtype, is_bits, &value, &s.bits)) {
		return bad_word(e, word, "expected a number of that dtype after the colon");
	}
	a->slots[s.slot] = s;
	return true;
}

/* --- arguments from JSON ---------------------------------------------------------------------- */

/* Why a slot number is invalid, or NULL. */
static const char *spec_refused_slot(const struct args *a, int64_t slot)
{
	if (slot < 0 || slot >= ARG_SLOTS)
		return "expected a slot from 0 to 47";
	if (slot >= ARG_CONTEXT_SLOT)
		return "slots 48 and 49 are the contexts, not arguments";
	return a->slots[slot].origin == ARG_SPEC ? "the slot is given twice" : NULL;
}

struct spec_tensor { /* properties of a tensor's buffer */
	bool is_here, is_size_stated, is_size_known;
	uint32_t number; /* tensors with the same number share a buffer; ARG_NONE: its own */
	uint64_t bytes;
};

struct spec_reader {
	struct json_reader r;
	struct args *a;
	struct spec_tensor tensors[ARG_CONTEXT_SLOT]; /* of this file */
};

struct pending { /* one argument while its keys are read */
	struct arg s;
	struct spec_tensor t;
	struct arg_number value;
	int64_t index;
	uint32_t n_strides;
	bool has_kind, has_index, has_value, has_shape, is_bits, is_size_unknown, has_size;
};

static bool get_shape(struct json_reader *r, uint64_t v[ARG_MAX_DIMS], uint32_t *n)
{
	uint32_t dim;

	*n = 0;
	for (json_enter_array(r); json_next_item(r);) {
		if (*n == ARG_DESCRIPTOR_DIMS)
			return json_reject(r, NULL, "more than 5 dimensions");
		if (!json_get_u32(r, &dim))
			return false;
		v[(*n)++] = dim;
	}
	return !r->is_failed;
}

static bool argspec_get_word(struct json_reader *r, struct str *s, const char *a, const char *b)
{
	if (!json_get_str(r, s))
		return false;
	if (str_is(*s, a) || str_is(*s, b))
		return true;
	return json_reject(r, NULL, "expected \"%s\" or \"%s\", found \"%.*s\"", a, b,
		(int)(s->n < 40 ? s->n : 40), s->p);
}

static bool fill_of(struct json_reader *r, struct arg_content *s, struct str word)
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
static bool get_fill(struct json_reader *r, struct arg_content *s)
{
	struct str key, word;

	if (json_peek(r) == JSON_STRING)
		return json_get_str(r, &word) && fill_of(r, s, word);
	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "kind")) {
			if (json_get_str(r, &word))
				fill_of(r, s, word);
		} else if (str_is(key, "seed"))
			json_get_u64(r, &s->seed);
		else if (str_is(key, "value"))
			json_get_double(r, &s->value);
		else
			json_skip(r);
	}
	return !r->is_failed;
}

static bool argspec_is_inside(struct str path)
{
	struct str rest = path, part;

	if (path.n == 0 || path.p[0] == '/' || memchr(path.p, 0, path.n))
		return false;
	while (str_cut(&rest, "/", &part))
		if (str_is(part, ".."))
			return false;
	return !str_is(rest, "..");
}

static bool get_data(struct json_reader *r, struct args *a, struct arg_content *s)
{
	struct str key, word;

	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "file")) {
			if (!json_get_str(r, &word))
				break;
			if (!argspec_is_inside(word))
				return json_reject(
					r, NULL, "data: expected a file in the folder of the spec");
			s->path = arena_strndup(&a->arena, word.p, word.n);
			if (!s->path)
				return json_reject(r, "no-memory", "out of memory");
		} else if (str_is(key, "offset"))
			json_get_u64(r, &s->off);
		else if (str_is(key, "bytes"))
			json_get_u64(r, &s->n_bytes);
		else
			json_skip(r);
	}
	if (!r->is_failed && !s->path)
		return json_reject(r, NULL, "data: no file is named");
	s->is_filled = true;
	return !r->is_failed;
}

static bool get_size(struct json_reader *r, struct pending *p)
{
	struct str word;

	p->has_size = true;
	if (json_peek(r) != JSON_STRING)
		return json_get_u64(r, &p->t.bytes);
	if (json_get_str(r, &word) && !str_is(word, "unknown"))
		return json_reject(r, NULL, "buffer_bytes: expected a number or \"unknown\"");
	p->is_size_unknown = true;
	return !r->is_failed;
}

static bool argspec_get_dtype(struct json_reader *r, struct pending *p)
{
	struct str word;

	if (!json_get_str(r, &word))
		return false;
	p->s.dtype = (uint8_t)arg_dtype_of(word, &p->is_bits);
	return p->s.dtype != DTYPE_UNKNOWN || json_reject(r, "bad-dtype", "unknown dtype \"%.*s\"",
						      (int)(word.n < 40 ? word.n : 40), word.p);
}

static bool argspec_get_name(struct json_reader *r, struct args *a, struct arg *s)
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

/* An unknown key is probably a typo: it gets a remark, not an error. */
static bool skip_unknown(struct json_reader *r, struct args *a, struct str key)
{
	const char *text = arena_printf(&a->arena,
		"the arg-spec %s has the key \"%.*s\", which is not known and says nothing",
		r->path, (int)(key.n < 60 ? key.n : 60), key.p);

	for (size_t i = 0; text && i < a->remarks.n; i++)
		if (strcmp(a->remarks.v[i], text) == 0)
			return json_skip(r);
	if (!args_remark(a, text, NULL))
		return json_reject(r, "no-memory", "out of memory");
	return json_skip(r);
}

static bool arg_key(struct json_reader *r, struct args *a, struct pending *p, struct str key)
{
	struct str word;

	if (str_is(key, "kind")) {
		p->has_kind = argspec_get_word(r, &word, "tensor", "scalar");
		p->s.is_tensor = p->has_kind && str_is(word, "tensor");
		return p->has_kind;
	}
	if (str_is(key, "index")) {
		p->has_index = json_get_i64(r, &p->index);
		if (p->has_index && spec_refused_slot(a, p->index))
			return json_reject(r, "bad-slot", "slot %lld: %s", (long long)p->index,
				spec_refused_slot(a, p->index));
		return p->has_index;
	}
	if (str_is(key, "name"))
		return argspec_get_name(r, a, &p->s);
	if (str_is(key, "dtype"))
		return argspec_get_dtype(r, p);
	if (str_is(key, "shape"))
		return p->has_shape = get_shape(r, p->s.shape, &p->s.n_dims);
	if (str_is(key, "strides"))
		return get_shape(r, p->s.strides, &p->n_strides);
	if (str_is(key, "role")) {
		if (!json_get_str(r, &word))
			return false;
		p->s.is_read = !str_is(word, "output");
		p->s.is_written = str_is(word, "output") || str_is(word, "inout");
		return true;
	}
	if (str_is(key, "fill"))
		return get_fill(r, &p->s.content);
	if (str_is(key, "data"))
		return get_data(r, a, &p->s.content);
	if (str_is(key, "start_offset"))
		return json_get_u64(r, &p->s.start_offset);
	if (str_is(key, "buffer_bytes"))
		return get_size(r, p);
	if (str_is(key, "buffer"))
		return json_get_u32(r, &p->t.number);
	if (str_is(key, "value"))
		return p->has_value = arg_number_get(r, &p->value);
	if (str_is(key, "pack_mode")) {
		if (!argspec_get_word(r, &word, "value", "bits"))
			return false;
		p->is_bits = p->is_bits || str_is(word, "bits");
		return true;
	}
	return skip_unknown(r, a, key);
}

static bool end_tensor(struct json_reader *r, struct pending *p)
{
	uint64_t bytes;

	if (!p->has_shape || p->s.n_dims == 0)
		return json_reject(r, NULL, "slot %u: a tensor needs a shape", p->s.slot);
	if (p->n_strides && p->n_strides != p->s.n_dims)
		return json_reject(r, NULL, "slot %u: %u strides for %u dimensions", p->s.slot,
			p->n_strides, p->s.n_dims);
	if (!p->n_strides)
		arg_default_strides(&p->s);
	if (!arg_extent_bytes(&p->s, &bytes))
		return json_reject(
			r, "out-of-range", "slot %u: its extent is too large", p->s.slot);
	if (!p->has_size || p->is_size_unknown)
		p->t.bytes = bytes;
	if (p->t.bytes > ARG_MAX_BYTES)
		return json_reject(
			r, "out-of-range", "slot %u: its buffer is too large", p->s.slot);
	p->t.is_size_known = !p->is_size_unknown;
	p->t.is_size_stated = p->has_size && !p->is_size_unknown;
	p->t.is_here = true;
	if (!p->s.content.is_filled)
		p->s.content.fill = FILL_NONE;
	arg_measure(&p->s);
	return true;
}

static bool end_arg(struct spec_reader *spec, struct pending *p)
{
	struct json_reader *r = &spec->r;

	p->s.slot = (uint32_t)p->index;
	p->s.name = p->s.name ? p->s.name : "";
	if (!p->has_kind)
		return json_reject(r, NULL, "an argument without a kind");
	if (!p->has_index)
		return json_reject(r, NULL, "an argument without an index");
	if (p->s.dtype == DTYPE_UNKNOWN)
		return json_reject(r, "bad-dtype", "slot %u: no dtype", p->s.slot);
	if (p->s.is_tensor) {
		if (!end_tensor(r, p))
			return false;
	} else if (!p->has_value) {
		return json_reject(r, NULL, "slot %u: a scalar needs a value", p->s.slot);
	} else if (!arg_pack(p->s.dtype, p->is_bits, &p->value, &p->s.bits)) {
		return json_reject(
			r, "out-of-range", "slot %u: the value does not fit its dtype", p->s.slot);
	}
	spec->tensors[p->s.slot] = p->t;
	spec->a->slots[p->s.slot] = p->s;
	return true;
}

static bool argspec_read_list(struct spec_reader *spec)
{
	struct json_reader *r = &spec->r;
	struct str key;

	for (json_enter_array(r); json_next_item(r);) {
		struct pending p = {.s = SPEC_ARG, .t.number = ARG_NONE};

		p.s.dtype = DTYPE_UNKNOWN;
		for (json_enter_object(r); json_next_key(r, &key);)
			arg_key(r, spec->a, &p, key);
		if (r->is_failed || !end_arg(spec, &p))
			return false;
	}
	return !r->is_failed;
}

/* The first tensor of this file that shares the buffer of the slot. */
static uint32_t owner_of(const struct spec_reader *spec, uint32_t slot)
{
	for (uint32_t i = 0; spec->tensors[slot].number != ARG_NONE && i < slot; i++)
		if (spec->tensors[i].is_here &&
			spec->tensors[i].number == spec->tensors[slot].number)
			return i;
	return slot;
}

/* Tensors that share a buffer have one size: the stated one, or what the widest view needs. */
static bool settle_sizes(struct spec_reader *spec)
{
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
		struct spec_tensor *t = &spec->tensors[i],
				   *owner = &spec->tensors[owner_of(spec, i)];

		if (!t->is_here || owner == t)
			continue;
		if (t->is_size_stated && owner->is_size_stated && t->bytes != owner->bytes)
			return json_reject(&spec->r, "bad-buffer",
				"slots %u and %u share buffer %u, of %llu and of %llu bytes",
				owner_of(spec, i), i, t->number, (unsigned long long)owner->bytes,
				(unsigned long long)t->bytes);
		owner->bytes = t->bytes > owner->bytes ? t->bytes : owner->bytes;
		owner->is_size_known &= t->is_size_known;
		owner->is_size_stated |= t->is_size_stated;
	}
	return true;
}

/* Adds one buffer for each that the tensors name. */
static bool add_buffers(struct spec_reader *spec, struct incore_error *e)
{
	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
		const struct spec_tensor *t = &spec->tensors[i];
		uint32_t owner = owner_of(spec, i);
		struct arg_buffer b = {.n = t->bytes, .is_size_known = t->is_size_known};

		if (t->is_here && owner != i)
			spec->a->slots[i].buffer = spec->a->slots[owner].buffer;
		else if (t->is_here && !args_add_buffer(spec->a, &b, &spec->a->slots[i].buffer, e))
			return false;
	}
	return true;
}

/* "args_origin": true if all arguments are as recorded from a run. */
static bool get_origin(struct json_reader *r)
{
	struct str word = {0};

	return argspec_get_word(r, &word, "dump", "synthetic") && str_is(word, "dump");
}

static bool argspec_read_file(struct spec_reader *spec, bool *is_recorded)
{
	struct json_reader *r = &spec->r;
	bool has_args = false, ok = true;
	struct str key;

	if (json_peek(r) == JSON_ARRAY)
		return argspec_read_list(spec);
	for (json_enter_object(r); ok && json_next_key(r, &key);) {
		if (str_is(key, "args")) {
			has_args = true;
			ok = argspec_read_list(spec);
		} else if (str_is(key, "args_origin")) {
			*is_recorded = get_origin(r);
		} else {
			skip_unknown(r, spec->a, key);
		}
	}
	if (ok && !r->is_failed && !has_args)
		json_reject(r, NULL, "expected a list of arguments, or an object with \"args\"");
	return ok && !r->is_failed;
}

bool args_read_spec(
	struct args *a, const void *json, size_t n, const char *path, struct incore_error *e)
{
	struct spec_reader spec = {.a = a};
	bool is_recorded = false;
	bool ok;

	json_init(&spec.r, json, n, path, 0);
	ok = argspec_read_file(&spec, &is_recorded) && settle_sizes(&spec);
	if (spec.r.is_failed)
		ok = json_fail(&spec.r, e);
	ok = ok && add_buffers(&spec, e) && json_finish(&spec.r, e);
	json_deinit(&spec.r);
	a->is_recorded = (a->is_recorded || !a->rows.n) && is_recorded;
	return ok;
}

/* Paths of payloads are relative to the spec's folder. */
static bool name_payloads(struct args *a, const char *path, struct incore_error *e)
{
	const char *slash = strrchr(path, '/');

	for (uint32_t i = 0; slash && i < ARG_CONTEXT_SLOT; i++) {
		struct arg_content *c = &a->slots[i].content;

		if (!c->path)
			continue;
		c->path = arena_printf(&a->arena, "%.*s/%s", (int)(slash - path), path, c->path);
		if (!c->path)
			return err_nomem(e);
	}
	return true;
}

bool args_load_spec(struct args *a, const char *path, struct incore_error *e)
{
	struct file_data f = {0};
	bool ok;

	if (!file_load(&f, path, e))
		return err_wrap(e, "arguments");
	ok = args_read_spec(a, f.data, f.size, path, e) && name_payloads(a, path, e);
	file_unload(&f);
	return ok;
}
