/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c: speaks the protocol with an agent. Parts: prompts; resources; the server.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>

#include "mcp/internal.h"

/* --- prompts ---------------------------------------------------------------------------------- */

/*
 * Prompts for common tasks, chosen by name.
 */

struct prompt {
	const char *name, *doc;
	const char *first, *second; /* names of arguments; NULL: no argument */
	const char *text;	    /* %s: the arguments, in order */
};

static const struct prompt prompts[] = {
	{"bottleneck", "which instruction of a kernel is waiting, for what, and what to change",
		"path", NULL,
		"Find what limits the kernel of the capture %s. First verdict: it says what bounds the kernel, where, and what to change; if its health is unusable, say why (check) and stop. "
		"Then hot (by line, then by instr) for the rows, waits for the producers, isa around the costliest row, "
		"why for what cannot be seen from the classes. Name the source line, the instruction, what it waits for and how many cycles that costs. "
		"Propose one change; where there is a tool whatif or advise, give its interval, and say that it is an estimate. Quote the evidence word of every figure."},
	{"verify", "did a change help, and where", "before", "after",
		"Compare the captures %s (before) and %s (after). Check both. Use diff by line and by instr; trust a difference only beyond the noise it states. "
		"Say what moved per execution, whether the kernel as a whole is faster, and which line got worse. End with a gate condition for CI."},
	{"trust", "can the figures of a capture be believed", "path", NULL,
		"Can the capture %s be trusted? Use check and info. For each finding say what it means for the figures and how to take a better capture."},
};

static void put_argument(struct json_writer *w, const char *name)
{
	if (!name)
		return;
	json_w_object(w);
	json_w_kv_cstr(w, "name", name);
	json_w_kv_cstr(w, "description", "a capture, as the tool captures lists them");
	json_w_kv_bool(w, "required", true);
	json_w_end(w);
}

/* --- prompts.c --- */
static void prompts_list(struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_array(w, "prompts");
	EACH (const struct prompt, p, prompts, sizeof(prompts) / sizeof(prompts[0])) {
		json_w_object(w);
		json_w_kv_cstr(w, "name", p->name);
		json_w_kv_cstr(w, "description", p->doc);
		json_w_kv_array(w, "arguments");
		put_argument(w, p->first);
		put_argument(w, p->second);
		json_w_end(w);
		json_w_end(w);
	}
	json_w_end(w);
	json_w_end(w);
}

/* Appends the text with its arguments filled in. */
static void mcp_prompts_fill(struct strbuf *out, const char *text, const char *const arguments[2])
{
	unsigned n = 0;

	for (; *text; text++) {
		if (text[0] == '%' && text[1] == 's') {
			sb_puts(out, arguments[n++]);
			text++;
		} else {
			sb_putc(out, *text);
		}
	}
}

/* False: there is no such prompt, or an argument is missing; *e says which. */
static bool prompts_get(
	struct str params, struct arena *a, struct json_writer *w, struct incore_error *e)
{
	const char *name = json_text(json_member(params, "name"), a), *given[2] = {NULL, NULL};
	struct str arguments = json_member(params, "arguments");
	const struct prompt *found = NULL;
	struct strbuf text = {0};

	EACH (const struct prompt, p, prompts, sizeof(prompts) / sizeof(prompts[0]))
		if (name && strcmp(p->name, name) == 0)
			found = p;
	if (!found)
		return err_set(e, INCORE_USAGE, "no-such-prompt", "there is no prompt '%s'",
			name ? name : "");
	given[0] = json_text(json_member(arguments, found->first), a);
	given[1] = found->second ? json_text(json_member(arguments, found->second), a) : "";
	if (!given[0] || !given[1])
		return err_set(e, INCORE_USAGE, "missing-argument", "the prompt %s expects %s%s%s",
			found->name, found->first, found->second ? " and " : "",
			found->second ? found->second : "");
	mcp_prompts_fill(&text, found->text, given);
	json_w_object(w);
	json_w_kv_cstr(w, "description", found->doc);
	json_w_kv_array(w, "messages");
	json_w_object(w);
	json_w_kv_cstr(w, "role", "user");
	json_w_kv_object(w, "content");
	json_w_kv_cstr(w, "type", "text");
	json_w_kv_cstr(w, "text", text.p);
	json_w_end(w);
	json_w_end(w);
	json_w_end(w);
	json_w_end(w);
	sb_free(&text);
	return true;
}

/* --- resources -------------------------------------------------------------------------------- */

/*
 * Resources that a client reads without a tool: captures, reports, answer schemas.
 */

#define CAPTURE "incore://capture/"
#define REPORT "incore://report/"
#define SCHEMA "incore://schema/"

static void put_resource(
	struct json_writer *w, const char *kind, const struct found_capture *c, const char *mime)
{
	struct strbuf uri = {0};

	sb_printf(&uri, "incore://%s/%s", kind, c->name);
	json_w_object(w);
	json_w_kv_cstr(w, "uri", uri.p);
	json_w_kv_cstr(w, "name", uri.p ? uri.p + strlen("incore://") : NULL);
	json_w_kv_cstr(w, "description", c->format);
	json_w_kv_cstr(w, "mimeType", mime);
	json_w_end(w);
	sb_free(&uri);
}

/* --- resources.c --- */
static bool resources_list(struct mcp *m, struct json_writer *w, struct incore_error *e)
{
	struct found_capture *v;
	struct arena a;
	size_t n;
	bool ok;

	arena_init(&a);
	ok = root_captures(m, &a, &v, &n, e);
	if (ok) {
		json_w_object(w);
		json_w_kv_array(w, "resources");
		EACH (const struct found_capture, c, v, n) {
			put_resource(w, "capture", c, "application/json");
			put_resource(w, "report", c, "text/markdown");
		}
		json_w_end(w);
		json_w_end(w);
	}
	arena_deinit(&a);
	return ok;
}

static void put_template(struct json_writer *w, const char *uri, const char *name, const char *doc)
{
	json_w_object(w);
	json_w_kv_cstr(w, "uriTemplate", uri);
	json_w_kv_cstr(w, "name", name);
	json_w_kv_cstr(w, "description", doc);
	json_w_end(w);
}

/* --- resources.c --- */
static void resources_templates(struct json_writer *w)
{
	json_w_object(w);
	json_w_kv_array(w, "resourceTemplates");
	put_template(w, CAPTURE "{+path}", "capture", "what a capture is, as incore info says");
	put_template(w, REPORT "{+path}", "report",
		"a written report on a capture, at most 60 lines of Markdown");
	put_template(w, SCHEMA "{question}", "schema",
		"what the JSON of a question holds, column by column");
	json_w_end(w);
	json_w_end(w);
}

/* A request about one capture. The caller frees it with request_deinit(), also after a failure. */
static bool begin_about(struct mcp *m, struct request *r, const char *question,
	const char *const *path, struct incore_error *e)
{
	*r = (struct request){.params = NULL};
	if (!request_init(r, question_find(question), e))
		return false;
	r->paths = path;
	r->n_paths = 1;
	r->captures = &m->captures;
	r->pool = m->o->pool;
	r->progress = m->progress;
	return true;
}

static bool read_report(struct mcp *m, const char *path, struct strbuf *out, struct incore_error *e)
{
	struct answer answer = {0};
	char *bytes = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&bytes, &n);
	struct request r;
	bool ok = begin_about(m, &r, "report", &path, e) && (f || err_nomem(e)) &&
		  request_set(&r, "format", "md", e) && request_set(&r, "brief", NULL, e) &&
		  request_set(&r, "output", "-", e);

	r.out = f;
	ok = ok && answer_ask(&r, &answer, e);
	if (f && fclose(f) != 0)
		ok = ok && err_nomem(e);
	ok = ok && (sb_add(out, bytes, n) || err_nomem(e));
	free(bytes);
	answer_deinit(&answer);
	request_deinit(&r);
	return ok;
}

static bool read_info(struct mcp *m, const char *path, struct strbuf *out, struct incore_error *e)
{
	struct answer answer = {0};
	struct json_writer w;
	struct request r;
	bool ok = begin_about(m, &r, "info", &path, e) && answer_ask(&r, &answer, e);

	if (ok) {
		json_w_buf(&w, out, 1);
		answer_json(&answer, &w);
		ok = json_w_finish(&w, e);
	}
	answer_deinit(&answer);
	request_deinit(&r);
	return ok;
}

static bool mcp_resources_read_schema(const char *name, struct strbuf *out, struct incore_error *e)
{
	const struct question *q = question_find(name);
	struct json_writer w;

	if (!q)
		return err_set(
			e, INCORE_USAGE, "no-such-question", "there is no question '%s'", name);
	json_w_buf(&w, out, 1);
	envelope_schema(q->name, q->inputs ? q->inputs : capture_inputs, q->records, &w);
	return json_w_finish(&w, e);
}

static const char *mcp_resources_below(const char *uri, const char *prefix)
{
	return strncmp(uri, prefix, strlen(prefix)) == 0 ? uri + strlen(prefix) : NULL;
}

/* --- resources.c --- */
static bool resources_read(
	struct mcp *m, const char *uri, struct json_writer *w, struct incore_error *e)
{
	const char *capture = mcp_resources_below(uri, CAPTURE),
		   *report = mcp_resources_below(uri, REPORT),
		   *schema = mcp_resources_below(uri, SCHEMA);
	const char *name = capture ? capture : report, *path;
	struct strbuf text = {0};
	struct arena a;
	bool ok;

	arena_init(&a);
	path = name ? root_path(m, name, &a, e) : NULL;
	if (schema)
		ok = mcp_resources_read_schema(schema, &text, e);
	else if (!name)
		ok = err_set(e, INCORE_USAGE, "not-found", "there is no resource '%s'", uri);
	else
		ok = path &&
		     (report ? read_report(m, path, &text, e) : read_info(m, path, &text, e));
	if (ok) {
		json_w_object(w);
		json_w_kv_array(w, "contents");
		json_w_object(w);
		json_w_kv_cstr(w, "uri", uri);
		json_w_kv_cstr(w, "mimeType", report ? "text/markdown" : "application/json");
		json_w_kv_str(w, "text", (struct str){text.p, text.n});
		json_w_end(w);
		json_w_end(w);
		json_w_end(w);
	}
	sb_free(&text);
	arena_deinit(&a);
	return ok;
}

/* --- the server ------------------------------------------------------------------------------- */

/*
 * Dispatches messages to their handlers and threads.
 */

static const char *const versions[] = {"2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"};
static const char instructions[] =
	"incore says which instruction of an accelerator kernel is waiting, and for what. captures lists what there is; verdict says what bounds a kernel and what a change "
	"would bring, ask it first; check tells whether a capture can be trusted; hot, waits, isa, why and diff the rows behind it. Every figure rests on the evidence word that stands beside it.";

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

static void mcp_server_send_progress(
	void *ctx, const char *what, uint64_t done, uint64_t total, bool is_last)
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
static bool mcp_server_look(
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
	ok = mcp_server_look(m, r, &w, &e);
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

static void *mcp_server_work(void *ctx)
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

static void mcp_server_take(struct mcp *m, struct rpc_message *r)
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
static void mcp_server_end(struct mcp *m)
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
	m.progress = progress_new(mcp_server_send_progress, &m);
	ok = m.progress ? open_roots(&m, e) : err_nomem(e);
	if (ok && pthread_create(&worker, NULL, mcp_server_work, &m) != 0)
		ok = err_set(e, INCORE_FAILED, "no-thread", "no thread could be started");
	if (ok) {
		while ((r = rpc_next(&m)))
			mcp_server_take(&m, r);
		mcp_server_end(&m);
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
