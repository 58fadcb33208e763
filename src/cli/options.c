/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c: what did the user ask for? The tables of the program's own options, and the parser for
 * the table of a verb, which stores every value in its field.
 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

#define FIELD(M) OPTION_FIELD(cli_options, M)

static const struct option_def output_options[] = {
	{OPT_JSON, NULL, NULL, "print one JSON object (schema incore.VERB/1)", FIELD(json)},
	{OPT_OUTPUT, NULL, NULL, "write the answer to FILE, whole or not at all", FIELD(output)},
	{OPT_WIDTH, NULL, NULL,
		OPTION_RARE "break and cut text at N columns, in a pipe too; 0: nowhere",
		FIELD(width), .only_named = true},
	{OPT_COLOR, "auto|always|never", "auto", "use colours in text", FIELD(color)},
	{OPT_QUIET, NULL, NULL, "print no warnings and no progress", FIELD(quiet)},
	{OPT_VERBOSE, NULL, NULL, "print more on stderr", FIELD(verbose)},
	{OPT_PROGRESS, "auto|json|never", "auto", "progress on stderr", FIELD(progress)},
	{OPT_STRICT, NULL, NULL, "exit with 4 when part of the input is lost", FIELD(strict)},
	{OPT_JOBS, NULL, "0", "threads; 0: one per processor (INCORE_JOBS)", FIELD(jobs)},
	{OPT_EXPLAIN, NULL, NULL, "explain how figures are made and differ from others",
		FIELD(explains)},
	OPTION_END,
};

static const struct option_def csv_options[] = {
	{OPT_CSV, NULL, NULL, "print the table as CSV, units in the header", FIELD(csv)},
	OPTION_END,
};

static const struct option_def table_options[] = {
	{OPT_COLUMNS, NULL, NULL, "columns of the table; +COL, -COL: add or remove a column",
		FIELD(columns)},
	OPTION_END,
};

/* Index of an option by its name or letter, or -1. */
static int find_option(const struct option_list *l, struct str name, char letter)
{
	for (unsigned i = 0; i < l->n; i++)
		if (letter ? l->def[i]->letter == letter : str_is(name, l->def[i]->name))
			return (int)i;
	return -1;
}

/* A verb's own option hides a shared one of the same name. */
static void add_options(struct option_list *out, const struct option_def *d, const char *group)
{
	for (; d && d->name && out->n < OPTIONS_MAX; d++) {
		if (find_option(out, str_of(d->name), 0) >= 0)
			continue;
		out->group[out->n] = group;
		out->is_program[out->n] = false;
		out->def[out->n++] = d;
	}
}

static void add_program_options(
	struct option_list *out, const struct option_def *d, const char *group)
{
	unsigned from = out->n;

	add_options(out, d, group);
	while (from < out->n)
		out->is_program[from++] = true;
}

static void options_add(const struct verb *v, struct option_list *out)
{
	unsigned groups = v->question ? v->question->groups : 0;

	if (!v->question)
		return;
	add_options(out, v->question->options, "Options");
	if (groups & OPTIONS_TOP)
		add_options(out, request_top_options, "Options");
	if (groups & (OPTIONS_CSV | OPTIONS_CSV_ROWS))
		add_program_options(out, csv_options, "Options");
	if (groups & OPTIONS_CSV)
		add_program_options(out, table_options, "Options");
	if (groups & OPTIONS_SELECT)
		add_options(out, request_select_options, "Selection");
	if (groups & OPTIONS_CAPTURE)
		add_options(out, request_capture_options, "Selection");
	add_program_options(out, output_options, "Common");
}

void options_of(const struct verb *v, struct option_list *out)
{
	out->n = 0;
	options_add(v, out);
	/* own options of all subcommands first, so that the groups stay together */
	for (const struct verb *const *s = v->subs; s && *s; s++)
		add_options(out, (*s)->question->options, "Options");
	for (const struct verb *const *s = v->subs; s && *s; s++)
		options_add(*s, out);
}

const struct verb *verb_find(const char *name)
{
	for (const struct verb *const *v = verb_table; *v; v++) {
		if (strcmp((*v)->name, name) == 0)
			return *v;
	}
	return NULL;
}

const char *verb_args(const struct verb *v)
{
	return v->question ? v->question->args : v->args;
}

const char *verb_purpose(const struct verb *v)
{
	return v->question ? v->question->summary : v->summary;
}

const char *verb_usage(const struct verb *v, char buf[USAGE_SIZE])
{
	const char *args = verb_args(v);

	snprintf(buf, USAGE_SIZE, "incore %s [options]%s%s", v->name, *args ? " " : "", args);
	return buf;
}

const char *verb_last_word(const struct verb *v)
{
	const char *blank = strrchr(v->name, ' ');

	return blank ? blank + 1 : v->name;
}

const struct verb *verb_find_sub(const struct verb *v, const char *name)
{
	for (const struct verb *const *s = v->subs; s && *s; s++) {
		if (strcmp(verb_last_word(*s), name) == 0)
			return *s;
	}
	return NULL;
}

#define WORD_MAX 32

/* Edits (insert, delete, change, swap of neighbours) from a to b; long words count as far apart. */
static unsigned edit_distance(const char *a, const char *b)
{
	unsigned rows[3][WORD_MAX + 1], *before = rows[0], *last = rows[1], *row = rows[2], *t;
	size_t na = strlen(a), nb = strlen(b);

	if (na > WORD_MAX || nb > WORD_MAX)
		return 99;
	for (unsigned j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		t = before;
		before = last;
		last = row;
		row = t;
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= nb; j++) {
			unsigned best = last[j - 1] + (a[i - 1] != b[j - 1]);

			if (last[j] + 1 < best)
				best = last[j] + 1;
			if (row[j - 1] + 1 < best)
				best = row[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
				before[j - 2] + 1 < best)
				best = before[j - 2] + 1;
			row[j] = best;
		}
	}
	return row[nb];
}

const char *nearest_word(const char *name, word_fn next, const void *ctx)
{
	const char *best = NULL, *word;
	unsigned best_distance = strlen(name) < 4 ? 2 : 3;

	for (unsigned i = 0; (word = next(ctx, i)); i++) {
		unsigned d = edit_distance(name, word);

		if (strncmp(name, word, strlen(name)) == 0)
			d = 1;
		if (d < best_distance) {
			best_distance = d;
			best = word;
		}
	}
	return best;
}

static const char *next_verb(const void *ctx, unsigned i)
{
	(void)ctx;
	return verb_table[i] ? verb_table[i]->name : NULL;
}

const char *nearest_verb(const char *name)
{
	return nearest_word(name, next_verb, NULL);
}

static const char *next_sub(const void *ctx, unsigned i)
{
	const struct verb *v = ctx;

	return v->subs[i] ? verb_last_word(v->subs[i]) : NULL;
}

const char *nearest_sub(const struct verb *v, const char *name)
{
	return nearest_word(name, next_sub, v);
}

static const char *next_option(const void *ctx, unsigned i)
{
	const struct option_list *l = ctx;

	if (i == l->n)
		return "help";
	return i < l->n ? l->def[i]->name : NULL;
}

static bool unknown_option(struct cli *c, const struct option_list *l, struct str name)
{
	char word[40];
	const char *near = NULL;

	if (name.n < sizeof(word)) {
		memcpy(word, name.p, name.n);
		word[name.n] = 0;
		near = nearest_word(word, next_option, l);
	}
	if (near)
		return err_set(&c->error, INCORE_USAGE, "unknown-option",
			"%s has no option --%.*s; did you mean --%s?", c->verb->name, STR_ARG(name),
			near);
	return err_set(&c->error, INCORE_USAGE, "unknown-option",
		"%s has no option --%.*s; see incore %s --help", c->verb->name, STR_ARG(name),
		c->verb->name);
}

/* Stores a value where the table says. */
static bool set_option(struct cli *c, const struct option_list *l, unsigned i, const char *value)
{
	const struct option_def *d = l->def[i];

	if (d->names_file == NAMES_PRODUCT && !l->is_program[i])
		c->options.streams_product = strcmp(value, "-") == 0;
	if (!l->is_program[i])
		return request_set(&c->request, d->name, value, &c->error);
	return option_check(d, value, &c->error) &&
	       (option_store(d, value, &c->options) || err_nomem(&c->error));
}

/* Parses one "--name", "--name=value" or "--name value"; *used: words of argv taken. */
static bool parse_long(struct cli *c, const struct option_list *l, char **argv, int left, int *used)
{
	struct str word = str_of(argv[0] + 2), name = word;
	ptrdiff_t eq = str_find(word, "=");
	int i;

	if (eq >= 0)
		name = str_sub(word, 0, (size_t)eq);
	i = find_option(l, name, 0);
	*used = 1;
	if (i < 0)
		return unknown_option(c, l, name);
	if (l->def[i]->type == OPTION_FLAG) {
		if (eq >= 0)
			return err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--%s takes no value", l->def[i]->name);
		return set_option(c, l, (unsigned)i, "");
	}
	if (eq >= 0)
		return set_option(c, l, (unsigned)i, word.p + eq + 1);
	if (left < 2)
		return err_set(&c->error, INCORE_USAGE, "missing-option-value",
			"--%s needs a value: --%s %s", l->def[i]->name, l->def[i]->name,
			l->def[i]->arg);
	*used = 2;
	return set_option(c, l, (unsigned)i, argv[1]);
}

/* Parses one "-q", "-qv", "-j4" or "-j 4". */
static bool parse_short(
	struct cli *c, const struct option_list *l, char **argv, int left, int *used)
{
	*used = 1;
	for (const char *p = argv[0] + 1; *p; p++) {
		int i = find_option(l, (struct str){0}, *p);

		if (i < 0)
			return err_set(&c->error, INCORE_USAGE, "unknown-option",
				"%s has no option -%c; see incore %s --help", c->verb->name, *p,
				c->verb->name);
		if (l->def[i]->type == OPTION_FLAG) {
			if (!set_option(c, l, (unsigned)i, ""))
				return false;
			continue;
		}
		if (p[1])
			return set_option(c, l, (unsigned)i, p + 1);
		if (left < 2)
			return err_set(&c->error, INCORE_USAGE, "missing-option-value",
				"-%c needs a value: -%c %s", *p, *p, l->def[i]->arg);
		*used = 2;
		return set_option(c, l, (unsigned)i, argv[1]);
	}
	return true;
}

static bool check_args(struct cli *c)
{
	const struct question *q = c->verb->question;
	char usage[USAGE_SIZE];

	c->request.paths = c->args.v;
	c->request.n_paths = (unsigned)c->args.n;
	if (c->args.n < q->min_paths)
		return err_set(&c->error, INCORE_USAGE, "missing-argument",
			"%s needs %s; usage: %s", q->name, q->args, verb_usage(c->verb, usage));
	if (c->args.n > q->max_paths)
		return err_set(&c->error, INCORE_USAGE, "too-many-arguments",
			"'%s' is one argument too many; usage: %s", c->args.v[q->max_paths],
			verb_usage(c->verb, usage));
	return true;
}

/* INCORE_JOBS is used if -j is not given. */
static bool jobs_from_environment(struct cli *c)
{
	const char *jobs = getenv("INCORE_JOBS");

	if (c->options.jobs != NO_COUNT)
		return true;
	c->options.jobs = 0;
	return !jobs || !*jobs || str_to_u64(str_of(jobs), &c->options.jobs) ||
	       err_set(&c->error, INCORE_USAGE, "bad-environment",
		       "INCORE_JOBS expects a whole number, not '%s'", jobs);
}

static bool is_help(const char *word, const char **wants_help)
{
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
		*wants_help = "text";
	else if (strcmp(word, "--help=json") == 0)
		*wants_help = "json";
	else
		return false;
	return true;
}

static void reset_options(struct cli_options *o)
{
	*o = (struct cli_options){0};
	options_reset(output_options, o);
	o->jobs = NO_COUNT; /* only given, or from the environment */
}

bool options_parse(struct cli *c, int argc, char **argv, const char **wants_help)
{
	struct option_list l;
	bool only_args = false;

	*wants_help = NULL;
	reset_options(&c->options);
	if (!request_init(&c->request, c->verb->question, &c->error))
		return false;
	c->request.words = (const char *const *)argv;
	options_of(c->verb, &l);
	for (int i = 0, used; i < argc; i += used) {
		char *word = argv[i];
		bool ok = true;

		used = 1;
		if (only_args || word[0] != '-' || !word[1])
			ok = VEC_PUSH(&c->args, word) || err_nomem(&c->error);
		else if (strcmp(word, "--") == 0)
			only_args = true;
		else if (is_help(word, wants_help))
			return true;
		else if (word[1] == '-')
			ok = parse_long(c, &l, argv + i, argc - i, &used);
		else
			ok = parse_short(c, &l, argv + i, argc - i, &used);
		if (!ok)
			return false;
	}
	return check_args(c) && jobs_from_environment(c);
}

void options_free(struct cli *c)
{
	if (c->request.params)
		request_deinit(&c->request);
	VEC_FREE(&c->args);
}
