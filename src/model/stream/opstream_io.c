/* SPDX-License-Identifier: Apache-2.0 */
/* opstream_io.c: reads and writes op streams. Parts: checks; lines of JSON; binary files. */
#include <endian.h>

#include "base/file.h"
#include "codec/json_fields.h"
#include "model/stream/opstream.h"

/* --- checks ----------------------------------------------------------------------------------- */

/*
 * Checks that a stream follows the format: every index is inside its table, every code is known,
 * sizes are small enough that no later product overflows.
 */

/* What is wrong: entry `index` of `table` is not `expected`. */
struct opstream_fault {
	const char *table;
	size_t index;
	const char *expected;
};

/* Far above any real tile; three of them multiplied stay below 2^63. */
#define MAX_TILE_DIM (1u << 20)
#define MAX_GM_ELEMS (UINT64_C(1) << 48)
#define MAX_STRIDE (INT64_C(1) << 40)
#define MAX_BYTES (UINT64_C(1) << 56)

static bool bad(struct opstream_fault *f, const char *table, size_t i, const char *what)
{
	*f = (struct opstream_fault){table, i, what};
	return false;
}

static bool check_slot(const struct opstream *s, size_t i, struct opstream_fault *f)
{
	const struct op_slot *t = &s->slots.v[i];

	if (t->slot >= OPSTREAM_SLOTS || (i && t->slot <= s->slots.v[i - 1].slot))
		return bad(f, "slot", i, "slot numbers that rise and are below 50");
	if (t->dtype >= DT_COUNT)
		return bad(f, "slot", i, "a known dtype");
	if (t->ndims > 5)
		return bad(f, "slot", i, "at most 5 dimensions");
	if (t->bytes > MAX_BYTES || t->alloc_off > MAX_BYTES)
		return bad(f, "slot", i, "a size below 2^56 bytes");
	if (t->name >= s->strings.n)
		return bad(f, "slot", i, "a name inside the strings");
	return true;
}

static bool check_tile(const struct op_opnd *o, size_t i, struct opstream_fault *f)
{
	if (o->loc >= LOC_COUNT || o->blayout >= BL_COUNT || o->slayout >= SL_COUNT ||
		o->pad >= PAD_COUNT || o->compact >= COMPACT_COUNT)
		return bad(f, "operand", i, "a known location, layout, pad and compact mode");
	for (int k = 0; k < 4; k++)
		if (o->shape[k] > MAX_TILE_DIM)
			return bad(f, "operand", i, "tile sizes up to 2^20");
	if (OPND_VROW(o) > OPND_ROWS(o) || OPND_VCOL(o) > OPND_COLS(o))
		return bad(f, "operand", i, "a valid part inside the tile");
	if (o->fractal > 65536)
		return bad(f, "operand", i, "a fractal up to 65536 bytes");
	return true;
}

static bool check_gm(const struct op_opnd *o, size_t i, struct opstream_fault *f)
{
	uint64_t n = 1;

	if (o->layout >= LAYOUT_COUNT)
		return bad(f, "operand", i, "a known global layout");
	if (o->slot >= OPSTREAM_SLOTS && o->slot != OPSTREAM_NO_SLOT)
		return bad(f, "operand", i, "a slot below 50");
	for (int k = 0; k < 5; k++) {
		if (o->shape[k] && n > MAX_GM_ELEMS / o->shape[k])
			return bad(f, "operand", i, "a view of up to 2^48 elements");
		n *= o->shape[k];
		if (o->stride[k] > MAX_STRIDE || o->stride[k] < -MAX_STRIDE)
			return bad(f, "operand", i, "strides below 2^40");
	}
	return true;
}

static bool check_opnd(const struct op_opnd *o, size_t i, struct opstream_fault *f)
{
	if (o->what >= OPND_WHAT_COUNT || o->role >= ROLE_COUNT || o->dtype >= DT_COUNT)
		return bad(f, "operand", i, "a known kind, role and dtype");
	if (o->bits > 64)
		return bad(f, "operand", i, "elements of up to 64 bits");
	if (o->what == OPND_TILE)
		return check_tile(o, i, f);
	return o->what == OPND_GM ? check_gm(o, i, f) : true;
}

static bool check_form(const struct opstream *s, size_t i, struct opstream_fault *f)
{
	const struct op_form *t = &s->forms.v[i];

	if (t->name >= s->strings.n || s->strings.v[t->name] == '\0')
		return bad(f, "form", i, "a name inside the strings");
	if (t->kind >= OPK_COUNT || t->pipe >= OPP_COUNT)
		return bad(f, "form", i, "a known kind and pipe");
	if (t->n_opnds > OPSTREAM_MAX_OPNDS || t->first_opnd > s->opnds.n ||
		t->n_opnds > s->opnds.n - t->first_opnd)
		return bad(f, "form", i, "operands inside their table");
	if (t->flag_src >= OPP_COUNT || t->flag_dst >= OPP_COUNT)
		return bad(f, "form", i, "known pipes of a flag");
	if (t->fifo_dir >= DIR_COUNT)
		return bad(f, "form", i, "a known FIFO direction");
	if (t->kind >= OPK_PUSH && t->kind <= OPK_FREE &&
		(t->fifo_dir == DIR_NONE || t->fifo_slot_num == 0))
		return bad(f, "form", i, "a FIFO with a direction and at least one slot");
	return true;
}

static bool check_ops(const struct opstream *s, struct opstream_fault *f)
{
	size_t n_words = s->words.n;

	for (size_t i = 0; i < s->ops.n; i++) {
		const struct op_exec *x = &s->ops.v[i];

		if (x->form >= s->forms.n)
			return bad(f, "op", i, "a form inside its table");
		if (x->site >= s->sites.n)
			return bad(f, "op", i, "a site inside its table");
		if (x->first_word > n_words ||
			s->forms.v[x->form].n_opnds > n_words - x->first_word)
			return bad(f, "op", i, "words inside their table");
	}
	return true;
}

static bool opstream_io_check_head(const struct opstream *s, struct opstream_fault *f)
{
	const uint32_t texts[] = {s->kernel, s->front_end, s->source_sha256, s->reason};

	if (s->strings.n == 0 || s->strings.v[0] != '\0' || s->strings.v[s->strings.n - 1] != '\0')
		return bad(f, "string", 0, "strings that begin and end with NUL");
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i] >= s->strings.n)
			return bad(f, "head", 0, "texts inside the strings");
	if ((unsigned)s->arch >= ARCH_COUNT || (unsigned)s->core >= CORE_COUNT)
		return bad(f, "head", 0, "a known arch and core");
	if ((unsigned)s->args_origin >= ARGS_ORIGIN_COUNT)
		return bad(f, "head", 0, "a known origin of the arguments");
	if (s->lane > 1 || (s->core == CORE_AIC && s->lane))
		return bad(f, "head", 0, "lane 0, or 1 of a vector core");
	if (s->block_num == 0 || s->block_idx >= s->block_num)
		return bad(f, "head", 0, "a block below the number of blocks");
	return true;
}

static bool opstream_check(const struct opstream *s, struct opstream_fault *f)
{
	if (!opstream_io_check_head(s, f))
		return false;
	for (size_t i = 0; i < s->slots.n; i++)
		if (!check_slot(s, i, f))
			return false;
	for (size_t i = 0; i < s->sites.n; i++)
		if (s->sites.v[i].file >= s->strings.n || s->sites.v[i].hint >= s->strings.n)
			return bad(f, "site", i, "texts inside the strings");
	for (size_t i = 0; i < s->opnds.n; i++)
		if (!check_opnd(&s->opnds.v[i], i, f))
			return false;
	for (size_t i = 0; i < s->forms.n; i++)
		if (!check_form(s, i, f))
			return false;
	return check_ops(s, f);
}

/* --- lines of JSON ---------------------------------------------------------------------------- */

/*
 * Op streams as JSON Lines: a head, then one line per op, for people and for front ends that do not
 * want to write binary files. One table per object drives both reading and writing. Derived values
 * (macs, bytes, elems, seq) in the input are ignored.
 */

/* --- values; ctx, if used, is the stream --- */

struct two_words { /* two words for the lowest bit of a member */
	const char *first, *second;
	uint8_t number; /* number of the first: 0 or 1; the second has the other */
};

static const struct two_words cores = {"aic", "aiv", CORE_AIC};
static const struct two_words origins = {"dump", "synthetic", ARGS_DUMP};
static const struct two_words slot_kinds = {"tensor", "scalar", SLOT_TENSOR};

static bool get_either(const struct json_member *m)
{
	const struct two_words *t = m->f->how;
	struct str word;
	bool is_first;

	if (!json_get_str(m->r, &word))
		return false;
	if (!str_is(word, t->first) && !str_is(word, t->second))
		return json_reject(m->r, NULL, "expected %s or %s", t->first, t->second);
	is_first = str_is(word, t->first);
	if (m->f->size == sizeof(uint32_t))
		*(uint32_t *)m->at = is_first ? t->number : !t->number;
	else
		*(uint8_t *)m->at |= is_first ? t->number : !t->number;
	return true;
}

static void put_either(const struct json_member *m)
{
	const struct two_words *t = m->f->how;
	uint32_t v = m->f->size == sizeof(v) ? *(uint32_t *)m->at : *(uint8_t *)m->at;

	json_w_cstr(m->w, (v & 1) == t->number ? t->first : t->second);
}

static bool get_version(const struct json_member *m)
{
	uint32_t version;

	if (json_get_u32(m->r, &version) && version != OPSTREAM_VERSION)
		return json_reject(m->r, "bad-version", "expected version %d, found %u",
			OPSTREAM_VERSION, version);
	return !m->r->is_failed;
}

static void put_version(const struct json_member *m)
{
	json_w_u64(m->w, OPSTREAM_VERSION);
}

static bool get_text(const struct json_member *m)
{
	struct str text;

	if (!json_get_str(m->r, &text))
		return false;
	if (memchr(text.p ? text.p : "", 0, text.n))
		return json_reject(m->r, NULL, "a string holds a NUL byte");
	return opstream_add_str(m->ctx, text, m->at, NULL) ||
	       json_reject(m->r, "no-memory", "out of memory");
}

static void opstream_io_put_text(const struct json_member *m)
{
	json_w_cstr(m->w, opstream_str(m->ctx, *(const uint32_t *)m->at));
}

static bool get_mask(const struct json_member *m)
{
	uint32_t v;

	for (json_enter_array(m->r); json_next_item(m->r);) {
		if (!json_get_u32(m->r, &v))
			return false;
		if (v >= OPSTREAM_SLOTS)
			return json_reject(m->r, "out-of-range", "expected a slot below 50");
		*(uint64_t *)m->at |= UINT64_C(1) << v;
	}
	return !m->r->is_failed;
}

static void put_mask(const struct json_member *m)
{
	json_w_array(m->w);
	for (unsigned i = 0; i < 64; i++)
		if (*(const uint64_t *)m->at >> i & 1)
			json_w_u64(m->w, i);
	json_w_end(m->w);
}

/* --- the head --- */

enum { OF_SCALAR = 1, OF_TENSOR = 2 };

/* clang-format off */
#define TENSOR(M, KEY, ...) JSON_FIELD(op_slot, M, KEY, .kinds = OF_TENSOR, ##__VA_ARGS__)
static const struct json_field slot_fields[] = {
	JSON_FIELD(op_slot, slot, "slot"),
	JSON_FIELD(op_slot, flags, "kind", .get = get_either, .put = put_either, .how = &slot_kinds),
	JSON_FIELD(op_slot, name, "name", .get = get_text, .put = opstream_io_put_text),
	JSON_FIELD(op_slot, dtype, "dtype", .word = op_dtype_name),
	JSON_FIELD(op_slot, flags, "read", .bit = SLOT_READ),
	TENSOR(alloc, "alloc"),
	TENSOR(alloc_off, "alloc_off"),
	TENSOR(bytes, "bytes"),
	TENSOR(flags, "size_known", .bit = SLOT_SIZE_KNOWN),
	TENSOR(flags, "payload", .bit = SLOT_PAYLOAD),
	TENSOR(flags, "output", .bit = SLOT_OUTPUT),
	TENSOR(start_offset, "start_offset"),
	TENSOR(shapes, "shapes", .items = 5, .count = offsetof(struct op_slot, ndims), .is_counter = true),
	TENSOR(strides, "strides", .items = 5, .count = offsetof(struct op_slot, ndims)),
	JSON_FIELD(op_slot, value, "value", .kinds = OF_SCALAR),
};

/* clang-format on */

static bool get_slots(const struct json_member *m)
{
	struct opstream *s = m->ctx;

	for (json_enter_array(m->r); json_next_item(m->r);) {
		struct op_slot t = {0};

		if (!json_get_fields(m->r, JSON_FIELDS(slot_fields), &t, s))
			return false;
		if (!VEC_PUSH(&s->slots, t))
			return json_reject(m->r, "no-memory", "out of memory");
	}
	return !m->r->is_failed;
}

static void opstream_io_put_slots(const struct json_member *m)
{
	const struct opstream *s = m->ctx;

	json_w_array(m->w);
	for (size_t i = 0; i < s->slots.n; i++) {
		json_w_object(m->w);
		json_put_fields(m->w, JSON_FIELDS(slot_fields), &s->slots.v[i],
			s->slots.v[i].flags & SLOT_TENSOR ? OF_TENSOR : OF_SCALAR, s);
		json_w_end(m->w);
	}
	json_w_end(m->w);
}

/* clang-format off */
#define HEAD(M, KEY, ...) JSON_FIELD(opstream, M, KEY, ##__VA_ARGS__)
static const struct json_field head_fields[] = { /* after "format" */
	{"version", .get = get_version, .put = put_version},
	HEAD(arch, "arch", .word = op_arch_name),
	HEAD(core, "core", .get = get_either, .put = put_either, .how = &cores),
	HEAD(lane, "lane"),
	HEAD(block_idx, "block_idx"),
	HEAD(block_num, "block_num"),
	HEAD(is_mixed, "mixed"),
	HEAD(kernel, "kernel", .get = get_text, .put = opstream_io_put_text),
	HEAD(source_sha256, "source_sha256", .get = get_text, .put = opstream_io_put_text),
	HEAD(front_end, "front_end", .get = get_text, .put = opstream_io_put_text),
	HEAD(args_origin, "args_origin", .get = get_either, .put = put_either, .how = &origins),
	HEAD(is_complete, "complete"),
	HEAD(reason, "reason", .get = get_text, .put = opstream_io_put_text),
	HEAD(payload_slots, "payload_slots", .get = get_mask, .put = put_mask),
	HEAD(missing_slots, "missing_slots", .get = get_mask, .put = put_mask),
	{"slots", .get = get_slots, .put = opstream_io_put_slots},
};

/* clang-format on */

static void opstream_io_put_head(struct json_writer *w, const struct opstream *s)
{
	json_w_object(w);
	json_w_kv_cstr(w, "format", "incore-opstream");
	json_put_fields(w, JSON_FIELDS(head_fields), s, 0, s);
	json_w_end(w);
}

/* --- operands --- */

struct operand {
	struct op_opnd o;
	uint64_t word;
};

static bool get_gm_slot(const struct json_member *m)
{
	uint8_t *slot = m->at;
	uint32_t v;

	if (json_peek(m->r) == JSON_NULL) {
		*slot = OPSTREAM_NO_SLOT;
		return json_get_null(m->r);
	}
	if (!json_get_u32(m->r, &v))
		return false;
	*slot = (uint8_t)v;
	return v <= UINT8_MAX ||
	       json_reject(m->r, "out-of-range", "expected 0 to 255, found %u", v);
}

static void put_gm_slot(const struct json_member *m)
{
	const uint8_t *slot = m->at;

	if (*slot == OPSTREAM_NO_SLOT)
		json_w_null(m->w);
	else
		json_w_u64(m->w, *slot);
}

static bool get_gm_stride(const struct json_member *m)
{
	int64_t *v = m->at;
	unsigned n = 0;

	for (json_enter_array(m->r); json_next_item(m->r);) {
		if (n == 5)
			return json_reject(m->r, NULL, "more than 5 strides");
		json_get_i64(m->r, &v[n++]);
	}
	return !m->r->is_failed;
}

static void put_gm_stride(const struct json_member *m)
{
	const int64_t *v = m->at;

	json_w_array(m->w);
	for (int i = 0; i < 5; i++)
		json_w_i64(m->w, v[i]);
	json_w_end(m->w);
}

/* clang-format off */
#define OF(WHAT, M, KEY, ...) JSON_FIELD(operand, M, KEY, .kinds = 1 << (WHAT), ##__VA_ARGS__)
static const struct json_field operand_fields[] = { /* shape[]: see OPND_ROWS() and its like */
	JSON_FIELD(operand, o.what, "what", .word = op_what_name),
	JSON_FIELD(operand, o.role, "role", .word = op_role_name),
	JSON_FIELD(operand, o.dtype, "dtype", .word = op_dtype_name),
	JSON_FIELD(operand, o.bits, "bits"),
	OF(OPND_TILE, o.loc, "loc", .word = op_loc_name),
	OF(OPND_TILE, word, "addr"),
	OF(OPND_TILE, o.shape[0], "rows"),
	OF(OPND_TILE, o.shape[1], "cols"),
	OF(OPND_TILE, o.shape[2], "vrow"),
	OF(OPND_TILE, o.shape[3], "vcol"),
	OF(OPND_TILE, o.blayout, "blayout", .word = op_blayout_name),
	OF(OPND_TILE, o.slayout, "slayout", .word = op_slayout_name),
	OF(OPND_TILE, o.fractal, "fractal"),
	OF(OPND_TILE, o.pad, "pad", .word = op_pad_name),
	OF(OPND_TILE, o.compact, "compact", .word = op_compact_name),
	OF(OPND_GM, o.slot, "slot", .get = get_gm_slot, .put = put_gm_slot),
	OF(OPND_GM, word, "offset"),
	OF(OPND_GM, o.shape, "shape", .items = 5),
	OF(OPND_GM, o.stride, "stride", .get = get_gm_stride, .put = put_gm_stride),
	OF(OPND_GM, o.layout, "layout", .word = op_layout_name),
	OF(OPND_SCALAR, word, "value"),
};

/* clang-format on */

static bool get_operands(const struct json_member *m)
{
	struct op_desc *d = m->at;

	d->n_opnds = 0;
	for (json_enter_array(m->r); json_next_item(m->r);) {
		struct operand x = {0};

		if (d->n_opnds == OPSTREAM_MAX_OPNDS)
			return json_reject(m->r, NULL, "more than %d operands", OPSTREAM_MAX_OPNDS);
		json_get_fields(m->r, JSON_FIELDS(operand_fields), &x, NULL);
		if (x.o.bits == 0)
			x.o.bits = (uint8_t)op_dtype_bits(x.o.dtype);
		d->opnd[d->n_opnds] = x.o;
		d->word[d->n_opnds++] = x.word;
	}
	return !m->r->is_failed;
}

static void put_operands(struct json_writer *w, const struct opstream *s, const struct op_exec *x)
{
	const struct op_form *f = &s->forms.v[x->form];

	if (!f->n_opnds)
		return;
	json_w_kv_array(w, "opnd");
	for (unsigned i = 0; i < f->n_opnds; i++) {
		struct operand o = {s->opnds.v[f->first_opnd + i], s->words.v[x->first_word + i]};

		json_w_object(w);
		json_put_fields(w, JSON_FIELDS(operand_fields), &o,
			(uint8_t)(1 << (o.o.what < OPND_SCALAR ? o.o.what : OPND_SCALAR)), NULL);
		json_w_end(w);
	}
	json_w_end(w);
}

/* --- ops --- */

struct line {
	struct op_desc d;
	/* Copies, because the reader's strings are only valid until the next one. */
	struct strbuf name, file, hint;
};

static bool keep_text(const struct json_member *m)
{
	struct strbuf *b = m->at;
	struct str s;

	if (!json_get_str(m->r, &s))
		return false;
	sb_reset(b);
	if (memchr(s.p ? s.p : "", 0, s.n))
		return json_reject(m->r, NULL, "a string holds a NUL byte");
	return sb_str(b, s) || json_reject(m->r, "no-memory", "out of memory");
}

static bool get_flag_id(const struct json_member *m)
{
	int64_t id;

	if (!json_get_i64(m->r, &id))
		return false;
	if (id < INT32_MIN || id > INT32_MAX)
		return json_reject(m->r, "out-of-range", "flag id of more than 32 bits");
	*(int32_t *)m->at = (int32_t)id;
	return true;
}

static void put_flag_id(const struct json_member *m)
{
	json_w_i64(m->w, *(const int32_t *)m->at);
}

#define FORM(M, KEY, ...) JSON_FIELD(op_desc, form.M, KEY, ##__VA_ARGS__)
static const struct json_field tmpl_fields[] = {FORM(atomic, "atomic"), FORM(round, "round"),
	FORM(sat, "sat"), FORM(mask, "mask"), FORM(split, "split"), FORM(exhausted, "exhausted"),
	FORM(phase, "phase"), FORM(mode, "mode")};
static const struct json_field flag_fields[] = {
	FORM(flag_src, "src", .word = op_pipe_name),
	FORM(flag_dst, "dst", .word = op_pipe_name),
	FORM(flag_id, "id", .get = get_flag_id, .put = put_flag_id),
	FORM(flag_mode, "mode"),
};
static const struct json_field fifo_fields[] = {
	FORM(fifo_object, "object"),
	FORM(fifo_flag_id, "flag_id"),
	FORM(fifo_dir, "dir"),
	FORM(fifo_flags, "flags"),
	FORM(fifo_slot_size, "slot_size"),
	FORM(fifo_slot_num, "slot_num"),
	FORM(fifo_local_num, "local_num"),
	JSON_FIELD(op_desc, aux, "tile_index"),
};

static bool get_tmpl(const struct json_member *m)
{
	return json_get_fields(m->r, JSON_FIELDS(tmpl_fields), m->at, NULL);
}

static bool get_flag(const struct json_member *m)
{
	return json_get_fields(m->r, JSON_FIELDS(flag_fields), m->at, NULL);
}

static bool get_fifo(const struct json_member *m)
{
	return json_get_fields(m->r, JSON_FIELDS(fifo_fields), m->at, NULL);
}

static const struct json_field op_fields[] = {
	JSON_FIELD(line, d.form.kind, "kind", .word = op_kind_name),
	JSON_FIELD(line, name, "op", .get = keep_text),
	JSON_FIELD(line, d.form.pipe, "pipe", .word = op_pipe_name),
	JSON_FIELD(line, d.line, "line"),
	JSON_FIELD(line, file, "file", .get = keep_text),
	JSON_FIELD(line, hint, "name_hint", .get = keep_text),
	{"opnd", .get = get_operands}, /* the op_desc is a line's first member */
	{"tmpl", .get = get_tmpl},
	{"flag", .get = get_flag},
	{"fifo", .get = get_fifo},
};

static void put_tmpl(struct json_writer *w, const struct op_desc *d)
{
	const size_t n = sizeof(tmpl_fields) / sizeof(tmpl_fields[0]);
	bool is_open = false;

	for (size_t i = 0; i < n; i++) {
		if (*((const uint8_t *)d + tmpl_fields[i].offset) == OPSTREAM_ABSENT)
			continue;
		if (!is_open) {
			json_w_kv_object(w, "tmpl");
			is_open = true;
		}
		json_put_fields(w, &tmpl_fields[i], 1, d, 0, NULL);
	}
	if (is_open)
		json_w_end(w);
}

static void put_object(struct json_writer *w, const char *key, const struct json_field *f, size_t n,
	const struct op_desc *d)
{
	json_w_kv_object(w, key);
	json_put_fields(w, f, n, d, 0, NULL);
	json_w_end(w);
}

static void opstream_io_put_op(struct json_writer *w, const struct opstream *s, size_t seq)
{
	const struct op_exec *x = &s->ops.v[seq];
	const struct op_form *f = &s->forms.v[x->form];
	const struct op_site *site = &s->sites.v[x->site];
	const struct op_derived *d = &s->derived.v[x->form];
	struct op_desc desc; /* only form and aux */

	desc.form = *f;
	desc.aux = x->aux;
	json_w_object(w);
	json_w_kv_u64(w, "seq", seq);
	if (s->strings.v[site->file])
		json_w_kv_cstr(w, "file", opstream_str(s, site->file));
	json_w_kv_u64(w, "line", site->line);
	if (site->hint)
		json_w_kv_cstr(w, "name_hint", opstream_str(s, site->hint));
	json_w_kv_cstr(w, "kind", op_kind_name(f->kind));
	json_w_kv_cstr(w, "op", opstream_str(s, f->name));
	json_w_kv_cstr(w, "pipe", op_pipe_name(f->pipe));
	put_operands(w, s, x);
	put_tmpl(w, &desc);
	if (f->kind == OPK_SET || f->kind == OPK_WAIT || f->kind == OPK_XSET ||
		f->kind == OPK_XWAIT)
		put_object(w, "flag", JSON_FIELDS(flag_fields), &desc);
	if (f->fifo_dir != DIR_NONE)
		put_object(w, "fifo", JSON_FIELDS(fifo_fields), &desc);
	json_w_kv_u64(w, "macs", d->macs);
	json_w_kv_u64(w, "bytes", d->bytes);
	json_w_kv_u64(w, "elems", d->elems);
	json_w_end(w);
}

/* --- files --- */

bool opstream_write_jsonl(const struct opstream_set *set, FILE *f, struct incore_error *e)
{
	EACH (const struct opstream, s, set->v.v, set->v.n) {
		for (size_t k = 0; k <= s->ops.n; k++) { /* the head is line 0 */
			struct json_writer w;

			json_w_file(&w, f, 0);
			if (k == 0)
				opstream_io_put_head(&w, s);
			else
				opstream_io_put_op(&w, s, k - 1);
			if (!json_w_finish(&w, e))
				return false;
			putc('\n', f);
		}
	}
	if (ferror(f))
		return err_write(e);
	return true;
}

/* The first key of a line distinguishes a head ("format") from an op. */
static bool opstream_io_read_line(
	struct json_reader *r, struct opstream_set *set, struct line *t, struct incore_error *e)
{
	struct opstream *s = set->v.n ? &set->v.v[set->v.n - 1] : NULL;
	bool is_first = true, is_head = false;
	struct str key, format;

	t->d = op_desc_of(OPK_OP, OPP_S, "", 0);
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
			json_get_member(r, key, JSON_FIELDS(head_fields), s, s);
		} else {
			json_get_member(r, key, JSON_FIELDS(op_fields), t, NULL);
		}
	}
	if (!r->is_failed && !s && is_first)
		json_reject(r, "bad-magic", "expected an op stream, found an empty line");
	if (r->is_failed || !s)
		return false;
	if (is_head)
		return true;
	if (t->name.n == 0)
		return json_reject(r, NULL, "an op without a name");
	t->d.name = t->name.p;
	t->d.file = t->file.n ? t->file.p : NULL;
	t->d.hint = t->hint.n ? t->hint.p : NULL;
	return opstream_push(s, &t->d, e);
}

static bool opstream_io_finish(
	struct opstream_set *set, size_t from, const char *path, struct incore_error *e)
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

static bool opstream_read_jsonl(
	struct opstream_set *set, const char *p, size_t n, const char *path, struct incore_error *e)
{
	size_t from = set->v.n;
	struct line t = {0};
	struct json_reader r;
	bool ok = true;

	json_init(&r, p, n, path, 0);
	while (ok) {
		r.need_comma = false; /* each line is a separate value */
		while (r.p < r.end && strchr(" \t\r\n", *r.p) && *r.p)
			r.p++;
		if (r.p == r.end)
			break;
		ok = opstream_io_read_line(&r, set, &t, e);
		if (r.is_failed)
			ok = json_fail(&r, e);
	}
	json_deinit(&r);
	sb_free(&t.name);
	sb_free(&t.file);
	sb_free(&t.hint);
	return ok && opstream_io_finish(set, from, path, e);
}

/* --- binary files ----------------------------------------------------------------------------- */

/*
 * The binary form of op streams. A stream states its length and its counts; both must agree before
 * anything is allocated.
 */

/* The records are the file's bytes: a port to a big-endian host needs a swap here. */
static_assert(BYTE_ORDER == LITTLE_ENDIAN, "op streams are little-endian");

struct cursor {
	const uint8_t *p;
	size_t left;
};

static bool take_array(
	struct cursor *c, void **v, size_t *n_out, size_t *cap, size_t n, size_t size)
{
	if (n == 0)
		return true;
	if (!vec_grow(v, cap, n, size))
		return false;
	memcpy(*v, c->p, n * size);
	*n_out = n;
	c->p += n * size;
	c->left -= n * size;
	return true;
}

#define TAKE(c, vec, count)                                                                        \
	take_array((c), (void **)&(vec)->v, &(vec)->n, &(vec)->cap, (count), sizeof(*(vec)->v))

/* False if the tables cannot fit in the remaining bytes. */
static bool tables_fit(const struct opstream_head *h, size_t left)
{
	uint64_t bytes = 0;
	const struct {
		uint64_t n, size;
	} parts[] = {
		{h->n_slots, sizeof(struct op_slot)},
		{h->n_sites, sizeof(struct op_site)},
		{h->n_forms, sizeof(struct op_form)},
		{h->n_opnds, sizeof(struct op_opnd)},
		{h->n_ops, sizeof(struct op_exec)},
		{h->n_words, sizeof(uint64_t)},
		{h->string_bytes, 1},
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (parts[i].n > (left - bytes) / parts[i].size)
			return false;
		bytes += parts[i].n * parts[i].size;
	}
	return bytes + sizeof(*h) == h->total_bytes && bytes <= left;
}

static bool read_head(const uint8_t *p, size_t n, struct opstream_head *h, const char *path,
	uint64_t at, struct incore_error *e)
{
	if (n < sizeof(*h))
		return err_file(e, "truncated", path, at,
			"expected the head of an op stream (128 bytes), found %zu bytes", n);
	memcpy(h, p, sizeof(*h));
	if (memcmp(h->magic, OPSTREAM_MAGIC, 8) != 0)
		return err_file(
			e, "bad-magic", path, at, "expected an op stream (\"%s\")", OPSTREAM_MAGIC);
	if (h->version != OPSTREAM_VERSION || h->head_bytes != sizeof(*h))
		return err_file(e, "bad-version", path, at + 8,
			"expected op stream version %d with a head of %zu bytes, found version %u with %u",
			OPSTREAM_VERSION, sizeof(*h), h->version, h->head_bytes);
	if (h->total_bytes < sizeof(*h) || h->total_bytes > n)
		return err_file(e, "truncated", path, at + 16,
			"the stream says it has %llu bytes, %zu are left in the file",
			(unsigned long long)h->total_bytes, n);
	if (!tables_fit(h, (size_t)h->total_bytes - sizeof(*h)))
		return err_file(e, "bad-value", path, at,
			"the stream's tables do not add up to its %llu bytes",
			(unsigned long long)h->total_bytes);
	return true;
}

static bool read_tables(
	struct opstream *s, const struct opstream_head *h, struct cursor *c, struct incore_error *e)
{
	s->arch = (enum opstream_arch)h->arch;
	s->core = (enum opstream_core)h->core;
	s->lane = h->lane;
	s->args_origin = (enum opstream_origin)h->args_origin;
	s->is_complete = h->flags & OPSTREAM_COMPLETE;
	s->is_mixed = h->flags & OPSTREAM_MIXED;
	s->block_idx = h->block_idx;
	s->block_num = h->block_num;
	s->payload_slots = h->payload_slots;
	s->missing_slots = h->missing_slots;
	s->kernel = h->kernel;
	s->front_end = h->front_end;
	s->source_sha256 = h->source_sha256;
	s->reason = h->reason;
	s->strings.n = 0;
	if (!TAKE(c, &s->slots, h->n_slots) || !TAKE(c, &s->sites, h->n_sites) ||
		!TAKE(c, &s->forms, h->n_forms) || !TAKE(c, &s->opnds, h->n_opnds) ||
		!TAKE(c, &s->ops, h->n_ops) || !TAKE(c, &s->words, h->n_words) ||
		!TAKE(c, &s->strings, h->string_bytes))
		return err_nomem(e);
	return true;
}

static bool read_one(struct opstream_set *set, struct cursor *c, const char *path, uint64_t at,
	struct incore_error *e)
{
	struct opstream_head h;
	struct opstream_fault fault;
	struct opstream *s;
	struct cursor in;

	if (!read_head(c->p, c->left, &h, path, at, e))
		return false;
	s = opstream_set_new(set, e);
	if (!s)
		return false;
	in = (struct cursor){c->p + sizeof(h), (size_t)h.total_bytes - sizeof(h)};
	if (!read_tables(s, &h, &in, e))
		return false;
	if (!opstream_check(s, &fault))
		return err_file(e, "bad-value", path, at, "%s %zu of stream %zu: expected %s",
			fault.table, fault.index, set->v.n - 1, fault.expected);
	c->p += h.total_bytes;
	c->left -= h.total_bytes;
	return opstream_seal(s, e);
}

static bool opstream_is_binary(const void *bytes, size_t n)
{
	return n >= 8 && memcmp(bytes, OPSTREAM_MAGIC, 8) == 0;
}

static bool opstream_read_binary(struct opstream_set *set, const uint8_t *p, size_t n,
	const char *path, struct incore_error *e)
{
	struct cursor c = {p, n};

	while (c.left)
		if (!read_one(set, &c, path, (uint64_t)(c.p - p), e))
			return false;
	return true;
}

bool opstream_read(struct opstream_set *set, const void *bytes, size_t n, const char *path,
	struct incore_error *e)
{
	size_t had = set->v.n;
	bool ok = opstream_is_binary(bytes, n) ? opstream_read_binary(set, bytes, n, path, e)
					       : opstream_read_jsonl(set, bytes, n, path, e);

	if (ok && set->v.n == had)
		ok = err_file(
			e, "truncated", path, 0, "expected an op stream, found an empty file");
	while (!ok && set->v.n > had)
		opstream_deinit(&set->v.v[--set->v.n]);
	return ok;
}

bool opstream_load(struct opstream_set *set, const char *path, struct incore_error *e)
{
	struct file_data f = {0};
	bool ok;

	if (!file_load(&f, path, e))
		return err_wrap(e, "op stream");
	ok = opstream_read(set, f.data, f.size, path, e);
	file_unload(&f);
	return ok;
}

/* --- writing --- */

static void put_array(FILE *f, const void *p, size_t n, size_t size)
{
	if (n)
		fwrite(p, size, n, f); /* the FILE remembers a failure */
}

/* Omits what seal() added: it is not part of the file. */
static void put_forms(const struct opstream *s, FILE *f)
{
	for (size_t i = 0; i < s->forms.n; i++) {
		struct op_form t = s->forms.v[i];

		t.op = 0;
		put_array(f, &t, 1, sizeof(t));
	}
	for (size_t i = 0; i < s->opnds.n; i++) {
		struct op_opnd t = s->opnds.v[i];

		t.access = 0;
		put_array(f, &t, 1, sizeof(t));
	}
}

static void opstream_io_write_one(const struct opstream *s, FILE *f)
{
	static const char ZERO[8];
	size_t padded = (s->strings.n + 7) / 8 * 8;
	struct opstream_head h = {.version = OPSTREAM_VERSION,
		.head_bytes = sizeof(h),
		.arch = (uint8_t)s->arch,
		.core = (uint8_t)s->core,
		.lane = (uint8_t)s->lane,
		.args_origin = (uint8_t)s->args_origin,
		.flags = (s->is_complete ? OPSTREAM_COMPLETE : 0) |
			 (s->is_mixed ? OPSTREAM_MIXED : 0),
		.block_idx = s->block_idx,
		.block_num = s->block_num,
		.payload_slots = s->payload_slots,
		.missing_slots = s->missing_slots,
		.kernel = s->kernel,
		.front_end = s->front_end,
		.source_sha256 = s->source_sha256,
		.reason = s->reason,
		.n_slots = (uint32_t)s->slots.n,
		.n_sites = (uint32_t)s->sites.n,
		.n_forms = (uint32_t)s->forms.n,
		.n_opnds = (uint32_t)s->opnds.n,
		.n_ops = s->ops.n,
		.n_words = s->words.n,
		.string_bytes = padded};

	memcpy(h.magic, OPSTREAM_MAGIC, 8);
	h.total_bytes = sizeof(h) + s->slots.n * sizeof(struct op_slot) +
			s->sites.n * sizeof(struct op_site) + s->forms.n * sizeof(struct op_form) +
			s->opnds.n * sizeof(struct op_opnd) + s->ops.n * sizeof(struct op_exec) +
			s->words.n * sizeof(uint64_t) + padded;
	put_array(f, &h, 1, sizeof(h));
	put_array(f, s->slots.v, s->slots.n, sizeof(struct op_slot));
	put_array(f, s->sites.v, s->sites.n, sizeof(struct op_site));
	put_forms(s, f);
	put_array(f, s->ops.v, s->ops.n, sizeof(struct op_exec));
	put_array(f, s->words.v, s->words.n, sizeof(uint64_t));
	put_array(f, s->strings.v, s->strings.n, 1);
	put_array(f, ZERO, padded - s->strings.n, 1);
}

bool opstream_write_binary(const struct opstream_set *set, FILE *f, struct incore_error *e)
{
	for (size_t i = 0; i < set->v.n; i++)
		opstream_io_write_one(&set->v.v[i], f);
	if (ferror(f))
		return err_write(e);
	return true;
}
