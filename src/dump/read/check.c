/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check.c: is a dump complete, consistent and intact? Parts: regions of the payload file;
 * arguments of every task; contents that no task wrote; the verdict.
 */
#include "dump/read/check.h"

#include <stdlib.h>
#include <string.h>

#include "base/crc32c.h"
#include "base/hash.h"
#include "dump/read/deps.h"

static struct problem problem_of_record(const struct dump *d, uint32_t record)
{
	const struct dump_record *r = &d->records.v[record];

	return (struct problem){.task_id = r->task_id,
		.has_task = true,
		.slot = r->slot,
		.record = record,
		.note.offset = r->at};
}

/* --- regions of the payload file -------------------------------------------------------------- */

/*
 * Do the regions cover the payload file exactly once, and are the checksums right?
 */

static int compare_regions(const void *pa, const void *pb, void *ctx)
{
	const struct dump *d = ctx;
	uint32_t ia = *(const uint32_t *)pa, ib = *(const uint32_t *)pb;
	const struct dump_record *a = &d->records.v[ia], *b = &d->records.v[ib];

	if (a->bin_offset != b->bin_offset)
		return a->bin_offset < b->bin_offset ? -1 : 1;
	return ia < ib ? -1 : ia > ib;
}

static void dump_regions_uncovered(struct dump *d, struct dump_check *c, uint64_t from, uint64_t to)
{
	/* an arena is reused: bytes between payloads are old */
	if (!c->uncovered_bytes && d->gen_first != DUMP_DEVICE)
		problems_add(&d->problems, WEIGHT_WARNING, "uncovered-bytes", PROBLEM_DUMP,
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
			dump_regions_uncovered(d, c, end, r->bin_offset);
		if (r->bin_offset < end) {
			c->overlapping++;
			problems_add(&d->problems, WEIGHT_ERROR, "overlap",
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
		dump_regions_uncovered(d, c, end, d->bytes.size);
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
		problems_add(&d->problems, WEIGHT_ERROR, "checksum-differs",
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
	problems_add(&d->problems, WEIGHT_WARNING, "all-zero", PROBLEM_DUMP,
		"all %zu bytes of %s are zero: some producers write sizes but no data", n,
		path_base(d->payload));
}

static bool check_regions(struct dump *d, struct dump_check *c, struct incore_error *e)
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

/* --- arguments of every task ------------------------------------------------------------------ */

/*
 * Does every task have all its arguments, at the stages that their roles require, and consistently
 * in every instance? Loss counters of zero prove nothing: a signature that is too short leaves gaps
 * that nobody counted.
 */

struct slot_check {
	struct dump *d;
	struct dump_check *out;
	struct u64_map first; /* member set, slot -> the first record of it + 1 */
};

static struct problem at_slot(const struct dump_task *t, uint32_t slot)
{
	return (struct problem){.task_id = t->id,
		.has_task = true,
		.slot = slot,
		.record = UINT32_MAX,
		.note.offset = UINT64_MAX};
}

/* At level 1 only marked slots exist; an unknown level may be 1. */
static enum note_weight gap_weight(const struct dump *d)
{
	return d->level == DUMP_LEVEL_UNKNOWN && d->gen_first >= DUMP_G4 ? WEIGHT_WARNING
									 : WEIGHT_ERROR;
}

static void missing(struct slot_check *c, struct dump_task *t, uint32_t slot, const char *why)
{
	if (t->is_complete)
		c->out->n_incomplete_tasks++;
	t->is_complete = false;
	c->out->n_missing_slots++;
	problems_add(&c->d->problems, gap_weight(c->d), "missing-slot", at_slot(t, slot),
		"task 0x%016llx: slot %u is missing: %s", (unsigned long long)t->id, slot, why);
}

static const struct dump_record *record_of(const struct dump *d, const struct dump_slot *s)
{
	return &d->records.v[d->order[s->first]];
}

/* Checks that slots are 0..n-1 without a gap, tensors below scalars. */
static void check_gaps(struct slot_check *c, struct dump_task *t)
{
	const struct dump *d = c->d;
	uint32_t next = 0, first_scalar = DUMP_NONE;
	char why[80];

	for (uint32_t i = 0; i < t->n_slots; i++) {
		const struct dump_slot *s = &d->slots.v[t->first_slot + i];
		const struct dump_record *r = record_of(d, s);

		snprintf(why, sizeof(why), "the next one there is %u (%s)", s->index,
			dump_kind_name(r->kind));
		/* a hostile index may be any number: list some, not four billion */
		for (uint32_t k = 0; next < s->index && k < PROBLEMS_KEPT; next++, k++)
			missing(c, t, next, why);
		next = s->index + 1;
		if (r->kind == DUMP_SCALAR && first_scalar == DUMP_NONE)
			first_scalar = s->index;
		if (r->kind == DUMP_TENSOR && first_scalar != DUMP_NONE)
			problems_add(&c->d->problems, WEIGHT_ERROR, "slot-order",
				at_slot(t, s->index),
				"task 0x%016llx: slot %u is a tensor above the scalar slot %u",
				(unsigned long long)t->id, s->index, first_scalar);
	}
}

/* Compares with what the runtime counted or listed itself. */
static void check_expected(struct slot_check *c, struct dump_task *t)
{
	const struct dump *d = c->d;
	const struct dump_extra *x = dump_extra_of(d, d->order[t->first_copy]);
	const struct deps_task *known = deps_task_find(d->deps, t->id);
	const struct dump_slot *last = &d->slots.v[t->first_slot + t->n_slots - 1];

	if (x && x->tensor_count != DUMP_NONE && x->scalar_count != DUMP_NONE) {
		uint64_t want = (uint64_t)x->tensor_count + x->scalar_count;

		for (uint64_t i = last->index + 1ull, k = 0; i < want && k < PROBLEMS_KEPT;
			i++, k++)
			missing(c, t, (uint32_t)i, "the task was described with more arguments");
	}
	for (uint32_t i = 0; known && i < known->n_args; i++) {
		const struct deps_arg *a = &d->deps->args.v[known->first_arg + i];
		const struct dump_slot *s = dump_slot_find(d, t, a->slot);
		const struct dump_record *r = s ? record_of(d, s) : NULL;

		if (!s && a->slot > last->index)
			missing(c, t, a->slot, "deps.json lists it");
		if (r && a->dtype != DTYPE_UNKNOWN && r->kind == DUMP_TENSOR &&
			r->dtype != a->dtype)
			problems_add(&c->d->problems, WEIGHT_ERROR, "dtype-differs",
				at_slot(t, a->slot),
				"task 0x%016llx slot %u is %s, deps.json says %s",
				(unsigned long long)t->id, a->slot, dtype_name(r->dtype),
				dtype_name(a->dtype));
		if (r && r->kind == DUMP_TENSOR && r->role != a->role)
			problems_add(&c->d->problems, WEIGHT_ERROR, "role-differs",
				at_slot(t, a->slot),
				"task 0x%016llx slot %u is labelled %s, deps.json says %s",
				(unsigned long long)t->id, a->slot, dump_role_name(r->role),
				dump_role_name(a->role));
	}
}

static void check_stages(struct slot_check *c, const struct dump_task *t, const struct dump_slot *s)
{
	const struct dump *d = c->d;
	const struct dump_record *r = record_of(d, s);
	bool wants_before = r->kind == DUMP_SCALAR || r->role != DUMP_OUTPUT;
	bool wants_after = r->kind == DUMP_TENSOR && r->role != DUMP_INPUT &&
			   d->gen_first != DUMP_X2; /* it has no such stage */

	if (s->n_before + s->n_after == 0)
		return; /* only unknown stages */
	if (wants_before != (s->n_before > 0) || wants_after != (s->n_after > 0))
		problems_add(&c->d->problems, WEIGHT_ERROR, "stage-missing", at_slot(t, s->index),
			"task 0x%016llx slot %u (%s) has %u %s before and %u after",
			(unsigned long long)t->id, s->index, dump_role_name(r->role), s->n_before,
			s->n_before == 1 ? "copy" : "copies", s->n_after);
	if (s->choice == DUMP_CHOICE_WRITER)
		problems_add(&c->d->problems, WEIGHT_INFO, "several-before", at_slot(t, s->index),
			"task 0x%016llx slot %u: %u before copies with %u contents; record %u equals what task 0x%016llx left",
			(unsigned long long)t->id, s->index, s->n_before, s->n_distinct, s->before,
			(unsigned long long)d->records.v[s->writer].task_id);
	if (s->choice == DUMP_CHOICE_AMBIGUOUS)
		problems_add(&c->d->problems, WEIGHT_WARNING, "ambiguous-before",
			at_slot(t, s->index),
			"task 0x%016llx slot %u: %u before copies with %u contents, and no earlier writer tells which is the state before the task",
			(unsigned long long)t->id, s->index, s->n_before, s->n_distinct);
}

/* Checks that all copies of a slot agree about it. */
static void check_copies(struct slot_check *c, const struct dump_task *t, const struct dump_slot *s)
{
	const struct dump *d = c->d;
	const struct dump_record *a = record_of(d, s);

	for (uint32_t i = 1; i < s->n; i++) {
		const struct dump_record *b = &d->records.v[d->order[s->first + i]];

		if (a->kind == b->kind && a->dtype == b->dtype && a->role == b->role &&
			a->geometry == b->geometry)
			continue;
		problems_add(&c->d->problems, WEIGHT_ERROR, "copies-differ",
			problem_of_record(d, d->order[s->first + i]),
			"task 0x%016llx slot %u: record %u is %s %s %s, record %u %s %s %s%s",
			(unsigned long long)t->id, s->index, d->order[s->first],
			dump_role_name(a->role), dump_kind_name(a->kind), dtype_name(a->dtype),
			d->order[s->first + i], dump_role_name(b->role), dump_kind_name(b->kind),
			dtype_name(b->dtype), a->geometry == b->geometry ? "" : ", other shape");
	}
}

/* If records list the members of their task, all records of the task must list the same. */
static void check_members(struct slot_check *c, const struct dump_task *t)
{
	const struct dump *d = c->d;
	uint32_t first = DUMP_NONE;

	if (d->gen_first < DUMP_G10 || d->gen_first == DUMP_X1 || d->gen_first == DUMP_X2 ||
		d->gen_first == DUMP_DEVICE)
		return; /* a record may belong to one member only */
	for (uint32_t i = 0; i < t->n_copies; i++) {
		uint32_t record = d->order[t->first_copy + i];
		uint32_t members = d->records.v[record].members;

		if (members == DUMP_NONE)
			continue;
		if (first == DUMP_NONE)
			first = record;
		if (members == d->records.v[first].members)
			continue;
		problems_add(&c->d->problems, WEIGHT_ERROR, "func-ids-differ",
			problem_of_record(d, record),
			"task 0x%016llx: record %u has other func ids than record %u of the same task",
			(unsigned long long)t->id, record, first);
	}
}

/* Checks that a slot of a kernel has the same role and dtype in every task. */
static bool check_instance(struct slot_check *c, const struct dump_task *t,
	const struct dump_slot *s, struct incore_error *e)
{
	const struct dump *d = c->d;
	const struct dump_record *r = record_of(d, s), *f;
	uint64_t *at;

	if (t->members == DUMP_NONE)
		return true;
	at = u64_map_at(&c->first, (uint64_t)t->members << 32 | s->index);
	if (!at)
		return err_nomem(e);
	if (!*at) {
		*at = d->order[s->first] + 1ull;
		return true;
	}
	f = &d->records.v[*at - 1];
	if (f->role == r->role && f->dtype == r->dtype && f->kind == r->kind)
		return true;
	problems_add(&c->d->problems, WEIGHT_ERROR, "instances-differ", at_slot(t, s->index),
		"task 0x%016llx slot %u is %s %s %s, in task 0x%016llx of the same kernel %s %s %s",
		(unsigned long long)t->id, s->index, dump_role_name(r->role),
		dump_kind_name(r->kind), dtype_name(r->dtype), (unsigned long long)f->task_id,
		dump_role_name(f->role), dump_kind_name(f->kind), dtype_name(f->dtype));
	return true;
}

static bool check_slots(struct dump *d, struct dump_check *out, struct incore_error *e)
{
	struct slot_check c = {.d = d, .out = out};
	bool ok = true;

	for (size_t i = 0; ok && i < d->tasks.n; i++) {
		struct dump_task *t = &d->tasks.v[i];

		check_members(&c, t);
		if (d->level != 1) {
			check_gaps(&c, t);
			check_expected(&c, t);
		}
		for (uint32_t k = 0; ok && k < t->n_slots; k++) {
			const struct dump_slot *s = &d->slots.v[t->first_slot + k];

			check_copies(&c, t, s);
			if (d->level != 1)
				check_stages(&c, t, s);
			ok = check_instance(&c, t, s, e);
		}
	}
	u64_map_deinit(&c.first);
	return ok;
}

/* --- contents that no task wrote -------------------------------------------------------------- */

/*
 * Was the content of an INOUT argument written by any task? The first task that gets a fresh buffer
 * as INOUT sees whatever the memory held; such bytes are not data.
 */

struct dump_flow {
	struct dump *d;
	struct u64_map written; /* buffer address, or hash of the bytes if no address is stated */
};

static bool dump_flow_has_bytes(const struct dump *d, uint32_t record)
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

static void check_inout(struct dump_flow *f, const struct dump_slot *s)
{
	const struct dump *d = f->d;
	const struct dump_record *r = &d->records.v[s->before];

	if (r->role != DUMP_INOUT || !dump_flow_has_bytes(d, s->before))
		return;
	if (u64_map_find(&f->written, identity(d, s->before)))
		return;
	problems_add(&f->d->problems, WEIGHT_INFO, "no-earlier-writer",
		problem_of_record(d, s->before),
		"task 0x%016llx slot %u: no earlier task wrote what it holds before: an input of the run, or uninitialised memory",
		(unsigned long long)r->task_id, r->slot);
}

static bool dump_check_flow(struct dump *d, struct incore_error *e)
{
	struct dump_flow f = {.d = d};
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

			if (after != DUMP_NONE && dump_flow_has_bytes(d, after))
				ok = u64_map_at(&f.written, identity(d, after)) != NULL;
		}
	}
	u64_map_deinit(&f.written);
	return ok || err_nomem(e);
}

/* --- the verdict ------------------------------------------------------------------------------ */

/*
 * Is each record consistent, and do the manifest's counters match its records?
 */

static void check_counter(struct dump *d, const char *what, uint64_t stated, uint64_t counted)
{
	if (stated != UINT64_MAX && stated != counted)
		problems_add(&d->problems, WEIGHT_ERROR, "counter-differs", PROBLEM_DUMP,
			"the manifest states %llu %s, its records are %llu",
			(unsigned long long)stated, what, (unsigned long long)counted);
}

static void check_counters(struct dump *d)
{
	struct dump_counters n = {0};
	const struct dump_counters *s = &d->counters;

	EACH (const struct dump_record, r, d->records.v, d->records.n) {
		n.before += r->stage == DUMP_BEFORE;
		n.after += r->stage == DUMP_AFTER;
		n.input += r->role == DUMP_INPUT;
		n.output += r->role == DUMP_OUTPUT;
		n.inout += r->role == DUMP_INOUT;
		n.truncated += !!(r->flags & DUMP_TRUNCATED);
	}
	if (d->gen_first == DUMP_X1)
		return; /* its counters cover two arrays */
	check_counter(d, "records", s->total, d->records.n);
	check_counter(d, "records before dispatch", s->before, n.before);
	check_counter(d, "records after completion", s->after, n.after);
	check_counter(d, "inputs", s->input, n.input);
	check_counter(d, "outputs", s->output, n.output);
	check_counter(d, "inouts", s->inout, n.inout);
	check_counter(d, "truncated records", s->truncated, n.truncated);
	if (s->dropped && s->dropped != UINT64_MAX)
		problems_add(&d->problems, WEIGHT_ERROR, "dropped-records", PROBLEM_DUMP,
			"the producer dropped %llu records", (unsigned long long)s->dropped);
	if (s->overwritten && s->overwritten != UINT64_MAX)
		problems_add(&d->problems, WEIGHT_ERROR, "overwritten-records", PROBLEM_DUMP,
			"the payload of %llu record%s was overwritten before it was read",
			(unsigned long long)s->overwritten, plural(s->overwritten));
}

static void check_flags(struct dump *d, uint32_t i)
{
	static const struct {
		unsigned flag;
		enum note_weight weight;
		const char *code, *text;
	} all[] = {
		{DUMP_TRUNCATED, WEIGHT_ERROR, "truncated",
			"its payload is a prefix of the tensor"},
		{DUMP_OVERWRITTEN, WEIGHT_ERROR, "overwritten", "its payload was overwritten"},
		{DUMP_LOST, WEIGHT_ERROR, "payload-lost", "its payload did not reach the file"},
		{DUMP_TORN, WEIGHT_ERROR, "torn", "it was copied while its task was running"},
		{DUMP_INCOMPLETE, WEIGHT_ERROR, "incomplete",
			"not all arguments of its task were recorded"},
		{DUMP_AMBIGUOUS, WEIGHT_INFO, "ambiguous-slot",
			"selected by a value that was added more than once"},
	};
	const struct dump_record *r = &d->records.v[i];
	unsigned flags = r->flags;

	if (flags & DUMP_LOST) /* our own library sets both, for older readers */
		flags &= ~(unsigned)DUMP_OVERWRITTEN;
	if (flags & DUMP_INCOMPLETE && problems_of(&d->problems, "incomplete-task"))
		flags &= ~(unsigned)DUMP_INCOMPLETE; /* reported for the task */
	for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
		if (flags & all[k].flag)
			problems_add(&d->problems, all[k].weight, all[k].code,
				problem_of_record(d, i), "record %u (%s, slot %u): %s", i,
				dump_stage_name(r->stage), r->slot, all[k].text);
}

static void check_size(struct dump *d, uint32_t i, const struct dump_geometry *g)
{
	const struct dump_record *r = &d->records.v[i];
	uint64_t full = g->numel * dtype_bytes(r->dtype);
	bool is_short = r->flags & (DUMP_TRUNCATED | DUMP_OVERWRITTEN | DUMP_LOST);
	bool may_lack = d->level == 3 || d->gen_first == DUMP_DEVICE;

	if (r->flags & DUMP_HAS_NUMEL && r->bits != g->numel)
		problems_add(&d->problems, WEIGHT_ERROR, "numel-differs", problem_of_record(d, i),
			"record %u states numel %llu, its shape has %llu elements", i,
			(unsigned long long)r->bits, (unsigned long long)g->numel);
	if (r->dtype == DTYPE_UNKNOWN)
		problems_add(&d->problems, WEIGHT_WARNING, "unknown-dtype", problem_of_record(d, i),
			"record %u has a dtype that is not known: its payload cannot be read", i);
	else if (r->bin_size > full || (r->bin_size && r->bin_size < full && !is_short))
		problems_add(&d->problems, WEIGHT_ERROR, "size-differs", problem_of_record(d, i),
			"record %u has %llu bytes, its shape and dtype ask for %llu", i,
			(unsigned long long)r->bin_size, (unsigned long long)full);
	else if (!r->bin_size && full && !is_short && !may_lack)
		problems_add(&d->problems,
			d->level == DUMP_LEVEL_UNKNOWN ? WEIGHT_WARNING : WEIGHT_ERROR,
			"payload-absent", problem_of_record(d, i),
			"record %u has no payload; its %llu bytes are missing", i,
			(unsigned long long)full);
}

static void check_record(struct dump *d, uint32_t i)
{
	const struct dump_record *r = &d->records.v[i];
	struct dump_geometry g;

	check_flags(d, i);
	dump_geometry_of(d, r, &g);
	if (r->kind == DUMP_SCALAR) {
		if (!(r->flags & DUMP_HAS_VALUE))
			problems_add(&d->problems, WEIGHT_ERROR, "no-value",
				problem_of_record(d, i), "record %u is a scalar without a value",
				i);
		else if (!(r->flags & DUMP_EXACT))
			problems_add(&d->problems, WEIGHT_INFO, "inexact-scalar",
				problem_of_record(d, i),
				"record %u: the file has 6 digits of a FLOAT32, not its bits", i);
		if (r->bin_size)
			problems_add(&d->problems, WEIGHT_ERROR, "size-differs",
				problem_of_record(d, i), "record %u is a scalar with payload", i);
		return;
	}
	check_size(d, i, &g);
	if (!!(r->flags & DUMP_CONTIGUOUS) != dump_geometry_is_dense(&g) && g.numel)
		problems_add(&d->problems, WEIGHT_WARNING, "contiguity-differs",
			problem_of_record(d, i),
			"record %u says is_contiguous %s, its strides say otherwise", i,
			r->flags & DUMP_CONTIGUOUS ? "true" : "false");
}

enum dump_verdict dump_verdict_of(const struct dump *d)
{
	if (problems_count(&d->problems, WEIGHT_ERROR))
		return DUMP_DEFECTIVE;
	return problems_count(&d->problems, WEIGHT_WARNING) ? DUMP_SUSPECT : DUMP_SOUND;
}

const char *dump_verdict_name(enum dump_verdict v)
{
	static const char *const names[] = {"sound", "suspect", "defective"};

	return names[v];
}

bool dump_check(struct dump *d, struct dump_check *out, struct incore_error *e)
{
	*out = (struct dump_check){0};
	if (!dump_choose(d, e))
		return false;
	check_counters(d);
	if (d->is_repaired)
		problems_add(&d->problems, WEIGHT_WARNING, "repaired", PROBLEM_DUMP,
			"the run ended without closing its dump: what it had not flushed is missing");
	for (size_t i = 0; i < d->records.n; i++)
		check_record(d, (uint32_t)i);
	if (!check_slots(d, out, e) || !check_regions(d, out, e) || !dump_check_flow(d, e))
		return false;
	return !d->problems.is_failed || err_nomem(e);
}
