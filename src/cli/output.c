/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c: where the answer goes (stdout, -o file or pager), colour and width, and messages
 * besides the answer: progress, log, warnings and errors on stderr.
 */
#include "cli/output.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.h"
#include "base/str.h"

extern char **environ;

#define WARNINGS_SHOWN 10
#define LEAST_WIDTH 20u /* for --width and COLUMNS */
#define MOST_WIDTH 10000u

static struct out_file target; /* of -o */
static pid_t pager_pid;
static bool is_progress_shown;

static const int ends[] = {SIGTERM, SIGHUP};
static volatile sig_atomic_t first_signal;

/* SIGINT exits with its status, other signals end the program as usual, but no files are left. */
static void on_end(int sig)
{
	leftover_remove_all();
	if (sig == SIGINT)
		_exit(INTERRUPTED_STATUS);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* The first signal is only noted. */
static void on_first(int sig)
{
	if (first_signal)
		on_end(sig);
	first_signal = sig;
}

/* A file size limit must only make the write fail (EFBIG). Not SIG_IGN, which children would
 * inherit. */
static void on_size_limit(int sig)
{
	(void)sig;
}

/* For work that leaves directories, the first SIGINT is only noted, so that unfinished work can be
 * removed; the second ends the program. So are SIGTERM and SIGHUP for verbs that run a user's
 * program: that program gets the signal, and we end when it has ended. */
static void hold_signals(bool runs_program)
{
	struct sigaction act = {.sa_handler = on_first, .sa_flags = SA_RESTART}, was;

	sigaction(SIGINT, &act, NULL);
	for (unsigned i = 0; runs_program && i < sizeof(ends) / sizeof(*ends); i++)
		if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler == on_end)
			sigaction(ends[i], &act, NULL);
}

static bool is_interrupted(void *unused)
{
	(void)unused;
	return first_signal != 0;
}

static int signal_held(void *unused)
{
	(void)unused;
	return first_signal;
}

const struct signal_watch output_watch = {hold_signals, is_interrupted, signal_held};

void output_signals(void)
{
	struct sigaction act = {.sa_handler = on_end}, was;

	sigaction(SIGINT, &act, NULL);
	for (unsigned i = 0; i < 2; i++) /* signals ignored by nohup stay ignored */
		if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler == SIG_DFL)
			sigaction(ends[i], &act, NULL);
	act.sa_handler = on_size_limit;
	sigaction(SIGXFSZ, &act, NULL);
	act.sa_handler = SIG_IGN;
	sigaction(SIGPIPE, &act, NULL);
}

void output_stdout(void)
{
#ifdef __GLIBC__ /* elsewhere it cannot be replaced, and a failed write may have a vaguer cause */
	FILE *f = out_stream(STDOUT_FILENO, "w", "standard output");

	if (f && setvbuf(f, NULL, isatty(STDOUT_FILENO) == 1 ? _IOLBF : _IOFBF, BUFSIZ) == 0)
		stdout = f;
#endif
}

/* --- progress, log --- */

static void show_progress(void *ctx, const char *what, uint64_t done, uint64_t total, bool is_last)
{
	(void)ctx;
	if (is_last) {
		if (is_progress_shown)
			fputs("\r\033[K", stderr);
		is_progress_shown = false;
	} else if (total) {
		fprintf(stderr, "\r\033[K%s %llu of %llu (%u %%)", what, (unsigned long long)done,
			(unsigned long long)total,
			(unsigned)(100.0 * (double)done / (double)total));
		is_progress_shown = true;
	} else {
		fprintf(stderr, "\r\033[K%s %llu", what, (unsigned long long)done);
		is_progress_shown = true;
	}
	fflush(stderr);
}

static void write_progress(void *ctx, const char *what, uint64_t done, uint64_t total, bool is_last)
{
	(void)ctx;
	fprintf(stderr,
		"{\"schema\":\"incore.progress/1\",\"what\":\"%s\",\"done\":%llu,\"total\":%llu,"
		"\"last\":%s}\n",
		what, (unsigned long long)done, (unsigned long long)total,
		is_last ? "true" : "false");
}

/* Prints exactly one line on stderr, whatever the text contains. */
static void tell(const char *what, const char *text)
{
	struct strbuf line = {0};

	sb_plain(&line, str_of(text));
	fprintf(stderr, "incore: %s%s\n", what, line.failed || !line.p ? "" : line.p);
	sb_free(&line);
}

static void show_log(enum log_level level, const char *module, const char *text)
{
	static const char *const names[] = {"debug", "info", "warning"};
	char what[64];

	snprintf(what, sizeof(what), "%s: %s: ", names[level], module);
	tell(what, text);
}

static bool open_progress(struct cli *c)
{
	bool as_json = c->options.progress == PROGRESS_JSON;

	if (c->options.progress == PROGRESS_NEVER)
		return true;
	if (!as_json && (c->options.quiet || !isatty(STDERR_FILENO)))
		return true;
	c->progress = progress_new(as_json ? write_progress : show_progress, c);
	return c->progress || err_nomem(&c->error);
}

/* --- terminal --- */

unsigned output_width(int fd)
{
	struct winsize size;
	const char *columns = getenv("COLUMNS");
	uint64_t n;

	if (isatty(fd) != 1)
		return 0;
	if (columns && str_to_u64(str_of(columns), &n) && n >= LEAST_WIDTH && n <= MOST_WIDTH)
		return (unsigned)n;
	if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col >= LEAST_WIDTH)
		return size.ws_col;
	return 80;
}

static bool wants_color(const struct cli *c)
{
	const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"),
		   *term = getenv("TERM");

	if (c->options.json || c->options.csv || c->options.color == COLOR_NEVER)
		return false;
	if (c->options.color == COLOR_ALWAYS)
		return true;
	if (no && *no)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return true;
	return c->is_terminal && !(term && strcmp(term, "dumb") == 0);
}

static bool check_options(const struct cli *c, struct incore_error *e)
{
	const struct cli_options *o = &c->options;

	if (o->width != NO_COUNT && o->width != 0 &&
		(o->width < LEAST_WIDTH || o->width > MOST_WIDTH))
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--width expects 0 or a number of columns from %u to %u", LEAST_WIDTH,
			MOST_WIDTH);
	if (o->json && o->columns)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--columns is for tables: --json has every column");
	if (o->json && o->csv)
		return err_set(
			e, INCORE_USAGE, "bad-option-value", "--json and --csv exclude each other");
	return !o->json || !o->streams_product ||
	       err_set(e, INCORE_USAGE, "bad-option-value",
		       "--json and -o - both want standard output");
}

bool output_open(struct cli *c)
{
	const struct cli_options *o = &c->options;
	const char *log = getenv("INCORE_LOG");
	enum log_level least = o->verbose ? LOG_INFO : LOG_WARN;

	if (log && strcmp(log, "debug") == 0)
		least = LOG_DEBUG;
	if (!o->quiet)
		log_set_sink(show_log, least);
	if (!check_options(c, &c->error))
		return false;
	if (o->output && strcmp(o->output, "-") != 0) {
		if (!out_file_open(&target, o->output, &c->error))
			return err_wrap(&c->error, "cannot write the file of -o");
		c->out = target.f;
	} else {
		c->is_terminal = isatty(STDOUT_FILENO) == 1;
	}
	c->width = o->width != NO_COUNT ? (unsigned)o->width
		   : c->is_terminal	? output_width(STDOUT_FILENO)
					: 0;
	c->use_color = wants_color(c);
	if (!open_progress(c))
		return false;
	c->pool = pool_new((unsigned)o->jobs, &c->error);
	return c->pool != NULL;
}

/* --- pager --- */

/* Starts the pager; "less" also opens at a line, and leaves short text on the screen. */
static bool spawn_pager(const char *command, unsigned line, int read_fd)
{
	posix_spawn_file_actions_t actions;
	char *argv[] = {(char *)"sh", (char *)"-c", NULL, NULL};
	struct strbuf text = {0};
	bool is_less = str_has(str_of(command), "less");
	int failed;

	sb_puts(&text, command);
	if (is_less && line > 1)
		sb_printf(&text, " +%u", line);
	if (text.failed)
		return false;
	argv[2] = text.p;
	setenv("LESS", "FRX", 0);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, read_fd, STDIN_FILENO);
	failed = posix_spawn(&pager_pid, "/bin/sh", &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	sb_free(&text);
	return !failed;
}

void output_page(struct cli *c, unsigned line)
{
	const char *command = getenv("PAGER");
	int fds[2];
	FILE *f;

	if (!c->is_terminal || c->options.json || c->options.csv || pager_pid || c->out != stdout)
		return;
	if (!command || !*command)
		command = "less";
	if (strcmp(command, "cat") == 0 || pipe2(fds, O_CLOEXEC) != 0)
		return;
	f = fdopen(fds[1], "w");
	if (!f || !spawn_pager(command, line, fds[0])) {
		pager_pid = 0;
		close(fds[0]);
		if (f)
			fclose(f);
		else
			close(fds[1]);
		return; /* without a pager the text simply goes to the terminal */
	}
	close(fds[0]);
	c->out = f;
}

static void close_pager(struct cli *c)
{
	int status;

	signal(SIGINT, SIG_IGN); /* it belongs to the pager now */
	fclose(c->out);
	c->out = stdout;
	while (waitpid(pager_pid, &status, 0) < 0 && errno == EINTR)
		;
	pager_pid = 0;
}

/* --- closing --- */

int output_close(struct cli *c, int status, bool keep)
{
	if (is_progress_shown)
		show_progress(NULL, "", 0, 0, true);
	if (pager_pid)
		close_pager(c);
	if (!target.f)
		return status;
	c->out = stdout;
	if (keep && !out_file_commit(&target, &c->error)) {
		err_wrap(&c->error, "cannot write the file of -o");
		c->error.status = INCORE_FAILED;
		status = INCORE_FAILED;
	}
	out_file_abort(&target);
	return status;
}

void output_warnings(struct cli *c)
{
	const struct answer *a = &c->answer;
	unsigned n = 0;

	if (c->options.json || c->options.quiet)
		return;
	while (c->n_told < a->warnings.n) {
		const char *text = a->warnings.v[c->n_told++];

		if (n++ < WARNINGS_SHOWN || c->options.verbose)
			tell("warning: ", text);
	}
	if (n > WARNINGS_SHOWN && !c->options.verbose)
		fprintf(stderr, "incore: warning: and %u more like these; -v shows all\n",
			n - WARNINGS_SHOWN);
}

static void put_error(struct json_writer *w, const struct incore_error *e)
{
	json_w_kv_cstr(w, "code", e->code);
	json_w_kv_cstr(w, "message", e->message);
	json_w_kv_cstr(w, "path", e->path);
	json_w_key(w, "offset");
	if (e->offset != INCORE_NO_OFFSET && e->path)
		json_w_u64(w, e->offset);
	else
		json_w_null(w);
	json_w_key(w, "line");
	if (e->line)
		json_w_u64(w, e->line);
	else
		json_w_null(w);
	json_w_key(w, "column");
	if (e->column)
		json_w_u64(w, e->column);
	else
		json_w_null(w);
}

void output_error(const struct incore_error *e, bool as_json)
{
	struct strbuf text = {0};
	struct json_writer w;

	if (!as_json) {
		err_format(e, &text);
		tell("", text.n ? text.p : e->code ? e->code : "out of memory");
		sb_free(&text);
		return;
	}
	json_w_file(&w, stderr, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.error/1");
	json_w_kv_object(&w, "error");
	put_error(&w, e);
	json_w_kv_array(&w, "causes");
	for (const struct incore_error *cause = e->cause; cause; cause = cause->cause) {
		json_w_object(&w);
		put_error(&w, cause);
		json_w_end(&w);
	}
	json_w_end(&w);
	json_w_end(&w);
	json_w_end(&w);
	json_w_finish(&w, NULL);
	fputc('\n', stderr);
}
