/* SPDX-License-Identifier: Apache-2.0 */
/* probe.h: what a format may look at to say whether a path is one of its captures. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct capture_cache; /* capture_cache.h */

/* So many bytes of a file are looked at to tell its format: fewer are all of it, if it is JSON. */
#define PROBE_HEAD 65536

/* What sniff() may look at. */
struct probe {
	const char *path;
	bool is_dir;
	bool is_named;		     /* by the user, not found in a directory */
	bool is_gzip;		     /* head is what it holds */
	struct capture_cache *cache; /* for the files of a directory; or NULL */
	const uint8_t *head; /* at most PROBE_HEAD first bytes of a file; NULL for a directory */
	size_t head_size;
};
