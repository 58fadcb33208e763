/* SPDX-License-Identifier: Apache-2.0 */
/* symbol.c: two processes for a library of any size. */
#include "replay/symbol.h"

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

/* "0000000000001139 T _Z1kPf": names of type T and W, a line each */
static void take_names(struct str listing, struct strbuf *names)
{
	struct str line;

	while (str_cut(&listing, "\n", &line)) {
		ptrdiff_t at = str_rfind_char(line, ' ');

		if (at < 1 || (line.p[at - 1] != 'T' && line.p[at - 1] != 'W'))
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

static bool choose(struct arena *a, const char *library, const char *const *names,
	const str_list *mangled, const str_list *plain, struct symbol *out, struct incore_error *e)
{
	struct strbuf all = {0};
	size_t found = SIZE_MAX;

	for (size_t k = 0; names[k] && found == SIZE_MAX; k++)
		for (size_t i = 0; i < plain->n && found == SIZE_MAX; i++)
			if (fits(plain->v[i], names[k]))
				found = i;
	if (found == SIZE_MAX && plain->n == 1)
		found = 0;
	if (found != SIZE_MAX) {
		out->mangled = arena_strndup(a, mangled->v[found].p, mangled->v[found].n);
		out->demangled = arena_strndup(a, plain->v[found].p, plain->v[found].n);
		return (out->mangled && out->demangled) || err_nomem(e);
	}
	for (size_t i = 0; i < plain->n && i < 20; i++)
		sb_printf(&all, "%s%.*s", i ? ", " : "", STR_ARG(plain->v[i]));
	err_file(e, "no-symbol", library, INCORE_NO_OFFSET, "expected a symbol %s, found %zu: %s",
		names[0] ? names[0] : "", plain->n, all.p ? all.p : "none");
	sb_free(&all);
	return false;
}

bool symbol_find(struct arena *a, const char *library, const char *const *names,
	const char *const *env, struct symbol *out, struct incore_error *e)
{
	struct strbuf listing = {0}, mangled_text = {0}, plain_text = {0};
	str_list mangled = {0}, plain = {0};
	bool ok = run_tool((const char *const[]){"nm", "-D", library, NULL}, env,
		(struct str){"", 0}, &listing, e);

	if (ok)
		take_names((struct str){listing.p ? listing.p : "", listing.n}, &mangled_text);
	ok = ok && run_tool((const char *const[]){"c++filt", NULL}, env,
			   (struct str){mangled_text.p ? mangled_text.p : "", mangled_text.n},
			   &plain_text, e);
	if (ok && !(split_lines((struct str){mangled_text.p ? mangled_text.p : "", mangled_text.n},
			    &mangled) &&
			  split_lines((struct str){plain_text.p ? plain_text.p : "", plain_text.n},
				  &plain)))
		ok = err_nomem(e);
	if (ok && mangled.n != plain.n)
		ok = err_set(e, INCORE_FAILED, "tool-failed",
			"c++filt gave %zu lines for %zu names of %s", plain.n, mangled.n, library);
	ok = ok && choose(a, library, names, &mangled, &plain, out, e);
	VEC_FREE(&mangled);
	VEC_FREE(&plain);
	sb_free(&listing);
	sb_free(&mangled_text);
	sb_free(&plain_text);
	return ok;
}
