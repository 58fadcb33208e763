/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h: shared by the files of this folder. */
#pragma once

#include <pthread.h>

#include "answer/answer.h"
#include "answer/captures.h"
#include "base/vec.h"
#include "codec/json_reader.h"
#include "mcp/mcp.h"

/* A message: a request, or a notification if it has no id. Spans of JSON point into its arena. */
struct rpc_message {
	struct arena arena;
	struct str id; /* as received; empty: no id */
	const char *method;
	struct str params;   /* as received; "{}" if missing */
	struct str progress; /* progress token of params._meta; empty: progress is not requested */
};

enum rpc_code { /* error codes of JSON-RPC */
	RPC_BAD_JSON = -32700,
	RPC_BAD_REQUEST = -32600,
	RPC_NO_METHOD = -32601,
	RPC_BAD_PARAMS = -32602,
	RPC_INTERNAL = -32603,
	RPC_NO_RESOURCE = -32002,
};

struct mcp {
	const struct mcp_options *o;
	VEC(char *) roots; /* real paths */
	struct captures captures;
	struct progress *progress;
	pthread_mutex_t out_lock, lock; /* for the output; for the members below */
	pthread_cond_t wake;
	VEC(struct rpc_message *) waiting; /* oldest first */
	struct rpc_message *running;
	bool is_cancelled; /* the running request was cancelled */
	bool is_over;	   /* the input has ended */
	bool is_broken;	   /* the output cannot be written any more */
};

/* --- rpc.c --- */
/* Reads the next message; NULL at the end of the input. Answers invalid messages with an error. */
struct rpc_message *rpc_next(struct mcp *m);
void rpc_free(struct rpc_message *r);
/* Writes a result: rpc_begin(), one value, rpc_end(), which sends it. */
void rpc_begin(const struct rpc_message *r, struct json_writer *w, struct strbuf *b);
void rpc_end(struct mcp *m, struct json_writer *w, struct strbuf *b);
void rpc_error(struct mcp *m, struct str id, int code, const char *text);
/* Sends one line to the output and frees it; a failure sets m->is_broken. */
void rpc_send(struct mcp *m, struct strbuf *line);
/* The raw JSON of an object's member; empty: no such member. The object must be valid JSON. */
struct str json_member(struct str object, const char *key);
/* The text of a JSON string, in the arena; NULL: the value is not a string. */
const char *json_text(struct str value, struct arena *a);

/* --- roots.c --- */
/* Real path of a name in a call, in the arena; NULL with *e filled if it is not below a root. */
const char *root_path(
	const struct mcp *m, const char *name, struct arena *a, struct incore_error *e);
struct found_capture {
	const char *name, *format;
	int64_t agent, dispatch;
};
#define MOST_CAPTURES 200u
/* Finds the captures below the roots, in the arena; at most MOST_CAPTURES are returned. */
bool root_captures(struct mcp *m, struct arena *a, struct found_capture **out, size_t *n,
	struct incore_error *e);

/* --- tools.c --- */
void tools_list(struct json_writer *w);
/* Writes the result of params {"name", "arguments"}; false: *e says why (USAGE: invalid params). */
bool tools_call(
	struct mcp *m, const struct rpc_message *r, struct json_writer *w, struct incore_error *e);
