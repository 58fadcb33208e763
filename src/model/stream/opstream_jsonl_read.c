/* SPDX-License-Identifier: Apache-2.0 */
/* opstream_jsonl_read.c: op streams from JSON Lines. Keys may come in any order, unknown ones are
 * passed over, what follows from the rest (macs, bytes, elems, seq) is not believed. */
#include "base/arena.h"
#include "codec/json_reader.h"
#include "model/stream/opstream_io.h"

typedef const char *(*name_fn)(unsigned);

/* The value of a word; a word of no code is rejected. */
static bool get_word(struct json_reader *r, name_fn name, uint8_t *out)
{
	struct str s;

	if (!json_get_str(r, &s))
		return false;
	for (unsigned i = 0; name(i); i++)
		if (str_is(s, name(i))) {
			*out = (uint8_t)i;
			return true;
		}
	return json_reject(r, NULL, "unknown word \"%.*s\"", (int)(s.n < 40 ? s.n : 40), s.p);
}

static bool get_u8(struct json_reader *r, uint8_t *out)
{
	uint32_t v;

	if (!json_get_u32(r, &v))
		return false;
	if (v > UINT8_MAX)
		return json_reject(r, "out-of-range", "expected 0 to 255, found %u", v);
	*out = (uint8_t)v;
	return true;
}

static bool get_u16(struct json_reader *r, uint16_t *out)
{
	uint32_t v;

	if (!json_get_u32(r, &v))
		return false;
	if (v > UINT16_MAX)
		return json_reject(r, "out-of-range", "expected 0 to 65535, found %u", v);
	*out = (uint16_t)v;
	return true;
}

static bool get_u32s(struct json_reader *r, uint32_t *v, unsigned max, uint32_t *n)
{
	*n = 0;
	for (json_enter_array(r); json_next_item(r);) {
		if (*n == max)
			return json_reject(r, NULL, "more than %u items", max);
		if (!json_get_u32(r, &v[(*n)++]))
			return false;
	}
	return !r->is_failed;
}

static bool get_text(struct json_reader *r, struct opstream *s, uint32_t *off)
{
	struct str text;

	if (!json_get_str(r, &text))
		return false;
	if (memchr(text.p ? text.p : "", 0, text.n))
		return json_reject(r, NULL, "NUL in a string");
	return opstream_add_str(s, text, off, NULL) || json_reject(r, "no-memory", "out of memory");
}

static bool get_flag(struct json_reader *r, uint32_t bit, uint8_t *flags)
{
	bool b;

	if (!json_get_bool(r, &b))
		return false;
	*flags = (uint8_t)(b ? *flags | bit : *flags & ~bit);
	return true;
}

/* --- the head --- */

static bool slot_key(struct json_reader *r, struct opstream *s, struct op_slot *t, struct str key)
{
	struct str word;
	uint32_t n = t->ndims;

	if (str_is(key, "slot"))
		return get_u8(r, &t->slot);
	if (str_is(key, "kind")) {
		if (!json_get_str(r, &word))
			return false;
		if (str_is(word, "tensor"))
			t->flags |= SLOT_TENSOR;
		else if (!str_is(word, "scalar"))
			return json_reject(r, NULL, "expected tensor or scalar");
		return true;
	}
	if (str_is(key, "name"))
		return get_text(r, s, &t->name);
	if (str_is(key, "dtype"))
		return get_word(r, op_dtype_name, &t->dtype);
	if (str_is(key, "read"))
		return get_flag(r, SLOT_READ, &t->flags);
	if (str_is(key, "size_known"))
		return get_flag(r, SLOT_SIZE_KNOWN, &t->flags);
	if (str_is(key, "payload"))
		return get_flag(r, SLOT_PAYLOAD, &t->flags);
	if (str_is(key, "output"))
		return get_flag(r, SLOT_OUTPUT, &t->flags);
	if (str_is(key, "alloc"))
		return json_get_u32(r, &t->alloc);
	if (str_is(key, "alloc_off"))
		return json_get_u64(r, &t->alloc_off);
	if (str_is(key, "bytes"))
		return json_get_u64(r, &t->bytes);
	if (str_is(key, "value"))
		return json_get_u64(r, &t->value);
	if (str_is(key, "start_offset"))
		return json_get_u64(r, &t->start_offset);
	if (str_is(key, "shapes"))
		return get_u32s(r, t->shapes, 5, &t->ndims);
	if (str_is(key, "strides"))
		return get_u32s(r, t->strides, 5, &n);
	return json_skip(r);
}

static bool get_slots(struct json_reader *r, struct opstream *s)
{
	struct str key;

	for (json_enter_array(r); json_next_item(r);) {
		struct op_slot t = {0};

		for (json_enter_object(r); json_next_key(r, &key);)
			slot_key(r, s, &t, key);
		if (r->is_failed)
			return false;
		if (!VEC_PUSH(&s->slots, t))
			return json_reject(r, "no-memory", "out of memory");
	}
	return !r->is_failed;
}

static bool get_mask(struct json_reader *r, uint64_t *mask)
{
	for (json_enter_array(r); json_next_item(r);) {
		uint32_t v;

		if (!json_get_u32(r, &v))
			return false;
		if (v >= OPSTREAM_SLOTS)
			return json_reject(r, "out-of-range", "expected a slot below 50");
		*mask |= UINT64_C(1) << v;
	}
	return !r->is_failed;
}

static bool get_core(struct json_reader *r, struct opstream *s)
{
	struct str word;

	if (!json_get_str(r, &word))
		return false;
	if (!str_is(word, "aic") && !str_is(word, "aiv"))
		return json_reject(r, NULL, "expected aic or aiv");
	s->core = str_is(word, "aic") ? CORE_AIC : CORE_AIV;
	return true;
}

static bool get_origin(struct json_reader *r, struct opstream *s)
{
	struct str word;

	if (!json_get_str(r, &word))
		return false;
	if (!str_is(word, "dump") && !str_is(word, "synthetic"))
		return json_reject(r, NULL, "expected dump or synthetic");
	s->args_origin = str_is(word, "dump") ? ARGS_DUMP : ARGS_SYNTHETIC;
	return true;
}

static bool head_key(struct json_reader *r, struct opstream *s, struct str key)
{
	uint32_t version;
	uint8_t arch;

	if (str_is(key, "version")) {
		if (json_get_u32(r, &version) && version != OPSTREAM_VERSION)
			return json_reject(r, "bad-version", "expected version %d, found %u",
				OPSTREAM_VERSION, version);
		return !r->is_failed;
	}
	if (str_is(key, "arch")) {
		if (!get_word(r, op_arch_name, &arch))
			return false;
		s->arch = (enum opstream_arch)arch;
		return true;
	}
	if (str_is(key, "core"))
		return get_core(r, s);
	if (str_is(key, "args_origin"))
		return get_origin(r, s);
	if (str_is(key, "lane"))
		return json_get_u32(r, &s->lane);
	if (str_is(key, "block_idx"))
		return json_get_u32(r, &s->block_idx);
	if (str_is(key, "block_num"))
		return json_get_u32(r, &s->block_num);
	if (str_is(key, "mixed"))
		return json_get_bool(r, &s->is_mixed);
	if (str_is(key, "complete"))
		return json_get_bool(r, &s->is_complete);
	if (str_is(key, "kernel"))
		return get_text(r, s, &s->kernel);
	if (str_is(key, "source_sha256"))
		return get_text(r, s, &s->source_sha256);
	if (str_is(key, "front_end"))
		return get_text(r, s, &s->front_end);
	if (str_is(key, "reason"))
		return get_text(r, s, &s->reason);
	if (str_is(key, "payload_slots"))
		return get_mask(r, &s->payload_slots);
	if (str_is(key, "missing_slots"))
		return get_mask(r, &s->missing_slots);
	return str_is(key, "slots") ? get_slots(r, s) : json_skip(r);
}

/* --- ops --- */

static bool get_slot_or_null(struct json_reader *r, uint8_t *slot)
{
	if (json_peek(r) == JSON_NULL) {
		*slot = OPSTREAM_NO_SLOT;
		return json_get_null(r);
	}
	return get_u8(r, slot);
}

static bool get_strides(struct json_reader *r, int64_t v[5])
{
	unsigned n = 0;

	for (json_enter_array(r); json_next_item(r);) {
		if (n == 5)
			return json_reject(r, NULL, "more than 5 strides");
		json_get_i64(r, &v[n++]);
	}
	return !r->is_failed;
}

static bool opnd_key(struct json_reader *r, struct op_opnd *o, uint64_t *word, struct str key)
{
	uint32_t n;

	if (str_is(key, "what"))
		return get_word(r, op_what_name, &o->what);
	if (str_is(key, "role"))
		return get_word(r, op_role_name, &o->role);
	if (str_is(key, "dtype"))
		return get_word(r, op_dtype_name, &o->dtype);
	if (str_is(key, "bits"))
		return get_u8(r, &o->bits);
	if (str_is(key, "loc"))
		return get_word(r, op_loc_name, &o->loc);
	if (str_is(key, "blayout"))
		return get_word(r, op_blayout_name, &o->blayout);
	if (str_is(key, "slayout"))
		return get_word(r, op_slayout_name, &o->slayout);
	if (str_is(key, "pad"))
		return get_word(r, op_pad_name, &o->pad);
	if (str_is(key, "compact"))
		return get_word(r, op_compact_name, &o->compact);
	if (str_is(key, "layout"))
		return get_word(r, op_layout_name, &o->layout);
	if (str_is(key, "rows"))
		return json_get_u32(r, &OPND_ROWS(o));
	if (str_is(key, "cols"))
		return json_get_u32(r, &OPND_COLS(o));
	if (str_is(key, "vrow"))
		return json_get_u32(r, &OPND_VROW(o));
	if (str_is(key, "vcol"))
		return json_get_u32(r, &OPND_VCOL(o));
	if (str_is(key, "fractal"))
		return json_get_u32(r, &o->fractal);
	if (str_is(key, "slot"))
		return get_slot_or_null(r, &o->slot);
	if (str_is(key, "shape"))
		return get_u32s(r, o->shape, 5, &n);
	if (str_is(key, "stride"))
		return get_strides(r, o->stride);
	if (str_is(key, "addr") || str_is(key, "offset") || str_is(key, "value"))
		return json_get_u64(r, word);
	return json_skip(r);
}

static bool get_opnds(struct json_reader *r, struct op_desc *d)
{
	struct str key;

	d->n_opnds = 0;
	for (json_enter_array(r); json_next_item(r);) {
		struct op_opnd o = {0};
		uint64_t word = 0;

		if (d->n_opnds == OPSTREAM_MAX_OPNDS)
			return json_reject(r, NULL, "more than %d operands", OPSTREAM_MAX_OPNDS);
		for (json_enter_object(r); json_next_key(r, &key);)
			opnd_key(r, &o, &word, key);
		if (o.bits == 0)
			o.bits = (uint8_t)op_dtype_bits(o.dtype);
		d->opnd[d->n_opnds] = o;
		d->word[d->n_opnds++] = word;
	}
	return !r->is_failed;
}

static bool get_tmpl(struct json_reader *r, struct op_form *f)
{
	struct str key;

	for (json_enter_object(r); json_next_key(r, &key);) {
		uint8_t *v = str_is(key, "atomic")	? &f->atomic
			     : str_is(key, "round")	? &f->round
			     : str_is(key, "sat")	? &f->sat
			     : str_is(key, "mask")	? &f->mask
			     : str_is(key, "split")	? &f->split
			     : str_is(key, "exhausted") ? &f->exhausted
			     : str_is(key, "phase")	? &f->phase
			     : str_is(key, "mode")	? &f->mode
							: NULL;

		if (v)
			get_u8(r, v);
		else
			json_skip(r);
	}
	return !r->is_failed;
}

static bool get_flag_of(struct json_reader *r, struct op_form *f)
{
	struct str key;
	int64_t id;

	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "src"))
			get_word(r, op_pipe_name, &f->flag_src);
		else if (str_is(key, "dst"))
			get_word(r, op_pipe_name, &f->flag_dst);
		else if (str_is(key, "mode"))
			get_u8(r, &f->flag_mode);
		else if (!str_is(key, "id"))
			json_skip(r);
		else if (json_get_i64(r, &id) && (id < INT32_MIN || id > INT32_MAX))
			json_reject(r, "out-of-range", "flag id of more than 32 bits");
		else if (!r->is_failed)
			f->flag_id = (int32_t)id;
	}
	return !r->is_failed;
}

static bool get_fifo(struct json_reader *r, struct op_desc *d)
{
	struct op_form *f = &d->form;
	struct str key;

	for (json_enter_object(r); json_next_key(r, &key);) {
		if (str_is(key, "object"))
			get_u16(r, &f->fifo_object);
		else if (str_is(key, "flag_id"))
			get_u16(r, &f->fifo_flag_id);
		else if (str_is(key, "dir"))
			get_u8(r, &f->fifo_dir);
		else if (str_is(key, "flags"))
			get_u8(r, &f->fifo_flags);
		else if (str_is(key, "slot_size"))
			json_get_u32(r, &f->fifo_slot_size);
		else if (str_is(key, "slot_num"))
			get_u16(r, &f->fifo_slot_num);
		else if (str_is(key, "local_num"))
			get_u16(r, &f->fifo_local_num);
		else if (str_is(key, "tile_index"))
			json_get_u32(r, &d->aux);
		else
			json_skip(r);
	}
	return !r->is_failed;
}

/* Texts of one line; kept apart because the reader's own last only until the next string. */
struct line_texts {
	struct strbuf name, file, hint;
};

static bool keep_text(struct json_reader *r, struct strbuf *b)
{
	struct str s;

	if (!json_get_str(r, &s))
		return false;
	sb_reset(b);
	if (memchr(s.p ? s.p : "", 0, s.n))
		return json_reject(r, NULL, "NUL in a string");
	return sb_str(b, s) || json_reject(r, "no-memory", "out of memory");
}

static bool op_key(struct json_reader *r, struct op_desc *d, struct line_texts *t, struct str key)
{
	if (str_is(key, "kind"))
		return get_word(r, op_kind_name, &d->form.kind);
	if (str_is(key, "op"))
		return keep_text(r, &t->name);
	if (str_is(key, "pipe"))
		return get_word(r, op_pipe_name, &d->form.pipe);
	if (str_is(key, "line"))
		return json_get_u32(r, &d->line);
	if (str_is(key, "file"))
		return keep_text(r, &t->file);
	if (str_is(key, "name_hint"))
		return keep_text(r, &t->hint);
	if (str_is(key, "opnd"))
		return get_opnds(r, d);
	if (str_is(key, "tmpl"))
		return get_tmpl(r, &d->form);
	if (str_is(key, "flag"))
		return get_flag_of(r, &d->form);
	if (str_is(key, "fifo"))
		return get_fifo(r, d);
	return json_skip(r);
}

/* The first key of a line tells a head ("format") from an op. */
static bool read_line(struct json_reader *r, struct opstream_set *set, struct line_texts *t,
	struct incore_error *e)
{
	struct op_desc d = op_desc_of(OPK_OP, OPP_S, "", 0);
	struct opstream *s = set->v.n ? &set->v.v[set->v.n - 1] : NULL;
	bool is_first = true, is_head = false;
	struct str key, format;

	sb_reset(&t->name);
	sb_reset(&t->file);
	sb_reset(&t->hint);
	for (json_enter_object(r); json_next_key(r, &key); is_first = false) {
		if (is_first && str_is(key, "format")) {
			if (json_get_str(r, &format) && !str_is(format, "incore-opstream"))
				json_reject(r, "bad-magic", "expected \"incore-opstream\"");
			if (r->is_failed || !(s = opstream_set_new(set, e)))
				break;
			is_head = true;
		} else if (!s) {
			json_reject(r, "bad-magic",
				"expected an op stream: a line that begins with \"format\"");
		} else if (is_head) {
			head_key(r, s, key);
		} else {
			op_key(r, &d, t, key);
		}
	}
	if (!r->is_failed && !s && is_first)
		json_reject(r, "bad-magic", "expected an op stream, found an empty line of it");
	if (r->is_failed || !s)
		return false;
	if (is_head)
		return true;
	if (t->name.n == 0)
		return json_reject(r, NULL, "an op without a name");
	d.name = t->name.p;
	d.file = t->file.n ? t->file.p : NULL;
	d.hint = t->hint.n ? t->hint.p : NULL;
	return opstream_push(s, &d, e);
}

static bool finish(struct opstream_set *set, size_t from, const char *path, struct incore_error *e)
{
	for (size_t i = from; i < set->v.n; i++) {
		struct opstream_fault fault;

		if (!opstream_check(&set->v.v[i], &fault))
			return err_file(e, "bad-value", path, INCORE_NO_OFFSET,
				"%s %zu of stream %zu: expected %s", fault.table, fault.index, i,
				fault.expected);
		if (!opstream_seal(&set->v.v[i], e))
			return false;
	}
	return true;
}

bool opstream_read_jsonl(
	struct opstream_set *set, const char *p, size_t n, const char *path, struct incore_error *e)
{
	size_t from = set->v.n;
	struct line_texts t = {0};
	struct json_reader r;
	bool ok = true;

	json_init(&r, p, n, path, 0);
	while (ok) {
		r.need_comma = false; /* the lines are values of their own */
		while (r.p < r.end && strchr(" \t\r\n", *r.p) && *r.p)
			r.p++;
		if (r.p == r.end)
			break;
		ok = read_line(&r, set, &t, e);
		if (r.is_failed)
			ok = json_fail(&r, e);
	}
	json_deinit(&r);
	sb_free(&t.name);
	sb_free(&t.file);
	sb_free(&t.hint);
	return ok && finish(set, from, path, e);
}
