/* SPDX-License-Identifier: Apache-2.0 */
/* check_regions.c: do the regions cover the payload file exactly once, and are the checksums
 * right? */
#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "dump/read/check.h"

static int compare_regions(const void *pa, const void *pb, void *ctx)
{
	const struct dump *d = ctx;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct dump_record *a = &d->records.v[ia], *b = &d->records.v[ib];

	if (a->bin_offset != b->bin_offset)
		return a->bin_offset < b->bin_offset ? -1 : 1;
	return ia < ib ? -1 : ia > ib;
}

static void uncovered(struct dump *d, struct dump_check *c, uint64_t from, uint64_t to)
{
	/* an arena is reused: bytes between payloads are old */
	if (!c->uncovered_bytes && d->gen_first != DUMP_DEVICE)
		problems_add(&d->problems, PROBLEM_WARNING, "uncovered-bytes", PROBLEM_DUMP,
			"bytes %llu to %llu of %s belong to no record", (unsigned long long)from,
			(unsigned long long)to, path_base(d->payload));
	c->uncovered_bytes += to - from;
}

static void walk_regions(struct dump *d, struct dump_check *c, const uint32_t *order, size_t n)
{
	uint64_t end = 0;
	uint32_t last = DUMP_NONE;

	for (size_t i = 0; i < n; i++) {
		const struct dump_record *r = &d->records.v[order[i]];

		if (r->bin_offset > end)
			uncovered(d, c, end, r->bin_offset);
		if (r->bin_offset < end) {
			c->overlapping++;
			problems_add(&d->problems, PROBLEM_DEFECT, "overlap",
				problem_of_record(d, order[i]),
				"record %u: its bytes from %llu overlap those of record %u",
				order[i], (unsigned long long)r->bin_offset, last);
		}
		if (r->bin_offset + r->bin_size > end) {
			c->covered_bytes += r->bin_offset + r->bin_size -
					    (r->bin_offset > end ? r->bin_offset : end);
			end = r->bin_offset + r->bin_size;
			last = order[i];
		}
	}
	if (end < d->bytes.size)
		uncovered(d, c, end, d->bytes.size);
}

static void check_checksums(struct dump *d, struct dump_check *c)
{
	for (size_t i = 0; i < d->records.n; i++) {
		const struct dump_record *r = &d->records.v[i];
		uint32_t crc;

		if (!(r->flags & DUMP_HAS_CRC) || !r->bin_size || r->flags & DUMP_OUT_OF_FILE)
			continue;
		c->n_checksums++;
		crc = crc32c(0, d->bytes.data + r->bin_offset, r->bin_size);
		if (crc == r->crc32c)
			continue;
		c->n_bad_checksums++;
		problems_add(&d->problems, PROBLEM_DEFECT, "checksum-differs",
			problem_of_record(d, (uint32_t)i),
			"record %zu: crc32c of its bytes is 0x%08x, the manifest states 0x%08x", i,
			crc, r->crc32c);
	}
}

/* A known defect of one producer: correct sizes, but all bytes zero. */
static void check_all_zero(struct dump *d)
{
	const uint8_t *p = d->bytes.data;
	size_t n = d->bytes.size;

	if (n < 64 || p[0] || memcmp(p, p + 1, n - 1) != 0)
		return;
	problems_add(&d->problems, PROBLEM_WARNING, "all-zero", PROBLEM_DUMP,
		"all %zu bytes of %s are zero: some producers write sizes but no data", n,
		path_base(d->payload));
}

bool check_regions(struct dump *d, struct dump_check *c, struct incore_error *e)
{
	uint32_t *order;
	size_t n = 0;

	for (size_t i = 0; i < d->records.n; i++)
		n += d->records.v[i].bin_size > 0;
	c->n_regions = n;
	c->payload_bytes = d->bytes.size;
	if (!d->payload || d->is_payload_missing)
		return true;
	order = mem_alloc((n ? n : 1) * sizeof(order[0]));
	if (!order)
		return err_nomem(e);
	n = 0;
	for (size_t i = 0; i < d->records.n; i++)
		if (d->records.v[i].bin_size && !(d->records.v[i].flags & DUMP_OUT_OF_FILE))
			order[n++] = (uint32_t)i;
	qsort_r(order, n, sizeof(order[0]), compare_regions, d);
	walk_regions(d, c, order, n);
	mem_free(order);
	check_checksums(d, c);
	check_all_zero(d);
	return true;
}
