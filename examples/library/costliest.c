/* SPDX-License-Identifier: Apache-2.0 */
/*
 * costliest.c: the costliest instructions of a capture, through libincore: open, ask, walk columns.
 * Build it with: cc costliest.c $(pkg-config --cflags --libs incore)
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <incore/incore.h>

static size_t column_named(const struct incore_answer *a, size_t table, const char *name)
{
	size_t n = incore_column_count(a, table);

	for (size_t i = 0; i < n; i++)
		if (strcmp(incore_column(a, table, i).name, name) == 0)
			return i;
	fprintf(stderr, "the answer has no column %s\n", name);
	exit(1);
}

static void print_rows(const struct incore_answer *a, size_t table)
{
	size_t cycles = column_named(a, table, "cycles"), isa = column_named(a, table, "isa");

	for (size_t i = 0; i < incore_row_count(a, table); i++) {
		const char *text = "";
		uint64_t n = 0;
		size_t len = 0;

		incore_get_unsigned(a, table, i, cycles, &n);
		incore_get_text(a, table, i, isa, &text, &len);
		printf("%8" PRIu64 "  %.*s\n", n, (int)len, text);
	}
}

/* Slices as they come: a batch a track. */
static uint64_t count_slices(struct incore *x, const char *path, struct incore_error *e)
{
	struct ArrowArrayStream stream;
	struct ArrowArray batch;
	uint64_t n = 0;

	if (!incore_slices(x, path, NULL, &stream, e))
		return 0;
	while (stream.get_next(&stream, &batch) == 0 && batch.release) {
		n += (uint64_t)batch.length;
		batch.release(&batch);
	}
	stream.release(&stream);
	return n;
}

int main(int argc, char **argv)
{
	struct incore_error e = {0};
	struct incore_answer *a = NULL;
	struct incore *x = incore_new(0, &e);

	if (argc != 2) {
		fprintf(stderr, "usage: costliest CAPTURE\n");
		incore_free(x);
		return 2;
	}
	if (x)
		a = incore_ask(x, "hot", argv[1], "{\"top\": 5}", &e);
	if (a) {
		print_rows(a, incore_table_find(a, "rows"));
		printf("%" PRIu64 " slices\n", count_slices(x, argv[1], &e));
	}
	if (e.status != INCORE_OK)
		fprintf(stderr, "costliest: %s\n", e.message);
	incore_answer_free(a);
	incore_free(x);
	argc = (int)e.status;
	incore_error_clear(&e);
	return argc;
}
