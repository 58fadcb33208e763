/* SPDX-License-Identifier: Apache-2.0 */
/* test_packed.c: a packed file gives back every field, the same bytes for any number of threads,
 * and an error for every damaged byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/hash.h"
#include "base/mem.h"
#include "random_trace.h"
#include "trace/packed.h"
#include "trace/packed_file.h"

struct packed_bytes {
	char *p;
	size_t n;
	struct packed_result result;
};

static struct packed_bytes pack(const struct trace *t, unsigned jobs, int level)
{
	struct packed_bytes b = {0};
	struct incore_error e = {0};
	struct pool *pool = jobs ? pool_new(jobs, &e) : NULL;
	struct packed_options o = {.level = level, .pool = pool};
	FILE *f = open_memstream(&b.p, &b.n);

	assert_non_null(f);
	assert_true(packed_write(t, f, &o, &b.result, &e));
	assert_int_equal(fclose(f), 0);
	pool_free(pool);
	assert_int_equal(b.n, b.result.file_bytes);
	return b;
}

static char *temp_path(void)
{
	static char path[] = "/tmp/incore-test-packed-XXXXXX";
	int fd;

	memcpy(path + strlen(path) - 6, "XXXXXX", 6);
	fd = mkstemp(path);
	assert_true(fd >= 0);
	close(fd);
	return path;
}

static void put_file(const char *path, const void *p, size_t n)
{
	FILE *f = fopen(path, "wb");

	assert_non_null(f);
	assert_int_equal(fwrite(p, 1, n, f), n);
	assert_int_equal(fclose(f), 0);
}

static struct trace *read_back(const char *path, struct incore_error *e)
{
	struct trace *t = trace_new();

	assert_non_null(t);
	t->meta.origin = path;
	if (packed_read(path, 0, t, e) && trace_seal(t, e))
		return t;
	trace_free(t);
	return NULL;
}

static void check_round_trip(const struct random_shape *shape)
{
	struct trace *t = random_trace_new(shape);
	struct packed_bytes b = pack(t, 0, 3), again;
	char *path = temp_path();
	struct incore_error e = {0};
	struct trace *u;
	const char *what;

	put_file(path, b.p, b.n);
	u = read_back(path, &e);
	if (!u)
		fail_msg("seed %llu: %s", (unsigned long long)shape->seed, e.message);
	what = trace_difference(t, u);
	if (what)
		fail_msg("seed %llu: %s differs", (unsigned long long)shape->seed, what);
	again = pack(u, 0, 3); /* what was packed packs to the same bytes */
	assert_int_equal(again.n, b.n);
	assert_memory_equal(again.p, b.p, b.n);
	free(again.p);
	free(b.p);
	trace_free(u);
	trace_free(t);
	unlink(path);
}

static void test_packed_round_trip(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++)
		check_round_trip(&(struct random_shape){.seed = seed,
			.n_tracks = (uint32_t)(seed % 23),
			.max_slices = seed % 3 ? 200 : 3000,
			.has_bad_tracks = seed % 2,
			.clock_quantum = seed % 4 ? 4 : 1});
}

static void test_packed_long_track(void **state)
{
	(void)state;
	check_round_trip(&(struct random_shape){.seed = 7,
		.n_tracks = 4,
		.max_slices = 100,
		.long_slices = 200000,
		.clock_quantum = 4});
}

static void test_packed_many_tracks(void **state)
{
	(void)state;
	check_round_trip(&(struct random_shape){
		.seed = 8, .n_tracks = 9000, .max_slices = 2, .clock_quantum = 1});
}

static void test_packed_same_bytes(void **state)
{
	const struct random_shape shape = {
		.seed = 5, .n_tracks = 200, .max_slices = 5000, .clock_quantum = 4};
	struct trace *t = random_trace_new(&shape);
	struct packed_bytes one = pack(t, 0, 3);

	(void)state;
	for (unsigned jobs = 1; jobs <= 4; jobs++) {
		struct packed_bytes b = pack(t, jobs, 3);

		assert_int_equal(b.n, one.n);
		assert_memory_equal(b.p, one.p, one.n);
		free(b.p);
	}
	for (int level = 1; level <= 9; level += 4) {
		struct packed_bytes b = pack(t, 2, level);

		assert_memory_equal(b.result.content_hash, one.result.content_hash, 16);
		free(b.p);
	}
	free(one.p);
	trace_free(t);
}

/* Reads and loads everything; must not crash, and must not succeed with other content. */
static void check_damaged(const struct trace *t, const char *path)
{
	struct incore_error e = {0};
	struct trace *u = read_back(path, &e);
	const char *what = NULL;

	if (u)
		what = trace_difference(t, u);
	else
		assert_int_equal(e.status, INCORE_BAD_INPUT);
	if (what)
		assert_string_equal(what, "whether a track loads");
	incore_error_clear(&e);
	trace_free(u);
}

static void test_packed_damage(void **state)
{
	const struct random_shape shape = {
		.seed = 3, .n_tracks = 6, .max_slices = 50, .clock_quantum = 4};
	struct trace *t = random_trace_new(&shape);
	struct packed_bytes b = pack(t, 0, 3);
	char *path = temp_path();

	(void)state;
	for (size_t i = 0; i < b.n; i += 3) {
		b.p[i] ^= 0x21;
		put_file(path, b.p, b.n);
		check_damaged(t, path);
		b.p[i] ^= 0x21;
	}
	for (size_t n = 0; n < b.n; n += 17) {
		struct incore_error e = {0};

		put_file(path, b.p, n);
		assert_null(read_back(path, &e));
		assert_int_equal(e.status, INCORE_BAD_INPUT);
		assert_non_null(e.message);
		incore_error_clear(&e);
	}
	unlink(path);
	free(b.p);
	trace_free(t);
}

/* A small file that claims to hold much is refused before memory is taken for it. */
static void test_packed_bomb(void **state)
{
	const struct random_shape shape = {
		.seed = 5, .n_tracks = 60, .max_slices = 3000, .clock_quantum = 4};
	struct trace *t = random_trace_new(&shape);
	struct packed_bytes b = pack(t, 0, 3);
	char *end_at = b.p + b.n - PACKED_TRAILER_BYTES, *table;
	struct packed_trailer end;
	struct packed_section s;
	struct incore_error e = {0};
	char *path = temp_path();

	(void)state;
	memcpy(&end, end_at, sizeof(end));
	table = b.p + end.table_offset;
	memcpy(&s, table, sizeof(s));
	s.codec = PACKED_ZSTD;
	s.offset = PACKED_HEADER_BYTES;
	s.stored_bytes = end.table_offset - PACKED_HEADER_BYTES;
	s.raw_bytes = s.stored_bytes * 1000;
	assert_true(s.raw_bytes > PACKED_SMALL);
	memcpy(table, &s, sizeof(s));
	end.table_checksum = hash_bytes(table, (size_t)end.n_sections * PACKED_SECTION_BYTES, 0);
	end.trailer_checksum = hash_bytes(&end, PACKED_TRAILER_CHECKED, 0);
	memcpy(end_at, &end, sizeof(end));
	put_file(path, b.p, b.n);
	assert_null(read_back(path, &e));
	assert_int_equal(e.status, INCORE_BAD_INPUT);
	assert_non_null(strstr(e.message, "grows too much"));
	incore_error_clear(&e);
	unlink(path);
	free(b.p);
	trace_free(t);
}

/* One buffer serves two files in turn: it must not mix their blocks up. */
static void test_packed_shared_buffer(void **state)
{
	struct trace *t[2], *u[2];
	struct track_data d = {0}, want = {0};
	struct incore_error e = {0};
	char paths[2][64];

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct random_shape shape = {.seed = (uint64_t)(20 + k),
			.n_tracks = 5,
			.max_slices = 90,
			.clock_quantum = 4};
		struct packed_bytes b;

		t[k] = random_trace_new(&shape);
		b = pack(t[k], 0, 3);
		strcpy(paths[k], temp_path());
		put_file(paths[k], b.p, b.n);
		u[k] = read_back(paths[k], &e);
		assert_non_null(u[k]);
		free(b.p);
	}
	for (unsigned i = 0; i < 10; i++) {
		assert_true(trace_load_track(t[i % 2], i / 2, 0, &want, &e));
		assert_true(trace_load_track(u[i % 2], i / 2, 0, &d, &e));
		assert_int_equal(want.n, d.n);
		if (d.n)
			assert_memory_equal(want.start_cyc, d.start_cyc, d.n * 8);
	}
	track_data_deinit(&d);
	track_data_deinit(&want);
	for (int k = 0; k < 2; k++) {
		trace_free(t[k]);
		trace_free(u[k]);
		unlink(paths[k]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_packed_round_trip),
		cmocka_unit_test(test_packed_long_track),
		cmocka_unit_test(test_packed_many_tracks),
		cmocka_unit_test(test_packed_same_bytes),
		cmocka_unit_test(test_packed_damage),
		cmocka_unit_test(test_packed_bomb),
		cmocka_unit_test(test_packed_shared_buffer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
