/* SPDX-License-Identifier: Apache-2.0 */
/* test_serve.c: requests taken apart, tokens, boxes, blobs that read back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "mem_trace.h"
#include "serve/report/blob.h"
#include "serve/session/token.h"
#include "serve/view/matcher.h"
#include "serve/view/query.h"

static bool parse(struct query *q, const char *text)
{
	struct incore_error e = {0};
	bool ok = query_parse(q, str_of(text), &e);

	incore_error_clear(&e);
	return ok;
}

static void queries(void **state)
{
	struct query q;
	struct query_ranges r;
	uint64_t n;
	unsigned word;

	(void)state;
	assert_true(parse(&q, "/api/1/tile?tracks=0-3,7&level=4&q=a%20b+c%2B"));
	assert_string_equal(q.name, "tile");
	assert_string_equal(query_text(&q, "q"), "a b c+");
	assert_true(query_number(&q, "level", QUERY_NEEDED, 9, &n, NULL));
	assert_int_equal(n, 4);
	assert_false(query_number(&q, "level", QUERY_NEEDED, 3, &n, NULL));
	assert_false(query_number(&q, "none", QUERY_NEEDED, 3, &n, NULL));
	assert_true(query_set(&q, "tracks", 8, &r, NULL));
	assert_int_equal(r.n, 2);
	assert_int_equal(r.v[1].last, 7);
	assert_false(query_set(&q, "tracks", 7, &r, NULL));
	assert_false(query_word(&q, "level", "a|b", &word, NULL));
	assert_true(parse(&q, "/x?by=b") && query_word(&q, "by", "a|b", &word, NULL));
	assert_int_equal(word, 1);
	assert_string_equal(q.name, "");
	assert_false(parse(&q, "/api/1/x?a=1&a=2"));
	assert_false(parse(&q, "/api/1/x?a=%"));
	assert_false(parse(&q, "/api/1/x?a=%4"));
	assert_false(parse(&q, "/api/1/x?a=%zz"));
	assert_false(parse(&q, "/api/1/x?a=%00"));
	assert_false(parse(&q, "/api/1/x?a=%0a"));
	assert_false(parse(&q, "/api/1/x?=1"));
}

static void long_queries(void **state)
{
	static char text[QUERY_MAX_BYTES + 100];
	struct query q;

	(void)state;
	strcpy(text, "/a?");
	/* keys without a value take a byte more than they have */
	for (unsigned i = 0; i < QUERY_MAX_PAIRS + 4; i++)
		sprintf(text + strlen(text), "k%u&", i);
	assert_false(parse(&q, text));
	memset(text, 'a', sizeof(text) - 1);
	assert_false(parse(&q, text));
	for (size_t n = QUERY_MAX_BYTES - 8; n < QUERY_MAX_BYTES + 4; n++) {
		memset(text, 'a', n);
		memcpy(text, "/?b", 3);
		text[n - 3] = '&';
		text[n] = 0;
		parse(&q, text);
	}
}

static void tokens(void **state)
{
	struct token a, b;
	char header[64];

	(void)state;
	assert_true(token_make(&a, NULL) && token_make(&b, NULL));
	assert_string_not_equal(a.text, b.text);
	assert_int_equal(strlen(a.text), TOKEN_LEN);
	snprintf(header, sizeof(header), "Bearer %s", a.text);
	assert_true(token_is(&a, header));
	assert_false(token_is(&b, header));
	assert_false(token_is(&a, a.text));
	assert_false(token_is(&a, NULL));
	assert_false(token_is(&a, "Bearer "));
	header[20] ^= 1;
	assert_false(token_is(&a, header));
}

/* By hand: two tracks, [0,10) and [5,15) of key 0, [20,24) of key 1, box [2, 22). */
static void matchers(void **state)
{
	struct matcher m;
	struct incore_error e = {0};

	(void)state;
	assert_true(matcher_init(&m, "MFMA", &e));
	assert_true(matcher_has(&m, STR("v_mfma_f32")));
	assert_false(matcher_has(&m, STR("v_mfm")));
	matcher_deinit(&m);
	assert_true(matcher_init(&m, "/^v_.*32$/", &e));
	assert_true(matcher_has(&m, STR("v_mfma_f32")));
	assert_false(matcher_has(&m, STR("s_nop")));
	matcher_deinit(&m);
	assert_false(matcher_init(&m, "/[/", &e));
	assert_false(matcher_init(&m, "", &e));
	assert_true(matcher_init(&m, "/(a*)*(a*)*b/", &e));
	assert_false(matcher_has(&m, STR("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac")));
	matcher_deinit(&m);
	incore_error_clear(&e);
}

static const struct mem_code code[] = {{"; k", NULL, 0},
	{"s_load_dwordx2 s[0:1], s[2:3], 0x0", NULL, 0}, {"s_waitcnt lgkmcnt(0)", "a.py:3", 0},
	{"s_endpgm", "a.py:4 -> b.py:1", 0}};
static const struct mem_record first[] = {
	{100, 1, 0, 4, 1}, {104, 9, 200, 204, 2}, {400, 11, 0, 20, 3}, {430, 11, 0, 20, 99}};
static const struct mem_record second[] = {{90, 1, 2, 6, 1}, {104, 9, 30, 34, 2}};
static const struct mem_wave waves[] = {{.begin = 96, .end = 460, MEM_RECORDS(first)},
	{.se = 1, .begin = 88, .end = 140, MEM_RECORDS(second)}};

static void ask(const struct view *v, const char *target, struct strbuf *out,
	bool (*answer)(
		const struct view *, const struct query *, struct strbuf *, struct incore_error *))
{
	struct query q;

	assert_true(parse(&q, target));
	assert_true(view_need((struct view *)(uintptr_t)v, view_needs(&q), v, NULL));
	assert_true(answer(v, &q, out, NULL));
}

static void same(const struct view *a, const struct view *b, const char *target,
	bool (*answer)(
		const struct view *, const struct query *, struct strbuf *, struct incore_error *))
{
	struct strbuf x = {0}, y = {0};

	ask(a, target, &x, answer);
	ask(b, target, &y, answer);
	assert_int_equal(x.n, y.n);
	assert_memory_equal(x.p, y.p, x.n);
	sb_free(&x);
	sb_free(&y);
}

static void blobs_read_back(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct columns c = {0};
	struct columns_options o = {.origin_cyc = 88};
	struct view v = {.trace = t, .columns = &c, .origin_cyc = 88, .hash = "0123"};
	struct blob_options bo = {0};
	struct blob_view b;
	struct strbuf bytes = {0};
	struct incore_error e = {0};

	(void)state;
	assert_non_null(t);
	assert_true(columns_load(t, &o, &c, NULL));
	assert_true(blob_write(&v, &bo, &bytes));
	assert_true(blob_read(bytes.p, bytes.n, &b, &e));
	assert_string_equal(b.view.hash, "0123");
	same(&v, &b.view, "/api/1/tile?tracks=0-1&level=1&i=0", view_tile);
	same(&v, &b.view, "/api/1/tile?tracks=0-1&level=2&i=0&mode=bucket", view_tile);
	same(&v, &b.view, "/api/1/tile?tracks=0-1&level=2&i=0&mode=cause", view_tile);
	same(&v, &b.view, "/api/1/at?track=0&slice=1", view_at);
	same(&v, &b.view, "/api/1/at?track=1&t=3", view_at);
	same(&v, &b.view, "/api/1/links?code=2", view_links);
	same(&v, &b.view, "/api/1/select?by=line", view_select);
	same(&v, &b.view, "/api/1/find?q=s_", view_find);
	same(&v, &b.view, "/api/1/code", view_code);
	blob_view_deinit(&b);
	for (size_t n = 0; n < bytes.n; n++) { /* cut anywhere: refused, never read beyond */
		char *cut = mem_alloc(n + 1);

		memcpy(cut, bytes.p, n);
		assert_false(blob_read(cut, n, &b, &e));
		mem_free(cut);
	}
	incore_error_clear(&e);
	sb_free(&bytes);
	view_index_free(&v);
	columns_deinit(&c);
	trace_free(t);
}

/* Only what is asked for is in it, and it is numbered anew. */
static void blobs_of_a_part(void **state)
{
	struct trace *t = mem_trace_new(&(struct mem_capture){MEM_CODE(code), MEM_WAVES(waves)});
	struct blob_part parts[] = {{1, 2}, {0, 0}};
	struct columns c = {0};
	struct columns_options o = {.origin_cyc = 88};
	struct view v = {.trace = t, .columns = &c, .origin_cyc = 88};
	struct blob_options bo = {.parts = parts};
	struct blob_view b;
	struct strbuf bytes = {0};

	(void)state;
	assert_true(columns_load(t, &o, &c, NULL));
	assert_true(blob_write(&v, &bo, &bytes));
	assert_true(blob_read(bytes.p, bytes.n, &b, NULL));
	assert_int_equal(b.columns.n_slices, 2);
	assert_int_equal(lane_start(&b.columns.lanes[0], 0), 104 - 88);
	assert_int_equal(b.columns.lanes[0].begin_cyc, 104 - 88);
	assert_int_equal(b.columns.lanes[0].end_cyc, 420 - 88);
	assert_int_equal(b.columns.lanes[1].n, 0);
	blob_view_deinit(&b);
	sb_free(&bytes);
	columns_deinit(&c);
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queries),
		cmocka_unit_test(long_queries),
		cmocka_unit_test(tokens),
		cmocka_unit_test(matchers),
		cmocka_unit_test(blobs_read_back),
		cmocka_unit_test(blobs_of_a_part),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
