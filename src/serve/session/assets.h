/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assets.h: the files of the viewer, embedded while building (tools/embed.c makes assets.c from
 * ui/). Owner: the program's own read-only data; nothing fails, any thread may read.
 */
#pragma once

#include <stddef.h>

struct asset {
	const char *url;	   /* "/", "/incore.js", "/incore.css", "/incore.svg" */
	const char *media_type;	   /* of the Content-Type header */
	const char *hash;	   /* of the bytes, 16 hexadecimal digits: an entity tag */
	const unsigned char *data; /* a NUL follows the last byte */
	size_t size;
};

extern const struct asset serve_assets[];
extern const size_t serve_n_assets;
