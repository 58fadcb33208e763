/* SPDX-License-Identifier: Apache-2.0 */
/*
 * testcase.c: lays out in slots the parameters that two files state and must agree on. Parts: the
 * wrapper; test cases.
 */
#include "replay/arguments/testcase.h"
#include "args/words.h"

#include <stdlib.h>

#include "args/value.h"
#include "base/file.h"
#include "dump/read/values.h"
#include "replay/source/classify.h"
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

static const struct kernel_param *param_at(const struct testcase *t, uint32_t i)
{
	const struct kernel_function *f =
		t->signature.form == KERNEL_MIXED &&
				t->signature.aiv.n_params > t->signature.main.n_params
			? &t->signature.aiv
			: &t->signature.main;

	return t->signature.form != KERNEL_SLOTS && i < f->n_params ? &f->params[i] : NULL;
}

static bool is_named_once(struct str masked, const char *name)
{
	size_t pos = 0;

	return *name && source_find_word(masked, name, &pos) &&
	       !source_find_word(masked, name, &pos);
}

static bool read_signature(struct testcase *t, const char *source, struct incore_error *e)
{
	struct file_data f = {0};
	struct strbuf masked = {0};
	bool ok =
		file_load(&f, source, e) &&
		source_mask((struct str){(const char *)f.data, f.size}, source, NULL, &masked, e) &&
		signature_read(&t->arena, (struct str){masked.p ? masked.p : "", masked.n}, source,
			&t->signature, e);
	if (ok) {
		struct str text = {masked.p ? masked.p : "", masked.n};

		t->computes = kernel_computes(text);
		for (uint32_t i = 0; i < 64 && param_at(t, i); i++)
			t->unused |= (uint64_t)is_named_once(text, param_at(t, i)->name) << i;
	}

	sb_free(&masked);
	file_unload(&f);
	return ok;
}

struct scalar_values {
	struct testcase *t;
	const struct testcase_options *o;
};

struct placed { /* one parameter, combined from both files */
	const char *name, *cpp_type;
	const char *pto, *alias; /* its names in the .pto; NULL: none */
	unsigned dtype;
	bool is_pointer, is_bound, is_control;
	bool is_idle; /* it decides nothing: not used, or only data */
	enum pto_launched launched;
	struct control control;
	uint64_t elements;
	uint32_t n_views;
	uint32_t slot;
};

static struct placed unite_param(const struct testcase *t, uint32_t i);

static bool is_called(const struct placed *p, struct str key)
{
	struct str bare = str_starts(key, "%") ? str_sub(key, 1, key.n) : key;
	uint64_t slot;

	return (p->name && *p->name && str_is(key, p->name)) ||
	       (p->pto && str_is(bare, p->pto + 1)) || (p->alias && str_is(bare, p->alias)) ||
	       (str_to_u64(key, &slot) && slot == p->slot);
}

/* "NAME=..." or, for a kernel, "KERNEL:NAME=..." among words; returns the part after '='. */
static const char *word_of(
	const struct text_list *words, const char *kernel, const struct placed *p)
{
	size_t head = kernel ? strlen(kernel) + 1 : 0;

	for (size_t i = 0; i < words->n; i++) {
		const char *word = words->v[i], *eq;

		if (kernel && (strncmp(word, kernel, head - 1) != 0 || word[head - 1] != ':'))
			continue;
		eq = strchr(word + head, '=');
		if (eq && is_called(p, (struct str){word + head, (size_t)(eq - word) - head}))
			return eq + 1;
	}
	return NULL;
}

/* Finds the value for a parameter; an entry for this kernel takes precedence over one for all
 * kernels. */
static const char *word_for(
	const struct testcase_options *o, const struct text_list *words, const struct placed *p)
{
	const char *text = o->kernel ? word_of(words, o->kernel, p) : NULL;

	if (!text && o->stem)
		text = word_of(words, o->stem, p);
	return text ? text : word_of(words, NULL, p);
}

static bool known_value(const struct scalar_values *v, uint32_t i, bool is_pointer, int64_t *value)
{
	struct placed p = v->o->set.n ? unite_param(v->t, i) : (struct placed){0};
	const char *text = p.is_pointer == is_pointer ? word_for(v->o, &v->o->set, &p) : NULL;

	return text && str_to_i64(str_of(text), value);
}

static bool known_scalar(void *ctx, uint32_t i, int64_t *value)
{
	return known_value(ctx, i, false, value);
}

static bool known_element(void *ctx, uint32_t i, int64_t *value)
{
	return known_value(ctx, i, true, value);
}

static const struct pto_func *func_named(const struct testcase *t, const char *name)
{
	for (uint32_t i = 0; i < t->pto.n_funcs; i++)
		if (strcmp(t->pto.funcs[i].name, name) == 0)
			return &t->pto.funcs[i];
	return NULL;
}

/* Reads the .pto and finds the functions of the kernel in it. */
static bool fold_pto(struct testcase *t, struct str text, const struct pto_launch *launch,
	struct incore_error *e)
{
	if (!pto_read(&t->arena, text, t->pto_path, launch, &t->pto, e))
		return false;
	t->func = func_named(t, t->signature.main.name);
	if (!t->func && t->pto.n_funcs == 1 && t->signature.form != KERNEL_MIXED)
		t->func = &t->pto.funcs[0]; /* a wrapper may have another name */
	if (t->signature.form == KERNEL_MIXED)
		t->func_aiv = func_named(t, t->signature.aiv.name);
	return true;
}

static bool settle_control(struct testcase *t, struct str text, const struct pto_launch *launch,
	struct incore_error *e)
{
	const char *const funcs[] = {
		t->func ? t->func->name : NULL, t->func_aiv ? t->func_aiv->name : NULL, NULL};

	return !t->func || control_settle(text, t->pto_path, launch, funcs, t->control, e);
}

static bool read_pto(struct testcase *t, const char *source, const struct testcase_options *o,
	struct incore_error *e)
{
	const char *dot = strrchr(source, '.');
	struct scalar_values values = {t, o};
	struct pto_launch launch = {.n_blocks = (uint32_t)o->n_blocks,
		.dynamic_dim = (int64_t)o->dynamic_dim,
		.scalar = known_scalar,
		.element = known_element,
		.ctx = &values};
	struct file_data f = {0};
	struct str text;
	bool ok;

	t->pto_path = arena_printf(&t->arena, "%.*s.pto",
		(int)(dot ? dot - source : (ptrdiff_t)strlen(source)), source);
	if (!t->pto_path)
		return err_nomem(e);
	if (!file_exists(t->pto_path))
		return err_file(e, "no-pto", t->pto_path, INCORE_NO_OFFSET,
			"expected the .pto of %s here: it says how large its buffers are", source);
	ok = file_load(&f, t->pto_path, e);
	text = (struct str){(const char *)f.data, f.size};
	ok = ok && fold_pto(t, text, &launch, e) &&
	     (!o->set.n || fold_pto(t, text, &launch, e)) && /* now by the names in it, too */
	     settle_control(t, text, &launch, e);
	file_unload(&f);
	if (!ok || !t->pto.target)
		return ok;
	t->has_target = strcmp(t->pto.target, "a5") == 0 || strcmp(t->pto.target, "a2a3") == 0;
	t->target = strcmp(t->pto.target, "a5") == 0 ? ARCH_A5 : ARCH_A2A3;
	return true;
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

/* Puts the file's bytes; they must be all of the tensor, unless no view says how many it has. */
static bool put_file(struct arena *a, const struct placed *p, const char *file, struct arg *s,
	struct arg_buffer *b, struct incore_error *e)
{
	struct file_data f = {0};
	bool ok = file_load(&f, file, e);

	if (!ok)
		return err_wrap(e, "data of %s", p->name);
	if (p->n_views ? f.size != b->n : f.size > b->n)
		ok = err_file(e, "wrong-size", file, INCORE_NO_OFFSET,
			"%s has %llu bytes (%s x %llu), the file has %zu", p->name,
			(unsigned long long)b->n, dtype_name(p->dtype),
			(unsigned long long)(b->n / dtype_bytes(p->dtype)), f.size);
	else
		memcpy(b->p, f.data, f.size);
	file_unload(&f);
	b->is_known = true;
	s->origin = ARG_SET;
	s->said = arena_printf(a, "file %s", path_base(file));
	return ok && (s->said || err_nomem(e));
}

static void put_everywhere(struct arg_buffer *b, unsigned size, uint64_t bits)
{
	for (uint64_t i = 0; size && (i + 1) * size <= b->n; i++)
		memcpy(b->p + i * size, &bits, size);
	b->is_known = true;
}

/* Random floats; integers stay zero. */
static const char *put_noise(
	struct arena *a, const struct placed *p, uint64_t seed, uint32_t slot, struct arg_buffer *b)
{
	unsigned size = dtype_bytes(p->dtype);
	bool is_float = p->dtype == DTYPE_FLOAT32 || p->dtype == DTYPE_FLOAT16;

	b->is_known = true;
	for (uint64_t i = 0; is_float && (i + 1) * size <= b->n; i++) {
		float f32 = (float)arg_noise((seed << 32) + (slot << 24) + i);
		uint64_t bits =
			p->dtype == DTYPE_FLOAT32 ? float_bits(f32) : (uint64_t)half_bits(f32);

		memcpy(b->p + i * size, &bits, size);
	}
	return is_float ? arena_printf(a, "made up, seed %llu", (unsigned long long)seed) : "zeros";
}

/* The value of an integer that decides something and that nobody gave, as control.h has it, else
 * the current guess; *how says which. */
static int64_t control_value(struct testcase *t, const struct placed *p,
	const struct testcase_options *o, enum arg_control *kind, const char **how)
{
	*kind = p->control.state == CONTROL_FULL ? ARG_ASSUMED : ARG_GIVEN;
	*how = p->control.state == CONTROL_FULL ? "full shape" : "any place";
	if (p->control.state > CONTROL_OPEN)
		return p->control.value;
	*kind = ARG_MADE_UP;
	*how = "made up";
	t->n_free++;
	return !o->free_one || o->free_one == t->n_free ? o->free_value : 0;
}

/* A tensor whose elements are loaded as scalars. */
static bool put_control(struct testcase *t, const struct placed *p,
	const struct testcase_options *o, struct arg *s, struct arg_buffer *b,
	struct incore_error *e)
{
	struct arena *a = &t->args.arena;
	enum arg_control kind;
	const char *how;
	int64_t value;

	s->origin = ARG_SPEC;
	if (dtype_is_float(p->dtype)) { /* a factor: its value does not matter */
		put_everywhere(b, dtype_bytes(p->dtype),
			p->dtype == DTYPE_FLOAT32   ? float_bits(1)
			: p->dtype == DTYPE_FLOAT16 ? half_bits(1)
						    : bfloat_bits(1));
		s->said = "default: 1 everywhere";
		return true;
	}
	value = control_value(t, p, o, &kind, &how);
	put_everywhere(b, dtype_bytes(p->dtype), (uint64_t)value);
	s->control = (uint8_t)kind;
	s->said = arena_printf(a, "%s: %lld everywhere", how, (long long)value);
	return s->said || err_nomem(e);
}

static bool put_bytes(struct testcase *t, const struct placed *p, const struct testcase_options *o,
	struct arg *s, struct arg_buffer *b, struct incore_error *e)
{
	const char *file = word_for(o, &o->data, p), *value = word_for(o, &o->set, p);
	struct arena *a = &t->args.arena;
	uint64_t bits = 0;

	if (file)
		return put_file(a, p, file, s, b, e);
	if (value) {
		if (!arg_value_parse(p->dtype, str_of(value), &bits))
			return err_set(e, INCORE_USAGE, "bad-value", "%s=%s: no value of type %s",
				p->name, value, dtype_name(p->dtype));
		put_everywhere(b, dtype_bytes(p->dtype), bits);
		s->origin = ARG_SET;
		s->said = arena_printf(a, "set to %s", value);
	} else if (p->is_control && !o->needs_values) {
		return put_control(t, p, o, s, b, e);
	} else if (o->fill_inputs) {
		s->origin = ARG_SPEC;
		s->said = put_noise(a, p, o->seed ? o->seed : TESTCASE_DEFAULT_SEED, s->slot, b);
	} else {
		s->origin = ARG_NO_BYTES;
		s->said = "";
		s->control = p->is_control && !dtype_is_float(p->dtype) ? ARG_MADE_UP : ARG_GIVEN;
	}
	return s->said || err_nomem(e);
}

#define TESTCASE_DEFAULT_ELEMENTS 1048576u /* of a pointer without a view */

static bool put_tensor(struct testcase *t, const struct placed *p, const struct testcase_options *o,
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
	if (!b.p || !put_bytes(t, p, o, s, &b, e)) {
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
	return args_add_buffer(&t->args, &b, &s->buffer, e);
}

/* The value of a scalar that nobody set. */
static int64_t scalar_value(
	struct testcase *t, const struct placed *p, const struct testcase_options *o, struct arg *s)
{
	enum arg_control kind = ARG_GIVEN;
	int64_t value = 1; /* of a float: neither offset nor count, so it does not matter */

	s->said = "default";
	if (p->launched) {
		value = p->launched == PTO_BLOCK_NUM ? (int64_t)(o->n_blocks ? o->n_blocks : 1) : 0;
		s->said = "launch";
	} else if (p->is_bound) {
		kind = o->is_dim_given ? ARG_GIVEN : ARG_MADE_UP;
		value = o->dynamic_dim > 0 ? (int64_t)o->dynamic_dim : DEFAULT_DYNAMIC_DIM;
		s->said = "bound";
	} else if (p->is_idle) {
		value = 0;
		s->said = "decides nothing";
	} else if (!dtype_is_float(p->dtype)) {
		value = control_value(t, p, o, &kind, &s->said);
	}
	s->control = (uint8_t)kind;
	return value;
}

static bool put_scalar(struct testcase *t, const struct placed *p, const struct testcase_options *o,
	struct arg *s, struct incore_error *e)
{
	const char *value = word_for(o, &o->set, p);
	char text[32];

	s->origin = value ? ARG_SET : ARG_SPEC;
	s->said = "set";
	if (!value)
		snprintf(text, sizeof(text), "%lld", (long long)scalar_value(t, p, o, s));
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

	s.pto = p->pto ? arena_strdup(&t->args.arena, p->pto) : NULL;
	s.alias = p->alias ? arena_strdup(&t->args.arena, p->alias) : NULL;
	if (!s.name || !s.pto != !p->pto || !s.alias != !p->alias)
		return err_nomem(e);
	if (!(p->is_pointer ? put_tensor(t, p, o, &s, e) : put_scalar(t, p, o, &s, e)))
		return false;
	t->args.slots[slot] = s;
	return true;
}

static bool is_pointer_at(const struct testcase *t, uint32_t i)
{
	const struct kernel_param *c = param_at(t, i);
	const struct pto_func *f = t->func && i < t->func->n_params ? t->func : t->func_aiv;

	return c ? c->is_pointer : f && i < f->n_params && f->params[i].is_pointer;
}

static uint32_t count_params(const struct testcase *t)
{
	uint32_t n_f = t->func ? t->func->n_params : 0;
	uint32_t n_g = t->func_aiv ? t->func_aiv->n_params : 0, n = n_f > n_g ? n_f : n_g;

	while (param_at(t, n))
		n++;
	return n;
}

/* Tensors come first, then scalars, each in order. */
static uint32_t slot_of(const struct testcase *t, uint32_t i, bool is_pointer)
{
	uint32_t slot = 0, n = count_params(t);

	for (uint32_t k = 0; k < n; k++) {
		bool is_other = is_pointer_at(t, k) != is_pointer;

		slot += is_other ? !is_pointer : k < i;
	}
	return slot;
}

static struct placed unite_param(const struct testcase *t, uint32_t i)
{
	const struct pto_func *f = t->func, *g = t->func_aiv;
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
	out.pto = any ? any->name : NULL;
	out.alias = p && p->alias ? p->alias : q ? q->alias : NULL;
	out.launched = any ? any->launched : PTO_NOT_LAUNCHED;
	out.control = i < PTO_MAX_PARAMS ? t->control[i] : (struct control){0};
	out.slot = slot_of(t, i, out.is_pointer);
	out.is_idle = (i < 64 && t->unused >> i & 1) ||
		      (any && any->is_used && !out.is_pointer && out.control.state == CONTROL_NONE);
	out.elements = p ? p->elements : 0;
	out.n_views = (p ? p->n_views : 0) + (q ? q->n_views : 0);
	out.is_control = (p && p->is_control) || (q && q->is_control);
	out.is_bound = (p && p->is_bound) || (q && q->is_bound);
	if (q && q->elements > out.elements)
		out.elements = q->elements;
	return out;
}

static bool place_all(struct testcase *t, const struct testcase_options *o, struct incore_error *e)
{
	uint32_t n = count_params(t);
	bool ok = true;

	if (n > ARG_CONTEXT_SLOT)
		return err_file(e, "too-many-parameters", t->pto_path, INCORE_NO_OFFSET,
			"%u parameters; an argument row holds %d", n, ARG_CONTEXT_SLOT);
	for (int pass = 0; pass < 2; pass++) /* tensors first: guesses are counted in this order */
		for (uint32_t i = 0; ok && i < n; i++) {
			struct placed p = unite_param(t, i);

			if (p.is_pointer == (pass == 0))
				ok = place(t, &p, o, p.slot, e);
		}
	return ok;
}

/* Each block gets its own index where the launch gives it as a parameter. */
static void spread_launch(struct testcase *t)
{
	for (uint32_t i = 0; i < count_params(t); i++) {
		struct placed p = unite_param(t, i);

		for (size_t b = 0;
			p.launched == PTO_BLOCK_IDX && !p.is_pointer && b < t->args.rows.n; b++)
			if (t->args.slots[p.slot].origin != ARG_SET)
				t->args.rows.v[b].bits[p.slot] = b;
	}
}

/* What decides how much is done must be given. */
static bool lacks_values(const struct testcase *t, struct incore_error *e)
{
	struct strbuf b = {0};

	for (uint32_t i = 0; i < ARG_CONTEXT_SLOT; i++) {
		const struct arg *s = &t->args.slots[i];

		if (s->is_used && s->control != ARG_GIVEN)
			sb_printf(&b, "%s%s", b.n ? ", " : "", s->name);
	}
	if (b.n)
		err_set(e, INCORE_BAD_INPUT, "no-value",
			"what decides how much it does is not given: %s (--set, --data)", b.p);
	sb_free(&b);
	return b.n > 0;
}

bool testcase_has_name(const struct testcase *t, struct str name)
{
	for (uint32_t i = 0; i < count_params(t); i++) {
		struct placed p = unite_param(t, i);

		if (is_called(&p, name))
			return true;
	}
	return false;
}

bool testcase_cure(
	const struct testcase *t, const char *option, struct strbuf *out, struct incore_error *e)
{
	struct control full[PTO_MAX_PARAMS] = {{0}};
	const char *const funcs[] = {
		t->func ? t->func->name : NULL, t->func_aiv ? t->func_aiv->name : NULL, NULL};
	struct pto_launch launch = {.n_blocks = t->args.block_count};
	struct file_data f = {0};
	bool ok = t->func && file_load(&f, t->pto_path, e) &&
		  control_settle((struct str){(const char *)f.data, f.size}, t->pto_path, &launch,
			  funcs, full, e);
	size_t before = out->n;

	for (uint32_t i = 0; ok && i < count_params(t) && i < PTO_MAX_PARAMS; i++) {
		struct placed p = unite_param(t, i);
		const struct arg *s = &t->args.slots[p.slot];
		const struct arg_buffer *b = s->is_tensor ? &t->args.buffers.v[s->buffer] : NULL;
		uint64_t now = s->bits;

		if (b && b->p)
			memcpy(&now, b->p,
				dtype_bytes(s->dtype) < b->n ? dtype_bytes(s->dtype) : b->n);
		if (full[i].state == CONTROL_FULL && now != (uint64_t)full[i].value)
			sb_printf(out,
				"%s%s is %lld, and decides how much is done: %s%s=%lld is its full shape",
				out->n > before ? "; " : "", p.name, (long long)now, option, p.name,
				(long long)full[i].value);
	}
	file_unload(&f);
	return ok || !t->func;
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

static bool find_functions(struct testcase *t, struct incore_error *e)
{
	const char *name = t->signature.main.name;
	bool is_mixed = t->signature.form == KERNEL_MIXED;

	if (!t->func || (is_mixed && !t->func_aiv))
		return no_function(t, t->func ? t->signature.aiv.name : name, e);
	if (t->signature.form != KERNEL_SLOTS &&
		(!agree(t, t->func, &t->signature.main, e) ||
			(t->func_aiv && !agree(t, t->func_aiv, &t->signature.aiv, e))))
		return false;
	note_kind(t, t->func);
	if (t->func_aiv) {
		note_kind(t, t->func_aiv);
		t->has_cube = t->has_vector = true;
	}
	return true;
}

bool testcase_read(struct testcase *t, const char *source, const struct testcase_options *o,
	struct incore_error *e)
{
	*t = (struct testcase){0};
	arena_init(&t->arena);
	args_init(&t->args);
	if (!read_signature(t, source, e) || !read_pto(t, source, o, e) || !find_functions(t, e) ||
		!place_all(t, o, e) || !args_spread(&t->args, (uint32_t)o->n_blocks, e))
		return false;
	spread_launch(t);
	t->free_why = o->free_why;
	return !(o->needs_values && lacks_values(t, e)) && testcase_describe(t, e);
}
