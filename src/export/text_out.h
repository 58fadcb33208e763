/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text_out.h: bytes to a file through one large buffer, for writers of JSON text. Failures of the
 * file stay in it (ferror()); text_out_close() writes the rest and frees.
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

/* JSON that was read strictly; bytes that are no UTF-8 become U+FFFD. */
void text_put_json(struct text_out *o, const char *p, size_t n);
/* A string, escaped; in quotes. */
void text_put_escaped(struct text_out *o, struct str s);
void text_put_quoted(struct text_out *o, struct str s);
void text_put_u64(struct text_out *o, uint64_t v);
/* Up to nine decimals, as few as it takes; huge ones with 17 digits. */
void text_put_time(struct text_out *o, double v);
/* The shortest text that reads back as the same double. */
void text_put_exact(struct text_out *o, double v);
