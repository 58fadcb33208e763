/* SPDX-License-Identifier: Apache-2.0 */
/* server.c: dispatches messages to their handlers and threads. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "mcp/internal.h"

static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
static const char instructions[] =
	"incore says which instruction of an accelerator kernel is waiting, and for what. captures lists what there is; check tells whether a capture can be "
	"trusted; summary gives the verdict; hot, waits, isa, why and diff the rows behind it. Every figure rests on the evidence word that stands beside it.";

/* --- requests answered immediately --- */

static void put_capability(struct json_writer *w, const char *name)
{
	json_w_kv_object(w, name);
	json_w_end(w);
}

static void initialize(struct mcp *m, struct rpc_message *r)
{
	const char *wanted = json_text(json_member(r->params, "protocolVersion"), &r->arena);
	const char *version = versions[0];
	struct strbuf b = {0};
	struct json_writer w;

	for (size_t i = 0; wanted && i < sizeof(versions) / sizeof(versions[0]); i++)
		if (strcmp(wanted, versions[i]) == 0)
			version = versions[i];
	rpc_begin(r, &w, &b);
	json_w_object(&w);
	json_w_kv_cstr(&w, "protocolVersion", version);
	json_w_kv_object(&w, "capabilities");
	put_capability(&w, "tools");
	put_capability(&w, "resources");
	put_capability(&w, "prompts");
	json_w_end(&w);
	json_w_kv_object(&w, "serverInfo");
	json_w_kv_cstr(&w, "name", "incore");
	json_w_kv_cstr(&w, "version", INCORE_VERSION);
	json_w_end(&w);
	json_w_kv_cstr(&w, "instructions", instructions);
	json_w_end(&w);
	rpc_end(m, &w, &b);
}

static void answer_with(
	struct mcp *m, const struct rpc_message *r, void (*put)(struct json_writer *w))
{
	struct strbuf b = {0};
	struct json_writer w;

	rpc_begin(r, &w, &b);
	put(&w);
	rpc_end(m, &w, &b);
}

static void put_nothing(struct json_writer *w)
{
	json_w_object(w);
	json_w_end(w);
}

static void get_prompt(struct mcp *m, struct rpc_message *r)
{
	struct incore_error e = {0};
	struct strbuf b = {0};
	struct json_writer w;

	rpc_begin(r, &w, &b);
	if (prompts_get(r->params, &r->arena, &w, &e)) {
		rpc_end(m, &w, &b);
	} else {
		sb_free(&b);
		rpc_error(m, r->id, RPC_BAD_PARAMS, e.message);
	}
	incore_error_clear(&e);
}

/* --- requests that read captures --- */

static void send_progress(void *ctx, const char *what, uint64_t done, uint64_t total, bool is_last)
{
	struct mcp *m = ctx;
	struct strbuf b = {0};
	struct json_writer w;

	(void)is_last;
	if (!m->running || !m->running->progress.n || m->is_cancelled)
		return;
	json_w_buf(&w, &b, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "jsonrpc", "2.0");
	json_w_kv_cstr(&w, "method", "notifications/progress");
	json_w_kv_object(&w, "params");
	json_w_key(&w, "progressToken");
	json_w_raw(&w, m->running->progress);
	json_w_kv_u64(&w, "progress", done);
	if (total)
		json_w_kv_u64(&w, "total", total);
	json_w_kv_cstr(&w, "message", what);
	json_w_end(&w);
	json_w_end(&w);
	if (json_w_finish(&w, &(struct incore_error){0}))
		rpc_send(m, &b);
	sb_free(&b);
}

/* Writes one value as the result, or fails with what is wrong with the request. */
static bool look(
	struct mcp *m, struct rpc_message *r, struct json_writer *w, struct incore_error *e)
{
	const char *uri;

	if (strcmp(r->method, "tools/call") == 0)
		return tools_call(m, r, w, e);
	if (strcmp(r->method, "resources/list") == 0)
		return resources_list(m, w, e);
	uri = json_text(json_member(r->params, "uri"), &r->arena);
	return uri ? resources_read(m, uri, w, e)
		   : err_set(e, INCORE_USAGE, "missing-argument", "resources/read expects a uri");
}

static void answer_slowly(struct mcp *m, struct rpc_message *r)
{
	struct incore_error e = {0};
	struct strbuf b = {0};
	struct json_writer w;
	bool ok, is_cancelled;

	rpc_begin(r, &w, &b);
	ok = look(m, r, &w, &e);
	pthread_mutex_lock(&m->lock);
	is_cancelled = m->is_cancelled;
	m->running = NULL;
	pthread_mutex_unlock(&m->lock);
	if (is_cancelled) { /* the client does not wait for it */
		sb_free(&b);
	} else if (ok) {
		rpc_end(m, &w, &b);
	} else {
		sb_free(&b);
		rpc_error(m, r->id,
			strcmp(r->method, "resources/read") == 0 ? RPC_NO_RESOURCE
			: e.status == INCORE_USAGE		 ? RPC_BAD_PARAMS
								 : RPC_INTERNAL,
			e.message ? e.message : "no memory");
	}
	incore_error_clear(&e);
	rpc_free(r);
}

static struct rpc_message *take_waiting(struct mcp *m)
{
	struct rpc_message *r = NULL;

	pthread_mutex_lock(&m->lock);
	while (!m->waiting.n && !m->is_over)
		pthread_cond_wait(&m->wake, &m->lock);
	if (m->waiting.n) {
		r = m->waiting.v[0];
		memmove(m->waiting.v, m->waiting.v + 1, --m->waiting.n * sizeof(r));
		m->running = r;
		m->is_cancelled = false;
		progress_restart(m->progress);
	}
	pthread_mutex_unlock(&m->lock);
	return r;
}

static void *work(void *ctx)
{
	struct mcp *m = ctx;
	struct rpc_message *r;

	while ((r = take_waiting(m)))
		answer_slowly(m, r);
	return NULL;
}

static void wait_in_line(struct mcp *m, struct rpc_message *r)
{
	bool ok;

	pthread_mutex_lock(&m->lock);
	ok = VEC_PUSH(&m->waiting, r);
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
	if (!ok) {
		rpc_error(m, r->id, RPC_INTERNAL, "no memory");
		rpc_free(r);
	}
}

static void cancel(struct mcp *m, const struct rpc_message *notice)
{
	struct str id = json_member(notice->params, "requestId");

	pthread_mutex_lock(&m->lock);
	if (m->running && str_eq(m->running->id, id)) {
		m->is_cancelled = true;
		progress_cancel(m->progress);
	}
	for (size_t i = 0; i < m->waiting.n; i++) {
		if (str_eq(m->waiting.v[i]->id, id)) {
			rpc_free(m->waiting.v[i]);
			memmove(m->waiting.v + i, m->waiting.v + i + 1,
				(--m->waiting.n - i) * sizeof(m->waiting.v[0]));
			break;
		}
	}
	pthread_mutex_unlock(&m->lock);
}

/* --- messages --- */

static bool is_slow(const char *method)
{
	return strcmp(method, "tools/call") == 0 || strcmp(method, "resources/read") == 0 ||
	       strcmp(method, "resources/list") == 0;
}

static void answer_at_once(struct mcp *m, struct rpc_message *r)
{
	static const struct {
		const char *method;
		void (*put)(struct json_writer *w);
	} plain[] = {{"ping", put_nothing}, {"tools/list", tools_list},
		{"resources/templates/list", resources_templates}, {"prompts/list", prompts_list}};

	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		if (strcmp(r->method, plain[i].method) == 0) {
			answer_with(m, r, plain[i].put);
			return;
		}
	}
	if (strcmp(r->method, "initialize") == 0)
		initialize(m, r);
	else if (strcmp(r->method, "prompts/get") == 0)
		get_prompt(m, r);
	else
		rpc_error(m, r->id, RPC_NO_METHOD, "there is no such method");
}

static void take(struct mcp *m, struct rpc_message *r)
{
	if (!r->id.n) {
		if (strcmp(r->method, "notifications/cancelled") == 0)
			cancel(m, r);
	} else if (is_slow(r->method)) {
		wait_in_line(m, r);
		return;
	} else {
		answer_at_once(m, r);
	}
	rpc_free(r);
}

static bool open_roots(struct mcp *m, struct incore_error *e)
{
	for (unsigned i = 0; i < m->o->n_roots; i++) {
		char *real = realpath(m->o->roots[i], NULL);
		char *copy = real ? mem_strndup(real, strlen(real)) : NULL;
		int why = errno;

		free(real);
		if (!copy)
			return err_set(e, INCORE_USAGE, "no-such-root", "%s: %s", m->o->roots[i],
				strerror(why));
		if (!VEC_PUSH(&m->roots, copy)) {
			mem_free(copy);
			return err_nomem(e);
		}
		if (!captures_fence(&m->captures, copy, e))
			return false;
	}
	captures_fence_all(&m->captures);
	return true;
}

/* Tells the worker that the input has ended; it still answers the requests in the queue. */
static void end(struct mcp *m)
{
	pthread_mutex_lock(&m->lock);
	m->is_over = true;
	pthread_cond_signal(&m->wake);
	pthread_mutex_unlock(&m->lock);
}

bool mcp_serve(const struct mcp_options *o, struct incore_error *e)
{
	struct mcp m = {.o = o};
	struct rpc_message *r;
	pthread_t worker;
	bool ok;

	captures_init(&m.captures);
	pthread_mutex_init(&m.out_lock, NULL);
	pthread_mutex_init(&m.lock, NULL);
	pthread_cond_init(&m.wake, NULL);
	m.progress = progress_new(send_progress, &m);
	ok = m.progress ? open_roots(&m, e) : err_nomem(e);
	if (ok && pthread_create(&worker, NULL, work, &m) != 0)
		ok = err_set(e, INCORE_FAILED, "no-thread", "no thread could be started");
	if (ok) {
		while ((r = rpc_next(&m)))
			take(&m, r);
		end(&m);
		pthread_join(worker, NULL);
	}
	for (size_t i = 0; i < m.roots.n; i++)
		mem_free(m.roots.v[i]);
	VEC_FREE(&m.roots);
	VEC_FREE(&m.waiting);
	progress_free(m.progress);
	captures_deinit(&m.captures);
	pthread_cond_destroy(&m.wake);
	pthread_mutex_destroy(&m.lock);
	pthread_mutex_destroy(&m.out_lock);
	return ok &&
	       (!m.is_broken || err_set(e, INCORE_FAILED, "cannot-write", "the output was closed"));
}
