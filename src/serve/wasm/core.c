/* SPDX-License-Identifier: Apache-2.0 */
/*
 * core.c: answers to interactive questions, computed in the browser. The page passes the columns
 * once, then asks; an answer is valid until the next question.
 */
#include <errno.h>

#include "base/file.h"
#include "base/mem.h"
#include "serve/report/blob.h"
#include "serve/view/matcher.h"
#include "serve/view/view_index.h"

/* Replaces err_write(): no file is written here, JSON goes to memory. */
bool(err_write)(struct incore_error *e)
{
	return err_set(e, INCORE_FAILED, "io", "a report in a page opens no files");
}

#define EXPORT __attribute__((used, visibility("default")))

enum { KIND_JSON, KIND_BINARY, KIND_TEXT };

struct view_out { /* layout read by ui/source_wasm.ts */
	uint32_t status, kind, address, bytes;
};

typedef bool (*view_fn)(
	const struct view *v, const struct query *q, struct strbuf *out, struct incore_error *e);

static const struct {
	const char *name;
	view_fn answer;
	uint32_t kind;
} answers[] = {
	{"tile", view_tile, KIND_BINARY},
	{"slices", view_slices, KIND_BINARY},
	{"at", view_at, KIND_JSON},
	{"links", view_links, KIND_BINARY},
	{"select", view_select, KIND_JSON},
	{"find", view_find, KIND_JSON},
	{"found", view_found, KIND_BINARY},
	{"units", view_units, KIND_BINARY},
	{"machine", view_machine, KIND_JSON},
	{"resident", view_resident, KIND_BINARY},
	{"buckets", view_buckets, KIND_BINARY},
	{"histogram", view_histogram, KIND_JSON},
	{"rows", view_rows, KIND_JSON},
	{"code", view_code, KIND_JSON},
	{"counters", view_counters, KIND_BINARY},
	{"source", view_source, KIND_TEXT},
};

#define MAX_CAPTURES 2u

static struct blob_view blobs[MAX_CAPTURES];
static uint8_t *row_keys[MAX_CAPTURES]; /* for mode=diff against the other capture */
static unsigned n_blobs;
static struct strbuf body;
static struct view_out last;

void *incore_alloc(uint32_t bytes);
uint32_t incore_load(const void *p, uint32_t bytes);
uint32_t incore_compare(uint32_t capture, uint8_t *digits, uint32_t bytes);
struct view_out *incore_ask(const char *p, uint32_t bytes);

EXPORT void *incore_alloc(uint32_t bytes)
{
	return mem_alloc(bytes);
}

/* Loads the next capture. */
EXPORT uint32_t incore_load(const void *p, uint32_t bytes)
{
	struct incore_error e = {0};
	uint32_t status = INCORE_USAGE;

	if (n_blobs < MAX_CAPTURES)
		status = blob_read(p, bytes, &blobs[n_blobs], &e) ? 0 : (uint32_t)e.status;
	n_blobs += status == 0;
	incore_error_clear(&e);
	return status;
}

/* Takes ownership of the digits: one per code row of the capture, and one for unknown code. */
EXPORT uint32_t incore_compare(uint32_t capture, uint8_t *digits, uint32_t bytes)
{
	if (capture >= n_blobs || row_keys[capture] ||
		bytes != blobs[capture].view.trace->n_code + 1)
		return INCORE_USAGE;
	for (uint32_t i = 0; i < bytes; i++)
		digits[i] = digits[i] >= '0' && digits[i] <= '0' + DIFF_ONLY_HERE
				    ? (uint8_t)(digits[i] - '0')
				    : (uint8_t)DIFF_ONLY_HERE;
	row_keys[capture] = digits;
	return 0;
}

static bool wasm_answer(struct str question, uint32_t *kind, struct incore_error *e)
{
	struct query q;
	struct view *v;
	uint64_t c, base;

	if (!n_blobs)
		return err_set(e, INCORE_FAILED, "no-data", "nothing was loaded");
	if (!query_parse(&q, question, e) || !query_number(&q, "c", 0, n_blobs - 1, &c, e) ||
		!query_number(&q, "base", c, n_blobs - 1, &base, e))
		return false;
	v = &blobs[c].view;
	for (unsigned i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
		if (strcmp(q.name, answers[i].name) != 0)
			continue;
		*kind = answers[i].kind;
		return view_need(v, view_needs(&q), &blobs[base].view, e) &&
		       answers[i].answer(v, &q, &body, e);
	}
	return err_set(e, INCORE_NO, "not-in-report",
		"this report has no answer to that question; incore view has");
}

static void wasm_put_error(const struct incore_error *e)
{
	struct json_writer w;

	sb_free(&body);
	json_w_buf(&w, &body, 0);
	json_w_object(&w);
	json_w_kv_cstr(&w, "schema", "incore.error/1");
	json_w_kv_object(&w, "error");
	json_w_kv_cstr(&w, "code", e->code ? e->code : "no-memory");
	json_w_kv_cstr(&w, "message", e->message ? e->message : "out of memory");
	json_w_end(&w);
	json_w_end(&w);
	json_w_finish(&w, NULL);
}

/* Answers a question, given as the text after "/api/1/". */
EXPORT struct view_out *incore_ask(const char *p, uint32_t bytes)
{
	struct incore_error e = {0};
	struct strbuf target = {0};
	uint32_t kind = KIND_JSON;

	sb_free(&body);
	sb_puts(&target, "/api/1/");
	sb_add(&target, p, bytes);
	last = (struct view_out){.status = 200};
	if (target.failed || !wasm_answer((struct str){target.p, target.n}, &kind, &e) ||
		body.failed) {
		last.status = e.status == INCORE_NO ? 404 : e.status == INCORE_USAGE ? 400 : 500;
		kind = KIND_JSON;
		wasm_put_error(&e);
	}
	last.kind = kind;
	last.address = (uint32_t)(uintptr_t)body.p;
	last.bytes = (uint32_t)body.n;
	incore_error_clear(&e);
	sb_free(&target);
	mem_free((void *)(uintptr_t)p);
	return &last;
}

/* --- comparison: rows were aligned when the report was written --- */

bool diff_sums_make(struct view *v, const struct view *base, struct incore_error *e)
{
	for (unsigned i = 0; i < n_blobs; i++)
		if (v == &blobs[i].view && base != v && row_keys[i])
			return diff_sums_fill(v, base, row_keys[i], e);
	return err_set(e, INCORE_NO, "not-in-report", "this report holds nothing to compare with");
}

/* --- no expressions: the page matches them itself and asks with rows= --- */

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

/* --- a page has no files: stubs for what wasi-libc needs for them --- */

int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t fd);
int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t fd, int64_t by, int32_t from, int32_t at);
int32_t __imported_wasi_snapshot_preview1_fd_write(
	int32_t fd, int32_t parts, int32_t n, int32_t written);

int32_t __imported_wasi_snapshot_preview1_fd_close(int32_t fd)
{
	(void)fd;
	return EBADF;
}

int32_t __imported_wasi_snapshot_preview1_fd_seek(int32_t fd, int64_t by, int32_t from, int32_t at)
{
	(void)fd, (void)by, (void)from, (void)at;
	return EBADF;
}

int32_t __imported_wasi_snapshot_preview1_fd_write(
	int32_t fd, int32_t parts, int32_t n, int32_t written)
{
	(void)fd, (void)parts, (void)n, (void)written;
	return EBADF;
}
