/* SPDX-License-Identifier: Apache-2.0 */
/* select.c: selects records by filters. */
#include "dump/read/select.h"

#include <string.h>
#include <strings.h>

void dump_select_init(struct dump_select *s)
{
	*s = (struct dump_select){
		.slot = SELECT_ANY,
		.stage = SELECT_ANY,
		.role = SELECT_ANY,
		.kind = SELECT_ANY,
		.dtype = SELECT_ANY,
		.has_payload = -1,
		.is_contiguous = -1,
	};
}

void dump_select_deinit(struct dump_select *s)
{
	VEC_FREE(&s->indices);
}

/* Parses hex digits of either case after 0x; false if there are more than 64 bits. */
static bool parse_hex(struct str s, uint64_t *out)
{
	uint64_t v = 0;

	if (!s.n)
		return false;
	for (size_t i = 0; i < s.n; i++) {
		static const char digits[] = "0123456789abcdef0123456789ABCDEF";
		const char *at = s.p[i] ? strchr(digits, s.p[i]) : NULL;

		if (!at || v >> 60)
			return false;
		v = v << 4 | (uint64_t)((at - digits) & 15);
	}
	*out = v;
	return true;
}

bool dump_task_parse(const char *text, uint64_t *out)
{
	struct str s = str_of(text), ring;
	uint64_t high, low;

	if (s.n > 2 && s.p[0] == '0' && (s.p[1] | 32) == 'x')
		return parse_hex(str_sub(s, 2, s.n), out);
	if (!str_has(s, ":"))
		return str_to_u64(s, out);
	if (!str_cut(&s, ":", &ring) || !str_to_u64(ring, &high) || !str_to_u64(s, &low) ||
		high > UINT32_MAX || low > UINT32_MAX)
		return false;
	*out = high << 32 | low;
	return true;
}

static bool name_has(struct str name, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = 0; i + n <= name.n; i++)
		if (strncasecmp(name.p + i, part, n) == 0)
			return true;
	return false;
}

static bool has_func(const struct dump *d, const struct dump_record *r, int32_t func)
{
	int32_t ids[DUMP_MAX_MEMBERS];
	uint32_t members = r->members;
	unsigned n;

	if (members == DUMP_NONE) {
		const struct dump_task *t = dump_task_find(d, r->task_id);

		members = t ? t->members : DUMP_NONE;
	}
	n = dump_members_of(d, members, ids);
	for (unsigned i = 0; i < n; i++)
		if (ids[i] == func)
			return true;
	return false;
}

static bool dump_select_has(const struct dump_select *s, const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];
	const struct dump_extra *x = dump_extra_of(d, record);

	if (s->indices.n) {
		for (size_t i = 0; i < s->indices.n; i++)
			if (s->indices.v[i] == record)
				return true;
		return false;
	}
	return (!s->has_task || r->task_id == s->task) &&
	       (!s->has_dispatch || (x && x->has_dispatch && x->dispatch_id == s->dispatch)) &&
	       (s->slot == SELECT_ANY || r->slot == s->slot) &&
	       (s->stage == SELECT_ANY || r->stage == s->stage) &&
	       (s->role == SELECT_ANY || r->role == s->role) &&
	       (s->kind == SELECT_ANY || r->kind == s->kind) &&
	       (s->dtype == SELECT_ANY || r->dtype == s->dtype) &&
	       (s->has_payload < 0 || (r->bin_size > 0) == s->has_payload) &&
	       (s->is_contiguous < 0 || !!(r->flags & DUMP_CONTIGUOUS) == s->is_contiguous) &&
	       (!s->has_func || has_func(d, r, s->func)) &&
	       (!s->kernel || name_has(dump_kernel_of(d, record), s->kernel));
}

static bool select_is_listed(const record_list *l, uint32_t record)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i] == record)
			return true;
	return false;
}

bool dump_select_list(
	const struct dump_select *s, const struct dump *d, record_list *out, struct incore_error *e)
{
	for (size_t i = 0; i < s->indices.n; i++) {
		if (s->indices.v[i] >= d->records.n)
			return err_set(e, INCORE_USAGE, "no-such-record",
				"there is no record %u: the manifest has %zu", s->indices.v[i],
				d->records.n);
		if (!select_is_listed(out, s->indices.v[i]) && !VEC_PUSH(out, s->indices.v[i]))
			return err_nomem(e);
	}
	if (s->indices.n)
		return true;
	for (size_t i = 0; i < d->records.n; i++)
		if (dump_select_has(s, d, (uint32_t)i) && !VEC_PUSH(out, (uint32_t)i))
			return err_nomem(e);
	return true;
}
