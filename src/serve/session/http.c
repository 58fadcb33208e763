/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c: the viewer's server. Parts: guests; the token; the server.
 */
#include "serve/session/http.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "serve/session/assets.h"
#include "serve/session/token.h"

/* --- guests ----------------------------------------------------------------------------------- */

/*
 * The connections of a server, and which of them may stay. A client that has shown the token is
 * known and may stay. A stranger has a short time to send a whole request, and only a few strangers
 * may stay longer: so nobody can block the user's page by just holding connections open.  Every
 * function may be called from any thread. guest_came() returns NULL on lack of memory or file
 * descriptors: such a connection is served, and ends by the server's own time limit; the other
 * functions ignore NULL. Connections in order of arrival. Hanging up shuts down the socket: the
 * thread of the connection sees the end of the stream and exits normally.
 */

#define GUESTS_REQUEST_MS 10000 /* for a stranger's whole request, from connect or last answer */
#define GUESTS_GRACE_MS 5000	/* nobody is disconnected earlier, however many there are */
#define GUESTS_STRANGERS 32u	/* number of strangers that may stay longer than that */

struct guest {
	struct guest *older, *newer;
	int fd; /* a duplicate: valid until the guest leaves, whenever the server closes its own */
	int64_t since_ms; /* time of connection, or when its last answer was sent */
	bool is_known, is_answered, is_sent_away;
};

struct guests {
	pthread_mutex_t lock;
	struct guest *oldest, *newest;
};

static void guests_init(struct guests *all)
{
	*all = (struct guests){0};
	pthread_mutex_init(&all->lock, NULL);
}

static struct guest *guest_came(struct guests *all, int fd)
{
	struct guest *g = mem_zalloc(1, sizeof(*g));

	if (!g)
		return NULL;
	g->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (g->fd < 0) {
		mem_free(g);
		return NULL;
	}
	g->since_ms = (int64_t)clock_ms();
	pthread_mutex_lock(&all->lock);
	g->older = all->newest;
	*(all->newest ? &all->newest->newer : &all->oldest) = g;
	all->newest = g;
	pthread_mutex_unlock(&all->lock);
	return g;
}

static void guest_left(struct guests *all, struct guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&all->lock);
	*(g->older ? &g->older->newer : &all->oldest) = g->newer;
	*(g->newer ? &g->newer->older : &all->newest) = g->older;
	pthread_mutex_unlock(&all->lock);
	close(g->fd);
	mem_free(g);
}

static void guests_free(struct guests *all)
{
	while (all->oldest)
		guest_left(all, all->oldest);
	pthread_mutex_destroy(&all->lock);
}

static void guest_showed_token(struct guests *all, struct guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&all->lock);
	g->is_known = true;
	pthread_mutex_unlock(&all->lock);
}

/* Its request is complete: it waits for us. */
static void guest_asked(struct guests *all, struct guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&all->lock);
	g->is_answered = true;
	pthread_mutex_unlock(&all->lock);
}

/* Its answer was sent: we wait for it. */
static void guest_was_answered(struct guests *all, struct guest *g)
{
	if (!g)
		return;
	pthread_mutex_lock(&all->lock);
	g->is_answered = false;
	g->since_ms = (int64_t)clock_ms();
	pthread_mutex_unlock(&all->lock);
}

static bool may_stay(const struct guest *g, int64_t now, unsigned n_strangers)
{
	int64_t waited = now - g->since_ms;

	if (waited > GUESTS_REQUEST_MS && !g->is_answered)
		return false;
	return n_strangers <= GUESTS_STRANGERS || waited <= GUESTS_GRACE_MS;
}

/* Disconnects those that may not stay. To be called a few times per second. */
static void guests_tend(struct guests *all)
{
	int64_t now = (int64_t)clock_ms();
	unsigned n_strangers = 0;

	pthread_mutex_lock(&all->lock);
	for (struct guest *g = all->oldest; g; g = g->newer)
		n_strangers += !g->is_known && !g->is_sent_away;
	for (struct guest *g = all->oldest; g; g = g->newer) {
		if (g->is_known || g->is_sent_away || may_stay(g, now, n_strangers))
			continue;
		shutdown(g->fd, SHUT_RDWR);
		g->is_sent_away = true;
		n_strangers--;
	}
	pthread_mutex_unlock(&all->lock);
}

/* --- the token -------------------------------------------------------------------------------- */

/*
 * The secret token of one run of the server.
 */

#define SCHEME "Bearer "

bool token_make(struct token *t, struct incore_error *e)
{
	static const char digits[] = "0123456789abcdef";
	unsigned char bytes[TOKEN_LEN / 2];

	if (fault_hit(FAULT_READ) || getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_set(e, INCORE_FAILED, "no-random", "no random bytes for a token");
	for (size_t i = 0; i < sizeof(bytes); i++) {
		t->text[2 * i] = digits[bytes[i] >> 4];
		t->text[2 * i + 1] = digits[bytes[i] & 15];
	}
	t->text[TOKEN_LEN] = 0;
	return true;
}

bool token_is(const struct token *t, const char *authorization)
{
	size_t n = sizeof(SCHEME) - 1;
	unsigned differs = 0;

	if (!authorization || strncmp(authorization, SCHEME, n) != 0 ||
		strlen(authorization) != n + TOKEN_LEN)
		return false;
	for (unsigned i = 0; i < TOKEN_LEN; i++)
		differs |= (unsigned char)authorization[n + i] ^ (unsigned char)t->text[i];
	return differs == 0;
}

/* --- the server ------------------------------------------------------------------------------- */

/*
 * HTTP requests and responses (libmicrohttpd). One thread per connection: a slow client or a long
 * question does not block others.
 */

#define MEMORY_A_CONNECTION (32u * 1024)
#define PROGRESS_LINE 256u
#define MAX_HOST 128u

struct http {
	struct MHD_Daemon *daemon;
	struct session *session;
	struct board *board;
	const struct token *token;
	struct guests guests;
	uint16_t port;
	char host[MAX_HOST];  /* allowed value of Host besides this machine itself, or "" */
	atomic_bool is_ready; /* its port, and so its allowed names, are known */
	atomic_uint n_open;
	atomic_llong last_s;
};

struct http_request { /* con_cls: made before anything is known of the request */
	char *target;
	bool is_too_long;
	bool is_counted;
};

static long long now_s(void)
{
	return (long long)(clock_ms() / 1000);
}

static struct guest *guest_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);

	return info ? info->socket_context : NULL;
}

/* --- responses --- */

static const char *const every_header[][2] = {
	{"Content-Security-Policy",
		"default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; img-src 'self' data: "
		"blob:; style-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; "
		"frame-ancestors 'none'"},
	{"X-Content-Type-Options", "nosniff"},
	{"Referrer-Policy", "no-referrer"},
	{"Cross-Origin-Resource-Policy", "same-origin"},
	{"Cross-Origin-Opener-Policy", "same-origin"},
};

static enum MHD_Result send_response(struct MHD_Connection *c, unsigned status,
	struct MHD_Response *r, const char *media_type, const char *cache)
{
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	for (size_t i = 0; i < sizeof(every_header) / sizeof(every_header[0]); i++)
		MHD_add_response_header(r, every_header[i][0], every_header[i][1]);
	MHD_add_response_header(r, "Content-Type", media_type);
	MHD_add_response_header(r, "Cache-Control", cache);
	if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, "Allow", "GET, HEAD");
	if (status == MHD_HTTP_UNAUTHORIZED)
		MHD_add_response_header(r, "WWW-Authenticate", "Bearer");
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result send_reply(struct MHD_Connection *c, struct reply *r)
{
	static char none[] = "";
	struct MHD_Response *x;

	if (r->body.failed || !r->body.p) {
		sb_free(&r->body);
		x = MHD_create_response_from_buffer(0, none, MHD_RESPMEM_PERSISTENT);
	} else {
		x = MHD_create_response_from_buffer_with_free_callback(
			r->body.n, r->body.p, mem_free);
		if (!x)
			sb_free(&r->body);
	}
	return send_response(c, r->status, x, r->media_type,
		r->is_immutable ? "private, max-age=31536000, immutable" : "no-store");
}

static enum MHD_Result http_refuse(
	struct MHD_Connection *c, unsigned status, const char *code, const char *message)
{
	struct incore_error e = {0};
	struct reply r = {0};

	err_set(&e, INCORE_USAGE, code, "%s", message);
	reply_error(&r, &e);
	r.status = status;
	incore_error_clear(&e);
	return send_reply(c, &r);
}

static void http_give(struct board *b, struct session *s)
{
#ifdef INCORE_SQLITE
	if (b)
		board_give(b, s);
#else
	(void)b;
	(void)s;
#endif
}

/* --- progress --- */

struct progress_stream {
	struct session *session;
	struct board *board; /* to which the session is released */
	uint64_t seen;
	bool is_begun, is_done;
};

static void free_stream(void *ctx)
{
	struct progress_stream *p = ctx;

	http_give(p->board, p->session);
	mem_free(p);
}

/* Called in the connection's own thread, so it may block. */
static ssize_t read_progress(void *ctx, uint64_t pos, char *buf, size_t max)
{
	struct progress_stream *p = ctx;
	struct session_progress now;
	char eta[32] = "null";
	int n;

	(void)pos;
	if (p->is_done || max < PROGRESS_LINE)
		return MHD_CONTENT_READER_END_OF_STREAM;
	/* the first line reports the current state without waiting */
	now = session_wait(p->session, &p->seen, p->is_begun ? 1000 : 0);
	p->is_begun = true;
	p->is_done = now.is_done;
	if (now.eta_s >= 0)
		snprintf(eta, sizeof(eta), "%.1f", now.eta_s);
	n = snprintf(buf, max,
		"{\"stage\":\"%.40s\",\"done\":%llu,\"total\":%llu,\"eta\":%s,\"read\":%u}\n",
		now.stage, (unsigned long long)now.done, (unsigned long long)now.total, eta,
		now.n_read);
	return n;
}

/* Sends the progress of a session, which is released when the stream ends. */
static enum MHD_Result http_send_progress(
	struct http *h, struct MHD_Connection *c, struct session *session)
{
	struct progress_stream *p = mem_zalloc(1, sizeof(*p));
	struct MHD_Response *r;

	if (!p) {
		http_give(h->board, session);
		return MHD_NO;
	}
	p->session = session;
	p->board = h->board;
	r = MHD_create_response_from_callback(
		MHD_SIZE_UNKNOWN, 1024, read_progress, p, free_stream);
	if (!r)
		free_stream(p);
	return send_response(c, MHD_HTTP_OK, r, "application/x-ndjson", "no-store");
}

/* --- requests --- */

/* Does Host name this machine? A page of another site whose name resolves to us (DNS rebinding)
 * still sends that name. The port is ignored: with `ssh -L` the client sees another port. */
static bool is_loopback_host(const char *host)
{
	static const char *const names[] = {"127.0.0.1:", "localhost:"};
	uint64_t port;

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		size_t n = strlen(names[i]);

		if (strncmp(host, names[i], n) == 0)
			return str_to_u64(str_of(host + n), &port) && port > 0 && port <= 65535;
	}
	return false;
}

static bool is_host(const struct http *h, const char *host)
{
	return host && (is_loopback_host(host) || (h->host[0] && strcmp(host, h->host) == 0));
}

static bool is_origin(const struct http *h, const char *origin, const char *host)
{
	size_t n = sizeof("http://") - 1;

	(void)h;
	return !origin || (strncmp(origin, "http://", n) == 0 && strcmp(origin + n, host) == 0);
}

static const char *http_header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

/* Counts headers: each may occur once, as a second value could come from a page of another site. */
struct header_count {
	const char *name;
	unsigned n;
};

static enum MHD_Result count_header(
	void *ctx, enum MHD_ValueKind kind, const char *key, const char *value)
{
	struct header_count *k = ctx;

	(void)kind;
	(void)value;
	k->n += strcasecmp(key, k->name) == 0;
	return MHD_YES;
}

static bool is_single(struct MHD_Connection *c, const char *name)
{
	struct header_count k = {.name = name};

	MHD_get_connection_values(c, MHD_HEADER_KIND, count_header, &k);
	return k.n <= 1;
}

/* The URL of an asset: a server of a store starts with the store's page, and shows the viewer for
 * each pair of captures. */
static const char *asset_url(const struct http *h, const char *target)
{
	if (!h->board)
		return target;
	return strncmp(target, "/pair/", 6) == 0	      ? "/"
	       : strcspn(target, "?#") == 1 && *target == '/' ? "/store.html"
							      : target;
}

static enum MHD_Result send_asset(
	const struct http *h, struct MHD_Connection *c, const struct http_request *q)
{
	const char *url = asset_url(h, q->target);
	size_t n = strcspn(url, "?#");

	EACH (const struct asset, a, serve_assets, serve_n_assets) {
		char tag[40];
		const char *has = http_header(c, "If-None-Match");
		struct MHD_Response *r;
		bool is_same;

		if (strlen(a->url) != n || strncmp(a->url, url, n) != 0)
			continue;
		snprintf(tag, sizeof(tag), "\"%.32s\"", a->hash);
		is_same = has && strcmp(has, tag) == 0;
		r = MHD_create_response_from_buffer(
			is_same ? 0 : a->size, (void *)(uintptr_t)a->data, MHD_RESPMEM_PERSISTENT);
		if (r)
			MHD_add_response_header(r, "ETag", tag);
		return send_response(c, is_same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK, r,
			a->media_type, "no-cache");
	}
	return http_refuse(c, MHD_HTTP_NOT_FOUND, "no-such-page", "there is no such page");
}

static enum MHD_Result view_session(
	struct http *h, struct MHD_Connection *c, struct session *session, const char *text)
{
	struct reply r;

	if (str_is(str_sub(str_of(text), 0, strcspn(text, "?")), "/api/1/progress"))
		return http_send_progress(h, c, session);
	session_answer(session, str_of(text), &r);
	http_give(h->board, session);
	incore_error_clear(&r.error);
	return send_reply(c, &r);
}

/* Answers requests about a store, or about a pair of its captures. */
static enum MHD_Result view_board(struct http *h, struct MHD_Connection *c, char *text)
{
	struct reply r = {.status = MHD_HTTP_NOT_FOUND, .media_type = "text/plain"};
#ifdef INCORE_SQLITE
	struct session *session;

	if (board_is_pair(str_of(text))) {
		session = board_take(h->board, &text, &r);
		if (session)
			return view_session(h, c, session, text);
	} else {
		board_answer(h->board, str_of(text), &r);
		incore_error_clear(&r.error);
	}
#endif
	return send_reply(c, &r);
}

static enum MHD_Result view_data(
	struct http *h, struct MHD_Connection *c, const struct http_request *q)
{
	if (!is_single(c, "Authorization") || !token_is(h->token, http_header(c, "Authorization")))
		return http_refuse(c, MHD_HTTP_UNAUTHORIZED, "no-token",
			"open the address that incore view printed: it carries the token");
	guest_showed_token(&h->guests, guest_of(c));
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, HTTP_KNOWN_TIMEOUT_S);
	return h->board ? view_board(h, c, q->target) : view_session(h, c, h->session, q->target);
}

static enum MHD_Result on_request(void *ctx, struct MHD_Connection *c, const char *url,
	const char *method, const char *version, const char *upload_data, size_t *upload_size,
	void **con_cls)
{
	struct http *h = ctx;
	struct http_request *q = *con_cls;

	(void)url;
	(void)version;
	(void)upload_data;
	if (!q)
		return MHD_NO;
	if (!q->is_counted) { /* only the headers are here: wait for the end of the body */
		q->is_counted = true;
		atomic_fetch_add(&h->n_open, 1);
		if (*upload_size == 0 && strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
			return http_refuse(
				c, MHD_HTTP_METHOD_NOT_ALLOWED, "bad-method", "GET and HEAD only");
		return MHD_YES;
	}
	if (*upload_size) { /* ignore the body of a GET */
		*upload_size = 0;
		return MHD_YES;
	}
	guest_asked(&h->guests, guest_of(c));
	if (!atomic_load(&h->is_ready))
		return http_refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE, "starting", "ask again");
	if (q->is_too_long || !q->target)
		return http_refuse(c, 414, "too-long", "the request is too long");
	if (!is_single(c, "Host") || !is_host(h, http_header(c, "Host")))
		return http_refuse(
			c, MHD_HTTP_FORBIDDEN, "bad-host", "this server has another name");
	if (!is_single(c, "Origin") ||
		!is_origin(h, http_header(c, "Origin"), http_header(c, "Host")))
		return http_refuse(
			c, MHD_HTTP_FORBIDDEN, "bad-origin", "requests of other pages are refused");
	if (strncmp(q->target, "/api/", 5) == 0)
		return view_data(h, c, q);
	return send_asset(h, c, q);
}

static void *on_uri(void *ctx, const char *uri, struct MHD_Connection *c)
{
	struct http_request *q = mem_zalloc(1, sizeof(*q));
	size_t n = strlen(uri);

	(void)ctx;
	(void)c;
	if (!q)
		return NULL;
	q->is_too_long = n > QUERY_MAX_BYTES;
	q->target = mem_strndup(uri, q->is_too_long ? 0 : n);
	return q;
}

static void on_done(
	void *ctx, struct MHD_Connection *c, void **con_cls, enum MHD_RequestTerminationCode how)
{
	struct http *h = ctx;
	struct http_request *q = *con_cls;

	(void)how;
	guest_was_answered(&h->guests, guest_of(c));
	if (!q)
		return;
	if (q->is_counted) {
		atomic_store(&h->last_s, now_s());
		atomic_fetch_sub(&h->n_open, 1);
	}
	mem_free(q->target);
	mem_free(q);
	*con_cls = NULL;
}

static void on_connection(
	void *ctx, struct MHD_Connection *c, void **guest, enum MHD_ConnectionNotificationCode what)
{
	struct http *h = ctx;
	const union MHD_ConnectionInfo *info;

	if (what == MHD_CONNECTION_NOTIFY_STARTED) {
		info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
		*guest = info ? guest_came(&h->guests, info->connect_fd) : NULL;
	} else {
		guest_left(&h->guests, *guest);
		*guest = NULL;
	}
}

/* --- start and stop --- */

static bool address_of(const struct http_options *o, struct sockaddr_storage *out, bool *is_v6)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
	const char *text = o->bind ? o->bind : "127.0.0.1";

	memset(out, 0, sizeof(*out));
	*is_v6 = false;
	if (inet_pton(AF_INET, text, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = htons(o->port);
		return true;
	}
	*is_v6 = true;
	v6->sin6_family = AF_INET6;
	v6->sin6_port = htons(o->port);
	return inet_pton(AF_INET6, text, &v6->sin6_addr) == 1;
}

static void set_host(struct http *h, const char *bind, bool is_v6)
{
	char name[64] = "";

	if (!bind)
		return;
	if (strcmp(bind, "0.0.0.0") == 0 || strcmp(bind, "::") == 0)
		gethostname(name, sizeof(name) - 1);
	snprintf(h->host, MAX_HOST, is_v6 && !name[0] ? "[%s]:%u" : "%s:%u", name[0] ? name : bind,
		h->port);
}

struct http *http_start(const struct http_options *o, struct incore_error *e)
{
	struct http *h = mem_zalloc(1, sizeof(*h));
	struct sockaddr_storage address;
	const union MHD_DaemonInfo *info;
	bool is_v6;

	if (!h)
		return err_nomem_null(e);
	guests_init(&h->guests);
	h->session = o->session;
	h->board = o->board;
	h->token = o->token;
	atomic_store(&h->last_s, now_s());
	if (!address_of(o, &address, &is_v6)) {
		err_set(e, INCORE_USAGE, "bad-address",
			"--bind expects a numeric address, not '%s'", o->bind);
		http_stop(h);
		return NULL;
	}
	h->daemon = MHD_start_daemon(MHD_USE_THREAD_PER_CONNECTION |
					     MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_ITC |
					     (is_v6 ? MHD_USE_IPv6 : 0),
		o->port, NULL, NULL, on_request, h, MHD_OPTION_SOCK_ADDR, &address,
		MHD_OPTION_CONNECTION_LIMIT, HTTP_MAX_CONNECTIONS, MHD_OPTION_CONNECTION_TIMEOUT,
		HTTP_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_A_CONNECTION,
		MHD_OPTION_URI_LOG_CALLBACK, on_uri, h, MHD_OPTION_NOTIFY_COMPLETED, on_done, h,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_LISTENING_ADDRESS_REUSE,
		1u, MHD_OPTION_END);
	info = h->daemon ? MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT) : NULL;
	if (!info) {
		err_set(e, INCORE_FAILED, "no-server", "cannot listen on %s port %u",
			o->bind ? o->bind : "127.0.0.1", o->port);
		http_stop(h);
		return NULL;
	}
	h->port = info->port;
	set_host(h, o->bind, is_v6);
	atomic_store(&h->is_ready, true);
	return h;
}

uint16_t http_port(const struct http *h)
{
	return h->port;
}

unsigned http_idle_s(const struct http *h)
{
	long long s = now_s() - atomic_load(&h->last_s);

	return atomic_load(&h->n_open) || s < 0 ? 0 : (unsigned)s;
}

void http_tend(struct http *h)
{
	guests_tend(&h->guests);
}

void http_stop(struct http *h)
{
	if (!h)
		return;
	/* otherwise we would wait for long answers */
	if (h->session)
		session_stop(h->session);
#ifdef INCORE_SQLITE
	if (h->board)
		board_stop(h->board);
#endif
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	guests_free(&h->guests);
	mem_free(h);
}
