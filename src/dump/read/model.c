/* SPDX-License-Identifier: Apache-2.0 */
/* model.c: queries on a dump: names of its codes, geometry, payload bytes, lookups. */
#include "dump/read/model.h"
#include "base/search.h"
#include "dump/read/deps.h"

#include <stdio.h>
#include <string.h>

const char *dump_role_name(unsigned role)
{
	static const char *const names[] = {"input", "output", "inout"};

	return role < 3 ? names[role] : "unknown";
}

const char *dump_stage_name(unsigned stage)
{
	static const char *const names[] = {"before", "after", "other"};

	return stage < 3 ? names[stage] : "other";
}

const char *dump_kind_name(unsigned kind)
{
	return kind == DUMP_SCALAR ? "scalar" : "tensor";
}

const char *dump_choice_name(unsigned choice)
{
	static const char *const names[] = {"none", "only", "same", "writer", "ambiguous"};

	return choice < 5 ? names[choice] : "none";
}

static void put_generation(char *buf, size_t n, enum dump_generation g)
{
	if (g == DUMP_X1 || g == DUMP_X2)
		snprintf(buf, n, g == DUMP_X1 ? "X1" : "X2");
	else if (g == DUMP_OWN)
		snprintf(buf, n, "incore/1");
	else if (g == DUMP_DEVICE)
		snprintf(buf, n, "device");
	else
		snprintf(buf, n, "G%d", (int)g);
}

const char *dump_generation_name(const struct dump *d, char buf[16])
{
	size_t n;

	put_generation(buf, 16, d->gen_first);
	if (d->gen_last != d->gen_first) {
		n = strlen(buf);
		snprintf(buf + n, 16 - n, "-");
		put_generation(buf + n + 1, 15 - n, d->gen_last);
	}
	return buf;
}

const char *dump_level_name(const struct dump *d, char buf[24])
{
	if (d->level == DUMP_LEVEL_UNKNOWN)
		snprintf(buf, 24, "unknown");
	else
		snprintf(buf, 24, "%d%s", d->level, d->is_level_inferred ? " (inferred)" : "");
	return buf;
}

void dump_geometry_of(const struct dump *d, const struct dump_record *r, struct dump_geometry *out)
{
	uint64_t words[1 + 2 * DUMP_MAX_RANK] = {0};
	struct str s = d->geometries.strs[r->geometry];

	memcpy(words, s.p, s.n < sizeof(words) ? s.n : sizeof(words));
	out->rank = (unsigned)words[0];
	out->numel = 1;
	for (unsigned i = 0; i < out->rank; i++) {
		out->shape[i] = words[1 + i];
		out->strides[i] = words[1 + out->rank + i];
		if (out->shape[i] == 0)
			out->numel = 0;
	}
	for (unsigned i = 0; out->numel && i < out->rank; i++)
		out->numel *= out->shape[i]; /* overflow was checked when it was read */
}

unsigned dump_members_of(const struct dump *d, uint32_t members, int32_t out[DUMP_MAX_MEMBERS])
{
	struct str s;

	if (members == DUMP_NONE)
		return 0;
	s = d->member_sets.strs[members];
	memcpy(out, s.p, s.n);
	return (unsigned)(s.n / sizeof(out[0]));
}

bool dump_positions(const struct dump *d, const struct dump_task *t, bool has_cube, int32_t out[3])
{
	const struct deps_task *known = d->deps ? deps_task_find(d->deps, t->id) : NULL;
	int32_t ids[DUMP_MAX_MEMBERS];
	unsigned n = 0;

	for (uint32_t i = 0; i < t->n_copies && !n; i++)
		n = dump_members_of(d, d->records.v[d->order[t->first_copy + i]].members, ids);
	if (n == 3) {
		memcpy(out, ids, 3 * sizeof(*out));
	} else if (known) {
		memcpy(out, known->kernels, 3 * sizeof(*out));
	} else if (n == 2) {
		out[0] = has_cube ? ids[0] : -1;
		out[1] = ids[!has_cube ? 0 : 1];
		out[2] = has_cube ? -1 : ids[1];
	}
	return n == 3 || n == 2 || known;
}

const struct dump_extra *dump_extra_of(const struct dump *d, uint32_t record)
{
	return record < d->extras.n ? &d->extras.v[record] : NULL;
}

struct str dump_kernel_of(const struct dump *d, uint32_t record)
{
	const struct dump_extra *x = dump_extra_of(d, record);
	int32_t ids[DUMP_MAX_MEMBERS], only = -1;
	const uint64_t *at;

	if (x && x->kernel != DUMP_NONE)
		return d->names.strs[x->kernel];
	for (unsigned n = dump_members_of(d, d->records.v[record].members, ids); n > 0; n--) {
		if (ids[n - 1] < 0 || ids[n - 1] == only)
			continue; /* no kernel ran here, or a second lane */
		if (only >= 0)
			return (struct str){0}; /* a mix has several kernels */
		only = ids[n - 1];
	}
	at = only < 0 ? NULL : u64_map_find(&d->func_names, (uint64_t)only);
	return at ? d->names.strs[*at] : (struct str){0};
}

uint32_t dump_block_of(const struct dump *d, uint32_t record)
{
	const struct dump_extra *x = dump_extra_of(d, record);

	return x ? x->block_idx : DUMP_NONE;
}

uint64_t dump_full_size(const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];
	struct dump_geometry g;

	if (r->kind == DUMP_SCALAR)
		return 0;
	dump_geometry_of(d, r, &g);
	return g.numel * dtype_bytes(r->dtype);
}

bool dump_geometry_is_dense(const struct dump_geometry *g)
{
	uint64_t want = 1;

	for (unsigned i = g->rank; i-- > 0;) {
		if (g->strides[i] != want)
			return false;
		want *= g->shape[i];
	}
	return true;
}

bool dump_payload(const struct dump *d, uint32_t record, const uint8_t **p, uint64_t *n,
	struct incore_error *e)
{
	const struct dump_record *r = &d->records.v[record];

	*p = NULL;
	*n = 0;
	if (r->bin_size == 0)
		return true;
	if (!d->payload)
		return err_file(e, "no-payload", d->manifest, r->at,
			"record %u: task 0x%016llx slot %u has %llu bytes, but the manifest names no payload file",
			record, (unsigned long long)r->task_id, r->slot,
			(unsigned long long)r->bin_size);
	if (d->is_payload_missing)
		return err_file(e, "no-payload", d->payload, INCORE_NO_OFFSET,
			"the payload file is not there; record %u (task 0x%016llx slot %u) needs it",
			record, (unsigned long long)r->task_id, r->slot);
	if (r->bin_offset > d->bytes.size || r->bin_size > d->bytes.size - r->bin_offset)
		return err_file(e, "truncated", d->manifest, r->at,
			"record %u: task 0x%016llx slot %u: bytes %llu to %llu are beyond the end of %s (%zu bytes)",
			record, (unsigned long long)r->task_id, r->slot,
			(unsigned long long)r->bin_offset,
			(unsigned long long)(r->bin_offset + r->bin_size), path_base(d->payload),
			d->bytes.size);
	*p = d->bytes.data + r->bin_offset;
	*n = r->bin_size;
	return true;
}

const struct dump_task *dump_task_find(const struct dump *d, uint64_t id)
{
	size_t lo = 0, hi = d->tasks.n;

	BISECT(lo, hi, i, d->tasks.v[i].id < id);
	return lo < d->tasks.n && d->tasks.v[lo].id == id ? &d->tasks.v[lo] : NULL;
}

const struct dump_slot *dump_slot_find(
	const struct dump *d, const struct dump_task *t, uint32_t index)
{
	const struct dump_slot *slots = t ? d->slots.v + t->first_slot : NULL;
	uint32_t n = t ? t->n_slots : 0, lo = 0, hi = n;

	BISECT(lo, hi, i, slots[i].index < index);
	return lo < n && slots[lo].index == index ? &slots[lo] : NULL;
}

const struct dump_slot *dump_slot_of(const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];

	return dump_slot_find(d, dump_task_find(d, r->task_id), r->slot);
}

uint32_t dump_slot_after(const struct dump *d, const struct dump_slot *s)
{
	return s->n_after ? d->order[s->first + s->n_before] : DUMP_NONE;
}
