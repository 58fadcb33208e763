/* SPDX-License-Identifier: Apache-2.0 */
/* test_ui_output.c: does the importer understand every variant of a ui_output directory? */
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

static void must_read(struct ui_capture *c)
{
	if (!capture_read(c))
		fail_msg("not read: %s at %llu", c->error.message,
			(unsigned long long)c->error.offset);
}

static void test_ui_output_plain(void **state)
{
	struct ui_capture *c = *state;
	const struct trace *t;

	must_read(c);
	t = c->trace;
	assert_string_equal(t->meta.kernel, "kern");
	assert_string_equal(t->meta.arch, "gfx9");
	assert_string_equal(t->meta.format_version, "3.0.0");
	assert_int_equal(t->meta.evidence, EVIDENCE_HARDWARE_TRACE);
	assert_int_equal(t->meta.launch.agent, 70);
	assert_int_equal(t->meta.launch.dispatch, 5);
	assert_int_equal(t->meta.target_cu, 1);
	assert_int_equal(t->meta.clock_quantum, 4);
	assert_int_equal(t->n_code, 4);
	assert_true(t->code[0].is_label);
	assert_int_equal(t->code[2].stated.stall, 40);
	assert_true(t->has_stated_totals);
	assert_int_equal(t->n_tracks, 1);
	assert_int_equal(t->tracks[0].kernel_id, 1);
	assert_int_equal(t->n_occupancy, 2);
	assert_int_equal(t->n_notes, 0);
	assert_int_equal((int)trace_clock_mhz(t), 2200);
	assert_true(capture_load(c, 0));
	assert_int_equal(c->data.n, 3);
	assert_int_equal(c->data.start_cyc[1], 108);
	assert_int_equal(c->data.stall_cyc[1], 40);
	assert_int_equal(c->data.code[2], 3);
	assert_int_equal(c->data.inst_class[0], CLASS_SMEM);
	assert_int_equal(c->data.inst_class[1], CLASS_WAIT);
	assert_int_equal(c->data.inst_class[2], CLASS_DRAIN);
	assert_int_equal(c->data.n_states, 3);
	assert_int_equal(c->data.state[2], STATE_WAIT);
	assert_int_equal(c->data.n_stated_waits, 1);
	assert_int_equal(c->data.stated_waits[0].wait, 2);
	assert_int_equal(c->data.stated_producers[0], 1);
	assert_int_equal(c->data.begin_cyc, 100);
	assert_int_equal(c->data.stated_slices, 3);
	assert_int_equal(c->data.coord_file[1], 1);
}

static void test_ui_output_want(void **state)
{
	struct ui_capture *c = *state;

	must_read(c);
	assert_true(trace_load_track(c->trace, 0, 0, &c->data, &c->error));
	assert_int_equal(c->data.n, 3);
	assert_int_equal(c->data.n_states, 0);
	assert_int_equal(c->data.n_stated_waits, 0);
	assert_true(
		trace_load_track(c->trace, 0, TRACK_NO_SLICES | TRACK_STATES, &c->data, &c->error));
	assert_int_equal(c->data.n, 0);
	assert_int_equal(c->data.n_states, 3);
}

/* Columns by name: array header, other order, 13 and 14 columns. */
static void test_ui_output_headers(void **state)
{
	struct ui_capture *c = *state;

	put(c, "code.json",
		"{\"code\":[[\"; k\",1,0,\"v\"],[\"s_endpgm\",0,1,null]],"
		"\"header\":[\" Vaddr "
		"\",\"Hit\",\"LineNumber\",\"Source\"],\"version\":\"3.0.0\"}");
	assert_false(capture_read(c)); /* no ISA */
	put(c, "code.json",
		"{\"code\":[[0,\"; k\",8,9],[1,\"s_endpgm\",16,7]],"
		"\"header\":[\"LineNumber\",\" ISA\",\"Vaddr \",\"Hit\"],\"version\":\"3.0.0\"}");
	must_read(c);
	assert_int_equal(c->trace->code[1].address, 16);
	assert_int_equal(c->trace->code[1].stated.hit, 7);
	assert_false(c->trace->has_stated_totals);
	put(c, "code.json",
		"{\"code\":[[\"s_endpgm\",0,0,null,4,16,1,2,0,0,3,5,2,[1,0,0,1]]],\"header\":"
		"\"" HEADER
		", ServiceType, Issued, Stalled, NotIssuedReasons\",\"version\":\"3.0.0\"}");
	must_read(c);
	assert_true(c->trace->has_stated_totals);
	assert_non_null(c->trace->samples);
	assert_int_equal(c->trace->samples[0].issued, 5);
	assert_int_equal(c->trace->reason_counts[3].all, 1);
	assert_int_equal(c->trace->meta.evidence, EVIDENCE_HARDWARE_TRACE);
	assert_false(c->trace->code[0].is_label); /* number 0 without a label row */
}

static void test_ui_output_pc_sampling(void **state)
{
	struct ui_capture *c = *state;

	put(c, "filenames.json",
		"{\"gfxip\":9,\"pc_sampling\":true,\"thread_trace\":false,\"wave_filenames\":"
		"null}");
	put(c, "code.json",
		"{\"code\":[[\"v_add_f32 v0, v0, "
		"v1\",0,0,\"\",1,0,0,0,0,0,4,6,[0,0,6,0,0,0,0,0,0,0]]],"
		"\"header\":[\"ISA\",\"_\",\"LineNumber\",\"Source\",\"Codeobj\",\"Vaddr\",\"Hit\","
		"\"Latency\",\"Stall\",\"Idle\",\"PC_Issued\",\"PC_Stalled\",\"Stall_Reasons\"]}");
	must_read(c);
	assert_int_equal(c->trace->meta.evidence, EVIDENCE_HARDWARE_SAMPLE);
	assert_int_equal(c->trace->n_tracks, 0);
	assert_int_equal(c->trace->samples[0].issued, 4);
	assert_int_equal(c->trace->reason_counts[2].all, 6);
}

static void test_ui_output_shell(void **state)
{
	struct ui_capture *c = *state;
	struct arena a;
	struct capture look = {.agent = NO_VALUE};

	put(c, "filenames.json", MANIFEST("null"));
	put(c, "code.json", CODE("null"));
	put(c, "occupancy.json",
		"{\"2\":[[10,3,0,0,1,7]],\"dispatches\":{\"7\":\"other\",\"0\":\"0 / 0x0\"}}");
	drop(c, "se0_sm0_sl0_wv0.json");
	must_read(c);
	assert_int_equal(c->trace->n_code, 0);
	assert_int_equal(c->trace->n_tracks, 0);
	assert_string_equal(c->trace->meta.kernel, "other");
	assert_int_equal(c->trace->n_clocks, 2); /* 0 of realtime, 2 of occupancy */
	assert_int_equal(c->trace->clocks[c->trace->occupancy[0].clock].id, 2);
	arena_init(&a);
	import_ui_output.look(c->dir, NULL, &a, &look);
	assert_true(look.is_empty);
	assert_int_equal(look.agent, 70);
	assert_null(look.same_as);
	arena_deinit(&a);
}

static void test_ui_output_look(void **state)
{
	struct ui_capture *c = *state;
	struct probe p = {.path = c->dir, .is_dir = true};
	struct capture a = {0}, b = {0};
	struct arena arena;

	arena_init(&arena);
	assert_true(import_ui_output.sniff(&p) > 50);
	import_ui_output.look(c->dir, NULL, &arena, &a);
	assert_int_equal(a.n_tracks, 1);
	assert_int_equal(a.n_rows, 4);
	assert_int_equal(a.n_mapped, 2);
	/* other totals, same code; then other code */
	put(c, "code.json",
		CODE("[[\"; kern\",0,0,\"\",4,256,0,0,0,0],"
		     "[\"s_load_dword s4, s[0:1], 0x0\",0,1,\"/src/k.py:3\",4,256,9,9,9,9],"
		     "[\"s_waitcnt lgkmcnt(0)\",0,2,\"/src/k.py:4\",4,264,9,9,9,9],"
		     "[\"s_endpgm\",0,3,\"\",4,268,9,9,9,9]]"));
	import_ui_output.look(c->dir, NULL, &arena, &b);
	assert_string_equal(a.same_as, b.same_as);
	put(c, "code.json", CODE("[[\"s_endpgm\",0,3,\"\",4,268,9,9,9,9]]"));
	import_ui_output.look(c->dir, NULL, &arena, &b);
	assert_string_not_equal(a.same_as, b.same_as);
	arena_deinit(&arena);
}

/* Second kernel, duplicate numbers, line 0, lines far out, categories beyond the table. */
static void test_ui_output_lines(void **state)
{
	struct ui_capture *c = *state;

	put(c, "code.json",
		CODE("[[\"; a\",0,0,\"\",1,0,0,0,0,0],[\"s_nop 0\",0,1,\"\",1,0,1,4,4,0],"
		     "[\"; b\",0,2,\"\",1,64,0,0,0,0],[\"s_nop 1\",0,3,\"\",1,64,9,90,4,0],"
		     "[\"s_nop 2\",0,3,\"\",1,68,0,0,0,0]]"));
	put(c, "se0_sm0_sl0_wv0.json",
		WAVE("[[104,9,4,4,3],[108,77,0,4,0],[112,300,0,4,2],[116,2,0,4,99999999999]]"));
	must_read(c);
	assert_string_equal(c->trace->meta.kernel, "b");
	assert_int_equal(find_note(c, "duplicate-row-number")->count, 1);
	assert_true(capture_load(c, 0));
	assert_int_equal(c->data.code[0], 3); /* the first of two */
	assert_int_equal(c->data.code[1], NO_CODE);
	assert_int_equal(c->data.code[2], NO_CODE); /* a label row */
	assert_int_equal(c->data.code[3], NO_CODE);
	assert_int_equal(c->data.n_unknown_code, 3);
	assert_int_equal(c->data.inst_class[1], CLASS_OTHER);
	assert_int_equal(c->data.tag[2], 255);
	assert_int_equal(c->data.inst_class[3], CLASS_SALU);
}

static void test_ui_output_sparse_lines(void **state)
{
	struct ui_capture *c = *state;

	put(c, "code.json",
		CODE("[[\"s_nop 7\",0,900000000000,\"\",1,0,1,4,4,0],[\"s_nop "
		     "1\",0,5,\"\",1,4,1,1,1,1]]"));
	put(c, "se0_sm0_sl0_wv0.json",
		WAVE("[[104,9,4,4,5],[108,9,4,4,900000000000],[112,9,4,4,6]]"));
	must_read(c);
	assert_true(capture_load(c, 0));
	assert_int_equal(c->data.code[0], 1);
	assert_int_equal(c->data.code[1], 0);
	assert_int_equal(c->data.code[2], NO_CODE);
	assert_null(c->trace->meta.kernel == NULL ? NULL : strstr(c->trace->meta.kernel, " / "));
}

static void test_ui_output_many_records(void **state)
{
	struct ui_capture *c = *state;
	char *text = malloc(1 << 20), *p = text;

	/* across several batches, then a second, short wave in the same buffer */
	p += sprintf(p, "{\"wave\":{\"begin\":0,\"end\":90000,\"instructions\":[");
	for (int i = 0; i < 1025; i++)
		p += sprintf(p, "%s[%d,2,0,4,1]", i ? "," : "", i * 8);
	sprintf(p, "],\"timeline\":null,\"waitcnt\":null}}");
	put(c, "se0_sm0_sl0_wv0.json", text);
	must_read(c);
	assert_true(capture_load(c, 0));
	assert_int_equal(c->data.n, 1025);
	assert_int_equal(c->data.start_cyc[1024], 8192);
	put(c, "se0_sm0_sl0_wv0.json", WAVE("null"));
	must_read(c);
	assert_true(capture_load(c, 0));
	assert_int_equal(c->data.n, 0);
	free(text);
}

static void test_ui_output_manifest_order(void **state)
{
	struct ui_capture *c = *state;

	put(c, "filenames.json",
		MANIFEST("{\"0\":{\"0\":{\"0\":{\"0\":[\"a\",1,2],\"1\":[\"b\",3,4],"
			 "\"10\":[\"d\",7,8],\"2\":[\"c\",5,6]}}},\"3\":{\"1\":{\"2\":{\"0\":["
			 "\"e\",1,1]}}}}"));
	must_read(c);
	assert_int_equal(c->trace->n_tracks, 5);
	assert_string_equal(c->trace->tracks[2].name, "c");
	assert_string_equal(c->trace->tracks[3].name, "d");
	assert_int_equal(c->trace->tracks[4].coord[0], 3);
	assert_int_equal(c->trace->n_clocks, 2);
	assert_int_equal(find_note(c, "missing-wave-file")->count, 5);
	assert_string_equal(find_note(c, "unlisted-wave-file")->message,
		"1 wave file is not in the manifest and was left out: se0_sm0_sl0_wv0.json");
	assert_false(c->trace->clocks[1].is_aligned);
	assert_int_equal(find_note(c, "unaligned-clock")->count, 1);
	assert_false(capture_load(c, 0));
	assert_string_equal(c->error.code, "not-found");
}

static void test_ui_output_sources(void **state)
{
	struct ui_capture *c = *state;
	const struct trace *t;
	struct strbuf b = {0};

	put(c, "code.json",
		CODE("[[\"; k\",0,0,\"demangled(int):7\",1,0,0,0,0,0],"
		     "[\"s_nop 0\",0,1,\"/a/b.py:3 -> /a/c.py:40 -> /d.py:5\",1,0,1,1,1,1],"
		     "[\"s_nop 0\",0,2,\"/a/b.py:4\",1,4,1,1,1,1],[\"s_nop "
		     "0\",0,3,null,1,8,1,1,1,1],"
		     "[\"s_nop 0\",0,4,\"nowhere\",1,12,1,1,1,1]]"));
	put(c, "snapshots.json",
		"{\"/\":{\"a\":{\"b.py\":\"source_0_b.py\",\"c.py\":\"../evil\"},"
		"\"d.py\":\"source_9_d.py\",\"z\":null}}");
	put(c, "source_0_b.py", "one\ntwo\nthree");
	must_read(c);
	t = c->trace;
	assert_int_equal(t->code[0].n_frames, 0);
	assert_int_equal(t->code[1].n_frames, 3);
	assert_int_equal(t->frames[t->code[1].first_frame + 2].line, 5);
	assert_true(trace_put_frame(t, &t->frames[t->code[1].first_frame], &b));
	assert_string_equal(b.p, "/a/b.py:3");
	sb_free(&b);
	assert_int_equal(t->code[3].n_frames, 0);
	assert_string_equal(t->code[3].source, "");
	assert_string_equal(t->code[4].source, "nowhere");
	assert_int_equal(t->n_sources, 3);
	assert_string_equal(t->sources[0].snapshot, "source_0_b.py");
	assert_int_equal(t->sources[0].n_lines, 3);
	assert_null(t->sources[1].snapshot);
	assert_null(t->sources[2].snapshot);
	assert_non_null(find_note(c, "bad-snapshot-name"));
	assert_int_equal(find_note(c, "missing-snapshot")->count, 1);
}

static void test_ui_output_occupancy_31(void **state)
{
	struct ui_capture *c = *state;
	const struct trace *t;

	put(c, "occupancy.json",
		"{\"0\":[[100,1,0,0,1,1,2,3,0,77,9],[200,1,0,0,0,1,2,3,0,77,9]],"
		"\"dispatches\":{\"1\":\"kern\"},"
		"\"events\":{\"0\":[{\"kind\":\"dispatch\",\"time\":90,\"me_id\":2,\"pipe_id\":3,"
		"\"kernel_id\":1,\"kernel_name\":\"kern\",\"vgprs\":24,\"sgprs\":16,\"lds_size\":"
		"512,"
		"\"thread_dim_x\":64,\"thread_dim_y\":1,\"thread_dim_z\":1,\"entry_point\":{\"a\":"
		"1}},"
		"{\"kind\":\"event\",\"time\":95,\"type\":6,\"flags\":2}]},"
		"\"occupancy_fields\":[\"time\",\"cu\",\"simd\",\"wave_id\",\"start\",\"kernel_"
		"id\","
		"\"me_id\",\"pipe_id\",\"is_ext\",\"workgroup_id\",\"cluster_id\"],\"version\":\"3."
		"1.0\"}");
	must_read(c);
	t = c->trace;
	assert_int_equal(t->n_notes, 0);
	assert_int_equal(t->occupancy[0].workgroup, 77);
	assert_int_equal(t->occupancy[0].pipe, 3);
	assert_int_equal(t->occupancy[1].cluster, 9);
	assert_int_equal(t->tracks[0].workgroup, 77);
	assert_int_equal(t->n_dispatch_events, 2);
	assert_true(t->dispatch_events[0].is_dispatch);
	assert_int_equal(t->dispatch_events[0].lds_bytes, 512);
	assert_int_equal(t->dispatch_events[0].thread_dim[0], 64);
	assert_int_equal(t->dispatch_events[1].type, 6);
	/* eleven numbers without names: the first six count */
	put(c, "occupancy.json", "{\"0\":[[100,1,0,0,1,1,2,3,0,77,9]],\"9\":[[5,0,0,0,1,1]]}");
	must_read(c);
	assert_int_equal(c->trace->occupancy[0].workgroup, 0);
	assert_int_equal(c->trace->n_clocks, 2);
	/* out of order in time: sorted, and said */
	put(c, "occupancy.json", "{\"0\":[[200,1,0,0,0,1],[100,1,0,0,1,1]]}");
	must_read(c);
	assert_int_equal(c->trace->occupancy[0].time_cyc, 100);
	assert_non_null(find_note(c, "unsorted-occupancy"));
}

struct clock_case {
	const char *text;
	int64_t offset[3]; /* of SE 0, 1, 2; NO_VALUE: unaligned */
};

/* frequency 100 MHz, k = ticks per cycle over all engines with two samples */
static const struct clock_case clock_cases[] = {
	{"{\"SE0\":[[1000,50],[23000,1050]],\"SE1\":[[248,50],[22248,1050]],\"SE2\":[[1001,50]]}",
		{0, 752, -1}},
	/* one tick later: 22 cycles more; half a cycle rounds away from zero */
	{"{\"SE0\":[[0,100],[22,101]],\"SE1\":[[0,101],[22,102]],\"SE2\":[[10,101],[32,102]]}",
		{0, 22, 12}},
	{"{\"SE0\":[[0,0],[3,2]],\"SE1\":[[0,1],[3,3]],\"SE2\":[[4,1],[7,3]]}", {0, 2, -3}},
	/* beyond 2^53: still exact */
	{"{\"SE0\":[[9007199254740993,236563243339889],[9007199254827393,236563243343813]],"
	 "\"SE1\":[[9007199254740992,236563243339889]],\"SE2\":null}",
		{0, 1, NO_VALUE}},
	/* no SE0: the lowest with samples is the reference */
	{"{\"SE1\":[[100,5],[200,9]],\"SE2\":[[90,5],[190,9]]}", {NO_VALUE, 0, 10}},
	/* no two samples anywhere: only equal ticks can be aligned */
	{"{\"SE0\":[[100,5]],\"SE1\":[[90,5]],\"SE2\":[[90,6]]}", {0, 10, NO_VALUE}},
	{"{\"metadata\":{\"frequency\":100000000}}", {NO_VALUE, NO_VALUE, NO_VALUE}},
};

static void test_ui_output_clocks(void **state)
{
	struct ui_capture *c = *state;

	put(c, "occupancy.json",
		"{\"0\":[[1,0,0,0,1,1]],\"1\":[[1,0,0,0,1,1]],\"2\":[[1,0,0,0,1,1]]}");
	for (size_t i = 0; i < sizeof(clock_cases) / sizeof(*clock_cases); i++) {
		const struct clock_case *k = &clock_cases[i];

		put(c, "realtime.json", k->text);
		must_read(c);
		assert_int_equal(c->trace->n_clocks, 3);
		for (int se = 0; se < 3; se++) {
			const struct clock_domain *d = &c->trace->clocks[se];
			int64_t got = d->is_aligned ? d->offset_cyc : NO_VALUE;

			if (got != k->offset[se])
				fail_msg("case %zu SE%d: got %lld, want %lld", i, se,
					(long long)got, (long long)k->offset[se]);
		}
	}
	drop(c, "realtime.json");
	must_read(c);
	assert_int_equal(c->trace->reference_clock, NO_CLOCK);
	assert_int_equal(c->trace->meta.clock_hz_den, 0);
	assert_non_null(find_note(c, "unaligned-clock"));
}

static void test_ui_output_series(void **state)
{
	struct ui_capture *c = *state;

	put(c, "wstates1.json", "{\"name\":\"wstates1.json\",\"state\":[1,0],\"time\":[100,104]}");
	put(c, "wstates3.json", "{\"name\":\"wstates3.json\",\"state\":null,\"time\":null}");
	must_read(c);
	assert_int_equal(c->trace->n_stated_series, 2);
	assert_int_equal(c->trace->stated_series[0].state, STATE_IDLE);
	assert_int_equal(c->trace->stated_series[0].n, 2);
	assert_int_equal(c->trace->stated_series[0].time_cyc[1], 104);
	assert_int_equal(c->trace->stated_series[1].state, STATE_WAIT);
}

static void test_ui_output_counters(void **state)
{
	struct ui_capture *c = *state;
	const struct trace *t;

	put(c, "filenames.json",
		"{\"counter_names\":[\"A\",\"B\",\"C\",\"D\",\"E:1\"],\"gfxip\":9,"
		"\"wave_filenames\":" ONE_WAVE "}");
	put(c, "se0_perfcounter.json",
		"{\"data\":[[10,1,2,3,4,1,0],[10,5,0,0,0,1,1],[20,6,7,8,9,1,0],[20,1,1,1,1,2,0]]}");
	put(c, "shaderdata_0_0.json",
		"{\"records\":[[30,9,1,0,2,1],[20,8,1,0,2,3]],\"records_count\":5}");
	put(c, "other_simd_se0_1.json",
		"{\"type\":\"OTHER_SIMD_INSTRUCTIONS\",\"instructions\":[[5,4,6]],"
		"\"instructions_count\":1}");
	put(c, "spm.json",
		"{\"SQ_X\":{\"dimensions\":[\"SE\",\"INSTANCE\"],"
		"\"values\":{\"0\":{\"3\":[[10,1],[5,2]]}}},"
		"\"TCC\":{\"dimensions\":[\"XCC\",\"INSTANCE\"],\"values\":{\"0\":{\"0\":[[1,1]]}}}"
		"}");
	must_read(c);
	t = c->trace;
	assert_int_equal(t->n_counter_names, 5);
	assert_int_equal(t->n_counters, 9 + 2); /* cu 1: A-D and E; cu 2: A-D; two of spm */
	assert_string_equal(t->counters[0].name, "A");
	assert_int_equal(t->counters[0].n, 2);
	assert_int_equal(t->counters[0].value[1], 6);
	assert_string_equal(t->counters[4].name, "E:1");
	assert_int_equal(t->counters[9].time_cyc[1], 15);
	assert_int_equal(t->counters[9].cu, 3);
	assert_int_equal(t->counters[10].clock, NO_CLOCK);
	assert_int_equal(t->n_markers, 2);
	assert_int_equal(t->markers[0].value, 8);
	assert_int_equal(t->n_other_issues, 1);
	assert_int_equal(find_note(c, "record-count-differs")->count, 3);
}

static void test_ui_output_dir_name(void **state)
{
	struct ui_capture *c = *state;
	char cwd[600];
	size_t n = strlen(c->dir);

	strcat(c->dir, "//");
	must_read(c);
	assert_int_equal(c->trace->meta.launch.agent, 70);
	c->dir[n] = '\0';
	assert_non_null(getcwd(cwd, sizeof(cwd)));
	assert_int_equal(chdir(c->dir), 0);
	strcpy(c->dir, ".");
	must_read(c);
	assert_int_equal(chdir(cwd), 0);
	assert_int_equal(c->trace->meta.launch.dispatch, 5);
	assert_true(capture_load(c, 0)); /* also after the working directory has changed */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ui_output_plain, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_want, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_headers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_pc_sampling, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_shell, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_look, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_sparse_lines, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_many_records, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_manifest_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_sources, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_occupancy_31, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_clocks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_series, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_counters, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_dir_name, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
