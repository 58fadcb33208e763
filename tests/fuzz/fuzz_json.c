/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON reader on any bytes: walked, skipped and read as rows; the first byte gives the flags.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/json_reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void walk(struct json_reader *r)
{
	int64_t rows[40];
	struct str s;
	double d;

	switch (json_peek(r)) {
	case JSON_OBJECT:
		for (json_enter_object(r); json_next_key(r, &s);)
			walk(r);
		break;
	case JSON_ARRAY:
		json_enter_array(r);
		if ((r->p - r->start) % 3 == 0)
			while (json_read_i64_rows(r, 2 + 3 * (r->p[0] & 1), 8, rows) == 8)
				;
		while (json_next_item(r))
			walk(r);
		break;
	case JSON_STRING:
		json_get_str(r, &s);
		break;
	case JSON_NUMBER:
		json_get_double(r, &d);
		break;
	default:
		json_skip(r);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct incore_error e = {0};
	struct json_reader r;
	char *copy;

	if (size < 1 || !(copy = calloc(1, size + JSON_PAD)))
		return 0;
	memcpy(copy, data + 1, size - 1);
	for (int use_skip = 0; use_skip < 2; use_skip++) {
		json_init(&r, copy, size - 1, "fuzz", data[0] & JSON_TOLERANT);
		if (use_skip)
			json_skip(&r);
		else
			walk(&r);
		json_finish(&r, &e);
		json_deinit(&r);
	}
	incore_error_clear(&e);
	free(copy);
	return 0;
}
