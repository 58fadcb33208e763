/* SPDX-License-Identifier: Apache-2.0 */
/* ops_status.c: prices a sample of an op. */
#include "model/stream/ops_status.h"

#define SIDE 64u

static bool is_one_of(struct str word, const char *const *list)
{
	for (; *list; list++)
		if (str_is(word, *list))
			return true;
	return false;
}

static enum op_loc loc_of(struct str word, struct str pipe)
{
	if (str_is(word, "c") || str_is(word, "cIn"))
		return LOC_ACC;
	if (str_is(word, "a"))
		return LOC_LEFT;
	if (str_is(word, "b"))
		return LOC_RIGHT;
	if (str_is(word, "aScale"))
		return LOC_SCALE_LEFT;
	if (str_is(word, "bScale"))
		return LOC_SCALE_RIGHT;
	if (str_is(word, "bias"))
		return LOC_BIAS;
	if (str_is(word, "fp"))
		return LOC_SCALING;
	if (str_is(pipe, "MTE1"))
		return str_is(word, "dst") ? LOC_LEFT : LOC_MAT;
	if (str_is(pipe, "FIX"))
		return str_is(word, "dst") ? LOC_MAT : LOC_ACC;
	return LOC_VEC;
}

static void add_operand(struct op_desc *d, struct str word, struct str pipe)
{
	static const char *const scalars[] = {"row", "col", "scalar", "value", "blockLen",
		"diagonal", "start", "CmpMode", "RoundMode", "key", "counter", NULL};
	static const uint32_t shape[5] = {1, 1, 1, SIDE, SIDE};
	enum op_role role = d->n_opnds ? ROLE_SRC : ROLE_DST;

	if (d->n_opnds == OPSTREAM_MAX_OPNDS || !word.n)
		return;
	if (is_one_of(word, scalars)) {
		op_desc_scalar(d, ROLE_VALUE, 0);
		return;
	}
	if (str_starts(word, "gm")) {
		op_desc_gm(d, role, DT_F32, shape, OPSTREAM_NO_SLOT, 0);
		return;
	}
	if (str_is(word, "idx"))
		role = ROLE_IDX;
	if (str_is(word, "tmp"))
		role = ROLE_TMP;
	op_desc_tile(d, role, DT_F32, SIDE, SIDE, 0)->loc = (uint8_t)loc_of(word, pipe);
}

static enum op_kind kind_of(const struct op_info *info)
{
	switch (info->price) {
	case PRICE_SYNC:
		return OPK_BARRIER;
	case PRICE_SCALAR:
		return OPK_SCALAR;
	case PRICE_GETV:
		return strcmp(info->name, "SetValue") == 0 ? OPK_SETV : OPK_GETV;
	case PRICE_EXT:
		return OPK_EXT;
	default:
		return OPK_OP;
	}
}

/* "MTE3; Acc: FIX" begins with the pipe of the plain form. */
static enum op_pipe pipe_of(struct str name)
{
	for (unsigned i = 0; i < OPP_COUNT; i++)
		if (str_is(name, op_pipe_name(i)))
			return (enum op_pipe)i;
	return OPP_S;
}

bool op_status(const struct profile *p, unsigned op, struct op_price *out, struct incore_error *e)
{
	size_t n;
	const struct op_info *info = &op_table(&n)[op];
	struct str rest = str_of(info->operands), pipes = str_of(info->pipe), pipe, word;
	struct opstream s;
	struct op_desc d;
	bool ok;

	if (!str_cut(&pipes, ";", &pipe))
		pipe = str_of(info->pipe);
	d = op_desc_of(kind_of(info), pipe_of(pipe), info->name, 0);
	/* optional operands in brackets are left out */
	while (str_cut(&rest, ",", &word)) {
		struct str plain;

		word = str_trim(word);
		plain = word;
		for (size_t i = 0; i < word.n; i++) {
			if (word.p[i] == '[' || word.p[i] == '|' || word.p[i] == ' ') {
				plain.n = i;
				break;
			}
		}
		if (plain.n && plain.p[plain.n - 1] != ']')
			add_operand(&d, plain, pipe);
	}
	ok = opstream_init(&s, e);
	s.arch = p->arch;
	ok = ok && opstream_push(&s, &d, e) && opstream_seal(&s, e);
	if (ok)
		price_form(p, &s, &s.forms.v[s.ops.v[0].form], out);
	opstream_deinit(&s);
	return ok;
}
