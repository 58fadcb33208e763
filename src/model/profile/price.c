/* SPDX-License-Identifier: Apache-2.0 */
/*
 * price.c: what does an op cost? Parts: vector ops; data movement, matrix and scalar ops; the
 * status of an op.
 */
#include "model/profile/price.h"

/* --- vector ops ------------------------------------------------------------------------------- */

/*
 * What do vector ops cost? Looked up in this order: the fitted table of the op, its instruction,
 * its class, the default; any entry other than the op's own is marked as fallback.
 */

struct pricing {
	const struct profile *p;
	const struct op_form *f;
	const struct op_opnd *opnds;
	const char *name;
	struct op_price *out;
	const struct op_opnd *dst, *src; /* first tile of that role, or NULL */
	const struct op_opnd *gm;	 /* first global-memory operand, or NULL */
};

typedef unsigned __int128 wide;

/* The valid part of a tile, in the order in which a vector unit processes it. */
struct walk_shape {
	uint64_t inner, outer; /* elements per run (row or column), number of runs */
	uint64_t inner_bytes;
	bool is_contiguous; /* no gaps between runs */
};

static void price_seen(struct pricing *x, enum prof_status s);
static uint64_t price_round(wide num, wide den);
static uint64_t price_use(struct pricing *x, enum prof_key k);
static uint64_t price_bytes(const struct op_opnd *o);

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

/* The vector classes. */
static void price_vector(struct pricing *x)
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

/* --- data movement, matrix and scalar ops ----------------------------------------------------- */

/* Returns a constant x 10^4 and takes its status into account. */
static uint64_t price_use(struct pricing *x, enum prof_key k)
{
	price_seen(x, x->p->k[k].status);
	return (uint64_t)x->p->k[k].e4;
}

static void price_seen(struct pricing *x, enum prof_status s)
{
	if (s > x->out->status)
		x->out->status = (uint8_t)s;
}

/* num / den rounded half up, at most PRICE_MAX_CYC. */
static uint64_t price_round(wide num, wide den)
{
	wide v = (2 * num + den) / (2 * den);

	return v > PRICE_MAX_CYC ? PRICE_MAX_CYC : (uint64_t)v;
}

static uint64_t cap(uint64_t v)
{
	return v > PRICE_MAX_CYC ? PRICE_MAX_CYC : v;
}

static uint64_t elems(const struct op_opnd *o)
{
	uint64_t n = 1;

	if (o->what == OPND_TILE)
		return (uint64_t)OPND_VROW(o) * OPND_VCOL(o);
	for (int i = 0; i < 5; i++)
		if (__builtin_mul_overflow(n, (uint64_t)o->shape[i], &n))
			return UINT64_MAX / 64;
	return n > UINT64_MAX / 64 ? UINT64_MAX / 64 : n;
}

/* Of the valid part */
static uint64_t price_bytes(const struct op_opnd *o)
{
	return (elems(o) * o->bits + 7) / 8;
}

/* bytes / rate, exactly, rounded once */
static uint64_t transfer(struct pricing *x, uint64_t bytes, enum prof_key rate)
{
	return price_round((wide)bytes * PROF_ONE, price_use(x, rate));
}

/* --- data movement --- */

/* One DMA instruction per index of the three outer dimensions of a plain view. */
static uint32_t dma_count(const struct op_opnd *gm)
{
	uint64_t n = (uint64_t)gm->shape[0] * gm->shape[1];

	if (gm->layout != LAYOUT_ND && gm->layout != LAYOUT_DN)
		return 1;
	n = n > UINT32_MAX ? UINT32_MAX : n * gm->shape[2];
	return n > UINT32_MAX ? UINT32_MAX : n ? (uint32_t)n : 1;
}

/* True if the rows of a plain view are not contiguous in memory. */
static bool is_strided(const struct op_opnd *gm)
{
	bool is_dn = gm->layout == LAYOUT_DN;
	uint32_t n = is_dn ? gm->shape[3] : gm->shape[4],
		 rows = is_dn ? gm->shape[4] : gm->shape[3];
	int64_t pitch = is_dn ? gm->stride[4] : gm->stride[3];

	return rows > 1 && pitch != (int64_t)n;
}

static void price_dma(struct pricing *x, uint64_t bytes, uint32_t n, bool is_load)
{
	struct op_price *out = x->out;
	uint64_t each = n ? bytes / n : bytes;
	bool to_ub = is_load && x->dst && x->dst->loc == LOC_VEC;

	out->is_dma = true;
	out->n_dma = n;
	out->bytes = each;
	out->is_read = is_load && x->gm;
	out->slot = x->gm ? x->gm->slot : OPSTREAM_NO_SLOT;
	out->is_strided = x->gm && is_strided(x->gm);
	if (x->p->dma_serial) {
		out->lat_cyc = 0;
		out->data_cyc = price_round((wide)each * PROF_ONE * PROF_ONE +
						    (wide)price_use(x, K_DMA_SERIAL_FIX) *
							    (uint64_t)x->p->k[K_DMA_SERIAL_BW].e4,
			(wide)price_use(x, K_DMA_SERIAL_BW) * PROF_ONE);
		out->occ_cyc = out->data_cyc;
		return;
	}
	out->occ_cyc = price_round(price_use(x, K_DMA_GAP), PROF_ONE);
	out->lat_cyc = price_round(price_use(x, is_load ? K_GM_RD_LAT : K_GM_WR_LAT), PROF_ONE);
	out->data_cyc = transfer(x, each, !is_load ? K_GM_WR_BW : to_ub ? K_GM_UB_BW : K_GM_L1_BW);
	if (is_load && !to_ub)
		price_seen(x, STATUS_GUESS); /* assume the same latency into L1 as into UB */
}

static void price_load(struct pricing *x)
{
	if (!x->gm) {
		uint64_t bytes = x->dst ? price_bytes(x->dst) : 0;

		price_dma(x, bytes, 1, true);
		return;
	}
	price_dma(x, price_bytes(x->gm), dma_count(x->gm), true);
	if (strcmp(x->name, "TLOAD") != 0)
		x->out->is_fallback = true;
}

static void price_store(struct pricing *x)
{
	uint64_t bytes = x->gm ? price_bytes(x->gm) : x->src ? price_bytes(x->src) : 0;

	price_dma(x, bytes, x->gm ? dma_count(x->gm) : 1, false);
}

/* Transfers from L1 to L0A, L0B, the bias and scaling buffers. */
static void price_l0(struct pricing *x)
{
	const struct op_opnd *d = x->dst;
	enum prof_key rate = K_L0A;
	bool is_img2col = strcmp(x->name, "TIMG2COL") == 0;
	uint64_t bytes, rate_e4, start_e4;

	if (!d)
		return;
	if (d->loc == LOC_RIGHT || d->loc == LOC_SCALE_RIGHT)
		rate = K_L0B;
	else if (d->loc != LOC_LEFT && d->loc != LOC_SCALE_LEFT)
		rate = K_L1_BT_BW;
	/* the whole tile moves, even if only part of it is valid */
	bytes = ((uint64_t)OPND_ROWS(d) * OPND_COLS(d) * d->bits + 7) / 8;
	rate_e4 = price_use(x, rate);
	start_e4 = price_use(x, is_img2col ? K_IMG2COL_START : K_MTE1_START);
	x->out->occ_cyc = price_round((wide)bytes * PROF_ONE, rate_e4);
	x->out->lat_cyc = price_round((wide)bytes * PROF_ONE * PROF_ONE + (wide)start_e4 * rate_e4,
		(wide)rate_e4 * PROF_ONE);
}

/* --- matrix --- */

static const struct op_opnd *at_loc(const struct pricing *x, enum op_loc loc)
{
	for (unsigned i = 0; i < x->f->n_opnds; i++)
		if (x->opnds[i].what == OPND_TILE && x->opnds[i].loc == loc)
			return &x->opnds[i];
	return NULL;
}

static uint64_t up(uint64_t a, uint64_t b)
{
	return (a + b - 1) / b;
}

static void price_mad(struct pricing *x)
{
	const struct op_opnd *a = at_loc(x, LOC_LEFT), *b = at_loc(x, LOC_RIGHT);
	uint64_t passes_e4 = PROF_ONE, granule;
	wide steps;

	if (!a || !b) {
		x->out->is_fallback = true;
		return;
	}
	granule = 256u / (a->bits < 8 ? 8 : a->bits);
	if (a->dtype == DT_F32)
		passes_e4 = price_use(x, K_FP32_PASSES);
	steps = (wide)up(OPND_VROW(a), 16) * up(OPND_VCOL(b), 16) *
		up(OPND_VCOL(a), granule ? granule : 1);
	x->out->is_empty = steps == 0;
	x->out->occ_cyc = price_round(steps * passes_e4 + price_use(x, K_MAD_HEAD), PROF_ONE);
	x->out->lat_cyc = x->out->occ_cyc;
}

static uint64_t odd_part(uint64_t v)
{
	return v ? v >> __builtin_ctzll(v) : 1;
}

/* From L0C or UB through the fixpipe: rows are priced by the bytes written. */
static void price_fix(struct pricing *x)
{
	const struct op_opnd *to = x->gm ? x->gm : x->dst;
	const struct op_opnd *rect = x->src && x->gm ? x->src : x->dst ? x->dst : x->src;
	uint64_t m, n, rate, row, pen, fixed;
	wide per_row, num;

	if (!to || !rect)
		return;
	if (to->what == OPND_TILE && to->loc == LOC_SCALING) {
		x->out->occ_cyc = transfer(x, price_bytes(to), K_L1_BT_BW);
		x->out->lat_cyc = x->out->occ_cyc;
		return;
	}
	m = OPND_VROW(rect);
	n = OPND_VCOL(rect);
	rate = price_use(x, x->gm ? K_FIX_GM_BW : K_FIX_BW);
	row = price_use(x, K_FIX_ROW);
	pen = price_use(x, K_FIX_PEN);
	fixed = price_use(x, K_FIX_FIXED);
	/* over 8 * 10^4 * rate: bits, four decimals, bytes a cycle */
	per_row = (wide)n * to->bits * PROF_ONE * PROF_ONE;
	if ((wide)row * rate * 8 > per_row)
		per_row = (wide)row * rate * 8;
	num = m * per_row + (wide)fixed * rate * 8 +
	      (wide)pen * rate * 8 * m * (odd_part(up(n * to->bits, 256)) - 1);
	x->out->occ_cyc = price_round(num, (wide)8 * PROF_ONE * rate);
	x->out->lat_cyc = x->out->occ_cyc;
}

/* --- scalar --- */

static void price_scalar(struct pricing *x, enum price_class c)
{
	enum prof_key k = K_S_OP;
	uint64_t n = 1;

	if (c == PRICE_TCI) {
		k = K_S_STORE;
		n = x->dst ? OPND_VCOL(x->dst) : 1;
	} else if (c == PRICE_GETV) {
		k = x->f->kind == OPK_SETV ? K_S_STORE : K_S_GETV;
	} else if (x->f->kind == OPK_GMREAD) {
		k = x->f->mode == 1 ? K_S_MISS : K_S_LOAD; /* first access to its cache line */
	} else if (x->f->kind == OPK_GMWRITE) {
		k = K_S_STORE;
	} else if (strcmp(x->name, "dcci") == 0 || strcmp(x->name, "dsb") == 0) {
		k = K_S_CACHE;
	}
	x->out->issue_cyc = price_round((wide)n * price_use(x, k), PROF_ONE);
}

/* --- all --- */

static void find_operands(struct pricing *x)
{
	EACH (const struct op_opnd, o, x->opnds, x->f->n_opnds) {
		if (o->what == OPND_TILE && o->role == ROLE_DST && !x->dst)
			x->dst = o;
		if (o->what == OPND_TILE && o->role == ROLE_SRC && !x->src)
			x->src = o;
		/* the operand of a FIFO op is its ring, not the data moved */
		if (o->what == OPND_GM && !x->gm && x->f->kind != OPK_PUSH && x->f->kind != OPK_POP)
			x->gm = o;
	}
}

static bool price_is_empty(const struct pricing *x)
{
	const struct op_opnd *o = x->dst ? x->dst : x->src;

	if (x->gm && elems(x->gm) == 0)
		return true;
	return o && o->what == OPND_TILE && elems(o) == 0;
}

/* FIFO transfers are priced by the data moved; on a5 a pop only moves data from a GM ring. */
static void price_fifo(struct pricing *x, const struct opstream *s)
{
	bool by_gm = s->arch == ARCH_A2A3 || x->f->fifo_dir >= DIR_C2V_GM;

	if (x->f->kind == OPK_PUSH && s->core == CORE_AIC) {
		const struct op_opnd *tile = x->src ? x->src : x->dst;
		struct op_opnd gm = {.what = OPND_GM, .shape = {1, 1, 1, 1, 1}};

		if (!tile)
			return;
		gm.bits = tile->bits;
		x->src = tile;
		x->dst = by_gm ? NULL : tile;
		x->gm = by_gm ? &gm : NULL;
		price_fix(x);
		x->gm = NULL;
	} else if (x->f->kind == OPK_PUSH) {
		x->src = x->src ? x->src : x->dst;
		price_store(x);
		x->out->is_fallback = !by_gm;
	} else if (x->f->kind == OPK_POP && by_gm) {
		x->dst = x->dst ? x->dst : x->src;
		price_load(x);
	}
}

static void price_by_class(struct pricing *x, enum price_class c)
{
	switch (c) {
	case PRICE_LOAD:
		price_load(x);
		break;
	case PRICE_STORE:
		price_store(x);
		break;
	case PRICE_L0:
		price_l0(x);
		break;
	case PRICE_MAD:
		price_mad(x);
		break;
	case PRICE_FIX:
		price_fix(x);
		break;
	default:
		if (x->f->pipe == OPP_MTE2 && x->dst) { /* TEXPANDS, TFILLPAD of a Mat tile */
			x->out->occ_cyc = transfer(x, price_bytes(x->dst), K_L1_BT_BW);
			x->out->lat_cyc = x->out->occ_cyc;
		} else {
			price_vector(x);
		}
	}
}

static bool is_sync(unsigned kind)
{
	return kind == OPK_SET || kind == OPK_WAIT || kind == OPK_BARRIER || kind == OPK_XSET ||
	       kind == OPK_XWAIT || kind == OPK_FREE || kind == OPK_FIFO_END;
}

void price_form(const struct profile *p, const struct opstream *s, const struct op_form *f,
	struct op_price *out)
{
	struct pricing x = {.p = p,
		.f = f,
		.opnds = s->opnds.v + f->first_opnd,
		.name = opstream_str(s, f->name),
		.out = out};
	enum price_class c = op_price_class(f, x.opnds);
	bool is_scalar = c == PRICE_SCALAR || c == PRICE_TCI || c == PRICE_GETV ||
			 f->pipe == OPP_S || f->kind == OPK_GMREAD || f->kind == OPK_GMWRITE;

	*out = (struct op_price){.price = (uint8_t)c};
	if (c == PRICE_FREE || f->pipe == OPP_NONE || f->kind == OPK_EXT || c == PRICE_EXT)
		return;
	out->is_unknown = c == PRICE_UNKNOWN && f->kind == OPK_OP;
	if (is_sync(f->kind)) {
		out->issue_cyc = price_round(price_use(&x, K_S_SYNC), PROF_ONE);
		return;
	}
	find_operands(&x);
	if (is_scalar && f->kind != OPK_PUSH && f->kind != OPK_POP) {
		price_scalar(&x, c);
		return;
	}
	/* the issue is the scalar pipe's time: its status does not count here */
	out->issue_cyc = price_round((wide)p->k[K_S_OP].e4, PROF_ONE);
	if (price_is_empty(&x)) {
		out->is_empty = true;
		price_seen(&x, STATUS_GUESS);
		return;
	}
	if (f->kind == OPK_PUSH || f->kind == OPK_POP)
		price_fifo(&x, s);
	else
		price_by_class(&x, c);
	out->occ_cyc = cap(out->occ_cyc);
	out->lat_cyc = cap(out->lat_cyc);
	if (out->is_fallback || out->is_unknown)
		price_seen(&x, STATUS_GUESS);
}

/* --- the status of an op ---------------------------------------------------------------------- */

/* Prices a sample of an op. */

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

static void price_add_operand(struct op_desc *d, struct str word, struct str pipe)
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

static enum op_kind price_kind_of(const struct op_info *info)
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
static enum op_pipe price_pipe_of(struct str name)
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
	d = op_desc_of(price_kind_of(info), price_pipe_of(pipe), info->name, 0);
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
			price_add_operand(&d, plain, pipe);
	}
	ok = opstream_init(&s, e);
	s.arch = p->arch;
	ok = ok && opstream_push(&s, &d, e) && opstream_seal(&s, e);
	if (ok)
		price_form(p, &s, &s.forms.v[s.ops.v[0].form], out);
	opstream_deinit(&s);
	return ok;
}
