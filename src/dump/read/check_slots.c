/* SPDX-License-Identifier: Apache-2.0 */
/*
 * check_slots.c: does every task have all its arguments, at the stages that their roles require,
 * and consistently in every instance? Loss counters of zero prove nothing: a signature that is too
 * short leaves gaps that nobody counted.
 */
#include <string.h>

#include "dump/read/check.h"
#include "dump/read/deps.h"

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
		.at = UINT64_MAX};
}

/* At level 1 only marked slots exist; an unknown level may be 1. */
static enum problem_weight gap_weight(const struct dump *d)
{
	return d->level == DUMP_LEVEL_UNKNOWN && d->gen_first >= DUMP_G4 ? PROBLEM_WARNING
									 : PROBLEM_DEFECT;
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
			problems_add(&c->d->problems, PROBLEM_DEFECT, "slot-order",
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
			problems_add(&c->d->problems, PROBLEM_DEFECT, "dtype-differs",
				at_slot(t, a->slot),
				"task 0x%016llx slot %u is %s, deps.json says %s",
				(unsigned long long)t->id, a->slot, dtype_name(r->dtype),
				dtype_name(a->dtype));
		if (r && r->kind == DUMP_TENSOR && r->role != a->role)
			problems_add(&c->d->problems, PROBLEM_DEFECT, "role-differs",
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
		problems_add(&c->d->problems, PROBLEM_DEFECT, "stage-missing", at_slot(t, s->index),
			"task 0x%016llx slot %u (%s) has %u %s before and %u after",
			(unsigned long long)t->id, s->index, dump_role_name(r->role), s->n_before,
			s->n_before == 1 ? "copy" : "copies", s->n_after);
	if (s->choice == DUMP_CHOICE_WRITER)
		problems_add(&c->d->problems, PROBLEM_NOTE, "several-before", at_slot(t, s->index),
			"task 0x%016llx slot %u: %u before copies with %u contents; record %u equals what task 0x%016llx left",
			(unsigned long long)t->id, s->index, s->n_before, s->n_distinct, s->before,
			(unsigned long long)d->records.v[s->writer].task_id);
	if (s->choice == DUMP_CHOICE_AMBIGUOUS)
		problems_add(&c->d->problems, PROBLEM_WARNING, "ambiguous-before",
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
		problems_add(&c->d->problems, PROBLEM_DEFECT, "copies-differ",
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
		problems_add(&c->d->problems, PROBLEM_DEFECT, "func-ids-differ",
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
	problems_add(&c->d->problems, PROBLEM_DEFECT, "instances-differ", at_slot(t, s->index),
		"task 0x%016llx slot %u is %s %s %s, in task 0x%016llx of the same kernel %s %s %s",
		(unsigned long long)t->id, s->index, dump_role_name(r->role),
		dump_kind_name(r->kind), dtype_name(r->dtype), (unsigned long long)f->task_id,
		dump_role_name(f->role), dump_kind_name(f->kind), dtype_name(f->dtype));
	return true;
}

bool check_slots(struct dump *d, struct dump_check *out, struct incore_error *e)
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
