/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_reader.h: a pull reader over bytes in memory. It builds no tree and allocates only for
 * strings with escapes.
 *
 * The bytes must be followed by at least JSON_PAD readable bytes of any value but a digit, quote or
 * bracket (file_load() gives zeros). Errors are sticky: after the first one every call returns
 * false, and json_finish() or json_fail() reports the error with path, byte offset, line and
 * column. So a reader loop is checked once:
 *
 *	struct str key;
 *	for (json_enter_object(&r); json_next_key(&r, &key);) {
 *		if (str_is(key, "begin"))
 *			json_get_i64(&r, &begin);
 *		else
 *			json_skip(&r);
 *	}
 *	if (!json_finish(&r, e)) return false;
 *
 * Integers are exact in 64 bits or an error; a fraction or exponent where an integer is wanted is
 * an error. Owner: the caller owns bytes and reader; json_deinit() frees the scratch memory. One
 * reader, one thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/str.h"

#define JSON_PAD 64
#define JSON_MAX_DEPTH 256

enum json_type {
	JSON_INVALID, /* end of input, a stray byte, or an earlier error */
	JSON_NULL,
	JSON_BOOL,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* Accepts Chrome traces as found in practice: trailing commas, a missing closing bracket at the end
 * of input. */
enum json_flags { JSON_TOLERANT = 1 };

struct json_reader {
	const char *p; /* next byte */
	const char *start, *end;
	const char *path; /* for messages; may be NULL */
	unsigned flags;
	unsigned depth;
	bool need_comma; /* a value of the open container has been read */
	bool is_failed;
	const char *value_at;  /* start of the last value (or key, or row) read */
	const char *fail_at;   /* place of the error if is_failed */
	const char *fail_code; /* "bad-json", "truncated", "bad-type", "out-of-range", "too-deep",
				  "duplicate-key", "no-memory", or the caller's own */
	char fail_text[120];
	struct strbuf scratch;	   /* unescaped strings; valid until the next string is read */
	struct strbuf key_scratch; /* unescaped keys */
};

void json_init(
	struct json_reader *r, const void *data, size_t size, const char *path, unsigned flags);
void json_deinit(struct json_reader *r);

/* Returns the type of the next value; consumes only white space and a required comma. */
enum json_type json_peek(struct json_reader *r);

bool json_enter_object(struct json_reader *r);
/* True: *key is the next key and its value is next. False: the object ended (and is left) or an
 * error. */
bool json_next_key(struct json_reader *r, struct str *key);
bool json_enter_array(struct json_reader *r);
/* True: an item is next. False: the array ended (and is left) or an error. */
bool json_next_item(struct json_reader *r);
/* Like json_enter_object() and json_enter_array(), but null is an empty container: false without an
 * error. Writers of ui_output produce that. */
bool json_enter_object_or_null(struct json_reader *r);
bool json_enter_array_or_null(struct json_reader *r);

bool json_get_i64(struct json_reader *r, int64_t *out);
bool json_get_u64(struct json_reader *r, uint64_t *out); /* negative: out-of-range */
bool json_get_u32(struct json_reader *r, uint32_t *out);
bool json_get_double(struct json_reader *r, double *out);
bool json_get_bool(struct json_reader *r, bool *out);
bool json_get_null(struct json_reader *r);
/* Borrowed from the input, or from the reader when it had escapes (then valid until the next
 * string). UTF-8 is not checked beyond escapes; \u0000 is an error. */
bool json_get_str(struct json_reader *r, struct str *out);
/* Reads a string, or null as {NULL, 0}. */
bool json_get_str_or_null(struct json_reader *r, struct str *out);
bool json_skip(
	struct json_reader *r); /* one value of any type; brackets, strings and depth are checked */

/*
 * Typed rows, the fast path: inside an array of arrays ("[[1,2,3],[4,5,6],...]", already entered),
 * reads up to max_rows rows of n_cols integers each into out[], row after row. A longer row's
 * further items are skipped, a shorter one is an error. Returns the number of rows; fewer than
 * max_rows: the array has ended (and is left) or an error.
 */
size_t json_read_i64_rows(struct json_reader *r, size_t n_cols, size_t max_rows, int64_t *out);
/*
 * A faster path, on machines that have it, for rows of exactly five non-negative integers. It
 * returns fewer than max_rows if the next row is not such a row, its first number has more than 16
 * digits, another one more than 8, or the array ends: then continue with json_read_i64_rows().
 */
struct json_row5 {
	uint32_t first_low, second, fifth, first_high, third, fourth, unused[2];
};
size_t json_read_rows5(struct json_reader *r, size_t max_rows, struct json_row5 *out);

static inline uint64_t json_row5_first(const struct json_row5 *row)
{
	return row->first_low + row->first_high * UINT64_C(100000000);
}

/* Reads a flat array of integers, already entered; returns as json_read_i64_rows(). */
size_t json_read_i64s(struct json_reader *r, size_t max, int64_t *out);

/*
 * Returns the end of the value at p if it is a valid string without \u or a valid number without
 * exponent; NULL: use a reader. For code that copies values; JSON_PAD as above.
 */
const char *json_plain_value(const char *p, const char *end);

/* Rejects the value just read: the reader fails at its start (code NULL: "bad-value"). */
bool json_reject(struct json_reader *r, const char *code, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* Sets the bit in *seen; if it is already set, the error is duplicate-key. */
bool json_once(struct json_reader *r, uint64_t *seen, unsigned bit, struct str key);
/* Byte offset of the next byte to read. */
uint64_t json_offset(const struct json_reader *r);
/* Checks that nothing but white space follows, then reports any error in *e. */
bool json_finish(struct json_reader *r, struct incore_error *e);
/* Reports the reader's error in *e (always false). */
bool json_fail(struct json_reader *r, struct incore_error *e);
