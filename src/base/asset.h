/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asset.h: files that are part of the program, embedded at build time (tools/embed.c).
 * Owner: the program's own read-only data; nothing fails, any thread may read.
 */
#pragma once

#include <stddef.h>

struct asset {
	const char *url;	   /* "/", "/incore.js", "910b1.yaml" */
	const char *media_type;	   /* of the Content-Type header */
	const char *hash;	   /* of the bytes, 16 hexadecimal digits: an entity tag */
	const unsigned char *data; /* a NUL follows the last byte */
	size_t size;
};
