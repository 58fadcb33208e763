/* SPDX-License-Identifier: Apache-2.0 */
/* Is the repair log what the format says, and is a damaged one read up to the damage and not
 * beyond? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/crc32c.h"
#include "dump/log_read.h"
#include "dump/record/log_write.h"
#include "dump/repair.h"
#include "dump_tools.h"

struct bytes {
	uint8_t *p;
	size_t n;
};

static struct bytes read_file(const char *name)
{
	FILE *f = fopen(tool_path(name), "rb");
	struct bytes b = {calloc(1, 1 << 20), 0};

	assert_non_null(f);
	assert_non_null(b.p);
	b.n = fread(b.p, 1, 1 << 20, f);
	fclose(f);
	return b;
}

static void write_file(const char *name, const uint8_t *p, size_t n)
{
	FILE *f = fopen(tool_path(name), "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

/* A dump that ends without close: its files as a killed process leaves them. */
static void record_and_die(bool is_older)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0) {
		uint64_t data[6] = {1, 2, 3, 4, 5, 6};
		struct incore_dump_options o = tool_options();
		struct incore_dump_writer *w;
		struct incore_dump *d;

		o.is_older = is_older;
		if (incore_dump_open(&d, tool_dir(), &o) || incore_dump_attach(d, &w))
			_exit(1);
		for (uint64_t i = 0; i < 3; i++) {
			tool_task(w, i, 1, 1);
			tool_row(w, i, 0, data, i + 4);
			tool_scalar(w, i, 1, i);
		}
		_exit(incore_dump_flush(w));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void test_dump_log_checksum(void **state)
{
	uint8_t data[40000];
	unsigned seed = 1;

	(void)state;
	assert_int_equal(crc32c(0, "123456789", 9), 0xe3069283);
	assert_int_equal(crc32c_portable(0, "123456789", 9), 0xe3069283);
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(rand_r(&seed) >> 4);
	for (unsigned i = 0; i < 500; i++) {
		size_t at = (size_t)rand_r(&seed) % 64;
		size_t n = (size_t)rand_r(&seed) % (i % 2 ? 39000 : 1000), cut = n ? at % n : 0;
		uint32_t want = crc32c_portable(0, data + at, n);

		assert_int_equal(crc32c(0, data + at, n), want);
		assert_int_equal(crc32c(crc32c(0, data + at, cut), data + at + cut, n - cut), want);
	}
}

/* Byte by byte, as the document says. */
static void test_dump_log_layout(void **state)
{
	struct log_arg a = {.task_id = 0x0102030405060708,
		.dispatch_id = 9,
		.slot = 10,
		.role = 2,
		.stage = 1,
		.dtype = 6,
		.rank = 1,
		.flags = LOG_TRUNCATED,
		.block_idx = 11,
		.start_offset = 12,
		.buffer_addr = 13,
		.buffer_size = 14,
		.bin_offset = 15,
		.bin_size = 16,
		.full_size = 17,
		.shape = {18},
		.strides = {19},
		.crc32c = 20};
	static const uint8_t want[] = {0x49, 0x4e, 0x43, 0x4c, 128, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0,
		2, 0, 3, 0, 0, 0, 0, 0, 8, 7, 6, 5, 4, 3, 2, 1, 9, 0, 0, 0, 0, 0, 0, 0, 10, 0, 0, 0,
		2, 1, 6, 1, 2, 0, 0, 0, 11, 0, 0, 0};
	uint8_t p[512];

	(void)state;
	memset(p, 0xee, sizeof(p));
	assert_int_equal(log_put_tensor(p, 3, &a), 128);
	log_seal(p, 7);
	assert_memory_equal(p, want, sizeof(want));
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(p[56 + 8 * i], 12 + i);
	assert_int_equal(p[104], 18);
	assert_int_equal(p[112], 19);
	assert_int_equal(p[120], 20);
	assert_int_equal(p[128], 0xee);
	a.raw = UINT64_C(0xaabbccdd);
	assert_int_equal(log_put_scalar(p, 3, &a), 72);
	assert_int_equal(p[56], 0xdd);
	assert_int_equal(p[64] | p[65] | p[66] | p[67], 0); /* padding */
	log_put_file_head(p);
	assert_memory_equal(p, "INCDLOG\0\1\0\0\0\4\3\2\1", 16);
}

/* The numbers of whole records before byte n. */
static size_t args_before(const struct bytes *log, size_t n)
{
	struct log_reader r;
	struct log_record rec;
	size_t args = 0;

	assert_true(log_reader_init(&r, log->p, n, "log", NULL));
	while (log_next(&r, &rec))
		args += rec.type == LOG_TENSOR || rec.type == LOG_SCALAR;
	return args;
}

/* The log cut anywhere: all records before the cut, each with its payload, nothing after it. */
static void test_dump_log_cut(void **state)
{
	static const uint64_t data[6] = {1, 2, 3, 4, 5, 6};
	struct bytes log;

	(void)state;
	record_and_die(false);
	log = read_file("args.log");
	assert_int_equal(args_before(&log, log.n), 6);
	for (size_t n = 0; n <= log.n; n += n < 40 ? 1 : 13) {
		size_t args = args_before(&log, n);
		json_t *m;

		write_file("args.log", log.p, n);
		m = tool_repair();
		assert_int_equal(tool_records(m), args);
		for (size_t i = 0; i < args; i++) {
			json_t *r = tool_record(m, i);
			size_t words = 4 + (size_t)strtoull(tool_string(r, "task_id"), NULL, 16);

			if (strcmp(tool_string(r, "kind"), "tensor") == 0)
				tool_expect_payload(r, "args.bin", data, words * 8);
		}
		assert_int_equal(tool_flag(m, "closed"), 0);
		json_decref(m);
	}
	free(log.p);
}

/* One bit anywhere: the records before it, and nothing else. */
static void test_dump_log_flipped_bits(void **state)
{
	struct bytes log;
	struct log_reader r;
	struct log_record rec;

	(void)state;
	record_and_die(false);
	log = read_file("args.log");
	for (size_t bit = 128; bit < log.n * 8; bit++) {
		size_t want = 0, got = 0;

		for (size_t at = 16;; want++) {
			at += log.p[at + 4] + log.p[at + 5] * 256u;
			if (at > bit / 8)
				break;
		}
		log.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
		assert_true(log_reader_init(&r, log.p, log.n, "log", NULL));
		while (log_next(&r, &rec))
			got++;
		assert_int_equal(got, want);
		assert_non_null(r.why);
		log.p[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	free(log.p);
}

/* A payload file that is shorter, changed, empty or absent: the records stay, the loss is said. */
static void test_dump_log_payload_lost(void **state)
{
	struct repair_report report;
	struct bytes bin, first, second;
	json_t *m;

	(void)state;
	record_and_die(false);
	bin = read_file("args.bin");
	assert_int_equal(bin.n, (4 + 5 + 6) * 8);
	bin.p[3] ^= 1;
	write_file("args.bin", bin.p, bin.n - 1);
	assert_true(dump_repair(tool_dir(), &report, NULL));
	assert_int_equal(report.n_lost_payloads, 2);
	assert_string_equal(report.lost_payloads.v[0].why, "checksum differs");
	assert_string_equal(report.lost_payloads.v[1].why, "beyond the end of the payload file");
	assert_int_equal(report.flushes, 1);
	assert_false(report.is_closed);
	assert_null(report.cut_why);
	repair_report_deinit(&report);
	m = tool_manifest("args_dump.json");
	assert_true(tool_flag(tool_record(m, 0), "payload_lost"));
	assert_false(tool_flag(tool_record(m, 2), "payload_lost"));
	assert_int_equal(tool_u64(tool_record(m, 0), "bin_size"), 0);
	assert_int_equal(tool_u64(m, "payloads_lost"), 2);
	json_decref(m);
	write_file("args.bin", bin.p, 0);
	json_decref(tool_repair());
	first = read_file("args_dump.json");
	json_decref(tool_repair());
	second = read_file("args_dump.json");
	assert_int_equal(first.n, second.n);
	assert_memory_equal(first.p, second.p, first.n);
	unlink(tool_path("args.bin"));
	m = tool_repair();
	assert_int_equal(tool_u64(m, "payloads_lost"), 3);
	json_decref(m);
	free(first.p);
	free(second.p);
	free(bin.p);
}

static void test_dump_log_older(void **state)
{
	json_t *m;
	struct repair_report report;

	(void)state;
	record_and_die(true);
	assert_true(dump_repair(tool_dir(), &report, NULL));
	repair_report_deinit(&report);
	m = tool_manifest("tensor_dump.json");
	assert_int_equal(tool_records(m), 6);
	assert_true(tool_flag(m, "repaired"));
	json_decref(m);
}

static void test_dump_log_foreign(void **state)
{
	static const char *const files[] = {
		"{\"a\": 1}", "INCDLOGX", "INCDLOG\0\2\0\0\0\4\3\2\1", "INCDLOG\0\1\0\0\0\1\2\3\4"};
	struct repair_report report;
	struct incore_error e = {0};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		write_file("args.log", (const uint8_t *)files[i], i < 2 ? 8 : 16);
		assert_false(dump_repair(tool_dir(), &report, &e));
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		repair_report_deinit(&report);
		assert_int_not_equal(access(tool_path("args_dump.json"), F_OK), 0);
	}
	unlink(tool_path("args.log"));
	assert_false(dump_repair(tool_dir(), &report, &e));
	repair_report_deinit(&report);
	incore_error_clear(&e);
}

/* More tasks than the sort has memory for, in no order. */
static void test_dump_log_many_tasks(void **state)
{
	struct incore_dump_options o = tool_options();
	struct incore_dump_writer *w;
	struct incore_dump *d;
	json_t *m;

	(void)state;
	o.sort_bytes = 1; /* the least: runs in a file */
	d = tool_open(&o);
	w = tool_attach(d);
	for (uint64_t i = 0; i < 5000; i++) {
		uint64_t id = (i * 7919 + 13) % 5000;

		tool_task(w, id, 0, 1);
		assert_int_equal(tool_scalar(w, id, 0, id * 3), 0);
	}
	m = tool_close(d);
	assert_int_equal(tool_records(m), 5000);
	assert_null(json_object_get(m, "incomplete_count"));
	for (size_t i = 0; i < 5000; i++) {
		json_t *r = tool_record(m, i);

		assert_int_equal(strtoull(tool_string(r, "task_id"), NULL, 16), i);
		assert_int_equal(tool_u64(r, "value"), i * 3);
	}
	json_decref(m);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, tool_make_dir, tool_remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_dump_log_checksum),
		cmocka_unit_test(test_dump_log_layout),
		CASE(test_dump_log_cut),
		CASE(test_dump_log_flipped_bits),
		CASE(test_dump_log_payload_lost),
		CASE(test_dump_log_older),
		CASE(test_dump_log_foreign),
		CASE(test_dump_log_many_tasks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
