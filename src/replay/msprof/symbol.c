/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c: needs only two processes for a library of any size. */
#include "replay/msprof/symbol.h"

#include <assert.h>

#include "base/process.h"
#include "base/vec.h"

#define TOOL_LIMIT_MS 120000

typedef VEC(struct str) str_list;

static bool run_tool(const char *const *argv, const char *const *env, struct str input,
	struct strbuf *out, struct incore_error *e)
{
	struct process_spec spec = {
		.argv = argv, .env = env, .input = input, .output = out, .limit_ms = TOOL_LIMIT_MS};
	struct process_result r;
	struct strbuf why = {0};

	if (!process_run(&spec, &r, e))
		return false;
	if (r.end == PROCESS_EXITED && r.code == 0)
		return true;
	process_describe(&spec, &r, &why);
	err_set(e, r.end == PROCESS_NOT_STARTED ? INCORE_MISSING : INCORE_FAILED, "tool-failed",
		"%s: %s: %.300s", argv[0], why.p ? why.p : "", out->p ? out->p : "");
	sb_free(&why);
	return false;
}

static bool split_lines(struct str text, str_list *out)
{
	struct str line;

	while (str_cut(&text, "\n", &line))
		if (line.n && !VEC_PUSH(out, line))
			return false;
	return true;
}

void symbol_names(struct str listing, struct strbuf *names)
{
	struct str line;

	while (str_cut(&listing, "\n", &line)) {
		ptrdiff_t at = str_rfind_char(line, ' ');

		if (at < 2 || line.p[at - 2] != ' ' || (size_t)at + 1 == line.n ||
			(line.p[at - 1] != 'T' && line.p[at - 1] != 'W'))
			continue;
		sb_str(names, str_sub(line, (size_t)at + 1, line.n));
		sb_putc(names, '\n');
	}
}

static bool fits(struct str demangled, const char *name)
{
	size_t n = strlen(name);

	return str_is(demangled, name) ||
	       (str_starts(demangled, name) && demangled.n > n && demangled.p[n] == '(');
}

static void list_all(const str_list *plain, struct strbuf *out)
{
	for (size_t i = 0; i < plain->n && i < 20; i++)
		sb_printf(out, "%s%.*s", i ? ", " : "", STR_ARG(plain->v[i]));
	if (plain->n > 20)
		sb_printf(out, " and %zu more", plain->n - 20);
}

/* Chooses the symbol for the first name that has one; two symbols for that name are an error. */
static bool choose(const char *library, const char *const *names, const str_list *plain,
	size_t *found, struct incore_error *e)
{
	struct strbuf all = {0};
	size_t n_fit = 0, k;

	for (k = 0; names[k] && !n_fit; k++)
		for (size_t i = 0; i < plain->n; i++)
			if (fits(plain->v[i], names[k]) && n_fit++ == 0)
				*found = i;
	if (n_fit == 1)
		return true;
	list_all(plain, &all);
	if (n_fit)
		err_file(e, "ambiguous-symbol", library, INCORE_NO_OFFSET,
			"expected one symbol %s, found %zu; the library exports %s", names[k - 1],
			n_fit, all.p ? all.p : "");
	else
		err_file(e, "no-symbol", library, INCORE_NO_OFFSET,
			"expected a symbol %s; the library exports %s", names[0],
			all.p ? all.p : "none");
	sb_free(&all);
	return false;
}

bool symbol_choose(struct arena *a, const char *library, const char *const *names,
	struct symbol_lists l, struct symbol *out, struct incore_error *e)
{
	str_list mangled = {0}, plain = {0};
	size_t found = 0;
	bool ok = (split_lines(l.mangled, &mangled) && split_lines(l.demangled, &plain)) ||
		  err_nomem(e);

	if (ok && mangled.n != plain.n)
		ok = err_set(e, INCORE_FAILED, "tool-failed",
			"c++filt gave %zu lines for %zu names of %s", plain.n, mangled.n, library);
	ok = ok && choose(library, names, &plain, &found, e);
	if (ok) {
		assert(mangled.v && plain.v); /* one of their lines was chosen */
		out->mangled = arena_strndup(a, mangled.v[found].p, mangled.v[found].n);
		out->demangled = arena_strndup(a, plain.v[found].p, plain.v[found].n);
		ok = (out->mangled && out->demangled) || err_nomem(e);
	}
	VEC_FREE(&mangled);
	VEC_FREE(&plain);
	return ok;
}

static struct str text_of(const struct strbuf *b)
{
	return (struct str){b->p ? b->p : "", b->n};
}

bool symbol_find(struct arena *a, const char *library, const char *const *names,
	const char *const *env, struct symbol *out, struct incore_error *e)
{
	struct strbuf listing = {0}, mangled = {0}, plain = {0};
	bool ok = run_tool((const char *const[]){"nm", "-D", library, NULL}, env,
		(struct str){"", 0}, &listing, e);

	if (ok) {
		symbol_names(text_of(&listing), &mangled);
		ok = (!mangled.failed || err_nomem(e)) &&
		     run_tool((const char *const[]){"c++filt", NULL}, env, text_of(&mangled),
			     &plain, e);
	}
	ok = ok && symbol_choose(a, library, names,
			   (struct symbol_lists){text_of(&mangled), text_of(&plain)}, out, e);
	sb_free(&listing);
	sb_free(&mangled);
	sb_free(&plain);
	return ok;
}
