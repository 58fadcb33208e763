/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_ui_output_side.c: side files are used when they belong to the capture, and only then: by
 * agent handle, dispatch id and kernel name; a discovery run is marked as another run.
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

#define AGENT_COLUMNS                                                                              \
	"\"Node_Id\",\"Agent_Type\",\"Simd_Count\",\"Max_Waves_Per_Simd\",\"Lds_Size_In_Kb\","     \
	"\"Wave_Front_Size\",\"Num_Xcc\",\"Cu_Count\",\"Num_Shader_Banks\","                       \
	"\"Max_Engine_Clk_Fcompute\",\"Name\",\"Product_Name\"\n"
#define CPU_ROW "0,\"CPU\",0,0,0,0,1,64,0,0,\"Some CPU\",\"Some CPU\"\n"
#define GPU_ROW(node, cus)                                                                         \
	node ",\"GPU\",1024,8,160,64,8," cus ",32,2200,\"gfx950\",\"Example GPU\"\n"

#define TRACE_COLUMNS                                                                              \
	"\"Kind\",\"Agent_Id\",\"Dispatch_Id\",\"Kernel_Id\",\"Kernel_Name\",\"Start_Timestamp\"," \
	"\"End_Timestamp\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\","                    \
	"\"Accum_VGPR_Count\",\"SGPR_Count\",\"Workgroup_Size_X\",\"Workgroup_Size_Y\","           \
	"\"Workgroup_Size_Z\",\"Grid_Size_X\",\"Grid_Size_Y\",\"Grid_Size_Z\"\n"
#define TRACE_ROW(agent, dispatch, id, name)                                                       \
	"\"KERNEL_DISPATCH\",\"Agent " agent "\"," dispatch "," id ",\"" name                      \
	"\",1000,3000,512,0,28,4,32,100,2,1,1000,4,1\n"

static const char results[] =
	"{\"rocprofiler-sdk-tool\":[{\"metadata\":{\"node\":{\"hostname\":\"secret-host\","
	"\"machine_id\":\"secret-id\"},\"command\":[\"python\",\"k.py\"]},"
	"\"agents\":[{\"id\":{\"handle\":69},\"node_id\":2,\"name\":\"gfx942\",\"cu_count\":1},"
	"{\"id\":{\"handle\":70},\"node_id\":3,\"type\":2,\"name\":\"gfx950\",\"simd_count\":1024,"
	"\"cu_count\":256,\"num_shader_banks\":32,\"num_xcc\":8,\"max_waves_per_simd\":8,"
	"\"lds_size_in_kb\":160,\"wave_front_size\":64,\"max_engine_clk_fcompute\":2200,"
	"\"product_name\":\"Example GPU\"}],\"counters\":[],"
	"\"strings\":{\"att_filenames\":[\"out_70_shader_engine_0_5.att\","
	"\"out_70_shader_engine_1_5.att\",\"out_70_shader_engine_0_7.att\","
	"\"out_69_shader_engine_0_9.att\"]},"
	"\"kernel_symbols\":[{\"kernel_id\":11,\"code_object_id\":3,\"kernel_name\":\"kern.kd\","
	"\"arch_vgpr_count\":99,\"sgpr_count\":8},"
	"{\"kernel_id\":12,\"code_object_id\":4,\"kernel_name\":\"kern.kd\","
	"\"group_segment_size\":2048,\"private_segment_size\":0,\"sgpr_count\":32,"
	"\"arch_vgpr_count\":20,\"accum_vgpr_count\":8}]}]}";

static void must_read(struct ui_capture *c)
{
	if (!capture_read(c))
		fail_msg("not read: %s", c->error.message);
}

static void make_compute(struct ui_capture *c, char out[400])
{
	snprintf(out, 400, "%s/compute", c->top);
	mkdir(out, 0777);
}

static void test_ui_output_side_results(void **state)
{
	struct ui_capture *c = *state;
	const struct trace_meta *m;
	char dir[400];

	make_compute(c, dir);
	put_at(dir, "out_results.json", results);
	must_read(c);
	m = &c->trace->meta;
	assert_string_equal(m->arch, "gfx950");
	assert_string_equal(m->arch_source, "results.json");
	assert_int_equal(m->machine.cus, 256);
	assert_int_equal(m->machine.lds_bytes_per_cu, 160 * 1024);
	assert_string_equal(m->launch.command, "python k.py");
	assert_int_equal(m->launch.kernel_id, 12); /* by code object */
	assert_int_equal(m->launch.vgprs, 20);
	assert_int_equal(m->launch.lds_bytes, 2048);
	assert_int_equal(m->launch.waves, NO_VALUE);
	assert_int_equal(m->launch.agent, 70);
	assert_int_equal(find_note(c, "traced-dispatches")->count, 2);
	for (uint32_t i = 0; i < c->trace->n_notes; i++)
		assert_null(strstr(c->trace->notes[i].message, "secret"));
}

/* Same folder, but of a run that had no such agent or did not trace this dispatch. */
static void test_ui_output_side_foreign_results(void **state)
{
	struct ui_capture *c = *state;
	char text[sizeof(results)], *p;

	strcpy(text, results);
	p = strstr(text, "\"handle\":70");
	p[9] = '8';
	put_at(c->top, "out_results.json", text);
	must_read(c);
	assert_int_equal(c->trace->meta.machine.cus, NO_VALUE);
	assert_null(c->trace->meta.launch.command);
	strcpy(text, results);
	while ((p = strstr(text, "_5.att")))
		p[1] = '6';
	put_at(c->top, "out_results.json", text);
	must_read(c);
	assert_null(c->trace->meta.launch.command);
	put_at(c->top, "out_results.json", "{\"rocprofiler-sdk-tool\":[{");
	must_read(c);
	assert_non_null(find_note(c, "damaged-file"));
}

static void test_ui_output_side_kernel_trace(void **state)
{
	struct ui_capture *c = *state;
	const struct trace_launch *l;

	put_at(c->top, "out_kernel_trace.csv",
		TRACE_COLUMNS TRACE_ROW("3", "2", "9", "kern")
			TRACE_ROW("3", "3", "8", "other, \"\"x\"\"")
				TRACE_ROW("3", "5", "9", "kern") TRACE_ROW("3", "6", "9", "kern"));
	must_read(c);
	l = &c->trace->meta.launch;
	assert_int_equal(l->kernel_id, 9);
	assert_int_equal(l->launch_index, 2);
	assert_int_equal(l->launch_count, 3);
	assert_int_equal(l->vgprs, 28);
	assert_int_equal(l->accum_vgprs, 4);
	assert_int_equal(l->workgroups, 20); /* 10 x 2 x 1, the last column partly filled */
	assert_int_equal(l->waves, 80);	     /* 200 work-items: 4 waves of 64 */
	assert_false(l->is_other_run);
	assert_int_equal(l->end_ns - l->start_ns, 2000);
	/* the same dispatch id, another kernel */
	put_at(c->top, "out_kernel_trace.csv", TRACE_COLUMNS TRACE_ROW("3", "5", "9", "elsewhere"));
	must_read(c);
	assert_int_equal(c->trace->meta.launch.kernel_id, NO_VALUE);
	/* the same dispatch id, another agent than results.json says */
	put_at(c->top, "out_results.json", results);
	put_at(c->top, "out_kernel_trace.csv", TRACE_COLUMNS TRACE_ROW("2", "5", "9", "kern"));
	must_read(c);
	assert_int_equal(c->trace->meta.launch.grid[0], NO_VALUE);
	put_at(c->top, "out_kernel_trace.csv", TRACE_COLUMNS TRACE_ROW("3", "5", "9", "kern"));
	must_read(c);
	assert_int_equal(c->trace->meta.launch.grid[0], 1000);
	assert_false(c->trace->meta.launch.is_other_run);
}

static void test_ui_output_side_discovery(void **state)
{
	struct ui_capture *c = *state;

	put_at(c->top, "discover_kernel_trace.csv", TRACE_COLUMNS TRACE_ROW("8", "5", "9", "kern"));
	must_read(c);
	assert_true(c->trace->meta.launch.is_other_run);
	assert_int_equal(c->trace->meta.launch.waves, 80);
	/* the run's own trace goes first */
	put_at(c->top, "out_kernel_trace.csv", TRACE_COLUMNS TRACE_ROW("8", "5", "4", "kern"));
	must_read(c);
	assert_false(c->trace->meta.launch.is_other_run);
	assert_int_equal(c->trace->meta.launch.kernel_id, 4);
}

static void test_ui_output_side_agent_info(void **state)
{
	struct ui_capture *c = *state;

	put_at(c->top, "out_agent_info.csv",
		AGENT_COLUMNS CPU_ROW GPU_ROW("2", "256") GPU_ROW("3", "256"));
	must_read(c);
	assert_int_equal(c->trace->meta.machine.cus, 256);
	assert_string_equal(c->trace->meta.arch_source, "agent_info");
	/* different GPUs and no way to tell which: none */
	put_at(c->top, "out_agent_info.csv",
		AGENT_COLUMNS CPU_ROW GPU_ROW("2", "256") GPU_ROW("3", "304"));
	must_read(c);
	assert_int_equal(c->trace->meta.machine.cus, NO_VALUE);
	/* the kernel trace names the node */
	put_at(c->top, "out_kernel_trace.csv", TRACE_COLUMNS TRACE_ROW("3", "5", "9", "kern"));
	must_read(c);
	assert_int_equal(c->trace->meta.machine.cus, 304);
	/* a machine of another family contradicts the capture */
	put_at(c->top, "out_agent_info.csv",
		AGENT_COLUMNS "3,\"GPU\",64,16,64,32,1,32,2,2500,\"gfx1100\",\"Another\"\n");
	must_read(c);
	assert_int_equal(c->trace->meta.machine.cus, NO_VALUE);
	assert_non_null(find_note(c, "other-machine"));
	assert_string_equal(c->trace->meta.arch, "gfx9");
}

/* Folders with captures of their own keep their side files. */
static void test_ui_output_side_neighbours(void **state)
{
	struct ui_capture *c = *state;
	char dir[400], sub[500];

	snprintf(dir, sizeof(dir), "%s/elsewhere", c->top);
	mkdir(dir, 0777);
	snprintf(sub, sizeof(sub), "%s/ui_output_agent_1_dispatch_1", dir);
	mkdir(sub, 0777);
	put_at(dir, "out_agent_info.csv", AGENT_COLUMNS GPU_ROW("2", "256"));
	must_read(c);
	assert_int_equal(c->trace->meta.machine.cus, NO_VALUE);
}

static void test_ui_output_side_yaml(void **state)
{
	struct ui_capture *c = *state;

	put_at(c->top, "input_trace.yaml",
		"jobs:\n    -\n        att_target_cu: 6\n        pmc: [NOT_THIS]\npmc:\n  - "
		"SQ_WAVES\n"
		"  - \"SQ_INSTS_VALU\"\n# end\n");
	must_read(c);
	assert_int_equal(find_note(c, "pmc-outside-jobs")->count, 2);
	assert_non_null(
		strstr(find_note(c, "pmc-outside-jobs")->message, "SQ_WAVES, SQ_INSTS_VALU"));
	assert_int_equal(c->trace->meta.target_cu, 1); /* the waves know better */
	put(c, "filenames.json", MANIFEST("null"));
	put_at(c->top, "input_trace.yaml", "pmc: [A, B, C]\njobs:\n  - att_target_cu: 6\n");
	must_read(c);
	assert_int_equal(find_note(c, "pmc-outside-jobs")->count, 3);
	assert_int_equal(c->trace->meta.target_cu, 6);
	put_at(c->top, "input_trace.yaml", "jobs:\n  - pmc: [A]\n");
	must_read(c);
	assert_null(find_note(c, "pmc-outside-jobs"));
}

#define STATS_COLUMNS                                                                              \
	"\"CodeObj\",\"Vaddr\",\"Instruction\",\"Hitcount\",\"Latency\",\"Stall\",\"Idle\","       \
	"\"Source\"\n"

static void test_ui_output_side_stats(void **state)
{
	struct ui_capture *c = *state;
	const char *name = "stats_ui_output_agent_70_dispatch_5.csv";

	put_at(c->top, name,
		STATS_COLUMNS "4,256,\"; kern\",0,0,0,0,\"\"\n"
			      "4,256,\"s_load_dword s4, s[0:1], 0x0\",1,4,0,4,\"/src/k.py:3\"\n"
			      "4,264,\"s_waitcnt lgkmcnt(0)\",1,40,40,0,\"/src/k.py:4\"\n");
	must_read(c);
	assert_null(find_note(c, "stats-csv-differs"));
	put_at(c->top, name,
		STATS_COLUMNS "4,264,\"s_waitcnt lgkmcnt(0)\",1,41,40,0,\"\"\n"
			      "4,999,\"s_nop 0\",1,4,4,0,\"\"\n");
	must_read(c);
	assert_int_equal(find_note(c, "stats-csv-differs")->count, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_ui_output_side_results, setup, teardown),
		cmocka_unit_test_setup_teardown(
			test_ui_output_side_foreign_results, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_side_kernel_trace, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_side_discovery, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_side_agent_info, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_side_neighbours, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_side_yaml, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ui_output_side_stats, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
