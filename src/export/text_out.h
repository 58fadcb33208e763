/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_out.h: buffered output to a file, for writers of JSON text. Write errors stay in the file
 * (ferror()); text_out_close() writes the rest and frees the buffer.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/str.h"

struct text_out {
	FILE *f;
	char *buf;
	size_t n;
};
#define TEXT_OUT_BYTES (256u << 10)

bool text_out_open(struct text_out *o, FILE *f, struct incore_error *e);
bool text_out_close(struct text_out *o, struct incore_error *e);
void text_put_long(struct text_out *o, const char *p, size_t n);

static inline void text_put(struct text_out *o, const char *p, size_t n)
{
	if (n > TEXT_OUT_BYTES - o->n) {
		text_put_long(o, p, n);
		return;
	}
	memcpy(o->buf + o->n, p, n);
	o->n += n;
}

static inline void text_puts(struct text_out *o, const char *s)
{
	text_put(o, s, strlen(s));
}

/* Writes JSON that was parsed strictly; bytes that are not UTF-8 become U+FFFD. */
void text_put_json(struct text_out *o, const char *p, size_t n);
/* Write a string with JSON escapes; text_put_quoted() adds quotes. */
void text_put_escaped(struct text_out *o, struct str s);
void text_put_quoted(struct text_out *o, struct str s);
void text_put_u64(struct text_out *o, uint64_t v);
/* Writes up to nine decimals, as few as needed; huge values with 17 digits. */
void text_put_time(struct text_out *o, double v);
/* Writes the shortest text that reads back as the same double. */
void text_put_exact(struct text_out *o, double v);
