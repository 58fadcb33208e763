/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.c: incore view: captures in a browser, served locally on this machine. Its answer is where the
 * server is; it is shown when the server is up, and the question ends with the server.
 */
#include <inttypes.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

#include "answer/rows.h"
#include "page/page.h"
#include "serve/report/report_job.h"
#include "serve/session/http.h"
#include "verbs/config.h"
#include "verbs/terminal.h"
#include "verbs/view/browser.h"

#define MAX_CAPTURES 16u

struct view_params {
	uint64_t port, idle_s, from_cyc, until_cyc; /* cycles: NO_COUNT if not given */
	const char *bind, *get, *store;
	bool is_remote, no_open, no_cache;
};
#define FIELD(M) OPTION_FIELD(view_params, M)
static const struct option_def options[] = {
	{OPT_PORT, NULL, "0", "port to listen on; 0: any free port", FIELD(port)},
	{OPT_BIND, NULL, "127.0.0.1", "address to listen on; others than loopback need --remote",
		FIELD(bind)},
	{OPT_REMOTE, NULL, NULL, "allow --bind to an address that other machines can reach",
		FIELD(is_remote)},
	{OPT_NO_OPEN, NULL, NULL, "do not start a browser", FIELD(no_open)},
	{OPT_EXIT_WHEN_IDLE, NULL, "0", "exit after this time without a request; 0: never",
		FIELD(idle_s)},
	{OPT_NO_CACHE, NULL, NULL, "do not cache columns for the next start", FIELD(no_cache)},
	{OPT_FROM, NULL, NULL, "open with all figures narrowed to cycles from this one on",
		FIELD(from_cyc)},
	{OPT_UNTIL, NULL, NULL, "open with all figures narrowed to cycles before this one",
		FIELD(until_cyc)},
	{OPT_TO, .alias_of = "until"},
	{OPT_GET, NULL, NULL, "print the answer to one path, '/api/1/...', without a server",
		FIELD(get)},
#ifdef INCORE_SQLITE
	{OPT_STORE, NULL, NULL, "show the kernels of a store over time instead of captures",
		FIELD(store)},
#endif
	OPTION_END,
};

/* Where the server is. */
struct view_place {
	const char *url;
	uint32_t port;
	uint64_t pid;
	bool is_screen; /* a person reads it */
};
static const struct column place_columns[] = {
	COLUMN(view_place, url, UNIT_NONE, "address for a browser, with its secret"),
	COLUMN(view_place, port, UNIT_INDEX, "port that is listened on"),
	COLUMN(view_place, pid, UNIT_INDEX, "number of the process"),
};
static const struct record place_record = RECORD_OF(view_place, RECORD_BLOCK, place_columns);
static const struct column paths_columns[] = {
	{.name = "", .doc = "paths of the captures", .of = &text_item_record, .type = COLUMN_LIST},
};
static const struct record paths_record = {paths_columns, 1, RECORD_SCALAR, sizeof(struct rows)};

struct job {
	const struct request *request;
	const struct view_params *p;
	struct answer *answer;
	struct config config;
	struct session *session;
	struct board *board;
	struct http *http;
	struct token token;
	struct strbuf url, salt, reading_words;
};

static bool make_session(struct job *j, struct incore_error *e)
{
	const struct request *r = j->request;
	struct session_options o = {.n = r->n_paths,
		.paths = r->paths,
		.reading = r,
		/* the cache is about the capture's own code */
		.no_cache = j->p->no_cache || j->p->get || r->code,
		.report = report_of_session,
		.colors = &j->config.colors};

	if (r->soc)
		sb_printf(&j->salt, "soc=%s\n", r->soc);
	if (r->clock_mhz != NO_COUNT)
		sb_printf(&j->salt, "clock=%llu\n", (unsigned long long)r->clock_mhz);
	if (r->decoder_compat != NO_CHOICE)
		sb_printf(&j->salt, "decoder-compat=%u\n", r->decoder_compat);
	if (r->follow_links)
		sb_puts(&j->salt, "follow-links\n");
	request_put_reading(r, &j->reading_words);
	if (j->salt.failed || j->reading_words.failed)
		return err_nomem(e);
	o.salt = j->salt.n ? j->salt.p : NULL;
	o.reading_words = j->reading_words.p ? j->reading_words.p : "";
#ifdef INCORE_SQLITE
	if (j->p->store) {
		j->board = board_new(&(struct board_options){j->p->store, o}, e);
		return j->board != NULL;
	}
#endif
	j->session = session_new(&o, e);
	/* Report a path that is not a capture at once, not in the browser. */
	return j->session && session_find(j->session, e);
}

/* --- one answer --- */

static void get(struct job *j, struct str target, struct reply *out)
{
#ifdef INCORE_SQLITE
	if (j->board) {
		board_answer(j->board, target, out);
		return;
	}
#endif
	session_load(j->session);
	session_notes(j->session, j->answer);
	answer_warn_unread(j->answer, session_unread(j->session));
	session_answer(j->session, target, out);
}

static bool print_one(struct job *j, struct incore_error *e)
{
	struct reply out;

	get(j, str_of(j->p->get), &out);
	if (out.body.failed)
		err_nomem(e);
	else if (out.status == 404)
		err_set(e, INCORE_USAGE, out.error.code, "%s",
			out.error.message ? out.error.message : "out of memory");
	else if (out.status == 200)
		fwrite(out.body.p, 1, out.body.n, j->request->out);
	else if (!j->session || !session_failure(j->session, e))
		err_move(e, &out.error);
	/* an answer about a capture that cannot be read is a failure */
	if (j->session && e->status == INCORE_OK)
		session_failure(j->session, e);
	sb_free(&out.body);
	incore_error_clear(&out.error);
	return e->status == INCORE_OK;
}

/* --- the server --- */

static bool is_loopback(const char *address)
{
	return strncmp(address, "127.", 4) == 0 || strcmp(address, "::1") == 0;
}

/* The range that the page opens with; false: of the whole trace. The page ends it where the trace
 * ends. */
static bool range_of(const struct view_params *p, uint64_t *from, uint64_t *until)
{
	const uint64_t most = UINT64_C(9007199254740991); /* a page counts no further */

	*from = p->from_cyc == NO_COUNT ? 0 : p->from_cyc;
	*until = p->until_cyc < most ? p->until_cyc : most;
	return p->from_cyc != NO_COUNT || p->until_cyc != NO_COUNT;
}

static bool check_bind(struct job *j, struct incore_error *e)
{
	const struct view_params *p = j->p;

	if (p->port > 65535)
		return err_set(
			e, INCORE_USAGE, "bad-option-value", "--port expects a number up to 65535");
	if (is_loopback(p->bind))
		return true;
	if (!p->is_remote)
		return err_set(e, INCORE_USAGE, "not-loopback",
			"--bind %s can be reached from other machines, and what is sent is not "
			"encrypted; better: ssh -L 8080:127.0.0.1:PORT this-host with "
			"incore view --port PORT there. --remote does it all the same",
			p->bind);
	answer_warn(j->answer,
		"%s can be reached from other machines and nothing is encrypted: whoever reads "
		"the traffic can read the captures. Better: ssh -L 8080:127.0.0.1:PORT this-host",
		p->bind);
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

static bool start(struct job *j, struct incore_error *e)
{
	const char *bind = j->p->bind;
	bool is_any = strcmp(bind, "0.0.0.0") == 0 || strcmp(bind, "::") == 0;
	struct http_options o = {.bind = strcmp(bind, "127.0.0.1") == 0 ? NULL : bind,
		.port = (uint16_t)j->p->port,
		.session = j->session,
		.board = j->board,
		.token = &j->token};
	uint64_t from, until;

	if (!token_make(&j->token, e))
		return false;
	share_heaps(j->request->pool);
	j->http = http_start(&o, e);
	if (!j->http || (j->session && !session_start(j->session, e)))
		return false;
	sb_printf(&j->url,
		strchr(bind, ':') && !is_any ? "http://[%s]:%u/#token=%s"
					     : "http://%s:%u/#token=%s",
		is_any ? "127.0.0.1" : bind, http_port(j->http), j->token.text);
	if (range_of(j->p, &from, &until))
		sb_printf(&j->url, "&f=%" PRIu64 ",%" PRIu64, from, until);
	return !j->url.failed || err_nomem(e);
}

/* Shows the address now, since the question ends with the server. */
static bool show_place(struct job *j, struct incore_error *e)
{
	const struct request *r = j->request;
	const struct terminal *t = r->terminal;
	const struct rows paths = {r->paths, r->n_paths};
	const struct view_place place = {
		j->url.p, http_port(j->http), (uint64_t)getpid(), t->is_screen};

	answer_about(j->answer, &paths_record, &paths);
	answer_set(j->answer, &place_record, &place);
	return t->show(t->ctx, j->answer, e) &&
	       (fflush(r->out) == 0 ||
		       err_set(e, INCORE_FAILED, "write-failed", "the address cannot be printed"));
}

static void view_page(const struct answer *a, struct page *p)
{
	const struct view_place *x = a->data;

	page_command(p, "", "%s", x->url);
	if (x->is_screen)
		page_line(p, "Ctrl-C ends it.");
}

/* Waits for a signal, or until there was no request for a long time. */
static void wait_for_end(struct job *j, const sigset_t *signals)
{
	struct timespec tick = {.tv_nsec = 250000000};

	while (sigtimedwait(signals, NULL, &tick) < 0) {
		http_tend(j->http);
		if (j->p->idle_s && http_idle_s(j->http) >= j->p->idle_s)
			break;
	}
	signal(SIGINT, SIG_DFL); /* a second signal ends at once */
	signal(SIGTERM, SIG_DFL);
	pthread_sigmask(SIG_UNBLOCK, signals, NULL);
}

static bool serve(struct job *j, struct incore_error *e)
{
	struct browser browser = {0};
	sigset_t signals;
	bool ok;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	/* before any thread starts: only this one receives them */
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	ok = check_bind(j, e) && start(j, e) && show_place(j, e);
	if (ok) {
		if (j->request->terminal->is_screen && !j->p->no_open)
			browser_open(&browser, j->url.p);
		wait_for_end(j, &signals);
		browser_close(&browser);
	}
	return ok;
}

static bool check_paths(const struct request *r, struct incore_error *e)
{
	const struct view_params *p = r->params;
	uint64_t from, until;

	if (range_of(p, &from, &until) && p->store)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--from and --until are cycles of a capture: not with --store");
	if (from >= until)
		return err_set(e, INCORE_USAGE, "bad-option-value",
			"--until must be a later cycle than --from");
	if (p->store && r->n_paths)
		return err_set(e, INCORE_USAGE, "too-many-arguments",
			"view shows captures or, with --store, a store: not both");
	return p->store || r->n_paths ||
	       err_set(e, INCORE_USAGE, "missing-argument",
		       "view expects at least one PATH, or --store FILE");
}

static bool view_ask(const struct request *r, struct answer *a, struct incore_error *e)
{
	struct job j = {.request = r, .p = r->params, .answer = a};
	bool ok = check_paths(r, e) && config_read(&j.config, e) && make_session(&j, e) &&
		  (j.p->get ? print_one(&j, e) : serve(&j, e));

	a->is_streamed = a->is_served = true;
	http_stop(j.http);
	session_free(j.session);
#ifdef INCORE_SQLITE
	board_free(j.board);
#endif
	sb_free(&j.reading_words);
	sb_free(&j.url);
	sb_free(&j.salt);
	return ok;
}

const struct question question_view = {
	.name = "view",
	.args = "[PATH...]",
	.summary = "see captures in a browser: timeline, code, source, all figures",
	.groups = OPTIONS_CAPTURE,
	.options = options,
	.params_size = sizeof(struct view_params),
	.max_paths = MAX_CAPTURES,
	.ask = view_ask,
	.page = view_page,
};
