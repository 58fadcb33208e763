/* SPDX-License-Identifier: Apache-2.0 */
/*
 * changes_compute.c: waste in what computes: lanes that are off, double precision by accident,
 * functions that expand into many instructions, and tiles too small for matrix instructions.
 */
#include <stdlib.h>

#include "analysis/ledger/ledger_internal.h"

#define LANES 32
#define FEW_LANES 24
#define XU_OPS "MUFU F2F F2I I2F FRND"
#define DOUBLE_OPS "DADD DMUL DFMA DSETP DMNMX"
#define MATRIX_OPS "HMMA IMMA DMMA QMMA BMMA HGMMA IGMMA QGMMA"
#define NARROW_OPS "HMMA IMMA DMMA QMMA BMMA"

/* The share of the latency that is left which arithmetic can shorten. */
static double arithmetic_latency(const struct ledger *l)
{
	return greater(0,
		1 - ledger_latency_of(l, LEDGER_LONG) - ledger_latency_of(l, LEDGER_BARRIER) -
			ledger_latency_of(l, LEDGER_DRAIN) - ledger_latency_of(l, LEDGER_MEMBAR));
}

/* Fewer instructions on the pipes of arithmetic. */
static void scale_arithmetic(const struct ledger *l, struct ledger_effect *x, double left)
{
	x->unit[MACHINE_ISSUE] = x->unit[MACHINE_ALU] = x->unit[MACHINE_FMA] = left;
	x->queue = ledger_queue_of(l, LEDGER_MATH, left);
}

/* --- lanes that are off --------------------------------------------------------------------- */

static double lanes_wasted(const struct ledger_row *r)
{
	return r->n > 0 && r->lanes > 0 && r->lanes < FEW_LANES * r->n ? r->n - r->lanes / LANES
								       : 0;
}

static double split_of(const struct ledger_row *r)
{
	return r->divergent;
}

static void lanes(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double n = 0, on = 0, off = 0, split = 0, left;

	for (code_idx i = 0; i < l->trace->n_code; i++) {
		n += l->rows[i].n;
		on += l->rows[i].lanes;
		off += lanes_wasted(&l->rows[i]);
		split += l->rows[i].divergent;
	}
	if (n <= 0 || on <= 0 || off <= .1 * n)
		return;
	left = 1 - off / n;
	change_begin(m, CHANGE_LANES, LEDGER_WASTE);
	change_counted(m, "%.1f of %d lanes are on", lesser(LANES, on / n), LANES);
	effect_scale_sm(&m->c.best, left);
	m->c.best.latency = left;
	effect_scale_sm(&m->c.worst, left + .15 * (1 - left));
	m->c.worst.latency = left + .15 * (1 - left);
	change_rows(m, split > 0 ? split_of : lanes_wasted);
	change_end(m);
}

/* --- double precision ----------------------------------------------------------------------- */

static double double_of(const struct ledger_row *r)
{
	return ledger_is_any(r, "F2F " DOUBLE_OPS) ? r->n : 0;
}

/* Conversions that only serve double precision go with it; what they leave of the special units is
 * other work. */
static void double_precision(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double n = ledger_count(l, DOUBLE_OPS), conversions = ledger_count(l, "F2F");
	double busy = greater(l->unit[MACHINE_FP64].cycles, l->unit[MACHINE_XU].cycles);
	bool is_accident = conversions > .2 * n;
	double xu = 1 - ledger_ratio(conversions, greater(1, ledger_count(l, XU_OPS)));
	double wait = ledger_latency_of(l, LEDGER_SHORT) + ledger_latency_of(l, LEDGER_WAIT) +
		      ledger_latency_of(l, LEDGER_DISPATCH);

	if (n <= .02 * l->executed || busy <= .3 * l->window_cyc)
		return;
	change_begin(m, CHANGE_FP64, is_accident ? LEDGER_CAUSE : LEDGER_WASTE);
	if (is_accident)
		change_counted(m,
			"floats are widened and narrowed again: %.2f conversions an operation in double precision",
			conversions / n);
	else
		change_counted(m, "%.0f %% of all instructions are double precision",
			100 * n / l->executed);
	m->c.best.unit[MACHINE_FP64] = 0;
	m->c.worst.unit[MACHINE_FP64] = .1;
	m->c.best.unit[MACHINE_XU] = m->c.worst.unit[MACHINE_XU] = xu;
	m->c.best.unit[MACHINE_ISSUE] = m->c.best.unit[MACHINE_ALU] = 1 - conversions / l->executed;
	m->c.best.queue = l->owner == LEDGER_MEMORY ? 1 : 0;
	m->c.worst.queue = l->owner == LEDGER_MEMORY ? 1 : .3;
	m->c.best.latency = 1 - .9 * wait;
	m->c.worst.latency = 1 - .5 * wait;
	change_rows(m, double_of);
	change_end(m);
}

/* --- special functions ---------------------------------------------------------------------- */

static double special_of(const struct ledger_row *r)
{
	return ledger_is_op(r, "MUFU") ? r->n : 0;
}

/* The first operand of a row, a register, or NULL; and what follows the comma. */
static const char *first_operand(const struct ledger_row *r)
{
	const char *blank = strchr(r->op, ' ');

	return blank ? blank + 1 : NULL;
}

static bool same_register(const char *a, const char *b)
{
	size_t n = a ? strcspn(a, ", ") : 0;

	return n && b && strncmp(a, b, n) == 0 && strcspn(b, ", ") == n;
}

/* Second operand of "MUFU.RCP R5, R3", without sign or bars. */
static const char *second_operand(const struct ledger_row *r)
{
	const char *first = first_operand(r), *comma = first ? strchr(first, ',') : NULL;

	return comma ? comma + 1 + strspn(comma + 1, " -|") : NULL;
}

#define AROUND 40u /* rows that are looked at on either side */

/* The scaling of denormal arguments: a multiplication before, one after, and its predicate. */
static double serving(const struct ledger *l, code_idx at)
{
	const char *to = first_operand(&l->rows[at]), *from = second_operand(&l->rows[at]);
	double sum = 0;

	for (code_idx i = at; i-- > 0 && at - i < AROUND;) {
		const struct ledger_row *r = &l->rows[i];

		if (!same_register(from, first_operand(r)))
			continue;
		if (ledger_is_op(r, "FMUL"))
			sum += 2 * r->n; /* with the comparison */
		if (r->op == l->trace->code[i].text)
			break;
	}
	for (code_idx i = at + 1; i < l->trace->n_code && i - at < AROUND; i++) {
		const struct ledger_row *r = &l->rows[i];

		if (!same_register(to, first_operand(r)))
			continue;
		if (ledger_is_op(r, "FMUL") && same_register(to, second_operand(r)))
			sum += r->n;
		break;
	}
	return sum;
}

static void special(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double n = ledger_count(l, "MUFU"), all = n, left;

	if (l->unit[MACHINE_XU].cycles <= .5 * l->window_cyc || n <= .5 * ledger_count(l, XU_OPS))
		return;
	for (code_idx i = 0; i < l->trace->n_code; i++)
		if (special_of(&l->rows[i]) > 0)
			all += serving(l, i);
	left = greater(.1, 1 - all / l->executed);
	change_begin(m, CHANGE_SPECIAL, LEDGER_WASTE);
	change_counted(m,
		"special functions are %.0f %% of all instructions, %.0f %% with what serves them",
		100 * n / l->executed, 100 * lesser(1, all / l->executed));
	scale_arithmetic(l, &m->c.best, left);
	m->c.best.unit[MACHINE_XU] = 0;
	m->c.best.queue = l->owner == LEDGER_MEMORY ? 1 : 0;
	m->c.best.latency = .5;
	m->c.worst.unit[MACHINE_XU] = .5;
	m->c.worst.unit[MACHINE_ISSUE] = (1 + left) / 2;
	m->c.worst.queue = l->owner == LEDGER_MEMORY ? 1 : .5;
	change_rows(m, special_of);
	change_end(m);
}

/* --- functions that expand ------------------------------------------------------------------ */

static bool has_number(const struct ledger_row *r, double wanted)
{
	for (const char *p = strchr(r->op, ','); p; p = strchr(p + 1, ',')) {
		char *end;
		double x = strtod(p + 1, &end);

		if (end != p + 1 && fabs(fabs(x) - wanted) < 1e-5 * wanted)
			return true;
	}
	return false;
}

static double int_division(const struct ledger_row *r)
{
	return ledger_is_op(r, "IMAD.HI") ? r->n : 0;
}

static double division(const struct ledger_row *r)
{
	return ledger_is_op(r, "FCHK") ? r->n : 0;
}

/* The first coefficient of the logarithm within powf; reductions by 2/pi of sinf, cosf and kin. */
static double power(const struct ledger_row *r)
{
	return has_number(r, .018033718690276146) || has_number(r, .63661974668502808) ? r->n : 0;
}

/* `n` instructions of the expansion would go, or half of them. */
static void expansion(struct change_maker *m, double n, row_cost_fn rows)
{
	const struct ledger *l = m->l;
	double share = lesser(.9, n / l->executed), wait = arithmetic_latency(l);

	scale_arithmetic(l, &m->c.best, 1 - share);
	scale_arithmetic(l, &m->c.worst, 1 - share / 2);
	m->c.best.latency = 1 - wait * share;
	m->c.worst.latency = 1 - wait * share / 2;
	change_rows(m, rows);
}

static double changes_compute_sum_rows(const struct ledger *l, row_cost_fn cost)
{
	double sum = 0;

	for (code_idx i = 0; i < l->trace->n_code; i++)
		sum += cost(&l->rows[i]);
	return sum;
}

#define PER_INT_DIVISION 12 /* a correction step, a remainder, signs */
#define PER_CONVERSION 6    /* the reciprocal before it */
#define PER_DIVISION 9
#define PER_FUNCTION 25 /* the shorter of them, the reduction */

static void divisions(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double high = changes_compute_sum_rows(l, int_division),
	       check = changes_compute_sum_rows(l, division);
	double functions = changes_compute_sum_rows(l, power);
	double steps = PER_INT_DIVISION * high + PER_CONVERSION * ledger_count(l, "F2I");

	if (high > .01 * l->executed && ledger_count(l, "MUFU.RCP") > 0 &&
		ledger_count(l, "F2I") > 0) {
		change_begin(m, CHANGE_INT_DIVISION, LEDGER_WASTE);
		change_counted(m, "about %.0f %% of all instructions divide integers",
			100 * lesser(.9, steps / l->executed));
		expansion(m, steps, int_division);
		m->c.best.unit[MACHINE_XU] = m->c.worst.unit[MACHINE_XU] = .1;
		change_end(m);
	}
	if (check > .01 * l->executed) {
		change_begin(m, CHANGE_DIVISION, LEDGER_WASTE);
		change_counted(m, "about %.0f %% of all instructions are IEEE float division",
			100 * lesser(.9, PER_DIVISION * check / l->executed));
		expansion(m, PER_DIVISION * check, division);
		change_end(m);
	}
	if (functions > .005 * l->executed) {
		change_begin(m, CHANGE_POWER, LEDGER_WASTE);
		change_counted(m,
			"about %.0f %% of all instructions expand powers or reduce angles",
			100 * lesser(.9, PER_FUNCTION * functions / l->executed));
		expansion(m, PER_FUNCTION * functions, power);
		change_end(m);
	}
}

/* --- tiles of matrix instructions ----------------------------------------------------------- */

static double operand_load(const struct ledger_row *r)
{
	return ledger_is_any(r, "LDSM LDS LDG LDGSTS") ? r->n : 0;
}

bool ledger_has_tile(const struct ledger *l)
{
	double matrix = ledger_count(l, MATRIX_OPS);

	return matrix >= .01 * l->executed &&
	       changes_compute_sum_rows(l, operand_load) >= .25 * matrix;
}

void effect_tile(const struct ledger *l, double side, struct ledger_change *c)
{
	double less = 1 - 1 / side;
	double wait = ledger_latency_of(l, LEDGER_LONG) + ledger_latency_of(l, LEDGER_SHORT) +
		      ledger_latency_of(l, LEDGER_BARRIER);

	for (unsigned i = 0; i < 2; i++) {
		struct ledger_effect *x = i ? &c->worst : &c->best;
		/* with the operands goes what serves them, or only half of the operands */
		double left = greater(.05, 1 - (i ? .5 : 1.2) * less);

		effect_scale_sm(x, left);
		x->unit[MACHINE_TENSOR] = 1;
		x->unit[MACHINE_L2] = x->unit[MACHINE_DRAM] = left;
		x->latency = 1 - wait * (1 - left);
	}
}

/* A tile twice as large in both directions moves half the operands per matrix instruction, on every
 * level. Only where matrix instructions wait for operands, and the tensor cores have room. */
static void tile(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double matrix = ledger_count(l, MATRIX_OPS), narrow = ledger_count(l, NARROW_OPS);
	double loads = changes_compute_sum_rows(l, operand_load);

	if (!ledger_has_tile(l) || l->unit[MACHINE_TENSOR].cycles > .6 * l->window_cyc ||
		narrow < .5 * matrix)
		return;
	change_begin(m, CHANGE_TILE, LEDGER_WASTE);
	change_counted(m,
		"%.2f loads of operands a matrix instruction, and the tensor cores are at %.0f %%",
		loads / matrix, l->unit[MACHINE_TENSOR].mean_pct);
	m->c.step = "twice as large in both directions";
	effect_tile(l, 2, &m->c);
	change_rows(m, operand_load);
	change_end(m);
}

/* --- sums of products without tensor cores --------------------------------------------------- */

#define MOSTLY .4 /* of all instructions */
#define BUSY .6	  /* of the time */

/* "FFMA R1, R2, R3, R1" adds to what it writes; a polynomial multiplies it. */
static double sum_of_products(const struct ledger_row *r)
{
	const char *to = first_operand(r), *last = to ? strrchr(to, ',') : NULL;

	if (!ledger_is_any(r, "FFMA HFMA2") || !last)
		return 0;
	return same_register(to, last + 1 + strspn(last + 1, " ")) ? r->n : 0;
}

/* Tensor cores do a product of matrices in a sixteenth of the instructions or less; what feeds them
 * stays. Unfavourable: the half of it that has a shape for them. */
static void tensor(struct change_maker *m)
{
	const struct ledger *l = m->l;
	double n = changes_compute_sum_rows(l, sum_of_products),
	       share = n / greater(1, l->executed);
	double busy = greater(l->unit[MACHINE_FMA].cycles, l->unit[MACHINE_ISSUE].cycles);

	if (share < MOSTLY || ledger_count(l, MATRIX_OPS) > 0 || busy < BUSY * l->window_cyc ||
		l->rates->practical[MACHINE_TENSOR] <= 0)
		return;
	change_begin(m, CHANGE_TENSOR, LEDGER_PARALLELISM);
	change_counted(m,
		"%.0f %% of all instructions add products one by one, and tensor cores are idle",
		100 * share);
	for (unsigned i = 0; i < 2; i++) {
		struct ledger_effect *x = i ? &m->c.worst : &m->c.best;
		double left = i ? .5 : 1.0 / 16;

		x->unit[MACHINE_FMA] = left;
		x->unit[MACHINE_ISSUE] = 1 - share * (1 - left);
		x->queue = ledger_queue_of(l, LEDGER_MATH, left);
		x->latency = 1 - ledger_latency_of(l, LEDGER_WAIT) * (1 - left);
	}
	change_rows(m, sum_of_products);
	change_end(m);
}

void ledger_compute_changes(struct change_maker *m)
{
	tensor(m);
	lanes(m);
	double_precision(m);
	special(m);
	divisions(m);
	tile(m);
}
