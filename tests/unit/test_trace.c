/* SPDX-License-Identifier: Apache-2.0 */
/* test_trace.c: names, notes, lookups, buffers and the invariants that sealing checks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "random_trace.h"
#include "trace/field_list.h"

static void test_trace_names(void **state)
{
	(void)state;
	assert_string_equal(class_name(CLASS_VMEM_LOAD), "VMEM-load");
	assert_string_equal(class_name(CLASS_LDS_XLANE), "LDS-xlane");
	assert_string_equal(class_name(CLASS_VMEM_TO_LDS), "VMEM-to-LDS");
	for (int i = 0; i < CLASS_COUNT; i++)
		for (int k = 0; k < i; k++)
			assert_string_not_equal(
				class_name((enum inst_class)i), class_name((enum inst_class)k));
	assert_string_equal(class_name((enum inst_class)99), "OTHER");
	assert_string_equal(bucket_name(BUCKET_DRAIN), "drain");
	assert_string_equal(evidence_name(EVIDENCE_HARDWARE_TRACE), "hardware-trace");
	assert_string_equal(evidence_name(EVIDENCE_SYNTHETIC), "synthetic");
	assert_string_equal(evidence_name((enum evidence)77), "unknown");
	assert_int_equal(evidence_of(STR("synthetic")), EVIDENCE_SYNTHETIC);
	assert_int_equal(evidence_of(STR("unknown")), EVIDENCE_UNKNOWN);
	assert_int_equal(evidence_of(STR("no such word")), EVIDENCE_UNKNOWN);
	assert_string_equal(vendor_name(VENDOR_AMD), "amd");
	assert_string_equal(note_kind_name(NOTE_CLAMPED), "clamped");
	assert_int_equal(class_stall_bucket(CLASS_BARRIER), BUCKET_WAIT);
	assert_int_equal(class_stall_bucket(CLASS_DRAIN), BUCKET_DRAIN);
	assert_int_equal(class_stall_bucket(CLASS_NOP), BUCKET_STALL);
}

static void test_trace_new_is_unknown(void **state)
{
	struct trace *t = trace_new();

	(void)state;
	assert_non_null(t);
	assert_true(t->meta.launch.agent == NO_VALUE);
	assert_true(t->meta.launch.grid[2] == NO_VALUE);
	assert_true(t->meta.machine.simds == NO_VALUE);
	assert_true(t->meta.target_cu == NO_VALUE);
	assert_int_equal(t->reference_clock, NO_CLOCK);
	assert_true(trace_clock_mhz(t) == 0);
	t->meta.clock_hz_num = 2150000000;
	t->meta.clock_hz_den = 1;
	assert_true(trace_clock_mhz(t) == 2150);
	trace_free(t);
	trace_free(NULL);
}

static void test_trace_notes_grow(void **state)
{
	struct trace *t = trace_new();

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		assert_true(trace_note_as(t, NOTE_LOST, "lost-wave", i % 2 ? "a/b" : NULL, i, 1,
			"wave %u of %s", i, "x"));
	assert_int_equal(t->n_notes, 100);
	assert_string_equal(t->notes[0].message, "wave 0 of x");
	assert_string_equal(t->notes[99].message, "wave 99 of x");
	assert_string_equal(t->notes[99].path, "a/b");
	assert_null(t->notes[98].path);
	assert_int_equal(t->notes[7].offset, 7);
	trace_free(t);
}

static void test_trace_frame(void **state)
{
	struct source_file sources[] = {{.path = "/k/a.py"}};
	struct trace *t = trace_new();
	struct strbuf b = {0};

	(void)state;
	t->sources = sources;
	t->n_sources = 1;
	assert_true(trace_put_frame(t, &(struct frame){0, 12}, &b));
	assert_true(trace_put_frame(t, &(struct frame){NO_SOURCE, 3}, &b));
	assert_string_equal(b.p, "/k/a.py:12?:3");
	sb_free(&b);
	trace_free(t);
}

static void test_trace_track_data(void **state)
{
	struct track_data d = {0};

	(void)state;
	for (uint32_t n = 1; n < 5000; n += 333) {
		assert_true(track_data_reserve(&d, n));
		assert_true(track_data_reserve_states(&d, n));
		assert_true(track_data_reserve_stated(&d, n, n * 2));
		assert_true(d.cap >= n && d.states_cap >= n && d.stated_waits_cap >= n);
		assert_true(d.stated_producers_cap >= n * 2);
		d.start_cyc[n - 1] = n;
		d.tag[n - 1] = 1;
		d.state[n - 1] = 1;
		d.stated_producers[n * 2 - 1] = n;
	}
	d.n = 7;
	d.n_states = 3;
	track_data_reset(&d);
	assert_int_equal(d.n, 0);
	assert_int_equal(d.n_states, 0);
	assert_true(d.cap > 0);
	track_data_deinit(&d);
	assert_null(d.start_cyc);
	track_data_deinit(&d);
}

static void test_trace_load_errors(void **state)
{
	struct trace *t = trace_new();
	struct track_data d = {0};
	struct incore_error e = {0};

	(void)state;
	assert_false(trace_load_track(t, 0, 0, &d, &e));
	assert_string_equal(e.code, "no-track");
	incore_error_clear(&e);
	trace_free(t);
}

typedef void (*break_fn)(struct trace *t);

static void break_class(struct trace *t)
{
	t->code[0].inst_class = CLASS_COUNT;
}
static void break_opcode(struct trace *t)
{
	t->code[0].is_label = false;
	t->code[0].opcode = t->n_opcodes;
}
static void break_frames(struct trace *t)
{
	t->code[0].first_frame = t->n_frames + 1;
}
static void break_frame_count(struct trace *t)
{
	t->code[0].first_frame = t->n_frames;
	t->code[0].n_frames = 1;
}
static void break_order(struct trace *t)
{
	t->tracks[0].coord[0] = 99;
}
static void break_clock(struct trace *t)
{
	t->tracks[1].clock = 77;
}
static void break_span(struct trace *t)
{
	t->tracks[1].end_cyc = t->tracks[1].begin_cyc - 1;
}
static void break_name(struct trace *t)
{
	t->tracks[1].name = NULL;
}
static void break_loader(struct trace *t)
{
	t->loader.load = NULL;
}
static void break_reference(struct trace *t)
{
	t->reference_clock = 50;
}
static void break_format(struct trace *t)
{
	t->meta.format = NULL;
}

static void test_trace_seal(void **state)
{
	static const break_fn breaks[] = {break_class, break_opcode, break_frames,
		break_frame_count, break_order, break_clock, break_span, break_name, break_loader,
		break_reference, break_format};

	(void)state;
	for (size_t i = 0; i < sizeof(breaks) / sizeof(breaks[0]); i++) {
		struct trace *t = random_trace_new(&(struct random_shape){
			.seed = 11, .n_tracks = 5, .max_slices = 3, .clock_quantum = 4});
		struct incore_error e = {0};

		assert_true(t->n_code > 0);
		assert_true(trace_seal(t, &e));
		breaks[i](t);
		if (trace_seal(t, &e))
			fail_msg("break %zu was not seen", i);
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		incore_error_clear(&e);
		trace_free(t);
	}
}

/* Every field lies in its row, is whole values of its type, and overlaps no other. */
static void check_fields(const struct field_table *d)
{
	uint8_t used[512] = {0};

	assert_in_range(d->n_fields, 1, FIELD_MAX);
	assert_in_range(d->row_size, 1, sizeof(used));
	for (uint32_t i = 0; i < d->n_fields; i++) {
		const struct field *x = &d->fields[i];

		assert_true(x->offset + x->size <= d->row_size);
		assert_true(x->size >= field_width(x) && x->size % field_width(x) == 0);
		assert_true((x->type == FIELD_ENUM) == (x->words != NULL));
		for (uint32_t k = x->offset; k < (uint32_t)x->offset + x->size; k++)
			assert_int_equal(used[k]++, 0);
	}
}

static void test_trace_field_list(void **state)
{
	static const struct field_table *const tables[] = {&table_launch, &table_machine,
		&table_meta, &table_code, &table_totals, &table_samples, &table_frames,
		&table_sources, &table_clocks, &table_tracks, &table_occupancy, &table_kernel_names,
		&table_dispatch_events, &table_counters, &table_markers, &table_other_issues,
		&table_series, &table_links, &table_heads, &table_notes, &table_reason_counts,
		&table_sampling, &table_metrics, &table_code_links};

	(void)state;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		check_fields(tables[i]);
		for (int format = 0; format < FORMAT_COUNT; format++) {
			uint64_t seen = 0;

			for (uint32_t k = 0; k < tables[i]->n_fields; k++)
				seen |= UINT64_C(1)
					<< (field_at(tables[i], format, k) - tables[i]->fields);
			assert_int_equal(seen, (UINT64_C(1) << tables[i]->n_fields) - 1);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_names),
		cmocka_unit_test(test_trace_new_is_unknown),
		cmocka_unit_test(test_trace_notes_grow),
		cmocka_unit_test(test_trace_frame),
		cmocka_unit_test(test_trace_track_data),
		cmocka_unit_test(test_trace_load_errors),
		cmocka_unit_test(test_trace_seal),
		cmocka_unit_test(test_trace_field_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
