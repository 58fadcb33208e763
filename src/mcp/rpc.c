/* SPDX-License-Identifier: Apache-2.0 */
/* rpc.c: reads and writes JSON-RPC messages, one per line. */
#include <stdlib.h>

#include "mcp/internal.h"

#define MAX_LINE (4u << 20)

/* --- input --- */

/* Reads a line without its end; false: end of input. A line that is too long is skipped. */
static bool mcp_rpc_read_line(FILE *in, struct strbuf *b, bool *is_too_long)
{
	int c;

	sb_reset(b);
	*is_too_long = false;
	while ((c = getc_unlocked(in)) != EOF && c != '\n') {
		if (b->n < MAX_LINE)
			sb_putc(b, (char)c);
		else
			*is_too_long = true;
	}
	return c != EOF || b->n;
}

static struct str mcp_rpc_raw_value(struct json_reader *j)
{
	const char *from;

	json_peek(j);
	from = j->p;
	return json_skip(j) ? (struct str){from, (size_t)(j->p - from)} : (struct str){"", 0};
}

struct str json_member(struct str object, const char *key)
{
	struct json_reader j;
	struct str name, value = {"", 0};

	json_init(&j, object.p, object.n, NULL, 0);
	if (json_peek(&j) == JSON_OBJECT) {
		for (json_enter_object(&j); json_next_key(&j, &name);) {
			bool is_it = str_is(name, key);
			struct str v = mcp_rpc_raw_value(&j);

			if (is_it && !j.is_failed)
				value = v;
		}
	}
	json_deinit(&j);
	return value;
}

const char *json_text(struct str value, struct arena *a)
{
	struct json_reader j;
	struct str text;
	const char *copy = NULL;

	json_init(&j, value.p, value.n, NULL, 0);
	if (value.n && json_peek(&j) == JSON_STRING && json_get_str(&j, &text))
		copy = arena_strndup(a, text.p, text.n);
	json_deinit(&j);
	return copy;
}

static bool is_id(struct str id)
{
	return id.n && (id.p[0] == '"' || id.p[0] == '-' || (id.p[0] >= '0' && id.p[0] <= '9'));
}

/* Parses a message; returns what is wrong with it, or NULL. */
static const char *take_message(struct rpc_message *r, struct str line)
{
	struct str version = json_member(line, "jsonrpc");
	struct str params = json_member(line, "params");

	r->id = json_member(line, "id");
	r->method = json_text(json_member(line, "method"), &r->arena);
	r->params = params.n ? params : STR("{}");
	if (!str_is(version, "\"2.0\""))
		return "no message of JSON-RPC 2.0";
	if (r->id.n && !is_id(r->id))
		return "an id is a text or a number";
	if (r->params.p[0] != '{')
		return "params are an object";
	r->progress = json_member(json_member(r->params, "_meta"), "progressToken");
	return NULL;
}

/* Makes a message from a copy of the line; NULL: it was already answered, or needs no answer. */
static struct rpc_message *make_message(struct mcp *m, const struct strbuf *line)
{
	struct rpc_message *r = mem_zalloc(1, sizeof(*r));
	struct json_reader j;
	char *copy = NULL;
	const char *wrong = "no memory";
	bool is_json;

	if (r) {
		arena_init(&r->arena);
		copy = arena_zalloc(&r->arena, line->n + JSON_PAD, 1);
	}
	if (!copy) {
		rpc_error(m, STR("null"), RPC_INTERNAL, wrong);
		rpc_free(r);
		return NULL;
	}
	memcpy(copy, line->p, line->n);
	json_init(&j, copy, line->n, NULL, 0);
	is_json = json_skip(&j) && json_finish(&j, &(struct incore_error){0});
	json_deinit(&j);
	wrong = is_json ? take_message(r, (struct str){copy, line->n}) : "this is no JSON";
	/* an id without a method is a response, but we sent no requests */
	if (!wrong && r->method)
		return r;
	if (wrong)
		rpc_error(m, is_json && is_id(r->id) ? r->id : STR("null"),
			is_json ? RPC_BAD_REQUEST : RPC_BAD_JSON, wrong);
	rpc_free(r);
	return NULL;
}

struct rpc_message *rpc_next(struct mcp *m)
{
	struct strbuf line = {0};
	struct rpc_message *r = NULL;
	bool is_too_long;

	while (!r && !m->is_broken && mcp_rpc_read_line(m->o->in, &line, &is_too_long)) {
		if (is_too_long || line.failed) {
			rpc_error(m, STR("null"), RPC_BAD_REQUEST, "a message of more than 4 MiB");
			sb_free(&line);
		} else if (line.n && strspn(line.p, " \t\r") < line.n) {
			r = make_message(m, &line);
		}
	}
	sb_free(&line);
	return r;
}

void rpc_free(struct rpc_message *r)
{
	if (!r)
		return;
	arena_deinit(&r->arena);
	mem_free(r);
}

/* --- output --- */

void rpc_send(struct mcp *m, struct strbuf *line)
{
	pthread_mutex_lock(&m->out_lock);
	if (line->failed || fwrite(line->p, 1, line->n, m->o->out) != line->n ||
		putc('\n', m->o->out) == EOF || fflush(m->o->out) != 0)
		m->is_broken = true;
	pthread_mutex_unlock(&m->out_lock);
	sb_free(line);
}

void rpc_begin(const struct rpc_message *r, struct json_writer *w, struct strbuf *b)
{
	json_w_buf(w, b, 0);
	json_w_object(w);
	json_w_kv_cstr(w, "jsonrpc", "2.0");
	json_w_key(w, "id");
	json_w_raw(w, r->id);
	json_w_key(w, "result");
}

void rpc_end(struct mcp *m, struct json_writer *w, struct strbuf *b)
{
	struct incore_error e = {0};

	json_w_end(w);
	if (json_w_finish(w, &e))
		rpc_send(m, b);
	else
		m->is_broken = true;
	sb_free(b);
	incore_error_clear(&e);
}

void rpc_error(struct mcp *m, struct str id, int code, const char *text)
{
	struct strbuf b = {0};
	struct json_writer w;

	json_w_buf(&w, &b, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "jsonrpc", "2.0");
	json_w_key(&w, "id");
	json_w_raw(&w, id);
	json_w_kv_object(&w, "error");
	json_w_kv_i64(&w, "code", code);
	json_w_kv_cstr(&w, "message", text);
	json_w_end(&w);
	rpc_end(m, &w, &b);
}
