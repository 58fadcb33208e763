/* SPDX-License-Identifier: Apache-2.0 */
/* testcase_wrapper.c: makes a kernel with typed parameters callable by slots. */
#include "replay/arguments/testcase.h"

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
