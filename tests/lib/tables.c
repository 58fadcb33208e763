/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tables.c: a question through libincore, as JSON: {"json": the answer, "tables": {name: {"columns",
 * "rows", "arrow"}}, "slices": [...]}; run.py compares all of it with what the program prints.
 *
 * usage: tables [--mapped] QUESTION PATHS OPTIONS     or: tables --slices PATH OPTIONS, --errors PATH
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <incore/incore.h>

static void put_text(const char *s, size_t n)
{
	putchar('"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\' || c < 0x20)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void put_cell(const struct incore_answer *a, size_t t, size_t r, size_t c)
{
	uint64_t u;
	int64_t i;
	double d;
	bool b;
	const char *s;
	size_t n;

	if (incore_get_unsigned(a, t, r, c, &u))
		printf("%" PRIu64, u);
	else if (incore_get_signed(a, t, r, c, &i))
		printf("%" PRId64, i);
	else if (incore_get_real(a, t, r, c, &d))
		printf("%.17g", d);
	else if (incore_get_bool(a, t, r, c, &b))
		printf(b ? "true" : "false");
	else if (incore_get_text(a, t, r, c, &s, &n))
		put_text(s, n);
	else
		printf("null");
}

static bool is_valid(const struct ArrowArray *x, int64_t row)
{
	const uint8_t *bits = x->buffers[0];

	return !bits || (bits[row / 8] >> row % 8 & 1);
}

static void put_arrow_cell(const struct ArrowSchema *s, const struct ArrowArray *x, int64_t r)
{
	const int32_t *at = x->buffers[1];

	if (!is_valid(x, r)) {
		printf("null");
		return;
	}
	switch (s->format[0]) {
	case 'L':
		printf("%" PRIu64, ((const uint64_t *)x->buffers[1])[r]);
		break;
	case 'I':
		printf("%" PRIu32, ((const uint32_t *)x->buffers[1])[r]);
		break;
	case 'S':
		printf("%u", ((const uint16_t *)x->buffers[1])[r]);
		break;
	case 'C':
		printf("%u", ((const uint8_t *)x->buffers[1])[r]);
		break;
	case 'l':
		printf("%" PRId64, ((const int64_t *)x->buffers[1])[r]);
		break;
	case 'g':
		printf("%.17g", ((const double *)x->buffers[1])[r]);
		break;
	case 'b':
		printf(((const uint8_t *)x->buffers[1])[r / 8] >> r % 8 & 1 ? "true" : "false");
		break;
	default:
		put_text((const char *)x->buffers[2] + at[r], (size_t)(at[r + 1] - at[r]));
	}
}

static void put_arrow_rows(const struct ArrowSchema *s, const struct ArrowArray *x)
{
	for (int64_t r = 0; r < x->length; r++) {
		printf("%s[", r ? ",\n" : "");
		for (int64_t c = 0; c < x->n_children; c++) {
			printf("%s", c ? "," : "");
			put_arrow_cell(s->children[c], x->children[c], r);
		}
		printf("]");
	}
}

static bool put_table(const struct incore_answer *a, size_t t, struct incore_error *e)
{
	struct ArrowSchema schema;
	struct ArrowArray array;

	printf("\"%s\": {\"columns\": [", incore_table_name(a, t));
	for (size_t c = 0; c < incore_column_count(a, t); c++) {
		struct incore_column k = incore_column(a, t, c);

		printf("%s[\"%s\", \"%s\", %d]", c ? ", " : "", k.name, k.unit, k.type);
	}
	printf("], \"rows\": [");
	for (size_t r = 0; r < incore_row_count(a, t); r++) {
		printf("%s[", r ? ",\n" : "");
		for (size_t c = 0; c < incore_column_count(a, t); c++) {
			printf("%s", c ? "," : "");
			put_cell(a, t, r, c);
		}
		printf("]");
	}
	printf("], \"arrow\": [");
	if (!incore_table_arrow(a, t, &schema, &array, e))
		return false;
	put_arrow_rows(&schema, &array);
	printf("]}");
	schema.release(&schema);
	array.release(&array);
	return true;
}

static int ask(const char *question, const char *path, const char *options)
{
	struct incore_error e = {0};
	struct incore *x = incore_new(2, &e);
	struct incore_answer *a = x ? incore_ask(x, question, path, options, &e) : NULL;
	bool ok = a != NULL;

	if (ok) {
		printf("{\"status\": %d, \"json\": %s, \"tables\": {\n", incore_answer_status(a),
			incore_answer_json(a, NULL, &e));
		for (size_t t = 0; ok && t < incore_table_count(a); t++) {
			printf("%s", t ? ",\n" : "");
			ok = put_table(a, t, &e);
		}
		printf("}}\n");
	}
	if (!ok)
		printf("{\"error\": \"%s\", \"status\": %d}\n", e.code, e.status);
	incore_answer_free(a);
	incore_free(x);
	incore_error_clear(&e);
	return 0;
}

static int slices(const char *path, const char *options)
{
	struct incore_error e = {0};
	struct incore *x = incore_new(1, &e);
	struct ArrowArrayStream s;
	struct ArrowSchema schema;
	struct ArrowArray batch;
	bool is_first = true;

	if (!x || !incore_slices(x, path, options, &s, &e) || s.get_schema(&s, &schema)) {
		printf("{\"error\": \"%s\"}\n", e.code ? e.code : "?");
		incore_free(x);
		incore_error_clear(&e);
		return 0;
	}
	printf("{\"slices\": [");
	while (s.get_next(&s, &batch) == 0 && batch.release) {
		if (batch.length)
			printf("%s", is_first ? "" : ",\n");
		put_arrow_rows(&schema, &batch);
		is_first &= batch.length == 0;
		batch.release(&batch);
	}
	printf("]}\n");
	schema.release(&schema);
	s.release(&s);
	incore_free(x);
	return 0;
}

/* Stopping: a stream ends with an error, and the next question is answered again. */
static int cancelled(const char *path)
{
	struct incore_error e = {0};
	struct incore *x = incore_new(1, &e);
	struct incore_answer *a;
	struct ArrowArrayStream s;
	struct ArrowArray batch;
	int rc;

	if (!incore_slices(x, path, NULL, &s, &e))
		return 1;
	incore_cancel(x);
	rc = s.get_next(&s, &batch);
	printf("%s: %s\n", rc ? "stopped" : "went on", s.get_last_error(&s));
	s.release(&s);
	a = incore_ask(x, "hot", path, NULL, &e);
	printf("%s\n", a ? "answered" : e.code);
	incore_answer_free(a);
	incore_free(x);
	incore_error_clear(&e);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 5 && !strcmp(argv[1], "--mapped") && incore_map_files())
		return ask(argv[2], argv[3], argv[4]);
	if (argc == 3 && !strcmp(argv[1], "--cancel"))
		return cancelled(argv[2]);
	if (argc == 4 && !strcmp(argv[1], "--slices"))
		return slices(argv[2], argv[3]);
	return argc == 4 ? ask(argv[1], argv[2], argv[3]) : 2;
}
