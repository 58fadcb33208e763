/* SPDX-License-Identifier: Apache-2.0 */
/* opstream.c: building op streams, and what follows from their forms. Parts: words; the stream. */
#include "model/stream/opstream.h"

#include "base/hash.h"
#include "model/stream/ops.h"

/* --- words ------------------------------------------------------------------------------------ */

/* The names of an op stream's codes, and an op as one line of text. */

#define NAME_OF(v, ...)                                                                            \
	static const char *const NAMES[] = {__VA_ARGS__};                                          \
	return (v) < sizeof(NAMES) / sizeof(NAMES[0]) ? NAMES[v] : NULL

const char *op_kind_name(unsigned kind)
{
	NAME_OF(kind, "OP", "SET", "WAIT", "BARRIER", "XSET", "XWAIT", "PUSH", "POP", "FREE",
		"SCALAR", "GMREAD", "GMWRITE", "GETV", "SETV", "EXT", "FIFO_END");
}

const char *op_pipe_name(unsigned pipe)
{
	NAME_OF(pipe, "S", "V", "MTE1", "MTE2", "MTE3", "M", "ALL", "FIX", "none");
}

const char *op_what_name(unsigned what)
{
	NAME_OF(what, "tile", "gm", "scalar");
}

const char *op_role_name(unsigned role)
{
	NAME_OF(role, "dst", "src", "tmp", "idx", "row", "col", "value");
}

const char *op_loc_name(unsigned loc)
{
	NAME_OF(loc, "Vec", "Mat", "Left", "Right", "Acc", "Bias", "Scaling", "ScaleLeft",
		"ScaleRight", "Ctrl");
}

const char *op_dtype_name(unsigned dtype)
{
	NAME_OF(dtype, "none", "f32", "f16", "bf16", "i8", "u8", "i16", "u16", "i32", "u32", "i64",
		"u64", "f8e4m3", "f8e5m2", "f8e8m0", "hif8", "f4e2m1", "f4e1m2", "f64", "bool");
}

unsigned op_dtype_bits(unsigned dtype)
{
	static const uint8_t BITS[DT_COUNT] = {
		0, 32, 16, 16, 8, 8, 16, 16, 32, 32, 64, 64, 8, 8, 8, 8, 4, 4, 64, 8};

	return dtype < DT_COUNT ? BITS[dtype] : 0;
}

const char *op_blayout_name(unsigned v)
{
	NAME_OF(v, "RowMajor", "ColMajor");
}

const char *op_slayout_name(unsigned v)
{
	NAME_OF(v, "NoneBox", "RowMajor", "ColMajor");
}

const char *op_pad_name(unsigned v)
{
	NAME_OF(v, "Null", "Zero", "Max", "Min");
}

const char *op_compact_name(unsigned v)
{
	NAME_OF(v, "Null", "Normal", "RowPlusOne", "RowAlignedPadding");
}

const char *op_layout_name(unsigned v)
{
	NAME_OF(v, "ND", "DN", "NZ", "MX_A_ZZ", "MX_A_ND", "MX_A_DN", "MX_B_NN", "MX_B_ND",
		"MX_B_DN", "NC1HWC0", "FRACTAL_Z", "other");
}

const char *op_arch_name(unsigned arch)
{
	NAME_OF(arch, "a2a3", "a5");
}

const char *opstream_core_name(const struct opstream *s)
{
	return s->core == CORE_AIC ? "aic" : s->lane ? "aiv1" : "aiv0";
}

static void put_opnd(struct strbuf *out, const struct op_opnd *o, uint64_t word)
{
	switch (o->what) {
	case OPND_TILE:
		sb_printf(out, "%s %s %ux%u", op_loc_name(o->loc), op_dtype_name(o->dtype),
			OPND_VROW(o), OPND_VCOL(o));
		if (OPND_VROW(o) != OPND_ROWS(o) || OPND_VCOL(o) != OPND_COLS(o))
			sb_printf(out, " of %ux%u", OPND_ROWS(o), OPND_COLS(o));
		sb_printf(out, " @0x%llx", (unsigned long long)word);
		break;
	case OPND_GM:
		sb_printf(out, "gm %s [%u,%u,%u,%u,%u]", op_dtype_name(o->dtype), o->shape[0],
			o->shape[1], o->shape[2], o->shape[3], o->shape[4]);
		if (o->slot != OPSTREAM_NO_SLOT)
			sb_printf(out, " slot %u+0x%llx", o->slot, (unsigned long long)word);
		break;
	default:
		sb_printf(out, "%lld", (long long)word);
	}
}

static void put_opnds(struct strbuf *out, const struct opstream *s, const struct op_exec *x)
{
	const struct op_form *f = &s->forms.v[x->form];

	for (unsigned i = 0; i < f->n_opnds; i++) {
		sb_puts(out, i ? ", " : " ");
		put_opnd(out, &s->opnds.v[f->first_opnd + i], s->words.v[x->first_word + i]);
	}
}

bool opstream_text(const struct opstream *s, const struct op_exec *x, struct strbuf *out)
{
	const struct op_form *f = &s->forms.v[x->form];

	sb_puts(out, opstream_str(s, f->name));
	switch (f->kind) {
	case OPK_SET:
	case OPK_WAIT:
		sb_printf(out, " PIPE_%s, PIPE_%s, %d", op_pipe_name(f->flag_src),
			op_pipe_name(f->flag_dst), f->flag_id);
		break;
	case OPK_BARRIER:
		sb_printf(out, " PIPE_%s", op_pipe_name(f->pipe));
		break;
	case OPK_XSET:
		sb_printf(out, " PIPE_%s, %d, mode %u", op_pipe_name(f->flag_src), f->flag_id,
			f->flag_mode);
		break;
	case OPK_XWAIT:
		sb_printf(out, " PIPE_%s, %d", op_pipe_name(f->flag_dst), f->flag_id);
		break;
	case OPK_PUSH:
	case OPK_POP:
	case OPK_FREE:
	case OPK_FIFO_END:
		put_opnds(out, s, x);
		sb_printf(out, " fifo %u number %u", f->fifo_flag_id, x->aux);
		break;
	default:
		put_opnds(out, s, x);
	}
	return !out->failed;
}

/* --- the stream ------------------------------------------------------------------------------- */

bool opstream_init(struct opstream *s, struct incore_error *e)
{
	*s = (struct opstream){.block_num = 1, .is_complete = true};
	return VEC_PUSH(&s->strings, '\0') || err_nomem(e);
}

void opstream_deinit(struct opstream *s)
{
	VEC_FREE(&s->slots);
	VEC_FREE(&s->sites);
	VEC_FREE(&s->forms);
	VEC_FREE(&s->opnds);
	VEC_FREE(&s->ops);
	VEC_FREE(&s->words);
	VEC_FREE(&s->strings);
	VEC_FREE(&s->derived);
	u64_map_deinit(&s->form_index);
	u64_map_deinit(&s->site_index);
	u64_map_deinit(&s->string_index);
	*s = (struct opstream){0};
}

void opstream_set_init(struct opstream_set *set)
{
	*set = (struct opstream_set){0};
}

void opstream_set_deinit(struct opstream_set *set)
{
	for (size_t i = 0; i < set->v.n; i++)
		opstream_deinit(&set->v.v[i]);
	VEC_FREE(&set->v);
}

struct opstream *opstream_set_new(struct opstream_set *set, struct incore_error *e)
{
	struct opstream s;

	if (!opstream_init(&s, e))
		return NULL;
	if (!VEC_PUSH(&set->v, s)) {
		opstream_deinit(&s);
		return err_nomem_null(e);
	}
	return &set->v.v[set->v.n - 1];
}

bool opstream_add_str(struct opstream *s, struct str text, uint32_t *off, struct incore_error *e)
{
	uint64_t *slot;

	if (text.n == 0) {
		*off = 0;
		return true;
	}
	slot = u64_map_at(&s->string_index, hash_bytes(text.p, text.n, 0));
	if (!slot)
		return err_nomem(e);
	if (*slot && strlen(s->strings.v + *slot) == text.n &&
		memcmp(s->strings.v + *slot, text.p, text.n) == 0) {
		*off = (uint32_t)*slot;
		return true;
	}
	if (s->strings.n + text.n + 1 > UINT32_MAX / 2)
		return err_set(
			e, INCORE_BAD_INPUT, "too-large", "more text than an op stream holds");
	if (!VEC_RESERVE(&s->strings, s->strings.n + text.n + 1))
		return err_nomem(e);
	*slot = s->strings.n;
	*off = (uint32_t)s->strings.n;
	memcpy(s->strings.v + s->strings.n, text.p, text.n);
	s->strings.v[s->strings.n + text.n] = '\0';
	s->strings.n += text.n + 1;
	return true;
}

/* --- one op --- */

struct op_desc op_desc_of(enum op_kind kind, enum op_pipe pipe, const char *name, uint32_t line)
{
	struct op_desc d = {.name = name, .line = line};

	d.form.kind = (uint8_t)kind;
	d.form.pipe = (uint8_t)pipe;
	d.form.atomic = d.form.round = d.form.sat = d.form.mask = OPSTREAM_ABSENT;
	d.form.split = d.form.exhausted = d.form.phase = d.form.mode = OPSTREAM_ABSENT;
	return d;
}

static struct op_opnd *new_opnd(
	struct op_desc *op, enum op_what what, enum op_role role, uint64_t word)
{
	struct op_opnd *o;

	assert(op->n_opnds < OPSTREAM_MAX_OPNDS);
	op->word[op->n_opnds] = word;
	o = &op->opnd[op->n_opnds++];
	*o = (struct op_opnd){.what = (uint8_t)what, .role = (uint8_t)role};
	return o;
}

struct op_opnd *op_desc_tile(struct op_desc *op, enum op_role role, enum op_dtype dtype,
	uint32_t rows, uint32_t cols, uint64_t addr)
{
	struct op_opnd *o = new_opnd(op, OPND_TILE, role, addr);

	o->dtype = (uint8_t)dtype;
	o->bits = (uint8_t)op_dtype_bits(dtype);
	o->fractal = 512;
	o->shape[0] = o->shape[2] = rows;
	o->shape[1] = o->shape[3] = cols;
	return o;
}

struct op_opnd *op_desc_gm(struct op_desc *op, enum op_role role, enum op_dtype dtype,
	const uint32_t shape[5], unsigned slot, uint64_t offset_bytes)
{
	struct op_opnd *o = new_opnd(op, OPND_GM, role, offset_bytes);
	int64_t stride = 1;

	o->dtype = (uint8_t)dtype;
	o->bits = (uint8_t)op_dtype_bits(dtype);
	o->slot = (uint8_t)slot;
	for (int i = 4; i >= 0; i--) {
		o->shape[i] = shape[i];
		o->stride[i] = stride;
		stride *= shape[i];
	}
	return o;
}

struct op_opnd *op_desc_scalar(struct op_desc *op, enum op_role role, uint64_t bits)
{
	struct op_opnd *o = new_opnd(op, OPND_SCALAR, role, bits);

	o->dtype = DT_I64;
	o->bits = 64;
	return o;
}

struct op_desc op_desc_flag(
	enum op_kind kind, enum op_pipe src, enum op_pipe dst, int id, uint32_t line)
{
	struct op_desc d = op_desc_of(kind, kind == OPK_SET ? src : dst,
		kind == OPK_SET ? "set_flag" : "wait_flag", line);

	d.form.flag_src = (uint8_t)src;
	d.form.flag_dst = (uint8_t)dst;
	d.form.flag_id = id;
	return d;
}

/* --- tables --- */

static bool find_site(
	struct opstream *s, const struct op_desc *op, uint32_t *site, struct incore_error *e)
{
	struct op_site t = {.line = op->line};
	uint64_t *slot;

	if (!opstream_add_str(s, str_of(op->file), &t.file, e) ||
		!opstream_add_str(s, str_of(op->hint), &t.hint, e))
		return false;
	slot = u64_map_at(&s->site_index, hash_bytes(&t, sizeof(t), 0));
	if (!slot)
		return err_nomem(e);
	if (!*slot || memcmp(&s->sites.v[*slot - 1], &t, sizeof(t)) != 0) {
		if (!VEC_PUSH(&s->sites, t))
			return err_nomem(e);
		*slot = s->sites.n;
	}
	*site = (uint32_t)(*slot - 1);
	return true;
}

static bool is_form(
	const struct opstream *s, size_t i, const struct op_form *f, const struct op_opnd *opnds)
{
	struct op_form g = s->forms.v[i];
	size_t first = g.first_opnd;

	g.first_opnd = 0;
	return memcmp(&g, f, sizeof(g)) == 0 &&
	       (f->n_opnds == 0 ||
		       memcmp(s->opnds.v + first, opnds, f->n_opnds * sizeof(*opnds)) == 0);
}

static bool find_form(
	struct opstream *s, const struct op_desc *op, uint32_t *form, struct incore_error *e)
{
	struct op_form f = op->form;
	uint64_t *slot;

	f.n_opnds = (uint8_t)op->n_opnds;
	f.first_opnd = 0;
	if (!opstream_add_str(s, str_of(op->name), &f.name, e))
		return false;
	slot = u64_map_at(&s->form_index, hash_bytes(op->opnd, op->n_opnds * sizeof(op->opnd[0]),
						  hash_bytes(&f, sizeof(f), 0)));
	if (!slot)
		return err_nomem(e);
	if (!*slot || !is_form(s, *slot - 1, &f, op->opnd)) {
		f.first_opnd = (uint32_t)s->opnds.n;
		if (!VEC_RESERVE(&s->opnds, s->opnds.n + op->n_opnds) || !VEC_PUSH(&s->forms, f))
			return err_nomem(e);
		for (uint32_t i = 0; i < op->n_opnds; i++)
			s->opnds.v[s->opnds.n++] = op->opnd[i];
		*slot = s->forms.n;
	}
	*form = (uint32_t)(*slot - 1);
	return true;
}

bool opstream_push(struct opstream *s, const struct op_desc *op, struct incore_error *e)
{
	struct op_exec x = {.first_word = (uint32_t)s->words.n, .aux = op->aux};

	if (s->words.n + op->n_opnds > UINT32_MAX || s->ops.n >= UINT32_MAX)
		return err_set(
			e, INCORE_BAD_INPUT, "too-large", "more ops than an op stream holds");
	if (!find_site(s, op, &x.site, e) || !find_form(s, op, &x.form, e))
		return false;
	if (!VEC_RESERVE(&s->words, s->words.n + op->n_opnds) || !VEC_PUSH(&s->ops, x))
		return err_nomem(e);
	for (uint32_t i = 0; i < op->n_opnds; i++)
		s->words.v[s->words.n++] = op->word[i];
	return true;
}

/* --- derived --- */

static uint64_t valid_elems(const struct op_opnd *o)
{
	uint64_t n = 1;

	if (o->what == OPND_TILE)
		return (uint64_t)OPND_VROW(o) * OPND_VCOL(o);
	for (int i = 0; i < 5; i++)
		n *= o->shape[i]; /* the reader bounds the product */
	return n;
}

static uint64_t opstream_bytes_of(const struct op_opnd *o)
{
	return (valid_elems(o) * o->bits + 7) / 8;
}

static const struct op_opnd *find_opnd(const struct op_form *f, const struct op_opnd *opnds,
	enum op_what what, unsigned role_or_loc, bool by_loc)
{
	for (unsigned i = 0; i < f->n_opnds; i++)
		if (opnds[i].what == what &&
			(by_loc ? opnds[i].loc == role_or_loc : opnds[i].role == role_or_loc))
			return &opnds[i];
	return NULL;
}

static uint64_t moved_bytes(const struct op_form *f, const struct op_opnd *opnds)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < f->n_opnds; i++)
		if (opnds[i].what == OPND_GM)
			return opstream_bytes_of(&opnds[i]);
	if (f->pipe == OPP_V || f->pipe == OPP_M || f->pipe == OPP_S || f->pipe == OPP_NONE)
		return 0;
	for (unsigned i = 0; i < f->n_opnds; i++)
		if (opnds[i].what == OPND_TILE && opnds[i].role != ROLE_TMP) {
			uint64_t b = opstream_bytes_of(&opnds[i]);

			/* a part of a larger tile, or a whole one: the smaller side is the amount
			 * moved */
			n = n == 0 || b < n ? b : n;
		}
	return n;
}

static struct op_derived derive(const struct op_form *f, const struct op_opnd *opnds)
{
	const struct op_opnd *a = find_opnd(f, opnds, OPND_TILE, LOC_LEFT, true);
	const struct op_opnd *b = find_opnd(f, opnds, OPND_TILE, LOC_RIGHT, true);
	const struct op_opnd *dst = find_opnd(f, opnds, OPND_TILE, ROLE_DST, false);
	const struct op_opnd *src = find_opnd(f, opnds, OPND_TILE, ROLE_SRC, false);
	enum price_class c = op_price_class(f, opnds);
	struct op_derived d = {0};

	if (f->pipe == OPP_M && a && b)
		d.macs = (uint64_t)OPND_VROW(a) * OPND_VCOL(a) * OPND_VCOL(b);
	if (src && (c == PRICE_RED || c == PRICE_CRED || c == PRICE_MRG || !dst))
		d.elems = valid_elems(src);
	else if (dst)
		d.elems = valid_elems(dst);
	d.bytes = moved_bytes(f, opnds);
	return d;
}

bool opstream_seal(struct opstream *s, struct incore_error *e)
{
	s->derived.n = 0;
	/* even empty tables need an address: readers compute with it */
	if (!VEC_RESERVE(&s->derived, s->forms.n + 1) || !VEC_RESERVE(&s->opnds, 1) ||
		!VEC_RESERVE(&s->words, 1) || !VEC_RESERVE(&s->ops, 1))
		return err_nomem(e);
	EACH (struct op_form, f, s->forms.v, s->forms.n) {
		struct op_opnd *opnds = s->opnds.v + f->first_opnd;

		f->op = (uint16_t)op_find(str_of(opstream_str(s, f->name)));
		for (unsigned k = 0; k < f->n_opnds; k++)
			opnds[k].access = (uint8_t)op_access_of(f, &opnds[k]);
		s->derived.v[s->derived.n++] = derive(f, opnds);
	}
	return true;
}
