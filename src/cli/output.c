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

void output_finish_on_interrupt(void)
{
	struct sigaction act = {.sa_handler = on_first, .sa_flags = SA_RESTART};

	sigaction(SIGINT, &act, NULL);
}

void output_finish_on_signals(void)
{
	struct sigaction act = {.sa_handler = on_first, .sa_flags = SA_RESTART}, was;

	output_finish_on_interrupt();
	for (unsigned i = 0; i < sizeof(ends) / sizeof(*ends); i++)
		if (sigaction(ends[i], NULL, &was) == 0 && was.sa_handler == on_end)
			sigaction(ends[i], &act, NULL);
}

bool output_interrupted(void *unused)
{
	(void)unused;
	return first_signal != 0;
}

int output_signal(void *unused)
{
	(void)unused;
	return first_signal;
}

static void hold_signals(bool runs_program)
{
	(runs_program ? output_finish_on_signals : output_finish_on_interrupt)();
}

const struct signal_watch output_watch = {hold_signals, output_interrupted, output_signal};

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
	const char *how = cli_text(c, "progress");
	bool as_json = how && strcmp(how, "json") == 0;

	if (!how || strcmp(how, "never") == 0)
		return true;
	if (!as_json && (cli_flag(c, "quiet") || !isatty(STDERR_FILENO)))
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
	const char *when = cli_text(c, "color");
	const char *no = getenv("NO_COLOR"), *force = getenv("CLICOLOR_FORCE"),
		   *term = getenv("TERM");

	if (c->use_json || c->use_csv || !when || strcmp(when, "never") == 0)
		return false;
	if (strcmp(when, "always") == 0)
		return true;
	if (no && *no)
		return false;
	if (force && *force && strcmp(force, "0") != 0)
		return true;
	return c->is_terminal && !(term && strcmp(term, "dumb") == 0);
}

/* Does "-o -" name standard output? Not where it names a folder. */
static bool writes_stdout(const struct verb *v)
{
	const struct option_def *own =
		v->question ? option_find(v->question->options, "output") : NULL;

	return own && strcmp(own->arg, "FILE") == 0;
}

bool output_open(struct cli *c)
{
	const char *path = cli_text(c, "output");
	const char *log = getenv("INCORE_LOG");
	enum log_level least = cli_flag(c, "verbose") ? LOG_INFO : LOG_WARN;

	if (log && strcmp(log, "debug") == 0)
		least = LOG_DEBUG;
	if (!cli_flag(c, "quiet"))
		log_set_sink(show_log, least);
	c->use_json = cli_flag(c, "json");
	c->use_csv = cli_flag(c, "csv");
	if (cli_has(c, "width") && cli_count(c, "width") != 0 &&
		(cli_count(c, "width") < LEAST_WIDTH || cli_count(c, "width") > MOST_WIDTH))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--width expects 0 or a number of columns from %u to %u", LEAST_WIDTH,
			MOST_WIDTH);
	if (c->use_json && cli_has(c, "columns"))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--columns is for tables: --json has every column");
	if (c->use_json && c->use_csv)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--json and --csv exclude each other");
	if (c->use_json && path && strcmp(path, "-") == 0 && writes_stdout(c->verb))
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--json and -o - both want standard output");
	if (path && strcmp(path, "-") != 0 && !verb_writes_output(c->verb)) {
		if (!out_file_open(&target, path, &c->error))
			return err_wrap(&c->error, "cannot write the file of -o");
		c->out = target.f;
	} else {
		c->is_terminal = isatty(STDOUT_FILENO) == 1;
	}
	c->width = cli_has(c, "width") ? (unsigned)cli_count(c, "width")
		   : c->is_terminal    ? output_width(STDOUT_FILENO)
				       : 0;
	c->use_color = wants_color(c);
	if (!open_progress(c))
		return false;
	c->pool = pool_new((unsigned)cli_count(c, "jobs"), &c->error);
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

void cli_page(struct cli *c, unsigned line)
{
	const char *command = getenv("PAGER");
	int fds[2];
	FILE *f;

	if (!c->is_terminal || c->use_json || c->use_csv || pager_pid || c->out != stdout)
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

void cli_warn(struct cli *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	sb_vprintf(&c->warnings, fmt, ap);
	va_end(ap);
	sb_putc(&c->warnings, 0); /* each warning ends in NUL */
	c->n_warnings++;
}

void output_warnings(const struct cli *c)
{
	const char *p = c->warnings.p, *end = p ? p + c->warnings.n : NULL;
	unsigned n = 0;

	if (c->use_json || cli_flag(c, "quiet"))
		return;
	if (c->warnings.failed)
		fputs("incore: warning: out of memory: a warning was lost\n", stderr);
	for (; p && p < end; p += strlen(p) + 1) {
		if (n++ < WARNINGS_SHOWN || cli_flag(c, "verbose"))
			tell("warning: ", p);
	}
	if (n > WARNINGS_SHOWN && !cli_flag(c, "verbose"))
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
