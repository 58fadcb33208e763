/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_view.c: incore view: captures in a browser, served locally on this machine. */
#include <signal.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "base/process.h"
#include "base/vec.h"
#include "cli/ask.h"
#include "cli/browser.h"
#include "page/say.h"
#include "serve/report/report_job.h"
#include "serve/session/http.h"
#include "verbs/config.h"

#define MAX_CAPTURES 16u

static const struct option_def options[] = {
	{OPT_PORT, NULL, "0", "port to listen on; 0: any free port"},
	{OPT_BIND, NULL, "127.0.0.1", "address to listen on; others than loopback need --remote"},
	{OPT_REMOTE, NULL, NULL, "allow --bind to an address that other machines can reach"},
	{OPT_NO_OPEN, NULL, NULL, "do not start a browser"},
	{OPT_EXIT_WHEN_IDLE, NULL, "0", "exit after this time without a request; 0: never"},
	{OPT_NO_CACHE, NULL, NULL, "do not cache columns for the next start"},
	{OPT_GET, NULL, NULL, "print the answer to one path, '/api/1/...', without a server"},
#ifdef INCORE_SQLITE
	{OPT_STORE, NULL, NULL, "show the kernels of a store over time instead of captures"},
#endif
	OPTION_END,
};

struct job {
	struct cli *c;
	struct config config;
	struct asked reading;
	struct session *session;
	struct board *board;
	struct http *http;
	struct token token;
	struct strbuf url, salt, reading_words;
};

static bool make_session(struct job *j)
{
	struct cli *c = j->c;
	struct session_options o = {.n = c->n_args,
		.paths = c->args,
		.reading = &j->reading.request,
		/* the cache is about the capture's own code */
		.no_cache = cli_flag(c, "no-cache") || cli_has(c, "get") || cli_has(c, "code"),
		.colors = &j->config.colors};
	static const char *const reading[] = {"soc", "clock", "decoder-compat"};

	for (unsigned i = 0; i < sizeof(reading) / sizeof(reading[0]); i++)
		if (cli_has(c, reading[i]))
			sb_printf(&j->salt, "%s=%s\n", reading[i], cli_text(c, reading[i]));
	if (cli_flag(c, "follow-links"))
		sb_puts(&j->salt, "follow-links\n");
	o.salt = j->salt.n ? j->salt.p : NULL;
	request_put_reading(&j->reading.request, &j->reading_words);
	if (j->reading_words.failed)
		return err_nomem(&c->error);
	o.reading_words = j->reading_words.p ? j->reading_words.p : "";
	o.report = report_of_session;
#ifdef INCORE_SQLITE
	if (cli_has(c, "store")) {
		j->board = board_new(&(struct board_options){cli_text(c, "store"), o}, &c->error);
		return j->board != NULL;
	}
#endif
	j->session = session_new(&o, &c->error);
	/* Report a path that is not a capture at once, not in the browser. */
	return j->session && session_find(j->session, &c->error);
}

/* --- one answer --- */

static void ask(struct job *j, struct str target, struct reply *r)
{
#ifdef INCORE_SQLITE
	if (j->board) {
		board_answer(j->board, target, r);
		return;
	}
#endif
	session_load(j->session);
	cli_session_notes(j->c, j->session);
	cli_warn_unread(j->c, session_unread(j->session));
	session_answer(j->session, target, r);
}

static bool print_one(struct job *j)
{
	struct reply r;

	ask(j, str_of(cli_text(j->c, "get")), &r);
	if (r.body.failed)
		err_nomem(&j->c->error);
	else if (r.status == 404)
		err_set(&j->c->error, INCORE_USAGE, r.error.code, "%s",
			r.error.message ? r.error.message : "out of memory");
	else if (r.status == 200)
		fwrite(r.body.p, 1, r.body.n, j->c->out);
	else if (!j->session || !session_failure(j->session, &j->c->error))
		err_move(&j->c->error, &r.error);
	/* an answer about a capture that cannot be read is a failure */
	if (j->session && j->c->error.status == INCORE_OK)
		session_failure(j->session, &j->c->error);
	sb_free(&r.body);
	incore_error_clear(&r.error);
	return j->c->error.status == INCORE_OK;
}

/* --- the server --- */

static bool is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

static bool check_bind(struct cli *c)
{
	const char *bind = cli_text(c, "bind");

	if (cli_count(c, "port") > 65535)
		return err_set(&c->error, INCORE_USAGE, "bad-option-value",
			"--port expects a number up to 65535");
	if (is_loopback(bind))
		return true;
	if (!cli_flag(c, "remote"))
		return err_set(&c->error, INCORE_USAGE, "not-loopback",
			"--bind %s can be reached from other machines, and what is sent is not "
			"encrypted; better: ssh -L 8080:127.0.0.1:PORT this-host with "
			"incore view --port PORT there. --remote does it all the same",
			bind);
	cli_warn(c,
		"%s can be reached from other machines and nothing is encrypted: whoever reads "
		"the traffic can read the captures. Better: ssh -L 8080:127.0.0.1:PORT this-host",
		bind);
	return true;
}

/* Each of its threads would get a heap of its own and keep there what one report left: no more heaps
 * than threads that work at once. */
static void share_heaps(const struct pool *pool)
{
#ifdef __GLIBC__
	mallopt(M_ARENA_MAX, (int)pool_size(pool));
#else
	(void)pool;
#endif
}

static bool start(struct job *j)
{
	struct cli *c = j->c;
	const char *bind = cli_text(c, "bind");
	bool is_any = strcmp(bind, "0.0.0.0") == 0 || strcmp(bind, "::") == 0;
	struct http_options o = {.bind = strcmp(bind, "127.0.0.1") == 0 ? NULL : bind,
		.port = (uint16_t)cli_count(c, "port"),
		.session = j->session,
		.board = j->board,
		.token = &j->token};

	if (!token_make(&j->token, &c->error))
		return false;
	share_heaps(c->pool);
	j->http = http_start(&o, &c->error);
	if (!j->http || (j->session && !session_start(j->session, &c->error)))
		return false;
	sb_printf(&j->url,
		strchr(bind, ':') && !is_any ? "http://[%s]:%u/#token=%s"
					     : "http://%s:%u/#token=%s",
		is_any ? "127.0.0.1" : bind, http_port(j->http), j->token.text);
	return !j->url.failed || err_nomem(&c->error);
}

static bool print_url(struct job *j)
{
	struct cli *c = j->c;
	struct json_writer w;
	bool ok = true;

	if (c->use_json) {
		cli_json_head(c, &w);
		json_w_row(&w);
		for (unsigned i = 0; i < c->n_args; i++)
			json_w_cstr(&w, c->args[i]);
		json_w_end(&w);
		json_w_kv_object(&w, "data");
		json_w_kv_cstr(&w, "url", j->url.p);
		json_w_kv_u64(&w, "port", http_port(j->http));
		json_w_kv_u64(&w, "pid", (uint64_t)getpid());
		json_w_end(&w);
		ok = cli_json_end(c, &w);
	} else {
		say(c->out, "%s\n", j->url.p);
		if (c->is_terminal)
			say(c->out, "Ctrl-C ends it.\n");
	}
	return ok && (fflush(c->out) == 0 || err_set(&c->error, INCORE_FAILED, "write-failed",
						     "the address cannot be printed"));
}

/* Waits for a signal, or until there was no request for a long time. */
static void wait_for_end(struct job *j, const sigset_t *signals)
{
	uint64_t idle = cli_count(j->c, "exit-when-idle");
	struct timespec tick = {.tv_nsec = 250000000};

	while (sigtimedwait(signals, NULL, &tick) < 0) {
		http_tend(j->http);
		if (idle && http_idle_s(j->http) >= idle)
			break;
	}
	signal(SIGINT, SIG_DFL); /* a second signal ends at once */
	signal(SIGTERM, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, signals, NULL);
}

static bool serve(struct job *j)
{
	struct browser browser = {0};
	sigset_t signals;
	bool ok;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &signals,
		NULL); /* before any thread starts: only this one receives them */
	ok = check_bind(j->c) && start(j) && print_url(j);
	if (ok) {
		if (j->c->is_terminal && !cli_flag(j->c, "no-open"))
			browser_open(&browser, j->url.p);
		wait_for_end(j, &signals);
		browser_close(&browser);
	}
	return ok;
}

static bool check_paths(struct cli *c)
{
	bool has_store = cli_has(c, "store");

	if (has_store && c->n_args)
		return err_set(&c->error, INCORE_USAGE, "too-many-arguments",
			"view shows captures or, with --store, a store: not both");
	return has_store || c->n_args ||
	       err_set(&c->error, INCORE_USAGE, "missing-argument",
		       "view expects at least one PATH, or --store FILE");
}

static bool run(struct cli *c)
{
	struct job j = {.c = c};
	bool ok = check_paths(c) && cli_begin(c, &j.reading) && config_read(&j.config, &c->error) &&
		  make_session(&j) && (cli_has(c, "get") ? print_one(&j) : serve(&j));

	http_stop(j.http);
	session_free(j.session);
#ifdef INCORE_SQLITE
	board_free(j.board);
#endif
	cli_answered(&j.reading);
	sb_free(&j.reading_words);
	sb_free(&j.url);
	sb_free(&j.salt);
	return ok;
}

const struct verb verb_view = {
	.name = "view",
	.args = "[PATH...]",
	.summary = "see captures in a browser: timeline, code, source, all figures",
	.groups = OPTIONS_OUTPUT | OPTIONS_CAPTURE | VERB_SERVES,
	.options = options,
	.max_args = MAX_CAPTURES,
	.run = run,
};
