/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_fields.h: a table of the members of a JSON object: the key, where its value is in a struct,
 * how it is written. The same table is used to read (keys in any order, unknown ones are skipped)
 * and to write (in the order of the table).
 *
 *	static const struct json_field fifo_fields[] = {
 *		JSON_FIELD(fifo, depth, "depth"),
 *		JSON_FIELD(fifo, dir, "dir", .word = dir_name),
 *		JSON_FIELD(fifo, name, "name", .get = get_text, .put = put_text),
 *	};
 *
 * Owner: tables are static. ctx of get and put belongs to the caller.
 */
#pragma once

#include <stddef.h>

#include "codec/json_reader.h"
#include "codec/json_writer.h"

/* The member being read or written. */
struct json_member {
	struct json_reader *r; /* reading: the value is next */
	struct json_writer *w; /* writing: the key is already written */
	const struct json_field *f;
	void *at; /* the value in the struct; only read when writing */
	void *ctx;
};

struct json_field {
	const char *key;
	uint32_t offset;
	uint8_t size;	 /* of the struct's member, which is an unsigned integer or a bool */
	bool is_bool;	 /* the member is a bool */
	uint16_t bit;	 /* not 0: the value is a bool, stored as this bit of the member */
	uint8_t kinds;	 /* not 0: written only for structs of these kinds */
	uint8_t items;	 /* not 0: the member is an array of at most so many uint32_t */
	bool is_counter; /* reading the array sets its number of items, at `count` */
	uint32_t count;	 /* offset of that uint32_t; 0: all items are written */
	const char *(*word)(unsigned); /* not NULL: the names of 0, 1, .. up to NULL */
	/* Not NULL: custom functions; `how` is their argument if several fields share them. */
	bool (*get)(const struct json_member *m);
	void (*put)(const struct json_member *m);
	const void *how;
};

/* clang-format off */
#define JSON_FIELD(S, M, KEY, ...) \
	{.key = KEY, .offset = offsetof(struct S, M), .size = (uint8_t)sizeof(((struct S *)0)->M), \
		.is_bool = _Generic(((struct S *)0)->M, bool: true, default: false), ##__VA_ARGS__}
#define JSON_FIELDS(TABLE) (TABLE), sizeof(TABLE) / sizeof((TABLE)[0])
/* clang-format on */

/* Reads the next value into the member that f describes. */
bool json_get_field(struct json_reader *r, const struct json_field *f, void *to, void *ctx);
/* Reads the value of `key`, which was just read; skips it if the table lacks the key. */
bool json_get_member(struct json_reader *r, struct str key, const struct json_field *f, size_t n,
	void *to, void *ctx);
/* Reads a whole object. */
bool json_get_fields(
	struct json_reader *r, const struct json_field *f, size_t n, void *to, void *ctx);
/* Writes the members of a struct of this kind (a bit; 0: no kind) into an open object. */
void json_put_fields(struct json_writer *w, const struct json_field *f, size_t n, const void *from,
	uint8_t kind, const void *ctx);
