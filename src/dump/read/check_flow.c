/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_flow.c: was the content of an INOUT argument written by any task? The first task that gets
 * a fresh buffer as INOUT sees whatever the memory held; such bytes are not data.
 */
#include "base/hash.h"
#include "dump/read/check.h"

struct flow {
	struct dump *d;
	struct u64_map written; /* buffer address, or hash of the bytes if no address is stated */
};

static bool has_bytes(const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];

	return r->kind == DUMP_TENSOR && r->bin_size && !(r->flags & DUMP_OUT_OF_FILE);
}

static uint64_t identity(const struct dump *d, uint32_t record)
{
	const struct dump_extra *x = dump_extra_of(d, record);
	const struct dump_record *r = &d->records.v[record];

	if (x && x->has_buffer && x->buffer_addr)
		return hash_mix64(x->buffer_addr);
	return hash_bytes(d->bytes.data + r->bin_offset, r->bin_size, r->dtype);
}

static void check_inout(struct flow *f, const struct dump_slot *s)
{
	const struct dump *d = f->d;
	const struct dump_record *r = &d->records.v[s->before];

	if (r->role != DUMP_INOUT || !has_bytes(d, s->before))
		return;
	if (u64_map_find(&f->written, identity(d, s->before)))
		return;
	problems_add(&f->d->problems, PROBLEM_NOTE, "no-earlier-writer",
		problem_of_record(d, s->before),
		"task 0x%016llx slot %u: no earlier task wrote what it holds before: an input of the run, or uninitialised memory",
		(unsigned long long)r->task_id, r->slot);
}

bool check_flow(struct dump *d, struct incore_error *e)
{
	struct flow f = {.d = d};
	bool ok = true;

	if (!d->payload || d->is_payload_missing)
		return true;
	for (size_t t = 0; ok && t < d->tasks.n; t++) {
		const struct dump_slot *s = d->slots.v + d->tasks.v[t].first_slot;
		uint32_t n = d->tasks.v[t].n_slots;

		for (uint32_t i = 0; i < n; i++)
			if (s[i].n_before)
				check_inout(&f, &s[i]);
		for (uint32_t i = 0; ok && i < n; i++) {
			uint32_t after = dump_slot_after(d, &s[i]);

			if (after != DUMP_NONE && has_bytes(d, after))
				ok = u64_map_at(&f.written, identity(d, after)) != NULL;
		}
	}
	u64_map_deinit(&f.written);
	return ok || err_nomem(e);
}
