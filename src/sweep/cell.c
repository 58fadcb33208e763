/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c: one task of a plan: inserts parameters into its command, variables and outputs. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "base/process.h"
#include "sweep/plan.h"

/* Where {name} is looked up: built-in words first, then parameters. */
struct sweep_cell_names {
	const struct sweep_pairs *params;
	const struct sweep_place *at;
	uint64_t cell, repeat;
	bool quotes; /* for a shell: quote values as one word */
};

/* Length of the name in braces at s; 0: not a name, the brace is literal. */
static size_t brace_len(const char *s)
{
	size_t n = 1;

	if (*s != '{' || (!isalpha((unsigned char)s[1]) && s[1] != '_'))
		return 0;
	while (isalnum((unsigned char)s[n]) || s[n] == '_')
		n++;
	return s[n] == '}' ? n + 1 : 0;
}

static bool is_own(struct str name)
{
	static const char *const OWN[] = {"out", "base", "cell", "repeat", "attempt", "devices"};

	for (size_t i = 0; i < sizeof(OWN) / sizeof(*OWN); i++)
		if (str_is(name, OWN[i]))
			return true;
	return false;
}

bool sweep_check_text(const struct sweep_plan *p, const struct sweep_text *t, bool is_of_device,
	struct incore_error *e)
{
	for (const char *s = t->text; *s; s++) {
		size_t n = brace_len(s);
		struct str name = {s + 1, n ? n - 2 : 0};
		bool is_known = !n || (is_of_device ? str_is(name, "device") : is_own(name));

		if (s[0] == '{' && s[1] == '{') {
			s++;
			continue;
		}
		for (size_t i = 0; i < p->n_axes && !is_known && !is_of_device; i++)
			for (size_t k = 0; k < p->axes[i].values[0].n; k++)
				is_known |= str_is(name, p->axes[i].values[0].v[k].name);
		if (!is_known)
			return yaml_error(t->at, p->path, e,
				"'{%.*s}' is no parameter that is known here; a brace is written {{",
				STR_ARG(name));
	}
	return true;
}

static void sweep_cell_put_value(
	const struct sweep_cell_names *k, const char *text, struct strbuf *out)
{
	if (k->quotes)
		process_quote((const char *const[]){text, NULL}, out);
	else
		sb_puts(out, text);
}

static void sweep_cell_put_name(
	const struct sweep_cell_names *k, struct str name, struct strbuf *out)
{
	char number[24] = "";

	for (size_t i = 0; i < k->params->n; i++)
		if (str_is(name, k->params->v[i].name)) {
			sweep_cell_put_value(k, k->params->v[i].value.text, out);
			return;
		}
	if (str_is(name, "out"))
		sweep_cell_put_value(k, k->at->out, out);
	else if (str_is(name, "base"))
		sweep_cell_put_value(k, k->at->base, out);
	else if (str_is(name, "devices"))
		sweep_cell_put_value(k, k->at->devices ? k->at->devices : "", out);
	else
		snprintf(number, sizeof(number), "%llu",
			(unsigned long long)(str_is(name, "cell")     ? k->cell
					     : str_is(name, "repeat") ? k->repeat
								      : k->at->attempt));
	sb_puts(out, number);
}

static const char *sweep_cell_fill(
	const struct sweep_cell_names *k, const char *text, struct arena *a)
{
	struct strbuf s = {0};
	const char *done;

	for (; *text; text++) {
		size_t n = brace_len(text);

		if (n)
			sweep_cell_put_name(k, (struct str){text + 1, n - 2}, &s);
		else
			sb_putc(&s, *text);
		if (n)
			text += n - 1;
		else if (text[0] == '{' && text[1] == '{')
			text++;
	}
	done = s.failed ? NULL : arena_strndup(a, s.p ? s.p : "", s.n);
	sb_free(&s);
	return done;
}

const char *sweep_device_text(const char *text, const char *device, struct arena *a)
{
	struct sweep_pair pair = {"device", {device, NULL}};
	struct sweep_place none = {.out = "", .base = ""};

	return sweep_cell_fill(
		&(struct sweep_cell_names){.params = &(struct sweep_pairs){&pair, 1}, .at = &none},
		text, a);
}

static bool params_of(
	const struct sweep_plan *p, uint64_t cell, struct arena *a, struct sweep_pairs *out)
{
	size_t n = 0;

	for (size_t i = 0; i < p->n_axes; i++)
		n += p->axes[i].values[0].n;
	*out = (struct sweep_pairs){arena_zalloc(a, n + 1, sizeof(*out->v)), 0};
	if (!out->v)
		return false;
	out->n = n;
	for (size_t i = p->n_axes; i-- > 0; cell /= p->axes[i].n) { /* the last varies fastest */
		const struct sweep_pairs *v = &p->axes[i].values[cell % p->axes[i].n];

		n -= v->n;
		memcpy(out->v + n, v->v, v->n * sizeof(*v->v));
	}
	return true;
}

static bool does_match(const struct sweep_plan *p, uint64_t cell, const struct sweep_pair *want)
{
	for (size_t i = p->n_axes; i-- > 0; cell /= p->axes[i].n) {
		const struct sweep_pairs *v = &p->axes[i].values[cell % p->axes[i].n];

		for (size_t k = 0; k < v->n; k++)
			if (strcmp(v->v[k].name, want->name) == 0)
				return strcmp(v->v[k].value.text, want->value.text) == 0;
	}
	return false;
}

bool sweep_is_excluded(const struct sweep_plan *p, uint64_t cell)
{
	for (size_t i = 0; i < p->n_excludes; i++) {
		size_t k = 0;

		while (k < p->excludes[i].n && does_match(p, cell, &p->excludes[i].v[k]))
			k++;
		if (k && k == p->excludes[i].n)
			return true;
	}
	return false;
}

const char *sweep_label(const struct sweep_plan *p, uint64_t cell, struct arena *a)
{
	struct sweep_pairs v;
	struct strbuf s = {0};
	const char *done;

	if (!params_of(p, cell, a, &v))
		return NULL;
	for (size_t i = 0; i < v.n; i++)
		sb_printf(&s, "%s%s=%s", i ? " " : "", v.v[i].name, v.v[i].value.text);
	done = s.failed ? NULL : arena_strndup(a, s.p ? s.p : "", s.n);
	sb_free(&s);
	return done;
}

/* --- lists --- */

static const char *const *fill_all(
	const struct sweep_cell_names *k, const struct sweep_texts *t, struct arena *a)
{
	const char **v = arena_zalloc(a, t->n + 1, sizeof(*v));

	for (size_t i = 0; v && i < t->n; i++) {
		v[i] = sweep_cell_fill(k, t->v[i].text, a);
		if (!v[i])
			return NULL;
	}
	return v;
}

const char *sweep_own_program(struct arena *a)
{
	char path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path));

	return n > 0 && n < PATH_MAX ? arena_strndup(a, path, (size_t)n) : "incore";
}

/* Does the command of one of our verbs state where its results go? */
static bool has_output(const char *const *words)
{
	for (; *words && strcmp(*words, "--") != 0; words++)
		if (strncmp(*words, "-o", 2) == 0 || strncmp(*words, "--output", 8) == 0)
			return true;
	return false;
}

/* "incore capture att -o OUT/capture ..." from the words after the verb. */
static const char *const *own_command(
	const struct sweep_plan *p, const struct sweep_cell_names *k, struct arena *a)
{
	static const char *const VERBS[] = {[SWEEP_CAPTURE] = "capture",
		[SWEEP_PROFILE] = "profile",
		[SWEEP_REPLAY] = "replay"};
	const char *const *words = fill_all(k, &p->command, a);
	const char **v = arena_zalloc(a, p->command.n + 5, sizeof(*v));
	size_t n = 0, i = 0;

	if (!words || !v)
		return NULL;
	v[n++] = sweep_own_program(a);
	if (!v[0])
		return NULL;
	v[n++] = VERBS[p->kind];
	if (p->kind == SWEEP_CAPTURE)
		v[n++] = words[i++];
	if (!has_output(words)) {
		v[n++] = "-o";
		v[n++] = arena_printf(a, "%s/%s", k->at->out, VERBS[p->kind]);
		if (!v[n - 1])
			return NULL;
	}
	while (words[i])
		v[n++] = words[i++];
	return v;
}

static const char *const *command_of(
	const struct sweep_plan *p, const struct sweep_cell_names *k, struct arena *a)
{
	struct sweep_cell_names quoted = *k;
	const char **v;

	if (p->kind == SWEEP_COMMAND)
		return fill_all(k, &p->command, a);
	if (p->kind != SWEEP_SHELL)
		return own_command(p, k, a);
	v = arena_zalloc(a, 4, sizeof(*v));
	quoted.quotes = true;
	if (!v)
		return NULL;
	v[0] = "/bin/sh";
	v[1] = "-c";
	v[2] = sweep_cell_fill(&quoted, p->command.v[0].text, a);
	return v[2] ? v : NULL;
}

static const char *const *env_of(
	const struct sweep_plan *p, const struct sweep_cell_names *k, struct arena *a)
{
	const char **v = arena_zalloc(a, p->env.n + 1, sizeof(*v));

	for (size_t i = 0; v && i < p->env.n; i++) {
		const char *value = sweep_cell_fill(k, p->env.v[i].value.text, a);

		v[i] = value ? arena_printf(a, "%s=%s", p->env.v[i].name, value) : NULL;
		if (!v[i])
			return NULL;
	}
	return v;
}

/* The files that `capture` leaves. */
static struct sweep_text taken_text = {.text = "{out}/capture/*.incore"};
static const struct sweep_texts taken = {&taken_text, 1};

bool sweep_expand(const struct sweep_plan *p, uint64_t task, const struct sweep_place *at,
	struct arena *a, struct sweep_cell *out, struct incore_error *e)
{
	struct sweep_cell_names k = {.at = at,
		.params = &out->params,
		.cell = sweep_cell_of(p, task),
		.repeat = task % p->repeats};

	*out = (struct sweep_cell){0};
	if (!params_of(p, k.cell, a, &out->params))
		return err_nomem(e);
	out->label = sweep_label(p, k.cell, a);
	out->argv = command_of(p, &k, a);
	out->env = env_of(p, &k, a);
	out->outputs = fill_all(&k, &p->outputs, a);
	out->captures =
		fill_all(&k, p->kind == SWEEP_CAPTURE && !p->captures.n ? &taken : &p->captures, a);
	out->cwd = p->cwd.text ? sweep_cell_fill(&k, p->cwd.text, a) : at->base;
	if (out->cwd && *out->cwd != '/')
		out->cwd = arena_printf(a, "%s/%s", at->base, out->cwd);
	return (out->label && out->argv && out->env && out->outputs && out->captures && out->cwd) ||
	       err_nomem(e);
}
