/* SPDX-License-Identifier: Apache-2.0 */
/* help.c: --help as text and JSON, made from the verb and option tables. */
#include "cli/options.h"
#include "cli/output.h"
#include "page/write.h"

#include <string.h>
#include <unistd.h>

/* Writes lines broken to the width of a terminal, or whole lines elsewhere. */
static void write_help(struct page *p, FILE *out)
{
	const struct text_medium m = {
		.out = out, .width = output_width(out == stdout ? STDOUT_FILENO : STDERR_FILENO)};
	struct incore_error e = {0};

	if (page_is_whole(p, &e))
		page_write_text(p, &m);
	incore_error_clear(&e);
	page_deinit(p);
}

void help_main(FILE *out)
{
	struct page p;

	page_init(&p);
	page_line(&p, "incore: which instruction of a kernel is waiting, and for what");
	page_gap(&p);
	page_line(&p,
		"usage: incore PATH [AFTER]             the verdict on a capture; two are compared");
	page_line(&p, "       incore VERB [options] PATH...");
	page_gap(&p);
	for (const struct verb *const *v = verb_table; *v; v++) {
		char head[40];

		snprintf(head, sizeof(head), "  %-10s ", (*v)->name);
		page_fact(&p, head, "%s", verb_purpose(*v));
	}
	page_lines(&p,
		"\nincore help VERB, incore VERB --help   options of a verb\n"
		"incore --version [--json]              version; with --json what is inside\n"
		"incore --help=json                     all verbs and options, for scripts\n"
		"incore --schema VERB                   JSON Schema of what --json gives\n"
		"incore --man [PAGE]                    a man page as text: incore --man hot\n"
		"incore --completion bash|zsh|fish      completions for a shell\n\n"
		"Exit status: 0 done, 1 negative answer, 2 usage, 3 bad input, 4 partial input with\n"
		"--strict, 5 outside program missing, 6 outside program or system failed, 130 "
		"interrupted.\n");
	write_help(&p, out);
}

static void help_option(struct page *p, const struct option_def *d)
{
	char left[80], head[96];

	snprintf(left, sizeof(left), "%c%c%s --%s%s%s", d->letter ? '-' : ' ',
		d->letter ? d->letter : ' ', d->letter ? "," : " ", d->name, d->arg ? " " : "",
		d->arg ? d->arg : "");
	snprintf(head, sizeof(head), "  %-24s ", left);
	page_say(p, "%s", d->help);
	if (d->choices)
		page_say(p, ": %s", d->choices);
	if (d->fallback)
		page_say(p, " [%s]", d->fallback);
	page_fact(p, head, "%s", "");
}

/* Is the option listed by name only? Aliases and rarely needed options share one line. */
static bool is_only_named(const struct option_def *d)
{
	return d->alias_of || d->only_named;
}

static void help_names(struct page *p, const struct option_list *l)
{
	const char *before = "Also ";

	for (unsigned i = 0; i < l->n; i++)
		if (is_only_named(l->def[i])) {
			page_say(p, "%s--%s", before, l->def[i]->name);
			before = ", ";
		}
	if (strcmp(before, ", ") == 0)
		page_say(p, ". ");
}

static void help_subs(struct page *p, const struct verb *v)
{
	for (const struct verb *const *s = v->subs; *s; s++) {
		char head[120];

		snprintf(head, sizeof(head), "  incore %s %-*s ", (*s)->name,
			(int)(24 - strlen((*s)->name)), verb_args(*s));
		page_fact(p, head, "%s", verb_purpose(*s));
	}
	page_line(p, "incore %s VERB --help: options of one of them. See also incore-%s(1).",
		v->name, v->name);
}

static void help_options(struct page *p, const struct verb *v)
{
	struct option_list l;
	const char *group = "";

	options_of(v, &l);
	for (unsigned i = 0; i < l.n; i++) {
		if (strcmp(group, l.group[i]) != 0)
			page_line(p, "%s:", l.group[i]);
		group = l.group[i];
		if (!is_only_named(l.def[i]))
			help_option(p, l.def[i]);
	}
	help_names(p, &l);
	page_line(p, "See also incore-%.*s(1).", (int)strcspn(v->name, " "), v->name);
}

void help_verb(FILE *out, const struct verb *v)
{
	struct page p;

	page_init(&p);
	page_line(&p, "incore %s: %s", v->name, verb_purpose(v));
	page_gap(&p);
	page_line(&p, "usage: %s", verb_usage(v, (char[USAGE_SIZE]){0}));
	(v->subs ? help_subs : help_options)(&p, v);
	write_help(&p, out);
}

static const char *const type_names[] = {
	[OPTION_FLAG] = "flag",
	[OPTION_TEXT] = "text",
	[OPTION_COUNT] = "count",
	[OPTION_CHOICE] = "choice",
	[OPTION_MANY] = "many",
	[OPTION_TOP] = "text",
};

/* Who may use it besides the terminal and the library. */
static void put_reach(struct json_writer *w, unsigned reach)
{
	json_w_kv_row(w, "reach");
	if (reach & REACH_HTTP)
		json_w_cstr(w, "http");
	if (reach & REACH_AGENT)
		json_w_cstr(w, "agent");
	if (reach & REACH_SQL)
		json_w_cstr(w, "sql");
	json_w_end(w);
}

static void put_option(struct json_writer *w, const struct option_def *d, const char *group)
{
	char letter[2] = {d->letter, 0};

	json_w_row_object(w);
	json_w_kv_cstr(w, "name", d->name);
	json_w_kv_cstr(w, "letter", d->letter ? letter : NULL);
	json_w_kv_cstr(w, "type", type_names[d->type]);
	json_w_kv_cstr(w, "arg", d->arg);
	json_w_key(w, "choices");
	if (d->choices) {
		struct str rest = str_of(d->choices), part;

		json_w_row(w);
		while (str_cut(&rest, "|", &part))
			json_w_str(w, part);
		json_w_end(w);
	} else {
		json_w_null(w);
	}
	json_w_kv_cstr(w, "default", d->fallback);
	json_w_kv_cstr(w, "group", group);
	json_w_kv_bool(w, "names_file", d->names_file != NAMES_NO_FILE);
	put_reach(w, d->reach);
	if (d->alias_of)
		json_w_kv_cstr(w, "alias_of", d->alias_of);
	json_w_kv_cstr(w, "help", option_purpose(d, (char[OPTION_TEXT_SIZE]){0}));
	json_w_end(w);
}

/* What its JSON may hold: values and tables with their columns. "prints": only the terminal may ask,
 * so it is nothing that the library could return. */
static void put_answers(struct json_writer *w, const struct verb *v)
{
	const struct question *q = v->question;

	if (!q || !q->records)
		return;
	json_w_kv_array(w, question_find(q->name) ? "answers" : "prints");
	for (const struct record *const *r = q->records; *r; r++) {
		json_w_object(w);
		record_describe(*r, w);
		json_w_end(w);
	}
	json_w_end(w);
}

/* The subcommands of a verb, and which of its options each takes. */
static void put_subs(struct json_writer *w, const struct verb *v)
{
	struct option_list l;

	json_w_kv_array(w, "verbs");
	for (const struct verb *const *s = v->subs; *s; s++) {
		json_w_object(w);
		json_w_kv_cstr(w, "name", verb_last_word(*s));
		json_w_kv_cstr(w, "args", verb_args(*s));
		json_w_kv_cstr(w, "summary", verb_purpose(*s));
		put_reach(w, (*s)->question->reach);
		json_w_kv_row(w, "options");
		options_of(*s, &l);
		for (unsigned i = 0; i < l.n; i++)
			json_w_cstr(w, l.def[i]->name);
		json_w_end(w);
		put_answers(w, *s);
		json_w_end(w);
	}
	json_w_end(w);
}

void help_json(FILE *out, const struct verb *only)
{
	struct json_writer w;
	struct option_list l;

	json_w_file(&w, out, 2);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.help/1");
	json_w_kv_cstr(&w, "incore", INCORE_VERSION);
	json_w_kv_array(&w, "verbs");
	for (const struct verb *const *v = verb_table; *v; v++) {
		if (only && *v != only)
			continue;
		json_w_object(&w);
		json_w_kv_cstr(&w, "name", (*v)->name);
		json_w_kv_cstr(&w, "args", verb_args(*v));
		json_w_kv_cstr(&w, "summary", verb_purpose(*v));
		put_reach(&w, (*v)->question ? (*v)->question->reach : 0);
		json_w_kv_array(&w, "options");
		options_of(*v, &l);
		for (unsigned i = 0; i < l.n; i++)
			put_option(&w, l.def[i], l.group[i]);
		json_w_end(&w);
		if ((*v)->subs)
			put_subs(&w, *v);
		put_answers(&w, *v);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	json_w_finish(&w, NULL);
}
