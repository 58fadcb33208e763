/* SPDX-License-Identifier: Apache-2.0 */
/*
 * derived.c: reads definitions, one per line, and evaluates all of them. Divisions: evaluation; as
 * JSON; the list.
 */
#include "analysis/counters/derived.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "analysis/counters/derived_internal.h"
#include "base/mem.h"

/* --- evaluation ------------------------------------------------------------------------------- */

/*
 * Evaluates one definition while reading it: a recursive descent over its text. The
 * definitions it names are evaluated on the way, each once; one that is being evaluated already is
 * a cycle.
 */

#define MAX_DEPTH 64

struct parse {
	struct derived *d;
	const struct derived_definition *def;
	size_t pos;
	unsigned depth;
	struct derived_fault fault;
	size_t fault_pos;
};

static bool expr(struct parse *p, struct derived_tensor *out);

static bool derived_evaluate(struct derived *d, uint32_t i, unsigned depth);

static bool derived_fail_at(struct parse *p, size_t pos)
{
	if (p->fault.code && p->fault_pos == 0)
		p->fault_pos = pos + 1;
	return false;
}

static char derived_peek(struct parse *p)
{
	const struct str s = p->def->text;

	while (p->pos < s.n && (s.p[p->pos] == ' ' || s.p[p->pos] == '\t'))
		p->pos++;
	if (p->pos >= s.n)
		return '\0';
	return s.p[p->pos];
}

static size_t here(struct parse *p)
{
	derived_peek(p);
	return p->pos;
}

static bool accept(struct parse *p, const char *word)
{
	size_t n = strlen(word);

	derived_peek(p);
	if (p->def->text.n - p->pos < n || memcmp(p->def->text.p + p->pos, word, n) != 0)
		return false;
	p->pos += n;
	return true;
}

static bool syntax(struct parse *p, const char *wanted)
{
	char c = derived_peek(p);
	size_t pos = p->pos;

	if (c)
		derived_fault_set(p->d, &p->fault, "syntax", "expected %s, found '%c'", wanted, c);
	else
		derived_fault_set(p->d, &p->fault, "syntax", "expected %s, found the end", wanted);
	return derived_fail_at(p, pos);
}

static bool expect(struct parse *p, const char *word)
{
	char wanted[8];

	if (accept(p, word))
		return true;
	snprintf(wanted, sizeof(wanted), "'%.3s'", word);
	return syntax(p, wanted);
}

static bool is_name_char(char c, bool is_first)
{
	return char_is_word(c) && !(is_first && char_is_digit(c));
}

static bool is_known(const struct derived *d, struct str name)
{
	for (uint32_t i = d->n; i-- > 0;)
		if (str_eq(d->v[i].name, name))
			return true;
	return derived_find_counter(d, name) != NULL;
}

/* A name may contain colons (counter masks); if such a name is unknown, it ends before the
 * colon. */
static struct str name_here(struct parse *p)
{
	const struct str s = p->def->text;
	size_t start, end, colon = 0;

	derived_peek(p);
	start = end = p->pos;
	while (end < s.n && is_name_char(s.p[end], end == start)) {
		end++;
		if (end + 1 < s.n && s.p[end] == ':' && end > start &&
			is_name_char(s.p[end + 1], false)) {
			colon = colon ? colon : end;
			end += 2;
		}
	}
	if (colon && !is_known(p->d, str_sub(s, start, end - start)))
		end = colon;
	return str_sub(s, start, end - start);
}

static bool word_next(struct parse *p, const char *word)
{
	struct str name = name_here(p);

	if (!str_is(name, word))
		return false;
	p->pos += name.n;
	return true;
}

static bool find_number(const struct derived *d, struct str name, double *out)
{
	static const char *const names[] = {"NUM_XCC", "NUM_SE", "NUM_CU", "NUM_SAMPLES"};
	const uint32_t values[] = {1, d->n_ses, d->n_cus, d->n_samples};

	for (unsigned i = 0; i < 4; i++) {
		if (str_is(name, names[i])) {
			*out = values[i];
			return true;
		}
	}
	return false;
}

static bool use_definition(struct parse *p, uint32_t i, size_t pos, struct derived_tensor *out)
{
	struct derived_definition *x = &p->d->v[i];

	if (x->state == DERIVED_BUSY) {
		derived_fault_set(
			p->d, &p->fault, "cycle", "%.*s is defined by itself", STR_ARG(x->name));
		return derived_fail_at(p, pos);
	}
	if (x->state == DERIVED_NEW)
		derived_evaluate(p->d, i, p->depth + 1);
	if (x->state == DERIVED_BAD) {
		bool is_cycle = str_is(str_of(x->code), "cycle");

		derived_fault_set(p->d, &p->fault, is_cycle ? "cycle" : "missing",
			"%.*s has no value: %s", STR_ARG(x->name), x->message);
		return derived_fail_at(p, pos);
	}
	*out = x->value;
	return true;
}

static bool use_name(struct parse *p, struct derived_tensor *out)
{
	struct str name = name_here(p);
	size_t pos = p->pos;
	const struct derived_counter *c;
	double v;

	if (name.n == 0)
		return syntax(p, "a name or a number");
	p->pos += name.n;
	for (uint32_t i = p->d->n; i-- > 0;)
		if (str_eq(p->d->v[i].name, name))
			return use_definition(p, i, pos, out);
	if (find_number(p->d, name, &v))
		return tensor_number(p->d, v, out, &p->fault) || derived_fail_at(p, pos);
	c = derived_find_counter(p->d, name);
	if (!c && str_starts(name, "SQ_"))
		c = derived_find_counter(p->d, str_sub(name, 3, name.n));
	if (!c) {
		derived_fault_set(p->d, &p->fault, "missing",
			"no counter or definition is called %.*s", STR_ARG(name));
		return derived_fail_at(p, pos);
	}
	*out = c->value;
	return true;
}

static bool number(struct parse *p, double *out)
{
	const struct str s = p->def->text;
	char text[64], *end;
	size_t n = 0, digits = 0;

	derived_peek(p);
	while (p->pos + n < s.n && n + 1 < sizeof(text)) {
		char c = s.p[p->pos + n];
		bool is_sign = n > 0 && (c == '+' || c == '-') &&
			       (text[n - 1] == 'e' || text[n - 1] == 'E');

		if (!(c >= '0' && c <= '9') && c != '.' && !is_sign &&
			!((c == 'e' || c == 'E') && digits > 0))
			break;
		digits += c >= '0' && c <= '9';
		text[n++] = c;
	}
	text[n] = '\0';
	*out = digits > 0 ? strtod(text, &end) : NAN;
	if (digits == 0 || end == text)
		return syntax(p, "a number");
	p->pos += (size_t)(end - text);
	return true;
}

static bool axis_word(struct parse *p, unsigned *axes)
{
	static const struct {
		const char *upper, *lower;
		unsigned axes;
	} words[] = {{"XCC", "xcc", 1}, {"SE", "se", 2}, {"CU", "cu", 4}, {"WGP", "wgp", 4},
		{"INSTANCE", "instance", 4}, {"TIME", "time", 8}, {"SAMPLES", "samples", 8},
		{"All", "all", ALL_AXES}};
	char c = derived_peek(p);

	if (c >= '0' && c <= '3') {
		p->pos++;
		*axes = 1u << (c - '0');
		return true;
	}
	for (unsigned i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		if (word_next(p, words[i].upper) || word_next(p, words[i].lower)) {
			*axes = words[i].axes;
			return true;
		}
	}
	return syntax(p, "an axis (XCC, SE, CU, TIME)");
}

/* [", axis = ..."]; without it *axes is unchanged. */
static bool axis_option(struct parse *p, bool is_list, unsigned *axes)
{
	unsigned one;

	if (!accept(p, ","))
		return true;
	if (!word_next(p, "axis"))
		return syntax(p, "'axis'");
	if (!expect(p, "="))
		return false;
	if (!is_list || !accept(p, "["))
		return axis_word(p, axes);
	*axes = 0;
	do {
		if (!axis_word(p, &one))
			return false;
		*axes |= one;
	} while (accept(p, ","));
	return expect(p, "]");
}

static bool axis_of(struct parse *p, unsigned axes, unsigned *out)
{
	for (unsigned a = 0; a < DERIVED_AXES; a++) {
		if (axes == 1u << a) {
			*out = a;
			return true;
		}
	}
	derived_fault_set(p->d, &p->fault, "syntax", "one axis is wanted here, not all of them");
	return derived_fail_at(p, p->pos);
}

static bool operand(struct parse *p, struct derived_tensor *out);

/* A number, or a name or parenthesised expression whose value is one number. */
static bool derived_whole(struct parse *p, int64_t *out)
{
	struct derived_tensor x;
	size_t pos = p->pos;

	if (!operand(p, &x))
		return false;
	if (x.dim[0] != 1 || x.dim[1] != 1 || x.dim[2] != 1 || x.dim[3] != 1 ||
		!(fabs(x.v[0]) < 1e9)) {
		derived_fault_set(p->d, &p->fault, "shape", "an index is one number");
		return derived_fail_at(p, pos);
	}
	*out = (int64_t)x.v[0];
	return true;
}

static bool signed_whole(struct parse *p, int64_t *out)
{
	bool is_negative = accept(p, "-");

	if (!derived_whole(p, out))
		return false;
	*out = is_negative ? -*out : *out;
	return true;
}

static bool select_call(struct parse *p, struct derived_tensor *x)
{
	struct derived_range r = {.step = 1, .is_one = true};
	unsigned axes = 8, axis;
	size_t pos = p->pos;

	if (!expect(p, ",") || !signed_whole(p, &r.start))
		return false;
	if (accept(p, ":")) {
		r.is_one = false;
		if (!signed_whole(p, &r.stop) || (accept(p, ":") && !derived_whole(p, &r.step)))
			return false;
		if (r.stop < 0)
			r.stop = 0;
	}
	if (!axis_option(p, false, &axes) || !axis_of(p, axes, &axis))
		return false;
	return tensor_select(p->d, &r, axis, x, &p->fault) || derived_fail_at(p, pos);
}

static bool remove_call(struct parse *p, struct derived_tensor *x)
{
	unsigned axes = 8, axis;
	int64_t at;
	size_t pos = p->pos;

	if (!expect(p, ",") || !signed_whole(p, &at) || !axis_option(p, false, &axes) ||
		!axis_of(p, axes, &axis))
		return false;
	return tensor_remove(p->d, at, axis, x, &p->fault) || derived_fail_at(p, pos);
}

static bool delta_call(struct parse *p, struct derived_tensor *x)
{
	unsigned axes = 8, axis;
	size_t pos = p->pos;

	if (!axis_option(p, false, &axes) || !axis_of(p, axes, &axis))
		return false;
	return tensor_delta(p->d, axis, x, &p->fault) || derived_fail_at(p, pos);
}

static bool fold_call(struct parse *p, enum derived_fold fold, struct derived_tensor *x)
{
	struct derived_tensor in = *x;
	unsigned axes = ALL_AXES;
	size_t pos = p->pos;

	if (!axis_option(p, true, &axes))
		return false;
	return tensor_fold(p->d, fold, axes, &in, x, &p->fault) || derived_fail_at(p, pos);
}

enum bracket {
	CALL_SUM,
	CALL_MEAN,
	CALL_MIN,
	CALL_MAX,
	CALL_SELECT,
	CALL_REMOVE,
	CALL_DELTA,
	CALL_NONE
};
static const char *const BRACKET_NAME[] = {
	"sum", "mean", "min", "max", "select", "remove", "delta"};

static bool bracket_body(struct parse *p, enum bracket call, struct derived_tensor *out)
{
	if (!operand(p, out))
		return false;
	switch (call) {
	case CALL_SUM:
		return fold_call(p, FOLD_SUM, out);
	case CALL_MEAN:
		return fold_call(p, FOLD_MEAN, out);
	case CALL_MIN:
		return fold_call(p, FOLD_MIN, out);
	case CALL_MAX:
		return fold_call(p, FOLD_MAX, out);
	case CALL_SELECT:
		return select_call(p, out);
	case CALL_REMOVE:
		return remove_call(p, out);
	case CALL_DELTA:
	case CALL_NONE:
		break;
	}
	return delta_call(p, out);
}

static bool linear_call(struct parse *p, struct derived_tensor *out)
{
	struct derived_tensor n;
	unsigned axes = 8, axis;
	size_t pos = p->pos;

	if (!expr(p, &n) || !axis_option(p, false, &axes) || !axis_of(p, axes, &axis) ||
		!expect(p, ")"))
		return false;
	return tensor_linear(p->d, n.v[0], axis, out, &p->fault) || derived_fail_at(p, pos);
}

static bool extreme_call(struct parse *p, enum derived_op op, struct derived_tensor *out)
{
	struct derived_tensor ab[2];
	size_t pos = p->pos;

	if (!expr(p, &ab[0]))
		return false;
	if (derived_peek(p) != ',')
		return syntax(p, "','");
	while (accept(p, ",")) {
		if (!expr(p, &ab[1]))
			return false;
		if (!tensor_apply(p->d, op, ab, out, &p->fault))
			return derived_fail_at(p, pos);
		ab[0] = *out;
	}
	return expect(p, ")");
}

/* The word before '[' or '(' if it is a function; the position is then after the bracket. */
static enum bracket bracket_here(struct parse *p)
{
	struct str name = name_here(p);
	size_t start = p->pos;

	for (unsigned i = 0; i < CALL_NONE; i++) {
		if (!str_is(name, BRACKET_NAME[i]))
			continue;
		p->pos += name.n;
		if (accept(p, "["))
			return i;
		p->pos = start;
	}
	return CALL_NONE;
}

static bool deeper(struct parse *p)
{
	if (++p->depth <= MAX_DEPTH)
		return true;
	derived_fault_set(p->d, &p->fault, "syntax", "nested more than %d deep", MAX_DEPTH);
	return derived_fail_at(p, p->pos);
}

static bool operand(struct parse *p, struct derived_tensor *out)
{
	enum bracket call = bracket_here(p);
	double v;
	bool ok;
	char c;

	if (!deeper(p))
		return false;
	c = derived_peek(p);
	if (call != CALL_NONE)
		ok = bracket_body(p, call, out) && expect(p, "]");
	else if (accept(p, "("))
		ok = expr(p, out) && expect(p, ")");
	else if ((c >= '0' && c <= '9') || c == '.')
		ok = number(p, &v) && tensor_number(p->d, v, out, &p->fault);
	else
		ok = use_name(p, out);
	p->depth--;
	return ok || derived_fail_at(p, p->pos);
}

static bool call_word(struct parse *p, const char *word)
{
	size_t start = p->pos;

	if (word_next(p, word) && accept(p, "("))
		return true;
	p->pos = start;
	return false;
}

static bool primary(struct parse *p, struct derived_tensor *out)
{
	struct derived_tensor ab[2];
	size_t pos = p->pos;
	bool ok;

	if (!deeper(p))
		return false;
	if (accept(p, "-"))
		ok = primary(p, &ab[1]) && tensor_number(p->d, 0, &ab[0], &p->fault) &&
		     tensor_apply(p->d, OP_SUB, ab, out, &p->fault);
	else if (call_word(p, "linear"))
		ok = linear_call(p, out);
	else if (call_word(p, "max"))
		ok = extreme_call(p, OP_MAX, out);
	else if (call_word(p, "min"))
		ok = extreme_call(p, OP_MIN, out);
	else
		ok = operand(p, out);
	p->depth--;
	return ok || derived_fail_at(p, pos);
}

struct derived_level { /* operators of one precedence, longer ones first */
	struct {
		const char *word;
		enum derived_op op;
	} ops[5];
};

static const struct derived_level LEVELS[] = {
	{{{"|", OP_OR}}},
	{{{"&", OP_AND}}},
	{{{"==", OP_EQ}, {"<=", OP_LE}, {">=", OP_GE}, {"<", OP_LT}, {">", OP_GT}}},
	{{{"+", OP_ADD}, {"-", OP_SUB}}},
	{{{"*", OP_MUL}, {"/", OP_DIV}}},
};
#define N_LEVELS (sizeof(LEVELS) / sizeof(LEVELS[0]))

static bool accept_op(struct parse *p, unsigned level, enum derived_op *op)
{
	for (unsigned i = 0; i < 5 && LEVELS[level].ops[i].word; i++) {
		if (accept(p, LEVELS[level].ops[i].word)) {
			*op = LEVELS[level].ops[i].op;
			return true;
		}
	}
	return false;
}

static bool level_expr(struct parse *p, unsigned level, struct derived_tensor *out)
{
	struct derived_tensor ab[2];
	enum derived_op op;
	size_t pos;

	if (level == N_LEVELS)
		return primary(p, out);
	if (!level_expr(p, level + 1, out))
		return false;
	for (pos = here(p); accept_op(p, level, &op); pos = here(p)) {
		ab[0] = *out;
		if (!level_expr(p, level + 1, &ab[1]))
			return false;
		if (!tensor_apply(p->d, op, ab, out, &p->fault))
			return derived_fail_at(p, pos);
	}
	return true;
}

static bool expr(struct parse *p, struct derived_tensor *out)
{
	return level_expr(p, 0, out);
}

/* Evaluates definition i and what it needs; its state is OK or BAD afterwards. */
static bool derived_evaluate(struct derived *d, uint32_t i, unsigned depth)
{
	struct derived_definition *x = &d->v[i];
	struct parse p = {.d = d, .def = x, .depth = depth};
	bool ok;

	if (x->state != DERIVED_NEW)
		return x->state == DERIVED_OK;
	x->state = DERIVED_BUSY;
	ok = depth < MAX_DEPTH && expr(&p, &x->value) &&
	     (derived_peek(&p) == '\0' || syntax(&p, "an operator or the end"));
	if (ok) {
		x->state = DERIVED_OK;
		return true;
	}
	x->state = DERIVED_BAD;
	x->code = p.fault.code ? p.fault.code : "syntax";
	x->message = p.fault.message ? p.fault.message : "definitions are nested too deep";
	x->error_line = x->line;
	x->error_column = x->column + (uint32_t)(p.fault_pos ? p.fault_pos - 1 : 0);
	return false;
}

/* --- as JSON ---------------------------------------------------------------------------------- */

#define MAX_ROWS 256 /* rows per definition: SE times CU */
#define DIGITS 9

/* One row of values over time: the mean of each `group` neighbours. */
static void derived_put_values(const double *v, uint32_t n, uint32_t group, struct json_writer *w)
{
	json_w_kv_row(w, "values");
	for (uint32_t i = 0; i < n; i += group) {
		uint32_t m = n - i < group ? n - i : group;
		double sum = 0;

		for (uint32_t k = 0; k < m; k++)
			sum += v[i + k];
		json_w_sig(w, sum / m, DIGITS);
	}
	json_w_end(w);
}

static void put_extent(const struct derived_tensor *x, struct json_writer *w)
{
	size_t n = (size_t)x->dim[0] * x->dim[1] * x->dim[2] * x->dim[3], finite = 0;
	double low = NAN, high = NAN, sum = 0;
	const double *v = x->v;

	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i]))
			continue;
		low = fmin(low, v[i]);
		high = fmax(high, v[i]);
		sum += v[i];
		finite++;
	}
	json_w_key(w, "min");
	json_w_sig(w, low, DIGITS);
	json_w_key(w, "max");
	json_w_sig(w, high, DIGITS);
	json_w_key(w, "mean");
	json_w_sig(w, finite ? sum / (double)finite : NAN, DIGITS);
}

static void derived_put_rows(const struct derived *d, const struct derived_tensor *x,
	uint32_t points, struct json_writer *w)
{
	uint32_t n = x->dim[3], group = points && n > points ? (n + points - 1) / points : 1,
		 rows = 0;

	json_w_kv_u64(w, "every", group);
	json_w_kv_array(w, "rows");
	for (uint32_t se = 0; se < x->dim[1]; se++) {
		for (uint32_t cu = 0; cu < x->dim[2] && rows < MAX_ROWS; cu++, rows++) {
			json_w_row_object(w);
			if (x->dim[1] == d->n_ses && d->n_ses > 1)
				json_w_kv_u64(w, "se", d->trace->clocks[d->se_clock[se]].id);
			if (x->dim[2] > 1)
				json_w_kv_u64(w, "cu", cu);
			derived_put_values(x->v + ((size_t)se * x->dim[2] + cu) * n, n, group, w);
			json_w_end(w);
		}
	}
	json_w_end(w);
}

static void put_definition(const struct derived *d, const struct derived_definition *x,
	uint32_t points, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_str(w, "name", x->name);
	json_w_kv_str(w, "text", x->text);
	json_w_kv_bool(w, "default", x->is_default);
	json_w_kv_bool(w, "hidden", x->is_hidden);
	json_w_kv_u64(w, "line", x->line);
	json_w_key(w, "error");
	if (x->state != DERIVED_OK) {
		json_w_object(w);
		json_w_kv_cstr(w, "code", x->code);
		json_w_kv_cstr(w, "message", x->message);
		json_w_kv_u64(w, "line", x->error_line);
		json_w_kv_u64(w, "column", x->error_column);
		json_w_end(w);
	} else {
		json_w_null(w);
		json_w_kv_row(w, "shape");
		for (unsigned a = 0; a < DERIVED_AXES; a++)
			json_w_u64(w, x->value.dim[a]);
		json_w_end(w);
		put_extent(&x->value, w);
		if (!x->is_hidden)
			derived_put_rows(d, &x->value, points, w);
	}
	json_w_end(w);
}

static void derived_put_counter(const struct derived *d, const struct derived_counter *x,
	uint32_t points, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_str(w, "name", x->name);
	json_w_kv_cstr(w, "unit", x->unit);
	put_extent(&x->value, w);
	derived_put_rows(d, &x->value, points, w);
	json_w_end(w);
}

void derived_json(const struct derived *d, uint32_t points, struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_object(w, "axes");
	json_w_kv_u64(w, "first_cycle", d->first_cyc);
	json_w_kv_u64(w, "step", d->step_cyc);
	json_w_kv_bool(w, "coarse", d->is_coarse);
	json_w_kv_u64(w, "samples", d->n_samples);
	json_w_kv_u64(w, "ses", d->n_ses);
	json_w_kv_u64(w, "cus", d->n_cus);
	json_w_end(w);
	json_w_kv_array(w, "counters");
	for (uint32_t i = 0; i < d->n_counters; i++)
		if (!d->counters[i].is_clock)
			derived_put_counter(d, &d->counters[i], points, w);
	json_w_end(w);
	json_w_kv_array(w, "definitions");
	for (uint32_t i = 0; i < d->n; i++)
		put_definition(d, &d->v[i], points, w);
	json_w_end(w);
	json_w_end(w);
}

/* --- the list --------------------------------------------------------------------------------- */

/* Utilization of the pipes, matrix rates; a capture without a counter loses only what depends on
 * it.
 */
#define BUSY "sum[max[BUSY_CU_CYCLES, axis=TIME], axis=[XCC,SE,CU]] + 1E-6\n"
#define UTIL(x, factor)                                                                            \
#x "_util := " #factor " * sum[ACTIVE_INST_" #x ", axis=[XCC,SE,CU]] / _reduce_busy\n"
#define RATE(x)                                                                                    \
#x "_TFLOPS := 512E-12 * sum[INSTS_VALU_MFMA_MOPS_" #x                                     \
	   ", axis=[XCC,SE,CU]] / _delta_seconds\n"
static const char DEFAULTS[] = "_reduce_busy := " BUSY UTIL(MISC, 100) UTIL(SCA, 100) UTIL(
	FLAT, 200) UTIL(LDS, 200) UTIL(VMEM,
	200) "_mfmabusy := sum[VALU_MFMA_BUSY_CYCLES, axis=[XCC,SE,CU]] / _reduce_busy / 4\n"
	     "_valubusy := sum[ACTIVE_INST_VALU, axis=[XCC,SE,CU]] / _reduce_busy\n"
	     "VALU_util := 100 * _valubusy\n"
	     "MFMA_util := 100 * _mfmabusy\n"
	     "GPUutil := max(LDS_util, VMEM_util, FLAT_util, min(MFMA_util + VALU_util * (1 - _mfmabusy) / (1.7 - _mfmabusy), 100))\n"
	     "_clock_delta := select[RCLOCK, -1, axis=TIME] - select[RCLOCK, 0, axis=TIME]\n"
	     "_frequency := 1E8 * select[_clock_delta, 0, axis=CU] / select[_clock_delta, 1, axis=CU]\n"
	     "_delta_seconds := min[delta[SCLOCK, axis=TIME]] / _frequency + 1E-13\n" RATE(I8)
		     RATE(F8) RATE(F16) RATE(BF16) RATE(F32) RATE(F64) RATE(XF32) RATE(F6F4);

static bool derived_is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!is_name_char(c, i == 0) && !(i > 0 && c == ':'))
			return false;
	}
	return s.n > 0;
}

static void spoil(struct derived_definition *x, const char *message)
{
	x->state = DERIVED_BAD;
	x->code = "syntax";
	x->message = message;
	x->error_line = x->line;
	x->error_column = x->column;
}

static void read_line(struct derived *d, struct str line, uint32_t number, bool is_default)
{
	struct derived_definition *x = &d->v[d->n];
	struct str body = line;
	ptrdiff_t hash = str_find(line, "#"), sign;

	if (hash >= 0)
		body = str_sub(line, 0, (size_t)hash);
	body = str_trim(body);
	if (body.n == 0)
		return;
	*x = (struct derived_definition){.line = number,
		.column = (uint32_t)(body.p - line.p) + 1,
		.is_default = is_default};
	d->n++;
	sign = str_find(body, ":=");
	x->name = str_trim(sign < 0 ? body : str_sub(body, 0, (size_t)sign));
	x->is_hidden = x->name.n > 0 && x->name.p[0] == '_';
	if (sign < 0) {
		spoil(x, "expected `name := expression`");
		return;
	}
	if (!derived_is_name(x->name)) {
		spoil(x, "a name has letters, digits and _");
		return;
	}
	x->text = str_trim(str_sub(body, (size_t)sign + 2, body.n));
	x->column = (uint32_t)(x->text.p - line.p) + 1;
}

static void derived_read_text(struct derived *d, struct str text, bool is_default)
{
	uint32_t number = 0;
	size_t at = 0;

	while (at < text.n && d->n < DERIVED_MAX_DEFINITIONS) {
		size_t end = at;

		while (end < text.n && text.p[end] != '\n' && text.p[end] != ';')
			end++;
		read_line(d, str_sub(text, at, end - at), ++number, is_default);
		at = end + 1;
	}
}

struct derived *derived_new(
	const struct trace *t, struct str text, bool with_defaults, struct incore_error *e)
{
	struct derived *d = mem_zalloc(1, sizeof(*d));
	char *copy;

	if (!d)
		return err_nomem_null(e);
	arena_init(&d->arena);
	d->trace = t;
	d->v = arena_zalloc(&d->arena, DERIVED_MAX_DEFINITIONS + 1, sizeof(*d->v));
	copy = arena_strndup(&d->arena, text.n ? text.p : "", text.n);
	if (!d->v || !copy) {
		err_nomem(e);
		derived_free(d);
		return NULL;
	}
	if (!derived_load_counters(d, e)) {
		derived_free(d);
		return NULL;
	}
	if (with_defaults)
		derived_read_text(d, (struct str){DEFAULTS, sizeof(DEFAULTS) - 1}, true);
	derived_read_text(d, (struct str){copy, text.n}, false);
	for (uint32_t i = 0; i < d->n; i++)
		derived_evaluate(d, i, 0);
	return d;
}

void derived_free(struct derived *d)
{
	if (!d)
		return;
	arena_deinit(&d->arena);
	mem_free(d);
}
