/* SPDX-License-Identifier: Apache-2.0 */
/* signature.c: finds function definitions at file scope by their brackets, then chooses. */
#include "replay/source/signature.h"

#include "base/vec.h"
#include "replay/source/source_text.h"

struct scan {
	struct arena *arena;
	struct str text;
	const char *path;
	VEC(struct kernel_function) found;
	struct incore_error *e;
};

static bool has_word(struct str s, const char *word)
{
	size_t pos = 0;

	return source_find_word(s, word, &pos);
}

static bool is_kernel_head(struct str head)
{
	static const char *const NEVER[] = {"static", "inline", "template", "PTO_INTERNAL",
		"struct", "class", "namespace", "enum", "union", "operator"};

	for (size_t i = 0; i < sizeof(NEVER) / sizeof(*NEVER); i++)
		if (has_word(head, NEVER[i]))
			return false;
	return has_word(head, "AICORE") || has_word(head, "__aicore__") ||
	       has_word(head, "__global__") || has_word(head, "kernel_entry");
}

/* Removes the last identifier from s and returns it. */
static struct str take_last_word(struct str *s)
{
	size_t end, from;

	*s = str_trim(*s);
	for (end = from = s->n; from > 0 && char_is_word(s->p[from - 1]);)
		from--;
	s->n = from;
	return (struct str){s->p + from, end - from};
}

/* A type without its address space and const qualifiers. */
static char *plain_type(struct arena *a, struct str s)
{
	static const char *const MARKS[] = {
		"__gm__", "const", "volatile", "__restrict__", "restrict"};
	struct strbuf b = {0};
	char *out;

	while ((s = str_trim(s)).n) {
		size_t n = 0;
		bool is_mark = false;

		while (n < s.n &&
			(char_is_word(s.p[n]) || s.p[n] == ':' || s.p[n] == '<' || s.p[n] == '>'))
			n++;
		n += n == 0;
		for (size_t i = 0; i < sizeof(MARKS) / sizeof(*MARKS); i++)
			is_mark |= str_is(str_sub(s, 0, n), MARKS[i]);
		if (!is_mark && s.p[0] != '*') {
			if (b.n)
				sb_putc(&b, ' ');
			sb_add(&b, s.p, n);
		}
		s = str_sub(s, n, s.n);
	}
	out = b.failed ? NULL : arena_strndup(a, b.p ? b.p : "", b.n);
	sb_free(&b);
	return out;
}

static bool read_param(struct scan *s, struct str text, struct kernel_param *p)
{
	ptrdiff_t star = str_rfind_char(text, '*');
	struct str type = text, name = {"", 0};

	p->is_pointer = star >= 0 && has_word(text, "__gm__");
	if (star >= 0 && !p->is_pointer && !str_has(text, "args"))
		return err_file(s->e, "bad-signature", s->path, (uint64_t)(text.p - s->text.p),
			"parameter \"%.*s\" points to something that is not __gm__", STR_ARG(text));
	if (star >= 0) {
		name = str_trim(str_sub(text, (size_t)star + 1, text.n));
		if (str_starts(name, "const "))
			name = str_trim(str_sub(name, 6, name.n));
		type = str_sub(text, 0, (size_t)star);
		p->is_pointer = true;
	} else {
		name = take_last_word(&type);
		if (!str_trim(type).n) { /* only a type */
			type = name;
			name.n = 0;
		}
	}
	p->type = plain_type(s->arena, type);
	p->name = arena_strndup(s->arena, name.p, name.n);
	if (!p->type || !p->name)
		return err_nomem(s->e);
	return *p->type ? true
			: err_file(s->e, "bad-signature", s->path, (uint64_t)(text.p - s->text.p),
				  "parameter \"%.*s\" has no type", STR_ARG(text));
}

/* The next comma-separated part, ignoring commas within template brackets. */
static struct str next_part(struct str *rest)
{
	struct str part = {rest->p, 0};
	int depth = 0;

	while (part.n < rest->n && (rest->p[part.n] != ',' || depth > 0)) {
		depth += rest->p[part.n] == '<' || rest->p[part.n] == '(';
		depth -= rest->p[part.n] == '>' || rest->p[part.n] == ')';
		part.n++;
	}
	*rest = str_sub(*rest, part.n + 1, rest->n);
	return str_trim(part);
}

static bool read_params(struct scan *s, struct str list, struct kernel_function *f)
{
	VEC(struct kernel_param) v = {0};
	bool ok = true;

	list = str_trim(list);
	while (ok && list.n && !str_is(list, "void")) {
		struct kernel_param p = {0};
		struct str part = next_part(&list);

		ok = read_param(s, part, &p) && (VEC_PUSH(&v, p) || err_nomem(s->e));
	}
	if (ok && v.n) {
		f->n_params = (uint32_t)v.n;
		f->params = arena_memdup(s->arena, v.v, v.n * sizeof(*v.v));
		ok = f->params || err_nomem(s->e);
	}
	VEC_FREE(&v);
	return ok;
}

/* head: from the end of the last declaration to '('; list: between the parentheses */
static bool take_function(struct scan *s, struct str head, struct str list)
{
	struct kernel_function f = {.is_global = has_word(head, "__global__")};
	struct str name;

	if (!is_kernel_head(head))
		return true;
	name = take_last_word(&head);
	if (!name.n)
		return true;
	f.line = source_line(s->text, (size_t)(name.p - s->text.p));
	f.name = arena_strndup(s->arena, name.p, name.n);
	if (!f.name)
		return err_nomem(s->e);
	return read_params(s, list, &f) && (VEC_PUSH(&s->found, f) || err_nomem(s->e));
}

/* Position after the bracket that closes the one at `pos`, or the end of the text. */
static size_t skip_brackets(struct str t, size_t pos, char open, char close)
{
	int depth = 0;

	for (; pos < t.n; pos++) {
		depth += t.p[pos] == open;
		depth -= t.p[pos] == close;
		if (depth == 0)
			return pos + 1;
	}
	return t.n;
}

static bool opens_scope(struct str head)
{
	return has_word(head, "namespace") || (has_word(head, "extern") && str_has(head, "\""));
}

/* File scope, namespaces and extern "C" blocks alike: a '{' of any other kind is skipped. */
static bool scan_functions(struct scan *s)
{
	struct str t = s->text;
	size_t begin = 0, open = 0, close = 0;
	bool has_list = false, ok = true;

	for (size_t i = 0; ok && i < t.n; i++) {
		char c = t.p[i];

		if (c == '(' && !has_list) {
			open = i;
			close = skip_brackets(t, i, '(', ')') - 1;
			has_list = true;
			i = close;
		} else if (c == '{') {
			struct str head = str_sub(t, begin, (has_list ? open : i) - begin);

			if (has_list)
				ok = take_function(s, head, str_sub(t, open + 1, close - open - 1));
			if (has_list || !opens_scope(head))
				i = skip_brackets(t, i, '{', '}') - 1;
			begin = i + 1;
			has_list = false;
		} else if (c == ';' || c == '}') {
			begin = i + 1;
			has_list = false;
		}
	}
	return ok;
}

static const struct kernel_function *find_side(const struct scan *s, const char *suffix)
{
	for (size_t i = 0; i < s->found.n; i++)
		if (str_ends(str_of(s->found.v[i].name), suffix))
			return &s->found.v[i];
	return NULL;
}

static bool several(struct scan *s, bool is_global)
{
	struct strbuf names = {0};

	for (size_t i = 0; i < s->found.n; i++)
		if (s->found.v[i].is_global == is_global)
			sb_printf(&names, "%s%s (line %u)", names.n ? ", " : "", s->found.v[i].name,
				s->found.v[i].line);
	err_file(s->e, "several-kernels", s->path, INCORE_NO_OFFSET,
		"expected one kernel, found several: %s", names.p ? names.p : "");
	sb_free(&names);
	return false;
}

static bool choose(struct scan *s, struct kernel_signature *out)
{
	const struct kernel_function *aic = find_side(s, "_aic"), *aiv = find_side(s, "_aiv");
	const struct kernel_function *chosen = NULL;
	size_t n_global = 0, n_plain = 0;

	EACH (const struct kernel_function, f, s->found.v, s->found.n) {
		if (strcmp(f->name, "kernel_entry") == 0) {
			*out = (struct kernel_signature){
				.form = KERNEL_SLOTS, .name = f->name, .main = *f};
			return true;
		}
		n_global += f->is_global;
		n_plain += !f->is_global;
	}
	if (aic && aiv && strlen(aic->name) == strlen(aiv->name) &&
		memcmp(aic->name, aiv->name, strlen(aic->name) - 4) == 0) {
		*out = (struct kernel_signature){.form = KERNEL_MIXED, .main = *aic, .aiv = *aiv};
		out->name = arena_strndup(s->arena, aic->name, strlen(aic->name) - 4);
		return out->name || err_nomem(s->e);
	}
	if (n_global + n_plain == 0)
		return err_file(s->e, "no-kernel", s->path, INCORE_NO_OFFSET,
			"no kernel in this source: expected a function marked AICORE, __aicore__ or __global__ that is neither static nor inline, or kernel_entry(int64_t *args)");
	if (n_global > 1 || (n_global == 0 && n_plain > 1))
		return several(s, n_global > 1);
	for (size_t i = 0; i < s->found.n && !chosen; i++)
		if (s->found.v[i].is_global == (n_global == 1))
			chosen = &s->found.v[i];
	*out = (struct kernel_signature){
		.form = KERNEL_PURE, .name = chosen->name, .main = *chosen};
	return true;
}

bool signature_read(struct arena *a, struct str masked, const char *path,
	struct kernel_signature *out, struct incore_error *e)
{
	struct scan s = {.arena = a, .text = masked, .path = path, .e = e};
	bool ok = scan_functions(&s) && choose(&s, out);

	VEC_FREE(&s.found);
	return ok;
}
