/* SPDX-License-Identifier: Apache-2.0 */
/* price.c: what do data movement, matrix and scalar ops cost? */
#include "model/profile/price_internal.h"

uint64_t price_use(struct pricing *x, enum prof_key k)
{
	price_seen(x, x->p->k[k].status);
	return (uint64_t)x->p->k[k].e4;
}

void price_seen(struct pricing *x, enum prof_status s)
{
	if (s > x->out->status)
		x->out->status = (uint8_t)s;
}

uint64_t price_round(wide num, wide den)
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

uint64_t price_bytes(const struct op_opnd *o)
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

static bool is_empty(const struct pricing *x)
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
	if (is_empty(&x)) {
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
