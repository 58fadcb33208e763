/* SPDX-License-Identifier: Apache-2.0 */
/* Repair logs of any bytes: read to the end, every record decoded, written as manifest text. */
#include <stdint.h>
#include <stdlib.h>

#include "dump/log_read.h"
#include "dump/manifest_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct log_reader r;
	struct log_record rec;
	struct log_task task = {0};
	bool has_task = false;
	struct strbuf b = {0};

	if (!log_reader_init(&r, data, size, "log", NULL))
		return 0;
	while (log_next(&r, &rec)) {
		struct manifest_record m = {.thread = rec.thread, .is_incomplete = true};

		has_task = log_get_task(&rec, &task) || has_task;
		m.task = has_task ? &task : NULL;
		if (log_get_arg(&rec, &m.arg))
			manifest_put_record(&b, &m, rec.seq & 1);
	}
	if (r.at > size)
		abort();
	sb_free(&b);
	return 0;
}
