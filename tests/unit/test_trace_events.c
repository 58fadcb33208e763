/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace_events.c: the scan of Chrome-trace events, and the blocks of visualize_data.bin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "codec/insight_blocks.h"
#include "codec/trace_events.h"

/* Events of a text, and whether it was sound. */
static size_t count(const char *text, bool *ok, struct trace_event *last)
{
	size_t len = strlen(text), n = 0;
	char *p = calloc(1, len + JSON_PAD);
	struct trace_events r;
	struct trace_event ev;

	assert_non_null(p);
	memcpy(p, text, len);
	trace_events_init(&r, p, len, "t.json");
	while (trace_events_next(&r, &ev)) {
		n++;
		*last = ev;
	}
	*ok = trace_events_finish(&r, NULL);
	trace_events_deinit(&r);
	/* Only numbers of *last may be looked at from here. */
	free(p);
	return n;
}

static void test_trace_events_shapes(void **state)
{
	static const struct {
		const char *text;
		size_t n;
		bool ok;
	} rows[] = {
		{"{\"traceEvents\":[]}", 0, true},
		{"[]", 0, true},
		{"[{\"ph\":\"X\"},{}]", 2, true},
		{"{\"traceEvents\":[{\"ph\":\"X\",\"args\":{\"a\":[1,{\"b\":\"}\"}]}}],\"x\":1}", 1,
			true},
		{"{\"traceEvents\":[{\"ph\":\"X\"},]}", 1, true},
		{"{\"traceEvents\":[{\"ph\":\"X\"},{\"ph\":", 1, true}, /* cut */
		{"{\"traceEvents\":[1,null,{\"ph\":\"X\"}]}", 1, true},
		{"{\"traceEvents\":7}", 0, true},
		{"NOT JSON", 0, false},
		{"", 0, false},
		{"{\"traceEvents\":[{\"ph\" \"X\"}]}", 0, false},
		{"{\"traceEvents\":[{\"args\":{\"a\":[1}}}]}", 0, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace_event ev;
		bool ok;

		assert_int_equal(count(rows[i].text, &ok, &ev), rows[i].n);
		assert_int_equal(ok, rows[i].ok);
	}
}

static void test_trace_events_numbers(void **state)
{
	static const struct {
		const char *text;
		bool ok;
		double v;
	} rows[] = {{"0", true, 0}, {"1.5", true, 1.5}, {"-2", true, -2},
		{"0.0020000000949949026", true, 0.0020000000949949026}, {"1e3", true, 1000},
		{"12345678901234567890", true, 12345678901234567890.0}, {"1e400", false, 0},
		{"NaN", false, 0}, {"Infinity", false, 0}, {"", false, 0}, {"-", false, 0},
		{"0x10", false, 0}, {"1.2.3", false, 0}, {"null", false, 0}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		double v = 0;

		assert_int_equal(trace_event_number(str_of(rows[i].text), &v), rows[i].ok);
		if (rows[i].ok)
			assert_float_equal(v, rows[i].v, 1e-9);
	}
}

static void test_trace_events_fields(void **state)
{
	struct trace_event ev;
	bool ok;

	(void)state;
	assert_int_equal(
		count("[{\"ph\":\"X\",\"ts\":\"2.5\",\"dur\":0.25,\"pid\":3,\"tid\":\"MTE2\"}]",
			&ok, &ev),
		1);
	assert_true(
		ok && ev.ph == 'X' && ev.has_ts && ev.has_dur && ev.ts == 2.5 && ev.dur == 0.25);
	assert_int_equal(count("[{\"ph\":\"X\",\"ts\":NaN}]", &ok, &ev), 1);
	assert_true(ok && !ev.has_ts && ev.is_ts_bad);
	assert_int_equal(count("[{\"ph\":\"X\"}]", &ok, &ev), 1);
	assert_true(!ev.has_ts && !ev.is_ts_bad);
}

static void test_trace_events_text(void **state)
{
	struct strbuf b = {0};

	(void)state;
	assert_true(trace_event_text(&b, STR("a\\nb\\u00e9\\ud83d\\ude00\\q\\")));
	assert_string_equal(b.p, "a\nb\xc3\xa9\xf0\x9f\x98\x80\\q\\");
	sb_free(&b);
	assert_true(str_is(trace_event_find(STR("{\"a\":[1],\"b\":\"x\"}"), "b"), "x"));
	assert_null(trace_event_find(STR("{\"a\":1}"), "b").p);
	assert_null(trace_event_find(STR("[1]"), "b").p);
}

/* What was not found has no items: UBSan watches that nothing is computed from its pointer. */
static void test_trace_events_items(void **state)
{
	struct str nothing = {NULL, 0}, value;
	size_t pos = 0;

	(void)state;
	assert_false(trace_event_item(nothing, &pos, &value));
	assert_false(trace_event_item(STR("[]"), &pos, &value));
	assert_true(trace_event_item(STR("[1,{\"a\":2}]"), &pos, &value) && str_is(value, "1"));
	assert_true(trace_event_item(STR("[1,{\"a\":2}]"), &pos, &value));
	assert_true(str_is(value, "{\"a\":2}"));
	assert_false(trace_event_item(STR("[1,{\"a\":2}]"), &pos, &value));
}

/* --- blocks --- */

static size_t put(uint8_t *p, uint64_t size, unsigned type, unsigned padding, unsigned reserve)
{
	for (int i = 0; i < 8; i++)
		p[i] = (uint8_t)(size >> 8 * i);
	p[8] = (uint8_t)type;
	p[9] = (uint8_t)padding;
	p[10] = INSIGHT_MARK;
	p[11] = (uint8_t)reserve;
	return INSIGHT_HEADER_BYTES;
}

static void test_trace_events_blocks(void **state)
{
	static uint8_t bytes[3 * 4200];
	struct insight_blocks b;
	size_t n = put(bytes, 4, INSIGHT_TRACE, 2, INSIGHT_MARK);

	(void)state;
	memcpy(bytes + n, "[]\0\0", 4);
	n += 4;
	n += put(bytes + n, 8, INSIGHT_SOURCE, 1, INSIGHT_MARK);
	memcpy(bytes + n, "/k.cpp", 7);
	n += INSIGHT_PATH_BYTES;
	memcpy(bytes + n, "int x;\n\0", 8);
	n += 8;
	n += put(bytes + n, 0, 200, 0, 0);
	assert_true(insight_is_head(bytes, n));
	assert_true(insight_blocks_read(&b, bytes, n + 5, "x.bin", NULL));
	assert_int_equal(b.v.n, 3);
	assert_true(str_is(b.v.v[0].payload, "[]"));
	assert_true(str_is(b.v.v[1].path, "/k.cpp") && str_is(b.v.v[1].payload, "int x;\n"));
	assert_int_equal(b.n_odd_reserve, 1);
	assert_true(b.rest_bytes == 5 && b.rest_offset == n);
	insight_blocks_deinit(&b);
}

static void test_trace_events_bad_blocks(void **state)
{
	uint8_t bytes[64] = {0};
	struct incore_error e = {0};
	struct insight_blocks b;

	(void)state;
	put(bytes, 4, INSIGHT_TRACE, 0, 0);
	assert_false(insight_blocks_read(&b, bytes, 16, "x.bin", &e));
	assert_int_equal(e.offset, 11);
	put(bytes, 9999, INSIGHT_TRACE, 0, INSIGHT_MARK);
	assert_false(insight_blocks_read(&b, bytes, 16, "x.bin", &e));
	assert_int_equal(e.offset, 0);
	put(bytes, 4, INSIGHT_TRACE, 7, INSIGHT_MARK);
	assert_false(insight_blocks_read(&b, bytes, 16, "x.bin", &e));
	assert_int_equal(e.offset, 9);
	put(bytes, UINT64_MAX, INSIGHT_SOURCE, 0, INSIGHT_MARK);
	assert_false(insight_blocks_read(&b, bytes, 64, "x.bin", &e));
	assert_false(insight_blocks_read(&b, bytes, 3, "x.bin", &e));
	incore_error_clear(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_events_shapes),
		cmocka_unit_test(test_trace_events_numbers),
		cmocka_unit_test(test_trace_events_fields),
		cmocka_unit_test(test_trace_events_text),
		cmocka_unit_test(test_trace_events_items),
		cmocka_unit_test(test_trace_events_blocks),
		cmocka_unit_test(test_trace_events_bad_blocks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
