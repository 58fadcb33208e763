/* SPDX-License-Identifier: Apache-2.0 */
/* record_explain.c: reduces a compiler's output to the essentials: the first error, how many, which
 * name is missing. */
#include "model/record/record_internal.h"

/* The quoted word after `before` on an error line. */
static struct str quoted(struct str line, const char *before)
{
	ptrdiff_t at = str_find(line, before);
	struct str rest, word;

	if (at < 0)
		return (struct str){0};
	rest = str_sub(line, (size_t)at + strlen(before), line.n);
	if (!str_cut(&rest, "'", &word) || !rest.p)
		return (struct str){0};
	return word;
}

/* The first quoted word of a line that contains `what`. */
static struct str first_quoted(struct str line, const char *what)
{
	struct str rest = line, word;

	if (!str_has(line, what))
		return (struct str){0};
	if (!str_cut(&rest, "'", &word) || !str_cut(&rest, "'", &word) || !rest.p)
		return (struct str){0};
	return word;
}

/* Not every system distinguishes a missing file from one that the compiler may not read. */
static bool is_out_of_reach(struct str line)
{
	return str_has(line, "No such file") || str_has(line, "file not found") ||
	       str_has(line, "Permission denied");
}

static struct str missing_header(struct str line)
{
	ptrdiff_t at = str_find(line, "fatal error: ");
	struct str rest, word;

	if (at < 0)
		return (struct str){0};
	rest = str_sub(line, (size_t)at + strlen("fatal error: "), line.n);
	if (str_starts(rest, "'"))
		return quoted(rest, "'");
	if (!is_out_of_reach(rest) || !str_cut(&rest, ":", &word))
		return (struct str){0};
	return word;
}

static struct str missing_name(struct str line)
{
	static const char *const BEFORE[] = {"use of undeclared identifier '",
		"unknown type name '", "no member named '", "has no member named '",
		"no template named '", "undefined reference to `", "no type named '"};
	static const char *const FIRST[] = {"was not declared", "does not name a type",
		"has not been declared", "is not a member of"};
	struct str word = missing_header(line);

	for (size_t i = 0; !word.n && i < sizeof(BEFORE) / sizeof(BEFORE[0]); i++)
		word = quoted(line, BEFORE[i]);
	for (size_t i = 0; !word.n && i < sizeof(FIRST) / sizeof(FIRST[0]); i++)
		word = first_quoted(line, FIRST[i]);
	return word;
}

static bool is_error(struct str line)
{
	return str_has(line, "error: ") || str_has(line, "undefined reference");
}

bool record_explain(const char *text, const char *source, struct incore_error *e)
{
	struct str rest = str_of(text), line, first = {0}, name = {0};
	unsigned n = 0;

	while (str_cut(&rest, "\n", &line)) {
		if (!is_error(line))
			continue;
		n++;
		if (!first.p)
			first = str_sub(str_trim(line), 0, 300);
		if (!name.n)
			name = str_sub(missing_name(line), 0, 80);
	}
	if (str_is(name, "kernel_entry"))
		return err_file(e, "no-entry", source, INCORE_NO_OFFSET,
			"it has no function kernel_entry(int64_t *args)");
	if (!first.p)
		first = str_sub(str_trim(str_of(text)), 0, 300);
	err_set(e, INCORE_BAD_INPUT, "does-not-compile", "%.*s", STR_ARG(first));
	if (name.n && is_out_of_reach(first))
		return err_wrap(e,
			"%s does not compile (%u error%s): '%.*s' is not where its compiler may read: the kernel's folder and those of --include, no other files of yours",
			source, n, n == 1 ? "" : "s", STR_ARG(name));
	if (name.n)
		return err_wrap(e, "%s does not compile (%u error%s): '%.*s' is missing", source, n,
			n == 1 ? "" : "s", STR_ARG(name));
	return err_wrap(e, "%s does not compile (%u error%s)", source, n, n == 1 ? "" : "s");
}
