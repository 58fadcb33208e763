/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_writer.h: streaming JSON. The writer handles commas and nesting; strings are escaped and
 * invalid UTF-8 is replaced by U+FFFD; a double that is not finite is written as null. Failures
 * latch; json_w_finish() reports them. Owner: the writer borrows its sink.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/error.h"
#include "base/str.h"

#define JSON_W_MAX_DEPTH 64

struct json_writer {
	FILE *file; /* one of the two sinks */
	struct strbuf *sb;
	unsigned indent; /* blanks per level; 0: compact */
	unsigned depth;
	uint64_t has_item;  /* bit per level */
	uint64_t is_object; /* bit per level */
	uint64_t is_row;    /* bit per level: on one line even when indented */
	bool after_key;
	bool is_failed;
};

void json_w_file(struct json_writer *w, FILE *file, unsigned indent);
void json_w_buf(struct json_writer *w, struct strbuf *sb, unsigned indent);

void json_w_object(struct json_writer *w);
void json_w_array(struct json_writer *w);
void json_w_row(struct json_writer *w);	       /* an array kept on one line when indented */
void json_w_row_object(struct json_writer *w); /* an object kept on one line when indented */
void json_w_end(struct json_writer *w);	       /* closes the innermost of the above */
void json_w_key(struct json_writer *w, const char *key);
void json_w_key_str(struct json_writer *w, struct str key);

void json_w_i64(struct json_writer *w, int64_t v);
void json_w_u64(struct json_writer *w, uint64_t v);
void json_w_double(struct json_writer *w, double v, int digits); /* %.*f without trailing zeros */
/* %.*g: `digits` significant digits, for values of any magnitude; not finite: null. */
void json_w_sig(struct json_writer *w, double v, int digits);
void json_w_bool(struct json_writer *w, bool v);
void json_w_null(struct json_writer *w);
void json_w_str(struct json_writer *w, struct str s);
void json_w_cstr(struct json_writer *w, const char *s); /* NULL: null */
void json_w_raw(
	struct json_writer *w, struct str json); /* a complete JSON value, copied unchanged */

/* key and value in one call */
void json_w_kv_i64(struct json_writer *w, const char *key, int64_t v);
void json_w_kv_u64(struct json_writer *w, const char *key, uint64_t v);
void json_w_kv_double(struct json_writer *w, const char *key, double v, int digits);
void json_w_kv_bool(struct json_writer *w, const char *key, bool v);
void json_w_kv_null(struct json_writer *w, const char *key);
void json_w_kv_str(struct json_writer *w, const char *key, struct str s);
void json_w_kv_cstr(struct json_writer *w, const char *key, const char *s);
void json_w_kv_object(struct json_writer *w, const char *key); /* opened */
void json_w_kv_array(struct json_writer *w, const char *key);
void json_w_kv_row(struct json_writer *w, const char *key);
void json_w_kv_row_object(struct json_writer *w, const char *key);

/* All containers must be closed. False with the first failure of the sink. */
bool json_w_finish(struct json_writer *w, struct incore_error *e);
