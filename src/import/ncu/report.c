/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report.c: the structure of a report:
 *
 *	"NVR\0"  u32 n, file header[n]
 *	repeat:  u32 n, block header[n], payload
 *	payload: u32 n, message[n], for each source, launch, range, command list and graph
 */
#include "import/ncu/ncu.h"

#include "base/mem.h"

#define MAGIC "NVR" /* including its NUL */
#define MAX_RESULTS 1000000u
#define MAX_PAYLOAD (1ull << 40) /* limit for a block of a truncated file */

/* Field numbers of the file header. Profilers do not write the second: generators mark synthetic
 * files with it, and other readers ignore it. */
enum { FILE_VERSION = 1, FILE_SYNTHETIC = 1000 };

/* Field numbers of a block header; from FIRST_OTHERS on they count the messages that follow the
 * launches. */
enum {
	BLOCK_SOURCES = 1,
	BLOCK_RESULTS = 2,
	BLOCK_SESSION = 3,
	BLOCK_STRINGS = 4,
	BLOCK_PAYLOAD = 5,
	BLOCK_PROCESS = 6,
	BLOCK_RANGES = 7,
	BLOCK_CMDLISTS = 8,
	BLOCK_GRAPHS = 9,
};

struct block {
	uint64_t n_sources, n_results[NCU_KINDS], payload;
};

bool ncu_is_magic(const uint8_t *p, size_t n)
{
	return n >= 4 && memcmp(p, MAGIC, 4) == 0;
}

void ncu_report_deinit(struct ncu_report *r)
{
	VEC_FREE(&r->results);
	VEC_FREE(&r->sources);
	VEC_FREE(&r->sessions);
	VEC_FREE(&r->names);
}

bool ncu_damaged(
	const struct ncu_report *r, const void *p, const char *what, struct incore_error *e)
{
	uint64_t at = (uint64_t)((const char *)p - r->bytes.p);

	return err_file(e, "bad-report", r->path, at <= r->bytes.n ? at : INCORE_NO_OFFSET,
		"report of Nsight Compute: %s", what);
}

bool ncu_next(struct ncu_report *r, struct pb_reader *m, uint32_t known, struct pb_field *f)
{
	if (!pb_next(m, f))
		return false;
	r->n_unknown += f->number > known;
	return true;
}

/* u32 n, then n bytes. */
static bool take_part(
	const struct ncu_report *r, struct str *rest, struct str *out, struct incore_error *e)
{
	const uint8_t *p = (const uint8_t *)rest->p;
	uint32_t n;

	if (rest->n < 4)
		return ncu_damaged(r, p, "expected the length of a message, found its end", e);
	n = (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
	if (n > rest->n - 4)
		return err_file(e, "truncated", r->path, (uint64_t)(rest->p - r->bytes.p),
			"report of Nsight Compute: a message of %u bytes, %zu are left", n,
			rest->n - 4);
	*out = str_sub(*rest, 4, n);
	*rest = str_sub(*rest, 4 + (size_t)n, rest->n);
	return true;
}

static bool add_names(struct ncu_report *r, struct str bytes, struct incore_error *e)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	while (ncu_next(r, &m, 1, &f))
		if (f.number == 1 && f.wire == PB_BYTES && !VEC_PUSH(&r->names, f.bytes))
			return err_nomem(e);
	return !m.is_failed || ncu_damaged(r, m.p, "the names of metrics are damaged", e);
}

static bool read_block_header(
	struct ncu_report *r, struct str bytes, struct block *b, struct incore_error *e)
{
	struct pb_reader m = pb_of(bytes);
	struct pb_field f;

	while (ncu_next(r, &m, BLOCK_GRAPHS, &f)) {
		bool is_message = f.number == BLOCK_SESSION || f.number == BLOCK_STRINGS ||
				  f.number == BLOCK_PROCESS;

		if (f.number <= BLOCK_GRAPHS && is_message != (f.wire == PB_BYTES))
			return ncu_damaged(r, m.p, "a block header of another shape", e);
		switch (f.number) {
		case BLOCK_SOURCES:
			b->n_sources = f.value;
			break;
		case BLOCK_RESULTS:
			b->n_results[NCU_LAUNCH] = f.value;
			break;
		case BLOCK_RANGES:
			b->n_results[NCU_RANGE] = f.value;
			break;
		case BLOCK_CMDLISTS:
			b->n_results[NCU_CMDLIST] = f.value;
			break;
		case BLOCK_GRAPHS:
			b->n_results[NCU_GRAPH] = f.value;
			break;
		case BLOCK_PAYLOAD:
			b->payload = f.value;
			break;
		case BLOCK_STRINGS:
			if (!add_names(r, f.bytes, e))
				return false;
			break;
		case BLOCK_SESSION:
			if (!VEC_PUSH(&r->sessions, f.bytes))
				return err_nomem(e);
			break;
		}
	}
	return !m.is_failed || ncu_damaged(r, m.p, "a block header is damaged", e);
}

static bool read_payload(
	struct ncu_report *r, const struct block *b, struct str payload, struct incore_error *e)
{
	struct str part;

	for (uint64_t i = 0; i < b->n_sources; i++)
		if (!take_part(r, &payload, &part, e))
			return false;
		else if (!VEC_PUSH(&r->sources, part))
			return err_nomem(e);
	for (int k = 0; k < NCU_KINDS; k++)
		for (uint64_t i = 0; i < b->n_results[k]; i++) {
			struct ncu_place x = {(enum ncu_kind)k, {0}};

			r->is_cut_result = r->is_cut;
			if (!take_part(r, &payload, &x.bytes, e))
				return false;
			if (r->results.n >= MAX_RESULTS)
				return ncu_damaged(r, x.bytes.p, "more than a million results", e);
			if (!VEC_PUSH(&r->results, x))
				return err_nomem(e);
		}
	r->n_surplus += payload.n;
	return true;
}

/* False with r->is_cut: the file ends inside this block. */
static bool read_block(struct ncu_report *r, struct str *rest, struct incore_error *e)
{
	struct block b = {0};
	struct str header;

	r->is_cut = true; /* until all its bytes are found */
	if (!take_part(r, rest, &header, e))
		return false;
	r->is_cut = false;
	if (!read_block_header(r, header, &b, e))
		return false;
	r->is_cut = b.payload > rest->n && b.payload < MAX_PAYLOAD;
	if (b.payload > rest->n && !r->is_cut)
		return ncu_damaged(r, header.p, "a block of more bytes than any file has", e);
	if (r->is_cut)
		b.payload = rest->n;
	if (!read_payload(r, &b, str_sub(*rest, 0, (size_t)b.payload), e))
		return false;
	*rest = str_sub(*rest, (size_t)b.payload, rest->n);
	return true;
}

static bool read_file_header(struct ncu_report *r, struct str header, struct incore_error *e)
{
	struct pb_reader m = pb_of(header);
	struct pb_field f;

	while (pb_next(&m, &f))
		if (f.number == FILE_VERSION && f.wire == PB_VARINT)
			r->version = f.value;
		else if (f.number == FILE_SYNTHETIC && f.wire == PB_VARINT)
			r->is_synthetic = f.value;
		else
			r->n_unknown++;
	return !m.is_failed || ncu_damaged(r, m.p, "the file header is damaged", e);
}

bool ncu_index(struct ncu_report *r, struct str bytes, const char *path, struct incore_error *e)
{
	struct str rest, header;

	*r = (struct ncu_report){.path = path, .bytes = bytes};
	if (!ncu_is_magic((const uint8_t *)bytes.p, bytes.n))
		return err_file(e, "bad-magic", path, 0, "not a report of Nsight Compute");
	rest = str_sub(bytes, 4, bytes.n);
	if (!take_part(r, &rest, &header, e) || !read_file_header(r, header, e))
		return false;
	while (rest.n && !r->is_cut)
		if (!read_block(r, &rest, e)) {
			if (!r->is_cut || !r->results.n || err_is(e, "no-memory"))
				return false;
			incore_error_clear(e);
		}
	return true;
}
