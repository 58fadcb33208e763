/* SPDX-License-Identifier: Apache-2.0 */
/* manifest_text.h: one record of a manifest as JSON. Only the buffer can fail. */
#pragma once

#include "base/str.h"
#include "dump/log_types.h"

struct manifest_record {
	struct log_arg arg;
	const struct log_task *task; /* NULL: never described */
	uint16_t thread;
	bool is_incomplete, is_payload_lost;
};

/* {"task_id": ...}: keys of the current schema, then our own; is_older: only those of the seventh
 * generation. */
void manifest_put_record(struct strbuf *b, const struct manifest_record *r, bool is_older);
/* Appends a string, quoted and escaped. */
void manifest_put_string(struct strbuf *b, struct str s);
