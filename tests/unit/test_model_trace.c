/* SPDX-License-Identifier: Apache-2.0 */
/* test_model_trace.c: a timed kernel as a trace: tracks, rows, links, labels, notes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "isa/ascend.h"
#include "model/engine/to_trace.h"
#include "model_streams.h"

static struct profile prof;

static int load(void **state)
{
	(void)state;
	if (!profile_load(&prof, "910b1", ARCH_A2A3, NULL))
		return 1;
	/* what these tests are about begins with the first instruction */
	prof.k[K_LAUNCH].e4 = prof.k[K_S_FETCH].e4 = prof.k[K_HBM_LAT].e4 = 0;
	return 0;
}

static int unload(void **state)
{
	(void)state;
	profile_deinit(&prof);
	return 0;
}

static struct trace *make(struct opstream_set *set)
{
	struct engine_options o = {.profile = &prof, .keep_slices = true, .find_races = true};
	struct trace *t = NULL;
	struct timed timed;

	ms_seal(set);
	assert_true(engine_run(set, &o, &timed, NULL));
	assert_true(timed_to_trace(set, &timed, &prof, &t, NULL));
	timed_deinit(&timed);
	return t;
}

static const char *label(const struct trace *t, const char *key)
{
	const struct named_table *k = trace_find_table(t, ASCEND_TABLE_LABELS);

	assert_non_null(k);
	for (uint32_t i = 0; i < k->n_rows; i++)
		if (strcmp(named_table_cell(k, i, "key"), key) == 0)
			return named_table_cell(k, i, "value");
	return NULL;
}

static void chain(struct opstream *s, bool with_flag)
{
	ms_load(s, 1, 32, 128, 0, 0);
	if (with_flag) {
		ms_set(s, 2, OPP_MTE2, OPP_V, 3);
		ms_wait(s, 3, OPP_MTE2, OPP_V, 3);
	}
	ms_vec(s, 4, "TADD", 32, 128, (uint64_t[]){0x4000, 0, 0});
}

static void test_trace_shape(void **state)
{
	struct opstream_set set;
	struct track_data d = {0};
	struct trace *t;

	(void)state;
	opstream_set_init(&set);
	chain(ms_new(&set, CORE_AIV, 0), true);
	chain(ms_new(&set, CORE_AIV, 1), true);
	t = make(&set);
	assert_int_equal(t->meta.evidence, EVIDENCE_ESTIMATE);
	assert_int_equal(t->meta.clock_hz_num, 1850000000);
	assert_int_equal(t->n_tracks, 6);
	assert_string_equal(t->tracks[0].name, "core0.veccore0/SCALAR");
	assert_string_equal(t->tracks[5].name, "core0.veccore1/VECTOR");
	assert_int_equal(t->tracks[5].coord[1], 2);
	/* the lanes share their rows: load, add, set, wait, the issue and the end */
	assert_int_equal(t->n_code, 6);
	/* MTE2: load 4 .. 513, its set after it */
	assert_true(trace_load_track(t, 1, 0, &d, NULL));
	assert_int_equal(d.n, 2);
	assert_int_equal(d.start_cyc[1], 513);
	assert_string_equal(
		t->code[d.code[1]].text, "SET_FLAG PIPE:MTE2,TRIGGERPIPE:VEC,FLAGID:3,");
	assert_int_equal(d.inst_class[1], CLASS_FLAG_SET);
	assert_int_equal(t->code[d.code[0]].bytes, 2 * 8192);
	track_data_deinit(&d);
	trace_free(t);
	opstream_set_deinit(&set);
}

static void test_trace_links(void **state)
{
	struct opstream_set set;
	struct trace *t;

	(void)state;
	opstream_set_init(&set);
	chain(ms_new(&set, CORE_AIV, 0), true);
	t = make(&set);
	/* sorted by where they lead: the end's barrier on SCALAR, the flag on VECTOR */
	assert_int_equal(t->n_links, 2);
	assert_int_equal(t->links[0].kind, LINK_BARRIER);
	assert_int_equal(t->links[1].kind, LINK_FLAG);
	assert_string_equal(t->tracks[t->links[1].from_track].name, "core0.veccore0/MTE2");
	assert_string_equal(t->tracks[t->links[1].to_track].name, "core0.veccore0/VECTOR");
	assert_int_equal(t->links[1].from_slice, 1);
	assert_int_equal(t->links[1].to_slice, 0);
	trace_free(t);
	opstream_set_deinit(&set);
}

static void test_trace_labels(void **state)
{
	struct opstream_set set;
	struct trace *t;

	(void)state;
	opstream_set_init(&set);
	chain(ms_new(&set, CORE_AIV, 0), false);
	t = make(&set);
	assert_string_equal(label(t, "evidence"), "estimate");
	assert_string_equal(label(t, "profile"), "910b1");
	assert_string_equal(label(t, "profile_sha256"), prof.sha256);
	assert_string_equal(label(t, "calibration"), "published-constants");
	assert_string_equal(label(t, "text"), MODEL_TEXT);
	assert_string_equal(label(t, "complete"), "true");
	assert_non_null(strstr(label(t, "pipe_status"), "VECTOR: fit"));
	/* the race that the flag would have kept away */
	assert_int_equal(t->n_notes, 1);
	assert_string_equal(t->notes[0].code, "model-race");
	trace_free(t);
	opstream_set_deinit(&set);
}

/* What the engine counted while it timed the kernel is told by notes of the trace. */
static void test_trace_notes(void **state)
{
	static const char *const codes[] = {"model-more-findings", "model-incomplete",
		"model-unknown-ops", "model-fallback-ops", "model-long-slices"};
	struct engine_options o = {.profile = &prof, .keep_slices = true};
	struct opstream_set set;
	struct trace *t = NULL;
	struct timed timed;

	(void)state;
	opstream_set_init(&set);
	chain(ms_new(&set, CORE_AIV, 0), true);
	ms_seal(&set);
	assert_true(engine_run(&set, &o, &timed, NULL));
	timed.n_more = 2;
	timed.is_complete = false;
	timed.n_unknown = 3;
	timed.n_fallback = 4;
	timed.n_clamped = 5;
	assert_true(timed_to_trace(&set, &timed, &prof, &t, NULL));
	assert_int_equal(t->n_notes, 5);
	for (uint32_t i = 0; i < t->n_notes; i++) {
		assert_string_equal(t->notes[i].code, codes[i]);
		assert_int_equal(t->notes[i].count, i == 0 ? 2 : i == 1 ? 1 : i + 1);
	}
	trace_free(t);
	timed_deinit(&timed);
	opstream_set_deinit(&set);
}

static void test_trace_same_core_twice(void **state)
{
	struct engine_options o = {.profile = &prof, .keep_slices = true};
	struct incore_error e = {0};
	struct opstream_set set;
	struct trace *t = NULL;
	struct timed timed;

	(void)state;
	opstream_set_init(&set);
	chain(ms_new(&set, CORE_AIV, 0), true);
	chain(ms_new(&set, CORE_AIV, 0), true);
	ms_seal(&set);
	assert_true(engine_run(&set, &o, &timed, NULL));
	assert_false(timed_to_trace(&set, &timed, &prof, &t, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	incore_error_clear(&e);
	timed_deinit(&timed);
	opstream_set_deinit(&set);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_shape),
		cmocka_unit_test(test_trace_links),
		cmocka_unit_test(test_trace_labels),
		cmocka_unit_test(test_trace_notes),
		cmocka_unit_test(test_trace_same_core_twice),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
