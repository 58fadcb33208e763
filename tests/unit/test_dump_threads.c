/* SPDX-License-Identifier: Apache-2.0 */
/* Does every record of every thread arrive, with its bytes, while all of them record, mark and
 * flush? */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "dump_tools.h"

#define SHARDS 4
#define TASKS 200

struct shard {
	struct incore_dump *d;
	uint64_t number;
	uint32_t level;
	int rc;
	atomic_bool *is_done;
};

/* A tensor whose words say what it is, and a scalar. */
static int put_one(struct incore_dump_writer *w, uint64_t id, uint64_t words)
{
	uint64_t data[900];
	int rc;

	for (uint64_t k = 0; k < words; k++)
		data[k] = id * 1000 + k;
	tool_task(w, id, 1, 1);
	rc = tool_row(w, id, 0, data, words);
	memset(data, 0xff, sizeof(data)); /* the library has its own copy */
	return rc ? rc : tool_scalar(w, id, 1, id ^ 0x5555);
}

static void *record(void *arg)
{
	struct shard *s = arg;
	struct incore_dump_writer *w = NULL;

	s->rc = incore_dump_attach(s->d, &w);
	for (uint64_t i = 0; i < TASKS && s->rc == 0; i++) {
		uint64_t id = s->number << 32 | i;

		if (s->level == INCORE_DUMP_SELECTED)
			s->rc = incore_dump_mark(s->d, id, INCORE_DUMP_ALL_SLOTS);
		if (s->rc == 0)
			s->rc = put_one(w, id, i % 900);
		if (s->rc == 0 && i % 50 == 49)
			s->rc = incore_dump_flush(w);
	}
	incore_dump_detach(w);
	return NULL;
}

static void *flush_all(void *arg)
{
	struct shard *s = arg;
	struct incore_dump_stats stats;

	while (!atomic_load(s->is_done) && s->rc == 0) {
		s->rc = incore_dump_flush_all(s->d);
		incore_dump_get_stats(s->d, &stats);
	}
	return NULL;
}

static void check_record(json_t *r)
{
	uint64_t id = strtoull(tool_string(r, "task_id"), NULL, 16),
		 words = (id & 0xffffffff) % 900;
	uint64_t data[900];
	char raw[24];

	assert_false(tool_flag(r, "incomplete"));
	if (tool_u64(r, "arg_index") == 1) {
		snprintf(raw, sizeof(raw), "0x%016llx", (unsigned long long)(id ^ 0x5555));
		assert_string_equal(tool_string(r, "raw"), raw);
		return;
	}
	for (uint64_t k = 0; k < words; k++)
		data[k] = id * 1000 + k;
	tool_expect_payload(r, "args.bin", data, words * 8);
}

static void run_shards(uint32_t level, const struct incore_dump_options *o)
{
	struct incore_dump *d = tool_open(o);
	struct shard shards[SHARDS + 1];
	pthread_t threads[SHARDS + 1];
	atomic_bool is_done = false;
	struct incore_dump_stats stats;
	uint64_t last = 0;
	json_t *m;

	for (unsigned i = 0; i <= SHARDS; i++) {
		shards[i] = (struct shard){d, i, level, 0, &is_done};
		assert_int_equal(pthread_create(&threads[i], NULL, i < SHARDS ? record : flush_all,
					 &shards[i]),
			0);
	}
	for (unsigned i = 0; i <= SHARDS; i++) {
		if (i == SHARDS)
			atomic_store(&is_done, true);
		pthread_join(threads[i], NULL);
		assert_int_equal(shards[i].rc, 0);
	}
	assert_int_equal(incore_dump_flush_all(d), 0);
	incore_dump_get_stats(d, &stats);
	assert_int_equal(stats.records, SHARDS * TASKS * 2);
	assert_int_equal(stats.dropped_records, 0);
	m = tool_close(d);
	assert_int_equal(tool_u64(m, "total_args"), SHARDS * TASKS * 2);
	assert_int_equal(tool_records(m), SHARDS * TASKS * 2);
	for (size_t i = 0; i < tool_records(m); i++) {
		json_t *r = tool_record(m, i);
		uint64_t id = strtoull(tool_string(r, "task_id"), NULL, 16);

		assert_true(id >= last);
		last = id;
		check_record(r);
	}
	json_decref(m);
}

static void test_dump_threads_full(void **state)
{
	struct incore_dump_options o = tool_options();

	(void)state;
	run_shards(INCORE_DUMP_FULL, &o);
}

/* An arena of one page: nearly every payload goes in pieces, every ring is full most of the time.
 */
static void test_dump_threads_tight(void **state)
{
	struct incore_dump_options o = tool_options();

	(void)state;
	o.arena_bytes = 4096;
	run_shards(INCORE_DUMP_FULL, &o);
}

static void test_dump_threads_selected(void **state)
{
	struct incore_dump_options o = tool_options();

	(void)state;
	o.level = INCORE_DUMP_SELECTED;
	run_shards(INCORE_DUMP_SELECTED, &o);
}

/* Without waiting: what was not taken is what is counted, per thread and task. */
static void *record_dropping(void *arg)
{
	struct shard *s = arg;
	struct incore_dump_writer *w = NULL;
	uint64_t data[64] = {0};

	if (incore_dump_attach(s->d, &w) != 0)
		return NULL;
	for (uint64_t i = 0; i < 20000; i++) {
		int rc = tool_row(w, s->number, 0, data, 64);

		s->rc += rc == EAGAIN;
		if (rc && rc != EAGAIN)
			s->rc = -1;
	}
	return NULL;
}

static void test_dump_threads_dropping(void **state)
{
	struct incore_dump_options o = tool_options();
	struct incore_dump *d;
	struct shard shards[SHARDS];
	pthread_t threads[SHARDS];
	uint64_t dropped = 0;
	json_t *m;

	(void)state;
	o.wait_ms = 0;
	d = tool_open(&o);
	for (unsigned i = 0; i < SHARDS; i++) {
		shards[i] = (struct shard){.d = d, .number = i};
		assert_int_equal(pthread_create(&threads[i], NULL, record_dropping, &shards[i]), 0);
	}
	for (unsigned i = 0; i < SHARDS; i++) {
		pthread_join(threads[i], NULL);
		assert_true(shards[i].rc >= 0);
		dropped += (uint64_t)shards[i].rc;
	}
	m = tool_close(d);
	assert_int_equal(tool_u64(m, "dropped_records"), dropped);
	assert_int_equal(tool_records(m), SHARDS * 20000 - dropped);
	for (size_t i = 0; i < json_array_size(json_object_get(m, "losses")); i++) {
		json_t *l = json_array_get(json_object_get(m, "losses"), i);

		dropped -= tool_u64(l, "records");
		assert_int_equal(tool_u64(l, "bytes"), tool_u64(l, "records") * 512);
	}
	assert_int_equal(dropped, 0);
	json_decref(m);
}

#define CASE(f) cmocka_unit_test_setup_teardown(f, tool_make_dir, tool_remove_dir)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(test_dump_threads_full),
		CASE(test_dump_threads_tight),
		CASE(test_dump_threads_selected),
		CASE(test_dump_threads_dropping),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
