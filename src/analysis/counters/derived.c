/* SPDX-License-Identifier: Apache-2.0 */
/* derived.c: reads definitions, one per line, and evaluates all of them. */
#include "analysis/counters/derived_internal.h"

#include "base/mem.h"

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

static bool is_name(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		char c = s.p[i];

		if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_' ||
			    (i > 0 && ((c >= '0' && c <= '9') || c == ':'))))
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
	if (!is_name(x->name)) {
		spoil(x, "a name has letters, digits and _");
		return;
	}
	x->text = str_trim(str_sub(body, (size_t)sign + 2, body.n));
	x->column = (uint32_t)(x->text.p - line.p) + 1;
}

static void read_text(struct derived *d, struct str text, bool is_default)
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
		read_text(d, (struct str){DEFAULTS, sizeof(DEFAULTS) - 1}, true);
	read_text(d, (struct str){copy, text.n}, false);
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
