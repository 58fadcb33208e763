/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testcase.c: lays out in slots the parameters that two files state and must agree on. Parts: the
 * wrapper; test cases.
 */
#include "replay/arguments/testcase.h"

#include <stdlib.h>

#include "args/value.h"
#include "base/file.h"
#include "dump/read/values.h"
#include "replay/source/source_text.h"

/* --- the wrapper ------------------------------------------------------------------------------ */

/* Makes a kernel with typed parameters callable by slots. */

static const char HEAD[] =
	"// Made by incore: calls the kernel below with the arguments of its slots.\n"
	"#include <cstdint>\n";

static const char HELPERS[] =
	"\ntemplate <typename T> static inline AICORE __gm__ T *incore_pointer(__gm__ int64_t *args, int slot)\n"
	"{\n"
	"\t// by its words: the descriptor's name differs between releases of the runtime\n"
	"\t__gm__ uint64_t *address_and_start = reinterpret_cast<__gm__ uint64_t *>(args[slot]);\n\n"
	"\treturn reinterpret_cast<__gm__ T *>(address_and_start[0]) + address_and_start[3];\n"
	"}\n\n"
	"template <typename T> static inline AICORE T incore_scalar(__gm__ int64_t *args, int slot)\n"
	"{\n"
	"\tunion {\n"
	"\t\tint64_t bits;\n"
	"\t\tT value;\n"
	"\t} u = {args[slot]};\n\n"
	"\treturn u.value;\n"
	"}\n";

/* A type is copied into generated text unchanged, so it may only contain characters of types. */
static bool is_plain(const char *s)
{
	for (; *s; s++)
		if (!((*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') ||
			    (*s >= '0' && *s <= '9') || strchr("_:<>, ", *s)))
			return false;
	return true;
}

/* Slots: tensors first, then scalars; parameters keep their own order. */
static bool put_call(const struct kernel_function *f, uint32_t n_tensors, struct strbuf *out,
	struct incore_error *e)
{
	uint32_t tensor = 0, scalar = n_tensors;

	sb_printf(out, "\t%s(", f->name);
	for (uint32_t i = 0; i < f->n_params; i++) {
		const struct kernel_param *p = &f->params[i];

		if (!is_plain(p->type))
			return err_set(e, INCORE_BAD_INPUT, "bad-signature",
				"parameter %u of %s has a type that cannot be called: %s", i,
				f->name, p->type);
		sb_printf(out, "%sincore_%s<%s>(args, %u)", i ? ", " : "",
			p->is_pointer ? "pointer" : "scalar", p->type,
			p->is_pointer ? tensor++ : scalar++);
	}
	sb_puts(out, ");\n");
	return true;
}

static uint32_t count_tensors(const struct kernel_function *f)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n_params; i++)
		n += f->params[i].is_pointer;
	return n;
}

bool testcase_wrapper(
	const struct testcase *t, const char *source, struct strbuf *out, struct incore_error *e)
{
	const struct kernel_signature *s = &t->signature;
	uint32_t n_tensors = count_tensors(&s->main);
	bool ok;

	if (s->form == KERNEL_SLOTS)
		return true;
	if (strpbrk(source, "\"\\\n"))
		return err_file(e, "bad-path", source, INCORE_NO_OFFSET,
			"this path cannot stand in generated text");
	if (s->form == KERNEL_MIXED && count_tensors(&s->aiv) > n_tensors)
		n_tensors = count_tensors(&s->aiv);
	sb_puts(out, HEAD);
	sb_printf(out, "#include \"%s\"\n", source);
	sb_puts(out, HELPERS);
	sb_puts(out, "\nextern \"C\" __aicore__ void kernel_entry(__gm__ int64_t *args)\n{\n");
	if (s->form == KERNEL_MIXED)
		sb_puts(out, "#if defined(__DAV_CUBE__)\n");
	ok = put_call(&s->main, n_tensors, out, e);
	if (ok && s->form == KERNEL_MIXED) {
		sb_puts(out, "#else\n");
		ok = put_call(&s->aiv, n_tensors, out, e);
		sb_puts(out, "#endif\n");
	}
	sb_puts(out, "}\n");
	return ok && (!out->failed || err_nomem(e));
}

/* --- test cases ------------------------------------------------------------------------------- */

#define DEFAULT_DYNAMIC_DIM 256

/* Equivalents of a C++ type: code in a dump, bits and family of a .pto type. */
static const struct type_row {
	const char *cpp;
	uint8_t dtype;
	const char *pto; /* the .pto type must begin with one of these, '|' between */
} TYPES[] = {
	{"float", DTYPE_FLOAT32, "f32|float"},
	{"float32_t", DTYPE_FLOAT32, "f32|float"},
	{"half", DTYPE_FLOAT16, "f16|half"},
	{"float16_t", DTYPE_FLOAT16, "f16|half"},
	{"bfloat16_t", DTYPE_BFLOAT16, "bf16|bfloat16"},
	{"__bf16", DTYPE_BFLOAT16, "bf16|bfloat16"},
	{"int8_t", DTYPE_INT8, "i8|si8"},
	{"uint8_t", DTYPE_UINT8, "i8|ui8|i1"},
	{"bool", DTYPE_BOOL, "i1|i8|ui8"},
	{"int16_t", DTYPE_INT16, "i16|si16"},
	{"uint16_t", DTYPE_UINT16, "i16|ui16"},
	{"int32_t", DTYPE_INT32, "i32|si32"},
	{"int", DTYPE_INT32, "i32|si32"},
	{"uint32_t", DTYPE_UINT32, "i32|ui32"},
	{"unsigned", DTYPE_UINT32, "i32|ui32"},
	{"int64_t", DTYPE_INT64, "i64|si64|index"},
	{"uint64_t", DTYPE_UINT64, "i64|ui64|index"},
	{"float8_e4m3_t", DTYPE_FP8E4M3FN, "f8E4M3"},
	{"float8_e5m2_t", DTYPE_UINT8, "f8E5M2"},
	{"float8_e8m0_t", DTYPE_FP8E8M0, "f8E8M0"},
	{"hifloat8_t", DTYPE_UINT8, "hif8"},
	{"float4_e2m1x2_t", DTYPE_FP4E2M1, "f4"},
	{"float4_e1m2x2_t", DTYPE_UINT8, "f4"},
};

static const struct type_row *type_of(const char *cpp)
{
	struct str s = str_of(cpp);

	if (str_starts(s, "pto::"))
		s = str_sub(s, 5, s.n);
	for (size_t i = 0; i < sizeof(TYPES) / sizeof(*TYPES); i++)
		if (str_is(s, TYPES[i].cpp))
			return &TYPES[i];
	return NULL;
}

static bool type_fits(const struct type_row *t, const char *pto)
{
	struct str rest = str_of(t->pto), part;

	while (str_cut(&rest, "|", &part))
		if (str_eq(str_sub(str_of(pto), 0, part.n), part))
			return true;
	return false;
}

void testcase_deinit(struct testcase *t)
{
	args_deinit(&t->args);
	arena_deinit(&t->arena);
}

/* --- the two files --- */

static bool read_signature(struct testcase *t, const char *source, struct incore_error *e)
{
	struct file_data f = {0};
	struct strbuf masked = {0};
	bool ok =
		file_load(&f, source, e) &&
		source_mask((struct str){(const char *)f.data, f.size}, source, NULL, &masked, e) &&
		signature_read(&t->arena, (struct str){masked.p ? masked.p : "", masked.n}, source,
			&t->signature, e);

	sb_free(&masked);
	file_unload(&f);
	return ok;
}

struct scalar_values {
	struct testcase *t;
	const struct testcase_options *o;
};

/* "NAME=..." or, for a kernel, "KERNEL:NAME=..." among words; returns the part after '='. */
static const char *word_of(const struct text_list *words, const char *kernel, const char *name)
{
	size_t len = strlen(name), head = kernel ? strlen(kernel) + 1 : 0;

	for (size_t i = 0; i < words->n && len; i++) {
		const char *word = words->v[i];

		if (kernel && (strncmp(word, kernel, head - 1) != 0 || word[head - 1] != ':'))
			continue;
		if (strncmp(word + head, name, len) == 0 && word[head + len] == '=')
			return word + head + len + 1;
	}
	return NULL;
}

/* Finds the value for a name; an entry for this kernel takes precedence over one for all
 * kernels. */
static const char *word_for(
	const struct testcase_options *o, const struct text_list *words, const char *name)
{
	const char *text = o->kernel ? word_of(words, o->kernel, name) : NULL;

	if (!text && o->stem)
		text = word_of(words, o->stem, name);
	return text ? text : word_of(words, NULL, name);
}

static const struct kernel_param *param_at(const struct testcase *t, uint32_t i)
{
	const struct kernel_function *f =
		t->signature.form == KERNEL_MIXED &&
				t->signature.aiv.n_params > t->signature.main.n_params
			? &t->signature.aiv
			: &t->signature.main;

	return t->signature.form != KERNEL_SLOTS && i < f->n_params ? &f->params[i] : NULL;
}

static bool known_scalar(void *ctx, uint32_t i, int64_t *value)
{
	const struct scalar_values *v = ctx;
	const struct kernel_param *p = param_at(v->t, i);
	const char *text = p ? word_for(v->o, &v->o->set, p->name) : NULL;

	return text && str_to_i64(str_of(text), value);
}

static bool read_pto(struct testcase *t, const char *source, const struct testcase_options *o,
	struct incore_error *e)
{
	const char *dot = strrchr(source, '.');
	struct scalar_values values = {t, o};
	struct pto_launch launch = {.n_blocks = (uint32_t)o->n_blocks,
		.dynamic_dim = (int64_t)o->dynamic_dim,
		.scalar = known_scalar,
		.ctx = &values};
	struct file_data f = {0};
	bool ok;

	t->pto_path = arena_printf(&t->arena, "%.*s.pto",
		(int)(dot ? dot - source : (ptrdiff_t)strlen(source)), source);
	if (!t->pto_path)
		return err_nomem(e);
	if (!file_exists(t->pto_path))
		return err_file(e, "no-pto", t->pto_path, INCORE_NO_OFFSET,
			"expected the .pto of %s here: it says how large its buffers are", source);
	ok = file_load(&f, t->pto_path, e) &&
	     pto_read(&t->arena, (struct str){(const char *)f.data, f.size}, t->pto_path, &launch,
		     &t->pto, e);
	file_unload(&f);
	if (!ok || !t->pto.target)
		return ok;
	t->has_target = strcmp(t->pto.target, "a5") == 0 || strcmp(t->pto.target, "a2a3") == 0;
	t->target = strcmp(t->pto.target, "a5") == 0 ? ARCH_A5 : ARCH_A2A3;
	return true;
}

static const struct pto_func *func_named(const struct testcase *t, const char *name)
{
	for (uint32_t i = 0; i < t->pto.n_funcs; i++)
		if (strcmp(t->pto.funcs[i].name, name) == 0)
			return &t->pto.funcs[i];
	return NULL;
}

/* --- do they agree? --- */

static bool lies(const struct testcase *t, const struct pto_func *f,
	const struct kernel_function *k, struct incore_error *e)
{
	for (uint32_t i = 0; i < k->n_params && i < f->n_params; i++) {
		const struct kernel_param *c = &k->params[i];
		const struct pto_param *p = &f->params[i];
		const struct type_row *type = type_of(c->type);

		if (c->is_pointer != p->is_pointer)
			return !err_file(e, "pto-lies", t->pto_path, INCORE_NO_OFFSET,
				"@%s parameter %u is a %s here, and %s in %s (%s)", f->name, i,
				p->is_pointer ? "pointer" : "scalar",
				c->is_pointer ? "a pointer" : "a scalar", k->name, c->type);
		if (!type || !type_fits(type, p->type))
			return !err_file(e, type ? "pto-lies" : "unknown-type", t->pto_path,
				INCORE_NO_OFFSET,
				"@%s parameter %u is of type %s here, and %s in %s", f->name, i,
				p->type, c->type, k->name);
	}
	return false;
}

static bool agree(const struct testcase *t, const struct pto_func *f,
	const struct kernel_function *k, struct incore_error *e)
{
	/* a vector side may take scalars that only the wrapper knows */
	if (f->n_params != k->n_params &&
		!(t->signature.form == KERNEL_MIXED && f->n_params <= k->n_params))
		return err_file(e, "pto-lies", t->pto_path, INCORE_NO_OFFSET,
			"@%s has %u parameters here, and %s (line %u of its source) has %u",
			f->name, f->n_params, k->name, k->line, k->n_params);
	return !lies(t, f, k, e);
}

static bool no_function(const struct testcase *t, const char *name, struct incore_error *e)
{
	struct strbuf b = {0};

	for (uint32_t i = 0; i < t->pto.n_funcs; i++)
		sb_printf(&b, "%s@%s", i ? ", " : "", t->pto.funcs[i].name);
	err_file(e, "pto-lies", t->pto_path, INCORE_NO_OFFSET, "expected a function @%s, found %s",
		name, b.p ? b.p : "none");
	sb_free(&b);
	return false;
}

static void note_kind(struct testcase *t, const struct pto_func *f)
{
	t->has_cube |= f->kind == PTO_KIND_CUBE;
	t->has_vector |= f->kind == PTO_KIND_VECTOR;
}

/* --- slots --- */

struct placed { /* one parameter, combined from both files */
	const char *name, *cpp_type;
	unsigned dtype;
	bool is_pointer, is_bound, is_control;
	uint64_t elements;
	uint32_t n_views;
};

static bool put_bytes(struct arena *a, const struct placed *p, const struct testcase_options *o,
	struct arg *s, struct arg_buffer *b, struct incore_error *e)
{
	const char *file = word_for(o, &o->data, p->name), *value = word_for(o, &o->set, p->name);
	unsigned size = dtype_bytes(p->dtype);
	bool is_default = o->fill_control && p->is_control && !value;
	struct file_data f = {0};
	uint64_t bits = 0, seed = o->seed ? o->seed : TESTCASE_DEFAULT_SEED;

	if (file) {
		if (!file_load(&f, file, e))
			return err_wrap(e, "data of %s", p->name);
		if (f.size > b->n) {
			err_file(e, "too-long", file, b->n,
				"%s has room for %llu bytes, the file has %zu", p->name,
				(unsigned long long)b->n, f.size);
			file_unload(&f);
			return false;
		}
		memcpy(b->p, f.data, f.size);
		file_unload(&f);
		b->is_known = true;
		s->origin = ARG_SET;
		s->said = arena_printf(a, "file %s", path_base(file));
		return s->said || err_nomem(e);
	}
	if (value && !arg_value_parse(p->dtype, str_of(value), &bits))
		return err_set(e, INCORE_USAGE, "bad-value", "%s=%s: no value of type %s", p->name,
			value, dtype_name(p->dtype));
	if (is_default) /* floats (factors) get 1, integers (offsets, counts) free_value */
		bits = p->dtype == DTYPE_FLOAT32 ? float_bits(1) : (uint64_t)o->free_value;
	b->is_known = value || o->fill_inputs || is_default;
	for (uint64_t i = 0; b->is_known && size && (i + 1) * size <= b->n; i++) {
		float f32 = (float)arg_noise((seed << 32) + (s->slot << 24) + i);

		if (!value && !is_default && p->dtype == DTYPE_FLOAT32)
			bits = float_bits(f32);
		else if (!value && !is_default && p->dtype == DTYPE_FLOAT16)
			bits = half_bits(f32);
		memcpy(b->p + i * size, &bits, size);
	}
	s->origin = value ? ARG_SET : b->is_known ? ARG_SPEC : ARG_NO_BYTES;
	s->said = value		   ? arena_printf(a, "set to %s", value)
		  : is_default	   ? arena_printf(a, "default: %lld everywhere",
					     p->dtype == DTYPE_FLOAT32 ? 1ll : (long long)o->free_value)
		  : o->fill_inputs ? arena_printf(a, "made up, seed %llu", (unsigned long long)seed)
				   : "";
	return s->said || err_nomem(e);
}

#define TESTCASE_DEFAULT_ELEMENTS 1048576u /* of a pointer without a view */

static bool put_tensor(struct args *a, const struct placed *p, const struct testcase_options *o,
	struct arg *s, struct incore_error *e)
{
	uint64_t elements =
		p->n_views ? (p->elements ? p->elements : 1) : TESTCASE_DEFAULT_ELEMENTS;
	struct arg_buffer b = {.is_size_known = true};

	if (elements > UINT32_MAX ||
		__builtin_mul_overflow(elements, (uint64_t)dtype_bytes(p->dtype), &b.n))
		return err_set(e, INCORE_BAD_INPUT, "too-large",
			"%s has %llu elements, more than a descriptor holds", p->name,
			(unsigned long long)elements);
	b.p = mem_zalloc(b.n, 1);
	if (!b.p || !put_bytes(&a->arena, p, o, s, &b, e)) {
		bool is_lack = !b.p;

		mem_free(b.p);
		return is_lack ? err_nomem(e) : false;
	}
	s->n_dims = 1;
	s->shape[0] = elements;
	s->strides[0] = 1;
	s->extent = elements;
	s->is_contiguous = s->is_read = true;
	/* without supplied bytes it is an input, and reading it stops the run */
	s->is_written = b.is_known;
	return args_add_buffer(a, &b, &s->buffer, e);
}

/* The value of a scalar that nobody set: the bound assumed for sizes, or the current guess. */
static int64_t made_up(struct testcase *t, const struct placed *p, const struct testcase_options *o)
{
	if (p->is_bound)
		return o->dynamic_dim > 0 ? (int64_t)o->dynamic_dim : DEFAULT_DYNAMIC_DIM;
	if (dtype_is_float(p->dtype))
		return 1; /* neither offset nor count: the value of a factor does not matter */
	t->n_free++;
	return !o->free_one || o->free_one == t->n_free ? o->free_value : 0;
}

static bool put_scalar(struct testcase *t, const struct placed *p, const struct testcase_options *o,
	struct arg *s, struct incore_error *e)
{
	const char *value = word_for(o, &o->set, p->name);
	char text[32];

	snprintf(text, sizeof(text), "%lld", (long long)(value ? 0 : made_up(t, p, o)));
	s->origin = ARG_SPEC;
	s->said = value ? "set" : p->is_bound ? "bound" : "default";
	if (arg_value_parse(p->dtype, str_of(value ? value : text), &s->bits))
		return true;
	return err_set(e, INCORE_USAGE, "bad-value", "%s=%s: no value of type %s", p->name,
		value ? value : text, dtype_name(p->dtype));
}

static bool place(struct testcase *t, const struct placed *p, const struct testcase_options *o,
	uint32_t slot, struct incore_error *e)
{
	struct arg s = {.is_used = true,
		.slot = slot,
		.is_tensor = p->is_pointer,
		.dtype = (uint8_t)p->dtype,
		.name = arena_strdup(&t->args.arena, p->name)};

	if (!s.name)
		return err_nomem(e);
	if (!(p->is_pointer ? put_tensor(&t->args, p, o, &s, e) : put_scalar(t, p, o, &s, e)))
		return false;
	t->args.slots[slot] = s;
	return true;
}

static struct placed unite_param(
	const struct testcase *t, uint32_t i, const struct pto_func *f, const struct pto_func *g)
{
	const struct kernel_param *c = param_at(t, i);
	const struct pto_param *p = f && i < f->n_params ? &f->params[i] : NULL;
	const struct pto_param *q = g && i < g->n_params ? &g->params[i] : NULL;
	const struct pto_param *any = p ? p : q;
	const struct type_row *type = c ? type_of(c->type) : NULL;
	struct placed out = {.name = c	   ? c->name
				     : any ? any->name + 1
					   : "",
		.cpp_type = c ? c->type : "",
		.is_pointer = c ? c->is_pointer : any && any->is_pointer,
		.dtype = type ? type->dtype : DTYPE_UINT8};

	for (size_t k = 0; !c && any && k < sizeof(TYPES) / sizeof(*TYPES); k++)
		if (type_fits(&TYPES[k], any->type)) {
			out.dtype = TYPES[k].dtype;
			break;
		}
	out.elements = p ? p->elements : 0;
	out.n_views = (p ? p->n_views : 0) + (q ? q->n_views : 0);
	out.is_control = (p && p->is_control) || (q && q->is_control);
	out.is_bound = (p && p->is_bound) || (q && q->is_bound);
	if (q && q->elements > out.elements)
		out.elements = q->elements;
	return out;
}

static bool place_all(struct testcase *t, const struct testcase_options *o,
	const struct pto_func *f, const struct pto_func *g, struct incore_error *e)
{
	uint32_t n_f = f ? f->n_params : 0, n_g = g ? g->n_params : 0, n = n_f > n_g ? n_f : n_g,
		 slot = 0;
	bool ok = true;

	while (param_at(t, n))
		n++;
	if (n > ARG_CONTEXT_SLOT)
		return err_file(e, "too-many-parameters", t->pto_path, INCORE_NO_OFFSET,
			"%u parameters; an argument row holds %d", n, ARG_CONTEXT_SLOT);
	/* slots: tensors first, then scalars, each in order */
	for (int pass = 0; pass < 2; pass++)
		for (uint32_t i = 0; ok && i < n; i++) {
			struct placed p = unite_param(t, i, f, g);

			if (p.is_pointer == (pass == 0))
				ok = place(t, &p, o, slot++, e);
		}
	return ok;
}

bool testcase_describe(struct testcase *t, struct incore_error *e)
{
	struct strbuf b = {0};

	args_workload(&t->args, &b);
	if (t->n_free && t->free_why)
		sb_printf(&b, "; %s", t->free_why);
	t->workload = b.failed ? NULL : arena_strndup(&t->arena, b.p, b.n);
	sb_free(&b);
	return t->workload || err_nomem(e);
}

bool testcase_read(struct testcase *t, const char *source, const struct testcase_options *o,
	struct incore_error *e)
{
	const struct pto_func *f, *g = NULL;
	const char *name;
	bool ok = true;

	*t = (struct testcase){0};
	arena_init(&t->arena);
	args_init(&t->args);
	if (!read_signature(t, source, e) || !read_pto(t, source, o, e))
		return false;
	name = t->signature.main.name;
	f = func_named(t, name);
	if (!f && t->pto.n_funcs == 1 && t->signature.form != KERNEL_MIXED)
		f = &t->pto.funcs[0]; /* a wrapper may have another name */
	if (t->signature.form == KERNEL_MIXED)
		g = func_named(t, t->signature.aiv.name);
	if (!f || (t->signature.form == KERNEL_MIXED && !g))
		return no_function(t, f ? t->signature.aiv.name : name, e);
	if (t->signature.form != KERNEL_SLOTS)
		ok = agree(t, f, &t->signature.main, e) &&
		     (!g || agree(t, g, &t->signature.aiv, e));
	note_kind(t, f);
	if (g) {
		note_kind(t, g);
		t->has_cube = t->has_vector = true;
	}
	ok = ok && place_all(t, o, f, g, e) && args_spread(&t->args, (uint32_t)o->n_blocks, e);
	if (o->fill_control && !t->n_free)
		t->n_free = 1;
	t->free_why = o->free_why;
	return ok && testcase_describe(t, e);
}
