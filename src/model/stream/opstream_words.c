/* SPDX-License-Identifier: Apache-2.0 */
/* opstream_words.c: the names of an op stream's codes, and an op as one line of text. */
#include "model/stream/opstream.h"

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
