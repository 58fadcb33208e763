/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.c: the answers that follow the mouse, in a browser. The page hands the columns over once,
 * then asks; an answer is valid until the next question.
 */
#include "base/mem.h"
#include "serve/blob.h"
#include "serve/matcher.h"
#include "serve/view_index.h"

#define EXPORT __attribute__((used, visibility("default")))

enum { KIND_JSON, KIND_BINARY, KIND_TEXT };

struct answer_out { /* as ui/source_wasm.ts reads it */
	uint32_t status, kind, address, bytes;
};

typedef bool (*answer_fn)(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);

static const struct {
	const char *name;
	answer_fn answer;
	uint32_t kind;
} answers[] = {
	{"tile", answer_tile, KIND_BINARY},
	{"slices", answer_slices, KIND_BINARY},
	{"at", answer_at, KIND_JSON},
	{"links", answer_links, KIND_BINARY},
	{"select", answer_select, KIND_JSON},
	{"find", answer_find, KIND_JSON},
	{"histogram", answer_histogram, KIND_JSON},
	{"rows", answer_rows, KIND_JSON},
	{"code", answer_code, KIND_JSON},
	{"counters", answer_counters, KIND_BINARY},
	{"source", answer_source, KIND_TEXT},
};

static struct blob_view blob;
static struct strbuf body;
static struct answer_out last;

void *incore_alloc(uint32_t bytes);
uint32_t incore_load(const void *p, uint32_t bytes);
struct answer_out *incore_ask(const char *p, uint32_t bytes);

EXPORT void *incore_alloc(uint32_t bytes)
{
	return mem_alloc(bytes);
}

EXPORT uint32_t incore_load(const void *p, uint32_t bytes)
{
	struct incore_error e = {0};
	uint32_t status = blob_read(p, bytes, &blob, &e) ? 0 : (uint32_t)e.status;

	incore_error_clear(&e);
	return status;
}

static bool answer(struct str question, uint32_t *kind, struct incore_error *e)
{
	struct query q;

	if (!blob.view.trace)
		return err_set(e, INCORE_FAILED, "no-data", "nothing was loaded");
	if (!query_parse(&q, question, e))
		return false;
	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (strcmp(q.name, answers[i].name) != 0)
			continue;
		*kind = answers[i].kind;
		return view_need(&blob.view, view_needs(&q), &blob.view, e) &&
		       answers[i].answer(&blob.view, &q, &body, e);
	}
	return err_set(e, INCORE_NO, "not-in-report",
		"this report has no answer to that question; incore view has");
}

static void put_error(const struct incore_error *e)
{
	struct json_writer w;

	sb_free(&body);
	json_w_buf(&w, &body, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.error/1");
	json_w_key(&w, "error");
	json_w_object(&w);
	json_w_kv_cstr(&w, "code", e->code ? e->code : "no-memory");
	json_w_kv_cstr(&w, "message", e->message ? e->message : "out of memory");
	json_w_end(&w);
	json_w_end(&w);
	json_w_finish(&w, NULL);
}

/* The question as it stands after "/api/1/". */
EXPORT struct answer_out *incore_ask(const char *p, uint32_t bytes)
{
	struct incore_error e = {0};
	struct strbuf target = {0};
	uint32_t kind = KIND_JSON;

	sb_free(&body);
	sb_puts(&target, "/api/1/");
	sb_add(&target, p, bytes);
	last = (struct answer_out){.status = 200};
	if (target.failed || !answer((struct str){target.p, target.n}, &kind, &e) || body.failed) {
		last.status = e.status == INCORE_NO ? 404 : e.status == INCORE_USAGE ? 400 : 500;
		kind = KIND_JSON;
		put_error(&e);
	}
	last.kind = kind;
	last.address = (uint32_t)(uintptr_t)body.p;
	last.bytes = (uint32_t)body.n;
	incore_error_clear(&e);
	sb_free(&target);
	mem_free((void *)(uintptr_t)p);
	return &last;
}

/* --- what a page has not --- */

bool diff_sums_make(struct view *v, const struct view *base, struct incore_error *e)
{
	(void)v;
	(void)base;
	return err_set(e, INCORE_NO, "not-in-report", "a report holds one capture");
}

/* --- a page matches expressions itself: it asks with rows= --- */

bool regex_init(struct matcher *m, struct str pattern, struct incore_error *e)
{
	(void)pattern;
	m->is_regex = false;
	return err_set(e, INCORE_USAGE, "no-regex", "a report matches expressions in the page");
}

bool regex_has(struct matcher *m, struct str text)
{
	(void)m;
	(void)text;
	return false;
}

void regex_deinit(struct matcher *m)
{
	(void)m;
}
