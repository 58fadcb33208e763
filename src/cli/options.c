/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.c: what did the user ask for? The tables of the shared option groups, the parser for the
 * table of a verb, and the lookups that verbs use.
 */
#include "cli/options.h"

#include <stdlib.h>
#include <string.h>

#include "base/vec.h"

static const struct option_def output_options[] = {
	{OPT_JSON, NULL, NULL, "print one JSON object (schema incore.VERB/1)"},
	{OPT_OUTPUT, NULL, NULL, "write the answer to FILE, whole or not at all"},
	{OPT_WIDTH, NULL, NULL,
		OPTION_RARE "break and cut text at N columns, in a pipe too; 0: nowhere",
		.only_named = true},
	{OPT_COLOR, "auto|always|never", "auto", "use colours in text"},
	{OPT_QUIET, NULL, NULL, "print no warnings and no progress"},
	{OPT_VERBOSE, NULL, NULL, "print more on stderr"},
	{OPT_PROGRESS, "auto|json|never", "auto", "progress on stderr"},
	{OPT_STRICT, NULL, NULL, "exit with 4 when part of the input is lost"},
	{OPT_JOBS, NULL, "0", "threads; 0: one per processor (INCORE_JOBS)"},
	{OPT_EXPLAIN, NULL, NULL, "explain how figures are made and differ from others"},
	OPTION_END,
};

static const struct option_def csv_options[] = {
	{OPT_CSV, NULL, NULL, "print the table as CSV, units in the header"},
	OPTION_END,
};

static const struct option_def table_options[] = {
	{OPT_COLUMNS, NULL, NULL, "columns of the table; +COL, -COL: add or remove a column"},
	OPTION_END,
};

struct options {
	struct option_list list;
	VEC(const char *) values[OPTIONS_MAX];
	VEC(const char *) args;
};

static bool has_option(const struct option_list *l, const char *name)
{
	for (unsigned i = 0; i < l->n; i++)
		if (strcmp(l->def[i]->name, name) == 0)
			return true;
	return false;
}

/* A verb's own option hides a shared one of the same name. */
static void add_options(struct option_list *out, const struct option_def *d, const char *group)
{
	for (; d && d->name && out->n < OPTIONS_MAX; d++) {
		if (has_option(out, d->name))
			continue;
		out->group[out->n] = group;
		out->def[out->n++] = d;
	}
}

unsigned verb_groups(const struct verb *v)
{
	return v->question ? v->question->groups | OPTIONS_OUTPUT : v->groups;
}

/* Its own options; those of a verb with subcommands are all of theirs. */
static const struct option_def *own_options(const struct verb *v)
{
	return v->question ? v->question->options : v->options;
}

static void options_add(const struct verb *v, struct option_list *out)
{
	unsigned groups = verb_groups(v);

	add_options(out, v->question ? v->question->options : NULL, "Options");
	add_options(out, v->options, "Options");
	if (groups & OPTIONS_TOP)
		add_options(out, request_top_options, "Options");
	if (groups & OPTIONS_CSV)
		add_options(out, csv_options, "Options");
	if (v->question && (groups & OPTIONS_CSV))
		add_options(out, table_options, "Options");
	if (groups & OPTIONS_SELECT)
		add_options(out, request_select_options, "Selection");
	if (groups & OPTIONS_CAPTURE)
		add_options(out, request_capture_options, "Selection");
	if (groups & OPTIONS_OUTPUT)
		add_options(out, output_options, "Common");
}

void options_of(const struct verb *v, struct option_list *out)
{
	out->n = 0;
	options_add(v, out);
	/* own options of all subcommands first, so that the groups stay together */
	for (const struct verb *const *s = v->subs; s && *s; s++)
		add_options(out, own_options(*s), "Options");
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
	if (v->question)
		return v->question->args;
	return v->args ? v->args : "";
}

const char *verb_purpose(const struct verb *v)
{
	return v->question ? v->question->summary : v->summary;
}

bool verb_writes_output(const struct verb *v)
{
	return v->question ? question_writes_output(v->question)
			   : (v->groups & OPTIONS_OWN_FILE) != 0;
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

static bool unknown_option(struct cli *c, const struct options *o, struct str name)
{
	char word[40];
	const char *near = NULL;

	if (name.n < sizeof(word)) {
		memcpy(word, name.p, name.n);
		word[name.n] = 0;
		near = nearest_word(word, next_option, &o->list);
	}
	if (near)
		return err_set(&c->error, INCORE_USAGE, "unknown-option",
			"%s has no option --%.*s; did you mean --%s?", c->verb->name, STR_ARG(name),
			near);
	return err_set(&c->error, INCORE_USAGE, "unknown-option",
		"%s has no option --%.*s; see incore %s --help", c->verb->name, STR_ARG(name),
		c->verb->name);
}

/* Index of an option, or -1. o is NULL without a command line (a page in memory). */
static int find_option(const struct options *o, struct str name, char letter)
{
	for (unsigned i = 0; o && i < o->list.n; i++) {
		const struct option_def *d = o->list.def[i];

		if (letter ? d->letter == letter : str_is(name, d->name))
			return (int)i;
	}
	return -1;
}

static bool set_option(struct cli *c, struct options *o, unsigned i, const char *value)
{
	const struct option_def *d = o->list.def[i];

	if (d->alias_of)
		return set_option(c, o, (unsigned)find_option(o, str_of(d->alias_of), 0), value);
	if (!option_check(d, value, &c->error))
		return false;
	if (d->type != OPTION_MANY)
		o->values[i].n = 0; /* the last one wins */
	return VEC_PUSH(&o->values[i], value) || err_nomem(&c->error);
}

/* Parses one "--name", "--name=value" or "--name value"; *used: words of argv taken. */
static bool parse_long(struct cli *c, struct options *o, char **argv, int left, int *used)
{
	struct str word = str_of(argv[0] + 2), name = word;
	ptrdiff_t eq = str_find(word, "=");
	int i;

	if (eq >= 0)
		name = str_sub(word, 0, (size_t)eq);
	i = find_option(o, name, 0);
	*used = 1;
	if (i < 0)
		return unknown_option(c, o, name);
	if (o->list.def[i]->type == OPTION_FLAG) {
		if (eq >= 0)
			return err_set(&c->error, INCORE_USAGE, "bad-option-value",
				"--%s takes no value", o->list.def[i]->name);
		return set_option(c, o, (unsigned)i, "");
	}
	if (eq >= 0)
		return set_option(c, o, (unsigned)i, word.p + eq + 1);
	if (left < 2)
		return err_set(&c->error, INCORE_USAGE, "missing-option-value",
			"--%s needs a value: --%s %s", o->list.def[i]->name, o->list.def[i]->name,
			o->list.def[i]->arg);
	*used = 2;
	return set_option(c, o, (unsigned)i, argv[1]);
}

/* Parses one "-q", "-qv", "-j4" or "-j 4". */
static bool parse_short(struct cli *c, struct options *o, char **argv, int left, int *used)
{
	*used = 1;
	for (const char *p = argv[0] + 1; *p; p++) {
		int i = find_option(o, (struct str){0}, *p);

		if (i < 0)
			return err_set(&c->error, INCORE_USAGE, "unknown-option",
				"%s has no option -%c; see incore %s --help", c->verb->name, *p,
				c->verb->name);
		if (o->list.def[i]->type == OPTION_FLAG) {
			if (!set_option(c, o, (unsigned)i, ""))
				return false;
			continue;
		}
		if (p[1])
			return set_option(c, o, (unsigned)i, p + 1);
		if (left < 2)
			return err_set(&c->error, INCORE_USAGE, "missing-option-value",
				"-%c needs a value: -%c %s", *p, *p, o->list.def[i]->arg);
		*used = 2;
		return set_option(c, o, (unsigned)i, argv[1]);
	}
	return true;
}

static bool check_args(struct cli *c)
{
	const struct verb *v = c->verb;
	unsigned min = v->question ? v->question->min_paths : v->min_args;
	unsigned max = v->question ? v->question->max_paths : v->max_args;

	if (c->n_args < min)
		return err_set(&c->error, INCORE_USAGE, "missing-argument",
			"%s needs %s; usage: incore %s [options] %s", v->name, verb_args(v),
			v->name, verb_args(v));
	if (c->n_args > max)
		return err_set(&c->error, INCORE_USAGE, "too-many-arguments",
			"'%s' is one argument too many; usage: incore %s [options] %s",
			c->args[max], v->name, verb_args(v));
	return true;
}

/* INCORE_JOBS is used if -j is not given. */
static bool jobs_from_environment(struct cli *c, struct options *o)
{
	const char *jobs = getenv("INCORE_JOBS");
	int i = find_option(o, STR("jobs"), 0);
	uint64_t n;

	if (i < 0 || o->values[i].n || !jobs || !*jobs)
		return true;
	if (!str_to_u64(str_of(jobs), &n))
		return err_set(&c->error, INCORE_USAGE, "bad-environment",
			"INCORE_JOBS expects a whole number, not '%s'", jobs);
	return VEC_PUSH(&o->values[i], jobs) || err_nomem(&c->error);
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

bool options_parse(struct cli *c, int argc, char **argv, const char **wants_help)
{
	struct options *o = mem_zalloc(1, sizeof(*o));
	bool only_args = false;

	*wants_help = NULL;
	c->private = o;
	if (!o)
		return err_nomem(&c->error);
	options_of(c->verb, &o->list);
	for (int i = 0, used; i < argc; i += used) {
		char *word = argv[i];
		bool ok = true;

		used = 1;
		if (only_args || word[0] != '-' || !word[1])
			ok = VEC_PUSH(&o->args, word) || err_nomem(&c->error);
		else if (strcmp(word, "--") == 0)
			only_args = true;
		else if (is_help(word, wants_help))
			return true;
		else if (word[1] == '-')
			ok = parse_long(c, o, argv + i, argc - i, &used);
		else
			ok = parse_short(c, o, argv + i, argc - i, &used);
		if (!ok)
			return false;
	}
	c->args = o->args.v;
	c->n_args = (unsigned)o->args.n;
	return check_args(c) && jobs_from_environment(c, o);
}

void options_free(struct cli *c)
{
	struct options *o = c->private;

	if (!o)
		return;
	for (unsigned i = 0; i < o->list.n; i++)
		VEC_FREE(&o->values[i]);
	VEC_FREE(&o->args);
	mem_free(o);
	c->private = NULL;
}

bool cli_has(const struct cli *c, const char *name)
{
	return cli_many(c, name) > 0;
}

bool cli_flag(const struct cli *c, const char *name)
{
	return cli_many(c, name) > 0;
}

const char *cli_text(const struct cli *c, const char *name)
{
	const struct options *o = c->private;
	int i = find_option(o, str_of(name), 0);

	if (i < 0)
		return NULL;
	return o->values[i].n ? o->values[i].v[o->values[i].n - 1] : o->list.def[i]->fallback;
}

uint64_t cli_count(const struct cli *c, const char *name)
{
	const char *text = cli_text(c, name);
	uint64_t n = 0;

	return text && str_to_u64(str_of(text), &n) ? n : 0;
}

unsigned cli_many(const struct cli *c, const char *name)
{
	const struct options *o = c->private;
	int i = find_option(o, str_of(name), 0);

	return i < 0 ? 0 : (unsigned)o->values[i].n;
}

const char *cli_many_at(const struct cli *c, const char *name, unsigned i)
{
	const struct options *o = c->private;
	int k = find_option(o, str_of(name), 0);

	return k < 0 || i >= o->values[k].n ? NULL : o->values[k].v[i];
}

uint64_t cli_top(const struct cli *c)
{
	const char *text = cli_text(c, "top");

	return text && strcmp(text, "all") == 0 ? UINT64_MAX : cli_count(c, "top");
}
