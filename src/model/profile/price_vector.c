/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price_vector.c: what do vector ops cost? Looked up in this order: the fitted table of the op, its
 * instruction, its class, the default; any entry other than the op's own is marked as fallback.
 */
#include "model/profile/price_internal.h"

/* The valid part of a tile, in the order in which a vector unit processes it. */
struct walk_shape {
	uint64_t inner, outer; /* elements per run (row or column), number of runs */
	uint64_t inner_bytes;
	bool is_contiguous; /* no gaps between runs */
};

static struct walk_shape shape_of(const struct op_opnd *o, unsigned bits)
{
	bool by_col = o->blayout == BL_COL_MAJOR && o->slayout == SL_NONE_BOX;
	struct walk_shape w = {.inner = by_col ? OPND_VROW(o) : OPND_VCOL(o),
		.outer = by_col ? OPND_VCOL(o) : OPND_VROW(o)};
	uint64_t pitch = by_col ? OPND_ROWS(o) : OPND_COLS(o);

	w.inner_bytes = (w.inner * bits + 7) / 8;
	w.is_contiguous = w.outer <= 1 || w.inner == pitch || o->slayout != SL_NONE_BOX;
	return w;
}

static const struct op_opnd *main_tile(const struct pricing *x)
{
	return x->dst ? x->dst : x->src;
}

/* If types differ (TCVT, TCMP), the wider one determines the repeats. */
static unsigned wider_bits(const struct pricing *x)
{
	unsigned bits = main_tile(x)->bits;

	return x->src && x->src->bits > bits ? x->src->bits : bits;
}

static bool has_gaps(const struct pricing *x)
{
	EACH (const struct op_opnd, o, x->opnds, x->f->n_opnds) {
		if (o->what == OPND_TILE && (o->role == ROLE_DST || o->role == ROLE_SRC) &&
			!shape_of(o, o->bits).is_contiguous)
			return true;
	}
	return false;
}

/* 256-byte repeats x 256: the bytes that they cover, so that parts of a repeat stay exact. */
static uint64_t repeat_bytes(const struct walk_shape *w, bool has_gap, bool two_sources)
{
	if (two_sources && w->inner_bytes < 256)
		return w->outer * 256;
	if (has_gap)
		return w->outer * ((w->inner_bytes + 255) / 256) * 256;
	return w->outer * w->inner_bytes;
}

/* --- elementwise --- */

/* The instruction that implements an op. */
static const char *instr_of(const char *op, enum price_class c)
{
	static const char *const map[][2] = {{"TADD", "vadd"}, {"TSUB", "vadd"}, {"TMUL", "vmul"},
		{"TMAX", "vmax"}, {"TMIN", "vmax"}, {"TDIV", "vdiv"}, {"TAND", "vand"},
		{"TOR", "vand"}, {"TNOT", "vand"}, {"TADDS", "vadds"}, {"TSUBS", "vadds"},
		{"TMULS", "vmuls"}, {"TNEG", "vmuls"}, {"TLRELU", "vmuls"}, {"TMAXS", "vmaxs"},
		{"TRELU", "vmaxs"}, {"TMINS", "vmins"}, {"TABS", "vabs"}, {"TEXP", "vexp"},
		{"TLOG", "vln"}, {"TSQRT", "vsqrt"}, {"TRSQRT", "vrsqrt"}, {"TRECIP", "vrsqrt"},
		{"TCVT", "vconv"}, {"TSEL", "vsel"}, {"TMOV", "vcopy"}, {"TEXPANDS", "vcopy"},
		{"TFILLPAD", "vcopy"}, {"TFILLPAD_INPLACE", "vcopy"}, {"TFILLPAD_EXPAND", "vcopy"},
		{"TCONCAT", "vcopy"}, {"TPARTADD", "vadd"}, {"TPARTMUL", "vmul"},
		{"TPARTMAX", "vmax"}, {"TPARTMIN", "vmax"}};

	for (size_t i = 0; i < sizeof(map) / sizeof(map[0]); i++)
		if (strcmp(map[i][0], op) == 0)
			return map[i][1];
	return c == PRICE_V2 || c == PRICE_V4 ? NULL : c == PRICE_VC ? "vconv" : NULL;
}

/* The entry of a class, used if its op has none. */
static const char *stand_in(enum price_class c)
{
	return c == PRICE_V2	? "vadd"
	       : c == PRICE_V1	? "vmuls"
	       : c == PRICE_V4	? "vdiv"
	       : c == PRICE_V2T ? "vexp"
	       : c == PRICE_VC	? "vconv"
				: "default";
}

static const struct prof_vec *vec_entry(struct pricing *x, enum price_class c)
{
	const char *instr = instr_of(x->name, c);
	const struct prof_vec *v = profile_vec(x->p, x->name);

	if (!v && instr)
		v = profile_vec(x->p, instr);
	if (!v) {
		x->out->is_fallback = true;
		v = profile_vec(x->p, stand_in(c));
	}
	if (!v)
		v = profile_vec(x->p, "default");
	price_seen(x, v->status);
	return v;
}

static bool has_two_sources(enum price_class c)
{
	return c == PRICE_V2;
}

static unsigned n_sources(const struct pricing *x)
{
	unsigned n = 0;

	for (unsigned i = 0; i < x->f->n_opnds; i++)
		n += x->opnds[i].what == OPND_TILE && x->opnds[i].role == ROLE_SRC;
	return n;
}

static void price_elementwise(struct pricing *x, enum price_class c)
{
	const struct prof_vec *v = vec_entry(x, c);
	unsigned bits = wider_bits(x);
	struct walk_shape w = shape_of(main_tile(x), bits);
	bool two = has_two_sources(c) || (c == PRICE_V4 && n_sources(x) >= 2);
	uint64_t bytes = repeat_bytes(&w, has_gaps(x), two);
	uint64_t slope = (uint64_t)(bits <= 16 ? v->slope16_e4 : v->slope_e4);
	bool is_partial = w.inner_bytes % 256 != 0 && (two || w.inner_bytes > 256);
	uint64_t extra = is_partial ? price_use(x, K_V_COUNT) : 0;
	uint64_t follow = x->p->v_overlap ? 0 : price_use(x, K_V_B2B);
	wide work = (wide)slope * bytes + (wide)extra * 256;

	x->out->occ_cyc = price_round(work + (wide)follow * 256, (wide)256 * PROF_ONE);
	x->out->lat_cyc = price_round(work + (wide)v->fix_e4 * 256, (wide)256 * PROF_ONE);
}

/* --- a5 loops --- */

static const char *family(unsigned dtype)
{
	switch (dtype) {
	case DT_F32:
		return "f32";
	case DT_BF16:
		return "bf16";
	case DT_F16:
		return "f16";
	case DT_F8E4M3:
	case DT_F8E5M2:
	case DT_HIF8:
		return "f8";
	case DT_F4E2M1:
	case DT_F4E1M2:
		return "f4";
	default:
		return "";
	}
}

/* Conversions between fp32 and a 16-bit type share one entry for both 16-bit types. */
static const struct prof_loop *cvt_loop(const struct pricing *x)
{
	const char *from = family(x->src->dtype), *to = family(x->dst->dtype);
	struct strbuf key = {0};
	const struct prof_loop *l;

	if (strcmp(from, "f32") == 0 && strcmp(to, "bf16") == 0)
		to = "f16";
	if (strcmp(from, "bf16") == 0 && strcmp(to, "f32") == 0)
		from = "f16";
	sb_printf(&key, "TCVT_%s_%s", from, to);
	l = key.p ? profile_loop(x->p, key.p) : NULL;
	sb_free(&key);
	return l;
}

static const struct prof_loop *named_loop(
	const struct pricing *x, const char *name, unsigned bits, bool odd)
{
	struct strbuf key = {0};
	const struct prof_loop *l = profile_loop(x->p, name);

	if (!l) {
		sb_printf(&key, "%s_%s%s", name, bits == 32 ? "f32" : "f16",
			odd && bits == 32 && strcmp(name, "TSEL") == 0 ? "_odd" : "");
		l = key.p ? profile_loop(x->p, key.p) : NULL;
	}
	sb_free(&key);
	return l;
}

static const struct prof_loop *loop_entry(
	struct pricing *x, enum price_class c, unsigned bits, uint64_t n)
{
	const struct prof_loop *l = NULL;

	if (c == PRICE_VC && x->src && x->dst)
		l = cvt_loop(x);
	if (!l)
		l = named_loop(x, x->name, bits, n & 1);
	if (l)
		return l;
	x->out->is_fallback = true;
	return named_loop(x,
		c == PRICE_V2	 ? "TADD"
		: c == PRICE_V2T ? "TEXP"
		: c == PRICE_V4	 ? "TDIVS"
				 : "TMINS",
		bits, n & 1);
}

static uint64_t round_signed(__int128 num, uint64_t den)
{
	return num <= 0 ? 0 : price_round((wide)num, den);
}

static bool price_loop(struct pricing *x, enum price_class c)
{
	unsigned bits = wider_bits(x);
	struct walk_shape w = shape_of(main_tile(x), bits);
	uint64_t n = (w.outer * w.inner_bytes + 255) / 256;
	uint64_t inner = (w.inner_bytes + 255) / 256;
	const struct prof_loop *l = loop_entry(x, c, bits, n);
	int64_t follow = x->p->v_overlap ? 0 : (int64_t)price_use(x, K_V_B2B);
	__int128 work, tail;

	if (!l)
		return false;
	price_seen(x, l->status);
	if (l->has_1d && (!has_gaps(x) || !l->has_2d)) {
		work = (__int128)l->p1_e4 * (has_gaps(x) ? inner * w.outer : n);
		tail = l->q1_e4;
	} else {
		work = ((__int128)l->p2_e4 * inner + l->q2_e4) * w.outer;
		tail = l->s2_e4;
	}
	x->out->occ_cyc = round_signed(work + follow, PROF_ONE);
	x->out->lat_cyc = round_signed(work + tail, PROF_ONE);
	return true;
}

/* --- tables by rows and columns --- */

static const char *table_name(const char *op, enum price_class c)
{
	if (c == PRICE_ROWX)
		return "TROWEXPAND";
	if (c == PRICE_CRED)
		return strcmp(op, "TCOLSUM") == 0 || strcmp(op, "TCOLPROD") == 0 ? "TCOLSUM"
										 : "TCOLMAX";
	return strcmp(op, "TROWSUM") == 0 || strcmp(op, "TROWPROD") == 0 ? "TROWSUM" : "TROWMAX";
}

/* a and b at `cols`, as numerators over *den: interpolated, or extended by the last slope. */
static void at_cols(struct pricing *x, const struct prof_table *t, uint64_t cols, __int128 *a,
	__int128 *b, int64_t *den)
{
	const struct prof_point *p = t->points, *q;
	uint32_t i = 0;

	*den = 1;
	while (i < t->n && p[i].cols < cols)
		i++;
	if (i < t->n && (i == 0 || p[i].cols == cols)) {
		*a = p[i].a_e4;
		*b = p[i].b_e4;
		return;
	}
	if (i == t->n)
		x->out->is_fallback = true;
	if (t->n == 1) {
		*a = p[0].a_e4;
		*b = p[0].b_e4;
		return;
	}
	q = i == t->n ? &p[t->n - 2] : &p[i - 1];
	*den = (int64_t)q[1].cols - q[0].cols;
	*a = (__int128)q[0].a_e4 * *den +
	     (__int128)(q[1].a_e4 - q[0].a_e4) * (int64_t)(cols - q[0].cols);
	*b = i == t->n ? (__int128)q[1].b_e4 * *den
		       : (__int128)q[0].b_e4 * *den +
				 (__int128)(q[1].b_e4 - q[0].b_e4) * (int64_t)(cols - q[0].cols);
}

static void price_table(struct pricing *x, enum price_class c)
{
	const struct op_opnd *o = c == PRICE_ROWX || !x->src ? main_tile(x) : x->src;
	const char *name = table_name(x->name, c);
	const struct prof_table *t = profile_table(x->p, name, o->bits >= 32 ? 32 : 16);
	uint64_t rows = OPND_VROW(o), cols = OPND_VCOL(o);
	__int128 a, b;
	int64_t den;

	if (!t) {
		price_elementwise(x, PRICE_DEFAULT);
		x->out->is_fallback = true;
		return;
	}
	price_seen(x, t->status);
	if (strcmp(name, x->name) != 0 || (o->bits != 32 && o->bits != 16))
		x->out->is_fallback = true;
	at_cols(x, t, cols, &a, &b, &den);
	if (a < 0)
		a = 0;
	x->out->occ_cyc = price_round((wide)a * rows, (wide)den * PROF_ONE);
	x->out->lat_cyc = price_round((wide)a * rows + (wide)b, (wide)den * PROF_ONE);
}

/* --- the rest --- */

static void price_broadcast(struct pricing *x, bool by_row)
{
	struct walk_shape w = shape_of(main_tile(x), wider_bits(x));
	uint64_t work = 2 * w.outer * ((w.inner_bytes + 255) / 256) + (by_row ? w.outer : 0);
	uint64_t fix = price_use(x, by_row ? K_RX_FIX : K_CX_FIX);

	price_seen(x, STATUS_GUESS);
	x->out->occ_cyc = work;
	x->out->lat_cyc = price_round((wide)work * PROF_ONE + fix, PROF_ONE);
}

static uint64_t source_bytes(const struct pricing *x)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < x->f->n_opnds; i++)
		if (x->opnds[i].what == OPND_TILE && x->opnds[i].role == ROLE_SRC)
			n += price_bytes(&x->opnds[i]);
	return n;
}

/* num / den cycles, and a fixed part until the result */
static void set_price(struct pricing *x, wide num, wide den, uint64_t fix_e4)
{
	x->out->occ_cyc = price_round(num, den);
	x->out->lat_cyc = price_round(num + (wide)fix_e4 * (den / PROF_ONE), den);
}

static void price_sort(struct pricing *x, enum price_class c)
{
	uint64_t bytes = source_bytes(x), n = x->src ? price_bytes(x->src) * 8 / x->src->bits : 0;
	unsigned lists = n_sources(x) < 4 ? n_sources(x) : 4;

	if (c == PRICE_SORT) {
		set_price(x, (wide)price_use(x, K_SORT_GROUP) * ((n + 31) / 32), PROF_ONE,
			price_use(x, K_SORT_FIX));
		return;
	}
	if (lists < 2) /* four consecutive lists in one tile */
		set_price(x, (wide)price_use(x, K_MRG_KIB) * bytes, (wide)1024 * PROF_ONE,
			price_use(x, K_MRG_FIX));
	else
		set_price(x,
			((wide)price_use(x, K_MRG_MULTI_KIB) * (4 - lists) +
				(wide)price_use(x, K_MRG_KIB) * (lists - 2)) *
				bytes,
			(wide)2 * 1024 * PROF_ONE, price_use(x, K_MRG_FIX));
}

static void price_special(struct pricing *x, enum price_class c)
{
	const struct prof_vec *v;

	switch (c) {
	case PRICE_GIDX:
		set_price(x, (wide)price_use(x, K_GIDX_ROW) * OPND_VROW(main_tile(x)), PROF_ONE,
			price_use(x, K_GIDX_FIX));
		break;
	case PRICE_GMSK:
		v = profile_vec(x->p, "vreducev2");
		v = v ? v : profile_vec(x->p, "default");
		price_seen(x, v->status);
		set_price(x, (wide)v->slope_e4 * (x->src ? price_bytes(x->src) : 0),
			(wide)256 * PROF_ONE, (uint64_t)v->fix_e4);
		break;
	case PRICE_TR:
		set_price(x,
			(wide)price_use(x, K_TR_ELEM) * OPND_VROW(main_tile(x)) *
				OPND_VCOL(main_tile(x)),
			PROF_ONE, 0);
		break;
	default:
		price_sort(x, c);
	}
}

void price_vector(struct pricing *x)
{
	enum price_class c = (enum price_class)x->out->price;

	if (!main_tile(x)) {
		x->out->is_fallback = true;
		return;
	}
	switch (c) {
	case PRICE_V2:
	case PRICE_V1:
	case PRICE_V4:
	case PRICE_V2T:
	case PRICE_VC:
		if (x->p->loops.n == 0 || !price_loop(x, c))
			price_elementwise(x, c);
		break;
	case PRICE_RED:
	case PRICE_CRED:
	case PRICE_ROWX:
		price_table(x, c);
		break;
	case PRICE_RX:
	case PRICE_CX:
		price_broadcast(x, c == PRICE_RX);
		break;
	case PRICE_GIDX:
	case PRICE_GMSK:
	case PRICE_TR:
	case PRICE_SORT:
	case PRICE_MRG:
		price_special(x, c);
		break;
	default:
		price_elementwise(x, PRICE_DEFAULT);
		x->out->is_fallback = true;
	}
	/* without its own figure, a5 uses that of a2a3 */
	if (x->p->loops.n && c != PRICE_V2 && c != PRICE_V1 && c != PRICE_V4 && c != PRICE_V2T &&
		c != PRICE_VC)
		x->out->is_fallback = true;
}
