/* SPDX-License-Identifier: Apache-2.0 */
/* opstream_check.c: checks that a stream follows the format: every index is inside its table, every
 * code is known, sizes are small enough that no later product overflows. */
#include "model/stream/opstream_io.h"

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

static bool check_head(const struct opstream *s, struct opstream_fault *f)
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

bool opstream_check(const struct opstream *s, struct opstream_fault *f)
{
	if (!check_head(s, f))
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
