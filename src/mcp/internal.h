/* SPDX-License-Identifier: Apache-2.0 */
/* internal.h: what the files of the room share. */
#pragma once

#include <pthread.h>

#include "answer/answer.h"
#include "answer/captures.h"
#include "base/vec.h"
#include "codec/json_reader.h"
#include "mcp/mcp.h"

/* A message: a request, or without an id a notification. Spans of JSON stand in its arena. */
struct rpc_message {
	struct arena arena;
	struct str id; /* as it was written; empty: none */
	const char *method;
	struct str params;   /* as it was written; "{}" where there are none */
	struct str progress; /* the token of params._meta; empty: nobody wants to know */
};

enum rpc_code { /* JSON-RPC's own */
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
	pthread_mutex_t out_lock, lock; /* of the output; of what follows */
	pthread_cond_t wake;
	VEC(struct rpc_message *) waiting; /* oldest first */
	struct rpc_message *running;
	bool is_cancelled; /* nobody waits for the one that runs */
	bool is_over;	   /* the input has ended */
	bool is_broken;	   /* the output is gone */
};

/* --- rpc.c --- */
/* The next message; NULL at the end of the input. What is none is answered with an error here. */
struct rpc_message *rpc_next(struct mcp *m);
void rpc_free(struct rpc_message *r);
/* A result: rpc_begin(), one value, rpc_end(), which sends it. */
void rpc_begin(const struct rpc_message *r, struct json_writer *w, struct strbuf *b);
void rpc_end(struct mcp *m, struct json_writer *w, struct strbuf *b);
void rpc_error(struct mcp *m, struct str id, int code, const char *text);
/* The error object of a call that could not be made, or the text of one that failed. */
void rpc_send(struct mcp *m, struct strbuf *line);
/* A member of an object as it stands there; empty: it has none. The object is JSON that was read. */
struct str json_member(struct str object, const char *key);
/* The text of a JSON string, in the arena; NULL: it is none. */
const char *json_text(struct str value, struct arena *a);

/* --- roots.c --- */
/* The real path of what a call names, in the arena; NULL with an error where it is not below a root. */
const char *root_path(
	const struct mcp *m, const char *name, struct arena *a, struct incore_error *e);
/* The same seen from the first root that holds it, for people and for calls. */
const char *root_name(const struct mcp *m, const char *path);
struct found_capture {
	const char *name, *format;
	int64_t agent, dispatch;
};
#define MOST_CAPTURES 200u
/* Captures below the roots, in the arena; more than MOST_CAPTURES are left out. */
bool root_captures(struct mcp *m, struct arena *a, struct found_capture **out, size_t *n,
	struct incore_error *e);

/* --- tools.c --- */
void tools_list(struct json_writer *w);
/* The result of params {"name", "arguments"}; false: *e says why there is none (USAGE: the params are wrong). */
bool tools_call(
	struct mcp *m, const struct rpc_message *r, struct json_writer *w, struct incore_error *e);

/* --- result.c --- */
struct result_shape {		   /* what of an answer is given */
	uint64_t limit;		   /* rows of a table */
	const char *const *tables; /* their names; NULL: all, as far as RESULT_BYTES go */
	unsigned n_tables;
};
#define RESULT_ROWS 10u
#define RESULT_MOST_ROWS 1000u
#define RESULT_BYTES 8192u
/* An answer as an object: single values, tables with their totals, warnings, and how to get more. */
bool result_of_answer(const struct answer *a, const struct result_shape *shape, struct strbuf *out,
	struct incore_error *e);
/* Content of a result: the object as text and as it is. */
void result_put(struct json_writer *w, struct str object);
void result_put_error(struct json_writer *w, const struct incore_error *e);

/* --- sql_tool.c --- */
extern const char sql_description[];
void sql_schema(struct json_writer *w);
bool sql_call(struct mcp *m, struct str arguments, struct arena *a, struct strbuf *out,
	struct incore_error *e);

/* --- resources.c --- */
bool resources_list(struct mcp *m, struct json_writer *w, struct incore_error *e);
void resources_templates(struct json_writer *w);
bool resources_read(struct mcp *m, const char *uri, struct json_writer *w, struct incore_error *e);

/* --- prompts.c --- */
void prompts_list(struct json_writer *w);
/* False: there is no such prompt, or an argument is missing; *e says which. */
bool prompts_get(struct str params, struct arena *a, struct json_writer *w, struct incore_error *e);
