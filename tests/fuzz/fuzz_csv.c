/* SPDX-License-Identifier: Apache-2.0 */
/* The CSV reader on any bytes; what it read must survive being written and read again. */
#include <stdlib.h>

#include "codec/csv.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_again(const struct csv_reader *c)
{
	struct strbuf line = {0};
	struct csv_reader again;
	bool at_end;

	sb_puts(&line, "x"); /* a first column, so that no line is empty */
	for (size_t i = 0; i < c->fields.n; i++) {
		sb_putc(&line, ',');
		csv_put(&line, c->fields.v[i]);
	}
	csv_init(&again, line.p, line.n, "again");
	if (!csv_row(&again, &at_end, NULL) || again.fields.n != c->fields.n + 1)
		abort();
	for (size_t i = 0; i < c->fields.n; i++)
		if (!str_eq(again.fields.v[i + 1], c->fields.v[i]))
			abort();
	csv_deinit(&again);
	sb_free(&line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct incore_error e = {0};
	struct csv_reader c;
	bool at_end;

	csv_init(&c, data, size, "fuzz");
	csv_header(&c, &e);
	while (csv_row(&c, &at_end, &e))
		if (c.fields.n < CSV_MAX_FIELDS)
			check_again(&c);
	csv_deinit(&c);
	incore_error_clear(&e);
	return 0;
}
