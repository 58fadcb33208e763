/* SPDX-License-Identifier: Apache-2.0 */
/* pto_view.c: how many elements of its parameter can a tensor view reach? */
#include "replay/source/pto_read.h"

typedef __int128 wide;

struct view {
	uint32_t base;
	unsigned rank, n_strides;
	uint32_t shape[PTO_MAX_RANK], strides[PTO_MAX_RANK]; /* value indices */
	bool has_strides;
	uint32_t line;
};

/* "%3 (line 9: memref.load of %2 (line 8: ...))" */
static void describe(const struct pto_reader *r, uint32_t value, unsigned depth, struct strbuf *b)
{
	const struct pto_value *v = &r->values.v[value];

	sb_printf(b, "%.*s", STR_ARG(r->names.strs[value]));
	if (!v->op.n) {
		sb_puts(b, " (not defined before its use)");
		return;
	}
	sb_printf(b, " (line %u: %.*s", v->line, STR_ARG(v->op));
	for (unsigned i = 0; i < 3 && depth < 6; i++)
		if (v->from[i] != PTO_NO_VALUE && r->values.v[v->from[i]].kind == PTO_UNKNOWN) {
			sb_puts(b, " of ");
			describe(r, v->from[i], depth + 1, b);
			break;
		}
	sb_putc(b, ')');
}

static bool no_bound(struct pto_reader *r, const struct view *w, const char *what, uint32_t value)
{
	struct strbuf b = {0};

	describe(r, value, 0, &b);
	pto_fail(r, w->line,
		"function @%s: %s of a tensor view has no bound: %s; expected a constant, a scalar parameter, the block number or a loop variable, and arithmetic on them",
		r->func->name, what, b.p ? b.p : "");
	sb_free(&b);
	return false;
}

/* [ %a, %b ] or [4, 8] */
static bool read_list(struct pto_reader *r, uint32_t *out, unsigned *n)
{
	if (!pto_take(&r->lex, "["))
		return pto_fail(
			r, r->lex.now.line, "expected '[', found '%.*s'", STR_ARG(r->lex.now.text));
	for (*n = 0; !pto_at(&r->lex, "]"); pto_take(&r->lex, ",")) {
		if (*n == PTO_MAX_RANK)
			return pto_fail(r, r->lex.now.line, "a view of more than %u dimensions",
				PTO_MAX_RANK);
		if (r->lex.now.kind != PTO_VALUE && r->lex.now.kind != PTO_NUMBER)
			return pto_fail(r, r->lex.now.line, "expected a value or ']', found '%.*s'",
				STR_ARG(r->lex.now.text));
		out[*n] = pto_value_at(r, r->lex.now.text);
		if (out[*n] == PTO_NO_VALUE)
			return err_nomem(r->e);
		if (r->lex.now.kind == PTO_NUMBER) {
			struct pto_value *v = &r->values.v[out[*n]];

			*v = (struct pto_value){.kind = PTO_INTEGER,
				.op = STR("constant"),
				.line = r->lex.now.line,
				.from = {PTO_NO_VALUE, PTO_NO_VALUE, PTO_NO_VALUE}};
			if (!str_to_i64(r->lex.now.text, &v->range.lo))
				return pto_fail(r, r->lex.now.line, "'%.*s' is no integer",
					STR_ARG(r->lex.now.text));
			v->range.hi = v->range.lo;
		}
		++*n;
		pto_lex_next(&r->lex);
	}
	pto_lex_next(&r->lex);
	return true;
}

static bool read_operands(struct pto_reader *r, struct view *w)
{
	w->line = r->lex.now.line;
	if (r->lex.now.kind != PTO_VALUE)
		return pto_fail(r, w->line,
			"expected a pointer behind pto.make_tensor_view, found '%.*s'",
			STR_ARG(r->lex.now.text));
	w->base = pto_value_at(r, r->lex.now.text);
	if (w->base == PTO_NO_VALUE)
		return err_nomem(r->e);
	pto_lex_next(&r->lex);
	pto_take(&r->lex, ",");
	if (!pto_take(&r->lex, "shape") || !pto_take(&r->lex, "="))
		return pto_fail(r, w->line, "expected 'shape = [...]', found '%.*s'",
			STR_ARG(r->lex.now.text));
	if (!read_list(r, w->shape, &w->rank))
		return false;
	pto_take(&r->lex, ",");
	if (!pto_take(&r->lex, "strides"))
		return true;
	w->has_strides = true;
	return (pto_take(&r->lex, "=") || pto_fail(r, w->line, "expected '=' behind strides")) &&
	       read_list(r, w->strides, &w->n_strides);
}

static bool footprint(struct pto_reader *r, const struct view *w, uint64_t *out, uint64_t *bounds)
{
	wide extent = 1, product = 1;
	bool is_empty = false;
	bool by_strides = w->has_strides && w->n_strides == w->rank;

	for (unsigned i = 0; i < w->rank; i++) {
		const struct pto_value *n = &r->values.v[w->shape[i]];
		const struct pto_value *s = by_strides ? &r->values.v[w->strides[i]] : NULL;

		if (n->kind != PTO_INTEGER)
			return no_bound(r, w, "a dimension", w->shape[i]);
		if (s && s->kind != PTO_INTEGER)
			return no_bound(r, w, "a stride", w->strides[i]);
		if (n->range.hi < 0 || (s && s->range.lo < 0))
			return pto_fail(r, w->line, "function @%s: a view with a negative %s",
				r->func->name, n->range.hi < 0 ? "dimension" : "stride");
		is_empty |= n->range.hi == 0;
		*bounds |= n->bounds | (s ? s->bounds : 0);
		product *= n->range.hi;
		if (s && n->range.hi > 0)
			extent += (wide)(n->range.hi - 1) * s->range.hi;
		if (product > INT64_MAX || extent > INT64_MAX)
			return pto_fail(r, w->line,
				"function @%s: a view of more than 2^63 elements", r->func->name);
	}
	*out = is_empty ? 0 : (uint64_t)(by_strides ? extent : product);
	return true;
}

bool pto_read_view(struct pto_reader *r)
{
	struct view w = {0};
	const struct pto_value *base;
	struct pto_param *p;
	uint64_t elements = 0, bounds = 0;

	if (!read_operands(r, &w))
		return false;
	base = &r->values.v[w.base];
	if (base->kind != PTO_POINTER)
		return no_bound(r, &w, "the pointer", w.base);
	if (!footprint(r, &w, &elements, &bounds))
		return false;
	if (base->range.lo < 0)
		return pto_fail(r, w.line, "function @%s: a view that may begin before its buffer",
			r->func->name);
	p = &r->func->params[base->param];
	if (elements && __builtin_add_overflow(elements, (uint64_t)base->range.hi, &elements))
		return pto_fail(r, w.line, "function @%s: a view of more than 2^63 elements",
			r->func->name);
	p->n_views++;
	if (elements > p->elements)
		p->elements = elements;
	bounds |= base->bounds;
	for (uint32_t i = 0; i < r->func->n_params; i++)
		r->func->params[i].is_bound |= bounds >> i & 1;
	return true;
}
