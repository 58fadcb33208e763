/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_fields.h: the members of a JSON object as a table: the key, where its value stands in a
 * struct, how it is spelled. One table reads (keys in any order, unknown ones are passed over) and
 * writes (in its own order).
 *
 *	static const struct json_field fifo_fields[] = {
 *		JSON_FIELD(fifo, depth, "depth"),
 *		JSON_FIELD(fifo, dir, "dir", .word = dir_name),
 *		JSON_FIELD(fifo, name, "name", .get = get_text, .put = put_text),
 *	};
 *
 * Owner: tables are static. What get and put find as ctx is the caller's own.
 */
#pragma once

#include <stddef.h>

#include "codec/json_reader.h"
#include "codec/json_writer.h"

/* A member at hand. */
struct json_member {
	struct json_reader *r; /* reading: the value is next */
	struct json_writer *w; /* writing: the key was written */
	const struct json_field *f;
	void *at; /* written, it is only looked at */
	void *ctx;
};

struct json_field {
	const char *key;
	uint32_t offset;
	uint8_t size;	 /* of the struct's member: an unsigned integer, or a bool */
	bool is_bool;	 /* it is one */
	uint16_t bit;	 /* not 0: true or false is this bit of the member */
	uint8_t kinds;	 /* not 0: written only of a struct of one of these kinds */
	uint8_t items;	 /* not 0: the member is an array of at most as many uint32_t */
	bool is_counter; /* reading this array sets how many there are, in: */
	uint32_t count;	 /* where that uint32_t stands; 0: all are written */
	const char *(*word)(unsigned); /* not NULL: the names of 0, 1, .. up to NULL */
	/* Not NULL: they know how, by `how` where several fields share them. */
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

/* The value that is next, for the member that f tells of. */
bool json_get_field(struct json_reader *r, const struct json_field *f, void *to, void *ctx);
/* The value behind `key`, which was just read; one that the table lacks is passed over. */
bool json_get_member(struct json_reader *r, struct str key, const struct json_field *f, size_t n,
	void *to, void *ctx);
/* A whole object. */
bool json_get_fields(
	struct json_reader *r, const struct json_field *f, size_t n, void *to, void *ctx);
/* The members of a struct of this kind (a bit, 0: of none) into an open object. */
void json_put_fields(struct json_writer *w, const struct json_field *f, size_t n, const void *from,
	uint8_t kind, const void *ctx);
