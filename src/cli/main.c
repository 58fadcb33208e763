/* SPDX-License-Identifier: Apache-2.0 */
/*
 * main.c: finds the verb, parses its options, runs it, and makes sure that all output has reached
 * its destination: a full disk is an error, a closed pipe is not.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/map_guard.h"
#include "base/process.h"
#include "cli/ask.h"
#include "cli/options.h"
#include "cli/output.h"
#include "export/json_schema.h"

static bool asks_json(int argc, char **argv)
{
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--json") == 0 || strcmp(argv[i], "--help=json") == 0)
			return true;
	}
	return false;
}

/* Flushes and closes stdout; if that fails, the status returned says so. */
static int finish_stdout(int status, bool as_json)
{
	bool failed = fflush(stdout) != 0 || ferror(stdout);
	int errnum = out_stream_errno();
	struct incore_error e = {0};

	if (fclose(stdout) != 0 && !failed) {
		failed = true;
		errnum = errno;
	}
	if (!failed || errnum == EPIPE ||
		status == INCORE_FAILED) /* the verb reported it already */
		return status;
	err_errno(&e, errnum, "standard output", "cannot write");
	e.status = INCORE_FAILED;
	output_error(&e, as_json);
	incore_error_clear(&e);
	return INCORE_FAILED;
}

static int usage_error(const char *code, const char *word, const char *near, bool as_json)
{
	struct incore_error e = {0};

	if (near)
		err_set(&e, INCORE_USAGE, code, "there is no %s; did you mean %s?", word, near);
	else
		err_set(&e, INCORE_USAGE, code, "there is no %s; see incore --help", word);
	output_error(&e, as_json);
	incore_error_clear(&e);
	return INCORE_USAGE;
}

#define MAX_RECORDS 24u

/* Adds records that are not in the list yet; the list stays NULL-terminated. */
static void add_records(
	const struct record *list[MAX_RECORDS + 1], const struct record *const *more)
{
	for (; *more; more++) {
		unsigned n = 0;

		while (list[n] && list[n] != *more)
			n++;
		if (n < MAX_RECORDS)
			list[n] = *more;
	}
}

static void add_verb(const struct verb *v, const struct record *inputs[MAX_RECORDS + 1],
	const struct record *data[MAX_RECORDS + 1])
{
	const struct question *q = v->question;

	for (const struct verb *const *s = v->subs; s && *s; s++)
		add_verb(*s, inputs, data);
	if (!q || !q->records)
		return;
	add_records(inputs, q->inputs ? q->inputs : capture_inputs);
	add_records(data, q->records);
}

/* Prints the JSON Schema of the verb's --json output. */
static int print_schema(const char *name, bool as_json)
{
	const struct record *inputs[MAX_RECORDS + 1] = {NULL}, *data[MAX_RECORDS + 1] = {NULL};
	const struct verb *v = name ? verb_find(name) : NULL;
	struct json_writer w;

	json_w_file(&w, stdout, 1);
	if (v)
		add_verb(v, inputs, data);
	if (data[0])
		envelope_schema(name, inputs, data, &w);
	else if (!name || strcmp(name, "trace") != 0)
		return usage_error("unknown-schema", "schema of that name", NULL, as_json);
	else
		export_json_schema(&w);
	return json_w_finish(&w, NULL) ? INCORE_OK : INCORE_FAILED;
}

/* Tools of simpler and PyPTO, by the names that people type, and what takes their place here. Their
 * options are ours, too, or are explained on the page. */
static const char *verb_of_tool(const char *name)
{
	static const struct {
		const char *tool, *command;
	} TOOLS[] = {
		{"insight_trace", "incore replay"},
		{"core_swimlane", "incore replay"},
		{"profile_extern_cce", "incore replay"},
		{"incore_profile", "incore profile"},
		{"gen_profiling_case", "incore profile"},
		{"clean_sim_trace", "incore clean"},
		{"dump_viewer", "incore dump ls"},
	};
	struct str s = str_of(path_base(name));

	if (str_ends(s, ".py"))
		s.n -= 3;
	for (size_t i = s.n; i-- > 0;) /* simpler_setup.tools.insight_trace */
		if (s.p[i] == '.') {
			s = str_sub(s, i + 1, s.n);
			break;
		}
	for (size_t i = 0; i < sizeof(TOOLS) / sizeof(*TOOLS); i++)
		if (str_is(s, TOOLS[i].tool))
			return TOOLS[i].command;
	return NULL;
}

/* The command that does the same, with the words that were given. */
static int other_tool(const char *command, int argc, char **argv, bool as_json)
{
	struct incore_error e = {0};
	struct strbuf words = {0};

	if (argc > 2)
		process_quote((const char *const *)argv + 2, &words);
	err_set(&e, INCORE_USAGE, "unknown-verb",
		"there is no verb '%s'; type: %s%s%s (docs/from-simpler.md has its options)",
		argv[1], command, words.n ? " " : "", words.n ? words.p : "");
	output_error(&e, as_json);
	incore_error_clear(&e);
	sb_free(&words);
	return INCORE_USAGE;
}

static int unknown_verb(const char *name, bool as_json)
{
	struct strbuf word = {0};
	int status;

	sb_printf(&word, "%s '%s'", name[0] == '-' ? "option" : "verb", name);
	status = usage_error(
		"unknown-verb", word.p ? word.p : "such verb", nearest_verb(name), as_json);
	sb_free(&word);
	return status;
}

/* The exit status for the failure in c->error. */
static int failure(struct cli *c)
{
	if (c->error.status == INCORE_OK)
		err_nomem(&c->error);
	if (output_watch.is_held(NULL)) /* SIGINT: INTERRUPTED_STATUS */
		return SIGNAL_STATUS + output_watch.first(NULL);
	return c->answer.app_status ? c->answer.app_status : (int)c->error.status;
}

static int run_verb(struct cli *c, bool as_json)
{
	int status;

	/* If an input changed while it was read, the answer is invalid. */
	if (output_open(c) && cli_ask(c) &&
		(c->answer.is_served || map_guard_check("", 0, &c->error))) {
		status = c->answer.is_no ? INCORE_NO : INCORE_OK;
		if (status == INCORE_OK && c->options.strict && c->answer.n_losses) {
			err_set(&c->error, INCORE_PARTIAL, "partial-input",
				"%u loss%s in the input, and --strict was asked for",
				c->answer.n_losses, c->answer.n_losses == 1 ? "" : "es");
			status = INCORE_PARTIAL;
		}
	} else {
		status = failure(c);
	}
	/* the reader of standard output closed it: not a failure */
	if (err_is(&c->error, "broken-pipe") && c->error.path &&
		strcmp(c->error.path, "standard output") == 0) {
		incore_error_clear(&c->error);
		status = INCORE_OK;
	}
	status = output_close(c, status, status == INCORE_OK || status == INCORE_NO);
	output_warnings(c);
	if (c->error.status != INCORE_OK)
		output_error(&c->error, as_json);
	return status;
}

static int with_verb(const struct verb *v, int argc, char **argv, bool as_json)
{
	struct cli c = {.verb = v, .out = stdout};
	const char *wants_help;
	int status = INCORE_OK;

	captures_init(&c.captures);
	if (!options_parse(&c, argc, argv, &wants_help)) {
		status = failure(&c);
		output_error(&c.error, as_json);
	} else if (wants_help && strcmp(wants_help, "json") == 0) {
		help_json(stdout, v);
	} else if (wants_help) {
		help_verb(stdout, v);
	} else {
		status = run_verb(&c, as_json);
	}
	answer_deinit(&c.answer);
	options_free(&c);
	captures_deinit(&c.captures);
	pool_free(c.pool);
	progress_free(c.progress);
	incore_error_clear(&c.error);
	return status;
}

/* "incore dump ls ...": argv[2] names the subcommand. */
static int with_sub(const struct verb *v, int argc, char **argv, bool as_json)
{
	const char *word = argc > 2 ? argv[2] : NULL;
	const struct verb *s = word ? verb_find_sub(v, word) : NULL;
	struct strbuf text = {0};
	int status;

	if (s)
		return with_verb(s, argc - 3, argv + 3, as_json);
	if (word && strcmp(word, "--help=json") == 0) {
		help_json(stdout, v);
		return INCORE_OK;
	}
	if (word && (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)) {
		help_verb(stdout, v);
		return INCORE_OK;
	}
	if (!word) {
		help_verb(stderr, v);
		return INCORE_USAGE;
	}
	if (v->otherwise)
		return with_verb(v->otherwise, argc - 2, argv + 2, as_json);
	sb_printf(&text, "%s '%s %s'", word[0] == '-' ? "option" : "verb", v->name, word);
	status = usage_error(
		"unknown-verb", text.p ? text.p : "such verb", nearest_sub(v, word), as_json);
	sb_free(&text);
	return status;
}

/* Is the first word of the command line a path, which stands for its verdict? What has a slash is
 * one in any case, so that ./hot is the file and not the verb. */
static bool is_path(const char *word)
{
	struct stat st;

	return word[0] != '-' && (strchr(word, '/') || stat(word, &st) == 0);
}

/* "incore PATH" is the verdict on it, "incore A B" compares two. */
static int with_paths(int argc, char **argv, bool as_json)
{
	bool is_pair = argc > 2 && argv[2][0] != '-';

	return with_verb(verb_find(is_pair ? "diff" : "verdict"), argc - 1, argv + 1, as_json);
}

static int dispatch(int argc, char **argv, bool as_json)
{
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct verb *v;

	if (!word) {
		help_main(stderr);
		return INCORE_USAGE;
	}
	if (strcmp(word, "--version") == 0)
		return version_print(stdout, as_json);
	if (strcmp(word, "--man") == 0)
		return man_print(stdout, argc > 2 ? argv[2] : "incore")
			       ? INCORE_OK
			       : usage_error(
					 "unknown-page", "man page of that name", NULL, as_json);
	if (strcmp(word, "--help=json") == 0) {
		help_json(stdout, NULL);
		return INCORE_OK;
	}
	if (strcmp(word, "--schema") == 0)
		return print_schema(argc > 2 ? argv[2] : NULL, as_json);
	if (strcmp(word, "--completion") == 0) {
		if (argc > 2 && completion_print(stdout, argv[2]))
			return INCORE_OK;
		return usage_error(
			"unknown-shell", "completion for that shell", "bash, zsh or fish", as_json);
	}
	if (strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
		if (argc < 3) {
			help_main(stdout);
			return INCORE_OK;
		}
		v = verb_find(argv[2]);
		if (!v)
			return unknown_verb(argv[2], as_json);
		if (v->subs && argc > 3 && verb_find_sub(v, argv[3]))
			v = verb_find_sub(v, argv[3]);
		help_verb(stdout, v);
		return INCORE_OK;
	}
	v = verb_find(word);
	if (!v && verb_of_tool(word))
		return other_tool(verb_of_tool(word), argc, argv, as_json);
	if (v && v->subs)
		return with_sub(v, argc, argv, as_json);
	if (!v && is_path(word))
		return with_paths(argc, argv, as_json);
	return v ? with_verb(v, argc - 2, argv + 2, as_json) : unknown_verb(word, as_json);
}

/* No file that is opened later may get the descriptor of a standard stream that was closed. The
 * placeholder is opened for the wrong direction, so that using the stream still fails. */
static void keep_streams(void)
{
	for (int fd = 0; fd < 3; fd++)
		if (fcntl(fd, F_GETFD) < 0 &&
			open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
			_exit(INCORE_FAILED);
}

int main(int argc, char **argv)
{
	bool as_json = asks_json(argc, argv);

	keep_streams();
	output_signals();
	output_stdout();
	map_guard_install();
	return finish_stdout(dispatch(argc, argv, as_json), as_json);
}
