/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_store.c: a store of anyone's, asked everything: an error, or answers that hold together. Input
 * that begins with P changes bytes of a good store (place, value), with S runs statements of SQL on
 * it, so that its pages are sound and its contents are not; any other is the file itself.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/file.h"
#include "store/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STEPS 20000 /* of SQLite's machine, for statements of the input */
#define MOST_ENTRIES 16u
#define MOST_SQL 4096u

static const char ROWS[] =
	"INSERT INTO entries VALUES (1,100,'k=v','r1','aa','/x','0','3.0.0','d1',10,20,1,2,3,4,5,6);"
	"INSERT INTO entries VALUES (2,101,'k=v','r2','aa','/y','0',NULL,'d2',90,20,1,2,3,4,5,6);"
	"INSERT INTO entries VALUES (3,102,'',NULL,'bb','/z','0',NULL,'d3',NULL,9,1,2,3,4,5,6);"
	"WITH RECURSIVE n(i) AS (SELECT 4 UNION ALL SELECT i + 1 FROM n WHERE i < 9)"
	" INSERT INTO entries SELECT i,100+i,'k=v','r'||i,'aa','/w','0',NULL,'d'||i,10*i,20,1,2,3,4,5,6"
	" FROM n;"
	"INSERT INTO captures (capture, kernel, arch, vendor, evidence, tracks, rows, lost)"
	" SELECT capture, 'gemm', 'gfx9', 'amd', 'synthetic', 1, 2, 0 FROM entries;"
	"INSERT INTO code SELECT capture, r, 4 * r, 's_nop ' || r, 's_nop', 'NOP', 'a:1', NULL, 0, 1, 2,"
	" 3, 4, NULL, NULL FROM entries, (SELECT 1 AS r UNION SELECT 2);"
	"INSERT INTO causes (capture, row, cause, bucket, family, cycles, hits) SELECT capture, 1,"
	" 'wait:LDS', 'wait', 'memory', 10 * capture, 1 FROM entries;"
	"INSERT INTO producers SELECT capture, 1, 2, 1, 1, 5, 0, 1, 1, 1, 1 FROM entries;"
	"INSERT INTO findings (capture, id, severity, message, evidence, advice)"
	" VALUES (1, 'x', 'info', 'y', '', '');"
	"INSERT INTO acceptances VALUES (1,'gemm','gfx9','synthetic','k=v','duration',5,50,104,200,'me',"
	"'why');";

#define IN_MEMORY "/dev/shm" /* what is made sure to be on a disk takes 100 times as long there */
#define NAME "/incore-fuzz-store-XXXXXX"
static char file[64];
static char copy[sizeof(file) + 8];
static uint8_t *good; /* a sound store */
static size_t n_good;

static void remove_files(void)
{
	static const char *const ends[] = {"", "-wal", "-shm", "-journal", ".copy"};
	char path[sizeof(file) + 16];

	for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++) {
		snprintf(path, sizeof(path), "%s%s", file, ends[i]);
		unlink(path);
	}
}

static int no_attach(
	void *ctx, int action, const char *a, const char *b, const char *c, const char *d)
{
	(void)ctx, (void)a, (void)b, (void)c, (void)d;
	return action == SQLITE_ATTACH ? SQLITE_DENY : SQLITE_OK;
}

static int enough(void *ctx)
{
	(void)ctx;
	return 1;
}

/* Statements until the first that fails or takes long. */
static bool run_sql(const char *sql, int steps)
{
	sqlite3 *db;
	bool ok = sqlite3_open(file, &db) == SQLITE_OK;

	sqlite3_set_authorizer(db, no_attach, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 20);
	if (steps)
		sqlite3_progress_handler(db, steps, enough, NULL);
	ok = ok && sqlite3_exec(db, sql, NULL, NULL, NULL) == SQLITE_OK;
	sqlite3_close(db);
	return ok;
}

static void write_file(const uint8_t *data, size_t size)
{
	FILE *f = fopen(file, "wb");

	if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0)
		abort();
}

static void make_good(void)
{
	struct incore_error e = {0};
	struct file_data d = {0};
	struct store *s;
	int fd;

	snprintf(file, sizeof(file), "%s" NAME, access(IN_MEMORY, W_OK) ? P_tmpdir : IN_MEMORY);
	fd = mkstemp(file);
	if (fd < 0)
		abort();
	close(fd);
	unlink(file);
	snprintf(copy, sizeof(copy), "%s.copy", file);
	sqlite3_hard_heap_limit64(256 << 20);
	s = store_open(file, true, &e);
	if (!s)
		abort();
	store_close(s);
	/* without a log beside it, which would be made and removed each time */
	if (!run_sql(ROWS, 0) || !run_sql("PRAGMA journal_mode=delete", 0) ||
		!file_load(&d, file, &e))
		abort();
	n_good = d.size;
	good = malloc(n_good);
	if (!good)
		abort();
	memcpy(good, d.data, n_good);
	file_unload(&d);
}

static void put_input(const uint8_t *data, size_t size)
{
	char sql[MOST_SQL + 1];

	if (!size || (*data != 'P' && *data != 'S')) {
		write_file(data, size);
		return;
	}
	if (*data == 'S') {
		size = size - 1 < MOST_SQL ? size - 1 : MOST_SQL;
		memcpy(sql, data + 1, size);
		sql[size] = 0;
		write_file(good, n_good);
		run_sql(sql, STEPS);
		return;
	}
	{
		uint8_t *changed = malloc(n_good);

		if (!changed)
			abort();
		memcpy(changed, good, n_good);
		for (size_t i = 1; i + 4 <= size; i += 4) /* place of 24 bits, value */
			changed[(data[i] | (size_t)data[i + 1] << 8 | (size_t)data[i + 2] << 16) %
				n_good] = data[i + 3];
		write_file(changed, n_good);
		free(changed);
	}
}

static void ask_series(
	const struct store_ask *x, const struct store_entries *entries, size_t at, size_t n)
{
	struct incore_error e = {0};
	struct store_judged j;

	if (store_judge(x, entries, at, &j, &e) &&
		(j.history.points.n > n || j.history.changes.n > n || !j.gate.verdict ||
			j.gate.captures_new > n || j.gate.regressions.n > j.history.changes.n + 1))
		abort();
	incore_error_clear(&e);
}

static void ask_entries(struct store *s, struct arena *a, const struct store_entries *x)
{
	struct store_ask ask = {s, a, STORE_FIGURES, {4, 0.01}, 3, 5};
	struct incore_error e = {0};
	struct rows found;

	for (size_t at = 0, n; at < x->v.n && at < MOST_ENTRIES; at += n) {
		n = store_series(x, at);
		if (!n || n > x->v.n - at)
			abort();
		ask_series(&ask, x, at, n);
		if (store_findings(s, x->v.v[at].capture, a, &found, &e) && found.n > 100)
			abort();
		incore_error_clear(&e);
	}
}

static void add_one(struct store *s)
{
	struct trace t = {.meta = {.kernel = "added", .format_version = "3"}};
	struct store_identity id = {"/added", "r", "", 7};
	struct store_added first, again;
	struct incore_error e = {0};

	if (store_add(s, &t, &id, &first, &e) && store_add(s, &t, &id, &again, &e) &&
		(!again.is_there || again.capture != first.capture))
		abort();
	incore_error_clear(&e);
}

static void accept_one(struct store *s)
{
	struct store_acceptance v[2] = {{.kernel = "gemm",
		.evidence = "synthetic",
		.labels = "",
		.figure = "cycles",
		.who = "me",
		.because = "why"}};
	struct incore_error e = {0};

	v[1] = v[0];
	if (store_accept(s, v, 2, &e) && v[1].acceptance != v[0].acceptance + 1)
		abort();
	incore_error_clear(&e);
}

/* One of the changes, by the length of the input: they take most of the time. */
static void change(struct store *s, const struct store_entries *x, size_t size)
{
	uint64_t numbers[2] = {x->v.n ? x->v.v[0].capture : 1, 2};
	struct incore_error e = {0};

	if (size % 8 == 1)
		add_one(s);
	else if (size % 8 == 2)
		store_copy(s, copy, numbers, 2, &e);
	else if (size % 8 == 3)
		store_remove(s, numbers, 1, &e);
	else if (size % 8 == 4 && x->accepted.n)
		store_withdraw(s, x->accepted.v, 1, &e);
	else if (size % 8 == 5)
		accept_one(s);
	incore_error_clear(&e);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct incore_error e = {0};
	struct store_entries entries = {0};
	struct store_select all = {.kernel = "g", .labels = {0}};
	struct store *s;
	struct arena a;

	if (!good)
		make_good();
	remove_files();
	put_input(data, size);
	arena_init(&a);
	s = store_open(file, false, &e);
	if (!s && !e.code)
		abort();
	if (s && store_list(s, &all, &a, &entries, &e))
		ask_entries(s, &a, &entries);
	if (s)
		change(s, &entries, size);
	incore_error_clear(&e);
	VEC_FREE(&entries.v);
	store_close(s);
	arena_deinit(&a);
	remove_files();
	return 0;
}
