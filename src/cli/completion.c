/* SPDX-License-Identifier: Apache-2.0 */
/* completion.c: completion scripts for bash, zsh and fish, made from the verb and option tables. */
#include "cli/options.h"

#include <string.h>

/* Writes a choice "a|b|c" as a word list "a b c". */
static void put_choices(FILE *out, const char *choices)
{
	for (const char *p = choices; *p; p++)
		fputc(*p == '|' ? ' ' : *p, out);
}

/* Writes text for single quotes; in zsh ':' and brackets also need a backslash. */
static void put_quoted(FILE *out, const char *s, const char *escape)
{
	for (; *s; s++) {
		if (*s == '\'') {
			fputs("'\\''", out);
			continue;
		}
		if (strchr(escape, *s))
			fputc('\\', out);
		fputc(*s, out);
	}
}

/* "ls show ..." */
static void put_subs(FILE *out, const struct verb *v)
{
	for (const struct verb *const *s = v->subs; *s; s++)
		fprintf(out, "%s%s", s == v->subs ? "" : " ", verb_last_word(*s));
}

static void bash_verb(FILE *out, const struct verb *v)
{
	struct option_list l;

	options_of(v, &l);
	fprintf(out, "\t%s)\n", v->name);
	if (v->subs) {
		fputs("\t\tif [ \"$COMP_CWORD\" -eq 2 ]; then COMPREPLY=($(compgen -W '", out);
		put_subs(out, v);
		fputs("' -- \"$cur\")); return; fi\n", out);
	}
	fputs("\t\tcase \"$prev\" in\n", out);
	for (unsigned i = 0; i < l.n; i++) {
		if (!l.def[i]->choices)
			continue;
		fprintf(out, "\t\t--%s) COMPREPLY=($(compgen -W '", l.def[i]->name);
		put_choices(out, l.def[i]->choices);
		fputs("' -- \"$cur\")); return ;;\n", out);
	}
	fputs("\t\tesac\n\t\topts='--help", out);
	for (unsigned i = 0; i < l.n; i++)
		fprintf(out, " --%s", l.def[i]->name);
	fputs("' ;;\n", out);
}

static void bash(FILE *out)
{
	fputs("# bash completion for incore; made by incore --completion bash\n"
	      "_incore()\n{\n"
	      "\tlocal cur prev opts\n"
	      "\tcur=${COMP_WORDS[COMP_CWORD]}\n\tprev=${COMP_WORDS[COMP_CWORD-1]}\n"
	      "\tif [ \"$prev\" = '=' ]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n\t\tCOMPREPLY=($(compgen -f -W '",
		out);
	for (const struct verb *const *v = verb_table; *v; v++)
		fprintf(out, "%s ", (*v)->name);
	fputs("help --help --version --man --completion' -- \"$cur\"))\n\t\treturn\n\tfi\n"
	      "\tcase \"${COMP_WORDS[1]}\" in\n",
		out);
	for (const struct verb *const *v = verb_table; *v; v++)
		bash_verb(out, *v);
	fputs("\tesac\n"
	      "\tcase \"$cur\" in\n"
	      "\t-*) COMPREPLY=($(compgen -W \"$opts\" -- \"$cur\")) ;;\n"
	      "\t*) COMPREPLY=($(compgen -f -- \"$cur\")) ;;\n"
	      "\tesac\n}\ncomplete -o filenames -F _incore incore\n",
		out);
}

static void zsh_option(FILE *out, const struct option_def *d)
{
	fprintf(out, "\t\t\t'--%s%s[", d->name, d->arg ? "=" : "");
	put_quoted(out, option_purpose(d, (char[OPTION_TEXT_SIZE]){0}), "[]:");
	fputc(']', out);
	if (d->choices) {
		fprintf(out, ":%s:(", d->arg);
		put_choices(out, d->choices);
		fputc(')', out);
	} else if (d->arg) {
		fprintf(out, ":%s:%s", d->arg, strcmp(d->arg, "FILE") == 0 ? "_files" : "");
	}
	fputs("' \\\n", out);
}

static void zsh(FILE *out)
{
	fputs("#compdef incore\n# made by incore --completion zsh\n"
	      "_incore() {\n\tlocal -a verbs\n\tverbs=(\n",
		out);
	for (const struct verb *const *v = verb_table; *v; v++) {
		fprintf(out, "\t\t'%s:", (*v)->name);
		put_quoted(out, verb_purpose(*v), ":");
		fputs("'\n", out);
	}
	fputs("\t)\n\tif (( CURRENT == 2 )); then\n\t\t_describe verb verbs\n\t\t_files\n\t\treturn\n\tfi\n"
	      "\tlocal verb=$words[2]\n\tshift words\n\t(( CURRENT-- ))\n\tcase $verb in\n",
		out);
	for (const struct verb *const *v = verb_table; *v; v++) {
		struct option_list l;

		options_of(*v, &l);
		fprintf(out, "\t%s)\n\t\t_arguments \\\n", (*v)->name);
		for (unsigned i = 0; i < l.n; i++)
			zsh_option(out, l.def[i]);
		if ((*v)->subs) {
			fputs("\t\t\t'1:verb:(", out);
			put_subs(out, *v);
			fputs(")' \\\n", out);
		}
		fputs("\t\t\t'--help[options of this verb]' \\\n\t\t\t'*:path:_files' ;;\n", out);
	}
	fputs("\tesac\n}\n_incore \"$@\"\n", out);
}

static void fish(FILE *out)
{
	fputs("# made by incore --completion fish\n", out);
	for (const struct verb *const *v = verb_table; *v; v++) {
		struct option_list l;

		fprintf(out, "complete -c incore -n __fish_use_subcommand -a %s -d '", (*v)->name);
		put_quoted(out, verb_purpose(*v), "");
		fputs("'\n", out);
		if ((*v)->subs) {
			fprintf(out, "complete -c incore -n '__fish_seen_subcommand_from %s' -a '",
				(*v)->name);
			put_subs(out, *v);
			fputs("'\n", out);
		}
		options_of(*v, &l);
		for (unsigned i = 0; i < l.n; i++) {
			const struct option_def *d = l.def[i];

			fprintf(out, "complete -c incore -n '__fish_seen_subcommand_from %s' -l %s",
				(*v)->name, d->name);
			if (d->letter)
				fprintf(out, " -s %c", d->letter);
			if (d->choices) {
				fputs(" -x -a '", out);
				put_choices(out, d->choices);
				fputc('\'', out);
			} else if (d->arg) {
				fputs(strcmp(d->arg, "FILE") == 0 ? " -r" : " -x", out);
			}
			fputs(" -d '", out);
			put_quoted(out, option_purpose(d, (char[OPTION_TEXT_SIZE]){0}), "");
			fputs("'\n", out);
		}
	}
}

bool completion_print(FILE *out, const char *shell)
{
	if (strcmp(shell, "bash") == 0)
		bash(out);
	else if (strcmp(shell, "zsh") == 0)
		zsh(out);
	else if (strcmp(shell, "fish") == 0)
		fish(out);
	else
		return false;
	return true;
}
