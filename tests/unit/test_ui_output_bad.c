/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ui_output_bad.c: what is wrong in a ui_output directory is told with file and byte, and
 * costs no more than it must. Each case is a row of a table; '^' in a text marks the byte that the
 * error has to name (it is taken out before the file is written).
 */
#include "ui_capture.h"

static int setup(void **state)
{
	struct ui_capture *c = calloc(1, sizeof(*c));

	assert_non_null(c);
	capture_new(c);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	capture_free(*state);
	free(*state);
	return 0;
}

struct bad_case {
	const char *code; /* stable word of the error */
	const char *text;
};

/* Writes text without its mark; returns where the mark was, or INCORE_NO_OFFSET. */
static uint64_t put_marked(struct ui_capture *c, const char *name, const char *text)
{
	char copy[4096];
	const char *mark = strchr(text, '^');
	size_t at = mark ? (size_t)(mark - text) : strlen(text);

	assert_true(strlen(text) < sizeof(copy));
	memcpy(copy, text, at);
	strcpy(copy + at, mark ? mark + 1 : "");
	put(c, name, copy);
	return mark ? at : INCORE_NO_OFFSET;
}

static void check_error(
	struct ui_capture *c, const struct bad_case *k, const char *name, uint64_t at)
{
	const struct incore_error *e = &c->error;

	while (e->cause)
		e = e->cause;
	if (c->error.status != INCORE_BAD_INPUT || !e->code || strcmp(e->code, k->code) != 0)
		fail_msg("%s: %s\ngot status %d, %s (%s), want %s", name, k->text, c->error.status,
			e->code ? e->code : "-", e->message ? e->message : "-", k->code);
	if (!e->path || !strstr(e->path, name))
		fail_msg("%s: path is %s", k->text, e->path ? e->path : "none");
	if (at != INCORE_NO_OFFSET && e->offset != at)
		fail_msg("%s\n%s: at byte %llu, want %llu", k->text, e->message,
			(unsigned long long)e->offset, (unsigned long long)at);
}

static const struct bad_case manifests[] = {
	{"bad-json", "{\"gfxip\":9,^}"},
	{"truncated", "{\"gfxip\":9,\"wave_filenames\":{\"0\":"},
	{"missing-key", "{\"gfxip\":9}"},
	{"bad-type", "{\"wave_filenames\":[1,2]}"},
	{"bad-type", "[1]"},
	{"duplicate-key", "{\"gfxip\":9,\"gfxip\":9,\"wave_filenames\":null}"},
	{"duplicate-key", "{\"wave_filenames\":null,\"wave_filenames\":null}"},
	{"out-of-range", "{\"wave_filenames\":{\"-1\":{\"0\":{\"0\":{\"0\":[\"a\",1,2]}}}}}"},
	{"out-of-range",
		"{\"wave_filenames\":{\"99999999999\":{\"0\":{\"0\":{\"0\":[\"a\",1,2]}}}}}"},
	{"out-of-range", "{\"wave_filenames\":{\"0x1\":{\"0\":{\"0\":{\"0\":[\"a\",1,2]}}}}}"},
	{"out-of-range", "{\"wave_filenames\":{\"0\":{\"256\":{\"0\":{\"0\":[\"a\",1,2]}}}}}"},
	{"bad-path", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"../a\",1,2]}}}}}"},
	{"bad-path", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"x/a\",1,2]}}}}}"},
	{"bad-path", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"..\",1,2]}}}}}"},
	{"bad-path", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"\",1,2]}}}}}"},
	{"duplicate-key", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"a\",1,2],\"1\":["
			  "\"a\",3,4]}}}}}"},
	{"duplicate-key", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"a\",1,2],\"00\":["
			  "\"b\",3,4]}}}}}"},
	{"bad-value", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"a\",5,4]}}}}}"},
	{"out-of-range", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"a\",-5,4]}}}}}"},
	{"out-of-range", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"a\",1,"
			 "99999999999999999999]}}}}}"},
	{"bad-value", "{\"wave_filenames\":{\"0\":{\"0\":{\"0\":{\"0\":[\"a\",1]}}}}}"},
};

static void test_ui_output_bad_manifest(void **state)
{
	struct ui_capture *c = *state;

	for (size_t i = 0; i < sizeof(manifests) / sizeof(*manifests); i++) {
		uint64_t at = put_marked(c, "filenames.json", manifests[i].text);

		if (capture_read(c))
			fail_msg("accepted: %s", manifests[i].text);
		check_error(c, &manifests[i], "filenames.json", at);
	}
}

static const struct bad_case codes[] = {
	{"truncated", "{\"code\":[[\"s_nop"},
	{"missing-key", "{\"header\":\"" HEADER "\"}"},
	{"missing-key", "{\"code\":[[\"s_nop 0\",0,1,\"\",1,0,1,1,1,1]]}"},
	{"bad-value", "{\"code\":[^[\"s_nop 0\",0,1,\"\",1,0,1]],\"header\":\"" HEADER "\"}"},
	{"bad-type", CODE("[[^5,0,1,\"\",1,0,1,1,1,1]]")},
	{"bad-type", CODE("[[\"s_nop 0\",0,^1.5,\"\",1,0,1,1,1,1]]")},
	{"out-of-range", CODE("[[\"s_nop 0\",0,-1,\"\",1,0,1,1,1,1]]")},
	{"out-of-range", CODE("[[\"s_nop 0\",0,1,\"\",1,0,-1,1,1,1]]")},
	{"out-of-range", CODE("[[\"s_nop 0\",0,1,\"\",-1,0,1,1,1,1]]")},
	{"out-of-range", CODE("[[\"s_nop 0\",0,1,\"\",1,0,1,1,1,99999999999999999999]]")},
	{"duplicate-key", "{\"code\":null,\"header\":\"" HEADER "\",\"header\":\"" HEADER "\"}"},
	{"duplicate-key", "{\"code\":null,\"code\":null,\"header\":\"" HEADER "\"}"},
	{"bad-json", CODE("[]") "x"},
};

static void test_ui_output_bad_code(void **state)
{
	struct ui_capture *c = *state;

	for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
		uint64_t at = put_marked(c, "code.json", codes[i].text);

		if (capture_read(c))
			fail_msg("accepted: %s", codes[i].text);
		check_error(c, &codes[i], "code.json", at);
	}
}

static void test_ui_output_deep_code(void **state)
{
	struct ui_capture *c = *state;
	static char text[3000];

	memset(text, '[', 1500);
	memset(text + 1500, ']', 1499);
	put(c, "code.json", text);
	assert_false(capture_read(c));
	snprintf(text, sizeof(text), "{\"code\":null,\"x\":");
	memset(text + strlen(text), '[', 1000);
	put(c, "code.json", text);
	assert_false(capture_read(c));
	assert_string_equal(c->error.code, "too-deep");
}

static const struct bad_case waves[] = {
	{"truncated", "{\"wave\":{\"begin\":100,\"end\":200,\"instructions\":[[104,1,0,4,1],[10"},
	{"bad-value", WAVE("[[104,1,0,4,1],^[108,9,44,40,2]]")},
	{"bad-value", WAVE("[[104,1,0,4,1],^[100,9,4,40,2]]")},
	{"out-of-range", WAVE("[[104,1,0,4,1],^[108,9,-4,40,2]]")},
	{"out-of-range", WAVE("[^[104,1,-8,-4,1]]")},
	{"out-of-range", WAVE("[^[104,1,0,4,-1]]")},
	{"out-of-range", WAVE("[^[104,-1,0,4,1]]")},
	{"out-of-range", WAVE("[^[-104,1,0,4,1]]")},
	{"out-of-range", WAVE("[[104,1,0,4,1], ^[108,1,0,4294967296,1]]")},
	{"out-of-range", WAVE("[[104,1,0,4,1],^[9223372036854775807,1,0,4,1]]")},
	{"out-of-range", WAVE("[[104,1,0,99999999999999999999,1]]")},
	{"bad-type", WAVE("[[104,1,0.5,4,1]]")},
	{"bad-type", WAVE("[[104,1,\"0\",4,1]]")},
	{"bad-type", WAVE("[5]")},
	{"bad-value", WAVE("[[99,1,0,4,1]]")}, /* before the wave's begin */
	{"missing-key", "{\"wave\":{\"begin\":100,\"instructions\":null}}"},
	{"missing-key", "{\"num_insts\":3}"},
	{"bad-value", "{\"wave\":{\"begin\":100,\"end\":99,\"instructions\":null}}"},
	{"duplicate-key",
		"{\"wave\":{\"begin\":1,\"end\":9,\"instructions\":null,\"instructions\":null}}"},
	{"duplicate-key", "{\"wave\":{\"begin\":1,\"end\":9},\"wave\":{\"begin\":1,\"end\":9}}"},
	{"out-of-range", "{\"wave\":{\"begin\":1,\"end\":9,\"timeline\":[[1,4],[5,4]]}}"},
	{"out-of-range", "{\"wave\":{\"begin\":1,\"end\":9,\"timeline\":[[1,-4]]}}"},
	{"bad-value", "{\"wave\":{\"begin\":1,\"end\":9,\"waitcnt\":[[1]]}}"},
};

static void test_ui_output_bad_wave(void **state)
{
	struct ui_capture *c = *state;

	for (size_t i = 0; i < sizeof(waves) / sizeof(*waves); i++) {
		uint64_t at = put_marked(c, "se0_sm0_sl0_wv0.json", waves[i].text);

		/* anew each time: the first wave file is not opened twice */
		if (!capture_read(c))
			fail_msg("%s", c->error.message);
		if (capture_load(c, 0))
			fail_msg("accepted: %s", waves[i].text);
		check_error(c, &waves[i], "se0_sm0_sl0_wv0.json", at);
	}
	/* and the buffer is good for the next wave */
	put(c, "se0_sm0_sl0_wv0.json", WAVE(RECORDS));
	assert_true(capture_read(c) && capture_load(c, 0));
	assert_int_equal(c->data.n, 3);
}

/* A bad record far into the file: found again behind several batches. */
static void test_ui_output_bad_record_late(void **state)
{
	struct ui_capture *c = *state;
	char *text = malloc(1 << 20), *p = text;
	size_t at = 0;

	p += sprintf(p, "{\"wave\":{\"begin\":0,\"end\":90000,\"instructions\":[");
	for (int i = 0; i < 1000; i++) {
		p += sprintf(p, "%s", i ? "," : "");
		if (i == 777)
			at = (size_t)(p - text);
		p += sprintf(p, "[%d,2,%d,4,1]", i * 8, i == 777 ? 5 : 0);
	}
	sprintf(p, "]}}");
	put(c, "se0_sm0_sl0_wv0.json", text);
	free(text);
	assert_true(capture_read(c));
	assert_false(capture_load(c, 0));
	assert_string_equal(c->error.code, "bad-value");
	assert_int_equal(c->error.offset, at);
}

/* Each of these is one lost file and nothing more. */
static const struct {
	const char *name;
	struct bad_case k;
} optional[] = {
	{"occupancy.json", {"truncated", "{\"0\":[[1,2,3,"}},
	{"occupancy.json", {"bad-value", "{\"0\":[[1,2,3]]}"}},
	{"occupancy.json", {"out-of-range", "{\"0\":[[-1,0,0,0,1,1]]}"}},
	{"occupancy.json", {"out-of-range", "{\"0\":[[1,0,0,0,2,1]]}"}},
	{"occupancy.json", {"out-of-range", "{\"0\":[[1,70000,0,0,1,1]]}"}},
	{"occupancy.json", {"out-of-range", "{\"5000\":[[1,0,0,0,1,1]]}"}},
	{"occupancy.json", {"duplicate-key", "{\"0\":null,\"0\":[[1,0,0,0,1,1]],\"00\":null}"}},
	{"occupancy.json", {"duplicate-key", "{\"dispatches\":{\"1\":\"a\",\"1\":\"b\"}}"}},
	{"occupancy.json", {"bad-value", "{\"0\":null,\"occupancy_fields\":[\"time\",\"cu\"]}"}},
	{"realtime.json", {"out-of-range", "{\"SE0\":[[1,-2]]}"}},
	{"realtime.json", {"out-of-range", "{\"SEx\":[[1,2]]}"}},
	{"realtime.json", {"duplicate-key", "{\"SE0\":[[1,2]],\"SE0\":[[1,2]]}"}},
	{"realtime.json", {"out-of-range", "{\"metadata\":{\"frequency\":0}}"}},
	{"wstates2.json", {"bad-value", "{\"state\":[1,2],\"time\":[5]}"}},
	{"wstates2.json", {"out-of-range", "{\"state\":[-1],\"time\":[5]}"}},
	{"snapshots.json", {"bad-type", "{\"/\":5}"}},
	{"se0_perfcounter.json", {"out-of-range", "{\"data\":[[1,1,1,1,1,1,2]]}"}},
	{"shaderdata_0_0.json", {"out-of-range", "{\"records\":[[1,1,1,1,-1,1]]}"}},
	{"other_simd_se0_0.json", {"truncated", "{\"instructions\":[[1,"}},
	{"spm.json", {"out-of-range", "{\"A\":{\"values\":{\"0\":{\"0\":[[-1,2]]}}}}"}},
};

static void test_ui_output_bad_optional(void **state)
{
	struct ui_capture *c = *state;

	for (size_t i = 0; i < sizeof(optional) / sizeof(*optional); i++) {
		const struct note *n;

		put(c, optional[i].name, optional[i].k.text);
		if (!capture_read(c))
			fail_msg("%s: %s is fatal: %s", optional[i].name, optional[i].k.text,
				c->error.message);
		n = find_note(c, "damaged-file");
		if (!n)
			fail_msg("%s: %s: accepted", optional[i].name, optional[i].k.text);
		assert_int_equal(n->kind, NOTE_DAMAGED);
		assert_non_null(strstr(n->path, optional[i].name));
		assert_int_equal(c->trace->n_tracks, 1);
		assert_true(capture_load(c, 0));
		drop(c, optional[i].name);
		put(c, "occupancy.json", OCCUPANCY);
		put(c, "realtime.json", REALTIME);
	}
}

static void test_ui_output_odd_files(void **state)
{
	struct ui_capture *c = *state;
	char path[600];

	/* a directory where a file should be, a loop of links, a missing code table */
	snprintf(path, sizeof(path), "%s/occupancy.json", c->dir);
	drop(c, "occupancy.json");
	assert_int_equal(mkdir(path, 0777), 0);
	assert_true(capture_read(c));
	assert_non_null(find_note(c, "damaged-file"));
	drop(c, "se0_sm0_sl0_wv0.json");
	snprintf(path, sizeof(path), "%s/se0_sm0_sl0_wv0.json", c->dir);
	assert_int_equal(symlink("se0_sm0_sl0_wv0.json", path), 0);
	assert_true(capture_read(c));
	assert_false(capture_load(c, 0));
	drop(c, "code.json");
	assert_false(capture_read(c));
	assert_int_equal(c->error.status, INCORE_BAD_INPUT);
	snprintf(c->dir, sizeof(c->dir), "%s/nowhere", c->top);
	assert_false(capture_read(c));
	assert_int_equal(c->error.status, INCORE_BAD_INPUT);
}

static void test_ui_output_unlisted(void **state)
{
	struct ui_capture *c = *state;
	const struct note *n;
	char name[64];

	for (int i = 0; i < 20; i++) {
		snprintf(name, sizeof(name), "se1_sm0_sl0_wv%d.json", i);
		put(c, name, "{}");
	}
	put(c, "se1_other.json", "{}"); /* no wave's name */
	assert_true(capture_read(c));
	n = find_note(c, "unlisted-wave-file");
	assert_non_null(n);
	assert_int_equal(n->count, 20);
	assert_non_null(strstr(n->message, " and 4 more"));
	assert_null(strstr(n->message, "other"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ui_output_bad_manifest, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_bad_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_deep_code, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_bad_wave, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_bad_record_late, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_bad_optional, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_odd_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_unlisted, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
