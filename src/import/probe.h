/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h: the data by which a format decides whether a path is one of its captures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_cache; /* capture_cache.h */

/* Number of bytes of a file that are read to recognise its format; a shorter head is the whole
 * file, if it is JSON. */
#define PROBE_HEAD 65536

/* Input of sniff(). */
struct probe {
	const char *path;
	bool is_dir;
	bool is_named;		     /* named by the user, not found in a directory */
	bool is_gzip;		     /* head is the unpacked content */
	struct capture_cache *cache; /* for the files of a directory; or NULL */
	const uint8_t *head; /* at most PROBE_HEAD first bytes of a file; NULL for a directory */
	size_t head_size;
};
