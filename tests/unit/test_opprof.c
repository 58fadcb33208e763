/* SPDX-License-Identifier: Apache-2.0 */
/*
 * test_opprof.c: runs in every layout, written here file by file: which are found, what they are
 * called, which source of time is taken, and what is said when the sources disagree.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/mem.h"
#include "import/import.h"
#include "isa/ascend.h"
#include "temp_dir.h"

static char root[64];

static int setup(void **state)
{
	(void)state;
	snprintf(root, sizeof(root), "/tmp/incore-opprof-XXXXXX");
	return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
	(void)state;
	return temp_dir_remove(root);
}

/* Makes the directories of "a/b/name" and the file. */
static void put(const char *name, const char *text, size_t n)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	for (char *p = path + strlen(root) + 1; (p = strchr(p, '/')); p++) {
		*p = '\0';
		mkdir(path, 0700);
		*p = '/';
	}
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(text, 1, n, f), n);
	fclose(f);
}

/* A container of one block TRACE. */
static void put_bin(const char *name, const char *text)
{
	size_t n = strlen(text);
	char *bytes = malloc(12 + n);

	assert_non_null(bytes);
	memset(bytes, 0, 12);
	bytes[0] = (char)(n & 0xff);
	bytes[1] = (char)(n >> 8);
	bytes[8] = 2;
	bytes[10] = bytes[11] = 0x5a;
	memcpy(bytes + 12, text, n);
	put(name, bytes, 12 + n);
	free(bytes);
}

static void put_text(const char *name, const char *text)
{
	put(name, text, strlen(text));
}

/* MMAD of 185 cycles at 1850 MHz, twice. */
#define EVENT(ts)                                                                                  \
	"{\"args\":{\"code\":\"/k.cpp:7\",\"detail\":\"XD:X1=0x0,\",\"pc_addr\":\"0x40\"},"        \
	"\"dur\":0.1,\"name\":\"MMAD\",\"ph\":\"X\",\"pid\":\"core0.cubecore0\","                  \
	"\"tid\":\"CUBE\",\"ts\":" ts "}"
#define RUN                                                                                        \
	"{\"profilingType\":\"op\",\"schemaVersion\":2,\"traceEvents\":[" EVENT("1") "," EVENT(    \
		"2") "]}"
#define PER_CORE                                                                                   \
	"{\"profilingType\":\"op\",\"schemaVersion\":1,\"traceEvents\":[{\"args\":{\"name\":"      \
	"\"CUBE\"},\"name\":\"process_name\",\"ph\":\"M\",\"pid\":40},{\"args\":{\"pc_addr\":"     \
	"\"0x40\"},\"dur\":0.1,\"name\":\"MMAD\",\"ph\":\"X\",\"pid\":40,\"tid\":1,\"ts\":1}]}"
#define CSV(calls, cycles)                                                                         \
	"instr,addr,pipe,call_count,cycles,running_time(us),detail\n"                              \
	"MMAD,64,CUBE," calls "," cycles ",0.200000,\"XD:X1=0x0,\"\n"
#define LOG(tick) "[info] [" tick "] (PC: 0x40) CUBE : (Binary: 0x1) MMAD  XD:X1=0x0,\n"

static struct trace *read_one(const char *name, const char *kernel)
{
	struct import_options o = {.want = IMPORT_ALL};
	struct incore_error e = {0};
	struct capture_list l = {0};
	struct trace *t = NULL;
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", root, name);
	if (!import_find(path, NULL, &l, &e) || l.n != 1 || !import_read(&l.v[0], &o, &t, &e))
		fail_msg("%s: %u captures, %s", name, l.n, e.message ? e.message : "");
	assert_string_equal(l.v[0].ops->name, "opprof");
	assert_string_equal(t->meta.kernel, kernel);
	capture_list_deinit(&l);
	return t;
}

static bool has_note(const struct trace *t, const char *code)
{
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (strcmp(t->notes[i].code, code) == 0)
			return true;
	return false;
}

static void check_source(const struct trace *t, const char *word)
{
	for (uint32_t i = 0; i < t->n_notes; i++)
		if (strcmp(t->notes[i].code, "time-source") == 0) {
			assert_non_null(strstr(t->notes[i].message, word));
			return;
		}
	fail_msg("no time source");
}

static void check_and_free(struct trace *t, uint32_t n, uint64_t start)
{
	struct track_data d = {0};

	assert_int_equal(t->n_tracks, 1);
	assert_string_equal(t->tracks[0].name, "core0.cubecore0/CUBE");
	assert_true(trace_load_track(t, 0, 0, &d, NULL));
	assert_int_equal(d.n, n);
	assert_int_equal(d.start_cyc[0], start);
	assert_int_equal(d.dur_cyc[0], 185);
	track_data_deinit(&d);
	trace_free(t);
}

static void test_opprof_layouts(void **state)
{
	static const struct {
		const char *file, *at, *kernel;
	} rows[] = {{"l1/OPPROF_1_A/simulator/trace.json", "l1/OPPROF_1_A", "OPPROF_1_A"},
		{"l1/OPPROF_1_A/simulator/trace.json", "l1", "OPPROF_1_A"},
		{"l2/OPPROF_2_B/gemm/0/simulator/trace.json", "l2/OPPROF_2_B", "gemm"},
		{"l3/OPPROF_3_C/device0/add/12/simulator/trace.json", "l3", "add"},
		{"l8/run/funcs/mul/export/OPPROF_8_D/simulator/trace.json", "l8/run", "mul"}};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct trace *t;

		put_text(rows[i].file, RUN);
		t = read_one(rows[i].at, rows[i].kernel);
		check_source(t, "trace.json");
		check_and_free(t, 2, 1850);
	}
}

static void test_opprof_several_runs(void **state)
{
	struct capture_list l = {0};
	char path[512];

	(void)state;
	put_text("OPPROF_4/a/0/simulator/trace.json", RUN);
	put_text("OPPROF_4/a/1/simulator/trace.json", RUN);
	put_text("OPPROF_4/b/0/simulator/trace.json", RUN);
	snprintf(path, sizeof(path), "%s/OPPROF_4", root);
	assert_true(import_find(path, NULL, &l, NULL));
	assert_int_equal(l.n, 3);
	capture_list_deinit(&l);
}

static void test_opprof_per_core_only(void **state)
{
	struct trace *t;

	(void)state;
	put_text("OPPROF_5/simulator/core0.cubecore0/trace.json", PER_CORE);
	t = read_one("OPPROF_5", "OPPROF_5");
	check_source(t, "per-core");
	check_and_free(t, 1, 1850);
}

/* The clock follows from the CSV, which must agree with the time line. */
static void test_opprof_csv(void **state)
{
	struct trace *t;

	(void)state;
	put_text("OPPROF_6/simulator/trace.json", RUN);
	put_text("OPPROF_6/simulator/core0.cubecore0/core0.cubecore0_instr_exe.csv",
		CSV("2", "370"));
	t = read_one("OPPROF_6", "OPPROF_6");
	assert_string_equal(t->meta.clock_source, "instr_exe");
	assert_int_equal(t->code[0].stated.hit, 2);
	assert_int_equal(t->code[0].stated.latency, 370);
	assert_false(has_note(t, "stated-counts") || has_note(t, "stated-cycles"));
	check_and_free(t, 2, 1850);
	put_text("OPPROF_6/simulator/core0.cubecore0/core0.cubecore0_instr_exe.csv",
		CSV("3", "370"));
	t = read_one("OPPROF_6", "OPPROF_6");
	assert_true(has_note(t, "stated-counts") && has_note(t, "clock-unknown"));
	trace_free(t);
}

/* Ticks win over microseconds; the derived trace gives clock and lines. */
static void test_opprof_dumps_win(void **state)
{
	struct trace *t;

	(void)state;
	put_text("OPPROF_7/dump/core0.cubecore0.instr_popped_log.dump",
		LOG("00001900") LOG("00003700"));
	put_text("OPPROF_7/dump/core0.cubecore0.instr_log.dump", LOG("00002085") LOG("00003885"));
	t = read_one("OPPROF_7", "OPPROF_7");
	check_source(t, "raw dumps");
	assert_int_equal(t->code[0].n_frames, 0);
	check_and_free(t, 2, 1900);
	put_text("OPPROF_7/simulator/trace.json", RUN);
	t = read_one("OPPROF_7", "OPPROF_7");
	check_source(t, "raw dumps");
	assert_string_equal(t->meta.clock_source, "trace.json");
	assert_int_equal(t->code[0].n_frames, 1);
	assert_false(has_note(t, "trace-differs"));
	check_and_free(t, 2, 1900);
}

static void test_opprof_flat_and_broken(void **state)
{
	struct trace *t;

	(void)state;
	put_text("flat/trace.json", RUN);
	put_text("flat/core0.cubecore0.trace.json", PER_CORE);
	put_text("flat/core0_summary_log",
		"kernal total ticks : 9\nmte2_cubecore0_su_busy_cycle | 4\n");
	put_text("flat/visualize_data.bin", "this is no container at all");
	t = read_one("flat", "flat");
	check_source(t, "trace.json");
	assert_true(has_note(t, "unreadable-part"));
	assert_true(has_note(t, "core-json-differs")); /* one execution instead of two */
	assert_int_equal(trace_find_table(t, ASCEND_TABLE_BUSY)->n_rows, 1);
	check_and_free(t, 2, 1850);
}

/* trace.json, the block TRACE and the files of the cores are the same events. */
static void test_opprof_copies(void **state)
{
	static const char one[] = "{\"traceEvents\":[" EVENT("1") "]}";
	static const char spaced[] = "{ \"traceEvents\":[" EVENT("1") ", " EVENT("2") "]}";
	struct trace *t;

	(void)state;
	put_bin("OPPROF_8/simulator/visualize_data.bin", RUN);
	put_text("OPPROF_8/simulator/trace.json", RUN);
	t = read_one("OPPROF_8", "OPPROF_8");
	assert_false(has_note(t, "trace-json-differs"));
	check_and_free(t, 2, 1850);
	put_text("OPPROF_8/simulator/trace.json", spaced);
	t = read_one("OPPROF_8", "OPPROF_8");
	assert_false(has_note(t, "trace-json-differs"));
	check_and_free(t, 2, 1850);
	put_text("OPPROF_8/simulator/trace.json", one);
	t = read_one("OPPROF_8", "OPPROF_8");
	check_source(t, "visualize_data.bin");
	assert_true(has_note(t, "trace-json-differs"));
	check_and_free(t, 2, 1850);
	put_text("OPPROF_8/simulator/trace.json", "no JSON");
	t = read_one("OPPROF_8", "OPPROF_8");
	assert_true(has_note(t, "unreadable-part"));
	check_and_free(t, 2, 1850);
	put_text("OPPROF_8/simulator/trace.json", RUN);
	put_text("OPPROF_8/simulator/core0.cubecore0/trace.json", PER_CORE);
	t = read_one("OPPROF_8", "OPPROF_8");
	assert_true(has_note(t, "core-json-differs"));
	check_and_free(t, 2, 1850);
}

/* Copies a file of the tests into the root. */
static void put_copy(const char *name, const char *from)
{
	const char *tree = getenv("INCORE_SOURCE_ROOT");
	char path[4096];
	struct file_data f = {0};

	snprintf(path, sizeof(path), "%s/%s", tree ? tree : ".", from);
	assert_true(file_load(&f, path, NULL));
	put(name, (const char *)f.data, f.size);
	file_unload(&f);
}

#define LOG_AT(tick, pc) "[info] [" tick "] (PC: " pc ") VEC : (Binary: 0x1) VADD  XD:X1=0x0,\n"

/* The program's debug info gives the lines of ticks: where it starts is told, or the lowest pc. */
static void test_opprof_lines(void **state)
{
	static const char *const starts[] = {"0x10f86000\n", "0x0\n"};
	static const uint32_t lines[] = {5, 8, 13};

	(void)state;
	put_copy("OPPROF_9/dump/aicore_binary.o", "tests/unit/data/inlined_gfx942.elf");
	put_text("OPPROF_9/dump/core0.veccore0.instr_popped_log.dump",
		LOG_AT("00000100", "0x10f86000") LOG_AT("00000200", "0x10f86038"));
	put_text("OPPROF_9/dump/core0.veccore0.instr_log.dump",
		LOG_AT("00000110", "0x10f86000") LOG_AT("00000220", "0x10f86038"));
	for (int i = 0; i < 2; i++) {
		struct trace *t;
		const struct code_row *r;

		put_text("OPPROF_9/dump/pc_start_addr.txt", starts[i]);
		t = read_one("OPPROF_9", "OPPROF_9");
		r = &t->code[t->code[0].address == 0x10f86038 ? 0 : 1];
		assert_int_equal(r->n_frames, 3);
		for (int k = 0; k < 3; k++)
			assert_int_equal(t->frames[r->first_frame + (uint32_t)k].line, lines[k]);
		assert_string_equal(
			t->sources[t->frames[r->first_frame].source].path, "/src/inlined.cl");
		assert_string_equal(
			r->source, "/src/inlined.cl:5\n/src/inlined.cl:8\n/src/inlined.cl:13");
		trace_free(t);
	}
	put_text("OPPROF_9/dump/aicore_binary.o", "no ELF");
	{
		struct trace *t = read_one("OPPROF_9", "OPPROF_9");

		assert_true(has_note(t, "bad-binary"));
		assert_int_equal(t->code[0].n_frames, 0);
		trace_free(t);
	}
}

#define ASK(tick, id, spr)                                                                         \
	"[info] [" tick "] (PC: 0x44) SCALAR : (Binary: 0x1) MOV_XD_SPR  XD:X5=" id ",SPR:" spr "\n"

/* Both vector cores keep their names, whatever ids they read; the same ids are told. */
static void test_opprof_block_ids(void **state)
{
	static const char *const sub_blocks[] = {
		ASK("00000102", "0x1", "SUBBLOCKID"), ASK("00000102", "0x0", "SUBBLOCKID")};
	static const char *const logs[] = {"instr_popped_log", "instr_log"};
	char name[128], text[512];

	(void)state;
	for (int same = 0; same < 2; same++) {
		struct trace *t;

		for (int k = 0; k < 4; k++) {
			snprintf(name, sizeof(name), "OPPROF_11/dump/core0.veccore%d.%s.dump",
				k / 2, logs[k % 2]);
			snprintf(text, sizeof(text), "%s%s", ASK("00000101", "0x3", "BLOCKID"),
				k / 2 ? sub_blocks[same] : ASK("00000102", "0x0", "SUBBLOCKID"));
			put_text(name, text);
		}
		t = read_one("OPPROF_11", "OPPROF_11");
		assert_int_equal(t->n_tracks, 2);
		assert_int_equal(has_note(t, "core-name-collision"), same);
		trace_free(t);
	}
}

static const struct counter_series *find_counter(const struct trace *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_counters; i++)
		if (strcmp(t->counters[i].name, name) == 0)
			return &t->counters[i];
	return NULL;
}

#define REQUEST(tick, unit, size, instr, req)                                                      \
	"[info] " tick ": " unit " send_req, addr: 0x40, size: " size                              \
	", tag_id: 4, instr_id: " instr ", req_id: " req "\n"

/* Bytes a microsecond (1850 ticks), by direction; a request counts once, at its last tick. */
static void test_opprof_transfers(void **state)
{
	const struct counter_series *k;
	struct trace *t;

	(void)state;
	put_text("OPPROF_10/dump/core0.cubecore0.instr_popped_log.dump",
		LOG("00001900") LOG("00003700"));
	put_text("OPPROF_10/dump/core0.cubecore0.instr_log.dump", LOG("00002085") LOG("00003885"));
	put_text("OPPROF_10/dump/core0_summary_log", "mte2_cubecore0_su_busy_cycle | 4\n");
	put_text("OPPROF_10/dump/core0.mte_log.dump",
		REQUEST("100", "BRIF", "256", "4", "1") REQUEST("2000", "BRIF", "256", "4", "1")
			REQUEST("2100", "UB0WIF", "256", "4", "9") REQUEST("9000", "BRIF", "64",
				"5", "2") REQUEST("100", "BWIF", "32", "6", "1") "noise\n");
	t = read_one("OPPROF_10", "OPPROF_10");
	assert_int_equal(trace_find_table(t, ASCEND_TABLE_BUSY)->n_rows, 1);
	k = find_counter(t, "MTE Throughput/GM_TO_UB");
	assert_true(k && k->n == 2 && k->time_cyc[0] == 1850 && k->value[0] == 256000);
	assert_true(k->value[1] == 0 && k->time_cyc[1] == 3700 && k->per_unit == 1000);
	k = find_counter(t, "MTE Throughput/GM_TO_TOTAL");
	assert_true(k && k->n == 4 && k->time_cyc[2] == 4 * 1850 && k->value[2] == 64000);
	k = find_counter(t, "MTE Throughput/TOTAL_TO_GM");
	assert_true(k && k->n == 2 && k->time_cyc[0] == 0 && k->value[0] == 32000);
	assert_null(find_counter(t, "MTE Throughput/UB_TO_GM"));
	trace_free(t);
}

static uint32_t count_found(const char *name, const char *want)
{
	struct capture_list l = {0};
	char path[512];
	uint32_t n;

	snprintf(path, sizeof(path), "%s/%s", root, name);
	assert_true(import_find(path, NULL, &l, NULL));
	n = l.n;
	for (uint32_t i = 0; i < n; i++)
		if (want)
			assert_non_null(strstr(l.v[i].path, want));
	capture_list_deinit(&l);
	return n;
}

/* The list of a folder says which of a kernel's runs counts; it cannot lead out of the folder. */
static void test_opprof_manifest(void **state)
{
	(void)state;
	put_bin("m/funcs/a/export/OPPROF_1/simulator/visualize_data.bin", RUN);
	put_bin("m/funcs/a/collect/out/OPPROF_1/simulator/visualize_data.bin", RUN);
	put_bin("m/funcs/b/export/OPPROF_2/simulator/visualize_data.bin", RUN);
	put_bin("m/funcs/b/collect/out/OPPROF_2/simulator/visualize_data.bin", RUN);
	put_bin("outside/simulator/visualize_data.bin", RUN);
	assert_int_equal(count_found("m", NULL), 4);
	put_text("m/manifest_export.csv",
		"name,export_dir,visualize_data_bin\n"
		"a,x,funcs/a/export/OPPROF_1/simulator/visualize_data.bin\n"
		"b,x,/elsewhere/run/funcs/b/export/OPPROF_2/simulator/visualize_data.bin\n"
		"c,x,../outside/simulator/visualize_data.bin\nd,x,/etc/passwd\ne\n");
	assert_int_equal(count_found("m", "/export/"), 2);
	put_text("m/manifest_export.csv",
		"visualize_data_bin\nfuncs/b/export/OPPROF_2/simulator/visualize_data.bin\n");
	check_and_free(read_one("m", "b"), 2, 1850);
	put_text("m/manifest_export.csv", "visualize_data_bin\n../outside\n");
	assert_int_equal(count_found("m", NULL), 4);
}

#define SLICE(name, tid, ts, dur)                                                                  \
	"{\"args\":{\"detail\":\"\",\"pc_addr\":\"0x" ts "0\"},\"dur\":" dur ",\"name\":\"" name   \
	"\",\"ph\":\"X\",\"pid\":\"core0.veccore0\",\"tid\":\"" tid "\",\"ts\":" ts "}"

/* A barrier of one pipe waits for that pipe, one of all pipes for whatever ended last. */
static void test_opprof_barriers(void **state)
{
	struct trace *t;

	(void)state;
	put_text("bar/OPPROF_1/simulator/trace.json",
		"{\"profilingType\":\"op\",\"schemaVersion\":2,\"traceEvents\":[" SLICE(
			"VADD", "VECTOR", "1", "1") "," SLICE("VMUL", "VECTOR", "2",
			"2") "," SLICE("MOV", "MTE2", "3", "4") "," SLICE("BAR", "VECTOR", "5",
			"1") "," SLICE("BAR", "ALL", "8", "1") "]}");
	t = read_one("bar", "OPPROF_1");
	assert_int_equal(t->n_links, 2);
	for (uint32_t i = 0; i < 2; i++) {
		const struct link *k = &t->links[i];
		bool is_all = t->tracks[k->to_track].coord[2] == PIPE_ALL;

		assert_int_equal(k->kind, LINK_BARRIER);
		assert_int_equal(
			t->tracks[k->from_track].coord[2], is_all ? PIPE_MTE2 : PIPE_VECTOR);
		assert_int_equal(k->from_slice, is_all ? 0 : 1);
	}
	trace_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_opprof_layouts),
		cmocka_unit_test(test_opprof_several_runs),
		cmocka_unit_test(test_opprof_per_core_only),
		cmocka_unit_test(test_opprof_csv),
		cmocka_unit_test(test_opprof_dumps_win),
		cmocka_unit_test(test_opprof_flat_and_broken),
		cmocka_unit_test(test_opprof_barriers),
		cmocka_unit_test(test_opprof_copies),
		cmocka_unit_test(test_opprof_manifest),
		cmocka_unit_test(test_opprof_lines),
		cmocka_unit_test(test_opprof_block_ids),
		cmocka_unit_test(test_opprof_transfers),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
