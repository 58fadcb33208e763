/* SPDX-License-Identifier: Apache-2.0 */
/*
 * consume.c: takes tables and streams through Arrow's C interface as another library would: moves the structs out of the
 * producer's memory, reads, releases. The tests load it beside the Python package.
 */
#include <string.h>

#include "incore/arrow.h"

int64_t consume_array(struct ArrowSchema *schema, struct ArrowArray *array, const char *column);
int64_t consume_stream(struct ArrowArrayStream *stream, const char *column);

static int64_t sum(const struct ArrowArray *x, const char *format)
{
	const uint8_t *valid = x->buffers[0];
	int64_t total = 0;

	for (int64_t i = 0; i < x->length; i++) {
		if (valid && x->null_count && !(valid[i >> 3] >> (i & 7) & 1))
			continue;
		if (format[0] == 'L' || format[0] == 'l')
			total += ((const int64_t *)x->buffers[1])[i];
		else if (format[0] == 'I')
			total += ((const uint32_t *)x->buffers[1])[i];
		else if (format[0] == 'u')
			total += ((const int32_t *)x->buffers[1])[i + 1] -
				 ((const int32_t *)x->buffers[1])[i];
		else
			return -2;
	}
	return total;
}

static int64_t sum_of(const struct ArrowSchema *s, const struct ArrowArray *x, const char *column)
{
	for (int64_t i = 0; i < s->n_children; i++)
		if (strcmp(s->children[i]->name, column) == 0)
			return sum(x->children[i], s->children[i]->format);
	return -1;
}

/* Sum of a column of whole numbers, of a text its bytes; -1: no such column. */
int64_t consume_array(struct ArrowSchema *schema, struct ArrowArray *array, const char *column)
{
	struct ArrowSchema s = *schema;
	struct ArrowArray x = *array;
	int64_t total;

	schema->release = NULL;
	array->release = NULL;
	total = sum_of(&s, &x, column);
	s.release(&s);
	x.release(&x);
	return s.release || x.release ? -3 : total;
}

int64_t consume_stream(struct ArrowArrayStream *stream, const char *column)
{
	struct ArrowArrayStream in = *stream;
	struct ArrowSchema s;
	struct ArrowArray x;
	int64_t total = 0;

	stream->release = NULL;
	if (in.get_schema(&in, &s) != 0)
		return -4;
	while (in.get_next(&in, &x) == 0 && x.release) {
		total += sum_of(&s, &x, column);
		x.release(&x);
	}
	s.release(&s);
	in.release(&in);
	return in.release ? -3 : total;
}
