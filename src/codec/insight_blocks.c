/* SPDX-License-Identifier: Apache-2.0 */
/* insight_blocks.c: reads the blocks of a visualize_data.bin. */
#include "codec/insight_blocks.h"

#include <stdio.h>

const char *insight_type_name(unsigned type)
{
	static const char *const names[] = {
		[INSIGHT_SOURCE] = "SOURCE",
		[INSIGHT_TRACE] = "TRACE",
		[INSIGHT_API_FILE] = "API_FILE",
		[INSIGHT_API_INSTR] = "API_INSTR",
		[INSIGHT_BASE_INFO] = "DETAILS_BASE_INFO",
		[INSIGHT_COMPUTE_GRAPH] = "DETAILS_COMPUTE_LOAD_GRAPH",
		[INSIGHT_COMPUTE_TABLE] = "DETAILS_COMPUTE_LOAD_TABLE",
		[INSIGHT_MEMORY_GRAPH] = "DETAILS_MEMORY_GRAPH",
		[INSIGHT_MEMORY_TABLE] = "DETAILS_MEMORY_TABLE",
		[0x0a] = "trial-0x0A",
		[0x0b] = "trial-0x0B",
		[INSIGHT_OCCUPANCY] = "DETAILS_INTER_CORE_LOAD_GRAPH",
		[INSIGHT_ROOFLINE] = "DETAILS_ROOFLINE",
		[INSIGHT_CACHE] = "DISPLAY_CACHE",
		[INSIGHT_TOP_STALL] = "TOP_WARP_STALL_REASON",
	};

	if (type == INSIGHT_TABLES)
		return "incore-tables";
	if (type < sizeof(names) / sizeof(names[0]) && names[type])
		return names[type];
	return "unknown";
}

static void get_header(const uint8_t *p, struct insight_block *k)
{
	k->size = 0;
	for (int i = 7; i >= 0; i--)
		k->size = k->size << 8 | p[i];
	k->type = p[8];
	k->padding = p[9];
	k->version = p[10];
	k->reserve = p[11];
}

bool insight_is_head(const uint8_t *head, size_t n)
{
	struct insight_block k;

	if (n < INSIGHT_HEADER_BYTES)
		return false;
	get_header(head, &k);
	return k.reserve == INSIGHT_MARK && k.type != 0 &&
	       (k.version == INSIGHT_MARK || k.version == 0) && k.padding <= k.size &&
	       k.size >> 40 == 0;
}

/* Could a block begin at `at`? The end of the file is fine too. */
static bool is_plausible(const uint8_t *data, size_t size, uint64_t at)
{
	struct insight_block k;

	if (at > size)
		return false;
	if (size - at < INSIGHT_HEADER_BYTES)
		return true;
	get_header(data + at, &k);
	return k.reserve == INSIGHT_MARK && k.padding <= k.size &&
	       k.size <= size - at - INSIGHT_HEADER_BYTES;
}

/* The end of the payload of a SOURCE block, in the current layout or the legacy one; 0: neither
 * fits. */
static uint64_t source_end(
	const uint8_t *data, size_t size, struct insight_block *k, uint64_t *n_text)
{
	uint64_t body = k->offset + INSIGHT_HEADER_BYTES, left = size - body;
	bool fits = left >= INSIGHT_PATH_BYTES && k->size <= left - INSIGHT_PATH_BYTES;

	if (fits && (is_plausible(data, size, body + INSIGHT_PATH_BYTES + k->size) ||
			    k->size < INSIGHT_PATH_BYTES)) {
		*n_text = k->size;
		return body + INSIGHT_PATH_BYTES + k->size;
	}
	if (k->size < INSIGHT_PATH_BYTES || k->size > left)
		return 0;
	k->is_legacy = true;
	*n_text = k->size - INSIGHT_PATH_BYTES;
	return body + k->size;
}

static bool insight_blocks_bad(char why[80], uint64_t *at, uint64_t where, const char *fmt,
	unsigned long long a, unsigned long long b)
{
	*at = where;
/* The format strings are literals of this file. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(why, 80, fmt, a, b);
#pragma GCC diagnostic pop
	return false;
}

/* Reads the block at k->offset; *end is its end. False: *at and why describe the problem. */
static bool get_block(const uint8_t *data, size_t size, struct insight_block *k, uint64_t *end,
	uint64_t *at, char why[80])
{
	uint64_t body = k->offset + INSIGHT_HEADER_BYTES, left = size - body, n_text;

	get_header(data + k->offset, k);
	if (k->padding > k->size)
		return insight_blocks_bad(why, at, k->offset + 9,
			"padding of %llu bytes in a block of %llu", k->padding, k->size);
	if (k->type != INSIGHT_SOURCE) {
		if (k->size > left)
			return insight_blocks_bad(why, at, k->offset,
				"a block of %llu bytes, but %llu are left", k->size, left);
		k->payload =
			(struct str){(const char *)data + body, (size_t)(k->size - k->padding)};
		*end = body + k->size;
		return true;
	}
	*end = source_end(data, size, k, &n_text);
	if (*end == 0)
		return insight_blocks_bad(why, at, k->offset,
			"a SOURCE block of 4096 + %llu bytes, but %llu are left", k->size, left);
	k->path.p = (const char *)data + body;
	k->path.n = strnlen(k->path.p, INSIGHT_PATH_BYTES);
	if (k->path.n == INSIGHT_PATH_BYTES)
		return insight_blocks_bad(
			why, at, body, "the path of a SOURCE block does not end%.0llu%.0llu", 0, 0);
	if (k->padding > n_text)
		return insight_blocks_bad(why, at, k->offset + 9,
			"padding of %llu bytes in a text of %llu", k->padding, n_text);
	k->payload = (struct str){k->path.p + INSIGHT_PATH_BYTES, (size_t)(n_text - k->padding)};
	return true;
}

bool insight_blocks_read(struct insight_blocks *b, const void *data, size_t size, const char *path,
	struct incore_error *e)
{
	const uint8_t *p = data;
	uint64_t at = 0, bad_at = 0;

	*b = (struct insight_blocks){0};
	if (size < INSIGHT_HEADER_BYTES)
		return err_file(e, "truncated", path, 0,
			"not a visualize_data.bin: %zu bytes, a block header has %d", size,
			INSIGHT_HEADER_BYTES);
	if (p[11] != INSIGHT_MARK)
		return err_file(e, "bad-magic", path, 11,
			"not a visualize_data.bin: the reserve byte is 0x%02x, expected 0x5a",
			p[11]);
	while (size - at >= INSIGHT_HEADER_BYTES) {
		struct insight_block k = {.offset = at};

		/* Zeros after the last block are not a block. */
		if (at && p[at + 8] == 0 && p[at + 11] != INSIGHT_MARK) {
			snprintf(b->rest_why, sizeof(b->rest_why), "no block header");
			break;
		}
		if (!get_block(p, size, &k, &at, &bad_at, b->rest_why)) {
			at = k.offset;
			if (b->v.n == 0)
				return err_file(e, "bad-block", path, bad_at, "block %s: %s",
					insight_type_name(k.type), b->rest_why);
			break;
		}
		b->n_odd_reserve += k.reserve != INSIGHT_MARK;
		if (!VEC_PUSH(&b->v, k))
			return err_nomem(e);
	}
	if (at < size) {
		b->rest_offset = at;
		b->rest_bytes = size - at;
		if (size - at < INSIGHT_HEADER_BYTES)
			snprintf(b->rest_why, sizeof(b->rest_why), "too short for a block header");
	}
	return true;
}

void insight_blocks_deinit(struct insight_blocks *b)
{
	VEC_FREE(&b->v);
}
